/* SPDX-License-Identifier: MIT */
/*
 * stage_profile: what a run that is watched knows of itself: where each stage's time went, what its
 * outputs got, and events for an observer (runtime/sched/observer.h; lang/reports.md has the figures).
 *
 * Simulated time stands still but in two places: where the scheduler gives the device the cycles of
 * its instructions, and where it waits.  Just before either, prt_collect_look sees in which state
 * each stage has been since the clock last stood still, and closes the account of what it was in
 * before.  From dispatch to completion the record of the launch tells.  So the parts of a stage's
 * time add up to the run's, whatever the device does.
 *
 * Requires: created between prt_sched_create and the start.  The device calls prt_collect_launch
 *   for every launch, before the completion that covers it.
 * Ownership: prt_sched_destroy frees it; the observer is copied.
 * Threads: the scheduler's.  Allocation: at creation only.  Errors: PRT_E_NOMEM.
 * Cost: a stage is looked at again only after something it depends on has changed; an observer of
 *   levels makes every look as long as the list of buffers.  Nobody watching: a pointer test.
 */
#ifndef RUNTIME_SCHED_STAGE_PROFILE_H
#define RUNTIME_SCHED_STAGE_PROFILE_H

#include "runtime/sched/observer.h"
#include "runtime/sched/sched.h"

/* `observer` NULL: statistics alone.  `run` is for its callbacks. */
enum prt_status prt_collect_create(struct prt_sched *sched, const struct prt_observer *observer,
                                   const struct prt_run *run, struct prt_error *error);
void prt_collect_destroy(struct prt_collect *collect);

/* ---- what the scheduler says ---- */

void prt_collect_begin(struct prt_sched *sched);
/* The clock is about to move; by so many cycles of instructions, if it is the scheduler that moves
 * it. */
void prt_collect_look(struct prt_sched *sched, uint64_t instruction_cycles);
void prt_collect_dispatched(struct prt_sched *sched, const struct prt_stage *stage);
void prt_collect_completed(struct prt_sched *sched, const struct prt_stage *stage);
void prt_collect_suspended(struct prt_sched *sched, const struct prt_buffer *buffer);
void prt_collect_ended(struct prt_sched *sched, const struct prt_stage *stage);
/* From now on it does this, at that port or NULL (run_state.h). */
void prt_collect_doing(struct prt_sched *sched, enum prt_doing doing,
                       const struct prt_buffer *buffer);
/* Nothing is in flight, and nothing will be. */
void prt_collect_end(struct prt_sched *sched, uint64_t total_cycles);

/* What the device says. */
void prt_collect_launch(struct prt_sched *sched, const struct prt_launch_record *record);

/* ---- what is known ---- */

/* The figures of prt_run_stage_time and its like; indices are in range. */
void prt_collect_stage_time(const struct prt_sched *sched, uint32_t stage,
                            struct prt_stage_time *time);
/* Ends: its inputs, then its outputs. */
uint64_t prt_collect_wait_cycles(const struct prt_sched *sched, uint32_t stage, uint32_t end);
/* All but the stage's number; `output` as the container counts. */
void prt_collect_output(const struct prt_sched *sched, uint32_t output,
                        struct prt_output_statistics *statistics);
/* False: no launch has come to such a queue. */
bool prt_collect_queue(const struct prt_sched *sched, uint32_t queue,
                       struct prt_queue_statistics *statistics);
/* Of the run's real time, in which the scheduler has waited for the host at that port; 0 where time
 * is simulated. */
uint64_t prt_collect_host_cycles(const struct prt_sched *sched, uint32_t buffer);
uint64_t prt_collect_cu_cycles(const struct prt_sched *sched, uint32_t cu);

#endif
