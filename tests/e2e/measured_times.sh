#!/bin/sh
# SPDX-License-Identifier: MIT
# sim-h200 against times that were recorded on an H200 (docs/recorded_times.md): each case takes what it took there, to a
# quarter, and half of them to a tenth.  Simulated cycles: the host's speed is nothing to them.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
# MANY: 62 warps for each of 132 SMs, of which each lane has 32 packets.
cat >cases.pipe <<'END'
const int MANY = 8380416, BATCH = 4096, LARGE = 1048576;
kernel coarse(in f32 x pop 4, out f32 y push 4; f32 a, f32 b) { for (i32 i = 0; i < 4; i++) y <- x[i] * a + b; }
kernel affine(in f32 x, out f32 y; f32 a, f32 b) { y <- x * a + b; }
pipeline chain(in f32 x depth MANY, out f32 y depth MANY) {
    buffer f32 s[7] depth MANY;
    x -> coarse(1, 0.125) -> s[0];
    for (int i = 1; i < 7; i++) s[i - 1] -> coarse(1 - 0.015625 * i, 0.125 * (i + 1)) -> s[i];
    s[6] -> coarse(1, 2) -> y;
}
pipeline fused(in f32 x depth MANY, out f32 y depth MANY) { x -> coarse(1, 2) -> y; }
pipeline planned(in f32 x, out f32 y) {
    x -> affine(1, 0.125) -> affine(0.9, 0.25) -> affine(0.8, 0.375) -> affine(0.7, 0.5) -> affine(0.6, 0.625)
      -> affine(0.5, 0.75) -> affine(0.4, 0.875) -> affine(1, 2) -> y;
}
pipeline batches(in f32 x depth BATCH, out f32 y depth BATCH) {
    buffer f32 s[7] depth BATCH;
    x -> affine(1, 0.125) -> s[0];
    for (int i = 1; i < 7; i++) s[i - 1] -> affine(1 - 0.015625 * i, 0.125 * (i + 1)) -> s[i];
    s[6] -> affine(1, 2) -> y;
}
pipeline large(in f32 x depth LARGE, out f32 y depth LARGE) {
    buffer f32 s[7] depth LARGE;
    x -> affine(1, 0.125) -> s[0];
    for (int i = 1; i < 7; i++) s[i - 1] -> affine(1 - 0.015625 * i, 0.125 * (i + 1)) -> s[i];
    s[6] -> affine(1, 2) -> y;
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
pipeline apart(in f32 x[8] depth BATCH, out f32 y[8] depth BATCH) {
    for (int i = 0; i < 8; i++) x[i] -> affine(1, 2) -> y[i];
}
kernel copy8(in u8 x, out u8 y) { y <- x; }
kernel copy16(in u16 x, out u16 y) { y <- x; }
kernel copy32(in u32 x, out u32 y) { y <- x; }
kernel copy64(in u64 x, out u64 y) { y <- x; }
kernel copy128(in u64 x pop 2, out u64 y push 2) { y <- x[0]; y <- x[1]; }
pipeline bytes(in u8 x depth MANY, out u8 y depth MANY) { x -> copy8 -> y; }
pipeline halves(in u16 x depth MANY, out u16 y depth MANY) { x -> copy16 -> y; }
pipeline words(in u32 x depth MANY, out u32 y depth MANY) { x -> copy32 -> y; }
pipeline longs(in u64 x depth MANY, out u64 y depth MANY) { x -> copy64 -> y; }
pipeline quads(in u64 x depth MANY, out u64 y depth MANY) { x -> copy128 -> y; }
kernel sum8(in f32 x pop 8, out f32 y) { f32 s = 0; for (i32 i = 0; i < 8; i++) s += x[i]; y <- s; }
kernel sum16(in f32 x pop 16, out f32 y) { f32 s = 0; for (i32 i = 0; i < 16; i++) s += x[i]; y <- s; }
kernel sum32(in f32 x pop 32, out f32 y) { f32 s = 0; for (i32 i = 0; i < 32; i++) s += x[i]; y <- s; }
pipeline sums8(in f32 x depth MANY, out f32 y depth MANY / 8) { x -> sum8 -> y; }
pipeline sums16(in f32 x depth MANY, out f32 y depth MANY / 16) { x -> sum16 -> y; }
pipeline sums32(in f32 x depth MANY, out f32 y depth MANY / 32) { x -> sum32 -> y; }
kernel rounds(in f32 x, out f32 y) { f32 s = x; for (i32 i = 0; i < 256; i++) s = s * 0.99 + 0.1; y <- s; }
pipeline few(in f32 x depth BATCH, out f32 y depth BATCH) { x -> rounds -> y; }
pipeline full(in f32 x depth MANY / 8, out f32 y depth MANY / 8) { x -> rounds -> y; }
kernel held31(in f32 x pop 256, out f32 y push 256) group 256 {
    local f32 s[31 * 256];
    i32 i = item.x; s[i] = x[i]; y[i] = s[i];
}
kernel held63(in f32 x pop 256, out f32 y push 256) group 256 {
    local f32 s[63 * 256];
    i32 i = item.x; s[i] = x[i]; y[i] = s[i];
}
pipeline seven(in f32 x depth MANY, out f32 y depth MANY) { x -> held31 -> y; }
pipeline three(in f32 x depth MANY, out f32 y depth MANY) { x -> held63 -> y; }
kernel fir(in f32 x peek 64 pop 1, out f32 y; f32 h[64]) {
    f32 s = 0;
    for (i32 i = 0; i < 64; i++) s = fma(x[i], h[i], s);
    y <- s;
}
const f32 H[64] = {1};
pipeline filter(in f32 x depth MANY, out f32 y depth MANY) { x -> fir(H) -> y; }
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
head -c 33521664 /dev/zero >many.f32
head -c 1048576 /dev/zero >batches.f32
echo 32 >child.csv

# judge CASE REPEATED NANOSECONDS: the last run took so many nanoseconds for each repetition, as recorded.
judge() {
    cycles=$(sed -n 's/.*"total_cycles": \([0-9]*\).*/\1/p' case.json | head -1)
    found=$((cycles * 1000 / 1980 / $2))
    off=$(((found - $3) * 1000 / $3))
    echo "${off#-}" >>off
    if [ "${off#-}" -le 250 ]; then echo "ok $1: $found ns, recorded $3"; else echo "not ok $1: $found ns, recorded $3"; fi
}
# takes CASE DEVICE SOURCE PIPELINE OPTIONS REPEATED NANOSECONDS PORT...: so many nanoseconds for each repetition, as recorded.
takes() {
    name=$1 device=$2 pipeline=$4 options=$5 repeated=$6 recorded=$7
    case $2 in *.dev) device=sim:$2 ;; esac
    source=$3
    shift 7
    # shellcheck disable=SC2086 # a word for each option
    "$PIPEC" --device "$device" -p "$pipeline" $options "$source" -o case.pbc
    "$PIPERUN" -q --device "$device" --dispatch=full --stats=json:case.json case.pbc "$@"
    judge "$name" "$repeated" "$recorded"
}
# on SMS NANOSECONDS: a copy by so many of the card's SMs, while the others rest.
on() {
    part="by-counts $1"
    "$PIPERUN" partition sim-h200 by-counts "$1" --describe 0 >part.dev
    "$PIPEC" --device part.dev -p quads --layout=sequence --no-fuse cases.pipe -o case.pbc
    "$PIPERUN" -q --device sim-h200 --partition "$part" --sub-device 0 --dispatch=full --stats=json:case.json case.pbc x=many.f32 y=out,null
    judge "a copy by $1 SMs" 1 "$2"
}
# single CASE PIPELINE NANOSECONDS: on the whole card, of a stream of MANY.
single() { takes "$1" sim-h200 cases.pipe "$2" "--layout=sequence --no-fuse" 1 "$3" x=many.f32 y=out,null; }
# The ports of `resident`: 64 batches for each chain.
chains() { for c in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo "x[$c]=batches.f32" "y[$c]=out,null"; done; }
eight() { for c in 0 1 2 3 4 5 6 7; do echo "x[$c]=batches.f32" "y[$c]=out,null"; done; }
S="--layout=sequence --no-fuse"
single "eight coarse kernels, one after the other" chain 125800
single "the same fused by hand" fused 15830
takes "eight kernels of a thread for each packet" sim-h200 cases.pipe planned --no-fuse 1 180500 x=many.f32 y=out,null
takes "the same fused by pipec" sim-h200 cases.pipe planned --fuse 1 25540 x=many.f32 y=out,null
takes "a batch through eight launches" host.dev cases.pipe batches "$S" 64 25200 x=batches.f32 y=out,null
takes "a batch through eight nodes of a graph" sim-h200 cases.pipe batches "$S" 64 7300 x=batches.f32 y=out,null
takes "a million floats through eight nodes of a graph" sim-h200 cases.pipe large "$S" 8 27780 x=many.f32 y=out,null
# shellcheck disable=SC2046 # a word for each port
takes "nodes that depend on nothing" sim-h200 cases.pipe apart "$S" 512 273 $(eight)
# shellcheck disable=SC2046 # a word for each port
takes "a batch through eight resident kernels, sixteen chains of them" resident.dev cases.pipe resident "--layout=side-by-side --no-fuse" \
    1024 96 $(chains)
takes "a kernel that a kernel launches" sim-h200 child.pipe main "$S" 32 10300 x=child.csv y=out,null
single "a copy, a byte a thread" bytes 20900
single "a copy, 2 bytes a thread" halves 22570
single "a copy, 4 bytes a thread" words 25540
single "a copy, 8 bytes a thread" longs 35630
single "a copy, 16 bytes a thread" quads 31720
single "sums of 8 that follow each other" sums8 9240
single "sums of 16" sums16 16560
single "sums of 32" sums32 32690
takes "256 rounds, a warp on each SM" sim-h200 cases.pipe few "$S" 64 2076 x=batches.f32 y=out,null
takes "256 rounds, SMs full of warps" sim-h200 cases.pipe full "$S" 8 19530 x=many.f32 y=out,null
single "a copy by SMs with room for seven blocks" seven 29470
single "a copy by SMs with room for three blocks" three 59660
single "a filter of 64 taps" filter 91090
on 1 1795500
on 16 131100
on 33 72370
on 66 44520
on 132 35280
check "half of them to a tenth" test "$(sort -n off | sed -n "$((($(wc -l <off) + 1) / 2))p")" -le 100
