/* SPDX-License-Identifier: MIT */
/* cipher.pipe by hand. */
#include <stdint.h>

void cipher(const uint32_t *restrict x, uint32_t *restrict y, long blocks)
{
    for (long b = 0; b < blocks; b++) {
        uint32_t left = x[2 * b], right = x[2 * b + 1];
        for (uint32_t i = 0; i < N; i++) {
            uint32_t key = i == 0 ? 0x9e3779b9u : i == N - 1 ? 0x61c88647u : 40503u * i + 77u;
            uint32_t mixed = ((right << 4 ^ right >> 5) + right) ^ key;
            uint32_t next = left + (mixed << 7 | mixed >> 25);
            left = right;
            right = next;
        }
        y[2 * b] = left;
        y[2 * b + 1] = right;
    }
}
