#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `make bench`: our pipelines against C written by hand and against the machine's limits, in one table.
#
#   make bench                      ROUNDS=15 make bench         ONLY=W3 make bench         ONLY=scale make bench
#   ONLY=anomalies make bench       ONLY=index make bench         ONLY=time make bench
#   ONLY=speedup make bench         ONLY=policies make bench      ONLY=auto make bench        ONLY=pairs make bench
#   ONLY=startup make bench         ONLY=dispatch make bench      ONLY=latency make bench
#   ONLY=compile make bench         ONLY=programs make bench
#   ONLY=cores make bench           ONLY=cuda make bench
#   ONLY=growth make bench          ONLY=W3 PROFILE=ours make bench      ONLY=W3 PROFILE=hand make bench
#
# Environment: ROOT, BUILD, PIPEC (set by make); ROUNDS (default 5); THREADS=1: no run with two threads; ONLY, a part of a workload's name, or
# `scale`: the growth of pipec with the size of pipelines (scale.sh, about two minutes),
# `programs`: six programs of signal processing and arithmetic, P1 to P6, as the workloads W1 to W9 (a minute),
# `compile`: what compiling ordinary programs takes, against clang -O2 (compile.sh, some minutes),
# `cores`: the workloads with 1, 2, 4, ... and all threads (cores.sh, about five minutes),
# `cuda`: the workloads, batches and the start on an NVIDIA GPU (cuda.sh, some minutes),
# `anomalies`: pipelines that take longer on a better simulated device (anomalies.sh, a few seconds),
# `index`: the index generator against division (index.sh),
# `time`: what counting the cycles of kernels costs (time.sh),
# `profile`: where the time of each row goes (profile.sh, two minutes),
# `pairs`: two ways to write the same, as docs/performance.md recommends the second (pairs.sh, some seconds),
# `dispatch`: what the scheduler spends on a dispatch (dispatch.sh, some seconds),
# `latency`: packets that are pushed, beside a loop by hand (latency.sh, some seconds),
# `startup`: how long piperun takes to its first packet, and where pipec's time goes (startup.sh, some seconds),
# `speedup`: the examples on 1, 4, 16 and 132 simulated compute units (speedup.sh, about a minute),
# `policies`: pipelines on which the policies differ, and why (policies.py, less than a minute),
# `auto`: what pipec chooses against the best that can be asked for (auto.py, some minutes),
# `batches`: simulated cycles as another pipec and this one plan them, OLD=PATH (batches.py, some minutes);
# PROFILE: `ours`, `hand` or `unfused`: where that one spends its time, with one thread, by perf;
# BENCH_CC, the compiler of the hand-written code (default: the newest clang; compiler.sh refuses or installs it).  Not part of `make check`.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
here=$ROOT/tests/bench

case ${ONLY:-} in
cores) exec "$here/cores.sh" ;;
cuda) exec "$here/cuda.sh" ;;
scale) exec "$here/scale.sh" ;;
compile) exec "$here/compile.sh" ;;
anomalies) exec "$here/anomalies.sh" ;;
index) exec "$here/index.sh" ;;
time) exec "$here/time.sh" ;;
profile) exec "$here/profile.sh" ;;
pairs) exec "$here/pairs.sh" ;;
speedup) exec "$here/speedup.sh" ;;
startup) exec "$here/startup.sh" ;;
latency) exec "$here/latency.sh" ;;
dispatch) exec "$here/dispatch.sh" ;;
policies | auto | batches) exec python3 -B "$here/$ONLY.py" ;;
esac

# The host's processor where there is such a device, else the simulated GPU.
device=()
probe='pipeline p(in f32 x, out f32 y) { x -> k -> y; } kernel k(in f32 x, out f32 y) { y <- x; }'
if "$PIPEC" --device=cpu -o /dev/null /dev/stdin <<<"$probe" 2>/dev/null; then device=(--device=cpu); fi

out=$BUILD/bench
BENCH_CC=$("$here/compiler.sh")
export BENCH_CC
"$here/build.sh" "$out"
"$here/pipes.sh" "$out" --march=native "${device[@]}"
mkdir -p "$out/least"
for name in radio chain64; do
    "$PIPEC" --march=native "${device[@]}" --buffers=min "$here/pipes/$name.pipe" -o "$out/least/$name.pbc"
done
for kernels in 1 2 4 8 16 32 64 128 256; do
    "$PIPEC" --march=native "${device[@]}" -D KERNELS=$kernels "$here/pipes/growth.pipe" -o "$out/growth$kernels.pbc"
done

echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)"
echo "ours: $("$PIPEC" --version | head -n 1); --march=native ${device[*]:-, device sim16}"
echo "by hand: $(cat "$out/compiler"); -O3 -march=native -ffp-contract=off; same bits as ours, checked"
cat "$out/peers"
if [ -n "${PROFILE:-}" ]; then
    command -v perf >/dev/null || { echo "bench: PROFILE needs perf (package linux-perf)" >&2; exit 2; }
    perf record -q -o "$out/perf.data" "$out/bench" "$out"
    # By files first; pipec-image is the code of the kernels.
    perf report -q -i "$out/perf.data" --stdio --sort dso --percent-limit 0.5
    perf report -q -i "$out/perf.data" --stdio --percent-limit 0.5
    exit 0
fi
"$out/bench" "$out"
cat <<'END'

ours N: pipert.h, input and output used in place, container loaded before, N host threads; hand N: fused, vectorised, N threads;
unfused: kernel by kernel over whole buffers, 1 thread; peer: the best of those that have our bits, with all threads;
limit N: the larger of the bytes over the bandwidth and the operations over the peak (W5/run, W8: of the latency of
what waits for one another).  ours/h2 is against one thread where the row is serial.  `!`: the goal is missed: 1.1
(W2, W6: 1.2) for ours/hN, 1 for peer/o2, 1.9 for o1/o2 where computing limits.  W1/1, W8/1 and W3/fast have no goal.
W7/N: the host gives N packets at a time, by a call; W7 lies in memory.  Latency: from giving the packets of one output
to getting it, least buffers; the mean of a stream in which each waits for the one before.
1 thread: processor time, which is the wall's on a machine that is free; 2 threads: the wall's, disturbed by others.
The same figures: bench/host.json in the build folder.
END
