/* SPDX-License-Identifier: MIT */
#include "runtime/backend/sim/sim.h"

#include "runtime/backend/sim/sim_pool.h"
#include "runtime/device/index_units.h"
#include "runtime/device/device_queue.h"
#include "runtime/device/launch_time.h"
#include "runtime/device/precedence.h"

#include <assert.h>
#include <stdlib.h>

struct prt_device {
    struct devdesc description;
    struct prt_device_tree *tree;
    struct prt_queue_table queues;
    struct prt_index_units indices; /* of each queue */
    struct prt_flights flights;
    struct prt_flights ends; /* by their own end, for the observer; empty without one */
    struct prt_packet_processor processor;
    prt_launch_observer observe;
    void *observe_context;
    const struct prt_kernel_object *objects;
    uint32_t object_count;
    uint32_t queue_entries;
    uint64_t now_cycles;
    struct prt_device_counters counters;

    struct prt_sim_pool pool;
    struct prt_sim_job *jobs; /* one per object: each is in flight at most once */
    uint32_t *unsettled;      /* objects launched since the last wait, in order */
    uint32_t unsettled_count;
    struct core_timing_cu *cus; /* scratch: one for each core */

    bool ranked; /* launches may interrupt each other: time is precedence's to tell */
    struct prt_precedence precedence;
};

/* ---- the device ---- */

static void free_jobs(struct prt_device *device)
{
    for (uint32_t i = 0; device->jobs != NULL && i < device->object_count; i++)
        free(device->jobs[i].warp_cycles);
    free(device->jobs);
    free(device->unsettled);
    device->jobs = NULL;
    device->unsettled = NULL;
    device->object_count = 0;
}

static void sim_close(struct prt_device *device)
{
    if (device == NULL) return;
    prt_sim_pool_destroy(&device->pool);
    prt_queue_table_free(&device->queues);
    prt_index_units_free(&device->indices);
    prt_precedence_free(&device->precedence);
    prt_device_tree_destroy(device->tree);
    prt_packet_processor_destroy(&device->processor);
    free(device->flights.items);
    free(device->ends.items);
    free_jobs(device);
    free(device->cus);
    free(device);
}

static enum prt_status sim_open(const struct prt_device_options *options,
                                struct prt_device **device, struct prt_error *error)
{
    struct prt_device *made = calloc(1, sizeof *made);
    if (made == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    made->description = *options->description;
    made->queue_entries =
        options->queue_entries > 0 ? options->queue_entries : PRT_QUEUE_ENTRIES_DEFAULT;
    size_t cores = (size_t)made->description.cu_count * made->description.cores_per_cu;
    made->cus = calloc(cores, sizeof *made->cus);
    enum prt_status status =
        made->cus != NULL ? prt_queue_tree_create(&made->description, &made->tree) : PRT_E_NOMEM;
    if (status != PRT_OK) {
        free(made->cus);
        free(made);
        return prt_error_set(error, status, "device '%s': %s", options->description->name,
                             prt_status_text(status));
    }
    prt_sim_pool_create(&made->pool, options->host_threads);
    made->queues.tree = made->tree;
    made->precedence = (struct prt_precedence){
        .queues = &made->queues, .description = &made->description, .cus = made->cus};
    made->observe = options->observe;
    made->observe_context = options->observe_context;
    prt_packet_processor_create(&made->processor, &made->description, &made->counters);
    *device = made;
    return PRT_OK;
}

static void sim_info(const struct prt_device *device, struct prt_device_info *info)
{
    *info = (struct prt_device_info){.backend = "sim",
                                     .description = &device->description,
                                     .host_threads = prt_sim_pool_threads(&device->pool),
                                     .executes = true};
}

static struct prt_device_tree *sim_tree(struct prt_device *device)
{
    return device->tree;
}

/* The jobs of the objects, with room for what their warps cost. */
static bool make_jobs(struct prt_device *device, const struct prt_kernel_object *objects,
                      uint32_t count)
{
    device->jobs = calloc(count > 0 ? count : 1, sizeof *device->jobs);
    device->unsettled = calloc(count > 0 ? count : 1, sizeof *device->unsettled);
    if (device->jobs == NULL || device->unsettled == NULL) return false;
    device->objects = objects;
    device->object_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct prt_sim_job *job = &device->jobs[i];
        uint64_t warps = prt_launch_warps_most(&objects[i]);
        job->object = &objects[i];
        if (warps > 0 && warps <= SIZE_MAX / sizeof *job->warp_cycles)
            job->warp_cycles = calloc((size_t)warps, sizeof *job->warp_cycles);
        if (warps > 0 && job->warp_cycles == NULL) return false;
    }
    return true;
}

static enum prt_status sim_set_kernels(struct prt_device *device,
                                       const struct prt_kernel_object *objects, uint32_t count,
                                       uint32_t stage_count)
{
    prt_sim_pool_stop(&device->pool);
    free_jobs(device);
    if (!make_jobs(device, objects, count) ||
        prt_flights_reserve(&device->flights, count) != PRT_OK ||
        prt_flights_reserve(&device->ends, count) != PRT_OK ||
        prt_precedence_claims(&device->precedence, count) != PRT_OK ||
        prt_packet_objects(&device->processor, count, stage_count) != PRT_OK) {
        free_jobs(device);
        return PRT_E_NOMEM;
    }
    return prt_sim_pool_start(&device->pool, objects, device->jobs, count);
}

static enum prt_status sim_queue_create(struct prt_device *device, struct prt_device_handle on,
                                        uint32_t importance, uint32_t *queue)
{
    if (prt_sim_pool_line(&device->pool, device->queues.count) != PRT_OK) return PRT_E_NOMEM;
    if (device->indices.count == device->queues.count &&
        prt_index_units_add(&device->indices, &device->description) != PRT_OK)
        return PRT_E_NOMEM;
    enum prt_status status =
        prt_queue_open(&device->queues, on, importance, device->queue_entries, queue);
    return status == PRT_OK ? prt_precedence_queues(&device->precedence) : status;
}

static enum prt_status sim_queue_destroy(struct prt_device *device, uint32_t queue)
{
    return prt_queue_close(&device->queues, queue);
}

/* ---- launches ---- */

/* A packet's launches are seen in runs: each with the next that has a signal. */
static void link_seen(struct prt_device *device)
{
    const struct prt_packet_processor *p = &device->processor;
    for (uint32_t i = 0, from = 0; i < p->count; i++) {
        struct prt_sim_job *job = &device->jobs[p->decoded[i].object];
        job->seen_from = p->decoded[from].object;
        job->seen_next = i + 1 < p->count ? p->decoded[i + 1].object : PRT_SIM_NO_JOB;
        if (p->decoded[i].seen) from = i + 1;
    }
}

static void begin_launch(struct prt_device *device, uint32_t queue, const struct prt_launch *launch)
{
    struct prt_sim_job *job = &device->jobs[launch->object];
    job->launch = *launch;
    job->queue = queue;
    job->record.queue = queue;
    job->record.firings = launch->firings;
    job->record.enqueued_cycles = device->now_cycles;
    job->record.device_queue_cycles = 0;
    assert(device->unsettled_count < device->object_count);
    device->unsettled[device->unsettled_count++] = launch->object;
    prt_sim_pool_give(&device->pool, job);
}

static bool is_idle(const struct prt_device *device)
{
    return device->flights.count == 0 && device->ends.count == 0 && device->unsettled_count == 0 &&
           device->precedence.present == 0;
}

static enum prt_status sim_enqueue(struct prt_device *device, uint32_t queue,
                                   const union dispatch_packet *packet, struct prt_error *error)
{
    struct prt_queue *q;
    if (is_idle(device)) device->ranked = device->queues.ranked;
    enum prt_status status =
        prt_queue_admit(&device->queues, queue, &device->processor, packet, &q, error);
    if (status != PRT_OK) return status;
    if (device->ranked) link_seen(device);
    for (uint32_t i = 0; i < device->processor.count; i++)
        begin_launch(device, queue, &device->processor.decoded[i]);
    return PRT_OK;
}

/* ---- time ---- */

/* The cost of the launch is known only after its execution. */
static bool is_known_late(const struct prt_kernel_object *object)
{
    const uint32_t late =
        PRT_KERNEL_COUNTED | PRT_KERNEL_STOPS | PRT_KERNEL_BOUNDED | PRT_KERNEL_FINISH;
    return (object->flags & late) != 0 || object->device_queue != NULL;
}

static uint64_t counted_firings(const struct prt_sim_job *job)
{
    return prt_launch_counted_firings(job->object, job->launch.first_firing, job->launch.firings,
                                      job->status, &job->fault);
}

/* The costs of a stopped or faulted firing count up to that place.  Launches whose costs are known
 * early may still be executing. */
static struct prt_launch_costs costs_of(const struct prt_sim_job *job)
{
    uint64_t firings = job->record.firings;
    bool counted = job->warp_cycles != NULL && job->executed;
    return (struct prt_launch_costs){.begin_cycles = job->launch.begin_cycles,
                                     .cleanup_cycles = job->launch.cleanup_cycles,
                                     .warp_cycles = counted ? job->warp_cycles : NULL,
                                     .counted_firings =
                                         firings < job->launch.firings ? firings + 1 : firings};
}

/* Puts into the record what is known when the launch has been executed. */
static struct prt_launch_costs find_costs(struct prt_device *device, struct prt_sim_job *job)
{
    if (is_known_late(job->object)) {
        prt_sim_pool_finish(&device->pool, job);
        job->record.firings = counted_firings(job);
        if (job->object->device_queue != NULL && job->executed)
            job->record.device_queue_cycles = prt_device_queue_cycles(job->object->device_queue);
    }
    struct prt_launch_costs costs = costs_of(job);
    if (job->object->index != NULL && device->description.index_memory_bytes > 0)
        job->record.index_cycles =
            prt_index_units_ask(&device->indices, &device->queues, job->queue, &device->description,
                                job->object, job->record.firings, &device->counters);
    return costs;
}

static void settle_job(struct prt_device *device, struct prt_sim_job *job)
{
    struct prt_launch_costs costs = find_costs(device, job);
    prt_launch_settle(&device->queues, &device->description, job->object, &costs,
                      costs.warp_cycles != NULL ? device->cus : NULL, &job->before, &job->record);
    if (device->observe == NULL) return;
    prt_flights_push(&device->ends, job->record.end_cycles, job->launch.object, job->queue);
}

/* In order of enqueuing; each is seen with itself or the next one of its packet that is. */
static void settle(struct prt_device *device)
{
    for (uint32_t i = 0, unseen = 0; i < device->unsettled_count; i++) {
        struct prt_sim_job *job = &device->jobs[device->unsettled[i]];
        settle_job(device, job);
        for (; job->launch.seen && unseen <= i; unseen++)
            prt_flights_push(&device->flights, job->record.end_cycles, device->unsettled[unseen],
                             job->queue);
    }
    device->unsettled_count = 0;
}

/* Fills in the values that only observers need, in the record and in the records of its pieces. */
static void describe(const struct prt_device *device, const struct prt_sim_job *job,
                     struct prt_launch_record *record)
{
    prt_launch_describe(&job->launch, job->object, record);
    record->importance = device->queues.queues[job->queue].importance;
}

static void observe(const struct prt_device *device, struct prt_sim_job *job)
{
    struct prt_launch_costs costs = costs_of(job);
    struct prt_launch_record *record = &job->record;
    describe(device, job, record);
    prt_launch_place(&device->queues, &device->description, job->object, &costs, device->cus,
                     record);
    if (job->object->device_queue != NULL && job->executed)
        prt_launch_place_trees(job->object, (struct prt_launch_share){0}, device->cus, record);
    device->observe(device->observe_context, record);
}

/* Shows the observer all that has ended by then. */
static void observe_until(struct prt_device *device, uint64_t cycles)
{
    while (device->ends.count > 0 && device->ends.items[0].seen_cycles <= cycles) {
        struct prt_sim_job *job = &device->jobs[prt_flights_pop(&device->ends).slot];
        prt_sim_pool_finish(&device->pool, job);
        observe(device, job);
    }
}

/* ---- time where launches may interrupt each other ---- */

/* `record`: the launch's; becomes that of the piece. */
static void put_piece(const struct prt_device *device, const struct prt_claim *claim,
                      struct prt_launch_record *record)
{
    const struct prt_piece *piece = &claim->piece;
    const struct core_timing_parts *parts = &piece->parts;
    record->begin_cycles = piece->begin_cycles;
    record->launch_cycles = core_cycles_add(parts->launch_cycles, parts->cleanup_cycles);
    record->switch_cycles = parts->switch_cycles;
    record->index_cycles = parts->index_cycles;
    record->execute_cycles = parts->execute_cycles;
    record->device_queue_cycles = parts->device_queue_cycles;
    record->cleanup_cycles = parts->cleanup_cycles;
    record->compute_cycles = piece->compute_cycles;
    record->memory_cycles = piece->memory_cycles;
    record->warps = prt_precedence_warps(claim);
    record->interrupted = piece->interrupted;
    record->resumed = piece->resumed;
    record->first_cu = device->queues.queues[claim->queue].first_cu;
    record->cu_count = device->queues.queues[claim->queue].cu_count;
    record->cus = device->cus;
}

static void observe_piece(struct prt_device *device, struct prt_sim_job *job,
                          const struct prt_claim *claim)
{
    prt_sim_pool_finish(&device->pool, job);
    if (!claim->piece.interrupted && !claim->piece.resumed) {
        observe(device, job);
        return;
    }
    struct prt_launch_record record = job->record;
    describe(device, job, &record);
    put_piece(device, claim, &record);
    prt_precedence_place(&device->precedence, claim, device->cus, &record.busy_cycles,
                         &record.busy_cus);
    if (job->object->device_queue != NULL && job->executed)
        prt_launch_place_trees(job->object,
                               prt_precedence_share(claim, job->record.device_queue_cycles),
                               device->cus, &record);
    device->observe(device->observe_context, &record);
}

/* The launch's own record has what its pieces took together. */
static void add_piece(const struct prt_piece *piece, struct prt_launch_record *record)
{
    const struct core_timing_parts *parts = &piece->parts;
    if (!piece->resumed) {
        record->begin_cycles = piece->begin_cycles;
        record->launch_cycles = record->switch_cycles = record->execute_cycles = 0;
        record->cleanup_cycles = 0;
    }
    uint64_t launch = core_cycles_add(parts->launch_cycles, parts->cleanup_cycles);
    record->launch_cycles = core_cycles_add(record->launch_cycles, launch);
    record->cleanup_cycles = core_cycles_add(record->cleanup_cycles, parts->cleanup_cycles);
    record->switch_cycles = core_cycles_add(record->switch_cycles, parts->switch_cycles);
    record->execute_cycles = core_cycles_add(record->execute_cycles, parts->execute_cycles);
    record->end_cycles = piece->end_cycles;
}

static void end_piece(struct prt_device *device, uint32_t number)
{
    struct prt_sim_job *job = &device->jobs[number];
    const struct prt_claim *claim = &device->precedence.claims[number];
    add_piece(&claim->piece, &job->record);
    if (device->observe != NULL) observe_piece(device, job, claim);
    if (claim->piece.interrupted || !job->launch.seen) return;
    for (uint32_t i = job->seen_from;; i = device->jobs[i].seen_next) {
        prt_flights_push(&device->flights, job->record.end_cycles, i, job->queue);
        if (i == number) break;
    }
}

static void play_until(struct prt_device *device, uint64_t cycles)
{
    uint32_t claim;
    while (prt_precedence_next(&device->precedence, cycles, &claim))
        end_piece(device, claim);
}

static void arrive(struct prt_device *device, uint32_t number)
{
    struct prt_sim_job *job = &device->jobs[number];
    struct prt_claim *claim = &device->precedence.claims[number];
    struct prt_launch_costs costs = find_costs(device, job);
    play_until(device, job->record.enqueued_cycles);
    claim->queue = job->queue;
    claim->stage = job->object->stage;
    claim->left = prt_launch_work(&device->description, device->queues.queues[job->queue].cu_count,
                                  job->object, &costs, &job->record);
    prt_precedence_arrive(&device->precedence, number);
}

/* Up to now, and on to the next moment at which something is seen to end, but not past `until_cycles`. */
static void play(struct prt_device *device, uint64_t until_cycles)
{
    for (uint32_t i = 0; i < device->unsettled_count; i++)
        arrive(device, device->unsettled[i]);
    device->unsettled_count = 0;
    play_until(device, device->now_cycles);
    uint32_t claim;
    while (device->flights.count == 0 &&
           prt_precedence_next(&device->precedence, until_cycles, &claim))
        end_piece(device, claim);
    if (device->flights.count > 0) play_until(device, device->flights.items[0].seen_cycles);
}

/* ---- completions ---- */

static void complete(const struct prt_sim_job *job, struct core_completion *c)
{
    const struct prt_launch_record *record = &job->record;
    c->object = job->launch.object;
    c->signal = job->launch.signal;
    c->begin_cycles = record->begin_cycles;
    c->end_cycles = record->end_cycles;
    c->execute_cycles = core_cycles_add(record->execute_cycles, record->device_queue_cycles);
    c->launch_cycles = record->launch_cycles;
    c->switch_cycles = record->switch_cycles;
    c->kernel_status = job->status;
    c->skipped = !job->executed;
    if (job->status != KERNEL_OK) c->fault = job->fault;
}

static enum prt_status sim_wait_until(struct prt_device *device, uint64_t until_cycles,
                                      struct core_completion *completions, uint32_t capacity,
                                      uint32_t *count)
{
    *count = 0;
    if (device->ranked)
        play(device, until_cycles);
    else
        settle(device);
    bool any = device->flights.count > 0;
    if (!any && until_cycles == UINT64_MAX) return PRT_OK;
    uint64_t seen = any ? device->flights.items[0].seen_cycles : until_cycles;
    uint64_t next = seen < until_cycles ? seen : until_cycles;
    if (next > device->now_cycles) device->now_cycles = next;
    while (*count < capacity && device->flights.count > 0 &&
           device->flights.items[0].seen_cycles <= device->now_cycles) {
        struct prt_flight flight = prt_flights_pop(&device->flights);
        struct prt_sim_job *job = &device->jobs[flight.slot];
        prt_sim_pool_finish(&device->pool, job);
        observe_until(device, flight.seen_cycles);
        complete(job, &completions[(*count)++]);
        device->queues.queues[flight.queue].in_flight -= job->launch.last_of_packet;
        prt_packet_ended(&device->processor, &job->launch,
                         job->executed ? counted_firings(job) : 0);
    }
    return PRT_OK;
}

static enum prt_status sim_wait(struct prt_device *device, struct core_completion *completions,
                                uint32_t capacity, uint32_t *count)
{
    return sim_wait_until(device, UINT64_MAX, completions, capacity, count);
}

static void sim_resume(struct prt_device *device)
{
    prt_sim_pool_resume(&device->pool);
}

static void sim_advance(struct prt_device *device, uint64_t cycles)
{
    device->now_cycles = core_cycles_add(device->now_cycles, cycles);
}

static uint64_t sim_now_cycles(const struct prt_device *device)
{
    return device->now_cycles;
}

static void sim_counters(const struct prt_device *device, struct prt_device_counters *counters)
{
    *counters = device->counters;
    prt_device_queues_count(device->objects, device->object_count, counters);
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
