#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # what stands in single quotes is an inner shell's
# pipec graph: its forms, and command lists as input (command_lists.sh compares those of every program).
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

# The compiled list gives the same packets.
cat >all.pipe <<'END'
struct pixel { u8 r; i16 g[2]; };
kernel spread<int N>(in i32 x pop 2, out i32 y[2] push N; i32 by, f64 scale = 0.1, bool on = true) {
    for (i32 i = 0; i < 2 * N; i++) y[i % 2] <- on ? x[i % 2] * by + (i32)(scale * 10) : 0;
}
kernel minus<int K>(in i32 x, out i32 y) { y <- x - K; }
kernel add(in i32 x[2], in i32 back, out i32 y, out i32 again) {
    y <- x[0] + x[1] + back;
    again <- x[0];
}
kernel paint(in i32 x, out pixel p) {
    pixel q = {x, {x, -x}};
    p <- q;
}
kernel fade(in pixel p peek 2, out i32 y) { y <- (i32)p[1].g[0] - p[0].r; }
pipeline main(in i32 a, out i32 b, out i32 c; i32 gain = 3, i64 big = -9223372036854775807) policy round_robin {
    buffer i32 part[2] depth 64, loop depth 9 init {1, -2, 3}, sum;
    buffer pixel p init 1 x {1, {2, 3}};
    wide: spread<2>(a -> part; gain * 2 + (i32)(big >> 60), 0.25) importance 7;
    last: add(part, loop -> sum, loop);
    sum -> minus<(-1)> -> b;
    sum -> minus<2> -> paint -> p;
    fade(p -> c);
}
END
"$PIPEC" all.pipe -o one.pbc && "$PIPEC" graph --format=cmds -o all.cmds all.pipe && "$PIPEC" all.cmds -o two.pbc
for list in one two; do
    "$PIPERUN" $list.pbc a=gen:ramp:100 b=$list.b.raw,raw c=$list.c.raw,raw 2>err || cat err
done
check "the same packets" cmp one.b.raw two.b.raw
check "the same packets through structs" cmp one.c.raw two.c.raw
check "there are some" test -s one.b.raw
"$PIPEC" --emit=cmds all.pipe >emitted.cmds
check "--emit=cmds is the same" cmp all.cmds emitted.cmds
"$PIPEC" --emit=json all.cmds >object
check "--emit=json of a list" parses object
check "a list says what it is" sh -c 'cp all.cmds list.txt && "$0" list.txt' "$PIPEC"
mkdir -p deep && "$PIPEC" graph --format=cmds -o deep/far.cmds all.pipe
check "a list in another folder finds its source" "$PIPEC" deep/far.cmds
check "inspect takes lists" says 0 '"pipeline": "main"' "$PIPEC" inspect --json all.cmds
check "fmt leaves lists" says 1 "pipec graph --format=cmds" "$PIPEC" fmt all.cmds

# Mistakes have places.
try() {
    name=$1 pattern=$2 edit=$3
    sed "$edit" all.cmds >wrong.cmds
    check "$name" says 1 "$pattern" "$PIPEC" wrong.cmds
}
try "an unknown command" "wrong.cmds:[0-9]+:1: error: 'creat' is not a command.*|did you mean 'create'" 's/^create buffer "sum"/creat buffer "sum"/'
try "an unknown kernel" "there is no kernel 'ad'" 's/"last" add/"last" ad/'
try "an unknown port" "'add' has no in-port 'w'" 's/"last".back/"last".w/'
try "an element that is not there" "has no element 2" 's/"last".x\[1\]/"last".x[2]/'
try "a port that is not connected" "'last' has 5 ports, 4 are connected" '/"last".back/d'
try "a port connected twice" "this port is connected twice" 's/"last".x\[1\]/"last".x[0]/'
try "an unknown buffer" "there is no buffer 'summ'" 's/-> "sum";/-> "summ";/'
try "an unknown node" "no kernel is called 'lost'" 's/-> "last".back/-> "lost".back/'
try "two writers" "has two producers" 's/"last".again -> "loop"/"last".again -> "sum"/'
try "two of a name" "two instances are called|is declared twice|called 'wide'" 's/create kernel "last"/create kernel "wide"/'
try "a depth that is too small" "wrong.cmds:[0-9]+:[0-9]+: error" 's/"part\[0\]" depth 64/"part[0]" depth 1/'
try "an attribute twice" "is set twice" 's/^set "wide" importance 7;/&&/'
try "an unknown attribute" "no attribute 'depht'" 's/"loop" depth/"loop" depht/'
try "a missing semicolon" "wrong.cmds:[0-9]+:.*error.*syntax" 's/^pipeline "main" policy round_robin;/pipeline "main" policy round_robin/'
try "a source that is not there" "there is no file 'nil.pipe'" 's/source "all.pipe"/source "nil.pipe"/'
try "a type that does not fit" "takes packets of type" 's/create buffer "sum" i32/create buffer "sum" i64/'
printf '// pipec commands 1\n' >nothing.cmds
check "an empty list" says 1 'no kernels' "$PIPEC" nothing.cmds
printf 'import "all.cmds";\n' >imports.pipe
check "a list is not imported" says 1 'compiled by itself' "$PIPEC" imports.pipe

# Drawings.
if command -v dot >/dev/null; then check "Graphviz reads it" sh -c '"$0" graph all.pipe | dot -Tsvg | grep -q "<svg"' "$PIPEC"; fi
check "a refused program is drawn" sh -c '"$0" graph "$1/tests/reject/deadlock_no_initial_packets.pipe" 2>/dev/null | grep -q "^digraph"' "$PIPEC" "$ROOT"
check "and refused" says 1 'deadlock' "$PIPEC" graph "$ROOT/tests/reject/deadlock_no_initial_packets.pipe"
cp all.pipe copy.pipe
cp copy.pipe untouched.pipe
check "the source is not overwritten" says 2 'is the input' "$PIPEC" graph -o copy.pipe copy.pipe
check "by whatever name" says 2 'is the input' "$PIPEC" graph -o "$PWD/./copy.pipe" copy.pipe
check "nor by diagnostics" says 2 'is (a source|the input)' "$PIPEC" graph --diagnostics=json:./copy.pipe copy.pipe
check "nor by those of tests" says 2 'is (a source|the input)' "$PIPEC" test --diagnostics=json:./copy.pipe copy.pipe
check "nor by those of fmt" says 2 'is a file that this command reads' "$PIPEC" fmt --diagnostics=json:./copy.pipe copy.pipe
check "it is as it was" cmp copy.pipe untouched.pipe
check "a picture and diagnostics in one file" says 2 "two outputs to 'one.svg'" "$PIPEC" graph --format=svg \
    --diagnostics=json:one.svg -o one.svg copy.pipe
cat >names.cmds <<'END'
// pipec commands 1
kernel pass(in i32 x, out i32 y) { y <- x; }
pipeline "p\"q";
create in "a\"\\" i32;
create out "b" i32;
create buffer "m\"]" i32;
create kernel "k\"; x [label=\"" pass;
create kernel "box\".n" pass;
connect "a\"\\" -> "k\"; x [label=\"".x;
connect "k\"; x [label=\"".y -> "m\"]";
connect "m\"]" -> "box\".n".x;
connect "box\".n".y -> "b";
END
"$PIPEC" graph names.cmds >names.dot || echo "not ok names.cmds"
# Without escapes and strings nothing of the names is left.
sed 's/\\.//g; s/"[^"]*"/S/g' names.dot >bare.dot
check "names are no markup" sh -c '! grep -q "[\"\\]\|; x" bare.dot'
# The depths of a drawing are those of inspect: without a device's room for dispatches they are the minimum.
printf 'kernel k(in i32 x, out i32 y) { y <- x; }\npipeline main(in i32 x, out i32 y) {\n    buffer i32 d depth 64;\n    x -> k -> d -> k -> k -> y;\n}\n' >depths.pipe
check "a declared depth" says 0 'label="d.ni32 depth 64"' "$PIPEC" graph depths.pipe
check "a depth that a device adds to" says 0 'label="k.2->k.3.ni32 depth >= 1"' "$PIPEC" graph depths.pipe
check "a depth that no device adds to" says 0 'label="k.2->k.3.ni32 depth 1"' "$PIPEC" graph --buffers=min depths.pipe
check "inspect says that they are no device's" says 0 '"depths_for": null' "$PIPEC" inspect --json depths.pipe
check "and whose they are" says 0 '"depths_for": "sim4"' "$PIPEC" inspect --json --device=sim4 depths.pipe
"$PIPEC" --device=sim4 depths.pipe -o depths.pbc
check "in a container" says 0 '"depths_for": "sim4"' "$PIPEC" inspect --json depths.pbc
check "an unknown format" says 2 'dot, svg, html, json, cmds or sdf3' "$PIPEC" graph --format=png all.pipe
check "a full device" says 2 'cannot write' "$PIPEC" graph -o /dev/full all.pipe
