# SPDX-License-Identifier: MIT
"""Checks a timeline (piperun --trace) against itself and against the statistics of the same run.

usage: timeline.py TRACE.json STATS.json
"""
import json
import sys
from bisect import bisect_right
from collections import defaultdict
from decimal import Decimal

failures = []


def check(good, text):
    if not good:
        failures.append(text)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=Decimal)


def span(event):
    args = event["args"]
    return args["begin_cycles"], args["end_cycles"]


def slices_nest(events):
    """On every lane: in order of their begin, and each inside the one that is open or behind it."""
    lanes = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            lanes[event["pid"], event["tid"]].append(event)
    for lane, slices in lanes.items():
        open_ends, before = [], Decimal(-1)
        for event in slices:
            begin, end = event["ts"], event["ts"] + event["dur"]
            check(begin >= before, f"lane {lane}: {event['name']} at {begin} comes behind {before}")
            before = begin
            while open_ends and open_ends[-1] <= begin and open_ends[-1] < end:
                open_ends.pop()
            check(not open_ends or end <= open_ends[-1], f"lane {lane}: {event['name']} at {begin} does not nest")
            open_ends.append(end)
    return lanes


def arrows_have_both_ends(events):
    ends = {"s": {}, "f": {}}
    for event in events:
        if event["ph"] in ends:
            check(event["id"] not in ends[event["ph"]], f"arrow {event['id']} twice")
            ends[event["ph"]][event["id"]] = event
    check(ends["s"].keys() == ends["f"].keys(), "an arrow has one end")
    for key, begin in ends["s"].items():
        end = ends["f"].get(key, begin)
        check(begin["ts"] <= end["ts"], f"arrow {key} points back in time")
        check(begin["name"] == end["name"] and end["bp"] == "e", f"arrow {key}: its ends differ")
    return ends


def arrows_lie_in_launches(ends, launches):
    begins = {pid: [s["ts"] for s in slices] for pid, slices in launches.items()}
    for phase in ends.values():
        for event in phase.values():
            at = bisect_right(begins.get(event["pid"], []), event["ts"]) - 1
            found = launches[event["pid"]][at] if at >= 0 else None
            check(found and event["ts"] <= found["ts"] + found["dur"], f"arrow {event['id']}: its end at {event['ts']} is in no launch")


def levels_fit(events, stats):
    depth = {b["name"]: b["depth_packets"] for b in stats["buffers"]}
    highest, before = defaultdict(int), defaultdict(lambda: Decimal(-1))
    for event in events:
        if event["ph"] != "C":
            continue
        name, packets = event["name"], event["args"]["packets"]
        check(0 <= packets <= depth[name], f"counter {name}: {packets} of {depth[name]}")
        check(event["ts"] > before[name], f"counter {name}: two values at {event['ts']}")
        before[name] = event["ts"]
        highest[name] = max(highest[name], packets)
    return highest


def stage_of(event):
    return event["name"].split(" (")[0]


def pieces_follow_each_other(launches):
    """A launch that was interrupted goes on, and a piece says so in its name and in its arguments."""
    for slices in launches.values():
        open_launch = None
        for event in slices:
            args = event["args"]
            resumed, interrupted = args.get("resumed", False), args.get("interrupted", False)
            words = [word for word, there in (("goes on", resumed), ("interrupted", interrupted)) if there]
            name = stage_of(event) + (f" ({', '.join(words)})" if words else "")
            check(event["name"] == name, f"a piece is called {event['name']}, not {name}")
            key = (stage_of(event), args["enqueued_cycles"])
            check(open_launch == (key if resumed else None), f"{event['name']} at {span(event)[0]} follows {open_launch}")
            open_launch = key if interrupted else None
        check(open_launch is None, f"{open_launch} never goes on")


def queues_take_turns(launches, stats):
    """On a compute unit nothing overlaps, whatever queue it comes from."""
    taken = defaultdict(list)
    for queue in stats["queues"]:
        for cu in range(queue["first_cu"], queue["first_cu"] + queue["cu_count"]):
            taken[cu] += [span(event) for event in launches[queue["queue"] + 3]]
    for cu, spans in taken.items():
        spans.sort()
        for (_, end), (begin, _) in zip(spans, spans[1:]):
            check(end <= begin, f"CU {cu}: one begins at {begin}, before another ends at {end}")


def parts(event):
    args = event["args"]
    return sum(args[key + "_cycles"] for key in ("launch", "switch", "index", "execute", "device_queue"))


def launches_add_up(events, stats):
    """Launches against stages and queues, compute units against their sums."""
    launches, units = defaultdict(list), defaultdict(int)
    firings, interruptions, executes, queues, latency, longest = (defaultdict(int) for _ in range(6))
    for event in events:
        if event["ph"] != "X" or event["pid"] < 3:
            continue
        if event["tid"] >= 2:
            begin, end = span(event)
            units[event["tid"] - 2] += end - begin
        elif "packet" in event.get("args", {}):
            begin, end = span(event)
            check(parts(event) == end - begin, f"{event['name']} at {begin}: its parts are not its time")
            check(event["args"]["enqueued_cycles"] <= begin, f"{event['name']} begins before it is enqueued")
            launches[event["pid"]].append(event)
            interruptions[stage_of(event)] += event["args"].get("interrupted", False)
            if not event["args"].get("interrupted", False):
                firings[stage_of(event)] += event["args"].get("firings", 0)
                latency[stage_of(event)] += end - event["args"]["enqueued_cycles"]
                longest[stage_of(event)] = max(longest[stage_of(event)], end - event["args"]["enqueued_cycles"])
            executes[stage_of(event)] += event["args"]["execute_cycles"]
            queues[event["pid"] - 3] += end - begin
    for stage in stats["stages"]:
        name = stage["name"]
        check(firings[name] == stage["firings"], f"{name}: {firings[name]} firings, {stage['firings']} in the statistics")
        check(executes[name] == stage["execute_cycles"], f"{name}: its execution in the trace is another")
        check(interruptions[name] == stage["interruptions"], f"{name}: {interruptions[name]} interruptions in the trace")
        check(latency[name] == stage["latency_cycles"], f"{name}: launches take {latency[name]} cycles in the trace")
        check(longest[name] == stage["latency_most_cycles"], f"{name}: a launch takes {longest[name]} cycles in the trace")
    for queue in stats["queues"]:
        check(queues[queue["queue"]] == queue["busy_cycles"], f"queue {queue['queue']}: busy for another time")
    for unit, cycles in enumerate(stats["cu_busy_cycles"]):
        check(units[unit] == cycles, f"CU {unit}: {units[unit]} cycles in the trace, {cycles} in the statistics")
    pieces_follow_each_other(launches)
    queues_take_turns(launches, stats)
    return launches


def stages_add_up(stats):
    total = stats["total_cycles"]
    for stage in stats["stages"]:
        parts_cycles = sum(stage[key + "_cycles"] for key in ("launch", "switch", "index", "execute", "device_queue"))
        stalls = sum(stage["stalls"].values())
        check(parts_cycles + stalls == total, f"{stage['name']}: {parts_cycles} + {stalls} is not {total}")
        for cause in ("packets", "room"):
            waits = sum(w["cycles"] for w in stage["waits"] if w["cause"] == cause)
            check(waits == stage["stalls"][cause], f"{stage['name']}: waits for {cause}")
        check(sum(stage["launches"].values()) == stage["dispatches"], f"{stage['name']}: launches by form")
    for output in stats["outputs"]:
        check(output["observed_most"] <= output["declared_most"], f"{output['stage']}: more than declared")
        check(output["packets"] <= output["observed_most"] * output["firings"], f"{output['stage']}: the mean is higher")


def main():
    trace, stats = load(sys.argv[1]), load(sys.argv[2])
    events, about = trace["traceEvents"], trace["otherData"]
    counted = [event for event in events if event["ph"] != "M"]
    check(about["events"] == len(counted), "the number of events is wrong")
    slices_nest(events)
    ends = arrows_have_both_ends(events)
    highest = levels_fit(events, stats)
    stages_add_up(stats)
    if about["omitted_events"] == 0:
        check(about["complete_cycles"] == about["total_cycles"] == stats["total_cycles"], "the totals differ")
        arrows_lie_in_launches(ends, launches_add_up(events, stats))
        for buffer in stats["buffers"]:
            check(highest[buffer["name"]] <= buffer["high_water_packets"], f"{buffer['name']}: above its high-water mark")
    for text in failures[:10]:
        print(text)
    sys.exit(1 if failures else 0)


main()
