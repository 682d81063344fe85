/* SPDX-License-Identifier: MIT */
/*
 * device: the interface between the scheduler and a device; every backend implements this one table.
 *
 * A device has a tree of sub-devices (subdevice.h) and queues on them.  It executes *kernel objects*: an
 * array that the scheduler owns and hands over once.  A dispatch packet (lang/dispatch.md) has one or
 * more launches, each of which names an object by its index.  The scheduler puts the windows of a launch
 * into its object before it enqueues the launch.  It enqueues the object again only after its completion
 * has been delivered.  So an object is in flight at most once.  A packet that names an object in flight,
 * or one object twice, is refused.
 *
 * A queue executes its launches strictly in order, each after the one before has completed: a launch may
 * read the packets that an earlier one has written.  After a kernel's fault the queue executes no more
 * launches: later ones are delivered, with their objects unchanged.
 *
 * Time is in cycles and belongs to the device: only `advance` and `wait` move it.  A queue has an
 * importance.  A launch begins when two kinds of earlier work on the compute units of its sub-device have
 * ended: launches that queues of the same importance enqueued before it, and all more important ones.
 * Less important launches yield their compute units to it between work-groups, and go on later.  A launch
 * is *seen* when it ends if it has a completion signal or is the last of its packet; otherwise with the
 * next launch of its packet that is.  There is one completion for each launch, delivered when it is seen,
 * in order of (time when it is seen, enqueuing): nothing in this interface depends on the host's speed.
 *
 * For a device that runs in *real time*, cycles are nanoseconds of the host, from 0 at the first launch or
 * question for the time.  They pass by themselves, and `advance` does nothing.  To keep everything else
 * independent of them, all launches in flight when `wait` begins are seen together, in order of enqueuing.
 * If the queues determine that order by themselves, a launch may also be seen where it is launched
 * (`launch`).  Only if queues that share compute units differ in importance is a launch seen as it ends,
 * in order of enqueuing as far as it has.
 *
 * Thread-safety: one thread (the scheduler's) calls all entries of one device, none of them from a
 * callback.  Different devices are independent.  Ownership: `open` to `close`; queues die with the device.
 * Errors: PRT_E_BUSY and PRT_E_PACKET change nothing.
 *
 * backend/null/null.c is the one to copy from; tests/conform runs one suite over all of them.
 */
#ifndef RUNTIME_DEVICE_DEVICE_H
#define RUNTIME_DEVICE_DEVICE_H

#include "core/completion.h"
#include "lang/devdesc.h"
#include "lang/dispatch.h"
#include "lang/kernel_abi.h"
#include "runtime/device/index_generator.h"
#include "runtime/device/subdevice.h"
#include "core/time/timing.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prt_device;
struct prt_device_queue; /* device_queue.h */
struct core_timing_cu;

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
    /* Written before each dispatch: what its firings consume; of a finish, what it reads. */
    uint64_t read_bytes;
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
    uint32_t importance; /* of its queue */
};

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
    uint64_t child_cycles;        /* of compute units, in children */
    uint64_t child_launch_cycles; /* of compute units, issuing and starting them */
    uint64_t child_wait_cycles;   /* of children, between being issued and begun */
    uint32_t child_levels_most;   /* deepest level reached */
    uint32_t child_queue_most;    /* most entries that the queue held at one time */
};

struct prt_device_options {
    const struct devdesc *description; /* copied */
    prt_launch_observer observe;       /* NULL: there is no observer */
    void *observe_context;
    /* 0: one per processor that this process may use; 1: only the calling thread */
    uint32_t host_threads;
    uint32_t queue_entries; /* packets a queue holds; 0: PRT_QUEUE_ENTRIES_DEFAULT */
};

#define PRT_QUEUE_ENTRIES_DEFAULT 256u
#define PRT_QUEUE_ENTRIES_MAX 65536u

struct prt_device_info {
    const char *backend; /* "sim" */
    const struct devdesc *description;
    uint32_t host_threads; /* that execute kernels, the scheduler's included */
    bool executes;         /* false: outputs are not computed */
    bool real_time;        /* cycles are nanoseconds of the host */
};

struct prt_device_ops {
    const char *name;

    /* Makes a device at time 0.  Fails with PRT_E_NOMEM, PRT_E_DEVICE.  Fewer host threads than
     * asked for are no failure. */
    enum prt_status (*open)(const struct prt_device_options *options, struct prt_device **device,
                            struct prt_error *error);

    /* Waits for kernels that still execute, then frees everything.  NULL is allowed. */
    void (*close)(struct prt_device *device);

    void (*info)(const struct prt_device *device, struct prt_device_info *info);

    /* The device and its sub-devices; owned by the device. */
    struct prt_device_tree *(*tree)(struct prt_device *device);

    /* The objects that packets name from now on: one for each of `stage_count` stages, then the
     * `finish` of those that have one, in the same order.  `objects` stays the caller's and outlives
     * every dispatch.  Signals are 1 to stage_count, 0 is none; kernarg blocks 0 to stage_count - 1.
     * Nothing is in flight.  The reference table is empty afterwards, no firing has been launched.  Fails with PRT_E_NOMEM; allocates all that executing
     * them needs. */
    enum prt_status (*set_kernels)(struct prt_device *device,
                                   const struct prt_kernel_object *objects, uint32_t count,
                                   uint32_t stage_count);

    /* A queue on that (sub-)device, of that importance, 0 to 255; queues are numbered from 0.
     * PRT_E_INVALID_DEVICE, PRT_E_NOMEM. */
    enum prt_status (*queue_create)(struct prt_device *device, struct prt_device_handle on,
                                    uint32_t importance, uint32_t *queue);

    /* PRT_E_BUSY: something is in flight on it.  PRT_E_INVALID_VALUE: there is no such queue. */
    enum prt_status (*queue_destroy)(struct prt_device *device, uint32_t queue);

    /* Enqueues one 64-byte packet.  Does not block.  PRT_E_BUSY: the queue is full; retry after the
     * next completion. PRT_E_PACKET: malformed; nothing of it is executed or stored, the queue stays
     * usable, `*error` says what is wrong.  PRT_E_INVALID_VALUE: no such queue.  Allocates nothing.
     */
    enum prt_status (*enqueue)(struct prt_device *device, uint32_t queue,
                               const union dispatch_packet *packet, struct prt_error *error);

    /* Launches an object without a packet, for a device where that is cheaper; the launch is seen
     * when it ends. NULL: the device takes only packets.  Requires: the object exists and is not in
     * flight, the queue exists, and firings are 1 or more.  Allocates nothing.  The launch's signal
     * is the object's number and 1. Returns true if `ended` is not NULL, the launch was executed at
     * once, everything launched before it has been delivered, and there is no observer.  Then
     * `*ended` is its completion, which `wait` does not deliver any more.  Otherwise returns
     * false. */
    bool (*launch)(struct prt_device *device, uint32_t queue, uint32_t object,
                   uint64_t first_firing, uint32_t firings, struct core_completion *ended);

    /* Moves time forward to the moment when the next launch in flight is seen to end.  Waits until
     * the host has executed all launches that are seen then.  Delivers all completions seen by now,
     * at most `capacity` (1 or more).  With nothing in flight, `*count` is 0 at once. */
    enum prt_status (*wait)(struct prt_device *device, struct core_completion *completions,
                            uint32_t capacity, uint32_t *count);

    /* As `wait`, but time moves forward to `until_cycles` at most; if nothing is seen by then, `*count` is 0.  With
     * nothing in flight, too.  NULL: nothing can happen at a moment of the device's time (real time, or none). */
    enum prt_status (*wait_until)(struct prt_device *device, uint64_t until_cycles,
                                  struct core_completion *completions, uint32_t capacity,
                                  uint32_t *count);

    /* Queues that a fault has ended execute again.  Requires: nothing is in flight.  NULL: no kernel
     * of the device faults. */
    void (*resume)(struct prt_device *device);

    /* The scheduler itself has worked for so long. */
    void (*advance)(struct prt_device *device, uint64_t cycles);

    uint64_t (*now_cycles)(const struct prt_device *device);

    void (*counters)(const struct prt_device *device, struct prt_device_counters *counters);
};

#endif
