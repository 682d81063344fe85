#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --fast-math takes long filters to the frequency domain: as many packets at every length, values as near as the
# transforms round, and the same bits on every device and with every number of threads.
set -eu
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

std='import "std/dsp.pipe";
import "std/streams.pipe";
kernel stuff<int N>(in f32 x, out f32 y push N) {
    y <- x;
    for (i32 i = 1; i < N; i++) y <- 0;
}
fn f64 factor(i32 i) { return (f64)((i * 7919 + 13) % 101 - 50) / 400; }
kernel wide<int N>(in f64 x peek N, out f64 y) {
    f64 s = 0.25;
    for (i32 i = 0; i < N; i++) s += x[i] * factor(i);
    y <- s;
}
kernel rotor<int N>(in f32x2 x pop 1 peek N, out f32x2 y) {
    table f32 re[N], im[N];
    init {
        for (i32 i = 0; i < N; i++) { re[i] = (f32)factor(i); im[i] = (f32)factor(i + 5); }
    }
    f32 a = 1, b = -2;
    for (i32 i = 0; i < N; i++) {
        a += re[i] * x[i].x - im[i] * x[i].y;
        b += im[i] * x[i].x + re[i] * x[i].y;
    }
    y <- f32x2(a, b);
}
kernel shear<int N>(in f32x2 x pop 1 peek N, out f32x2 y) {
    f32x2 s = 0;
    for (i32 i = 0; i < N; i++) s += x[i] * f32x2(0.01, 0.02);
    y <- s;
}
kernel decimator<int N, int D>(in f32 x pop D peek N, out f32 y) {
    f32 s = 0;
    for (i32 i = 0; i < N; i++) s = fma(x[i], (f32)factor(i), s);
    y <- s;
}
kernel halves(in f32 x pop 2, out f32 y) { y <- (x[0] + x[1]) / 2; }
kernel forget(in f32 x, in f32 back, out f32 y, out f32 again) { f32 s = x + 0.25 * back; y <- s; again <- s; }'

# The lengths at which there are not as many packets, or one differs by more than NEAR of the largest.
compare() {
    python3 - "$@" <<'PYTHON'
import array, sys
kind, near, lengths = "d" if "f64" in sys.argv[1] else "f", float(sys.argv[2]), sys.argv[3:]
for n in lengths:
    whole, blocks = (array.array(kind, open(f"{name}.{n}", "rb").read()) for name in ("whole", "blocks"))
    most = near * max(map(abs, whole), default=0)
    if len(whole) != len(blocks) or not all(abs(a - b) <= most for a, b in zip(whole, blocks)):
        print(" " + n, end="")
PYTHON
}

number=0
# NAME SAYS NEAR PORTS BODY LENGTH...: outputs are near at each length, the same bits wherever they are computed, and
# inspect says SAYS (!: does not).
try() {
    local name=$1 says=$2 near=$3 ports=$4 body=$5 n bad bits='' simulated='' optimise=-O0
    shift 5
    printf '%s\npipeline main(%s) %s\n' "$std" "$ports" "$body" > "$name.pipe"
    "$PIPEC" -O0 --device sim16 "$name.pipe" -o whole.pbc
    # Every third program in `make check`, in `make check-long` all: optimised, and compared with the simulated device.
    if [ -n "${LONG-}" ] || [ $((number++ % 3)) = 0 ]; then
        optimise=-O2
        "$PIPEC" --device sim4 --fuse --fast-math "$name.pipe" -o sim.pbc
        simulated=1
    fi
    "$PIPEC" $optimise --device cpu --fast-math "$name.pipe" -o blocks.pbc
    for n in "$@"; do
        "$PIPERUN" -q whole.pbc x=gen:noise:3:"$n" y=whole."$n",raw
        "$PIPERUN" -q --device cpu:1 blocks.pbc x=gen:noise:3:"$n" y=blocks."$n",raw
        "$PIPERUN" -q --device cpu:2 blocks.pbc x=gen:noise:3:"$n" y=two,raw
        cmp -s blocks."$n" two || bits+=" $n"
        [ -n "$simulated" ] || continue
        "$PIPERUN" -q --device sim4 sim.pbc x=gen:noise:3:"$n" y=sim,raw
        cmp -s blocks."$n" sim || bits+=" $n"
    done
    bad=$(compare "$ports" "$near" "$@")
    check "$name${bad:+: with as many packets:$bad}" test -z "$bad"
    check "$name-bits${bits:+: with as many packets:$bits}" test -z "$bits"
    if "$PIPEC" inspect --fast-math --device cpu "$name.pipe" | grep -q "${says#!}"; then n=; else n=!; fi
    check "$name-inspect" test "$n" = "${says%%[!\!]*}"
}

f32='in f32 x, out f32 y'
try long 'frequency domain: 1000 taps, blocks of 4096' 2e-6 "$f32" '{ x -> fir_lowpass<1000>(0.1) -> y; }' \
    ${LONG:+1 1001 2000 4000 4096 7142 13286 13288} 0 999 1000 7143 7144 13287 40000
try short '!frequency domain' 1e-5 "$f32" '{ x -> fir_lowpass<40>(0.1) -> y; }' 39 40 41 500
try cascade 'frequency domain: 499 taps' 2e-6 "$f32" '{ x -> fir_lowpass<200>(0.1) -> fir_lowpass<300>(0.2) -> y; }' \
    ${LONG:+0 498 5000} 499 500 9001
for d in ${LONG:+2 8 12 16} 3; do
    try "by$d" 'frequency domain: 1500 taps' 2e-6 "$f32" "{ x -> decimator<1500, $d> -> y; }" \
        ${LONG:+0 1502 1517 8191 9000} 1499 1500 1516 12345
done
# Several packets an iteration, with factors of their own.
try phases 'frequency domain: 257 taps' 2e-6 "$f32" '{ x -> stuff<4> -> fir_lowpass<1024>(0.05) -> y; }' \
    ${LONG:+0 1 1000 1001} 255 256 257 3000
try rational 'frequency domain' 2e-6 "$f32" '{ x -> stuff<3> -> decimator<900, 2> -> y; }' \
    ${LONG:+0 302 1003 1004} 299 300 301 3000
[ -z "${LONG-}" ] || try behind 'frequency domain' 2e-6 "$f32" '{ x -> decimator<500, 1> -> halves -> y; }' 499 500 501 502 4001 4002
try doubles 'frequency domain: 400 taps' 1e-14 'in f64 x, out f64 y' '{ x -> wide<400> -> y; }' 0 399 400 401 5000
try complex 'frequency domain: 300 taps' 2e-6 'in f32x2 x, out f32x2 y' '{ x -> rotor<300> -> y; }' 0 299 300 301 5000
try stereo '!frequency domain' 1e-5 'in f32x2 x, out f32x2 y' '{ x -> shear<300> -> y; }' 299 300 1000
# Factors that only the run knows, a cycle, which would wait for ever, and a depth that is declared: as without.
try run '!frequency domain' 1e-5 "$f32; f32 a = 0.1" '{ x -> fir_lowpass<300>(a) -> y; }' 299 300 1000
try cycle '!frequency domain' 1e-5 "$f32" '{
    buffer f32 back init 128 x 0.0, again;
    forget(x, back -> y, again);
    again -> decimator<128, 1> -> back;
}' 0 1 127 128 129 1000
try depth '!frequency domain' 1e-5 "$f32" '{
    buffer f32 mid depth 400;
    x -> halves -> mid;
    mid -> fir_lowpass<300>(0.1) -> y;
}' 599 600 601 3000

# Where nothing is fused, filters stay sums; where it is asked for, they do not.
frequency() {
    if "$PIPEC" inspect --fast-math "$@" long.pipe | grep -q 'frequency domain'; then echo yes; else echo no; fi
}
places="$(frequency --device cpu --no-fuse) $(frequency --device sim16 --no-fuse) $(frequency --device sim16)"
check "unfused: $places" test "$places" = "no no yes"

# A filter in the frequency domain faults nowhere: that is not what keeps it apart.
cat >apart.pipe <<'END'
import "std/dsp.pipe";
kernel times(in f32 x, out f32 y; f32 by) { y <- by * x; }
pipeline main(in f32 x, out f32 y; f32 by = 2) { x -> times(by) -> fir_lowpass<1000>(0.1) -> times(by) -> y; }
END
"$PIPEC" inspect --fast-math --device cpu apart.pipe >inspected
check "why it is apart" grep -q "^apart .*'times->fir_lowpass'.*: an iteration of both has too many firings" inspected
check "its packets need no checks" grep -q '^no checks at run time' inspected
