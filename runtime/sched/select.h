/* SPDX-License-Identifier: MIT */
/*
 * select: which stage of a set is dispatched next, under each of the policies.
 *
 * The machine's selecting instructions (sched.h) are here; all of them choose among ready stages,
 * and looking at a stage may suspend for the host to fill what its next dispatch needs.
 *
 * Errors: what the host's callbacks return.
 */
#ifndef RUNTIME_SCHED_SELECT_H
#define RUNTIME_SCHED_SELECT_H

#include "runtime/sched/sched.h"

/* A stage may be worth another look: packets have come to a buffer, or it has closed. */
void prt_select_readers_changed(struct prt_sched *sched, const struct prt_buffer *buffer);

/* Closes the buffer for its readers. */
void prt_select_close(struct prt_sched *sched, struct prt_buffer *buffer);

/* Firings that the run's limit leaves a source; UINT64_MAX of other stages. */
static inline uint64_t prt_select_source_left(const struct prt_sched *sched,
                                              const struct prt_stage *stage)
{
    return stage->node->input_count > 0 ? UINT64_MAX : sched->firings_limit - stage->firings;
}

/* Selects the stage if it is ready, with all its ready firings. */
enum prt_status prt_select_stage(struct prt_sched *sched, uint32_t index, bool *found,
                                 struct prt_error *error);

/* An interrupt ends sources, so that what they feed drains, and leaves loops where they are that
 * nobody feeds: does it stop this stage? */
bool prt_select_stops_by_interrupt(struct prt_sched *sched, struct prt_stage *stage);

/* Selects the stage for one firing if it has packets and room for it, whatever its threshold; the
 * host fills what it needs. */
enum prt_status prt_select_one(struct prt_sched *sched, uint32_t index, bool *found,
                               struct prt_error *error);

/* Could so many firings be dispatched, if the threshold did not ask for more?  Nothing is said of a
 * waiver. */
bool prt_select_below_threshold(const struct prt_sched *sched, const struct prt_stage *stage,
                                uint64_t firings);

/* Is the stage ready, or would it be if its open in-ports were full? */
bool prt_select_wants(const struct prt_sched *sched, struct prt_stage *stage);

/* Has prt_sched_interrupt been called? */
static inline bool prt_select_interrupted(const struct prt_sched *s)
{
    return atomic_load_explicit(&s->interrupted, memory_order_relaxed);
}

#endif
