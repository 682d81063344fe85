/* SPDX-License-Identifier: MIT */
/*
 * transform: the discrete Fourier transform of a block, as statements of a kernel, and in f64.
 *
 * A block is two arrays, real and imaginary parts.  The forward transform splits it until rows of TRANSFORM_ROW
 * packets are left (decimation in frequency: Gentleman and Sande, "Fast Fourier transforms: for fun and profit",
 * AFIPS 1966).  The last forward step, the multiplication and the first step back work on one row at a time.  The
 * other steps back reverse the forward ones (Cooley and Tukey, 1965).  So no values are reordered: place p of the
 * product is frequency transform_frequency(points, p).
 *
 * The result is each packet, or one packet in `every`, a power of two up to TRANSFORM_ROW.  Then only these packets
 * are computed, and they are stored without gaps.
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

/* Multiplies each place of the block by its factor.  The factor of place row * TRANSFORM_ROW + k is item k * points / TRANSFORM_ROW + row. */
struct transform_product {
    struct transform_pair factors; /* constant arrays of `points` */
    struct transform_pair
        to; /* arrays of `points / every`; may be the block itself if `every` is 1 */
};

struct transform {
    struct expr_build tree;
    enum scalar_type scalar;
    uint64_t points; /* a power of two, TRANSFORM_POINTS_MIN .. TRANSFORM_POINTS_MAX */
    uint64_t every;
    uint32_t names;
    /* Roots of 1 that have been needed, by doublings of the block's length and by multiple. */
    struct transform_pair roots[TRANSFORM_DOUBLINGS_MAX + 1][TRANSFORM_RADIX_MAX];
};

/* Declares two arrays of zeros. */
struct transform_pair transform_arrays(struct transform *t, struct build_list *list,
                                       uint64_t count);
/* Appends the forward transform, without the steps on rows. */
void transform_forward(struct transform *t, struct build_list *list, struct transform_pair block);
/* Appends the steps on each row: forward, `count` products of the same block, and back. */
void transform_multiply(struct transform *t, struct build_list *list, struct transform_pair block,
                        const struct transform_product *products, size_t count);
/* Appends the other steps back.  The result is not divided by `points`. */
void transform_back(struct transform *t, struct build_list *list, struct transform_pair block);

/* The number of arithmetic operations, those on rows included. */
uint64_t transform_forward_operations(uint64_t points);
uint64_t transform_back_operations(uint64_t points, uint64_t every);

/* The frequency at place `place` of a transformed block of `points`. */
uint64_t transform_frequency(uint64_t points, uint64_t place);
/* Transforms a block in place; the result is in order of the frequencies. */
void transform_in_f64(double *re, double *im, uint64_t points);

#endif
