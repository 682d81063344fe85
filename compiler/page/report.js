// The page of `pipec report`. `data` is the object that compiler/describe/report_page.c writes; its rows are arrays, in this order.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const NODE = {name: 0, kernel: 1, line: 2, box: 3, firings: 4, cost: 5, stage: 6, inputs: 7, outputs: 8};
const BUFFER = {name: 0, type: 1, kind: 2, depth: 3, least: 4, bytes: 5, why: 6, bundle: 7, run: 8, packets: 9, high: 10};
const STAGE = {name: 0, queue: 1, cus: 2, firings: 3, dispatches: 4, parts: 5, waits: 6, cause: 7, buffer: 8};
const PARTS = ['execute', 'index', 'device queue', 'launch', 'switch'];
const WAITS = ['packets', 'room', 'threshold', 'units', 'completion', 'scheduler', 'ended', 'interrupted'];
const COLOURS = ['#f08c00', '#e8590c', '#d6336c', '#7048e8', '#9c36b5', '#1c7ed6', '#1098ad', '#74b816', '#868e96', '#12b886', '#495057',
    '#adb5bd', '#c92a2a'];
const ROWS_MAX = 200;

const element = (name, props = {}, ...children) => {
    const made = Object.assign(document.createElement(name), props);
    made.append(...children);
    return made;
};
const count = n => n.toLocaleString('en-US');
const percent = (n, of) => of > 0 ? (100 * n / of).toFixed(1) + '%' : '';
const stageName = s => s[STAGE.name];
const least = values => values.reduce((a, b) => a < b ? a : b);
const most = values => values.reduce((a, b) => a > b ? a : b);
const byId = id => document.getElementById(id);
const timeText = cycles => {
    const ns = cycles * 1e9 / data.clock_hz;
    const text = ns >= 1e9 ? (ns / 1e9).toFixed(3) + ' s' : ns >= 1e6 ? (ns / 1e6).toFixed(3) + ' ms' :
        ns >= 1e3 ? (ns / 1e3).toFixed(3) + ' µs' : ns.toFixed(0) + ' ns';
    return data.real ? text : text + ', cycle ' + count(Math.round(cycles));
};

// A table with heads [text, class]; rows are arrays of texts and elements. Of long tables the first rows are shown.
function table(place, heads, rows) {
    const body = element('tbody');
    const add = (from, to) => {
        for (const row of rows.slice(from, to)) {
            const tr = element('tr');
            row.forEach((cell, i) => tr.append(element('td', {className: heads[i][1] || ''}, cell instanceof Node ? cell : String(cell))));
            if (row.key !== undefined) {
                tr.dataset.key = row.key;
                tr.onmouseenter = () => mark(row.key, true);
                tr.onmouseleave = () => mark(row.key, false);
            }
            body.append(tr);
        }
    };
    const head = element('tr');
    heads.forEach(h => head.append(element('th', {className: h[1] || ''}, h[0])));
    byId(place).append(element('table', {}, element('thead', {}, head), body));
    add(0, ROWS_MAX);
    if (rows.length > ROWS_MAX) {
        const more = element('button', {}, `show all ${count(rows.length)} rows`);
        more.onclick = () => { more.remove(); add(ROWS_MAX, rows.length); };
        byId(place).append(more);
    }
}

// A row and its box or line in the picture: "node:3", "bundle:5".
function mark(key, on) {
    const [kind, number] = key.split(':');
    document.querySelectorAll(`.pipec [data-${kind}="${number}"]`).forEach(e => e.classList.toggle('at', on));
}

function keys(place, words, colours) {
    words.forEach((word, i) => byId(place).append(element('span', {className: 'key'},
        element('i', {style: `background:${colours[i]}`}), word)));
}

// ---- where time went ----

function showTime() {
    const words = PARTS.concat(WAITS.map(w => 'wait: ' + w));
    const used = words.map((w, i) => data.stages.some(s => (i < PARTS.length ? s[STAGE.parts][i] : s[STAGE.waits][i - PARTS.length]) > 0));
    keys('time-keys', words.filter((w, i) => used[i]), COLOURS.filter((c, i) => used[i]));
    const boxOf = new Map(data.nodes.map(n => [n[NODE.stage], n[NODE.box]]));
    const rows = data.stages.map((s, number) => {
        const bar = element('div', {className: 'bar'});
        s[STAGE.parts].concat(s[STAGE.waits]).forEach((cycles, i) => cycles > 0 && bar.append(element('i', {
            style: `width:${100 * cycles / data.cycles}%;background:${COLOURS[i]}`, title: `${words[i]}: ${percent(cycles, data.cycles)}`})));
        const busy = s[STAGE.parts][0] + s[STAGE.parts][1] + s[STAGE.parts][2], overhead = s[STAGE.parts][3] + s[STAGE.parts][4];
        const waits = s[STAGE.waits].slice(0, WAITS.indexOf('ended')), longest = waits.indexOf(most(waits));
        const wait = waits[longest] === 0 ? '' : WAITS[longest] + (WAITS[longest] === s[STAGE.cause] ? ` in '${s[STAGE.buffer]}'` : '');
        const row = [stageName(s), bar, percent(busy, data.cycles), percent(overhead, data.cycles), count(s[STAGE.firings]),
            count(s[STAGE.dispatches]), wait];
        row.busy = busy + overhead;
        if (boxOf.has(number)) row.key = 'node:' + boxOf.get(number);
        return row;
    });
    rows.sort((a, b) => b.busy - a.busy);
    table('where', [['stage'], ['time of the run'], ['busy', 'n'], ['overhead', 'n'], ['firings', 'n'], ['launches', 'n'], ['waits longest for']], rows);
}

// ---- what there is ----

function showTables() {
    table('rates', [['kernel'], ['definition'], ['line', 'n'], ['firings of an iteration', 'n'], ['cycles of a firing', 'n'], ['inputs', 'why'], ['outputs', 'why']],
        data.nodes.map(n => {
            const ends = list => list.map(e => `${e[0]}: ${data.texts[e[1]]}, '${data.buffers[e[2]][BUFFER.name]}'`).join('; ');
            const row = [n[NODE.name], data.texts[n[NODE.kernel]], n[NODE.line] || '', n[NODE.firings] || '', n[NODE.cost] || '', ends(n[NODE.inputs]),
                ends(n[NODE.outputs])];
            row.key = 'node:' + n[NODE.box];
            return row;
        }));
    table('depths', [['buffer'], ['type'], [''], ['depth', 'n'], ['at least', 'n'], ['bytes', 'n'], ['most in the run', 'n'], ['packets', 'n'], ['why', 'why']],
        data.buffers.map(b => {
            const run = b[BUFFER.run] >= 0;
            const row = [b[BUFFER.name], data.texts[b[BUFFER.type]], ['', 'in-port', 'out-port'][b[BUFFER.kind]], run ? count(b[BUFFER.depth]) : '',
                b[BUFFER.least] || '', b[BUFFER.kind] || !run ? '' : count(b[BUFFER.bytes]), run ? count(b[BUFFER.high]) : 'inside a stage',
                run ? count(b[BUFFER.packets]) : '', data.texts[b[BUFFER.why]]];
            row.key = 'bundle:' + b[BUFFER.bundle];
            return row;
        }));
    table('memory', [['memory of the device'], ['bytes', 'n']], data.memory.map(m => [m[0] === 'bytes' ? 'all' : m[0].replace(/_bytes$/, '').replace(/_/g, ' '), count(m[1])]));
    table('plan', [['plan'], ['', 'why']], data.facts);
}

// ---- the slider ----

// In a list of values over time, a negative number stands for so many repetitions of the value before it.
function unfold(list) {
    const values = [];
    for (const value of list)
        if (value < 0) values.push(...Array(-value).fill(values[values.length - 1]));
        else values.push(value);
    return values;
}

const timeline = data.timeline;
const bins = timeline ? timeline.bins : 0;
if (timeline)
    for (const key of ['levels', 'busy']) timeline[key] = timeline[key].map(unfold);
const cursors = [];
let now = 0;

function lane(place, label, paint, height) {
    const canvas = element('canvas', {width: Math.max(bins, 1), height});
    canvas.style.cssText = `width:100%;height:${height}px;image-rendering:pixelated`;
    const cursor = element('b'), box = element('div', {className: 'lane', title: label}, canvas, cursor);
    box.onclick = event => seek(Math.floor(event.offsetX / box.clientWidth * bins));
    byId(place).append(element('div', {className: 'soft'}, label), box);
    cursors.push(cursor);
    paint(canvas.getContext('2d'), height);
}

// Each queue: the shares of its stages, one on the other.
function showQueues() {
    const colour = s => COLOURS[s % COLOURS.length];
    if (data.stages.length <= 40) keys('stage-keys', data.stages.map(stageName), data.stages.map((s, i) => colour(i)));
    for (const q of data.queues) {
        const own = data.stages.map((s, i) => i).filter(i => data.stages[i][STAGE.queue] === q[0]);
        const units = q[2] === 1 ? `CU ${q[1]}` : `CUs ${q[1]} to ${q[1] + q[2] - 1}`;
        lane('queues', `${units}: busy ${percent(q[4], data.cycles)} of the time, ${count(q[3])} launches`, (to, height) => {
            for (let t = 0; t < bins; t++) {
                let y = height;
                for (const s of own) {
                    const part = timeline.busy[s][t] / 100 * height;
                    to.fillStyle = colour(s);
                    to.fillRect(t, y - part, 1, part);
                    y -= part;
                }
            }
        }, 44);
    }
}

// Each buffer of the run: its fill, as a line of colour.
function showFills() {
    data.buffers.filter(b => b[BUFFER.run] >= 0).slice(0, ROWS_MAX).forEach(b => {
        const full = Math.max(b[BUFFER.high], 1);
        lane('fills', `${b[BUFFER.name]}: at most ${count(b[BUFFER.high])} of ${count(b[BUFFER.depth])} packets`, (to, height) => {
            to.fillStyle = '#1c7ed6';
            timeline.levels[b[BUFFER.run]].forEach((level, t) => {
                const part = Math.max(level > 0 ? 1 : 0, level / full * height);
                to.fillRect(t, height - part, 1, part);
            });
        }, 22);
    });
}

// The levels of a bundle's buffers as one text.
function levelText(list, t) {
    const levels = list.map(b => timeline.levels[b[BUFFER.run]][t]), depths = list.map(b => b[BUFFER.depth]);
    const range = values => least(values) === most(values) ? count(values[0]) : `${count(least(values))}..${count(most(values))}`;
    return `${range(levels)} of ${range(depths)}`;
}

const boxes = new Map(), lines = new Map(), labels = new Map();
const bundles = new Map();
function indexPicture() {
    document.querySelectorAll('.pipec .node').forEach(e => boxes.set(Number(e.dataset.node), e));
    document.querySelectorAll('.pipec .net').forEach(e => lines.set(Number(e.dataset.bundle), (lines.get(Number(e.dataset.bundle)) || []).concat(e)));
    document.querySelectorAll('.pipec .d').forEach(e => labels.set(Number(e.dataset.bundle), e));
    for (const b of data.buffers)
        if (b[BUFFER.run] >= 0) bundles.set(b[BUFFER.bundle], (bundles.get(b[BUFFER.bundle]) || []).concat([b]));
}

// Boxes have the colour of their busiest stage's time.
function showLoads() {
    const busy = s => data.stages[s][STAGE.parts][0], highest = most(data.stages.map((s, i) => busy(i)).concat(1)), loads = new Map();
    for (const n of data.nodes)
        if (n[NODE.stage] >= 0) loads.set(n[NODE.box], Math.max(loads.get(n[NODE.box]) || 0, busy(n[NODE.stage]) / highest));
    for (const [box, load] of loads) {
        const group = boxes.get(box), rects = group.querySelectorAll('rect'), front = rects[rects.length - 1], colour = front.cloneNode();
        colour.setAttribute('class', 'load');
        colour.setAttribute('fill-opacity', (0.8 * load).toFixed(2));
        front.after(colour);
        const text = group.querySelector('text').cloneNode();
        text.setAttribute('class', 'o');
        text.setAttribute('x', front.getAttribute('width') - 8);
        text.setAttribute('y', -4);
        text.textContent = Math.round(100 * load) + '%';
        group.append(text);
    }
}

function seek(t) {
    now = Math.min(Math.max(t, 0), bins - 1);
    byId('slider').value = now;
    byId('now').textContent = timeText(data.cycles * now / bins);
    for (const cursor of cursors) cursor.style.left = 100 * (now + 0.5) / bins + '%';
    const running = new Map();
    for (const n of data.nodes)
        if (n[NODE.stage] >= 0) running.set(n[NODE.box], Math.max(running.get(n[NODE.box]) || 0, timeline.busy[n[NODE.stage]][now]));
    for (const [box, e] of boxes) e.classList.toggle('runs', (running.get(box) || 0) > 0);
    for (const [bundle, list] of bundles) {
        const text = levelText(list, now), label = labels.get(bundle);
        const full = most(list.map(b => timeline.levels[b[BUFFER.run]][now] / Math.max(b[BUFFER.depth], 1)));
        if (label) label.textContent = text;
        for (const e of lines.get(bundle) || []) e.querySelector('.buffer').style.strokeWidth = (1 + 4 * Math.min(full, 1)).toFixed(1);
    }
}

function play() {
    let timer = 0;
    byId('play').onclick = () => {
        clearInterval(timer);
        timer = timer ? 0 : setInterval(() => seek((now + 1) % bins), Math.max(20000 / bins, 30));
        byId('play').textContent = timer ? 'stop' : 'play';
    };
}

// "#0.25" in the address is a quarter of the time.
function seekAddress() {
    const share = Number(location.hash.slice(1));
    seek(Number.isFinite(share) ? Math.floor(share * bins) : 0);
}

showTime();
showTables();
indexPicture();
showLoads();
if (timeline) {
    byId('slider').max = bins - 1;
    byId('slider').oninput = () => seek(Number(byId('slider').value));
    showQueues();
    showFills();
    play();
    addEventListener('hashchange', seekAddress);
    seekAddress();
} else {
    for (const id of ['time', 'over-time']) byId(id).remove();
}
document.documentElement.dataset.ready = 'yes';
