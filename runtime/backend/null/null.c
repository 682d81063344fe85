/* SPDX-License-Identifier: MIT */
#include "runtime/backend/null/null.h"

#include "base/array_allocate.h"
#include "model/queue.h"

#include <stdlib.h>
#include <string.h>

struct prt_device {
    struct devdesc description;
    struct prt_device_tree *tree;
    struct prt_queue_table queues;
    struct prt_flights flights;
    struct prt_packet_processor processor;
    struct prt_launch *launches; /* in flight, by kernel object */
    const struct prt_kernel_object *objects;
    uint32_t object_count;
    uint32_t queue_entries;
    uint64_t now_cycles;
    struct prt_device_counters counters;
    prt_launch_observer observe;
    void *observe_context;
};

static void null_close(struct prt_device *device)
{
    if (device == NULL) return;
    prt_queue_table_free(&device->queues);
    prt_device_tree_destroy(device->tree);
    prt_packet_processor_destroy(&device->processor);
    free(device->launches);
    free(device->flights.items);
    free(device);
}

static enum prt_status null_open(const struct prt_device_options *options,
                                 struct prt_device **device, struct prt_error *error)
{
    struct prt_device *made = calloc(1, sizeof *made);
    if (made == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    made->description = *options->description;
    made->queue_entries =
        options->queue_entries > 0 ? options->queue_entries : PRT_QUEUE_ENTRIES_DEFAULT;
    enum prt_status status = prt_queue_tree_create(&made->description, &made->tree);
    if (status != PRT_OK) {
        free(made);
        return prt_error_set(error, status, "device '%s': %s", options->description->name,
                             prt_status_text(status));
    }
    made->queues.tree = made->tree;
    made->observe = options->observe;
    made->observe_context = options->observe_context;
    prt_packet_processor_create(&made->processor, &made->description, &made->counters);
    *device = made;
    return PRT_OK;
}

static void null_info(const struct prt_device *device, struct prt_device_info *info)
{
    *info = (struct prt_device_info){
        .backend = "null", .description = &device->description, .host_threads = 1};
}

static struct prt_device_tree *null_tree(struct prt_device *device)
{
    return device->tree;
}

static enum prt_status null_set_kernels(struct prt_device *device,
                                        const struct prt_kernel_object *objects, uint32_t count,
                                        uint32_t stage_count)
{
    enum prt_status status = prt_flights_reserve(&device->flights, count);
    if (status == PRT_OK) status = prt_packet_objects(&device->processor, count, stage_count);
    if (status != PRT_OK) return status;
    struct prt_launch *launches = array_allocate(count, sizeof *launches);
    if (launches == NULL) return PRT_E_NOMEM;
    free(device->launches);
    device->launches = launches;
    device->objects = objects;
    device->object_count = count;
    return PRT_OK;
}

static enum prt_status null_queue_create(struct prt_device *device, struct prt_device_handle on,
                                         uint32_t importance, uint32_t *queue)
{
    return prt_queue_open(&device->queues, on, importance, device->queue_entries, queue);
}

static enum prt_status null_queue_destroy(struct prt_device *device, uint32_t queue)
{
    return prt_queue_close(&device->queues, queue);
}

static enum prt_status null_enqueue(struct prt_device *device, uint32_t queue,
                                    const union dispatch_packet *packet, struct prt_error *error)
{
    struct prt_queue *q;
    enum prt_status status =
        prt_queue_admit(&device->queues, queue, &device->processor, packet, &q, error);
    if (status != PRT_OK) return status;
    for (uint32_t i = 0; i < device->processor.count; i++) {
        const struct prt_launch *launch = &device->processor.decoded[i];
        device->launches[launch->object] = *launch;
        prt_flights_push(&device->flights, device->now_cycles, launch->object, queue);
    }
    return PRT_OK;
}

static void observe_null_launch(const struct prt_device *device, const struct prt_launch *launch,
                                const struct prt_flight *flight)
{
    struct prt_launch_record record = {
        .queue = flight->queue,
        .firings = launch->firings,
        .enqueued_cycles = flight->seen_cycles,
        .begin_cycles = flight->seen_cycles,
        .end_cycles = flight->seen_cycles,
    };
    prt_launch_describe(launch, &device->objects[launch->object], &record);
    device->observe(device->observe_context, &record);
}

/* Fills all members except the fault: the null device has none. */
static void complete_null_launch(const struct prt_launch *launch, uint64_t cycles,
                                 struct core_completion *c)
{
    c->object = launch->object;
    c->signal = launch->signal;
    c->begin_cycles = c->end_cycles = cycles;
    c->execute_cycles = c->launch_cycles = c->switch_cycles = 0;
    c->kernel_status = KERNEL_OK;
    c->skipped = false;
}

static enum prt_status null_wait(struct prt_device *device, struct core_completion *completions,
                                 uint32_t capacity, uint32_t *count)
{
    for (*count = 0; *count < capacity && device->flights.count > 0; (*count)++) {
        struct prt_flight flight = prt_flights_pop(&device->flights);
        const struct prt_launch *launch = &device->launches[flight.slot];
        if (device->observe != NULL) observe_null_launch(device, launch, &flight);
        device->queues.queues[flight.queue].in_flight -= launch->last_of_packet;
        prt_packet_ended(&device->processor, launch, launch->firings);
        complete_null_launch(launch, flight.seen_cycles, &completions[*count]);
    }
    return PRT_OK;
}

static void null_advance(struct prt_device *device, uint64_t cycles)
{
    device->now_cycles += cycles;
}

static uint64_t null_now_cycles(const struct prt_device *device)
{
    return device->now_cycles;
}

static void null_counters(const struct prt_device *device, struct prt_device_counters *counters)
{
    *counters = device->counters;
}

const struct prt_device_ops prt_null_device = {
    .name = "null",
    .open = null_open,
    .close = null_close,
    .info = null_info,
    .tree = null_tree,
    .set_kernels = null_set_kernels,
    .queue_create = null_queue_create,
    .queue_destroy = null_queue_destroy,
    .enqueue = null_enqueue,
    .wait = null_wait,
    .advance = null_advance,
    .now_cycles = null_now_cycles,
    .counters = null_counters,
};
