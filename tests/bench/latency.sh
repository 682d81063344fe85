#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "latency" of `make bench`: packets that are pushed 1, 64 and 4,096 at a time, through callbacks and through pipes,
# beside a loop that is written by hand.
#
#   ONLY=latency make bench          ROUNDS=15 ONLY=latency make bench
#
# Environment: that of run.sh.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
PIPERUN=${PIPERUN:-$BUILD/piperun}
here=$ROOT/tests/bench
cc=$("$here/compiler.sh")

out=$BUILD/bench/latency
mkdir -p "$out"
"$PIPEC" --device=cpu --march=native "$here/latency/filter.pipe" -o "$out/filter.pbc"
"$cc" -std=c11 -Wall -Wextra -O3 -march=native -ffp-contract=off -D_GNU_SOURCE -I"$ROOT" -pthread -o "$out/bench_latency" \
    "$here/latency/bench_latency.c" -L"$BUILD" -Wl,-rpath,"$BUILD" -lpipert -lm
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)"
echo "by hand: $("$cc" --version | head -n 1); -O3 -march=native -ffp-contract=off"
"$out/bench_latency" "$out/filter.pbc" "$PIPERUN"
cat <<'END'

A filter of 32 taps and a limiter.  latency: from a push to its output, before the next push; packets/us: pushes of the same
size that do not wait.  Medians of the rounds; ours and the loop by hand take turns, with the same bits.
END
