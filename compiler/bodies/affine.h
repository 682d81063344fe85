/* SPDX-License-Identifier: MIT */
/*
 * affine: integers as linear forms over the indices of a work-item and unknown symbols, and the
 * question whether two items can access the same place.
 *
 * A symbol stands for a value that is not known.  A *stable* one is the same for all items; an
 * unstable one may differ from item to item, so that the same symbol of two items is two unknowns.
 * Forms hold over the integers: the caller that builds one ensures that nothing wraps.
 */
#ifndef PIPEC_AFFINE_H
#define PIPEC_AFFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

enum { AFFINE_TERMS_MAX = 6 };
#define AFFINE_FACTOR_MAX (INT64_C(1) << 26)
#define AFFINE_CONSTANT_MAX (INT64_C(1) << 48)

__extension__ typedef __int128 affine_wide;

struct affine { /* sum of item[d] x item.d, the terms, and the constant */
    int64_t item[3], constant;
    struct affine_term {
        uint32_t symbol;
        int64_t factor;
    } terms[AFFINE_TERMS_MAX];
    uint32_t count;
};

struct affine_symbol {
    affine_wide low, high; /* within -2^65 .. 2^65 */
    bool stable;
};

struct affine_symbols {
    struct arena *arena;
    VEC(struct affine_symbol) all;
};

struct affine affine_constant(int64_t value);
struct affine affine_item(int dimension);
struct affine affine_fresh(struct affine_symbols *symbols, struct affine_symbol symbol);
/* to += scale x more.  False: the result is too large, and `to` is undefined. */
bool affine_add(struct affine *to, const struct affine *more, int64_t scale);
bool affine_equal(const struct affine *a, const struct affine *b);
bool affine_is_constant(const struct affine *form);
/* No item and only stable symbols: the same for all items. */
bool affine_is_stable(const struct affine_symbols *symbols, const struct affine *form);

/* The conditions that hold where an access is executed, as a chain. */
struct affine_guard {
    const struct affine_guard *outer;
    enum { GUARD_AT_MOST_ZERO, GUARD_ZERO, GUARD_CHOICE } kind;
    struct affine form; /* AT_MOST_ZERO: form <= 0; ZERO: form = 0 */
    uint32_t choice;    /* CHOICE: a condition with the same value for all items, and that value */
    bool truth;
};

enum { AFFINE_DIMENSIONS_MAX = 8 };

struct affine_place { /* an element of an array, under guards */
    uint32_t dimensions;
    struct affine index[AFFINE_DIMENSIONS_MAX]; /* each within 0 .. length - 1 */
    uint64_t length[AFFINE_DIMENSIONS_MAX];
    const struct affine_guard *guards;
};

/* Whether two different items of a group of that size may be at `a` and `b` such that these overlap:
 * the indices of the dimensions that both have are equal.  True unless it can be excluded. */
bool affine_may_meet(const struct affine_symbols *symbols, const uint32_t group[3],
                     const struct affine_place *a, const struct affine_place *b);

#endif
