#!/bin/sh
# SPDX-License-Identifier: MIT
# embed.sh ARRAY NAME=FILE...: writes a C file that defines ARRAY (see lang/embedded.h) with these files.
set -eu
export LC_ALL=C

array=$1
shift

echo '#include "lang/embedded.h"'
index=0
for pair in "$@"; do
    printf '\nstatic const unsigned char file_%d[] = {\n' "$index"
    od -An -v -tx1 "${pair#*=}" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
    echo '0x00};'
    index=$((index + 1))
done

printf '\nconst struct embedded_file %s[] = {\n' "$array"
index=0
for pair in "$@"; do
    printf '    {"%s", file_%d, sizeof file_%d - 1},\n' "${pair%%=*}" "$index" "$index"
    index=$((index + 1))
done
echo '    {NULL, NULL, 0},'
echo '};'
