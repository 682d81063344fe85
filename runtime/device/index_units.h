/* SPDX-License-Identifier: MIT */
/*
 * index_units: the index generators of a device's compute units, and what launches get from them
 * (lang/index_generator.md, "Time").
 *
 * All compute units of a queue's sub-device get the same launches, so one filter stands for the
 * generators of all of them.  A launch on a queue is also asked for in the queues that share compute
 * units with it: there it takes the place of what was resident, as it does on the units they share.
 *
 * Requires: a queue for each filter; launches asked for in the order in which they are settled.
 * Fills: the counters of the index generator, and what a launch waits for its indices.
 * Ownership: prt_index_units_free.  Thread-safety: the scheduler thread's.
 * Allocation: prt_index_units_add alone.  Errors: PRT_E_NOMEM.
 */
#ifndef RUNTIME_DEVICE_INDEX_UNITS_H
#define RUNTIME_DEVICE_INDEX_UNITS_H

#include "runtime/device/queue.h"

struct prt_index_units {
    struct prt_index_filter *filters; /* by number of the queue */
    uint32_t count;
};

/* Generators that know nothing, for the next queue. */
enum prt_status prt_index_units_add(struct prt_index_units *units,
                                    const struct devdesc *description);
void prt_index_units_free(struct prt_index_units *units);

/* Asks for the indices of a launch of so many firings on the queue; gives the cycles that it waits
 * for them.  The object has work-items.
 *
 * What is saved: of each further dimension a division and a remainder, less a shift and a mask, for
 * every warp that the longest of the compute units executes. */
uint64_t prt_index_units_ask(struct prt_index_units *units, const struct prt_queue_table *queues,
                             uint32_t queue, const struct devdesc *description,
                             const struct prt_kernel_object *object, uint64_t firings,
                             struct prt_device_counters *counters);

#endif
