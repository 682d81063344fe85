/* SPDX-License-Identifier: MIT */
#include "runtime/sched/live_port.h"

#include "runtime/sched/inport.h"
#include "runtime/sched/port_thread.h"
#include "runtime/sched/ready.h"
#include "runtime/sched/run_state.h"
#include "runtime/sched/select.h"

#include <stdlib.h>

/* If sources keep the scheduler busy, a callback without a thread is asked after so many instructions. */
enum { ASK_INSTRUCTIONS = 1024 };

struct live_in {
    struct prt_buffer *buffer;
    bool wanted;   /* a stage lacks its packets */
    int64_t since; /* packets rest there since that time; REST_NONE: none do */
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
    uint64_t asked;   /* instructions when a source without a thread was asked last */
    int64_t latency;
};

#define REST_NONE INT64_MIN
#define AT_ONCE INT64_MIN

/* ---- the beginning ---- */

static bool is_live_run(const struct prt_sched *s)
{
    struct prt_device_info info;
    s->ops->info(s->device, &info);
    return info.real_time && s->step == NULL &&
           !(s->container->pipeline->flags & CONTAINER_PIPELINE_COUNTEREXAMPLE);
}

/* Memory never keeps a run waiting. */
static bool is_asked(const struct prt_buffer *buffer)
{
    return buffer->port != NULL && buffer->port->asked_eager && !prt_fifo_is_placed(&buffer->fifo);
}

static void add_port(struct prt_live *live, struct prt_buffer *buffer)
{
    struct prt_port *port = buffer->port;
    bool in = buffer->record->outer == CONTAINER_OUTER_IN;
    if (is_asked(buffer)) {
        port->eager = true;
        free(port->ahead.extra); /* it is not asked ahead */
        port->ahead.extra = NULL;
        live->ins[live->in_count++] = (struct live_in){.buffer = buffer, .since = REST_NONE};
    } else if (!in && port->given_thread != NULL) {
        live->outs[live->out_count++] = (struct live_out){.buffer = buffer};
    }
}

/* Each threshold becomes 1.  A stage that writes to a slow sink is not selected, so it stops no other stage. */
static void prepare_stages(struct prt_sched *s)
{
    for (uint32_t i = 0; i < s->live->out_count; i++)
        s->live->outs[i].buffer->port->eager = true;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        struct prt_stage *stage = &s->stages[i];
        stage->threshold = 1;
        s->live->has_sources |= !stage->fed;
        for (uint32_t k = 0; k < stage->node->output_count; k++) {
            const struct prt_port *port = stage->outputs[k].buffer->port;
            stage->writes_live |= port != NULL && port->eager;
        }
    }
}

enum prt_status prt_live_begin(struct prt_sched *s, struct prt_error *error)
{
    uint32_t buffers = s->container->buffer_count;
    bool any = false;
    for (uint32_t i = 0; i < buffers; i++)
        any |= is_asked(&s->buffers[i]);
    if (!any || !is_live_run(s)) return PRT_OK;
    s->live = calloc(1, sizeof *s->live);
    s->bell = prt_bell_create();
    if (s->live != NULL) {
        s->live->ins = calloc(buffers, sizeof *s->live->ins);
        s->live->outs = calloc(buffers, sizeof *s->live->outs);
    }
    if (s->live == NULL || s->bell == NULL || s->live->ins == NULL || s->live->outs == NULL)
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    s->live->latency =
        s->latency_nanoseconds < INT64_MAX / 4 ? (int64_t)s->latency_nanoseconds : INT64_MAX / 4;
    for (uint32_t i = 0; i < buffers; i++)
        if (s->buffers[i].port != NULL) add_port(s->live, &s->buffers[i]);
    prepare_stages(s);
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

/* When there are packets to take, or the end: AT_ONCE, the time until which packets rest, or INT64_MAX,
 * if nothing has arrived.  Packets that fill the port, or before an end, rest no longer. */
static int64_t find_arrival(const struct prt_live *live, struct live_in *in)
{
    bool ended;
    uint64_t room = prt_fifo_room(&in->buffer->fifo);
    uint64_t arrived = prt_port_thread_arrived(in->buffer, &ended);
    if (room == 0 || (arrived == 0 && !ended)) return INT64_MAX;
    if (live->latency == 0 || ended || arrived >= room) return AT_ONCE;
    int64_t now = prt_port_now_nanoseconds();
    if (in->since == REST_NONE) in->since = now;
    return now - in->since >= live->latency ? AT_ONCE : in->since + live->latency;
}

/* Does a stage lack packets of the in-port for its next firing? */
static bool is_wanted(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    const struct container_buffer *record = buffer->record;
    if (buffer->fifo.closed || prt_fifo_room(&buffer->fifo) == 0) return false;
    for (uint32_t i = 0; i < record->reader_count; i++) {
        const struct container_reader *reader = &s->container->readers[record->first_reader + i];
        const struct prt_stage *stage = &s->stages[s->node_stage[reader->node]];
        const struct prt_stage_input *input = &s->inputs[reader->input];
        if (stage->life == PRT_STAGE_RUNNING && !stage->stopped && !stage->in_flight &&
            prt_ready_input(stage, input, false, 1) == 0)
            return true;
    }
    return false;
}

static enum prt_status take_or_ask(struct prt_sched *s, struct live_in *in, struct prt_error *error)
{
    struct prt_live *live = s->live;
    if (in->buffer->port->thread != NULL) {
        if (find_arrival(live, in) != AT_ONCE) return PRT_OK;
        in->since = REST_NONE;
        return prt_inport_take(s, in->buffer, error);
    }
    if (!live->has_sources || s->instructions - live->asked < ASK_INSTRUCTIONS) return PRT_OK;
    live->asked = s->instructions;
    return is_wanted(s, in->buffer) ? prt_inport_ask(s, in->buffer, error) : PRT_OK;
}

enum prt_status prt_live_take_arrived(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < s->live->in_count && status == PRT_OK; i++) {
        struct live_in *in = &s->live->ins[i];
        if (!in->buffer->fifo.closed) status = take_or_ask(s, in, error);
    }
    return status;
}

/* ---- waiting ---- */

/* Marks the in-ports whose packets stages lack.  Returns the first one without a thread, or else the first one;
 * NULL: there is none. */
static struct prt_buffer *mark_wanted(struct prt_sched *s)
{
    struct prt_buffer *first = NULL;
    for (uint32_t i = 0; i < s->live->in_count; i++) {
        struct live_in *in = &s->live->ins[i];
        in->wanted = is_wanted(s, in->buffer);
        if (in->wanted &&
            (first == NULL || (in->buffer->port->thread == NULL && first->port->thread != NULL)))
            first = in->buffer;
    }
    return first;
}

/* Notes the room of the out-ports.  Returns the first that has less room than its depth, so that a stage may wait
 * for its sink; NULL: there is none. */
static struct prt_buffer *mark_rooms(struct prt_sched *s)
{
    struct prt_buffer *first = NULL;
    for (uint32_t i = 0; i < s->live->out_count; i++) {
        struct live_out *out = &s->live->outs[i];
        const struct prt_port *port = out->buffer->port;
        out->room = UINT64_MAX;
        if (port->thread != NULL && !port->gone) out->room = prt_port_thread_room(out->buffer);
        if (out->room < out->buffer->fifo.depth_packets && first == NULL) first = out->buffer;
    }
    return first;
}

/* When the scheduler is to go on: AT_ONCE, or when packets have rested for long enough, or INT64_MAX. */
static int64_t find_time(struct prt_sched *s)
{
    const struct prt_live *live = s->live;
    int64_t first = INT64_MAX;
    for (uint32_t i = 0; i < live->out_count; i++) {
        const struct live_out *out = &live->outs[i];
        if (out->room < out->buffer->fifo.depth_packets &&
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

enum prt_status prt_live_wait(struct prt_sched *s, bool *on, struct prt_error *error)
{
    *on = false;
    if (s->live == NULL) return PRT_OK;
    struct prt_buffer *wanted = mark_wanted(s), *full = mark_rooms(s);
    *on = wanted != NULL || full != NULL;
    if (!*on) return PRT_OK;
    if (s->collect != NULL)
        prt_collect_look(s, 0); /* stages wait for packets or room from now on */
    s->live->asked = s->instructions;
    if (wanted != NULL && wanted->port->thread == NULL) return prt_inport_ask(s, wanted, error);
    if (wanted != NULL && find_time(s) != AT_ONCE) {
        s->suspensions++;
        wanted->port->suspensions++;
        if (s->collect != NULL) prt_collect_suspended(s, wanted);
    }
    enum prt_doing before = prt_standing_set(s, wanted != NULL ? PRT_DOING_READ : PRT_DOING_WRITE,
                                             wanted != NULL ? wanted : full);
    prt_port_threads_await(s, find_time);
    (void)prt_standing_set(s, before, NULL);
    return PRT_OK;
}
