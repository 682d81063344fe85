/* W2: 64 taps, one packet in four is kept (fir4.pipe). */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

#include <string.h>

enum {
    TAPS = 64,
    STEP = 4,
    HISTORY = TAPS - STEP,
    STRIP = 64 /* outputs of each lane at a time */
};

#define OUTPUTS ((size_t)2 << 20)
#define INPUTS (OUTPUTS * STEP + HISTORY)

static float taps[TAPS];

static void prepare(void *in)
{
    bench_noise(in, INPUTS);
    for (int i = 0; i < TAPS; i++)
        taps[i] = (float)(i * 37 % TAPS) / (TAPS * 32) - 0.015625f;
}

static void hand(const void *in, void *out, unsigned part, unsigned parts)
{
    size_t segment = OUTPUTS / parts / 8, first = OUTPUTS / parts * part;
    const float *from = (const float *)in + first * STEP;
    float *to = (float *)out + first;
    lanes x[HISTORY + STRIP * STEP], y[STRIP];
    lanes_gather(x, from, segment * STEP, HISTORY);
    for (size_t j = 0; j < segment; j += STRIP) {
        lanes_gather(x + HISTORY, from + j * STEP + HISTORY, segment * STEP, (size_t)STRIP * STEP);
        lanes_fir(y, x, taps, TAPS, 1, STEP, STRIP);
        lanes_scatter(to + j, segment, y, STRIP);
        memmove(x, x + STRIP * STEP, HISTORY * sizeof *x);
    }
}

static void unfused(const void *in, void *out)
{
    const float *x = in;
    float *y = out;
    for (size_t j = 0; j < OUTPUTS; j++) {
        float sum = 0;
        for (size_t i = 0; i < TAPS; i++)
            sum = __builtin_fmaf(x[j * STEP + i], taps[i], sum);
        y[j] = sum;
    }
}

const struct bench_workload bench_fir4 = {
    .name = "W2 64-tap filter, 1 in 4",
    .container = "fir4.pbc",
    .packets = INPUTS,
    .in_bytes = INPUTS * sizeof(float),
    .out_bytes = OUTPUTS * sizeof(float),
    .operations = 2.0 * TAPS * OUTPUTS,
    .prepare = prepare,
    .hand = hand,
    .unfused = unfused,
};
