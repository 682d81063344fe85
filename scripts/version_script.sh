#!/bin/sh
# SPDX-License-Identifier: MIT
# version_script.sh COMPILER...: the linker's version script of libpipert.so, which exports the functions that the public
# headers declare and nothing else. Each has the version PIPERT_0, of SOVERSION 0. COMPILER is the command that preprocesses.
set -eu
export LC_ALL=C
headers='#include "runtime/host/pipert.h"
#include "runtime/host/pipert_debug.h"
#include "runtime/host/pipert_queue.h"'

# Text in braces is left out; a statement then ends at its semicolon, or at the brace that closes it.
names=$(echo "$headers" | "$@" -E -P -x c - | tr '\n' ' ' | sed 's/[{};]/\n&/g' | awk '
    /^\{/ { depth++; next }
    /^\}/ { depth--; if (depth == 0) statement = ""; }
    depth > 0 { next }
    /^;/ { tell(); statement = "" }
    { sub(/^[};]/, ""); statement = statement $0 }
    function tell() {
        if (statement ~ /^ *(typedef|static|__extension__)/) return
        if (match(statement, /(^|[ *])prt_[a-z0-9_]+ *\(/)) {
            name = substr(statement, RSTART, RLENGTH)
            gsub(/[ *(]/, "", name)
            print name
        }
    }' | sort -u)
[ -n "$names" ] || { echo "version_script.sh: the public headers declare nothing" >&2; exit 1; }
echo "PIPERT_0 { global:"
echo "$names" | sed 's/.*/    &;/'
echo "  local: *; };"
