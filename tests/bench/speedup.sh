#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "speedup" of `make bench`: what simulated devices with more compute units do with the examples.
#
#   ONLY=speedup make bench        EXAMPLES="fmradio sweep" ONLY=speedup make bench
#
# Environment: ROOT, BUILD, PIPEC (set by make), PIPERUN; EXAMPLES (default: all of them).  The devices are sim16
# with 1, 4, 16 and 132 compute units; nothing else of the description changes.
set -eu
export LC_ALL=C
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
PIPERUN=${PIPERUN:-$BUILD/piperun}
out=$BUILD/bench/speedup
examples=$ROOT/examples
mkdir -p "$out"
cd "$out"

for cus in 1 4 16 132; do
    sed -E "s/^name .*/name = cus$cus/; s/^(cu_count|max_sub_devices) .*/\\1 = $cus/; /^(cus_per|cache)_/d; s/ by_affinity//" \
        "$ROOT/lang/devices/sim16.dev" >"cus$cus.dev"
done
"$PIPEC" "$examples/fmradio/transmitter.pipe" -o rf.pbc
"$PIPERUN" -q rf.pbc voice="$examples/fmradio/voice.wav" rf=rf.raw
{ printf 'P5\n640 480\n255\n' && head -c 307200 rf.raw; } >picture.pgm
{ printf 'P5\n128 128\n255\n' && head -c 16384 rf.raw; } >square.pgm
head -c 1000000 rf.raw >text.u8
awk 'BEGIN { for (i = 0; i < 4000; i++) printf "%.9g,%.9g\n", i / 4000 * 3, (i + 1) / 4000 * 3 }' >intervals.csv

# The program of an example, and the arguments of its run.
program() {
    case $1 in
    transmitter) echo fmradio/transmitter ;;
    cipher) echo cipher/chacha20 ;;
    *) echo "$1/$1" ;;
    esac
}
inputs() {
    case $1 in
    fmradio) echo rf=rf.raw audio=null ;;
    transmitter) echo "voice=$examples/fmradio/voice.wav" rf=null ;;
    cipher) echo text=text.u8 cipher=null ;;
    edges) echo picture=picture.pgm outline=null ;;
    quadrature) echo intervals=intervals.csv leaves=null ;;
    quadtree) echo picture=square.pgm squares=null painted=null ;;
    sweep) echo strength=gen:ramp:400 balance=null ;;
    esac
}

# figure NAME FILE: of the whole run
figure() { sed -n "s/^  \"$1\": \\([0-9]*\\),*$/\\1/p" "$2"; }
# stages FILE NAMES KEY...: the sum of these figures over the stages of those names (`all`), and the greatest
stages() {
    awk -v names=" $2 " -v keys="$3" '
        /^    \{"name": ".*"firings": / && /"dispatches": / {
            name = $0; sub(/^    \{"name": "/, "", name); sub(/".*/, "", name)
            if (names != " all " && index(names, " " name " ") == 0) next
            one = 0; count = split(keys, key, " ")
            for (i = 1; i <= count; i++)
                if (match($0, "\"" key[i] "\": [0-9]+")) one += substr($0, RSTART + length(key[i]) + 4, RLENGTH - length(key[i]) - 4)
            sum += one; if (one > most) most = one
        }
        END { printf "%d %d\n", sum, most }' "$1"
}
stateful() {
    awk '/^  "nodes": / { inside = 1 } /^  "buffers": / { inside = 0 }
        inside && /^      "name": / { name = $2; gsub(/[",]/, "", name) }
        inside && /^      "stateful": true/ { printf "%s ", name }' "$1"
}

row() {
    local name=$1 cus words work serial bound reason mode total=()
    for cus in 1 4 16 132; do
        "$PIPEC" --device "cus$cus.dev" "$examples/$(program "$name").pipe" -o "$name$cus.pbc"
        read -ra words <<<"$(inputs "$name")"
        "$PIPERUN" -q --device "cus$cus.dev" --stats="json:$name$cus.json" "$name$cus.pbc" "${words[@]}"
        total+=("$(figure total_cycles "$name$cus.json")")
    done
    "$PIPEC" inspect --json --device cus16.dev "$examples/$(program "$name").pipe" >"$name.plan"
    mode=$(sed -n 's/^    "mode": "\(.*\)",$/\1/p' "$name.plan")
    reason=$(sed -n 's/^    "mode_reason": "\(.*\)",$/\1/p' "$name.plan")
    work=$(stages "$name"1.json all 'execute_cycles device_queue_cycles')
    serial=$(stages "$name"1.json "$(stateful "$name.plan")" 'execute_cycles device_queue_cycles')
    # Of stages that take turns each waits for the one before, however many compute units there are.
    case $reason in
    *'take turns'*) bound=$(stages "$name"132.json all 'execute_cycles index_cycles') && bound=${bound% *} ;;
    *) bound=${serial#* } ;;
    esac
    awk -v name="$name" -v t1="${total[0]}" -v t4="${total[1]}" -v t16="${total[2]}" -v t132="${total[3]}" -v mode="$mode" \
        -v work="${work% *}" -v path="$bound" -v launch="$(figure launch_cycles "$name"16.json)" 'BEGIN {
        least = work / 16; what = "work"
        if (path > least) { least = path; what = path == "" ? "" : "path" }
        printf "%-12s %12d %12d %12d %12d %8.1f %8.1f %-5s %5.0f%% %10d  %s\n", name, t1, t4, t16, t132, t1 / t16, t1 / least, what,
            100 * least / t16, launch, mode }'
}

printf '%-12s %12s %12s %12s %12s %8s %8s %-5s %6s %10s  %s\n' example '1 CU' '4 CUs' '16 CUs' '132 CUs' '1 to 16' bound by reached \
    launching 'mode on 16'
for name in ${EXAMPLES:-fmradio transmitter cipher edges quadrature quadtree sweep}; do row "$name"; done
cat <<'TEXT'

Cycles of whole runs.  bound: of the speed-up from 1 to 16, by the execution of all stages on one compute unit over 16
("work"), or, where that takes longer, by the busiest stage with state, which uses one, or by what stages that take turns
execute one after the other ("path").  reached: the bound's cycles over those of the run; the rest are launches, switches, filling
and draining, and shares that do not come out even.  launching: cycles of enqueuing, processing and clean-up of all
launches on 16, which overlap between sub-devices.
TEXT
