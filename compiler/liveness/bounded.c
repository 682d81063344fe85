/* SPDX-License-Identifier: MIT */
/*
 * Checks where buffers of bounded rates may stand.
 *
 * The data decide how many packets such a buffer has seen after a number of firings.  Remove the
 * buffer from the undirected graph of nodes and buffers.  There are two cases.
 *
 *   - Its writer and its readers are then in two parts: the writer's end is a bridge.  A node on one
 *     side waits for a node on the other side only through this buffer, and there one of the two can
 *     always go on (bufsize.c, "Bounded rates").  So the graph is live if each part by itself is live,
 *     and the other analyses show that.
 *   - Another path connects them.  Then no depth is enough for all data, because one side may have run
 *     ahead by any number of packets.
 *
 * Outputs in step (bundles.h) count as one path.  A firing appends the same number of shares to each of
 * them.  So everything after them balances as after a node that writes one share to each at a time:
 * the added source of the bundle (channels.h).  Only the path from the writer to that source has to be
 * a bridge.  The readers of the bundle may meet again.
 *
 * Proof.  A stuck node waits for another node.  Following the waits leads round a cycle of the
 * undirected graph, or to its end, where the outside writes or consumes packets.  A cycle lies within
 * one biconnected component (channels.h), so it contains no bridge, unless it crosses a bridge in both
 * directions.  Call x the state in which the cycle is closed.
 *
 *   1. The cycle has no added source.  Its block is live (deadlock.c, bufsize.c).  So in the model, from
 *      the beginning, some node n of the cycle is the first to fire more often than in x.  All other
 *      nodes of the cycle have then fired at most as often as in x.  So the arc over which n waits holds
 *      in x at least as many tokens as at that time, when they were enough.  Hence n does not wait.
 *   2. The cycle goes through an added source s: on one side the writer waits for room in a buffer of s,
 *      on the other a node waits for packets in a buffer of s.  In the model s then waits for room: the
 *      depth in the model is smaller, by the maximum that a firing of the writer (or its `finish`)
 *      appends beyond one share.  The counts of packets are those of the model, because only whole
 *      shares were appended.  So this is a cycle of waiting nodes of the model, as in 1.
 *      With one buffer and one reader the block is that pair, and a depth of maximum + window - 1 +
 *      history excludes the cycle.
 *   3. After the writer has ended, no node waits for packets of its outputs: a node that lacks some
 *      ends as well.
 *
 * Not shown: cycles that amplify by at most 1.  Packets of such a cycle may die out.  A node on it that
 * also reads another buffer then waits forever.  So the writer of that buffer waits for room forever,
 * however deep the buffers are.  Only a cycle without any other input, in a pipeline without any other
 * source or in-port, would be safe; no use for that is known.
 *
 * The components are those of channels_cut over CHANNELS_EVERY.  The reported path is a shortest one.
 */
#include "compiler/liveness/bounded.h"
#include "compiler/liveness/channels.h"

#include <inttypes.h>

enum { HOPS_MAX = 10 };

struct bounded {
    struct compile *cx;
    struct graph *graph;
    struct arena *arena;
    struct channels channels;
    bool *reported; /* by block */
};

/* ---- the other path ---- */

struct route {          /* from the added source of a buffer back to its writer */
    uint32_t *channels; /* in order */
    uint32_t *vertices; /* channels[i] leads from vertices[i] to vertices[i + 1], either way */
    uint32_t count;
};

struct search {
    uint32_t *first, *edges; /* of each node of the block: its channels */
    uint32_t *via, *queue;   /* by node: the channel that it was found by */
    bool *found;
};

static struct search search_prepare(const struct bounded *pass, const struct channel_block *block)
{
    uint32_t n = pass->channels.node_count;
    struct search search = {.first = ARENA_ARRAY(pass->arena, uint32_t, n + 2),
                            .edges = ARENA_ARRAY(pass->arena, uint32_t, 2 * (size_t)block->count),
                            .via = ARENA_ARRAY(pass->arena, uint32_t, n),
                            .queue = ARENA_ARRAY(pass->arena, uint32_t, n),
                            .found = ARENA_ARRAY(pass->arena, bool, n)};
    uint32_t *fill = ARENA_ARRAY(pass->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < block->count; i++) {
        search.first[pass->channels.items[block->channels[i]].from + 1]++;
        search.first[pass->channels.items[block->channels[i]].to + 1]++;
    }
    for (uint32_t i = 0; i < n; i++) {
        search.first[i + 1] += search.first[i];
        fill[i] = search.first[i];
    }
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t index = block->channels[i];
        search.edges[fill[pass->channels.items[index].from]++] = index;
        search.edges[fill[pass->channels.items[index].to]++] = index;
    }
    return search;
}

static uint32_t channel_far_end(const struct channel *channel, uint32_t node)
{
    return channel->from == node ? channel->to : channel->from;
}

/* Breadth-first search from the added source of `bounded` to its writer. */
static void search_writer(const struct bounded *pass, struct search *search, uint32_t bounded)
{
    const struct channel *channels = pass->channels.items;
    uint32_t count = 0;
    search->queue[count++] = channels[bounded].to;
    search->found[channels[bounded].to] = true;
    for (uint32_t k = 0; k < count && !search->found[channels[bounded].from]; k++) {
        uint32_t node = search->queue[k];
        for (uint32_t e = search->first[node]; e < search->first[node + 1]; e++) {
            uint32_t index = search->edges[e], other = channel_far_end(&channels[index], node);
            if (index == bounded || search->found[other]) continue;
            search->found[other] = true;
            search->via[other] = index;
            search->queue[count++] = other;
        }
    }
}

static struct route find_route(const struct bounded *pass, const struct channel_block *block,
                               uint32_t bounded)
{
    const struct channel *channels = pass->channels.items;
    struct search search = search_prepare(pass, block);
    search_writer(pass, &search, bounded);
    struct route route = {.channels = ARENA_ARRAY(pass->arena, uint32_t, block->count + 1),
                          .vertices = ARENA_ARRAY(pass->arena, uint32_t, block->count + 2)};
    uint32_t at = channels[bounded].from;
    while (at != channels[bounded].to) {
        route.count++;
        at = channel_far_end(&channels[search.via[at]], at);
    }
    at = channels[bounded].from;
    route.vertices[route.count] = at;
    for (uint32_t i = route.count; i-- > 0;) {
        route.channels[i] = search.via[at];
        at = channel_far_end(&channels[search.via[at]], at);
        route.vertices[i] = at;
    }
    return route;
}

/* ---- reporting ---- */

static const struct graph_buffer *buffer_of(const struct bounded *pass, uint32_t channel)
{
    return &pass->graph->buffers.items[pass->channels.items[channel].buffer];
}

static const char *rate_words(const struct bounded *pass, const struct graph_buffer *buffer)
{
    const struct graph_output *out = graph_writer(pass->graph, buffer);
    uint32_t phases = graph_phases(&pass->graph->nodes.items[buffer->writer_node]);
    const char *unit =
        phases > 1 ? arena_printf(pass->arena, "%" PRIu32 " firings", phases) : "a firing";
    if (out->push == 0)
        return arena_printf(pass->arena, "%s when it ends, and none before,",
                            arena_counted(pass->arena, out->finish_max, "packet"));
    return arena_printf(pass->arena, "%" PRIu64 " to %s in %s", out->push_least,
                        arena_counted(pass->arena, out->push, "packet"), unit);
}

struct hop { /* a vertex of the cycle between two of its channels */
    uint32_t vertex, before, after;
};

/* "'join' reads 'loud' and 'quiet': ..." at its place. */
static void label_node(const struct bounded *pass, struct diag *d, const struct hop *hop)
{
    const struct graph_node *node = &pass->graph->nodes.items[hop->vertex];
    bool reads_before = pass->channels.items[hop->before].to == hop->vertex;
    bool reads_after = pass->channels.items[hop->after].to == hop->vertex;
    const char *before = buffer_of(pass, hop->before)->name;
    const char *after = buffer_of(pass, hop->after)->name;
    if (reads_before && reads_after)
        diag_label(d, node->span,
                   "'%s' may wait for packets in '%s' while '%s' is full, or the other way round",
                   node->name, before, after);
    else if (!reads_before && !reads_after)
        diag_label(d, node->span, "'%s' writes '%s' and '%s', and waits where one is full",
                   node->name, before, after);
    else
        diag_label(d, node->span, "'%s' reads '%s' and writes '%s'", node->name,
                   reads_before ? before : after, reads_before ? after : before);
}

/* The vertices after the readers of the bounded buffer, up to its writer. */
static void label_route(const struct bounded *pass, struct diag *d, uint32_t bounded,
                        const struct route *route)
{
    uint32_t nodes = (uint32_t)pass->graph->nodes.count, hidden = 0;
    for (uint32_t i = 1; i <= route->count; i++) {
        struct hop hop = {route->vertices[i], route->channels[i - 1],
                          i < route->count ? route->channels[i] : bounded};
        if (i > HOPS_MAX && i < route->count) {
            hidden++;
            continue;
        }
        const struct graph_buffer *buffer = buffer_of(pass, hop.after);
        if (hop.vertex < nodes)
            label_node(pass, d, &hop);
        else if (buffer->outer == GRAPH_OUTER_IN)
            diag_label(d, buffer->span, "in-port '%s' keeps its packets for the slower reader",
                       buffer->name);
    }
    if (hidden) diag_note(d, "... and %" PRIu32 " more kernels on the path", hidden);
}

static bool has_join(const struct bounded *pass, uint32_t bounded, const struct route *route)
{
    const struct channel *channels = pass->channels.items;
    for (uint32_t i = 1; i <= route->count; i++) {
        uint32_t vertex = route->vertices[i];
        uint32_t after = i < route->count ? route->channels[i] : bounded;
        if (channels[route->channels[i - 1]].to == vertex && channels[after].to == vertex)
            return true;
    }
    return false;
}

/* The buffer, and the buffers that are written in step with it: "'v' (in step with 'i')". */
static const char *bundle_words(const struct bounded *pass, const struct graph_buffer *buffer)
{
    const struct graph_node *writer = &pass->graph->nodes.items[buffer->writer_node];
    const char *others = NULL;
    uint32_t bundle = writer->outputs.items[buffer->writer_output].bundle;
    for (size_t o = 0; bundle && o < writer->outputs.count; o++) {
        const struct graph_output *other = &writer->outputs.items[o];
        const char *name = pass->graph->buffers.items[other->buffer].name;
        if (other->bundle == bundle && o != buffer->writer_output)
            others = arena_printf(pass->arena, "%s%s'%s'", others ? others : "", others ? ", " : "",
                                  name);
    }
    if (others == NULL) return arena_printf(pass->arena, "'%s'", buffer->name);
    return arena_printf(pass->arena, "'%s' (in step with %s)", buffer->name, others);
}

/* Does the route come back to the writer over another output of it with a bounded rate? */
static bool leaves_twice(const struct bounded *pass, uint32_t bounded, const struct route *route)
{
    const struct channel *last = &pass->channels.items[route->channels[route->count - 1]];
    return last->bounded && last->from == pass->channels.items[bounded].from;
}

static void report_way_round(const struct bounded *pass, const struct channel_block *block,
                             uint32_t bounded)
{
    const struct graph_buffer *buffer = buffer_of(pass, bounded);
    const struct graph_node *writer = &pass->graph->nodes.items[buffer->writer_node];
    struct route route = find_route(pass, block, bounded);
    bool joins = has_join(pass, bounded, &route);
    struct diag *d = diag_report(
        pass->cx->diags, RULE_LIVENESS_UNPROVEN, graph_writer(pass->graph, buffer)->span,
        "'%s' writes %s to %s, which lies on a %s: the pipeline is not proven free "
        "of deadlock",
        writer->name, rate_words(pass, buffer), bundle_words(pass, buffer),
        joins ? "path that splits and joins again" : "cycle");
    label_route(pass, d, bounded, &route);
    if (joins)
        diag_note(d, "no depth is enough for all data: one path may get ahead of the other by any "
                     "number of packets");
    else
        diag_note(d, "too few packets may come back for the next firing");
    if (leaves_twice(pass, bounded, &route))
        diag_help(
            d,
            "append to '%s' and '%s' together, in the same branches and in a fixed proportion: "
            "they are then in step, and may meet again",
            buffer->name, buffer_of(pass, route.channels[route.count - 1])->name);
    diag_help(d, "give '%s' an exact rate, for example by a packet that stands for none%s",
              writer->name, joins ? ", or separate the two paths" : "");
    diag_help(
        d,
        "if the data never does that, accept it with a comment at the end of this line, or on "
        "a line before its statement: // pipec: allow(liveness-unproven) reason=\"...\"; a stall "
        "is then reported at run time");
}

/* Did the author accept the finding?  A command list says so itself. */
static bool is_accepted(const struct bounded *pass, uint32_t channel)
{
    struct graph_buffer *buffer = &pass->graph->buffers.items[pass->channels.items[channel].buffer];
    if (buffer->unproven_reason == NULL)
        buffer->unproven_reason = diag_allowed_reason(pass->cx->diags, RULE_LIVENESS_UNPROVEN,
                                                      graph_writer(pass->graph, buffer)->span);
    return buffer->unproven_reason != NULL;
}

void bounded_check(struct compile *cx, struct graph *graph)
{
    struct bounded pass = {.cx = cx, .graph = graph, .arena = arena_create()};
    pass.channels = channels_collect(pass.arena, graph, CHANNELS_EVERY);
    channels_cut(pass.arena, &pass.channels, NULL);
    pass.reported = ARENA_ARRAY(pass.arena, bool, pass.channels.block_count);
    graph->unproven = false;
    for (uint32_t i = 0; i < pass.channels.count; i++) {
        const struct channel *channel = &pass.channels.items[i];
        const struct channel_block *block = &pass.channels.blocks[channel->block];
        if (!channel->bounded || block->count < 2 || pass.reported[channel->block]) continue;
        pass.reported[channel->block] = true;
        graph->unproven = true;
        if (!is_accepted(&pass, i)) report_way_round(&pass, block, i);
    }
    arena_destroy(pass.arena);
}
