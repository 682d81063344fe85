#!/bin/bash
# SPDX-License-Identifier: MIT
# The pages for users do what they say: tests/page.pl runs the commands of each page and compares what they print.
# Each page has a folder of its own.  `tests/run.sh --bless` writes what differs into the pages.
set -eu
mkdir "$TMP/bin"
ln -s "$PIPEC" "$TMP/bin/pipec"
ln -s "$PIPERUN" "$TMP/bin/piperun"
export PATH=$TMP/bin:$PATH

# An installed runtime, for the pages that embed it.
prefix=$TMP/prefix
make -s -C "$ROOT" VARIANT="$VARIANT" BUILD="$(dirname "$BUILD")" PREFIX="$prefix" install >"$TMP/install" 2>&1 || { cat "$TMP/install"; exit 1; }
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

status=0
for page in "$ROOT"/docs/tutorial.md "$ROOT"/docs/cookbook.md "$ROOT"/docs/gpu.md "$ROOT"/docs/compatibility.md "$ROOT"/lang/sdf3.md "$ROOT"/docs/coming_from/*.md; do
    name=$(basename "$page" .md)
    mkdir "$TMP/$name"
    cd "$TMP/$name"
    "$ROOT/tests/page.pl" ${BLESS:+--bless} "$page" >"$TMP/said" || status=1
    sed -E "s/^(ok|not ok|skip) line/\1 $name-line/" "$TMP/said"
done
exit $status
