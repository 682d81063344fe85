#!/usr/bin/env bash
# Every ```sh block of README.md works as it stands, in order, in a fresh copy of the tree.
# A block behind a line `<!-- not-run: reason -->` is listed as skipped.
set -eu

[ -f "$ROOT/README.md" ] || { echo "no README.md"; exit 77; }
case $VARIANT in release | debug) ;; *) echo "the README builds its own release"; exit 77 ;; esac
cd "$ROOT"

# What a clone would hold; without git (a source archive), everything but the build folder.
files() { git ls-files -co --exclude-standard -z 2>/dev/null || find . -path ./build -prune -o -type f -print0; }
mkdir "$TMP/tree" "$TMP/blocks"
files | tar -c --null --ignore-failed-read -T - | tar -x -C "$TMP/tree"

awk -v folder="$TMP/blocks" '
    /^<!-- not-run: .* -->$/ { reason = $0; gsub(/^<!-- not-run: | -->$/, "", reason); next }
    /^```sh$/ { file = sprintf("%s/%05d", folder, NR); if (reason != "") print reason > (file ".skip"); next }
    /^```/ { file = ""; reason = ""; next }
    file != "" { print > file; next }
    NF { reason = "" }' README.md

# The commands see nothing of the make and the build that this test is part of.
unset MAKEFLAGS MAKELEVEL MFLAGS VARIANT BUILD PIPEC PIPERUN PIPEC2 LLVM_MAJOR
status=0
cd "$TMP/tree"
export PATH=$PWD/build/release:$PATH
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
exit $status
