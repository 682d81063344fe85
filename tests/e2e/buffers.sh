#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --buffers=min, fast and default give the same bytes; what they say of the memory is true of each other.
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

cat > join.pipe <<'EOF'
kernel fork(in i32 x, out i32 a, out i32 b) { a <- x; b <- x; }
kernel window(in i32 x peek 40, out i32 y) {
    i32 s = 0;
    for (i32 i = 0; i < 40; i++) s += x[i];
    y <- s;
}
kernel pass(in i32 x, out i32 y) { y <- x; }
kernel pairs(in i32 x pop 3, out i32 y push 2) { y <- x[0] + x[1]; y <- x[2]; }
kernel add(in i32 a, in i32 b, out i32 y) { state i32 n; n += 1; y <- a + b + n; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 a, b, c, d, e, sums;
    fork(x -> a, b);
    window(a -> c);
    pass(b -> d);
    pass(d -> e);
    add(c, e -> sums);
    sums -> pairs -> y;
}
EOF
for mode in default min fast; do
    "$PIPEC" --buffers=$mode join.pipe -o $mode.pbc
    "$PIPERUN" $mode.pbc x=gen:ramp:5000 y=raw.$mode,raw:i32le 2>/dev/null
    "$PIPEC" inspect --json --device sim16 --buffers=$mode join.pipe >json.$mode
    sed -n 's/^  "memory_bytes": \([0-9]*\),$/\1/p' json.$mode >bytes.$mode
done
check "min gives the bytes of default" cmp raw.default raw.min
check "fast gives the bytes of default" cmp raw.default raw.fast
check "there are some" test -s raw.min
check "min takes no more memory than fast" test "$(cat bytes.min)" -le "$(cat bytes.fast)"
check "fast takes no more memory than default" test "$(cat bytes.fast)" -le "$(cat bytes.default)"
check "min is exactly the least" grep -q '"memory": true' json.min
check "its lower bound is its memory" grep -q "\"memory_least_bytes\": $(cat bytes.min)," json.min
check "default claims no least" grep -q '"memory": null' json.default
check "inspect says so" says 0 'exactly the minimum that is free of deadlock' "$PIPEC" inspect --buffers=min join.pipe
"$PIPEC" inspect --pareto --json join.pipe >front
check "the first row is the least memory" \
    test "$(sed -n 's/^ *"memory_bytes": \([0-9]*\),$/\1/p' front | sed -n 2p)" = "$(cat bytes.min)"
check "the front parses" parses front
check "the graph shows the depths of the mode" says 0 'depth 40' "$PIPEC" graph --buffers=min join.pipe

# A depth that is declared stays, and is checked, in every mode.
sed 's/buffer i32 a, b, c/buffer i32 c, a depth 64, b/; s/, e, sums/, e depth 7, sums/' join.pipe >declared.pipe
for mode in min fast; do
    "$PIPEC" inspect --buffers=$mode declared.pipe >text
    check "a declared depth stays with $mode" grep -Eq '^a +i32 +64 ' text
done
sed 's/buffer i32 a, b, c, d, e, sums/buffer i32 a depth 39, b, c, d, e, sums/' join.pipe >small.pipe
for mode in min fast; do
    check "and is refused with $mode" says 1 "holds 39 packets" "$PIPEC" --buffers=$mode small.pipe
done

# A pipeline that is accepted without a proof has the depths of the default.
cat > accepted.pipe <<'EOF'
kernel fork(in i32 x, out i32 a, out i32 b) { a <- x; b <- x; }
kernel some(in i32 x, out i32 y) { if (x % 2 == 0) y <- x; }
kernel add(in i32 a, in i32 b, out i32 y) { y <- a + b; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 a, b, c;
    fork(x -> a, b);
    // pipec: allow(liveness-unproven) reason="the data are short"
    some(a -> c);
    add(c, b -> y);
}
EOF
check "no least without a proof" says 0 'as by default' "$PIPEC" inspect --buffers=min accepted.pipe
check "nor a whole front" says 0 'not complete' "$PIPEC" inspect --pareto accepted.pipe

# Beyond the budget, what the help says is enough.
for source in "$ROOT"/tests/reject/liveness_undecided_depth.pipe \
    "$ROOT"/tests/reject/buffer_depth_beyond_budget.pipe; do
    "$PIPEC" inspect "$source" >/dev/null 2>text || true
    depth=$(sed -n "s/^help: give 'b' a depth of \([0-9]*\): .*/\1/p" text)
    sed "s/b depth [0-9]*/b depth $depth/" "$source" >cured.pipe
    check "the depth that ${source##*/} is told is enough" "$PIPEC" cured.pipe -o cured.pbc
done

# By the clock of a simulated device: the front ends with --buffers=fast, which is as fast as the default.
cat >trio.pipe <<'EOF'
kernel a(out f32 y push 2) { state f32 count; y <- count; y <- count; count += 1; }
kernel b(in f32 x pop 3, out f32 y) { state f32 sum; sum += x[0] + x[1] + x[2]; y <- sum; }
kernel c(in f32 x pop 2, out f32 y) { state f32 last; y <- last + x[0]; last = x[1]; }
pipeline main(out f32 y) { buffer f32 alpha, beta; a(-> alpha); alpha -> b -> beta -> c -> y; }
EOF
# cycles_of OPTION...: of 20,000 packets, or firings of the source, without running them.
cycles_of() { "$PIPEC" inspect --json --no-fuse --predict=20000 "$@" | sed -n 's/^ *"cycles": \([0-9]*\),$/\1/p'; }
# numbers_of MEMBER FILE: all numbers of that name in the object `plan`.
numbers_of() { sed -n "/^  \"plan\"/,\$s/^ *\"$1\": \([0-9]*\),*$/\1/p" "$2"; }
is_nearly_as_fast() { [ "$1" -gt 0 ] && [ $(($1 * 20)) -le $(($2 * 21)) ]; }
for device in sim16 sim-h200; do
    for source in trio.pipe join.pipe "$ROOT/examples/fmradio/fmradio.pipe"; do
        name=$device.$(basename "$source" .pipe)
        [ -n "${LONG-}" ] || [ "$name" != sim-h200.fmradio ] || continue # `make check-long` only
        for mode in default min fast; do
            "$PIPEC" inspect --json --no-fuse --device=$device --buffers=$mode "$source" >"$name.$mode"
            cycles_of --device=$device --buffers=$mode "$source" >"$name.$mode.cycles"
        done
        "$PIPEC" inspect --json --no-fuse --device=$device --pareto "$source" >"$name.front"
        fast=$(numbers_of buffers_bytes "$name.fast") rows=$(numbers_of memory_bytes "$name.front")
        check "$name: fast is as fast as the default" is_nearly_as_fast "$(cat "$name.fast.cycles")" "$(cat "$name.default.cycles")"
        check "$name: min is slower" test "$(cat "$name.min.cycles")" -gt "$(cat "$name.fast.cycles")"
        check "$name: fast has no more memory" test "$fast" -le "$(numbers_of buffers_bytes "$name.default")"
        check "$name: the front begins with the least memory" test "${rows%%$'\n'*}" = "$(numbers_of buffers_bytes "$name.min")"
        check "$name: and ends with that of fast" test "${rows##*$'\n'}" = "$fast"
        check "$name: it has points between" test "$(wc -l <<<"$rows")" -gt 2
    done
done
check "fast has a part of the memory" \
    test $(($(numbers_of buffers_bytes sim16.fmradio.fast) * 2)) -lt "$(numbers_of buffers_bytes sim16.fmradio.default)"
check "it says how it was found" says 0 '^memory .*: the smallest found at full speed, by trials .* with the depths of the default$' \
    "$PIPEC" inspect --buffers=fast trio.pipe
"$PIPEC" inspect --device=sim-h200 --no-fuse --pareto trio.pipe >timed
"$PIPEC" inspect --device=cpu --pareto trio.pipe >untimed
check "a table of the clock" says 0 '^memory against throughput of pipeline main by the clock of sim-h200$' cat timed
check "its ports are chosen, too" says 0 ' y 1, alpha 4, beta 2$' cat timed
check "a device without a clock has the idealised one only" sh -c '! grep "by the clock" untimed'
check "there fast is idealised" says 0 '^memory .*idealised maximum of throughput' "$PIPEC" inspect --device=cpu --buffers=fast --no-fuse trio.pipe

# A long table is a selection; a pipeline without a maximum has no last row.
cat >line.pipe <<'EOF'
kernel pass(in f32 x, out f32 y) { y <- x; }
pipeline main(in f32 x, out f32 y) { buffer f32 between; x -> pass -> between -> pass -> y; }
EOF
"$PIPEC" inspect --no-fuse --pareto line.pipe | sed '1,/^idealised/d' >table
"$PIPEC" inspect --no-fuse --pareto --json line.pipe >front
check "the table says first that it is not complete" says 0 '^memory against throughput of pipeline main, not complete$' head -1 table
check "all rows of a long table are in the object" test "$(grep -c "\"part\"" front)" -eq 256
check "the table is a selection" test "$(grep -c ' between [0-9]*$' table)" -lt 32
check "of the first rows all" says 0 ' 8.00  between 8$' cat table
check "then those that are a quarter faster" says 0 ' 10.00  between 10$' cat table
check "not the others" sh -c '! grep " between 9$" table'
check "and the last" says 0 ' 256.00  between 256$' cat table
shown=$(grep -c ' between [0-9]*$' table)
check "it says how many are left out" says 0 "^left out: $((256 - shown)) rows" cat table
