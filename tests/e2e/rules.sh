#!/usr/bin/env bash
# Every rule has a page compiler/rules/ID.md with an explanation, a failing and a fixed example:
#
#   paragraphs: what it means and why; then
#   "Fails:" or "Fails, with OPTIONS:", and a ```pipe block that reports this rule and no other
#   "Fixed:" or "Fixed, with OPTIONS:", and a ```pipe block that reports nothing
#
# or "There is no small example: REASON" instead of both.  A ```dev block is a device description.  Rules that only `pipec lint` reports are tried with it.
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
    # shellcheck disable=SC2206 # words
    command+=($options --diagnostics=jsonl:found)
    case $language in
    pipe) command+=(example.pipe) ;;
    dev) command+=(--device example.dev any.pipe) ;;
    *) echo "no example"; return ;;
    esac
    case $3 in LINT_*) ;; *) command+=(-o example.pbc) ;; esac
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
    if ! grep -q '^Fails' "$page" && grep -q '^There is no small example: ' "$page"; then
        echo "skip $id $(sed -n 's/^There is no small example: //p' "$page")"
        continue
    fi
    report "$id-fails" "$(reported Fails "$page" "$level")" "$id"
    report "$id-fixed" "$(reported Fixed "$page" "$level")" ""
done < <(sed -nE 's/^RULE\([A-Z0-9_]*, *"([a-z0-9-]*)", *([A-Z_]*),.*/\1 \2/p' "$ROOT/compiler/support/rules.def")
for page in "$ROOT"/compiler/rules/*.md; do
    id=$(basename "$page" .md)
    grep -q "\"$id\"" "$ROOT/compiler/support/rules.def" || { echo "not ok $id: a page without a rule"; status=1; }
done
exit $status
