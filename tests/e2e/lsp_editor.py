# SPDX-License-Identifier: MIT
"""An editor for tests of `pipec lsp`: it sends messages and checks answers. Its files are in the current folder."""
import json, os, subprocess, sys, urllib.parse

pipec, root, tmp = sys.argv[1:4]
os.chdir(tmp)

def check(claim, holds, seen=None):
    print(('ok ' if holds else 'not ok ') + claim)
    if not holds:
        print(json.dumps(seen, indent=1)[:3000])

def uri_of(name):
    return 'file://' + urllib.parse.quote(os.path.join(tmp, name))

class Editor:
    def __init__(self, initialize=True, wrapper=(), folder=None):
        self.server = subprocess.Popen([*wrapper, pipec, 'lsp', '--stdio'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number, self.published = 0, {}
        if initialize:
            params = {'capabilities': {}, 'workspaceFolders': [{'uri': folder, 'name': 'test'}] if folder else None}
            self.capabilities = self.request('initialize', params)['result']['capabilities']
            self.notify('initialized', {})

    def send_bytes(self, body, header=None):
        self.server.stdin.write((header or b'Content-Length: %d\r\n\r\n' % len(body)) + body)
        self.server.stdin.flush()

    def send(self, message):
        self.send_bytes(json.dumps({'jsonrpc': '2.0', **message}).encode())

    def receive(self):
        length = 0
        while True:
            line = self.server.stdout.readline()
            assert line, 'the server has ended'
            if line == b'\r\n':
                break
            length = int(line.split(b':')[1])
        return json.loads(self.server.stdout.read(length))

    def notify(self, method, params):
        self.send({'method': method, 'params': params})

    def answer(self):
        """The next message that is no notification; diagnostics are kept."""
        while True:
            message = self.receive()
            if 'method' not in message:
                return message
            self.published[message['params']['uri']] = message['params']['diagnostics']

    def request(self, method, params):
        self.number += 1
        self.send({'id': self.number, 'method': method, 'params': params})
        answer = self.answer()
        assert answer['id'] == self.number, answer
        return answer

    def at(self, method, name, line=0, character=0, **more):
        return self.request('textDocument/' + method, {'textDocument': {'uri': uri_of(name)},
                            'position': {'line': line, 'character': character}, **more}).get('result')

    def diagnostics(self, name):
        """Waits for those of the last text."""
        self.published.pop(uri_of(name), None)
        while uri_of(name) not in self.published:
            message = self.receive()
            self.published[message['params']['uri']] = message['params']['diagnostics']
        return self.published[uri_of(name)]

    def open(self, name, text, on_disk=None):
        with open(name, 'w') as file:
            file.write(text if on_disk is None else on_disk)
        self.notify('textDocument/didOpen', {'textDocument': {'uri': uri_of(name), 'languageId': 'pipe', 'version': 1, 'text': text}})
        return self.diagnostics(name)

    def change(self, name, text):
        self.notify('textDocument/didChange', {'textDocument': {'uri': uri_of(name), 'version': 2}, 'contentChanges': [{'text': text}]})
        return self.diagnostics(name)

    def end(self):
        self.request('shutdown', None)
        self.notify('exit', None)
        self.server.stdin.close()
        return self.server.wait(timeout=60)

def applied(text, edits):
    """The text after the edits, whose columns count UTF-16 code units."""
    lines = text.split('\n')
    def offset(place):
        begin = sum(len(line.encode('utf-16-le')) + 2 for line in lines[:place['line']])
        return begin + 2 * place['character']
    units = text.encode('utf-16-le')
    for edit in sorted(edits, key=lambda e: -offset(e['range']['start'])):
        units = units[:offset(edit['range']['start'])] + edit['newText'].encode('utf-16-le') + units[offset(edit['range']['end']):]
    return units.decode('utf-16-le')
