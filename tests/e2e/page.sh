#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
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
# Each row that misses a goal, without its name in the items that explain it, and with the item gone, or empty.
awk '$1 ~ /^[WP][0-9]/ { for (i = 0; i < 4; i++) if ($(NF - 3 + i) ~ /!$/) print $1, i == 0 ? "one thread" : "two threads" }' \
    "$ROOT/docs/bench/host.txt" "$ROOT/docs/bench/programs.txt" | sort -u >missed
while read -r word part; do
    refused "$word without its reason, with $part" "^$word misses its goal of .*'### With $part' says why" \
        "/^### With $part/,/^##/s@^\\(- \\*\\*[^*]*\\)\\b$word\\([,:]\\)@\\1none\\2@"
done <missed
if [ -s missed ]; then
    refused no_reason_at_all "misses its goal of .* says why" '/^## Rows that miss/,/^## How to see/d'
    refused a_name_in_a_table_is_no_reason "misses its goal of .* says why" '/^### With one thread/,/^## How to see/{/^- /d}'
    refused an_item_without_words "misses its goal of .* says why" 's/^\(- \*\*.*:\*\*\).*/\1/'
fi
