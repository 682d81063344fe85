#!/bin/sh
# SPDX-License-Identifier: MIT
# pipec explain: every rule in every form, items of the library, the man page that is made from the same table.
# shellcheck disable=SC2016,SC2317 # sh -c has its own words; functions are called through check
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

sed -n 's/^RULE([A-Z0-9_]*, *"\([a-z0-9-]*\)".*/\1/p' "$ROOT/compiler/diagnostics/rules.def" >ids
"$PIPEC" explain --list >list
sed 's/ .*//' list >listed
check "--list has every rule" cmp ids listed
missing=
while read -r id; do
    "$PIPEC" explain "$id" >page || missing="$missing $id"
    sed -n 1p page | grep -q "^$id: " || missing="$missing $id"
    [ "$(wc -l <page)" -gt 5 ] || missing="$missing $id"
done <ids
check "every rule is explained$missing" [ -z "$missing" ]
check "an unknown rule" says 2 "there is no rule and no item of the library 'deadlok'; did you mean 'deadlock'" "$PIPEC" explain deadlok
check "nothing near" says 2 "there is no rule and no item of the library 'qqqqqqqqq'; 'pipec explain --list'" "$PIPEC" explain qqqqqqqqq
check "an unknown item" says 2 "no item of the library 'sobell'; did you mean 'sobel'" "$PIPEC" explain sobell
check "a sentence with a range is whole" says 0 'Limits samples to -limit \.\. limit' "$PIPEC" explain std/dsp
check "control characters in a name" says 2 'library .a.x1Bb' "$PIPEC" explain "$(printf 'a\033b')"
check "a group is the list of its rules" says 0 '^serial-bottleneck +note' "$PIPEC" explain performance
check "and of these alone" [ "$(grep -c . text)" -eq "$(grep -c '^RULE.*"performance",' "$ROOT/compiler/diagnostics/rules.def")" ]
check "several groups" says 0 '^loose-rate' "$PIPEC" explain performance rate
check "no name" says 2 'what is to be explained' "$PIPEC" explain
check "an unknown option" says 2 "unknown option '--lst'" "$PIPEC" explain --lst
check "an unknown format" says 2 'the formats are' "$PIPEC" explain --format=pdf deadlock
check "help" says 0 '^usage: pipec explain' "$PIPEC" explain --help
check "a full device" says 2 'cannot write' sh -c '"$0" explain --list >/dev/full' "$PIPEC"

check "an item of the library" says 0 '^fn f32 sin_f32\(f32 x\)$' "$PIPEC" explain std/math.sin_f32
check "with its comment" says 0 '^    Sine of x' "$PIPEC" explain std/math.pipe.sin_f32
check "the name of a call finds both" says 0 '^fn f64 sin\(f64 x\)$' "$PIPEC" explain std/math.sin
check "as calls have it" says 0 '^fn f32 sin\(f32 x\)$' "$PIPEC" explain std/math.sin
check "the items of a file" says 0 '^fn f32 cos\(f32 x\)$' "$PIPEC" explain std/math
check "an unknown item" says 2 "no item 'sin_f23'; did you mean 'sin_f32'" "$PIPEC" explain std/math.sin_f23
check "an unknown file" says 2 "no file 'std/maths'; there are:.* std/math" "$PIPEC" explain std/maths
check "a path that is no file" says 2 "no file '/'" "$PIPEC" explain /

check "several items" says 0 '^kernel copy<' "$PIPEC" explain std/math.sin std/streams.copy
check "a bare name is found in its file" says 0 '^// import "std/image.pipe";$' "$PIPEC" explain sobel
check "a bare name that calls choose by" says 0 '^fn f64 sin\(f64 x\)$' "$PIPEC" explain sin
check "the files of the library" says 0 '^    streams.pipe: kernels that move' "$PIPEC" explain std
check "the heading of a file" says 0 '^dsp.pipe: signal processing' "$PIPEC" explain std/dsp
check "rules and items together" says 2 'one kind at a time' "$PIPEC" explain sin deadlock
"$PIPEC" explain std/dsp std/image std/streams >summaries
check "sentences are whole" awk '/^    / && !/[.]$/ { open = 1; next } /^    / { open = 0; next } open { exit 1 }' summaries

if command -v python3 >/dev/null; then
    "$PIPEC" explain --list --format=json >rules.json
    "$PIPEC" explain std/math.sin --format=json >sin.json
    check "JSON" python3 -c '
import json
rules = json.load(open("rules.json"))
assert rules["version"] == 1
assert [r["id"] for r in rules["rules"]] == open("ids").read().split()
for r in rules["rules"]:
    assert r["level"] in ("note", "warning", "error") and r["explanation"] and r["summary"] and r["group"]
    assert r["suppressible"] or r["level"] == "error"
sines = json.load(open("sin.json"))
assert [i["name"] for i in sines] == ["sin_f32", "sin_f64"] and [i["call"] for i in sines] == ["sin", "sin"]'
else
    echo "skip JSON python3 is not installed"
fi

"$PIPEC" explain --list --format=man >pipec-rules.7
check "the page has every rule" sh -c 'sed "s/^/.Ss /" ids | while read -r line; do grep -qx -e "$line" pipec-rules.7 || exit 1; done'
if command -v mandoc >/dev/null; then
    check "the page is clean" mandoc -Tlint -Wwarning pipec-rules.7
else
    echo "skip page-lint mandoc is not installed"
fi
