#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # what stands in single quotes is an inner shell's
# Command lists of every accepted program: they come back with the same bytes, graph, schedule and packets, also where
# they carry their kernels themselves, are written into another folder, or flatten pipelines used as kernels.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
# cmds OUTPUT ARGUMENT...: the list of a source, or of a list.
cmds() {
    to=$1
    shift
    "$PIPEC" graph --format=cmds "$@" >"$to" 2>errors || cat errors >&2
}
# shellcheck disable=SC2013 # names have no blanks
# packets PROGRAM LIST NAME: what the program writes when it reads noise; the ports are those of the list.
packets() {
    program=$1 list=$2 name=$3
    set -- --firings 50
    for port in $(sed -n 's/^create in "\(.*\)" .*/\1/p' "$list"); do set -- "$@" "$port=gen:noise:3:500"; done
    for port in $(sed -n 's/^create out "\(.*\)" .*/\1/p' "$list"); do set -- "$@" "$port=$name.$port.raw,raw"; done
    for value in $(sed -n 's/^argument [a-z0-9]* \([^ ]*\);/\1/p' "$list"); do set -- "$@" -D "$value=3"; done
    "$PIPEC" -q -O0 "$program" -o "$name.pbc" 2>/dev/null || return
    timeout 20 "$PIPERUN" "$name.pbc" "$@" 2>/dev/null
    echo "exit status $?" >"$name.status.raw"
}

# One program in sixteen, unless all of them are asked for.
part=16
[ -z "${LONG-}" ] || part=1
[ "$VARIANT" != tsan ] || part=8
refused='' other='' graphs='' outputs='' json='' seen=0 count=0 ran=0
for source in "$ROOT"/tests/lang/*.pipe "$ROOT"/examples/*/*.pipe "$ROOT"/tests/bench/*.pipe; do
    seen=$((seen + 1))
    [ $((seen % part)) = 0 ] || continue
    "$PIPEC" -q "$source" 2>/dev/null || continue
    count=$((count + 1))
    "$PIPEC" graph --format=cmds -o list.cmds "$source" 2>/dev/null || refused="$refused $source"
    "$PIPEC" graph --format=cmds --embed -o whole.cmds "$source" 2>/dev/null || refused="$refused $source"
    cmds again.cmds list.cmds && cmp -s list.cmds again.cmds || other="$other $source"
    cmds again.cmds --embed list.cmds && cmp -s whole.cmds again.cmds || other="$other $source"
    grep -v '^source "std/' whole.cmds | grep -q '^source' && other="$other $source"
    for form in graph sched; do
        "$PIPEC" --emit=$form "$source" >one 2>/dev/null
        "$PIPEC" --emit=$form list.cmds >two 2>/dev/null
        cmp -s one two || graphs="$graphs $source"
    done
    "$PIPEC" --emit=sched whole.cmds >one 2>/dev/null
    cmp -s one two || graphs="$graphs $source"
    # Kernels are compiled twice for the packets, which takes most of the time: where all programs are tried, of every third.
    if [ $((count % (part > 1 ? 1 : 3))) = 0 ]; then
        rm -f one.* two.*
        packets "$source" list.cmds one
        packets whole.cmds list.cmds two
        for file in one.*.raw; do cmp -s "$file" "two${file#one}" || outputs="$outputs $source"; done
        grep -q ' 0$' one.status.raw && ran=$((ran + 1))
    fi
    "$PIPEC" graph --format=json "$source" >object 2>/dev/null && parses object || json="$json $source"
    "$PIPEC" graph "$source" 2>/dev/null | grep -q '^digraph' || json="$json $source"
done
check "$count command lists are accepted:$refused" test -z "$refused"
check "$count command lists come back with the same bytes:$other" test -z "$other"
check "$count command lists have the same graph and schedule:$graphs" test -z "$graphs"
check "command lists give the same packets:$outputs" test -z "$outputs"
check "$count graphs as JSON and DOT:$json" test -z "$json"
[ $((count * part)) -gt 80 ] || echo "not ok only $count programs were accepted"
[ $ran -gt $((part > 1 ? 5 : 20)) ] || echo "not ok only $ran programs ran to their end"

# Pipelines used as kernels: names with dots, arrays in loops, arguments and shapes that go through.
cat >tower.pipe <<'END'
kernel gain(in i32 x, out i32 y; i32 by = 2) { y <- x * by; }
kernel add(in i32 a, in i32 b, out i32 y) { y <- a + b; }
kernel split(in i32 x, out i32 y[2]) {
    y[0] <- x;
    y[1] <- x + 1;
}
kernel blur(in i32 x window 3x1 border zero, out i32 y) { y <- x[0][-1] + x[0][0] + x[0][1]; }
pipeline inner(in i32 x, out i32 y; i32 by) {
    buffer i32 one depth 8;
    first: gain(x -> one; by + 1) importance 4;
    one -> blur -> gain(by) -> y;
}
pipeline outer(in i32 x rows 16, out i32 y; i32 by = 5) {
    buffer i32 part[2], done[2];
    split(x -> part);
    for (int i = 0; i < 2; i++) leg: inner(part[i] -> done[i]; by * 2);
    add(done[0], done[1] -> y);
}
pipeline main(in i32 x depth 100, out i32 y depth 64; i32 by = 1) {
    buffer i32 mid;
    left: outer(x -> mid; by << 1);
    mid -> outer -> y;
}
END
check "a tower compiles" "$PIPEC" tower.pipe -o one.pbc
cmds tower.cmds tower.pipe
check "its nodes have dots" grep -q '^create kernel "left.leg\[1\].first" gain(' tower.cmds
check "its buffers too" grep -q '^create buffer "left.leg\[0\].one" i32;' tower.cmds
check "its ports have depths" grep -qx 'set "x" depth 100;' tower.cmds
cmds again.cmds tower.cmds
check "its list comes back" cmp tower.cmds again.cmds
for form in graph sched; do
    "$PIPEC" --emit=$form tower.pipe >one
    "$PIPEC" --emit=$form tower.cmds >two
    check "a tower and its list: --emit=$form" cmp one two
done
for list in tower.pipe tower.cmds; do
    "$PIPEC" "$list" -o own.pbc
    "$PIPERUN" own.pbc x=gen:noise:5:4000 "y=$list.raw,raw" -D by=3 2>errors || cat errors
done
check "a tower and its list give the same packets" cmp tower.pipe.raw tower.cmds.raw
check "there are some" test -s tower.cmds.raw
for program in tower.pipe tower.cmds; do
    "$PIPEC" graph "$program" >"$program.dot"
    "$PIPEC" graph --format=json "$program" | grep -v '"\(file\|line\)"' >"$program.json"
done
check "the drawing of a list is that of its source" cmp tower.pipe.dot tower.cmds.dot
check "clusters in clusters" sh -c 'grep -A2 "subgraph cluster" tower.cmds.dot | grep -q "leg\[1\]"'
check "the JSON of a list is that of its source" cmp tower.pipe.json tower.cmds.json

# Findings that the author accepts.
cmds accepted.cmds "$ROOT/tests/lang/unproven_accepted.pipe"
check "an accepted rate is an attribute" grep -qx 'set "p" unproven "x is known to be above 3";' accepted.cmds
"$PIPEC" graph --format=json accepted.cmds >object
check "and a key" grep -q '"unproven": "x is known to be above 3"' object
sed 's/^set "p" unproven.*//' accepted.cmds >wrong.cmds
check "without it the list is refused" says 1 'wrong.cmds:[0-9]+:.*liveness-unproven' "$PIPEC" wrong.cmds
sed 's/unproven "x.*"/unproven " "/' accepted.cmds >wrong.cmds
check "it needs a reason" says 1 'suppression-without-reason' "$PIPEC" wrong.cmds
sed 's/unproven "x.*"/unproven 1/' accepted.cmds >wrong.cmds
check "a reason is a string" says 1 'takes a string that says why' "$PIPEC" wrong.cmds
sed 's/^set "p" unproven/set "x" unproven/' accepted.cmds >wrong.cmds
check "a port has none" says 1 "takes no attribute 'unproven'" "$PIPEC" wrong.cmds
sed 's/^set "p" unproven.*//; s|\(connect "positive".*\)|\1 // pipec: allow(liveness-unproven) reason="as \\ \\"|' \
    accepted.cmds >comment.cmds
cmds again.cmds comment.cmds
check "a comment in a list does the same" grep -qxF 'set "p" unproven "as \\ \\";' again.cmds

# Lists that carry their kernels: several files, folders, -I, the library, comments.
mkdir -p src/lib include elsewhere
cat >src/main.pipe <<'END'
// The licence of the file.

import "lib/near.pipe";
import "far.pipe";  // by -I
import "std/streams.pipe";

/// What it does.
/* in two
   comments */
kernel here(in i32 x, out i32 y) { y <- near(x) + FAR; }  /* behind
it */ const i32 UNUSED = 1;
// of the pipeline
pipeline main(in i32 x, out i32 y) { x -> here -> there<i32> -> y; }
// of the test
test t of main { x = {1}; expect y == {4}; }
struct pair { i32 a, b; };
END
printf 'fn i32 near(i32 x) { return x + 1; } // near\r\n' >src/lib/near.pipe
printf '\357\273\277import "std/streams.pipe";\nconst i32 FAR = 2;\n\n\nkernel there<type T>(in T x, out T y) { y <- x; }' \
    >include/far.pipe
cat >expected.cmds <<'END'
// pipec commands 1
source "std/streams.pipe";
/// What it does.
/* in two
   comments */
kernel here(in i32 x, out i32 y) { y <- near(x) + FAR; }  /* behind
it */
const i32 UNUSED = 1;
struct pair { i32 a, b; };
fn i32 near(i32 x) { return x + 1; } // near
const i32 FAR = 2;

kernel there<type T>(in T x, out T y) { y <- x; }
pipeline "main";
END
cmds whole.cmds --embed -I include src/main.pipe
sed '/^pipeline/q' whole.cmds | tr -d '\r' >begin.cmds
check "what a list carries" diff expected.cmds begin.cmds
cp whole.cmds elsewhere/
for program in "-I include src/main.pipe" elsewhere/whole.cmds; do
    # shellcheck disable=SC2086
    "$PIPEC" $program -o own.pbc
    "$PIPERUN" own.pbc x=gen:ramp:9 y=own.raw,raw 2>errors || cat errors
    [ -e first.raw ] || mv own.raw first.raw
done
check "it needs no other file" cmp first.raw own.raw
cmds again.cmds elsewhere/whole.cmds
check "the list of such a list carries the same" cmp whole.cmds again.cmds
sed 's/near(x) + FAR/near(x) + FUR/' whole.cmds >wrong.cmds
check "mistakes in what it carries have places in it" says 1 "wrong.cmds:6:[0-9]+: error.*'FUR'" "$PIPEC" wrong.cmds
check "what is carried is not carried twice" test "$(grep -c 'kernel there<' again.cmds)" = 1
sed 's/^source/import/' whole.cmds >wrong.cmds
check "a list has no imports" says 1 "write 'source' in place of 'import'" "$PIPEC" wrong.cmds
(cat whole.cmds && echo 'pipeline more(in i32 a, out i32 b) { a -> there<i32> -> b; }') >wrong.cmds
check "a list has no pipelines of the language" says 1 'it holds no pipeline of the language' "$PIPEC" wrong.cmds
(cat whole.cmds && echo 'test t of here { x = {1}; }') >wrong.cmds
check "a list has no tests" says 1 'it holds no test of the language' "$PIPEC" wrong.cmds
"$PIPEC" graph --format=cmds - <tower.pipe >stream.cmds
check "the list of standard input carries its kernels" "$PIPEC" stream.cmds
check "and names nothing" sh -c '! grep -q "^source" stream.cmds'
check "--embed is of lists" says 2 'goes with --format=cmds' "$PIPEC" graph --embed tower.pipe

# Lists in other folders than their sources and than the lists that they are made of.
"$PIPEC" graph --format=cmds -I include -o src/main.cmds src/main.pipe
check "beside its source, by its name alone" grep -qx 'source "main.pipe";' src/main.cmds
for target in main.cmds elsewhere/main.cmds src/lib/main.cmds "$TMP/elsewhere/root.cmds"; do
    "$PIPEC" graph --format=cmds -I include -o "$target" src/main.cmds
    check "a list of a list, at ${target#"$TMP"}" "$PIPEC" -I include "$target"
done
cat >two.cmds <<'END'
// pipec commands 1
source "src/lib/near.pipe";
source "include/far.pipe";
source "std/streams.pipe";
pipeline "main";
create in "x" i32;
create out "y" i32;
create kernel "there" there<i32>;
connect "x" -> "there".x;
connect "there".y -> "y";
END
"$PIPEC" graph --format=cmds -o elsewhere/two.cmds two.cmds
check "a list of several sources" "$PIPEC" elsewhere/two.cmds
check "names all of them" test "$(grep -c '^source' elsewhere/two.cmds)" = 3
check "the library by its name" grep -qx 'source "std/streams.pipe";' elsewhere/two.cmds
cmds again.cmds two.cmds
check "and comes back" cmp two.cmds again.cmds

# A refused command leaves the buffers and the nodes that it names in doubt, and no others.
cat >doubts.cmds <<'END'
// pipec commands 1
kernel copy(in i32 x, out i32 y) { y <- x; }
create in "x" i32;
create in "unread" i32;
create out "y" i32;
create buffer "mine" i32;
create buffer "made" i32;
create kernel "refused" unknown;
create kernel "other port" copy;
create kernel "open" copy;
create kernel "open too" copy;
connect "x" -> "refused".x;
connect "refused".y -> "mine";
connect "mine" -> "other port".z;
connect "other port".y -> "made";
connect "made" -> "open".x;
END
cat >ends.cmds <<'END'
// pipec commands 1
kernel copy(in i32 x, out i32 y) { y <- x; }
create in "x" i32;
create in "unread" i32;
create out "y" i32;
create buffer "mine" i32;
create kernel "refused" copy(x -> y);
create kernel "whole" copy;
connect "x" -> "refused".x;
connect "refused".y -> "mine";
connect "x" -> "whole".x;
connect "whole".y -> "y";
END
"$PIPEC" doubts.cmds 2>errors
check "nodes with open ports are all reported, beside what was refused" test "$(grep -o 'error: .*' errors)" = \
"error: there is no kernel 'unknown' [unknown-name]
error: 'open' has 2 ports, 1 is connected [wrong-argument-count]
error: 'open too' has 2 ports, 0 are connected [wrong-argument-count]
error: 'copy' has no in-port 'z' [unknown-name]"
"$PIPEC" ends.cmds 2>errors
check "and ports that nothing reads" test "$(grep -o 'error: .*' errors)" = \
"error: in-port 'unread' is read by nothing [no-consumer]
error: the parentheses of a kernel hold its run-time arguments; 'connect' binds its ports [syntax]"
