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
                [ -n "${LONG-}" ] || [ $((combination % 7)) = 1 ] || continue # all policies, devices and depths occur
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

# Buffers inside of a stage: whether neighbours are one stage or not, the notes are the same.
# ports LENGTH: of one.pbc; in-ports get numbers of packets that differ.
ports() {
    "$PIPEC" inspect one.pbc | awk -v n="$1" '
        $1 == "in-port" { sub(":", "", $2); print $2 "=gen:ramp:" (k == 1 ? int(n * 1.3) + 5 : n + k * k * 7); k++ }
        $1 == "out-port" { sub(":", "", $2); print $2 "=null" }'
}

# alike NAME NODE OPTION...: NAME.pipe says the same with and without fusion, with which it has this node.
alike() {
    local name=$1 node=$2 device fuse length lengths bad=0 noted=0
    shift 2
    for device in cpu sim16; do
        fuse=--fuse lengths='0 1 2 3 5 9 12 13 30 63 64 67 68 100 101 102 103 104 2999 3011 10006'
        [ $device = sim16 ] || fuse=
        if [ -z "${LONG-}" ]; then
            if [ $device = cpu ]; then lengths='0 2 3 12 13 30 64 67 101 103 2999 10006'; else lengths='1 64 102 3011'; fi
        fi
        if ! "$PIPEC" -O0 --min-level=error --device $device --no-fuse "$name.pipe" -o apart.pbc ||
            ! "$PIPEC" --min-level=error --device $device $fuse "$@" "$name.pipe" -o one.pbc; then
            bad=1
            continue
        fi
        "$PIPEC" inspect one.pbc | grep -Eq "^node $node:" || { echo "no node $node on $device"; bad=1; }
        for length in $lengths; do
            # shellcheck disable=SC2046 # words
            set_ports() { "$PIPERUN" --device $device "$1" $(ports $length) 2>"$2" || bad=1; }
            set_ports apart.pbc notes.apart
            set_ports one.pbc notes.one
            [ ! -s notes.apart ] || noted=$((noted + 1))
            diff notes.apart notes.one || { echo "$device, $length packets"; bad=1; }
        done
    done
    if [ $bad = 0 ] && [ $noted -gt 5 ]; then echo "ok $name: as without fusion"; else echo "not ok $name: as without fusion"; fi
}

# A chain, with rates above 1: its end lies in the middle of an iteration.
cat >chain.pipe <<'EOP'
kernel one(in i32 x, out i32 y) { y <- x + 1; }
kernel four(in i32 x pop 4, out i32 y) { y <- x[0] + x[3]; }
kernel three(in i32 x pop 3, out i32 y push 2) { y <- x[0]; y <- x[1]; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 a, b;
    x -> one -> a -> three -> b -> four -> y;
}
EOP
alike chain one.three.four

# Several readers inside: of a buffer inside, with other rates; and with windows, whose history is no leftover.
cat >several.pipe <<'EOP'
kernel one(in i32 x, out i32 y) { y <- x + 1; }
kernel two(in i32 x pop 2, out i32 y) { y <- x[0] - x[1]; }
kernel three(in i32 x pop 3, out i32 y) { y <- x[0] + x[2]; }
kernel add(in i32 a pop 3, in i32 b pop 2, out i32 y) { y <- a[0] + b[1]; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 a, b, c;
    x -> one -> a;
    a -> two -> b;
    a -> three -> c;
    add(b, c -> y);
}
EOP
alike several one.three.two.add
cat >windows.pipe <<'EOP'
kernel one(in i32 x, out i32 y) { y <- x + 1; }
kernel look(in i32 x pop 2 peek 5, out i32 y) { y <- x[0] + x[4]; }
kernel far(in i32 x peek 9, out i32 y) { y <- x[0] - x[8]; }
kernel add(in i32 a, in i32 b pop 2, out i32 y) { y <- a + b[0]; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 a, b, c;
    x -> one -> a;
    a -> look -> b;
    a -> far -> c;
    add(b, c -> y);
}
EOP
alike windows look.far.add
cat >rows.pipe <<'EOP'
kernel see(in i32 x window 3x3, out i32 y) { y <- x[-1][0] + x[0][1]; }
kernel line(in i32 x window 3x1 border wrap, out i32 y) { y <- x[0][-1] + x[0][1]; }
kernel add(in i32 a, in i32 b, out i32 y) { y <- a + b; }
pipeline main(in i32 x frame 5x4, out i32 y) {
    buffer i32 a, b;
    x -> see -> a;
    x -> line -> b;
    add(a, b -> y);
}
EOP
alike rows see.line.add

# In-ports of unequal length: what the longer ones bring is counted where the nodes would have left it.
cat >join.pipe <<'EOP'
kernel half(in i32 x pop 2, out i32 y) { y <- x[0] + x[1]; }
kernel copy(in i32 x, out i32 y) { y <- x + 1; }
kernel add(in i32 a pop 3, in i32 b, in i32 c, out i32 y) { y <- a[0] + b + c; }
kernel four(in i32 x pop 4, out i32 y) { y <- x[0] + x[3]; }
pipeline main(in i32 x, in i32 w, in i32 v, out i32 y) {
    buffer i32 a, b, c, d;
    x -> copy -> a;
    w -> half -> b;
    v -> copy -> c;
    add(a, b, c -> d);
    d -> four -> y;
}
EOP
alike join half.copy#2.copy.add.four
"$PIPEC" --device cpu join.pipe -o one.pbc && "$PIPEC" --device cpu --no-fuse join.pipe -o apart.pbc || exit 1
for form in apart one; do
    "$PIPERUN" --device cpu $form.pbc x=gen:ramp:9 v=gen:ramp:3000000 w=gen:ramp:2500001 y=null 2>notes.$form || exit 1
done
if diff notes.apart notes.one && grep -q "^piperun: note: 2999997 packets left over in buffer 'c'" notes.one; then
    echo "ok more packets before a stage than are counted in an in-port"
else
    echo "not ok more packets before a stage than are counted in an in-port"
fi

# A pipe that has not ended when the stage ends: nodes of their own might have read on.
sed 's/in i32 w,/in i32 w depth 4096,/' join.pipe >bounded.pipe
mkfifo open
exec 9<>open
for device in sim16 cpu; do
    "$PIPEC" --min-level=error --device $device --fuse bounded.pipe -o one.pbc || exit 1
    head -c 40000 /dev/zero >&9
    "$PIPERUN" --timeout 60 --device $device one.pbc x=gen:ramp:9 v=gen:ramp:30 w=open,raw y=null 2>notes.$device || exit 1
done
exec 9>&-
if grep -q "^piperun: note: at least [0-9]* packets left over in buffer 'b': its reader 'add' found too few in 'a'$" notes.sim16; then
    echo "ok a full port of a fused node that has not ended: at least"
else
    echo "not ok a full port of a fused node that has not ended: at least"
fi
if grep "buffer 'b'" notes.cpu; then
    echo "not ok nothing is said of what an eager port that has not ended brings"
else
    echo "ok nothing is said of what an eager port that has not ended brings"
fi

# A stage before fused nodes that has faulted, which nothing demands; and one that ends with its readers.
cat >undemanded.pipe <<'EOP'
kernel inverse(in i32 x, out i32 y) { if (x > 1000000) stop; y <- 100 / (20 - x); }
kernel half(in i32 x pop 2, out i32 y) { y <- x[0] + x[1]; }
kernel copy(in i32 x, out i32 y) { y <- x + 1; }
kernel add(in i32 a pop 3, in i32 b, out i32 y) { y <- a[0] + b; }
pipeline main(in i32 x, in i32 w, out i32 y) {
    buffer i32 a, b, c;
    x -> copy -> a;
    w -> inverse -> c;
    c -> half -> b;
    add(a, b -> y);
}
EOP
for form in --fuse --no-fuse; do
    "$PIPEC" --min-level=error --device cpu $form undemanded.pipe -o form.pbc && "$PIPEC" inspect form.pbc >nodes$form || exit 1
    "$PIPERUN" --timeout 60 --device cpu form.pbc x=gen:ramp:9 w=gen:ramp:30 y=null 2>notes$form || exit 1
done
if diff ./notes--fuse ./notes--no-fuse && grep -q '^node half+copy+add' ./nodes--fuse &&
    grep -q "note: 7 packets left over in buffer 'b'" ./notes--fuse; then
    echo "ok a fault that nothing demands, before fused nodes"
else
    echo "not ok a fault that nothing demands, before fused nodes"
fi

# Fused nodes past a source that has ended, which end because their reader does: they have packets for more firings.
cat >unwanted_nodes.pipe <<'EOP'
kernel count(out i32 y) { state i32 n; y <- n++; }
kernel twice(in i32 x, out i32 y) { y <- 2 * x; }
kernel three(in i32 x pop 3, out i32 y) { y <- x[0] + x[2]; }
kernel add(in i32 a, in i32 b, out i32 y) { if (b < 0) stop; y <- a + b; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 many depth 200;
    buffer i32 mid;
    buffer i32 few depth 4;
    count( -> many);
    twice(many -> mid);
    three(mid -> few);
    add(few, x -> y);
}
EOP
"$PIPEC" --min-level=error --device cpu --fuse unwanted_nodes.pipe -o unwanted.pbc &&
    "$PIPEC" inspect unwanted.pbc | grep -q '^node twice+three' &&
    "$PIPERUN" --timeout 60 unwanted.pbc x=gen:ramp:5 y=null --firings 100 2>few.notes &&
    "$PIPERUN" --timeout 60 unwanted.pbc x=gen:ramp:40 y=null --firings 100 2>all.notes || exit 1
if [ ! -s few.notes ] && grep -q "note: 1 packet left over in buffer 'mid': too few for another firing" all.notes; then
    echo "ok fused nodes whose packets nothing takes leave none over"
else
    echo "not ok fused nodes whose packets nothing takes leave none over"
fi

# quiet WHAT SED ARGUMENT...: the chain, changed so, and a kernel that stops after it: fused, it has this output and no notes.
quiet() {
    local what=$1 change=$2
    shift 2
    sed "s/^pipeline.*/kernel five(in i32 x, out i32 y) { state i32 n; n += 1; y <- x; if (n == 5) stop; }\\n&/
        s/four -> y/four -> five -> y/; $change" chain.pipe >quiet.pipe
    "$PIPEC" --min-level=error --device cpu --fuse quiet.pipe -o quiet.pbc && "$PIPEC" inspect quiet.pbc | grep -q "^node one+three+four" &&
        "$PIPERUN" --timeout 60 --device cpu quiet.pbc y=quiet.csv "$@" 2>notes
    if [ "$(tr '\n' ' ' <quiet.csv)" = "6 18 30 42 " ] && [ ! -s notes ]; then
        echo "ok nothing is said of what $what leaves in fused nodes"
    else
        echo "not ok nothing is said of what $what leaves in fused nodes"
    fi
    rm -f quiet.csv
}
quiet "a source" 's/in i32 x, out i32 y) {$/out i32 y) {/; s/x -> one/src -> one/
    1i kernel src(out i32 y) { state i32 n; if (n > 1000000) stop; y <- n; n += 1; }'
quiet "an endless stream" '' x=gen:ramp

# Initial packets: of a cycle that is state, and of one whose buffer is kept.
cat >state.pipe <<'EOP'
kernel mix(in i32 x pop 2, in i32 back, out i32 y) { y <- x[0] + back; }
kernel copy(in i32 x, out i32 y) { y <- x + 1; }
kernel three(in i32 x pop 3, out i32 y) { y <- x[0] + x[2]; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 sum, back init 5 x 0, next;
    mix(x, back -> sum);
    sum -> copy -> back;
    sum -> copy -> next;
    next -> three -> y;
}
EOP
alike state mix.copy#1..2.three
sed 's/init 5 x 0/init 3000 x 0/' state.pipe >kept.pipe
alike kept mix.copy#1..2
# The buffer of the cycle is read outside of the stage, too.
cat >round.pipe <<'EOP'
kernel half(in i32 x pop 2, out i32 y) { y <- x[0]; }
kernel mix(in i32 x pop 2, in i32 p pop 3 peek 5, out i32 y push 3) { y <- x[0] + p[4]; y <- p[1]; y <- p[2]; }
kernel back(in i32 x, out i32 y) { y <- x + 1; }
kernel copy(in i32 x, out i32 y) { y <- x; }
kernel tap(in i32 x, out i32 y) { y <- x; }
pipeline main(in i32 x, out i32 y, out i32 z) {
    buffer i32 s, p init 9 x 0, h;
    half(x -> h);
    mix(h, p -> s);
    s -> back -> p;
    s -> copy -> y;
    p -> tap -> z;
}
EOP
alike round half.mix.back.copy

# A cycle that no in-port feeds, whose buffer is kept: only that shows how often its nodes fire in an iteration.
cat >undriven.pipe <<'EOP'
kernel twice(in i32 x pop 2, out i32 y) { y <- x[0] + x[1]; }
kernel show(in i32 x, out i32 y push 2, out i32 shown) { y <- x; y <- -x; shown <- x; }
pipeline main(out i32 w) {
    buffer i32 p init 6 x 1, q;
    twice(p -> q);
    show(q -> p, w);
}
EOP
if "$PIPEC" --device cpu undriven.pipe -o one.pbc && "$PIPEC" inspect one.pbc | grep -q '^    executes 1 twice, 1 show$' && "$PIPERUN" verify one.pbc; then
    echo "ok a cycle that no in-port feeds is loaded"
else
    echo "not ok a cycle that no in-port feeds is loaded"
fi

# A finish inside: how many packets it appends depends on data.  Packets that it has seen are not left over.
cat >tails.pipe <<'EOP'
kernel pairs(in i32 x pop 2, out i32 y) {
    y <- x[0] + x[1];
    finish { if (left(x) > 0) { y <- 1; if (left(x) == 1 && x[0] % 3 != 0) { y <- 2; y <- 3; } } }
}
kernel sums(in i32 x pop 3, out i32 y) {
    y <- x[0] + x[2];
    finish { if (left(x) > 1) y <- 1; }
}
kernel seven(in i32 x pop 7, out i32 y) { y <- x[0] - x[6]; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 a, b;
    x -> pairs -> a;
    a -> sums -> b;
    b -> seven -> y;
}
EOP
alike tails pairs.sums.seven

# A selection inside, whose reader takes every packet; and stages before and after one that stops.
cat >varying.pipe <<'EOP'
kernel one(in i32 x, out i32 y) { y <- x + 1; }
kernel two(in i32 x pop 2, out i32 y) { if (x[0] % 3 == 0) y <- x[1]; }
kernel triple(in i32 x, out i32 y) { y <- 3 * x; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 a, b;
    x -> one -> a;
    a -> two -> b;
    b -> triple -> y;
}
EOP
alike varying one.two.triple
cat >stops.pipe <<'EOP'
kernel few(in i32 x, out i32 y) { state i32 n; if (n == 11) stop; n++; y <- x; }
kernel one(in i32 x, out i32 y) { y <- x + 1; }
kernel four(in i32 x pop 4, out i32 y) { y <- x[0] + x[3]; }
pipeline main(in i32 x, out i32 y, out i32 z) {
    buffer i32 a, b, c, d;
    x -> few -> a;
    a -> one -> b -> four -> y;
    x -> one -> c -> four -> d -> few -> z;
}
EOP
alike stops one#2.four#2

# Less work: nodes that are one function of their packets, by themselves, with others, and after a node that interleaves.
cat >less.pipe <<'EOP'
import "std/dsp.pipe";
import "std/streams.pipe";
kernel stuff<int N>(in f32 x, out f32 y push N) { y <- x; for (i32 i = 1; i < N; i++) y <- 0; }
kernel three(in f32 x pop 3, out f32 y) { y <- x[0] + x[2]; }
pipeline main(in f32 x, in f32 z, out f32 fewer, out f32 more) {
    buffer f32 a, b, c, d;
    x -> fir_lowpass<64>(0.1) -> a -> keep_every<4> -> b -> three -> fewer;
    z -> stuff<16> -> c -> fir_lowpass<64>(0.1) -> d -> three -> more;
}
EOP
alike less fir_lowpass.keep_every.three
cat >bank.pipe <<'EOP'
import "std/dsp.pipe";
import "std/streams.pipe";
kernel stuff<int N>(in f32 x, out f32 y push N) { y <- x; for (i32 i = 1; i < N; i++) y <- 0; }
pipeline main(in f32 x, out f32 y) {
    buffer f32 part[2];
    x -> gain(3) -> stuff<8> -> fir_lowpass<19>(0.2) -> part[0];
    x -> fir_lowpass<5>(0.1) -> stuff<8> -> fir_lowpass<19>(0.3) -> part[1];
    mix<2>(part -> y);
}
EOP
alike bank 'gain.fir_lowpass#2.interleave.*'

# Filters in the frequency domain consume blocks.
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
    "$PIPEC" -O0 --device cpu --no-fuse $name.pipe -o apart.pbc && "$PIPEC" --device cpu --fast-math $name.pipe -o blocks.pbc || exit 1
    bad=0 noted=0
    "$PIPEC" inspect blocks.pbc | grep -q 'pop 6[0-9][0-9][0-9] ' || { echo "not in the frequency domain"; bad=1; }
    for length in 0 2 1023 1024 1025 1026 1027 1029 1030 7170 30000 30001 30002 30003 30004; do
        "$PIPERUN" --device cpu apart.pbc x="gen:ramp:$length" y=null 2>notes.apart || bad=1
        "$PIPERUN" --device cpu blocks.pbc x="gen:ramp:$length" y=null 2>notes.blocks || bad=1
        [ ! -s notes.apart ] || noted=$((noted + 1))
        diff notes.apart notes.blocks || bad=1
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
