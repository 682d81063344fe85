/* SPDX-License-Identifier: MIT */
/* W6 and P3: blocks in the lanes: Fourier transforms and a sorting network (fourier.pipe, bitonic.pipe, fourier16.pipe). */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

#include <math.h>

enum { POINTS = 256, STAGES = 8, FEW_POINTS = 16, FEW_STAGES = 4, SORTED = 32 };

#define UNIT ((size_t)16) /* blocks */

/* ---- Fourier transform ---- */

static float root_re[STAGES][POINTS / 2], root_im[STAGES][POINTS / 2];
static size_t reversed[POINTS];

static struct bench_shape shape_transforms(size_t units, size_t points, size_t stages)
{
    size_t packets = units * UNIT * points, bytes = packets * 2 * sizeof(float);
    /* A butterfly: 2 products, 2 fma and 4 additions. */
    return (struct bench_shape){packets, bytes, bytes, 5.0 * (double)(stages * packets)};
}

static struct bench_shape shape_fourier(size_t units)
{
    return shape_transforms(units, POINTS, STAGES);
}

static struct bench_shape shape_fourier16(size_t units)
{
    return shape_transforms(units, FEW_POINTS, FEW_STAGES);
}

static void prepare_transforms(void)
{
    for (int s = 0; s < STAGES; s++) {
        int half = 1 << s;
        for (int k = 0; k < half; k++) {
            root_re[s][k] = (float)cos(3.14159265358979323846 * (double)k / half);
            root_im[s][k] = (float)-sin(3.14159265358979323846 * (double)k / half);
        }
    }
    for (size_t i = 0; i < POINTS; i++) {
        reversed[i] = 0;
        for (size_t bit = 1; bit < POINTS; bit *= 2)
            reversed[i] = 2 * reversed[i] + ((i & bit) != 0 ? 1 : 0);
    }
}

static void prepare_fourier(size_t units, void *in)
{
    bench_noise(in, units * UNIT * POINTS * 2);
    prepare_transforms();
}

static void prepare_fourier16(size_t units, void *in)
{
    bench_noise(in, units * UNIT * FEW_POINTS * 2);
    prepare_transforms();
}

struct point {
    lanes re, im;
};

LANES_INLINE void butterfly(struct point *a, struct point *b, lanes re, lanes im)
{
    struct point t = {lanes_fms(re, b->re, im * b->im), lanes_fma(re, b->im, im * b->re)};
    *b = (struct point){a->re - t.re, a->im - t.im};
    *a = (struct point){a->re + t.re, a->im + t.im};
}

/* Stages s and s + 1 of the butterflies whose first point is k modulo 1 << s. */
LANES_INLINE void two_stages(struct point *p, size_t points, int s, size_t k)
{
    size_t half = (size_t)1 << s;
    lanes re = lanes_all(root_re[s][k]), im = lanes_all(root_im[s][k]);
    lanes near_re = lanes_all(root_re[s + 1][k]), near_im = lanes_all(root_im[s + 1][k]);
    lanes far_re = lanes_all(root_re[s + 1][k + half]),
          far_im = lanes_all(root_im[s + 1][k + half]);
    for (size_t g = k; g < points; g += 4 * half) {
        struct point a = p[g], b = p[g + half], c = p[g + 2 * half], d = p[g + 3 * half];
        butterfly(&a, &b, re, im);
        butterfly(&c, &d, re, im);
        butterfly(&a, &c, near_re, near_im);
        butterfly(&b, &d, far_re, far_im);
        p[g] = a, p[g + half] = b, p[g + 2 * half] = c, p[g + 3 * half] = d;
    }
}

/* LANES blocks. */
static void transform(const float *in, float *out)
{
    struct point p[POINTS];
    for (size_t i = 0; i < POINTS; i += LANES / 2) {
        lanes r[LANES];
        lanes_gather(r, in + 2 * i, 2 * POINTS, LANES);
        for (size_t j = 0; j < LANES / 2; j++)
            p[reversed[i + j]] = (struct point){r[2 * j], r[2 * j + 1]};
    }
    for (int s = 0; s < STAGES; s += 2)
        for (size_t k = 0; k < (size_t)1 << s; k++)
            two_stages(p, POINTS, s, k);
    for (size_t i = 0; i < POINTS; i += LANES / 2)
        lanes_scatter(out + 2 * i, 2 * POINTS, &p[i].re, LANES);
}

static size_t hand_fourier(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = units * UNIT / parts, first = share * part;
    for (size_t b = first; b < first + share; b += LANES)
        transform((const float *)in + b * POINTS * 2, (float *)out + b * POINTS * 2);
    return units * UNIT * POINTS * 2 * sizeof(float);
}

/* The same with points that fit into the registers, or nearly. */
static void transform_few(const float *in, float *out)
{
    struct point p[FEW_POINTS];
    lanes r[2 * FEW_POINTS];
    lanes_gather(r, in, 2 * FEW_POINTS, 2 * FEW_POINTS);
#pragma GCC unroll 16
    for (size_t i = 0; i < FEW_POINTS; i++) {
        size_t from = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | i >> 3;
        p[i] = (struct point){r[2 * from], r[2 * from + 1]};
    }
#pragma GCC unroll 2
    for (int s = 0; s < FEW_STAGES; s += 2)
#pragma GCC unroll 4
        for (size_t k = 0; k < (size_t)1 << s; k++)
            two_stages(p, FEW_POINTS, s, k);
    lanes_scatter(out, 2 * FEW_POINTS, &p[0].re, 2 * FEW_POINTS);
}

static size_t hand_fourier16(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = units * UNIT / parts, first = share * part;
    for (size_t b = first; b < first + share; b += LANES)
        transform_few((const float *)in + b * FEW_POINTS * 2, (float *)out + b * FEW_POINTS * 2);
    return units * UNIT * FEW_POINTS * 2 * sizeof(float);
}

static __attribute__((noinline)) void whole_reverse(const float *restrict x, float *restrict y,
                                                    size_t blocks)
{
    for (size_t b = 0; b < blocks; b++, x += 2 * POINTS, y += 2 * POINTS)
        for (size_t i = 0; i < POINTS; i++)
            memcpy(y + 2 * i, x + 2 * reversed[i], 2 * sizeof *y);
}

static __attribute__((noinline)) void whole_stage(const float *restrict x, float *restrict y, int s,
                                                  size_t blocks)
{
    size_t half = (size_t)1 << s;
    for (size_t g = 0; g < blocks * POINTS; g += 2 * half)
        for (size_t k = 0; k < half; k++) {
            const float *a = x + 2 * (g + k), *b = a + 2 * half;
            float *to = y + 2 * (g + k), re = root_re[s][k], im = root_im[s][k];
            float t_re = __builtin_fmaf(re, b[0], -(im * b[1]));
            float t_im = __builtin_fmaf(re, b[1], im * b[0]);
            to[0] = a[0] + t_re;
            to[1] = a[1] + t_im;
            to[2 * half] = a[0] - t_re;
            to[2 * half + 1] = a[1] - t_im;
        }
}

static void unfused_fourier(size_t units, const void *in, void *out)
{
    size_t bytes = units * UNIT * POINTS * 2 * sizeof(float);
    float *from = bench_spare(0, bytes), *spare = bench_spare(1, bytes);
    whole_reverse(in, from, units * UNIT);
    for (int s = 0; s < STAGES; s++) {
        float *to = s == STAGES - 1 ? out : spare;
        whole_stage(from, to, s, units * UNIT);
        spare = from;
        from = to;
    }
}

/* ---- sorting ---- */

static struct bench_shape shape_bitonic(size_t units)
{
    size_t packets = units * UNIT * SORTED, bytes = packets * sizeof(float);
    return (struct bench_shape){packets, bytes, bytes, 15.0 * (double)packets};
}

static void prepare_bitonic(size_t units, void *in)
{
    bench_noise(in, units * UNIT * SORTED);
}

/* LANES blocks, in registers. */
static void sort(const float *in, float *out)
{
    lanes v[SORTED];
    lanes_gather(v, in, SORTED, SORTED);
#pragma GCC unroll 8
    for (size_t run = 2; run <= SORTED; run *= 2)
#pragma GCC unroll 8
        for (size_t apart = run / 2; apart > 0; apart /= 2)
#pragma GCC unroll 32
            for (size_t i = 0; i < SORTED; i++) {
                size_t other = i ^ apart;
                if (other < i) continue;
                lanes least = lanes_min(v[i], v[other]), most = lanes_max(v[i], v[other]);
                v[i] = (i & run) == 0 ? least : most;
                v[other] = (i & run) == 0 ? most : least;
            }
    lanes_scatter(out, SORTED, v, SORTED);
}

static size_t hand_bitonic(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = units * UNIT / parts, first = share * part;
    for (size_t b = first; b < first + share; b += LANES)
        sort((const float *)in + b * SORTED, (float *)out + b * SORTED);
    return units * UNIT * SORTED * sizeof(float);
}

static __attribute__((noinline)) void whole_compare(const float *restrict x, float *restrict y,
                                                    size_t run, size_t apart, size_t packets)
{
    for (size_t b = 0; b < packets; b += SORTED)
        for (size_t i = 0; i < SORTED; i++) {
            float a = x[b + i], c = x[b + (i ^ apart)], least = a < c ? a : c;
            y[b + i] = ((i & apart) == 0) == ((i & run) == 0) ? least : a < c ? c : a;
        }
}

static void unfused_bitonic(size_t units, const void *in, void *out)
{
    size_t packets = units * UNIT * SORTED;
    const float *from = in;
    float *spares[2] = {bench_spare(0, packets * sizeof(float)),
                        bench_spare(1, packets * sizeof(float))};
    unsigned step = 0;
    for (size_t run = 2; run <= SORTED; run *= 2)
        for (size_t apart = run / 2; apart > 0; apart /= 2) {
            float *to = run == SORTED && apart == 1 ? out : spares[step++ % 2];
            whole_compare(from, to, run, apart, packets);
            from = to;
        }
}

const struct bench_workload bench_fourier = {
    .name = "W6 Fourier transforms of 256",
    .container = "fourier.pbc",
    .units = (size_t)4 << 10,
    .check_units = 4,
    .goal = 1.2,
    .shape = shape_fourier,
    .prepare = prepare_fourier,
    .hand = hand_fourier,
    .unfused = unfused_fourier,
};

const struct bench_workload bench_fourier16 = {
    .name = "P3 Fourier transforms of 16",
    .container = "fourier16.pbc",
    .program = true,
    .units = (size_t)32 << 10,
    .check_units = 20,
    .goal = 1.1,
    .shape = shape_fourier16,
    .prepare = prepare_fourier16,
    .hand = hand_fourier16,
};

const struct bench_workload bench_bitonic = {
    .name = "W6/sort bitonic, blocks of 32",
    .container = "bitonic.pbc",
    .units = (size_t)64 << 10,
    .check_units = 40,
    .goal = 1.2,
    .shape = shape_bitonic,
    .prepare = prepare_bitonic,
    .hand = hand_bitonic,
    .unfused = unfused_bitonic,
};
