#!/bin/sh
# SPDX-License-Identifier: MIT
# Builtin kernels: which device executes what, what the clock and the reports say of it, and what editors and checks see.
set -eu
cd "$TMP"
. "$ROOT/tests/checks.sh"

cat >order.pipe <<'E'
builtin kernel order(in u32 x pop 8, out u32 y push 8) from "sort" else slow;
kernel slow(in u32 x pop 8, out u32 y push 8) {
    u32 v[8];
    for (i32 i = 0; i < 8; i++)
        v[i] = x[i];
    for (i32 n = 7; n > 0; n--)
        for (i32 i = 0; i < n; i++) {
            u32 a = v[i], b = v[i + 1];
            v[i] = min(a, b);
            v[i + 1] = max(a, b);
        }
    for (i32 i = 0; i < 8; i++)
        y <- v[i];
}
pipeline main(in u32 x, out u32 y) { x -> order -> y; }
E
cat >bare.pipe <<'E'
builtin kernel order(in u32 x pop 8, out u32 y push 8) from "sort";
pipeline main(in u32 x, out u32 y) { x -> order -> y; }
E

# ---- which device executes what ----

# node_of DEVICE FILE [OPTION]
node_of() { "$PIPEC" "$2" --device="$1" ${3:+"$3"} -o node.pbc && "$PIPEC" inspect node.pbc | grep '^node'; }
for on in 'sim16:order: order unit sort cost 44 ' 'cpu:order: order cost ' 'sim4:order: slow cost ' \
    'cuda:order: slow cost ' 'sim-h200:order: slow cost '; do
    check "$on" says 0 "^node ${on#*:}" node_of "${on%%:*}" order.pipe
done
"$PIPEC" order.pipe -o order.pbc
check "JSON of a container names the unit" says 0 '"unit": *"sort"' "$PIPEC" inspect --json order.pbc
check "JSON of a source does so, too" says 0 '"unit": *"sort"' "$PIPEC" inspect --json order.pipe
for device in sim16 cpu; do check "without a fallback $device has it" "$PIPEC" bare.pipe --device=$device; done
for device in sim1 sim4 cuda sim-h200; do
    check "$device refuses it by name" says 1 \
        "device '$device' has no unit 'sort' for 'order', which has no fallback \[builtin-kernel\]" \
        "$PIPEC" bare.pipe --device=$device
done
head -c 10240 "$ROOT/lang/reference.md" >x
"$PIPERUN" order.pbc x=x,raw y=sim16.out,raw
for device in cpu sim1 sim4 sim-h200; do
    "$PIPEC" order.pipe --device=$device -o other.pbc
    "$PIPERUN" other.pbc x=x,raw y=other.out,raw
    check "$device has the bits of sim16" cmp sim16.out other.out
done
"$PIPERUN" --device cpu order.pbc x=x,raw y=other.out,raw
check "a container of sim16 has them on cpu" cmp sim16.out other.out

# ---- the clock ----

# 320 firings of 44 cycles on 16 compute units; 20,480 bytes at 256 a cycle are hidden; 600 before and 200 after.
"$PIPERUN" --stats=json:stats order.pbc x=x,raw y=y.out,raw
check "a launch of 320 firings takes 1,680 cycles" grep -q '"latency_cycles": 1680,' stats
cat >fast.dev <<'E'
name = fast
cu_count = 1
lanes = 8
clock = 1 GHz
memory = 1 MiB
memory_bytes_per_cycle = 1024
launch_enqueue = 0
launch_process = 0
launch_cleanup = 0
unit_sort = 5
unit_sort_start = 3
E
# 3 + ceil(32 / 5) = 10 cycles each, one after the other.
"$PIPEC" order.pipe --device=fast.dev -o fast.pbc
"$PIPERUN" --device fast.dev --stats=json:stats fast.pbc x=x,raw y=y.out,raw
check "one core executes one firing at a time" grep -q '"compute_cycles": 3200,' stats
sed 's/x -> order -> y/x -> order() cost 25 -> y/' order.pipe >cost.pipe
check "the cost of an instance replaces that of the unit" says 0 'unit sort cost 25 ' node_of sim16 cost.pipe

# ---- descriptions, tests, fusion, editors ----

printf 'unit_hash_start = 3\n' >>fast.dev
check "a start without a rate is doubtful" says 1 'the device has no such unit \[doubtful-device\]' "$PIPEC" lint fast.dev
sed 's/cu_count/host = 1\ncu_count/' fast.dev >host.dev
check "units of the host are doubtful" says 1 'only simulated devices have fixed-function units' "$PIPEC" lint host.dev
cat >tested.pipe <<'E'
import "order.pipe";
test sorts of order { x = {8, 7, 6, 5, 4, 3, 2, 1}; expect y == {1, 2, 3, 4, 5, 6, 7, 8}; }
E
for device in sim16 sim4 cpu; do
    check "a test of a builtin kernel on $device" says 0 '1 ok, 0 failed' "$PIPEC" test --device=$device tested.pipe
done
cat >chain.pipe <<'E'
builtin kernel move(in u32 x pop 4, out u32 y push 4) from "copy" else pass;
kernel pass(in u32 x, out u32 y) { y <- x; }
kernel add(in u32 x, out u32 y) { y <- x + 1; }
pipeline main(in u32 x, out u32 y) { x -> add -> move -> add -> y; }
E
check "a kernel with other rates cannot stand for it" says 1 'their ports differ' "$PIPEC" chain.pipe --device=sim4
sed -i 's/^kernel pass.*/&\npipeline through(in u32 x, out u32 y) { x -> pass -> y; }/; s/else pass/else through/' chain.pipe
check "a unit is not fused with its neighbours" says 0 'is executed by a unit of the device' "$PIPEC" --fuse -Wnot-fused chain.pipe
check "a pipeline that stands for it is" says 0 'move[.]pass.*cost' node_of sim4 chain.pipe --fuse
check "the formatter leaves it as it is" "$PIPEC" fmt --check order.pipe
printf 'builtin kernel  order ( in u32 x pop 8,out u32 y push 8 )from "sort"else  slow < 8> ;\n' >loose.pipe
"$PIPEC" fmt loose.pipe
check "... and lays it out" grep -qx 'builtin kernel order(in u32 x pop 8, out u32 y push 8) from "sort" else slow<8>;' loose.pipe
check "the fallback is used" "$PIPEC" lint --fail-on=warning order.pipe
"$PIPEC" graph --format=cmds order.pipe >order.cmds
check "a command list has it" says 0 '^node order: order unit sort' node_of sim16 order.cmds
