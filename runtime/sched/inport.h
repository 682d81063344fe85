/* SPDX-License-Identifier: MIT */
/*
 * inport: reads the streams of in-ports from the host; the scheduler is suspended if it has to ask.
 *
 * An in-port is *filled* when an instruction wants packets that it does not hold: until it is full or its stream has
 * ended.  So the end of a stream is seen at the same packet, however the host cuts the stream into pieces.  The
 * packets come from two places, in this order:
 *
 *     ahead       packets that the host gave before they were wanted.  They lie in the free room of the buffer.  One
 *                 more packet lies beside the buffer: it shows whether the stream goes on when the buffer is full.
 *                 Readers do not see these packets before the in-port is filled
 *     the host    is asked now, and the scheduler is *suspended* until the in-port is full or closed.  That counts as
 *                 one suspension
 *
 * A port is *at hand* if its source never waits: a file, not a pipe.  The host gives packets ahead before the first
 * instruction, to ports at hand and to ports that stages would ask for at once.  After each filling of a port at hand
 * it gives one packet more.  Readers do not see packets ahead, so neither results nor cycles depend on them.
 *
 * Requires: sched_create's tables.  Thread-safety: the scheduler's thread.  Allocation: only prt_inport_at_hand.
 * Errors: statuses of the host's callbacks, returned after the packets before them have been read; PRT_E_USAGE: a
 *   source gives more packets than asked for.
 */
#ifndef RUNTIME_SCHED_INPORT_H
#define RUNTIME_SCHED_INPORT_H

#include "runtime/sched/sched.h"

/* Declares that the source of the in-port never waits.  PRT_E_NOMEM. */
enum prt_status prt_inport_at_hand(struct prt_buffer *buffer, struct prt_error *error);

/* Lets the host give packets ahead.  Called once, before the first instruction. */
void prt_inport_begin(struct prt_sched *sched);

/* Fills the in-port.  Requires: it is open. */
enum prt_status prt_inport_fill(struct prt_sched *sched, struct prt_buffer *buffer,
                                struct prt_error *error);

/* Reads the packets that have arrived at an eager in-port, or the end of its stream.  A source without a thread is
 * asked once.  Requires: the in-port is open and has room. */
enum prt_status prt_inport_take(struct prt_sched *sched, struct prt_buffer *buffer,
                                struct prt_error *error);

/* As prt_inport_take, but counts a suspension: the scheduler has to wait for a source without a thread.  An interrupt
 * ends the stream. */
enum prt_status prt_inport_ask(struct prt_sched *sched, struct prt_buffer *buffer,
                               struct prt_error *error);

/* Reads ahead until the free room of the in-port is full, or its stream is over; an interrupt ends it. */
void prt_inport_read_ahead(struct prt_sched *sched, struct prt_buffer *buffer);

/* Lets readers see the first `packets` of the packets ahead.  `ends`: then the stream ends, or its error is returned.
 * Requires of `ends`: the stream is over, and these are all packets ahead. */
enum prt_status prt_inport_take_ahead(struct prt_sched *sched, struct prt_buffer *buffer,
                                      uint64_t packets, bool ends, struct prt_error *error);

/* Called when no stage can go on: fills the ports at hand that stages still read, as far as they have room.  One of
 * these streams may have ended without another packet.  So whether a run ends or stalls depends on the streams and the
 * depths, and not on the moment of the last filling. */
enum prt_status prt_inport_end(struct prt_sched *sched, struct prt_error *error);

/* Maximum number of leftover packets of an in-port that is reported. */
uint64_t prt_inport_countable(const struct prt_buffer *buffer);

/* After the run: the number of packets of an open in-port that are not in its buffer.  *ended: there are no more.
 * Of a port at hand the rest is read and counted, until there is one more than `most`. */
uint64_t prt_inport_rest(struct prt_sched *sched, struct prt_buffer *buffer, uint64_t most,
                         bool *ended);

#endif
