/*
 * command_line: what the user asked of pipec.
 */
#ifndef PIPEC_COMMAND_LINE_H
#define PIPEC_COMMAND_LINE_H

#include "compiler/depfile.h"
#include "compiler/diagnostic_options.h"
#include "compiler/support/context.h"

enum command_action {
    COMMAND_COMPILE, /* also check only, where there is nothing to write */
    COMMAND_INSPECT,
    COMMAND_DONE,  /* --help, --version: already answered */
    COMMAND_USAGE, /* already reported: exit 2 */
};

enum emit_kind { EMIT_NONE, EMIT_AST, EMIT_GRAPH, EMIT_LLVM, EMIT_ASM, EMIT_OBJ, EMIT_SCHED };

struct command_line {
    enum command_action action;
    const char *input;
    const char *output; /* -o, or NULL */
    enum emit_kind emit;
    const char *emit_path; /* "-" unless --emit=KIND:FILE */
    const char *device;    /* a name, or a .dev file */
    struct depfile depfile;
    bool write_if_changed;
    bool quiet, verbose, colour;
    struct diagnostic_options diagnostics;
    struct compile_options options;
};

/* `@FILE` is replaced by the arguments in FILE.  Strings are the arguments', or `arena`'s. */
struct command_line command_line_parse(int argc, char **argv, struct arena *arena);

#endif
