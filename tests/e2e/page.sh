#!/usr/bin/env bash
# docs/performance.md has the figures that the benchmark has printed (docs/bench), and nothing else is measured in it.
set -eu
command -v python3 >/dev/null || { echo "no python3"; exit 77; }

mkdir -p "$TMP/docs"
cp -r "$ROOT/docs/bench" "$ROOT/docs/performance.md" "$TMP/docs"
page=$TMP/docs/performance.md
script=$ROOT/tests/bench/page.py
check() { env ROOT="$TMP" python3 -B "$script" check; }

# refused NAME WHAT SED-SCRIPT: the page is refused, for WHAT, when it is changed so.
refused() {
    cp "$ROOT/docs/performance.md" "$page"
    sed -i "$3" "$page"
    if check >said; then
        echo "not ok $1"
    elif grep -q "$2" said; then
        echo "ok $1"
    else
        cat said
        echo "not ok $1"
    fi
}

if check; then echo "ok the_page_has_the_printed_figures"; else echo "not ok the_page_has_the_printed_figures"; fi
refused a_figure_that_was_changed '^-' '0,/^W1 chain/s/^\(W1 chain.*\)[0-9]/\1x/'
refused a_figure_in_the_text_that_was_changed '^-' 's|MiB-->[0-9.]*<|MiB-->0.25<|'
refused a_figure_that_nobody_printed 'not printed by make bench: 0.1234 ms' '1a It took 0.1234 ms.'
if grep -q '[0-9]!' "$ROOT/docs/bench/host.txt"; then
    refused a_row_without_its_reason 'does not say why: W' '/^## Rows that miss/,/^## How to see/d'
fi
