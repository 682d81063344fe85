#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs of the scheduler are compact: their bytes for each stage do not grow with repetition counts, nor with the number of
# stages, in sequence and side by side.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

# repeated TEXT N
repeated() { awk -v text="$1" -v n="$2" 'BEGIN { while (n-- > 0) printf "%s", text }'; }

# within NAME LIMIT FILE OPTIONS...: static, and no more bytes.
within() {
    name=$1 limit=$2
    shift 2
    "$PIPEC" inspect --json --no-fuse "$@" >object 2>errors || cat errors
    found=$(sed -n 's/^ *"bytes_per_stage": \([0-9]*\).*/\1/p' object)
    kind=$(sed -n 's/^      "kind": "\([a-z]*\)".*/\1/p' object)
    check "$name: ${found:-no} bytes a stage, at most $limit, ${kind:-none}" test "${found:-999999}" -le "$limit" -a "$kind" = static
}

# Repetition counts of 10^3 to 10^9: one stage gives what another one takes a thousand of, once to three times.
for power in 1 2 3; do
    {
        echo 'kernel few(in u8 x pop 1000, out u8 y) { y <- x[0] ^ x[999]; }'
        echo 'kernel count(out u8 y) { state u8 n; y <- n++; }'
        echo "pipeline main(out u8 y) { count$(repeated ' -> few' $power) -> y; }"
    } >counts.pipe
    within "repetition counts of 10^$((3 * power))" 64 counts.pipe --device sim16 --layout=sequence
done
# Chains.
for count in 10 100 1000; do
    {
        echo 'kernel copy(in i32 x, out i32 y) { y <- x; }'
        echo "pipeline main(in i32 x, out i32 y) { x$(repeated ' -> copy' $count) -> y; }"
    } >chain.pipe
    within "a chain of $count stages in sequence" 48 chain.pipe --device sim16 --layout=sequence
done
# Side by side there are as many levels as stages, and each costs a call and its guards while the pipeline fills.
for count in 8 16; do
    {
        echo 'kernel copy(in i32 x, out i32 y) { y <- x; }'
        echo "pipeline main(in i32 x, out i32 y) { x$(repeated ' -> copy' $count) -> y; }"
    } >chain.pipe
    within "a chain of $count stages side by side" 72 chain.pipe --device sim-h100 --layout=side-by-side
done
