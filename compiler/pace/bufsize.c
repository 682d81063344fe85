/* SPDX-License-Identifier: MIT */
/*
 * bufsize: depths of the buffers.
 *
 * Requires  repetitions; deadlock_check without error.
 * Fills     depth_packets of undeclared buffers and outer ports, depth_min_packets and depth_reason
 *           of all, graph->memory_bytes.
 * Fails     RULE_BUFFER_BELOW_BURST, RULE_INITIAL_BEYOND_DEPTH, RULE_DEPTH_TOO_SMALL,
 *           RULE_MEMORY_LIMIT, RULE_LIVENESS_UNDECIDED.
 *
 * With bounded buffers a channel is two arcs (token_game.h).  So every cycle of the undirected graph
 * matters, and each biconnected block is examined by itself (channels.h).
 *
 * One channel.  Let it have push u, pop v, peek K, D initial packets, M = D - (K - v), g = gcd(u, v).
 * The pair of arcs has M + R tokens, where R = depth - D.  When neither end can fire, the packets are
 * below v and the room is below u.  The tokens of the packet arc are always M modulo g, those of the
 * room arc R modulo g.  Every combination with these remainders and the same sum is reached, because the
 * multiples of u and v modulo each other run through all multiples of g.  The largest number of packets
 * below v is v - g + (M mod g), the largest room below u is u - g + (R mod g).  So the pair cannot stop
 * exactly if M + R is larger than their sum.  Without the useless R mod g that is: M + R is at least
 * u + v - g + (M mod g).  Hence the minimum depth is
 *     max(D, K, u, u + v - g + (M mod g) + K - v)
 * (Murthy & Bhattacharyya, "Shared memory implementations of synchronous dataflow specifications", 2001;
 * Adé, Lauwereins & Peperstraete, DAC 1997).  It is a lower bound in any graph.  It is exact for a block
 * of one channel, however large the repetition counts are.
 *
 * Exceptions.  A node that writes to itself needs room D + u, because its room is claimed before its
 * packets are freed.  The history H of a window adds to all of the above.  A window that goes round a
 * frame of F packets is a pop of F.  Ends with phases are simulated, even in a block of one channel.
 *
 * Bounded rates.  The writer claims the maximum that a firing may write, while a reader may keep
 * K - 1 + H packets that make no window.  So depth >= maximum + K - 1 + H is enough where the buffer is
 * a bridge (bounded.c).  It is also necessary, because the packets may come one at a time.  Where
 * several readers are in one block, it is examined with a source of single packets and a depth that is
 * maximum - 1 less.  If that source cannot stop the block while it has no room for one packet, then the
 * real writer cannot while it has no room for the maximum.  For outputs in step the source writes a
 * share to each, and each depth is maximum - share less.
 *
 * Larger blocks.  The block is simulated from these lower bounds.  Where it is stuck, one undeclared
 * buffer of the circular wait is raised to the need of the node that waits for its room, and the
 * simulation goes on from there.
 *
 * If only one arc of the cycle is room, the raise is unavoidable: all other nodes wait for packets,
 * which no depth provides.  The cycle stays as it is until that buffer has the missing room, whatever
 * else is deeper.  So a buffer with only such raises has its minimum depth.  If all raises are
 * unavoidable, the result is the unique minimum.  Else the cheapest in bytes is raised, and afterwards
 * the depths are shrunk, largest first, each to its minimum with the others as they are.  That minimum
 * is found from below: all other depths are given, so every raise is unavoidable.
 *
 * Beyond the budget the depths of a periodic schedule are used (periodic.h).  Declared depths may leave
 * no such schedule.  Then, of the first CANDIDATES_MAX declared buffers of the block, the report names
 * the one that by itself makes a schedule possible for the fewest bytes.
 *
 * Finish.  A node that ends appends up to finish_max packets, beyond those that its readers may keep.
 * If the channel is a bridge, its reader drains it and keeps at most peek - 1 + H packets that make no
 * window.  So depth >= finish_max + peek - 1 + H is required for each reader.
 *
 * In a larger block a reader may wait for a node that waits for the writer, which fires no more.  There
 * the block is examined with finish_max packets less (for a bounded writer: with the larger of maximum
 * and finish_max, less 1).  With the examined depths the writer could reach its last firing.  So the
 * packets that it finds then, once no other node can fire, are no more than those depths.  Larger depths
 * only let the other nodes fire more.  A buffer that only `finish` writes has no channel, and never holds
 * more than its initial packets before the end.
 */
#include "compiler/pace/bufsize.h"
#include "compiler/pace/bufsize_internal.h"
#include "compiler/liveness/periodic.h"
#include "compiler/ir/ratio.h"
#include "compiler/diagnostics/diag_list.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    SIZE_STEPS = 20 * 1000 * 1000,
    LEAST_STEPS = 5 * 1000 * 1000, /* for shrinking and depth_min_packets */
    CANDIDATES_MAX = 8,
    FIX_WORK_MAX = 1000 * 1000, /* nodes x arcs of a block for which a fix is searched */
    CLIMBS_MAX = 64,            /* raises by the missing packets, before depths are halved */
    RAISE_CANDIDATES_MAX = 256, /* of one cycle */
};

/* ---- the need of a single buffer ---- */

static void raise_floor(struct sizing *sizing, uint64_t packets, enum depth_why why,
                        uint32_t reader)
{
    if (packets <= sizing->floor_packets) return;
    sizing->floor_packets = packets;
    sizing->floor_why = why;
    sizing->reader = reader;
}

/* Keeps room free for the packets that the writer appends when it ends, where others may wait
 * for it until then. */
static void reserve_ends(struct bufsize *pass)
{
    channels_reserve_end(&pass->channels);
    for (uint32_t i = 0; i < pass->channels.count; i++)
        pass->sizings[pass->channels.items[i].buffer].ending = pass->channels.items[i].ending;
}

/* The depth that one writer and one reader need, if each has one phase. */
static uint64_t pair_depth(const struct graph *graph, const struct channel *channel)
{
    const struct graph_buffer *buffer = &graph->buffers.items[channel->buffer];
    const struct graph_input *in = graph_reader_input(graph, buffer, channel->reader);
    uint64_t window = channel->peek - channel->pop, step = channel->pop;
    uint64_t reserve = channel->reserve;
    if (graph_window_wraps(graph, buffer, channel->reader)) {
        /* The reader goes through a frame of `peek` packets and frees it as one. */
        step = channel->peek;
        window = 0;
        reserve -= in->history;
    }
    uint64_t g = gcd64(channel->push, step);
    int64_t tokens = (int64_t)min64(buffer->initial.packets, INT64_MAX) - (int64_t)window;
    uint64_t both = add_clamped(channel->push, step - g + floor_mod(tokens, g));
    return add_clamped(add_clamped(both, window), reserve);
}

static void raise_floor_for_channel(struct bufsize *pass, const struct channel *channel)
{
    uint64_t initial = pass->graph->buffers.items[channel->buffer].initial.packets;
    struct sizing *sizing = &pass->sizings[channel->buffer];
    if (channel_has_phases(channel)) return; /* its net is run, however small */
    if (channel->from == channel->to)
        raise_floor(sizing, add_clamped(add_clamped(initial, channel->push), channel->reserve),
                    WHY_LOOP, channel->reader);
    else
        raise_floor(sizing, pair_depth(pass->graph, channel), WHY_PAIR, channel->reader);
}

/* The window, the write and the initial packets. */
static void raise_floor_for_ends(struct bufsize *pass, uint32_t index)
{
    const struct graph_buffer *buffer = &pass->graph->buffers.items[index];
    const struct graph_output *out = graph_writer(pass->graph, buffer);
    struct sizing *sizing = &pass->sizings[index];
    raise_floor(sizing, 1, WHY_PORT, 0);
    for (uint32_t r = 0; r < buffer->readers.count; r++)
        raise_floor(sizing, graph_window_packets(pass->graph, buffer, r), WHY_WINDOW, r);
    if (out)
        raise_floor(sizing, graph_push_most(&pass->graph->nodes.items[buffer->writer_node], out),
                    WHY_WRITE, 0);
    raise_floor(sizing, buffer->initial.packets, WHY_INITIAL, 0);
}

/* The largest number of packets with which the reader still lacks its window.  A bundle writes in shares,
 * so only some numbers occur. */
static uint64_t kept_packets(const struct graph *graph, const struct graph_buffer *buffer,
                             uint32_t reader)
{
    const struct graph_input *in = graph_reader_input(graph, buffer, reader);
    uint64_t share = graph_writer(graph, buffer)->share;
    uint64_t kept = max64(graph_window_packets(graph, buffer, reader), 1) - 1;
    if (share == 0 || in->pops || in->history) return kept;
    uint64_t g = gcd64(share, in->pop);
    int64_t beyond = (int64_t)min64(kept, INT64_MAX) - (int64_t)buffer->initial.packets;
    return kept - min64(floor_mod(beyond, g), kept);
}

/* A bounded writer claims its maximum while a reader may keep less than a window. */
static void raise_floor_for_bounded(struct bufsize *pass, uint32_t index)
{
    const struct graph_buffer *buffer = &pass->graph->buffers.items[index];
    if (!graph_is_bounded(pass->graph, buffer)) return;
    uint64_t most = graph_push_most(&pass->graph->nodes.items[buffer->writer_node],
                                    graph_writer(pass->graph, buffer));
    for (uint32_t r = 0; most && r < buffer->readers.count; r++) {
        raise_floor(&pass->sizings[index], add_clamped(most, kept_packets(pass->graph, buffer, r)),
                    WHY_BOUNDED, r);
    }
}

static void raise_floor_for_finish(struct bufsize *pass, uint32_t index)
{
    const struct graph_buffer *buffer = &pass->graph->buffers.items[index];
    const struct graph_output *out = graph_writer(pass->graph, buffer);
    if (!out || out->finish_max == 0) return;
    raise_floor(&pass->sizings[index], out->finish_max, WHY_FINISH, GRAPH_NONE);
    for (uint32_t r = 0; r < buffer->readers.count; r++) {
        uint64_t kept = max64(graph_window_packets(pass->graph, buffer, r), 1) - 1;
        raise_floor(&pass->sizings[index], add_clamped(out->finish_max, kept), WHY_FINISH, r);
    }
    if (out->push == 0 && buffer->readers.count > 1 && buffer->initial.packets > 0)
        raise_floor(&pass->sizings[index], add_clamped(out->finish_max, buffer->initial.packets),
                    WHY_FINISH_INITIAL, GRAPH_NONE);
}

static enum depth_fault declared_fault(const struct sizing *sizing,
                                       const struct graph_buffer *buffer, uint64_t burst)
{
    if (buffer->depth_packets < buffer->initial.packets) return FAULT_INITIAL;
    if (buffer->depth_packets < burst) return FAULT_BURST;
    return buffer->depth_packets < sizing->floor_packets ? FAULT_SMALL : FAULT_NONE;
}

/* Where a declaration is below the floor, the model continues with the floor: one mistake causes one
 * report. */
static void size_single_buffers(struct bufsize *pass)
{
    for (uint32_t i = 0; i < pass->graph->buffers.count; i++)
        raise_floor_for_ends(pass, i);
    uint64_t *burst = ARENA_ARRAY(pass->arena, uint64_t, pass->graph->buffers.count);
    for (uint32_t i = 0; i < pass->graph->buffers.count; i++)
        pass->sizings[i].certain_packets = burst[i] = pass->sizings[i].floor_packets;
    for (uint32_t i = 0; i < pass->channels.count; i++)
        raise_floor_for_channel(pass, &pass->channels.items[i]);
    for (uint32_t i = 0; i < pass->graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &pass->graph->buffers.items[i];
        struct sizing *sizing = &pass->sizings[i];
        raise_floor_for_bounded(pass, i);
        raise_floor_for_finish(pass, i);
        sizing->why = sizing->floor_why;
        sizing->depth_packets = sizing->floor_packets;
        sizing->waiter = GRAPH_NONE;
        sizing->declared = buffer->depth_declared;
        if (!sizing->declared) continue;
        sizing->fault = declared_fault(sizing, buffer, burst[i]);
        sizing->depth_packets =
            min64(max64(buffer->depth_packets, sizing->floor_packets), INT64_MAX);
    }
}

/* ---- the model ---- */

static uint32_t sized_buffer(const struct bufsize *pass, const struct net *net, uint32_t arc)
{
    return pass->channels.items[net->arcs[arc].channel].buffer;
}

/* Sets the room that a depth of `packets` gives to one buffer, in one net. */
static void set_depth(const struct bufsize *pass, struct net *net, uint32_t buffer,
                      uint64_t packets)
{
    for (uint32_t c = pass->first_channel[buffer]; c < pass->first_channel[buffer + 1]; c++) {
        const struct channel *channel = &pass->channels.items[c];
        if (pass->nets[channel->block] != net) continue;
        net->arcs[2 * pass->position[c] + 1].initial = net_room(&pass->channels, channel, packets);
    }
}

/* Makes the room of that buffer unlimited. */
static void set_unlimited(const struct bufsize *pass, struct net *net, uint32_t buffer,
                          bool unlimited)
{
    for (uint32_t c = pass->first_channel[buffer]; c < pass->first_channel[buffer + 1]; c++)
        if (pass->nets[pass->channels.items[c].block] == net)
            net->arcs[2 * pass->position[c] + 1].absent = unlimited;
}

static void set_kind(const struct bufsize *pass, struct net *net, uint32_t buffer,
                     enum arc_kind kind)
{
    for (uint32_t c = pass->first_channel[buffer]; c < pass->first_channel[buffer + 1]; c++)
        if (pass->nets[pass->channels.items[c].block] == net)
            net->arcs[2 * pass->position[c] + 1].kind = kind;
}

/* Applies the depths found so far: other blocks may have raised a buffer. */
static void apply_depths(const struct bufsize *pass, struct net *net)
{
    for (uint32_t i = 0; i < net->arc_count; i++) {
        const struct channel *channel = &pass->channels.items[net->arcs[i].channel];
        if (net->arcs[i].kind == ARC_PACKETS) continue;
        net->arcs[i].initial =
            net_room(&pass->channels, channel, pass->sizings[channel->buffer].depth_packets);
    }
}

static enum net_outcome rerun_net(struct net *net, uint64_t *budget)
{
    net_reset(net);
    return net_run(net, budget);
}

void bufsize_restart_nets(struct bufsize *pass, uint32_t buffer)
{
    uint64_t packets = pass->sizings[buffer].depth_packets;
    for (uint32_t c = pass->first_channel[buffer]; c < pass->first_channel[buffer + 1]; c++) {
        const struct channel *channel = &pass->channels.items[c];
        struct net *net = pass->nets[channel->block];
        if (net)
            net->arcs[2 * pass->position[c] + 1].initial =
                net_room(&pass->channels, channel, packets);
    }
}

/* The price in steps of setting the depth of a buffer in one of its nets. */
static uint64_t reader_price(const struct bufsize *pass, uint32_t buffer)
{
    return (pass->first_channel[buffer + 1] - pass->first_channel[buffer]) / 8;
}

/* Do all blocks of the buffer run with that depth? */
static enum net_outcome try_depth(const struct bufsize *pass, uint32_t buffer, uint64_t packets,
                                  uint64_t *budget)
{
    enum net_outcome outcome = NET_LIVE;
    uint32_t last = GRAPH_NONE;
    for (uint32_t c = pass->first_channel[buffer]; c < pass->first_channel[buffer + 1]; c++) {
        uint32_t block = pass->channels.items[c].block;
        struct net *net = pass->nets[block];
        if (!net || block == last || outcome != NET_LIVE) continue;
        *budget -= min64(*budget, reader_price(pass, buffer));
        if (*budget == 0) return NET_UNDECIDED;
        last = block;
        set_depth(pass, net, buffer, packets);
        outcome = rerun_net(net, budget);
        set_depth(pass, net, buffer, pass->sizings[buffer].depth_packets);
    }
    return outcome;
}

/* Packets that the buffer lacks in a stuck net before any node of the cycle can go on; 0: not
 * known from one arc. */
static uint64_t missing_of(const struct bufsize *pass, struct net *net, uint32_t buffer,
                           struct arena *scratch)
{
    struct net_cycle cycle = net_waiting(scratch, net);
    uint32_t at = GRAPH_NONE;
    for (uint32_t i = 0; i < cycle.count; i++) {
        if (net->arcs[cycle.arcs[i]].kind == ARC_PACKETS) continue;
        if (sized_buffer(pass, net, cycle.arcs[i]) != buffer) continue;
        if (at != GRAPH_NONE) return 0;
        at = i;
    }
    return at == GRAPH_NONE ? 0 : net_missing(net, &cycle, at);
}

/* Gives the buffer more packets in a running net. */
static void add_depth(const struct bufsize *pass, struct net *net, uint32_t buffer,
                      uint64_t packets)
{
    for (uint32_t c = pass->first_channel[buffer]; c < pass->first_channel[buffer + 1]; c++)
        if (pass->nets[pass->channels.items[c].block] == net)
            net_arc_add(net, 2 * pass->position[c] + 1, packets);
}

/* Raises *low by the demands of the cycles of one net: nothing between the old and the new *low
 * works. NET_LIVE: *low works; NET_STUCK: not known yet. */
static enum net_outcome climb_depth(const struct bufsize *pass, struct net *net, uint32_t buffer,
                                    uint64_t *low, uint64_t high, uint64_t *budget)
{
    struct arena *scratch = arena_create();
    enum net_outcome outcome;
    set_depth(pass, net, buffer, *low);
    net_reset(net);
    for (int i = 0; (outcome = net_run(net, budget)) == NET_STUCK && i < CLIMBS_MAX; i++) {
        uint64_t missing = missing_of(pass, net, buffer, scratch);
        arena_reset(scratch);
        if (missing >= high - *low) {
            *low = high;
            outcome = NET_LIVE;
        }
        if (missing == 0 || outcome == NET_LIVE) break;
        *low += missing;
        add_depth(pass, net, buffer, missing);
    }
    set_depth(pass, net, buffer, pass->sizings[buffer].depth_packets);
    arena_destroy(scratch);
    return outcome;
}

static enum net_outcome climb_all(const struct bufsize *pass, uint32_t buffer, uint64_t *low,
                                  uint64_t high, uint64_t *budget)
{
    enum net_outcome all = NET_LIVE;
    uint32_t last = GRAPH_NONE;
    for (uint32_t c = pass->first_channel[buffer]; c < pass->first_channel[buffer + 1]; c++) {
        uint32_t block = pass->channels.items[c].block;
        if (!pass->nets[block] || block == last || *low >= high) continue;
        *budget -= min64(*budget, reader_price(pass, buffer));
        if (*budget == 0) return NET_UNDECIDED;
        last = block;
        enum net_outcome outcome = climb_depth(pass, pass->nets[block], buffer, low, high, budget);
        if (outcome == NET_UNDECIDED) return outcome;
        if (outcome == NET_STUCK) all = NET_STUCK;
    }
    return all;
}

/* The minimum depth in low..high with which all blocks of the buffer run, with the others as
 * they are now; high works.  0: the budget is spent. */
static uint64_t search_depth(const struct bufsize *pass, uint32_t buffer, uint64_t low,
                             uint64_t high, uint64_t *budget)
{
    enum net_outcome climbed = climb_all(pass, buffer, &low, high, budget);
    if (climbed != NET_STUCK) return climbed == NET_LIVE ? low : 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        enum net_outcome outcome = try_depth(pass, buffer, middle, budget);
        if (outcome == NET_UNDECIDED) return 0;
        if (outcome == NET_LIVE)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

static void index_channels(struct bufsize *pass)
{
    size_t buffers = pass->graph->buffers.count;
    pass->first_channel = ARENA_ARRAY(pass->arena, uint32_t, buffers + 1);
    pass->position = ARENA_ARRAY(pass->arena, uint32_t, pass->channels.count);
    for (uint32_t i = 0; i < pass->channels.count; i++)
        pass->first_channel[pass->channels.items[i].buffer + 1]++;
    for (size_t i = 0; i < buffers; i++)
        pass->first_channel[i + 1] += pass->first_channel[i];
    for (uint32_t b = 0; b < pass->channels.block_count; b++)
        for (uint32_t i = 0; i < pass->channels.blocks[b].count; i++)
            pass->position[pass->channels.blocks[b].channels[i]] = i;
}

/* ---- declared depths ---- */

/* The minimum depth of `buffer` that makes the net live with undeclared rooms unlimited; it is
 * stuck with the present one. 0: none does, or the budget is spent. */
static uint64_t least_declared(struct bufsize *pass, struct net *net, uint32_t buffer)
{
    uint64_t low = pass->sizings[buffer].depth_packets, high = 0;
    set_unlimited(pass, net, buffer, true);
    if (rerun_net(net, &pass->budget) == NET_LIVE) {
        uint32_t first = pass->first_channel[buffer];
        uint64_t initial = pass->graph->buffers.items[buffer].initial.packets;
        for (uint32_t c = first; c < pass->first_channel[buffer + 1]; c++) {
            if (pass->nets[pass->channels.items[c].block] != net) continue;
            const struct net_arc *arc = &net->arcs[2 * pass->position[c] + 1];
            const struct net_node *writer = &net->nodes[arc->to];
            uint64_t written = mul_clamped(writer->limit / writer->phases + 1, arc->take);
            uint64_t kept = add_clamped(initial, pass->channels.items[c].reserve);
            high = max64(high, add_clamped(kept, written));
        }
    }
    set_unlimited(pass, net, buffer, false);
    while (high && low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        set_depth(pass, net, buffer, middle);
        enum net_outcome outcome = rerun_net(net, &pass->budget);
        if (outcome == NET_UNDECIDED) high = 0;
        if (outcome == NET_LIVE)
            high = middle;
        else
            low = middle;
    }
    set_depth(pass, net, buffer, pass->sizings[buffer].depth_packets);
    return high;
}

/* The declared buffers of a cycle, each once. */
static uint32_t declared_of_cycle(struct bufsize *pass, const struct net *net,
                                  const struct net_cycle *cycle, uint32_t *buffers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < cycle->count; i++) {
        if (net->arcs[cycle->arcs[i]].kind != ARC_ROOM_DECLARED) continue;
        uint32_t buffer = sized_buffer(pass, net, cycle->arcs[i]), k = 0;
        while (k < count && buffers[k] != buffer)
            k++;
        if (k == count) buffers[count++] = buffer;
    }
    return count;
}

static uint64_t growth_bytes(const struct bufsize *pass, uint32_t buffer, uint64_t packets)
{
    return mul_clamped(packets, pass->graph->buffers.items[buffer].width_bytes);
}

/* The cheapest buffer that fixes the block by itself; GRAPH_NONE: none does. */
static uint32_t choose_declared(struct bufsize *pass, struct net *net,
                                const struct waiting *waiting, uint64_t *depth)
{
    uint32_t best = GRAPH_NONE;
    uint64_t best_bytes = 0;
    for (uint32_t i = 0; i < waiting->buffer_count && i < CANDIDATES_MAX; i++) {
        uint32_t buffer = waiting->buffers[i];
        uint64_t least = least_declared(pass, net, buffer);
        if (least == 0) continue;
        uint64_t bytes = growth_bytes(pass, buffer, least - pass->sizings[buffer].depth_packets);
        if (best != GRAPH_NONE && bytes >= best_bytes) continue;
        best = buffer;
        best_bytes = bytes;
        *depth = least;
    }
    return best;
}

/* The net is stuck on declared depths: finds those that have to grow and goes on as if they had.
 * False: no depth is in the cycle (the graph itself is dead, which deadlock_check reports). */
static bool raise_declared(struct bufsize *pass, struct net *net)
{
    struct net_cycle cycle = net_waiting(pass->arena, net);
    struct waiting *waiting = bufsize_word_waiting(pass->arena, &pass->channels, net, &cycle);
    waiting->buffers = ARENA_ARRAY(pass->arena, uint32_t, cycle.count);
    waiting->buffer_count = declared_of_cycle(pass, net, &cycle, waiting->buffers);
    if (waiting->buffer_count == 0) return false;
    uint64_t depth = 0;
    uint32_t buffer = choose_declared(pass, net, waiting, &depth);
    if (buffer != GRAPH_NONE) {
        struct sizing *sizing = &pass->sizings[buffer];
        if (sizing->fault == FAULT_NONE) sizing->fault = FAULT_WAIT;
        waiting->cheapest = waiting->buffer_count > 1 && waiting->buffer_count <= CANDIDATES_MAX &&
                            pass->budget > 0;
        sizing->waiting = waiting;
        sizing->why = WHY_WAIT;
        sizing->depth_packets = sizing->least_packets = depth;
        set_depth(pass, net, buffer, depth);
        return true;
    }
    waiting->none_alone = waiting->buffer_count <= CANDIDATES_MAX && pass->budget > 0;
    for (uint32_t i = 0; i < waiting->buffer_count; i++) {
        struct sizing *sizing = &pass->sizings[waiting->buffers[i]];
        sizing->fault = FAULT_TOGETHER;
        sizing->waiting = waiting;
        sizing->declared = false;
        sizing->floor_packets = sizing->depth_packets; /* it has to grow */
        set_kind(pass, net, waiting->buffers[i], ARC_ROOM);
        set_unlimited(pass, net, waiting->buffers[i], true);
    }
    return true;
}

static void unlimit_undeclared(struct net *net, bool unlimited)
{
    for (uint32_t i = 0; i < net->arc_count; i++)
        if (net->arcs[i].kind == ARC_ROOM) net->arcs[i].absent = unlimited;
}

static bool has_declared(const struct net *net)
{
    for (uint32_t i = 0; i < net->arc_count; i++)
        if (net->arcs[i].kind == ARC_ROOM_DECLARED) return true;
    return false;
}

/* A raised depth may be larger than necessary after others have been raised as well, in this
 * block or in another. A depth that needs no raise any more is no fault of its own. */
static void tighten_declared(struct bufsize *pass)
{
    uint32_t count = (uint32_t)pass->graph->buffers.count;
    for (uint32_t i = 0; i < count; i++)
        if (pass->sizings[i].fault != FAULT_NONE) bufsize_restart_nets(pass, i);
    for (uint32_t i = 0; i < count; i++) {
        struct sizing *sizing = &pass->sizings[i];
        uint64_t given = pass->graph->buffers.items[i].depth_packets;
        if (sizing->fault == FAULT_NONE || !sizing->declared) continue;
        uint64_t least = search_depth(pass, i, max64(sizing->floor_packets, given),
                                      sizing->depth_packets, &pass->budget);
        sizing->loose = least == 0;
        if (least == 0) continue;
        sizing->depth_packets = least;
        if (least == given) sizing->fault = FAULT_NONE;
        bufsize_restart_nets(pass, i);
    }
}

/* Are the declared depths possible at all, with the others unlimited? */
static void check_all_declared(struct bufsize *pass)
{
    for (uint32_t b = 0; b < pass->channels.block_count; b++) {
        struct net *net = pass->nets[b];
        if (!net) continue;
        apply_depths(pass, net);
        unlimit_undeclared(net, true);
        while (has_declared(net) && rerun_net(net, &pass->budget) == NET_STUCK)
            if (!raise_declared(pass, net)) break;
    }
    tighten_declared(pass);
    for (uint32_t b = 0; b < pass->channels.block_count; b++)
        if (pass->nets[b]) unlimit_undeclared(pass->nets[b], false);
}

/* ---- undeclared depths ---- */

/* The depth that gives an arc of room that many tokens. */
static uint64_t arc_depth(const struct bufsize *pass, const struct net_arc *arc, uint64_t room)
{
    const struct channel *channel = &pass->channels.items[arc->channel];
    uint64_t initial = pass->graph->buffers.items[channel->buffer].initial.packets;
    return add_clamped(add_clamped(room, initial), channel->reserve);
}

/* The depth of `buffer` in the periodic schedule that is possible with any depth of it; 0: there
 * is none. */
static uint64_t periodic_depth(const struct bufsize *pass, struct net *net, uint32_t buffer,
                               uint64_t *room)
{
    uint64_t depth = 0;
    set_kind(pass, net, buffer, ARC_ROOM);
    bool found = periodic_schedule(net, room);
    for (uint32_t i = 0; found && i < net->arc_count; i++)
        if (net->arcs[i].kind == ARC_ROOM && sized_buffer(pass, net, i) == buffer)
            depth = max64(depth, arc_depth(pass, &net->arcs[i], room[i]));
    set_kind(pass, net, buffer, ARC_ROOM_DECLARED);
    return depth <= INT32_MAX ? depth : 0;
}

/* Tries the first candidates in the net.  Returns the declared buffer whose depth must grow by the fewest
 * bytes to make a periodic schedule possible.  GRAPH_NONE: no single one of them is enough. */
static uint32_t choose_periodic(const struct bufsize *pass, struct net *net, uint64_t *depth)
{
    uint64_t *room = ARENA_ARRAY(pass->arena, uint64_t, net->arc_count);
    uint32_t best = GRAPH_NONE, last = GRAPH_NONE, tried = 0;
    uint64_t best_bytes = 0;
    if ((uint64_t)net->node_count * net->arc_count > FIX_WORK_MAX) return GRAPH_NONE;
    for (uint32_t i = 0; i < net->arc_count && tried < CANDIDATES_MAX; i++) {
        uint32_t buffer = sized_buffer(pass, net, i);
        if (net->arcs[i].kind != ARC_ROOM_DECLARED || buffer == last) continue;
        last = buffer;
        tried++;
        uint64_t present = pass->sizings[buffer].depth_packets;
        uint64_t wanted = periodic_depth(pass, net, buffer, room);
        if (wanted <= present) continue;
        uint64_t bytes = growth_bytes(pass, buffer, wanted - present);
        if (best != GRAPH_NONE && bytes >= best_bytes) continue;
        best = buffer;
        best_bytes = bytes;
        *depth = wanted;
    }
    return best;
}

static void report_undecided_depths(struct bufsize *pass, struct net *net)
{
    const struct graph_buffer *buffer = &pass->graph->buffers.items[sized_buffer(pass, net, 0)];
    struct diag *d = diag_report(
        pass->cx->diags, RULE_LIVENESS_UNDECIDED, buffer->span,
        "no depths could be shown to be enough for the buffers around '%s'", buffer->name);
    diag_note(d,
              "simulation ended after %d steps, and no periodic schedule exists with the "
              "declared depths",
              (int)SIZE_STEPS);
    uint64_t depth = 0;
    uint32_t fix = choose_periodic(pass, net, &depth);
    if (fix == GRAPH_NONE) {
        diag_help(d, "larger declared depths, none at all, or rates with a larger common divisor "
                     "make it decidable");
        return;
    }
    const struct graph_buffer *declared = &pass->graph->buffers.items[fix];
    diag_label(d, declared->depth_span.source ? declared->depth_span : declared->span,
               "depth %" PRIu64, declared->depth_packets);
    diag_help(d,
              "give '%s' a depth of %" PRIu64
              ": a periodic schedule then exists (fewer may be enough)",
              declared->name, depth);
}

/* Uses the depths of a periodic schedule for the undeclared buffers of the block. */
static bool size_periodic(struct bufsize *pass, struct net *net)
{
    uint64_t *room = ARENA_ARRAY(pass->arena, uint64_t, net->arc_count);
    net_reset(net);
    if (!periodic_schedule(net, room)) return false;
    for (uint32_t i = 0; i < net->arc_count; i++) {
        if (net->arcs[i].kind != ARC_ROOM) continue;
        struct sizing *sizing = &pass->sizings[sized_buffer(pass, net, i)];
        uint64_t depth = arc_depth(pass, &net->arcs[i], room[i]);
        if (depth <= sizing->depth_packets) continue;
        sizing->depth_packets = depth;
        sizing->why = WHY_PERIODIC;
    }
    return true;
}

/* A node that waits for packets of another buffer than `raised`. */
static uint32_t waiting_for_packets(const struct bufsize *pass, const struct net *net,
                                    const struct net_cycle *cycle, uint32_t raised)
{
    for (uint32_t i = 0; i < cycle->count; i++) {
        const struct net_arc *arc = &net->arcs[cycle->arcs[i]];
        if (arc->kind == ARC_PACKETS && pass->channels.items[arc->channel].buffer != raised)
            return pass->channels.items[arc->channel].to;
    }
    return GRAPH_NONE;
}

/* Raises the cheapest undeclared buffer of the cycle by the missing packets.  False: there is
 * none. */
static bool raise_cheapest(struct bufsize *pass, struct net *net, struct arena *scratch)
{
    struct net_cycle cycle = net_waiting(scratch, net);
    uint32_t best = GRAPH_NONE, rooms = 0;
    uint64_t best_missing = 0, best_bytes = 0;
    for (uint32_t i = 0; i < cycle.count && rooms < RAISE_CANDIDATES_MAX; i++) {
        if (net->arcs[cycle.arcs[i]].kind != ARC_ROOM) continue;
        uint32_t buffer = sized_buffer(pass, net, cycle.arcs[i]);
        uint64_t missing = net_missing(net, &cycle, i);
        uint64_t bytes = growth_bytes(pass, buffer, missing);
        rooms++;
        if (missing == 0 || (best != GRAPH_NONE && bytes >= best_bytes)) continue;
        best = buffer;
        best_missing = missing;
        best_bytes = bytes;
    }
    if (best == GRAPH_NONE) return false;
    add_depth(pass, net, best, best_missing);
    struct sizing *sizing = &pass->sizings[best];
    sizing->depth_packets = add_clamped(sizing->depth_packets, best_missing);
    sizing->why = WHY_WAIT;
    if (rooms > 1) sizing->chosen = true;
    sizing->waiter = waiting_for_packets(pass, net, &cycle, best);
    return true;
}

static void size_block(struct bufsize *pass, uint32_t block)
{
    struct net *net = pass->nets[block];
    struct arena *scratch = arena_create();
    enum net_outcome outcome;
    apply_depths(pass, net);
    net_reset(net);
    while ((outcome = net_run(net, &pass->budget)) == NET_STUCK) {
        if (!raise_cheapest(pass, net, scratch)) break;
        arena_reset(scratch);
    }
    arena_destroy(scratch);
    if (outcome == NET_LIVE) return;
    pass->estimated[block] = true;
    if (!size_periodic(pass, net)) report_undecided_depths(pass, net);
}

/* One channel without phases. */
static bool floor_is_exact(const struct bufsize *pass, const struct channel_block *block)
{
    return block->count < 2 && !channel_has_phases(&pass->channels.items[block->channels[0]]);
}

static void size_blocks(struct bufsize *pass)
{
    pass->nets = ARENA_ARRAY(pass->arena, struct net *, pass->channels.block_count);
    pass->estimated = ARENA_ARRAY(pass->arena, bool, pass->channels.block_count);
    for (uint32_t i = 0; i < pass->graph->buffers.count; i++)
        pass->depths[i] =
            (struct net_depth){pass->sizings[i].depth_packets, pass->sizings[i].declared};
    for (uint32_t b = 0; b < pass->channels.block_count; b++) {
        if (floor_is_exact(pass, &pass->channels.blocks[b])) continue;
        pass->nets[b] =
            net_create(pass->arena, &pass->channels, &pass->channels.blocks[b], pass->depths);
    }
    check_all_declared(pass);
    for (uint32_t b = 0; b < pass->channels.block_count; b++)
        if (pass->nets[b]) size_block(pass, b);
}

/* ---- the minimum of each ---- */

static bool is_estimated(const struct bufsize *pass, uint32_t buffer)
{
    for (uint32_t c = pass->first_channel[buffer]; c < pass->first_channel[buffer + 1]; c++)
        if (pass->estimated[pass->channels.items[c].block]) return true;
    return false;
}

static uint64_t find_least(struct bufsize *pass, uint32_t buffer)
{
    const struct sizing *sizing = &pass->sizings[buffer];
    uint64_t low = sizing->floor_packets, high = sizing->depth_packets;
    if (low == high) return high;
    if (is_estimated(pass, buffer)) return 0;
    if (!sizing->declared && !sizing->chosen) return high; /* no raise could be avoided */
    return search_depth(pass, buffer, low, high, &pass->least_budget);
}

struct ranked {
    uint64_t bytes;
    uint32_t buffer;
};

static int compare_depth_ranks(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

/* Undeclared buffers first, largest first: those are cut to their minimum, which the later ones
 * cannot raise (a buffer that shrinks never lets another one shrink further). */
void bufsize_find_least(struct bufsize *pass, bool shrinks)
{
    uint32_t count = (uint32_t)pass->graph->buffers.count;
    struct ranked *order = ARENA_ARRAY(pass->arena, struct ranked, count);
    for (uint32_t i = 0; i < count; i++)
        order[i] = (struct ranked){growth_bytes(pass, i, pass->sizings[i].depth_packets), i};
    qsort(order, count, sizeof *order, compare_depth_ranks);
    for (uint32_t i = 0; i < count; i++)
        bufsize_restart_nets(pass, i);
    for (uint32_t k = 0; k < 2 * count; k++) {
        struct sizing *sizing = &pass->sizings[order[k % count].buffer];
        if (sizing->declared != (k >= count)) continue;
        uint64_t least = find_least(pass, order[k % count].buffer);
        sizing->least_packets = least;
        if (!shrinks || sizing->declared || least == 0 || least == sizing->depth_packets) continue;
        sizing->depth_packets = least;
        if (least == sizing->floor_packets) sizing->why = sizing->floor_why;
        bufsize_restart_nets(pass, order[k % count].buffer);
    }
}

/* ---- the pass ---- */

static void fill_graph(struct bufsize *pass)
{
    for (uint32_t i = 0; i < pass->graph->buffers.count; i++) {
        struct graph_buffer *buffer = &pass->graph->buffers.items[i];
        const struct sizing *sizing = &pass->sizings[i];
        if (!buffer->depth_declared) buffer->depth_packets = sizing->depth_packets;
        buffer->depth_paced = sizing->paced;
        buffer->depth_min_packets = sizing->least_packets;
        buffer->depth_reason = bufsize_reason(pass->cx->arena, pass->graph, i, sizing);
    }
}

/* Inner buffers together; the minimum of each port by itself. */
static void check_memory(struct compile *cx, struct graph *graph)
{
    uint64_t limit = cx->options.max_memory_bytes ? cx->options.max_memory_bytes : INT64_MAX;
    if (!graph_memory(graph, &graph->memory_bytes) || graph->memory_bytes > limit)
        bufsize_report_memory(cx, graph, limit);
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (buffer->outer != GRAPH_INNER &&
            buffer->depth_min_packets > limit / max64(buffer->width_bytes, 1))
            bufsize_report_port_memory(cx, buffer, limit);
    }
}

static bool has_fault(const struct bufsize *pass)
{
    bool any = diag_has(pass->cx->diags, RULE_LIVENESS_UNDECIDED);
    for (uint32_t i = 0; i < pass->graph->buffers.count; i++)
        any |= pass->sizings[i].fault != FAULT_NONE;
    return any;
}

static void choose_by_mode(struct bufsize *pass)
{
    pass->graph->buffers_mode = pass->cx->options.buffers;
    if (pass->cx->options.explores) bufsize_explore(pass);
    if (pass->graph->unproven) return;
    if (pass->cx->options.buffers == BUFFERS_MIN) bufsize_minimise(pass);
    if (pass->cx->options.buffers == BUFFERS_FAST && !pass->cx->options.depths_by_clock)
        bufsize_quicken(pass);
}

void bufsize_assign(struct compile *cx, struct graph *graph)
{
    struct arena *arena = arena_create();
    struct bufsize pass = {
        .cx = cx,
        .graph = graph,
        .arena = arena,
        .channels = channels_collect(arena, graph, CHANNELS_OUTER),
        .sizings = ARENA_ARRAY(arena, struct sizing, graph->buffers.count),
        .depths = ARENA_ARRAY(arena, struct net_depth, graph->buffers.count),
        .budget = SIZE_STEPS,
        .least_budget = LEAST_STEPS,
    };
    channels_cut(arena, &pass.channels, NULL);
    index_channels(&pass);
    reserve_ends(&pass);
    size_single_buffers(&pass);
    size_blocks(&pass);
    bufsize_find_least(&pass, true);
    if (!has_fault(&pass)) choose_by_mode(&pass);
    bufsize_report_faults(cx, graph, pass.sizings);
    fill_graph(&pass);
    check_memory(cx, graph);
    arena_destroy(arena);
}
