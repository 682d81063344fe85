/* SPDX-License-Identifier: MIT */
#include "compiler/plan/full_runs.h"

#include "compiler/ir/ratio.h"
#include "compiler/plan/choose_schedule.h"
#include "compiler/plan/trial.h"

#include <inttypes.h>
#include <string.h>

enum {
    LONG_RUN = FULL_RUNS - 1,
    SLOWER_ONE_IN = 20,         /* that a run with less room may be */
    STAGES_PLAYED = 1024,       /* a selection may look at all of them */
    RUN_DISPATCHES = 32 * 1024, /* of a run, at most: some hundredths of a second */
    LEAST_ITERATIONS = 16,
    LOSS_ONE = 1024 * 1024
};

/* The long run has so many times the iterations of a run. */
static const uint64_t shorter_by[FULL_RUNS] = {16, 1};
static const uint64_t weights[FULL_RUNS] = {1, 4};

/* Iterations in which the writers of all buffers could fill them. */
static uint64_t iterations_to_fill(struct planned_graph of)
{
    const struct graph *graph = of.graph;
    uint64_t most = 0;
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (buffer->outer != GRAPH_INNER) continue;
        uint64_t pushed =
            graph->nodes.items[buffer->writer_node].outputs.items[buffer->writer_output].push;
        uint128 packets = (uint128)of.plan->stages[buffer->writer_node].pace * pushed;
        uint128 fill = (uint128)buffer->depth_packets * PLAN_PACE_ONE / (packets > 0 ? packets : 1);
        most = max64(most, fill >> 40 ? UINT64_C(1) << 40 : (uint64_t)fill);
    }
    return most;
}

uint64_t full_run_limit(struct planned_graph of)
{
    return max64(trial_iterations_for(of.plan, RUN_DISPATCHES), LEAST_ITERATIONS);
}

uint64_t full_run_limit_by_trial(uint64_t iterations, uint64_t dispatches)
{
    return max64(mul_clamped(iterations, RUN_DISPATCHES) / dispatches, LEAST_ITERATIONS);
}

uint64_t full_run_iterations(struct planned_graph of, uint64_t trial_iterations)
{
    enum { FILLINGS = 4, TIMES = 32 };
    uint64_t fills = mul_clamped(iterations_to_fill(of), FILLINGS);
    return min64(min64(fills, mul_clamped(trial_iterations, TIMES)), full_run_limit(of));
}

struct full_runs full_runs_of(uint64_t iterations)
{
    struct full_runs runs;
    for (int i = 0; i < FULL_RUNS; i++) {
        runs.iterations[i] = max64(iterations / shorter_by[i], 1);
        runs.cycles[i] = 0;
    }
    return runs;
}

static void play_run(struct planned_graph of, struct full_runs *runs, int run, uint64_t best_cycles)
{
    runs->cycles[run] = plan_run_chosen(of.graph, of.plan, runs->iterations[run], best_cycles);
}

void full_runs_play(struct planned_graph of, struct full_runs *runs, const struct full_runs *than)
{
    uint64_t best = than != NULL ? than->cycles[LONG_RUN] : 0;
    play_run(of, runs, LONG_RUN, add_clamped(best, best / 2));
    for (int i = 0; i < LONG_RUN && runs->cycles[LONG_RUN] < UINT64_MAX; i++)
        play_run(of, runs, i, 0);
}

static bool keeps_run(uint64_t cycles, uint64_t before)
{
    return before == UINT64_MAX || before == 0 ||
           (uint128)cycles * SLOWER_ONE_IN <= (uint128)before * (SLOWER_ONE_IN + 1);
}

bool full_runs_keep_speed(struct planned_graph of, const struct full_runs *runs)
{
    for (int i = 0; i < FULL_RUNS; i++)
        if (runs->cycles[i] > 0 &&
            !keeps_run(plan_run_chosen(of.graph, of.plan, runs->iterations[i], 0), runs->cycles[i]))
            return false;
    return true;
}

/* In LOSS_ONE-ths. */
static uint128 losses_against(const struct full_runs *runs, const struct full_runs *other)
{
    uint128 losses = 0;
    for (int i = 0; i < FULL_RUNS; i++) {
        uint64_t best = max64(min64(runs->cycles[i], other->cycles[i]), 1);
        losses += (uint128)runs->cycles[i] * LOSS_ONE / best * weights[i];
    }
    return losses;
}

bool full_runs_are_better(const struct full_runs *runs, const struct full_runs *than)
{
    if (runs->cycles[LONG_RUN] == UINT64_MAX || runs->cycles[0] == 0) return false;
    if (than->cycles[LONG_RUN] == UINT64_MAX) return true;
    return losses_against(runs, than) * 101 < losses_against(than, runs) * 100;
}

/* The run that shows most for `better`: the long one where that is faster. */
static int telling_run(const struct full_runs *better, const struct full_runs *than)
{
    int telling = LONG_RUN;
    if (trial_is_faster(better->cycles[LONG_RUN], than->cycles[LONG_RUN])) return LONG_RUN;
    for (int i = LONG_RUN; i-- > 0 && than->cycles[0] > 0;)
        if ((uint128)better->cycles[i] * than->cycles[telling] <
            (uint128)better->cycles[telling] * than->cycles[i])
            telling = i;
    return telling;
}

const char *full_runs_text(struct arena *arena, const struct full_runs *better, const char *what,
                           const struct full_runs *than, const char *other)
{
    int run = telling_run(better, than);
    return arena_printf(arena, "by whole runs %s %" PRIu64 " cycles %s, %" PRIu64 " %s%s",
                        trial_iterations_text(arena, better->iterations[run]), better->cycles[run],
                        what, than->cycles[run], other,
                        than->cycles[run] < better->cycles[run]
                            ? "; faster by less than a hundredth does not count"
                            : "");
}

/* ---- a pipeline as written, and with less work or fused ---- */

/* Packets that an iteration takes from the in-port, in PLAN_PACE_ONE-ths. */
static uint128 packets_taken(struct planned_graph of, uint32_t in_port)
{
    uint128 most = 0;
    for (size_t i = 0; i < of.graph->buffers.items[in_port].readers.count; i++) {
        struct graph_reader reader = of.graph->buffers.items[in_port].readers.items[i];
        const struct graph_node *node = &of.graph->nodes.items[reader.node];
        uint128 packets = (uint128)of.plan->stages[reader.node].pace *
                          node->inputs.items[reader.input].pop / graph_phases(node);
        if (packets > most) most = packets;
    }
    return most;
}

/* Packets that an iteration takes from the in-port of `of` that has such a name, or firings of such a source; 0: there is
 * none. */
static uint128 stream_taken(struct planned_graph of, const char *name, bool is_source)
{
    for (uint32_t i = 0; is_source && i < of.graph->nodes.count; i++)
        if (of.graph->nodes.items[i].inputs.count == 0 &&
            strcmp(of.graph->nodes.items[i].name, name) == 0)
            return of.plan->stages[i].pace;
    for (uint32_t i = 0; !is_source && i < of.graph->buffers.count; i++)
        if (of.graph->buffers.items[i].outer == GRAPH_OUTER_IN &&
            strcmp(of.graph->buffers.items[i].name, name) == 0)
            return packets_taken(of, i);
    return 0;
}

struct measure { /* `of` iterations of one graph are `to` of the other; 0: unknown */
    uint128 of, to;
};

/* Adds a stream.  False: iterations of the two do not relate there as they do elsewhere. */
static bool measure_stream(struct measure *measure, uint128 taken, uint128 taken_by_other)
{
    enum { EXACT_ONE_IN = 1024 };
    if (taken == 0 && taken_by_other == 0) return true;
    while (taken >> 48 || taken_by_other >> 48) {
        taken >>= 1;
        taken_by_other >>= 1;
    }
    if (taken == 0 || taken_by_other == 0) return false;
    if (measure->of == 0) *measure = (struct measure){taken_by_other, taken};
    uint128 left = measure->of * taken, right = measure->to * taken_by_other;
    uint128 apart = left > right ? left - right : right - left;
    return apart <= right / EXACT_ONE_IN;
}

/* How iterations of one relate to those of the other; {0, 0}: in no way that all streams share. */
static struct measure measure_iterations(struct planned_graph of, struct planned_graph to)
{
    const struct measure none = {0, 0};
    struct measure measure = none;
    for (uint32_t i = 0; i < of.graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &of.graph->buffers.items[i];
        if (buffer->outer != GRAPH_OUTER_IN) continue;
        uint128 taken = packets_taken(of, i);
        if (!measure_stream(&measure, taken, stream_taken(to, buffer->name, false))) return none;
    }
    for (uint32_t i = 0; i < of.graph->nodes.count; i++) {
        const struct graph_node *node = &of.graph->nodes.items[i];
        if (node->inputs.count > 0) continue;
        uint128 firings = of.plan->stages[i].pace;
        if (!measure_stream(&measure, firings, stream_taken(to, node->name, true))) return none;
    }
    return measure;
}

static uint64_t iterations_of_other(uint64_t iterations, uint128 of, uint128 to)
{
    uint128 others = (uint128)iterations * to / of; /* 64 + 48 bits */
    return others >> 62 ? INT64_MAX : max64((uint64_t)others, 1);
}

static uint64_t long_run(struct planned_graph of)
{
    uint64_t trial = plan_iterations_for(of.plan);
    return max64(full_run_iterations(of, trial), trial);
}

/* Launches with less than a batch can make a run longer than was counted.  So few iterations that both are played to their ends,
 * or LEAST_ITERATIONS. */
static void play_contest(struct full_run_contest *contest, struct planned_graph written,
                         struct planned_graph made, struct measure measure, uint64_t iterations)
{
    bool is_played = false;
    for (; !is_played; iterations /= 8) {
        contest->written = contest->made = full_runs_of(iterations);
        for (int i = 0; i < FULL_RUNS; i++)
            contest->made.iterations[i] =
                iterations_of_other(contest->written.iterations[i], measure.of, measure.to);
        full_runs_play(written, &contest->written, NULL);
        is_played = contest->written.cycles[LONG_RUN] < UINT64_MAX;
        if (is_played) {
            full_runs_play(made, &contest->made, NULL);
            is_played = contest->made.cycles[LONG_RUN] < UINT64_MAX;
        }
        if (iterations <= LEAST_ITERATIONS) break;
    }
}

struct full_run_contest full_runs_contest(struct planned_graph written, struct planned_graph made)
{
    struct full_run_contest contest = {.made_is_better = false};
    const struct measure measure = measure_iterations(written, made);
    if (measure.of == 0) return contest;
    contest.written = contest.made = full_runs_of(1);
    if (written.plan->stage_count > STAGES_PLAYED) return contest;
    uint64_t length = long_run(written), made_length = long_run(made);
    length = max64(length, iterations_of_other(made_length, measure.to, measure.of));
    uint64_t most = trial_iterations_for(written.plan, RUN_DISPATCHES);
    uint64_t made_most = trial_iterations_for(made.plan, RUN_DISPATCHES);
    most = min64(most, iterations_of_other(made_most, measure.to, measure.of));
    play_contest(&contest, written, made, measure, min64(length, most));
    contest.made_is_better = contest.written.cycles[LONG_RUN] < UINT64_MAX &&
                             full_runs_are_better(&contest.made, &contest.written);
    return contest;
}
