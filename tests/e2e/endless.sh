#!/bin/bash
# SPDX-License-Identifier: MIT
# A part of a pipeline goes on for ever, and another one has its turn all the same: a cycle without input, which
# is read, beside a source that ends.  The 1,000 packets of the source come out while the cycle goes on, whatever
# the policy; then the run is interrupted.  Nothing is timed: the limit ends a run that would go on for ever.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

cat >endless.pipe <<'EOP'
kernel tick(out i32 y) { state i32 n; y <- n; n++; }
kernel turn(in i32 x, out i32 y) { y <- x; }
kernel show(in i32 x, out i32 y, out i32 shown) { y <- x; shown <- x; }
pipeline main(out i32 z, out i32 w) {
    buffer i32 p init 5 x 1;
    buffer i32 q;
    tick -> turn -> z;
    turn(p -> q);
    show(q -> p, w);
}
EOP
mkfifo z
perl -e 'print pack("l<*", 0 .. 999)' >expected

# comes_out DEVICE ARGUMENT...: of the program compiled for it so.
comes_out() {
    local device=$1 run bytes
    shift
    "$PIPEC" -O0 --min-level=error --device="${device%:*}" "$@" endless.pipe -o endless.pbc || return
    "$PIPERUN" endless.pbc --device "$device" --firings 1000 z=z,raw w=/dev/null,raw 2>errors &
    run=$!
    timeout 30 head -c 4000 <z >came
    kill -INT $run
    wait $run
    bytes=$(stat -c %s came)
    cmp -s came expected && return
    echo "$bytes bytes"
    cat errors
    return 1
}

for policy in round_robin priority fullest auto; do
    for device in sim1 sim16 cpu:1; do
        check "$policy on $device" comes_out $device --policy=$policy
    done
done
for policy in fullest auto; do
    check "$policy on cpu:1, nothing fused" comes_out cpu:1 --policy=$policy --no-fuse
    check "$policy on cpu:1, smallest buffers" comes_out cpu:1 --policy=$policy --no-fuse --buffers=min
    check "$policy on sim4, fast buffers" comes_out sim4 --policy=$policy --buffers=fast
done

# An endless generator is cut off when nothing takes what follows from its packets; a stream with an end is read to its end.
cat >take.def <<'EOP'
kernel take(in i32 x, out i32 y) { state i32 i; if (i == 5) stop; y <- x; i++; }
kernel copy(in i32 x, out i32 y) { y <- x; }
kernel tens(in i32 x, out i32 y) { y <- 100000 / (100 - x); }
kernel pairs(in i32 x pop 2, out i32 y) { y <- x[0] + x[1]; }
kernel mix(in i32 x, in i32 back, out i32 y) { y <- x + back; }
kernel add(in i32 a, in i32 b pop 3, out i32 y) { y <- a + b[0]; }
kernel take_more(in i32 x, out i32 y) { state i32 i; if (i == 3000) stop; y <- x; i++; }
kernel inverse(in i32 x, out i32 y) { y <- 100000 / (x + 5); }
kernel eat(in i32 x) { state i32 sum; sum += x; }
EOP
program() { { cat take.def; echo "pipeline main(in i32 x, $2) { $3 }"; } >"$1.pipe"; }
program direct 'out i32 y' 'x -> take -> y;'
program copied 'out i32 y' 'x -> copy -> take -> y;'
program fewer 'out i32 y' 'x -> copy -> pairs -> copy -> take -> y;'
program faulty 'out i32 y' 'x -> tens -> take -> y;'
program ring 'out i32 y' 'buffer i32 s; buffer i32 back init 3 x 0; mix(x, back -> s); s -> copy -> back; s -> take -> y;'
program two 'in i32 f, out i32 y, out i32 z' 'buffer i32 c; x -> copy -> c; c -> take -> y; add(c, f -> z);'
program beside 'in i32 f, out i32 y' 'x -> copy -> take -> y; f -> eat;'
program other 'in i32 f, out i32 y, out i32 z' 'x -> copy -> take -> y; f -> copy -> take_more -> z;'
program faults 'in i32 f, out i32 y, out i32 z' 'buffer i32 q depth 1; f -> tens -> z; x -> inverse -> q; q -> take -> y;'

# cut_off NAME DEVICE PACKETS ARGUMENT...: the run ends, with these packets, and says nothing.
cut_off() {
    local name=$1 device=$2 packets=$3 compiled=${2%:*}
    shift 3
    [ "$device" != cuda-emulated ] || compiled=cuda
    [ "$device" = cpu:3 ] || # which runs what cpu:1 has run
        "$PIPEC" $optimise --min-level=error --device="$compiled" ${options:+"$options"} "$name.pipe" -o "$name.pbc" || return
    "$PIPERUN" --timeout 120 --device "$device" "$name.pbc" y=y.csv "$@" 2>notes || { cat notes; return 1; }
    [ "$(tr '\n' ' ' <y.csv)" = "$packets " ] && [ ! -s notes ] && return
    cat y.csv notes
    return 1
}
# `make check` has optimised code where nothing else is asked for, and takes the emulated GPU then only.
for options in '' --no-fuse --buffers=min; do
    optimise=-O2 devices='sim1 sim16 cpu:1 cpu:3 cuda-emulated'
    [ -n "${LONG-}" ] || [ -z "$options" ] || optimise=-O0 devices='sim1 cpu:1 cpu:3'
    for device in $devices; do
        for case in 'direct:0 1 2 3 4' 'copied:0 1 2 3 4' 'fewer:1 5 9 13 17' 'faulty:1000 1010 1020 1030 1041'; do
            check "$case on $device $options" cut_off "${case%%:*}" $device "${case#*:}" x=gen:ramp
        done
        check "both outputs of $device $options" cut_off two $device '0 1 2 3 4' x=gen:ramp f=gen:ramp:300 z=z.raw
        check "the second output on $device $options is whole" [ "$(stat -c %s z.raw)" = 400 ]
        [ "$options" != --buffers=min ] || check "a ring on $device" cut_off ring $device '0 1 2 3 5' x=gen:ramp
    done
done
options='' optimise=-O0
check "a generator whose packets arrive" cut_off copied sim1 '0 1 2 3 4' x=gen:ramp,arrive=1MHz
check "a generator with a count runs to its end" cut_off copied sim1 '0 1 2 3 4' x=gen:ramp:100000 --stats=json:stats
check "its packets are counted" grep -Eq '"name": *"x".*"packets": *100000' stats

# Other parts of the pipeline go on: one with an end, one that is endless too, and one that faults before the first ends,
# while an earlier fault is still possible there.
for device in sim1 sim16 cpu:1; do
    options=--no-fuse
    check "beside a stream with an end on $device" cut_off beside $device '0 1 2 3 4' x=gen:ramp f=gen:ramp:3000
    check "beside another endless one on $device" cut_off other $device '0 1 2 3 4' x=gen:ramp f=gen:ramp z=z.raw
    check "which gives all of its packets on $device" [ "$(stat -c %s z.raw)" = 12000 ]
    for options in --no-fuse --buffers=min; do
        "$PIPEC" -O0 --min-level=error --device="${device%:*}" "$options" faults.pipe -o faults.pbc
        check "a fault beside it on $device $options" says 4 "'tens' .* divided by zero in firing 100" \
            "$PIPERUN" --timeout 120 --device "$device" faults.pbc x=gen:ramp f=gen:ramp y=null z=null
    done
done
