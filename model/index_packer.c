/* SPDX-License-Identifier: MIT */
#include "model/index_packer.h"

#include <string.h>

enum { BLOCK = 4 };

/* Vectors of the host: a block of indices, and a block of narrow registers that hold them. */
typedef uint32_t vector __attribute__((vector_size(BLOCK * sizeof(uint32_t))));
typedef uint16_t narrow_vector __attribute__((vector_size(BLOCK * sizeof(uint16_t))));

static void pack_block(const struct index_format *format, const uint32_t *x, const uint32_t *y,
                       const uint32_t *z, uint16_t *to)
{
    vector a, b, c;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    memcpy(&c, z, sizeof c);
    a |= b << format->shift[1] | c << format->shift[2];
    narrow_vector packed = __builtin_convertvector(a, narrow_vector);
    memcpy(to, &packed, sizeof packed);
}

static void pack_narrow(const struct index_format *format, const uint32_t *x, const uint32_t *y,
                        const uint32_t *z, uint32_t count, uint16_t *to)
{
    uint32_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK)
        pack_block(format, x + i, y + i, z + i, to + i);
    for (; i < count; i++)
        to[i] = (uint16_t)index_pack(format, x[i], y[i], z[i]);
}

static void pack_wide(const struct index_format *format, const uint32_t *x, const uint32_t *y,
                      const uint32_t *z, uint32_t count, uint32_t *to)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = index_pack(format, x[i], y[i], z[i]);
}

void prt_index_pack(const struct index_format *format, const uint32_t *x, const uint32_t *y,
                    const uint32_t *z, uint32_t count, void *registers, uint32_t at)
{
    if (format->register_bits == 16)
        pack_narrow(format, x, y, z, count, (uint16_t *)registers + at);
    else
        pack_wide(format, x, y, z, count, (uint32_t *)registers + at);
}
