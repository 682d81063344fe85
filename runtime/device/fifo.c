/* SPDX-License-Identifier: MIT */
#include "runtime/device/fifo.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
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

enum prt_status prt_fifo_enlarge(struct prt_fifo *fifo, uint64_t packets, struct prt_error *error)
{
    assert(fifo->written_packets == 0 && fifo->claimed_packets == 0);
    bool placed = prt_fifo_is_placed(fifo);
    uint64_t bytes;
    uint8_t *ring = NULL;
    errno = ENOMEM;
    if (ring_size(fifo->width_bytes, packets, &bytes)) ring = ring_create((size_t)bytes);
    if (ring == NULL)
        return prt_error_set(
            error, PRT_E_NOMEM, "no memory for a buffer of %llu packets of %llu bytes: %s",
            (unsigned long long)packets, (unsigned long long)fifo->width_bytes, strerror(errno));
    if (fifo->own_ring != NULL) munmap(fifo->own_ring, (size_t)fifo->own_ring_bytes * 2);
    fifo->own_ring = ring;
    fifo->own_ring_bytes = bytes;
    if (placed) return PRT_OK;
    fifo->ring = ring;
    fifo->ring_bytes = bytes;
    return PRT_OK;
}

enum prt_status prt_fifo_create(struct prt_fifo *fifo, uint64_t width_bytes, uint64_t depth_packets,
                                uint32_t reader_count, struct prt_error *error)
{
    *fifo = (struct prt_fifo){.width_bytes = width_bytes,
                              .depth_packets = depth_packets,
                              .end_packets = UINT64_MAX,
                              .reader_count = reader_count,
                              .attached_count = reader_count,
                              .oldest_count = reader_count};
    /* equivalent: where the C library gives memory for nothing, one more is none less */
    fifo->readers = calloc((size_t)reader_count + 1, sizeof *fifo->readers);
    if (fifo->readers == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < reader_count; i++)
        fifo->readers[i].attached = true;
    enum prt_status status = prt_fifo_enlarge(fifo, depth_packets, error);
    if (status != PRT_OK) prt_fifo_destroy(fifo);
    return status;
}

void prt_fifo_destroy(struct prt_fifo *fifo)
{
    if (fifo->own_ring != NULL) munmap(fifo->own_ring, (size_t)fifo->own_ring_bytes * 2);
    free(fifo->readers);
    *fifo = (struct prt_fifo){0};
}

void prt_fifo_place(struct prt_fifo *fifo, void *memory, uint64_t bytes, uint64_t end_packets)
{
    assert(fifo->written_packets == 0 && fifo->claimed_packets == 0 && bytes > 0);
    assert((uintptr_t)memory % prt_fifo_alignment(fifo) == 0);
    fifo->ring = memory;
    fifo->ring_bytes = bytes;
    fifo->end_packets = end_packets;
}

void prt_fifo_leave(struct prt_fifo *fifo)
{
    if (!prt_fifo_is_placed(fifo)) return;
    assert(fifo->claimed_packets == 0 && fifo->oldest_packets == fifo->written_packets);
    fifo->ring = fifo->own_ring;
    fifo->ring_bytes = fifo->own_ring_bytes;
    fifo->end_packets = UINT64_MAX;
    fifo->from_packets = fifo->written_packets;
    unsigned __int128 bytes = (unsigned __int128)fifo->written_packets * fifo->width_bytes;
    fifo->write_offset_bytes = (uint64_t)(bytes % fifo->ring_bytes);
    for (uint32_t i = 0; i < fifo->reader_count; i++)
        fifo->readers[i].offset_bytes = fifo->write_offset_bytes;
}

/* The last of the slowest readers has moved on, or gone. */
static void find_oldest(struct prt_fifo *fifo)
{
    uint64_t oldest = fifo->written_packets;
    uint32_t count = 0;
    /* equivalent: after the last reader there is room for one more, which is not attached */
    for (uint32_t i = 0; i < fifo->reader_count; i++) {
        const struct prt_fifo_reader *r = &fifo->readers[i];
        if (!r->attached || r->position_packets > oldest) continue;
        /* equivalent: with a count too low the oldest is only looked for more often */
        count = r->position_packets < oldest ? 1 : count + 1;
        oldest = r->position_packets;
    }
    fifo->oldest_packets = oldest;
    fifo->oldest_count = count;
}

/* One of the slowest readers has moved on, or gone: of many, only the last one has the rest looked at. */
static void leave_oldest(struct prt_fifo *fifo)
{
    if (--fifo->oldest_count == 0) find_oldest(fifo);
}

/* The place so many packets before; they lie in the ring. */
static uint64_t retreat(const struct prt_fifo *fifo, uint64_t offset_bytes, uint64_t packets)
{
    uint64_t bytes = packets * fifo->width_bytes;
    return offset_bytes >= bytes ? offset_bytes - bytes : offset_bytes + fifo->ring_bytes - bytes;
}

/* ---- the writer ---- */

void prt_fifo_retract(struct prt_fifo *fifo, uint64_t packets)
{
    assert(fifo->claimed_packets == 0 && packets <= fifo->depth_packets);
    fifo->written_packets -= packets;
    fifo->write_offset_bytes = retreat(fifo, fifo->write_offset_bytes, packets);
    if (fifo->attached_count > 0) return;
    fifo->discarded_packets -= packets;
    fifo->oldest_packets = fifo->written_packets;
}

void prt_fifo_close(struct prt_fifo *fifo)
{
    assert(fifo->claimed_packets == 0);
    fifo->closed = true;
}

void prt_fifo_fill(struct prt_fifo *fifo, const void *pattern, uint64_t pattern_bytes,
                   uint64_t packets)
{
    uint8_t *window = prt_fifo_claim(fifo, packets);
    uint64_t total = packets * fifo->width_bytes;
    /* equivalent: a part of no bytes more is none */
    for (uint64_t at = 0; at < total; at += pattern_bytes) {
        uint64_t part = total - at < pattern_bytes ? total - at : pattern_bytes;
        memcpy(window + at, pattern, (size_t)part);
    }
    prt_fifo_commit(fifo, packets);
}

/* ---- a reader ---- */

void prt_fifo_release(struct prt_fifo *fifo, uint32_t reader, uint64_t packets)
{
    struct prt_fifo_reader *r = &fifo->readers[reader];
    assert(packets <= prt_fifo_held(fifo, reader));
    if (packets == 0) return;
    bool was_oldest = r->position_packets == fifo->oldest_packets;
    r->position_packets += packets;
    r->offset_bytes = prt_fifo_advance(fifo, r->offset_bytes, packets);
    if (fifo->reader_count == 1) /* equivalent: a shortcut; what two readers do the tests tell */
        fifo->oldest_packets = r->position_packets;
    else if (was_oldest)
        leave_oldest(fifo);
}

void prt_fifo_reclaim(struct prt_fifo *fifo, uint32_t reader, uint64_t packets)
{
    struct prt_fifo_reader *r = &fifo->readers[reader];
    assert(r->attached && packets <= r->position_packets && packets <= fifo->depth_packets);
    if (packets == 0) return;
    r->position_packets -= packets;
    r->offset_bytes = retreat(fifo, r->offset_bytes, packets);
    if (r->position_packets < fifo->oldest_packets) {
        fifo->oldest_packets = r->position_packets;
        fifo->oldest_count = 1;
    } else if (r->position_packets == fifo->oldest_packets) {
        fifo->oldest_count++;
    }
}

void prt_fifo_detach(struct prt_fifo *fifo, uint32_t reader)
{
    struct prt_fifo_reader *r = &fifo->readers[reader];
    if (!r->attached) return;
    fifo->discarded_packets += prt_fifo_held(fifo, reader);
    r->attached = false;
    fifo->attached_count--;
    if (r->position_packets == fifo->oldest_packets) leave_oldest(fifo);
}
