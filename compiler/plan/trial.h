/* SPDX-License-Identifier: MIT */
/*
 * trial: a run of a plan on its device, played while compiling.
 *
 * A simulation by discrete events.  It executes the static part of the program, if there is one, and the guarded loop of
 * the scheduler machine, instruction by instruction: selections under a policy, thresholds and their waiver, open packets,
 * completions.  Each importance on each sub-device has a queue, and the more important one interrupts.  A launch takes
 * the overhead of its place in a packet, a switch if the launch before was another stage's, and the longer of computing
 * (warps over compute units) and memory (lang/time.md).  Buffers are counters of packets, so their depth costs nothing.
 *
 * A trial leaves out indices of work-items, ends of frames, `finish`, reference packets that are stored anew, and the
 * depth of the device queue: a firing that launches costs the maximum of its tree, spread over the compute units.  An
 * interrupted launch yields after half a warp.  Where data decides, estimates of the analyses serve: counted kernels
 * have the cost of bodies/cost, bounded rates append their maximum, or their minimum.  Phases are averaged.
 *
 *   Requires  depths, thresholds, batches, sub-devices, packs and paces of the plan.
 *   Gives     the same on every host: only integers.
 *   Work      at most `looks` looks at an end of a buffer, about as many dispatches as that allows.
 *   Fails     never.
 */
#ifndef PIPEC_TRIAL_H
#define PIPEC_TRIAL_H

#include "compiler/plan/schedule.h"

/* The extent of a trial: iterations of the first island, and a bound of its work. */
struct trial_size {
    uint64_t iterations;
    uint64_t looks;
    bool least; /* bounded rates append their minimum, not their maximum */
};

struct trial {
    uint64_t cycles; /* from the begin to the end of the last launch */
    /* Of so many iterations once buffers are filled.  UINT64_MAX: it stalls, or `looks` were too few. */
    uint64_t steady_cycles;
    uint64_t dispatches;
    bool whole; /* all iterations were played; else `cycles` are those until it was cut off */
};

/* The extent with which every stage is dispatched some times.  Requires batches. */
struct trial_size trial_size_for(const struct plan *plan);
/* `schedule`: of the static part; NULL: there is none. */
struct trial trial_run(struct arena *scratch, const struct graph *graph, const struct plan *plan,
                       const struct schedule *schedule, enum graph_policy selection,
                       struct trial_size size);
/* Is one figure of a trial more than a hundredth less than another?  A smaller difference does not count. */
bool trial_is_faster(uint64_t cycles, uint64_t than);
/* "1 iteration takes", "64 iterations take". */
const char *trial_iterations_text(struct arena *arena, uint64_t iterations);

#endif
