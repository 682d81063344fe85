#!/bin/sh
# SPDX-License-Identifier: MIT
# Kernels that launch kernels, from source to statistics: counts that are known, cycles that depend on the device
# description and on nothing else, bounds that a device has to have room for.
set -eu
cd "$TMP"
same() {
    if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: $2, expected $3"; fi
}
cat >tree.pipe <<'END'
child kernel tree(in i32 x, out i32 y; i32 depth) launches 2 {
    y <- depth;
    if (depth >= x) return;
    launch tree(depth + 1);
    launch tree(depth + 1);
}
kernel grow(in i32 x, out i32 y) launches 2 nesting 5 {
    if (x > 0) {
        launch tree(1);
        launch tree(1);
    }
}
pipeline main(in i32 x, out i32 y) { x -> grow -> y; }
END
"$PIPEC" tree.pipe -o tree.pbc
printf '5\n0\n5\n1\n' >x.csv

# figure FILE KEY: a number of the report
figure() { sed -n "s/^.*\"$2\": *\[*\([0-9]*\).*\$/\1/p" "$1" | head -1; }
section() { sed -n '/"device_queue"/,/}/p' "$1"; }

"$PIPERUN" -q --host-threads 1 --stats=json:1.json tree.pbc x=x.csv y=y.csv
section 1.json >queue
same "every launch is executed" "$(figure queue launches)" $((62 + 62 + 2))
same "as deep as they go" "$(figure queue levels_most)" 5
same "packets" "$(wc -l <y.csv | tr -d ' ')" $((62 + 62 + 2))
for threads in 2 4; do
    "$PIPERUN" -q --host-threads $threads --stats=json:$threads.json tree.pbc x=x.csv y=more.csv
    same "$threads threads: the same cycles" "$(cat $threads.json)" "$(cat 1.json)"
    same "$threads threads: the same packets" "$(cat more.csv)" "$(cat y.csv)"
done

# Each child in the statistics and in the timeline.
child() { # FILE KERNEL KEY
    python3 -c 'import json, sys
print(next(c[sys.argv[3]] for c in json.load(open(sys.argv[1]))["children"] if c["kernel"] == sys.argv[2]))' "$@"
}
same "a child kernel has its launches" "$(child 1.json tree launches)" $((62 + 62 + 2))
same "and their cycles" "$(child 1.json tree cycles)" "$(figure queue cycles)"
same "and how deep they were" "$(child 1.json tree level_most)" 5
same "the text has a row of it" "$("$PIPERUN" -q --stats tree.pbc x=x.csv y=null 2>&1 | sed -n 's/^tree  *\([0-9]*\) .*/\1/p')" \
    $((62 + 62 + 2))
"$PIPERUN" -q --trace=trace.json --stats=json:1.json tree.pbc x=x.csv y=null
python3 - trace.json 1.json <<'END'
import json, sys
trace, stats = (json.load(open(name)) for name in sys.argv[1:])
queue = stats["device_queue"]
slices = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["tid"] >= 2 and e["pid"] >= 3]
children = [e for e in slices if e["name"] == "tree"]
def say(claim, holds): print(("ok " if holds else "not ok ") + claim)
say("each launch of a child is a slice of its compute unit", len(children) == queue["launches"])
cus = [0] * len(stats["cu_busy_cycles"])
for e in slices: cus[e["tid"] - 2] += e["args"]["end_cycles"] - e["args"]["begin_cycles"]
say("the slices are all that the compute units do", cus == stats["cu_busy_cycles"])
waits = sum(e["args"]["begin_cycles"] - e["args"]["issued_cycles"] for e in children)
say("children begin when they have been launched and waited", waits == queue["wait_cycles"])
say("their levels are shown", {e["args"]["level"] for e in children} == {1, 2, 3, 4, 5})
launches = [e for e in trace["traceEvents"] if e.get("tid") == 1 and e["ph"] == "X" and "spans" in e.get("args", {})]
inside = all(any(l["args"]["begin_cycles"] <= e["args"]["begin_cycles"] and e["args"]["end_cycles"] <= l["args"]["end_cycles"]
                 for l in launches) for e in children)
say("they lie in the launch of their stage", inside and sum(l["args"]["spans"] for l in launches) == len(slices))
END

# One compute unit: all of a tree one after the other, whatever the queue has room for.
device() { # NAME ENTRIES ISSUE START
    cat >"$1.dev" <<END
name = $1
cu_count = 1
lanes = 8
clock = 1 GHz
memory = 1 GiB
memory_bytes_per_cycle = 256
device_queue_entries = $2
child_issue = $3
child_start = $4
END
}
run_on() { # NAME: the cycles of the run
    "$PIPEC" --device "$1.dev" tree.pipe -o "$1.pbc"
    "$PIPERUN" -q --device "sim:$1.dev" --stats=json:"$1.json" "$1.pbc" x=x.csv y="$1.csv"
    cmp -s y.csv "$1.csv" || echo "not ok $1: the same packets"
    figure "$1.json" total_cycles
}
device free 64 0 0
device dear 64 7 100
device narrow 10 7 100
free=$(run_on free)
dear=$(run_on dear)
narrow=$(run_on narrow)
same "a launch costs what the description says" $((dear - free)) $((126 * 107))
same "a queue that is just large enough costs one unit nothing" "$narrow" "$dear"
section dear.json >queue
same "that unit executes the stage, its children, and what launches them" "$(figure dear.json cu_busy_cycles)" \
    $(($(figure dear.json compute_cycles) + $(figure queue cycles) + $(figure queue launch_cycles)))
section narrow.json >queue
same "it is full at times, and holds no more" "$(figure queue entries_most)" 10

device small 9 7 100
if "$PIPEC" --device small.dev tree.pipe -o small.pbc 2>err; then
    echo "not ok a queue that is too small is refused"
elif grep -q 'device-queue-too-small' err; then
    echo "ok a queue that is too small is refused"
else
    echo "not ok a queue that is too small is refused: $(cat err)"
fi
same "both launches of the kernel are shown" "$(grep -c 'launched here' err)" 2

"$PIPERUN" -q --device null tree.pbc x=x.csv y=null
echo "ok the null device executes nothing"
if "$PIPERUN" verify tree.pbc; then echo "ok the container proves itself"; else echo "not ok the container proves itself"; fi

# A firing that waits in done() keeps the room of its launches; what becomes ready meanwhile may not take it.
cat >stand.pipe <<'END'
child kernel leaf(in i32 x, out i32 y) { y <- x; }
child kernel c(in i32 x, out i32 y) {
    launch leaf();
    launch leaf();
    launch leaf();
}
child kernel p(in i32 x, out i32 y) {
    event e = launch leaf();
    launch leaf() after e;
    if (done(e)) launch leaf();
}
kernel root(in i32 x, out i32 y) {
    launch c() after parent;
    launch p();
}
pipeline main(in i32 x, out i32 y) { x -> root -> y; }
END
for cus in 1 2 4; do
    device stand 5 7 100
    sed -i "s/^cu_count = .*/cu_count = $cus/" stand.dev
    "$PIPEC" --device stand.dev stand.pipe -o stand.pbc
    "$PIPERUN" -q --device sim:stand.dev --stats=json:stand.json stand.pbc x=x.csv y=stand.csv
    section stand.json >queue
    if [ "$(figure queue entries_most)" -le 5 ]; then
        echo "ok $cus compute units: the queue holds no more than its bound while a firing waits in done()"
    else
        echo "not ok $cus compute units: $(figure queue entries_most) entries of 5"
    fi
done

# Work-groups of a launch: one entry of the queue, a start for all of them, a slice for each.
cat >range.pipe <<'END'
child kernel part(in i32 x, out i32 y) groups 8 { y <- item.group; }
kernel spread(in i32 x, out i32 y push ..8) { launch part() groups x; }
pipeline main(in i32 x, out i32 y) { x -> spread -> y; }
END
"$PIPEC" range.pipe -o range.pbc
"$PIPERUN" -q --trace=trace.json --stats=json:range.json range.pbc x=x.csv y=null 2>err && echo "not ok 0 work-groups are a fault"
grep -q 'launched 0 work-groups in firing 1, allowed 1 to 8 \[groups-out-of-range\]' err && echo "ok 0 work-groups are a fault"
printf '8\n3\n' >range.csv
"$PIPERUN" -q --trace=trace.json --stats=json:range.json range.pbc x=range.csv y=range.out.csv
section range.json >queue
same "the launches of a range" "$(figure queue launches)" 2
same "their work-groups" "$(figure queue groups)" 11
same "a range is one entry" "$(figure queue entries_most)" 2
same "the work-groups of a child kernel" "$(child range.json part groups)" 11
same "a slice for each" "$(grep -c '"name": "part"' trace.json)" 11
same "they start once a launch" "$(figure queue launch_cycles)" $((2 * (100 + 2400)))
same "in the order of their numbers" "$(tr '\n' ' ' <range.out.csv)" "0 1 2 3 4 5 6 7 0 1 2 "
"$PIPEC" inspect range.pipe | grep -q 'part (up to 8 work-groups) with parent' && echo "ok inspect shows how many"

# A choice is one launch and one entry of the queue; each child that it starts is counted by itself.
cat >choice.pipe <<'END'
child kernel none(in i32 x, out i32 y; i32 v) { if (v < 0) y <- v; }
child kernel some(in i32 x, out i32 y; i32 v, i32 k = 10) groups 8 { y <- v * k + item.group; }
kernel choose(in i32 x, out i32 y push ..8) { launch (x > 2 ? some : none)(x); }
pipeline main(in i32 x, out i32 y) { x -> choose -> y; }
END
printf '1\n2\n3\n4\n5\n' >choice.csv
for device in cpu sim1 sim16; do
    "$PIPEC" --device=$device choice.pipe -o $device.pbc
    "$PIPERUN" -q $device.pbc x=choice.csv y=$device.csv
done
"$PIPERUN" -q --device=null sim16.pbc x=choice.csv y=null && echo "ok without kernels nothing is launched"
"$PIPERUN" -q --stats=json:choice.json sim16.pbc x=choice.csv y=null
section choice.json >queue
same "each choice is a launch" "$(figure queue launches)" 5
same "the child that is started is counted" "$(child choice.json some launches) $(child choice.json none launches)" "3 2"
same "the packets of what was chosen" "$(tr '\n' ' ' <sim16.csv)" "30 40 50 "
for device in cpu sim1; do
    same "the same on $device" "$(cat $device.csv)" "$(cat sim16.csv)"
done
"$PIPEC" inspect choice.pipe | grep -q 'some (up to 8 work-groups) or none with parent' && echo "ok inspect shows the choice"
"$PIPEC" inspect choice.pipe | grep -q 'choose: up to 8 in the tree of a firing, 1 level; 1 entry of the device queue' && echo "ok one entry"

# A child begins after what its parent executes before the launch: so many rounds, at 3 cycles each.
work() { # BEFORE AFTER CHILD: rounds
    cat >causal.pipe <<END
child kernel child(in i32 x, out i32 y; i32 n) {
    i32 s = n;
    for (i32 i = 0; i < x * $3; i++) s ^= i;
    y <- s;
}
kernel parent(in i32 x, out i32 y) {
    i32 s = x;
    for (i32 i = 0; i < x * $1; i++) s ^= i;
    launch child(s);
    for (i32 i = 0; i < x * $2; i++) s ^= i;
    if (s == 12345678) y <- s;
}
pipeline main(in i32 x, out i32 y) { x -> parent -> y; }
END
    "$PIPEC" --device sim16 causal.pipe -o causal.pbc
    "$PIPERUN" -q --device sim16 --stats=json:causal.json causal.pbc x=one.csv y=causal.csv
    figure causal.json total_cycles
}
echo 1 >one.csv
none=$(work 0 0 0)
round=$((($(work 1000 0 0) - none) / 1000))
same "rounds before the launch and those of the child add up" "$(work 20000 0 10000)" $((none + 30000 * round))
same "rounds after the launch execute beside the child" "$(work 0 20000 10000)" \
    $(($(work 0 20000 0)))
if [ "$(work 0 20000 0)" -lt "$(work 20000 0 10000)" ]; then
    echo "ok a launch stands where its statement stands"
else
    echo "not ok a launch stands where its statement stands"
fi
# `cost N` replaces all that is counted: what stands before a launch is then not known, so all N cycles do.
declared() { # the cycles of the last program, its parent declared to cost 50,000
    sed 's/x -> parent -> y;/p: parent(x -> y) cost 50000;/' causal.pipe >declared.pipe
    "$PIPEC" --device sim16 declared.pipe -o declared.pbc
    "$PIPERUN" -q --device sim16 --stats=json:declared.json declared.pbc x=one.csv y=declared.csv
    figure declared.json total_cycles
}
work 0 100 10000 >/dev/null
early=$(declared)
work 100 0 10000 >/dev/null
same "a declared cost lies before each launch" "$early" "$(declared)"
same "and its children add up" "$((early - 50000 >= 10000 * round))" 1
