/*
 * piperun_run: `piperun FILE PORT=...`: load, bind, execute, publish, report.
 *
 * Returns the exit code; everything has been said and freed.
 */
#ifndef RUNTIME_PIPERUN_RUN_H
#define RUNTIME_PIPERUN_RUN_H

#include "runtime/piperun_command.h"

int prt_command_run(const struct prt_command *command);

#endif
