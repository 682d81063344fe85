/* SPDX-License-Identifier: MIT */
/*
 * region_replace: replaces regions of a graph by nodes.
 */
#ifndef PIPEC_REGION_REPLACE_H
#define PIPEC_REGION_REPLACE_H

#include "compiler/ir/graph.h"

/* Nodes of a graph, and the node that replaces them. */
struct replacement {
    const uint32_t *nodes;
    size_t count;
    struct graph_node node; /* its ends name buffers of the old graph */
    /* NULL, or a second node.  Its out-end and the in-end of `node` whose buffers are GRAPH_NONE are the ends of a new
     * buffer, `between`. */
    const struct graph_node *before;
    struct graph_buffer between;
};

/* A copy of the graph with the nodes replaced, without the buffers that only they read and wrote.  Results of analyses
 * are not carried over, except those in kernels. */
struct graph *region_replace(struct compile *cx, const struct graph *graph,
                             const struct replacement *replacements, size_t count);

#endif
