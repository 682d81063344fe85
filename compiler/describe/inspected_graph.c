/* SPDX-License-Identifier: MIT */
/*
 * inspected_graph: the topology of an inspection as a graph again, to measure it.
 *
 * The inspection may come from an untrusted container.  The graph has only the data that the figures
 * depend on.  No graph is made where ends do not fit together:
 *   - a buffer does not have exactly one writer;
 *   - lists of phases are missing, or their sums do not fit;
 *   - a window is smaller than the packets consumed;
 *   - a cost is out of range.
 * The measurement finds out whether the rates balance.
 */
#include "compiler/ir/ratio.h"
#include "compiler/describe/inspection.h"

struct rebuilding {
    struct compile cx;
    const struct inspection *from;
    struct graph *graph;
    bool failed;
};

struct rates { /* of a whole cycle of phases */
    uint64_t sum, most;
};

static struct rates cycle_rates(struct rebuilding *at, uint64_t single, const uint64_t *each,
                                uint32_t phases)
{
    struct rates rates = {single, single};
    if (phases == 1) return rates;
    rates = (struct rates){0, 0};
    if (each == NULL) at->failed = true;
    for (uint32_t p = 0; each != NULL && p < phases; p++) {
        if (!add63(rates.sum, each[p], &rates.sum)) at->failed = true;
        rates.most = max64(rates.most, each[p]);
    }
    return rates;
}

static void rebuild_input(struct rebuilding *at, uint32_t index, const struct inspected_end *end)
{
    const struct inspected_node *node = &at->from->nodes[index];
    struct rates pops = cycle_rates(at, end->low, end->lows, node->phases);
    struct rates peeks = cycle_rates(at, end->high, end->highs, node->phases);
    bool has_phases = node->phases > 1;
    struct graph_input input = {.port = end->port,
                                .buffer = end->buffer,
                                .pop = pops.sum,
                                .peek = peeks.most,
                                .pops = has_phases ? end->lows : NULL,
                                .peeks = has_phases ? end->highs : NULL,
                                .history = end->history};
    for (uint32_t p = 0; p < node->phases && !at->failed; p++)
        if (has_phases ? end->highs[p] < end->lows[p] : end->high < end->low) at->failed = true;
    if (input.history > 0) input.peek = input.history + 1; /* as bodies/amplify has it */
    graph_connect_input(&at->cx, at->graph, index, input);
}

static void rebuild_output(struct rebuilding *at, uint32_t index, const struct inspected_end *end)
{
    const struct inspected_node *node = &at->from->nodes[index];
    const struct graph_buffer *buffer = &at->graph->buffers.items[end->buffer];
    bool has_phases = node->phases > 1;
    struct graph_output output = {.port = end->port,
                                  .buffer = end->buffer,
                                  .push_least =
                                      cycle_rates(at, end->low, end->lows, node->phases).sum,
                                  .push = cycle_rates(at, end->high, end->highs, node->phases).sum,
                                  .push_leasts = has_phases ? end->lows : NULL,
                                  .pushes = has_phases ? end->highs : NULL};
    if (buffer->writer_node != GRAPH_NONE || buffer->outer == GRAPH_OUTER_IN)
        at->failed = true;
    else
        graph_connect_output(&at->cx, at->graph, index, output);
}

static void rebuild_buffer(struct rebuilding *at, const struct inspected_buffer *from)
{
    struct graph_buffer buffer = {
        .name = from->name,
        .width_bytes = from->width_bytes,
        .outer = from->outer,
        .writer_node = GRAPH_NONE,
        .initial.packets = from->initial_packets,
        .shape = {.row_packets = from->row_packets, .frame_rows = from->frame_rows},
        .depth_packets = from->depth_packets};
    graph_add_buffer(&at->cx, at->graph, buffer);
}

static void rebuild_node(struct rebuilding *at, const struct inspected_node *from)
{
    struct kernel *kernel = ARENA_NEW(at->cx.arena, struct kernel);
    kernel->name = kernel->title = from->kernel;
    kernel->phases = from->phases;
    struct graph_node node = {.name = from->name,
                              .kernel = kernel,
                              .stateful = from->stateful,
                              .cost_cycles = from->cost_cycles,
                              .repetitions = from->repetitions};
    if (from->phases == 0 || from->cost_cycles > GRAPH_COST_MAX || from->repetitions > INT64_MAX)
        at->failed = true;
    graph_add_node(&at->cx, at->graph, node);
}

static void rebuild_graph(struct rebuilding *at)
{
    const struct inspection *from = at->from;
    for (uint32_t b = 0; b < from->buffer_count; b++)
        rebuild_buffer(at, &from->buffers[b]);
    for (uint32_t n = 0; n < from->node_count && !at->failed; n++)
        rebuild_node(at, &from->nodes[n]);
    for (uint32_t n = 0; n < from->node_count && !at->failed; n++) {
        const struct inspected_node *node = &from->nodes[n];
        for (uint32_t i = 0; i < node->input_count && !at->failed; i++)
            rebuild_input(at, n, &node->inputs[i]);
        for (uint32_t o = 0; o < node->output_count && !at->failed; o++)
            rebuild_output(at, n, &node->outputs[o]);
    }
    for (uint32_t b = 0; b < from->buffer_count && !at->failed; b++) {
        const struct graph_buffer *buffer = &at->graph->buffers.items[b];
        bool written = buffer->writer_node != GRAPH_NONE;
        if (written == (buffer->outer == GRAPH_OUTER_IN)) at->failed = true;
        if (buffer->outer == GRAPH_OUTER_OUT && buffer->readers.count > 0) at->failed = true;
    }
}

const struct performance *inspection_measure(struct arena *arena,
                                             const struct inspection *inspection)
{
    struct arena *scratch = arena_create();
    struct rebuilding at = {.cx = compile_begin(scratch, (struct compile_options){0}),
                            .from = inspection,
                            .graph = ARENA_NEW(scratch, struct graph)};
    struct performance *performance = NULL;
    at.graph->name = inspection->pipeline;
    rebuild_graph(&at);
    if (!at.failed) {
        performance = ARENA_NEW(arena, struct performance);
        *performance = performance_measure(arena, at.graph, true);
    }
    arena_destroy(scratch);
    return performance;
}
