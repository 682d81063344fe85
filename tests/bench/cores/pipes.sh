#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pipes.sh OUT [PIPEC-ARGUMENT...]: compiles the pipelines of the part "cores" into the folder OUT, with these arguments.
#
# Environment: ROOT, BUILD, PIPEC (set by make).
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/../../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
here=$ROOT/tests/bench
out=$1
"$here/pipes.sh" "$@"
shift
for name in chains products transforms; do "$PIPEC" "$@" "$here/cores/$name.pipe" -o "$out/$name.pbc"; done
for graph in kernels:60 boxes:200 cipher:500; do
    "$PIPEC" "$@" -D "N=${graph#*:}" "$here/compile/${graph%:*}.pipe" -o "$out/${graph/:/}.pbc"
done
