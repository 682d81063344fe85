/* SPDX-License-Identifier: MIT */
/* W1 and W7: chains of light kernels (chain8.pipe, chain64.pipe). */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

enum { LIGHT = 8, TINY = 64, VECTORS = 8 /* at a time */, BLOCK = VECTORS * LANES };

#define UNIT ((size_t)1024) /* packets */

/* Run-time arguments in the pipelines, so nothing the C compiler may know. */
static float light_a[LIGHT], light_b[LIGHT], tiny_c[TINY];

static struct bench_shape shape_of(size_t units, double operations)
{
    size_t packets = units * UNIT, bytes = packets * sizeof(float);
    return (struct bench_shape){packets, bytes, bytes, operations * (double)packets};
}

/* ---- W1 ---- */

static struct bench_shape shape_light(size_t units)
{
    return shape_of(units, 2 * LIGHT);
}

static void prepare_light(size_t units, void *in)
{
    bench_noise(in, units * UNIT);
    for (int i = 0; i < LIGHT; i++) {
        light_a[i] = 1 - 0.015625f * (float)i;
        light_b[i] = 0.125f * (float)(i + 1);
    }
}

enum { CHAIN_VECTORS = 4, AHEAD = 4096 /* packets */ };

/* Everything in registers; the output is larger than the caches, so it goes past them.  The input is fetched earlier:
 * else the products would wait for it. */
static size_t hand_light(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = units / parts * UNIT;
    const float *x = (const float *)in + part * share;
    float *y = (float *)out + part * share;
    lanes a[LIGHT], b[LIGHT];
    for (size_t k = 0; k < LIGHT; k++) {
        a[k] = lanes_all(light_a[k]);
        b[k] = lanes_all(light_b[k]);
    }
    for (size_t i = 0; i < share; i += CHAIN_VECTORS * LANES) {
        lanes v[CHAIN_VECTORS];
        for (size_t n = 0; n < CHAIN_VECTORS; n++) {
            _mm_prefetch(x + i + LANES * n + AHEAD, _MM_HINT_T0);
            v[n] = lanes_load(x + i + LANES * n);
        }
#pragma GCC unroll 8
        for (size_t k = 0; k < LIGHT; k++)
            for (size_t n = 0; n < CHAIN_VECTORS; n++)
                v[n] = v[n] * a[k] + b[k];
        for (size_t n = 0; n < CHAIN_VECTORS; n++)
            lanes_stream(y + i + LANES * n, v[n]);
    }
    _mm_sfence();
    return units * UNIT * sizeof(float);
}

static __attribute__((noinline)) void affine(const float *restrict x, float *restrict y, size_t n,
                                             float a, float b)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * a + b;
}

static void unfused_light(size_t units, const void *in, void *out)
{
    const float *from = in;
    for (unsigned k = 0; k < LIGHT; k++) {
        float *to = k == LIGHT - 1 ? out : bench_spare(k % 2, units * UNIT * sizeof(float));
        affine(from, to, units * UNIT, light_a[k], light_b[k]);
        from = to;
    }
}

#define LIGHT_WORKLOAD                                                                             \
    .units = (size_t)64 << 10, .check_units = 20, .goal = 1.1, .shape = shape_light,               \
    .prepare = prepare_light, .hand = hand_light, .unfused = unfused_light

const struct bench_workload bench_chain8 = {
    .name = "W1 chain of 8 light kernels", .container = "chain8.pbc", LIGHT_WORKLOAD};

const struct bench_workload bench_chain1 = {
    .name = "W1/1 in one kernel", .container = "chain1.pbc", .extra = true, LIGHT_WORKLOAD};

/* ---- W7 ---- */

static struct bench_shape shape_tiny(size_t units)
{
    return shape_of(units, TINY);
}

static void prepare_tiny(size_t units, void *in)
{
    bench_noise(in, units * UNIT);
    for (int i = 0; i < TINY; i++)
        tiny_c[i] = 0.015625f * (float)(i + 1);
}

LANES_INLINE void add_all(const float *x, float *y)
{
    lanes v[VECTORS];
    for (size_t n = 0; n < VECTORS; n++)
        v[n] = lanes_load(x + LANES * n);
#pragma GCC unroll 8
    for (size_t k = 0; k < TINY; k++) {
        lanes c = lanes_all(tiny_c[k]);
        for (size_t n = 0; n < VECTORS; n++)
            v[n] = v[n] + c;
    }
    for (size_t n = 0; n < VECTORS; n++)
        lanes_store(y + LANES * n, v[n]);
}

/* Batches are collected: a packet by itself would wait for all 64 additions. */
enum { COLLECTED = 1024 };

static __attribute__((noinline)) void get_batch(const float *from, float *to, size_t count)
{
    memcpy(to, from, count * sizeof *to);
}

LANES_INLINE size_t tiny_by(size_t batch, size_t units, const void *in, void *out, unsigned part,
                            unsigned parts)
{
    void (*volatile get)(const float *from, float *to, size_t count) = get_batch;
    size_t share = units / parts * UNIT;
    const float *x = (const float *)in + part * share;
    float *y = (float *)out + part * share, collected[COLLECTED];
    for (size_t i = 0; i < share; i += COLLECTED) {
        for (size_t n = 0; n < COLLECTED; n += batch)
            get(x + i + n, collected + n, batch);
        for (size_t n = 0; n < COLLECTED; n += BLOCK)
            add_all(collected + n, y + i + n);
    }
    return units * UNIT * sizeof(float);
}

static size_t hand_tiny(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = units / parts * UNIT;
    const float *x = (const float *)in + part * share;
    float *y = (float *)out + part * share;
    for (size_t i = 0; i < share; i += BLOCK)
        add_all(x + i, y + i);
    return units * UNIT * sizeof(float);
}

/* These follow each other in the cache already: nothing is to be collected. */
static size_t hand_tiny_by_4096(size_t units, const void *in, void *out, unsigned part,
                                unsigned parts)
{
    void (*volatile get)(const float *from, float *to, size_t count) = get_batch;
    size_t share = units / parts * UNIT, batch = 4096;
    const float *x = (const float *)in + part * share;
    float *y = (float *)out + part * share, got[4096];
    for (size_t i = 0; i < share; i += batch) {
        if (batch > share - i) batch = share - i;
        get(x + i, got, batch);
        for (size_t n = 0; n < batch; n += BLOCK)
            add_all(got + n, y + i + n);
    }
    return units * UNIT * sizeof(float);
}

static size_t hand_tiny_by_64(size_t units, const void *in, void *out, unsigned part,
                              unsigned parts)
{
    return tiny_by(64, units, in, out, part, parts);
}

static size_t hand_tiny_by_1(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    return tiny_by(1, units, in, out, part, parts);
}

static size_t one_tiny(const void *in, void *out)
{
    if (in == NULL) return 0;
    const float *x = in;
    float v = *x, *y = out;
    for (size_t k = 0; k < TINY; k++)
        v += tiny_c[k];
    *y = v;
    return 1;
}

static __attribute__((noinline)) void add(const float *restrict x, float *restrict y, size_t n,
                                          float c)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] + c;
}

static void unfused_tiny(size_t units, const void *in, void *out)
{
    const float *from = in;
    for (unsigned k = 0; k < TINY; k++) {
        float *to = k == TINY - 1 ? out : bench_spare(k % 2, units * UNIT * sizeof(float));
        add(from, to, units * UNIT, tiny_c[k]);
        from = to;
    }
}

#define TINY_WORKLOAD                                                                              \
    .container = "chain64.pbc", .check_units = 20, .goal = 1.1, .shape = shape_tiny,               \
    .prepare = prepare_tiny, .unfused = unfused_tiny

const struct bench_workload bench_chain64 = {.name = "W7 64 additions, from memory to memory",
                                             .units = (size_t)16 << 10,
                                             .hand = hand_tiny,
                                             TINY_WORKLOAD};

const struct bench_workload bench_chain64_by_4096 = {.name = "W7/4096 by 4,096 packets",
                                                     .units = (size_t)16 << 10,
                                                     .batch = 4096,
                                                     .hand = hand_tiny_by_4096,
                                                     TINY_WORKLOAD};

const struct bench_workload bench_chain64_by_64 = {.name = "W7/64 by 64 packets",
                                                   .units = (size_t)16 << 10,
                                                   .batch = 64,
                                                   .hand = hand_tiny_by_64,
                                                   TINY_WORKLOAD};

const struct bench_workload bench_chain64_by_1 = {.name = "W7/1 by one packet",
                                                  .units = (size_t)8 << 10,
                                                  .batch = 1,
                                                  .hand = hand_tiny_by_1,
                                                  .one = one_tiny,
                                                  .one_in = 1,
                                                  TINY_WORKLOAD};
