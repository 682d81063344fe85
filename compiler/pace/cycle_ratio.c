/* SPDX-License-Identifier: MIT */
#include "compiler/pace/cycle_ratio.h"

#include "compiler/support/bucket.h"
#include "base/vec.h"

enum { NOBODY = 0 /* no vertex has marked it */ };

struct howard {
    struct arena *arena;
    const struct ratio_graph *graph;
    uint32_t *first_out, *out, *first_in, *in; /* arcs by end */
    uint32_t *choice;                          /* by vertex: the arc out of it */
    int128 *weight;                            /* by arc */
    int128 *value;                             /* by vertex */
    int128 ratio_cost, ratio_height;           /* p/r */
    uint32_t root;                             /* a vertex of the cycle that has it */
    VEC(uint32_t) infinite;                    /* a vertex of each infinite cycle */
    uint32_t *mark, *queue;                    /* scratch by vertex */
};

static uint128 absolute_value(int128 value)
{
    return value < 0 ? -(uint128)value : (uint128)value;
}

/* A value is a sum of weights over a path without repetition, the ratio one over a cycle. */
static bool values_fit(const struct ratio_graph *graph)
{
    uint128 heights = 1;
    uint64_t costs = 1;
    for (uint32_t i = 0; i < graph->arc_count; i++) {
        heights |= absolute_value(graph->arcs[i].height);
        costs |= graph->arcs[i].cost;
    }
    uint32_t vertices = bit_length(graph->vertex_count);
    return bit_length(heights) + bit_length(costs) + 2 * vertices + 1 <= CYCLE_RATIO_BITS;
}

static struct howard howard_create(struct arena *arena, const struct ratio_graph *graph)
{
    uint32_t n = graph->vertex_count;
    struct howard howard = {
        .arena = arena,
        .graph = graph,
        .choice = ARENA_ARRAY(arena, uint32_t, n),
        .weight = arena_array(arena, graph->arc_count, sizeof(int128)),
        .value = arena_array(arena, n, sizeof(int128)),
        .mark = ARENA_ARRAY(arena, uint32_t, n),
        .queue = ARENA_ARRAY(arena, uint32_t, n),
        .ratio_cost = -1,
        .ratio_height = 1,
    };
    const size_t size = sizeof *graph->arcs;
    struct buckets out =
        bucket_by(arena, graph->arcs, size, offsetof(struct ratio_arc, from), graph->arc_count, n);
    struct buckets in =
        bucket_by(arena, graph->arcs, size, offsetof(struct ratio_arc, to), graph->arc_count, n);
    howard.first_out = out.first, howard.out = out.items;
    howard.first_in = in.first, howard.in = in.items;
    return howard;
}

/* The arc with the highest cost; of several, the lowest. */
static void choose_first(struct howard *howard)
{
    const struct ratio_arc *arcs = howard->graph->arcs;
    for (uint32_t v = 0; v < howard->graph->vertex_count; v++) {
        uint32_t best = howard->out[howard->first_out[v]];
        for (uint32_t e = howard->first_out[v] + 1; e < howard->first_out[v + 1]; e++) {
            uint32_t arc = howard->out[e];
            if (arcs[arc].cost > arcs[best].cost ||
                (arcs[arc].cost == arcs[best].cost && arcs[arc].height < arcs[best].height))
                best = arc;
        }
        howard->choice[v] = best;
    }
}

/* ---- the cycles of the choices ---- */

static uint32_t chosen_next(const struct howard *howard, uint32_t vertex)
{
    return howard->graph->arcs[howard->choice[vertex]].to;
}

/* Takes the cycle through `vertex` if its ratio is larger than p/r, or infinite. */
static void weigh_cycle(struct howard *howard, uint32_t vertex, bool *larger)
{
    int128 cost = 0, height = 0;
    uint32_t at = vertex;
    do {
        const struct ratio_arc *arc = &howard->graph->arcs[howard->choice[at]];
        cost += (int128)arc->cost;
        height += arc->height;
        at = arc->to;
    } while (at != vertex);
    if (height < 0 || (height == 0 && cost > 0)) {
        vec_push(howard->arena, &howard->infinite, vertex);
        return;
    }
    if (height == 0) height = 1; /* no cost: 0 */
    if (cost * howard->ratio_height <= howard->ratio_cost * height) return;
    int128 common = (int128)gcd128((uint128)cost, (uint128)height);
    howard->ratio_cost = cost / common;
    howard->ratio_height = height / common;
    howard->root = vertex;
    *larger = true;
}

/* ---- values ---- */

static void weigh_arcs(struct howard *howard)
{
    for (uint32_t i = 0; i < howard->graph->arc_count; i++) {
        const struct ratio_arc *arc = &howard->graph->arcs[i];
        howard->weight[i] =
            howard->ratio_height * (int128)arc->cost - howard->ratio_cost * arc->height;
    }
}

/* From the root backwards along choices; then (`any`) along any arc, which becomes the choice. */
static uint32_t reach_vertices(struct howard *howard, uint32_t count, bool any)
{
    for (uint32_t k = 0; k < count; k++) {
        uint32_t to = howard->queue[k];
        for (uint32_t e = howard->first_in[to]; e < howard->first_in[to + 1]; e++) {
            uint32_t arc = howard->in[e], from = howard->graph->arcs[arc].from;
            if (howard->mark[from] || (!any && howard->choice[from] != arc)) continue;
            howard->mark[from] = 1;
            howard->choice[from] = arc;
            howard->value[from] = howard->value[to] + howard->weight[arc];
            howard->queue[count++] = from;
        }
    }
    return count;
}

static bool improve_choices(struct howard *howard)
{
    bool changed = false;
    for (uint32_t v = 0; v < howard->graph->vertex_count; v++) {
        int128 best = howard->value[v];
        for (uint32_t e = howard->first_out[v]; e < howard->first_out[v + 1]; e++) {
            uint32_t arc = howard->out[e];
            int128 value = howard->value[howard->graph->arcs[arc].to] + howard->weight[arc];
            if (value <= best) continue;
            best = value;
            howard->choice[v] = arc;
            changed = true;
        }
    }
    return changed;
}

/* ---- the maximum ---- */

typedef VEC(uint32_t) arc_list;

static void list_cycle(const struct howard *howard, uint32_t root, arc_list *to)
{
    uint32_t at = root;
    do {
        vec_push(howard->arena, to, howard->choice[at]);
        at = chosen_next(howard, at);
    } while (at != root);
}

static struct cycle_ratio answer_infinite(const struct howard *howard)
{
    arc_list cycle = {0}, others = {0};
    list_cycle(howard, howard->infinite.items[0], &cycle);
    for (size_t i = 1; i < howard->infinite.count; i++)
        list_cycle(howard, howard->infinite.items[i], &others);
    return (struct cycle_ratio){.kind = CYCLE_RATIO_INFINITE,
                                .cycle = cycle.items,
                                .cycle_count = (uint32_t)cycle.count,
                                .others = others.items,
                                .other_count = (uint32_t)others.count};
}

static bool pay_round(const struct howard *howard, uint64_t *budget)
{
    uint64_t price = 4 * (uint64_t)howard->graph->arc_count;
    if (*budget < price) {
        *budget = 0;
        return false;
    }
    *budget -= price;
    return true;
}

struct cycle_ratio cycle_ratio_maximum(struct arena *arena, const struct ratio_graph *graph,
                                       uint64_t *budget)
{
    struct cycle_ratio unknown = {.kind = CYCLE_RATIO_UNKNOWN};
    if (!values_fit(graph)) return unknown;
    struct howard howard = howard_create(arena, graph);
    choose_first(&howard);
    do {
        bool larger = false;
        if (!pay_round(&howard, budget)) return unknown;
        /* Visits each cycle of the choices once. */
        uint32_t n = howard.graph->vertex_count;
        for (uint32_t v = 0; v < n; v++)
            howard.mark[v] = NOBODY;
        for (uint32_t v = 0; v < n; v++) {
            uint32_t at = v;
            for (; howard.mark[at] == NOBODY; at = chosen_next(&howard, at))
                howard.mark[at] = v + 1;
            if (howard.mark[at] == v + 1) weigh_cycle(&howard, at, &larger);
        }
        if (howard.infinite.count > 0) return answer_infinite(&howard);
        if (larger) weigh_arcs(&howard);
        /* Afterwards all choices lead to the cycle of p/r. */
        for (uint32_t v = 0; v < howard.graph->vertex_count; v++)
            howard.mark[v] = 0;
        howard.mark[howard.root] = 1;
        howard.value[howard.root] = 0;
        howard.queue[0] = howard.root;
        uint32_t count = reach_vertices(&howard, 1, false);
        if (count < howard.graph->vertex_count) reach_vertices(&howard, count, true);
    } while (improve_choices(&howard));
    arc_list cycle = {0};
    list_cycle(&howard, howard.root, &cycle);
    return (struct cycle_ratio){.kind = CYCLE_RATIO_FINITE,
                                .cost = (uint128)howard.ratio_cost,
                                .height = (uint128)howard.ratio_height,
                                .cycle = cycle.items,
                                .cycle_count = (uint32_t)cycle.count};
}
