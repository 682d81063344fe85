# SPDX-License-Identifier: MIT
"""The part "policies" of `make bench`: pipelines on which the policies differ, and why.

  ONLY=policies make bench        CUS=4 ONLY=policies make bench

Environment: that of plans.py; CUS (default 16).  Each pipeline runs in sequence, where the policy has most to say, under every
policy, under auto, and, where it has exact rates, with a static schedule; all of them have to write the same bytes.
"""

import os
import subprocess
import sys

import auto
import plans
from plans import POLICIES, Failure, Subject

KERNELS = """
kernel one(in f32 x, out f32 y) { y <- x + 1; }
kernel two(in f32 x, in f32 z, out f32 y) { y <- x - z; }
kernel split(in f32 x, out f32 a, out f32 b) { a <- x; b <- -x; }
kernel row(in f32 x pop 256, out f32 y push 256) { for (i32 i = 0; i < 256; i++) y <- x[255 - i]; }
kernel some(in f32 x, out f32 y push 0..1) { if (x > 0.5) y <- x; }
kernel route(in f32 x, out f32 a push 0..1, out f32 b push 0..1) { if (x > 0.9) a <- x; else b <- x; }
"""

# Name, what the policies make of it, the pipeline.
FAMILIES = [
    ("split-join", "exact rates and deep buffers: who is ready has a full batch, in any order",
     """pipeline main(in f32 x, out f32 y) {
         buffer f32 a; buffer f32 b; buffer f32 c; buffer f32 d;
         split(x -> a, b); a -> one cost 40 -> c; b -> one cost 40 -> d; two(c, d -> y);
     }"""),
    ("feedback", "a circle lets through what it holds: each of its stages waits for the others, whoever is asked first",
     """pipeline main(in f32 x, out f32 y) {
         buffer f32 back init 512 x 0; buffer f32 a; buffer f32 b; buffer f32 c;
         two(x, back -> a) cost 20; split(a -> back, b) cost 20; b -> one cost 20 -> c; c -> one cost 20 -> y;
     }"""),
    ("filter", "who is first, or has a full in-port, fires as soon as its short output has room for a few: small batches; in "
     "turn the reader empties it before",
     """pipeline main(in f32 x, out f32 y) {
         buffer f32 a depth 256; buffer f32 b; buffer f32 c;
         x -> some cost 4 -> a; a -> one cost 10 -> b; b -> one cost 10 -> c; c -> one cost 10 -> y;
     }"""),
    ("routes", "the same with two short outputs, of which each holds up the other",
     """pipeline main(in f32 x, out f32 y, out f32 w) {
         buffer f32 a depth 512; buffer f32 b depth 512;
         route(x -> a, b) cost 4; a -> one cost 100 -> y; b -> one cost 10 -> w;
     }"""),
    ("rows", "a filter again, with deep buffers: as many launches under each, in another order",
     """pipeline main(in f32 x, out f32 y) {
         buffer f32 a; buffer f32 b; buffer f32 c;
         x -> some cost 4 -> a; a -> one cost 10 -> b; b -> row cost 300 -> c; c -> one cost 10 -> y;
     }"""),
    ("rare", "one in ten packets goes the other way: in turn its reader is launched for a few of them each time, by fullness for more",
     """pipeline main(in f32 x, out f32 y, out f32 w) {
         buffer f32 r depth 512; buffer f32 a depth 8192; buffer f32 b depth 8192;
         x -> one cost 4 -> r; route(r -> a, b) cost 4; a -> one cost 10 -> y; b -> one cost 10 -> w;
     }"""),
]

# Random graphs of auto.py, each with why.
DRAWN = [
    (29, "a source for two branches that meet again: who holds most is behind, and is asked first"),
    (1018, "a source, a loop and side branches: upstream first, so those downstream have larger batches"),
]

PACKETS = 200000
TIE = 0.002  # of the cycles


def subject(name, text, cus):
    program = name + ".pipe"
    with open(program, "w") as file:
        file.write(KERNELS + text + "\n")
    outputs = ["y", "w"] if "out f32 w)" in text.split("{")[0] else ["y"]
    return Subject(name, program, cus, ["x=gen:noise:3:%d" % PACKETS], outputs)


def launches(result):
    return sum(stage["dispatches"] for stage in result.stats["stages"])


def winner(cycles):
    best = min(cycles.values())
    first = [name for name, count in cycles.items() if count <= best * (1 + TIE)]
    return "tie" if len(first) == len(cycles) else " ".join(first)


def row(name, program):
    ways = [("sequence", policy) for policy in POLICIES + ["auto"]]
    results = plans.measure(".", program, ways)
    by_policy = {policy: results["sequence", policy] for policy in POLICIES}
    auto = results["sequence", "auto"]
    cycles = {policy: result.cycles for policy, result in by_policy.items()}
    print("%-11s" % name + "".join("%12d" % cycles[policy] for policy in POLICIES) + "%12d" % auto.cycles +
          " %-8s" % ("static" if auto.is_static else "guarded") +
          "".join("%7d" % launches(by_policy[policy]) for policy in POLICIES) + "%7d" % launches(auto) +
          "  " + winner(cycles), flush=True)


def main():
    cus = int(os.environ.get("CUS") or 16)
    folder = os.path.join(plans.BUILD, "bench/policies")
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    print("in sequence on %d compute units, %d packets; cycles, and launches" % (cus, PACKETS))
    print("%-11s" % "" + "".join("%12s" % policy for policy in POLICIES + ["auto"]) + " %-8s" % "" +
          "".join("%7s" % policy for policy in ("in turn", "prior.", "full.", "auto")) + "  winner")
    for name, _, text in FAMILIES:
        row(name, subject(name, text, cus))
    auto.draw_graphs([seed for seed, _ in DRAWN])
    for seed, _ in DRAWN:
        row("seed %d" % seed, auto.drawn(seed, cus))
    print()
    for name, why in [family[:2] for family in FAMILIES] + [("seed %d" % seed, why) for seed, why in DRAWN]:
        print("%-11s %s" % (name, why))
    print("\nwinner: of the three policies, those within %g %% of the fastest; outputs are the same bytes." % (100 * TIE))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, subprocess.SubprocessError) as problem:
        sys.exit("bench: %s" % problem)
