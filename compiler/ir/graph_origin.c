/* SPDX-License-Identifier: MIT */
#include "compiler/ir/graph_origin.h"

void graph_origin_follow(struct compile *cx, const struct graph *from, struct graph *to,
                         const struct graph_place *nodes, const uint32_t *buffers)
{
    const struct graph_origin *before = from->origin;
    const struct graph *written = before != NULL ? before->written : from;
    struct graph_place *places = ARENA_ARRAY(cx->arena, struct graph_place, written->nodes.count);
    uint32_t *kept = ARENA_ARRAY(cx->arena, uint32_t, written->buffers.count);
    for (size_t i = 0; i < written->nodes.count; i++) {
        struct graph_place was = {.node = (uint32_t)i};
        if (before != NULL) was = before->nodes[i];
        places[i] = nodes[was.node];
        places[i].fused |= was.fused;
    }
    for (size_t i = 0; i < written->buffers.count; i++) {
        uint32_t was = before != NULL ? before->buffers[i] : (uint32_t)i;
        kept[i] = was == GRAPH_NONE ? GRAPH_NONE : buffers[was];
    }
    struct graph_origin *origin = ARENA_NEW(cx->arena, struct graph_origin);
    *origin = (struct graph_origin){written, places, kept};
    to->origin = origin;
}

bool graph_is_written_node(const struct graph *graph, uint32_t node)
{
    const struct graph_origin *origin = graph->origin;
    if (origin == NULL) return true;
    for (size_t i = 0; i < origin->written->nodes.count; i++)
        if (origin->nodes[i].node == node) return !origin->nodes[i].fused;
    return false;
}
