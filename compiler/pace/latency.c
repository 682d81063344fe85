/* SPDX-License-Identifier: MIT */
#include "compiler/pace/latency.h"

#include "compiler/liveness/channels.h"
#include "compiler/ir/ratio.h"
#include "compiler/support/bucket.h"
#include "base/vec.h"

struct event { /* the end of firings that started together */
    uint64_t time, count;
    uint32_t node;
};

struct actor { /* a node as it runs */
    uint64_t started, ended, wanted;
    bool queued;
};

struct machine {
    struct arena *arena;
    const struct graph *graph;
    struct channels channels;
    bool at_depths;
    struct actor *actors;
    uint32_t *first_in, *in, *first_out, *out; /* channels of each node */
    uint32_t *queue;
    uint32_t queue_head, queue_count;
    VEC(struct event) events; /* a heap, earliest first */
    uint64_t *budget;
    bool failed; /* beyond the budget, or the arithmetic */
};

static uint128 packets_written(const struct channel *channel, uint64_t firings)
{
    return channels_sum(channel->push_sums, channel->push, channel->from_phases, 0, firings);
}

static uint128 packets_consumed(const struct channel *channel, uint64_t firings)
{
    return channels_sum(channel->pop_sums, channel->pop, channel->to_phases, 0, firings);
}

/* Packets that have to have been written for firing `index` of the reader. */
static uint128 packets_required(const struct channel *channel, uint64_t index)
{
    uint64_t peek = channel->peeks ? channel->peeks[index % channel->to_phases] : channel->peek;
    return packets_consumed(channel, index) + peek;
}

static uint64_t initial_of(const struct machine *machine, const struct channel *channel)
{
    return machine->graph->buffers.items[channel->buffer].initial.packets;
}

static uint64_t depth_of(const struct machine *machine, const struct channel *channel)
{
    return machine->graph->buffers.items[channel->buffer].depth_packets;
}

/* ---- needs ---- */

static void actor_queue_push(struct machine *machine, uint32_t node)
{
    uint32_t n = machine->channels.node_count;
    if (machine->actors[node].queued) return;
    machine->actors[node].queued = true;
    machine->queue[(machine->queue_head + machine->queue_count++) % n] = node;
}

static uint32_t actor_queue_pop(struct machine *machine)
{
    uint32_t node = machine->queue[machine->queue_head];
    machine->queue_head = (machine->queue_head + 1) % machine->channels.node_count;
    machine->queue_count--;
    machine->actors[node].queued = false;
    return node;
}

static void want_firings(struct machine *machine, uint32_t node, uint128 firings)
{
    if (firings > INT64_MAX)
        machine->failed = true;
    else if (firings > machine->actors[node].wanted) {
        machine->actors[node].wanted = (uint64_t)firings;
        actor_queue_push(machine, node);
    }
}

/* Requires the reader to have fired `firings` times. */
static void want_packets(struct machine *machine, const struct channel *channel, uint64_t firings)
{
    uint128 most = 0, initial = initial_of(machine, channel);
    for (uint64_t i = firings - min64(firings, channel->peeks ? channel->to_phases : 1);
         i < firings; i++) {
        uint128 one = packets_required(channel, i);
        if (one > most) most = one;
    }
    if (most > initial)
        want_firings(machine, channel->from,
                     channels_firings(channel->push_sums, channel->push, channel->from_phases,
                                      most - initial));
}

/* Requires the writer to have fired `firings` times. */
static void want_room(struct machine *machine, const struct channel *channel, uint64_t firings)
{
    uint128 held = packets_written(channel, firings) + initial_of(machine, channel);
    uint64_t depth = depth_of(machine, channel);
    if (held <= depth || packets_written(channel, firings) == 0) return;
    want_firings(machine, channel->to,
                 channels_firings(channel->pop_sums, channel->pop, channel->to_phases,
                                  held - depth + channel->reserve));
}

static bool pay_look(struct machine *machine, uint32_t node)
{
    uint64_t price = 1 + machine->first_in[node + 1] - machine->first_in[node] +
                     machine->first_out[node + 1] - machine->first_out[node];
    if (*machine->budget < price || machine->failed) {
        machine->failed = true;
        return false;
    }
    *machine->budget -= price;
    return true;
}

static void demand_inputs(struct machine *machine)
{
    while (machine->queue_count > 0) {
        uint32_t node = actor_queue_pop(machine);
        uint64_t firings = machine->actors[node].wanted;
        if (!pay_look(machine, node)) return;
        for (uint32_t i = machine->first_in[node]; i < machine->first_in[node + 1]; i++)
            want_packets(machine, &machine->channels.items[machine->in[i]], firings);
        for (uint32_t i = machine->first_out[node];
             machine->at_depths && i < machine->first_out[node + 1]; i++)
            want_room(machine, &machine->channels.items[machine->out[i]], firings);
    }
}

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

/* Do the inputs hold enough for the firing of that index, and have the outputs room for it? */
static bool may_start(const struct machine *machine, uint32_t node, uint64_t index)
{
    for (uint32_t i = machine->first_in[node]; i < machine->first_in[node + 1]; i++) {
        const struct channel *channel = &machine->channels.items[machine->in[i]];
        uint128 there = packets_written(channel, machine->actors[channel->from].ended);
        if (there + initial_of(machine, channel) < packets_required(channel, index)) return false;
    }
    for (uint32_t i = machine->first_out[node];
         machine->at_depths && i < machine->first_out[node + 1]; i++) {
        const struct channel *channel = &machine->channels.items[machine->out[i]];
        uint128 freed = packets_consumed(channel, machine->actors[channel->to].ended);
        freed = freed > channel->reserve ? freed - channel->reserve : 0;
        uint128 claimed = packets_written(channel, index + 1);
        if (claimed > packets_written(channel, index) &&
            claimed + initial_of(machine, channel) > freed + depth_of(machine, channel))
            return false;
    }
    return true;
}

/* Firings that start now.  Found by doubling and halving, because each one can start where a
 * later one can. Within a cycle of phases that does not hold; there they are tried one by one. */
static uint64_t count_startable(struct machine *machine, uint32_t node)
{
    const struct graph_node *at = &machine->graph->nodes.items[node];
    const struct actor *actor = &machine->actors[node];
    uint64_t most = actor->wanted - actor->started, low = 0, high = 1;
    if (at->stateful) most = min64(most, actor->started == actor->ended ? 1 : 0);
    if (graph_phases(at) > 1) {
        while (low < most && may_start(machine, node, actor->started + low) &&
               pay_look(machine, node))
            low++;
        return low;
    }
    while (high <= most && may_start(machine, node, actor->started + high - 1)) {
        low = high;
        high *= 2;
    }
    if (high > most) high = most + 1;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (may_start(machine, node, actor->started + middle - 1))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void try_start(struct machine *machine, uint32_t node, uint64_t now)
{
    uint64_t time;
    if (!pay_look(machine, node)) return;
    uint64_t count = count_startable(machine, node);
    if (count == 0) return;
    machine->actors[node].started += count;
    if (!add63(now, machine->graph->nodes.items[node].cost_cycles, &time)) {
        machine->failed = true;
        return;
    }
    struct event event = (struct event){.time = time, .count = count, .node = node};
    vec_push(machine->arena, &machine->events, event);
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
        if (machine->actors[targets->items[i].node].ended >= targets->items[i].firings)
            return &targets->items[i];
    return NULL;
}

/* Each firing of a stateful node is an event of its own. */
static bool is_affordable(const struct machine *machine)
{
    uint64_t events = 0;
    for (uint32_t n = 0; n < machine->graph->nodes.count; n++)
        if (machine->graph->nodes.items[n].stateful)
            events = add_clamped(events, machine->actors[n].wanted);
    return events < *machine->budget;
}

static struct latency run_to_targets(struct machine *machine, const target_list *targets)
{
    struct latency latency = {.node = GRAPH_NONE, .buffer = GRAPH_NONE};
    uint64_t now = 0;
    for (uint32_t n = 0; n < machine->channels.node_count; n++)
        if (machine->actors[n].wanted > 0) actor_queue_push(machine, n);
    for (;;) {
        while (machine->queue_count > 0)
            try_start(machine, actor_queue_pop(machine), now);
        if (machine->failed || machine->events.count == 0) return latency;
        now = machine->events.items[0].time;
        while (machine->events.count > 0 && machine->events.items[0].time == now) {
            struct event event = pop_event(machine);
            machine->actors[event.node].ended += event.count;
            uint32_t node = event.node;
            actor_queue_push(machine, node);
            for (uint32_t i = machine->first_out[node]; i < machine->first_out[node + 1]; i++)
                actor_queue_push(machine, machine->channels.items[machine->out[i]].to);
            for (uint32_t i = machine->first_in[node]; i < machine->first_in[node + 1]; i++)
                actor_queue_push(machine, machine->channels.items[machine->in[i]].from);
        }
        const struct target *reached = find_reached(machine, targets);
        if (reached) return (struct latency){true, now, reached->node, reached->buffer};
    }
}

/* ---- the target ---- */

/* Firings of the writer until it has written a packet; 0: it writes none. */
static uint64_t firings_to_write(const struct graph_node *writer, const struct graph_output *out)
{
    if (out->push == 0) return 0;
    uint64_t firings = 1;
    while (out->pushes && firings < graph_phases(writer) && out->pushes[firings - 1] == 0)
        firings++;
    return firings;
}

static void find_targets(struct machine *machine, target_list *targets)
{
    const struct graph *graph = machine->graph;
    bool has_ports = false;
    for (uint32_t b = 0; b < graph->buffers.count; b++) {
        const struct graph_buffer *buffer = &graph->buffers.items[b];
        if (buffer->outer != GRAPH_OUTER_OUT) continue;
        has_ports = true;
        struct target target = {buffer->writer_node, b, 0};
        target.firings =
            firings_to_write(&graph->nodes.items[target.node], graph_writer(graph, buffer));
        if (target.firings > 0) vec_push(machine->arena, targets, target);
    }
    for (uint32_t n = 0; n < graph->nodes.count && !has_ports; n++)
        if (graph->nodes.items[n].outputs.count == 0)
            vec_push(machine->arena, targets, (struct target){n, GRAPH_NONE, 1});
    for (size_t i = 0; i < targets->count; i++)
        want_firings(machine, targets->items[i].node, targets->items[i].firings);
}

struct latency latency_of_graph(const struct graph *graph, bool at_depths, uint64_t *budget)
{
    struct arena *arena = arena_create();
    struct machine machine = {
        .arena = arena, .graph = graph, .at_depths = at_depths, .budget = budget};
    target_list targets = {0};
    machine.channels = channels_collect(arena, graph, CHANNELS_INNER);
    uint32_t n = machine.channels.node_count;
    machine.actors = ARENA_ARRAY(arena, struct actor, n);
    machine.queue = ARENA_ARRAY(arena, uint32_t, n);
    const struct channels *of = &machine.channels;
    const size_t size = sizeof *of->items;
    struct buckets out =
        bucket_by(arena, of->items, size, offsetof(struct channel, from), of->count, n);
    struct buckets in =
        bucket_by(arena, of->items, size, offsetof(struct channel, to), of->count, n);
    machine.first_out = out.first, machine.out = out.items;
    machine.first_in = in.first, machine.in = in.items;
    find_targets(&machine, &targets);
    demand_inputs(&machine);
    struct latency latency = {.node = GRAPH_NONE, .buffer = GRAPH_NONE};
    if (!machine.failed && targets.count > 0 && is_affordable(&machine))
        latency = run_to_targets(&machine, &targets);
    arena_destroy(arena);
    return latency;
}
