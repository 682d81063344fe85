/* SPDX-License-Identifier: MIT */
#include "compiler/plan/try_plan.h"

#include "compiler/context/phase_times.h"

struct trial plan_try(const struct placement *at, const struct schedule *schedule,
                      enum graph_policy selection, struct trial_size size)
{
    struct arena *scratch = arena_create();
    enum compile_phase before = phase_begin(at->cx, PHASE_TRIALS);
    struct trial trial = trial_run(scratch, at->graph, at->plan, schedule, selection, size);
    phase_resume(at->cx, before);
    arena_destroy(scratch);
    return trial;
}
