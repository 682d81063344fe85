#!/bin/bash
# SPDX-License-Identifier: MIT
# Packets that can never be consumed: the notes name buffer, count and reason, and follow from the streams only, whatever the
# device, depths, policy, form of packets and number of threads.
set -u
cd "$TMP" || exit 1

# same NAME PORT...: NAME.pipe, run in all these ways, says NAME.notes each time; POLICY stands for one.
same() {
    local name=$1 device buffers policy form threads combination=0 ways=0 bad=0
    shift
    for policy in "" "policy round_robin" "policy priority" "policy fullest"; do
        sed "s/POLICY/$policy/" "$name.pipe" >one.pipe
        for device in sim1 sim4 sim16; do
            for buffers in min fast default; do
                combination=$((combination + 1))
                [ -n "${LONG-}" ] || [ $((combination % 4)) = 1 ] || continue # all policies, devices and depths occur
                "$PIPEC" -O0 one.pipe -o one.pbc --device $device --buffers=$buffers 2>log || { cat log; return 1; }
                form=full
                [ $((ways % 2)) = 0 ] || form=condensed
                threads=$((ways / 2 % 2 + 1))
                ways=$((ways + 1))
                "$PIPERUN" one.pbc --dispatch=$form --host-threads $threads "$@" 2>notes || bad=$((bad + 1))
                diff notes "$name.notes" || { bad=$((bad + 1)); echo "$policy $device $buffers $form"; }
            done
        done
    done
    if [ $bad = 0 ]; then echo "ok $name: $ways runs say the same"; else echo "not ok $name: $bad of $ways runs do not"; fi
}

# Ways of unequal length: all that the writers make is counted, of files all that is there.
cat >unequal.pipe <<'EOP'
kernel half(in i32 x pop 2, out i32 y) { y <- x[0] + x[1]; }
kernel copy(in i32 x, out i32 y) { y <- x; }
kernel add(in i32 a pop 3, in i32 b, in i32 c, out i32 y) { y <- a[0] + b + c; }
pipeline main(in i32 x, in i32 w, in i32 v, out i32 y) POLICY {
    buffer i32 a, b, c;
    x -> copy -> a;
    w -> half -> b;
    v -> copy -> c;
    add(a, b, c -> y);
}
EOP
cat >unequal.notes <<'EOP'
piperun: note: 1 packet left over in buffer 'w': too few for another firing
piperun: note: 20000 packets left over in buffer 'a': its reader 'add' found too few in 'b'
piperun: note: 20000 packets left over in buffer 'c': its reader 'add' found too few in 'b'
EOP
same unequal x=gen:ramp:50000 w=gen:ramp:20001 v=gen:ramp:30000 y=null

# Whose readers have ended fires no more, however much of what sources have made lies before it.
cat >unwanted.pipe <<'EOP'
kernel count(out i32 y) { state i32 n; y <- n++; }
kernel copy(in i32 x, out i32 y) { y <- x; }
kernel add(in i32 a, in i32 b, out i32 y) { y <- a + b; }
pipeline main(in i32 x, out i32 y) POLICY {
    buffer i32 many depth 200;
    buffer i32 few depth 4;
    count( -> many);
    copy(many -> few);
    add(few, x -> y);
}
EOP
: >unwanted.notes
same unwanted x=gen:ramp:5 y=null --firings 100

# Two inputs with a remainder each: both are too few, whichever is noticed first; and ports whose rest is never asked for.
cat >ports.pipe <<'EOP'
kernel add(in i32 a pop 5, in i32 b pop 3, out i32 y) { y <- a[0] + b[0]; }
pipeline main(in i32 a, in i32 b, in i32 c, in i32 d, out i32 y, out i32 z) POLICY {
    add(a, b -> y);
    add(c, d -> z);
}
EOP
cat >ports.notes <<'EOP'
piperun: note: 4 packets left over in buffer 'a': too few for another firing
piperun: note: 2 packets left over in buffer 'b': too few for another firing
piperun: note: 49998 packets left over in buffer 'c': its reader 'add#2' found too few in 'd'
piperun: note: 1 packet left over in buffer 'd': too few for another firing
EOP
same ports a=gen:ramp:10004 b=gen:ramp:6002 c=gen:ramp:49998 d=gen:ramp:1 y=null z=null

# Windows: what a peek keeps is no leftover; a frame that is not whole is.  Groups: a firing takes all or nothing.
cat >shapes.pipe <<'EOP'
kernel peeking(in i32 x pop 2 peek 7, out i32 y) { y <- x[0] + x[6]; }
kernel see(in i32 x window 3x3, out i32 y) { y <- x[-1][0] + x[0][1]; }
kernel group_of<int N>(in i32 x pop N, out i32 y push N) group N { y[item.x] = x[item.x]; }
pipeline main(in i32 x, in i32 v frame 5x4, in i32 u, out i32 y, out i32 z, out i32 w) POLICY {
    x -> peeking -> y;
    v -> see -> z;
    u -> group_of<64> -> w;
}
EOP
cat >shapes.notes <<'EOP'
piperun: note: 1 packet left over in buffer 'x': too few for another firing
piperun: note: 2 packets left over in buffer 'v': too few for another firing
piperun: note: 1 packet left over in buffer 'u': too few for another firing
EOP
same shapes x=gen:ramp:10006 v=gen:ramp:2007 u=gen:ramp:6401 y=null z=null w=null

# A loop keeps its initial packets; a source ahead of what it feeds says nothing; a finish that reads the tail leaves none.
cat >loops.pipe <<'EOP'
kernel mix(in i32 x pop 2, in i32 back, out i32 y) { y <- x[0] + back; }
kernel copy(in i32 x, out i32 y) { y <- x; }
kernel count(out i32 y) { state i32 i; y <- i++; }
kernel tail(in i32 x pop 4, out i32 y) { y <- x[0]; finish { y <- (i32)left(x); } }
pipeline main(in i32 x, in i32 v, in i32 u, out i32 y, out i32 z, out i32 w) POLICY {
    buffer i32 sum, back init 5 x 0, numbers;
    mix(x, back -> sum);
    sum -> copy -> back;
    sum -> copy -> y;
    count( -> numbers);
    mix(v, numbers -> z);
    u -> tail -> w;
}
EOP
cat >loops.notes <<'EOP'
piperun: note: 1 packet left over in buffer 'x': too few for another firing
piperun: note: 1 packet left over in buffer 'v': too few for another firing
EOP
same loops x=gen:ramp:10001 v=gen:ramp:3001 u=gen:ramp:7 y=null z=null w=null

# Filters in the frequency domain consume blocks, and say what the filters would have left: a number, or that there are some.
cat >filter.pipe <<'EOP'
kernel fir(in f32 x pop 3 peek 1024, out f32 y) {
    f32 s = 0;
    for (i32 i = 0; i < 1024; i++) s += x[i] * (f32)(i % 7 + 1);
    y <- s;
}
kernel dec(in f32 x pop 2, out f32 y) { y <- x[0] + x[1]; }
pipeline main(in f32 x, out f32 y) { x -> fir -> y; }
EOP
sed 's/fir -> y/fir -> dec -> y/' filter.pipe >filters.pipe
for name in filter filters; do
    "$PIPEC" --device cpu --no-fuse $name.pipe -o apart.pbc && "$PIPEC" --device cpu --fast-math $name.pipe -o blocks.pbc || exit 1
    bad=0 noted=0
    "$PIPEC" inspect blocks.pbc | grep -q 'pop 6[0-9][0-9][0-9] ' || { echo "not in the frequency domain"; bad=1; }
    for length in 0 2 1023 1024 1025 1026 1027 1029 1030 7170 30000 30001 30002 30003 30004; do
        "$PIPERUN" --device cpu apart.pbc x="gen:ramp:$length" y=null 2>notes.apart || bad=1
        "$PIPERUN" --device cpu blocks.pbc x="gen:ramp:$length" y=null 2>notes.blocks || bad=1
        [ ! -s notes.apart ] || noted=$((noted + 1))
        if [ $name = filter ]; then diff notes.apart notes.blocks || bad=1; fi
        if [ -s notes.apart ]; then [ -s notes.blocks ] || bad=1; else [ ! -s notes.blocks ] || bad=1; fi
    done
    if [ $bad = 0 ] && [ $noted -gt 5 ]; then echo "ok $name in the frequency domain"; else echo "not ok $name in the frequency domain"; fi
done

# Where the rest is not read: a pipe that has not ended, and more than is counted.
sed 's/POLICY//' ports.pipe >one.pipe
"$PIPEC" one.pipe -o one.pbc || exit 1
"$PIPERUN" one.pbc a=gen:ramp:20000000 b=gen:ramp:3 c=gen:ramp:3 d=gen:ramp:3 y=null z=null 2>notes
if grep -q "^piperun: note: at least 1048576 packets left over in buffer 'a': its reader 'add' found too few in 'b'$" notes; then
    echo "ok more packets than are counted"
else
    echo "not ok more packets than are counted"
    cat notes
fi
mkfifo never_ends
exec 6<>never_ends
depth=$("$PIPEC" inspect one.pbc | sed -n 's/^in-port c: .* depth \([0-9]*\) .*/\1/p')
head -c $((4 * depth)) /dev/zero >never_ends &
"$PIPERUN" one.pbc a=gen:ramp:3 b=gen:ramp:3 c=never_ends,raw d=gen:ramp:3 y=null z=null 2>notes
if grep -q "^piperun: note: at least $((depth - 5)) packets left over in buffer 'c': its reader 'add#2' found too few in 'd'$" notes; then
    echo "ok a pipe that has not ended"
else
    echo "not ok a pipe that has not ended"
    cat notes
fi
wait

# A loop that has died out: the run ends with a note if all of its input has been read, else it has stalled, whenever and
# however the port has been filled; only depths matter.
sed '/^\/\//d' "$ROOT/tests/lang/feedback_dies_out.pipe" >dies.pipe
for device in sim1 sim16; do
    for buffers in min default; do
        "$PIPEC" dies.pipe -o dies.pbc --device $device --buffers=$buffers || exit 1
        depth=$("$PIPEC" inspect dies.pbc | sed -n 's/^in-port x: .* depth \([0-9]*\) .*/\1/p')
        good=1
        for length in 1 $((depth / 2 + 1)) "$depth" $((depth + 1)); do
            "$PIPERUN" dies.pbc x="gen:zeros:$length" z=null 2>notes || good=0
            if [ "$length" -gt 1 ]; then
                grep -Eq "^piperun: note: $((length - 1)) packets? left over in buffer 'x': its reader 'add' found too few in 'back'$" notes || good=0
            fi
        done
        "$PIPERUN" dies.pbc x=gen:zeros:$((depth + 2)) z=null 2>notes
        [ $? = 5 ] && grep -q "stalled: 'add' waits for packets in 'back' (holds 0, needs 1); 'seldom' waits for packets in 'sum' (holds 0, needs 1)$" notes || good=0
        if [ $good = 1 ]; then echo "ok a loop that dies out, depth $depth"; else echo "not ok a loop that dies out, depth $depth"; cat notes; fi
    done
done
