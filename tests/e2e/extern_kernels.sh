#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Extern kernels: objects, archives, shared objects and bitcode as kernels; what is checked when compiling, when
# loading and while running; what the commands say of them.
set -eu
cd "$TMP"
. "$ROOT/tests/checks.sh"
cc=${CC:-cc}

cat >gain.pipe <<'E'
extern pure kernel gain(in f32 x, out f32 y; f32 by = 2) from "gain.o" cost 4;
pipeline main(in f32 x, out f32 y; f32 by = 3) { x -> gain(by) -> y; }
E
cat >gain.c <<'E'
#include "gain.h"
int32_t gain_run(const float *x, float *y, float by)
{
    *y = *x * by;
    return 0;
}
E

# ---- header and skeleton ----

cat >all.pipe <<'E'
struct point { f32 x; f32 y; };
struct line { point ends[2]; i64 id; };
extern kernel squeeze(in u8 x pop 4 peek 8, out u8 y push 0..4; i32 level = 6, bool on = true, f16 h = 1)
        from "all.o" cost 100 state 128 finish 64;
extern pure kernel norm(in line p, in f32x4 q, out f64 y, out i8[3] z push 2) from "all.o" cost 10;
extern kernel source(out i32 y) from "all.o" cost 5;
extern kernel sink(in bf16 x, in u8[2][3] m) from "all.o" cost 5 finish 0;
pipeline main(in u8 x, out u8 y) { x -> squeeze -> y; }
E
"$PIPEC" --emit=header:all.h --emit=header:all.h all.pipe
"$PIPEC" --emit=skeleton:all.c all.pipe
check "the skeleton compiles as C" "$cc" -std=c11 -Wall -Wextra -Werror -fPIC -O1 -c all.c -o all.o
check "the skeleton compiles as C++" "$cc" -x c++ -Wall -Wextra -Werror -fPIC -c all.c -o cxx.o
check "the skeleton is a kernel" "$PIPEC" all.pipe -o all.pbc
check "... that writes nothing" [ -z "$("$PIPERUN" all.pbc x=gen:ramp:64 y=-,csv)" ]
cp cxx.o all.o
check "... also in C++" "$PIPEC" all.pipe -o all.pbc
check "structs come before those that have them" \
    awk '/^struct point/ { point = NR } /^struct line/ { line = NR } END { exit !(point && point < line) }' all.h
printf 'extern kernel k(in f32 x, out f32 y) from "k.o" cost 1;\n' >library.pipe
check "a file without a pipeline has a header" says 0 'int32_t k_run\(const float \*x, float \*y\);' \
    "$PIPEC" --emit=header library.pipe
printf 'kernel k(in f32 x, out f32 y) { y <- x; }\n' >none.pipe
check "a file without extern kernels has no header" says 1 "has no extern kernel" "$PIPEC" --emit=header none.pipe

# ---- the kinds of files ----

"$PIPEC" --emit=header:gain.h gain.pipe
"$cc" -O2 -fPIC -c gain.c -o gain.o
ar rc gain.a gain.o
"$cc" -shared -Wl,-soname,libgain.so.1 gain.o -o gain.so
expected=$(printf '0\n3\n6\n9')
# runs NAME FILE [WORD...]: the kernel from FILE gives the output on every device.
runs() {
    local name=$1 file=$2 device
    shift 2
    sed "s/gain\.o/$file/" gain.pipe >kind.pipe
    for device in sim16 cpu; do
        "$PIPEC" --device $device kind.pipe -o kind.pbc || return 1
        "$PIPERUN" --device $device "$@" kind.pbc x=gen:ramp:4 y=-,csv >found || return 1
        [ "$(cat found)" = "$expected" ] || { echo "$name on $device:"; cat found; return 1; }
    done
}
check "an object file is a kernel" runs object gain.o
cp gain.o kept.o
for words in "-o gain.o" "-o gain.pbc --diagnostics=json:gain.o" "-o gain.pbc -MD -MF gain.o"; do
    # shellcheck disable=SC2086
    check "no output is the object file of a kernel: $words" says 2 "'gain.o' is a file that this command reads" \
        "$PIPEC" --device=cpu gain.pipe $words
    check "... which stays" cmp gain.o kept.o
done
check "an archive is a kernel" runs archive gain.a
mkdir -p lib
cp gain.so lib/libgain.so.1
export LD_LIBRARY_PATH="$TMP/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
check "a shared object is a kernel" runs shared gain.so --allow-library=libgain.so.1
check "... but only if it is allowed" says 2 "library 'libgain.so.1', which has not been allowed" \
    "$PIPERUN" kind.pbc x=gen:ramp:4 y=-,csv
check "... another name does not allow it" says 2 "has not been allowed" \
    "$PIPERUN" --allow-library=libgain.so kind.pbc x=gen:ramp:4 y=-,csv
check "... the null device loads nothing" "$PIPERUN" -q --device null kind.pbc x=gen:ramp:4 y=null
check "... pipec inspect names it" says 0 'library +libgain\.so\.1: foreign code needs it' "$PIPEC" inspect kind.pbc
check "... piperun -v names it" says 0 "foreign code needs the library 'libgain.so.1'" \
    "$PIPERUN" -v --allow-library=libgain.so.1 kind.pbc x=gen:ramp:4 y=null
for linker in ld.bfd ld.lld; do
    if command -v $linker >/dev/null; then
        check "$linker links it" "$PIPEC" --linker $linker gain.pipe -o linked.pbc
    else
        echo "ok $linker links it # SKIP there is no $linker"
    fi
done

# bitcode: put in place of the call, and vectorised
if [ -x "${CLANG:-$(command -v clang || true)}" ] &&
    "${CLANG:-clang}" -O1 -emit-llvm -c gain.c -o gain.bc 2>/dev/null &&
    sed 's/gain\.o/gain.bc/' gain.pipe >bitcode.pipe && "$PIPEC" bitcode.pipe -o bitcode.pbc 2>/dev/null; then
    check "bitcode is a kernel" runs bitcode gain.bc
    "$PIPEC" --device=cpu --emit=asm:gain.s bitcode.pipe
    check "... whose firings fill vectors" grep -q 'vmulps' gain.s
    check "... without a call" [ "$(grep -c 'call.*gain_run' gain.s || true)" = 0 ]
    printf 'BC\300\336garbage' >damaged.bc
    sed 's/gain\.o/damaged.bc/' gain.pipe >damaged.pipe
    check "damaged bitcode is refused" says 1 "cannot use the bitcode 'damaged.bc'" "$PIPEC" damaged.pipe -o no.pbc
else
    echo "ok bitcode is a kernel # SKIP there is no clang whose bitcode this LLVM reads"
fi

# ---- refused when compiling ----

# refuses NAME PATTERN: kind.pipe, at its place, and nothing is written.
refuses() {
    check "$1" says 1 "$2" "$PIPEC" kind.pipe -o refused.pbc
    check "... and nothing is written" [ ! -e refused.pbc ]
}
sed 's/gain\.o/missing.o/' gain.pipe >kind.pipe
refuses "a missing file is refused" "kind.pipe:1:63: error: there is no file 'missing.o' with the code of 'gain'"
check "... but a check does not need it" "$PIPEC" kind.pipe
cp gain.c text.o
sed 's/gain\.o/text.o/' gain.pipe >kind.pipe
refuses "a text is refused" "'text.o' is a text: name the file with the code"
printf '\001\002\000\003' >bytes.o
sed 's/gain\.o/bytes.o/' gain.pipe >kind.pipe
refuses "other bytes are refused" "'bytes.o' is no object file, archive, shared object or LLVM bitcode"
head -c 3000 gain.so >cut.so
sed 's/gain\.o/cut.so/' gain.pipe >kind.pipe
refuses "a damaged shared object is refused" "'cut.so' is damaged"
"$cc" -shared gain.o -o unnamed.so
sed 's/gain\.o/unnamed.so/' gain.pipe >kind.pipe
refuses "a shared object without a name is refused" "without a plain name to load it by"
sed '1s/in f32 x,/in f32 x pop 2,/' gain.pipe >kind.pipe
refuses "another declaration is refused" "its code: gain\(in f32 x pop 1 peek 1, out f32 y push 1; f32 by\)"
sed 's/gain\.o/gain.so/; 1s/in f32 x,/in f32 x pop 2,/' gain.pipe >kind.pipe
refuses "... of a shared object, too" "was written for another declaration"
printf '#include <stdint.h>\nint32_t gain_run(const float *x, float *y, float by) { *y = *x * by; return 0; }\n' >bare.c
"$cc" -fPIC -c bare.c -o bare.o
sed 's/gain\.o/bare.o/' gain.pipe >kind.pipe
refuses "code without a signature is refused" "does not say for which declaration it was written"
{ cat gain.c; echo '__attribute__((constructor)) void early(void) {}'; } >early.c
"$cc" -fPIC -c early.c -o early.o
sed 's/gain\.o/early.o/' gain.pipe >kind.pipe
refuses "constructors are refused" "has constructors or destructors"
{ cat gain.c; echo 'int other(void); int use(void) { return other(); }'; } >other.c
"$cc" -fPIC -c other.c -o other.o
sed 's/gain\.o/other.o/' gain.pipe >kind.pipe
refuses "code that lacks other code is refused" "kind.pipe:1:63: error: .*cannot be linked"
check "... with the name" grep -Eq "undefined (symbol|reference).*other" text
sed 's/gain(by)/lost(by)/; s/kernel gain/kernel lost/' gain.pipe >kind.pipe
refuses "code without the function is refused" "undefined.*lost_run"

"$PIPEC" --emit=header:gain.h gain.pipe
cp gain.pipe kind.pipe
check "GPUs execute no extern kernels" says 1 "gain.pipe:1:20: error: GPUs \(sm_[0-9]*\) execute no extern kernels: 'gain' is one" \
    "$PIPEC" --device=cuda gain.pipe -o refused.pbc
check "... beside processors, too" says 1 "GPUs \(sm_80\) execute no extern kernels" \
    "$PIPEC" --march=x86-64-v3,sm_80 gain.pipe -o refused.pbc
check "... and nothing is written" [ ! -e refused.pbc ]

# ---- refused when loading ----

sed 's/gain\.o/gain.so/' gain.pipe >kind.pipe
"$PIPEC" kind.pipe -o kind.pbc
sed 's/pop 1 peek 1/pop 1 peek 2/' gain.h >changed.h
sed 's/gain\.h/changed.h/' gain.c >changed.c
"$cc" -fPIC -shared -Wl,-soname,libgain.so.1 changed.c -o lib/libgain.so.1
check "a library that has changed is refused" says 1 "written for another declaration.*peek 2" \
    "$PIPERUN" --allow-library=libgain.so.1 kind.pbc x=gen:ramp:4 y=-,csv
"$cc" -fPIC -shared -Wl,-soname,libgain.so.1 bare.c -o lib/libgain.so.1
check "... or has no signature" says 1 "does not say for which declaration" \
    "$PIPERUN" --allow-library=libgain.so.1 kind.pbc x=gen:ramp:4 y=-,csv
rm lib/libgain.so.1
check "a library that is gone is refused" says 2 "cannot load the image.*libgain.so.1" \
    "$PIPERUN" --allow-library=libgain.so.1 kind.pbc x=gen:ramp:4 y=-,csv

# ---- while running ----

# code TEXT: gain.o with that statement before its own.
code() {
    sed "s|^{|{ $1|" gain.c >running.c
    "$cc" -O1 -fPIC -c running.c -o gain.o
    "$PIPEC" gain.pipe -o running.pbc
}
code 'if (*x == 5) return 42;'
check "a number other than 0 is a fault with the name" \
    says 4 "kernel 'gain' .* is foreign code, and returned 42 in firing 5 \[foreign-fault\]" \
    "$PIPERUN" running.pbc x=gen:ramp:8 y=-,csv
check "... after the packets before it" [ "$(grep -c '^[0-9]*$' text)" = 5 ]
code 'if (*x == 5) *(volatile int *)0 = 1;'
check "a crash has the name of the kernel" says 4 "kernel 'gain' .*crashed: SIGSEGV" \
    "$PIPERUN" running.pbc x=gen:ramp:8 y=-,csv

code 'static int n; if (n++ >= 11) by++;'
cat gain.pipe >tests.pipe
echo 'test stays of main { x = {0..9}; expect y == {0, 3, 6, 9, 12, 15, 18, 21, 24, 27}; }' >>tests.pipe
echo 'test differs of main { x = {0..9}; expect fault "not-pure"; }' >>tests.pipe
check "pipec test fires pure kernels twice" says 1 "not do the same in firing 5 when it was fired twice \[not-pure\]" \
    "$PIPEC" test tests.pipe
check "... which a test may expect" says 0 "1 ok, 0 failed" "$PIPEC" test -k differs tests.pipe
"$PIPEC" --debug-mode gain.pipe -o debug.pbc
check "... and so does debug mode" says 4 "\[not-pure\]" "$PIPERUN" debug.pbc x=gen:ramp:8 y=null
code ''
check "a pure kernel passes its tests" says 0 "1 ok, 0 failed" "$PIPEC" test -k stays tests.pipe
sed 's/extern pure/extern/' tests.pipe >impure.pipe
check "other kernels are fired once" says 0 "1 ok, 0 failed" "$PIPEC" test -k stays impure.pipe

# state, bounded rates, init, finish, sources; what is checked of them
cat >parts.pipe <<'E'
extern kernel count(out i32 y; i32 n = 10) from "parts.o" cost 3 state 8;
extern pure kernel evens(in i32 x, out i32 y push 0..1) from "parts.o" cost 3 state 16 finish 2;
pipeline main(out i32 y; i32 n = 10) { count(n) -> evens -> y; }
pipeline given(in i32 x, out i32 y) { x -> evens -> y; }
test given_ones of given { x = {2, 3, 4}; expect y == {2, 4, 2, -1}; }
E
cat >parts.c <<'E'
#include "parts.h"
_Static_assert(count_state_bytes == 8 && evens_state_bytes == 16, "");
int32_t count_init(void *state, int32_t n) { *(int64_t *)state = -n; return n < 0 ? 7 : 0; }
int32_t count_run(void *state, int32_t *y, int32_t n)
{
    int64_t *left = state;
    if (*left == 0) return PIPE_STOP;
    *y = (int32_t)(n + (*left)++);
    return 0;
}
int32_t evens_init(void *state) { return *(int64_t *)state; }
int32_t evens_run(void *state, const int32_t *x, int32_t *y, uint64_t *y_count)
{
    int64_t *evens = state;
    *y_count = *x % 2 == 0;
    if (*y_count) { *y = *x; ++*evens; }
    if (*x == 1000) *y_count = 2;
    return 0;
}
int32_t evens_finish(void *state, const int32_t *x, uint64_t x_left, int32_t *y, uint64_t *y_count)
{
    (void)x;
    y[0] = (int32_t)*(int64_t *)state;
    y[1] = -1 - (int32_t)x_left;
    *y_count = 2;
    return 0;
}
E
"$PIPEC" --emit=header:parts.h parts.pipe
"$cc" -Wall -Wextra -Werror -O2 -fPIC -c parts.c -o parts.o
for device in sim1 sim16 cpu; do
    "$PIPEC" --device $device parts.pipe -p main -o parts.pbc
    check "state, init and finish on $device" says 0 '^5$' "$PIPERUN" -q --device $device parts.pbc y=-,csv
    check "... and all that is written" [ "$(tr '\n' ' ' <text)" = "0 2 4 6 8 5 -1 " ]
done
"$PIPEC" --debug-mode parts.pipe -p main -o parts.pbc
check "... fired twice with a copy of the state" says 0 '^5$' "$PIPERUN" -q parts.pbc y=-,csv
check "an init may fault" says 4 "kernel 'count' .* returned 7 in its init" "$PIPERUN" -q -D n=-1 parts.pbc y=null
check "tests of a bounded kernel" says 0 "1 ok" "$PIPEC" test parts.pipe
"$PIPEC" parts.pipe -p given -o given.pbc
printf '999\n1000\n' >many.csv
check "more packets than declared are a fault" says 4 "kernel 'evens' .* wrote 2 packets in firing 1, declared 1" \
    "$PIPERUN" -q given.pbc x=many.csv y=null

# ---- reports ----

check "inspect says that equal bits end there" says 0 "foreign code: 'gain' from gain.o; declared 'pure'" \
    "$PIPEC" inspect gain.pipe
"$PIPEC" gain.pipe -o gain.pbc
check "... of a container, too" says 0 "foreign +1 node: .*equal bits are not promised" "$PIPEC" inspect gain.pbc
"$PIPEC" inspect --json gain.pbc >inspected.json
check "... and as JSON" grep -q '"equal_bits": false' inspected.json
check "... with the word of the author" grep -q '"foreign": "pure"' inspected.json
check "... which parses" parses inspected.json
check "verify accepts it" says 0 'no deadlock is possible' "$PIPERUN" verify gain.pbc
"$PIPEC" -MD -MP gain.pipe -o gain.pbc
check "the output depends on the code" grep -q '^  gain.o$' gain.d
check "... which may go" grep -q '^gain.o:$' gain.d
mkdir -p elsewhere/code
cp gain.pipe elsewhere
cp gain.o elsewhere/code
check "code is found in -I folders" "$PIPEC" -I elsewhere/code elsewhere/gain.pipe -o found.pbc
check "the same code makes the same container" "$PIPEC" gain.pipe -o again.pbc
check "... byte by byte" cmp -s gain.pbc again.pbc
"$PIPEC" --device=cpu --fuse gain.pipe -o fused.pbc 2>/dev/null
cat >chain.pipe <<'E'
extern pure kernel gain(in f32 x, out f32 y; f32 by = 2) from "gain.o" cost 4;
kernel add(in f32 x, out f32 y) { y <- x + 1; }
pipeline main(in f32 x, out f32 y) { x -> add -> gain -> add -> y; }
E
"$PIPEC" --device=cpu chain.pipe -o chain.pbc
check "it stays a stage of its own" says 0 '^node gain: gain foreign pure' "$PIPEC" inspect chain.pbc
check "its neighbours give their packets to it" says 0 '^9$' "$PIPERUN" -q --device cpu chain.pbc x=gen:ramp:4 y=-,csv
check "a command list has it" "$PIPEC" --emit=cmds:chain.cmds chain.pipe
check "... and compiles" "$PIPEC" chain.cmds -o list.pbc
