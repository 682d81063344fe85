/* SPDX-License-Identifier: MIT */
/*
 * explain: why a run has ended with a fault or a stall, in the words of the source.
 *
 * Requires: nothing is in flight.
 * Thread-safety: the scheduler's thread.  Allocation: none.
 * Errors: the functions that take `error` return the status that they put into it.
 */
#ifndef RUNTIME_SCHED_EXPLAIN_H
#define RUNTIME_SCHED_EXPLAIN_H

#include "runtime/sched/sched.h"

/* PRT_E_FAULT: kernel 'find' (instance at edge.pipe:4) divided by zero in firing 118 [division-by-zero] */
enum prt_status prt_explain_fault(const struct prt_sched *sched, struct prt_error *error);
/* The same of a fault outside of a run. */
enum prt_status prt_explain_core_fault(const struct prt_container *container,
                                       const struct core_fault *fault, struct prt_error *error);

/* PRT_E_STALL: the waits from stage `first` on, buffer by buffer, until they close a cycle.  The message names as
 * many as fit, and the number of the others. */
enum prt_status prt_explain_stall(const struct prt_sched *sched, uint32_t first,
                                  struct prt_error *error);

/* Writes what the stage waits for; "" if its next firing, or its finish, has all that it needs.  Returns the stage
 * that it waits for; UINT32_MAX: none. */
uint32_t prt_explain_wait(const struct prt_sched *sched, uint32_t stage, char *text, size_t size);

/* Passes each wait that prt_explain_stall describes to `receive`, one after the other. */
void prt_explain_waits(const struct prt_sched *sched, uint32_t first,
                       void (*receive)(void *context, const char *wait), void *context);

/* The stable id of a fault: "division-by-zero". */
const char *prt_explain_fault_id(enum kernel_status status);

/* The status of the run's failure, with its text.  PRT_OK: it has not failed. */
enum prt_status prt_explain_failure(const struct prt_sched *sched, struct prt_error *error);

#endif
