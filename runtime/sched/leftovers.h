/* SPDX-License-Identifier: MIT */
/*
 * leftovers: packets that can never be consumed, and why.
 *
 * When a stage fires no more, the packets of its inputs past the history are left over (core_ready_history).  An input
 * is *short* if it holds too few packets for another firing.  The packets of the others are *stranded*: their reader
 * found too few in a short input.
 *
 * The count is of packets that the writers have appended by the end of the run, not of those present when the reader
 * ended.  A writer that an in-port feeds goes on to the end of its stream without readers (lang/scheduler.md, `ends`).
 * The rest of a file is read and counted.  So the figures depend only on the streams, not on depths, policies, forms
 * of packets or devices.  There are two exceptions:
 *
 *   - No more packets are read from a pipe that has not ended, and a file may be too long to be counted.  Then the
 *     figure is a minimum (`more`).
 *   - If no in-port feeds the writer, only packets that are too few by themselves count.  The number of the others
 *     shows only how much earlier the writer has fired.
 *
 * Requires: sched_create's tables.  Thread-safety: the scheduler's thread.  Allocation: none.  Errors: none.
 */
#ifndef RUNTIME_SCHED_LEFTOVERS_H
#define RUNTIME_SCHED_LEFTOVERS_H

#include "runtime/sched/sched.h"

/* Fills the figures of the buffers, also of those inside of stages (fused.h): there the readers are the nodes of the
 * program instead of the stages that they are parts of.  Requires: the run has ended normally. */
void prt_leftovers_count(struct prt_sched *sched);

#endif
