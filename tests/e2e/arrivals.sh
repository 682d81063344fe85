#!/bin/sh
# SPDX-License-Identifier: MIT
# Packets that arrive in simulated time: outputs do not depend on it, cycles depend on nothing else, and docs/lateness.md
# shows the figures of a run.
set -eu
. "$ROOT/tests/checks.sh"
cd "$TMP"
PATH=${PIPEC%/*}:${PIPERUN%/*}:$PATH
export PATH
page=$ROOT/docs/lateness.md

# figure KEY [PORT]: of stats.json, of the run or of a port.
figure() {
    if [ $# -eq 1 ]; then sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" stats.json | head -n 1; return; fi
    grep "\"name\": *\"$2\"" stats.json | sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p"
}

# ---- the page ----

awk '/^```sh$/ { n++; file = "block" n; next } /^```/ { file = ""; next } file != "" { print > file }' "$page"
sh -e block1 >/dev/null 2>stats.txt
awk '/^```/ { open = !open; plain = open && $0 == "```"; next } plain' "$page" >shown
[ "$(wc -l <shown)" -eq 5 ] || echo "not ok the page shows five lines"
missing=$(while read -r line; do grep -qxF -e "$line" stats.txt || echo "$line"; done <shown)
[ -z "$missing" ] || echo "$missing"
check "the page on lateness shows what a run prints" [ -z "$missing" ]

# row OPTION ITEM: mean, most, launches of a run, and the share of waiting
row() {
    # shellcheck disable=SC2086 # the option may be none
    piperun smooth.pbc $1 "samples=gen:ramp:4800,$2" smooth=null --stats 2>row.txt
    awk '/ launches in / { launches = $1 } /^samples .*%$/ { waits = $5 } /^smooth .* cycles,/ { mean = $3; most = $5 }
        END { sub(/%/, " %", waits); printf "%s | %s | %s | %s\n", mean, most, launches, waits }' row.txt
}
for rate in 48kHz 500kHz 2MHz 10MHz 100MHz; do echo "| \`arrive=$rate\` | $(row '' "arrive=$rate") |"; done | sed 's/arrive=//' >rows
echo "| \`--latency=100us\` | $(row --latency=100us arrive=48kHz) |" | sed 's/ | [0-9.]* % |$/ |/' >>rows
echo "| the item \`full\` | $(row '' arrive=48kHz,full) |" | sed 's/ | [0-9.]* % |$/ |/' >>rows
missing=$(while read -r line; do grep -qxF -e "$line" "$page" || echo "$line"; done <rows)
[ -z "$missing" ] || echo "$missing"
check "the tables of the page are those of seven runs" [ -z "$missing" ]
check "its list of times runs" sh -c 'sh -e block2 2>/dev/null'

# ---- cycles ----

# One stage, whose firing takes 50 cycles, and whose program is
#       packets condensed; bind_root 0
#   L1: has_packets 0, 0, 8192, L2; ...             a static part, for whole iterations
#   L2: wait L1
#   L3: ends; round_robin 0, L4; dispatch; jump L3
#   L4: wait L3; halt
# A launch takes 200 + 400 + 50 + 200 cycles.  It is dispatched in the cycle 3 after the arrival; the first one in cycle 7.
cat >one.pipe <<'PIPE'
kernel k(in i32 x, out i32 y) { y <- x + 1; }
pipeline main(in i32 x, out i32 y) { x -> k cost 50 -> y; }
PIPE
pipec --device=sim4 one.pipe -o one.pbc
stats() { piperun -q "$@" --stats=json:stats.json; }

stats one.pbc x=gen:ramp:100,arrive=100kHz y=null
check "a packet is late by 3 instructions and a launch, the first one by 7 instructions" \
    [ "$(figure late_least_cycles y) $(figure late_most_cycles y) $(figure late_cycles y)" = "853 857 $((857 + 99 * 853))" ]
check "packets rest for ends and a selection, the first one until the guard" \
    [ "$(figure rest_most_cycles x) $(figure rest_cycles x)" = "3 $((3 + 99 * 2))" ]
check "each packet but the first is waited for, and so is the end" [ "$(figure suspensions)" = 100 ]
# ends, round_robin, wait; again, because the stream has ended; ends, which ends the stage; and so on.
check "the run ends 13 instructions after the arrival of the end" [ "$(figure total_cycles)" = 1000013 ]

# 3 packets at once, 2 more while their launch executes, 8 more much later.
printf '1000 3\n1100 1\n1.2us 1\n10us 8\n20us 0\n' >list
stats one.pbc "x=gen:ramp:13,arrive=@list" y=null
check "packets that arrive together share a launch, and so do those that arrive meanwhile" [ "$(figure dispatches)" = 3 ]
check "the end of a list arrives with its last line" [ "$(figure total_cycles)" = 20013 ]
check "the longest rest is that of the packet that arrives after a launch begins" \
    [ "$(figure rest_most_cycles x)" = $((1000 + 853 + 2 - 1100)) ]
check "... and its lateness is that and another launch" [ "$(figure late_most_cycles y)" = $((1000 + 853 + 3 + 850 - 1100)) ]

stats one.pbc "x=gen:ramp:13,arrive=@list,full" y=null
check "a full port waits for the end, and fires once" [ "$(figure dispatches) $(figure suspensions)" = "1 1" ]
# wait, has_packets and wait again, because the stream has ended; ends, round_robin, dispatch
check "then the first packet is late by the time of the list, and 6 instructions" \
    [ "$(figure late_most_cycles y) $(figure rest_most_cycles x)" = "$((20000 - 1000 + 6 + 850)) 19000" ]

stats one.pbc --latency=5us "x=gen:ramp:13,arrive=@list" y=null
check "packets rest for the time of --latency, and are taken then" \
    [ "$(figure dispatches) $(figure rest_most_cycles x) $(figure late_most_cycles y)" = "2 5002 5853" ]

# ---- the host ----

stats one.pbc x=gen:ramp:5000,arrive=44.1kHz y=a.raw
cycles=$(figure total_cycles) rest=$(figure rest_cycles x) late=$(figure late_cycles y) same=1
piperun -q one.pbc x=gen:ramp:5000 y=plain.raw
cmp -s a.raw plain.raw || same=0
check "arrivals change no packet" [ $same = 1 ]
piperun -q one.pbc x=gen:ramp:5000 y=null
head -c 20000 plain.raw | perl -e '
    my @x = map { $_ - 1 } unpack "l<*", do { local $/; <STDIN> };
    print pack "l<*", @x' >x.raw
for way in x.raw -,raw slow; do
    for threads in 1 3; do
        case $way in
        slow) (head -c 6001 x.raw; sleep 0.02; tail -c +6002 x.raw) | stats one.pbc --host-threads $threads x=-,raw,arrive=44100 y=b.raw ;;
        *) stats one.pbc --host-threads $threads "x=$way,arrive=44100/1" y=b.raw <x.raw ;;
        esac
        [ "$(figure total_cycles) $(figure rest_cycles x) $(figure late_cycles y)" = "$cycles $rest $late" ] || same=0
        cmp -s a.raw b.raw || same=0
    done
done
check "cycles depend neither on the host's files and pipes nor on its threads" [ $same = 1 ]

# After a slow beginning, packets come faster than they are processed: then batches are as large as those of a full port.
cat >fast.pipe <<'PIPE'
kernel double(in i32 x, out i32 y) { y <- 2 * x; }
kernel sum(in i32 x, out i32 y) { state i32 s; s += x; y <- s; }
pipeline main(in i32 x, out i32 y) { x -> double -> sum -> double -> y; }
PIPE
for device in sim4 sim16; do
    pipec --device=$device fast.pipe -o fast.pbc
    stats fast.pbc x=gen:ramp:300000 y=null
    cycles=$(figure total_cycles)
    for i in 0 1 2 3 4 5 6 7 8 9; do echo "${i}00us 3"; done >slow
    echo '1ms 300000' >>slow
    stats fast.pbc x=gen:ramp:300030,arrive=@slow y=null
    fast=$(($(figure total_cycles) - 1000000))
    check "after a slow beginning $device is as fast as with all packets there: $fast and $cycles cycles" \
        [ $((100 * cycles)) -ge $((98 * fast)) ]
done

# ---- several ports ----

# Two chains: the one that has its packets early does not wait for the other.
cat >two.pipe <<'PIPE'
kernel k(in i32 x, out i32 y) { y <- x + 1; }
kernel add(in i32 a, in i32 b, out i32 y) { y <- a + b; }
pipeline main(in i32 a, in i32 b, out i32 x, out i32 y) { a -> k -> x; b -> k -> y; }
pipeline sum(in i32 a, in i32 b, out i32 y) { add(a, b -> y); }
PIPE
pipec --device=sim4 two.pipe -o two.pbc -p main
pipec --device=sim4 two.pipe -o sum.pbc -p sum
stats two.pbc a=gen:ramp:10,arrive=1 b=gen:ramp:1000,arrive=10kHz x=null y=null
check "a port does not wait for another one" [ "$(figure late_most_cycles y)" -lt 5000 ]
check "... nor the slow one for the fast one" [ "$(figure late_most_cycles x)" -lt 5000 ]
stats sum.pbc a=gen:ramp:10,arrive=1000 b=gen:ramp:10,arrive=1MHz y=null
check "an output is late only after the last packet that it needs" [ "$(figure late_most_cycles y)" -lt 5000 ]
check "... and packets that no stage lacks rest until the scheduler goes on" [ "$(figure rest_most_cycles b)" -gt 900000 ]

# While a long launch executes on one half of the device, packets arrive for the other half.
cat >halves.pipe <<'PIPE'
kernel k(in i32 x, out i32 y) { y <- x + 1; }
pipeline main(in i32 a, in i32 b, out i32 x, out i32 y) { a -> k cost 1000000 -> x; b -> k cost 10 -> y; }
PIPE
pipec --device=sim4 --layout=side-by-side halves.pipe -o halves.pbc
stats halves.pbc a=gen:ramp:5,arrive=200 b=gen:ramp:1000,arrive=10kHz x=null y=null
check "a wait for a launch ends when packets arrive for another stage" [ "$(figure late_most_cycles y)" -lt 3000 ]

# ---- outputs ----

# Each example, with noise at its in-ports.
good=1 runs=0
for file in "$ROOT"/examples/*/*.pipe; do
    for device in sim1 sim16; do
        pipec --device=$device "$file" -o example.pbc 2>/dev/null || continue
        ins=$(pipec inspect example.pbc | sed -n 's/^in-port \([^:]*\): .*/\1/p')
        outs=$(pipec inspect example.pbc | sed -n 's/^out-port \([^:]*\): .*/\1/p')
        for items in '' ,arrive=1MHz ,arrive=1234567890 ,arrive=100kHz,full; do
            words='' status=0
            for port in $ins; do words="$words $port=gen:noise:7:3000$items"; done
            for port in $outs; do words="$words $port=out.$port.raw"; done
            # shellcheck disable=SC2086 # words
            piperun -q example.pbc $words --firings 3000 >found 2>&1 || status=$?
            cat out.*.raw >>found 2>/dev/null || :
            rm -f out.*.raw
            if [ -z "$items" ]; then
                cp found expected
                [ $status = 0 ] || break
            else
                runs=$((runs + 1))
                cmp -s found expected || { good=0; echo "$file on $device with '$items'"; }
            fi
        done
    done
done
check "examples have the same outputs at any rate" [ $good = 1 ]
check "... and some of them run" [ $runs -ge 24 ]

# ---- ends ----

status=0
timeout --preserve-status -s INT 0.2 piperun -q one.pbc x=gen:ramp,arrive=1MHz y=null || status=$?
check "an endless stream ends with an interrupt" [ $status = 130 ]
cat >stall.pipe <<'PIPE'
kernel some(in i32 x, out i32 y push 0..1) { if (x % 3 == 0) y <- x; }
kernel add(in i32 a, in i32 b, out i32 y) { y <- a + b; }
kernel fails(in i32 x, out i32 y) { y <- 100 / (50 - x); }
pipeline main(in i32 x, out i32 y) { x -> fails -> y; }
PIPE
pipec --device=sim4 stall.pipe -o fails.pbc -p main 2>/dev/null
status=0
piperun -q fails.pbc x=gen:ramp:200 y=null >expected 2>&1 || status=$?
check "a fault is the same with arrivals" says $status "$(sed -n 's/.*\(divided by zero in firing 50\).*/\1/p' expected)" \
    piperun -q fails.pbc x=gen:ramp:200,arrive=10kHz y=null
check "a day of waiting takes no real time" says 0 'main on sim4: 100000000000013 cycles' \
    piperun --timeout 20 -q one.pbc x=gen:ramp:100,arrive=1/1000 y=null --stats

# ---- refused ----

for device in cpu null; do
    check "arrivals are refused on $device" says 2 "packets arrive in simulated time only on a simulated device, and device '$device'" \
        piperun --device $device one.pbc x=gen:ramp:5,arrive=1 y=null
done
check "arrivals of an out-port are refused" says 2 "port 'y' is an out-port: arrive= is for in-ports" \
    piperun one.pbc x=gen:ramp:5 y=null,arrive=1
check "a full out-port is refused" says 2 "port 'y' is an out-port: full is for in-ports" piperun one.pbc x=gen:ramp:5 y=null,full
printf '0 1\n\n9us 1\n8us 1\n' >bad
check "a list goes forward in time" says 1 '^piperun: error: bad:4: cycle 8000 is earlier than cycle 9000' piperun one.pbc x=gen:ramp:5,arrive=@bad y=null
printf '0 1\n5 0\n9 1\n' >bad
check "only the end of a list has no packets" says 1 '^piperun: error: bad:2: no packet arrives' piperun one.pbc x=gen:ramp:5,arrive=@bad y=null
printf '0 1\n5 5x\n' >bad
check "a line has a time and a number" says 1 "^piperun: error: bad:2: '5 5x' is not a time" piperun one.pbc x=gen:ramp:5,arrive=@bad y=null
: >bad
check "a list has a line" says 1 '^piperun: error: bad: a list of arrivals has no line' piperun one.pbc x=gen:ramp:5,arrive=@bad y=null
check "a list is a file" says 2 '^piperun: error: none: No such file' piperun one.pbc x=gen:ramp:5,arrive=@none y=null
for item in '' ,full; do
    check "a stream is no longer than its list${item:+, in a full port}" says 1 "port 'x': the stream has more packets than its list" \
        piperun one.pbc "x=gen:ramp:14,arrive=@list$item" y=null
    check "time has an end${item:+, in a full port}" says 2 "port 'x': a packet from number [0-2] on arrives in cycle 2.63 or later" \
        piperun one.pbc "x=gen:ramp:5,arrive=1/9223372036$item" y=null
done

# ---- timelines ----

if command -v python3 >/dev/null; then
    for items in ,arrive=1MHz ,arrive=1MHz,full; do
        piperun -q two.pbc "a=gen:ramp:300$items" "b=gen:ramp:300$items" x=null y=null --trace=trace.json --stats=json:stats.json
        check "the timeline of '$items' agrees with the statistics" python3 -B "$ROOT/tests/e2e/timeline.py" trace.json stats.json
    done
    check "waits are slices of the timeline" grep -q '"waits for arrivals"' trace.json
fi
