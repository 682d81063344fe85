/* SPDX-License-Identifier: MIT */
/*
 * The maximum cycle ratio of K-periodic schedules, for each strongly connected component.  K is raised
 * where the critical cycle demands it.
 *
 * K-periodic.  Node n has Q[n] cycles of P[n] phases in an iteration of the component, which takes T
 * clock cycles.  K[n] divides Q[n], and firing k + K[n] P[n] starts K[n] T / Q[n] after firing k.  So
 * K[n] P[n] starting times of each node have to be found: the vertices.
 *
 * One arc w -> n.  Its adder adds A(j) in the first j firings, u in a cycle of phases.  Its taker takes
 * V(i) before firing i, v in a cycle of phases, and needs N(i).  It has M initial tokens and the flow
 * F = Q[w] u = Q[n] v.  Firing i of n waits for the firing j of w with A(j) < V(i) + N(i) - M <= A(j + 1),
 * all counted from 0 and continued periodically below 0.  Take i and j within their blocks, and let the
 * blocks be t and s.  With a = K[w] u, b = K[n] v and beta = s a - t b that is
 *
 *     S(n, i) - S(w, j) >= cost[w] + T beta / F,   A(j) < V(i) + N(i) - M - beta <= A(j + 1)
 *
 * and beta is a multiple of g = gcd(a, b); every multiple occurs, for some t and s >= 0.  The largest
 * that fits is the strictest.  So the arc becomes at most one arc (w, j) -> (n, i) of height -beta / F
 * for each i and j, and no more than a / g for each i.
 *
 * In addition there are arcs (n, i) -> (n, i + 1).  Their cost is that of the node if it is stateful,
 * else 0.  The last vertex leads to the first with height K[n] / Q[n].  The smallest T is the maximum
 * cycle ratio (cycle_ratio.h).  Conditions of an arc's other firings follow: they are those of its
 * strictest ones, earlier.
 *
 * Heights.  F / g is the least common multiple of Q[w] / K[w] and Q[n] / K[n].  Let D be that of all of
 * them: every height is a whole number of D-th parts.  If D is too large for the arithmetic, heights are
 * rounded down to binary parts, which lengthens T.  The throughput is a lower bound then.
 *
 * When it is exact.  Let C be the nodes of the critical cycle, and q[n] = Q[n] / gcd of Q over C.  If
 * q[n] divides K[n] for all n in C, T is the smallest possible.
 *
 * Proof.  K-periodic schedules are schedules: T is reached.  Look only at the nodes of C, with the arcs
 * of the cycle.  With K = q their schedules repeat after one iteration of these nodes.  Every firing of
 * it has a vertex of its own, and there is one arc for each i: (n, i + t b) waits for (w, j + t b),
 * whatever t is.  So the ratio is that of the dependences themselves, and no schedule of C is faster than
 * T(q).  With multiples of q there are more schedules: T(K, C) <= T(q), hence they are equal.  The
 * critical cycle lies in the graph of C, so T(K) <= T(K, C) = T(q) <= minimum of C <= minimum of all.  If
 * the ratio is infinite, some firing waits for itself or a later one: the net is stuck.
 *
 * Otherwise K[n] is raised to lcm(K[n], q[n]) on C, and the ratio is found again.  K grows and divides
 * Q, so this ends, at the latest where K = Q: one vertex for each firing.  It is seldom needed.  If K is
 * too small for any schedule, every cycle found that shows this raises its own K at once.  After
 * PATIENT_ROUNDS a component of FEW_FIRINGS gets K = Q.
 *
 * (Bodin, Munier-Kordon & Dupont de Dinechin, "Optimal and fast throughput evaluation of CSDF", DAC
 * 2016, and "K-periodic schedules for evaluating the maximum throughput of a synchronous dataflow
 * graph", SAMOS 2012.)
 *
 * Limits: VERTICES_MAX and ARCS_MAX for one component, and the caller's budget.  Beyond them the best
 * schedule found so far is a lower bound, or nothing is known.
 */
#include "compiler/pace/throughput.h"

#include "compiler/pace/cycle_ratio.h"
#include "compiler/liveness/strong_components.h"
#include "compiler/support/bucket.h"
#include "base/vec.h"

#include <assert.h>

enum {
    VERTICES_MAX = 1 << 18,
    ARCS_MAX = 1 << 20,
    PART_BITS_MAX = 100,
    PATIENT_ROUNDS = 6,
    FEW_FIRINGS = 1 << 15,
    ROUNDED_ITERATIONS = 1 << 10, /* where rounded: a larger number of tokens counts as this many */
};
#define IN_ORDER UINT32_MAX

struct component {
    struct arena *arena; /* of the answer */
    const struct net *net;
    const uint64_t *cost;
    const bool *stateful;
    const uint32_t *nodes, *arcs; /* of the net */
    uint32_t node_count, arc_count;
    uint64_t common;  /* iterations of the component in one of the net */
    uint64_t *cycles; /* by node of the net: Q */
    uint64_t *blocks; /* K */
};

/* The graph of single firings of a component, with a chosen number of firings per node. */
struct expansion {
    const struct component *of;
    struct arena *memory;
    uint32_t *first_vertex;     /* by node of the net */
    uint32_t *vertex_node;      /* by vertex: its node */
    VEC(struct ratio_arc) arcs; /* tag: arc of the net, or IN_ORDER */
    uint128 parts;              /* D */
    uint32_t part_bits;         /* rounded: D = 2^part_bits; else 0 */
    uint32_t vertex_count;
    bool too_large;
};

/* ---- heights ---- */

static uint64_t nodes_share(const struct component *of, uint32_t node)
{
    return of->cycles[node] / of->blocks[node];
}

static bool multiply_checked(uint128 *product, uint128 factor)
{
    return !__builtin_mul_overflow(*product, factor, product);
}

/* The least common multiple of all Q / K; false: beyond the arithmetic. */
static bool common_parts(const struct component *of, uint128 *parts)
{
    *parts = 1;
    for (uint32_t i = 0; i < of->node_count; i++) {
        uint64_t share = nodes_share(of, of->nodes[i]);
        if (!multiply_checked(parts, share / gcd64((uint64_t)(*parts % share), share)) ||
            *parts >> PART_BITS_MAX)
            return false;
    }
    return true;
}

/* tokens / flow, in binary parts, rounded down. */
static int128 rounded_height(struct expansion *expansion, int128 tokens, uint64_t flow)
{
    int128 whole = floor_divide(tokens, (int128)flow), height = whole;
    uint128 rest = (uint128)(tokens - whole * (int128)flow);
    if (whole < -ROUNDED_ITERATIONS) expansion->too_large = true;
    if (whole >= ROUNDED_ITERATIONS) height = ROUNDED_ITERATIONS;
    if (whole >= ROUNDED_ITERATIONS) rest = 0;
    for (uint32_t left = expansion->part_bits; left > 0;) {
        uint32_t bits = left < 32 ? left : 32;
        rest <<= bits;
        height = height * ((int128)1 << bits) + (int128)(rest / flow);
        rest %= flow;
        left -= bits;
    }
    return height;
}

/* -beta / flow in parts, where beta = times x unit. */
static int128 height_of(struct expansion *expansion, int128 times, uint64_t unit, uint64_t flow)
{
    int128 height;
    if (expansion->part_bits) return rounded_height(expansion, -times * (int128)unit, flow);
    if (__builtin_mul_overflow(-times, (int128)(expansion->parts / (flow / unit)), &height))
        expansion->too_large = true;
    return height;
}

/* ---- expanding ---- */

static void add_arc(struct expansion *expansion, uint32_t from, uint32_t to, uint32_t tag,
                    uint64_t cost, int128 height)
{
    struct ratio_arc arc = {.from = from, .to = to, .tag = tag, .cost = cost, .height = height};
    if (expansion->arcs.count == ARCS_MAX)
        expansion->too_large = true;
    else
        vec_push(expansion->memory, &expansion->arcs, arc);
}

static void add_order(struct expansion *expansion, uint32_t node)
{
    const struct component *of = expansion->of;
    uint32_t first = expansion->first_vertex[node];
    uint32_t count = (uint32_t)of->blocks[node] * of->net->nodes[node].phases;
    uint64_t cost = of->stateful[node] ? of->cost[node] : 0;
    for (uint32_t i = 0; i + 1 < count; i++)
        add_arc(expansion, first + i, first + i + 1, IN_ORDER, cost, 0);
    add_arc(expansion, first + count - 1, first, IN_ORDER, cost,
            (int128)(expansion->parts / nodes_share(of, node)));
}

/* The tokens that the first `firings` of the adder add. */
static int128 first_added(const struct net_arc *arc, uint32_t phases, uint64_t firings)
{
    return (int128)channels_sum(arc->add_sums, arc->add, phases, 0, firings);
}

struct pairs { /* of one arc of the net */
    const struct net_arc *arc;
    uint32_t index;
    uint64_t a, g, flow;
    uint32_t from_count, from_phases;
};

/* `token` = V(i) + N(i) - M; one arc for each firing of the adder in whose range a beta falls. */
static void pair_each_firing(struct expansion *expansion, const struct pairs *pairs, int128 token,
                             uint32_t vertex)
{
    const struct net_arc *arc = pairs->arc;
    uint32_t first = expansion->first_vertex[arc->from];
    for (uint32_t j = 0; j < pairs->from_count; j++) {
        int128 before = token - first_added(arc, pairs->from_phases, j);
        int128 after = token - first_added(arc, pairs->from_phases, j + 1);
        int128 times = floor_divide(before - 1, (int128)pairs->g);
        if (times * (int128)pairs->g < after) continue;
        add_arc(expansion, first + j, vertex, pairs->index, expansion->of->cost[arc->from],
                height_of(expansion, times, pairs->g, pairs->flow));
    }
}

/* The same, one beta after the other, from the largest. */
static void pair_each_beta(struct expansion *expansion, const struct pairs *pairs, int128 token,
                           uint32_t vertex)
{
    const struct net_arc *arc = pairs->arc;
    uint32_t first = expansion->first_vertex[arc->from];
    int128 times = floor_divide(token - 1, (int128)pairs->g);
    uint64_t last = UINT64_MAX;
    for (uint64_t k = 0; k < pairs->a / pairs->g; k++, times--) {
        uint64_t wanted = (uint64_t)(token - times * (int128)pairs->g);
        /* The firing that adds the token of that number, 1 and up. */
        uint64_t j =
            (uint64_t)channels_firings(arc->add_sums, arc->add, pairs->from_phases, 0, wanted) - 1;
        if (j == last) continue;
        last = j;
        add_arc(expansion, first + (uint32_t)j, vertex, pairs->index,
                expansion->of->cost[arc->from], height_of(expansion, times, pairs->g, pairs->flow));
    }
}

static void add_pairs(struct expansion *expansion, uint32_t index)
{
    const struct component *of = expansion->of;
    const struct net_arc *arc = &of->net->arcs[index];
    const struct net_node *adder = &of->net->nodes[arc->from], *taker = &of->net->nodes[arc->to];
    uint64_t a = of->blocks[arc->from] * arc->add, b = of->blocks[arc->to] * arc->take;
    struct pairs pairs = {.arc = arc,
                          .index = index,
                          .a = a,
                          .g = gcd64(a, b),
                          .flow = of->cycles[arc->from] * arc->add,
                          .from_count = (uint32_t)of->blocks[arc->from] * adder->phases,
                          .from_phases = adder->phases};
    uint32_t count = (uint32_t)of->blocks[arc->to] * taker->phases;
    for (uint32_t i = 0; i < count && !expansion->too_large; i++) {
        int128 token = (int128)channels_sum(arc->take_sums, arc->take, taker->phases, 0, i) +
                       (arc->needs ? arc->needs[i % taker->phases] : arc->need) - arc->initial;
        uint32_t vertex = expansion->first_vertex[arc->to] + i;
        if (a / pairs.g < pairs.from_count)
            pair_each_beta(expansion, &pairs, token, vertex);
        else
            pair_each_firing(expansion, &pairs, token, vertex);
    }
}

/* False: too large. */
static bool number_firings(struct expansion *expansion)
{
    const struct component *of = expansion->of;
    uint64_t count = 0;
    for (uint32_t i = 0; i < of->node_count; i++) {
        uint32_t node = of->nodes[i], phases = of->net->nodes[node].phases;
        if (of->blocks[node] > VERTICES_MAX / phases) return false;
        expansion->first_vertex[node] = (uint32_t)count;
        count += of->blocks[node] * phases;
        if (count > VERTICES_MAX) return false;
    }
    expansion->vertex_count = (uint32_t)count;
    expansion->vertex_node = ARENA_ARRAY(expansion->memory, uint32_t, count);
    for (uint32_t i = 0; i < of->node_count; i++) {
        uint32_t node = of->nodes[i];
        uint32_t last = i + 1 < of->node_count ? expansion->first_vertex[of->nodes[i + 1]]
                                               : expansion->vertex_count;
        for (uint32_t v = expansion->first_vertex[node]; v < last; v++)
            expansion->vertex_node[v] = node;
    }
    return true;
}

/* Chooses the finest parts that the arithmetic of cycle_ratio admits, with heights of
 * ROUNDED_ITERATIONS. */
static void choose_rounding(struct expansion *expansion)
{
    const struct component *of = expansion->of;
    uint64_t costs = 1;
    for (uint32_t i = 0; i < of->node_count; i++)
        costs |= of->cost[of->nodes[i]];
    expansion->part_bits = CYCLE_RATIO_BITS - bit_length(costs) - bit_length(ROUNDED_ITERATIONS) -
                           2 * bit_length(expansion->vertex_count) - 2;
    expansion->parts = (uint128)1 << expansion->part_bits;
}

static bool expand_component(struct expansion *expansion, bool rounded, uint64_t *budget)
{
    const struct component *of = expansion->of;
    expansion->first_vertex = ARENA_ARRAY(expansion->memory, uint32_t, of->net->node_count);
    if (!number_firings(expansion)) return false;
    if (rounded || !common_parts(of, &expansion->parts)) choose_rounding(expansion);
    for (uint32_t i = 0; i < of->node_count; i++)
        add_order(expansion, of->nodes[i]);
    for (uint32_t i = 0; i < of->arc_count; i++)
        add_pairs(expansion, of->arcs[i]);
    if (expansion->too_large || *budget < expansion->arcs.count) return false;
    *budget -= expansion->arcs.count;
    return true;
}

/* ---- one value of K ---- */

struct round {
    struct expansion expansion;
    struct cycle_ratio ratio;
};

static bool has_free_nodes(const struct component *of)
{
    for (uint32_t i = 0; i < of->node_count; i++)
        if (of->cost[of->nodes[i]] == 0) return true;
    return false;
}

/* Finds cycles without a schedule; with costs of 1, those without cost are seen as well. */
static struct cycle_ratio find_stuck(const struct expansion *expansion, uint64_t *budget)
{
    struct ratio_graph graph = {expansion->vertex_count, (uint32_t)expansion->arcs.count, NULL};
    graph.arcs = arena_copy(expansion->memory, expansion->arcs.items,
                            expansion->arcs.count * sizeof *graph.arcs);
    for (uint32_t i = 0; i < graph.arc_count; i++)
        graph.arcs[i].cost = 1;
    return cycle_ratio_maximum(expansion->memory, &graph, budget);
}

static struct cycle_ratio find_ratio(const struct expansion *expansion, uint64_t *budget)
{
    struct ratio_graph graph = {expansion->vertex_count, (uint32_t)expansion->arcs.count,
                                expansion->arcs.items};
    if (has_free_nodes(expansion->of)) {
        struct cycle_ratio stuck = find_stuck(expansion, budget);
        if (stuck.kind != CYCLE_RATIO_FINITE) return stuck;
    }
    return cycle_ratio_maximum(expansion->memory, &graph, budget);
}

/* False: beyond the limits. */
static bool examine_blocks(const struct component *of, struct arena *memory, struct round *round,
                           uint64_t *budget)
{
    for (int rounded = 0; rounded < 2; rounded++) {
        round->expansion = (struct expansion){.of = of, .memory = memory};
        if (!expand_component(&round->expansion, rounded, budget)) return false;
        round->ratio = find_ratio(&round->expansion, budget);
        if (round->ratio.kind != CYCLE_RATIO_UNKNOWN) return true;
        if (round->expansion.part_bits) return false;
    }
    return false;
}

/* Makes K a multiple of the repetitions that the cycle's nodes have by themselves; false: it is
 * one already. */
static bool raise_on_cycle(const struct component *of, const struct expansion *expansion,
                           const uint32_t *cycle, uint32_t count)
{
    uint64_t common = 0;
    bool raised = false;
    assert(expansion->arcs.items != NULL);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t vertex = expansion->arcs.items[cycle[i]].from;
        common = gcd64(common, of->cycles[expansion->vertex_node[vertex]]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t vertex = expansion->arcs.items[cycle[i]].from;
        uint32_t node = expansion->vertex_node[vertex];
        uint64_t asked = of->cycles[node] / common;
        if (of->blocks[node] % asked == 0) continue;
        of->blocks[node] *= asked / gcd64(of->blocks[node], asked); /* divides Q */
        raised = true;
    }
    return raised;
}

/* If an iteration has few firings in all, each becomes a vertex after some rounds. */
static void raise_all(const struct component *of)
{
    uint64_t firings = 0;
    for (uint32_t i = 0; i < of->node_count; i++)
        firings = add_clamped(
            firings, mul_clamped(of->cycles[of->nodes[i]], of->net->nodes[of->nodes[i]].phases));
    if (firings > FEW_FIRINGS) return;
    for (uint32_t i = 0; i < of->node_count; i++)
        of->blocks[of->nodes[i]] = of->cycles[of->nodes[i]];
}

/* False: the cycle demands no larger K. */
static bool raise_blocks(const struct component *of, const struct round *round, uint32_t rounds)
{
    const struct ratio_arc *arcs = round->expansion.arcs.items;
    const struct cycle_ratio *ratio = &round->ratio;
    if (!raise_on_cycle(of, &round->expansion, ratio->cycle, ratio->cycle_count)) return false;
    for (uint32_t first = 0, last; first < ratio->other_count; first = last) {
        uint32_t start = arcs[ratio->others[first]].from;
        for (last = first + 1; arcs[ratio->others[last - 1]].to != start;)
            last++;
        raise_on_cycle(of, &round->expansion, ratio->others + first, last - first);
    }
    if (rounds >= PATIENT_ROUNDS) raise_all(of);
    return true;
}

/* ---- answers ---- */

/* The cycle's arcs of the net, each once, from the lowest on. */
static void name_critical(const struct component *of, const struct round *round,
                          struct throughput *to)
{
    const struct cycle_ratio *ratio = &round->ratio;
    const struct ratio_arc *arcs = round->expansion.arcs.items;
    uint32_t least = 0;
    assert(ratio->cycle_count > 0 && arcs != NULL);
    for (uint32_t i = 1; i < ratio->cycle_count; i++)
        if (arcs[ratio->cycle[i]].tag < arcs[ratio->cycle[least]].tag) least = i;
    bool *seen = ARENA_ARRAY(round->expansion.memory, bool, of->net->arc_count);
    to->critical = ARENA_ARRAY(of->arena, uint32_t, ratio->cycle_count);
    to->critical_count = 0;
    to->critical_node = round->expansion.vertex_node[arcs[ratio->cycle[least]].from];
    for (uint32_t i = 0; i < ratio->cycle_count; i++) {
        uint32_t tag = arcs[ratio->cycle[(least + i) % ratio->cycle_count]].tag;
        if (tag == IN_ORDER || seen[tag]) continue;
        seen[tag] = true;
        to->critical[to->critical_count++] = tag;
    }
}

/* Divides both by their common divisor. */
static void cancel_common(uint128 *a, uint128 *b)
{
    uint128 common = gcd128(*a, *b);
    *a /= common;
    *b /= common;
}

/* T = common x parts x cost / height; a value that does not fit is rounded to a longer one. */
static bool put_ratio(const struct component *of, const struct round *round, struct throughput *to)
{
    uint128 height = round->ratio.height, cost = round->ratio.cost, cycles;
    uint128 parts = round->expansion.parts, common = of->common;
    cancel_common(&height, &parts);
    cancel_common(&height, &common);
    to->kind = THROUGHPUT_RATIO;
    to->exact = round->expansion.part_bits == 0;
    for (;;) {
        cycles = parts;
        if (multiply_checked(&cycles, cost) && multiply_checked(&cycles, common) &&
            !(cycles >> 63) && !(height >> 63))
            break;
        to->exact = false;
        height >>= 1;
        parts = (parts >> 1) + (parts & 1);
        if (height == 0 || (parts == 1 && !(height >> 63))) return false;
    }
    cancel_common(&height, &cycles);
    to->iterations = (uint64_t)height;
    to->cycles = (uint64_t)cycles;
    return height > 0;
}

/* A finite ratio is a schedule: keeps it if it is the fastest so far. */
static void keep_bound(const struct component *of, const struct round *round,
                       struct throughput *best)
{
    struct throughput bound;
    if (round->ratio.kind != CYCLE_RATIO_FINITE || !put_ratio(of, round, &bound)) return;
    if (throughput_compare(&bound, best) <= 0) return;
    bound.exact = false;
    name_critical(of, round, &bound);
    *best = bound;
}

static struct throughput throughput_unknown(void)
{
    return (struct throughput){.kind = THROUGHPUT_UNKNOWN, .critical_node = GRAPH_NONE};
}

static struct throughput improve_component(const struct component *of, struct arena *memory,
                                           uint64_t *budget)
{
    struct throughput best = throughput_unknown();
    for (uint32_t rounds = 1;; rounds++) {
        struct round round;
        arena_reset(memory);
        if (!examine_blocks(of, memory, &round, budget)) return best;
        if (round.ratio.kind == CYCLE_RATIO_FINITE && round.ratio.cost == 0)
            return (struct throughput){
                .kind = THROUGHPUT_UNBOUNDED, .exact = true, .critical_node = GRAPH_NONE};
        keep_bound(of, &round, &best);
        if (!raise_blocks(of, &round, rounds)) {
            /* The result of a round whose critical cycle demands no larger K. */
            struct throughput result = {.kind = THROUGHPUT_STUCK, .exact = true};
            if (round.expansion.part_bits) return best;
            if (round.ratio.kind == CYCLE_RATIO_FINITE && !put_ratio(of, &round, &result))
                return throughput_unknown();
            name_critical(of, &round, &result);
            return result;
        }
    }
}

/* ---- components ---- */

struct components { /* of the net */
    uint32_t count;
    uint32_t *first_node, *nodes; /* by component, and one more */
    uint32_t *first_arc, *arcs;
};

static struct components find_net_components(struct arena *arena, const struct net *net)
{
    struct components to = {0};
    uint32_t *of_node = ARENA_ARRAY(arena, uint32_t, net->node_count);
    uint32_t *of_arc = ARENA_ARRAY(arena, uint32_t, net->arc_count);
    struct strong_arc *arcs = ARENA_ARRAY(arena, struct strong_arc, net->arc_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < net->arc_count; i++)
        if (!net->arcs[i].absent)
            arcs[count++] = (struct strong_arc){net->arcs[i].from, net->arcs[i].to};
    to.count = strong_components(arena, net->node_count, arcs, count, of_node);
    for (uint32_t i = 0; i < net->arc_count; i++) {
        const struct net_arc *arc = &net->arcs[i];
        bool inside = !arc->absent && of_node[arc->from] == of_node[arc->to];
        of_arc[i] = inside ? of_node[arc->from] : GRAPH_NONE;
    }
    struct buckets nodes = bucket_by(arena, of_node, sizeof *of_node, 0, net->node_count, to.count);
    to.first_node = nodes.first, to.nodes = nodes.items;
    struct buckets in_component =
        bucket_by(arena, of_arc, sizeof *of_arc, 0, net->arc_count, to.count);
    to.first_arc = in_component.first, to.arcs = in_component.items;
    return to;
}

/* Iterations of the component in one of the net. */
static void divide_component_cycles(struct component *of)
{
    of->common = 0;
    for (uint32_t i = 0; i < of->node_count; i++) {
        const struct net_node *node = &of->net->nodes[of->nodes[i]];
        of->common = gcd64(of->common, node->repetitions / node->phases);
    }
    for (uint32_t i = 0; i < of->node_count; i++) {
        const struct net_node *node = &of->net->nodes[of->nodes[i]];
        of->cycles[of->nodes[i]] = node->repetitions / node->phases / of->common;
        of->blocks[of->nodes[i]] = 1;
    }
}

/* A node by itself: its firings one after the other, or all at once. */
static struct throughput single_node_throughput(const struct component *of)
{
    uint32_t node = of->nodes[0];
    struct throughput result = {
        .kind = THROUGHPUT_UNBOUNDED, .exact = true, .critical_node = GRAPH_NONE};
    if (!of->stateful[node] || of->cost[node] == 0) return result;
    result.kind = THROUGHPUT_RATIO;
    result.critical_node = node;
    result.iterations = 1;
    return mul63(of->net->nodes[node].repetitions, of->cost[node], &result.cycles)
               ? result
               : throughput_unknown();
}

/* The slower of the two decides; of two that are as slow, an exact one, then the first. */
static void slow_down(struct throughput *whole, const struct throughput *part)
{
    int order = throughput_compare(part, whole);
    if (order < 0 || (order == 0 && part->exact && !whole->exact)) *whole = *part;
}

struct net_timing net_timing_of(struct arena *arena, const struct net *net,
                                const struct graph *graph)
{
    struct net_timing timing = {ARENA_ARRAY(arena, uint64_t, net->node_count),
                                ARENA_ARRAY(arena, bool, net->node_count)};
    for (uint32_t i = 0; i < net->node_count; i++) {
        if (net->nodes[i].node >= graph->nodes.count) continue;
        const struct graph_node *node = &graph->nodes.items[net->nodes[i].node];
        timing.cost[i] = node->cost_cycles;
        timing.stateful[i] = node->stateful;
    }
    return timing;
}

struct throughput throughput_of_net(struct arena *arena, const struct net *net,
                                    const uint64_t *cost, const bool *stateful, uint64_t *budget)
{
    struct throughput whole = {
        .kind = THROUGHPUT_UNBOUNDED, .exact = true, .critical_node = GRAPH_NONE};
    if (net->too_large) return throughput_unknown();
    struct arena *scratch = arena_create(), *memory = arena_create();
    struct components components = find_net_components(scratch, net);
    struct component of = {.arena = arena,
                           .net = net,
                           .cost = cost,
                           .stateful = stateful,
                           .cycles = ARENA_ARRAY(scratch, uint64_t, net->node_count),
                           .blocks = ARENA_ARRAY(scratch, uint64_t, net->node_count)};
    for (uint32_t c = components.count; c-- > 0;) {
        of.nodes = components.nodes + components.first_node[c];
        of.node_count = components.first_node[c + 1] - components.first_node[c];
        of.arcs = components.arcs + components.first_arc[c];
        of.arc_count = components.first_arc[c + 1] - components.first_arc[c];
        divide_component_cycles(&of);
        struct throughput part = of.arc_count == 0 ? single_node_throughput(&of)
                                                   : improve_component(&of, memory, budget);
        slow_down(&whole, &part);
    }
    arena_destroy(memory);
    arena_destroy(scratch);
    return whole;
}

/* ---- comparing ---- */

static int throughput_rank(const struct throughput *throughput)
{
    switch (throughput->kind) {
    case THROUGHPUT_STUCK: return 0;
    case THROUGHPUT_UNKNOWN: return 1;
    case THROUGHPUT_RATIO: return 2;
    case THROUGHPUT_UNBOUNDED: break;
    }
    return 3;
}

int throughput_compare(const struct throughput *a, const struct throughput *b)
{
    if (throughput_rank(a) != throughput_rank(b))
        return throughput_rank(a) < throughput_rank(b) ? -1 : 1;
    if (a->kind != THROUGHPUT_RATIO) return 0;
    uint128 left = (uint128)a->iterations * b->cycles, right = (uint128)b->iterations * a->cycles;
    return left < right ? -1 : left > right;
}

struct throughput throughput_scaled(struct throughput throughput, uint64_t num, uint64_t den)
{
    if (throughput.kind != THROUGHPUT_RATIO) return throughput;
    uint64_t common = gcd64(num, den);
    num /= common;
    den /= common;
    uint64_t up = gcd64(throughput.iterations, num), down = gcd64(throughput.cycles, den);
    throughput.iterations /= up;
    throughput.cycles /= down;
    if (!mul63(throughput.iterations, den / down, &throughput.iterations) ||
        !mul63(throughput.cycles, num / up, &throughput.cycles))
        return throughput_unknown();
    return throughput;
}
