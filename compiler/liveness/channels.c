/* SPDX-License-Identifier: MIT */
#include "compiler/liveness/channels.h"

#include "compiler/ir/ratio.h"
#include "compiler/liveness/strong_components.h"

/* ---- collecting ---- */

struct phase_sums { /* of one list of rates; nodes of one kernel share it */
    const uint64_t *rates, *sums;
};

struct collector {
    struct arena *arena;
    const struct graph *graph;
    enum channels_which which;
    VEC(struct channel) channels;
    VEC(uint64_t) sources;
    uint32_t *first_output;   /* by node: index of its first output among all outputs */
    uint32_t *bundle_sources; /* by first_output + bundle - 1: the added source; 0: none yet */
    struct phase_sums *known; /* a hash table by the address of the list */
    size_t known_count;       /* a power of two */
};

static void prepare_sums(struct collector *collector)
{
    size_t ends = 1;
    for (size_t i = 0; i < collector->graph->nodes.count; i++) {
        const struct graph_node *node = &collector->graph->nodes.items[i];
        if (graph_phases(node) > 1) ends += node->inputs.count + node->outputs.count;
    }
    collector->known_count = 2;
    while (collector->known_count < 2 * ends)
        collector->known_count *= 2;
    collector->known = ARENA_ARRAY(collector->arena, struct phase_sums, collector->known_count);
}

/* NULL if `rates` is NULL. */
static const uint64_t *sums_of(struct collector *collector, const uint64_t *rates, uint32_t phases)
{
    if (!rates) return NULL;
    size_t mask = collector->known_count - 1;
    size_t slot = (size_t)((uint64_t)(uintptr_t)rates * 0x9e3779b97f4a7c15u >> 20) & mask;
    while (collector->known[slot].rates && collector->known[slot].rates != rates)
        slot = (slot + 1) & mask;
    if (collector->known[slot].rates) return collector->known[slot].sums;
    uint64_t *sums = ARENA_ARRAY(collector->arena, uint64_t, (size_t)phases + 1);
    for (uint32_t i = 0; i < phases; i++)
        sums[i + 1] = add_clamped(sums[i], rates[i]);
    collector->known[slot] = (struct phase_sums){rates, sums};
    return sums;
}

/* The packets of one iteration, that is q x pop of any reader, written `share` at a time. */
static uint32_t add_source(struct collector *collector, const struct graph_buffer *buffer,
                           uint64_t share)
{
    struct graph_reader reader = buffer->readers.items[0];
    const struct graph_node *node = &collector->graph->nodes.items[reader.node];
    uint64_t cycles = node->repetitions / graph_phases(node);
    uint64_t packets = mul_clamped(cycles, node->inputs.items[reader.input].pop);
    return (uint32_t)(collector->graph->nodes.count +
                      vec_push(collector->arena, &collector->sources, packets / share));
}

/* One source for all outputs of a bundle; *fresh: this is the first of them. */
static uint32_t bounded_source(struct collector *collector, const struct graph_buffer *buffer,
                               bool *fresh)
{
    const struct graph_output *out = graph_writer(collector->graph, buffer);
    *fresh = true;
    if (out->bundle == 0) return add_source(collector, buffer, 1);
    uint32_t *source =
        &collector->bundle_sources[collector->first_output[buffer->writer_node] + out->bundle - 1];
    *fresh = *source == 0;
    if (*fresh) *source = add_source(collector, buffer, out->share);
    return *source;
}

static void add_channels(struct collector *collector, const struct graph_buffer *buffer,
                         struct channel channel)
{
    const struct graph *graph = collector->graph;
    uint64_t reserve = channel.reserve;
    for (uint32_t r = 0; r < buffer->readers.count; r++) {
        const struct graph_input *in = graph_reader_input(graph, buffer, r);
        channel.to = buffer->readers.items[r].node;
        channel.reader = r;
        channel.pop = in->pop;
        channel.peek = in->peek;
        channel.to_phases = graph_phases(&graph->nodes.items[channel.to]);
        channel.pop_sums = sums_of(collector, in->pops, channel.to_phases);
        channel.peeks = in->peeks;
        channel.reserve = add_clamped(reserve, in->history);
        vec_push(collector->arena, &collector->channels, channel);
    }
}

/* The readers of a bounded writer see a source that writes from time to time. */
static void collect_bounded(struct collector *collector, const struct graph_buffer *buffer,
                            struct channel channel)
{
    const struct graph_node *writer = &collector->graph->nodes.items[buffer->writer_node];
    const struct graph_output *out = graph_writer(collector->graph, buffer);
    uint64_t most = graph_push_most(writer, out);
    bool fresh;
    if (collector->which == CHANNELS_INNER) return;
    if (collector->which == CHANNELS_OUTER && buffer->readers.count < 2 && out->bundle == 0) return;
    channel.from = bounded_source(collector, buffer, &fresh);
    channel.push = out->bundle ? out->share : 1;
    channel.reserve = most > channel.push ? most - channel.push : 0;
    add_channels(collector, buffer, channel);
    if (collector->which != CHANNELS_EVERY || !fresh) return;
    channel.to = channel.from;
    channel.from = buffer->writer_node;
    channel.push = channel.pop = channel.peek = 1;
    channel.bounded = true;
    vec_push(collector->arena, &collector->channels, channel);
}

static void collect_buffer_channels(struct collector *collector, uint32_t index)
{
    const struct graph *graph = collector->graph;
    const struct graph_buffer *buffer = &graph->buffers.items[index];
    struct channel channel = {
        .buffer = index, .push = 1, .from_phases = 1, .to_phases = 1, .block = GRAPH_NONE};
    if (buffer->outer == GRAPH_OUTER_OUT || buffer->readers.count == 0) return;
    if (buffer->outer == GRAPH_OUTER_IN) {
        if (collector->which == CHANNELS_INNER || buffer->readers.count < 2) return;
        channel.from = add_source(collector, buffer, 1);
    } else if (graph_is_bounded(graph, buffer)) {
        collect_bounded(collector, buffer, channel);
        return;
    } else {
        const struct graph_output *out = graph_writer(graph, buffer);
        if (out->push == 0) return;
        channel.from = buffer->writer_node;
        channel.push = out->push;
        channel.from_phases = graph_phases(&graph->nodes.items[channel.from]);
        channel.push_sums = sums_of(collector, out->pushes, channel.from_phases);
    }
    add_channels(collector, buffer, channel);
}

struct channels channels_collect(struct arena *arena, const struct graph *graph,
                                 enum channels_which which)
{
    struct collector collector = {.arena = arena, .graph = graph, .which = which};
    prepare_sums(&collector);
    collector.first_output = graph_number_outputs(arena, graph);
    collector.bundle_sources =
        ARENA_ARRAY(arena, uint32_t, (size_t)collector.first_output[graph->nodes.count] + 1);
    for (uint32_t i = 0; i < graph->buffers.count; i++)
        collect_buffer_channels(&collector, i);
    uint32_t node_count = (uint32_t)(graph->nodes.count + collector.sources.count);
    return (struct channels){
        .graph = graph,
        .items = collector.channels.items,
        .count = (uint32_t)collector.channels.count,
        .node_count = node_count,
        .local = ARENA_ARRAY(arena, uint32_t, node_count),
        .source_repetitions = collector.sources.items,
    };
}

uint64_t channels_repetitions(const struct channels *channels, uint32_t node)
{
    size_t count = channels->graph->nodes.count;
    return node < count ? channels->graph->nodes.items[node].repetitions
                        : channels->source_repetitions[node - count];
}

/* ---- strongly connected components ---- */

struct half { /* a channel as seen from one of its nodes */
    uint32_t channel, other;
};

struct adjacency {
    uint32_t *first;
    struct half *halves;
};

static bool is_in_component(const struct channels *channels, const uint32_t *component,
                            uint32_t index)
{
    const struct channel *channel = &channels->items[index];
    return !component || component[channel->from] == component[channel->to];
}

/* Channels at each node; with `component` only those within one. */
static struct adjacency adjacency_build(struct arena *arena, const struct channels *channels,
                                        const uint32_t *component)
{
    uint32_t n = channels->node_count;
    struct adjacency to = {ARENA_ARRAY(arena, uint32_t, n + 2),
                           ARENA_ARRAY(arena, struct half, (size_t)channels->count * 2 + 1)};
    uint32_t *fill = ARENA_ARRAY(arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < channels->count; i++) {
        if (!is_in_component(channels, component, i)) continue;
        to.first[channels->items[i].from + 1]++;
        to.first[channels->items[i].to + 1]++;
    }
    for (uint32_t i = 0; i < n; i++) {
        to.first[i + 1] += to.first[i];
        fill[i] = to.first[i];
    }
    for (uint32_t i = 0; i < channels->count; i++) {
        const struct channel *channel = &channels->items[i];
        if (!is_in_component(channels, component, i)) continue;
        to.halves[fill[channel->from]++] = (struct half){i, channel->to};
        to.halves[fill[channel->to]++] = (struct half){i, channel->from};
    }
    return to;
}

uint32_t channels_strong(struct arena *arena, const struct channels *channels, uint32_t *component)
{
    struct strong_arc *arcs = ARENA_ARRAY(arena, struct strong_arc, channels->count);
    for (uint32_t i = 0; i < channels->count; i++)
        arcs[i] = (struct strong_arc){channels->items[i].from, channels->items[i].to};
    return strong_components(arena, channels->node_count, arcs, channels->count, component);
}

struct channel_block *channels_inside(struct arena *arena, const struct channels *channels,
                                      const uint32_t *component, uint32_t count)
{
    struct channel_block *inside = ARENA_ARRAY(arena, struct channel_block, count);
    uint32_t *slots = ARENA_ARRAY(arena, uint32_t, channels->count);
    for (uint32_t i = 0; i < channels->count; i++)
        if (is_in_component(channels, component, i))
            inside[component[channels->items[i].to]].count++;
    for (uint32_t c = 0, used = 0; c < count; c++) {
        inside[c].channels = slots + used;
        used += inside[c].count;
        inside[c].count = 0;
    }
    for (uint32_t i = 0; i < channels->count; i++) {
        if (!is_in_component(channels, component, i)) continue;
        struct channel_block *block = &inside[component[channels->items[i].to]];
        block->channels[block->count++] = i;
    }
    return inside;
}

/* ---- biconnected components ---- */

struct cut_walk {
    struct channels *channels;
    struct adjacency edges;
    uint32_t *order, *low, *next, *path, *via; /* via: the channel by which a node was entered */
    uint32_t *open;                            /* channels seen that are not in a block yet */
    bool *seen;
    uint32_t path_count, open_count, visited;
};

static void cut_enter(struct cut_walk *walk, uint32_t node, uint32_t via)
{
    walk->order[node] = walk->low[node] = ++walk->visited;
    walk->next[node] = walk->edges.first[node];
    walk->via[node] = via;
    walk->path[walk->path_count++] = node;
}

static void cut_leave(struct cut_walk *walk)
{
    uint32_t node = walk->path[--walk->path_count], channel;
    if (walk->path_count == 0) return;
    uint32_t above = walk->path[walk->path_count - 1];
    if (walk->low[node] < walk->low[above]) walk->low[above] = walk->low[node];
    if (walk->low[node] < walk->order[above]) return;
    do {
        channel = walk->open[--walk->open_count];
        walk->channels->items[channel].block = walk->channels->block_count;
    } while (channel != walk->via[node]);
    walk->channels->block_count++;
}

static void cut_step(struct cut_walk *walk, uint32_t node)
{
    struct half at = walk->edges.halves[walk->next[node]++];
    if (walk->seen[at.channel]) return;
    walk->seen[at.channel] = true;
    if (at.other == node) { /* a self-loop is a block of its own */
        walk->channels->items[at.channel].block = walk->channels->block_count++;
        return;
    }
    walk->open[walk->open_count++] = at.channel;
    if (walk->order[at.other] == 0)
        cut_enter(walk, at.other, at.channel);
    else if (walk->order[at.other] < walk->low[node])
        walk->low[node] = walk->order[at.other];
}

static void list_blocks(struct arena *arena, struct channels *channels)
{
    uint32_t *slots = ARENA_ARRAY(arena, uint32_t, channels->count);
    channels->blocks = ARENA_ARRAY(arena, struct channel_block, channels->block_count);
    for (uint32_t i = 0; i < channels->count; i++)
        if (channels->items[i].block != GRAPH_NONE)
            channels->blocks[channels->items[i].block].count++;
    for (uint32_t b = 0, used = 0; b < channels->block_count; b++) {
        channels->blocks[b].channels = slots + used;
        used += channels->blocks[b].count;
        channels->blocks[b].count = 0;
    }
    for (uint32_t i = 0; i < channels->count; i++) {
        if (channels->items[i].block == GRAPH_NONE) continue;
        struct channel_block *block = &channels->blocks[channels->items[i].block];
        block->channels[block->count++] = i;
    }
}

void channels_cut(struct arena *arena, struct channels *channels, const uint32_t *component)
{
    uint32_t n = channels->node_count;
    struct cut_walk walk = {
        .channels = channels,
        .edges = adjacency_build(arena, channels, component),
        .order = ARENA_ARRAY(arena, uint32_t, n),
        .low = ARENA_ARRAY(arena, uint32_t, n),
        .next = ARENA_ARRAY(arena, uint32_t, n),
        .path = ARENA_ARRAY(arena, uint32_t, n),
        .via = ARENA_ARRAY(arena, uint32_t, n),
        .open = ARENA_ARRAY(arena, uint32_t, channels->count),
        .seen = ARENA_ARRAY(arena, bool, channels->count),
    };
    channels->block_count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (walk.order[i] == 0) {
            cut_enter(&walk, i, GRAPH_NONE);
            while (walk.path_count) {
                uint32_t node = walk.path[walk.path_count - 1];
                if (walk.next[node] == walk.edges.first[node + 1])
                    cut_leave(&walk);
                else
                    cut_step(&walk, node);
            }
        }
    list_blocks(arena, channels);
}

/* ---- room for the end ---- */

static bool is_tied(const struct channels *channels, uint32_t first, uint32_t end)
{
    for (uint32_t c = first; c < end; c++)
        if (channels->blocks[channels->items[c].block].count > 1) return true;
    return false;
}

/* The packets that the writer appends when it ends, beyond those that are kept free for its
 * firings. */
static uint64_t ending_of(const struct channels *channels, const struct channel *channel)
{
    const struct graph *graph = channels->graph;
    const struct graph_buffer *buffer = &graph->buffers.items[channel->buffer];
    const struct graph_output *out = graph_writer(graph, buffer);
    if (!out) return 0;
    if (!graph_is_bounded(graph, buffer)) return out->finish_max;
    uint64_t most = graph_push_most(&graph->nodes.items[buffer->writer_node], out);
    most = max64(most, channel->push);
    return out->finish_max > most ? out->finish_max - most : 0;
}

void channels_reserve_end(struct channels *channels)
{
    for (uint32_t first = 0, end; first < channels->count; first = end) {
        for (end = first; end < channels->count; end++)
            if (channels->items[end].buffer != channels->items[first].buffer) break;
        uint64_t ending = ending_of(channels, &channels->items[first]);
        if (ending == 0 || !is_tied(channels, first, end)) continue;
        for (uint32_t c = first; c < end; c++) {
            channels->items[c].reserve = add_clamped(channels->items[c].reserve, ending);
            channels->items[c].ending = ending;
        }
    }
}

uint128 channels_sum(const uint64_t *sums, uint64_t cycle, uint32_t phases, uint32_t phase,
                     uint64_t count)
{
    if (!sums) return (uint128)cycle * count;
    uint64_t cycles = count / phases, last = phase + count % phases;
    uint128 sum = (uint128)cycle * cycles;
    if (last <= phases) return sum + sums[last] - sums[phase];
    return sum + (cycle - sums[phase]) + sums[last - phases];
}

uint128 channels_firings(const uint64_t *sums, uint64_t cycle, uint32_t phases, uint32_t phase,
                         uint128 packets)
{
    if (packets == 0) return 0;
    uint128 cycles = (packets - 1) / cycle, rest = packets - cycles * cycle;
    uint32_t low = 1, high = phases;
    if (!sums) return cycles + 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (channels_sum(sums, cycle, phases, phase, middle) >= rest)
            high = middle;
        else
            low = middle + 1;
    }
    return cycles * phases + low;
}
