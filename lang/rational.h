/* SPDX-License-Identifier: MIT */
/*
 * rational: exact fractions of 64-bit numbers.  Pure functions, for both halves.
 *
 * Arithmetic is overflow-checked: a function returns false, and leaves `out` as it is, where a term of
 * the result in lowest terms does not fit.  The verifier of the loader does not use this file.
 */
#ifndef LANG_RATIONAL_H
#define LANG_RATIONAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arithmetic.h"

/* In lowest terms, denominator > 0; equal numbers have equal terms.  All zero: not known. */
struct rational {
    int64_t numerator, denominator;
};

__extension__ typedef __int128 rational_wide;

static inline bool rational_is_known(struct rational x)
{
    return x.denominator != 0;
}

static inline bool rational_equal(struct rational a, struct rational b)
{
    return a.numerator == b.numerator && a.denominator == b.denominator;
}

/* numerator / denominator, which is not 0; both are above -2^127. */
static inline bool rational_of(rational_wide numerator, rational_wide denominator,
                               struct rational *out)
{
    rational_wide a = numerator < 0 ? -numerator : numerator;
    rational_wide b = denominator < 0 ? -denominator : denominator;
    while (b != 0) {
        rational_wide rest = a % b;
        a = b;
        b = rest;
    }
    if (denominator < 0) a = -a;
    numerator /= a;
    denominator /= a;
    if (numerator > INT64_MAX || numerator < INT64_MIN || denominator > INT64_MAX) return false;
    *out = (struct rational){(int64_t)numerator, (int64_t)denominator};
    return true;
}

/* x times up / down; x is known and not negative.  False also where `down` is 0. */
static inline bool rational_scale(struct rational x, uint64_t up, uint64_t down,
                                  struct rational *out)
{
    if (down == 0) return false;
    uint64_t common = gcd64(up, down);
    up /= common;
    down /= common;
    uint64_t across = gcd64((uint64_t)x.numerator, down),
             along = gcd64(up, (uint64_t)x.denominator);
    struct rational result;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): `down` and the denominator are not 0, so neither are their divisors */
    if (__builtin_mul_overflow((uint64_t)x.numerator / across, up / along, &result.numerator) ||
        __builtin_mul_overflow((uint64_t)x.denominator / along, down / across, &result.denominator))
        return false;
    *out = result;
    return true;
}

#endif
