#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# local_memory and memory of a device: what does not fit is refused when compiling and again when loading, by figures that
# pipec and piperun compute each by itself.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
is() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: found '$3', expected '$2'"; fi; }

device() { # NAME CUS MEMORY LOCAL [MORE]
    printf 'name = %s\ncu_count = %s\nlanes = 8\nclock = 1 GHz\nmemory = %s\nmemory_bytes_per_cycle = 256\nlocal_memory = %s\n%b' \
        "$1" "$2" "$3" "$4" "${5-}" >"$1.dev"
}

# ---- local memory: the edge, from both sides ----
cat >big.pipe <<'END'
kernel turn(in f32 x pop 64, out f32 y push 64) group 64 {
    local f32 big[64];
    local u8 once;
    big[item.x] = x[item.x];
    barrier();
    if (item.x == 0) once = 1;
    y[item.x] = big[63 - item.x];
}
pipeline main(in f32 x, out f32 y) { x -> turn -> y; }
END
device none 4 '1 MiB' 0
device short 4 '1 MiB' 256
device exact 4 '1 MiB' 257
device wide 16 '1 MiB' 256
says="a work-group of 'turn' needs 257 bytes of local memory, a compute unit of device"
check "no local memory" says 1 "big.pipe:1:8: error: $says 'none' has 0 .local-memory-too-small" "$PIPEC" --device none.dev big.pipe -o big.pbc
check "one byte too few" says 1 "$says 'short' has 256" "$PIPEC" --device short.dev big.pipe -o big.pbc
check "the largest variable is named" says 1 "'big' takes 256 of them" "$PIPEC" --device short.dev big.pipe -o big.pbc
check "just enough" "$PIPEC" --device exact.dev big.pipe -o big.pbc
check "it runs there" "$PIPERUN" -q --device exact.dev big.pbc x=gen:ramp:128 y=null
check "loading compares with the device of the run" says 6 "$says 'wide' has 256 .local-memory" \
    "$PIPERUN" --device wide.dev --partition 'equally 4' --sub-device 1 big.pbc x=gen:ramp:128 y=null
sed 's/257/256/; s/local u8 once;//; s/^ *if (item.x == 0) once.*//' big.pipe >fits.pipe
check "one variable less fits" "$PIPEC" --device short.dev fits.pipe -o fits.pbc

cat >child.pipe <<'END'
child kernel part(in i32 x, out i32 y) group 8 {
    local i32 held[100];
    held[item.x] = x;
    barrier();
    if (item.x == 0) y <- held[7];
}
kernel root(in i32 x, out i32 y) { launch part(); }
pipeline main(in i32 x, out i32 y) { x -> root -> y; }
END
device childless 4 '1 MiB' 399
device childful 4 '1 MiB' 400
check "a child's local memory counts" says 1 "work-group of 'part' needs 400 bytes of local memory, .* has 399" "$PIPEC" --device childless.dev child.pipe -o child.pbc
check "a child's just enough" "$PIPEC" --device childful.dev child.pipe -o child.pbc

# ---- memory: one sum ----
device queued 4 '64 KiB' '32 KiB' 'device_queue_entries = 65536\n'
device roomy 4 '8 MiB' '32 KiB' 'device_queue_entries = 65536\n'
check "a queue of 4 MiB does not fit 64 KiB" says 1 "child.pipe:8:10: error: 'main' needs [0-9]* bytes of memory, device 'queued' has 65536 .memory-limit" \
    "$PIPEC" --device queued.dev child.pipe -o child.pbc
check "the parts are shown" says 1 'note: .*device queue 4194[0-9]*' "$PIPEC" --device queued.dev child.pipe -o child.pbc
check "what helps" says 1 'help: .*device_queue_entries' "$PIPEC" --device queued.dev child.pipe -o child.pbc
check "a queue that fits" "$PIPEC" --device roomy.dev child.pipe -o child.pbc

cat >ports.pipe <<'END'
kernel whole(in u8 x pop 40000, out u8 y push 40000) { for (i32 i = 0; i < 40000; i++) y[i] = x[i]; }
pipeline main(in u8 x, out u8 y) { x -> whole -> y; }
END
device tight 4 '64 KiB' '32 KiB'
check "ports count" says 1 "needs 80576 bytes of memory, device 'tight' has 65536" "$PIPEC" --device tight.dev ports.pipe -o ports.pbc
cat >state.pipe <<'END'
kernel kept(in u8 x, out u8 y) { state u8 old[70000]; y <- old[x]; old[x] = x; }
pipeline main(in u8 x, out u8 y) { x -> kept -> y; }
END
check "state counts" says 1 "arguments, tables and state 70016" "$PIPEC" --device tight.dev state.pipe -o state.pbc
cat >items.pipe <<'END'
kernel items(in u8 x, out u8 y) group 1024 { if (item.x == 0) y <- x; }
pipeline main(in u8 x, out u8 y) { x -> items -> y; }
END
device many 33 '64 KiB' 0
check "index memory counts" says 1 "index memory 67584" "$PIPEC" --device many.dev items.pipe -o items.pbc

# ---- both halves find the same ----
cat >all.pipe <<'END'
child kernel leaf(in i32 x, out i32 y; i64 a) { y <- x + i32(a); }
child kernel pick(in i32 x, out i32 y; i32 n) group 3 x 2 {
    if (item.x == 0 && item.y == 0) y <- n;
}
kernel root(in i32 x, out i32 y; i64 by) {
    event e = launch leaf(by);
    launch pick(3) after e;
    if (done(e)) launch leaf(4);
}
kernel sums(in i32 x pop 64, out i32 y) group 64 {
    local i32 s[64];
    s[item.x] = x[item.x];
    barrier();
    if (item.x == 0) y <- s[0] + s[63];
}
kernel last(in i32 x, out i32 y) { state i32 old[9]; y <- old[x & 7]; old[x & 7] = x; }
pipeline main(in i32 x, out i32 y; i64 by = 1) { x -> root(by) -> sums -> last -> y; }
END
figures() { tr -d ' \n' <"$1" | grep -oE '"memory":[{][^}]*[}]' | grep -oE '"[a-z_]*":[0-9]+'; }
for name in sim1 sim4 sim16 sim-h100; do
    "$PIPEC" inspect --json --device $name all.pipe >inspect.json
    "$PIPEC" --device $name all.pipe -o all.pbc
    "$PIPERUN" -q --stats=json:stats.json all.pbc x=gen:ramp:640 y=null
    is "$name: inspect and --stats agree" "$(figures inspect.json)" "$(figures stats.json)"
    is "$name: all parts are there" 8 "$(figures stats.json | grep -cv ':0$')"
    sum=$(figures stats.json | awk -F: '$1 != "\"bytes\"" && $1 != "\"limit_bytes\"" { s += $2 } END { print s }')
    is "$name: the sum is that of its parts" "\"bytes\":$sum" "$(figures stats.json | head -1)"
done
check "the text of inspect" says 0 '^device   [0-9]* of [0-9]* bytes: buffers [0-9]*, ports' "$PIPEC" inspect --device sim-h100 all.pipe
check "the text of --stats" says 0 '^memory [0-9]* of [0-9]* bytes: buffers [0-9]*, ports' "$PIPERUN" --stats all.pbc x=gen:ramp:640 y=null

# Undeclared depths stay within the sum where they exceed the proven ones.
device small 4 '64 KiB' '32 KiB'
"$PIPEC" --device small.dev state.pipe -o no.pbc 2>err && echo "not ok state does not fit"
printf 'kernel copy(in f64 x, out f64 y) { y <- x; }\npipeline main(in f64 x, out f64 y) { x -> copy -> copy -> copy -> copy -> copy -> y; }\n' >row.pipe
"$PIPEC" inspect --json --device small.dev row.pipe >row.json
check "raised depths fit" test "$(figures row.json | sed -n 's/"bytes"://p')" -le 65536
