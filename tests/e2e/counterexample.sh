#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # what stands in single quotes is an inner shell's
# pipec inspect --trace-deadlock: the shortest way into a deadlock, and piperun --replay, which fires it.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

# 'd' and 'e' lie outside of the cycle: that 'd' is full and 'e' is empty holds nothing back for ever.
cat >short.pipe <<'END'
kernel split(in i32 x, out i32 d, out i32 a, out i32 b) { d <- x; a <- x; b <- x; }
kernel slow(in i32 x pop 4, out i32 y push 4) { for (i32 i = 0; i < 4; i += 1) y <- x[i]; }
kernel join(in i32 e, in i32 a, in i32 b, out i32 y) { y <- a + b + e; }
kernel copy(in i32 x, out i32 y) { y <- x; }
pipeline main(in i32 x, in i32 w, out i32 y, out i32 z) {
    buffer i32 d depth 2;
    buffer i32 a;
    buffer i32 b depth 2;
    buffer i32 c;
    buffer i32 e;
    split(x -> d, a, b);
    slow(a -> c);
    join(e, c, b -> y);
    copy(d -> z);
    copy(w -> e);
}
END
cat >want <<'END'
deadlock after 2 firings, the minimum:
  split x 2
then these wait for each other forever:
  'split', after 2 firings, waits for room in 'b': 0 free, 1 needed; 'join' would free it
  'join', after 0 firings, waits for packets in 'c': 0 present, 1 needed; 'slow' would write them
  'slow', after 0 firings, waits for packets in 'a': 2 present, 4 needed; 'split' would write them
levels:
  'b' holds 2 of 2
  'c' holds 0, and no depth would help
  'a' holds 2, and no depth would help
END
"$PIPEC" inspect --trace-deadlock=short.pbc short.pipe >found 2>messages
check "the sequence is shown, with exit status 1" test $? -eq 1
diff want found
check "as it is documented" cmp -s want found
check "beside the error" grep -q 'depth-too-small' messages
"$PIPEC" inspect --trace-deadlock --json short.pipe >object 2>/dev/null
check "the object parses" parses object
check "and says what it is" grep -q '"kind": "deadlock"' object
check "and that it can be replayed" grep -q '"replayable": true' object

cat >want <<'END'
1: split, firing 1: 'd' holds 1 of 2, 'a' holds 1 of 8, 'b' holds 1 of 2
2: split, firing 2: 'd' holds 2 of 2, 'a' holds 2 of 8, 'b' holds 2 of 2
END
"$PIPERUN" --replay short.pbc >found 2>messages
check "the replay ends in the stall" test $? -eq 5
diff want found
check "firing by firing" cmp -s want found
# A sequence that repeats is kept as rules.
cat >turns.pipe <<'END'
kernel split(in i32 x, out i32 y, out i32 z) { y <- x; z <- x; }
kernel pass(in i32 x, out i32 y) { y <- x; }
kernel slow(in i32 x pop 60, out i32 y push 60) { for (i32 i = 0; i < 60; i++) y <- x[i]; }
kernel join(in i32 a, in i32 b, out i32 y) { y <- a + b; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 a;
    buffer i32 b depth 1;
    buffer i32 c;
    buffer i32 d depth 40;
    split(x -> a, b);
    slow(a -> c);
    pass(b -> d);
    join(c, d -> y);
}
END
"$PIPEC" inspect --trace-deadlock=turns.pbc turns.pipe >/dev/null 2>&1
check "a sequence of turns stalls" says 5 "'split' waits for room in 'b'" "$PIPERUN" --replay turns.pbc
check "after all of them" sh -c '"$0" --replay turns.pbc 2>/dev/null | tail -1 | grep -q "^81: split, firing 41:"' "$PIPERUN"
cycle="'split' waits for room in 'b' .holds 2 of 2, needs 1.; 'join' waits for packets in 'c' .holds 0, needs 1."
check "with the cycle that the runtime finds" grep -q "'slow' waits for packets in 'a' .holds 2, needs 4.; $cycle" messages
printf '\1\0\0\0\2\0\0\0' >two.raw
check "with data" says 5 "stalled: 'slow'" "$PIPERUN" --replay short.pbc x=two.raw,raw:i32 y=null
check "data that end too early are named" says 1 "as firing 2, 'split' finds too few packets" \
    "$PIPERUN" --replay short.pbc x=gen:ramp:1
check "it is not run" says 1 "a counterexample: its pipeline deadlocks" \
    "$PIPERUN" short.pbc x=gen:zeros y=null
check "whatever is bound" says 1 "short.pbc: the container is a counterexample" "$PIPERUN" short.pbc
check "it can be verified" "$PIPERUN" verify short.pbc

sed 's/depth 2/depth 4/' short.pipe >good.pipe
check "what passes has none" says 0 '^no deadlock: no sequence of firings' \
    "$PIPEC" inspect --trace-deadlock good.pipe
check "and writes none" says 1 "'good.pbc' is not written: there is no sequence" \
    "$PIPEC" inspect --trace-deadlock=good.pbc good.pipe
check "nor leaves a file" test ! -e good.pbc
"$PIPEC" good.pipe -o good.pbc
check "a program that passes is not replayed" says 2 'is no counterexample' "$PIPERUN" --replay good.pbc
check "a container is none" says 2 'takes a source' "$PIPEC" inspect --trace-deadlock good.pbc
check "the option is inspect's" says 2 "belongs to 'pipec inspect'" "$PIPEC" --trace-deadlock short.pipe
check "a file without a name" says 2 'needs the name of a file' "$PIPEC" inspect --trace-deadlock= short.pipe
check "the source is not written over" says 2 'short.pipe' "$PIPEC" inspect --trace-deadlock=short.pipe short.pipe

undecided=$ROOT/tests/reject/liveness_undecided.pipe
check "what is not decided has none that is known" says 1 "'u.pbc' is not written: no sequence .* was found" \
    "$PIPEC" inspect --trace-deadlock=u.pbc "$undecided"
"$PIPEC" inspect --trace-deadlock --json "$undecided" >object 2>/dev/null
check "in JSON too" grep -q '"kind": "undecided"' object

sed 's/init [0-9]*/init 60000023/' "$undecided" >periodic.pipe
check "what a periodic schedule proves passes" says 0 '^no deadlock: no sequence of firings' \
    "$PIPEC" inspect --trace-deadlock periodic.pipe

cat >rates.pipe <<'END'
kernel one(in i32 x, out i32 y) { y <- x; }
kernel two(in i32 x, out i32 y push 2) { y <- x; y <- x; }
kernel join(in i32 a, in i32 b, out i32 y) { y <- a + b; }
pipeline main(in i32 x, out i32 y) { buffer i32 a; buffer i32 b; one(x -> a); two(x -> b); join(a, b -> y); }
END
check "one inspection at a time" says 2 'ask for one at a time' \
    "$PIPEC" inspect --trace-deadlock --pareto rates.pipe
# Without repetitions nothing was searched, so nothing is said about sequences of firings.
cat >none_chosen.pipe <<'END'
pipeline a(in f32 x, out f32 y) { x -> k -> y; }
pipeline b(in f32 x, out f32 y) { x -> k -> y; }
kernel k(in f32 x, out f32 y) { y <- 2 * x; }
END
printf 'pipeline main(in f32 x, out f32 y) { x -> y\n' >syntax.pipe
for source in rates none_chosen syntax; do
    "$PIPEC" inspect --trace-deadlock=unsearched.pbc $source.pipe >found 2>messages
    check "$source.pipe is refused" test $? -eq 1
    check "nothing untrue about firings: $source.pipe" test "$(cat found)" = "no search for a deadlock: other errors prevent it"
    check "no container: $source.pipe" grep -q "not written: other errors prevent the search" messages
    "$PIPEC" inspect --trace-deadlock --json $source.pipe >object 2>/dev/null
    check "in JSON too: $source.pipe" grep -q '"kind": "unsearched"' object
done
check "a sequence that was searched is not there" says 1 'no sequence of firings shows this error' \
    "$PIPEC" inspect --trace-deadlock "$ROOT/tests/reject/buffer_initial_beyond_depth.pipe"

# A cycle of exact rates, fed by a bounded one: no sequence of firings decides which packets come there.
cat >fed.pipe <<'END'
kernel some(in i32 x, out i32 y) { if (x > 0) y <- x; }
kernel three(in i32 x, out i32 y push 3) { for (i32 i = 0; i < 3; i++) y <- x; }
kernel five(in i32 x peek 5, out i32 y) { y <- x[4]; }
pipeline main(in i32 x, out i32 y) { buffer i32 b depth 6; x -> some -> three -> b; b -> five -> y; }
END
rm -f fed.pbc
check "what a bounded rate feeds has a sequence" says 1 "is not written: the data decide how many packets a bounded rate writes" \
    "$PIPEC" inspect --trace-deadlock=fed.pbc fed.pipe
check "but not to be replayed" test ! -e fed.pbc

# Every program that is refused for a deadlock: its sequence is fired, and ends in a stall.  `make check-long` asks every
# refused program for one, `make check` every third of those with a message of these rules.
count=0 bad='' seen=0 least=8
[ -n "${LONG-}" ] || least=4
rules='deadlock|depth-too-small|buffer-below-burst'
for source in "$ROOT"/tests/reject/*.pipe; do
    if [ -z "${LONG-}" ]; then
        grep -qE "\[($rules)\]" "${source%.pipe}.stderr" || continue
        [ $(((seen += 1) % 3)) = 1 ] || continue
    fi
    rm -f one.pbc
    "$PIPEC" inspect --trace-deadlock=one.pbc "$source" >found 2>/dev/null
    [ $? -le 1 ] || bad="$bad $source"
    grep -q '^deadlock' found || continue
    [ -e one.pbc ] || continue
    count=$((count + 1))
    timeout 60 "$PIPERUN" --replay one.pbc >/dev/null 2>messages
    { [ $? -eq 5 ] && grep -q 'the pipeline has stalled' messages; } || bad="$bad $source:replay"
done
check "$count refused programs are replayed:$bad" test -z "$bad" -a "$count" -ge "$least"
