/* SPDX-License-Identifier: MIT */
/*
 * strands: neighbours that compute with blocks become one node that computes the parts of a block side by side.
 *
 * A chain of nodes whose packets meet only in parts (the stages of a Fourier transform that combine packets 16, 32
 * and 64 apart: packets of one remainder by 16 alone meet) is as many independent computations, *strands*.  Where
 * these are alike, but for constants, they are rounds of one loop, whose locals are all that a strand has: they stay
 * in registers, and strands fill the lanes of vectors.  Between the nodes nothing goes through memory.
 *
 * Nodes are taken in order as long as there are strands for all lanes and a strand fits the registers.  Operations are
 * those that are written, in their order.  The packets that strands read, or those that they write, are neighbours in
 * each round; the others are moved to where they belong behind the loop, or before it.
 *
 * What can be a member, and the end of a stream: region.h.
 */
#ifndef PIPEC_STRANDS_H
#define PIPEC_STRANDS_H

#include "compiler/optimize/region/region.h"
#include "lang/devdesc.h"

struct region_strands {
    uint64_t count;
    uint64_t reads, writes; /* packets of each */
    /* By number of the packet in its strand, and strand (number * count + strand): the packet of the end. */
    const uint64_t *in, *out;
    /* By node of the symbolic graph, if it is of strand 0: the same of all strands; else NULL. */
    sym *const *rows;
    size_t node_count;
};

/* The graph with such nodes, not analysed yet, its `reductions` filled; NULL where there are none.
 * Requires  analyse_graph without error; a device that is the host.
 * Never reports to cx->diags. */
struct graph *strand_graph(struct compile *cx, const struct graph *graph,
                           const struct devdesc *device);

#endif
