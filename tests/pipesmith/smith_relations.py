# SPDX-License-Identifier: MIT
"""Changes of a program that leave its outputs as they are: each relation takes the text and a generator of random
numbers, and gives another text, or None where it finds nothing to change."""
import re

from smith_shrink import CHAIN, HEAD, NET, ends, names

BUFFER = re.compile(r"^    buffer (\S+) (\w+);$")


def parts(text):
    """(items before the pipeline main, its head, its lines): each item is the text of a declaration."""
    items, at, lines = [], [], text.splitlines()
    main = next(i for i, line in enumerate(lines) if HEAD.match(line))
    depth = 0
    for line in lines[:main]:
        at.append(line)
        depth += line.count("{") - line.count("}")
        if depth == 0:
            items.append("\n".join(at))
            at = []
    return items, lines[main], lines[main + 1:-1]


def joined(items, head, lines):
    return "\n".join(items + [head] + lines + ["}"]) + "\n"


def renamed(text, rng):
    """Every kernel, function, structure, inner pipeline and inner buffer has another name."""
    declared = re.findall(r"^(?:child )?(?:kernel|struct) (\w+)", text, re.M)
    declared += re.findall(r"^fn \S+ (\w+)", text, re.M) + re.findall(r"^pipeline (?!main\b)(\w+)", text, re.M)
    declared += re.findall(r"^    buffer \S+ (\w+)", text, re.M)
    order = {name: f"{rng.choice('zqm')}_{name}_{i}" for i, name in enumerate(declared)}
    return re.sub(r"\w+", lambda word: order.get(word.group(0), word.group(0)), text)


def reordered(text, rng):
    """Declarations and nets stand in another order."""
    items, head, lines = parts(text)
    nets = [line for line in lines if not line.startswith("    buffer ")]
    buffers = [line for line in lines if line.startswith("    buffer ")]
    for some in (items, nets, buffers):
        rng.shuffle(some)
    return joined(items, head, buffers + nets)


def with_identity(text, rng):
    """A kernel that copies stands behind the writer of a buffer."""
    items, head, lines = parts(text)
    found = [BUFFER.match(line).groups() for line in lines if BUFFER.match(line)]
    rng.shuffle(found)
    for kind, name in found:
        for i, line in enumerate(lines):
            if line.startswith("    for ") or not ends(line) or name not in ends(line)[1]:
                continue
            before = f"{name}_before"
            if CHAIN.match(line):
                lines[i] = line[:-len(f"{name};")] + f"{before};"
            else:
                kernel, reads, writes, behind, attributes = NET.match(line).groups()
                writes = ", ".join(before if w == name else w for w in names(writes))
                lines[i] = f"    {kernel}({reads.strip()} -> {writes}{behind}){attributes};"
            copy = f"kernel same_{name}(in {kind} x, out {kind} y) {{\n    y <- x[0];\n}}"
            return joined(items + [copy], head, [f"    buffer {kind} {before};"] + lines
                          + [f"    {before} -> same_{name} -> {name};"])
    return None


def one_output(kernel, name, kept, ports):
    """The kernel's text under another name, with one of its out-ports alone."""
    head, body = kernel.split("\n", 1)
    inner = head[head.index("(") + 1:head.rindex(")")]
    declared, _, arguments = inner.partition(";")
    chosen = []
    for port in re.split(r", (?=(?:in|out) )", declared):
        if port.startswith("in ") or port.split()[2] == kept:
            chosen.append(port)
    for port in ports:
        if port != kept:
            body = re.sub(rf"\b{port}(?:\[\w+\])? (?:<-|=) [^;]*;", ";", body)
    arguments = f";{arguments}" if arguments else ""
    return f"kernel {name}({', '.join(chosen)}{arguments}{head[head.rindex(')'):]}\n{body}"


def split(text, rng):
    """Instead of a kernel with several out-ports there is one for each of them, with the same inputs."""
    items, head, lines = parts(text)
    candidates = [i for i, line in enumerate(lines) if NET.match(line) and len(names(NET.match(line).group(3))) > 1]
    rng.shuffle(candidates)
    for i in candidates:
        kernel, reads, writes, behind, attributes = NET.match(lines[i]).groups()
        whole = next((item for item in items if item.startswith(f"kernel {kernel}(")), None)
        if not whole or "[" in reads + writes:
            continue
        ports = re.findall(r"out \S+ (\w+)", whole.split("\n", 1)[0])
        nets = []
        for port, stream in zip(ports, names(writes)):
            items.append(one_output(whole, f"{kernel}_{port}", port, ports))
            nets.append(f"    {kernel}_{port}({reads.strip()} -> {stream}{behind}){attributes};")
        return joined(items, head, lines[:i] + nets + lines[i + 1:])
    return None


def wrapped(text, rng):
    """A node stands in a pipeline of its own, which stands in another one."""
    items, head, lines = parts(text)
    kinds = {name: kind for kind, name in (BUFFER.match(line).groups() for line in lines if BUFFER.match(line))}
    kinds.update({p.split()[2]: p.split()[1] for p in names(HEAD.match(head).group(1))})
    candidates = [i for i, line in enumerate(lines) if NET.match(line)]
    rng.shuffle(candidates)
    for i in candidates:
        kernel, reads, writes, behind, attributes = NET.match(lines[i]).groups()
        reads, writes = names(reads), names(writes)
        if re.search(r"[a-z]", behind) or attributes or not all(s in kinds for s in reads + writes):
            continue
        if len(set(reads)) < len(reads) or " frame " in head:
            continue
        ports = ", ".join([f"in {kinds[s]} {s}" for s in reads] + [f"out {kinds[s]} {s}" for s in writes])
        bind = f"({', '.join(reads)} -> {', '.join(writes)}"
        items.append(f"pipeline inner_{kernel}({ports}) {{\n    {kernel}{bind}{behind});\n}}")
        items.append(f"pipeline outer_{kernel}({ports}) {{\n    inner_{kernel}{bind});\n}}")
        return joined(items, head, lines[:i] + [f"    outer_{kernel}{bind});"] + lines[i + 1:])
    return None


def deeper(text, rng):
    """Each buffer has room for far more packets."""
    items, head, lines = parts(text)
    if not any(BUFFER.match(line) for line in lines):
        return None
    depth = rng.choice([5000, 16384, 70001])
    return joined(items, head, [BUFFER.sub(rf"    buffer \1 \2 depth {depth};", line) for line in lines])


RELATIONS = {"renamed": renamed, "reordered": reordered, "identity": with_identity, "split": split,
             "wrapped": wrapped, "deeper": deeper}
