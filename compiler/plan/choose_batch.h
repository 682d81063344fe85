/* SPDX-License-Identifier: MIT */
/*
 * choose_batch: how often the batches of the target (target.h) are doubled.
 *
 * Doubling them doubles the bytes for which a buffer has room, and the firings of a dispatch.  The memory for all buffers
 * stays bounded as it is (depths.c).  So a launch is shared by more firings, and a stream has to be longer before its
 * first packet comes out.  Each number of doublings is tried on the clock of the device, as long as it makes long streams
 * faster:
 *
 *   long streams    the steady cycles are less by a fiftieth for each doubling.  A doubling that is not enough by itself may
 *                   be enough together with the next one or two
 *   short streams   two whole runs, of some iterations and of some of the smallest batches, take at most a twentieth more
 *                   than with the smallest batches
 *   end             launches are less than a fiftieth of the time of dispatches, or the target doubles no more
 *
 *   Requires  stages with loads, what cycles admit, the depths of the analyses.
 *   Fills     at->doublings, and the plan as laid out with them.
 *   Fails     never.  A trial that takes too long ends the doubling.
 */
#ifndef PIPEC_CHOOSE_BATCH_H
#define PIPEC_CHOOSE_BATCH_H

#include "compiler/plan/plan_internal.h"
#include "compiler/plan/trial.h"

enum { SHORT_STREAMS = 2 };

/* Whole runs of the plan with the smallest batches: nothing that replaces it may be much slower. */
struct short_streams {
    uint64_t iterations[SHORT_STREAMS];
    uint64_t cycles[SHORT_STREAMS]; /* UINT64_MAX: unknown */
};

/* A layout with batches of some size. */
struct batched_layout {
    const struct plan_layout *layout;
    uint32_t doublings;
    struct trial_size size;
    struct trial trial;
};

/* Not where larger batches do more than is asked for: with `stop`, with a source beside in-ports; nor where depths are
 * to be small, in debug mode, or with very many stages. */
bool plan_doubles_batches(const struct placement *at);
/* Requires the plan as laid out. */
struct short_streams plan_try_short(const struct placement *at, enum graph_policy selection);
/* Is the plan, as laid out, at most a twentieth slower there? */
bool plan_is_fast_when_short(const struct placement *at, enum graph_policy selection,
                             const struct short_streams *streams);
/* Doubles the batches of `from` as long as that pays. */
struct batched_layout plan_double_batches(struct placement *at, struct batched_layout from,
                                          enum graph_policy selection,
                                          const struct short_streams *streams);

#endif
