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
 * Thread-safety: the scheduler's thread.  Allocation: none.
 */
#ifndef CORE_FAULTS_H
#define CORE_FAULTS_H

#include "core/outcome.h"

/* A launch of the stage has faulted: delivers the packets of the firings before the fault.  False: the report of the
 * kernel is impossible. */
bool core_faults_note(struct core *c, struct core_stage *stage,
                      const struct core_completion *completion);

/* A launch of the stage was skipped after a fault: takes back the moves of its dispatch. */
void core_faults_skip(struct core *c, struct core_stage *stage);

/* Executes the rest of a run in which a firing has faulted, in rounds, each a guarded loop over all stages.  NEXT: another
 * round must follow.  JUMP: no fault has been demanded and no stage can go on, so the machine halts.  A fault that counts
 * becomes the failure of the run. */
enum core_outcome core_conclude(struct core *c);

#endif
