#!/bin/sh
# SPDX-License-Identifier: MIT
# Diagnostics in every form, on one program: two files, errors, warnings, labels, help, tabs, UTF-8, CRLF.  Then levels.
set -u
cd "$TMP" || exit 1
check() { # check NAME COMMAND...: the command must succeed
    name=$1
    shift
    if "$@" >log 2>&1; then echo "ok $name"; else echo "not ok $name: $(head -c 2000 log | tr '\n' ' ')"; fi
}
exits() { # exits STATUS COMMAND...: standard output and error are in `out` and `err`
    want=$1
    shift
    "$@" >out 2>err </dev/null
    got=$?
    [ $got -eq "$want" ] || { echo "exit status $got: $(head -3 err)"; return 1; }
}
says() { # says STATUS PATTERN COMMAND...
    want=$1 pattern=$2
    shift 2
    exits "$want" "$@" && { grep -q -e "$pattern" err || { echo "no '$pattern' in: $(cat err)"; return 1; }; }
}
silent() { exits "$@" && { [ ! -s err ] || { cat err; return 1; }; }; }
absent() { for file; do [ ! -e "$file" ] || { echo "there is $file"; return 1; }; done; }

printf 'kernel square(in i32 x, out i64 y) { /* \303\251 \360\237\230\200 */ y <- x * x; }\r\nkernel wrong(in i32 x, out i32 y) {\r\n\ti32 a = 1;\r\n\ti32 a = b;\r\n\ty <- a; }\r\n' >lib.pipe
printf 'import "lib.pipe";\nkernel cut(in i64 x, out u8 y) { u8 n = 300; y <- n; }\nkernel odd(in u8 x, out u8 y) {\n\t/* \303\251 "<&>" \360\237\230\200 */\ty <- volum;\n}\npipeline main(in i32 x, out u8 y) { x -> square -> cut -> y; }\n' >main.pipe
cat >burst.pipe <<'END'
kernel burst(in f32 x, out f32 y push 64) { for (i32 i = 0; i < 64; i++) y <- x; }
kernel copy(in f32 x, out f32 y) { y <- x; }
pipeline main(in f32 x, out f32 y) { buffer f32 b depth 32; burst(x -> b); copy(b -> y); }
END
printf 'kernel cut(in u8 x, out u8 y) { u8 n = 300; y <- n; }\npipeline main(in u8 x, out u8 y) { x -> cut -> y; }\n' >warned.pipe
printf 'kernel a(in u8 x, out u8 y) { y <- { }\n' >braces.pipe
printf 'kernel copy(in u8 x, out u8 y) { y <- x; }\npipeline main(in u8 x, out u8 y) { x -> copy -> y; }\n' >good.pipe
printf 'kernel \377(in u8 x, out u8 y) { y <- \001x; }\n' >bytes.pipe

formats="text short json jsonl sarif github gitlab checkstyle"
sinks() { for f in $formats; do printf ' --diagnostics=%s:%s.%s' "$f" "$1" "$f"; done; }

# ---- forms ----

# shellcheck disable=SC2046 # words
check "all forms in one run" exits 1 "$PIPEC" $(sinks one) main.pipe
cp err beside
"$PIPEC" main.pipe 2>default
check "files do not replace the text" cmp beside default
grep -v '^pipec: ' default >expected
check "the text in a file is the same" cmp expected one.text
grep -E '^[^ ]+:[0-9]+:[0-9]+: (error|warning): ' expected >expected.short
check "short is the first lines" cmp expected.short one.short
check "five diagnostics" [ "$(wc -l <one.short)" -eq 5 ]
# shellcheck disable=SC2046
"$PIPEC" $(sinks two) main.pipe 2>/dev/null
for f in $formats; do
    check "two runs agree: $f" cmp "one.$f" "two.$f"
    "$PIPEC" -q "--diagnostics=$f" main.pipe 2>replaced
    check "on standard error: $f" cmp "one.$f" replaced
    "$PIPEC" "--diagnostics=$f:-" main.pipe 2>/dev/null >stdout
    check "on standard output: $f" cmp "one.$f" stdout
done
"$PIPEC" --diagnostics=json main.pipe 2>replaced
check "no other words among JSON" cmp one.json replaced
check "text has a summary" says 1 '^pipec: 3 errors, 2 warnings$' "$PIPEC" main.pipe
check "short has it too" says 1 '^pipec: 3 errors, 2 warnings$' "$PIPEC" --diagnostics=short main.pipe
for program in burst braces bytes good warned; do
    # shellcheck disable=SC2046
    "$PIPEC" $(sinks "$program") "$program.pipe" >/dev/null 2>&1
done
# shellcheck disable=SC2046
check "no file to read: documents all the same" exits 2 "$PIPEC" $(sinks none) none.pipe
check "github" grep -q '^::error file=main.pipe,line=4,endLine=4,col=23,title=unknown-name::there is no variable' one.github
check "github has the second place" grep -q 'declared twice%0Alib.pipe:3:6: ' one.github
check "github has notes and help" grep -q '%0Anote: .*%0Ahelp: ' burst.github
sed 's/^kernel cut/\n\n&/' main.pipe >moved && mkdir -p moved.d && cp lib.pipe moved.d && cp moved moved.d/main.pipe
(cd moved.d && "$PIPEC" --diagnostics=gitlab:../moved.gitlab main.pipe 2>/dev/null)
grep fingerprint one.gitlab >one.prints
grep fingerprint moved.gitlab >moved.prints
check "fingerprints stay when lines move" cmp one.prints moved.prints

cat >wellformed.py <<'END'
import json, os, re, sys, urllib.parse, xml.etree.ElementTree as xml

def load(name):
    with open(name, encoding='utf-8') as file:
        return file.read()

def position(text, line, column, unit):
    """The offset in `text` of a 1-based place whose columns count code points or UTF-16 units."""
    lines = text.split('\n')
    at, rest = 0, column - 1
    while rest > 0:
        rest -= 2 if unit == 'utf16' and lines[line - 1][at] > '\uffff' else 1
        at += 1
    assert rest == 0
    return sum(len(l) + 1 for l in lines[:line - 1]) + at

def source(name):
    with open(name, encoding='utf-8', newline='', errors='replace') as file:
        return file.read()

def word(region, text):
    assert 1 <= region['startLine'] <= region['endLine']
    begin = position(text, region['startLine'], region['startColumn'], 'utf16')
    end = position(text, region['endLine'], region['endColumn'], 'utf16')
    assert begin <= end
    return text[begin:end]

def check_location(location, names):
    physical = location['physicalLocation']
    uri = physical['artifactLocation']['uri']
    assert re.fullmatch(r'([A-Za-z0-9._~/-]|%[0-9A-F]{2})+', uri)
    region = physical['region']
    assert set(region) == {'startLine', 'startColumn', 'endLine', 'endColumn'}
    return word(region, source(urllib.parse.unquote(uri)))

def check_message(message):
    assert message['text'] and re.sub(r'\{\{|\}\}', '', message['text']).count('{') == 0

# SARIF 2.1.0 as far as we write it, by the specification: the properties that an object may have and what they hold;
# '!' marks those that it has to have, '*' lists whose elements differ.  Nothing else is allowed: objects are closed.
LEVEL = {'none', 'note', 'warning', 'error'}
SARIF = {
    'log': {'$schema': str, 'version!': {'2.1.0'}, 'runs!': ['run']},
    'run': {'tool!': 'tool', 'invocations': ['invocation'], 'columnKind': {'utf16CodeUnits', 'unicodeCodePoints'},
            'defaultEncoding': str, 'results!': ['result']},
    'tool': {'driver!': 'component'},
    'component': {'name!': str, 'version': str, 'rules*': ['rule']},
    'rule': {'id!': str, 'shortDescription': 'text', 'fullDescription': 'text', 'help': 'text',
             'defaultConfiguration': 'configuration', 'properties': 'bag'},
    'configuration': {'enabled': bool, 'level': LEVEL},
    'bag': {'tags*': [str]},
    'text': {'text!': str},
    'invocation': {'executionSuccessful!': bool},
    'result': {'ruleId': str, 'ruleIndex': -1, 'level': LEVEL, 'message!': 'text', 'locations': ['location'],
               'relatedLocations*': ['location'], 'fixes*': ['fix'], 'partialFingerprints': {}},
    'fix': {'artifactChanges!': ['change']},
    'change': {'artifactLocation!': 'artifact', 'replacements!': ['replacement']},
    'replacement': {'deletedRegion!': 'region', 'insertedContent': 'content'},
    'content': {'text': str},
    'location': {'id': -1, 'physicalLocation': 'physical', 'message': 'text'},
    'physical': {'artifactLocation!': 'artifact', 'region': 'region'},
    'artifact': {'uri': str},
    'region': {'startLine': 1, 'startColumn': 1, 'endLine': 1, 'endColumn': 1},
}

def check_shape(value, shape):
    if isinstance(shape, str):
        fields = {key.rstrip('!*'): (key, kind) for key, kind in SARIF[shape].items()}
        assert isinstance(value, dict) and not set(value) - set(fields), (shape, value)
        for name, (key, kind) in fields.items():
            assert name in value or not key.endswith('!'), (shape, name)
            if name not in value:
                continue
            check_shape(value[name], kind)
            if key.endswith('*'):
                texts = [json.dumps(v, sort_keys=True) for v in value[name]]
                assert len(texts) == len(set(texts)), (shape, name)
    elif isinstance(shape, list):
        assert isinstance(value, list)
        for item in value:
            check_shape(item, shape[0])
    elif isinstance(shape, set):
        assert value in shape
    elif shape == {}:
        assert isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
    elif isinstance(shape, int):
        assert type(value) is int and value >= shape
    else:
        assert type(value) is shape, (value, shape)

def check_schema(log):
    """SARIF_SCHEMA names the published schema where somebody has it."""
    if os.environ.get('SARIF_SCHEMA'):
        import site
        site.main()
        import jsonschema
        jsonschema.Draft7Validator(json.loads(load(os.environ['SARIF_SCHEMA']))).validate(log)

def check_sarif(name):
    log = json.loads(load(name))
    check_shape(log, 'log')
    check_schema(log)
    assert log['version'] == '2.1.0' and log['$schema'].endswith('sarif-schema-2.1.0.json')
    (run,) = log['runs']
    driver = run['tool']['driver']
    assert driver['name'] == 'pipec' and driver['version'] and run['columnKind'] == 'utf16CodeUnits'
    ids = [rule['id'] for rule in driver['rules']]
    assert len(ids) == len(set(ids)) > 40
    for rule in driver['rules']:
        for text in ('shortDescription', 'fullDescription', 'help'):
            check_message(rule[text])
        assert rule['defaultConfiguration']['level'] in ('note', 'warning', 'error')
        assert len(rule['properties']['tags']) == 1
    assert [set(i) for i in run['invocations']] == [{'executionSuccessful'}]
    found = []
    for result in run['results']:
        assert ids[result['ruleIndex']] == result['ruleId']
        assert result['level'] in ('note', 'warning', 'error')
        check_message(result['message'])
        assert re.fullmatch('[0-9a-f]{16}', result['partialFingerprints']['pipec/v1'])
        words = [check_location(l, ids) for l in result.get('locations', [])]
        assert len(words) <= 1
        related = result.get('relatedLocations', [])
        for location in related:
            check_message(location['message'])
        assert [l['id'] for l in related] == list(range(1, len(related) + 1))
        found.append((result['ruleId'], result['level'], words[0] if words else None,
                      [check_location(l, ids) for l in related]))
    return found, run['invocations'][0]['executionSuccessful']

def check_json(name):
    log = json.loads(load(name))
    assert log['version'] == 1 and log['tool'].startswith('pipec ') and log['not_shown'] == 0
    lines = [json.loads(line) for line in load(name + 'l').splitlines()]
    assert all(line.pop('version') == 1 for line in lines) and lines == log['diagnostics']
    levels = [d['level'] for d in lines]
    assert levels.count('error') == log['errors'] and levels.count('warning') == log['warnings']
    found = []
    for d in lines:
        at = d['location']
        begin, end = at['begin'], at['end']
        text = source(at['file'])
        raw = open(at['file'], 'rb').read().split(b'\n')
        chars = text[position(text, begin['line'], begin['character'], 'point'):
                     position(text, end['line'], end['character'], 'point')]
        if begin['line'] == end['line']:
            cut = raw[begin['line'] - 1][begin['column'] - 1:end['column'] - 1]
            assert cut.decode(errors='replace') == chars, (cut, chars)
        found.append((d['rule'], d['level'], chars))
    return found, log['finished']

def check_checkstyle(name):
    root = xml.fromstring(load(name).encode())
    assert root.tag == 'checkstyle' and all(f.tag == 'file' and f.get('name') for f in root)
    names = [f.get('name') for f in root]
    assert len(names) == len(set(names))
    for e in root.iter('error'):
        assert set(e.keys()) == {'line', 'column', 'severity', 'message', 'source'} and int(e.get('line')) > 0
        assert e.get('severity') in ('info', 'warning', 'error')
    return [(e.get('source')[len('pipec.'):], e.get('severity')) for e in root.iter('error')]

def check_gitlab(name):
    issues = json.loads(load(name))
    assert len({i['fingerprint'] for i in issues}) == len(issues)
    for i in issues:
        assert i['description'] and i['location']['lines']['begin'] > 0
        assert not i['location']['path'].startswith('./')
    back = {'major': 'error', 'minor': 'warning', 'info': 'note'}
    return [(i['check_name'], back[i['severity']]) for i in issues]

def check_github(name):
    lines = load(name).splitlines()
    pattern = r'::(error|warning|notice) (?:file=[^,:]+,line=\d+,endLine=\d+,col=\d+,)?title=([a-z-]+)::(.*)'
    parts = [re.fullmatch(pattern, line).groups() for line in lines]
    assert not any(re.search('%(?!25|0A|0D)', text) for _, _, text in parts)
    return [(rule, level) for level, rule, _ in parts]

def check_all(name):
    sarif, successful = check_sarif(name + '.sarif')
    ours, finished = check_json(name + '.json')
    assert successful == finished == (name != 'none')
    assert [s[:3] for s in sarif] == ours, (sarif, ours)
    rules = [s[:2] for s in sarif]
    assert check_checkstyle(name + '.checkstyle') == rules
    assert check_gitlab(name + '.gitlab') == rules
    assert check_github(name + '.github') == rules
    return sarif

if sys.argv[1:2] == ['--sarif']:
    for name in sys.argv[2:]:
        check_sarif(name)
    sys.exit()
found = check_all(sys.argv[1])
expected = {
    'one': [('constant-truncated', 'warning', '300', []), ('unknown-name', 'error', 'volum', []),
            ('widened-afterwards', 'warning', 'x * x', []), ('duplicate-name', 'error', 'a', ['a']),
            ('unknown-name', 'error', 'b', [])],
    'good': [], 'none': [], 'warned': [('constant-truncated', 'warning', '300', [])],
}
name = sys.argv[1]
if name in expected:
    assert found == expected[name], found
else:
    assert found and found[0][1] == 'error', found
END
for program in one burst braces bytes good warned none; do
    if command -v python3 >/dev/null; then
        check "well-formed: $program" python3 wellformed.py "$program"
    else
        echo "skip well-formed:$program python3 is not installed"
    fi
done

# Findings of several files and folders, notes, lint rules, what comments accept and do not, a baseline that is outdated.
mkdir -p "tr ee"
cp lib.pipe warned.pipe bytes.pipe "tr ee"
cat >"tr ee/$(printf '\303\251')#1%.pipe" <<'END'
const int spare = 3;
kernel copy(in u8 x, out u8 y) { u8 unused; u8 n = 300; y <- x; } // pipec: allow(constant-truncated) reason="a test"
// pipec: allow(deadlock, constant-truncted)
pipeline main(in u8 x, out u8 y) { buffer u8 m depth 64; x -> copy -> m; m -> copy -> y; }
END
cp warned.pipe outdated.pipe
"$PIPEC" lint --write-baseline=old.json outdated.pipe >/dev/null 2>&1
cp good.pipe outdated.pipe
"$PIPEC" lint --diagnostics=sarif:tree.sarif "tr ee" main.pipe burst.pipe braces.pipe >/dev/null 2>&1
"$PIPEC" lint --diagnostics=sarif:base.sarif --baseline=old.json --min-level=note outdated.pipe >/dev/null 2>&1
"$PIPEC" --diagnostics=sarif:lint.sarif -Wlint --fail-on=warning warned.pipe >/dev/null 2>&1
check "lint: several files" [ "$(grep -c '"uri"' tree.sarif)" -gt 10 ]
check "lint: an outdated baseline" grep -q '"ruleId": *"outdated-baseline"' base.sarif
set -- one.sarif burst.sarif braces.sarif bytes.sarif good.sarif warned.sarif none.sarif tree.sarif base.sarif lint.sarif
if ! command -v python3 >/dev/null; then
    echo "skip sarif-objects python3 is not installed"
else
    check "every object has what SARIF allows and demands" env -u SARIF_SCHEMA python3 wellformed.py --sarif "$@"
fi
if [ -z "${SARIF_SCHEMA:-}" ]; then
    echo "skip sarif-schema SARIF_SCHEMA does not name the published schema"
elif ! python3 -c 'import site; site.main(); import jsonschema' 2>/dev/null; then
    echo "skip sarif-schema python3-jsonschema is not installed"
else
    check "the published schema accepts it" python3 wellformed.py --sarif "$@"
fi

# ---- files ----

check "diagnostics of a refused program are written" [ -s one.sarif ]
check "a sink that cannot be written" says 2 "cannot write 'no/such.json'" "$PIPEC" --diagnostics=sarif:first.sarif \
    --diagnostics=json:no/such.json good.pipe -o good.pbc
check "nothing else is left then" absent good.pbc first.sarif
check "a full device" says 2 "cannot write '/dev/full'" "$PIPEC" --diagnostics=json:/dev/full good.pipe
check "the last format without a file counts" says 1 '^\[$' "$PIPEC" --diagnostics=json --diagnostics=gitlab main.pipe
check "two sinks on standard output" says 2 'two outputs to standard output' "$PIPEC" --diagnostics=json:- --diagnostics=sarif:- good.pipe
check "a sink and the output on standard output" says 2 'two outputs to standard output' "$PIPEC" --diagnostics=json:- --emit=graph good.pipe
check "a sink and inspect on standard output" says 2 'two outputs to standard output' "$PIPEC" inspect --diagnostics=json:- good.pipe
check "a sink over the container" says 2 "two outputs to 'x.pbc'" "$PIPEC" --diagnostics=json:x.pbc good.pipe -o x.pbc
check "a sink over the dependencies" says 2 "two outputs to 'x.d'" "$PIPEC" -MD --diagnostics=json:x.d good.pipe -o x.pbc
cp lib.pipe lib.copy
check "a sink over a source" says 2 "'lib.pipe' is a source" "$PIPEC" --diagnostics=json:lib.pipe main.pipe
check "the source is untouched" cmp lib.pipe lib.copy
{ "$PIPEC" --diagnostics=json:- main.pipe 2>closed; echo $? >status; } | :
check "a closed reader" grep -qx 1 status
check "a closed reader is no error of ours" [ "$(grep -c 'cannot write' closed)" -eq 0 ]
check "an unknown format" says 2 'the formats are text, short, json' "$PIPEC" --diagnostics=pdf good.pipe
check "a format without its file" says 2 'no file after the colon' "$PIPEC" --diagnostics=json: good.pipe
set -- ./*.*.??????
check "no temporary files" absent "$@"

# ---- levels ----

check "warnings leave exit status 0" says 0 'warning: 300' "$PIPEC" warned.pipe -o warned.pbc
check "and the container" [ -s warned.pbc ]
check "-Wno-NAME" silent 0 "$PIPEC" -Wno-constant-truncated warned.pipe
check "-W no-NAME" silent 0 "$PIPEC" -W no-constant-truncated warned.pipe
check "-WNAME switches it on again" says 0 'warning: 300' "$PIPEC" -Wno-constant-truncated -Wconstant-truncated warned.pipe
check "-W NAME" says 0 'warning: 300' "$PIPEC" -Wno-constant-truncated -W constant-truncated warned.pipe
check "-Wall" says 0 'warning: 300' "$PIPEC" -Wall warned.pipe
check "-Werror" says 1 'error: 300' "$PIPEC" -Werror warned.pipe -o strict.pbc
check "-Werror leaves no container" absent strict.pbc
check "-Werror with -Wno-NAME" silent 0 "$PIPEC" -Werror -Wno-constant-truncated warned.pipe
check "-Werror=NAME" says 1 'error: 300' "$PIPEC" -Werror=constant-truncated warned.pipe
check "-Werror=ANOTHER" says 0 'warning: 300' "$PIPEC" -Werror=widened-afterwards warned.pipe
check "-Wno-error=NAME" says 0 'warning: 300' "$PIPEC" -Werror -Wno-error=constant-truncated warned.pipe
check "-Wno-error" says 0 'warning: 300' "$PIPEC" -Werror -Wno-error warned.pipe
check "an unknown rule" says 2 "did you mean 'constant-truncated'" "$PIPEC" -Wno-constant-truncatd warned.pipe
check "-Werror= of an unknown rule" says 2 "there is no rule 'zzzzzzzzz'$" "$PIPEC" -Werror=zzzzzzzzz warned.pipe
check "a misspelt -Werror" says 2 "did you mean 'error'" "$PIPEC" -Weror warned.pipe
check "an error cannot be switched off" says 2 "'unknown-name' is an error of the language and cannot be lowered" "$PIPEC" -Wno-unknown-name main.pipe
check "an error cannot be made a warning" says 2 'cannot be lowered' "$PIPEC" -Wunknown-name main.pipe
check "nor by -Wno-error=" says 2 'cannot be lowered' "$PIPEC" -Wno-error=unknown-name main.pipe
check "-Werror= of an error is nothing new" says 1 'unknown-name' "$PIPEC" -Werror=unknown-name main.pipe
check "--min-level=error hides warnings" silent 0 "$PIPEC" --min-level=error warned.pipe
check "--min-level does not change the status" exits 1 "$PIPEC" --min-level=error --fail-on=warning warned.pipe
check "hidden warnings are counted" says 1 '^pipec: 1 warning$' "$PIPEC" --min-level=error --fail-on=warning warned.pipe
check "--min-level=warning" says 0 'warning: 300' "$PIPEC" --min-level=warning warned.pipe
check "--min-level shows errors" says 1 'error: there is no' "$PIPEC" --min-level=error main.pipe
"$PIPEC" --min-level=error --diagnostics=short main.pipe 2>levels
check "and nothing less" [ "$(grep -c warning: levels)" -eq 0 ]
check "--fail-on=warning" says 1 'warning: 300' "$PIPEC" --fail-on=warning warned.pipe -o failed.pbc
check "--fail-on=warning leaves no container" absent failed.pbc
check "--fail-on=warning without warnings" silent 0 "$PIPEC" --fail-on=warning good.pipe
check "--fail-on=error" says 0 'warning: 300' "$PIPEC" --fail-on=error warned.pipe
check "--min-level of an unknown level" says 2 'note, warning and error' "$PIPEC" --min-level=bad good.pipe
check "--fail-on of an unknown level" says 2 'note, warning and error' "$PIPEC" --fail-on=notes good.pipe
check "--fail-on=note without findings" silent 0 "$PIPEC" --fail-on=note good.pipe
check "--fail-on=note with a warning" says 1 'warning: 300' "$PIPEC" --fail-on=note warned.pipe
printf 'kernel copy(in u8 x, out u8 y) { y <- x; } // pipec: allow(rule-of-next-year) reason="newer"\n// pipec: expect(more)\npipeline main(in u8 x, out u8 y) { x -> copy -> y; }\n' >newer.pipe
check "comments for a newer pipec do not break an older one" says 0 "there is no rule 'rule-of-next-year'" "$PIPEC" newer.pipe
check "but are reported" says 1 'says nothing to pipec' "$PIPEC" --fail-on=warning newer.pipe
printf 'kernel copy(in f32 x, out f32 y) { y <- 1.0; }\npipeline main(in f32 x, out f32 y) { x -> copy -> y; }\n' >noted.pipe
check "a note does not fail lint" says 0 '^pipec: 1 note in' "$PIPEC" lint noted.pipe
check "but with --fail-on=note" says 1 '^pipec: 1 note in' "$PIPEC" lint --fail-on=note noted.pipe
check "nor a compilation" says 0 'unused-port' "$PIPEC" -Wunused-port noted.pipe -o noted.pbc
rm noted.pbc
check "but with --fail-on=note, and says how many" says 1 '^pipec: 1 note$' "$PIPEC" --fail-on=note -Wunused-port noted.pipe -o noted.pbc
check "which leaves no container" absent noted.pbc

# ---- colour ----

# coloured [NAME=VALUE...] -- COMMAND...: on a terminal of its own; colours are escape sequences that end in m.
coloured() { env "$@" 2>&1 </dev/null | grep -q "$(printf '\033')\[[0-9;]*m"; }
plain() { ! coloured "$@"; }
terminal="python3 $ROOT/tests/e2e/terminal.py"
# shellcheck disable=SC2086
if command -v python3 >/dev/null; then
    check "a terminal has colours" coloured -u NO_COLOR -u CLICOLOR_FORCE TERM=xterm $terminal "$PIPEC" main.pipe
    check "lint on a terminal too" coloured -u NO_COLOR -u CLICOLOR_FORCE TERM=xterm $terminal "$PIPEC" lint warned.pipe
    check "TERM=dumb has none" plain -u NO_COLOR -u CLICOLOR_FORCE TERM=dumb $terminal "$PIPEC" main.pipe
    check "nor has NO_COLOR" plain NO_COLOR=1 TERM=xterm $terminal "$PIPEC" main.pipe
    check "an empty NO_COLOR says nothing" coloured -u CLICOLOR_FORCE NO_COLOR= TERM=xterm $terminal "$PIPEC" main.pipe
fi
check "a pipe has no colours" plain -u NO_COLOR -u CLICOLOR_FORCE "$PIPEC" main.pipe
check "CLICOLOR_FORCE gives it some" coloured -u NO_COLOR -u TERM CLICOLOR_FORCE=1 "$PIPEC" main.pipe
check "TERM=dumb is stronger" plain -u NO_COLOR CLICOLOR_FORCE=1 TERM=dumb "$PIPEC" main.pipe
check "--color=always is stronger than TERM=dumb" coloured -u NO_COLOR TERM=dumb "$PIPEC" --color=always main.pipe
check "CLICOLOR_FORCE=0 does not" plain -u NO_COLOR TERM=xterm CLICOLOR_FORCE=0 "$PIPEC" main.pipe
check "NO_COLOR is stronger" plain NO_COLOR=1 TERM=xterm CLICOLOR_FORCE=1 "$PIPEC" main.pipe
check "--color=never is strongest" plain -u NO_COLOR TERM=xterm CLICOLOR_FORCE=1 "$PIPEC" --color=never main.pipe
check "--color=always too" coloured NO_COLOR=1 "$PIPEC" --color=always main.pipe
if [ -c /dev/full ]; then
    full() { "$@" >/dev/full; }
    check "a full standard output is named" says 2 'cannot write to standard output: No space' full "$PIPEC" --emit=graph:- good.pipe
fi

# ---- how many ----

for i in $(seq 120); do echo "kernel k$i(in i32 x, out i32 y) { y <- missing$i; }"; done >many.pipe
shown() {
    want=$1
    shift
    "$PIPEC" --diagnostics=short "$@" many.pipe >many.txt 2>&1 || :
    [ "$(grep -c "error: there is no" many.txt)" -eq "$want" ]
}
check "100 errors are shown" shown 100
check "the rest is counted" grep -q '^pipec: note: 2[01] more messages are not shown' many.txt
check "--error-limit=7" shown 7 --error-limit=7
check "--error-limit=0 shows all" shown 121 --error-limit=0
check "no rest is counted" [ "$(grep -c 'not shown' many.txt)" -eq 0 ]
check "--error-limit counts all all the same" grep -q '^pipec: 12[01] errors' many.txt
check "--error-limit without a number" says 2 'a number of errors' "$PIPEC" --error-limit=x good.pipe
check "a negative --error-limit" says 2 'a number of errors' "$PIPEC" --error-limit=-1 good.pipe
