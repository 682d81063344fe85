#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bundle.sh OUT: collects in the folder OUT what the part "cuda" of `make bench` needs on a machine that has an NVIDIA GPU
# and no compiler: the program, libraries, pipelines, kernels as PTX, and OUT/run.sh, which has the environment of the part.
#
# Environment: that of build.sh; DEVICE, as in cuda.sh.
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
"$here/cuda/ptx.sh" "$out"
made=$BUILD/bench/cuda-bundle
PEERS=no BENCH_MARCH=x86-64-v3 "$here/build.sh" "$made" cuda/bench_cuda.c
"$here/cuda/pipes.sh" "$out" --device="${DEVICE:-h200}"
strip -o "$out/bench" "$made/bench"
# The C library and the driver are those of the other machine.
ldd "$made/bench" | awk '$3 ~ /^\// && $1 !~ /^lib(c|m|dl|pthread)\.so/ { print $3 }' | while read -r library; do
    cp -L "$library" "$out/lib"
done
{
    echo "ours: $("$PIPEC" --version | head -n 1); --device=${DEVICE:-h200}"
    echo "by hand: $(cat "$made/compiler"); -O3, PTX for sm_90, no contraction; same bits as ours, checked"
} >"$out/versions"
cat >"$out/run.sh" <<'END'
#!/bin/sh
# run.sh [CHECK]: the part "cuda" of `make bench`; with CHECK bits are compared, and nothing is timed.
# Environment: ROUNDS; ONLY, a part of a workload's name, "batches" or "start".
here=$(cd "$(dirname "$0")" && pwd) || exit 2
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
cat "$here/versions"
exec "$here/bench" "$here" "$@"
END
chmod +x "$out/run.sh"
du -sh "$out"
