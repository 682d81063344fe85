#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "profile" of `make bench`: where each row's time goes in ours with one thread, in percent of its
# samples (perf): in the code of kernels, in the runtime, in copies (the C library), in the system.  Then the functions
# of ours and of the code by hand, and of each how many of its samples are at instructions that compute, and at those
# that load, store and shuffle.
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
BENCH_CC=$("$ROOT/tests/bench/compiler.sh")
export BENCH_CC
PEERS=no "$ROOT/tests/bench/build.sh" "$out"
"$ROOT/tests/bench/pipes.sh" "$out" --march=native --device=cpu

rows=("W1 chain" "W2 filter" "W3 FM" "W4 blur" "W5 keep" "W5/run" "W6 Fourier" "W6/sort" "W7 64" "W7/4096" "W7/64" "W7/1"
      "W8 feedback" "W9")

images=$(mktemp -d)
trap 'rm -rf "$images"' EXIT

# record VARIANT ROW: into perf.data.  After three seconds the input is there, or mostly: what still makes it is no kernel.
record() {
    PIPERT_IMAGE_FOLDER=$images PROFILE=$1 ONLY=$2 perf record -q -D 3000 -o "$out/perf.data" "$out/bench" "$out" >/dev/null 2>&1
}

# functions: "PERCENT NAME" of those that have samples worth a look, and are neither the system's nor make the input.
functions() {
    perf report -q -i "$out/perf.data" --stdio --sort dso,sym --percent-limit 2 2>/dev/null |
        awk '$2 ~ /^(pipec-|libpipert|libc\.|bench$)/ && $NF != "prepare" {
            share = $1 + 0
            sub(/.*\[[.k]\] /, "")
            sub(/ +$/, "")
            print share, $0
        }'
}

# instructions NAME: "COMPUTE MOVE" of the function's samples, in percent: instructions that compute, and those that load,
# store or bring what is in registers to another place.
instructions() {
    perf annotate -q -i "$out/perf.data" --stdio -s "$1" 2>/dev/null | awk '
        /^ +[0-9]+\.[0-9]+ +: +[0-9a-f]+:/ {
            all += $1
            if ($4 ~ /^rep|mov|perm|shuf|unpck|broadcast|blend|align|insert|extract|gather|scatter|compress|expand|pack|prefetch/)
                move += $1
            else if ($4 ~ /^v/) compute += $1
        }
        END { if (all > 0) printf "%.0f %.0f\n", 100 * compute / all, 100 * move / all }'
}

# stages VARIANT ROW: a line for each function, whose share is one of all that there are.
stages() {
    functions | awk '{ share[NR] = $1; all += $1; sub(/^[^ ]* /, ""); name[NR] = $0 }
        END { for (i = 1; i <= NR; i++) printf "%.0f %s\n", 100 * share[i] / all, name[i] }' |
        while read -r share name; do
            read -r compute move <<<"$(instructions "$name")"
            printf '%-12s %9s %9s %9s  %s: %s\n' "${2%% *}" "$share" "$compute" "$move" "$1" "${name%.k*.run}"
        done
}

echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)"
printf '\n%-12s %9s %9s %9s %9s\n' "percent of" kernels runtime copies system
: >"$images/stages"
for row in "${rows[@]}"; do
    record ours "$row"
    perf report -q -i "$out/perf.data" --stdio --sort dso 2>/dev/null | awk -v row="${row%% *}" '
        /pipec-/ { kernels += $1 }
        /libpipert/ { runtime += $1 }
        /libc\.so/ { copies += $1 }
        /\[kernel/ { system_ += $1 }
        END {
            all = (kernels + runtime + copies + system_) / 100
            printf "%-12s %9.0f %9.0f %9.0f %9.0f\n", row, kernels / all, runtime / all, copies / all, system_ / all
        }'
    stages ours "$row" >>"$images/stages"
    record hand "$row"
    stages "by hand" "$row" >>"$images/stages"
    rm -f "$images"/pipec-*
done
printf '\n%-12s %9s %9s %9s  %s\n' "functions" "percent" compute move "of"
cat "$images/stages"
