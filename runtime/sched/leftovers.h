/* SPDX-License-Identifier: MIT */
/*
 * leftovers: packets that can never be consumed, and why.
 *
 * A stage that fires no more leaves what its inputs hold beyond history.  An input that is *short*
 * holds too few for another firing; others are *stranded*: their reader found too few elsewhere.
 * What counts is what the writers have appended by the end of the run, not what was there when the
 * reader ended: what an in-port feeds goes on to its end for nobody (lang/scheduler.md, `ends`), and
 * of a file the rest is read and counted.  So the figures follow from the streams alone, not from
 * depths, policies, forms of packets or devices.  Exceptions, which only the host's streams make:
 *
 *   - of a pipe that has not ended nothing more is read, and a file may be too long to be counted:
 *     then there are *more*, at least those that are counted;
 *   - of what a source or a circle feeds that no in-port feeds, only what is short by itself counts:
 *     how far ahead the rest is says nothing.
 *
 * Requires: the scheduler's tables.  Threads: the scheduler's.  Allocation, errors: none.
 */
#ifndef RUNTIME_SCHED_LEFTOVERS_H
#define RUNTIME_SCHED_LEFTOVERS_H

#include "runtime/sched/sched.h"

/* The stage fires no more, and its inputs are still attached. */
void prt_leftovers_note(const struct prt_sched *sched, struct prt_stage *stage);

/* The same of a stage whose `finish` says that packets are left over: of those that it has seen, the ones beyond history,
 * or all of them where there are no others. */
void prt_leftovers_note_seen(const struct prt_sched *sched, struct prt_stage *stage);

/* The run has ended well: fills the figures of the buffers. */
void prt_leftovers_count(struct prt_sched *sched);

#endif
