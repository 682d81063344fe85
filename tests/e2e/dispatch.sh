#!/bin/sh
# SPDX-License-Identifier: MIT
# piperun --dispatch: the forms of packets from the command line, what they show, and with stages beyond the entries.
set -eu
. "$ROOT/tests/checks.sh"
cd "$TMP"

# Ten stages on the four compute units of sim4: two packs or more, two stages beyond the eight entries.
cat >ten.pipe <<'END'
kernel add(in i32 x, out i32 y) { y <- x + 1; }
pipeline main(in i32 x, out i32 y) {
    x -> add -> add -> add -> add -> add -> add -> add -> add -> add -> add -> y;
}
END
"$PIPEC" --no-fuse --device sim4 ten.pipe -o ten.pbc
"$PIPERUN" ten.pbc x=gen:ramp:100000 y=null --hash y >default.hash
for form in condensed reference full; do
    "$PIPERUN" --dispatch=$form --stats=json:$form.json ten.pbc x=gen:ramp:100000 y=null --hash y >$form.hash
    check "the same bits by $form packets" cmp -s default.hash $form.hash
done

# number FILE KEY: the first figure of that name in the object "dispatch".
number() { sed -n 's/^  "dispatch": {\(.*\)},$/\1/p' "$1" | sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p"; }
overhead() { sed -n 's/^  "launch_cycles": \([0-9]*\),$/\1/p' "$1"; }

check "condensed packets cost less" [ "$(overhead condensed.json)" -lt "$(overhead full.json)" ]
check "reference packets cost what full ones do" [ "$(overhead reference.json)" -eq "$(overhead full.json)" ]
check "what full ones would have cost is told" [ "$(number condensed.json full_cycles)" -eq "$(overhead full.json)" ]
check "fewer bytes" [ "$(number condensed.json bytes)" -lt "$(number full.json bytes)" ]
check "stages beyond the entries are counted" [ "$(number condensed.json spills)" -gt 0 ]
check "full packets spill nothing" [ "$(number full.json spills)" -eq 0 ]
check "inspect says who is spilled" says 0 'spilled, the entry is another' "$PIPEC" inspect --no-fuse --device sim4 ten.pipe
check "inspect of a container has packs" says 0 'stage 0 add: .* pack 0 place 0 entry 0' "$PIPEC" inspect ten.pbc

check "a form that there is not" says 2 "'short' is none of condensed, reference and full" \
    "$PIPERUN" --dispatch=short ten.pbc x=gen:ramp:1 y=null
check "a form is missing" says 2 'an argument is missing' "$PIPERUN" ten.pbc x=gen:ramp:1 y=null --dispatch
check "the null device takes packets" "$PIPERUN" -q --device null ten.pbc x=gen:ramp:1000 y=null

# Two stages that have nothing to do with each other, on one compute unit; a chain of two.
cat >two.pipe <<'END'
kernel add(in i32 x, out i32 y) { y <- x + 1; }
pipeline apart(in i32 x, in i32 u, out i32 y, out i32 v) { add(x -> y) cost 10000; add(u -> v) cost 10000; }
pipeline chain(in i32 x, out i32 y) { buffer i32 s; add(x -> s) cost 10000; add(s -> y) cost 10000; }
END
for ahead in 0 1; do
    { sed -e "s/^name .*/name = ahead$ahead/" "$ROOT/lang/devices/sim1.dev"; echo "processes_ahead = $ahead"; } >ahead$ahead.dev
    for main in apart chain; do
        "$PIPEC" --device ahead$ahead.dev --layout=sequence --no-fuse -p $main two.pipe -o $main.pbc
        ports='x=x.csv y=y.raw'
        [ $main = chain ] || ports="$ports u=x.csv v=null"
        echo 1 >x.csv
        # shellcheck disable=SC2086 # words
        "$PIPERUN" -q --device sim:ahead$ahead.dev --dispatch=full --stats=json:$main$ahead.json $main.pbc $ports
    done
done
check "without ahead each launch pays its packet" [ "$(overhead apart0.json),$(overhead chain0.json)" = 1600,1600 ]
check "a launch that depends on nothing is processed behind the one before" [ "$(overhead apart1.json)" = 1000 ]
check "one with a barrier is enqueued behind it" [ "$(overhead chain1.json)" = 1400 ]
