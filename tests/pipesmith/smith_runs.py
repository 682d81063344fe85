# SPDX-License-Identifier: MIT
"""Runs of a drawn program: by the reference interpreter, and compiled, in many configurations; and what differs.

What a run has to share with the interpreter: its exit status, the bytes of each out-port, its fault with kernel and
firing, the packets that each buffer has carried, and those left over.
"""
import json
import os
import random
import re
import subprocess

from smith_bad import VERDICTS
from smith_bodies import WIDTH
from smith_relations import RELATIONS

BUILD = os.environ.get("BUILD", "build/release")
KAHN = os.environ.get("KAHN", f"{BUILD}/tests/kahn")
GPU = os.environ.get("GPU_DEVICE", "cuda-emulated")
LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lang/")


class Configuration:
    """How to compile (`compile`), how to run (`run`), and how the first in-port comes in: `feed` is file, or through a
    pipe in packets (one at a time), words (of four bytes), or pieces (of sizes that are drawn).  `whole`: the run has all
    buffers, none is inside of a stage.  `part`: a partition and a sub-device of it, whose description it is compiled for.  `arrivals`: items of
    in-ports, the first for the first one and so on, over and over: when packets arrive in simulated time."""

    def __init__(self, compile_with, run_with, feed="file", whole=True, part=None, arrivals=("",)):
        self.compile, self.run, self.feed, self.whole = compile_with.split(), run_with.split(), feed, whole
        self.part, self.arrivals = part, arrivals
        if part:
            self.run += ["--partition", part[0], "--sub-device", part[1]]

    def device(self, folder):
        """The option for the description of the part."""
        if not self.part:
            return []
        device = self.run[self.run.index("--device") + 1]
        _, described, _ = run([f"{BUILD}/piperun", "partition", device, *self.part[0].split(), "--describe",
                               self.part[1]])
        with open(f"{folder}/part.dev", "w", encoding="utf-8") as file:
            file.write(described)
        return [f"--device={folder}/part.dev"]


CONFIGURATIONS = {
    "sim1": Configuration("--device=sim1 -O2 --no-fuse", "--device sim1 --host-threads 1"),
    "O0": Configuration("--device=sim1 -O0", "--device sim1 --dispatch=full", "pieces", whole=False),
    "sim16": Configuration("--device=sim16", "--device sim16 --host-threads 4", whole=False),
    "min": Configuration("--device=sim16 --no-fuse --buffers=min --policy=fullest",
                         "--device sim16 --dispatch=reference"),
    "side": Configuration("--device=sim4 --no-fuse --layout=side-by-side --policy=round_robin",
                          "--device sim4 --host-threads 2"),
    "groups": Configuration("--device=sim16 --no-fuse --layout=groups --policy=priority",
                            "--device sim16 --dispatch=full",
                            "words"),
    "nested": Configuration("--layout=side-by-side",
                            "--device sim16", whole=False, part=("by-affinity l3 / equally 4", "1.0")),
    "deep": Configuration("--no-fuse --layout=groups --policy=fullest", "--device sim-h100", "pieces",
                          part=("by-affinity next / by-counts 1 11 / equally 5", "1.1.0")),
    "h100": Configuration("--device=sim-h100 --buffers=fast",
                          "--device sim-h100 --host-threads 8", "pieces", whole=False),
    "orin": Configuration("--device=sim-orin-nano -O1 --policy=auto", "--device sim-orin-nano --dispatch=condensed",
                          whole=False),
    "simfuse": Configuration("--device=sim16 --fuse", "--device sim16", whole=False),
    "arrive": Configuration("--device=sim4", "--device sim4", whole=False,
                            arrivals=(",arrive=1.9GHz", ",arrive=333333333/7", "", ",arrive=50MHz,full")),
    "arriveslow": Configuration("--device=sim16 --no-fuse --layout=side-by-side",
                                "--device sim16 --latency=300us", "pieces",
                                arrivals=(",arrive=20kHz", ",arrive=1kHz", ",arrive=3MHz")),
    "arrivefuse": Configuration("--device=sim1 --fuse --policy=fullest", "--device sim1", whole=False,
                                arrivals=(",arrive=2MHz,full", ",arrive=1GHz")),
    "debug": Configuration("--device=sim1 --debug-mode", "--device sim1", "packets"),
    "cpu": Configuration("--device=cpu --march=native", "--device cpu:1", whole=False),
    "cpu2": Configuration("--device=cpu --march=native", "--device cpu:2", "pieces", whole=False),
    "cpu8": Configuration("--device=cpu -O3 --march=x86-64-v3,x86-64-v4", "--device cpu:8", "packets", whole=False),
    "cpu3O0": Configuration("--device=cpu -O0", "--device cpu:3", "words", whole=False),
    "cpu3deep": Configuration("--device=cpu", "--device cpu:3 --depths=5", "pieces", whole=False),
    "cpu16": Configuration("--device=cpu --march=native", "--device cpu:16", whole=False),
    "cpunofuse": Configuration("--device=cpu --march=native --no-fuse", "--device cpu:2"),
    "cpumin": Configuration("--device=cpu --buffers=min", "--device cpu:1", whole=False),
    "gpu": Configuration("--device=cuda", f"--device {GPU}", "pieces", whole=False),
    "gpunofuse": Configuration("--device=h200 --no-fuse", f"--device {GPU}", whole=False),
    "gpumin": Configuration("--device=cuda --buffers=min --policy=fullest", f"--device {GPU}", whole=False),
    "gpudebug": Configuration("--device=cuda --debug-mode", f"--device {GPU}", whole=False),
}


class Outcome:
    """What a run showed: `status`, the bytes of each out-port, the lines of `errors`, the packets that each buffer has
    carried, those `left` over ("": in all without a name), and the `faults`: (id, line, firing or section).  `left` of
    a compiled run is what its notes name."""

    def __init__(self, status, outputs=None, errors="", carried=None, left=None, faults=None):
        self.status, self.outputs, self.errors = status, outputs or {}, errors
        self.carried, self.left, self.faults = carried or {}, left or {}, faults or set()


def run(command, limit=60):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return 124, "", "timeout"


def run_fed(command, pieces, limit=60):
    """The same, with `pieces` on standard input, each written by itself."""
    with subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as process:
        try:
            for piece in pieces:
                process.stdin.write(piece)
            process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            process.stdin = None
            _, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            return 124, "timeout"
        return process.returncode, errors.decode("utf-8", "replace")


def ports_of(text):
    """(in-ports, out-ports) of the pipeline main, from its head: [(name, type)]."""
    head = re.search(r"^pipeline main\((.*)\)[^)]*\{$", text, re.M).group(1).split(";")[0]
    ports = [re.match(r"(in|out) (\S+) (\w+)", p.strip()).groups() for p in head.split(",") if p.strip()]
    return [(n, t) for way, t, n in ports if way == "in"], [(n, t) for way, t, n in ports if way == "out"]


def gather(folder, tag, outs):
    found = {}
    for port, _ in outs:
        path = f"{folder}/{tag}.{port}.raw"
        if os.path.exists(path):
            with open(path, "rb") as file:
                found[port] = file.read()
            os.unlink(path)
    return found


def interpret(folder, source, inputs, outs, *options):
    """What the reference interpreter makes of it."""
    command = [KAHN, "--library", LIBRARY, *options, source]
    command += [f"{port}={folder}/in.{port}.raw" for port, _ in inputs]
    command += [f"{port}={folder}/kahn.{port}.raw" for port, _ in outs]
    status, said, errors = run(command)
    outcome = Outcome(status, gather(folder, "kahn", outs), errors)
    for line in said.splitlines():
        word = line.split()
        if word[0] == "buffer":
            outcome.carried[word[1]], outcome.left[word[1]] = int(word[3]), int(word[5])
        elif word[0] == "unnamed":
            outcome.left[""] = int(word[2])
        elif word[0] == "fault":
            outcome.faults.add(fault(word[1], word[3], word[5]))
    return outcome


def fault(rule, line, when):
    """Numbers of packets are checked by the interpreter when a firing has ended, not at the statement."""
    return rule, 0 if rule == "amplification-exceeded" else int(line), when


def fault_of(errors):
    """{(id, line, firing or section)} of piperun's message, or {}."""
    found = re.search(r"in (?:firing |its )(\w+)[^\[\n]* \[([a-z-]+)\]", errors)
    place = re.search(r"the statement that failed is at [^:\n]*:(\d+):", errors)
    return {fault(found.group(2), place.group(1), found.group(1))} if found and place else set()


def cut(data, feed, kind):
    """The bytes of an in-port of that type, cut as `feed` says; a struct counts as four bytes."""
    rng, at, pieces = random.Random(len(data)), 0, []
    width = {"words": 4, "packets": WIDTH.get(kind, 32) // 8}.get(feed)
    while at < len(data):
        pieces.append(data[at:at + (width or rng.choice([1, 3, rng.randint(1, 64), rng.randint(1, 2000)]))])
        at += len(pieces[-1])
    return pieces


def execute(folder, source, inputs, outs, name):
    """Compiles and runs; (True, Outcome), or (False, message) where it is refused."""
    how = CONFIGURATIONS[name]
    resident = GPU in how.run
    command = [f"{BUILD}/pipec", "--min-level=error", source, "-o", f"{folder}/p.pbc"]
    status, _, errors = run(command + how.compile + how.device(folder))
    if status != 0:
        return False, f"pipec exits {status}: {errors}"
    command = [f"{BUILD}/piperun", f"{folder}/p.pbc"] + how.run
    if not resident:
        command.append(f"--stats=json:{folder}/stats")
    fed = inputs[0] if inputs and how.feed != "file" else None
    for i, port in enumerate(inputs):
        path = "-,raw" if port == fed else f"{folder}/in.{port[0]}.raw"
        command.append(f"{port[0]}={path}{how.arrivals[i % len(how.arrivals)]}")
    command += [f"{port}={folder}/{name}.{port}.raw" for port, _ in outs]
    if fed:
        with open(f"{folder}/in.{fed[0]}.raw", "rb") as file:
            status, errors = run_fed(command, cut(file.read(), how.feed, fed[1]))
    else:
        status, _, errors = run(command)
    outcome = Outcome(status, gather(folder, name, outs), errors, faults=fault_of(errors))
    for count, buffer in re.findall(r"(\d+) packets? left over in buffer '([^']*)'", errors):
        outcome.left[buffer] = max(int(count), outcome.left.get(buffer, 0))
    if status == 0 and not resident:
        with open(f"{folder}/stats", "rb") as file:
            stats = json.load(file)
        outcome.carried = {b["name"]: b["packets"] for b in stats["buffers"]}
    return True, outcome


def difference(expected, found, how, all_fed, inputs):
    """What is not as expected, as a text, or None."""
    if expected.status != found.status:
        return f"exit status {found.status} instead of {expected.status}: {found.errors[:400]}{expected.errors[:200]}"
    if expected.status == 4 and found.faults != expected.faults:
        return f"fault {found.faults} instead of {expected.faults}"
    if expected.status != 0:
        return None
    what = other_bytes(expected.outputs, found.outputs)
    return what or (accounting(expected, found, how, inputs) if all_fed else None)


def other_bytes(expected, found):
    for port in sorted(found.keys() | expected.keys()):
        data, other = expected.get(port), found.get(port)
        if data is None or other is None:
            return f"{port} is not written by {'the interpreter' if data is None else 'piperun'}"
        if other != data:
            at = next((i for i, (a, b) in enumerate(zip(data, other)) if a != b), min(len(data), len(other)))
            return f"{port}: {len(other)} bytes instead of {len(data)}, the first that differs is {at}"
    return None


def accounting(expected, found, how, inputs):
    """Have the buffers carried what the interpreter has counted, and kept what it says?  An in-port whose readers have
    all ended is not read further, and of a pipe nobody knows what it would have brought.  Of an eager port a stage with
    several inputs leaves a number of packets that depends on the moment."""
    whole, pipes = how.whole, {inputs[0][0]} if inputs and how.feed != "file" else set()
    pipes |= {port[0] for i, port in enumerate(inputs) if how.arrivals[i % len(how.arrivals)]}
    for name, count in expected.carried.items():
        carried = found.carried.get(name, count)
        if carried > count or (carried < count and name not in dict(inputs)):
            return f"packets in {name}: {found.carried[name]} instead of {count}"
        if whole and name not in found.carried and "[" not in name:
            return f"packets in {name}: not counted"
    return other_leftovers(expected.left, found.left, pipes, whole)


def other_leftovers(expected, found, pipes, whole):
    """Of a pipe that has not ended a fused stage with several inputs does not read the rest, so its nodes may leave more
    than is known."""
    exact = whole or not pipes
    for name, count in expected.items():
        left = found.get(name, 0)
        if name and name not in pipes and (left != count if exact else left > count):
            return f"left over in {name}: {left} instead of {count}"
    unnamed = sum(count for name, count in found.items() if name not in expected)
    count = expected.get("", 0)
    if unnamed != count if exact else unnamed > count:
        return f"left over in buffers without a name: {unnamed} instead of {count}: {found}"
    return None


def prepare(folder, text, inputs):
    """Writes the program and its inputs; (source, in-ports, out-ports)."""
    source = f"{folder}/p.pipe"
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    ins, outs = ports_of(text)
    for port, _ in ins:
        with open(f"{folder}/in.{port}.raw", "wb") as file:
            file.write(inputs[port])
    return source, ins, outs


def rightly_refused(expected, message):
    """Does the interpreter confirm each rule by which the program is refused?  A kernel that certainly faults, or that
    writes nothing, may never have fired: then some buffer has carried nothing.  There is no other rule."""
    nothing = 0 in expected.carried.values()
    fault = expected.status == 4 or nothing
    confirmed = {"constant-fault": fault, "out-of-window": fault, "out-of-range": fault,
                 "invalid-rate": nothing and re.search("never writes|writes nothing", message),
                 "deadlock": expected.status == 5}
    rules = re.findall(r": error: .*\[([a-z-]+)\]$", message, re.M)
    return bool(rules) and all(confirmed.get(rule) for rule in rules) and \
        ("deadlock" in rules) == (expected.status == 5)


def other_notes(noted, found, how):
    """Are the notes those of the other configurations, whichever buffers are inside of stages?  Of cycles, too, which the
    interpreter does not examine like that.  `noted`: {} before the first; None: sources decide."""
    if noted is None or found.status != 0 or how.feed != "file" or any(how.arrivals):
        return None
    if "left" not in noted:
        noted["left"] = found.left
    return None if noted["left"] == found.left else f"notes: left over {found.left} instead of {noted['left']}"


def related(folder, expected, text, inputs, configuration):
    """What is not as `expected` of a program that was changed by a relation: by the interpreter, and compiled."""
    source, ins, outs = prepare(folder, text, inputs)
    # Of several faults in one iteration the order of declarations decides, which a relation may change.
    found = changed = interpret(folder, source, ins, outs)
    for which in ("kahn", configuration):
        if which == configuration:
            accepted, found = execute(folder, source, ins, outs, configuration)
            if not accepted:
                # That outputs are in step a body shows by itself: what is apart shows it no longer.
                return None if "[liveness-unproven]" in found else f"{which}: {found}"
        if expected.status != found.status:
            return f"{which}: exit status {found.status} instead of {expected.status}: {found.errors[:400]}"
        what = other_bytes(expected.outputs, found.outputs) if found.status == 0 else None
        if what or found.faults != changed.faults:
            return f"{which}: {what or found.faults}"
    return None


def examine(folder, text, inputs, configurations, relations=(), seed=0):
    """[(configuration or relation, what)] for what differs; a text instead where the program is rightly refused."""
    source, ins, outs = prepare(folder, text, inputs)
    expected, wrong = interpret(folder, source, ins, outs), []
    if expected.status not in (0, 4, 5):
        return [("kahn", f"exit status {expected.status} of the interpreter: {expected.errors[:300]}")]
    # The packets of sources and cycles are not always consumed to the end, nor mentioned.
    all_fed = not re.search(r"^kernel source|^    buffer .* init ", text, re.M)
    noted = None if re.search(r"^kernel source", text, re.M) else {}
    for name in configurations:
        accepted, outcome = execute(folder, source, ins, outs, name)
        if not accepted:
            if "exits 1" in outcome and name == configurations[0]:
                if rightly_refused(expected, outcome):
                    return outcome
                outcome = f"exit status {expected.status} of the interpreter: {outcome}"
            wrong.append((name, outcome))
            continue
        what = difference(expected, outcome, CONFIGURATIONS[name], all_fed, ins) or \
            other_notes(noted, outcome, CONFIGURATIONS[name])
        if what:
            wrong.append((name, what))
    for name in relations if not wrong else ():
        other = RELATIONS[name](text, random.Random(seed))
        what = other and related(folder, expected, other, inputs, configurations[seed % len(configurations)])
        if what:
            wrong.append((name, what))
    return wrong


def verdict_of(folder, border):
    """(verdict, outcome) of the interpreter: what stays behind must not grow with the length of the input."""
    left, options = [], ["--bounded"] if border.bounded else []
    for times in (2, 1):
        iterations = border.iterations * times
        inputs = {name: (bytes(range(256)) * (count * iterations // 64 + 1))[:4 * count * iterations]
                  for name, count in border.rates}
        source, ins, outs = prepare(folder, border.text, inputs)
        outcome = interpret(folder, source, ins, outs, *options)
        if outcome.status in (4, 5):
            return {4: "fault", 5: "starves"}[outcome.status], outcome
        if outcome.status != 0:
            return f"exit status {outcome.status}: {outcome.errors}", outcome
        left.append(sum(outcome.left.values()))
    return "runs" if left[0] == left[1] else "grows", outcome


def examine_border(folder, border, configuration):
    """What pipec says otherwise of a program on the border than the interpreter, as a text, or None."""
    verdict, expected = verdict_of(folder, border)
    if verdict not in VERDICTS or (border.label and verdict != border.label):
        return f"{border.name}: the interpreter says {verdict} instead of {border.label}"
    source = f"{folder}/p.pipe"
    status, _, errors = run([f"{BUILD}/pipec", "--min-level=error", source])
    ids = set(re.findall(r"error: .*\[([a-z-]+)\]$", errors, re.M))
    allowed = VERDICTS[verdict] | ({"inconsistent-rates"} if verdict == "starves" else set())
    if (status, bool(ids)) != ((0, False) if verdict == "runs" else (1, True)) or not ids <= allowed:
        return f"{border.name}: exit status {status}, {sorted(ids)}, and the interpreter says {verdict}: {errors[:500]}"
    if verdict != "runs":
        return None
    ins, outs = ports_of(border.text)
    accepted, outcome = execute(folder, source, ins, outs, configuration)
    what = difference(expected, outcome, CONFIGURATIONS[configuration], False, ins) if accepted else outcome
    return what and f"{border.name}: {configuration}: {what}"
