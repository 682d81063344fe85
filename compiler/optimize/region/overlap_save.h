/* SPDX-License-Identifier: MIT */
/*
 * overlap_save: a linear filter as products of spectra (Stockham, "High-speed convolution and
 * correlation", AFIPS 1966).  For --fast-math only: it rounds otherwise.
 *
 * A firing takes blocks of `points` packets, a power of two, transforms them, multiplies by the
 * transformed factors and transforms back; of each block it writes what no packet outside of it takes
 * part in.  Packets of a real stream are two blocks, the one behind as imaginary parts; complex ones
 * are one.  Where one packet in an even number is wanted, only these are transformed back.
 *
 * Blocks begin at fixed places of the stream; `finish` takes what is left when it ends, with zeros behind
 * it.  So a packet's bits follow from its place in the stream and the stream's length alone, and as many
 * packets are written as by the sums.
 */
#ifndef PIPEC_OVERLAP_SAVE_H
#define PIPEC_OVERLAP_SAVE_H

#include "compiler/optimize/region/region.h"

/* What one iteration writes: packet j is constants[j] + sum of factors[j * window + i] * packet i. */
struct linear_filter {
    enum scalar_type scalar; /* F32, F64 */
    bool is_complex;         /* packets are vectors of two: real part, imaginary part */
    uint64_t pop, push, window;
    const double *re, *im;   /* factors; `im` where is_complex */
    const double *constants; /* those of real parts, then of imaginary ones */
    const uint64_t *needs;   /* by packet written: so many are there before it is written */
};

struct overlap_save {
    struct linear_filter filter;
    uint64_t points;
    uint64_t iterations; /* of the filter, in a block */
    uint64_t blocks;     /* of a firing */
    uint64_t every;      /* one packet in so many is transformed back */
    uint64_t operations; /* of a firing */
};

/* The smallest blocks that are about as cheap as any.  False: that is not clearly less work than
 * `operations` an iteration. */
bool overlap_save_choose(const struct linear_filter *filter, uint64_t operations,
                         struct overlap_save *chosen);

/* As region_kernel of the region that is the filter. */
struct graph_node overlap_save_kernel(struct region_space *space, const struct region *region,
                                      const char *name);

#endif
