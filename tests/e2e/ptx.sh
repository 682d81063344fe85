#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kernels as PTX: all programs compile, `ptxas` (where it is installed) takes them, no instruction can change bits, and no
# load goes through the cache that is not coherent. Containers with images for GPUs: what runs them, what refuses them.
# shellcheck disable=SC2317 # functions are called through check
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

ptxas=$(command -v ptxas || { [ ! -x /usr/local/cuda/bin/ptxas ] || echo /usr/local/cuda/bin/ptxas; })

# ---- all programs ----

# programs: each with its pipeline, a line each.
programs() {
    local file
    for file in "$ROOT"/tests/lang/*.pipe; do echo "$file"; done
    for file in "$ROOT"/tests/std/*.pipe "$ROOT"/examples/*/*.pipe; do
        sed -n "s|^pipeline \\([a-z_0-9]*\\)(.*|$file -p \\1|p" "$file"
    done
}
# `make check` takes every eighth program.
part=8
[ -z "${LONG-}" ] || part=1
mkdir all
count=0 taken=0
: >refused
while read -r file options; do
    count=$((count + 1))
    [ $((count % part)) = 0 ] || continue
    taken=$((taken + 1))
    read -ra words <<<"$options $(sed -n 's/^\/\/ compile: //p' "$file")"
    "$PIPEC" --device=cuda "${words[@]}" --emit=ptx:all/$taken.ptx "$file" 2>said ||
        { echo "$file $options"; cat said; } >>refused
done < <(programs)
check "there are programs" [ "$count" -gt 150 ]
none_in() { [ ! -s "$1" ] || { cat "$1"; return 1; }; }
check "all of them compile for GPUs" none_in refused
grep -nE '^[[:space:]]*(@!?%p[0-9]+ )?ld[a-z.0-9]*\.nc\b' all/*.ptx >coherent || true
check "no load goes past coherence" none_in coherent
grep -nE '\.(ftz|approx|full)\b' all/*.ptx >inexact || true
check "no instruction flushes or approximates" none_in inexact
grep -nE '\b(div|sqrt|rcp|add|sub|mul|fma)\.(rz|rm|rp)' all/*.ptx >rounded || true
check "all round to nearest" none_in rounded

# assembled ARCHITECTURE: by ptxas, all of them.
assembled() {
    local file
    for file in all/*.ptx; do
        "$ptxas" -arch="$1" -c "$file" -o cubin >said 2>&1 || { echo "$file"; cat said; return 1; }
    done
}
for architecture in sm_80 sm_90; do
    if [ -n "$ptxas" ]; then
        check "ptxas assembles them for $architecture" assembled $architecture
    else
        echo "skip ptxas assembles them for $architecture: ptxas is not installed"
    fi
done

# ---- instructions ----

cat >sum.pipe <<'END'
kernel sum(in f32 a, in f32 b, out f32 y) { y <- a * b + a / b + sqrt(a); }
kernel exact(in f32 x, out f32 y) { y <- fma(x, x, x); }
pipeline main(in f32 a, in f32 b, out f32 y, out f32 z) { sum(a, b -> y); exact(a -> z); }
END
"$PIPEC" --device=cuda --emit=ptx:sum.ptx sum.pipe
has() { grep -qE "$2" "$1" || { cat "$1"; return 1; }; }
for operation in mul.rn.f32 div.rn.f32 sqrt.rn.f32 add.rn.f32; do
    check "$operation" has sum.ptx "\b$operation\b"
done
# Kernel `exact` is there twice: for one firing, and for eight at the same time.
check "a product and a sum are two operations, fma is one" [ "$(grep -c 'fma\.rn\.f32' sum.ptx)" = 9 ]
cat >strided.pipe <<'END'
kernel swap(in u32 x pop 2, out u32 y push 2) { y <- x[1]; y <- x[0]; }
pipeline main(in u32 x, out u32 y) { x -> swap -> y; }
END
"$PIPEC" --device=cuda --emit=ptx:strided.ptx strided.pipe
check "firings are strided over the threads of all blocks" has strided.ptx '%ntid\.x'
check "and begin with the number of the thread" has strided.ptx '%tid\.x'
check "blocks of packets lie in shared memory" has strided.ptx '\.extern \.shared .*pipe_tiles'
check "they are read there" has strided.ptx 'ld\.shared'
check "and written" has strided.ptx 'st\.shared'
check "the warp waits for its copies" has strided.ptx 'bar\.warp\.sync'
cat >light.pipe <<'END'
kernel half(in f32 x, out f32 y) { y <- x * 0.5; }
pipeline main(in f32 x, out f32 y) { x -> half -> y; }
END
"$PIPEC" --device=cuda --emit=ptx:light.ptx light.pipe
# Of a thread's eight firings all packets are loaded before one is stored.
together() { grep -oE '(ld|st)\.(b|f)32' light.ptx | tr -d '\n' | grep -qE '(ld\.[bf]32){8}(st\.[bf]32){8}' || { cat light.ptx; return 1; }; }
check "light firings load together" together
cat >swaps.pipe <<'END'
kernel reversed(in u32 x pop 16, out u32 y push 16) {
    u32 s[16];
    for (i32 i = 0; i < 16; i++) s[i] = x[i] * 3;
    for (i32 i = 0; i < 16; i++) y <- s[15 - i];
}
pipeline main(in u32 x, out u32 y) { x -> reversed -> y; }
END
"$PIPEC" --device=cuda --emit=ptx:swaps.ptx swaps.pipe
lacks() { ! grep -E "$2" "$1"; }
check "a small array lies in registers" lacks swaps.ptx '\.local'
cat >choice.pipe <<'END'
kernel small(in u8 x pop 1, out u8 y push 0..1) { if (x < 9) y <- x; }
kernel last(in u8 x, out u8 y) { state u8 s; y <- s; s = x; finish { y <- s; } }
kernel chosen(in i32 x, out i32 y) { y <- 100 / x; }
pipeline main(in u8 x, in i32 n, out u8 y, out i32 z) { x -> small -> last -> y; n -> chosen -> z; }
END
"$PIPEC" --device=cuda --emit=ptx:choice.ptx choice.pipe
check "a firing that faults lowers the number that count" has choice.ptx 'atom[a-z.]*\.min\.u64'
check "the switch calls every entry" [ "$(grep -c 'call.*pipe_k[0-9]*_\(run\|finish\)' choice.ptx)" -ge 4 ]

# ---- containers ----

"$PIPEC" --device=cuda sum.pipe -o gpu.pbc
"$PIPEC" --march=sm_80 sum.pipe -o only.pbc
"$PIPEC" --march=sm_80,x86-64-v3,sm_90 sum.pipe -o three.pbc
"$PIPEC" --march=sm_90,sm_80,x86-64-v3 sum.pipe -o three_too.pbc
check "the order of the list is of no matter" cmp three.pbc three_too.pbc
check "inspect says what each image needs" says 0 '^image +sm_90: [0-9]+ bytes; needs a GPU of compute capability 9.0$' \
    "$PIPEC" inspect three.pbc
check "the image of an older GPU is the last" says 0 '"isa": "x86-64-v3,sm_90,sm_80"' "$PIPEC" inspect --json three.pbc
check "both kinds are verified" says 0 'no deadlock is possible' "$PIPERUN" verify three.pbc
ports=(a=gen:ramp:4 b=gen:ramp:4 y=null "z=-,csv")
check "the cores run what is compiled for a GPU" says 0 '^12$' "$PIPERUN" --device cpu gpu.pbc "${ports[@]}"
check "a simulated GPU runs a container of both kinds" says 0 '^12$' "$PIPERUN" three.pbc "${ports[@]}"
check "images for GPUs alone are no error to verify" says 0 'no deadlock is possible' "$PIPERUN" verify only.pbc
for device in cpu sim16; do
    check "$device refuses images for GPUs alone" says 6 'only images for GPUs \(sm_80\); add .*--march=x86-64-v3,sm_80' \
        "$PIPERUN" --device $device only.pbc "${ports[@]}"
done
check "a description of a GPU is one" says 0 'cuda *= 1' "$PIPERUN" partition h100 equally 4 --describe 1
printf 'name = both\ncu_count = 2\nlanes = 4\nhost = 1\ncuda = 1\nclock = 1 GHz\nmemory = 1 GiB\nmemory_bytes_per_cycle = 8\n' >both.dev
check "a device is not the host and a GPU" says 1 "both.dev:5:8: error: a device is the host's cores or a GPU, not both" \
    "$PIPEC" --device=both.dev sum.pipe

check "the list of sets names those of GPUs" says 2 "there is no instruction set 'sm_70'; .*sm_80, sm_86, sm_89, sm_90" \
    "$PIPEC" --march=sm_70 sum.pipe

# ---- on a GPU ----

outcome=0
BUILD=$(dirname "$PIPERUN") "$ROOT/tests/gpu/bundle.sh" "$TMP/bundle" "$ROOT"/tests/lang/{fir,ranges_in_step,items_fault}.pipe >said 2>&1 &&
    bundle/run.sh >said 2>&1 || outcome=$?
equal() {
    cat said
    [ "$outcome" = 0 ] && grep -q '^6 programs, 0 differ$' said
}
if [ "$outcome" = 77 ]; then
    echo "skip kernels are the same on this machine's GPU: $(sed -n 's/^skip gpu_check: //p' said)"
else
    check "kernels are the same on this machine's GPU" equal
fi
