#!/bin/bash
# SPDX-License-Identifier: MIT
# Every signal that ends a process removes the temporary files of both commands, and gives the documented exit status.
# Nothing is timed: the signal is sent when the temporary is there.
# shellcheck disable=SC2317 # functions are called through check
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
env --default-signal=QUIT true 2>/dev/null || { echo "env sets no signals here"; exit 77; }
ulimit -c 0
mkdir scratch
export TMPDIR=$TMP/scratch

signals="HUP QUIT TERM USR2 VTALRM PROF XCPU PWR IO STKFLT SYS TRAP RTMIN RTMAX"
if [ "$VARIANT" = tsan ]; then signals="HUP QUIT TERM USR2"; fi

printf 'kernel k(in i32 x, out i32 y) { y <- x; }\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n' >copy.pipe
"$PIPEC" copy.pipe -o copy.pbc || exit 1

nothing_is_left() {
    local left
    left=$(find . -name '*out.*' -print; find scratch -mindepth 1 -print)
    [ -z "$left" ] || { echo "left: $left"; return 1; }
}

# ends_by SIGNAL STATUS: what `child` is ends so, and leaves nothing.
ends_by() {
    local status
    kill -s "$1" "$child"
    wait "$child"
    status=$?
    [ $status = "$2" ] || { echo "exit status $status, not $2"; return 1; }
    nothing_is_left
}
number() { kill -l "$1"; }

# A run that has written a part of its output.
run() {
    "$@" "$PIPERUN" -q copy.pbc x=gen:ramp y=out.raw 2>said &
    child=$!
    until [ -n "$(find . -name '.out.raw.*.tmp' -size +64k)" ]; do
        kill -0 "$child" 2>/dev/null || break
    done
}
for signal in $signals; do
    run env --default-signal
    check "a run gets SIG$signal" ends_by "$signal" $((128 + $(number "$signal")))
done

# A compilation that waits for its linker, with a folder of temporary files.
mkfifo begun
printf '#!/bin/sh\necho >"%s/begun"\nexec sleep 600\n' "$TMP" >linker
chmod +x linker
compile() {
    "$@" "$PIPEC" --linker="$TMP/linker" copy.pipe -o out.pbc 2>said &
    child=$!
    read -r _ <begun
}
linkers() { pgrep -P "$1"; }
for signal in INT $signals; do
    compile env --default-signal
    waiting=$(linkers "$child")
    check "a compilation gets SIG$signal" ends_by "$signal" $((128 + $(number "$signal")))
    for process in $waiting; do kill "$process" 2>/dev/null; done
done

# A container that is assembled is written as every output: the text comes by a pipe that has not ended.
"$PIPERUN" disasm copy.pbc >copy.sasm

# A caller that ignores a signal keeps it ignored: nohup(1).
survives() {
    kill -s HUP "$child"
    kill -s INT "$child"
    wait "$child"
    local status=$?
    if [ $status != 130 ] || [ ! -s out.raw ]; then
        echo "exit status $status"
        return 1
    fi
}
run env --ignore-signal=HUP --default-signal=INT
check "a run that ignores SIGHUP goes on" survives
rm -f out.raw
