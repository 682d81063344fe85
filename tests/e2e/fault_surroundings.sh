#!/bin/sh
# SPDX-License-Identifier: MIT
# No room, a closed reader, a killed process (tests/fault/surroundings.py): exit statuses, words, and files that are
# whole; and mistakes are found so.  EVERY=1 tries all sizes; KILLS is how often
# each command is killed by each signal, SEED draws the times.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
case ${VARIANT-} in asan | tsan) echo "a sanitizer needs address space and time of its own"; exit 77 ;; esac

surround() { # WORK BUILD WORD...
    work=$1 programs=$2
    shift 2
    mkdir -p "$work"
    TMP=$work python3 "$ROOT/tests/fault/surroundings.py" "$programs" --kills "${KILLS:-2}" --seed "${SEED:-1}" "$@"
}

# shellcheck disable=SC2046
surround all "$BUILD" $([ -z "${EVERY-}" ] || echo --all) || echo "# see above"

# planted NAME FILE EXPRESSION GROUP: a piperun with a mistake, made by sed; it is found
planted() {
    name=$1 changed=$TMP/$1/${2##*/} programs=$TMP/$1/build own=$BUILD/obj/${2%.c}.o
    mkdir -p "$programs"
    sed "$3" "$ROOT/$2" >"$changed"
    if cmp -s "$ROOT/$2" "$changed"; then check "planted: $name" false; return; fi
    set -- "$4"
    for object in "$BUILD"/obj/tools/piperun/*.o; do [ "$object" = "$own" ] || set -- "$@" "$object"; done
    group=$1
    shift
    # shellcheck disable=SC2046
    ${CC:-cc} -D_GNU_SOURCE -std=c11 -I"$ROOT" -I"$ROOT/tools/piperun/io" -g -o "$programs/piperun" "$changed" "$@" \
        "$BUILD/libpiperun.a" "$BUILD/libpipert.a" -pthread -ldl -lm $(pkg-config --libs libpng zlib jansson hwloc libxxhash) \
        $(pkg-config --libs libedit 2>/dev/null) || { check "planted: $name" false; return; }
    ln -s "$BUILD/pipec" "$programs/pipec"
    if surround "$name/work" "$programs" --only "$group" >"$name/log" 2>&1; then cat "$name/log"; fi
    check "planted: $name is found" grep -q '^not ok' "$name/log"
}

planted killed_by_size tools/piperun/piperun.c '/signal(SIGXFSZ/d' size
[ -n "${LONG-}" ] || exit 0 # `make check` plants one mistake
planted unheard_write tools/piperun/io/io_writer.c 's/if (put <= 0) return refuse_write.*/if (put <= 0) return PRT_OK;/' size
planted unoccupied tools/piperun/piperun.c '/^    standard_streams_occupy();/d' streams
