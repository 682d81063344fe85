/* SPDX-License-Identifier: MIT */
/*
 * cost: the cost of an execution of a body: one part is known, the other is counted at run time
 * (lang/time.md, "Cost of a kernel").
 *
 * A *region* is code that is executed equally often: a side of an `if`, a round of a loop, the
 * statements after one that may jump away.  Places that are executed equally often share a region;
 * a loop with a known number of rounds multiplies.  Region 0 is executed once.  The cost of a lane
 * is the sum over its regions of cycles x arrivals.  The cost of a warp takes, for each region, the
 * maximum of the arrivals of its lanes.  The regions are cut so that a sum over single places would
 * give the same cost.
 *
 * A function has a plan of its own.  Its region 0 counts in the region of the call.  The cycles of
 * its other regions, as the call executed them, are one number, which a region of the call adds up.
 */
#ifndef PIPEC_COST_H
#define PIPEC_COST_H

#include "compiler/ir/graph.h"
#include "lang/devdesc.h"

enum { COST_COUNTERS_MAX = 64 }; /* of a body */

#define COST_UNBOUNDED UINT64_MAX

struct cost_region {
    uint64_t cycles;   /* of an arrival; 1 for the region of a call, which counts cycles */
    uint64_t arrivals; /* of one execution, at most; COST_UNBOUNDED: not known */
    struct span span;
    const char *what; /* "round", "then", ... */
    /* An arrival adds `step` to counter `counter`.  COST_NO_COUNTER: the region is free. */
    uint32_t counter;
    uint64_t step;
};

struct cost_counter {
    uint64_t cycles; /* the factor of the maximum over the lanes */
    uint64_t most;   /* of one execution; COST_UNBOUNDED: not known */
};

#define COST_NO_COUNTER UINT32_MAX

struct cost_plan {
    uint64_t constant;                 /* region 0 */
    const struct cost_region *regions; /* [n] is region n + 1 of the tree */
    uint32_t region_count;
    const struct cost_counter *counters;
    uint32_t counter_count; /* 0: the cost is `constant`, whatever the data */
};

/* How firings of the kernel fill warps of the device; NULL: a device with one lane.  Requires the costs of the kernel.
 * The host's processor measures time: for it nothing is counted, and the cycles are the estimate. */
struct graph_warp cost_warp_of(const struct kernel *kernel, bool stateful,
                               const struct devdesc *device);

/* Estimates the cycles of one firing on the typed body.  Fills kernel->cost_cycles, kernel->registers and
 * node->cost_cycles. */
void cost_estimate(struct compile *cx, struct graph *graph);

#endif
