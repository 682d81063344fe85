/* SPDX-License-Identifier: MIT */
/*
 * depths: raises depths that are not declared, so that dispatches are worth their cost.
 *
 * Depths are never lowered below those that bufsize has proven: if a depth is free of deadlock, larger ones are, too.
 * A buffer gets room for two full dispatches (lanes x CUs of the stage) of its larger end, so that one is written while
 * the other is read.  It gets room for the batch of the target at least, doubled as often as choose_batch.h finds, so that a
 * dispatch is worth its fixed cost.  In a cycle the initial packets bound the firings that are ready at once.  There a
 * buffer gets room for these only; on simulated devices, only for full dispatches of them.
 *
 * --buffers=min raises no depth.  --buffers=fast raises them as by default where the device has a clock, which then takes
 * room away (choose_depths.h).  Without a clock it keeps the depth of a buffer that follows from the idealised maximum of
 * throughput.  If that is unbounded, a buffer gets room for one full dispatch of its larger end and the packets that a
 * window keeps.
 */
#include "compiler/plan/plan_internal.h"

#include "compiler/ir/ratio.h"
#include "compiler/target/target.h"

#include <inttypes.h>

/* The maximum for all raises together; a quarter of the device's memory, if that is less. */
#define RAISE_BYTES_MAX (UINT64_C(64) << 20)

/* Firings of a dispatch that fills the lanes of a core of each of the stage's CUs, or as many as a cycle lets be
 * ready. */
static uint64_t full_dispatch(const struct placement *at, uint32_t node)
{
    return min64(plan_firings_of_lanes(at, node) * plan_stage_cus(at, node), at->ready_max[node]);
}

struct wish {          /* for one buffer */
    uint64_t packets;  /* more than it has */
    uint64_t dispatch; /* packets of the larger full dispatch */
    uint32_t node;     /* whose dispatch that is */
    uint64_t ready;    /* packets that its cycle lets pass at once; UINT64_MAX: it is in none */
    bool batch;        /* the batch of the target decided, */
    bool round;        /* or `ready` */
};

/* `rate`: packets of a cycle of phases. */
static void wish_dispatch(const struct placement *at, struct wish *wish, uint32_t node,
                          uint64_t rate)
{
    uint32_t phases = graph_phases(&at->graph->nodes.items[node]);
    uint64_t packets = mul_clamped(full_dispatch(at, node), rate);
    if (phases > 1) packets = packets / phases + (packets % phases > 0);
    if (packets <= wish->dispatch) return;
    wish->dispatch = packets;
    wish->node = node;
}

/* Of a buffer in a cycle, beside the packets that its proven depth is for. */
static void wish_round(const struct placement *at, struct wish *wish,
                       const struct graph_buffer *buffer, uint64_t depth, uint64_t batch)
{
    if (!target_of(at->device)->fills_rounds) return;
    uint64_t round = add_clamped(buffer->depth_packets, min64(wish->ready, batch));
    wish->round = round > depth && wish->ready <= batch;
    wish->batch = round > depth && wish->ready > batch;
    wish->packets = max64(depth, round) - buffer->depth_packets;
}

/* Packets that a reader's window keeps beside those that its firing consumes. */
static uint64_t window_rest(const struct graph *graph, const struct graph_buffer *buffer)
{
    uint64_t most = 0;
    for (size_t r = 0; r < buffer->readers.count; r++) {
        const struct graph_input *in = graph_reader_input(graph, buffer, r);
        uint64_t window = graph_window_packets(graph, buffer, r);
        most = max64(most, window - min64(window, in->pop));
    }
    return most;
}

/* A pipeline that is not proven free of deadlock has at least the default depths. */
enum buffers_mode plan_raising_mode(const struct placement *at)
{
    const struct compile_options *options = &at->cx->options;
    bool is_timed = options->buffers == BUFFERS_FAST && options->depths_by_clock;
    return at->graph->unproven || is_timed ? BUFFERS_DEFAULT : options->buffers;
}

static bool is_read_by_rows(const struct placement *at, const struct graph_buffer *buffer)
{
    for (size_t r = 0; r < buffer->readers.count; r++) {
        struct graph_reader reader = buffer->readers.items[r];
        const struct graph_node *node = &at->graph->nodes.items[reader.node];
        if (node->kernel->in[node->inputs.items[reader.input].kernel_port].window_width > 0)
            return true;
    }
    return false;
}

/* Packets with which a dispatch is worth its fixed cost, or cutting, and caches still hold them. */
static uint64_t batch_packets(const struct placement *at, const struct graph_buffer *buffer)
{
    const struct target_batch *batch = &target_of(at->device)->batch;
    uint64_t bytes = batch->port_bytes;
    if (buffer->outer == GRAPH_INNER) {
        uint64_t share = at->device->cache_bytes[DEVDESC_L2] / 2 / max64(at->inner_buffers, 1);
        uint64_t most = batch->inner_bytes;
        if (batch->rows_bytes > most && is_read_by_rows(at, buffer)) most = batch->rows_bytes;
        bytes = max64(min64(share, most), batch->inner_least_bytes);
    }
    uint64_t packets = min64(bytes / max64(buffer->width_bytes, 1), batch->packets_max);
    return mul_clamped(packets, UINT64_C(1) << at->doublings);
}

static struct wish wish_for(const struct placement *at, const struct graph_buffer *buffer)
{
    struct wish wish = {.node = GRAPH_NONE, .ready = UINT64_MAX};
    enum buffers_mode mode = plan_raising_mode(at);
    if (buffer->depth_declared || mode == BUFFERS_MIN) return wish;
    if (mode == BUFFERS_FAST && buffer->depth_paced) return wish;
    uint32_t writer = buffer->writer_node;
    if (writer != GRAPH_NONE)
        wish_dispatch(at, &wish, writer,
                      at->graph->nodes.items[writer].outputs.items[buffer->writer_output].push);
    for (size_t r = 0; r < buffer->readers.count; r++) {
        struct graph_reader reader = buffer->readers.items[r];
        uint64_t pop = at->graph->nodes.items[reader.node].inputs.items[reader.input].pop;
        wish_dispatch(at, &wish, reader.node, pop);
        if (writer != GRAPH_NONE && at->component[reader.node] == at->component[writer])
            wish.ready = min64(wish.ready, mul_clamped(at->ready_max[reader.node], pop));
    }
    if (mode == BUFFERS_FAST) {
        uint64_t room = add_clamped(wish.dispatch, window_rest(at->graph, buffer));
        wish.packets = room > buffer->depth_packets ? room - buffer->depth_packets : 0;
        return wish;
    }
    uint64_t depth = add_clamped(buffer->depth_packets, mul_clamped(wish.dispatch, 2));
    uint64_t batch = batch_packets(at, buffer);
    wish.batch = wish.ready == UINT64_MAX && batch > depth;
    if (wish.batch) depth = batch;
    wish.packets = depth > buffer->depth_packets ? depth - buffer->depth_packets : 0;
    if (wish.ready < UINT64_MAX) wish_round(at, &wish, buffer, depth, batch);
    return wish;
}

/* May a run multiply the depth?  Not where the author, a goal of depths or a cycle decides it.  A pipeline that may
 * stall would stall elsewhere with other depths. */
static bool may_grow(const struct placement *at, const struct graph_buffer *buffer)
{
    const struct compile_options *options = &at->cx->options;
    if (buffer->depth_declared || at->graph->unproven || at->graph->is_counterexample) return false;
    if (options->buffers != BUFFERS_DEFAULT || options->debug_mode) return false;
    for (size_t r = 0; buffer->writer_node != GRAPH_NONE && r < buffer->readers.count; r++)
        if (at->component[buffer->readers.items[r].node] == at->component[buffer->writer_node])
            return false;
    return true;
}

static const char *raise_reason(const struct placement *at, const struct wish *wish, bool scaled)
{
    if (scaled && at->most != NULL)
        return arena_printf(at->cx->arena, "with less it is slower by the clock of %s",
                            at->device->name);
    if (scaled) return "as many packets as the memory for dispatches allows";
    if (plan_raising_mode(at) == BUFFERS_FAST)
        return arena_printf(at->cx->arena, "a full dispatch of '%s' (%" PRIu64 " packets)",
                            at->graph->nodes.items[wish->node].name, wish->dispatch);
    if (wish->batch) return "enough packets that a dispatch is worth its fixed cost";
    if (wish->round) return "as many packets as its cycle lets be ready at once";
    return arena_printf(
        at->cx->arena,
        "two full dispatches of '%s' (%" PRIu64 " packet%s each), one written while one is read",
        at->graph->nodes.items[wish->node].name, wish->dispatch, wish->dispatch == 1 ? "" : "s");
}

static void raise_depth(const struct placement *at, struct graph_buffer *buffer,
                        const struct wish *wish, uint64_t packets)
{
    if (packets == 0) return;
    uint64_t depth = add_clamped(buffer->depth_packets, packets);
    if (!at->is_final) {
        buffer->depth_packets = depth;
        return;
    }
    const char *reason = raise_reason(at, wish, packets < wish->packets);
    const char *before = buffer->depth_reason;
    buffer->depth_packets = depth;
    buffer->depth_reason =
        before ? arena_printf(at->cx->arena, "%" PRIu64 ": %s; at least %s", depth, reason, before)
               : arena_printf(at->cx->arena, "%" PRIu64 ": %s", depth, reason);
}

/* Bytes that all raises together may take. */
static uint64_t raise_allowance(const struct placement *at)
{
    uint64_t limit = at->device->memory_bytes, allowed = at->cx->options.max_memory_bytes;
    uint64_t needed = plan_memory_of(at->graph, at->plan).total, inner;
    if (!graph_memory(at->graph, &inner) || needed > limit) return 0;
    uint64_t allowance = min64(limit - needed, min64(RAISE_BYTES_MAX, limit / 4));
    if (allowed == 0) return allowance;
    return inner < allowed ? min64(allowance, allowed - inner) : 0;
}

static uint64_t room_below_most(const struct placement *at, size_t buffer)
{
    uint64_t depth = at->graph->buffers.items[buffer].depth_packets;
    return at->most[buffer] > depth ? at->most[buffer] - depth : 0;
}

void plan_raise_depths(const struct placement *at)
{
    struct graph *graph = at->graph;
    struct wish *wishes = ARENA_ARRAY(at->arena, struct wish, graph->buffers.count);
    uint64_t allowance = raise_allowance(at);
    uint128 sum = 0;
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        wishes[i] = wish_for(at, buffer);
        wishes[i].packets =
            min64(wishes[i].packets, RAISE_BYTES_MAX / max64(buffer->width_bytes, 1));
        sum += (uint128)wishes[i].packets * buffer->width_bytes;
    }
    for (size_t i = 0; i < graph->buffers.count; i++) {
        uint64_t packets = wishes[i].packets;
        if (sum > allowance) packets = (uint64_t)((uint128)packets * allowance / sum);
        if (at->most != NULL) packets = min64(packets, room_below_most(at, i));
        raise_depth(at, &graph->buffers.items[i], &wishes[i], packets);
        graph->buffers.items[i].depth_grows = may_grow(at, &graph->buffers.items[i]);
    }
    (void)graph_memory(graph, &graph->memory_bytes); /* as it was where bufsize has refused it */
}
