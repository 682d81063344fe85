#!/bin/sh
# SPDX-License-Identifier: MIT
# Drawn programs (tests/pipesmith; N of them from SEED on, each in some of the configurations) have the bytes, the
# exit status, the fault and the numbers of packets that the reference interpreter (tests/oracle) gives them, as they
# stand and as a relation changes them.  That it would be noticed if it were not so, oracle_noticed.sh shows.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
# shellcheck source=tests/oracle/differ.sh
. "$ROOT/tests/oracle/differ.sh"

# `make check` draws six of them, `make check-long` two hundred.
LONG=${LONG:-0}
N=${N:-$((6 + 194 * LONG))}
check "$N programs from ${SEED:-1} on do as the interpreter says" \
    differ -n "$N" -s "${SEED:-1}" ${KEEP:+--keep "$KEEP"}
check "programs on the border of what is right are refused if and only if the interpreter says so" \
    differ -n "$N" -s "${SEED:-1}" --border
check "of several faults in one iteration every device reports the one that the interpreter reports" \
    differ -n "$N" -s "${SEED:-1}" --faults
if [ -n "${SOAK-}" ]; then
    check "graphs of up to 2048 nodes" differ -n $((N / 20)) -s "${SEED:-1}" --extreme 2048
    exit
fi
check "graphs of up to 256 nodes" differ --each $((LONG + 1)) -n $((2 + 6 * LONG)) -s "${SEED:-1}" --extreme 256
