/* SPDX-License-Identifier: MIT */
/*
 * sim_clock: the clock of the simulated GPU (lang/time.md): packets, queues, and when launches begin and end.
 *
 * Whoever executes the launches is the *executor*: the host threads of the simulated GPU (runtime/backend/sim), or a
 * trial of the compiler, which executes nothing.  So both take the same cycles.
 *
 * A launch's end is known when it has been executed, for what it costs and appends may depend on data: `enqueue` gives
 * its firings to the executor, and `wait` settles (launch_time.h), in order of enqueuing, what has been launched since
 * the last one, before it delivers in order of ends.  So host threads play no part in time.  Where queues of different
 * importance share compute units, launches may interrupt each other, and `wait` plays what happens up to the next end
 * (precedence.h).  Which of the two it is, is decided when something is enqueued and nothing is in flight.
 *
 * Ownership: create, destroy.  Thread-safety: one thread.  Allocation: create, set_objects, add_queue.
 * Errors: PRT_E_NOMEM; those of `enqueue` (runtime/device/device.h).
 */
#ifndef MODEL_SIM_CLOCK_H
#define MODEL_SIM_CLOCK_H

#include "core/completion.h"
#include "model/index_units.h"
#include "model/launch_time.h"
#include "model/precedence.h"

/* The child kernels that the firings of a launch have launched. */
struct prt_sim_trees {
    uint64_t cycles; /* until all of it had ended, beyond the time of firings that launch nothing */
    uint64_t longest_cycles;   /* of the longest firing among those launched */
    const uint64_t *cu_cycles; /* of each compute unit, in firings and what they launched */
    struct prt_firing_spans spans;
};

/* The launch of an object: each is in flight at most once. */
struct prt_sim_job {
    const struct prt_kernel_object *object;
    struct prt_launch launch;
    uint64_t *warp_cycles; /* room for what a COUNTED object counts; else NULL */
    uint64_t *
        warp_room; /* the same, whatever the object is by now: a queue may change it between launches */
    uint32_t queue;

    /* The executor's.  A job is its own from `give` until `finish` has returned. */
    uint64_t chunk_firings;
    uint64_t chunks, chunks_taken, chunks_done;
    uint32_t behind; /* the next job of its line, or PRT_SIM_NO_JOB */
    bool done;       /* executed, or never to be */
    bool executed;   /* false: there was a fault before it */
    enum kernel_status status;
    struct kernel_fault fault;  /* of the lowest firing, if the status is a fault */
    struct prt_sim_trees trees; /* of a LAUNCHES object */

    /* The clock's. */
    struct prt_launch_record record;
    struct prt_launch_before before;
    uint32_t seen_from, seen_next; /* the first that is seen with it, the next after it */
};

#define PRT_SIM_NO_JOB UINT32_MAX

struct prt_sim_executor {
    /* Executes the job now, or when its turn comes. */
    void (*give)(void *context, struct prt_sim_job *job);
    /* Returns when the job is done. */
    void (*finish)(void *context, struct prt_sim_job *job);
};

struct prt_sim_clock {
    struct devdesc description;
    struct prt_device_tree *tree;
    struct prt_queue_table queues;
    struct prt_index_units indices; /* of each queue */
    struct prt_flights flights;
    struct prt_flights ends; /* by their own end, for the observer; empty without one */
    struct prt_packet_processor processor;
    prt_launch_observer observe; /* NULL: there is none; set before the first launch */
    void *observe_context;
    const struct prt_kernel_object *objects;
    uint32_t object_count;
    uint32_t queue_entries;
    uint64_t now_cycles;
    struct prt_device_counters counters;

    const struct prt_sim_executor *executor;
    void *context;            /* of the executor */
    struct prt_sim_job *jobs; /* one per object */
    uint32_t *unsettled;      /* objects launched since the last wait, in order */
    uint32_t unsettled_count;
    struct core_timing_cu *cus; /* scratch: one for each core */

    bool ranked; /* launches may interrupt each other: time is precedence's to tell */
    struct prt_precedence precedence;
};

/* At time 0.  The clock keeps its address.  `tree`: that of the device, of which the clock becomes a user; NULL: one of
 * its own. */
enum prt_status prt_sim_clock_create(struct prt_sim_clock *clock, const struct devdesc *description,
                                     struct prt_device_tree *tree, uint32_t queue_entries,
                                     const struct prt_sim_executor *executor, void *context);
/* A zeroed clock is allowed. */
void prt_sim_clock_destroy(struct prt_sim_clock *clock);

/* As set_kernels, queue_create, enqueue and wait_until of a device (runtime/device/device.h); until UINT64_MAX: as its
 * `wait`. */
enum prt_status prt_sim_clock_set_objects(struct prt_sim_clock *clock,
                                          const struct prt_kernel_object *objects, uint32_t count,
                                          uint32_t stage_count);
enum prt_status prt_sim_clock_add_queue(struct prt_sim_clock *clock, struct prt_device_handle on,
                                        uint32_t importance, uint32_t *queue);
enum prt_status prt_sim_clock_enqueue(struct prt_sim_clock *clock, uint32_t queue,
                                      const union dispatch_packet *packet, struct prt_error *error);
enum prt_status prt_sim_clock_wait_until(struct prt_sim_clock *clock, uint64_t until_cycles,
                                         struct core_completion *completions, uint32_t capacity,
                                         uint32_t *count);

/* The scheduler itself has worked for so long. */
static inline void prt_sim_clock_advance(struct prt_sim_clock *clock, uint64_t cycles)
{
    clock->now_cycles = core_cycles_add(clock->now_cycles, cycles);
}

#endif
