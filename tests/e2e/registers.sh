#!/bin/sh
# SPDX-License-Identifier: MIT
# Registers of a kernel (lang/time.md, "Registers", by hand: 17), where they are shown, and the warps for which a compute unit
# has registers.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
cat >many.dev <<'EOF'
name = many
cu_count = 1
lanes = 4
clock = 1 GHz
memory = 1 MiB
memory_bytes_per_cycle = 256
resident_warps = 8
warp_residence = 1000
EOF
{ cat many.dev; echo "registers_per_cu = 200"; } >few.dev
awk '/^kernel k\(in f32 x, out f32 y\)/ { keep = 1 } /^```$/ { keep = 0 } keep' "$ROOT/lang/time.md" >k.pipe
echo "pipeline main(in f32 x depth 32, out f32 y depth 32) { x -> k -> y; }" >>k.pipe
for device in many few; do
    "$PIPEC" --device $device.dev k.pipe -o $device.pbc
    "$PIPERUN" --device sim:$device.dev --stats=json:$device.json $device.pbc x=gen:ramp:32 y=$device.f32
done
check "a listing shows the registers of a stage" says 0 "^# stage 0: 'k', .*; 17 registers$" "$PIPERUN" disasm many.pbc
check "and so does the text of a container" says 0 '^    17 registers$' "$PIPEC" inspect many.pbc
check "the JSON of a source" says 0 '^ *"registers": 17,$' "$PIPEC" inspect --json --device many.dev k.pipe
check "and that of a container" says 0 '^ *"registers": 17,$' "$PIPEC" inspect --json many.pbc
# 8 warps of 51 cycles have room together. With 200 registers two warps of 4 x 17 have room; the plan makes two launches, and
# each of 4 warps takes (4 - 2) x 1000 / 2 cycles.
check "with registers for all" says 0 '"name": "k", .*"dispatches": 1, "execute_cycles": 408,' cat many.json
check "with registers for two warps" says 0 '"name": "k", .*"dispatches": 2, "execute_cycles": 2000,' cat few.json
check "the same bits" cmp many.f32 few.f32
