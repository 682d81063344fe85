/* SPDX-License-Identifier: MIT */
#include "runtime/load/device_need.h"

#include "lang/dispatch.h"
#include "lang/index_format.h"
#include "base/arithmetic.h"

enum { BLOCK_BYTES = 64 }; /* alignment of blocks and of entries */

static uint64_t packed_bytes(const uint32_t extents[3])
{
    uint64_t items = (uint64_t)extents[0] * extents[1] * extents[2];
    return items * (index_format_of(extents).register_bits / 8);
}

/* For one level of the trees of `root`: for each out-port, the maximum number of packets of one
 * body. */
static uint64_t need_aside(const struct prt_container *c, const struct container_interface *root)
{
    uint64_t sum = 0;
    for (uint32_t o = 0; o < root->out_count; o++) {
        uint64_t most = 0;
        for (uint32_t i = 0; i < c->interface_count; i++) {
            const struct container_interface *f = &c->interfaces[i];
            if (o >= f->out_count) continue;
            uint64_t packets = c->interface_ports[f->first_port + f->in_count + o].packets;
            if (packets > most) most = packets;
        }
        uint32_t port = root->first_port + root->in_count + o;
        saturating_increase(
            &sum, saturating_align(saturating_multiply(most, c->interface_ports[port].width_bytes),
                                   BLOCK_BYTES));
    }
    return sum;
}

static uint64_t need_of_queue(const struct prt_container *c, const struct devdesc *device)
{
    uint64_t entry = 0, bytes = 0, saved = 0;
    bool asks = false;
    for (uint32_t i = 0; i < c->interface_count; i++) {
        const struct container_interface *f = &c->interfaces[i];
        if (f->entry_bytes > entry) entry = f->entry_bytes;
        saturating_increase(&bytes, saturating_align(packed_bytes(f->group), BLOCK_BYTES));
        if ((f->flags & CONTAINER_INTERFACE_ASKS) == 0) continue;
        asks = true;
        if (f->local_bytes > saved) saved = f->local_bytes;
    }
    uint64_t entries = c->interface_count > 0 ? device->device_queue_entries : 0;
    saturating_increase(&bytes, saturating_multiply(entry, entries + c->launch_count));
    for (uint32_t i = 0; asks && i < c->interface_count; i++) {
        const struct container_interface *f = &c->interfaces[i];
        if (f->node != CONTAINER_NONE)
            saturating_increase(
                &bytes, saturating_multiply(
                            saturating_add(need_aside(c, f), saturating_align(saved, BLOCK_BYTES)),
                            f->nesting + 1));
    }
    return bytes;
}

static uint64_t need_of_indices(const struct prt_container *c)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < c->index_count; i++) {
        const struct container_index *x = &c->indices[i];
        uint64_t bytes = x->address_bytes + packed_bytes(x->extents);
        if (bytes > end) end = bytes;
    }
    return end;
}

struct prt_device_need prt_device_need(const struct prt_container *c, const struct devdesc *device)
{
    struct prt_device_need need = {.device_queue = need_of_queue(c, device)};
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const struct container_buffer *b = &c->buffers[i];
        saturating_increase(b->outer == CONTAINER_INNER ? &need.buffers : &need.ports,
                            saturating_multiply(b->depth_packets, b->width_bytes));
    }
    for (uint32_t i = 0; i < c->node_count; i++) {
        const struct container_node *node = &c->nodes[i];
        saturating_increase(&need.blocks, saturating_align(node->arguments_bytes, BLOCK_BYTES));
        saturating_increase(&need.blocks, saturating_align(node->tables_bytes, BLOCK_BYTES));
        saturating_increase(&need.blocks, saturating_align(node->state_bytes, BLOCK_BYTES));
    }
    need.indices = device->index_memory_bytes > 0
                       ? saturating_multiply(need_of_indices(c), device->cu_count)
                       : 0;
    need.launching = saturating_multiply((uint64_t)c->stage_count + device->reference_entries,
                                         sizeof(struct dispatch_full));
    const uint64_t parts[] = {need.buffers, need.ports,        need.blocks,
                              need.indices, need.device_queue, need.launching};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        saturating_increase(&need.total, parts[i]);
    return need;
}
