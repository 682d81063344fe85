/* SPDX-License-Identifier: MIT */
/*
 * signals: the effect of signals on a run (piperun(1), "SIGNALS"): interrupt, terminate, time
 * out, report the state, and kernels that crash.
 *
 * The only part of the tool with state outside of objects: handlers need it.  It owns none of the objects
 * that it gets; call prt_signals_end before they are freed.
 */
#ifndef TOOLS_PIPERUN_SIGNALS_H
#define TOOLS_PIPERUN_SIGNALS_H

#include "tools/piperun/io/stream.h"
#include "runtime/host/pipert.h"
#include "runtime/host/pipert_debug.h"

/* Installs handlers for this process.  Until prt_signals_watch, an interrupt ends it at once. */
void prt_signals_install(void);

/* SIGALRM, exit status 5, after that time; 0: never.  A run reports its state before. */
void prt_signals_timeout(double seconds);

/* From now on these temporaries are removed when a signal ends the process; an interrupt makes
 * `interrupt_fd` (an eventfd) readable, once there is a run. */
void prt_signals_guard(struct prt_temporaries *temporaries, int interrupt_fd);

/* From now on the first interrupt ends the run's streams, SIGUSR1 prints its state, and the message of
 * a crash describes it. */
void prt_signals_watch(struct prt_run *run);

/* From now on an interrupt stops that run before its next firing, and a second one that comes before
 * it has stopped ends the process; while commands are read it is only noted. */
void prt_signals_debug(struct prt_debugger *debugger);
void prt_signals_reading(bool reading);
/* Has an interrupt come since the last call, or since commands are read? */
bool prt_signals_take_interrupt(void);

/* From now on SIGURG calls `tick` in the thread that gets it; NULL: it does nothing. */
void prt_signals_tick(void (*tick)(void *context), void *context);
/* The number of texts that handlers have written on standard error. */
unsigned prt_signals_told(void);

/* No handler runs any more. */
void prt_signals_end(void);

#endif
