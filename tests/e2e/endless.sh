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
    "$PIPEC" --min-level=error --device="${device%:*}" "$@" endless.pipe -o endless.pbc || return
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
