/* SPDX-License-Identifier: MIT */
/*
 * ring: the memory of a buffer of packets; core/fifo.h has the positions.
 *
 * The memory is a ring that is mapped twice, one copy directly after the other.  So every window (claimed or held
 * packets) is contiguous: a kernel never meets the wrap.  The ring's size is rounded up to pages.  Packet n begins at
 * byte (n x width) mod ring.
 *
 * The packets of a port can be *placed* in the caller's memory instead: packet n lies at byte n x width of it, and the
 * ring is not used.  The depth still holds, so the run behaves in the same way.  If a claim would reach past the memory,
 * the packets return to the ring when its window is opened.
 *
 * Requires: width and depth above 0.
 * Ownership: the ring owns its mapping.  A window is valid until its commit or release.
 * Thread-safety: the scheduler's thread; see core/fifo.h.
 * Allocation: at creation only.  Two mappings per ring: the kernel's limit (vm.max_map_count, 65,530) bounds their
 *   number.
 * Errors: creation: PRT_E_NOMEM.  All other calls state their requirements, and assert them.
 */
#ifndef RUNTIME_DEVICE_RING_H
#define RUNTIME_DEVICE_RING_H

#include "base/status.h"
#include "core/fifo.h"

struct prt_ring {
    uint8_t *memory; /* `own`, or the caller's */
    uint8_t *own;
    uint64_t own_bytes;    /* of one of the two mappings */
    uint64_t end_packets;  /* claims past this leave the caller's memory; else UINT64_MAX */
    uint64_t from_packets; /* the first one that `memory` has held */
};

/* A ring for the depth of the fifo, which has been laid out. */
enum prt_status prt_ring_create(struct prt_ring *ring, struct core_fifo *fifo,
                                struct prt_error *error);

/* The ring becomes one that has room for so many packets at least; the depth stays.  Requires:
 * nothing has been written.  PRT_E_NOMEM: nothing has changed. */
enum prt_status prt_ring_enlarge(struct prt_ring *ring, struct core_fifo *fifo, uint64_t packets,
                                 struct prt_error *error);

/* A zeroed ring is allowed. */
void prt_ring_destroy(struct prt_ring *ring);

/* Places the packets in `memory` from the first one on: `bytes` (above 0) in size, aligned as
 * prt_ring_alignment says.  The memory outlives the ring.  Claims up to `end_packets` fit in it, or
 * are not written past it (UINT64_MAX: the claimer ensures that).  Requires: nothing has been
 * written. */
void prt_ring_place(struct prt_ring *ring, struct core_fifo *fifo, void *memory, uint64_t bytes,
                    uint64_t end_packets);

/* Back to the ring; what is in the memory stays there.  Requires: no packet is held, no window of a
 * claim is open.  Where the packets are in the ring nothing happens. */
void prt_ring_leave(struct prt_ring *ring, struct core_fifo *fifo);

static inline bool prt_ring_is_placed(const struct prt_ring *ring)
{
    return ring->memory != ring->own;
}

/* Of each packet in a ring, and what the caller's memory must have: what kernels may count on. */
static inline uint64_t prt_ring_alignment(const struct core_fifo *fifo)
{
    enum { ALIGNMENT_MAX = 64 };
    uint64_t power = fifo->width_bytes & (~fifo->width_bytes + 1);
    return power < ALIGNMENT_MAX ? power : ALIGNMENT_MAX;
}

/* Opens the window of the packets that have been claimed. */
static inline void *prt_ring_open(struct prt_ring *ring, struct core_fifo *fifo)
{
    if (fifo->claimed_packets > ring->end_packets - fifo->written_packets)
        prt_ring_leave(ring, fifo);
    return ring->memory + fifo->write_offset_bytes;
}

/* Claims `packets` and opens their window. */
static inline void *prt_ring_claim(struct prt_ring *ring, struct core_fifo *fifo, uint64_t packets)
{
    core_fifo_claim(fifo, packets);
    return prt_ring_open(ring, fifo);
}

/* The packets that a reader holds, oldest first. */
static inline const void *prt_ring_window(const struct prt_ring *ring, const struct core_fifo *fifo,
                                          uint32_t reader)
{
    return ring->memory + core_fifo_reader(fifo, reader)->offset_bytes;
}

/* Commits `packets` copies of the pattern (`pattern_bytes` of whole packets), again and again.
 * Requires: room. */
void prt_ring_fill(struct prt_ring *ring, struct core_fifo *fifo, const void *pattern,
                   uint64_t pattern_bytes, uint64_t packets);

#endif
