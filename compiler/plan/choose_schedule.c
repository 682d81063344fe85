#include "compiler/plan/choose_schedule.h"

#include "compiler/plan/schedule.h"

#include "compiler/analysis/ratio.h"

#include <inttypes.h>

enum { STAGES_TRIED = 256 };

static uint64_t try_schedule(const struct placement *at, const struct schedule *schedule,
                             struct trial_size size)
{
    struct arena *scratch = arena_create();
    struct trial trial =
        trial_run(scratch, at->graph, at->plan, schedule, at->plan->selection, size);
    arena_destroy(scratch);
    return trial.steady_cycles;
}

/* More than a hundredth less? */
static bool is_faster(uint64_t cycles, uint64_t than)
{
    return (uint128)cycles * 101 < (uint128)than * 100;
}

/* The fastest, the first of those that are as fast; NULL: there is none. */
static const struct schedule *fastest_schedule(const struct placement *at, struct trial_size size,
                                               uint64_t *cycles)
{
    bool large = at->plan->stage_count > STAGES_TRIED;
    const struct schedule *best = NULL;
    for (int i = SCHEDULE_LONGEST; i < (large ? SCHEDULE_ROUNDS : SCHEDULE_LENGTHS); i++) {
        const struct schedule *schedule =
            plan_schedule(at->cx, at->graph, at->plan, (enum schedule_length)i);
        if (schedule->island_count == 0) {
            if (best == NULL) at->plan->schedule = schedule;
            continue;
        }
        uint64_t taken = try_schedule(at, schedule, size);
        if (best != NULL && taken >= *cycles) continue;
        best = schedule;
        *cycles = taken;
    }
    return best;
}

void plan_choose_schedule(struct placement *at, struct trial_size size)
{
    struct plan *plan = at->plan;
    struct arena *arena = at->cx->arena;
    uint64_t cycles = UINT64_MAX;
    const struct schedule *schedule = fastest_schedule(at, size, &cycles);
    if (schedule == NULL) return;
    uint64_t guarded = try_schedule(at, NULL, size);
    const char *iterations = arena_printf(arena, "%" PRIu64 " iteration%s", size.iterations,
                                          size.iterations == 1 ? " takes" : "s take");
    if (is_faster(guarded, cycles)) {
        plan->schedule =
            plan_schedule_none(at->cx, plan,
                               arena_printf(arena,
                                            "by a trial %s %" PRIu64
                                            " cycles with a static schedule, %" PRIu64 " without",
                                            iterations, cycles, guarded));
        return;
    }
    plan->schedule = schedule;
    plan->policy_reason = arena_printf(arena,
                                       "a static schedule first, by a trial %s %" PRIu64
                                       " cycles with it, %" PRIu64 " without; then %s",
                                       iterations, cycles, guarded, plan->policy_reason);
}
