#!/bin/sh
# SPDX-License-Identifier: MIT
# The outline of a bright rectangle is one pixel wide, closed, and where the rectangle is; in pictures that follow
# one another, too, and of noise below the threshold there is none.
set -eu
cd "$TMP"
black() { head -c "$1" /dev/zero; }
bright() { head -c "$1" /dev/zero | tr '\0' '\310'; }
# lines N FILE: the file N times
lines() { i=0; while [ $i -lt "$1" ]; do cat "$2"; i=$((i + 1)); done; }

black 640 >empty
{ black 200; bright 240; black 200; } >line
{ lines 100 empty; lines 200 line; lines 180 empty; } >rectangle
{ printf 'P5\n640 480\n255\n'; cat rectangle; } >in.pgm
"$PIPEC" "$ROOT/examples/edges/edges.pipe" -o edges.pbc
"$PIPERUN" -q edges.pbc picture=in.pgm outline=out.pgm

# pixels FILE OFFSET COUNT STEP: the numbers of the pixels that are set, of COUNT from OFFSET on, every STEP-th
pixels() {
    tail -c +$(($2 + 1)) "$1" | od -An -v -tu1 -w1 | awk -v n="$3" -v s="$4" '
        (NR - 1) % s == 0 { if (k == n) exit; if ($1 > 0) printf "%d ", k; k++ }'
}
same() {
    if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: $2, expected $3"; fi
}
header=$(head -3 out.pgm | wc -c)
same "the picture has its size" "$(head -3 out.pgm | tr -s ' \n' ' ')" "P5 640 480 255 "
same "left and right" "$(pixels out.pgm $((header + 640 * 200)) 640 1)" "199 439 "
same "top and bottom" "$(pixels out.pgm $((header + 320)) 480 640)" "99 299 "
tail -c +$((header + 1)) out.pgm >first
same "one pixel wide, closed" "$(od -An -v -tu1 -w1 first | awk '$1 > 0 { n++ } END { print (n > 850 && n < 900) }')" 1

# Two pictures as bytes; the second is the first.
cat rectangle rectangle >twice.u8
"$PIPERUN" -q edges.pbc picture=twice.u8 outline=out.u8
cat first first >both
if cmp -s both out.u8; then echo "ok picture after picture"; else echo "not ok picture after picture"; fi

"$PIPERUN" -q edges.pbc -D threshold=900 picture=in.pgm outline=none.u8
same "nothing is steeper than the steepest" "$(od -An -v -tu1 none.u8 | tr -d ' 0\n')" ""
