# SPDX-License-Identifier: MIT
"""The part "auto" of `make bench`: what pipec chooses against the best of all that can be asked for.

  ONLY=auto make bench        GRAPHS=50 SEED=7 CUS="4 16" ONLY=auto make bench

Environment: that of plans.py; GRAPHS, random graphs (default 200), of which each runs on one of the devices, by turns; SEED
(default 1); CUS, the devices (default "1 4 16 132"); EXAMPLES, names (default: all; "-": none), each on every device; WORST,
how many cases are explained (default 1).  Each case runs with every layout under every policy and under auto, which
has a static schedule where it can; all of them have to write the same bytes.
"""

import os
import subprocess
import sys

import plans
from plans import AUTO, EXAMPLES, LAYOUTS, POLICIES, Failure, Subject

FIRINGS = 1000000  # of all stages of a random graph, about
LOSSES = (0, 1, 5, 10)

INPUTS = {
    "fmradio": ("fmradio/fmradio", ["rf=rf.raw"], ["audio"]),
    "transmitter": ("fmradio/transmitter", ["voice=%s/fmradio/voice.wav" % EXAMPLES], ["rf"]),
    "cipher": ("cipher/chacha20", ["text=text.u8"], ["cipher"]),
    "edges": ("edges/edges", ["picture=picture.pgm"], ["outline"]),
    "quadrature": ("quadrature/quadrature", ["intervals=intervals.csv"], ["leaves"]),
    "quadtree": ("quadtree/quadtree", ["picture=square.pgm"], ["squares", "painted"]),
    "sweep": ("sweep/sweep", ["strength=gen:ramp:400"], ["balance"]),
}


def make_inputs():
    source = os.path.join(EXAMPLES, "fmradio/transmitter.pipe")
    plans.call([plans.PIPEC, "-q", source, "-o", "rf.pbc"])
    plans.call([plans.PIPERUN, "-q", "rf.pbc", "voice=%s/fmradio/voice.wav" % EXAMPLES, "rf=whole.raw"])
    with open("whole.raw", "rb") as file:
        samples = file.read()
    for name, head, size in (("rf.raw", b"", 4 << 18), ("text.u8", b"", 500000),
                             ("picture.pgm", b"P5\n640 480\n255\n", 307200), ("square.pgm", b"P5\n128 128\n255\n", 16384)):
        with open(name, "wb") as file:
            file.write(head + samples[:size])
    with open("intervals.csv", "w") as file:
        for i in range(4000):
            file.write("%.9g,%.9g\n" % (i / 4000 * 3, (i + 1) / 4000 * 3))


def example(name, cus):
    program, bindings, outputs = INPUTS[name]
    return Subject(name, os.path.join(EXAMPLES, program + ".pipe"), cus, bindings, outputs)


def packets_each(rate, repetitions):
    """Of an iteration, of what a firing pops: a number, or one for each phase."""
    if isinstance(rate, list):
        return sum(rate) * repetitions // len(rate)
    return rate * repetitions


def drawn(seed, cus):
    """A random graph, and as many packets as make so many firings."""
    program = "g%d.pipe" % seed
    shown = plans.inspect(program, plans.device(".", cus), AUTO)
    firings = sum(node["repetitions"] for node in shown["nodes"])
    iterations = max(FIRINGS // firings, 1)
    outer = {buffer["name"]: buffer for buffer in shown["buffers"]}
    bindings, outputs, sources = [], [], []
    for node in shown["nodes"]:
        if not node["inputs"]:
            sources.append(node["repetitions"])
        for port in node["inputs"]:
            if outer[port["buffer"]]["writer"] is None:
                count = packets_each(port["pop"], node["repetitions"]) * iterations
                bindings.append("%s=gen:noise:3:%d" % (port["buffer"], count))
        for port in node["outputs"]:
            if not outer[port["buffer"]]["readers"]:
                outputs.append(port["buffer"])
    options = ["--firings", str(min(sources) * iterations)] if sources else []
    subject = Subject("seed%d" % seed, program, cus, sorted(set(bindings)), outputs, options)
    subject.iterations = iterations
    return subject


def ways_for(cus):
    layouts = LAYOUTS if cus > 1 else ["sequence"]
    return [AUTO] + [(layout, policy) for layout in layouts for policy in POLICIES + ["auto"]]


class Case:
    def __init__(self, subject, results):
        self.subject, self.results = subject, results
        self.auto = results[AUTO].cycles
        ways = [way for way in results if way != AUTO]
        self.best = min(ways, key=lambda way: results[way].cycles)
        self.loss = 100 * (self.auto / results[self.best].cycles - 1)

    def name_of(self, way):
        return "%s, %s" % (way[0], "static schedule" if self.results[way].is_static else way[1])

    def foretold(self, way):
        shown = plans.inspect(self.subject.program, plans.device(".", self.subject.cus), way)
        trial = plans.foretold(shown)
        iterations = getattr(self.subject, "iterations", None)
        return trial[1] * iterations / trial[0] if trial and iterations else None, shown["plan"]


def case_of(subject):
    try:
        return Case(subject, plans.measure(".", subject, ways_for(subject.cus)))
    except Failure as failure:
        return failure


def quantile(losses, part):
    return losses[min(int(part * len(losses)), len(losses) - 1)]


def distribution(title, cases):
    losses = sorted(case.loss for case in cases)
    if not losses:
        return
    row = [100 * sum(loss <= within + 1e-9 for loss in losses) / len(losses) for within in LOSSES]
    row += [quantile(losses, part) for part in (0.5, 0.9, 0.95, 0.99)] + [losses[-1]]
    print("%-22s %5d" % (title, len(losses)) + "".join("%8.0f" % share for share in row[:4]) +
          "".join("%8.1f" % loss for loss in row[4:]))


def explain(case):
    subject = case.subject
    print("\n%s: auto takes %d cycles, %.1f %% more than the best, %s: %d" % (
        subject.title(), case.auto, case.loss, case.name_of(case.best), case.results[case.best].cycles))
    said = {}
    for way in (AUTO, case.best):
        said[way], plan = case.foretold(way)
        print("  %-28s %s: %s; %s: %s" % (case.name_of(way), plan["mode"], plan["mode_reason"], plan["policy"],
                                         plan["policy_reason"]))
    alone, _ = case.foretold((case.best[0], "auto"))
    for way, figure in ((AUTO, said[AUTO]), (case.best, said[case.best] or alone)):
        if figure:
            took = case.results[way].cycles
            print("  the trial foretold %.0f cycles of %s, it took %d: %+.1f %%" % (figure, case.name_of(way), took,
                                                                                100 * (figure / took - 1)))
    others = sorted(case.results, key=lambda way: case.results[way].cycles)
    print("  all: " + "; ".join("%s %d" % (case.name_of(way), case.results[way].cycles) for way in others))


def draw_graphs(seeds):
    compiler = (os.environ.get("CC") or "cc").split()
    sources = [os.path.join(plans.ROOT, "tests", name) for name in
               ("e2e/draw_program.c", "reference/oracle.c", "reference/oracle_draw.c")]
    plans.call(compiler + ["-std=c11", "-O2", "-I" + plans.ROOT, "-o", "draw"] + sources)
    for seed in seeds:
        with open("g%d.pipe" % seed, "wb") as file:
            file.write(plans.call(["./draw", str(seed), "apart"]))


def table(cases, cus_list):
    print("%-22s %5s" % ("loss, %", "cases") + "".join("%8s" % ("<= %d %%" % within) for within in LOSSES) +
          "".join("%8s" % name for name in ("median", "90 %", "95 %", "99 %", "worst")))
    examples = [case for case in cases if case.subject.name in INPUTS]
    graphs = [case for case in cases if case.subject.name not in INPUTS]
    distribution("examples", examples)
    for cus in cus_list:
        distribution("random, %d CU%s" % (cus, "s" if cus > 1 else ""), [c for c in graphs if c.subject.cus == cus])
    distribution("random, all", graphs)
    distribution("all", cases)


def main():
    cus_list = [int(word) for word in (os.environ.get("CUS") or "1 4 16 132").split()]
    first, count = int(os.environ.get("SEED") or 1), int(os.environ.get("GRAPHS") or 200)
    names = (os.environ.get("EXAMPLES") or " ".join(INPUTS)).split()
    folder = os.path.join(plans.BUILD, "bench/auto")
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    for cus in cus_list:
        plans.device(".", cus)
    seeds = range(first, first + count)
    print("random graphs: seeds %d to %d; sim16 with %s compute units" % (first, first + count - 1,
                                                                       ", ".join(map(str, cus_list))))
    draw_graphs(seeds)
    subjects = []
    if names != ["-"]:
        make_inputs()
        subjects = [example(name, cus) for name in names for cus in cus_list]
    subjects += plans.in_parallel(lambda at: drawn(*at), [(seed, cus_list[seed // 2 % len(cus_list)]) for seed in seeds])
    cases = plans.in_parallel(case_of, subjects)
    failures = [case for case in cases if isinstance(case, Failure)]
    cases = [case for case in cases if not isinstance(case, Failure)]
    table(cases, cus_list)
    for case in sorted(cases, key=lambda case: -case.loss)[:int(os.environ.get("WORST") or 1)]:
        explain(case)
    for failure in failures:
        print("bench: " + str(failure), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, subprocess.SubprocessError) as problem:
        sys.exit("bench: %s" % problem)
