/* SPDX-License-Identifier: MIT */
/*
 * launch_time: when a launch begins and ends on its queue, and what it was made of (lang/time.md,
 * "A launch"): timing.h with a kernel object's work and the queues' state put in.
 *
 * Launches are settled in the order in which they were enqueued, each after it has been executed:
 * what they cost and append may depend on data.  So time depends on that order and on the data, not
 * on when the host has executed what.
 *
 * Requires: of the record: queue, firings (those that count), enqueued_cycles, index_cycles,
 *   device_queue_cycles; the object as the launch has left it.
 * Fills: begin, end, launch, clean-up, switch and execute cycles; prt_launch_place the others:
 *   compute and memory cycles, warps, busy compute units.  The queue is free from the end on, and its
 *   last stage is this one.
 * Thread-safety: the scheduler thread's.  Allocation: none.  Errors: none.
 */
#ifndef RUNTIME_DEVICE_LAUNCH_TIME_H
#define RUNTIME_DEVICE_LAUNCH_TIME_H

#include "runtime/device/queue.h"

struct prt_launch_costs {
    uint64_t begin_cycles; /* enqueue and processing that the launch pays for */
    uint64_t cleanup_cycles;
    const uint64_t *warp_cycles; /* of a COUNTED object: as the kernel has counted; else NULL */
    uint64_t counted_firings;    /* that it has counted: with the one that stopped */
};

/* Numbers that the kernel of a COUNTED object writes into kernel_batch.warp_cycles at most; 0: it
 * does not count.  UINT64_MAX: beyond 64 bits. */
uint64_t prt_launch_warps_most(const struct prt_kernel_object *object);

/* What a launch has to do on its compute units, part by part; precedence.h takes off what is done. */
struct prt_launch_work {
    struct prt_timing_work timing;
    uint64_t memory_cycles;
    uint32_t group_warps; /* warps of a work-group */
    uint64_t firings;     /* where firings follow each other: so many */
    uint64_t
        child_cycles; /* the longest firing among those that are launched: a piece of the next */
    uint64_t launch_cycles, index_cycles, device_queue_cycles, cleanup_cycles;
};

/* Of a launch as its object and the record have it, on a queue of so many compute units. */
struct prt_launch_work prt_launch_work(const struct devdesc *description, uint32_t cu_count,
                                       const struct prt_kernel_object *object,
                                       const struct prt_launch_costs *costs,
                                       const struct prt_launch_record *record);

/* What an object's launch before took to execute, where its warps cost the same: most launches are
 * like the one before.  Zeroed: there was none. */
struct prt_launch_before {
    uint64_t firings, memory_bytes, execute_cycles;
    uint32_t cu_count;
};

/* `cus`: room for the compute units of the device; NULL where the object is not COUNTED.  `before` is
 * kept for the object, by the caller. */
void prt_launch_settle(struct prt_queue_table *queues, const struct devdesc *description,
                       const struct prt_kernel_object *object, const struct prt_launch_costs *costs,
                       struct prt_timing_cu *cus, struct prt_launch_before *before,
                       struct prt_launch_record *record);

/* Says in the record of a settled launch what its warps were and what each compute unit has done:
 * `cus` belongs to it from now on. */
void prt_launch_place(const struct prt_queue_table *queues, const struct devdesc *description,
                      const struct prt_kernel_object *object, const struct prt_launch_costs *costs,
                      struct prt_timing_cu *cus, struct prt_launch_record *record);

/* A piece of what a launch has executed: from `before` to `after`, of `whole`. */
struct prt_launch_share {
    uint64_t before, after, whole;
};

/* Of a placed launch, or a piece of one, that its object's device queue has executed: what each
 * compute unit has done with all that was launched below it. */
void prt_launch_place_trees(const struct prt_kernel_object *object, struct prt_launch_share share,
                            struct prt_timing_cu *cus, struct prt_launch_record *record);

#endif
