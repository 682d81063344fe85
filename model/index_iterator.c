/* SPDX-License-Identifier: MIT */
#include "model/index_iterator.h"

#include <string.h>

/* Lanes of the host's vectors; lanes past the last one are computed too.  Indices are far below
 * 2^31, and every host compares signed numbers in vectors. */
typedef int32_t vector __attribute__((vector_size(PRT_INDEX_BLOCK * sizeof(int32_t))));

static void iterate_block(struct prt_index_iterator *it, uint32_t first)
{
    const int32_t last_x = (int32_t)(it->extents[0] - 1), last_y = (int32_t)(it->extents[1] - 1);
    vector x, y, z, carry; /* a carry is all ones: subtracting it adds one */
    memcpy(&x, it->x + first, sizeof x);
    memcpy(&y, it->y + first, sizeof y);
    memcpy(&z, it->z + first, sizeof z);
    x += (int32_t)it->step[0];
    carry = x > last_x;
    x -= carry & (last_x + 1);
    y += (int32_t)it->step[1] - carry;
    carry = y > last_y;
    y -= carry & (last_y + 1);
    z += (int32_t)it->step[2] - carry;
    memcpy(it->x + first, &x, sizeof x);
    memcpy(it->y + first, &y, sizeof y);
    memcpy(it->z + first, &z, sizeof z);
}

void prt_index_iterate(struct prt_index_iterator *it)
{
    for (uint32_t first = 0; first < it->lanes; first += PRT_INDEX_BLOCK)
        iterate_block(it, first);
}
