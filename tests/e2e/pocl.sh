#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sub-devices as PoCL's CPU device makes them, another implementation of OpenCL, and ours: a grid of property lists.
# Differences are printed with the sentence of the specification that decides it.
set -eu
case $VARIANT in release | debug) ;; *) echo "not with a sanitized library"; exit 77 ;; esac
cd "$TMP"
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
${CC:-cc} -D_GNU_SOURCE -I"$ROOT" -Wall -Wextra -Werror -o pocl_reference "$ROOT/tests/e2e/pocl_reference.c" \
    "$BUILD/libpipert.a" -pthread -ldl
export POCL_CACHE_DIR=$TMP/cache HOME=$TMP
for cus in 1 2 7 16; do
    found=0
    timeout 120 ./pocl_reference $cus >said 2>&1 || found=$?
    if [ $found -eq 77 ]; then cat said; exit 77; fi
    cat said
    check "$cus CUs: what differs is decided by the specification" [ $found -eq 0 ]
    check "$cus CUs: some thousand lists were compared" grep -Eq "^$cus CUs: [0-9]{4,} compared" said
done
