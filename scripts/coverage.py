#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coverage.py FOLDER FILE...: branches and conditions of the FILEs that no test takes.
coverage.py FOLDER: the programs of FOLDER, that of VARIANT=coverage, that have to be built for it.

Runs the programs of TESTS, replays the seeds of fuzz targets, runs the cases of COMMANDS, and prints a table, and then each
branch with an outcome and each condition (MC/DC: one that never alone decides) that no run has shown and whose source does not say why:

    /* uncovered: the reader has looked at it */

on a line of the branch, or in the comment that ends on the line before its statement.  Not looked for: the false branch
of an assertion, and a value for which a switch without default has no case.  Exit 0 if there are none, and no such
comment where everything is covered; else 1.
"""
import json
import os
import re
import shutil
import subprocess
import sys

TESTS = ["test_verify", "test_container_rules", "test_reader", "test_verify_program", "test_device_queue",
         "test_debug_info", "test_certify", "test_fifo", "test_subdevice", "test_subdevice_model",
         "test_dispatch_codec", "test_pipert", "test_at_hand", "test_fault_order", "test_sched", "test_sched_create", "test_flow", "test_packet_processor", "test_conform_sim",
         "test_conform_cpu", "test_conform_null", "test_conform_ranked", "test_streams", "test_load_faults", "test_image",
         "test_image_elf", "test_deepen", "test_effects", "test_io_faults", "test_io_image", "test_io_npy", "test_io_raw", "test_io_sink",
         "test_io_spec", "test_io_sound", "test_io_wav", "test_limits",
         "test_port_thread", "test_live_port", "test_arrivals", "test_arrival_port", "test_arrival_text", "test_memory_port", "test_sched_faults", "test_stage_marks", "test_stalls", "test_sched_rates", "test_static_part",
         "test_observer", "test_debugger", "test_piperun", "test_machine", "test_cpu_trial", "test_cpu_pool", "test_trial", "test_sim", "test_time", "test_cuda", "test_fused",
         "test_device_handle", "test_command_queue"]
REPLAYS = ["program", "packets", "subdevices", "interleaving", "streams"]  # with seeds in tests/fuzz/corpus
# Cases of tests/run.sh: what files, ports and the scheduler do in whole runs.
COMMANDS = ["tests/lang"] + [f"tests/e2e/{name}.sh" for name in (
    "formats", "packets", "audio_rates", "bad_input", "leftovers", "reports", "debugger", "signals", "interrupt",
    "counterexample", "device_queue", "endless", "suspensions", "importance", "kernel_faults", "shrinking_input", "cpu", "live_streams",
    "arrivals", "extern_kernels", "time", "time_report", "measured_times", "predict", "cuda")]
CONSTANTS = {"0", "1", "true", "false"}  # conditions that are no choice
MARK = "uncovered:"


def tool(name):
    """The newest NAME: the profiles have the version of clang."""
    for version in ("-22", "-21", "-20", "-19", ""):
        if shutil.which(name + version):
            return name + version
    sys.exit(f"coverage: no {name}: run scripts/deps.sh fuzz")


def run_commands(folder, profiles):
    """The cases of COMMANDS with the commands of the folder.  Each process writes a profile of its own: a process
    that is killed while it adds to a common one damages it.  (%m: a number of a process may come again.)"""
    done = subprocess.run(["tests/run.sh"] + COMMANDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={
        **os.environ, "BUILD": folder, "VARIANT": "coverage", "LLVM_PROFILE_FILE": f"{profiles}/commands-%p-%m.profraw"})
    if done.returncode != 0:
        sys.stdout.buffer.write(done.stdout[-4000:])
        sys.exit("coverage: tests/run.sh fails")


def run_tests(folder, profiles):
    """Every program of TESTS and REPLAYS, and the commands; those that run."""
    os.environ.pop("T", None)  # would have the programs leave most of their tests out (tests/test.h)
    programs = [[f"{folder}/tests/{name}"] for name in TESTS]
    for name in REPLAYS:
        seeds = f"tests/fuzz/corpus/{name}"
        programs.append([f"{folder}/tests/replay_fuzz_{name}"] + [f"{seeds}/{seed}" for seed in sorted(os.listdir(seeds))])
    for command in programs:
        profile = f"{profiles}/{os.path.basename(command[0])}.profraw"
        whole = {"LONG": "1"} if command[0].endswith("_faults") else {}  # each call fails in turn, not every seventh
        done = subprocess.run(command, env={**os.environ, **whole, "LLVM_PROFILE_FILE": profile}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.stdout.buffer.write(done.stdout[-4000:])
            sys.exit(f"coverage: {command[0]} fails")
    run_commands(folder, profiles)
    return [command[0] for command in programs] + [f"{folder}/piperun"]


def export(profiles, programs, files):
    """What llvm-cov knows of the functions of the files."""
    merged = f"{profiles}/merged.profdata"
    names = f"{profiles}/names"
    with open(names, "w", encoding="utf-8") as file:
        file.writelines(f"{profiles}/{name}\n" for name in os.listdir(profiles) if name.endswith(".profraw"))
    # A killed process may leave a part of a profile, which says nothing.
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", "-failure-mode=all", "-o", merged, "-f", names],
                   check=True, stderr=subprocess.DEVNULL)
    objects = [word for program in programs[1:] for word in ("-object", program)]
    text = subprocess.run([tool("llvm-cov"), "export", "-format=text", f"-instr-profile={merged}", programs[0]] + objects +
                          files, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)["data"][0]["functions"]


class Source:
    """One file: its lines, and which of them are marked."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.lines = self.text.split("\n")
        self.marks = {}  # line that is excused -> line of its mark
        for comment in re.finditer(r"/\*.*?\*/", self.text, re.S):
            if MARK in comment.group():
                last = self.text.count("\n", 0, comment.end()) + 1
                begins = self.text.rfind("\n", 0, comment.start()) + 1
                alone = not self.text[begins:comment.start()].strip()
                for line in self.statement(last + 1) if alone else [last]:
                    self.marks[line] = last

    def statement(self, line):
        """The lines from this one to the end of what begins there: ';' or '{'."""
        end = line
        while end < len(self.lines) and not re.search(r"[;{]\s*(/\*.*)?$", self.lines[end - 1]):
            end += 1
        return range(line, end + 1)

    def at(self, region):
        """The text of a region, in one line."""
        lines = self.lines[region[0] - 1:region[2]]
        lines[-1] = lines[-1][:region[3] - 1]
        lines[0] = lines[0][region[1] - 1:]
        return " ".join(line.strip() for line in lines)

    def is_asserted(self, line):
        """Does the statement on this line begin as an assertion?"""
        code = re.sub(r"/\*.*?\*/", "", "\n".join(self.lines[:line]), flags=re.S)
        before = re.split(r"[;{}]\s*\n", code)[-1]
        return before.lstrip().startswith("assert(")


sources = {}


def source_of(path):
    path = os.path.relpath(path)
    if path not in sources:
        sources[path] = Source(path)
    return sources[path]


def place(function, region, file_at):
    """Where a region is seen in the file itself: (line, last line), or None inside an assertion."""
    while region[file_at] != 0:
        outer = [r for r in function["regions"] if r[7] == 1 and r[6] == region[file_at]]
        if not outer:
            return None
        region, file_at = outer[0], 5
    return None if source_of(function["filenames"][0]).is_asserted(region[0]) else (region[0], region[2])


def count_function(function, seen):
    """Adds the outcomes of a function to `seen`: (file, line, column, kind, which) -> (covered, last line, text)."""
    name = os.path.relpath(function["filenames"][0])

    def note(region, where, kind, outcome, covered):
        key = (name, where[0], tuple(region[:4]), kind, outcome)
        before = seen.get(key)
        text = source_of(function["filenames"][region[6]]).at(region)
        seen[key] = (covered or (before is not None and before[0]), where[1], text)

    for branch in function["branches"]:
        where = place(function, branch, 6)
        source = source_of(function["filenames"][branch[6]])
        is_choice = f"switch ({source.at(branch)})" not in source.lines[branch[0] - 1]  # of a value without a case
        if where and is_choice and source.at(branch) not in CONSTANTS:
            note(branch, where, "branch", "true", branch[4] > 0)
            note(branch, where, "branch", "false", branch[5] > 0)
    for decision in function["mcdc_records"]:
        where = place(function, decision, 6)
        if where:
            for index, covered in enumerate(decision[9]):
                note(decision, where, "condition", index + 1, covered)


def main():
    folder, files = sys.argv[1], sys.argv[2:]
    if not files:
        print(f"{folder}/pipec {folder}/piperun", *[f"{folder}/tests/{name}" for name in TESTS], *[f"{folder}/tests/replay_fuzz_{name}" for name in REPLAYS])
        return
    profiles = os.path.abspath(f"{folder}/profiles")  # cases run in folders of their own
    shutil.rmtree(profiles, ignore_errors=True)
    os.makedirs(profiles)
    seen = {}
    for function in export(profiles, run_tests(folder, profiles), files):
        count_function(function, seen)

    used, missing = set(), []
    table = {name: {"branch": [0, 0, 0], "condition": [0, 0, 0]} for name in files}
    for (name, line, region, kind, outcome), (covered, last, text) in sorted(seen.items(), key=str):
        if name not in table:
            continue
        marks = source_of(name).marks
        marked = [at for at in range(line, last + 1) if at in marks]
        counts = table[name][kind]
        counts[0] += 1
        counts[1] += covered
        if not covered and marked:
            counts[2] += 1
            used.update((name, marks[at]) for at in marked)
        elif not covered:
            what = f"never {outcome}" if kind == "branch" else f"condition {outcome} never alone decides"
            missing.append((name, line, f"{name}:{line}: {what}: {text or '...'}"))

    print(f"{'file':36} {'branches':>9} {'taken':>7} {'excused':>7}   {'conditions':>10} {'shown':>7} {'excused':>7}")
    total = {"branch": [0, 0, 0], "condition": [0, 0, 0]}
    for name in files + ["all"]:
        row = table.get(name, total)
        cells = []
        for kind in ("branch", "condition"):
            count, covered, excused = row[kind]
            cells += [count, f"{100 * covered / count:.1f} %" if count else "-", excused]
            if name in table:
                total[kind] = [a + b for a, b in zip(total[kind], row[kind])]
        print("{:36} {:9} {:>7} {:7}   {:10} {:>7} {:7}".format(name, *cells))
    for _, _, text in sorted(missing):
        print(text)
    idle = [(name, at) for name in files for at in set(source_of(name).marks.values()) if (name, at) not in used]
    for name, at in idle:
        print(f"{name}:{at}: excuses nothing")
    sys.exit(1 if missing or idle else 0)


main()
