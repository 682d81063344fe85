/* SPDX-License-Identifier: MIT */
/*
 * ratio: exact arithmetic that the analyses share.  Pure functions.
 */
#ifndef PIPEC_RATIO_H
#define PIPEC_RATIO_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/rational.h"

__extension__ typedef unsigned __int128 uint128;
__extension__ typedef __int128 int128;

static inline uint128 gcd128(uint128 a, uint128 b)
{
    while (b) {
        uint128 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static inline uint64_t min64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t max64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The number of bits of `value`; 0 has none. */
static inline uint32_t bit_length(uint128 value)
{
    uint32_t count = 0;
    for (; value; value >>= 1)
        count++;
    return count;
}

/* a / b, rounded down. */
static inline int128 floor_divide(int128 a, int128 b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Remainder in 0..g-1, also of a negative number. */
static inline uint64_t floor_mod(int64_t a, uint64_t g)
{
    int64_t rest = (int64_t)((int128)a % (int128)g);
    return rest < 0 ? (uint64_t)(rest + (int64_t)g) : (uint64_t)rest;
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

/* Clamped at 2^63 - 1: for sums that are compared with limits afterwards. */
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

#endif
