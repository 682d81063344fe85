#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that embeds the runtime (tests/fault/client.c): whichever of its calls fails, it gets the cause, gives everything
# back, and works afterwards.  EVERY=1 tries all points; and mistakes are found so.
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
case ${VARIANT-} in asan | tsan) echo "a sanitizer has an allocator of its own"; exit 77 ;; esac
client=$BUILD/tests/fault_client every=${EVERY:-17}

cat >both.pipe <<'EOP'
kernel average<int N>(in f32 x peek N, out f32 y) {
    f32 sum = 0;
    for (i32 i = 0; i < N; i++) sum += x[i];
    y <- sum / N;
}
kernel scale(in f32 x, out f32 y; f32 by) { y <- by * x; }
kernel add(in f32 a, in f32 b, out f32 y) { y <- a + b; }
pipeline main(in f32 samples, out f32 smooth; f32 by = 10) {
    buffer f32 near, far;
    samples -> average<4> -> scale(by) -> near;
    samples -> average<4> -> scale(by + 1) -> far;
    add(near, far -> smooth);
}
EOP
"$PIPEC" --no-fuse --device sim4 both.pipe -o sim4.pbc && "$PIPEC" --device cpu both.pipe -o cpu.pbc || exit 1

# sweep CLIENT CALLS FILE DEVICE EVERY [--again]: prints the number of points
sweep() {
    program=$1 kind=$2 file=$3 device=$4 n=$5
    shift 5
    timeout 1800 "$program" "$kind" "$file" "$device" --every "$n" "$@"
    status=$?
    if [ $status = 98 ]; then echo "system calls cannot be trapped here"; return 0; fi
    return $status
}

for target in "sim4.pbc null" "sim4.pbc sim4" "cpu.pbc cpu"; do
    for kind in memory threads system device; do
        n=$every
        [ $kind != threads ] && [ $kind != device ] || n=1
        # shellcheck disable=SC2086
        for again in "" --again; do
            check "$kind of a program with a pipeline on ${target#* }${again:+, and all after it}" \
                sweep "$client" $kind $target $n $again
        done
    done
done

# planted NAME FILE EXPRESSION CALLS PATTERN: a runtime with a mistake, made by sed; the client says so
planted() {
    name=$1 changed=$TMP/$1.c
    sed "$3" "$ROOT/$2" >"$changed"
    if cmp -s "$ROOT/$2" "$changed"; then check "planted: $name" false; return; fi
    # shellcheck disable=SC2046,SC2086
    ${CC:-cc} -D_GNU_SOURCE -std=c11 -I"$ROOT" -g -o "$name" "$BUILD/obj/tests/fault/client.o" "$changed" \
        $(printf -- '-Wl,--wrap=%s ' $FAULT_CLIENT_CALLS) "$BUILD/libpipert.a" -pthread -ldl -lm \
        $(pkg-config --libs hwloc libxxhash) || { check "planted: $name" false; return; }
    if sweep "./$name" "$4" sim4.pbc sim4 1 >"$name.log" 2>&1; then cat "$name.log"; fi
    check "planted: $name is found" grep -Eq "$5" "$name.log"
}
# The linker must lead to the client exactly the calls that it defines.
FAULT_CLIENT_CALLS=$(nm "$BUILD/obj/tests/fault/client.o" | sed -n 's/.* T __wrap_//p')

planted lost_image runtime/load/image.c 's/if (image->fd >= 0) close(image->fd);/;/' memory 'something is left .* descriptors'
planted lost_nodes runtime/load/image.c 's/^    free(image->nodes);.*$/;/' memory 'something is left \(.* allocations'
planted unchecked runtime/load/image.c 's/if (image->nodes == NULL .. image->allowed == NULL ../if (/' memory 'it crashes'
planted wrong_status runtime/load/image.c 's/PRT_E_NOMEM, "out of memory"/PRT_E_VERIFY, "out of memory"/' memory 'PRT_E_VERIFY'
