/* SPDX-License-Identifier: MIT */
/*
 * full_runs: whole runs of plans with their policies and schedules, by which plans for one device are compared.
 *
 * There is a long run, in which all buffers could be filled some times and each round of the static schedule repeats, and a short
 * one, of a sixteenth of its length.  For each length, the loss of a plan is its cycles divided by those of the faster one of two.
 * The long run counts four times.  A plan is better if its losses are less by more than a hundredth.
 *
 *   Requires  plans that are complete.
 *   Work      a run has 32,768 dispatches at most, besides 16 iterations; of runs with more the beginning is played.
 *   Fails     never; a run that takes too long to play has UINT64_MAX cycles.
 */
#ifndef PIPEC_FULL_RUNS_H
#define PIPEC_FULL_RUNS_H

#include "compiler/plan/plan.h"

enum { FULL_RUNS = 2 }; /* the short one first */

struct planned_graph {
    const struct graph *graph;
    const struct plan *plan;
};

struct full_runs {
    uint64_t iterations[FULL_RUNS], cycles[FULL_RUNS]; /* 0 cycles: not played */
};

/* Iterations in which buffers are seen full: the writers could fill them some times, within 32 times the iterations of a trial of
 * layouts.  Requires depths and paces. */
uint64_t full_run_iterations(struct planned_graph of, uint64_t trial_iterations);
/* The most iterations that are played: with full batches, and with those of a trial. */
uint64_t full_run_limit(struct planned_graph of);
uint64_t full_run_limit_by_trial(uint64_t iterations, uint64_t dispatches);
/* A long run of so many iterations, and a short one; nothing is played yet. */
struct full_runs full_runs_of(uint64_t iterations);
/* Plays both.  `than`, not NULL: not the short one if the long one is slower by half. */
void full_runs_play(struct planned_graph of, struct full_runs *runs, const struct full_runs *than);
/* Are those of the plan, of as many iterations, slower by a twentieth at most? */
bool full_runs_keep_speed(struct planned_graph of, const struct full_runs *runs);
/* Requires as many iterations. */
bool full_runs_are_better(const struct full_runs *runs, const struct full_runs *than);
/* "by whole runs 64 iterations take 1000 cycles fused, 2000 apart": the lengths for which the better ones are taken. */
const char *full_runs_text(struct arena *arena, const struct full_runs *better, const char *what,
                           const struct full_runs *than, const char *other);

/* A pipeline, and the same with less work or with neighbours fused, each with its plan. */
struct full_run_contest {
    struct full_runs written,
        made; /* 0 iterations: the two have no common measure of an iteration; 0 cycles: runs take too long to be played */
    bool made_is_better;
};
struct full_run_contest full_runs_contest(struct planned_graph written, struct planned_graph made);

#endif
