#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals: pipec leaves nothing; piperun drains on the first SIGINT and publishes, and leaves nothing on SIGTERM.
set -u
cd "$TMP" || exit 1
mkdir scratch
export TMPDIR=$TMP/scratch

left=0
for delay in 0.005 0.01 0.02 0.03 0.04 0.06 0.08 0.12; do
    "$PIPEC" "$ROOT/examples/fmradio/fmradio.pipe" -o out.pbc 2>/dev/null &
    sleep $delay
    kill -TERM $! 2>/dev/null
    wait $! 2>/dev/null
    for leaving in scratch/* out.pbc.*; do [ ! -e "$leaving" ] || left=$((left + 1)); done
    if [ -e out.pbc ]; then
        "$PIPERUN" verify out.pbc 2>/dev/null || left=$((left + 1))
        rm -f out.pbc
    fi
done
if [ $left -eq 0 ]; then echo "ok a killed pipec leaves nothing half-written"; else echo "not ok a killed pipec leaves $left files"; fi

printf 'kernel k(in i32 x, out i32 y) { y <- x; }\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n' >copy.pipe
"$PIPEC" copy.pipe -o copy.pbc || exit 1

# run SIGNAL: an endless run into a file, stopped by a signal once it is under way; prints the exit status.
run() {
    "$PIPERUN" -q copy.pbc x=gen:ramp y="$1.raw" 2>stderr &
    child=$!
    for _ in $(seq 200); do
        sleep 0.02
        [ -z "$(find . -name "*$1.raw*" -size +64k)" ] || break
    done
    kill -"$1" $child
    wait $child
    echo $?
}
status=$(run INT)
if [ "$status" = 130 ]; then echo "ok SIGINT gives exit status 130"; else echo "not ok SIGINT gives exit status $status"; fi
size=$(wc -c <INT.raw 2>/dev/null || echo 0)
if [ "$size" -gt 0 ] && [ $((size % 4)) -eq 0 ]; then echo "ok SIGINT publishes what was read"; else echo "not ok SIGINT publishes: $size bytes"; fi
status=$(run TERM)
if [ "$status" = 143 ]; then echo "ok SIGTERM gives exit status 143"; else echo "not ok SIGTERM gives exit status $status"; fi
if [ -z "$(find . -name '*TERM.raw*')" ]; then echo "ok SIGTERM leaves nothing"; else echo "not ok SIGTERM leaves $(find . -name '*TERM.raw*')"; fi

# A source ends where it is; what it feeds drains, and its finish is the last packet.
cat >count.pipe <<'EOF'
kernel count(out i32 y) {
    state i32 i = 0;
    y <- i;
    i++;
    finish { y <- -1; }
}
kernel copy(in i32 x, out i32 y) { y <- x; }
pipeline main(out i32 y) { count -> copy -> y; }
EOF
"$PIPEC" count.pipe -o count.pbc || exit 1
"$PIPERUN" -q count.pbc y=count.raw 2>stderr &
child=$!
for _ in $(seq 200); do
    sleep 0.02
    [ -z "$(find . -name "*count.raw*" -size +64k)" ] || break
done
kill -INT $child
wait $child
status=$?
if [ $status = 130 ] && [ "$(tail -c 4 count.raw | od -An -td4 | tr -d ' ')" = -1 ]; then
    echo "ok SIGINT ends sources, and what they feed drains"
else
    echo "not ok SIGINT and a source: exit status $status"
fi

"$PIPERUN" -q --timeout 1 copy.pbc x=gen:ramp y=late.raw 2>stderr
status=$?
if [ $status = 5 ] && [ ! -e late.raw ]; then echo "ok --timeout gives exit status 5 and no output"; else echo "not ok --timeout gives exit status $status"; fi
