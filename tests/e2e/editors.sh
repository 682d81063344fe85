#!/bin/bash
# SPDX-License-Identifier: MIT
# editors/: the grammars have the words of the lexer; Visual Studio Code (played by node), Vim and Neovim understand them.
# LONG: Neovim works with the language server.
set -u
. "$ROOT/tests/checks.sh"
editors=$ROOT/editors

# ---- words: those of compiler/syntax/lexer.l, of the built-in functions, and of the completion of pipec lsp ----
if command -v python3 >/dev/null; then
    python3 - "$PIPEC" "$ROOT" "$TMP" <<'END'
import sys
sys.path.insert(0, sys.argv[2] + '/tests/e2e')
from lsp_editor import *
import re

lexer = open(root + '/compiler/syntax/lexer.l').read()
words = set(re.findall(r'^"([a-z]+)" ', lexer, re.M))
functions = set(re.findall(r'^BUILTIN\(\w+, "(\w+)"', open(root + '/compiler/ir/builtins.def').read(), re.M))
types = re.search(r'^\((bool.*?)\)\{LANES\}\|(.*?) \{', lexer, re.M)
lanes = re.search(r'^LANES +\(x\((.*?)\)\)\?', lexer, re.M).group(1).split('|')
base = {'bool', 'bf16'} | {a + b for a in 'iu' for b in ('8', '16', '32', '64')} | {'f16', 'f32', 'f64'}
whole = re.compile('(?:%s)' % types.group(1))
check('the test knows the types of the lexer', all(whole.fullmatch(t) for t in base) and types.group(2) == 'int|void' and
      types.group(1) == 'bool|[iu](8|16|32|64)|f(16|32|64)|bf16', types.groups())
all_types = base | {'int', 'void'} | {t + 'x' + n for t in base for n in lanes}
attributes = set()
for path in ['body_port.c', 'body_foreign.c', 'body_stmt.c', 'elaborate.c', 'instance.c']:
    for name, text in re.findall(r'static const char \*const (known|in_names|out_names)\[\] = \{(.*?)\}', open(root + '/compiler/sema/' + path).read(), re.S):
        attributes |= set(re.findall(r'"(\w+)"', text))
attributes -= words
check('the test finds the words of the lexer', {'kernel', 'expect', 'x', 'finish'} <= words and len(words) == 36 and {'pop', 'depth'} <= attributes, [sorted(words), sorted(attributes)])

grammar = json.load(open(root + '/editors/vscode/syntaxes/pipe.tmLanguage.json'))
package = json.load(open(root + '/editors/vscode/package.json'))
repository = grammar['repository']
def patterns(name):
    part = repository[name]
    return [re.compile(p['match']) for p in part.get('patterns', [part]) if 'match' in p]
check('every part of the grammar is used', sorted(repository) == sorted(p['include'][1:] for p in grammar['patterns']))
fixed = {word for word in words if any(p.fullmatch(word) for n in ('control', 'storage') for p in patterns(n))}
listed = set(re.findall('[a-z]{2,}', re.sub(r'\\\\[a-z]', '', repository['control']['match'] + repository['storage']['match'])))
check('VS Code: the keywords are those of the lexer', listed == fixed and {'if', 'state'} <= fixed, [sorted(listed - fixed), sorted(fixed - listed)])
samples = {'in': 'in f32 x', 'out': 'out f32 y', 'type': 'type T>', 'x': 'init 4 x 0', 'of': 'of k', 'init': 'init { }', 'child': 'child kernel',
           'extern': 'extern pure kernel', 'pure': 'pure kernel', 'builtin': 'builtin kernel', 'test': 'test t', 'expect': 'expect y'}
missing = [word for word in sorted(words - fixed) if word not in samples or not any(
    match.group(0).strip() == word for p in patterns('places') for match in p.finditer(samples[word]))]
check('VS Code: the others are keywords in their places', not missing, missing)
wrong = [t for t in sorted(all_types) if not any(p.fullmatch(t) for p in patterns('types'))] + [
    t for t in ('f8', 'i128', 'f32x5', 'intx4', 'integer') if any(p.fullmatch(t) for p in patterns('types'))]
check('VS Code: the types are those of the lexer', not wrong, wrong)
wrong = [f for f in sorted(functions) if not any(p.search(f + '(') for p in patterns('functions'))]
check('VS Code: so are the built-in functions', not wrong, wrong)
wrong = [a for a in sorted(attributes) if not any(p.search(a + ' 4') for p in patterns('attributes'))]
check('VS Code: and the attributes of sema', not wrong, wrong)
for text, name in [('1.5e-3f', 'float'), ('.5', 'float'), ('2f', 'float'), ('0x1Fu', 'hex'), ('0b101', 'binary'), ('12uL', 'integer'), ('640x480', 'dimensions')]:
    found = [p['name'].split('.')[2] for p in repository['numbers']['patterns'] if re.match(p['match'] + '$', text)]
    check('VS Code: %s is one number' % text, found[:1] == [name], found)
check('VS Code: a range is two', re.match(repository['numbers']['patterns'][3]['match'], '0..7') is None)
version = re.search(r'^VERSION +:= (\S+)', open(root + '/Makefile').read(), re.M).group(1)
check('VS Code: the extension has the version of pipec', package['version'] == version, package['version'])

syntax = open(root + '/editors/vim/syntax/pipe.vim').read()
def listed_by_vim(group):
    return set(word for line in re.findall(r'^syntax keyword %s (.*)$' % group, syntax, re.M) for word in line.split())
vim = listed_by_vim('pipeControl') | listed_by_vim('pipeStorage')
check('Vim: the keywords are those of the lexer', vim == fixed, [sorted(vim - fixed), sorted(fixed - vim)])
check('Vim: the functions are the built-in ones', functions <= listed_by_vim('pipeFunction'), sorted(functions - listed_by_vim('pipeFunction')))
vim = set(re.findall('[a-z]+', re.search(r'pipeAttribute /\\<\\%\((.*?)\\\)\\>', syntax).group(1)))
check('Vim: the attributes are those of sema', attributes <= vim, sorted(attributes - vim))

with open('a.pipe', 'w') as file:
    file.write('')
editor = Editor()
editor.open('a.pipe', '\n')
names = {c['label'] for c in editor.at('completion', 'a.pipe')}
check('completion has the words of the lexer, types, functions and attributes', words | base | {'int', 'void'} | functions | attributes <= names,
      sorted((words | base | functions | attributes) - names))
editor.end()
END
else
    echo "skip the words of the grammars no python3"
fi

# ---- Visual Studio Code ----
cat >main.pipe <<'E'
// A text.
kernel half(in f32 x, out f32 y) { y <- x / 2; }
kernel times(in f32 x, out f32 y; f32 by) { y<-by * x; }
pipeline main(in f32 x, out f32 y) { x -> half -> times(4) -> y; }
E
if command -v node >/dev/null; then
    node "$ROOT/tests/e2e/vscode.js" "$editors/vscode/extension.js" "$PIPEC" "$TMP" | sed -E 's/^(not )?ok /&VS Code: /'
else
    echo "skip VS Code no node"
fi
if command -v python3 >/dev/null; then
    pack() { python3 "$ROOT/scripts/vsix.py" "$editors/vscode" "$ROOT/LICENSE" "$1"; }
    check "VS Code: the extension is packed without a network" pack one.vsix
    touch -d 2001-01-01 main.pipe
    pack two.vsix
    check "VS Code: twice, with the same bytes" cmp one.vsix two.vsix
    check "VS Code: it has what the package names" says 0 "extension/syntaxes/pipe.tmLanguage.json" python3 -m zipfile -l one.vsix
fi

# ---- Vim's colours, by Vim or Neovim ----
vim=$(command -v nvim || command -v vim)
if [ -n "$vim" ] && "$vim" --version | grep -qE 'NVIM|\+syntax'; then
    cat >colours.pipe <<'E'
/// A comment.
kernel fir<type T>(in f32x4 x peek 8, out f32 y push 0..2) { if (sqrt(1.5f) > x) y <- 0x1F; } // end
buffer f32 b init 4 x 0 depth 640x480; i32 in = "a\"b"; /* both */ true .5
E
    cat >colours.vim <<'E'
let s:seen = []
for [s:line, s:word] in [[1, 'A comment'], [2, 'kernel'], [2, 'type'], [2, 'in f'], [2, 'f32x4'], [2, 'peek'], [2, '8'], [2, 'push'], [2, '0'], [2, 'if'], [2, 'sqrt'], [2, '1.5f'], [2, '<-'], [2, '0x1F'], [2, 'end'], [3, 'buffer'], [3, 'init'], [3, '640x480'], [3, 'in ='], [3, '\\"b'], [3, 'both'], [3, 'true'], [3, '\.5']]
    call add(s:seen, s:word . ' ' . synIDattr(synID(s:line, match(getline(s:line), s:word) + 1, 1), 'name'))
endfor
call writefile(s:seen, 'seen')
qall!
E
    timeout 60 "$vim" -es -u NONE -i NONE -c "set nocompatible runtimepath^=$editors/vim" -c 'filetype plugin on' -c 'syntax on' -c 'edit colours.pipe' \
        -c 'source colours.vim' </dev/null >said 2>&1
    cat >wanted <<'E'
A comment pipeDocumentation
kernel pipeStorage
type pipePlace
in f pipePlace
f32x4 pipeType
peek pipeAttribute
8 pipeNumber
push pipeAttribute
0 pipeNumber
if pipeControl
sqrt pipeFunction
1.5f pipeFloat
<- pipeFlow
0x1F pipeNumber
end pipeComment
buffer pipeStorage
init pipePlace
640x480 pipeNumber
in = 
\\"b pipeString
both pipeComment
true pipeConstant
\.5 pipeFloat
E
    check "Vim: each word has its colour ($(basename "$vim"))" diff wanted seen
else
    echo "skip Vim: each word has its colour neither nvim nor vim with syntax"
fi

# ---- Neovim and the language server ----
if [ -z "${LONG-}" ]; then
    exit 0
elif ! command -v nvim >/dev/null; then
    echo "skip Neovim: the language server nvim is not installed"
    exit 0
fi
timeout 100 nvim --headless -u NONE -i NONE --cmd "set runtimepath^=$editors/vim" -c 'filetype plugin on' -c "let g:pipec_path = '$PIPEC'" \
    -c 'edit main.pipe' -c "luafile $ROOT/tests/e2e/neovim.lua" -c 'qall!' >said 2>&1 </dev/null || echo "not ok Neovim: the session ends"
tr -d '\r' <said
