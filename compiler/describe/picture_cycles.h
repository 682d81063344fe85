/* SPDX-License-Identifier: MIT */
/*
 * picture_cycles: the buffers on cycles of a graph, and how many initial packets a cycle could do without.
 *
 * The slack of a buffer is the largest number of its initial packets without which the graph, with unbounded buffers, still
 * has no deadlock. A slack of 0 says that the cycle needs each of them. It is known for buffers on a cycle of exact rates,
 * in graphs that need at most SLACK_STEPS steps of simulation.
 */
#ifndef PIPEC_PICTURE_CYCLES_H
#define PIPEC_PICTURE_CYCLES_H

#include "compiler/ir/graph.h"

#define SLACK_UNKNOWN UINT64_MAX

struct picture_cycles { /* by buffer */
    bool *on_cycle;
    uint64_t *slack;
};

struct picture_cycles picture_cycles_find(struct arena *arena, const struct graph *graph);

#endif
