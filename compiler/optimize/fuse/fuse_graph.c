/* SPDX-License-Identifier: MIT */
/* The graph with composites in place of their members (fuse_internal.h). */
#include "compiler/optimize/fuse/fuse_internal.h"

#include "compiler/bodies/cost.h"
#include "compiler/bodies/bundles.h"
#include "compiler/ir/graph_origin.h"

#include <stdlib.h>

/* ---- kernels ---- */

static int compare_id(const void *left, const void *right)
{
    const struct kernel *const *a = left, *const *b = right;
    return ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

/* Child kernels come last, unchanged: kernels that launch them are in no composite. */
static void list_kernels(struct compile *cx, const struct fusion *fusion, struct graph *graph)
{
    const struct graph *written = fusion->written;
    size_t own = 0;
    graph->kernels.items =
        ARENA_ARRAY(cx->arena, struct kernel *, graph->nodes.count + written->child_kernels + 1);
    for (size_t i = 0; i < graph->nodes.count; i++)
        graph->kernels.items[own++] = graph->nodes.items[i].kernel;
    qsort(graph->kernels.items, own, sizeof(struct kernel *), compare_id);
    size_t count = 0;
    for (size_t i = 0; i < own; i++)
        if (count == 0 || graph->kernels.items[count - 1] != graph->kernels.items[i])
            graph->kernels.items[count++] = graph->kernels.items[i];
    for (size_t i = written->kernels.count - written->child_kernels; i < written->kernels.count;
         i++)
        graph->kernels.items[count++] = written->kernels.items[i];
    graph->kernels.count = graph->kernels.capacity = count;
}

/* ---- nodes and buffers ---- */

static void add_nodes(struct compile *cx, struct fusion *fusion)
{
    const struct graph *written = fusion->written;
    for (uint32_t i = 0; i < fusion->composites.count; i++)
        fusion->composite_nodes[i] = GRAPH_NONE;
    for (uint32_t i = 0; i < written->nodes.count; i++) {
        uint32_t composite = fusion->places[i].composite;
        if (composite != GRAPH_NONE && fusion->composite_nodes[composite] != GRAPH_NONE) {
            fusion->places[i].node = fusion->composite_nodes[composite];
            continue;
        }
        struct graph_node node = composite == GRAPH_NONE ? written->nodes.items[i]
                                                         : fusion->composites.items[composite].node;
        node.inputs.items = NULL;
        node.inputs.count = node.inputs.capacity = 0;
        node.outputs.items = NULL;
        node.outputs.count = node.outputs.capacity = 0;
        fusion->places[i].node = graph_add_node(cx, fusion->graph, node);
        if (composite != GRAPH_NONE) fusion->composite_nodes[composite] = fusion->places[i].node;
    }
}

static void add_fused_buffers(struct compile *cx, const struct fusion *fusion)
{
    const struct graph *written = fusion->written;
    for (size_t c = 0; c < fusion->composites.count; c++) {
        const struct composite *composite = &fusion->composites.items[c];
        for (size_t i = 0; i < composite->inside.count; i++)
            if (fuse_is_inside(composite, composite->inside.items[i].buffer))
                fusion->buffers[composite->inside.items[i].buffer] = GRAPH_NONE;
    }
    for (uint32_t i = 0; i < written->buffers.count; i++) {
        if (fusion->buffers[i] == GRAPH_NONE) continue;
        struct graph_buffer buffer = written->buffers.items[i];
        buffer.readers.items = NULL;
        buffer.readers.count = buffer.readers.capacity = 0;
        buffer.writer_node = buffer.writer_output = GRAPH_NONE;
        buffer.depth_min_packets = 0;
        buffer.depth_paced = false;
        if (!buffer.depth_declared) {
            buffer.depth_packets = 0;
            buffer.depth_reason = NULL;
        }
        fusion->buffers[i] = graph_add_buffer(cx, fusion->graph, buffer);
    }
}

static void connect_ends(struct compile *cx, const struct fusion *fusion, uint32_t node,
                         const struct graph_node *from)
{
    for (size_t i = 0; i < from->inputs.count; i++) {
        struct graph_input in = from->inputs.items[i];
        in.buffer = fusion->buffers[in.buffer];
        graph_connect_input(cx, fusion->graph, node, in);
    }
    for (size_t i = 0; i < from->outputs.count; i++) {
        struct graph_output out = from->outputs.items[i];
        out.buffer = fusion->buffers[out.buffer];
        graph_connect_output(cx, fusion->graph, node, out);
    }
}

static void connect_fused_nodes(struct compile *cx, const struct fusion *fusion)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < fusion->written->nodes.count; i++) {
        const struct fuse_place *place = &fusion->places[i];
        if (place->node != next) continue; /* a member of a composite that is already connected */
        next++;
        connect_ends(cx, fusion, place->node,
                     place->composite == GRAPH_NONE
                         ? &fusion->written->nodes.items[i]
                         : &fusion->composites.items[place->composite].node);
    }
}

static void follow_origin(struct compile *cx, const struct fusion *fusion)
{
    size_t count = fusion->written->nodes.count;
    struct graph_place *places = ARENA_ARRAY(cx->arena, struct graph_place, count + 1);
    for (size_t i = 0; i < count; i++)
        places[i] =
            (struct graph_place){fusion->places[i].node, fusion->places[i].composite != GRAPH_NONE};
    graph_origin_follow(cx, fusion->written, fusion->graph, places, fusion->buffers);
}

/* ---- analyses ---- */

/* Composites keep the rates and ranges of their members. */
static void estimate_costs(struct compile *cx, const struct fusion *fusion)
{
    struct graph *graph = fusion->graph;
    graph->kernels.items = ARENA_ARRAY(cx->arena, struct kernel *, fusion->composites.count + 1);
    graph->kernels.count = graph->kernels.capacity = fusion->composites.count;
    for (size_t i = 0; i < fusion->composites.count; i++)
        graph->kernels.items[i] = fusion->composites.items[i].node.kernel;
    cost_estimate(cx, graph);
}

bool fuse_build(struct compile *cx, struct fusion *fusion, fuse_prover *prove)
{
    struct diags *reported = cx->diags;
    bool explores = cx->options.explores;
    struct graph *graph = ARENA_NEW(cx->arena, struct graph);
    const struct graph *written = fusion->written;
    *graph = (struct graph){.name = written->name,
                            .span = written->span,
                            .arguments = {written->arguments.items, written->arguments.count,
                                          written->arguments.capacity},
                            .child_kernels = written->child_kernels,
                            .functions = {written->functions.items, written->functions.count,
                                          written->functions.capacity},
                            .types = written->types,
                            .policy = written->policy};
    fusion->graph = graph;
    add_nodes(cx, fusion);
    add_fused_buffers(cx, fusion);
    connect_fused_nodes(cx, fusion);
    follow_origin(cx, fusion);
    uint32_t next = 0;
    for (size_t i = 0; i < fusion->written->kernels.count; i++)
        if (fusion->written->kernels.items[i]->id >= next)
            next = fusion->written->kernels.items[i]->id + 1;
    for (size_t i = 0; i < fusion->composites.count; i++)
        fusion->composites.items[i].node.kernel->id = next++;
    cx->diags = diags_fork(cx->arena, reported);
    cx->options.explores = false;
    bundles_of_graph(cx, graph);
    estimate_costs(cx, fusion);
    list_kernels(cx, fusion, graph);
    bool analysed = prove(cx, graph);
    cx->options.explores = explores;
    cx->diags = reported;
    return analysed;
}

void fuse_settle_depths(struct compile *cx, const struct fusion *fusion)
{
    struct graph *written = fusion->written;
    if (fusion->graph == written) return;
    for (uint32_t i = 0; i < written->buffers.count; i++) {
        struct graph_buffer *buffer = &written->buffers.items[i];
        if (fusion->buffers[i] == GRAPH_NONE) continue;
        const struct graph_buffer *planned = &fusion->graph->buffers.items[fusion->buffers[i]];
        buffer->depth_packets = planned->depth_packets;
        buffer->depth_reason = planned->depth_reason;
    }
    for (size_t c = 0; c < fusion->composites.count; c++) {
        const struct composite *composite = &fusion->composites.items[c];
        for (size_t i = 0; i < composite->inside.count; i++) {
            struct graph_buffer *buffer =
                &written->buffers.items[composite->inside.items[i].buffer];
            buffer->depth_reason = arena_printf(cx->arena, "inside '%s': no buffer while it runs",
                                                composite->node.name);
        }
    }
    written->memory_bytes = fusion->graph->memory_bytes;
}
