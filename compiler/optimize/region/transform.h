/* SPDX-License-Identifier: MIT */
/*
 * transform: the discrete Fourier transform of a block, as statements of a kernel, and in f64.
 *
 * A block lies in two arrays, real and imaginary parts.  Forward, it is split into halves until rows of
 * TRANSFORM_ROW packets are left (decimation in frequency: Gentleman and Sande, "Fast Fourier
 * transforms: for fun and profit", AFIPS 1966); the row takes the last step, is multiplied, and takes
 * the first one back; from there it goes back the same way (Cooley and Tukey, 1965).  So nothing is put
 * into another order: place p of what is multiplied is frequency transform_frequency(p).
 *
 * Of what comes back each packet may be wanted, or one in `every`, a power of two up to TRANSFORM_ROW:
 * then only these are computed, and lie one behind the other.
 */
#ifndef PIPEC_TRANSFORM_H
#define PIPEC_TRANSFORM_H

#include "compiler/ir/expr_build.h"

enum {
    TRANSFORM_ROW = 8,
    TRANSFORM_POINTS_MIN = 64,
    TRANSFORM_DOUBLINGS_MAX = 15,
    TRANSFORM_POINTS_MAX = 1 << TRANSFORM_DOUBLINGS_MAX,
    TRANSFORM_RADIX_MAX = 4,
};

/* Local arrays, or two locals. */
struct transform_pair {
    const struct variable *re, *im;
};

/* The factors of one product: of place row * TRANSFORM_ROW + k at [k * points / TRANSFORM_ROW + row]. */
struct transform_product {
    struct transform_pair factors; /* constant arrays of `points` */
    struct transform_pair
        to; /* arrays of `points / every`; may be the block itself where `every` is 1 */
};

struct transform {
    struct tree tree;
    enum scalar_type scalar;
    uint64_t points; /* a power of two, TRANSFORM_POINTS_MIN .. TRANSFORM_POINTS_MAX */
    uint64_t every;
    uint32_t names;
    /* By doublings of the block's length and by multiple: roots of 1, once they are needed. */
    struct transform_pair roots[TRANSFORM_DOUBLINGS_MAX + 1][TRANSFORM_RADIX_MAX];
};

/* All zeros. */
struct transform_pair transform_arrays(struct transform *t, struct tree_list *list, uint64_t count);
/* The block, transformed but for its rows. */
void transform_forward(struct transform *t, struct tree_list *list, struct transform_pair block);
/* Each row transformed, multiplied, and the first step back; `count` products of the same block. */
void transform_multiply(struct transform *t, struct tree_list *list, struct transform_pair block,
                        const struct transform_product *products, size_t count);
/* The rest of the way back, not divided by `points`. */
void transform_back(struct transform *t, struct tree_list *list, struct transform_pair block);

/* Arithmetic operations of the statements. */
uint64_t transform_forward_operations(uint64_t points);
uint64_t transform_back_operations(uint64_t points, uint64_t every); /* rows and the rest */

/* Place `place` of a transformed block of `points`. */
uint64_t transform_frequency(uint64_t points, uint64_t place);
/* exp(-2 pi i number / points), to about an ulp, the same on every machine. */
void transform_root(uint64_t points, uint64_t number, double *re, double *im);
/* The transform of a block, in order of the frequencies, in place. */
void transform_in_f64(double *re, double *im, uint64_t points);

#endif
