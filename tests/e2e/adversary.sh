#!/bin/sh
# SPDX-License-Identifier: MIT
# No unsafe schedule runs: scheduler programs of real containers, changed at random, and what the loader's proof says of them, what
# they do to the packets in an interpreter, and what they would do without a rule (tests/schedules/adversary.c).
# N changed programs of each container from SEED on; `make check-long` takes more of them.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

# subject SOURCE DEVICE: one more container.
subject() {
    source=$1 device=$2 name=$(basename "$1")-$2
    "$PIPEC" -q -O0 --march=x86-64-v2 --device="$device" "$ROOT/tests/$source.pipe" -o "$name.pbc" 2>>errors || missing="$missing $name"
    subjects="$subjects $name.pbc"
}

# text NAME...: programs for the last one, written by hand.
text() { for name in "$@"; do subjects="$subjects $ROOT/tests/schedules/$name.sched"; done; }

subjects='' missing=''
subject schedules/phases sim1
text unknown_phase repeat_phase overflow
subject schedules/sources sim4
text allowance run_ended launches
few="literature/three_actors lang/source_beside_input lang/rates_phases lang/several_readers lang/unfed_circles lang/rates_sources lang/fir"
for program in $few; do subject "$program" sim1; done
subject literature/h263_encoder sim16
subject lang/argument_arrays sim16
check "the programs compile:$missing" test -z "$missing"

# shellcheck disable=SC2086 # names have no blanks
"$BUILD/tests/adversary" "${N:-$((40 + 300 * ${LONG:-0}))}" "${SEED:-1}" $subjects >said 2>&1
status=$?
[ "$status" -eq 0 ] || head -60 said

# total WORD: that number of the last line.
total() { sed -n "s/^total .*\<$1 \([0-9]*\).*/\1/p" said; }

check "every real program is accepted, and runs to its end" test "$status" -ne 2 -a "$(total real)" = "$(echo "$subjects" | tr ' ' '\n' | grep -c 'pbc$')"
check "no changed program is accepted wrongly" test "$status" -eq 0 -a "$(total wrong)" = 0
check "what is accepted runs to its end with the right packets" test "$(total accepted)" -gt 50 -a "$(total run)" = "$(total accepted)"
check "some of it in the runtime, too" test "$(total stamped)" -gt 0
[ -z "${LONG-}" ] || check "3,000 changed programs and more pass structure and meaning, and 500 are accepted" test "$(total mutants)" -ge 3000 -a "$(total run)" -ge 500
for rule in underflow overflow allowance run-ended phase repeat-phase launches dispatch halt; do
    check "without the rule '$rule' a program does harm" grep -Eq "^rule $rule .* faults [1-9]" said
done
