#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""predictions.py PIPEC PIPERUN DEVICE,... FILE...: compares `pipec inspect --predict` with runs on the simulated devices.

A program is compared if pipec assumes nothing about its data: then both have the same cycles and dispatches.  Of several
devices every fourth program takes one, in turn; LONG=1 takes all of both.  Prints each difference, and last the number of comparisons.
"""
import json
import os
import re
import subprocess
import sys

PACKETS = 3000


def call(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def definitions_of(path):
    """The -D of the line `// run:` of the program."""
    with open(path) as source:
        line = re.search(r"^// run:(.*)$", source.read(), re.M)
    words = line.group(1).split() if line else []
    return sum((["-D", words[i + 1]] for i, word in enumerate(words) if word == "-D"), [])


def packets_of(port):
    """Some whole frames or rows where packets have a shape."""
    row = port["row_packets"] or 1
    frame = row * (port["frame_rows"] or 1)
    return max(3, PACKETS // frame) * frame


def compile_program(pipec, device, path):
    """(inspection of the container, options for pipec, options for piperun), or None: the program is refused."""
    definitions = definitions_of(path)
    for mine, theirs in ([], definitions), (definitions, []):
        done = call(pipec, "--device=" + device, "-O0", path, "-o", "program.pbc", *mine)
        if done.returncode == 0:
            return json.loads(call(pipec, "inspect", "--json", "program.pbc").stdout), mine, theirs
    return None


def run_program(piperun, buffers, options):
    """What --stats says, or None: the run fails."""
    ports = []
    for buffer in buffers:
        if buffer["writer"] is None:
            with open(buffer["name"] + ".raw", "wb") as packets:
                packets.truncate(packets_of(buffer) * buffer["width_bytes"])
            ports.append("%s=%s.raw,raw" % (buffer["name"], buffer["name"]))
        elif not buffer["readers"]:
            ports.append(buffer["name"] + "=null")
    done = call(piperun, "program.pbc", *ports, "--firings", str(PACKETS), "--stats=json:stats.json", *options)
    if done.returncode != 0:
        return None
    with open("stats.json") as stats:
        return json.load(stats)


def compare(pipec, piperun, device, path):
    """1: compared; 0: not.  A difference is printed."""
    quick = call(pipec, "inspect", "--predict=1", "--json", "--device=" + device, path, *definitions_of(path))
    if quick.returncode == 0 and json.loads(quick.stdout)["assumptions"]:
        return 0
    compiled = compile_program(pipec, device, path)
    if compiled is None:
        return 0
    inspection, mine, theirs = compiled
    stats = run_program(piperun, inspection["buffers"], theirs)
    if stats is None:
        return 0
    extent = ",".join([str(PACKETS)] + ["%s=%d" % (b["name"], packets_of(b)) for b in inspection["buffers"] if b["writer"] is None])
    said = call(pipec, "inspect", "--predict=" + extent, "--json", "--device=" + device, path, *mine)
    found = json.loads(said.stdout) if said.returncode == 0 else {"cycles": said.stderr, "dispatches": None, "assumptions": []}
    if found["assumptions"]:
        return 0
    if (found["cycles"], found["dispatches"]) != (stats["total_cycles"], stats["dispatches"]):
        print("%s on %s: predicted %s cycles, %s dispatches; the run has %d, %d" % (
            path, device, found["cycles"], found["dispatches"], stats["total_cycles"], stats["dispatches"]))
    return 1


def main():
    pipec, piperun, devices, paths = sys.argv[1], sys.argv[2], sys.argv[3].split(","), sys.argv[4:]
    whole = os.environ.get("LONG")
    compared = 0
    for i, path in enumerate(paths if whole else paths[::4]):
        for device in devices if whole else [devices[i % len(devices)]]:
            compared += compare(pipec, piperun, device, path)
    print(compared)


main()
