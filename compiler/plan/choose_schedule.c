/* SPDX-License-Identifier: MIT */
#include "compiler/plan/choose_schedule.h"

#include "compiler/plan/reference_entries.h"
#include "compiler/plan/schedule.h"
#include "compiler/plan/try_plan.h"

#include "compiler/ir/ratio.h"

#include <inttypes.h>

enum {
    ROUNDS = 16, /* of a schedule, in a trial */
    LOOKS = 4    /* a trial of schedules has so many times the looks of a trial of layouts */
};

/* Makes the trial long enough for ROUNDS rounds of the schedule. */
static void grow_size(const struct plan *plan, const struct schedule *schedule,
                      struct trial_size *size)
{
    for (uint32_t i = 0; i < schedule->island_count; i++) {
        const struct schedule_island *island = &schedule->islands[i];
        uint128 iterations =
            (uint128)island->firings * PLAN_PACE_ONE / plan->stages[island->stages[0]].pace;
        if (iterations >> 40 == 0)
            size->iterations = max64(size->iterations, (uint64_t)iterations * ROUNDS);
    }
}

static uint64_t try_entries(const struct placement *at, const struct schedule *schedule,
                            uint32_t entries, struct trial_size size)
{
    struct arena *scratch = arena_create();
    plan_reference_entries(scratch, at->graph, at->plan, schedule, entries);
    arena_destroy(scratch);
    return plan_try(at, schedule, at->plan->selection, size).steady_cycles;
}

static struct trial_size bounded_by(struct trial_size size, uint64_t best_cycles)
{
    size.best_cycles = best_cycles == UINT64_MAX ? 0 : best_cycles;
    return size;
}

static uint64_t try_schedule(const struct placement *at, const struct schedule *schedule,
                             struct trial_size size)
{
    return try_entries(at, schedule, at->device->reference_entries, size);
}

struct tried {
    const struct schedule *schedules[SCHEDULE_LENGTHS];
    uint32_t count;
    struct trial_size size;
};

/* Also sets plan->schedule, even if no length has a static part. */
static struct tried collect_schedules(const struct placement *at, struct trial_size size)
{
    struct tried tried = {.size = size};
    int end = at->plan->stage_count > STAGES_TRIED ? SCHEDULE_FULL_LANES : SCHEDULE_LENGTHS;
    for (int i = SCHEDULE_LONGEST; i < end; i++) {
        const struct schedule *schedule =
            plan_schedule(at->cx, at->graph, at->plan, (enum schedule_length)i);
        if (i == SCHEDULE_LONGEST) at->plan->schedule = schedule;
        if (schedule->island_count == 0) continue;
        tried.schedules[tried.count++] = schedule;
        grow_size(at->plan, schedule, &tried.size);
    }
    tried.size.looks = mul_clamped(tried.size.looks, LOOKS);
    return tried;
}

static bool has_bounded_rates(const struct graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++)
        for (size_t k = 0; k < graph->nodes.items[i].outputs.count; k++)
            if (!graph_is_exact(&graph->nodes.items[i], &graph->nodes.items[i].outputs.items[k]))
                return true;
    return false;
}

/* Is there an in-port that both static and other stages read?  Then the stages that are asked first limit the packets
 * that the others find there, and the effect on the time varies with the rates. */
static bool share_in_ports(const struct placement *at)
{
    const struct graph *graph = at->graph;
    for (size_t b = 0; b < graph->buffers.count; b++) {
        const struct graph_buffer *buffer = &graph->buffers.items[b];
        uint32_t fixed = 0; /* stages are nodes, one for each */
        for (size_t r = 0; buffer->outer == GRAPH_OUTER_IN && r < buffer->readers.count; r++)
            fixed += at->plan->schedule->obstacles[buffer->readers.items[r].node] == NULL;
        if (fixed > 0 && fixed < buffer->readers.count) return true;
    }
    return false;
}

/* Rates are bounded.  `cycles` and `guarded`: with the maximum that stages may append.  Returns true if the schedule is
 * slower with the minimum, or, where stages of both kinds read one in-port, not faster by a twentieth with both. */
static bool schedule_is_uncertain(const struct placement *at, struct trial_size size,
                                  uint64_t cycles, uint64_t guarded)
{
    bool clearly = share_in_ports(at);
    if (clearly && (uint128)cycles * 20 > (uint128)guarded * 19) return true;
    size.least = true;
    cycles = try_schedule(at, at->plan->schedule, size);
    guarded = try_schedule(at, NULL, size);
    return clearly ? (uint128)cycles * 20 > (uint128)guarded * 19
                   : trial_is_faster(guarded, cycles);
}

static void choose_schedule(struct placement *at, struct trial_size size)
{
    struct plan *plan = at->plan;
    struct arena *arena = at->cx->arena;
    struct tried tried = collect_schedules(at, size);
    uint64_t cycles = UINT64_MAX;
    if (tried.count == 0) return;
    for (uint32_t i = 0; i < tried.count; i++) {
        uint64_t taken = try_schedule(at, tried.schedules[i], bounded_by(tried.size, cycles));
        if (i > 0 && taken >= cycles) continue;
        plan->schedule = tried.schedules[i];
        cycles = taken;
    }
    uint64_t guarded = try_schedule(at, NULL, tried.size);
    if (has_bounded_rates(at->graph) && schedule_is_uncertain(at, tried.size, cycles, guarded)) {
        plan->schedule = plan_schedule_none(
            at->cx, plan,
            "what its stages append varies, and trials do not find a static schedule faster "
            "whatever that is");
        return;
    }
    const char *iterations = trial_iterations_text(arena, tried.size.iterations);
    if (cycles == UINT64_MAX && guarded == UINT64_MAX)
        plan->policy_reason = arena_printf(
            arena, "a static schedule first, untried: that would take too long; then %s",
            plan->policy_reason);
    else if (cycles == UINT64_MAX)
        plan->schedule =
            plan_schedule_none(at->cx, plan, "a trial of the static schedule would take too long");
    else if (trial_is_faster(guarded, cycles))
        plan->schedule =
            plan_schedule_none(at->cx, plan,
                               arena_printf(arena,
                                            "by a trial %s %" PRIu64
                                            " cycles with a static schedule, %" PRIu64 " without",
                                            iterations, cycles, guarded));
    else if (guarded == UINT64_MAX)
        plan->policy_reason =
            arena_printf(arena,
                         "a static schedule first, by a trial %s %" PRIu64
                         " cycles with it, and the trial without it did not finish; then %s",
                         iterations, cycles, plan->policy_reason);
    else
        plan->policy_reason = arena_printf(arena,
                                           "a static schedule first, by a trial %s %" PRIu64
                                           " cycles with it, %" PRIu64 " without; then %s",
                                           iterations, cycles, guarded, plan->policy_reason);
}

/* The fewest entries with which the steady part of a trial takes the minimum of cycles: every choice with fewer entries is
 * also a choice with more, and each entry costs a packet that stores its reference.  A plan that is not final gets all of them:
 * they hardly change which plan is the best, and their trials would take half of the time. */
static void choose_entries(struct placement *at, struct trial_size size)
{
    const struct schedule *schedule = at->plan->schedule;
    bool fixed = schedule != NULL && schedule->island_count > 0;
    uint32_t entries = at->device->reference_entries, best = entries;
    if (fixed) grow_size(at->plan, schedule, &size);
    size.looks = mul_clamped(size.looks, LOOKS);
    plan_reference_entries(at->arena, at->graph, at->plan, schedule, entries);
    bool is_tried = at->is_final && at->plan->stage_count <= STAGES_TRIED;
    uint32_t used = is_tried ? at->plan->entry_count : 0;
    uint64_t cycles =
        used > 1 ? try_entries(at, fixed ? schedule : NULL, entries, size) : UINT64_MAX;
    for (uint32_t e = used; e-- > 1;) {
        uint64_t taken = try_entries(at, fixed ? schedule : NULL, e, bounded_by(size, cycles));
        if (taken == UINT64_MAX || taken > cycles) continue;
        cycles = taken;
        best = e;
    }
    plan_reference_entries(at->arena, at->graph, at->plan, schedule, best);
}

void plan_choose_schedule(struct placement *at, struct trial_size size)
{
    choose_schedule(at, size);
    choose_entries(at, size);
}

void plan_leave_schedule(struct placement *at, struct trial_size size, const char *reason)
{
    at->plan->schedule = plan_schedule_none(at->cx, at->plan, reason);
    choose_entries(at, size);
}

static struct trial try_chosen(const struct graph *graph, const struct plan *plan,
                               struct trial_size size)
{
    struct arena *scratch = arena_create();
    size.looks = mul_clamped(size.looks, LOOKS);
    struct trial trial = trial_run(scratch, graph, plan, plan->schedule, plan->selection, size);
    arena_destroy(scratch);
    return trial;
}

static struct trial_size size_for_chosen(const struct plan *plan)
{
    struct trial_size size = trial_size_for(plan);
    if (plan->schedule != NULL) grow_size(plan, plan->schedule, &size);
    return size;
}

uint64_t plan_iterations_for(const struct plan *plan)
{
    return size_for_chosen(plan).iterations;
}

uint64_t plan_try_chosen(const struct graph *graph, const struct plan *plan, uint64_t *iterations)
{
    struct trial_size size = size_for_chosen(plan);
    *iterations = size.iterations;
    return try_chosen(graph, plan, size).steady_cycles;
}

uint64_t plan_run_chosen(const struct graph *graph, const struct plan *plan, uint64_t iterations,
                         uint64_t best_cycles)
{
    struct trial_size size = trial_size_for(plan);
    size.looks = mul_clamped(size.looks, 2);
    size.iterations = iterations;
    size.whole = true;
    size.best_cycles = best_cycles == UINT64_MAX ? 0 : best_cycles;
    struct trial trial = try_chosen(graph, plan, size);
    return trial.whole ? trial.cycles : UINT64_MAX;
}
