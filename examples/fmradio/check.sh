#!/bin/sh
# SPDX-License-Identifier: MIT
# The radio recovers what the transmitter sent, with the same bits on every device.
set -eu
here=$ROOT/examples/fmradio
cd "$TMP"
# shellcheck disable=SC2046 # a list of flags
${CC:-cc} -O2 -o snr "$here/snr.c" $(pkg-config --cflags --libs sndfile) -lm

"$PIPEC" "$here/transmitter.pipe" -o transmitter.pbc
"$PIPEC" "$here/fmradio.pipe" -o fmradio.pbc
"$PIPERUN" transmitter.pbc voice="$here/voice.wav" rf=rf.raw
"$PIPERUN" fmradio.pbc rf=rf.raw audio=speech.wav,rate=16000

if ./snr "$here/voice.wav" speech.wav 25 >snr.txt; then
    echo "ok speech comes back: $(cat snr.txt)"
else
    echo "not ok speech comes back: $(cat snr.txt)"
fi

# The check can fail: a neighbour far stronger than the channel filter's stop band drowns the speech.
"$PIPERUN" transmitter.pbc -D level=5000 voice="$here/voice.wav" rf=loud.raw
"$PIPERUN" fmradio.pbc rf=loud.raw audio=noise.wav,rate=16000
if ./snr "$here/voice.wav" noise.wav 25 >snr.txt; then
    echo "not ok a neighbour that is far too strong drowns it: $(cat snr.txt)"
else
    echo "ok a neighbour that is far too strong drowns it: $(cat snr.txt)"
fi

"$PIPERUN" fmradio.pbc rf=rf.raw audio=sim16.raw
for device in sim1 sim4; do
    "$PIPEC" --device $device "$here/fmradio.pipe" -o $device.pbc
    "$PIPERUN" --host-threads 3 $device.pbc rf=rf.raw audio=$device.raw
    if cmp -s sim16.raw $device.raw; then
        echo "ok the same bits on $device"
    else
        echo "not ok the same bits on $device"
    fi
done
# shellcheck disable=SC2002 # a pipe on both sides is the point
if cat rf.raw | "$PIPERUN" fmradio.pbc rf=-,raw audio=-,raw | cmp -s - sim16.raw; then
    echo "ok the same bits through pipes"
else
    echo "not ok the same bits through pipes"
fi
