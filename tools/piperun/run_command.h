/* SPDX-License-Identifier: MIT */
/*
 * run_command: `piperun FILE PORT=...`: load, bind, execute, publish, report.
 *
 * Returns the exit code.  All messages have been printed, all memory is free.
 */
#ifndef TOOLS_PIPERUN_RUN_COMMAND_H
#define TOOLS_PIPERUN_RUN_COMMAND_H

#include "tools/piperun/run_options.h"

int prt_command_run(const struct prt_command *command);

#endif
