/* SPDX-License-Identifier: MIT */
#include "compiler/plan/trial_internal.h"

#include "compiler/ir/ratio.h"
#include "core/time/caches.h"
#include "lang/dispatch.h"
#include "lang/sched_code.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- laying it out ---- */

static uint64_t cycles_of_tree(const struct graph *graph, const struct graph_node *node)
{
    uint64_t dearest = 0;
    if (node->kernel->launches.tree == 0) return 0;
    for (size_t i = graph->kernels.count - graph->child_kernels; i < graph->kernels.count; i++)
        dearest = max64(dearest, graph->kernels.items[i]->cost_cycles);
    return mul_clamped(node->kernel->launches.tree, dearest);
}

static void set_cost(struct playing *p, struct trial_stage *stage, const struct graph_node *node)
{
    const uint32_t *group = node->kernel->group;
    uint64_t items = max64((uint64_t)group[0] * group[1] * group[2], 1);
    stage->serial = node->stateful;
    stage->warp_cycles = node->warp.cycles > 0 ? node->warp.cycles : node->cost_cycles;
    stage->warp = (struct core_warp_shape){(uint32_t)max64(node->warp.firings, 1),
                                           (uint32_t)max64(node->warp.pieces, 1)};
    if (node->warp.cycles == 0)
        stage->warp.firings_per_warp = (uint32_t)max64(p->device->lanes / items, 1);
    stage->tree_cycles = cycles_of_tree(p->graph, node);
}

/* Bytes of a buffer that may stay in the caches; 0: a port. */
static uint64_t inner_bytes(const struct graph_buffer *buffer)
{
    return buffer->outer == GRAPH_INNER ? mul_clamped(buffer->depth_packets, buffer->width_bytes)
                                        : 0;
}

static void find_cached(struct playing *p)
{
    size_t count = p->graph->buffers.count;
    uint64_t *bytes = ARENA_ARRAY(p->arena, uint64_t, count + 1);
    for (size_t i = 0; i < count; i++)
        bytes[i] = inner_bytes(&p->graph->buffers.items[i]);
    p->cached_largest = core_caches_largest(core_caches_capacity(p->device), bytes, count);
}

static void add_traffic(const struct playing *p, struct trial_stage *stage,
                        const struct graph_buffer *buffer, uint64_t packets)
{
    uint64_t bytes = mul_clamped(packets, buffer->width_bytes), size = inner_bytes(buffer);
    stage->most_bytes = add_clamped(stage->most_bytes, bytes);
    if (size > 0 && size <= p->cached_largest)
        stage->cached_bytes = add_clamped(stage->cached_bytes, bytes);
}

static void add_input(struct playing *p, struct trial_stage *stage, const struct graph_input *in,
                      uint32_t *next)
{
    const struct graph_buffer *buffer = &p->graph->buffers.items[in->buffer];
    bool rounds = graph_window_rounds(p->graph, buffer, in->reader);
    p->ends[(*next)++] = (struct trial_end){.buffer = in->buffer,
                                            .reader = in->reader,
                                            .rate = in->pop,
                                            .most = in->peek,
                                            .group = rounds ? in->peek : 1};
    stage->in_count++;
    add_traffic(p, stage, buffer, in->pop);
    stage->bytes = add_clamped(stage->bytes, mul_clamped(in->pop, buffer->width_bytes));
}

static void add_output(struct playing *p, struct trial_stage *stage, const struct graph_output *out,
                       uint32_t *next)
{
    const struct graph_buffer *buffer = &p->graph->buffers.items[out->buffer];
    p->ends[(*next)++] = (struct trial_end){.buffer = out->buffer,
                                            .rate = p->size.least ? out->push_least : out->push,
                                            .most = 1,
                                            .group = 1};
    stage->out_count++;
    add_traffic(p, stage, buffer, out->push);
    stage->bytes = add_clamped(stage->bytes, mul_clamped(out->push, buffer->width_bytes));
}

/* The queue of the sub-device for that importance: they are in order, the most important one first. */
static uint32_t queue_for(struct playing *p, uint32_t unit, uint32_t importance)
{
    uint32_t *at = &p->units[unit].first_queue;
    while (*at != GRAPH_NONE && p->queues[*at].importance > importance)
        at = &p->queues[*at].next_lower;
    if (*at != GRAPH_NONE && p->queues[*at].importance == importance) return *at;
    uint32_t queue = p->queue_count++;
    p->queues[queue] = (struct trial_queue){.unit = unit,
                                            .importance = importance,
                                            .next_lower = *at,
                                            .first_packet = GRAPH_NONE,
                                            .last_packet = GRAPH_NONE};
    *at = queue;
    return queue;
}

static void set_stage(struct playing *p, uint32_t index, struct trial_size size, uint32_t *next)
{
    const struct plan_stage *from = &p->plan->stages[index];
    const struct graph_node *node = &p->graph->nodes.items[from->node];
    struct trial_stage *stage = &p->stages[index];
    uint128 limit = (uint128)from->pace * size.iterations / PLAN_PACE_ONE;
    stage->phases = graph_phases(node);
    stage->threshold = from->threshold;
    stage->batch_max = from->batch_max;
    stage->units = from->units;
    stage->queue =
        queue_for(p, from->sub_device == GRAPH_NONE ? 0 : from->sub_device, node->importance);
    stage->limit = limit >> 62 ? INT64_MAX : max64((uint64_t)limit, 1);
    uint128 weight = (uint128)from->load * PLAN_PACE_ONE / from->pace;
    stage->weight = weight >> 44 ? UINT64_C(1) << 44 : max64((uint64_t)weight, 1);
    p->goal += (uint128)stage->limit * stage->weight;
    set_cost(p, stage, node);
    stage->first_in = *next;
    for (size_t i = 0; i < node->inputs.count; i++)
        add_input(p, stage, &node->inputs.items[i], next);
    stage->first_out = *next;
    for (size_t i = 0; i < node->outputs.count; i++)
        add_output(p, stage, &node->outputs.items[i], next);
}

/* Packets that windows keep; those with border wrap are counted by `freed`. */
static uint64_t history_of(const struct graph *graph, const struct graph_buffer *buffer)
{
    uint64_t most = 0;
    for (size_t r = 0; r < buffer->readers.count; r++)
        if (!graph_window_rounds(graph, buffer, r))
            most = max64(most, graph_reader_input(graph, buffer, r)->history);
    return most;
}

static void set_buffer(struct playing *p, uint32_t index, uint32_t *readers)
{
    const struct graph_buffer *from = &p->graph->buffers.items[index];
    uint64_t history = history_of(p->graph, from);
    p->buffers[index] =
        (struct trial_buffer){.depth = from->depth_packets - min64(history, from->depth_packets),
                              .committed = from->initial.packets,
                              .first_reader = *readers,
                              .reader_count = (uint32_t)from->readers.count,
                              .writer = from->writer_node,
                              .is_in_port = from->outer == GRAPH_OUTER_IN,
                              .is_out_port = from->outer == GRAPH_OUTER_OUT};
    *readers += (uint32_t)from->readers.count;
}

/* Are writer and readers on one queue, and the rates exact?  (core/core.h, "Order"; what a
 * reader frees is in order whatever the writer does.) */
static bool is_one_queue(const struct playing *p, const struct graph_buffer *buffer)
{
    if (buffer->outer != GRAPH_INNER || buffer->writer_node == GRAPH_NONE) return false;
    uint32_t queue = p->stages[buffer->writer_node].queue;
    for (size_t r = 0; r < buffer->readers.count; r++)
        if (p->stages[buffer->readers.items[r].node].queue != queue) return false;
    return true;
}

static bool writes_exactly(const struct graph_node *node)
{
    for (size_t i = 0; i < node->outputs.count; i++)
        if (node->outputs.items[i].push_least != node->outputs.items[i].push) return false;
    return !node->kernel->stops;
}

static void set_order_of_ends(struct playing *p)
{
    for (uint32_t i = 0; i < p->stage_count; i++) {
        const struct trial_stage *stage = &p->stages[i];
        bool exact = writes_exactly(&p->graph->nodes.items[p->plan->stages[i].node]);
        for (uint32_t e = stage->first_in; e < stage->first_out + stage->out_count; e++) {
            const struct graph_buffer *buffer = &p->graph->buffers.items[p->ends[e].buffer];
            p->ends[e].in_order = is_one_queue(p, buffer) && (e < stage->first_out || exact);
        }
    }
}

/* ---- sets ---- */

static uint32_t importance_of(const struct playing *p, uint32_t stage)
{
    return p->graph->nodes.items[p->plan->stages[stage].node].importance;
}

/* By importance, the greatest first, in order among equals. */
static void sort_by_importance(struct playing *p)
{
    enum { LEVELS = 256 };
    uint32_t first[LEVELS + 1] = {0};
    for (uint32_t i = 0; i < p->stage_count; i++)
        first[LEVELS - importance_of(p, i)]++;
    for (uint32_t k = 1; k <= LEVELS; k++)
        first[k] += first[k - 1];
    for (uint32_t i = 0; i < p->stage_count; i++)
        p->order[first[LEVELS - 1 - importance_of(p, i)]++] = i;
}

/* A set for each importance in use; of an author's policy one of all. */
static void set_sets(struct playing *p)
{
    bool by_importance = p->graph->policy == POLICY_AUTO;
    if (by_importance || p->selection == POLICY_PRIORITY)
        sort_by_importance(p);
    else
        for (uint32_t i = 0; i < p->stage_count; i++)
            p->order[i] = i;
    for (uint32_t k = 0; k < p->stage_count; k++) {
        p->position[p->order[k]] = k;
        if (k == 0 ||
            (by_importance && importance_of(p, p->order[k]) != importance_of(p, p->order[k - 1])))
            p->sets[p->set_count++] = k;
    }
    p->sets[p->set_count] = p->stage_count;
    for (uint32_t s = 0; s < p->set_count; s++)
        p->cursors[s] = p->sets[s];
}

static void look_again(struct playing *p, uint32_t stage)
{
    uint32_t at = p->position[stage];
    p->maybe[at / 64] |= UINT64_C(1) << at % 64;
}

void trial_look_everywhere(struct playing *p)
{
    for (uint32_t i = 0; i < p->stage_count; i++)
        look_again(p, i);
}

static void settle(struct playing *p, uint32_t stage)
{
    uint32_t at = p->position[stage];
    p->maybe[at / 64] &= ~(UINT64_C(1) << at % 64);
}

/* The first position from `at` on that is worth a look, before `end`; `end`: none. */
static uint32_t next_maybe(const struct playing *p, uint32_t at, uint32_t end)
{
    while (at < end) {
        uint64_t bits = p->maybe[at / 64] >> at % 64;
        if (bits != 0) {
            at += (uint32_t)__builtin_ctzll(bits);
            return at < end ? at : end;
        }
        at = (at / 64 + 1) * 64;
    }
    return end;
}

static void lay_out(struct playing *p, struct trial_size size)
{
    const struct graph *graph = p->graph;
    uint32_t ends = 0, readers = 0;
    size_t stages = (size_t)p->stage_count + 1;
    for (uint32_t i = 0; i < p->stage_count; i++) {
        const struct graph_node *node = &graph->nodes.items[p->plan->stages[i].node];
        ends += (uint32_t)(node->inputs.count + node->outputs.count);
    }
    p->stages = ARENA_ARRAY(p->arena, struct trial_stage, stages);
    p->ends = ARENA_ARRAY(p->arena, struct trial_end, (size_t)ends + 1);
    p->buffers = ARENA_ARRAY(p->arena, struct trial_buffer, graph->buffers.count + 1);
    p->read = ARENA_ARRAY(p->arena, uint64_t, (size_t)ends + 1);
    p->freed = ARENA_ARRAY(p->arena, uint64_t, (size_t)ends + 1);
    p->queues = ARENA_ARRAY(p->arena, struct trial_queue, stages);
    p->units = ARENA_ARRAY(p->arena, struct trial_unit, p->unit_count);
    p->order = ARENA_ARRAY(p->arena, uint32_t, stages);
    p->position = ARENA_ARRAY(p->arena, uint32_t, stages);
    p->maybe = ARENA_ARRAY(p->arena, uint64_t, stages / 64 + 2);
    p->sets = ARENA_ARRAY(p->arena, uint32_t, stages);
    p->cursors = ARENA_ARRAY(p->arena, uint32_t, stages);
    p->fullest = ARENA_ARRAY(p->arena, uint32_t, stages);
    p->heap = ARENA_ARRAY(p->arena, uint32_t, stages);
    ends = 0;
    for (uint32_t i = 0; i < p->unit_count; i++)
        p->units[i] = (struct trial_unit){.last = GRAPH_NONE,
                                          .first_queue = GRAPH_NONE,
                                          .running = GRAPH_NONE,
                                          .cus = p->plan->sub_device_count ? p->plan->sub_devices[i]
                                                                           : p->device->cu_count};
    find_cached(p);
    for (uint32_t i = 0; i < p->stage_count; i++)
        set_stage(p, i, size, &ends);
    for (uint32_t i = 0; i < graph->buffers.count; i++)
        set_buffer(p, i, &readers);
    set_order_of_ends(p);
    set_sets(p);
    trial_look_everywhere(p);
}

/* ---- how much can be done ---- */

/* Packets of that many firings from one on, phases taken evenly. */
static uint64_t packets_of(const struct trial_stage *stage, uint64_t rate, uint64_t first,
                           uint64_t firings)
{
    if (stage->phases == 1) return rate * firings;
    return (uint64_t)((uint128)rate * (first + firings) / stage->phases -
                      (uint128)rate * first / stage->phases);
}

static uint64_t least_read(struct playing *p, const struct trial_buffer *buffer)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t r = 0; r < buffer->reader_count; r++)
        least = min64(least, p->freed[buffer->first_reader + r]);
    p->looks += buffer->reader_count;
    return least == UINT64_MAX ? 0 : least;
}

/* An in-port is full. */
static uint64_t held_by(struct playing *p, const struct trial_end *end)
{
    const struct trial_buffer *buffer = &p->buffers[end->buffer];
    uint64_t read = p->read[buffer->first_reader + end->reader];
    p->looks++;
    return buffer->is_in_port ? buffer->depth - (read - least_read(p, buffer))
                              : buffer->committed - read;
}

uint64_t trial_held(struct playing *p, const struct trial_stage *stage, const struct trial_end *end)
{
    uint64_t held = held_by(p, end);
    if (!stage->in_flight || end->in_order) return held;
    return held - packets_of(stage, end->rate, stage->fired - stage->batch, stage->batch);
}

uint64_t trial_room(struct playing *p, const struct trial_end *end)
{
    const struct trial_buffer *buffer = &p->buffers[end->buffer];
    uint64_t room = buffer->depth - buffer->claimed;
    p->looks++;
    if (buffer->is_out_port) return room;
    uint64_t held = buffer->committed - least_read(p, buffer);
    return room > held ? room - held : 0;
}

static uint64_t fits_input(struct playing *p, const struct trial_stage *stage,
                           const struct trial_end *end)
{
    uint64_t held = held_by(p, end);
    if (end->group > 1) { /* firings see whole groups, and none before theirs is there */
        uint64_t read = p->read[p->buffers[end->buffer].first_reader + end->reader];
        return (read + held) / end->group * end->group - read;
    }
    if (held < end->most) return 0;
    if (end->rate == 0) return UINT64_MAX;
    if (stage->phases == 1) return (held - end->most) / end->rate + 1;
    return (uint64_t)((uint128)(held - end->most) * stage->phases / end->rate) + 1;
}

static uint64_t fits_output(struct playing *p, const struct trial_stage *stage,
                            const struct trial_end *end)
{
    uint64_t room = trial_room(p, end);
    if (end->rate == 0) return UINT64_MAX;
    return stage->phases == 1 ? room / end->rate
                              : (uint64_t)((uint128)room * stage->phases / end->rate);
}

static uint64_t ready_firings(struct playing *p, const struct trial_stage *stage)
{
    uint64_t left = stage->limit > stage->fired ? stage->limit - stage->fired : 0;
    uint64_t firings = min64(stage->batch_max, left);
    for (uint32_t i = 0; i < stage->out_count && firings > 0; i++)
        firings = min64(firings, fits_output(p, stage, &p->ends[stage->first_out + i]));
    for (uint32_t i = 0; i < stage->in_count && firings > 0; i++)
        firings = min64(firings, fits_input(p, stage, &p->ends[stage->first_in + i]));
    return firings >= stage->threshold || firings == left || p->waiver ? firings : 0;
}

/* ---- selections ---- */

static uint64_t look_at(struct playing *p, uint32_t position)
{
    uint32_t index = p->order[position];
    const struct trial_stage *stage = &p->stages[index];
    bool asked = !stage->in_flight && (p->is_static == NULL || !p->is_static[index]);
    uint64_t firings = asked ? ready_firings(p, stage) : 0;
    p->looks++;
    if (firings == 0) settle(p, index);
    return firings;
}

static uint32_t first_ready(struct playing *p, uint32_t from, uint32_t end, uint64_t *firings)
{
    for (uint32_t at = next_maybe(p, from, end); at < end; at = next_maybe(p, at + 1, end)) {
        *firings = look_at(p, at);
        if (*firings > 0) return at;
    }
    return GRAPH_NONE;
}

static uint64_t fullest_input(struct playing *p, const struct trial_stage *stage)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < stage->in_count; i++) {
        most = max64(most, held_by(p, &p->ends[stage->first_in + i]));
    }
    return most;
}

static uint32_t select_fullest(struct playing *p, uint32_t set, uint64_t *firings)
{
    uint32_t found = GRAPH_NONE, end = p->sets[set + 1];
    uint64_t most = 0;
    for (uint32_t at = next_maybe(p, p->sets[set], end); at < end;
         at = next_maybe(p, at + 1, end)) {
        uint64_t packets = fullest_input(p, &p->stages[p->order[at]]);
        if (found != GRAPH_NONE && packets <= most) continue;
        uint64_t ready = look_at(p, at);
        if (ready == 0) continue;
        found = at;
        most = packets;
        *firings = ready;
    }
    return found;
}

static uint32_t select_in_turn(struct playing *p, uint32_t set, uint64_t *firings)
{
    uint32_t first = p->sets[set], end = p->sets[set + 1], cursor = p->cursors[set];
    uint32_t found = first_ready(p, cursor, end, firings);
    if (found == GRAPH_NONE) found = first_ready(p, first, cursor, firings);
    if (found != GRAPH_NONE) p->cursors[set] = found + 1 < end ? found + 1 : first;
    return found;
}

/* As core_select_fullest. */
static uint32_t select_fullest_or_in_turn(struct playing *p, uint32_t set, uint64_t *firings)
{
    bool in_turn = (p->fullest[set] + 1) % SCHED_FULLEST_TURN == 0;
    uint32_t found = in_turn ? select_in_turn(p, set, firings) : select_fullest(p, set, firings);
    p->fullest[set] += found != GRAPH_NONE;
    return found;
}

uint32_t trial_select(struct playing *p, uint32_t set, uint64_t *firings)
{
    uint32_t found = GRAPH_NONE;
    switch (p->selection) {
    case POLICY_PRIORITY: found = first_ready(p, p->sets[set], p->sets[set + 1], firings); break;
    case POLICY_FULLEST: found = select_fullest_or_in_turn(p, set, firings); break;
    case POLICY_AUTO:
    case POLICY_ROUND_ROBIN: found = select_in_turn(p, set, firings); break;
    }
    return found == GRAPH_NONE ? GRAPH_NONE : p->order[found];
}

/* ---- launches ---- */

static bool ends_earlier(const struct playing *p, uint32_t a, uint32_t b)
{
    if (p->stages[a].end != p->stages[b].end) return p->stages[a].end < p->stages[b].end;
    return a < b;
}

static void heap_push(struct playing *p, uint32_t stage)
{
    uint32_t at = p->heap_count++;
    while (at > 0 && ends_earlier(p, stage, p->heap[(at - 1) / 2])) {
        p->heap[at] = p->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    p->heap[at] = stage;
}

static uint32_t heap_pop(struct playing *p)
{
    uint32_t first = p->heap[0], last = p->heap[--p->heap_count], at = 0;
    for (;;) {
        uint32_t child = at * 2 + 1;
        if (child >= p->heap_count) break;
        if (child + 1 < p->heap_count && ends_earlier(p, p->heap[child + 1], p->heap[child]))
            child++;
        if (!ends_earlier(p, p->heap[child], last)) break;
        p->heap[at] = p->heap[child];
        at = child;
    }
    p->heap[at] = last;
    return first;
}

static uint64_t divide_up(uint128 a, uint64_t b)
{
    uint128 quotient = (a + b - 1) / b;
    return quotient >> 62 ? INT64_MAX : (uint64_t)quotient;
}

/* The bytes that its ends move, phases taken evenly. */
static uint64_t moved_bytes(const struct trial_stage *stage)
{
    uint128 bytes = (uint128)stage->bytes * stage->batch / stage->phases;
    return bytes >> 62 ? INT64_MAX : (uint64_t)bytes;
}

static uint64_t execute_cycles(const struct playing *p, const struct trial_stage *stage)
{
    uint64_t cus = p->units[p->queues[stage->queue].unit].cus, bytes = moved_bytes(stage);
    const struct core_timing_work work = {
        .warps = stage->serial ? stage->batch : core_timing_warps(stage->warp, stage->batch),
        .warp_cycles = stage->warp_cycles,
        .serial = stage->serial,
        .memory_bytes = bytes,
        .cached_bytes = core_caches_part(bytes, stage->cached_bytes, stage->most_bytes)};
    uint64_t cycles =
        core_timing_execute_in_all(p->device, (uint32_t)cus, &work, NULL).execute_cycles;
    uint64_t trees = divide_up((uint128)stage->batch * stage->tree_cycles, cus);
    return add_clamped(min64(cycles, INT64_MAX), trees);
}

/* ---- compute units ---- */

static uint64_t switch_to(const struct playing *p, struct trial_unit *unit, uint32_t stage)
{
    bool switches = unit->last != GRAPH_NONE && unit->last != stage;
    unit->last = stage;
    return switches ? p->device->switch_cycles : 0;
}

/* A packet's launches follow each other; all are seen when the last one ends. */
static uint64_t packet_cycles(const struct playing *p, struct trial_unit *unit, uint32_t packet)
{
    const struct devdesc *d = p->device;
    uint64_t cycles = (uint64_t)d->launch_enqueue_cycles + d->launch_process_cycles;
    for (uint32_t at = packet; at != GRAPH_NONE; at = p->stages[at].next_launch) {
        bool ends = p->stages[at].next_launch == GRAPH_NONE || p->plan->stages[at].ends_pack;
        cycles = add_clamped(cycles, switch_to(p, unit, at));
        cycles = add_clamped(cycles, execute_cycles(p, &p->stages[at]));
        if (ends) cycles = add_clamped(cycles, d->launch_cleanup_cycles);
    }
    return cycles;
}

/* The most important packet that waits begins, or goes on. */
static void begin_next(struct playing *p, struct trial_unit *unit, uint64_t time)
{
    uint32_t queue = unit->first_queue;
    while (queue != GRAPH_NONE && p->queues[queue].first_packet == GRAPH_NONE)
        queue = p->queues[queue].next_lower;
    unit->running = queue;
    if (queue == GRAPH_NONE) return;
    uint32_t packet = p->queues[queue].first_packet;
    uint64_t left = p->stages[packet].left;
    uint64_t cycles = left > 0 ? left + switch_to(p, unit, packet) : packet_cycles(p, unit, packet);
    unit->begin = time;
    unit->end = add_clamped(time, cycles);
}

static void end_packet(struct playing *p, struct trial_unit *unit)
{
    struct trial_queue *queue = &p->queues[unit->running];
    uint32_t packet = queue->first_packet;
    queue->first_packet = p->stages[packet].next_packet;
    for (uint32_t at = packet; at != GRAPH_NONE; at = p->stages[at].next_launch) {
        p->stages[at].end = unit->end;
        heap_push(p, at);
    }
    begin_next(p, unit, unit->end);
}

static void advance(struct playing *p, struct trial_unit *unit, uint64_t time)
{
    while (unit->running != GRAPH_NONE && unit->end <= time)
        end_packet(p, unit);
}

/* The launch that runs yields when the warps that have begun have ended: after half of one, on average. */
static void interrupt(struct playing *p, struct trial_unit *unit)
{
    uint32_t packet = p->queues[unit->running].first_packet;
    uint64_t half = p->stages[packet].warp_cycles / 2, left = unit->end - p->clock;
    half = min64(half, left - 1);
    p->stages[packet].left = left - half;
    begin_next(p, unit, p->clock + half);
}

static void enqueue(struct playing *p, struct trial_queue *queue)
{
    struct trial_unit *unit = &p->units[queue->unit];
    uint32_t packet = queue->open[0];
    advance(p, unit, p->clock);
    for (uint32_t i = 0; i < queue->open_count; i++)
        p->stages[queue->open[i]].next_launch =
            i + 1 < queue->open_count ? queue->open[i + 1] : GRAPH_NONE;
    p->stages[packet].next_packet = GRAPH_NONE;
    p->stages[packet].left = 0;
    if (queue->first_packet == GRAPH_NONE)
        queue->first_packet = packet;
    else
        p->stages[queue->last_packet].next_packet = packet;
    queue->last_packet = packet;
    queue->in_flight += queue->open_count;
    queue->open_count = queue->units = 0;
    if (unit->running == GRAPH_NONE)
        begin_next(p, unit, p->clock);
    else if (p->queues[unit->running].importance < queue->importance)
        interrupt(p, unit);
}

static void flush(struct playing *p, struct trial_queue *queue)
{
    if (queue->open_count == 0) return;
    p->open_queues--;
    enqueue(p, queue);
}

static void launch(struct playing *p, uint32_t index)
{
    const struct plan_stage *planned = &p->plan->stages[index];
    struct trial_queue *queue = &p->queues[p->stages[index].queue];
    uint32_t units = p->stages[index].units;
    bool owns = planned->entry != GRAPH_NONE && !planned->spilled;
    bool stores = owns && p->holds[planned->entry] != index + 1; /* a packet of its own */
    if (stores) p->holds[planned->entry] = index + 1;
    if (stores || planned->entry == GRAPH_NONE || queue->units + units > DISPATCH_UNITS)
        flush(p, queue);
    p->open_queues += queue->open_count == 0;
    queue->open[queue->open_count++] = index;
    queue->units += units;
    if (stores || planned->entry == GRAPH_NONE || planned->ends_pack) flush(p, queue);
}

/* ---- packets ---- */

static void wake_readers(struct playing *p, uint32_t buffer)
{
    const struct graph_buffer *from = &p->graph->buffers.items[buffer];
    for (size_t r = 0; r < from->readers.count; r++)
        look_again(p, from->readers.items[r].node);
    p->looks += from->readers.count;
}

static void release(struct playing *p, const struct trial_stage *stage, const struct trial_end *end,
                    uint64_t first)
{
    struct trial_buffer *buffer = &p->buffers[end->buffer];
    uint64_t *read = &p->read[buffer->first_reader + end->reader];
    *read += packets_of(stage, end->rate, first, stage->batch);
    p->freed[buffer->first_reader + end->reader] = *read / end->group * end->group;
    if (buffer->writer != GRAPH_NONE)
        look_again(p, buffer->writer);
    else
        wake_readers(p, end->buffer);
}

static void commit(struct playing *p, const struct trial_stage *stage, const struct trial_end *end,
                   uint64_t first)
{
    struct trial_buffer *buffer = &p->buffers[end->buffer];
    uint64_t packets = packets_of(stage, end->rate, first, stage->batch);
    buffer->claimed -= packets;
    if (!buffer->is_out_port) buffer->committed += packets;
    wake_readers(p, end->buffer);
}

/* Frees and commits the packets that change hands at dispatch, or those that do when the launch is seen to end. */
static void hand_over(struct playing *p, const struct trial_stage *stage, uint64_t first,
                      bool in_order)
{
    for (uint32_t i = 0; i < stage->in_count; i++)
        if (p->ends[stage->first_in + i].in_order == in_order)
            release(p, stage, &p->ends[stage->first_in + i], first);
    for (uint32_t i = 0; i < stage->out_count; i++)
        if (p->ends[stage->first_out + i].in_order == in_order)
            commit(p, stage, &p->ends[stage->first_out + i], first);
}

void trial_dispatch(struct playing *p, uint32_t index, uint64_t firings)
{
    struct trial_stage *stage = &p->stages[index];
    uint64_t first = stage->fired;
    for (uint32_t i = 0; i < stage->out_count; i++) {
        const struct trial_end *end = &p->ends[stage->first_out + i];
        p->buffers[end->buffer].claimed += packets_of(stage, end->rate, first, firings);
    }
    stage->batch = firings;
    stage->in_flight = true;
    stage->fired += firings;
    p->in_flight++;
    p->waiver = false;
    p->result.dispatches++;
    settle(p, index);
    hand_over(p, stage, first, true);
    launch(p, index);
}

static void complete(struct playing *p, uint32_t index)
{
    struct trial_stage *stage = &p->stages[index];
    stage->in_flight = false;
    p->in_flight--;
    p->queues[stage->queue].in_flight--;
    p->progress += (uint128)stage->batch * stage->weight;
    hand_over(p, stage, stage->fired - stage->batch, false);
    look_again(p, index);
}

/* ---- the loop ---- */

/* Notes when that part of the way has been made: by work, or by looks where the goal is too far. */
static void pass(const struct playing *p, struct mark *mark, uint32_t part, uint32_t parts)
{
    if (mark->passed) return;
    if (p->progress * parts < p->goal * part && p->looks / part < p->size.looks / parts) return;
    *mark = (struct mark){p->progress, p->clock, true};
}

/* The clock goes to the earliest end, and all that has ended by then is seen. */
static void reap(struct playing *p)
{
    uint64_t earliest = UINT64_MAX;
    for (uint32_t i = 0; i < p->unit_count; i++) {
        advance(p, &p->units[i], p->clock);
        if (p->units[i].running != GRAPH_NONE) earliest = min64(earliest, p->units[i].end);
    }
    p->looks += p->unit_count;
    if (p->heap_count == 0) {
        p->clock = max64(p->clock, earliest);
        for (uint32_t i = 0; i < p->unit_count; i++)
            advance(p, &p->units[i], p->clock);
    }
    while (p->heap_count > 0)
        complete(p, heap_pop(p));
    pass(p, &p->first, 1, 4);
    pass(p, &p->last, 3, 4);
}

void trial_await(struct playing *p)
{
    for (uint32_t i = 0; p->open_queues > 0 && i < p->queue_count; i++)
        if (p->queues[i].in_flight == 0) flush(p, &p->queues[i]);
    reap(p);
}

bool trial_wait(struct playing *p)
{
    p->clock++;
    if (p->in_flight > 0) {
        trial_await(p);
        return true;
    }
    if (p->waiver) return false;
    p->waiver = true;
    trial_look_everywhere(p);
    return true;
}

/* One round of the loop: the stage of the first set that has one, or what ends next. */
static bool step(struct playing *p)
{
    p->clock++; /* ends */
    for (uint32_t set = 0; set < p->set_count; set++) {
        uint64_t firings = 0;
        p->clock++;
        uint32_t stage = trial_select(p, set, &firings);
        if (stage == GRAPH_NONE) continue;
        p->clock++;
        trial_dispatch(p, stage, firings);
        p->clock++; /* jump */
        return true;
    }
    return trial_wait(p);
}

static uint64_t steady_cycles(const struct playing *p, const struct mark *first,
                              const struct mark *last)
{
    uint128 work = last->progress - first->progress, goal = p->goal;
    while (goal >> 62) {
        goal >>= 1;
        work >>= 1;
    }
    if (work == 0) return UINT64_MAX;
    uint128 cycles = (uint128)(last->clock - first->clock) * goal / work;
    return cycles >> 62 ? INT64_MAX : (uint64_t)cycles;
}

struct trial trial_run(struct arena *scratch, const struct graph *graph, const struct plan *plan,
                       const struct schedule *schedule, enum graph_policy selection,
                       struct trial_size size)
{
    struct playing p = {.graph = graph,
                        .plan = plan,
                        .device = plan->device,
                        .arena = scratch,
                        .selection = selection,
                        .size = size,
                        .stage_count = plan->stage_count,
                        .unit_count = plan->sub_device_count > 0 ? plan->sub_device_count : 1};
    bool goes_on = true;
    lay_out(&p, size);
    if (schedule != NULL && schedule->island_count > 0) trial_play_static(&p, schedule);
    while (goes_on && trial_goes_on(&p))
        goes_on = step(&p);
    if (!p.last.passed) p.last = (struct mark){p.progress, p.clock, true};
    p.result.whole = !goes_on;
    p.result.cycles = p.clock;
    p.result.steady_cycles = steady_cycles(&p, &p.first, &p.last);
    return p.result;
}

/* ---- how much ---- */

/* Dispatches of all stages for so many iterations. */
static uint128 dispatches_for(const struct plan *plan, uint64_t iterations)
{
    uint128 sum = 0;
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        const struct plan_stage *stage = &plan->stages[i];
        sum += (uint128)stage->pace * iterations / PLAN_PACE_ONE / stage->batch_max + 1;
    }
    return sum;
}

struct trial_size trial_size_for(const struct plan *plan)
{
    enum { EACH = 48, LEAST = 512, LOOKS_LEAST = 200 * 1000, LOOKS_EACH = 40 };
    uint64_t wanted = max64((uint64_t)plan->stage_count * EACH, LEAST);
    struct trial_size size = {.iterations = 1};
    while (size.iterations < UINT64_C(1) << 40 &&
           dispatches_for(plan, size.iterations * 2) <= wanted)
        size.iterations *= 2;
    size.looks = max64((uint64_t)plan->stage_count * LOOKS_EACH, LOOKS_LEAST);
    return size;
}

bool trial_is_faster(uint64_t cycles, uint64_t than)
{
    return (uint128)cycles * 101 < (uint128)than * 100;
}

const char *trial_iterations_text(struct arena *arena, uint64_t iterations)
{
    return arena_printf(arena, "%" PRIu64 " iteration%s", iterations,
                        iterations == 1 ? " takes" : "s take");
}
