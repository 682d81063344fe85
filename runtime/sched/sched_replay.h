/* SPDX-License-Identifier: MIT */
/*
 * replay: fires the sequence of a counterexample on the device, one firing at a time.
 *
 * Each firing is checked as in a run: packets, room, faults.  After the last one no stage of the cycle can fire: that
 * is the stall.
 *
 * Requires: a started sched of a verified container with the flag COUNTEREXAMPLE; nothing in flight.
 * Thread-safety: the scheduler's thread.
 * Work: one step per firing; the verifier has bounded their number (CONTAINER_STALL_FIRINGS_MAX).
 * Allocation: a position in each rule, before the first firing.
 * Errors: PRT_E_STALL, the expected end, with the cycle of waits; PRT_E_FAULT; PRT_E_VERIFY: a firing is not possible,
 *   or a stage of the cycle can fire, so the container proves nothing; PRT_E_INTERRUPTED; statuses of callbacks;
 *   PRT_E_NOMEM.
 */
#ifndef RUNTIME_SCHED_SCHED_REPLAY_H
#define RUNTIME_SCHED_SCHED_REPLAY_H

#include "runtime/sched/sched.h"

/* Called after each firing, with its stage. */
typedef void (*prt_replay_show)(void *context, uint32_t stage);

enum prt_status prt_replay(struct prt_sched *sched, prt_replay_show show, void *context,
                           struct prt_error *error);

#endif
