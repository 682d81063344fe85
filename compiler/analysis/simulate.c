#include "compiler/analysis/simulate.h"

#include "compiler/analysis/ratio.h"

#define TOKENS_MAX (INT64_C(1) << 61) /* sums of two stay below 2^63 */

/* ---- building ---- */

static uint32_t net_node_of(struct net *net, uint32_t *local, uint32_t node,
                            const struct channels *channels)
{
    if (local[node] == 0) {
        net->nodes[net->node_count] =
            (struct net_node){.node = node, .repetitions = channels_repetitions(channels, node)};
        local[node] = ++net->node_count;
    }
    return local[node] - 1;
}

static void add_packets(struct net *net, const struct channels *channels, uint32_t index,
                        uint32_t from, uint32_t to)
{
    const struct channel *channel = &channels->items[index];
    net->arcs[net->arc_count++] = (struct net_arc){
        .from = from,
        .to = to,
        .add = channel->push,
        .take = channel->pop,
        .initial = channel_tokens(channels, channel),
        .channel = index,
        .kind = ARC_PACKETS,
    };
}

static void add_room(struct net *net, const struct channels *channels, uint32_t index,
                     uint32_t from, uint32_t to, struct net_depth depth)
{
    const struct channel *channel = &channels->items[index];
    const struct graph_buffer *buffer = &channels->graph->buffers.items[channel->buffer];
    net->arcs[net->arc_count++] = (struct net_arc){
        .from = to,
        .to = from,
        .add = channel->pop,
        .take = channel->push,
        .initial = (int64_t)depth.packets - (int64_t)buffer->initial.packets,
        .channel = index,
        .kind = depth.declared ? ARC_ROOM_DECLARED : ARC_ROOM,
    };
}

static void index_arcs(struct arena *arena, struct net *net)
{
    uint32_t n = net->node_count;
    net->in_arcs = ARENA_ARRAY(arena, uint32_t, net->arc_count);
    net->out_arcs = ARENA_ARRAY(arena, uint32_t, net->arc_count);
    for (uint32_t i = 0; i < net->arc_count; i++) {
        net->nodes[net->arcs[i].to + 1].first_in++;
        net->nodes[net->arcs[i].from + 1].first_out++;
    }
    for (uint32_t i = 1; i <= n; i++) {
        net->nodes[i].first_in += net->nodes[i - 1].first_in;
        net->nodes[i].first_out += net->nodes[i - 1].first_out;
    }
    uint32_t *in = ARENA_ARRAY(arena, uint32_t, n), *out = ARENA_ARRAY(arena, uint32_t, n);
    for (uint32_t i = 0; i < net->arc_count; i++) {
        const struct net_arc *arc = &net->arcs[i];
        net->in_arcs[net->nodes[arc->to].first_in + in[arc->to]++] = i;
        net->out_arcs[net->nodes[arc->from].first_out + out[arc->from]++] = i;
    }
}

static void divide_repetitions(struct net *net)
{
    uint64_t common = 0;
    for (uint32_t i = 0; i < net->node_count; i++)
        common = gcd64(common, net->nodes[i].repetitions);
    for (uint32_t i = 0; i < net->node_count && common; i++)
        net->nodes[i].repetitions /= common;
}

static bool product_fits(uint64_t a, uint64_t b)
{
    uint64_t product;
    return mul63(a, b, &product) && product <= TOKENS_MAX;
}

static void check_magnitudes(struct net *net)
{
    for (uint32_t i = 0; i < net->arc_count; i++) {
        const struct net_arc *arc = &net->arcs[i];
        if (arc->initial > TOKENS_MAX || arc->initial < -TOKENS_MAX || arc->take > TOKENS_MAX ||
            !product_fits(net->nodes[arc->from].repetitions, arc->add))
            net->too_large = true;
    }
}

struct net *net_create(struct arena *arena, const struct channels *channels,
                       const struct channel_block *block, const struct net_depth *depths)
{
    struct net *net = ARENA_NEW(arena, struct net);
    /* A connected block has at most one node more than it has channels. */
    size_t node_max = (size_t)block->count + 2;
    uint32_t *local = channels->local;
    net->nodes = ARENA_ARRAY(arena, struct net_node, node_max + 1);
    net->arcs = ARENA_ARRAY(arena, struct net_arc, (size_t)block->count * 2);
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t index = block->channels[i];
        uint32_t from = net_node_of(net, local, channels->items[index].from, channels);
        uint32_t to = net_node_of(net, local, channels->items[index].to, channels);
        add_packets(net, channels, index, from, to);
        if (depths) add_room(net, channels, index, from, to, depths[channels->items[index].buffer]);
    }
    for (uint32_t i = 0; i < net->node_count; i++)
        local[net->nodes[i].node] = 0;
    net->queue = ARENA_ARRAY(arena, uint32_t, net->node_count);
    index_arcs(arena, net);
    divide_repetitions(net);
    check_magnitudes(net);
    net_reset(net);
    return net;
}

void net_reset(struct net *net)
{
    for (uint32_t i = 0; i < net->arc_count; i++)
        net->arcs[i].tokens = net->arcs[i].initial;
    for (uint32_t i = 0; i < net->node_count; i++) {
        net->nodes[i].fired = 0;
        net->nodes[i].limit = net->nodes[i].repetitions;
        net->nodes[i].queued = false;
    }
    net->queue_head = net->queue_count = 0;
    net->fresh = true;
}

/* ---- running ---- */

static bool arc_blocks(const struct net_arc *arc)
{
    return !arc->absent && (arc->tokens < 0 || (uint64_t)arc->tokens < arc->take);
}

static void enqueue(struct net *net, uint32_t node)
{
    struct net_node *at = &net->nodes[node];
    if (at->queued || at->fired >= at->limit) return;
    uint32_t slot = net->queue_head + net->queue_count++;
    net->queue[slot >= net->node_count ? slot - net->node_count : slot] = node;
    at->queued = true;
}

void net_arc_add(struct net *net, uint32_t arc, uint64_t tokens)
{
    struct net_arc *at = &net->arcs[arc];
    if (tokens > TOKENS_MAX || at->initial > TOKENS_MAX - (int64_t)tokens) {
        net->too_large = true;
        return;
    }
    at->initial += (int64_t)tokens;
    at->tokens += (int64_t)tokens;
    enqueue(net, at->to);
}

static uint32_t dequeue(struct net *net)
{
    uint32_t node = net->queue[net->queue_head];
    if (++net->queue_head == net->node_count) net->queue_head = 0;
    net->queue_count--;
    net->nodes[node].queued = false;
    return node;
}

/* How often `node` can fire in a row, at most up to its limit. */
static uint64_t firings_in_a_row(const struct net *net, uint32_t node)
{
    const struct net_node *at = &net->nodes[node];
    uint64_t count = at->limit - at->fired;
    for (uint32_t i = at->first_in; i < at[1].first_in; i++) {
        const struct net_arc *arc = &net->arcs[net->in_arcs[i]];
        if (arc->absent) continue;
        if (arc_blocks(arc)) return 0;
        if (arc->from != arc->to) count = min64(count, (uint64_t)arc->tokens / arc->take);
    }
    return count;
}

uint64_t net_enabled(const struct net *net, uint32_t node)
{
    const struct net_node *at = &net->nodes[node];
    uint64_t count = UINT64_MAX;
    for (uint32_t i = at->first_in; i < at[1].first_in; i++) {
        const struct net_arc *arc = &net->arcs[net->in_arcs[i]];
        if (arc_blocks(arc)) return 0;
        if (!arc->absent) count = min64(count, (uint64_t)arc->tokens / arc->take);
    }
    return count;
}

static void fire(struct net *net, uint32_t node, uint64_t count)
{
    struct net_node *at = &net->nodes[node];
    at->fired += count;
    for (uint32_t i = at->first_in; i < at[1].first_in; i++) {
        struct net_arc *arc = &net->arcs[net->in_arcs[i]];
        if (!arc->absent && arc->from != arc->to) arc->tokens -= (int64_t)(count * arc->take);
    }
    for (uint32_t i = at->first_out; i < at[1].first_out; i++) {
        struct net_arc *arc = &net->arcs[net->out_arcs[i]];
        if (arc->absent || arc->from == arc->to) continue;
        arc->tokens += (int64_t)(count * arc->add);
        enqueue(net, arc->to);
    }
}

/* Steps weigh more at nodes with many arcs. */
static bool spend(const struct net *net, uint32_t node, uint64_t *budget)
{
    const struct net_node *at = &net->nodes[node];
    uint64_t arcs = at[1].first_in - at->first_in + at[1].first_out - at->first_out;
    uint64_t price = 1 + arcs / 8;
    if (*budget < price) {
        *budget = 0;
        return false;
    }
    *budget -= price;
    return true;
}

static bool drain(struct net *net, uint64_t *budget)
{
    while (net->queue_count) {
        uint32_t node = dequeue(net);
        if (!spend(net, node, budget)) return false;
        uint64_t count = firings_in_a_row(net, node);
        if (count) fire(net, node, count);
    }
    return true;
}

/* What the arc's taker needs in order to reach its limit; sets too_large where that does not fit.
 */
static bool raise_limit(struct net *net, const struct net_arc *arc)
{
    const struct net_node *taker = &net->nodes[arc->to];
    struct net_node *adder = &net->nodes[arc->from];
    if (!product_fits(taker->limit, arc->take)) {
        net->too_large = true;
        return false;
    }
    int128 wanted = (int128)taker->limit * (int128)arc->take - arc->initial;
    uint64_t limit = (uint64_t)((wanted + (int128)arc->add - 1) / (int128)arc->add);
    if (limit <= adder->limit) return false;
    for (uint32_t i = adder->first_out; i < adder[1].first_out; i++)
        if (!product_fits(limit, net->arcs[net->out_arcs[i]].add)) {
            net->too_large = true;
            return false;
        }
    adder->limit = limit;
    enqueue(net, arc->from);
    return true;
}

/* Nobody can fire.  A node that is kept below its limit by one that has reached its own lifts that
 * one's. */
static bool raise_limits(struct net *net)
{
    bool raised = false;
    for (uint32_t i = 0; i < net->arc_count; i++) {
        const struct net_arc *arc = &net->arcs[i];
        const struct net_node *taker = &net->nodes[arc->to], *adder = &net->nodes[arc->from];
        if (taker->fired < taker->limit && adder->fired >= adder->limit && arc_blocks(arc))
            raised |= raise_limit(net, arc);
    }
    return raised;
}

static bool all_fired(const struct net *net)
{
    for (uint32_t i = 0; i < net->node_count; i++)
        if (net->nodes[i].fired < net->nodes[i].repetitions) return false;
    return true;
}

enum net_outcome net_run(struct net *net, uint64_t *budget)
{
    if (net->too_large) return NET_UNDECIDED;
    for (uint32_t i = 0; net->fresh && i < net->node_count; i++)
        enqueue(net, i);
    net->fresh = false;
    for (;;) {
        if (!drain(net, budget)) return NET_UNDECIDED;
        if (all_fired(net)) return NET_LIVE;
        uint64_t price = 1 + net->arc_count / 8;
        *budget = *budget > price ? *budget - price : 0;
        bool raised = raise_limits(net);
        if (net->too_large || *budget == 0) return NET_UNDECIDED;
        if (!raised) return NET_STUCK;
    }
}

static uint64_t limit_that_fits(const struct net *net, uint32_t node)
{
    uint64_t limit = TOKENS_MAX;
    for (uint32_t i = net->nodes[node].first_out; i < net->nodes[node + 1].first_out; i++)
        limit = min64(limit, (uint64_t)TOKENS_MAX / net->arcs[net->out_arcs[i]].add);
    return limit;
}

void net_run_without(struct net *net, uint32_t held, uint64_t *budget)
{
    if (net->too_large) return;
    for (uint32_t i = 0; i < net->node_count; i++)
        net->nodes[i].limit = i == held ? 0 : limit_that_fits(net, i);
    for (uint32_t i = 0; i < net->node_count; i++)
        enqueue(net, i);
    drain(net, budget);
}

/* ---- why it is stuck ---- */

/* The arc that `node` waits for: one that leads to a node that waits too. */
static uint32_t waits_for(const struct net *net, uint32_t node)
{
    const struct net_node *at = &net->nodes[node];
    uint32_t best = GRAPH_NONE;
    for (uint32_t i = at->first_in; i < at[1].first_in; i++) {
        uint32_t index = net->in_arcs[i];
        const struct net_arc *arc = &net->arcs[index];
        if (!arc_blocks(arc)) continue;
        if (best == GRAPH_NONE || arc->kind < net->arcs[best].kind) best = index;
    }
    return best;
}

static uint32_t first_waiting(const struct net *net)
{
    for (uint32_t i = 0; i < net->node_count; i++)
        if (net->nodes[i].fired < net->nodes[i].limit) return i;
    return GRAPH_NONE;
}

struct net_cycle net_waiting(struct arena *arena, const struct net *net)
{
    struct net_cycle cycle = {ARENA_ARRAY(arena, uint32_t, net->node_count), 0};
    bool *seen = ARENA_ARRAY(arena, bool, net->node_count);
    uint32_t node = first_waiting(net);
    while (node != GRAPH_NONE && !seen[node]) {
        seen[node] = true;
        uint32_t arc = waits_for(net, node);
        node = arc == GRAPH_NONE ? GRAPH_NONE : net->arcs[arc].from;
    }
    if (node == GRAPH_NONE) return cycle;
    uint32_t start = node;
    do {
        uint32_t arc = waits_for(net, node);
        cycle.arcs[cycle.count++] = arc;
        node = net->arcs[arc].from;
    } while (node != start);
    return cycle;
}

uint64_t net_missing(const struct net *net, const struct net_cycle *cycle, uint32_t index)
{
    int128 firings = 1; /* of the node that the arc at `index` waits for */
    for (uint32_t i = 1; i < cycle->count; i++) {
        const struct net_arc *arc = &net->arcs[cycle->arcs[(index + i) % cycle->count]];
        int128 wanted = firings * (int128)arc->take - arc->tokens;
        firings = (wanted + (int128)arc->add - 1) / (int128)arc->add;
        if (firings > TOKENS_MAX) return 0;
        if (firings < 1) firings = 1;
    }
    const struct net_arc *arc = &net->arcs[cycle->arcs[index]];
    int128 missing = firings * (int128)arc->take - arc->tokens;
    return missing <= 0 || missing > TOKENS_MAX ? 0 : (uint64_t)missing;
}
