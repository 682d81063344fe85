/* SPDX-License-Identifier: MIT */
/* boxes.pipe by hand. */
#include <stdint.h>

static const uint32_t box[16] = {12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2};

void cipher(const uint32_t *restrict x, uint32_t *restrict y, long blocks)
{
    for (long b = 0; b < blocks; b++) {
        uint32_t left = x[2 * b], right = x[2 * b + 1];
        for (uint32_t n = 0; n < N; n++) {
            uint32_t key = n == 0 ? 1 : n == N - 1 ? 3 : 40503u * n % 65536u, mixed = 0;
            for (uint32_t i = 0; i < 8; i++)
                mixed |= box[((right >> 4 * i) ^ (key + i)) & 15] << 4 * i;
            uint32_t next = left + (mixed << 7 | mixed >> 25);
            left = right;
            right = next;
        }
        y[2 * b] = left;
        y[2 * b + 1] = right;
    }
}
