/* SPDX-License-Identifier: MIT */
/*
 * provenance: which statement wrote each packet, in a run that goes one firing at a time, of a
 * container that was compiled for debugging (lang/container.md, "Debug information").
 *
 * While a firing executes, its kernel writes into one window for each output; what it has appended
 * is then kept for as many packets of the buffer as its depth, by number.
 *
 * Requires: prt_debug_mode of the container; sched->step is set, so one firing is in flight.
 * Ownership: prt_sched_destroy frees them.
 * Allocation: creation only: eight bytes for each packet that the buffers hold.
 */
#ifndef RUNTIME_SCHED_PROVENANCE_H
#define RUNTIME_SCHED_PROVENANCE_H

#include "runtime/sched/sched.h"

/* Before the start. */
enum prt_status prt_origins_create(struct prt_sched *sched, struct prt_error *error);
void prt_origins_destroy(struct prt_origins *origins);

/* Around a firing, or a finish, of the stage: before it is dispatched; once it has been committed. */
void prt_origins_open(struct prt_sched *sched, const struct prt_stage *stage);
void prt_origins_keep(struct prt_sched *sched, const struct prt_stage *stage);

/* Of packet `packet` of the buffer, counted from the start, initial ones included: what
 * prt_debug_origin takes.  0: no statement has written it, it is too long ago, or nobody keeps
 * origins. */
uint32_t prt_origin_of(const struct prt_sched *sched, uint32_t buffer, uint64_t packet);

#endif
