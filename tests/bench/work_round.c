/* SPDX-License-Identifier: MIT */
/* P5: a round of DES (round.pipe). */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

enum { BOXES = 8, BOX = 64, AHEAD = 4096 /* packets that are fetched earlier */ };

#define UNIT ((size_t)1024) /* blocks */

static const uint32_t key[BOXES] = {6, 34, 44, 60, 61, 16, 61, 30};

static const uint8_t boxes[BOXES][BOX] = {
    {14, 4,  13, 1, 2,  15, 11, 8, 3, 10, 6, 12, 5,  9,  0,  7,  0,  15, 7,  4,  14, 2,
     13, 1,  10, 6, 12, 11, 9,  5, 3, 8,  4, 1,  14, 8,  13, 6,  2,  11, 15, 12, 9,  7,
     3,  10, 5,  0, 15, 12, 8,  2, 4, 9,  1, 7,  5,  11, 3,  14, 10, 0,  6,  13},
    {15, 1,  8,  14, 6,  11, 3,  4, 9,  7,  2, 13, 12, 0,  5,  10, 3,  13, 4,  7, 15, 2,
     8,  14, 12, 0,  1,  10, 6,  9, 11, 5,  0, 14, 7,  11, 10, 4,  13, 1,  5,  8, 12, 6,
     9,  3,  2,  15, 13, 8,  10, 1, 3,  15, 4, 2,  11, 6,  7,  12, 0,  5,  14, 9},
    {10, 0,  9,  14, 6, 3,  15, 5,  1,  13, 12, 7, 11, 4,  2,  8,  13, 7, 0,  9, 3, 4,
     6,  10, 2,  8,  5, 14, 12, 11, 15, 1,  13, 6, 4,  9,  8,  15, 3,  0, 11, 1, 2, 12,
     5,  10, 14, 7,  1, 10, 13, 0,  6,  9,  8,  7, 4,  15, 14, 3,  11, 5, 2,  12},
    {7, 13, 14, 3, 0, 6,  9, 10, 1,  2, 8,  5, 11, 12, 4,  15, 13, 8,  11, 5, 6, 15,
     0, 3,  4,  7, 2, 12, 1, 10, 14, 9, 10, 6, 9,  0,  12, 11, 7,  13, 15, 1, 3, 14,
     5, 2,  8,  4, 3, 15, 0, 6,  10, 1, 13, 8, 9,  4,  5,  11, 12, 7,  2,  14},
    {2,  12, 4, 1,  7,  10, 11, 6, 8, 5,  3, 15, 13, 0,  14, 9,  14, 11, 2,  12, 4,  7,
     13, 1,  5, 0,  15, 10, 3,  9, 8, 6,  4, 2,  1,  11, 10, 13, 7,  8,  15, 9,  12, 5,
     6,  3,  0, 14, 11, 8,  12, 7, 1, 14, 2, 13, 6,  15, 0,  9,  10, 4,  5,  3},
    {12, 1,  10, 15, 9,  2,  6, 8,  0, 13, 3,  4,  14, 7,  5, 11, 10, 15, 4, 2, 7, 12,
     9,  5,  6,  1,  13, 14, 0, 11, 3, 8,  9,  14, 15, 5,  2, 8,  12, 3,  7, 0, 4, 10,
     1,  13, 11, 6,  4,  3,  2, 12, 9, 5,  15, 10, 11, 14, 1, 7,  6,  0,  8, 13},
    {4, 11, 2,  14, 15, 0,  8,  13, 3, 12, 9,  7, 5,  10, 6,  1,  13, 0,  11, 7,  4, 9,
     1, 10, 14, 3,  5,  12, 2,  15, 8, 6,  1,  4, 11, 13, 12, 3,  7,  14, 10, 15, 6, 8,
     0, 5,  9,  2,  6,  11, 13, 8,  1, 4,  10, 7, 9,  5,  0,  15, 14, 2,  3,  12},
    {13, 2, 8,  4, 6, 15, 11, 1,  10, 9,  3, 14, 5,  0,  12, 7,  1,  15, 13, 8, 10, 3,
     7,  4, 12, 5, 6, 11, 0,  14, 9,  2,  7, 11, 4,  1,  9,  12, 14, 2,  0,  6, 10, 13,
     15, 3, 5,  8, 2, 1,  14, 7,  4,  10, 8, 13, 15, 12, 9,  0,  3,  5,  6,  11},
};

static const uint8_t places[32] = {16, 7, 20, 21, 29, 12, 28, 17, 1,  15, 23, 26, 5,  18, 31, 10,
                                   2,  8, 24, 14, 32, 27, 3,  9,  19, 13, 30, 6,  22, 11, 4,  25};

/* Added to the left half for six bits of the right one: key, table and permutation. */
static uint32_t added[BOXES][BOX];

static struct bench_shape shape(size_t units)
{
    size_t packets = units * UNIT, bytes = packets * sizeof(uint32_t);
    /* Of a box: a rotation, a look-up, an exclusive or. */
    return (struct bench_shape){packets, 2 * bytes, bytes, 3.0 * BOXES * (double)packets};
}

static uint32_t permute(uint32_t bits)
{
    uint32_t y = 0;
    for (int i = 0; i < 32; i++)
        y = y << 1 | (bits >> (32 - places[i]) & 1);
    return y;
}

static void prepare(size_t units, void *in)
{
    bench_noise(in, 2 * units * UNIT);
    for (uint32_t b = 0; b < BOXES; b++)
        for (uint32_t i = 0; i < BOX; i++) {
            uint32_t x = i ^ key[b], at = (x & 32) | (x & 1) << 4 | (x >> 1 & 15);
            added[b][i] = permute((uint32_t)boxes[b][at] << (28 - 4 * b));
        }
}

/* left + table[the last six bits of each word of at] */
LANES_INLINE words add_box(const uint32_t table[BOX], words at, words left)
{
#ifdef __AVX512F__
    const __m512i *part = (const void *)table;
    __m512i index = (__m512i)at;
    __mmask16 high = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
    __m512i low =
        _mm512_permutex2var_epi32(_mm512_loadu_si512(part), index, _mm512_loadu_si512(part + 1));
    __m512i found =
        _mm512_mask_mov_epi32(low, high,
                              _mm512_permutex2var_epi32(_mm512_loadu_si512(part + 2), index,
                                                        _mm512_loadu_si512(part + 3)));
    return left ^ (words)found;
#else
    __m256i index = (__m256i)(at & 63);
    return left ^ (words)_mm256_i32gather_epi32((const int *)table, index, 4);
#endif
}

/* A block in each lane; packets are words that are read once, and the output goes past the caches. */
static size_t hand(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    size_t all = units * UNIT, share = units / parts * UNIT, first = share * part;
    const uint32_t *left = in, *right = left + all;
    for (size_t i = first; i < first + share; i += LANES) {
        words l = *(const words_loose *)(left + i), r = *(const words_loose *)(right + i);
        _mm_prefetch((const char *)(left + i + AHEAD), _MM_HINT_T0);
        _mm_prefetch((const char *)(right + i + AHEAD), _MM_HINT_T0);
#pragma GCC unroll 8
        for (int b = 0; b < BOXES; b++) {
            int up = (4 * b + 5) % 32;
            l = add_box(added[b], r << up | r >> (32 - up), l);
        }
        lanes_stream((float *)out + i, (lanes)l);
    }
    _mm_sfence();
    return all * sizeof(uint32_t);
}

const struct bench_workload bench_round = {
    .name = "P5 round of DES",
    .container = "round.pbc",
    .program = true,
    .units = (size_t)16 << 10,
    .check_units = 20,
    .bound = BENCH_INTEGERS,
    .goal = 1.1,
    .shape = shape,
    .prepare = prepare,
    .hand = hand,
};
