/* SPDX-License-Identifier: MIT */
/*
 * device_queue: kernels that launch kernels (lang/device_queue.md).
 *
 * A device queue belongs to one stage whose firings launch.  Its cache, in the device's memory, has for each child that a
 * `launch` statement may start an interface (struct kernel_launch and default arguments), which the queue writes, and an array
 * of entries of the same form.  A firing appends its launches to it, each the interface of its child with what it updates; what
 * has been launched is executed deepest first, in order, so the entries that are there at one time
 * are a stack: those of the firings on the path from the outermost one to the present one.  Their
 * number is proven when the container is loaded (verify/verify_launches.c), and against the device
 * when the queue is made.
 *
 * Output: all firings of a tree append to the outermost one's windows, in pre-order.  A firing's own
 * packets come before those of its launches though some may have been executed before it has ended,
 * because it has asked for their event: then its own are kept aside, and put in front of these when
 * it ends.
 *
 * Requires: a verified container, whose kernels count in `produced` what they append.
 * Ownership: create, destroy; the container and the entries outlive it.
 * Thread-safety: one dispatch at a time, on any thread.
 * Allocation: creation only.
 * Errors: PRT_E_DEVICE (the device's queue is too small), PRT_E_NOMEM.
 */
#ifndef RUNTIME_DEVICE_DEVICE_QUEUE_H
#define RUNTIME_DEVICE_DEVICE_QUEUE_H

#include "runtime/device/device.h"
#include "runtime/device/launch_schedule.h"
#include "runtime/load/image.h"

struct prt_device_queue;

/* For the node that interface `root` belongs to. */
enum prt_status prt_device_queue_create(const struct prt_container *container, uint32_t root,
                                        const struct prt_image_kernel *interfaces,
                                        const struct devdesc *device,
                                        struct prt_device_queue **queue, struct prt_error *error);
void prt_device_queue_destroy(struct prt_device_queue *queue);

/* Dispatches are executed on so many compute units from now on: 1.. */
void prt_device_queue_bind(struct prt_device_queue *queue, uint32_t cu_count);

/* Executes `count` firings of a dispatch with all that they launch.  The object's produced,
 * completed and most say what they have appended; `in` and `windows` are room for one for each
 * input.  warp_cycles, where it is not NULL, takes the cost of each firing, its tree not counted. */
enum kernel_status prt_device_queue_execute(struct prt_device_queue *queue,
                                            const struct prt_kernel_object *object,
                                            uint64_t first_firing, uint64_t count, const void **in,
                                            struct kernel_window *windows, uint64_t *warp_cycles,
                                            struct kernel_fault *fault);

/* Calls the body of that interface's kernel, for a caller that executes trees by itself. */
enum kernel_status prt_device_queue_call(const struct prt_device_queue *queue, uint32_t interface,
                                         const struct prt_kernel_object *object,
                                         const struct kernel_batch *batch);

/* Of the last execution: until all that its firings had launched had ended, beyond the time that
 * they would have taken had they launched nothing. */
uint64_t prt_device_queue_cycles(const struct prt_device_queue *queue);

/* Of the last execution: the compute unit's cycles for the longest firing that was launched. */
uint64_t prt_device_queue_longest(const struct prt_device_queue *queue);

/* Of the last execution: the cycles in which each compute unit executed its firings or what they had
 * launched; as many as the queue is bound to. */
const uint64_t *prt_device_queue_cus(const struct prt_device_queue *queue);

/* Records spans from now on, up to a bound for each execution. */
enum prt_status prt_device_queue_watch(struct prt_device_queue *queue);

/* Of the last execution; none if they are not recorded. */
struct prt_firing_spans prt_device_queue_spans(const struct prt_device_queue *queue);

/* Adds the launches of the child kernel of that interface since the queue was created. */
void prt_device_queue_count_child(const struct prt_device_queue *queue, uint32_t interface,
                                  struct prt_launch_kernel *sum);

/* Adds the launches of the objects' device queues since these were created. */
void prt_device_queues_count(const struct prt_kernel_object *objects, uint32_t object_count,
                             struct prt_device_counters *counters);

#endif
