/* SPDX-License-Identifier: MIT */
/*
 * live_port: eager in-ports, for streams that arrive while the run goes on.
 *
 * A *full* in-port is filled before a stage is dispatched (inport.h).  Of an *eager* one,
 * only packets that have arrived count:
 *
 *     a selection, a guard   takes the packets that have arrived, without a wait
 *     a wait                 if no stage can go on: waits until any eager in-port that a stage lacks
 *                            packets of has some, or ends; or until a sink has made room
 *
 * So no stage waits for packets that another stage does not need, and no port waits for another one.
 * In a run with an eager port all thresholds are 1: every stage that can fire fires.  The output is that of
 * full ports, because a node's firings depend on its packets only, not on batches.
 *
 * An in-port with a thread (port_thread.h) is read while stages execute.  Without one, its source is
 * asked once, where the scheduler would wait.  A source may then block until it has a packet: all
 * firings before have been completed, and the sinks have their packets.
 *
 * In-ports are eager in real time only, and not in runs that go step by step or that replay.
 *
 * Requires: sched_create's tables.  Threads: the scheduler's.
 * Allocation: only prt_live_begin.  Errors: what the host's callbacks return.
 */
#ifndef RUNTIME_SCHED_LIVE_PORT_H
#define RUNTIME_SCHED_LIVE_PORT_H

#include "runtime/sched/sched.h"

/* Decides which ports are eager.  Before threads of ports start.  PRT_E_NOMEM. */
enum prt_status prt_live_begin(struct prt_sched *sched, struct prt_error *error);
void prt_live_destroy(struct prt_live *live); /* NULL is allowed */

enum prt_status prt_live_take_arrived(struct prt_sched *sched, struct prt_error *error);

/* Takes the packets that have arrived at the eager in-ports. */
static inline enum prt_status prt_live_take(struct prt_sched *sched, struct prt_error *error)
{
    return sched->live == NULL ? PRT_OK : prt_live_take_arrived(sched, error);
}

/* No stage can go on: waits for eager ports.  *on: something may have come; otherwise nothing can come. */
enum prt_status prt_live_wait(struct prt_sched *sched, bool *on, struct prt_error *error);

#endif
