#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every ```sh block of README.md works as it stands, in order, in a fresh copy of the tree.
# All their output files are ignored by git.
# A block after a line `<!-- not-run: reason -->` is listed as skipped.  `make check-long` builds the copy from nothing;
# `make check` gives it the objects of the build that is tested, and leaves out the blocks that build another variant.
set -eu

[ -f "$ROOT/README.md" ] || { echo "no README.md"; exit 77; }
case $VARIANT in release | debug) ;; *) echo "the README builds its own release"; exit 77 ;; esac
cd "$ROOT"

# The files of a clone; without git (a source archive), everything but the build folder.
files() { git ls-files -co --exclude-standard -z 2>/dev/null || find . -path ./build -prune -o -type f -print0; }
mkdir "$TMP/tree" "$TMP/blocks"
files | tar -c --null --ignore-failed-read -T - | tar -x -C "$TMP/tree"

awk -v folder="$TMP/blocks" '
    /^<!-- not-run: .* -->$/ { reason = $0; gsub(/^<!-- not-run: | -->$/, "", reason); next }
    /^```sh$/ { file = sprintf("%s/%05d", folder, NR); if (reason != "") print reason > (file ".skip"); next }
    /^```/ { file = ""; reason = ""; next }
    file != "" { print > file; next }
    NF { reason = "" }' README.md

if [ -z "${LONG-}" ] && [ "$VARIANT" = release ]; then
    mkdir -p "$TMP/tree/build/release"
    for part in "$BUILD"/*; do
        [ "${part##*/}" = tests ] || [ "$part" -ef "$BUILD/llvm19" ] || cp -a "$part" "$TMP/tree/build/release/"
    done
    grep -l 'VARIANT=debug' "$TMP"/blocks/????? | while read -r block; do
        echo "make check-long runs it, as it builds another variant" >"$block.skip"
    done || true
fi

# The commands see nothing of the make and the build that this test is part of.
unset MAKEFLAGS MAKELEVEL MFLAGS VARIANT BUILD PIPEC PIPERUN PIPEC2 LLVM_MAJOR
status=0
cd "$TMP/tree"
export PATH=$PWD/build/release:$PATH
versioned=
if command -v git >/dev/null; then
    git init -q && git add -A && git -c user.name=test -c user.email=test commit -q -m clone && versioned=1
fi
for block in "$TMP"/blocks/?????; do
    line=$((10#${block##*/}))
    if [ -f "$block.skip" ]; then
        echo "skip line-$line $(cat "$block.skip")"
    elif bash -euo pipefail "$block" >"$TMP/output" 2>&1 </dev/null; then
        echo "ok line-$line"
    else
        echo "not ok line-$line"
        sed 's/^/    $ /' "$block"
        tail -n 30 "$TMP/output"
        status=1
    fi
done
if [ -n "$versioned" ]; then
    git status --porcelain >"$TMP/status"
    if [ -s "$TMP/status" ]; then echo "not ok the clone is as clean as it was"; cat "$TMP/status"; else echo "ok the clone is as clean as it was"; fi
fi
exit $status
