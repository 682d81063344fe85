/* SPDX-License-Identifier: MIT */
/*
 * static_part: the instructions of a static schedule: guards, `run`, `fence` (lang/scheduler.md).
 *
 * A guard asks about one end of one stage, or about a source, and never waits for completions.  If a guard needs
 * packets, the host fills an open in-port first, or the packets that have arrived at an eager one are taken.  `run`
 * dispatches a number of firings.  The verifier has proven them possible once the launches in flight have completed.
 * So `run` makes no search: it compares the ends of the stage with the packets and the room that the firings need,
 * waits for completions if necessary, and claims the windows.
 *
 * The proof is not trusted: firings that are not possible are refused with PRT_E_VERIFY before anything is claimed.
 *
 * Requires: a run as sched.h describes.  Allocation: none.  Thread-safety: the scheduler's thread.
 * Errors: statuses of the host's callbacks and of the device; PRT_E_FAULT; PRT_E_VERIFY.
 */
#ifndef RUNTIME_SCHED_STATIC_PART_H
#define RUNTIME_SCHED_STATIC_PART_H

#include "runtime/sched/sched.h"

/* *holds: the stage has not ended, and its input `end` has so many packets that no firing in flight consumes. */
enum prt_status prt_static_has_packets(struct prt_sched *sched, uint32_t index, uint32_t end,
                                       uint32_t packets, bool *holds, struct prt_error *error);

/* Has the stage not ended, and its output room for so many packets? */
bool prt_static_has_room(const struct prt_sched *sched, uint32_t index, uint32_t output,
                         uint32_t packets);

/* May the stage, which no in-port feeds, fire so many more times? */
bool prt_static_goes_on(struct prt_sched *sched, uint32_t index, uint32_t firings);

/* Dispatches so many firings of the stage. */
enum prt_status prt_static_run(struct prt_sched *sched, uint32_t index, uint32_t firings,
                               struct prt_error *error);

/* Enqueues all open packets and waits until nothing is in flight. */
enum prt_status prt_static_fence(struct prt_sched *sched, struct prt_error *error);

#endif
