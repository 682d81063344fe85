/* SPDX-License-Identifier: MIT */
/*
 * priority_groups: stages of different importance that share compute units; a stage comes before those that it
 * interrupts (lang/time.md, "Importance").
 *
 * If stages of a sub-device, or of the whole device, differ in importance, there is a rank for each importance.  Ranks
 * are in the order of sub-devices, with the greatest importance first.  The stages of a rank are in their order.
 *
 *   Requires  the sub-devices of a plan.
 *   Work      n log n for n stages.
 *   Fails     never.
 */
#ifndef PIPEC_PRIORITY_GROUPS_H
#define PIPEC_PRIORITY_GROUPS_H

#include "compiler/plan/plan.h"

struct plan_rank {
    uint32_t sub_device; /* GRAPH_NONE: the whole device */
    uint32_t importance;
    const uint32_t *stages;
    uint32_t stage_count;
};

struct plan_ranks {
    const struct plan_rank *items;
    uint32_t count;
};

/* Whether nodes of the graph differ in importance. */
bool plan_has_priorities(const struct graph *graph);
struct plan_ranks plan_find_ranks(struct arena *arena, const struct graph *graph,
                                  const struct plan *plan);

#endif
