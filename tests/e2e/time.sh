#!/bin/sh
# SPDX-License-Identifier: MIT
# Cycles depend on the program, the input and the device only: neither on the number of host threads, nor on how
# LLVM has optimised the kernels, nor on how the host cuts its streams into pieces.
set -eu
cd "$TMP"

# Bytes that are nothing in particular, and the same for all runs below.
i=0
while [ $i -lt 40 ]; do cat "$ROOT/lang/reference.md"; i=$((i + 1)); done | head -c ${LONG:+1}200000 >bytes

# Data-dependent loops, branches and early ends; state; work-items; bounded and cyclo-static rates; a source that stops.
cat >mixed.pipe <<'PIPE'
kernel collatz(in u32 x, out u32 y) {
    u32 n = x % 1000 + 1;
    u32 rounds = 0;
    while (n != 1 && rounds < 200) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        rounds++;
    }
    y <- rounds;
}
kernel keep(in u32 x, out u32 y) {
    if (x % 3 != 0) y <- x;
}
kernel sums(in u32 x pop 8, out u32 y) group 8 {
    local u32 sum[8];
    sum[item.x] = x[item.x];
    barrier();
    for (i32 s = 4; s > 0; s >>= 1) {
        if (item.x < s) sum[item.x] += sum[item.x + s];
        barrier();
    }
    if (item.x == 0) y <- sum[0];
}
kernel total(in u32 x, out u32 y) {
    state u32 sum;
    if (x > 50) sum += x / 3;
    y <- sum;
}
kernel alternate(in u32 x, out u32 y push {1, 0, 2}) {
    if (phase == 0) y <- x;
    if (phase == 2) {
        for (u32 i = 0; i < 2; i++) y <- x > 40 ? x / (x % 7 + 1) : x;
    }
}
pipeline main(in u32 x, out u32 y) { x -> collatz -> keep -> total -> alternate -> sums -> y; }
PIPE

# cycles FILE: the statistics without what says how they were made
cycles() { grep -v '"host_threads"' "$1"; }

# run CONTAINER THREADS WORD...: the statistics in THREADS.json, the exit status in THREADS.status
run() {
    container=$1 threads=$2 status=0
    shift 2
    "$PIPERUN" -q "$container" --host-threads "$threads" --firings 3000 --stats="json:$threads.json" "$@" \
        >run.out 2>run.err || status=$?
    echo "$status" >"$threads.status"
}

# same NAME CONTAINER WORD...: the cycles with one host thread and with those of `threads`
same() {
    name=$1 of=$2
    shift 2
    rm -f 1.json
    for n in 1 $threads; do run "$of" "$n" "$@"; done
    if [ ! -s 1.json ]; then
        echo "not ok $name: no statistics"
        head -n 5 run.err
        return
    fi
    cycles 1.json >expected
    for n in $threads; do
        cycles "$n.json" >found
        cmp -s expected found && cmp -s 1.status "$n.status" && continue
        echo "not ok $name: other cycles with $n host threads"
        diff expected found | head -n 20
        return
    done
    echo "ok $name"
}

# ports FILE in|out: its outer ports
ports() { "$PIPEC" inspect "$1" | awk -v where=" $2-port " '/^buffer /{ on = 1 } on && index($0, where) { print $1 }'; }

# `make check` takes every second example, the devices in turn, fewer numbers of threads, and fewer single stages.
seen=0 devices=sim4 pipelines=100 threads=4
[ -z "${LONG-}" ] || devices='sim4 sim16' pipelines=400 threads='2 4'
for file in "$ROOT"/examples/*/*.pipe mixed.pipe; do
    title=$(basename "$file" .pipe)
    grep -q '^pipeline' "$file" || continue # kernels for others to import
    seen=$((seen + 1))
    [ -n "${LONG-}" ] || [ $((seen % 2)) = 1 ] || [ "$title" = mixed ] || continue
    if [ "$devices" = sim4 ]; then devices=sim16; elif [ "$devices" = sim16 ]; then devices=sim4; fi
    for device in $devices; do
        if ! "$PIPEC" --device "$device" "$file" -o "$device.pbc"; then
            echo "not ok $title on $device compiles"
            continue
        fi
        set --
        for port in $(ports "$file" in); do set -- "$@" "$port=bytes,raw"; done
        for port in $(ports "$file" out); do set -- "$@" "$port=null"; done
        same "$title on $device, whatever the host threads" "$device.pbc" "$@"
    done
done

# The host gives its bytes in pieces, and how long it takes is no simulated time.
"$PIPEC" mixed.pipe -o mixed.pbc
"$PIPERUN" -q mixed.pbc x=bytes,raw y=null --stats=json:whole.json
{ head -c 1001 bytes; sleep 0.2; tail -c +1002 bytes; } | "$PIPERUN" -q mixed.pbc x=-,raw y=null --stats=json:pieces.json
cycles whole.json >expected
cycles pieces.json >found
if cmp -s expected found; then echo "ok pieces of a stream"; else
    echo "not ok pieces of a stream"
    diff expected found | head -n 20
fi

# Costs are those of the typed kernel.
for level in 0 1 3; do
    "$PIPEC" "-O$level" mixed.pipe -o level.pbc
    "$PIPERUN" -q level.pbc x=bytes,raw y=null --stats=json:level.json
    cycles level.json >found
    if cmp -s expected found; then echo "ok cycles at -O$level"; else
        echo "not ok cycles at -O$level"
        diff expected found | head -n 20
    fi
done

# In the lanes of vectors and one by one, at borders and inside of a frame, the same is counted.
cat >windows.pipe <<'PIPE'
kernel columns(in i32 x window 3x3, out i32 y) {
    i32 s = 0;
    for (i32 r = -1; r <= 1; r++) {
        i32 c = (x[r][0] & 7) - 3;
        if (c >= -1 && c <= 1) s += x[r][c] * (r + 2);
        else s -= c;
    }
    y <- s;
}
pipeline main(in i32 x rows 97, out i32 y) { x -> columns -> y; }
PIPE
for level in 0 1 3; do
    "$PIPEC" "-O$level" windows.pipe -o windows.pbc
    "$PIPERUN" -q windows.pbc x=bytes,raw y=null --stats=json:windows.json
    cycles windows.json >found
    [ "$level" -gt 0 ] || cp found expected
    if cmp -s expected found; then echo "ok cycles of windows at -O$level"; else
        echo "not ok cycles of windows at -O$level"
        diff expected found | head -n 20
    fi
done

# Of a single stage a better device is never slower, which is a theorem.
if BUILD=$TMP PIPELINES=$pipelines "$ROOT/tests/bench/anomalies.sh" >anomalies; then echo "ok anomalies of single stages"; else
    echo "not ok anomalies of single stages"
    tail -n 5 anomalies
fi
