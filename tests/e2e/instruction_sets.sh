#!/bin/sh
# SPDX-License-Identifier: MIT
# Several instruction sets in one container: the same bits from the image of each, and what is said of them.
# shellcheck disable=SC2016 # what stands in single quotes is an inner shell's
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

cat >all.pipe <<'END'
import "std/math.pipe";
kernel wave(in f32 x, out f32 y) { y <- sin(x) * exp(-x * 0.001) + log(x + 1); }
kernel fir<int N>(in f32 x peek N pop 2, out f32 y) {
    f32 acc = 0;
    for (i32 i = 0; i < N; i++) acc = fma(x[i], 1 / (f32)(i + 1), acc);
    y <- acc;
}
kernel keep(in f32 x, out f32 y push 0..1) { if (x > 1) y <- x; }
kernel blocks(in f32 x pop 8, out f32 y push 8) { for (i32 i = 0; i < 8; i++) y <- x[7 - i] - x[i]; }
kernel sum(in f32 x, out f32 y) { state f32 s; s += x; y <- s; }
pipeline main(in f32 x, out f32 y) { x -> wave -> fir<32> -> blocks -> keep -> sum -> y; }
END
levels='x86-64-v3 x86-64-v4 native' runnable=''
"$PIPEC" --march=x86-64-v3,native,x86-64-v4 all.pipe -o all.pbc || exit 1
for level in $levels; do
    "$PIPEC" --march="$level" all.pipe -o "$level.pbc" || exit 1
    "$PIPERUN" -q "$level.pbc" x=gen:ramp:20000 y="$level.f32"
    status=$?
    [ $status -ne 6 ] || continue # this processor is older
    runnable="$runnable $level"
    check "$level runs" test $status -eq 0 -a -s "$level.f32"
    check "$level gives the same bits" cmp x86-64-v3.f32 "$level.f32"
done
"$PIPERUN" -q all.pbc x=gen:ramp:20000 y=all.f32 --stats 2>stats
check "a container of all of them gives the same bits" cmp x86-64-v3.f32 all.f32
check "statistics say which one ran" grep -q 'kernels for \(native\|x86-64-v[34]\)$' stats
# Nothing else is compiled for levels that this processor cannot execute. `make check` compiles for `native` this program only.
levels=$runnable
[ -n "${LONG-}" ] || levels=${runnable% native}
best=${levels##* }
# run FILE PREFIX WORD...: the prefix, then the port, is the name of an output.
run() {
    file=$1 prefix=$2
    shift 2
    for port in $outputs; do set -- "$@" "$port=$prefix.$port,raw"; done
    "$PIPERUN" -q "$file" "$@"
}
# alike NAME WORD...: a program of tests/lang gives the same bits with every instruction set, and executed firing by
# firing.
alike() {
    source=$ROOT/tests/lang/$1.pipe
    shift
    "$PIPEC" -O0 --debug-mode "$source" -o single.pbc && run single.pbc single "$@" || return 1
    for level in $levels; do
        "$PIPEC" --march="$level" "$source" -o lanes.pbc || return 1
        run lanes.pbc lanes "$@"
        status=$?
        [ $status -ne 6 ] || continue
        [ $status -eq 0 ] || return 1
        for port in $outputs; do cmp "single.$port" "lanes.$port" || return 1; done
    done
}
outputs='y2 y3 y5 y6 y12 y16 yk yv yw yb ya yi ys'
check "blocks in lanes are the same" alike lanes_blocks x=gen:ramp:6007 v=gen:ramp:6007 w=gen:ramp:3001 \
    b=gen:ramp:5000 a=gen:ramp:1009
outputs='y p q n u b'
check "what some lanes append is the same" alike lanes_compact x=gen:ramp:10007

# Each class of float, NaNs of both kinds and signs among them, over all lanes and past them.
cat >classes.pipe <<'END'
kernel same(in f32 x, out f32 y) { y <- x; }
kernel twice(in f32 x, out f32 y) { y <- x * 2; }
kernel wide(in f32 x, out f64 y) { y <- (f64)x * 3; }
kernel near(in f32 x peek 3, out f32 y) {
    f32 s = 0;
    for (i32 i = 0; i < 3; i++) s = s * 0.5 + x[i];
    y <- s;
}
kernel held(in f32 x, out f32 y) { state f32 last = 0; y <- last; last = x; }
kernel held_two(in f32 x, out f64 y push 2) { state f64 last = 1; y <- (f64)x; y <- last; last = (f64)x * 2; }
kernel held_some(in f32 x, out f32 y push 0..1) { state u32 n = 0; n++; if (n % 3 != 0) y <- x; }
pipeline main(in f32 x, out f32 y, out f32 t, out f64 z, out f32 n, out f32 h, out f64 hh, out f32 hs) {
    x -> same -> y;
    x -> twice -> t;
    x -> wide -> z;
    x -> near -> n;
    x -> held -> h;
    x -> held_two -> hh;
    x -> held_some -> hs;
}
END
for i in 1 2 3 4 5 6 7; do
    printf '\001\000\200\177\001\000\300\377\000\000\200\177\000\000\000\200\001\000\000\000\000\000\200\077'
    printf '\000\000\200\377\002\000\200\377\000\000\300\177\001\000\000\200\000\000\200\277\000\000\000\000'
    printf '\377\377\177\177%.0s' $(seq $((i * 23)))
done >classes.f32
"$PIPEC" -O0 --debug-mode classes.pipe -o single.pbc || exit 1
outputs='y t z n h hh hs'
run single.pbc single x=classes.f32,raw || exit 1
for level in $levels; do
    "$PIPEC" --device=cpu --march="$level" classes.pipe -o lanes.pbc || exit 1
    run lanes.pbc lanes x=classes.f32,raw
    status=$?
    [ $status -ne 6 ] || continue
    for port in $outputs; do check "$level: $port has the same NaNs" cmp "single.$port" "lanes.$port"; done
done
check "NaNs of whole registers take one instruction" sh -c \
    '"$PIPEC" --emit=asm --march=x86-64-v4 classes.pipe | grep -c "vfixupimmp[sd]" | grep -qv "^0"'

# min and max of each pair of classes: of packets as they are loaded, of what is computed, and of a state.
cat >extremes.pipe <<'END'
kernel pairs(in f32 x pop 32, out f32 y push 32, out f32 z push 32) {
    for (i32 i = 0; i < 32; i++) y[i] = min(x[i], x[(i + 7) % 32]);
    for (i32 i = 0; i < 32; i++) z[i] = max(x[i], x[(i + 13) % 32]);
}
kernel two(in f32 a, in f32 b, out f32 y, out f32 z, out f32 c, out u32 w) {
    y <- min(a, b);
    z <- max(a, b);
    c <- min(max(a * b, -1), 1.0 * b);
    w <- bits(max(min(a, abs(b)), from_bits(bits(b) ^ 0x80000000)));
}
kernel wide(in f64 a, in f64 b, out f64 y, out f64 z, out f64 c) {
    y <- min(a, b);
    z <- max(b, a);
    c <- max(a, min(-b, a + b));
}
kernel blocks(in f64 x pop 16, out f64 y push 16) {
    for (i32 i = 0; i < 16; i++) y[i] = (i & 1) == 0 ? min(x[i], x[(i + 5) % 16]) : max(x[i], x[(i + 3) % 16]);
}
kernel peak(in f32 x pop 16, out f32 y) {
    f32 most = x[0];
    for (i32 i = 1; i < 16; i++) most = i % 5 == 0 ? min(most, x[i]) : max(most, x[i]);
    y <- most;
}
pipeline main(in f32 a, in f32 b, in f64 d, in f64 e, out f32 y, out f32 z, out f32 p, out f32 q, out f32 c, out u32 w,
              out f64 yy, out f64 zz, out f64 cc, out f64 bb, out f32 m) {
    pairs(a -> y, z);
    two(a, b -> p, q, c, w);
    wide(d, e -> yy, zz, cc);
    d -> blocks -> bb;
    a -> peak -> m;
}
END
python3 - <<'END' || exit 1
import struct
singles = [0, 1 << 31, 1, 0x80000001, 0x7fffff, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
           0x7fc00000, 0xffc00001, 0x7f800001, 0xff800002, 0x7fa00000, 0x40490fdb]
doubles = [0, 1 << 63, 1, (1 << 63) + 1, 0x3ff0000000000000, 0xbff0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000,
           0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001, 0xfff4000000000000]
for values, code, names in (singles, "I", "ab"), (doubles, "Q", "de"):
    pairs = [(one, other) for shift in range(8) for one in values for other in values[shift:] + values[:shift]]
    for side, name in enumerate(names):
        with open(name + ".raw", "wb") as file:
            file.write(b"".join(struct.pack("<" + code, pair[side]) for pair in pairs))
END
"$PIPEC" -O0 --debug-mode extremes.pipe -o single.pbc || exit 1
"$PIPEC" -O0 --device=sim16 extremes.pipe -o sim16.pbc || exit 1
outputs='y z p q c w yy zz cc bb m'
set -- a=a.raw,raw b=b.raw,raw d=d.raw,raw e=e.raw,raw
run single.pbc single "$@" || exit 1
run sim16.pbc sim16 "$@" || exit 1
for port in $outputs; do check "sim16: $port has the same extremes" cmp "single.$port" "sim16.$port"; done
for level in $levels; do
    # `make check` takes all options for the best level, `make check-long` for each.
    for options in -O2 -O0 --no-fuse; do
        [ -n "${LONG-}" ] || [ $options = -O2 ] || [ "$level" = "$best" ] || continue
        "$PIPEC" --device=cpu "$options" --march="$level" extremes.pipe -o lanes.pbc || exit 1
        run lanes.pbc lanes "$@"
        status=$?
        [ $status -ne 6 ] || continue
        for port in $outputs; do
            check "$level $options: $port has the same extremes" cmp "single.$port" "lanes.$port"
        done
    done
done
for width in s d; do
    check "extremes of whole registers take one instruction (p$width)" sh -c \
        '"$PIPEC" --device=cpu --emit=asm --march=x86-64-v4 extremes.pipe | grep -q "vrangep$0"' "$width"
done

"$PIPEC" inspect --json all.pbc >object
check "the object parses" parses object
check "it has all of them" grep -q '"isa": "[^"]*,[^"]*,[^"]*"' object
check "the best of them is first" sh -c "grep -q '\"isa\": \".*,x86-64-v3\"' object"
"$PIPEC" inspect all.pbc >text
check "the text has what an image needs" grep -q '^image    x86-64-v3: [0-9]* bytes; needs x86-64-v3$' text
"$PIPEC" --march=x86-64-v4,x86-64-v3 -o one.pbc all.pipe
"$PIPEC" --march=x86-64-v3,x86-64-v4 -o two.pbc all.pipe
check "the order of the list is of no matter" cmp one.pbc two.pbc
check "--emit shows the best one" sh -c '"$PIPEC" --emit=asm --march=x86-64-v3,x86-64-v4 all.pipe | grep -q zmm'
# refused LIST WHAT: pipec refuses the list and says what is wrong with which name.
refused() { check "--march=$1 is refused" sh -c '"$PIPEC" "--march=$1" all.pipe 2>&1 | grep -qF -- "--march=$1: $2"' - "$1" "$2"; }
refused x86-64-v3, "a name is missing; there are: x86-64, x86-64-v2, x86-64-v3, x86-64-v4, native, sm_80, sm_86, sm_89, sm_90"
refused x86-64-v2,v3 "there is no instruction set 'v3'; there are: x86-64, x86-64-v2, x86-64-v3, x86-64-v4, native, sm_80, sm_86, sm_89, sm_90; did you mean 'x86-64-v3'?"
refused x86-64-v4,x86-64-v3,x86-64-v4 "'x86-64-v4' is named twice"
