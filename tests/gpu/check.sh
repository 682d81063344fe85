#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check.sh [PROGRAMS [SEED]]: everything that a GPU has to compute as every other device does: the programs of tests/lang, fed from
# files, in pieces and live; the test blocks of tests/lang, tests/std and examples; and drawn programs (default 2,000) against
# the reference interpreter, fused, apart, with the smallest buffers and in debug mode.
#
# It ends with a summary, and with the list of what GPUs refuse.  Exit status: 0 all is equal, 1 something differs, 77 there is
# no GPU.  Environment: ROOT, BUILD, as make sets them; GPU_DEVICE (default cuda); JOBS, runs at a time (default: one for each two processors).
set -u
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
GPU_DEVICE=${GPU_DEVICE:-cuda}
KAHN=$BUILD/tests/kahn
export ROOT BUILD GPU_DEVICE KAHN
programs=${1:-2000}
jobs=${JOBS:-$((($(nproc) + 1) / 2))}

if ! said=$("$BUILD/piperun" partition "$GPU_DEVICE" 2>&1 >/dev/null); then
    echo "skip gpu check: ${said#piperun: }"
    exit 77
fi
if [ ! -x "$KAHN" ]; then
    mkdir -p "${KAHN%/*}"
    "${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -I"$ROOT" -o "$KAHN" "$ROOT"/tests/oracle/*.c -lm || exit 2
fi
status=0
"$ROOT/tests/run.sh" -j "$jobs" "$ROOT/tests/lang" "$ROOT/tests/std" "$ROOT"/examples/*/*.pipe || status=1
python3 "$ROOT/tests/pipesmith/differ.py" -n "$programs" -s "${2:-1}" -j "$jobs" --configs gpu,gpunofuse,gpumin,gpudebug --each 1 || status=1
exit $status
