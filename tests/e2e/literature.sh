#!/bin/sh
# SPDX-License-Identifier: MIT
# The graphs of tests/literature have the figures that were published for them: as programs, as SDF3 XML, and as the
# XML that pipec writes of a program.
set -u
perl -MJSON::PP -e 1 2>/dev/null || { echo "no perl with JSON::PP"; exit 77; }
for source in "$ROOT"/tests/literature/*.pipe "$ROOT"/tests/literature/*.xml; do
    if grep -Eq '^(//|) *figure:' "$source"; then "$ROOT/tests/literature/figures.pl" "$source" || exit 1; fi
done
for source in "$ROOT"/tests/literature/*.pipe; do
    grep -q '^// figure:' "$source" || continue
    written=$TMP/$(basename "$source" .pipe)_written.xml
    "$PIPEC" graph --format=sdf3 -q -o "$written" "$source" || echo "not ok $source is not written"
    { echo '<!--'; sed -n 's|^// figure: repetitions|figure: repetitions|p' "$source"; echo '-->'; } >>"$written"
    "$ROOT/tests/literature/figures.pl" "$written" || exit 1
done
