#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pipes.sh OUT [PIPEC-ARGUMENT...]: compiles the pipelines of the part "cuda" of `make bench` into the folder OUT, with these
# arguments; OUT/inside has those whose stream stays in the GPU, and their sources.  Their stages have the whole GPU in turn, so
# that the times of a stage are comparable with those of a kernel.
#
# Environment: ROOT, BUILD, PIPEC (set by make).
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/../../.." && pwd)}
BUILD=${BUILD:-$ROOT/build/release}
PIPEC=${PIPEC:-$BUILD/pipec}
here=$ROOT/tests/bench
out=$1
shift

mkdir -p "$out/inside"
for file in "$here"/pipes/{chain8,bank,radio,picture,keep,running,fourier,bitonic,chain64,loop}.pipe \
    "$ROOT/examples/cipher/chacha20.pipe"; do
    name=$(basename "$file" .pipe)
    pipeline=$name made=f32 ends=floats done=f32 totals=floats attribute=
    case $name in
    keep) pipeline=sums ;;
    radio) made=f32x2 ends=pairs ;;
    fourier) made=f32x2 ends=pairs done=f32x2 totals=pairs ;;
    picture) made=u8 ends=bytes done=u8 totals=bytes attribute=' frame 1920x1080' ;;
    chacha20) made=u8 ends=bytes done=u8 totals=bytes ;;
    esac
    cat >"$out/inside/$name.pipe" <<END
import "$here/cuda/ends.pipe";
import "$file";
pipeline inside(in u32 block, out f32 total) {
    buffer $made made$attribute;
    buffer $done done$attribute;
    block -> make_$ends importance 1 -> made;
    made -> $pipeline -> done;
    done -> total_$totals importance 2 -> total;
}
END
    "$PIPEC" "$@" "$file" -o "$out/$name.pbc"
    "$PIPEC" "$@" --layout=sequence -p inside "$out/inside/$name.pipe" -o "$out/inside/$name.pbc"
done
for name in planned chains; do "$PIPEC" "$@" --no-fuse -p $name "$here/cuda/batches.pipe" -o "$out/$name.pbc"; done
for name in chain with_state one_batch; do
    "$PIPEC" "$@" --no-fuse -p $name -D BATCH=4096 "$here/cuda/batches.pipe" -o "$out/$name.pbc"
done
for floats in 16384 1048576; do
    "$PIPEC" "$@" --no-fuse -p chain -D BATCH=$floats "$here/cuda/batches.pipe" -o "$out/chain$floats.pbc"
done
