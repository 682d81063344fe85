#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every ```sh block of README.md works as it stands, in order, in a fresh copy of the tree.
# All their output files are ignored by git.
# tests/page.pl says which these are.  `make check-long` builds the copy from nothing;
# `make check` gives it the objects of the build that is tested, and leaves out the blocks that build another variant.
set -eu

[ -f "$ROOT/README.md" ] || { echo "no README.md"; exit 77; }
case $VARIANT in release | debug) ;; *) echo "the README builds its own release"; exit 77 ;; esac
cd "$ROOT"

# The files of a clone; without git (a source archive), everything but the build folder.
files() { git ls-files -co --exclude-standard -z 2>/dev/null || find . -path ./build -prune -o -type f -print0; }
mkdir "$TMP/tree"
files | tar -c --null --ignore-failed-read -T - | tar -x -C "$TMP/tree"

left_out=()
if [ -z "${LONG-}" ] && [ "$VARIANT" = release ]; then
    mkdir -p "$TMP/tree/build/release"
    for part in "$BUILD"/*; do
        [ "${part##*/}" = tests ] || [ "$part" -ef "$BUILD/llvm19" ] || cp -a "$part" "$TMP/tree/build/release/"
    done
    left_out=(--leave-out "VARIANT.debug=make check-long runs it, as it builds another variant")
fi

# The commands see nothing of the make and the build that this test is part of.
unset MAKEFLAGS MAKELEVEL MFLAGS VARIANT BUILD PIPEC PIPERUN PIPEC2 LLVM_MAJOR
cd "$TMP/tree"
export PATH=$PWD/build/release:$PATH
versioned=
if command -v git >/dev/null; then
    git init -q && git add -A && git -c user.name=test -c user.email=test commit -q -m clone && versioned=1
fi
tests/page.pl "${left_out[@]}" README.md || true
if [ -n "$versioned" ]; then
    git status --porcelain >"$TMP/status"
    if [ -s "$TMP/status" ]; then echo "not ok the clone is as clean as it was"; cat "$TMP/status"; else echo "ok the clone is as clean as it was"; fi
fi
