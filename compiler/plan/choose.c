/* SPDX-License-Identifier: MIT */
#include "compiler/plan/choose.h"

#include "compiler/plan/choose_batch.h"
#include "compiler/plan/choose_depths.h"
#include "compiler/plan/choose_schedule.h"
#include "compiler/plan/full_runs.h"
#include "compiler/plan/layouts.h"
#include "compiler/plan/priority_groups.h"
#include "compiler/plan/try_plan.h"
#include "compiler/plan/is_sequential.h"

#include "compiler/ir/ratio.h"

#include <inttypes.h>

enum { GROUPS_MOST = 8, CANDIDATES_MAX = 40 };

struct candidate {
    const struct plan_layout *layout;
    struct trial trial;
    uint64_t cycles; /* of the trial; UINT64_MAX: there was none, or it did not finish */
};

struct longer_trial { /* of the chosen layout; 0 iterations: there was none */
    uint64_t iterations, cycles;
};

struct choice {
    struct placement *at;
    struct candidate items[CANDIDATES_MAX];
    uint32_t count;
    struct trial_size size;
    enum graph_policy selection; /* of the trials of layouts */
    struct longer_trial longer;
    const char *unscheduled;  /* why there is no static schedule; NULL: trials decide */
    uint32_t doublings;       /* of the batches, with which the candidates have been tried */
    const char *batch_reason; /* NULL: they are the smallest */
};

/* ---- candidates ---- */

static void add_layout_candidate(struct choice *choice, const struct plan_layout *layout)
{
    if (layout == NULL || choice->count == CANDIDATES_MAX) return;
    choice->items[choice->count++] = (struct candidate){.layout = layout, .cycles = UINT64_MAX};
}

/* Where caches count, stages that are fewer than the domains get one each: less than the device may be faster. */
static void add_domains(struct choice *choice)
{
    const struct devdesc *device = choice->at->device;
    const uint32_t stages = choice->at->plan->stage_count;
    uint32_t before = 0;
    if (!(device->schemes & DEVDESC_BY_AFFINITY)) return;
    for (int level = 0; level < DEVDESC_LEVELS; level++) {
        uint32_t cus = device->cus_per_domain[level];
        uint32_t domains = cus > 0 && device->cu_count % cus == 0 ? device->cu_count / cus : 0;
        uint32_t groups = stages < domains && device->cache_bytes_per_cycle > 0 ? stages : domains;
        if (groups < 2 || groups > GROUPS_MOST || domains == before) continue;
        add_layout_candidate(choice, layout_in_groups(choice->at, groups, cus));
        before = domains;
    }
}

static void add_candidates(struct choice *choice)
{
    struct placement *at = choice->at;
    bool large = at->plan->stage_count > STAGES_TRIED;
    add_domains(choice);
    for (uint32_t groups = 2; groups <= GROUPS_MOST; groups += large ? groups : 1)
        add_layout_candidate(choice, layout_in_groups(at, groups, 0));
    add_layout_candidate(choice, layout_side_by_side(at));
    uint32_t stateful = layout_stateful(at);
    for (uint32_t cus = 1; cus <= stateful && cus <= GROUPS_MOST; cus *= 2)
        add_layout_candidate(choice, layout_state_apart(at, cus));
    if (stateful > 1 && stateful <= GROUPS_MOST)
        add_layout_candidate(choice, layout_state_apart(at, stateful));
}

/* ---- trials ---- */

/* `best_cycles`: of the trials before; 0: the figure is wanted whatever it is. */
static struct trial try_selection(const struct choice *choice, enum graph_policy selection,
                                  uint64_t best_cycles)
{
    struct trial_size size = choice->size;
    size.best_cycles = best_cycles;
    return plan_try(choice->at, NULL, selection, size);
}

static uint32_t try_layouts(struct choice *choice)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < choice->count; i++) {
        struct candidate *candidate = &choice->items[i];
        plan_lay_out(choice->at, candidate->layout);
        uint64_t before = choice->items[best].cycles;
        candidate->trial =
            try_selection(choice, choice->selection, before == UINT64_MAX ? 0 : before);
        candidate->cycles = candidate->trial.steady_cycles;
        if (trial_is_faster(candidate->cycles, choice->items[best].cycles)) best = i;
    }
    return best;
}

/* ---- longer trials ---- */

static struct planned_graph graph_with_plan(const struct placement *at)
{
    return (struct planned_graph){at->graph, at->plan};
}

/* A trial that sees buffers full, or that of so few iterations that it has none. */
static uint64_t longer_iterations(const struct choice *choice)
{
    return full_run_iterations(graph_with_plan(choice->at), choice->size.iterations);
}

/* Of a whole run, in which each round of the static schedule repeats, too. */
static uint64_t long_run_iterations(const struct choice *choice)
{
    return max64(plan_iterations_for(choice->at->plan), longer_iterations(choice));
}

/* The fastest one but for `best`; GRAPH_NONE: there is none whose trial finished. */
static uint32_t second_layout(const struct choice *choice, uint32_t best)
{
    uint32_t second = GRAPH_NONE;
    for (uint32_t i = 0; i < choice->count; i++) {
        if (i == best || choice->items[i].cycles == UINT64_MAX) continue;
        if (second == GRAPH_NONE || choice->items[i].cycles < choice->items[second].cycles)
            second = i;
    }
    return second;
}

/* Short trials do not see buffers full.  Where they are too short for that, the two best layouts and all stages in sequence
 * are tried for longer.  Returns the best of them. */
static uint32_t confirm_layout(struct choice *choice, uint32_t best)
{
    enum { FINALISTS = 3 };
    const struct trial_size size = choice->size;
    uint64_t iterations = longer_iterations(choice), best_cycles = UINT64_MAX;
    uint32_t tried[FINALISTS] = {0, best, second_layout(choice, best)}, found = best;
    choice->longer.iterations = 0;
    if (size.iterations >= iterations) return best;
    choice->size.looks = mul_clamped(size.looks, max64(iterations / size.iterations, 4));
    choice->size.iterations = iterations;
    for (size_t i = 0; i < FINALISTS; i++) {
        if (tried[i] == GRAPH_NONE || (i > 0 && tried[i] == 0)) continue;
        plan_lay_out(choice->at, choice->items[tried[i]].layout);
        uint64_t cycles = try_selection(choice, choice->selection, 0).steady_cycles;
        if (!trial_is_faster(cycles, best_cycles)) continue;
        best_cycles = cycles;
        found = tried[i];
    }
    if (best_cycles < UINT64_MAX) choice->longer = (struct longer_trial){iterations, best_cycles};
    choice->size = size;
    return found;
}

/* ---- reasons ---- */

static const char *cycles_text(struct arena *arena, uint64_t cycles)
{
    return arena_printf(arena, "%" PRIu64 " cycle%s", cycles, cycles == 1 ? "" : "s");
}

static const char *layout_name(struct arena *arena, const struct plan_layout *layout)
{
    if (layout->mode != PLAN_IN_GROUPS) return plan_mode_name(layout->mode);
    return arena_printf(arena, "in %" PRIu32 " groups", layout->count);
}

/* The best of that mode, but for so many sub-devices; GRAPH_NONE. */
static uint32_t best_of(const struct choice *choice, enum plan_mode mode, uint32_t but)
{
    uint32_t found = GRAPH_NONE;
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct candidate *candidate = &choice->items[i];
        if (candidate->layout->mode != mode || candidate->cycles == UINT64_MAX) continue;
        if (candidate->layout->count == but) continue;
        if (found == GRAPH_NONE || candidate->cycles < choice->items[found].cycles) found = i;
    }
    return found;
}

static const char *what_stages_have(const struct placement *at)
{
    struct arena *arena = at->cx->arena;
    const char *shared = plan_shared_by(at->plan);
    switch (at->plan->mode) {
    case PLAN_IN_SEQUENCE: break;
    case PLAN_SIDE_BY_SIDE:
        return arena_printf(
            arena, "%" PRIu32 " CUs for %" PRIu32 " stages: each has a sub-device of its own%s%s",
            at->device->cu_count, at->plan->stage_count, shared != NULL ? ", and with it an " : "",
            shared != NULL ? shared : "");
    case PLAN_IN_GROUPS:
        return arena_printf(
            arena, "%" PRIu32 " groups of stages, each in sequence on a sub-device of its own%s%s",
            at->plan->sub_device_count, shared != NULL ? ", and with it on an " : "",
            shared != NULL ? shared : "");
    }
    return "each stage in turn has the whole device";
}

/* Follows the figures if one of them is below that of the choice. */
static const char *margin_text(uint64_t least, uint64_t chosen)
{
    return least < chosen ? "; faster by less than a hundredth does not count" : "";
}

static const char *reason_by_trial(const struct choice *choice, uint32_t best)
{
    static const enum plan_mode modes[] = {PLAN_IN_SEQUENCE, PLAN_SIDE_BY_SIDE, PLAN_IN_GROUPS};
    struct arena *arena = choice->at->cx->arena;
    if (choice->items[best].cycles == UINT64_MAX)
        return arena_printf(arena, "%s; no trial of a layout finished",
                            what_stages_have(choice->at));
    const char *text = arena_printf(arena, "%s; by a trial %s %s", what_stages_have(choice->at),
                                    trial_iterations_text(arena, choice->size.iterations),
                                    cycles_text(arena, choice->items[best].cycles));
    uint64_t chosen = choice->items[best].cycles, least = chosen;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        uint32_t other = best_of(choice, modes[i], choice->items[best].layout->count);
        if (other == GRAPH_NONE) continue;
        if (choice->items[other].cycles < least) least = choice->items[other].cycles;
        text = arena_printf(arena, "%s, %s %" PRIu64, text,
                            layout_name(arena, choice->items[other].layout),
                            choice->items[other].cycles);
    }
    if (choice->longer.iterations == 0)
        return arena_printf(arena, "%s%s", text, margin_text(least, chosen));
    return arena_printf(arena, "%s; the best of longer trials: %s %s", text,
                        trial_iterations_text(arena, choice->longer.iterations),
                        cycles_text(arena, choice->longer.cycles));
}

static const char *obstacle_of(const struct placement *at)
{
    const struct devdesc *device = at->device;
    uint32_t stages = at->plan->stage_count;
    if (stages == 1) return "one stage";
    if (at->plan->debug_mode) return "debug mode runs one kernel at a time";
    if (device->cu_count == 1)
        return arena_printf(at->cx->arena, "%" PRIu32 " stages share 1 CU", stages);
    if (plan_takes_turns(at->arena, at->graph))
        return "its stages take turns, never two of them are ready at once";
    if (!(device->schemes & DEVDESC_BY_COUNTS)) return "the device does not partition by counts";
    if (device->max_sub_devices < 2) return "the device cannot be divided";
    return NULL;
}

/* ---- selections ---- */

static const char *const selection_texts[] = {
    [POLICY_AUTO] = "",
    [POLICY_ROUND_ROBIN] = "those that are ready in turn",
    [POLICY_PRIORITY] = "of those that are ready the first in order",
    [POLICY_FULLEST] = "of those that are ready the one whose input is fullest",
};

static void declare_selection(struct placement *at)
{
    static const char *const texts[] = {
        [POLICY_AUTO] = "",
        [POLICY_ROUND_ROBIN] = "declared: every stage that is ready in turn",
        [POLICY_PRIORITY] = "declared: of the stages that are ready, the most important",
        [POLICY_FULLEST] = "declared: of the stages that are ready, the one whose input is fullest",
    };
    at->plan->selection = at->graph->policy;
    at->plan->policy_reason = texts[at->graph->policy];
}

/* "by a trial 64 iterations take 1234 cycles with round_robin, 1300 with priority, 1234 with fullest" */
static const char *selections_text(const struct choice *choice, const uint64_t *cycles,
                                   enum graph_policy best)
{
    struct arena *arena = choice->at->cx->arena;
    const char *text = arena_printf(arena, "by a trial %s %s with %s",
                                    trial_iterations_text(arena, choice->size.iterations),
                                    cycles_text(arena, cycles[best]), graph_policy_name(best));
    uint64_t least = cycles[best];
    for (enum graph_policy s = POLICY_ROUND_ROBIN; s <= POLICY_FULLEST; s++) {
        if (s == best || cycles[s] == UINT64_MAX) continue;
        if (cycles[s] < least) least = cycles[s];
        text =
            arena_printf(arena, "%s, %" PRIu64 " with %s", text, cycles[s], graph_policy_name(s));
    }
    return arena_printf(arena, "%s%s", text, margin_text(least, cycles[best]));
}

/* Requires the plan as it is to be: the layout `chosen`, whose trial in turn is that of the first policy. */
static void choose_selection(const struct choice *choice, uint32_t chosen)
{
    struct placement *at = choice->at;
    struct arena *arena = at->cx->arena;
    uint64_t cycles[] = {0, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    enum graph_policy best = POLICY_ROUND_ROBIN;
    bool tried = at->plan->stage_count > 1 && !at->plan->debug_mode;
    for (enum graph_policy s = POLICY_ROUND_ROBIN; tried && s <= POLICY_FULLEST; s++) {
        cycles[s] = s == choice->selection && choice->items[chosen].cycles != UINT64_MAX
                        ? choice->items[chosen].cycles
                        : try_selection(choice, s, 0).steady_cycles;
        if (trial_is_faster(cycles[s], cycles[best])) best = s;
    }
    const char *text = arena_printf(
        arena, "%s%s",
        plan_has_priorities(at->graph) ? "the most important stages first, of one importance " : "",
        selection_texts[best]);
    if (tried && cycles[best] != UINT64_MAX)
        text = arena_printf(arena, "%s; %s", text, selections_text(choice, cycles, best));
    at->plan->selection = best;
    at->plan->policy_reason = text;
}

/* ---- what was asked for ---- */

static enum plan_mode mode_of_wish(enum layout_wish wish)
{
    switch (wish) {
    case LAYOUT_SIDE_BY_SIDE: return PLAN_SIDE_BY_SIDE;
    case LAYOUT_GROUPS: return PLAN_IN_GROUPS;
    case LAYOUT_ANY:
    case LAYOUT_SEQUENCE: break;
    }
    return PLAN_IN_SEQUENCE;
}

static const char *reason_of_wish(const struct choice *choice, enum plan_mode wished)
{
    struct arena *arena = choice->at->cx->arena;
    const char *have = what_stages_have(choice->at);
    if (choice->at->plan->mode == wished) return arena_printf(arena, "asked for: %s", have);
    return arena_printf(arena, "%s was asked for and cannot be had: %s", plan_mode_name(wished),
                        have);
}

/* The fastest layout of the mode; if there is none, the first layout: in sequence. */
static uint32_t choose_wished(struct choice *choice, enum plan_mode wished)
{
    if (wished != PLAN_IN_SEQUENCE && choice->at->plan->stage_count > 1) add_candidates(choice);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < choice->count; i++)
        if (choice->items[i].layout->mode == wished) choice->items[kept++] = choice->items[i];
    choice->count = kept > 0 ? kept : 1;
    return choice->count > 1 ? try_layouts(choice) : 0;
}

/* ---- batches ---- */

/* In sequence, with batches that have been doubled so often, and no other candidates. */
static void begin_choice(struct choice *choice, uint32_t doublings)
{
    struct placement *at = choice->at;
    choice->count = 0;
    at->doublings = choice->doublings = doublings;
    add_layout_candidate(choice, layout_in_sequence(at));
    plan_lay_out(at, choice->items[0].layout);
    choice->size = trial_size_for(at->plan);
}

static struct batched_layout batched_candidate(struct choice *choice, uint32_t index)
{
    struct candidate *candidate = &choice->items[index];
    if (candidate->cycles == UINT64_MAX) {
        choice->at->doublings = 0;
        plan_lay_out(choice->at, candidate->layout);
        candidate->trial = try_selection(choice, choice->selection, 0);
        candidate->cycles = candidate->trial.steady_cycles;
    }
    return (struct batched_layout){
        .layout = candidate->layout, .size = choice->size, .trial = candidate->trial};
}

/* "8 times the smallest: by trials 1024 iterations take 1000 cycles, 1500 with the smallest" */
static const char *reason_of_batches(struct arena *arena, const struct batched_layout *found,
                                     const struct batched_layout *smallest)
{
    uint128 before =
        (uint128)smallest->trial.steady_cycles * found->size.iterations / smallest->size.iterations;
    return arena_printf(
        arena, "%" PRIu64 " times the smallest: by trials %s %s, %" PRIu64 " with the smallest",
        UINT64_C(1) << found->doublings, trial_iterations_text(arena, found->size.iterations),
        cycles_text(arena, found->trial.steady_cycles),
        before >> 63 ? INT64_MAX : (uint64_t)before);
}

/* All layouts with the larger batches.  The best one has to be faster than `found`, and as fast as before when streams are
 * short.  Returns the index of the best one or of `found`. */
static uint32_t choose_layout_again(struct choice *choice, const struct batched_layout *found,
                                    const struct short_streams *streams)
{
    struct placement *at = choice->at;
    begin_choice(choice, found->doublings);
    uint32_t kept = 0;
    if (found->layout->mode != PLAN_IN_SEQUENCE) {
        kept = choice->count;
        add_layout_candidate(choice, found->layout);
    }
    add_candidates(choice);
    uint32_t best = confirm_layout(choice, try_layouts(choice));
    // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): both are below choice->count
    if (!trial_is_faster(choice->items[best].cycles, choice->items[kept].cycles)) return kept;
    plan_lay_out(at, choice->items[best].layout);
    return plan_is_fast_when_short(at, choice->selection, streams) ? best : kept;
}

/* Doubles the batches of a candidate whose trials had the smallest ones.  Larger batches make other layouts the best, so all are
 * tried again with as many if that is asked for.  Returns the index of the best. */
static uint32_t choose_batches(struct choice *choice, uint32_t index, bool is_free)
{
    struct placement *at = choice->at;
    const struct batched_layout smallest = batched_candidate(choice, index);
    at->doublings = 0;
    plan_lay_out(at, smallest.layout);
    const struct short_streams streams = plan_try_short(at, choice->selection);
    struct batched_layout found = plan_double_batches(at, smallest, choice->selection, &streams);
    at->doublings = choice->doublings = found.doublings;
    if (found.doublings == 0) return index;
    choice->batch_reason = reason_of_batches(at->cx->arena, &found, &smallest);
    if (is_free) return choose_layout_again(choice, &found, &streams);
    choice->items[index].trial = found.trial;
    choice->items[index].cycles = found.trial.steady_cycles;
    choice->size = found.size;
    return index;
}

/* ---- depths ---- */

/* "by trials 1024 iterations take 1000 cycles, 985 with the depths of the default" */
static const char *reason_of_depths(struct arena *arena, const struct cut_depths *depths)
{
    const struct batched_layout *found = &depths->found, *full = &depths->full;
    uint128 before =
        (uint128)full->trial.steady_cycles * found->size.iterations / full->size.iterations;
    return arena_printf(arena, "by trials %s %s, %" PRIu64 " with the depths of the default",
                        trial_iterations_text(arena, found->size.iterations),
                        cycles_text(arena, found->trial.steady_cycles),
                        before >> 63 ? INT64_MAX : (uint64_t)before);
}

static void lay_out_candidate(const struct choice *choice, uint32_t index)
{
    choice->at->doublings = choice->doublings;
    choice->at->plan->batch_reason = choice->batch_reason;
    plan_lay_out(choice->at, choice->items[index].layout);
}

/* Fills the rest of the plan, for its depths as they are. */
static void settle_plan(struct choice *choice, uint32_t best)
{
    struct placement *at = choice->at;
    lay_out_candidate(choice, best);
    if (at->graph->policy == POLICY_AUTO)
        choose_selection(choice, best);
    else
        declare_selection(at);
    const char *policy_reason = at->plan->policy_reason;
    plan_choose_schedule(at, choice->size);
    if (choice->unscheduled == NULL) return;
    at->plan->policy_reason = policy_reason;
    plan_leave_schedule(at, choice->size, choice->unscheduled);
}

/* Whole runs of the plan by default, with its policy and schedule, of which a plan with less room is at most a twentieth
 * slower. */
static struct full_runs run_full_plan(struct choice *choice, uint32_t best)
{
    struct placement *at = choice->at;
    at->most = NULL;
    settle_plan(choice, best);
    struct full_runs runs = full_runs_of(long_run_iterations(choice));
    full_runs_play(graph_with_plan(at), &runs, NULL);
    return runs;
}

/* The depths of --buffers=fast, with all that follows from them.  The trials of depths have no static schedule.  If
 * whole runs with it are too slow, all buffers get half of the missing room back, as often as necessary. */
static void choose_fast_depths(struct choice *choice, uint32_t best)
{
    struct placement *at = choice->at;
    struct candidate *chosen = &choice->items[best];
    struct full_runs runs = run_full_plan(choice, best);
    struct cut_depths depths = plan_cut_depths(at, chosen->layout, choice->selection);
    for (bool more = true; more;) {
        plan_lay_out(at, chosen->layout);
        chosen->trial = try_selection(choice, choice->selection, 0);
        chosen->cycles = chosen->trial.steady_cycles;
        settle_plan(choice, best);
        more =
            !full_runs_keep_speed(graph_with_plan(at), &runs) && plan_restore_depths(at, &depths);
    }
    depths.found.size = choice->size;
    depths.found.trial = chosen->trial;
    if (chosen->cycles < UINT64_MAX && depths.full.trial.steady_cycles < UINT64_MAX)
        at->plan->depth_reason = reason_of_depths(at->cx->arena, &depths);
}

/* --pareto and --buffers=fast.  Requires the plan as laid out. */
static void time_depths(struct choice *choice, uint32_t best)
{
    struct placement *at = choice->at;
    if (at->cx->options.explores)
        at->plan->front = plan_explore_depths(at, choice->items[best].layout, choice->selection);
    if (at->cx->options.buffers == BUFFERS_FAST) choose_fast_depths(choice, best);
}

/* ---- the best plans ---- */

enum { FINALISTS = 4, CLOSE_ONE_IN = 4 };

struct finals {
    struct full_runs best_runs;
    struct choice *league;   /* of the best, */
    uint32_t best;           /* its layout, */
    const char *unscheduled; /* and why it has no static schedule; NULL: trials decide */
    uint32_t played;
};

/* The best of the layouts that have not been taken, if it is slower than `first` by at most a quarter; GRAPH_NONE. */
static uint32_t next_finalist(const struct choice *choice, const uint32_t *taken, uint32_t count)
{
    uint64_t first = choice->items[taken[0]].cycles,
             most = add_clamped(first, first / CLOSE_ONE_IN);
    uint32_t next = GRAPH_NONE;
    for (uint32_t i = 0; i < choice->count && first < UINT64_MAX; i++) {
        bool is_taken = choice->items[i].cycles > most;
        for (uint32_t k = 0; k < count; k++)
            is_taken |= taken[k] == i;
        if (!is_taken &&
            (next == GRAPH_NONE || choice->items[i].cycles < choice->items[next].cycles))
            next = i;
    }
    return next;
}

/* Plays whole runs of the plan as it is settled.  Is it the best so far?  `*runs`: its runs. */
static bool wins_final(struct finals *finals, const struct placement *at, struct full_runs *runs)
{
    bool is_first = finals->played++ == 0;
    *runs = full_runs_of(finals->best_runs.iterations[FULL_RUNS - 1]);
    full_runs_play(graph_with_plan(at), runs, is_first ? NULL : &finals->best_runs);
    return is_first || full_runs_are_better(runs, &finals->best_runs);
}

static void take_lead(struct finals *finals, struct choice *league, uint32_t layout,
                      const struct full_runs *runs, const char *unscheduled)
{
    finals->league = league;
    finals->best = layout;
    finals->best_runs = *runs;
    finals->unscheduled = unscheduled;
}

static void play_final(struct choice *league, struct finals *finals, uint32_t layout)
{
    struct placement *at = league->at;
    struct full_runs runs, guarded;
    const char *without = "whole runs take too long to be played with it";
    settle_plan(league, layout);
    bool is_static = at->plan->schedule != NULL && at->plan->schedule->island_count > 0;
    if (wins_final(finals, at, &runs)) take_lead(finals, league, layout, &runs, NULL);
    if (!is_static) return;
    plan_leave_schedule(at, league->size, without);
    if (!wins_final(finals, at, &guarded) ||
        !trial_is_faster(guarded.cycles[FULL_RUNS - 1], runs.cycles[FULL_RUNS - 1]))
        return;
    if (runs.cycles[FULL_RUNS - 1] < UINT64_MAX)
        without =
            full_runs_text(at->cx->arena, &guarded, "without a static schedule", &runs, "with it");
    take_lead(finals, league, layout, &guarded, without);
}

static void play_league(struct choice *league, struct finals *finals, uint32_t best)
{
    uint32_t taken[FINALISTS] = {best}, count = 1;
    for (uint32_t i = 0; i < count; i++) {
        play_final(league, finals, taken[i]);
        if (count == FINALISTS) continue;
        uint32_t next = next_finalist(league, taken, count);
        if (next != GRAPH_NONE) taken[count++] = next;
    }
}

/* Raises *wanted and lowers *limit to what the league's best layout wants and allows. */
static void measure_final(const struct choice *league, uint32_t best, uint64_t *wanted,
                          uint64_t *limit)
{
    const struct planned_graph of = graph_with_plan(league->at);
    lay_out_candidate(league, best);
    *wanted = max64(*wanted, long_run_iterations(league));
    *limit = min64(*limit, full_run_limit(of));
    uint64_t dispatches = league->items[best].trial.dispatches;
    if (dispatches > 0)
        *limit = min64(*limit, full_run_limit_by_trial(league->size.iterations, dispatches));
}

/* Static schedules, and the beginning and end of a run, can make another layout the best.  All that are close get their policy and
 * schedule, and play whole runs, and so do those of `other`, with other batches.  Each plays them without its static schedule,
 * too, which it loses if its long run is faster by more than a hundredth without.  The best of them is in `choice` then. */
static uint32_t choose_by_runs(struct choice *choice, uint32_t best, struct choice *other,
                               uint32_t best_other)
{
    struct placement *at = choice->at;
    if (at->plan->stage_count > STAGES_TRIED || at->plan->debug_mode) return best;
    uint64_t wanted = 0, limit = UINT64_MAX;
    measure_final(choice, best, &wanted, &limit);
    if (other != NULL) measure_final(other, best_other, &wanted, &limit);
    struct finals finals = {
        .best_runs = full_runs_of(min64(wanted, limit)), .league = choice, .best = best};
    play_league(choice, &finals, best);
    if (other != NULL) play_league(other, &finals, best_other);
    bool is_other = finals.league != choice || finals.best != best;
    if (finals.league != choice) *choice = *finals.league;
    choice->unscheduled = finals.unscheduled;
    if (is_other)
        choice->longer = (struct longer_trial){finals.best_runs.iterations[FULL_RUNS - 1],
                                               finals.best_runs.cycles[FULL_RUNS - 1]};
    return finals.best;
}

/* Batches that are doubled for all stages in sequence, in which a launch uses the whole device.  False: there are as many doublings
 * as in `choice`. */
static bool doubles_sequence(struct choice *other, const struct choice *choice, uint32_t best,
                             uint32_t *best_other)
{
    if (choice->items[best].layout->mode == PLAN_IN_SEQUENCE) return false;
    *best_other = choose_batches(other, 0, true);
    return other->doublings != choice->doublings;
}

static uint32_t choose_freely(struct choice *choice)
{
    struct choice other;
    uint32_t best_other = 0;
    add_candidates(choice);
    uint32_t best = confirm_layout(choice, try_layouts(choice));
    if (!plan_doubles_batches(choice->at)) return choose_by_runs(choice, best, NULL, 0);
    other = *choice;
    best = choose_batches(choice, best, true);
    bool has_other = doubles_sequence(&other, choice, best, &best_other);
    return choose_by_runs(choice, best, has_other ? &other : NULL, best_other);
}

static const char *reason_of_mode(const struct choice *choice, uint32_t best, const char *obstacle)
{
    struct arena *arena = choice->at->cx->arena;
    enum layout_wish wish = choice->at->cx->options.layout;
    if (wish != LAYOUT_ANY) return reason_of_wish(choice, mode_of_wish(wish));
    if (obstacle == NULL) return reason_by_trial(choice, best);
    return arena_printf(arena, "%s: each stage in turn has the whole device", obstacle);
}

void plan_choose(struct placement *at)
{
    struct choice choice = {.at = at, .selection = at->graph->policy};
    enum layout_wish wish = at->cx->options.layout;
    const char *obstacle = obstacle_of(at);
    uint32_t best = 0;
    if (choice.selection == POLICY_AUTO) choice.selection = POLICY_ROUND_ROBIN;
    begin_choice(&choice, 0);
    if (wish == LAYOUT_ANY && obstacle == NULL) {
        best = choose_freely(&choice);
    } else {
        if (wish != LAYOUT_ANY) best = choose_wished(&choice, mode_of_wish(wish));
        if (plan_doubles_batches(at)) best = choose_batches(&choice, best, false);
        best = choose_by_runs(&choice, best, NULL, 0);
    }
    lay_out_candidate(&choice, best);
    at->plan->mode_reason = reason_of_mode(&choice, best, obstacle);
    if (at->cx->options.depths_by_clock && plan_times_depths(at)) time_depths(&choice, best);
    at->is_final = true;
    settle_plan(&choice, best);
}
