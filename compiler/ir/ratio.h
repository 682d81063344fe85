/* SPDX-License-Identifier: MIT */
/*
 * ratio: 128-bit arithmetic that the analyses share.  Pure functions.
 */
#ifndef PIPEC_RATIO_H
#define PIPEC_RATIO_H

#include "base/arithmetic.h"
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

#endif
