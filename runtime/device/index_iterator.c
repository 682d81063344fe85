#include "runtime/device/index_iterator.h"

void prt_index_iterate(struct prt_index_iterator *it)
{
    const uint32_t dx = it->extents[0], dy = it->extents[1];
    const uint32_t xc = it->step[0], yc = it->step[1], zc = it->step[2];
    for (uint32_t lane = 0; lane < it->lanes; lane++) {
        uint32_t x = it->x[lane] + xc;
        uint32_t carry = x >= dx;
        it->x[lane] = carry ? x - dx : x;
        uint32_t y = it->y[lane] + yc + carry;
        carry = y >= dy;
        it->y[lane] = carry ? y - dy : y;
        it->z[lane] += zc + carry;
    }
}
