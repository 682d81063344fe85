#!/bin/sh
# SPDX-License-Identifier: MIT
# A picture that feeds itself back through a window: with `border wrap` it is dispatched a frame at a time, as with the other
# borders, and on every device and with every depth it is the same picture.
# shellcheck disable=SC2317 # functions called by check
set -u
cd "$TMP" || exit 1
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"

# life BORDER
life() {
    cat <<EOF
kernel step(in u8 tick, in u8 g window 3x3 border $1, out u8 next, out u8 y) {
    u8 v = (u8)(g[-1][0] ^ g[1][0] ^ g[0][-1] ^ 3 * g[0][1] ^ tick);
    next <- v;
    y <- v;
}
pipeline main(in u8 tick frame 32x32, out u8 y) {
    buffer u8 now frame 32x32 init 1024 x 1;
    step(tick, now -> now, y);
}
EOF
}
life wrap >wrap.pipe
life clamp >clamp.pipe
cycles() {
    "$PIPEC" "$1.pipe" -o "$1.pbc" && "$PIPERUN" -q "$1.pbc" tick=gen:ramp:8192 y="$1.raw" --stats="json:$1.json" &&
        sed -n 's/^  "total_cycles": \([0-9]*\),*$/\1/p' "$1.json"
}
wrapped=$(cycles wrap) clamped=$(cycles clamp)
check "eight pictures take $wrapped cycles with wrap, $clamped with clamp" test "$wrapped" -le "$clamped"

reason() { "$PIPEC" inspect wrap.pipe | grep -q '^step .* one firing for each lane$'; }
check "the threshold is what the lanes take" reason

"$PIPEC" --buffers=min --device sim1 wrap.pipe -o one.pbc && "$PIPERUN" -q one.pbc tick=gen:ramp:8192 y=one.raw
check "one firing at a time makes the same pictures" cmp one.raw wrap.raw
"$PIPEC" --device cpu wrap.pipe -o host.pbc && "$PIPERUN" -q --device cpu host.pbc tick=gen:ramp:8192 y=host.raw
check "the host's cores make the same pictures" cmp host.raw wrap.raw
"$PIPEC" --debug-mode wrap.pipe -o debug.pbc && "$PIPERUN" -q debug.pbc tick=gen:ramp:8192 y=debug.raw
check "debug mode makes the same pictures" cmp debug.raw wrap.raw
check "a container of whole frames is proven again" "$PIPERUN" verify wrap.pbc

# The picture goes round through a stage of its own, so that layouts have to be compared: the trials have to know that a frame
# is ready at once.  They played it packet by packet, and chose a layout that takes several times as long.
# around BORDER
around() {
    cat <<END
kernel step(in f32 x, in f32 b window 3x3 border $1, out f32 y) { y <- x + b[-1][0] * 0.25 + b[1][1] * 0.25; }
kernel copy(in f32 x, out f32 y) { y <- x; }
pipeline main(in f32 x frame 64x48, out f32 y) {
    buffer f32 b init 3072 x 0;
    buffer f32 n;
    step(x, b -> n);
    n -> copy -> b;
    n -> copy -> y;
}
END
}
around wrap >around_wrap.pipe
around clamp >around_clamp.pipe
mode() { "$PIPEC" inspect --no-fuse "around_$1.pipe" | sed -n 's/^mode *\(.* cycles\), side by side .*/\1/p'; }
same_modes() { [ -n "$(mode wrap)" ] && [ "$(mode wrap)" = "$(mode clamp)" ]; }
check "the layout and its trial are those of clamp" same_modes
