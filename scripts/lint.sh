#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# lint.sh [STEP...]: every check of the sources that needs no run; all steps go on after a failure.
# lint.sh --format: rewrites the C sources as .clang-format says.
#
# Steps: structure format prose pipe gcc clang tidy cppcheck man shell
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."

build=${BUILD:-build}/lint
mapfile -t sources < <(find base compiler core model runtime tools lang tests examples -name '*.[ch]' | sort)
mapfile -t units < <(find base compiler core model runtime tools lang tests/unit tests/conform tests/reference tests/fuzz -name '*.c' 2>/dev/null | sort)

# tool NAME: NAME-22, else -19, else NAME.
tool() {
    command -v "$1-22" || command -v "$1-19" || command -v "$1" || { echo "lint: no $1: run scripts/deps.sh lint" >&2; exit 2; }
}

# Which module may include which: the flow of CONTRIBUTING.md, as ranks.
check_structure() {
    local duplicates status=0
    duplicates=$(find base core model compiler runtime tools lang tests -name '*.[chly]' -o -name '*.def' | sed 's|.*/||' | sort | uniq -d)
    if [ -n "$duplicates" ]; then
        echo "file names that are not unique across the tree: ${duplicates//$'\n'/ }"
        status=1
    fi
    if grep -rnE '(->|\.)(host|cuda)\b' compiler --include='*.[ch]' | grep -v '^compiler/target/'; then
        echo "only compiler/target asks which kind of device it is: use a parameter of struct target"
        status=1
    fi
    if grep -rnE '"(x86_64|nvptx|sm_[0-9])' compiler --include='*.[ch]' | grep -vE '^compiler/(target|codegen/(x86|ptx))/'; then
        echo "only compiler/target and compiler/codegen/{x86,ptx} name an instruction set: use a member of struct code_generator"
        status=1
    fi
    if grep -rlE '^#include "compiler/codegen/(x86|ptx)/' compiler | grep -vE '^compiler/codegen/(x86|ptx)/'; then
        echo "includes what belongs to one instruction set: use a step of struct code_generator"
        status=1
    fi
    find base core model compiler runtime tools lang \( -name '*.[chly]' -o -name '*.def' \) -exec grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} + |
        awk -f scripts/flow.awk || status=1
    if grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' core | grep -vE '<(stdint|stddef|stdbool|stdatomic|immintrin)\.h>'; then
        echo "core/ is freestanding: it includes stdint.h, stddef.h, stdbool.h, stdatomic.h and, for x86, immintrin.h only"
        status=1
    fi
    if grep -rnE '\b(json_load_file|LLVMCreateMemoryBufferWithContentsOfFile|sf_open)[(]' base compiler runtime tools --include='*.[ch]'; then
        echo "opens a file by its name, and waits for the other end of a named pipe: use base/file_open.h"
        status=1
    fi
    find base core model compiler runtime tools lang -name '*.h' -exec scripts/headers.pl {} + || status=1
    find base core model compiler runtime tools lang -name '*.[chly]' | sort | xargs awk -f scripts/names.awk || status=1
    scripts/stale.pl || status=1
    scripts/licence.sh || status=1
    return $status
}

check_format() { "$(tool clang-format)" --dry-run -Werror "${sources[@]}"; }
check_prose() { scripts/prose.pl; }
check_gcc() { make --no-print-directory -s -k -j"$(nproc)" BUILD="$build/gcc" CC=gcc objects; }
check_clang() { make --no-print-directory -s -k -j"$(nproc)" BUILD="$build/clang" CC="$(tool clang)" objects; }

check_tidy() {
    local flags
    make --no-print-directory -s BUILD="$build/gcc" flags-headers
    eval "flags=($(make --no-print-directory -s BUILD="$build/gcc" flags))"
    # One file at a time: the flags come last.
    printf '%s\0' "${units[@]}" | xargs -0 -P "$(nproc)" -I{} \
        "$(tool clang-tidy)" --quiet {} -- "${flags[@]}" 2> >(grep -v 'warnings\? generated' >&2)
}

check_cppcheck() {
    cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --suppressions-list=scripts/cppcheck.txt -j "$(nproc)" -I . -D_GNU_SOURCE -D__x86_64__ "${units[@]}"
}

check_man() {
    local pages=(man/*.[1-8])
    [ -e "${pages[0]}" ] || { echo "no man pages yet"; return; }
    mandoc -Tlint -Wwarning "${pages[@]}"
}

check_shell() {
    command -v shellcheck >/dev/null || { echo "shellcheck is not installed"; return; }
    find scripts tests examples .ci \( -name '*.sh' -o -path .ci/run \) -print0 | xargs -0 shellcheck
}

# The sources of the language, with the pipec that is built; tests/e2e/fmt.sh says which are left out.
check_pipe() {
    local pipec=${PIPEC:-${BUILD:-build}/release/pipec} changed
    [ -x "$pipec" ] || pipec=$(find "${BUILD:-build}" -maxdepth 2 -name pipec -perm -100 2>/dev/null | head -1)
    [ -n "$pipec" ] || { echo "pipec is not built"; return; }
    changed=$("$pipec" fmt --check lang examples tests 2>/dev/null |
        grep -vE '^tests/(syntax/|fuzz/corpus/|lang/precedence.pipe|golden/(ast_forms|silent_mistakes|widening).pipe)') || true
    [ -z "$changed" ] || { echo "run 'pipec fmt' on:"; echo "$changed"; return 1; }
}

if [ "${1-}" = --format ]; then
    exec "$(tool clang-format)" -i "${sources[@]}"
fi
[ $# -gt 0 ] || set -- structure format prose pipe gcc clang tidy cppcheck man shell
failed=
for step in "$@"; do
    echo "lint: $step"
    "check_$step" || failed+=" $step"
done
[ -z "$failed" ] || { echo "lint: failed:$failed"; exit 1; }
