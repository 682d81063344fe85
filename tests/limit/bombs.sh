#!/bin/bash
# SPDX-License-Identifier: MIT
# Small programs that ask for too much: each is refused with a place, or accepted, in bounded time and memory.
# The promise is a second and 256 MiB; what is checked here is ten times that of processor time (machines differ), and
# the memory, sanitizers aside.
set -u
cd "$TMP" || exit 1
${CC:-cc} -D_GNU_SOURCE -o within "$ROOT/tests/limit/within.c" || exit 1
seconds=10 mib=256
case $VARIANT in asan | tsan) seconds=100 mib=8192 ;; esac
rep() { yes -- "$2" | head -n "$1" | tr -d '\n'; }

# The same, written to a container.
bomb_whole() { output="-o $1.pbc" bomb "$@"; }
# bomb NAME STATUS: the program on standard input.  STATUS 1: refused, and every error has a place; 0: accepted.
bomb() {
    cat >"$1.pipe"
    # shellcheck disable=SC2086 # words
    ./within "$seconds" "$mib" "$PIPEC" "$1.pipe" ${output-} 3>took >out 2>err </dev/null
    read -r status ms peak <took
    if [ "$status" != "$2" ]; then
        echo "not ok $1: status $status ($ms ms, $peak MiB), not $2: $(head -c 300 err | head -2 | tr '\n' ' ')"
    elif [ "$2" = 1 ] && ! head -1 err | grep -Eq '^[^ ]*:[0-9]+:[0-9]+: (error|warning|note): '; then
        echo "not ok $1: no place: $(head -1 err | head -c 200)"
    elif [ "$(wc -c <err)" -gt 400000 ]; then
        echo "not ok $1: $(wc -c <err) bytes of messages"
    elif grep -q 'Sanitizer\|runtime error' err; then
        echo "not ok $1: $(grep 'Sanitizer\|runtime error' err | head -1)"
    else
        echo "ok $1"
    fi
}
K='kernel k(in i32 x, out i32 y) { y <- x; }'
M='pipeline main(in i32 x, out i32 y) { x -> k -> y; }'
body() { printf 'kernel k(in i32 x, out i32 y) { %s y <- x; }\n%s\n' "$1" "$M"; }
net() { printf '%s\npipeline main(in i32 x, out i32 y) { %s x -> k -> y; }\n' "$K" "$1"; }

# ---- depth ----
body "i32 a = $(rep 5000 '(')1$(rep 5000 ')');" | bomb parentheses 1
body "i32 a = $(rep 5000 '- ')1;" | bomb minus_signs 1
body "i32 a = 1$(rep 20000 ' + 1');" | bomb long_sum 1
body "$(rep 5000 '{')$(rep 5000 '}')" | bomb blocks 1
body "$(rep 5000 'if (x) ') ;" | bomb ifs 1
body "$(rep 3000 'if (x) ; else ') ;" | bomb else_ifs 1
body "$(rep 5000 'for (;;) ') ;" | bomb loops 1
body 'do if (x)' | bomb do_without_while 1
body "$(rep 900 'do if (x) ')" | bomb dos_without_while 1
body "$(rep 300 'do if (x) { ')" | bomb dos_in_blocks 1
body "i32 a[1] = $(rep 5000 '{')1$(rep 5000 '}');" | bomb braces 1
body "i32 a = x$(rep 5000 '[0]');" | bomb indices 1
body "i32 a; $(rep 5000 'a = ')1;" | bomb assignments 1
body "i32 a = $(rep 5000 'x ? x : ')1;" | bomb conditionals 1
body "i32 a = $(rep 5000 '(i32)')1;" | bomb casts 1
net "$(rep 5000 '{')$(rep 5000 '}')" | bomb net_blocks 1
net "$(rep 3000 'if (1) ');" | bomb net_ifs 1
printf 'kernel k(in i32%s x, out i32 y) { y <- 1; }\n' "$(rep 3000 '[1]')" | bomb dimensions 1
printf '/*%s' "$(rep 20000 '/*')" | bomb open_comment 1

# ---- literals ----
body "i32 a = $(rep 100000 9);" | bomb giant_integer 1
body "f32 a = $(rep 100000 9).0;" | bomb giant_float 1
body 'f64 a = 1e999999999;' | bomb giant_exponent 1
body 'f64 a = 1e-999999999;' | bomb tiny_exponent 0
body "i32 $(rep 100000 a) = 1;" | bomb giant_name 0
printf 'import "%s";\n' "$(rep 100000 a)" | bomb giant_path 1

# ---- sizes ----
body 'i32 a[1L << 40];' | bomb array_2_40 1
body 'i32 a[65536][65536][65536][65536];' | bomb array_2_64 1
body 'i32 a[-1];' | bomb array_negative 1
body 'state i32 a[1L << 40];' | bomb state_2_40 1
body 'table f64 a[1L << 33];' | bomb table_2_33 1
# Each of them is within the limit of one constant.
{ for i in $(seq 16); do echo "const i32 A${i}[4194304] = {0};"; done; printf 'kernel k(in i32 x, out i32 y) { y <- x'; for i in $(seq 16); do printf ' + A%s[x & 7]' "$i"; done; printf '; }\n%s\n' "$M"; } | bomb constants_of_64_million_values 1
printf 'const i32 A[1L << 34] = {1};\n%s\n%s\n' "$K" "$M" | bomb constant_2_34 1
printf 'kernel k(in i32 x[1L << 40], out i32 y) { y <- 1; }\n' | bomb port_array_2_40 1
net 'buffer i32 b[1L << 40];' | bomb buffer_array_2_40 1
net 'buffer i32 b[1024][1024][1024][1024];' | bomb buffer_array_2_40_in_four 1
net 'buffer i32 b depth 1L << 62; x -> k -> b; b -> k -> y;' | bomb depth_2_62 1
net 'buffer i32 b depth 1L << 40; x -> k -> b; b -> k -> y;' | bomb depth_2_40 1
net 'buffer i32 b init 1L << 40 x 0; x -> k -> b; b -> k -> y;' | bomb init_2_40 1
printf 'struct a0 { i32 x[4]; };\n%s\n%s\n%s\n' "$(for i in $(seq 60); do echo "struct a$i { a$((i - 1)) x, y; };"; done)" "$K" "$M" | bomb struct_doubling 1
printf 'struct a { a x; };\n%s\n%s\n' "$K" "$M" | bomb struct_of_itself 1

# ---- rates ----
printf 'kernel k(in i32 x pop 1L << 40, out i32 y) { y <- x; }\n%s\n' "$M" | bomb pop_2_40 1
printf 'kernel k(in i32 x peek 1L << 62, out i32 y) { y <- x; }\n%s\n' "$M" | bomb peek_2_62 1
printf 'kernel k(in i32 x, out i32 y push 1L << 62) { }\n%s\n' "$M" | bomb push_2_62 1
printf 'kernel k(in i32 x, out i32 y push ..1L << 62) { }\n%s\n' "$M" | bomb push_up_to_2_62 1
printf 'kernel k(in i32 x pop 1 << 30, out i32 y amplify 1L << 62) { }\n%s\n' "$M" | bomb amplify_2_62 1
printf 'kernel k(in i32 x, out i32 y push 0) { }\n%s\n' "$M" | bomb push_0 1
printf 'kernel k(in i32 x pop {%s}, out i32 y) { y <- 1; }\n%s\n' "$(rep 100000 '1,')1" "$M" | bomb phases_100000 1
printf 'kernel k<int N>(in i32 x pop N, out i32 y push N + 1) { for (i32 i = 0; i <= N; i++) y <- 1; }
pipeline main(in i32 x, out i32 y) { x%s -> y; }\n' "$(for p in 1000003 1000033 1000037 1000039 1000081; do printf -- '-> k<%s> ' $p; done)" | bomb coprime_chain 1
printf 'kernel up(in i32 x, out i32 y push 1000000) { for (i32 i = 0; i < 1000000; i++) y <- x; }
pipeline main(in i32 x, out i32 y) { x%s -> y; }\n' "$(rep 12 '-> up ')" | bomb product_10_72 1

# ---- work while compiling ----
printf 'fn i32 f() { while (true) { } return 1; }\nconst i32 A = f();\n%s\n%s\n' "$K" "$M" | bomb endless_constant 1
printf 'fn i32 f() { i32 s = 0; for (i64 i = 0; i < 1000000000000; i++) s++; return s; }\nconst i32 A = f();\n%s\n%s\n' "$K" "$M" | bomb long_constant 1
printf 'fn i32 g0(i32 x) { return x + 1; }\n%s\nconst i32 A = g60(1);\n%s\n%s\n' "$(for i in $(seq 60); do echo "fn i32 g$i(i32 x) { return g$((i - 1))(x) + g$((i - 1))(x); }"; done)" "$K" "$M" | bomb exponential_constant 1
printf 'fn i32 g0(i32 x) { return x + 1; }\n%s\nkernel k(in i32 x, out i32 y) { y <- g40(x); }\n%s\n' "$(for i in $(seq 40); do echo "fn i32 g$i(i32 x) { return g$((i - 1))(x) + g$((i - 1))(x); }"; done)" "$M" | tee calls.pipe | bomb exponential_calls 0
bomb_whole exponential_calls_compiled 0 <calls.pipe
sed 's/y <- g40(x)/i32 s = 0; for (i32 i = 0; i < 2; i++) if (x > i) s += g40(x); y <- s/' calls.pipe | bomb_whole exponential_calls_masked 0
net 'for (int i = 0; i < 1L << 40; i++) ;' | bomb net_loop_2_40 1
net 'for (;;) ;' | bomb net_loop_endless 1
net 'for (int i = 0; (i32)i >= 0; i++) ;' | bomb net_loop_typed 1
[ -z "${LONG-}" ] || net 'for (int i = 0; i < 3000; i++) for (int j = 0; j < 3000; j++) { buffer i32 b; x -> k -> b; }' | seconds=$((4 * seconds)) mib=$((mib > 4096 ? 2 * mib : 4096)) bomb nodes_9_million 1
printf '%s\npipeline p0(in i32 x, out i32 y) { x -> k -> y; }\n%s\npipeline main(in i32 x, out i32 y) { x -> p40 -> y; }\n' "$K" "$(for i in $(seq 40); do echo "pipeline p$i(in i32 x, out i32 y) { x -> p$((i - 1)) -> p$((i - 1)) -> y; }"; done)" | bomb pipelines_doubling 1
printf '%s\npipeline main(in i32 x, out i32 y) { x -> main -> y; }\n' "$K" | bomb pipeline_of_itself 1
body 'for (i64 i = 0; i < 1000000000000; i++) { for (i64 j = 0; j < i; j++) x; }' | bomb long_firing 0
body 'while (x > 0) { }' | bomb perhaps_endless_firing 0
kernels=9000
[ -n "${LONG-}" ] || kernels=1000
printf 'kernel k<int N>(in i32 x, out i32 y) { i32 s = N; for (i32 i = 0; i < 60000; i++) s += x; y <- s; }\npipeline main(in i32 x[%s], out i32 y[%s]) { for (int i = 0; i < %s; i++) x[i] -> k<i> -> y[i]; }\n' $kernels $kernels $kernels | seconds=$((4 * seconds)) bomb rounds_of_many_kernels 0
[ -z "${LONG-}" ] || { echo 'fn i32 f(i32 n) { i32 s = 0; for (i32 i = 0; i < n; i++) s++; return s; }'; for i in $(seq 3000); do echo "const i32 A$i = f(1000000);"; done; echo "$K"; echo "$M"; } | seconds=$((4 * seconds)) bomb constants_3000_long 1

# ---- windows and groups ----
printf 'kernel k(in i32 x window 2000000001x2000000001, out i32 y) { y <- x; }\npipeline main(in i32 x frame 4x4, out i32 y) { x -> k -> y; }\n' | bomb window_2_31 1
printf 'kernel k(in i32 x window 3x3, out i32 y) { y <- x; }\npipeline main(in i32 x frame 4000000000x4000000000, out i32 y) { x -> k -> y; }\n' | bomb frame_2_64 1
printf 'kernel k(in i32 x window 3x3, out i32 y) { y <- x; }\npipeline main(in i32 x rows 1L << 40, out i32 y) { x -> k -> y; }\n' | bomb rows_2_40 1
printf 'kernel k(in i32 x, out i32 y) group 100000x100000x100000 { if (item.x == 0) y <- x; }\n%s\n' "$M" | bomb group_2_50 1

# ---- many errors, many names ----
{ seq 10000 | sed 's/.*/kernel k&(in i32 x, out i32 y) { y <- undeclared_&; }/'; echo "$M"; } | bomb errors_10000 1
{ yes ')' | head -n 20000; } | bomb syntax_errors_20000 1
{ yes "const i32 A = 1;" | head -n 20000; echo "$K"; echo "$M"; } | bomb duplicates_20000 1
{ seq 20000 | sed 's/.*/fn i32 g&(i32 x) { return x; }/'; echo "$K"; echo "$M"; } | bomb functions_20000 0

# ---- imports ----
printf 'import "cycle_b.pipe";\n%s\n%s\n' "$K" "$M" >cycle_a.pipe
printf 'import "cycle_a.pipe";\n' >cycle_b.pipe
bomb cycle_a 0 <<<"$(cat cycle_a.pipe)"
for i in $(seq 2000); do echo "import \"chain$((i + 1)).pipe\";" >"chain$i.pipe"; done
printf '%s\n%s\n' "$K" "$M" >chain2001.pipe
bomb chain1 0 <<<'import "chain2.pipe";'
seq 1000 | sed 's/.*/import "missing_&.pipe";/' | bomb imports_missing 1
