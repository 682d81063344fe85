#!/bin/sh
# SPDX-License-Identifier: MIT
# The graphs of tests/literature have the figures that were published for them.
set -u
perl -MJSON::PP -e 1 2>/dev/null || { echo "no perl with JSON::PP"; exit 77; }
for source in "$ROOT"/tests/literature/*.pipe; do
    if grep -q '^// figure:' "$source"; then "$ROOT/tests/literature/figures.pl" "$source" || exit 1; fi
done
