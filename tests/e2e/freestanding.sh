#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The scheduler in core/ is freestanding C: with the module of lang/ that it calls it needs nothing of a library but memcpy and
# memset.  tests/e2e/cuda.sh has it as PTX.
set -eu
. "$ROOT/tests/checks.sh"

sources=("$ROOT"/core/*.c "$ROOT"/core/resident/*.c "$ROOT"/lang/dispatch_codec.c)
flags=(-std=c11 -O2 -ffreestanding -Wall -Wextra -Wconversion -Werror -I"$ROOT")

# missing NAME FILE...: the functions that the files, linked to NAME.o, call and do not have.
missing() {
    local name=$1 source
    shift
    rm -rf "$name"
    mkdir "$name"
    for source in "$@"; do
        ${CC:-gcc} "${flags[@]}" -fno-stack-protector -nostdlib -c "$source" -o "$name/$(basename "$source" .c).o"
    done
    ld -r -o "$name.o" "$name"/*.o
    nm -u "$name.o" | awk '{ print $2 }' | grep -vxE 'mem(cpy|set)|_GLOBAL_OFFSET_TABLE_' || true
}
needs_nothing() {
    missing core "${sources[@]}" >calls
    cat calls
    [ ! -s calls ]
}
check "the core needs no library" needs_nothing

printf '#include <stdlib.h>\nvoid *core_grow(void);\nvoid *core_grow(void) { return malloc(8); }\n' >grown.c
finds_malloc() { missing grown "${sources[@]}" grown.c >calls && grep -qx malloc calls; }
check "a call of malloc is found" finds_malloc
