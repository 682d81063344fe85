/* SPDX-License-Identifier: MIT */
/* The measurements of a run, as records (runtime/sched/observer.h). */
#include "runtime/load/device_need.h"
#include "runtime/host/pipert_run.h"
#include "runtime/device/device_queue.h"
#include "runtime/sched/arrival_port.h"
#include "runtime/sched/stage_profile.h"

bool prt_run_stage_time(const struct prt_run *run, uint32_t stage, struct prt_stage_time *time)
{
    const struct prt_sched *s = run->sched;
    if (s->profile == NULL || stage >= s->container->stage_count) return false;
    prt_profile_stage_time(s, stage, time);
    return true;
}

bool prt_run_wait(const struct prt_run *run, uint32_t stage, uint32_t end,
                  struct prt_wait_statistics *wait)
{
    const struct prt_sched *s = run->sched;
    if (s->profile == NULL || stage >= s->container->stage_count) return false;
    const struct core_stage *waiter = &s->stages[stage];
    if (end >= waiter->input_count + waiter->output_count) return false;
    bool input = end < waiter->input_count;
    const struct prt_buffer *buffer =
        input ? prt_input_buffer(s, core_input(s->core, waiter, end))
              : prt_output_buffer(s, core_output(s->core, waiter, end - waiter->input_count));
    *wait = (struct prt_wait_statistics){.buffer =
                                             prt_container_text(s->container, buffer->record->name),
                                         .cause = input ? PRT_STALL_PACKETS : PRT_STALL_ROOM,
                                         .cycles = prt_profile_wait_cycles(s, stage, end)};
    return true;
}

/* Outputs are numbered in the order of the nodes, and every node belongs to a stage. */
bool prt_run_output(const struct prt_run *run, uint32_t output,
                    struct prt_output_statistics *statistics)
{
    const struct prt_sched *s = run->sched;
    if (s->profile == NULL || output >= s->container->output_count) return false;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct container_node *node = prt_stage_node(s, &s->stages[i]);
        if (output < node->first_output || output - node->first_output >= node->output_count)
            continue;
        prt_profile_output(s, output, statistics);
        statistics->stage = i;
        return true;
    }
    return false;
}

bool prt_run_queue(const struct prt_run *run, uint32_t queue,
                   struct prt_queue_statistics *statistics)
{
    return run->sched->profile != NULL && prt_profile_queue(run->sched, queue, statistics);
}

bool prt_run_used_multiprocessor(const struct prt_run *run, uint32_t stage, uint32_t number)
{
    return run->ops->unit_used != NULL && stage < run->program->container.stage_count &&
           run->ops->unit_used(run->device, stage, number);
}

bool prt_run_cu(const struct prt_run *run, uint32_t cu, uint64_t *busy_cycles)
{
    const struct prt_sched *s = run->sched;
    struct prt_device_info info;
    run->ops->info(run->device, &info);
    if (s->profile == NULL || cu >= info.description->cu_count) return false;
    *busy_cycles = prt_profile_cu_cycles(s, cu);
    return true;
}

bool prt_run_span(const struct prt_run *run, const struct prt_launch_event *launch, uint64_t index,
                  struct prt_span_event *span)
{
    return index < launch->span_count && prt_profile_span(run->sched, index, span);
}

/* ---- child kernels ---- */

/* Those of the interface table that belong to no node are child kernels. */
static uint32_t nth_child_interface(const struct prt_container *c, uint32_t child)
{
    uint32_t i = 0, seen = 0;
    for (; i < c->interface_count; i++)
        if (c->interfaces[i].node == CONTAINER_NONE && seen++ == child) break;
    return i;
}

bool prt_run_child(const struct prt_run *run, uint32_t child,
                   struct prt_child_statistics *statistics)
{
    const struct prt_sched *s = run->sched;
    uint32_t number = nth_child_interface(s->container, child);
    struct prt_launch_kernel sum = {0};
    if (number >= s->container->interface_count) return false;
    if (run->ops->count_child != NULL) run->ops->count_child(run->device, number, &sum);
    for (uint32_t i = 0; i < s->container->stage_count && run->ops->count_child == NULL; i++)
        if (s->device_queues[i] != NULL)
            prt_device_queue_count_child(s->device_queues[i], number, &sum);
    const struct container_interface *f = &s->container->interfaces[number];
    *statistics = (struct prt_child_statistics){
        .kernel = prt_container_text(s->container, f->title),
        .source = prt_container_source(s->container, f->source),
        .line = f->line,
        .launches = sum.launches,
        .groups = sum.groups,
        .level_most = sum.level_most,
        .cycles = sum.cycles,
        .launch_cycles = sum.launch_cycles,
        .wait_cycles = sum.wait_cycles,
        .longest_cycles = sum.longest_cycles,
    };
    return true;
}

/* ---- the device ---- */

_Static_assert((int)PRT_LAUNCH_FORMS == (int)PRT_PACKET_KINDS &&
                   (int)PRT_LAUNCH_REFERENCE == (int)PRT_PACKET_REFERENCE &&
                   (int)PRT_LAUNCH_CONDENSED == (int)PRT_PACKET_CONDENSED,
               "forms of packets");

static void count_packets(struct prt_device_statistics *d, const struct prt_device_counters *c)
{
    for (int i = 0; i < PRT_LAUNCH_FORMS; i++) {
        d->packets[i] = c->packets[i];
        d->launches[i] = c->launches[i];
    }
    d->enqueue_cycles = c->enqueue_cycles;
    d->process_cycles = c->process_cycles;
    d->cleanup_cycles = c->cleanup_cycles;
}

static void count_memory(struct prt_device_statistics *d, const struct prt_container *container,
                         const struct devdesc *description)
{
    const struct prt_device_need need = prt_device_need(container, description);
    d->memory_bytes = description->memory_bytes;
    d->memory_taken_bytes = need.total;
    d->memory_buffers_bytes = need.buffers;
    d->memory_ports_bytes = need.ports;
    d->memory_blocks_bytes = need.blocks;
    d->memory_indices_bytes = need.indices;
    d->memory_queue_bytes = need.device_queue;
    d->memory_launching_bytes = need.launching;
}

void prt_run_device(const struct prt_run *run, struct prt_device_statistics *statistics)
{
    struct prt_device_statistics *d = statistics;
    struct prt_device_counters c;
    struct prt_device_info info;
    struct prt_device_information part;
    run->ops->counters(run->device, &c);
    run->ops->info(run->device, &info);
    prt_device_query(run->ops->tree(run->device), run->sched->bindings.root, &part);
    *d = (struct prt_device_statistics){
        .clock_hz = info.description->clock_hz,
        .real_time = info.real_time,
        .name = info.description->name,
        .backend = run->ops->name,
        .cu_count = info.description->cu_count,
        .part_first_cu = part.first_cu,
        .part_cu_count = part.cu_count,
        .lanes = info.description->lanes,
        .index_resident = c.index_requests[PRT_INDEX_RESIDENT],
        .index_hits = c.index_requests[PRT_INDEX_HIT],
        .index_misses = c.index_requests[PRT_INDEX_MISS],
        .index_cycles = c.index_cycles,
        .index_saved_cycles = c.index_saved_cycles,
        .child_launches = c.child_launches,
        .child_groups = c.child_groups,
        .child_cycles = c.child_cycles,
        .child_launch_cycles = c.child_launch_cycles,
        .child_wait_cycles = c.child_wait_cycles,
        .child_levels_most = c.child_levels_most,
        .child_queue_most = c.child_queue_most,
        .child_queue_entries = info.description->device_queue_entries,
    };
    count_memory(d, run->sched->container, info.description);
    d->index_requests = d->index_resident + d->index_hits + d->index_misses;
    count_packets(d, &c);
}

/* ---- the limit of the run ---- */

static uint64_t stage_busy_cycles(const struct prt_stage_time *t)
{
    return t->execute_cycles + t->launch_cycles + t->switch_cycles + t->index_cycles +
           t->device_queue_cycles;
}

static enum prt_limit stage_limit(const struct prt_stage_time *t)
{
    uint64_t executing = t->execute_cycles + t->index_cycles + t->device_queue_cycles;
    if (t->launch_cycles > executing && t->launch_cycles >= t->switch_cycles)
        return PRT_LIMIT_LAUNCH;
    if (t->switch_cycles > executing) return PRT_LIMIT_SWITCH;
    if (t->device_queue_cycles > t->execute_cycles) return PRT_LIMIT_CHILDREN;
    return t->memory_bound_cycles > t->execute_cycles / 2 ? PRT_LIMIT_BANDWIDTH : PRT_LIMIT_COMPUTE;
}

/* Adds the members that stage_limit reads. */
static void add_time(struct prt_stage_time *sum, const struct prt_stage_time *t)
{
    sum->execute_cycles += t->execute_cycles;
    sum->launch_cycles += t->launch_cycles;
    sum->switch_cycles += t->switch_cycles;
    sum->index_cycles += t->index_cycles;
    sum->device_queue_cycles += t->device_queue_cycles;
    sum->memory_bound_cycles += t->memory_bound_cycles;
}

/* Do the queues share their compute units, so that only one of them executes at a time? */
static bool take_turns(const struct prt_queue_statistics *a, const struct prt_queue_statistics *b)
{
    return a->first_cu == b->first_cu && a->cu_count == b->cu_count &&
           a->importance != b->importance;
}

/* Cycles in which the compute units of a queue are busy for this queue and those that it takes turns with. */
static uint64_t busy_units(const struct prt_run *run, const struct prt_queue_statistics *of)
{
    struct prt_queue_statistics q;
    uint64_t cycles = of->busy_cycles;
    for (uint32_t i = 0; i < run->sched->container->stage_count; i++)
        if (prt_run_queue(run, i, &q) && take_turns(&q, of)) cycles += q.busy_cycles;
    return cycles;
}

/* The queue whose compute units are busy longest.  False: no queue has a launch. */
static bool longest_queue(const struct prt_run *run, uint32_t *queue, uint64_t *busy)
{
    bool found = false;
    struct prt_queue_statistics q;
    for (uint32_t i = 0; i < run->sched->container->stage_count; i++) {
        if (!prt_run_queue(run, i, &q)) continue;
        uint64_t cycles = busy_units(run, &q);
        if (found && cycles <= *busy) continue;
        *queue = i;
        *busy = cycles;
        found = true;
    }
    return found;
}

static bool shares_queue(const struct prt_run *run, uint32_t a, uint32_t b)
{
    struct prt_queue_statistics first, second;
    if (a == b) return true;
    return prt_run_queue(run, a, &first) && prt_run_queue(run, b, &second) &&
           take_turns(&first, &second);
}

/* Waiting for the host, in real time, or for arrivals, in simulated time. */
static uint64_t port_cycles_of(const struct prt_run *run)
{
    uint64_t cycles = 0;
    for (uint32_t i = 0; i < run->sched->container->buffer_count; i++) {
        const struct prt_port *port = run->sched->buffers[i].port;
        cycles += prt_profile_host_cycles(run->sched, i);
        if (port != NULL && port->arrival != NULL) cycles += port->arrival->waited_cycles;
    }
    return cycles;
}

bool prt_run_bottleneck(const struct prt_run *run, struct prt_bottleneck *b)
{
    const struct prt_sched *s = run->sched;
    if (s->profile == NULL) return false;
    uint64_t total = prt_run_moment_cycles(run);
    *b = (struct prt_bottleneck){.limit = PRT_LIMIT_NOTHING, .stage = PRT_NONE};
    if (!longest_queue(run, &b->queue, &b->busy_cycles)) return true;
    struct prt_stage_time t, sum = {.warps = 0};
    for (uint32_t i = 0; prt_run_stage_time(run, i, &t); i++) {
        if (!shares_queue(run, t.queue, b->queue)) continue;
        b->stage_count++;
        add_time(&sum, &t);
        if (b->stage != PRT_NONE && stage_busy_cycles(&t) <= b->stage_cycles) continue;
        b->stage = i;
        b->stage_cycles = stage_busy_cycles(&t);
    }
    uint64_t port_cycles = port_cycles_of(run);
    struct prt_device_info info;
    run->ops->info(run->device, &info);
    if (b->busy_cycles >= total - total / 2 && b->busy_cycles >= port_cycles) {
        b->limit = stage_limit(&sum);
    } else if (port_cycles >= total - total / 2) {
        b->limit = info.real_time ? PRT_LIMIT_HOST : PRT_LIMIT_ARRIVALS;
        b->busy_cycles = port_cycles;
    } else if (s->core->instruction_cycles >= total - total / 2) {
        b->limit = PRT_LIMIT_SCHEDULER;
        b->busy_cycles = s->core->instruction_cycles;
    } else {
        b->limit = PRT_LIMIT_DEPENDENCIES;
    }
    return true;
}
