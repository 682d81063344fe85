#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""surroundings.py: pipec and piperun where there is no room, nobody listens, or somebody kills them.

    surroundings.py BUILD [--all] [--kills N] [--seed S] [--only GROUP]

Groups:
  size     no file may become larger than so much (RLIMIT_FSIZE), for sizes from nothing to what is needed
  full     the device of the output is full: /dev/full, and a small file system where one can be mounted
  memory   no more than so much address space (RLIMIT_AS)
  streams  standard streams that are closed at the start, or whose reader has gone
  kills    SIGKILL, SIGTERM, SIGHUP, SIGINT after times that are drawn by SEED, N of each command and signal

Whatever happens, the command ends with a documented exit status, and says why if that is not 0; each of its files is
what it was before or what it should be; nothing else is left in their folder or in $TMPDIR, but after SIGKILL what is
documented to stay; and none of its processes lives on.  A line of results for each case: ok or not ok.  Without --all
some sizes are left out.  TMP is a folder to work in.
"""
import argparse
import os
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import time

from sweep import OLD, PIPELINE

LIMIT_SECONDS = 60
# Files that SIGKILL may leave: outputs that were being written (pipec(1), piperun(1), FILES), and the linker's folder.
STAYS = re.compile(r"\.out\..*\.tmp|out\.(pbc|d)\.\w{6}|pipec-\w{6}")


class Place:
    """A folder with inputs, a folder for temporaries, and how commands run in them."""

    def __init__(self, build, root, temporaries):
        self.build, self.root, self.temporaries = build, root, temporaries
        for path in (root, temporaries):
            os.makedirs(path, exist_ok=True)
        self.pipec, self.piperun = build + "/pipec", build + "/piperun"
        self.write("avg.pipe", PIPELINE.encode())
        self.write("bad.pipe", b"pipeline main(in i32 x, out i32 y) { }\n")
        self.write("in.raw", struct.pack("<20000f", *range(20000)))
        for device, name in (("sim4", "avg.pbc"), ("cpu", "cpu.pbc")):
            subprocess.run([self.pipec, "--device", device, "avg.pipe", "-o", name], cwd=root, check=True)
        self.given = sorted(os.listdir(root))
        self.compile = ([self.pipec, "avg.pipe", "-o", "out.pbc", "-MD"], ["out.pbc", "out.d"])
        self.run = ([self.piperun, "-q", "avg.pbc", "samples=in.raw", "smooth=out.raw"], ["out.raw"])
        self.cores = ([self.piperun, "-q", "--device", "cpu", "cpu.pbc", "samples=in.raw", "smooth=out.npy"], ["out.npy"])
        self.commands = (self.compile, self.run, self.cores)

    def write(self, name, data):
        with open(self.root + "/" + name, "wb") as file:
            file.write(data)

    def read(self, name):
        try:
            with open(os.path.join(self.root, name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def clear(self, files):
        for name in os.listdir(self.root):
            if name not in self.given:
                os.unlink(self.root + "/" + name)
        for name in os.listdir(self.temporaries):
            subprocess.run(["rm", "-rf", self.temporaries + "/" + name], check=True)
        for name in files:
            self.write(name, OLD)

    def left(self, files):
        names = [name for name in os.listdir(self.root) if name not in self.given and name not in files]
        return names + os.listdir(self.temporaries)

    def start(self, command, env=(), before=None, **streams):
        env = {**os.environ, "TMPDIR": self.temporaries, **dict(env)}
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **streams}
        return subprocess.Popen(command, cwd=self.root, env=env, preexec_fn=before, start_new_session=True, **streams)

    def finish(self, child):
        """The exit status (None: it does not end, or leaves a process) and what it said."""
        try:
            text, _ = child.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return None, child.communicate()[0] or b""
        deadline = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < deadline:
            try:
                os.killpg(child.pid, 0)
            except ProcessLookupError:
                return (128 - child.returncode if child.returncode < 0 else child.returncode), text or b""
            time.sleep(0.01)
        os.killpg(child.pid, signal.SIGKILL)
        return None, b"one of its processes lives on\n"

    def good(self, command, files):
        self.clear(files)
        status, text = self.finish(self.start(command))
        if status != 0:
            sys.exit(f"{command}: without any fault: exit status {status}\n{text.decode(errors='replace')}")
        return {name: self.read(name) for name in files}

    def examine(self, end, files, good, statuses, says="error", stays=None, told=True):
        """What is wrong with how it ended; None: nothing."""
        status, text = end
        said = text.decode(errors="replace")
        if status not in statuses:
            return f"exit status {status}, none of {statuses}\n{said}"
        now = {name: self.read(name) for name in files}
        if status == 0 and now != good:
            return f"it said it was done, and its files are not what they should be\n{said}"
        if status != 0 and told and not re.search(says, said):
            return f"exit status {status}, and it did not say why\n{said}"
        for name in files:
            if now[name] not in (OLD, good[name]):
                return f"{name} is neither what it was nor what it should be\n{said}"
        left = [name for name in self.left(files) if stays is None or not stays.fullmatch(name)]
        return f"it left {left}" if left else None


def limited(kind, value):
    def before():
        resource.setrlimit(kind, (value, value))
    return before


def some(values, options):
    """All of them, or every third from the second on."""
    return values if options.all else values[1::3]


def group_size(place, options):
    """Queues and the linker's files are limited, too: what is written is larger than those of a run."""
    count = 400000
    place.write("many.raw", struct.pack(f"<{count}f", *range(count)))
    place.given.append("many.raw")
    for command, files in place.commands:
        command = [word.replace("in.raw", "many.raw") for word in command]
        good = place.good(command, files)
        most = max(len(data) for data in good.values())
        sizes = (0, most - 1, 1, 100, most - 4096, 4096, most // 2, most * 9 // 10, most, 1 << 23)
        for size in sizes if options.all else sizes[:2]:
            place.clear(files)
            end = place.finish(place.start(command, before=limited(resource.RLIMIT_FSIZE, size)))
            statuses = (2,) if size < most else (0, 2)
            yield f"{os.path.basename(command[0])}: {files[0]} in {size} bytes", place.examine(end, files, good, statuses)


def group_full(place, _options):
    for command in ([place.pipec, "avg.pipe", "-o", "/dev/full"], [place.pipec, "avg.pipe", "--emit=graph", "-o", "/dev/full"],
                    [place.piperun, "avg.pbc", "samples=in.raw", "smooth=/dev/full,raw"],
                    [place.piperun, "avg.pbc", "samples=in.raw", "smooth=/dev/full,npy"],
                    [place.piperun, "--stats=json:/dev/full", "avg.pbc", "samples=in.raw", "smooth=null"],
                    [place.piperun, "--trace=/dev/full", "avg.pbc", "samples=in.raw", "smooth=null"]):
        place.clear([])
        end = place.finish(place.start(command))
        yield " ".join(["full:"] + [os.path.basename(word) for word in command]), place.examine(end, [], {}, (2,))
    for command in ([place.pipec, "--help"], [place.pipec, "--help=all"], [place.pipec, "--version"], [place.pipec, "inspect", "avg.pipe"],
                    [place.pipec, "inspect", "--json", "avg.pipe"], [place.pipec, "avg.pipe", "-o", "-"],
                    [place.pipec, "explain", "--list"], [place.pipec, "fmt", "-"], [place.pipec, "graph", "avg.pipe"],
                    [place.piperun, "--help"], [place.piperun, "--list-devices"], [place.piperun, "disasm", "avg.pbc"],
                    [place.piperun, "avg.pbc", "samples=in.raw", "smooth=-,raw"]):
        place.clear([])
        with open("/dev/full", "wb") as full, open(place.root + "/avg.pipe", "rb") as source:
            child = place.start(command, stdin=source, stdout=full, stderr=subprocess.PIPE)
            _, text = child.communicate(timeout=LIMIT_SECONDS)
        words = [os.path.basename(word) for word in command]
        yield " ".join(["full standard output:"] + words), place.examine((child.returncode, text), [], {}, (2,))
    for command in ([place.pipec, "--help=all"], [place.pipec, "explain", "--list"], [place.piperun, "--help"]):
        reader, writer = os.pipe()
        os.close(reader)
        child = place.start(command, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        _, text = child.communicate(timeout=LIMIT_SECONDS)
        wrong = None if (child.returncode, text) == (0, b"") else f"exit {child.returncode}, {text!r}"
        yield " ".join(["closed pipe:", os.path.basename(command[0])] + command[1:]), wrong
    yield from small_file_systems(place)


def small_file_systems(place):
    """Outputs, temporaries, and images for profilers, each in a few KiB."""
    small = place.root + ".small"
    os.makedirs(small, exist_ok=True)
    for kilobytes in (4, 16, 24, 256):
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", small],
                          stderr=subprocess.DEVNULL).returncode != 0:
            yield "small file systems", "skip no file system can be mounted here"
            return
        try:
            for name, (command, files), there, env in (
                    ("the output of pipec", place.compile, "out.pbc", {}),
                    ("the output of piperun", place.run, "out.raw", {}),
                    ("temporaries of pipec", place.compile, None, {"TMPDIR": small}),
                    ("images", place.run, None, {"PIPERT_IMAGE_FOLDER": small})):
                room, wrong = in_small(place, small, command, files, there, env)
                yield f"{name} in {kilobytes} KiB ({'room' if room else 'no room'})", wrong
        finally:
            subprocess.run(["umount", small], check=True)


def in_small(place, small, command, files, there, env):
    """Was there room, and what is wrong; `there`: the file of these that is to be in the small file system."""
    good = place.good(command, files)
    if there is not None:
        command = [word.replace(there, small + "/" + there) for word in command if word != "-MD"]
        files = []
    place.clear(files)
    end = place.finish(place.start(command, env=env))
    left = sorted(os.listdir(small))
    wrong = place.examine(end, files, {name: good[name] for name in files}, (0, 2))
    if wrong is None and end[0] != 0 and left:
        wrong = f"it left {left}"
    if wrong is None and end[0] == 0 and there is not None and place.read(small + "/" + there) != good[there]:
        wrong = f"it said it was done, and {there} is not what it should be"
    for name in left:
        subprocess.run(["rm", "-rf", f"{small}/{name}"], check=True)
    return end[0] == 0, wrong


def group_memory(place, options):
    for command, files in place.commands:
        good = place.good(command, files)
        for megabytes in some((12, 20, 30, 40, 60, 90, 140, 200, 260, 400), options):
            place.clear(files)
            end = place.finish(place.start(command, before=limited(resource.RLIMIT_AS, megabytes << 20)))
            # Below what the dynamic linker needs for the program itself it is the one to say so.
            wrong = place.examine(end, files, good, (0, 2, 127), says=r"error|shared librar")
            yield f"{os.path.basename(command[0])}: {files[0]} in {megabytes} MiB of address space", wrong


def closed(numbers):
    def before():
        for number in numbers:
            os.close(number)
    return before


def group_streams(place, options):
    for mask in some((1, 2, 3, 4, 5, 6, 7), options):
        numbers = [number for number in range(3) if mask >> number & 1]
        for command, files in place.commands:
            good = place.good(command, files)
            place.clear(files)
            end = place.finish(place.start(command, before=closed(numbers)))
            yield (f"{os.path.basename(command[0])}: {files[0]} with {numbers} closed",
                   place.examine(end, files, good, (0,)))
        for name, command, status in (("a refused source", [place.pipec, "bad.pipe", "-o", "out.pbc"], 1),
                                      ("a missing file", [place.piperun, "none.pbc"], 2)):
            place.clear(["out.pbc"])
            end = place.finish(place.start(command, before=closed(numbers)))
            yield (f"{name} with {numbers} closed",
                   place.examine(end, ["out.pbc"], {"out.pbc": OLD}, (status,), told=2 not in numbers))
    for command in ([place.pipec, "avg.pipe", "-o", "-"],
                    [place.piperun, "avg.pbc", "samples=in.raw", "smooth=-,raw"]):
        place.clear([])
        end = place.finish(place.start(command, before=closed([1])))
        yield f"{os.path.basename(command[0])} to a standard output that is closed", place.examine(end, [], {}, (2,))
    place.clear([])
    end = place.finish(place.start([place.piperun, "avg.pbc", "samples=-,raw", "smooth=out.raw"], before=closed([0])))
    yield "piperun from a standard input that is closed", place.examine(end, [], {}, (2,))
    yield from gone_readers(place)


def gone_readers(place):
    for stream, command, statuses in (
            ("stdout", [place.pipec, "avg.pipe", "-o", "-"], (0,)),
            ("stdout", [place.pipec, "inspect", "avg.pipe"], (0,)),
            ("stdout", [place.pipec, "explain", "--list"], (0,)),
            ("stdout", [place.piperun, "avg.pbc", "samples=in.raw", "smooth=-,raw"], (0,)),
            ("stderr", [place.pipec, "bad.pipe", "-o", "out.pbc"], (1,)),
            ("stderr", [place.pipec, "--no-such-option"], (2,)),
            ("stderr", [place.pipec, "test", "bad.pipe"], (1, 2)),
            ("stderr", [place.piperun, "none.pbc"], (2,)),
            ("stderr", [place.piperun, "-v", "--stats", "avg.pbc", "samples=in.raw", "smooth=null"], (0, 2))):
        reader, writer = os.pipe()
        os.close(reader)
        place.clear([])
        other = "stderr" if stream == "stdout" else "stdout"
        child = place.start(command, **{stream: writer, other: subprocess.PIPE})
        os.close(writer)
        out, err = child.communicate(timeout=LIMIT_SECONDS)
        status = 128 - child.returncode if child.returncode < 0 else child.returncode
        words = " ".join(os.path.basename(word) for word in command)
        yield (f"the reader of {stream} has gone: {words}",
               place.examine((status, (err or out or b"")), [], {}, statuses, told=stream == "stdout"))


def group_kills(place, options):
    for command, files in place.commands:
        good = place.good(command, files)
        begin = time.monotonic()
        place.good(command, files)
        whole = time.monotonic() - begin
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            draw = random.Random(f"{options.seed} {files[0]} {number}")
            wrong, hit = None, 0
            for _ in range(options.kills):
                delay = draw.uniform(0, whole * 1.1)
                place.clear(files)
                child = place.start(command)
                time.sleep(delay)
                child.send_signal(number)
                end = place.finish(child)
                hit += end[0] != 0
                wrong = kill_verdict(place, end, files, good, number)
                if wrong is not None:
                    wrong = f"after {delay * 1000:.2f} ms: {wrong}"
                    break
            name = f"{os.path.basename(command[0])}: {files[0]} and {number.name} at {options.kills} times"
            yield f"{name} (seed {options.seed}, {hit} before the end)", wrong


def kill_verdict(place, end, files, good, number):
    """SIGINT publishes what a run has made of what it has read; before its handler stands it ends it."""
    stays = STAYS if number == signal.SIGKILL else None
    if number == signal.SIGINT and files[0] in ("out.raw", "out.npy") and place.read(files[0]) not in (OLD, good[files[0]]):
        data, whole = place.read(files[0]), good[files[0]]
        header = 10 + struct.unpack("<H", whole[8:10])[0] if files[0] == "out.npy" else 0
        if end[0] != 130 or data is None or (len(data) - header) % 4 or not whole[header:].startswith(data[header:]):
            return f"{files[0]} is not the beginning of what it should be (exit status {end[0]})"
        place.write(files[0], whole)
    return place.examine(end, files, good, (0, 128 + number), told=False, stays=stays)


GROUPS = {"size": group_size, "full": group_full, "memory": group_memory, "streams": group_streams, "kills": group_kills}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(GROUPS), action="append")
    options = parser.parse_args()
    work = os.path.abspath(os.environ["TMP"])
    place = Place(os.path.abspath(options.build), work + "/place", work + "/place.tmp")
    failed = tried = 0
    for name in options.only or GROUPS:
        for case, wrong in GROUPS[name](place, options):
            tried += 1
            if wrong is not None and wrong.startswith("skip "):
                print(f"skip {case} {wrong[5:]}", flush=True)
                continue
            if wrong is not None:
                failed += 1
                print("# " + wrong.rstrip().replace("\n", "\n#   "))
            print(("ok " if wrong is None else "not ok ") + case, flush=True)
    print(f"# {tried} cases, {failed} found")
    return 1 if failed else 0


sys.exit(main())
