/* SPDX-License-Identifier: MIT */
/*
 * fused: how often the nodes that are parts of stages would have fired as stages of their own.
 *
 * A stage fires whole iterations of its parts.  As a stage of its own, each part would have fired as often as its packets
 * admit.  Firings and packets follow from the rates (lang/container.md, "Fused nodes"):
 *
 *     a buffer that a stage reads     the packets that its writer has appended by the end of the run
 *     a buffer inside, of a writer    initial packets + push x firings + packets of its `finish`
 *     a node                          the firings that the input with the fewest admits
 *
 * These are the largest numbers that agree with each other, found by lowering them from no limit.  No proven pipeline is
 * blocked by its cycles, so they are also the numbers that a run would reach.
 *
 * How many packets an in-port would have brought is not always known: from a pipe that has not ended at least those that
 * are there.  So there are two numbers, one with the packets that are known and one without a limit for such ports.  The
 * packets of a source that would go on, and those of an eager port that its stage has left, depend on the moment.
 *
 * The work is bounded for every container, in any order of its records: beyond WORK_MAX nothing is known.
 *
 * Requires: a run that has ended, whose inputs have noted their positions (core/ends.h).  Thread-safety: the scheduler's
 * thread.  Allocation, errors: none.
 */
#ifndef RUNTIME_SCHED_FUSED_H
#define RUNTIME_SCHED_FUSED_H

#include "runtime/sched/sched.h"

/* Fills the records of sched->fused_nodes, fused_inputs (the packets that each input would have been given) and
 * fused_buffers, except `left`. */
void prt_fused_replay(struct prt_sched *sched);

/* The firings that so many packets admit, in all.  UINT64_MAX: without a limit. */
uint64_t prt_fused_fits(const struct prt_sched *sched, const struct container_fused_input *input,
                        uint64_t packets);

/* The buffer of the run that the input reads; NULL: the run does not have it. */
struct prt_buffer *prt_fused_read_buffer(const struct prt_sched *sched,
                                         const struct container_fused_input *input);

bool prt_fused_is_fed(const struct prt_sched *sched, const struct container_fused_input *input);
bool prt_fused_is_cut_off(const struct prt_sched *sched, const struct container_fused_input *input);

/* The same of a buffer of the run: do packets of an in-port reach it; have its packets been cut off with those of an
 * endless in-port?  The number of these depends on the moment. */
bool prt_fused_buffer_is_fed(const struct prt_sched *sched, const struct prt_buffer *buffer);
bool prt_fused_buffer_is_cut_off(const struct prt_sched *sched, const struct prt_buffer *buffer);

#endif
