/* SPDX-License-Identifier: MIT */
/*
 * clock_cus: compute units of the oracle of time (clockwork.h) on which a cycle passes at a time.
 * Each has cores.  Every running warp executes an instruction a cycle, instruction i on core i modulo
 * the cores.  So a warp can begin on a unit in a cycle in which core 0 is free.
 */
#ifndef TESTS_REFERENCE_CLOCK_CUS_H
#define TESTS_REFERENCE_CLOCK_CUS_H

#include <stdbool.h>

enum { CLOCK_CUS = 16, CLOCK_CORES = 5 };

struct clock_cu {
    struct {
        long done, left; /* instructions; none left: no warp */
    } warps[CLOCK_CORES];
};

/* Is core 0 free in this cycle? */
static inline bool clock_cu_can_begin(const struct clock_cu *cu, long cores)
{
    for (int w = 0; w < CLOCK_CORES; w++)
        if (cu->warps[w].left > 0 && cu->warps[w].done % cores == 0) return false;
    return true;
}

static inline void clock_cu_begin(struct clock_cu *cu, long cost)
{
    int w = 0;
    while (cu->warps[w].left > 0)
        w++;
    cu->warps[w].done = 0;
    cu->warps[w].left = cost;
}

/* True: some warp was running. */
static inline bool clock_cu_pass(struct clock_cu *cu)
{
    bool busy = false;
    for (int w = 0; w < CLOCK_CORES; w++) {
        if (cu->warps[w].left == 0) continue;
        cu->warps[w].left--;
        cu->warps[w].done++;
        busy = true;
    }
    return busy;
}

static inline bool clock_cu_is_busy(const struct clock_cu *cu)
{
    for (int w = 0; w < CLOCK_CORES; w++)
        if (cu->warps[w].left > 0) return true;
    return false;
}

#endif
