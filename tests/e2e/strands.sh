#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Chains over blocks whose packets meet in parts only become loops over these parts, and no output changes: not in the
# stream, not at its end.
set -eu
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

std='const f64 PI = 3.14159265358979323846;
kernel reverse<int N>(in f32x2 x pop N, out f32x2 y push N) {
    for (i32 i = 0; i < N; i++) {
        i32 other = 0;
        for (i32 bit = 1; bit < N; bit *= 2) other = 2 * other + ((i & bit) != 0 ? 1 : 0);
        y <- x[other & (N - 1)];
    }
}
kernel butterflies<int H>(in f32x2 x pop 2*H, out f32x2 y push 2*H) {
    table f32 re[H], im[H];
    init {
        for (i32 k = 0; k < H; k++) {
            re[k] = (f32)cos(PI * (f64)k / H);
            im[k] = (f32)-sin(PI * (f64)k / H);
        }
    }
    for (i32 k = 0; k < H; k++) {
        f32x2 a = x[k], b = x[k + H];
        f32x2 t = f32x2(fma(re[k], b.x, -(im[k] * b.y)), fma(re[k], b.y, im[k] * b.x));
        y[k] = a + t;
        y[k + H] = a - t;
    }
}
// Packets that are J apart meet; T is of the packets, A differs from packet to packet.
kernel compare<int N, int J>(in i32 x pop N, out i32 y push N) {
    for (i32 i = 0; i < N; i++) {
        i32 a = x[i], b = x[i ^ J];
        y <- (i & J) == 0 ? min(a, b) : max(a, b);
    }
}
kernel blend<int N, int J>(in i32 x pop N, out i32 y push N; i32 by) {
    for (i32 i = 0; i < N; i++) y[N - 1 - i] = x[i] * by + (x[i ^ J] >> (i & 3));
}
kernel scale<int N>(in f32 x pop N, out f32 y push N) {
    for (i32 i = 0; i < N; i++) y[i] = x[i] * ((f32)i - 7.5);
}
kernel shift(in f32 x, out f32 y; f32 by) { y <- x < 0 ? x + by : x; }
kernel half(in f64 x pop 128, out f64 y push 64) {
    for (i32 i = 0; i < 64; i++) y[i] = x[i] - x[i + 64] * 0.0;
}
kernel double(in f64 x pop 64, out f64 y push 128) {
    for (i32 i = 0; i < 64; i++) { y[i] = x[i]; y[64 + i] = 1.0 * x[63 - i]; }
}
kernel partly(in f32 x pop 64, out f32 y push 64) {
    for (i32 i = 0; i < 64; i++) if ((i & 1) == 0) y[i] = x[i] * 3;
}
kernel sum(in f32 x pop 64, out f32 y push 64) {
    f32 s = 0;
    for (i32 i = 0; i < 64; i++) s += x[i];
    for (i32 i = 0; i < 64; i++) y[i] = s + x[i];
}'

lengths='0 1 31 63 64 65 127 128 255 256 257 300 511 512 1000 1024 4099'

# NAME WHAT PORTS BODY: the outputs of BODY are the same, and inspect says WHAT of its blocks; empty: it takes none apart.
try() {
    local name=$1 what=$2 type=$3 body=$4 march marches=x86-64-v3 n bad=
    printf '%s\npipeline main(%s) %s\n' "$std" "$type" "$body" > "$name.pipe"
    "$PIPEC" -O0 --device sim16 "$name.pipe" -o whole.pbc
    for n in $lengths; do "$PIPERUN" -q whole.pbc x=gen:noise:3:"$n" y="whole.$n,raw"; done
    # `make check` takes one instruction set for each program, `make check-long` both.
    if [ -n "${LONG-}" ]; then marches='x86-64-v3 native'; elif [ $((${#name} % 2)) = 1 ]; then marches=native; fi
    for march in $marches; do
        "$PIPEC" --device cpu --march "$march" "$name.pipe" -o apart.pbc
        for n in $lengths; do
            "$PIPERUN" -q apart.pbc x=gen:noise:3:"$n" y=apart.raw,raw
            cmp -s "whole.$n" apart.raw || bad+=" $n"
        done
    done
    check "$name${bad:+: other bytes with as many packets:$bad}" test -z "$bad"
    "$PIPEC" inspect --device cpu "$name.pipe" > inspected
    local found=no
    if grep -q 'blocks taken apart' inspected; then found=yes; fi
    if [ -n "$what" ] && ! grep -q "$what" inspected; then found="yes, but not: $what"; fi
    check "$name-apart: $found" test "$found" = "$([ -n "$what" ] && echo yes || echo no)"
}

try fourier '  reverse+butterflies#1..4: 5 nodes, in each iteration 16 strands' 'in f32x2 x, out f32x2 y' '{
    x -> reverse<256> -> butterflies<1> -> butterflies<2> -> butterflies<4> -> butterflies<8>
      -> butterflies<16> -> butterflies<32> -> butterflies<64> -> butterflies<128> -> y;
}'
try backwards ' nodes, in each iteration 16 strands' 'in f32x2 x, out f32x2 y' '{
    x -> butterflies<128> -> butterflies<64> -> butterflies<32> -> butterflies<16>
      -> butterflies<8> -> butterflies<4> -> butterflies<2> -> butterflies<1> -> reverse<256> -> y;
}'
try integers 'strands of' 'in i32 x, out i32 y; i32 by = 3' '{
    x -> compare<64, 32> -> blend<64, 16>(by) -> compare<64, 32> -> y;
}'
try constants '64 strands of' 'in f32 x, out f32 y; f32 by = 0.5' '{
    x -> scale<64> -> shift(by) -> scale<64> -> y;
}'
try rates '64 strands of' 'in f64 x, out f64 y' '{ x -> half -> double -> y; }'
try partly '' 'in f32 x, out f32 y' '{ x -> partly -> scale<64> -> y; }'
try meeting '' 'in f32 x, out f32 y' '{ x -> sum -> scale<64> -> y; }'
try short '' 'in f32 x, out f32 y' '{ x -> scale<16> -> scale<16> -> y; }'

# Batches of few firings are executed in room of their own, which holds anything: packets that are not named are cleared
# there.  CLEARS: the windows cleared in front of such a batch.
padded() {
    printf '%s\npipeline main(in f32 x, out f32 y) { x -> %s -> y; }\n' "$std" "$2" >padded.pipe
    local clears
    clears=$("$PIPEC" --device cpu --no-fuse --emit=llvm padded.pipe |
        awk '/^padded:/ { inside = 1 } /^$/ { inside = 0 } inside && /memset/ { n++ } END { print n + 0 }')
    check "short batches of $2 clear $1 of their windows: $clears" test "$clears" = "$1"
}
padded 2 partly
padded 1 'scale<64>'
