#!/bin/sh
# SPDX-License-Identifier: MIT
# Equal input gives an equal container: whatever folder, name of the folder, environment, locale or time.
set -eu
source=$ROOT/examples/fmradio
mkdir "$TMP/here" "$TMP/a folder with spaces"
cp "$source"/*.pipe "$TMP/here"
cp "$source"/*.pipe "$TMP/a folder with spaces"

(cd "$TMP/here" && "$PIPEC" fmradio.pipe -o one.pbc)
(cd / && LC_ALL=C.UTF-8 TZ=Asia/Tokyo TMPDIR=$TMP "$PIPEC" "$TMP/a folder with spaces/fmradio.pipe" -o "$TMP/two.pbc")
(cd "$source" && umask 077 && env -i PATH="$PATH" ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} \
    "$PIPEC" -o - ./fmradio.pipe >"$TMP/three.pbc")
for other in two three; do
    if cmp -s "$TMP/here/one.pbc" "$TMP/$other.pbc"; then
        echo "ok the same container: $other"
    else
        echo "not ok the same container: $other"
    fi
done
if grep -qF "$TMP" "$TMP/two.pbc"; then
    echo "not ok the container does not tell where it was made"
else
    echo "ok the container does not tell where it was made"
fi
"$PIPEC" -O1 "$source/fmradio.pipe" -o "$TMP/other.pbc"
if cmp -s "$TMP/here/one.pbc" "$TMP/other.pbc"; then
    echo "not ok other options give another container"
else
    echo "ok other options give another container"
fi
if [ -z "$(find "$TMP" -name 'pipec-*' -o -name '*.??????' -name '*.pbc.*')" ]; then
    echo "ok no temporary is left"
else
    echo "not ok a temporary is left: $(find "$TMP" -name 'pipec-*')"
fi
