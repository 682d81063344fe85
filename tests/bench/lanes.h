/*
 * lanes: eight f32 in a vector of AVX2, for the hand-written code.
 *
 * Streams are cut into eight segments, one for each lane: what is a neighbour in a lane is a
 * neighbour in memory of vectors, so every load is aligned and nothing is shuffled but at the ends.
 */
#ifndef TESTS_BENCH_LANES_H
#define TESTS_BENCH_LANES_H

#include <immintrin.h>
#include <stddef.h>

typedef float lanes __attribute__((vector_size(32)));

#define LANES_INLINE static inline __attribute__((always_inline))

LANES_INLINE void lanes_transpose(lanes r[8])
{
    __m256 t[8], u[8];
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
        r[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
    }
}

/* to[p] = packet p of each segment; segments begin `distance` packets apart.  count: multiple of 4.
 */
LANES_INLINE void lanes_gather(lanes *to, const float *from, size_t distance, size_t count)
{
    size_t p = 0;
    for (; p + 8 <= count; p += 8) {
        lanes r[8];
        for (size_t s = 0; s < 8; s++)
            r[s] = _mm256_loadu_ps(from + s * distance + p);
        lanes_transpose(r);
        for (size_t i = 0; i < 8; i++)
            to[p + i] = r[i];
    }
    for (size_t rest = count % 8; rest > 0; rest--, p++) {
        for (size_t s = 0; s < 8; s++)
            to[p][s] = from[s * distance + p];
    }
}

/* count: multiple of 8. */
LANES_INLINE void lanes_scatter(float *to, size_t distance, const lanes *from, size_t count)
{
    for (size_t p = 0; p < count; p += 8) {
        lanes r[8];
        for (size_t i = 0; i < 8; i++)
            r[i] = from[p + i];
        lanes_transpose(r);
        for (size_t s = 0; s < 8; s++)
            _mm256_storeu_ps(to + s * distance + p, r[s]);
    }
}

/* y[j] = sum of x[j * step + i * tap_step] * taps[i], one fma after the other in order of i, as the
 * pipeline does; 8 outputs at a time hide the latency.  count: multiple of 8. */
LANES_INLINE void lanes_fir(lanes *y, const lanes *x, const float *taps, size_t tap_count,
                            size_t tap_step, size_t step, size_t count)
{
    for (size_t j = 0; j < count; j += 8) {
        lanes sum[8] = {0};
        for (size_t i = 0; i < tap_count; i++) {
            __m256 tap = _mm256_broadcast_ss(taps + i);
#pragma GCC unroll 8
            for (size_t n = 0; n < 8; n++)
                sum[n] = _mm256_fmadd_ps(x[(j + n) * step + i * tap_step], tap, sum[n]);
        }
        for (size_t n = 0; n < 8; n++)
            y[j + n] = sum[n];
    }
}

#endif
