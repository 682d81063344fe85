# SPDX-License-Identifier: MIT
"""Random statements and expressions of the pipe language, typed, without undefined behaviour.

Every expression has exactly the type that it is asked for; loops end; divisors are never zero and indices inside,
unless a body is `risky`.  Floats use operations that are exact or correctly rounded, and functions that the language's
own library makes of these, so that there is one right answer.
"""

INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
HALVES = ["f16", "bf16"]
FLOATS = ["f32", "f64"]
LIBRARY = ["sin", "cos", "tan", "atan", "asin", "exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "cbrt", "sinh"]
SCALARS = INTEGERS + HALVES + FLOATS + ["bool"]
WIDTH = {"bool": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
WIDTH.update({t: int(t[1:]) for t in INTEGERS})


class Type:
    """A scalar, a vector (`lanes`), an array (`length` of `element`) or a struct (`fields`)."""

    def __init__(self, name, lanes=0, element=None, length=0, fields=None):
        self.name, self.lanes, self.element, self.length, self.fields = name, lanes, element, length, fields

    def is_scalar(self):
        return self.name in SCALARS

    def scalars(self):
        """The scalar types that it consists of, in order."""
        if self.is_scalar():
            return [self.name]
        if self.lanes:
            return [self.element.name] * self.lanes
        if self.length:
            return self.element.scalars() * self.length
        return [s for _, t in self.fields for s in t.scalars()]

    def __eq__(self, other):
        return isinstance(other, Type) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return self.name


SCALAR = {name: Type(name) for name in SCALARS}


def vector(scalar, lanes):
    return Type(f"{scalar}x{lanes}", lanes=lanes, element=SCALAR[scalar])


def array(element, length):
    return Type(f"{element.name}[{length}]", element=element, length=length)


class Place:
    """A variable, a packet or a part of one: its text and its type; `writable` where it can be assigned."""

    def __init__(self, text, kind, writable=False):
        self.text, self.type, self.writable = text, kind, writable


class Body:
    """Writes statements into `lines`; what they may read and write is in `places`."""

    def __init__(self, rng, functions=(), risky=False):
        self.rng, self.functions, self.risky = rng, functions, risky
        self.lines, self.places, self.indent, self.counter = [], [], 1, 0
        self.counters = []  # (name, rounds) of the loops around

    # ---- text ----

    def put(self, text):
        self.lines.append("    " * self.indent + text)

    def open(self, text):
        self.put(text + " {")
        self.indent += 1

    def close(self, text=""):
        self.indent -= 1
        self.put("}" + text)

    def name(self, stem="v"):
        self.counter += 1
        return f"{stem}{self.counter}"

    def chance(self, percent):
        return self.rng.randrange(100) < percent

    # ---- places ----

    def index(self, length):
        """An index that is proven inside, or checked and inside."""
        rng = self.rng
        fitting = [name for name, rounds in self.counters if rounds <= length]
        if fitting and rng.random() < 0.6:
            return rng.choice(fitting)
        if rng.random() < 0.25:
            beyond = length + (self.risky and rng.random() < 0.2)
            return f"({self.expression(SCALAR['u32'], 1)} % {beyond})"
        return str(rng.randrange(length))

    def parts(self, place):
        """One scalar of it, as a place."""
        kind, text = place.type, place.text
        while not kind.is_scalar():
            if kind.lanes:
                text, kind = f"{text}[{self.index(kind.lanes)}]", kind.element
            elif kind.length:
                text, kind = f"{text}[{self.index(kind.length)}]", kind.element
            else:
                field, kind = self.rng.choice(kind.fields)
                text = f"{text}.{field}"
        return Place(text, kind, place.writable)

    def window(self, name, kind, count, before=""):
        """Makes packets 0 .. count-1 of an in-port readable, by number and by the loops' counters."""
        self.places.append(WindowPlace(self, name, kind, count, before))

    # ---- expressions ----

    def leaf(self, kind):
        rng = self.rng
        same = [p for p in self.places if p.type == kind]
        if same and rng.random() < 0.7:
            return rng.choice(same).text
        if kind.is_scalar() and rng.random() < 0.75:
            scalars = [p for p in self.places]
            if scalars:
                place = self.parts(rng.choice(scalars))
                return place.text if place.type == kind else f"({kind})({place.text})"
        return self.literal(kind)

    def literal(self, kind):
        rng = self.rng
        if kind.name == "bool":
            return rng.choice(["true", "false"])
        if kind.name in INTEGERS:
            bits = WIDTH[kind.name]
            signed = kind.name[0] == "i"
            low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
            value = rng.choice([0, 1, 2, 3, 5, 7, low, high, high - 1, rng.randint(low, high), rng.randint(0, 100)])
            if value < 0:
                return f"({kind})({value})" if value > -(1 << 63) else "((i64)(1) << 63)"
            return f"({kind}){value}"
        if kind.name in HALVES + FLOATS:
            number = rng.choice(["0.0", "1.0", "0.5", "-1.5", "2.75", "3.0", "-0.0", "1e10", "-7e-8", "0.1", "1000.0",
                                 "0.33"])
            if kind.name == "f16" and number in ("1e10",):
                number = "60000.0"
            return f"({kind})({number})"
        if kind.lanes:
            return f"{kind}({self.literal(kind.element)})"
        if kind.length:
            return None
        return f"{kind}({', '.join(self.expression(t, 0) for _, t in kind.fields)})"

    def expression(self, kind, depth):
        if kind.name == "bool":
            return self.condition(depth)
        if kind.name in INTEGERS:
            return self.integer(kind, depth)
        if kind.name in HALVES:
            return self.half(kind, depth)
        if kind.name in FLOATS:
            return self.floating(kind, depth)
        if kind.lanes:
            return self.vector_value(kind, depth)
        if kind.length:
            same = [p.text for p in self.places if p.type == kind]
            return self.rng.choice(same)
        if depth <= 0 or self.chance(30):
            same = [p.text for p in self.places if p.type == kind]
            if same:
                return self.rng.choice(same)
        return f"{kind}({', '.join(self.expression(t, depth - 1) for _, t in kind.fields)})"

    def call(self, kind, depth):
        fitting = [f for f in self.functions if f[1] == kind]
        if not fitting:
            return None
        name, _, arguments = self.rng.choice(fitting)
        return f"{name}({', '.join(self.expression(t, depth - 1) for t in arguments)})"

    # ---- what a condition proves ----

    def proof(self, kind):
        """(condition, value): an integer of that type that is safe only where the condition holds; or None."""
        rng = self.rng
        scalars = [p for p in self.places if p.type == kind]
        if kind.name not in INTEGERS or not scalars:
            return None
        text = rng.choice(scalars).text  # a window's place has another text each time
        rows = [p for p in self.places if p.type.length and p.type.element == kind]
        if rows and self.chance(40):
            row = rng.choice(rows)
            return f"({text} >= ({kind})0 && {text} < ({kind}){row.type.length})", f"{row.text}[{text}]"
        fitting = [f for f in self.functions if f[1] is None and f[2] == [kind, kind]]
        left, most = self.literal(kind), rng.choice([0, 1, 3, 20])
        value = f"({left} {rng.choice('/%')} {text})"
        if fitting and self.chance(40):
            value = f"{rng.choice(fitting)[0]}({left}, {text})"
        if kind.name[0] == "i" and self.chance(25):
            return f"({text} < ({kind})(-{most}))", value
        return f"({text} > ({kind}){most})", value

    def conditional(self, kind, depth):
        """(condition, value): the value is wanted, and sometimes safe, only where the condition holds."""
        proven = self.proof(kind) if self.chance(30) else None
        return proven or (self.condition(2), self.expression(kind, depth))

    def choice_of(self, kind, depth):
        proven = self.proof(kind) if self.chance(30) else None
        if proven:
            return f"({proven[0]} ? {proven[1]} : {self.expression(kind, depth - 1)})"
        return (f"({self.condition(depth - 1)} ? {self.expression(kind, depth - 1)} : "
                f"{self.expression(kind, depth - 1)})")

    def integer(self, kind, depth):
        rng = self.rng
        if depth <= 0 or self.chance(10):
            return self.leaf(kind)
        a = lambda: self.expression(kind, depth - 1)
        how = rng.randrange(100)
        if how < 45:
            right = a()
            narrower = [t for t in INTEGERS if WIDTH[t] < WIDTH[kind.name]]
            if narrower and self.chance(15):
                right = self.expression(SCALAR[rng.choice(narrower)], depth - 1)
            return f"({a()} {rng.choice('+-*+-*&|^')} {right})"
        if how < 53:
            return f"({a()} {rng.choice(['<<', '>>'])} {self.expression(SCALAR[rng.choice(INTEGERS)], depth - 1)})"
        if how < 60:
            odd = "" if self.risky and self.chance(30) else f" | ({kind})1"
            return f"({a()} {rng.choice('/%')} ({a()}{odd}))"
        if how < 66:
            return f"({rng.choice('-~+')}{a()})"
        if how < 72:
            return f"{rng.choice(['min', 'max'])}({a()}, {a()})"
        if how < 75:
            return f"abs({a()})"
        if how < 82:
            return self.choice_of(kind, depth)
        if how < 88:
            return f"({kind})({self.expression(SCALAR[rng.choice(SCALARS)], depth - 1)})"
        if how < 90 and kind.name in ("u32", "u64"):
            return f"bits({self.expression(SCALAR['f32' if kind.name == 'u32' else 'f64'], depth - 1)})"
        if how < 92:
            return f"({self.expression(SCALAR['bool'], depth - 1)} ? {a()} : {a()})"
        return self.call(kind, depth) or f"({a()} + {rng.randrange(100)})"

    def half(self, kind, depth):
        if depth <= 0 or self.chance(20):
            return self.leaf(kind)
        if self.chance(15):
            return self.choice_of(kind, depth)
        return f"({kind})({self.expression(SCALAR['f32'], depth - 1)})"

    def floating(self, kind, depth):
        rng = self.rng
        if depth <= 0 or self.chance(10):
            return self.leaf(kind)
        a = lambda: self.expression(kind, depth - 1)
        how = rng.randrange(100)
        if how < 50:
            right = a()
            if self.chance(10):
                right = self.expression(SCALAR[rng.choice(INTEGERS)], depth - 1)
            return f"({a()} {rng.choice('+-*+-*+-*/')} {right})"
        if how < 56:
            return f"{rng.choice(['floor', 'ceil', 'trunc', 'rint', 'round', 'sqrt', 'abs'])}({a()})"
        if how < 62:
            return f"{rng.choice(['min', 'max', 'copysign'])}({a()}, {a()})"
        if how < 68:
            return f"fma({a()}, {a()}, {a()})"
        if how < 72:
            return f"(-{a()})"
        if how < 80:
            return self.choice_of(kind, depth)
        if how < 89:
            return f"({kind})({self.expression(SCALAR[rng.choice(SCALARS)], depth - 1)})"
        if how < 91:
            return f"{rng.choice(LIBRARY)}({a()})"
        if how < 92:
            return f"{rng.choice(['atan2', 'pow', 'hypot', 'fmod'])}({a()}, {a()})"
        if how < 94:
            return f"from_bits({self.expression(SCALAR['u32' if kind.name == 'f32' else 'u64'], depth - 1)})"
        return self.call(kind, depth) or a()

    def condition(self, depth):
        rng = self.rng
        if depth <= 0:
            return self.leaf(SCALAR["bool"])
        how = rng.randrange(100)
        if how < 60:
            kind = SCALAR[rng.choice(INTEGERS + INTEGERS + FLOATS)]
            return (f"({self.expression(kind, depth - 1)} {rng.choice(['<', '>', '<=', '>=', '==', '!='])} "
                    f"{self.expression(kind, depth - 1)})")
        if how < 75:
            kind = SCALAR[rng.choice(INTEGERS)]
            proven = self.proof(kind) if self.chance(30) else None
            if proven:
                return f"({proven[0]} && {proven[1]} {rng.choice(['<', '>', '=='])} ({kind})5)"
            return f"({self.condition(depth - 1)} {rng.choice(['&&', '||'])} {self.condition(depth - 1)})"
        if how < 85:
            return f"(!{self.condition(depth - 1)})"
        if how < 92:
            vectors = [p for p in self.places if p.type.lanes]
            if vectors:
                place = rng.choice(vectors)
                return (f"{rng.choice(['any', 'all'])}({place.text} {rng.choice(['!=', '<', '>='])} "
                        f"{self.expression(place.type, depth - 1)})")
        if how < 96:
            return (f"{rng.choice(['isnan', 'isinf', 'signbit'])}"
                    f"({self.expression(SCALAR[rng.choice(FLOATS)], depth - 1)})")
        return self.leaf(SCALAR["bool"])

    def vector_value(self, kind, depth):
        rng, element = self.rng, kind.element
        if depth <= 0:
            return self.leaf(kind)
        how = rng.randrange(100)
        if how < 40 and element.name in INTEGERS + FLOATS:
            other = self.expression(kind if self.chance(70) else element, depth - 1)
            return f"({self.expression(kind, depth - 1)} {rng.choice('+-*')} {other})"
        if how < 55:
            return f"{kind}({', '.join(self.expression(element, depth - 1) for _ in range(kind.lanes))})"
        if how < 65:
            return f"{kind}({self.expression(element, depth - 1)})"
        if how < 75:
            others = [p for p in self.places if p.type.lanes == kind.lanes]
            if others:
                return f"{kind}({rng.choice(others).text})"
        if how < 85 and element.name in INTEGERS + FLOATS:
            return (f"{rng.choice(['min', 'max'])}({self.expression(kind, depth - 1)}, "
                    f"{self.expression(kind, depth - 1)})")
        return self.leaf(kind)

    # ---- statements ----

    def declare(self, kind, stem="v", words=""):
        name = self.name(stem)
        if kind.length:
            if words or self.chance(40):
                self.put(f"{words}{kind} {name};")
            else:
                values = ", ".join(self.expression(kind.element, 1) for _ in range(self.rng.randint(1, kind.length)))
                self.put(f"{kind} {name} = {{{values}}};")
        else:
            self.put(f"{words}{kind} {name} = {self.expression(kind, 2)};")
        self.places.append(Place(name, kind, True))
        return name

    def assign(self):
        writable = [p for p in self.places if p.writable]
        if not writable:
            return
        place = self.rng.choice(writable)
        if not place.type.is_scalar() and (place.type.length or self.chance(60)):
            place = self.parts(place)
        kind = place.type
        if kind.name in INTEGERS and self.chance(40):
            op = self.rng.choice(["+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>="])
            self.put(f"{place.text} {op} {self.expression(kind, 2)};")
        elif kind.name in INTEGERS and self.chance(10):
            self.put(f"{place.text}{self.rng.choice(['++', '--'])};")
        else:
            self.put(f"{place.text} = {self.expression(kind, 2)};")

    def scoped(self, statements, depth):
        mark = len(self.places)
        self.statements(statements, depth)
        del self.places[mark:]

    def loop(self, depth, rounds=None):
        rounds = rounds or self.rng.choice([1, 2, 3, 4, 5, 8])
        counter = self.name("at")
        self.open(f"for (i32 {counter} = 0; {counter} < {rounds}; {counter}++)")
        self.counters.append((counter, rounds))
        self.places.append(Place(counter, SCALAR["i32"]))
        mark = len(self.places) - 1
        self.statements(self.rng.randint(1, 2), depth - 1)
        if self.chance(15):
            self.put(f"if ({self.condition(2)}) {self.rng.choice(['break', 'continue'])};")
        del self.places[mark:]
        self.counters.pop()
        self.close()

    def statements(self, count, depth=2):
        rng = self.rng
        for _ in range(count):
            how = rng.randrange(100)
            if how < 35:
                self.declare(self.any_type())
            elif how < 65 or depth <= 0:
                self.assign()
            elif how < 78:
                kind = SCALAR[rng.choice(INTEGERS)]
                proven = self.proof(kind) if self.chance(30) else None
                self.open(f"if ({proven[0] if proven else self.condition(2)})")
                targets = [p for p in self.places if p.writable and p.type == kind]
                if proven and targets:
                    self.put(f"{rng.choice(targets).text} = {proven[1]};")
                self.scoped(rng.randint(1, 2), depth - 1)
                if rng.random() < 0.5:
                    self.close(" else {")
                    self.indent += 1
                    self.scoped(1, depth - 1)
                self.close()
            elif how < 92:
                self.loop(depth)
            elif how < 96:
                self.open(f"switch ({self.expression(SCALAR['u32'], 1)} % 4)")
                for label in rng.sample(range(4), rng.randint(1, 3)):
                    self.put(f"case {label}:")
                    self.assign()
                    self.put(";")
                    if rng.random() < 0.7:
                        self.put("break;")
                if rng.random() < 0.6:
                    self.put("default:")
                    self.assign()
                    self.put(";")
                self.close()
            else:
                name = self.name("n")
                self.put(f"u32 {name} = {self.expression(SCALAR['u32'], 1)} % 7;")
                self.open(f"while ({name} > 0)")
                self.scoped(1, depth - 1)
                self.put(f"{name}--;")
                self.close()

    def any_type(self):
        rng = self.rng
        how = rng.randrange(100)
        if how < 75:
            return SCALAR[rng.choice(INTEGERS + INTEGERS + FLOATS + FLOATS + HALVES + ["bool"])]
        if how < 88:
            return vector(rng.choice(INTEGERS + FLOATS), rng.choice([2, 3, 4, 8]))
        return array(SCALAR[rng.choice(INTEGERS + FLOATS)], rng.randint(1, 6))


class WindowPlace(Place):
    """The packets of an in-port: each reading takes another of them."""

    def __init__(self, body, name, kind, count, before):
        self.body, self.port, self.count, self.before = body, name, count, before
        self.type, self.writable = kind, False

    @property
    def text(self):
        if self.count == 1 and not self.before and self.body.chance(50):
            if not self.type.length and not self.type.lanes:
                return self.port
        return f"{self.port}{self.before}[{self.body.index(self.count)}]"
