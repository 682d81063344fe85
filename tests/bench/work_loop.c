/* W8: a loop with one packet in it (loop.pipe): the cost of a dispatch. */
#include "tests/bench/bench.h"

#define PACKETS ((size_t)1 << 17)

static float *sums;

static void prepare(void *in)
{
    bench_noise(in, PACKETS);
    if (sums == NULL) sums = bench_allocate(PACKETS * sizeof *sums);
}

static void hand(const void *in, void *out, unsigned part, unsigned parts)
{
    const float *x = in;
    float *y = out;
    (void)part;
    (void)parts;
    float back = 0;
    for (size_t i = 0; i < PACKETS; i++) {
        float s = x[i] + back;
        y[i] = s;
        back = 0.75f * s;
    }
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

static void unfused(const void *in, void *out)
{
    const float *x = in;
    float *y = out, back = 0;
    for (size_t i = 0; i < PACKETS; i++) {
        add(x + i, &back, y + i, sums + i);
        scale(sums + i, &back, 0.75f);
    }
}

const struct bench_workload bench_loop = {
    .name = "W8 loop of one packet",
    .container = "loop.pbc",
    .packets = PACKETS,
    .in_bytes = PACKETS * sizeof(float),
    .out_bytes = PACKETS * sizeof(float),
    .operations = 1.0 * PACKETS,
    .bound = BENCH_LATENCY,
    .serial = true,
    .prepare = prepare,
    .hand = hand,
    .unfused = unfused,
};

const struct bench_workload bench_loop1 = {
    .name = "W8 in one kernel, state",
    .container = "loop1.pbc",
    .packets = PACKETS,
    .in_bytes = PACKETS * sizeof(float),
    .out_bytes = PACKETS * sizeof(float),
    .operations = 1.0 * PACKETS,
    .bound = BENCH_LATENCY,
    .serial = true,
    .prepare = prepare,
    .hand = hand,
    .unfused = unfused,
};
