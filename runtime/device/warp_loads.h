/* SPDX-License-Identifier: MIT */
/*
 * warp_loads: list scheduling of warps of different cost (timing.h) for whoever asks only when the
 * last one ends, not which compute unit has executed what.
 *
 * Compute units that cannot be told apart are a sorted list of loads, when each is free: a warp takes
 * the first one away and puts it back in order, later by what it costs.  With l(0) <= l(1) <= ..., x =
 * l(0) + cost and l(n) beyond all, that is l(i) = max(l(i), min(x, l(i + 1))) for all i at once: where
 * l(i + 1) <= x the others move down, x comes behind them, and the rest stays, for l(i) >= x there.
 * So a warp is a few vector instructions without a branch, on loads that stay in registers.
 *
 * Requires: cu_count is 1 or more.  Thread-safe: no state.  Allocation: none.  Errors: none.
 */
#ifndef RUNTIME_DEVICE_WARP_LOADS_H
#define RUNTIME_DEVICE_WARP_LOADS_H

#include <stdbool.h>
#include <stdint.h>

/* *end_cycles: when the last of the warps ends; *busy_cycles: their sum.  False: this is not for this
 * machine (AVX2), for so many compute units (64), or for so many cycles in all (31 bits). */
bool prt_warp_loads_end(const uint64_t *warp_cycles, uint64_t warps, uint32_t cu_count,
                        uint64_t *end_cycles, uint64_t *busy_cycles);

#endif
