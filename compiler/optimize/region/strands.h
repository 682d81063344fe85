/* SPDX-License-Identifier: MIT */
/*
 * strands: makes one node of neighbours that compute with blocks, and computes the parts of a block side by side.
 *
 * In a chain of nodes a packet may combine only with a part of the other packets.  For example, some stages of a
 * Fourier transform combine packets 16, 32 and 64 apart, so packets with different remainders by 16 never meet.  Such
 * a chain consists of independent computations, the *strands*.  If the strands are alike except for constants, they
 * become rounds of one loop.  The values of a strand are locals in registers, and strands fill the lanes of vectors.
 * No packet between the nodes goes through memory.
 *
 * Nodes are added in order as long as there are strands for all lanes and a strand fits the registers.  Operations and
 * their order are those of the source.  In each round the packets that are read, or those that are written, are
 * neighbours.  The others are copied before the loop, or after it.
 *
 * region.h says which nodes can be members, and how the end of a stream is treated.
 */
#ifndef PIPEC_STRANDS_H
#define PIPEC_STRANDS_H

#include "compiler/optimize/region/region.h"
#include "lang/devdesc.h"

struct region_strands {
    uint64_t count;
    uint64_t reads, writes; /* packets of one strand */
    /* Packet `number` of a strand is packet in[number * count + strand] of the in-end; `out` likewise. */
    const uint64_t *in, *out;
    /* By node of the symbolic graph: of a node of strand 0, the corresponding values of all strands; else NULL. */
    sym *const *rows;
    size_t node_count;
};

/* The graph with such nodes, not analysed yet, its `reductions` filled; NULL if there are none.
 * Requires  analyse_graph without error.
 * Never reports to cx->diags. */
struct graph *strand_graph(struct compile *cx, const struct graph *graph,
                           const struct devdesc *device);

#endif
