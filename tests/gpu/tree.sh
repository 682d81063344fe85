#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tree.sh FOLDER: the tests that run on a GPU (check.sh), with pipec, piperun and their libraries, for a machine on which
# nothing of these is installed.  FOLDER/check.sh runs them there.  Environment: ROOT, BUILD, as make sets them.
set -eu
folder=$1
tree=$folder/tree
rm -rf "$tree"
mkdir -p "$tree/tests" "$tree/build/release/tests" "$folder/lib"
cp -r "$ROOT/examples" "$ROOT/lang" "$tree"
for part in run.sh values.pl lang std pipesmith gpu; do cp -r "$ROOT/tests/$part" "$tree/tests"; done
"${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -I"$ROOT" -o "$tree/build/release/tests/kahn" \
    "$ROOT"/tests/oracle/*.c -lm
for program in pipec piperun; do
    strip -o "$folder/lib/$program" "$BUILD/$program"
    cat >"$tree/build/release/$program" <<END
#!/bin/sh
here=\$(cd "\$(dirname "\$0")/../../../lib" && pwd)
LD_LIBRARY_PATH=\$here exec "\$here/$program" "\$@"
END
    chmod +x "$tree/build/release/$program"
done
# pipec opens LLVM when it makes code.
llvm=$(strings "$BUILD/pipec" | grep -x 'libLLVM[-.0-9a-z]*' | head -n 1)
llvm=$(ldconfig -p | sed -n "s|.*$llvm .*=> ||p" | head -n 1)
strip -o "$folder/lib/$(basename "$llvm")" "$llvm"
# The C library is that of the other machine.
ldd "$BUILD/pipec" "$BUILD/piperun" "$llvm" | awk '$3 ~ /^\// && $1 !~ /^lib(c|m|dl|pthread)\.so/ { print $3 }' | sort -u |
    while read -r library; do cp -L "$library" "$folder/lib"; done
cat >"$folder/check.sh" <<'END'
#!/bin/sh
# check.sh [PROGRAMS [SEED]]: tests/gpu/check.sh.
here=$(cd "$(dirname "$0")" && pwd) || exit 2
ROOT=$here/tree BUILD=$here/tree/build/release exec "$here/tree/tests/gpu/check.sh" "$@"
END
chmod +x "$folder/check.sh"
