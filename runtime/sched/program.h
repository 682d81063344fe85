/* SPDX-License-Identifier: MIT */
/*
 * program: the prologue of a program, which makes sub-devices and binds stages to queues.
 *
 * Requires: a verified container; a run that has been created.  Thread-safety: the scheduler's thread.
 * Errors: PRT_E_NOMEM; PRT_E_DEVICE: the device does not fit the program; statuses of the device.
 */
#ifndef RUNTIME_SCHED_PROGRAM_H
#define RUNTIME_SCHED_PROGRAM_H

#include "runtime/sched/sched.h"

/* Executes the prologue.  The core goes on at the instruction after it. */
enum prt_status prt_program_begin(struct prt_sched *sched, struct prt_error *error);

#endif
