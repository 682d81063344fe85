/* SPDX-License-Identifier: MIT */
/*
 * command_line: what the user asked of pipec.
 */
#ifndef PIPEC_COMMAND_LINE_H
#define PIPEC_COMMAND_LINE_H

#include <getopt.h>
#include <stdio.h>

#include "compiler/driver/depfile.h"
#include "compiler/driver/diagnostic_options.h"
#include "compiler/context/context.h"

enum command_action {
    COMMAND_COMPILE, /* also check only, where there is nothing to write */
    COMMAND_INSPECT,
    COMMAND_DONE,  /* --help, --version: already answered */
    COMMAND_USAGE, /* already reported: exit 2 */
};

enum emit_kind {
    EMIT_NONE,
    EMIT_AST,
    EMIT_GRAPH,
    EMIT_CMDS,
    EMIT_JSON,
    EMIT_LLVM,
    EMIT_ASM,
    EMIT_OBJ,
    EMIT_SCHED
};

struct command_line {
    enum command_action action;
    const char *input;
    const char *const *inputs; /* all of them, where a command takes several */
    size_t input_count;
    const char *output; /* -o, or NULL */
    enum emit_kind emit;
    const char *emit_path; /* "-" unless --emit=KIND:FILE */
    const char *device;    /* a name, or a .dev file */
    struct depfile depfile;
    bool device_given;
    bool as_json;               /* inspect */
    bool traces_deadlock;       /* inspect */
    const char *counterexample; /* the container to write of it, or NULL */
    bool write_if_changed;
    bool time_report;
    bool quiet, verbose, colour;
    unsigned jobs; /* -j, or 0 */
    struct diagnostic_options diagnostics;
    struct compile_options options;
};

/* What a command does with programs, and which options it therefore shares. */
enum {
    SHARES_ANALYSIS = 1,    /* -I, --max-memory, --buffers */
    SHARES_CODE = 2,        /* --device, -O, --march, --no-bounds-checks, --fast-math, --linker */
    SHARES_BASELINE = 4,    /* --baseline, --write-baseline */
    SHARES_DEFINITIONS = 8, /* -D */
};

/* What a command of its own (`pipec WORD ...`) takes beside the options that all commands share:
 * --color, --diagnostics, -W, --min-level, --fail-on, -j, -q, -v, -h, --version, @FILE. */
struct command_options {
    const char *help;            /* what --help prints */
    const char *letters;         /* in getopt's form: "k:j:" */
    const struct option *longer; /* ended by zeros; values from COMMAND_OPTION on */
    /* Takes a letter or the value of a long option; returns what is wrong with it, or NULL.  Not
     * needed where there are none. */
    const char *(*take)(void *data, struct arena *arena, int option, const char *value);
    void *data;
    unsigned shares;
    bool reports; /* findings are what it is for: on standard output, and warnings fail */
};
enum { COMMAND_OPTION = 1024, COMMAND_JOBS_MAX = 1024 };

/* `@FILE` is replaced by the arguments in FILE.  Strings are the arguments', or `arena`'s. */
struct command_line command_line_parse(int argc, char **argv, struct arena *arena,
                                       const char *(*nearest_command)(const char *word));
/* The same for a command with options of its own; argv[0] is its word.  Any number of inputs. */
struct command_line command_line_parse_command(int argc, char **argv, struct arena *arena,
                                               const struct command_options *own);

/* For people, or with the form "json" for programs; false if there is no such form. */
bool version_print(FILE *to, const char *form);

#endif
