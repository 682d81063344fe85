/* SPDX-License-Identifier: MIT */
/*
 * arrival_port: in-ports of a simulated device whose packets arrive while the run goes on (arrivals.h).
 *
 * The host's packets are read ahead into the free room of the buffer (inport.h), which takes no simulated time.  Readers
 * see a packet in the cycle of its arrival or later:
 *
 *     a full port     is filled when an instruction wants its packets.  The clock advances to the arrival of the packet
 *                     that fills it, or of the end of its stream
 *     an eager port   shows the packets that have arrived to each selection and guard (live_port.h).  `wait` advances
 *                     the clock to the arrival of the packets that a stage lacks
 *
 * Packets rest from their arrival until the scheduler takes them.  Nothing here depends on the time of the host.
 *
 * Units: cycles of the device's clock.
 * Requires: sched_create's tables; a device with `wait_until`.
 * Thread-safety: the scheduler's thread.  Allocation: only prt_arrival_port_create.
 * Errors: statuses of the host's callbacks; PRT_E_FORMAT: a stream has more packets than its list names; PRT_E_USAGE: a
 *   packet arrives after PRT_ARRIVAL_CYCLES_MAX; PRT_E_NOMEM.
 */
#ifndef RUNTIME_SCHED_ARRIVAL_PORT_H
#define RUNTIME_SCHED_ARRIVAL_PORT_H

#include "runtime/sched/arrivals.h"
#include "runtime/sched/sched.h"

struct prt_arrival_port {
    struct prt_arrivals arrivals;
    uint64_t waited_cycles; /* the scheduler waited for its packets, and did nothing else */
    uint64_t rest_cycles;   /* sum over its packets; only in runs that are measured */
    uint64_t rest_most_cycles;
};

/* The packets of the in-port arrive as `*arrivals` says.  Takes over what it owns, also on failure. */
enum prt_status prt_arrival_port_create(struct prt_buffer *buffer, struct prt_arrivals *arrivals,
                                        struct prt_error *error);
void prt_arrival_port_destroy(struct prt_arrival_port *port); /* NULL is allowed */

/* ---- full ports ---- */

/* Advances the clock until the packets that fill the in-port have arrived, or the end of its stream.  They lie ahead
 * then.  Requires: it is open. */
enum prt_status prt_arrival_await_fill(struct prt_sched *sched, struct prt_buffer *buffer,
                                       struct prt_error *error);

/* Advances the clock until the end of the stream has arrived.  Requires: no packet is left. */
enum prt_status prt_arrival_await_end(struct prt_sched *sched, struct prt_buffer *buffer,
                                      struct prt_error *error);

/* ---- eager ports ---- */

/* Takes the packets that have arrived, or the end, unless they rest for at most `latency_cycles`.  Requires: the in-port
 * is open. */
enum prt_status prt_arrival_take(struct prt_sched *sched, struct prt_buffer *buffer,
                                 uint64_t latency_cycles, struct prt_error *error);

#define PRT_ARRIVAL_LATE (PRT_ARRIVAL_CYCLES_MAX + 1)

/* The cycle in which prt_arrival_take finds `lacking` packets, or the end.  PRT_ARRIVAL_LATE: that cycle is not modelled.
 * UINT64_MAX: there is no room for these packets. */
uint64_t prt_arrival_next_cycle(struct prt_sched *sched, struct prt_buffer *buffer,
                                uint64_t lacking, uint64_t latency_cycles);

/* The scheduler waits for packets of the in-port, with nothing in flight: advances the clock to that cycle. */
enum prt_status prt_arrival_wait(struct prt_sched *sched, struct prt_buffer *buffer, uint64_t cycle,
                                 struct prt_error *error);

#endif
