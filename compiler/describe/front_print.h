/* SPDX-License-Identifier: MIT */
/*
 * front_print: the trade-off between memory and throughput (`pipec inspect --pareto`): idealised, which requires
 * graph->front, and by the clock of the device, which requires the front of the plan and its graph.
 */
#ifndef PIPEC_FRONT_PRINT_H
#define PIPEC_FRONT_PRINT_H

#include "compiler/plan/plan.h"
#include "base/json_write.h"

/* A table for each part of the graph, and whether the front is complete. */
void front_print_text(FILE *to, const struct graph *graph);
/* The array `pareto` of the object. */
void front_print_json(struct json *json, const struct graph *graph);
/* A table with the ports beside the buffers. */
void front_print_timed(FILE *to, const struct graph *graph, const struct plan *plan);
/* The array `pareto` of the plan. */
void front_put_timed(struct json *json, const struct graph *graph, const struct graph_front *front);

#endif
