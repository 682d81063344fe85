/* SPDX-License-Identifier: MIT */
#include "compiler/plan/choose_batch.h"

#include "compiler/ir/ratio.h"
#include "compiler/plan/try_plan.h"
#include "compiler/target/target.h"

enum {
    WORTH_ONE_IN = 50,     /* of the steady cycles: each further doubling */
    SHORT_ONE_IN = 20,     /* that a short stream may be slower */
    SHORT_ITERATIONS = 16, /* of the shorter short stream */
    SHORT_DISPATCHES = 4,  /* of each stage, with the smallest batches, of the longer one */
    AHEAD = 2,             /* doublings in a row that may fail before the last ones are given up */
    LOOKS = 4              /* a whole run has so many times the looks of a trial of layouts */
};

bool plan_doubles_batches(const struct placement *at)
{
    const struct graph *graph = at->graph;
    bool has_source = false, has_in_port = false;
    if (target_of(at->device)->batch.doublings_max == 0 || at->plan->debug_mode ||
        plan_raising_mode(at) != BUFFERS_DEFAULT || at->plan->stage_count > STAGES_TRIED)
        return false;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        if (graph->nodes.items[i].kernel->stops) return false;
        has_source |= graph->nodes.items[i].inputs.count == 0;
    }
    for (size_t i = 0; i < graph->buffers.count; i++)
        has_in_port |= graph->buffers.items[i].outer == GRAPH_OUTER_IN;
    return !(has_source && has_in_port);
}

/* ---- short streams ---- */

static uint64_t try_whole(const struct placement *at, enum graph_policy selection,
                          uint64_t iterations)
{
    struct trial_size size = trial_size_for(at->plan);
    size.iterations = iterations;
    size.looks = mul_clamped(size.looks, LOOKS);
    size.whole = true;
    struct trial trial = plan_try(at, NULL, selection, size);
    return trial.whole ? trial.cycles : UINT64_MAX;
}

struct short_streams plan_try_short(const struct placement *at, enum graph_policy selection)
{
    struct short_streams streams;
    uint64_t dispatches = (uint64_t)at->plan->stage_count * SHORT_DISPATCHES;
    streams.iterations[0] = SHORT_ITERATIONS;
    streams.iterations[1] = max64(trial_iterations_for(at->plan, dispatches), SHORT_ITERATIONS);
    for (int i = 0; i < SHORT_STREAMS; i++)
        streams.cycles[i] = try_whole(at, selection, streams.iterations[i]);
    return streams;
}

bool plan_is_fast_when_short(const struct placement *at, enum graph_policy selection,
                             const struct short_streams *streams)
{
    for (int i = 0; i < SHORT_STREAMS; i++) {
        uint64_t cycles = try_whole(at, selection, streams->iterations[i]);
        if (cycles == UINT64_MAX || streams->cycles[i] == UINT64_MAX) return false;
        if ((uint128)cycles * SHORT_ONE_IN > (uint128)streams->cycles[i] * (SHORT_ONE_IN + 1))
            return false;
    }
    return true;
}

/* ---- long streams ---- */

static bool is_faster_by(const struct batched_layout *batches, const struct batched_layout *than,
                         uint32_t one_in)
{
    uint64_t cycles = batches->trial.steady_cycles, before = than->trial.steady_cycles;
    if (cycles == UINT64_MAX || before == UINT64_MAX) return false;
    /* 63 + 41 + 6 bits */
    return (uint128)cycles * than->size.iterations * one_in <
           (uint128)before * batches->size.iterations * (one_in - 1);
}

/* Lays the layout out with so many doublings, and tries it. */
static struct batched_layout try_batches(struct placement *at, const struct plan_layout *layout,
                                         uint32_t doublings, enum graph_policy selection)
{
    struct batched_layout batches = {.layout = layout, .doublings = doublings};
    at->doublings = doublings;
    plan_lay_out(at, layout);
    batches.size = trial_size_for(at->plan);
    batches.trial = plan_try(at, NULL, selection, batches.size);
    return batches;
}

static bool launches_are_cheap(const struct trial *trial)
{
    return (uint128)trial->launch_cycles * WORTH_ONE_IN < trial->busy_cycles;
}

struct batched_layout plan_double_batches(struct placement *at, struct batched_layout from,
                                          enum graph_policy selection,
                                          const struct short_streams *streams)
{
    struct batched_layout best = from;
    uint32_t most = target_of(at->device)->batch.doublings_max;
    for (uint32_t i = best.doublings + 1; i <= most && i <= best.doublings + 1 + AHEAD; i++) {
        if (launches_are_cheap(&best.trial)) break;
        struct batched_layout next = try_batches(at, best.layout, i, selection);
        if (is_faster_by(&next, &best, WORTH_ONE_IN / (i - best.doublings)) &&
            plan_is_fast_when_short(at, selection, streams))
            best = next;
    }
    return best;
}
