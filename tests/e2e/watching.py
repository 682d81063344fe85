# SPDX-License-Identifier: MIT
"""watching.py PIPERUN CASE...: cases of tests/e2e/watching.sh: runs on terminals, each case in a folder of its own.

Nothing here measures time: a text is waited for, and a thread is there or not.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import traceback

SECONDS = 30
piperun = sys.argv[1]
READ_X = ["copy.pbc", "x=in,raw", "y=y.raw", "--device=cpu:1"]


class Terminal:
    """A terminal with a run on it as standard error; standard input and output are those of `streams`."""

    def __init__(self, words, columns=100, rows=30, environment=None, fifo=True, streams=None, before=None):
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        attributes = termios.tcgetattr(slave)
        attributes[1] &= ~termios.OPOST
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        self.seen = bytearray()
        env = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": "", **(environment or {})}
        streams = streams or {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        if streams.get("stdout") == "terminal":
            streams["stdout"] = slave
        if streams.get("stdin") == "terminal":
            streams["stdin"] = slave
        for name in ("in", "y.raw"):
            if os.path.exists(name):
                os.unlink(name)
        if fifo:
            os.mkfifo("in")
        self.run = subprocess.Popen([piperun, *words], stderr=slave, env=env, preexec_fn=before, **streams)
        os.close(slave)
        if fifo:
            self.feed = open("in", "wb", buffering=0)

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_some(self, timeout):
        ready, _, _ = select.select([self.master], [], [], timeout)
        if not ready:
            return False
        try:
            piece = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += piece
        return bool(piece)

    def shows(self, pattern, start=0):
        end = time.monotonic() + SECONDS
        while not re.search(pattern.encode(), bytes(self.seen[start:])):
            if not self.read_some(max(0, end - time.monotonic())):
                raise AssertionError(f"never /{pattern}/ in {bytes(self.seen)!r}")

    def begun(self):
        """The run executes: only then the scheduler waits for the host."""
        end = time.monotonic() + SECONDS
        while b"waits for the host to fill" not in self.seen:
            assert time.monotonic() < end and self.run.poll() is None, bytes(self.seen)
            self.run.send_signal(signal.SIGUSR1)
            self.read_some(0.05)

    def threads(self):
        folder = f"/proc/{self.run.pid}/task"
        return {open(f"{folder}/{task}/comm").read().strip() for task in os.listdir(folder)}

    def end(self, status=0):
        """Closes the input; everything that is shown is read meanwhile."""
        if hasattr(self, "feed"):
            self.feed.close()
        drained = threading.Thread(target=self.drain)
        drained.start()
        found = self.run.wait(SECONDS)
        drained.join()
        assert found == status, f"exit status {found}: {bytes(self.seen)!r}"
        return self.seen.decode()

    def drain(self):
        while self.read_some(SECONDS):
            pass


def y_has(count):
    found = os.path.getsize("y.raw") // 4
    assert found == count, f"{found} packets"


def progress():
    """a terminal has a line of progress, which goes when the run ends"""
    t = Terminal(READ_X)
    t.feed.write(bytes(4 * 1000))
    t.shows(r"\r1000 packets of 'x', [0-9.k ]+/s[^\r\n]*\x1b\[K\n")
    shown = t.end()
    assert shown.endswith("\x1b[1A\r\x1b[J"), repr(shown)
    y_has(1000)


def length():
    """an input with a known length has a position"""
    with open("whole.raw", "wb") as file:
        file.write(bytes(4 * 1000))
    t = Terminal(["two.pbc", "x=whole.raw", "z=in,raw", "y=y.raw", "--device=cpu:1"])
    t.shows(r"\r100 %, 1000 of 1000 packets of 'x'")
    t.end()


def short():
    """a short run shows nothing"""
    t = Terminal(["copy.pbc", "x=gen:ramp:5", "y=y.raw"], fifo=False)
    assert t.end() == "", repr(t.seen)
    y_has(5)


def watched(expected, words=READ_X, **more):
    t = Terminal(words, **more)
    t.begun()
    found = "watch" in t.threads()
    t.end()
    assert found == expected, f"watched: {found}"


def quiet():
    """-q shows no progress"""
    watched(True)
    watched(False, READ_X + ["-q"])


def same_terminal():
    """a terminal that a port uses shows no progress"""
    to = ["copy.pbc", "x=in,raw", "y=-,csv", "--device=cpu:1"]
    watched(False, to, streams={"stdin": subprocess.DEVNULL, "stdout": "terminal"})
    watched(True, to, streams={"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL})
    two = ["two.pbc", "x=in,raw", "z=-,csv", "y=y.raw", "--device=cpu:1"]
    t = Terminal(two + ["--top"], streams={"stdin": "terminal", "stdout": subprocess.DEVNULL})
    t.begun()
    assert "watch" not in t.threads()
    t.run.kill()
    t.run.wait()
    assert "note: port 'z' uses the terminal: nothing else is shown there" in t.seen.decode()


def top():
    """--top shows stages and buffers, to the end"""
    t = Terminal(["copy.pbc", "x=gen:ramp:300", "y=y.raw", "--top"], fifo=False)
    shown = t.end()
    assert re.search(r"\rstage +kernel +firings +/s +busy\x1b\[K\n", shown), shown
    assert re.search(r"copy +copy +300 [^\n]*has ended", shown), shown
    assert re.search(r"\rx +\[\.{10}\] +0 +[0-9.]+ [kM]? *[^\n]*closed", shown), shown
    y_has(300)
    t = Terminal(READ_X + ["--top", "-q"])
    t.feed.write(bytes(4 * 10))
    t.shows(r"copy +copy +10 [^\n]*waits for packets in 'x'")
    t.end()


def scope():
    """--watch draws the last values of ports, in braille where that can be shown"""
    t = Terminal(["copy.pbc", "x=gen:ramp:5", "--watch", "y"], fifo=False)
    shown = t.end()
    assert "y: the last 5 values of 5 packets" in shown, shown
    assert re.search(r"\r          4 [^\n]*[\u2801-\u28ff]", shown), shown
    assert re.search(r"\r          0 [^\n]*[\u2801-\u28ff]", shown), shown
    t = Terminal(["copy.pbc", "x=gen:ramp:5", "--watch", "x", "--watch", "y", "y=y.raw"], fifo=False,
                 environment={"LC_ALL": "C"})
    shown = t.end()
    assert "x: the last 5" in shown and "y: the last 5" in shown and "*" in shown, shown
    assert not re.search("[\u2801-\u28ff]", shown), shown
    y_has(5)


def part():
    """--watch draws a part of packets"""
    t = Terminal(["pairs.pbc", "x=gen:ramp:4", "y=null", "--watch", "y.b"], fifo=False)
    shown = t.end()
    assert "y: the last 4 values of 4 packets" in shown and "\r         30 " in shown, shown


def colours():
    """NO_COLOR leaves bold text out"""
    words = ["copy.pbc", "x=gen:ramp:100000", "y=null", "--top", "--device=sim16"]
    assert "\x1b[1mcopy" in Terminal(words, fifo=False).end()
    shown = Terminal(words, fifo=False, environment={"NO_COLOR": "1"}).end()
    assert "\rcopy" in shown and "\x1b[1m" not in shown, shown


def dumb():
    """TERM=dumb is no terminal to draw on"""
    t = Terminal(["copy.pbc", "x=gen:ramp:5", "y=y.raw", "--top"], fifo=False, environment={"TERM": "dumb"})
    shown = t.end()
    assert shown == "piperun: note: standard error is no terminal that can show --top\n", repr(shown)
    y_has(5)


def narrow():
    """a narrow or low terminal shows nothing"""
    for columns, rows in ((10, 30), (100, 1)):
        t = Terminal(["copy.pbc", "x=gen:ramp:5", "y=y.raw", "--top", "--watch=y"], columns, rows, fifo=False)
        assert t.end() == "", repr(t.seen)
        y_has(5)


def resized():
    """a terminal that becomes smaller is filled anew"""
    t = Terminal(READ_X + ["--top", "--watch=x"])
    t.shows("buffer ")
    start = len(t.seen)
    t.resize(25, 12)
    t.shows(r"\x1b\[J\x1b\[[0-9]+A[^J]*\x1b\[J", start)
    shown = t.end()
    frame = shown[shown.rindex("\x1b[J", 0, -3):]
    lines = [re.sub(r"\x1b\[[0-9]*[A-Za-z]", "", line).strip("\r") for line in frame.split("\n")]
    assert max(map(len, lines)) < 25 and len(lines) <= 12, lines


def closed():
    """a terminal that is closed does no harm"""
    t = Terminal(READ_X + ["--top"], before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    t.shows("buffer ")
    os.close(t.master)
    t.feed.write(bytes(4 * 100))
    t.feed.close()
    assert t.run.wait(SECONDS) == 0
    y_has(100)


def stopped():
    """a terminal that is stopped does no harm"""
    t = Terminal(READ_X + ["--top"], columns=400, rows=1000)
    t.shows("buffer ")
    termios.tcflow(t.master, termios.TCOOFF)
    t.feed.write(bytes(4 * 100))
    t.feed.close()
    assert t.run.wait(SECONDS) == 0
    y_has(100)


def told():
    """what SIGUSR1 prints is not drawn over"""
    t = Terminal(READ_X + ["--top"])
    t.shows("\x1b\\[[0-9]+A")
    t.begun()
    t.shows(r"in-port, open\n")
    start = t.seen.rindex(b"in-port, open\n")
    t.shows(r"in-port, open\n[^\x1b]*\r[^\x1b]*\x1b\[K\n", start)
    t.end()


def plain():
    """elsewhere a line comes every ten seconds"""
    os.mkfifo("in")
    run = subprocess.Popen([piperun, *READ_X], stderr=subprocess.PIPE)
    feed = open("in", "wb", buffering=0)
    feed.write(bytes(4 * 7))
    line = run.stderr.readline().decode()
    feed.close()
    assert re.match(r"piperun: note: 7 packets of 'x', [0-9.]+/s[^\r\x1b]*\n$", line), line
    assert run.wait(SECONDS) == 0


def full_pipe():
    """a pipe that nobody reads does no harm"""
    os.mkfifo("in")
    end, begin = os.pipe()
    os.set_blocking(begin, False)
    try:
        while True:
            os.write(begin, bytes(4096))
    except BlockingIOError:
        pass
    os.set_blocking(begin, True)
    run = subprocess.Popen([piperun, *READ_X], stderr=begin)
    feed = open("in", "wb", buffering=0)
    time.sleep(11)
    feed.close()
    assert run.wait(SECONDS) == 0
    os.close(end)


def main():
    here = os.getcwd()
    containers = [os.path.join(here, name) for name in os.listdir(here) if name.endswith(".pbc")]
    for case in map(globals().get, sys.argv[2:]):
        os.mkdir(case.__name__)
        os.chdir(case.__name__)
        for container in containers:
            os.symlink(container, os.path.basename(container))
        try:
            case()
            print("ok", case.__doc__)
        except Exception:
            traceback.print_exc(file=sys.stdout)
            print("not ok", case.__doc__)
        os.chdir(here)


main()
