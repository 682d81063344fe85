/* SPDX-License-Identifier: MIT */
/*
 * commands: the commands `pipec WORD ...`.
 *
 * Each command has a file command_WORD.c with one function. It parses its own arguments (the first is the
 * word), does the work, and returns the exit status of the process: 0 done, 1 findings or a refused file,
 * 2 usage or files, 3 internal error.  It prints its own usage for --help.  command_line parses the
 * options that several commands share (-I, -p, -D, --device, --diagnostics, -W...); they mean the same
 * everywhere.
 */
#ifndef PIPEC_COMMANDS_H
#define PIPEC_COMMANDS_H

#include <stddef.h>

typedef int command_function(int argc, char **argv);

command_function command_bench;
command_function command_complete;
command_function command_doctor;
command_function command_edit;
command_function command_explain;
command_function command_fmt;
command_function command_graph;
command_function command_help;
command_function command_lsp;
command_function command_new;
command_function command_report;
command_function command_run;
command_function command_test;
command_function command_lint;

struct command {
    const char *name;
    command_function *run;
};

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);
/* The names of all commands and `inspect`, from 0 on; NULL past the last one. */
const char *command_name(size_t index);
/* The command name nearest to `name`, or NULL. */
const char *command_nearest(const char *name);

#endif
