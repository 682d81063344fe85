#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2013,SC2016 # names have no blanks; what stands in single quotes is awk's
# Each inner buffer of every accepted program in turn (of those with many, some of them), with the others at the depths
# found: one packet less than the minimum is refused with the buffer named, the minimum is accepted; and the program with all
# depths found writes the same packets.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

# inner LIST: of each inner buffer whose least depth is known: name, depth, least depth.
inner() { inner_depths "$1" | awk -F '\t' '$3 > 0'; }

# declare LIST BUFFER DEPTH: the list with all depths of the file `depths` declared, but this buffer with this one.
declare_depths() {
    awk -v buffer="$2" -v depth="$3" -F '\t' '
        NR == FNR { depths[$1] = $1 == buffer ? depth : $2; next }
        /^set "/ { gsub(/ depth [0-9]+/, ""); if (/^set "[^"]*";$/) next }
        { print }
        END { for (name in depths) print "set " name " depth " depths[name] ";" }' depths "$1"
}

# packets PROGRAM NAME: what the program writes when it reads noise; the ports are those of list.cmds.
packets() {
    program=$1 name=$2
    set -- --firings 50
    for port in $(sed -n 's/^create in "\(.*\)" .*/\1/p' list.cmds); do set -- "$@" "$port=gen:noise:3:500"; done
    for port in $(sed -n 's/^create out "\(.*\)" .*/\1/p' list.cmds); do set -- "$@" "$port=$name.$port.raw,raw"; done
    for value in $(sed -n 's/^argument [a-z0-9]* \([^ ]*\);/\1/p' list.cmds); do set -- "$@" -D "$value=3"; done
    "$PIPEC" -q -O0 "$program" -o "$name.pbc" 2>/dev/null || return
    timeout 20 "$PIPERUN" "$name.pbc" "$@" 2>/dev/null
    echo "exit status $?" >"$name.status.raw"
}

# One program in four, and in them five buffers, unless all of them are asked for.
part=4 most=5
[ -z "${LONG-}" ] || part=1 most=40
below='' least='' outputs='' count=0 seen=0 buffers=0 ran=0
for source in "$ROOT"/tests/lang/*.pipe "$ROOT"/tests/literature/*.pipe "$ROOT"/examples/*/*.pipe; do
    "$PIPEC" graph --format=cmds -o list.cmds "$source" 2>/dev/null || continue
    inner list.cmds >depths
    [ -s depths ] || continue
    seen=$((seen + 1))
    [ $((seen % part)) = 0 ] || continue
    count=$((count + 1))
    awk -v step=$((($(grep -c . depths) + most - 1) / most)) 'NR % step == 0' depths >some
    while IFS='	' read -r buffer _ minimum; do
        buffers=$((buffers + 1))
        declare_depths list.cmds "$buffer" "$minimum" >tried.cmds
        "$PIPEC" -q tried.cmds >said 2>&1 || least="$least $source:$buffer:$minimum"
        [ "$minimum" -gt 1 ] || continue
        declare_depths list.cmds "$buffer" $((minimum - 1)) >tried.cmds
        "$PIPEC" -q tried.cmds >said 2>&1
        [ $? -eq 1 ] && grep 'error: ' said | grep -qF "'$(echo "$buffer" | tr -d '"')'" || below="$below $source:$buffer:$minimum"
    done <some
    # Kernels are compiled for the packets, which takes most of the time: of every fifth program.
    if [ $((count % 5)) = 0 ]; then
        rm -f one.* two.*
        packets "$source" one
        declare_depths list.cmds '' 0 >tried.cmds
        packets tried.cmds two
        for file in one.*.raw; do cmp -s "$file" "two${file#one}" || outputs="$outputs $source"; done
        grep -q ' 0$' one.status.raw && ran=$((ran + 1))
    fi
done
check "the least depths of $buffers buffers of $count programs are accepted:$least" test -z "$least"
check "one packet less is refused:$below" test -z "$below"
check "$((count / 5)) programs with the least depths write the same packets:$outputs" test -z "$outputs"
check "there are enough of them" test "$buffers" -gt $((part > 1 ? 30 : 150)) -a "$ran" -gt $((part > 1 ? 1 : 5))
