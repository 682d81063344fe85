#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compiler.sh: prints the compiler of the hand-written code: BENCH_CC, else the newest clang.  A clang that is older than
# that of docs/bench/host.txt would make pipec look good: it is refused.  If there is no other, compiler.sh installs one.
# Exit status 2: there is none.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
needed=$(sed -n 's/^by hand: .*clang version \([0-9]*\)\..*/\1/p' "$ROOT/docs/bench/host.txt")

# major COMPILER: of a clang; nothing for another compiler
major() { "$1" --version 2>/dev/null | sed -n 's/.*clang version \([0-9]*\)\..*/\1/p'; }

# newest: the newest clang in PATH
newest() {
    compgen -c clang | grep -xE 'clang(-[0-9]+)?' | sort -u | while read -r name; do
        echo "$(major "$name") $name"
    done | sort -rn | sed -n '1s/.* //p'
}

install_clang() {
    local as_root=()
    command -v apt-get >/dev/null || return
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || return
        as_root=(sudo)
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q "clang-$needed" >&2
}

compiler=${BENCH_CC:-$(newest)}
if [ -n "${BENCH_CC:-}" ] && [ -z "$(major "$compiler")" ]; then # not a clang, on request
    echo "$compiler"
    exit
fi
if [ -z "${BENCH_CC:-}" ] && [ "$(major "${compiler:-false}")0" -lt "${needed}0" ]; then
    install_clang || true
    compiler=$(newest)
fi
if [ -z "$compiler" ]; then
    echo "bench: there is no clang: install clang-$needed, with which docs/performance.md compares" >&2
    exit 2
fi
if [ "$(major "$compiler")0" -lt "${needed}0" ]; then
    echo "bench: $compiler is older than clang $needed, with which docs/performance.md compares: install clang-$needed" >&2
    exit 2
fi
echo "$compiler"
