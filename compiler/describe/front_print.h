/* SPDX-License-Identifier: MIT */
/*
 * front_print: the trade-off between memory and throughput (`pipec inspect --pareto`).
 *
 * Requires  graph->front.
 */
#ifndef PIPEC_FRONT_PRINT_H
#define PIPEC_FRONT_PRINT_H

#include "compiler/ir/graph.h"
#include "base/json_write.h"

/* A table for each part of the graph, and whether the front is complete. */
void front_print_text(FILE *to, const struct graph *graph);
/* The array `pareto` of the object. */
void front_print_json(struct json *json, const struct graph *graph);

#endif
