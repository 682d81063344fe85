#!/bin/sh
# SPDX-License-Identifier: MIT
# One source on 1, 4, 16 and 132 compute units: the plan uses them, its trial foretells what the run takes, the bits stay
# the same; and of closed streams nothing is left, whatever their length.
# shellcheck disable=SC2317 # functions called by check
set -u
cd "$TMP" || exit 1
. "$ROOT/tests/checks.sh"

for cus in 1 4 16 132; do
    sed -E "s/^name .*/name = cus$cus/; s/^(cu_count|max_sub_devices) .*/\\1 = $cus/; /^(cus_per|cache)_/d; s/ by_affinity//" \
        "$ROOT/lang/devices/sim16.dev" >"cus$cus.dev"
done
"$PIPEC" "$ROOT/examples/fmradio/transmitter.pipe" -o rf.pbc
"$PIPERUN" -q rf.pbc voice="$ROOT/examples/fmradio/voice.wav" rf=rf.raw
head -c 1000000 rf.raw >text.u8

# plan FILE CUS: what inspect says is in `plan.FILE.CUS`; run FILE CUS PORT=..: statistics in `run.FILE.CUS`.
plan() { "$PIPEC" inspect --no-fuse --device "cus$2.dev" "$ROOT/examples/$1.pipe" >"plan.$(basename "$1").$2"; }
run() {
    program=$(basename "$1") cus=$2
    "$PIPEC" -O0 --no-fuse --device "cus$cus.dev" "$ROOT/examples/$1.pipe" -o "$program.$cus.pbc" || return
    shift 2
    "$PIPERUN" -q --device "cus$cus.dev" --stats="json:run.$program.$cus" "$program.$cus.pbc" "$@"
}
figure() { sed -n "s/^  \"$1\": \\([0-9]*\\),*$/\\1/p" "$2"; }

# foretold FILE CUS PACKETS PERCENT: cycles of the run and those that the trial makes of so many packets differ by less.
foretold() {
    which=$(basename "$1").$2
    awk -v packets="$3" -v percent="$4" -v ran="$(figure total_cycles "run.$which")" -v which="$which" '
        /^policy / && match($0, /by a trial [0-9]+ iterations? takes? [0-9]+ cycles/) {
            split(substr($0, RSTART, RLENGTH), word, " "); iterations = word[4]; cycles = word[7]
        }
        /^iteration / { each = $2 }
        END {
            if (each == 0 || iterations == 0) exit 1
            said = cycles / iterations * (packets / each)
            error = 100 * (said - ran) / ran
            printf "    %s: %.0f cycles foretold, %.0f taken, %+.1f%%\n", which, said, ran, error
            exit !(error < percent && error > -percent)
        }' "plan.$which"
}

for cus in 1 4 16 132; do
    plan fmradio/fmradio "$cus"
    run fmradio/fmradio "$cus" rf=rf.raw audio=audio.$cus.raw
    plan cipher/chacha20 "$cus"
    run cipher/chacha20 "$cus" text=text.u8 "cipher=cipher.$cus.u8"
    plan fmradio/transmitter "$cus"
    run fmradio/transmitter "$cus" voice="$ROOT/examples/fmradio/voice.wav" "rf=rf.$cus.raw"
done
samples=$(($(wc -c <rf.raw) / 4)) voice=$(($(wc -c <rf.raw) / 128))
for cus in 1 4 16; do
    check "fmradio: the trial foretells $cus CUs" foretold fmradio/fmradio $cus $samples 3
    check "cipher: the trial foretells $cus CUs" foretold cipher/chacha20 $cus 1000000 6
    check "transmitter: the trial foretells $cus CUs" foretold fmradio/transmitter $cus $voice 5
done
check "fmradio: the trial foretells 132 CUs" foretold fmradio/fmradio 132 $samples 10

same() { cmp -s "$1.1.$2" "$1.4.$2" && cmp -s "$1.1.$2" "$1.16.$2" && cmp -s "$1.1.$2" "$1.132.$2"; }
check "the same audio on each" same audio raw
check "the same cipher text on each" same cipher u8

check "one compute unit: in sequence" grep -q '^mode     in sequence: 14 stages share 1 CU: ' plan.fmradio.1
check "sixteen: groups, and what else was tried" \
    grep -Eq '^mode     in groups: [2-8] groups of stages, .*; by a trial [0-9]+ iterations take [0-9]+ cycles, in sequence [0-9]+, side by side [0-9]+' \
    plan.fmradio.16
check "a hundred: several sub-devices" grep -Eq '^mode     (side by side|in groups): ' plan.fmradio.132
# parts STATISTICS: the sub-devices are busy for so many times the cycles of the run, all together
at_once() {
    awk -v total="$(figure total_cycles "$1")" -v least="$2" -v most="$3" '
        /"root": / && match($0, /"busy_cycles": [0-9]+/) { busy += substr($0, RSTART + 15, RLENGTH - 15) }
        END { times = busy / total; printf "    %.2f at a time\n", times; exit !(times >= least && times <= most) }' "$1"
}
check "on one they follow each other" at_once run.fmradio.1 0.9 1.01
check "on 16 they execute at the same time" at_once run.fmradio.16 2 16
check "on 132 too" at_once run.fmradio.132 3 132
faster() { [ "$(figure total_cycles "run.$1.$2")" -gt $(($(figure total_cycles "run.$1.$3") * $4)) ]; }
check "fmradio: 4 CUs are thrice as fast as one" faster fmradio 1 4 3
check "fmradio: 16 CUs are twelve times as fast" faster fmradio 1 16 12
check "fmradio: 132 CUs are four times as fast as 16" faster fmradio 16 132 4
check "cipher: 16 CUs are six times as fast" faster chacha20 1 16 6
check "transmitter: its stages with state execute at the same time" faster transmitter 1 16 2

# ---- what is asked for ----

# wished LAYOUT CUS MODE: inspect says so, and the audio is the same.
wished() {
    "$PIPEC" inspect --no-fuse --layout="$1" --device "cus$2.dev" "$ROOT/examples/fmradio/fmradio.pipe" >text
    grep -q "^mode     $3" text || { cat text && return 1; }
    "$PIPEC" -O0 --no-fuse --layout="$1" --device "cus$2.dev" "$ROOT/examples/fmradio/fmradio.pipe" -o wished.pbc
    head -c 400000 rf.raw >short.raw
    "$PIPERUN" -q --device "cus$2.dev" wished.pbc rf=short.raw audio=wished.raw
    head -c "$(wc -c <wished.raw)" audio.16.raw | cmp - wished.raw
}
check "in sequence, because asked for" wished sequence 16 'in sequence: asked for'
check "side by side, because asked for" wished side-by-side 16 'side by side: asked for'
check "in groups, because asked for" wished groups 132 'in groups: asked for'
check "what the device does not admit" wished side-by-side 4 'in sequence: side by side was asked for and cannot be had'
check "one compute unit is shared in turn" wished groups 1 'in sequence: in groups was asked for and cannot be had'
for policy in round_robin priority fullest; do
    check "policy $policy, because asked for" says 0 "^policy   $policy: declared" \
        "$PIPEC" inspect --policy=$policy "$ROOT/examples/fmradio/fmradio.pipe"
done
check "auto instead of what the pipeline declares" says 0 '^policy   auto: ' "$PIPEC" inspect --policy=auto "$ROOT/tests/lang/policy_fullest.pipe"
check "an unknown layout" says 2 'layout=three: auto, sequence, side-by-side or groups' "$PIPEC" --layout=three tail.pipe
check "an unknown policy" says 2 'policy=three: auto, round_robin, priority or fullest' "$PIPEC" --policy=three tail.pipe
check "debug mode is in sequence" says 2 'debug-mode runs all stages in sequence' "$PIPEC" --debug-mode --layout=groups tail.pipe

# ---- static schedules ----

cat >unlike.pipe <<'END'
kernel down(in i32 x pop 3, out i32 y push 2) { y <- x[0]; y <- x[2]; }
kernel spread(in i32 x pop 2, out i32 y push 6) {
    for (i32 i = 0; i < 6; i++) y[i] = x[i & 1] + (i == 4 ? x[1] - x[0] + 2 : 0);
}
pipeline main(in i32 x, out i32 y) { x -> down -> spread -> y; }
END
cat >readers.pipe <<'END'
kernel copy(in i32 x, out i32 y) { y <- x; }
kernel drop(in i32 x pop 2, out i32 y) { y <- x[0] + x[1]; }
pipeline main(in i32 x, out i32 y, out i32 z) {
    buffer i32 b init 1 x 100, c init {200};
    x -> copy -> b;
    b -> copy -> y;
    x -> copy -> c;
    c -> drop -> z;
}
END
# guarded FILE: FILE.guarded.pbc is the same without the static part of its program.
guarded() {
    "$PIPERUN" disasm "$1.pbc" | awk '
        /^#/ { next }
        /^\./ || /^ *(partition|bind|load_reference|packets)/ { print; next }
        /^ *ends$/ { found = 1; printf "%s", label }
        found { print }
        { label = /^[A-Za-z0-9_]+:/ ? $0 "\n" : "" }' >"$1.sasm"
    "$PIPERUN" asm "$1.sasm" --into "$1.pbc" -o "$1.guarded.pbc"
}
# no_slower FILE CUS PERCENT PORT=..: it is static, foretold to PERCENT, and takes no more than a hundredth longer than without
no_slower() {
    which=$1.$2 percent=$3
    "$PIPEC" inspect --no-fuse --device "cus$2.dev" "$1.pipe" >"plan.$which" && grep -q '^schedule static for' "plan.$which" || return 1
    "$PIPEC" --no-fuse --device "cus$2.dev" "$1.pipe" -o "$which.pbc" && guarded "$which" || return 1
    device=cus$2.dev
    shift 3
    "$PIPERUN" -q --device "$device" --stats="json:run.$which" "$which.pbc" "$@" || return 1
    "$PIPERUN" -q --device "$device" --stats="json:run.$which.guarded" "$which.guarded.pbc" "$@" || return 1
    with=$(figure total_cycles "run.$which") without=$(figure total_cycles "run.$which.guarded")
    said=$(sed -n 's/^policy .*: a static schedule first, by a trial \([0-9]*\) iterations take \([0-9]*\) cycles.*/\1 \2/p' "plan.$which")
    echo "    $which: $with cycles, $without without; foretold for iterations $said"
    awk -v with="$with" -v without="$without" -v said="$said" -v percent="$percent" -v packets="${1##*:}" \
        -v each="$(sed -n 's/^iteration \{2\}\([0-9]*\) packet.*/\1/p; s/^iteration \([0-9]*\) packet.*/\1/p' "plan.$which" | head -n 1)" '
        BEGIN {
            split(said, word, " "); foretold = word[2] / word[1] * packets / each
            exit !(with * 100 <= without * 101 && foretold * 100 < with * (100 + percent) && foretold * 100 > with * (100 - percent))
        }'
}
# `make check` takes two devices for each, and of the lengths below those around the thresholds.
most=1
[ -z "${LONG-}" ] || most=24
for cus in ${LONG:+1 16} 4 132; do
    check "unlike batches: static is no slower on $cus CUs" no_slower unlike "$cus" 5 x=gen:ramp:1200000 y=null
done
for cus in ${LONG:+4 132} 1 16; do
    check "readers of one in-port: static is no slower on $cus CUs" no_slower readers "$cus" 5 x=gen:ramp:800000 y=null z=null
done

# ---- thresholds ----

cat >tail.pipe <<'END'
kernel twice(in i32 x, out i32 y push 2) {
    y <- x;
    y <- -x;
}
kernel groups(in i32 x pop 2, out i32 y push 1) group 2 {
    if (item.x == 0) y[0] = x[0] - x[1];
}
kernel sum(in i32 x, out i32 y) {
    state i32 s = 0;
    s += x;
    y <- s;
}
pipeline main(in i32 x, out i32 y) { x -> twice -> groups -> sum -> y; }
END
for cus in 1 4 16 132; do "$PIPEC" -O0 --no-fuse --device "cus$cus.dev" tail.pipe -o "tail.$cus.pbc"; done
waits() {
    "$PIPEC" inspect --no-fuse --device cus16.dev tail.pipe >plan.tail &&
        grep -Eq '^twice .* 8 +[0-9]+  one firing for each lane$' plan.tail &&
        grep -Eq '^groups .* 4 +[0-9]+  as many groups as fill the lanes$' plan.tail &&
        grep -Eq '^sum .* 1 +[0-9]+  it has state: ' plan.tail
}
check "lanes, groups and state decide the thresholds" waits
# n packets bring n sums of 2k
drains() {
    for cus in 1 4 16 132; do
        n=0
        while [ $n -le 24 ]; do
            [ $n -gt $most ] && [ $((n % 4)) != 0 ] && [ $((n % 8)) != 1 ] && [ $((n % 8)) != 7 ] && n=$((n + 1)) && continue
            "$PIPERUN" -q --device "cus$cus.dev" "tail.$cus.pbc" "x=gen:ramp:$n" y=-,csv >found 2>said || return 1
            awk -v n=$n 'BEGIN { for (k = 0; k < n; k++) { s += 2 * k; print s } }' >wanted
            if ! cmp -s found wanted || [ -s said ]; then
                echo "$n packets on $cus CUs"
                cat said
                return 1
            fi
            n=$((n + 1))
        done
    done
}
check "a closed stream drains, whatever its length up to three thresholds" drains

# ---- what inspect says where another one took less: that a hundredth does not count ----

cat >near.pipe <<'END'
kernel count(in i16 x, out f32 y) { state i32 n = 0; y <- x * 0.01f - n; n++; }
kernel clip(in f32 x, out f32 y) { f32 v = x; if (v > 60) v = 60; if (v < -60) v = -60; y <- v; }
kernel average<int N>(in f32 x pop N, out f32 y) {
    f32 sum = 0;
    for (i32 i = 0; i < N; i++) sum += x[i];
    y <- sum / N;
}
pipeline main(in i16 x, out f32 y) { x -> count -> clip -> average<4> -> y; }
END
for cus in 4 16 132; do "$PIPEC" inspect --no-fuse --device "cus$cus.dev" near.pipe >"plan.near.$cus"; done
# Of each line that compares: it ends so if and only if one of the figures is below the first.
margins() {
    awk '!/^(mode|policy) .*by a trial/ { next }
        {
            sub(/; the best of longer trials: [^;]*/, "")
            says = sub(/; faster by less than a hundredth does not count$/, "")
            sub(/.*by a trial/, "")
            pieces = split($0, piece, ", ")
            match(piece[1], /takes? [0-9]+ cycle/)
            split(substr(piece[1], RSTART, RLENGTH), word, " ")
            less = 0
            for (i = 2; i <= pieces; i++) {
                words = split(piece[i], part, " ")
                figure = part[1] ~ /^[0-9]+$/ ? part[1] : part[words]
                less += figure + 0 < word[2] + 0
            }
            lines++
            said += says
            wrong += (less > 0) != says
        }
        END { printf "    %d of %d lines\n", said, lines; exit wrong > 0 || said == 0 || said == lines }' plan.*
}
check "a layout or a policy that is hardly faster is not taken, and inspect says so" margins
