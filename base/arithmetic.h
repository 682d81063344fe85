/* SPDX-License-Identifier: MIT */
/*
 * arithmetic: minimum, maximum, sums, products and multiples of numbers.  Pure functions.
 *
 * Where a result does not fit, the name says what happens: a saturating function stays at UINT64_MAX, a
 * clamped one at 2^63 - 1, and a function that returns bool returns false.
 */
#ifndef BASE_ARITHMETIC_H
#define BASE_ARITHMETIC_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t min32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint64_t min64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t max64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Greatest common divisor; of 0 and b: b. */
static inline uint64_t gcd64(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline void saturating_increase(uint64_t *sum, uint64_t more)
{
    *sum = saturating_add(*sum, more);
}

static inline uint64_t saturating_multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* a + b and a x b below 2^63, else false. */
static inline bool add63(uint64_t a, uint64_t b, uint64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum) && *sum <= INT64_MAX;
}

static inline bool mul63(uint64_t a, uint64_t b, uint64_t *product)
{
    return !__builtin_mul_overflow(a, b, product) && *product <= INT64_MAX;
}

/* For sums that are compared with limits afterwards. */
static inline uint64_t add_clamped(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return add63(a, b, &sum) ? sum : INT64_MAX;
}

static inline uint64_t mul_clamped(uint64_t a, uint64_t b)
{
    uint64_t product;
    return mul63(a, b, &product) ? product : INT64_MAX;
}

/* The first multiple of `unit` from `value` on; false where it does not fit. */
static inline bool align_checked(uint64_t value, uint64_t unit, uint64_t *aligned)
{
    uint64_t rest = value % unit;
    return !__builtin_add_overflow(value, rest == 0 ? 0 : unit - rest, aligned);
}

/* The same; a multiple that does not fit stays at UINT64_MAX. */
static inline uint64_t saturating_align(uint64_t value, uint64_t unit)
{
    uint64_t aligned;
    return align_checked(value, unit, &aligned) ? aligned : UINT64_MAX;
}

/* The same, for values that are known to be far below 2^64. */
static inline uint64_t align_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

#endif
