# SPDX-License-Identifier: MIT
"""What auto.py and policies.py share: compile a program under a plan, run it, and read what the reports say.

Environment: ROOT, BUILD, PIPEC, PIPERUN (set by make); JOBS, how many at a time (default: one per CPU).
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.environ.get("ROOT") or os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build/release")
PIPEC = os.environ.get("PIPEC") or os.path.join(BUILD, "pipec")
PIPERUN = os.environ.get("PIPERUN") or os.path.join(BUILD, "piperun")
JOBS = int(os.environ.get("JOBS") or os.cpu_count() or 1)
EXAMPLES = os.path.join(ROOT, "examples")

POLICIES = ["round_robin", "priority", "fullest"]
LAYOUTS = ["sequence", "groups", "side-by-side"]
AUTO = ("auto", "auto")


class Failure(Exception):
    pass


def call(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace")
        raise Failure("%s: exit status %d\n%s" % (" ".join(words), done.returncode, said[-2000:]))
    return done.stdout


def device(folder, cus):
    """sim16 with another number of compute units, and with no caches that some of them share."""
    if cus == 16:
        return "sim16"
    path = os.path.join(folder, "cus%d.dev" % cus)
    if not os.path.exists(path):
        with open(os.path.join(ROOT, "lang/devices/sim16.dev")) as file:
            text = file.read()
        text = re.sub(r"(?m)^name .*", "name = cus%d" % cus, text)
        text = re.sub(r"(?m)^(cu_count|max_sub_devices) .*", r"\1 = %d" % cus, text)
        text = re.sub(r"(?m)^(cus_per|cache)_.*\n", "", text).replace(" by_affinity", "")
        with open(path, "w") as file:
            file.write(text)
    return path


def inspect(program, device_path, way):
    words = [PIPEC, "inspect", "--json", "--device", device_path, "--layout=" + way[0], "--policy=" + way[1]]
    return json.loads(call(words + [program]))


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Subject:
    """A program, how it is bound, and on which device it runs."""

    def __init__(self, name, program, cus, bindings, outputs, options=()):
        self.name, self.program, self.cus = name, program, cus
        self.bindings, self.outputs, self.options = bindings, outputs, list(options)

    def title(self):
        return "%s on %d CU%s" % (self.name, self.cus, "" if self.cus == 1 else "s")


class Result:
    """Of one way: cycles, the digests of the outputs, the statistics, and whether a static schedule was there."""

    def __init__(self, cycles, outputs, stats, static):
        self.cycles, self.outputs, self.stats, self.is_static = cycles, outputs, stats, static


def is_static(container):
    """Has the scheduler's program a static part?"""
    return re.search(rb"(?m)^(\w+:)?\s*run ", call([PIPERUN, "disasm", container])) is not None


def measure(folder, subject, ways):
    """A result for each way; the same container is run once.  Fails where outputs differ."""
    runs, results = {}, {}
    base = os.path.join(folder, "%s-%d" % (subject.name, subject.cus))
    where = device(folder, subject.cus)
    for way in ways:
        container = "%s-%s-%s.pbc" % ((base,) + way)
        words = ["--layout=" + way[0], "--policy=" + way[1], "-o", container, subject.program]
        call([PIPEC, "-q", "-O1", "--device", where] + words)
        # Stages, depths, batches, and the scheduler's program: where they are the same, cycles are.
        key = hashlib.sha256(call([PIPERUN, "disasm", container])).hexdigest()
        if key not in runs:
            runs[key] = run(subject, container, where)
        results[way] = runs[key]
        os.remove(container)
    for way in ways:
        if results[way].outputs != results[ways[0]].outputs:
            raise Failure("%s: other outputs with %s than with %s" % (subject.title(), way, ways[0]))
    return results


def run(subject, container, where):
    stats = container + ".json"
    files = {port: container + "." + port for port in subject.outputs}
    words = [PIPERUN, "-q", "--device", where, "--stats=json:" + stats, container] + subject.options
    words += ["%s=%s,raw" % (port, file) for port, file in files.items()]
    call(words + subject.bindings)
    with open(stats) as file:
        found = json.load(file)
    outputs = [digest(file) for file in files.values()]
    for file in list(files.values()) + [stats]:
        os.remove(file)
    return Result(found["total_cycles"], outputs, found, is_static(container))


def in_parallel(work, items):
    """In the order of the items, with something to look at."""
    done = []
    with ThreadPoolExecutor(max_workers=JOBS) as pool:
        for result in pool.map(work, items):
            done.append(result)
            if sys.stderr.isatty():
                print("\r%d of %d" % (len(done), len(items)), end="", file=sys.stderr)
    return done


def foretold(shown):
    """(iterations, cycles) of the trial of the plan that `pipec inspect --json` shows, or None."""
    for key in ("policy_reason", "mode_reason"):
        found = re.search(r"(\d+) iterations? takes? (\d+) cycles?", shown["plan"].get(key) or "")
        if found:
            return int(found.group(1)), int(found.group(2))
    return None
