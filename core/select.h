/* SPDX-License-Identifier: MIT */
/*
 * select: which stage of a set is dispatched next, under each of the policies.
 *
 * All of them choose among ready stages.  Before a stage counts as ready, the host fills the in-ports that its next
 * dispatch needs: the machine suspends, and the selection goes on where it was.
 *
 * Thread-safety: the scheduler's thread.  Allocation: none.
 */
#ifndef CORE_SELECT_H
#define CORE_SELECT_H

#include "core/outcome.h"

/* The select instructions of a program (lang/scheduler.md): NEXT if a stage has been selected, JUMP if none is ready. */
enum core_outcome core_select_round_robin(struct core *c, uint32_t set);
enum core_outcome core_select_priority(struct core *c, uint32_t set);
enum core_outcome core_select_fullest(struct core *c, uint32_t set);

/* Selects the stage if it is ready, with all its ready firings. */
enum core_outcome core_select_stage(struct core *c, uint32_t index);

/* Selects the stage for one firing if it has packets and room for it, whatever its threshold. */
enum core_outcome core_select_one(struct core *c, uint32_t index);

/* Does the threshold prevent a dispatch of so many firings that the ends admit?  A waiver is not considered. */
bool core_is_below_threshold(const struct core_stage *stage, uint64_t firings);

/* Is the stage ready, if in-ports that the host fills count as full?  False if it is settled or in flight. */
bool core_wants(const struct core *c, struct core_stage *stage);

#endif
