/* SPDX-License-Identifier: MIT */
/*
 * index_units: the index generators of a device's compute units, and the cycles that launches wait
 * for them (lang/index_generator.md, "Time").
 *
 * All compute units of a queue's sub-device get the same launches, so one filter models the
 * generators of all of them.  A launch also passes through the filters of the queues that share
 * compute units with its queue: there it replaces the resident indices, as on the shared units.
 *
 * Requires: a queue for each filter; launches in the order in which they are settled.
 * Fills: the counters of the index generator, and the cycles that a launch waits for its indices.
 * Ownership: prt_index_units_free.  Thread-safety: the scheduler thread only.
 * Allocation: only in prt_index_units_add.  Errors: PRT_E_NOMEM.
 */
#ifndef MODEL_INDEX_UNITS_H
#define MODEL_INDEX_UNITS_H

#include "model/queue.h"

struct prt_index_units {
    struct prt_index_filter *filters; /* by number of the queue */
    uint32_t count;
};

/* Adds a generator with an empty history, for the next queue. */
enum prt_status prt_index_units_add(struct prt_index_units *units,
                                    const struct devdesc *description);
void prt_index_units_free(struct prt_index_units *units);

/* Generates the indices of a launch of `firings` firings on the queue; returns the cycles that the
 * launch waits for them.  Requires: the object has work-items, and the
 * device a generator.
 *
 * Each further dimension saves a division and a remainder, less a shift and a mask, for every warp
 * of the core that executes the largest number of warps. */
uint64_t prt_index_units_ask(struct prt_index_units *units, const struct prt_queue_table *queues,
                             uint32_t queue, const struct devdesc *description,
                             const struct prt_kernel_object *object, uint64_t firings,
                             struct prt_device_counters *counters);

#endif
