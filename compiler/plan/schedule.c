/* SPDX-License-Identifier: MIT */
#include "compiler/plan/priority_groups.h"
#include "compiler/plan/schedule_internal.h"

#include <assert.h>
#include <inttypes.h>

#include "compiler/ir/ratio.h"
#include "compiler/liveness/strong_components.h"

enum {
    PRIMING_ROUNDS = 8,   /* over cycles; without any, one is enough */
    LAUNCHES_MOST = 1024, /* of a round with loops */
    GUARDS_PER_NODE = 4   /* those that fill a pipeline of levels */
};

struct scheduling {
    struct compile *cx;
    const struct graph *graph;
    const struct plan *plan;
    struct arena *arena;    /* scratch */
    const char **obstacles; /* by stage */
    struct schedule *made;
    VEC(struct schedule_island) islands;
    bool *driven;         /* by node: by an in-port or a source, directly or not */
    uint32_t *node_stage; /* by node */
    bool *several_queues; /* by buffer */
    enum schedule_length length;
    bool whole; /* one island is everything, and no other stage is dispatched between */
};

/* ---- which stages ---- */

static const char *stage_obstacle(struct arena *arena, const struct graph *graph,
                                  const struct graph_node *node)
{
    if (node->kernel->stops) return "it may stop";
    if (kernel_launches_any(&node->kernel->launches)) return "it launches kernels";
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        const struct kernel *kernel = node->kernel;
        if (in->history > 0 ||
            (in->kernel_port < kernel->in_count && kernel->in[in->kernel_port].window_width > 0))
            return arena_printf(arena, "it reads '%s' through a 2-D window", in->port);
        if (in->pop == 0) return arena_printf(arena, "it consumes nothing from '%s'", in->port);
        const struct graph_output *writer = graph_writer(graph, &graph->buffers.items[in->buffer]);
        if (writer != NULL && writer->push == 0)
            return arena_printf(arena, "only a 'finish' fills what '%s' reads", in->port);
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_output *out = &node->outputs.items[i];
        if (out->push > 0 && !graph_is_exact(node, out))
            return arena_printf(arena, "what it appends to '%s' varies", out->port);
    }
    return NULL;
}

/* Neighbours, both ways: those of the readers of an in-port among them. */
static uint32_t collect_neighbours(const struct graph *graph, struct strong_arc *arcs)
{
    uint32_t count = 0;
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        uint32_t other = buffer->writer_node;
        for (size_t r = 0; r < buffer->readers.count; r++) {
            uint32_t reader = buffer->readers.items[r].node;
            if (other == GRAPH_NONE) other = reader;
            arcs[count++] = (struct strong_arc){other, reader};
            arcs[count++] = (struct strong_arc){reader, other};
        }
    }
    return count;
}

/* Is there a part of the pipeline beside another one, and no in-port feeds it?  It may go on for ever, and rounds
 * of it leave the guarded loop no turn, which is what fires the last packets of the other. */
static bool goes_on_beside_another(const struct scheduling *s)
{
    const struct graph *graph = s->graph;
    uint32_t nodes = (uint32_t)graph->nodes.count, count;
    size_t most = 0;
    for (size_t i = 0; i < graph->buffers.count; i++)
        most += 2 * graph->buffers.items[i].readers.count;
    struct strong_arc *arcs = ARENA_ARRAY(s->arena, struct strong_arc, most + 1);
    uint32_t *part = ARENA_ARRAY(s->arena, uint32_t, (size_t)nodes + 1);
    count = strong_components(s->arena, nodes, arcs, collect_neighbours(graph, arcs), part);
    bool *fed = ARENA_ARRAY(s->arena, bool, (size_t)count + 1);
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        for (size_t r = 0; buffer->outer == GRAPH_OUTER_IN && r < buffer->readers.count; r++)
            fed[part[buffer->readers.items[r].node]] = true;
    }
    for (uint32_t i = 0; i < count; i++)
        if (count > 1 && !fed[i]) return true;
    return false;
}

/* Why everything is dispatched as it is ready. */
static const char *whole_obstacle(const struct scheduling *s)
{
    const struct graph *graph = s->graph;
    if (s->plan->debug_mode) return "debug mode runs one kernel at a time";
    if (graph->policy != POLICY_AUTO) return "its author has named a policy";
    if (graph->is_counterexample) return "it deadlocks";
    if (plan_has_priorities(graph)) return "its stages differ in importance";
    if (goes_on_beside_another(s))
        return "a part that no in-port feeds may go on forever beside another one";
    return NULL;
}

/* ---- what windows keep ---- */

static bool prime_edge(struct island *island, const struct island_edge *edge, bool *changed)
{
    struct island_node *from = &island->nodes[edge->from];
    uint64_t need = add_clamped(edge->kept, mul_clamped(island->nodes[edge->to].primed, edge->pop));
    if (need <= edge->initial) return true;
    uint64_t missing = need - edge->initial;
    uint64_t cycles = missing / edge->push + (missing % edge->push > 0);
    if (cycles > from->primed) {
        from->primed = cycles;
        *changed = true;
    }
    return need < INT64_MAX && mul_clamped(cycles, edge->push) < INT64_MAX;
}

/* Edges from the last of the flow to the first. */
static uint32_t *order_backwards(struct scheduling *s, const struct island *island)
{
    uint32_t n = island->node_count, m = island->edge_count;
    struct strong_arc *arcs = ARENA_ARRAY(s->arena, struct strong_arc, (size_t)m + 1);
    uint32_t *component = ARENA_ARRAY(s->arena, uint32_t, (size_t)n + 1);
    uint32_t *first = ARENA_ARRAY(s->arena, uint32_t, (size_t)n + 2);
    uint32_t *order = ARENA_ARRAY(s->arena, uint32_t, (size_t)m + 1);
    for (uint32_t i = 0; i < m; i++)
        arcs[i] = (struct strong_arc){island->edges[i].from, island->edges[i].to};
    strong_components(s->arena, n, arcs, m, component);
    for (uint32_t i = 0; i < m; i++)
        first[component[arcs[i].to] + 1]++;
    for (uint32_t i = 0; i < n; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; i < m; i++)
        order[first[component[arcs[i].to]]++] = i;
    return order;
}

/* The fewest cycles before the first round with which every window is full. */
static bool prime_windows(struct scheduling *s, struct island *island)
{
    const uint32_t *order = order_backwards(s, island);
    bool changed = true;
    for (int round = 0; round < PRIMING_ROUNDS && changed; round++) {
        changed = false;
        for (uint32_t i = 0; i < island->edge_count; i++)
            if (!prime_edge(island, &island->edges[order[i]], &changed)) return false;
    }
    for (uint32_t i = 0; i < island->edge_count && !changed; i++) {
        struct island_edge *edge = &island->edges[i];
        edge->base = edge->initial + island->nodes[edge->from].primed * edge->push -
                     island->nodes[edge->to].primed * edge->pop;
        if (edge->base > edge->depth) return false;
    }
    return !changed;
}

/* ---- levels ---- */

static uint32_t queue_of_node(const struct island *island, uint32_t node)
{
    uint32_t sub_device = island->plan->stages[island->nodes[node].stage].sub_device;
    return sub_device == GRAPH_NONE ? 0 : sub_device;
}

static bool has_one_queue(const struct island *island)
{
    for (uint32_t i = 1; i < island->node_count; i++)
        if (queue_of_node(island, i) != queue_of_node(island, 0)) return false;
    return true;
}

static bool raise_levels(const struct island *island, uint32_t *levels)
{
    bool changed = false;
    for (uint32_t i = 0; i < island->edge_count; i++) {
        uint32_t from = queue_of_node(island, island->edges[i].from);
        uint32_t to = queue_of_node(island, island->edges[i].to);
        if (from == to || levels[to] > levels[from]) continue;
        levels[to] = levels[from] + 1;
        changed = true;
    }
    return changed;
}

/* The queues that follow one another, by the longest way; 0: they go round. */
static uint32_t find_levels(struct scheduling *s, struct island *island)
{
    uint32_t queues = s->plan->sub_device_count ? s->plan->sub_device_count : 1, count = 0;
    uint32_t *levels = ARENA_ARRAY(s->arena, uint32_t, (size_t)queues + 1);
    for (uint32_t round = 0; raise_levels(island, levels); round++)
        if (round == queues) return 0;
    bool *used = ARENA_ARRAY(s->arena, bool, (size_t)queues + 1);
    for (uint32_t i = 0; i < island->node_count; i++) {
        island->nodes[i].level = levels[queue_of_node(island, i)];
        used[island->nodes[i].level] = true;
        count = (uint32_t)max64(count, (uint64_t)island->nodes[i].level + 1);
    }
    return count;
}

/* ---- how long a round is ---- */

struct span_of { /* periods of one round that something admits */
    uint64_t most;
    const char *obstacle; /* where that is none */
};

static void limit_span(struct span_of *span, uint64_t periods, const char *obstacle)
{
    if (periods >= span->most) return;
    span->most = periods;
    if (periods == 0) span->obstacle = obstacle;
}

/* Rounds that a buffer is to hold where two queues work on it at once: that between them, and
 * one that is written while one is read. */
static void admit_crossings(const struct island *island, struct span_of *span)
{
    for (uint32_t i = 0; i < island->edge_count; i++) {
        const struct island_edge *edge = &island->edges[i];
        uint32_t from = island->nodes[edge->from].level, to = island->nodes[edge->to].level;
        if (from == to) continue;
        uint64_t packets = mul_clamped(island->nodes[edge->from].cycles, edge->push);
        uint64_t room = (edge->depth - edge->base) / packets;
        uint64_t apart = to - from;
        limit_span(span, room / (apart + 1) ? room / (apart + 1) : room / apart,
                   "the depths do not admit a round on each sub-device at once");
    }
}

/* Do several queues work on the buffer? */
static bool has_several_queues(const struct scheduling *s, uint32_t buffer)
{
    const struct graph_buffer *of = &s->graph->buffers.items[buffer];
    uint32_t first = GRAPH_NONE;
    if (of->writer_node != GRAPH_NONE)
        first = s->plan->stages[s->node_stage[of->writer_node]].sub_device;
    for (size_t r = 0; r < of->readers.count; r++) {
        uint32_t queue = s->plan->stages[s->node_stage[of->readers.items[r].node]].sub_device;
        if (of->writer_node == GRAPH_NONE && r == 0) first = queue;
        if (queue != first) return true;
    }
    return false;
}

/* Does data decide how many packets come?  The trial takes the maximum.  With fewer, a round that needs nearly all
 * packets of the buffer would leave its writer room for a few. */
static bool buffer_is_uncertain(const struct scheduling *s, uint32_t buffer)
{
    const struct graph_buffer *of = &s->graph->buffers.items[buffer];
    const struct graph_output *writer = graph_writer(s->graph, of);
    return writer != NULL && !graph_is_exact(&s->graph->nodes.items[of->writer_node], writer);
}

/* Both ends of a buffer of several queues work at once; readers of one in-port may be some levels
 * apart. */
static void admit_ports(const struct scheduling *s, const struct island *island,
                        uint32_t level_count, struct span_of *span)
{
    for (uint32_t i = 0; i < island->port_count; i++) {
        const struct island_port *port = &island->ports[i];
        uint64_t packets = mul_clamped(island->nodes[port->node].cycles, port->packets);
        uint64_t taken = add_clamped(port->kept, port->spare);
        uint64_t room = port->depth > taken ? (port->depth - taken) / packets : 0;
        uint64_t apart = port->is_input && level_count > 1 ? island->nodes[port->node].level : 0;
        uint64_t parts = buffer_is_uncertain(s, port->buffer) ? 4
                         : s->several_queues[port->buffer]    ? 2
                                                              : 1;
        uint64_t share = room / (parts + apart);
        limit_span(span, share ? share : room / (1 + apart),
                   arena_printf(s->cx->arena, "'%s' is too short for a round",
                                s->graph->buffers.items[port->buffer].name));
    }
}

/* `periods` rounded down, so that the firings of the stage with most work fill the lanes of its compute units. */
static uint64_t fill_lanes(const struct scheduling *s, const struct island *island,
                           uint64_t periods)
{
    uint64_t most = 0, round = 1;
    for (uint32_t i = 0; i < island->node_count; i++) {
        const struct plan_stage *stage = &s->plan->stages[island->nodes[i].stage];
        const struct graph_node *node = &s->graph->nodes.items[stage->node];
        uint64_t firings = mul_clamped(island->nodes[i].cycles, island->nodes[i].phases);
        uint64_t lanes = max64(node->warp.firings, 1) * stage->cu_count;
        if (node->stateful || stage->load <= most) continue;
        most = stage->load;
        round = lanes / gcd64(lanes, firings);
    }
    assert(round > 0); /* every stage has a compute unit, and fires */
    return periods > round ? periods - periods % round : periods;
}

/* On one queue the largest batch may decide: others are cut into launches.  With several a second
 * launch of a stage would keep those of other queues waiting. */
static void admit_batches(const struct scheduling *s, const struct island *island,
                          uint32_t level_count, struct span_of *span)
{
    bool cuts = s->length == SCHEDULE_LONGEST || s->length == SCHEDULE_FLAT;
    uint64_t least = UINT64_MAX, most = 1;
    for (uint32_t i = 0; i < island->node_count; i++) {
        uint64_t periods = island->nodes[i].chunk / island->nodes[i].cycles;
        least = min64(least, max64(periods, 1));
        most = max64(most, periods);
    }
    limit_span(span, level_count > 1 || !cuts ? least : most, NULL);
    if (s->length == SCHEDULE_FULL_LANES) limit_span(span, fill_lanes(s, island, span->most), NULL);
    if (s->length == SCHEDULE_HALVES) limit_span(span, max64(span->most / 2, 1), NULL);
}

/* ---- rounds ---- */

struct schedule_round {
    uint64_t periods; /* 0: there is none */
    uint64_t launches;
    struct loops_made *levels;
    bool flat;
};

static struct schedule_round make_round(struct scheduling *s, const struct island *island,
                                        uint32_t level_count, uint64_t periods)
{
    struct schedule_round made = {.periods = periods, .flat = true};
    uint64_t *counts = ARENA_ARRAY(s->arena, uint64_t, (size_t)island->node_count + 1);
    made.levels = ARENA_ARRAY(s->arena, struct loops_made, level_count);
    for (uint32_t i = 0; i < island->node_count; i++)
        counts[i] = mul_clamped(island->nodes[i].cycles, periods);
    for (uint32_t level = 0; level < level_count && made.periods; level++) {
        struct loops_made *loops = &made.levels[level];
        uint32_t which = level_count > 1 ? level : GRAPH_NONE;
        if (!loops_build(island, which, counts, s->cx->arena, loops)) made.periods = 0;
        made.flat &= loops->flat;
        made.launches = add_clamped(made.launches, loops->launches);
    }
    return made;
}

/* The longest without loops; `periods` 0: even one period needs some. */
static struct schedule_round longest_flat(struct scheduling *s, const struct island *island,
                                          uint32_t level_count, uint64_t most)
{
    struct schedule_round best = {0};
    uint64_t low = 0, high = most;
    while (low < high) {
        uint64_t middle = high - (high - low) / 2;
        struct schedule_round one = make_round(s, island, level_count, middle);
        if (one.periods && one.flat) {
            low = middle;
            best = one;
        } else {
            high = middle - 1;
        }
    }
    return best;
}

/* Fewer launches for as many periods? */
static bool is_better(const struct schedule_round *a, const struct schedule_round *b)
{
    if (!a->periods || !b->periods) return a->periods != 0;
    return (uint128)a->launches * b->periods < (uint128)b->launches * a->periods;
}

/* The longest without loops, or one with loops inside that is `most` long or nearly so: a multiple
 * by a power of two, so that its counts have divisors.  With very many launches nothing is gained. */
static struct schedule_round choose_round(struct scheduling *s, const struct island *island,
                                          uint32_t level_count, uint64_t most)
{
    struct schedule_round best = longest_flat(s, island, level_count, most);
    uint64_t nested = max64(best.periods, 1);
    if (best.periods == most || (best.periods && s->length == SCHEDULE_FLAT)) return best;
    while (nested <= most / 2)
        nested *= 2;
    struct schedule_round other = make_round(s, island, level_count, nested);
    while (other.periods && other.launches > LAUNCHES_MOST && nested > 1) {
        nested /= 2;
        other = make_round(s, island, level_count, nested);
    }
    if (is_better(&other, &best)) best = other;
    if (best.periods) return best;
    return make_round(s, island, level_count, 1);
}

/* ---- guards ---- */

typedef VEC(struct schedule_guard) guard_list;

/* Guards the packets or the room that `cycles` cycles of the port's node need.  False: more than it ever holds. */
static bool guard_port(struct scheduling *s, guard_list *guards, const struct island *island,
                       const struct island_port *port, uint64_t cycles)
{
    uint64_t count = add_clamped(mul_clamped(cycles, port->packets), port->kept);
    if (cycles == 0) return true;
    if (count > port->depth || count > UINT32_MAX) return false;
    enum schedule_guard_kind kind = port->is_input ? SCHEDULE_HAS_PACKETS : SCHEDULE_HAS_ROOM;
    vec_push(s->cx->arena, guards,
             (struct schedule_guard){kind, island->nodes[port->node].stage, port->port,
                                     (uint32_t)count});
    return true;
}

static bool guard_unfed(struct scheduling *s, guard_list *guards, const struct island *island,
                        uint32_t node, uint64_t cycles)
{
    uint64_t firings = mul_clamped(cycles, island->nodes[node].phases);
    if (cycles == 0) return true;
    if (firings > UINT32_MAX) return false;
    vec_push(
        s->cx->arena, guards,
        (struct schedule_guard){SCHEDULE_GOES_ON, island->nodes[node].stage, 0, (uint32_t)firings});
    return true;
}

/* Is it a source, or the first stage of a cycle that no in-port feeds? */
static bool needs_leave(const struct scheduling *s, const struct island *island, uint32_t node)
{
    uint32_t stage = island->nodes[node].stage;
    const struct graph_node *at = &s->graph->nodes.items[s->plan->stages[stage].node];
    if (at->inputs.count == 0) return true;
    if (s->driven[s->plan->stages[stage].node]) return false;
    for (size_t i = 0; i < at->inputs.count; i++) {
        const struct graph_buffer *buffer = &s->graph->buffers.items[at->inputs.items[i].buffer];
        if (s->node_stage[buffer->writer_node] < stage) return false;
    }
    return true;
}

/* ---- pins: guards that tell how many packets an inner buffer holds ---- */

static uint64_t edge_level(const struct island_edge *edge, bool primed)
{
    return primed ? edge->base : edge->initial;
}

static bool same_buffer(const struct island_edge *a, const struct island_edge *b)
{
    return a->from == b->from && a->output == b->output;
}

static void push_guard(struct scheduling *s, guard_list *guards, enum schedule_guard_kind kind,
                       uint32_t stage, uint32_t port, uint64_t count)
{
    if (count > 0)
        vec_push(s->cx->arena, guards, (struct schedule_guard){kind, stage, port, (uint32_t)count});
}

/* Does the prologue leave another number of packets in a buffer with a reader outside of the island?  Then the room of the
 * buffer shows the position of that reader, not of those of the island, and no guard can determine theirs. */
static bool moves_shared_buffer(const struct scheduling *s, const struct island *island)
{
    for (uint32_t first = 0, end = 0; first < island->edge_count; first = end) {
        const struct island_edge *edge = &island->edges[first];
        bool moved = false;
        for (; end < island->edge_count && same_buffer(edge, &island->edges[end]); end++)
            moved |= island->edges[end].base != island->edges[end].initial;
        uint32_t node = s->plan->stages[island->nodes[edge->from].stage].node;
        const struct graph_output *output =
            &s->graph->nodes.items[node].outputs.items[edge->output];
        if (moved && s->graph->buffers.items[output->buffer].readers.count > end - first)
            return true;
    }
    return false;
}

/* The edges of one buffer, which stand together. */
static void pin_buffer(struct scheduling *s, guard_list *guards, const struct island *island,
                       uint32_t first, uint32_t end, bool primed)
{
    const struct island_edge *edges = island->edges;
    bool moved = false;
    uint64_t most = 0;
    for (uint32_t i = first; i < end; i++) {
        moved |= edges[i].base != edges[i].initial;
        most = max64(most, edge_level(&edges[i], primed));
    }
    if (!moved) return;
    push_guard(s, guards, SCHEDULE_HAS_ROOM, island->nodes[edges[first].from].stage,
               edges[first].output, edges[first].depth - most);
    for (uint32_t i = first; i < end; i++)
        push_guard(s, guards, SCHEDULE_HAS_PACKETS, island->nodes[edges[i].to].stage,
                   edges[i].input, edge_level(&edges[i], primed));
}

/* Whether windows are primed is nothing that a program knows, but what buffers tell: where priming has
 * changed one, it holds exactly what it did before the prologue, or after it (`primed`). */
static bool guard_pins(struct scheduling *s, guard_list *guards, const struct island *island,
                       bool primed)
{
    for (uint32_t first = 0, end = 0; first < island->edge_count; first = end) {
        while (end < island->edge_count && same_buffer(&island->edges[first], &island->edges[end]))
            end++;
        if (island->edges[first].depth > UINT32_MAX) return false;
        pin_buffer(s, guards, island, first, end, primed);
    }
    return true;
}

/* The guards of the nodes of one level (GRAPH_NONE: of all), each for so many cycles; `primed`: after
 * the prologue. */
static bool collect_guards(struct scheduling *s, const struct island *island, uint32_t level,
                           const uint64_t *cycles, bool primed, struct schedule_part *part)
{
    guard_list guards = {0};
    bool fit = s->whole || guard_pins(s, &guards, island, primed);
    for (uint32_t i = 0; i < island->node_count && fit; i++) {
        if (level != GRAPH_NONE && island->nodes[i].level != level) continue;
        if (!needs_leave(s, island, i)) continue;
        fit = guard_unfed(s, &guards, island, i, cycles[i]);
    }
    for (uint32_t i = 0; i < island->port_count && fit; i++) {
        const struct island_port *port = &island->ports[i];
        if (level == GRAPH_NONE || island->nodes[port->node].level == level)
            fit = guard_port(s, &guards, island, port, cycles[port->node]);
    }
    part->guards = guards.items;
    part->guard_count = (uint32_t)guards.count;
    return fit;
}

/* Those of a level are asked once for each level after it, to fill the pipeline, and in the loop. */
static bool guards_are_few(const struct island *island, uint32_t level_count)
{
    uint64_t guards = 0;
    for (uint32_t i = 0; i < island->port_count; i++)
        guards += level_count - island->nodes[island->ports[i].node].level;
    return guards <= (uint64_t)GUARDS_PER_NODE * (island->node_count + island->port_count);
}

/* ---- islands ---- */

static bool add_prologue(struct scheduling *s, const struct island *island,
                         struct schedule_island *made)
{
    schedule_ops ops;
    uint64_t *cycles = ARENA_ARRAY(s->arena, uint64_t, (size_t)island->node_count + 1);
    for (uint32_t i = 0; i < island->node_count; i++)
        cycles[i] = island->nodes[i].primed;
    if (!loops_prime(island, s->cx->arena, &ops)) return false;
    made->prologue.ops = ops.items;
    made->prologue.op_count = (uint32_t)ops.count;
    return ops.count == 0 || collect_guards(s, island, GRAPH_NONE, cycles, false, &made->prologue);
}

static bool add_levels(struct scheduling *s, const struct island *island, uint32_t level_count,
                       const struct schedule_round *round, struct schedule_island *made)
{
    struct schedule_part *levels = ARENA_ARRAY(s->cx->arena, struct schedule_part, level_count);
    uint64_t *cycles = ARENA_ARRAY(s->arena, uint64_t, (size_t)island->node_count + 1);
    for (uint32_t i = 0; i < island->node_count; i++)
        cycles[i] = mul_clamped(island->nodes[i].cycles, round->periods);
    for (uint32_t level = 0; level < level_count; level++) {
        levels[level].ops = round->levels[level].ops.items;
        levels[level].op_count = (uint32_t)round->levels[level].ops.count;
        if (!collect_guards(s, island, level_count > 1 ? level : GRAPH_NONE, cycles, true,
                            &levels[level]))
            return false;
    }
    made->levels = levels;
    made->level_count = level_count;
    made->periods = round->periods;
    made->firings = mul_clamped(cycles[0], island->nodes[0].phases);
    return true;
}

static void list_stages(struct scheduling *s, const struct island *island,
                        struct schedule_island *made)
{
    uint32_t *stages = ARENA_ARRAY(s->cx->arena, uint32_t, (size_t)island->node_count + 1);
    for (uint32_t i = 0; i < island->node_count; i++)
        stages[i] = island->nodes[i].stage;
    made->stages = stages;
    made->stage_count = island->node_count;
}

static const char *schedule_island(struct scheduling *s, struct island *island)
{
    struct schedule_island made = {0};
    if (island->obstacle) return island->obstacle;
    if (!s->whole && !has_one_queue(island))
        return "its island is on several sub-devices beside stages that are not static";
    if (!s->whole && island->node_count == 1)
        return "it is a single stage between stages that are not static";
    if (!prime_windows(s, island) || !add_prologue(s, island, &made))
        return "the depths do not admit a prologue that fills the windows";
    if (!s->whole && moves_shared_buffer(s, island))
        return "what fills its windows changes a buffer that others read, too";
    uint32_t level_count = find_levels(s, island);
    if (level_count == 0) return "its sub-devices wait for each other in a cycle";
    if (!guards_are_few(island, level_count)) return "too many ports for so many sub-devices";
    struct span_of span = {.most = UINT64_MAX};
    admit_crossings(island, &span);
    admit_ports(s, island, level_count, &span);
    if (span.most == 0) return span.obstacle;
    admit_batches(s, island, level_count, &span);
    struct schedule_round round = choose_round(s, island, level_count, span.most);
    if (round.periods == 0) return "the depths admit no looped schedule that is short";
    if (!add_levels(s, island, level_count, &round, &made))
        return "a round is too long for its ports";
    list_stages(s, island, &made);
    vec_push(s->cx->arena, &s->islands, made);
    return NULL;
}

/* Does one island hold every stage, and has it a schedule? */
static bool schedule_whole(struct scheduling *s)
{
    struct islands islands = islands_collect(s->arena, s->graph, s->plan, s->obstacles, false);
    if (islands.count != 1 || islands.items[0].node_count != s->plan->stage_count) return false;
    s->whole = true;
    const char *obstacle = schedule_island(s, &islands.items[0]);
    if (obstacle == NULL) return true;
    s->made->reason = obstacle;
    s->whole = false;
    return false;
}

/* Beside stages that are dispatched as they are ready, and beside other islands. */
static void schedule_islands(struct scheduling *s)
{
    struct islands islands = islands_collect(s->arena, s->graph, s->plan, s->obstacles, true);
    for (uint32_t i = 0; i < islands.count; i++) {
        const char *obstacle = schedule_island(s, &islands.items[i]);
        for (uint32_t j = 0; obstacle && j < islands.items[i].node_count; j++)
            s->obstacles[islands.items[i].nodes[j].stage] = obstacle;
    }
}

/* ---- the schedule ---- */

static const char *first_obstacle(const struct scheduling *s)
{
    for (uint32_t i = 0; i < s->plan->stage_count; i++)
        if (s->obstacles[i])
            return arena_printf(s->cx->arena, "'%s': %s",
                                s->graph->nodes.items[s->plan->stages[i].node].name,
                                s->obstacles[i]);
    return NULL;
}

static void sum_up(struct scheduling *s)
{
    struct schedule *made = s->made;
    made->islands = s->islands.items;
    made->island_count = (uint32_t)s->islands.count;
    made->obstacles = s->obstacles;
    for (uint32_t i = 0; i < s->plan->stage_count; i++)
        made->static_count += s->obstacles[i] == NULL;
    if (made->static_count == s->plan->stage_count) made->reason = NULL;
    if (!made->reason) made->reason = first_obstacle(s);
}

static bool begins_flow(const struct graph *graph, const struct graph_node *node)
{
    for (size_t i = 0; i < node->inputs.count; i++)
        if (graph->buffers.items[node->inputs.items[i].buffer].writer_node == GRAPH_NONE)
            return true;
    return node->inputs.count == 0;
}

static void find_driven(struct scheduling *s)
{
    const struct graph *graph = s->graph;
    size_t count = graph->nodes.count;
    uint32_t *stack = ARENA_ARRAY(s->arena, uint32_t, count + 1), depth = 0;
    s->driven = ARENA_ARRAY(s->arena, bool, count + 1);
    s->node_stage = ARENA_ARRAY(s->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < s->plan->stage_count; i++)
        s->node_stage[s->plan->stages[i].node] = i;
    for (uint32_t i = 0; i < count; i++) {
        s->driven[i] = begins_flow(graph, &graph->nodes.items[i]);
        if (s->driven[i]) stack[depth++] = i;
    }
    while (depth > 0) {
        const struct graph_node *node = &graph->nodes.items[stack[--depth]];
        for (size_t i = 0; i < node->outputs.count; i++) {
            const struct graph_buffer *to = &graph->buffers.items[node->outputs.items[i].buffer];
            for (size_t r = 0; r < to->readers.count; r++) {
                uint32_t reader = to->readers.items[r].node;
                if (!s->driven[reader]) stack[depth++] = reader;
                s->driven[reader] = true;
            }
        }
    }
}

static void find_several_queues(struct scheduling *s)
{
    size_t count = s->graph->buffers.count;
    s->several_queues = ARENA_ARRAY(s->arena, bool, count + 1);
    for (uint32_t b = 0; b < count; b++)
        s->several_queues[b] = has_several_queues(s, b);
}

static void find_obstacles(struct scheduling *s)
{
    for (uint32_t i = 0; i < s->plan->stage_count; i++)
        s->obstacles[i] =
            stage_obstacle(s->cx->arena, s->graph, &s->graph->nodes.items[s->plan->stages[i].node]);
}

static uint64_t count_guards(const struct schedule *made)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < made->island_count; i++) {
        const struct schedule_island *island = &made->islands[i];
        count += island->prologue.guard_count;
        for (uint32_t l = 0; l < island->level_count; l++)
            count += island->levels[l].guard_count;
    }
    return count;
}

static const struct schedule *make_schedule(struct compile *cx, const struct graph *graph,
                                            const struct plan *plan, enum schedule_length length)
{
    struct scheduling s = {.cx = cx,
                           .graph = graph,
                           .plan = plan,
                           .arena = arena_create(),
                           .length = length,
                           .made = ARENA_NEW(cx->arena, struct schedule)};
    s.obstacles = ARENA_ARRAY(cx->arena, const char *, (size_t)plan->stage_count + 1);
    const char *obstacle = whole_obstacle(&s);
    s.made->reason = obstacle;
    for (uint32_t i = 0; obstacle && i < plan->stage_count; i++)
        s.obstacles[i] = obstacle;
    if (!obstacle) {
        find_driven(&s);
        find_several_queues(&s);
        find_obstacles(&s);
        s.made->reason = first_obstacle(&s); /* what the other obstacles follow from */
        if (!schedule_whole(&s)) schedule_islands(&s);
    }
    sum_up(&s);
    arena_destroy(s.arena);
    return s.made;
}

const struct schedule *plan_schedule(struct compile *cx, const struct graph *graph,
                                     const struct plan *plan, enum schedule_length length)
{
    const struct schedule *made = make_schedule(cx, graph, plan, length);
    if (count_guards(made) <= SCHEDULE_GUARDS_MAX) return made;
    return plan_schedule_none(cx, plan, "it would ask more outer ports than the loader follows");
}

const struct schedule *plan_schedule_none(struct compile *cx, const struct plan *plan,
                                          const char *reason)
{
    struct schedule *made = ARENA_NEW(cx->arena, struct schedule);
    const char **obstacles = ARENA_ARRAY(cx->arena, const char *, (size_t)plan->stage_count + 1);
    for (uint32_t i = 0; i < plan->stage_count; i++)
        obstacles[i] = reason;
    made->obstacles = obstacles;
    made->reason = reason;
    return made;
}
