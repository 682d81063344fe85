#!/bin/sh
# run_example.sh: a sentence goes on the air and comes back: transmitter, then receiver, on the simulated GPU.
# Environment: PIPEC, PIPERUN (default: in build/release).
set -eu
cd "$(dirname "$0")/.."

pipec=${PIPEC:-build/release/pipec}
piperun=${PIPERUN:-build/release/piperun}
example=examples/fmradio
out=$(dirname "$pipec")/example
mkdir -p "$out"

# Says the command, then runs it.
say() {
    printf '\n$ %s\n' "$*"
    "$@"
}

say "$pipec" "$example/transmitter.pipe" -o "$out/transmitter.pbc"
say "$piperun" "$out/transmitter.pbc" voice="$example/voice.wav" rf="$out/rf.raw"
say "$pipec" inspect "$example/fmradio.pipe"
say "$pipec" "$example/fmradio.pipe" -o "$out/fmradio.pbc"
say "$piperun" "$out/fmradio.pbc" rf="$out/rf.raw" audio="$out/speech.wav,rate=16000" --stats

printf '\nListen: %s was sent, %s came back.\n' "$example/voice.wav" "$out/speech.wav"
