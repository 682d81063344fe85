/* SPDX-License-Identifier: MIT */
/*
 * bounded: requires that no other path of the graph leads around a buffer of bounded rates.
 *
 * Requires repetitions.
 * Fills    graph->unproven, buffer->unproven_reason where a comment accepts it.
 * Fails    RULE_LIVENESS_UNPROVEN, once for each part of the graph, with the path hop by hop.  The
 *          author may accept it; the program then finds stalls while it runs.
 */
#ifndef PIPEC_BOUNDED_H
#define PIPEC_BOUNDED_H

#include "compiler/ir/graph.h"

void bounded_check(struct compile *cx, struct graph *graph);

#endif
