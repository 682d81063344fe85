/* SPDX-License-Identifier: MIT */
/*
 * select: which stage of a set is dispatched next, under each of the policies.
 *
 * select.c also has the selecting instructions of sched.h.  All of them choose among ready stages.  Before a stage
 * counts as ready, the host fills the in-ports that its next dispatch needs, which may suspend the scheduler.
 *
 * Requires: sched_create's tables.  Thread-safety: the scheduler's thread.  Allocation: none.
 * Errors: statuses of the host's callbacks.
 */
#ifndef RUNTIME_SCHED_SELECT_H
#define RUNTIME_SCHED_SELECT_H

#include "runtime/sched/sched.h"

/* Packets have arrived in the buffer, or it has closed: its readers may have become ready. */
void prt_select_readers_changed(struct prt_sched *sched, const struct prt_buffer *buffer);

/* Ends the stream of the buffer, and marks the readers that end with it. */
void prt_select_close(struct prt_sched *sched, struct prt_buffer *buffer);

/* Firings that the run's limit leaves to a source; UINT64_MAX for other stages. */
static inline uint64_t prt_select_source_left(const struct prt_sched *sched,
                                              const struct prt_stage *stage)
{
    return stage->node->input_count > 0 ? UINT64_MAX : sched->firings_limit - stage->firings;
}

/* Selects the stage if it is ready, with all its ready firings. */
enum prt_status prt_select_stage(struct prt_sched *sched, uint32_t index, bool *found,
                                 struct prt_error *error);

/* Does an interrupt stop this stage?  It ends sources, so that their readers drain.  It stops cycles that no in-port
 * or source drives where they are. */
bool prt_select_stops_by_interrupt(struct prt_sched *sched, struct prt_stage *stage);

/* Selects the stage for one firing if it has packets and room for it, whatever its threshold.  The host fills the
 * in-ports that the firing needs. */
enum prt_status prt_select_one(struct prt_sched *sched, uint32_t index, bool *found,
                               struct prt_error *error);

/* Does the threshold prevent a dispatch of so many firings that the ends admit?  A waiver is not considered. */
bool prt_select_below_threshold(const struct prt_sched *sched, const struct prt_stage *stage,
                                uint64_t firings);

/* Is the stage ready, with in-ports that are filled counted as full?  False if it is settled or in flight. */
bool prt_select_wants(const struct prt_sched *sched, struct prt_stage *stage);

/* Has prt_sched_interrupt been called? */
static inline bool prt_select_interrupted(const struct prt_sched *s)
{
    return atomic_load_explicit(&s->interrupted, memory_order_relaxed);
}

#endif
