#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "cuda" of `make bench`, and `make gpu-check`, on a machine without a GPU: both say by name why they are skipped; the
# kernels that are written by hand become PTX that ptxas accepts, where it is installed; pipelines whose stream stays in the GPU
# have the totals of a processor on the emulated one.
set -euo pipefail
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
bench=$ROOT/tests/bench

# ---- without a GPU ----

mkdir bin
printf '#!/bin/sh\necho "piperun: device cuda: none" >&2; exit 6\n' >bin/piperun
printf '#!/bin/sh\necho "Debian clang version 99.0.0"\n' >bin/clang
chmod +x bin/piperun bin/clang
check "ONLY=cuda says why it is skipped" says 77 "skip cuda: device cuda: none" \
    env BENCH_CC="$TMP/bin/clang" PIPERUN="$TMP/bin/piperun" BUILD="$TMP" ONLY=cuda "$bench/run.sh"
check "gpu-check says why it is skipped" says 77 "skip gpu check: device cuda: none" env BUILD="$TMP/bin" "$ROOT/tests/gpu/check.sh"
check "a compiler without GPUs is named" says 77 "skip cuda: .*/clang makes no code for NVIDIA GPUs" \
    env BENCH_CC="$TMP/bin/clang" "$bench/cuda/ptx.sh" "$TMP/ptx"

# ---- kernels by hand: their compiling takes long, so it is a part of `make check-long` ----

if [ -z "${LONG-}" ]; then
    : not compiled
elif ! clang=$(env -u BENCH_CC "$bench/compiler.sh" 2>/dev/null); then
    echo "skip kernels by hand there is no clang that is new enough"
elif ! "$clang" --print-targets | grep -q nvptx64; then
    echo "skip kernels by hand $clang makes no code for NVIDIA GPUs"
else
    check "they become PTX" env BENCH_CC="$clang" "$bench/cuda/ptx.sh" ptx
    dependent() { [ "$(grep -c griddepcontrol.wait ptx/dependent.ptx)" -ge "$(grep -c '\.entry' ptx/dependent.ptx)" ]; }
    check "each dependent kernel waits for the one before it" dependent
    lacks() { ! grep -q "$@"; }
    check "the others do not" lacks griddepcontrol ptx/stages.ptx ptx/hand.ptx
    check "no kernel by hand calls a function" lacks 'call\.uni' ptx/hand.ptx ptx/stages.ptx ptx/dependent.ptx
    ptxas=$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)
    for module in hand stages dependent; do
        if [ -x "$ptxas" ]; then
            check "ptxas accepts $module.ptx" "$ptxas" -arch=sm_90 ptx/$module.ptx -o code
        else
            echo "skip ptxas accepts $module.ptx ptxas is not installed"
        fi
    done
fi

# ---- pipelines ----

# same_totals NAME PIPEC-ARGUMENT...: of 256 numbers, on a processor and on the emulated GPU.
same_totals() {
    "$PIPEC" -q --device=h200 "${@:2}" -o "$1.pbc"
    "$PIPERUN" -q --device cpu "$1.pbc" block=gen:ramp:256 total=cpu.raw &&
        "$PIPERUN" -q --device cuda-emulated "$1.pbc" block=gen:ramp:256 total=gpu.raw && [ -s cpu.raw ] && cmp cpu.raw gpu.raw
}
batches=$bench/cuda/batches.pipe
check "a chain of batches" same_totals chain --no-fuse -p chain -D BATCH=4096 "$batches"
check "one batch at a time" same_totals one_batch --no-fuse -p one_batch -D BATCH=4096 "$batches"
check "stages with state" same_totals with_state --no-fuse -p with_state -D BATCH=64 "$batches"
check "16 chains are accepted" "$PIPEC" -q --device=h200 --no-fuse -p chains "$batches" -o chains.pbc
cat >inside.pipe <<END
import "$bench/cuda/ends.pipe";
import "$bench/pipes/fourier.pipe";
pipeline inside(in u32 block, out f32 total) {
    block -> make_pairs importance 1 -> fourier -> total_pairs importance 2 -> total;
}
END
check "a workload between the ends" same_totals inside -p inside inside.pipe
check "whose stages have rows of their own" says 0 "^total_pairs " "$PIPEC" inspect --device=h200 -p inside inside.pipe
