/* SPDX-License-Identifier: MIT */
#include "model/cached_buffers.h"

#include "core/time/caches.h"

#include <stdlib.h>

/* Bytes that the firings of a cycle of phases move, at most, and those of them in buffers that stay. */
struct traffic {
    uint64_t moved_bytes, cached_bytes;
};

static void add_end(const struct prt_container *c, uint64_t largest, uint32_t index,
                    uint64_t packets, struct traffic *traffic)
{
    const struct container_buffer *buffer = &c->buffers[index];
    uint64_t bytes = core_cycles_multiply(packets, buffer->width_bytes);
    uint64_t size = core_cycles_multiply(buffer->depth_packets, buffer->width_bytes);
    traffic->moved_bytes = core_cycles_add(traffic->moved_bytes, bytes);
    if (buffer->outer == CONTAINER_INNER && size <= largest)
        traffic->cached_bytes = core_cycles_add(traffic->cached_bytes, bytes);
}

static struct traffic traffic_of(const struct prt_container *c, uint64_t largest,
                                 const struct container_node *node)
{
    struct traffic traffic = {0};
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct container_input *input = &c->inputs[node->first_input + i];
        add_end(c, largest, input->buffer, input->pop, &traffic);
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct container_output *output = &c->outputs[node->first_output + i];
        add_end(c, largest, output->buffer, output->push, &traffic);
    }
    return traffic;
}

static void set_objects(const struct prt_container *c, uint64_t largest,
                        struct prt_kernel_object *objects)
{
    for (uint32_t i = 0; i < c->stage_count; i++) {
        struct traffic traffic = traffic_of(c, largest, &c->nodes[c->stages[i].node]);
        objects[i].moved_bytes = objects[c->stage_count + i].moved_bytes = traffic.moved_bytes;
        objects[i].cached_bytes = objects[c->stage_count + i].cached_bytes = traffic.cached_bytes;
    }
}

enum prt_status prt_cached_buffers_find(const struct prt_container *c,
                                        const struct devdesc *description,
                                        struct prt_kernel_object *objects)
{
    uint64_t capacity = core_caches_capacity(description);
    if (capacity == 0) return PRT_OK;
    uint64_t *bytes = calloc((size_t)c->buffer_count + 1, sizeof *bytes);
    if (bytes == NULL) return PRT_E_NOMEM;
    for (uint32_t i = 0; i < c->buffer_count; i++)
        if (c->buffers[i].outer == CONTAINER_INNER)
            bytes[i] = core_cycles_multiply(c->buffers[i].depth_packets, c->buffers[i].width_bytes);
    set_objects(c, core_caches_largest(capacity, bytes, c->buffer_count), objects);
    free(bytes);
    return PRT_OK;
}
