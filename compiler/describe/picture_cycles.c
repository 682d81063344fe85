/* SPDX-License-Identifier: MIT */
#include "compiler/describe/picture_cycles.h"

#include "compiler/liveness/channels.h"
#include "compiler/liveness/strong_components.h"
#include "compiler/liveness/token_game.h"

enum { SLACK_STEPS = 4000000 };

static void mark_cycles(struct arena *arena, const struct graph *graph, bool *on_cycle)
{
    VEC(struct strong_arc) arcs = {0};
    uint32_t *component = ARENA_ARRAY(arena, uint32_t, graph->nodes.count + 1);
    for (size_t b = 0; b < graph->buffers.count; b++) {
        const struct graph_buffer *buffer = &graph->buffers.items[b];
        for (size_t r = 0; buffer->writer_node != GRAPH_NONE && r < buffer->readers.count; r++)
            vec_push(arena, &arcs,
                     (struct strong_arc){buffer->writer_node, buffer->readers.items[r].node});
    }
    strong_components(arena, (uint32_t)graph->nodes.count, arcs.items, (uint32_t)arcs.count,
                      component);
    for (size_t b = 0; b < graph->buffers.count; b++) {
        const struct graph_buffer *buffer = &graph->buffers.items[b];
        for (size_t r = 0; buffer->writer_node != GRAPH_NONE && r < buffer->readers.count; r++)
            on_cycle[b] |=
                component[buffer->writer_node] == component[buffer->readers.items[r].node];
    }
}

struct slack_search {
    struct net *net;
    const struct channels *channels;
    uint64_t budget;
};

/* Whether there is no deadlock if the buffer begins with so many packets fewer. */
static bool is_live_without(struct slack_search *search, uint32_t buffer, uint64_t packets)
{
    for (uint32_t c = 0; c < search->channels->count; c++)
        if (search->channels->items[c].buffer == buffer)
            search->net->arcs[c].initial -= (int64_t)packets;
    net_reset(search->net);
    bool live = net_run(search->net, &search->budget) == NET_LIVE;
    for (uint32_t c = 0; c < search->channels->count; c++)
        if (search->channels->items[c].buffer == buffer)
            search->net->arcs[c].initial += (int64_t)packets;
    return live;
}

static uint64_t find_slack(struct slack_search *search, uint32_t buffer, uint64_t packets)
{
    uint64_t low = 0, high = packets;
    if (!is_live_without(search, buffer, 0)) return SLACK_UNKNOWN;
    while (low < high && search->budget > 0) {
        uint64_t middle = high - (high - low) / 2;
        if (is_live_without(search, buffer, middle))
            low = middle;
        else
            high = middle - 1;
    }
    return search->budget > 0 ? low : SLACK_UNKNOWN;
}

static bool has_repetitions(const struct graph *graph)
{
    for (size_t n = 0; n < graph->nodes.count; n++)
        if (graph->nodes.items[n].repetitions == 0) return false;
    return graph->nodes.count > 0;
}

static void find_slacks(struct arena *arena, const struct graph *graph, uint64_t *slack)
{
    struct channels channels = channels_collect(arena, graph, CHANNELS_INNER);
    uint32_t *component = ARENA_ARRAY(arena, uint32_t, (size_t)channels.node_count + 1);
    struct net *net = net_create(arena, &channels, NULL, NULL);
    struct slack_search search = {net, &channels, SLACK_STEPS};
    channels_strong(arena, &channels, component);
    for (uint32_t c = 0; c < channels.count && !net->too_large; c++) {
        const struct channel *channel = &channels.items[c];
        uint64_t packets = graph->buffers.items[channel->buffer].initial.packets;
        if (component[channel->from] == component[channel->to] && packets > 0 &&
            packets <= INT64_MAX / 4 && slack[channel->buffer] == SLACK_UNKNOWN)
            slack[channel->buffer] = find_slack(&search, channel->buffer, packets);
    }
}

struct picture_cycles picture_cycles_find(struct arena *arena, const struct graph *graph)
{
    size_t count = graph->buffers.count;
    bool any = false;
    struct picture_cycles cycles = {ARENA_ARRAY(arena, bool, count + 1),
                                    ARENA_ARRAY(arena, uint64_t, count + 1)};
    mark_cycles(arena, graph, cycles.on_cycle);
    for (size_t b = 0; b < count; b++) {
        cycles.slack[b] = SLACK_UNKNOWN;
        any |= cycles.on_cycle[b] && graph->buffers.items[b].initial.packets > 0;
    }
    if (any && has_repetitions(graph)) find_slacks(arena, graph, cycles.slack);
    return cycles;
}
