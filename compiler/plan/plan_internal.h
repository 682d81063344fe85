/*
 * plan_internal: what the files of plan share.
 */
#ifndef PIPEC_PLAN_INTERNAL_H
#define PIPEC_PLAN_INTERNAL_H

#include "compiler/plan/plan.h"

/* Fills the load of every stage (one for each node), in units that are the same for all. */
void plan_loads(struct arena *arena, const struct graph *graph, struct plan *plan);

#endif
