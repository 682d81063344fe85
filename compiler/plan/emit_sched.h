/* SPDX-License-Identifier: MIT */
/*
 * emit_sched: the scheduler program of a plan, for containers and for trials.
 *
 * Requires: the layout, packs, selection and schedule of the plan.
 * Ownership: the program is the arena's, and not for sched_program_free.
 */
#ifndef PIPEC_EMIT_SCHED_H
#define PIPEC_EMIT_SCHED_H

#include "compiler/plan/plan.h"

/* Without code: it would be beyond SCHED_MAX_CODE_BYTES. */
struct sched_program *sched_program_of(struct arena *arena, const struct graph *graph,
                                       const struct plan *plan);
/* The same in cx->arena.  Without code after RULE_TOO_LARGE. */
struct sched_program *sched_emit(struct compile *cx, const struct graph *graph,
                                 const struct plan *plan);

#endif
