/* SPDX-License-Identifier: MIT */
/*
 * dead_work: leaves out work without effect on the outputs.
 *
 * Neighbours become one node if this saves operations.  Every bit of the outputs stays the same:
 *
 *     packets that a decimator drops            are not computed
 *     constants that an expander inserts        take no part in the next node's computation
 *     values that two nodes compute from        are computed once
 *     the same packets
 *
 * region.h says which nodes can be joined, and how the end of a stream is treated.
 */
#ifndef PIPEC_DEAD_WORK_H
#define PIPEC_DEAD_WORK_H

#include "compiler/ir/graph.h"

/* A node of the new graph that replaces nodes of the old one. */
struct reduction {
    const char *members; /* "stuff<16> + fir_bandpass<64>": names of nodes, at most a line */
    size_t member_count;
    uint64_t operations_before, operations; /* of an iteration */
    bool ends_late;                         /* it writes its last packets when the stream ends */
    bool linear; /* one filter: sums were taken in another order (linear.h) */
    /* In the frequency domain (overlap_save.h): packets of a block, factors of the filter; else 0. */
    uint64_t block_packets, taps;
    uint64_t strands; /* of a block (strands.h); 0: no strands */
};

struct reductions {
    VEC(struct reduction) items;
};

/* The graph with less work, not analysed yet, its `reductions` filled; NULL if there is nothing to leave out.
 * Does not change `graph`; the two share kernels.
 * Requires  analyse_graph without error.
 * Never reports to cx->diags. */
struct graph *reduce_graph(struct compile *cx, const struct graph *graph);

#endif
