# SPDX-License-Identifier: MIT
"""terminal.py COMMAND... : runs it on a terminal of its own, types what standard input says, prints what it shows.

Each line of standard input waits until the text before its first tab has been shown, then types what is behind it, both
with Python's escapes, as "\\n", "\\t" or "\\x03".  Exits with the command's status; 99: a text has not been shown.
"""
import os
import pty
import select
import sys
import termios
import time

SECONDS = 20


def shown(fd, seen, text, start):
    """Reads until `text` stands in `seen` from `start` on; False: it has not come."""
    end = time.monotonic() + SECONDS
    while text not in seen[start:]:
        ready, _, _ = select.select([fd], [], [], max(0, end - time.monotonic()))
        if not ready:
            return False
        try:
            piece = os.read(fd, 4096)
        except OSError:
            piece = b""
        if not piece:
            return text in seen[start:]
        seen += piece
    return True


def takes_keys(fd):
    """Behind a prompt: waits until the terminal hands over keys as they are typed, so that none is lost or echoed twice
    (without a line editor it never does)."""
    end = time.monotonic() + 1
    while termios.tcgetattr(fd)[3] & termios.ICANON and time.monotonic() < end:
        time.sleep(0.002)


def read_rest(fd, seen):
    try:
        while piece := os.read(fd, 4096):
            seen += piece
    except OSError:  # the other side has been closed
        pass


def main():
    script = [line.rstrip("\n").split("\t", 1) for line in sys.stdin]
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(sys.argv[1], sys.argv[1:])
    seen, start, status = bytearray(), 0, None
    for text, keys in script:
        text = text.encode().decode("unicode_escape")
        if not shown(fd, seen, text.encode(), start):
            status = 99
            sys.stdout.write("not shown: " + text + "\n")
            os.kill(pid, 9)
            break
        start = seen.index(text.encode(), start) + len(text.encode())
        if text.endswith(") "):
            takes_keys(fd)
        os.write(fd, keys.encode().decode("unicode_escape").encode())
    read_rest(fd, seen)
    _, ended = os.waitpid(pid, 0)
    sys.stdout.write(seen.decode(errors="replace"))
    sys.exit(status if status is not None else os.waitstatus_to_exitcode(ended))


main()
