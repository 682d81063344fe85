/* SPDX-License-Identifier: MIT */
#include "model/cached_buffers.h"

#include "base/array_allocate.h"
#include "core/time/caches.h"

#include <stdlib.h>

/* A buffer, in the domains that its writer touches. */
struct lying {
    struct core_domains in;
    uint64_t share_bytes; /* in each of them */
    uint32_t buffer;
};

struct caching {
    const struct prt_bindings *bindings;
    const struct prt_container *container;
    struct core_caches caches;
    struct core_domains *written; /* by buffer: the domains of its writer */
    uint32_t *found;              /* by buffer: packets that caches serve, of CORE_CACHES_WHOLE */
    struct lying *lying;
    uint64_t *shares; /* of `lying`, in its order */
    uint32_t lying_count;
};

static struct core_domains domains_of(const struct caching *c, uint32_t stage)
{
    const struct prt_bound_queue *queue =
        &c->bindings->queues[core_stage(c->bindings->core, stage)->queue];
    return core_caches_domains(c->caches, queue->first_cu, queue->cu_count);
}

static const struct container_node *node_of(const struct caching *c, uint32_t stage)
{
    return &c->container->nodes[c->container->stages[stage].node];
}

/* ---- where packets are found ---- */

static void find_writers(struct caching *c)
{
    for (uint32_t i = 0; i < c->container->stage_count; i++) {
        const struct container_node *node = node_of(c, i);
        for (uint32_t k = 0; k < node->output_count; k++)
            c->written[c->container->outputs[node->first_output + k].buffer] = domains_of(c, i);
    }
}

/* The reader that finds the fewest packets counts, for those that it lacks go to memory. */
static void find_readers(struct caching *c)
{
    for (uint32_t i = 0; i < c->container->buffer_count; i++)
        c->found[i] = c->container->buffers[i].outer == CONTAINER_INNER ? CORE_CACHES_WHOLE : 0;
    for (uint32_t i = 0; i < c->container->stage_count; i++) {
        const struct container_node *node = node_of(c, i);
        for (uint32_t k = 0; k < node->input_count; k++) {
            uint32_t buffer = c->container->inputs[node->first_input + k].buffer;
            uint32_t found = core_caches_found(c->written[buffer], domains_of(c, i));
            if (found < c->found[buffer]) c->found[buffer] = found;
        }
    }
}

/* ---- what fits ---- */

static int by_domains(const void *a, const void *b)
{
    const struct lying *x = a, *y = b;
    if (x->in.first != y->in.first) return x->in.first < y->in.first ? -1 : 1;
    if (x->in.last != y->in.last) return x->in.last < y->in.last ? -1 : 1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

/* Buffers none of whose packets are found take no room. */
static void list_buffers(struct caching *c)
{
    for (uint32_t i = 0; i < c->container->buffer_count; i++) {
        const struct container_buffer *buffer = &c->container->buffers[i];
        uint64_t bytes = core_cycles_multiply(buffer->depth_packets, buffer->width_bytes);
        if (c->found[i] > 0)
            c->lying[c->lying_count++] =
                (struct lying){c->written[i], core_caches_share(bytes, c->written[i]), i};
    }
    qsort(c->lying, c->lying_count, sizeof *c->lying, by_domains);
    for (uint32_t i = 0; i < c->lying_count; i++)
        c->shares[i] = c->lying[i].share_bytes;
}

/* The shares that stay in the domain.  Those that lie there follow each other in the list, from the first one that ends in it or
 * after it on: sub-devices have no compute unit in common, so they have at most one domain in common with the next one. */
static uint64_t largest_in(const struct caching *c, uint32_t domain, uint32_t *from)
{
    uint32_t to;
    while (*from < c->lying_count && c->lying[*from].in.last < domain)
        ++*from;
    for (to = *from; to < c->lying_count && c->lying[to].in.first <= domain;)
        to++;
    return core_caches_largest(c->caches.bytes, c->shares + *from, to - *from);
}

/* Between its first and its last domain a sub-device has the domains for itself, so no other shares lie there. */
static void drop_large_buffers(struct caching *c)
{
    for (uint32_t i = 0, from = 0, end; i < c->lying_count; i = end) {
        const struct core_domains in = c->lying[i].in;
        uint64_t first = largest_in(c, in.first, &from);
        uint64_t last = in.last > in.first ? largest_in(c, in.last, &from) : first;
        uint64_t largest = first < last ? first : last;
        for (end = i; end < c->lying_count && c->lying[end].in.first == in.first &&
                      c->lying[end].in.last == in.last;
             end++)
            if (c->lying[end].share_bytes > largest) c->found[c->lying[end].buffer] = 0;
    }
}

/* ---- objects ---- */

/* Of the bytes that the firings of a cycle of phases move, at most: all, and those that caches serve, x CORE_CACHES_WHOLE. */
struct traffic {
    unsigned __int128 moved, cached;
};

static void add_end(const struct caching *c, uint32_t buffer, uint64_t packets,
                    struct traffic *traffic)
{
    uint64_t bytes = core_cycles_multiply(packets, c->container->buffers[buffer].width_bytes);
    traffic->moved += (unsigned __int128)bytes * CORE_CACHES_WHOLE;
    traffic->cached += (unsigned __int128)bytes * c->found[buffer];
}

static struct traffic traffic_of(const struct caching *c, uint32_t stage)
{
    const struct container_node *node = node_of(c, stage);
    struct traffic traffic = {0};
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct container_input *input = &c->container->inputs[node->first_input + i];
        add_end(c, input->buffer, input->pop, &traffic);
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct container_output *output = &c->container->outputs[node->first_output + i];
        add_end(c, output->buffer, output->push, &traffic);
    }
    for (; traffic.moved >> 64; traffic.cached >>= 1)
        traffic.moved >>= 1;
    return traffic;
}

static void set_parts(const struct caching *c, struct prt_kernel_object *objects)
{
    const uint32_t stages = c->container->stage_count;
    for (uint32_t i = 0; i < stages; i++) {
        struct traffic traffic = traffic_of(c, i);
        objects[i].moved_parts = objects[stages + i].moved_parts = (uint64_t)traffic.moved;
        objects[i].cached_parts = objects[stages + i].cached_parts = (uint64_t)traffic.cached;
    }
}

enum prt_status prt_cached_buffers_find(const struct prt_bindings *bindings,
                                        const struct devdesc *description,
                                        struct prt_kernel_object *objects)
{
    struct caching c = {.bindings = bindings,
                        .container = bindings->container,
                        .caches = core_caches_of(description)};
    if (c.caches.bytes == 0) return PRT_OK;
    const size_t buffers = c.container->buffer_count;
    c.written = array_allocate(buffers, sizeof *c.written);
    c.found = array_allocate(buffers, sizeof *c.found);
    c.lying = array_allocate(buffers, sizeof *c.lying);
    c.shares = array_allocate(buffers, sizeof *c.shares);
    bool good = c.written && c.found && c.lying && c.shares;
    if (good) {
        find_writers(&c);
        find_readers(&c);
        list_buffers(&c);
        drop_large_buffers(&c);
        set_parts(&c, objects);
    }
    free(c.written);
    free(c.found);
    free(c.lying);
    free(c.shares);
    return good ? PRT_OK : PRT_E_NOMEM;
}
