#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "time" of `make bench`: what it costs to count the cycles of kernels whose cost depends on data.
#
#   ONLY=time make bench            ROUNDS=15 ONLY=time make bench
#
# Environment: that of run.sh.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
here=$ROOT/tests/bench
read -ra cc <<<"${CC:-cc}"

out=$BUILD/bench/time
mkdir -p "$out"
names="straight branches collatz state"
for name in $names; do
    cp "$here/time/$name.pipe" "$out/$name.counted.pipe"
    sed 's/x -> \([a-z_]*\) -> y/x -> \1() cost 100 -> y/' "$here/time/$name.pipe" >"$out/$name.known.pipe"
    for kind in counted known; do "$PIPEC" "$out/$name.$kind.pipe" -o "$out/$name.$kind.pbc"; done
done
read -ra libraries <<<"$(pkg-config --libs libxxhash hwloc)"
"${cc[@]}" -std=c11 -Wall -Wextra -O2 -march=x86-64-v3 -D_GNU_SOURCE -I"$ROOT" -pthread -o "$out/bench_pairs" \
    "$here/pairs/bench_pairs.c" "$here/bench_memory.c" "$here/bench_ours.c" "$BUILD/libpipert.a" \
    "${libraries[@]}" -lm -ldl
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)"
# shellcheck disable=SC2086
"$out/bench_pairs" u32 counted known "$out" $names
cat <<'END'

nanoseconds a packet of a whole run on one thread, from memory to memory; counted: as written, known: with `cost 100` on
the kernel; ratio: median of the rounds' ratios, counted by known.  The first kernel has no decision and counts nothing.
END
