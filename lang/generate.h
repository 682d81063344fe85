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
 *          f32       ((z >> 40) - 2^23) / 2^23               in [-1, 1), exact
 *          f64       ((z >> 11) - 2^52) / 2^52               in [-1, 1), exact
 *
 * so that a program in any language can make the same stream.  f16 and bf16 are not generated.
 * Functions give the low bits of a packet, as storage has them.  Pure.
 */
#ifndef LANG_GENERATE_H
#define LANG_GENERATE_H

#include <stdint.h>
#include <string.h>

#include "lang/scalar.h"

static inline bool generate_makes(enum scalar_type type)
{
    return type != SCALAR_F16 && type != SCALAR_BF16;
}

static inline uint64_t generate_float_bits(enum scalar_type type, double value)
{
    uint64_t bits = 0;
    float narrow = (float)value;
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
    if (type != SCALAR_F32) return n;
    memcpy(&bits, &rounded_once, sizeof rounded_once);
    return bits;
}

static inline uint64_t generate_noise(enum scalar_type type, uint64_t seed, uint64_t n)
{
    uint64_t z = seed + (n + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    if (type == SCALAR_BOOL) return z >> 63;
    if (type == SCALAR_F32)
        return generate_float_bits(type,
                                   (double)((int64_t)(z >> 40) - (INT64_C(1) << 23)) / 0x1p23);
    if (type == SCALAR_F64)
        return generate_float_bits(type,
                                   (double)((int64_t)(z >> 11) - (INT64_C(1) << 52)) / 0x1p52);
    return z >> (64 - 8 * scalar_width_bytes(type));
}

#endif
