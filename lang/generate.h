/* SPDX-License-Identifier: MIT */
/*
 * generate: streams that everyone can make alike: `gen:` of piperun, `ramp` and `noise` of tests.
 * Packet n (from 0) of k-bit packets is:
 *
 *   ramp   integers  n mod 2^k, as two's complement in the signed types
 *          bool      n mod 2
 *          floats    n, rounded to nearest, ties to even
 *   noise  z is output n of SplitMix64 with the seed S:
 *            z = S + (n + 1) * 0x9E3779B97F4A7C15
 *            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
 *            z = (z ^ (z >> 27)) * 0x94D049BB133111EB
 *            z = z ^ (z >> 31)                               all mod 2^64
 *          integers  the k highest bits of z, as two's complement in the signed types
 *          bool      the highest bit of z
 *          f16       ((z >> 53) - 2^10) / 2^10
 *          bf16      ((z >> 56) - 2^7) / 2^7
 *          f32       ((z >> 40) - 2^23) / 2^23
 *          f64       ((z >> 11) - 2^52) / 2^52               all in [-1, 1), exact
 *
 * so that a program in any language can make the same stream.  Functions give the low bits of a
 * packet, as storage has them.  Pure.
 */
#ifndef LANG_GENERATE_H
#define LANG_GENERATE_H

#include <stdint.h>
#include <string.h>

#include "lang/half.h"
#include "lang/scalar.h"

static inline bool generate_is_half(enum scalar_type type)
{
    return type == SCALAR_F16 || type == SCALAR_BF16;
}

static inline uint64_t generate_float_bits(enum scalar_type type, double value)
{
    uint64_t bits = 0;
    float narrow = (float)value;
    if (generate_is_half(type)) return half_of_f64(value, type == SCALAR_BF16);
    if (type == SCALAR_F32)
        memcpy(&bits, &narrow, sizeof narrow);
    else
        memcpy(&bits, &value, sizeof value);
    return bits;
}

static inline uint64_t generate_ramp(enum scalar_type type, uint64_t n)
{
    uint64_t bits = 0;
    float rounded_once = (float)n;
    if (type == SCALAR_BOOL) return n & 1;
    if (type == SCALAR_F64) return generate_float_bits(type, (double)n);
    if (generate_is_half(type)) return generate_float_bits(type, half_integer_to_odd(n, false));
    if (type != SCALAR_F32) return n;
    memcpy(&bits, &rounded_once, sizeof rounded_once);
    return bits;
}

/* The `digits` highest bits of z as a fraction in [-1, 1). */
static inline uint64_t generate_fraction(enum scalar_type type, uint64_t z, int digits)
{
    int64_t half = INT64_C(1) << (digits - 1);
    return generate_float_bits(type, (double)((int64_t)(z >> (64 - digits)) - half) / (double)half);
}

static inline uint64_t generate_noise(enum scalar_type type, uint64_t seed, uint64_t n)
{
    uint64_t z = seed + (n + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    switch (type) {
    case SCALAR_BOOL: return z >> 63;
    case SCALAR_F16: return generate_fraction(type, z, 11);
    case SCALAR_BF16: return generate_fraction(type, z, 8);
    case SCALAR_F32: return generate_fraction(type, z, 24);
    case SCALAR_F64: return generate_fraction(type, z, 53);
    default: return z >> (64 - 8 * scalar_width_bytes(type));
    }
}

#endif
