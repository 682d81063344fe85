#include "runtime/backend/null.h"

#include "runtime/device/queue.h"

#include <stdlib.h>
#include <string.h>

struct prt_device {
    struct devdesc description;
    struct prt_device_tree *tree;
    struct prt_queue_table queues;
    struct prt_flights flights;
    const struct prt_kernel_object *objects;
    uint32_t object_count, signal_count;
    uint32_t queue_entries;
    uint64_t now_cycles;
    struct prt_device_counters counters;
};

static void null_close(struct prt_device *device)
{
    if (device == NULL) return;
    prt_queue_table_free(&device->queues);
    prt_device_tree_destroy(device->tree);
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
                                        uint32_t signal_count)
{
    enum prt_status status = prt_flights_reserve(&device->flights, count);
    if (status != PRT_OK) return status;
    device->objects = objects;
    device->object_count = count;
    device->signal_count = signal_count;
    return PRT_OK;
}

static enum prt_status null_queue_create(struct prt_device *device, struct prt_device_handle on,
                                         uint32_t *queue)
{
    return prt_queue_open(&device->queues, on, device->queue_entries, queue);
}

static enum prt_status null_queue_destroy(struct prt_device *device, uint32_t queue)
{
    return prt_queue_close(&device->queues, queue);
}

static enum prt_status null_enqueue(struct prt_device *device, uint32_t queue,
                                    const union prt_dispatch *packet, struct prt_error *error)
{
    struct prt_queue *q;
    enum prt_status status = prt_queue_admit(&device->queues, queue, packet, device->object_count,
                                             device->signal_count, &q, error);
    if (status != PRT_OK) return status;
    q->in_flight++;
    prt_flights_push(&device->flights, (struct prt_flight){.end_cycles = device->now_cycles,
                                                           .signal = packet->full.completion_signal,
                                                           .queue = queue});
    return PRT_OK;
}

static enum prt_status null_wait(struct prt_device *device, struct prt_completion *completions,
                                 uint32_t capacity, uint32_t *count)
{
    for (*count = 0; *count < capacity && device->flights.count > 0; (*count)++) {
        struct prt_flight flight = prt_flights_pop(&device->flights);
        device->queues.queues[flight.queue].in_flight--;
        completions[*count] = (struct prt_completion){.signal = flight.signal,
                                                      .begin_cycles = flight.end_cycles,
                                                      .end_cycles = flight.end_cycles};
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
