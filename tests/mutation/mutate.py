#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutate.py [-n N] [-s SEED] [-t TEST,...] FOLDER FILE...: does a test notice when a line is wrong?

Draws N mutants of each FILE (0: all of them), compiles each (-O0, no debug information), links it in front of the
archives of FOLDER, a built VARIANT=debug, with the test programs that are about the file, and runs these until one fails.
Of the same text and SEED the same mutants are drawn.  What is needed of FOLDER and the sources is copied at the start:
whatever is changed and built later, this one goes on with what was there.  A mutant changes one thing:

    a relation (< and <=, == and !=), an arithmetic operator, a constant by one, a condition to its contrary, && to ||,
    the order of the arguments of && and ||, a statement to nothing

Mutants with the object code of the original are none.  Prints each survivor, and the score of each file.  Where none can
be told from the original the source says why, on the line or in the comment that ends on the line before the statement:

    /* equivalent: a depth is never 0 here */

Exit 0 if none survives that is not excused so, else 1.  Environment: CC (default cc), MUTATION_FLAGS (for compiling),
MUTATION_LIBS, MUTATION_FAULTS, MUTATION_IO_FAULTS, MUTATION_SCHED_FAULTS and MUTATION_QUOTA (for linking): `make mutation`
sets them.
"""
import argparse
import glob
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

MARK = "equivalent:"
LOADER = ["test_reader", "test_container_rules", "test_verify", "test_verify_program", "test_device_queue",
          "test_conform_sim", "test_load_faults"]
IO = ["test_io_faults", "test_io_sink"]
SCHEDULER = ["test_sched", "test_conform_sim", "test_conform_null", "test_conform_ranked", "test_conform_cpu", "test_static_part",
             "test_sched_rates", "test_stalls", "test_device_queue", "test_flow", "test_debugger", "test_pipert", "test_sched_faults",
             "test_load_faults"]
TESTS = {  # those that are about a file come first
    "reader.c": LOADER + ["test_debug_info"],
    "verify_effects.c": ["test_effects"] + LOADER,
    "verify_fields.c": ["test_container_rules"] + LOADER,
    "verify_program.c": ["test_verify_program"] + LOADER,
    "verify_flow.c": ["test_verify_program"] + LOADER,
    "verify_levels.c": ["test_verify_program"] + LOADER,
    "verify_launches.c": ["test_device_queue"] + LOADER,
    "verify_debug.c": ["test_debug_info"] + LOADER,
    "verify_fused.c": ["test_fused"] + LOADER,
    "fused.c": ["test_fused"],
    "debug_info.c": ["test_debug_info"],
    "verify_certificate.c": ["test_verify", "test_certify"] + LOADER,
    "verify_schedule.c": ["test_verify", "test_certify"] + LOADER,
    "verify_bounded.c": ["test_verify", "test_certify"] + LOADER,
    "image.c": ["test_image", "test_load_faults"],
    "image_elf.c": ["test_image_elf", "test_image"],
    "image_ptx.c": ["test_image", "test_load_faults"],
    "cached_buffers.c": ["test_load_faults", "test_time"],
    "faults.c": ["test_fault_order", "test_at_hand"] + SCHEDULER,
    "deepen.c": ["test_deepen", "test_sched_faults"],
    "device_need.c": ["test_device_queue"] + LOADER,
    "rewrite.c": ["test_image", "test_load_faults"],
    "stage_listing.c": ["test_image"],
    "fifo.c": ["test_fifo", "test_conform_sim", "test_load_faults"],
    "ring.c": ["test_fifo", "test_conform_sim", "test_load_faults"],
    "subdevice.c": ["test_subdevice", "test_subdevice_model", "test_load_faults"],
    "subdevice_path.c": ["test_subdevice", "test_load_faults"],
    **{name + ".c": ["test_at_hand"] + SCHEDULER for name in ("inport", "leftovers")},
    **{name + ".c": ["test_sched_create"] + SCHEDULER for name in ("indices", "sched_create")},
    "marks.c": ["test_stage_marks", "test_conform_sim", "test_load_faults"],
    "dispatch_codec.c": ["test_dispatch_codec", "test_packet_processor"],
    "convert.c": ["test_io_raw", "test_io_wav", "test_io_image", "test_io_npy"] + IO,
    "csv.c": ["test_io_raw"] + IO,
    "generate.c": ["test_io_raw", "test_io_spec"] + IO,
    "io_reader.c": ["test_io_raw"] + IO,
    "io_writer.c": IO,
    "npy.c": ["test_io_npy"] + IO,
    "pgm.c": ["test_io_image"] + IO,
    "png.c": ["test_io_image"] + IO,
    "port_spec.c": ["test_io_spec"] + IO,
    "raw.c": ["test_io_raw"] + IO,
    **{"sound_" + name + ".c": ["test_io_wav", "test_io_sound"] + IO for name in ("header", "library", "reader", "writer")},
    "stream.c": ["test_io_spec", "test_io_raw", "test_io_image"] + IO,
    "temporaries.c": IO,
    "memory_port.c": ["test_memory_port"] + SCHEDULER,
    "port_thread.c": ["test_port_thread"] + SCHEDULER,
    "live_port.c": ["test_live_port", "test_arrival_port"] + SCHEDULER,
    "arrivals.c": ["test_arrivals", "test_arrival_port"],
    "arrival_port.c": ["test_arrival_port", "test_arrivals"],
    "lateness.c": ["test_arrival_port", "test_sched_faults"],
    "arrival_text.c": ["test_arrival_text", "test_io_faults"],
    **{name + ".c": ["test_command_queue", "test_device_handle"] for name in ("command_device", "pipert_queue")},
    "static_part.c": ["test_static_part"] + SCHEDULER,
    "explain.c": ["test_stalls"] + SCHEDULER,
    "sched_replay.c": ["test_stalls"] + SCHEDULER,
    **{name + ".c": ["test_machine"] + SCHEDULER for name in ("block", "core", "ends", "flow", "launch", "machine", "packets", "bindings", "program",
                                           "provenance", "ready", "run_state", "sched", "select", "self_driven",
                                           "stage_profile")},
}
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "*", "+=": "-=", "-=": "+=", "*=": "+=", "<<": ">>", ">>": "<<",
              "|=": "&=", "&=": "|=", "|": "&", "++": "--", "--": "++"}
TOKEN = re.compile(r"""(?P<word>[A-Za-z_]\w*)|(?P<number>0[xX][0-9a-fA-F]+|\d+)(?P<suffix>[uUlL]*)
                       |(?P<operator>->|\+\+|--|<<=|>>=|\.\.\.|[-+*/%|&^=!<>]=|<<|>>|&&|\|\||[-+*/%&|^<>=!~?:;,.(){}\[\]])""",
                   re.X)


def blanked(text):
    """The text with comments, strings, characters and preprocessor lines as spaces, at the same places."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*', spaces, text,
                  flags=re.S | re.M)


def tokens_of(text):
    """(kind, text, begin, end) of all tokens inside of functions."""
    depth, tokens, code = 0, [], blanked(text)
    for match in TOKEN.finditer(code):
        if match.group() == "}" and code[match.start() - 1] == "\n":
            depth = 0
        if depth:
            tokens.append((match.lastgroup if match.lastgroup != "suffix" else "number", match.group(), match.start(),
                           match.end()))
        if match.group() == "{" and code[match.start() - 1] == "\n":
            depth = 1
    return tokens


def partner(tokens, at):
    """The parenthesis that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += tokens[i][1] in ("(", "[", "{")
        depth -= tokens[i][1] in (")", "]", "}")
        if depth == 0:
            return i
    return None


def operand(tokens, at, step, ends):
    """The last token of the operand that lies on one side of the operator at `at`."""
    depth, i = 0, at + step
    opening, closing = ("([{", ")]}") if step > 0 else (")]}", "([{")
    while 0 <= i < len(tokens):
        text = tokens[i][1]
        if depth == 0 and (text in closing or text in ends):
            return i - step
        depth += text in opening
        depth -= text in closing
        i += step
    return None


def is_binary(tokens, at):
    before = tokens[at - 1] if at else ("", "", 0, 0)
    return (before[0] == "number" or before[1] in (")", "]") or
            (before[0] == "word" and before[1] not in ("return", "case", "sizeof")))


def is_asserted(text, at):
    """Is it a part of an assertion?  That is no part of what is built for a user."""
    code = blanked(text)
    return (re.split(r"[;{}]\s", code[:at])[-1] + code[at:at + 7]).lstrip().startswith("assert(")


def order_matters(left, right):
    """Can it be told whether `right` is looked at first?  Not of comparisons, or questions (is_, has_), of what is
    there anyway: what a pointer leads to is there where `left` does not ask for the pointer."""
    plain = re.sub(r"\b(\w+_)?(is|has)_\w+\(", "", right)
    return bool(re.search(r"[\[/%(]", plain)) or any(
        re.search(rf"\b{pointer}\b(?!->)", left) for pointer in re.findall(r"(\w+)->", right))


def mutants_of(text):
    """All of them: (offset, end, replacement, what it is)."""
    tokens, found = tokens_of(text), []

    def add(begin, end, new, what):
        found.append((begin, end, new, what))

    for i, (kind, token, begin, end) in enumerate(tokens):
        after = tokens[i + 1][1] if i + 1 < len(tokens) else ""
        if token in RELATIONS:
            add(begin, end, RELATIONS[token], f"{token} is {RELATIONS[token]}")
        elif token in ARITHMETIC and (token in ("++", "--") or "=" in token or is_binary(tokens, i)):
            # a pointer's star, and a type before it
            if not (token == "*" and (after in (")", "*", "const") or text[end] != " ")):
                add(begin, end, ARITHMETIC[token], f"{token} is {ARITHMETIC[token]}")
        elif kind == "number":
            digits = re.match(r"0[xX][0-9a-fA-F]+|\d+", token).group()
            value = int(digits, 8 if re.fullmatch(r"0\d+", digits) else 0)
            suffix = re.sub(r"^(0[xX][0-9a-fA-F]+|\d+)", "", token)
            add(begin, end, f"{value + 1}{suffix}", f"{token} is {value + 1}")
            if value:
                add(begin, end, f"{value - 1}{suffix}", f"{token} is {value - 1}")
        elif token in ("&&", "||"):
            other = "||" if token == "&&" else "&&"
            add(begin, end, other, f"{token} is {other}")
            ends = {";", ",", "?", ":", "=", "return", "||"} | ({"&&"} if token == "&&" else set())
            first, last = operand(tokens, i, -1, ends), operand(tokens, i, 1, ends)
            if first is not None and last is not None and first < i < last:
                left, right = text[tokens[first][2]:tokens[i - 1][3]], text[tokens[i + 1][2]:tokens[last][3]]
                if order_matters(left, right):
                    add(tokens[first][2], tokens[last][3], f"{right} {token} {left}",
                        f"arguments of {token} are swapped")
        elif token in ("if", "while") and after == "(":
            close = partner(tokens, i + 1)
            if close is not None:
                begin, end = tokens[i + 1][3], tokens[close][2]
                add(begin, end, f"!({text[begin:end]})", f"{token} is negated")
        if token in (";", "{", "}", ")", "else") and i + 2 < len(tokens) and tokens[i + 1][0] == "word":
            # A statement: a call or an assignment, not a declaration (two words) or a jump.
            j = i + 1
            if tokens[j + 1][1] not in ("(", "=", "->", ".", "[", "+=", "-=", "|=", "++", "--") or tokens[j][1] in (
                    "if", "for", "while", "switch", "return", "sizeof", "case"):
                continue
            if token == ")" and not text[end:tokens[j][2]].count("\n"):
                continue
            stop = operand(tokens, i, 1, {";"})
            if stop is not None and tokens[stop + 1][1] == ";":
                add(tokens[j][2], tokens[stop][3], "", "nothing is done")
    return sorted(mutant for mutant in set(found) if not is_asserted(text, mutant[0]))


def excused_lines(text):
    lines, rows = set(), text.split("\n")
    for comment in re.finditer(r"/\*.*?\*/", text, re.S):
        if MARK in comment.group():
            begins = text.rfind("\n", 0, comment.start()) + 1
            alone = not text[begins:comment.start()].strip()
            at = text.count("\n", 0, comment.end()) + (2 if alone else 1)
            lines.add(at)
            while alone and at < len(rows) and not re.search(r"[;{]\s*$", rows[at - 1]):
                at += 1
                lines.add(at)
    return lines


def compiler():
    return shlex.split(os.environ.get("CC", "cc"))


def flags_for(source, sources, folder):
    """To compile it where `sources` is the root of the sources, and FOLDER was built from them.  Its own folder is
    not searched: runtime/sched/sched.h would be taken for the system's <sched.h>."""
    return ["-std=c11", "-D_GNU_SOURCE", f"-I{sources}", f"-I{folder}/gen", "-w", "-O0", "-fPIC",
            "-pthread"] + shlex.split(os.environ.get("MUTATION_FLAGS", ""))


def read_by(source, folder):
    """The source and the headers of the project that it includes, by the compiler's account."""
    words = subprocess.run(compiler() + flags_for(source, ".", folder) + ["-MM", source], stdout=subprocess.PIPE, text=True)
    if words.returncode:
        sys.exit(f"mutate: {source} does not compile")
    return [os.path.normpath(word) for word in words.stdout.replace("\\\n", " ").split()[1:]]


class Copy:
    """What is needed of the sources and of a build: others may change them both while the mutants run."""

    def __init__(self, work, folder, sources, programs):
        self.folder, self.sources = work + "/built", work + "/sources"
        archives = sorted(glob.glob(f"{folder}/llvm*/libpipec.a"))[-1:]
        archives += [f"{folder}/tests/libhelper.a", f"{folder}/libpiperun.a", f"{folder}/libpipert.a"]
        objects = [f"{folder}/obj/tests/unit/{program}.o" for program in programs]
        for path in archives + objects:
            self.take(path, f"{self.folder}/{os.path.relpath(path, folder)}")
        for path in sorted({name for source in sources for name in read_by(source, folder)}):
            generated = os.path.relpath(path, folder)
            self.take(path, f"{self.sources}/{path}" if generated.startswith("..") else f"{self.folder}/{generated}")

    @staticmethod
    def take(path, to):
        os.makedirs(os.path.dirname(to), exist_ok=True)
        try:
            shutil.copyfile(path, to)
        except OSError as error:
            sys.exit(f"mutate: {path}: {error.strerror}: `make mutation` builds what is needed")


class Builder:
    def __init__(self, copy, work, source, programs):
        self.folder, self.work, self.source, self.programs = copy.folder, work, source, programs
        self.pipec = sorted(glob.glob(f"{copy.folder}/llvm*/libpipec.a"))[-1:]
        self.compiler = compiler()
        self.flags = flags_for(source, copy.sources, copy.folder)

    def compile(self, text):
        """The object code, or None."""
        path, out = f"{self.work}/{os.path.basename(self.source)}", f"{self.work}/mutant.o"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if subprocess.run(self.compiler + self.flags + ["-c", path, "-o", out], stderr=subprocess.DEVNULL).returncode:
            return None
        with open(out, "rb") as file:
            return file.read()

    def passes(self, program, seconds):
        """Links the mutant into the program and runs it."""
        test = f"{self.folder}/obj/tests/unit/{program}.o"
        archives = [f"{self.folder}/tests/libhelper.a"] + self.pipec + [f"{self.folder}/libpiperun.a", f"{self.folder}/libpipert.a"]
        words = shlex.split(os.environ.get("MUTATION_LIBS", ""))
        faults = {"test_load_faults": "MUTATION_FAULTS", "test_io_faults": "MUTATION_IO_FAULTS",
                  "test_sched_faults": "MUTATION_SCHED_FAULTS", "test_pipert": "MUTATION_QUOTA"}.get(program)
        if faults is not None:
            words += shlex.split(os.environ.get(faults, ""))
        link = self.compiler + ["-Wl,--strip-debug", f"{self.work}/mutant.o", test] + archives + words + ["-o", f"{self.work}/test"]
        if subprocess.run(link, stderr=subprocess.DEVNULL).returncode:
            sys.exit(f"mutate: {program} cannot be linked with {self.source}")
        try:
            return subprocess.run([f"{self.work}/test"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  stdin=subprocess.DEVNULL, timeout=seconds).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def survives(self, seconds):
        return all(self.passes(program, seconds) for program in self.programs)


def run_file(options, copy, source, programs):
    """Tries N mutants of one file; how many survived."""
    with open(f"{copy.sources}/{source}", encoding="utf-8") as file:
        text = file.read()
    excused, killed, survived, told = excused_lines(text), 0, 0, 0
    with tempfile.TemporaryDirectory() as work:
        builder = Builder(copy, work, source, programs)
        original = builder.compile(text)
        if original is None:
            sys.exit(f"mutate: {source} does not compile")
        begin = time.monotonic()
        if not builder.survives(600):
            sys.exit(f"mutate: a test fails with {source} as it is")
        seconds = 20 + 5 * (time.monotonic() - begin)
        mutants = mutants_of(text)
        random.Random(f"{options.seed} {os.path.basename(source)}").shuffle(mutants)
        for begin, end, new, what in mutants:
            if options.count and killed + survived + told >= options.count:
                break
            mutant = builder.compile(text[:begin] + new + text[end:])
            if mutant is None or mutant == original:
                continue
            line = text.count("\n", 0, begin) + 1
            if line in excused:
                told += 1
            elif builder.survives(seconds):
                survived += 1
                print(f"{source}:{line}: {what}: {text.splitlines()[line - 1].strip()}", flush=True)
            else:
                killed += 1
    score = 100 * killed / (killed + survived) if killed + survived else 100
    print(f"{source}: {killed} of {killed + survived} noticed ({score:.0f} %), {told} excused", flush=True)
    return survived


def main():
    parser = argparse.ArgumentParser(description="does a test notice when a line is wrong?")
    parser.add_argument("-n", dest="count", type=int, default=20)
    parser.add_argument("-s", dest="seed", default="1")
    parser.add_argument("-t", dest="tests", help="the test programs, instead of those that are about the file")
    parser.add_argument("folder")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    os.environ.pop("T", None)  # would have the tests leave most of them out (tests/test.h)
    sources = [os.path.normpath(source) for source in options.files]
    programs = {source: options.tests.split(",") if options.tests else TESTS.get(os.path.basename(source), LOADER)
                for source in sources}
    with tempfile.TemporaryDirectory() as work:
        copy = Copy(work, options.folder, sources, sorted({name for names in programs.values() for name in names}))
        survived = sum(run_file(options, copy, source, list(dict.fromkeys(programs[source]))) for source in sources)
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
