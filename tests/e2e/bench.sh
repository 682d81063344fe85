#!/usr/bin/env bash
# The pipelines of the benchmark on small inputs: the bits of the C that is written by hand, with one thread and with
# two, on every device that executes kernels.  No time is measured.
set -eu
case $VARIANT in release | debug) ;; *) echo "not with a sanitized library"; exit 77 ;; esac
PEERS=no "$ROOT/tests/bench/build.sh" "$TMP/bench" --march=native >said 2>&1 || { status=$?; cat said; exit $status; }
devices=(sim16)
if "$PIPERUN" --list-devices | grep -q '^cpu'; then devices+=(cpu); fi
timeout 100 "$TMP/bench/bench" --check "$TMP/bench" "${devices[@]}"
