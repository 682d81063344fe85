/* SPDX-License-Identifier: MIT */
/*
 * cycle_ratio: the maximum cycle ratio of a directed graph, in integers.
 *
 * Each arc has a cost >= 0 and a height, of either sign.  The ratio of a cycle is the sum of its costs
 * divided by the sum of its heights.  A cycle of height below 0, or of height 0 and positive cost, has
 * an infinite ratio.  A cycle of height 0 without cost counts as 0.  (In a timed event graph: the clock
 * cycles that pass round a cycle, divided by the iterations that it spans.)
 *
 * Method: Howard's policy iteration.  Every vertex chooses one arc out of it.  The choices make cycles;
 * the largest of their ratios is p/r.  With weights w = r cost - p height, values x are found with
 * x[u] = x[v] + w along every choice u -> v.  Each vertex changes to an arc on which x[v] + w > x[u].
 *
 * Proof of the answer.  When no vertex changes, x[u] >= x[v] + w holds on every arc.  Summed round any
 * cycle this is r cost <= p height.  So no cycle has a larger ratio, and none an infinite one.  One
 * exception: if p = 0, cycles of negative height without cost are not seen (with costs of 1 they are).
 * The proof is in exact numbers and does not depend on how the answer was found.
 *
 * Termination.  A cycle of choices with a change in it has a weight above 0, by summing
 * x[u] <= x[v] + w.  So its ratio is larger than p/r, or infinite, and p/r grows.  If there is no such
 * cycle, the cycle of p/r is the only one, and the values grow; there are finitely many choices.  If p/r
 * has grown, the vertices that lead to another cycle get a choice that leads to the new one.  It exists,
 * because the graph is strongly connected.
 *
 * (Howard, "Dynamic programming and Markov processes", 1960; Cochet-Terrasson, Cohen, Gaubert, Mc
 * Gettrick & Quadrat, "Numerical computation of spectral elements in max-plus algebra", IFAC SSC 1998;
 * compared with others by Dasdan, "Experimental analysis of the fastest optimum cycle ratio and mean
 * algorithms", ACM TODAES 9(4), 2004.)
 *
 * A round takes time linear in the graph.  Rounds are few, though no polynomial bound is known: the
 * caller's budget is one.
 */
#ifndef PIPEC_CYCLE_RATIO_H
#define PIPEC_CYCLE_RATIO_H

#include "compiler/ir/ratio.h"
#include "base/arena.h"

/* The maximum number of bits in all: those of the largest cost and height, twice those of the
 * number of vertices, and one. */
enum { CYCLE_RATIO_BITS = 125 };

struct ratio_arc {
    uint32_t from, to;
    uint32_t tag; /* the caller's */
    uint64_t cost;
    int128 height;
};

struct ratio_graph { /* strongly connected; every vertex has an arc out of it */
    uint32_t vertex_count, arc_count;
    struct ratio_arc *arcs;
};

enum cycle_ratio_kind {
    CYCLE_RATIO_FINITE,
    CYCLE_RATIO_INFINITE,
    CYCLE_RATIO_UNKNOWN, /* beyond the budget, or 128 bits */
};

struct cycle_ratio {
    enum cycle_ratio_kind kind;
    uint128 cost, height; /* FINITE: of the cycle, in lowest terms */
    uint32_t *cycle;      /* arcs in order, of `arena` */
    uint32_t cycle_count;
    uint32_t *others; /* INFINITE: other such cycles that were found, one after the other */
    uint32_t other_count;
};

/* Takes one step from *budget for each arc that it examines. */
struct cycle_ratio cycle_ratio_maximum(struct arena *arena, const struct ratio_graph *graph,
                                       uint64_t *budget);

#endif
