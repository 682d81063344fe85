/* SPDX-License-Identifier: MIT */
/*
 * strong_components: the strongly connected components of a directed graph.
 *
 * Tarjan's walk, iterative, in linear time ("Depth-first search and linear graph algorithms", SIAM J.
 * Comput. 1(2), 1972).  Components are numbered from the last in the flow to the first.
 */
#ifndef PIPEC_STRONG_COMPONENTS_H
#define PIPEC_STRONG_COMPONENTS_H

#include "base/arena.h"

struct strong_arc {
    uint32_t from, to;
};

/* Fills `component` by vertex; returns the number of components. */
uint32_t strong_components(struct arena *arena, uint32_t vertex_count,
                           const struct strong_arc *arcs, uint32_t arc_count, uint32_t *component);

#endif
