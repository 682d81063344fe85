/* SPDX-License-Identifier: MIT */
/*
 * faults: which fault counts, and how a run goes on after one (lang/reference.md, "Faults").
 *
 * A stage one of whose firings faults becomes FAULTED: the packets of its firings before are delivered, its inputs
 * discard, its outputs neither grow nor close.  A stage whose next firing needs such an output, and nothing else,
 * becomes FAULTED too, so a fault spreads as the end of a stream does.  It is *demanded* once it has spread to an
 * out-port that is still open, or to a stage without outputs.  A fault that spreads no further, because all readers
 * have ended or are held back by others, never counts.
 *
 * All that is a function of the packets, so of the program and its inputs only (Kahn).  The run is over when no other
 * fault can take the place of the first one demanded.  Faults are ordered by iteration (firing / repetitions of the
 * source's exact part), then by node, so that is the case when every stage that may fault has passed this place or
 * fires no more, and when every smaller fault is decided.
 *
 * The machine leaves its program at the first fault: what had been dispatched after it is taken back, and stages are
 * dispatched as they become ready, in order.  That changes no packet.
 *
 * Requires: sched.h's.  Threads: the scheduler's.  Allocation: none.
 */
#ifndef RUNTIME_SCHED_FAULTS_H
#define RUNTIME_SCHED_FAULTS_H

#include "runtime/sched/sched.h"

/* A launch of the stage has faulted: delivers what its firings before have appended.  PRT_E_FAULT where its report
 * cannot be true; what the host returns. */
enum prt_status prt_faults_note(struct prt_sched *sched, struct prt_stage *stage,
                                const struct prt_completion *completion, struct prt_error *error);

/* A launch of the stage has not been executed, as a fault was before it: takes back what its dispatch has moved. */
void prt_faults_skip(struct prt_sched *sched, struct prt_stage *stage);

/* The rest of a run in which a firing has faulted.  PRT_OK: it ends well, the fault was not demanded.  Else what
 * `prt_sched_halt` and the host return, and PRT_E_FAULT with sched->fault. */
enum prt_status prt_faults_conclude(struct prt_sched *sched, struct prt_error *error);

#endif
