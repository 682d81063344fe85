/* SPDX-License-Identifier: MIT */
/*
 * cost: what the execution of a body costs, cut into what is known and what has to be counted
 * (lang/time.md, "Cost of a kernel").
 *
 * A *region* is what is executed as often as control arrives at one place of the tree: a side of an
 * `if`, a round of a loop, what follows a statement that may jump away.  Places that are executed
 * equally often share one; a loop of a known number of rounds multiplies.  Region 0 is executed
 * once.  The cost of a lane is the sum of cycles x arrivals; of a warp, of the most arrivals of any
 * of its lanes.  Regions are told apart so that this is what summing up place by place would give.
 *
 * A function has a plan of its own: at a call its region 0 counts where the call stands, and the sum
 * of its others, as the call has executed them, is one number that the call's own region adds up.
 */
#ifndef PIPEC_COST_H
#define PIPEC_COST_H

#include "compiler/ir/graph.h"
#include "lang/devdesc.h"

enum { COST_COUNTERS_MAX = 64 }; /* of a body */

#define COST_UNBOUNDED UINT64_MAX

struct cost_region {
    uint64_t cycles;   /* of an arrival; of a call's region 1, for it counts cycles */
    uint64_t arrivals; /* of one execution, at most; COST_UNBOUNDED: not known */
    struct span span;
    const char *what; /* "round", "then", ... */
    /* An arrival adds `step` to counter `counter`, COST_NO_COUNTER: nothing, for it is free. */
    uint32_t counter;
    uint64_t step;
};

struct cost_counter {
    uint64_t cycles; /* that the most of the lanes is multiplied by */
    uint64_t most;   /* of one execution; COST_UNBOUNDED: not known */
};

#define COST_NO_COUNTER UINT32_MAX

struct cost_plan {
    uint64_t constant;                 /* region 0 */
    const struct cost_region *regions; /* [n] is what the tree calls n + 1 */
    uint32_t region_count;
    const struct cost_counter *counters;
    uint32_t counter_count; /* 0: the cost is `constant`, whatever the data */
};

/* How firings of the kernel, whose costs are known, fill warps of the device; NULL: of one lane.  The host's processor
 * measures time: for it nothing is counted, and the cycles are the estimate. */
struct graph_warp cost_warp_of(const struct kernel *kernel, bool stateful,
                               const struct devdesc *device);

/* Estimates the cycles of one firing on the typed body.  Fills kernel->cost_cycles and
 * node->cost_cycles. */
void cost_estimate(struct compile *cx, struct graph *graph);

#endif
