#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bundle.sh FOLDER [PROGRAM...]: a folder that shows on a machine with an NVIDIA GPU that kernels have the same bits there.
#
# Nothing of the project, no LLVM and no network is needed there: `FOLDER/run.sh` does it in one command.  Kernels are called one
# by one (tests/gpu/gpu_check.c); those are of tests/lang, tests/std and examples, or of the programs named.  Without names the
# folder also has pipec and the tests that run on GPUs (tree.sh), for which bash, perl, python3 and a linker are needed there.
# ROOT, BUILD and PIPEC are set by `make gpu-bundle`.
set -eu
folder=$1
shift
mkdir -p "$folder/programs"
rm -f "$folder"/programs/*
all=
[ $# -gt 0 ] || all=1
[ -z "$all" ] || set -- "$ROOT"/tests/lang/*.pipe "$ROOT"/tests/std/*.pipe "$ROOT"/examples/*/*.pipe

# compile NAME FILE OPTION...: fused and as it is written.
compile() {
    local name=$1 file=$2
    shift 2
    "$PIPEC" --device=cuda "$@" "$file" -o "$folder/programs/$name.pbc"
    "$PIPEC" --device=cuda --no-fuse "$@" "$file" -o "$folder/programs/$name-apart.pbc"
}
for file in "$@"; do
    name=$(basename "$file" .pipe)
    ! grep -q '^// compile:.*--no-bounds-checks' "$file" || continue # drawn indices are out of range
    case $file in
    */tests/lang/*) compile "$name" "$file" ;;
    *)
        sed -n 's/^pipeline \([a-z_0-9]*\)(.*/\1/p' "$file" | while read -r pipeline; do
            compile "$name-$pipeline" "$file" -p "$pipeline"
        done
        ;;
    esac
done
read -ra libraries <<<"$(pkg-config --libs libxxhash)"
"${CC:-cc}" -std=c11 -O2 -D_GNU_SOURCE -I"$ROOT" "$ROOT/tests/gpu/gpu_check.c" "$BUILD/libpipert.a" "$BUILD/libbase.a" \
    -Wl,--as-needed "${libraries[@]}" -lm -ldl -pthread -o "$folder/gpu_check"
mkdir -p "$folder/lib"
ldd "$folder/gpu_check" | awk '$3 ~ /^\// && $1 !~ /^lib(c|m|dl|pthread)\.so/ { print $3 }' | while read -r library; do
    cp -L "$library" "$folder/lib"
done
cat >"$folder/run.sh" <<'END'
#!/bin/sh
# run.sh [PROGRAMS [SEED]]: so many drawn programs (default 2000).
# Exit status: 0 all bits are equal, 1 some differ, 77 there is no GPU.
here=$(cd "$(dirname "$0")" && pwd) || exit 2
status=0
(cd "$here" && LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ./gpu_check programs/*.pbc) || status=$?
[ "$status" = 77 ] || [ ! -e "$here/check.sh" ] || "$here/check.sh" "$@" || status=1
exit $status
END
chmod +x "$folder/run.sh"
[ -z "$all" ] || "$ROOT/tests/gpu/tree.sh" "$folder"
