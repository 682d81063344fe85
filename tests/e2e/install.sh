#!/usr/bin/env bash
# What `make install` leaves is complete: the programs run from there, and a C program finds header and library
# through pkg-config, shared and static.  The shared library exports prt_* and nothing else.
# shellcheck disable=SC2046,SC2317 # word lists from pkg-config; functions called by verdict
set -eu

case $VARIANT in release | debug) ;; *) echo "not with a sanitized library"; exit 77 ;; esac
prefix=$TMP/prefix
make --no-print-directory -s -C "$ROOT" VARIANT="$VARIANT" BUILD="$(dirname "$BUILD")" \
    PREFIX="$prefix" install >/dev/null

verdict() { if "${@:2}"; then echo "ok $1"; else echo "not ok $1"; status=1; fi; }
status=0

programs_start() { "$prefix/bin/pipec" --version && "$prefix/bin/piperun" --version; }
verdict programs_start programs_start

exports_prt_only() {
    nm -D --defined-only "$prefix/lib/libpipert.so" | awk '{ print $3 }' >"$TMP/exports"
    [ -s "$TMP/exports" ] && ! grep -v '^prt_' "$TMP/exports"
}
verdict exports_prt_only exports_prt_only

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# Takes the address of every exported function that the header declares, so that all must link.
{
    echo '#include <pipert.h>'
    echo 'int main(void) { void (*all[])(void) = {'
    grep -oE '\bprt_[a-z0-9_]+\(' "$prefix/include/pipec/pipert.h" | tr -d '(' | sort -u |
        grep -xFf "$TMP/exports" | sed 's/.*/(void (*)(void))&,/'
    echo '}; return all[0] == 0; }'
} >"$TMP/user.c"

links_shared() {
    gcc "$TMP/user.c" -o "$TMP/shared" $(pkg-config --cflags --libs pipert) &&
        LD_LIBRARY_PATH=$prefix/lib "$TMP/shared"
}
links_static() {
    gcc "$TMP/user.c" -o "$TMP/static" $(pkg-config --cflags pipert) "$prefix/lib/libpipert.a" \
        $(pkg-config --static --libs pipert | sed 's/-lpipert//') && "$TMP/static"
}
verdict links_shared links_shared
verdict links_static links_static

uninstall_removes_all() {
    make --no-print-directory -s -C "$ROOT" VARIANT="$VARIANT" BUILD="$(dirname "$BUILD")" \
        PREFIX="$prefix" uninstall >/dev/null
    [ -z "$(find "$prefix" ! -type d)" ]
}
verdict uninstall_removes_all uninstall_removes_all
exit $status
