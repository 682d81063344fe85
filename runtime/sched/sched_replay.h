/* SPDX-License-Identifier: MIT */
/*
 * replay: the sequence of a counterexample, fired on the device one firing at a time.
 *
 * Requires: a started sched of a verified container with the flag COUNTEREXAMPLE; nothing in
 * flight. Each firing is checked as in a run: packets, room, faults.  After the last one the
 * stages of the circle are asked whether they could fire; that none can is the stall.
 * Work: one step a firing; the verifier has bounded their number (CONTAINER_STALL_FIRINGS_MAX).
 * Allocation: the place in each rule, before the first firing.
 * Errors: PRT_E_STALL, as it is to be, with the waiting cycle; PRT_E_FAULT; PRT_E_VERIFY: a firing
 * is
 *   not possible, or the circle can go on, so the container shows nothing; PRT_E_INTERRUPTED; what
 *   callbacks return; PRT_E_NOMEM.
 */
#ifndef RUNTIME_SCHED_SCHED_REPLAY_H
#define RUNTIME_SCHED_SCHED_REPLAY_H

#include "runtime/sched/sched.h"

/* After a firing of the stage. */
typedef void (*prt_replay_show)(void *context, uint32_t stage);

enum prt_status prt_replay(struct prt_sched *sched, prt_replay_show show, void *context,
                           struct prt_error *error);

#endif
