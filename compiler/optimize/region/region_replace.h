/* SPDX-License-Identifier: MIT */
/*
 * region_replace: the graph in which regions are nodes.
 */
#ifndef PIPEC_REGION_REPLACE_H
#define PIPEC_REGION_REPLACE_H

#include "compiler/ir/graph.h"

/* Nodes of a graph that one node stands for from now on. */
struct replacement {
    const uint32_t *nodes;
    size_t count;
    struct graph_node node; /* its ends name buffers of the old graph */
    /* NULL, or a node before it: an in-end of `node` and an out-end of this one are on no buffer
     * (GRAPH_NONE), but on a new one between them, which is `between` without its ends. */
    const struct graph_node *before;
    struct graph_buffer between;
};

/* A copy of the graph with the nodes replaced.  The
 * buffers that only they read and wrote are gone.  What analyses have filled, but for what they filled
 * in kernels, is not carried over. */
struct graph *region_replace(struct compile *cx, const struct graph *graph,
                             const struct replacement *replacements, size_t count);

#endif
