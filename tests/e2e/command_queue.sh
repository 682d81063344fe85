#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Command queues with kernels that pipec has compiled, of every kind: a command computes what a run of a pipeline with nothing
# but that kernel computes, bit for bit, in as many cycles as its launch takes there.
set -u
case $VARIANT in release | debug) ;; *) echo "not with a sanitized library"; exit 77 ;; esac
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
read -ra libraries <<<"$(pkg-config --libs libxxhash hwloc)"
${CC:-cc} -std=c11 -D_GNU_SOURCE -I"$ROOT" -I"$ROOT/runtime/host" -Wall -Wextra -Werror -O1 -o command_queue "$ROOT/tests/e2e/command_queue.c" \
    "$BUILD/libpipert.a" "${libraries[@]}" -pthread -lm -ldl || exit 1

cat >kernels.pipe <<'END'
kernel plain(in i32 x, out i32 y; i32 by) { y <- x * by + 1; }
kernel counted(in i32 x, out i32 y) {
    i32 n = 0;
    for (i32 i = 0; i < (x & 31); i++) n += i * x;
    y <- n;
}
kernel some(in i32 x, out i32 y push 0..1) { if (x > 0) y <- x; }
kernel uneven(in i32 x pop {3, 1}, out i32 y push {1, 2}) {
    if (phase == 0) {
        y <- x[0] + x[1] + x[2];
    } else {
        y <- x;
        y <- -x[0];
    }
}
kernel sums(in i32 x, out i32 y; i32 by) {
    table i32 start[4];
    state i32 sum = 0;
    init { for (i32 i = 0; i < 4; i++) start[i] = i * by; sum = start[3]; }
    sum += x + start[x & 3];
    y <- sum;
}
kernel turned(in i32 x pop 64, out i32 y push 64) group 8x8 {
    local i32 tile[8][8];
    tile[item.y][item.x] = x[item.y * 8 + item.x];
    barrier();
    y <- tile[item.x][item.y];
}
kernel peeks(in i32 x peek 5, out i32 y) { y <- x[0] + x[4]; }
kernel divided(in i32 x, out i32 y) { y <- 100 / x; }
kernel numbers(out i32 y) { state i32 n = 0; if (n == 40) stop; y <- n; n++; }
kernel blurred(in u8 x window 3x3, out u8 y) { y <- x[0][0]; }
child kernel inner(in i32 x, out i32 y; i32 n) { y <- n; }
kernel launching(in i32 x, out i32 y) { if (x > 0) launch inner(x); }
pipeline p_plain(in i32 x, out i32 y; i32 by = 3) { x -> plain(by) -> y; }
pipeline p_counted(in i32 x, out i32 y) { x -> counted -> y; }
pipeline p_some(in i32 x, out i32 y) { x -> some -> y; }
pipeline p_uneven(in i32 x, out i32 y) { x -> uneven -> y; }
pipeline p_sums(in i32 x, out i32 y; i32 by = 3) { x -> sums(by) -> y; }
pipeline p_turned(in i32 x, out i32 y) { x -> turned -> y; }
pipeline p_peeks(in i32 x, out i32 y) { x -> peeks -> y; }
pipeline p_divided(in i32 x, out i32 y) { x -> divided -> y; }
pipeline p_numbers(out i32 y) { numbers -> y; }
pipeline p_blurred(in u8 x frame 8x8, out u8 y frame 8x8) { x -> blurred -> y; }
pipeline p_both(in i32 x, out i32 y; i32 by = 3) { x -> counted -> plain(by) -> y; }
pipeline p_launching(in i32 x, out i32 y) { x -> launching -> y; }
END
# 640 numbers, none of them 0, of both signs
"$PIPEC" -q -o noise.pbc /dev/stdin <<'END' || exit 1
kernel draw(out i32 y) {
    state i32 n = 0;
    if (n == 640) stop;
    y <- (n * 1103515245 + 12345 >> 8) | 1;
    n++;
}
pipeline noise(out i32 y) { draw -> y; }
END
"$PIPERUN" -q noise.pbc y=x.raw || exit 1

# field NAME: a number of the stage in the statistics of the run
field() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" stats.json | head -n 1; }

# same KERNEL DEVICE FIRINGS PACKETS ROOM [FINISHED]: FINISHED is the number of firings that end
same() {
    local kernel=$1 device=$2 firings=$3 packets=$4 room=$5 ended=${6-$3} ports=()
    [ "$packets" = 0 ] || ports=(x=part.raw)
    head -c $((packets * 4)) x.raw >part.raw
    "$PIPEC" -q --no-fuse --device "$device" -p "p_$kernel" kernels.pipe -o "$kernel.pbc" &&
        "$PIPERUN" -q "$kernel.pbc" "${ports[@]}" y=run.raw --stats=json:stats.json || return 1
    ./command_queue "$kernel.pbc" "$device" "$kernel" "$firings" "$packets" "$room" <x.raw >command.raw 2>told || { cat told; return 1; }
    cmp run.raw command.raw || return 1
    read -r did execute _ <told
    [ "$did" = "$ended" ] || { echo "$did firings"; return 1; }
    [ "$device" != cpu ] || return 0
    [ "$(field dispatches)" = 1 ] || { echo "the run has $(field dispatches) launches"; return 1; }
    [ "$(field execute_cycles)" = "$execute" ] || { echo "$execute cycles, the run takes $(field execute_cycles)"; return 1; }
}
for device in sim4 sim16 sim-h100 cpu; do
    check "plain: $device" same plain $device 100 100 100
    check "cost by data: $device" same counted $device 100 100 100
    check "packets by data: $device" same some $device 100 100 100
    check "phases: $device" same uneven $device 80 160 120
    check "table, state and init: $device" same sums $device 100 100 100
    check "work-items: $device" same turned $device 10 640 640
    check "a window that is seen and not consumed: $device" same peeks $device 96 100 96
    check "a source that stops: $device" same numbers $device 50 0 50 40
done
run() { ./command_queue "$@" <x.raw 2>&1 >command.raw | tail -n 1; }
said() { run "${@:2}" >words; grep -Eq "$1" words || { cat words; return 1; }; }
check "an argument" said '^100 ' plain.pbc cpu plain 100 100 100 by=5
head -c 400 x.raw >part.raw
"$PIPERUN" -q plain.pbc --device cpu -D by=5 x=part.raw y=run.raw
check "has its effect" cmp run.raw command.raw
check "one that there is not" said "pipeline 'p_plain' has no argument 'to'" plain.pbc cpu plain 100 100 100 to=5
"$PIPEC" -q --device sim4 -p p_divided kernels.pipe -o divided.pbc
head -c 2000 x.raw >nulls && head -c 40 /dev/zero >>nulls && cp nulls x.raw
check "a fault says where" said "^kernel 'divided' \(instance at kernels.pipe:[0-9]+\) divided by zero in firing 500 \[division-by-zero\]$" \
    divided.pbc sim4 divided 505 505 505
check "the packets before it are there" test "$(wc -c <command.raw)" = 2000
"$PIPEC" -q --device sim4 -p p_counted kernels.pipe -o counted.pbc
check "more firings than were reserved for" said "depends on data: at most 4096 firings" counted.pbc sim4 counted 5000 5000 5000
# A kernel that counts its cycles leaves nothing to the next command, which does not.
"$PIPEC" -q --no-fuse --device sim4 -p p_both kernels.pipe -o both.pbc && "$PIPEC" -q --device sim4 -p p_plain kernels.pipe -o plain.pbc
alike() { [ "$(run both.pbc sim4 plain 100 100 100)" = "$(run plain.pbc sim4 plain 100 100 100)" ]; }
check "a kernel beside one whose cost depends on data has its own cost" alike
"$PIPEC" -q --device sim4 -p p_launching kernels.pipe -o launching.pbc
"$PIPEC" -q --device sim4 -p p_blurred kernels.pipe -o blurred.pbc
check "kernels that launch kernels are refused" said "launches kernels: it executes only in its pipeline" launching.pbc sim4 launching 4 4 4
check "kernels with windows, too" said "has a 2-D window: it executes only in its pipeline" blurred.pbc sim4 blurred 4 4 4
check "other lanes" said "have 8 lanes; those of 'sim-h100' have 32" launching.pbc sim-h100 launching 4 4 4
