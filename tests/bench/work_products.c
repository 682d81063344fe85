/* SPDX-License-Identifier: MIT */
/* P2 and P4: sums of products (correlate.pipe, matrices.pipe). */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

/* ---- P2 ---- */

enum { LAGS = 32, BLOCK = 32, AT_ONCE = REGISTERS / 8 /* blocks */, LAG_VECTORS = LAGS / LANES };

#define UNIT ((size_t)16) /* blocks, or products of matrices */

static struct bench_shape shape_correlate(size_t units)
{
    size_t blocks = units * UNIT, packets = blocks * BLOCK + LAGS - 1;
    return (struct bench_shape){packets, packets * sizeof(float), blocks * LAGS * sizeof(float),
                                2.0 * BLOCK * LAGS * (double)blocks};
}

static void prepare_correlate(size_t units, void *in)
{
    bench_noise(in, units * UNIT * BLOCK + LAGS - 1);
}

/* Neighbouring lags in the lanes: they see neighbouring packets. */
static size_t hand_correlate(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = units * UNIT / parts, first = share * part;
    for (size_t block = first; block < first + share; block += AT_ONCE) {
        const float *x = (const float *)in + block * BLOCK;
        float *y = (float *)out + block * LAGS;
        lanes sum[AT_ONCE][LAG_VECTORS];
#pragma GCC unroll 32
        for (size_t i = 0; i < BLOCK; i++)
#pragma GCC unroll 4
            for (size_t b = 0; b < AT_ONCE; b++)
#pragma GCC unroll 4
                for (size_t v = 0; v < LAG_VECTORS; v++) {
                    const float *at = x + b * BLOCK + i;
                    lanes product = lanes_all(*at) * lanes_load(at + LANES * v);
                    sum[b][v] = i == 0 ? product : sum[b][v] + product;
                }
#pragma GCC unroll 4
        for (size_t b = 0; b < AT_ONCE; b++)
#pragma GCC unroll 4
            for (size_t v = 0; v < LAG_VECTORS; v++)
                lanes_store(y + b * LAGS + LANES * v, sum[b][v] * (1.0f / BLOCK));
    }
    return units * UNIT * LAGS * sizeof(float);
}

/* ---- P4 ---- */

enum { SIDE = 10, MATRIX = SIDE * SIDE, ROWS = REGISTERS == 32 ? SIDE : SIDE / 2 /* at a time */ };

/* A row, and packets after it that do not count. */
typedef float row __attribute__((vector_size(64)));
typedef float row_loose __attribute__((vector_size(64), aligned(4), may_alias));

static struct bench_shape shape_matrices(size_t units)
{
    size_t packets = units * UNIT * MATRIX, bytes = packets * sizeof(float);
    return (struct bench_shape){packets, 2 * bytes, bytes, 2.0 * SIDE * (double)packets};
}

static void prepare_matrices(size_t units, void *in)
{
    bench_noise(in, units * UNIT * MATRIX * 2);
}

LANES_INLINE row row_fma(float a, row b, row c)
{
#ifdef __AVX512F__
    return _mm512_fmadd_ps(_mm512_set1_ps(a), b, c);
#else
    union {
        row whole;
        __m256 half[2];
    } x = {.whole = b}, y = {.whole = c};
    for (int i = 0; i < 2; i++)
        y.half[i] = _mm256_fmadd_ps(_mm256_set1_ps(a), x.half[i], y.half[i]);
    return y.whole;
#endif
}

/* Rows of a by all of b, up to their last row: each store is completed by the one after it. */
LANES_INLINE void multiply_rows(const float *a, const float *b, float *c, bool last)
{
    row sum[ROWS] = {0};
#pragma GCC unroll 10
    for (size_t k = 0; k < SIDE; k++) {
        row line = *(const row_loose *)(b + SIDE * k);
#pragma GCC unroll 10
        for (size_t i = 0; i < ROWS; i++)
            sum[i] = row_fma(a[SIDE * i + k], line, sum[i]);
    }
#pragma GCC unroll 10
    for (size_t i = 0; i < ROWS; i++)
        if (last && i + 1 == ROWS)
            memcpy(c + SIDE * i, &sum[i], SIDE * sizeof *c);
        else
            *(row_loose *)(c + SIDE * i) = sum[i];
}

static size_t hand_matrices(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    size_t all = units * UNIT, share = all / parts, first = share * part;
    for (size_t m = first; m < first + share; m++) {
        const float *a = (const float *)in + m * MATRIX, *b = a + all * MATRIX;
        float *c = (float *)out + m * MATRIX;
        for (size_t i = 0; i < SIDE; i += ROWS)
            multiply_rows(a + SIDE * i, b, c + SIDE * i, i + ROWS == SIDE);
    }
    return all * MATRIX * sizeof(float);
}

const struct bench_workload bench_correlate = {
    .name = "P2 autocorrelation, 32 lags",
    .container = "correlate.pbc",
    .program = true,
    .units = (size_t)16 << 10,
    .check_units = 8,
    .goal = 1.1,
    .shape = shape_correlate,
    .prepare = prepare_correlate,
    .hand = hand_correlate,
};

const struct bench_workload bench_matrices = {
    .name = "P4 products of 10 x 10",
    .container = "matrices.pbc",
    .program = true,
    .units = (size_t)4 << 10,
    .check_units = 4,
    .goal = 1.1,
    .shape = shape_matrices,
    .prepare = prepare_matrices,
    .hand = hand_matrices,
};
