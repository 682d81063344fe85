// The page of `pipec edit`: it shows the state of the file, and sends operations (lang/editor.md). The compiler changes the text.
'use strict';
const byId = id => document.getElementById(id);
const element = (name, props = {}, ...children) => {
    const made = Object.assign(document.createElement(name), props);
    made.append(...children);
    return made;
};
let session = sessionStorage.getItem('session') || '';
let hash = '', state = null, chosen = null, waiting = null, busy = false;

function say(text, wrong = false) {
    byId('said').textContent = text;
    byId('said').classList.toggle('wrong', wrong);
}

async function ask(path, body, headers = {}) {
    const answer = await fetch(path, body === null ? {headers: {'X-Pipec-Session': session, ...headers}} :
        {method: 'POST', headers: {'Content-Type': 'application/json', 'X-Pipec-Session': session}, body: JSON.stringify(body)});
    return {status: answer.status, object: answer.status === 304 ? null : await answer.json()};
}

// ---- the state ----

const partAt = at => state.parts.find(p => p.at === at);
const partName = p => `${p.line}: ${p.label ? p.label + ': ' : ''}${p.name}` + (p.kind === 'kernel' ? '' : ` (${{in: 'in-port', out: 'out-port', buffer: 'buffer', use: 'use of a buffer'}[p.kind]})`);

function take(object) {
    hash = object.hash;
    byId('undo').disabled = !object.undo;
    show(object.state);
}

function show(next) {
    const before = chosen && state && partAt(chosen), number = before ? state.parts.indexOf(before) : -1;
    state = next;
    byId('title').textContent = next.file;
    document.title = next.file + ': pipec edit';
    byId('about').textContent = next.shown ? `pipeline ${next.shown}: ${next.nodes.length} kernels, ${next.buffers.length} buffers and ports` :
        'no picture while the pipeline has these errors; the parts can be changed all the same';
    if (next.picture) byId('picture').innerHTML = next.picture;
    byId('picture').classList.toggle('old', !next.picture);
    byId('kernels').replaceChildren(...[...new Set(next.kernels)].map(k => element('option', {value: k})));
    showFindings();
    showBuffers();
    byId('parts').replaceChildren(element('option', {value: ''}, 'choose a part of the source, or click in the picture'),
        ...next.parts.map(p => element('option', {value: p.at}, partName(p))));
    choose(next.parts[number] && before.name === next.parts[number].name ? next.parts[number].at : null);
    if (next.picture) watchPicture();
}

function showFindings() {
    const rows = state.diagnostics.flatMap(f => f.diagnostics.map(d => [f.uri, d]));
    byId('findings').replaceChildren(...rows.map(([uri, d]) => element('li', {className: d.severity === 1 ? 'error' : ''},
        `${uri.split('/').pop()}:${d.range.start.line + 1}: ${d.message}`)));
    if (rows.length === 0) byId('findings').append(element('li', {}, 'none'));
}

function showBuffers() {
    const rows = (state.buffers || []).map(b => element('tr', {}, element('td', {}, b.name), element('td', {}, b.type), element('td', {className: 'n'},
        b.depth ? String(b.depth) : ''), element('td', {className: 'why'}, b.why || '')));
    byId('buffers').replaceChildren(element('table', {}, element('tr', {}, ...['name', 'type', 'depth', 'why'].map(t => element('th', {}, t))), ...rows));
}

function showSource() {
    const part = chosen === null ? null : partAt(chosen);
    const lines = state.source.split('\n').map((line, i) => element('span', {className: part && part.line === i + 1 ? 'at' : ''},
        `${String(i + 1).padStart(4)}  ${line}\n`));
    byId('source').replaceChildren(...lines);
    const at = byId('source').querySelector('.at');
    if (at) byId('source').scrollTop = at.offsetTop - byId('source').offsetTop - 60;
}

// ---- a chosen part ----

function choose(at) {
    chosen = at;
    byId('parts').value = at === null ? '' : String(at);
    const box = byId('part'), part = at === null ? null : partAt(at);
    box.replaceChildren();
    if (part) for (const row of rowsOf(part)) box.append(row);
    markPicture();
    showSource();
}

const button = (text, work) => element('button', {onclick: work}, text);
function field(name, value, apply, list = '') {
    const input = element('input', {value, name});
    if (list) input.setAttribute('list', list);
    input.onkeydown = event => event.key === 'Enter' && apply(input.value);
    return element('label', {}, element('span', {}, name), input, button('apply', () => apply(input.value)));
}
const choice = (name, rows) => element('select', {name}, ...rows.map(([value, text]) => element('option', {value}, text)));

// Sources of packets in the same pipeline: [value, text].
function sourcesFor(part) {
    const rows = [];
    for (const p of state.parts) {
        if (p.pipeline !== part.pipeline || p === part) continue;
        if (p.kind === 'in' || p.kind === 'buffer') rows.push([`${p.at}`, partName(p)]);
        if (p.kind === 'kernel' && p.bound) p.outputs.forEach((o, i) => rows.push([`${p.at} ${i}`, `${partName(p)}, output ${o}`]));
        if (p.kind === 'kernel' && !p.bound) rows.push([`${p.at} 0`, `${partName(p)}, output`]);
    }
    return rows;
}

function rowsOf(part) {
    const rows = [], set = name => text => edit({op: 'set', at: part.at, part: name, text});
    if (part.kind === 'kernel') for (const name of ['label', 'parameters', 'arguments', 'attributes']) rows.push(field(name, part[name], set(name)));
    if (part.kind === 'buffer') rows.push(field('attributes', part.attributes, set('attributes')));
    if (part.kind === 'kernel' || part.kind === 'use') rows.push(...insertRows(part));
    if (part.kind === 'kernel') rows.push(connectRow(part));
    if (part.kind === 'in' || part.kind === 'out') return [element('p', {className: 'soft'}, 'a port: change it in the text')];
    rows.push(element('div', {className: 'row'}, button('remove', () => edit({op: 'remove', at: part.at})),
        button('move up', () => moveBy(part, -1)), button('move down', () => moveBy(part, 1))));
    return rows;
}

function insertRows(part) {
    const text = element('input', {name: 'insert', placeholder: 'kernel, gain(0.5), label: fir<3>'});
    text.setAttribute('list', 'kernels');
    const row = element('div', {className: 'row'}, element('span', {}, 'insert'), text);
    for (const side of ['before', 'after']) {
        const ports = part.bound ? (side === 'before' ? part.inputs : part.outputs) : [''];
        ports.forEach((port, i) => row.append(button(`${side} ${port}`.trim(), () => edit({op: 'insert', at: part.at, side, port: i, text: text.value}))));
    }
    return [row];
}

function connectRow(part) {
    const inputs = choice('input', part.bound ? part.inputs.map((text, i) => [i, `input ${text}`]) : [[0, 'the input']]);
    const from = choice('from', sourcesFor(part));
    return element('div', {className: 'row'}, inputs, 'reads', from, button('connect', () => {
        const [at, output] = from.value.split(' ').map(Number);
        edit({op: 'connect', from: at, ...(output === undefined ? {} : {output}), to: part.at, input: Number(inputs.value)});
    }));
}

// The statement goes past the next one that has parts in the list.
function moveBy(part, step) {
    const same = state.parts.filter(p => p.pipeline === part.pipeline && p.kind !== 'in' && p.kind !== 'out');
    let i = same.indexOf(part);
    while (same[i] && same[i].line === part.line) i += step;
    if (same[i]) edit({op: 'move', at: part.at, to: same[i].at, side: step < 0 ? 'before' : 'after'});
}

// ---- the picture ----

const placeOf = box => {
    const list = box.dataset.node !== undefined ? [state.nodes[box.dataset.node]] : (state.buffers || []).filter(b => b.bundle === Number(box.dataset.bundle));
    return list[0] && list[0].at !== undefined ? list[0].at : null;
};

function markPicture() {
    document.querySelectorAll('.pipec .at').forEach(e => e.classList.remove('at'));
    if (chosen === null || !state.picture) return;
    document.querySelectorAll('.pipec [data-node], .pipec [data-bundle]').forEach(e => placeOf(e) === chosen && e.classList.add('at'));
}

function watchPicture() {
    const picture = byId('picture');
    let from = null;
    const boxAt = event => event.target.closest('[data-node], [data-bundle]');
    picture.onclick = event => event.preventDefault();
    picture.ondragstart = event => event.preventDefault();
    picture.onpointerdown = event => { from = boxAt(event); };
    picture.onpointermove = event => {
        picture.querySelectorAll('.over').forEach(e => e.classList.remove('over'));
        const to = boxAt(event);
        if (from && to && to !== from) to.classList.add('over');
    };
    picture.onpointerup = event => {
        const to = boxAt(event), begin = from;
        from = null;
        if (!to || !begin) return;
        const a = placeOf(begin), b = placeOf(to);
        if (to === begin) {
            choose(b);
            if (b === null) say('this is in another file, or is not written: a buffer between two kernels of a chain');
        } else if (a === null || b === null) {
            say('one of both is in another file, or is not written', true);
        } else if (byId('connecting').checked) {
            edit({op: 'connect', from: a, to: b});
        } else {
            const r = to.getBoundingClientRect();
            edit({op: 'move', at: a, to: b, side: event.clientY < r.top + r.height / 2 ? 'before' : 'after'});
        }
    };
}

// ---- the server ----

async function edit(operation) {
    if (busy) return;
    busy = true;
    try {
        const {status, object} = await ask('/edit', {...operation, hash});
        waiting = null;
        if (status === 200 && object.written) {
            take(object);
            say(object.errors ? 'written, with errors' : 'written');
        } else if (status === 200) {
            waiting = operation;
            show(object.state);
            say('not written: the pipeline would have errors', true);
        } else if (status === 409 && object.state) {
            take(object);
            say('not written: the file has changed on disk. This is its new state.', true);
        } else {
            say('not possible: ' + object.error + (object.line ? ` (line ${object.line}, column ${object.column})` : ''), true);
        }
    } catch (error) {
        say('pipec edit does not answer', true);
    }
    byId('ask').hidden = waiting === null;
    busy = false;
}

async function reload() {
    const {status, object} = await ask('/state', null);
    if (status === 200) take(object);
    else say(object.error, true);
    return status === 200;
}

async function watchFile() {
    if (busy || waiting !== null) return;
    try {
        const {status, object} = await ask('/state', null, {'If-None-Match': hash});
        if (status === 200 && !busy && waiting === null && object.hash !== hash) {
            take(object);
            say('the file has changed on disk');
        } else if (status !== 200 && status !== 304) {
            say(object.error, true);
        }
    } catch (error) {
        say('pipec edit has ended', true);
    }
}

async function begin() {
    const token = location.hash.slice(1);
    if (token) {
        history.replaceState(null, '', '/');
        const {status, object} = await ask('/session', {token});
        if (status !== 200 && !session) return say(object.error, true);
        if (status === 200) sessionStorage.setItem('session', session = object.session);
    }
    if (!session) return say("open the address that 'pipec edit' has printed", true);
    byId('undo').onclick = () => edit({op: 'undo'});
    byId('confirm').onclick = () => edit({...waiting, confirm: true});
    byId('discard').onclick = async () => { waiting = null; byId('ask').hidden = true; say(''); await reload(); };
    byId('parts').onchange = () => choose(byId('parts').value === '' ? null : Number(byId('parts').value));
    if (await reload()) setInterval(watchFile, 2000);
}
begin();
