/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/region/region_replace.h"

#include "compiler/ir/graph_origin.h"

struct copy {
    struct compile *cx;
    const struct graph *from;
    struct graph *to;
    uint32_t *replaced_by; /* by node: number of the replacement, or GRAPH_NONE */
    uint32_t *buffers;     /* by buffer: in the new graph, or GRAPH_NONE */
    uint32_t between;      /* the new buffer of the present replacement */
};

static bool is_copied_buffer(const struct copy *c, const struct graph_buffer *buffer,
                             const struct replacement *replacements)
{
    if (buffer->writer_node == GRAPH_NONE || c->replaced_by[buffer->writer_node] == GRAPH_NONE)
        return true;
    const struct graph_node *node = &replacements[c->replaced_by[buffer->writer_node]].node;
    uint32_t number = (uint32_t)(buffer - c->from->buffers.items);
    for (size_t i = 0; i < node->outputs.count; i++)
        if (node->outputs.items[i].buffer == number) return true;
    return false;
}

static void copy_buffers(struct copy *c, const struct replacement *replacements)
{
    c->buffers = ARENA_ARRAY(c->cx->arena, uint32_t, c->from->buffers.count + 1);
    for (size_t i = 0; i < c->from->buffers.count; i++) {
        struct graph_buffer buffer = c->from->buffers.items[i];
        c->buffers[i] = GRAPH_NONE;
        if (!is_copied_buffer(c, &c->from->buffers.items[i], replacements)) continue;
        buffer.readers.items = NULL;
        buffer.readers.count = buffer.readers.capacity = 0;
        buffer.writer_node = GRAPH_NONE;
        if (!buffer.depth_declared) buffer.depth_packets = 0;
        buffer.depth_min_packets = 0;
        buffer.depth_reason = NULL;
        buffer.depth_paced = false;
        if (!buffer.shape.declared) buffer.shape = (struct graph_shape){0};
        c->buffers[i] = graph_add_buffer(c->cx, c->to, buffer);
    }
}

static uint32_t copied_buffer(const struct copy *c, uint32_t buffer)
{
    return buffer == GRAPH_NONE ? c->between : c->buffers[buffer];
}

static uint32_t copy_node(struct copy *c, const struct graph_node *from)
{
    struct graph_node node = *from;
    node.inputs.items = NULL;
    node.outputs.items = NULL;
    node.inputs.count = node.inputs.capacity = 0;
    node.outputs.count = node.outputs.capacity = 0;
    uint32_t number = graph_add_node(c->cx, c->to, node);
    for (size_t i = 0; i < from->inputs.count; i++) {
        struct graph_input input = from->inputs.items[i];
        input.buffer = copied_buffer(c, input.buffer);
        graph_connect_input(c->cx, c->to, number, input);
    }
    for (size_t i = 0; i < from->outputs.count; i++) {
        struct graph_output output = from->outputs.items[i];
        output.buffer = copied_buffer(c, output.buffer);
        graph_connect_output(c->cx, c->to, number, output);
    }
    return number;
}

/* Returns the number of the node that takes the place of the others. */
static uint32_t copy_replacement(struct copy *c, const struct replacement *replacement,
                                 uint32_t *id)
{
    if (replacement->before != NULL) {
        replacement->before->kernel->id = (*id)++;
        c->between = graph_add_buffer(c->cx, c->to, replacement->between);
        (void)copy_node(c, replacement->before);
    }
    replacement->node.kernel->id = (*id)++;
    return copy_node(c, &replacement->node);
}

/* Collects the kernels of the nodes, each once, then the child kernels. */
static void collect_kernels(struct copy *c, uint32_t next_id)
{
    size_t nodes = c->from->kernels.count - c->from->child_kernels;
    bool *used = ARENA_ARRAY(c->cx->arena, bool, (size_t)next_id + 1);
    for (size_t i = 0; i < c->to->nodes.count; i++)
        if (c->to->nodes.items[i].kernel->id < next_id)
            used[c->to->nodes.items[i].kernel->id] = true;
    for (size_t i = 0; i < nodes; i++)
        if (used[c->from->kernels.items[i]->id])
            vec_push(c->cx->arena, &c->to->kernels, c->from->kernels.items[i]);
    for (size_t i = 0; i < c->to->nodes.count; i++)
        if (c->to->nodes.items[i].kernel->id >= next_id)
            vec_push(c->cx->arena, &c->to->kernels, c->to->nodes.items[i].kernel);
    for (size_t i = nodes; i < c->from->kernels.count; i++)
        vec_push(c->cx->arena, &c->to->kernels, c->from->kernels.items[i]);
}

static struct graph *empty_copy(struct compile *cx, const struct graph *graph)
{
    struct graph *to = ARENA_NEW(cx->arena, struct graph);
    to->name = graph->name;
    to->span = graph->span;
    to->types = graph->types;
    to->policy = graph->policy;
    to->child_kernels = graph->child_kernels;
    for (size_t i = 0; i < graph->arguments.count; i++)
        vec_push(cx->arena, &to->arguments, graph->arguments.items[i]);
    for (size_t i = 0; i < graph->functions.count; i++)
        vec_push(cx->arena, &to->functions, graph->functions.items[i]);
    return to;
}

/* A replacement takes the place of its last node, so the writers of its in-ends come before it. */
struct graph *region_replace(struct compile *cx, const struct graph *graph,
                             const struct replacement *replacements, size_t count)
{
    struct copy c = {.cx = cx, .from = graph, .to = empty_copy(cx, graph)};
    uint32_t next_id = 0;
    for (size_t i = 0; i < graph->kernels.count; i++)
        if (graph->kernels.items[i]->id >= next_id) next_id = graph->kernels.items[i]->id + 1;
    uint32_t id = next_id;
    size_t *left = ARENA_ARRAY(cx->arena, size_t, count + 1);
    struct graph_place *places = ARENA_ARRAY(cx->arena, struct graph_place, graph->nodes.count + 1);
    c.replaced_by = ARENA_ARRAY(cx->arena, uint32_t, graph->nodes.count + 1);
    for (size_t i = 0; i < graph->nodes.count; i++)
        c.replaced_by[i] = GRAPH_NONE;
    for (size_t r = 0; r < count; r++) {
        left[r] = replacements[r].count;
        for (size_t i = 0; i < replacements[r].count; i++)
            c.replaced_by[replacements[r].nodes[i]] = (uint32_t)r;
    }
    copy_buffers(&c, replacements);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        uint32_t r = c.replaced_by[i];
        if (r == GRAPH_NONE) {
            places[i].node = copy_node(&c, &graph->nodes.items[i]);
        } else if (--left[r] == 0) {
            uint32_t number = copy_replacement(&c, &replacements[r], &id);
            for (size_t n = 0; n < replacements[r].count; n++)
                places[replacements[r].nodes[n]] = (struct graph_place){number, true};
        }
    }
    graph_origin_follow(cx, graph, c.to, places, c.buffers);
    collect_kernels(&c, next_id);
    return c.to;
}
