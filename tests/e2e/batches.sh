#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Batches on simulated devices follow from the cost of launches: larger where that makes long streams faster and short ones hardly
# slower, the smallest ones where larger ones would fire more than is needed.  Stages are apart: fused, the chain is one launch.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

# chain DEPTH: eight light kernels; every depth is declared, unless DEPTH is empty.
chain() {
    cat <<E
kernel affine(in f32 x, out f32 y; f32 a, f32 b) { y <- x * a + b; }
pipeline main(in f32 x $1, out f32 y $1) {
    buffer f32 s[7] $1;
    x -> affine(1, 0.125) -> s[0];
    for (int i = 1; i < 7; i++) s[i - 1] -> affine(1 - 0.015625 * i, 0.125 * (i + 1)) -> s[i];
    s[6] -> affine(1, 2) -> y;
}
E
}
chain "" >free.pipe
chain "depth 8192" >bounded.pipe # the smallest batches
cycles() { "$PIPEC" inspect --no-fuse --device="$1" --predict="$2" "$3.pipe" | sed -n 's/^cycles *\([0-9]*\) on.*/\1/p'; }
# faster DEVICE PACKETS TIMES: the chain, than with the smallest batches.
faster() { [ $(($(cycles "$1" "$2" free) * $3)) -lt "$(cycles "$1" "$2" bounded)" ]; }
hardly_slower() { [ $(($(cycles "$1" "$2" free) * 20)) -le $(($(cycles "$1" "$2" bounded) * 21)) ]; }
check "sim-h100: a long stream is five times as fast" faster sim-h100 100000000 5
for name in sim1 sim4 sim16 sim-h100; do
    for packets in 1 40 1000 8192 20000; do
        check "$name: $packets packets are hardly slower" hardly_slower $name $packets
    done
done
deepest() { "$PIPEC" inspect --no-fuse --json --device=sim-h100 "$1.pipe" | sed -n 's/.*"depth_packets": \([0-9]*\).*/\1/p' | sort -n | tail -1; }
check "declared depths stay" test "$(deepest bounded)" = 8192

# ---- what inspect says ----

check "the reason" says 0 '^batches  [0-9]+ times the smallest: by trials [0-9]+ iterations take [0-9]+ cycles, [0-9]+ with the smallest$' \
    "$PIPEC" inspect --no-fuse --device=sim-h100 free.pipe
check "the reason in JSON" says 0 '"batch_reason": "[0-9]+ times the smallest: ' "$PIPEC" inspect --no-fuse --json --device=sim-h100 free.pipe
# smallest OPTION... FILE: nothing was doubled.
smallest() { "$PIPEC" inspect --no-fuse --device="${device-sim-h100}" "$@" >plan && ! grep '^batches' plan; }
check "not in debug mode" smallest --debug-mode free.pipe
check "not with small depths" smallest --buffers=min free.pipe
check "nor where depths are declared" smallest bounded.pipe
sed 's/y <- x \* a + b;/y <- x * a + b; if (x > 1000) stop;/' free.pipe >stopping.pipe
check "not where a kernel may stop" smallest stopping.pipe
cat >source.pipe <<'E'
kernel count(out f32 y) { state f32 n; y <- n; n += 1; }
kernel add(in f32 a, in f32 b, out f32 y) { y <- a + b; }
pipeline main(in f32 x, out f32 y) { buffer f32 c; count -> c; add(x, c -> y); }
E
check "not with a source beside an in-port" smallest source.pipe
cat >heavy.pipe <<'E'
kernel heavy(in f32 x, out f32 y) { f32 a = x; for (i32 i = 0; i < 1000; i++) a = a * 3 + i; y <- a; }
pipeline main(in f32 x, out f32 y) { x -> heavy -> heavy -> y; }
E
device=sim1
check "not where launches are cheap beside the work" smallest heavy.pipe

# ---- memory ----

inner() { "$PIPEC" inspect --no-fuse --device=sim-h100 "$@" free.pipe | sed -n 's/^memory *\([0-9]*\) bytes in buffers.*/\1/p'; }
check "all raises together have 64 MiB" test "$(inner)" -le 67108864
check "and more than the smallest" test "$(inner)" -gt 1000000
check "--max-memory bounds them" test "$(inner --max-memory=1000000)" -le 1000000

# ---- ports ----

# A run that reads a pipe needs as many packets as the in-port holds; a declared depth bounds that (lang/plan.md, "Batches").
"$PIPEC" --no-fuse --device=sim-h100 free.pipe -o free.pbc
"$PIPEC" --no-fuse --device=sim-h100 bounded.pipe -o bounded.pbc
depth_of() { "$PIPEC" inspect "$1.pbc" | sed -n 's/^in-port x: .* depth \([0-9]*\) .*/\1/p'; }
check "the in-port is deeper than a declared one" test "$(depth_of free)" -gt "$(depth_of bounded)"
mkfifo in out
# first_output PROGRAM PACKETS: it comes when so many packets have come out of a pipe, whose writer keeps it open.
first_output() {
    rm -f got
    "$PIPERUN" -q "$1.pbc" x=in,raw y=out,raw &
    run=$!
    exec 6>in 7<out
    head -c $((4 * $2)) /dev/zero >&6 &
    timeout 60 head -c 4 <&7 >got
    exec 6>&-
    cat <&7 >rest
    exec 7<&-
    wait $run && [ "$(wc -c <got)" = 4 ]
}
check "the first output comes when the in-port has been filled twice" first_output free $(($(depth_of free) * 2))
check "and sooner with a declared depth" first_output bounded "$(depth_of free)"
