#!/bin/sh
# SPDX-License-Identifier: MIT
# Files are on disk before they get their name, and their folder after that (tests/fault/order.py); a call that is left out is
# found so.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
# shellcheck source=tests/fault/planted.sh
. "$ROOT/tests/fault/planted.sh"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
case ${VARIANT-} in asan | tsan) echo "the tracer's library does not go with a sanitizer"; exit 77 ;; esac

order() { TMP=$1 python3 "$ROOT/tests/fault/order.py" "$2"; }
mkdir in_order
order in_order "$BUILD"
planted bytes_not_on_disk tools/piperun/io/io_writer.c 's/|| file_synchronise(writer->fd)/|| writer->fd >= 0/' order
planted folder_not_on_disk base/file_publish.c 's/return file_synchronise(folder)/return folder >= 0/' order
