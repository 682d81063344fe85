/* SPDX-License-Identifier: MIT */
/*
 * explain: why a run ended badly, in the words of the source.
 *
 * Requires: nothing is in flight.  Errors: none of its own; both return the status they put into
 * *error.
 */
#ifndef RUNTIME_SCHED_EXPLAIN_H
#define RUNTIME_SCHED_EXPLAIN_H

#include "runtime/sched/sched.h"

/* PRT_E_FAULT: kernel 'find' (edge.pipe:4) divided by zero in firing 118 [division-by-zero] */
enum prt_status prt_explain_fault(const struct prt_sched *sched, struct prt_error *error);

/* PRT_E_STALL: the waits from stage `first` on, buffer by buffer, until they close to a cycle; as
 * many as a message has room for, and how many more. */
enum prt_status prt_explain_stall(const struct prt_sched *sched, uint32_t first,
                                  struct prt_error *error);

/* What the stage waits for, as text; "" if its next firing, or its finish, has all it needs.  Returns
 * the stage that it waits for; UINT32_MAX: none. */
uint32_t prt_explain_wait(const struct prt_sched *sched, uint32_t stage, char *text, size_t size);

/* All of these waits, one after the other. */
void prt_explain_waits(const struct prt_sched *sched, uint32_t first,
                       void (*told)(void *context, const char *wait), void *context);

/* The stable id of a fault: "division-by-zero". */
const char *prt_explain_fault_id(enum kernel_status status);

#endif
