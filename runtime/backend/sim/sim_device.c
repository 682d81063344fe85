/* SPDX-License-Identifier: MIT */
#include "runtime/backend/sim/sim.h"

#include "model/sim_clock.h"
#include "runtime/backend/sim/sim_pool.h"
#include "runtime/device/device_queue.h"

#include <stdlib.h>

struct prt_device {
    struct prt_sim_clock clock;
    struct prt_sim_pool pool;
};

/* ---- the executor ---- */

static void give_sim_job(void *context, struct prt_sim_job *job)
{
    struct prt_device *device = context;
    prt_sim_pool_give(&device->pool, job);
}

static void finish_sim_job(void *context, struct prt_sim_job *job)
{
    struct prt_device *device = context;
    const struct prt_device_queue *queue = job->object->device_queue;
    prt_sim_pool_finish(&device->pool, job);
    if (queue != NULL)
        job->trees = (struct prt_sim_trees){.cycles = prt_device_queue_cycles(queue),
                                            .longest_cycles = prt_device_queue_longest(queue),
                                            .cu_cycles = prt_device_queue_cus(queue),
                                            .spans = prt_device_queue_spans(queue)};
}

static const struct prt_sim_executor executor = {give_sim_job, finish_sim_job};

/* ---- the device ---- */

static void sim_close(struct prt_device *device)
{
    if (device == NULL) return;
    prt_sim_pool_destroy(&device->pool);
    prt_sim_clock_destroy(&device->clock);
    free(device);
}

static enum prt_status sim_open(const struct prt_device_options *options,
                                struct prt_device **device, struct prt_error *error)
{
    struct prt_device *made = calloc(1, sizeof *made);
    if (made == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    uint32_t entries =
        options->queue_entries > 0 ? options->queue_entries : PRT_QUEUE_ENTRIES_DEFAULT;
    enum prt_status status = prt_sim_clock_create(&made->clock, options->description, options->tree,
                                                  entries, &executor, made);
    if (status != PRT_OK) {
        free(made);
        return prt_error_set(error, status, "device '%s': %s", options->description->name,
                             prt_status_text(status));
    }
    prt_sim_pool_create(&made->pool, options->host_threads);
    made->clock.observe = options->observe;
    made->clock.observe_context = options->observe_context;
    *device = made;
    return PRT_OK;
}

static void sim_info(const struct prt_device *device, struct prt_device_info *info)
{
    *info = (struct prt_device_info){.backend = "sim",
                                     .description = &device->clock.description,
                                     .host_threads = prt_sim_pool_threads(&device->pool),
                                     .executes = true};
}

static struct prt_device_tree *sim_tree(struct prt_device *device)
{
    return device->clock.tree;
}

static enum prt_status sim_set_kernels(struct prt_device *device,
                                       const struct prt_kernel_object *objects, uint32_t count,
                                       uint32_t stage_count)
{
    prt_sim_pool_stop(&device->pool);
    enum prt_status status = prt_sim_clock_set_objects(&device->clock, objects, count, stage_count);
    if (status != PRT_OK) return status;
    return prt_sim_pool_start(&device->pool, objects, device->clock.jobs, count);
}

static enum prt_status sim_queue_create(struct prt_device *device, struct prt_device_handle on,
                                        uint32_t importance, uint32_t *queue)
{
    if (prt_sim_pool_line(&device->pool, device->clock.queues.count) != PRT_OK) return PRT_E_NOMEM;
    return prt_sim_clock_add_queue(&device->clock, on, importance, queue);
}

static enum prt_status sim_queue_destroy(struct prt_device *device, uint32_t queue)
{
    return prt_queue_close(&device->clock.queues, queue);
}

/* ---- launches and time ---- */

static enum prt_status sim_enqueue(struct prt_device *device, uint32_t queue,
                                   const union dispatch_packet *packet, struct prt_error *error)
{
    return prt_sim_clock_enqueue(&device->clock, queue, packet, error);
}

static enum prt_status sim_wait_until(struct prt_device *device, uint64_t until_cycles,
                                      struct core_completion *completions, uint32_t capacity,
                                      uint32_t *count)
{
    return prt_sim_clock_wait_until(&device->clock, until_cycles, completions, capacity, count);
}

static enum prt_status sim_wait(struct prt_device *device, struct core_completion *completions,
                                uint32_t capacity, uint32_t *count)
{
    return prt_sim_clock_wait_until(&device->clock, UINT64_MAX, completions, capacity, count);
}

static void sim_resume(struct prt_device *device)
{
    prt_sim_pool_resume(&device->pool);
}

static void sim_advance(struct prt_device *device, uint64_t cycles)
{
    prt_sim_clock_advance(&device->clock, cycles);
}

static uint64_t sim_now_cycles(const struct prt_device *device)
{
    return device->clock.now_cycles;
}

static void sim_counters(const struct prt_device *device, struct prt_device_counters *counters)
{
    *counters = device->clock.counters;
    prt_device_queues_count(device->clock.objects, device->clock.object_count, counters);
}

const struct prt_device_ops prt_sim_device = {
    .name = "sim",
    .open = sim_open,
    .close = sim_close,
    .info = sim_info,
    .tree = sim_tree,
    .set_kernels = sim_set_kernels,
    .queue_create = sim_queue_create,
    .queue_destroy = sim_queue_destroy,
    .enqueue = sim_enqueue,
    .wait = sim_wait,
    .wait_until = sim_wait_until,
    .resume = sim_resume,
    .advance = sim_advance,
    .now_cycles = sim_now_cycles,
    .counters = sim_counters,
};
