/* SPDX-License-Identifier: MIT */
/*
 * inport: what the host brings to the in-ports, and when the scheduler is suspended for it.
 *
 * An in-port is *filled* when an instruction wants packets that it does not hold: until it is full
 * or its stream has ended.  So where a stream ends is seen at the same packet, however the host cuts
 * it into pieces.  What is filled comes from two places, in this order:
 *
 *     ahead       what the host brought before it was wanted.  It lies in the buffer's free room (one
 *                 packet of it beside the buffer, which tells whether the stream goes on when the
 *                 buffer is full), and nobody sees it before the in-port is filled
 *     the host    is asked now, and the scheduler is *suspended* until it has answered: that is
 *                 counted, once a filling
 *
 * The host brings packets ahead before the first instruction, to the ports that are at hand (a file,
 * not a pipe: asking never waits) and to those that stages would ask for at once; and behind each
 * filling of a port at hand, one packet.  Since what is ahead is not seen, neither results nor
 * cycles depend on it.
 *
 * Requires: sched_create's tables.  Threads: the scheduler's.  Allocation: prt_inport_at_hand alone.
 * Errors: what the host's callbacks return, when what came before has been taken.
 */
#ifndef RUNTIME_SCHED_INPORT_H
#define RUNTIME_SCHED_INPORT_H

#include "runtime/sched/sched.h"

/* Asking the source of the in-port never waits.  PRT_E_NOMEM. */
enum prt_status prt_inport_at_hand(struct prt_buffer *buffer, struct prt_error *error);

/* Before the first instruction. */
void prt_inport_begin(struct prt_sched *sched);

/* Fills the in-port, which is open. */
enum prt_status prt_inport_fill(struct prt_sched *sched, struct prt_buffer *buffer,
                                struct prt_error *error);

/* Takes what has arrived at an eager in-port, which is open and has room: packets, or its end.  The source
 * without a thread is asked once. */
enum prt_status prt_inport_take(struct prt_sched *sched, struct prt_buffer *buffer,
                                struct prt_error *error);

/* As prt_inport_take, where the scheduler has to wait for a source without a thread: a suspension.  An
 * interrupt ends the stream. */
enum prt_status prt_inport_ask(struct prt_sched *sched, struct prt_buffer *buffer,
                               struct prt_error *error);

/* No stage can go on, unless more streams have ended than is known: fills the ports at hand that
 * stages still read, as far as they have room.  So whether a run ends or has stalled follows from
 * the streams and the depths, not from when a port was filled last. */
enum prt_status prt_inport_end(struct prt_sched *sched, struct prt_error *error);

/* How many packets of an in-port are counted at most that nobody has consumed. */
uint64_t prt_inport_countable(const struct prt_buffer *buffer);

/* After the run: packets of the in-port, which is open, that are not in the buffer; *ended: they are
 * all.  At hand they are read and counted, one more than are countable at most. */
uint64_t prt_inport_rest(struct prt_sched *sched, struct prt_buffer *buffer, bool *ended);

#endif
