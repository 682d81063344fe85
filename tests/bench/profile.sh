#!/usr/bin/env bash
# The part "profile" of `make bench`: where each row's time goes in ours with one thread, in percent of its
# samples (perf): in the code of kernels, in the runtime, in copies (the C library), in the system.
#
#   ONLY=profile make bench
#
# Environment: that of run.sh.  Exit status 77: there is no perf.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
out=$BUILD/bench
command -v perf >/dev/null || { echo "bench: there is no perf"; exit 77; }
PEERS=no "$ROOT/tests/bench/build.sh" "$out"
"$ROOT/tests/bench/pipes.sh" "$out" --march=native --device=cpu

rows=("W1 chain" "W2 filter" "W3 FM" "W4 blur" "W5 keep" "W5/run" "W6 Fourier" "W6/sort" "W7 64" "W7/4096" "W7/64" "W7/1"
      "W8 feedback" "W9")
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)"
printf '\n%-12s %9s %9s %9s %9s\n' "percent of" kernels runtime copies system
for row in "${rows[@]}"; do
    # After three seconds the input is there, or mostly: what still makes it is none of the four.
    PROFILE=ours ONLY=$row perf record -q -D 3000 -o "$out/perf.data" "$out/bench" "$out" >/dev/null 2>&1
    perf report -q -i "$out/perf.data" --stdio --sort dso 2>/dev/null | awk -v row="${row%% *}" '
        /pipec-image/ { kernels += $1 }
        /libpipert/ { runtime += $1 }
        /libc\.so/ { copies += $1 }
        /\[kernel/ { system_ += $1 }
        END {
            all = (kernels + runtime + copies + system_) / 100
            printf "%-12s %9.0f %9.0f %9.0f %9.0f\n", row, kernels / all, runtime / all, copies / all, system_ / all
        }'
done
