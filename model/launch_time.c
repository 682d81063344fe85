/* SPDX-License-Identifier: MIT */
#include "model/launch_time.h"

#include "core/time/caches.h"

static bool is_serial(const struct prt_kernel_object *object)
{
    return (object->flags & (PRT_KERNEL_STATEFUL | PRT_KERNEL_FINISH)) != 0;
}

uint64_t prt_launch_warps_most(const struct prt_kernel_object *object)
{
    if (!(object->flags & PRT_KERNEL_COUNTED)) return 0;
    if (is_serial(object)) return 1;
    return core_timing_warps(object->shape, object->batch_max);
}

/* Where rates are exact, the claimed packets are the appended ones, known before the execution. */
static uint64_t moved_bytes(const struct prt_kernel_object *object)
{
    const uint32_t varies = PRT_KERNEL_BOUNDED | PRT_KERNEL_FINISH | PRT_KERNEL_STOPS;
    bool exact = (object->flags & varies) == 0;
    uint64_t bytes = object->read_bytes;
    for (uint32_t i = 0; i < object->output_count; i++) {
        uint64_t written = exact
                               ? object->claimed_bytes[i]
                               : core_cycles_multiply(object->produced[i], object->packet_bytes[i]);
        bytes = core_cycles_add(bytes, written);
    }
    return bytes;
}

/* A kernel with state has counted one sum. */
static struct core_timing_work launch_work(const struct devdesc *description,
                                           const struct prt_kernel_object *object, uint64_t firings,
                                           const struct prt_launch_costs *costs,
                                           uint64_t memory_bytes)
{
    struct core_timing_work work = {
        .warps = core_timing_warps(object->shape, firings),
        .warp_cycles = object->warp_cycles,
        .each = costs->warp_cycles,
        .serial = is_serial(object),
        .memory_bytes = memory_bytes,
        .cached_bytes = core_caches_part(memory_bytes, object->cached_parts, object->moved_parts),
        .resident = core_timing_resident(description, object->shape, object->room)};
    if (work.each != NULL)
        work.warps = work.serial ? 1 : core_timing_warps(object->shape, costs->counted_firings);
    return work;
}

struct prt_launch_work prt_launch_work(const struct devdesc *description, uint32_t cu_count,
                                       const struct prt_kernel_object *object,
                                       const struct prt_launch_costs *costs,
                                       const struct prt_launch_record *record)
{
    uint64_t bytes = moved_bytes(object);
    bool counted = costs->warp_cycles != NULL;
    struct prt_launch_work work = {
        .timing = launch_work(description, object, record->firings, costs, bytes),
        .group_warps = object->shape.warps_per_firing,
        .firings = counted ? costs->counted_firings : record->firings,
        .packet = costs->packet,
        .enqueued_cycles = record->enqueued_cycles,
        .launch_cycles = costs->packet.enqueue_cycles + costs->packet.process_cycles,
        .index_cycles = record->index_cycles,
        .device_queue_cycles = record->device_queue_cycles,
        .cleanup_cycles = costs->cleanup_cycles,
        .child_cycles = costs->child_cycles,
    };
    work.both_ways_cycles = core_timing_both_ways(description, &work.timing);
    work.flow = core_timing_flow_of(description, cu_count, &work.timing);
    return work;
}

static struct core_timing_execution
execution_of(const struct devdesc *description, uint32_t cu_count,
             const struct prt_kernel_object *object, const struct prt_launch_costs *costs,
             uint64_t firings, struct core_timing_cu *cus, struct prt_launch_before *before)
{
    uint64_t bytes = moved_bytes(object);
    bool equal = costs->warp_cycles == NULL;
    if (equal && before->firings == firings && before->memory_bytes == bytes &&
        before->cu_count == cu_count && before->stage == object->stage)
        return before->execution;
    const struct core_timing_work work = launch_work(description, object, firings, costs, bytes);
    const struct core_timing_execution execution =
        core_timing_execute_in_all(description, cu_count, &work, cus);
    if (equal)
        *before = (struct prt_launch_before){firings, bytes, execution, cu_count, object->stage};
    return execution;
}

uint64_t prt_launch_processed(const struct prt_queue *queue, uint64_t enqueued_cycles,
                              const struct prt_launch_packet *packet)
{
    uint64_t from = packet->barrier ? queue->ended_cycles : queue->handed_cycles;
    uint64_t there = core_cycles_add(enqueued_cycles, packet->enqueue_cycles);
    return core_cycles_add(there > from ? there : from, packet->process_cycles);
}

/* The part of enqueue and processing that is left when the compute units are free. */
static uint64_t launch_cycles(const struct devdesc *description,
                              const struct prt_launch_packet *packet, uint64_t processed_cycles,
                              uint64_t begin_cycles)
{
    uint64_t all = packet->enqueue_cycles + packet->process_cycles;
    if (description->processes_ahead == 0 || all == 0) return all;
    return processed_cycles > begin_cycles ? processed_cycles - begin_cycles : 0;
}

/* Its execution may have begun before the launch before it on the compute units has ended: that is of its own queue, and
 * no part but its packet precedes the execution. */
static bool may_overlap(const struct devdesc *description, const struct prt_queue *queue,
                        uint64_t free_cycles, const struct prt_launch_record *record)
{
    return description->launches_overlap > 0 && description->processes_ahead > 0 &&
           free_cycles == queue->free_cycles && record->switch_cycles == 0 &&
           record->index_cycles == 0 && record->device_queue_cycles == 0;
}

/* Cuts its parts to the time after the launch before it, when it has executed up to that moment. */
static void end_overlapped(struct prt_launch_record *record, uint64_t executed_cycles)
{
    uint64_t there = core_cycles_add(record->begin_cycles, record->launch_cycles);
    uint64_t end = core_cycles_add(executed_cycles, record->cleanup_cycles);
    record->execute_cycles = executed_cycles > there ? executed_cycles - there : 0;
    record->end_cycles = end > there ? end : there;
    record->cleanup_cycles = record->end_cycles - there - record->execute_cycles;
    record->launch_cycles = core_cycles_add(record->launch_cycles, record->cleanup_cycles);
}

/* `launch_cycles` of the record are those before the execution. */
static void end_after_parts(struct prt_launch_record *record)
{
    const struct core_timing_parts parts = {.launch_cycles = record->launch_cycles,
                                            .switch_cycles = record->switch_cycles,
                                            .index_cycles = record->index_cycles,
                                            .execute_cycles = record->execute_cycles,
                                            .device_queue_cycles = record->device_queue_cycles,
                                            .cleanup_cycles = record->cleanup_cycles};
    record->end_cycles = core_timing_end(record->begin_cycles, &parts);
    record->launch_cycles = core_cycles_add(record->launch_cycles, record->cleanup_cycles);
}

/* When its bytes have come, of which the first are there then; 0 without bytes. */
static uint64_t flowed_at(struct prt_queue_table *queues, struct prt_queue *queue,
                          uint64_t there_cycles, const struct core_timing_flow *flow)
{
    if (flow->cycles == 0) return 0;
    if (flow->share > 0) return prt_bandwidth_take(&queues->bandwidth, there_cycles, flow);
    uint64_t from = there_cycles > queue->flowed_cycles ? there_cycles : queue->flowed_cycles;
    return queue->flowed_cycles = core_cycles_add(from, flow->cycles);
}

/* The end of an execution that begins then. */
static uint64_t executed_at(struct prt_queue_table *queues,
                            const struct core_timing_execution *execution, uint64_t start_cycles,
                            struct prt_launch_record *record)
{
    struct prt_queue *queue = &queues->queues[record->queue];
    uint64_t there = core_timing_there(start_cycles, execution);
    uint64_t flowed = flowed_at(queues, queue, there, &execution->flow);
    record->memory_cycles = execution->memory_cycles;
    if (execution->flow.share > 0)
        record->memory_cycles = core_cycles_add(execution->both_ways_cycles, flowed - there);
    return core_timing_executed(there, execution, flowed, &queue->issued_cycles);
}

void prt_launch_settle(struct prt_queue_table *queues, const struct devdesc *description,
                       const struct prt_kernel_object *object, const struct prt_launch_costs *costs,
                       struct core_timing_cu *cus, struct prt_launch_before *before,
                       struct prt_launch_record *record)
{
    struct prt_queue *queue = &queues->queues[record->queue];
    bool switches;
    uint64_t free_at = prt_queue_free_at(queues, record->queue, object->stage, &switches);
    const struct core_timing_execution execution =
        execution_of(description, queue->cu_count, object, costs, record->firings, cus, before);
    uint64_t processed = prt_launch_processed(queue, record->enqueued_cycles, &costs->packet);
    record->switch_cycles = switches ? description->switch_cycles : 0;
    record->cleanup_cycles = costs->cleanup_cycles;
    record->begin_cycles = free_at > record->enqueued_cycles ? free_at : record->enqueued_cycles;
    record->launch_cycles =
        launch_cycles(description, &costs->packet, processed, record->begin_cycles);
    prt_bandwidth_forget(&queues->bandwidth, record->enqueued_cycles);
    if (may_overlap(description, queue, free_at, record)) {
        queue->handed_cycles = processed;
        end_overlapped(record, executed_at(queues, &execution, processed, record));
    } else {
        queue->handed_cycles = core_cycles_add(record->begin_cycles, record->launch_cycles);
        uint64_t start = core_cycles_add(queue->handed_cycles, record->switch_cycles);
        start = core_cycles_add(start, record->index_cycles);
        record->execute_cycles = executed_at(queues, &execution, start, record) - start;
        end_after_parts(record);
        queue->issued_cycles = queue->flowed_cycles = record->end_cycles;
    }
    queue->free_cycles = queue->ended_cycles = record->end_cycles;
    queue->last_stage = object->stage;
}

void prt_launch_place(const struct prt_queue_table *queues, const struct devdesc *description,
                      const struct prt_kernel_object *object, const struct prt_launch_costs *costs,
                      struct core_timing_cu *cus, struct prt_launch_record *record)
{
    const struct prt_queue *queue = &queues->queues[record->queue];
    const struct core_timing_work work =
        launch_work(description, object, record->firings, costs, moved_bytes(object));
    const struct core_timing_execution execution =
        core_timing_execute(description, queue->cu_count, &work, cus);
    record->compute_cycles = execution.compute_cycles;
    record->busy_cycles = execution.busy_cycles;
    record->busy_cus = execution.busy_cus;
    record->warps = core_timing_warps(object->shape, record->firings);
    record->first_cu = queue->first_cu;
    record->cu_count = queue->cu_count;
    record->cus = cus;
}

static uint64_t cycles_share(uint64_t cycles, uint64_t part, uint64_t whole)
{
    return part >= whole ? cycles : (uint64_t)((unsigned __int128)cycles * part / whole);
}

/* Firings that are scheduled in pieces may take longer than all at once (lang/device_queue.md, "Time"),
 * but the launch does not. */
void prt_launch_place_trees(const uint64_t *cycles, struct prt_launch_share share,
                            struct core_timing_cu *cus, struct prt_launch_record *record)
{
    uint64_t most = core_cycles_add(record->execute_cycles, record->device_queue_cycles);
    record->busy_cycles = 0;
    record->busy_cus = 0;
    for (uint32_t i = 0; i < record->cu_count; i++) {
        uint64_t done = cycles_share(cycles[i], share.after, share.whole);
        if (share.before > 0) done -= cycles_share(cycles[i], share.before, share.whole);
        cus[i].busy_cycles = done < most ? done : most;
        record->busy_cycles = core_cycles_add(record->busy_cycles, cus[i].busy_cycles);
        record->busy_cus += cus[i].busy_cycles > 0;
    }
}
