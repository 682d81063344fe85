# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# planted.sh: a checker of faults is shown to find a mistake.  Sourced, in the folder of the test, after tests/checks.sh.

# planted NAME FILE EXPRESSION CHECKER...: a piperun with a mistake, made by sed; the checker says so
planted() {
    name=$1 changed=$TMP/$1/${2##*/} programs=$TMP/$1/build own=$BUILD/obj/${2%.c}.o
    mkdir -p "$programs/tests" "$1/work"
    sed "$3" "$ROOT/$2" >"$changed"
    if cmp -s "$ROOT/$2" "$changed"; then check "planted: $name" false; return; fi
    # shellcheck disable=SC2046 # names without spaces
    ${CC:-cc} -D_GNU_SOURCE -std=c11 -I"$ROOT" -I"$ROOT/tools/piperun/io" -g -o "$programs/piperun" "$changed" \
        $(find "$BUILD"/obj/tools/piperun -maxdepth 1 -name '*.o' ! -path "$own") \
        "$BUILD/libpiperun.a" "$BUILD/libpipert.a" -pthread -ldl -lm $(pkg-config --libs libpng zlib jansson hwloc libxxhash) \
        $(pkg-config --libs libedit 2>/dev/null) ||
        { check "planted: $name" false; return; }
    ln -s "$BUILD/pipec" "$programs/pipec"
    ln -s "$BUILD"/tests/fault_* "$programs/tests/"
    shift 3
    if "$@" "$name/work" "$programs" >"$name/log"; then
        cat "$name/log"
        check "planted: $name is found" false
    else
        check "planted: $name is found" grep -q '^not ok' "$name/log"
    fi
}
