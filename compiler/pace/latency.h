/* SPDX-License-Identifier: MIT */
/*
 * latency: when the first result is there.
 *
 * Requires  repetitions (only that the rates balance matters), depths where `at_depths`.
 *
 * The model of time is that of throughput.h, from the moment on at which every in-port of the
 * pipeline holds all its packets and every buffer its initial ones; the pipeline's ports have room
 * without limit.  What is measured is the end of the first firing that writes a packet to an
 * out-port (several: the first of all), or, in a pipeline without out-ports, of the first firing of
 * a node without outputs.  What `finish` writes does not count.
 *
 * Method.  First, which firings of each node the wanted ones depend on, by following packets and
 * room back to a fixed point: what a node has to have done is the largest of what its neighbours
 * ask for.  Then these firings are executed in order of time, as many at once as start at once (a
 * discrete event simulation).  Other firings neither hinder nor help them, for a firing never
 * disables one of another node.  Time grows with the firings needed (those of a stateful node count
 * one by one), which is what the budget limits: a step is one look at a neighbour.
 */
#ifndef PIPEC_LATENCY_H
#define PIPEC_LATENCY_H

#include "compiler/ir/graph.h"

struct latency {
    bool known;
    uint64_t cycles;
    uint32_t node;   /* the firing is its */
    uint32_t buffer; /* the out-port; GRAPH_NONE: there are none */
};

/* Not known: nothing is written, beyond the budget, or an end without an exact rate. */
struct latency latency_of_graph(const struct graph *graph, bool at_depths, uint64_t *budget);

#endif
