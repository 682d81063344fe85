/* SPDX-License-Identifier: MIT */
/* chacha.pipe by hand. */
#include <stdint.h>

static uint32_t turned(uint32_t x, uint32_t n)
{
    return x << n | x >> (32 - n);
}

void chacha(const uint32_t *restrict x, uint32_t *restrict y, long blocks)
{
    for (long block = 0; block < blocks; block++) {
        uint32_t s[16];
        for (uint32_t i = 0; i < 16; i++)
            s[i] = x[16 * block + i];
        for (uint32_t n = 0; n < 8 * N; n++) {
            uint32_t a = n & 3, d = (n & 7) < 4 ? 0 : 1;
            uint32_t b = 4 + ((a + d) & 3), c = 8 + ((a + 2 * d) & 3), e = 12 + ((a + 3 * d) & 3);
            s[a] += s[b];
            s[e] = turned(s[e] ^ s[a], 16);
            s[c] += s[e];
            s[b] = turned(s[b] ^ s[c], 12);
            s[a] += s[b];
            s[e] = turned(s[e] ^ s[a], 8);
            s[c] += s[e];
            s[b] = turned(s[b] ^ s[c], 7);
        }
        for (uint32_t i = 0; i < 16; i++)
            y[16 * block + i] = s[i];
    }
}
