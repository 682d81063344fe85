#!/bin/bash
# SPDX-License-Identifier: MIT
# A program of the scheduler is taken out as text, written anew as a static schedule, put back, verified and run; what is
# wrong with it is said with the line of the text.
# shellcheck disable=SC2015 # ok and not_ok never fail
set -u
cd "$TMP" || exit 1

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1"; }
# says NAME PATTERN FILE
says() { if grep -q -- "$2" "$3"; then ok "$1"; else not_ok "$1"; sed 's/^/# /' "$3"; fi; }

cat >two.pipe <<'END'
kernel twice(in i32 x, out i32 y) { y <- x; y <- x; }
kernel sums(in i32 x pop 2 peek 3, out i32 y) { y <- x[0] + x[1] + x[2]; }
pipeline main(in i32 x, out i32 y) { buffer i32 t; x -> twice -> t -> sums -> y; }
END
"$PIPEC" --device=sim1 two.pipe -o two.pbc || { not_ok "it compiles"; exit 1; }
"$PIPERUN" disasm two.pbc >two.sasm
says "the text says what stages are" "^# stage 1: 'sums', batches of at most" two.sasm
says "and their ends" "^#   input 0: 't', [0-9]* packets; pops 2, peeks 3$" two.sasm
says "and ports" "^#   input 0: 'x', in-port, [0-9]* packets; pops 1, peeks 1$" two.sasm
"$PIPERUN" asm two.sasm --into two.pbc -o again.pbc && cmp -s two.pbc again.pbc &&
    ok "the text assembles to the same bytes" || not_ok "the text assembles to the same bytes"
"$PIPERUN" disasm two.pbc | "$PIPERUN" asm - --into two.pbc -o again.pbc && cmp -s two.pbc again.pbc &&
    ok "also from standard input" || not_ok "also from standard input"

cp two.pbc place.pbc
"$PIPERUN" asm two.sasm -o place.pbc && cmp -s two.pbc place.pbc && ok "in place" || not_ok "in place"
"$PIPERUN" asm two.sasm -o absent.pbc 2>said
[ $? = 2 ] && [ ! -e absent.pbc ] && says "what is not there has no program" "cannot open 'absent.pbc': " said || not_ok "what is not there has no program"

# refused NAME PATTERN COMMAND...: usage.
refused() {
    "${@:3}" 2>said
    [ $? = 2 ] && says "$1" "$2" said || not_ok "$1"
}
cp two.sasm kept.sasm
refused "the text is not replaced" "asm: './two.sasm' is the text that is read" "$PIPERUN" asm two.sasm --into two.pbc -o ./two.sasm
cmp -s two.sasm kept.sasm && ok "and stays" || not_ok "and stays"
refused "a misspelt option of asm" "unknown option '--ito'; did you mean '--into'?" "$PIPERUN" asm two.sasm --ito two.pbc -o new.pbc
refused "an argument of asm that is missing" "error: -o: an argument is missing" "$PIPERUN" asm two.sasm --into two.pbc -o
"$PIPERUN" verify two.pipe 2>said
[ $? = 1 ] && says "a source has no program" "two.pipe: this is a source, no container: 'pipec two.pipe -o FILE.pbc' makes one" said || not_ok "a source has no program"
"$PIPERUN" asm two.sasm --into two.pbc -o null && cmp -s two.pbc null && ok "a container of any name" || not_ok "a container of any name"
"$PIPERUN" asm two.sasm --into two.pbc -o a,b && cmp -s two.pbc a,b && ok "commas are no ends of it" || not_ok "commas are no ends of it"

# On the host's cores a launch may complete at once, so nothing is in flight at the `wait`.
"$PIPEC" --device=cpu --debug-mode two.pipe -o cpu.pbc
"$PIPERUN" disasm cpu.pbc >jump.sasm
sed 's/jump L1/wait L1/' jump.sasm >wait.sasm
cmp -s jump.sasm wait.sasm && not_ok "the guarded loop jumps"
"$PIPERUN" asm wait.sasm --into cpu.pbc -o wait.pbc 2>said
[ $? = 1 ] && says "a halt behind a wait after a dispatch is refused" "wait.sasm:.*\[halt\]" said || not_ok "a halt behind a wait after a dispatch is refused"

cat >new.sasm <<'END'
.stages 2
.set 0: 0 1
    packets full
    bind_root 0
    load_reference 0
    bind_root 1
    has_packets 0, 0, 2, tail      # a packet that sums sees and does not take
    run 0, 2
top:
    has_packets 0, 0, 16, more
    has_room 1, 0, 16, more
    repeat 4
    run 0, 4
    again
    run 1, 16
    jump top
more:
    wait top
tail:
    ends
    round_robin 0, idle
    dispatch
    jump tail
idle:
    wait tail
    halt
END
"$PIPERUN" asm new.sasm --into two.pbc -o new.pbc && ok "a static schedule" || not_ok "a static schedule"
"$PIPERUN" verify new.pbc >proof 2>&1
says "verify says what is static" '2 of 2 stages are run by a static schedule (3 runs of firings)' proof
"$PIPERUN" disasm new.pbc | grep -v '^#' | "$PIPERUN" asm - --into two.pbc -o same.pbc && cmp -s new.pbc same.pbc &&
    ok "its text, too, gives the same bytes" || not_ok "its text, too, gives the same bytes"
good=1
for length in 0 1 2 3 15 16 17 18 19 100 1000 4097; do
    "$PIPERUN" -q two.pbc x=gen:ramp:$length y=two.csv || good=0
    "$PIPERUN" -q new.pbc x=gen:ramp:$length y=new.csv --stats=json:stats.json || good=0
    cmp -s two.csv new.csv || good=0
done
[ $good = 1 ] && ok "results do not depend on the program" || not_ok "results do not depend on the program"
"$PIPERUN" -q new.pbc x=gen:ramp:4096 y=null --stats=json:stats.json
# One of 2 firings, 255 rounds of 4 and 1, what is left of both by the guarded loop.
"$PIPERUN" -q new.pbc x=gen:ramp:4096 y=null --stats 2>said
says "and instructions are counted" 'cycles in [0-9]* instructions ([0-9.]* a dispatch), ' said
says "its batches are those that are run" '^  "dispatches": *1278' stats.json
# All but the size of the program and what it does.
kept() { "$PIPEC" inspect --json "$1" | sed '/^    "schedule": {/,/^    }/d;/"program/d;/bytes/d;/dispatch/d'; }
kept two.pbc >two.json
kept new.pbc >new.json
cmp -s two.json new.json && ok "everything else is kept" || { not_ok "everything else is kept"; diff two.json new.json | sed 's/^/# /'; }

# refuse NAME SED PATTERN
refuse() {
    sed "$2" new.sasm >bad.sasm
    rm -f bad.pbc
    "$PIPERUN" asm bad.sasm --into two.pbc -o bad.pbc >said 2>&1
    if [ $? = 1 ] && [ ! -e bad.pbc ] && grep -q -- "^piperun: error: bad.sasm:$3" said; then ok "refused: $1"
    else not_ok "refused: $1"; sed 's/^/# /' said; fi
}
refuse "too few packets" 's/run 1, 16/run 1, 17/' "15: .*'run 1, 17'.* \[underflow\]$"
refuse "an unknown instruction" 's/repeat/repaet/' "12: there is no instruction 'repaet'; did you mean 'repeat'?"
refuse "a missing operand" 's/run 0, 4/run 0/' "13: ',' and the number are missing: 'run stage, number'"
refuse "an entry that stays empty" 's/load_reference 0//' "7: .*the reference entry of stage 0 is not loaded before this \[load-missing\]$"
refuse "a missing label" 's/^tail:/tial:/' "7: there is no label 'tail'"
refuse "an end that is not there" 's/has_room 1, 0/has_room 1, 1/' "11: .*'has_room 1, 1, 16, @[0-9]*'"
refuse "another number of stages" 's/^.stages 2/.stages 3/' " the program is for 3 stages, the container has 2"
