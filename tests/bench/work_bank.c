/* SPDX-License-Identifier: MIT */
/* W2: a filter bank (bank.pipe).  Samples that a decimator drops are not computed, nor products with
 * the zeros between two samples. */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"
#include "tests/bench/taps.h"

enum {
    TAPS = 64,
    BANDS = 16,
    KEEP = 4,   /* one of so many packets of the input */
    SAMPLE = 16 /* one of so many packets of a band */
};

/* Of each lane: QS samples of each band at a time. */
enum {
    QS = 2,
    D_HISTORY = TAPS - SAMPLE,
    D_STRIP = QS * SAMPLE,
    X_STRIP = D_STRIP * KEEP,
    S_HISTORY = TAPS / SAMPLE - 1,
    BEGIN =
        D_HISTORY + S_HISTORY * SAMPLE /* packets of d that the first strip needs before its own */
};

#define UNIT ((size_t)16 * QS) /* samples of a band */
#define SAMPLES(units) ((units) * UNIT)
#define OUTPUTS(units) (SAMPLES(units) * SAMPLE + 1)
#define INPUTS(units) (SAMPLES(units) * SAMPLE * KEEP + 571) /* what all the windows need */

static float low_taps[TAPS], band_taps[BANDS][TAPS];

static struct bench_shape shape(size_t units)
{
    double kept = (double)SAMPLES(units) * SAMPLE, samples = (double)SAMPLES(units) * BANDS;
    return (struct bench_shape){
        INPUTS(units), INPUTS(units) * sizeof(float), OUTPUTS(units) * sizeof(float),
        2 * TAPS * kept + 2 * TAPS * samples + (2.0 * TAPS / SAMPLE + 1) * BANDS * kept};
}

static void prepare(size_t units, void *in)
{
    bench_noise(in, INPUTS(units));
    float sum = 0;
    for (int i = 0; i < TAPS; i++) {
        low_taps[i] = taps_lowpass(i, TAPS, 0.125f);
        sum += low_taps[i];
    }
    for (int i = 0; i < TAPS; i++)
        low_taps[i] /= sum;
    for (int b = 0; b < BANDS; b++)
        for (int i = 0; i < TAPS; i++)
            band_taps[b][i] =
                taps_bandpass(i, TAPS, 0.03125f * (float)b, 0.03125f * (float)(b + 1));
}

/* ---- by hand: segments of the stream in the lanes ---- */

struct bank {
    const float *x; /* the next packets that have not been read, of the first segment */
    size_t distance;
    lanes x_strip[TAPS + X_STRIP];
    lanes d[D_HISTORY + D_STRIP];
    lanes s[BANDS][S_HISTORY + QS];
    lanes y[QS * SAMPLE];
};

/* `count` packets of d, a multiple of 8. */
LANES_INLINE void decimate(struct bank *k, lanes *d, size_t count)
{
    lanes_gather(k->x_strip + TAPS, k->x, k->distance, KEEP * count);
    k->x += KEEP * count;
    lanes_expect(k->x, k->distance, KEEP * count);
    for (size_t j = 0; j < count; j += 8) {
        lanes sum[8] = {0};
        const lanes *x = k->x_strip + KEEP * j;
#pragma GCC unroll 4
        for (size_t i = 0; i < TAPS; i++) {
            lanes tap = lanes_all(low_taps[i]);
#pragma GCC unroll 8
            for (size_t n = 0; n < 8; n++)
                sum[n] = lanes_fma(x[KEEP * n + i], tap, sum[n]);
        }
#pragma GCC unroll 8
        for (size_t n = 0; n < 8; n++)
            d[j + n] = sum[n];
    }
    memmove(k->x_strip, k->x_strip + KEEP * count, TAPS * sizeof(lanes));
}

/* Samples `to` .. `to` + count of all bands, from d. */
LANES_INLINE void analyse(struct bank *k, const lanes *d, size_t to, size_t count)
{
    enum { AT_ONCE = REGISTERS / 4 };
    for (size_t b = 0; b < BANDS; b += AT_ONCE)
        for (size_t q = 0; q < count; q += QS) {
            lanes sum[AT_ONCE][QS] = {0};
#pragma GCC unroll 2
            for (size_t i = 0; i < TAPS; i++)
#pragma GCC unroll 8
                for (size_t n = 0; n < AT_ONCE; n++) {
                    lanes tap = lanes_all(band_taps[b + n][i]);
#pragma GCC unroll 2
                    for (size_t m = 0; m < QS; m++)
                        sum[n][m] = lanes_fma(d[(q + m) * SAMPLE + i], tap, sum[n][m]);
                }
#pragma GCC unroll 8
            for (size_t n = 0; n < AT_ONCE; n++)
                for (size_t m = 0; m < QS && q + m < count; m++)
                    k->s[b + n][to + q + m] = sum[n][m];
        }
}

/* Phase p of an output sees every 16th tap, from 15 - p on. */
LANES_INLINE void synthesise(struct bank *k)
{
    enum { AT_ONCE = REGISTERS / 8, SEEN = TAPS / SAMPLE };
    for (size_t p = 0; p < SAMPLE; p += AT_ONCE) {
        lanes sum[AT_ONCE][QS] = {0};
        for (size_t b = 0; b < BANDS; b++) {
            lanes part[AT_ONCE][QS];
            const float *taps = band_taps[b] + SAMPLE - 1 - p;
#pragma GCC unroll 4
            for (size_t j = 0; j < SEEN; j++)
#pragma GCC unroll 4
                for (size_t n = 0; n < AT_ONCE; n++) {
                    lanes tap = lanes_all(taps[SAMPLE * j - n]);
#pragma GCC unroll 2
                    for (size_t m = 0; m < QS; m++)
                        part[n][m] =
                            j == 0 ? k->s[b][m] * tap : lanes_fma(k->s[b][m + j], tap, part[n][m]);
                }
#pragma GCC unroll 4
            for (size_t n = 0; n < AT_ONCE; n++)
#pragma GCC unroll 2
                for (size_t m = 0; m < QS; m++)
                    sum[n][m] += part[n][m];
        }
#pragma GCC unroll 4
        for (size_t n = 0; n < AT_ONCE; n++)
#pragma GCC unroll 2
            for (size_t m = 0; m < QS; m++)
                k->y[m * SAMPLE + p + n] = sum[n][m];
    }
}

static void begin(struct bank *k)
{
    lanes d[BEGIN + SAMPLE] = {0};
    lanes_gather(k->x_strip, k->x, k->distance, TAPS);
    k->x += TAPS;
    for (size_t j = 0; j < BEGIN; j += D_STRIP)
        decimate(k, d + j, D_STRIP);
    analyse(k, d, 0, S_HISTORY);
    memcpy(k->d, d + BEGIN - D_HISTORY, sizeof(lanes) * D_HISTORY);
}

/* The very first output, which is phase 15 of the sample before the first. */
static float first_output(const float *x)
{
    float d[4 * SAMPLE + TAPS], y = 0;
    for (size_t j = 0; j < sizeof d / sizeof *d; j++) {
        d[j] = 0;
        for (size_t i = 0; i < TAPS; i++)
            d[j] = __builtin_fmaf(x[KEEP * j + i], low_taps[i], d[j]);
    }
    for (size_t b = 0; b < BANDS; b++) {
        float part = 0;
        for (size_t q = 0; q < TAPS / SAMPLE; q++) {
            float s = 0;
            for (size_t i = 0; i < TAPS; i++)
                s = __builtin_fmaf(d[SAMPLE * q + i], band_taps[b][i], s);
            part = __builtin_fmaf(s, band_taps[b][SAMPLE * q], part);
        }
        y += part;
    }
    return y;
}

static size_t hand(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = SAMPLES(units) / parts, segment = share / LANES, first = share * part;
    struct bank k = {.x = (const float *)in + (first + 1) * SAMPLE * KEEP,
                     .distance = segment * SAMPLE * KEEP};
    float *y = (float *)out + first * SAMPLE + 1;
    if (part == 0) *(float *)out = first_output(in);
    begin(&k);
    for (size_t q = 0; q < segment; q += QS) {
        decimate(&k, k.d + D_HISTORY, D_STRIP);
        analyse(&k, k.d, S_HISTORY, QS);
        synthesise(&k);
        lanes_scatter(y + q * SAMPLE, segment * SAMPLE, k.y, QS * SAMPLE);
        memmove(k.d, k.d + D_STRIP, D_HISTORY * sizeof(lanes));
        for (size_t b = 0; b < BANDS; b++)
            memmove(k.s[b], k.s[b] + QS, S_HISTORY * sizeof(lanes));
    }
    return OUTPUTS(units) * sizeof(float);
}

/* ---- kernel by kernel ---- */

static __attribute__((noinline)) void whole_keep(const float *restrict x, float *restrict y,
                                                 size_t step, size_t count)
{
    for (size_t j = 0; j < count; j++)
        y[j] = x[j * step];
}

static __attribute__((noinline)) void whole_stuff(const float *restrict x, float *restrict y,
                                                  size_t count)
{
    memset(y, 0, count * SAMPLE * sizeof *y);
    for (size_t j = 0; j < count; j++)
        y[j * SAMPLE] = x[j];
}

static __attribute__((noinline)) void whole_add(const float *restrict x, float *restrict y,
                                                size_t count)
{
    for (size_t j = 0; j < count; j++)
        y[j] += x[j];
}

/* Part after part is added, from 0 on, so one buffer holds them all in turn. */
static void unfused(size_t units, const void *in, void *out)
{
    size_t samples = SAMPLES(units) + S_HISTORY + 1, kept = samples * SAMPLE + TAPS - 1;
    float *filtered = bench_spare(0, kept * KEEP * sizeof(float));
    float *d = bench_spare(1, kept * sizeof(float)), *s = bench_spare(2, samples * sizeof(float));
    lanes_whole_fir(in, filtered, low_taps, kept * KEEP);
    whole_keep(filtered, d, KEEP, kept);
    memset(out, 0, OUTPUTS(units) * sizeof(float));
    for (size_t b = 0; b < BANDS; b++) {
        lanes_whole_fir(d, filtered, band_taps[b], samples * SAMPLE);
        whole_keep(filtered, s, SAMPLE, samples);
        whole_stuff(s, filtered, samples);
        float *part = filtered + samples * SAMPLE;
        lanes_whole_fir(filtered, part, band_taps[b], OUTPUTS(units));
        whole_add(part, out, OUTPUTS(units));
    }
}

const struct bench_workload bench_bank = {
    .name = "W2 filter bank, 16 bands",
    .container = "bank.pbc",
    .units = ((size_t)32 << 10) - 2, /* segments begin in different sets of the caches */
    .check_units = 16,
    .goal = 1.2,
    .shape = shape,
    .prepare = prepare,
    .hand = hand,
    .unfused = unfused,
};
