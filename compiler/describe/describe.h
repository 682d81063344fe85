/* SPDX-License-Identifier: MIT */
/*
 * describe: the topology in forms for other programs and for people.
 *
 *   graph_dot   a drawing for Graphviz: nodes with their kernels, buffers as edges, ports of the
 *               pipeline as shapes of their own; names with dots are drawn in clusters
 *   graph_json  everything in the graph (lang/commands.md, "JSON")
 *   graph_cmds  the command list (lang/commands.md), which the compiler reads as input
 *   graph_sdf3  XML of the SDF3 tools (lang/sdf3.md), which the compiler reads as input too. False: the graph
 *               has no such form, which has been reported, and nothing is written
 */
#ifndef PIPEC_DESCRIBE_H
#define PIPEC_DESCRIBE_H

#include "compiler/ir/graph.h"
#include "base/vec.h"

/* The sources of the kernels of a command list. */
struct item_text { /* an item of a source, with the comments before it */
    const char *bytes;
    size_t size_bytes;
    bool is_apart; /* a blank line precedes it */
};
struct kernel_sources {
    VEC(const char *) names;     /* of files, as the list finds them */
    VEC(struct item_text) items; /* carried by the list itself */
};

void graph_dot(FILE *to, const struct graph *graph);
void graph_json(FILE *to, const struct compile *cx, const struct graph *graph);
bool graph_sdf3(FILE *to, struct compile *cx, const struct graph *graph);
void graph_cmds(FILE *to, const struct kernel_sources *sources, const struct graph *graph);

#endif
