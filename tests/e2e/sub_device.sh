#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program on a sub-device of a sub-device: compiled for its description, the same bits and cycles as on a device that is
# like it; a partition of its own lies in it; what does not fit is refused.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
cat >p.pipe <<'END'
kernel twice(in i32 x, out i32 y) { y <- 2 * x[0]; }
kernel four(in i32 x pop 4, out i32 y) { y <- x[0] + x[1] + x[2] + x[3]; }
kernel flip(in i32 x, out i32 y) { y <- x[0] ^ 5; }
pipeline main(in i32 x, out i32 y) { x -> twice -> four -> flip -> y; }
END
# on NAME CONTAINER WORDS...: cycles and hash, of a run into NAME.json.
on() {
    local name=$1 container=$2
    shift 2
    "$PIPERUN" -q "$container" "$@" x=gen:noise:7:50000 y=null --hash y --stats="json:$name.json" | cut -d' ' -f1
    sed -n 's/^ *"total_cycles": \([0-9]*\),/\1/p' "$name.json"
}
is() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: '$3' instead of '$2'"; fi; }

part='equally 8 / equally 4'
"$PIPERUN" partition sim16 equally 8 / equally 4 --describe 1.0 >part.dev
check "a description names the part" says 0 '^name = sim16\.1\.0$' cat part.dev
check "has its compute units" says 0 '^cu_count = 4$' cat part.dev
check "its share of the bandwidth" says 0 '^memory_bytes_per_cycle = 64$' cat part.dev
check "and the domains that lie in it" says 0 '^cus_per_l2 = 4$' cat part.dev
if grep -q l3 part.dev; then echo "not ok but no others"; else echo "ok but no others"; fi
for layout in sequence side-by-side groups; do
    "$PIPEC" -q --device part.dev --layout=$layout p.pipe -o $layout.pbc
    alone=$(on alone $layout.pbc --device part.dev)
    is "$layout: on the sub-device as on a device of its own" "$alone" \
        "$(on nested $layout.pbc --device sim16 --partition "$part" --sub-device 1.0)"
    is "$layout: and on another one that is like it" "$alone" \
        "$(on nested $layout.pbc --device sim16 --partition 'by-counts 4 1 7 4' --sub-device 3)"
done
"$PIPEC" -q p.pipe -o whole.pbc
is "bits of the whole device" "$(on whole whole.pbc | head -1)" "$(on nested groups.pbc --device sim16 --partition "$part" --sub-device 0.1 | head -1)"
check "statistics name the part" says 0 '"part": \{"of": "sim16", "first_cu": 4, "cu_count": 4\}' cat nested.json
check "no other compute unit works" says 0 '"cu_busy_cycles": \[0, 0, 0, 0(, [0-9]+){4}(, 0){8}\]' cat nested.json
check "the report, too" says 0 '^main on CUs 12 to 15 of sim16 \(compiled for sim16\.1\.0\): ' \
    "$PIPERUN" -q groups.pbc --device sim16 --partition "$part" --sub-device 1.1 x=gen:ramp:100 y=null --stats
check "the timeline" says 0 '"CU 1[2-5]"' "$PIPERUN" -q groups.pbc --device sim16 --partition "$part" --sub-device 1.1 \
    x=gen:ramp:100 y=null --trace=-

run() { check "$1" says "$2" "$3" "$PIPERUN" -q groups.pbc x=gen:ramp:100 y=null "${@:4}"; }
run "too many compute units" 6 "of 4 compute units, the sub-device has 8: compile it for that one: piperun partition sim16 equally 8 --describe 1 >part.dev; pipec --device part.dev$" \
    --device sim16 --partition 'equally 8' --sub-device 1
# follow PARTITION PATH: the message of a run that does not fit has the commands after which it does.
follow() {
    local message
    mkdir -p followed && "$PIPERUN" -q whole.pbc --device sim16 --partition "$1" --sub-device "$2" x=gen:ramp:100 y=null 2>followed/message
    message=$(sed -n 's/.*compile it for that one: //p' followed/message)
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$PIPERUN" >followed/piperun
    printf '#!/bin/sh\nexec "%s" -q "$@" ../p.pipe -o part.pbc\n' "$PIPEC" >followed/pipec
    chmod +x followed/pipe*
    (cd followed && PATH=$PWD:$PATH bash -c "$message") &&
        "$PIPERUN" -q followed/part.pbc --device sim16 --partition "$1" --sub-device "$2" x=gen:ramp:100 y=null
}
check "the commands of the message help" follow 'equally 8' 1
check "and of a path of several schemes" follow 'by-counts 2 12 1 / equally 3' 1.2
check "and of domains" follow 'by-affinity l3 / by-affinity next' 1.1
run "other lanes" 6 "have 8 lanes; those of 'sim-h100' have 32" --device sim-h100 --partition 'by-counts 4' --sub-device 0
run "no such sub-device" 2 "sim16 has no sub-device 2: the last one is 1" --device sim16 --partition 'equally 8' --sub-device 2
run "none below it" 2 "sub-device 1 of sim16 has no sub-device 9: the last one is 1" --device sim16 --partition "$part" --sub-device 1.9
for path in x '' 1. .1 1.0.0 -1 99999999999; do
    run "no path: '$path'" 2 "is no sub-device: one number for each scheme" --device sim16 --partition "$part" --sub-device "$path"
done
printf 'pipeline main(in i32 x, out i32 y) { x -> a -> b -> y; }\nkernel a(in i32 x, out i32 y) { y <- x[0]; }\nkernel b(in i32 x, out i32 y) { y <- x[0]; }\n' >two.pipe
"$PIPEC" -q --device sim4 --layout=side-by-side two.pipe -o groups.pbc
run "other domains" 1 "partition_affinity l2, 2': the domains of device 'sim16' have 4 CUs" --device sim16 --partition 'by-counts 4' --sub-device 0
"$PIPEC" -q --device part.dev --layout=side-by-side two.pipe -o groups.pbc
run "and the mend" 0 '^[0-9a-f]{16}  y$' --hash y --device sim16 --partition "$part" --sub-device 1.0
run "a partition that the device refuses" 1 'CL_INVALID_DEVICE_PARTITION_COUNT: 17 compute units' --device sim16 --partition 'equally 17' --sub-device 0
run "no scheme" 2 "no scheme; for example: 'equally 2'" --device sim16 --partition ' ' --sub-device 0
run "no sub-device" 2 "partition: which sub-device" --partition 'equally 2'
run "no partition" 2 "sub-device: of which partition" --sub-device 0
run "the host's cores" 2 "device 'cpu:4' has no sub-devices to run on" --device cpu:4 --partition 'equally 2' --sub-device 0
run "the null device" 2 "device 'null' has no sub-devices to run on" --device null --partition 'equally 2' --sub-device 0
run "no such device" 2 "there is no device 'sim17'" --device sim17 --partition 'equally 2' --sub-device 0
check "describe: no such sub-device" says 2 'sim16 has no sub-device 4: the last one is 3' "$PIPERUN" partition sim16 equally 4 --describe 4
check "describe: of no partition" says 2 "describe: '1' is no sub-device" "$PIPERUN" partition sim16 --describe 1
check "describe: none given" says 2 'describe: which sub-device' "$PIPERUN" partition sim16 equally 4 --describe
check "describe: of the host" says 2 "only parts of simulated devices are described" "$PIPERUN" partition cpu:2 equally 1 --describe 1
