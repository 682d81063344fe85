/* SPDX-License-Identifier: MIT */
#include "compiler/liveness/token_game.h"

#include "compiler/ir/ratio.h"
#include "compiler/support/bucket.h"

#define TOKENS_MAX (INT64_C(1) << 61) /* sums of two stay below 2^63 */

enum { WORD_BITS = 64 };

/* The walk from the first waiting node along the arc that each node waits for. */
struct net_trail {
    uint32_t *nodes, *arcs; /* nodes[i] waits on arcs[i] */
    uint32_t *place;        /* node -> 1 + its index in `nodes`; 0: not on the way */
    uint32_t count;
    uint32_t valid;  /* the first `valid` nodes have not been asked since */
    uint64_t walked; /* arcs examined that no budget has paid for yet */
    /* Nodes below their limit: a bit each, and a bit for each word of those that is not zero. */
    uint64_t *waiting, *words;
};

/* ---- sequences with a period ---- */

static uint32_t phase_at(const struct net_node *node, uint64_t firing)
{
    return node->phases == 1 ? 0 : (uint32_t)(firing % node->phases);
}

static uint32_t phase_of(const struct net_node *node)
{
    return phase_at(node, node->fired);
}

static uint128 tokens_added(const struct net *net, const struct net_arc *arc, uint32_t phase,
                            uint64_t count)
{
    return channels_sum(arc->add_sums, arc->add, net->nodes[arc->from].phases, phase, count);
}

static uint128 tokens_taken(const struct net *net, const struct net_arc *arc, uint32_t phase,
                            uint64_t count)
{
    return channels_sum(arc->take_sums, arc->take, net->nodes[arc->to].phases, phase, count);
}

static uint64_t need_in(const struct net_arc *arc, uint32_t phase)
{
    return arc->needs ? arc->needs[phase] : arc->need;
}

/* Place of the taker's next firing in the frame, or round, of its window. */
static uint64_t taker_place(const struct net *net, const struct net_arc *arc)
{
    return net->nodes[arc->to].fired % arc->frame;
}

static uint64_t need_at_place(const struct net_arc *arc, uint64_t place)
{
    uint64_t left = arc->frame - place;
    return arc->whole ? left : min64(left, arc->need);
}

/* The number of firings with a window, from the packet at `place` on, that `tokens` are enough
 * for. */
static uint64_t window_firings_affordable(const struct net_arc *arc, uint64_t place,
                                          uint64_t tokens)
{
    uint64_t end = add_clamped(place, tokens), whole = end - end % arc->frame;
    uint64_t seen = !arc->whole && tokens > arc->reach ? end - arc->reach : 0;
    uint64_t last = max64(whole, seen);
    return last > place ? last - place : 0;
}

uint64_t net_need(const struct net *net, const struct net_arc *arc)
{
    if (arc->frame > 0) return need_at_place(arc, taker_place(net, arc));
    return need_in(arc, phase_of(&net->nodes[arc->to]));
}

/* The maximum of tokens that one of `count` firings from phase `phase` on depends on; count >=
 * 1.  A firing depends on more than the firing one cycle before it, so the last cycle decides. */
static uint128 tokens_wanted(const struct net *net, const struct net_arc *arc, uint32_t phase,
                             uint64_t count)
{
    uint32_t phases = net->nodes[arc->to].phases;
    if (!arc->take_sums && !arc->needs) return tokens_taken(net, arc, phase, count - 1) + arc->need;
    uint128 most = 0;
    for (uint64_t i = count - min64(count, phases); i < count; i++) {
        uint128 one = tokens_taken(net, arc, phase, i) +
                      need_in(arc, (uint32_t)((phase + i % phases) % phases));
        if (one > most) most = one;
    }
    return most;
}

uint64_t net_cycle_need(const struct net *net, const struct net_arc *arc)
{
    uint128 need = tokens_wanted(net, arc, 0, net->nodes[arc->to].phases);
    return need > INT64_MAX ? INT64_MAX : (uint64_t)need;
}

/* The minimum number of firings of the adder from phase `phase` on that add `tokens`. */
static uint128 firings_to_add(const struct net *net, const struct net_arc *arc, uint32_t phase,
                              uint128 tokens)
{
    return channels_firings(arc->add_sums, arc->add, net->nodes[arc->from].phases, phase, tokens);
}

/* The number of firings of the taker from now on that the tokens of the arc are enough for, up
 * to `most`. */
static uint64_t firings_affordable(const struct net *net, const struct net_arc *arc, uint64_t most)
{
    const struct net_node *taker = &net->nodes[arc->to];
    uint32_t phase = phase_of(taker);
    if (arc->frame > 0 && arc->tokens >= 0)
        return min64(most,
                     window_firings_affordable(arc, taker_place(net, arc), (uint64_t)arc->tokens));
    if (arc->tokens < 0 || (uint64_t)arc->tokens < need_in(arc, phase)) return 0;
    uint64_t tokens = (uint64_t)arc->tokens, count = 0;
    if (!arc->take_sums && !arc->needs) return min64(most, (tokens - arc->need) / arc->take + 1);
    uint128 cycle = tokens_wanted(net, arc, phase, taker->phases);
    if (tokens >= cycle) {
        uint64_t cycles = (tokens - (uint64_t)cycle) / arc->take + 1;
        if (cycles > most / taker->phases) return most;
        count = cycles * taker->phases;
        tokens -= cycles * arc->take;
    }
    for (; count < most && tokens >= need_in(arc, phase); count++) {
        tokens -= (uint64_t)tokens_taken(net, arc, phase, 1);
        phase = phase + 1 == taker->phases ? 0 : phase + 1;
    }
    return count;
}

/* The same for an arc from a node to itself, whose tokens are the same after each cycle. */
static uint64_t loop_firings_affordable(const struct net *net, const struct net_arc *arc,
                                        uint64_t most)
{
    const struct net_node *node = &net->nodes[arc->to];
    uint32_t phase = phase_of(node);
    int64_t tokens = arc->tokens;
    if (arc->frame > 0) {
        uint64_t place = taker_place(net, arc);
        if (tokens < 0 || (uint64_t)tokens < need_at_place(arc, place)) return 0;
        /* Later places of a frame need less; the first one needs the maximum. */
        return (uint64_t)tokens < need_at_place(arc, 0) ? min64(most, arc->frame - place) : most;
    }
    for (uint64_t count = 0; count < node->phases; count++) {
        if (tokens < 0 || (uint64_t)tokens < need_in(arc, phase)) return min64(count, most);
        tokens +=
            (int64_t)tokens_added(net, arc, phase, 1) - (int64_t)tokens_taken(net, arc, phase, 1);
        phase = phase + 1 == node->phases ? 0 : phase + 1;
    }
    return most;
}

/* ---- building ---- */

static uint32_t net_node_of(struct net *net, uint32_t *local, uint32_t node,
                            const struct channels *channels, uint32_t phases)
{
    if (local[node] == 0) {
        net->nodes[net->node_count] = (struct net_node){
            .node = node, .phases = phases, .repetitions = channels_repetitions(channels, node)};
        local[node] = ++net->node_count;
    }
    return local[node] - 1;
}

static int64_t clamped_tokens(uint64_t tokens)
{
    return (int64_t)min64(tokens, INT64_MAX);
}

static void add_packets(struct net *net, const struct channels *channels, uint32_t index,
                        uint32_t from, uint32_t to)
{
    const struct channel *channel = &channels->items[index];
    const struct graph_buffer *buffer = &channels->graph->buffers.items[channel->buffer];
    net->arcs[net->arc_count++] = (struct net_arc){
        .from = from,
        .to = to,
        .add = channel->push,
        .take = channel->pop,
        .need = channel->peek,
        .add_sums = channel->push_sums,
        .take_sums = channel->pop_sums,
        .needs = channel->peeks,
        .initial = clamped_tokens(buffer->initial.packets),
        .channel = index,
        .kind = ARC_PACKETS,
    };
}

int64_t net_room(const struct channels *channels, const struct channel *channel, uint64_t depth)
{
    uint64_t initial = channels->graph->buffers.items[channel->buffer].initial.packets;
    return clamped_tokens(depth) - clamped_tokens(add_clamped(initial, channel->reserve));
}

/* The room that each phase of the writer needs is the room that it takes. */
static const uint64_t *room_needs(struct arena *arena, const struct channel *channel)
{
    if (!channel->push_sums) return NULL;
    uint64_t *needs = ARENA_ARRAY(arena, uint64_t, channel->from_phases);
    for (uint32_t i = 0; i < channel->from_phases; i++)
        needs[i] = channel->push_sums[i + 1] - channel->push_sums[i];
    return needs;
}

static void add_room_arc(struct arena *arena, struct net *net, const struct channels *channels,
                         uint32_t index, uint32_t from, uint32_t to, struct net_depth depth)
{
    const struct channel *channel = &channels->items[index];
    net->arcs[net->arc_count++] = (struct net_arc){
        .from = to,
        .to = from,
        .add = channel->pop,
        .take = channel->push,
        .need = channel->push,
        .add_sums = channel->pop_sums,
        .take_sums = channel->push_sums,
        .needs = room_needs(arena, channel),
        .initial = net_room(channels, channel, depth.packets),
        .channel = index,
        .kind = depth.declared ? ARC_ROOM_DECLARED : ARC_ROOM,
    };
}

static void index_net_arcs(struct arena *arena, struct net *net)
{
    const size_t size = sizeof *net->arcs;
    struct buckets in = bucket_by(arena, net->arcs, size, offsetof(struct net_arc, to),
                                  net->arc_count, net->node_count);
    struct buckets out = bucket_by(arena, net->arcs, size, offsetof(struct net_arc, from),
                                   net->arc_count, net->node_count);
    net->in_arcs = in.items;
    net->out_arcs = out.items;
    for (uint32_t i = 0; i <= net->node_count; i++) {
        net->nodes[i].first_in = in.first[i];
        net->nodes[i].first_out = out.first[i];
    }
}

static bool product_fits(uint64_t a, uint64_t b)
{
    uint64_t product;
    return mul63(a, b, &product) && product <= TOKENS_MAX;
}

static uint32_t word_count(uint32_t bits)
{
    return bits / WORD_BITS + 1;
}

static struct net_trail *trail_create(struct arena *arena, uint32_t nodes)
{
    struct net_trail *trail = ARENA_NEW(arena, struct net_trail);
    trail->nodes = ARENA_ARRAY(arena, uint32_t, nodes);
    trail->arcs = ARENA_ARRAY(arena, uint32_t, nodes);
    trail->place = ARENA_ARRAY(arena, uint32_t, nodes);
    trail->waiting = ARENA_ARRAY(arena, uint64_t, word_count(nodes));
    trail->words = ARENA_ARRAY(arena, uint64_t, word_count(word_count(nodes)));
    return trail;
}

static void check_magnitudes(struct net *net)
{
    for (uint32_t i = 0; i < net->arc_count; i++) {
        const struct net_arc *arc = &net->arcs[i];
        const struct net_node *adder = &net->nodes[arc->from];
        if (arc->initial > TOKENS_MAX || arc->initial < -TOKENS_MAX || arc->take > TOKENS_MAX ||
            arc->need > TOKENS_MAX || !product_fits(adder->repetitions / adder->phases, arc->add))
            net->too_large = true;
    }
}

/* Call it when all nodes and arcs are there. */
static void complete_net(struct arena *arena, struct net *net)
{
    net->queue = ARENA_ARRAY(arena, uint32_t, net->node_count);
    net->blocked = ARENA_ARRAY(arena, uint32_t, net->node_count);
    net->trail = trail_create(arena, net->node_count);
    index_net_arcs(arena, net);
    check_magnitudes(net);
    net_reset(net);
}

struct net *net_of_arcs(struct arena *arena, const struct net_arc *arcs, uint32_t arc_count,
                        const uint64_t *repetitions, uint32_t node_count)
{
    struct net *net = ARENA_NEW(arena, struct net);
    net->nodes = ARENA_ARRAY(arena, struct net_node, (size_t)node_count + 1);
    net->node_count = node_count;
    for (uint32_t i = 0; i < node_count; i++)
        net->nodes[i] = (struct net_node){.node = i, .phases = 1, .repetitions = repetitions[i]};
    net->arcs = arena_copy(arena, arcs, arc_count * sizeof *arcs);
    net->arc_count = arc_count;
    complete_net(arena, net);
    return net;
}

struct net *net_create(struct arena *arena, const struct channels *channels,
                       const struct channel_block *block, const struct net_depth *depths)
{
    struct net *net = ARENA_NEW(arena, struct net);
    const uint32_t count = block ? block->count : channels->count;
    const struct graph *graph = channels->graph;
    uint32_t *local = channels->local;
    size_t node_max =
        block ? min64(2 * (uint64_t)count, channels->node_count) : channels->node_count;
    net->nodes = ARENA_ARRAY(arena, struct net_node, node_max + 1);
    net->arcs = ARENA_ARRAY(arena, struct net_arc, (size_t)count * 2);
    for (uint32_t i = 0; !block && i < graph->nodes.count; i++)
        (void)net_node_of(net, local, i, channels, graph_phases(&graph->nodes.items[i]));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = block ? block->channels[i] : i;
        const struct channel *channel = &channels->items[index];
        uint32_t from = net_node_of(net, local, channel->from, channels, channel->from_phases);
        uint32_t to = net_node_of(net, local, channel->to, channels, channel->to_phases);
        add_packets(net, channels, index, from, to);
        if (depths) add_room_arc(arena, net, channels, index, from, to, depths[channel->buffer]);
    }
    for (uint32_t i = 0; i < net->node_count; i++)
        local[net->nodes[i].node] = 0;
    uint64_t common = 0;
    for (uint32_t i = 0; i < net->node_count; i++)
        common = gcd64(common, net->nodes[i].repetitions / net->nodes[i].phases);
    for (uint32_t i = 0; i < net->node_count && common; i++)
        net->nodes[i].repetitions /= common;
    complete_net(arena, net);
    return net;
}

static void mark_waiting(struct net *net, uint32_t node, bool waits)
{
    uint32_t word = node / WORD_BITS;
    uint64_t *bits = &net->trail->waiting[word], *words = &net->trail->words[word / WORD_BITS];
    if (waits)
        *bits |= UINT64_C(1) << node % WORD_BITS;
    else
        *bits &= ~(UINT64_C(1) << node % WORD_BITS);
    if (*bits)
        *words |= UINT64_C(1) << word % WORD_BITS;
    else
        *words &= ~(UINT64_C(1) << word % WORD_BITS);
}

void net_reset(struct net *net)
{
    for (uint32_t i = 0; i < net->arc_count; i++) {
        net->arcs[i].tokens = net->arcs[i].initial;
        net->arcs[i].kept_left = net->arcs[i].kept;
    }
    for (uint32_t i = 0; i < net->node_count; i++) {
        net->nodes[i].fired = 0;
        net->nodes[i].limit = net->nodes[i].repetitions;
        net->nodes[i].queued = net->nodes[i].blocked = false;
        mark_waiting(net, i, net->nodes[i].limit > 0);
    }
    net->queue_head = net->queue_count = net->blocked_count = 0;
    net->unfinished = net->node_count;
    net->trail->valid = 0;
    net->fresh = true;
}

/* ---- running ---- */

static bool arc_blocks(const struct net *net, const struct net_arc *arc)
{
    return !arc->absent && (arc->tokens < 0 || (uint64_t)arc->tokens < net_need(net, arc));
}

void net_ask(struct net *net, uint32_t node)
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
    net_ask(net, at->to);
}

bool net_next(struct net *net, uint32_t *node)
{
    if (net->queue_count == 0) return false;
    *node = net->queue[net->queue_head];
    if (++net->queue_head == net->node_count) net->queue_head = 0;
    net->queue_count--;
    net->nodes[*node].queued = false;
    return true;
}

/* The number of times that `node` can fire in a row, up to its limit.  Begins with the arc that
 * last blocked it: a node with many arcs is asked whenever one of them gets tokens, and so it
 * passes each arc once per firing.  *seen: arcs examined. */
static uint64_t firings_in_a_row(struct net *net, uint32_t node, uint32_t *seen)
{
    struct net_node *at = &net->nodes[node];
    uint64_t count = at->limit - at->fired;
    uint32_t in = at[1].first_in - at->first_in;
    for (*seen = 0; count && *seen < in; ++*seen) {
        uint32_t place = at->keeper + *seen < in ? at->keeper + *seen : at->keeper + *seen - in;
        const struct net_arc *arc = &net->arcs[net->in_arcs[at->first_in + place]];
        if (arc->absent) continue;
        count = arc->from == arc->to ? loop_firings_affordable(net, arc, count)
                                     : firings_affordable(net, arc, count);
        if (count) continue;
        at->keeper = place;
    }
    return count;
}

uint64_t net_enabled(const struct net *net, uint32_t node)
{
    const struct net_node *at = &net->nodes[node];
    uint64_t count = UINT64_MAX;
    for (uint32_t i = at->first_in; count && i < at[1].first_in; i++) {
        const struct net_arc *arc = &net->arcs[net->in_arcs[i]];
        if (!arc->absent) count = firings_affordable(net, arc, count);
    }
    return count;
}

uint64_t net_ready(const struct net *net, uint32_t node)
{
    const struct net_node *at = &net->nodes[node];
    return min64(net_enabled(net, node), at->limit - at->fired);
}

void net_start(struct net *net, uint32_t node, uint64_t count)
{
    struct net_node *at = &net->nodes[node];
    uint32_t phase = phase_of(at);
    bool finished = at->fired >= at->repetitions;
    at->fired += count;
    if (at->fired >= at->repetitions && !finished) net->unfinished--;
    if (at->fired >= at->limit) mark_waiting(net, node, false);
    for (uint32_t i = at->first_in; i < at[1].first_in; i++) {
        struct net_arc *arc = &net->arcs[net->in_arcs[i]];
        if (!arc->absent) arc->tokens -= (int64_t)tokens_taken(net, arc, phase, count);
    }
}

void net_end(struct net *net, uint32_t node, uint64_t first, uint64_t count)
{
    const struct net_node *at = &net->nodes[node];
    uint32_t phase = phase_at(at, first);
    for (uint32_t i = at->first_out; i < at[1].first_out; i++) {
        struct net_arc *arc = &net->arcs[net->out_arcs[i]];
        if (arc->absent) continue;
        uint64_t added = (uint64_t)tokens_added(net, arc, phase, count);
        uint64_t kept = min64(arc->kept_left, added);
        arc->kept_left -= kept;
        arc->tokens += (int64_t)(added - kept);
        if (arc->from != arc->to) net_ask(net, arc->to);
    }
}

void net_fire(struct net *net, uint32_t node, uint64_t count)
{
    if (net->trace) {
        struct net_trace *trace = net->trace;
        trace->is_cut |= trace->runs.count == trace->most;
        if (!trace->is_cut) vec_push(trace->arena, &trace->runs, (struct net_firings){node, count});
    }
    net_start(net, node, count);
    net_end(net, node, net->nodes[node].fired - count, count);
}

/* Steps cost more if many arcs are examined, and with many phases. */
static bool pay_attempt(const struct net *net, uint32_t node, uint32_t arcs, uint64_t *budget)
{
    uint64_t price = 1 + (uint64_t)arcs * net->nodes[node].phases / 8;
    if (*budget < price) {
        *budget = 0;
        return false;
    }
    *budget -= price;
    return true;
}

static uint32_t in_count(const struct net *net, uint32_t node)
{
    return net->nodes[node + 1].first_in - net->nodes[node].first_in;
}

static bool run_queue(struct net *net, uint64_t *budget)
{
    for (uint32_t node, seen; net_next(net, &node);) {
        uint64_t count = firings_in_a_row(net, node, &seen);
        if (count) {
            net_fire(net, node, count);
            seen += net->nodes[node + 1].first_out - net->nodes[node].first_out;
        }
        if (!pay_attempt(net, node, seen, budget)) return false;
        /* The arc that the node waits for may have changed. */
        uint32_t place = net->trail->place[node];
        if (place && place <= net->trail->valid) net->trail->valid = place - 1;
        struct net_node *at = &net->nodes[node];
        if (at->blocked || at->fired >= at->limit) continue;
        net->blocked[net->blocked_count++] = node;
        at->blocked = true;
    }
    return true;
}

/* Do the tokens of that many firings of `adder` stay below the limit on every arc out of it? */
static bool limit_fits(const struct net *net, const struct net_node *adder, uint128 limit)
{
    if (limit > TOKENS_MAX) return false;
    for (uint32_t i = adder->first_out; i < adder[1].first_out; i++)
        if (!product_fits((uint64_t)limit / adder->phases + 1, net->arcs[net->out_arcs[i]].add))
            return false;
    return true;
}

/* Raises the adder's limit to the need of the arc's taker at its own limit; sets too_large where
 * that does not fit. */
static bool raise_limit(struct net *net, const struct net_arc *arc)
{
    const struct net_node *taker = &net->nodes[arc->to];
    struct net_node *adder = &net->nodes[arc->from];
    int128 missing = (int128)tokens_wanted(net, arc, 0, taker->limit) - arc->initial;
    uint128 limit = missing > 0 ? firings_to_add(net, arc, 0, (uint128)missing) : 0;
    if (limit <= adder->limit) return false;
    if (!limit_fits(net, adder, limit)) {
        net->too_large = true;
        return false;
    }
    adder->limit = (uint64_t)limit;
    mark_waiting(net, arc->from, adder->fired < adder->limit);
    net_ask(net, arc->from);
    return true;
}

/* A node below its limit that waits for a node at its limit raises that node's limit. */
static bool raise_adders(struct net *net, uint32_t node)
{
    const struct net_node *taker = &net->nodes[node];
    bool raised = false;
    for (uint32_t i = taker->first_in; i < taker[1].first_in; i++) {
        const struct net_arc *arc = &net->arcs[net->in_arcs[i]];
        const struct net_node *adder = &net->nodes[arc->from];
        if (taker->fired < taker->limit && adder->fired >= adder->limit && arc_blocks(net, arc))
            raised |= raise_limit(net, arc);
    }
    return raised;
}

/* No node can fire.  A node that is not asked again is not held back by a limit: when a node
 * reaches its limit, or its limit is raised, the nodes that wait for it are asked. */
static bool raise_limits(struct net *net, uint64_t *budget)
{
    bool raised = false;
    for (uint32_t i = 0; i < net->blocked_count && !net->too_large; i++) {
        uint32_t node = net->blocked[i];
        net->nodes[node].blocked = false;
        if (!pay_attempt(net, node, in_count(net, node), budget)) continue;
        raised |= raise_adders(net, node);
    }
    net->blocked_count = 0;
    return raised;
}

enum net_outcome net_run(struct net *net, uint64_t *budget)
{
    if (net->too_large) return NET_UNDECIDED;
    for (uint32_t i = 0; net->fresh && i < net->node_count; i++)
        net_ask(net, i);
    net->fresh = false;
    *budget -= min64(*budget, net->trail->walked / 8);
    net->trail->walked %= 8;
    for (;;) {
        if (!run_queue(net, budget)) return NET_UNDECIDED;
        if (net->unfinished == 0) return NET_LIVE;
        bool raised = raise_limits(net, budget);
        if (net->too_large || *budget == 0) return NET_UNDECIDED;
        if (!raised) return NET_STUCK;
    }
}

static bool reached_limits(const struct net *net)
{
    for (uint32_t i = 0; i < net->node_count; i++)
        if (net->nodes[i].fired < net->nodes[i].limit) return false;
    return true;
}

bool net_run_period(struct net *net, uint64_t *budget)
{
    for (uint32_t i = 0; i < net->node_count; i++) {
        net->nodes[i].limit = net->nodes[i].fired + net->nodes[i].repetitions;
        net_ask(net, i);
    }
    return run_queue(net, budget) && reached_limits(net);
}

bool net_begin_up_to(struct net *net, const uint64_t *firings)
{
    net_reset(net);
    net->fresh = false;
    for (uint32_t i = 0; i < net->node_count; i++) {
        if (!limit_fits(net, &net->nodes[i], firings[i])) return false;
        net->nodes[i].limit = firings[i];
        net_ask(net, i);
    }
    return !net->too_large;
}

bool net_run_up_to(struct net *net, const uint64_t *firings, uint64_t *budget)
{
    return net_begin_up_to(net, firings) && run_queue(net, budget) && reached_limits(net);
}

bool net_run_in_turns(struct net *net, uint64_t *budget, net_turn *turn, void *data)
{
    if (net->too_large) return false;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < net->node_count; i++) {
            if (net->nodes[i].fired >= net->nodes[i].limit) continue;
            uint64_t count = net_ready(net, i), price = 1 + in_count(net, i);
            if (*budget < price) return false;
            *budget -= price;
            if (count == 0) continue;
            if (!turn(data, i, count)) return false;
            net_fire(net, i, count);
            moved = true;
        }
    }
    return reached_limits(net);
}

/* Raises the adder's count to the need of the taker's first firings. */
static bool raise_least(const struct net *net, const struct net_arc *arc, uint64_t *least)
{
    int128 missing = (int128)tokens_wanted(net, arc, 0, least[arc->to]) - arc->initial;
    uint128 needed = missing > 0 ? firings_to_add(net, arc, 0, (uint128)missing + arc->kept) : 0;
    if (needed <= least[arc->from]) return false;
    least[arc->from] = needed > TOKENS_MAX ? (uint64_t)TOKENS_MAX : (uint64_t)needed;
    return true;
}

bool net_least_firings(const struct net *net, uint64_t *least, uint64_t *budget)
{
    struct arena *arena = arena_create();
    uint32_t *queue = ARENA_ARRAY(arena, uint32_t, net->node_count), head = 0, count = 0;
    bool *open = ARENA_ARRAY(arena, bool, net->node_count);
    for (uint32_t i = 0; i < net->node_count; i++) {
        open[i] = least[i] > 0;
        if (open[i]) queue[count++] = i;
    }
    while (count && *budget) {
        uint32_t node = queue[head];
        head = head + 1 == net->node_count ? 0 : head + 1;
        count--;
        open[node] = false;
        for (uint32_t i = net->nodes[node].first_in; i < net->nodes[node + 1].first_in; i++) {
            const struct net_arc *arc = &net->arcs[net->in_arcs[i]];
            if (arc->absent || arc->from == node || !raise_least(net, arc, least)) continue;
            if (!open[arc->from]) queue[((uint64_t)head + count++) % net->node_count] = arc->from;
            open[arc->from] = true;
        }
        *budget -= min64(*budget, 1 + in_count(net, node));
    }
    arena_destroy(arena);
    return count == 0;
}

bool net_is_blocked(const struct net *net, const struct net_arc *arc)
{
    return arc_blocks(net, arc);
}

static uint64_t limit_that_fits(const struct net *net, uint32_t node)
{
    uint64_t limit = TOKENS_MAX;
    for (uint32_t i = net->nodes[node].first_out; i < net->nodes[node + 1].first_out; i++)
        limit = min64(limit, (uint64_t)TOKENS_MAX / net->arcs[net->out_arcs[i]].add);
    return limit; /* of firings, as if each passed a whole cycle */
}

void net_use_places(struct net *net, const struct channels *channels)
{
    const struct graph *graph = channels->graph;
    for (uint32_t i = 0; i < net->arc_count; i++) {
        struct net_arc *arc = &net->arcs[i];
        const struct channel *channel = &channels->items[arc->channel];
        struct window window;
        struct window_shape shape;
        if (arc->kind != ARC_PACKETS || channel->to >= graph->nodes.count) continue;
        const struct graph_buffer *buffer = &graph->buffers.items[channel->buffer];
        const struct graph_node *node = &graph->nodes.items[channel->to];
        const struct graph_input *in = graph_reader_input(graph, buffer, channel->reader);
        if (!graph_input_window(graph, node, in, &window, &shape)) continue;
        arc->whole = window.border == CONTAINER_BORDER_WRAP;
        arc->frame = arc->whole ? window_round(window, shape) : window_frame(shape);
        arc->reach = window_reach(window, shape);
    }
}

void net_use_history(struct net *net, const struct channels *channels)
{
    for (uint32_t i = 0; i < net->arc_count; i++) {
        struct net_arc *arc = &net->arcs[i];
        if (arc->kind == ARC_PACKETS) continue;
        arc->kept = channels->items[arc->channel].reserve;
        arc->initial += clamped_tokens(arc->kept);
    }
    net_reset(net);
}

void net_run_without(struct net *net, uint32_t held, uint64_t *budget)
{
    if (net->too_large) return;
    for (uint32_t i = 0; i < net->node_count; i++)
        net->nodes[i].limit = i == held ? 0 : limit_that_fits(net, i);
    for (uint32_t i = 0; i < net->node_count; i++)
        net_ask(net, i);
    run_queue(net, budget);
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
        if (!arc_blocks(net, arc)) continue;
        if (best == GRAPH_NONE || arc->kind < net->arcs[best].kind) best = index;
    }
    return best;
}

static uint32_t lowest_bit(uint64_t bits)
{
    uint32_t place = 0;
    for (uint32_t step = WORD_BITS / 2; step; step /= 2)
        if (!(bits & ((UINT64_C(1) << step) - 1))) {
            bits >>= step;
            place += step;
        }
    return place;
}

static uint32_t first_waiting(const struct net *net)
{
    const struct net_trail *trail = net->trail;
    uint32_t count = word_count(word_count(net->node_count));
    for (uint32_t i = 0; i < count; i++) {
        if (!trail->words[i]) continue;
        uint32_t word = i * WORD_BITS + lowest_bit(trail->words[i]);
        return word * WORD_BITS + lowest_bit(trail->waiting[word]);
    }
    return GRAPH_NONE;
}

/* Forgets the invalid end of the trail; returns the next node of the way. */
static uint32_t trail_resume(const struct net *net)
{
    struct net_trail *trail = net->trail;
    uint32_t first = first_waiting(net);
    if (trail->count == 0 || trail->nodes[0] != first) trail->valid = 0;
    while (trail->count > trail->valid)
        trail->place[trail->nodes[--trail->count]] = 0;
    return trail->count ? net->arcs[trail->arcs[trail->count - 1]].from : first;
}

struct net_cycle net_waiting(struct arena *arena, const struct net *net)
{
    struct net_trail *trail = net->trail;
    uint32_t node = trail_resume(net);
    while (node != GRAPH_NONE && !trail->place[node]) {
        uint32_t arc = waits_for(net, node);
        if (arc == GRAPH_NONE) return (struct net_cycle){NULL, 0};
        trail->walked += in_count(net, node);
        trail->nodes[trail->count] = node;
        trail->arcs[trail->count] = arc;
        trail->place[node] = ++trail->count;
        trail->valid = trail->count;
        node = net->arcs[arc].from;
    }
    if (node == GRAPH_NONE) return (struct net_cycle){NULL, 0};
    uint32_t start = trail->place[node] - 1, count = trail->count - start;
    return (struct net_cycle){arena_copy(arena, &trail->arcs[start], count * sizeof(uint32_t)),
                              count};
}

uint64_t net_missing(const struct net *net, const struct net_cycle *cycle, uint32_t index)
{
    net->trail->walked += cycle->count;
    uint128 firings = 1; /* of the node that the arc at `index` waits for */
    for (uint32_t i = 1; i <= cycle->count; i++) {
        const struct net_arc *arc = &net->arcs[cycle->arcs[(index + i) % cycle->count]];
        int128 missing =
            (int128)tokens_wanted(net, arc, phase_of(&net->nodes[arc->to]), (uint64_t)firings) -
            arc->tokens;
        if (i == cycle->count) return missing <= 0 || missing > TOKENS_MAX ? 0 : (uint64_t)missing;
        firings = 1;
        if (missing > 0)
            firings = firings_to_add(net, arc, phase_of(&net->nodes[arc->from]), (uint128)missing);
        if (firings > TOKENS_MAX) return 0;
    }
    return 0;
}
