#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # programs of other shells
# pipec graph --format=svg|html: what a reader of the picture relies on, for drawn by hand and for many programs.
set -u
cd "$TMP" || exit 1
. "$ROOT/tests/checks.sh"
command -v python3 >/dev/null || { echo "python3, which reads the pictures, is not installed"; exit 77; }
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
cat >names.cmds <<'END'
// pipec commands 1
kernel pass(in i32 x, out i32 y) { y <- x; }
pipeline "p\"<q&";
create in "a<b>" i32;
create out "b&" i32;
create buffer "m\"]]>" i32;
create kernel "k\"><script>" pass;
create kernel "'&amp;'" pass;
connect "a<b>" -> "k\"><script>".x;
connect "k\"><script>".y -> "m\"]]>";
connect "m\"]]>" -> "'&amp;'".x;
connect "'&amp;'".y -> "b&";
END
{
    echo 'kernel k(in f32 x, out f32 y) { y <- x; }'
    echo 'pipeline main(in f32 x, out f32 y) { buffer f32 b[2000]; x -> k -> b[0]; for (int i = 0; i < 1999; i++) b[i] -> k -> b[i + 1]; b[1999] -> k -> y; }'
} >long.pipe
check "a picture" "$PIPEC" graph --format=svg -o echo.svg echo.pipe
"$PIPEC" graph --format=svg -o again.svg echo.pipe
check "has the same bytes each time" cmp echo.svg again.svg
check "a page" "$PIPEC" graph --format=html -o echo.html echo.pipe
check "a command list" "$PIPEC" graph --format=svg -o names.svg names.cmds
check "its page" "$PIPEC" graph --format=html -o names.html names.cmds
check "2,000 nodes" "$PIPEC" graph --format=html -o long.html long.pipe
check "a refused program is drawn" sh -c '"$0" graph --format=svg -o refused.svg "$1/tests/reject/deadlock_no_initial_packets.pipe" 2>/dev/null; [ -s refused.svg ]' "$PIPEC" "$ROOT"
"$PIPEC" -q --no-fuse echo.pipe -o echo.pbc
"$PIPERUN" echo.pbc x=gen:ramp:4096 y=null low=null --stats=json:stats.json -q
check "with the load of a run" "$PIPEC" graph --format=svg --stats=stats.json -o load.svg echo.pipe
check "of a fused run" sh -c '"$1" --device=cpu echo.pipe x=gen:ramp:4096 y=null low=null --stats=json:fused.json -q && "$0" graph --format=svg --stats=fused.json -o fused.svg echo.pipe' "$PIPEC" "$PIPERUN"
check "a report that is not there" says 2 "cannot read 'none.json': No such file" "$PIPEC" graph --format=svg --stats=none.json echo.pipe
echo '{}' >other.json
check "a file that is no report" says 2 "it is no report of piperun" "$PIPEC" graph --format=svg --stats=other.json echo.pipe
check "which leaves no picture" sh -c '"$0" graph --format=svg --stats=other.json -o left.svg echo.pipe 2>/dev/null; [ ! -e left.svg ]' "$PIPEC"
check "text has no loads" says 2 "goes with --format=svg or html" "$PIPEC" graph --stats=stats.json echo.pipe
check "an unknown format" says 2 "dot, svg, html, json, cmds or sdf3" "$PIPEC" graph --format=png echo.pipe
part=6
[ -z "${LONG-}" ] || part=1
for file in "$ROOT"/tests/lang/*.pipe "$ROOT"/examples/*/*.pipe; do
    count=$((${count-0} + 1))
    [ $((count % part)) = 0 ] || continue
    "$PIPEC" graph --format=svg -o "many-$count.svg" "$file" >/dev/null 2>&1
done
python3 - <<'END'
import glob, json, os, re
import xml.etree.ElementTree as tree

def check(claim, wrong):
    print(('not ok ' if wrong else 'ok ') + claim)
    if wrong:
        print(wrong)

NS = '{http://www.w3.org/2000/svg}'
class Picture:
    def __init__(self, name):
        self.root = tree.parse(name).getroot()
        size = self.root.get('viewBox').split()
        self.left, self.width, self.height = int(size[0]), int(size[2]), int(size[3])
        rects = [r for g in self.root.iter(NS + 'g') if g.get('class') in ('node', 'port') for r in g.findall(NS + 'rect')[:1]]
        self.boxes = [tuple(int(r.get(k)) for k in ('x', 'y', 'width', 'height')) for r in rects]
        self.groups = [g for g in self.root.iter(NS + 'g') if g.get('class') in ('node', 'port')]
        legend = [g for g in self.root.iter(NS + 'g') if g.get('class') == 'legend'][0]
        self.paths = [p for p in self.root.iter(NS + 'path') if p.get('class', '').startswith('buffer') and p not in list(legend)]
    def overlaps(self):
        boxes = sorted(self.boxes)
        return [(a, b) for i, a in enumerate(boxes) for b in boxes[i + 1:i + 400] if b[0] < a[0] + a[2] and
                b[1] < a[1] + a[3] and a[1] < b[1] + b[3]]
    def outside(self):
        return [b for b in self.boxes if b[0] < self.left or b[1] < 0 or b[0] + b[2] > self.left + self.width or b[1] + b[3] > self.height]
    def loose(self):
        """Lines that do not begin at the right side of a box and end before the left side of one."""
        right = {(x + w) for x, y, w, h in self.boxes}
        lefts = {x for x, y, w, h in self.boxes}
        found = []
        for path in self.paths:
            numbers = [int(n) for n in re.findall(r'-?\d+', path.get('d'))]
            if numbers[0] not in right or (numbers[-1] if 'cycle' in path.get('class') else numbers[-2]) + 7 not in lefts:
                found.append(path.get('d'))
        return found
    def backward(self):
        return [p.get('d') for p in self.paths if 'cycle' not in p.get('class') and
                [int(n) for n in re.findall(r'-?\d+', p.get('d'))][-2] <= [int(n) for n in re.findall(r'-?\d+', p.get('d'))][0]]
    def wide(self):
        """Texts that are wider than their box: a letter of 11 px takes 6.7."""
        found = []
        for group, (x, y, w, h) in zip(self.groups, self.boxes):
            rows = {}
            for text in group.findall(NS + 'text'):
                rows.setdefault(text.get('y'), []).append(text.text)
            found += [r for r in rows.values() if sum(len(t) for t in r) * 6.7 + 8 * len(r) > w and max(map(len, r)) < 200]
        return found
    def wrong(self):
        return self.overlaps()[:3] or self.outside()[:3] or self.loose()[:3] or self.backward()[:3] or self.wide()[:3]

echo = Picture('echo.svg')
check('boxes do not overlap, lines join them from left to right', echo.wrong())
check('there are four kernels and three ports', len(echo.boxes) != 7 and echo.boxes)
check('the line that closes the cycle is marked', [p.get('class') for p in echo.paths].count('buffer cycle') != 1)
depths = [t.text for t in echo.root.iter(NS + 'text') if t.get('class') == 'depth']
check('each depth is written once, initial packets beside it', len(depths) != 3 or not any(d.endswith(', init 16') for d in depths) or not all(d.startswith('≥ ') for d in depths))
rates = [t.text for t in echo.root.iter(NS + 'text') if t.get('class', '').startswith('rate')]
check('rates stand at the ends', not {'x pop 4 peek 8', 'push 1 y', 'b pop 1 peek 1'} <= set(rates) and rates)
links = [a.get('href') for a in echo.root.iter(NS + 'a')]
check('kernels and ports link to their lines', sorted(links) != sorted(['echo.pipe#L%d' % n for n in (7, 8, 9, 10, 5, 5, 5)]) and links)
titles = [t.text for t in echo.root.iter(NS + 'title')]
check('the type and the reason of a depth are shown at the line', not any(re.match(r'back: f32, depth ≥ \d+: .+', t) for t in titles) and titles)
style = echo.root.find(NS + 'style').text
check('there is a light and a dark scheme', 'prefers-color-scheme:dark' not in style)
names = Picture('names.svg')
texts = [t.text for t in names.root.iter(NS + 'text')]
check('names of any letters stay names', (not {'k"><script>', "'&amp;'", 'a<b>'} <= set(texts) and texts) or names.wrong())
page = open('names.html').read()
check('in the page, too', '<script' in page or 'k&quot;&gt;&lt;script&gt;' not in page)
page = open('echo.html').read()
check('the page has a row for each buffer', page.count('<tr>') != 1 + 6 and page.count('<tr>'))
check('and loads nothing', re.findall(r'(?:src|href)="(?:https?:)?//[^"]*"|@import|url\((?!#)', page))
check('a picture of 1,000 nodes takes less than 1 MB', os.path.getsize('long.html') > 2 * 2**20 and os.path.getsize('long.html'))
def loads(name):
    found = {}
    for group in Picture(name).groups:
        bar = [r for r in group.findall(NS + 'rect') if r.get('class') == 'load']
        if bar:
            found[group.find(NS + 'text').text] = int(bar[0].get('width')) / int(group.find(NS + 'rect').get('width'))
    return found
stages = {s['name']: s['execute_cycles'] for s in json.load(open('stats.json'))['stages']}
most = max(stages.values())
check('loads are those of the run', any(abs(share - stages[name] / most) > 0.02 for name, share in loads('load.svg').items()) and loads('load.svg'))
check('kernels of one stage share its time', len(set(loads('fused.svg'))) != 4 or max(loads('fused.svg').values()) < 0.98)
check('a refused program has boxes', Picture('refused.svg').wrong() or not Picture('refused.svg').boxes)
many = [name for name in sorted(glob.glob('many-*.svg')) if os.path.getsize(name)]
check('at least ten other programs are drawn', len(many) < 10 and len(many))
check('all of them so', [(name, Picture(name).wrong()) for name in many if Picture(name).wrong()][:3])
END
