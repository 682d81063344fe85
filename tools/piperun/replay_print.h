/* SPDX-License-Identifier: MIT */
/*
 * replay_print: what `piperun --replay` prints: every firing with the buffers that it has
 * changed, and how it ended.
 */
#ifndef TOOLS_PIPERUN_REPLAY_PRINT_H
#define TOOLS_PIPERUN_REPLAY_PRINT_H

#include "tools/piperun/run_ports.h"

/* The exit code; 5 is the stall that was to be shown. */
int prt_command_replay(struct prt_session *session);

#endif
