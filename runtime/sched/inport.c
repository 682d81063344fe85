/* SPDX-License-Identifier: MIT */
#include "runtime/sched/inport.h"

#include "runtime/sched/stage_profile.h"
#include "runtime/sched/port_thread.h"
#include "runtime/sched/ready.h"
#include "runtime/sched/select.h"
#include "runtime/sched/run_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum prt_status prt_inport_at_hand(struct prt_buffer *buffer, struct prt_error *error)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    if (ahead->extra == NULL) ahead->extra = calloc(1, (size_t)buffer->fifo.width_bytes);
    return ahead->extra != NULL ? PRT_OK : prt_error_set(error, PRT_E_NOMEM, "out of memory");
}

static enum prt_status refuse_count(const struct prt_sched *s, const struct prt_buffer *buffer,
                                    struct prt_error *error)
{
    return prt_error_set(error, PRT_E_USAGE,
                         "the source of '%s' gave more packets than were asked for",
                         prt_container_text(s->container, buffer->record->name));
}

/* Asks the host once for up to `room` packets; 0 of them: the stream has ended. */
static enum prt_status ask_host(struct prt_sched *s, struct prt_buffer *buffer, void *window,
                                size_t room, size_t *count, struct prt_error *error)
{
    const struct prt_port *port = buffer->port;
    enum prt_status status = PRT_OK;
    enum prt_doing before = prt_standing_set(s, PRT_DOING_READ, buffer);
    *count = 0;
    if (port->thread != NULL)
        status = prt_port_thread_take(buffer, window, room, count, error);
    else
        status = port->source(port->context, window, room, count, error);
    (void)prt_standing_set(s, before, NULL);
    if (status != PRT_OK) *count = 0;
    if (*count <= room) return status;
    *count = 0;
    return refuse_count(s, buffer, error);
}

/* The host is not asked any more.  A thread ends by itself: what it has read is processed. */
static bool is_interrupted(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    return buffer->port->thread == NULL && prt_select_interrupted(s);
}

/* ---- ahead ---- */

/* Up to `room` packets to `window`; what is behind them may be known then.  `window` NULL, of a port
 * that reads memory or has a thread: nowhere. */
static size_t bring(struct prt_sched *s, struct prt_buffer *buffer, void *window, size_t room)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    char *to = window;
    size_t brought = 0;
    while (brought < room && !ahead->over && !is_interrupted(s, buffer)) {
        size_t count;
        void *place = to == NULL ? NULL : to + brought * (size_t)buffer->fifo.width_bytes;
        ahead->status = ask_host(s, buffer, place, room - brought, &count, &ahead->error);
        ahead->over = count == 0;
        brought += count;
    }
    return brought;
}

static void bring_extra(struct prt_sched *s, struct prt_buffer *buffer)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    if (ahead->extra == NULL || ahead->has_extra || ahead->over) return;
    ahead->has_extra = bring(s, buffer, ahead->extra, 1) == 1;
}

static void bring_ahead(struct prt_sched *s, struct prt_buffer *buffer)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    struct prt_fifo *fifo = &buffer->fifo;
    if (ahead->packets > 0 || ahead->has_extra || ahead->over) return;
    assert(!fifo->closed);
    size_t room = (size_t)prt_fifo_room(fifo);
    ahead->packets = bring(s, buffer, prt_fifo_claim(fifo, room), room);
    prt_fifo_commit(fifo, 0); /* nobody else writes there */
    if (ahead->packets == room) bring_extra(s, buffer);
}

/* Whether the stage will ask for its next input, too. */
static bool goes_on(const struct prt_stage *stage, const struct prt_stage_input *input)
{
    const struct prt_ahead *ahead = &input->buffer->port->ahead;
    return prt_ready_input_with(stage, input, ahead->packets, ahead->over) > 0;
}

/* What a stage asks for that is the first one to be looked at. */
static void bring_to_stage(struct prt_sched *s, struct prt_stage *stage)
{
    if (!prt_select_wants(s, stage)) return;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        if (!prt_ready_is_filled(input)) continue;
        bring_ahead(s, input->buffer);
        if (!goes_on(stage, input)) return;
    }
}

/* In the order in which the loop of a program asks them. */
void prt_inport_begin(struct prt_sched *s)
{
    for (uint32_t i = 0; i < s->container->set_count; i++) {
        const struct prt_stage_set *set = &s->container->sets[i];
        for (uint32_t k = 0; k < set->count; k++)
            bring_to_stage(s, &s->stages[set->stages[k]]);
    }
    for (uint32_t i = 0; i < s->container->input_count; i++) {
        struct prt_buffer *buffer = s->inputs[i].buffer;
        if (buffer->port != NULL && buffer->port->ahead.extra != NULL) bring_ahead(s, buffer);
    }
}

/* ---- filling ---- */

static void end_stream(struct prt_sched *s, struct prt_buffer *buffer, bool interrupted)
{
    s->interrupt_seen |= interrupted;
    prt_select_close(s, buffer);
}

/* What the host has said instead of giving packets. */
static enum prt_status hear(struct prt_sched *s, struct prt_buffer *buffer, enum prt_status status)
{
    if (status == PRT_OK || status == PRT_E_INTERRUPTED) {
        end_stream(s, buffer, status == PRT_E_INTERRUPTED);
        return PRT_OK;
    }
    return status;
}

/* What comes behind a full buffer is heard when it is wanted, as it is of a host that is asked then.
 */
static enum prt_status take_ahead(struct prt_sched *s, struct prt_buffer *buffer,
                                  struct prt_error *error)
{
    struct prt_port *port = buffer->port;
    struct prt_ahead *ahead = &port->ahead;
    struct prt_fifo *fifo = &buffer->fifo;
    if (ahead->packets > 0) {
        (void)prt_fifo_claim(fifo, ahead->packets);
        prt_fifo_commit(fifo, ahead->packets);
        port->packets += ahead->packets;
        ahead->packets = 0;
    }
    if (ahead->has_extra && prt_fifo_room(fifo) > 0) {
        void *place = prt_fifo_claim(fifo, 1);
        if (!prt_fifo_is_placed(fifo)) memcpy(place, ahead->extra, (size_t)fifo->width_bytes);
        prt_fifo_commit(fifo, 1);
        port->packets++;
        ahead->has_extra = false;
    }
    if (!ahead->over || prt_fifo_room(fifo) == 0) return PRT_OK;
    if (ahead->status != PRT_OK) *error = ahead->error;
    return hear(s, buffer, ahead->status);
}

/* The host's callback, again and again until the in-port is full: nothing else stands between two
 * calls, for a host that gives a packet at a time.  The in-port closes at the end of its stream, and
 * when the run is interrupted. */
static enum prt_status take_from_host(struct prt_sched *s, struct prt_buffer *buffer,
                                      struct prt_error *error)
{
    struct prt_fifo *fifo = &buffer->fifo;
    const struct prt_port *port = buffer->port;
    size_t left = (size_t)prt_fifo_room(fifo), room = left, count = 0;
    const size_t width = (size_t)fifo->width_bytes;
    uint8_t *window = prt_fifo_claim(fifo, room);
    enum prt_status status = PRT_OK;
    bool answered = true; /* with packets, and no more than were asked for */
    enum prt_doing before = prt_standing_set(s, PRT_DOING_READ, buffer);
    while (left > 0 && !prt_select_interrupted(s)) {
        count = 0;
        status = port->source(port->context, window, left, &count, error);
        answered = status == PRT_OK && count > 0 && count <= left;
        if (__builtin_expect(!answered, 0)) break;
        prt_fifo_commit_more(fifo, count);
        left -= count;
        window += count * width;
    }
    (void)prt_standing_set(s, before, NULL);
    prt_fifo_commit_all(fifo, room - left);
    buffer->port->packets += room - left;
    if (answered && left > 0) end_stream(s, buffer, true);
    if (answered) return PRT_OK;
    if (status == PRT_OK && count > 0) return refuse_count(s, buffer, error);
    return hear(s, buffer, status);
}

/* Once: what a port's thread has brought, or the callback gives.  The in-port closes at the end of its stream. */
static enum prt_status take_once(struct prt_sched *s, struct prt_buffer *buffer,
                                 struct prt_error *error)
{
    struct prt_fifo *fifo = &buffer->fifo;
    size_t room = (size_t)prt_fifo_room(fifo), count;
    enum prt_status status = ask_host(s, buffer, prt_fifo_claim(fifo, room), room, &count, error);
    prt_fifo_commit(fifo, count);
    buffer->port->packets += count;
    return count == 0 ? hear(s, buffer, status) : status;
}

/* Until the in-port is full or closed. */
static enum prt_status suspend(struct prt_sched *s, struct prt_buffer *buffer,
                               struct prt_error *error)
{
    const struct prt_port *port = buffer->port;
    enum prt_status status = PRT_OK;
    s->suspensions++;
    buffer->port->suspensions++;
    if (s->collect != NULL) prt_collect_suspended(s, buffer);
    if (port->thread == NULL) return take_from_host(s, buffer, error);
    while (status == PRT_OK && !buffer->fifo.closed && prt_fifo_room(&buffer->fifo) > 0)
        status = take_once(s, buffer, error);
    return status;
}

enum prt_status prt_inport_fill(struct prt_sched *s, struct prt_buffer *buffer,
                                struct prt_error *error)
{
    const struct prt_fifo *fifo = &buffer->fifo;
    enum prt_status status = take_ahead(s, buffer, error);
    bool wants = status == PRT_OK && !fifo->closed && prt_fifo_room(fifo) > 0;
    if (wants && is_interrupted(s, buffer))
        end_stream(s, buffer, true);
    else if (wants)
        status = suspend(s, buffer, error);
    if (status == PRT_OK && !fifo->closed) bring_extra(s, buffer);
    prt_select_readers_changed(s, buffer);
    return status;
}

/* ---- eager ports ---- */

enum prt_status prt_inport_take(struct prt_sched *s, struct prt_buffer *buffer,
                                struct prt_error *error)
{
    enum prt_status status = take_once(s, buffer, error);
    prt_select_readers_changed(s, buffer);
    return status;
}

enum prt_status prt_inport_ask(struct prt_sched *s, struct prt_buffer *buffer,
                               struct prt_error *error)
{
    s->suspensions++;
    buffer->port->suspensions++;
    if (s->collect != NULL) prt_collect_suspended(s, buffer);
    if (!is_interrupted(s, buffer)) return prt_inport_take(s, buffer, error);
    end_stream(s, buffer, true);
    prt_select_readers_changed(s, buffer);
    return PRT_OK;
}

/* ---- at the end ---- */

/* It holds all that its stream still has. */
static bool is_whole(const struct prt_buffer *buffer)
{
    const struct prt_ahead *ahead = &buffer->port->ahead;
    assert(!ahead->over || !ahead->has_extra);
    return ahead->over && ahead->status == PRT_OK && ahead->packets == 0;
}

enum prt_status prt_inport_end(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < s->container->input_count && status == PRT_OK; i++) {
        const struct prt_stage_input *input = &s->inputs[i];
        struct prt_buffer *buffer = input->buffer;
        if (!prt_ready_is_open(input) || buffer->port->ahead.extra == NULL) continue;
        if (!buffer->fifo.readers[input->reader].attached) continue;
        status = take_ahead(s, buffer, error); /* what has been brought comes first */
        if (status != PRT_OK) break;
        bring_ahead(s, buffer);
        status = take_ahead(s, buffer, error);
        if (status == PRT_OK && !buffer->fifo.closed) bring_extra(s, buffer);
        if (status == PRT_OK && !buffer->fifo.closed && is_whole(buffer))
            end_stream(s, buffer, false);
        prt_select_readers_changed(s, buffer);
    }
    return status;
}

/* ---- after the run ---- */

enum { REST_PACKETS_MAX = 1 << 20, REST_BYTES_MAX = 1 << 26 };

uint64_t prt_inport_countable(const struct prt_buffer *buffer)
{
    uint64_t packets = REST_BYTES_MAX / buffer->fifo.width_bytes;
    if (packets > REST_PACKETS_MAX) return REST_PACKETS_MAX;
    return packets > 0 ? packets : 1; /* uncovered: no test has packets of more than 64 MiB */
}

/* The packets are dropped: the room behind what the buffer holds, or its extra place, takes them;
 * from the host's memory, and from a thread's ring, nobody does. */
static void read_rest(struct prt_sched *s, struct prt_buffer *buffer)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    size_t room = (size_t)prt_fifo_room(&buffer->fifo);
    void *place = room > 0 ? prt_fifo_claim(&buffer->fifo, room) : ahead->extra;
    if (prt_fifo_is_placed(&buffer->fifo) || buffer->port->thread != NULL) place = NULL;
    size_t brought = bring(s, buffer, place, room > 0 ? room : 1);
    if (room > 0) prt_fifo_commit(&buffer->fifo, 0);
    ahead->rest_packets += brought;
}

uint64_t prt_inport_rest(struct prt_sched *s, struct prt_buffer *buffer, bool *ended)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    uint64_t first = ahead->packets + ahead->has_extra;
    while (ahead->extra != NULL && !ahead->over && !prt_select_interrupted(s) &&
           first + ahead->rest_packets <= prt_inport_countable(buffer))
        read_rest(s, buffer);
    *ended = ahead->over && ahead->status == PRT_OK;
    return first + ahead->rest_packets;
}
