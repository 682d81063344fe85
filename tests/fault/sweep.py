#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sweep.py: the k-th call of a program fails, for every k until the program is done before it.

    sweep.py BUILD [--every N] [--only CASE] [--seconds S] [--first]

Each case is a command, the files it makes, and which of its calls fail.  Whatever fails, the command ends in time
with a documented exit status; if that is not 0 it has said why on standard error, and each of its files is what
it was before; if it is 0, they are what they should be.  Nothing else is left in their folder or in $TMPDIR.  Where
the command is killed its files are as before or as they should be, and only temporaries may be left.

`--every N` tries a k, then the N-th after it, and at least two; which one is first depends on the case only.  A line of
results for each: ok or not ok, with the number of points.  `--first` ends with the first complaint.  TMP is a folder to
work in.
"""
import argparse
import errno
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

OLD = b"what was there before\n"
LIMIT_SECONDS = 120

PIPELINE = """kernel average<int N>(in f32 x peek N, out f32 y) {
    f32 sum = 0;
    for (i32 i = 0; i < N; i++) sum += x[i];
    y <- sum / N;
}
kernel scale(in f32 x, out f32 y; f32 by) { y <- by * x; }
pipeline main(in f32 samples, out f32 smooth; f32 by = 10) {
    samples -> average<4> -> scale(by) -> smooth;
}
"""


class Case:
    def __init__(self, name, command, files, calls, error=0, again=False, child=False, action=None, stride=1,
                 statuses=(0, 2), says=r"error", env=(), changes=None, accepts=None):
        self.name, self.command, self.files, self.calls = name, command, files, calls
        self.error, self.again, self.child, self.action = error, again, child, action
        self.stride, self.statuses, self.says, self.env = stride, statuses, says, env
        self.changes = changes  # an input that is changed while it is read
        self.accepts = accepts  # of an output that is neither what it was nor what it should be, and that: is it right?


def beginning_of(data, good):
    """Of an output of packets of four bytes: as far as both go it is right."""
    return data is not None and len(data) % 4 == 0 and (good.startswith(data) or data.startswith(good))


def beginning_of_npy(data, good):
    """The same behind the header, whose length both have."""
    header = 10 + struct.unpack("<H", good[8:10])[0]
    return data is not None and data[:8] == good[:8] and beginning_of(data[header:], good[header:])


def cases(build):
    """What is tried; `stride` thins out what is long and alike."""
    pipec, piperun = build + "/pipec", build + "/piperun"
    compiles = [pipec, "avg.pipe", "-o", "out.pbc", "-MD"]
    runs = [piperun, "avg.pbc", "samples=in.raw", "smooth=out.raw"]
    on_cpu = [piperun, "--device", "cpu", "cpu.pbc", "samples=in.raw", "smooth=out.raw"]
    on_part = [piperun, "--device", "sim16", "--partition", "equally 8 / by-counts 3 4", "--sub-device", "1.1",
               "avg.pbc", "samples=in.raw", "smooth=out.raw"]
    reports = [piperun, "--stats=json:out.json", "--trace=out.trace", "avg.pbc", "samples=in.raw", "smooth=out.npy"]
    tests = [pipec, "test", "tested.pipe"]
    made = []

    def add(name, command, files, **more):
        made.append(Case(name, command, files, **more))

    add("memory of a run on a sub-device", on_part, ["out.raw"], calls="memory")
    for again in (False, True):
        ever = ", and all after it" if again else ""
        more = {"again": again}
        # The compiler
        add("memory of the front end" + ever, compiles, ["out.pbc", "out.d"], calls="memory", **more)
        add("memory of code generation" + ever, compiles, ["out.pbc", "out.d"], calls="memory", child=True,
            stride=601, **more)
        add("system calls of code generation" + ever, compiles, ["out.pbc", "out.d"], calls="system",
            error=errno.EIO, child=True, **more)
        add("system calls of pipec: EIO" + ever, compiles, ["out.pbc", "out.d"], calls="system",
            error=errno.EIO, **more)
        # The runtime
        for word, command, files in (("a run", runs, ["out.raw"]), ("a run on cores", on_cpu, ["out.raw"]),
                                     ("a run with reports", reports, ["out.npy", "out.json", "out.trace"])):
            add(f"memory of {word}" + ever, command, files, calls="memory", **more)
            add(f"threads of {word}" + ever, command, files, calls="threads", **more)
            add(f"system calls of {word}: EIO" + ever, command, files, calls="system", error=errno.EIO, **more)
    add("system calls of a run that reads wav: EIO", [piperun, "avg.pbc", "samples=long.wav", "smooth=out.raw"],
        ["out.raw"], calls="system", error=errno.EIO)
    add("a crash of code generation", compiles, ["out.pbc", "out.d"], calls="memory", child=True, stride=4001,
        statuses=(0, 3), env=[("FAULT_CRASH", "1")])
    for word, command, files in (("pipec", compiles, ["out.pbc", "out.d"]), ("a run", runs, ["out.raw"]),
                                 ("a run with reports", reports, ["out.npy", "out.json", "out.trace"])):
        add(f"system calls of {word}: no space", command, files, calls="system", error=errno.ENOSPC, again=True)
        add(f"system calls of {word}: EINTR", command, files, calls="system", error=errno.EINTR)
        add(f"short reads and writes of {word}", command, files, calls="system", action="short", again=True,
            statuses=(0,))
        add(f"{word} is killed", command, files, calls="system", action="kill", statuses=(128 + signal.SIGKILL, 0))
        for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGXCPU, 152)):
            published = {"a run": {"accepts": beginning_of}, "a run with reports": {"accepts": beginning_of_npy}}.get(
                word if number == signal.SIGINT else "", {})
            add(f"{word} gets {signal.Signals(number).name}", command, files, calls="system", action=f"signal={number}",
                statuses=(status, 0), says="", stride=1, **published)
    for change in ("shrink", "grow"):
        for name, more in (("long.raw", {"accepts": beginning_of}), ("long.npy", {}), ("long.wav", {}), ("long.pgm", {}),
                           ("avg.pbc", {})):
            command = [piperun, "avg.pbc", "samples=" + (name if name != "avg.pbc" else "in.raw"), "smooth=out.raw"]
            add(f"{name} {change}s while it is read", command, ["out.raw"], calls="system", action=f"{change}={name}",
                statuses=(0, 1, 2), changes=name, **more)
        add(f"a source {change}s while it is read", compiles, ["out.pbc", "out.d"], calls="system",
            action=f"{change}=avg.pipe", statuses=(0, 1, 2), changes="avg.pipe")
    add("memory of pipec test", tests, [], calls="memory", stride=3, statuses=(0, 1, 2))
    add("system calls of pipec test: EIO", tests, [], calls="system", error=errno.EIO, stride=3, statuses=(0, 1, 2))
    return made


class Folder:
    def __init__(self, build):
        self.build = build
        work = os.path.abspath(os.environ["TMP"])
        self.root, self.temporaries, self.page = work + "/sweep", work + "/sweep.tmp", work + "/sweep.page"
        for path in (self.root, self.temporaries):
            os.makedirs(path)
        self.write("avg.pipe", PIPELINE.encode())
        self.write("tested.pipe", (PIPELINE + "test ramp of main { samples = {0..7}; "
                                   "expect smooth == {15, 25, 35, 45, 55}; }\n").encode())
        self.write("in.raw", struct.pack("<5000f", *range(5000)))
        for device, name in (("sim4", "avg.pbc"), ("cpu", "cpu.pbc")):
            subprocess.run([build + "/pipec", "--device", device, "avg.pipe", "-o", name], cwd=self.root, check=True)
        self.write_long()
        self.given = {name: self.read(name) for name in os.listdir(self.root)}

    def write_long(self):
        """Inputs that take several reads, in formats that say how long they are, and in one that does not."""
        count = 200000
        self.write("long.raw", struct.pack(f"<{count}f", *range(count)))
        for name in ("long.npy", "long.wav"):
            subprocess.run([self.build + "/piperun", "-q", "avg.pbc", "samples=gen:ramp:30000", "smooth=" + name],
                           cwd=self.root, check=True)
        self.write("long.pgm", b"P5\n300 300\n255\n" + bytes(i % 251 for i in range(90000)))

    def write(self, name, data):
        with open(self.root + "/" + name, "wb") as file:
            file.write(data)

    def read(self, name):
        try:
            with open(self.root + "/" + name, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def clear(self):
        for name in os.listdir(self.root):
            if name not in self.given:
                os.unlink(self.root + "/" + name)
        for name in os.listdir(self.temporaries):
            subprocess.run(["rm", "-rf", self.temporaries + "/" + name], check=True)

    def left(self, case):
        names = [name for name in os.listdir(self.root) if name not in self.given and name not in case.files]
        return names + os.listdir(self.temporaries)

    def counts(self):
        """Calls, those that failed, and how much of a file that was changed had been read."""
        with open(self.page, "rb") as file:
            return struct.unpack("<QQQ", file.read(24))

    def run(self, case, k):
        """The exit status (None: it does not end) and what it said."""
        with open(self.page, "wb") as file:
            file.write(bytes(24))
        program = os.path.basename(case.command[0])
        env = dict(os.environ, TMPDIR=self.temporaries, FAULT_PAGE=self.page, FAULT_PROGRAM=program,
                   FAULT_CALLS=case.calls, FAULT_AT=str(k), FAULT_AGAIN=str(int(case.again)),
                   FAULT_CHILD=str(int(case.child)), **dict(case.env))
        command = ["/usr/bin/env", "LD_PRELOAD=" + self.build + "/tests/fault_preload.so"] + case.command
        if case.calls == "system":
            words = [case.action or str(case.error)] + ["again"] * case.again + ["child"] * case.child
            command = [self.build + "/tests/fault_tracer", self.page, str(k)] + words + ["--"] + command
        child = subprocess.Popen(command, cwd=self.root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        try:
            text, _ = child.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            text, _ = child.communicate()
            return None, text
        status = child.returncode
        return 128 - status if status < 0 else status, text


def is_report(data):
    """Reports are written of runs that end badly too: whole, or not at all."""
    try:
        return isinstance(json.loads(data), dict)
    except ValueError:
        return False


def examine(folder, case, status, text, good):
    """What is wrong with how it ended; None: nothing."""
    if status is None:
        return f"it did not end within {LIMIT_SECONDS} s"
    if status not in case.statuses:
        return f"exit status {status}, none of {case.statuses}"
    killed = case.action == "kill" and status != 0
    files = {name: folder.read(name) for name in case.files}
    # An input that has begun to be read differs from one that was shorter all along.
    shrank = (case.action or "").startswith("shrink") and folder.counts()[2] > 0
    wanted = case.accepts if case.accepts and not shrank else (lambda data, good: False)
    if status == 0 and any(files[name] != good[name] and not wanted(files[name], good[name]) for name in files):
        return f"it said it was done, and {[n for n in files if files[n] != good[n]]} are not what they should be"
    if status != 0 and not killed and not re.search(case.says, text.decode(errors="replace")):
        return "it failed and did not say why"
    done = killed or len(files) > 1 or (case.action or "").startswith("signal")
    for name, data in files.items():
        if status != 0 and (is_report(data) or wanted(data, good[name])):
            continue
        # The last step that can fail is that of the folder, after the new file has its name: this is said.
        in_doubt = b"its folder cannot be synchronised" in text
        if status != 0 and data != OLD and not (data == good[name] and (done or in_doubt)):
            return f"{name} is neither what it was nor what it should be"
    if not killed and not (case.again and case.calls == "system") and folder.left(case):
        return f"it left {folder.left(case)}"
    return None


def prepare(folder, case):
    folder.clear()
    if case.changes is not None:
        folder.write(case.changes, folder.given[case.changes])
    for name in case.files:
        folder.write(name, OLD)


def without_faults(folder, case):
    """The files as they should be, and how many calls there are."""
    prepare(folder, case)
    status, text = folder.run(case, 0)
    if status == 98:
        return None, 0
    if status != 0:
        sys.exit(f"{case.name}: without any fault: exit status {status}\n{text.decode(errors='replace')}")
    return {name: folder.read(name) for name in case.files}, folder.counts()[0]


def sweep(folder, case, every, most, deadline):
    """Points tried, and at most `most` complaints."""
    good, calls = without_faults(folder, case)
    if good is None:
        return None, []
    if calls == 0:
        return 0, ["no call was seen"]
    stride = max(1, min(case.stride * every, calls // 2))
    points, found, k = 0, [], 1 + sum(case.name.encode()) % stride
    while k <= calls + 1000000 and len(found) < most and time.monotonic() < deadline:
        prepare(folder, case)
        status, text = folder.run(case, k)
        if status is not None and folder.counts()[1] == 0:
            break
        points += 1
        wrong = examine(folder, case, status, text, good)
        if wrong is not None:
            found.append(f"call {k} of {calls}: {wrong}\n" + text.decode(errors="replace"))
        k += stride
    return points, found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--first", action="store_true")
    options = parser.parse_args()
    folder = Folder(os.path.abspath(options.build))
    deadline = time.monotonic() + options.seconds
    failed = tried = 0
    for case in cases(folder.build):
        if options.only not in case.name:
            continue
        points, found = sweep(folder, case, options.every, 1 if options.first else 5, deadline)
        if points is None:
            print(f"skip {case.name} no process can be traced here")
            continue
        tried += points
        failed += len(found)
        for text in found:
            print("# " + text.replace("\n", "\n#   "))
        print(("not ok " if found else "ok ") + f"{case.name} ({points} points)", flush=True)
        if found and options.first:
            break
    print(f"# {tried} points, {failed} found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
