#!/bin/sh
# SPDX-License-Identifier: MIT
# Every byte value, in a name of the source and in the name of the file: what is printed is UTF-8 without control
# characters, in every form of the diagnostics.  One process reports on all files.
set -eu
cd "$TMP"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
cat >bytes.py <<'END'
import os, subprocess, sys

FORMS = 'short json jsonl sarif github gitlab checkstyle'.split()

def write(name, wrong):
    with open(b'sources/' + name, 'wb') as file:
        file.write(b'kernel k(in i32 x, out i32 y) { y <- ' + wrong + b'; }\n')

def problems(text):
    for line in text.split(b'\n'):
        try:
            characters = line.decode('utf-8')
        except UnicodeDecodeError:
            yield f'not UTF-8: {line!r}'
            continue
        bad = [c for c in characters if (c < ' ' and c != '\t') or '\x7f' <= c < '\xa0']
        if bad:
            yield f'control character {bad[0]!r}: {line!r}'

os.mkdir('sources')
files = 0
for value in range(256):
    byte = bytes([value])
    write(b'in%03d.pipe' % value, b'n' + byte + b'm')
    files += 1
    if value not in (0, ord('/')):
        write(b'n' + byte + b'.pipe', b'q')
        files += 1
result = subprocess.run([os.environ['PIPEC'], 'lint', '--error-limit=0', '--diagnostics=text']
                        + [f'--diagnostics={form}:out.{form}' for form in FORMS] + ['sources'], capture_output=True)
bad = [f'text: {what}' for what in problems(result.stdout + result.stderr)]
if result.returncode != 1 or b' errors in %d files' % files not in result.stderr:
    bad.append(f'exit status {result.returncode}: {result.stderr!r}')
for form in FORMS:
    with open('out.' + form, 'rb') as file:
        text = file.read()
    bad += [f'{form}: {what}' for what in problems(text)]
    if text.count(b'.pipe') < files:
        bad.append(f'{form}: not all {files} files are in it')
print('\n'.join(bad))
sys.exit(bool(bad))
END
if python3 bytes.py; then echo "ok every byte value"; else echo "not ok every byte value"; exit 1; fi
