/* W1 and W7: chains of light kernels (chain8.pipe, chain64.pipe). */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

enum { LIGHT = 8, TINY = 64, BLOCK = 64 /* packets at a time: 8 vectors */ };

static const size_t light_packets = (size_t)16 << 20, tiny_packets = (size_t)1 << 20;

/* Run-time arguments in the pipelines, so nothing the C compiler may know. */
static float light_a[LIGHT], light_b[LIGHT], tiny_c[TINY];
static float *spare[2];

/* ---- W1 ---- */

static void prepare_light(void *in)
{
    bench_noise(in, light_packets);
    for (int i = 0; i < LIGHT; i++) {
        light_a[i] = 1 - 0.015625f * (float)i;
        light_b[i] = 0.125f * (float)(i + 1);
    }
    for (int i = 0; i < 2; i++)
        if (spare[i] == NULL) spare[i] = bench_allocate(light_packets * sizeof(float));
}

/* Everything in registers; the output is larger than the caches, so it goes past them. */
static void hand_light(const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = light_packets / parts;
    const float *x = (const float *)in + part * share;
    float *y = (float *)out + part * share;
    for (size_t i = 0; i < share; i += BLOCK) {
        lanes v[8];
        for (size_t n = 0; n < 8; n++)
            v[n] = _mm256_load_ps(x + i + 8 * n);
        for (size_t k = 0; k < LIGHT; k++) {
            lanes a = _mm256_broadcast_ss(light_a + k), b = _mm256_broadcast_ss(light_b + k);
            for (size_t n = 0; n < 8; n++)
                v[n] = v[n] * a + b;
        }
        for (size_t n = 0; n < 8; n++)
            _mm256_stream_ps(y + i + 8 * n, v[n]);
    }
    _mm_sfence();
}

static __attribute__((noinline)) void affine(const float *restrict x, float *restrict y, size_t n,
                                             float a, float b)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * a + b;
}

static void unfused_light(const void *in, void *out)
{
    const float *from = in;
    for (int k = 0; k < LIGHT; k++) {
        float *to = k == LIGHT - 1 ? out : spare[k % 2];
        affine(from, to, light_packets, light_a[k], light_b[k]);
        from = to;
    }
}

const struct bench_workload bench_chain8 = {
    .name = "W1 chain of 8 light kernels",
    .container = "chain8.pbc",
    .packets = (size_t)16 << 20,
    .in_bytes = ((size_t)16 << 20) * sizeof(float),
    .out_bytes = ((size_t)16 << 20) * sizeof(float),
    .operations = 16.0 * (16 << 20),
    .prepare = prepare_light,
    .hand = hand_light,
    .unfused = unfused_light,
};

const struct bench_workload bench_chain1 = {
    .name = "W1 in one kernel",
    .container = "chain1.pbc",
    .packets = (size_t)16 << 20,
    .in_bytes = ((size_t)16 << 20) * sizeof(float),
    .out_bytes = ((size_t)16 << 20) * sizeof(float),
    .operations = 16.0 * (16 << 20),
    .prepare = prepare_light,
    .hand = hand_light,
    .unfused = unfused_light,
};

/* ---- W7 ---- */

static void prepare_tiny(void *in)
{
    bench_noise(in, tiny_packets);
    for (int i = 0; i < TINY; i++)
        tiny_c[i] = 0.015625f * (float)(i + 1);
    for (int i = 0; i < 2; i++)
        if (spare[i] == NULL) spare[i] = bench_allocate(light_packets * sizeof(float));
}

static void hand_tiny(const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = tiny_packets / parts;
    const float *x = (const float *)in + part * share;
    float *y = (float *)out + part * share;
    for (size_t i = 0; i < share; i += BLOCK) {
        lanes v[8];
        for (size_t n = 0; n < 8; n++)
            v[n] = _mm256_load_ps(x + i + 8 * n);
        for (size_t k = 0; k < TINY; k++) {
            lanes c = _mm256_broadcast_ss(tiny_c + k);
            for (size_t n = 0; n < 8; n++)
                v[n] = v[n] + c;
        }
        for (size_t n = 0; n < 8; n++)
            _mm256_store_ps(y + i + 8 * n, v[n]);
    }
}

static __attribute__((noinline)) void add(const float *restrict x, float *restrict y, size_t n,
                                          float c)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] + c;
}

static void unfused_tiny(const void *in, void *out)
{
    const float *from = in;
    for (int k = 0; k < TINY; k++) {
        float *to = k == TINY - 1 ? out : spare[k % 2];
        add(from, to, tiny_packets, tiny_c[k]);
        from = to;
    }
}

const struct bench_workload bench_chain64 = {
    .name = "W7 chain of 64 tiny kernels",
    .container = "chain64.pbc",
    .packets = (size_t)1 << 20,
    .in_bytes = ((size_t)1 << 20) * sizeof(float),
    .out_bytes = ((size_t)1 << 20) * sizeof(float),
    .operations = 64.0 * (1 << 20),
    .prepare = prepare_tiny,
    .hand = hand_tiny,
    .unfused = unfused_tiny,
};
