#!/bin/sh
# SPDX-License-Identifier: MIT
# The squares cover the picture once; with a threshold of 0 what is painted is the picture; with a higher one there are
# fewer squares, small ones along the outline of the disc; the bits are the same on every device.
set -eu
here=$ROOT/examples/quadtree
cd "$TMP"
# A bright disc before a slope, 128 x 128.
LC_ALL=C awk 'BEGIN {
    printf "P5\n128 128\n255\n"
    for (r = 0; r < 128; r++)
        for (c = 0; c < 128; c++)
            printf "%c", (r - 50) ^ 2 + (c - 70) ^ 2 < 900 ? 120 : 33 + int(c / 4)
}' >in.pgm
"$PIPEC" "$here/quadtree.pipe" -o quadtree.pbc
"$PIPERUN" -q quadtree.pbc picture=in.pgm squares=squares.csv painted=out.pgm
same() {
    if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: $2, expected $3"; fi
}
same "the squares cover the picture" "$(awk -F, '{ n += $3 * $3 } END { print n }' squares.csv)" 16384
same "the picture has its size" "$(head -3 out.pgm | tr -s ' \n' ' ')" "P5 128 128 255 "
same "the middle of the disc is its grey" "$(awk -F, '$1 <= 50 && $1 + $3 > 50 && $2 <= 70 && $2 + $3 > 70 { print $4 }' squares.csv)" 120
same "single pixels are along the outline" "$(awk -F, '
    $3 == 1 { d = sqrt(($1 - 50) ^ 2 + ($2 - 70) ^ 2); if (d < 25 || d > 35) far++; n++ } END { print (n > 50 && !far) }' squares.csv)" 1

"$PIPERUN" -q -D threshold=0 quadtree.pbc picture=in.pgm squares=exact.csv painted=exact.pgm
tail -c 16384 in.pgm >in.u8
tail -c 16384 exact.pgm >exact.u8
if cmp -s in.u8 exact.u8; then echo "ok without a threshold nothing is lost"; else echo "not ok without a threshold nothing is lost"; fi
fewer=$(($(wc -l <squares.csv) < $(wc -l <exact.csv)))
same "a threshold saves squares" $fewer 1

for device in sim1 sim4; do
    "$PIPEC" --device $device "$here/quadtree.pipe" -o $device.pbc
    "$PIPERUN" -q --host-threads 2 $device.pbc picture=in.pgm squares=$device.csv painted=$device.pgm
    if cmp -s squares.csv $device.csv && cmp -s out.pgm $device.pgm; then
        echo "ok the same bits on $device"
    else
        echo "not ok the same bits on $device"
    fi
done
