#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2059 # $0 and $1 are the inner shell's; formats are made here
# Ports with a shape: images know their size from them, and are refused where they do not fit.
set -u
cd "$TMP" || exit 1

expect() {
    if eval "$2"; then echo "ok $1"; else echo "not ok $1"; fi
}

cat >blur.pipe <<'END'
kernel blur(in u8 x window 3x3 border clamp, out u8 y) {
    i32 s = 0;
    for (i32 row = -1; row <= 1; row++)
        for (i32 column = -1; column <= 1; column++)
            s += (i32)x[row][column];
    y <- (u8)(s / 9);
}
pipeline main(in u8 x frame 6x4, out u8 y) { x -> blur -> y; }
END
cat >rows.pipe <<'END'
kernel grey(in u8 x pop 3, out u8 y) { y <- (u8)(((i32)x[0] + (i32)x[1] + (i32)x[2]) / 3); }
pipeline main(in u8 x rows 18, out u8 y rows 6) { x -> grey -> y; }
END
cat >pixels.pipe <<'END'
kernel swap(in u8[3] x, out u8[3] y) {
    u8[3] p = x;
    u8 red = p[0];
    p[0] = p[2];
    p[2] = red;
    y <- p;
}
pipeline main(in u8[3] x frame 2x2, out u8[3] y) { x -> swap -> y; }
END
for name in blur rows pixels; do
    "$PIPEC" $name.pipe -o $name.pbc 2>$name.err || { cat $name.err; echo "not ok $name.pipe compiles"; exit 0; }
done

# image WIDTH HEIGHT CHANNELS: a portable map of ascending samples
image() {
    printf '%s\n%d %d\n255\n' "$([ "$3" = 3 ] && echo P6 || echo P5)" "$1" "$2"
    for ((i = 0; i < $1 * $2 * $3; i++)); do printf "\\x$(printf %02x $((i % 251)))"; done
}
image 6 4 1 >good.pgm
image 5 4 1 >narrow.pgm
image 6 5 1 >high.pgm
image 6 8 1 >two.pgm
image 6 2 3 >colour.ppm
image 2 2 3 >pixels.ppm

head_of() { head -n 3 "$1" | tr -s '\n ' ' ' | head -c 11; }

"$PIPERUN" blur.pbc x=good.pgm y=out.pgm 2>err
expect "an out-port with a shape needs no width=" '[ "$(head_of out.pgm)" = "P5 6 4 255 " ]'
"$PIPERUN" blur.pbc x=good.pgm y=out.png 2>err
expect "so does a png" '[ -s out.png ]'
"$PIPERUN" blur.pbc x=two.pgm y=two_out.pgm 2>err
expect "frames stand one below the other" '[ "$(head_of two_out.pgm)" = "P5 6 8 255 " ]'
expect "nothing is noted of it" '[ ! -s err ]'
"$PIPERUN" blur.pbc x=good.pgm y=same.pgm,width=6 2>err
expect "width= may say what the shape says" 'cmp -s out.pgm same.pgm'
"$PIPERUN" blur.pbc x=good.pgm y=wide.pgm,width=12 2>err || echo "exit status $?" >>err
expect "another width= than the shape's is refused" 'grep -q "exit status 2" err && [ ! -e wide.pgm ] && grep -q "rows of port .y. are 6 pixels wide in .wide.pgm., not 12: leave width= out" err'
"$PIPERUN" blur.pbc x=good.pgm y=colours.ppm 2>err
expect "a port of grey pixels in a ppm is noted" '[ "$(head_of colours.ppm)" = "P6 2 4 255 " ] && grep -q "note: .colours.ppm. gets 2 pixels of 3 samples a row: port .y. (u8) has rows of 6" err'
"$PIPERUN" blur.pbc x=good.pgm y=colours.ppm,channels=3 2>err
expect "not if channels= says so" '[ "$(head_of colours.ppm)" = "P6 2 4 255 " ] && [ ! -s err ]'

"$PIPERUN" blur.pbc x=narrow.pgm y=no.pgm 2>err
expect "an image of other rows is refused" 'grep -q "narrow.pgm. is 5x4, port .x. wants rows of 6" err'
"$PIPERUN" blur.pbc x=high.pgm y=no.pgm 2>err
expect "an image of other frames is refused" 'grep -q "high.pgm. is 6x5, port .x. wants frames of 6x4" err'
"$PIPERUN" blur.pbc x=colour.ppm y=no.pgm 2>err
expect "an image of other channels is refused" 'grep -q "colour.ppm. has rows of 6 x 3 samples, port .x. wants 6 x 1" err'
expect "a refused image leaves nothing" '[ ! -e no.pgm ]'

sed 's/frame 6x4/frame 8x4/' blur.pipe >eight.pipe && "$PIPEC" eight.pipe -o eight.pbc
"$PIPERUN" eight.pbc x=gen:ramp:32 y=no.ppm 2>err || echo "exit status $?" >>err
expect "a row that is no whole number of pixels is refused" 'grep -q "exit status 2" err && [ ! -e no.ppm ] && grep -q ".no.ppm. is to have 3 samples a pixel, and a row of port .y. (u8) has 8: .*a grey image is a .pgm" err'
"$PIPERUN" rows.pbc x=colour.ppm y=grey.pgm 2>err
expect "rows of three samples a pixel fit a colour image" '[ "$(head_of grey.pgm)" = "P5 6 2 255 " ]'
"$PIPERUN" pixels.pbc x=pixels.ppm y=swapped.ppm 2>err
expect "packets of three values are pixels" '[ "$(head_of swapped.ppm)" = "P6 2 2 255 " ]'
"$PIPERUN" pixels.pbc x=swapped.ppm y=back.ppm 2>err
expect "swapped twice it is the same" 'cmp -s <(tail -c 12 back.ppm) <(tail -c 12 pixels.ppm)'
