#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "scale" of `make bench`: how the time and the memory of pipec grow with a pipeline.
#
#   ONLY=scale make bench        SHAPES="mesh random" SIZES="1000 10000" ONLY=scale make bench
#
# Environment: ROOT, BUILD, PIPEC (set by make); SHAPES (default: all of scale_gen --list); SIZES, in nodes (default:
# 10 100 1000 10000 100000); SEED (default 1).  The figures go to $BUILD/bench/scale.json as well, an object to a line.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
out=$BUILD/bench
seconds=120 mib=16000 # beyond: the row says so
compile_nodes=12000   # larger ones are checked, not compiled
kernels=100           # so many kernels of their own are compiled at most: LLVM takes 10 to 50 ms for each

mkdir -p "$out"
${CC:-cc} -std=c11 -O1 -o "$out/scale_gen" "$ROOT/tests/scale/scale_gen.c"
${CC:-cc} -std=c11 -O1 -D_GNU_SOURCE -o "$out/within" "$ROOT/tests/limit/within.c"
: >"$out/scale.json"

# measure COMMAND..: sets status, ms and peak.
measure() {
    "$out/within" "$seconds" "$mib" "$@" 3>"$out/took" >"$out/scale.out" 2>"$out/scale.err" </dev/null || true
    read -r status ms peak <"$out/took"
}
field() { sed -n "s/^    \"$1\": \\([a-z]*\\).*/\\1/p" "$out/scale.out" | head -n 1; }

row() {
    local shape=$1 size=$2 file=$out/scale.pipe
    "$out/scale_gen" "$shape" "$size" "${SEED:-1}" >"$file"
    measure "$PIPEC" inspect --json "$file"
    local check_status=$status check_ms=$ms check_peak=$peak nodes edges per_edge growth=- depths deadlock pace latency words
    nodes=$(grep -c '^      "kernel": ' "$out/scale.out" || true)
    edges=$(grep -c '^          "buffer": ' "$out/scale.out" || true)
    distinct=$(sed -n 's/^      "kernel": //p' "$out/scale.out" | sort -u | wc -l)
    depths=$(field depths) deadlock=$(field deadlock) pace=$(field throughput_at_depths) latency=$(field latency)
    per_edge=$(awk -v ms="$check_ms" -v edges="$edges" 'BEGIN { printf "%.2f", edges ? 1000 * ms / edges : 0 }')
    [ "$last_ms" = 0 ] || growth=$(awk -v a="$check_ms" -v b="$last_ms" 'BEGIN { printf "%.1f", a / b }')
    last_ms=$check_ms
    ms=- peak=-
    if [ "$check_status" = 0 ] && [ "$nodes" -le "$compile_nodes" ] && [ "$distinct" -le "$kernels" ]; then
        measure "$PIPEC" "$file" -o "$out/scale.pbc"
    fi
    case $check_status in
    0) words="deadlock $deadlock, depths $depths, throughput $pace, latency $latency" ;;
    1) words=$(grep -m 1 -o '\[[a-z-]*\]$' "$out/scale.err" || echo refused) ;;
    *) words="ended after $seconds s or $mib MiB" ;;
    esac
    printf '%-10s %7d %8d %8d %9s %7s %7s %9s %7s  %s\n' "$shape" "$nodes" "$edges" "$check_ms" "$per_edge" "$growth" \
        "$check_peak" "$ms" "$peak" "$words"
    printf '{"shape":"%s","size":%d,"nodes":%d,"edges":%d,"status":%d,"check_ms":%d,"check_mib":%d,"compile_ms":%s,"compile_mib":%s,"exact_deadlock":%s,"exact_depths":%s,"exact_throughput":%s,"exact_latency":%s}\n' \
        "$shape" "$size" "$nodes" "$edges" "$check_status" "$check_ms" "$check_peak" "${ms/-/null}" "${peak/-/null}" \
        "${deadlock:-null}" "${depths:-null}" "${pace:-null}" "${latency:-null}" >>"$out/scale.json"
}

printf '%-10s %7s %8s %8s %9s %7s %7s %9s %7s  %s\n' shape nodes edges 'check ms' 'us/edge' growth MiB 'compile ms' MiB exact
for shape in ${SHAPES:-$("$out/scale_gen" --list)}; do
    last_ms=0
    for size in ${SIZES:-10 100 1000 10000 100000}; do row "$shape" "$size"; done
done
cat <<'TEXT'

check: `pipec inspect --json`, all analyses and the object; compile: `pipec FILE -o`, where the pipeline has at most
12,000 nodes of at most 100 kernels (LLVM takes 10 to 50 ms for each).  Processor time; MiB: the most at one time.
growth: time over that of the row above, whose pipeline is a tenth.  edges: ends of buffers at nodes.
exact: `exact` of the object; or the rule by which the program is refused, as overflow and starved are to be.
TEXT
