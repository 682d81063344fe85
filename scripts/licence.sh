#!/bin/sh
# SPDX-License-Identifier: MIT
# licence.sh [--write]: every source names the licence (SPDX, https://spdx.dev): C, Flex, Bison and tables in the first
# line, scripts and makefiles after the line of the interpreter, programs of the library and the examples in the last line.
# (The first comment of a program is what `pipec explain` shows.)  Prints the files without that line, exit status 1 if
# there is any; --write adds it.
set -eu
cd "$(dirname "$0")/.."
identifier='SPDX-License-Identifier: MIT'

# sources NAME...: files of these names, but for what is built and for the data of the fuzz targets.
sources() {
    names=
    for name in "$@"; do names="$names -o -name $name"; done
    # shellcheck disable=SC2086 # one word for each name
    set -f && set -- ${names# -o} && set +f
    find . \( -path ./build -o -path ./.git -o -path ./tests/fuzz/corpus \) -prune -o -type f \( "$@" \) -print
}

# named FILE LINE POSITION: is LINE there: first, after an interpreter's line if there is one, or last.
named() {
    case $3 in
    first) [ "$(head -n 1 "$1")" = "$2" ] ;;
    script) [ "$(sed -n '1{/^#!/d;p;q};2{p;q}' "$1")" = "$2" ] ;;
    last) [ "$(tail -n 1 "$1")" = "$2" ] ;;
    esac
}

# add FILE LINE POSITION: the file keeps its mode; it is replaced, because it may be this script.
add() {
    copy=$1.new
    cp -p "$1" "$copy"
    case $3 in
    first) printf '%s\n' "$2" | cat - "$1" ;;
    script) awk -v line="$2" 'NR == 1 { if (/^#!/) { print; print line; next } print line } { print } END { if (!NR) print line }' "$1" ;;
    last) cat "$1" && printf '\n%s\n' "$2" ;;
    esac >"$copy"
    mv "$copy" "$1"
}

{
    sources '*.c' '*.h' '*.l' '*.y' '*.def' | sed "s|\$|:/* $identifier */:first|"
    { sources '*.sh' '*.pl' '*.py' '*.awk' Makefile && find .ci -type f; } 2>/dev/null | sed "s|\$|:# $identifier:script|"
    sources '*.pipe' | grep -E '^./(lang|examples)/' | sed "s|\$|:// $identifier:last|"
} | sort | {
    missing=0
    while IFS= read -r row; do
        file=${row%%:*} position=${row##*:} line=${row#*:}
        line=${line%:*}
        if named "$file" "$line" "$position"; then continue; fi
        if [ "${1-}" = --write ]; then
            add "$file" "$line" "$position"
        else
            echo "${file#./}: no '$line' ($position line): run scripts/licence.sh --write"
            missing=1
        fi
    done
    exit $missing
}
