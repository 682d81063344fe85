#!/bin/bash
# SPDX-License-Identifier: MIT
# Compiling ordinary programs takes bounded work: the corpus of tests/bench/compile, by counts of LLVM instructions after the
# loops that are written out and after optimising, and of expressions that the analyses evaluate (pipec --time-report).
# Seconds are `ONLY=compile make bench`.
set -u
cd "$TMP" || exit 1
corpus=$ROOT/tests/bench/compile

count() { awk -v what="$1" 'index($0, what) == 1 { print $NF }' report; }
# within_bound NAME N DEVICE BOUND: in thousands.
within_bound() {
    local what counted
    if ! "$PIPEC" -q --time-report "--device=$3" -D "N=$2" "$corpus/$1.pipe" -o out.pbc 2>report; then
        echo "not ok $1 $2 on $3: $(grep -m 1 error report)"
        return
    fi
    for what in 'after loops are written out' 'after optimising'; do
        counted=$(count "$what")
        if [ -z "$counted" ] || [ "$counted" -gt $((1000 * $4)) ]; then
            echo "not ok $1 $2 on $3: ${counted:-no} LLVM instructions $what, more than $4,000"
            return
        fi
    done
    echo "ok $1 $2 on $3"
}
# `make check` takes one program in eight for the cores of the host, `make check-long` all of them for all devices.
devices=cpu part=8
[ -z "${LONG-}" ] || devices="cpu sim1 sim4 sim16" part=1
seen=0
for device in $devices; do
    while read -r name n bound; do
        [[ $name == '#' || $bound == - ]] || ((++seen % part)) || within_bound "$name" "$n" "$device" "$bound"
    done <"$corpus/corpus.txt"
done

# LLVM's passes see a load of lanes from a table as one instruction: otherwise 14,000 are built here.
"$PIPEC" -q --time-report --device=cpu -D N=60 "$corpus/kernels.pipe" -o out.pbc 2>report
built=$(count 'LLVM instructions built')
if [ "${built:-99999}" -le 11000 ]; then
    echo "ok a load of lanes from a table is one instruction while LLVM optimises"
else
    echo "not ok a load of lanes from a table is one instruction while LLVM optimises: ${built:-no} instructions"
fi

# Nor are loads made of it after that where registers hold the table: otherwise 48,000 are left here.
left=$(count 'after optimising')
if [ "${left:-99999}" -le 20000 ]; then
    echo "ok items of a small table need no loads"
else
    echo "not ok items of a small table need no loads: ${left:-no} instructions"
fi

# In a large program LLVM keeps the loops of the code for firings that do not fill the lanes: otherwise 657 instructions are
# left here.  The lookups make the program large, and LLVM removes them.
{
    echo 'kernel k(in u8 x, out u8 y) { const u8 box[4] = {3, 1, 0, 2}; u8 t = x[0], sum = 0;'
    for ((i = 0; i < 400; i++)); do echo "t = box[t + $i & 3];"; done
    for ((i = 0; i < 8; i++)); do echo 'for (u8 i = 0; i < 24; i++) sum = sum * 5 ^ x[0] >> (i & 7);'; done
    echo 'y <- sum + (t & 0); }'
    echo 'pipeline main(in u8 x, out u8 y) { x -> k -> y; }'
} >remainder.pipe
"$PIPEC" -q --time-report --device=cpu remainder.pipe -o out.pbc 2>report
left=$(count 'after optimising')
if [ "${left:-99999}" -le 500 ]; then
    echo "ok loops for firings that do not fill the lanes stay loops in large programs"
else
    echo "not ok loops for firings that do not fill the lanes stay loops in large programs: ${left:-no} instructions"
fi

# analysed NAME BOUND <PROGRAM: a check of the program evaluates at most BOUND thousand expressions.
analysed() {
    local counted
    cat >"$1.pipe"
    "$PIPEC" -q --time-report "$1.pipe" 2>report
    counted=$(count 'expressions evaluated')
    if [ "${counted:-99999999}" -le $((1000 * $2)) ]; then
        echo "ok the analyses of $1 are short"
    else
        echo "not ok the analyses of $1 are short: ${counted:-no} expressions, more than $2,000"
    fi
}
# Otherwise the analyses follow each of these loops for 65,536 rounds up to fifteen times: 43,000,000 expressions.
analysed endless_loop_of_a_group 1000 <"$ROOT/tests/lang/items_control.pipe"
ports='in i32 x pop 4, out i32 y push 4; i32 n'
main='pipeline main(in i32 x, out i32 y; i32 n = 4) { x -> k(n) -> y; }'
ending='y <- sum; y <- sum; y <- sum; if (n > 3) y <- 1; else y <- 2;'
analysed endless_loop 200 <<E
kernel k($ports) {
    i32 sum = 0, i = 0;
    while (true) { if (i++ == n) break; sum += x[i & 3]; }
    $ending
}
$main
E
analysed endless_loop_with_return 200 <<E
kernel k($ports) {
    i32 sum = 0, i = 0;
    y <- 0; y <- 0; y <- 0;
    while (true) { if (i++ == n) { y <- sum; return; } sum += x[i & 3]; }
}
$main
E
# A loop of many rounds, each of many expressions: otherwise 7,500,000 and 28,000,000.
rounds='for (i32 i = 0; i < 250; i++) for (i32 j = 0; j < 250; j++) {
    if (j + i > n) sum += x[j & 3] * i;
    if (i % 2 == 0) continue;
    sum += x[i & 3] * i;
    sum ^= sum >> (j & 7);
}'
analysed nest_of_long_rounds 5000 <<E
kernel k($ports) { i32 sum = 0; $rounds $ending }
$main
E
analysed nest_of_a_group 8000 <<E
kernel k(in i32 x pop 4, out i32 y push 5; i32 n) group 4 { i32 sum = 0; $rounds y <- sum; if (item.x > 0) return; y <- sum; }
$main
E
