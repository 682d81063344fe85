#!/bin/sh
# SPDX-License-Identifier: MIT
# Statistics and timelines: they agree with each other, every cycle of every stage is accounted for, the same run gives
# the same bytes, and files appear whole or not at all.
# shellcheck disable=SC2317 # functions called by check
set -u
cd "$TMP" || exit 1
. "$ROOT/tests/checks.sh"

cat >rates.pipe <<'END'
kernel grow(in i32 x, out i32 y push ..9) {
    for (i32 i = 0; i < (x & 3) * (x + 2 & 3); i++) y <- x + i;
}
kernel sum(in i32 x pop 4, out i32 y) { y <- x[0] + x[1] + x[2] + x[3]; }
kernel heavy(in i32 x, out i32 y) {
    i32 a = x;
    for (i32 i = 0; i < 100; i++) a = a * 3 + i;
    y <- a;
}
pipeline main(in i32 x, out i32 y) { x -> grow -> heavy -> sum -> y; }
END
cat >loop.pipe <<'END'
kernel add(in i32 x, in i32 back, out i32 y, out i32 again) {
    y <- x + back;
    again <- x + back;
}
kernel last(in i32 x, out i32 y) {
    state i32 sum = 0;
    sum += x;
    finish push 1 { y <- sum; }
}
pipeline main(in i32 x, out i32 y) {
    buffer i32 back init 1 x 0;
    buffer i32 s;
    add(x, back -> s, back);
    s -> last -> y;
}
END
cat >group.pipe <<'END'
kernel turn(in i32 x pop 64, out i32 y push 64) group 8x8 {
    y[item.x * 8 + item.y] = x[item.y * 8 + item.x];
}
kernel twice(in i32 x, out i32 y) { y <- 2 * x; }
pipeline main(in i32 x, out i32 y) { x -> turn -> twice -> y; }
END

cat >child.pipe <<'END'
child kernel leaf(in i32 x, out i32 y; i32 n) {
    for (i32 i = 0; i < min(n, 4); i++) y <- x + i;
}
kernel root(in i32 x, out i32 y push ..12) launches 2 {
    y <- x;
    launch leaf(x & 3);
    if ((x & 1) == 1) launch leaf(2);
}
pipeline main(in i32 x, out i32 y) { x -> root -> y; }
END

agree() { # agree PROGRAM DEVICE OPTION...: timeline and statistics of one run
    program=$1 device=$2
    shift 2
    "$PIPEC" -O0 --no-fuse --device "$device" "$program.pipe" -o "$program.$device.pbc" || return 1
    "$PIPERUN" -q "$program.$device.pbc" x=gen:ramp:1024 y=null "$@" --stats=json:"$program.$device.stats" \
        --trace="$program.$device.json" || return 1
    python3 "$ROOT/tests/e2e/timeline.py" "$program.$device.json" "$program.$device.stats"
}
# An example with noise at its in-ports.
example() { # example FILE DEVICE
    "$PIPEC" inspect --json "$1" >about.json && "$PIPEC" -O0 --device "$2" "$1" -o example.pbc || return 1
    bindings=$(python3 -c 'import json
for b in json.load(open("about.json"))["buffers"]:
    if b["writer"] is None: print(b["name"] + "=gen:noise:7:6144")
    elif not b["readers"]: print(b["name"] + "=null")')
    # shellcheck disable=SC2086 # a list of words
    "$PIPERUN" -q example.pbc $bindings --stats=json:example.stats --trace=example.json || return 1
    python3 "$ROOT/tests/e2e/timeline.py" example.json example.stats
}
if command -v python3 >/dev/null; then
    for file in "$ROOT"/examples/fmradio/fmradio.pipe "$ROOT"/examples/cipher/chacha20.pipe "$ROOT"/examples/edges/edges.pipe \
        "$ROOT"/examples/sweep/sweep.pipe; do
        for device in ${LONG:+sim16} sim1; do
            check "timeline and statistics agree: $(basename "$file") on $device" example "$file" "$device"
        done
    done
    for program in rates loop group child; do
        for device in sim16 ${LONG:+sim4} sim1; do
            check "timeline and statistics agree: $program on $device" agree "$program" "$device"
        done
        for form in reference full; do
            check "timeline and statistics agree: $program, $form packets" agree $program sim1 --dispatch=$form
        done
    done
    check "and where no kernel is executed" agree rates sim16 --device null
    "$PIPERUN" -q rates.sim16.pbc x=gen:ramp:5120 y=null --stats=json:rates.stats --trace=short.json --trace-limit 60
    check "what a limited timeline still has agrees" python3 "$ROOT/tests/e2e/timeline.py" short.json rates.stats
    sed 's/"execute_cycles": /"execute_cycles": 1/' rates.sim16.json >wrong.json
    refused() { ! python3 "$ROOT/tests/e2e/timeline.py" wrong.json rates.sim16.stats >/dev/null; }
    check "the checker sees a wrong one" refused
    # documented FILE...: every key of the statistics has its place in lang/reports.md
    documented() {
        python3 - "$ROOT/lang/reports.md" "$@" <<'END'
import json, re, sys
page = set(re.findall(r"`(\w+)`", open(sys.argv[1], encoding="utf-8").read()))
def keys(value):
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from keys(inner)
    if isinstance(value, dict): yield from value
missing = {key for path in sys.argv[2:] for key in keys(json.load(open(path)))} - page
if missing: sys.exit(f"lang/reports.md does not have {sorted(missing)}")
END
    }
    check "every key of the statistics is documented" documented ./*.stats
else
    echo "skip timeline and statistics agree: python3 is not installed"
    for device in sim16 sim1; do
        for program in rates loop group child; do
            "$PIPEC" --no-fuse --device $device $program.pipe -o $program.$device.pbc
        done
    done
fi

# same NAME COMMAND...: whatever is left over of the same name is the same as what the command leaves
run() { "$PIPERUN" -q rates.sim16.pbc x=gen:ramp:5120 y=null "$@"; }
threads() {
    for n in 1 2 4; do
        run --host-threads $n --stats=json:threads.$n --trace=trace.$n || return 1
    done
    cmp threads.1 threads.2 && cmp threads.1 threads.4 && cmp trace.1 trace.2 && cmp trace.1 trace.4
}
check "the same bytes with any number of host threads" threads
compressed() {
    run --trace=whole.json && run --trace=whole.json.gz && cp whole.json.gz before.gz && run --trace=whole.json.gz &&
        cmp whole.json.gz before.gz && gzip -dc whole.json.gz | cmp - whole.json
}
check "a compressed timeline is the same text, and the same bytes each time" compressed
standard() { run --trace=- >out.json && run --trace=whole.json && cmp out.json whole.json; }
check "a timeline on standard output" standard
watched() {
    "$PIPERUN" -q rates.sim16.pbc x=gen:ramp:5120 y=watched.i32 --trace=whole.json --stats 2>/dev/null &&
        "$PIPERUN" -q rates.sim16.pbc x=gen:ramp:5120 y=plain.i32 && cmp watched.i32 plain.i32
}
check "who is watched gives the same packets" watched

limited() {
    run --trace=short.json --trace-limit 60 && "$PIPERUN" rates.sim16.pbc x=gen:ramp:5120 y=null --trace=short.json \
        --trace-limit 60 2>said && grep -q 'note: short.json: the trace is whole up to cycle [0-9]*; after that [0-9]* events are left out' said &&
        parses short.json && [ "$(grep -c '"ph": "[^M]"' short.json)" -le 60 ] && grep -q '"events": ' short.json &&
        ! grep -q '"omitted_events": 0,' short.json
}
check "a limit is kept, and said" limited

check "text says the time first, then what limits the run" says 0 "^main on sim16: [0-9]+ cycles, .* at 1000 MHz" run --stats
limits() { sed -n 2p text | grep -Eq "^limited by ('(grow|heavy)': its|the) ([0-9]+ )?CUs? (that [0-9]+ stages share, which )?(is|are) busy [0-9.]+% of the time, mostly computing"; }
check "the bottleneck and its reason" limits
bounds() { grep -Eq "^grow +grow->heavy +9 +3 +1.50  43688 bytes" text; } # 16384 x 6 / 9 packets
check "the declared bound, the largest firing and the mean" bounds
columns() { ! grep -q 'left over' text && ! grep -q 'index generator' text && ! grep -q 'device queue' text; }
tighter() { # frees what the compiler then does without, and where it needs no more than it must, all of that
    for bound in 9 3; do
        sed "s/push ..9/push ..$bound/" rates.pipe >bound.pipe
        "$PIPEC" --buffers=min bound.pipe -o bound.pbc && "$PIPERUN" -q bound.pbc x=gen:ramp:512 y=null \
            --stats=json:bound.$bound || return 1
    done
    grep -q '"name": "grow->heavy".*"depth_packets": 9,' bound.9 && grep -q '"frees_at_most_bytes": 24}' bound.9 &&
        grep -q '"name": "grow->heavy".*"depth_packets": 3,' bound.3 && ! grep -q '"frees_at_most_bytes": [1-9]' bound.3
}
check "a tighter bound frees what is said" tighter
check "what there was not gets no place" columns
sed 's/^name .*/name = slow/; s/^memory_bytes_per_cycle.*/memory_bytes_per_cycle = 1/' "$ROOT/lang/devices/sim16.dev" >slow.dev
"$PIPEC" --no-fuse --device slow.dev rates.pipe -o slow.pbc
check "a run that the bandwidth limits" says 0 'mostly waiting for memory' "$PIPERUN" slow.pbc --device sim:slow.dev \
    x=gen:ramp:5120 y=null --stats
check "a run that its launches limit" says 0 'mostly with the overhead of launches' "$PIPERUN" loop.sim16.pbc \
    x=gen:ramp:512 y=null --stats
check "the index generator, where there are work-items" says 0 '^index generator: [0-9]+ requests?, [0-9.]+% known' \
    "$PIPERUN" group.sim16.pbc x=gen:ramp:5120 y=null --stats
check "the device queue, where kernels launch kernels" says 0 '^device queue: 768 launches, at most 1 level deep' "$PIPERUN" \
    child.sim16.pbc x=gen:ramp:512 y=null --stats
"$PIPEC" "$ROOT/examples/sweep/sweep.pipe" -o sweep.pbc
check "of one packet all launches are completed together" says 0 ' completion .*scheduler' "$PIPERUN" sweep.pbc \
    strength=gen:ramp:60 balance=null --stats
check "and what full packets would have cost is said" grep -Eq '^launch overhead .* \(by full packets: [0-9]+ bytes, ' text
check "a finish is a launch, and a loop has waits" says 0 "packets in 'back'|packets in 's'" "$PIPERUN" loop.sim16.pbc \
    x=gen:ramp:5120 y=null --stats
check "on one compute unit stages wait for it" says 0 ' CUs .*scheduler' "$PIPERUN" rates.sim1.pbc x=gen:ramp:5120 \
    y=null --stats
check "statistics as JSON on standard output" says 0 '"bottleneck": \{"limit": "compute", "stage": "(grow|heavy)"' run --stats=json:-

printf 'kernel k(in i32 x, out i32 y) { y <- 1000 / (x - 4000); }\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n' >fault.pipe
"$PIPEC" fault.pipe -o fault.pbc
faulted() {
    says 4 'division-by-zero' "$PIPERUN" fault.pbc x=gen:ramp:5000 y=null --trace=fault.json --stats && parses fault.json &&
        grep -q '"total_cycles"' fault.json
}
check "a run that faults has a timeline, too" faulted

# ---- in real time ----

cat >single.pipe <<'END'
kernel scale(in f32 x, out f32 y) { y <- 3 * x; }
pipeline main(in f32 x, out f32 y) { x -> scale -> y; }
END
# The host brings a packet late: it is waited for at least as long as that takes.
waits_for_host() {
    "$PIPEC" --device=cpu single.pipe -o single.pbc && { printf 1234; sleep 0.3; printf 5678; } |
        "$PIPERUN" -q --device cpu:1 single.pbc x=-,raw y=late.f32 --stats=json:late.json && python3 - late.json <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
ports = {b["name"]: b["host_cycles"] for b in run["buffers"]}
limit = run["bottleneck"]
waited = ports["x"] + ports["y"]
assert ports["x"] >= 250000000 and run["host_cycles"] == waited <= run["total_cycles"], ports
if limit["limit"] == "host":
    assert limit["busy_cycles"] == waited >= run["total_cycles"] // 2, limit
else:
    assert limit["busy_cycles"] >= waited or waited < run["total_cycles"] / 2 + 1, limit
END
}
check "waiting for the host, at the port that it is waited for" waits_for_host
check "in simulated time it is not waited for" test "$(grep -c '"host_cycles": [1-9]' rates.sim16.stats)" = 0
check "a line for the host" says 0 '^waiting for the host [0-9.]+% of the time' "$PIPERUN" --device cpu:1 single.pbc \
    x=gen:ramp:100000 y=null --stats
check "a single stage waits for no other" sh -c '! grep -q "each other" text'
busy_threads() { # they execute whatever is launched on any compute unit
    sed 's/i < 100/i < 20000/' rates.pipe >heavier.pipe && "$PIPEC" --device=cpu --no-fuse heavier.pipe -o threads.pbc &&
        says 0 "^limited by " "$PIPERUN" --device cpu:1 threads.pbc x=gen:ramp:20000 y=null --stats &&
        ! grep -Eq '^limited by .* CUs? ' text
}
check "on the host's cores threads are busy, not compute units" busy_threads

# usage
check "an unknown form" says 2 "--stats: 'xml' is neither 'text' nor 'json:FILE'" run --stats=xml
check "a limit that is no number" says 2 "--trace-limit: 'many' is not a number" run --trace=a.json --trace-limit many
check "a limit of nothing" says 2 "--trace-limit: '0' is not a number from 1" run --trace=a.json --trace-limit 0
check "a limit without a timeline" says 2 'there is no --trace' run --trace-limit 5
check "a name is missing" says 2 'the name of a file is missing' run --trace=
check "a timeline that cannot be written" says 2 'none/a.json: cannot open for writing' run --trace=none/a.json
check "statistics that cannot be written" says 2 'none/a.json: cannot open for writing' run --stats=json:none/a.json
check "a full disk" says 2 '/dev/full' run --trace=/dev/full
check "standard output is taken by a port" says 2 "standard output is taken by 'y'" "$PIPERUN" rates.sim16.pbc \
    x=gen:ramp:5 y=-,csv --trace=-
check "standard output is wanted twice" says 2 "standard output is taken by '--stats'" run --trace=- --stats=json:-
check "a port writes that file" says 2 "--trace: ./a.json is taken by 'y'" "$PIPERUN" rates.sim16.pbc x=gen:ramp:5 \
    y=a.json,raw --trace=./a.json
check "both reports into one file" says 2 "--trace: a.json is taken by '--stats'" run --stats=json:a.json --trace=a.json
nothing() { for file in a.json*; do [ ! -e "$file" ] || return 1; done; }
check "what is refused leaves nothing" nothing

# signals: an endless run, once it is under way
stopped() { # stopped SIGNAL
    "$PIPERUN" -q rates.sim16.pbc x=gen:ramp y="$1.raw" --trace="$1.json" --trace-limit 1000 2>said &
    child=$!
    for _ in $(seq 200); do
        sleep 0.02
        [ -z "$(find . -name "*$1.raw*" -size +64k)" ] || break
    done
    kill -"$1" $child
    wait $child
}
interrupted() { stopped INT; [ $? -eq 130 ] && parses INT.json && grep -q '"total_cycles"' INT.json; }
check "SIGINT ends the timeline, which is valid" interrupted
terminated() { stopped TERM; [ $? -eq 143 ] && [ -z "$(find . -name '*TERM.json*')" ]; }
check "SIGTERM leaves nothing of it" terminated
