/* SPDX-License-Identifier: MIT */
#include "compiler/pace/performance.h"

#include "compiler/liveness/rate.h"
#include "compiler/ir/ratio.h"

/* For one figure: about a second. */
#define PACE_STEPS (UINT64_C(400) * 1000 * 1000)
#define LATENCY_STEPS (UINT64_C(10) * 1000 * 1000)

struct meter {
    struct arena *arena; /* of the answers */
    struct arena *scratch;
    const struct graph *asked;
    struct graph *graph;  /* in which every firing writes its maximum */
    bool bounded;         /* they differ */
    bool rounds_frames;   /* a window ends with its frame: the model waits longer than necessary */
    uint32_t *part;       /* by node */
    uint32_t *first_node; /* by part */
    uint32_t part_count;
};

/* ---- the graph in which every firing writes its maximum ---- */

static struct graph *copy_at_most(struct arena *arena, const struct graph *graph)
{
    struct graph *copy = ARENA_NEW(arena, struct graph);
    *copy = *graph;
    copy->nodes.items =
        arena_copy(arena, graph->nodes.items, graph->nodes.count * sizeof *graph->nodes.items);
    for (size_t n = 0; n < copy->nodes.count; n++) {
        struct graph_node *node = &copy->nodes.items[n];
        node->outputs.items = arena_copy(arena, node->outputs.items,
                                         node->outputs.count * sizeof *node->outputs.items);
        for (size_t o = 0; o < node->outputs.count; o++) {
            struct graph_output *out = &node->outputs.items[o];
            out->push_least = out->push;
            out->push_leasts = out->pushes;
            out->finish_max = 0;
        }
    }
    return copy;
}

static bool has_bounded(const struct graph *graph)
{
    for (size_t b = 0; b < graph->buffers.count; b++)
        if (graph_is_bounded(graph, &graph->buffers.items[b])) return true;
    return false;
}

/* Errors in the rates are not reported here. */
static bool solve_rates(struct arena *arena, struct graph *graph)
{
    struct compile cx = compile_begin(arena, (struct compile_options){0});
    rate_solve(&cx, graph);
    return !diag_failed(cx.diags);
}

static bool ends_frames(const struct graph *graph)
{
    for (size_t n = 0; n < graph->nodes.count; n++) {
        const struct graph_node *node = &graph->nodes.items[n];
        for (size_t i = 0; i < node->inputs.count; i++)
            if (node->inputs.items[i].history > 0 &&
                graph->buffers.items[node->inputs.items[i].buffer].shape.frame_rows > 0)
                return true;
    }
    return false;
}

/* ---- parts ---- */

static void find_joined_parts(struct meter *meter)
{
    const struct graph *graph = meter->graph;
    meter->part = ARENA_ARRAY(meter->scratch, uint32_t, graph->nodes.count);
    meter->first_node = ARENA_ARRAY(meter->scratch, uint32_t, graph->component_count + (size_t)1);
    meter->part_count = graph->component_count;
    for (uint32_t p = 0; p < meter->part_count; p++)
        meter->first_node[p] = GRAPH_NONE;
    for (uint32_t n = 0; n < graph->nodes.count; n++) {
        uint32_t part = meter->part[n] = graph->nodes.items[n].component;
        if (meter->first_node[part] == GRAPH_NONE) meter->first_node[part] = n;
    }
}

/* Converts the throughput of an iteration in which `node` fires `firings` times to iterations of the first
 * island of its part. */
static struct throughput in_own_iterations(const struct meter *meter, struct throughput throughput,
                                           uint32_t node, uint64_t firings)
{
    uint32_t first = meter->first_node[meter->part[node]];
    uint64_t whole = meter->graph->nodes.items[first].repetitions;
    uint64_t own = meter->asked->nodes.items[first].repetitions;
    struct throughput result =
        throughput_scaled(throughput, meter->graph->nodes.items[node].repetitions, firings);
    return own > 0 ? throughput_scaled(result, own, whole) : result;
}

/* ---- the slowest ---- */

static struct pace throughput_pace(const struct throughput *throughput)
{
    return (struct pace){.kind = throughput->kind,
                         .iterations = throughput->iterations,
                         .cycles = throughput->cycles,
                         .exact = throughput->exact};
}

static void name_state(struct arena *arena, struct pace *pace, uint32_t node)
{
    pace->hops = ARENA_ARRAY(arena, struct pace_hop, 1);
    pace->hops[0] = (struct pace_hop){.node = node, .buffer = GRAPH_NONE};
    pace->hop_count = 1;
}

static void name_pace_hops(struct arena *arena, const struct channels *channels,
                           const struct net *net, const struct throughput *throughput,
                           struct pace *pace)
{
    if (throughput->critical_node == GRAPH_NONE) return;
    name_state(arena, pace, net->nodes[throughput->critical_node].node);
    if (throughput->critical_count == 0) return;
    pace->hop_count = throughput->critical_count;
    pace->hops = ARENA_ARRAY(arena, struct pace_hop, pace->hop_count);
    for (uint32_t i = 0; i < pace->hop_count; i++) {
        const struct net_arc *arc = &net->arcs[throughput->critical[i]];
        pace->hops[i] = (struct pace_hop){.node = net->nodes[arc->from].node,
                                          .buffer = channels->items[arc->channel].buffer,
                                          .room = arc->kind != ARC_PACKETS};
    }
}

struct slowest {
    struct throughput throughput;
    struct pace pace;
};

/* Is it slower than all before, or as slow and better known? */
static bool is_decisive(const struct slowest *slowest, const struct throughput *throughput)
{
    int order = throughput_compare(throughput, &slowest->throughput);
    return order < 0 || (order == 0 && throughput->exact && !slowest->throughput.exact);
}

static void measure_states(const struct meter *meter, struct slowest *slowest)
{
    for (uint32_t n = 0; n < meter->graph->nodes.count; n++) {
        const struct graph_node *node = &meter->graph->nodes.items[n];
        if (!node->stateful || node->cost_cycles == 0) continue;
        struct throughput state = {
            .kind = THROUGHPUT_RATIO, .iterations = 1, .cycles = node->cost_cycles, .exact = true};
        state = in_own_iterations(meter, state, n, 1);
        if (!is_decisive(slowest, &state)) continue;
        slowest->throughput = state;
        slowest->pace = throughput_pace(&state);
        name_state(meter->arena, &slowest->pace, n);
    }
}

static void measure_part(const struct meter *meter, const struct channels *channels,
                         const struct channel_block *part, const struct net_depth *depths,
                         uint64_t *budget, struct slowest *slowest)
{
    struct arena *arena = arena_create();
    struct net *net = net_create(arena, channels, part, depths);
    struct net_timing timing = net_timing_of(arena, net, meter->graph);
    uint64_t share = *budget / 2;
    *budget -= share;
    struct throughput throughput =
        throughput_of_net(arena, net, timing.cost, timing.stateful, &share);
    *budget += share;
    struct throughput scaled =
        in_own_iterations(meter, throughput, net->nodes[0].node, net->nodes[0].repetitions);
    if (is_decisive(slowest, &scaled)) {
        slowest->throughput = scaled;
        slowest->pace = throughput_pace(&scaled);
        name_pace_hops(meter->arena, channels, net, &throughput, &slowest->pace);
    }
    arena_destroy(arena);
}

static struct pace measure_pace(const struct meter *meter, bool at_depths)
{
    uint64_t budget = PACE_STEPS;
    const struct graph *graph = meter->graph;
    struct arena *arena = arena_create();
    struct slowest slowest = {.throughput = {.kind = THROUGHPUT_UNBOUNDED, .exact = true}};
    slowest.pace = throughput_pace(&slowest.throughput);
    struct channels channels = channels_collect(arena, graph, CHANNELS_INNER);
    struct channel_block *parts = channels_inside(arena, &channels, meter->part, meter->part_count);
    struct net_depth *depths = ARENA_ARRAY(arena, struct net_depth, graph->buffers.count);
    for (size_t b = 0; b < graph->buffers.count; b++)
        depths[b] = (struct net_depth){graph->buffers.items[b].depth_packets, false};
    measure_states(meter, &slowest);
    for (uint32_t p = 0; p < meter->part_count; p++)
        if (parts[p].count > 0)
            measure_part(meter, &channels, &parts[p], at_depths ? depths : NULL, &budget, &slowest);
    arena_destroy(arena);
    if (meter->bounded || meter->rounds_frames) slowest.pace.exact = false;
    return slowest.pace;
}

/* ---- the measurement ---- */

struct performance performance_measure(struct arena *arena, const struct graph *graph, bool depths)
{
    struct performance to = {.unlimited.kind = THROUGHPUT_UNKNOWN,
                             .at_depths.kind = THROUGHPUT_UNKNOWN,
                             .latency = {.node = GRAPH_NONE, .buffer = GRAPH_NONE}};
    struct arena *scratch = arena_create();
    struct meter meter = {.arena = arena,
                          .scratch = scratch,
                          .asked = graph,
                          .graph = copy_at_most(scratch, graph),
                          .bounded = has_bounded(graph),
                          .rounds_frames = ends_frames(graph)};
    uint64_t budget = LATENCY_STEPS;
    if (solve_rates(scratch, meter.graph)) {
        find_joined_parts(&meter);
        to.unlimited = measure_pace(&meter, false);
        if (depths) to.at_depths = measure_pace(&meter, true);
        if (depths && to.at_depths.kind != THROUGHPUT_STUCK)
            to.latency = latency_of_graph(meter.graph, true, &budget);
        to.latency_exact = to.latency.known && !meter.bounded && !meter.rounds_frames;
    }
    arena_destroy(scratch);
    return to;
}
