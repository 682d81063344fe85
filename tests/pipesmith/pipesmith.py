#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pipesmith SEED: prints a random, well-formed program; the same for the same seed.

The graph is drawn first.  Each stream carries a number of packets an iteration, as a fraction, and a node is
given rates that fit what it reads: so rates always balance.  Streams whose rate varies with the data get a class
of their own, and nothing joins streams of two classes: so nothing can wait for ever.  Circles get initial packets.
Then each kernel gets a body (smith_bodies.py).  `runs(seed)` gives lengths and bytes for the in-ports.
"""
import random
import re
import struct
import sys
from fractions import Fraction

from smith_special import Special
from smith_bodies import FLOATS, HALVES, INTEGERS, SCALAR, WIDTH, Body, Place, Type, WindowPlace, array, vector


class Stream:
    def __init__(self, name, kind, rate, group, shape=None):
        self.name, self.type, self.rate, self.group, self.shape = name, kind, rate, group, shape
        self.readers, self.attributes = 0, ""


class Program(Special):
    def __init__(self, seed):
        self.seed, self.rng = seed, random.Random(seed)
        rng = self.rng
        self.items, self.nets, self.streams, self.inputs, self.arguments = [], [], [], [], []
        self.functions, self.counter, self.groups, self.phased = [], 0, 0, False
        self.risky = rng.random() < 0.08  # divisions, indices and rates that are checked while running, and may fail
        self.structs = [self.draw_struct() for _ in range(rng.choice([0, 0, 1, 2]))]
        for _ in range(rng.choice([0, 1, 2])):
            self.draw_function()
        self.wanted = rng.choice([1, 2, 3, 3, 4, 5, 6, 8, 12])
        self.simple = rng.random() < 0.4  # scalars of one or two types: what is fused and put into lanes
        common = ["i32", "u8", "i16", "f32", "f64", "i64", "u32"]
        self.palette = [SCALAR[rng.choice(common)] for _ in range(rng.choice([1, 2]))]
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            self.add_input()
        while self.counter < self.wanted:
            self.add_something()
        self.finish_text()

    # ---- types and functions ----

    def packet_type(self):
        rng = self.rng
        if self.simple or rng.random() < 0.5:
            return rng.choice(self.palette)
        how = rng.randrange(100)
        if how < 55:
            return SCALAR[rng.choice(INTEGERS + FLOATS + HALVES + ["bool"])]
        if how < 75:
            return vector(rng.choice(INTEGERS + FLOATS), rng.choice([2, 3, 4, 8]))
        if how < 88 or not self.structs:
            return array(SCALAR[rng.choice(INTEGERS + FLOATS)], rng.randint(1, 5))
        return rng.choice(self.structs)

    def draw_struct(self):
        self.counter_structs = getattr(self, "counter_structs", 0) + 1
        name, fields = f"record{self.counter_structs}", []
        for i in range(self.rng.randint(1, 4)):
            how = self.rng.random()
            scalar = self.rng.choice(INTEGERS + FLOATS + HALVES + ["bool"])
            kind = SCALAR[scalar]
            if how < 0.2 and scalar in INTEGERS + FLOATS:
                kind = vector(scalar, self.rng.choice([2, 3, 4]))
            fields.append((f"f{i}", kind))
        self.items.append(f"struct {name} {{ " + " ".join(f"{t} {f};" for f, t in fields) + " };")
        return Type(name, fields=fields)

    def draw_function(self):
        rng = self.rng
        name = f"func{len(self.functions)}"
        result = SCALAR[rng.choice(INTEGERS + FLOATS)]
        arguments = [SCALAR[rng.choice(INTEGERS + FLOATS)] for _ in range(rng.randint(1, 3))]
        body = Body(rng, list(self.functions))
        body.places = [Place(f"a{i}", t, True) for i, t in enumerate(arguments)]
        body.statements(rng.randint(0, 2), 1)
        if body.chance(30):
            body.put(f"if ({body.condition(2)}) return {body.expression(result, 2)};")
        body.put(f"return {body.expression(result, 3)};")
        head = ", ".join(f"{t} a{i}" for i, t in enumerate(arguments))
        self.items.append(f"fn {result} {name}({head}) {{\n" + "\n".join(body.lines) + "\n}")
        self.functions.append((name, result, arguments))
        if result.name in INTEGERS and body.chance(50):  # called where a condition holds only: no function for others
            self.items.append(f"fn {result} part_{name}({result} a, {result} b) {{ return a {rng.choice('/%')} b; }}")
            self.functions.append((f"part_{name}", None, [result, result]))

    # ---- streams ----

    def new_group(self):
        self.groups += 1
        return self.groups

    def add_input(self, shape=None):
        stream = Stream(f"in{len(self.inputs)}", self.packet_type(), None, self.new_group(), shape)
        self.inputs.append(stream)
        self.streams.append(stream)
        return stream

    def add_stream(self, kind, rate, group, shape=None):
        stream = Stream(f"b{len(self.streams)}", kind, rate, group, shape)
        self.streams.append(stream)
        return stream

    def merge(self, streams):
        """Streams that one node reads are of one group; None where two different rates that vary would meet."""
        fixed = {s.group for s in streams if s.rate is not None}
        if len(fixed) > 1:
            return None
        group = fixed.pop() if fixed else streams[0].group
        for s in streams:
            s.group = group
        return group

    def draw_pops(self, streams):
        """(pops, firings an iteration) that fit the rates, or None."""
        rng = self.rng
        known = [s for s in streams if s.rate is not None]
        base = rng.choice([1, 1, 1, 2, 3, 4])
        if not known:
            for s in streams:
                s.rate = Fraction(rng.choice([1, 1, 2, 3, 4]) if len(streams) > 1 else base)
            known = streams
        firings = known[0].rate / base
        if rng.random() < 0.3:
            firings = known[0].rate / rng.choice([2, 3, 5, 6, 8])
        for _ in range(12):
            pops = [s.rate / firings if s.rate is not None else Fraction(rng.choice([1, 1, 2, 3])) for s in streams]
            if all(p.denominator == 1 and 1 <= p <= 24 for p in pops):
                break
            denominator = max(p.denominator for p in pops)
            if denominator == 1:
                return None
            firings /= denominator
        else:
            return None
        for s, p in zip(streams, pops):
            s.rate = p * firings
        return [int(p) for p in pops], firings

    def some_streams(self, most=3):
        rng = self.rng
        first = rng.choice(self.streams[-4:] if rng.random() < 0.6 else self.streams)
        chosen = [first]
        for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
            if len(chosen) == most:
                break
            fits = lambda s: s.group == first.group or s.rate is None or first.rate is None
            others = [s for s in self.streams if s not in chosen and fits(s)]
            if others:
                chosen.append(rng.choice(others))
        return chosen

    # ---- nodes ----

    def add_something(self):
        rng = self.rng
        kinds = [(self.add_plain, 60), (self.add_chain, 12), (self.add_split_join, 7), (self.add_circle, 7),
                 (self.add_items, 5), (self.add_window, 5), (self.add_source, 2), (self.add_children, 3),
                 (self.add_generic, 4), (self.add_turns, 4), (self.add_bounded, 4), (self.add_wide, 3),
                 (self.add_events, 2), (self.add_filter, 5), (self.add_sparse, 4)]
        total = sum(w for _, w in kinds)
        pick = rng.randrange(total)
        for draw, weight in kinds:
            pick -= weight
            if pick < 0:
                draw()
                return

    def kernel_name(self, stem="k"):
        self.counter += 1
        return f"{stem}{self.counter}"

    def read(self, streams):
        for s in streams:
            s.readers += 1

    def add_plain(self):
        streams = self.some_streams()
        group = self.merge(streams)
        if group is None:
            return
        rates = self.draw_pops(streams)
        if rates is None:
            return
        pops, firings = rates
        outputs = self.draw_kernel([s.type for s in streams], pops, firings)
        name, outs, attributes, arguments = outputs
        shape = next((s.shape for s in streams if s.shape), None) if all(p == 1 for p in pops) else None
        results, steps = [], {}
        for kind, count, step in outs:
            if step is None:
                results.append(self.add_stream(kind, firings * count, group, shape if count == 1 else None))
            else:
                if step not in steps:
                    steps[step] = self.new_group()
                results.append(self.add_stream(kind, Fraction(count), steps[step]))
        self.read(streams)
        self.instance(name, streams, results, arguments, attributes)

    def instance(self, name, streams, results, arguments="", attributes=""):
        bind = ", ".join(s.name for s in streams) + " -> " + ", ".join(r.name for r in results)
        self.nets.append(f"{name}({bind}{arguments}){attributes};")

    def draw_kernel(self, kinds, pops, firings, outputs=None, pushes=None, exact=False, stem="k", phases=True,
                    finish=True):
        """Writes a kernel; gives its name, its outputs (type, packets a firing, step or None), and how it is used."""
        rng = self.rng
        name = self.kernel_name(stem)
        body = Body(rng, self.functions, self.risky)
        lists = None
        if phases and len(kinds) == 1 and rng.random() < 0.12 and pops[0] >= 2 and outputs is None:
            lists = self.draw_phases(pops[0])
        outputs = outputs or [self.packet_type() for _ in range(rng.choice([1, 1, 1, 1, 2, 3]))]
        stateful = rng.random() < 0.25
        head, peeks = [], []
        for i, (kind, pop) in enumerate(zip(kinds, pops)):
            peek = pop + (rng.choice([0, 0, 0, 1, 2, 5, 16]) if lists is None else 0)
            peeks.append(peek)
            text = f"in {kind} x{i}"
            if lists:
                text += " pop {" + ", ".join(str(p) for p in lists) + "}"
            elif (pop, peek) != (1, 1) or rng.random() < 0.2:
                text += f" pop {pop}" + (f" peek {peek}" if peek != pop or rng.random() < 0.2 else "")
            head.append(text)
        run_time = rng.random() < 0.2
        if run_time:
            body.places.append(Place("by", SCALAR["i32"]))
        if stateful:
            for _ in range(rng.randint(1, 2)):
                kind = body.any_type()
                if kind.length or rng.random() < 0.5:
                    state = body.name("s")
                    body.put(f"state {kind} {state};")
                    body.places.append(Place(state, kind, True))
                else:
                    body.declare(kind, "s", "state ")
        if rng.random() < 0.12:
            self.draw_table(body)
        kept = list(body.places)
        if lists is None:
            for i, (kind, peek) in enumerate(zip(kinds, peeks)):
                body.window(f"x{i}", kind, peek)
        else:
            body.window("x0", kinds[0], min(p for p in lists) or 1)
        ways = [self.draw_way(body, kind, lists, exact, pushes) for kind in outputs]
        if lists and not all(lists):
            body.places.pop()
        for kind in outputs:
            if kind.length and not any(p.type == kind for p in body.places):
                body.declare(kind)
        step = None
        if not lists and not exact and len(outputs) > 1 and rng.random() < 0.15:
            step = "together"
        body.statements(rng.randint(0, 3), 2)
        result = []
        if step:
            body.open(f"if ({body.condition(2)})")
            for i, kind in enumerate(outputs):
                body.put(f"y{i} <- {body.expression(kind, 2)};")
                head.append(f"out {kind} y{i}")
                result.append((kind, 1, "together"))
            body.close()
        else:
            for i, (kind, way) in enumerate(zip(outputs, ways)):
                rate, packets, mine = self.write(body, i, kind, way)
                head.append(f"out {kind} y{i}{rate}")
                result.append((kind, packets, i if mine else None))
                if rng.random() < 0.3:
                    body.statements(1, 1)
        if stateful and rng.random() < 0.6:
            scalars = [p for p in kept if p.writable]
            if scalars:
                place = rng.choice(scalars)
                if not place.type.is_scalar():
                    place = body.parts(place)
                body.put(f"{place.text} = {body.expression(place.type, 2)};")
        if finish and not exact and rng.random() < 0.15:
            self.draw_finish(body, kept, kinds, outputs, lists)
            result = [(kind, packets, f"f{i}" if step_of is None else step_of)
                      for i, (kind, packets, step_of) in enumerate(result)]
        if lists:
            self.phased = True
        arguments = "; i32 by" + (" = 5" if rng.random() < 0.3 else "") if run_time else ""
        self.items.append(f"kernel {name}({', '.join(head)}{arguments}) {{\n" + "\n".join(body.lines) + "\n}")
        use = ""
        if run_time and not ("=" in arguments and rng.random() < 0.5):
            use = "; " + rng.choice(["3", "-7", self.argument(), f"{self.argument()} * 3 + 1"])
        attributes = f" importance {rng.randint(1, 9)}" if rng.random() < 0.05 else ""
        return name, result, attributes, use

    def argument(self):
        if not self.arguments:
            self.arguments.append(("volume", self.rng.randint(-5, 50)))
        return self.arguments[0][0]

    def draw_phases(self, total):
        rng = self.rng
        count = rng.choice([2, 2, 3])
        lists = [0] * count
        for _ in range(total):
            lists[rng.randrange(count)] += 1
        return lists

    def draw_table(self, body):
        length = body.rng.randint(1, 6)
        kind = SCALAR[body.rng.choice(INTEGERS + FLOATS)]
        name = body.name("t")
        body.put(f"table {kind} {name}[{length}];")
        body.open("init")
        body.open(f"for (i32 i = 0; i < {length}; i++)")
        outer = body.places
        body.places = [Place("i", SCALAR["i32"])] + [p for p in outer if p.text == "by"]
        body.put(f"{name}[i] = {body.expression(kind, 2)};")
        body.places = outer
        body.close()
        body.close()
        body.places.append(Place(name, array(kind, length)))

    def draw_way(self, body, kind, lists, exact, pushes):
        rng = self.rng
        if lists:
            pushes = [rng.choice([0, 1, 1, 2]) for _ in lists]
            if not any(pushes):
                pushes[0] = 1
            return ("phases", pushes)
        if pushes:
            return ("exact", pushes)
        if not exact and rng.random() < 0.2:
            return ("bounded", rng.choice([1, 1, 2, 3]))
        return ("exact", rng.choice([1, 1, 1, 1, 2, 3, 4, 8]))

    def write(self, body, port, kind, way):
        """Appends what is due to out-port y<port>; gives the declaration's rate, the packets, and whether they vary."""
        rng, how, count = self.rng, *way
        name = f"y{port}"
        value = lambda: body.expression(kind, 3)
        if how == "phases":
            if rng.random() < 0.5:
                for phase, packets in enumerate(count):
                    if packets:
                        body.open(f"if (phase == {phase})")
                        for _ in range(packets):
                            body.put(f"{name} <- {value()};")
                        body.close()
            else:
                body.open("switch (phase)")
                for phase, packets in enumerate(count):
                    body.put(f"case {phase}:")
                    for _ in range(packets):
                        body.put(f"{name} <- {value()};")
                    body.put("break;")
                body.close()
            return (" push {" + ", ".join(map(str, count)) + "}", sum(count), False)
        if how == "bounded":
            style = rng.randrange(4)
            if style == 0:
                for _ in range(count):
                    condition, packet = body.conditional(kind, 2)
                    body.put(f"if ({condition}) {name} <- {packet};")
            elif style == 1:
                body.open(f"if ({body.condition(2)})")
                for _ in range(count):
                    body.put(f"{name} <- {value()};")
                body.close()
            elif style == 2:
                counter = body.name("at")
                body.open(f"for (i32 {counter} = 0; {counter} < {count}; {counter}++)")
                body.put(f"if ({body.condition(2)}) break;")
                body.put(f"{name} <- {value()};")
                body.close()
            else:
                body.open(f"if ({body.condition(2)})")
                body.put(f"{name} <- {value()};")
                body.close(" else {")
                body.indent += 1
                body.scoped(1, 1)
                body.close()
                count = 1
            return (f" push ..{count}" if rng.random() < 0.3 else "", count, True)
        style = rng.randrange(10)
        declared = f" push {count}" if rng.random() < 0.3 else ""
        if style < 2 and not kind.length:
            order = list(range(count))
            rng.shuffle(order)
            for j in order:
                if rng.random() < 0.9:
                    body.put(f"{name}[{j}] = {value()};")
            if not any(line.strip().startswith(f"{name}[") for line in body.lines):
                body.put(f"{name}[0] = {value()};")
            declared = f" push {count}"
        elif style < 5 and count > 1:
            counter = body.name("at")
            body.open(f"for (i32 {counter} = 0; {counter} < {count}; {counter}++)")
            body.counters.append((counter, count))
            mark = len(body.places)
            body.places.append(Place(counter, SCALAR["i32"]))
            if rng.random() < 0.3:
                body.statements(1, 1)
            body.put(f"{name} <- {value()};")
            del body.places[mark:]
            body.counters.pop()
            body.close()
        elif style < 6:
            body.open(f"if ({body.condition(2)})")
            for _ in range(count):
                body.put(f"{name} <- {value()};")
            body.close(" else {")
            body.indent += 1
            for _ in range(count):
                body.put(f"{name} <- {value()};")
            body.close()
        else:
            for _ in range(count):
                body.put(f"{name} <- {value()};")
        return declared, count, False

    def draw_finish(self, body, kept, kinds, outputs, lists):
        rng = self.rng
        inner = Body(rng, self.functions)
        inner.counter = body.counter
        inner.places, inner.indent = list(kept), body.indent + 1
        before = len(inner.places)
        if len(kinds) == 1 and rng.random() < 0.5:
            inner.put("i64 rest = left(x0);")
            inner.places.append(Place("rest", SCALAR["i64"]))
            if kinds[0].is_scalar():
                inner.put(f"{kinds[0]} last = {inner.literal(kinds[0])};")
                inner.put("if (left(x0) > 0) last = x0[left(x0) - 1];")
                inner.places.append(Place("last", kinds[0]))
        usable = [kind for kind in outputs if not (kind.length and not any(p.type == kind for p in inner.places))]
        for i, kind in enumerate(outputs):
            if kind not in usable:
                continue
            if rng.random() < 0.7:
                inner.put(f"y{i} <- {inner.expression(kind, 2)};")
            elif before >= 0:
                inner.put(f"if ({inner.condition(1)}) y{i} <- {inner.expression(kind, 2)};")
        body.put("finish push 1 {" if rng.random() < 0.3 else "finish {")
        body.lines += inner.lines
        body.put("}")
        body.counter = inner.counter

    # ---- shapes of graphs ----

    def exact_kernel(self, kind, pop, result, push, stem="k"):
        return self.draw_kernel([kind], [pop], None, [result], push, exact=True, stem=stem, phases=False, finish=False)

    def chain_of(self, kind, rate, length, most=32):
        """[(kernel, type before, type behind, pop, push)] for a chain; the rate behind it."""
        parts = []
        for _ in range(length):
            pop = self.rng.choice([1, 1, 1, 2, 3, 4])
            push = self.rng.choice([1, 1, 1, 2, 3])
            if rate * push / pop > most:
                push = 1
            result = self.packet_type()
            name, _, _, use = self.exact_kernel(kind, pop, result, push)
            parts.append((name + (f"({use[2:]})" if use else ""), kind, result, pop, push))
            kind, rate = result, rate * push / pop
        return parts, kind, rate

    def add_chain(self):
        """A chain with unnamed buffers, or a pipeline that is used as a kernel."""
        rng = self.rng
        stream = rng.choice(self.streams)
        rate = stream.rate or Fraction(rng.choice([1, 2, 4]))
        if rate > 32:
            return
        stream.rate = rate
        parts, kind, rate = self.chain_of(stream.type, rate, rng.randint(2, 4))
        result = self.add_stream(kind, rate, stream.group)
        stream.readers += 1
        chain = " -> ".join(p[0] for p in parts)
        if rng.random() < 0.4:
            name = self.kernel_name("inner")
            takes = ("; i32 volume = 4" if "volume" in chain else "")
            self.items.append(f"pipeline {name}(in {stream.type} x, out {kind} y{takes}) {{\n"
                              f"    x -> {chain} -> y;\n}}")
            self.nets.append(f"{stream.name} -> {name} -> {result.name};")
        else:
            self.nets.append(f"{stream.name} -> {chain} -> {result.name};")

    def add_split_join(self):
        """The same kernel, or different ones, side by side; then joined."""
        rng = self.rng
        stream = rng.choice(self.streams)
        rate = stream.rate or Fraction(rng.choice([1, 2, 4]))
        stream.rate = rate
        width = rng.choice([2, 2, 3, 4, 8])
        kind = self.packet_type()
        pop, push = rng.choice([(1, 1), (1, 1), (2, 1), (1, 2), (3, 2)])
        joined = self.packet_type()
        dealt = rng.random() < 0.4
        array_name = f"many{self.counter}"
        if dealt and not stream.type.length:
            deal = self.kernel_name("deal")
            self.items.append(f"kernel {deal}(in {stream.type} x pop {width}, out {stream.type} y[{width}]) {{\n"
                              f"    for (i32 i = 0; i < {width}; i++)\n        y[i] <- x[i];\n}}")
            self.nets.append(f"buffer {stream.type} dealt{array_name}[{width}];")
            self.nets.append(f"{deal}({stream.name} -> dealt{array_name});")
            rate /= width
        else:
            dealt = False
        self.nets.append(f"buffer {kind} {array_name}[{width}];")
        source = lambda i: f"dealt{array_name}[{i}]" if dealt else stream.name
        if rng.random() < 0.6:
            name, _, _, use = self.exact_kernel(stream.type, pop, kind, push)
            self.nets.append(f"for (int i = 0; i < {width}; i++) "
                             f"tap{self.counter}: {name}({source('i')} -> {array_name}[i]{use});")
        else:
            for i in range(width):
                name, _, _, use = self.exact_kernel(stream.type, pop, kind, push)
                self.nets.append(f"{name}({source(i)} -> {array_name}[{i}]{use});")
        rate = rate * push / pop
        if rng.random() < 0.5:
            streams = [Stream(f"{array_name}[{i}]", kind, rate, stream.group) for i in range(width)]
            taken = rng.choice([1, 1, 2])
            name, outs, attributes, use = self.draw_kernel([kind] * width, [taken] * width, None, [joined], exact=True,
                                                           finish=False)
            result = self.add_stream(joined, rate / taken * outs[0][1], stream.group)
            self.nets.append(f"{name}({', '.join(s.name for s in streams)} -> {result.name}{use});")
        else:
            join = self.kernel_name("join")
            body = Body(rng, self.functions)
            body.places.append(WindowPlace(body, f"x[{rng.randrange(width)}]", kind, 1, ""))
            body.places[-1].count = 1
            body.open(f"for (i32 p = 0; p < {width}; p++)")
            body.places.append(WindowPlace(body, "x[p]", kind, 2, ""))
            sum_of = rng.choice(INTEGERS + FLOATS)
            body.put(f"total += {body.expression(SCALAR[sum_of], 2)};")
            body.close()
            body.places = [Place("total", SCALAR[sum_of])]
            if joined.length:
                joined = SCALAR[sum_of]
            body.put(f"y <- {body.expression(joined, 2)};")
            self.items.append(f"kernel {join}(in {kind} x[{width}] pop 1 peek 2, out {joined} y) {{\n"
                              f"    {sum_of} total = 0;\n"
                              + "\n".join(body.lines) + "\n}")
            result = self.add_stream(joined, rate, stream.group)
            self.nets.append(f"{join}({array_name} -> {result.name});")
        stream.readers += 1

    def add_circle(self):
        """A node that reads what comes back to it, with initial packets."""
        rng = self.rng
        stream = rng.choice(self.streams)
        rate = stream.rate or Fraction(rng.choice([1, 2, 4]))
        stream.rate = rate
        kind, pop, push, back = self.palette[0], 1, rng.choice([1, 1, 2, 3]), 1
        if not (rate / pop).denominator == 1 and rate / pop > 64:
            return
        length = rng.choice([0, 1, 1, 2])
        inner = [(rng.choice([1, 1, 2]), rng.choice([1, 1, 2])) for _ in range(length)]
        back = Fraction(push)
        for p, u in inner:
            back = back * u / p
        if back.denominator != 1 or back > 12 or back < 1:
            return
        back = int(back)
        mix, outs, _, use = self.draw_kernel([stream.type, kind], [pop, back], None, [kind], push, exact=True,
                                             phases=False, finish=False)
        names = [self.exact_kernel(kind, p, kind, u) for p, u in inner]
        result = self.add_stream(kind, rate * push / pop, stream.group)
        if length == 0:
            names = [self.exact_kernel(kind, 1, kind, 1)]
        looped = f"back{self.counter}"
        initial = 24 + 20 * len(names) + rng.choice([0, 1, 7, 30])
        if rng.random() < 0.3:
            initial += 200
        value = {"f": "0.5", "i": "-3", "u": "7", "b": "0.25"}[kind.name[0]]
        self.nets.append(f"buffer {kind} {looped} init {initial} x {value};")
        self.nets.append(f"{mix}({stream.name}, {looped} -> {result.name}{use});")
        chain = " -> ".join(n[0] + (f"({n[3][2:]})" if n[3] else "") for n in names)
        self.nets.append(f"{result.name} -> {chain} -> {looped};")
        stream.readers += 1
        result.readers += 1

    def add_items(self):
        """Work-items: each writes its own packet; some meet at a barrier."""
        rng = self.rng
        stream = rng.choice(self.streams)
        if stream.type.length:
            return
        count = rng.choice([2, 4, 5, 8, 16])
        stream.rate = stream.rate or Fraction(count)
        if (stream.rate / count).denominator > 64:
            return
        name, kind = self.kernel_name("group"), SCALAR[rng.choice(INTEGERS + FLOATS)]
        body = Body(rng, self.functions)
        body.places = [Place("x[item.x]", stream.type), Place("item.x", SCALAR["i32"])]
        body.statements(rng.randint(0, 2), 1)
        if rng.random() < 0.6:
            body.lines.insert(0, f"    local {kind} shared[{count}];")
            body.put(f"shared[item.x] = {body.expression(kind, 3)};")
            body.put("barrier();")
            body.places += [Place(f"shared[{count - 1} - item.x]", kind), Place("shared[item.x]", kind)]
            body.statements(rng.randint(0, 1), 1)
        style = rng.randrange(3)
        if style == 0:
            body.put(f"y[item.x] = {body.expression(kind, 3)};")
            packets, vary = count, False
        elif style == 1:
            body.put(f"y <- {body.expression(kind, 3)};")
            packets, vary = count, False
        else:
            condition, packet = body.conditional(kind, 3)
            body.put(f"if ({condition}) y <- {packet};")
            packets, vary = count, True
        push = f" push {packets}" if style == 0 else ""
        self.items.append(f"kernel {name}(in {stream.type} x pop {count}, out {kind} y{push}) group {count} {{\n"
                          + "\n".join(body.lines) + "\n}")
        firings = stream.rate / count
        rate, group = (Fraction(packets), self.new_group()) if vary else (firings * packets, stream.group)
        result = self.add_stream(kind, rate, group)
        stream.readers += 1
        self.nets.append(f"{name}({stream.name} -> {result.name});")

    def add_window(self):
        """A 2-D window over a picture that comes from an in-port of its own or a stream with a shape."""
        rng = self.rng
        shaped = [s for s in self.streams if s.shape]
        if shaped and rng.random() < 0.8:
            stream = rng.choice(shaped)
        elif len(self.inputs) < 4:
            stream = self.add_input((rng.randint(1, 7), rng.randint(1, 6)))
            if stream.type.length:
                stream.type = SCALAR["u8"]
            stream.rate = Fraction(1)
        else:
            return
        if stream.type.length:
            return
        name, kind = self.kernel_name("window"), self.packet_type()
        width, height = rng.choice([(3, 3), (3, 1), (1, 3), (5, 3), (3, 5)])
        border = rng.choice(["clamp", "mirror", "wrap", "zero", None])
        body = Body(rng, self.functions)
        for _ in range(3):
            r, c = rng.randint(-(height // 2), height // 2), rng.randint(-(width // 2), width // 2)
            body.places.append(Place(f"x[{r}][{c}]", stream.type))
        if rng.random() < 0.5 and stream.type.is_scalar():
            body.put(f"{stream.type} sum = 0;" if stream.type.name != "bool" else "bool sum = false;")
            body.open(f"for (i32 r = -{height // 2}; r <= {height // 2}; r++)")
            body.open(f"for (i32 c = -{width // 2}; c <= {width // 2}; c++)")
            body.put(f"sum = {'sum + ' if stream.type.name not in ('bool', 'f16', 'bf16') else ''}x[r][c];")
            body.close()
            body.close()
            body.places.append(Place("sum", stream.type))
        body.statements(rng.randint(0, 2), 1)
        if kind.length:
            kind = SCALAR["i32"]
        body.put(f"y <- {body.expression(kind, 3)};")
        how = f" border {border}" if border else ""
        self.items.append(f"kernel {name}(in {stream.type} x window {width}x{height}{how}, out {kind} y) {{\n"
                          + "\n".join(body.lines) + "\n}")
        result = self.add_stream(kind, stream.rate, stream.group, stream.shape)
        stream.readers += 1
        self.nets.append(f"{name}({stream.name} -> {result.name});")

    def add_source(self):
        """A source that stops; alone, so that nobody else's length matters."""
        rng = self.rng
        name, kind = self.kernel_name("source"), SCALAR[rng.choice(INTEGERS + FLOATS)]
        body = Body(rng, self.functions)
        body.places = [Place("count", SCALAR["i32"])]
        body.statements(rng.randint(0, 2), 1)
        push = rng.choice([1, 1, 2, 3])
        for _ in range(push):
            body.put(f"y <- {body.expression(kind, 2)};")
        body.put("count++;")
        if rng.random() < 0.3:
            body.put("finish { y <- " + body.literal(kind) + "; }")
        self.items.append(f"kernel {name}(out {kind} y) {{\n    state i32 count;\n"
                          f"    if (count >= {rng.randint(0, 90)}) stop;\n"
                          + "\n".join(body.lines) + "\n}")
        result = self.add_stream(kind, Fraction(push), self.new_group())
        self.nets.append(f"{name}( -> {result.name});")

    def add_children(self):
        """A kernel that launches children, some of which launch others."""
        rng = self.rng
        stream = rng.choice(self.streams)
        if stream.type.length:
            return
        kind = SCALAR[rng.choice(INTEGERS + FLOATS)]
        leaf, tree, name = self.kernel_name("leaf"), self.kernel_name("tree"), self.kernel_name("launcher")
        body = Body(rng, self.functions)
        seen = [Place("x[0]", stream.type), Place("depth", SCALAR["i32"]), Place("value", SCALAR["i32"])]
        body.places = list(seen)
        groups = rng.choice([0, 1, 4])  # most work-groups of a launch of the leaf; 0: not declared
        if groups:
            body.places += [Place("item.group", SCALAR["i32"]), Place("item.groups", SCALAR["i32"])]
        body.statements(rng.randint(0, 1), 1)
        emits = [f"if ({body.condition(2)}) y <- {body.expression(kind, 2)};" for _ in range(rng.randint(1, 2))]
        self.items.append(f"child kernel {leaf}(in {stream.type} x, out {kind} y; i32 depth, i32 value = {rng.randint(-9, 9)}){f' groups {groups}' if groups else ''} {{\n"
                          + "\n".join(body.lines + ["    " + e for e in emits]) + "\n}")
        body.places = seen
        def started(other):  # the child of a launch, and its arguments
            value = f", {body.expression(SCALAR['i32'], 1)}" if rng.random() < 0.7 else ""
            child = f"(({body.condition(1)}) ? {leaf} : {tree})" if rng.random() < 0.4 else other
            return f"{child}(depth - 1{value})"
        self.items.append(f"child kernel {tree}(in {stream.type} x, out {kind} y; i32 depth, i32 value = {rng.randint(-9, 9)}) launches 2 {{\n"
                          f"    if (depth == 0) {{\n        y <- ({kind})value;\n        return;\n    }}\n"
                          f"    launch {started(tree)};\n"
                          f"    if (({body.expression(SCALAR['i32'], 1)} & 1) == 0)\n"
                          f"        launch {started(tree)};\n}}")
        levels = rng.randint(1, 3)
        count = f" groups 1 + ({body.expression(SCALAR['i32'], 1)} & {groups - 1})" if groups and rng.random() < 0.8 else ""
        if groups == 4 and rng.random() < 0.4:
            count = f" groups 1 + ({body.expression(SCALAR['i32'], 1)} & 1) from {body.expression(SCALAR['i32'], 1)} & 2"
        order = rng.choice(["", " with parent", " after group", " after parent"])
        self.items.append(f"kernel {name}(in {stream.type} x, out {kind} y) nesting {levels + 1} {{\n"
                          f"    i32 depth = {levels};\n    i32 value = 11;\n    launch {leaf}(depth, 7){count}{order};\n"
                          f"    launch {tree}(depth, {body.expression(SCALAR['i32'], 1)});\n"
                          f"    if ({body.condition(1)})\n        y <- {body.expression(kind, 1)};\n}}")
        stream.rate = stream.rate or Fraction(1)
        result = self.add_stream(kind, Fraction(1), self.new_group())
        stream.readers += 1
        self.nets.append(f"{name}({stream.name} -> {result.name});")

    # ---- the text ----

    def finish_text(self):
        rng = self.rng
        head, buffers = [], []
        for s in self.inputs:
            shape = ""
            if s.shape:
                shape = f" frame {s.shape[0]}x{s.shape[1]}"
            if s.readers == 0:
                self.nets.append(f"drop{s.name}({s.name} -> );")
                self.items.append(f"kernel drop{s.name}(in {s.type} x) {{\n}}")
                s.rate = s.rate or Fraction(1)
            head.append(f"in {s.type} {s.name}{shape}")
        self.outputs = []
        for s in self.streams:
            if s in self.inputs:
                continue
            if s.readers == 0:
                head.append(f"out {s.type} {s.name}")
                self.outputs.append(s)
            else:
                buffers.append(f"buffer {s.type} {s.name};")
        self.order = list(self.nets)
        self.add_arrays()
        arguments = "; " + ", ".join(f"i32 {n} = {v}" for n, v in self.arguments) if self.arguments else ""
        policy = f" policy {rng.choice(['round_robin', 'priority', 'fullest'])}" if rng.random() < 0.1 else ""
        self.add_troubles()
        lines = self.items + [f"pipeline main({', '.join(head)}{arguments}){policy} {{"]
        lines += ["    " + b for b in buffers] + ["    " + n for n in self.nets] + ["}"]
        self.text = "\n".join(lines) + "\n"

    def add_arrays(self):
        """Some kernels with an argument get an array in its place: values, or an array of the pipeline."""
        rng = random.Random(self.seed * 7919 + 11)
        head = re.compile(r"^kernel (\w+)\((.*); i32 by( = 5)?\)(.*) \{$", re.M)
        for i, item in enumerate(self.items):
            found = head.match(item)
            if not found or rng.random() < 0.3 or re.search(
                    r"\b(finish|init|launch)\b|\b(state|table|local)\b[^;]*\bby\b", item):
                continue
            name, ports, default, rest = found.groups()
            use = re.compile(rf"^{name}\(([^()]*)->([^();]*); (.*)\)([^;]*);$")
            mine = [k for k, net in enumerate(self.nets) if use.match(net)]
            everything = "\n".join(self.items + self.nets)
            if not mine or len(re.findall(rf"\b{name}\b", everything)) != len(mine) + 1:
                continue
            place = rng.choice(["0", "2", "(byes[1] & 1) + 1"])
            values = " = {5, 2}" if default else ""
            self.items[i] = (f"kernel {name}({ports}; i32 byes[3]{values}){rest} {{\n    i32 by = byes[{place}];"
                             + item[found.end():])
            for k in mine:
                inputs, outputs, value, attributes = use.match(self.nets[k]).groups()
                given = rng.choice([f"{{{value}, 3, {value}}}", f"{{{value}}}", "levels"])
                if given == "levels" and not any(n.startswith("levels") for n, _ in self.arguments):
                    self.arguments.append(("levels[3]", f"{{{rng.randint(-9, 9)}, {rng.randint(0, 99)}}}"))
                self.nets[k] = f"{name}({inputs}->{outputs}; {given}){attributes};"

    def add_troubles(self):
        """Some kernels divide by zero in one of their firings, and some stop."""
        rng = random.Random(self.seed * 104729 + 3)
        if rng.random() < 0.6:
            return
        kernels = [i for i, item in enumerate(self.items)
                   if item.startswith("kernel ") and not re.search(r"\) group |launch |\bkernel drop", item)]
        for i in rng.sample(kernels, min(len(kernels), rng.choice([1, 1, 2, 3]))):
            when, style = rng.choice([0, 1, 5, rng.randint(0, 40), rng.randint(0, 200)]), rng.randrange(6)
            port = re.search(r"\(in ([iu]8|[iu]16|[iu]32|[iu]64|bool) (\w+)(?: pop \d+)?(?: peek \d+)?[,)]", self.items[i])
            if style == 0 and port:
                trouble = f"    i64 trouble = 100 / ((i64){port.group(2)}[0] - {when});\n"
            elif style < 4:
                trouble = f"    state i32 trouble;\n    i32 quotient = 100 / ({when} - trouble);\n    trouble++;\n"
            else:
                trouble = f"    state i32 trouble;\n    if (trouble == {when}) stop;\n    trouble++;\n"
            head, brace, body = self.items[i].partition("{\n")
            self.items[i] = head + brace + trouble + body

    def input_bytes(self, stream, iterations, rng):
        """Packets for about so many iterations, as raw bytes."""
        count = int((stream.rate or 1) * iterations)
        count += rng.choice([0, 0, 0, 1, 2, -1, 5, 17, -9])
        count = max(0, min(count, 3000))
        values = bytearray()
        mild = rng.random() < 0.5
        for _ in range(count):
            at = len(values)
            values += pack(stream.type, rng, mild)
            assert len(values) - at == size_of(stream.type)[0]
        return bytes(values)

    def draw_inputs(self):
        rng = random.Random(self.seed * 7919 + 1)
        least = min([s.rate for s in self.inputs if s.rate] or [1])
        iterations = rng.choice([0, 1, 2, 5, 20, 60, 60, 100]) / min(Fraction(1), least)
        return {s.name: self.input_bytes(s, iterations, rng) for s in self.inputs}


def size_of(kind):
    """(bytes, alignment) as in C."""
    if kind.is_scalar():
        return WIDTH[kind.name] // 8, WIDTH[kind.name] // 8
    if kind.lanes:
        size, align = size_of(kind.element)
        return size * kind.lanes, align
    if kind.length:
        size, align = size_of(kind.element)
        return size * kind.length, align
    at, most = 0, 1
    for _, field in kind.fields:
        size, align = size_of(field)
        at = (at + align - 1) // align * align + size
        most = max(most, align)
    return (at + most - 1) // most * most, most


def pack(kind, rng, mild):
    if kind.is_scalar():
        size = WIDTH[kind.name] // 8
        if kind.name == "bool":
            return bytes([rng.randrange(2)])
        if kind.name in FLOATS and (mild or rng.random() < 0.7):
            number = rng.choice([rng.randint(-20, 20), rng.uniform(-2, 2), rng.uniform(-1000, 1000)])
            return struct.pack("<f" if size == 4 else "<d", number)
        if kind.name in HALVES and (mild or rng.random() < 0.7):
            if kind.name == "f16":
                return struct.pack("<e", rng.uniform(-100, 100))
            return struct.pack("<f", rng.uniform(-100, 100))[2:]
        if mild or rng.random() < 0.3:
            signed = kind.name[0] == "i"
            return (rng.randint(-20 if signed else 0, 100)).to_bytes(size, "little", signed=signed)
        return rng.getrandbits(8 * size).to_bytes(size, "little")
    if kind.lanes or kind.length:
        return b"".join(pack(kind.element, rng, mild) for _ in range(kind.lanes or kind.length))
    out = bytearray()
    for _, field in kind.fields:
        _, align = size_of(field)
        out += bytes(-len(out) % align)
        out += pack(field, rng, mild)
    size, _ = size_of(kind)
    return bytes(out + bytes(size - len(out)))


if __name__ == "__main__":
    print(Program(int(sys.argv[1]) if len(sys.argv) > 1 else 1).text, end="")
