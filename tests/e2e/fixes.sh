#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fixes converge: the edits that the findings of a program carry, applied in one round, leave none of these findings.
# All programs of tests/reject and tests/golden, and the examples of the rules' pages.
set -euo pipefail
python3 - "$PIPEC" "$ROOT" "$TMP" <<'END'
import json, os, re, shlex, subprocess, sys

pipec, root, tmp = sys.argv[1:]
os.chdir(root)

def findings(path, options):
    """What pipec finds, with the lint rules on; None where there is no list."""
    run = subprocess.run([pipec, '-Wlint', '-I', 'tests/reject', '-I', 'tests/golden', *options,
                          '--error-limit=0', '--diagnostics=json', path], capture_output=True)
    assert run.returncode in (0, 1, 2), (path, run.returncode, run.stderr)
    try:
        return json.loads(run.stderr)['diagnostics']
    except ValueError:
        return None

def offsets(text):
    begin = [0]
    for line in text.split(b'\n'):
        begin.append(begin[-1] + len(line) + 1)
    return begin

class Program:
    def __init__(self, path, options):
        self.path, self.options = path, options
        self.text = open(path, 'rb').read()
        self.lines = offsets(self.text)

    def place(self, location):
        at = [self.lines[location[end]['line'] - 1] + location[end]['column'] - 1 for end in ('begin', 'end')]
        return tuple(at)

    def edits(self, finding):
        """(begin, end, text) of each edit; None where one is for another file."""
        if any(os.path.realpath(e['location']['file']) != os.path.realpath(self.path) for e in finding['fix']):
            return None
        return sorted((*self.place(e['location']), e['text']) for e in finding['fix'])

def overlaps(one, other):
    return one[0] < other[1] and other[0] < one[1] or one[:1] == other[:1]

def choose(program, found):
    """The findings whose fixes are applied together, and the edits."""
    chosen, edits = [], []
    for finding in found:
        wanted = program.edits(finding) if finding['fix'] else None
        if not wanted:
            continue
        if all(edit in edits for edit in wanted):
            chosen.append(finding)
        elif not any(overlaps(a, b) for a in wanted for b in edits):
            chosen.append(finding)
            edits += wanted
    return chosen, sorted(edits)

def moved(at, edits):
    """Where a byte of the text is after the edits."""
    return at + sum(len(text.encode()) - (end - begin) for begin, end, text in edits if end <= at)

def apply(text, edits):
    for begin, end, new in reversed(edits):
        text = text[:begin] + new.encode() + text[end:]
    return text

def check(program):
    found = findings(program.path, program.options)
    if not found:
        return 0
    chosen, edits = choose(program, found)
    if not chosen:
        return 0
    changed = os.path.join(tmp, os.path.basename(program.path))
    with open(changed, 'wb') as file:
        file.write(apply(program.text, edits))
    after = findings(changed, ['-I', os.path.dirname(program.path), *program.options]) or []
    fixed = Program(changed, program.options)
    for finding in chosen:
        begin, end = program.place(finding['location'])
        begin, end = moved(begin, [e for e in edits if e[0] < begin]), moved(end, edits)
        for other in after:
            if other['rule'] != finding['rule'] or other['location'] is None:
                continue
            if os.path.realpath(other['location']['file']) != os.path.realpath(changed):
                continue
            at = fixed.place(other['location'])
            assert not (at[0] <= end and begin <= at[1]), \
                f'{program.path}: {finding["message"]}: after its fix: {other["message"]}\n{apply(program.text, edits).decode()}'
        rules[finding['rule']] = rules.get(finding['rule'], 0) + 1
    widening = {'widened-afterwards', 'wraps-before-use'} & {finding['rule'] for finding in chosen}
    for rule in widening: # a cast may make no new one elsewhere
        before = sum(f['rule'] == rule for f in found)
        left = sum(f['rule'] == rule for f in after)
        assert left <= before - sum(f['rule'] == rule for f in chosen), (program.path, rule)
    return len(chosen)

def rule_programs():
    for name in sorted(os.listdir('compiler/rules')):
        blocks = re.findall(r'```pipe[^\n]*\n(.*?)```', open('compiler/rules/' + name).read(), re.S)
        for i, block in enumerate(blocks):
            path = f'{tmp}/{name[:-3]}_{i}.example.pipe'
            with open(path, 'w') as file:
                file.write(block)
            yield Program(path, [])

def test_programs():
    for folder in ('tests/reject', 'tests/golden'):
        for name in sorted(os.listdir(folder)):
            if not name.endswith('.pipe'):
                continue
            path = f'{folder}/{name}'
            options = re.findall(r'^// compile: (.*)$', open(path, errors='replace').read(), re.M)
            yield Program(path, shlex.split(' '.join(options)))

rules = {}
total = sum(check(program) for programs in (test_programs(), rule_programs()) for program in programs)
print(f'{total} fixes of {len(rules)} rules applied')
for rule in sorted(rules):
    print(f'{rules[rule]:6d} {rule}')
assert {'widened-afterwards', 'wraps-before-use', 'shift-beyond-width', 'comma-in-index', 'syntax', 'unknown-name', 'out-of-window', 'type-mismatch',
        'loose-rate', 'empty-body', 'rate-mismatch'} <= set(rules), rules
END
