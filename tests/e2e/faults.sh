#!/bin/sh
# What fails in the system (memory, threads, files, processes: tests/fault) is told, and leaves files that are whole:
# some of the points that `make soak-faults` tries all of; and a mistake is found so.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
case ${VARIANT-} in asan | tsan) echo "a sanitizer has an allocator of its own"; exit 77 ;; esac

sweep() { TMP=$1 python3 "$ROOT/tests/fault/sweep.py" "$2" --every "$3" --only "${4-}"; }

mkdir all
sweep all "$BUILD" "${EVERY:-23}" || echo "# see above"
# hwloc asked for ever where there was no memory for the answer
mkdir cores
[ -n "${EVERY-}" ] || check "a run on cores ends wherever memory does" sweep cores "$BUILD" 1 "memory of a run on cores, and"

# The order in which files get to disk and get their name.
order() { TMP=$1 python3 "$ROOT/tests/fault/order.py" "$2"; }
mkdir in_order
order in_order "$BUILD"

# planted NAME FILE EXPRESSION CHECKER...: a piperun with a mistake, made by sed; the checker says so
planted() {
    name=$1 changed=$TMP/$1/${2##*/} programs=$TMP/$1/build
    mkdir -p "$programs/tests" "$1/work"
    sed "$3" "$ROOT/$2" >"$changed"
    if cmp -s "$ROOT/$2" "$changed"; then check "planted: $name" false; return; fi
    # shellcheck disable=SC2046
    ${CC:-cc} -D_GNU_SOURCE -std=c11 -I"$ROOT" -I"$ROOT/runtime/io" -g -o "$programs/piperun" "$changed" \
        "$BUILD"/obj/runtime/piperun*.o "$BUILD/libpipert.a" -pthread -ldl -lm \
        $(pkg-config --libs sndfile libpng zlib hwloc libxxhash) $(pkg-config --libs libedit 2>/dev/null) ||
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

every_point() { sweep "$2" "$3" 1 "$1"; }
planted unchecked_memory runtime/io/temporaries.c '/made == NULL/d' every_point "memory of a run, and"
planted unchecked_rename lang/file_publish.c 's/rename(\([^)]*\)) == 0/(rename(\1), true)/' \
    every_point "system calls of a run: EIO"
planted left_behind runtime/io/temporaries.c 's/(void)unlink(record->path)/(void)record/' every_point "a run gets SIGTERM"
planted shorter_input runtime/io/io_reader.c 's/return got == 0 && bytes > 0 ? examine_end.*/return PRT_OK;/' \
    every_point "long.raw shrinks"
planted longer_input runtime/io/npy.c 's/header.big_endian, header.elements};/header.big_endian, PRT_PACKETS_UNKNOWN};/' \
    every_point "long.npy grows"
planted bytes_not_on_disk runtime/io/io_writer.c 's/|| file_synchronise(writer->fd)/|| writer->fd >= 0/' order
planted folder_not_on_disk lang/file_publish.c 's/return file_synchronise(folder)/return folder >= 0/' order
