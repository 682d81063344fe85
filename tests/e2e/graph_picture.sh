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
cat >nested.pipe <<'E'
kernel k(in f32 x, out f32 y) { y <- x; }
kernel sum<int N>(in f32 x[N], out f32 y) { f32 s = 0; for (i32 i = 0; i < N; i++) s += x[i][0]; y <- s; }
kernel swap(in f32 a, in f32 b, out f32 y) { y <- a - b; }
pipeline inner(in f32 x, out f32 y) { x -> k -> k -> y; }
pipeline outer(in f32 x, out f32 y) { x -> inner -> k -> y; }
pipeline main(in f32 x, out f32 y, out f32 z) {
    buffer f32 a[6], c[5], e[4], f[4];
    for (int i = 0; i < 6; i++) par: outer(x -> a[i]);
    both: sum<6>(a -> c[0]);
    for (int i = 0; i < 4; i++) link: inner(c[i] -> c[i + 1]);
    c[4] -> k -> y;
    for (int i = 0; i < 4; i++) one: k(x -> e[i]);
    for (int i = 0; i < 4; i++) mixed: swap(e[i], e[(i + 1) % 4] -> f[i]);
    sum<4>(f -> z);
}
E
check "a picture" "$PIPEC" graph --format=svg -o echo.svg echo.pipe
"$PIPEC" graph --format=svg -o again.svg echo.pipe
check "has the same bytes each time" cmp echo.svg again.svg
check "a page" "$PIPEC" graph --format=html -o echo.html echo.pipe
check "a command list" "$PIPEC" graph --format=svg -o names.svg names.cmds
check "its page" "$PIPEC" graph --format=html -o names.html names.cmds
check "2,000 nodes" "$PIPEC" graph --format=html --unfold -o long.html long.pipe
check "as a picture" "$PIPEC" graph --format=svg --unfold -o long.svg long.pipe
check "folded" "$PIPEC" graph --format=svg -o chain.svg long.pipe
check "pipelines in pipelines" "$PIPEC" graph --format=svg -o nested.svg nested.pipe
check "unfolded" "$PIPEC" graph --format=svg --unfold -o whole.svg nested.pipe
mkdir -p far/away
check "in another folder" "$PIPEC" graph --format=svg -o far/away/echo.svg echo.pipe
check "text is not folded" says 2 "--unfold goes with --format=svg or html" "$PIPEC" graph --unfold echo.pipe
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
        self.width, self.height = (int(n) for n in self.root.get('viewBox').split()[2:])
        self.nodes, self.ports, self.pipelines, self.nets, self.names = [], [], [], [], {}
        self.read(self.root)
        self.boxes = self.nodes + self.ports
    def read(self, group):
        """Boxes as (x, y, width, height); the legend is not one."""
        for g in group.findall(NS + 'g') + [g for a in group.findall(NS + 'a') for g in a.findall(NS + 'g')]:
            kind = (g.get('class') or '').split()[0]
            if kind == 'node':
                x, y = (int(n) for n in re.findall(r'-?\d+', g.get('transform')))
                rects = [r for r in g.findall(NS + 'rect') if r.get('class') == 'box']
                box = (x, y, int(rects[-1].get('width')), int(rects[-1].get('height')))
                self.nodes.append(box)
                self.names[[t.text for t in g.findall(NS + 'text') if t.get('class') == 't'][0]] = (box, g, len(rects))
            elif kind == 'port':
                x, y, w, point, low = (int(n) for n in re.findall(r'-?\d+', g.find(NS + 'path').get('d'))[:5])
                self.ports.append((x, y, w + point, 2 * low))
            elif kind == 'pipeline':
                r = g.findall(NS + 'rect')[-1]
                self.pipelines.append(tuple(int(r.get(k) or 0) for k in ('x', 'y', 'width', 'height')))
                self.read(g)
            elif kind == 'net':
                self.nets.append(g)
    def overlaps(self):
        boxes = sorted(self.boxes)
        found = [(a, b) for i, a in enumerate(boxes) for b in boxes[i + 1:i + 400] if b[0] < a[0] + a[2] and
                 b[1] < a[1] + a[3] and a[1] < b[1] + b[3]]
        inside = lambda b, p: p[0] <= b[0] and b[0] + b[2] <= p[0] + p[2] and p[1] <= b[1] and b[1] + b[3] <= p[1] + p[3]
        apart = lambda b, p: b[0] >= p[0] + p[2] or p[0] >= b[0] + b[2] or b[1] >= p[1] + p[3] or p[1] >= b[1] + b[3]
        return found + [(b, p) for p in self.pipelines for b in self.boxes if not inside(b, p) and not apart(b, p)]
    def outside(self):
        return [b for b in self.boxes + self.pipelines if b[0] < 0 or b[1] < 0 or b[0] + b[2] > self.width or b[1] + b[3] > self.height]
    def loose(self):
        """Lines that do not begin at the right side of a box or a side of a pipeline, and tips that do not point at a left side."""
        rights = {x + w for x, y, w, h in self.boxes + self.pipelines} | {p[0] for p in self.pipelines}
        lefts = {}
        for x, y, w, h in self.boxes + self.pipelines:
            lefts.setdefault(x, []).append((y, y + h))
        found = []
        for net in self.nets:
            first = [int(n) for n in re.findall(r'-?\d+', net.findall(NS + 'path')[0].get('d'))[:2]]
            tips = [map(int, m) for p in net.findall(NS + 'path')[1:] for m in re.findall(r'M(-?\d+) (-?\d+)', p.get('d'))]
            if first[0] not in rights or not all(any(a <= y <= b for a, b in lefts.get(x, [])) for x, y in tips):
                found.append(tree.tostring(net))
        return found
    def wide(self):
        """Texts that are wider than their box: a letter of 11 px takes 6.7."""
        found = []
        for box, group, sheets in self.names.values():
            rows = {}
            for text in group.findall(NS + 'text'):
                rows.setdefault(text.get('y'), []).append(text.text)
            found += [r for r in rows.values() if sum(len(t) for t in r) * 6.7 + 8 * len(r) > box[2] and max(map(len, r)) < 200]
        return found
    def wrong(self):
        return self.overlaps()[:3] or self.outside()[:3] or self.loose()[:3] or self.wide()[:3]
    def texts(self, kind):
        return [t.text for t in self.root.iter(NS + 'text') if kind in (t.get('class') or '').split()]

echo = Picture('echo.svg')
check('boxes do not overlap, lines join them from left to right', echo.wrong())
check('there are four kernels and three ports', len(echo.boxes) != 7 and echo.boxes)
check('a buffer is one line, whoever reads it', len(echo.nets) != 6 and len(echo.nets))
check('packets go to the right', echo.names['add'][0][0] + echo.names['add'][0][2] >= min(echo.names[n][0][0] for n in ('delay', 'down', 's')))
check('the lines of the cycle are marked', [n.get('class') for n in echo.nets].count('net cycle') != 2)
depths = echo.texts('d')
check('each depth is written once, initial packets and slack beside it', sorted(depths) != ['≥ 1', '≥ 16, init 16, slack 15', '≥ 8'] and depths)
rates = echo.texts('i') + echo.texts('o')
check('rates stand at the ends', not {'x pop 4 peek 8', 'push 1 y', 'b pop 1 peek 1'} <= set(rates) and rates)
links = [a.get('href') for a in echo.root.iter(NS + 'a')]
check('kernels and ports link to their lines', sorted(links) != sorted(['echo.pipe#L%d' % n for n in (7, 8, 9, 10, 5, 5, 5)]) and links)
titles = [t.text for t in echo.root.iter(NS + 'title')]
check('the type and the reason of a depth are shown at the line', not any(re.match(r'back: f32, depth ≥ \d+, init 16, slack 15: .+', t) for t in titles) and titles)
style = echo.root.find(NS + 'style').text
check('there is a light and a dark scheme', 'prefers-color-scheme:dark' not in style)
names = Picture('names.svg')
texts = [t.text for t in names.root.iter(NS + 'text')]
check('names of any letters stay names', (not {'k"><script>', "'&amp;'", 'a<b>'} <= set(texts) and texts) or names.wrong())
away = [a.get('href') for a in Picture('far/away/echo.svg').root.iter(NS + 'a')]
check('links lead from the folder of the picture', not all(a.startswith('../../echo.pipe#L') for a in away) and away)
nested, whole = Picture('nested.svg'), Picture('whole.svg')
check('pipelines are boxes around their kernels', nested.wrong() or whole.wrong() or len(nested.pipelines) != 3 or len(whole.pipelines) != 6 * 2 + 4)
check('arrays and chains are one box', not {'par[0..5]', 'link[0..3]'} <= set(nested.texts('t')) and nested.texts('t'))
check('and say of how many', not {'6 pipelines', 'chain of 4 pipelines'} <= set(nested.texts('o')) and nested.texts('o'))
check('their lines are one', 'x[0..5] pop 1 peek 1' not in nested.texts('i') and nested.texts('i'))
check('an array with lines across is drawn whole', 'x[0..3] pop 1 peek 1' not in nested.texts('i') and nested.texts('i'))
chain, long = Picture('chain.svg'), Picture('long.svg')
check('a long chain is one box', chain.wrong() or len(chain.nodes) != 1 or chain.texts('k') != ['chain of 2001 × k'])
check('or rows as wide as a page', long.overlaps()[:3] or long.loose()[:3] or len(long.nodes) != 2001 or long.width > 2000)
page = open('names.html').read()
check('in the page, too', '<script' in page or 'k&quot;&gt;&lt;script&gt;' not in page)
page = open('echo.html').read()
check('the page has a row for each buffer', page.count('<tr>') != 1 + 6 and page.count('<tr>'))
check('and loads nothing', re.findall(r'(?:src|href)="(?:https?:)?//[^"]*"|@import|url\((?!#)', page))
check('a picture of 1,000 nodes takes less than 1 MB', os.path.getsize('long.html') > 2 * 2**20 and os.path.getsize('long.html'))
def loads(name):
    found = {}
    for box, (place, group, sheets) in Picture(name).names.items():
        for bar in group.findall(NS + 'rect'):
            if bar.get('class') == 'load':
                found[box] = float(bar.get('fill-opacity')) / 0.8
    return found
stages = {s['name']: s['execute_cycles'] for s in json.load(open('stats.json'))['stages']}
most = max(stages.values())
check('loads are those of the run', any(abs(share - stages[name] / most) > 0.02 for name, share in loads('load.svg').items()) and loads('load.svg'))
check('kernels of one stage share its time', len(loads('fused.svg')) != 4 or max(loads('fused.svg').values()) < 0.98)
check('a refused program has boxes', Picture('refused.svg').wrong() or not Picture('refused.svg').boxes)
many = [name for name in sorted(glob.glob('many-*.svg')) if os.path.getsize(name)]
check('at least ten other programs are drawn', len(many) < 10 and len(many))
check('all of them so', [(name, Picture(name).wrong()) for name in many if Picture(name).wrong()][:3])
END
