/* SPDX-License-Identifier: MIT */
/*
 * stage_profile: the measurements of a run: how each stage spent its time, how many packets its outputs got, and
 * events for an observer (runtime/sched/observer.h; lang/reports.md defines the figures).
 *
 * Simulated time passes only in two places: where the scheduler gives the device the cycles of its instructions, and
 * where it waits.  Just before either, prt_profile_look finds the state in which each stage has been since the clock
 * last moved.  If it differs from the state before, the time up to now is booked to that earlier state.  From dispatch
 * to completion the record of the launch gives the times.  So the parts of a stage's time add up to the time of the
 * run, whatever the device does.
 *
 * Units: cycles of the device's clock.
 * Requires: created between prt_sched_create and the start.  The device calls prt_profile_launch for every launch,
 *   before the completion that covers it.
 * Ownership: prt_sched_destroy frees it; the observer is copied.
 * Thread-safety: the scheduler's thread.  Allocation: only at creation.  Errors: PRT_E_NOMEM.
 * Cost: a stage is looked at again only after something that it depends on has changed.  An observer of levels makes
 *   each look take time linear in the buffers.  A run that is not measured only tests a pointer.
 */
#ifndef RUNTIME_SCHED_STAGE_PROFILE_H
#define RUNTIME_SCHED_STAGE_PROFILE_H

#include "runtime/sched/lateness.h"
#include "runtime/sched/observer.h"
#include "runtime/sched/sched.h"

/* `observer` NULL: only statistics.  `run` is passed to its callbacks. */
enum prt_status prt_profile_create(struct prt_sched *sched, const struct prt_observer *observer,
                                   const struct prt_run *run, struct prt_error *error);
void prt_profile_destroy(struct prt_profile *profile);

/* ---- called by the scheduler ---- */

enum prt_status prt_profile_begin(struct prt_sched *sched, struct prt_error *error);
/* The clock is about to move: by so many cycles of instructions, or, if they are 0, because the scheduler waits. */
void prt_profile_look(struct prt_sched *sched, uint64_t instruction_cycles);
/* stage->batch is the number of its firings; nothing else of the launch has been done.  Or it is FINISHING. */
void prt_profile_dispatched(struct prt_sched *sched, const struct core_stage *stage);
/* The last `packets` packets of the out-port are given to the host. */
void prt_profile_delivered(const struct prt_sched *sched, const struct prt_buffer *buffer,
                           uint64_t packets);
void prt_profile_completed(struct prt_sched *sched, const struct core_stage *stage);
void prt_profile_suspended(struct prt_sched *sched, const struct prt_buffer *buffer);
/* The clock is about to move to that cycle, because the scheduler waits for packets of the in-port. */
void prt_profile_arrival(struct prt_sched *sched, const struct prt_buffer *buffer,
                         uint64_t end_cycles);
void prt_profile_ended(struct prt_sched *sched, const struct core_stage *stage);
/* The activity of the scheduler from now on, and its port or NULL (run_state.h). */
void prt_profile_doing(struct prt_sched *sched, enum prt_doing doing,
                       const struct prt_buffer *buffer);
/* The run has ended: nothing is in flight any more. */
void prt_profile_end(struct prt_sched *sched, uint64_t total_cycles);

/* ---- called by the device ---- */

void prt_profile_launch(struct prt_sched *sched, const struct prt_launch_record *record);

/* ---- results ---- */

/* Of the launch that the observer is shown; false: it has no such span. */
bool prt_profile_span(const struct prt_sched *sched, uint64_t index, struct prt_span_event *span);
/* The figures of prt_run_stage_time and similar functions of observer.h.  Requires: indices in range. */
void prt_profile_stage_time(const struct prt_sched *sched, uint32_t stage,
                            struct prt_stage_time *time);
/* `end` counts the inputs of the stage, then its outputs. */
uint64_t prt_profile_wait_cycles(const struct prt_sched *sched, uint32_t stage, uint32_t end);
/* Fills all but the number of the stage.  `output` is that of the container. */
void prt_profile_output(const struct prt_sched *sched, uint32_t output,
                        struct prt_output_statistics *statistics);
/* False: no launch used the queue, or there is no such queue. */
bool prt_profile_queue(const struct prt_sched *sched, uint32_t queue,
                       struct prt_queue_statistics *statistics);
/* The real time for which the scheduler has waited for the host at that port; 0 if time is simulated. */
struct prt_late_packets prt_profile_late(const struct prt_sched *sched, uint32_t buffer);
uint64_t prt_profile_host_cycles(const struct prt_sched *sched, uint32_t buffer);
uint64_t prt_profile_cu_cycles(const struct prt_sched *sched, uint32_t cu);

#endif
