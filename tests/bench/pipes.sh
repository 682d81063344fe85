#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pipes.sh OUT [PIPEC-ARGUMENT...]: compiles the pipelines of the workloads into the folder OUT, with these arguments;
# OUT/fast has what is measured with --fast-math, too.
#
# Environment: ROOT, BUILD, PIPEC (set by make).
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
out=$1
shift
mkdir -p "$out/fast"
for file in "$ROOT"/tests/bench/pipes/*.pipe "$ROOT/examples/cipher/chacha20.pipe"; do
    name=$(basename "$file" .pipe)
    [ "$name" = growth ] || "$PIPEC" "$@" "$file" -o "$out/$name.pbc"
done
"$PIPEC" "$@" --fast-math "$ROOT/tests/bench/pipes/radio.pipe" -o "$out/fast/radio.pbc"
