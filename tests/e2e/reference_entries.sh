#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# More entries of the reference table are never slower: rings and drawn loops, with 1 to 8 entries, give the same bits in no
# more cycles.  A launch that differs in nothing repeats a reference, so a ring of nine stages is one packet a round.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
# `make check` tries every second number of entries.
entries='1 2 4 6 8'
[ -z "${LONG-}" ] || entries='1 2 3 4 5 6 7 8'
for k in $entries; do
    for device in sim1 sim4; do
        sed "s/^reference_entries *=.*/reference_entries = $k/; s/^name *=.*/name = $device-$k/" "$ROOT/lang/devices/$device.dev" >$device-$k.dev
    done
done

# ring N: a loop of N stages with one packet in it.
ring() {
    echo 'kernel first(in i32 x, in i32 b, out i32 f) { f <- x + b; }'
    echo 'kernel step(in i32 x, out i32 y) { y <- x + 1; }'
    echo 'pipeline main(in i32 x, out i32 y) {'
    echo '    buffer i32 back init {0};'
    for ((i = 0; i < $1 - 1; i++)); do echo "    buffer i32 c$i;"; done
    echo '    first(x, back -> c0);'
    for ((i = 0; i < $1 - 2; i++)); do echo "    step(c$i -> c$((i + 1)));"; done
    echo "    step(c$(($1 - 2)) -> back);"
    echo '    back -> step -> y;'
    echo '}'
}

# drawn SEED: a loop of 5 to 14 stages, each of which reads one or two of those before it.
drawn() {
    awk -v state="$1" '
        function draw(n) { state = (state * 1103515245 + 12345) % 2147483648; return int(state / 65536) % n }
        BEGIN {
            for (i = 0; i < 3; i++) draw(2)
            n = 5 + draw(10)
            print "kernel one(in i32 x, out i32 y) { y <- x + 1; }"
            print "kernel two(in i32 a, in i32 b, out i32 y) { y <- a - b; }"
            print "pipeline main(in i32 x, out i32 y) {\n    buffer i32 back init {0};"
            for (i = 0; i < n; i++) print "    buffer i32 b" i ";"
            print "    two(x, back -> b0);"
            for (i = 1; i < n; i++) {
                a = i - 1 - draw(i > 2 ? 3 : i)
                c = draw(i)
                if (a != c && draw(3) == 0) { print "    two(b" a ", b" c " -> b" i ");"; used[c] = 1 }
                else print "    one(b" a " -> b" i ");"
                used[a] = 1
            }
            last = -1
            for (i = 0; i < n; i++) {
                if (used[i]) continue
                if (last >= 0) { print "    buffer i32 b" m + n "; two(b" last ", b" i " -> b" m + n ");"; last = n + m++ }
                else last = i
            }
            print "    b" last " -> one -> back;\n    back -> one -> y;"
            print "}"
        }'
}

# never_slower NAME [DEVICE [OPTION...]]: of the program graph.pipe.
never_slower() {
    local before='' cycles row='' good=1 hash='' found device=${2-sim1}
    for k in $entries; do
        "$PIPEC" -O0 --device "$device-$k.dev" "${@:3}" graph.pipe -o graph.pbc
        "$PIPERUN" -q --device "$device-$k.dev" --stats=json:$k.json graph.pbc x=gen:ramp:2000 y=null --hash y >found
        found=$(cat found)
        [ -z "$hash" ] || [ "$found" = "$hash" ] || good=0
        hash=$found
        cycles=$(sed -n 's/^  "total_cycles": \([0-9]*\),$/\1/p' $k.json)
        [ -z "$before" ] || [ "$cycles" -le "$before" ] || good=0
        before=$cycles
        row="$row $cycles"
    done
    if [ $good = 1 ]; then echo "ok $1"; else echo "not ok $1:$row"; fi
}
number() { sed -n 's/^  "dispatch": {\(.*\)},$/\1/p' "$1" | sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p"; }

for n in 5 9 12 16; do
    ring $n >graph.pipe
    never_slower "a ring of $n"
done
for seed in 1 2 3 4 5 6; do
    drawn $seed >graph.pipe
    never_slower "a drawn loop, $seed"
done

# 2,000 rounds of nine stages and what each appends to the port: 31 units hold eight references and two others.
ring 9 >graph.pipe
never_slower "a ring of nine once more"
check "nine stages are one packet a round" test $(($(number 8.json bytes) / 64)) -lt 2100

# Stages that work for different times side by side: another entry moves launches, and may cost a few cycles in each round.
# working ROUNDS..: a cycle of stages whose loops have so many rounds, with eight packets in it.
working() {
    local chain='' k=0 rounds
    echo 'kernel first(in i32 x, in i32 b, out i32 y) { y <- x + b; }'
    echo 'kernel split(in i32 x, out i32 y, out i32 z) { y <- x; z <- x; }'
    for rounds; do
        echo "kernel k$k(in i32 x, out i32 y) { i32 s = 1; for (i32 i = 0; i < $rounds; i++) s = s * 3 + 1; y <- x * $((k + 3)) + s; }"
        chain="$chain-> k$k "
        k=$((k + 1))
    done
    echo 'pipeline main(in i32 x, out i32 y) { buffer i32 back init 8 x 0; buffer i32 t; buffer i32 u; first(x, back -> t);'
    echo "    t $chain-> u; split(u -> y, back); }"
}
working 9 39 38 59 17 13 31 36 41 15 >graph.pipe
never_slower "stages that work for different times" sim4 --buffers=min
never_slower "the same by priority" sim4 --buffers=min --policy=priority
