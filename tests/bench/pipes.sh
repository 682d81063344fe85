#!/usr/bin/env bash
# pipes.sh OUT [PIPEC-ARGUMENT...]: compiles the pipelines of the workloads into the folder OUT, with these arguments.
#
# Environment: ROOT, BUILD, PIPEC (set by make).
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
out=$1
shift
mkdir -p "$out"
for file in "$ROOT"/tests/bench/pipes/*.pipe "$ROOT/examples/cipher/chacha20.pipe"; do
    name=$(basename "$file" .pipe)
    [ "$name" = growth ] || "$PIPEC" "$@" "$file" -o "$out/$name.pbc"
done
