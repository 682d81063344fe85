/* SPDX-License-Identifier: MIT */
/* The limits of the machine. */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

enum { CHAINS = 12 /* hide the latency */, TRIES = 4 };

#define COPY_FLOATS ((size_t)16 << 20) /* each of the two beyond the caches */
#define FLOAT_STEPS ((size_t)1000000)
#define INTEGER_STEPS ((size_t)1000000)
#define SERIAL_STEPS ((size_t)1 << 20)

struct copy {
    const float *from;
    float *to;
    bool past_caches;
};

static void copy_part(void *context, unsigned part, unsigned parts)
{
    const struct copy *copy = context;
    size_t share = COPY_FLOATS / parts, first = share * part;
    for (size_t i = first; i < first + share; i += 4 * LANES) {
        lanes v[4];
        for (size_t n = 0; n < 4; n++)
            v[n] = lanes_load(copy->from + i + LANES * n);
        for (size_t n = 0; n < 4; n++) {
            if (copy->past_caches)
                lanes_stream(copy->to + i + LANES * n, v[n]);
            else
                lanes_store(copy->to + i + LANES * n, v[n]);
        }
    }
    _mm_sfence();
}

static void read_part(void *context, unsigned part, unsigned parts)
{
    const struct copy *copy = context;
    size_t share = COPY_FLOATS / parts, first = share * part;
    lanes sum[4] = {0};
    for (size_t i = first; i < first + share; i += 4 * LANES)
        for (size_t n = 0; n < 4; n++)
            sum[n] += lanes_load(copy->from + i + LANES * n);
    for (int n = 0; n < 4; n++)
        __asm__ volatile("" : "+v"(sum[n]));
}

static void float_part(void *context, unsigned part, unsigned parts)
{
    (void)context, (void)part, (void)parts;
    lanes v[CHAINS], a = lanes_all(0.999f), b = lanes_all(0.1f);
    for (int n = 0; n < CHAINS; n++)
        v[n] = lanes_all((float)n);
    for (size_t i = 0; i < FLOAT_STEPS; i++) {
#pragma GCC unroll 12
        for (int n = 0; n < CHAINS; n++) {
            v[n] = lanes_fma(v[n], a, b);
            __asm__ volatile("" : "+v"(v[n]));
        }
    }
}

static void integer_part(void *context, unsigned part, unsigned parts)
{
    (void)context, (void)part, (void)parts;
    words v[CHAINS], a = (words){0} + 12345;
    for (uint32_t n = 0; n < CHAINS; n++)
        v[n] = (words){0} + n;
    for (size_t i = 0; i < INTEGER_STEPS; i++) {
#pragma GCC unroll 12
        for (int n = 0; n < CHAINS; n++) {
            v[n] += a;
            __asm__ volatile("" : "+v"(v[n]));
        }
    }
}

static double seconds(void (*work)(void *context, unsigned part, unsigned parts), void *context,
                      unsigned threads)
{
    if (threads > 1) bench_two_threads_ready();
    double begin = bench_now();
    if (threads == 1)
        work(context, 0, 1);
    else
        bench_two_threads(work, context);
    return bench_now() - begin;
}

static void keep_most(double *most, double value)
{
    if (value > *most) *most = value;
}

static void serial_part(void *context, unsigned part, unsigned parts)
{
    (void)part, (void)parts;
    float back = *(float *)context;
    for (size_t i = 0; i < SERIAL_STEPS; i++) {
        back = (1 + back) * 0.75f;
        __asm__ volatile("" : "+x"(back));
    }
    *(float *)context = back;
}

static void measure_once(struct bench_limits *limits)
{
    static struct copy copy;
    float back = 0;
    if (copy.from == NULL) {
        copy.from = bench_allocate(COPY_FLOATS * sizeof(float));
        copy.to = bench_allocate(COPY_FLOATS * sizeof(float));
    }
    for (unsigned t = 0; t < 2; t++) {
        double lanes_each = (double)LANES * CHAINS * (t + 1);
        for (int past = 0; past < 2; past++) {
            copy.past_caches = past == 1;
            keep_most(&limits->bytes[t],
                      2.0 * sizeof(float) * COPY_FLOATS / seconds(copy_part, &copy, t + 1));
        }
        keep_most(&limits->bytes[t],
                  1.0 * sizeof(float) * COPY_FLOATS / seconds(read_part, &copy, t + 1));
        keep_most(&limits->float_operations[t],
                  2 * lanes_each * FLOAT_STEPS / seconds(float_part, NULL, t + 1));
        keep_most(&limits->integer_operations[t],
                  lanes_each * INTEGER_STEPS / seconds(integer_part, NULL, t + 1));
    }
    double step = seconds(serial_part, &back, 1) / SERIAL_STEPS;
    if (limits->step_seconds == 0 || step < limits->step_seconds) limits->step_seconds = step;
}

/* Several short times: the best of them is undisturbed. */
void bench_measure_limits(struct bench_limits *limits)
{
    for (int i = 0; i < TRIES; i++)
        measure_once(limits);
}
