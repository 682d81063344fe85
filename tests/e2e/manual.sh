#!/usr/bin/env bash
# The manual is tested: a ```pipe block of lang/reference.md that holds a pipeline must compile, a
# ```pipe-reject block must be refused with exit status 1.  Blocks without a pipeline are fragments.
set -eu

[ -f "$ROOT/lang/reference.md" ] || { echo "no lang/reference.md"; exit 77; }
cd "$TMP"

# Blocks become reference-LINE.pipe and reference-LINE.reject.pipe.
awk '
    /^```pipe$/ { file = sprintf("reference-%05d.pipe", NR); next }
    /^```pipe-reject$/ { file = sprintf("reference-%05d.reject.pipe", NR); next }
    /^```/ { if (file != "") close(file); file = ""; next }
    file != "" { print > file }' "$ROOT/lang/reference.md"

status=0
for block in reference-*.pipe; do
    [ -e "$block" ] || { echo "no program in lang/reference.md"; exit 77; }
    wanted=0
    case $block in
    *.reject.pipe) wanted=1 ;;
    *) grep -Eq '^[[:space:]]*pipeline[[:space:]]' "$block" || continue ;;
    esac
    found=0
    "$PIPEC" "$block" >output 2>&1 </dev/null || found=$?
    line=$((10#${block//[!0-9]/}))
    if [ $found -eq $wanted ]; then
        echo "ok line-$line"
    else
        echo "not ok line-$line"
        echo "exit status $found, expected $wanted"
        cat output
        status=1
    fi
done
exit $status
