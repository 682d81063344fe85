/* SPDX-License-Identifier: MIT */
/*
 * index_iterator: the indices of successive warps, by adds, compares and subtracts only
 * (lang/index_generator.md, "Iterator").
 *
 * Every lane advances by c items, the lanes of a warp.  With c = xc + yc dx + zc dx dy:
 *
 *     x' = x + xc              carry if x' >= dx: x' -= dx
 *     y' = y + yc + carry      carry if y' >= dy: y' -= dy
 *     z' = z + zc + carry
 *
 * One carry each is enough, because x, xc < dx and y, yc < dy.  Past the group's last item z is dz or
 * more: such a lane has no item.
 *
 * Requires: xc < dx, yc < dy; the first warp's indices; the lanes past it, up to a whole block, may have
 *   any values; at most PRT_INDEX_LANES_MAX lanes.
 * Ownership: plain data.  Thread-safety: the caller's.  Allocation, errors: none.
 */
#ifndef MODEL_INDEX_ITERATOR_H
#define MODEL_INDEX_ITERATOR_H

#include <stdint.h>

#define PRT_INDEX_LANES_MAX 1024u
#define PRT_INDEX_BLOCK 4u /* lanes that are moved on together */

_Static_assert(PRT_INDEX_LANES_MAX % PRT_INDEX_BLOCK == 0, "the last block is whole");

struct prt_index_iterator {
    uint32_t extents[2]; /* dx, dy */
    uint32_t step[3];    /* xc, yc, zc */
    uint32_t lanes;
    uint32_t x[PRT_INDEX_LANES_MAX], y[PRT_INDEX_LANES_MAX], z[PRT_INDEX_LANES_MAX];
};

/* To the next warp: one clock. */
void prt_index_iterate(struct prt_index_iterator *iterator);

#endif
