/* SPDX-License-Identifier: MIT */
/*
 * trial: a run of a plan on its device, played while compiling.
 *
 * Discrete events: the static part of the program, if it is to have one, and the scheduler machine's guarded loop instruction by instruction (selections under
 * a policy, thresholds and their waiver, open packets, completions), a queue for each importance on each
 * sub-device, of which the more important one interrupts, and for each launch overhead by its place in a packet, a switch where the last launch was another
 * stage's, and the longer of computing (warps over compute units) and memory (lang/time.md).  Buffers
 * are counters of packets: one more of them costs nothing.
 *
 * What it leaves out: indices of work-items, the depth of the device queue (a launching firing costs the
 * most that its tree may, spread over the compute units), ends of frames, `finish`, reference
 * packets that are stored anew; an interrupted launch yields after half a warp.  What data decides is
 * taken from the estimates of the analyses: kernels that are counted cost what bodies/cost says,
 * bounded rates append their most, or their least.  Rates with phases are taken evenly.
 *
 *   Requires  depths, thresholds, batches, sub-devices, packs and paces of the plan.
 *   Gives     the same on every host: integers alone.
 *   Work      at most `looks` looks at an end of a buffer, about as many dispatches as that allows.
 *   Fails     never.
 */
#ifndef PIPEC_TRIAL_H
#define PIPEC_TRIAL_H

#include "compiler/plan/schedule.h"

/* As much as is worth a trial: some iterations of the first island, and how long to look. */
struct trial_size {
    uint64_t iterations;
    uint64_t looks;
    bool least; /* bounded rates append their least, not their most */
};

struct trial {
    uint64_t cycles; /* from the begin to the end of the last launch */
    /* Of so many iterations once buffers are filled.  UINT64_MAX: it stands, or it did not get far
     * enough in `looks` to tell. */
    uint64_t steady_cycles;
    uint64_t dispatches;
    bool whole; /* all iterations were played; else `cycles` are those until it was cut off */
};

/* How much to try so that every stage is dispatched some times.  Requires batches. */
struct trial_size trial_size_for(const struct plan *plan);
/* `schedule`: of the static part; NULL: there is none. */
struct trial trial_run(struct arena *scratch, const struct graph *graph, const struct plan *plan,
                       const struct schedule *schedule, enum graph_policy selection,
                       struct trial_size size);
/* Is one figure of a trial more than a hundredth less than another?  What is closer does not count. */
bool trial_is_faster(uint64_t cycles, uint64_t than);
/* "1 iteration takes", "64 iterations take". */
const char *trial_iterations_text(struct arena *arena, uint64_t iterations);

#endif
