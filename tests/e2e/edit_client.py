# SPDX-License-Identifier: MIT
"""The client of edit.sh: prints "ok CLAIM" and "not ok CLAIM"."""
import http.client, json, os, re, select, shutil, signal, socket, stat, subprocess, sys, time

pipec = os.environ['PIPEC']


def check(claim, good, shown=''):
    print(('ok ' if good else 'not ok ') + claim)
    if not good:
        print(str(shown)[:2000])
    sys.stdout.flush()


class Server:
    def __init__(self, file, *options):
        self.file, self.session, self.hash = file, '', ''
        self.process = subprocess.Popen([pipec, 'edit', *options, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.host, self.token = re.fullmatch(r'http://(127\.0\.0\.1:\d+)/#([0-9a-f]{32})', self.url).groups()

    def ask(self, method, path, body=None, **headers):
        sent = {'Host': self.host, 'Origin': 'http://' + self.host, 'Content-Type': 'application/json', 'X-Pipec-Session': self.session}
        sent.update({name.replace('_', '-'): value for name, value in headers.items()})
        connection = http.client.HTTPConnection(*self.host.split(':'), timeout=60)
        connection.putrequest(method, path, skip_host=True)
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else b''
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        if data:
            connection.putheader('Content-Length', str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        answer.object = json.loads(text) if text and answer.getheader('Content-Type') == 'application/json' else text
        return answer

    def open(self):
        self.session = self.ask('POST', '/session', {'token': self.token}).object['session']
        return self.look()

    def look(self):
        answer = self.ask('GET', '/state').object
        self.hash = answer['hash']
        return answer['state']

    def edit(self, **operation):
        answer = self.ask('POST', '/edit', {'hash': self.hash, **operation})
        if answer.status == 200:
            self.hash = answer.object['hash']
        return answer

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None


def write(name, text):
    with open(name, 'wb') as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def read(name):
    with open(name, 'rb') as file:
        return file.read()


echo = '''// an echo
kernel gain(in f32 x, out f32 y; f32 factor = 1) { y <- factor * x; }
kernel add(in f32 a, in f32 b, out f32 y) { y <- a + b; }
kernel pick<int N>(in f32 x, out f32 y) { y <- x * N; }
pipeline main(in f32 x, out f32 y; f32 wet = 0.5) {
    buffer f32 dry, late depth 4;  // two
    buffer f32 sent init 480 x 0;
    direct: gain(x -> dry; 1 - wet); // first
    effect: gain(x -> sent; wet) importance 3;
    sent -> gain -> pick<2> -> late;

    add(dry, late -> y);
}
'''

# ---- requests of others ----
write('echo.pipe', echo)
server = Server('echo.pipe')
port = int(server.host.split(':')[1])
listening = [line.split()[1] for name in ('/proc/net/tcp', '/proc/net/tcp6') if os.path.exists(name) for line in list(open(name))[1:]
             if line.split()[1].endswith(':%04X' % port) and line.split()[3] == '0A']
check('it listens on the loopback address only', listening == ['0100007F:%04X' % port], listening)
for host in ('127.0.0.2', '::1'):
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    with socket.socket(family) as other:
        check(f'not on {host}', other.connect_ex((host, port)) != 0)
page = server.ask('GET', '/', Origin=None)
policy = page.getheader('Content-Security-Policy')
nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", policy)
check('the page is there without a session', page.status == 200 and b'<title>pipec edit</title>' in page.object, page.object)
check('it has nothing of the file', b'echo' not in page.object and b'factor' not in page.object)
check('its policy allows its own script only', nonce and policy.startswith("default-src 'none';") and "connect-src 'self'" in policy and
      [nonce.group(1).encode()] == re.findall(rb'<script nonce="([0-9a-f]*)"', page.object) and page.object.count(b'<script') == 1, policy)
check('each page has its own nonce', server.ask('GET', '/').getheader('Content-Security-Policy') != policy)
check('it loads nothing', not re.search(rb'(?:src|href)=|url\(|@import|https?:', page.object), re.findall(rb'.*(?:src|href)=.*', page.object))
check('it is not kept', page.getheader('Cache-Control') == 'no-store' and page.getheader('X-Content-Type-Options') == 'nosniff')
for claim, body in (('a missing token', {}), ('a wrong token', {'token': '0' * 32}), ('a token of another type', {'token': 5}),
                    ('a part of the token', {'token': server.token[:31]})):
    check(claim, server.ask('POST', '/session', body).status == 403)
check('a state without a session', server.ask('GET', '/state').status == 401)
check('an edit without a session', server.ask('POST', '/edit', {'hash': '', 'op': 'undo'}).status == 401)
for host in ('evil.example:%d' % port, '127.0.0.1', '127.0.0.1:1', 'localhost', '[::1]:%d' % port, '', None):
    for path, method in (('/', 'GET'), ('/session', 'POST')):
        answer = server.ask(method, path, {'token': server.token} if method == 'POST' else None, Host=host, Origin='http://%s' % host)
        check(f'{method} of host {host}', answer.status in (400, 403), answer.status)
for origin in ('http://evil.example', 'null', 'https://' + server.host, 'http://127.0.0.1:1', 'http://localhost:%d' % port, '', server.host, None):
    check(f'a token from origin {origin}', server.ask('POST', '/session', {'token': server.token}, Origin=origin).status == 403)
check('a page for another origin', server.ask('GET', '/', Origin='http://evil.example').status == 403)
check('the token is still good', (first := server.ask('POST', '/session', {'token': server.token})).status == 200, first.object)
check('and then it is used', server.ask('POST', '/session', {'token': server.token}).status == 403)
server.session = first.object['session']
check('the session is another secret', re.fullmatch('[0-9a-f]{32}', server.session) and server.session != server.token)
named = 'localhost:%d' % port
check('localhost is a name of it', server.ask('GET', '/state', Host=named, Origin='http://' + named).status == 200)
check('a state for another origin', server.ask('GET', '/state', Origin='http://evil.example').status == 403)
check('a state with a wrong session', server.ask('GET', '/state', X_Pipec_Session='0' * 32).status == 401)

# ---- malformed requests ----
state = server.look()
for method, path, status, allow in (('POST', '/', 405, 'GET'), ('PUT', '/edit', 405, 'POST'), ('GET', '/edit', 405, 'POST'), ('DELETE', '/state', 405, 'GET'),
                                    ('OPTIONS', '/edit', 405, 'POST'), ('HEAD', '/', 405, 'GET'), ('GET', '/session', 405, 'POST'),
                                    ('GET', '/echo.pipe', 404, None), ('GET', '/../echo.pipe', 404, None), ('GET', '//', 404, None)):
    answer = server.ask(method, path)
    check(f'{method} {path}', answer.status == status and answer.getheader('Allow') == allow, (answer.status, answer.getheader('Allow')))
for body in ('', '{', '[]', '5', 'null', '{"op":"undo"}', '{"hash":"x"}', '{"hash":5,"op":"undo"}', '{"hash":"a","hash":"b","op":"undo"}', '\x00', '{"op":"\xff"}',
             '[' * 60000):
    check(f'a body {body[:20]!r}', server.ask('POST', '/edit', body).status == 400)
check('another type', server.ask('POST', '/edit', '{}', Content_Type='text/plain').status == 415)
check('no type', server.ask('POST', '/edit', '{}', Content_Type=None).status == 415)
check('a type that begins alike', server.ask('POST', '/edit', '{}', Content_Type='application/jsonx').status == 415)
check('a body that is too large', server.ask('POST', '/edit', '{"op":"' + 'x' * 70000 + '"}').status == 413)
try:
    server.ask('POST', '/edit', 'x' * 20000000)
    check('one that does not end is cut', False)
except OSError:
    check('one that does not end is cut', True)
with socket.create_connection(('127.0.0.1', port)) as raw:
    raw.sendall(b'\x00\xff garbage\r\n\r\n')
    raw.shutdown(socket.SHUT_WR)
    raw.settimeout(10)
    check('bytes that are no HTTP', raw.recv(100)[:12] in (b'HTTP/1.1 400', b'HTTP/1.0 400', b''))
held = [socket.create_connection(('127.0.0.1', port)) for i in range(4)]
held[0].sendall(b'POST /edit HTTP/1.1\r\nHost: ' + server.host.encode() + b'\r\nContent-Length: 100\r\n\r\nx')
check('slow connections do not stop it', server.ask('GET', '/state').status == 200)
for one in held:
    one.close()
check('all of this has changed nothing', read('echo.pipe') == echo.encode())

# ---- the state ----
check('it has the picture', state['picture'].startswith('<svg') and state['shown'] == 'main' and 'data-node' in state['picture'])
check('and places of all parts', all(echo[p['at']:].startswith(p.get('label') or p['name']) for p in state['parts']) and len(state['parts']) == 12, state['parts'])
check('nodes have the places of their parts', [n['at'] for n in state['nodes']] == [echo.index(t) for t in ('direct', 'effect', 'gain -> pick', 'pick<2>', 'add(dry')], state['nodes'])
check('the hash says that nothing is new', server.ask('GET', '/state', If_None_Match=server.hash).status == 304)
check('or that it is', server.ask('GET', '/state', If_None_Match='0').status == 200)

# ---- operations ----
text = echo


def place(word, start=0):
    return text.index(word, start)


def does(claim, old, new, **operation):
    """The operation replaces `old`, which is in the file once, by `new`; undo brings the bytes back."""
    answer = server.edit(**operation)
    want = text.replace(old, new)
    good = text.count(old) == 1 and answer.status == 200 and answer.object['written'] and read('echo.pipe') == want.encode() and answer.object['state']['source'] == want
    check(claim, good, (answer.status, {k: v for k, v in answer.object.items() if k != 'state'}, read('echo.pipe').decode()))
    answer = server.edit(op='undo')
    check('and undo', answer.status == 200 and read('echo.pipe') == text.encode() and server.hash == server.ask('GET', '/state').object['hash'], answer.object)


def refused(claim, pattern, **operation):
    answer = server.edit(**operation)
    check(claim, answer.status == 422 and re.search(pattern, answer.object['error']) and read('echo.pipe') == text.encode(), (answer.status, str(answer.object)[:500]))
    return answer.object


chain = 'sent -> gain -> pick<2> -> late;'
inner, pick, direct, effect, add = (place(w) for w in ('gain -> pick', 'pick<2>', 'direct', 'effect', 'add(dry'))
port_x = place('x, out f32 y; f32 wet')
does('insert after an element', 'gain -> pick<2>', 'gain -> soft: gain(0.5) -> pick<2>', op='insert', at=inner, side='after', text='soft: gain(0.5)')
does('insert before an element', '-> pick<2>', '-> pick<3> -> pick<2>', op='insert', at=pick, side='before', text='pick<3>')
does('insert at an output that is bound', 'direct: gain(x -> dry; 1 - wet);', 'buffer f32 direct_out;\n    direct: gain(x -> direct_out; 1 - wet);\n    direct_out -> gain(2) -> dry;',
     op='insert', at=direct, side='after', port=0, text='gain(2)')
does('insert at an input that is bound', 'add(dry, late -> y);', 'buffer f32 add_out;\n    late -> gain -> add_out;\n    add(dry, add_out -> y);', op='insert', at=add, side='before', port=1, text='gain')
does('remove from a chain', 'gain -> pick<2>', 'pick<2>', op='remove', at=inner)
does('an argument for a kernel without one', 'sent -> gain ->', 'sent -> gain(0.25) ->', op='set', at=inner, part='arguments', text='0.25')
does('another argument', '; 1 - wet)', '; wet / 2)', op='set', at=direct, part='arguments', text='wet / 2')
does('no argument', '; 1 - wet)', ')', op='set', at=direct, part='arguments', text='')
does('a parameter', 'pick<2>', 'pick<7>', op='set', at=pick, part='parameters', text='7')
does('attributes of a kernel', 'wet) importance 3', 'wet) importance 9 cost 4', op='set', at=effect, part='attributes', text='importance 9 cost 4')
does('no attributes', 'wet) importance 3', 'wet)', op='set', at=effect, part='attributes', text='')
does('new attributes', '-> dry; 1 - wet)', '-> dry; 1 - wet) importance 1', op='set', at=direct, part='attributes', text='importance 1')
does('attributes of a buffer', 'late depth 4', 'late depth 8', op='set', at=place('late depth'), part='attributes', text='depth 8')
does('a label', 'direct: gain', 'near: gain', op='set', at=direct, part='label', text='near')
does('no label', 'direct: gain', 'gain', op='set', at=direct, part='label', text='')
does('a new label', 'pick<2>', 'twice: pick<2>', op='set', at=pick, part='label', text='twice')
line = '    direct: gain(x -> dry; 1 - wet); // first\n'
second = '    effect: gain(x -> sent; wet) importance 3;\n'
does('move a statement, with its comment', line + second, second + line, op='move', at=direct, to=effect, side='after')
does('move it up', '    buffer f32 sent init 480 x 0;\n' + line, line + '    buffer f32 sent init 480 x 0;\n', op='move', at=direct, to=place('sent init'), side='before')
does('connect a bound input to a buffer without a name', 'sent -> gain -> pick<2> -> late;\n\n    add(dry, ', 'buffer f32 gain_out;\n    sent -> gain -> gain_out -> pick<2> -> late;\n\n    add(gain_out, ',
     op='connect', **{'from': inner}, to=add, input=0, confirm=True)
does('connect a chain to an in-port', 'sent -> gain ->', 'x -> gain ->', op='connect', **{'from': port_x}, to=inner, confirm=True)

# ---- edits with errors ----
answer = server.edit(op='connect', **{'from': port_x}, to=inner)
check('an edit with errors is shown', answer.status == 200 and not answer.object['written'] and answer.object['errors'] == 1 and answer.object['state']['picture'] is None and
      any("'sent' has no consumer" in d['message'] for f in answer.object['state']['diagnostics'] for d in f['diagnostics']), str(answer.object)[:1500])
check('and not written', read('echo.pipe') == text.encode())
answer = server.edit(op='remove', at=place('sent init'), confirm=True)
check('it is written if that is confirmed', answer.object['written'] and answer.object['errors'] > 0 and read('echo.pipe') == text.replace('    buffer f32 sent init 480 x 0;\n', '').encode())
check('undo is always written', server.edit(op='undo').object['written'] and read('echo.pipe') == text.encode())

# ---- refused operations ----
refused('undo without an edit', 'nothing to undo', op='undo')
for name in ('', 'Insert', 'write', 'undo '):
    refused(f'operation {name!r}', "'op' is connect, insert", op=name)
refused('no place', "'at' is a whole number", op='remove')
for at in (-1, 1.5, '5', None, [], True, 1 << 32, 1 << 62):
    refused(f'place {at!r}', "'at' is a whole number", op='remove', at=at)
for at in (0, inner + 1, 1 << 31):
    refused(f'place {at}', 'no part of a pipeline begins', op='remove', at=at)
refused('a port is no part to remove', 'interface', op='remove', at=port_x)
refused('no side', "'side' is", op='insert', at=inner, text='gain')
refused('a wrong side', 'before or after', op='insert', at=inner, side='left', text='gain')
for bad in ('', ' ', 'gain;', 'gain -> gain', 'gain // x', 'gain /* x', 'gain(', 'gain)', 'gain(]', 'ga\nin', '"gain"', '(' * 65 + ')' * 65):
    refused(f'the text {bad[:20]!r}', 'no single part', op='insert', at=inner, side='after', text=bad)
refused('a long text', 'at most 4096', op='insert', at=inner, side='after', text='g' * 4097)
check('a text with a NUL', server.edit(op='insert', at=inner, side='after', text='gain\0').status == 400)
error = refused('a text that does not parse', 'would have a syntax error', op='insert', at=inner, side='after', text='gain<')
check('it has the place', error['line'] == 10 and error['column'] > 10, error)
refused('beyond the end of a chain', 'the chain ends here', op='insert', at=place('late;'), side='after', text='gain')
refused('before its begin', 'the chain begins here', op='insert', at=place('sent ->'), side='before', text='gain')
refused('a port that is not there', 'no such output', op='insert', at=direct, side='after', port=1, text='gain')
refused('an input that is not there', 'no such input', op='connect', **{'from': port_x}, to=add, input=2)
refused('a part that is not there', "'part' is label", op='set', at=inner, part='name', text='x')
refused('an argument of a buffer', 'only kernels', op='set', at=place('late;'), part='arguments', text='1')
refused('nothing to change', 'nothing changes', op='set', at=inner, part='arguments', text='')
refused('a buffer that it reads', 'nothing changes', op='connect', **{'from': effect}, to=inner)
refused('connected already', 'these are connected', op='connect', **{'from': inner}, to=pick)
refused('a buffer reads nothing', 'read by a kernel', op='connect', **{'from': inner}, to=place('late;'))
refused('move past itself', 'in one statement', op='move', at=inner, to=pick, side='after')
refused('where it stands', 'it stands there', op='move', at=direct, to=effect, side='before')

# ---- the file changes ----
other = text.replace('// an echo', '// the echo')
old = server.hash
write('echo.pipe', other)
answer = server.edit(op='set', at=inner, part='arguments', text='2')
check('an edit of an old text is refused', answer.status == 409 and answer.object['error'] == 'the file has changed on disk' and answer.object['state']['source'] == other and
      answer.object['hash'] != old, str(answer.object)[:300])
check('and the new text stays', read('echo.pipe') == other.encode())
check('so is an undo', server.ask('POST', '/edit', {'hash': old, 'op': 'undo'}).status == 409 and read('echo.pipe') == other.encode())
write('echo.pipe', echo)
server.look()
server.edit(op='set', at=inner, part='arguments', text='2')
write('echo.pipe', echo)
server.look()
refused('undo after a change by others', 'nothing to undo', op='undo')
os.rename('echo.pipe', 'away')
check('a file that is gone', server.edit(op='remove', at=inner).status == 409 and not os.path.exists('echo.pipe') and server.ask('GET', '/state').status == 409)
os.rename('away', 'echo.pipe')
os.chmod('echo.pipe', 0o640)
if os.getuid() != 0:
    os.chmod('.', 0o500)
    answer = server.edit(op='set', at=inner, part='arguments', text='2')
    os.chmod('.', 0o700)
    check('a folder that cannot be written', answer.status == 500 and "cannot write 'echo.pipe'" in answer.object['error'] and read('echo.pipe') == echo.encode(), answer.object)
before = sorted(os.listdir('.'))
server.edit(op='set', at=inner, part='arguments', text='2')
check('the rights of the file stay', stat.S_IMODE(os.stat('echo.pipe').st_mode) == 0o640)
check('no other file is there', sorted(os.listdir('.')) == before)
check('it ends by SIGTERM', server.end() == -signal.SIGTERM)

# ---- other texts ----
write('bytes.pipe', b'\xef\xbb\xbf// Latin \xe9, blanks at the end  \r\n' + echo.replace('\n', '\r\n').encode() + b'// no end of line \xff')
raw = read('bytes.pipe')
server = Server('bytes.pipe')
state = server.open()
part = next(p for p in state['parts'] if p.get('label') == 'direct')
answer = server.edit(op='insert', at=part['at'], side='after', text='gain(2)')
want = raw.replace(b'direct: gain(x -> dry; 1 - wet);', b'buffer f32 direct_out;\r\n    direct: gain(x -> direct_out; 1 - wet);\r\n    direct_out -> gain(2) -> dry;')
check('a mark, other bytes, CR LF and a last line without an end stay', answer.status == 200 and read('bytes.pipe') == want, (answer.object if answer.status != 200 else '', read('bytes.pipe')))
check('it ends by Ctrl-C', server.end(signal.SIGINT) == -signal.SIGINT)

text = '''import "part.pipe";
kernel k(in i32 x, out i32 y) { y <- x; }
kernel s<int N>(in i32 x[N], out i32 y) { y <- x[0][0]; }
pipeline inner(in i32 x, out i32 y) { x -> k -> k -> y; }
pipeline main(in i32 x, out i32 y) {
    buffer i32 a[4], b; buffer i32 c;
    for (int i = 0; i < 4; i++) x -> k -> a[i];
    if (1 == 1) s<4>(a -> b);
    b -> k -> /* stays */ inner -> far -> c;
    c -> k -> y;
}
pipeline other(in i32 x, out i32 y) { x -> k -> y; }
'''
write('part.pipe', 'kernel part(in i32 x, out i32 y) { y <- x; }\npipeline far(in i32 x, out i32 y) { x -> part -> y; }\n')
write('echo.pipe', text)
os.symlink('echo.pipe', 'link.pipe')
server = Server('link.pipe', '-p', 'main', '-I', '.')
state = server.open()
check('a kernel of another file has no place', [n['name'] for n in state['nodes'] if 'at' not in n] == ['far.part'], state['nodes'])
check('kernels of imports are offered', {'part', 'far', 'k', 'inner'} <= set(state['kernels']))
does('all instances of a pipeline', 'x -> k -> k -> y', 'x -> one: k -> k -> y', op='set', at=place('k -> k -> y'), part='label', text='one')
does('a statement that is a body', 'i++) x -> k -> a[i];', 'i++) ;', op='remove', at=place('k -> a[i]'), confirm=True)
does('remove the only kernel of a chain', '    c -> k -> y;\n', '', op='remove', at=place('k -> y;\n}\npipeline other'), confirm=True)
does('one of two buffers', 'a[4], b;', 'a[4];', op='remove', at=place('b; buffer'), confirm=True)
does('in a pipeline that is not shown', '{ x -> k -> y; }', '{ x -> k -> k -> y; }', op='insert', at=place('k -> y; }', place('other')), side='after', text='k')
refused('a comment in the way', 'a comment stands here', op='remove', at=place('k -> /* stays'))
refused('no room for a second statement', 'put braces around it', op='insert', at=place('s<4>'), side='after', text='k')
refused('another pipeline', 'another pipeline', op='connect', **{'from': place('k -> k')}, to=place('inner -> far'))
refused('a line with two statements', 'something else stands', op='move', at=place('c;\n'), to=place('b -> k'), side='after')
refused('another block', 'within its block', op='move', at=place('k -> a[i]'), to=place('b -> k'), side='after')
refused('an array of buffers', 'an array of buffers', op='connect', **{'from': place('a[4]')}, to=place('s<4>'))
check('a link to the file stays a link', os.path.islink('link.pipe'))
write('echo.pipe', text + 'kernel {')
state = server.look()
check('a file with a syntax error is shown', state['diagnostics'] and state['source'].endswith('kernel {'))
text += 'kernel {'
error = refused('and not changed', 'the file has a syntax error', op='remove', at=place('s<4>'))
check('with the place', error.get('line') == 13, error)
write('echo.pipe', '// pipec commands 1\npipeline "p";\n')
check('a command list is not edited', 'command list' in server.look().get('refused', ''))
write('echo.pipe', 'x' * 70000000)
check('nor a file that is too large', server.ask('GET', '/state').status == 409)
check('it ends by SIGHUP', server.end(signal.SIGHUP) == -signal.SIGHUP)

# ---- damaged operations ----
write('echo.pipe', echo)
text = echo
server = Server('echo.pipe')
server.open()
whole = json.dumps({'hash': server.hash, 'op': 'set', 'at': inner, 'part': 'arguments', 'text': '2'})
statuses = {server.ask('POST', '/edit', whole[:n]).status for n in range(0, len(whole), 3)}
check('every part of an operation is refused', statuses == {400} and read('echo.pipe') == echo.encode(), statuses)
port = server.host.split(':')[1]
taken = subprocess.run([pipec, 'edit', '--port=' + port, 'echo.pipe'], capture_output=True, text=True)
check('a port that is taken', taken.returncode == 2 and f'cannot listen on 127.0.0.1:{port}: Address already in use' in taken.stderr, taken)
server.end()
server = Server('echo.pipe', '--port=' + port)
check('a port that is free again', server.host.endswith(':' + port))
server.end()
full = subprocess.run([pipec, 'edit', 'echo.pipe'], stdout=open('/dev/full', 'w'), stderr=subprocess.PIPE, text=True)
check('a URL that cannot be printed', full.returncode == 2 and 'No space' in full.stderr, full)

# ---- in a browser ----
if not os.environ.get('LONG'):
    sys.exit()
browser = next((b for b in ('chromium', 'chromium-browser', 'google-chrome') if shutil.which(b)), None)
if browser is None:
    print('skip the page in a browser Chromium is not installed')
    sys.exit()


class Page:
    """A page in a browser without a window, which is driven through a pipe."""
    def __init__(self, url):
        from_browser, to_client = os.pipe()
        from_client, to_browser = os.pipe()
        words = [browser, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--remote-debugging-pipe',
                 '--user-data-dir=' + os.path.abspath('profile'), 'about:blank']
        script = f'exec 3<&{from_client} 4>&{to_client}; exec "$@"'
        self.process = subprocess.Popen(['bash', '-c', script, 'bash', *words], pass_fds=(from_client, to_client), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(from_client)
        os.close(to_client)
        self.to, self.source, self.number, self.session, self.rest = to_browser, from_browser, 0, None, b''
        target = self.call('Target.createTarget', url=url)['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']

    def call(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters, **({'sessionId': self.session} if self.session else {})}
        os.write(self.to, json.dumps(message).encode() + b'\0')
        while True:
            while b'\0' not in self.rest:
                if not select.select([self.source], [], [], 60)[0]:
                    raise TimeoutError(method)
                part = os.read(self.source, 1 << 20)
                if not part:
                    raise EOFError(method)
                self.rest += part
            one, self.rest = self.rest.split(b'\0', 1)
            answer = json.loads(one)
            if answer.get('id') == self.number:
                return answer['result']

    def value(self, script):
        return self.call('Runtime.evaluate', expression=script, awaitPromise=True, returnByValue=True)['result'].get('value')

    def becomes(self, script):
        """True once the script gives true, within 20 seconds."""
        for i in range(200):
            if self.value(script) is True:
                return True
            time.sleep(0.1)
        return False

    def mouse(self, kind, x, y):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)

    def drag(self, box, to, low):
        """From the middle of a box to the upper or lower part of another."""
        places = [self.value(f"(() => {{ const e = document.querySelector({json.dumps(name)}); e.scrollIntoView({{block: 'nearest', inline: 'nearest'}}); "
                             "const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()") for name in (box, box, to, box)]
        (x, y, width, height), (left, top, across, down) = places[3], places[2]
        self.mouse('mousePressed', x + width / 2, y + height / 2)
        self.mouse('mouseMoved', left + across / 2, top + down * (0.8 if low else 0.2))
        self.mouse('mouseReleased', left + across / 2, top + down * (0.8 if low else 0.2))

    def end(self):
        os.close(self.to)
        os.close(self.source)
        self.process.terminate()
        self.process.wait()


server = Server('echo.pipe')
try:
    page = Page(server.url)
except (EOFError, TimeoutError, BrokenPipeError):
    print('skip the page in a browser Chromium does not start here')
    server.end()
    sys.exit()
said = "byId('said').textContent"
check('the page shows the pipeline', page.becomes("document.querySelectorAll('.pipec .node').length === 5"), page.value('document.body.innerText'))
check('its token is used, and gone from the address', page.value('location.href') == f'http://{server.host}/' and
      server.ask('POST', '/session', {'token': server.token}).status == 403)
check('it has no errors', page.value(said) == '' and page.value("byId('findings').textContent") == 'none', page.value(said))
page.drag("[data-node='0']", "[data-node='0']", False)
check('a click in the picture chooses the part', page.value("byId('parts').selectedOptions[0].textContent") == '8: direct: gain', page.value("byId('parts').value"))
check('and marks its line', page.value("document.querySelector('#source .at').textContent.trim()").startswith('8      direct'))
page.value("document.querySelector('[name=arguments]').value = 'wet'; document.querySelector('[name=arguments] + button').click()")
text = echo.replace('; 1 - wet)', '; wet)')
check('an argument is written', page.becomes(said + " === 'written'") and read('echo.pipe') == text.encode(), read('echo.pipe'))
page.value("byId('undo').click()")
check('and undone', page.becomes("byId('undo').disabled && byId('source').textContent.includes('1 - wet')") and read('echo.pipe') == echo.encode())
page.drag("[data-node='0']", "[data-node='1']", True)
check('a drag moves a statement', page.becomes("state.parts.find(p => p.label === 'direct').line === 9") and read('echo.pipe') == echo.replace(line + second, second + line).encode(), page.value(said))
page.value("byId('connecting').click()")
page.drag("[data-node='1']", "[data-node='2']", True)
check('a drag connects, and errors are asked about', page.becomes("!byId('ask').hidden") and 'not written' in page.value(said), page.value(said))
page.value("byId('discard').click()")
check('what is discarded is not written', page.becomes("byId('ask').hidden && byId('about').textContent.startsWith('pipeline main')"))
write('echo.pipe', echo.replace('// an echo', '// <b>another</b>'))
check('a change by another program is shown', page.becomes("byId('source').textContent.includes('<b>another</b>')"))
page.value("edit({op: 'insert', at: state.parts.find(p => p.name === 'pick').at, side: 'before', text: 'gain'})")
check('an insertion is in the picture', page.becomes("document.querySelectorAll('.pipec .node').length === 6"))
page.value('window.before = true; location.reload()')
check('a reload keeps the session', page.becomes("window.before === undefined && document.readyState === 'complete' && document.querySelectorAll('.pipec .node').length === 6"))
server.end()
check('the end of the server is said', page.becomes(said + ".startsWith('pipec edit has ended')"), page.value(said))
page.end()
