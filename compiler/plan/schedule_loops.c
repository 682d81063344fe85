/* SPDX-License-Identifier: MIT */
/*
 * schedule_loops: one round of an island as loops of runs.
 *
 * An edge is *binding* if the reader's cycles in a loop need packets that the writer appends in the same loop.  Then the
 * writer is first.  An edge is *tight* if the packets of the writer do not fit beside those that the buffer holds.  Then
 * the reader is first.  If the edge is both, the two stages get a loop of their own, a *cluster*, whose passes append
 * fewer packets.  So do stages that wait for each other in a cycle.  The loop of a cluster is repeated by a divisor of
 * all of its counts: the smallest one that lets the stages follow each other.  If the counts have no common divisor, a
 * bounded simulation finds a sequence, or there is none.
 *
 * Each stage appears once, except in the sequence of a simulation.  So the size does not depend on the counts.
 */
#include "compiler/plan/schedule_internal.h"

#include <assert.h>
#include <stdlib.h>

#include "compiler/ir/ratio.h"
#include "compiler/liveness/strong_components.h"
#include "compiler/liveness/token_game.h"

#define SIMULATION_STEPS UINT64_C(1000000) /* nodes and edges looked at */
enum { RUNS_PER_NODE = 8, DIVISORS_TRIED = 1 << 16 };

struct looping {
    const struct island *island;
    struct arena *arena, *to;
    uint64_t *counts; /* by node: cycles in a pass of the present loop */
    uint32_t *local;  /* by node: vertex of the present part */
    schedule_ops ops;
    uint64_t launches; /* of a round */
    uint64_t passes;   /* of the present loop in a round */
    uint32_t nest;
    bool flat;
};

struct part { /* nodes in the order of packs, and the edges between them */
    uint32_t *nodes, *edges;
    uint32_t node_count, edge_count;
};

/* ---- writing ---- */

static void open_loop(struct looping *l, uint64_t count)
{
    vec_push(l->to, &l->ops, (struct schedule_op){SCHEDULE_REPEAT, 0, (uint32_t)count});
    l->nest++;
}

static void close_loop(struct looping *l)
{
    vec_push(l->to, &l->ops, (struct schedule_op){SCHEDULE_AGAIN, 0, 0});
    l->nest--;
}

static void write_firings(struct looping *l, uint32_t stage, uint64_t firings)
{
    if (firings)
        vec_push(l->to, &l->ops, (struct schedule_op){SCHEDULE_RUN, stage, (uint32_t)firings});
}

/* In launches of a chunk, and one with the rest. */
static bool write_run(struct looping *l, uint32_t index, uint64_t cycles)
{
    const struct island_node *node = &l->island->nodes[index];
    uint64_t whole = cycles / node->chunk, rest = cycles % node->chunk;
    if (whole > UINT32_MAX || (whole > 1 && l->nest == SCHEDULE_NEST_MAX)) return false;
    if (whole > 1) open_loop(l, whole);
    if (whole > 0) write_firings(l, node->stage, node->chunk * node->phases);
    if (whole > 1) close_loop(l);
    write_firings(l, node->stage, rest * node->phases);
    l->launches = add_clamped(l->launches, mul_clamped(l->passes, add_clamped(whole, rest > 0)));
    return true;
}

/* ---- edges ---- */

static uint64_t packets_brought(const struct looping *l, const struct island_edge *edge)
{
    return mul_clamped(l->counts[edge->from], edge->push);
}

static bool edge_is_binding(const struct looping *l, const struct island_edge *edge)
{
    return edge->base < add_clamped(packets_brought(l, edge), edge->kept);
}

static bool is_tight(const struct looping *l, const struct island_edge *edge)
{
    return add_clamped(edge->base, packets_brought(l, edge)) > edge->depth;
}

/* ---- sequences of whole cycles ---- */

/* The part as a net: node i is vertex i, each edge an arc of packets and one of room.  `primes`: from the initial packets
 * on, before windows are filled. */
static struct net *part_net(struct looping *l, const struct part *part, bool primes)
{
    struct net_arc *arcs = ARENA_ARRAY(l->arena, struct net_arc, 2 * (size_t)part->edge_count + 1);
    uint64_t *cycles = ARENA_ARRAY(l->arena, uint64_t, (size_t)part->node_count + 1);
    for (uint32_t i = 0; i < part->node_count; i++) {
        l->local[part->nodes[i]] = i;
        cycles[i] = l->counts[part->nodes[i]];
    }
    for (uint32_t i = 0; i < part->edge_count; i++) {
        const struct island_edge *edge = &l->island->edges[part->edges[i]];
        uint32_t from = l->local[edge->from], to = l->local[edge->to];
        uint64_t held = primes ? edge->initial : edge->base;
        arcs[2 * (size_t)i] = (struct net_arc){.from = from,
                                               .to = to,
                                               .add = edge->push,
                                               .take = edge->pop,
                                               .need = add_clamped(edge->pop, edge->kept),
                                               .initial = (int64_t)held};
        arcs[2 * (size_t)i + 1] = (struct net_arc){.from = to,
                                                   .to = from,
                                                   .add = edge->pop,
                                                   .take = edge->push,
                                                   .need = edge->push,
                                                   .initial = (int64_t)edge->depth - (int64_t)held};
    }
    return net_of_arcs(l->arena, arcs, 2 * part->edge_count, cycles, part->node_count);
}

struct sequence {
    struct looping *l;
    const struct part *part;
    uint64_t runs;
};

static bool write_turn(void *data, uint32_t vertex, uint64_t cycles)
{
    struct sequence *s = data;
    return ++s->runs <= (uint64_t)RUNS_PER_NODE * s->part->node_count &&
           write_run(s->l, s->part->nodes[vertex], cycles);
}

/* All nodes in turn, until they have had their cycles. */
static bool write_sequence(struct looping *l, const struct part *part, bool primes)
{
    struct sequence s = {.l = l, .part = part};
    uint64_t budget = SIMULATION_STEPS;
    return net_run_in_turns(part_net(l, part, primes), &budget, write_turn, &s);
}

/* ---- clusters ---- */

static uint64_t divisor_from(uint64_t number, uint64_t least)
{
    uint64_t best = number;
    for (uint64_t i = 1; i < DIVISORS_TRIED && i <= number / i; i++) {
        if (number % i) continue;
        if (i >= least && i < best) best = i;
        if (number / i >= least && number / i < best) best = number / i;
    }
    return best;
}

/* Passes into which the loop has to be cut so that the edge keeps no stages apart; UINT64_MAX: that is impossible. */
static uint64_t passes_to_fit(uint64_t packets, uint64_t room)
{
    return room == 0 ? UINT64_MAX : packets / room + (packets % room > 0);
}

/* Enough for every tight edge that passes can loosen, and for the cycle's edge that needs fewest. */
static uint64_t passes_wanted(const struct looping *l, const struct part *part, uint64_t most)
{
    uint64_t fit = 0, loosest = UINT64_MAX;
    for (uint32_t i = 0; i < part->edge_count; i++) {
        const struct island_edge *edge = &l->island->edges[part->edges[i]];
        uint64_t packets = packets_brought(l, edge);
        if (!edge_is_binding(l, edge)) continue;
        uint64_t passes =
            passes_to_fit(packets, edge->depth > edge->base ? edge->depth - edge->base : 0);
        if (is_tight(l, edge) && passes <= most) fit = max64(fit, passes);
        loosest = min64(
            loosest, passes_to_fit(packets, edge->base > edge->kept ? edge->base - edge->kept : 0));
    }
    if (fit) return fit;
    return loosest <= most ? loosest : 2;
}

static bool build_sequence(struct looping *l, const struct part *part);

static bool build_cluster(struct looping *l, const struct part *part)
{
    uint64_t common = 0;
    l->flat = false;
    for (uint32_t i = 0; i < part->node_count; i++)
        common = gcd64(common, l->counts[part->nodes[i]]);
    if (common == 1) return write_sequence(l, part, false);
    uint64_t passes = divisor_from(common, max64(passes_wanted(l, part, common), 2));
    if (passes > UINT32_MAX || l->nest == SCHEDULE_NEST_MAX) return false;
    assert(passes > 0);
    uint64_t before = l->passes;
    l->passes = mul_clamped(l->passes, passes);
    for (uint32_t i = 0; i < part->node_count; i++)
        l->counts[part->nodes[i]] /= passes;
    open_loop(l, passes);
    bool built = build_sequence(l, part);
    close_loop(l);
    for (uint32_t i = 0; i < part->node_count; i++)
        l->counts[part->nodes[i]] *= passes;
    l->passes = before;
    return built;
}

/* ---- the order of a part ---- */

struct clusters {     /* of a part, in order */
    uint32_t *of;     /* by vertex */
    uint32_t *sorted; /* clusters in order */
    uint32_t count;
};

static struct strong_arc *collect_arcs(struct looping *l, const struct part *part, uint32_t *count)
{
    struct strong_arc *arcs =
        ARENA_ARRAY(l->arena, struct strong_arc, 2 * (size_t)part->edge_count + 1);
    for (uint32_t i = 0; i < part->node_count; i++)
        l->local[part->nodes[i]] = i;
    for (uint32_t i = 0; i < part->edge_count; i++) {
        const struct island_edge *edge = &l->island->edges[part->edges[i]];
        uint32_t from = l->local[edge->from], to = l->local[edge->to];
        if (edge_is_binding(l, edge)) arcs[(*count)++] = (struct strong_arc){from, to};
        if (is_tight(l, edge)) arcs[(*count)++] = (struct strong_arc){to, from};
    }
    return arcs;
}

struct ranked {
    uint32_t cluster, first; /* its first vertex */
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* In the order of packs, where the arcs allow that: then launches share packets.  Else in the order
 * in which the components were found, which always is one. */
static void sort_clusters(struct looping *l, struct clusters *c, uint32_t vertices,
                          const struct strong_arc *arcs, uint32_t arc_count)
{
    struct ranked *ranked = ARENA_ARRAY(l->arena, struct ranked, (size_t)c->count + 1);
    uint32_t *rank = ARENA_ARRAY(l->arena, uint32_t, (size_t)c->count + 1);
    bool agrees = true;
    for (uint32_t i = 0; i < c->count; i++)
        ranked[i] = (struct ranked){i, UINT32_MAX};
    for (uint32_t v = vertices; v-- > 0;)
        ranked[c->of[v]].first = v;
    qsort(ranked, c->count, sizeof *ranked, compare_ranked);
    for (uint32_t i = 0; i < c->count; i++)
        rank[ranked[i].cluster] = i;
    for (uint32_t i = 0; i < arc_count && agrees; i++)
        agrees = rank[c->of[arcs[i].from]] <= rank[c->of[arcs[i].to]];
    for (uint32_t i = 0; i < c->count; i++)
        c->sorted[i] = agrees ? ranked[i].cluster : c->count - 1 - i;
}

static struct clusters find_clusters(struct looping *l, const struct part *part)
{
    uint32_t arc_count = 0;
    struct strong_arc *arcs = collect_arcs(l, part, &arc_count);
    struct clusters c = {.of = ARENA_ARRAY(l->arena, uint32_t, (size_t)part->node_count + 1)};
    c.count = strong_components(l->arena, part->node_count, arcs, arc_count, c.of);
    c.sorted = ARENA_ARRAY(l->arena, uint32_t, (size_t)c.count + 1);
    sort_clusters(l, &c, part->node_count, arcs, arc_count);
    return c;
}

/* The nodes and edges of each cluster. */
static struct part *divide_part(struct looping *l, const struct part *part,
                                const struct clusters *c)
{
    struct part *parts = ARENA_ARRAY(l->arena, struct part, (size_t)c->count + 1);
    uint32_t *nodes = ARENA_ARRAY(l->arena, uint32_t, (size_t)part->node_count + 1);
    uint32_t *edges = ARENA_ARRAY(l->arena, uint32_t, (size_t)part->edge_count + 1);
    uint32_t *inside = ARENA_ARRAY(l->arena, uint32_t, (size_t)part->edge_count + 1);
    for (uint32_t v = 0; v < part->node_count; v++)
        parts[c->of[v]].node_count++;
    for (uint32_t i = 0; i < part->edge_count; i++) {
        const struct island_edge *edge = &l->island->edges[part->edges[i]];
        uint32_t from = c->of[l->local[edge->from]];
        inside[i] = from == c->of[l->local[edge->to]] ? from : UINT32_MAX;
        if (inside[i] != UINT32_MAX) parts[from].edge_count++;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        parts[i].nodes = nodes;
        parts[i].edges = edges;
        nodes += parts[i].node_count;
        edges += parts[i].edge_count;
        parts[i].node_count = parts[i].edge_count = 0;
    }
    for (uint32_t v = 0; v < part->node_count; v++) {
        struct part *to = &parts[c->of[v]];
        to->nodes[to->node_count++] = part->nodes[v];
    }
    for (uint32_t i = 0; i < part->edge_count; i++) {
        if (inside[i] == UINT32_MAX) continue;
        struct part *to = &parts[inside[i]];
        to->edges[to->edge_count++] = part->edges[i];
    }
    return parts;
}

/* Runs of whole cycles in order, with clusters in loops.  Recursion: a loop deeper each time. */
static bool build_sequence(struct looping *l, const struct part *part)
{
    struct clusters clusters = find_clusters(l, part);
    const struct part *parts = divide_part(l, part, &clusters);
    for (uint32_t i = 0; i < clusters.count; i++) {
        const struct part *one = &parts[clusters.sorted[i]];
        bool built = one->node_count == 1 ? write_run(l, one->nodes[0], l->counts[one->nodes[0]])
                                          : build_cluster(l, one);
        if (!built) return false;
    }
    return true;
}

/* ---- loops that are the whole of a loop ---- */

static uint32_t matching_end(const schedule_ops *ops, uint32_t repeat)
{
    uint32_t nest = 0;
    for (uint32_t i = repeat; i < ops->count; i++) {
        if (ops->items[i].kind == SCHEDULE_REPEAT) nest++;
        if (ops->items[i].kind == SCHEDULE_AGAIN && --nest == 0) return i;
    }
    return (uint32_t)ops->count;
}

/* (2 (3 (a)(b))) is (6 (a)(b)). */
static void join_loops(schedule_ops *ops)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < ops->count; i++) {
        struct schedule_op op = ops->items[i];
        const struct schedule_op *next = i + 1 < ops->count ? &ops->items[i + 1] : NULL;
        if (op.kind == SCHEDULE_REPEAT && next && next->kind == SCHEDULE_REPEAT &&
            (uint64_t)op.count * next->count <= UINT32_MAX &&
            matching_end(ops, i) == matching_end(ops, i + 1) + 1) {
            uint32_t end = matching_end(ops, i);
            ops->items[i + 1].count *= op.count;
            for (uint32_t k = end; k + 1 < ops->count; k++)
                ops->items[k] = ops->items[k + 1];
            ops->count--;
            continue;
        }
        ops->items[kept++] = op;
    }
    ops->count = kept;
}

/* ---- interface ---- */

static int compare_nodes(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* The nodes of the level in the order of packs (of all, if GRAPH_NONE), edges between them. */
static struct part whole_part(struct arena *arena, const struct island *island, uint32_t level)
{
    struct part part = {
        .nodes = ARENA_ARRAY(arena, uint32_t, (size_t)island->node_count + 1),
        .edges = ARENA_ARRAY(arena, uint32_t, (size_t)island->edge_count + 1),
    };
    uint64_t *keys = ARENA_ARRAY(arena, uint64_t, (size_t)island->node_count + 1);
    for (uint32_t i = 0; i < island->node_count; i++)
        if (level == GRAPH_NONE || island->nodes[i].level == level)
            keys[part.node_count++] = (uint64_t)island->nodes[i].place << 32 | i;
    qsort(keys, part.node_count, sizeof *keys, compare_nodes);
    for (uint32_t i = 0; i < part.node_count; i++)
        part.nodes[i] = (uint32_t)keys[i];
    for (uint32_t i = 0; i < island->edge_count; i++) {
        uint32_t from = island->nodes[island->edges[i].from].level;
        uint32_t to = island->nodes[island->edges[i].to].level;
        if (level == GRAPH_NONE || (from == level && to == level))
            part.edges[part.edge_count++] = i;
    }
    return part;
}

static struct looping looping_start(const struct island *island, struct arena *to)
{
    struct looping l = {
        .island = island, .arena = arena_create(), .to = to, .passes = 1, .flat = true};
    l.counts = ARENA_ARRAY(l.arena, uint64_t, (size_t)island->node_count + 1);
    l.local = ARENA_ARRAY(l.arena, uint32_t, (size_t)island->node_count + 1);
    return l;
}

bool loops_build(const struct island *island, uint32_t level, const uint64_t *counts,
                 struct arena *to, struct loops_made *made)
{
    struct looping l = looping_start(island, to);
    for (uint32_t i = 0; i < island->node_count; i++)
        l.counts[i] = counts[i];
    struct part part = whole_part(l.arena, island, level);
    bool built = build_sequence(&l, &part);
    join_loops(&l.ops);
    *made = (struct loops_made){.ops = l.ops, .launches = l.launches, .flat = l.flat};
    arena_destroy(l.arena);
    return built;
}

bool loops_prime(const struct island *island, struct arena *to, schedule_ops *ops)
{
    struct looping l = looping_start(island, to);
    for (uint32_t i = 0; i < island->node_count; i++)
        l.counts[i] = island->nodes[i].primed;
    struct part part = whole_part(l.arena, island, GRAPH_NONE);
    bool primed = write_sequence(&l, &part, true);
    *ops = l.ops;
    arena_destroy(l.arena);
    return primed;
}
