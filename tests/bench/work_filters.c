/* SPDX-License-Identifier: MIT */
/* P1 and P6: filters that keep something from packet to packet (lattice.pipe, recursive.pipe). */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

enum { STAGES = 10, AHEAD = 4096 /* packets that are fetched earlier */ };

#define UNIT ((size_t)1024) /* packets */
#define FACTOR UINT32_C(1664525)

static struct bench_shape shape_of(size_t units, double operations)
{
    size_t packets = units * UNIT, bytes = packets * sizeof(float);
    return (struct bench_shape){packets, bytes, bytes, operations * (double)packets};
}

/* ---- P1 ---- */

static float reflection[STAGES];

static struct bench_shape shape_lattice(size_t units)
{
    return shape_of(units, 4.0 * STAGES - 2);
}

static void prepare_lattice(size_t units, void *in)
{
    bench_noise(in, units * UNIT);
    for (int i = 0; i < STAGES; i++)
        reflection[i] = 0.0625f * (float)(i + 1);
}

/* Neighbouring packets in the lanes.  before[i]: what stage i has got on the backward path, one vector earlier. */
LANES_INLINE lanes lattice_step(lanes before[STAGES], const lanes k[STAGES], lanes x)
{
    lanes forward = x, backward = x;
#pragma GCC unroll 16
    for (int i = 0; i < STAGES; i++) {
        lanes late = (lanes)LANES_EARLIER(before[i], backward, 1);
        before[i] = backward;
        backward = lanes_fma(k[i], forward, late);
        forward = lanes_fma(k[i], late, forward);
    }
    return forward;
}

/* A packet depends on STAGES packets before it, so a part begins with those before its own. */
static size_t hand_lattice(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = units / parts * UNIT;
    const float *x = (const float *)in + part * share;
    float *y = (float *)out + part * share;
    lanes before[STAGES] = {0}, k[STAGES];
    for (size_t i = 0; i < STAGES; i++)
        k[i] = lanes_all(reflection[i]);
    for (size_t i = 0; i < 16 && part > 0; i += LANES)
        lattice_step(before, k, lanes_load(x - 16 + i));
    for (size_t i = 0; i < share; i += LANES) {
        _mm_prefetch((const char *)(x + i + AHEAD), _MM_HINT_T0);
        lanes_stream(y + i, lattice_step(before, k, lanes_load(x + i)));
    }
    _mm_sfence();
    return units * UNIT * sizeof(float);
}

/* ---- P6 ---- */

static struct bench_shape shape_recursive(size_t units)
{
    return shape_of(units, 2);
}

static void prepare_recursive(size_t units, void *in)
{
    bench_noise(in, units * UNIT);
}

/* Products modulo 2^32 are exact, so a vector sums up its own packets in steps of 1, 2, 4, ... lanes.  Only one product
 * waits for the vector before: that with `last`, its last packet, in all lanes. */
static size_t hand_recursive(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    const uint32_t *x = in;
    uint32_t *y = out;
    words power, last = {0}, zero = {0};
    (void)part;
    (void)parts;
    for (int i = 0; i < LANES; i++)
        power[i] = i == 0 ? FACTOR : FACTOR * power[i - 1];
    words by1 = zero + power[0], by2 = zero + power[1], by4 = zero + power[3],
          all = zero + power[LANES - 1];
    for (size_t i = 0; i < units * UNIT; i += LANES) {
        words v = *(const words_loose *)(const void *)(x + i);
        _mm_prefetch((const char *)(x + i + AHEAD), _MM_HINT_T0);
        v += by1 * LANES_EARLIER(zero, v, 1);
        v += by2 * LANES_EARLIER(zero, v, 2);
#ifdef __AVX512F__
        v += by4 * LANES_EARLIER(zero, v, 4);
        v += (zero + power[7]) * LANES_EARLIER(zero, v, 8);
#else
        v += by4 * (words)_mm256_permute2x128_si256((__m256i)v, (__m256i)v, 0x08);
#endif
        lanes_stream((float *)(y + i), (lanes)(v + power * last));
        last = (zero + v[LANES - 1]) + all * last;
    }
    _mm_sfence();
    return units * UNIT * sizeof(uint32_t);
}

const struct bench_workload bench_lattice = {
    .name = "P1 lattice filter, 10 stages",
    .container = "lattice.pbc",
    .program = true,
    .units = (size_t)32 << 10,
    .check_units = 20,
    .goal = 1.1,
    .shape = shape_lattice,
    .prepare = prepare_lattice,
    .hand = hand_lattice,
};

const struct bench_workload bench_recursive = {
    .name = "P6 recursive filter, integers",
    .container = "recursive.pbc",
    .program = true,
    .units = (size_t)32 << 10,
    .check_units = 20,
    .bound = BENCH_INTEGERS,
    .serial = true,
    .goal = 1.1,
    .shape = shape_recursive,
    .prepare = prepare_recursive,
    .hand = hand_recursive,
};
