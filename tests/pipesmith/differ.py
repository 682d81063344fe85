#!/usr/bin/env python3
"""differ.py [-n N] [-s SEED] [-j JOBS] [--configs LIST] [--each K] [--keep FOLDER]: random programs, many ways.

Every program is run by the reference interpreter (tests/oracle), compiled and run in each configuration, and has to
give the interpreter's bytes, exit status and leftover packets; one that is refused as a deadlock has to starve there.
What differs is shrunk and kept in FOLDER.  Exit status 1 if something differs.  Environment: BUILD, where pipec and
piperun are, and KAHN, the interpreter.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from pipesmith import Program  # noqa: E402
from smith_shrink import shrink  # noqa: E402

BUILD = os.environ.get("BUILD", "build/release")
KAHN = os.environ.get("KAHN", f"{BUILD}/tests/kahn")
LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lang/")
# name: (arguments of pipec, of piperun, whether the notes name the same buffers)
CONFIGURATIONS = {
    "sim1": (["--device=sim1"], ["--device", "sim1"], True),
    "O0": (["--device=sim1", "-O0"], ["--device", "sim1", "--dispatch=full"], True),
    "sim16": (["--device=sim16"], ["--device", "sim16", "--host-threads", "4"], True),
    "min": (["--device=sim16", "--buffers=min", "--policy=fullest"],
            ["--device", "sim16", "--dispatch=reference"], True),
    "side": (["--device=sim4", "--layout=side-by-side", "--policy=round_robin"],
             ["--device", "sim4", "--host-threads", "2"], True),
    "groups": (["--device=sim16", "--layout=groups", "--policy=priority"], ["--device", "sim16"], True),
    "simfuse": (["--device=sim16", "--fuse"], ["--device", "sim16"], False),
    "debug": (["--device=sim1", "--debug-mode"], ["--device", "sim1"], True),
    "cpu": (["--device=cpu", "--march=native"], ["--device", "cpu:1"], False),
    "cpu2": (["--device=cpu", "--march=native"], ["--device", "cpu:2"], False),
    "cpu3O0": (["--device=cpu", "-O0"], ["--device", "cpu:2"], False),
    "cpunofuse": (["--device=cpu", "--march=native", "--no-fuse"], ["--device", "cpu:2"], True),
    "cpumin": (["--device=cpu", "--buffers=min"], ["--device", "cpu:1"], False),
}


class Outcome:
    """What a run showed: `status`, the bytes of each out-port, the notes, and what is left over in each buffer."""

    def __init__(self, status, outputs, notes, errors="", left=None):
        self.status, self.outputs, self.notes, self.errors, self.left = status, outputs, notes, errors, left


def run(command, limit=60):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit)
        return done.returncode, done.stderr.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return 124, "timeout"


def ports_of(text):
    """(in-ports, out-ports) of the pipeline main, from its head."""
    head = re.search(r"^pipeline main\((.*)\)[^)]*\{$", text, re.M).group(1).split(";")[0]
    ports = [p.strip() for p in head.split(",")]
    name = lambda p: re.match(r"(?:in|out) \S+ (\w+)", p).group(1)
    return [name(p) for p in ports if p.startswith("in ")], [name(p) for p in ports if p.startswith("out ")]


def notes_of(errors):
    return sorted(line for line in errors.splitlines() if "left over" in line)


def gather(folder, tag, outs):
    found = {}
    for port in outs:
        path = f"{folder}/{tag}.{port}.raw"
        if os.path.exists(path):
            with open(path, "rb") as file:
                found[port] = file.read()
            os.unlink(path)
    return found


def interpret(folder, source, inputs, outs):
    """What the reference interpreter makes of it."""
    command = [KAHN, "--library", LIBRARY, source]
    command += [f"{port}={folder}/in.{port}.raw" for port in inputs]
    command += [f"{port}={folder}/kahn.{port}.raw" for port in outs]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    except subprocess.TimeoutExpired:
        return Outcome(124, {}, [], "timeout", {})
    left = {}
    for line in done.stdout.decode().splitlines():
        word = line.split()
        if word[0] == "buffer":
            left[word[1]] = int(word[5])
    return Outcome(done.returncode, gather(folder, "kahn", outs), [], done.stderr.decode("utf-8", "replace"), left)


def execute(folder, source, inputs, outs, configuration):
    """Compiles and runs; (True, Outcome), or (False, message) where it is refused."""
    compile_with, run_with, _ = CONFIGURATIONS[configuration]
    status, errors = run([f"{BUILD}/pipec", "--min-level=error", source, "-o", f"{folder}/p.pbc"] + compile_with)
    if status != 0:
        return False, f"pipec exits {status}: {errors}"
    command = [f"{BUILD}/piperun", f"{folder}/p.pbc"] + run_with
    command += [f"{port}={folder}/in.{port}.raw" for port in inputs]
    command += [f"{port}={folder}/{configuration}.{port}.raw" for port in outs]
    status, errors = run(command)
    return True, Outcome(status, gather(folder, configuration, outs), notes_of(errors), errors)


def difference(expected, found, configuration, notes, all_fed):
    """What is not as expected, as a text, or None."""
    if expected.status != found.status:
        return f"exit status {found.status} instead of {expected.status}: {found.errors[:400]}{expected.errors[:200]}"
    if expected.status == 0:
        for port in sorted(found.outputs.keys() | expected.outputs.keys()):
            data, other = expected.outputs.get(port), found.outputs.get(port)
            if data is None or other is None:
                return f"{port} is not written by {'the interpreter' if data is None else 'piperun'}"
            if other != data:
                at = next((i for i, (a, b) in enumerate(zip(data, other)) if a != b), min(len(data), len(other)))
                return f"{port}: {len(other)} bytes instead of {len(data)}, the first that differs is {at}"
    same = (lambda a, b: a == b) if CONFIGURATIONS[configuration][2] else (lambda a, b: bool(a) == bool(b))
    if notes is not None and not same(notes, found.notes):
        return f"notes {found.notes} instead of {notes}"
    if CONFIGURATIONS[configuration][2] and expected.status == 0:
        return left_over(expected.left, found.notes, all_fed)
    return None


def left_over(left, notes, all_fed):
    """Are the packets that the notes name those that the interpreter has counted?  What sources feed and what goes in
    circles is not always mentioned (`all_fed` is false)."""
    most = {}
    for note in notes:
        count, name = re.search(r"(\d+) packets? left over in buffer '([^']*)'", note).groups()
        most[name] = max(int(count), most.get(name, 0))
    for name, count in most.items():
        if all_fed and name in left and left[name] != count:
            return f"left over in {name}: {count} instead of {left[name]}"
    for name, count in left.items():
        if all_fed and count > 0 and name not in most:
            return f"left over in {name}: none instead of {count}"
    return None


def examine(folder, text, inputs, configurations):
    """[(configuration, what)] for what differs; a text instead where the reference refuses."""
    source = f"{folder}/p.pipe"
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    ins, outs = ports_of(text)
    for port in ins:
        with open(f"{folder}/in.{port}.raw", "wb") as file:
            file.write(inputs[port])
    expected, wrong, notes = interpret(folder, source, ins, outs), [], None
    if expected.status not in (0, 4, 5):
        return [("kahn", f"exit status {expected.status} of the interpreter: {expected.errors[:300]}")]
    for configuration in configurations:
        accepted, outcome = execute(folder, source, ins, outs, configuration)
        if not accepted:
            if "exits 1" in outcome and configuration == configurations[0]:
                starves = "[deadlock]" in outcome
                if starves == (expected.status == 5):
                    return outcome
                outcome = f"exit status {expected.status} of the interpreter: {outcome}"
            wrong.append((configuration, outcome))
            continue
        all_fed = not re.search(r"^kernel source|^    buffer .* init ", text, re.M)
        what = difference(expected, outcome, configuration, notes, all_fed)
        if notes is None and CONFIGURATIONS[configuration][2]:
            notes = outcome.notes
        if what:
            wrong.append((configuration, what))
    return wrong


class Filled(dict):
    """The bytes of the in-ports; of those that shrinking has made, some of every length."""

    def __missing__(self, port):
        return bytes(range(1, 97)) * 50


def kind_of(report):
    """What went wrong, without names and numbers: shrinking keeps to it."""
    return re.sub(r"\w*\d\w*|/\S+", "", report)[:40]


def alike(wrong, kind):
    return not isinstance(wrong, str) and bool(wrong) and kind_of(wrong[0][1]) == kind


def one(arguments):
    seed, configurations, keep, budget = arguments
    try:
        program = Program(seed)
        inputs = program.draw_inputs()
    except Exception as error:  # a mistake of the generator is one more thing to report
        return seed, "broken", f"{type(error).__name__}: {error}"
    with tempfile.TemporaryDirectory() as folder:
        wrong = examine(folder, program.text, inputs, configurations)
        if isinstance(wrong, str):
            return seed, "refused", wrong
        if not wrong:
            return seed, "same", ""
        names = [c for c, _ in wrong]
        report = "; ".join(f"{c}: {w}" for c, w in wrong)
        if keep:
            chosen = configurations if names[0] == "kahn" else names[:1]
            kind = kind_of(wrong[0][1])

            def fails(text):
                try:
                    return alike(examine(folder, text, Filled(inputs), chosen), kind)
                except (AttributeError, StopIteration):
                    return False

            small = shrink(program.text, fails, budget)
            target = f"{keep}/{seed}"
            os.makedirs(target, exist_ok=True)
            for name, content in (("whole.pipe", program.text), ("small.pipe", small), ("report", report + "\n")):
                with open(f"{target}/{name}", "w", encoding="utf-8") as file:
                    file.write(content)
            for port, data in inputs.items():
                with open(f"{target}/in.{port}.raw", "wb") as file:
                    file.write(data)
        return seed, "different", report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=100)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--configs", default=",".join(CONFIGURATIONS))
    parser.add_argument("--each", type=int, default=0, help="so many of the configurations for each program, in turn")
    parser.add_argument("--progress", action="store_true", help="counts on standard error, after every 50 programs")
    parser.add_argument("--keep")
    parser.add_argument("--budget", type=int, default=500)
    options = parser.parse_args()
    configurations = options.configs.split(",")
    count = {"same": 0, "refused": 0, "different": 0, "broken": 0}
    each, every = options.each or len(configurations), len(configurations)
    chosen = lambda seed: (configurations[seed % every:] + configurations)[:each]
    work = [(seed, chosen(seed), options.keep, options.budget) for seed in range(options.s, options.s + options.n)]
    with ProcessPoolExecutor(options.j) as pool:
        for seed, verdict, text in pool.map(one, work):
            count[verdict] += 1
            if options.progress and sum(count.values()) % 50 == 0:
                print(count, file=sys.stderr, flush=True)
            if verdict in ("different", "broken"):
                print(f"seed {seed}: {verdict}: {text[:600]}", flush=True)
            elif verdict == "refused" and "never writes" not in text:
                print(f"seed {seed}: refused: {text.splitlines()[0][:200]}", flush=True)
    print(f"{options.n} programs from seed {options.s} in {every} configurations: "
          f"{count['same']} the same, {count['refused']} refused, {count['different']} different, "
          f"{count['broken']} not drawn")
    return 1 if count["different"] or count["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
