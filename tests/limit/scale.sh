#!/bin/bash
# SPDX-License-Identifier: MIT
# Large pipelines of every shape: what is found is exact, refusals are quick, and neither time nor memory run away.
# `make check-long` takes thirty times as many nodes, kernels and streams of 65,536 ends, and those of 16,384 on both devices.
# Times here are safety nets, twenty times what they should be; `ONLY=scale make bench` measures.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
${CC:-cc} -std=c11 -O1 -o scale_gen "$ROOT/tests/scale/scale_gen.c" || exit 1
${CC:-cc} -D_GNU_SOURCE -o within "$ROOT/tests/limit/within.c" || exit 1
seconds=20 mib=512 nodes=300 readers=4096
[ -z "${LONG-}" ] || nodes=10000 readers=65536
case $VARIANT in asan | tsan) seconds=300 mib=8192 nodes=1000 ;; esac

# examine SHAPE NODES: leaves the object in `object`, messages in `messages`, the status in $status.
examine() {
    ./scale_gen "$1" "$2" 7 >"$1.pipe"
    ./within "$seconds" "$mib" "$PIPEC" inspect --json "$1.pipe" 3>took >object 2>messages </dev/null
    read -r status ms peak <took
}
# count KEY: how often a key of the object is there with a value that is a number
count() { grep -c "^ *\"$1\": [0-9]" object; }

for shape in $(./scale_gen --list); do
    case $shape in
    overflow)
        examine "$shape" $nodes
        check "overflow is refused ($status, $ms ms, $peak MiB)" test "$status" = 1
        check "and says why" grep -q '\[rate-overflow\]' messages
        ;;
    starved)
        examine "$shape" $nodes
        check "a circle of $nodes that waits is refused ($status, $ms ms, $peak MiB)" test "$status" = 1
        check "and says how it is mended" grep -q "declare 'back' with 'init 1 x 0': 1 initial packet is enough" messages
        ;;
    *)
        examine "$shape" $nodes
        check "$shape of $nodes nodes passes ($status, $ms ms, $peak MiB)" test "$status" = 0
        check "$shape of $nodes nodes cannot deadlock" grep -q '"deadlock_free": true' object
        case $shape in
        random | far) [ $nodes -le 1000 ] || examine "$shape" 1000 ;; # the minimum depths of larger ones are found up to a budget
        esac
        check "$shape: all least depths are found" grep -q '"depths": true' object
        check "$shape: and there is one for each buffer" test "$(count depth_min_packets)" = "$(count depth_packets)"
        ;;
    esac
done

# Repetition counts above 10^13, to the last digit: 147^6 at the first, 10 x 160^(5-i) x 147^i at the others.
examine rates 100
sed -n 's/^      "repetitions": \([0-9]*\).*/\1/p' object >counts
awk 'BEGIN {
    for (i = 0; i < 100; i++) {
        up = 0
        if (i > 0) up = int((i - 1) / 6) % 2 == 0 ? (i - 1) % 6 : 5 - (i - 1) % 6
        n = i == 0 ? 147 ^ 6 : 10 * 160 ^ up * 147 ^ (5 - up)
        printf "%.0f\n", n
    }
}' >expected
check "repetition counts of 10^13 are exact" cmp counts expected

# The same arguments, the same bytes; another seed, another graph.
./scale_gen random 100 3 >first && ./scale_gen random 100 3 >second && ./scale_gen random 100 4 >third
check "a seed gives the same graph" cmp -s first second
check "another seed another one" sh -c '! cmp -s first third'

# Thousands of nodes are compiled, loaded, verified and run.
for shape in chain loops hierarchy; do
    ./scale_gen $shape $nodes >"$shape.pipe"
    ./within "$seconds" "$mib" "$PIPEC" "$shape.pipe" -o "$shape.pbc" 3>took 2>messages </dev/null
    read -r status ms peak <took
    check "$shape of $nodes nodes is compiled ($status, $ms ms, $peak MiB)" test "$status" = 0
    ./within "$seconds" 4096 "$PIPERUN" "$shape.pbc" x=gen:ramp:8 y=-,csv 3>took >out 2>messages </dev/null
    read -r status ms peak <took
    check "$shape of $nodes nodes runs ($status, $ms ms, $peak MiB)" test "$status" = 0
    check "$shape: eight packets come out" test "$(grep -c . out)" = 8
done

# Many nodes that read one stream, and one that reads them all: neighbours become stages of bounded size.
cat >total.pipe <<'END'
kernel total(in i32 x[700], out i32 y) {
    i32 sum = 0;
    for (i32 p = 0; p < 700; p++) sum += x[p][0] * (p + 1);
    y <- sum;
}
END
cat total.pipe - >fan.pipe <<'END'
kernel add(in i32 x, out i32 y; i32 by) { y <- x + by; }
pipeline main(in i32 a, out i32 z) {
    buffer i32 b[700];
    for (int i = 0; i < 700; i++) tap: add(a -> b[i]; i);
    total(b -> z);
}
END
./within "$seconds" "$mib" "$PIPEC" --device=cpu fan.pipe -o fan.pbc 3>took 2>messages </dev/null
read -r status ms peak <took
check "a fan of 700 nodes is fused ($status, $ms ms, $peak MiB)" test "$status" = 0
"$PIPERUN" fan.pbc --device cpu:1 a=gen:ramp:2 z=-,csv >out
check "and does what it says" test "$(tr '\n' ' ' <out)" = "114333100 114578450 "

# The attributes that LLVM gets for the parameters of a kernel of 8,192 in-ports take memory in proportion to them.
sed 's/700/8192/' fan.pipe >ways.pipe
./within "$seconds" $((mib / 2)) "$PIPEC" -O0 --no-fuse --policy=round_robin --device=sim1 --emit=llvm ways.pipe 3>took >ways.ll 2>messages </dev/null
read -r status ms peak <took
check "a fan of 8,192 nodes is compiled in memory ($status, $ms ms, $peak MiB)" test "$status" = 0

# As many ends as a port array has elements: written by one kernel, read by another.
cat total.pipe - >wide.pipe <<'END'
kernel spread(in i32 x, out i32 y[700]) {
    for (i32 p = 0; p < 700; p++) y[p] <- x + p;
}
pipeline main(in i32 a, out i32 z) {
    buffer i32 b[700];
    spread(a -> b);
    total(b -> z);
}
END
# widest: on $device.
widest() {
    sed 's/700/65536/' wide.pipe >widest.pipe
    ./within "$seconds" "$mib" "$PIPEC" --device="$device" widest.pipe -o widest.pbc 3>took 2>messages </dev/null
    read -r status ms peak <took
    check "kernels of 65,536 ends are compiled for $device ($status, $ms ms, $peak MiB)" test "$status" = 0
    check "and load" "$PIPERUN" verify widest.pbc
    status=0
    "$PIPERUN" widest.pbc --device "$device" a=gen:ramp:3 z=-,csv >out 2>messages || status=$?
    if [ "$(cat /proc/sys/vm/max_map_count)" -gt 140000 ]; then
        check "and run" test "$(tr '\n' ' ' <out)" = "1431633920 -715816960 1431699456 "
    else
        check "and what they lack to run is said ($status)" grep -q 'of 65538, each of which takes two memory mappings: is vm.max_map_count above 131076?' messages
        check "with the exit status for that" test $status = 2
    fi
}
for device in ${LONG:+sim16} cpu; do
    [ -z "${LONG-}" ] || widest
    sed 's/700/16384/' wide.pipe >wider.pipe
    "$PIPEC" -O0 --device="$device" wider.pipe -o wider.pbc 2>messages
    "$PIPERUN" wider.pbc --device "$device" a=gen:ramp:3 z=-,csv >out
    check "kernels of 16,384 ends do what they say" test "$(tr '\n' ' ' <out)" = "1431650304 1565876224 1700102144 "
done

# A stream with as many readers as a kernel has ends: when one has read a packet, the others are not notified.
fans_out() {
    sed 's/700/16384/' fan.pipe >fan_out.pipe
    "$PIPEC" -O0 --policy=round_robin --device=sim1 fan_out.pipe -o fan_out.pbc 2>messages
    ./within "$seconds" 4096 "$PIPERUN" fan_out.pbc a=gen:ramp:3 z=-,csv 3>took >out 2>messages </dev/null
    read -r status ms peak <took
    check "16,384 readers of an in-port are run ($status, $ms ms, $peak MiB)" test "$status" = 0
    check "and do what they say" test "$(tr '\n' ' ' <out)" = "1431650304 1565876224 1700102144 "
}
[ -z "${LONG-}" ] || fans_out
sed "s/READERS/$((readers - 1))/" >readers.pipe <<'END'
kernel check(in i32 x; i32 n) { if (x >= 3) i32 never = 1 / (x - x); }
kernel add(in i32 x, out i32 y; i32 n) { y <- x + n; }
pipeline main(in i32 a, out i32 z) {
    for (int i = 0; i < READERS; i++) check(a -> ; i);
    add(a -> z; 1);
}
END
./within "$seconds" "$mib" "$PIPEC" -O0 readers.pipe -o readers.pbc 3>took 2>messages </dev/null
read -r status ms peak <took
check "$readers readers of an in-port are compiled ($status, $ms ms, $peak MiB)" test "$status" = 0
./within "$seconds" 4096 "$PIPERUN" readers.pbc a=gen:ramp:3 z=-,csv 3>took >out 2>messages </dev/null
read -r status ms peak <took
check "and run ($status, $ms ms, $peak MiB)" test "$status" = 0
check "to the end of their stream" test "$(tr '\n' ' ' <out)" = "1 2 3 "
"$PIPERUN" readers.pbc a=gen:ramp:4 z=null 2>messages
check "each of them: all see the fourth packet" grep -q "kernel 'check' .* divided by zero in firing 3" messages
