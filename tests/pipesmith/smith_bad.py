# SPDX-License-Identifier: MIT
"""Programs on the border of what is right, whose verdict the interpreter gives: rates that balance or not, circles with
enough initial packets or not, depths that suffice or not, declared numbers that a body keeps to or not, streams whose
rates vary and meet again or not; graphs of extreme sizes; and graphs of which several nodes fault in one iteration.

A verdict is one of VERDICTS: what the interpreter shows for inputs of so many whole iterations and of twice as many.
"""
import random
from math import gcd, lcm

# verdict: the rules that pipec may refuse the program by
VERDICTS = {
    "runs": set(),
    "starves": {"deadlock", "depth-too-small", "buffer-below-burst"},
    "grows": {"inconsistent-rates", "liveness-unproven"},
    "fault": {"rate-mismatch", "out-of-window", "out-of-range", "invalid-rate"},
}


class Border:
    """`text`; `rates`: the packets of each in-port in one iteration, (name, packets); `iterations` to run; `bounded`:
    declared depths decide; `label`: the verdict that it was drawn for, or None where the interpreter alone tells."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.items, self.lines, self.rates, self.bounded, self.label = [], [], [], False, None
        self.iterations, self.head = 8, ""
        self.kinds = [self.circle, self.depths, self.joins, self.varying, self.numbers, self.looks]
        self.name = self.kinds[seed % len(self.kinds)].__name__
        self.kinds[seed % len(self.kinds)]()
        self.text = "\n".join(self.items + [f"pipeline main({self.head}) {{"]
                              + ["    " + line for line in self.lines] + ["}"]) + "\n"

    def kernel(self, name, pops, push, peek_more=0):
        """Sums what it sees, and writes `push` different packets."""
        ports = ", ".join(f"in i32 x{i} pop {p} peek {p + peek_more}" for i, p in enumerate(pops))
        total = " + ".join(f"3 * x{i}[{p + peek_more - 1}]" for i, p in enumerate(pops))
        self.items.append(f"kernel {name}({ports}, out i32 y push {push}) {{\n    for (i32 i = 0; i < {push}; i++)\n"
                          f"        y <- {total} + i;\n}}")

    def counts(self, number):
        return [self.rng.choice([1, 1, 2, 2, 3, 4, 5, 6]) for _ in range(number)]

    def edge(self, writes, reads):
        """(push, pop) that fit firings an iteration."""
        whole = lcm(writes, reads) * self.rng.choice([1, 1, 1, 2])
        return whole // writes, whole // reads

    def circle(self):
        """Nodes in a circle, in all of whose buffers initial packets may lie: so many that it may or may not turn."""
        rng = self.rng
        firings = self.counts(rng.randint(2, 5))
        edges = [self.edge(a, b) for a, b in zip(firings, firings[1:] + firings[:1])]
        if rng.random() < 0.15:
            edges[-1] = (edges[-1][0] + 1, edges[-1][1])
        enough = sum(push + pop - gcd(push, pop) for push, pop in edges)
        ahead = rng.choice([0, 0, 1, 3])
        outer = rng.choice([1, 2])
        self.head, self.rates = "in i32 a, out i32 z", [("a", outer * firings[0])]
        self.iterations = 12
        for i, (push, pop) in enumerate(edges):
            before = edges[i - 1][1]
            self.kernel(f"k{i}", [outer, before] if i == 0 else [before], push, ahead if i == 1 else 0)
            initial = rng.choice([0, 0, 1, rng.randint(0, enough + ahead), push * firings[i]])
            self.lines.append(f"buffer i32 b{i}" + (f" init {initial} x 1;" if initial else ";"))
        last = len(edges) - 1
        for i in range(len(edges)):
            reads = f"a, b{last}" if i == 0 else f"b{i - 1}"
            self.lines.append(f"k{i}({reads} -> b{i});")
        self.items.append("kernel same(in i32 x, out i32 y) {\n    y <- x;\n}")
        self.lines.append(f"b{rng.randrange(len(edges))} -> same -> z;")

    def depths(self):
        """A stream that splits and meets again, with depths that may be too small on either way."""
        rng = self.rng
        firings = self.counts(4)
        self.head, self.rates, self.bounded = "in i32 a, out i32 z", [("a", firings[0])], True  # rates are declared
        (to_b, b_pop), (to_c, c_pop) = self.edge(firings[0], firings[1]), self.edge(firings[0], firings[2])
        (b_push, from_b), (c_push, from_c) = self.edge(firings[1], firings[3]), self.edge(firings[2], firings[3])
        self.items.append(f"kernel head(in i32 x, out i32 y push {to_b}, out i32 z push {to_c}) {{\n"
                          f"    for (i32 i = 0; i < {to_b}; i++)\n        y <- x + i;\n"
                          f"    for (i32 i = 0; i < {to_c}; i++)\n        z <- x - i;\n}}")
        self.kernel("left", [b_pop], b_push)
        ahead = rng.choice([0, 0, 0, 1, 2, 5])
        self.kernel("right", [c_pop], c_push, ahead)
        self.kernel("tail", [from_b, from_c], rng.choice([1, 2]))
        for name, push, pop, more in (("b", to_b, b_pop, 0), ("c", to_c, c_pop, ahead), ("d", b_push, from_b, 0),
                                      ("e", c_push, from_c, 0)):
            least = push + pop + more - gcd(push, pop)
            depth = max(1, rng.choice([least, least, least - 1, least + rng.randint(0, 4), least * firings[0] * 2]))
            self.lines.append(f"buffer i32 {name} depth {depth};")
        self.lines += ["head(a -> b, c);", "left(b -> d);", "right(c -> e);", "tail(d, e -> z);"]
        self.iterations = 12

    def joins(self):
        """Two ways that join, with rates that balance or do not."""
        rng = self.rng
        firings = self.counts(3)
        (push, left), (give, right) = self.edge(firings[0], firings[2]), self.edge(firings[1], firings[2])
        if rng.random() < 0.5:
            give += rng.choice([1, 1, 2])
            self.label = "grows"
        first, second = rng.randint(1, 3), rng.randint(1, 3)
        whole = lcm(first * firings[0], second * firings[1])
        scale = whole // (first * firings[0]), whole // (second * firings[1])
        self.kernel("one", [first * scale[0]], push)
        self.kernel("two", [second * scale[1]], give)
        self.kernel("both", [left, right], 1)
        self.head, self.rates = "in i32 a, out i32 z", [("a", whole)]
        self.lines = ["buffer i32 p, q;", "one(a -> p);", "two(a -> q);", "both(p, q -> z);"]

    def varying(self):
        """Two streams whose numbers depend on the data, in step or not, meet; or they do not meet."""
        rng = self.rng
        step, meet = rng.random() < 0.4, rng.random() < 0.7
        first, second = "x > 50", "x > 50" if step else "x > 1600000000"
        body = (f"    if ({first}) {{\n        y <- x;\n        z <- -x;\n    }}" if step else
                f"    if ({first})\n        y <- x;\n    if ({second})\n        z <- -x;")
        self.items.append(f"kernel part(in i32 x, out i32 y, out i32 z) {{\n{body}\n}}")
        self.lines = ["buffer i32 p, q;", "part(a -> p, q);"]
        if meet:
            self.kernel("both", [1, 1], 1)
            self.head = "in i32 a, out i32 z"
            self.lines.append("both(p, q -> z);")
        else:
            self.kernel("own", [rng.choice([1, 2])], 1)
            self.head = "in i32 a, out i32 y, out i32 z"
            self.lines += ["own(p -> y);", "own(q -> z);"]
        self.rates, self.label = [("a", 128)], "grows" if meet and not step else "runs"

    def numbers(self):
        """A body that appends as many packets as it declares, or others."""
        rng = self.rng
        made, pop = rng.randint(1, 6), rng.randint(1, 4)
        low, high = sorted((rng.randint(0, 7), rng.randint(1, 7)))
        exact = rng.random() < 0.5
        declared = f"push {high}" if exact else f"push {low}..{high}"
        right = made == high if exact else low <= made <= high
        self.items.append(f"kernel some(in i32 x pop {pop}, out i32 y {declared}) {{\n"
                          f"    for (i32 i = 0; i < {made}; i++)\n        y <- x[{pop - 1}] + i;\n}}")
        self.head, self.rates, self.lines = "in i32 a, out i32 z", [("a", pop)], ["some(a -> z);"]
        self.label = "runs" if right else "fault"

    def looks(self):
        """A body that looks as far as its window reaches, or further."""
        rng = self.rng
        pop, peek = rng.randint(1, 4), rng.randint(1, 8)
        peek = max(pop, peek)
        at = rng.choice([peek - 1, peek, rng.randint(0, 9)])
        self.items.append(f"kernel look(in i32 x pop {pop} peek {peek}, out i32 y) {{\n    y <- x[{at}];\n}}")
        self.head, self.rates, self.lines = "in i32 a, out i32 z", [("a", pop)], ["look(a -> z);"]
        self.label = "runs" if at < peek else "fault"


class Extreme:
    """A graph of an extreme size, drawn below `size`: a fan-out, a chain, pipelines in pipelines, rates, many ends."""

    def __init__(self, seed, size):
        rng = random.Random(seed)
        number = rng.randint(size // 2, size)
        add = "kernel add(in i32 x, out i32 y; i32 by) {\n    y <- x + by;\n}\n"
        style = seed % 5
        if style == 0:
            self.text = add + (
                f"kernel total(in i32 x[{number}], out i32 y) {{\n    i32 sum = 0;\n"
                f"    for (i32 p = 0; p < {number}; p++)\n        sum += x[p][0] * (p + 1);\n    y <- sum;\n}}\n"
                f"pipeline main(in i32 a, out i32 z) {{\n    buffer i32 b[{number}];\n"
                f"    for (int i = 0; i < {number}; i++) tap: add(a -> b[i]; i);\n    total(b -> z);\n}}\n")
        elif style == 1:
            number = max(2, number // 16)
            self.text = add + (
                f"pipeline main(in i32 a, out i32 z) {{\n    buffer i32 b[{number + 1}];\n    add(a -> b[0]; 1);\n"
                f"    for (int i = 0; i < {number}; i++) next: add(b[i] -> b[i + 1]; i);\n"
                f"    add(b[{number}] -> z; 2);\n}}\n")
        elif style == 2:
            levels = min(60, max(2, number // 64))
            inner = [f"pipeline p{i}(in i32 x, out i32 y) {{\n    x -> p{i - 1} -> add({i}) -> y;\n}}\n"
                     for i in range(1, levels)]
            self.text = (add + "pipeline p0(in i32 x, out i32 y) {\n    x -> add(7) -> y;\n}\n" + "".join(inner)
                         + f"pipeline main(in i32 a, out i32 z) {{\n    a -> p{levels - 1} -> z;\n}}\n")
        elif style == 4:
            rate = rng.choice(("1", "{1, 2}"))
            self.text = (
                f"kernel spread(in i32 x, out i32 y[{number}] push {rate}) {{\n"
                f"    for (i32 p = 0; p < {number}; p++) {{\n        y[p] <- x + p;\n"
                + ("        if (phase == 1)\n            y[p] <- x ^ p;\n" if rate != "1" else "")
                + f"    }}\n}}\nkernel gather(in i32 x[{number}], out i32 y) {{\n    i32 sum = 0;\n"
                f"    for (i32 p = 0; p < {number}; p++)\n        sum = sum * 31 + x[p][0];\n    y <- sum;\n}}\n"
                f"pipeline main(in i32 a, out i32 z) {{\n    buffer i32 b[{number}];\n    spread(a -> b);\n"
                f"    gather(b -> z);\n}}\n")
        else:
            pop, push = number * 16 + 1, rng.randint(1, number) * 8
            self.text = (
                f"kernel fold(in i32 x pop {pop}, out i32 y push {push}) {{\n"
                f"    for (i32 i = 0; i < {push}; i++)\n        y <- x[i % {pop}] * i;\n}}\n"
                f"kernel back(in i32 x pop {push}, out i32 y) {{\n    i32 sum = 0;\n"
                f"    for (i32 i = 0; i < {push}; i++)\n        sum = sum * 31 + x[i];\n    y <- sum;\n}}\n"
                f"pipeline main(in i32 a, out i32 z) {{\n    buffer i32 m;\n    fold(a -> m);\n"
                f"    back(m -> z);\n}}\n")
            number = pop
        packets = (3 * number + 5) if style == 3 else 9
        self.inputs = {"a": b"".join((i * 2654435761 % 2**31).to_bytes(4, "little") for i in range(packets))}


class Faulty:
    """A graph whose nodes divide by zero in a firing each, most of them in the same iteration; declared in any order.
    Every node writes at the rate at which it reads, or at another exact rate, so all but those of `some` are one
    exact part."""

    FIRINGS = 12  # packets of the in-port in an iteration

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.iteration = self.rng.randint(3, 40)
        streams, nets, read = [("x", self.FIRINGS, 0)], [], set()
        for i in range(self.rng.randint(3, 7)):
            source = self.rng.choice(streams[-3:])
            net, result = self.node(i, source, [s for s in streams if s[1:] == source[1:] and s != source], read)
            nets.append(net)
            streams.append((f"b{i}", *result))
        self.rng.shuffle(nets)
        inner = [name for name, *_ in streams[1:] if name in read]
        ports = ["in i32 x"] + [f"out i32 {name}" for name, *_ in streams[1:] if name not in read]
        self.text = (
            "kernel over<int P, int U>(in i32 x pop P, out i32 y push U; i32 at) {\n    state i32 n;\n"
            "    i32 q = 100 / (at - n++);\n    for (i32 i = 0; i < U; i++)\n        y <- x[0] + q + i;\n}\n"
            "kernel both(in i32 a, in i32 b, out i32 y; i32 at) {\n    state i32 n;\n"
            "    y <- a + b + 100 / (at - n++);\n}\n"
            "kernel some(in i32 x, out i32 y; i32 at) {\n    state i32 n;\n"
            "    if (x % 3 != 0)\n        y <- x / (at - n++);\n}\n"
            f"pipeline main({', '.join(ports)}) {{\n" + (f"    buffer i32 {', '.join(inner)};\n" if inner else "")
            + "".join(f"    {net}\n" for net in nets) + "}\n")
        packets = self.FIRINGS * (self.iteration + self.rng.choice([1, 2, 10, 200]))
        self.inputs = {"x": b"".join((i % 11 - 3).to_bytes(4, "little", signed=True) for i in range(packets))}

    def node(self, i, source, alike, read):
        """(net, (packets an iteration, part)) of a node that reads `source`, or it and another one of `alike`."""
        name, rate, part = source
        read.add(name)
        if alike and self.rng.random() < 0.3:
            other = self.rng.choice(alike)[0]
            read.add(other)
            return f"n{i}: both({name}, {other} -> b{i}; {self.fault(rate)});", (rate, part)
        if self.rng.random() < 0.15:
            return f"n{i}: some({name} -> b{i}; {self.fault(rate)});", (self.FIRINGS, i + 1)
        pop = self.rng.choice([p for p in (1, 1, 2, 3, 4) if rate % p == 0])
        push = self.rng.choice([1, 1, 2, 3])
        return f"n{i}: over<{pop}, {push}>({name} -> b{i}; {self.fault(rate // pop)});", (rate // pop * push, part)

    def fault(self, firings):
        """The firing that faults, of a node with so many firings an iteration; or one that never comes."""
        if self.rng.random() < 0.2:
            return 1000000
        return firings * (self.iteration + self.rng.choice([0, 0, 0, 1])) + self.rng.randrange(firings)
