/* SPDX-License-Identifier: MIT */
/*
 * run_command: `piperun FILE PORT=...`: load, bind, execute, publish, report.
 *
 * Returns the exit code; everything has been said and freed.
 */
#ifndef TOOLS_PIPERUN_RUN_COMMAND_H
#define TOOLS_PIPERUN_RUN_COMMAND_H

#include "tools/piperun/run_options.h"

int prt_command_run(const struct prt_command *command);

#endif
