#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "startup" of `make bench`: how long piperun takes to its first packet, and where pipec's time goes.
#
#   ONLY=startup make bench         ROUNDS=101 ONLY=startup make bench
#
# Environment: that of run.sh.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
PIPERUN=${PIPERUN:-$BUILD/piperun}
here=$ROOT/tests/bench

out=$BUILD/bench/startup
mkdir -p "$out"
read -ra cc <<<"${CC:-cc}"
"${cc[@]}" -std=c11 -Wall -Wextra -O2 -D_GNU_SOURCE -o "$out/bench_startup" "$here/startup/bench_startup.c"
cp "$here/startup/gain.pipe" "$out"
cp "$ROOT"/examples/fmradio/*.pipe "$out"
cd "$out"
head -c 4000 /dev/zero >x.f32
for device in sim16 cpu; do
    "$PIPEC" --device "$device" gain.pipe -o "gain.$device.pbc"
    "$PIPEC" --device "$device" "$here/pipes/chain64.pipe" -o "chain64.$device.pbc"
done

echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)"
./bench_startup \
    "a program that does nothing (/bin/true)" /bin/true -- \
    "piperun --version" "$PIPERUN" --version -- \
    "piperun, one kernel, sim16" "$PIPERUN" -q gain.sim16.pbc x=x.f32 y=-,raw -- \
    "piperun, one kernel, cpu" "$PIPERUN" -q --device cpu gain.cpu.pbc x=x.f32 y=-,raw -- \
    "piperun, 64 kernels, sim16" "$PIPERUN" -q chain64.sim16.pbc x=x.f32 y=-,raw -- \
    "piperun, 64 kernels, cpu" "$PIPERUN" -q --device cpu chain64.cpu.pbc x=x.f32 y=-,raw -- \
    "pipec --version" "$PIPEC" --version -- \
    "pipec, one kernel" "$PIPEC" gain.pipe -o - -- \
    "piperun of the source, one kernel" "$PIPERUN" -q gain.pipe x=x.f32 y=-,raw -- \
    "pipec, examples/fmradio" "$PIPEC" fmradio.pipe -o -
for file in gain fmradio; do
    printf '\npipec --time-report %s.pipe\n' "$file"
    "$PIPEC" --time-report "$file.pipe" -o "$file.pbc" 2>&1
done
cat <<'END'

1,000 packets from a file; medians.  first byte: from before the process is made to the first byte of its standard
output; end: to its end; cpu: processor time, with its children's.  What is between pipec --version and nothing is loading
LLVM's library; of piperun it is loading the libraries of pictures, cores and checksums.
END
