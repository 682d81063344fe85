/* SPDX-License-Identifier: MIT */
/*
 * peer_taps: the coefficients of the filters of W2 and W3, as in tests/bench/pipes.  C and C++; to be
 * compiled without contraction.
 */
#ifndef TESTS_BENCH_PEERS_PEER_TAPS_H
#define TESTS_BENCH_PEERS_PEER_TAPS_H

#include "tests/bench/taps.h"

enum { PEER_TAPS = 64, PEER_BANK = 16, PEER_BANDS = 10 };

/* fir_lowpass: gain 1 at frequency 0. */
static inline void peer_lowpass(float *taps, float cutoff)
{
    float sum = 0;
    for (int i = 0; i < PEER_TAPS; i++)
        sum += taps[i] = taps_lowpass(i, PEER_TAPS, cutoff);
    for (int i = 0; i < PEER_TAPS; i++)
        taps[i] /= sum;
}

static inline void peer_bandpass(float *taps, float low, float high)
{
    for (int i = 0; i < PEER_TAPS; i++)
        taps[i] = taps_bandpass(i, PEER_TAPS, low, high);
}

struct peer_bank { /* W2 */
    float low[PEER_TAPS], band[PEER_BANK][PEER_TAPS];
};

static inline void peer_bank_taps(struct peer_bank *bank)
{
    peer_lowpass(bank->low, 0.125f);
    for (int b = 0; b < PEER_BANK; b++)
        peer_bandpass(bank->band[b], 0.03125f * (float)b, 0.03125f * (float)(b + 1));
}

struct peer_radio { /* W3 */
    float channel[PEER_TAPS], band[PEER_BANDS][PEER_TAPS], gain[PEER_BANDS];
};

static inline void peer_radio_taps(struct peer_radio *radio)
{
    for (int i = 0; i < PEER_TAPS; i++)
        radio->channel[i] = taps_lowpass(i, PEER_TAPS, 0.125f);
    for (int b = 0; b < PEER_BANDS; b++) {
        peer_bandpass(radio->band[b], 0.03125f * (float)b, 0.03125f * (float)(b + 1));
        radio->gain[b] = 1.5f + (0.5f - 1.5f) * (float)b / (float)(PEER_BANDS - 1);
    }
}

#endif
