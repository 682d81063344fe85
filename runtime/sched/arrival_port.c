/* SPDX-License-Identifier: MIT */
#include "runtime/sched/arrival_port.h"

#include "core/time/timing.h"
#include "runtime/sched/inport.h"
#include "core/launch.h"
#include "core/select.h"
#include "runtime/sched/stage_profile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum prt_status prt_arrival_port_create(struct prt_buffer *buffer, struct prt_arrivals *arrivals,
                                        struct prt_error *error)
{
    struct prt_arrival_port *made = calloc(1, sizeof *made);
    if (made == NULL) {
        prt_arrivals_free(arrivals);
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    }
    made->arrivals = *arrivals;
    prt_arrival_port_destroy(buffer->port->arrival);
    buffer->port->arrival = made;
    return PRT_OK;
}

void prt_arrival_port_destroy(struct prt_arrival_port *port)
{
    if (port != NULL) prt_arrivals_free(&port->arrivals);
    free(port);
}

static const char *port_name(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    return prt_container_text(s->container, buffer->record->name);
}

static enum prt_status refuse_past_list(const struct prt_sched *s, const struct prt_buffer *buffer,
                                        struct prt_error *error)
{
    return prt_error_set(error, PRT_E_FORMAT,
                         "port '%s': the stream has more packets than its list of arrivals names",
                         port_name(s, buffer));
}

/* ---- time ---- */

/* The clock of the device, with the instructions that it has not been given yet. */
static uint64_t present_cycle(const struct prt_sched *s)
{
    return core_cycles_add(s->ops->now_cycles(s->device),
                           s->core->instruction_cycles - s->core->passed_cycles);
}

/* A stage that reads a full port lacks its packets meanwhile. */
enum prt_status prt_arrival_wait(struct prt_sched *s, struct prt_buffer *buffer, uint64_t cycle,
                                 struct prt_error *error)
{
    uint64_t now = present_cycle(s);
    if (cycle > PRT_ARRIVAL_CYCLES_MAX)
        return prt_error_set(error, PRT_E_USAGE,
                             "port '%s': a packet from number %" PRIu64
                             " on arrives in cycle 2^63 or later, which is not modelled",
                             port_name(s, buffer), buffer->port->packets);
    if (cycle <= now) return PRT_OK;
    core_pass_time(s->core);
    buffer->core->awaited = true;
    core_readers_changed(s->core, buffer->core);
    if (s->profile != NULL) prt_profile_arrival(s, buffer, cycle);
    s->ops->advance(s->device, cycle - now);
    buffer->core->awaited = false;
    core_readers_changed(s->core, buffer->core);
    buffer->port->arrival->waited_cycles += cycle - now;
    s->suspensions++;
    buffer->port->suspensions++;
    return PRT_OK;
}

/* Adds the time for which the next packets have rested, now that they are taken. */
static void count_rest(const struct prt_sched *s, const struct prt_port *port, uint64_t packets)
{
    struct prt_arrival_port *arrival = port->arrival;
    if (s->profile == NULL || packets == 0) return;
    uint64_t now = s->ops->now_cycles(s->device);
    uint64_t longest = now - prt_arrivals_cycle(&arrival->arrivals, port->packets);
    if (longest > arrival->rest_most_cycles) arrival->rest_most_cycles = longest;
    for (uint64_t i = 0; i < packets; i++) {
        uint64_t rest = now - prt_arrivals_cycle(&arrival->arrivals, port->packets + i);
        arrival->rest_cycles = core_cycles_add(arrival->rest_cycles, rest);
    }
}

/* ---- full ports ---- */

enum prt_status prt_arrival_await_fill(struct prt_sched *s, struct prt_buffer *buffer,
                                       struct prt_error *error)
{
    struct prt_port *port = buffer->port;
    const struct prt_arrivals *arrivals = &port->arrival->arrivals;
    uint64_t room = core_fifo_room(buffer->fifo);
    if (room == 0) return PRT_OK;
    prt_inport_read_ahead(s, buffer);
    uint64_t packets = port->ahead.packets;
    bool fills = packets == room;
    assert(fills || port->ahead.over);
    if (packets > 0 && prt_arrivals_is_past_list(arrivals, port->packets + packets - 1))
        return refuse_past_list(s, buffer, error);
    uint64_t cycle = prt_arrivals_cycle(arrivals, port->packets + packets - fills);
    enum prt_status status = prt_arrival_wait(s, buffer, cycle, error);
    if (status != PRT_OK) return status;
    core_pass_time(s->core);
    count_rest(s, port, packets);
    return PRT_OK;
}

enum prt_status prt_arrival_await_end(struct prt_sched *s, struct prt_buffer *buffer,
                                      struct prt_error *error)
{
    const struct prt_port *port = buffer->port;
    uint64_t cycle = prt_arrivals_cycle(&port->arrival->arrivals, port->packets);
    return prt_arrival_wait(s, buffer, cycle, error);
}

/* ---- eager ports ---- */

/* Reads ahead so many packets, or as many as there is room for. */
static void read_ahead_for(struct prt_sched *s, struct prt_buffer *buffer, uint64_t packets)
{
    const struct prt_ahead *ahead = &buffer->port->ahead;
    if (ahead->packets < packets && !ahead->over) prt_inport_read_ahead(s, buffer);
}

enum prt_status prt_arrival_take(struct prt_sched *s, struct prt_buffer *buffer,
                                 uint64_t latency_cycles, struct prt_error *error)
{
    struct prt_port *port = buffer->port;
    const struct prt_arrivals *arrivals = &port->arrival->arrivals;
    uint64_t now = present_cycle(s), room = core_fifo_room(buffer->fifo);
    uint64_t arrived = prt_arrivals_by(arrivals, now) - port->packets;
    if (arrived == 0 || room == 0) return PRT_OK;
    uint64_t wanted = arrived < room ? arrived : room; /* equivalent: of two equals either */
    read_ahead_for(s, buffer, wanted);
    uint64_t packets = wanted < port->ahead.packets ? wanted : port->ahead.packets;
    bool ends = packets < wanted;
    if (!ends && packets < room &&
        now - prt_arrivals_cycle(arrivals, port->packets) < latency_cycles)
        return PRT_OK;
    core_pass_time(s->core);
    if (packets > 0 && prt_arrivals_is_past_list(arrivals, port->packets + packets - 1))
        return refuse_past_list(s, buffer, error);
    count_rest(s, port, packets);
    return prt_inport_take_ahead(s, buffer, packets, ends, error);
}

uint64_t prt_arrival_next_cycle(struct prt_sched *s, struct prt_buffer *buffer, uint64_t lacking,
                                uint64_t latency_cycles)
{
    const struct prt_port *port = buffer->port;
    const struct prt_arrivals *arrivals = &port->arrival->arrivals;
    const struct prt_ahead *ahead = &port->ahead;
    uint64_t room = core_fifo_room(buffer->fifo), first = port->packets;
    assert(lacking > 0);
    read_ahead_for(s, buffer, latency_cycles > 0 || lacking > room ? room : lacking);
    bool comes = ahead->packets >= lacking;
    if (!comes && !ahead->over) return UINT64_MAX;
    uint64_t cycle = prt_arrivals_cycle(arrivals, first + (comes ? lacking - 1 : ahead->packets));
    uint64_t taken = core_cycles_add(prt_arrivals_cycle(arrivals, first), latency_cycles);
    if (ahead->packets == room || ahead->over) {
        uint64_t last = first + ahead->packets - (ahead->packets == room);
        uint64_t rests_until = prt_arrivals_cycle(arrivals, last);
        if (rests_until < taken) taken = rests_until;
    }
    if (taken > cycle) cycle = taken; /* equivalent: of two equals either */
    return cycle > PRT_ARRIVAL_CYCLES_MAX ? PRT_ARRIVAL_LATE : cycle;
}
