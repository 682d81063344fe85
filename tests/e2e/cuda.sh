#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs with the scheduler resident on the device: signals, time limits, the state of a run, refusals, and the scheduler as PTX.
# The device is the emulated one; tests/lang runs on it as well.  tests/gpu/bundle.sh is for machines with a GPU.
# shellcheck disable=SC2317 # functions are called through check
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

gpu=(--device cuda-emulated)
cat >p.pipe <<'END'
kernel twice(in i32 x, out i32 y) { y <- x + x; }
kernel total(in i32 x, out i32 y) { state i32 s; s += x; y <- s; }
kernel careful(in i32 x, out i32 y) { y <- 1000 / (x - 5000); }
pipeline main(in i32 x, out i32 y) { x -> twice -> total -> y; }
pipeline faulty(in i32 x, out i32 y) { x -> careful -> y; }
pipeline endless(out i32 y) { one -> twice -> total -> y; }
kernel one(out i32 y) { y <- 1; }
END
for pipeline in main faulty endless; do "$PIPEC" --device=cuda -p $pipeline p.pipe -o $pipeline.pbc; done

# ---- what a run does ----

same() {
    "$PIPERUN" --device cpu:1 main.pbc x=gen:ramp:100000 y=cpu.raw && "$PIPERUN" "${gpu[@]}" main.pbc x=gen:ramp:100000 y=gpu.raw &&
        cmp cpu.raw gpu.raw
}
check "the bits are those of the processor" same
piped() { printf '1\n2\n3\n' | "$PIPERUN" "${gpu[@]}" main.pbc x=-,csv y=-,csv; }
check "standard input and output" says 0 '^12$' piped
check "a fault has kernel, firing and line" says 4 "kernel 'careful'.* divided by zero in firing 5000" \
    "$PIPERUN" "${gpu[@]}" faulty.pbc x=gen:ramp:20000 y=faulty.raw
check "and leaves no output" [ ! -e faulty.raw ]
first_four() { "$PIPERUN" "${gpu[@]}" endless.pbc y=-,csv | head -4; }
check "a sink that wants no more ends the run" says 0 '^8$' first_four

# ---- while it runs ----

# signalled SIGNAL [OPTION]...: exit status of a run, of `endless` if it is set, that gets the signal when it has been running for a
# while; `said` has its messages.
signalled() {
    local status=0
    # shellcheck disable=SC2086 # words
    "$PIPERUN" "${gpu[@]}" "${@:2}" ${endless:-main.pbc x=gen:ramp} y=null >said 2>&1 &
    local run=$!
    sleep 0.7
    kill -s "$1" $run
    if [ "$1" = USR1 ]; then
        sleep 0.7
        kill -s INT $run
    fi
    wait $run || status=$?
    echo "exit status $status"
    cat said
}
check "Ctrl-C ends the inputs" says 0 'exit status 130' signalled INT
# shows STAGE DIGITS: the state that has been asked for is that of now, when it has fired a number of times with so many digits.
shows() {
    signalled USR1 >text
    grep -qE "^$1 +$1 +[1-9][0-9]{$(($2 - 1)),}" text || { cat text; return 1; }
}
check "SIGUSR1 shows how often stages have fired" shows twice.total 4
check "a time limit ends the run" says 5 'time limit' "$PIPERUN" "${gpu[@]}" --timeout 0.2 endless.pbc y=null

# ---- measured runs ----

cat >kinds.pipe <<'END'
kernel twice(in i32 x, out i32 y) { y <- x + x; }
kernel some(in i32 x, out i32 y push 0..2) { if (x % 3 > 0) y <- x; if (x % 3 > 1) y <- x; }
kernel mean(in i32 x peek 3, out i32 y) { y <- (x[0] + x[1] + x[2]) / 3; }
kernel sum(in i32 x, out i32 y) { state i32 s; s += x; y <- s; finish { y <- 0 - s; } }
kernel until(in i32 x, out i32 y) { if (x > 30000) stop; y <- x; }
pipeline main(in i32 x, out i32 y) { buffer i32 few depth 300; x -> twice -> few; few -> until -> some -> mean -> sum -> y; }
END
"$PIPEC" --device=cuda --no-fuse kinds.pipe -o kinds.pbc
for device in cpu:1 cuda-emulated; do
    "$PIPERUN" -q --device $device --stats=json:$device.json --trace=$device.trace kinds.pbc x=gen:ramp:50000 y=null
done
counts() {
    python3 - <<'END'
import json
def read(device):
    r = json.load(open(device + ".json"))
    return ([(s["name"], s["firings"]) for s in r["stages"]], [(o["buffer"], o["firings"], o["packets"]) for o in r["outputs"]],
            [(b["name"], b["packets"]) for b in r["buffers"]], r["time"])
cpu, gpu = read("cpu:1"), read("cuda-emulated")
assert cpu == gpu, (cpu, gpu)
END
}
check "a measured run counts what a processor counts" counts
# Each launch of a stage is in the timeline, within its time and after the one before; their firings are all firings.
timeline() {
    python3 - <<'END'
import json
r, last = json.load(open("cuda-emulated.json")), 0
events = [e for e in json.load(open("cuda-emulated.trace"))["traceEvents"] if "packet" in e.get("args", {})]
assert len(events) > 300 and all(e["ph"] == "X" for e in events)
for e in events:
    a = e["args"]
    assert a["enqueued_cycles"] <= a["begin_cycles"] <= a["end_cycles"] <= r["total_cycles"], a
    assert last <= a["end_cycles"], a
    last = a["end_cycles"]
for s in r["stages"]:
    mine = [e["args"] for e in events if e["name"] == s["name"]]
    assert sum(a.get("firings", 0) for a in mine) == s["firings"], s
    assert sum(a["execute_cycles"] for a in mine) == s["execute_cycles"] > 0, s
    assert sum(s["stalls"].values()) + s["execute_cycles"] <= r["total_cycles"], s
END
}
check "its timeline has all launches in order" timeline
faulty_stats() { "$PIPERUN" "${gpu[@]}" --stats faulty.pbc x=gen:ramp:20000 y=null; }
check "a fault in a measured run" says 4 'divided by zero in firing 5000' faulty_stats
check "Ctrl-C in a measured run publishes statistics" says 0 'twice.total +[0-9]+ +[1-9][0-9]+' signalled INT --stats
check "a time limit in a measured run" says 5 'time limit' "$PIPERUN" "${gpu[@]}" --stats --timeout 0.2 endless.pbc y=null

# ---- sub-devices are sets of multiprocessors ----

cat >apart.pipe <<'END'
kernel scale(in i32 x, out i32 y; i32 by) { y <- by * x; }
kernel odd(in i32 x, out i32 y push 0..1) { if (x % 2 != 0) y <- x; }
kernel total(in i32 x, out i32 y) { state i32 s; s += x; y <- s; }
pipeline main(in i32 x, out i32 y, out i32 z) {
    buffer i32 a;
    x -> scale(3) -> a;
    a -> scale(5) -> odd -> y;
    a -> scale(7) -> total -> z;
}
END
for layout in sequence side-by-side groups; do
    "$PIPEC" --device=cuda --no-fuse --layout=$layout apart.pipe -o $layout.pbc
    same_apart() {
        "$PIPERUN" --device cpu:1 "$layout.pbc" x=gen:ramp:50000 y=y.cpu.raw z=z.cpu.raw &&
            "$PIPERUN" "${gpu[@]}" "$@" "$layout.pbc" x=gen:ramp:50000 y=y.gpu.raw z=z.gpu.raw && cmp y.cpu.raw y.gpu.raw && cmp z.cpu.raw z.gpu.raw
    }
    check "the bits are the same, $layout" same_apart
    check "and on a part of the GPU" same_apart --partition 'by-counts 2 2' --sub-device 1
done
check "the scheduler and the kernels need two multiprocessors" says 6 'a sub-device of one multiprocessor is too small for a run' \
    "$PIPERUN" "${gpu[@]}" --partition 'equally 1' --sub-device 1 main.pbc x=gen:ramp:8 y=null

# ---- kernels that launch kernels ----

cat >trees.pipe <<'END'
child kernel leaf(in i32 x, out i32 y; i32 v) { if (v % 3 > 0) y <- v + x; }
child kernel parts(in i32 x, out i32 y) group 4 groups 5 { if (item.x == 0) y <- 10 * item.groups + item.group; }
child kernel split(in i32 x, out i32 y; i32 v) {
    if (v > 1) {
        event e = launch split(v / 2) with parent;
        launch leaf(v) after group;
        launch leaf(v + 1) after e;
        if (done(e)) y <- -v;
        launch parts() groups 1 + v % 3 after parent;
    } else y <- v;
}
kernel free(in i32 x, out i32 y) nesting 9 { launch split(x & 63); y <- x; }
kernel ordered(in i32 x, out i32 y) nesting 9 { state i32 s; s += x & 31; launch split(s & 63); y <- s; }
kernel failing(in i32 x, out i32 y) { state i32 s; s++; launch over(s); y <- x; }
child kernel over(in i32 x, out i32 y; i32 s) { y <- 1000 / (s - 777); }
pipeline main(in i32 x, out i32 y, out i32 z) { free(x -> y); ordered(x -> z); }
pipeline fails(in i32 x, out i32 y) { x -> failing -> y; }
END
for options in --layout=sequence --layout=side-by-side --buffers=min; do
    "$PIPEC" --device=cuda --min-level=error $options -p main trees.pipe -o trees.pbc
    same_trees() {
        "$PIPERUN" --device cpu:1 trees.pbc x=gen:ramp:300 y=y.cpu.raw z=z.cpu.raw &&
            "$PIPERUN" "${gpu[@]}" trees.pbc x=gen:ramp:300 y=y.gpu.raw z=z.gpu.raw && cmp y.cpu.raw y.gpu.raw && cmp z.cpu.raw z.gpu.raw &&
            [ "$(wc -c <y.gpu.raw)" -gt 8000 ]
    }
    check "children in all orders, of several work-groups, with done, below firings with state: the same bits, $options" same_trees
done
"$PIPEC" --device=sim16 --min-level=error -p main trees.pipe -o trees.sim.pbc
child_rows() {
    "$PIPERUN" -q --stats=json:sim.json trees.sim.pbc x=gen:ramp:300 y=null z=null &&
        "$PIPERUN" -q "${gpu[@]}" --stats=json:gpu.json trees.pbc x=gen:ramp:300 y=null z=null && python3 - <<'END'
import json
sim, gpu = (json.load(open(name + ".json")) for name in ("sim", "gpu"))
counts = lambda r: [[c[key] for key in ("kernel", "line", "launches", "groups", "level_most")] for c in r["children"]]
assert counts(sim) == counts(gpu) and len(counts(gpu)) == 3, (counts(sim), counts(gpu))
for key in ("launches", "groups", "levels_most"):
    assert sim["device_queue"][key] == gpu["device_queue"][key] > 0, key
for key in ("cycles", "wait_cycles"):
    assert gpu["device_queue"][key] == sum(c[key] for c in gpu["children"]), key
# Four workers execute bodies: not longer than their stages' launches take.
executed = sum(s["execute_cycles"] for s in gpu["stages"])
assert 0 < gpu["device_queue"]["cycles"] <= 4 * executed, (gpu["device_queue"], executed)
for c in gpu["children"]:
    assert 0 < c["longest_cycles"] <= c["cycles"], c
END
}
check "children in reports: counts of a simulated device, times of the GPU" child_rows
"$PIPEC" --device=cuda --min-level=error -p fails trees.pipe -o fails.pbc
check "a fault in a child has kernel, firing and line" says 4 "'failing'.* divided by zero.* firing 776" \
    "$PIPERUN" "${gpu[@]}" fails.pbc x=gen:ramp:2000 y=fails.raw
check "and leaves no output" [ ! -e fails.raw ]

# ---- debug mode ----

# A launch of one firing is slow, so there are few of them.
sed 's/5000/300/' p.pipe >few.pipe
for pipeline in main faulty endless; do "$PIPEC" --device=cuda --debug-mode -p $pipeline few.pipe -o $pipeline.debug.pbc; done
"$PIPEC" --device=cuda --debug-mode kinds.pipe -o kinds.debug.pbc
"$PIPEC" --device=cuda --debug-mode --min-level=error -p main trees.pipe -o trees.debug.pbc
same_debugged() {
    "$PIPERUN" -q --device cpu:1 kinds.debug.pbc x=gen:ramp:800 y=kinds.cpu.raw &&
        "$PIPERUN" -q "${gpu[@]}" --stats=json:debug.json --trace=debug.trace kinds.debug.pbc x=gen:ramp:800 y=kinds.gpu.raw &&
        cmp kinds.cpu.raw kinds.gpu.raw && "$PIPERUN" -q "${gpu[@]}" kinds.pbc x=gen:ramp:800 y=kinds.raw && cmp kinds.raw kinds.gpu.raw
}
check "debug mode: the same bits" same_debugged
# One firing for each launch, which begins after the end of the one before; depths are those of the plan.
one_at_a_time() {
    "$PIPEC" inspect --json kinds.debug.pbc >plan.json
    python3 - <<'END'
import json
events = [e["args"] for e in json.load(open("debug.trace"))["traceEvents"] if "packet" in e.get("args", {})]
assert len(events) > 2000, len(events)
last = 0
for a in events:
    assert a.get("firings", 1) == 1 and last <= a["begin_cycles"] <= a["end_cycles"], (last, a)
    last = a["end_cycles"]
depths = lambda buffers: {b["name"]: b["depth_packets"] for b in buffers if b["name"] not in ("x", "y")}
assert depths(json.load(open("debug.json"))["buffers"]) == depths(json.load(open("plan.json"))["buffers"])
END
}
check "one kernel at a time, one firing at a time, with the smallest buffers" one_at_a_time
trees_debugged() {
    "$PIPERUN" "${gpu[@]}" trees.debug.pbc x=gen:ramp:300 y=y.gpu.raw z=z.gpu.raw && cmp y.cpu.raw y.gpu.raw && cmp z.cpu.raw z.gpu.raw
}
check "kernels that launch kernels" trees_debugged
check "a fault has kernel, firing and line in debug mode" says 4 "kernel 'careful'.* divided by zero in firing 300" \
    "$PIPERUN" "${gpu[@]}" faulty.debug.pbc x=gen:ramp:800 y=faulty.raw
check "and leaves no output" [ ! -e faulty.raw ]
check "a time limit ends a run in debug mode" says 5 'time limit' "$PIPERUN" "${gpu[@]}" --timeout 0.2 endless.debug.pbc y=null
endless=endless.debug.pbc check "SIGUSR1 shows the state in debug mode" shows total 1
cat >short.pipe <<'END'
kernel split(in i32 x, out i32 a, out i32 b) { a <- x; b <- x; }
kernel slow(in i32 x pop 4, out i32 y push 4) { for (i32 i = 0; i < 4; i += 1) y <- x[i]; }
kernel join(in i32 a, in i32 b, out i32 y) { y <- a + b; }
pipeline main(in i32 x, out i32 y) { buffer i32 a; buffer i32 b depth 2; buffer i32 c; split(x -> a, b); slow(a -> c); join(c, b -> y); }
END
"$PIPEC" inspect --device=cuda --trace-deadlock=short.pbc short.pipe >/dev/null 2>&1 || true
for device in cpu:1 cuda-emulated; do
    "$PIPERUN" --replay --device $device short.pbc >"replay.$device" 2>&1 || echo "exit status $?" >>"replay.$device"
done
replayed() { cmp replay.cpu:1 replay.cuda-emulated && grep -q "'split' waits for room in 'b'" replay.cuda-emulated && grep -qx 'exit status 5' replay.cuda-emulated; }
check "a deadlock is replayed firing by firing" replayed

# ---- refusals ----

for container in main main.debug; do
    debugged() { echo run | "$PIPERUN" --debug "${gpu[@]}" "$container".pbc x=gen:ramp:8 y=null; }
    check "the debugger, $container" says 6 "device 'cuda-emulated': the debugger cannot stop or step the scheduler on a GPU.*--device cpu" debugged
done
check "packets of dispatches" says 6 'cannot be given packets of a form' "$PIPERUN" "${gpu[@]}" --dispatch=full main.pbc x=gen:ramp:8 y=null
"$PIPEC" --march=x86-64-v3 -p main p.pipe -o processors.pbc
check "a container for processors only" says 6 'no image for GPUs: .*--march=x86-64-v3,sm_80' "$PIPERUN" "${gpu[@]}" processors.pbc x=gen:ramp:8 y=null
if [ ! -e /dev/nvidiactl ]; then
    check "a part of a GPU that is not there" says 6 "device 'cuda': " \
        "$PIPERUN" --device h100 --partition 'equally 4' --sub-device 1 main.pbc x=gen:ramp:8 y=null
    for device in cuda cuda:0 h100; do
        check "$device without a driver" says 6 "device 'cuda': (NVIDIA's driver is not installed|this machine has no NVIDIA GPU).*--device cpu" \
            "$PIPERUN" --device $device main.pbc x=gen:ramp:8 y=null
    done
fi

# ---- the scheduler as PTX ----

ptx=$(dirname "$PIPERUN")/gen/resident.ptx
check "a build without clang leaves it out, and says so" says 0 'no clang for GPUs, so the device cuda is left out' \
    make -s -C "$ROOT" VARIANT=release GPU_CLANG= BUILD="$TMP/build" "$TMP/build/release/gen/resident.ptx"
if [ -s "$ptx" ]; then
    check "it calls the kernels and nothing else" [ "$(grep '^\.extern' "$ptx" | grep -cv pipe_call)" = 0 ]
    check "one kernel" [ "$(grep -c '\.entry' "$ptx")" = 1 ]
    check "no load goes past coherence" [ "$(grep -c 'ld\.global\.nc' "$ptx")" = 0 ]
    check "and it has no code for packets of dispatches" [ "$(grep -c 'dispatch_' "$ptx")" = 0 ]
    "$PIPEC" --device=cuda --min-level=error -p main --emit=ptx:trees.ptx trees.pipe
    # The stack of a level is computed as that of a chain in which no function occurs twice (cuda_frames.h).
    no_recursion() {
        python3 - "$ptx" trees.ptx <<'END'
import re, sys
calls, indirect, function = {}, set(), None
for path in sys.argv[1:]:
    for line in open(path):
        if found := re.match(r"(?:\.visible |\.weak )?\.(?:func|entry)\s+(?:\(.*?\)\s*)?(\w+)", line):
            function = found[1]
            calls.setdefault(function, set())
        elif found := re.match(r"\s*call(?:\.uni)?\s+(?:\(.*?\),\s*)?(%?)(\w+)", line):
            (indirect.add(function) if found[1] else calls[function].add(found[2]))
def walk(function, above):
    assert function not in above, above + [function]
    for callee in calls.get(function, ()):
        assert not (function.startswith("pipe_k") and callee.startswith("pipe_k")), (function, callee)
        walk(callee, above + [function])
for function in calls:
    walk(function, [])
assert calls["ask_tree_done"] and len(calls["pipe_call"]) >= 5, calls
assert indirect and all(name.startswith("pipe_k") for name in indirect), indirect # they ask done
END
    }
    check "only bodies that ask done call what has called them" no_recursion
    cuda=$(dirname "$(command -v nvlink || echo /usr/local/cuda/bin/nvlink)")
    if [ -x "$cuda/nvlink" ] && [ -x "$cuda/ptxas" ]; then
        "$PIPEC" --device=cuda -p main --emit=ptx:kernels.ptx p.pipe
        links() {
            "$cuda/ptxas" -arch="$1" -c "$ptx" -o scheduler.o && "$cuda/ptxas" -arch="$1" -c kernels.ptx -o kernels.o &&
                "$cuda/nvlink" -arch="$1" scheduler.o kernels.o -o all.cubin
        }
        check "it becomes one program with the kernels" links sm_90
    else
        echo "skip it becomes one program with the kernels: ptxas and nvlink are not installed"
    fi
else
    echo "skip the scheduler as PTX: it was built without clang"
fi
