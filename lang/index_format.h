/* SPDX-License-Identifier: MIT */
/*
 * index_format: the packed index of a work-item, shared by compiler and runtime
 * (lang/index_generator.md).
 *
 *     register:   0 ... 0 |    z    |    y    |    x    |
 *                          <-bits z-><-bits y-><-bits x-> bit 0
 *
 * Work-item n of a group of dx x dy x dz has n = x + y dx + z dx dy.  Each of x, y, z takes as many
 * bits as its greatest value d - 1 needs: ceil(log2 d), none where d is 1.  (The place of d's
 * highest set bit is one too few where d is no power of two: 99 needs 7 bits, not 6.)  The register
 * has 16 bits where that is enough, else 32.
 *
 * Pure functions.  Requires: extents of 1.., at most INDEX_ITEMS_MAX items: then 18 bits hold x, y
 * and z, for each extent adds less than one bit to log2 of the items.
 */
#ifndef LANG_INDEX_FORMAT_H
#define LANG_INDEX_FORMAT_H

#include <stdint.h>

#define INDEX_ITEMS_MAX 65535u /* work-items of a group */

struct index_format {
    uint32_t bits[3];  /* of x, y, z */
    uint32_t shift[3]; /* lowest bit of each */
    uint32_t total_bits;
    uint32_t register_bits; /* 16 or 32 */
};

/* ceil(log2 extent). */
static inline uint32_t index_bits(uint32_t extent)
{
    return extent <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(extent - 1);
}

static inline struct index_format index_format_of(const uint32_t extents[3])
{
    struct index_format format = {.total_bits = 0};
    for (int d = 0; d < 3; d++) {
        format.bits[d] = index_bits(extents[d]);
        format.shift[d] = format.total_bits;
        format.total_bits += format.bits[d];
    }
    format.register_bits = format.total_bits <= 16 ? 16 : 32;
    return format;
}

static inline uint32_t index_pack(const struct index_format *format, uint32_t x, uint32_t y,
                                  uint32_t z)
{
    return x | y << format->shift[1] | z << format->shift[2];
}

/* x, y or z (`dimension` 0, 1, 2) of a packed index. */
static inline uint32_t index_unpack(const struct index_format *format, uint32_t packed,
                                    int dimension)
{
    return packed >> format->shift[dimension] & ((UINT32_C(1) << format->bits[dimension]) - 1);
}

#endif
