/* SPDX-License-Identifier: MIT */
/*
 * static_part: the instructions of a static schedule: guards, `run`, `fence` (lang/scheduler.md).
 *
 * A guard asks about one end of one stage, or about a source, and never waits for completions.  The
 * host fills an open in-port before the guard answers; the packets that have arrived at an eager one
 * are taken.  `run` dispatches a number of firings that the verifier has proven possible once the
 * launches in flight have completed.  It searches for nothing: it compares its ends with what so many
 * firings take and give, and claims them.
 *
 * Nothing here is trusted to have been proven: firings that are not possible are refused with
 * PRT_E_VERIFY, before anything is claimed.
 *
 * Requires: sched.h's.  Allocation: none.  Threads: the scheduler's.
 * Errors: what the host's callbacks and the device return; PRT_E_FAULT; PRT_E_VERIFY.
 */
#ifndef RUNTIME_SCHED_STATIC_PART_H
#define RUNTIME_SCHED_STATIC_PART_H

#include "runtime/sched/sched.h"

/* *holds: input `end` of the stage of that index, which has not ended, has so many packets that no
 * firing in flight consumes. */
enum prt_status prt_static_has_packets(struct prt_sched *sched, uint32_t index, uint32_t end,
                                       uint32_t packets, bool *holds, struct prt_error *error);

/* Output `output` of the stage, which has not ended, has room for so many packets. */
bool prt_static_has_room(const struct prt_sched *sched, uint32_t index, uint32_t output,
                         uint32_t packets);

/* The stage, which no in-port feeds, may fire so many more times. */
bool prt_static_goes_on(struct prt_sched *sched, uint32_t index, uint32_t firings);

enum prt_status prt_static_run(struct prt_sched *sched, uint32_t index, uint32_t firings,
                               struct prt_error *error);

/* Enqueues what is open and waits until nothing is in flight. */
enum prt_status prt_static_fence(struct prt_sched *sched, struct prt_error *error);

#endif
