# SPDX-License-Identifier: MIT
"""Makes a failing program smaller: whole nodes, then blocks and lines, then parts of expressions.

A candidate need not be well-formed: one that pipec refuses does not fail as the program does, and is not taken.
"""
import re

NET = re.compile(r"^    (\w+)\(([^()]*?)->([^();]*)((?:;[^()]*(?:\([^()]*\))*[^()]*)?)\)([^;]*);$")
CHAIN = re.compile(r"^    \w+(?: -> [^;]+)+;$")
HEAD = re.compile(r"^pipeline main\((.*?)((?:;[^)]*)?)\)([^)]*)\{$")


def names(text):
    return [n.strip() for n in text.split(",") if n.strip()]


class Text:
    """A drawn program, taken apart into the head of its pipeline and its lines."""

    def __init__(self, text):
        self.lines = text.splitlines()
        self.at = next(i for i, l in enumerate(self.lines) if HEAD.match(l))
        ports, self.rest, self.after = HEAD.match(self.lines[self.at]).groups()
        self.ports = names(ports)

    def joined(self, lines, ports):
        copy = list(lines)
        at = next(i for i, l in enumerate(copy) if HEAD.match(l))
        copy[at] = f"pipeline main({', '.join(ports)}{self.rest}){self.after}{{"
        return "\n".join(copy) + "\n"


def ends(line):
    """(buffers read, buffers written) of a net, or None."""
    net = NET.match(line)
    if net:
        return names(net.group(2)), names(net.group(3))
    if CHAIN.match(line):
        parts = [p.strip() for p in line.strip().rstrip(";").split(" -> ")]
        return [parts[0]], [parts[-1]]
    return None


def without_nodes(text):
    """Candidates that lack one node: what it wrote comes from outside, what it alone read goes there."""
    whole = Text(text)
    nets = [(i, ends(l)) for i, l in enumerate(whole.lines) if i > whole.at and ends(l)]
    for i, (reads, writes) in nets:
        others = [e for k, e in nets if k != i]
        lines = [l for k, l in enumerate(whole.lines) if k != i]
        ports, drop = list(whole.ports), set()
        for name in writes:
            ports = [p for p in ports if p.split()[2] != name]
            declared = next((l for l in lines if re.match(rf"^    buffer (\S+) {name}( init [^;]*)?;$", l)), None)
            if declared and any(name in r for r, _ in others):
                ports.insert(0, f"in {declared.split()[1]} {name}")
            drop.add(declared)
        for name in reads:
            if any(name in r for r, _ in others):
                continue
            ports = [p for p in ports if not (p.startswith("in ") and p.split()[2] == name)]
            declared = next((l for l in lines if re.match(rf"^    buffer (\S+) {name}( init [^;]*)?;$", l)), None)
            if declared and name not in writes:
                ports.append(f"out {declared.split()[1]} {name}")
            drop.add(declared)
        yield whole.joined([l for l in lines if l not in drop], ports)


def shorter_chains(text):
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if not CHAIN.match(line):
            continue
        parts = line.strip().rstrip(";").split(" -> ")
        for k in range(1, len(parts) - 1):
            if len(parts) > 3:
                shorter = "    " + " -> ".join(parts[:k] + parts[k + 1:]) + ";"
                yield "\n".join(lines[:i] + [shorter] + lines[i + 1:]) + "\n"


def without_blocks(text):
    """Candidates that lack one bracketed block, or keep only what is inside."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if not line.rstrip().endswith("{") or line.startswith("pipeline main"):
            continue
        depth = 0
        for k in range(i, len(lines)):
            depth += lines[k].count("{") - lines[k].count("}")
            if depth <= 0:
                break
        yield "\n".join(lines[:i] + lines[k + 1:]) + "\n"
        yield "\n".join(lines[:i] + lines[i + 1:k] + lines[k + 1:]) + "\n"


def without_lines(text):
    lines = text.splitlines()
    for size in (8, 4, 2, 1):
        for i in range(0, len(lines), size):
            yield "\n".join(lines[:i] + lines[i + size:]) + "\n"


def simpler_line(line):
    """The line with one expression in brackets replaced by a part of it."""
    stack, pairs = [], []
    for i, c in enumerate(line):
        if c == "(":
            stack.append(i)
        elif c == ")" and stack:
            pairs.append((stack.pop(), i))
    for begin, end in sorted(pairs, key=lambda p: p[0] - p[1]):
        inside, depth, cuts = line[begin + 1:end], 0, []
        for i, c in enumerate(inside):
            depth += (c in "([") - (c in ")]")
            if depth == 0 and c in " ,":
                cuts.append(i)
        pieces = [inside[a:b].strip(" ,") for a, b in zip([0] + cuts, cuts + [len(inside)])]
        for piece in pieces:
            if len(piece) > 2 or piece.isalnum():
                yield line[:begin] + piece + line[end + 1:]
                yield re.sub(r"\w+$", "", line[:begin]) + piece + line[end + 1:]


def simpler_expressions(text):
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if i and "(" in line and not line.startswith("pipeline"):
            for other in simpler_line(line):
                if len(other) < len(line):
                    yield "\n".join(lines[:i] + [other] + lines[i + 1:]) + "\n"


def shrink(text, fails, budget):
    """The smallest program found that still `fails`; at most `budget` are tried."""
    tries, changed = 0, True
    while changed:
        changed = False
        for candidates in (without_nodes, shorter_chains, without_blocks, without_lines, simpler_expressions):
            again = True
            while again:
                again = False
                for candidate in candidates(text):
                    if candidate == text or not re.search(r"^pipeline main\(", candidate, re.M):
                        continue
                    tries += 1
                    if tries > budget:
                        return text
                    if fails(candidate):
                        text, again, changed = candidate, True, True
                        break
    return text
