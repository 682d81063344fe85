/* SPDX-License-Identifier: MIT */
/*
 * peer_stages: the kernels of tests/bench/pipes as C++ functions over blocks, in the form
 * that suits a library: plain loops that compilers vectorise, each of them a
 * pass over its block, and the bits of ours.  `n` counts outputs unless said otherwise; a filter reads
 * `x` beyond `n` as its window wants it.
 */
#ifndef TESTS_BENCH_PEERS_PEER_STAGES_H
#define TESTS_BENCH_PEERS_PEER_STAGES_H

#include "tests/bench/peers/peer_taps.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#define PEER_STAGE [[gnu::noinline]] inline

/* ---- W1, W7, W8 ---- */

PEER_STAGE void peer_affine(const float *__restrict x, float *__restrict y, size_t n, float a,
                            float b)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * a + b;
}

PEER_STAGE void peer_add(const float *__restrict x, float *__restrict y, size_t n, float c)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] + c;
}

PEER_STAGE void peer_iir(const float *__restrict x, float *__restrict y, size_t n, float *back)
{
    float last = *back;
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] + last;
        last = 0.75f * y[i];
    }
    *back = last;
}

/* ---- filters of PEER_TAPS taps: W2, W3 ---- */

/* One output in STEP floats, taps DISTANCE floats apart.  The floats are dealt out to STEP phases,
 * so that neighbouring outputs read neighbouring floats. */
template <size_t STEP, size_t DISTANCE>
PEER_STAGE void peer_fir(const float *__restrict x, float *__restrict y, size_t n,
                         const float *taps)
{
    constexpr size_t BLOCK = 64, MORE = ((PEER_TAPS - 1) * DISTANCE) / STEP;
    for (size_t i = 0; i < n; i += BLOCK) {
        alignas(64) float dealt[STEP][BLOCK + MORE + 1], sum[BLOCK] = {};
        size_t count = n - i < BLOCK ? n - i : BLOCK,
               floats = (count - 1) * STEP + (PEER_TAPS - 1) * DISTANCE + 1;
        const float *phase[STEP];
        if (STEP == 1 && count == BLOCK) {
            phase[0] = x + i;
        } else {
            size_t at = 0;
            for (; (at + 1) * STEP <= floats; at++)
                for (size_t p = 0; p < STEP; p++)
                    dealt[p][at] = x[i * STEP + at * STEP + p];
            for (size_t p = 0; at * STEP + p < floats; p++)
                dealt[p][at] = x[i * STEP + at * STEP + p];
            for (size_t p = 0; p < STEP; p++)
                phase[p] = dealt[p];
        }
        for (size_t k = 0; k < PEER_TAPS; k++) {
            const float *from = phase[k * DISTANCE % STEP] + k * DISTANCE / STEP;
            float tap = taps[k];
            for (size_t j = 0; j < BLOCK; j++)
                sum[j] = __builtin_fmaf(from[j], tap, sum[j]);
        }
        memcpy(y + i, sum, count * sizeof *y);
    }
}

/* PEER_BANK outputs for each input, of the filter over the inputs with PEER_BANK - 1 zeros after each. */
PEER_STAGE void peer_fir_stuffed(const float *__restrict x, float *__restrict y, size_t inputs,
                                 const float *taps)
{
    constexpr size_t TERMS = PEER_TAPS / PEER_BANK;
    float of[TERMS][PEER_BANK];
    for (size_t p = 0; p < PEER_BANK; p++)
        for (size_t t = 0; t < TERMS; t++)
            of[t][p] = taps[(PEER_BANK - p) % PEER_BANK + t * PEER_BANK];
    for (size_t q = 0; q < inputs; q++) {
        float sum[PEER_BANK] = {};
        for (size_t t = 0; t < TERMS; t++) {
            float next[PEER_BANK];
            for (size_t p = 0; p < PEER_BANK; p++)
                next[p] = x[q + t + (p > 0)];
            for (size_t p = 0; p < PEER_BANK; p++)
                sum[p] = __builtin_fmaf(next[p], of[t][p], sum[p]);
        }
        memcpy(y + q * PEER_BANK, sum, sizeof sum);
    }
}

/* Sum of `count` streams that are `distance` apart. */
PEER_STAGE void peer_sum(const float *__restrict x, size_t distance, size_t count,
                         float *__restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = 0 + x[i];
    for (size_t s = 1; s < count; s++)
        for (size_t i = 0; i < n; i++)
            y[i] += x[s * distance + i];
}

PEER_STAGE void peer_gain(float *x, size_t n, float by)
{
    for (size_t i = 0; i < n; i++)
        x[i] = by * x[i];
}

/* atan2 of lang/std/math.pipe. */
static inline float peer_atan2(float y4, float x4)
{
    double x = x4, y = y4, ax = __builtin_fabs(x), ay = __builtin_fabs(y);
    bool steep = ay > ax;
    double above = steep ? ax : ay, below = steep ? ay : ax, t = above / below;
    t = above == below ? 1 : t;
    t = below == 0 ? 0 : t;
    double z = t * t, p = 0.00017046040466188239;
    p = __builtin_fma(p, z, -0.0014666686334116588);
    p = __builtin_fma(p, z, 0.0059363765964521222);
    p = __builtin_fma(p, z, -0.01523249190907656);
    p = __builtin_fma(p, z, 0.028410612112699588);
    p = __builtin_fma(p, z, -0.042324616793255394);
    p = __builtin_fma(p, z, 0.054582394542429476);
    p = __builtin_fma(p, z, -0.065362288118493733);
    p = __builtin_fma(p, z, 0.076631773577540779);
    p = __builtin_fma(p, z, -0.090863606607273315);
    p = __builtin_fma(p, z, 0.11110640790649381);
    p = __builtin_fma(p, z, -0.14285684661254053);
    p = __builtin_fma(p, z, 0.1999999901342103);
    p = __builtin_fma(p, z, -0.3333333332025471);
    p = __builtin_fma(p, z, 0.99999999999971001);
    p = t * p;
    p = steep ? 1.5707963267948966 - p : p;
    p = __builtin_copysign(1.0, x) < 0 ? 3.141592653589793 - p : p;
    return (float)__builtin_copysign(p, y);
}

/* `x`: n + 1 complex samples. */
PEER_STAGE void peer_demodulate(const float *__restrict re, const float *__restrict im,
                                float *__restrict y, size_t n, float factor)
{
    for (size_t i = 0; i < n; i++) {
        float a = __builtin_fmaf(re[i + 1], re[i], im[i + 1] * im[i]);
        float b = __builtin_fmaf(im[i + 1], re[i], -(re[i + 1] * im[i]));
        y[i] = factor * peer_atan2(b, a);
    }
}

/* ---- pictures: W4.  A stage gets a band of rows and the row before and after it. ---- */

struct peer_rows {
    const uint8_t *above, *here, *below;
};

static inline size_t peer_clamped(size_t at, size_t width)
{
    return at < width ? at : width - 1;
}

/* A row whose first and last pixel are there twice, as 16 bits. */
static inline void peer_widen(const uint8_t *__restrict row, int16_t *__restrict wide, size_t width)
{
    wide[0] = row[0];
    for (size_t i = 0; i < width; i++)
        wide[i + 1] = row[i];
    wide[width + 1] = row[width - 1];
}

enum { PEER_WIDTH = 1920, PEER_HEIGHT = 1080 };

PEER_STAGE void peer_box(const struct peer_rows *rows, uint8_t *__restrict y)
{
    alignas(64) int16_t sum[PEER_WIDTH + 2];
    const uint8_t *a = rows->above, *b = rows->here, *c = rows->below;
    for (size_t i = 0; i < PEER_WIDTH; i++)
        sum[i + 1] = (int16_t)(a[i] + b[i] + c[i]);
    sum[0] = sum[1];
    sum[PEER_WIDTH + 1] = sum[PEER_WIDTH];
    for (size_t i = 0; i < PEER_WIDTH; i++)
        y[i] = (uint8_t)((uint16_t)(sum[i] + sum[i + 1] + sum[i + 2] + 4) / 9);
}

PEER_STAGE void peer_sobel(const struct peer_rows *rows, uint8_t *__restrict y)
{
    alignas(64) int16_t down[PEER_WIDTH + 2], across[PEER_WIDTH + 2];
    const uint8_t *a = rows->above, *b = rows->here, *c = rows->below;
    for (size_t i = 0; i < PEER_WIDTH; i++) {
        down[i + 1] = (int16_t)(a[i] + 2 * b[i] + c[i]);
        across[i + 1] = (int16_t)(c[i] - a[i]);
    }
    down[0] = down[1], across[0] = across[1];
    down[PEER_WIDTH + 1] = down[PEER_WIDTH], across[PEER_WIDTH + 1] = across[PEER_WIDTH];
    for (size_t i = 0; i < PEER_WIDTH; i++) {
        int16_t dx = (int16_t)(down[i + 2] - down[i]),
                dy = (int16_t)(across[i] + 2 * across[i + 1] + across[i + 2]);
        dx = (int16_t)(dx < 0 ? -dx : dx), dy = (int16_t)(dy < 0 ? -dy : dy);
        int16_t edge = (int16_t)(dx + dy);
        y[i] = (uint8_t)(edge < 255 ? edge : 255);
    }
}

PEER_STAGE void peer_threshold(const uint8_t *__restrict x, uint8_t *__restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] >= 32 ? 255 : 0;
}

/* ---- W5 ---- */

/* Gives how many are kept; `y` has room for 16 more than that. */
PEER_STAGE size_t peer_keep(const float *__restrict x, float *__restrict y, size_t n, float above)
{
    size_t kept = 0, i = 0;
#ifdef __AVX512F__
    for (__m512 level = _mm512_set1_ps(above); i + 16 <= n; i += 16) {
        __m512 v = _mm512_loadu_ps(x + i);
        __mmask16 some = _mm512_cmp_ps_mask(v, level, _CMP_GT_OQ);
        _mm512_storeu_ps(y + kept, _mm512_maskz_compress_ps(some, v));
        kept += (size_t)__builtin_popcount(some);
    }
#endif
    for (; i < n; i++) {
        y[kept] = x[i];
        kept += x[i] > above;
    }
    return kept;
}

/* Three for each of n. */
PEER_STAGE void peer_expand(const float *__restrict x, float *__restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float v = x[i];
        y[3 * i] = v;
        y[3 * i + 1] = v * 0.5f + 0.1f;
        y[3 * i + 2] = v * v;
    }
}

enum { PEER_GROUP = 1536 };

/* Sums of PEER_GROUP packets each, eight groups at once: each sum is made from the first to the last. */
PEER_STAGE void peer_reduce(const float *__restrict x, float *__restrict y, size_t n)
{
    for (size_t g = 0; g < n; g += 8) {
        size_t count = n - g < 8 ? n - g : 8;
        float sum[8];
        for (size_t k = 0; k < count; k++)
            sum[k] = x[(g + k) * PEER_GROUP];
        if (count == 8)
            for (size_t i = 1; i < PEER_GROUP; i++)
                for (size_t k = 0; k < 8; k++)
                    sum[k] += x[(g + k) * PEER_GROUP + i];
        else
            for (size_t k = 0; k < count; k++)
                for (size_t i = 1; i < PEER_GROUP; i++)
                    sum[k] += x[(g + k) * PEER_GROUP + i];
        memcpy(y + g, sum, count * sizeof *y);
    }
}

PEER_STAGE void peer_scan(const float *__restrict x, float *__restrict y, size_t n, float *sum)
{
    float all = *sum;
    for (size_t i = 0; i < n; i++)
        y[i] = all += x[i];
    *sum = all;
}

/* ---- W6 ---- */

enum { PEER_POINTS = 256, PEER_SORTED = 32 };

struct peer_roots { /* of butterflies over half = 1, 2, .. 128, each at [half] */
    float re[PEER_POINTS], im[PEER_POINTS];
};

static inline void peer_roots_fill(struct peer_roots *roots)
{
    for (int half = 1; half < PEER_POINTS; half *= 2)
        for (int k = 0; k < half; k++) {
            roots->re[half + k] = (float)cos(taps_pi * (double)k / half);
            roots->im[half + k] = (float)-sin(taps_pi * (double)k / half);
        }
}

static inline unsigned peer_reversed(unsigned i)
{
    unsigned other = 0;
    for (unsigned bit = 1; bit < PEER_POINTS; bit *= 2)
        other = 2 * other + ((i & bit) != 0);
    return other;
}

/* n blocks. */
PEER_STAGE void peer_reverse(const float *__restrict x, float *__restrict y, size_t n)
{
    static const struct places {
        unsigned of[PEER_POINTS];
        places()
        {
            for (unsigned i = 0; i < PEER_POINTS; i++)
                of[i] = peer_reversed(i);
        }
    } places;
    for (size_t block = 0; block < n; block++, x += 2 * PEER_POINTS, y += 2 * PEER_POINTS)
        for (size_t i = 0; i < PEER_POINTS; i++)
            memcpy(y + 2 * i, x + 2 * places.of[i], 2 * sizeof *y);
}

template <size_t HALF>
PEER_STAGE void peer_butterflies(const float *__restrict x, float *__restrict y, size_t n,
                                 const struct peer_roots *roots)
{
    const float *wr = roots->re + HALF, *wi = roots->im + HALF;
    for (size_t g = 0; g < n * PEER_POINTS; g += 2 * HALF) {
        const float *p = x + 2 * g, *q = p + 2 * HALF;
        float *u = y + 2 * g, *v = u + 2 * HALF;
        for (size_t k = 0; k < HALF; k++) {
            float re = __builtin_fmaf(wr[k], q[2 * k], -(wi[k] * q[2 * k + 1]));
            float im = __builtin_fmaf(wr[k], q[2 * k + 1], wi[k] * q[2 * k]);
            u[2 * k] = p[2 * k] + re, u[2 * k + 1] = p[2 * k + 1] + im;
            v[2 * k] = p[2 * k] - re, v[2 * k + 1] = p[2 * k + 1] - im;
        }
    }
}

template <unsigned K, unsigned J>
PEER_STAGE void peer_compare(const float *__restrict x, float *__restrict y, size_t n)
{
    for (size_t block = 0; block < n; block++, x += PEER_SORTED, y += PEER_SORTED)
        for (unsigned i = 0; i < PEER_SORTED; i++) {
            float a = x[i], b = x[i ^ J];
            bool least = ((i & J) == 0) == ((i & K) == 0);
            y[i] = least ? (a < b ? a : b) : (a < b ? b : a);
        }
}

/* ---- W9: blocks of 16 words ---- */

typedef uint32_t peer_row __attribute__((vector_size(16), aligned(4)));

static inline peer_row peer_rotate(peer_row v, int by)
{
    return v << by | v >> (32 - by);
}

static inline void peer_quarters(peer_row *r)
{
    r[0] += r[1], r[3] = peer_rotate(r[3] ^ r[0], 16);
    r[2] += r[3], r[1] = peer_rotate(r[1] ^ r[2], 12);
    r[0] += r[1], r[3] = peer_rotate(r[3] ^ r[0], 8);
    r[2] += r[3], r[1] = peer_rotate(r[1] ^ r[2], 7);
}

/* The four quarter rounds of the columns are the lanes of one of rows; so are those of the diagonals. */
PEER_STAGE void peer_round(const uint32_t *__restrict x, uint32_t *__restrict y, size_t n)
{
    for (size_t block = 0; block < n; block++, x += 16, y += 16) {
        peer_row r[4];
        memcpy(r, x, sizeof r);
        peer_quarters(r);
        r[1] = __builtin_shufflevector(r[1], r[1], 1, 2, 3, 0);
        r[2] = __builtin_shufflevector(r[2], r[2], 2, 3, 0, 1);
        r[3] = __builtin_shufflevector(r[3], r[3], 3, 0, 1, 2);
        peer_quarters(r);
        r[1] = __builtin_shufflevector(r[1], r[1], 3, 0, 1, 2);
        r[2] = __builtin_shufflevector(r[2], r[2], 2, 3, 0, 1);
        r[3] = __builtin_shufflevector(r[3], r[3], 1, 2, 3, 0);
        memcpy(y, r, sizeof r);
    }
}

/* The key of examples/cipher/chacha20.pipe. */
static const uint32_t peer_start[16] = {
    0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c,
    0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c, 1,          0,          0x4a000000, 0};

PEER_STAGE void peer_blocks(uint32_t *y, size_t first, size_t n)
{
    for (size_t block = 0; block < n; block++) {
        memcpy(y + 16 * block, peer_start, sizeof peer_start);
        y[16 * block + 12] += (uint32_t)(first + block);
    }
}

/* The key is x + start; the text is masked with it. */
PEER_STAGE void peer_sum_words(uint32_t *__restrict x, const uint32_t *__restrict start,
                               size_t words)
{
    for (size_t i = 0; i < words; i++)
        x[i] += start[i];
}

PEER_STAGE void peer_mask(const uint8_t *__restrict text, const uint8_t *__restrict key,
                          uint8_t *__restrict y, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        y[i] = text[i] ^ key[i];
}

#endif
