/* SPDX-License-Identifier: MIT */
/*
 * live_port: eager in-ports, for streams that arrive while the run goes on.
 *
 * A *full* in-port is filled before a stage is dispatched (inport.h).  Of an *eager* one,
 * only packets that have arrived count:
 *
 *     a selection, a guard   reads the packets that have arrived, without a wait
 *     a wait                 if no stage can go on: waits until packets, or the end, arrive at any eager in-port whose
 *                            packets a stage lacks, or until a sink makes room
 *
 * So no stage waits for packets that only another stage needs, and no port waits for another one.  In a run with an
 * eager port all thresholds are 1, and every out-port with a thread is eager too: its room is what its sink has made.
 * The output is that of full ports, because the firings of a node depend only on its packets, not on batches.
 *
 * An in-port with a thread (port_thread.h) is read while stages execute.  Without one, its source is asked once when
 * the scheduler would wait.  The source may then block until it has a packet: all firings before have completed, and
 * the sinks have their packets.
 *
 * On a simulated device packets arrive in simulated time (arrival_port.h).  The clock advances to the arrival of the
 * packets that a stage lacks, or to the end of a launch if that is earlier.  Out-ports are as ever: a sink takes no
 * simulated time.  In-ports without arrivals are full there.
 *
 * No in-port is eager in runs that go one firing at a time or replay.
 *
 * Requires: sched_create's tables.  Thread-safety: the scheduler's thread.
 * Allocation: only prt_live_begin.  Errors: statuses of the host's callbacks.
 */
#ifndef RUNTIME_SCHED_LIVE_PORT_H
#define RUNTIME_SCHED_LIVE_PORT_H

#include "runtime/sched/sched.h"

/* Decides which ports are eager.  Called before the threads of ports start.  PRT_E_NOMEM. */
enum prt_status prt_live_begin(struct prt_sched *sched, struct prt_error *error);
void prt_live_destroy(struct prt_live *live); /* NULL is allowed */

enum prt_status prt_live_take_arrived(struct prt_sched *sched, struct prt_error *error);

/* Reads the packets that have arrived at the eager in-ports. */
static inline enum prt_status prt_live_take(struct prt_sched *sched, struct prt_error *error)
{
    return sched->live == NULL ? PRT_OK : prt_live_take_arrived(sched, error);
}

uint64_t prt_live_find_arrival(struct prt_sched *sched);

/* The cycle of a simulated device in which packets arrive that a stage lacks; UINT64_MAX: there is none, or time is
 * real. */
static inline uint64_t prt_live_next_arrival(struct prt_sched *sched)
{
    return sched->live == NULL ? UINT64_MAX : prt_live_find_arrival(sched);
}

/* Called when no stage can go on: waits for eager ports.  *on: packets, an end or room may have arrived.  Otherwise no
 * stage lacks packets of an open eager in-port, and no sink has to make room. */
enum prt_status prt_live_wait(struct prt_sched *sched, bool *on, struct prt_error *error);

#endif
