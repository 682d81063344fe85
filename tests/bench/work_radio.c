/* SPDX-License-Identifier: MIT */
/* W3: an FM receiver (radio.pipe). */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"
#include "tests/bench/taps.h"

enum {
    TAPS = 64, /* of all filters */
    BANDS = 10,
    KEEP = 4,                    /* one of so many samples */
    STRIP = 16,                  /* packets of `sound`, for each lane */
    RF_WINDOW = 2 * TAPS,        /* floats: two a sample */
    RF_STRIP = 2 * KEEP * STRIP, /* floats */
    HISTORY = TAPS               /* of sound: one more than the window needs */
};

#define UNIT ((size_t)16 * STRIP) /* packets of audio */
#define AUDIO(units) ((units) * UNIT)
#define SOUND(units) (AUDIO(units) + TAPS - 1)
#define BASE(units) (SOUND(units) + 1)
#define RF(units) ((BASE(units) - 1) * KEEP + TAPS)

static float channel_taps[TAPS], band_taps[BANDS][TAPS], gains[BANDS], all_taps[TAPS];

static struct bench_shape shape(size_t units)
{
    double audio = (double)AUDIO(units);
    return (struct bench_shape){RF(units), RF(units) * 2 * sizeof(float),
                                AUDIO(units) * sizeof(float),
                                /* The filters and the sum; atan2 comes on top. */
                                audio * (2 * TAPS * 2 + 2 * TAPS * BANDS + 2 * BANDS)};
}

/* Two tones on a carrier. */
static void prepare(size_t units, void *in)
{
    float *rf = in;
    double phase = 0;
    for (size_t i = 0; i < RF(units); i++) {
        double t = (double)i / 256e3;
        phase += 0.6 * sin(2 * taps_pi * 440 * t) + 0.3 * sin(2 * taps_pi * 2300 * t);
        rf[2 * i] = (float)cos(phase);
        rf[2 * i + 1] = (float)sin(phase);
    }
    for (int i = 0; i < TAPS; i++) {
        channel_taps[i] = taps_lowpass(i, TAPS, 0.125f);
        all_taps[i] = 0;
    }
    for (int b = 0; b < BANDS; b++) {
        gains[b] = 1.5f + (0.5f - 1.5f) * (float)b / (BANDS - 1);
        for (int i = 0; i < TAPS; i++) {
            band_taps[b][i] =
                taps_bandpass(i, TAPS, 0.03125f * (float)b, 0.03125f * (float)(b + 1));
            all_taps[i] += gains[b] * band_taps[b][i];
        }
    }
}

/* ---- atan2 of lang/std/math.pipe, which rounds correctly but for one result in 10,000 ---- */

typedef double doubles __attribute__((vector_size(4 * LANES)));
typedef int64_t longs __attribute__((vector_size(4 * LANES)));
typedef float halves __attribute__((vector_size(2 * LANES)));

static const double atan_terms[] = {
    0.00017046040466188239, -0.0014666686334116588, 0.0059363765964521222, -0.01523249190907656,
    0.028410612112699588,   -0.042324616793255394,  0.054582394542429476,  -0.065362288118493733,
    0.076631773577540779,   -0.090863606607273315,  0.11110640790649381,   -0.14285684661254053,
    0.1999999901342103,     -0.3333333332025471,    0.99999999999971001};

enum { ATAN_TERMS = sizeof atan_terms / sizeof atan_terms[0] };

LANES_INLINE doubles choose(longs mask, doubles yes, doubles no)
{
    return (doubles)((mask & (longs)yes) | (~mask & (longs)no));
}

LANES_INLINE doubles doubles_all(double value)
{
    return value - (doubles){0};
}

LANES_INLINE doubles doubles_fma(doubles a, doubles b, doubles c)
{
#ifdef __AVX512F__
    return _mm512_fmadd_pd(a, b, c);
#else
    return _mm256_fmadd_pd(a, b, c);
#endif
}

LANES_INLINE doubles atan_core(doubles numerator, doubles denominator)
{
    doubles zero = {0}, t = numerator / denominator;
    t = choose(numerator == denominator, doubles_all(1), t);
    t = choose(denominator == zero, zero, t);
    doubles z = t * t, p = doubles_all(atan_terms[0]);
#pragma GCC unroll 16
    for (int i = 1; i < ATAN_TERMS; i++)
        p = doubles_fma(p, z, doubles_all(atan_terms[i]));
    return t * p;
}

LANES_INLINE halves atan2_half(halves y4, halves x4)
{
    longs sign = (longs){0} + INT64_MIN;
    doubles x = __builtin_convertvector(x4, doubles), y = __builtin_convertvector(y4, doubles);
    doubles ax = (doubles)((longs)x & ~sign), ay = (doubles)((longs)y & ~sign);
    longs steep = ay > ax, unordered = ~((x == x) & (y == y));
    doubles p = atan_core(choose(steep, ax, ay), choose(steep, ay, ax));
    p = choose(steep, doubles_all(1.5707963267948966) - p, p);
    p = choose((longs)x < 0, doubles_all(3.141592653589793) - p, p);
    p = choose(unordered, ax + ay, p);
    p = (doubles)(((longs)p & ~sign) | ((longs)y & sign));
    return __builtin_convertvector(p, halves);
}

LANES_INLINE lanes atan2_lanes(lanes y, lanes x)
{
    halves y2[2], x2[2];
    lanes angle;
    memcpy(y2, &y, sizeof y);
    memcpy(x2, &x, sizeof x);
    y2[0] = atan2_half(y2[0], x2[0]);
    y2[1] = atan2_half(y2[1], x2[1]);
    memcpy(&angle, y2, sizeof angle);
    return angle;
}

static float atan2_one(float y, float x)
{
    return atan2_half(y - (halves){0}, x - (halves){0})[0];
}

/* The angle from a + bi to c + di. */
static inline float turn_one(float a, float b, float c, float d)
{
    return 0.5f * atan2_one(__builtin_fmaf(d, a, -(c * b)), __builtin_fmaf(c, a, d * b));
}

/* ---- by hand: segments of the stream in the lanes, strips of what lies between in the cache ---- */

struct receiver {
    const float *rf; /* the next floats that have not been read, of the first segment */
    size_t distance; /* between the segments of rf */
    lanes rf_strip[RF_WINDOW + RF_STRIP];
    lanes re, im; /* the last sample of the strip before */
    lanes sound[HISTORY + STRIP];
    lanes audio[STRIP];
};

/* Samples of base whose windows begin 2 KEEP floats after one another, the first at x. */
LANES_INLINE void channel(const lanes *x, lanes *re, lanes *im, size_t count)
{
    enum { AT_ONCE = REGISTERS / 4 };
    for (size_t j = 0; j < count; j += AT_ONCE) {
        lanes a[AT_ONCE] = {0}, b[AT_ONCE] = {0};
#pragma GCC unroll 4
        for (size_t i = 0; i < TAPS; i++) {
            lanes tap = lanes_all(channel_taps[i]);
            for (size_t n = 0; n < AT_ONCE && j + n < count; n++) {
                a[n] = lanes_fma(x[2 * (KEEP * (j + n) + i)], tap, a[n]);
                b[n] = lanes_fma(x[2 * (KEEP * (j + n) + i) + 1], tap, b[n]);
            }
        }
        for (size_t n = 0; n < AT_ONCE && j + n < count; n++) {
            re[j + n] = a[n];
            im[j + n] = b[n];
        }
    }
}

/* sound[HISTORY ..], from the samples after the one that `re` and `im` hold. */
static void receive(struct receiver *r)
{
    lanes re[STRIP + 1], im[STRIP + 1];
    lanes_gather(r->rf_strip + RF_WINDOW, r->rf, r->distance, RF_STRIP);
    r->rf += RF_STRIP;
    lanes_expect(r->rf, r->distance, RF_STRIP);
    re[0] = r->re;
    im[0] = r->im;
    channel(r->rf_strip + 2 * KEEP, re + 1, im + 1, STRIP);
    for (size_t i = 0; i < STRIP; i++)
        r->sound[HISTORY + i] = 0.5f * atan2_lanes(lanes_fms(im[i + 1], re[i], re[i + 1] * im[i]),
                                                   lanes_fma(re[i + 1], re[i], im[i + 1] * im[i]));
    r->re = re[STRIP];
    r->im = im[STRIP];
    memmove(r->rf_strip, r->rf_strip + RF_STRIP, RF_WINDOW * sizeof(lanes));
}

/* The history of sound, and the sample before the next one. */
static void begin(struct receiver *r)
{
    lanes_gather(r->rf_strip, r->rf, r->distance, RF_WINDOW);
    r->rf += RF_WINDOW;
    channel(r->rf_strip, &r->re, &r->im, 1);
    for (size_t i = 0; i < HISTORY; i += STRIP) {
        receive(r);
        memcpy(r->sound + i, r->sound + HISTORY, STRIP * sizeof(lanes));
    }
}

LANES_INLINE void equalise(struct receiver *r)
{
    enum { BANDS_AT_ONCE = 5, AT_ONCE = REGISTERS / 8 };
    for (size_t j = 0; j < STRIP; j += AT_ONCE) {
        lanes mixed[AT_ONCE] = {0};
        for (size_t b = 0; b < BANDS; b += BANDS_AT_ONCE) {
            lanes sum[BANDS_AT_ONCE][AT_ONCE] = {0};
#pragma GCC unroll 2
            for (size_t i = 0; i < TAPS; i++)
#pragma GCC unroll 5
                for (size_t c = 0; c < BANDS_AT_ONCE; c++) {
                    lanes tap = lanes_all(band_taps[b + c][i]);
#pragma GCC unroll 4
                    for (size_t n = 0; n < AT_ONCE; n++)
                        sum[c][n] = lanes_fma(r->sound[j + n + i], tap, sum[c][n]);
                }
#pragma GCC unroll 5
            for (size_t c = 0; c < BANDS_AT_ONCE; c++)
#pragma GCC unroll 4
                for (size_t n = 0; n < AT_ONCE; n++)
                    mixed[n] += gains[b + c] * sum[c][n];
        }
        for (size_t n = 0; n < AT_ONCE; n++)
            r->audio[j + n] = mixed[n];
    }
}

/* The sum of the filters is a filter: other bits. */
LANES_INLINE void equalise_at_once(struct receiver *r)
{
    enum { AT_ONCE = REGISTERS / 4 };
    for (size_t j = 0; j < STRIP; j += AT_ONCE) {
        lanes sum[AT_ONCE] = {0};
#pragma GCC unroll 4
        for (size_t i = 0; i < TAPS; i++) {
            lanes tap = lanes_all(all_taps[i]);
#pragma GCC unroll 8
            for (size_t n = 0; n < AT_ONCE; n++)
                sum[n] = lanes_fma(r->sound[j + n + i], tap, sum[n]);
        }
#pragma GCC unroll 8
        for (size_t n = 0; n < AT_ONCE; n++)
            r->audio[j + n] = sum[n];
    }
}

LANES_INLINE size_t hand_with(void (*equaliser)(struct receiver *r), size_t units, const void *in,
                              void *out, unsigned part, unsigned parts)
{
    size_t share = AUDIO(units) / parts, segment = share / LANES;
    struct receiver r = {.rf = (const float *)in + share * part * 2 * KEEP,
                         .distance = segment * 2 * KEEP};
    float *to = (float *)out + share * part;
    begin(&r);
    for (size_t i = 0; i < segment; i += STRIP) {
        receive(&r);
        equaliser(&r);
        lanes_scatter(to + i, segment, r.audio, STRIP);
        memmove(r.sound, r.sound + STRIP, HISTORY * sizeof(lanes));
    }
    return AUDIO(units) * sizeof(float);
}

static size_t hand(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    return hand_with(equalise, units, in, out, part, parts);
}

static size_t hand_fast(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    return hand_with(equalise_at_once, units, in, out, part, parts);
}

/* ---- one packet of audio ---- */

enum { BAND_LANES = 16 };
typedef float bands __attribute__((vector_size(4 * BAND_LANES)));

static struct {
    float rf[RF_WINDOW], sound[TAPS], re, im;
    bands taps[TAPS];
    size_t samples, sounds; /* that it holds, up to a window */
} one;

static void shift_in(float *window, size_t size, const float *from, size_t count)
{
    memmove(window, window + count, (size - count) * sizeof *window);
    memcpy(window + size - count, from, count * sizeof *window);
}

/* Re and im, then the bands, are computed in lanes of one vector each. */
static size_t one_packet(const void *in, void *out)
{
    if (in == NULL) {
        memset(&one, 0, sizeof one);
        for (size_t i = 0; i < TAPS; i++)
            for (size_t b = 0; b < BANDS; b++)
                one.taps[i][b] = band_taps[b][i];
        return 0;
    }
    shift_in(one.rf, RF_WINDOW, in, 2 * KEEP);
    one.samples += KEEP;
    if (one.samples < TAPS) return 0;
    float re = 0, im = 0, last_re = one.re, last_im = one.im, audio = 0;
    for (size_t i = 0; i < TAPS; i++) {
        re = __builtin_fmaf(one.rf[2 * i], channel_taps[i], re);
        im = __builtin_fmaf(one.rf[2 * i + 1], channel_taps[i], im);
    }
    one.re = re;
    one.im = im;
    if (one.samples == TAPS) return 0; /* an angle takes two */
    float sound = turn_one(last_re, last_im, re, im);
    shift_in(one.sound, TAPS, &sound, 1);
    if (++one.sounds < TAPS) return 0;
    bands sum = {0};
    for (size_t i = 0; i < TAPS; i++)
        for (size_t b = 0; b < BAND_LANES; b++)
            sum[b] = __builtin_fmaf(one.sound[i], one.taps[i][b], sum[b]);
    for (size_t b = 0; b < BANDS; b++)
        audio += gains[b] * sum[b];
    *(float *)out = audio;
    return 1;
}

/* ---- kernel by kernel ---- */

static void whole_channel(const float *rf, float *base, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        float re = 0, im = 0;
        for (size_t i = 0; i < TAPS; i++) {
            re = __builtin_fmaf(rf[2 * (KEEP * j + i)], channel_taps[i], re);
            im = __builtin_fmaf(rf[2 * (KEEP * j + i) + 1], channel_taps[i], im);
        }
        base[2 * j] = re;
        base[2 * j + 1] = im;
    }
}

static void whole_demodulate(const float *base, float *sound, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        const float *x = base + 2 * j;
        sound[j] = turn_one(x[0], x[1], x[2], x[3]);
    }
}

static __attribute__((noinline)) void whole_gain(const float *restrict x, float *restrict y,
                                                 float by, size_t count)
{
    for (size_t j = 0; j < count; j++)
        y[j] = by * x[j];
}

static __attribute__((noinline)) void whole_add(const float *restrict x, float *restrict y,
                                                size_t count)
{
    for (size_t j = 0; j < count; j++)
        y[j] += x[j];
}

static void unfused(size_t units, const void *in, void *out)
{
    size_t audio = AUDIO(units);
    float *base = bench_spare(0, BASE(units) * 2 * sizeof(float));
    float *sound = bench_spare(1, SOUND(units) * sizeof(float));
    float *part = bench_spare(2, audio * sizeof(float));
    float *loud = bench_spare(3, audio * sizeof(float));
    whole_channel(in, base, BASE(units));
    whole_demodulate(base, sound, SOUND(units));
    memset(out, 0, audio * sizeof(float));
    for (size_t b = 0; b < BANDS; b++) {
        lanes_whole_fir(sound, part, band_taps[b], audio);
        whole_gain(part, loud, gains[b], audio);
        whole_add(loud, out, audio);
    }
}

const struct bench_workload bench_radio = {
    .name = "W3 FM receiver, 10 bands",
    .container = "radio.pbc",
    .units = ((size_t)32 << 10) - 2, /* segments begin in different sets of the caches */
    .check_units = 16,
    .goal = 1.1,
    .shape = shape,
    .prepare = prepare,
    .hand = hand,
    .unfused = unfused,
    .one = one_packet,
    .one_in = KEEP,
};

static struct bench_shape shape_fast(size_t units)
{
    struct bench_shape all = shape(units);
    all.operations = (double)AUDIO(units) * (2 * TAPS * 2 + 2 * TAPS);
    return all;
}

const struct bench_workload bench_radio_fast = {
    .name = "W3/fast with --fast-math",
    .container = "fast/radio.pbc",
    .units = ((size_t)32 << 10) - 2,
    .check_units = 16,
    .goal = 1.1,
    .extra = true,
    .near = true,
    .shape = shape_fast,
    .prepare = prepare,
    .hand = hand_fast,
};
