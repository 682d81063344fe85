/* SPDX-License-Identifier: MIT */
#include "runtime/sched/stage_profile.h"

#include "base/arithmetic.h"
#include "base/array_allocate.h"
#include "core/time/timing.h"
#include "core/ready.h"
#include "core/select.h"
#include "runtime/device/device_queue.h"

#include <assert.h>
#include <stdlib.h>

#define NO_END UINT32_MAX

/* The account of a stage.  Time before `since_cycles` is booked; the stage has been in its present state since then. */
struct watched_stage {
    struct prt_stage_time time;
    uint64_t since_cycles;
    enum prt_stall_cause cause;
    /* of PACKETS and ROOM: the end of the stage, as prt_run_wait counts; else NO_END */
    uint32_t end;
    bool in_flight;
};

struct watched_output {
    uint64_t packets;           /* written by launches in order, initial ones included */
    uint64_t firings, appended; /* firings, and the packets that they have appended */
    uint64_t most;              /* maximum packets of a firing */
};

struct prt_profile {
    struct prt_observer observer;
    const struct prt_run *run;
    struct watched_stage *stages;
    struct watched_output *outputs;
    /* per output: maximum of a firing in the launch that ends, written by its kernel */
    uint64_t *batch_most;
    uint64_t *waits;             /* per end of every stage: cycles */
    uint32_t *first_end;         /* per stage: index of its first end in `waits` */
    uint64_t *levels;            /* per buffer: level of the last event */
    struct prt_launch_end *ends; /* of the present launch event */
    struct prt_queue_statistics *queues;
    uint64_t *cu_cycles, *launch_cu_cycles;
    uint32_t queue_count, cu_count;
    /* work of the scheduler that no event has reported yet */
    uint64_t work_begin_cycles, work_end_cycles;
    uint64_t *host_cycles; /* per buffer */
    /* the scheduler waits for the host at its port; NULL: it does not */
    const struct prt_buffer *at_host;
    uint64_t at_host_since_cycles;
    struct prt_lateness *lateness; /* NULL: no in-port has arrivals */
    /* of the present launch event */
    struct prt_firing_spans spans;
    uint64_t execution_cycles, execution_end_cycles;
    uint32_t first_cu;
    bool executes, real_time;
    bool resident; /* the scheduler is on the device: only launches are reported */
};

/* ---- creation ---- */

static bool allocate_accounts(struct prt_profile *c, const struct prt_container *container)
{
    size_t ends = (size_t)container->input_count + container->output_count;
    c->stages = array_allocate(container->stage_count, sizeof *c->stages);
    c->outputs = array_allocate(container->output_count, sizeof *c->outputs);
    c->batch_most = array_allocate(container->output_count, sizeof *c->batch_most);
    c->waits = array_allocate(ends, sizeof *c->waits);
    c->first_end = array_allocate(container->stage_count, sizeof *c->first_end);
    c->levels = array_allocate(container->buffer_count, sizeof *c->levels);
    c->ends = array_allocate(ends, sizeof *c->ends);
    c->host_cycles = array_allocate(container->buffer_count, sizeof *c->host_cycles);
    c->queues = array_allocate(c->queue_count, sizeof *c->queues);
    c->cu_cycles = array_allocate(c->cu_count, sizeof *c->cu_cycles);
    c->launch_cu_cycles = array_allocate(c->cu_count, sizeof *c->launch_cu_cycles);
    return c->stages && c->outputs && c->batch_most && c->waits && c->first_end && c->levels &&
           c->ends && c->host_cycles && c->queues && c->cu_cycles && c->launch_cu_cycles;
}

static void link_stages(struct prt_sched *s)
{
    struct prt_profile *c = s->profile;
    uint32_t end = 0;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct container_node *node = prt_stage_node(s, &s->stages[i]);
        c->first_end[i] = end;
        end += node->input_count + node->output_count;
        c->stages[i].cause = PRT_STALL_SCHEDULER;
        c->stages[i].end = NO_END;
        if (c->executes && !s->stages[i].exact)
            s->objects[i].most = c->batch_most + node->first_output;
    }
}

static bool watch_device_queues(const struct prt_sched *s)
{
    for (uint32_t i = 0; i < s->container->stage_count; i++)
        if (s->device_queues[i] != NULL && prt_device_queue_watch(s->device_queues[i]) != PRT_OK)
            return false;
    return true;
}

/* Each queue has a stage, so there are no more queues than stages. */
enum prt_status prt_profile_create(struct prt_sched *s, const struct prt_observer *observer,
                                   const struct prt_run *run, struct prt_error *error)
{
    struct prt_device_info info;
    s->ops->info(s->device, &info);
    struct prt_profile *made = calloc(1, sizeof *made);
    if (made == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    if (observer != NULL) made->observer = *observer;
    made->run = run;
    made->queue_count = s->container->stage_count;
    made->cu_count = info.description->cu_count;
    made->resident = s->ops->resident_begin != NULL;
    made->executes = info.executes && !made->resident;
    made->real_time = info.real_time;
    if (!allocate_accounts(made, s->container)) {
        prt_profile_destroy(made);
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    }
    s->profile = made;
    if (made->observer.launch != NULL && !info.real_time && !watch_device_queues(s))
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    s->core->observed = !made->resident;
    link_stages(s);
    core_mark_all(&s->core->changed);
    return PRT_OK;
}

void prt_profile_destroy(struct prt_profile *profile)
{
    if (profile == NULL) return;
    free(profile->stages);
    free(profile->outputs);
    free(profile->batch_most);
    free(profile->waits);
    free(profile->first_end);
    free(profile->levels);
    free(profile->ends);
    free(profile->host_cycles);
    free(profile->queues);
    free(profile->cu_cycles);
    free(profile->launch_cu_cycles);
    prt_lateness_destroy(profile->lateness);
    free(profile);
}

/* ---- why a stage does not execute ---- */

struct reason {
    enum prt_stall_cause cause;
    uint32_t end;
};

static struct reason why_not_finishing(const struct prt_sched *s, const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(s->core, stage, i);
        if (core_fifo_room(prt_output_buffer(s, output)->fifo) < output->finish_max)
            return (struct reason){PRT_STALL_ROOM, stage->input_count + i};
    }
    return (struct reason){PRT_STALL_SCHEDULER, NO_END};
}

/* The first input with too few packets, else the first output with too little room: the other ends do not matter. */
static struct reason why_not_running(const struct prt_sched *s, const struct core_stage *stage)
{
    uint64_t firings = stage->batch_max;
    for (uint32_t i = 0; i < stage->input_count; i++) {
        firings = core_ready_input(s->core, stage, core_input(s->core, stage, i), true, firings);
        if (firings == 0) return (struct reason){PRT_STALL_PACKETS, i};
    }
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(s->core, stage, i);
        firings = core_flow_fits(core_numbers(s->core), &output->most, stage->firings,
                                 core_ready_room(core_written_buffer(s->core, output)), firings);
        if (firings == 0) return (struct reason){PRT_STALL_ROOM, stage->input_count + i};
    }
    bool few = core_is_below_threshold(stage, firings);
    return (struct reason){few ? PRT_STALL_THRESHOLD : PRT_STALL_SCHEDULER, NO_END};
}

static struct reason why_idle(const struct prt_sched *s, const struct core_stage *stage)
{
    if (stage->life >= CORE_ENDED) return (struct reason){PRT_STALL_ENDED, NO_END};
    if (stage->life == CORE_FINISH_WAITING) return why_not_finishing(s, stage);
    if (stage->stopped) return (struct reason){PRT_STALL_SCHEDULER, NO_END};
    return why_not_running(s, stage);
}

/* Books the time up to `until_cycles` to the present state of the stage. */
static void book_time(struct prt_profile *c, uint32_t stage, uint64_t until_cycles)
{
    struct watched_stage *w = &c->stages[stage];
    if (until_cycles <= w->since_cycles) return;
    uint64_t cycles = until_cycles - w->since_cycles;
    w->since_cycles = until_cycles;
    w->time.stall_cycles[w->cause] += cycles;
    if (w->end != NO_END) c->waits[c->first_end[stage] + w->end] += cycles;
}

/* Changes the state of the stage. */
static void change_state(struct prt_profile *c, uint32_t stage, struct reason reason, uint64_t now)
{
    struct watched_stage *w = &c->stages[stage];
    if (w->cause == reason.cause && w->end == reason.end) return;
    book_time(c, stage, now);
    w->cause = reason.cause;
    w->end = reason.end;
}

void prt_profile_dispatched(struct prt_sched *s, const struct core_stage *stage)
{
    uint32_t number = core_stage_number(s->core, stage);
    if (s->profile->lateness != NULL) prt_lateness_dispatched(s->profile->lateness, s, stage);
    change_state(s->profile, number, (struct reason){PRT_STALL_SCHEDULER, NO_END},
                 s->ops->now_cycles(s->device));
    s->profile->stages[number].in_flight = true;
}

void prt_profile_delivered(const struct prt_sched *s, const struct prt_buffer *buffer,
                           uint64_t packets)
{
    if (s->profile->lateness != NULL)
        prt_lateness_delivered(s->profile->lateness, s, buffer, packets);
}

void prt_profile_completed(struct prt_sched *s, const struct core_stage *stage)
{
    s->profile->stages[core_stage_number(s->core, stage)].in_flight = false;
}

/* ---- events ---- */

static void send_work(struct prt_profile *c)
{
    if (c->observer.scheduler != NULL && c->work_end_cycles > c->work_begin_cycles) {
        const struct prt_scheduler_event event = {PRT_SCHEDULER_WORKS, c->work_begin_cycles,
                                                  c->work_end_cycles, UINT32_MAX, UINT32_MAX};
        c->observer.scheduler(c->observer.context, &event);
    }
    c->work_begin_cycles = c->work_end_cycles;
}

/* Adds cycles of instructions.  Cycles without a gap between them become one event. */
static void add_work(struct prt_profile *c, uint64_t now, uint64_t cycles)
{
    if (now != c->work_end_cycles) {
        send_work(c);
        c->work_begin_cycles = now;
    }
    c->work_end_cycles = core_cycles_add(now, cycles);
}

static void send_moment(struct prt_sched *s, enum prt_scheduler_doing doing, uint32_t stage,
                        uint32_t buffer)
{
    struct prt_profile *c = s->profile;
    if (c->observer.scheduler == NULL) return;
    send_work(c);
    uint64_t now = s->ops->now_cycles(s->device);
    const struct prt_scheduler_event event = {doing, now, now, stage, buffer};
    c->observer.scheduler(c->observer.context, &event);
}

void prt_profile_suspended(struct prt_sched *s, const struct prt_buffer *buffer)
{
    send_moment(s, PRT_SCHEDULER_SUSPENDED, UINT32_MAX, (uint32_t)(buffer - s->buffers));
}

void prt_profile_ended(struct prt_sched *s, const struct core_stage *stage)
{
    if (s->profile->lateness != NULL) prt_lateness_ended(s->profile->lateness, s, stage);
    send_moment(s, PRT_SCHEDULER_ENDS, core_stage_number(s->core, stage), UINT32_MAX);
}

void prt_profile_doing(struct prt_sched *s, enum prt_doing doing, const struct prt_buffer *buffer)
{
    struct prt_profile *c = s->profile;
    bool waits = doing == PRT_DOING_READ || doing == PRT_DOING_WRITE;
    if (!c->real_time || (!waits && c->at_host == NULL)) return;
    uint64_t now = s->ops->now_cycles(s->device);
    if (c->at_host != NULL)
        c->host_cycles[c->at_host - s->buffers] += now - c->at_host_since_cycles;
    c->at_host = waits ? buffer : NULL;
    c->at_host_since_cycles = now;
}

static void send_levels(struct prt_sched *s, uint64_t now)
{
    struct prt_profile *c = s->profile;
    for (uint32_t i = 0; i < s->container->buffer_count; i++) {
        const struct core_fifo *fifo = s->buffers[i].fifo;
        uint64_t packets = fifo->written_packets - fifo->oldest_packets;
        if (packets == c->levels[i]) continue;
        c->levels[i] = packets;
        const struct prt_level_event event = {i, now, packets, fifo->depth_packets};
        c->observer.level(c->observer.context, &event);
    }
}

/* Finds the states of stages that are not in flight: a stage in flight is marked again when it completes.  After a fault
 * the later launches are taken back one by one, a writer before its readers.  Until that is done, levels mean nothing. */
static void look_at_stages(struct prt_sched *s, uint64_t now)
{
    struct prt_profile *c = s->profile;
    if (c->resident || core_attends(s->core, CORE_HAS_FAULTED)) return;
    uint32_t i = core_marks_take(&s->core->changed, 0);
    for (; i != CORE_NONE; i = core_marks_take(&s->core->changed, i + 1))
        if (!c->stages[i].in_flight) change_state(c, i, why_idle(s, &s->stages[i]), now);
    if (c->observer.level != NULL) send_levels(s, now);
}

void prt_profile_look(struct prt_sched *s, uint64_t instruction_cycles)
{
    uint64_t now = s->ops->now_cycles(s->device);
    look_at_stages(s, now);
    if (instruction_cycles > 0) add_work(s->profile, now, instruction_cycles);
}

void prt_profile_arrival(struct prt_sched *s, const struct prt_buffer *buffer, uint64_t end_cycles)
{
    struct prt_profile *c = s->profile;
    uint64_t now = s->ops->now_cycles(s->device);
    look_at_stages(s, now);
    if (c->observer.scheduler == NULL) return;
    send_work(c);
    const struct prt_scheduler_event event = {PRT_SCHEDULER_WAITS, now, end_cycles, UINT32_MAX,
                                              (uint32_t)(buffer - s->buffers)};
    c->observer.scheduler(c->observer.context, &event);
}

enum prt_status prt_profile_begin(struct prt_sched *s, struct prt_error *error)
{
    struct prt_profile *c = s->profile;
    enum prt_status status = prt_lateness_create(s, &c->lateness, error);
    if (status != PRT_OK) return status;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct core_stage *stage = &s->stages[i];
        for (uint32_t k = 0; k < stage->output_count; k++)
            c->outputs[stage->first_output + k].packets =
                prt_output_buffer(s, core_output(s->core, stage, k))->record->initial_packets;
    }
    if (c->observer.begin != NULL) c->observer.begin(c->observer.context, c->run);
    return PRT_OK;
}

void prt_profile_end(struct prt_sched *s, uint64_t total_cycles)
{
    struct prt_profile *c = s->profile;
    uint64_t now = s->ops->now_cycles(s->device);
    if (now > total_cycles) now = total_cycles; /* real time goes on */
    look_at_stages(s, now);
    if (total_cycles > now) add_work(c, now, total_cycles - now);
    send_work(c);
    for (uint32_t i = 0; i < s->container->stage_count; i++)
        book_time(c, i, total_cycles);
    if (c->observer.end != NULL) c->observer.end(c->observer.context, c->run, total_cycles);
}

/* ---- launches ---- */

static enum prt_launch_form launch_form(enum prt_packet_kind kind)
{
    switch (kind) {
    case PRT_PACKET_REFERENCE: return PRT_LAUNCH_REFERENCE;
    case PRT_PACKET_CONDENSED: return PRT_LAUNCH_CONDENSED;
    default: return PRT_LAUNCH_FULL;
    }
}

/* Before it was enqueued the stage waited for the scheduler, then for its compute units; between pieces of the launch for
 * more important launches; after its end for its completion. */
static void account_launch(struct prt_profile *c, const struct prt_launch_record *r)
{
    struct watched_stage *w = &c->stages[r->stage];
    struct prt_stage_time *t = &w->time;
    book_time(c, r->stage, r->enqueued_cycles);
    w->cause = r->resumed ? PRT_STALL_INTERRUPTED : PRT_STALL_UNITS;
    book_time(c, r->stage, r->begin_cycles);
    w->cause = c->resident ? PRT_STALL_SCHEDULER : PRT_STALL_COMPLETION;
    w->end = NO_END;
    if (w->since_cycles < r->end_cycles) w->since_cycles = r->end_cycles;
    t->execute_cycles += r->execute_cycles;
    t->launch_cycles += r->launch_cycles;
    t->switch_cycles += r->switch_cycles;
    t->index_cycles += r->index_cycles;
    t->device_queue_cycles += r->device_queue_cycles;
    t->interruptions += r->interrupted;
    t->launches[launch_form(r->packet)] += !r->interrupted;
    t->warps += r->warps;
    t->compute_cycles = core_cycles_add(t->compute_cycles, r->compute_cycles);
    t->memory_cycles = core_cycles_add(t->memory_cycles, r->memory_cycles);
    if (r->memory_cycles > r->compute_cycles) t->memory_bound_cycles += r->execute_cycles;
    if (r->interrupted) return;
    uint64_t latency = r->end_cycles - r->enqueued_cycles;
    t->latency_cycles = core_cycles_add(t->latency_cycles, latency);
    if (latency > t->latency_most_cycles) t->latency_most_cycles = latency;
}

static void account_units(struct prt_profile *c, const struct prt_launch_record *r)
{
    assert(r->queue < c->queue_count);
    struct prt_queue_statistics *q = &c->queues[r->queue];
    q->first_cu = r->first_cu;
    q->cu_count = r->cu_count;
    q->importance = r->importance;
    q->launches += !r->interrupted;
    q->busy_cycles += r->end_cycles - r->begin_cycles;
    q->execute_cycles += r->execute_cycles;
    for (uint32_t i = 0; i < r->cu_count; i++) {
        uint32_t cu = r->first_cu + r->cus[i].number;
        c->launch_cu_cycles[r->cus[i].number] = r->cus[i].busy_cycles;
        c->cu_cycles[cu] = core_cycles_add(c->cu_cycles[cu], r->cus[i].busy_cycles);
    }
}

/* The packets that the launch has appended: reported by the kernel, or given by exact rates. */
static uint64_t produced_packets(const struct prt_sched *s, const struct core_stage *stage,
                                 uint32_t output, const struct prt_launch_record *r)
{
    bool said = r->finish || !stage->exact;
    return said ? core_produced(s->core)[stage->first_output + output]
                : core_flow_total(core_numbers(s->core), &core_output(s->core, stage, output)->most,
                                  r->first_firing, r->firings);
}

static void account_outputs(struct prt_sched *s, const struct prt_launch_record *r)
{
    struct prt_profile *c = s->profile;
    const struct core_stage *stage = &s->stages[r->stage];
    uint32_t first = stage->first_output;
    for (uint32_t i = 0; i < stage->output_count; i++) {
        struct watched_output *o = &c->outputs[first + i];
        uint64_t packets = produced_packets(s, stage, i, r);
        c->ends[stage->input_count + i] = (struct prt_launch_end){
            (uint32_t)(prt_output_buffer(s, core_output(s->core, stage, i)) - s->buffers),
            o->packets, packets};
        o->packets += packets;
        if (r->finish) continue;
        o->firings += r->firings;
        o->appended += packets;
        if (c->batch_most[first + i] > o->most) o->most = c->batch_most[first + i];
    }
}

/* From the first packet that the launch has consumed to the last one that it has seen; of a 2-D window only the consumed
 * ones. */
static struct prt_launch_end seen_packets(const struct prt_sched *s, const struct core_input *input,
                                          const struct prt_launch_record *r)
{
    struct prt_launch_end end = {.buffer = (uint32_t)(prt_input_buffer(s, input) - s->buffers)};
    uint64_t last = r->first_firing + r->firings - 1;
    if (input->window.width > 0) {
        end.first_packet = r->first_firing;
        end.packets = r->firings;
        return end;
    }
    end.first_packet = core_flow_total(core_numbers(s->core), &input->take.pop, 0, r->first_firing);
    end.packets = core_flow_total(core_numbers(s->core), &input->take.pop, 0, last) -
                  end.first_packet + core_take_needs(core_numbers(s->core), &input->take, last);
    return end;
}

static void send_launch(struct prt_sched *s, const struct prt_launch_record *r)
{
    struct prt_profile *c = s->profile;
    const struct core_stage *stage = &s->stages[r->stage];
    uint32_t inputs = r->finish || r->resumed ? 0 : stage->input_count;
    for (uint32_t i = 0; i < inputs; i++)
        c->ends[i] = seen_packets(s, core_input(s->core, stage, i), r);
    const struct prt_launch_event event = {
        .stage = r->stage,
        .queue = r->queue,
        .finish = r->finish,
        .form = launch_form(r->packet),
        .first_of_packet = r->first_of_packet,
        .cleaned_up = r->cleaned_up,
        .first_firing = r->first_firing,
        .firings = r->finish ? 0 : r->firings,
        .enqueued_cycles = r->enqueued_cycles,
        .begin_cycles = r->begin_cycles,
        .end_cycles = r->end_cycles,
        .launch_cycles = r->launch_cycles,
        .switch_cycles = r->switch_cycles,
        .index_cycles = r->index_cycles,
        .execute_cycles = r->execute_cycles,
        .device_queue_cycles = r->device_queue_cycles,
        .cleanup_cycles = r->cleanup_cycles,
        .compute_cycles = r->compute_cycles,
        .memory_cycles = r->memory_cycles,
        .warps = r->warps,
        .first_cu = r->first_cu,
        .cu_count = r->cu_count,
        .cu_cycles = c->launch_cu_cycles,
        .inputs = c->ends,
        .outputs = c->ends + stage->input_count,
        .input_count = inputs,
        .output_count = r->interrupted ? 0 : stage->output_count,
        .interrupted = r->interrupted,
        .resumed = r->resumed,
        .importance = r->importance,
        .span_count = r->spans.count,
        .spans_omitted = r->spans.omitted,
    };
    uint64_t before = core_cycles_add(r->launch_cycles - r->cleanup_cycles,
                                      core_cycles_add(r->switch_cycles, r->index_cycles));
    c->spans = r->spans;
    c->first_cu = r->first_cu;
    c->execution_cycles = core_cycles_add(r->begin_cycles, before);
    c->execution_end_cycles = core_cycles_add(
        c->execution_cycles, core_cycles_add(r->execute_cycles, r->device_queue_cycles));
    c->observer.launch(c->observer.context, &event);
    c->spans = (struct prt_firing_spans){0};
}

void prt_profile_launch(struct prt_sched *s, const struct prt_launch_record *record)
{
    account_launch(s->profile, record);
    account_units(s->profile, record);
    if (!record->interrupted) account_outputs(s, record);
    if (s->profile->observer.launch != NULL) send_launch(s, record);
}

/* ---- results ---- */

/* Firings that are scheduled in pieces may take longer than all at once, but the launch does not. */
static uint64_t place_moment(const struct prt_profile *c, uint64_t cycles)
{
    return min64(core_cycles_add(c->execution_cycles, cycles), c->execution_end_cycles);
}

bool prt_profile_span(const struct prt_sched *s, uint64_t index, struct prt_span_event *span)
{
    const struct prt_profile *c = s->profile;
    if (index >= c->spans.count) return false;
    const struct prt_firing_span *from = &c->spans.items[index];
    const struct container_interface *interface = &s->container->interfaces[from->interface];
    bool child = from->level > 0;
    *span = (struct prt_span_event){
        .kernel = child ? prt_container_text(s->container, interface->title) : NULL,
        .level = from->level,
        .cu = c->first_cu + from->cu,
        .issued_cycles = child ? place_moment(c, from->issued_cycles) : 0,
        .begin_cycles = place_moment(c, from->begin_cycles),
        .end_cycles = place_moment(c, from->end_cycles),
        .resumed = from->resumed,
    };
    return true;
}

void prt_profile_stage_time(const struct prt_sched *s, uint32_t stage, struct prt_stage_time *time)
{
    *time = s->profile->stages[stage].time;
    time->queue = s->stages[stage].queue;
}

uint64_t prt_profile_wait_cycles(const struct prt_sched *s, uint32_t stage, uint32_t end)
{
    return s->profile->waits[s->profile->first_end[stage] + end];
}

static uint64_t highest_rate(const uint64_t *numbers, const struct core_flow *flow)
{
    if (flow->phases == 1) return flow->cycle;
    uint64_t highest = 0;
    for (uint32_t i = 0; i < flow->phases; i++) {
        uint64_t rate = numbers[flow->sums + i + 1] - numbers[flow->sums + i];
        if (rate > highest) highest = rate;
    }
    return highest;
}

static uint64_t lowest_rate(const uint64_t *numbers, const struct core_flow *flow)
{
    if (flow->phases == 1) return flow->cycle;
    uint64_t lowest = UINT64_MAX;
    for (uint32_t i = 0; i < flow->phases; i++) {
        uint64_t rate = numbers[flow->sums + i + 1] - numbers[flow->sums + i];
        if (rate < lowest) lowest = rate;
    }
    return lowest;
}

/* Maximum memory that a lower bound frees: the depth that an output needs grows at most in proportion to its bound. */
static uint64_t freed_bytes(const struct core_buffer *buffer, uint64_t declared, uint64_t observed)
{
    const struct core_fifo *fifo = &buffer->fifo;
    uint64_t bound = observed > 0 ? observed : 1;
    if (buffer->port != CORE_INNER || bound >= declared) return 0;
    unsigned __int128 packets =
        (unsigned __int128)fifo->depth_packets * (declared - bound) / declared;
    return core_cycles_multiply((uint64_t)packets, fifo->width_bytes);
}

void prt_profile_output(const struct prt_sched *s, uint32_t output,
                        struct prt_output_statistics *statistics)
{
    const struct watched_output *w = &s->profile->outputs[output];
    const struct core_output *o = &s->outputs[output];
    uint64_t declared = highest_rate(core_numbers(s->core), &o->most);
    bool ranges = o->least.cycle != o->most.cycle;
    bool told = ranges && s->profile->executes;
    *statistics = (struct prt_output_statistics){
        .buffer = prt_container_text(s->container, prt_output_buffer(s, o)->record->name),
        .declared_least = lowest_rate(core_numbers(s->core), &o->least),
        .declared_most = declared,
        .observed_most = w->firings == 0 ? 0
                         : told          ? w->most
                                         : declared,
        .firings = w->firings,
        .packets = w->appended,
        .ranges = ranges,
    };
    if (ranges && w->firings > 0)
        statistics->frees_bytes =
            freed_bytes(core_written_buffer(s->core, o), declared, statistics->observed_most);
}

bool prt_profile_queue(const struct prt_sched *s, uint32_t queue,
                       struct prt_queue_statistics *statistics)
{
    if (queue >= s->profile->queue_count || s->profile->queues[queue].launches == 0) return false;
    *statistics = s->profile->queues[queue];
    statistics->root = s->bindings.queues[queue].root;
    return true;
}

struct prt_late_packets prt_profile_late(const struct prt_sched *s, uint32_t buffer)
{
    return prt_lateness_of(s->profile->lateness, buffer);
}

uint64_t prt_profile_host_cycles(const struct prt_sched *sched, uint32_t buffer)
{
    return sched->profile->host_cycles[buffer];
}

uint64_t prt_profile_cu_cycles(const struct prt_sched *s, uint32_t cu)
{
    assert(cu < s->profile->cu_count);
    return s->profile->cu_cycles[cu];
}
