/* SPDX-License-Identifier: MIT */
/*
 * run_watch: shows on standard error how a run goes on: its progress, --top and --watch (piperun(1), "WATCHING A RUN").
 *
 * A thread of its own waits and draws.  It has the run's state taken by a visit (runtime/sched/moment.h) in the thread
 * that executes the run, by a signal that everything ignores otherwise (SIGURG).  The executing thread only copies numbers: it
 * never waits for the terminal, and nothing is counted for the pictures.  A picture that cannot be written at once is left out.
 *
 * Requires: bindings, run and signals.  Ownership: the session outlives it.
 * Errors: a failure here costs the picture, never the run.
 */
#ifndef TOOLS_PIPERUN_RUN_WATCH_H
#define TOOLS_PIPERUN_RUN_WATCH_H

#include "tools/piperun/run_ports.h"

struct prt_watch;

/* Gives taps to the ports of --watch.  An exit code; the message has been printed. */
int prt_watch_check(struct prt_session *session);

/* Begins to watch the run.  NULL: nothing is shown, perhaps because something failed. */
struct prt_watch *prt_watch_begin(const struct prt_session *session);

/* The run has ended: shows its last state, and ends the thread.  NULL is allowed. */
void prt_watch_end(struct prt_watch *watch);

/* Requires: prt_signals_end has been called, or the watch has not begun.  NULL is allowed. */
void prt_watch_free(struct prt_watch *watch);

#endif
