#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Descriptions of devices: what is wrong with one, from pipec in every form, from pipec lint, and from piperun.
# shellcheck disable=SC2317 # functions are called through check
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

printf 'kernel k(in i32 x, out i32 y) { y <- 2 * x; }\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n' >small.pipe
cat >bad.dev <<'END'
# a device with mistakes, \303\251
name = small
cu_cout = 16
lanes = 2048
lanes = 8
clock = 1.5 GHz
memory = 1 MB	# a tab before
memory_bytes_per_cycle = 4
cus_per_l3 = 4
cus_per_l2 = 3
schemes = equaly
END
cat >doubtful.dev <<'END'
name = doubtful
cu_count = 12
lanes = 8
clock = 1 GHz
memory = 64 MiB
memory_bytes_per_cycle = 4
cache_l2 = 16 KiB
END

# ---- pipec ----

check "errors" says 1 '^bad.dev:4:9: error: .lanes. must be between 1 and 1024 \[device-description\]$' "$PIPEC" --device bad.dev small.pipe
cp text compiled
check "all in one run" [ "$(grep -c ' error: ' text)" -eq 7 ]
check "the line" grep -Fqx '    4 | lanes = 2048' text
check "the range" grep -Fqx '      |         ^^^^ at most 1024' text
check "the first of two" grep -Fqx '      | ----- first given here' text
check "the nearest key" grep -Fqx "help: did you mean 'cu_count'?" text
check "the nearest unit" grep -Fqx "help: did you mean 'MiB'?" text
check "the nearest scheme" grep -Fqx "help: did you mean 'equally'?" text
check "levels nest" grep -q "'cus_per_l2' must divide the 4 CUs of 'cus_per_l3'" text
check "missing keys together" says 1 "'lanes', 'clock', 'memory' and 'memory_bytes_per_cycle' are missing" "$PIPEC" --device <(printf 'name = d\ncu_count = 1\n') small.pipe
for form in json jsonl sarif github gitlab checkstyle short; do
    "$PIPEC" --diagnostics=$form:found.$form --device bad.dev small.pipe 2>/dev/null || true
    check "in the form $form" grep -q 'must be between 1 and 1024' found.$form
done
check "json parses" parses found.json
check "sarif parses" parses found.sarif
check "explained" says 0 'fit together' "$PIPEC" explain doubtful-device
check "a doubt is a warning" says 0 'doubtful.dev:7:12: warning: no CU has this cache.*\[doubtful-device\]' "$PIPEC" --device doubtful.dev small.pipe -o small.pbc
check "that can be silenced" says 0 '^$' sh -c "'$PIPEC' -Wno-doubtful-device --device doubtful.dev small.pipe -o small.pbc; echo"
check "or made an error" says 1 'error: no CU has this cache' "$PIPEC" -Werror=doubtful-device --device doubtful.dev small.pipe -o other.pbc

# ---- lint ----

check "lint" says 1 'bad.dev:3:1: error: unknown key' "$PIPEC" lint bad.dev
check "lint of a doubtful one" says 1 'warning: no CU has this cache' "$PIPEC" lint doubtful.dev
check "the embedded ones are clean" says 0 '^$' sh -c "'$PIPEC' lint -q '$ROOT'/lang/devices/*.dev; echo"

# ---- piperun ----

# The same text, but for what each program says on its last line.
check "piperun refuses" says 1 'bad.dev: the device description has 7 errors' "$PIPERUN" small.pbc --device sim:bad.dev x=null y=null
check "with the same text" diff <(sed '$d' compiled) <(sed '$d' text)
check "piperun warns" says 0 'doubtful.dev:7:12: warning' "$PIPERUN" small.pbc --device sim:doubtful.dev x=gen:ramp:3 y=null
check "a file that is none" says 2 'none.dev: No such file' "$PIPERUN" small.pbc --device sim:none.dev x=null y=null
printf 'name = \033[31m\302\233\377\nlanes\t= \t9999 # \303\251\n' >bytes.dev
"$PIPEC" --device bytes.dev small.pipe 2>compiled || true
check "bytes that a terminal must not see" says 1 'x1B' "$PIPERUN" small.pbc --device sim:bytes.dev x=null y=null
check "are escaped alike" diff <(sed '$d' compiled) <(sed '$d' text)
{ printf '\357\273\277'; cat "$ROOT/lang/devices/sim4.dev"; } | sed 's/$/\r/' >marked.dev
"$PIPEC" --device "$ROOT/lang/devices/sim4.dev" small.pipe -o small4.pbc
check "a mark of byte order and CRLF change nothing" says 0 '^4' "$PIPERUN" -q small4.pbc --device sim:marked.dev x=gen:ramp:3 y=-,csv
{ printf '\357\273\277'; cat bad.dev; } >marked.dev
"$PIPEC" --device marked.dev small.pipe 2>compiled || true
check "errors behind a mark" says 1 'marked.dev:4:9' "$PIPERUN" small.pbc --device sim:marked.dev x=null y=null
check "are the same" diff <(sed '$d' compiled) <(sed '$d' text)
head -c 70000 /dev/zero | tr '\0' 'a' >long.dev
check "a long line" says 1 'more than 65535 bytes' "$PIPERUN" small.pbc --device sim:long.dev x=null y=null

# Every figure of the descriptions of real cards names its source, and every source is there.
for card in sim-h100 sim-h200 sim-rtx3080; do
    text=$ROOT/lang/devices/$card.dev
    bare=$(grep -E '^[a-z]' "$text" | grep -vE '^name ' | grep -vE '#.*\[[0-9A-Z]\]' | sed 's/ *=.*//' | tr '\n' ' ')
    if [ -z "$bare" ]; then echo "ok every figure of $card has a source"; else echo "not ok every figure of $card has a source: $bare"; fi
    missing=
    grep -E '^[a-z]' "$text" | grep -oE '\[[0-9A-Z]\]' | sort -u >sources
    while read -r source; do
        grep -qF "# $source " "$text" || missing="$missing $source"
    done <sources
    if [ -z "$missing" ]; then echo "ok the sources of $card are named"; else echo "not ok the sources of $card are named:$missing"; fi
done

# ---- the example of lang/devices.md ----

{
    printf 'name = small\n\ncu_cout = 16\nlanes = 16\nlanes = 8\n'
    grep -vE '^(#|$)|^(name|cu_count|lanes) ' "$ROOT/lang/devices/sim16.dev"
} >small.dev
awk '/^small.dev:3:1: / { inside = 1 } /^```$/ { inside = 0 } inside' "$ROOT/lang/devices.md" >wanted
"$PIPEC" lint small.dev 2>&1 | grep -v '^pipec: ' >said
if [ -s wanted ] && diff wanted said; then echo "ok the page's example says what it shows"; else echo "not ok the page's example says what it shows"; fi
