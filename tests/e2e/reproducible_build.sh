#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The programs are the same bytes wherever and whenever they are built: another folder of the sources, another build
# folder, another time, time zone, locale, mask and number of jobs.  The build that is tested is one of the two, if it
# has been made as `make` would make it here.
# shellcheck disable=SC2317 # functions are called through check
set -eu
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
[ -n "${LONG-}" ] || { echo "it builds everything again: make check-long"; exit 77; }
[ "$VARIANT" = release ] || { echo "what ships is VARIANT=release"; exit 77; }
export CCACHE_DISABLE=1
unset MAKELEVEL MFLAGS

# copy FOLDER: what is built from, with times of its own.
copy() {
    mkdir -p "$1"
    tar -C "$ROOT" -cf - Makefile packaging base compiler core model runtime tools lang scripts man | tar -C "$1" -xf -
    find "$1" -exec touch -d "$2" {} +
}
# The copies are no checkouts, so make is given the commit, which `pipec --version=json` names.
commit=$(cat "$BUILD/commit")
# build SOURCES BUILD WORD...: with these words before make.
build() {
    local sources=$1 folder=$2
    shift 2
    "$@" make --no-print-directory -s -C "$sources" VARIANT=release BUILD="$folder" COMMIT="$commit" all
}
# settings FILE: the flags of a build, without folders.
settings() { sed -e 's/-ffile-prefix-map=[^ ]*//g' -e 's/-I[^ ]*//g' "$1"; }

copy copy/of/the/sources 2001-02-03T04:05:06
(umask 077 && build "$TMP/copy/of/the/sources" ../../elsewhere env TZ=Asia/Tokyo LC_ALL=C.UTF-8 HOME=/nonexistent \
    TMPDIR="$TMP" SOURCE_DATE_EPOCH=1 USER=somebody MAKEFLAGS="-j2 ${MAKEFLAGS-}")
one=$TMP/copy/of/elsewhere/release other=$BUILD
settings "$one/flags" >one.flags
if ! settings "$BUILD/flags" | cmp -s - one.flags; then
    echo "the build that is tested has other settings: a second one"
    copy second 2031-02-03T04:05:06
    build "$TMP/second" "$TMP/second/build" env
    other=$TMP/second/build/release
fi

for file in pipec piperun libpipert.a libpipert.so pipec-rules.7; do
    check "the same bytes: $file" cmp "$one/$file" "$other/$file"
done
tells_nothing() { ! grep -qaF -e "$TMP" -e "$(dirname "$BUILD")" -e "$ROOT" "$1"; }
for file in pipec piperun libpipert.a libpipert.so; do
    check "does not tell where it was built: $file" tells_nothing "$one/$file"
done

# A difference in a source is one in the program.
echo 'extern const char prt_built_differently[]; const char prt_built_differently[] = "yes";' >>copy/of/the/sources/base/status.c
build "$TMP/copy/of/the/sources" ../../elsewhere env
differs() { ! cmp -s "$one/libpipert.so" "$other/libpipert.so"; }
check "another source gives another library" differs
