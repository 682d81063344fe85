#!/bin/bash
# SPDX-License-Identifier: MIT
# The rate of audio that is written: that of the audio that is read, times the exact ratio of the rates of the two ports.
# shellcheck disable=SC2317 # functions are called through check
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

cat >rates.pipe <<'END'
import "std/dsp.pipe";
kernel copy(in f32 x, out f32 y) { y <- x; }
kernel thin<int N>(in f32 x pop N, out f32 y) { y <- x[0]; }
kernel repeat<int N>(in f32 x, out f32 y push N) { for (i32 i = 0; i < N; i++) y <- x; }
kernel two_of_three(in f32 x pop {1, 2}, out f32 y) { y <- x[0]; }
kernel some(in f32 x, out f32 y push 0..1) { if (x > 0) y <- x; }
kernel sum(in f32 a, in f32 b, out f32 y) { y <- a + b; }
kernel pair(in f32 x pop 2, out f32x2 y) { y <- f32x2(x[0], x[1]); }

pipeline quarter(in f32 x, out f32 y) { decimate<4, 4>(x -> y); }
pipeline three_halves(in f32 x, out f32 y) { x -> repeat<3> -> thin<2> -> y; }
pipeline phases(in f32 x, out f32 y) { x -> two_of_three -> y; }
pipeline eighth(in f32 x, out f32 y) { x -> thin<8> -> y; }
pipeline bounded(in f32 x, out f32 y) { x -> some -> y; }
pipeline several(in f32 x, out f32 same, out f32 half, out f32 varying) {
    x -> copy -> same;
    x -> thin<2> -> half;
    x -> some -> varying;
}
pipeline joined(in f32 a, in f32 b, out f32 y) { sum(a, b -> y); }
pipeline stretched(in f32 a, in f32 b, out f32 y) {
    buffer f32 t;
    thin<2>(b -> t);
    sum(a, t -> y);
}
pipeline apart(in f32 a, in f32 b, out f32 y, out f32 z) {
    a -> copy -> y;
    b -> thin<2> -> z;
}
pipeline beside(in f32 a, in f32 b, out f32 y, out f32 z) {
    buffer f32 fewer;
    some(b -> fewer);
    a -> copy -> y;
    fewer -> copy -> z;
}
pipeline stereo(in f32 x, out f32x2 y) { x -> pair -> y; }
pipeline looped(in f32 x, out f32 y) {
    buffer f32 back init 1 x 0, sums;
    sum(x, back -> sums);
    copy(sums -> back);
    sums -> thin<2> -> y;
}
END
for name in quarter three_halves phases eighth bounded several joined stretched apart beside stereo looped; do
    "$PIPEC" -p $name rates.pipe -o $name.pbc 2>said || { cat said; echo "not ok $name compiles"; }
done
cat >copy.pipe <<'END'
kernel copy(in f32 x, out f32 y) { y <- x; }
pipeline main(in f32 x, out f32 y) { x -> copy -> y; }
END
"$PIPEC" copy.pipe -o copy.pbc || exit 1
for hertz in 44100 48000 22050 8000 3; do
    "$PIPERUN" -q copy.pbc x=gen:ramp:96 y=$hertz.wav,rate=$hertz,wav:i16 2>said || { cat said; echo "77"; exit 77; }
done

"$PIPERUN" -q copy.pbc x=gen:ramp:48 y=half_as_long.wav,rate=22050 || exit 1

# has FILE HERTZ: by its header.
has() {
    local found
    found=$(od -An -tu4 -j24 -N4 "$1" | tr -d ' ')
    [ "$found" = "$2" ] || { echo "$1 has $found Hz, not $2"; return 1; }
}
# makes HERTZ CONTAINER PORT=...: `y.wav` has that rate, and nothing has been said.
makes() {
    local hertz=$1
    rm -f y.wav
    "$PIPERUN" "${@:2}" 2>text || { cat text; return 1; }
    [ ! -s text ] || { cat text; return 1; }
    has y.wav "$hertz"
}
# notes HERTZ PATTERN CONTAINER PORT=...: so does a note.
notes() {
    local hertz=$1 pattern=$2
    says 0 "note: $pattern" "$PIPERUN" "${@:3}" && has y.wav "$hertz"
}
asks() { says 2 "error: $1" "$PIPERUN" "${@:2}"; }

check "44,100 Hz through decimate<4> gives 11,025" makes 11025 quarter.pbc x=44100.wav y=y.wav
check "a ratio above one" makes 66150 three_halves.pbc x=44100.wav y=y.wav
check "rates in phases" makes 32000 phases.pbc x=48000.wav y=y.wav
check "a feedback loop" makes 24000 looped.pbc x=48000.wav y=y.wav
check "the same rate" makes 8000 copy.pbc x=8000.wav y=y.wav
check "rate= decides" makes 9000 quarter.pbc x=44100.wav y=y.wav,rate=9000
check "without audio as an input: 48,000" makes 48000 quarter.pbc x=gen:ramp:96 y=y.wav
check "several outputs: one as fast as the input" makes 44100 several.pbc x=44100.wav same=y.wav half=half.wav varying=null
check "several outputs: one at half its rate" has half.wav 22050

check "a rate that is no integer is rounded to the nearest, with a note" notes 5513 \
    "'y.wav' is written with 5513 Hz, and would have 11025/2 after '44100.wav' \(44100 Hz\)" eighth.pbc x=44100.wav y=y.wav
check "a rate below one is asked for" asks "'y.wav' would have 3/8 Hz after '3.wav' \(3 Hz\).*add rate=N" eighth.pbc x=3.wav y=y.wav
check "a bounded rate between the ports: 48,000, with a note" notes 48000 "'y.wav' is written with 48000 Hz, and '44100.wav' has 44100: no exact rate connects" \
    bounded.pbc x=44100.wav y=y.wav

check "inputs that agree" makes 44100 joined.pbc a=44100.wav b=44100.wav y=y.wav
check "inputs that agree after their ratios" makes 22050 stretched.pbc a=half_as_long.wav b=44100.wav y=y.wav
check "inputs that disagree are asked about" asks \
    "'y.wav' would have 44100 Hz after '44100.wav' \(44100 Hz\), and 48000 Hz after '48000.wav' \(48000 Hz\): add rate=N" \
    joined.pbc a=44100.wav b=48000.wav y=y.wav
check "and leave no output" [ ! -e .y.wav ]
check "rate= settles it" makes 44100 joined.pbc a=44100.wav b=48000.wav y=y.wav,rate=44100
check "inputs of other outputs do not matter" makes 44100 apart.pbc a=44100.wav b=48000.wav y=y.wav z=z.wav
check "each output has its own" has z.wav 24000
check "one that no exact rate connects does not matter where another does" makes 44100 beside.pbc a=44100.wav b=8000.wav y=y.wav z=null

check "two packets become one frame of two channels" makes 22050 stereo.pbc x=44100.wav y=y.wav
"$PIPERUN" -q copy.pbc x=gen:ramp:96 y=two.wav,rate=44100,channels=2
check "channels one after the other are packets twice as fast" makes 88200 copy.pbc x=two.wav,channels=2 y=y.wav
check "and written so again they are the input" makes 44100 copy.pbc x=two.wav,channels=2 y=y.wav,channels=2
