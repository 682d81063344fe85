/* SPDX-License-Identifier: MIT */
/*
 * fifo: a buffer of packets with one writer and any number of readers, each with its own position.
 *
 * The memory is a ring that is mapped twice, one copy directly after the other.  So every window (claimed
 * or held packets) is contiguous: a kernel never meets the wrap.  The ring's size is rounded up to pages;
 * the *depth* is exact all the same.  Positions are absolute packet numbers; packet n begins at byte
 * (n x width) mod ring.
 *
 *        held by the slowest reader            claimed
 *     |...[======|==========================][#########].......|
 *       oldest   another reader        written        written + claimed <= oldest + depth
 *
 * A fifo of a port can be *placed* in the caller's memory instead: packet n lies at byte n x width of it,
 * and the ring is not used.  The depth still holds, so the run behaves in the same way.  If a claim would
 * reach past the memory, the fifo returns to its ring.
 *
 * Requires: width and depth above 0.
 * Ownership: the fifo owns its ring and readers.  A window is valid until its commit or release.
 * Thread-safety: only the scheduler thread calls these functions.  Kernels on other threads touch only the
 *   bytes of their windows; the device orders the hand-over in both directions (enqueue, wait).  So
 *   nothing here is atomic.
 * Allocation: at creation only.  Two mappings per fifo: the kernel's limit (vm.max_map_count, 65,530)
 *   bounds their number.
 * Errors: creation: PRT_E_NOMEM.  All other calls state their requirements, and assert them.
 */
#ifndef RUNTIME_DEVICE_FIFO_H
#define RUNTIME_DEVICE_FIFO_H

#include "base/status.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prt_fifo_reader {
    uint64_t position_packets; /* first packet not yet released */
    uint64_t offset_bytes;     /* of that packet in the ring */
    bool attached;
};

struct prt_fifo {
    uint8_t *ring;       /* or the memory in which it is placed */
    uint64_t ring_bytes; /* of one of the two mappings, or of the memory */
    uint8_t *own_ring;
    uint64_t own_ring_bytes;
    uint64_t end_packets;  /* claims past this leave the memory; for a ring UINT64_MAX */
    uint64_t from_packets; /* the first one that `ring` has held */
    uint64_t width_bytes;
    uint64_t depth_packets;

    uint64_t written_packets; /* committed since the start, initial ones included */
    uint64_t write_offset_bytes;
    uint64_t claimed_packets; /* room given to a firing that has not been committed */
    uint64_t oldest_packets;  /* position of the slowest attached reader; `written` without one */
    bool closed;              /* no packet will be committed any more */

    struct prt_fifo_reader *readers;
    uint32_t reader_count;
    uint32_t attached_count;
    uint32_t oldest_count; /* attached readers whose position is the oldest */

    uint64_t high_water_packets; /* most packets held at one time */
    /* committed with no reader left, or held by a reader that detached */
    uint64_t discarded_packets;
};

/* Every reader is attached, at packet 0.  An outer out-port has one reader: the host. */
enum prt_status prt_fifo_create(struct prt_fifo *fifo, uint64_t width_bytes, uint64_t depth_packets,
                                uint32_t reader_count, struct prt_error *error);

/* The ring becomes one that has room for so many packets at least; the depth stays.  Requires:
 * nothing has been written.  PRT_E_NOMEM: nothing has changed. */
enum prt_status prt_fifo_enlarge(struct prt_fifo *fifo, uint64_t packets, struct prt_error *error);

/* A zeroed fifo is allowed. */
void prt_fifo_destroy(struct prt_fifo *fifo);

/* Places the fifo in `memory` from the first packet on: `bytes` (above 0) in size, aligned as
 * prt_fifo_alignment says.  The memory outlives the fifo.  Claims up to `end_packets` fit in it, or
 * are not written past it (UINT64_MAX: the claimer ensures that).  Requires: nothing has been
 * written. */
void prt_fifo_place(struct prt_fifo *fifo, void *memory, uint64_t bytes, uint64_t end_packets);

/* Back to the ring; what is in the memory stays there.  Requires: no packet is held, no claim is
 * open.  Where it is in its ring nothing happens. */
void prt_fifo_leave(struct prt_fifo *fifo);

static inline bool prt_fifo_is_placed(const struct prt_fifo *fifo)
{
    return fifo->ring != fifo->own_ring;
}

/* Of each packet in a ring, and what the caller's memory must have: what kernels may count on. */
static inline uint64_t prt_fifo_alignment(const struct prt_fifo *fifo)
{
    enum { ALIGNMENT_MAX = 64 };
    uint64_t power = fifo->width_bytes & (~fifo->width_bytes + 1);
    return power < ALIGNMENT_MAX ? power : ALIGNMENT_MAX;
}

/* A place in the ring, so many packets on.  `packets` is at most the depth, so the product fits; the sum is below three
 * rings.  Of memory that a fifo is placed in: it holds the packets, so the sum is its size at most. */
static inline uint64_t prt_fifo_advance(const struct prt_fifo *fifo, uint64_t offset_bytes,
                                        uint64_t packets)
{
    uint64_t offset = offset_bytes + packets * fifo->width_bytes;
    return offset < fifo->ring_bytes ? offset : offset - fifo->ring_bytes;
}

/* ---- the writer ---- */

/* Packets that can be claimed now: depth less what the slowest reader still holds and what is
 * claimed.  Without a reader nothing is held. */
static inline uint64_t prt_fifo_room(const struct prt_fifo *fifo)
{
    return fifo->depth_packets - (fifo->written_packets - fifo->oldest_packets) -
           fifo->claimed_packets;
}

/* Claims `packets` (at most the room; no claim is open) and returns the window for them. */
static inline void *prt_fifo_claim(struct prt_fifo *fifo, uint64_t packets)
{
    assert(!fifo->closed && fifo->claimed_packets == 0 && packets <= prt_fifo_room(fifo));
    if (packets > fifo->end_packets - fifo->written_packets) prt_fifo_leave(fifo);
    fifo->claimed_packets = packets;
    return fifo->ring + fifo->write_offset_bytes;
}

/* A claim may be filled bit by bit: so many more packets of its window are there.  When it ends
 * prt_fifo_commit_all follows, before any other window is opened. */
static inline void prt_fifo_commit_more(struct prt_fifo *fifo, uint64_t packets)
{
    assert(packets <= fifo->claimed_packets);
    fifo->claimed_packets -= packets;
    fifo->written_packets += packets;
}

/* Ends the claim after the `packets` packets that it has written in all. */
static inline void prt_fifo_commit_all(struct prt_fifo *fifo, uint64_t packets)
{
    fifo->claimed_packets = 0;
    fifo->write_offset_bytes = prt_fifo_advance(fifo, fifo->write_offset_bytes, packets);
    if (fifo->attached_count == 0) {
        fifo->discarded_packets += packets;
        fifo->oldest_packets = fifo->written_packets;
    }
    uint64_t held = fifo->written_packets - fifo->oldest_packets;
    if (held > fifo->high_water_packets) fifo->high_water_packets = held;
}

/* Ends the claim: the first `packets` of its window are there for the readers, the rest of the room
 * is given back. */
static inline void prt_fifo_commit(struct prt_fifo *fifo, uint64_t packets)
{
    prt_fifo_commit_more(fifo, packets);
    prt_fifo_commit_all(fifo, packets);
}

/* Takes back the last `packets` packets that were committed, before any reader has released one of them: what was to
 * write them has not been executed.  Readers that were given some of them reclaim theirs before anything else is asked. */
void prt_fifo_retract(struct prt_fifo *fifo, uint64_t packets);

/* No more packets.  Requires: no claim is open.  A second time it does nothing. */
void prt_fifo_close(struct prt_fifo *fifo);

/* Commits `packets` copies of the pattern (`pattern_bytes` of whole packets), again and again.
 * Requires: room. */
void prt_fifo_fill(struct prt_fifo *fifo, const void *pattern, uint64_t pattern_bytes,
                   uint64_t packets);

/* ---- a reader ---- */

/* Packets that the reader has not released; 0 once it has detached. */
static inline uint64_t prt_fifo_held(const struct prt_fifo *fifo, uint32_t reader)
{
    const struct prt_fifo_reader *r = &fifo->readers[reader];
    return r->attached ? fifo->written_packets - r->position_packets : 0;
}

/* The packets the reader holds, oldest first. */
static inline const void *prt_fifo_window(const struct prt_fifo *fifo, uint32_t reader)
{
    return fifo->ring + fifo->readers[reader].offset_bytes;
}

/* Frees the reader's `packets` oldest packets (at most those held). */
void prt_fifo_release(struct prt_fifo *fifo, uint32_t reader, uint64_t packets);

/* The reader holds the last `packets` packets again that it has released: what was to read them has not been executed,
 * nor anything that was to write to their room. */
void prt_fifo_reclaim(struct prt_fifo *fifo, uint32_t reader, uint64_t packets);

/* Packets it holds are discarded and counted; it holds no room from now on.  A second time it does
 * nothing. */
void prt_fifo_detach(struct prt_fifo *fifo, uint32_t reader);

#endif
