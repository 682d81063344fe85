/* SPDX-License-Identifier: MIT */
#include "runtime/sched/live_port.h"

#include "core/time/timing.h"
#include "runtime/sched/arrival_port.h"
#include "runtime/sched/inport.h"
#include "runtime/sched/port_thread.h"
#include "core/ready.h"
#include "runtime/sched/run_state.h"
#include "core/select.h"

#include <stdlib.h>

/* If sources keep the scheduler busy, a callback without a thread is asked every so many instructions. */
enum { ASK_INSTRUCTIONS = 1024 };

struct live_in {
    struct prt_buffer *buffer;
    bool wanted;   /* a stage lacks its packets */
    int64_t since; /* packets have rested there since that time; REST_NONE: none rest */
};

struct live_out {
    struct prt_buffer *buffer;
    uint64_t room; /* when the scheduler began to wait */
};

struct prt_live {
    struct live_in *ins;
    struct live_out *outs; /* out-ports with a thread */
    uint32_t in_count, out_count;
    bool has_sources; /* there are stages that no in-port feeds */
    bool real_time;   /* else packets arrive in simulated time: arrival_port.h */
    uint64_t asked;   /* instructions when a source without a thread was asked last */
    int64_t latency;  /* in nanoseconds */
    uint64_t latency_cycles;
};

#define REST_NONE INT64_MIN
#define AT_ONCE INT64_MIN

/* ---- the beginning ---- */

static bool is_live_run(const struct prt_sched *s)
{
    return s->step == NULL && !(s->container->pipeline->flags & CONTAINER_PIPELINE_COUNTEREXAMPLE);
}

/* Is the port to be eager?  In real time a port in memory is not: it never waits. */
static bool is_asked_eager(const struct prt_buffer *buffer, bool real_time)
{
    if (buffer->port == NULL || !buffer->port->asked_eager) return false;
    return real_time ? !prt_ring_is_placed(&buffer->ring) : buffer->port->arrival != NULL;
}

static void add_live_port(struct prt_live *live, struct prt_buffer *buffer)
{
    struct prt_port *port = buffer->port;
    bool in = buffer->record->outer == CONTAINER_OUTER_IN;
    if (is_asked_eager(buffer, live->real_time)) {
        buffer->core->eager = true;
        if (live->real_time) free(port->ahead.extra); /* its packets are not read ahead */
        if (live->real_time) port->ahead.extra = NULL;
        live->ins[live->in_count++] = (struct live_in){.buffer = buffer, .since = REST_NONE};
    } else if (!in && live->real_time && port->given_thread != NULL) {
        live->outs[live->out_count++] = (struct live_out){.buffer = buffer};
    }
}

/* Each threshold becomes 1, and out-ports with a thread become eager: a stage that writes to a slow sink is not
 * selected, so it stops no other stage. */
static void prepare_stages(struct prt_sched *s)
{
    for (uint32_t i = 0; i < s->live->out_count; i++)
        s->live->outs[i].buffer->core->eager = true;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        struct core_stage *stage = &s->stages[i];
        stage->threshold = 1;
        s->live->has_sources |= !stage->fed;
        for (uint32_t k = 0; k < stage->output_count; k++) {
            const struct core_output *output = core_output(s->core, stage, k);
            stage->writes_live |= core_written_buffer(s->core, output)->eager;
        }
    }
}

enum prt_status prt_live_begin(struct prt_sched *s, struct prt_error *error)
{
    uint32_t buffers = s->container->buffer_count;
    struct prt_device_info info;
    bool any = false;
    s->ops->info(s->device, &info);
    for (uint32_t i = 0; i < buffers; i++)
        any |= is_asked_eager(&s->buffers[i], info.real_time);
    if (!any || !is_live_run(s)) return PRT_OK;
    s->live = calloc(1, sizeof *s->live);
    if (info.real_time) s->bell = prt_bell_create();
    if (s->live != NULL) {
        s->live->ins = calloc(buffers, sizeof *s->live->ins);
        s->live->outs = calloc(buffers, sizeof *s->live->outs);
    }
    if (s->live == NULL || (info.real_time && s->bell == NULL) || s->live->ins == NULL ||
        s->live->outs == NULL)
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    s->live->real_time = info.real_time;
    s->live->latency =
        s->latency_nanoseconds < INT64_MAX / 4 ? (int64_t)s->latency_nanoseconds : INT64_MAX / 4;
    unsigned __int128 cycles =
        (unsigned __int128)s->latency_nanoseconds * info.description->clock_hz / 1000000000;
    s->live->latency_cycles = cycles < UINT64_MAX ? (uint64_t)cycles : UINT64_MAX;
    for (uint32_t i = 0; i < buffers; i++)
        if (s->buffers[i].port != NULL) add_live_port(s->live, &s->buffers[i]);
    prepare_stages(s);
    s->core->live = true;
    return PRT_OK;
}

void prt_live_destroy(struct prt_live *live)
{
    if (live == NULL) return;
    free(live->ins);
    free(live->outs);
    free(live);
}

/* ---- taking ---- */

/* The time at which packets, or the end, can be taken: AT_ONCE, the time until which packets rest, or INT64_MAX if
 * nothing has arrived.  Packets that fill the port, or after which the stream has ended, rest no longer. */
static int64_t find_arrival(const struct prt_live *live, struct live_in *in)
{
    bool ended;
    uint64_t room = core_fifo_room(in->buffer->fifo);
    uint64_t arrived = prt_port_thread_arrived(in->buffer, &ended);
    if (room == 0 || (arrived == 0 && !ended)) return INT64_MAX;
    if (live->latency == 0 || ended || arrived >= room) return AT_ONCE;
    int64_t now = prt_port_now_nanoseconds();
    if (in->since == REST_NONE) in->since = now;
    return now - in->since >= live->latency ? AT_ONCE : in->since + live->latency;
}

/* The minimum number of packets of the in-port that a stage lacks for its next firing; 0: no stage lacks any. */
static uint64_t count_lacking(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    const struct container_buffer *record = buffer->record;
    uint64_t lacking = 0;
    if (buffer->fifo->closed || core_fifo_room(buffer->fifo) == 0) return 0;
    for (uint32_t i = 0; i < record->reader_count; i++) {
        const struct container_reader *reader = &s->container->readers[record->first_reader + i];
        const struct core_stage *stage = &s->stages[s->node_stage[reader->node]];
        const struct core_input *input = &s->inputs[reader->input];
        if (stage->life != CORE_RUNNING || stage->stopped || stage->in_flight ||
            core_ready_input(s->core, stage, input, false, 1) > 0)
            continue;
        uint64_t packets =
            core_ready_needs(s->core, stage, input) - core_fifo_held(buffer->fifo, input->reader);
        if (lacking == 0 || packets < lacking) lacking = packets;
    }
    return lacking;
}

static bool is_port_wanted(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    return count_lacking(s, buffer) > 0;
}

static enum prt_status take_or_ask(struct prt_sched *s, struct live_in *in, struct prt_error *error)
{
    struct prt_live *live = s->live;
    if (in->buffer->port->thread != NULL) {
        if (find_arrival(live, in) != AT_ONCE) return PRT_OK;
        in->since = REST_NONE;
        return prt_inport_take(s, in->buffer, error);
    }
    if (!live->has_sources || s->core->instructions - live->asked < ASK_INSTRUCTIONS) return PRT_OK;
    live->asked = s->core->instructions;
    return is_port_wanted(s, in->buffer) ? prt_inport_ask(s, in->buffer, error) : PRT_OK;
}

/* Sets the room that the sinks have made.  True: it is more than the core knows. */
static bool update_rooms(struct prt_sched *s)
{
    bool grown = false;
    for (uint32_t i = 0; i < s->live->out_count; i++) {
        struct prt_buffer *buffer = s->live->outs[i].buffer;
        uint64_t room = UINT64_MAX, end = UINT64_MAX;
        if (buffer->port->thread != NULL && !buffer->core->gone)
            room = prt_port_thread_room(buffer);
        if (room != UINT64_MAX)
            end = buffer->fifo->written_packets + buffer->fifo->claimed_packets + room;
        grown |= end > buffer->core->room_end_packets;
        buffer->core->room_end_packets = end;
    }
    return grown;
}

enum prt_status prt_live_take_arrived(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    (void)update_rooms(s);
    for (uint32_t i = 0; i < s->live->in_count && status == PRT_OK; i++) {
        struct live_in *in = &s->live->ins[i];
        if (in->buffer->fifo->closed) continue;
        status = s->live->real_time
                     ? take_or_ask(s, in, error)
                     : prt_arrival_take(s, in->buffer, s->live->latency_cycles, error);
    }
    return status;
}

/* ---- waiting ---- */

/* Marks the in-ports whose packets stages lack.  Returns the first one without a thread, or else the first one;
 * NULL: there is none. */
static struct prt_buffer *mark_wanted_ports(struct prt_sched *s)
{
    struct prt_buffer *first = NULL;
    for (uint32_t i = 0; i < s->live->in_count; i++) {
        struct live_in *in = &s->live->ins[i];
        in->wanted = is_port_wanted(s, in->buffer);
        if (in->wanted &&
            (first == NULL || (in->buffer->port->thread == NULL && first->port->thread != NULL)))
            first = in->buffer;
    }
    return first;
}

/* Notes the room of the out-ports.  Returns the first one with less room than its depth: a stage may wait for its sink.
 * NULL: there is none. */
static struct prt_buffer *mark_rooms(struct prt_sched *s)
{
    struct prt_buffer *first = NULL;
    for (uint32_t i = 0; i < s->live->out_count; i++) {
        struct live_out *out = &s->live->outs[i];
        const struct prt_port *port = out->buffer->port;
        out->room = UINT64_MAX;
        if (port->thread != NULL && !out->buffer->core->gone)
            out->room = prt_port_thread_room(out->buffer);
        /* equivalent: no stage waits for more room than the depth */
        if (out->room < out->buffer->fifo->depth_packets && first == NULL) first = out->buffer;
    }
    return first;
}

/* The time at which the scheduler must go on: AT_ONCE, the time until which packets rest, or INT64_MAX. */
static int64_t find_wake_time(struct prt_sched *s)
{
    const struct prt_live *live = s->live;
    int64_t first = INT64_MAX;
    for (uint32_t i = 0; i < live->out_count; i++) {
        const struct live_out *out = &live->outs[i];
        /* equivalent: as above */
        if (out->room < out->buffer->fifo->depth_packets &&
            prt_port_thread_room(out->buffer) > out->room)
            return AT_ONCE;
    }
    for (uint32_t i = 0; i < live->in_count && first != AT_ONCE; i++) {
        struct live_in *in = &live->ins[i];
        int64_t time = in->wanted ? find_arrival(live, in) : INT64_MAX;
        if (time < first) first = time;
    }
    return first;
}

/* ---- waiting in simulated time ---- */

/* *first: the port of these packets; NULL: no stage lacks packets for which there is room. */
static uint64_t find_arrival_of(struct prt_sched *s, struct prt_buffer **first)
{
    uint64_t next = UINT64_MAX;
    *first = NULL;
    for (uint32_t i = 0; i < s->live->in_count; i++) {
        struct prt_buffer *buffer = s->live->ins[i].buffer;
        uint64_t lacking = count_lacking(s, buffer), cycle;
        if (lacking == 0) continue;
        cycle = prt_arrival_next_cycle(s, buffer, lacking, s->live->latency_cycles);
        if (cycle < next) *first = buffer;
        if (cycle < next) next = cycle;
    }
    return next;
}

uint64_t prt_live_find_arrival(struct prt_sched *s)
{
    struct prt_buffer *first;
    return s->live->real_time ? UINT64_MAX : find_arrival_of(s, &first);
}

enum prt_status prt_live_wait(struct prt_sched *s, bool *on, struct prt_error *error)
{
    *on = false;
    if (!s->live->real_time) {
        struct prt_buffer *first;
        uint64_t cycle = find_arrival_of(s, &first);
        *on = first != NULL;
        return *on ? prt_arrival_wait(s, first, cycle, error) : PRT_OK;
    }
    if (update_rooms(s)) {
        *on = true; /* stages were refused because they lacked room; since then there is room */
        return PRT_OK;
    }
    struct prt_buffer *wanted = mark_wanted_ports(s), *full = mark_rooms(s);
    *on = wanted != NULL || full != NULL;
    if (!*on) return PRT_OK;
    if (s->profile != NULL)
        prt_profile_look(s, 0); /* stages wait for packets or room from now on */
    s->live->asked = s->core->instructions;
    if (wanted != NULL && wanted->port->thread == NULL) return prt_inport_ask(s, wanted, error);
    if (wanted != NULL && find_wake_time(s) != AT_ONCE) {
        s->suspensions++;
        wanted->port->suspensions++;
        if (s->profile != NULL) prt_profile_suspended(s, wanted);
    }
    enum prt_doing before = prt_run_state_set(s, wanted != NULL ? PRT_DOING_READ : PRT_DOING_WRITE,
                                              wanted != NULL ? wanted : full);
    prt_port_threads_await(s, find_wake_time);
    (void)prt_run_state_set(s, before, NULL);
    return PRT_OK;
}
