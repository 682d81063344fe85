#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Work without an effect is left out for the host's processor, and no output changes: not in the stream, not at
# its end.
set -eu
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

std='import "std/dsp.pipe";
import "std/streams.pipe";
kernel stuff<int N>(in f32 x, out f32 y push N) {
    y <- x;
    for (i32 i = 1; i < N; i++) y <- 0;
}
kernel zeros_between(in f32x2 x, out f32x2 y push 4) {
    y <- f32x2(0, -0.0);
    y <- x;
    y <- f32x2(-0.0, 0);
    y <- f32x2(0, 0);
}
// Sums that may end as -0.0: products are added to it, and to -0.0.
kernel weigh(in f32 x pop 1 peek 5, out f32 y; f32 scale) {
    const f32 w[5] = {-0.5, 0.0, 1.0, -2.0, 1e-30};
    f32 a = -0.0, b = 0;
    for (i32 i = 0; i < 5; i++) a = fma(x[i], w[i], a);
    for (i32 i = 0; i < 5; i++) b += x[i] * w[4 - i] * 1e-20;
    y <- a;
    y <- b * scale;
}
kernel swirl(in f32x2 x pop 2 peek 3, out f32 y) {
    f32 s = 0;
    for (i32 i = 0; i < 3; i++) s = fma(x[i].x, 0.5, s) - x[i].y;
    y <- abs(s) > 1 ? s : min(s, -s);
}
// Some of its sums meet a product of +0.0, others of -0.0 alone.
kernel signs(in f32 x pop 1 peek 11, out u32 y) {
    const f32 w[11] = {1, -1, -2, 0.5, -3, -1, -7, -1e-30, -1, 2, -1};
    f32 a = -0.0;
    for (i32 i = 0; i < 11; i++) a = fma(x[i] * 1e-25, w[i], a);
    y <- bits(a);
}
kernel keep_signs(in f32 x pop 1 peek 11, out f32 y) {
    const f32 w[11] = {1, -1, -2, 0.5, -3, -1, -7, -1e-30, -1, 2, -1};
    f32 a = -0.0;
    for (i32 i = 0; i < 11; i++) a = fma(x[i] * 1e-25, w[i], a);
    y <- a;
}
// The sign of a zero does not show in the first sum, but in the second.
kernel sum_hides(in f32 x[2], out u32 y) { y <- bits(0.0 + x[0][0] + x[1][0]); }
kernel sum_shows(in f32 x[2], out u32 y) { y <- bits(-0.0 * abs(x[0][0]) + x[1][0]); }
kernel both_signs(in u32 x[2], out f32 y) { y <- x[0][0] == x[1][0] ? 1.0 : (f32)(x[0][0] >> 31); }
kernel turn(in f32 x, out f32x2 y; i32 by) { y <- by > 0 ? f32x2(x, -x) : f32x2(-x, x * 3); }
kernel bits(in f32 x, out u32 y) { y <- bits(x); }
kernel pick(in f32 x pop 5, out f32 y push 2) { y <- x[3]; y <- x[1]; }
kernel halves(in i32 x, out i32 y push 4) { y <- x; y <- 0; y <- 7; y <- x; }
kernel mixed(in i32 x pop 4 peek 7, out i32 y push 2) {
    i32 s = 0;
    for (i32 i = 0; i < 7; i++) s += x[i] * i + (x[i] << 0);
    y <- s;
    y <- x[6] / 3;
}
// Tables of every shape, and state that init sets from them.
struct pair { f32 a; i16 b[3]; };
kernel tables(in f32 x pop 1 peek 4, out f32 y; f32 g, f32 h) {
    table f32 w[4];
    table i32 n;
    table pair p[2];
    state i32 k = 5;
    state f32 d[8];
    init {
        n = 3;
        for (i32 i = 0; i < 4; i++) w[i] = sin((f32)i + g);
        p[1].a = 0.25;
        p[1].b[2] = -3;
        p[0].b[1] = 9;
        d[2] = -0.0;
        d[7] = w[3];
    }
    f32 s = d[k & 7] + h;
    for (i32 i = 0; i <= n; i++) s = fma(x[i], w[i], s);
    k = (k + p[0].b[1]) & 7;
    d[k] = s * p[1].a + p[1].b[2];
    y <- s;
}
// A table that the run decides.
kernel scaled(in f32 x, out f32 y; f32 g) {
    table f32 w;
    init { w = g * 2; }
    y <- x * w;
}'

lengths='0 1 2 3 5 8 31 64 129 1001'
[ -z "${LONG-}" ] || lengths="$(seq -s ' ' 0 24) 31 63 64 65 66 67 68 71 100 127 128 129 250 1001"

# NAME WHAT PORTS BODY: the outputs of BODY are the same, and inspect says WHAT.
try() {
    local name=$1 what=$2 type=$3 body=$4 n bad=
    printf '%s\npipeline main(%s) %s\n' "$std" "$type" "$body" > "$name.pipe"
    "$PIPEC" -O0 --device sim16 "$name.pipe" -o whole.pbc
    "$PIPEC" --device cpu "$name.pipe" -o less.pbc
    for n in $lengths; do
        "$PIPERUN" -q whole.pbc x=gen:noise:3:"$n" y=whole.raw,raw
        "$PIPERUN" -q less.pbc x=gen:noise:3:"$n" y=less.raw,raw
        cmp -s whole.raw less.raw || bad+=" $n"
    done
    check "$name${bad:+: other bytes with as many packets:$bad}" test -z "$bad"
    "$PIPEC" inspect --device cpu "$name.pipe" > inspected
    check "$name-less" grep -q "$what" inspected
}

try decimated 'operations an iteration' 'in f32 x, out f32 y' '{ x -> fir_lowpass<64>(0.125) -> keep_every<4> -> y; }'
try picked 'operations an iteration' 'in f32 x, out f32 y' '{ x -> weigh(3) -> pick -> y; }'
try argument 'operations an iteration' 'in f32 x, out f32 y; f32 s = 0.3' '{ x -> weigh(s + 1) -> pick -> y; }'
try stuffed 'operations an iteration' 'in f32 x, out f32 y' '{ x -> stuff<4> -> fir_bandpass<16>(0.1, 0.2) -> y; }'
try stuffed_signs 'operations an iteration' 'in f32 x, out u32 y' '{ x -> stuff<3> -> weigh(1) -> bits -> y; }'
try alike 'operations an iteration' 'in f32 x, out f32 y' '{ x -> stuff<16> -> fir_bandpass<64>(0.1, 0.2) -> y; }'
try alike_signs 'operations an iteration' 'in f32 x, out u32 y' '{ x -> stuff<8> -> signs -> y; }'
try both 'operations an iteration' 'in f32 x, out f32 y' '{ x -> keep_every<3> -> stuff<5> -> fir_lowpass<9>(0.2) -> keep_every<2> -> y; }'
try vectors 'operations an iteration' 'in f32x2 x, out f32 y' '{ x -> zeros_between -> swirl -> y; }'
try integers 'operations an iteration' 'in i32 x, out i32 y' '{ x -> halves -> mixed -> y; }'
try bank 'operations an iteration' 'in f32 x, out f32 y' '{
    buffer f32 part[3];
    for (int b = 0; b < 3; b++)
        x -> fir_lowpass<12>(0.1 * (b + 1)) -> keep_every<4> -> stuff<4> -> fir_lowpass<12>(0.1 * (b + 1)) -> part[b];
    mix<3>(part -> y);
}'
# The packets that the bands leave at the end differ: their filters see more or fewer packets ahead.
try bank_alike 'interleave(' 'in f32 x, out f32 y' '{
    buffer f32 part[3];
    for (int b = 0; b < 3; b++)
        x -> fir_lowpass<4 + 13 * b>(0.1 * (b + 1)) -> keep_every<8> -> stuff<8> -> fir_lowpass<32>(0.1 * (b + 1))
          -> part[b];
    mix<3>(part -> y);
}'
try bank_late 'interleave(' 'in f32 x, out f32 y' '{
    buffer f32 part[2];
    x -> gain(3) -> stuff<8> -> fir_lowpass<19>(0.2) -> part[0];
    x -> fir_lowpass<5>(0.1) -> stuff<8> -> fir_lowpass<19>(0.3) -> part[1];
    mix<2>(part -> y);
}'
try bank_signs 'interleave(' 'in f32 x, out f32 y' '{
    buffer u32 part[2];
    x -> stuff<8> -> signs -> part[0];
    x -> gain(-2) -> stuff<8> -> signs -> part[1];
    both_signs(part -> y);
}'
for sum in hides shows; do
    try bank_sum_$sum "$([ $sum = hides ] && echo 48 || echo 70) operations an iteration" 'in f32 x, out u32 y' "{
        buffer f32 part[2];
        x -> stuff<8> -> keep_signs -> part[0];
        x -> gain(2) -> stuff<8> -> keep_signs -> part[1];
        sum_$sum(part -> y);
    }"
done
# So many bands that firings fill the lanes of vectors, not the packets of a firing.
try bank_lanes 'interleave(' 'in f32 x, out f32 y' '{
    buffer f32 part[8];
    for (int b = 0; b < 8; b++)
        x -> fir_lowpass<5>(0.05 * (b + 1)) -> keep_every<8> -> stuff<8> -> fir_lowpass<32>(0.05 * (b + 1)) -> part[b];
    mix<8>(part -> y);
}'
"$PIPEC" --device cpu --march=x86-64-v3 --emit=llvm bank_lanes.pipe | sed -n '/^define.*"stuff+.*run"/,/^}/p' > run.ll
check bank_lanes-lanes grep -q '^lanes' run.ll
try bank_vectors 'interleave(' 'in f32 x, out f32 y' '{
    buffer f32x2 turned[2];
    buffer f32 part[2];
    for (int b = 0; b < 2; b++) {
        x -> turn(b) -> turned[b];
        turned[b] -> zeros_between -> swirl -> part[b];
    }
    mix<2>(part -> y);
}'
try tables "w' of .*: 16 bytes" 'in f32 x, out f32 y; f32 h = 0.5' '{ x -> tables(0.5, h) -> gain(2) -> y; }'
try scaled "w' of .*: 16 bytes" 'in f32 x, out f32 y; f32 h = 0.5' '{ x -> scaled(h) -> tables(1, 2) -> y; }'
"$PIPEC" inspect --device cpu scaled.pipe >inspected
check "tables of the run are not constants" test "$(grep -c 'scaled.*: 4 bytes' inspected)" -eq 0
