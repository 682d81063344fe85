#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The manual is tested: a ```pipe block of lang/reference.md, or of another page of lang or docs, that holds a pipeline must
# compile, a ```pipe-reject block must be refused with exit status 1.  Blocks without a pipeline are fragments.  One that begins
# with `// pipec inspect ARGUMENT...` is inspected so, and the lines of the next block are among what that says.
set -eu

[ -f "$ROOT/lang/reference.md" ] || { echo "no lang/reference.md"; exit 77; }
cd "$TMP"

# Blocks become PAGE-LINE.pipe and PAGE-LINE.reject.pipe, what inspect says PAGE-LINE.says, with the line of the program.
for page in "$ROOT"/lang/*.md "$ROOT"/docs/*.md; do
    name=$(basename "$page" .md)
    awk -v page="$name" '
        /`[^` ]+`:$/ { named = 1; next }
        named && /^```pipe$/ { file = ""; named = 0; next }
        NF { named = 0 }
        /^```pipe$/ { file = sprintf("%s-%05d.pipe", page, NR); inspected = ""; first = 1; next }
        /^```pipe-reject$/ { file = sprintf("%s-%05d.reject.pipe", page, NR); inspected = ""; first = 0; next }
        /^```$/ && file == "" && inspected != "" { file = inspected; inspected = ""; next }
        /^```/ { if (file != "") close(file); file = ""; next }
        file != "" {
            if (first && /^\/\/ pipec inspect/) { inspected = file; sub(/pipe$/, "says", inspected) }
            first = 0
            print > file
        }' "$page"
done

# says BLOCK: the block is inspected as its first line wants, and the lines that follow it are said.
says() {
    local arguments line
    read -ra arguments <<<"$(sed -n '1s,^// pipec inspect *,,p' "$1")"
    [ -f "${1%pipe}says" ] && "$PIPEC" inspect "${arguments[@]}" "$1" >said || return 1
    while read -r line; do grep -qF -e "$line" said || { echo "inspect does not say: $line"; return 1; }; done <"${1%pipe}says"
}

status=0
for block in *-*.pipe; do
    [ -e "$block" ] || { echo "no program in lang/reference.md"; exit 77; }
    wanted=0
    case $block in
    *.reject.pipe) wanted=1 ;;
    *) grep -Eq '^[[:space:]]*pipeline[[:space:]]' "$block" || continue ;;
    esac
    found=0
    "$PIPEC" "$block" >output 2>&1 </dev/null || found=$?
    page=${block%%-*} line=${block#*-}
    name=line-$((10#${line%%.*}))
    [ "$page" = reference ] || name=$page-$name
    if [ $found -eq $wanted ]; then
        echo "ok $name"
    else
        echo "not ok $name"
        echo "exit status $found, expected $wanted"
        cat output
        status=1
    fi
    if ! head -n 1 "$block" | grep -q '^// pipec inspect'; then continue; fi
    if says "$block"; then echo "ok $name-is-inspected"; else echo "not ok $name-is-inspected" && status=1; fi
done
exit $status
