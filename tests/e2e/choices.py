#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""choices.py PIPEC DEVICE,... [FILE...]: what pipec chooses against the best of all layouts and policies, in whole runs.

Each program gets a device, the devices in turn; LONG=1: every device.  It is planned without options, and with every layout under
every policy.  Each plan plays a run of about FIRINGS firings (`pipec inspect --predict`).  The loss is the share of cycles that the
plan without options takes more than the best.  Prints the losses of more than LIMIT percent, largest first, and last their
distribution.  Environment: JOBS, FIRINGS (default 1000000), LIMIT (3), WORST (how many are printed; default 20), WAYS=1: all figures.
"""
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

LAYOUTS = ["sequence", "groups", "side-by-side"]
POLICIES = ["auto", "round_robin", "priority", "fullest"]
FIRINGS = int(os.environ.get("FIRINGS") or 1000000)
LIMIT = float(os.environ.get("LIMIT") or 3)
WITHIN = (0, 1, 3, 10, 25)


def call(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.stdout if done.returncode == 0 else None


def packets_each(rate, firings):
    """Of so many firings that pop: a number, or one for each phase."""
    return sum(rate) * firings // len(rate) if isinstance(rate, list) else rate * firings


def extent_of(pipec, device, options, path):
    """The argument of --predict for a run of about FIRINGS firings; None: the program is not for this device, or has no in-port
    and no source, or sources of different pace.  As --firings ends these at different times, the work of a run depends on the plan.
    Packets are whole frames."""
    text = call([pipec, "inspect", "--json", "--no-fuse", "--device", device, *options, path])
    if text is None:
        return None
    found = json.loads(text)
    firings = sum(node["repetitions"] or 1 for node in found["nodes"])
    rounds = max(FIRINGS // firings, 1)
    ports, sources = {}, []
    outer = {buffer["name"]: buffer for buffer in found["buffers"] if buffer["writer"] is None}
    for node in found["nodes"]:
        if not node["inputs"]:
            sources.append((node["repetitions"] or 1) * rounds)
        for end in node["inputs"]:
            if end["buffer"] not in outer:
                continue
            port = outer[end["buffer"]]
            shape = (port.get("row_packets") or 1) * (port.get("rows") or 1)
            count = packets_each(end["pop"], (node["repetitions"] or 1) * rounds)
            ports[end["buffer"]] = max(ports.get(end["buffer"], 0), -(-count // shape) * shape)
    if not ports and not sources or len(set(sources)) > 1:
        return None
    return ",".join([str(min(sources) if sources else 1)] + ["%s=%d" % item for item in ports.items()])


def cycles_of(pipec, device, options, path, extent, way):
    text = call([pipec, "inspect", "--json", "--device", device, "--predict=" + extent, *way, *options, path])
    return json.loads(text)["cycles"] if text else None


def measure(task):
    pipec, device, path, options = task
    extent = extent_of(pipec, device, options, path)
    auto = cycles_of(pipec, device, options, path, extent, []) if extent else None
    if auto is None:
        return None
    best, best_way, figures = auto, "auto", []
    for layout in LAYOUTS:
        for policy in POLICIES:
            way = ["--layout=" + layout, "--policy=" + policy]
            cycles = cycles_of(pipec, device, options, path, extent, way)
            figures.append("%s/%s %s" % (layout, policy, cycles))
            if cycles is not None and cycles < best:
                best, best_way = cycles, layout + ", " + policy
    return 100 * (auto / best - 1), device, path, auto, best, best_way, figures


def definitions_of(path):
    """The -D of the line `// run:` of the program."""
    with open(path) as source:
        lines = [line for line in source if line.startswith("// run:")]
    words = lines[0].split() if lines else []
    return sum((["-D", words[i + 1]] for i, word in enumerate(words[:-1]) if word == "-D"), [])


def main():
    pipec, devices, files = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
    tasks = []
    for i, path in enumerate(files):
        taken = devices if os.environ.get("LONG") else [devices[i % len(devices)]]
        tasks += [(pipec, device, path, definitions_of(path)) for device in taken]
    with ThreadPoolExecutor(max_workers=int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        cases = [case for case in pool.map(measure, tasks) if case]
    cases.sort(key=lambda case: -case[0])
    for loss, device, path, auto, best, way, figures in cases[: int(os.environ.get("WORST") or 20)]:
        if loss > LIMIT:
            print("%6.1f %%  %s on %s: %d cycles, %d with %s" % (loss, os.path.basename(path), device, auto, best, way))
            if os.environ.get("WAYS"):
                print("          " + "; ".join(figures))
    losses = [case[0] for case in cases]
    shares = ["%d within %d %%" % (sum(loss <= within for loss in losses), within) for within in WITHIN]
    print("%d cases: %s, worst %.1f %%" % (len(losses), ", ".join(shares), max(losses, default=0)))
    return 0


sys.exit(main())
