#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2034 # what `expect` evaluates
# Work-items: the same bits on every device, what the index generator found, and groups that it cannot hold.
set -u
cd "$TMP" || exit 1

expect() {
    if eval "$2"; then echo "ok $1"; else echo "not ok $1"; fi
}

# Each kernel is launched once an iteration: they share index memory.
cat >three.pipe <<'END'
kernel turn(in i32 x pop 60, out i32 y push 60) group 10x6 { y[item.y * 10 + item.x] = x[item.x * 6 + item.y]; }
kernel flat(in i32 x pop 60, out i32 y push 60) group 60 { y[item.x] = x[59 - item.x] * 3; }
kernel cube(in i32 x pop 60, out i32 y push 60) group 5x3x4 {
    y[(item.z * 3 + item.y) * 5 + item.x] = x[(item.x * 3 + item.y) * 4 + item.z] + 100 * item.z + 10 * item.y + item.x;
}
pipeline main(in i32 x, out i32 y) { x -> turn -> flat -> cube -> y; }
END

# The same without work-items.
cat >plain.pipe <<'END'
kernel all(in i32 x pop 60, out i32 y push 60) {
    i32 a[60], b[60];
    for (i32 n = 0; n < 60; n++) a[n] = x[n % 10 * 6 + n / 10];
    for (i32 n = 0; n < 60; n++) b[n] = a[59 - n] * 3;
    for (i32 n = 0; n < 60; n++) {
        i32 p = n % 5, q = n / 5 % 3, r = n / 15;
        y[n] = b[(p * 3 + q) * 4 + r] + 100 * r + 10 * q + p;
    }
}
pipeline main(in i32 x, out i32 y) { x -> all -> y; }
END

# run DEVICE THREADS SOURCE: y.raw, stats.json
run() {
    "$PIPERUN" "$3" --device "$1" --host-threads "$2" x=gen:ramp:60000 y=y.raw "--stats=json:stats.json" 2>err || cat err
}
# found KEY: of the index generator in stats.json
found() {
    tr -d '\n' <stats.json | grep -o '"index": *{[^}]*}' | grep -o "\"$1\": *[0-9]*" | grep -o '[0-9]*$'
}

run sim16 1 plain.pipe && mv y.raw plain.raw
expect 'kernels without work-items ask for no indices' '! grep -q "\"index\": *{" stats.json'
for device in sim1 sim4 sim16; do
    run "$device" 1 three.pipe
    expect "items are what division says, $device" 'cmp y.raw plain.raw'
    mv stats.json "$device.json"
    run "$device" 2 three.pipe
    expect "two threads find what one does, $device" 'cmp y.raw plain.raw && [ "$(found hits)" = "$(cp $device.json stats.json; found hits)" ]'
done

# On the one compute unit of sim1 each kernel takes the place of the one before, whose group the history still knows.
run sim1 1 three.pipe
expect 'three groups are unknown once each' '[ "$(found misses)" = 3 ]'
expect 'what shares a memory is stored again' '[ "$(found hits)" -gt 3 ]'
expect 'requests are what was found' '[ "$(found requests)" = $(($(found hits) + $(found misses) + $(found resident))) ]'
expect 'a launch waits a cycle where indices are not known' '[ "$(found cycles)" = "$(found misses)" ]'

# device NAME LINE: sim1 with another figure
device() {
    sed -e "s/^name .*/name = $1/" -e '/^index_register_bits/d' "$ROOT/lang/devices/sim1.dev" >"$1.dev"
    echo "$2" >>"$1.dev"
}
device short 'index_history = 2'
"$PIPEC" --device short.dev three.pipe -o short.pbc && run sim:short.dev 1 short.pbc
expect 'a short history forgets' 'cmp y.raw plain.raw && [ "$(found hits)" = 0 ] && [ "$(found misses)" -gt 6 ]'

device own 'index_dedicated_launches = 1'
"$PIPEC" --device own.dev three.pipe -o own.pbc && run sim:own.dev 1 own.pbc
expect 'memory of its own is never taken' 'cmp y.raw plain.raw && [ "$(found hits)" = 0 ] && [ "$(found misses)" = 3 ]'
"$PIPEC" inspect own.pbc >out
expect 'inspect tells where indices are' 'grep -q "^indices  turn: 10x6 in 7 of 16 bits, step (1, 0, 0), 120 bytes of index memory from 0 on, its own" out'
expect 'and of three dimensions' 'grep -q "^indices  cube: 5x3x4 in 7 of 16 bits, .* from 240 on, its own" out'

# refused DEVICE SOURCE MESSAGE
refused() {
    "$PIPEC" --device "$1.dev" "$2.pipe" -o no.pbc 2>err
    message=$3
    expect "$1: $3" 'grep -qF "$message" err && [ ! -e no.pbc ]'
}
device little 'index_memory = 119'
refused little three "three.pipe:1:8: error: the indices of 'turn' take 120 bytes, the index memory of device 'little' has 119"
cat >wide.pipe <<'END'
kernel wide(in i32 x pop 297, out i32 y push 297) group 99x3 { y[item.y * 99 + item.x] = x[item.y * 99 + item.x]; }
pipeline main(in i32 x, out i32 y) { x -> wide -> y; }
END
device narrow 'index_register_bits = 8'
refused narrow wide "wide.pipe:1:8: error: the indices of 'wide' take 9 bits, the registers of device 'narrow' have 8"

# A device without a generator divides: a work-item of `turn` and one of `cube` take 2 and 4 divisions instead of shifts.
device none 'index_memory = 0'
"$PIPEC" --device none.dev three.pipe -o none.pbc && run sim:none.dev 1 none.pbc
expect 'without a generator items are what division says' 'cmp y.raw plain.raw && ! grep -q "\"index\": *{" stats.json'
"$PIPEC" inspect none.pbc >out
expect 'items that divide cost more' 'grep -q "turn: turn cost $((480 + 60 * 2 * 7)) " out && grep -q "cube: cube cost $((1140 + 60 * 4 * 7)) " out'
expect 'one dimension costs neither' 'grep -q "flat: flat cost 240 " out'
expect 'no generator takes memory' '! grep -q "bytes in index memory" out'

# saved DEVICE FIRINGS: 16 warps of a firing are 8 on each of 16 compute units of sim16 for 8 firings, 14 cycles each.
cat >tile.pipe <<'END'
kernel tile(in i32 x pop 128, out i32 y push 128) group 16x8 { y[item.y * 16 + item.x] = x[item.x * 8 + item.y]; }
pipeline main(in i32 x, out i32 y) { x -> tile -> y; }
END
"$PIPERUN" tile.pipe --device sim16 x=gen:ramp:1024 y=null "--stats=json:stats.json" 2>err
expect 'what the generator saves is what dividing would take' '[ "$(found saved_cycles)" = 112 ]'

# Cores: 32 warps of 8 lanes on each of 4 compute units, one after the other or four at a time.
echo 'kernel k(in i32 x, out i32 y) { y <- x; } pipeline main(in i32 x, out i32 y) { k(x -> y) cost 100; }' >k.pipe
# takes CORES: cycles of the execution of 1024 firings in one launch
takes() {
    { sed -e 's/^name .*/name = cores/' "$ROOT/lang/devices/sim4.dev"; echo "cores_per_cu = $1"; } >cores.dev
    "$PIPEC" --device cores.dev k.pipe -o k.pbc && "$PIPERUN" k.pbc --device sim:cores.dev x=gen:ramp:1024 "y=k$1.raw" --stats=json:stats.json
    tr -d '\n' <stats.json | grep -o '"execute_cycles": *[0-9]*' | grep -o '[0-9]*$' | head -1
}
one=$(takes 1)
three=$(takes 3)
four=$(takes 4)
expect 'one core executes warps one after the other' '[ "$one" = 3200 ]'
expect 'four cores execute four warps, a cycle after each other' '[ "$four" = $((7 * 100 + 3 + 100)) ]'
expect 'a warp keeps its place for whole rounds of the cores' '[ "$three" = $((10 * 102 + 1 + 100)) ] && cmp k1.raw k4.raw'
