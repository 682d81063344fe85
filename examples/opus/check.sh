#!/bin/sh
# SPDX-License-Identifier: MIT
# A sentence goes through libopus as two kernels: it comes back, late by the frame that the encoder looks ahead, and alike;
# fired twice, the codec does the same; the null device needs no library.
set -eu
here=$ROOT/examples/opus/codec
cd "$TMP"
. "$ROOT/tests/checks.sh"
cc=${CC:-cc}
if ! printf '#include <opus/opus.h>\nint main(void) { return opus_encoder_get_size(1) == 0; }\n' >probe.c ||
    ! "$cc" probe.c -lopus -o probe 2>/dev/null || ! ./probe; then
    echo "ok sound through the Opus codec # SKIP libopus and its headers (libopus-dev) are not there"
    exit 0
fi
cp "$here/opus.pipe" "$here/codec.c" .
"$PIPEC" --emit=header:opus.h opus.pipe
check "the kernels compile without a warning" "$cc" -Wall -Wextra -Werror -O2 -fPIC -c codec.c
voice=$ROOT/examples/fmradio/voice.wav
allow=--allow-library=libopus.so.0

# alike FILE: the ratio of signal to noise in decibels, with the delay of the encoder.
alike() {
    paste -d , sound.csv "$1" | awk -F, -v late=104 '
        { sound[NR] = $1; if (NR > late) { x = sound[NR - late]; signal += x * x; noise += (x - $2) ^ 2 } }
        END { print int(10 * log(signal / noise) / log(10)) }'
}
printf 'kernel copy(in i16 x, out i16 y) { y <- x; }\npipeline main(in i16 x, out i16 y) { x -> copy -> y; }\n' >copy.pipe
"$PIPERUN" -q copy.pipe x="$voice" y=sound.csv
for device in sim16 cpu; do
    "$PIPEC" --device $device opus.pipe -p main -o opus.pbc
    "$PIPERUN" -q --device $device $allow opus.pbc sound="$voice" heard=$device.csv
    check "the sentence comes back on $device" [ "$(alike $device.csv)" -ge 8 ]
    "$PIPERUN" -q --device $device $allow -D bits_per_second=96000 opus.pbc sound="$voice" heard=better.csv
    check "... and more bits are better" [ "$(alike better.csv)" -gt "$(alike $device.csv)" ]
done
frames=$((($(wc -l <sound.csv) + 319) / 320))
check "the last frame is whole" [ "$(wc -l <cpu.csv)" = $((frames * 320)) ]
"$PIPEC" --debug-mode opus.pipe -p main -o debug.pbc
"$PIPERUN" -q $allow debug.pbc sound="$voice" heard=debug.csv
check "fired twice it does the same, bit by bit" cmp sim16.csv debug.csv
check "without permission no library is loaded" says 2 "library 'libopus.so.0', which has not been allowed" \
    "$PIPERUN" -q opus.pbc sound="$voice" heard=null
printf '0\n%.0s' $(seq 320) >silence.csv
check "an error of the library is a fault with its number" says 4 "kernel 'encode' .*returned 1 in its init" \
    "$PIPERUN" -q --device cpu $allow -D bits_per_second=-5 opus.pbc sound=silence.csv heard=null
