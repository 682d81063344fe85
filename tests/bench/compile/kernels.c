/* SPDX-License-Identifier: MIT */
/* kernels.pipe by hand: a function for each of 64 stages, or of 512 where there are more. */
#include <stdint.h>

static const uint32_t box[16] = {12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2};

#define STAGE(id)                                                                                  \
    void stage##id(const uint32_t *restrict x, uint32_t *restrict y, long blocks)                  \
    {                                                                                              \
        for (long b = 0; b < blocks; b++) {                                                        \
            uint32_t left = x[2 * b], right = x[2 * b + 1], mixed = 0;                             \
            for (uint32_t i = 0; i < 8; i++)                                                       \
                mixed |= box[((right >> 4 * i) ^ (40503u * (1##id - 1000u) % 65536u + i)) & 15]    \
                         << 4 * i;                                                                 \
            y[2 * b] = right;                                                                      \
            y[2 * b + 1] = left + (mixed << 7 | mixed >> 25);                                      \
        }                                                                                          \
    }
/* clang-format off */
#define STAGES8(id)                                                                                \
    STAGE(id##0) STAGE(id##1) STAGE(id##2) STAGE(id##3)                                            \
    STAGE(id##4) STAGE(id##5) STAGE(id##6) STAGE(id##7)
#define STAGES64(id)                                                                               \
    STAGES8(id##0) STAGES8(id##1) STAGES8(id##2) STAGES8(id##3)                                    \
    STAGES8(id##4) STAGES8(id##5) STAGES8(id##6) STAGES8(id##7)
/* clang-format on */

STAGES64(0)
#if N > 64
STAGES64(1)
STAGES64(2)
STAGES64(3)
STAGES64(4)
STAGES64(5)
STAGES64(6)
STAGES64(7)
#endif
