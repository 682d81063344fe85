/* SPDX-License-Identifier: MIT */
/*
 * provenance: which statement wrote each packet.  Only in a run that goes one firing at a time, and for a container
 * compiled for debugging (lang/container.md, "Debug information").
 *
 * A kernel writes an *origin* beside each packet, into one window for each output.  After the firing the origins are
 * kept by packet number, for as many of the last packets of the buffer as its depth.
 *
 * Requires: prt_debug_mode of the container; sched->step is set, so one firing is in flight.
 * Ownership: prt_sched_destroy frees the origins.
 * Thread-safety: the scheduler's thread.
 * Allocation: only at creation: eight bytes for each packet that the written buffers can hold.  Errors: PRT_E_NOMEM.
 */
#ifndef RUNTIME_SCHED_PROVENANCE_H
#define RUNTIME_SCHED_PROVENANCE_H

#include "runtime/sched/sched.h"

/* Called before the start of the run. */
enum prt_status prt_origins_create(struct prt_sched *sched, struct prt_error *error);
void prt_origins_destroy(struct prt_origins *origins);

/* Called around each firing and finish of the stage: `open` before it is dispatched, `keep` when it is committed. */
void prt_origins_open(struct prt_sched *sched, const struct core_stage *stage);
void prt_origins_keep(struct prt_sched *sched, const struct core_stage *stage);

/* The origin of a packet of the buffer, for prt_debug_origin.  Packets are counted from the start of the run, initial
 * ones included.  0: no statement wrote it, it is older than the depth, or the run keeps no origins. */
uint32_t prt_origin_of(const struct prt_sched *sched, uint32_t buffer, uint64_t packet);

#endif
