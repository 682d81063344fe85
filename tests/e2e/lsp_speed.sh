#!/bin/bash
# SPDX-License-Identifier: MIT
# pipec lsp: the work of an answer about a project of 5,000 lines. At 3,000 million instructions a second, 50 ms are 150
# million instructions: those of the function that answers are counted, with those that it calls.
set -u
command -v python3 >/dev/null || { echo "python3, which plays the editor, is not installed"; exit 77; }
command -v valgrind >/dev/null || { echo "valgrind, which counts the instructions, is not installed"; exit 77; }
python3 - "$PIPEC" "$ROOT" "$TMP" <<'END'
import sys
sys.path.insert(0, sys.argv[2] + '/tests/e2e')
from lsp_editor import *
import glob, re

MOST = 150_000_000
KERNEL = '''/// Kernel {n} of file {f}.
kernel k{f}_{n}<int N>(in f32 x peek N, out f32 y; f32 by = 1) {{
    Point p = Point(0, 0);
    f32 sum = 0;
    for (i32 i = 0; i < N; i++) {{
        sum += x[i] * by;
        p.re += sum;
    }}
    y <- p.re + sum;
}}

'''
total = 0
for f in range(10):
    text = 'import "f%d.pipe";\n\n' % (f - 1) if f else 'struct Point { f32 re, im; };\n\n'
    text += ''.join(KERNEL.format(f=f, n=n) for n in range(45))
    text += 'pipeline main%d(in f32 x, out f32 y; f32 by = 2) {\n    x -> %s -> y;\n}\n' % (
        f, ' -> '.join('k%d_%d<4>(by)' % (f, n) for n in range(20)))
    total += text.count('\n')
    with open('f%d.pipe' % f, 'w') as file:
        file.write(text)
line = text[:text.index('x -> k')].count('\n')
column = text.split('\n')[line].index('k9_2') + 1

answers = {'definition': 'answer_definition', 'references': 'answer_references', 'rename': 'answer_rename', 'hover': 'lsp_hover',
           'completion': 'answer_completion', 'signatureHelp': 'answer_signature', 'documentSymbol': 'answer_symbols',
           'semanticTokens/full': 'answer_tokens', 'inlayHint': 'answer_hints', 'formatting': 'lsp_formatting'}
if not os.environ.get('LONG'):
    answers = {name: answers[name] for name in ['rename', 'hover']}
counted = list(answers.values()) + ['lint_on_thread']
editor = Editor(folder=uri_of(''), wrapper=['valgrind', '-q', '--tool=callgrind', '--callgrind-out-file=count.%p',
                *['--toggle-collect=' + name for name in counted]])
known = set()
def instructions():
    """Of the children that have ended since: they are all counted."""
    new = set(glob.glob('count.*')) - known
    known.update(new)
    totals = [re.search(r'^totals: (\d+)', open(name).read(), re.M) for name in new]
    return sum(int(found.group(1)) for found in totals if found)

check('the project has 5,000 lines', 4900 <= total <= 5100, total)
found = editor.open('f9.pipe', text)
check('it is sound', not any(d['severity'] == 1 for d in found), found)
def judge(what, expected):
    count = instructions()
    check('%s takes less than 150 million instructions' % what, expected < count < MOST, count)
judge('a computation of diagnostics', 10_000_000)
for name in answers:
    inside = len('9_2<4>(') if name == 'signatureHelp' else 0
    answer = editor.at(name, 'f9.pipe', line, column + inside, newName='renamed', context={'includeDeclaration': True})
    check('%s has an answer' % name, bool(answer), answer)
    judge('an answer to %s' % name, 100_000)
check('the end is 0', editor.end() == 0)
END
