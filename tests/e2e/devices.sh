#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every embedded device: it is listed, each example compiles for it, and what comes out are the bits of sim16. A program
# for a GPU runs on the host's cores, too.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

devices=$(for file in "$ROOT"/lang/devices/*.dev; do basename "$file" .dev; done)
"$PIPERUN" --list-devices >listed
for device in $devices; do check "$device is listed" grep -q "^$device " listed; done

# ports CONTAINER WHICH: names of its in-ports (without a writer) or out-ports (without a reader).
ports() {
    "$PIPEC" inspect --json "$1" | awk -v which="$2" '
        /^  "buffers": / { inside = 1 }
        /^      "name": / { name = $2; gsub(/[",]/, "", name) }
        inside && which == "in" && /^      "writer": null/ { print name }
        inside && which == "out" && /^      "readers": \[\]/ { print name }'
}

# bits DEVICE EXAMPLE: hashes of all that comes out of packets of noise (200,000; `make check`: 50,000); what integrates roots gets intervals,
# [0, 1], [2, 3] and so on.
bits() {
    local port words=() optimise=-O2 input=gen:noise:7:$packets
    ! grep -qs '^cuda *= 1' "$ROOT/lang/devices/$1.dev" || words=(--device cpu)
    [ -n "${LONG-}" ] || [ "$1" = sim16 ] || optimise=-O0
    case $2 in */quadrature.pipe) input=gen:ramp:20000 ;; esac
    "$PIPEC" $optimise --device "$1" -o "$1.pbc" "$2" || return
    [ "$1" != sim16 ] || { ports "$1.pbc" in >in && ports "$1.pbc" out >out; } # they are those of each device
    while read -r port; do words+=("$port=$input"); done <in
    while read -r port; do words+=(--hash "$port"); done <out
    [ -s out ] && "$PIPERUN" -q "$1.pbc" "${words[@]}"
}

# `make check` takes every fourth example and fewer packets, and optimises the code of sim16 only.
seen=0 packets=50000
[ -z "${LONG-}" ] || packets=200000
for example in "$ROOT"/examples/*/*.pipe; do
    grep -q '^pipeline ' "$example" || continue
    seen=$((seen + 1))
    [ -n "${LONG-}" ] || [ $((seen % 4)) = 1 ] || continue
    which=$(basename "$example" .pipe)
    bits sim16 "$example" >wanted
    check "$which: there is something to compare" [ -s wanted ]
    for device in $devices; do
        bits "$device" "$example" >found || true
        check "$which on $device" cmp wanted found
    done
done

# ---- shares that are the domains of a level ----

cat >two.pipe <<'END'
kernel up(in i32 x, out i32 y) {
    state i32 more = 1;
    y <- x + more;
}
kernel down(in i32 x, out i32 y) {
    state i32 less = 3;
    y <- x - less;
}

pipeline main(in i32 x, out i32 y) { x -> up -> down -> y; }
END
check "the plan says what a stage shares" says 0 'each has a sub-device of its own, and with it an L3 cache' "$PIPEC" inspect --device sim16 two.pipe
check "and by which scheme" says 0 '"partition": "by-affinity l3"' "$PIPEC" inspect --device sim16 --json two.pipe
"$PIPEC" two.pipe -o two.pbc
check "the program cuts along the level" says 0 '^    partition_affinity l3, 8$' "$PIPERUN" disasm two.pbc
check "and runs" says 0 '^-2$' "$PIPERUN" -q two.pbc x=gen:ramp:1 y=-,csv
sed 's/sim16/own16/' "$ROOT/lang/devices/sim16.dev" >own16.dev
"$PIPEC" --device own16.dev two.pipe -o own.pbc
check "of a description" says 0 '^-2$' "$PIPERUN" -q own.pbc --device sim:own16.dev x=gen:ramp:1 y=-,csv
"$PIPEC" --device sim:own16.dev two.pipe -o prefixed.pbc
check "pipec takes what piperun takes" cmp own.pbc prefixed.pbc
check "and piperun what pipec takes" says 0 '^-2$' "$PIPERUN" -q own.pbc --device own16.dev x=gen:ramp:1 y=-,csv
check "without its description, where nothing is executed" says 0 cycles "$PIPERUN" own.pbc --device null --stats x=gen:ramp:9 y=null
# Features that the device lacks: `asm` refuses them where the device is known, and so does every run.
"$PIPERUN" disasm two.pbc >two.sasm
"$PIPERUN" disasm own.pbc >own.sasm
# cut NAME PARTITION PATTERN
cut() {
    for program in two own; do sed "s/partition_affinity l3, 8/$2/" $program.sasm >$program.cut.sasm; done
    check "$1" says 1 "^piperun: error: two.cut.sasm:[0-9]+: .*'$2': $3\$" "$PIPERUN" asm two.cut.sasm --into two.pbc -o two.cut.pbc
    "$PIPERUN" asm own.cut.sasm --into own.pbc -o own.cut.pbc
    check "$1: a run" says 1 "section 'program', offset [0-9]+, '$2': $3\$" \
        "$PIPERUN" own.cut.pbc --device own16.dev x=gen:ramp:1 y=null
}
cut "another number of domains than the device has" 'partition_affinity l2, 8' "the domains of device '[a-z0-9]*' have 4 CUs \[partition-domains\]"
cut "a level that it has not" 'partition_affinity l4, 8' "device '[a-z0-9]*' has no domains of level l4 \[partition-domains\]"
check "verify says that the device has it all" says 0 "^two.pbc: memory, reference entries and sub-devices are within those of 'sim16'$" "$PIPERUN" verify two.pbc
check "or that it is not known" says 0 "are compared when it is run on 'own16'$" "$PIPERUN" verify own.pbc
