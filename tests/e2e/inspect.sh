#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # what stands in single quotes is an inner shell's
# pipec inspect: JSON that parses, of sources that pass and that do not, and of containers, damaged ones too.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

bad='' count=0 seen=0 # `make check` inspects every third program
mkdir objects
for source in "$ROOT"/tests/lang/*.pipe "$ROOT"/tests/reject/*.pipe "$ROOT"/examples/*/*.pipe; do
    seen=$((seen + 1))
    [ -n "${LONG-}" ] || [ $((seen % 3)) = 0 ] || continue
    count=$((count + 1))
    "$PIPEC" inspect --json "$source" >"objects/$count" 2>/dev/null
    status=$?
    [ $status -le 1 ] || bad="$bad $source:$status"
    if [ $status -eq 0 ] && grep -Eq '"(consistent|deadlock_free)": false' "objects/$count"; then bad="$bad $source"; fi
done
bad="$bad $(unparsed objects/*)" bad=${bad% }
check "$count objects parse:$bad" test -z "$bad"

radio=$ROOT/examples/fmradio/fmradio.pipe
"$PIPEC" --no-fuse "$radio" -o radio.pbc || exit 1
"$PIPEC" inspect --json radio.pbc >object
sed -n '/^  "arguments": \[/,/^  \]/!p' object >without_arguments
check "the object of a container parses" parses object
check "it says who wrote it" grep -q '"isa": "x86-64-v3"' object
"$PIPEC" inspect --json --no-fuse --device sim16 "$radio" >source
for key in name kernel line repetitions pop peek push_max depth_packets threshold batch_max; do
    grep "\"$key\"" source >one
    grep "\"$key\"" without_arguments >other
    check "source and container agree on $key" cmp one other
done
# The schedule is read from the program, so a container has it as well.
cat >scheduled.pipe <<'END'
kernel scale(in i32 x, out i32 y) { y <- 3 * x; }
kernel slide(in i32 x peek 100, out i32 y) { y <- x[0] + x[99]; }
kernel some(in i32 x, out i32 y push 0..1) { if (x > 0) y <- x; }
kernel fours(in i32 x pop 4, out i32 y) { y <- x[0] + x[1] + x[2] + x[3]; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 a depth 4096, b depth 256;
    x -> scale -> a -> slide -> b -> fours -> y;
}
END
sed 's/-> fours -> y/-> some -> y/' scheduled.pipe >part.pipe
for one in scheduled part; do
    "$PIPEC" inspect --json --no-fuse --layout=sequence --device sim16 $one.pipe >$one.json
    "$PIPEC" -v --no-fuse --layout=sequence --device sim16 $one.pipe -o $one.pbc 2>$one.said
    "$PIPEC" inspect --json $one.pbc >$one.contained
    for key in kind prologue static_stages code_bytes static_bytes bytes_per_stage; do
        # shellcheck disable=SC2094 # the file "key" is not read here
        grep "\"$key\"" $one.json >key
        grep "\"$key\"" $one.contained >other
        check "$one: source and container agree on $key" cmp key other
    done
    sed -n '/"iterations"/,/"static_stages"/p' $one.json >key
    sed -n '/"iterations"/,/"static_stages"/p' $one.contained >other
    check "$one: source and container have the same iterations" cmp key other
done
check "all stages are static" grep -q '"kind": "static"' scheduled.json
check "what windows keep is primed" grep -q '"prologue": "(99 scale)"' scheduled.json
check "a stage whose rate varies is not static" grep -A3 '"guarded": \[' part.json
check "and says so" grep -Eq '"reason": "(what it appends to .y. varies|by whole runs [^"]* without a static schedule, [0-9]* with it)"' part.json
check "the iteration is one text" grep -Eq '^ *"(\([0-9 ]+)?\([0-9]+ (scale|slide)\).*\([0-9]+ fours\)\)?"$' scheduled.json
check "the text of a container has the iteration" says 0 '^         first \(99 scale\)$' "$PIPEC" inspect scheduled.pbc
check "and the bytes" says 0 '^program  [0-9]+ bytes of code, [0-9]+ of a static part; [0-9]+ a stage$' "$PIPEC" inspect scheduled.pbc
check "-v says what is static" grep -Eq '^pipec: schedule: static, 3 of 3 stages static; [0-9]+ bytes of code, [0-9]+ a stage$' scheduled.said
check "-v says what is not" grep -Eq "^pipec: schedule: (mixed|guarded), [02] of 3 stages static: ('some': what it appends|by whole runs)" part.said
cat >rates.pipe <<'END'
kernel uneven(in f32 x pop {3, 1}, out f32 y push {0..2, 1}) {
    if (phase == 0) { if (x[0] > 0) y <- x; if (x[1] > 0) y <- x; } else { y <- x; }
    finish push 3 { for (i64 i = 0; i < left(x); i++) y <- x[i]; }
}
pipeline main(in f32 x, out f32 y) { x -> uneven -> y; }
END
check "the text has rates, with phases, bounds and finish" says 0 \
    '^uneven +y +y +push \{0..2, 1\} finish 3$' "$PIPEC" inspect rates.pipe
check "and what is taken" says 0 '^uneven +x +x +pop \{3, 1\} peek \{3, 1\}$' "$PIPEC" inspect rates.pipe
# Every key that the manual lists is there, and no other; of kernels that launch nothing, none of those that tell what they do.
cat >launching.pipe <<'END'
child kernel leaf(in f32 x, out f32 y) { y <- x; }
kernel grow(in f32 x, out f32 y) { launch leaf(); }
kernel pass(in f32 x, out f32 y) { y <- x; }
pipeline main(in f32 x, out f32 y) { x -> grow -> pass -> y; }
END
"$PIPEC" inspect --json launching.pipe >launching
sed 's/^kernel pass\(.*\) { y <- x; }/extern kernel pass\1 from "pass.o" cost 3;/' launching.pipe >foreign.pipe
"$PIPEC" inspect --json foreign.pipe >foreign
echo 'kernel one(in f32 x, out f32 y) { y <- x + 1; }
kernel two(in f32 x pop 2, out f32 y) { y <- x[0] * x[1]; }
pipeline main(in f32 x, out f32 y) { x -> one -> two -> y; }' >fused.pipe
"$PIPEC" --device cpu fused.pipe -o fused.pbc && "$PIPEC" inspect --json fused.pbc >fused
check "the text of a container has the nodes of the program" says 0 '^    executes 2 one, 1 two$' "$PIPEC" inspect fused.pbc
check "so has its object" grep -A1 '"name": "one"' fused
if command -v python3 >/dev/null; then
    for object in source object launching foreign fused; do
        check "the documented keys of a $object" python3 - "$ROOT/lang/inspect.md" "$object" <<'END'
import json, re, sys
parts = re.split(r"^(A node:|A buffer:|`plan`:)", open(sys.argv[1]).read(), flags=re.M)
names = lambda part: {n for row in re.findall(r"^\| (`[^|]*) \|", part, re.M) for n in re.findall(r"`(\w+)`", row)}
found, top, node, buffer = json.load(open(sys.argv[2])), names(parts[0]), names(parts[2]), names(parts[4])
optional = {"counterexample", "container", "plan", "diagnostics", "arguments"} | ({"equal_bits"} if sys.argv[2] != "foreign" else set())
launches = {"launches", "nesting", "tree_launches", "queue_entries", "children"}
is_foreign = lambda n: sys.argv[2] == "foreign" and n["kernel"] == "pass"
is_fused = lambda n: sys.argv[2] == "fused" and n["name"] == "one+two"
of_node = lambda n: node - (set() if is_fused(n) else {"fused"}) - (set() if n["kernel"] == "grow" else launches) - (set() if is_foreign(n) else {"foreign"}) - {"unit"}
wrong = [(top ^ set(found)) - optional] + [of_node(n) ^ set(n) for n in found["nodes"]] + [buffer ^ set(b) for b in found["buffers"]]
sys.exit(str(wrong) if any(wrong) else 0)
END
    done
fi
cat >split.pipe <<'END'
kernel split(in f32 x pop 2, out f32 a, out f32 b push 2) { a <- x[0] + x[1]; b <- x[0]; b <- x[1]; }
kernel fir(in f32 x pop 8 peek 16, out f32 y push 8) { for (i32 i = 0; i < 8; i++) y <- x[i] + x[i + 8]; }
kernel slow(in f32 x pop 3, out f32 y push 3) { for (i32 i = 0; i < 3; i++) y <- x[i]; }
kernel join(in f32 p, in f32 q pop 2, out f32 y) { y <- p * q[0] + q[1]; }
pipeline main(in f32 x, out f32 y) {
    buffer f32 a, b, d;
    split(x -> a, b);
    a -> fir -> slow -> d;
    join(d, b -> y);
}
END
sed 's/ b, d/ b depth 35, d/' split.pipe >short.pipe
cat >phases.pipe <<'END'
kernel uneven(in f32 x pop {3, 1}, out f32 y push {1, 2}) { y <- x; if (phase == 1) y <- -x; }
pipeline main(in f32 x, out f32 y) { x -> uneven -> y; }
END
cat >accepted.pipe <<'END'
kernel peaks(in f32 x, out f32 level, out u32 place) { state u32 n; if (x > 0.5) level <- x; if (x > 0.5) place <- n; n++; }
kernel meet(in f32 v, in u32 p, out f32x2 y) { y <- f32x2(v, (f32)p); }
pipeline main(in f32 x, out f32x2 y) {
    buffer f32 level;
    buffer u32 place;
    peaks(x -> level, place); // pipec: allow(liveness-unproven) reason="both above 0.5"
    meet(level, place -> y);
}
END
# The page's budget for CI: passes, and fails for each of its reasons.
if command -v python3 >/dev/null; then
    awk '/^# budget.sh/ { keep = 1 } /^```$/ { keep = 0 } keep' "$ROOT/lang/inspect.md" >budget.sh
    PATH=$(dirname "$PIPEC"):$PATH
    cat >pace.pipe <<'END'
kernel sum(in i32 x, out i32 y) { state i32 s; s += x; y <- s; }
kernel copy(in i32 x, out i32 y) { y <- x; }
pipeline main(in i32 x, out i32 y) { buffer i32 m depth 64; x -> sum -> m -> copy importance 1 -> y; } // so they stay apart
END
    check "a budget that holds" sh budget.sh pace.pipe 256 1/1000
    check "too much memory" says 1 'take 256 bytes, 255 are allowed' sh budget.sh pace.pipe 255 1/1000
    check "too slow" says 1 'iterations per clock cycle, 2 are wanted' sh budget.sh pace.pipe 256 2/1
    check "a refused program" says 1 'depth of 36: 36 are enough' sh budget.sh short.pipe 1000 1/1000
fi
# The text of an iteration, and names with arrows in them.
check "an iteration in packets" says 0 "^iteration  48 packets from 'x', 24 packets to 'y'$" "$PIPEC" inspect --buffers=min split.pipe
check "what limits it" says 0 "^at depths .* 'fir' -> 'fir->slow' -> 'slow' -> 'd' -> 'join' -> room in" "$PIPEC" inspect --buffers=min split.pipe
check "phases count" says 0 "^iteration  4 packets from 'x', 3 packets to 'y'$" "$PIPEC" inspect phases.pipe
check "what the author accepts" says 0 "^accepted 'level' varies, and is not proven free of deadlock: both above 0.5$" "$PIPEC" inspect accepted.pipe
check "the text of a container" says 0 'stage 0 tune: threshold' "$PIPEC" inspect radio.pbc
check "the container on standard input" sh -c '"$0" inspect - <radio.pbc | grep -q "^pipeline fmradio"' "$PIPEC"
check "--json is inspect's" says 2 "belongs to 'pipec inspect'" "$PIPEC" --json "$radio"

size=$(wc -c <radio.pbc)
for at in 8 16 24 40 70 100 5000 $((size - 1)); do
    cp radio.pbc damaged.pbc
    byte=$(od -An -tu1 -j "$at" -N 1 radio.pbc)
    # shellcheck disable=SC2059 # the byte is the format
    printf "\\$(printf '%o' $((255 - byte)))" | dd of=damaged.pbc bs=1 seek=$at conv=notrunc 2>/dev/null
    check "byte $at damaged" says 1 'cannot|is not a container that can be shown: it' "$PIPEC" inspect --json damaged.pbc
done
for keep in 8 63 64 1000 $((size - 1)); do
    head -c "$keep" radio.pbc >short.pbc
    check "cut to $keep bytes" says 1 'is not a container that can be shown: it' "$PIPEC" inspect short.pbc
done
check "a full device" says 2 'cannot write' sh -c '"$0" inspect --json radio.pbc >/dev/full' "$PIPEC"

# A dispatch counts for as much as its buffers have readers, so with one in-port for so many stages a trial sees few of them.
awk 'BEGIN {
    n = 400
    print "kernel copy(in i32 x, out i32 y) { y <- x; }"
    printf "pipeline main(in i32 x"
    for (i = 0; i < n; i++) printf ", out i32 y%d", i
    print ") {"
    for (i = 0; i < n; i++) printf "    x -> copy -> y%d;\n", i
    print "}"
}' >fan.pipe
check "a trial of 400 stages at one in-port finds a figure" says 0 'by a trial [0-9]+ iterations take [0-9]+ cycles' "$PIPEC" inspect fan.pipe
check "and never the number of no figure" sh -c '! grep -q 18446744073709551615 text'
