/* SPDX-License-Identifier: MIT */
/* taps: the filters of lang/std/dsp.pipe, the same arithmetic; its sin and cos round correctly. */
#ifndef TESTS_BENCH_TAPS_H
#define TESTS_BENCH_TAPS_H

#include <math.h>

static const double taps_pi = 3.14159265358979323846;

static inline double taps_sinc(double x)
{
    return x == 0 ? 1 : sin(taps_pi * x) / (taps_pi * x);
}

static inline float taps_lowpass(int i, int n, float cutoff)
{
    double t = (double)i - (double)(n - 1) / 2, fc = (double)cutoff;
    double window = 0.54 - 0.46 * cos(2 * taps_pi * (double)i / (double)(n - 1));
    return (float)(2 * fc * taps_sinc(2 * fc * t) * window);
}

static inline float taps_bandpass(int i, int n, float low, float high)
{
    return taps_lowpass(i, n, high) - taps_lowpass(i, n, low);
}

#endif
