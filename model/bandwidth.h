/* SPDX-License-Identifier: MIT */
/*
 * bandwidth: what launches that have been settled take of the bandwidth of a device on which they share it, cycle by cycle
 * (lang/time.md, "Shared bandwidth").  A launch takes of each cycle what those before it leave, at most its own
 * share, until it has taken its share times its cycles.
 *
 * The cycles are kept as steps: from one step to the next, every cycle has the same part in use.  Before the first step and
 * from the last one on nothing is in use.
 *
 * Thread-safety: the scheduler thread only.  Allocation: prt_bandwidth_reserve only.  A zeroed struct is allowed: nothing
 * is in use, and there is no room.
 */
#ifndef MODEL_BANDWIDTH_H
#define MODEL_BANDWIDTH_H

#include "base/status.h"
#include "core/time/timing.h"

struct prt_bandwidth_step {
    uint64_t from_cycles;
    uint64_t used; /* of CORE_TIMING_WHOLE */
};

struct prt_bandwidth {
    struct prt_bandwidth_step *steps; /* in order of time */
    size_t count, capacity;
};

/* Makes room for so many launches whose ends have not been forgotten. */
enum prt_status prt_bandwidth_reserve(struct prt_bandwidth *bandwidth, uint32_t launches);
void prt_bandwidth_free(struct prt_bandwidth *bandwidth);

/* No launch takes anything before that moment any more. */
void prt_bandwidth_forget(struct prt_bandwidth *bandwidth, uint64_t before_cycles);

/* Takes the bandwidth for bytes whose first ones have come then, and returns when the last ones have.  Requires: the share
 * is above 0, and there is room. */
uint64_t prt_bandwidth_take(struct prt_bandwidth *bandwidth, uint64_t there_cycles,
                            const struct core_timing_flow *flow);

#endif
