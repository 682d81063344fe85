#!/bin/bash
# SPDX-License-Identifier: MIT
# pipec lsp: the uses of names, rename, signatures, rates as hints, and texts that are changed in parts.
set -u
command -v python3 >/dev/null || { echo "python3, which plays the editor, is not installed"; exit 77; }
python3 - "$PIPEC" "$ROOT" "$TMP" <<'END'
import sys
sys.path.insert(0, sys.argv[2] + '/tests/e2e')
from lsp_editor import *

MAIN = '''import "part.pipe";

struct Point { f32 re, im; };
const int N = 4;

/// A mean of N packets.
kernel mean<int M>(in f32 x peek M, out f32 y; f32 by = 1) {
    f32 sum = 0;
    for (i32 i = 0; i < M; i++) sum += x[i];
    y <- by * sum / M;
}
kernel turn(in Point p, out Point q) {
    Point r = {.re = p.im, .im = -p.re};
    f32 x = r.re;
    q <- Point(x, r.im);
}
kernel other(in f32 x, out f32 y) { f32 sum = x; y <- sum; }

pipeline main(in f32 x, out f32 y, in Point a, out Point b; f32 by = 2) {
    buffer f32 inner;
    x -> first: mean<N>(by) -> inner;
    inner -> twice -> y;
    a -> turn -> b;
}

test quiet of mean<4>(2) { x = zeros(8); expect y == zeros(5); }
'''
PART = '''kernel twice(in f32 x, out f32 y) { y <- 2 * x; }
kernel first_try(in f32 x, out f32 y) { y <- x; }
'''
USER = '''import "main.pipe";
pipeline user(in f32 x, out f32 y) { x -> mean<2> -> twice -> y; }
'''
APART = '''kernel mean(in f32 x, out f32 y) { y <- x; }
pipeline apart(in f32 x, out f32 y) { x -> mean -> y; }
'''
texts = {'main.pipe': MAIN, 'part.pipe': PART, 'user.pipe': USER, 'apart.pipe': APART}
for name, text in texts.items():
    with open(name, 'w') as file:
        file.write(text)
editor = Editor(folder=uri_of(''))
check('the text is a sound program', not any(d['severity'] == 1 for d in editor.open('main.pipe', MAIN)), editor.published)

def at(text, nth=0, source=MAIN):
    """Line and column of the first letter of a text."""
    offset = -1
    for _ in range(nth + 1):
        offset = source.index(text, offset + 1)
    return source.count('\n', 0, offset), offset - source.rfind('\n', 0, offset) - 1

def references(text, nth=0, declaration=True):
    found = editor.at('references', 'main.pipe', *at(text, nth), context={'includeDeclaration': declaration})
    return sorted((os.path.basename(f['uri']), f['range']['start']['line'], f['range']['start']['character']) for f in found)

def rename(text, new, nth=0):
    line, character = at(text, nth)
    return editor.request('textDocument/rename', {'textDocument': {'uri': uri_of('main.pipe')},
                          'position': {'line': line, 'character': character}, 'newName': new})

def renamed(answer):
    return {os.path.basename(uri): applied(texts[os.path.basename(uri)], edits) for uri, edits in answer['result']['changes'].items()}

# ---- references ----
found = references('mean<int M>')
check('a kernel is found in every file that can use it', found == [('main.pipe', 6, 7), ('main.pipe', 20, 16), ('main.pipe', 25, 14), ('user.pipe', 1, 42)], found)
check('without the declaration, too', references('mean<int M>', declaration=False) == found[1:])
check('from a use, the same', references('mean<N>') == found)
found = references('sum = 0')
check('a variable is found in its kernel only', found == [('main.pipe', 7, 8), ('main.pipe', 8, 32), ('main.pipe', 9, 14)], found)
found = references('re, im')
check('a field is found behind points and in braces', found == [('main.pipe', 2, 19), ('main.pipe', 12, 16), ('main.pipe', 12, 36), ('main.pipe', 13, 14)], found)
found = references('x peek M')
check('a port is found in the body and in tests', found == [('main.pipe', 6, 26), ('main.pipe', 8, 39), ('main.pipe', 25, 27)], found)
found = references('inner;')
check('a buffer is found in chains', found == [('main.pipe', 19, 15), ('main.pipe', 20, 31), ('main.pipe', 21, 4)], found)
check('nothing is found at a number', references('0;\n') == [])
found = editor.at('documentHighlight', 'main.pipe', *at('mean<N>'))
check('highlights are the uses in the file', len(found) == 3, found)
place = editor.at('definition', 'main.pipe', *at('sum / M'))
check('the definition of a variable', place['range']['start'] == {'line': 7, 'character': 8}, place)
hover = editor.at('hover', 'main.pipe', *at('sum / M'))
check('hover shows the type of a variable', 'variable f32 sum' in hover['contents']['value'], hover)
hover = editor.at('hover', 'main.pipe', *at('mean<N>'))['contents']['value']
check('hover shows the rates of a node', 'mean<4>: in x pop 1 peek 4, out y push 1; 1 firing an iteration' in hover and 'A mean of N packets.' in hover, hover)
hover = editor.at('hover', 'main.pipe', *at('inner;'))['contents']['value']
check('hover shows the depth of a buffer, and why', 'buffer f32 inner: depth ' in hover and '(' in hover, hover)

# ---- rename ----
after = renamed(rename('mean<N>', 'average'))
check('a rename changes every file', after['main.pipe'] == MAIN.replace('mean<', 'average<') and
      after['user.pipe'] == USER.replace('mean<', 'average<') and set(after) == {'main.pipe', 'user.pipe'}, after)
after = renamed(rename('re, im', 'real'))['main.pipe']
check('of a field, too', after == MAIN.replace('f32 re', 'f32 real').replace('.re', '.real'), after)
for claim, text, new, nth, reason in [
        ('a name that is there already', 'mean<N>', 'turn', 0, "'turn' is already declared at"),
        ('the name of an imported item', 'mean<N>', 'twice', 0, "'twice' is already declared at"),
        ('a name that another one would hide', 'x = r.re', 'r', 0, "'r' is already declared at"),
        ('a name that would hide an item', 'sum / M', 'N', 0, None),
        ('a reserved word', 'mean<N>', 'buffer', 0, "'buffer' is not a name"),
        ('no name', 'mean<N>', '2x', 0, "'2x' is not a name"),
        ('a blank', 'mean<N>', 'a b', 0, "'a b' is not a name"),
        ('an item of the library', 'zeros', 'nulls', 0, "'zeros'")]:
    answer = rename(text, new, nth)
    if reason is None:
        check('a rename to %s is no change of meaning' % claim, 'result' in answer, answer)
    else:
        check('a rename to %s is refused' % claim, reason in answer.get('error', {}).get('message', ''), answer)
HIDES = 'const int a = 1;\nkernel k(in i32 x, out i32 y) { i32 b = x; y <- a + b; }\npipeline main(in i32 x, out i32 y) { x -> k -> y; }\n'
editor.open('hides.pipe', HIDES)
answer = editor.request('textDocument/rename', {'textDocument': {'uri': uri_of('hides.pipe')}, 'position': {'line': 1, 'character': 37}, 'newName': 'a'})
check('a rename that captures a use is refused', "'a' would have another meaning at" in answer.get('error', {}).get('message', ''), answer)
answer = editor.at('prepareRename', 'main.pipe', *at('mean<N>'))
check('the range of a rename is asked for first', answer['placeholder'] == 'mean' and answer['range']['start'] == {'line': 20, 'character': 16}, answer)
editor.change('main.pipe', MAIN.replace('y <- by * sum / M;', 'y <- by * sum / ;'))
check('a rename is refused where an error hides a use', 'a syntax error hides a use' in rename('sum = 0', 'total').get('error', {}).get('message', ''))
check('and not where it hides none', 'result' in rename('turn(in', 'rotate'))
editor.change('main.pipe', MAIN)

# ---- symbols, tokens, signatures, hints ----
answer = editor.request('workspace/symbol', {'query': 'MEAN'})['result']
check('symbols of the workspace are found by a part of the name', sorted(os.path.basename(s['location']['uri']) for s in answer) == ['apart.pipe', 'main.pipe'], answer)
answer = editor.request('workspace/symbol', {'query': ''})['result']
check('all of them, without one', {'mean', 'twice', 'user', 'apart', 'Point', 'N', 'quiet'} <= {s['name'] for s in answer}, answer)
legend = editor.capabilities['semanticTokensProvider']['legend']
def tokens(name, text):
    data, line, column, found = editor.at('semanticTokens/full', name)['data'], 0, 0, []
    for i in range(0, len(data), 5):
        column = data[i + 1] + (column if data[i] == 0 else 0)
        line += data[i]
        units = text.split('\n')[line].encode('utf-16-le')[2 * column:2 * (column + data[i + 2])]
        found.append((units.decode('utf-16-le'), legend['tokenTypes'][data[i + 3]],
                      [m for b, m in enumerate(legend['tokenModifiers']) if data[i + 4] >> b & 1]))
    return found
found = tokens('main.pipe', MAIN)
check('tokens tell what names mean', [('mean', 'method', ['declaration']), ('M', 'parameter', ['declaration']), ('x', 'parameter', ['declaration']),
      ('peek', 'keyword', []), ('M', 'parameter', [])] == found[found.index(('mean', 'method', ['declaration'])):][:5] and
      ('N', 'variable', ['readonly']) in found and ('re', 'property', []) in found and ('turn', 'method', []) in found, found)
WIDE = '/* \U0001d11e */ kernel k(in f32 x, out f32 y) { y <- x; } /* é */ pipeline main(in f32 x, out f32 y) { x -> k -> y; }\n'
editor.open('wide.pipe', WIDE)
check('their columns are UTF-16 code units', [t[0] for t in tokens('wide.pipe', WIDE)] == ['k', 'x', 'y', 'y', 'x', 'main', 'x', 'y', 'x', 'k', 'y'], tokens('wide.pipe', WIDE))
def signature(text, name='main.pipe', source=MAIN, move=0):
    line, column = at(text, 0, source)
    answer = editor.at('signatureHelp', name, line, column + move)
    return answer and ([p['label'] for p in answer['signatures'][0]['parameters']], answer['activeParameter'], answer['signatures'][0]['label'])
check('the signature of a call has the arguments', signature('by) -> inner')[:2] == (['f32 by'], 0), signature('by) -> inner'))
check('that of <...> the compile-time ones', signature('N>(by)')[:2] == (['int M'], 0), signature('N>(by)'))
check('its label is the declaration', signature('N>(by)')[2] == 'kernel mean<int M>(in f32 x peek M, out f32 y; f32 by = 1)')
CALLS = 'fn f32 add(f32 a, f32 b) { return a + b; }\nkernel mix(in f32 l, in f32 r, out f32 y; f32 by) { y <- add(l * by, (r)); }\npipeline main(in f32 x, out f32 y) { mix(x, x -> y; 1.0); }\n'
editor.open('calls.pipe', CALLS)
check('a function has its parameters', signature('(r))', 'calls.pipe', CALLS)[:2] == (['f32 a', 'f32 b'], 1), signature('(r))', 'calls.pipe', CALLS))
check('before the arrow stand the in-ports', signature('x -> y; 1', 'calls.pipe', CALLS)[:2] == (['f32 l', 'f32 r'], 1), signature('x -> y; 1', 'calls.pipe', CALLS))
check('behind it the out-ports', signature('y; 1', 'calls.pipe', CALLS)[:2] == (['f32 y'], 0), signature('y; 1', 'calls.pipe', CALLS))
check('behind the semicolon the arguments', signature('1.0)', 'calls.pipe', CALLS)[:2] == (['f32 by'], 0), signature('1.0)', 'calls.pipe', CALLS))
check('beside a call there is none', signature('-> inner;') is None, signature('-> inner;'))
editor.change('calls.pipe', CALLS.replace('mix(x, x -> y; 1.0); }', 'mix(x, '))
check('nor is a whole call needed', signature('mix(x, ', 'calls.pipe', CALLS, 7)[1] == 1)
hints = [(h['position']['line'], h['position']['character'], h['label']) for h in editor.at('inlayHint', 'main.pipe')]
check('hints are the rates that are not written, and depths', [h for h in hints if h[0] == 6] == [(6, 27, 'pop 1 peek 4'), (6, 45, 'push 1')] and any(h[:2] == (19, 20) and h[2].startswith('depth ') for h in hints), hints)
CHAIN = 'kernel pair(in f32 x pop 2, out f32 y) { y <- x[0] + x[1]; }\nkernel twice(in f32 x, out f32 y) { y <- x; y <- x; }\npipeline main(in f32 x, out f32 y) { x -> twice -> pair -> y; }\n'
editor.open('chain.pipe', CHAIN)
hints = [(h['position']['line'], h['position']['character'], h['label'].split(' ')[0]) for h in editor.at('inlayHint', 'chain.pipe')]
check('of a buffer without a name, before its arrow', (2, CHAIN.split('\n')[2].index(' -> pair'), 'depth') in hints, hints)
check('a written rate has no hint', not any(h[0] == 0 and h[1] < 27 for h in hints) and (1, 21, 'pop') in hints, hints)
check('a damaged text has none', editor.change('chain.pipe', CHAIN.replace('-> y;', '->')) and editor.at('inlayHint', 'chain.pipe') == [])
names = [c['label'] for c in editor.at('completion', 'main.pipe', *at('sum / M'))]
check('completion has the names of the place', {'sum', 'by', 'x', 'mean', 'floor', 'peek'} <= set(names) and 'r' not in names, names)
names = [c['label'] for c in editor.at('completion', 'main.pipe', *at('im, .im'))]
check('and fields behind a point', set(names) == {'re', 'im'}, names)

# ---- texts that are changed in parts ----
def edit(name, *changes):
    editor.notify('textDocument/didChange', {'textDocument': {'uri': uri_of(name), 'version': 3}, 'contentChanges': [
        {'range': {'start': {'line': a, 'character': b}, 'end': {'line': c, 'character': d}}, 'text': text} for a, b, c, d, text in changes]})
    return editor.diagnostics(name)
line = '\U0001d11eé // \n' + CHAIN
editor.change('chain.pipe', '// ' + line)
column = len('// ** // ')
found = edit('chain.pipe', (3, 42, 3, 47, 'twcie'))
check('a part is replaced', [d['code'] for d in found if d['severity'] == 1] == ['unknown-name'] and found[0]['range']['start'] == {'line': 3, 'character': 42}, found)
check('several parts, one after the other', edit('chain.pipe', (3, 42, 3, 47, 'twi'), (3, 45, 3, 45, 'ce'), (0, 3, 0, 5, '')) == [])
edits = editor.at('formatting', 'chain.pipe')
check('columns behind a wide character are right', applied('// é // \n' + CHAIN, edits).startswith('// é //\n'), edits)
for change in [(0, 0, 99, 99, ''), (5, 0, 2, 0, 'x'), (0, 2000000000, 0, 2000000000, 'y'), (2000000000, 5, 2000000001, 5, '\U0001d11e'), (-1, -5, 0, -1, 'z')]:
    edit('chain.pipe', change)
check('ranges outside of the text do no harm', len(tokens('chain.pipe', 'xyz' * 99)) == 0)
editor.change('chain.pipe', CHAIN)
with open('crowd.pipe', 'w') as file:
    file.write('/*')
check('a damaged file of the folder does not count', len(references('mean<int M>')) == 4)
check('the end is 0', editor.end() == 0)
END
