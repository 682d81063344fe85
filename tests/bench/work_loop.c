/* SPDX-License-Identifier: MIT */
/* W8: a loop with one packet in it (loop.pipe): the cost of a dispatch. */
#include "tests/bench/bench.h"

#define UNIT ((size_t)1024) /* packets */

static struct bench_shape shape(size_t units)
{
    size_t packets = units * UNIT, bytes = packets * sizeof(float);
    return (struct bench_shape){packets, bytes, bytes, (double)packets};
}

static void prepare(size_t units, void *in)
{
    bench_noise(in, units * UNIT);
}

static size_t hand(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    const float *x = in;
    float *y = out;
    (void)part;
    (void)parts;
    float back = 0;
    for (size_t i = 0; i < units * UNIT; i++) {
        float s = x[i] + back;
        y[i] = s;
        back = 0.75f * s;
    }
    return units * UNIT * sizeof(float);
}

/* A call for every firing of every kernel, and a buffer between them: what a loop leaves to do. */
static __attribute__((noinline)) void add(const float *x, const float *back, float *y, float *sum)
{
    *y = *sum = *x + *back;
}

static __attribute__((noinline)) void scale(const float *sum, float *back, float by)
{
    *back = by * *sum;
}

static void unfused(size_t units, const void *in, void *out)
{
    const float *x = in;
    float *y = out, *sums = bench_spare(0, units * UNIT * sizeof(float)), back = 0;
    for (size_t i = 0; i < units * UNIT; i++) {
        add(x + i, &back, y + i, sums + i);
        scale(sums + i, &back, 0.75f);
    }
}

#define LOOP_WORKLOAD                                                                              \
    .units = (size_t)32 << 10, .check_units = 20, .bound = BENCH_SERIAL, .serial = true,           \
    .goal = 1.1, .shape = shape, .prepare = prepare, .hand = hand, .unfused = unfused

const struct bench_workload bench_loop = {
    .name = "W8 feedback loop", .container = "loop.pbc", LOOP_WORKLOAD};

const struct bench_workload bench_loop1 = {
    .name = "W8/1 in one kernel, state", .container = "loop1.pbc", .extra = true, LOOP_WORKLOAD};
