#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ptx.sh OUT: compiles the hand-written kernels to PTX, for GPUs of compute capability 9.0 or higher, in the folder OUT:
# hand.ptx, stages.ptx, and dependent.ptx, in which each kernel of stages.ptx waits for the one before it (programmatic
# dependent launch).
#
# Environment: ROOT; BENCH_CC, the clang (compiler.sh).  Exit status 77: it cannot make PTX.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/../../.." && pwd)}
here=$ROOT/tests/bench/cuda
out=$1

if ! "$BENCH_CC" --print-targets 2>/dev/null | grep -q nvptx64; then
    echo "skip cuda: $BENCH_CC makes no code for NVIDIA GPUs"
    exit 77
fi
# No headers and no libraries: opencl_ptx.h has what the kernels need.
flags=(-x cl -cl-std=CL1.2 -cl-no-stdinc --target=nvptx64-nvidia-cuda -march=sm_90 -Xclang -target-feature -Xclang +ptx78
       --cuda-path=/nonexistent -nogpulib -O3 -Wall -I"$ROOT" -include "$here/opencl_ptx.h")
mkdir -p "$out"
"$BENCH_CC" "${flags[@]}" -S "$here/hand_kernels.cl" -o "$out/hand.ptx"
"$BENCH_CC" "${flags[@]}" -S "$here/stages.cl" -o "$out/stages.ptx"
"$BENCH_CC" "${flags[@]}" -DDEPENDENT -S "$here/stages.cl" -o "$out/dependent.ptx"
