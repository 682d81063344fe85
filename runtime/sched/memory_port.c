/* SPDX-License-Identifier: MIT */
#include "runtime/sched/memory_port.h"

#include <assert.h>
#include <string.h>

static uint8_t *next_packet(const struct prt_port_memory *memory)
{
    return memory->packets + memory->passed_packets * memory->width_bytes;
}

static void count_passed(struct prt_port_memory *memory, size_t packets)
{
    memory->passed_packets += packets;
    if (memory->count != NULL) *memory->count = memory->passed_packets;
}

/* The source of an in-port.  `window` NULL: the packets are skipped. */
static enum prt_status read_memory(void *context, void *window, size_t room, size_t *count,
                                   struct prt_error *error)
{
    struct prt_port_memory *memory = context;
    size_t left = memory->capacity_packets - memory->passed_packets;
    (void)error;
    *count = room < left ? room : left;
    if (window != NULL && *count > 0 && window != next_packet(memory))
        memcpy(window, next_packet(memory), *count * memory->width_bytes);
    count_passed(memory, *count);
    return PRT_OK;
}

/* The sink of an out-port. */
static enum prt_status write_memory(void *context, const void *window, size_t packets,
                                    struct prt_error *error)
{
    struct prt_port_memory *memory = context;
    size_t left = memory->capacity_packets - memory->passed_packets;
    size_t taken = packets < left ? packets : left;
    if (taken > 0 && window != next_packet(memory))
        memcpy(next_packet(memory), window, taken * memory->width_bytes);
    count_passed(memory, taken);
    if (taken == packets) return PRT_OK;
    return prt_error_set(error, PRT_E_CLOSED_PIPE, "the memory of an out-port is full");
}

static enum prt_status set_memory(struct prt_sched *s, uint32_t number, void *packets,
                                  size_t capacity, size_t *count, struct prt_error *error)
{
    struct prt_buffer *buffer = &s->buffers[number];
    size_t width = (size_t)buffer->fifo->width_bytes;
    if (capacity > SIZE_MAX / 2 / width)
        return prt_error_set(error, PRT_E_USAGE, "port '%s': %zu packets of %zu bytes are too many",
                             prt_container_text(s->container, buffer->record->name), capacity,
                             width);
    buffer->port->memory = (struct prt_port_memory){
        .packets = packets, .capacity_packets = capacity, .width_bytes = width, .count = count};
    if (count != NULL) *count = 0;
    return PRT_OK;
}

/* A device where the scheduler is resident accesses the rings of ports, and no other memory of the host. */
static void place_fifo(const struct prt_sched *s, struct prt_buffer *buffer, uint64_t end_packets)
{
    const struct prt_port_memory *memory = &buffer->port->memory;
    if (memory->capacity_packets == 0 || s->ops->resident_begin != NULL) return;
    if ((uintptr_t)memory->packets % prt_ring_alignment(buffer->fifo) != 0) return;
    prt_ring_place(&buffer->ring, buffer->fifo, memory->packets,
                   (uint64_t)memory->capacity_packets * memory->width_bytes, end_packets);
}

/* ---- memory that caches cannot hold ---- */

/* Is the memory more than twice as large as the largest cache?  Then the first packets would leave the caches before the
 * last ones are written. */
static bool exceeds_caches(const struct prt_sched *s, const struct prt_port_memory *memory)
{
    struct prt_device_info info;
    s->ops->info(s->device, &info);
    uint64_t largest = 0;
    for (int level = 0; level < DEVDESC_LEVELS; level++) {
        uint64_t bytes = info.description->cache_bytes[level];
        if (bytes > largest) largest = bytes;
    }
    return largest > 0 && (uint64_t)memory->capacity_packets * memory->width_bytes / 2 > largest;
}

/* Sets PRT_KERNEL_PAST_CACHES of the stage that writes this out-port and no other buffer. */
static void pass_caches(struct prt_sched *s, const struct prt_buffer *buffer)
{
    assert(buffer->fifo->reader_count == 1); /* the host: no stage reads an out-port */
    bool past = prt_ring_is_placed(&buffer->ring) && exceeds_caches(s, &buffer->port->memory);
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct core_stage *stage = &s->stages[i];
        if (stage->output_count != 1 ||
            prt_output_buffer(s, core_output(s->core, stage, 0)) != buffer)
            continue;
        s->objects[i].flags &= ~(uint32_t)PRT_KERNEL_PAST_CACHES;
        if (past) s->objects[i].flags |= PRT_KERNEL_PAST_CACHES;
    }
}

enum prt_status prt_memory_port_read(struct prt_sched *s, uint32_t number, const void *packets,
                                     size_t count, struct prt_error *error)
{
    struct prt_buffer *buffer = &s->buffers[number];
    enum prt_status status = prt_sched_source_at_hand(s, number, error);
    if (status == PRT_OK)
        status = set_memory(s, number, (void *)(uintptr_t)packets, count, NULL, error);
    if (status != PRT_OK) return status;
    prt_sched_bind_source(s, number, read_memory, &buffer->port->memory);
    if (buffer->record->initial_packets == 0) place_fifo(s, buffer, UINT64_MAX);
    return PRT_OK;
}

enum prt_status prt_memory_port_write(struct prt_sched *s, uint32_t number, void *packets,
                                      size_t capacity, size_t *count, struct prt_error *error)
{
    struct prt_buffer *buffer = &s->buffers[number];
    enum prt_status status = set_memory(s, number, packets, capacity, count, error);
    if (status != PRT_OK) return status;
    prt_sched_bind_sink(s, number, write_memory, &buffer->port->memory);
    place_fifo(s, buffer, capacity);
    pass_caches(s, buffer);
    return PRT_OK;
}
