#!/bin/bash
# SPDX-License-Identifier: MIT
# pipec bench: times of stages on several devices. Simulated times are exact; those of cpu are only looked at.
set -u
cd "$TMP" || exit 1
. "$ROOT/tests/checks.sh"
cat >smooth.pipe <<'E'
kernel average<int N>(in f32 x peek N, out f32 y) {
    f32 sum = 0;
    for (i32 i = 0; i < N; i++) sum += x[i];
    y <- sum / N;
}
kernel scale(in f32 x, out f32 y; f32 by) { y <- by * x; }
// stages of different importance are not fused
pipeline main(in f32 samples, out f32 smooth; f32 by = 10) { samples -> average<4> -> scale(by) importance 1 -> smooth; }
E
cat >several.pipe <<'E'
struct P { f32 a; i32 b; };
kernel pairs(in P p, in f32 x pop 2, out f32 y) { y <- p.a + x[0] + x[1]; }
kernel ones(out f32 y) { y <- 1; }
kernel times(in f32 x, out f32 y; f32 by) { y <- x * by; }
pipeline main(in P p, in f32 x, out f32 y, out f32 z) { pairs(p, x -> y); ones -> z; }
pipeline other(in f32 x, out f32 y; f32 by) { x -> times(by) -> y; }
E

check "a table has a row for each stage" says 0 "average  " "$PIPEC" bench --device=sim1,sim16 -n 4096 smooth.pipe
"$PIPEC" bench --device=sim1,sim16 -n 4096 smooth.pipe >table
check "and a column for each device" grep -qE '^stage +sim1 +sim16$' table
check "the fastest is named, with the ratios" grep -qE '^sim16 is the fastest simulated one: [0-9.]+ times as fast as sim1$' table
"$PIPERUN" smooth.pipe samples=gen:ramp:4096 smooth=null --device=sim16 --stats=json:stats.json -q
wanted=$(sed -n 's/.*"total_cycles": \([0-9]*\).*/\1/p' stats.json)
"$PIPEC" bench --json --device=sim16 -n 4096 smooth.pipe >times.json
check "the time of the run is that of piperun (1 GHz)" grep -q "\"run_ns\": $wanted,\$" times.json
wanted=$(sed -n 's/.*"name": "average".*"execute_cycles": \([0-9]*\).*/\1/p' stats.json)
check "and so is that of each stage" grep -q "{\"name\": \"average\", \"firings\": 4093, \"busy_ns\": $wanted}" times.json
check "simulated time is called so" grep -q '"time": "simulated"' times.json
check "on the host's cores it is real" says 0 '"time": "real"' "$PIPEC" bench --json --device=cpu:1 --rounds=1 -n 4096 smooth.pipe
"$PIPEC" bench -n 4096 smooth.pipe >table
check "without --device there are the host's cores" grep -qE '^stage +cpu:1 +cpu( |$)' table
sed 's/ importance 1//' smooth.pipe >fused.pipe
"$PIPEC" bench -n 4096 fused.pipe >table
check "neighbours that are one stage have one row" grep -q '^average+scale ' table
"$PIPEC" bench --json --device=sim4 --rounds=1 -n 1000 several.pipe -p main >times.json
check "inputs end together: pairs and their packets" grep -q '"name": "pairs", "firings": 500,' times.json
check "sources have as many firings" grep -q '"name": "ones", "firings": 1000,' times.json
check "an argument" says 0 "times" "$PIPEC" bench --device=sim4 -n 1000 several.pipe -p other -D by=2
check "that is missing is the run's error" says 2 "by" "$PIPEC" bench --device=sim4 -n 1000 several.pipe -p other
check "a device that does not exist" says 2 "there is no device 'no'" "$PIPEC" bench --device=no smooth.pipe
echo 'kernel k(in f32 x, out f32 y) { y <- z; } pipeline main(in f32 x, out f32 y) { x -> k -> y; }' >wrong.pipe
check "a program that is refused" says 1 "unknown-name" "$PIPEC" bench wrong.pipe
check "standard input is refused" says 2 "each run reads the source" "$PIPEC" bench - <smooth.pipe
check "two files are refused" says 2 "a second input file" "$PIPEC" bench smooth.pipe several.pipe
check "no packets are refused" says 2 "a number from 1" "$PIPEC" bench -n 0 smooth.pipe
check "no rounds are refused" says 2 "a number from 1 to 1000" "$PIPEC" bench --rounds=1001 smooth.pipe
check "a file that does not exist" says 2 "cannot read" "$PIPEC" bench none.pipe
cp smooth.pipe untouched.pipe
check "the source is not overwritten" says 2 "'smooth.pipe' is the input" "$PIPEC" bench --device=sim4 --rounds=1 -n 100 \
    --diagnostics=json:smooth.pipe smooth.pipe
check "it is as it was" cmp smooth.pipe untouched.pipe
cp "$ROOT/tests/fuzz/corpus/devdesc/sim16.dev" mine.dev
check "nor is the description of a device" says 2 "'mine.dev' is a file that this command reads" "$PIPEC" bench --device=sim4,mine.dev \
    --rounds=1 -n 100 --diagnostics=json:mine.dev smooth.pipe
check "that is as it was, too" cmp mine.dev "$ROOT/tests/fuzz/corpus/devdesc/sim16.dev"
mkdir alone
cp "$PIPEC" alone/pipec
check "without piperun" env PATH=/nowhere /bin/bash -c '! ./alone/pipec bench smooth.pipe 2>said && /bin/grep -q "cannot start .piperun." said'
