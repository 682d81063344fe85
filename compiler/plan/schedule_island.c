/* SPDX-License-Identifier: MIT */
/*
 * schedule_island: the parts of a graph that can have a static schedule.
 */
#include "compiler/plan/schedule_internal.h"

#include <stdlib.h>

#include "compiler/ir/ratio.h"
#include "compiler/liveness/strong_components.h"
#include "compiler/support/set_links.h"

#define GOES_ROUND "packets go round between it and stages that are dispatched as they are ready"

struct cutting {
    struct arena *arena;
    const struct graph *graph;
    const struct plan *plan;
    const char *const *obstacles;
    bool beside;
    uint32_t *node_stage;
    uint32_t *root;   /* by stage: union-find */
    uint32_t *island; /* by stage; GRAPH_NONE: in none */
    uint32_t *local;  /* by stage: node of its island */
    uint32_t *place;  /* by stage: in the order of packs */
    bool *inside;     /* by buffer: see stays_inside */
    struct islands made;
};

/* ---- rates of a cycle ---- */

/* The maximum of packets that a cycle sees in its input and does not consume. */
static uint64_t cycle_kept(const struct graph_node *node, const struct graph_input *in)
{
    uint64_t passed = 0, most = 0;
    for (uint32_t i = 0; i < graph_phases(node); i++) {
        most = max64(most, add_clamped(passed, in->peeks ? in->peeks[i] : in->peek));
        passed = add_clamped(passed, in->pops ? in->pops[i] : in->pop);
        if (!in->pops && !in->peeks) break;
    }
    return most > in->pop ? most - in->pop : 0;
}

/* ---- which stages belong together ---- */

static bool same_queue(const struct cutting *c, uint32_t a, uint32_t b)
{
    return c->plan->stages[a].sub_device == c->plan->stages[b].sub_device;
}

/* Can each of its readers be in one island with the writer? */
static bool stays_inside(const struct cutting *c, const struct graph_buffer *buffer)
{
    if (buffer->writer_node == GRAPH_NONE) return false;
    uint32_t from = c->node_stage[buffer->writer_node];
    for (size_t r = 0; r < buffer->readers.count; r++) {
        uint32_t to = c->node_stage[buffer->readers.items[r].node];
        if (c->obstacles[to] || !same_queue(c, from, to)) return false;
    }
    return true;
}

/* Is the reader in an island with the writer because of this buffer? */
static bool buffer_joins(const struct cutting *c, const struct graph_buffer *buffer, size_t reader)
{
    const struct graph_output *out = graph_writer(c->graph, buffer);
    if (buffer->outer != GRAPH_INNER || out == NULL || out->push == 0) return false;
    uint32_t from = c->node_stage[buffer->writer_node];
    uint32_t node = buffer->readers.items[reader].node;
    if (c->obstacles[from] || c->obstacles[c->node_stage[node]]) return false;
    if (!c->beside) return true;
    if (!same_queue(c, from, c->node_stage[node])) return false;
    const struct graph_input *in = graph_reader_input(c->graph, buffer, reader);
    return buffer->initial.packets >= cycle_kept(&c->graph->nodes.items[node], in) ||
           c->inside[buffer - c->graph->buffers.items];
}

static void join_sets(struct cutting *c, uint32_t a, uint32_t b)
{
    uint32_t one = set_root(c->root, a), other = set_root(c->root, b);
    c->root[max64(one, other)] = (uint32_t)min64(one, other);
}

static uint128 packets_of_period(const struct cutting *c, const struct graph_buffer *buffer,
                                 size_t reader)
{
    const struct graph_node *node = &c->graph->nodes.items[buffer->readers.items[reader].node];
    uint64_t pop = graph_reader_input(c->graph, buffer, reader)->pop;
    return (uint128)pop * max64(node->repetitions / graph_phases(node), 1);
}

/* Readers that an in-port goes to at one pace: if one went ahead, it would wait for the others at
 * every other round. */
static void join_readers(struct cutting *c, const struct graph_buffer *buffer)
{
    if (c->beside || buffer->writer_node != GRAPH_NONE || buffer->outer != GRAPH_OUTER_IN) return;
    for (size_t r = 1; r < buffer->readers.count; r++) {
        uint32_t one = c->node_stage[buffer->readers.items[r - 1].node];
        uint32_t other = c->node_stage[buffer->readers.items[r].node];
        if (c->obstacles[one] || c->obstacles[other]) continue;
        if (packets_of_period(c, buffer, r - 1) == packets_of_period(c, buffer, r))
            join_sets(c, one, other);
    }
}

static void join_stages(struct cutting *c)
{
    for (uint32_t i = 0; i < c->plan->stage_count; i++)
        c->root[i] = i;
    for (size_t b = 0; b < c->graph->buffers.count; b++)
        join_readers(c, &c->graph->buffers.items[b]);
    for (size_t b = 0; b < c->graph->buffers.count; b++) {
        const struct graph_buffer *buffer = &c->graph->buffers.items[b];
        for (size_t r = 0; r < buffer->readers.count; r++) {
            if (!buffer_joins(c, buffer, r)) continue;
            join_sets(c, c->node_stage[buffer->writer_node],
                      c->node_stage[buffer->readers.items[r].node]);
        }
    }
}

struct packed_stage {
    uint32_t pack, place, stage;
};

static int compare_packed(const void *left, const void *right)
{
    const struct packed_stage *a = left, *b = right;
    if (a->pack != b->pack) return a->pack < b->pack ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static struct packed_stage *order_stages(struct cutting *c)
{
    struct packed_stage *order =
        ARENA_ARRAY(c->arena, struct packed_stage, (size_t)c->plan->stage_count + 1);
    for (uint32_t i = 0; i < c->plan->stage_count; i++)
        order[i] = (struct packed_stage){c->plan->stages[i].pack, c->plan->stages[i].place, i};
    qsort(order, c->plan->stage_count, sizeof *order, compare_packed);
    for (uint32_t i = 0; i < c->plan->stage_count; i++)
        c->place[order[i].stage] = i;
    return order;
}

/* Islands in order of their first stage, their nodes in the order of packs. */
static void number_islands(struct cutting *c)
{
    uint32_t count = c->plan->stage_count;
    const struct packed_stage *order = order_stages(c);
    for (uint32_t i = 0; i < count; i++)
        c->island[i] = GRAPH_NONE;
    c->made.items = ARENA_ARRAY(c->arena, struct island, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t stage = order[i].stage, root = set_root(c->root, stage);
        if (c->obstacles[stage]) continue;
        if (c->island[root] == GRAPH_NONE) c->island[root] = c->made.count++;
        c->island[stage] = c->island[root];
        c->local[stage] = c->made.items[c->island[stage]].node_count++;
    }
    for (uint32_t i = 0; i < c->made.count; i++) {
        struct island *island = &c->made.items[i];
        island->arena = c->arena;
        island->plan = c->plan;
        island->nodes = ARENA_ARRAY(c->arena, struct island_node, island->node_count);
    }
}

/* ---- nodes ---- */

static void fill_nodes(struct cutting *c)
{
    for (uint32_t stage = 0; stage < c->plan->stage_count; stage++) {
        if (c->island[stage] == GRAPH_NONE) continue;
        struct island *island = &c->made.items[c->island[stage]];
        const struct plan_stage *planned = &c->plan->stages[stage];
        const struct graph_node *node = &c->graph->nodes.items[planned->node];
        uint32_t phases = graph_phases(node);
        island->nodes[c->local[stage]] =
            (struct island_node){.stage = stage,
                                 .phases = phases,
                                 .place = c->place[stage],
                                 .cycles = max64(node->repetitions / phases, 1),
                                 .chunk = planned->batch_max / phases};
        if (planned->batch_max < phases)
            island->obstacle = "a batch has not the room of a whole cycle of phases";
    }
    for (uint32_t i = 0; i < c->made.count; i++) {
        struct island *island = &c->made.items[i];
        uint64_t common = 0;
        for (uint32_t k = 0; k < island->node_count; k++)
            common = gcd64(common, island->nodes[k].cycles);
        for (uint32_t k = 0; k < island->node_count && common; k++)
            island->nodes[k].cycles /= common;
    }
}

/* ---- edges and ports ---- */

struct growing {
    VEC(struct island_edge) edges;
    VEC(struct island_port) ports;
};

/* A node that reads what it has written: what is in the buffer is for one launch at most. */
static void limit_chunk(struct island *island, const struct island_edge *edge)
{
    struct island_node *node = &island->nodes[edge->from];
    uint64_t held = edge->initial > edge->kept ? edge->initial - edge->kept : 0;
    uint64_t room = edge->depth > edge->initial ? edge->depth - edge->initial : 0;
    node->chunk = min64(node->chunk, min64(held / edge->pop, room / edge->push));
    if (node->chunk == 0) {
        node->chunk = 1;
        island->obstacle = "a stage that reads what it writes has not the packets of a cycle";
    }
}

static void add_edge(struct cutting *c, struct growing *grow, const struct graph_buffer *buffer,
                     size_t reader)
{
    uint32_t from = c->node_stage[buffer->writer_node];
    uint32_t node = buffer->readers.items[reader].node, to = c->node_stage[node];
    const struct graph_input *in = graph_reader_input(c->graph, buffer, reader);
    struct island_edge edge = {.from = c->local[from],
                               .to = c->local[to],
                               .push = graph_writer(c->graph, buffer)->push,
                               .pop = in->pop,
                               .kept = cycle_kept(&c->graph->nodes.items[node], in),
                               .depth = buffer->depth_packets,
                               .initial = buffer->initial.packets,
                               .base = buffer->initial.packets,
                               .output = buffer->writer_output,
                               .input = buffer->readers.items[reader].input};
    if (edge.from == edge.to)
        limit_chunk(&c->made.items[c->island[from]], &edge);
    else
        vec_push(c->arena, &grow[c->island[from]].edges, edge);
}

/* The maximum of packets that one firing of a reader needs and leaves, below those of a firing. */
static uint64_t reader_spare(const struct cutting *c, const struct graph_buffer *buffer)
{
    uint64_t most = 0;
    for (size_t r = 0; r < buffer->readers.count; r++)
        most = max64(most, graph_window_packets(c->graph, buffer, r));
    return most;
}

static void add_input_port(struct cutting *c, struct growing *grow, uint32_t b, size_t reader)
{
    const struct graph_buffer *buffer = &c->graph->buffers.items[b];
    uint32_t node = buffer->readers.items[reader].node, stage = c->node_stage[node];
    const struct graph_output *writer = graph_writer(c->graph, buffer);
    if (c->island[stage] == GRAPH_NONE) return;
    if (writer && c->island[c->node_stage[buffer->writer_node]] == c->island[stage])
        c->made.items[c->island[stage]].obstacle = GOES_ROUND;
    const struct graph_input *in = graph_reader_input(c->graph, buffer, reader);
    struct island_port port = {
        .node = c->local[stage],
        .port = buffer->readers.items[reader].input,
        .is_input = true,
        .packets = in->pop,
        .kept = cycle_kept(&c->graph->nodes.items[node], in),
        .depth = buffer->depth_packets,
        .spare = writer ? graph_push_most(&c->graph->nodes.items[buffer->writer_node], writer) : 0,
        .buffer = b};
    vec_push(c->arena, &grow[c->island[stage]].ports, port);
}

static void add_output_port(struct cutting *c, struct growing *grow, uint32_t b)
{
    const struct graph_buffer *buffer = &c->graph->buffers.items[b];
    uint32_t stage = c->node_stage[buffer->writer_node];
    if (c->island[stage] == GRAPH_NONE || graph_writer(c->graph, buffer)->push == 0) return;
    struct island_port port = {.node = c->local[stage],
                               .port = buffer->writer_output,
                               .packets = graph_writer(c->graph, buffer)->push,
                               .depth = buffer->depth_packets,
                               .spare = reader_spare(c, buffer),
                               .buffer = b};
    vec_push(c->arena, &grow[c->island[stage]].ports, port);
}

/* A buffer inside of the island of its writer and of all its readers needs no guard; the reader of
 * another one is asked by itself. */
static void add_buffer(struct cutting *c, struct growing *grow, uint32_t b)
{
    const struct graph_buffer *buffer = &c->graph->buffers.items[b];
    bool leaves = buffer->outer == GRAPH_OUTER_OUT;
    for (size_t r = 0; r < buffer->readers.count; r++) {
        if (buffer_joins(c, buffer, r)) {
            add_edge(c, grow, buffer, r);
        } else {
            add_input_port(c, grow, b, r);
            leaves = true;
        }
    }
    if (leaves && buffer->writer_node != GRAPH_NONE) add_output_port(c, grow, b);
}

/* ---- cycles ---- */

/* Each island is a vertex.  Every other stage is one, too; these come after the islands. */
static uint32_t vertex_of(const struct cutting *c, uint32_t node)
{
    uint32_t stage = c->node_stage[node];
    return c->island[stage] != GRAPH_NONE ? c->island[stage] : c->made.count + stage;
}

/* Refuses islands whose packets come back through other stages: a round that waits for such packets would never begin. */
static void refuse_cycles(struct cutting *c)
{
    size_t ends = 0, vertices = (size_t)c->made.count + c->plan->stage_count;
    for (size_t b = 0; b < c->graph->buffers.count; b++)
        ends += c->graph->buffers.items[b].readers.count;
    struct strong_arc *arcs = ARENA_ARRAY(c->arena, struct strong_arc, ends + 1);
    uint32_t *component = ARENA_ARRAY(c->arena, uint32_t, vertices + 1);
    uint32_t *sizes = ARENA_ARRAY(c->arena, uint32_t, vertices + 1);
    uint32_t arc_count = 0;
    for (size_t b = 0; b < c->graph->buffers.count; b++) {
        const struct graph_buffer *buffer = &c->graph->buffers.items[b];
        if (buffer->writer_node == GRAPH_NONE) continue;
        for (size_t r = 0; r < buffer->readers.count; r++)
            arcs[arc_count++] = (struct strong_arc){vertex_of(c, buffer->writer_node),
                                                    vertex_of(c, buffer->readers.items[r].node)};
    }
    strong_components(c->arena, (uint32_t)vertices, arcs, arc_count, component);
    for (size_t v = 0; v < vertices; v++)
        sizes[component[v]]++;
    for (uint32_t i = 0; i < c->made.count; i++)
        if (sizes[component[i]] > 1) c->made.items[i].obstacle = GOES_ROUND;
}

struct islands islands_collect(struct arena *arena, const struct graph *graph,
                               const struct plan *plan, const char *const *obstacles, bool beside)
{
    size_t count = (size_t)plan->stage_count + 1;
    struct cutting c = {.arena = arena,
                        .graph = graph,
                        .plan = plan,
                        .obstacles = obstacles,
                        .beside = beside,
                        .node_stage = ARENA_ARRAY(arena, uint32_t, graph->nodes.count + 1),
                        .root = ARENA_ARRAY(arena, uint32_t, count),
                        .island = ARENA_ARRAY(arena, uint32_t, count),
                        .local = ARENA_ARRAY(arena, uint32_t, count),
                        .place = ARENA_ARRAY(arena, uint32_t, count),
                        .inside = ARENA_ARRAY(arena, bool, graph->buffers.count + 1)};
    for (uint32_t i = 0; i < plan->stage_count; i++)
        c.node_stage[plan->stages[i].node] = i;
    for (size_t b = 0; b < graph->buffers.count; b++)
        c.inside[b] = stays_inside(&c, &graph->buffers.items[b]);
    join_stages(&c);
    number_islands(&c);
    fill_nodes(&c);
    struct growing *grow = ARENA_ARRAY(arena, struct growing, (size_t)c.made.count + 1);
    for (uint32_t b = 0; b < graph->buffers.count; b++)
        add_buffer(&c, grow, b);
    for (uint32_t i = 0; i < c.made.count; i++) {
        struct island *island = &c.made.items[i];
        island->edges = grow[i].edges.items;
        island->edge_count = (uint32_t)grow[i].edges.count;
        island->ports = grow[i].ports.items;
        island->port_count = (uint32_t)grow[i].ports.count;
    }
    refuse_cycles(&c);
    return c.made;
}
