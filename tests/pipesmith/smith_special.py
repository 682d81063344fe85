# SPDX-License-Identifier: MIT
"""Nodes of special kinds, as a part of a Program: kernels with type parameters, streams taken in turn, bounded loops,
work-items of several dimensions with barriers in loops and switches, children that wait for one another.
"""
from fractions import Fraction

from smith_bodies import FLOATS, INTEGERS, SCALAR, Body, Place


class Special:
    """`self` is a Program: rng, items, nets, streams and what adds to them."""

    def kernel_text(self, name, head, lines, behind=""):
        self.items.append(f"kernel {name}({head}){behind} {{\n" + "\n".join(lines) + "\n}")

    def join(self, name, stream, kind, rate, group):
        """Instantiates a kernel of one in-port and one out-port; the stream that it writes."""
        result = self.add_stream(kind, rate, group)
        stream.readers += 1
        self.nets.append(f"{name}({stream.name} -> {result.name});")
        return result

    def add_generic(self):
        """A kernel for any type: a delay, a hold, pairs swapped, every n-th; its type is written or follows."""
        rng = self.rng
        stream = rng.choice(self.streams)
        stream.rate = stream.rate or Fraction(rng.choice([1, 2, 4]))
        name, n = self.kernel_name("any"), rng.randint(1, 5)
        style = rng.randrange(4)
        body = Body(rng, self.functions)
        pop, push = 1, 1
        if style == 0:
            body.lines = ["    state T line[N];", "    state i32 at;", "    y <- line[at];", "    line[at] = x[0];",
                          "    at = (at + 1) % N;"]
        elif style == 1:
            body.lines = ["    for (i32 i = 0; i < N; i++)", "        y <- x[0];"]
            push = n
        elif style == 2:
            pop, push = 2 * n, 2 * n
            body.lines = ["    for (i32 i = 0; i < N; i++) {", "        y <- x[2 * i + 1];", "        y <- x[2 * i];",
                          "    }"]
        else:
            pop = n
            body.lines = ["    T last = x[N - 1];", "    if (N > 1) last = x[N / 2];", "    y <- last;"]
        rate = stream.rate * push / pop
        if rate > 64 or rate.denominator > 64:
            return
        window = {0: "", 1: "", 2: " pop 2 * N", 3: " pop N"}[style]
        self.kernel_text(f"{name}<type T, int N>", f"in T x{window}, out T y", body.lines)
        result = self.add_stream(stream.type, rate, stream.group)
        stream.readers += 1
        if rng.random() < 0.5:
            self.nets.append(f"{name}<{stream.type}, {n}>({stream.name} -> {result.name});")
        else:
            swapped = self.items.pop().replace("<type T, int N>", "<int N, type T>")
            self.items.append(swapped)
            self.nets.append(f"{stream.name} -> {name}<{n}> -> {result.name};")

    def add_filter(self):
        """A sum over a window, which goes into lanes; often one behind it that counts its firings."""
        rng = self.rng
        usable = [s for s in self.streams if s.type.is_scalar() and s.type.name in INTEGERS + FLOATS]
        if not usable:
            return
        stream = rng.choice(usable)
        kind, n, pop = stream.type, rng.choice([3, 4, 5, 8, 9, 16, 17, 32]), rng.choice([1, 1, 1, 2])
        stream.rate = stream.rate or Fraction(rng.choice([1, 2, 4]))
        rate = stream.rate / pop
        if rate.denominator > 64:
            return
        sum_kind = kind if kind.name in FLOATS else SCALAR[rng.choice(["i32", "u32", kind.name])]
        name, factor = self.kernel_name("filter"), rng.choice(["(k + 1)", "3", "(k & 1)", "(7 - k)"])
        lines = [f"    {sum_kind} s = 0;",
                 f"    for (i32 k = 0; k < {n}; k++) s += ({sum_kind})x[k] * ({sum_kind}){factor};"]
        scale = "0.125" if kind.name in FLOATS else "4"
        lines += [f"    y <- ({kind})(s {'*' if kind.name in FLOATS else '/'} ({sum_kind}){scale});"]
        self.kernel_text(name, f"in {kind} x pop {pop} peek {n}, out {kind} y", lines)
        filtered = self.join(name, stream, kind, rate, stream.group)
        if rng.random() < 0.4:
            return
        name, period = self.kernel_name("number"), rng.randint(2, 200)
        lines = ["    state u32 count;", f"    y <- ({kind})(x + ({kind})(count % {period}));", "    count += 1;"]
        self.kernel_text(name, f"in {kind} x, out {kind} y", lines)
        self.join(name, filtered, kind, rate, stream.group)

    def add_sparse(self):
        """Packets that a loop names by index, not all of them: the others are zero.  Sums, for which batches that do not
        fill the lanes are padded."""
        rng = self.rng
        usable = [s for s in self.streams if s.type.is_scalar() and s.type.name in INTEGERS + FLOATS]
        if not usable:
            return
        stream, n = rng.choice(usable), rng.choice([2, 3, 4, 8, 16, 32])
        kind = stream.type
        stream.rate = stream.rate or Fraction(n)
        if (stream.rate / n).denominator > 64:
            return
        name = self.kernel_name("sparse")
        named = rng.choice(["(i & 1) == 0", "i % 3 == 1", f"i < {n - 1}", f"x[i] > ({kind})3", "x[0] > x[i]"])
        lines = [f"    {kind} s = 0;",
                 f"    for (i32 i = 0; i < {n}; i++) s += x[i];",
                 f"    for (i32 i = 0; i < {n}; i++) {{", f"        if ({named}) y[i] = ({kind})(s + x[i]);", "    }"]
        self.kernel_text(name, f"in {kind} x pop {n}, out {kind} y push {n}", lines)
        self.join(name, stream, kind, stream.rate, stream.group)

    def add_turns(self):
        """Two streams of one group and type, taken in turn by phases; rates that lists give."""
        rng = self.rng
        first = rng.choice(self.streams)
        others = [s for s in self.streams if s is not first and s.type == first.type
                  and (s.group == first.group or s.rate is None or first.rate is None)]
        if not others:
            return
        second = rng.choice(others)
        group = self.merge([first, second])
        if group is None:
            return
        rates = self.draw_pops([first, second])
        if rates is None:
            return
        (left, right), firings = rates
        name = self.kernel_name("turns")
        lines = ["    if (phase == 0) {"] + [f"        y <- a[{i}];" for i in range(left)] + ["    } else {"]
        lines += [f"        y <- b[{i}];" for i in reversed(range(right))] + ["    }"]
        kind = first.type
        self.kernel_text(name, f"in {kind} a pop {{{left}, 0}}, in {kind} b pop {{0, {right}}}, out {kind} y", lines)
        result = self.add_stream(kind, firings * (left + right), group)
        self.read([first, second])
        self.nets.append(f"{name}({first.name}, {second.name} -> {result.name});")

    def add_bounded(self):
        """A loop whose rounds follow from the data, under a bound that the body shows or a declaration gives."""
        rng = self.rng
        stream = rng.choice(self.streams)
        if stream.type.length:
            return
        stream.rate = stream.rate or Fraction(1)
        name, kind, most = self.kernel_name("some"), SCALAR[rng.choice(INTEGERS + FLOATS)], rng.randint(1, 6)
        pop = rng.choice([1, 1, 2, 4])
        body = Body(rng, self.functions)
        body.window("x", stream.type, pop)
        body.put(f"u32 rounds = {body.expression(SCALAR['u32'], 2)} {rng.choice(['%', '%', '&'])} {most};")
        if rng.random() < 0.3:
            body.put(f"rounds = min(rounds, {rng.randint(1, most)});")
        body.places.append(Place("rounds", SCALAR["u32"]))
        body.open("for (u32 i = 0; i < rounds; i++)")
        body.places.append(Place("i", SCALAR["u32"]))
        body.put(f"y <- {body.expression(kind, 2)};")
        body.close()
        amplify = Fraction(most + rng.choice([0, 1]), pop)
        shown = rng.choice(["", f" push ..{most}", f" amplify {amplify}", f" push 0..{most + 1}"])
        if self.risky and most > 1 and rng.random() < 0.5:
            shown = f" push ..{most - 1}"
        self.kernel_text(name, f"in {stream.type} x pop {pop}, out {kind} y{shown}", body.lines)
        self.join(name, stream, kind, Fraction(most), self.new_group())

    def add_wide(self):
        """A group of up to 256 items in two dimensions; barriers in a loop, a uniform `if` and a switch."""
        rng = self.rng
        stream = rng.choice(self.streams)
        if stream.type.length:
            return
        width, height = rng.choice([(2, 2), (4, 2), (3, 5), (8, 8), (16, 16), (32, 1), (1, 7)])
        count = width * height
        stream.rate = stream.rate or Fraction(count)
        if (stream.rate / count).denominator > 256:
            return
        name, kind = self.kernel_name("wide"), SCALAR[rng.choice(INTEGERS + FLOATS)]
        body = Body(rng, self.functions)
        flat = f"item.y * {width} + item.x"
        body.put(f"local {kind} shared[{count}];")
        body.put(f"i32 own = {flat};")
        body.places = [Place(f"x[{flat}]", stream.type), Place("own", SCALAR["i32"]), Place("item.y", SCALAR["i32"])]
        uniform = rng.choice([f"({body_uniform(rng, stream.type)})", str(rng.randint(0, 3))])
        body.put(f"shared[own] = {body.expression(kind, 2)};")
        body.put(f"{kind} mine = {body.expression(kind, 1)};")
        body.put("barrier();")
        rounds = rng.randint(1, 3)
        body.open(f"for (i32 k = 0; k < {rounds}; k++)")
        body.places += [Place("mine", kind), Place("k", SCALAR["i32"])]
        body.put(f"mine = shared[(own + k + {rng.randint(0, 9)}) % {count}];")
        body.put("barrier();")
        body.put(f"shared[own] = {body.expression(kind, 2)};")
        body.places.pop()
        if rng.random() < 0.5:
            body.open(f"switch ({uniform} % 3)")
            body.put("case 0:")
            body.put("barrier();")
            body.put("mine = shared[0];")
            body.put("break;")
            body.put("default:")
            body.put("barrier();")
            body.put(f"mine = shared[{count - 1} - own];")
            body.close()
        body.put("barrier();")
        body.close()
        if rng.random() < 0.5:
            body.open(f"if ({uniform} > 1)")
            body.put("barrier();")
            body.put(f"mine = shared[(own + 1) % {count}];")
            body.close()
        vary = rng.random() < 0.3
        body.put((f"if ({body.condition(2)}) " if vary else "") + f"y <- {body.expression(kind, 2)};")
        size = f"{width}x{height}" if height > 1 else str(width)
        if height == 1:
            body.lines = [line.replace(flat, "item.x").replace("item.y", "0") for line in body.lines]
        self.kernel_text(name, f"in {stream.type} x pop {count}, out {kind} y", body.lines, f" group {size}")
        rate, group = (Fraction(count), self.new_group()) if vary else (stream.rate, stream.group)
        self.join(name, stream, kind, rate, group)

    def add_events(self):
        """Children that wait for one another, and a launch that depends on whether one appended something."""
        rng = self.rng
        stream = rng.choice(self.streams)
        if stream.type.length:
            return
        stream.rate = stream.rate or Fraction(1)
        kind = SCALAR[rng.choice(INTEGERS + FLOATS)]
        first, second, name = self.kernel_name("try"), self.kernel_name("else"), self.kernel_name("search")
        for child in (first, second):
            body = Body(rng, self.functions)
            body.places = [Place("x[0]", stream.type), Place("hint", SCALAR["i32"])]
            body.statements(rng.randint(0, 1), 1)
            condition = f"if ({body.condition(2)}) " if child == first or rng.random() < 0.5 else ""
            body.put(f"{condition}y <- {body.expression(kind, 2)};")
            self.items.append(f"child kernel {child}(in {stream.type} x, out {kind} y; i32 hint) {{\n"
                              + "\n".join(body.lines) + "\n}")
        body = Body(rng, self.functions)
        body.places = [Place("x[0]", stream.type)]
        hint = lambda: body.expression(SCALAR["i32"], 1)
        body.put(f"event one = launch {first}({hint()});")
        body.put(f"event two = launch {second}({hint()}) after one;")
        if rng.random() < 0.4:
            body.put(f"launch {first}({hint()}) after one, two;")
        if rng.random() < 0.4:
            body.put(f"launch (done(one) ? {first} : {second})({hint()}) after one;")
        body.put(f"if ({rng.choice(['', '!'])}done(one)) launch {second}({hint()}) after two;")
        if rng.random() < 0.5:
            body.put(f"y <- {body.expression(kind, 1)};")
        self.kernel_text(name, f"in {stream.type} x, out {kind} y", body.lines)
        self.join(name, stream, kind, Fraction(1), self.new_group())


def body_uniform(rng, kind):
    """An i32 that is the same for every item."""
    if kind.is_scalar() and kind.name in INTEGERS:
        return "((i32)x[0] & 3)"
    return str(rng.randint(0, 3))
