/* SPDX-License-Identifier: MIT */
/*
 * trial: a run of a plan on its device, played while compiling.
 *
 * It executes the real program of the plan on the scheduler core (core/machine.h), on the tables that the container gets
 * (plan_tables.h).  Launches take the time of the simulated GPU's clock (model/sim_clock.h), but no kernel is executed.
 * So the cycles are those of a run on the simulated device, to the cycle, as long as no data decides.  Where it does, a
 * trial assumes:
 *
 *   a warp whose cost is counted   the estimate of bodies/cost
 *   bounded rates                  the maximum that a firing appends, or the minimum (`least`)
 *   a `finish`                     appends its maximum
 *   `stop`, faults                 none
 *   a firing that launches         the maximum of its tree, each child as dear as the dearest, spread over the compute
 *                                  units of its stage
 *
 * Buffers are counters of packets, so their depth costs nothing.
 *
 *   Requires  depths, thresholds, batches, sub-devices, packs and paces of the plan.
 *   Gives     the same on every host: only integers.
 *   Work      about as many dispatches as `looks` allow: each counts the readers of the buffers at its ends, and a
 *             part of all stages for its selection.
 *   Fails     never; without memory the compiler ends.
 */
#ifndef PIPEC_TRIAL_H
#define PIPEC_TRIAL_H

#include "compiler/plan/schedule.h"

enum { STAGES_TRIED = 256 }; /* with more of them, a plan is tried in few ways only */

/* The extent of a trial: iterations of the first island, and a bound of its work. */
struct trial_size {
    uint64_t iterations;
    uint64_t looks;
    bool least; /* bounded rates append their minimum, not their maximum */
    bool whole; /* it is played to the end: `cycles` is asked for, not `steady_cycles` */
    /* The best steady cycles so far, or cycles of a whole run; 0: none.  A trial ends early when it is slower by more than a
     * hundredth. */
    uint64_t best_cycles;
};

struct trial {
    uint64_t cycles; /* from the begin to where the trial ended */
    /* Of so many iterations once buffers are filled, by the part that was played.  UINT64_MAX: it stalls, or `looks`
     * were too few. */
    uint64_t steady_cycles;
    uint64_t dispatches;
    /* Of all launches that have completed: cycles of a launch and its switch, and these with its execution. */
    uint64_t launch_cycles, busy_cycles;
    bool whole; /* the run has ended, and did not stall */
};

/* The extent with which every stage is dispatched some times.  Requires batches. */
struct trial_size trial_size_for(const struct plan *plan);
/* Iterations for which all stages together are dispatched so often at most; a power of two. */
uint64_t trial_iterations_for(const struct plan *plan, uint64_t dispatches);
/* In-ports and sources end after the iterations.  The trial ends when three quarters of their work are done, unless it is
 * to be whole.
 * `schedule`: of the static part; NULL: there is none. */
struct trial trial_run(struct arena *scratch, const struct graph *graph, const struct plan *plan,
                       const struct schedule *schedule, enum graph_policy selection,
                       struct trial_size size);
/* A whole run of the plan, with its own schedule and selection: `packets` of each in-port, by buffer; a source ends after
 * `firings` firings. */
struct trial trial_stream(struct arena *scratch, const struct graph *graph, const struct plan *plan,
                          const uint64_t *packets, uint64_t firings);
/* Is one figure of a trial more than a hundredth less than another?  A smaller difference does not count. */
bool trial_is_faster(uint64_t cycles, uint64_t than);
/* "1 iteration takes", "64 iterations take". */
const char *trial_iterations_text(struct arena *arena, uint64_t iterations);

#endif
