#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals and time limits while a run is blocked, in reading, in writing, in a kernel: what piperun says, leaves and ends with.
# Almost nothing here is timed: pipes tell how far the run has come, and what it says on standard error is waited for.
set -u
cd "$TMP" || exit 1

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1"; }
# verdict NAME COMMAND...
verdict() {
    local name=$1
    shift
    if "$@"; then ok "$name"; else not_ok "$name: $*"; fi
}

cat >copy.pipe <<'EOP'
kernel copy(in i32 x, out i32 y) { y <- x; }
pipeline main(in i32 x, out i32 y, out i32 z) {
    x -> copy -> y;
    x -> copy -> z;
}
EOP
# A batch of it is more than a pipe holds.
cat >many.pipe <<'EOP'
kernel many(in i32 x, out i32 y push 256) { for (i32 i = 0; i < 256; i++) y <- x + i; }
kernel copy(in i32 x, out i32 y) { y <- x; }
pipeline main(in i32 x, out i32 y, out i32 z) {
    x -> many -> y;
    x -> copy -> z;
}
EOP
cat >long.pipe <<'EOP'
kernel long_one(in i32 x, out i32 y) {
    i32 sum = x;
    for (i32 i = 0; i < 2000000000; i++)
        for (i32 k = 0; k < 2000000000; k++) sum = (sum ^ i) * 5 + k;
    y <- sum;
}
pipeline main(in i32 x, out i32 y) { x -> long_one -> y; }
EOP
for name in copy many long; do "$PIPEC" --no-fuse $name.pipe -o $name.pbc || exit 1; done
depth=$("$PIPEC" inspect copy.pbc | sed -n 's/^in-port x: .* depth \([0-9]*\) .*/\1/p')
mkfifo in out said

# begin WORD...: piperun with `said` as standard error, which is descriptor 5 here; $child is its process.  It has said
# something: from there on it handles signals.
begin() {
    local line
    rm -f z.raw
    "$PIPERUN" -v "$@" 2>said &
    child=$!
    exec 5<said
    IFS= read -r -t 60 -u 5 line
}
# ends STATUS: what is still said goes to `rest`.
ends() {
    local status
    cat <&5 >rest
    exec 5<&-
    wait "$child"
    status=$?
    [ $status = "$1" ] || { echo "exit status $status, not $1"; cat rest; return 1; }
}
# asks LAST: sends SIGUSR1 and reads what is said, up to the line of the buffer LAST, into $table.
asks() {
    local line
    table=
    kill -USR1 "$child" || return 1
    while IFS= read -r -t 60 -u 5 line; do
        table+=$line$'\n'
        [[ $line == "$1 "* || $line == *"has not begun" ]] && return 0
    done
    return 1
}
# comes_to LAST PATTERN: sooner or later the run stands so.
comes_to() {
    until asks "$1" && grep -Eq "$2" <<<"$table"; do
        [ -n "$table" ] || { echo "never: $2"; return 1; }
    done
}
shows() { grep -Eq "$1" <<<"$table" || { echo "$table"; return 1; }; }
said() { grep -Eq "$1" rest || { cat rest; return 1; }; }
left() { find . -name '*z.raw*'; }
leaves_nothing() { [ -z "$(left)" ]; }

# under_way DEVICE: copy.pbc has processed a full in-port and waits for more, or is about to.
under_way() {
    begin --device "$1" copy.pbc x=in,raw y=out,raw z=z.raw
    exec 6>in 7<out
    head -c $((4 * depth)) /dev/zero >&6
    head -c $((4 * depth)) <&7 >passed
}
leave() { exec 6>&- 7<&-; }

for device in sim16 null; do
    under_way $device
    verdict "$device: SIGUSR1 says that a run waits for input" comes_to z "^cycle [0-9]+: the scheduler waits for the host to fill 'x'$"
    verdict "$device: and what its stages wait for" shows "^copy +copy +$depth .* waits for input 'x' \(holds 0, to be filled up to $depth\)$"
    verdict "$device: and its buffers" shows "^y +0 +[0-9]+ +[0-9]+ +$depth +out-port, open$"
    kill -INT "$child"
    verdict "$device: SIGINT ends a run that is blocked in reading" ends 130
    verdict "$device: and what had been read is published" [ "$(wc -c <z.raw)" = $((4 * depth)) ]
    leave

    under_way $device
    kill -TERM "$child"
    verdict "$device: SIGTERM ends it" ends 143
    verdict "$device: and leaves nothing" leaves_nothing
    leave

    under_way $device
    exec 6>&-
    verdict "$device: the end of the pipe ends the run" ends 0
    leave
done

# blocked SOURCE: the run has begun a write that its reader never finishes.
blocked() {
    begin many.pbc x="$1" y=out,raw z=z.raw
    exec 7<out
    head -c 4 <&7 >passed
}
head -c 1000000 /dev/zero >zeros.raw
taking="^cycle [0-9]+: the scheduler waits for the host to take 'y'$"
for source in gen:ramp zeros.raw /dev/zero,raw; do
    blocked $source
    kill -INT "$child"
    verdict "$source: a run that is blocked in writing says so" comes_to z "$taking"
    sleep 0.2 # those within 50 milliseconds are one
    kill -INT "$child"
    verdict "$source: a second SIGINT stops at once" ends 130
    verdict "$source: and leaves nothing" leaves_nothing
    exec 7<&-

    blocked $source
    kill -INT "$child"
    cat <&7 >drained &
    verdict "$source: one SIGINT lets the reader have the rest" ends 130
    wait
    verdict "$source: of all outputs" [ "$(wc -c <drained)" = $((256 * $(wc -c <z.raw) - 4)) ]
    exec 7<&-

    blocked $source
    kill -INT "$child" "$child"
    cat <&7 >drained &
    verdict "$source: two SIGINT at once, as timeout(1) sends them, are one" ends 130
    wait
    verdict "$source: that lets the reader have the rest" [ "$(wc -c <drained)" = $((256 * $(wc -c <z.raw) - 4)) ]
    exec 7<&-

    begin many.pbc x=$source y=out,raw z=null
    exec 7<out
    head -c 4 <&7 >passed
    exec 7<&-
    verdict "$source: a reader that goes away ends the run quietly" ends 0
    verdict "$source: with a note" said "^piperun: note: the reader of 'y' has gone$"
done

# A limit of time is SIGALRM: sent here, it comes where it is to come.
late='^piperun: error: the time limit is exceeded \[timeout\]$'
begin --timeout 1000 copy.pbc x=in,raw y=null z=z.raw
exec 6<>in
verdict "the time limit, while reading" comes_to z "host to fill 'x'$"
kill -ALRM "$child"
verdict "the time limit, while reading: exit status" ends 5
verdict "the time limit, while reading: an error" said "$late"
verdict "the time limit, while reading: where the run stood" said "^copy .* waits for input 'x' \(holds 0, to be filled up to $depth\)$"
verdict "the time limit, while reading: nothing is left" leaves_nothing
exec 6>&-

blocked gen:ramp
verdict "the time limit, while writing" comes_to z "$taking"
kill -ALRM "$child"
verdict "the time limit, while writing: exit status" ends 5
verdict "the time limit, while writing: where the run stood" said "$taking"
verdict "the time limit, while writing: nothing is left" leaves_nothing
exec 7<&-

several="1 2"
if [ "$VARIANT" = tsan ]; then
    several=
    echo "skip SIGUSR1_in_a_kernel ThreadSanitizer delivers no signal to code that calls nothing"
fi
for threads in $several; do
    begin --host-threads "$threads" long.pbc x=gen:ramp y=z.raw
    verdict "SIGUSR1 in a kernel, $threads threads" comes_to y '^long_one .* in flight: [0-9]+ firings?$'
    kill -ALRM "$child"
    verdict "the time limit in a kernel, $threads threads: exit status" ends 5
    verdict "the time limit in a kernel, $threads threads: where the run stood" said '^long_one .* in flight: [0-9]+ firings?$'
    verdict "the time limit in a kernel, $threads threads: nothing is left" leaves_nothing
done

begin --timeout 0.01 copy.pbc x=gen:ramp y=null z=z.raw
verdict "--timeout of a run that goes on: exit status" ends 5
verdict "--timeout of a run that goes on: an error" said "$late"
verdict "--timeout of a run that goes on: nothing is left" leaves_nothing
