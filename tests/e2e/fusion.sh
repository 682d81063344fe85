#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Neighbours become one stage, and nothing else changes: the same bits, with as many packets as one likes, on any
# device; pipec says what it did.
set -eu
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

kernels='import "std/streams.pipe";
kernel scale(in i32 x, out i32 y; i32 by) { y <- by * x; }
kernel pairs(in i32 x pop 2, out i32 y) { y <- x[0] - x[1]; }
kernel triples(in i32 x pop 3, out i32 y push 2) { y <- x[0] ^ x[2]; y <- x[1]; }
kernel twice(in i32 x, out i32 y push 2) { y <- x; y <- ~x; }
kernel window(in i32 x peek 4, out i32 y) { y <- x[0] + 3 * x[1] - x[3]; }
kernel blocks(in i32 x pop 4, out i32 y push 4) { for (i32 i = 0; i < 4; i++) y[3 - i] = x[i] * i; }
kernel add(in i32 a, in i32 b, out i32 y) { y <- a + b; }
kernel fork(in i32 x, out i32 a, out i32 b) { a <- x; b <- x >> 1; }
kernel sum(in i32 x, out i32 y) { state i32 s; s += x; y <- s; }
kernel keep(in i32 x, out i32 y) { if (x % 3 != 0) y <- x; }
kernel some(in i32 x, out i32 y push ..3) { for (i32 i = 0; i < (x & 3); i++) y <- x + i; }
kernel lookup(in i32 x, out i32 y; i32 seed) {
    table i32 t[16];
    init { for (i32 i = 0; i < 16; i++) t[i] = seed * i; }
    y <- t[x & 15];
}'

lengths='0 1 2 3 5 7 19 1001'
[ -z "${LONG-}" ] || lengths="$(seq -s ' ' 0 19) 24 36 37 1001"

# try NAME FUSED BODY: FUSED: how many nodes become how many stages, "3 -> 1".
try() {
    local name=$1 stages=$2 body=$3 n bad='' device devices='sim16 cpu' found
    printf '%s\npipeline main(%s\n' "$kernels" "$body" >"$name.pipe"
    "$PIPEC" -O0 --no-fuse "$name.pipe" -o apart.pbc
    # `make check` compares sim1 for every second program, `make check-long` for all.
    if [ -n "${LONG-}" ] || [ $((${#name} % 2)) = 0 ]; then
        "$PIPEC" -O0 --fuse --device sim1 "$name.pipe" -o sim1.pbc
        devices="sim1 $devices"
    fi
    for device in sim16 cpu; do "$PIPEC" --fuse --device "$device" "$name.pipe" -o "$device.pbc"; done
    for n in $lengths; do
        "$PIPERUN" -q apart.pbc x=gen:noise:5:"$n" y=apart.raw,raw
        for device in $devices; do
            "$PIPERUN" -q --device "$device" "$device.pbc" x=gen:noise:5:"$n" y="$device.raw,raw"
            cmp -s apart.raw "$device.raw" || bad="$bad $device:$n"
        done
    done
    if [ -n "$bad" ]; then echo "not ok $name: other bytes with as many packets:$bad"; else echo "ok $name"; fi
    found=$("$PIPEC" inspect --json --no-fuse --device sim16 "$name.pipe" | grep -c '"threshold":')
    found="$found -> $("$PIPEC" inspect --json --fuse --device sim16 "$name.pipe" | grep -c '"threshold":')"
    check "$name: $stages stages" [ "$found" = "$stages" ]
}

try chain '3 -> 1' 'in i32 x, out i32 y) { x -> scale(3) -> lookup(7) -> scale(5) -> y; }'
try arguments '2 -> 1' 'in i32 x, out i32 y; i32 v = 9) { x -> scale(v) -> lookup(v + 1) -> y; }'
try multirate '3 -> 1' 'in i32 x, out i32 y) { x -> triples -> pairs -> twice -> y; }'
try indexed '3 -> 1' 'in i32 x, out i32 y) { x -> scale(3) -> blocks -> pairs -> y; }'
try split_join '4 -> 1' 'in i32 x, out i32 y) {
    buffer i32 a, b, c, d;
    fork(x -> a, b); scale(a -> c; 3); lookup(b -> d; 2); add(c, d -> y); }'
try readers '4 -> 1' 'in i32 x, out i32 y) {
    buffer i32 a, b, c;
    x -> scale(3) -> a; a -> scale(2) -> b; a -> lookup(3) -> c; add(b, c -> y); }'
try windows '3 -> 1' 'in i32 x, out i32 y) {
    buffer i32 a, b; x -> window -> a; x -> window -> b; add(a, b -> y); }'
try window_inside '2 -> 2' 'in i32 x, out i32 y) { x -> lookup(3) -> window -> y; }'
try unequal_windows '3 -> 1' 'in i32 x, out i32 y) {
    buffer i32 a, b; x -> window -> a; x -> scale(2) -> b; add(a, b -> y); }'
try state '3 -> 1' 'in i32 x, out i32 y) { x -> scale(3) -> sum -> scale(5) -> y; }'
try circle '2 -> 1' 'in i32 x, out i32 y) {
    buffer i32 s, back init 2 x 7; fork(s -> y, back); add(x, back -> s); }'
try select '3 -> 1' 'in i32 x, out i32 y) { x -> keep -> scale(3) -> lookup(2) -> y; }'
try amplify '3 -> 2' 'in i32 x, out i32 y) { x -> some -> twice -> pairs -> y; }'
try declared '2 -> 1' 'in i32 x, out i32 y) { buffer i32 a depth 2; x -> scale(3) -> a; a -> pairs -> y; }'
try initial '2 -> 2' 'in i32 x, out i32 y) { buffer i32 a init 2 x 5; x -> scale(3) -> a; a -> pairs -> y; }'

printf '%s\npipeline main(in i32 x, out i32 y) { x -> scale(3) -> scale(5) -> y; }\n' "$kernels" >two.pipe
check "the host's processor fuses" says 0 'fused    scale#1..2: 2 nodes' "$PIPEC" inspect --device cpu two.pipe
check "unless it is told not to" says 0 'apart    all: --no-fuse' "$PIPEC" inspect --no-fuse --device cpu two.pipe
check "nor does debug mode" says 0 '"off": "debug mode' "$PIPEC" inspect --json --debug-mode --device cpu two.pipe
check "which refuses to" says 2 '--fuse contradicts it' "$PIPEC" --debug-mode --fuse two.pipe
{
    printf 'kernel long(in i32 x, out i32 y) { i32 v = x; '
    for i in $(seq 300); do printf 'v = v * 3 + (v ^ %s); ' "$i"; done
    printf 'y <- v; }\npipeline main(in i32 x, out i32 y) { x -> long -> long -> y; }\n'
} >long.pipe
check "what is in lanes stays there" says 0 "'long->long#2': the code would be too large for lanes" \
    "$PIPEC" inspect --device cpu long.pipe
"$PIPEC" --fuse two.pipe -o two.pbc
check "a report names the stage" says 0 'scale#1\.\.2 ' "$PIPERUN" --stats two.pbc x=gen:ramp:9 y=null
check "its container verifies" says 0 'no deadlock is possible' "$PIPERUN" verify two.pbc
check "and is inspected" says 0 'scale#1\.\.2: threshold' "$PIPEC" inspect two.pbc
"$PIPEC" inspect --json --device cpu two.pipe >object
check "the object is JSON" parses object

# ---- the clock of a simulated device decides ----

printf '%s\npipeline main(in i32 x, out i32 y) { x -> scale(3) -> lookup(2) -> sum -> scale(5) -> lookup(7) -> y; }\n' \
    "$kernels" >timed.pipe
# Beside the sum, which is serial, several compute units have work only as long as nothing is fused with it.
runs='by whole runs [0-9]+ iterations take [0-9]+ cycles'
check "one compute unit: fused" says 0 "^fusion   $runs fused, [0-9]+ apart\$" "$PIPEC" inspect --device sim1 timed.pipe
check "four: apart" says 0 "^apart    all: $runs apart, [0-9]+ fused\$" "$PIPEC" inspect --device sim4 timed.pipe
check "the reason in JSON" says 0 "\"reason\": \"$runs fused, " "$PIPEC" inspect --json --device sim1 timed.pipe
check "and why not" says 0 "\"off\": \"$runs apart, " "$PIPEC" inspect --json --device sim4 timed.pipe
{ echo "$kernels"; echo 'pipeline main(in i32 x, out i32 y) { buffer i32 b[1024]; x -> scale(3) -> b[0];'
    echo 'for (int i = 1; i < 1024; i++) b[i - 1] -> scale(3) -> b[i]; b[1023] -> scale(3) -> y; }'; } >long.pipe
check "1,025 stages stay apart" says 0 "^apart    all: whole runs take too long" "$PIPEC" inspect --device sim1 long.pipe
check "in debug mode nothing is fused" says 0 'apart    all: debug mode' "$PIPEC" inspect --debug-mode --device sim1 timed.pipe
cycles() { "$PIPEC" inspect --device="$1" --predict=2000000 ${2:+"$2"} timed.pipe | sed -n 's/^cycles *\([0-9]*\) on.*/\1/p'; }
for name in sim1 sim4 sim16 sim-h100; do
    chosen=$(cycles $name) fused=$(cycles $name --fuse) apart=$(cycles $name --no-fuse)
    best=$((fused < apart ? fused : apart))
    check "$name: the faster one is taken ($chosen of $fused fused, $apart apart)" test $((chosen * 100)) -le $((best * 101))
done
for way in '' --fuse --no-fuse; do
    "$PIPEC" -O0 --device=sim1 $way timed.pipe -o "timed$way.pbc"
    for n in 1 999; do "$PIPERUN" -q "timed$way.pbc" x=gen:noise:5:$n y=timed$way.$n,raw; done
done
same_bytes() { for n in 1 999; do cmp timed.$n timed--fuse.$n && cmp timed.$n timed--no-fuse.$n || return 1; done; }
check "with the same bytes" same_bytes
check "a layout of several stages is kept" says 0 '^apart    all: fused, it cannot have the layout' \
    "$PIPEC" inspect --layout=side-by-side --device sim4 two.pipe
check "an option is obeyed, not tried" says 0 '^apart    all: --no-fuse' "$PIPEC" inspect --no-fuse --device sim1 timed.pipe
