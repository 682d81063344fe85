/* SPDX-License-Identifier: MIT */
#include "runtime/sched/inport.h"

#include "runtime/sched/arrival_port.h"
#include "runtime/sched/stage_profile.h"
#include "runtime/sched/port_thread.h"
#include "core/ready.h"
#include "core/ends.h"
#include "core/select.h"
#include "runtime/sched/run_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum prt_status prt_inport_at_hand(struct prt_buffer *buffer, struct prt_error *error)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    if (ahead->extra == NULL) ahead->extra = calloc(1, (size_t)buffer->fifo->width_bytes);
    return ahead->extra != NULL ? PRT_OK : prt_error_set(error, PRT_E_NOMEM, "out of memory");
}

static enum prt_status refuse_count(const struct prt_sched *s, const struct prt_buffer *buffer,
                                    struct prt_error *error)
{
    return prt_error_set(error, PRT_E_USAGE,
                         "the source of '%s' gave more packets than were asked for",
                         prt_container_text(s->container, buffer->record->name));
}

/* Asks the host once for up to `room` packets.  PRT_OK with 0 packets: the stream has ended. */
static enum prt_status ask_host(struct prt_sched *s, struct prt_buffer *buffer, void *window,
                                size_t room, size_t *count, struct prt_error *error)
{
    const struct prt_port *port = buffer->port;
    enum prt_status status = PRT_OK;
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_READ, buffer);
    *count = 0;
    if (port->thread != NULL)
        status = prt_port_thread_take(buffer, window, room, count, error);
    else
        status = port->source(port->context, window, room, count, error);
    (void)prt_run_state_set(s, before, NULL);
    if (status != PRT_OK) *count = 0;
    if (*count <= room) return status;
    *count = 0;
    return refuse_count(s, buffer, error);
}

/* Is it too late to ask the host for packets?  Not for a port with a thread: the thread ends by itself, and the packets
 * that it has read are processed. */
static bool is_interrupted(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    return buffer->port->thread == NULL && core_is_interrupted(s->core);
}

/* ---- ahead ---- */

/* Reads up to `room` packets to `window`, until the stream is over.  Returns their number.  A port that reads memory or has
 * a thread may have `window` NULL: then the packets are not copied. */
static size_t read_ahead(struct prt_sched *s, struct prt_buffer *buffer, void *window, size_t room)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    char *to = window;
    size_t brought = 0;
    while (brought < room && !ahead->over && !is_interrupted(s, buffer)) {
        size_t count;
        void *place = to == NULL ? NULL : to + brought * (size_t)buffer->fifo->width_bytes;
        ahead->status = ask_host(s, buffer, place, room - brought, &count, &ahead->error);
        ahead->over = count == 0;
        brought += count;
    }
    return brought;
}

static void read_ahead_extra(struct prt_sched *s, struct prt_buffer *buffer)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    if (ahead->extra == NULL || ahead->has_extra || ahead->over) return;
    ahead->has_extra = read_ahead(s, buffer, ahead->extra, 1) == 1;
}

static void fill_ahead(struct prt_sched *s, struct prt_buffer *buffer)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    struct core_fifo *fifo = buffer->fifo;
    if (ahead->packets > 0 || ahead->has_extra || ahead->over) return;
    assert(!fifo->closed);
    size_t room = (size_t)core_fifo_room(fifo);
    ahead->packets = read_ahead(s, buffer, prt_ring_claim(&buffer->ring, fifo, room), room);
    core_fifo_commit(fifo, 0); /* the packets stay in the free room: nothing else writes there */
    if (ahead->packets == room) read_ahead_extra(s, buffer);
}

/* Will the stage ask for its next input, too? */
static bool will_ask_next(const struct prt_sched *s, const struct core_stage *stage,
                          const struct core_input *input)
{
    const struct prt_ahead *ahead = &prt_input_buffer(s, input)->port->ahead;
    return core_ready_input_with(s->core, stage, input, ahead->packets, ahead->over) > 0;
}

/* Reads ahead the packets that the stage asks for if it is the first one to be selected. */
static void read_ahead_for_stage(struct prt_sched *s, struct core_stage *stage)
{
    if (!core_wants(s->core, stage)) return;
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(s->core, stage, i);
        if (!core_ready_is_filled(s->core, input)) continue;
        fill_ahead(s, prt_input_buffer(s, input));
        if (!will_ask_next(s, stage, input)) return;
    }
}

/* In the order in which the loop of a program asks for them. */
void prt_inport_begin(struct prt_sched *s)
{
    for (uint32_t i = 0; i < s->container->set_count; i++) {
        const struct prt_stage_set *set = &s->container->sets[i];
        for (uint32_t k = 0; k < set->count; k++)
            read_ahead_for_stage(s, &s->stages[set->stages[k]]);
    }
    for (uint32_t i = 0; i < s->container->input_count; i++) {
        struct prt_buffer *buffer = prt_input_buffer(s, &s->inputs[i]);
        if (buffer->port != NULL && buffer->port->ahead.extra != NULL) fill_ahead(s, buffer);
    }
}

/* ---- filling ---- */

static void end_stream(struct prt_sched *s, struct prt_buffer *buffer, bool interrupted)
{
    s->core->interrupt_seen |= interrupted;
    core_close(s->core, buffer->core);
}

/* The host has given no packets: ends the stream, or returns its error. */
static enum prt_status end_by_status(struct prt_sched *s, struct prt_buffer *buffer,
                                     enum prt_status status)
{
    if (status == PRT_OK || status == PRT_E_INTERRUPTED) {
        end_stream(s, buffer, status == PRT_E_INTERRUPTED);
        return PRT_OK;
    }
    return status;
}

static void commit_ahead(struct prt_buffer *buffer, uint64_t packets)
{
    (void)prt_ring_claim(&buffer->ring, buffer->fifo, packets);
    core_fifo_commit(buffer->fifo, packets);
    buffer->port->packets += packets;
    buffer->port->ahead.packets -= packets;
}

/* Commits the packets ahead.  If the buffer is full then, the end of the stream or an error stays pending: a host that
 * is asked on demand would not have reported it yet either. */
static enum prt_status take_ahead(struct prt_sched *s, struct prt_buffer *buffer,
                                  struct prt_error *error)
{
    struct prt_port *port = buffer->port;
    struct prt_ahead *ahead = &port->ahead;
    struct core_fifo *fifo = buffer->fifo;
    if (ahead->packets > 0) commit_ahead(buffer, ahead->packets);
    if (ahead->has_extra && core_fifo_room(fifo) > 0) {
        void *place = prt_ring_claim(&buffer->ring, fifo, 1);
        if (!prt_ring_is_placed(&buffer->ring))
            memcpy(place, ahead->extra, (size_t)fifo->width_bytes);
        core_fifo_commit(fifo, 1);
        port->packets++;
        ahead->has_extra = false;
    }
    if (!ahead->over || core_fifo_room(fifo) == 0) return PRT_OK;
    if (ahead->status != PRT_OK) *error = ahead->error;
    return end_by_status(s, buffer, ahead->status);
}

/* Calls the source until the in-port is full.  The loop does little between two calls, because a source may give one
 * packet at a time.  The in-port closes at the end of its stream, and when the run is interrupted. */
static enum prt_status take_from_host(struct prt_sched *s, struct prt_buffer *buffer,
                                      struct prt_error *error)
{
    struct core_fifo *fifo = buffer->fifo;
    const struct prt_port *port = buffer->port;
    size_t left = (size_t)core_fifo_room(fifo), room = left, count = 0;
    const size_t width = (size_t)fifo->width_bytes;
    uint8_t *window = prt_ring_claim(&buffer->ring, fifo, room);
    enum prt_status status = PRT_OK;
    bool answered = true; /* the source gave packets, and no more than asked for */
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_READ, buffer);
    while (left > 0 && !core_is_interrupted(s->core)) { /* equivalent: asked in either order */
        count = 0;
        status = port->source(port->context, window, left, &count, error);
        answered = status == PRT_OK && count > 0 && count <= left;
        if (__builtin_expect(!answered, 0)) break;
        core_fifo_commit_more(fifo, count);
        left -= count;
        window += count * width;
    }
    (void)prt_run_state_set(s, before, NULL);
    core_fifo_commit_all(fifo, room - left);
    buffer->port->packets += room - left;
    if (answered && left > 0) end_stream(s, buffer, true);
    if (answered) return PRT_OK;
    if (status == PRT_OK && count > 0) return refuse_count(s, buffer, error);
    return end_by_status(s, buffer, status);
}

/* Reads once: packets that the port's thread has read, or packets of the source.  The in-port closes at the end of its
 * stream. */
static enum prt_status take_once(struct prt_sched *s, struct prt_buffer *buffer,
                                 struct prt_error *error)
{
    struct core_fifo *fifo = buffer->fifo;
    size_t room = (size_t)core_fifo_room(fifo), count;
    enum prt_status status =
        ask_host(s, buffer, prt_ring_claim(&buffer->ring, fifo, room), room, &count, error);
    core_fifo_commit(fifo, count);
    buffer->port->packets += count;
    return count == 0 ? end_by_status(s, buffer, status) : status;
}

/* Counts a suspension, and reads until the in-port is full or closed. */
static enum prt_status fill_suspended(struct prt_sched *s, struct prt_buffer *buffer,
                                      struct prt_error *error)
{
    const struct prt_port *port = buffer->port;
    enum prt_status status = PRT_OK;
    s->suspensions++;
    buffer->port->suspensions++;
    if (s->profile != NULL) prt_profile_suspended(s, buffer);
    if (port->thread == NULL) return take_from_host(s, buffer, error);
    while (status == PRT_OK && !buffer->fifo->closed && core_fifo_room(buffer->fifo) > 0)
        status = take_once(s, buffer, error);
    return status;
}

enum prt_status prt_inport_fill(struct prt_sched *s, struct prt_buffer *buffer,
                                struct prt_error *error)
{
    const struct core_fifo *fifo = buffer->fifo;
    enum prt_status status = PRT_OK;
    if (buffer->port->arrival != NULL) status = prt_arrival_await_fill(s, buffer, error);
    if (status == PRT_OK) status = take_ahead(s, buffer, error);
    bool wants = status == PRT_OK && !fifo->closed && core_fifo_room(fifo) > 0;
    if (wants && is_interrupted(s, buffer))
        end_stream(s, buffer, true);
    else if (wants)
        status = fill_suspended(s, buffer, error);
    if (status == PRT_OK && !fifo->closed) read_ahead_extra(s, buffer);
    core_readers_changed(s->core, buffer->core);
    return status;
}

/* ---- arrivals (arrival_port.h) ---- */

/* The extra packet, if there is one, comes first. */
void prt_inport_read_ahead(struct prt_sched *s, struct prt_buffer *buffer)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    struct core_fifo *fifo = buffer->fifo;
    size_t room = (size_t)core_fifo_room(fifo), width = (size_t)fifo->width_bytes;
    if (ahead->packets == room) return;
    uint8_t *window = prt_ring_claim(&buffer->ring, fifo, room);
    if (ahead->has_extra) {
        if (!prt_ring_is_placed(&buffer->ring))
            memcpy(window + ahead->packets * width, ahead->extra, width);
        ahead->packets++;
        ahead->has_extra = false;
    }
    ahead->packets +=
        read_ahead(s, buffer, window + ahead->packets * width, room - (size_t)ahead->packets);
    core_fifo_commit(fifo, 0);
    if (ahead->packets == room || ahead->over) return;
    ahead->over = true; /* equivalent to a source that reports the interrupt */
    ahead->status = PRT_E_INTERRUPTED;
}

enum prt_status prt_inport_take_ahead(struct prt_sched *s, struct prt_buffer *buffer,
                                      uint64_t packets, bool ends, struct prt_error *error)
{
    const struct prt_ahead *ahead = &buffer->port->ahead;
    enum prt_status status = PRT_OK;
    commit_ahead(buffer, packets);
    assert(!ends || (ahead->over && ahead->packets == 0));
    if (ends && ahead->status != PRT_OK) *error = ahead->error;
    if (ends) status = end_by_status(s, buffer, ahead->status);
    core_readers_changed(s->core, buffer->core);
    return status;
}

/* ---- eager ports ---- */

enum prt_status prt_inport_take(struct prt_sched *s, struct prt_buffer *buffer,
                                struct prt_error *error)
{
    enum prt_status status = take_once(s, buffer, error);
    core_readers_changed(s->core, buffer->core);
    return status;
}

enum prt_status prt_inport_ask(struct prt_sched *s, struct prt_buffer *buffer,
                               struct prt_error *error)
{
    s->suspensions++;
    buffer->port->suspensions++;
    if (s->profile != NULL) prt_profile_suspended(s, buffer);
    if (!is_interrupted(s, buffer)) return prt_inport_take(s, buffer, error);
    end_stream(s, buffer, true);
    core_readers_changed(s->core, buffer->core);
    return PRT_OK;
}

/* ---- at the end ---- */

/* Fills the port as far as it has room, and reads one packet more. */
static enum prt_status fill_at_end(struct prt_sched *s, struct prt_buffer *buffer,
                                   struct prt_error *error)
{
    const struct prt_ahead *ahead = &buffer->port->ahead;
    enum prt_status status = PRT_OK;
    if (buffer->port->arrival != NULL) status = prt_arrival_await_fill(s, buffer, error);
    if (status == PRT_OK)
        status = take_ahead(s, buffer, error); /* packets read before come first */
    if (status != PRT_OK) return status;
    fill_ahead(s, buffer);
    status = take_ahead(s, buffer, error);
    if (status != PRT_OK) return status;
    if (!buffer->fifo->closed) read_ahead_extra(s, buffer);
    assert(ahead->packets == 0 && (!ahead->over || !ahead->has_extra));
    if (!buffer->fifo->closed && ahead->over && ahead->status == PRT_OK) {
        if (buffer->port->arrival != NULL) status = prt_arrival_await_end(s, buffer, error);
        end_stream(s, buffer, false); /* the full buffer holds all that the stream still has */
    }
    core_readers_changed(s->core, buffer->core);
    return status;
}

enum prt_status prt_inport_end(struct prt_sched *s, struct prt_error *error)
{
    for (uint32_t i = 0; i < s->container->input_count; i++) {
        const struct core_input *input = &s->inputs[i];
        struct prt_buffer *buffer = prt_input_buffer(s, input);
        if (!core_ready_is_filled(s->core, input) || buffer->port->ahead.extra == NULL) continue;
        if (!core_fifo_reader(buffer->fifo, input->reader)->attached) continue;
        enum prt_status status = fill_at_end(s, buffer, error);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* ---- after the run ---- */

enum { REST_PACKETS_MAX = 1 << 20, REST_BYTES_MAX = 1 << 26 };

uint64_t prt_inport_countable(const struct prt_buffer *buffer)
{
    uint64_t packets = REST_BYTES_MAX / buffer->fifo->width_bytes;
    if (packets > REST_PACKETS_MAX) return REST_PACKETS_MAX;
    return packets > 0 ? packets : 1;
}

/* Reads packets only to count them.  They are written to the free room of the buffer or to the extra packet's place.
 * Packets in the host's memory or in a thread's ring are not copied. */
static void read_rest(struct prt_sched *s, struct prt_buffer *buffer)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    size_t room = (size_t)core_fifo_room(buffer->fifo);
    void *place = room > 0 ? prt_ring_claim(&buffer->ring, buffer->fifo, room) : ahead->extra;
    if (prt_ring_is_placed(&buffer->ring) || buffer->port->thread != NULL) place = NULL;
    size_t brought = read_ahead(s, buffer, place, room > 0 ? room : 1);
    if (room > 0) core_fifo_commit(buffer->fifo, 0);
    ahead->rest_packets += brought;
}

uint64_t prt_inport_rest(struct prt_sched *s, struct prt_buffer *buffer, uint64_t most, bool *ended)
{
    struct prt_ahead *ahead = &buffer->port->ahead;
    uint64_t first = ahead->packets + ahead->has_extra;
    while (ahead->extra != NULL && !ahead->over && !core_is_interrupted(s->core) &&
           first + ahead->rest_packets <= most)
        read_rest(s, buffer);
    *ended = ahead->over && ahead->status == PRT_OK;
    return first + ahead->rest_packets;
}
