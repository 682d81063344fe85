#!/bin/sh
# SPDX-License-Identifier: MIT
# lang/limits.md has the limits that the sources have, with their values, and no others; a value that is changed is noticed.
set -u
# shellcheck source=tests/checks.sh
. "$ROOT/tests/checks.sh"
check "the page and the sources agree" perl "$ROOT/scripts/limits.pl"
mkdir copy && cp -r "$ROOT/lang" "$ROOT/runtime" "$ROOT/compiler" "$ROOT/scripts" copy
sed -i 's/^#define SEMA_MAX_PHASES 1024/#define SEMA_MAX_PHASES 1025/' copy/compiler/sema/sema_internal.h
check "another value is noticed" says 1 'SEMA_MAX_PHASES: the source has 1025, lang/limits.md 1024' perl copy/scripts/limits.pl
printf '#define ONE_MORE_MAX 7\n' >>copy/lang/window.h
check "a limit without a row is noticed" says 1 'ONE_MORE_MAX: the source has 7, lang/limits.md does not have it' perl copy/scripts/limits.pl
sed -i '/define WINDOW_MAX_SIDE/d' copy/lang/window.h
check "a row without a limit is noticed" says 1 'WINDOW_MAX_SIDE: stands in lang/limits.md, but not' perl copy/scripts/limits.pl
