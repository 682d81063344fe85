/* SPDX-License-Identifier: MIT */
/*
 * graph_load: how busy the nodes of a graph were in a run, from the report of `piperun --stats=json:FILE`.
 */
#ifndef PIPEC_GRAPH_LOAD_H
#define PIPEC_GRAPH_LOAD_H

#include "compiler/ir/graph.h"

/* By node, its share of the busiest one's time, 0 to 1. The time of a stage of several nodes counts for each of them. NULL: the
 * file cannot be read, or is no report; *reason says why. */
const double *graph_load_read(struct arena *arena, const struct graph *graph, const char *path,
                              const char **reason);

#endif
