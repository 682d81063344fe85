/* SPDX-License-Identifier: MIT */
/*
 * program_load: the program of a command: a container, or a source file that pipec compiles first.
 *
 * Ownership: *program is the caller's, where the result is EXIT_DONE.
 * Errors: an exit code, the message has been printed; pipec's own status where it refuses a source.
 */
#ifndef TOOLS_PIPERUN_PROGRAM_LOAD_H
#define TOOLS_PIPERUN_PROGRAM_LOAD_H

#include "runtime/host/pipert.h"
#include "tools/piperun/run_options.h"

/* A source file or a command list, by its ending. */
bool prt_is_source(const char *path);
int prt_command_load(const struct prt_command *command, struct prt_program **program);

#endif
