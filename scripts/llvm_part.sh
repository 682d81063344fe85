#!/bin/sh
# SPDX-License-Identifier: MIT
# llvm_part.sh LLVM_CONFIG CC NAMES OUT: links the functions of LLVM that the file NAMES lists, and all that they need, from
# LLVM's static archives into the shared object OUT.  pipec loads it in a fifth of the time of libLLVM, which has every target
# and looks up 15,000 symbols by name.  If it cannot be linked here, OUT is empty, and pipec loads libLLVM.
set -eu
export LC_ALL=C
config=$1 cc=$2 names=$3 out=$4
map=$(mktemp)
trap 'rm -f "$map" "$out.tmp"' EXIT
{ echo '{ global:'; sed 's/$/;/' "$names"; echo 'local: *; };'; } >"$map"
libraries=$("$config" --link-static --libs x86 nvptx passes)
# Of the libraries of the system only these two are needed; libLLVM has them, too.
# shellcheck disable=SC2046,SC2086 # words of the lists
"$cc" -shared -o "$out.tmp" $(sed 's/^/-Wl,-u,/' "$names") $("$config" --ldflags) $libraries \
    -Wl,--version-script="$map" -Wl,--gc-sections,-Bsymbolic,-z,now,-z,relro,--as-needed \
    -l:libz.so.1 -l:libzstd.so.1 -lstdc++ -lm -ldl 2>/dev/null || : >"$out.tmp"
mv "$out.tmp" "$out"
