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
 * If the device takes launches without packets and the caller has not set a form, there are no packets.
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
 * Requires: bound queues.  Thread-safety: the scheduler's thread.  Allocation: none.
 * Errors: CORE_BAD_DEVICE.  If a queue is full, the scheduler waits for completions, so failures of core_reap, too.
 *   Functions that return bool return false then.
 */
#ifndef CORE_PACKETS_H
#define CORE_PACKETS_H

#include "core/environment.h"

/* Launches `batch` firings of the stage, or its finish. */
bool core_packets_launch(struct core *c, uint32_t index, bool finish);

/* Enqueues the open packet of the stage's queue if the stage is the last of its pack.  Called when the launch has
 * been accounted for.  Requires: a packet is open. */
bool core_packets_end_pack(struct core *c, uint32_t index);

/* Enqueues the open packets of queues with nothing in flight. */
bool core_packets_flush_idle(struct core *c);
/* Enqueues all open packets. */
bool core_packets_flush(struct core *c);

/* The run has failed: launches in open packets are dropped. */
void core_packets_drop(struct core *c);

#endif
