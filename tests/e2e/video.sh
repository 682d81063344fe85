#!/bin/bash
# SPDX-License-Identifier: MIT
# Video in and out: frames, colours, the rate of what is written, pipes.
# shellcheck disable=SC2317 # functions are called through check
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

cat >video.pipe <<'END'
kernel invert(in u8 x, out u8 y) { y <- 255 - x; }
kernel blur(in u8 x window 3x1, out u8 y) { y <- (u8)(((u32)x[0][-1] + x[0][0] + x[0][1]) / 3); }
kernel every_second<int N>(in u8 x pop 2 * N, out u8 y push N) { for (i32 i = 0; i < N; i++) y <- x[i]; }
kernel left_half<int W>(in u8 x pop W, out u8 y push W / 2) { for (i32 i = 0; i < W / 2; i++) y <- x[i]; }
kernel bright(in u8 x, out u8 y push 0..1) { if (x > 10) y <- x; }
kernel luma(in u8x3 x, out u8 y) { y <- x[0][0]; }
kernel grey(in u8 x, out u8x3 y) { y <- u8x3(x, 128, 128); }
pipeline inverted(in u8 x, out u8 y) { x -> invert -> y; }
pipeline blurred(in u8 x frame 8x4, out u8 y frame 8x4) { x -> blur -> y; }
pipeline thinned(in u8 x frame 8x4, out u8 y frame 8x4) { every_second<32>(x -> y); }
pipeline cropped(in u8 x frame 8x4, out u8 y frame 4x4) { left_half<8>(x -> y); }
pipeline some(in u8 x frame 8x4, out u8 y frame 8x4) { x -> bright -> y; }
pipeline lumas(in u8x3 x frame 8x4, out u8 y frame 8x4) { x -> luma -> y; }
pipeline greys(in u8 x frame 8x4, out u8x3 y frame 8x4) { x -> grey -> y; }
END
for p in inverted blurred thinned cropped some lumas greys; do
    "$PIPEC" -p $p video.pipe -o $p.pbc --min-level=error || exit 1
done
perl -e 'print "YUV4MPEG2 W8 H4 F30000:1001 Ip A1:1 Cmono\n"; for $f (0 .. 3) { print "FRAME\n", pack("C*", map { $_ + 32 * $f + 11 } 0 .. 31) }' >in.y4m
perl -e 'print "YUV4MPEG2 W8 H4 F24:1 C420jpeg\n"; for $f (0 .. 1) { print "FRAME\n", pack("C*", 0 .. 31), "u" x 8, "v" x 8 }' >colour.y4m

head_is() { # FILE TEXT
    test "$(head -n 1 "$1")" = "$2"
}
refused() { # STATUS TEXT WORD...
    local status=$1 text=$2
    shift 2
    "$PIPERUN" "$@" >out.txt 2>err.txt
    test $? -eq "$status" && grep -qF -- "$text" err.txt
}

"$PIPERUN" inverted.pbc x=in.y4m y=once.y4m,width=8,height=4
"$PIPERUN" inverted.pbc x=once.y4m y=twice.y4m,width=8,height=4
check a_copy_is_the_same_video cmp in.y4m twice.y4m
"$PIPERUN" blurred.pbc x=in.y4m y=blurred.y4m
check frames_of_a_port_are_the_size head_is blurred.y4m "YUV4MPEG2 W8 H4 F30000:1001 Ip A1:1 Cmono"
check there_are_as_many_frames test "$(grep -ac FRAME blurred.y4m)" -eq 4
"$PIPERUN" blurred.pbc x=-,y4m y=-,y4m <in.y4m | cat >piped.y4m
check pipes_carry_the_same cmp piped.y4m blurred.y4m
"$PIPERUN" thinned.pbc x=in.y4m y=thinned.y4m
check half_the_frames_have_half_the_rate head_is thinned.y4m "YUV4MPEG2 W8 H4 F15000:1001 Ip A1:1 Cmono"
"$PIPERUN" cropped.pbc x=in.y4m y=cropped.y4m
check smaller_frames_have_the_same_rate head_is cropped.y4m "YUV4MPEG2 W4 H4 F30000:1001 Ip A1:1 Cmono"
"$PIPERUN" some.pbc x=blurred.y4m y=some.y4m
check rates_that_vary_keep_the_rate head_is some.y4m "YUV4MPEG2 W8 H4 F30000:1001 Ip A1:1 Cmono"
"$PIPERUN" lumas.pbc x=colour.y4m y=luma.y4m
check a_colour_video_becomes_grey head_is luma.y4m "YUV4MPEG2 W8 H4 F24:1 Ip A1:1 Cmono"
"$PIPERUN" greys.pbc x=luma.y4m y=grey.y4m,rate=50
check packets_of_three_are_colour head_is grey.y4m "YUV4MPEG2 W8 H4 F50:1 Ip A1:1 C444"
"$PIPERUN" lumas.pbc x=grey.y4m y=again.y4m,rate=24
check and_come_back cmp again.y4m luma.y4m
"$PIPERUN" inverted.pbc x=gen:ramp:64 y=made.y4m,width=8,height=4
check without_a_video_input_the_rate_is_25 head_is made.y4m "YUV4MPEG2 W8 H4 F25:1 Ip A1:1 Cmono"

check another_size_is_refused refused 1 "'cropped.y4m' is 4x4, port 'x' wants rows of 8" blurred.pbc x=cropped.y4m y=null
check three_channels_are_refused refused 1 "declare it 'u8x3', or add channels=3" inverted.pbc x=colour.y4m y=null
check a_video_needs_its_size refused 2 "an image needs its width" inverted.pbc x=in.y4m y=a.y4m
check and_its_height refused 2 "a video needs the height of its frames: add height=N" inverted.pbc x=in.y4m y=a.y4m,width=8
check a_height_agrees_with_the_frames refused 2 "frames of port 'y' have 4 rows in 'a.y4m', not 5: leave height= out" \
    blurred.pbc x=in.y4m y=a.y4m,height=5
check a_part_of_a_frame_is_refused refused 1 "the last frame has 20 of 32 samples" inverted.pbc x=gen:ramp:20 y=a.y4m,width=8,height=4
head -c 150 in.y4m >cut.y4m
"$PIPERUN" blurred.pbc x=cut.y4m y=a.y4m >out.txt 2>err.txt
check a_cut_video_is_reported grep -q "cut.y4m: the file ends at byte 150" err.txt
check nothing_is_left test ! -e a.y4m
