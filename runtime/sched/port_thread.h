/* SPDX-License-Identifier: MIT */
/*
 * port_thread: a thread that calls the host for one port.  So neither the scheduler nor the host waits while the other
 * one works.
 *
 *     in-port    the thread reads packets from the source before they are wanted.  They lie in the ring of the port's
 *                fifo, after those that the scheduler has taken
 *     out-port   the thread gives the sink the packets that the scheduler has passed on.  They stay in the ring until
 *                the sink has read them
 *
 * The ring is larger than the depth for that; nothing is copied.  The depth still holds: the scheduler sees packets
 * when it takes them, and has room when it has passed them on, as if it called the host itself.  So results, cycles,
 * suspensions and leftover packets are the same.  Only the source may be asked for more packets than the run needs.
 *
 *                  freed        taken          moved              allowed
 *     in-port  ......|============|==============|##################|.....    # free for the source
 *
 *                              moved         allowed (passed on)
 *     out-port ..................|==============|.................            = for the sink
 *
 * Positions are those of the fifo, in packets.  Only the thread changes `moved`, only the scheduler changes `allowed`.
 * Each side sleeps until the position of the other one is where it needs it.
 *
 * An error of the host is reported after the packets before it, and before later errors of the run
 * (prt_port_threads_end).
 *
 * Requires: sched_create's tables.
 * Ownership: the port owns its thread; prt_sched_destroy frees it.
 * Thread-safety: all functions belong to the scheduler's thread.
 * Allocation: prt_port_thread_create and prt_bell_create.  Starting makes threads.  If the system cannot make one, the
 *   scheduler calls the host itself.
 */
#ifndef RUNTIME_SCHED_PORT_THREAD_H
#define RUNTIME_SCHED_PORT_THREAD_H

#include "runtime/sched/sched.h"

/* Gives outer buffer `number` a thread, which starts when the run begins.  `wake` may be NULL (prt_run_give_thread).
 * PRT_E_NOMEM. */
enum prt_status prt_port_thread_create(struct prt_sched *sched, uint32_t number,
                                       void (*wake)(void *context), void *context,
                                       struct prt_error *error);
void prt_port_thread_destroy(struct prt_port_thread *thread); /* NULL is allowed */

/* Starts the threads of all ports that have one, a callback, and a fifo in its ring.  Called before any packet is in a
 * fifo.  Runs that go one firing at a time start none. */
void prt_port_threads_start(struct prt_sched *sched);

/* ---- in-ports ---- */

/* As a source: waits for a packet and takes up to `room`.  They are in the ring already.  If `window` is another place,
 * they are copied there; if it is NULL, they are not. */
enum prt_status prt_port_thread_take(struct prt_buffer *buffer, void *window, size_t room,
                                     size_t *count, struct prt_error *error);

/* ---- out-ports ---- */

/* Passes on all committed packets.  Returns the status of the sink for packets before them. */
enum prt_status prt_port_thread_pass(struct prt_buffer *buffer, struct prt_error *error);

/* Waits until a claim of so many packets overwrites no packet that the sink has not read. */
void prt_port_thread_reserve(struct prt_sched *sched, const struct prt_buffer *buffer,
                             uint64_t packets);

/* ---- eager ports (live_port.h) ---- */

/* Packets that the thread of an in-port has read and the scheduler has not taken.  *ended: no more will arrive. */
uint64_t prt_port_thread_arrived(const struct prt_buffer *buffer, bool *ended);

/* Packets that can be claimed for an out-port, in addition to those that are, without a wait for its sink. */
uint64_t prt_port_thread_room(const struct prt_buffer *buffer);

/* The bell of a run.  While the scheduler waits for any port, each thread that has moved rings it.  NULL: no memory. */
struct prt_bell *prt_bell_create(void);
void prt_bell_destroy(struct prt_bell *bell); /* NULL is allowed */

/* Waits until `find_time`, which looks at the ports of the run, returns INT64_MIN.  Otherwise `find_time` returns the
 * time, in nanoseconds of CLOCK_MONOTONIC, at which it must be called again, or INT64_MAX.  It is also called each time
 * a thread has moved.  Meanwhile no thread gathers packets for its sink. */
void prt_port_threads_await(struct prt_sched *sched, int64_t (*find_time)(struct prt_sched *sched));

/* The time of CLOCK_MONOTONIC. */
int64_t prt_port_now_nanoseconds(void);

/* ---- the end ---- */

/* Waits until the sinks have read all packets or failed, and ends the threads.  `status` is that of the run.  A
 * failure of a sink replaces it; so does PRT_E_CLOSED_PIPE if no sink wants more packets. */
enum prt_status prt_port_threads_end(struct prt_sched *sched, enum prt_status status,
                                     struct prt_error *error);

#endif
