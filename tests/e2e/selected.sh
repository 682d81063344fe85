#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/run.sh runs every test of a program, whatever T says that it selects, and a program without tests has not passed.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

T=nothing
export T
check "a selection of tests is not taken from outside" says 0 '^[1-9][0-9]* passed, 0 failed' "$ROOT/tests/run.sh" "$ROOT/tests/unit/test_fifo.c"

mkdir -p built/tests
printf '#!/bin/sh\necho 1..0\n' >built/tests/test_nothing
chmod +x built/tests/test_nothing
check "a program without tests has not passed" says 1 'no test ran' env BUILD="$TMP/built" "$ROOT/tests/run.sh" \
    "$TMP/built/tests/test_nothing"
