#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every rule has a page compiler/rules/ID.md with an explanation, a failing and a fixed example:
#
#   paragraphs: what it means and why; then
#   "Fails:" or "Fails, with OPTIONS:", and a ```pipe block that reports this rule and no other
#   "Fixed:" or "Fixed, with OPTIONS:", and a ```pipe block that reports nothing
#
# A ```dev block is a device description.  OPTIONS may name a command: `pipec test`.  Rules that only `pipec lint`
# reports are tried with it.  known.json of the options is an old baseline, and for "Fixed" one that was written again.
set -eu
cd "$TMP"

# section NAME PAGE: OPTIONS on the first line, then the language of the block, then its text.
section() {
    awk -v name="$1" '
        !found && $0 ~ "^" name "(, with .*)?:$" { found = 1; sub("^" name "(, with )?", ""); sub(/:$/, ""); print; next }
        found && !open && /^```/ { open = 1; print substr($0, 4); next }
        open && /^```/ { exit }
        open { print }' "$2"
}

printf 'kernel copy(in f32 x, out f32 y) { y <- x; }\npipeline main(in f32 x, out f32 y) { x -> copy -> y; }\n' >any.pipe

# reported SECTION PAGE LEVEL: the ids that the example reports, one a line.
reported() {
    local options language command
    section "$1" "$2" >part
    options=$(sed -n 1p part)
    language=$(sed -n 2p part)
    sed 1,2d part >"example.$language"
    command=("$PIPEC")
    case $3 in LINT_*) command+=(lint) ;; esac
    case $1,$options in
    Fails,*known.json*)
        mkdir -p old
        sed 's/u8 n = 255/u8 n = 300/' example.pipe >old/example.pipe
        (cd old && "$PIPEC" --write-baseline ../known.json example.pipe)
        ;;
    Fixed,*known.json*) "$PIPEC" --write-baseline known.json example.pipe ;;
    esac
    # shellcheck disable=SC2206 # words
    command+=(${options#pipec } --diagnostics=jsonl:found)
    case $language in
    pipe) command+=(example.pipe) ;;
    dev) command+=(--device example.dev any.pipe) ;;
    *) echo "no example"; return ;;
    esac
    case $2 in */code-generation.md) command+=(-O0 -o example.pbc) ;; esac # all others are found without code
    rm -f found
    "${command[@]}" >output 2>&1 </dev/null || true
    sed -E 's/.*"rule": ?"([a-z0-9-]*)".*/\1/' found | sort -u
}

status=0
report() {
    if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: reported '$2', expected '$3'"; cat output; status=1; fi
}

while read -r id level; do
    page=$ROOT/compiler/rules/$id.md
    if [ ! -f "$page" ]; then echo "not ok $id: no compiler/rules/$id.md"; status=1; continue; fi
    report "$id-fails" "$(reported Fails "$page" "$level")" "$id"
    report "$id-fixed" "$(reported Fixed "$page" "$level")" ""
done < <(sed -nE 's/^RULE\([A-Z0-9_]*, *"([a-z0-9-]*)", *([A-Z_]*),.*/\1 \2/p' "$ROOT/compiler/diagnostics/rules.def")
for page in "$ROOT"/compiler/rules/*.md; do
    id=$(basename "$page" .md)
    grep -q "\"$id\"" "$ROOT/compiler/diagnostics/rules.def" || { echo "not ok $id: a page without a rule"; status=1; }
done
exit $status
