#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "pairs" of `make bench`: the same computation written in two ways, before and after a change that
# docs/performance.md recommends.
#
#   ONLY=pairs make bench            ROUNDS=15 ONLY=pairs make bench
#
# Environment: that of run.sh.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
here=$ROOT/tests/bench
read -ra cc <<<"${CC:-cc}"

out=$BUILD/bench/pairs
mkdir -p "$out"
for file in "$here"/pairs/*.pipe; do
    name=$(basename "$file" .pipe)
    for kind in before after; do
        "$PIPEC" --device=cpu --march=native -p $kind "$file" -o "$out/$name.$kind.pbc"
    done
done
read -ra libraries <<<"$(pkg-config --libs libxxhash hwloc)"
"${cc[@]}" -std=c11 -Wall -Wextra -O2 -march=x86-64-v3 -D_GNU_SOURCE -I"$ROOT" -pthread -o "$out/bench_pairs" \
    "$here/pairs/bench_pairs.c" "$here/bench_memory.c" "$here/bench_ours.c" "$BUILD/libpipert.a" \
    "${libraries[@]}" -lm -ldl
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)"
"$out/bench_pairs" f32 before after "$out" chain loop counter fourth depth taps
"$out/bench_pairs" u32 before after "$out" index
echo
for file in "$here"/pairs/*.pipe; do
    printf '%-12s %s\n' "$(basename "$file" .pipe)" "$(sed -n '1s|^// ||p' "$file")"
done
echo
echo "nanoseconds a packet of a whole run on one thread of the device cpu, from memory to memory; outputs are the same bytes;"
echo "ratio: median of the rounds' ratios, before by after."
