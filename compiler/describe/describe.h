/*
 * describe: the topology in forms for other programs and for people.
 *
 *   graph_dot   a drawing for Graphviz: nodes with their kernels, buffers as edges, ports of the
 *               pipeline as shapes of their own; names with dots are drawn in clusters
 *   graph_json  everything in the graph (lang/commands.md, "JSON")
 *   graph_cmds  the command list (lang/commands.md), which the compiler takes as input
 */
#ifndef PIPEC_DESCRIBE_H
#define PIPEC_DESCRIBE_H

#include "compiler/graph/graph.h"

void graph_dot(FILE *to, const struct graph *graph);
void graph_json(FILE *to, const struct compile *cx, const struct graph *graph);
/* `source`: the path that the file with the kernels is to be found under. */
void graph_cmds(FILE *to, const char *source, const struct graph *graph);

#endif
