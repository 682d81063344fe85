#!/bin/bash
# SPDX-License-Identifier: MIT
# No host in the loop: the scheduler is suspended only for in-ports whose input does not fit, as often as lang/reports.md says;
# where the packets come from changes neither cycles nor anything else.
# shellcheck disable=SC2015 # ok and not_ok never fail
set -u
cd "$TMP" || exit 1

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1"; }

# figure KEY: of stats.json.
figure() { sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" stats.json | head -n 1; }
# of_port NAME: the suspensions of that port.
of_port() { grep "\"name\": *\"$1\"" stats.json | sed -n 's/.*"suspensions": *\([0-9]*\).*/\1/p'; }

printf 'kernel k(in i32 x, out i32 y) { y <- x; }\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n' >copy.pipe
"$PIPEC" --no-fuse copy.pipe -o copy.pbc || exit 1
depth=$("$PIPEC" inspect copy.pbc | sed -n 's/^in-port x: .* depth \([0-9]*\) .*/\1/p')

# expect HOW LENGTH SUSPENSIONS WORD...: of a run of copy.pbc with standard input from z.raw or a pipe.
expect() {
    local how=$1 length=$2 wanted=$3
    shift 3
    head -c $((4 * length)) /dev/zero >z.raw
    if [ "$how" = pipe ]; then
        (sleep 0.01; cat z.raw) | "$PIPERUN" -q copy.pbc "$@" y=y.raw --stats=json:stats.json || return 1
    else
        "$PIPERUN" -q copy.pbc "$@" y=y.raw --stats=json:stats.json <z.raw || return 1
    fi
    cmp -s z.raw y.raw && [ "$(figure suspensions)" = "$wanted" ] && [ "$(of_port x)" = "$wanted" ]
}

for length in 0 1 $((depth - 1)) "$depth" $((depth + 1)) $((3 * depth)) $((3 * depth + 1)); do
    waits=$((length == 0 ? 0 : (length + depth - 1) / depth - 1))
    good=1
    expect file "$length" "$waits" x=z.raw || good=0
    cycles=$(figure total_cycles)
    for from in - "gen:zeros:$length"; do
        expect file "$length" "$waits" x="$from" && [ "$(figure total_cycles)" = "$cycles" ] || good=0
    done
    expect pipe "$length" $((length / depth)) x=- && [ "$(figure total_cycles)" = "$cycles" ] || good=0
    if [ $good = 1 ]; then
        ok "$length packets into a depth of $depth: $waits suspensions from a file, $((length / depth)) from a pipe"
    else
        not_ok "$length packets into a depth of $depth: $(figure suspensions), not $waits"
    fi
done

# A static schedule whose iteration is all that the port holds: what is in flight makes room before the host is asked.
printf 'kernel k(in i32 x, out i32 y) { y <- x + 1; }\npipeline main(in i32 x, out i32 y) { x -> k -> k -> y; }\n' >two.pipe
"$PIPEC" --no-fuse two.pipe -o two.pbc || exit 1
depth=$("$PIPEC" inspect two.pbc | sed -n 's/^in-port x: .* depth \([0-9]*\) .*/\1/p')
"$PIPERUN" disasm two.pbc | grep -q "^ *has_packets 0, 0, $depth, " && ok "an iteration is what the port holds" || not_ok "an iteration is what the port holds"
good=1 cycles=
for from in gen:ramp:$((20 * depth)) -,raw; do
    "$PIPERUN" -q copy.pbc "x=gen:ramp:$((20 * depth))" y=-,raw |
        "$PIPERUN" -q two.pbc "x=$from" y=null --stats=json:stats.json || good=0
    waits=$([ "$from" = -,raw ] && echo 20 || echo 19)
    [ "$(of_port x)" = "$waits" ] && [ "${cycles:=$(figure total_cycles)}" = "$(figure total_cycles)" ] || good=0
done
[ $good = 1 ] && ok "it suspends once an iteration" || not_ok "it suspends $(of_port x) times, not $waits"

# The second port is asked for when the first stage has completed: from a file it is there by then.
cat >merge.pipe <<'EOP'
kernel k(in i32 x, out i32 y) { y <- x; }
kernel add(in i32 a, in i32 b, out i32 y) { y <- a + b; }
pipeline main(in i32 x, in i32 b, out i32 y) {
    buffer i32 t;
    x -> k -> t;
    add(t, b -> y);
}
EOP
"$PIPEC" --no-fuse merge.pipe -o merge.pbc || exit 1
head -c 400 /dev/zero >z.raw
"$PIPERUN" -q merge.pbc x=z.raw b=z.raw y=null --stats=json:stats.json
if [ "$(figure suspensions)" = 0 ]; then ok "two ports of files that fit"; else not_ok "two ports: $(figure suspensions)"; fi
cycles=$(figure total_cycles)
"$PIPERUN" -q merge.pbc x=z.raw b=- y=null --stats=json:stats.json < <(cat z.raw)
if [ "$(of_port x) $(of_port b)" = "0 1" ] && [ "$(figure total_cycles)" = "$cycles" ]; then
    ok "a pipe that is asked for later is waited for once, at the same cycle"
else
    not_ok "a pipe that is asked for later: $(of_port x) $(of_port b) suspensions"
fi
"$PIPERUN" -q merge.pbc x=gen:ramp:10 b=- y=null --stats 2>text < <(cat z.raw)
if grep -q 'suspended 1 time for input;' text; then ok "the text says so"; else not_ok "the text: $(grep suspended text)"; fi

# A fault of an input that is read ahead is reported when its packets are wanted; earlier packets have been processed.
printf '\0\0\0\0\0\0' >torn.raw
"$PIPERUN" -q merge.pbc x=torn.raw b=z.raw y=y.raw 2>text
status=$?
if [ $status = 1 ] && grep -q 'torn.raw' text && [ ! -e merged.raw ]; then ok "a torn input is refused"; else not_ok "a torn input: exit status $status"; fi

# Packets read ahead for a full port come before packets that are read when nothing can go on, until a stream has been
# seen to end.
cat >order.pipe <<'EOP'
kernel twice(in i32 x, out i32 y) { y <- x; y <- -x; }
kernel three(in i32 x pop 3, out i32 y push 3) { for (i32 i = 0; i < 3; i++) y <- x[i]; finish push 1 { y <- 1; } }
kernel half(in i32 x pop 6, out i32 y push 3) { state i32 s; s += x[0]; for (i32 i = 0; i < 3; i++) y <- s + i; }
kernel two(in i32 x pop 3, out i32 y push 2) { y <- x[0]; y <- x[2]; }
kernel slow(in i32 z pop 18, in i32 x pop 4 peek 24, out i32 y) { y <- x[23] + z[0]; }
kernel six(in i32 x pop 3 peek 5, out i32 y push 6) { state i32 s; s += x[4]; for (i32 i = 0; i < 6; i++) y <- s + i; }
kernel fast(in i32 z pop 3 peek 6, in i32 a pop 1 peek 4, in i32 b, out i32 y) { y <- z[5] + a[3] + b; }
pipeline main(in i32 x, in i32 z, out i32 y, out i32 w) policy fullest {
    buffer i32 pairs, halves, sixes;
    buffer i32 threes depth 8;
    buffer i32 twos depth 30;
    twice(x -> pairs) cost 3000;
    three(pairs -> threes);
    half(pairs -> halves);
    two(pairs -> twos);
    slow(z, twos -> y);
    six(halves -> sixes) cost 3000;
    fast(z, threes, sixes -> w);
}
EOP
"$PIPEC" -q order.pipe -o order.pbc --device sim4 --layout sequence --buffers=fast || exit 1
wrong=
for length in $(seq 1 9 260); do
    "$PIPERUN" -q order.pbc x=gen:ramp:2000 z=gen:ramp:"$length" y=ahead.csv w=null
    (sleep 0.01; "$PIPERUN" -q copy.pbc x=gen:ramp:2000 y=-,raw) | "$PIPERUN" -q order.pbc x=-,raw z=gen:ramp:"$length" y=asked.csv w=null
    cmp -s ahead.csv asked.csv || wrong="$wrong $length"
done
if [ -z "$wrong" ]; then ok "packets keep their order"; else not_ok "packets out of order, by length of the other stream:$wrong"; fi
