#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The scheduler in core/ is freestanding C: with the module of lang/ that it calls it needs nothing of a library but memcpy and
# memset, and clang compiles it for a GPU.
set -eu
. "$ROOT/tests/checks.sh"

sources=("$ROOT"/core/*.c "$ROOT"/lang/dispatch_codec.c)
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

gpu=
for clang in clang-22 clang-19 clang; do
    if [ -z "$gpu" ] && command -v $clang >/dev/null && $clang --print-targets | grep -q nvptx64; then gpu=$clang; fi
done
compiles_for_gpu() {
    local source
    for source in "${sources[@]}"; do
        "$gpu" --target=nvptx64-nvidia-cuda -march=sm_80 -nocudalib "${flags[@]}" -S "$source" -o "$(basename "$source" .c).ptx" || return 1
    done
    grep -q 'func .*core_resume' machine.ptx
}
if [ -n "$gpu" ]; then check "clang compiles the core for a GPU" compiles_for_gpu; fi
