/* SPDX-License-Identifier: MIT */
/*
 * launch_time: when a launch begins and ends on its queue, and the parts of its time (lang/time.md,
 * "A launch"): timing.h applied to a kernel object's work and the state of the queues.
 *
 * Launches are settled in the order in which they were enqueued, each after its execution, because
 * its cost and its packets may depend on data.  So time depends on that order and on the data, not
 * on the moment at which the host executes a launch.
 *
 * Requires: of the record: queue, firings (those that count), enqueued_cycles, index_cycles,
 *   device_queue_cycles; the object in its state after the launch.
 * Fills: begin, end, launch, clean-up, switch, execute and memory cycles; prt_launch_place fills the others:
 *   compute cycles, warps, busy compute units.  The queue is free from the end on, and its
 *   last stage is this one.
 * Thread-safety: the scheduler thread only.  Allocation: none.  Errors: none.
 */
#ifndef MODEL_LAUNCH_TIME_H
#define MODEL_LAUNCH_TIME_H

#include "model/queue.h"

/* The part of a launch before its compute units have it: enqueue and processing that it pays for. */
struct prt_launch_packet {
    uint64_t enqueue_cycles, process_cycles;
    bool barrier;
};

/* When the packet has been processed, of a launch enqueued then: where the processor works ahead, in the
 * time of earlier launches of the queue.  The processor takes a packet when it has handed over
 * the launch before, with a barrier when that launch has ended. */
uint64_t prt_launch_processed(const struct prt_queue *queue, uint64_t enqueued_cycles,
                              const struct prt_launch_packet *packet);

struct prt_launch_costs {
    struct prt_launch_packet packet;
    uint64_t cleanup_cycles;
    const uint64_t *warp_cycles; /* of a COUNTED object: as counted by the kernel; else NULL */
    uint64_t counted_firings;    /* firings counted, including the one that stopped */
    uint64_t child_cycles;       /* of the longest firing among those launched */
};

/* The maximum of numbers that the kernel of a COUNTED object writes into kernel_batch.warp_cycles; 0:
 * it does not count.  UINT64_MAX: beyond 64 bits. */
uint64_t prt_launch_warps_most(const struct prt_kernel_object *object);

/* The work of a launch on its compute units, part by part; precedence.h subtracts finished work. */
struct prt_launch_work {
    struct core_timing_work timing;
    uint64_t both_ways_cycles;    /* of memory: while the first and last bytes are on their way */
    struct core_timing_flow flow; /* and between */
    uint32_t group_warps;         /* warps of a work-group */
    uint64_t firings;             /* firings that follow each other */
    uint64_t child_cycles; /* the longest firing among those launched: a unit of the next member */
    struct prt_launch_packet packet;
    uint64_t enqueued_cycles;
    uint64_t launch_cycles, index_cycles, device_queue_cycles, cleanup_cycles;
};

/* The work of a launch, from its object and record, on a queue of `cu_count` compute units. */
struct prt_launch_work prt_launch_work(const struct devdesc *description, uint32_t cu_count,
                                       const struct prt_kernel_object *object,
                                       const struct prt_launch_costs *costs,
                                       const struct prt_launch_record *record);

/* The execution of an object's previous launch, if all its warps cost the same: most launches
 * equal the previous one.  Zeroed: there was none. */
struct prt_launch_before {
    uint64_t firings, memory_bytes;
    struct core_timing_execution execution;
    uint32_t cu_count, stage;
};

/* `cus`: room for the compute units of the device; NULL where the object is not COUNTED.  The caller
 * keeps `before` for the object. */
void prt_launch_settle(struct prt_queue_table *queues, const struct devdesc *description,
                       const struct prt_kernel_object *object, const struct prt_launch_costs *costs,
                       struct core_timing_cu *cus, struct prt_launch_before *before,
                       struct prt_launch_record *record);

/* Writes the warps of a settled launch, and the work of each compute unit, into the record, which
 * owns `cus` from now on. */
void prt_launch_place(const struct prt_queue_table *queues, const struct devdesc *description,
                      const struct prt_kernel_object *object, const struct prt_launch_costs *costs,
                      struct core_timing_cu *cus, struct prt_launch_record *record);

/* A piece of an execution: from `before` to `after`, of `whole`. */
struct prt_launch_share {
    uint64_t before, after, whole;
};

/* Replaces the work of each compute unit of a placed launch, or of a piece of one, by that share of `cycles`: the work of
 * its firings and of all that they have launched. */
void prt_launch_place_trees(const uint64_t *cycles, struct prt_launch_share share,
                            struct core_timing_cu *cus, struct prt_launch_record *record);

#endif
