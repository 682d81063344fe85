#!/bin/bash
# SPDX-License-Identifier: MIT
# pipec edit: requests of others, the bytes that each operation writes, refused operations, the ends of the server. LONG: the page in
# Chromium.
set -u
cd "$TMP" || exit 1
. "$ROOT/tests/checks.sh"

# ---- without a server ----
"$PIPEC" new -q smooth.pipe
touch smooth.txt
mkdir folder.pipe
check "a file that is not there" says 2 "cannot read 'none.pipe': No such file" "$PIPEC" edit none.pipe
check "a file that is no source" says 2 "'smooth.txt': 'pipec edit' edits sources, which end in .pipe" "$PIPEC" edit smooth.txt
check "a folder" says 2 "'folder.pipe' is no regular file" "$PIPEC" edit folder.pipe
check "standard input" says 2 "'-': 'pipec edit' edits sources" "$PIPEC" edit -
check "a second file" says 2 "a second input file" "$PIPEC" edit smooth.pipe other.pipe
check "no file" says 2 "no input file" "$PIPEC" edit
for port in 0 65536 x -1 99999999999999999999; do
    check "port $port" says 2 "--port=$port: a number from 1 to 65535" "$PIPEC" edit --port=$port smooth.pipe
done
mkdir none broken
echo 'no library' >none/libmicrohttpd.so.12
echo 'int pipec_other; int pipec_other = 1;' | ${CC:-cc} -shared -fPIC -x c - -o broken/libmicrohttpd.so.12
for folder in none broken; do
    check "a library that is $folder" says 2 "cannot load libmicrohttpd.so.12, which serves the page: .*the package libmicrohttpd12 has it" \
        env LD_LIBRARY_PATH="$TMP/$folder" "$PIPEC" edit smooth.pipe
done
check "doctor says how to get it" says 0 "missing +microhttpd +serves the page of 'pipec edit': install the package libmicrohttpd12" \
    env LD_LIBRARY_PATH="$TMP/none" "$PIPEC" doctor

if ! ldconfig -p | grep -q 'libmicrohttpd\.so\.12'; then
    echo "skip the_server libmicrohttpd is not installed"
    exit 0
fi
command -v python3 >/dev/null || { echo "skip the_server python3, which asks it, is not installed"; exit 0; }
python3 "$ROOT/tests/e2e/edit_client.py"
