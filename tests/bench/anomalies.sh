#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The part "anomalies" of `make bench`: pipelines that take longer on a better device (lang/time.md).
#
#   ONLY=anomalies make bench        PIPELINES=100000 SEED=7 ONLY=anomalies make bench
#
# Environment: ROOT, BUILD (set by make); PIPELINES (default 5000), SEED (default 1).
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
mkdir -p "$BUILD/bench"
${CC:-cc} -std=c11 -O2 -I"$ROOT" -o "$BUILD/bench/anomalies" "$ROOT/tests/time/anomalies.c" \
    "$ROOT/tests/reference/clock_draw.c" "$ROOT/tests/reference/clockwork.c" \
    "$ROOT/tests/reference/clock_units.c"
exec "$BUILD/bench/anomalies" "${PIPELINES:-5000}" "${SEED:-1}"
