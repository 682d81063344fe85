#!/bin/sh
# SPDX-License-Identifier: MIT
# Failures of the system (memory, threads, files, processes: tests/fault) are reported, and leave files that are whole:
# some of the points that `make soak-faults` tries all of (`make check-long` one in 23, `make check` one in 506); and a mistake is found so.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
case ${VARIANT-} in asan | tsan) echo "a sanitizer has an allocator of its own"; exit 77 ;; esac

sweep() { TMP=$1 python3 "$ROOT/tests/fault/sweep.py" "$2" --every "$3" --only "${4-}"; }

mkdir all
sweep all "$BUILD" "${EVERY:-$((23 * ${LONG:-22}))}" || echo "# see above"
# hwloc asked for ever where there was no memory for the answer; `make check` tries every third place
mkdir cores
[ -n "${EVERY-}" ] || check "a run on cores ends wherever memory does" sweep cores "$BUILD" "$((${LONG:-3}))" "memory of a run on cores, and"

# shellcheck source=tests/fault/planted.sh
. "$ROOT/tests/fault/planted.sh"
every_point() { TMP=$2 python3 "$ROOT/tests/fault/sweep.py" "$3" --only "$1" --first; }
planted unchecked_memory tools/piperun/io/temporaries.c '/made == NULL/d' every_point "memory of a run, and"
[ -n "${LONG-}" ] || exit 0 # `make check` plants one mistake
planted unchecked_rename base/file_publish.c 's/rename(\([^)]*\)) == 0/(rename(\1), true)/' \
    every_point "system calls of a run: EIO"
planted left_behind tools/piperun/io/temporaries.c 's/(void)unlink(record->path)/(void)record/' every_point "a run gets SIGTERM"
planted shorter_input tools/piperun/io/io_reader.c 's/return got == 0 ? examine_end.*/return PRT_OK;/' \
    every_point "long.raw shrinks"
planted longer_input tools/piperun/io/npy.c 's/header.big_endian, header.elements};/header.big_endian, PRT_PACKETS_UNKNOWN};/' \
    every_point "long.npy grows"
