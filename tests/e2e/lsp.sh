#!/bin/bash
# SPDX-License-Identifier: MIT
# pipec lsp: sessions of an editor with the language server, one message after the other; damaged messages and texts.
set -u
command -v python3 >/dev/null || { echo "python3, which plays the editor, is not installed"; exit 77; }
python3 - "$PIPEC" "$ROOT" "$TMP" <<'END'
import sys
sys.path.insert(0, sys.argv[2] + '/tests/e2e')
from lsp_editor import *

TEXT = '''import "part.pipe";
import "std/dsp.pipe";

/// Half of a packet.
kernel half(in f32 x, out f32 y) { y <- x / 2; }

const int N = 3;

pipeline main(in f32 x, out f32 y) { x -> half -> twice -> gain(2) -> y; }

test quiet of main { x = zeros(N); expect y == zeros(N); }
'''
PART = '''kernel twice(in f32 x, out f32 y) { y <- 2 * x; }
'''

editor = Editor()
check('positions are UTF-16', editor.capabilities['positionEncoding'] == 'utf-16', editor.capabilities)
editor.open('part.pipe', PART)
found = editor.open('my main.pipe', TEXT)
check('a good text has no findings', found == [], found)

# ---- diagnostics ----
found = editor.change('my main.pipe', TEXT.replace('x -> half', 'x -> /* \U0001d11e */ hlaf'))
check('a wrong name is found', [d['code'] for d in found if d['severity'] == 1] == ['unknown-name'], found)
wrong = next(d for d in found if d['severity'] == 1)
column = len('pipeline main(in f32 x, out f32 y) { x -> /* ** */ ')
check('its place is in UTF-16 code units', wrong['range']['start'] == {'line': 8, 'character': column} and
      wrong['range']['end']['character'] == column + 4, wrong)
actions = editor.at('codeAction', 'my main.pipe', context={'diagnostics': [wrong]})
check('it has a quick fix', [a['title'] for a in actions] == ["did you mean 'half'?"], actions)
edits = actions[0]['edit']['changes'][uri_of('my main.pipe')]
check('which writes the right name', 'hlaf' not in applied(TEXT.replace('x -> half', 'x -> /* \U0001d11e */ hlaf'), edits) and
      editor.change('my main.pipe', applied(TEXT.replace('x -> half', 'x -> /* \U0001d11e */ hlaf'), edits)) == [], edits)
found = editor.change('my main.pipe', TEXT.replace('y <- x / 2;', 'y <- x / 2'))
check('a missing semicolon is found in a damaged text', any(d['code'] == 'syntax' for d in found), found)
actions = editor.at('codeAction', 'my main.pipe', context={'diagnostics': found})
check('its quick fix gives the text back', applied(TEXT.replace('y <- x / 2;', 'y <- x / 2'),
      actions[0]['edit']['changes'][uri_of('my main.pipe')]) == TEXT, actions)
found = editor.change('my main.pipe', TEXT.replace('x -> half', 'x -> half -> half'))
check('and so is nothing, once it is right', found == [], found)
found = editor.change('my main.pipe', TEXT.replace('in f32 x, out f32 y) { y <- x / 2', 'in f32 x, out f32 y) { y <- x[1] / 2'))
check('the proofs run, too', any(d['code'] == 'out-of-window' and d['data'] for d in found), found)
found = editor.change('my main.pipe', TEXT.replace('const int N = 3;', 'const int N = 3;\nkernel idle(in f32 x, out f32 y) { y <- x; }'))
check('lint rules are on', [(d['code'], d['severity']) for d in found] == [('unused-item', 2)], found)
check('the text counts that the editor holds, not that of the disk',
      editor.change('my main.pipe', TEXT) == [] and open('my main.pipe').read() == TEXT)
editor.change('part.pipe', PART.replace('twice', 'double_it'))
found = editor.diagnostics('my main.pipe') if uri_of('my main.pipe') not in editor.published else editor.published[uri_of('my main.pipe')]
while not found:
    found = editor.diagnostics('my main.pipe')
check('an open file that is imported counts too', any(d['code'] == 'unknown-name' for d in found), found)
editor.change('part.pipe', PART)

# ---- questions ----
hover = editor.at('hover', 'my main.pipe', 8, 44)
check('hover shows the declaration and its comment', hover and 'kernel half(in f32 x, out f32 y)' in hover['contents']['value'] and
      'Half of a packet.' in hover['contents']['value'], hover)
hover = editor.at('hover', 'my main.pipe', 8, TEXT.split('\n')[8].index('gain') + 1)
check('of the library, too', hover and 'factor' in hover['contents']['value'], hover)
check('and nothing for a blank', editor.at('hover', 'my main.pipe', 2, 0) is None)
place = editor.at('definition', 'my main.pipe', 8, 44)
check('a definition in the file', place == {'uri': uri_of('my main.pipe'), 'range': {'start': {'line': 4, 'character': 7},
      'end': {'line': 4, 'character': 11}}}, place)
place = editor.at('definition', 'my main.pipe', 8, TEXT.split('\n')[8].index('twice'))
check('a definition in another file', place and place['uri'] == uri_of('part.pipe') and place['range']['start'] == {'line': 0, 'character': 7}, place)
symbols = editor.at('documentSymbol', 'my main.pipe')
check('symbols are the items of the file', [s['name'] for s in symbols] == ['half', 'N', 'main', 'quiet'], symbols)
names = [c['label'] for c in editor.at('completion', 'my main.pipe', 8, 44)]
check('completion has items, imported ones and keywords', {'half', 'twice', 'fir_lowpass', 'pipeline'} <= set(names), names)
edits = editor.at('formatting', 'my main.pipe', options={'tabSize': 8, 'insertSpaces': False})
check('a text in the canonical layout needs no edit', edits == [], edits)
editor.change('my main.pipe', TEXT.replace('y <- x / 2', 'y<-x/2'))
edits = editor.at('formatting', 'my main.pipe', options={})
check('formatting gives the canonical layout', applied(TEXT.replace('y <- x / 2', 'y<-x/2'), edits) == TEXT, edits)
editor.change('my main.pipe', TEXT.replace('{ y <- x / 2', '{ y <- x / '))
check('and leaves a damaged text', editor.at('formatting', 'my main.pipe', options={}) is None)

# ---- damaged texts and messages ----
for text in ['', '\n', '{', 'kernel', 'kernel k(', 'pipeline main(in f32 x, out f32 y) { x -> ', '/*', '"', '\u0000', 'import "my main.pipe";', 'é\U0001d11e']:
    editor.change('my main.pipe', text)
    for question in ['hover', 'definition', 'completion', 'documentSymbol', 'formatting']:
        editor.at(question, 'my main.pipe', 7, 7)
def resident_pages():
    return int(open('/proc/%d/statm' % editor.server.pid).read().split()[1])
for turn in range(2):
    before = resident_pages()
    for i in range(40):
        editor.change('my main.pipe', TEXT + '// %d' % i)
        editor.at('completion', 'my main.pipe', 1, 1)
check('the server does not grow with its answers', resident_pages() - before < 64, [before, resident_pages()])
for end in range(0, len(TEXT), 23):
    editor.change('my main.pipe', TEXT[:end])
    editor.at('documentSymbol', 'my main.pipe', 1000000, 1000000)
check('each beginning of the text has an answer', True)
answer = editor.request('textDocument/hover', {'textDocument': {'uri': 'file:///no/such'}, 'position': {'line': 0, 'character': 0}})
check('a document that is not open is an error', answer['error']['code'] == -32602, answer)
answer = editor.request('textDocument/hover', None)
check('so are missing parameters', answer['error']['code'] == -32602, answer)
answer = editor.request('no/such', {})
check('and a method that does not exist', answer['error']['code'] == -32601, answer)
editor.notify('no/such', {})
editor.send_bytes(b'{"jsonrpc": ')
check('a message that is no JSON', editor.answer()['error']['code'] == -32700)
editor.send_bytes(b'[1, 2]')
check('a message that is no object', editor.answer()['error']['code'] == -32700)
editor.notify('textDocument/didOpen', {'textDocument': {'uri': 'untitled:1', 'text': 'kernel a(in f32 x) {}'}})
answer = editor.request('textDocument/documentSymbol', {'textDocument': {'uri': 'untitled:1'}})
check('a document that is no file has symbols', [s['name'] for s in answer['result']] == ['a'], answer)
editor.notify('textDocument/didClose', {'textDocument': {'uri': uri_of('my main.pipe')}})
while editor.diagnostics('my main.pipe'): # those of the open text may come first
    pass
check('closing takes the diagnostics away', True)
check('the end is 0 after a shutdown', editor.end() == 0)

editor = Editor(initialize=False)
answer = editor.request('textDocument/hover', {})
check('nothing is answered before initialize', answer['error']['code'] == -32002, answer)
editor.notify('exit', None)
check('the end is 1 without a shutdown', editor.server.wait(timeout=60) == 1)
editor = Editor()
editor.server.stdin.close()
check('and when the editor goes away', editor.server.wait(timeout=60) == 1)
for header in [b'Content-Length: x\r\n\r\n', b'Content-Length: 99999999999999999999\r\n\r\n', b'\r\n', b'Content-Length: 10\r\n\r\n']:
    editor = Editor()
    editor.send_bytes(b'{}', header)
    editor.server.stdin.close()
    if editor.server.wait(timeout=60) != 1:
        check('a wrong header ends the server', False, header.decode())
check('a wrong header ends the server', True)
END
"$PIPEC" lsp --no 2>&1 | grep -q "unknown option '--no'" && echo "ok an unknown option is refused" || echo "not ok an unknown option is refused"
