/* SPDX-License-Identifier: MIT */
/*
 * dead_work: work that nobody sees is not done.
 *
 * Neighbours become one node where that leaves operations out, and every bit of the outputs is as it
 * was:
 *
 *     what a decimator drops           is not computed by the node before it
 *     constants that an expander puts  between the packets are not computed with by the node behind
 *     what two nodes compute           from the same packets is computed once
 *
 * `region` says which nodes can be taken together, and what becomes of the end of a stream.
 */
#ifndef PIPEC_REDUCE_H
#define PIPEC_REDUCE_H

#include "compiler/ir/graph.h"

/* One node of the new graph, for several of the old one. */
struct reduction {
    const char *members; /* "stuff<16> + fir_bandpass<64>": names of nodes, at most a line */
    size_t member_count;
    uint64_t operations_before, operations; /* of an iteration */
    bool ends_late;                         /* it writes its last packets when the stream ends */
    bool linear; /* one filter: sums were taken in another order (linear.h) */
    /* ..., as products of spectra of blocks of so many packets, of so many factors: overlap_save.h; or 0 */
    uint64_t block_packets, taps;
    uint64_t
        strands; /* parts of a block that are computed side by side (strands.h); 0: it was not taken apart */
};

struct reductions {
    VEC(struct reduction) items;
};

/* The graph with less work in it, not analysed yet, its `reductions` filled; NULL where there is nothing
 * to leave out.  `graph` is left as it is; kernels are shared.
 * Requires  analyse_graph without error.
 * Never reports to cx->diags. */
struct graph *reduce_graph(struct compile *cx, const struct graph *graph);

#endif
