#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No part of `make bench` compares with a clang that is older than that of docs/performance.md: it refuses the compiler, and
# installs another one if none was asked for.  Compilers and apt-get are scripts here, so nothing is built or installed.
# shellcheck disable=SC2317 # functions are called through check
set -euo pipefail
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
bench=$ROOT/tests/bench
needed=$(sed -n 's/^by hand: .*clang version \([0-9]*\)\..*/\1/p' "$ROOT/docs/bench/host.txt")

# script FILE LINE: a program of one line
script() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; }
# clang FILE MAJOR: says that it is a clang of that version
clang() { script "$1" "echo 'Debian clang version $2.0.0'"; }

# ---- a compiler that was asked for ----

clang "$TMP/old" $((needed - 1))
refused="bench: .*/old is older than clang $needed, .*: install clang-$needed"
mapfile -t parts < <(grep -l 'compiler\.sh")' "$bench"/*.sh | sed 's|.*/||; s/\.sh$//' | grep -v '^run$')
for part in "" "${parts[@]}"; do
    if [ "$part" = profile ] && ! command -v perf >/dev/null; then
        echo "skip ONLY=profile refuses an old compiler there is no perf"
        continue
    fi
    check "ONLY=$part refuses an old compiler" says 2 "$refused" \
        env BENCH_CC="$TMP/old" BUILD="$TMP/build" ONLY="$part" "$bench/run.sh"
done
for part in cores cuda; do
    check "so does the bundle of $part for other machines" says 2 "$refused" \
        env BENCH_CC="$TMP/old" "$bench/$part/bundle.sh" "$TMP/bundle"
done
check "all parts with code by hand are among them" [ "${parts[*]}" = "compile cores cuda index latency profile" ]
no_other() { ! grep -n 'BENCH_CC:-' "$bench"/*.sh "$bench"/cores/*.sh "$bench"/cuda/*.sh | grep -vE '/(compiler|build)\.sh:'; }
check "no part looks for a compiler by itself" no_other

# ---- the one that is found, or installed ----

# A machine with some tools, and the compilers that a case puts there.
machine() {
    rm -rf machine && mkdir machine
    local tool
    for tool in bash sh sed sort grep id env cat chmod dirname; do ln -s "$(command -v $tool)" machine/$tool; done
    # shellcheck disable=SC2016 # for the script
    script machine/sudo 'exec "$@"'
}
chosen() { env -u BENCH_CC PATH="$TMP/machine" "$bench/compiler.sh"; }
machine
clang machine/clang-$((needed - 1)) $((needed - 1))
clang machine/clang $((needed + 1))
check "the newest clang is taken" [ "$(chosen)" = clang ]
machine
clang machine/clang $((needed - 1))
check "an old one is refused" says 2 "bench: clang is older than clang $needed" chosen
rm machine/clang
check "none is refused" says 2 "bench: there is no clang: install clang-$needed" chosen
for there in "" old; do
    machine
    [ -z "$there" ] || clang machine/clang $((needed - 1))
    script machine/apt-get "echo \"\$*\" >$TMP/asked; printf '#!/bin/sh\necho clang version $needed.1.0\n' >$TMP/machine/clang-$needed; chmod +x $TMP/machine/clang-$needed"
    check "another one is installed${there:+ beside an old one}" [ "$(chosen)" = "clang-$needed" ]
    check "... by its name" grep -qx "install -y -q clang-$needed" asked
    rm asked
done
