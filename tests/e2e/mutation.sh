#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/mutation/mutate.py: what a test looks at is missed when it is wrong, what it does not look at is reported, and an
# excuse in the source is taken.
# shellcheck disable=SC2317 # functions are called through check
set -eu
export LC_ALL=C
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
for tool in cc ar python3; do command -v $tool >/dev/null || { echo "there is no $tool"; exit 77; }; done

# built TEST: a folder as the Makefile builds it, of one source and one test.
mkdir -p built/obj/tests/unit built/tests
cat >pay.c <<'END'
int pay_of(int hours);
int pay_of(int hours)
{
    int pay = 10 * hours;
    if (hours > 40 && pay)
        pay += 5; // + 1 "40 < 41"
    return pay;
}
END
built() {
    printf '#include <stdlib.h>\nint pay_of(int hours);\nint main(void) { return !(%s); }\n' "$1" >test_pay.c
    cc -c test_pay.c -o built/obj/tests/unit/test_pay.o
    cc -c pay.c -o pay.o
    rm -f built/tests/libhelper.a built/libpiperun.a built/libpipert.a
    ar rc built/tests/libhelper.a
    ar rc built/libpiperun.a
    ar rc built/libpipert.a pay.o
}
mutate() { python3 "$ROOT/tests/mutation/mutate.py" -n 0 -t test_pay "$@" built pay.c >found 2>&1; }

strong='pay_of(1) == 10 && pay_of(39) == 390 && pay_of(40) == 400 && pay_of(41) == 415 && pay_of(42) == 425'
weak='pay_of(1) == 10 && pay_of(39) == 390 && pay_of(41) == 415 && pay_of(42) == 425'

all_are_noticed() {
    built "$strong" && mutate && grep -qE '^pay.c: ([0-9]+) of \1 noticed \(100 %\), 0 excused$' found && [ "$(wc -l <found)" -eq 1 ]
}
# One more hour, from which on there is more: two mutants say so, and no test sees them.
survivors_are_named() {
    built "$weak" && ! mutate && grep -q '^pay.c:5: > is >=: ' found && grep -q '^pay.c:5: 40 is 39: ' found &&
        [ "$(wc -l <found)" -eq 3 ]
}
excuses_are_taken() {
    cp pay.c pay.saved
    sed -i 's|pay)$|pay) /* equivalent: nobody works 40 hours */|' pay.c
    built "$weak" && mutate && grep -qE '[1-9][0-9]* excused$' found
    local status=$?
    mv pay.saved pay.c
    return $status
}
the_seed_decides() {
    built "$weak"
    mutate -n 4 -s 3 || true
    cp found first
    mutate -n 4 -s 3 || true
    cmp first found && grep -q ' of 4 noticed' found
}
what_fails_anyway_is_refused() {
    built "$strong && 0" && ! mutate && grep -q 'a test fails with pay.c as it is' found
}
# Whoever goes on to work ends the file, its object code and the test, when the first program has been linked.
cat >busy <<'END'
#!/bin/sh
cc "$@" || exit
case "$*" in *built/libpipert.a*) for file in pay.c built/libpipert.a built/obj/tests/unit/test_pay.o; do : >$file; done ;; esac
END
chmod +x busy
what_is_changed_meanwhile_does_not_matter() {
    cp pay.c pay.saved
    built "$strong" && CC=./busy mutate -n 5 && grep -q '(100 %), 0 excused$' found && [ ! -s pay.c ]
    local status=$?
    mv pay.saved pay.c
    return $status
}
# As the programs of cmocka do when T selects none of their tests.
a_selection_of_tests_does_not_matter() {
    built "getenv(\"T\") || ($strong)" && T=none mutate -n 5 && grep -q '(100 %), 0 excused$' found
}
what_is_not_built_is_named() {
    built "$strong" && rm built/tests/libhelper.a && ! mutate && grep -q 'built/tests/libhelper.a: No such file' found
}

check "mutants that a test sees do not survive" all_are_noticed
check "survivors are named" survivors_are_named
check "excuses are taken" excuses_are_taken
check "the same seed draws the same mutants" the_seed_decides
check "a test that fails anyway says nothing" what_fails_anyway_is_refused
check "what is changed meanwhile does not matter" what_is_changed_meanwhile_does_not_matter
check "a selection of tests does not matter" a_selection_of_tests_does_not_matter
check "what is not built is named" what_is_not_built_is_named
