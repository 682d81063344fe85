/* SPDX-License-Identifier: MIT */
/*
 * kernel_object: what a launch executes, what is known of a launch that has ended, and what a device counts.
 *
 * A device executes *kernel objects*: an array that the scheduler owns and hands over once (runtime/device/device.h).  A
 * trial of the compiler has objects without an `entry`, which take time and execute nothing.
 *
 * Thread-safety: plain data.  Allocation, errors: none.
 */
#ifndef MODEL_KERNEL_OBJECT_H
#define MODEL_KERNEL_OBJECT_H

#include "core/time/timing.h"
#include "lang/kernel_abi.h"
#include "model/index_generator.h"

#include <stdbool.h>
#include <stdint.h>

/* Packets that a queue holds. */
#define PRT_QUEUE_ENTRIES_DEFAULT 256u

struct prt_device_queue; /* runtime/device/device_queue.h */

enum prt_kernel_flags {
    PRT_KERNEL_STATEFUL = 1, /* firings execute one after the other */
    PRT_KERNEL_INDEXED = 2,  /* out windows are zeroed before the firings */
    PRT_KERNEL_FINISH = 4,   /* `entry` is a finish: one call, whatever the grid */
    PRT_KERNEL_WHOLE = 8,    /* a dispatch is one call: it cannot be cut into ranges of firings */
    PRT_KERNEL_STOPS = 16,   /* may return KERNEL_STOPPED: time is that of the firings that count */
    PRT_KERNEL_COUNTED = 32, /* it says what its warps cost: kernel_batch.warp_cycles */
    PRT_KERNEL_BOUNDED = 64, /* what it appends depends on data */
    /* WHOLE only because of its appended packets: ranges of firings may be executed separately,
     * each into its firings' maximum room; their packets are then moved together */
    PRT_KERNEL_APART = 128,
    PRT_KERNEL_PAST_CACHES = 256, /* kernel_batch.past_caches */
    PRT_KERNEL_LAUNCHES = 512,    /* its firings launch kernels */
};

/* The object that a packet's kernel_object names.  The scheduler writes `in`, `out`,
 * `claimed_bytes`, `left` and `windows` before it enqueues.  The device reads them.  It writes
 * `*produced` and `*completed` of a finish and of a WHOLE object, until the completion is
 * delivered.  A device that does not execute leaves them as they were: the scheduler has stored the
 * claimed numbers there.  KERNEL_STOPPED is delivered as the kernel's status.
 *
 * A fault in firing k of a launch leaves the packets of the firings before k in its out windows,
 * like a stop in k; `*produced` of a WHOLE output counts these.  Launches that were enqueued on the
 * queue after it are skipped until `resume`. */
struct prt_kernel_object {
    kernel_entry entry;
    const void *arguments;
    void *tables, *state;
    const void **in; /* windows of the dispatch's first firing */
    void **out;
    /* Per input: bytes from one firing's window to the next one's; 0 of a 2-D window, in which the
     * place moves on. */
    const uint64_t *pop_bytes;
    /* Per output, of a firing at most; both unused where it is WHOLE and not APART. */
    const uint64_t *push_bytes;
    const uint64_t *claimed_bytes;       /* per output: room in its window */
    uint64_t *left;                      /* of a finish, else NULL */
    uint64_t *produced;                  /* per output */
    uint64_t *completed;                 /* of a run, and of a finish (lang/kernel_abi.h) */
    uint64_t *most;                      /* of a run, per output: kernel_abi.h; NULL: not wanted */
    const struct kernel_window *windows; /* per input; NULL: it has no 2-D window */
    /* Per output, beside its window: kernel_batch.origins; NULL: not wanted.  Where there are some, a
     * dispatch is of one firing. */
    uint32_t *const *origins;
    uint32_t input_count, output_count;
    uint32_t flags;       /* set of enum prt_kernel_flags */
    uint32_t stage;       /* for traces and crash reports */
    uint64_t cost_cycles; /* of one firing, all its work-items together: the work for the host */
    uint64_t warp_cycles; /* of one warp; STATEFUL: of a firing; COUNTED: an estimate */
    struct core_warp_shape shape;
    struct core_timing_room room;
    /* Written before each dispatch: what its firings consume; of a finish, what it reads. */
    uint64_t read_bytes;
    /* Of what its firings move, so many parts of so many are served by caches (cached_buffers.h); 0, 0: none. */
    uint64_t cached_parts, moved_parts;
    const uint64_t *packet_bytes; /* per output: of one packet; unused where rates are exact */
    uint64_t batch_max;           /* most firings of a dispatch; 0: any number */
    const struct prt_index_configuration *index; /* of a kernel with work-items; else NULL */
    struct prt_device_queue *device_queue; /* of a run whose firings launch kernels; else NULL */
};

/* The forms of dispatch packets (lang/dispatch.md). */
enum prt_packet_kind {
    PRT_PACKET_FULL,
    PRT_PACKET_REFERENCE,
    PRT_PACKET_CONDENSED,
    PRT_PACKET_KINDS
};

/* One firing of a launch whose firings launch kernels, or of a child, on a compute unit: until its end, or until it
 * waits for a child.  Times count from the begin of the execution of the launch. */
struct prt_firing_span {
    uint64_t begin_cycles, end_cycles;
    uint64_t issued_cycles; /* of a child */
    uint32_t interface;     /* of its kernel, in INTERFACES */
    uint32_t level;         /* 0: a firing of the stage */
    uint32_t cu;            /* of the sub-device */
    bool resumed;           /* it goes on after a wait */
};

/* The spans of one launch, in order of end; of each compute unit also in order of begin. */
struct prt_firing_spans {
    const struct prt_firing_span *items;
    uint64_t count, omitted; /* omitted: those that found no room */
};

/* One launch, when it has ended.  Cycles are of the device's clock; execute = what compute and
 * memory take together, and launch + switch + the others lie between begin and end. */
struct prt_launch_record {
    uint32_t stage, queue;
    bool finish;
    enum prt_packet_kind packet;
    bool first_of_packet; /* enqueue and packet processing are charged to it */
    bool cleaned_up;      /* it did a clean-up of its own */
    uint64_t first_firing, firings;
    uint64_t enqueued_cycles, begin_cycles, end_cycles;
    uint64_t launch_cycles, switch_cycles, index_cycles, device_queue_cycles;
    uint64_t cleanup_cycles; /* of launch_cycles, the part after all others */
    uint64_t compute_cycles, memory_cycles, execute_cycles;
    uint32_t busy_cus;
    uint64_t warps;
    /* The work of each compute unit of the sub-device, in order, from `first_cu` of the device
     * on. */
    uint32_t first_cu, cu_count;
    const struct core_timing_cu *cus;
    uint64_t busy_cycles; /* of all of them */
    /* An interrupted launch has a record for each of its pieces: all but the last are
     * `interrupted`, all but the first `resumed`.  Each has the values of the whole launch
     * (firings, packet). */
    bool interrupted, resumed;
    uint32_t importance;           /* of its queue */
    struct prt_firing_spans spans; /* of a launch that has launched, and was not interrupted */
};

/* Is it a fault that a call of the object's kernel ended so?  A kernel may declare that it stops. */
static inline bool prt_kernel_status_is_fault(const struct prt_kernel_object *object,
                                              enum kernel_status status)
{
    if (status == KERNEL_STOPPED) return (object->flags & PRT_KERNEL_STOPS) == 0;
    return status != KERNEL_OK;
}

/* Merges the status of a part of a launch into that of the launch: the fault of the lowest firing counts.  A fault
 * outside of firings counts as the highest. */
static inline void prt_kernel_fault_merge(enum kernel_status *status, struct kernel_fault *fault,
                                          enum kernel_status of_part,
                                          const struct kernel_fault *part_fault)
{
    if (of_part == KERNEL_OK) return;
    if (*status != KERNEL_OK && fault->firing <= part_fault->firing) return;
    *status = of_part;
    *fault = *part_fault;
}

/* How many of `firings` firings from `first_firing` on count in the record of their launch: of a kernel that stopped or
 * faulted, those before that. */
static inline uint64_t prt_launch_counted_firings(const struct prt_kernel_object *object,
                                                  uint64_t first_firing, uint64_t firings,
                                                  enum kernel_status status,
                                                  const struct kernel_fault *fault)
{
    uint64_t counted = firings;
    if (status == KERNEL_STOPPED)
        counted = *object->completed;
    else if (status != KERNEL_OK)
        counted = fault->firing - first_firing;
    return counted < firings ? counted : firings;
}

/* Called in the scheduler's thread, in order of end, before the completion that covers the launch
 * is returned.  The record is the device's, and lives as long as the call. */
typedef void (*prt_launch_observer)(void *context, const struct prt_launch_record *record);

/* Since `open`; nothing is ever taken off. */
struct prt_device_counters {
    uint64_t packets[PRT_PACKET_KINDS];  /* processed */
    uint64_t launches[PRT_PACKET_KINDS]; /* in them */
    uint64_t bytes_enqueued;
    uint64_t enqueue_cycles, process_cycles, cleanup_cycles;
    uint64_t clean_ups;
    uint64_t reference_stores; /* entries of the reference table written */
    uint64_t spills;           /* of those, entries that had held another kernel object */
    uint64_t packets_refused;
    /* Index generator (index_generator.h): launches of kernels with work-items, by what the filter
     * found, and what it cost and spared. */
    uint64_t index_requests[PRT_INDEX_MISS + 1];
    uint64_t index_warps_iterated, index_warps_packed;
    uint64_t index_cycles;       /* that launches have waited for indices */
    uint64_t index_saved_cycles; /* that unpacking takes less than dividing: index_units.h */
    /* the device queue (lang/device_queue.md) */
    uint64_t child_launches;      /* kernels launched by kernels */
    uint64_t child_groups;        /* work-groups of these */
    uint64_t child_cycles;        /* of compute units, in children */
    uint64_t child_launch_cycles; /* of compute units, issuing and starting them */
    uint64_t child_wait_cycles;   /* of children, between being issued and begun */
    uint32_t child_levels_most;   /* deepest level reached */
    uint32_t child_queue_most;    /* most entries that the queue held at one time */
};

#endif
