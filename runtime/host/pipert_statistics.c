/* SPDX-License-Identifier: MIT */
/* The statistics of a run, as records. */
#include "runtime/host/pipert_run.h"
#include "base/arithmetic.h"
#include "model/self_driven.h"
#include "runtime/sched/arrival_port.h"
#include "runtime/sched/run_state.h"
#include "runtime/sched/stage_profile.h"

uint64_t prt_run_moment_cycles(const struct prt_run *run)
{
    const struct prt_sched *s = run->sched;
    struct prt_device_info info;
    if (run->ended) return run->ended_cycles;
    run->ops->info(run->device, &info);
    uint64_t now = run->ops->now_cycles(run->device);
    return info.real_time ? now : now + s->core->instruction_cycles - s->core->passed_cycles;
}

/* The maximum over the readers. */
static uint64_t leftover_packets(const struct prt_leftover *left)
{
    return max64(left->few_packets, left->stranded_packets);
}

/* The cost of the packets of the run, and the cost of the same launches as full packets. */
static void account_dispatch(const struct prt_run *run, struct prt_run_statistics *statistics)
{
    struct prt_device_info info;
    struct prt_device_counters n;
    run->ops->info(run->device, &info);
    run->ops->counters(run->device, &n);
    struct prt_dispatch_account *was = &statistics->dispatched, *full = &statistics->as_full;
    for (int kind = 0; kind < PRT_PACKET_KINDS; kind++) {
        was->packets += n.packets[kind];
        was->launches += n.launches[kind];
    }
    was->bytes = n.bytes_enqueued;
    was->enqueues = was->processings = was->packets;
    was->clean_ups = n.clean_ups;
    was->overhead_cycles =
        core_cycles_add(core_cycles_add(n.enqueue_cycles, n.process_cycles), n.cleanup_cycles);
    full->launches = full->packets = was->launches;
    full->enqueues = full->processings = full->clean_ups = was->launches;
    full->bytes = core_cycles_multiply(was->launches, sizeof(union dispatch_packet));
    const struct devdesc *d = info.description;
    uint64_t each =
        (uint64_t)d->launch_enqueue_cycles + d->launch_process_cycles + d->launch_cleanup_cycles;
    full->overhead_cycles = core_cycles_multiply(was->launches, each);
    statistics->reference_stores = n.reference_stores;
    statistics->spills = n.spills + run->sched->core->spilled_launches;
}

void prt_run_statistics(const struct prt_run *run, struct prt_run_statistics *statistics)
{
    const struct prt_sched *s = run->sched;
    const struct prt_container *c = &run->program->container;
    struct prt_device_info info;
    run->ops->info(run->device, &info);
    *statistics = (struct prt_run_statistics){
        .total_cycles = prt_run_moment_cycles(run),
        .scheduler_cycles = s->core->instruction_cycles,
        .instructions = s->core->instructions,
        .suspensions = s->suspensions,
        .host_threads = info.host_threads,
    };
    for (uint32_t i = 0; i < c->stage_count; i++) {
        const struct core_stage *stage = &s->stages[i];
        statistics->dispatches += stage->dispatches;
        statistics->launch_cycles += stage->launch_cycles;
        statistics->switch_cycles += stage->switch_cycles;
        statistics->execute_cycles += stage->execute_cycles;
    }
    account_dispatch(run, statistics);
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        statistics->leftover_packets += leftover_packets(&s->buffers[i].left);
        if (s->profile != NULL) statistics->host_cycles += prt_profile_host_cycles(s, i);
        statistics->discarded_packets += s->buffers[i].fifo->discarded_packets;
    }
    for (uint32_t i = 0; i < c->fused_buffer_count; i++)
        statistics->leftover_packets += leftover_packets(&s->fused_buffers[i].left);
}

bool prt_run_stage(const struct prt_run *run, uint32_t index,
                   struct prt_stage_statistics *statistics)
{
    const struct prt_container *c = &run->program->container;
    if (index >= c->stage_count) return false;
    const struct core_stage *stage = &run->sched->stages[index];
    const struct container_node *node = prt_stage_node(run->sched, stage);
    *statistics = (struct prt_stage_statistics){
        .name = prt_container_text(c, node->name),
        .kernel = prt_container_text(c, node->kernel_title),
        .source = prt_container_source(c, node->source),
        .line = node->line,
        .cu_count = run->sched->bindings.queues[stage->queue].cu_count,
        .firings = stage->firings,
        .dispatches = stage->dispatches,
        .execute_cycles = stage->execute_cycles,
        .launch_cycles = stage->launch_cycles,
        .switch_cycles = stage->switch_cycles,
    };
    return true;
}

bool prt_run_stage_moment(const struct prt_run *run, uint32_t stage,
                          struct prt_stage_moment *moment)
{
    if (stage >= run->program->container.stage_count) return false;
    prt_run_state_stage(run->sched, stage, moment);
    return true;
}

bool prt_run_buffer_moment(const struct prt_run *run, uint32_t buffer,
                           struct prt_buffer_moment *moment)
{
    if (buffer >= run->program->container.buffer_count) return false;
    prt_run_state_buffer(run->sched, buffer, moment);
    return true;
}

bool prt_run_port_moment(const struct prt_run *run, uint32_t port, struct prt_buffer_moment *moment)
{
    return port < run->program->port_count &&
           prt_run_buffer_moment(run, run->program->ports[port], moment);
}

static void count_arrivals(const struct prt_sched *s, uint32_t buffer,
                           struct prt_buffer_statistics *statistics)
{
    const struct prt_port *port = s->buffers[buffer].port;
    if (port != NULL && port->arrival != NULL) {
        statistics->arrives = true;
        statistics->arrived_packets = port->packets;
        statistics->arrival_cycles = port->arrival->waited_cycles;
        statistics->rest_cycles = port->arrival->rest_cycles;
        statistics->rest_most_cycles = port->arrival->rest_most_cycles;
    }
    if (s->profile == NULL) return;
    struct prt_late_packets late = prt_profile_late(s, buffer);
    statistics->late_packets = late.packets;
    statistics->late_cycles = late.cycles;
    statistics->late_least_cycles = late.least_cycles;
    statistics->late_most_cycles = late.most_cycles;
}

bool prt_run_buffer(const struct prt_run *run, uint32_t index,
                    struct prt_buffer_statistics *statistics)
{
    const struct prt_container *c = &run->program->container;
    if (index >= c->buffer_count) return false;
    const struct prt_buffer *buffer = &run->sched->buffers[index];
    *statistics = (struct prt_buffer_statistics){
        .name = prt_container_text(c, buffer->record->name),
        .type = prt_container_text(c, buffer->record->type_text),
        .port = PRT_NONE,
        .width_bytes = buffer->record->width_bytes,
        .depth_packets = buffer->record->depth_packets,
        .planned_packets = run->loaded->container.buffers[index].depth_packets,
        .packets = buffer->fifo->written_packets,
        .high_water_packets = buffer->fifo->high_water_packets,
        .suspensions = buffer->port != NULL ? buffer->port->suspensions : 0,
        .discarded_packets = buffer->fifo->discarded_packets,
        .leftover_packets = leftover_packets(&buffer->left),
    };
    if (run->sched->profile != NULL)
        statistics->host_cycles = prt_profile_host_cycles(run->sched, index);
    count_arrivals(run->sched, index, statistics);
    for (uint32_t i = 0; i < run->program->port_count; i++) {
        if (run->program->ports[i] == index) statistics->port = i;
    }
    return true;
}

/* ---- leftover packets ---- */

static void set_leftover(struct prt_leftover_statistics *statistics,
                         const struct prt_leftover *left)
{
    statistics->more = left->more;
    statistics->few_packets = left->few_packets;
    statistics->stranded_packets = left->stranded_packets;
    statistics->stranded_reader = left->stranded_reader;
    statistics->stranded_by = left->stranded_by;
}

static bool primes_loop(const struct prt_leftover *left, uint64_t initial_packets)
{
    return leftover_packets(left) > 0 && leftover_packets(left) <= initial_packets;
}

/* The initial packets of a buffer of the run that go round a cycle, whether all its nodes are stages or some are parts of
 * them; 0: it is on no cycle. */
static uint64_t initial_of_cycle(const struct prt_run *run, uint32_t index)
{
    const struct prt_container *c = &run->program->container;
    const uint32_t both = CONTAINER_FUSED_BUFFER_KEPT | CONTAINER_FUSED_BUFFER_CYCLE;
    bool round = prt_self_driven_closes_cycle(run->sched->core, index);
    for (uint32_t i = 0; i < c->fused_buffer_count && !round; i++)
        round = c->fused_buffers[i].buffer == index && (c->fused_buffers[i].flags & both) == both;
    return round ? c->buffers[index].initial_packets : 0;
}

static void set_run_leftover(const struct prt_run *run, uint32_t index,
                             struct prt_leftover_statistics *statistics)
{
    const struct prt_buffer *buffer = &run->sched->buffers[index];
    set_leftover(statistics, &buffer->left);
    statistics->buffer = prt_container_text(&run->program->container, buffer->record->name);
    statistics->primes_loop = primes_loop(&buffer->left, initial_of_cycle(run, index));
    for (uint32_t i = 0; i < run->program->port_count; i++) {
        if (run->program->ports[i] == index) statistics->port = i;
    }
}

static void set_fused_leftover(const struct prt_run *run, uint32_t index,
                               struct prt_leftover_statistics *statistics)
{
    const struct container_fused_buffer *record = &run->program->container.fused_buffers[index];
    const struct prt_leftover *left = &run->sched->fused_buffers[index].left;
    set_leftover(statistics, left);
    statistics->buffer = prt_container_text(&run->program->container, record->name);
    statistics->inside = true;
    statistics->primes_loop = (record->flags & CONTAINER_FUSED_BUFFER_CYCLE) != 0 &&
                              primes_loop(left, record->initial_packets);
}

bool prt_run_leftover(const struct prt_run *run, uint32_t index,
                      struct prt_leftover_statistics *statistics)
{
    const struct prt_container *c = &run->program->container;
    uint32_t inside = 0; /* buffers inside of stages, of those before */
    *statistics = (struct prt_leftover_statistics){.port = PRT_NONE};
    for (uint32_t i = 0; i < c->fused_buffer_count; i++) {
        const struct container_fused_buffer *record = &c->fused_buffers[i];
        if ((record->flags & CONTAINER_FUSED_BUFFER_KEPT) != 0) continue;
        if (index - inside < record->buffer) break;
        if (index - inside == record->buffer) {
            set_fused_leftover(run, i, statistics);
            return true;
        }
        inside++;
    }
    if (index - inside >= c->buffer_count) return false;
    set_run_leftover(run, index - inside, statistics);
    return true;
}
