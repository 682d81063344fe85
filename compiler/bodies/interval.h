/* SPDX-License-Identifier: MIT */
/*
 * interval: ranges of integers, and the operations of the language on them.
 *
 * Sound: if the values of the operands are inside their intervals, the result is inside its own.
 * Reference: Cousot & Cousot, "Abstract interpretation", POPL 1977; Warren, "Hacker's Delight",
 * chapter 4 (bounds of bitwise operations).
 */
#ifndef PIPEC_INTERVAL_H
#define PIPEC_INTERVAL_H

#include <stdbool.h>

#include "compiler/ir/kernel.h"

/* Wide enough for every 64-bit integer of either sign and one operation on two of them. */
__extension__ typedef __int128 wide;

struct interval {
    wide low, high; /* low <= high */
};

#define INTERVAL_MIN (-((wide)1 << 64))
#define INTERVAL_MAX ((wide)1 << 64)
#define INTERVAL_ALL ((struct interval){INTERVAL_MIN, INTERVAL_MAX})

struct interval interval_join(struct interval a, struct interval b);
/* Where they do not overlap: `a`. */
struct interval interval_meet(struct interval a, struct interval b);
bool interval_overlaps(struct interval a, struct interval b);
bool interval_contains(struct interval outer, struct interval inner);
bool interval_is(struct interval a, int64_t value);
/* Certainly not zero. */
bool interval_is_true(struct interval a);
/* Of a scalar; of an array or vector: of its scalars. */
struct interval interval_of_type(const struct type *whole);
struct interval interval_of_value(struct scalar_value value);
/* The result in `type` of an operation with the exact result `i`: `i` itself, or all values of the
 * type where it may wrap. */
struct interval interval_wrapped(struct interval i, const struct type *type);
/* The exact result, not wrapped; INTERVAL_ALL where it is not known. */
struct interval interval_binary(enum kx_op op, struct interval a, struct interval b,
                                const struct type *type);
/* 0, 1 or both. */
struct interval interval_compare(enum kx_op op, struct interval a, struct interval b);
struct interval interval_truth(struct interval a);
struct interval interval_convert(struct interval a, const struct type *from, const struct type *to);

#endif
