/* SPDX-License-Identifier: MIT */
/*
 * rate: the repetition vector (Lee & Messerschmitt 1987), exact, in checked 64-bit arithmetic.
 *
 * Fills   node->repetitions, node->component, graph->component_count.
 * Fails   RULE_INCONSISTENT_RATES with the balance equation that fails and the undirected cycle,
 *         RULE_RATE_OVERFLOW.
 */
#ifndef PIPEC_RATE_H
#define PIPEC_RATE_H

#include "compiler/ir/graph.h"

void rate_solve(struct compile *cx, struct graph *graph);

#endif
