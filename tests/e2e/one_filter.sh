#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --fast-math makes one filter of several: as many packets, and values as near as sums in another order are.
set -eu
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

lengths=(0 1 7 19 20 64 65 1001)
[ -z "${LONG-}" ] || mapfile -t lengths < <(seq 0 20; printf '%d\n' 63 64 65 129 1001)
std='import "std/dsp.pipe";
import "std/streams.pipe";
kernel stuff<int N>(in f32 x, out f32 y push N) {
    y <- x;
    for (i32 i = 1; i < N; i++) y <- 0;
}
kernel rotate(in f32x2 x, out f32x2 y; f32 a) { y <- f32x2(x.x * a - x.y, -(x.y / 4 + x.x * a)); }
kernel differ(in f32x2 x pop 1 peek 3, out f32x2 y) { y <- x[2] - x[0] * 0.5 + 0.25; }
kernel wide(in f64 x pop 1 peek 5, out f64 y) {
    f64 s = 1;
    for (i32 i = 0; i < 5; i++) s += x[i] * (i + 0.5);
    y <- s;
}
kernel square(in f32 x, out f32 y) { y <- x * x; }'

# NAME SAYS PORTS BODY [OPTION...]: outputs are near, at these lengths, and inspect says SAYS (!: does not).
try() {
    local name=$1 says=$2 ports=$3 body=$4 n bad=
    shift 4
    printf '%s\npipeline main(%s) %s\n' "$std" "$ports" "$body" > "$name.pipe"
    "$PIPEC" -O0 --device sim16 "$name.pipe" -o whole.pbc
    "$PIPEC" --device cpu --fast-math "$name.pipe" -o one.pbc
    for n in "${lengths[@]}"; do
        "$PIPERUN" -q whole.pbc "$@" x=gen:noise:3:"$n" y=whole.raw,raw
        "$PIPERUN" -q one.pbc "$@" x=gen:noise:3:"$n" y=one.raw,raw
        python3 - "$ports" <<'PYTHON' || bad+=" $n"
import array, sys
kind = "d" if "f64" in sys.argv[1] else "f"
whole, one = (array.array(kind, open(name + ".raw", "rb").read()) for name in ("whole", "one"))
largest = max(map(abs, whole), default=0)
sys.exit(len(whole) != len(one) or any(abs(a - b) > 1e-5 * largest for a, b in zip(whole, one)))
PYTHON
    done
    check "$name${bad:+: with as many packets:$bad}" test -z "$bad"
    if "$PIPEC" inspect --fast-math --device cpu "$name.pipe" | grep -q "${says#!}"; then n=; else n=!; fi
    check "$name-inspect" test "$n" = "${says%%[!\!]*}"
}

try equaliser ' 24 operations an iteration in place of .* one filter' 'in f32 x, out f32 y; f32 low = 1, f32 high = 0.25' '{
    buffer f32 part[4];
    for (int b = 0; b < 4; b++)
        x -> fir_bandpass<24>(0.125 * b, 0.125 * (b + 1)) -> gain(low + (high - low) * b / 3) -> part[b];
    mix<4>(part -> y);
}' -D low=3 -D high=-0.5
try rates 'one filter' 'in f32 x, out f32 y' '{
    x -> fir_lowpass<16>(0.125) -> keep_every<4> -> stuff<4> -> fir_lowpass<16>(0.125) -> y;
}'
try vectors 'one filter' 'in f32x2 x, out f32x2 y; f32 a = 1.5' '{ x -> rotate(a) -> rotate(0.5) -> rotate(-a) -> differ -> y; }'
try doubles 'one filter' 'in f64 x, out f64 y' '{
    buffer f64 a, b;
    x -> wide -> a;
    x -> wide -> b;
    both(a, b -> y);
}
kernel both(in f64 a, in f64 b, out f64 y) { y <- a - 0.5 * b; }'
try not_linear '!one filter' 'in f32 x, out f32 y' '{
    buffer f32 a, b;
    x -> fir_lowpass<8>(0.1) -> square -> a;
    x -> fir_lowpass<8>(0.2) -> square -> b;
    add(a, b -> y);
}'
# Two filters that cost more as one stay two.
try dearer '!one filter' 'in f32 x, out f32 y' '{ x -> fir_lowpass<24>(0.1) -> fir_lowpass<24>(0.2) -> y; }'
# Without the option nothing is collapsed.
"$PIPEC" inspect --device cpu equaliser.pipe >inspected
check "only on request" test "$(grep -c 'one filter' inspected)" -eq 0
