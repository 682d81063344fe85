/* SPDX-License-Identifier: MIT */
/*
 * lanes: vectors as wide as the machine that compiles has them, for the hand-written code: 16 lanes
 * of 32 bits with AVX-512, else 8 with AVX2.
 *
 * Where a stream can be cut, it is cut into as many segments as there are lanes: what is a
 * neighbour in a lane is a neighbour in memory of vectors, so every load is aligned and nothing is
 * shuffled but at the ends.
 */
#ifndef TESTS_BENCH_LANES_H
#define TESTS_BENCH_LANES_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX512F__
enum { LANES = 16, REGISTERS = 32 };
#else
enum { LANES = 8, REGISTERS = 16 };
#endif

typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef float lanes_loose __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint32_t words __attribute__((vector_size(4 * LANES)));
typedef uint32_t words_loose __attribute__((vector_size(4 * LANES), aligned(1), may_alias));

#define LANES_INLINE static inline __attribute__((always_inline))

LANES_INLINE lanes lanes_load(const float *from)
{
    return *(const lanes_loose *)from;
}

LANES_INLINE void lanes_store(float *to, lanes v)
{
    *(lanes_loose *)to = v;
}

LANES_INLINE lanes lanes_all(float value)
{
    return value - (lanes){0};
}

/* Past the caches: to memory that is not read soon.  to: a multiple of a vector. */
LANES_INLINE void lanes_stream(float *to, lanes v)
{
#ifdef __AVX512F__
    _mm512_stream_ps(to, v);
#else
    _mm256_stream_ps(to, v);
#endif
}

LANES_INLINE lanes lanes_fma(lanes a, lanes b, lanes c)
{
#ifdef __AVX512F__
    return _mm512_fmadd_ps(a, b, c);
#else
    return _mm256_fmadd_ps(a, b, c);
#endif
}

/* ab - c, rounded once. */
LANES_INLINE lanes lanes_fms(lanes a, lanes b, lanes c)
{
#ifdef __AVX512F__
    return _mm512_fmsub_ps(a, b, c);
#else
    return _mm256_fmsub_ps(a, b, c);
#endif
}

LANES_INLINE lanes lanes_min(lanes a, lanes b)
{
#ifdef __AVX512F__
    return _mm512_min_ps(a, b);
#else
    return _mm256_min_ps(a, b);
#endif
}

LANES_INLINE lanes lanes_max(lanes a, lanes b)
{
#ifdef __AVX512F__
    return _mm512_max_ps(a, b);
#else
    return _mm256_max_ps(a, b);
#endif
}

/* The vector that ends `n` lanes before the end of v; `before` is the vector before v.  n: a constant, 1 to LANES / 2. */
#ifdef __AVX512F__
#define LANES_EARLIER(before, v, n)                                                                \
    ((words)_mm512_alignr_epi32((__m512i)(v), (__m512i)(before), 16 - (n)))
#else
#define LANES_MIDDLE(before, v) _mm256_permute2x128_si256((__m256i)(before), (__m256i)(v), 0x21)
#define LANES_EARLIER(before, v, n)                                                                \
    ((words)_mm256_alignr_epi8((__m256i)(v), LANES_MIDDLE(before, v), 16 - 4 * (n)))
#endif

/* Rows become columns. */
LANES_INLINE void lanes_transpose(lanes r[LANES])
{
    lanes t[LANES];
#ifdef __AVX512F__
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
        r[i] = _mm512_shuffle_ps(t[i], t[i + 2], 0x44);
        r[i + 1] = _mm512_shuffle_ps(t[i], t[i + 2], 0xee);
        r[i + 2] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        r[i + 3] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        r[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
        r[i + 4] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88);
        r[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd);
        r[i + 12] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xdd);
    }
#else
    lanes u[LANES];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
        u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
        r[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
    }
#endif
}

/* to[p] = packet p of each segment; segments begin `distance` packets apart.  count: a multiple of
 * LANES. */
LANES_INLINE void lanes_gather(lanes *to, const float *from, size_t distance, size_t count)
{
    for (size_t p = 0; p < count; p += LANES) {
        lanes r[LANES];
        for (size_t s = 0; s < LANES; s++)
            r[s] = lanes_load(from + s * distance + p);
        lanes_transpose(r);
        for (size_t i = 0; i < LANES; i++)
            to[p + i] = r[i];
    }
}

/* Has what lanes_gather will want brought closer, to the second-level cache. */
LANES_INLINE void lanes_expect(const float *from, size_t distance, size_t count)
{
    for (size_t s = 0; s < LANES; s++)
        for (size_t p = 0; p < count; p += 16)
            _mm_prefetch((const char *)(from + s * distance + p), _MM_HINT_T1);
}

/* The inverse of lanes_gather. */
LANES_INLINE void lanes_scatter(float *to, size_t distance, const lanes *from, size_t count)
{
    for (size_t p = 0; p < count; p += LANES) {
        lanes r[LANES];
        for (size_t i = 0; i < LANES; i++)
            r[i] = from[p + i];
        lanes_transpose(r);
        for (size_t s = 0; s < LANES; s++)
            lanes_store(to + s * distance + p, r[s]);
    }
}

/* y[j] = sum of x[j + i] * taps[i] over 64 taps, one fma after the other in order of i: whole
 * buffers, neighbouring outputs in the lanes. */
static inline void lanes_whole_fir(const float *x, float *y, const float *taps, size_t count)
{
    enum { TAPS_64 = 64, AT_ONCE = 4 };
    size_t j = 0;
    for (; j + AT_ONCE * LANES <= count; j += AT_ONCE * LANES) {
        lanes sum[AT_ONCE] = {0};
#pragma GCC unroll 4
        for (size_t i = 0; i < TAPS_64; i++)
#pragma GCC unroll 4
            for (size_t n = 0; n < AT_ONCE; n++)
                sum[n] = lanes_fma(lanes_load(x + j + LANES * n + i), lanes_all(taps[i]), sum[n]);
        for (size_t n = 0; n < AT_ONCE; n++)
            lanes_store(y + j + LANES * n, sum[n]);
    }
    for (; j < count; j++) {
        y[j] = 0;
        for (size_t i = 0; i < TAPS_64; i++)
            y[j] = __builtin_fmaf(x[j + i], taps[i], y[j]);
    }
}

#endif
