#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""order.py: files are on disk before they get their name, and their folder after that.

    order.py BUILD

Each command runs under the tracer, which logs what it writes, synchronises and renames.  For each `rename OLD NEW`: OLD
is synchronised after its last byte was written and before it is renamed, and then the folder of NEW is synchronised.
Without this a crash of the machine leaves an empty file under the new name, or the old file.  TMP is a folder to work in.
"""
import os
import subprocess
import sys

PIPELINE = "kernel k(in f32 x, out f32 y) { y <- x; } pipeline main(in f32 x, out f32 y) { x -> k -> y; }\n"


def commands(build):
    """Name, command, and how many files it renames."""
    pipec, piperun = build + "/pipec", build + "/piperun"
    ramp = "x=gen:ramp:1000"
    yield "a container and its dependencies", [pipec, "k.pipe", "-o", "out.pbc", "-MD"], 2
    yield "a container in another folder", [pipec, "k.pipe", "-o", "folder/out.pbc"], 1
    yield "a graph", [pipec, "graph", "k.pipe", "-o", "graph.dot"], 1
    yield "findings", [pipec, "lint", "k.pipe", "--diagnostics=json:findings.json"], 1
    yield "a source that is formatted", [pipec, "fmt", "unformatted.pipe"], 1
    yield "an absolute path", [piperun, "k.pbc", ramp, "y=" + os.getcwd() + "/out.raw"], 1
    for ending in ("raw", "npy", "wav", "csv"):
        yield "an output: " + ending, [piperun, "-q", "k.pbc", ramp, "y=out." + ending], 1
    yield "reports", [piperun, "--stats=json:out.json", "--trace=out.trace", "k.pbc", ramp, "y=null"], 2
    yield "a program that is assembled", [piperun, "asm", "k.sasm", "--into", "k.pbc", "-o", "new.pbc"], 1
    yield "a link", [piperun, "k.pbc", ramp, "y=link,raw"], 1


def log_of(build, command):
    with open("page", "wb") as page:
        page.write(bytes(24))
    env = dict(os.environ, FAULT_PAGE=os.path.abspath("page"), FAULT_PROGRAM=os.path.basename(command[0]),
               FAULT_CALLS="system", FAULT_AT="0", FAULT_AGAIN="0", FAULT_CHILD="0")
    tracer = [build + "/tests/fault_tracer", "page", "0", "log=calls", "--", "/usr/bin/env",
              "LD_PRELOAD=" + build + "/tests/fault_preload.so"]
    done = subprocess.run(tracer + command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode == 98:
        print("skip the order of calls: no process can be traced here")
        sys.exit(0)
    if done.returncode != 0:
        return None, f"exit status {done.returncode}: {done.stdout.decode(errors='replace')}"
    with open("calls", encoding="utf-8") as calls:
        return [line.split() for line in calls], None


def examine(calls, renames):
    """The first thing that is wrong; None: nothing."""
    at = [i for i, call in enumerate(calls) if call[0] == "rename"]
    if len(at) != renames:
        return f"{len(at)} files are renamed, not {renames}"
    for i in at:
        _, old, new = calls[i]
        before = [call[0] for call in calls[:i] if call[1] == old]
        if "write" not in before:
            return f"nothing was written to {old}"
        if before[-1] != "fsync":
            return f"{old} is renamed and was not synchronised after its last byte"
        if ["fsync", os.path.dirname(new)] not in calls[i:]:
            return f"the folder of {new} is not synchronised"
    return None


def main():
    build = os.path.abspath(sys.argv[1])
    os.makedirs(os.environ["TMP"] + "/order")
    os.chdir(os.path.realpath(os.environ["TMP"] + "/order"))
    os.makedirs("folder")
    os.symlink("folder/linked", "link")
    with open("k.pipe", "w", encoding="utf-8") as file:
        file.write(PIPELINE)
    with open("unformatted.pipe", "w", encoding="utf-8") as file:
        file.write(PIPELINE.replace(" ", "  "))
    subprocess.run([build + "/pipec", "k.pipe", "-o", "k.pbc"], check=True)
    with open("k.sasm", "w", encoding="utf-8") as file:
        subprocess.run([build + "/piperun", "disasm", "k.pbc"], stdout=file, check=True)
    failed = False
    for name, command, renames in commands(build):
        calls, wrong = log_of(build, command)
        wrong = wrong or examine(calls, renames)
        failed = failed or wrong is not None
        print(f"not ok {name}: {wrong}" if wrong else f"ok on disk before and after the rename: {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
