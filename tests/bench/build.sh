#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh OUT [MAIN]: compiles the program OUT/bench: the hand-written code, and the peers whose packages are there.
# OUT/peers says which there are, and which not and why.  MAIN (default: bench.c) has its function `main`; the
# other files of its folder belong to it.
#
# Environment: ROOT, BUILD (set by make); BENCH_CC, the compiler of the hand-written code (default: the newest clang,
# else CC); BENCH_MARCH, for which machine (default: native); BENCH_OPTIMISE (default: -O3); PEERS: a part of the names in
# peers/ to build, or `no` (default: all).  Exit status 77: the machine has no AVX2, FMA and BMI2, or no compiler.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
here=$ROOT/tests/bench
out=$1
main=$here/${2:-bench.c}

for flag in avx2 fma bmi2; do
    if ! grep -qw $flag /proc/cpuinfo; then
        echo "bench: the hand-written code needs $flag"
        exit 77
    fi
done
cc=${BENCH_CC:-$(command -v clang-22 || command -v clang-19 || command -v clang || command -v "${CC:-gcc}" || true)}
if [ -z "$cc" ]; then
    echo "bench: there is no C compiler"
    exit 77
fi

# No flag changes a result: contraction is off, and what is fused is an fma in the pipelines too.
flags=(-Wall -Wextra "${BENCH_OPTIMISE:--O3}" -march="${BENCH_MARCH:-native}" -ffp-contract=off -fno-math-errno -fno-trapping-math
       -D_GNU_SOURCE -I"$ROOT" -pthread)
case $cc in *clang*) flags+=(-mprefer-vector-width=512) ;; esac

mkdir -p "$out/objects"
objects=() libraries=()
beside=()
[ "$(dirname "$main")" = "$here" ] || beside=("$(dirname "$main")"/*.c)
for file in "$main" "$here"/*.c "${beside[@]}"; do
    [ "$file" = "$main" ] && [ ${#objects[@]} -gt 0 ] && continue
    [ "$file" = "$here/bench.c" ] && [ "$file" != "$main" ] && continue
    object=$out/objects/$(basename "$file" .c).o
    "$cc" -std=c11 "${flags[@]}" -c -o "$object" "$file"
    objects+=("$object")
done

# A peer says in a line "peer: NAME" what it is, and in a line "packages: NAME..." what pkg-config has to find; it is
# left out, and said so, where that fails.
: >"$out/peers"
for file in "$here"/peers/*.c "$here"/peers/*.cc; do
    [[ $(basename "$file") == *${PEERS:-}* ]] || continue
    name=$(sed -n 's/.*peer: *\(.*\)/\1/p' "$file" | head -n 1)
    object=$out/objects/$(basename "$file").o
    packages=$(sed -n 's/.*packages: *\([a-zA-Z0-9_.+ -]*[a-zA-Z0-9]\).*/\1/p' "$file" | head -n 1)
    # shellcheck disable=SC2086
    if ! missing=$(pkg-config --print-errors --errors-to-stdout --exists $packages 2>&1); then
        echo "peer left out: $name: ${missing%%$'\n'*}" >>"$out/peers"
        continue
    fi
    if [ "${file##*.}" = cc ] && ! "$cc" -x c++ -fsyntax-only - <<<'#include <vector>' 2>/dev/null; then
        echo "peer left out: $name: $cc has no C++" >>"$out/peers"
        continue
    fi
    # shellcheck disable=SC2086
    read -ra cflags <<<"$(pkg-config --cflags $packages)"
    # shellcheck disable=SC2086
    read -ra libs <<<"$(pkg-config --libs $packages)"
    case $file in
    *.cc) "$cc" -x c++ -std=c++17 "${flags[@]}" "${cflags[@]}" -c -o "$object" "$file"; libs+=(-lstdc++) ;;
    *) "$cc" -std=c11 "${flags[@]}" "${cflags[@]}" -c -o "$object" "$file" ;;
    esac
    echo "peer: $name; ${packages%% *} $(pkg-config --modversion "${packages%% *}")" >>"$out/peers"
    objects+=("$object")
    libraries+=("${libs[@]}")
done
"$cc" -pthread -o "$out/bench" "${objects[@]}" -L"$BUILD" -Wl,-rpath,"$BUILD" -lpipert "${libraries[@]}" -lm
"$cc" --version | head -n 1 >"$out/compiler"
