#!/bin/bash
# SPDX-License-Identifier: MIT
# The table of rate and size bombs: programs and device descriptions of less than 1 KiB that ask for more than there is.
# Each is refused, with a place and by the rule that is named here, in less than 100 ms of processor time and with less
# than 32 MiB of resident memory.  (Elapsed time does not count: machines are busy.)
# bombs.sh has what is larger, or is refused by a budget of steps.
set -u
cd "$TMP" || exit 1
${CC:-cc} -D_GNU_SOURCE -o within "$ROOT/tests/limit/within.c" || exit 1
milliseconds=100 mib=32
case $VARIANT in
debug) milliseconds=300 ;;
asan | tsan) milliseconds=3000 mib=8192 ;;
esac
count=0

# judge NAME RULE FILE ARGUMENT...: how pipec refuses the file.
judge() {
    local name=$1 rule=$2 file=$3
    shift 3
    count=$((count + 1))
    ./within 10 4096 "$PIPEC" "$@" "${program:-$file}" 3>took >out 2>err </dev/null
    read -r status ms peak <took
    if [ "$(wc -c <"$file")" -ge 1024 ]; then
        echo "not ok $name: $(wc -c <"$file") bytes"
    elif [ "$status" != 1 ] || ! grep -Eq "^[^ ]*:[0-9]+:[0-9]+: error: .*\[$rule\]$" err; then
        echo "not ok $name: status $status, not refused as $rule: $(head -1 err | head -c 200)"
    elif [ "$ms" -ge $milliseconds ] || [ "$peak" -ge $mib ]; then
        echo "not ok $name: $ms ms, $peak MiB"
    else
        echo "ok $name"
    fi
}

K='kernel k(in i32 x, out i32 y) { y <- x; }'
M='pipeline main(in i32 x, out i32 y) { x -> k -> y; }'
# Of whole programs; of kernels `k` in a pipeline of one; of statements in such a kernel; of statements in a pipeline.
bomb() {
    printf '%s\n' "$3" >"$1.pipe"
    judge "$1" "$2" "$1.pipe"
}
kernel() { bomb "$1" "$2" "$3
$M"; }
body() { kernel "$1" "$2" "kernel k(in i32 x, out i32 y) { $3 y <- x; }"; }
net() { bomb "$1" "$2" "$K
pipeline main(in i32 x, out i32 y) { $3 x -> k -> y; }"; }
# Of devices: one line that takes the place of sim4's.
device() {
    sed "s|^${3%%=*} *=.*|$3|; /^#/d" "$ROOT/lang/devices/sim4.dev" >"$1.dev"
    printf '%s\n%s\n' "$K" "$M" >plain.pipe
    program=plain.pipe judge "$1" "$2" "$1.dev" --device "./$1.dev"
}

# ---- rates ----
kernel pop_2_32 too-large 'kernel k(in i32 x pop 1L << 32, out i32 y) { y <- 1; }'
kernel pop_2_62 too-large 'kernel k(in i32 x pop 1L << 62, out i32 y) { y <- 1; }'
kernel pop_of_sums too-large 'kernel k(in i32 x pop 2147483647 + 2, out i32 y) { y <- 1; }'
kernel peek_2_32 too-large 'kernel k(in i32 x peek 1L << 32, out i32 y) { y <- 1; }'
kernel peek_2_63_less_1 too-large 'kernel k(in i32 x peek 9223372036854775807, out i32 y) { y <- 1; }'
kernel push_2_32 too-large 'kernel k(in i32 x, out i32 y push 1L << 32) { }'
kernel push_up_to_2_62 too-large 'kernel k(in i32 x, out i32 y push ..1L << 62) { }'
kernel push_between_2_61_and_2_62 too-large 'kernel k(in i32 x, out i32 y push 1L << 61..1L << 62) { }'
kernel amplify_2_62 too-large 'kernel k(in i32 x pop 2, out i32 y amplify 1L << 62) { }'
kernel amplify_times_pop too-large 'kernel k(in i32 x pop 1 << 20, out i32 y amplify 1 << 20) { }'
kernel phase_2_40 too-large 'kernel k(in i32 x pop {1, 1L << 40, 1}, out i32 y) { y <- 1; }'
kernel rate_that_overflows constant-range 'kernel k(in i32 x pop (1 << 30) * (1 << 30) * 16, out i32 y) { y <- 1; }'
kernel rate_of_a_division_by_0 constant-fault 'kernel k(in i32 x pop 1 / 0, out i32 y) { y <- 1; }'
kernel rate_below_0 invalid-rate 'kernel k(in i32 x pop -9223372036854775807, out i32 y) { y <- 1; }'
coprime() {
    printf 'kernel k<int N>(in u8 x pop N, out u8 y push N + 1) { y[N] = 1; }\n'
    printf 'pipeline main(in u8 x, out u8 y) { x'
    printf -- ' -> k<%s>' "$@"
    printf ' -> y; }\n'
}
bomb coprime_chain rate-overflow "$(coprime 1000003 1000033 1000037 1000039 1000081)"
bomb coprime_chain_of_thousands rate-overflow "$(coprime 1009 1013 1019 1021 1031 1033 1039 1049)"
bomb coprime_chain_of_hundreds rate-overflow "$(coprime 101 103 107 109 113 127 131 137 139 149 151 157)"
product() { printf 'kernel k(in u8 x%s, out u8 y%s) { y[%s] = x[0]; }
pipeline main(in u8 x, out u8 y) { x' "$2" "$3" "$4"; yes -- ' -> k' | head -n "$1" | tr -d '\n'; printf ' -> y; }\n'; }
bomb product_2_200 rate-overflow "$(product 50 '' ' push 16' 15)"
bomb product_10_72 rate-overflow "$(product 12 '' ' push 1000000' 999999)"
bomb product_of_pops_2_200 rate-overflow "$(product 50 ' pop 16' ' push 1' 0)"
bomb product_of_pops_10_72 rate-overflow "$(product 12 ' pop 1000000' ' push 1' 0)"
bomb product_in_a_loop rate-overflow 'kernel k(in u8 x, out u8 y push 3) { y <- x; y <- x; y <- x; }
pipeline main(in u8 x, out u8 y) { buffer u8 b[60]; x -> k -> b[0]; for (int i = 1; i < 60; i++) b[i - 1] -> k -> b[i]; b[59] -> k -> y; }'
bomb split_and_join_of_coprimes rate-overflow 'kernel k<int P, int Q>(in u8 x pop P, out u8 y push Q) { y[Q - 1] = x[P - 1]; }
kernel j(in u8 a, in u8 b, out u8 y) { y <- a; }
pipeline main(in u8 x, in u8 z, out u8 y) {
    buffer u8 a, b;
    x -> k<1000003, 1000033> -> k<1000037, 1000039> -> k<1000081, 1000099> -> k<1000117, 1000121> -> a;
    z -> k<1000033, 1000003> -> k<1000039, 1000037> -> k<1000099, 1000081> -> k<1000121, 1000117> -> b;
    j(a, b -> y);
}'
bomb no_balance_between_giants inconsistent-rates 'kernel k<int P, int Q>(in u8 x pop P, out u8 y push Q) { y[Q - 1] = x[P - 1]; }
kernel j(in u8 a, in u8 b, out u8 y) { y <- a; }
pipeline main(in u8 x, out u8 y) { buffer u8 a, b; x -> k<1, 1000000007> -> a; x -> k<1, 1000000009> -> b; j(a, b -> y); }'
kernel buffers_of_giant_rates memory-limit 'kernel k(in i32 x pop 1 << 30, out i32 y) { y <- 1; }'
bomb buffer_between_giant_rates memory-limit 'kernel up(in u8 x, out u8 y push 2147483647) { y[7] = x; }
kernel down(in u8 x pop 2147483629, out u8 y) { y <- 1; }
pipeline main(in u8 x, out u8 y) { x -> up -> down -> y; }'

# ---- types ----
body array_2_40 too-large 'i32 a[1L << 40];'
body array_2_62 too-large 'u8 a[1L << 62];'
body array_2_64_in_four too-large 'i32 a[65536][65536][65536][65536];'
body array_2_80_in_sixteen too-large "i32 a$(yes '[32]' | head -n 16 | tr -d '\n');"
body array_of_seventeen_dimensions too-large "i32 a$(yes '[1]' | head -n 17 | tr -d '\n');"
body local_2_mib too-large 'u8 a[2 << 20];'
body locals_8_mib too-large "$(for i in 1 2 3 4 5 6 7 8; do echo "u8 a${i}[1 << 20]; a${i}[x & 7] = 1;"; done)"
body state_2_40 too-large 'state i32 a[1L << 40];'
body states_4_gib too-large 'state i32 a[1 << 28], b[1 << 28], c[1 << 28], d[1 << 28];'
body table_2_33 too-large 'table f64 a[1L << 33];'
bomb constant_2_34 too-large "const i32 A[1L << 34] = {1};
$K
$M"
bomb constant_5_million_values too-large "const i32 A[5000000] = {1};
$K
$M"
bomb struct_doubling too-large "struct a0 { i32 x[4]; };
$(for i in $(seq 31); do echo "struct a$i { a$((i - 1)) x, y; };"; done)"
bomb struct_of_arrays_of_structs too-large "struct a { i64 x[1024]; }; struct b { a x[1024]; }; struct c { b x[1024]; }; struct d { c x[1024]; };
$K
$M"
bomb struct_of_itself recursion "struct a { i32 n; a x[1 << 20]; };
$K
$M"
kernel port_array_2_40 too-large 'kernel k(in i32 x[1L << 40], out i32 y) { y <- 1; }'
bomb outer_port_array_2_40 too-large "$K
pipeline main(in i32 x[1L << 40], out i32 y) { x[0] -> k -> y; }"
bomb result_of_a_function_2_mib too-large "struct a { u8 x[2 << 20]; }; fn a f() { a r; return r; }
kernel k(in i32 x, out i32 y) { y <- f().x[0]; }
$M"

# ---- buffers ----
net buffer_array_2_40 too-large 'buffer i32 b[1L << 40];'
net buffer_array_2_40_in_four too-large 'buffer i32 b[1024][1024][1024][1024];'
net depth_2_31 constant-range 'buffer i32 b depth 1L << 31; x -> k -> b; b -> k -> y;'
net depth_2_62 constant-range 'buffer i32 b depth 1L << 62; x -> k -> b; b -> k -> y;'
bomb depth_2_30 memory-limit "$K
pipeline main(in i32 x, out i32 y) { buffer i32 b depth 1L << 30; x -> k -> b; b -> k -> y; }"
bomb depths_of_many memory-limit "$K
pipeline main(in i32 x, out i32 y) { buffer i32 b[64] depth 1 << 27; x -> k -> b[0]; for (int i = 1; i < 64; i++) b[i - 1] -> k -> b[i]; b[63] -> k -> y; }"
net init_2_40 constant-range 'buffer i32 b init 1L << 40 x 0; x -> k -> b; b -> k -> y;'
bomb init_2_31_less_1 memory-limit "$K
pipeline main(in i32 x, out i32 y) { buffer i32 b init 2147483647 x 0; x -> k -> b; b -> k -> y; }"
bomb packets_of_256_mib memory-limit 'struct a { u8 x[1 << 28]; };
kernel k(in a x, out a y) { y <- x; }
pipeline main(in a x, out a y) { buffer a b depth 64; x -> k -> b; b -> k -> y; }'

# ---- elaboration ----
net loop_2_40 too-large 'for (int i = 0; i < 1L << 40; i++) ;'
net loop_endless too-large 'for (;;) ;'
net loops_2_60 too-large 'for (int i = 0; i < 1 << 20; i++) for (int j = 0; j < 1 << 20; j++) for (int n = 0; n < 1 << 20; n++) ;'
bomb pipeline_of_itself recursion "$K
pipeline main(in i32 x, out i32 y) { x -> main -> y; }"
bomb pipelines_of_each_other recursion "pipeline a(in i32 x, out i32 y) { x -> b -> y; }
pipeline b(in i32 x, out i32 y) { x -> a -> y; }
pipeline main(in i32 x, out i32 y) { x -> a -> y; }"
bomb function_of_itself recursion "fn i32 f(i32 n) { return f(n - 1) + f(n - 2); }
kernel k(in i32 x, out i32 y) { y <- f(x); }
$M"

# ---- windows, frames, groups ----
kernel window_2_31 too-large 'kernel k(in i32 x window 2000000001x2000000001, out i32 y) { y <- x; }'
kernel window_1025 too-large 'kernel k(in i32 x window 1025x1, out i32 y) { y <- x; }'
window='kernel k(in i32 x window 3x3, out i32 y) { y <- x; }'
bomb frame_2_64 too-large "$window
pipeline main(in i32 x frame 4000000000x4000000000, out i32 y) { x -> k -> y; }"
bomb frame_2_32 too-large "$window
pipeline main(in i32 x frame 65536x65536, out i32 y) { x -> k -> y; }"
bomb rows_2_40 too-large "$window
pipeline main(in i32 x rows 1L << 40, out i32 y) { x -> k -> y; }"
bomb rows_2_28_in_memory memory-limit "$window
pipeline main(in i32 x rows 1L << 28, out i32 y) { x -> k -> k -> y; }"
kernel group_2_50 too-large 'kernel k(in i32 x, out i32 y) group 100000x100000x100000 { if (item.x == 0) y <- x; }'
kernel group_1025 too-large 'kernel k(in i32 x, out i32 y) group 1025 { if (item.x == 0) y <- x; }'
kernel local_1_gib too-large 'kernel k(in i32 x, out i32 y) group 4 { local i32 a[1 << 18]; a[item.x] = x; barrier(); if (item.x == 0) y <- a[0]; }'

# ---- launches, costs ----
launching() { printf 'child kernel c(; i32 n) { }\nkernel k(in i32 x, out i32 y) %s { %s y <- x; }\n' "$1" "$2"; }
kernel launches_2_40 too-large "$(launching 'launches 1L << 40' 'for (i32 i = 0; i < x; i++) launch c(i);')"
kernel nesting_2_40 too-large "$(launching 'nesting 1L << 40' 'launch c(1);')"
net cost_2_62 constant-range 'buffer i32 b; n: k(x -> b) cost 1L << 62; b -> k -> y;'

# ---- devices ----
device device_of_2_40_units device-description 'cu_count = 1099511627776'
device device_of_2_64_units device-description 'cu_count = 18446744073709551616'
device device_of_2_32_lanes device-description 'lanes = 4294967296'
device device_of_2_62_bytes device-description 'memory = 4611686018427387904'
device device_queue_of_2_40 device-description 'device_queue_entries = 1099511627776'
device launch_of_2_40_cycles device-description 'launch_enqueue = 1099511627776'

if [ $count -ge 60 ]; then echo "ok there are $count"; else echo "not ok there are $count, not 60"; fi
