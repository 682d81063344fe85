/* SPDX-License-Identifier: MIT */
/*
 * latency: the time of the first result.
 *
 * Requires  repetitions (only that the rates balance matters), depths if `at_depths`.
 *
 * The model of time is that of throughput.h.  It begins when every in-port of the pipeline holds all its
 * packets and every buffer its initial ones; the pipeline's ports have unlimited room.  The latency is
 * the end of the first firing that writes a packet to an out-port; of several out-ports, the first of
 * all.  In a pipeline without out-ports, it is the end of the first firing of a node without outputs.
 * Packets of `finish` do not count.
 *
 * Method.  First find the firings of each node that the wanted ones depend on, by following packets and
 * room back to a fixed point: a node has to have fired as often as the largest demand of its neighbours.
 * Then these firings are executed in order of time, as many at once as start at once (a discrete event
 * simulation).  Other firings neither hinder nor help them, because a firing never disables one of
 * another node.  Time grows with the firings needed (those of a stateful node count one by one), and the
 * budget limits them: a step is one look at a neighbour.
 */
#ifndef PIPEC_LATENCY_H
#define PIPEC_LATENCY_H

#include "compiler/ir/graph.h"

struct latency {
    bool known;
    uint64_t cycles;
    uint32_t node;   /* the node that fires */
    uint32_t buffer; /* the out-port; GRAPH_NONE: there are none */
};

/* `known` is false if nothing is written, the budget is too small, or some end has no exact rate. */
struct latency latency_of_graph(const struct graph *graph, bool at_depths, uint64_t *budget);

#endif
