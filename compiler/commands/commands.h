/* SPDX-License-Identifier: MIT */
/*
 * commands: what `pipec WORD ...` does where WORD is not a file to compile.
 *
 * Each command has a file command_WORD.c with one function, which parses its own arguments (the
 * first is the word), does the work, and returns the exit status of the process: 0 done, 1 findings
 * or a refused file, 2 usage or files, 3 internal error.  It prints its own usage for --help.
 * Options that several commands share (-I, -p, -D, --device, --diagnostics, -W...) are parsed by
 * command_line, and mean the same everywhere.
 */
#ifndef PIPEC_COMMANDS_H
#define PIPEC_COMMANDS_H

typedef int command_function(int argc, char **argv);

command_function command_explain;
command_function command_fmt;
command_function command_graph;
command_function command_test;
command_function command_lint;

struct command {
    const char *name;
    command_function *run;
};

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);
/* The name of a command that `name` may be meant for, or NULL. */
const char *command_nearest(const char *name);

#endif
