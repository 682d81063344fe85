/* SPDX-License-Identifier: MIT */
/*
 * warp_loads: list scheduling of warps of different cost (timing.h), for callers that need only the
 * end of the last warp, not the work of each compute unit.
 *
 * Compute units that need not be distinguished are a sorted list of loads (the moment at which each
 * is free).  A warp removes the first load and inserts it again in order, increased by its cost.  With
 * l(0) <= l(1) <= ..., x = l(0) + cost and l(n) beyond all, that is l(i) = max(l(i), min(x, l(i + 1)))
 * for all i at once: where l(i + 1) <= x the others move down, x follows them, and the rest stays, for
 * l(i) >= x there.  So a warp is a few vector instructions without a branch, on loads in registers.
 *
 * Requires: cu_count is 1 or more.  Thread-safe: no state.  Allocation: none.  Errors: none.
 */
#ifndef CORE_TIME_WARP_LOADS_H
#define CORE_TIME_WARP_LOADS_H

#include <stdbool.h>
#include <stdint.h>

/* *end_cycles: the end of the last warp; *busy_cycles: their sum.  False: not supported on this
 * machine (AVX2), for this many compute units (64), or for this many cycles in all (31 bits). */
bool core_warp_loads_end(const uint64_t *warp_cycles, uint64_t warps, uint32_t cu_count,
                         uint64_t *end_cycles, uint64_t *busy_cycles);

#endif
