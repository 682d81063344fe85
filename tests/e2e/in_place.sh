#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Streams in the caller's memory: the packets are those of callbacks, and no kernel, whatever its code is compiled for, reads or
# writes past the last one.  `make check` compiles for one instruction set on each device, `make check-long` for two.
set -u
case $VARIANT in release | debug) ;; *) echo "not with a sanitized library"; exit 77 ;; esac
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
read -ra libraries <<<"$(pkg-config --libs libxxhash hwloc)"
${CC:-cc} -std=c11 -D_GNU_SOURCE -I"$ROOT" -Wall -Wextra -Werror -O1 -o in_place "$ROOT/tests/e2e/in_place.c" \
    "$BUILD/libpipert.a" "${libraries[@]}" -pthread -lm -ldl || exit 1

cat >widths.pipe <<'END'
struct odd { u8 a, b, c; };
kernel swap(in odd x, out odd y) { y <- odd(x.c, x.b, x.a); }
pipeline main(in odd x, out odd y) { x -> swap -> y; }
END
cat >bytes.pipe <<'END'
kernel three(in u8 x pop 3 peek 5, out u8 y push 2) { y <- x[0] ^ x[4]; y <- x[2] + x[1]; }
pipeline main(in u8 x, out u8 y) { x -> three -> y; }
END
cat >some.pipe <<'END'
kernel some(in f32 x, out f32 y push 0..1) { if (x > 0.25) y <- x; }
pipeline main(in f32 x, out f32 y) { x -> some -> y; }
END
cat >letters.pipe <<'END'
kernel letter(in u8 x, out u8 y) { y <- x < 128 ? x + 65 : x; }
pipeline main(in u8 x, out u8 y) { x -> letter -> y; }
END
cat >taps.pipe <<'END'
import "std/dsp.pipe";
pipeline main(in f32 x, out f32 y) { x -> fir_lowpass<63>(0.125) -> keep_every<5> -> y; }
END
sed -i '1a import "std/streams.pipe";' taps.pipe

lengths=(0 1 2 62 63 64 257 1000 8191 8192 8193 30011)
for file in widths.pipe bytes.pipe some.pipe taps.pipe "$ROOT"/tests/bench/pipes/{chain8,keep,loop1,radio,fourier}.pipe; do
    name=$(basename "$file" .pipe)
    for device in sim16 cpu; do
        isas=x86-64-v3
        [ $device = cpu ] || isas=native
        [ -z "${LONG-}" ] || isas='x86-64-v3 native'
        for isa in $isas; do
            "$PIPEC" -q --device "$device" --march="$isa" "$file" -o "$name.pbc" || exit 1
            check "$name on $device, $isa" ./in_place "$name.pbc" "$device" "${lengths[@]}"
        done
    done
done

# Outputs that are larger than the caches are written past them: in part, where they do not begin or end with a line.
for file in letters.pipe "$ROOT"/tests/bench/pipes/{chain8,chain1,chain64}.pipe; do
    name=$(basename "$file" .pipe)
    for isa in x86-64-v3 native; do
        "$PIPEC" -q --device sim1 --march="$isa" "$file" -o "$name.pbc" || exit 1
        check "$name past the caches, $isa" ./in_place "$name.pbc" sim1 65536 65539 65560 65679 90001
    done
    "$PIPEC" -q --device cpu --emit=llvm "$file" >"$name.ll"
    check "$name has stores past the caches" grep -q 'store <.*!nontemporal' "$name.ll"
    check "$name fetches its input earlier" grep -q 'call void @llvm.prefetch' "$name.ll"
done
