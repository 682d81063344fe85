#!/bin/sh
# SPDX-License-Identifier: MIT
# The loop over firings is inside the batch function, and LLVM sees vectors of neighbouring firings in it.
set -eu
cd "$TMP"
cat >pointwise.pipe <<'END'
kernel affine(in f32 x, out f32 y; f32 a, f32 b) { y <- x * a + b; }
pipeline main(in f32 x, out f32 y; f32 a = 2, f32 b = 3) { x -> affine(a, b) -> y; }
END
cat >fir.pipe <<'END'
kernel fir<int N>(in f32 x peek N, out f32 y) {
    table f32 taps[N];
    init { for (i32 i = 0; i < N; i++) taps[i] = 1 / (f32)(i + 1); }
    f32 acc = 0;
    for (i32 i = 0; i < N; i++) acc = fma(x[i], taps[i], acc);
    y <- acc;
}
pipeline main(in f32 x, out f32 y) { x -> fir<64> -> y; }
END
cat >scan.pipe <<'END'
kernel sum(in f32 x, out f32 y) { state f32 s; s += x; y <- s; }
pipeline main(in f32 x, out f32 y) { x -> sum -> y; }
END

cat >box.pipe <<'END'
import "std/image.pipe";
pipeline main(in u8 x frame 640x480, out u8 y) { x -> box3 -> y; }
END

# code FILE: the batch function after optimisation, without the entry that unpacks its arguments.
code() { "$PIPEC" --emit=llvm "$1.pipe" | awk '/^define/ { run = /\.run\(/ } run'; }
expect() { if code "$2" | grep -Eq "$3"; then echo "ok $1"; else echo "not ok $1"; fi; }
expect "a pointwise kernel multiplies vectors" pointwise 'fmul <(8|16) x float>'
expect "a FIR accumulates neighbouring firings in lanes" fir 'call <(8|16|32) x float> @llvm\.fma\.v'
expect "there is one call for a batch: the loop is inside" pointwise 'phi i64'
if code scan | grep -q 'fadd <'; then
    echo "not ok a running sum is not reassociated"
else
    echo "ok a running sum is not reassociated"
fi
# Six for three rows of three columns: each brings the packets of two columns.
pairs=$("$PIPEC" --device=cpu --emit=llvm box.pipe | grep -Ec 'load <[0-9]+ x i16>, .*align 1')
if [ "$pairs" = 6 ]; then echo "ok bytes of two firings are loaded in one word"; else echo "not ok $pairs loads of words"; fi
cat >table.pipe <<'END'
kernel look_up(in u32 x, out u32 y) {
    const u32 box[16] = {12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2};
    y <- box[x & 15];
}
pipeline main(in u32 x, out u32 y) { x -> look_up -> y; }
END
# tables INSTRUCTION_SET PERMUTATION: it is there, and no items are put together in lanes; LLVM's own vectors have eight.
tables() {
    "$PIPEC" --device=cpu "--march=$1" --emit=llvm table.pipe >table.ll
    if grep -q "call .*$2" table.ll && ! grep -Eq 'insertelement <(16|32|64) ' table.ll; then
        echo "ok items of a small table are selected from registers of $1"
    else
        echo "not ok items of a small table are selected from registers of $1"
    fi
}
tables x86-64-v3 'avx2\.permd(<8 x i32>'
tables x86-64-v4 'avx512\.permvar\.si\.512(<16 x i32>'
"$PIPEC" --emit=asm fir.pipe >fir.s
if grep -q 'vfmadd.*ymm' fir.s; then echo "ok the FIR's assembly has vector fma"; else echo "not ok the FIR's assembly has vector fma"; fi
"$PIPEC" --emit=obj:fir.o fir.pipe
if nm -u fir.o | grep -vE ' (memcpy|memmove|memset)$' | grep -q .; then
    echo "not ok kernels call nothing from outside: $(nm -u fir.o | tr '\n' ' ')"
else
    echo "ok kernels call nothing from outside"
fi
