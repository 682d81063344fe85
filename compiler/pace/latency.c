/* SPDX-License-Identifier: MIT */
#include "compiler/pace/latency.h"

#include "compiler/liveness/token_game.h"
#include "compiler/ir/ratio.h"
#include "base/vec.h"

struct event { /* the end of firings that started together */
    uint64_t time, count;
    uint32_t node;
};

struct machine {
    struct arena *arena;
    const struct graph *graph;
    struct net *net;
    uint64_t *ended;          /* firings, by node */
    VEC(struct event) events; /* a heap, earliest first */
    uint64_t *budget;
    bool failed; /* beyond the budget, or the arithmetic */
};

/* ---- events ---- */

static void sift_up(struct machine *machine, size_t at)
{
    struct event *events = machine->events.items;
    struct event event = events[at];
    for (; at > 0 && events[(at - 1) / 2].time > event.time; at = (at - 1) / 2)
        events[at] = events[(at - 1) / 2];
    events[at] = event;
}

static struct event pop_event(struct machine *machine)
{
    struct event *events = machine->events.items, first = events[0];
    size_t count = --machine->events.count, at = 0;
    struct event last = events[count];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < count && events[child + 1].time < events[child].time) child++;
        if (child >= count || events[child].time >= last.time) break;
        events[at] = events[child];
        at = child;
    }
    events[at] = last;
    return first;
}

/* ---- running ---- */

static bool pay_look(struct machine *machine, uint32_t node)
{
    const struct net_node *at = &machine->net->nodes[node];
    uint64_t price = 1 + at[1].first_in - at->first_in;
    if (*machine->budget < price) machine->failed = true;
    if (machine->failed) return false;
    *machine->budget -= price;
    return true;
}

/* Starts the firings that can start now. */
static void try_start(struct machine *machine, uint32_t node, uint64_t now)
{
    const struct graph_node *at = &machine->graph->nodes.items[node];
    uint64_t time, count;
    if (!pay_look(machine, node)) return;
    count = net_ready(machine->net, node);
    if (at->stateful)
        count = min64(count, machine->net->nodes[node].fired == machine->ended[node] ? 1 : 0);
    if (count == 0) return;
    net_start(machine->net, node, count);
    if (!add63(now, at->cost_cycles, &time)) {
        machine->failed = true;
        return;
    }
    vec_push(machine->arena, &machine->events,
             (struct event){.time = time, .count = count, .node = node});
    sift_up(machine, machine->events.count - 1);
}

struct target { /* the end of firing `firings` of the node */
    uint32_t node, buffer;
    uint64_t firings;
};

typedef VEC(struct target) target_list;

static const struct target *find_reached(const struct machine *machine, const target_list *targets)
{
    for (size_t i = 0; i < targets->count; i++)
        if (machine->ended[targets->items[i].node] >= targets->items[i].firings)
            return &targets->items[i];
    return NULL;
}

/* Each firing of a stateful node is an event of its own. */
static bool is_affordable(const struct machine *machine, const uint64_t *wanted)
{
    uint64_t events = 0;
    for (uint32_t n = 0; n < machine->graph->nodes.count; n++)
        if (machine->graph->nodes.items[n].stateful) events = add_clamped(events, wanted[n]);
    return events < *machine->budget;
}

static struct latency run_to_targets(struct machine *machine, const target_list *targets)
{
    struct latency latency = {.node = GRAPH_NONE, .buffer = GRAPH_NONE};
    uint64_t now = 0;
    for (;;) {
        for (uint32_t node; net_next(machine->net, &node);)
            try_start(machine, node, now);
        if (machine->failed || machine->events.count == 0) return latency;
        now = machine->events.items[0].time;
        while (machine->events.count > 0 && machine->events.items[0].time == now) {
            struct event event = pop_event(machine);
            net_end(machine->net, event.node, machine->ended[event.node], event.count);
            machine->ended[event.node] += event.count;
            net_ask(machine->net, event.node); /* it may be stateful */
        }
        const struct target *reached = find_reached(machine, targets);
        if (reached) return (struct latency){true, now, reached->node, reached->buffer};
    }
}

/* ---- the target ---- */

static void find_targets(struct machine *machine, target_list *targets)
{
    const struct graph *graph = machine->graph;
    bool has_ports = false;
    for (uint32_t b = 0; b < graph->buffers.count; b++) {
        const struct graph_buffer *buffer = &graph->buffers.items[b];
        if (buffer->outer != GRAPH_OUTER_OUT) continue;
        has_ports = true;
        const struct graph_output *out = graph_writer(graph, buffer);
        if (out->push == 0) continue;
        uint32_t phases = graph_phases(&graph->nodes.items[buffer->writer_node]);
        uint64_t firings = 1; /* until it has written a packet */
        while (out->pushes && firings < phases && out->pushes[firings - 1] == 0)
            firings++;
        vec_push(machine->arena, targets, (struct target){buffer->writer_node, b, firings});
    }
    for (uint32_t n = 0; n < graph->nodes.count && !has_ports; n++)
        if (graph->nodes.items[n].outputs.count == 0)
            vec_push(machine->arena, targets, (struct target){n, GRAPH_NONE, 1});
}

/* The net of all nodes, with room for the packets of the depths. */
static struct net *timed_net(struct arena *arena, const struct graph *graph, bool at_depths)
{
    struct channels channels = channels_collect(arena, graph, CHANNELS_INNER);
    struct net_depth *depths = ARENA_ARRAY(arena, struct net_depth, graph->buffers.count + 1);
    for (size_t b = 0; b < graph->buffers.count; b++)
        depths[b].packets = graph->buffers.items[b].depth_packets;
    struct net *net = net_create(arena, &channels, NULL, at_depths ? depths : NULL);
    net_use_history(net, &channels);
    return net;
}

struct latency latency_of_graph(const struct graph *graph, bool at_depths, uint64_t *budget)
{
    struct latency latency = {.node = GRAPH_NONE, .buffer = GRAPH_NONE};
    struct arena *arena = arena_create();
    struct machine machine = {.arena = arena, .graph = graph, .budget = budget};
    target_list targets = {0};
    machine.net = timed_net(arena, graph, at_depths);
    machine.ended = ARENA_ARRAY(arena, uint64_t, graph->nodes.count + 1);
    find_targets(&machine, &targets);
    uint64_t *wanted = ARENA_ARRAY(arena, uint64_t, graph->nodes.count + 1);
    for (size_t i = 0; i < targets.count; i++)
        wanted[targets.items[i].node] =
            max64(wanted[targets.items[i].node], targets.items[i].firings);
    if (targets.count > 0 && net_least_firings(machine.net, wanted, budget) &&
        is_affordable(&machine, wanted) && net_begin_up_to(machine.net, wanted))
        latency = run_to_targets(&machine, &targets);
    arena_destroy(arena);
    return latency;
}
