/* SPDX-License-Identifier: MIT */
/*
 * packets: from launches to dispatch packets (lang/dispatch.md).
 *
 * Each queue has at most one *open* packet: launches that have been dispatched and are still being
 * collected.  The scheduler keeps a copy of the device's reference table, for what it has stored is
 * what is there: packets are processed in order of enqueuing.
 *
 *     full        every launch is a full packet
 *     reference   every launch is a reference packet, which stores it in its stage's entry
 *     condensed   a stage without an entry, one whose entry the program does not load, and a
 *                 spilled one while all entries are empty: a full packet.  Else, if its entry
 *                 does not hold it yet, or its grid has been another one than the entry's twice: a
 *                 reference packet; else it joins the open packet of its queue
 *
 * Without any packet where the device takes launches so, and the caller has not named a form.
 *
 * An open packet is enqueued when a launch is the last of its pack, when the next launch of its queue
 * does not fit or is another packet, before an entry that it refers to is stored anew, by `fence`,
 * and by whoever waits when nothing of its queue is in flight.  (While something is, it could not begin: to wait costs
 * nothing, and it may grow.  J. Nagle, "Congestion control in IP/TCP internetworks", RFC 896, has
 * the idea.)  So launches of one queue are enqueued in the order in which they were dispatched, and
 * whoever waits waits for something in flight.
 *
 * Requires: sched_create's tables; queues bound.  Threads: the scheduler's.  Allocation: none here.
 * Errors: those of the device's enqueue, but that a full queue is waited for.
 */
#ifndef RUNTIME_SCHED_PACKETS_H
#define RUNTIME_SCHED_PACKETS_H

#include "runtime/sched/sched.h"

/* A launch of so many firings of the stage, or its finish.  `ended` not NULL: *ended says that the
 * device has executed it already and delivers it in completions[0], instead of when it is waited
 * for. */
enum prt_status prt_packets_launch(struct prt_sched *s, uint32_t index, bool finish,
                                   uint64_t firings, bool *ended, struct prt_error *error);

/* Enqueues the open packet of the stage's queue if the stage is the last of its pack: once the launch
 * has been accounted for. */
enum prt_status prt_packets_end_pack(struct prt_sched *s, uint32_t index, struct prt_error *error);

/* A launch of the queue has completed. */
static inline void prt_packets_completed(struct prt_sched *s, uint32_t queue)
{
    s->open_packets[queue].in_flight--;
}

/* Enqueues what is open on queues with nothing in flight. */
enum prt_status prt_packets_flush_idle(struct prt_sched *s, struct prt_error *error);
/* Enqueues what is open. */
enum prt_status prt_packets_flush(struct prt_sched *s, struct prt_error *error);

/* The run has failed: launches in open packets never happen. */
void prt_packets_drop(struct prt_sched *s);

#endif
