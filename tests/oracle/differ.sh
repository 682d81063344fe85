# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# differ.sh: drawn programs against the reference interpreter.  Sourced, in the folder of the test, after checks.sh.
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }

# Few programs are interpreted faster than an optimised interpreter is compiled.
optimise=-O0
[ -z "${LONG-}${SOAK-}" ] || optimise=-O2
# interpreter NAME [EXPRESSION]: compiled, from sources that sed has changed so
interpreter() {
    mkdir -p "$1.d/tests/oracle"
    for file in "$ROOT"/tests/oracle/kahn*; do sed "${2-}" "$file" >"$1.d/tests/oracle/${file##*/}"; done
    ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L $optimise -ffp-contract=off -I"$1.d" -o "$1" \
        "$1.d"/tests/oracle/*.c -lm
}

differ() { ${SOAK:+nice} python3 "$ROOT/tests/pipesmith/differ.py" -j "${JOBS:-2}" --each "${EACH:-3}" "$@"; }

interpreter kahn || exit 1
KAHN=$TMP/kahn
export KAHN
