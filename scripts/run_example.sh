#!/bin/sh
# SPDX-License-Identifier: MIT
# run_example.sh: a sentence goes on the air and comes back: transmitter, then receiver, on the simulated GPU.
# Lines are broken to fit the terminal, or at 100 columns in a file or a pipe; tables of numbers stay as they are.
# Environment: PIPEC, PIPERUN (default: in build/release).
set -eu
cd "$(dirname "$0")/.."

pipec=${PIPEC:-build/release/pipec}
piperun=${PIPERUN:-build/release/piperun}
example=examples/fmradio
out=$(dirname "$pipec")/example
mkdir -p "$out"

columns=100
if [ -t 1 ]; then columns=$(stty size <&1 | cut -d ' ' -f 2); fi
[ "$columns" -ge 40 ] || columns=100

# fit END: breaks lines that are too long at blanks; END stands before a break.  The text after a break is
# indented: in a table below the last column, and a row whose last column is no text of some words stays whole.
fit() {
    awk -v most="$columns" -v end="$1" '{
        indent = "    "
        if (match($0, /^.*[^ ]  +/)) {
            indent = sprintf("%*s", RLENGTH, "")
            if (RLENGTH > most - 30) { print; next }
        }
        front = ""
        while (length(front $0) > most) {
            at = most - length(front) - length(end)
            while (at > length(indent) * (front == "") && substr($0, at + 1, 1) != " ") at--
            if (at <= length(indent) * (front == "")) break
            print front substr($0, 1, at) end
            $0 = substr($0, at + 1)
            sub(/^ +/, "")
            front = indent
        }
        print front $0
    }'
}

# Says the command, then runs it.
say() {
    echo
    printf '$ %s\n' "$*" | fit " \\\\"
    status=0
    "$@" >"$out/said" 2>&1 || status=$?
    fit '' <"$out/said"
    rm -f "$out/said"
    return $status
}

say "$pipec" "$example/transmitter.pipe" -o "$out/transmitter.pbc"
say "$piperun" "$out/transmitter.pbc" voice="$example/voice.wav" rf="$out/rf.raw"
say "$pipec" inspect "$example/fmradio.pipe"
say "$pipec" "$example/fmradio.pipe" -o "$out/fmradio.pbc"
say "$piperun" "$out/fmradio.pbc" rf="$out/rf.raw" audio="$out/speech.wav,rate=16000" --stats

printf '\nListen: %s was sent, %s came back.\n' "$example/voice.wav" "$out/speech.wav" | fit ''
