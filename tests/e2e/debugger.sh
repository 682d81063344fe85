#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # what stands in single quotes is an inner shell's
# piperun --debug: the session of docs/debugging.md, every command, every kind of stop and end, scripts, a terminal.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
page=$ROOT/docs/debugging.md

# fenced NAME: the block of that name of the page.
fenced() { awk -v name="$1" '$0 == "```" name { inside = 1; next } /^```/ { inside = 0 } inside' "$page"; }

# ---- the page ----
fenced pipe >level.pipe
fenced commands >find.txt
fenced session >want
printf '100\n-200\n32767\n-32768\n50\n' >in.csv
"$PIPERUN" --debug=find.txt level.pipe x=in.csv y=null >found 2>messages
check "the session of the page ends with 0" test $? -eq 0
diff want found
check "and is as it is printed" cmp -s want found
check "and silent on standard error" test ! -s messages
"$PIPERUN" level.pipe x=in.csv y=-,csv >values
check "the wrong value is there without it" test "$(tr '\n' ' ' <values)" = "25 68 8242 -2010 -1495 "
"$PIPERUN" --debug level.pipe x=in.csv y=null <find.txt >piped 2>&1
check "commands from a pipe give the same transcript" cmp -s want piped

# ---- commands ----
cat >mix.pipe <<'END'
struct point {
    i32 x;
    f32 w;
    u8 tag[3];
};

fn f32 halve(f32 v) {
    return v / 2;
}

kernel make(in i32 n, out point p) {
    u8 tag[3] = {(u8)n, 1, 2};
    p <- point(n, (f32)n * 0.1f, tag);
}

kernel clip(in point p, out f32 y) {
    if (p.x > 5)
        y <- 0;
    else
        y <- halve(p.w);
}

kernel total(in f32 v, out f32 y) {
    table i32 squares[3] = {0, 1, 4};
    state f32 sum = 0;
    state i32 seen = 0;
    sum += v + (f32)squares[0];
    seen += 1;
    y <- sum;
}

pipeline main(in i32 n, out f32 y) {
    buffer point pts depth 16;
    buffer f32 c;
    make(n -> pts);
    clip(pts -> c);
    c -> total -> y;
}
END
"$PIPEC" --debug-mode mix.pipe -o debug.pbc
"$PIPEC" --no-fuse mix.pipe -o plain.pbc

# debug COMMANDS [WORD...]: a run of debug.pbc, its transcript in `text`, its messages in `messages`.
debug() {
    printf '%b\n' "$1" >script
    shift
    "$PIPERUN" --debug=script "${program:-debug.pbc}" n=gen:ramp:12 y=null "$@" >text 2>messages
    status=$?
}
# gives NAME PATTERN: in the transcript; lacks NAME PATTERN.
gives() { check "$1" grep -Eq -e "$2" text; grep -Eq -e "$2" text || cat text messages; }
lacks() { if grep -Eq -e "$2" text; then echo "not ok $1"; cat text; else echo "ok $1"; fi; }

debug 'start\nstep\nprint pts\nstep\nprint pts[-1].w\nprint pts@0.tag[1]\nx pts[-1]\nprint pts@0\nprint c'
gives "start stops before the first firing" "next is firing 0 of 'make', kernel 'make' at mix.pipe:11"
gives "a step is a firing" "next is firing 0 of 'clip', kernel 'clip' at mix.pipe:16"
gives "packets are printed by their type" '^  \[0\] \{x: 0, w: 0, tag: \[0, 1, 2\]\}$'
gives "with how many there are" '^pts: 1 packet of point, from packet 0 on$'
gives "a field of one that was taken" '^pts\[-1\]\.w: f32 = 0$'
gives "an element, by the number of the packet" '^pts@0\.tag\[1\]: u8 = 1$'
gives "its bytes" '^  0000: 00 00 00 00 00 00 00 00 00 01 02'
check "the end of a script leaves the run" test $status -eq 0
check "and says nothing" test ! -s messages

debug 'break total\nrun\nprint total\nprint total.state\nprint total.squares\nprint total.squares[2]\ncontinue 3\nprint total.seen\nprint total.state.sum'
gives "a breakpoint is numbered" '^Breakpoint 1: total$'
gives "and met" '^Breakpoint 1, total$'
gives "state, by type" '^  state seen: i32 = 0$'
gives "a table" '^total.squares: i32\[3\] = \[0, 1, 4\]$'
gives "an element of it" '^total.squares\[2\]: i32 = 4$'
gives "continue N comes to its N-th time" "next is firing 3 of 'total'"
gives "state moves on" '^total.seen: i32 = 3$'
gives "state by its kind and name" '^total.state.sum: f32 = 0.15'

debug 'break total firing 4\nbreak clip:2\nrun\nrun\ncontinue\ncontinue'
gives "one firing" "next is firing 2 of 'clip'"
gives "and another" "next is firing 4 of 'total'"
lacks "and no others" "next is firing 3 of"
check "a second run is refused" grep -q '^piperun: error: script:4: the run has begun' messages
check "which the exit status tells" test $status -eq 1

debug 'watch c == 0 if firing > 3\nrun\nprint c[0]\norigin c[0]\norigin pts@6'
gives "a watchpoint stops behind the firing" "^cycle [0-9]+: after firing 6 of 'clip'"
gives "and names the statement that wrote the packet" "c@6 = 0, written by firing 6 of 'clip', at mix.pipe:18:9"
gives "and shows it" '^    18          y <- 0;$'
gives "origins of packets that were taken" "pts@6 was written by firing 6 of 'make', at mix.pipe:13:5"
debug 'watch c > 0.2 if cycle > 0\nrun\nprint c[0] == 0.25\nprint c[0] > 0.25 || !(level(c) == 1)'
gives "the other statement" "c@5 = 0.25, written by firing 5 of 'clip', at mix.pipe:20:9"
gives "a condition is printed" '^c\[0\] == 0.25 = 1$'
gives "with all that joins" ' = 0$'
debug 'watch pts.w == 0.4\nrun'
gives "a printed float compares equal" "pts@4 = \{x: 4, w: 0.4, tag: \[4, 1, 2\]\}"
debug 'watch pts.tag[0] >= 3\nrun'
gives "an element of a field" "pts@3 = "
debug 'break value n == 7\nrun'
gives "what the host writes" "n@7 = 7, written by the host"
debug 'watch y\nrun\ncontinue\nprint y[-2..-1]'
gives "any packet, at an out-port" "y@1 = 0.05, written by firing 1 of 'total', at mix.pipe:29:5"
gives "a range of what the host has taken" '^  \[-2\] 0$'

program=plain.pbc
debug 'break buffer pts >= 1\nrun\ninfo buffers\nprint total.sum\nwatch c == 0\ncontinue\norigin c[0]\ninfo program\nlist'
gives "a level" "^'pts' holds 1 of [0-9]+ packets$"
gives "buffers are listed" '^pts +1 +[0-9]+ +1 +point$'
check "what a program lacks is said" grep -q 'script:4: .*compile it with --debug-mode' messages
gives "without debug mode the kernel is named" "written by firing 0 of 'clip', kernel 'clip' at mix.pipe:16 .which statement: compile with --debug-mode"
gives "and its line shown" '^    16  kernel clip'
gives "which the program says, too" '^compiled without --debug-mode'
gives "source is listed from the file" '^    20          y <- halve\(p.w\);$'
debug 'run'
gives "it runs to its end without debug mode" '^the run has ended at cycle [0-9]+$'
unset program

debug 'break cycle 3000\nrun\ninfo cycles\nuntil cycle 6000\ninfo cycles\ncontinue'
gives "a cycle" '^Breakpoint 1, cycle 3000$'
first=$(sed -n 's/^cycle \([0-9]*\): next.*/\1/p' text | head -n 1)
second=$(sed -n 's/^cycle \([0-9]*\): next.*/\1/p' text | sed -n 2p)
check "is met once, in time" test "$first" -ge 3000 -a "$first" -lt 5000
check "until goes on to another" test "$second" -ge 6000 -a "$second" -lt 8000
check "and no more stops come" test "$(grep -c '^Breakpoint 1,' text)" -eq 1

debug 'tbreak clip\nrun\ninfo breakpoints\ncontinue'
gives "a temporary breakpoint is deleted" '^no breakpoints'
gives "and the run ends" '^the run has ended'
debug 'break clip\nbreak total\nignore 1 3\ndisable 2\ncondition 1 firing != 3\ninfo breakpoints\nrun\ninfo breakpoints\nenable\ndelete 1\ncontinue\ndelete\ninfo breakpoints'
gives "breakpoints are listed" '^1   breakpoint: clip if firing != 3; met 0 times; ignored 3 more$'
gives "with what is disabled" '^2   breakpoint: total; met 0 times; disabled$'
gives "conditions come before ignoring" "next is firing 4 of 'clip'"
gives "enable, delete" "next is firing 4 of 'total'"
gives "delete all" '^no breakpoints'

debug 'start\nnext clip\nnext\nwhere\nuntil total\nbacktrace clip\nbacktrace\nfinish make\nwhere\ninfo stages\ninfo ports'
gives "next goes to the node" "next is firing 0 of 'clip'"
gives "and to its next firing" "next is firing 1 of 'clip'"
gives "finish goes to the end of a stage" '^make +12 firings  has ended$'
gives "where says what a stage waits for" "^total +1 firing   waits for packets in 'c' .holds 0, needs 1."
gives "backtrace follows the waits" "^#1  'make' can fire"
gives "and which is next" '^clip +1 firing   can fire  <- next$'
gives "stages are listed with their kernels" '^make +12 .* make at mix.pipe:11; ended$'
gives "ports with what has passed" '^n +i32 in-port: 12 packets from the host; its stream has ended$'

debug 'display c\nstart\nstep 2\nundisplay 1\nstep\ndisplay cycle > 0\ninfo display\nlist total\nlist\nlist mix.pipe:2\nlist 40\ndisassemble\ndisassemble all\necho some  text\nhelp\nhelp print\ninfo nothing\nlist nothing'
gives "what is displayed is shown at every stop" '^1: c: 1 packet of f32, from packet 0 on$'
check "until it is not" test "$(grep -c '^1: c' text)" -eq 3
gives "a kernel is listed" '^    23  kernel total\(in f32 v, out f32 y\) \{$'
gives "and what follows" '^    33      buffer point pts depth 16;$'
gives "a line of a file" '^     2      i32 x;$'
gives "the present instruction" '^=>     dispatch$'
gives "the whole program" '^   \.stages 3$'
gives "text" '^some  text$'
gives "help" '^watch  '
gives "help for one" '^print PLACE.CONDITION   \(p\)$'
check "unknown topics are errors" grep -q 'script:17: info breakpoints' messages
check "and what cannot be listed" grep -q "script:18: 'nothing' is no FILE:LINE of the program; there is no node and no kernel 'nothing'" messages

debug 'trace t.txt\nrun\ntrace off'
check "a trace has a line for each firing" test "$(wc -l <t.txt)" -eq 36
check "with its packets" grep -Eq "firing 5 of 'clip': pts@5 \[\{x: 5, w: 0\.5, tag: \[5, 1, 2\]\}\] -> c@5 \[0\.25\]$" t.txt
debug 'trace t.jsonl\nrun'
check "JSON lines are objects" sh -c 'head -n 1 t.jsonl >one && tail -n 1 t.jsonl >last && [ "$(wc -l <t.jsonl)" -eq 36 ]'
check "the first parses" parses one
check "the last, too" parses last
check "and says what the firing did" grep -q '"node": "clip", "kernel": "clip", "firing": 5, "takes": \[{"buffer": "pts", "first": 5, "count": 1' t.jsonl
debug 'trace /nowhere/t.txt\nrun'
check "a trace that cannot be written is said" grep -q 'script:1: /nowhere/t.txt: ' messages

# ---- mistakes ----
debug 'frob\nb\nbreak nowhere\nbreak buffer c\nbreak buffer y > 1\nbreak cycle x\nwatch c ==\nwatch nix > 1\nwatch pts > 1\nwatch pts.q > 1\nwatch c > 1 2\nbreak clip if nix\nbreak clip if (c[0]\nprint\nprint c[0]\nprint pts.x\nprint c[3..1]\nprint total.nix\nprint c[0] = 1\ncontinue x\ncontinue 2\nstep -1\ndelete 9\nignore 1\ncondition 9 1\nset c 1\nsource nowhere.txt\ndirectory nowhere\nfinish\ninfo\ns\nc\nc\nprint c[-99]\nd 1x'
check "every mistake is said, with its line" sh -c 'for n in $(seq 1 30) 33 34 35; do grep -q "^piperun: error: script:$n: " messages || { echo "line $n"; cat messages; exit 1; }; done'
check "and nothing else is" test "$(wc -l <messages)" -eq 33
gives "the run goes on all the same" '^the run has ended'
debug 'watch\nwatch c = 1\nwatch c > 1 if\nwatch pts > 1\nwatch pts.tag > 1\nwatch pts.q > 1\nprint pts == 1\nstart\nprint clip\nprint make.tables'
mend() { grep -qF "script:$1: $2" messages; }
check "a buffer is missing" mend 1 "the name of a buffer is missing"
check "an assignment is no comparison" mend 2 "'= 1' is left over: '==' compares"
check "a condition is missing" mend 3 "a condition is missing after 'if'"
check "fields of a packet are named" mend 4 "'pts' is no number: name a part of it: x, w, tag"
check "items of an array, too" mend 5 "'pts.tag' is no number: name a part of it: [0] to [2]"
check "and those that a struct has, for one that it has not" mend 6 "struct 'point' has no field 'q': its fields are x, w, tag"
check "and a packet of a buffer" mend 7 "'pts' is no number: name a packet of it: pts[0]"
gives "a node without variables" "^'clip' has no state, table or argument$"
gives "or without such ones" "^'make' has no table$"
check "and the exit status tells" test $status -eq 1
debug 'dis\nprnt c\nprint totl\nbreak mak\nwatch ptz == 1\nwhere clipp\nunt cycle 10\nq 9'
check "what is short for two is told" grep -q "script:1: 'dis' is short for 'disable' and for" messages
check "names that are nearly right are offered" test "$(sed -n "s/.*did you mean '\(.*\)'?$/\1/p" messages | tr '\n' ' ')" = "print total make pts clip "
check "quit gives a status" test $status -eq 9

# ---- files, standard streams ----
printf 'source inner\nprint cycle\n' >outer
printf '# a comment\n\nstart\nprint nix\n' >inner
"$PIPERUN" --debug=outer debug.pbc n=gen:ramp:12 y=null >text 2>messages
gives "a file in a file" '^cycle = [0-9]+$'
check "has its own lines" grep -q 'inner:4: there is no buffer' messages
printf 'source self\n' >self
check "not without end" says 1 'too many files in files' "$PIPERUN" --debug=self debug.pbc n=gen:ramp:12 y=null
check "a script that is not there" says 2 'nowhere.txt: No such file' "$PIPERUN" --debug=nowhere.txt debug.pbc n=gen:ramp y=null
check "an in-port on standard input needs a script" says 2 "in-port 'n' reads standard input, and so does the debugger" \
    "$PIPERUN" --debug debug.pbc n=- y=null
printf 'watch c == 0 if firing > 5\nrun\nprint c\ncontinue 10\n' >script
seq 0 11 | "$PIPERUN" -q --debug=script debug.pbc n=-,csv y=-,csv >values 2>text
gives "with one it has it" "c@6 = 0, written by firing 6 of 'clip'"
check "outputs on standard output are left alone" test "$(wc -l <values)" -eq 12
check "a device that executes nothing" says 6 "device 'null' executes no kernel" \
    "$PIPERUN" --device null --debug=script debug.pbc n=gen:ramp y=null
check "not with a replay" says 2 'do not go together' "$PIPERUN" --replay --debug=script debug.pbc
printf 'run\n' >script
"$PIPERUN" --debug=script debug.pbc n=gen:ramp:12 y=whole.raw >/dev/null
"$PIPERUN" plain.pbc n=gen:ramp:12 y=plain.raw
check "outputs are published at the end, and the same" cmp -s whole.raw plain.raw
printf 'start\nstep 20\nkill\n' >script
"$PIPERUN" --debug=script debug.pbc n=gen:ramp:12 y=part.raw >/dev/null
check "a run that is killed ends with 0" test $? -eq 0
check "and publishes nothing" test ! -e part.raw

# ---- bad ends ----
cat >fault.pipe <<'END'
kernel dec(in i32 x, out i32 y) { y <- x - 1; }
kernel inv(in i32 x, out i32 y) {
    y <- 100 / (x - 5);
}
pipeline main(in i32 x, out i32 y) { buffer i32 m; dec(x -> m); inv(m -> y); }
END
printf 'run\nwhere\nprint m[-1]\n' >script
"$PIPERUN" --debug=script fault.pipe x=gen:ramp y=null >text 2>messages
check "a fault keeps its exit status" test $? -eq 4
gives "is shown where it is" '^     3      y <- 100 / \(x - 5\);$'
gives "with what was read" '^it read m@6 = 5$'
gives "and everything can be looked at" '^inv +7 firings  has failed$'
gives "packets, too" '^m\[-1\]: i32 = 5$'
cat >stall.pipe <<'END'
kernel positive(in i32 x, out i32 y push 0..1) { if (x > 3) y <- x; }
kernel add(in i32 a, in i32 b, out i32 y) { y <- a + b; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 p;
    // pipec: allow(liveness-unproven) reason="x is known to be above 3"
    positive(x -> p);
    add(x, p -> y);
}
END
"$PIPERUN" --debug=script stall.pipe x=gen:zeros:100000 y=null >text 2>messages
check "a stall keeps its exit status" test $? -eq 5
gives "and shows who waits" "^add +0 firings  waits for packets in 'p'"
gives "and where it is" "the pipeline has stalled: 'positive' waits"

# ---- a terminal ----
# typed LINE... : each a text that is waited for, a tab, and keys; what is shown goes to `text`.
typed() {
    printf '%s\n' "$@" >keys
    HOME=$TMP XDG_STATE_HOME=$TMP/state TERM=xterm \
        python3 "$ROOT/tests/e2e/terminal.py" "$PIPERUN" --debug debug.pbc n=gen:ramp y=null <keys >text
    status=$?
}
mkdir -p state
tab=$(printf '\t')
if command -v python3 >/dev/null; then
    typed "(piperun) ${tab}start\\n" "next is firing 0 of 'make'${tab}" "(piperun) ${tab}step\\n" \
        "next is firing 0 of 'clip'${tab}" "(piperun) ${tab}\\n" "next is firing 0 of 'total'${tab}" \
        "(piperun) ${tab}continue\\n" "continue\\r\\n${tab}\\x03" "interrupted${tab}" "(piperun) ${tab}where\\n" \
        "<- next${tab}" "(piperun) ${tab}nonsense\\n" "there is no command 'nonsense'${tab}" "(piperun) ${tab}print pt" "print pt${tab}\\x03" \
        "(piperun) ${tab}quit\\n"
    check "a terminal: prompts, an empty line repeats, an interrupt stops" test $status -eq 0
    [ $status -eq 0 ] || cat text
    typed "(piperun) ${tab}print cycle\\n" "cycle = ${tab}" "(piperun) ${tab}\\x04"
    check "the end of input leaves" test $status -eq 0
    if "$PIPERUN" --version | grep -q libedit; then
        check "history is kept" grep -q 'nonsense' state/pipec/debug_history
        check "for its owner alone" test "$(stat -c %a state/pipec/debug_history)" = 600
        typed "(piperun) ${tab}inf\\tbuf\\t\\n" "in-port${tab}" "(piperun) ${tab}print pt\\t\\n" "packets of point${tab}" \
            "(piperun) ${tab}help und\\t\\n" "display no more${tab}" "(piperun) ${tab}q\\n"
        check "words are completed: commands, topics, names" test $status -eq 0
        [ $status -eq 0 ] || cat text
        typed "(piperun) ${tab}\\x10\\x10\\n" "display no more${tab}" "(piperun) ${tab}q\\n"
        check "earlier lines come back" test $status -eq 0
        [ $status -eq 0 ] || cat text
    else
        echo "skip words are completed: piperun was built without libedit"
    fi
else
    echo "skip a terminal: there is no python3"
fi

# ---- a question while a line is read ----
# comes PATTERN FILE: sooner or later
comes() {
    tries=0
    until grep -Eq "$1" "$2"; do
        tries=$((tries + 1))
        [ $tries -le 600 ] || return 1
        sleep 0.1
    done
}
mkfifo typed
"$PIPERUN" --debug debug.pbc n=gen:ramp:12 y=null <typed >text 2>messages &
child=$!
exec 8>typed
printf 'start\nwhe' >&8
check "it waits for the rest of a line" comes '^cycle [0-9]+: next is firing 0' text
kill -USR1 $child
check "SIGUSR1 is answered" comes '^cycle [0-9]+: the scheduler waits for the debugger$' messages
printf 're\n' >&8
exec 8>&-
wait $child
check "and the line goes on behind it" grep -Eq '^make +0 firings +can fire  <- next$' text

# ---- the same outputs ----
printf 'run\n' >run.txt
for example in cipher,noise:7:2000 edges,noise:7:307200 fmradio,noise:7:60000 quadrature,ramp:40 quadtree,noise:7:65536 sweep,ramp:200; do
    name=${example%%,*}
    for source in "$ROOT/examples/$name"/*.pipe; do
        "$PIPEC" --no-fuse "$source" -o one.pbc 2>/dev/null || continue
        ports='' hashes=''
        for port in $("$PIPEC" inspect --json --no-fuse "$source" 2>/dev/null | awk '
            /^  "buffers"/ { inside = 1 } /^  "exact"/ { inside = 0 }
            inside && /^      "name"/ { name = $2; gsub(/[",]/, "", name) }
            inside && /^      "writer": null/ { print "in=" name }
            inside && /^      "readers": \[\]/ { print "out=" name }'); do
            case $port in
            in=*) ports="$ports ${port#in=}=gen:${example#*,}" ;;
            out=*) hashes="$hashes --hash ${port#out=}" ;;
            esac
        done
        # shellcheck disable=SC2086 # lists
        "$PIPERUN" -q one.pbc $ports $hashes >want 2>messages
        # shellcheck disable=SC2086
        "$PIPERUN" -q --debug=run.txt one.pbc $ports $hashes 2>>messages | grep -E '^[0-9a-f]{16}  ' >found
        check "$(basename "$source"), stepped: the same outputs" sh -c "[ -s want ] && cmp want found || { cat messages; exit 1; }"
    done
done

# Neighbours that have become one stage, and what is between them.
cat >chain.pipe <<'END'
kernel scale(in f32 x, out f32 y; f32 by) { y <- by * x; }
pipeline main(in f32 n, out f32 y) {
    buffer f32 mid, band[3];
    first: scale(n -> mid; 2);
    last: scale(mid -> band[0]; 3);
    for (int i = 0; i < 2; i++) eq: scale(band[i] -> band[i + 1]; 4);
    band[2] -> scale(5) -> y;
}
END
"$PIPEC" --fuse chain.pipe -o fused.pbc
program=fused.pbc
debug 'break last\nbreak eq[1]\nnext last\nfinish last\nwhere last\nlist last\nwatch mid\nbreak frist\nstart\nbreak first+last+eq[0..1]+scale'
tells() { check "$1" grep -Eq -e "$2" messages; grep -Eq -e "$2" messages || cat text messages; }
for line in 1 3 4 5; do
    tells "a node that is a part of a stage, line $line" "script:$line: there is no node and no kernel 'last': it is a part of stage 'first.last.eq.0..1..scale'; compiled with --no-fuse or --debug-mode it is a stage of its own"
done
tells "one of an array of them" "script:2: .* 'eq.1.': it is a part of stage"
tells "list says so too" "script:6: 'last' is no FILE:LINE of the program; .* it is a part of stage"
tells "a buffer inside a stage" "script:7: there is no buffer 'mid'; what is inside a stage of several nodes, as 'first.last.*', is there when compiled with --no-fuse or --debug-mode"
gives "the stage itself is there" '^Breakpoint 1: first.last.eq.0..1..scale$'
program=debug.pbc
debug 'break frist\nbreak mak'
tells "where nothing is fused the nearest name is offered" "script:2: there is no node and no kernel 'mak'; did you mean 'make'"
check "and no stage of several nodes is spoken of" sh -c '! grep -q fuse messages'
