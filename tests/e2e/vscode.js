// SPDX-License-Identifier: MIT
// vscode.js EXTENSION PIPEC FOLDER: runs the extension with an editor that this file plays, on FOLDER/main.pipe.
// Prints `ok CLAIM` or `not ok CLAIM`.
'use strict';
const fs = require('fs');
const path = require('path');
const Module = require('module');
const [extension, pipec, folder] = process.argv.slice(2);

const providers = {}, published = new Map(), listeners = {}, errors = [];
const keep = (name) => (...given) => { providers[name] = given; return { dispose() {} }; };
const listen = (name) => (call) => { listeners[name] = call; return { dispose() {} }; };
class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range { constructor(a, b, c, d) { this.start = new Position(a, b); this.end = new Position(c, d); } }
class Uri { static parse(text) { const uri = new Uri(); uri.text = text; return uri; } toString() { return this.text; } }
const holder = (...names) => class { constructor(...given) { names.forEach((name, i) => { this[name] = given[i]; }); } };
class WorkspaceEdit { constructor() { this.edits = []; } replace(uri, range, text) { this.edits.push({ uri: uri.text, range, text }); } }

const uri = Uri.parse('file://' + path.join(folder, 'main.pipe'));
const document = { uri, languageId: 'pipe', version: 1, text: fs.readFileSync(path.join(folder, 'main.pipe'), 'utf8'),
                   getText() { return this.text; } };
const vscode = {
    Position, Range, Uri, WorkspaceEdit,
    Location: holder('uri', 'range'), Diagnostic: holder('range', 'message', 'severity'),
    DiagnosticRelatedInformation: holder('location', 'message'), DocumentSymbol: holder('name', 'detail', 'kind', 'range', 'selection'),
    SymbolInformation: holder('name', 'kind', 'container', 'location'), CompletionItem: holder('label', 'kind'),
    SignatureHelp: holder(), SignatureInformation: holder('label', 'documentation'), ParameterInformation: holder('label'),
    InlayHint: holder('position', 'label'), CodeAction: holder('title', 'kind'), CodeActionKind: { QuickFix: 'quickfix' },
    Hover: holder('contents'), MarkdownString: holder('value'), DocumentHighlight: holder('range'), TextEdit: holder('range', 'newText'),
    SemanticTokens: holder('data'), SemanticTokensLegend: holder('types', 'modifiers'),
    languages: {
        createDiagnosticCollection: () => ({ set: (at, list) => { published.set(at.text, list); if (listeners.published) listeners.published(); } }),
        ...Object.fromEntries(['Hover', 'Definition', 'Reference', 'DocumentHighlight', 'Rename', 'CompletionItem', 'SignatureHelp', 'DocumentSymbol',
            'WorkspaceSymbol', 'InlayHints', 'DocumentSemanticTokens', 'DocumentFormattingEdit', 'CodeActions'].map((name) => [
                name.replace(/^/, 'register') + 'Provider', keep(name)])),
    },
    workspace: {
        textDocuments: [document], workspaceFolders: [{ uri: Uri.parse('file://' + folder), name: 'test' }],
        getConfiguration: () => ({ get: () => pipec }), onDidOpenTextDocument: listen('open'),
        onDidChangeTextDocument: listen('change'), onDidCloseTextDocument: listen('close'),
    },
    window: { showErrorMessage: (text) => errors.push(text) },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));

function check(claim, holds, seen) {
    console.log((holds ? 'ok ' : 'not ok ') + claim);
    if (!holds) console.log(JSON.stringify(seen));
}

/** Waits until the diagnostics of the document satisfy the test. */
const until = (test) => new Promise((resolve) => {
    listeners.published = () => { if (published.has(uri.text) && test(published.get(uri.text))) resolve(published.get(uri.text)); };
    listeners.published();
});

function place(text) {
    const before = document.text.slice(0, document.text.indexOf(text)).split('\n');
    return new Position(before.length - 1, before[before.length - 1].length);
}

function type(range, text) {
    document.version++;
    listeners.change({ document, contentChanges: [{ range, text }] });
}

(async () => {
    const client = require(path.resolve(extension));
    await client.activate({ subscriptions: [] });
    check('the extension starts the server', errors.length === 0, errors);
    check('a sound text has no findings', (await until(() => true)).length === 0, [...published]);
    const at = place('half ->'), of = (name) => providers[name][name === 'WorkspaceSymbol' ? 0 : 1];
    check('hover', (await of('Hover').provideHover(document, at)).contents.value.includes('kernel half'));
    check('definition', (await of('Definition').provideDefinition(document, at)).range.start.line === 1);
    check('references', (await of('Reference').provideReferences(document, at, { includeDeclaration: true })).length === 2);
    check('highlights', (await of('DocumentHighlight').provideDocumentHighlights(document, at)).length === 2);
    check('the range of a rename', (await of('Rename').prepareRename(document, at)).placeholder === 'half');
    check('rename', (await of('Rename').provideRenameEdits(document, at, 'third')).edits.length === 2);
    const refused = await of('Rename').provideRenameEdits(document, at, 'main').catch((error) => error.message);
    check('the reason why a rename is refused', /already declared/.test(refused), refused);
    check('completion', (await of('CompletionItem').provideCompletionItems(document, at)).some((item) => item.label === 'half'));
    const help = await of('SignatureHelp').provideSignatureHelp(document, place('4) -> y'));
    check('signature help', help.signatures[0].parameters[0].label === 'f32 by', help);
    check('symbols', (await of('DocumentSymbol').provideDocumentSymbols(document)).map((s) => s.name).join() === 'half,times,main');
    check('symbols of the workspace', (await of('WorkspaceSymbol').provideWorkspaceSymbols('hal')).length === 1);
    check('hints', (await of('InlayHints').provideInlayHints(document)).some((hint) => /depth/.test(hint.label)));
    const tokens = await of('DocumentSemanticTokens').provideDocumentSemanticTokens(document);
    check('semantic tokens', tokens.data.length > 20 && tokens.data.length % 5 === 0);
    check('formatting', (await of('DocumentFormattingEdit').provideDocumentFormattingEdits(document, {})).length === 1);
    type(new Range(at.line, at.character, at.line, at.character + 4), 'hlaf');
    const wrong = (await until((list) => list.length > 0))[0];
    check('what is typed has findings', wrong.code === 'unknown-name' && wrong.severity === 0, wrong);
    const actions = await of('CodeActions').provideCodeActions(document, wrong.range, { diagnostics: [wrong] });
    check('which have quick fixes', actions.length === 1 && actions[0].edit.edits[0].text === 'half', actions);
    type(actions[0].edit.edits[0].range, actions[0].edit.edits[0].text);
    check('that remove them', (await until((list) => list.length === 0)).length === 0);
    await client.deactivate();
    const ended = require(path.resolve(extension));
    vscode.workspace.getConfiguration = () => ({ get: () => '/no/such/pipec' });
    await ended.activate({ subscriptions: [] });
    check('a server that cannot be started is reported', errors.length === 1 && errors[0].includes('/no/such/pipec'), errors);
})().catch((error) => { console.log('not ok the session: ' + error.stack); process.exitCode = 1; });
setTimeout(() => { console.log('not ok the session ends within a minute'); process.exit(1); }, 60000).unref();
