/* SPDX-License-Identifier: MIT */
#include "model/sim_clock.h"

#include "base/array_allocate.h"

#include <assert.h>
#include <stdlib.h>

/* ---- the clock ---- */

static void free_sim_jobs(struct prt_sim_clock *clock)
{
    for (uint32_t i = 0; clock->jobs != NULL && i < clock->object_count; i++)
        free(clock->jobs[i].warp_room);
    free(clock->jobs);
    free(clock->unsettled);
    clock->jobs = NULL;
    clock->unsettled = NULL;
    clock->object_count = 0;
}

void prt_sim_clock_destroy(struct prt_sim_clock *clock)
{
    prt_queue_table_free(&clock->queues);
    prt_index_units_free(&clock->indices);
    prt_precedence_free(&clock->precedence);
    prt_device_tree_destroy(clock->tree);
    prt_packet_processor_destroy(&clock->processor);
    free(clock->flights.items);
    free(clock->ends.items);
    free_sim_jobs(clock);
    free(clock->cus);
}

enum prt_status prt_sim_clock_create(struct prt_sim_clock *clock, const struct devdesc *description,
                                     struct prt_device_tree *tree, uint32_t queue_entries,
                                     const struct prt_sim_executor *executor, void *context)
{
    *clock = (struct prt_sim_clock){.description = *description,
                                    .queue_entries = queue_entries,
                                    .executor = executor,
                                    .context = context};
    size_t cores = (size_t)description->cu_count * description->cores_per_cu;
    clock->cus = calloc(cores, sizeof *clock->cus);
    enum prt_status status =
        clock->cus != NULL ? prt_queue_tree_take(tree, description, &clock->tree) : PRT_E_NOMEM;
    if (status != PRT_OK) {
        free(clock->cus);
        return status;
    }
    clock->queues.tree = clock->tree;
    clock->queues.shares_bandwidth = description->memory_shared > 0;
    clock->precedence = (struct prt_precedence){
        .queues = &clock->queues, .description = &clock->description, .cus = clock->cus};
    prt_packet_processor_create(&clock->processor, &clock->description, &clock->counters);
    return PRT_OK;
}

/* The jobs of the objects, with room for what their warps cost. */
static bool make_sim_jobs(struct prt_sim_clock *clock, const struct prt_kernel_object *objects,
                          uint32_t count)
{
    clock->jobs = array_allocate(count, sizeof *clock->jobs);
    clock->unsettled = array_allocate(count, sizeof *clock->unsettled);
    if (clock->jobs == NULL || clock->unsettled == NULL) return false;
    clock->objects = objects;
    clock->object_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct prt_sim_job *job = &clock->jobs[i];
        uint64_t warps = prt_launch_warps_most(&objects[i]);
        job->object = &objects[i];
        if (warps > 0 && warps <= SIZE_MAX / sizeof *job->warp_room)
            job->warp_room = calloc((size_t)warps, sizeof *job->warp_room);
        if (warps > 0 && job->warp_room == NULL) return false;
    }
    return true;
}

enum prt_status prt_sim_clock_set_objects(struct prt_sim_clock *clock,
                                          const struct prt_kernel_object *objects, uint32_t count,
                                          uint32_t stage_count)
{
    free_sim_jobs(clock);
    if (make_sim_jobs(clock, objects, count) &&
        prt_flights_reserve(&clock->flights, count) == PRT_OK &&
        prt_flights_reserve(&clock->ends, count) == PRT_OK &&
        prt_precedence_claims(&clock->precedence, count) == PRT_OK &&
        prt_bandwidth_reserve(&clock->queues.bandwidth, count) == PRT_OK &&
        prt_packet_objects(&clock->processor, count, stage_count) == PRT_OK)
        return PRT_OK;
    free_sim_jobs(clock);
    return PRT_E_NOMEM;
}

enum prt_status prt_sim_clock_add_queue(struct prt_sim_clock *clock, struct prt_device_handle on,
                                        uint32_t importance, uint32_t *queue)
{
    if (clock->indices.count == clock->queues.count &&
        prt_index_units_add(&clock->indices, &clock->description) != PRT_OK)
        return PRT_E_NOMEM;
    enum prt_status status =
        prt_queue_open(&clock->queues, on, importance, clock->queue_entries, queue);
    return status == PRT_OK ? prt_precedence_queues(&clock->precedence) : status;
}

/* ---- launches ---- */

/* A packet's launches are seen in runs: each with the next that has a signal. */
static void link_seen(struct prt_sim_clock *clock)
{
    const struct prt_packet_processor *p = &clock->processor;
    for (uint32_t i = 0, from = 0; i < p->count; i++) {
        struct prt_sim_job *job = &clock->jobs[p->decoded[i].object];
        job->seen_from = p->decoded[from].object;
        job->seen_next = i + 1 < p->count ? p->decoded[i + 1].object : PRT_SIM_NO_JOB;
        if (p->decoded[i].seen) from = i + 1;
    }
}

static void begin_sim_launch(struct prt_sim_clock *clock, uint32_t queue,
                             const struct prt_launch *launch)
{
    struct prt_sim_job *job = &clock->jobs[launch->object];
    job->launch = *launch;
    job->queue = queue;
    job->warp_cycles = (job->object->flags & PRT_KERNEL_COUNTED) != 0 ? job->warp_room : NULL;
    job->record.queue = queue;
    job->record.firings = launch->firings;
    job->record.enqueued_cycles = clock->now_cycles;
    job->record.device_queue_cycles = 0;
    assert(clock->unsettled_count < clock->object_count);
    clock->unsettled[clock->unsettled_count++] = launch->object;
    clock->executor->give(clock->context, job);
}

static bool is_idle(const struct prt_sim_clock *clock)
{
    return clock->flights.count == 0 && clock->ends.count == 0 && clock->unsettled_count == 0 &&
           clock->precedence.present == 0;
}

enum prt_status prt_sim_clock_enqueue(struct prt_sim_clock *clock, uint32_t queue,
                                      const union dispatch_packet *packet, struct prt_error *error)
{
    struct prt_queue *q;
    if (is_idle(clock)) clock->ranked = clock->queues.ranked;
    enum prt_status status =
        prt_queue_admit(&clock->queues, queue, &clock->processor, packet, &q, error);
    if (status != PRT_OK) return status;
    if (clock->ranked) link_seen(clock);
    for (uint32_t i = 0; i < clock->processor.count; i++)
        begin_sim_launch(clock, queue, &clock->processor.decoded[i]);
    return PRT_OK;
}

/* ---- time ---- */

/* The cost of the launch is known only after its execution. */
static bool is_known_late(const struct prt_kernel_object *object)
{
    const uint32_t late = PRT_KERNEL_COUNTED | PRT_KERNEL_STOPS | PRT_KERNEL_BOUNDED |
                          PRT_KERNEL_FINISH | PRT_KERNEL_LAUNCHES;
    return (object->flags & late) != 0;
}

static uint64_t count_sim_firings(const struct prt_sim_job *job)
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
    return (struct prt_launch_costs){.packet = {.enqueue_cycles = job->launch.enqueue_cycles,
                                                .process_cycles = job->launch.process_cycles,
                                                .barrier = job->launch.barrier},
                                     .cleanup_cycles = job->launch.cleanup_cycles,
                                     .warp_cycles = counted ? job->warp_cycles : NULL,
                                     .counted_firings =
                                         firings < job->launch.firings ? firings + 1 : firings};
}

static bool launched_trees(const struct prt_sim_job *job)
{
    return (job->object->flags & PRT_KERNEL_LAUNCHES) != 0 && job->executed;
}

/* Puts into the record what is known when the launch has been executed. */
static struct prt_launch_costs find_costs(struct prt_sim_clock *clock, struct prt_sim_job *job)
{
    if (is_known_late(job->object)) {
        clock->executor->finish(clock->context, job);
        job->record.firings = count_sim_firings(job);
        if (launched_trees(job)) job->record.device_queue_cycles = job->trees.cycles;
    }
    struct prt_launch_costs costs = costs_of(job);
    costs.child_cycles = job->trees.longest_cycles;
    if (job->object->index != NULL && clock->description.index_memory_bytes > 0)
        job->record.index_cycles =
            prt_index_units_ask(&clock->indices, &clock->queues, job->queue, &clock->description,
                                job->object, job->record.firings, &clock->counters);
    return costs;
}

static void settle_job(struct prt_sim_clock *clock, struct prt_sim_job *job)
{
    struct prt_launch_costs costs = find_costs(clock, job);
    prt_launch_settle(&clock->queues, &clock->description, job->object, &costs,
                      costs.warp_cycles != NULL ? clock->cus : NULL, &job->before, &job->record);
    if (clock->observe == NULL) return;
    prt_flights_push(&clock->ends, job->record.end_cycles, job->launch.object, job->queue);
}

/* Settles the launches in order of enqueuing.  The end of a launch without a signal is seen with that of the next launch of
 * its packet that has one. */
static void settle_launches(struct prt_sim_clock *clock)
{
    for (uint32_t i = 0, unseen = 0; i < clock->unsettled_count; i++) {
        struct prt_sim_job *job = &clock->jobs[clock->unsettled[i]];
        settle_job(clock, job);
        for (; job->launch.seen && unseen <= i; unseen++)
            prt_flights_push(&clock->flights, job->record.end_cycles, clock->unsettled[unseen],
                             job->queue);
    }
    clock->unsettled_count = 0;
}

/* Fills in the values that only observers need, in the record and in the records of its pieces. */
static void describe_records(const struct prt_sim_clock *clock, const struct prt_sim_job *job,
                             struct prt_launch_record *record)
{
    prt_launch_describe(&job->launch, job->object, record);
    record->importance = clock->queues.queues[job->queue].importance;
}

static void observe_sim_job(const struct prt_sim_clock *clock, struct prt_sim_job *job)
{
    struct prt_launch_costs costs = costs_of(job);
    struct prt_launch_record *record = &job->record;
    describe_records(clock, job, record);
    prt_launch_place(&clock->queues, &clock->description, job->object, &costs, clock->cus, record);
    if (launched_trees(job)) {
        prt_launch_place_trees(job->trees.cu_cycles, (struct prt_launch_share){0}, clock->cus,
                               record);
        record->spans = job->trees.spans;
    }
    clock->observe(clock->observe_context, record);
    record->spans = (struct prt_firing_spans){0};
}

/* Shows the observer all that has ended by then. */
static void observe_until(struct prt_sim_clock *clock, uint64_t cycles)
{
    while (clock->ends.count > 0 && clock->ends.items[0].seen_cycles <= cycles) {
        struct prt_sim_job *job = &clock->jobs[prt_flights_pop(&clock->ends).slot];
        clock->executor->finish(clock->context, job);
        observe_sim_job(clock, job);
    }
}

/* ---- time where launches may interrupt each other ---- */

/* `record`: the launch's; becomes that of the piece. */
static void put_piece(const struct prt_sim_clock *clock, const struct prt_claim *claim,
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
    record->memory_cycles = core_cycles_add(piece->both_ways_cycles, piece->flow_cycles);
    record->warps = prt_precedence_warps(claim);
    record->interrupted = piece->interrupted;
    record->resumed = piece->resumed;
    record->first_cu = clock->queues.queues[claim->queue].first_cu;
    record->cu_count = clock->queues.queues[claim->queue].cu_count;
    record->cus = clock->cus;
}

static void observe_piece(struct prt_sim_clock *clock, struct prt_sim_job *job,
                          const struct prt_claim *claim)
{
    clock->executor->finish(clock->context, job);
    if (!claim->piece.interrupted && !claim->piece.resumed) {
        observe_sim_job(clock, job);
        return;
    }
    struct prt_launch_record record = job->record;
    describe_records(clock, job, &record);
    put_piece(clock, claim, &record);
    prt_precedence_place(&clock->precedence, claim, clock->cus, &record.busy_cycles,
                         &record.busy_cus);
    if (launched_trees(job))
        prt_launch_place_trees(job->trees.cu_cycles,
                               prt_precedence_share(claim, job->record.device_queue_cycles),
                               clock->cus, &record);
    clock->observe(clock->observe_context, &record);
}

/* The record of the launch has the sums of its pieces. */
static void add_piece(const struct prt_piece *piece, struct prt_launch_record *record)
{
    const struct core_timing_parts *parts = &piece->parts;
    if (!piece->resumed) {
        record->begin_cycles = piece->begin_cycles;
        record->launch_cycles = record->switch_cycles = record->execute_cycles = 0;
        record->cleanup_cycles = record->memory_cycles = 0;
    }
    uint64_t launch = core_cycles_add(parts->launch_cycles, parts->cleanup_cycles);
    record->launch_cycles = core_cycles_add(record->launch_cycles, launch);
    record->cleanup_cycles = core_cycles_add(record->cleanup_cycles, parts->cleanup_cycles);
    record->switch_cycles = core_cycles_add(record->switch_cycles, parts->switch_cycles);
    record->execute_cycles = core_cycles_add(record->execute_cycles, parts->execute_cycles);
    uint64_t memory = core_cycles_add(piece->both_ways_cycles, piece->flow_cycles);
    record->memory_cycles = core_cycles_add(record->memory_cycles, memory);
    record->end_cycles = piece->end_cycles;
}

static void end_job_piece(struct prt_sim_clock *clock, uint32_t number)
{
    struct prt_sim_job *job = &clock->jobs[number];
    const struct prt_claim *claim = &clock->precedence.claims[number];
    add_piece(&claim->piece, &job->record);
    if (clock->observe != NULL) observe_piece(clock, job, claim);
    if (claim->piece.interrupted || !job->launch.seen) return;
    for (uint32_t i = job->seen_from;; i = clock->jobs[i].seen_next) {
        prt_flights_push(&clock->flights, job->record.end_cycles, i, job->queue);
        if (i == number) break;
    }
}

static void play_until(struct prt_sim_clock *clock, uint64_t cycles)
{
    uint32_t claim;
    while (prt_precedence_next(&clock->precedence, cycles, &claim))
        end_job_piece(clock, claim);
}

static void claim_arrives(struct prt_sim_clock *clock, uint32_t number)
{
    struct prt_sim_job *job = &clock->jobs[number];
    struct prt_claim *claim = &clock->precedence.claims[number];
    struct prt_launch_costs costs = find_costs(clock, job);
    play_until(clock, job->record.enqueued_cycles);
    claim->queue = job->queue;
    claim->stage = job->object->stage;
    claim->left = prt_launch_work(&clock->description, clock->queues.queues[job->queue].cu_count,
                                  job->object, &costs, &job->record);
    prt_precedence_arrive(&clock->precedence, number);
}

/* Plays the device up to now, and on to the next time at which the end of a launch is seen, at most to `until_cycles`. */
static void play_clock(struct prt_sim_clock *clock, uint64_t until_cycles)
{
    for (uint32_t i = 0; i < clock->unsettled_count; i++)
        claim_arrives(clock, clock->unsettled[i]);
    clock->unsettled_count = 0;
    play_until(clock, clock->now_cycles);
    uint32_t claim;
    while (clock->flights.count == 0 &&
           prt_precedence_next(&clock->precedence, until_cycles, &claim))
        end_job_piece(clock, claim);
    if (clock->flights.count > 0) play_until(clock, clock->flights.items[0].seen_cycles);
}

/* ---- completions ---- */

static void complete_sim_job(const struct prt_sim_job *job, struct core_completion *c)
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

enum prt_status prt_sim_clock_wait_until(struct prt_sim_clock *clock, uint64_t until_cycles,
                                         struct core_completion *completions, uint32_t capacity,
                                         uint32_t *count)
{
    *count = 0;
    if (clock->ranked)
        play_clock(clock, until_cycles);
    else
        settle_launches(clock);
    bool any = clock->flights.count > 0;
    if (!any && until_cycles == UINT64_MAX) return PRT_OK;
    uint64_t seen = any ? clock->flights.items[0].seen_cycles : until_cycles;
    uint64_t next = seen < until_cycles ? seen : until_cycles;
    if (next > clock->now_cycles) clock->now_cycles = next;
    while (*count < capacity && clock->flights.count > 0 &&
           clock->flights.items[0].seen_cycles <= clock->now_cycles) {
        struct prt_flight flight = prt_flights_pop(&clock->flights);
        struct prt_sim_job *job = &clock->jobs[flight.slot];
        clock->executor->finish(clock->context, job);
        observe_until(clock, flight.seen_cycles);
        complete_sim_job(job, &completions[(*count)++]);
        clock->queues.queues[flight.queue].in_flight -= job->launch.last_of_packet;
        prt_packet_ended(&clock->processor, &job->launch,
                         job->executed ? count_sim_firings(job) : 0);
    }
    return PRT_OK;
}
