/* SPDX-License-Identifier: MIT */
/*
 * choose_schedule: a static schedule where it is no slower than dispatching what is ready.
 *
 * The layout and the selection have been chosen.  Schedules whose rounds differ in length (schedule.h) are tried;
 * of more than STAGES_TRIED stages, two of them.  The fastest one is used, among equals the longest, unless the guarded
 * loop by itself is faster by more than a hundredth.  With bounded rates a run may differ from its trial.  Then that has
 * to hold both with the maximum and with the minimum that stages may append.  If stages of both kinds read one in-port,
 * a schedule has to be faster by a twentieth.
 *
 *   Requires  the plan as it is to be, but for its schedule.
 *   Fills     plan->schedule; policy_reason, where a schedule has been tried.
 *   Fails     never.
 *
 * plan_iterations_for
 *   Gives     iterations of the first island in which each stage, and each round of the static schedule, repeats some times.
 *   Requires  batches and the schedule.
 *
 * plan_try_chosen
 *   Gives     the steady cycles of a plan with its own schedule and selection, for *iterations of the first island.
 *   Requires  the whole plan.
 *
 * plan_run_chosen
 *   Gives     the cycles of a whole run of so many iterations; UINT64_MAX: it takes too long to play, or more than a hundredth
 *             longer than `best_cycles` (0: there are none).
 *   Requires  the whole plan.
 */
#ifndef PIPEC_CHOOSE_SCHEDULE_H
#define PIPEC_CHOOSE_SCHEDULE_H

#include "compiler/plan/plan_internal.h"
#include "compiler/plan/trial.h"

void plan_choose_schedule(struct placement *at, struct trial_size size);
/* Instead of the static schedule, for that reason, every stage is dispatched when it is ready. */
void plan_leave_schedule(struct placement *at, struct trial_size size, const char *reason);
uint64_t plan_iterations_for(const struct plan *plan);
uint64_t plan_try_chosen(const struct graph *graph, const struct plan *plan, uint64_t *iterations);
uint64_t plan_run_chosen(const struct graph *graph, const struct plan *plan, uint64_t iterations,
                         uint64_t best_cycles);

#endif
