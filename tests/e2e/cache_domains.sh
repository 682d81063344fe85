#!/bin/sh
# SPDX-License-Identifier: MIT
# Sub-devices and the caches of domains (lang/time.md, "Caches"): two stages side by side, each with delay lines, take fewer
# cycles with a domain each than on larger equal parts of the device, which lie across domains; and pipec finds that.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
cat >domains.dev <<'END'
name = domains
cu_count = 12
lanes = 8
clock = 1 GHz
memory = 64 MiB
memory_bytes_per_cycle = 24
cus_per_l3 = 4
cache_l3 = 64 KiB
cache_bytes_per_cycle = 480
launch_enqueue = 20
launch_process = 40
launch_cleanup = 20
switch = 0
END
cat >combs.pipe <<'END'
kernel comb(in f32 x, in f32 a, in f32 b, out f32 y, out f32 c, out f32 d) {
    f32 s = x[0] + 0.5 * a[0] - 0.25 * b[0];
    y <- s; c <- s; d <- x[0];
}
pipeline main(in f32 x depth 2048, out f32 y depth 2048) {
    buffer f32 between depth 2048;
    buffer f32 a depth 4096 init 2048 x 0;
    buffer f32 b depth 4096 init 2048 x 0;
    buffer f32 c depth 4096 init 2048 x 0;
    buffer f32 d depth 4096 init 2048 x 0;
    comb(x, a, b -> between, a, b);
    comb(between, c, d -> y, c, d);
}
END
"$PIPEC" -q --no-fuse --device domains.dev combs.pipe -o affinity.pbc
"$PIPERUN" disasm affinity.pbc >chosen.sasm
check "the layout is by affinity" says 0 '^ *partition_affinity l3, 4$' cat chosen.sasm
# on NAME PARTITION [SED]: the cycles of the same program with another partition.
on() {
    sed -e "s/partition_affinity l3, 4/$2/" -e "${3-}" chosen.sasm >"$1.sasm"
    "$PIPERUN" asm "$1.sasm" --into affinity.pbc -o "$1.pbc"
    "$PIPERUN" -q --device domains.dev "$1.pbc" x=gen:noise:1:100000 "y=$1.f32" --stats=json:"$1.json"
    sed -n 's/^ *"total_cycles": \([0-9]*\),/\1/p' "$1.json"
}
affinity=$(on affinity 'partition_affinity l3, 4')
equally=$(on equally 'partition_equally 6')
across=$(on across 'partition_counts 2 4 4' 's/bind 1, 1/bind 1, 2/;s/bind 0, 0/bind 0, 1/')
within=$(on within 'partition_counts 4 4')
check "fewer cycles than on equal parts: $affinity, $equally" test "$affinity" -lt "$equally"
check "by a fifth at least" test $((affinity * 6)) -lt $((equally * 5))
check "and than on parts as large across domains: $across" test "$equally" -lt "$across"
check "the same parts by counts take the same" test "$affinity" -eq "$within"
check "the same bits" cmp affinity.f32 equally.f32
check "the cycles that the compiler predicts" says 0 "^cycles +$affinity on domains" \
    "$PIPEC" inspect --no-fuse --device domains.dev --predict=100000 combs.pipe
# By hand in lang/time.md: a firing takes a cycle with a domain, and 5/4 on equal parts.
check "the delay lines are in the caches" says 0 '"name": "comb", .*"firings": 100000, .*"execute_cycles": 100000,' cat affinity.json
check "a half of them where they lie in two domains" says 0 '"name": "comb", .*"execute_cycles": 125000,' cat equally.json
# On a sub-device that is a domain the caches are those of its description.
"$PIPERUN" partition domains.dev by-affinity l3 --describe 1 >part.dev
"$PIPEC" -q --no-fuse --device part.dev combs.pipe -o part.pbc
# cycles JSON WORDS...: of a run of part.pbc.
cycles() {
    json=$1
    shift
    "$PIPERUN" -q part.pbc "$@" x=gen:noise:1:100000 y=null --stats=json:"$json"
    sed -n 's/^ *"total_cycles": \([0-9]*\),/\1/p' "$json"
}
alone=$(cycles alone.json --device part.dev)
nested=$(cycles nested.json --device domains.dev --partition 'by-affinity l3' --sub-device 1)
check "a domain takes the cycles of a device that is like it: $alone, $nested" test "$alone" -eq "$nested"
# Four delay lines of 16 KiB and 8 KiB between the stages: together more than one cache holds.  20 of 24 bytes go at 8 a cycle.
check "all delay lines do not fit in one cache" says 0 '"name": "comb", .*"execute_cycles": 250000,' cat alone.json
