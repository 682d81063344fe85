#!/bin/sh
# SPDX-License-Identifier: MIT
# Importance: a stage that shares compute units with less important ones waits for one work-group of theirs at most, they go
# on later, and timeline and statistics say so.  The output is the same.
# shellcheck disable=SC2317 # functions called by check
set -u
cd "$TMP" || exit 1
. "$ROOT/tests/checks.sh"

# The program NAME.pbc for two sub-devices: `sense`, and `sense2`, on the second one, all others together on the first one.
share() { # share NAME [OPTION]
    "$PIPEC" -q -Wno-rate-unproven --no-fuse ${2:+"$2"} --device sim4 "$1.pipe" -o "$1.own.pbc" || return 1
    "$PIPERUN" disasm "$1.own.pbc" >"$1.own.sasm" || return 1
    sense=$("$PIPEC" inspect "$1.own.pbc" | sed -n 's/^stage \([0-9]*\) sense2*:.*/ \1 /p' | tr -d '\n')
    awk -v sense="$sense" '
        $1 ~ /^partition_/ { next }
        ($1 == "bind" || $1 == "bind_root") && !cut { print "    partition_counts 2 1"; cut = 1 }
        $1 == "bind" || $1 == "bind_root" { sub(/,/, "", $2); print "    bind " $2 ", " (index(sense, " " $2 " ") > 0); next }
        { print }' "$1.own.sasm" >"$1.sasm"
    "$PIPERUN" asm "$1.sasm" --into "$1.own.pbc" -o "$1.pbc"
}
# run NAME WORD...: statistics and timeline in NAME.stats and NAME.json, outputs in NAME.y and NAME.answer
run() {
    program=$1
    shift
    "$PIPERUN" -q "$program.pbc" x=gen:ramp:6000 urgent=gen:ramp:512 "y=$program.y,raw:f32le" \
        "answer=$program.answer,raw:f32le" --stats=json:"$program.stats" --trace="$program.json" "$@"
}
interruptions() { sed -n "s/.*\"name\": \"$2\", \"kernel\".*\"interruptions\": \([0-9]*\).*/\1/p" "$1.stats"; }
waited() { python3 "$ROOT/tests/e2e/waits.py" "$@"; }

head='kernel sense(in f32 x, out f32 y) { y <- x + 1; }
kernel quick(in f32 x, out f32 y) { y <- 2 * x; }'
tail='    buffer f32 sensed depth 32;
    urgent -> sense cost 900 -> sensed;'

# ---- one work-group is 2500 cycles; a launch has hundreds of them ----

slow='kernel slow(in f32 x, out f32 y) { y <- x + 3; }'
for importance in 0 9; do
    printf '%s\n' "$head" "$slow" 'pipeline main(in f32 x, in f32 urgent, out f32 y, out f32 answer) {' "$tail" \
        '    x -> slow cost 2500 -> y;' "    sensed -> quick importance $importance cost 40 -> answer;" '}' >plain$importance.pipe
    share plain$importance
    check "a run with importance $importance" run plain$importance
done
check "results are the same: the less important ones" cmp plain0.y plain9.y
check "results are the same: the important ones" cmp plain0.answer plain9.answer
interrupted() { [ "$(interruptions plain9 slow)" -gt 20 ] && [ "$(interruptions plain9 quick)" -eq 0 ]; }
check "the less important stage is interrupted, the important one is not" interrupted
never() { [ "$(interruptions plain0 slow)" -eq 0 ] && ! grep -q 'goes on' plain0.json; }
check "the same importance does not interrupt" never
named() { grep -q '"name": "slow (interrupted)"' plain9.json && grep -q '"name": "slow (goes on)"' plain9.json; }
check "the timeline says that a launch is interrupted, and goes on" named
check "a queue's name has the importance" grep -q '"name": "queue [0-9]*: CUs 0 to 1, importance 9"' plain9.json
threads() {
    for n in 1 2 4; do
        run plain9 --host-threads $n && cp plain9.stats threads.$n && cp plain9.json trace.$n || return 1
    done
    cmp threads.1 threads.2 && cmp threads.1 threads.4 && cmp trace.1 trace.2 && cmp trace.1 trace.4
}
check "the same cycles with any number of host threads" threads
for form in full reference condensed; do
    forms() { cp plain9.y whole.y && cp plain9.answer whole.answer && run plain9 --dispatch="$form" && cmp whole.y plain9.y && cmp whole.answer plain9.answer; }
    check "the same results by $form packets" forms
done
text() { says 0 "^'slow' was interrupted [0-9]+ times by more important stages, for [0-9]+ cycles$" run plain9 --stats; }
check "the statistics as text say how often" text
table() { grep -Eq '^0 to 1 +9 ' text && grep -Eq '^0 to 1 +0 ' text && grep -Eq '^CUs +importance +launches' text; }
check "and have a line for each importance" table
columns() { # columns PROGRAM STAGE: mean and longest latency, of the text
    "$PIPERUN" -q "$1.pbc" x=gen:ramp:6000 urgent=gen:ramp:512 y=null answer=null --stats 2>&1 |
        awk -v stage="$2" '/^stage .*latency +maximum$/ { on = 1 } on && $1 == stage { print $(NF - 1), $NF; exit }'
}
latency() { # ten times less in the mean; the longest is a work-group, overhead and its own work
    before=$(columns plain0 quick) after=$(columns plain9 quick)
    [ "${after#* }" -le 5000 ] && [ "${before% *}" -ge $((10 * ${after% *})) ] && [ "${before#* }" -ge $((100 * ${after#* })) ]
}
check "and the latency of an important stage beside the same one without" latency

# ---- what a work-group is depends on the kernel ----

# A stage beside `quick` whose longest work-group is BOUND; without importance it would keep it waiting for LONG.
kind() { # kind NAME BOUND LONG KERNELS INSTANCE
    for importance in 0 9; do
        printf '%s\n' "$head" "$4" 'pipeline main(in f32 x, in f32 urgent, out f32 y, out f32 answer) {' "$tail" \
            "    x -> $5 -> y;" "    sensed -> quick importance $importance cost 40 -> answer;" '}' >"$1$importance.pipe"
        share "$1$importance" || return 1
        # A packet for each launch: a condensed one is enqueued with the last launch of its pack, and the wait counts from there.
        run "$1$importance" --dispatch=full || return 1
    done
    cmp "$1"0.y "$1"9.y && cmp "$1"0.answer "$1"9.answer && [ "$(interruptions "$1"9 slow)" -gt 0 ] || return 1
    command -v python3 >/dev/null || return 0
    python3 "$ROOT/tests/e2e/timeline.py" "$1"9.json "$1"9.stats && waited "$1"9.json quick most le "$2" &&
        waited "$1"0.json quick most ge "$3"
}
check "warps of one cost" kind equal 2500 100000 "$slow" 'slow cost 2500'
# A round is at most 10 cycles; at most 400 of them.
counted='kernel slow(in f32 x, out f32 y) {
    f32 s = x;
    for (i32 i = 0; i < (i32(x) & 255) + 100; i++) s = 0.5 * s + 1;
    y <- s;
}'
check "warps whose cost is counted" kind counted 4000 40000 "$counted" slow
state='kernel slow(in f32 x, out f32 y) {
    state f32 sum = 0;
    sum += x;
    y <- sum;
    finish push 1 { y <- sum; }
}'
check "firings with state" kind state 700 40000 "$state" 'slow cost 700'
group='kernel slow(in f32 x pop 24, out f32 y push 24) group 24 {
    f32 s = x[item.x];
    for (i32 i = 0; i < 200; i++) s = 0.5 * s + 1;
    y[item.x] = s;
}'
check "work-groups of several warps" kind group 6000 20000 "$group" slow
# A child that is launched takes its start, 2400 cycles, and some cycles more.
children='child kernel leaf(in f32 x, out f32 y) { y <- x + 1; }
kernel slow(in f32 x, out f32 y push 3) launches 2 {
    y <- x;
    launch leaf();
    launch leaf();
}'
check "kernels that launch kernels" kind children 3500 100000 "$children" slow

if command -v python3 >/dev/null; then
    check "an important launch waits for one work-group at most" waited plain9.json quick most le 2500
    check "and for hundreds where it is not important" waited plain0.json quick most ge 250000
    check "the timeline agrees with the statistics" python3 "$ROOT/tests/e2e/timeline.py" plain9.json plain9.stats
fi

# ---- three levels: what interrupts is interrupted ----

printf '%s\n' "$head" "$slow" 'kernel middle(in f32 x, out f32 y) { y <- x - 1; }
pipeline main(in f32 x, in f32 urgent, out f32 y, out f32 answer) {
    buffer f32 sensed depth 32;
    buffer f32 noticed depth 64;
    buffer f32 asked depth 64;
    urgent -> sense cost 900 -> sensed;
    sense2: sense(urgent -> noticed) cost 900;
    noticed -> middle importance 5 cost 800 -> asked;
    both: add(sensed, asked -> answer) importance 9 cost 40;
    x -> slow cost 2500 -> y;
}
kernel add(in f32 a, in f32 b, out f32 y) { y <- a + b; }' >levels.pipe
share levels --layout=groups
check "three levels" run levels
levels() {
    [ "$(interruptions levels slow)" -gt 0 ] && [ "$(interruptions levels middle)" -gt 0 ] &&
        [ "$(interruptions levels both)" -eq 0 ] && grep -q '"name": "slow (goes on, interrupted)"' levels.json
}
check "are interrupted by those above them alone" levels
if command -v python3 >/dev/null; then
    check "the most important one waits for one work-group" waited levels.json both most le 2500
    check "and the timeline agrees" python3 "$ROOT/tests/e2e/timeline.py" levels.json levels.stats
fi

# ---- as the compiler places them: all on one compute unit, `sense` and `slow` in one packet ----

"$PIPEC" --device sim1 plain9.pipe -o one.pbc
check "on one compute unit" run one
alone() { [ "$(interruptions one slow)" -gt 0 ] && cmp one.y plain9.y && cmp one.answer plain9.answer; }
check "the same results, with interruptions" alone
awaited() { # no launch of `quick` comes more than 100 cycles after the end of that of `sense` it has packets from
    python3 - one.json <<'END'
import json, sys
launches = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X" and "packet" in e.get("args", {})]
ends = [e["args"]["end_cycles"] for e in launches if e["name"] in ("sense", "sense (goes on)")]
for e in launches:
    at = e["args"]["enqueued_cycles"]
    if e["name"] == "quick" and not any(at - 100 <= end <= at for end in ends): sys.exit(f"quick comes at {at}")
if not ends or all(e["args"]["first_of_packet"] for e in launches if e["name"].startswith("slow")): sys.exit("no packet has both")
END
}
if command -v python3 >/dev/null; then
    check "who is read by a more important stage is not seen with the rest of its packet" awaited
fi
says 0 '^importance on shared CUs: those above interrupt those below, between work-groups$' "$PIPEC" inspect --device sim1 plain9.pipe >/dev/null
inspected() { grep -q '^all CUs           9  quick$' text && grep -q '^all CUs           0  sense, slow$' text; }
check "and inspect says who may interrupt whom" inspected
