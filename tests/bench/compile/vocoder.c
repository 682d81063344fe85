/* SPDX-License-Identifier: MIT */
/* vocoder.pipe by hand. */
#include <math.h>

static float taps[N][64];

void prepare(void)
{
    for (int band = 0; band < N; band++)
        for (int i = 0; i < 64; i++) {
            double t = i - 0.5 * 63, low = 0.5 * band / N, high = 0.5 * (band + 1) / N;
            taps[band][i] = (float)(t == 0 ? 2 * (high - low)
                                           : (sin(6.283185307179586 * high * t) -
                                              sin(6.283185307179586 * low * t)) /
                                                 (3.141592653589793 * t));
        }
}

static float band(const float *taps, const float *x)
{
    float sum = 0;
    for (int i = 0; i < 64; i++)
        sum += taps[i] * x[i];
    return sum;
}

void vocoder(const float *restrict x, float *restrict y)
{
    for (int i = 0; i < N; i++) {
        float sum = 0;
        for (int k = 0; k < 64; k++)
            sum += fabsf(band(taps[i], x + k));
        y[i] = sum / 64;
    }
}
