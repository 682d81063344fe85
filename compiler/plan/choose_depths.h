/* SPDX-License-Identifier: MIT */
/*
 * choose_depths: how much of the room for dispatches (depths.c) the clock of the device needs.
 *
 * The plan as it is chosen by default is *full speed*.  Room is taken from its buffers as long as a trial (trial.h) is
 * slower than full speed by at most a hundredth, and short runs (choose_batch.h) by at most a twentieth: first from all
 * buffers alike, by halves, then from each buffer by itself, those of most bytes first, inner buffers before ports.  Of each
 * buffer the smallest room is found to an eighth.  No buffer gets less than the depth that the analyses have proven, so
 * nothing can deadlock.
 *
 * For --pareto the same is done for all speeds that the plan has with a half, a quarter, ... of all room, and without any.
 *
 *   Requires  a layout, and the doublings of its batches.
 *   Fills     at->most: by buffer the depth up to which it may be raised.
 *   Work      a bounded number of dispatches; buffers that it does not reach keep the room that all have.
 *   Fails     never.
 */
#ifndef PIPEC_CHOOSE_DEPTHS_H
#define PIPEC_CHOOSE_DEPTHS_H

#include "compiler/plan/choose_batch.h"

/* Is the plan one whose depths the clock can judge?  Not in debug mode, nor without a proof that it cannot deadlock. */
bool plan_times_depths(const struct placement *at);

struct cut_depths {
    struct batched_layout full, found; /* with all room, with the room found */
    const uint64_t *full_depths;       /* by buffer */
};

/* --buffers=fast.  Lays the plan out with the depths found. */
struct cut_depths plan_cut_depths(struct placement *at, const struct plan_layout *layout,
                                  enum graph_policy selection);
/* Gives each buffer half of what it lacks.  Returns false if none lacks any. */
bool plan_restore_depths(const struct placement *at, const struct cut_depths *depths);
/* --pareto: rows of rising memory and speed; the last one is that of plan_cut_depths. */
const struct graph_front *plan_explore_depths(struct placement *at,
                                              const struct plan_layout *layout,
                                              enum graph_policy selection);

#endif
