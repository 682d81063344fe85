#!/usr/bin/env bash
# Compiles the peers of `make bench` whose packages are there, and says on standard output which they are.
#
#   build.sh OUT CC
#
# OUT/peers.link gets what the bench is linked with for them, one argument a line; it is empty if there are none.
# CC is the compiler of the hand-written code; peers in C++ are compiled by the C++ compiler of the same name, else g++.
# Environment: ROOT.  A peer that cannot be compiled is named with the package that is missing, and skipped.
set -eu
export LC_ALL=C
out=$1 cc=$2
ROOT=${ROOT:-$(cd "$(dirname "$0")/../../.." && pwd)}
here=$ROOT/tests/bench/peers
mkdir -p "$out"
: >"$out/peers.link"

# What the hand-written code is compiled with, but that it may use all that the machine has.
flags=(-Wall -Wextra -O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -D_GNU_SOURCE "-I$ROOT" -pthread)
radio=(gnuradio-runtime gnuradio-blocks gnuradio-filter gnuradio-analog gnuradio-fft)

# The C++ compiler beside CC, or nothing.
find_cxx() {
    local name
    for name in "${cc/%clang/clang++}" "${cc/clang-/clang++-}" g++ c++; do
        [ "$name" != "$cc" ] && command -v "$name" >/dev/null && echo "$name" && return
    done
    return 0
}
cxx=$(find_cxx)

# there HEADER COMPILER: whether the header can be included.
there() { echo "#include <$1>" | "$2" -x "${3:-c++}" -E - >/dev/null 2>&1; }
skip() { echo "peer: $1 is not there: $2"; }
link_with() { printf '%s\n' "$@" >>"$out/peers.link"; }

build_tbb() {
    there tbb/parallel_pipeline.h "$cxx" || { skip oneTBB "package libtbb-dev"; return; }
    local wide=()
    ! "$cxx" -mprefer-vector-width=512 -E -x c++ /dev/null >/dev/null 2>&1 || wide=(-mprefer-vector-width=512)
    "$cxx" -std=c++17 "${flags[@]}" "${wide[@]}" -c "$here/peer_tbb.cc" -o "$out/peer_tbb.o"
    link_with "$out/peer_tbb.o" -ltbb
    echo "peer: oneTBB $(pkg-config --modversion tbb), parallel_pipeline; $("$cxx" --version | head -n 1)"
}

build_opencl() {
    there CL/cl.h "$cc" c || { skip PoCL "packages ocl-icd-opencl-dev and pocl-opencl-icd"; return; }
    "$cc" -std=c11 "${flags[@]}" "-DPEER_KERNELS=\"$here/peer_kernels.cl\"" -c "$here/peer_opencl.c" -o "$out/peer_opencl.o"
    link_with "$out/peer_opencl.o" -lOpenCL
    echo "peer: PoCL $(dpkg-query -W -f '${Version}' pocl-opencl-icd 2>/dev/null || echo '(no package pocl-opencl-icd)'), kernel by kernel"
}

build_radio() {
    pkg-config --exists "${radio[@]}" spdlog fmt || { skip "GNU Radio" "package gnuradio-dev"; return; }
    local compile link
    read -ra compile <<<"$(pkg-config --cflags "${radio[@]}" spdlog fmt)"
    read -ra link <<<"$(pkg-config --libs "${radio[@]}" spdlog fmt)"
    "$cxx" -std=c++17 "${flags[@]}" "${compile[@]}" -c "$here/peer_gnuradio.cc" -o "$out/peer_gnuradio.o"
    link_with "$out/peer_gnuradio.o" "${link[@]}"
    echo "peer: GNU Radio $(pkg-config --modversion gnuradio-runtime), stock blocks"
}

build_opencl
if [ -z "$cxx" ]; then
    skip "oneTBB" "no C++ compiler"
    skip "GNU Radio" "no C++ compiler"
else
    build_tbb
    build_radio
    link_with -lstdc++
fi
