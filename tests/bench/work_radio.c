/* W3: the FM receiver of examples/fmradio. */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

#include <math.h>
#include <string.h>

enum {
    BANDS = 10,
    CHANNEL_TAPS = 64,
    DECIMATE_TAPS = 96,
    DECIMATE_STEP = 8,
    BAND_TAPS = 65,
    STRIP = 16,                              /* of `mono`, for each lane */
    RF_HISTORY = 4 * (CHANNEL_TAPS / 2) - 4, /* floats before those of the next sample of `base` */
    FM_HISTORY = DECIMATE_TAPS - DECIMATE_STEP,
    MONO_HISTORY = BAND_TAPS - 1,
    FM_STRIP = STRIP * DECIMATE_STEP,
};

/* Two rf floats a sample, two samples of rf for one of base. */
#define RF_WINDOW (2 * CHANNEL_TAPS)
#define AUDIO ((size_t)64 << 10)
#define MONO (AUDIO + BAND_TAPS - 1)
#define FM (MONO * DECIMATE_STEP + FM_HISTORY)
#define BASE (FM + 1) /* complex */
#define RF (BASE * 4 + RF_WINDOW - 4)

static const float pi = 3.14159265f, rate = 256e3f, deviation = 40e3f;
static float channel_taps[CHANNEL_TAPS], decimate_taps[DECIMATE_TAPS], band_taps[BANDS][BAND_TAPS];
static float gain;
static float *whole_base, *whole_fm, *whole_mono, *whole_part[BANDS];

/* ---- preparation: the arithmetic of filters.pipe; its sin and cos round correctly ---- */

static float lowpass_tap(int i, int n, float cutoff)
{
    float t = (float)i - 0.5f * (float)(n - 1);
    float window = 0.54f - 0.46f * (float)cos((double)(2 * pi * (float)i / (float)(n - 1)));
    float ideal = t == 0 ? 2 * cutoff : (float)sin((double)(2 * pi * cutoff * t)) / (pi * t);
    return ideal * window;
}

static void prepare_taps(void)
{
    for (int i = 0; i < CHANNEL_TAPS; i++)
        channel_taps[i] = lowpass_tap(i, CHANNEL_TAPS, 56e3f / rate);
    for (int i = 0; i < DECIMATE_TAPS; i++)
        decimate_taps[i] = lowpass_tap(i, DECIMATE_TAPS, 7.4e3f / (rate / 2));
    for (int b = 0; b < BANDS; b++) {
        float low = 0.05f * (float)b, high = 0.05f * (float)(b + 1);
        for (int i = 0; i < BAND_TAPS; i++)
            band_taps[b][i] = lowpass_tap(i, BAND_TAPS, high) - lowpass_tap(i, BAND_TAPS, low);
    }
    gain = rate / 2 / (2 * pi * deviation);
}

/* Two tones on a carrier. */
static void prepare(void *in)
{
    float *rf = in;
    double phase = 0;
    for (size_t i = 0; i < RF / 2; i++) {
        double t = (double)i / (double)rate;
        double sound = 0.6 * sin(2 * M_PI * 440 * t) + 0.3 * sin(2 * M_PI * 2300 * t);
        phase += 2 * M_PI * (double)deviation / (double)rate * sound;
        rf[2 * i] = (float)cos(phase);
        rf[2 * i + 1] = (float)sin(phase);
    }
    prepare_taps();
    whole_base = bench_allocate(BASE * 2 * sizeof(float));
    whole_fm = bench_allocate(FM * sizeof(float));
    whole_mono = bench_allocate(MONO * sizeof(float));
    for (int b = 0; b < BANDS; b++)
        whole_part[b] = bench_allocate(AUDIO * sizeof(float));
}

/* ---- atan2 of lang/std/math.pipe, which rounds correctly but for one result in 10,000 ---- */

static const double atan_terms[] = {
    0.00017046040466188239, -0.0014666686334116588, 0.0059363765964521222, -0.01523249190907656,
    0.028410612112699588,   -0.042324616793255394,  0.054582394542429476,  -0.065362288118493733,
    0.076631773577540779,   -0.090863606607273315,  0.11110640790649381,   -0.14285684661254053,
    0.1999999901342103,     -0.3333333332025471,    0.99999999999971001};

enum { ATAN_TERMS = sizeof atan_terms / sizeof atan_terms[0] };

LANES_INLINE __m256d atan_core(__m256d numerator, __m256d denominator)
{
    __m256d one = _mm256_set1_pd(1), zero = _mm256_setzero_pd();
    __m256d t = _mm256_div_pd(numerator, denominator);
    t = _mm256_blendv_pd(t, one, _mm256_cmp_pd(numerator, denominator, _CMP_EQ_OQ));
    t = _mm256_blendv_pd(t, zero, _mm256_cmp_pd(denominator, zero, _CMP_EQ_OQ));
    __m256d z = _mm256_mul_pd(t, t), p = _mm256_set1_pd(atan_terms[0]);
#pragma GCC unroll 16
    for (int i = 1; i < ATAN_TERMS; i++)
        p = _mm256_fmadd_pd(p, z, _mm256_set1_pd(atan_terms[i]));
    return _mm256_mul_pd(t, p);
}

LANES_INLINE __m128 atan2_half(__m128 y4, __m128 x4)
{
    __m256d sign = _mm256_set1_pd(-0.0);
    __m256d x = _mm256_cvtps_pd(x4), y = _mm256_cvtps_pd(y4);
    __m256d ax = _mm256_andnot_pd(sign, x), ay = _mm256_andnot_pd(sign, y);
    __m256d steep = _mm256_cmp_pd(ay, ax, _CMP_GT_OQ);
    __m256d p = atan_core(_mm256_blendv_pd(ay, ax, steep), _mm256_blendv_pd(ax, ay, steep));
    p = _mm256_blendv_pd(p, _mm256_sub_pd(_mm256_set1_pd(1.5707963267948966), p), steep);
    p = _mm256_blendv_pd(p, _mm256_sub_pd(_mm256_set1_pd(3.141592653589793), p), x);
    p = _mm256_blendv_pd(p, _mm256_add_pd(ax, ay), _mm256_cmp_pd(x, y, _CMP_UNORD_Q));
    p = _mm256_or_pd(_mm256_andnot_pd(sign, p), _mm256_and_pd(sign, y));
    return _mm256_cvtpd_ps(p);
}

static float atan2_one(float y, float x)
{
    return _mm_cvtss_f32(atan2_half(_mm_set1_ps(y), _mm_set1_ps(x)));
}

LANES_INLINE lanes atan2_lanes(lanes y, lanes x)
{
    __m128 low = atan2_half(_mm256_castps256_ps128(y), _mm256_castps256_ps128(x));
    __m128 high = atan2_half(_mm256_extractf128_ps(y, 1), _mm256_extractf128_ps(x, 1));
    return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}

/* ---- by hand: eight segments in the lanes, strips of all that lies between in the cache ---- */

struct receiver {
    const float *rf; /* the next floats that have not been read, of the first segment */
    size_t distance; /* between the segments of rf */
    lanes rf_strip[RF_HISTORY + 4 * FM_STRIP + 8];
    lanes re[FM_STRIP + 8], im[FM_STRIP + 8]; /* [0] is the last sample of the strip before */
    lanes fm[FM_HISTORY + FM_STRIP];
    lanes mono[MONO_HISTORY + STRIP];
};

/* base[1 .. count]; count is a multiple of 8. */
LANES_INLINE void tune(struct receiver *r, size_t count)
{
    lanes_gather(r->rf_strip + RF_HISTORY, r->rf, r->distance, 4 * count);
    r->rf += 4 * count;
    lanes_fir(r->re + 1, r->rf_strip, channel_taps, CHANNEL_TAPS, 2, 4, count);
    lanes_fir(r->im + 1, r->rf_strip + 1, channel_taps, CHANNEL_TAPS, 2, 4, count);
    memmove(r->rf_strip, r->rf_strip + 4 * count, RF_HISTORY * sizeof(lanes));
}

/* fm[0 .. count) from base[0 .. count]. */
LANES_INLINE void demodulate(struct receiver *r, lanes *fm, size_t count)
{
    lanes by = _mm256_set1_ps(gain);
    for (size_t i = 0; i < count; i++) {
        lanes a = r->re[i], b = r->im[i], c = r->re[i + 1], d = r->im[i + 1];
        fm[i] = by * atan2_lanes(d * a - c * b, c * a + d * b);
    }
    r->re[0] = r->re[count];
    r->im[0] = r->im[count];
}

/* mono[MONO_HISTORY .. MONO_HISTORY + STRIP) */
static void receive(struct receiver *r)
{
    tune(r, FM_STRIP);
    demodulate(r, r->fm + FM_HISTORY, FM_STRIP);
    lanes_fir(r->mono + MONO_HISTORY, r->fm, decimate_taps, DECIMATE_TAPS, 1, DECIMATE_STEP, STRIP);
    memmove(r->fm, r->fm + FM_STRIP, FM_HISTORY * sizeof(lanes));
}

/* What the first output needs: one sample of base, then the histories of fm and mono. */
static void begin(struct receiver *r)
{
    lanes_gather(r->rf_strip, r->rf, r->distance, RF_HISTORY);
    r->rf += RF_HISTORY;
    lanes_gather(r->rf_strip + RF_HISTORY, r->rf, r->distance, 4);
    r->rf += 4;
    for (int part = 0; part < 2; part++) {
        lanes sum = {0};
        for (size_t i = 0; i < CHANNEL_TAPS; i++)
            sum = _mm256_fmadd_ps(r->rf_strip[2 * i + (size_t)part],
                                  _mm256_set1_ps(channel_taps[i]), sum);
        *(part == 0 ? r->re : r->im) = sum;
    }
    memmove(r->rf_strip, r->rf_strip + 4, RF_HISTORY * sizeof(lanes));
    tune(r, FM_HISTORY);
    demodulate(r, r->fm, FM_HISTORY);
    for (size_t at = 0; at < MONO_HISTORY; at += STRIP) {
        receive(r);
        memmove(r->mono + at, r->mono + MONO_HISTORY, STRIP * sizeof(lanes));
    }
}

static void equalise(const struct receiver *r, float *to, size_t distance)
{
    lanes sum[STRIP] = {0}, band[STRIP];
    for (int b = 0; b < BANDS; b++) {
        lanes_fir(band, r->mono, band_taps[b], BAND_TAPS, 1, 1, STRIP);
        for (size_t i = 0; i < STRIP; i++)
            sum[i] += band[i];
    }
    lanes_scatter(to, distance, sum, STRIP);
}

static void hand(const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = AUDIO / parts, segment = share / 8;
    struct receiver r = {.rf = (const float *)in + share * part * 4 * DECIMATE_STEP,
                         .distance = segment * 4 * DECIMATE_STEP};
    float *to = (float *)out + share * part;
    begin(&r);
    for (size_t i = 0; i < segment; i += STRIP) {
        receive(&r);
        equalise(&r, to + i, segment);
        memmove(r.mono, r.mono + STRIP, MONO_HISTORY * sizeof(lanes));
    }
}

/* ---- kernel by kernel ---- */

static void whole_channel(const float *rf, float *base)
{
    for (size_t j = 0; j < BASE; j++) {
        float re = 0, im = 0;
        for (size_t i = 0; i < CHANNEL_TAPS; i++) {
            re = __builtin_fmaf(rf[4 * j + 2 * i], channel_taps[i], re);
            im = __builtin_fmaf(rf[4 * j + 2 * i + 1], channel_taps[i], im);
        }
        base[2 * j] = re;
        base[2 * j + 1] = im;
    }
}

static void whole_demodulate(const float *base, float *fm)
{
    for (size_t j = 0; j < FM; j++) {
        const float *x = base + 2 * j;
        fm[j] = gain * atan2_one(x[3] * x[0] - x[2] * x[1], x[2] * x[0] + x[3] * x[1]);
    }
}

static void whole_fir(const float *x, float *y, const float *taps, size_t tap_count, size_t step,
                      size_t count)
{
    for (size_t j = 0; j < count; j++) {
        float sum = 0;
        for (size_t i = 0; i < tap_count; i++)
            sum = __builtin_fmaf(x[j * step + i], taps[i], sum);
        y[j] = sum;
    }
}

static void unfused(const void *in, void *out)
{
    float *audio = out;
    whole_channel(in, whole_base);
    whole_demodulate(whole_base, whole_fm);
    whole_fir(whole_fm, whole_mono, decimate_taps, DECIMATE_TAPS, DECIMATE_STEP, MONO);
    for (int b = 0; b < BANDS; b++)
        whole_fir(whole_mono, whole_part[b], band_taps[b], BAND_TAPS, 1, AUDIO);
    for (size_t i = 0; i < AUDIO; i++) {
        float sum = 0;
        for (int b = 0; b < BANDS; b++)
            sum += whole_part[b][i];
        audio[i] = sum;
    }
}

const struct bench_workload bench_radio = {
    .name = "W3 FM receiver, 10 bands",
    .container = "fmradio.pbc",
    .packets = RF,
    .in_bytes = RF * sizeof(float),
    .out_bytes = AUDIO * sizeof(float),
    .operations = /* The filters and the sum; atan2 comes on top. */
    2.0 * AUDIO * (2 * CHANNEL_TAPS * DECIMATE_STEP + DECIMATE_TAPS + BANDS * BAND_TAPS) +
    1.0 * AUDIO * BANDS,
    .prepare = prepare,
    .hand = hand,
    .unfused = unfused,
};
