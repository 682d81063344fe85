/* SPDX-License-Identifier: MIT */
#include "compiler/liveness/counterexample.h"

#include "compiler/ir/ratio.h"
#include "compiler/liveness/schedule_text.h"
#include "compiler/liveness/token_game.h"
#include "compiler/support/set_links.h"
#include "lang/container.h"
#include "base/plural.h"

#include <inttypes.h>

enum {
    SEARCH_STEPS = 20 * 1000 * 1000,
    CYCLES_MAX = 64,
    RUNS_MAX = 1 << 20,
};

struct search {
    struct compile *cx;
    const struct graph *graph;
    struct arena *arena;
    struct channels channels;
    struct net_depth *depths;
    uint64_t budget;
    struct counterexample *best;
    bool beyond;
};

/* ---- connected parts ---- */

/* Fills the channels of each connected part; returns the number of parts. */
static uint32_t find_connected_parts(struct search *at, struct channel_block **parts)
{
    uint32_t n = at->channels.node_count, count = 0;
    uint32_t *parent = ARENA_ARRAY(at->arena, uint32_t, n);
    uint32_t *part = ARENA_ARRAY(at->arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        parent[i] = i;
    for (uint32_t i = 0; i < at->channels.count; i++)
        parent[set_root(parent, at->channels.items[i].from)] =
            set_root(parent, at->channels.items[i].to);
    for (uint32_t i = 0; i < n; i++)
        if (parent[i] == i) part[i] = count++;
    for (uint32_t i = 0; i < n; i++)
        part[i] = part[set_root(parent, i)];
    *parts = channels_inside(at->arena, &at->channels, part, count);
    return count;
}

/* ---- cycles ---- */

struct cycle_search { /* of one net that is stuck */
    struct net *net;
    uint32_t *via;   /* by node: the arc by which the search reached it */
    uint32_t *queue; /* as is `seen`, which holds the number of the search */
    uint32_t *seen, round;
};

/* Searches breadth-first along waits, from `start` back to it.  Each arc of the cycle leads from
 * the node waited for to the waiting node.  The cycle is empty if `start` is on none. */
static struct net_cycle cycle_through(struct cycle_search *c, struct arena *arena, uint32_t start)
{
    const struct net *net = c->net;
    uint32_t count = 0;
    c->queue[count++] = start;
    c->round++;
    for (uint32_t k = 0; k < count && c->seen[start] != c->round; k++) {
        const struct net_node *node = &net->nodes[c->queue[k]];
        for (uint32_t i = node->first_in; i < node[1].first_in; i++) {
            const struct net_arc *arc = &net->arcs[net->in_arcs[i]];
            if (!net_is_blocked(net, arc) || c->seen[arc->from] == c->round) continue;
            c->seen[arc->from] = c->round;
            c->via[arc->from] = net->in_arcs[i];
            c->queue[count++] = arc->from;
        }
    }
    struct net_cycle cycle = {ARENA_ARRAY(arena, uint32_t, count), 0};
    if (c->seen[start] != c->round) return cycle;
    uint32_t at = start;
    do {
        cycle.arcs[cycle.count++] = c->via[at];
        at = net->arcs[c->via[at]].to;
    } while (at != start);
    for (uint32_t i = 0; i < cycle.count / 2;
         i++) { /* the waiting node first, then the one it waits for */
        uint32_t other = cycle.arcs[i];
        cycle.arcs[i] = cycle.arcs[cycle.count - 1 - i];
        cycle.arcs[cycle.count - 1 - i] = other;
    }
    return cycle;
}

static uint32_t graph_node_of(const struct search *at, const struct net *net, uint32_t node)
{
    uint32_t index = net->nodes[node].node;
    return index < at->graph->nodes.count ? index : GRAPH_NONE;
}

/* ---- one cycle as a counterexample ---- */

static uint64_t count_firings(const struct search *at, const struct net *net, const uint64_t *least)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < net->node_count; i++)
        if (graph_node_of(at, net, i) != GRAPH_NONE) sum = add_clamped(sum, least[i]);
    return sum;
}

static void fill_waits(struct search *at, const struct net *net, const struct net_cycle *cycle,
                       struct counterexample *found)
{
    found->waits = ARENA_ARRAY(at->cx->arena, struct counter_wait, cycle->count);
    found->wait_count = cycle->count;
    for (uint32_t i = 0; i < cycle->count; i++) {
        const struct net_arc *arc = &net->arcs[cycle->arcs[i]];
        const struct channel *channel = &at->channels.items[arc->channel];
        found->waits[i] = (struct counter_wait){
            .node = graph_node_of(at, net, arc->to),
            .next = graph_node_of(at, net, arc->from),
            .buffer = channel->buffer,
            .room = arc->kind != ARC_PACKETS,
            .fired = net->nodes[arc->to].fired,
            .holds = arc->tokens < 0 ? 0 : (uint64_t)arc->tokens,
            .needs = net_need(net, arc),
        };
        if (channel->reserve)
            found->no_replay = "the analysis keeps packets free that the device has room for until "
                               "later (a 2-D window, or a bounded rate)";
        if (found->waits[i].node == GRAPH_NONE && found->waits[i].next == GRAPH_NONE)
            found->no_replay = "the outside waits for itself";
    }
}

/* Packets of a buffer: those that its slowest reader has not freed.  A reader without a channel
 * does not count. */
static uint64_t packets_in_buffer(const struct search *at, const struct net *net, uint32_t buffer)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < net->arc_count; i++) {
        const struct net_arc *arc = &net->arcs[i];
        if (arc->kind != ARC_PACKETS || at->channels.items[arc->channel].buffer != buffer) continue;
        if (arc->tokens > most) most = arc->tokens;
    }
    return (uint64_t)most;
}

static void fill_levels(struct search *at, const struct net *net, struct counterexample *found)
{
    found->levels = ARENA_ARRAY(at->cx->arena, struct counter_level, found->wait_count);
    for (uint32_t i = 0; i < found->wait_count; i++) {
        uint32_t buffer = found->waits[i].buffer, k = 0;
        while (k < found->level_count && found->levels[k].buffer != buffer)
            k++;
        if (k < found->level_count) continue;
        const struct graph_buffer *record = &at->graph->buffers.items[buffer];
        found->levels[found->level_count++] =
            (struct counter_level){buffer, packets_in_buffer(at, net, buffer),
                                   record->depth_declared ? record->depth_packets : 0};
    }
}

static bool reads_bounded(const struct graph *graph, const struct graph_node *node)
{
    for (size_t i = 0; i < node->inputs.count; i++)
        if (graph_is_bounded(graph, &graph->buffers.items[node->inputs.items[i].buffer]))
            return true;
    return false;
}

static void fill_runs(struct search *at, const struct net *net, const struct net_trace *trace,
                      struct counterexample *found)
{
    static const char DATA_DECIDE[] = "the data decide how many packets a bounded rate writes";
    found->runs = ARENA_ARRAY(at->cx->arena, struct counter_run, trace->runs.count + 1);
    for (size_t i = 0; i < trace->runs.count; i++) {
        struct net_firings run = trace->runs.items[i];
        struct counter_run *last = found->run_count ? &found->runs[found->run_count - 1] : NULL;
        uint32_t node = graph_node_of(at, net, run.node), buffer = GRAPH_NONE;
        if (node == GRAPH_NONE) {
            const struct net_arc *arc = &net->arcs[net->out_arcs[net->nodes[run.node].first_out]];
            const struct graph_buffer *record;
            buffer = at->channels.items[arc->channel].buffer;
            record = &at->graph->buffers.items[buffer];
            if (record->outer == GRAPH_INNER) found->no_replay = DATA_DECIDE;
        } else if (reads_bounded(at->graph, &at->graph->nodes.items[node])) {
            found->no_replay = DATA_DECIDE; /* its input is in no cycle, and in no net */
        }
        if (last && last->node == node && last->buffer == buffer)
            last->count += run.count;
        else
            found->runs[found->run_count++] = (struct counter_run){node, buffer, run.count};
    }
}

/* Runs the sequence; false: beyond the budget. */
static bool record_sequence(struct search *at, struct net *net, const struct net_cycle *cycle,
                            const uint64_t *least)
{
    struct net_trace trace = {.arena = at->arena, .most = RUNS_MAX};
    net->trace = &trace;
    bool complete = net_run_up_to(net, least, &at->budget) && !trace.is_cut;
    net->trace = NULL;
    if (!complete) return false;
    struct counterexample *found = ARENA_NEW(at->cx->arena, struct counterexample);
    found->kind = COUNTER_FOUND;
    found->firings = count_firings(at, net, least);
    fill_waits(at, net, cycle, found);
    fill_levels(at, net, found);
    fill_runs(at, net, &trace, found);
    at->best = found;
    return true;
}

/* ---- the search ---- */

/* Finds the shortest cycle of a net that is stuck. */
static void search_net(struct search *at, struct net *net)
{
    struct cycle_search search = {.net = net,
                                  .via = ARENA_ARRAY(at->arena, uint32_t, net->node_count),
                                  .queue = ARENA_ARRAY(at->arena, uint32_t, net->node_count + 1),
                                  .seen = ARENA_ARRAY(at->arena, uint32_t, net->node_count)};
    struct net_cycle best = {NULL, 0};
    uint64_t *least = NULL, fewest = at->best ? at->best->firings : UINT64_MAX;
    uint32_t tried = 0;
    for (uint32_t i = 0; i < net->node_count && tried < CYCLES_MAX; i++) {
        if (net->nodes[i].fired >= net->nodes[i].limit) continue;
        struct net_cycle cycle = cycle_through(&search, at->arena, i);
        tried++;
        if (cycle.count == 0) continue;
        uint64_t *firings = ARENA_ARRAY(at->arena, uint64_t, net->node_count);
        for (uint32_t k = 0; k < cycle.count; k++) {
            uint32_t node = net->arcs[cycle.arcs[k]].to;
            firings[node] = net->nodes[node].fired;
        }
        if (!net_least_firings(net, firings, &at->budget)) continue;
        uint64_t sum = count_firings(at, net, firings);
        if (sum > fewest || (sum == fewest && (!best.count || cycle.count >= best.count))) continue;
        best = cycle;
        least = firings;
        fewest = sum;
    }
    if (best.count == 0 || !record_sequence(at, net, &best, least)) at->beyond |= !at->best;
}

static void search_part(struct search *at, const struct channel_block *part)
{
    struct net *net = net_create(at->arena, &at->channels, part, at->depths);
    for (uint32_t i = 0; i < net->arc_count; i++)
        if (net->arcs[i].kind == ARC_ROOM) net->arcs[i].absent = true;
    enum net_outcome outcome = net_run(net, &at->budget);
    if (outcome == NET_UNDECIDED) at->beyond = true;
    if (outcome == NET_STUCK) search_net(at, net);
}

const struct counterexample *counterexample_find(struct compile *cx, const struct graph *graph)
{
    struct search at = {.cx = cx, .graph = graph, .arena = arena_create(), .budget = SEARCH_STEPS};
    struct channel_block *parts;
    at.channels = channels_collect(at.arena, graph, CHANNELS_OUTER);
    at.depths = ARENA_ARRAY(at.arena, struct net_depth, graph->buffers.count + 1);
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        at.depths[i] = (struct net_depth){buffer->depth_packets, buffer->depth_declared};
    }
    uint32_t count = find_connected_parts(&at, &parts);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].count) search_part(&at, &parts[i]);
    if (!at.best) {
        at.best = ARENA_NEW(cx->arena, struct counterexample);
        /* An accepted graph is proven: by a periodic schedule where simulation is beyond the
         * budget. */
        at.best->kind = !diag_failed(cx->diags) ? COUNTER_NONE
                        : at.beyond             ? COUNTER_BEYOND
                                                : COUNTER_OTHER;
    }
    arena_destroy(at.arena);
    return at.best;
}

/* ---- as a container ---- */

/* The maximum of packets that the buffer holds in the sequence and one more firing. */
static uint64_t sequence_depth(const struct graph *graph, const struct graph_buffer *buffer,
                               const uint64_t *fired)
{
    uint64_t depth = add_clamped(buffer->initial.packets, 1);
    const struct graph_output *out = graph_writer(graph, buffer);
    for (size_t r = 0; r < buffer->readers.count; r++)
        depth = max64(depth, graph_window_packets(graph, buffer, r));
    if (!out) return depth;
    const struct graph_node *node = &graph->nodes.items[buffer->writer_node];
    uint64_t cycles = fired[buffer->writer_node] / graph_phases(node) + 2;
    depth = add_clamped(depth, mul_clamped(cycles, out->push));
    return add_clamped(depth, out->finish_max);
}

static bool set_depths(struct compile *cx, struct graph *graph, const struct counterexample *found)
{
    uint64_t *fired = ARENA_ARRAY(cx->arena, uint64_t, graph->nodes.count + 1);
    uint64_t limit = cx->options.max_memory_bytes ? cx->options.max_memory_bytes : INT64_MAX;
    uint64_t outside = 0;
    for (size_t i = 0; i < found->run_count; i++) {
        if (found->runs[i].node == GRAPH_NONE)
            outside = add_clamped(outside, found->runs[i].count);
        else
            fired[found->runs[i].node] += found->runs[i].count;
    }
    for (size_t i = 0; i < graph->buffers.count; i++) {
        struct graph_buffer *buffer = &graph->buffers.items[i];
        if (buffer->depth_declared) continue;
        buffer->depth_packets = sequence_depth(graph, buffer, fired);
        if (buffer->outer == GRAPH_OUTER_IN && buffer->readers.count > 1)
            buffer->depth_packets = add_clamped(buffer->depth_packets, outside);
        buffer->depth_declared = true; /* so that the plan does not change it */
    }
    return graph_memory(graph, &graph->memory_bytes) && graph->memory_bytes <= limit;
}

/* Names a buffer whose declared depth no firing fits.  No container can express that. */
static const char *unfit_buffer(struct compile *cx, const struct graph *graph)
{
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        const struct graph_output *out = graph_writer(graph, buffer);
        uint64_t least = buffer->initial.packets;
        if (!buffer->depth_declared) continue;
        for (size_t r = 0; r < buffer->readers.count; r++)
            least = max64(least, graph_window_packets(graph, buffer, r));
        if (out) least = max64(least, out->finish_max);
        if (out)
            least = max64(least, graph_push_most(&graph->nodes.items[buffer->writer_node], out));
        if (buffer->depth_packets < least)
            return arena_printf(cx->arena,
                                "'%s' has no room for the %" PRIu64
                                " packets of one firing, so nothing can be fired",
                                buffer->name, least);
    }
    return NULL;
}

const char *counterexample_prepare(struct compile *cx, struct graph *graph,
                                   const struct counterexample *found)
{
    if (found->kind == COUNTER_BEYOND)
        return "no sequence that ends in a deadlock was found within the budget";
    if (found->kind == COUNTER_UNSEARCHED) return "other errors prevent the search for a deadlock";
    if (found->kind != COUNTER_FOUND) return "there is no sequence that ends in a deadlock";
    if (found->no_replay) return found->no_replay;
    if (found->firings > CONTAINER_STALL_FIRINGS_MAX) return "there are too many firings to replay";
    const char *unfit = unfit_buffer(cx, graph);
    if (unfit) return unfit;
    if (!set_depths(cx, graph, found)) return "the buffers would not fit --max-memory";
    struct schedule_text text = {.arena = cx->arena, .terminals = graph->nodes.count};
    schedule_items cycle = {0}, sequence = {0};
    for (uint32_t i = 0; i < found->wait_count; i++)
        if (found->waits[i].node != GRAPH_NONE)
            vec_push(cx->arena, &cycle, (struct schedule_item){found->waits[i].node, 1});
    for (size_t i = 0; i < found->run_count; i++)
        if (found->runs[i].node != GRAPH_NONE)
            vec_push(cx->arena, &sequence,
                     (struct schedule_item){found->runs[i].node, found->runs[i].count});
    schedule_fold(&text, &sequence);
    schedule_rule_add(&text, cycle.items, cycle.count);
    schedule_rule_add(&text, sequence.items, sequence.count);
    uint64_t count = schedule_words(&text);
    uint64_t *words = ARENA_ARRAY(cx->arena, uint64_t, count + 2);
    words[0] = CONTAINER_NONE | (uint64_t)CONTAINER_CERTIFICATE_STALL
                                    << CONTAINER_CERTIFICATE_FORM_SHIFT;
    words[1] = count;
    schedule_write(&text, words + 2);
    graph->certificate = words;
    graph->certificate_words = count + 2;
    graph->is_counterexample = true;
    return NULL;
}

/* ---- as text ---- */

enum { LINES_MAX = 100 };

static const char *waiter_name(const struct graph *graph, uint32_t node)
{
    return node == GRAPH_NONE ? "the outside" : graph->nodes.items[node].name;
}

static void print_runs(FILE *to, const struct graph *graph, const struct counterexample *found)
{
    for (size_t i = 0; i < found->run_count && i < LINES_MAX; i++) {
        const struct counter_run *run = &found->runs[i];
        if (run->node == GRAPH_NONE)
            fprintf(to, "  (%" PRIu64 " packet%s come to '%s')\n", run->count, plural(run->count),
                    graph->buffers.items[run->buffer].name);
        else if (run->count == 1)
            fprintf(to, "  %s\n", waiter_name(graph, run->node));
        else
            fprintf(to, "  %s x %" PRIu64 "\n", waiter_name(graph, run->node), run->count);
    }
    if (found->run_count > LINES_MAX)
        fprintf(to, "  ... and %zu more lines (--json has them all)\n",
                found->run_count - LINES_MAX);
}

static void print_wait(FILE *to, const struct graph *graph, const struct counter_wait *wait)
{
    const char *buffer = graph->buffers.items[wait->buffer].name;
    if (wait->node == GRAPH_NONE)
        fprintf(to, "  the outside waits for room in '%s'", buffer);
    else
        fprintf(to, "  '%s', after %" PRIu64 " firing%s, waits for %s '%s'",
                waiter_name(graph, wait->node), wait->fired, plural(wait->fired),
                wait->room ? "room in" : "packets in", buffer);
    fprintf(to, ": %" PRIu64 " %s, %" PRIu64 " needed", wait->holds,
            wait->room ? "free" : "present", wait->needs);
    if (wait->next != GRAPH_NONE)
        fprintf(to, "; '%s' %s\n", waiter_name(graph, wait->next),
                wait->room ? "would free it" : "would write them");
    else
        fputs("; the outside would write them\n", to);
}

static void print_found(FILE *to, const struct graph *graph, const struct counterexample *found)
{
    if (found->firings == 0)
        fputs("deadlock at the beginning: no firing is needed\n", to);
    else
        fprintf(to, "deadlock after %" PRIu64 " firing%s, the minimum:\n", found->firings,
                plural(found->firings));
    print_runs(to, graph, found);
    fputs("then these wait for each other forever:\n", to);
    for (uint32_t i = 0; i < found->wait_count; i++)
        print_wait(to, graph, &found->waits[i]);
    fputs("levels:\n", to);
    for (uint32_t i = 0; i < found->level_count; i++) {
        const struct counter_level *level = &found->levels[i];
        fprintf(to, "  '%s' holds %" PRIu64, graph->buffers.items[level->buffer].name,
                level->packets);
        if (level->depth)
            fprintf(to, " of %" PRIu64 "\n", level->depth);
        else
            fputs(", and no depth would help\n", to);
    }
}

void counterexample_print(FILE *to, const struct graph *graph, const struct counterexample *found)
{
    switch (found->kind) {
    case COUNTER_FOUND: print_found(to, graph, found); return;
    case COUNTER_NONE:
        fprintf(to, "no deadlock: %s\n",
                graph->unproven
                    ? "the part with exact rates never deadlocks; its author accepts the rest"
                    : "no sequence of firings ends in a deadlock");
        return;
    case COUNTER_OTHER:
        fputs("no sequence of firings shows this error: the part with exact rates never waits in "
              "a cycle\n",
              to);
        return;
    case COUNTER_BEYOND:
        fprintf(to, "no sequence was found in %d steps of simulation\n", SEARCH_STEPS);
        return;
    case COUNTER_UNSEARCHED:
        fputs("no search for a deadlock: other errors prevent it\n", to);
        return;
    }
}
