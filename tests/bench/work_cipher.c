/* SPDX-License-Identifier: MIT */
/* W9: ChaCha20 of examples/cipher, with the key it has by default. */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

enum { WORDS = 16, ROUNDS = 10, BLOCK_BYTES = 64 };

#define UNIT ((size_t)16) /* blocks */

static const uint32_t start[WORDS] = {
    0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c,
    0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c, 1,          0,          0x4a000000, 0};

static const int quarters[8][4] = {{0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14}, {3, 7, 11, 15},
                                   {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13},  {3, 4, 9, 14}};

static struct bench_shape shape(size_t units)
{
    size_t bytes = units * UNIT * BLOCK_BYTES;
    /* Of a quarter round: 4 additions, 4 exclusive ors, 4 rotations. */
    return (struct bench_shape){bytes, bytes, bytes,
                                (double)(units * UNIT) * (ROUNDS * 8 * 12 + 2 * WORDS)};
}

static void prepare(size_t units, void *in)
{
    bench_noise(in, units * UNIT * BLOCK_BYTES / sizeof(float));
}

/* ---- by hand: a block in each lane ---- */

#ifdef __AVX512F__
#define ROTATE(v, n) ((words)_mm512_rol_epi32((__m512i)(v), (n)))
#else
/* By whole bytes with a shuffle, else with two shifts. */
LANES_INLINE words rotate_lanes(words v, int n)
{
    const __m256i by16 = _mm256_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2,
                                          3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    const __m256i by8 = _mm256_setr_epi8(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0,
                                         1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14);
    if (n == 16) return (words)_mm256_shuffle_epi8((__m256i)v, by16);
    if (n == 8) return (words)_mm256_shuffle_epi8((__m256i)v, by8);
    return v << n | v >> (32 - n);
}
#define ROTATE(v, n) rotate_lanes((v), (n))
#endif

LANES_INLINE void quarter_lanes(words *a, words *b, words *c, words *d)
{
    *a += *b, *d = ROTATE(*d ^ *a, 16);
    *c += *d, *b = ROTATE(*b ^ *c, 12);
    *a += *b, *d = ROTATE(*d ^ *a, 8);
    *c += *d, *b = ROTATE(*b ^ *c, 7);
}

/* Words w .. w + LANES - 1 of LANES blocks, over the text. */
LANES_INLINE void mask(const words *key, const uint8_t *text, uint8_t *cipher)
{
    lanes r[LANES];
    for (int i = 0; i < LANES; i++)
        r[i] = (lanes)key[i];
    lanes_transpose(r);
    for (int b = 0; b < LANES; b++)
        *(words_loose *)(void *)(cipher + b * BLOCK_BYTES) =
            *(const words_loose *)(const void *)(text + b * BLOCK_BYTES) ^ (words)r[b];
}

static size_t hand(size_t units, const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = units * UNIT / parts, from = share * part;
    words numbers;
    for (uint32_t i = 0; i < LANES; i++)
        numbers[i] = i;
    for (size_t block = from; block < from + share; block += LANES) {
        words v[WORDS];
        for (int i = 0; i < WORDS; i++)
            v[i] = (words){0} + start[i];
        v[12] += numbers + (uint32_t)block;
        for (int round = 0; round < ROUNDS; round++) {
#pragma GCC unroll 8
            for (int q = 0; q < 8; q++)
                quarter_lanes(&v[quarters[q][0]], &v[quarters[q][1]], &v[quarters[q][2]],
                              &v[quarters[q][3]]);
        }
        for (int i = 0; i < WORDS; i++)
            v[i] += start[i];
        v[12] += numbers + (uint32_t)block;
        const uint8_t *text = (const uint8_t *)in + block * BLOCK_BYTES;
        uint8_t *cipher = (uint8_t *)out + block * BLOCK_BYTES;
        for (size_t w = 0; w < WORDS; w += LANES)
            mask(v + w, text + 4 * w, cipher + 4 * w);
    }
    return units * UNIT * BLOCK_BYTES;
}

/* ---- kernel by kernel ---- */

static uint32_t rotate(uint32_t v, int n)
{
    return v << n | v >> (32 - n);
}

static void whole_round(const uint32_t *restrict from, uint32_t *restrict to, size_t blocks)
{
    for (size_t block = 0; block < blocks; block++) {
        uint32_t s[WORDS];
        memcpy(s, from + block * WORDS, sizeof s);
        for (int q = 0; q < 8; q++) {
            int w = quarters[q][0], x = quarters[q][1], y = quarters[q][2], z = quarters[q][3];
            s[w] += s[x], s[z] = rotate(s[z] ^ s[w], 16);
            s[y] += s[z], s[x] = rotate(s[x] ^ s[y], 12);
            s[w] += s[x], s[z] = rotate(s[z] ^ s[w], 8);
            s[y] += s[z], s[x] = rotate(s[x] ^ s[y], 7);
        }
        memcpy(to + block * WORDS, s, sizeof s);
    }
}

static void unfused(size_t units, const void *in, void *out)
{
    size_t blocks = units * UNIT, bytes = blocks * BLOCK_BYTES;
    uint32_t *first = bench_spare(0, bytes);
    uint32_t *state[2] = {bench_spare(1, bytes), bench_spare(2, bytes)};
    uint8_t *key = bench_spare(3, bytes), *cipher = out;
    const uint8_t *text = in;
    for (size_t block = 0; block < blocks; block++) {
        memcpy(first + block * WORDS, start, sizeof start);
        first[block * WORDS + 12] += (uint32_t)block;
    }
    const uint32_t *from = first;
    for (int round = 0; round < ROUNDS; round++) {
        whole_round(from, state[round % 2], blocks);
        from = state[round % 2];
    }
    for (size_t i = 0; i < blocks * WORDS; i++)
        state[0][i] = from[i] + first[i];
    for (size_t i = 0; i < blocks * WORDS; i++)
        for (size_t b = 0; b < 4; b++)
            key[4 * i + b] = (uint8_t)(state[0][i] >> (8 * b));
    for (size_t i = 0; i < bytes; i++)
        cipher[i] = text[i] ^ key[i];
}

const struct bench_workload bench_cipher = {
    .name = "W9 ChaCha20",
    .container = "chacha20.pbc",
    .units = (size_t)256 << 10,
    .check_units = 20,
    .bound = BENCH_INTEGERS,
    .goal = 1.1,
    .shape = shape,
    .prepare = prepare,
    .hand = hand,
    .unfused = unfused,
};
