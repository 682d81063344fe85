/*
 * graph_print: the text of --emit=graph.
 *
 * One line per node, end and buffer, in order of index; a field that no pass has filled yet is left
 * out.
 */
#include "compiler/graph/graph.h"

#include <inttypes.h>

static const char *outer_text(enum graph_outer outer)
{
    switch (outer) {
    case GRAPH_INNER: return "buffer";
    case GRAPH_OUTER_IN: return "in-port";
    case GRAPH_OUTER_OUT: return "out-port";
    }
    return "?";
}

static void print_node(FILE *to, const struct graph *graph, size_t index)
{
    const struct graph_node *node = &graph->nodes.items[index];
    fprintf(to, "node %zu %s: %s", index, node->name, node->kernel->title);
    if (node->importance) fprintf(to, " importance %" PRIu32, node->importance);
    if (node->stateful) fputs(" stateful", to);
    if (node->cost_cycles) fprintf(to, " cost %" PRIu64, node->cost_cycles);
    if (node->repetitions)
        fprintf(to, " repetitions %" PRIu64 " component %" PRIu32, node->repetitions,
                node->component);
    fputc('\n', to);
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        fprintf(to, "    in %s from %s pop %" PRIu64 " peek %" PRIu64 "\n", in->port,
                graph->buffers.items[in->buffer].name, in->pop, in->peek);
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_output *out = &node->outputs.items[i];
        fprintf(to, "    out %s to %s push %" PRIu64, out->port,
                graph->buffers.items[out->buffer].name, out->push);
        if (out->finish_max) fprintf(to, " finish %" PRIu64, out->finish_max);
        fputc('\n', to);
    }
}

static void print_ends(FILE *to, const struct graph *graph, const struct graph_buffer *buffer)
{
    if (buffer->outer != GRAPH_OUTER_IN && buffer->writer_node != GRAPH_NONE)
        fprintf(to, " from %s", graph->nodes.items[buffer->writer_node].name);
    for (size_t i = 0; i < buffer->readers.count; i++)
        fprintf(to, "%s%s", i ? ", " : " to ",
                graph->nodes.items[buffer->readers.items[i].node].name);
}

static void print_buffer(FILE *to, struct arena *arena, const struct graph *graph, size_t index)
{
    const struct graph_buffer *buffer = &graph->buffers.items[index];
    fprintf(to, "%s %zu %s: %s", outer_text(buffer->outer), index, buffer->name,
            type_text(arena, buffer->type));
    print_ends(to, graph, buffer);
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
    fprintf(to, "pipeline %s: %zu nodes, %zu buffers", graph->name, graph->nodes.count,
            graph->buffers.count);
    if (graph->memory_bytes) fprintf(to, ", %" PRIu64 " bytes", graph->memory_bytes);
    fputc('\n', to);
    for (size_t i = 0; i < graph->nodes.count; i++)
        print_node(to, graph, i);
    for (size_t i = 0; i < graph->buffers.count; i++)
        print_buffer(to, arena, graph, i);
    arena_destroy(arena);
}
