/* SPDX-License-Identifier: MIT */
/*
 * graph_origin: where the nodes and buffers of the pipeline as it was written are in a graph in which some nodes have
 * become one.
 *
 * Less work (optimize/region) and fusion (optimize/fuse) make new graphs, one from the other.  Each calls
 * graph_origin_follow, so the last graph still knows the first one.
 */
#ifndef PIPEC_GRAPH_ORIGIN_H
#define PIPEC_GRAPH_ORIGIN_H

#include "compiler/ir/graph.h"

/* The place of a node. */
struct graph_place {
    uint32_t node; /* that executes it */
    bool fused;    /* that node is another one: it stands for several, or computes in another way */
};

struct graph_origin {
    const struct graph *written;     /* as analysed, before nodes became one */
    const struct graph_place *nodes; /* by node of `written` */
    const uint32_t *buffers;         /* by buffer of `written`; GRAPH_NONE: inside a node */
};

/* Sets to->origin.  `nodes`: by node of `from`, its place in `to`; `buffers` likewise. */
void graph_origin_follow(struct compile *cx, const struct graph *from, struct graph *to,
                         const struct graph_place *nodes, const uint32_t *buffers);

/* Does the node of the graph stand for itself, a node of the pipeline as it was written? */
bool graph_is_written_node(const struct graph *graph, uint32_t node);

#endif
