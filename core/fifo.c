/* SPDX-License-Identifier: MIT */
#include "core/fifo.h"

void core_fifo_lay_out(struct core_fifo *fifo, uint64_t width_bytes, uint64_t depth_packets,
                       struct core_reader *readers, uint32_t reader_count)
{
    *fifo = (struct core_fifo){.width_bytes = width_bytes,
                               .depth_packets = depth_packets,
                               .readers_at = (uintptr_t)readers - (uintptr_t)fifo,
                               .reader_count = reader_count,
                               .attached_count = reader_count,
                               .oldest_count = reader_count};
    for (uint32_t i = 0; i < reader_count; i++)
        readers[i].attached = true;
}

/* The last of the slowest readers has moved on, or gone. */
static void find_oldest(struct core_fifo *fifo)
{
    uint64_t oldest = fifo->written_packets;
    uint32_t count = 0;
    /* equivalent: after the last reader there is room for one more, which is not attached */
    for (uint32_t i = 0; i < fifo->reader_count; i++) {
        const struct core_reader *r = core_fifo_reader(fifo, i);
        if (!r->attached || r->position_packets > oldest) continue;
        /* equivalent: with a count too low the oldest is only looked for more often */
        count = r->position_packets < oldest ? 1 : count + 1;
        oldest = r->position_packets;
    }
    fifo->oldest_packets = oldest;
    fifo->oldest_count = count;
}

void core_fifo_leave_oldest(struct core_fifo *fifo)
{
    if (--fifo->oldest_count == 0) find_oldest(fifo);
}

/* The place so many packets before; they lie in the ring. */
static uint64_t ring_retreat(const struct core_fifo *fifo, uint64_t offset_bytes, uint64_t packets)
{
    uint64_t bytes = packets * fifo->width_bytes;
    return offset_bytes >= bytes ? offset_bytes - bytes : offset_bytes + fifo->ring_bytes - bytes;
}

/* ---- the writer ---- */

void core_fifo_retract(struct core_fifo *fifo, uint64_t packets)
{
    assert(fifo->claimed_packets == 0 && packets <= fifo->depth_packets);
    fifo->written_packets -= packets;
    fifo->write_offset_bytes = ring_retreat(fifo, fifo->write_offset_bytes, packets);
    if (fifo->attached_count > 0) return;
    fifo->discarded_packets -= packets;
    fifo->oldest_packets = fifo->written_packets;
}

void core_fifo_close(struct core_fifo *fifo)
{
    assert(fifo->claimed_packets == 0);
    fifo->closed = true;
}

/* ---- a reader ---- */

void core_fifo_reclaim(struct core_fifo *fifo, uint32_t reader, uint64_t packets)
{
    struct core_reader *r = core_fifo_reader(fifo, reader);
    assert(r->attached && packets <= r->position_packets && packets <= fifo->depth_packets);
    if (packets == 0) return;
    r->position_packets -= packets;
    r->offset_bytes = ring_retreat(fifo, r->offset_bytes, packets);
    if (r->position_packets < fifo->oldest_packets) {
        fifo->oldest_packets = r->position_packets;
        fifo->oldest_count = 1;
    } else if (r->position_packets == fifo->oldest_packets) {
        fifo->oldest_count++;
    }
}

void core_fifo_detach(struct core_fifo *fifo, uint32_t reader)
{
    struct core_reader *r = core_fifo_reader(fifo, reader);
    if (!r->attached) return;
    fifo->discarded_packets += core_fifo_held(fifo, reader);
    r->attached = false;
    fifo->attached_count--;
    if (r->position_packets == fifo->oldest_packets) core_fifo_leave_oldest(fifo);
}
