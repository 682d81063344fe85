#!/bin/sh
# SPDX-License-Identifier: MIT
# One container is each of these filters, with the taps of a file: a low pass lets a slow tone through and stops a fast
# one; the default changes nothing.
set -eu
cd "$TMP"
. "$ROOT/tests/checks.sh"
"$PIPEC" "$ROOT/examples/convolve/convolve.pipe" -o convolve.pbc
tone() { awk -v w="$1" 'BEGIN { for (i = 0; i < 2000; i++) print sin(w * i) }'; }
# loud TONE WORD...: the mean of the squares, in thousandths
loud() {
    tone "$1" >tone.csv
    shift
    "$PIPERUN" -q convolve.pbc x=tone.csv y=-,csv "$@" | awk '{ s += $1 * $1; n++ } END { printf "%d", 1000 * s / n + 0.5 }'
}
low="taps=@$ROOT/examples/convolve/low_pass.csv"
within() {
    if [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; then return 0; fi
    echo "$1 is not $2 to $3"
    return 1
}
check "without taps a tone stays as it is" within "$(loud 2.5)" 490 510
check "a low pass stops a fast tone" within "$(loud 2.5 "$low")" 0 2
check "and lets a slow one through" within "$(loud 0.1 "$low")" 460 510
check "with another gain" within "$(loud 0.1 "$low" gain=2)" 1840 2040
head -20 "$ROOT/examples/convolve/low_pass.csv" >short.csv
check "a file of another length is refused" says 1 "argument 'taps': short.csv: 20 values, and f32\[33\] takes 33" \
    "$PIPERUN" convolve.pbc x=gen:ramp:40 y=null taps=@short.csv
