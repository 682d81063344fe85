/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/drawn_device.h"

#include "model/queue.h"
#include "runtime/device/kernel_call.h"

#include <stdlib.h>

/* A launch that is in flight, by kernel object. */
struct flight {
    struct prt_launch launch;
    uint32_t queue;
    bool executed, skipped;
    uint64_t begin_cycles, execute_cycles, end_cycles;
    enum kernel_status status;
    struct kernel_fault fault;
};

struct prt_device {
    struct devdesc description;
    struct prt_device_tree *tree;
    struct prt_queue_table queues;
    struct prt_flights seen;    /* in order of when they are seen */
    struct prt_flights pending; /* that have not been executed, in order of when they are */
    struct prt_packet_processor processor;
    struct prt_kernel_scratch scratch;
    struct flight *flights;
    const struct prt_kernel_object *objects;
    bool *faulted; /* by queue */
    uint32_t object_count, queue_entries;
    uint64_t now_cycles;
    struct prt_device_counters counters;
    struct drawn *drawn;
};

void drawn_device_follow(struct prt_device *device, struct drawn *drawn)
{
    device->drawn = drawn;
}

static uint32_t draw(const struct prt_device *device, uint32_t end)
{
    return device->drawn != NULL ? drawn_below(device->drawn, end) : 0;
}

static void drawn_close(struct prt_device *device)
{
    if (device == NULL) return;
    prt_queue_table_free(&device->queues);
    prt_device_tree_destroy(device->tree);
    prt_packet_processor_destroy(&device->processor);
    prt_kernel_scratch_free(&device->scratch);
    free(device->flights);
    free(device->faulted);
    free(device->seen.items);
    free(device->pending.items);
    free(device);
}

static enum prt_status drawn_open(const struct prt_device_options *options,
                                  struct prt_device **device, struct prt_error *error)
{
    struct prt_device *made = calloc(1, sizeof *made);
    if (made == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    made->description = *options->description;
    made->queue_entries =
        options->queue_entries > 0 ? options->queue_entries : PRT_QUEUE_ENTRIES_DEFAULT;
    prt_packet_processor_create(&made->processor, &made->description, &made->counters);
    enum prt_status status = prt_queue_tree_create(&made->description, &made->tree);
    made->queues.tree = made->tree;
    if (status == PRT_OK) {
        *device = made;
        return PRT_OK;
    }
    drawn_close(made);
    return prt_error_set(error, status, "%s", prt_status_text(status));
}

static void drawn_info(const struct prt_device *device, struct prt_device_info *info)
{
    *info = (struct prt_device_info){.backend = "drawn",
                                     .description = &device->description,
                                     .host_threads = 1,
                                     .executes = true};
}

static struct prt_device_tree *drawn_tree(struct prt_device *device)
{
    return device->tree;
}

static enum prt_status drawn_set_kernels(struct prt_device *device,
                                         const struct prt_kernel_object *objects, uint32_t count,
                                         uint32_t stage_count)
{
    enum prt_status status = prt_flights_reserve(&device->seen, count);
    if (status == PRT_OK) status = prt_flights_reserve(&device->pending, count);
    if (status == PRT_OK) status = prt_packet_objects(&device->processor, count, stage_count);
    if (status == PRT_OK) status = prt_kernel_scratch_create(objects, count, &device->scratch);
    if (status != PRT_OK) return status;
    device->flights = calloc(count + (size_t)1, sizeof *device->flights);
    device->objects = objects;
    device->object_count = count;
    return device->flights != NULL ? PRT_OK : PRT_E_NOMEM;
}

static enum prt_status drawn_queue_create(struct prt_device *device, struct prt_device_handle on,
                                          uint32_t importance, uint32_t *queue)
{
    enum prt_status status =
        prt_queue_open(&device->queues, on, importance, device->queue_entries, queue);
    if (status != PRT_OK) return status;
    bool *faulted = realloc(device->faulted, (*queue + (size_t)1) * sizeof *faulted);
    if (faulted == NULL) return PRT_E_NOMEM;
    faulted[*queue] = false;
    device->faulted = faulted;
    return PRT_OK;
}

static enum prt_status drawn_queue_destroy(struct prt_device *device, uint32_t queue)
{
    return prt_queue_close(&device->queues, queue);
}

/* ---- executing ---- */

static void execute(struct prt_device *device, struct flight *flight)
{
    const struct prt_kernel_object *object = &device->objects[flight->launch.object];
    flight->executed = true;
    flight->status = KERNEL_OK;
    flight->skipped = device->faulted[flight->queue];
    if (flight->skipped) return;
    flight->status =
        prt_kernel_execute(object, flight->launch.first_firing, flight->launch.first_firing,
                           flight->launch.firings, &device->scratch, NULL, &flight->fault);
    device->faulted[flight->queue] =
        flight->status != KERNEL_OK && flight->status != KERNEL_STOPPED;
}

/* All whose moment has come. */
static void execute_due(struct prt_device *device, uint64_t cycles)
{
    while (device->pending.count > 0 && device->pending.items[0].seen_cycles <= cycles)
        execute(device, &device->flights[prt_flights_pop(&device->pending).slot]);
}

/* Begin, moment of execution and end. */
static void draw_times(struct prt_device *device, struct prt_queue *queue, struct flight *flight)
{
    static const uint32_t durations[] = {0, 1, 3, 10, 30, 100, 300, 1000};
    uint64_t free_at = queue->free_cycles;
    uint32_t choice = draw(device, 64);
    uint32_t duration = durations[choice % 8];
    flight->begin_cycles = free_at > device->now_cycles ? free_at : device->now_cycles;
    flight->execute_cycles = flight->begin_cycles + (uint64_t)duration * (choice / 8) / 7;
    flight->end_cycles = flight->begin_cycles + duration;
    queue->free_cycles = flight->end_cycles;
}

static enum prt_status drawn_enqueue(struct prt_device *device, uint32_t queue,
                                     const union dispatch_packet *packet, struct prt_error *error)
{
    struct prt_queue *q;
    struct prt_packet_processor *processor = &device->processor;
    enum prt_status status = prt_queue_admit(&device->queues, queue, processor, packet, &q, error);
    if (status != PRT_OK) return status;
    uint32_t unseen = 0; /* the first of those that are seen with the next one */
    for (uint32_t i = 0; i < processor->count; i++) {
        const struct prt_launch *launch = &processor->decoded[i];
        struct flight *flight = &device->flights[launch->object];
        *flight = (struct flight){.launch = *launch, .queue = queue};
        draw_times(device, q, flight);
        prt_flights_push(&device->pending, flight->execute_cycles, launch->object, queue);
        for (; launch->seen && unseen <= i; unseen++)
            prt_flights_push(&device->seen, flight->end_cycles, processor->decoded[unseen].object,
                             queue);
    }
    execute_due(device, device->now_cycles);
    return PRT_OK;
}

/* ---- completions ---- */

static void complete(struct prt_device *device, const struct prt_flight *seen,
                     struct core_completion *completion)
{
    struct flight *flight = &device->flights[seen->slot];
    if (!flight->executed) abort();
    device->queues.queues[seen->queue].in_flight -= flight->launch.last_of_packet;
    const bool stopped = flight->status == KERNEL_STOPPED;
    uint64_t firings =
        stopped ? *device->objects[flight->launch.object].completed : flight->launch.firings;
    prt_packet_ended(&device->processor, &flight->launch, flight->skipped ? 0 : firings);
    *completion = (struct core_completion){.signal = flight->launch.signal,
                                           .begin_cycles = flight->begin_cycles,
                                           .end_cycles = flight->end_cycles,
                                           .object = flight->launch.object,
                                           .kernel_status = flight->status,
                                           .skipped = flight->skipped,
                                           .fault = flight->fault};
}

static enum prt_status drawn_wait(struct prt_device *device, struct core_completion *completions,
                                  uint32_t capacity, uint32_t *count)
{
    *count = 0;
    if (device->seen.count == 0) return PRT_OK;
    if (device->seen.items[0].seen_cycles > device->now_cycles)
        device->now_cycles = device->seen.items[0].seen_cycles;
    execute_due(device, device->now_cycles);
    while (*count < capacity && device->seen.count > 0 &&
           device->seen.items[0].seen_cycles <= device->now_cycles) {
        struct prt_flight seen = prt_flights_pop(&device->seen);
        complete(device, &seen, &completions[(*count)++]);
    }
    return PRT_OK;
}

static void drawn_resume(struct prt_device *device)
{
    for (uint32_t i = 0; i < device->queues.count; i++)
        device->faulted[i] = false;
}

static void drawn_advance(struct prt_device *device, uint64_t cycles)
{
    device->now_cycles += cycles;
    execute_due(device, device->now_cycles);
}

static uint64_t drawn_now_cycles(const struct prt_device *device)
{
    return device->now_cycles;
}

static void drawn_counters(const struct prt_device *device, struct prt_device_counters *counters)
{
    *counters = device->counters;
}

const struct prt_device_ops drawn_device = {
    .name = "drawn",
    .open = drawn_open,
    .close = drawn_close,
    .info = drawn_info,
    .tree = drawn_tree,
    .set_kernels = drawn_set_kernels,
    .queue_create = drawn_queue_create,
    .queue_destroy = drawn_queue_destroy,
    .enqueue = drawn_enqueue,
    .wait = drawn_wait,
    .resume = drawn_resume,
    .advance = drawn_advance,
    .now_cycles = drawn_now_cycles,
    .counters = drawn_counters,
};
