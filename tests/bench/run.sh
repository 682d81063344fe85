#!/usr/bin/env bash
# `make bench`: our pipelines against C written by hand and against the machine's limits, in one table.
#
#   make bench                      ROUNDS=15 make bench         ONLY=W3 make bench         ONLY=scale make bench
#   ONLY=anomalies make bench       ONLY=index make bench         ONLY=time make bench
#   ONLY=speedup make bench         ONLY=policies make bench      ONLY=auto make bench
#
# Environment: ROOT, BUILD, PIPEC (set by make); ROUNDS (default 7); ONLY, a part of a workload's name, or
# `scale`: the growth of pipec with the size of pipelines (scale.sh, about two minutes),
# `anomalies`: pipelines that take longer on a better simulated device (anomalies.sh, a few seconds),
# `index`: the index generator against division (index.sh),
# `time`: what counting the cycles of kernels costs (time.sh),
# `speedup`: the examples on 1, 4, 16 and 132 simulated compute units (speedup.sh, about a minute),
# `policies`: pipelines on which the policies differ, and why (policies.py, less than a minute),
# `auto`: what pipec chooses against the best that can be asked for (auto.py, some minutes);
# BENCH_CC, the compiler of the hand-written code (default: the newest clang, else CC).  Not part of `make check`.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
here=$ROOT/tests/bench

case ${ONLY:-} in
scale) exec "$here/scale.sh" ;;
anomalies) exec "$here/anomalies.sh" ;;
index) exec "$here/index.sh" ;;
time) exec "$here/time.sh" ;;
speedup) exec "$here/speedup.sh" ;;
policies | auto) exec python3 -B "$here/$ONLY.py" ;;
esac

if [ "$(uname -m)" != x86_64 ] || ! grep -qw avx2 /proc/cpuinfo || ! grep -qw fma /proc/cpuinfo; then
    echo "bench: the hand-written code needs x86-64-v3" >&2
    exit 77
fi

cc=${BENCH_CC:-$(command -v clang-22 || command -v clang-19 || command -v clang || command -v "${CC:-gcc}")}
# No flag changes a result: contraction is off, and what is fused is an fma in the pipelines too.
flags=(-std=c11 -Wall -Wextra -O3 -march=x86-64-v3 -ffp-contract=off -fno-math-errno -fno-trapping-math
       -D_GNU_SOURCE -I"$ROOT" -pthread)

out=$BUILD/bench
mkdir -p "$out"
for file in "$here"/pipes/*.pipe "$ROOT/examples/fmradio/fmradio.pipe" "$ROOT/examples/cipher/chacha20.pipe"; do
    "$PIPEC" "$file" -o "$out/$(basename "$file" .pipe).pbc"
done
read -ra libraries <<<"$(pkg-config --libs sndfile libpng hwloc zlib libxxhash)"
"$cc" "${flags[@]}" -o "$out/bench" "$here"/*.c "$BUILD/libpipert.a" "${libraries[@]}" \
    -lm -ldl

echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)"
echo "ours: $("$PIPEC" --version | head -n 1); --march=x86-64-v3 -O2, device sim16"
echo "by hand: $("$cc" --version | head -n 1); -O3 -march=x86-64-v3 -ffp-contract=off; same bits as ours, checked"
"$out/bench" "$out"
cat <<'END'

ours N: pipert.h from memory to memory, container loaded before, N host threads; hand N: fused, vectorised, N threads;
unfused: kernel by kernel over whole buffers, 1 thread; limit N: the larger of the bytes over the copy bandwidth and
the operations over the peak (W8: the latency of its loop).  ours/h2 of W8 is against one thread: it is serial.
1 thread: processor time, which is the wall's on a machine that is free; 2 threads: the wall's, disturbed by others.
null: the null device, which executes no kernel: scheduler and FIFOs. Input and output are used in place.
Not built yet: fusion.  Every kernel is a stage of its own: each packet goes through memory between kernels.
END
