/* SPDX-License-Identifier: MIT */
/*
 * fix_files: the option --fix. A child process examines the program and writes the edits of its findings into the files. It
 * repeats this as long as new findings come up. The run that follows reads the files anew, so it reports what is left.
 */
#ifndef PIPEC_FIX_FILES_H
#define PIPEC_FIX_FILES_H

#include "compiler/driver/command_line.h"

/* In the child: collects diagnostics in *diags, whose places are in *sources. Writes no file. Returns an exit status;
 * with EXIT_FILES and above, nothing is fixed. */
typedef int fix_examine(const struct command_line *line, struct arena *arena,
                        const struct diags **diags, const struct sources **sources);

/* Prints the number of fixed findings unless line->quiet. Returns EXIT_DONE if the run may continue, else the exit
 * status, and has reported the reason. Requires a process with one thread. */
int fix_files(const struct command_line *line, fix_examine *examine);

#endif
