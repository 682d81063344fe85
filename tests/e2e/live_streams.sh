#!/bin/bash
# SPDX-License-Identifier: MIT
# Eager ports: a packet in, its packets out, without a packet more.  The partner sends the next line when it has the answer to
# the one before, so a run that waits for more would wait for ever.
# shellcheck disable=SC2317 # functions are called through check
set -u
latency=
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
command -v python3 >/dev/null || { echo "there is no python3"; exit 77; }

kernels='
kernel scale(in i32 x, out i32 y; i32 by) { y <- by * x; }
kernel sum3(in i32 x peek 3, out i32 y) { y <- x[0] + x[1] + x[2]; }
kernel add(in i32 a, in i32 b, out i32 y) { y <- a + b; }
kernel pair(in i32 x pop 2, out i32 y) { y <- x[0] - x[1]; }
kernel positive(in i32 x, out i32 y push 0..1) { if (x > 0) y <- x; }
kernel twice(in i32 x, out i32 y push 2) { y <- x; y <- -x; }
kernel count(out i32 y) { state i32 n; y <- n++; }
kernel total(in i32 x, out i32 y push 0..1) { state i32 n; n += x; finish push 1 { y <- n; } }
kernel until(in i32 x, out i32 y push 0..1; i32 n) { if (x == n) stop; y <- x; }
kernel check(in i32 x, out i32 y) { y <- 60 / x; }
'
ways=("" "--no-fuse")
[ -z "${LONG-}" ] || ways+=("--no-fuse --policy=fullest" "--no-fuse --policy=priority")
# answers NAME PIPELINE SCRIPT: compiled with and without fusion, and run with 4 and with 1 thread; with LONG both with both, and with
# policies.
answers() {
    local name=$1 options device
    { echo "$kernels"; echo "$2"; } >"$name.pipe"
    echo "$3" >"$name.script"
    for options in "${ways[@]}"; do
        # shellcheck disable=SC2086 # they are words
        "$PIPEC" --device=cpu $options "$name.pipe" -o "$name.pbc" || return 1
        for device in $(if [ -n "${LONG-}" ]; then echo cpu:1 cpu:4; elif [ -n "$options" ]; then echo cpu:1; else echo cpu:4; fi); do
            python3 "$ROOT/tests/e2e/live_partner.py" "$PIPERUN" -q --device "$device" ${latency:+"--latency=$latency"} "$name.pbc" <"$name.script" && continue
            echo "$name: $options, on $device"
            return 1
        done
    done
}
check "a fused chain" answers chain 'pipeline main(in i32 x, out i32 y) { x -> scale(2) -> scale(3) -> y; }' '
> x 1
< y 6
> x 2
< y 12
> x 3 4
< y 18 24
exit 0'
check "a window" answers window 'pipeline main(in i32 x, out i32 y) { x -> scale(1) -> sum3 -> y; }' '
> x 1 2 3
< y 6
> x 4
< y 9
> x 5
< y 12
exit 0'
check "a kernel of two inputs that come in turns" answers turns 'pipeline main(in i32 p, in i32 q, out i32 y) { add(p, q -> y); }' '
> p 1
> q 10
< y 11
> q 20
> p 2
< y 22
> p 3 4 5
> q 30
< y 33
> q 40
< y 44
. p
> q 50
< y 55
exit 0'
check "two chains that know nothing of each other" answers two 'pipeline main(in i32 p, in i32 q, out i32 y, out i32 z) { p -> scale(2) -> y; q -> scale(3) -> z; }' '
> p 1
< y 2
> p 2
< y 4
> q 1
< z 3
. p
> q 2
< z 6
exit 0'
check "the answer of one chain is the input of the other one" answers around 'pipeline main(in i32 p, in i32 q, out i32 y, out i32 z) { p -> scale(2) -> y; q -> sum3 -> z; }' '
> p 1
< y 2
> q 2 2 2
< z 6
> p 6
< y 12
> q 12
< z 16
exit 0'
check "a decimator" answers decimator 'pipeline main(in i32 x, out i32 y) { x -> scale(1) -> pair -> y; }' '
> x 9 4
< y 5
> x 7
> x 1
< y 6
exit 0'
check "bounded rates" answers bounded 'pipeline main(in i32 x, out i32 y) { x -> positive -> twice -> y; }' '
> x -1 -2 5
< y 5 -5
> x -3
> x 6
< y 6 -6
exit 0'
check "a cycle" answers cycle 'pipeline main(in i32 x, out i32 y) { buffer i32 back init 1 x 0; buffer i32 sum; add(x, back -> sum); scale(sum -> back; 1); scale(sum -> y; 1); }' '
> x 1
< y 1
> x 2
< y 3
> x 3
< y 6
exit 0'
check "a source beside it, which never ends by itself" answers source 'pipeline main(in i32 x, out i32 y) { buffer i32 n; count( -> n); add(x, n -> y); }' '
> x 10
< y 10
> x 20
< y 21
> x 30
< y 32
exit 0'
check "a finish" answers finishing 'pipeline main(in i32 x, out i32 y, out i32 z) { buffer i32 a; scale(x -> a; 1); total(a -> y); scale(a -> z; 1); }' '
> x 1
< z 1
> x 2
< z 2
. x
< y 3
exit 0'
check "a stop ends the run although the in-port goes on" answers stopping 'pipeline main(in i32 x, out i32 y) { buffer i32 a; scale(x -> a; 1); until(a -> y; 3); }' '
> x 1 2
< y 1 2
> x 3
. x
exit 0'
check "a fault ends the run although the in-port goes on" answers faulting 'pipeline main(in i32 x, out i32 y) { x -> check -> y; }' '
> x 1 2
< y 60 30
> x 0
exit 4'

# One static schedule for all of the pipeline, which asks for whole iterations.
printf '%s\npipeline main(in i32 x, out i32 y) { x -> scale(2) -> sum3 -> pair -> y; }\n' "$kernels" >static.pipe
"$PIPEC" --device=cpu --no-fuse static.pipe -o static.pbc
has_static_part() { "$PIPERUN" disasm static.pbc | grep -Eq 'has_packets 0, 0, [0-9]{3,},'; }
check "there is a static part" has_static_part
check "a static part" answers static 'pipeline main(in i32 x, out i32 y) { x -> scale(2) -> sum3 -> pair -> y; }' '
> x 1 2 3 4
< y -6
> x 5 5
< y -4
exit 0'

# Packets may rest, but not for ever.
latency=2ms
check "packets that rest come out in time" answers resting 'pipeline main(in i32 p, in i32 q, out i32 y) { add(p, q -> y); }' '
> p 1
> q 10
< y 11
> q 20 30
> p 2 3
< y 22 33
exit 0'
latency=3600s
check "the end of a stream ends their rest" answers ending 'pipeline main(in i32 x, out i32 y) { x -> scale(2) -> sum3 -> y; }' '
> x 1 2 3
. x
< y 12
exit 0'
latency=
check "a latency has a unit" says 2 "'5' is not a time" "$PIPERUN" --latency=5 resting.pbc
check "a latency has a limit" says 2 "'3601s' is not a time" "$PIPERUN" --latency=3601s resting.pbc

# A reader of one output that waits does not stop the other chain, however many packets it leaves.
slow_reader() {
    local got
    printf '%s\npipeline main(in i32 p, in i32 q, out i32 y, out i32 z) { p -> scale(2) -> y; q -> scale(3) -> z; }\n' "$kernels" >slow.pipe
    "$PIPEC" --device=cpu slow.pipe -o slow.pbc || return 1
    mkfifo p q y z
    timeout 60 "$PIPERUN" -q --device cpu:2 slow.pbc p=p,raw q=q,csv y=y,raw z=z,csv &
    head -c 40000000 /dev/zero >p &
    exec 8>q 7<y 9<z
    echo 5 >&8
    read -r -t 50 got <&9 && [ "$got" = 15 ] || return 1
    [ "$(head -c 40000000 <&7 | wc -c)" -eq 40000000 ] || return 1
    exec 8>&- && wait
}
check "a reader of one output that waits does not stop the other chain" slow_reader

# In the statistics a stage that waits for an eager port waits for its packets.
statistics() {
    python3 "$ROOT/tests/e2e/live_partner.py" "$PIPERUN" -q --device cpu:1 --stats=json:stats.json chain.pbc <chain.script &&
        grep -Eq '"stalls": \{"packets": [1-9]' stats.json
}
check "the statistics say which packets a stage waits for" statistics
