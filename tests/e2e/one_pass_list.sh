#!/bin/bash
# SPDX-License-Identifier: MIT
# Every command runs the same passes as a compilation, up to the one where it leaves the list: it has the same
# findings, and a test runs the program that is compiled.
. "$ROOT/tests/checks.sh"
cd "$TMP" || exit 1

cat >unused.pipe <<'END'
kernel k(in i32 x, out i32 y) { i32 unused = 3; y <- x + 1; }
pipeline main(in i32 x, out i32 y) { x -> k -> y; }
END
"$PIPEC" -q -W all --write-baseline=accepted.json unused.pipe
for command in inspect "inspect --json" "inspect --trace-deadlock"; do
    # shellcheck disable=SC2086
    "$PIPEC" $command -W all unused.pipe >shown 2>said
    check "$command: a lint finding is reported" grep -q "never used" said
    # shellcheck disable=SC2086
    "$PIPEC" $command -W all --baseline=accepted.json unused.pipe >shown 2>said
    check "$command: an accepted lint finding is not called outdated" [ ! -s said ]
done

cat >accepts_nothing.pipe <<'END'
// pipec: allow(unused-variable) reason="none"
kernel k(in i32 x, out i32 y) { y <- x + 1; }
pipeline main(in i32 x, out i32 y) { x -> k -> y; }
END
for command in inspect "inspect --json" "inspect --trace-deadlock"; do
    # shellcheck disable=SC2086
    "$PIPEC" $command -W all accepts_nothing.pipe >shown 2>said
    check "$command: a comment that accepts nothing is reported" grep -q unused-suppression said
done

# One filter with --fast-math: its first packet is 13.978001, and 13.978 without.
cat >filters.pipe <<'END'
kernel first(in f32 x peek 4, out f32 y) { y <- x[0] * 0.1 + x[1] * 0.3 + x[2] * 0.7 + x[3] * 0.9; }
kernel second(in f32 x peek 4, out f32 y) { y <- x[0] * 0.3 + x[1] * 1.1 + x[2] * 0.2 + x[3] * 0.6; }
pipeline main(in f32 x, out f32 y) { x -> first -> second -> y; }
test sums of main { x = {0.1, 0.7, 1.3, 2.9, 3.1, 4.7, 5.3}; expect y == {0}; }
END
printf '%s\n' 0.1 0.7 1.3 2.9 3.1 4.7 5.3 >x.csv
for option in "" --fast-math; do
    # shellcheck disable=SC2086
    "$PIPEC" $option --device=cpu filters.pipe -o filters.pbc || exit 1
    packet=$("$PIPERUN" -q --device cpu filters.pbc x=x.csv y=-,csv)
    # shellcheck disable=SC2086
    "$PIPEC" test $option --device=cpu filters.pipe >shown 2>said
    check "a test runs the program that is compiled${option:+, with $option}" \
        grep -q "packet 0 of 'y' is $packet," said
    echo "$packet" >>packets
done
check "the two programs of these tests differ" [ "$(sort -u packets | wc -l)" = 2 ]

"$PIPEC" inspect --json --device=sim4 --time-report unused.pipe 2>report >shown
for phase in 'front end' analyses plan; do
    check "inspect --json --time-report has the phase $phase" grep -q "^$phase  *[0-9.]* " report
done
