#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2013 # names have no blanks
# pipec --debug-mode: smallest buffers, the same bits, containers that say what they are.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

# outputs CONTAINER NAME: what it writes when it reads noise, and its exit status; the ports are those of list.cmds.
outputs() {
    container=$1 name=$2
    set -- --firings 50
    for port in $(sed -n 's/^create in "\(.*\)" .*/\1/p' list.cmds); do set -- "$@" "$port=gen:noise:3:20000"; done
    for port in $(sed -n 's/^create out "\(.*\)" .*/\1/p' list.cmds); do set -- "$@" "$port=$name.$port.raw,raw"; done
    status=0
    "$PIPERUN" -q "$container" "$@" 2>/dev/null || status=$?
    echo "exit status $status" >"$name.status.raw"
}

# cut_depths SOURCE: of each buffer its name, its depth and its least depth, with the others at theirs.
cut_depths() {
    "$PIPEC" inspect --json --debug-mode "$1" 2>/dev/null | awk '
        /^  "buffers"/ { inside = 1 }
        /^  "exact"/ { inside = 0 }
        inside && /^      "name"/ { name = $0 }
        inside && /^      "depth_packets"/ { depth = $2 + 0 }
        inside && /^      "depth_min_packets"/ { print name "\t" depth "\t" $2 + 0 }'
}

different='' deeper='' count=0
for source in "$ROOT"/examples/*/*.pipe "$ROOT"/tests/literature/*.pipe; do
    "$PIPEC" graph --format=cmds -o list.cmds "$source" 2>/dev/null || continue
    grep -q '^create kernel' list.cmds || continue
    count=$((count + 1))
    cut_depths "$source" >depths
    awk -F '\t' '$3 > 0 && $2 > $3 { print; bad = 1 } END { exit bad || NR == 0 }' depths || deeper="$deeper $source"
    "$PIPEC" -q -O0 --debug-mode "$source" -o debug.pbc && "$PIPERUN" verify debug.pbc >text || different="$different $source"
    grep -q '^create in ' list.cmds || continue # a cycle without input runs for ever
    rm -f -- *.raw
    "$PIPEC" -q -O0 "$source" -o plain.pbc
    outputs plain.pbc plain
    outputs debug.pbc debug
    for file in plain.*.raw; do cmp "$file" "debug.${file#plain.}" || different="$different $source:$file"; done
done
check "$count programs write the same bits" [ -z "$different" ]
[ -z "$different" ] || echo "different:$different"
check "their buffers are at their least" [ -z "$deeper" ]
[ -z "$deeper" ] || echo "deeper:$deeper"
check "there are examples" [ "$count" -gt 12 ]

cat >small.pipe <<'END'
kernel split(in i32 x, out i32 y) {
    if (x > 0) y <- x;
}
pipeline main(in i32 x, out i32 y) {
    buffer i32 t depth 77;
    split(x -> t);
    split(t -> y);
}
END
"$PIPEC" --debug-mode small.pipe -o small.pbc
check "a container says that it is for debugging" says 0 '^mode     debug' "$PIPEC" inspect small.pbc
check "so does its object" says 0 '"debug_mode": true' "$PIPEC" inspect --json small.pbc
check "a source is shown as it would be compiled" says 0 '"debug_mode": true' "$PIPEC" inspect --json --debug-mode small.pipe
check "what was cut is said" says 0 'cut from the 77 declared' "$PIPEC" inspect --debug-mode small.pipe
check "the least is said to be the least" says 0 ' 32 bytes in buffers: exactly the minimum' \
    "$PIPEC" inspect --debug-mode "$ROOT/tests/literature/cd_to_dat.pipe"
check "a bound is said to be one" says 0 'the minimum is at least' "$PIPEC" inspect --debug-mode "$ROOT/tests/lang/finish_joined.pipe"
check "without it nothing is" says 0 '"debug_mode": false' "$PIPEC" inspect --json small.pipe
mkdir -p elsewhere && cp small.pipe elsewhere/small.pipe
"$PIPEC" --debug-mode elsewhere/small.pipe -o elsewhere/small.pbc
check "the folder does not matter" cmp small.pbc elsewhere/small.pbc
check "the text is in it" grep -aq 'if (x > 0) y <- x;' small.pbc
"$PIPEC" small.pipe -o plain.pbc
check "without debug mode it is not" [ "$(grep -ac 'if (x > 0) y <- x;' plain.pbc)" = 0 ]
"$PIPEC" -O0 --emit=llvm --debug-mode small.pipe >debug.ll
"$PIPEC" -O0 --emit=llvm small.pipe >plain.ll
check "kernels tell origins in debug mode" grep -q 'origins.window' debug.ll
check "and have no code for it without" [ "$(grep -c 'origins.window' plain.ll)" = 0 ]
for device in sim1 sim4 sim16 sim-h100 sim-orin-nano; do
    "$PIPEC" -O0 --debug-mode --device $device small.pipe -o device.pbc
    check "one kernel at a time on $device" says 0 '^mode .*one kernel at a time' "$PIPEC" inspect --debug-mode --device $device small.pipe
    check "it runs on $device" says 0 '^5$' "$PIPERUN" -q --device $device device.pbc x=gen:ramp:6 y=-,csv
done

check "--pareto contradicts it" says 2 'does not go with --pareto' "$PIPEC" inspect --pareto --debug-mode small.pipe
check "--trace-deadlock contradicts it" says 2 'does not go with' "$PIPEC" inspect --trace-deadlock --debug-mode small.pipe
check "--buffers=fast contradicts it" says 2 'contradicts it' "$PIPEC" --buffers=fast --debug-mode small.pipe
check "a container is compiled already" says 2 'needs its source' "$PIPEC" inspect --debug-mode small.pbc
check "tests run in debug mode" says 0 '1 ok, 0 failed' "$PIPEC" test --debug-mode "$ROOT/examples/quadtree/quadtree.pipe"
