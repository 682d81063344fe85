#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""differ.py [-n N] [-s SEED] [-j JOBS] [--configs LIST] [--each K] [--keep FOLDER]: random programs, many ways.

Every program is run by the reference interpreter (tests/oracle), compiled and run in each configuration, and has to
give the interpreter's bytes, exit status, fault, and numbers of packets; what is refused has to show the reason
there. So does what it becomes by relations (smith_relations) that leave outputs as they are. What differs is shrunk
and kept in FOLDER. Exit status 1 if something differs. Environment: BUILD, where pipec and piperun are; KAHN, the
interpreter; GPU_DEVICE, the device of the configurations that begin with "gpu" (default cuda-emulated).
"""
import argparse
import os
import re
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from pipesmith import Program  # noqa: E402
from smith_bad import Border, Extreme, Faulty  # noqa: E402
from smith_relations import RELATIONS  # noqa: E402
from smith_runs import CONFIGURATIONS, examine, examine_border  # noqa: E402
from smith_shrink import shrink  # noqa: E402


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
    seed, configurations, relations, keep, budget = arguments
    try:
        program = Program(seed)
        inputs = program.draw_inputs()
    except Exception as error:  # a mistake of the generator is one more thing to report
        return seed, "broken", f"{type(error).__name__}: {error}"
    with tempfile.TemporaryDirectory() as folder:
        wrong = examine(folder, program.text, inputs, configurations, relations, seed)
        if isinstance(wrong, str):
            return seed, "refused", wrong
        if not wrong:
            return seed, "same", ""
        names = [c for c, _ in wrong]
        report = "; ".join(f"{c}: {w}" for c, w in wrong)
        if keep:
            chosen = names[:1] if names[0] in configurations else configurations
            kept, kind = [r for r in names if r in relations], kind_of(wrong[0][1])

            def fails(text):
                try:
                    return alike(examine(folder, text, Filled(inputs), chosen, kept, seed), kind)
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


def special(arguments):
    """A program on the border of what is right, of an extreme size, or with several faults."""
    seed, configurations, draw = arguments
    drawn = draw(seed)
    with tempfile.TemporaryDirectory() as folder:
        text = drawn.text
        if isinstance(drawn, Border):
            what = examine_border(folder, drawn, configurations[0])
        else:
            wrong = examine(folder, text, drawn.inputs, configurations)
            what = wrong if isinstance(wrong, str) else "; ".join(f"{c}: {w}" for c, w in wrong)
    return seed, "different" if what else "same", f"{what}\n{text[:1500]}" if what else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=100)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--configs", default=",".join(CONFIGURATIONS))
    parser.add_argument("--relations", default=",".join(RELATIONS))
    parser.add_argument("--first", action="store_true", help="stop at the first difference")
    parser.add_argument("--each", type=int, default=0, help="so many of the configurations for each program, in turn")
    parser.add_argument("--progress", action="store_true", help="counts on standard error, after every 50 programs")
    parser.add_argument("--border", action="store_true", help="programs on the border of what is right instead")
    parser.add_argument("--extreme", type=int, default=0, help="graphs of up to so many nodes instead")
    parser.add_argument("--faults", action="store_true", help="graphs in which several nodes fault instead")
    parser.add_argument("--keep")
    parser.add_argument("--budget", type=int, default=500)
    options = parser.parse_args()
    configurations = options.configs.split(",")
    count = {"same": 0, "refused": 0, "different": 0, "broken": 0}
    each, every = options.each or len(configurations), len(configurations)
    chosen = lambda seed: (configurations[seed % every:] + configurations)[:each]
    changes = options.relations.split(",")
    change = lambda seed: changes if each == every else [changes[seed % len(changes)]]
    work = [(seed, chosen(seed), change(seed), options.keep, options.budget)
            for seed in range(options.s, options.s + options.n)]
    examination = one
    draw = Border if options.border else Faulty if options.faults else None
    if options.extreme:
        draw = partial(Extreme, size=options.extreme)
    if draw:
        examination, work = special, [(seed, c, draw) for seed, c, *_ in work]
    with ProcessPoolExecutor(options.j) as pool:
        # For the first difference one after the other: nothing is examined that is not asked for.
        for seed, verdict, text in map(examination, work) if options.first else pool.map(examination, work):
            count[verdict] += 1
            if options.progress and sum(count.values()) % 50 == 0:
                print(count, file=sys.stderr, flush=True)
            if verdict in ("different", "broken"):
                print(f"seed {seed}: {verdict}: {text[:2000]}", flush=True)
                if options.first:
                    return 1
            elif verdict == "refused" and "[invalid-rate]" not in text:
                print(f"seed {seed}: refused: {text.splitlines()[0][:200]}", flush=True)
    print(f"{options.n} programs from seed {options.s} in {every} configurations: "
          f"{count['same']} the same, {count['refused']} refused, {count['different']} different, "
          f"{count['broken']} not drawn")
    return 1 if count["different"] or count["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
