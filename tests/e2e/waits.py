# SPDX-License-Identifier: MIT
"""How long launches of a stage waited for their compute units, from a timeline (piperun --trace).

usage: waits.py TRACE.json STAGE least|most COMPARISON CYCLES
"""
import json
import operator
import sys

COMPARISONS = {"le": operator.le, "ge": operator.ge, "eq": operator.eq}


def main():
    path, stage, which, comparison, cycles = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    waits = [
        event["args"]["begin_cycles"] - event["args"]["enqueued_cycles"]
        for event in events
        if event["ph"] == "X" and event["name"].split(" (")[0] == stage and "packet" in event.get("args", {})
        and not event["args"].get("resumed", False)
    ]
    if not waits:
        sys.exit(f"'{stage}' has no launch")
    found = (min if which == "least" else max)(waits)
    if not COMPARISONS[comparison](found, int(cycles)):
        sys.exit(f"'{stage}' waited {found} cycles, {comparison} {cycles} was expected")


main()
