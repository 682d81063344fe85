#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "dispatch" of `make bench`: what the scheduler spends on a dispatch of one firing.
#
#   ONLY=dispatch make bench        ROUNDS=15 ONLY=dispatch make bench
#
# A chain of 8 stages that hand one packet at a time to each other; the processor time of a long run less that of a
# short one, over the dispatches that it has more.  On the null device no kernel is executed; on cpu:1 each is, for one
# packet.  Environment: that of run.sh.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
PIPERUN=${PIPERUN:-$BUILD/piperun}
rounds=${ROUNDS:-5}
stages=8 short=100000 long=1100000

out=$BUILD/bench/dispatch
mkdir -p "$out"
"$PIPEC" --device=cpu --march=native --no-fuse --buffers=min "$ROOT/tests/bench/pipes/chain8.pipe" -o "$out/chain8.pbc"

# spent DEVICE PACKETS: processor time of a run, in milliseconds.
spent() {
    local TIMEFORMAT='%3U %3S'
    { time "$PIPERUN" -q "$out/chain8.pbc" --device "$1" x=gen:ramp:"$2" y=null; } 2>&1 |
        awk '{ print ($1 + $2) * 1000 }'
}

echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)"
printf '%-28s %11s\n' "nanoseconds of processor" "a dispatch"
for device in null cpu:1; do
    for ((i = 0; i < rounds; i++)); do
        echo "$(spent $device $short) $(spent $device $long)"
    done | awk -v more=$((stages * (long - short))) '{ print ($2 - $1) * 1e6 / more }' | sort -g |
        awk -v device=$device '{ of[NR] = $1 }
            END { printf "%-28s %11.1f\n", device ", one firing each", of[int((NR + 1) / 2)] }'
done
