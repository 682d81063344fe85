/* SPDX-License-Identifier: MIT */
#include "core/time/warp_loads.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2")))
#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

enum {
    LANES = 8,
    VECTORS_MOST = 8,
    PAIRED_VECTORS_MOST = 2, /* above, the values of a pair do not stay in registers */
    ABSENT = INT32_MAX
};

/* Are all loads below ABSENT?  No load exceeds the sum. */
static bool is_narrow(const uint64_t *warp_cycles, uint64_t warps, uint64_t *sum)
{
    uint64_t bits = 0;
    *sum = 0;
    if (warps >= ABSENT) return false;
    for (uint64_t i = 0; i < warps; i++) {
        bits |= warp_cycles[i];
        *sum += warp_cycles[i];
    }
    return bits < ABSENT && *sum < ABSENT;
}

/* Idle compute units, and after them absent ones, which get no warp. */
AVX2_INLINE __m256i first_loads(uint32_t cu_count, uint32_t from)
{
    int32_t loads[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        loads[i] = from + i < cu_count ? 0 : ABSENT;
    return _mm256_loadu_si256((const __m256i *)loads);
}

/* Lane 7 of a vector rotated by one is lane 0, which the previous vector needs. */
AVX2_INLINE void take_first(__m256i *loads, uint32_t vectors, uint64_t cycles)
{
    const __m256i next_lane = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
    __m256i rotated[VECTORS_MOST + 1];
    __m256i first = _mm256_broadcastd_epi32(_mm256_castsi256_si128(loads[0]));
    __m256i ends = _mm256_add_epi32(first, _mm256_set1_epi32((int32_t)cycles));
    UNROLLED
    for (uint32_t v = 0; v < vectors; v++)
        rotated[v] = _mm256_permutevar8x32_epi32(loads[v], next_lane);
    rotated[vectors] = _mm256_set1_epi32(ABSENT);
    UNROLLED
    for (uint32_t v = 0; v < vectors; v++) {
        __m256i next = _mm256_blend_epi32(rotated[v], rotated[v + 1], 1 << (LANES - 1));
        loads[v] = _mm256_max_epi32(loads[v], _mm256_min_epi32(ends, next));
    }
}

/* Two warps: the first ends at x, the second begins at min(x, l(1)).  Then l(0) and l(1) have become
 * s(0) <= s(1), to be merged into the rest: the i-th load of the result is the minimum over zero, one
 * or two of them at or below it.  This halves the time, because a result is waited for once. */
AVX2_INLINE void take_two(__m256i *loads, uint32_t vectors, const uint64_t *cycles)
{
    const __m256i by_one = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
    const __m256i by_two = _mm256_setr_epi32(2, 3, 4, 5, 6, 7, 0, 1);
    __m256i rotated[VECTORS_MOST + 1], twice[VECTORS_MOST + 1];
    __m256i first = _mm256_broadcastd_epi32(_mm256_castsi256_si128(loads[0]));
    __m256i second = _mm256_permutevar8x32_epi32(loads[0], _mm256_set1_epi32(1));
    __m256i x = _mm256_add_epi32(first, _mm256_set1_epi32((int32_t)cycles[0]));
    __m256i y =
        _mm256_add_epi32(_mm256_min_epi32(x, second), _mm256_set1_epi32((int32_t)cycles[1]));
    x = _mm256_max_epi32(x, second);
    __m256i lesser = _mm256_min_epi32(x, y), greater = _mm256_max_epi32(x, y);
    UNROLLED
    for (uint32_t v = 0; v < vectors; v++) {
        rotated[v] = _mm256_permutevar8x32_epi32(loads[v], by_one);
        twice[v] = _mm256_permutevar8x32_epi32(loads[v], by_two);
    }
    rotated[vectors] = twice[vectors] = _mm256_set1_epi32(ABSENT);
    UNROLLED
    for (uint32_t v = 0; v < vectors; v++) {
        __m256i none = _mm256_blend_epi32(twice[v], twice[v + 1], 3 << (LANES - 2));
        __m256i one = _mm256_blend_epi32(rotated[v], rotated[v + 1], 1 << (LANES - 1));
        /* Nothing lies below s(0) in the first place; l(0) is at most s(0). */
        if (v == 0) one = _mm256_blend_epi32(one, loads[0], 1);
        one = _mm256_max_epi32(one, lesser);
        __m256i two = _mm256_max_epi32(loads[v], greater);
        loads[v] = _mm256_min_epi32(_mm256_min_epi32(none, two), one);
    }
}

AVX2_INLINE uint64_t last_end(const uint64_t *warp_cycles, uint64_t warps, uint32_t cu_count,
                              uint32_t vectors)
{
    __m256i loads[VECTORS_MOST];
    int32_t sorted[VECTORS_MOST * LANES] = {0};
    UNROLLED
    for (uint32_t v = 0; v < vectors; v++)
        loads[v] = first_loads(cu_count, v * LANES);
    uint64_t pairs = vectors <= PAIRED_VECTORS_MOST ? warps / 2 : 0;
    for (uint64_t i = 0; i < pairs; i++)
        take_two(loads, vectors, &warp_cycles[2 * i]);
    for (uint64_t i = 2 * pairs; i < warps; i++)
        take_first(loads, vectors, warp_cycles[i]);
    UNROLLED
    for (uint32_t v = 0; v < vectors; v++)
        _mm256_storeu_si256((__m256i *)&sorted[(size_t)v * LANES], loads[v]);
    return (uint64_t)sorted[cu_count - 1];
}

AVX2 static uint64_t last_end_of(const uint64_t *warp_cycles, uint64_t warps, uint32_t cu_count)
{
    if (cu_count <= 8) return last_end(warp_cycles, warps, cu_count, 1);
    if (cu_count <= 16) return last_end(warp_cycles, warps, cu_count, 2);
    if (cu_count <= 32) return last_end(warp_cycles, warps, cu_count, 4);
    return last_end(warp_cycles, warps, cu_count, VECTORS_MOST);
}

bool core_warp_loads_end(const uint64_t *warp_cycles, uint64_t warps, uint32_t cu_count,
                         uint64_t *end_cycles, uint64_t *busy_cycles)
{
    if (cu_count > VECTORS_MOST * LANES || !__builtin_cpu_supports("avx2")) return false;
    if (!is_narrow(warp_cycles, warps, busy_cycles)) return false;
    *end_cycles = last_end_of(warp_cycles, warps, cu_count);
    return true;
}

#else

bool core_warp_loads_end(const uint64_t *warp_cycles, uint64_t warps, uint32_t cu_count,
                         uint64_t *end_cycles, uint64_t *busy_cycles)
{
    (void)warp_cycles, (void)warps, (void)cu_count, (void)end_cycles, (void)busy_cycles;
    return false;
}

#endif
