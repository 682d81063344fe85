#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Eight compilations of one source (`make check-long`: a hundred) give one container: time zone, locale, home, folder for temporaries, mask, limits,
# names and size of the environment, address space drawn anew or not, folder, number of compilations at the same time.
# shellcheck disable=SC2317 # functions are called through check
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
cp "$ROOT"/examples/fmradio/*.pipe .
count=8
[ -z "${LONG-}" ] || count=100
[ "$VARIANT" = release ] || count=8

zones=(UTC Asia/Tokyo America/St_Johns Pacific/Chatham :nonsense)
locales=(C POSIX C.UTF-8 de_DE.UTF-8 tr_TR nonsense)
masks=(000 022 077)
fixed=(env) # addresses that are not drawn
if setarch -R true 2>/dev/null; then fixed=(setarch -R); fi

# compile N: the N-th way.
compile() (
    local n=$1 folder=$TMP/folder$(($1 % 7)) space=(env)
    mkdir -p "$folder" "$folder/temporary"
    cp -n "$TMP"/*.pipe "$folder" || true
    umask "${masks[n % 3]}"
    [ $((n % 4)) -ne 0 ] || space=("${fixed[@]}")
    [ $((n % 5)) -ne 0 ] || ulimit -s 4096
    cd "$folder"
    export TZ=${zones[n % 5]} HOME=/nonexistent/$n TMPDIR=$folder/temporary
    export SOURCE_DATE_EPOCH=$n COLUMNS=$((n + 20)) NO_COLOR=$n PADDING
    PADDING=$(printf '%*s' $((n * 37)) '')
    "${space[@]}" env LC_ALL="${locales[n % 6]}" "$PIPEC" fmradio.pipe -o "$TMP/$n.pbc"
)

for ((n = 0; n < count; n += width)); do
    width=$((n % 5 + 1)) # so many at the same time
    for ((i = n; i < n + width && i < count; i++)); do compile $i & done
    wait
done

there() { [ "$(find . -maxdepth 1 -name '*.pbc' | wc -l)" -eq "$count" ]; }
check "$count containers" there
one_hash() { [ "$(sha256sum ./*.pbc | cut -d' ' -f1 | sort -u | wc -l)" -eq 1 ]; }
check "one hash" one_hash
nothing_left() { [ -z "$(find folder* -path '*/temporary/*')" ]; }
check "no temporary is left" nothing_left

"$PIPEC" -O1 fmradio.pipe -o 0.pbc
two_hashes() { ! one_hash; }
check "other options have another hash" two_hashes
