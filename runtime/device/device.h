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
#include "core/outcome.h"
#include "lang/devdesc.h"
#include "lang/dispatch.h"
#include "model/kernel_object.h"
#include "model/subdevice.h"
#include "runtime/device/ring.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prt_device;

struct prt_device_options {
    const struct devdesc *description; /* copied */
    prt_launch_observer observe;       /* NULL: there is no observer */
    void *observe_context;
    /* 0: one per processor that this process may use; 1: only the calling thread */
    uint32_t host_threads;
    uint32_t number;        /* of several devices of a kind, from 0 */
    uint32_t queue_entries; /* packets a queue holds; 0: PRT_QUEUE_ENTRIES_DEFAULT */
    /* Of a simulated device, or of the host's cores: the tree whose sub-devices the queues are made on, of as many compute
     * units as the description has.  Of a GPU: the one that `parts` returns.  The device becomes one of its users.  NULL: it
     * makes one. */
    struct prt_device_tree *tree;
};

struct prt_device_info {
    const char *backend; /* "sim" */
    const struct devdesc *description;
    uint32_t host_threads; /* that execute kernels, the scheduler's included */
    bool executes;         /* false: outputs are not computed */
    bool real_time;        /* cycles are nanoseconds of the host */
    /* Depths for which it is worth more than with those of the plan: so many times as deep, 0 or 1: the plan's, and at most
     * so many bytes more. */
    uint64_t depth_factor, depth_bytes_max;
};

struct prt_launch_kernel; /* launch_schedule.h */

/* A run whose scheduler is resident on the device. */
struct prt_resident_run {
    const struct prt_container *container;
    struct core *core;                   /* the host's copy of the block */
    const struct prt_ring *const *rings; /* by buffer: inner ones may hold initial packets */
    const uint8_t *blocks;               /* arguments, tables and state of all nodes */
    size_t blocks_bytes;
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

    /* Of a device whose compute units are not those of its description: the tree of its own ones.  NULL: `tree` has them.
     * PRT_E_NOMEM.  PRT_E_INVALID_DEVICE: the tree of the options is of another device. */
    enum prt_status (*parts)(struct prt_device *device, struct prt_device_tree **tree,
                             struct prt_error *error);

    /* With `parts`: the run uses these compute units of its own only, two or more.  Before the run begins. */
    void (*confine)(struct prt_device *device, uint32_t first_cu, uint32_t cu_count);

    /* With `parts`, after the run: has the compute unit executed firings of the stage? */
    bool (*unit_used)(const struct prt_device *device, uint32_t stage, uint32_t cu);

    /* The objects that packets name from now on: one for each of `stage_count` stages, then the
     * `finish` of those that have one, in the same order.  `objects` stays the caller's and outlives
     * every dispatch.  Signals are 1 to stage_count, 0 is none; kernarg blocks 0 to stage_count - 1.
     * A launch of an object past the stages leaves the counter of its kernarg block as it is.
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

    /* The launches of the child kernel of that interface, after the run.  NULL: the device queues of the objects count them. */
    void (*count_child)(const struct prt_device *device, uint32_t interface,
                        struct prt_launch_kernel *sum);

    /* Begins a run whose scheduler core the device executes by itself (core/resident); kernels have been set, and queues
     * made.  Inner buffers move to memory of the device: the rings of the host are not used for them any more, and
     * `core` says how long the others are.  NULL, as the next one: the host executes the core.  PRT_E_DEVICE,
     * PRT_E_NOMEM. */
    enum prt_status (*resident_begin)(struct prt_device *device, const struct prt_resident_run *run,
                                      struct prt_error *error);

    /* As core_resume: lets the core go on, from the host's copy of the block, until it needs the host.  If the device
     * does not answer a request for the state of the run (`asked`), the outcome is CORE_ASKED, and the copy is that of
     * the last outcome; the next call goes on waiting.  PRT_E_DEVICE: the device has failed; the run has ended. */
    enum prt_status (*resident_resume)(struct prt_device *device, struct core *core,
                                       enum core_outcome *outcome, struct prt_error *error);
};

#endif
