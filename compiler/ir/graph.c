/* SPDX-License-Identifier: MIT */
#include "compiler/ir/graph.h"

#include "lang/input_property.h"
#include "lang/window.h"

#include <string.h>

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

uint32_t *graph_number_outputs(struct arena *arena, const struct graph *graph)
{
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, graph->nodes.count + 1);
    for (size_t i = 0; i < graph->nodes.count; i++)
        first[i + 1] = first[i] + (uint32_t)graph->nodes.items[i].outputs.count;
    return first;
}

uint32_t graph_phases(const struct graph_node *node)
{
    return node->kernel->phases;
}

bool graph_is_exact(const struct graph_node *node, const struct graph_output *output)
{
    if (output->push == 0 && output->finish_max > 0) return false;
    for (uint32_t i = 0; output->pushes && i < graph_phases(node); i++)
        if (output->push_leasts[i] != output->pushes[i]) return false;
    return output->push_least == output->push;
}

uint64_t graph_push_most(const struct graph_node *node, const struct graph_output *output)
{
    if (!output->pushes) return output->push;
    uint64_t most = 0;
    for (uint32_t i = 0; i < graph_phases(node); i++)
        if (output->pushes[i] > most) most = output->pushes[i];
    return most;
}

const struct graph_output *graph_writer(const struct graph *graph,
                                        const struct graph_buffer *buffer)
{
    if (buffer->writer_node == GRAPH_NONE) return NULL;
    return &graph->nodes.items[buffer->writer_node].outputs.items[buffer->writer_output];
}

const struct graph_input *graph_reader_input(const struct graph *graph,
                                             const struct graph_buffer *buffer, size_t reader)
{
    struct graph_reader at = buffer->readers.items[reader];
    return &graph->nodes.items[at.node].inputs.items[at.input];
}

bool graph_window_wraps(const struct graph *graph, const struct graph_buffer *buffer, size_t reader)
{
    const struct graph_input *in = graph_reader_input(graph, buffer, reader);
    const struct kernel *kernel = graph->nodes.items[buffer->readers.items[reader].node].kernel;
    if (in->history == 0) return false;
    return kernel->in_count && kernel->in[in->kernel_port].border == BORDER_WRAP;
}

bool graph_input_window(const struct graph *graph, const struct graph_node *node,
                        const struct graph_input *in, struct window *window,
                        struct window_shape *shape)
{
    if (in->kernel_port >= node->kernel->in_count) return false;
    const struct kernel_port *port = &node->kernel->in[in->kernel_port];
    const struct graph_shape *of = &graph->buffers.items[in->buffer].shape;
    *window = (struct window){port->window_width, port->window_height, (uint32_t)port->border};
    *shape = (struct window_shape){of->row_packets, of->frame_rows};
    return port->window_width > 0 && of->row_packets > 0;
}

uint64_t graph_window_packets(const struct graph *graph, const struct graph_buffer *buffer,
                              size_t reader)
{
    const struct graph_input *in = graph_reader_input(graph, buffer, reader);
    if (graph_window_wraps(graph, buffer, reader)) return in->peek;
    return in->history > UINT64_MAX - in->peek ? UINT64_MAX : in->peek + in->history;
}

bool graph_is_bounded(const struct graph *graph, const struct graph_buffer *buffer)
{
    const struct graph_output *out = graph_writer(graph, buffer);
    return out && buffer->outer == GRAPH_INNER &&
           !graph_is_exact(&graph->nodes.items[buffer->writer_node], out);
}

bool graph_is_foreign(const struct graph *graph)
{
    for (size_t i = 0; i < graph->kernels.count; i++)
        if (graph->kernels.items[i]->foreign != NULL) return true;
    return false;
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

_Static_assert((int)PROPERTY_RATE == (int)CONTAINER_PROPERTY_RATE &&
                   (int)PROPERTIES == (int)INPUT_PROPERTIES,
               "numbers of properties");

const char *graph_property_name(enum graph_property property)
{
    return input_property_name(property);
}

bool graph_property_named(const char *name, enum graph_property *property)
{
    for (enum graph_property p = PROPERTY_RATE; p < PROPERTIES; p++) {
        if (strcmp(name, graph_property_name(p)) != 0) continue;
        *property = p;
        return true;
    }
    return false;
}

const char *graph_policy_name(enum graph_policy policy)
{
    static const char *const names[] = {[POLICY_AUTO] = "auto",
                                        [POLICY_ROUND_ROBIN] = "round_robin",
                                        [POLICY_PRIORITY] = "priority",
                                        [POLICY_FULLEST] = "fullest"};
    return names[policy];
}

bool graph_policy_named(const char *name, enum graph_policy *policy)
{
    for (enum graph_policy p = POLICY_AUTO; p <= POLICY_FULLEST; p++) {
        if (strcmp(name, graph_policy_name(p)) != 0) continue;
        *policy = p;
        return true;
    }
    return false;
}

void graph_trace_kernel(struct compile *cx, const struct kernel *kernel, size_t kept)
{
    for (const struct kernel_use *use = kernel->use; use != NULL; use = use->outer)
        diag_trace(cx->diags, kept, use->span, use->title);
}
