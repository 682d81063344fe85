#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A file that becomes shorter while it is read is refused, in every format: its stream does not end there as if it were whole.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
cat >half.pipe <<'END'
kernel half(in f32 x, out f32 y) { y <- x * 0.5; }
pipeline main(in f32 x, out f32 y) { x -> half -> y; }
END
"$PIPEC" half.pipe -o half.pbc
"$PIPEC" --device=cpu half.pipe -o cpu.pbc
head -c 33554432 /dev/zero >long.raw
for name in long.npy long.wav long.csv; do "$PIPERUN" -q half.pbc x=gen:ramp:4000000 y=$name; done
mkfifo out

# shrunk CONTAINER FILE FROM WORD...: the file is cut to no bytes when the first output has come and the pipe is full, long
# before all of it can have been read; FROM is where standard input comes from.
shrunk() {
    local container=$1 file=$2 from=$3 status=0 bytes
    bytes=$(stat -c %s "$file")
    cp "$file" "cut.${file##*.}"
    "$PIPERUN" "$container" "${@:4}" y=out,raw <"$from" 2>said &
    local run=$!
    exec 7<out
    head -c 4096 <&7 >/dev/null
    : >"cut.${file##*.}"
    cat <&7 >/dev/null
    exec 7<&-
    wait $run || status=$?
    if [ $status -eq 1 ] && grep -qE "the file shrank while it was read: it had $bytes bytes when it was opened, it has 0 now" said; then
        echo "ok $file on $container: $4"
    else
        echo "not ok $file on $container: $4: exit status $status, $(head -n 2 said)"
    fi
}
for container in half.pbc cpu.pbc; do
    for file in long.raw long.npy long.wav long.csv; do shrunk $container $file /dev/null "x=cut.${file##*.}"; done
    shrunk $container long.raw long.raw x=cut.raw --host-threads 2
done
cp long.raw cut.raw
shrunk half.pbc long.raw cut.raw x=-
grep -q "standard input: the file shrank" said && echo "ok it is named"

# The lost part had been read, or the system generates the file: no error.
cp long.raw cut.raw
check "a file that stays" "$PIPERUN" half.pbc x=cut.raw y=null
if [ -r /sys/kernel/mm/transparent_hugepage/enabled ]; then
    echo 'kernel copy(in u8 x, out u8 y) { y <- x; } pipeline main(in u8 x, out u8 y) { x -> copy -> y; }' >copy.pipe
    "$PIPEC" copy.pipe -o copy.pbc
    check "a file of /sys is shorter than it says" says 0 always "$PIPERUN" copy.pbc x=/sys/kernel/mm/transparent_hugepage/enabled,raw y=-,raw
fi
