#!/bin/bash
# SPDX-License-Identifier: MIT
# What simulating costs the host, in instructions: programs that compute take at most three times what they take on the device
# cpu, and a launch at most 4,000, whatever it does: a million launches in less than a second of an ordinary core.  On the
# device cpu, a dispatch of one firing by each kind of loop.
set -u
cd "$TMP" || exit 1
if ! command -v valgrind >/dev/null 2>&1; then
    echo "valgrind is not there: it counts instructions"
    exit 77
fi
cat >work.pipe <<'END'
kernel mandel(in f32 x, out i32 y) {
    f32 a = 0, b = 0;
    i32 n = 0;
    while (n < 200 && a * a + b * b < 4) { f32 t = a * a - b * b + x; b = 2 * a * b + 0.3; a = t; n++; }
    y <- n;
}
kernel fir(in f32 x peek 64, out f32 y) { f32 s = 0; for (i32 i = 0; i < 64; i++) s += x[i] * (f32)(i + 1); y <- s; }
kernel inc(in f32 x, out f32 y) { y <- x + 1; }
pipeline counted(in f32 x, out i32 y) { x -> mandel -> y; }
pipeline constant(in f32 x, out f32 y) { x -> fir -> y; }
pipeline launches(in f32 x depth 1, out f32 y depth 1) { x -> inc -> y; }
END

# instructions DEVICE PACKETS: of a run of p.pbc
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$PIPERUN" -q --device "$1" --host-threads 1 p.pbc "x=gen:noise:1:$2" y=null \
        2>&1 | sed -n 's/.*Collected : //p'
}
# spent PIPELINE DEVICE PACKETS: instructions for so many packets, starting and ending left out
spent() {
    "$PIPEC" -q --device "$2" -p "$1" work.pipe -o p.pbc
    echo $(($(instructions "$2" $(($3 + 256))) - $(instructions "$2" 256)))
}
# within CLAIM FOUND MOST
within() {
    if [ "$2" -gt 0 ] && [ "$2" -le "$3" ]; then echo "ok $1: $2 of $3"; else echo "not ok $1: $2, at most $3"; fi
}
# `make check` takes one pipeline on one device, `make check-long` both on both.
devices=sim16
[ -z "${LONG-}" ] || devices='sim16 sim-h200'
for p in counted ${LONG:+constant}; do
    n=1000
    [ $p = counted ] || n=15000
    native=$(spent $p cpu:1 $n)
    for device in $devices; do
        within "$p on $device: instructions, and three times those on a processor" "$(spent $p "$device" $n)" $((3 * native))
    done
done
for device in ${LONG:+sim16} sim-h200; do
    within "a thousand launches on $device" "$(spent launches "$device" 1000)" 4000000
done

# A dispatch on the host's cores, of a chain of eight stages that hand each other single packets.  Measured: 1,396, 1,700 and
# 2,142 instructions; `make check` counts those of the static schedule.
chain() { "$PIPEC" -q --device=cpu --march=x86-64-v3 --no-fuse --buffers=min "$@" "$ROOT/tests/bench/pipes/chain8.pipe" -o p.pbc; }
chained() { "$PIPERUN" -q p.pbc --device cpu:1 --stats=json:stats.json x=gen:ramp:"$1" y=null && sed -n 's/^ *"dispatches": \([0-9]*\).*/\1/p' stats.json | head -1; }
chain_cost() { echo $((($(instructions cpu:1 1300) - $(instructions cpu:1 300)) / ($(chained 1300) - $(chained 300)))); }
bounds='auto:1500'
[ -z "${LONG-}" ] || bounds='auto:1500 round_robin:1800 fullest:2300'
if [ "$VARIANT" != release ]; then
    echo "skip instructions of a dispatch on cpu:1 the bounds are those of a release build"
    bounds=
fi
for bound in $bounds; do
    chain --policy="${bound%:*}"
    within "instructions of a dispatch on cpu:1, policy ${bound%:*}" "$(chain_cost)" "${bound#*:}"
done
