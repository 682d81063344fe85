/* SPDX-License-Identifier: MIT */
/*
 * fused_tables: the nodes of the program that are no stages, as records of the container (lang/container.md, "Fused
 * nodes").
 *
 * Nodes whose number of firings the data decide are left out, and the buffers that they read: such a node takes every
 * packet (compose.h, "inside, bounded"), so it leaves none.
 *
 * Requires  a graph after all analyses, and its tables of nodes and inputs (plan_tables_fill).
 * Fills     in `arena`; `names` instead of the records' strings.  Nothing if no nodes have become one.
 * Fails     never.  The caller counts the records and checks that the numbers fit.
 */
#ifndef PIPEC_FUSED_TABLES_H
#define PIPEC_FUSED_TABLES_H

#include "compiler/ir/graph.h"
#include "model/container_tables.h"

struct fused_tables {
    VEC(struct container_fused_node) nodes;
    VEC(const char *) node_names; /* parallel */
    VEC(struct container_fused_input) inputs;
    VEC(struct container_fused_buffer) buffers;
    VEC(const char *) buffer_names; /* parallel */
};

struct fused_tables fused_tables_build(struct arena *arena, const struct graph *graph,
                                       const struct prt_container *tables);

#endif
