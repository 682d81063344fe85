#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# piperun partition and --list-devices: tables of CU sets, nesting, errors by their OpenCL names, usage.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
# rows WORDS...: sub-device, CUs and which of each row.
rows() { "$PIPERUN" partition "$@" | awk 'NR > 1 { print $1, $2, $3 }' | tr '\n' ';'; }
# is NAME WANTED FOUND
is() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: found '$3'"; fi; }

is "the device alone" 'sim16 16 0-15;' "$(rows sim16)"
is "equally" 'sim16 16 0-15;0 5 0-4;1 5 5-9;2 5 10-14;- 1 15;' "$(rows sim16 equally 5)"
is "by counts" 'sim16 16 0-15;0 3 0-2;1 1 3;2 4 4-7;- 8 8-15;' "$(rows sim16 by-counts 3 1 4)"
is "by affinity" 'sim16 16 0-15;0 8 0-7;1 8 8-15;' "$(rows sim16 by-affinity l3)"
is "nested" 'sim16 16 0-15;0 8 0-7;1 8 8-15;0.0 4 0-3;0.1 4 4-7;1.0 4 8-11;1.1 4 12-15;' "$(rows sim16 equally 8 / by-affinity next)"
is "three levels" 1.1.1 "$(rows sim16 by-affinity next / by-affinity next / equally 2 | tr ';' '\n' | awk '$3 == "14-15" { print $1 }')"
is "two L2 partitions of 66" 'sim-h100 132 0-131;0 66 0-65;1 66 66-131;' "$(rows sim-h100 by-affinity next)"
check "next says what it took" says 0 '^0 .*by-affinity l3 .*\(l2 l1\)$' "$PIPERUN" partition sim16 by-affinity next
printf 'name = own\ncu_count = 6\nlanes = 2\nclock = 1 MHz\nmemory = 64 KiB\nmemory_bytes_per_cycle = 1\ncus_per_numa = 3\nmax_sub_devices = 4\n' >own.dev
is "a description" 'own 6 0-5;0 3 0-2;1 3 3-5;' "$(rows sim:own.dev by-affinity numa)"
printf 'name = own\ncu_count = none\n' >bad.dev
check "that is not valid" says 1 'bad.dev:2:12: error: .*device-description' "$PIPERUN" partition sim:bad.dev equally 1

fails() { check "$1: $2" says "$3" "$4" "$PIPERUN" partition "${@:5}"; }
fails value "no level" 1 'CL_INVALID_VALUE: the device has no level L4' sim16 by-affinity l4
fails value "equally 0" 1 'CL_INVALID_VALUE: sub-devices of 0' sim16 equally 0
fails value "equally -1" 1 'CL_INVALID_VALUE: sub-devices of -1' sim16 equally -1
fails value "unsupported" 1 'CL_INVALID_VALUE: the device does not support by-counts' sim1 by-counts 1
fails count "equally above the CUs" 1 'CL_INVALID_DEVICE_PARTITION_COUNT: 17 compute units are more than its 16' sim16 equally 17
fails failed "equally all" 1 'CL_DEVICE_PARTITION_FAILED: one sub-device of 16 of its 16 compute units is no partition' sim16 equally 16
fails failed "equally more than half" 1 'CL_DEVICE_PARTITION_FAILED: one sub-device of 9 of its 16 ' sim16 equally 9
fails failed "one CU" 1 'sub-device 0.1 of sim16: CL_DEVICE_PARTITION_FAILED: one compute unit' sim16 equally 8 / by-counts 4 1 / equally 1
fails failed "too many" 1 'CL_DEVICE_PARTITION_FAILED: 6 sub-devices would result, the maximum is 4' sim:own.dev equally 1
fails failed "one domain" 1 'sub-device 0 of sim16: CL_DEVICE_PARTITION_FAILED: its compute units share one domain of level L3$' sim16 by-affinity l3 / by-affinity l3
fails failed "no level left" 1 'sub-device 0 of own: CL_DEVICE_PARTITION_FAILED: its compute units share one domain of every level that it has$' sim:own.dev by-affinity next / by-affinity next
fails count "sum" 1 'CL_INVALID_DEVICE_PARTITION_COUNT: the counts up to 8 are more than the 16' sim16 by-counts 9 8
fails count "negative" 1 'CL_INVALID_DEVICE_PARTITION_COUNT: -1 compute units' sim16 by-counts 2 -1
fails count "too many" 1 'CL_INVALID_DEVICE_PARTITION_COUNT: 5 counts, the maximum number of sub-devices is 4' sim:own.dev by-counts 1 1 1 1 1
printf 'name = wide\ncu_count = 65536\nlanes = 2\nclock = 1 MHz\nmemory = 64 KiB\nmemory_bytes_per_cycle = 1\nmax_sub_devices = 65536\n' >wide.dev
fails resources "as many as may be, and the device" 1 'CL_OUT_OF_RESOURCES: more sub-devices than' sim:wide.dev equally 1
sed 's/max_sub_devices = 4/max_sub_devices = 1/' own.dev >one.dev
sed 's/max_sub_devices = 4/max_sub_devices = 2/; s/cus_per_numa = 3/cus_per_l2 = 2/' own.dev >two.dev
for level in l2 next; do
    fails failed "too many domains, $level" 1 \
        'CL_DEVICE_PARTITION_FAILED: its compute units are in 3 domains of level L2, and a partition makes at most 2 sub-devices$' two.dev by-affinity $level
done
fails failed "not even two" 1 'CL_DEVICE_PARTITION_FAILED: its max_sub_devices is 1' one.dev equally 3
is "a description without its prefix" 'own 6 0-5;0 3 0-2;1 3 3-5;' "$(rows own.dev by-affinity numa)"
fails usage "no device" 2 'no device given'
fails usage "unknown device" 2 "there is no device 'sim17'" sim17 equally 1
fails usage "unknown scheme" 2 "'equaly' is no scheme" sim16 equaly 1
fails usage "no value" 2 'equally: a value is missing; for example: equally 2$' sim16 equally
fails usage "two values" 2 'equally takes one value' sim16 equally 1 2
fails usage "no number" 2 "'4x' is no whole number" sim16 equally 4x
fails usage "beyond 64 bits" 2 'is no whole number of 64 bits' sim16 equally 9223372036854775808
fails usage "a count of 0" 2 'by-counts: 0 ends a list' sim16 by-counts 2 0 2
fails usage "no level of that name" 2 "'l5' is no level" sim16 by-affinity l5
fails usage "nothing behind /" 2 "a scheme is missing" sim16 equally 8 /
fails usage "help" 0 'by-affinity LEVEL' --help
check "kinds of devices that are not there" says 6 "'opencl' is not supported" "$PIPERUN" partition opencl equally 1
[ -e /dev/nvidiactl ] || check "a GPU that is not there" says 6 "device 'cuda': " "$PIPERUN" partition cuda:1 equally 1
check "the multiprocessors of a GPU" says 0 '^1 +2  2-3 ' "$PIPERUN" partition cuda-emulated equally 2
check "no number" says 2 "there is no device 'cuda:x'" "$PIPERUN" partition cuda:x equally 1
check "the list has figures" says 0 '^sim16 +16 +8 +1 GHz +1 GiB +256 GB/s +16  equally, by-counts, by-affinity \(l3 l2 l1\)$' "$PIPERUN" --list-devices
