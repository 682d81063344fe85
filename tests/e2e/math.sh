#!/bin/sh
# SPDX-License-Identifier: MIT
# The library's functions against a reference, compiled and executed: a sample of each, or with MATH_ALL=1 every f32
# argument of the functions of one argument.  Limits are in units in the last place.
set -eu
cd "$TMP"
samples=${MATH_SAMPLES:-20000}
${CC:-cc} -O2 -D_GNU_SOURCE -o reference "$ROOT/tests/e2e/math_reference.c" -lm

# compile NAME TYPE INPUTS: a pipeline that applies NAME_TYPE to its in-ports.
compile() {
    case $3 in
    1) ports="in $2 x" arguments="x" ;;
    2) ports="in $2 x, in $2 y" arguments="x, y" ;;
    esac
    cat >"$1_$2.pipe" <<END
kernel k($ports, out $2 z) { z <- $1($arguments); }
pipeline main($ports, out $2 z) { k($arguments -> z); }
END
    "$PIPEC" "$1_$2.pipe" -o "$1_$2.pbc"
}

verdict() { if "$@" >measured; then echo "ok $(cat measured)"; else echo "not ok $(cat measured)"; fi; }

# sample NAME TYPE INPUTS LIMIT
sample() {
    compile "$1" "$2" "$3"
    ./reference --sample "$1_$2" 1 "$samples" 0 >x.raw
    if [ "$3" = 1 ]; then
        "$PIPERUN" "$1_$2.pbc" x=x.raw z=z.raw
        verdict ./reference "$1_$2" "$4" x.raw z.raw
    else
        ./reference --sample "$1_$2" 1 "$samples" 1 >y.raw
        "$PIPERUN" "$1_$2.pbc" x=x.raw y=y.raw z=z.raw
        verdict ./reference "$1_$2" "$4" x.raw y.raw z.raw
    fi
}

# every NAME LIMIT: all 2^32 arguments, in 64 pieces.
every() {
    compile "$1" f32 1
    piece=0
    while [ $piece -lt 64 ]; do
        ./reference --bits $((piece * 67108864)) 67108864 >x.raw
        "$PIPERUN" "$1_f32.pbc" x=x.raw z=z.raw
        verdict ./reference "$1_f32" "$2" x.raw z.raw
        piece=$((piece + 1))
    done
}

one="sin cos tan asin acos atan sinh cosh tanh exp exp2 exp10 expm1 log log2 log10 log1p cbrt asinh acosh atanh"
if [ -n "${MATH_ALL:-}" ]; then
    for f in $one; do every "$f" 0.501; done
    exit 0
fi
for f in $one; do
    sample "$f" f32 1 0.501
    case $f in
    asinh | acosh | atanh) sample "$f" f64 1 1.1 ;;
    *) sample "$f" f64 1 0.90 ;;
    esac
done
for f in atan2 pow hypot fmod; do
    sample "$f" f32 2 0.501
    sample "$f" f64 2 0.90
done
