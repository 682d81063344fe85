#!/bin/sh
# SPDX-License-Identifier: MIT
# What pipec chooses without options is nearly the best of all layouts and policies, in whole runs (choices.py).  `make check` looks at
# three drawn programs, for which trials of layouts chose a plan that was slower by 10 to 400 %; `make check-long` at eight more. With
# GRAPHS=N it looks at the examples, the tests' programs and N drawn ones, and prints the distribution. That takes longer than
# tests/run.sh allows: call the script itself, with LONG=1, and with ROOT, TMP, PIPEC and VARIANT set.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
command -v python3 >/dev/null || {
    echo "python3 is not installed"
    exit 77
}
${CC:-cc} -std=c11 -O1 -I"$ROOT" -o draw "$ROOT/tests/e2e/draw_program.c" "$ROOT/tests/reference/oracle.c" \
    "$ROOT/tests/reference/oracle_draw.c" || exit 1
# graph SEED: its file
graph() { ./draw "$1" apart >"g$1.pipe" && echo "g$1.pipe"; }
# losses FIRINGS DEVICES FILE...: the distribution is in the last line of `losses`
losses() {
    firings=$1
    shift
    LONG='' FIRINGS=$firings python3 "$ROOT/tests/e2e/choices.py" "$PIPEC" "$@" >losses
    cat losses
}
# within PERCENT SHARE: so many of the cases are
within() {
    tail -n 1 losses | awk -v percent="$1" -v share="$2" '{
        for (i = 2; i <= NF; i++) if ($i == "within" && $(i + 1) == percent) found = $(i - 1)
        exit !($1 > 0 && found >= $1 * share)
    }'
}

losses 300000 sim4 "$(graph 57)"
check "a layout that is the best with its static schedule" within 3 1
losses 64000000 sim-h100 "$(graph 95)" "$(graph 19)"
check "all stages in sequence, with batches of their own" within 3 1
[ -n "${LONG-}" ] || exit 0

seed=1
while [ $seed -le "${GRAPHS:-8}" ]; do graph $seed >/dev/null && seed=$((seed + 1)); done
if [ -z "${GRAPHS-}" ]; then
    losses 1000000 sim4,sim16 g*.pipe
    check "eight of ten within 3 %" within 3 0.8
    exit 0
fi
for devices in sim1,sim4,sim16 sim-h100,sim-h200; do
    firings=1000000
    [ $devices = sim1,sim4,sim16 ] || firings=64000000
    losses $firings $devices "$ROOT"/examples/*/*.pipe "$ROOT"/tests/lang/*.pipe g*.pipe
    check "$devices: nine of ten within 3 %" within 3 0.9
done
