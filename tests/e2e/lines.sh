#!/bin/sh
# SPDX-License-Identifier: MIT
# Costs of kernels where lines of memory count and loops of known rounds are unrolled (lang/time.md, "Lines"), by hand: 4 cycles
# for each line of 128 bytes that a warp reads and of 64 that it writes, on sim-h200; 1 for an operation of floats, 2 of integers.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
cat >lines.pipe <<'END'
kernel unit(in f32 x, out f32 y) { y <- x * 2; }
kernel wide(in f64 x, out f64 y) { y <- x; }
kernel narrow(in u8 x, out u8 y) { y <- x; }
kernel strided(in f32 x pop 32, out f32 y) { f32 s = 0; for (i32 i = 0; i < 32; i++) s += x[i]; y <- s; }
kernel one_of_32(in f32 x pop 32, out f32 y) { y <- x[7]; }
kernel many(in f32 x, out f32 y push 8) { for (i32 i = 0; i < 8; i++) y <- x; }
kernel slid(in f32 x peek 32 pop 1, out f32 y) { f32 s = 0; for (i32 i = 0; i < 32; i++) s += x[i]; y <- s; }
kernel gather(in u32 x pop 64, out u32 y) { y <- x[x[0] & 63]; }
kernel near(in u32 x peek 8 pop 1, out u32 y) { y <- x[x[0] & 7]; }
kernel sums(in f32 x, out f32 y) { state f32 s = 0; s += x; y <- s; }
kernel items(in f32 x pop 1024, out f32 y push 256) group 256 { i32 i = item.x; y[i] = x[4 * i + 3]; }
kernel turned(in f32 x pop 256, out f32 y push 256) group 16x16 { y[16 * item.x + item.y] = x[16 * item.y + item.x]; }
kernel rounds(in f32 x, out f32 y) { f32 s = x; for (i32 i = 0; i < 300; i++) s += 1; y <- s; }
END
# costs KERNEL TYPE CYCLES [DEVICE]: of a warp, or of a firing where firings follow each other.
costs() {
    { cat lines.pipe; echo "pipeline main(in $2 x, out $2 y) { x -> $1 -> y; }"; } >one.pipe
    found=$("$PIPEC" inspect --device "${4:-sim-h200}" one.pipe | sed -n "s/^cycles  *$1, .*: \([0-9]*\).*/\1/p")
    if [ "$found" = "$3" ]; then echo "ok $1 ${4-}: $3"; else echo "not ok $1 ${4-}: '$found', by hand $3"; fi
}
costs unit f32 13        # a line, two lines, a product
costs wide f64 24        # 2 and 4
costs narrow u8 8        # 1 and 1
costs strided f32 4136   # 32 x (32 lines and a sum), 2
costs one_of_32 f32 136  # 32, 2
costs many f32 544       # 8 x (1 and 16)
costs slid f32 168       # 32 x (1 line and a sum), 2
costs gather u32 266     # 32, an operation, 32, 2
costs near u32 22        # 1, an operation, 31 x 4 + 32 bytes: 2, 2
costs sums f32 9         # one lane: 1, a sum, 1
costs items f32 28       # 4, a product and a sum, 2
costs turned f32 148     # rows of 16 items twice: a line each to read, 16 to write; two products, two sums, 4 for x and y
costs rounds f32 1814    # more than 256 rounds: a line, 301 x 2, 300 x (1 + 2 + 1), two lines
costs unit f32 3 sim16   # lines do not count
costs strided f32 162 sim16
# A stride of 32 takes longer than one of 1 for the same packets.
cycles() { "$PIPEC" inspect --device sim-h200 --predict=4194304 "$1" | sed -n 's/^cycles *\([0-9]*\) on.*/\1/p'; }
{ cat lines.pipe; echo "pipeline main(in f32 x, out f32 y) { x -> strided -> y; }"; } >strided.pipe
{ cat lines.pipe; echo "pipeline main(in f32 x, out f32 y) { x -> unit -> y; }"; } >unit.pipe
check "a stride of 32 packets is slower than neighbours" test "$(cycles strided.pipe)" -gt "$(cycles unit.pipe)"
