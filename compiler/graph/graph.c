#include "compiler/graph/graph.h"

uint32_t graph_add_node(struct compile *cx, struct graph *graph, struct graph_node node)
{
    return (uint32_t)vec_push(cx->arena, &graph->nodes, node);
}

uint32_t graph_add_buffer(struct compile *cx, struct graph *graph, struct graph_buffer buffer)
{
    return (uint32_t)vec_push(cx->arena, &graph->buffers, buffer);
}

void graph_connect_input(struct compile *cx, struct graph *graph, uint32_t node,
                         struct graph_input input)
{
    struct graph_node *reader = &graph->nodes.items[node];
    struct graph_buffer *buffer = &graph->buffers.items[input.buffer];
    input.reader = (uint32_t)buffer->readers.count;
    uint32_t index = (uint32_t)vec_push(cx->arena, &reader->inputs, input);
    vec_push(cx->arena, &buffer->readers, (struct graph_reader){node, index});
}

void graph_connect_output(struct compile *cx, struct graph *graph, uint32_t node,
                          struct graph_output output)
{
    struct graph_node *writer = &graph->nodes.items[node];
    struct graph_buffer *buffer = &graph->buffers.items[output.buffer];
    buffer->writer_node = node;
    buffer->writer_output = (uint32_t)vec_push(cx->arena, &writer->outputs, output);
}

bool graph_memory(const struct graph *graph, uint64_t *bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        uint64_t size;
        if (buffer->outer != GRAPH_INNER) continue;
        if (__builtin_mul_overflow(buffer->depth_packets, buffer->width_bytes, &size) ||
            __builtin_add_overflow(sum, size, &sum) || sum > INT64_MAX)
            return false;
    }
    *bytes = sum;
    return true;
}
