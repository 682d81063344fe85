/* SPDX-License-Identifier: MIT */
/*
 * half: f16 (binary16) and bf16, the types that are stored only, as bits.
 *
 * Both halves of the project convert with these, so that constants, files and compiled kernels
 * agree in every bit.  Widening is exact.  Narrowing rounds to nearest, ties to even, and gives the
 * canonical NaN for every NaN.  Pure functions.
 */
#ifndef LANG_HALF_H
#define LANG_HALF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float half_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t half_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float half_from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, magnitude = half & 0x7fff;
    uint32_t moved = magnitude << 13; /* exponent and fraction in place: the value x 2^-112 */
    if (magnitude >= 0x7c00) return half_float_of_bits(sign | 0x7f800000 | moved);
    float scaled = half_float_of_bits(moved) * half_float_of_bits(0x77800000); /* 2^112 */
    return half_float_of_bits(half_bits_of_float(scaled) | sign);
}

static inline float half_from_bf16(uint16_t half)
{
    return half_float_of_bits((uint32_t)half << 16);
}

/* To the nearest multiple of 2^shift, ties to even, divided by it. */
static inline uint32_t half_round_bits(uint32_t bits, unsigned shift)
{
    uint32_t odd = bits >> shift & 1;
    return (bits + ((UINT32_C(1) << (shift - 1)) - 1) + odd) >> shift;
}

static inline uint16_t half_to_f16(float value)
{
    uint32_t bits = half_bits_of_float(value), magnitude = bits & 0x7fffffff, result;
    if (magnitude > 0x7f800000) return 0x7e00;
    if (magnitude >= 0x47800000) { /* 65536 and more */
        result = 0x7c00;
    } else if (magnitude < 0x38800000) { /* below 2^-14: the addition rounds at the last bit */
        float sum = half_float_of_bits(magnitude) + 0.5f;
        result = half_bits_of_float(sum) - 0x3f000000;
    } else {
        result = half_round_bits(magnitude - 0x38000000, 13);
    }
    return (uint16_t)(result | (bits >> 16 & 0x8000));
}

static inline uint16_t half_to_bf16(float value)
{
    if (value != value) return 0x7fc0;
    return (uint16_t)half_round_bits(half_bits_of_float(value), 16);
}

/* f64 to f32, inexact values to the neighbour whose last bit is odd: rounding that again, to fewer
 * bits, gives what rounding once would. */
static inline float half_round_to_odd(double value)
{
    float nearest = (float)value;
    double back = (double)nearest;
    if (back == value || value != value) return nearest;
    uint32_t bits = half_bits_of_float(nearest);
    if (fabs(back) > fabs(value)) bits--;
    return half_float_of_bits(bits | 1);
}

/* An integer as f64; where it has more than 53 bits, the last one kept says whether others were
 * lost, so that rounding again gives what rounding once would. */
static inline double half_integer_to_odd(uint64_t bits, bool is_signed)
{
    const uint64_t exact = UINT64_C(1) << 53, lost = 0xfff;
    bool is_large = is_signed ? bits + exact > 2 * exact : bits > exact;
    if (is_large) bits = (bits & ~lost) | ((bits & lost) != 0 ? (lost + 1) / 2 : 0);
    return is_signed ? (double)(int64_t)bits : (double)bits;
}

/* An f64 rounded once. */
static inline uint16_t half_of_f64(double value, bool is_bf16)
{
    float single = half_round_to_odd(value);
    return is_bf16 ? half_to_bf16(single) : half_to_f16(single);
}

#endif
