#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live_partner.py COMMAND... <SCRIPT: a process that needs the answer of the run before it sends more.

A line of the script is one of
    > PORT NUMBER...   sends each number as a line to the in-port
    < PORT NUMBER...   waits for these lines from the out-port
    . PORT             closes the in-port
    exit STATUS        all inputs are closed; the run ends with that status
Each port is a pipe, given to the command as PORT=/dev/fd/N,csv.  A run that does not answer is killed after LIMIT seconds.
"""
import os
import signal
import subprocess
import sys

LIMIT = int(os.environ.get("LIMIT", 60))


def main():
    script = [line.split() for line in sys.stdin if line.strip()]
    inner, outer = {}, {}  # the run's ends, and ours
    for sign, port, *_ in (line for line in script if line[0] in "<>."):
        if port in inner:
            continue
        read, write = os.pipe()
        inner[port], outer[port] = (read, write) if sign != "<" else (write, read)
    command = sys.argv[1:] + [f"{port}=/dev/fd/{fd},csv" for port, fd in inner.items()]
    run = subprocess.Popen(command, pass_fds=list(inner.values()), stdin=subprocess.DEVNULL)
    for fd in inner.values():
        os.close(fd)
    files = {port: os.fdopen(fd, "w" if any(l[0] in ">." and l[1] == port for l in script) else "r", 1)
             for port, fd in outer.items()}

    def give_up(*_):
        run.kill()
        print(f"line {number} of the script: no answer: {' '.join(line)}")
        os._exit(1)

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LIMIT)
    number, line = 0, []
    for number, line in enumerate(script, 1):
        if line[0] == ">":
            for word in line[2:]:
                files[line[1]].write(word + "\n")
                files[line[1]].flush()
        elif line[0] == ".":
            files[line[1]].close()
        elif line[0] == "<":
            for word in line[2:]:
                found = files[line[1]].readline().strip()
                if found != word:
                    run.kill()
                    print(f"line {number} of the script: '{found}', expected '{word}'")
                    return 1
        else:
            for file in files.values():
                if not file.closed and file.writable():
                    file.close()
            status = run.wait()
            rest = "".join(file.read() for file in files.values() if not file.closed and file.readable())
            if status != int(line[1]) or rest:
                print(f"exit status {status}, expected {line[1]}; more output: '{rest}'")
                return 1
    return 0


sys.exit(main())
