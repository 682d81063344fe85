/* SPDX-License-Identifier: MIT */
/*
 * packets: from launches to dispatch packets (lang/dispatch.md).
 *
 * Each queue has at most one *open* packet, which collects launches that have been dispatched.  The scheduler keeps
 * a copy of the device's reference table.  The copy is exact, because packets are processed in the order in which
 * they are enqueued.
 *
 * Form        A launch becomes
 *
 *     full        a full packet
 *     reference   a reference packet, which stores it in the entry of its stage
 *     condensed   - a full packet, if it is a finish, if its stage has no entry, if the program does not load that
 *                   entry, or if the stage is spilled and all entries are empty;
 *                 - else a reference packet, if the entry of its stage holds another stage's launch, or if its grid
 *                   differs from the entry's and equals that of the stage's launch before;
 *                 - else a part of the open packet of its queue
 *
 * If the device has `launch` and the caller has not set a form, launches go there without packets.
 *
 * An open packet is enqueued
 *
 *     - when a launch is the last of its pack
 *     - when the next launch of its queue does not fit, or becomes a packet of its own
 *     - before a packet stores an entry that it refers to
 *     - by `fence`, and wherever the scheduler waits until nothing is in flight
 *     - by another wait, if nothing of its queue is in flight.  Otherwise it could not begin yet: keeping it open
 *       costs nothing, and it may grow (J. Nagle, "Congestion control in IP/TCP internetworks", RFC 896)
 *
 * So launches of one queue are enqueued in the order in which they were dispatched, and every wait waits for a
 * launch in flight.
 *
 * Requires: sched_create's tables; bound queues.  Thread-safety: the scheduler's thread.  Allocation: none.
 * Errors: those of the device's enqueue.  If a queue is full, the scheduler waits for completions, so errors of
 *   prt_sched_reap, too.
 */
#ifndef RUNTIME_SCHED_PACKETS_H
#define RUNTIME_SCHED_PACKETS_H

#include "runtime/sched/sched.h"

/* Launches so many firings of the stage, or its finish.  If `ended` is not NULL, *ended says whether the device has
 * executed the launch already.  Then its completion is in completions[0], and no wait delivers it. */
enum prt_status prt_packets_launch(struct prt_sched *s, uint32_t index, bool finish,
                                   uint64_t firings, bool *ended, struct prt_error *error);

/* Enqueues the open packet of the stage's queue if the stage is the last of its pack.  Called when the launch has
 * been accounted for. */
enum prt_status prt_packets_end_pack(struct prt_sched *s, uint32_t index, struct prt_error *error);

/* A launch of the queue has completed. */
static inline void prt_packets_completed(struct prt_sched *s, uint32_t queue)
{
    s->open_packets[queue].in_flight--;
}

/* Enqueues the open packets of queues with nothing in flight. */
enum prt_status prt_packets_flush_idle(struct prt_sched *s, struct prt_error *error);
/* Enqueues all open packets. */
enum prt_status prt_packets_flush(struct prt_sched *s, struct prt_error *error);

/* The run has failed: launches in open packets are dropped. */
void prt_packets_drop(struct prt_sched *s);

#endif
