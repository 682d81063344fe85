#!/bin/bash
# SPDX-License-Identifier: MIT
# The limits of the language at n - 1 (only `make check-long`), n and n + 1 (lang/limits.md): the last one is refused, with
# a place and by the rule that is named here.  Nothing is compiled to code, so that none of this takes memory.  Where a
# limit of the language is above the memory or the local memory of sim16 the device is cpu.
set -u
cd "$TMP" || exit 1
rep() { yes -- "$2" 2>/dev/null | head -n "$1" | tr -d '\n'; }
M='pipeline main(in u8 x, out u8 y) { x -> k -> y; }'

# edge NAME N RULE [ARGUMENT...]: the function make_NAME prints the program of a number; STEP is the distance of the next one.
edge() {
    local name=$1 n=$2 rule=$3 at status
    shift 3
    for at in ${LONG:+$((n - ${step-1}))} "$n" $((n + ${step-1})); do
        status=0
        "make_$name" "$at" >"$name.pipe"
        # shellcheck disable=SC2086 # words
        "$PIPEC" ${form---max-memory 512G} "$@" "$name.pipe" >out 2>err </dev/null || status=$?
        if [ "$at" -le "$n" ] && [ $status -ne 0 ]; then
            echo "not ok $name: $at is refused: $(head -1 err | head -c 200)"
            return
        elif [ "$at" -gt "$n" ] && { [ $status -ne 1 ] || ! grep -Eq "^[^ ]*:[0-9]+:[0-9]+: error: .*\[$rule\]$" err; }; then
            echo "not ok $name: $at is not refused as $rule: $status, $(head -1 err | head -c 200)"
            return
        fi
    done
    echo "ok $name"
}
k() { printf 'kernel k(%s, %s) %s { %s }\n%s\n' "$1" "$2" "$3" "$4" "$M"; }
body() { k 'in u8 x' 'out u8 y' '' "$1 y <- x;"; }

# ---- syntax ----
make_parentheses() { body "i32 a = $(rep "$1" '(')1$(rep "$1" ')');"; }
make_blocks() { body "$(rep "$1" '{')$(rep "$1" '}')"; }
make_net_blocks() { printf 'kernel k(in u8 x, out u8 y) { y <- x; }\npipeline main(in u8 x, out u8 y) { %s%s x -> k -> y; }\n' "$(rep "$1" '{')" "$(rep "$1" '}')"; }
make_dimensions() { body "i32 a$(rep "$1" '[1]'); a$(rep "$1" '[0]') = 1; if (a$(rep "$1" '[0]') > 1) ;"; }
# One level is the braces around.
edge parentheses 999 too-deep
edge blocks 999 too-deep
edge net_blocks 999 too-deep
edge dimensions 16 too-large

# ---- types ----
make_fields() {
    printf 'struct s { '
    seq "$1" | sed 's/.*/u8 field&;/' | tr '\n' ' '
    printf '};\nkernel k(in u8 x, out u8 y) { s a; a.field1 = x; y <- a.field1; }\n%s\n' "$M"
}
make_struct_bytes() { printf 'struct s { u8 x[%s]; };\nkernel k(in u8 x, out u8 y) { state s a; a.x[x] = x; y <- a.x[0]; }\n%s\n' "$1" "$M"; }
make_state_bytes() { body "state u8 a[$1]; a[x] = x;"; }
make_states_bytes() { body "state u8 a[1 << 29], b[$1 - (1 << 29)]; a[x] = x; b[x] = x;"; }
make_local_bytes() { body "u8 a[$1]; a[x] = x;"; }
make_locals_bytes() { body "u8 a[1 << 20], b[1 << 20], c[1 << 20], d[$1 - (3 << 20)]; a[x] = b[x] = c[x] = d[x] = x;"; }
make_constant_values() { printf 'const u8 A[%s] = {1};\n' "$1"; body ''; }
make_all_constant_values() { printf 'const u8 A[1 << 22] = {1}, B[(1 << 22) - 4] = {1}, C[%s - (1 << 23) + 4] = {1};\n' "$1"; body 'u8 t = A[x] + B[x] + C[0];'; }
# `a = x;` has four: the assignment, `a`, a packet, and its index; the declaration and `y <- x` have two each.
make_body_operations() { body "u8 a = x; $(rep $((($1 - 4) / 4)) 'a = x;')"; }
make_extern_files() {
    printf 'extern kernel k(in u8 x, out u8 y) cost 1 from {'
    seq "$1" | sed 's/.*/"&.o",/' | tr '\n' ' '
    printf '};\n%s\n' "$M"
}
make_unit_bytes() { printf 'builtin kernel k(in u8 x pop %s, out u32 y) from "hash";\npipeline main(in u8 x, out u32 y) { x -> k -> y; }\n' "$1"; }
edge fields 4096 too-large
edge unit_bytes $((1 << 20)) too-large --device cpu
edge extern_files 64 too-large
edge struct_bytes $((1 << 30)) too-large --device cpu
edge state_bytes $((1 << 30)) too-large --device cpu
edge states_bytes $((1 << 30)) too-large --device cpu
edge local_bytes $((1 << 20)) too-large
edge locals_bytes $((4 << 20)) too-large
step=4 edge body_operations $((1 << 17)) too-large
edge constant_values $((4 << 20)) too-large
edge all_constant_values $((8 << 20)) too-large

# ---- functions ----
make_calls() {
    echo 'fn i32 f_1(i32 n) { return n; }'
    for i in $(seq 2 "$1"); do echo "fn i32 f_$i(i32 n) { return f_$((i - 1))(n); }"; done
    k 'in i32 x' 'out i32 y' '' "y <- f_$1(x);" | sed 's/u8/i32/g'
}
make_constant_calls() {
    echo 'fn i32 f_1(i32 n) { return n; }'
    for i in $(seq 2 "$1"); do echo "fn i32 f_$i(i32 n) { return f_$((i - 1))(n); }"; done
    echo "const i32 A = f_$1(1);"
    body ''
}
edge calls 256 too-large
edge constant_calls 256 too-large

# ---- rates ----
make_pop() { k "in u8 x pop $1" 'out u8 y' '' 'y <- x[0];'; }
make_peek() { k "in u8 x peek $1" 'out u8 y' '' 'y <- x[0];'; }
make_push() { k 'in u8 x' "out u8 y push $1" '' 'y[0] = x;'; }
make_push_most() { k 'in u8 x' "out u8 y push ..$1" '' 'if (x > 1) y <- x;'; }
make_phase() { k "in u8 x pop {1, $1}" 'out u8 y' '' 'y <- 1;'; }
make_amplify() { k 'in u8 x pop 2' "out u8 y amplify $1 / 2" '' 'if (x[0] > 1) y <- x[0];'; }
make_phases() { k "in u8 x pop {$(rep $(($1 - 1)) '1, ')1}" 'out u8 y' '' 'y <- x[0];'; }
make_ports() { printf 'kernel k(in u8 x[%s], out u8 y) { y <- x[0][0]; }\n' "$1"; printf 'kernel o(in u8 x, out u8 y) { y <- x; }\npipeline main(in u8 x, out u8 y) { x -> o -> y; }\n'; }
edge pop $((1 << 31)) too-large --device cpu
edge peek $((1 << 31)) too-large --device cpu
edge push $((1 << 31)) too-large --device cpu
edge push_most $((1 << 31)) too-large
edge phase $((1 << 31)) too-large --device cpu
step=2 edge amplify $((1 << 31)) too-large
edge phases 1024 too-large
edge ports 65536 too-large

# ---- buffers, topology ----
net() { printf 'kernel k(in u8 x, out u8 y) { y <- x; }\npipeline main(in u8 x, out u8 y%s) { %s x -> k -> y; }\n' "${2-}" "$1"; }
make_depth() { printf 'kernel k(in u8 x, out u8 y) { y <- x; }\npipeline main(in u8 x, out u8 y) { buffer u8 b depth %s; x -> k -> b; b -> k -> y; }\n' "$1"; }
make_initial() { printf 'kernel k(in u8 x, out u8 y) { y <- x; }\npipeline main(in u8 x, out u8 y) { buffer u8 b init %s x 0; x -> k -> b; b -> k -> y; }\n' "$1"; }
make_rounds() { net "for (int i = 0; i < $1; i++) ;"; }
make_pipelines_deep() {
    echo 'kernel k(in u8 x, out u8 y) { y <- x; }'
    echo 'pipeline p1(in u8 x, out u8 y) { x -> k -> y; }'
    for i in $(seq 2 "$1"); do echo "pipeline p$i(in u8 x, out u8 y) { x -> p$((i - 1)) -> y; }"; done
    echo "pipeline main(in u8 x, out u8 y) { x -> p$1 -> y; }"
}
make_cost() { printf 'kernel k(in u8 x, out u8 y) { y <- x; }\npipeline main(in u8 x, out u8 y) { n: k(x -> y) cost %s; }\n' "$1"; }
make_importance() { printf 'kernel k(in u8 x, out u8 y) { y <- x; }\npipeline main(in u8 x, out u8 y) { n: k(x -> y) importance %s; }\n' "$1"; }
make_inner() {
    printf 'kernel k(in u8 x, out u8 y) { y <- x; }\npipeline p(in u8 x, out u8 y) { x -> k -> y; }\n'
    printf 'pipeline main(in u8 x, out u8 y) { buffer u8 b[%s]; x -> p -> b[0]; for (int i = 1; i < %s - 1; i++) b[i - 1] -> p -> b[i]; b[%s - 2] -> p -> y; }\n' "$1" "$1" "$1" | sed "s/b\[$1\];/b[$1 - 1];/"
}
make_operations() { # of an argument, which is one itself, through seven pipelines of 512 each
    printf 'kernel k(in i32 x, out i32 y; i32 n) { y <- x + n; }\n'
    printf 'pipeline p0(in i32 x, out i32 y; i32 n) { x -> k(%sn) -> y; }\n' "$(rep $(($1 - 7 * 512)) '- ')"
    for i in 1 2 3 4 5 6 7; do
        printf 'pipeline p%s(in i32 x, out i32 y; i32 n) { x -> p%s(%sn) -> y; }\n' $i $((i - 1)) "$(rep 512 '- ')"
    done
    printf 'pipeline main(in i32 x, out i32 y; i32 n) { x -> p7(n) -> y; }\n'
}
edge depth $(((1 << 31) - 1)) constant-range --device sim-h100
edge initial $(((1 << 31) - 1)) constant-range --device sim-h100
edge rounds $((1 << 20)) too-large
edge pipelines_deep 64 too-deep
if [ -n "${LONG-}" ]; then edge inner 32768 too-large; else form=graph edge inner 32768 too-large; fi # the plan takes seconds
edge operations 4095 too-large
edge cost $((1 << 40)) constant-range
edge importance 255 constant-range

# ---- windows, groups ----
make_window() { k "in u8 x window $1x1" 'out u8 y' '' 'y <- x[0][0];' | sed 's/main(in u8 x,/main(in u8 x frame 4x4,/'; }
make_rows() { k 'in u8 x window 1x1' 'out u8 y' '' 'y <- x[0][0];' | sed "s/main(in u8 x,/main(in u8 x rows $1,/"; }
make_frame() { k 'in u8 x window 1x1' 'out u8 y' '' 'y <- x[0][0];' | sed "s/main(in u8 x,/main(in u8 x frame 1x$1,/"; }
make_items() { k 'in u8 x' 'out u8 y' "group $1" 'if (item.x == 0) y <- x;'; }
make_shared_bytes() { k 'in u8 x' 'out u8 y' 'group 4' "local u8 a[$1]; a[item.x] = x; barrier(); if (item.x == 0) y <- a[0];"; }
step=2 edge window 1023 too-large
edge rows $((1 << 31)) too-large
edge frame $((1 << 31)) too-large
edge items 1024 too-large
edge shared_bytes $((64 << 10)) too-large --device cpu

# ---- launches ----
child='child kernel c(in u8 x, out u8 y; i32 n) { y <- x; }
'
launching() { printf '%skernel k(in u8 x, out u8 y) %s { %s }\n%s\n' "$child" "$1" "$2" "$M"; }
make_launches() { launching "launches $1" 'launch c(1);'; }
make_tree() { launching "launches 2 total $1" 'launch c(1);'; }
make_work_groups() {
    printf 'child kernel g(in u8 x, out u8 y) groups %s { if (x > 1) y <- x; }\n' "$1"
    printf 'kernel k(in u8 x, out u8 y) { launch g() groups %s; }\n%s\n' "$1" "$M"
}
make_choices() {
    arms='c'
    for i in $(seq 2 "$1"); do arms="(x > $i ? c : $arms)"; done
    launching '' "launch $arms(1);"
}
make_nesting() { launching "nesting $1" 'launch c(1);'; }
make_waits() {
    launching '' "
$(for i in $(seq "$1"); do echo "    event e$i = launch c($i);"; done)
    launch c(0) after $(seq -s ', ' -f 'e%g' "$1");"
}
make_child_arguments() { # of eight bytes each
    printf 'child kernel c(in u8 x, out u8 y; %s) { y <- x; }\n' "$(seq -s ', ' -f 'i64 a%g' "$1")"
    printf 'kernel k(in u8 x, out u8 y) { launch c(%s0); }\n%s\n' "$(rep $(($1 - 1)) '0, ')" "$M"
}
make_chain() {
    printf 'child kernel c_1(in u8 x, out u8 y) { y <- x; }\n'
    for i in $(seq 2 "$1"); do echo "child kernel c_$i(in u8 x, out u8 y) { launch c_$((i - 1))(); }"; done
    printf 'kernel k(in u8 x, out u8 y) { launch c_%s(); }\n%s\n' "$1" "$M"
}
edge launches 65536 too-large
edge work_groups 65536 too-large
edge tree $((1 << 20)) too-large
edge choices 16 too-large
edge nesting 256 too-large
edge waits 8 too-large
edge child_arguments 512 too-large
edge chain 64 too-deep

make_launch_statements() { # of 257 for each value of a packet
    local left=$1 value
    printf '%skernel k(in u8 x, out u8 y) {\n    switch (x) {\n' "$child"
    for value in $(seq 0 255); do
        printf '    case %s: %s break;\n' "$value" "$(rep $((left < 257 ? left : 257)) 'launch c(1); ')"
        left=$((left < 257 ? 0 : left - 257))
    done
    printf '    }\n}\n%s\n' "$M"
}
edge launch_statements 65536 too-large

# ---- nodes and buffers: only the topology, because analysing a million of them takes longer than a test should ----
make_nodes() { # in one loop of half as many rounds; one of them is k
    printf 'kernel k(in u8 x, out u8 y) { y <- x; }\nkernel s(in u8 x) {}\n'
    printf 'pipeline main(in u8 x, out u8 y) { x -> k -> y; for (int i = 0; i < %s; i++) { s(x -> ); s(x -> ); } %s}\n' \
        $((($1 - 1) / 2)) "$(rep $((($1 - 1) % 2)) 's(x -> ); ')"
}
make_buffers() { # sixteen arrays of as many as a kernel has ends, and single ones; one is x
    printf 'kernel k(in u8 x, out u8 y[65535]) { for (i32 i = 0; i < 65535; i++) y[i] <- x; }\n'
    printf 'kernel s(in u8 x[65535]) {}\nkernel k1(in u8 x, out u8 y) { y <- x; }\nkernel s1(in u8 x) {}\n'
    printf 'pipeline main(in u8 x) { for (int i = 0; i < 16; i++) { buffer u8 b[65535]; k(x -> b); s(b -> ); }'
    printf ' for (int i = 0; i < %s; i++) { buffer u8 b; k1(x -> b); s1(b -> ); } }\n' $(($1 - 1 - 16 * 65535))
}
parts() {
    local name=$1 at status
    for at in ${LONG:+0} 1; do
        status=0
        "make_$name" $(((1 << 20) + at)) >"$name.pipe"
        "$PIPEC" graph --format=dot "$name.pipe" >/dev/null 2>err || status=$?
        if [ "$status" -eq $((at > 0)) ] && { [ "$at" -eq 0 ] || grep -q "more than 1048576 $name \[too-large\]" err; }; then
            echo "ok $name: 2^20 and $at"
        else
            echo "not ok $name: 2^20 and $at: $status, $(head -1 err)"
        fi
    done
}
case $VARIANT in
asan | tsan) ;;
*)
    parts nodes
    parts buffers
    ;;
esac

# ---- the command line ----
# status NAME WANTED ARGUMENT...: how pipec ends.
status() {
    local name=$1 wanted=$2 got=0
    shift 2
    "$PIPEC" "$@" >out 2>err </dev/null || got=$?
    [ $got -eq "$wanted" ] && echo "ok $name" || echo "not ok $name: $got, $(head -1 err)"
}
body '' >command.pipe
: >nothing
for files in 1999 2000 2001; do # the list itself is one
    {
        rep $((files - 1)) '@nothing '
        echo command.pipe
    } >list
    status "$files response files" $((files > 2000 ? 2 : 0)) @list
done
for jobs in 1023 1024 1025; do
    status "test -j $jobs" $((jobs > 1024 ? 2 : 0)) test -j $jobs command.pipe
    status "lint -j $jobs" $((jobs > 1024 ? 2 : 0)) lint -j $jobs command.pipe
done

# Files in a folder and folders of -I are as many as there are; what lies in too many folders is not passed over silently.
folder=nest
for folders in 1 $(seq 2 201); do
    [ "$folders" -eq 1 ] || folder=$folder/d
    mkdir "$folder"
    [ "$folders" -ge 199 ] || continue
    make_cost 7 | "$PIPEC" fmt - >"$folder/deep.pipe"
    status "lint: $folders folders within each other" $((folders > 200 ? 2 : 0)) lint nest
    status "fmt: $folders folders within each other" $((folders > 200 ? 2 : 0)) fmt --check nest
    [ "$folders" -le 200 ] || status "a folder that is named is the first one" 0 lint nest/d
done
for command in lint 'fmt --check'; do
    # shellcheck disable=SC2086 # two words
    "$PIPEC" $command nest 2>&1 | grep -q "/d' is more than 200 folders deep and is left out" &&
        echo "ok $command says what is left out" || echo "not ok $command says what is left out"
done
mkdir many
for i in $(seq 3000); do
    printf 'const int C%s = %s;\n' "$i" "$i" >"many/$i.pipe"
done
status "lint of a folder with 3,000 files" 0 lint many
status "fmt of a folder with 3,000 files" 0 fmt --check many
mkdir -p last
printf 'const int FOUND = 5;\n' >last/found.pipe
{
    echo 'import "found.pipe";'
    make_cost FOUND
} >imports.pipe
folders=()
for i in $(seq 2999); do folders+=(-I "many"); done
status "an import from the last of 3,000 folders" 0 "${folders[@]}" -I last --emit=graph imports.pipe

# ---- tests, sources ----
make_map() {
    printf 'fn u8 f(u8 v) { return v; }\nkernel k(in u8 x, out u8 y) { y <- x; }\n%s\n' "$M"
    printf 'test t of main { x = %s{0}%s; expect y == {0}; }\n' "$(rep "$1" 'map(f, ')" "$(rep "$1" ')')"
}
edge map 16 too-deep
make_stream() { printf 'kernel k(in u8 x, out u8 y) { y <- x; }\n%s\ntest t of main { x = zeros(%s); expect y == {0}; }\n' "$M" "$1"; }
edge stream $((1 << 24)) too-large
filler=' ' # `make check-long`: 64 million lines
[ -z "${LONG-}" ] || filler='\n'
make_source_bytes() {
    body ''
    head -c $(($1 - $(body '' | wc -c))) /dev/zero | tr '\0' "$filler"
}
for at in ${LONG:+-1} 0 1; do
    bytes=$(((64 << 20) + at)) status=0
    make_source_bytes $bytes >large.pipe
    "$PIPEC" large.pipe >out 2>err </dev/null || status=$?
    if [ "$status" -eq $((at > 0)) ] && { [ "$at" -le 0 ] || grep -q 'larger than 64 MiB' err; }; then
        echo "ok a source of 64 MiB and $at"
    else
        echo "not ok a source of 64 MiB and $at: $status, $(head -1 err)"
    fi
done
rm -f large.pipe

# ---- outer ports that a static schedule asks: two of each stage; what is beyond is guarded, and loads as well ----
for stages in 383 384 385 1500; do
    {
        echo 'kernel k(in u8 x, out u8 y) { y <- x; }'
        printf 'pipeline main(in u8 x, %s) {' "$(seq -s ', ' -f 'out u8 y%g' "$stages")"
        printf ' k(x -> y%d);' $(seq "$stages")
        echo ' }'
    } >ports.pipe
    kind=static
    [ "$stages" -le 384 ] || kind=guarded
    "$PIPEC" --device=sim1 --no-fuse -O0 ports.pipe -o ports.pbc 2>err && "$PIPEC" inspect ports.pbc >out 2>>err &&
        grep -q "^schedule $kind" out && "$PIPERUN" verify ports.pbc >out 2>>err &&
        echo "ok a schedule of $stages stages with two ports is $kind and loads" ||
        echo "not ok a schedule of $stages stages with two ports is $kind and loads: $(head -1 err)"
done

# ---- memory ----
make_depth 1000 >memory.pipe
"$PIPEC" --no-fuse --max-memory 1000 memory.pipe >out 2>err && echo "ok as much memory as is allowed" || echo "not ok as much memory as is allowed: $(head -1 err)"
make_depth 1001 >memory.pipe
"$PIPEC" --no-fuse --max-memory 1000 memory.pipe >out 2>err; grep -q 'memory-limit' err && echo "ok a byte more" || echo "not ok a byte more: $(head -1 err)"
