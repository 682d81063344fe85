#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `ONLY=index make bench`: the index generator against division, from one paired run.  Environment: that of run.sh.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
here=$ROOT/tests/bench
cc=$("$here/compiler.sh")

out=$BUILD/bench
mkdir -p "$out"
for name in tile loops; do
    "$PIPEC" "$here/index/$name.pipe" "--emit=obj:$out/$name.o"
    "$cc" -shared -nostdlib -o "$out/$name.so" "$out/$name.o"
done
read -ra libraries <<<"$(pkg-config --libs libxxhash hwloc)"
"$cc" -std=c11 -Wall -Wextra -O3 -march=x86-64-v3 -D_GNU_SOURCE -I"$ROOT" -pthread -o "$out/bench_index" \
    "$here/index/bench_index.c" "$here/bench_memory.c" "$BUILD/libpipert.a" "${libraries[@]}" -lm -ldl

echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)"
"$out/bench_index" "$out/tile.so" "$out/loops.so"
cat <<'END'

divided, iterated: nanoseconds an item until it is packed, by x = n % dx, y = n / dx % dy, z = n / dx / dy, and by the
iterator and the packer; ratio: how many times as long division takes.  divisions, shifts: operations of an item on the
device to find x, y and z by dividing, and by unpacking its register; what they cost is the description's (lang/devices.md).
END
