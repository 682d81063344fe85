/* SPDX-License-Identifier: MIT */
/*
 * graph_print: the text of --emit=graph.
 *
 * One line per node, end and buffer, in order of index; a field that no pass has filled yet is left
 * out.
 */
#include "compiler/ir/graph.h"

#include <inttypes.h>

#include "base/plural.h"

static const char *outer_text(enum graph_outer outer)
{
    switch (outer) {
    case GRAPH_INNER: return "buffer";
    case GRAPH_OUTER_IN: return "in-port";
    case GRAPH_OUTER_OUT: return "out-port";
    }
    return "?";
}

void graph_print_rate(FILE *to, uint32_t phases, const uint64_t *leasts, const uint64_t *mosts)
{
    if (phases > 1) fputc('{', to);
    for (uint32_t i = 0; i < phases; i++) {
        if (i) fputs(", ", to);
        if (leasts[i] != mosts[i]) fprintf(to, "%" PRIu64 "..", leasts[i]);
        fprintf(to, "%" PRIu64, mosts[i]);
    }
    if (phases > 1) fputc('}', to);
}

void graph_print_in_rates(FILE *to, const struct graph_node *node, const struct graph_input *in)
{
    const uint64_t *pops = in->pops ? in->pops : &in->pop;
    const uint64_t *peeks = in->peeks ? in->peeks : &in->peek;
    fputs("pop ", to);
    graph_print_rate(to, in->pops ? graph_phases(node) : 1, pops, pops);
    fputs(" peek ", to);
    graph_print_rate(to, in->peeks ? graph_phases(node) : 1, peeks, peeks);
    if (in->history) fprintf(to, " history %" PRIu64, in->history);
}

void graph_print_out_rates(FILE *to, const struct graph_node *node, const struct graph_output *out)
{
    fputs("push ", to);
    if (out->pushes)
        graph_print_rate(to, graph_phases(node), out->push_leasts, out->pushes);
    else
        graph_print_rate(to, 1, &out->push_least, &out->push);
    if (out->finish_max) fprintf(to, " finish %" PRIu64, out->finish_max);
    if (out->bundle) fprintf(to, " in bundle %" PRIu32 " share %" PRIu64, out->bundle, out->share);
}

static void print_graph_node(FILE *to, const struct graph *graph, size_t index)
{
    const struct graph_node *node = &graph->nodes.items[index];
    fprintf(to, "node %zu %s: %s", index, node->name, node->kernel->title);
    if (node->importance) fprintf(to, " importance %" PRIu32, node->importance);
    if (node->stateful) fputs(" stateful", to);
    if (node->cost_cycles)
        fprintf(to, " cost %" PRIu64 "%s", node->cost_cycles,
                node->cost_declared ? " declared" : "");
    if (node->repetitions)
        fprintf(to, " repetitions %" PRIu64 " component %" PRIu32, node->repetitions,
                node->component);
    fputc('\n', to);
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        fprintf(to, "    in %s from %s ", in->port, graph->buffers.items[in->buffer].name);
        graph_print_in_rates(to, node, in);
        fputc('\n', to);
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_output *out = &node->outputs.items[i];
        fprintf(to, "    out %s to %s ", out->port, graph->buffers.items[out->buffer].name);
        graph_print_out_rates(to, node, out);
        fputc('\n', to);
    }
}

static void print_graph_buffer(FILE *to, struct arena *arena, const struct graph *graph,
                               size_t index)
{
    const struct graph_buffer *buffer = &graph->buffers.items[index];
    fprintf(to, "%s %zu %s: %s", outer_text(buffer->outer), index, buffer->name,
            type_text(arena, buffer->type));
    if (buffer->outer != GRAPH_OUTER_IN && buffer->writer_node != GRAPH_NONE)
        fprintf(to, " from %s", graph->nodes.items[buffer->writer_node].name);
    for (size_t i = 0; i < buffer->readers.count; i++)
        fprintf(to, "%s%s", i ? ", " : " to ",
                graph->nodes.items[buffer->readers.items[i].node].name);
    const struct graph_shape *shape = &buffer->shape;
    if (shape->row_packets != 0) {
        if (shape->frame_rows == 0)
            fprintf(to, " rows %" PRIu64, shape->row_packets);
        else
            fprintf(to, " frame %" PRIu64 "x%" PRIu64, shape->row_packets, shape->frame_rows);
    }
    if (buffer->initial.packets) fprintf(to, " init %" PRIu64, buffer->initial.packets);
    if (buffer->depth_packets)
        fprintf(to, " depth %" PRIu64 "%s", buffer->depth_packets,
                buffer->depth_declared ? " declared" : "");
    if (buffer->depth_min_packets) fprintf(to, " least %" PRIu64, buffer->depth_min_packets);
    fputc('\n', to);
    if (buffer->depth_reason) fprintf(to, "    why %s\n", buffer->depth_reason);
}

void graph_print(FILE *to, const struct graph *graph)
{
    struct arena *arena = arena_create();
    fprintf(to, "pipeline %s: %zu node%s, %zu buffer%s", graph->name, graph->nodes.count,
            plural(graph->nodes.count), graph->buffers.count, plural(graph->buffers.count));
    if (graph->memory_bytes) fprintf(to, ", %" PRIu64 " bytes", graph->memory_bytes);
    if (graph->policy != POLICY_AUTO) fprintf(to, ", policy %s", graph_policy_name(graph->policy));
    fputc('\n', to);
    for (size_t i = 0; i < graph->nodes.count; i++)
        print_graph_node(to, graph, i);
    for (size_t i = 0; i < graph->buffers.count; i++)
        print_graph_buffer(to, arena, graph, i);
    arena_destroy(arena);
}
