#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz.sh BINARY SECONDS: runs one libFuzzer target.  Seeds come from tests/fuzz/corpus/NAME and a dictionary
# from tests/fuzz/NAME.dict, where they exist; those of containers are compiled by the pipec beside the binary, whole
# programs are those of the tests.  Its findings stay beside the binary.
set -eu

binary=$1
seconds=$2
target=$(basename "$binary")
name=${target#fuzz_}
work=$(dirname "$binary")/corpus/$name
found=$(dirname "$binary")/found
mkdir -p "$work" "$found"
dictionary=tests/fuzz/$name.dict
timeout=5
[ "$name" = plan ] && timeout=300 # the analyses have budgets of steps, and sanitizers make each of them slow
[ "$name" = container ] && ASAN_OPTIONS=detect_leaks=0 tests/fuzz/seeds.sh "$(dirname "$binary")/pipec" "$work"

set -- -max_total_time="$seconds" -rss_limit_mb=1024 -malloc_limit_mb=256 -timeout="$timeout" \
    -artifact_prefix="$found/$name-" -print_final_stats=1 "$work"
[ -d "tests/fuzz/corpus/$name" ] && set -- "$@" "tests/fuzz/corpus/$name"
if [ "$name" = plan ]; then
    dictionary=tests/fuzz/parser.dict
    set -- "$@" tests/lang tests/golden tests/reject lang/std -max_len=4096
fi
[ -f "$dictionary" ] && set -- "$@" -dict="$dictionary"

echo "fuzz: $target for $seconds s; findings go to $found/"
exec "$binary" "$@"
