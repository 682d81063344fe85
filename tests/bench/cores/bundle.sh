#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bundle.sh OUT: collects in the folder OUT what the part "cores" of `make bench` needs on another machine, which has
# no compiler: programs, pipelines, libraries, for x86-64-v3 and x86-64-v4, and OUT/run.sh.
#
# Environment: that of build.sh.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
here=$ROOT/tests/bench
out=$1

BENCH_CC=$("$here/compiler.sh")
export BENCH_CC
rm -rf "$out"
mkdir -p "$out/lib"
for level in x86-64-v3 x86-64-v4; do
    made=$BUILD/bench/$level
    PEERS=tbb BENCH_MARCH=$level "$here/build.sh" "$made" cores/bench_cores.c
    "$here/cores/pipes.sh" "$out/$level" --march=$level --device=cpu
    strip -o "$out/$level/bench" "$made/bench"
done
strip -o "$out/piperun" "$BUILD/piperun"
cp "$here/cores/run.sh" "$here/cores/counts.sh" "$out"
# The loader and the C library travel too: those of the other machine may be older.
ldd "$made/bench" "$BUILD/piperun" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' |
    sort -u | while read -r library; do cp -L "$library" "$out/lib"; done
{
    echo "ours: $("$PIPEC" --version | head -n 1); --march=LEVEL --device=cpu"
    echo "by hand: $(cat "$made/compiler"); -O3 -march=LEVEL -ffp-contract=off; same bits as ours, checked"
    cat "$made/peers"
} >"$out/versions"
du -sh "$out"
