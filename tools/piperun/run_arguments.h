/* SPDX-License-Identifier: MIT */
/*
 * run_arguments: the values of the pipeline's arguments: -D NAME=VALUE, the words NAME=VALUE, files, and what inputs
 * know.
 *
 * A VALUE is a number; of an array all its values, row-major, with commas between them; or @FILE[,FORMAT...], a file
 * in any format that a port could read.
 *
 * Errors: an exit code; the message has been printed, unless a function returns a status.
 */
#ifndef TOOLS_PIPERUN_RUN_ARGUMENTS_H
#define TOOLS_PIPERUN_RUN_ARGUMENTS_H

#include "tools/piperun/run_ports.h"

/* The number of the argument of that name, `length` bytes, or PRT_NONE. */
uint32_t prt_session_argument(const struct prt_session *session, const char *name, size_t length);

/* Gives the run all values of the command line.  Requires: bindings, run, environment. */
int prt_arguments_give(struct prt_session *session);

/* Gives the run the properties that its inputs know.  Requires: the inputs are open. */
enum prt_status prt_arguments_take(struct prt_session *session, struct prt_error *error);

#endif
