/*
 * piperun_replay: what `piperun --replay` prints: every firing with the buffers that it has
 * changed, and how it ended.
 */
#ifndef RUNTIME_PIPERUN_REPLAY_H
#define RUNTIME_PIPERUN_REPLAY_H

#include "runtime/piperun_ports.h"

/* The exit code; 5 is the stall that was to be shown. */
int prt_command_replay(struct prt_session *session);

#endif
