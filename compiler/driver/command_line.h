/* SPDX-License-Identifier: MIT */
/*
 * command_line: the parsed command line of pipec.
 */
#ifndef PIPEC_COMMAND_LINE_H
#define PIPEC_COMMAND_LINE_H

#include <getopt.h>
#include <stdio.h>

#include "compiler/driver/depfile.h"
#include "compiler/driver/diagnostic_options.h"
#include "compiler/context/context.h"

enum command_action {
    COMMAND_COMPILE, /* also a check without output */
    COMMAND_INSPECT,
    COMMAND_DONE,  /* --help, --version: the answer was printed */
    COMMAND_USAGE, /* reported: exit 2 */
};

enum emit_kind {
    EMIT_NONE,
    EMIT_AST,
    EMIT_GRAPH,
    EMIT_CMDS,
    EMIT_JSON,
    EMIT_LLVM,
    EMIT_ASM,
    EMIT_PTX,
    EMIT_OBJ,
    EMIT_SCHED,
    EMIT_HEADER,
    EMIT_SKELETON
};

struct command_line {
    enum command_action action;
    const char *input;
    const char *const *inputs; /* all inputs */
    size_t input_count;
    const char *output; /* -o, or NULL */
    enum emit_kind emit;
    const char *emit_path; /* "-" unless --emit=KIND:FILE */
    const char *device;    /* a name, or a .dev file */
    struct depfile depfile;
    bool device_given;
    bool as_json;               /* inspect */
    bool traces_deadlock;       /* inspect */
    const char *predicts;       /* inspect: the extent of a run whose time is wanted; or NULL */
    const char *counterexample; /* the container to write it to, or NULL */
    bool write_if_changed;
    bool fix; /* fix_files.h */
    bool time_report;
    bool quiet, verbose, colour;
    unsigned jobs; /* -j, or 0 */
    struct diagnostic_options diagnostics;
    struct compile_options options;
};

/* The shared options of a command, by its work on programs. */
enum {
    SHARES_ANALYSIS = 1,    /* -I, --max-memory, --buffers */
    SHARES_CODE = 2,        /* --device, -O, --march, --no-bounds-checks, --fast-math, --linker */
    SHARES_BASELINE = 4,    /* --baseline, --write-baseline */
    SHARES_DEFINITIONS = 8, /* -D */
};

/* The options of a command (`pipec WORD ...`) besides those that all commands share: --color,
 * --diagnostics, -W, --min-level, --fail-on, -j, -q, -v, -h, --version, @FILE. */
struct command_options {
    const char *help;            /* the text of --help */
    const char *letters;         /* in getopt's form: "k:j:" */
    const struct option *longer; /* ended by zeros; values from COMMAND_OPTION on */
    /* Takes a letter or the code of a long option. Returns the problem with its value, or NULL.
     * May be NULL if there are no options. */
    const char *(*take)(void *data, struct arena *arena, int option, const char *value);
    void *data;
    const char *const
        *output; /* of commands with an output: where `take` puts its path; NULL there: "-" */
    unsigned shares;
    bool reports; /* findings are its result: they go to standard output, and warnings fail */
};
enum { COMMAND_OPTION = 1024, COMMAND_JOBS_MAX = 1024 };

/* `@FILE` is replaced by the arguments in FILE.  Strings belong to the arguments or to `arena`. */
struct command_line command_line_parse(int argc, char **argv, struct arena *arena,
                                       const char *(*nearest_command)(const char *word));
/* As command_line_parse, for a command with further options `own` and any number of inputs; argv[0] is
 * its name. */
struct command_line command_line_parse_command(int argc, char **argv, struct arena *arena,
                                               const struct command_options *own);

/* The text of `pipec inspect --help`. */
extern const char command_line_inspect_help[];
/* Prints `help` for -h, --help and --help=all, and the version for --version[=json]. False: the argument
 * is none of these. */
bool command_line_answer(const char *argument, const char *help);

#endif
