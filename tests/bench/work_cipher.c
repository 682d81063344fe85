/* W9: ChaCha20 of examples/cipher, with the key it has by default. */
#include "tests/bench/bench.h"
#include "tests/bench/lanes.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 16, ROUNDS = 10, BLOCK_BYTES = 64, AT_ONCE = 8 /* blocks */ };

#define TEXT_BYTES ((size_t)8 << 20)
#define BLOCKS (TEXT_BYTES / BLOCK_BYTES)

static const uint32_t start[WORDS] = {
    0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c,
    0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c, 1,          0,          0x4a000000, 0};

static const int quarters[8][4] = {{0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14}, {3, 7, 11, 15},
                                   {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13},  {3, 4, 9, 14}};

static uint32_t *first, *state[2];
static uint8_t *key;

static void prepare(void *in)
{
    bench_noise(in, TEXT_BYTES / sizeof(float));
    if (first != NULL) return;
    first = bench_allocate(TEXT_BYTES);
    state[0] = bench_allocate(TEXT_BYTES);
    state[1] = bench_allocate(TEXT_BYTES);
    key = bench_allocate(TEXT_BYTES);
}

/* ---- by hand: eight blocks in the lanes ---- */

#define ADD _mm256_add_epi32
#define XOR _mm256_xor_si256
#define ROTATE(v, n) _mm256_or_si256(_mm256_slli_epi32((v), (n)), _mm256_srli_epi32((v), 32 - (n)))

LANES_INLINE void quarter_lanes(__m256i *a, __m256i *b, __m256i *c, __m256i *d)
{
    const __m256i by16 = _mm256_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2,
                                          3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    const __m256i by8 = _mm256_setr_epi8(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0,
                                         1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14);
    *a = ADD(*a, *b), *d = _mm256_shuffle_epi8(XOR(*d, *a), by16);
    *c = ADD(*c, *d), *b = XOR(*b, *c), *b = ROTATE(*b, 12);
    *a = ADD(*a, *b), *d = _mm256_shuffle_epi8(XOR(*d, *a), by8);
    *c = ADD(*c, *d), *b = XOR(*b, *c), *b = ROTATE(*b, 7);
}

/* Words w .. w + 7 of eight blocks, over the text. */
LANES_INLINE void mask_half(const __m256i *words, const uint8_t *text, uint8_t *cipher)
{
    lanes r[8];
    for (int i = 0; i < 8; i++)
        r[i] = _mm256_castsi256_ps(words[i]);
    lanes_transpose(r);
    for (int b = 0; b < 8; b++) {
        __m256i t = _mm256_loadu_si256((const __m256i *)(const void *)(text + b * BLOCK_BYTES));
        _mm256_storeu_si256((__m256i *)(void *)(cipher + b * BLOCK_BYTES),
                            XOR(t, _mm256_castps_si256(r[b])));
    }
}

static void hand(const void *in, void *out, unsigned part, unsigned parts)
{
    size_t share = BLOCKS / parts, from = share * part;
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (size_t block = from; block < from + share; block += AT_ONCE) {
        __m256i s[WORDS], v[WORDS];
        for (int i = 0; i < WORDS; i++)
            s[i] = _mm256_set1_epi32((int)start[i]);
        s[12] = ADD(s[12], ADD(numbers, _mm256_set1_epi32((int)(uint32_t)block)));
        memcpy(v, s, sizeof v);
        for (int round = 0; round < ROUNDS; round++) {
#pragma GCC unroll 8
            for (int q = 0; q < 8; q++)
                quarter_lanes(&v[quarters[q][0]], &v[quarters[q][1]], &v[quarters[q][2]],
                              &v[quarters[q][3]]);
        }
        for (int i = 0; i < WORDS; i++)
            v[i] = ADD(v[i], s[i]);
        const uint8_t *text = (const uint8_t *)in + block * BLOCK_BYTES;
        uint8_t *cipher = (uint8_t *)out + block * BLOCK_BYTES;
        mask_half(v, text, cipher);
        mask_half(v + 8, text + BLOCK_BYTES / 2, cipher + BLOCK_BYTES / 2);
    }
}

/* ---- kernel by kernel ---- */

static uint32_t rotate(uint32_t v, int n)
{
    return v << n | v >> (32 - n);
}

static void whole_round(const uint32_t *restrict from, uint32_t *restrict to)
{
    for (size_t block = 0; block < BLOCKS; block++) {
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

static void unfused(const void *in, void *out)
{
    const uint8_t *text = in;
    uint8_t *cipher = out;
    for (size_t block = 0; block < BLOCKS; block++) {
        memcpy(first + block * WORDS, start, sizeof start);
        first[block * WORDS + 12] += (uint32_t)block;
    }
    const uint32_t *from = first;
    for (int round = 0; round < ROUNDS; round++) {
        whole_round(from, state[round % 2]);
        from = state[round % 2];
    }
    for (size_t i = 0; i < BLOCKS * WORDS; i++)
        state[0][i] = from[i] + first[i];
    for (size_t i = 0; i < BLOCKS * WORDS; i++)
        for (size_t b = 0; b < 4; b++)
            key[4 * i + b] = (uint8_t)(state[0][i] >> (8 * b));
    for (size_t i = 0; i < TEXT_BYTES; i++)
        cipher[i] = text[i] ^ key[i];
}

const struct bench_workload bench_cipher = {
    .name = "W9 ChaCha20",
    .container = "chacha20.pbc",
    .packets = TEXT_BYTES,
    .in_bytes = TEXT_BYTES,
    .out_bytes = TEXT_BYTES,
    /* Of a quarter round: 4 additions, 4 exclusive ors, 2 rotations of 1 and 2 of 3. */
    .operations = 1.0 * BLOCKS * (ROUNDS * 8 * 16 + 2 * WORDS),
    .bound = BENCH_INTEGERS,
    .prepare = prepare,
    .hand = hand,
    .unfused = unfused,
};
