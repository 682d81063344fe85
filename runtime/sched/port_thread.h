/* SPDX-License-Identifier: MIT */
/*
 * port_thread: a thread that calls the host for one port, so that waiting for the host does not
 * stop the scheduler, and the scheduler does not stop the host.
 *
 *     in-port    the source is asked ahead of what is wanted: packets lie in the ring of the port's
 *                fifo, behind those that the scheduler has taken
 *     out-port   the sink is given what the scheduler has passed on: packets stay in the ring until
 *                it has taken them
 *
 * The ring is larger than the depth for that; nothing is copied.  The depth holds all the same: the
 * scheduler sees packets when it takes them and has room when it has passed them on, as if it
 * called the host itself.  So results, cycles, suspensions and what is left over are the same; only
 * what the host is asked for and never needs may be more.
 *
 *                  freed        taken          moved              allowed
 *     in-port  ......|============|==============|##################|.....    # room to bring into
 *
 *                              moved         allowed (passed on)
 *     out-port ..................|==============|.................            = to be taken
 *
 * Positions are those of the fifo, in packets.  `moved` is the thread's, `allowed` the scheduler's;
 * each sleeps until the other's has come to where it wants it.
 *
 * Errors of the host come in order: behind the packets before them, and before what the run fails
 * of later (prt_port_threads_end).
 *
 * Requires: sched_create's tables.
 * Threads: all functions are the scheduler's.
 * Allocation: prt_port_thread_create alone; starting makes a thread.  Where the system has none to
 *   give, the scheduler calls the host itself.
 */
#ifndef RUNTIME_SCHED_PORT_THREAD_H
#define RUNTIME_SCHED_PORT_THREAD_H

#include "runtime/sched/sched.h"

/* The outer buffer of that number has one when the run begins; `wake` may be NULL (pipert.h).  PRT_E_NOMEM. */
enum prt_status prt_port_thread_create(struct prt_sched *sched, uint32_t number,
                                       void (*wake)(void *context), void *context,
                                       struct prt_error *error);
void prt_port_thread_destroy(struct prt_port_thread *thread); /* NULL is allowed */

/* Of all ports that have one, and callbacks: before any packet is in a fifo.  Not of runs that are
 * watched step by step. */
void prt_port_threads_start(struct prt_sched *sched);

/* ---- in-ports ---- */

/* As a source: up to `room` packets, once there is one.  They are in the ring already; where
 * `window` is another place than theirs they are copied there, unless it is NULL. */
enum prt_status prt_port_thread_take(struct prt_buffer *buffer, void *window, size_t room,
                                     size_t *count, struct prt_error *error);

/* ---- out-ports ---- */

/* All that has been committed is passed on.  What the sink has said of packets before. */
enum prt_status prt_port_thread_pass(struct prt_buffer *buffer, struct prt_error *error);

/* Waits until a claim of so many packets overwrites nothing that the sink has not taken. */
void prt_port_thread_reserve(struct prt_sched *sched, const struct prt_buffer *buffer,
                             uint64_t packets);

/* ---- eager ports (live_port.h) ---- */

/* Packets that the thread of an in-port has brought and the scheduler has not taken.  *ended: there
 * will be no more of them. */
uint64_t prt_port_thread_arrived(const struct prt_buffer *buffer, bool *ended);

/* Packets that can be claimed for an out-port, beside those that are, without a wait for its sink. */
uint64_t prt_port_thread_room(const struct prt_buffer *buffer);

/* The bell of a run: the threads of its ports ring it when they have moved, while the scheduler waits
 * for any of them.  NULL: no memory. */
struct prt_bell *prt_bell_create(void);
void prt_bell_destroy(struct prt_bell *bell); /* NULL is allowed */

/* Waits until `find_time`, which looks at the ports of the run, returns INT64_MIN.  Otherwise it returns a time
 * of CLOCK_MONOTONIC at which it is to be asked again, or INT64_MAX.  It is asked again each time a thread has
 * moved.  Meanwhile no sink waits for more packets to come together. */
void prt_port_threads_await(struct prt_sched *sched, int64_t (*find_time)(struct prt_sched *sched));

int64_t prt_port_now_nanoseconds(void);

/* ---- the end ---- */

/* The sinks have taken all that was passed on, or have failed; the threads have ended.  `status` is
 * the run's; what a sink has said of packets that came before its end goes before it:
 * PRT_E_CLOSED_PIPE where no sink is left, and any failure. */
enum prt_status prt_port_threads_end(struct prt_sched *sched, enum prt_status status,
                                     struct prt_error *error);

#endif
