#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The pipelines of the benchmark on small inputs: the bits of the C that is written by hand, with one thread and with
# two, compiled for the simulated GPU and executed there and on the host, and compiled for the host.  No time is
# measured.
set -euo pipefail
case $VARIANT in release | debug) ;; *) echo "not with a sanitized library"; exit 77 ;; esac
cd "$TMP"
program=$BUILD/tests/bench # `make tests` compiles the C
cat "$program/said"
! grep -q '^exit status 77$' "$program/said" || { grep '^bench: ' "$program/said"; exit 77; }
"$ROOT/tests/bench/pipes.sh" sim16 -O0
"$ROOT/tests/bench/pipes.sh" cpu --device=cpu --march=native
timeout 100 "$program/bench" --check sim16 sim16 cpu | sed 's/: /, compiled for sim16: /'
timeout 100 "$program/bench" --check cpu cpu | sed 's/: /, compiled for cpu: /'
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
for file in "$ROOT"/tests/bench/cores/*.pipe; do
    check "pipec accepts cores/$(basename "$file")" "$PIPEC" -q --device=cpu "$file"
done
