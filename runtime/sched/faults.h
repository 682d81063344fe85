/* SPDX-License-Identifier: MIT */
/*
 * faults: which fault counts, and how a run goes on after one (lang/reference.md, "Faults").
 *
 * If a firing of a stage faults, the stage becomes FAULTED: the packets of the firings before it are delivered, its
 * inputs discard packets, and its outputs neither grow nor close.  If the next firing of another stage lacks only
 * packets of such outputs, that stage becomes FAULTED too.  So a fault spreads as the end of a stream does.  A fault
 * is *demanded* once it has spread to an out-port that is still open, or to a stage without outputs.  A fault that
 * spreads no further never counts: all readers have ended, or other faults hold them back.
 *
 * All of this depends only on the packets, so only on the program and its inputs (Kahn).  Faults are ordered by
 * iteration (number of the firing / repetitions of the node in the pipeline before nodes were fused), then by node.
 * The run ends with the first fault that is demanded, once no other fault can come before it.  That is so when every
 * stage that may fault is past its place or fires no more, and every fault before it is known to count or not.
 *
 * At the first fault the machine leaves its program.  Launches after the fault are taken back, and stages are
 * dispatched in order as they become ready.  That changes no packet.
 *
 * Requires: a run as sched.h describes.  Thread-safety: the scheduler's thread.  Allocation: none.
 */
#ifndef RUNTIME_SCHED_FAULTS_H
#define RUNTIME_SCHED_FAULTS_H

#include "runtime/sched/sched.h"

/* A launch of the stage has faulted: delivers the packets of the firings before the fault.  PRT_E_FAULT: the report
 * of the kernel is impossible; statuses of the host. */
enum prt_status prt_faults_note(struct prt_sched *sched, struct prt_stage *stage,
                                const struct prt_completion *completion, struct prt_error *error);

/* A launch of the stage was skipped after a fault: takes back the moves of its dispatch. */
void prt_faults_skip(struct prt_sched *sched, struct prt_stage *stage);

/* Executes the rest of a run in which a firing has faulted.  PRT_OK: the run ends normally, as no fault was demanded,
 * or every sink is gone.  PRT_E_FAULT: sched->fault counts.  Else statuses of prt_sched_halt and of the host. */
enum prt_status prt_faults_conclude(struct prt_sched *sched, struct prt_error *error);

#endif
