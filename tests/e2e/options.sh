#!/bin/sh
# SPDX-License-Identifier: MIT
# Options and their values are the same in helps, parsers, messages and manual pages; completion takes them from the helps.
set -eu
cd "$TMP"
perl "$ROOT/tests/e2e/options.pl" "$ROOT"
