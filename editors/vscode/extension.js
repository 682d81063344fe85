// SPDX-License-Identifier: MIT
// The client of `pipec lsp` for Visual Studio Code: it needs no other package.
//
// Positions of the editor and of the protocol are the same: lines and UTF-16 columns from 0.
'use strict';
const vscode = require('vscode');
const { spawn } = require('child_process');

// ---- the connection: one server, requests by number ----

class Connection {
    constructor(command, onNotification, onEnd) {
        this.pending = new Map();
        this.last = 0;
        this.input = Buffer.alloc(0);
        this.onNotification = onNotification;
        this.process = spawn(command, ['lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
        this.process.stdout.on('data', (bytes) => this.take(bytes));
        this.process.stdin.on('error', () => {}); // 'exit' or 'error' of the process says it
        this.process.on('error', (error) => this.end(onEnd, error.message));
        this.process.on('exit', (code) => this.end(onEnd, `it has ended with status ${code}`));
    }

    end(onEnd, reason) {
        for (const { reject } of this.pending.values()) reject(new Error(reason));
        this.pending.clear();
        if (!this.closing) onEnd(reason);
        this.closing = true;
    }

    send(message) {
        const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
        this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
        this.process.stdin.write(body);
    }

    notify(method, params) {
        this.send({ method, params });
    }

    request(method, params) {
        const id = ++this.last;
        return new Promise((resolve, reject) => {
            this.pending.set(id, { resolve, reject });
            this.send({ id, method, params });
        });
    }

    take(bytes) {
        this.input = Buffer.concat([this.input, bytes]);
        for (;;) {
            const end = this.input.indexOf('\r\n\r\n');
            const header = end < 0 ? null : /Content-Length: (\d+)/i.exec(this.input.toString('latin1', 0, end));
            const size = header ? Number(header[1]) : 0;
            if (!header || this.input.length < end + 4 + size) return;
            const message = JSON.parse(this.input.toString('utf8', end + 4, end + 4 + size));
            this.input = this.input.subarray(end + 4 + size);
            this.handle(message);
        }
    }

    handle(message) {
        if (message.method) {
            this.onNotification(message.method, message.params);
            return;
        }
        const waiting = this.pending.get(message.id);
        this.pending.delete(message.id);
        if (waiting && message.error) waiting.reject(new Error(message.error.message));
        else if (waiting) waiting.resolve(message.result);
    }

    close() {
        this.closing = true;
        return this.request('shutdown', null).catch(() => {}).then(() => {
            this.notify('exit', null);
            this.process.stdin.end();
        });
    }
}

// ---- from the protocol to the editor ----

const toRange = (range) => new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
const toLocation = (location) => new vscode.Location(vscode.Uri.parse(location.uri), toRange(location.range));

function toEdit(result) {
    const edit = new vscode.WorkspaceEdit();
    for (const [uri, edits] of Object.entries(result.changes))
        for (const one of edits) edit.replace(vscode.Uri.parse(uri), toRange(one.range), one.newText);
    return edit;
}

function toDiagnostic(found) {
    const diagnostic = new vscode.Diagnostic(toRange(found.range), found.message, found.severity - 1);
    diagnostic.code = found.code;
    diagnostic.source = found.source;
    diagnostic.relatedInformation = (found.relatedInformation || []).map(
        (other) => new vscode.DiagnosticRelatedInformation(toLocation(other.location), other.message));
    diagnostic.asSent = found; // a request for fixes sends it back
    return diagnostic;
}

function toSymbol(symbol) {
    return new vscode.DocumentSymbol(symbol.name, symbol.detail, symbol.kind - 1, toRange(symbol.range), toRange(symbol.selectionRange));
}

function toCompletion(item) {
    const completion = new vscode.CompletionItem(item.label, item.kind - 1);
    completion.detail = item.detail;
    return completion;
}

function toSignatures(result) {
    const help = new vscode.SignatureHelp();
    help.signatures = result.signatures.map((one) => {
        const signature = new vscode.SignatureInformation(one.label, one.documentation);
        signature.parameters = one.parameters.map((parameter) => new vscode.ParameterInformation(parameter.label));
        return signature;
    });
    help.activeSignature = result.activeSignature;
    help.activeParameter = result.activeParameter;
    return help;
}

function toHint(found) {
    const hint = new vscode.InlayHint(new vscode.Position(found.position.line, found.position.character), found.label);
    hint.paddingLeft = found.paddingLeft;
    return hint;
}

function toAction(found, diagnostic) {
    const action = new vscode.CodeAction(found.title, vscode.CodeActionKind.QuickFix);
    action.edit = toEdit(found.edit);
    action.isPreferred = found.isPreferred;
    action.diagnostics = [diagnostic];
    return action;
}

// ---- the features ----

const about = (document, position, more) => ({
    textDocument: { uri: document.uri.toString() },
    position: position && { line: position.line, character: position.character },
    ...more,
});

function features(connection, capabilities) {
    const ask = (method, document, position, more) => connection.request(`textDocument/${method}`, about(document, position, more));
    const each = (list, convert) => (list || []).map(convert);
    const one = (result, convert) => (result ? convert(result) : null);
    const pipe = { language: 'pipe' };
    const legend = new vscode.SemanticTokensLegend(capabilities.semanticTokensProvider.legend.tokenTypes,
                                                   capabilities.semanticTokensProvider.legend.tokenModifiers);
    const on = vscode.languages;
    return [
        on.registerHoverProvider(pipe, {
            provideHover: async (d, p) => one(await ask('hover', d, p), (r) => new vscode.Hover(new vscode.MarkdownString(r.contents.value))),
        }),
        on.registerDefinitionProvider(pipe, { provideDefinition: async (d, p) => one(await ask('definition', d, p), toLocation) }),
        on.registerReferenceProvider(pipe, {
            provideReferences: async (d, p, context) => each(await ask('references', d, p, { context }), toLocation),
        }),
        on.registerDocumentHighlightProvider(pipe, {
            provideDocumentHighlights: async (d, p) =>
                each(await ask('documentHighlight', d, p), (r) => new vscode.DocumentHighlight(toRange(r.range))),
        }),
        on.registerRenameProvider(pipe, {
            prepareRename: async (d, p) => {
                const found = await ask('prepareRename', d, p);
                return { range: toRange(found.range), placeholder: found.placeholder };
            },
            provideRenameEdits: async (d, p, newName) => toEdit(await ask('rename', d, p, { newName })),
        }),
        on.registerCompletionItemProvider(pipe, { provideCompletionItems: async (d, p) => each(await ask('completion', d, p), toCompletion) },
                                          ...capabilities.completionProvider.triggerCharacters),
        on.registerSignatureHelpProvider(pipe, { provideSignatureHelp: async (d, p) => one(await ask('signatureHelp', d, p), toSignatures) },
                                         ...capabilities.signatureHelpProvider.triggerCharacters),
        on.registerDocumentSymbolProvider(pipe, { provideDocumentSymbols: async (d) => each(await ask('documentSymbol', d), toSymbol) }),
        on.registerWorkspaceSymbolProvider({
            provideWorkspaceSymbols: async (query) =>
                each(await connection.request('workspace/symbol', { query }),
                     (s) => new vscode.SymbolInformation(s.name, s.kind - 1, '', toLocation(s.location))),
        }),
        on.registerInlayHintsProvider(pipe, { provideInlayHints: async (d) => each(await ask('inlayHint', d), toHint) }),
        on.registerDocumentSemanticTokensProvider(pipe, {
            provideDocumentSemanticTokens: async (d) =>
                one(await ask('semanticTokens/full', d), (r) => new vscode.SemanticTokens(new Uint32Array(r.data))),
        }, legend),
        on.registerDocumentFormattingEditProvider(pipe, {
            provideDocumentFormattingEdits: async (d, options) =>
                each(await ask('formatting', d, null, { options }), (e) => new vscode.TextEdit(toRange(e.range), e.newText)),
        }),
        on.registerCodeActionsProvider(pipe, {
            provideCodeActions: async (d, range, context) => {
                const actions = [];
                for (const diagnostic of context.diagnostics.filter((one) => one.asSent))
                    for (const found of (await ask('codeAction', d, null, { context: { diagnostics: [diagnostic.asSent] } })) || [])
                        actions.push(toAction(found, diagnostic));
                return actions;
            },
        }, { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] }),
    ];
}

// ---- documents ----

function documents(connection) {
    const isOurs = (document) => document.languageId === 'pipe';
    const open = (document) => isOurs(document) && connection.notify('textDocument/didOpen', {
        textDocument: { uri: document.uri.toString(), languageId: 'pipe', version: document.version, text: document.getText() },
    });
    vscode.workspace.textDocuments.forEach(open);
    return [
        vscode.workspace.onDidOpenTextDocument(open),
        vscode.workspace.onDidChangeTextDocument((event) => {
            if (!isOurs(event.document) || event.contentChanges.length === 0) return;
            connection.notify('textDocument/didChange', {
                textDocument: { uri: event.document.uri.toString(), version: event.document.version },
                contentChanges: event.contentChanges.map(({ range, text }) => ({
                    range: { start: { line: range.start.line, character: range.start.character },
                             end: { line: range.end.line, character: range.end.character } },
                    text,
                })),
            });
        }),
        vscode.workspace.onDidCloseTextDocument((document) =>
            isOurs(document) && connection.notify('textDocument/didClose', { textDocument: { uri: document.uri.toString() } })),
    ];
}

let connection = null;

async function activate(context) {
    const found = vscode.languages.createDiagnosticCollection('pipec');
    const command = vscode.workspace.getConfiguration('pipec').get('path');
    const onNotification = (method, params) => {
        if (method === 'textDocument/publishDiagnostics')
            found.set(vscode.Uri.parse(params.uri), params.diagnostics.map(toDiagnostic));
    };
    connection = new Connection(command, onNotification, (reason) =>
        vscode.window.showErrorMessage(`pipec: the language server '${command}' does not run: ${reason}. The setting pipec.path names it.`));
    context.subscriptions.push(found);
    const folders = (vscode.workspace.workspaceFolders || []).map(({ uri, name }) => ({ uri: uri.toString(), name }));
    const answer = await connection.request('initialize', { processId: process.pid, capabilities: {}, workspaceFolders: folders }).catch(() => null);
    if (!answer) return;
    connection.notify('initialized', {});
    context.subscriptions.push(...documents(connection), ...features(connection, answer.capabilities));
}

module.exports = { activate, deactivate: () => connection && connection.close() };
