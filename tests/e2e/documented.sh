#!/bin/sh
# SPDX-License-Identifier: MIT
# What tables say and what pages say agree: rules, instructions, built-in functions, library functions.
set -eu
cd "$ROOT"
# each NAME FILE: every line of standard input stands in the file.
each() {
    missing=
    while read -r word; do grep -qF -e "$word" "$2" || missing="$missing $word"; done
    if [ -z "$missing" ]; then echo "ok $1"; else echo "not ok $1:$missing"; fi
}
# The two tables of rules: id, group, level.
sed -nE 's/^RULE\([A-Z0-9_]*, *"([a-z0-9-]*)", *([A-Z_]*), *"([a-z]*)".*/\1 \3 \2/p' compiler/diagnostics/rules.def |
    sed 's/ACCEPTABLE_//' | sort >"$TMP/rules"
awk -F' *[|] *' '
    /^All are errors but/ { table = 1 }
    /^Lint rules say/ { lint = "LINT_" }
    table && /^\| `[a-z0-9-]*` \| [a-z]* \| / {
        level = lint == "" ? "ERROR" : "WARNING"
        if (/\(warning\) *\|$/) level = "WARNING"
        if (/\(note\) *\|$/) level = "NOTE"
        gsub(/`/, "", $2)
        print $2, $3, lint level
    }' lang/reference.md | sort >"$TMP/rows"
if diff "$TMP/rules" "$TMP/rows"; then echo "ok rules are in the reference"; else echo "not ok rules are in the reference"; fi
# shellcheck disable=SC2016 # backquotes of the page
sed -n 's/^BUILTIN([A-Z_]*, *"\([a-z_]*\)".*/`\1(/p' compiler/ir/builtins.def | each "built-in functions are in the reference" lang/reference.md
sed -n 's/^fn f32 \([a-z0-9]*\)_f32(.*/\1/p' lang/std/math.pipe | each "library functions are in the reference" lang/reference.md
sed -n 's/^OPCODE([A-Z_]*, *"\([a-z_]*\)".*/## \1/p' lang/opcodes.def | each "instructions are in the manual of the scheduler" lang/scheduler.md
# shellcheck disable=SC2016
cat runtime/verify/verify_program.c runtime/verify/verify_flow.c runtime/verify/verify_levels.c | tr '\n' ' ' | sed 's/RULE(/\n&/g' |
    sed -nE 's/^RULE\([^"]*"([a-z-]+)",.*/`\1`/p' | sort -u >"$TMP/program-rules"
each "rules of programs are in the manual of the scheduler" lang/scheduler.md <"$TMP/program-rules"
if [ "$(wc -l <"$TMP/program-rules")" -ge 50 ]; then echo "ok rules of programs are found"; else echo "not ok rules of programs are found"; fi
for device in lang/devices/*.dev; do basename "$device" .dev; done | each "devices are in their page" lang/devices.md
# Each section of the manual is cited by a program that is refused (or fails while running), and nothing else is cited.
sed -n 's/^###* //p' lang/reference.md >"$TMP/sections"
cat tests/reject/*.pipe tests/lang/*.pipe | sed -n 's,^// Reference: "\([^"]*\)".*,\1,p' | sort -u >"$TMP/cited"
each "sections of the reference have refused programs" "$TMP/cited" <"$TMP/sections"
each "refused programs cite sections of the reference" "$TMP/sections" <"$TMP/cited"
