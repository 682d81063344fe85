#!/bin/sh
# SPDX-License-Identifier: MIT
# sim-h200 against times that were recorded on an H200 (docs/recorded_times.md): each
# case takes what it took there, to a quarter, and half of them to an eighth.  Simulated cycles: the host's speed is nothing to them.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
cat >cases.pipe <<'END'
const int MANY = 8388608, BATCH = 4096, LARGE = 1048576;
kernel coarse(in f32 x pop 64, out f32 y push 64; f32 a, f32 b) { for (i32 i = 0; i < 64; i++) y <- x[i] * a + b; }
kernel affine(in f32 x, out f32 y; f32 a, f32 b) { y <- x * a + b; }
pipeline chain(in f32 x depth MANY, out f32 y depth MANY) {
    buffer f32 s[7] depth MANY;
    x -> coarse(1, 0.125) -> s[0];
    for (int i = 1; i < 7; i++) s[i - 1] -> coarse(1 - 0.015625 * i, 0.125 * (i + 1)) -> s[i];
    s[6] -> coarse(1, 2) -> y;
}
pipeline fused(in f32 x depth MANY, out f32 y depth MANY) { x -> coarse(1, 2) -> y; }
pipeline batches(in f32 x depth BATCH, out f32 y depth BATCH) {
    buffer f32 s[7] depth BATCH;
    x -> affine(1, 0.125) -> s[0];
    for (int i = 1; i < 7; i++) s[i - 1] -> affine(1 - 0.015625 * i, 0.125 * (i + 1)) -> s[i];
    s[6] -> affine(1, 2) -> y;
}
pipeline large(in f32 x depth LARGE, out f32 y depth LARGE) {
    buffer f32 s[7] depth LARGE;
    x -> coarse(1, 0.125) -> s[0];
    for (int i = 1; i < 7; i++) s[i - 1] -> coarse(1 - 0.015625 * i, 0.125 * (i + 1)) -> s[i];
    s[6] -> coarse(1, 2) -> y;
}
END
cat >child.pipe <<'END'
child kernel next(in i32 x, out i32 y; i32 depth) launches 1 {
    if (depth < x) launch next(depth + 1);
    y <- depth;
}
kernel first(in i32 x, out i32 y) launches 1 nesting 32 { launch next(1); }
pipeline main(in i32 x, out i32 y) { x -> first -> y; }
END
# Launches from a host: 3.2 us each.
sed -e 's/^name .*/name = h200-host/' -e 's/^launch_enqueue.*/launch_enqueue = 1584/' -e 's/^launch_process.*/launch_process = 3168/' \
    -e 's/^launch_cleanup.*/launch_cleanup = 1584/' "$ROOT/lang/devices/sim-h200.dev" >host.dev
head -c 33554432 /dev/zero >many.f32
head -c 1048576 /dev/zero >batches.f32
echo 32 >child.csv

close=0
# takes CASE DEVICE SOURCE PIPELINE INPUT REPEATED NANOSECONDS: so many nanoseconds for each repetition, as recorded.
takes() {
    device=$2
    case $2 in *.dev) device=sim:$2 ;; esac
    "$PIPEC" --device "$2" -p "$4" --layout=sequence --no-fuse "$3" -o case.pbc
    "$PIPERUN" -q --device "$device" --dispatch=full --stats=json:case.json case.pbc "x=$5" y=out,null
    cycles=$(sed -n 's/.*"total_cycles": \([0-9]*\).*/\1/p' case.json | head -1)
    found=$((cycles * 1000 / 1980 / $6))
    if [ $((found * 100)) -ge $(($7 * 75)) ] && [ $((found * 100)) -le $(($7 * 125)) ]; then
        echo "ok $1: $found ns, recorded $7"
    else
        echo "not ok $1: $found ns, recorded $7"
    fi
    if [ $((found * 1000)) -ge $(($7 * 875)) ] && [ $((found * 1000)) -le $(($7 * 1125)) ]; then close=$((close + 1)); fi
}
takes "eight coarse kernels, one after the other" sim-h200 cases.pipe chain many.f32 1 125900
takes "the same fused by hand" sim-h200 cases.pipe fused many.f32 1 15840
takes "a batch through eight launches" host.dev cases.pipe batches batches.f32 64 25200
takes "a batch through eight nodes of a graph" sim-h200 cases.pipe batches batches.f32 64 7300
takes "a million floats through eight nodes of a graph" sim-h200 cases.pipe large many.f32 8 23100
takes "a kernel that a kernel launches" sim-h200 child.pipe main child.csv 32 10300
check "half of them to an eighth" test "$close" -ge 3
