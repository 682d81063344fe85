/* SPDX-License-Identifier: MIT */
#include "compiler/plan/choose_depths.h"

#include "compiler/ir/ratio.h"
#include "compiler/plan/try_plan.h"
#include "compiler/target/target.h"

#include <stdlib.h>

enum {
    SLOWER_ONE_IN = 100, /* of the steady cycles, that is still full speed */
    EXACT_ONE_IN = 8,    /* of the room of a buffer */
    SPEEDS_MAX = 40      /* rows of a front, before those that are no gain are left out */
};

/* Dispatches of all trials for one speed. */
#define DISPATCHES_MAX (UINT64_C(1) << 20)

struct cutting {
    struct placement *at;
    const struct plan_layout *layout;
    enum graph_policy selection;
    uint64_t *full;               /* by buffer: the depth with all of the room */
    struct batched_layout goal;   /* the speed that is wanted, */
    struct short_streams streams; /* and that of short streams */
    struct batched_layout chosen; /* with the depths found so far */
    uint64_t dispatches_left;
};

bool plan_times_depths(const struct placement *at)
{
    return target_of(at->device)->counts_cycles && !at->plan->debug_mode && !at->graph->unproven &&
           !at->graph->is_counterexample;
}

static struct cutting begin_cutting(struct placement *at, const struct plan_layout *layout,
                                    enum graph_policy selection)
{
    size_t count = at->graph->buffers.count;
    struct cutting cut = {.at = at,
                          .layout = layout,
                          .selection = selection,
                          .full = ARENA_ARRAY(at->arena, uint64_t, count + 1)};
    at->most = NULL;
    plan_lay_out(at, layout);
    for (size_t i = 0; i < count; i++)
        cut.full[i] = at->graph->buffers.items[i].depth_packets;
    at->most = arena_copy(at->arena, cut.full, count * sizeof *cut.full);
    return cut;
}

/* ---- trials ---- */

/* Of so many iterations at the wanted speed, or slower by a hundredth; 0: no speed is wanted yet. */
static uint64_t most_cycles(const struct cutting *cut, uint64_t iterations)
{
    const struct batched_layout *goal = &cut->goal;
    if (goal->trial.steady_cycles == UINT64_MAX) return 0;
    uint128 cycles = (uint128)goal->trial.steady_cycles * iterations / goal->size.iterations;
    cycles += cycles / SLOWER_ONE_IN;
    return cycles >> 62 ? INT64_MAX : max64((uint64_t)cycles, 1);
}

static struct batched_layout try_room(struct cutting *cut)
{
    struct placement *at = cut->at;
    struct batched_layout tried = {.layout = cut->layout, .doublings = at->doublings};
    plan_lay_out(at, cut->layout);
    tried.size = trial_size_for(at->plan);
    struct trial_size size = tried.size;
    size.best_cycles = most_cycles(cut, size.iterations);
    tried.trial = plan_try(at, NULL, cut->selection, size);
    cut->dispatches_left -= min64(cut->dispatches_left, max64(tried.trial.dispatches, 1));
    return tried;
}

static bool are_depths_enough(struct cutting *cut)
{
    struct batched_layout tried = try_room(cut);
    if (tried.trial.steady_cycles > most_cycles(cut, tried.size.iterations)) return false;
    if (!plan_is_fast_when_short(cut->at, cut->selection, &cut->streams)) return false;
    cut->chosen = tried;
    return true;
}

/* The speed with the depths as they are becomes the one that is wanted.  Returns false if it cannot be measured. */
static bool take_speed(struct cutting *cut)
{
    cut->dispatches_left = DISPATCHES_MAX;
    cut->goal.trial.steady_cycles = UINT64_MAX;
    cut->goal = cut->chosen = try_room(cut);
    cut->streams = plan_try_short(cut->at, cut->selection);
    return cut->goal.trial.steady_cycles < UINT64_MAX;
}

/* ---- room ---- */

/* Each buffer gets the room of a full dispatch halved so often.  Returns false if none has any. */
static bool halve_all_room(struct cutting *cut, uint32_t halvings)
{
    struct placement *at = cut->at;
    uint64_t any = 0;
    for (size_t i = 0; i < at->graph->buffers.count; i++) {
        uint64_t room = halvings < 64 ? (cut->full[i] - at->depths[i]) >> halvings : 0;
        at->most[i] = at->depths[i] + room;
        any |= room;
    }
    return any != 0;
}

static void cut_all_buffers(struct cutting *cut)
{
    uint32_t halvings = 0;
    while (halve_all_room(cut, halvings) && halve_all_room(cut, halvings + 1) &&
           cut->dispatches_left > 0 && are_depths_enough(cut))
        halvings++;
    halve_all_room(cut, halvings);
}

static void cut_buffer(struct cutting *cut, uint32_t buffer)
{
    uint64_t proven = cut->at->depths[buffer], *most = &cut->at->most[buffer];
    uint64_t enough = *most - proven, few = 0;
    *most = proven;
    if (are_depths_enough(cut)) return;
    while (enough - few > max64(enough / EXACT_ONE_IN, 1) && cut->dispatches_left > 0) {
        uint64_t middle = few + (enough - few) / 2;
        *most = proven + middle;
        if (are_depths_enough(cut))
            enough = middle;
        else
            few = middle;
    }
    *most = proven + enough;
}

struct cut_rank {
    bool is_port;
    uint64_t bytes;
    uint32_t buffer;
};

static int compare_cut_ranks(const void *left, const void *right)
{
    const struct cut_rank *a = left, *b = right;
    if (a->is_port != b->is_port) return a->is_port ? 1 : -1;
    if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

static void cut_each_buffer(struct cutting *cut)
{
    const struct placement *at = cut->at;
    size_t count = at->graph->buffers.count;
    struct cut_rank *ranks = ARENA_ARRAY(at->arena, struct cut_rank, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct graph_buffer *buffer = &at->graph->buffers.items[i];
        ranks[i] = (struct cut_rank){buffer->outer != GRAPH_INNER,
                                     mul_clamped(at->most[i], buffer->width_bytes), (uint32_t)i};
    }
    qsort(ranks, count, sizeof *ranks, compare_cut_ranks);
    for (size_t i = 0; i < count && cut->dispatches_left > 0; i++)
        if (at->most[ranks[i].buffer] > at->depths[ranks[i].buffer])
            cut_buffer(cut, ranks[i].buffer);
}

struct cut_depths plan_cut_depths(struct placement *at, const struct plan_layout *layout,
                                  enum graph_policy selection)
{
    struct cutting cut = begin_cutting(at, layout, selection);
    if (take_speed(&cut)) {
        cut_all_buffers(&cut);
        cut_each_buffer(&cut);
    }
    plan_lay_out(at, layout);
    return (struct cut_depths){.full = cut.goal, .found = cut.chosen, .full_depths = cut.full};
}

bool plan_restore_depths(const struct placement *at, const struct cut_depths *depths)
{
    bool any = false;
    for (size_t i = 0; i < at->graph->buffers.count; i++) {
        uint64_t missing = depths->full_depths[i] - min64(depths->full_depths[i], at->most[i]);
        at->most[i] += missing / 2 + missing % 2;
        any |= missing > 0;
    }
    return any;
}

/* ---- the front ---- */

struct rows {
    struct graph_tradeoff items[SPEEDS_MAX + 1];
    size_t count;
};

static void add_row(struct cutting *cut, struct rows *rows)
{
    struct placement *at = cut->at;
    const struct batched_layout *chosen = &cut->chosen;
    size_t count = at->graph->buffers.count;
    plan_lay_out(at, cut->layout);
    struct plan_memory memory = plan_memory_of(at->graph, at->plan);
    uint64_t *depths = ARENA_ARRAY(at->cx->arena, uint64_t, count + 1);
    for (size_t i = 0; i < count; i++)
        depths[i] = at->graph->buffers.items[i].depth_packets;
    uint64_t cycles = max64(chosen->trial.steady_cycles, 1);
    uint64_t common = gcd64(chosen->size.iterations, cycles);
    rows->items[rows->count++] =
        (struct graph_tradeoff){.memory_bytes = memory.buffers,
                                .port_bytes = memory.ports,
                                .iterations = chosen->size.iterations / common,
                                .cycles = cycles / common,
                                .depths = depths};
}

/* The minimum that is free of deadlock.  It may be less than that of the depths to which room is added. */
static void add_least_row(struct cutting *cut, struct rows *rows)
{
    struct placement *at = cut->at;
    const struct graph_front *idealised = at->graph->front;
    uint64_t *proven = at->depths;
    if (idealised == NULL || idealised->points.count == 0) return;
    size_t bytes = at->graph->buffers.count * sizeof *proven;
    at->depths = arena_copy(at->arena, idealised->points.items[0].depths, bytes);
    at->most = arena_copy(at->arena, at->depths, bytes);
    if (take_speed(cut)) add_row(cut, rows);
    at->depths = proven;
}

/* Rising memory, and of equal memory the fastest first. */
static int compare_rows(const void *left, const void *right)
{
    const struct graph_tradeoff *a = left, *b = right;
    uint64_t a_bytes = add_clamped(a->memory_bytes, a->port_bytes);
    uint64_t b_bytes = add_clamped(b->memory_bytes, b->port_bytes);
    if (a_bytes != b_bytes) return a_bytes < b_bytes ? -1 : 1;
    uint128 a_speed = (uint128)a->iterations * b->cycles;
    uint128 b_speed = (uint128)b->iterations * a->cycles;
    return a_speed > b_speed ? -1 : a_speed < b_speed;
}

static bool is_row_faster(const struct graph_tradeoff *row, const struct graph_tradeoff *than)
{
    return (uint128)row->iterations * than->cycles > (uint128)than->iterations * row->cycles;
}

static const struct graph_front *front_of_rows(struct placement *at, struct rows *rows)
{
    struct graph_front *front = ARENA_NEW(at->cx->arena, struct graph_front);
    qsort(rows->items, rows->count, sizeof *rows->items, compare_rows);
    for (size_t i = 0; i < rows->count; i++) {
        size_t count = front->points.count;
        if (count == 0 || is_row_faster(&rows->items[i], &front->points.items[count - 1]))
            vec_push(at->cx->arena, &front->points, rows->items[i]);
    }
    return front;
}

const struct graph_front *plan_explore_depths(struct placement *at,
                                              const struct plan_layout *layout,
                                              enum graph_policy selection)
{
    struct cutting cut = begin_cutting(at, layout, selection);
    struct rows rows = {.count = 0};
    bool has_room = true;
    for (uint32_t halvings = 0; has_room && halvings < SPEEDS_MAX; halvings++) {
        has_room = halve_all_room(&cut, halvings);
        if (!take_speed(&cut)) continue;
        if (halvings == 0) cut_all_buffers(&cut);
        cut_each_buffer(&cut);
        add_row(&cut, &rows);
    }
    add_least_row(&cut, &rows);
    at->most = NULL;
    return front_of_rows(at, &rows);
}
