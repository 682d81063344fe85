/* SPDX-License-Identifier: MIT */
/* Compares ways in which a cycle can become one node (fuse_internal.h). */
#include "compiler/optimize/fuse/fuse_internal.h"

#include "compiler/ir/ratio.h"
#include "compiler/target/target.h"

#include <stdlib.h>

/* Times are per iteration, in parts of the target's unit (target.h).  Packets at rest that are locals move in
 * registers; an array is copied. */
enum { PARTS = 64, REST_LOCALS = 64, REST_COPIED = 8, KEPT_PACKET = 1 };

/* ---- the cycle ---- */

struct closing { /* a buffer of the cycle that has initial packets, and one of its readers */
    uint64_t initial;
    uint64_t at_once; /* iterations that the initial packets admit */
    uint64_t packets; /* of an iteration */
};

struct cycle {
    VEC(struct closing) closings;
    uint64_t cost_cycles, packets; /* of an iteration */
    bool stateful;                 /* some member has state */
};

/* A firing pushes before it pops, so the declared depth has to hold both. */
uint64_t fuse_at_once(const struct graph_buffer *buffer, uint64_t pop, uint64_t peek)
{
    uint64_t initial = buffer->initial.packets, most;
    if (pop == 0 || initial < peek) return 0;
    most = (initial - peek) / pop + 1;
    if (!buffer->depth_declared) return most;
    return min64(most, (buffer->depth_packets - min64(initial, buffer->depth_packets)) / pop);
}

static void add_closings(const struct fuse_scratch *scratch, const struct graph *graph,
                         const struct fuse_group *group, uint32_t member, struct cycle *cycle)
{
    const struct graph_node *node = &graph->nodes.items[group->nodes[member]];
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        const struct graph_buffer *buffer = &graph->buffers.items[in->buffer];
        if (!fuse_is_member(group, buffer->writer_node)) continue;
        uint64_t pop = mul_clamped(group->firings[member], in->pop);
        cycle->packets = add_clamped(cycle->packets, pop);
        if (buffer->initial.packets == 0) continue;
        uint64_t peek = add_clamped(pop, in->peek - in->pop);
        vec_push(scratch->arena, &cycle->closings,
                 (struct closing){buffer->initial.packets, fuse_at_once(buffer, pop, peek), pop});
    }
}

static struct cycle measure_cycle(const struct fuse_scratch *scratch, const struct graph *graph,
                                  const struct fuse_group *group)
{
    struct cycle cycle = {0};
    for (uint32_t i = 0; i < group->count; i++) {
        const struct graph_node *node = &graph->nodes.items[group->nodes[i]];
        uint64_t cycles = mul_clamped(group->firings[i], max64(node->cost_cycles, 1));
        cycle.cost_cycles = add_clamped(cycle.cost_cycles, cycles);
        cycle.stateful |= scratch->stateful[group->nodes[i]];
        add_closings(scratch, graph, group, i, &cycle);
    }
    return cycle;
}

/* ---- ways ---- */

/* The time of an iteration, if way->at_once of them are dispatched together, in `launches` launches. */
static uint64_t time_of(const struct cycle *cycle, const struct devdesc *device,
                        const struct fuse_cycle_way *way, uint64_t rest, uint64_t launches)
{
    uint64_t lanes = way->serial ? 1 : min64(max64(device->lanes, 1), way->at_once);
    uint64_t part = lanes * target_of(device)->cycles_per_time;
    uint64_t launch = (uint64_t)device->launch_enqueue_cycles + device->launch_process_cycles +
                      device->launch_cleanup_cycles;
    uint64_t time = mul_clamped(cycle->cost_cycles, PARTS) / part;
    time = add_clamped(time, rest);
    return add_clamped(time, mul_clamped(mul_clamped(launch, launches), PARTS) / way->at_once);
}

/* The way with one node, in which buffers with at least `kept_least` initial packets are kept. */
static struct fuse_cycle_way one_node(const struct cycle *cycle, const struct devdesc *device,
                                      uint64_t kept_least)
{
    enum {
        STREAMED = 1 << 14
    }; /* iterations that the outside admits, if the cycle does not limit them */
    struct fuse_cycle_way way = {
        .kept_least = kept_least, .at_once = STREAMED, .serial = cycle->stateful};
    uint64_t rest = 0;
    for (size_t i = 0; i < cycle->closings.count; i++) {
        const struct closing *closing = &cycle->closings.items[i];
        bool kept = closing->initial >= kept_least;
        uint64_t in_parts = mul_clamped(closing->packets, (uint64_t)KEPT_PACKET * PARTS);
        if (!kept) {
            bool locals = add_clamped(closing->initial, closing->packets) <= REST_LOCALS;
            in_parts = mul_clamped(closing->initial, locals ? 1 : PARTS / REST_COPIED);
        }
        way.serial |= !kept;
        if (kept) way.at_once = min64(way.at_once, closing->at_once);
        rest = add_clamped(rest, in_parts);
    }
    way.time = way.at_once > 0 ? time_of(cycle, device, &way, rest, 1) : UINT64_MAX;
    return way;
}

static struct fuse_cycle_way many_nodes(const struct cycle *cycle, const struct devdesc *device,
                                        const struct fuse_group *group)
{
    struct fuse_cycle_way way = one_node(cycle, device, 0);
    uint64_t rest = mul_clamped(cycle->packets, (uint64_t)KEPT_PACKET * PARTS);
    way.apart = true;
    way.at_once = max64(way.at_once, 1);
    way.time = time_of(cycle, device, &way, rest, group->count);
    return way;
}

static int compare_ways(const void *left, const void *right)
{
    const struct fuse_cycle_way *a = left, *b = right;
    if (a->time != b->time) return a->time > b->time ? 1 : -1;
    if (a->apart != b->apart) return a->apart ? 1 : -1;
    return (a->kept_least > b->kept_least) - (a->kept_least < b->kept_least);
}

uint32_t fuse_cycle_ways(const struct fuse_scratch *scratch, const struct graph *graph,
                         const struct devdesc *device, const struct fuse_group *group,
                         struct fuse_cycle_way *ways)
{
    struct cycle cycle = measure_cycle(scratch, graph, group);
    uint32_t count = 0;
    uint64_t least = UINT64_MAX;
    ways[count++] = one_node(&cycle, device, least);
    while (count < FUSE_CYCLE_WAYS - 1) {
        uint64_t most = 0;
        for (size_t i = 0; i < cycle.closings.count; i++)
            if (cycle.closings.items[i].initial < least)
                most = max64(most, cycle.closings.items[i].initial);
        if (most == 0) break;
        least = most;
        struct fuse_cycle_way way = one_node(&cycle, device, least);
        if (way.time < UINT64_MAX) ways[count++] = way;
    }
    if (group->count > 1) ways[count++] = many_nodes(&cycle, device, group);
    qsort(ways, count, sizeof *ways, compare_ways);
    return count;
}

/* ---- kept buffers ---- */

void fuse_keep(const struct fuse_scratch *scratch, const struct graph *graph,
               const struct fuse_group *group, uint64_t kept_least)
{
    for (uint32_t i = 0; i < group->count; i++) {
        const struct graph_node *node = &graph->nodes.items[group->nodes[i]];
        for (size_t k = 0; k < node->inputs.count; k++) {
            const struct graph_buffer *buffer = &graph->buffers.items[node->inputs.items[k].buffer];
            if (buffer->initial.packets > 0 && fuse_is_member(group, buffer->writer_node))
                scratch->kept[node->inputs.items[k].buffer] = buffer->initial.packets >= kept_least;
        }
    }
}

static const struct graph_output *output_to(const struct composite *composite, uint32_t buffer)
{
    for (size_t i = 0; i < composite->node.outputs.count; i++)
        if (composite->node.outputs.items[i].buffer == buffer)
            return &composite->node.outputs.items[i];
    return NULL;
}

bool fuse_goes_round(const struct fuse_scratch *scratch, const struct graph *graph,
                     const struct composite *composite)
{
    for (size_t i = 0; i < composite->node.inputs.count; i++) {
        const struct graph_input *in = &composite->node.inputs.items[i];
        const struct graph_output *out = output_to(composite, in->buffer);
        if (out == NULL || !scratch->kept[in->buffer]) continue;
        if (out->push != in->pop || out->push_least != out->push) return false;
        uint64_t at_once = fuse_at_once(&graph->buffers.items[in->buffer], in->pop, in->peek);
        if (at_once < max64(scratch->at_once[in->buffer], 1)) return false;
    }
    return true;
}
