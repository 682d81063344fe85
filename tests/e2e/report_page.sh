#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # programs of other shells
# pipec report: the data of the page are those of the run and the program, the page is whole, safe and small. LONG: in Chromium
# its script shows them, at the time of the slider; report_page.json has the mean colours of a picture of the page, and BLESS=1
# writes it anew.
set -u
cd "$TMP" || exit 1
. "$ROOT/tests/checks.sh"
command -v python3 >/dev/null || { echo "python3, which reads the pages, is not installed"; exit 77; }
cat >echo.pipe <<'E'
kernel mix(in f32 x, in f32 b, out f32 y, out f32 z) { y <- x + 0.5f * b; z <- x; }
kernel delay(in f32 x, out f32 y) { y <- x; }
kernel down(in f32 x pop 4 peek 8, out f32 y) { y <- x[0] + x[7]; }
kernel sum(in f32 a, in f32 b, out f32 y) { y <- a + b; }
pipeline main(in f32 x, out f32 y, out f32 low) {
    buffer f32 fwd, back init 16 x 0, other;
    add: mix(x, back -> fwd, other);
    fwd -> delay -> back;
    fwd -> down -> low;
    s: sum(fwd, other -> y);
}
E
cat >bank.pipe <<'E'
kernel band<int N>(in f32 x peek N, out f32 y) { f32 s = 0; for (i32 i = 0; i < N; i++) s += x[i]; y <- s; }
kernel sum<int N>(in f32 x[N], out f32 y) { f32 s = 0; for (i32 i = 0; i < N; i++) s += x[i][0]; y <- s; }
pipeline main(in f32 x, out f32 y) {
    buffer f32 a, b[6];
    x -> band<3> -> a;
    for (int i = 0; i < 6; i++) eq: band<5>(a -> b[i]);
    sum<6>(b -> y);
}
E
cat >names.cmds <<'E'
// pipec commands 1
kernel pass(in i32 x, out i32 y) { y <- x; }
pipeline "p</script><b>";
create in "a<b>" i32;
create out "b&" i32;
create buffer "m\"]]>" i32;
create kernel "k\"></script><script>alert(1)" pass;
create kernel "'&amp;'" pass;
connect "a<b>" -> "k\"></script><script>alert(1)".x;
connect "k\"></script><script>alert(1)".y -> "m\"]]>";
connect "m\"]]>" -> "'&amp;'".x;
connect "'&amp;'".y -> "b&";
E
python3 - >many.pipe <<'E'
print('kernel k(in f32 x, out f32 y) { y <- x; }\nkernel j(in f32 a, in f32 b, out f32 y) { y <- a + b; }')
print('pipeline main(in f32 x, out f32 y) {\n    buffer f32 b[1000];\n    x -> k -> b[0];')
for i in range(999):
    print('    b[%d] -> k -> b[%d];' % (i, i + 1) if i % 3 == 0 or i < 5 else '    j(b[%d], b[%d] -> b[%d]);' % (i, i - 3, i + 1))
print('    b[999] -> k -> y;\n}')
E
# measured NAME SOURCE DEVICE PORT=...: runs it, and writes NAME.json, NAME.gz and NAME.html.
measured() {
    name=$1 source=$2 device=$3
    shift 3
    "$PIPEC" -O0 $stages --device="$device" "$source" -o "$name.pbc" &&
        "$PIPERUN" -q --device="$device" "$name.pbc" "$@" --stats=json:"$name.json" --trace="$name.gz" &&
        "$PIPEC" report -O0 $stages --stats="$name.json" --trace="$name.gz" -o "$name.html" "$source"
}
stages=--no-fuse
check "of a feedback loop" measured echo echo.pipe sim16 x=gen:ramp:4096 y=null low=null
stages=--fuse
check "of fused stages on the host's cores" measured fused bank.pipe cpu x=gen:ramp:4096 y=null
stages=--no-fuse
check "of sub-devices" measured bank bank.pipe sim4 x=gen:ramp:4096 y=null
check "of names with any letters" measured names names.cmds sim4 'a<b>=gen:ramp:64' 'b&=null'
check "of 1,000 kernels" measured many many.pipe sim16 x=gen:ramp:2000 y=null
"$PIPEC" report -O0 --no-fuse --stats=echo.json --trace=echo.gz echo.pipe >again.html
check "is the same each time, also on standard output" cmp echo.html again.html
check "without a timeline" "$PIPEC" report --no-fuse --stats=echo.json -o still.html echo.pipe
gzip -dc echo.gz >echo.trace
"$PIPEC" report -O0 --no-fuse --stats=echo.json --trace=echo.trace -o plain.html echo.pipe
check "a timeline that is not compressed" cmp echo.html plain.html

refuse() {
    claim=$1 pattern=$2
    shift 2
    check "$claim" says 2 "$pattern" "$PIPEC" report --no-fuse -o refused.html "$@"
    check "and writes nothing" test ! -e refused.html
}
echo '{}' >empty.json
head -c 3000 echo.gz >cut.gz
head -c 90000 echo.trace >cut.trace
sed 's/"name": "delay", "kernel"/"name": "delay[0..99999999]", "kernel"/' echo.json >huge.json
refuse "statistics are needed" "needs --stats=FILE" echo.pipe
refuse "a file that is not there" "cannot read 'none.json': No such file" --stats=none.json echo.pipe
refuse "a file that is no report" "cannot read 'empty.json': it is no report of piperun" --stats=empty.json echo.pipe
refuse "a report of another program" "cannot read 'echo.json': pipeline 'main' has no kernel 'add'" --stats=echo.json bank.pipe
refuse "more names than kernels" "has no kernel 'delay.0..99999999.'" --stats=huge.json echo.pipe
refuse "a timeline of another run" "cannot read 'bank.gz': it is of another run" --stats=echo.json --trace=bank.gz echo.pipe
refuse "a file that is no timeline" "it is no timeline of piperun" --stats=echo.json --trace=echo.json echo.pipe
refuse "a timeline that is cut" "it is no timeline of piperun" --stats=echo.json --trace=cut.trace echo.pipe
refuse "a compressed one that is cut" "cannot read 'cut.gz': it is not a whole compressed file" --stats=echo.json --trace=cut.gz echo.pipe
refuse "a second source" "a second input file" --stats=echo.json echo.pipe bank.pipe
check "a refused program" says 1 'error' "$PIPEC" report --no-fuse --stats=echo.json -o refused.html "$ROOT/tests/reject/deadlock_no_initial_packets.pipe"
cp echo.pipe copy.pipe
check "the source is not overwritten" says 2 'is the input' "$PIPEC" report --no-fuse --stats=echo.json -o copy.pipe copy.pipe
cp echo.json kept.json
cp bank.gz kept.gz
check "nor is the report of the run" says 2 "the output 'kept.json' is a file that this command reads" "$PIPEC" report --no-fuse \
    --stats=kept.json -o kept.json echo.pipe
check "by diagnostics either" says 2 "the diagnostics file './kept.json' is a file" "$PIPEC" report --no-fuse \
    --diagnostics=json:./kept.json --stats=kept.json -o copy.html echo.pipe
check "nor is the timeline" says 2 "'kept.gz' is a file that this command reads" "$PIPEC" report --no-fuse --stats=kept.json \
    --trace=kept.gz -o kept.gz echo.pipe
check "nor is the report by a picture" says 2 "'kept.json' is a file that this command reads" "$PIPEC" graph --format=svg \
    --stats=kept.json -o kept.json echo.pipe
check "they are as they were" sh -c 'cmp echo.json kept.json && cmp bank.gz kept.gz'
check "a page and diagnostics in one file" says 2 "two outputs to 'one.html'" "$PIPEC" report --stats=echo.json \
    --diagnostics=json:one.html -o one.html echo.pipe
check "a full device" says 2 'cannot write' "$PIPEC" report --no-fuse --stats=echo.json -o /dev/full echo.pipe

cat >pages.py <<'E'
import gzip, html.parser, json, os, re, sys
import xml.etree.ElementTree as tree

def check(claim, wrong):
    print(('not ok ' if wrong else 'ok ') + claim)
    if wrong:
        print(wrong)

class Tags(html.parser.HTMLParser):
    """What is open at the end of each tag; text by the id of its element."""
    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.links, self.classes, self.texts = [], [], [], [], {}
        self.feed(text)
        self.close()
        self.wrong += [name for name, key in self.open]
    def handle_starttag(self, name, attributes):
        attributes = dict(attributes)
        self.links += [attributes[k] for k in ('src', 'href') if k in attributes]
        self.classes.append((name, attributes.get('class') or '', attributes))
        if name not in ('meta', 'input', 'br'):
            self.open.append((name, attributes.get('id')))
    def handle_startendtag(self, name, attributes):
        pass
    def handle_endtag(self, name):
        if not self.open or self.open.pop()[0] != name:
            self.wrong.append('/' + name)
    def handle_data(self, text):
        for name, key in self.open:
            if key:
                self.texts[key] = self.texts.get(key, '') + text

class Page:
    def __init__(self, name):
        self.text = open(name + '.html', encoding='utf-8').read()
        self.tags = Tags(self.text)
        self.data = json.loads(self.tags.texts['data'])
        self.picture = tree.fromstring(self.text[self.text.index('<svg '):self.text.index('</svg>') + 6])

def unfolded(values):
    found = []
    for value in values:
        found += [found[-1]] * -value if value < 0 else [value]
    return found
E
cat >structure.py <<'E'
from pages import *
NS = '{http://www.w3.org/2000/svg}'
for name in ('echo', 'fused', 'bank', 'names', 'many', 'still'):
    page = Page(name)
    stats = json.load(open(('echo' if name == 'still' else name) + '.json'))
    data, nodes, buffers = page.data, page.data['nodes'], page.data['buffers']
    check(f'{name}: tags are balanced', page.tags.wrong[:5])
    check(f'{name}: the page loads nothing', [l for l in page.tags.links if '//' in l] or re.findall(r'@import|url\(', page.text) or
          "default-src 'none'" not in page.text)
    check(f'{name}: there are two scripts, one of data', page.text.count('<script') != 2 or page.text.count('</script>') != 2)
    check(f'{name}: stages are those of the run', [s[0] for s in data['stages']] != [s['name'] for s in stats['stages']])
    parts = lambda s: sum(s[5]) + sum(s[6])
    check(f'{name}: the time of each stage adds up', not data['real'] and [s[0] for s in data['stages'] if parts(s) != stats['total_cycles']])
    boxes = {int(g.get('data-node')) for g in page.picture.iter() if g.get('data-node')}
    check(f'{name}: each kernel has a box, a stage and its line', [n for n in nodes if n[2] == 0 or n[6] < 0 or n[3] not in boxes][:3])
    run = {b['name']: b for b in stats['buffers']}
    check(f'{name}: buffers have the depths of the run', [b for b in buffers if b[8] >= 0 and
          (b[3], b[9], b[10]) != (run[b[0]]['depth_packets'], run[b[0]]['packets'], run[b[0]]['high_water_packets'])][:3])
    check(f'{name}: others are inside a stage', [b[0] for b in buffers if (b[0] in run) != (b[8] >= 0)][:3])
    check(f'{name}: every depth has a reason', [b[0] for b in buffers if not data['texts'][b[6]]][:3])
    check(f'{name}: memory is that of the run', dict(data['memory']) != stats['memory'])
    check(f'{name}: what limits', not re.search(r'class="limit">limited by ', page.text))
    check(f'{name}: the plan', {'device', 'mode', 'policy'} - {f[0] for f in data['facts']} or 'schedule ' not in page.text)
check('names are no markup', 'alert(1)' in re.sub(r'\\u003cscript>alert|&gt;alert|script>alert\(1\)"', '', Page('names').tags.texts.get('where', '')))
check('without a timeline there is none', 'timeline' in Page('still').data)
size = os.path.getsize('many.html')
check('1,000 kernels take less than 1 MB', size > 2**20 and size)

def levels(name, page):
    """The packets in each buffer at the end of each part, from the timeline, and the part's share of launches."""
    events = json.load(gzip.open(name + '.gz'))['traceEvents']
    stats = json.load(open(name + '.json'))
    bins, end = page.data['timeline']['bins'], stats['total_cycles'] / stats['clock_hz'] * 1e6
    found = {b['name']: [None] * bins for b in stats['buffers']}
    busy = {s['name']: [0.0] * bins for s in stats['stages']}
    for e in events:
        at = min(int(e.get('ts', 0) / end * bins), bins - 1)
        if e['ph'] == 'C':
            found[e['name']][at] = e['args']['packets']
        elif e['ph'] == 'X' and e['pid'] >= 3 and e['tid'] == 1 and 'args' in e:
            begin, until = e['ts'] / end * bins, (e['ts'] + e['dur']) / end * bins
            for b in range(int(begin), min(int(until), bins - 1) + 1):
                busy[e['name'].split(' (')[0]][b] += max(0, min(until, b + 1) - max(begin, b))
    for values in found.values():
        last = 0
        for i, value in enumerate(values):
            last = values[i] = last if value is None else value
    return [found[b['name']] for b in stats['buffers']], [busy[s['name']] for s in stats['stages']]

for name in ('echo', 'bank'):
    page = Page(name)
    want, share = levels(name, page)
    timeline = page.data['timeline']
    got = [unfolded(v) for v in timeline['levels']]
    check(f'{name}: levels over time are those of the timeline', [len(g) for g in got if len(g) != timeline['bins']] or got != want)
    check(f'{name}: shares of time, too', max(abs(min(a, 1) * 100 - b) for s, g in zip(share, timeline['busy']) for a, b in zip(s, unfolded(g))) > 1.01)
check('fused kernels have one stage', len({n[6] for n in Page('fused').data['nodes']}) != len(Page('fused').data['stages']))
E
python3 structure.py

# In a browser.
[ -n "${LONG-}" ] || exit 0
browser=
for name in chromium chromium-browser google-chrome; do command -v $name >/dev/null && browser=$name && break; done
if [ -z "$browser" ]; then
    echo "skip the page in a browser Chromium is not installed"
    exit 0
fi
# browse ARGUMENT... URL: a browser without a window, a network, or a profile that is kept.
browse() {
    "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --user-data-dir="$TMP/profile" \
        --host-resolver-rules='MAP * ~NOTFOUND' --hide-scrollbars --force-device-scale-factor=1 --window-size=700,700 "$@" 2>/dev/null
}
if ! browse --dump-dom "file://$TMP/still.html" >still.dom || ! grep -q '</html>' still.dom; then
    echo "skip the page in a browser Chromium does not start here"
    exit 0
fi
for name in bank names many; do browse --dump-dom "file://$TMP/$name.html#0.5" >"$name.dom"; done
browse --screenshot="$TMP/begin.png" "file://$TMP/echo.html#0" >/dev/null
browse --screenshot="$TMP/late.png" "file://$TMP/echo.html#0.75" >/dev/null
browse --blink-settings=preferredColorScheme=0 --screenshot="$TMP/dark.png" "file://$TMP/echo.html#0" >/dev/null
cat >browser.py <<'E'
from pages import *
import struct, zlib
for name in ('bank', 'names', 'many', 'still'):
    page, dom = Page(name), Tags(open(name + '.dom', encoding='utf-8').read())
    data = page.data
    rows = {key: dom.texts.get(key, '') for key in ('where', 'rates', 'depths', 'memory', 'plan')}
    check(f'{name}: the script has run to its end', 'data-ready="yes"' not in open(name + '.dom', encoding='utf-8').read())
    check(f'{name}: tables name all that the page has room for', [n[0] for n in data['nodes'][:200] if n[0] not in rows['rates']][:3] or
          [b[0] for b in data['buffers'][:200] if b[0] not in rows['depths']][:3] or [k for k, v in rows.items() if not v])
    if name == 'still':
        check('without a timeline there is no slider', [c for c in dom.classes if c[2].get('id') in ('slider', 'queues')])
        continue
    at = data['timeline']['bins'] // 2
    busy = [unfolded(b)[at] for b in data['timeline']['busy']]
    running = {n[3] for n in data['nodes'] if busy[n[6]] > 0}
    shown = {int(c[2]['data-node']) for c in dom.classes if 'runs' in c[1].split()}
    check(f'{name}: what executes at the time of the slider is marked', shown != running and (shown, running))
    queues = [c for c in dom.classes if c[1] == 'lane']
    check(f'{name}: each sub-device and buffer has a lane', len(queues) != len(data['queues']) + min(200, sum(b[8] >= 0 for b in data['buffers'])))
check('names stay names', [c for c in Tags(open('names.dom', encoding='utf-8').read()).classes if c[0] == 'b' and c[2].get('style') is None])

def pixels(name):
    """Rows of (red, green, blue) of a PNG of 8 bits."""
    raw, at, packed = open(name, 'rb').read(), 8, b''
    while at < len(raw):
        size, kind = struct.unpack('>I4s', raw[at:at + 8])
        if kind == b'IHDR':
            width, height, depth, colour = struct.unpack('>IIBB', raw[at + 8:at + 18])
        elif kind == b'IDAT':
            packed += raw[at + 8:at + 8 + size]
        at += size + 12
    step, flat, before, rows = {2: 3, 6: 4}[colour], zlib.decompress(packed), None, []
    for y in range(height):
        start = y * (width * step + 1)
        kind, row = flat[start], bytearray(flat[start + 1:start + 1 + width * step])
        up = before or bytearray(len(row))
        for i in range(len(row) if kind else 0):
            left = row[i - step] if i >= step else 0
            corner = up[i - step] if i >= step else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = up[i]
            elif kind == 3:
                guess = (left + up[i]) // 2
            else:
                p = left + up[i] - corner
                guess = min((abs(p - left), 0, left), (abs(p - up[i]), 1, up[i]), (abs(p - corner), 2, corner))[2]
            row[i] = (row[i] + guess) & 255
        before = row
        rows.append([tuple(row[i:i + 3]) for i in range(0, len(row), step)])
    return rows

def cells(rows, across=7, down=7):
    """Mean colours of the cells of a grid: other fonts change them little."""
    height, width = len(rows) // down, len(rows[0]) // across
    return [[tuple(sum(rows[y][x][c] for y in range(j * height, (j + 1) * height, 2) for x in range(i * width, (i + 1) * width, 2)) * 4 //
                   (height * width) for c in range(3)) for i in range(across)] for j in range(down)]

def distance(a, b):
    return [max(abs(p - q) for p, q in zip(x, y)) for r, s in zip(a, b) for x, y in zip(r, s)]

begin, late, dark = pixels('begin.png'), pixels('late.png'), pixels('dark.png')
kept = os.path.join(os.environ['ROOT'], 'tests/e2e/report_page.json')
grid = cells(begin)
if os.environ.get('BLESS'):
    json.dump(grid, open(kept, 'w'))
want = [[tuple(c) for c in row] for row in json.load(open(kept))]
apart = distance(grid, want)
check('the page looks as it did', (max(apart) > 40 or sum(apart) / len(apart) > 8) and apart)
apart = distance(grid, cells(late))
check('at another time it looks different, and most of it the same', (max(apart) == 0 or sum(a > 12 for a in apart) > len(apart) // 3) and apart)
light = lambda rows: sum(map(sum, rows[5])) / len(rows[5]) / 3
check('it is light, or dark', (light(begin) < 200 or light(dark) > 80) and (light(begin), light(dark)))
E
python3 browser.py
