#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # what stands in single quotes is an inner shell's
# pipec loads LLVM only to generate code. A pipec that cannot load it says so, and does everything else.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
grep -qa 'libLLVM[.-][^ ]*so' "$PIPEC" || { echo "this pipec is linked with LLVM"; exit 77; }

sed 's/libLLVM\([.-]\)/libNONE\1/g' "$PIPEC" >without_llvm
chmod +x without_llvm
cat >twice.pipe <<'END'
kernel twice(in i32 x, out i32 y) { y <- 2 * x; }
pipeline main(in i32 x, out i32 y) { x -> twice -> y; }
END
check "no library of LLVM is loaded at the start" sh -c '! ldd "$0" | grep -q LLVM' "$PIPEC"
check "a library that is missing is named" says 2 'cannot load LLVM for code generation: libNONE' \
    ./without_llvm twice.pipe -o twice.pbc
check "no container is left" test ! -e twice.pbc
for command in "twice.pipe" "inspect twice.pipe" "fmt --check twice.pipe" "lint twice.pipe" "graph twice.pipe" \
    "--emit=sched twice.pipe"; do
    # shellcheck disable=SC2086 # words
    check "pipec $command needs no LLVM" ./without_llvm $command
done
