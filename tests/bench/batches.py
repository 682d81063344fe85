# SPDX-License-Identifier: MIT
"""The part "batches" of `make bench`: the cycles of whole runs as two compilers plan them, by `pipec inspect --predict`.

  OLD=/path/to/another/pipec ONLY=batches make bench

Each program of tests/lang, examples and tests/bench/pipes is planned by OLD and by PIPEC for each device.  Compared are runs
of the program's own inputs (short; those of `// run:`, 40 packets if it has none), of PACKETS packets (default 1000), and of
LONG packets (default 4194304).  It prints the geometric mean of new / old for each, how many are slower or faster by
more than a hundredth, and the worst and best WORST (default 5).

Environment: that of plans.py; OLD, DEVICES (default "sim1 sim4 sim16 sim-h100"), PACKETS, LONG, WORST; OPTIONS, of both compilers;
PROGRAMS, paths (default: all).
"""

import glob
import json
import math
import os
import re
import subprocess
import sys

import plans

TIME_LIMIT_S = 60


def run_words(path):
    with open(path) as source:
        line = re.search(r"^// run:(.*)$", source.read(), re.M)
    return line.group(1).split() if line else []


def count_of(text):
    """Packets of an input as `// run:` names it; None: not said."""
    generated = re.match(r"gen:[a-z]+(?::-?\d+)*?:(\d+)$", text)
    if generated:
        return int(generated.group(1))
    values = re.match(r"[a-z]+[0-9]+:(.*)$", text)
    if not values:
        return None
    count = 0
    for item in values.group(1).split(","):
        ends = re.match(r"(-?\d+)\.\.(-?\d+)$", item)
        count += abs(int(ends.group(2)) - int(ends.group(1))) + 1 if ends else 1
    return count


def own_extent(path):
    """(definitions, text for --predict) of the program's own input."""
    words, definitions, ports = run_words(path), [], []
    for i, word in enumerate(words):
        if words[i - 1:i] == ["-D"]:
            definitions += ["-D", word]
        name, equals, value = word.partition("=")
        if equals and count_of(value) is not None:
            ports.append("%s=%d" % (name, count_of(value)))
    return definitions, ",".join(["40"] + ports)


def predict(pipec, device, path, definitions, extent):
    """Cycles, or None: there is no prediction."""
    words = [pipec, "inspect", "--json", "--device=" + device, "--predict=" + extent, path]
    words += definitions + os.environ.get("OPTIONS", "").split()
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout)["cycles"] if done.returncode == 0 else None


def compare(case):
    """[new / old of each extent], None where a figure is missing."""
    device, path = case
    definitions, own = own_extent(path)
    ratios = []
    for extent in own, os.environ.get("PACKETS") or "1000", os.environ.get("LONG") or "4194304":
        found = [predict(pipec, device, path, definitions, extent) for pipec in (os.environ["OLD"], plans.PIPEC)]
        if found[0] is None and own == extent: # that port does not exist, or the pipeline is not main
            found = [predict(pipec, device, path, definitions, "40") for pipec in (os.environ["OLD"], plans.PIPEC)]
        ratios.append(found[1] / found[0] if found[0] and found[1] else None)
    return ratios


def report(name, rows):
    rows = sorted(rows)
    if not rows:
        return
    mean = math.exp(sum(math.log(ratio) for ratio, _ in rows) / len(rows))
    slower, faster = sum(r > 1.01 for r, _ in rows), sum(r < 0.99 for r, _ in rows)
    print("%-10s %5d cases, geometric mean %.3f, %d slower, %d slower by a twentieth, %d faster"
          % (name, len(rows), mean, slower, sum(r > 1.05 for r, _ in rows), faster))
    worst = int(os.environ.get("WORST") or 5)
    for ratio, (device, path) in (rows[-worst:][::-1] + rows[:worst]):
        print("    %7.3f  %s on %s" % (ratio, os.path.basename(path), device))


def main():
    if not os.environ.get("OLD"):
        sys.exit("bench: OLD, the other pipec, is not set")
    programs = os.environ.get("PROGRAMS", "").split()
    for pattern in () if programs else ("tests/lang/*.pipe", "examples/*/*.pipe", "tests/bench/pipes/*.pipe"):
        programs += sorted(glob.glob(os.path.join(plans.ROOT, pattern)))
    devices = (os.environ.get("DEVICES") or "sim1 sim4 sim16 sim-h100").split()
    cases = [(device, path) for path in programs for device in devices]
    ratios = plans.in_parallel(compare, cases)
    for i, name in enumerate(("own input", "packets", "long")):
        report(name, [(ratio[i], case) for ratio, case in zip(ratios, cases)
                      if not isinstance(ratio, Exception) and ratio[i] is not None])


if __name__ == "__main__":
    main()
