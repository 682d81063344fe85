#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How long `pipec lint` takes for a tree of COUNT small files (default 10000): tests/bench/lint.sh [COUNT]
#
# Environment: ROOT, BUILD, PIPEC as for run.sh.  Not part of `make check`.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
count=${1:-10000}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
awk -v count="$count" -v tree="$tree" 'BEGIN {
    for (i = 0; i < count; i++) {
        if (i % 100 == 0) system("mkdir -p " tree "/d" int(i / 100))
        file = tree "/d" int(i / 100) "/f" i ".pipe"
        printf "kernel scale%d(in f32 x, out f32 y; f32 by) { y <- by * x; }\n", i >file
        print "kernel smooth<int N>(in f32 x peek N, out f32 y) {\n    f32 sum = 0;" >file
        print "    for (i32 i = 0; i < N; i++) sum += x[i];\n    y <- sum / N;\n}" >file
        printf "pipeline main(in f32 x, out f32 y) { x -> smooth<4> -> scale%d(0.5) -> y; }\n", i >file
        close(file)
    }
}'
for threads in 1 $(nproc); do
    echo "$count files, -j $threads:"
    time "$PIPEC" lint -j "$threads" "$tree"
done
