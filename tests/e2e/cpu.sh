#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The host's cores: partitions over made-up topologies, and containers of any device on any number of threads.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

# ---- cores, caches, memory ----

# rows TOPOLOGY WORDS...: sub-device, CUs and which of each row.
rows() { HWLOC_SYNTHETIC=$1 "$PIPERUN" partition "${@:2}" | awk 'NR > 1 { print $1, $2, $3 }' | tr '\n' ';'; }
# is NAME WANTED FOUND
is() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: found '$3'"; fi; }
two='numa:2 l3:2 l2:2 core:2 pu:2'
is "compute units are cores, not threads of them" 'cpu 16 0-15;' "$(rows "$two" cpu)"
is "memory" 'cpu 16 0-15;0 8 0-7;1 8 8-15;' "$(rows "$two" cpu by-affinity numa)"
is "caches" 'cpu 16 0-15;0 4 0-3;1 4 4-7;2 4 8-11;3 4 12-15;' "$(rows "$two" cpu by-affinity l3)"
is "what is next" 'cpu 16 0-15;0 8 0-7;1 8 8-15;0.0 4 0-3;0.1 4 4-7;1.0 4 8-11;1.1 4 12-15;' \
    "$(rows "$two" cpu by-affinity next / by-affinity next)"
is "a part of the cores" 'cpu:6 6 0-5;0 4 0-3;1 2 4-5;' "$(rows "$two" cpu:6 by-affinity l3)"
is "equally" 'cpu 16 0-15;0 6 0-5;1 6 6-11;- 4 12-15;' "$(rows "$two" cpu equally 6)"
is "by counts" 'cpu:4 4 0-3;0 1 0;1 3 1-3;' "$(rows "$two" cpu:4 by-counts 1 3)"
is "more threads than cores" 'cpu:40 40 0-39;0 20 0-19;1 20 20-39;' "$(rows "$two" cpu:40 equally 20)"
check "which share nothing that is known" says 1 'CL_INVALID_VALUE: the device does not support by-affinity' \
    "$PIPERUN" partition cpu:256 by-affinity next
check "no such level" says 1 'CL_INVALID_VALUE: the device has no level L4' env HWLOC_SYNTHETIC="$two" "$PIPERUN" partition cpu by-affinity l4
check "the list has them" says 0 '^cpu +16 .* equally, by-counts, by-affinity \(numa l3 l2\)$' env HWLOC_SYNTHETIC="$two" "$PIPERUN" --list-devices
echo 'kernel copy(in f32 x, out f32 y) { y <- x; } pipeline any(in f32 x, out f32 y) { x -> copy -> y; }' >any.pipe
"$PIPEC" any.pipe -o any.pbc
for name in cpu:0 cpu:x cpu: cpu:-1 cpu:257 cpu:10000; do
    for command in "$PIPERUN partition $name" "$PIPERUN --device $name any.pbc x=null y=null" "$PIPEC --device=$name any.pipe"; do
        # shellcheck disable=SC2086 # words of a command
        check "no device $name" says 2 "there is no device '$name': write cpu:N, with N, the threads, from 1 to 256" $command
    done
done
check "no device cpus" says 2 "there is no device 'cpus'; there are: cpu, " "$PIPERUN" partition cpus

# ---- programs ----

cat >mixed.pipe <<'END'
kernel fir(in f32 x peek 9, out f32 y) {
    f32 sum = 0;
    for (i32 i = 0; i < 9; i++) sum = fma(x[i], 0.25, sum);
    y <- sum;
}
kernel keep(in f32 x, out f32 y) { if (x > 0.75) y <- x * 2.0; }
kernel scan(in f32 x, out f32 y) {
    state f32 total = 0;
    total = total + x;
    y <- total;
}
pipeline mixed(in f32 x, out f32 y, out f32 z) {
    buffer f32 a, b;
    x -> fir -> a;
    a -> keep -> b;
    b -> scan -> y;
    b -> fir -> keep -> z;
}
END
# bits CONTAINER OPTION...
bits() { "$PIPERUN" -q "$1" x=gen:noise:5:50000 --hash y --hash z "${@:2}"; }
"$PIPEC" mixed.pipe -o sim16.pbc
bits sim16.pbc >wanted
check "there is something to compare" [ -s wanted ]
for device in sim1 sim16 cpu cpu:2 cpu:7; do
    "$PIPEC" --device=$device --layout=side-by-side mixed.pipe -o "$device.pbc" 2>/dev/null || "$PIPEC" --device=$device mixed.pipe -o "$device.pbc"
    for threads in 1 2 3 8; do
        bits "$device.pbc" --device cpu:$threads >found
        check "$device on $threads threads" cmp wanted found
    done
done
for form in full reference condensed; do
    bits sim16.pbc --device cpu:2 --dispatch=$form >found
    check "$form packets" cmp wanted found
done
check "a source is compiled for this host" says 0 "device 'cpu:2' \(native, by pipec" \
    "$PIPERUN" -v --device cpu:2 mixed.pipe x=gen:noise:5:50000 y=null z=null
bits mixed.pipe --device cpu >found
check "with the same bits" cmp wanted found
bits cpu.pbc >found
check "its own device without being told" cmp wanted found
bits cpu.pbc --host-threads 3 >found
check "so many threads" cmp wanted found
sed 's/sim16/own16/' "$ROOT/lang/devices/sim16.dev" >own16.dev
"$PIPEC" --device own16.dev mixed.pipe -o own.pbc
bits own.pbc --device cpu >found
check "of a description that is not there" cmp wanted found
check "statistics say that time is real" says 0 '^mixed on cpu \(compiled for sim16\): .* of real time; cycles are nanoseconds$' \
    "$PIPERUN" sim16.pbc --device cpu:2 --stats x=gen:noise:5:50000 y=null z=null
"$PIPERUN" -q cpu.pbc --stats=json:stats.json --trace=trace.json x=gen:noise:5:50000 y=null z=null
check "and so do their records" grep -q '"time": "real"' stats.json
check "the records parse" parses stats.json
check "the timeline parses" parses trace.json
if command -v python3 >/dev/null; then
    check "all of a stage's time is accounted for" python3 - <<'END'
import json, sys
run = json.load(open("stats.json"))
for stage in run["stages"]:
    parts = [stage[p + "_cycles"] for p in ("execute", "index", "device_queue", "launch", "switch")]
    if sum(parts) + sum(stage["stalls"].values()) != run["total_cycles"]:
        sys.exit(f"{stage['name']}: {parts} {stage['stalls']} of {run['total_cycles']}")
END
fi

# ---- faults, stalls, interruptions ----

cat >fault.pipe <<'END'
kernel divide(in i32 x, out i32 y) { y <- 1000 / (x - 700); }
pipeline fault(in i32 x, out i32 y) { x -> divide -> y; }
END
"$PIPEC" fault.pipe -o fault.pbc
for threads in 1 2 4; do
    check "the lowest firing's fault, $threads threads" says 4 "firing 700" \
        "$PIPERUN" fault.pbc --device cpu:$threads x=gen:ramp:5000 y=null
done
cat >forever.pipe <<'END'
kernel count(out i32 y) { state i32 n = 0; y <- n; n = n + 1; }
pipeline forever(out i32 y) { count -> y; }
END
"$PIPEC" forever.pipe -o forever.pbc
check "a limit of time" says 5 'gave up|timeout' "$PIPERUN" forever.pbc --device cpu:2 --timeout 0.2 y=null
check "a limit of firings" says 0 ' y$' "$PIPERUN" forever.pbc --device cpu:2 --firings 1000 --hash y

# ---- depths from threads ----

cat >depths.pipe <<'END'
kernel k(in f32 x, out f32 y) { y <- x * 2.0; }
kernel sum(in f32 x, out f32 y) { state f32 s = 0; s = s + x; y <- s; }
pipeline depths(in f32 x, out f32 y) {
    buffer f32 free, declared depth 5000;
    x -> k -> free;
    free -> sum -> declared;
    declared -> k -> y;
}
END
"$PIPEC" --device=cpu --no-fuse depths.pipe -o depths.pbc
# depths CONTAINER OPTION...: of each buffer, depth and planned depth, from the record of a run
depths() {
    "$PIPERUN" -q "$1" --stats=json:stats.json x=gen:noise:5:50000 y=null "${@:2}" || return
    sed -n 's/.*"name": "\([a-z]*\)", "outer.*"depth_packets": \([0-9]*\), "planned_packets": \([0-9]*\).*/\1 \2 \3/p' stats.json
}
# grown FACTOR: buffers without a declared depth are so many times as deep as planned
grown() { awk -v by="$1" '$2 != $3 * ($1 == "declared" ? 1 : by) { bad = 1 } END { exit bad || NR != 4 }'; }
for threads in 1 2 3 8 16; do
    depths depths.pbc --device cpu:$threads >found
    check "depths for $threads threads" grown $((threads == 1 ? 1 : 2 * threads)) <found
    depths depths.pbc --device cpu:$threads --depths=plan >found
    check "depths of the plan on $threads threads" grown 1 <found
done
depths depths.pbc --device cpu:2 --depths=7 >found
check "depths by a number" grown 7 <found
"$PIPEC" --device=sim16 --no-fuse depths.pipe -o simulated.pbc
depths simulated.pbc --host-threads 4 --depths=7 >found
check "depths of a simulated device stay" grown 1 <found
check "statistics say which memory that takes" says 0 '^depths of 3 buffers grown for 4 host threads: [0-9]+ bytes more than planned$' \
    "$PIPERUN" depths.pbc --device cpu:4 --stats x=gen:noise:5:50000 y=null
"$PIPERUN" depths.pbc --device cpu:1 --stats x=gen:noise:5:50000 y=null >text 2>&1
check "and nothing where none has grown" [ "$(grep -c grown text)" -eq 0 ]
for option in --buffers=min --buffers=fast --debug-mode; do
    "$PIPEC" --device=cpu --no-fuse $option depths.pipe -o chosen.pbc
    depths chosen.pbc --device cpu:8 >found
    check "depths of pipec $option stay" grown 1 <found
done
# inner_bytes: of both inner buffers
inner_bytes() { awk '$1 == "free" || $1 == "declared" { sum += 4 * $2 } END { print sum }'; }
inner=$(depths depths.pbc --device cpu:1 | inner_bytes)
kib=$((inner / 512))
"$PIPEC" --device=cpu --no-fuse --max-memory=${kib}K depths.pipe -o limited.pbc
for option in threads 1000000000; do
    grown=$(depths limited.pbc --device cpu:16 --depths=$option | inner_bytes)
    check "a limit of memory holds with --depths=$option: $inner bytes become $grown" \
        test "$grown" -gt "$inner" -a "$grown" -le $((kib * 1024))
done
more=$(depths depths.pbc --device cpu:2 --depths=1000000000 | awk '{ sum += 4 * ($2 - $3) } END { print sum }')
check "a run takes at most 64 MiB for deeper buffers, and uses that: $more bytes" test "$more" -gt 0 -a "$more" -le $((64 << 20))
"$PIPERUN" -q depths.pbc --device cpu:1 x=gen:noise:5:50000 --hash y >wanted
for option in plan threads 2 3 5 64 1000000000; do
    "$PIPERUN" -q depths.pbc --device cpu:3 --depths=$option x=gen:noise:5:50000 --hash y >found
    check "the same bits with --depths=$option" cmp wanted found
done
check "no depths" says 2 "neither 'plan' nor 'threads' nor a number" "$PIPERUN" depths.pbc --depths=0 x=gen:noise:5:5 y=null

# Nothing writes to the new memory before its packets, so that it comes to lie near the thread that uses it first.
${CC:-cc} -std=c11 -O1 -D_GNU_SOURCE -o within "$ROOT/tests/limit/within.c"
# peak DEPTHS PACKETS: the largest memory of a run, in MiB
peak() { ./within 60 2000 "$PIPERUN" -q depths.pbc --device cpu:2 --depths="$1" x=gen:noise:5:"$2" y=null 3>&1 >/dev/null | cut -d' ' -f3; }
planned=$(peak plan 10)
[ "$VARIANT" = tsan ] || check "memory of deeper buffers is not touched before their packets" [ "$(peak 1000000000 10)" -le $((planned + 2)) ]
check "but by their packets" [ "$(peak 1000000000 5000000)" -ge $((planned + 8)) ]

# ---- queues of connected stages ----

cat >pairs.pipe <<'END'
kernel a(in f32 x, out f32 y) { state f32 z = 0; z = z * 0.5 + x; y <- z; }
kernel b(in f32 x, out f32 y) { state f32 z = 0; z = z * 0.25 + x; y <- z; }
pipeline pairs(in f32 x[6], out f32 y[6]) { for (int i = 0; i < 6; i++) x[i] -> a -> b -> y[i]; }
END
"$PIPEC" --device=cpu --no-fuse pairs.pipe -o pairs.pbc
# a and b of each pair on one queue, three pairs on each of two queues
"$PIPERUN" disasm pairs.pbc | sed '/^#/d' | awk '$1 == "bind" { $3 = int($2 / 2) % 2; $2 = $2 + 0 "," } { print }' >pairs.sasm
"$PIPERUN" asm pairs.sasm --into pairs.pbc -o bound.pbc
bound_ports=$(for i in 0 1 2 3 4 5; do echo "x[$i]=gen:noise:$i:100000" --hash "y[$i]"; done)
# queues OPTION...: the queue of each stage
queues() {
    # shellcheck disable=SC2086 # words of a command
    "$PIPERUN" -q bound.pbc $bound_ports --stats=json:stats.json "$@" >hashes
    sed -n '/"stages"/,/"buffers"/s/.*"queue": \([0-9]*\).*/\1/p' stats.json
}
# pairs_of: how many queues there are, and how many pairs have one queue
pairs_of() { awk '{ seen[$1] = 1; if (NR % 2 == 0) same += $1 == last; last = $1 } END { print length(seen), same }'; }
for threads in 1 2 8; do
    is "pairs that nothing connects have a queue each, $threads threads" '6 6' "$(queues --device cpu:$threads | pairs_of)"
    [ -e wanted.pairs ] || mv hashes wanted.pairs
    [ "$threads" -eq 1 ] || check "and the same bits, $threads threads" cmp wanted.pairs hashes
done
is "packets of a given form go to the queues of the program" '2 6' "$(queues --device cpu:2 --dispatch=full | pairs_of)"
check "with the same bits" cmp wanted.pairs hashes

# ---- names for profilers ----

named() { # the functions of stages, in a file that stays
    printf 'kernel doubled(in i32 x, out i32 y) { y <- 2 * x; }\npipeline main(in i32 x, out i32 y) { x -> doubled -> y; }\n' >named.pipe
    mkdir -p images && "$PIPEC" --device cpu named.pipe -o named.pbc &&
        PIPERT_IMAGE_FOLDER="$TMP/images" "$PIPERUN" -q --device cpu named.pbc x=gen:ramp:8 y=null &&
        [ "$(find images -name 'pipec-*.so' | wc -l)" -eq 1 ] && nm images/*.so >names && grep -q ' t doubled\.k0\.run$' names
}
check "a profiler finds the names of kernels in a file" named
check "a folder that is not there" says 2 "PIPERT_IMAGE_FOLDER: cannot create 'none/pipec-" env PIPERT_IMAGE_FOLDER=none \
    "$PIPERUN" --device cpu named.pbc x=gen:ramp:8 y=null
