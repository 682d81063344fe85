#!/bin/sh
# SPDX-License-Identifier: MIT
# Every byte value, in a name of the source and in the name of the file: what is printed is UTF-8 without control
# characters, in every form of the diagnostics.
set -eu
cd "$TMP"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
cat >bytes.py <<'END'
import os, subprocess, sys

FORMS = 'short json jsonl sarif github gitlab checkstyle'.split()
COMMAND = [os.environ['PIPEC'], '--diagnostics=text'] + [f'--diagnostics={f}:out.{f}' for f in FORMS]

def problem(text):
    try:
        characters = text.decode('utf-8')
    except UnicodeDecodeError:
        return 'not UTF-8'
    bad = [c for c in characters if (c < ' ' and c not in '\n\t') or '\x7f' <= c < '\xa0']
    return f'control character {bad[0]!r}' if bad else None

def run(name):
    result = subprocess.run(COMMAND + [name], capture_output=True)
    assert result.returncode in (0, 1), (name, result)
    found = {'text': problem(result.stderr)}
    for form in FORMS:
        with open('out.' + form, 'rb') as file:
            found[form] = problem(file.read())
    return [f'{name!r}: {form}: {what}' for form, what in found.items() if what]

bad = []
for value in range(256):
    byte = bytes([value])
    with open('in.pipe', 'wb') as file:
        file.write(b'kernel k(in i32 x, out i32 y) { y <- n' + byte + b'm; }\n')
    bad += run(b'in.pipe')
    if value in (0, ord('/')):
        continue
    name = b'./n' + byte + b'.pipe'
    with open(name, 'wb') as file:
        file.write(b'kernel k(in i32 x, out i32 y) { y <- q; }\n')
    bad += run(name)
print('\n'.join(bad))
sys.exit(bool(bad))
END
if python3 bytes.py; then echo "ok every byte value"; else echo "not ok every byte value"; exit 1; fi
