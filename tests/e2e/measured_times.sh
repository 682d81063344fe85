#!/bin/sh
# SPDX-License-Identifier: MIT
# sim-h200 against times that were recorded on an H200 (docs/recorded_times.md): each case takes what it took there, to a
# quarter, and half of them to a tenth.  Simulated cycles: the host's speed is nothing to them.
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
const int CHAINS = 16;
pipeline resident(in f32 x[CHAINS] depth 4 * BATCH, out f32 y[CHAINS] depth 4 * BATCH) {
    buffer f32 s[7 * CHAINS] depth 2 * BATCH;
    for (int c = 0; c < CHAINS; c++) {
        x[c] -> affine(1, 0.125) -> s[7 * c];
        for (int i = 1; i < 7; i++)
            s[7 * c + i - 1] -> affine(1 - 0.015625 * i, 0.125 * (i + 1)) -> s[7 * c + i];
        s[7 * c + 6] -> affine(1, 2) -> y[c];
    }
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
# described NAME ENQUEUE PROCESS CLEANUP: the same card with other costs of a launch.
described() {
    sed -e "s/^name .*/name = h200-$1/" -e "s/^launch_enqueue.*/launch_enqueue = $2/" -e "s/^launch_process.*/launch_process = $3/" \
        -e "s/^launch_cleanup.*/launch_cleanup = $4/" -e 's/^max_sub_devices.*/max_sub_devices = 128/' "$ROOT/lang/devices/sim-h200.dev" >"$1.dev"
}
# Launches from a host: 3.2 us each.
described host 1584 3168 1584
# Kernels that stay resident, each in a block of its own: a batch goes from block to block through the L2 cache in 0.32 us.
described resident 0 634 0
head -c 33554432 /dev/zero >many.f32
head -c 1048576 /dev/zero >batches.f32
echo 32 >child.csv

# takes CASE DEVICE SOURCE PIPELINE LAYOUT REPEATED NANOSECONDS PORT...: so many nanoseconds for each repetition, as recorded.
takes() {
    name=$1 device=$2 pipeline=$4 layout=$5 repeated=$6 recorded=$7
    case $2 in *.dev) device=sim:$2 ;; esac
    source=$3
    shift 7
    "$PIPEC" --device "$device" -p "$pipeline" --layout="$layout" --no-fuse "$source" -o case.pbc
    "$PIPERUN" -q --device "$device" --dispatch=full --stats=json:case.json case.pbc "$@"
    cycles=$(sed -n 's/.*"total_cycles": \([0-9]*\).*/\1/p' case.json | head -1)
    found=$((cycles * 1000 / 1980 / repeated))
    off=$(((found - recorded) * 1000 / recorded))
    echo "${off#-}" >>off
    if [ "${off#-}" -le 250 ]; then echo "ok $name: $found ns, recorded $recorded"; else echo "not ok $name: $found ns, recorded $recorded"; fi
}
# The ports of `resident`: 64 batches for each chain.
chains() { for c in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo "x[$c]=batches.f32" "y[$c]=out,null"; done; }
takes "eight coarse kernels, one after the other" sim-h200 cases.pipe chain sequence 1 125900 x=many.f32 y=out,null
takes "the same fused by hand" sim-h200 cases.pipe fused sequence 1 15840 x=many.f32 y=out,null
takes "a batch through eight launches" host.dev cases.pipe batches sequence 64 25200 x=batches.f32 y=out,null
takes "a batch through eight nodes of a graph" sim-h200 cases.pipe batches sequence 64 7300 x=batches.f32 y=out,null
takes "a million floats through eight nodes of a graph" sim-h200 cases.pipe large sequence 8 23100 x=many.f32 y=out,null
# shellcheck disable=SC2046 # a word for each port
takes "a batch through eight resident kernels, sixteen chains of them" resident.dev cases.pipe resident side-by-side 1024 96 $(chains)
takes "a kernel that a kernel launches" sim-h200 child.pipe main sequence 32 10300 x=child.csv y=out,null
check "half of them to a tenth" test "$(sort -n off | sed -n 4p)" -le 100
