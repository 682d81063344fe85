/* SPDX-License-Identifier: MIT */
/*
 * fifo: the positions of a buffer of packets with one writer and any number of readers, each with its own position.
 *
 * Positions are absolute packet numbers.  The packets lie in a ring of memory somewhere else, which a window never
 * wraps in; an *offset* is the place in the ring where a window begins.  The *depth* is exact, whatever the size of the
 * ring.
 *
 *        held by the slowest reader            claimed
 *     |...[======|==========================][#########].......|
 *       oldest   another reader        written        written + claimed <= oldest + depth
 *
 * Requires: width and depth above 0; each function states what else it asserts.  Positions and readers may be copied
 * together to another place: they refer to each other by distance.
 * Thread-safety: only the scheduler's thread calls these functions.  Kernels on other threads touch only the bytes of
 *   their windows; the device orders the hand-over in both directions (enqueue, wait).  So nothing here is atomic.
 * Allocation: none.  Errors: none.
 */
#ifndef CORE_FIFO_H
#define CORE_FIFO_H

#include "lang/hosted_assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core_reader {
    uint64_t position_packets; /* first packet not yet released */
    uint64_t offset_bytes;     /* of that packet in the ring */
    bool attached;
    uint32_t stage; /* that reads, and its input among all; CORE_NONE: the host, of an out-port */
    uint32_t input;
};

struct core_fifo {
    uint64_t width_bytes;
    uint64_t depth_packets;
    uint64_t ring_bytes;
    uint64_t written_packets; /* committed since the start, initial ones included */
    uint64_t write_offset_bytes;
    uint64_t claimed_packets; /* room given to a firing that has not been committed */
    uint64_t oldest_packets;  /* position of the slowest attached reader; `written` without one */

    uint64_t readers_at; /* distance of the readers from here */
    uint32_t reader_count;
    uint32_t attached_count;
    uint32_t oldest_count; /* attached readers whose position is the oldest */
    bool closed;           /* no packet will be committed any more */

    uint64_t high_water_packets; /* most packets held at one time */
    /* committed with no reader left, or held by a reader that detached */
    uint64_t discarded_packets;
};

/* Every reader is attached, at packet 0.  `readers` have room for `reader_count`. */
void core_fifo_lay_out(struct core_fifo *fifo, uint64_t width_bytes, uint64_t depth_packets,
                       struct core_reader *readers, uint32_t reader_count);

static inline struct core_reader *core_fifo_reader(const struct core_fifo *fifo, uint32_t reader)
{
    return (struct core_reader *)((uintptr_t)fifo + fifo->readers_at) + reader;
}

/* A place in the ring, so many packets on.  `packets` is at most the depth, so the product fits; the sum is below three
 * rings.  Of memory that a fifo is placed in: it holds the packets, so the sum is its size at most. */
static inline uint64_t core_fifo_advance(const struct core_fifo *fifo, uint64_t offset_bytes,
                                         uint64_t packets)
{
    uint64_t offset = offset_bytes + packets * fifo->width_bytes;
    return offset < fifo->ring_bytes ? offset : offset - fifo->ring_bytes;
}

/* ---- the writer ---- */

/* Packets that can be claimed now: depth less what the slowest reader still holds and what is
 * claimed.  Without a reader nothing is held. */
static inline uint64_t core_fifo_room(const struct core_fifo *fifo)
{
    return fifo->depth_packets - (fifo->written_packets - fifo->oldest_packets) -
           fifo->claimed_packets;
}

/* Claims `packets` (at most the room; no claim is open).  Their window begins at the write offset. */
static inline void core_fifo_claim(struct core_fifo *fifo, uint64_t packets)
{
    assert(!fifo->closed && fifo->claimed_packets == 0 && packets <= core_fifo_room(fifo));
    fifo->claimed_packets = packets;
}

/* A claim may be filled bit by bit: so many more packets of its window are there.  When it ends
 * core_fifo_commit_all follows, before any other window is opened. */
static inline void core_fifo_commit_more(struct core_fifo *fifo, uint64_t packets)
{
    assert(packets <= fifo->claimed_packets);
    fifo->claimed_packets -= packets;
    fifo->written_packets += packets;
}

/* Ends the claim after the `packets` packets that it has written in all. */
static inline void core_fifo_commit_all(struct core_fifo *fifo, uint64_t packets)
{
    fifo->claimed_packets = 0;
    fifo->write_offset_bytes = core_fifo_advance(fifo, fifo->write_offset_bytes, packets);
    if (fifo->attached_count == 0) {
        fifo->discarded_packets += packets;
        fifo->oldest_packets = fifo->written_packets;
    }
    uint64_t held = fifo->written_packets - fifo->oldest_packets;
    if (held > fifo->high_water_packets) fifo->high_water_packets = held;
}

/* Ends the claim: the first `packets` of its window are there for the readers, the rest of the room
 * is given back. */
static inline void core_fifo_commit(struct core_fifo *fifo, uint64_t packets)
{
    core_fifo_commit_more(fifo, packets);
    core_fifo_commit_all(fifo, packets);
}

/* Takes back the last `packets` committed packets, because the launch that was to write them has not been executed.
 * Requires: no reader has released one of them.  Readers that were given some of them reclaim theirs before any other call. */
void core_fifo_retract(struct core_fifo *fifo, uint64_t packets);

/* No more packets.  Requires: no claim is open.  A second time it does nothing. */
void core_fifo_close(struct core_fifo *fifo);

/* ---- a reader ---- */

/* Packets that the reader has not released; 0 once it has detached. */
static inline uint64_t core_fifo_held(const struct core_fifo *fifo, uint32_t reader)
{
    const struct core_reader *r = core_fifo_reader(fifo, reader);
    return r->attached ? fifo->written_packets - r->position_packets : 0;
}

/* One of the slowest readers has moved on, or gone: of many, only the last one has the rest looked at. */
void core_fifo_leave_oldest(struct core_fifo *fifo);

/* Frees the `packets` oldest packets of a reader of the fifo (at most those held). */
static inline void core_fifo_free(struct core_fifo *fifo, struct core_reader *reader,
                                  uint64_t packets)
{
    assert(packets <= (reader->attached ? fifo->written_packets - reader->position_packets : 0));
    if (packets == 0) return;
    uint64_t before = reader->position_packets, oldest = fifo->oldest_packets;
    reader->position_packets = before + packets;
    reader->offset_bytes = core_fifo_advance(fifo, reader->offset_bytes, packets);
    if (fifo->reader_count == 1) /* equivalent: a shortcut; what two readers do the tests tell */
        fifo->oldest_packets = before + packets;
    else if (before == oldest)
        core_fifo_leave_oldest(fifo);
}

/* The same for the reader of that number. */
static inline void core_fifo_release(struct core_fifo *fifo, uint32_t reader, uint64_t packets)
{
    core_fifo_free(fifo, core_fifo_reader(fifo, reader), packets);
}

/* The reader again holds the last `packets` packets that it has released: the launch that was to read them has not been
 * executed, nor any launch that was to write to their room. */
void core_fifo_reclaim(struct core_fifo *fifo, uint32_t reader, uint64_t packets);

/* Packets it holds are discarded and counted; it holds no room from now on.  A second time it does
 * nothing. */
void core_fifo_detach(struct core_fifo *fifo, uint32_t reader);

#endif
