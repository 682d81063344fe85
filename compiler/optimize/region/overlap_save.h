/* SPDX-License-Identifier: MIT */
/*
 * overlap_save: a linear filter as products of spectra (Stockham, "High-speed convolution and
 * correlation", AFIPS 1966).  With --fast-math only, because it rounds differently.
 *
 * A firing transforms blocks of `points` packets, a power of two, multiplies them by the transformed factors,
 * and transforms them back.  Of each block it writes the packets that depend only on packets of the block.  A
 * firing on a real stream takes two blocks, the second as imaginary parts; on a complex stream it takes one.  If
 * the filter drops packets, one packet in `every` is transformed back.
 *
 * Blocks begin at fixed places of the stream.  `finish` takes the packets that are left at the end, followed by
 * zeros.  So a packet's bits depend only on its place in the stream and on the stream's length, and the number of
 * packets is that of the sums.
 */
#ifndef PIPEC_OVERLAP_SAVE_H
#define PIPEC_OVERLAP_SAVE_H

#include "compiler/optimize/region/region.h"

/* In an iteration, packet j of the output is constants[j] + sum of factors[j * window + i] * packet i. */
struct linear_filter {
    enum scalar_type scalar; /* F32, F64 */
    bool is_complex;         /* packets are vectors of two: real part, imaginary part */
    uint64_t pop, push, window;
    const double *re, *im;   /* factors; `im` where is_complex */
    const double *constants; /* of real parts, then of imaginary parts */
    const uint64_t *needs;   /* by written packet: input packets that it needs */
};

struct overlap_save {
    struct linear_filter filter;
    uint64_t points;
    uint64_t iterations; /* of the filter, in a block */
    uint64_t blocks;     /* of a firing */
    uint64_t every;      /* one packet in `every` is transformed back */
    uint64_t operations; /* of a firing */
};

/* Chooses the smallest blocks with about the minimum cost.  False: this is not clearly less work than
 * `operations` per iteration. */
bool overlap_save_choose(const struct linear_filter *filter, uint64_t operations,
                         struct overlap_save *chosen);

/* Like region_kernel, for a region with `blocks`. */
struct graph_node overlap_save_kernel(struct region_space *space, const struct region *region,
                                      const char *name);

#endif
