/* SPDX-License-Identifier: MIT */
#include "runtime/device/ring.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the ring ---- */

/* Maps `fd` twice into address space that is reserved first, so that no other mapping gets in
 * between. */
static uint8_t *map_twice(int fd, size_t bytes)
{
    uint8_t *space = mmap(NULL, bytes * 2, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (space == MAP_FAILED) return NULL;
    for (int half = 0; half < 2; half++) {
        void *at = space + (size_t)half * bytes;
        if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
            munmap(space, bytes * 2);
            return NULL;
        }
    }
    return space;
}

static uint8_t *ring_create(size_t bytes)
{
    int fd = memfd_create("pipec-fifo", MFD_CLOEXEC);
    if (fd < 0) return NULL;
    uint8_t *ring = ftruncate(fd, (off_t)bytes) == 0 ? map_twice(fd, bytes) : NULL;
    int why = errno;
    close(fd);
    /* equivalent: closing what is open changes no reason */
    errno = why;
    return ring;
}

/* Bytes of the ring: depth x width in whole pages; false on overflow. */
static bool ring_size(uint64_t width_bytes, uint64_t depth_packets, uint64_t *bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (__builtin_mul_overflow(width_bytes, depth_packets, bytes) ||
        __builtin_add_overflow(*bytes, page - 1, bytes))
        return false;
    *bytes = *bytes / page * page;
    /* equivalent: rings of a quarter of the address space are refused by the system */
    return *bytes <= SIZE_MAX / 4;
}

enum prt_status prt_ring_enlarge(struct prt_ring *ring, struct core_fifo *fifo, uint64_t packets,
                                 struct prt_error *error)
{
    assert(fifo->written_packets == 0 && fifo->claimed_packets == 0);
    bool placed = prt_ring_is_placed(ring);
    uint64_t bytes;
    uint8_t *memory = NULL;
    errno = ENOMEM;
    if (ring_size(fifo->width_bytes, packets, &bytes)) memory = ring_create((size_t)bytes);
    if (memory == NULL)
        return prt_error_set(
            error, PRT_E_NOMEM, "no memory for a buffer of %llu packets of %llu bytes: %s",
            (unsigned long long)packets, (unsigned long long)fifo->width_bytes, strerror(errno));
    if (ring->own != NULL) munmap(ring->own, (size_t)ring->own_bytes * 2);
    ring->own = memory;
    ring->own_bytes = bytes;
    if (placed) return PRT_OK;
    ring->memory = memory;
    fifo->ring_bytes = bytes;
    return PRT_OK;
}

enum prt_status prt_ring_create(struct prt_ring *ring, struct core_fifo *fifo,
                                struct prt_error *error)
{
    *ring = (struct prt_ring){.end_packets = UINT64_MAX};
    return prt_ring_enlarge(ring, fifo, fifo->depth_packets, error);
}

void prt_ring_destroy(struct prt_ring *ring)
{
    if (ring->own != NULL) munmap(ring->own, (size_t)ring->own_bytes * 2);
    *ring = (struct prt_ring){0};
}

void prt_ring_place(struct prt_ring *ring, struct core_fifo *fifo, void *memory, uint64_t bytes,
                    uint64_t end_packets)
{
    assert(fifo->written_packets == 0 && fifo->claimed_packets == 0 && bytes > 0);
    assert((uintptr_t)memory % prt_ring_alignment(fifo) == 0);
    ring->memory = memory;
    ring->end_packets = end_packets;
    fifo->ring_bytes = bytes;
}

void prt_ring_leave(struct prt_ring *ring, struct core_fifo *fifo)
{
    if (!prt_ring_is_placed(ring)) return;
    assert(fifo->oldest_packets == fifo->written_packets);
    ring->memory = ring->own;
    ring->end_packets = UINT64_MAX;
    ring->from_packets = fifo->written_packets;
    fifo->ring_bytes = ring->own_bytes;
    unsigned __int128 bytes = (unsigned __int128)fifo->written_packets * fifo->width_bytes;
    fifo->write_offset_bytes = (uint64_t)(bytes % fifo->ring_bytes);
    for (uint32_t i = 0; i < fifo->reader_count; i++)
        core_fifo_reader(fifo, i)->offset_bytes = fifo->write_offset_bytes;
}

void prt_ring_fill(struct prt_ring *ring, struct core_fifo *fifo, const void *pattern,
                   uint64_t pattern_bytes, uint64_t packets)
{
    uint8_t *window = prt_ring_claim(ring, fifo, packets);
    uint64_t total = packets * fifo->width_bytes;
    /* equivalent: a part of no bytes more is none */
    for (uint64_t at = 0; at < total; at += pattern_bytes) {
        uint64_t part = total - at < pattern_bytes ? total - at : pattern_bytes;
        memcpy(window + at, pattern, (size_t)part);
    }
    core_fifo_commit(fifo, packets);
}
