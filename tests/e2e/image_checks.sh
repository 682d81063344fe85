#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An image that would execute code when it is loaded is refused, and none of its code runs: on no device, by no command.  A
# sound image is loaded only where kernels run, after everything else has been checked.
# shellcheck disable=SC2317 # functions are called through check
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
command -v cc >/dev/null || { echo "there is no cc"; exit 77; }

cat >gain.pipe <<'END'
kernel gain(in i32 x, out i32 y; i32 by) { y <- by * x; }
pipeline main(in i32 x, out i32 y; i32 by = 3) { x -> gain(by) -> y; }
END
"$PIPEC" --device=cpu gain.pipe -o good.pbc

# with NAME SOURCE [FLAG...]: NAME.pbc, whose image has the C source beside the kernels.
with() {
    printf '%s\n' '#include <fcntl.h>' '#include <unistd.h>' "$2" >"$1.c"
    cc -O1 -fPIC -fno-stack-protector -fcf-protection=none -c "$1.c" -o "$1.o"
    { echo '#!/bin/sh'; echo "exec ld \"\$@\" $TMP/$1.o ${*:3}"; } >"$1.sh"
    chmod +x "$1.sh"
    "$PIPEC" --device=cpu --linker="$TMP/$1.sh" gain.pipe -o "$1.pbc"
}
leave_mark='static int mark(void) { char path[] = "mark"; long fd;
    __asm__ volatile("syscall" : "=a"(fd) : "a"(2), "D"(path), "S"(0101), "d"(0600) : "rcx", "r11", "memory");
    return fd >= 0; }'
with constructor "$leave_mark __attribute__((constructor)) static void begin(void) { mark(); }"
with destructor "$leave_mark __attribute__((destructor)) static void end(void) { mark(); }"
with init "$leave_mark void begin(void) { mark(); }" -init=begin
with ifunc "$leave_mark static int one(void) { return 1; }
    static int (*choose(void))(void) { mark(); return one; }
    int pipe_chosen(void) __attribute__((ifunc(\"choose\")));"
with local_ifunc "$leave_mark static int one(void) { return 1; }
    static int (*choose(void))(void) { mark(); return one; }
    static int chosen(void) __attribute__((ifunc(\"choose\")));
    int pipe_chosen(void) { return chosen(); }"
with undefined 'extern int system(const char *); int pipe_calls(void) { return system("touch mark"); }' -z undefs
with needed 'int pipe_one(void) { return 1; }' --no-as-needed -lc
with stack 'int pipe_one(void) { return 1; }' -z execstack
with both '__asm__(".pushsection .both,\"awx\"\n.byte 0\n.popsection"); int pipe_one(void) { return 1; }'
with thread '__thread int here = 1; int *pipe_here(void) { return &here; }'

# refuses NAME WHY ARGUMENT...: exit 1 and why, and no code has run.
refuses() {
    local name=$1 why=$2 status=0
    rm -f mark
    "$PIPERUN" "${@:3}" "$name.pbc" x=gen:ramp:4 y=null >said 2>&1 || status=$?
    [ "$status" = 1 ] && grep -q -- "container: the image .*$why" said && [ ! -e mark ] && return
    echo "# exit $status, mark: $(ls mark 2>/dev/null)"
    sed 's/^/# /' said
    return 1
}
verify_refuses() {
    local status=0
    rm -f mark
    "$PIPERUN" verify "$1.pbc" >said 2>&1 || status=$?
    [ "$status" = 1 ] && grep -q -- "$2" said && [ ! -e mark ]
}
while IFS=: read -r name why; do
    check "$name: refused where it would run" refuses "$name" "$why"
    check "$name: refused where nothing runs" refuses "$name" "$why" --device null
    check "$name: refused by verify" verify_refuses "$name" "$why"
done <<'END'
constructor:has a constructor
destructor:has a destructor
init:has a constructor
ifunc:computed by code when it is loaded
local_ifunc:computed by code when it is loaded
undefined:uses 'system', which is not its own
needed:needs another library
stack:asks for an executable stack
both:writable and executable
thread:a segment of type 0x7
END

# loads ARGUMENT...: does piperun make a file of the image?
loads() {
    rm -rf images
    mkdir images
    PIPERT_IMAGE_FOLDER=$TMP/images "$PIPERUN" "$@" >said 2>&1 || true
    [ -n "$(ls images)" ]
}
does_not_load() { ! loads "$@"; }
check "a run loads the image" loads good.pbc x=gen:ramp:4 y=null
check "the null device does not" does_not_load --device null good.pbc x=gen:ramp:4 y=null
check "nor an argument that is not there" does_not_load good.pbc -D volume=2 x=gen:ramp:4 y=null
check "nor a value that is none" does_not_load good.pbc -D by=loud x=gen:ramp:4 y=null
check "nor a port that is not there" does_not_load good.pbc x=gen:ramp:4 z=null
check "nor a port without a binding" does_not_load good.pbc y=null
check "nor a file that is not there" does_not_load good.pbc x=absent.raw y=null
check "nor verify" does_not_load verify good.pbc
check "nor disasm" does_not_load disasm good.pbc
