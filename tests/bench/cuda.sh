#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "cuda" of `make bench`: pipelines on an NVIDIA GPU beside kernels that are written by hand, a kernel for each stage,
# CUDA graphs, and graphs with programmatic dependent launch (cuda/bench_cuda.c).
#
#   ONLY=cuda make bench            ROUNDS=9 ROW=W3 ONLY=cuda make bench            ROW=batches ONLY=cuda make bench
#
# Environment: that of run.sh; PIPERUN; ROW, a part of a workload's name, or "batches" or "start"; DEVICE (default h200), for
# which the pipelines are planned.  Exit status 77: there is no GPU, or no clang that makes code for it; the last line says which.
#
# `make cuda-bundle` makes a folder for a machine that has the GPU and no compiler.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
PIPERUN=${PIPERUN:-$BUILD/piperun}
here=$ROOT/tests/bench

BENCH_CC=$("$here/compiler.sh")
export BENCH_CC
if ! said=$("$PIPERUN" partition cuda:0 2>&1 >/dev/null); then
    echo "skip cuda: ${said#piperun: }"
    exit 77
fi
out=$BUILD/bench/cuda
"$here/cuda/ptx.sh" "$out"
PEERS=no "$here/build.sh" "$out" cuda/bench_cuda.c
"$here/cuda/pipes.sh" "$out" --device="${DEVICE:-h200}"
echo "ours: $("$PIPEC" --version | head -n 1); --device=${DEVICE:-h200}"
echo "by hand: $(cat "$out/compiler"); -O3, PTX for sm_90, no contraction; same bits as ours, checked"
unset ONLY
[ -z "${ROW:-}" ] || export ONLY=$ROW
exec "$out/bench" "$out"
