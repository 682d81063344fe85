#!/bin/bash
# SPDX-License-Identifier: MIT
# A run that is watched: its progress, --top and --watch, on terminals of all kinds (piperun(1), "WATCHING A RUN").
# tests/unit/test_watch.c has what they show; here is where, when, and that the run does not notice.
set -u
cd "$TMP" || exit 1
. "$ROOT/tests/checks.sh"

cat >copy.pipe <<'EOP'
kernel copy(in i32 x, out i32 y) { y <- x; }
pipeline main(in i32 x, out i32 y) { x -> copy -> y; }
EOP
cat >two.pipe <<'EOP'
kernel sum(in i32 x, in i32 z, out i32 y) { y <- x + z; }
pipeline main(in i32 x, in i32 z, out i32 y) { sum(x, z -> y); }
EOP
cat >pairs.pipe <<'EOP'
struct pair { i32 a; i32 b; };
kernel spread(in i32 x, out pair y) { y <- pair(x, 10 * x); }
pipeline main(in i32 x, out pair y) { x -> spread -> y; }
EOP
for name in copy two pairs; do "$PIPEC" $name.pipe -o $name.pbc || exit 1; done

# On no terminal: outputs, messages and exit statuses are those of any run.
"$PIPERUN" copy.pbc x=gen:ramp:9 y=plain.raw
check "--top on no terminal is a note" says 0 "note: standard error is no terminal that can show --top" \
    "$PIPERUN" copy.pbc x=gen:ramp:9 y=top.raw --top
check "and the output is the same" cmp plain.raw top.raw
check "--watch on no terminal is a note" says 0 "note: standard error is no terminal that can show --watch" \
    "$PIPERUN" copy.pbc x=gen:ramp:9 --watch y
check "a port that does not exist is refused" says 2 "error: --watch z: the pipeline has no such port" \
    "$PIPERUN" copy.pbc x=gen:ramp:9 y=null --watch z
check "a port is watched once" says 2 "error: --watch y: port 'y' is watched twice" \
    "$PIPERUN" copy.pbc x=gen:ramp:9 --watch y --watch=y
check "a part that does not exist is refused" says 2 "error: --watch y.c: packets of type pair have no part 'c'" \
    "$PIPERUN" pairs.pbc x=gen:ramp:9 --watch y.c
check "the debugger is watched by itself" says 2 "error: --top and --debug do not go together" \
    "$PIPERUN" copy.pbc --debug --top x=gen:ramp:9 y=null
check "and so is a replay" says 2 "error: --watch and --replay do not go together" \
    "$PIPERUN" copy.pbc --replay --watch=y

if ! python3 -c 'import pty' 2>/dev/null; then
    echo "skip a_run_on_a_terminal python3 is missing"
    exit 0
fi
cases="progress length short quiet same_terminal top scope part colours dumb narrow resized closed stopped told"
[ -z "${LONG-}" ] || cases+=" plain full_pipe"
# shellcheck disable=SC2086
timeout 300 python3 "$ROOT/tests/e2e/watching.py" "$PIPERUN" $cases || echo "not ok all cases on a terminal"
