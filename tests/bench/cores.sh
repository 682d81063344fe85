#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "cores" of `make bench`: workloads with 1, 2, 4, ... and all threads, beside hand-written slices, oneTBB and
# runs with one thread side by side (cores/bench_cores.c).
#
#   ONLY=cores make bench            SECONDS_MAX=60 ROW=W3 THREADS="1 2 3" ONLY=cores make bench
#
# Environment: that of run.sh; SECONDS_MAX (default 220): no round begins that would end later; GB_MAX (default 24), the
# limit of memory of a stream; ROW, a part of a workload's name; THREADS, the numbers of threads; DEPTHS, as in
# cores/bench_cores.c.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
here=$ROOT/tests/bench

out=$BUILD/bench/cores
BENCH_CC=$("$here/compiler.sh")
export BENCH_CC
PEERS=tbb "$here/build.sh" "$out" cores/bench_cores.c
"$here/cores/pipes.sh" "$out" --march=native --device=cpu
read -ra threads <<<"${THREADS:-$("$here/cores/counts.sh")}"
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)"
echo "ours: $("$PIPEC" --version | head -n 1); --march=native --device=cpu"
echo "by hand: $(cat "$out/compiler"); -O3 -march=native -ffp-contract=off; same bits as ours, checked"
cat "$out/peers"
unset ONLY
[ -z "${ROW:-}" ] || export ONLY=$ROW
exec "$out/bench" "$out" "${threads[@]}"
