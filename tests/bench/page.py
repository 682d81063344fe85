#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The figures of docs/performance.md are those of one run of `make bench`, kept in docs/bench.

  page.py run [PART...]   runs these parts of the benchmark (default: all) and keeps what they print in
                          docs/bench/PART.txt, the figures of `host` in docs/bench/host.json as well
  page.py fill            puts the kept figures into the page
  page.py check           exit status 1, with what is wrong: the page is not what `fill` makes of it, a figure of its
                          text was not printed, or a row that misses its goal is not explained

On the page, `<!-- bench PART: BEGINNING -->` and `<!-- /bench -->` enclose what PART has printed from the line that
begins so to the next empty one, or all of it without a BEGINNING.  `<!--= WHERE KEY UNIT-->` and `<!--/-->` enclose a
figure of host.json: WHERE is the first word of a row (`W1`), `limits`, `growth:KERNELS:PACKETS`, or `W1:oneTBB` and
so on for a peer's, or `all`; UNIT is ms, us, ns, x, MiB, GB/s or G/s.  `run` is for a machine with nothing else to do: it takes
a quarter of an hour.  Environment of `run`: ROOT, BUILD, PIPEC, PIPERUN as make sets them.
"""
import difflib
import json
import os
import re
import subprocess
import sys

ROOT = os.environ.get("ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEPT = os.path.join(ROOT, "docs", "bench")
PAGE = os.path.join(ROOT, "docs", "performance.md")
EXPLAINED = "## Rows that miss their goal"  # the section that explains them, in items that begin with their names in bold
COLUMNS = {  # of ratios, the last ones of the table: the part of that section that explains a `!` there
    "ours/h1": "### With one thread",
    "ours/h2": "### With two threads",
    "peer/o2": "### With two threads",
    "o1/o2": "### With two threads",
}

# The environment of each part, besides ONLY.
PARTS = {
    "host": {},
    "profile": {},
    "programs": {"THREADS": "1"},
    "pairs": {},
    "startup": {},
    "latency": {},
    "compile": {},
    "scale": {"SIZES": "1000 10000 100000"},
    "index": {},
    "time": {},
    "policies": {},
    "auto": {"GRAPHS": "32"},
}

TABLES = ("host", "programs")  # parts whose table has goals

UNITS = {  # factor from what host.json has, digits
    "ms": (1e3, 2), "us": (1e6, 3), "ns": (1e9, 2), "x": (1, 2), "MiB": (1, 1), "GB/s": (1e-9, 1), "G/s": (1e-9, 0),
}

BLOCK = re.compile(r"<!-- bench (\w+)(?:: (.*?))? -->\n.*?<!-- /bench -->", re.S)
FIGURE = re.compile(r"<!--= (.+?) (\S+) (\S+?)-->.*?<!--/-->", re.S)
# A measured figure: a number and what it counts.
MEASURED = re.compile(r"(?<![\w.,-])(\d[\d,]*(?:\.\d+)?) ?(?:ms|us|ns|milliseconds|microseconds|nanoseconds|seconds|"
                      r"GB/s|Gflop/s|MiB|%|times|cycles)(?![\w/])")


class Wrong(Exception):
    pass


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def kept(part):
    try:
        return read(os.path.join(KEPT, part + ".txt"))
    except FileNotFoundError:
        raise Wrong("docs/bench/%s.txt is not there: tests/bench/page.py run %s" % (part, part)) from None


def run(parts):
    os.makedirs(KEPT, exist_ok=True)
    build = os.environ.get("BUILD") or os.path.join(ROOT, "build", "release")
    for part in parts:
        environment = dict(os.environ, **PARTS[part])
        environment.pop("ONLY", None)
        if part != "host":
            environment["ONLY"] = part
        said = subprocess.run([os.path.join(ROOT, "tests", "bench", "run.sh")], env=environment, check=True,
                              stdout=subprocess.PIPE, encoding="utf-8").stdout
        with open(os.path.join(KEPT, part + ".txt"), "w", encoding="utf-8") as file:
            file.write(re.sub(r"[ \t]+$", "", said, flags=re.M))
    if "host" in parts:
        with open(os.path.join(KEPT, "host.json"), "w", encoding="utf-8") as file:
            file.write(read(os.path.join(build, "bench", "host.json")))


def section(part, beginning):
    """What the part has printed, or the lines from the one that begins so."""
    lines = kept(part).rstrip("\n").split("\n")
    if beginning:
        first = next((i for i, line in enumerate(lines) if line.startswith(beginning)), None)
        if first is None:
            raise Wrong("docs/bench/%s.txt has no line that begins with '%s'" % (part, beginning))
        lines = lines[first:]
        if "" in lines:
            lines = lines[:lines.index("")]
    return "```\n%s\n```" % "\n".join(line.rstrip() for line in lines)


def record(host, where):
    """The object of host.json that WHERE names."""
    if where == "limits":
        return {"%s.%d" % (key, i): value for key, values in host["limits"].items() if isinstance(values, list)
                for i, value in enumerate(values)} | host["limits"]
    if where == "all":
        return host
    if where.startswith("growth:"):
        _, kernels, packets = where.split(":")
        return next((row for row in host["growth"]
                     if row["kernels"] == int(kernels) and row["packets"] == int(packets)), None)
    word, _, peer = where.partition(":")
    row = next((row for row in host["rows"] if row["name"].split()[0] == word), None)
    if row is None or not peer:
        return row
    return next((other for other in row["peers"] if other["name"].replace(" ", "") == peer), None)


def figure(host, where, key, unit):
    found = record(host, where)
    if found is None or key not in found or unit not in UNITS:
        raise Wrong("host.json has no '%s %s', or there is no unit '%s'" % (where, key, unit))
    factor, digits = UNITS[unit]
    return "%.*f" % (digits, found[key] * factor)


def filled(page):
    host = json.loads(read(os.path.join(KEPT, "host.json")))
    page = BLOCK.sub(lambda m: "<!-- bench %s%s -->\n%s\n<!-- /bench -->" % (
        m[1], ": " + m[2] if m[2] else "", section(m[1], m[2])), page)
    return FIGURE.sub(lambda m: "<!--= %s %s %s-->%s<!--/-->" % (
        m[1], m[2], m[3], figure(host, m[1], m[2], m[3])), page)


def numbers_of(text):
    return {number.replace(",", "") for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}


def unprinted(page):
    """Measured figures of the text that nothing has printed."""
    text = BLOCK.sub("", page)
    text = FIGURE.sub("", text)
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    printed = set()
    for part in PARTS:
        printed |= numbers_of(kept(part))
    return [m[0] for m in MEASURED.finditer(text) if m[1].replace(",", "") not in printed]


def explained(page, part):
    """The rows that items of this part of the section begin with: `- **W1, W2:** ...`."""
    _, _, section_text = BLOCK.sub("", page).partition("\n%s\n" % EXPLAINED)
    _, _, text = section_text.partition("\n## ")[0].partition("\n%s\n" % part)
    items = re.findall(r"^- \*\*(.+?):\*\*\s+\S", text.partition("\n### ")[0], flags=re.M)
    return {word for item in items for word in item.split(", ")}


def unexplained(page, measured):
    """A `!` in the table of the part `measured`, as row and column, that no item explains."""
    header, *rows = section(measured, "milliseconds").strip("`\n").split("\n")
    if header.split()[-len(COLUMNS):] != list(COLUMNS):
        raise Wrong("docs/bench/%s.txt: the table does not end with the columns %s" % (measured, ", ".join(COLUMNS)))
    known = {part: explained(page, part) for part in COLUMNS.values()}
    missed = []
    for row in rows:
        ratios = dict(zip(COLUMNS, row.split()[-len(COLUMNS):]))
        missed += [(row.split()[0], column) for column, ratio in ratios.items() if ratio.endswith("!")]
    return [(word, column) for word, column in missed if word not in known[COLUMNS[column]]]


def check(page):
    wrong = list(difflib.unified_diff(page.split("\n"), filled(page).split("\n"), "docs/performance.md",
                                      "tests/bench/page.py fill", lineterm=""))
    wrong += ["not printed by make bench: " + text for text in unprinted(page)]
    wrong += ["%s misses its goal of %s, and no item of '%s' says why" % (word, column, COLUMNS[column])
              for part in TABLES for word, column in unexplained(page, part)]
    return wrong


def main(arguments):
    command = arguments[0] if arguments else ""
    if command == "run" and all(part in PARTS for part in arguments[1:]):
        run(arguments[1:] or list(PARTS))
    elif command == "fill" and len(arguments) == 1:
        page = filled(read(PAGE))
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)
    elif command == "check" and len(arguments) == 1:
        wrong = check(read(PAGE))
        print("\n".join(wrong), end="\n" if wrong else "")
        return 1 if wrong else 0
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Wrong as problem:
        print("page.py: %s" % problem, file=sys.stderr)
        sys.exit(1)
