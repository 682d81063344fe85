/* SPDX-License-Identifier: MIT */
/*
 * throughput_of_net against self-timed execution, on random graphs with and without depths: the
 * pace, and that the critical cycle is one.  N, SEED and T as in test_agreement.
 */
#include "tests/test.h"

#include "compiler/pace/throughput.h"
#include "compiler/liveness/rate.h"
#include "compiler/liveness/deadlock.h"
#include "compiler/pace/bufsize.h"
#include "tests/reference/oracle_build.h"
#include "tests/reference/oracle_draw.h"

enum { CYCLES_MOST = 100000, FEW = 14, MANY = 29 };

struct figures {
    enum throughput_kind kind;
    long iterations, cycles;
    bool exact;
    bool critical[ORACLE_NODES]; /* on the critical cycle */
};

/* ---- the compiler's answer ---- */

/* All channels at once: throughput is no question of blocks. */
static struct net *whole_net(struct arena *arena, const struct channels *channels,
                             const struct net_depth *depths)
{
    struct channel_block all = {ARENA_ARRAY(arena, uint32_t, channels->count), channels->count};
    for (uint32_t c = 0; c < channels->count; c++)
        all.channels[c] = c;
    return net_create(arena, channels, &all, depths);
}

static void mark_critical(const struct net *net, const struct throughput *found,
                          const uint32_t *index, int node_count, struct figures *figures)
{
    for (int n = 0; n < node_count; n++) {
        if (index[n] == GRAPH_NONE) continue;
        for (uint32_t c = 0; c < found->critical_count; c++)
            if (net->nodes[net->arcs[found->critical[c]].to].node == index[n])
                figures->critical[n] = true;
        if (found->critical_count == 0 && found->critical_node != GRAPH_NONE &&
            net->nodes[found->critical_node].node == index[n])
            figures->critical[n] = true;
    }
}

/* Each arc once, so a walk that comes by a node again is not in its order; but what is entered is
 * left. */
static bool is_cycle(const struct net *net, const struct throughput *found)
{
    for (uint32_t c = 0; c < found->critical_count; c++) {
        bool left = false, entered = false;
        for (uint32_t k = 0; k < found->critical_count; k++) {
            left |= net->arcs[found->critical[c]].to == net->arcs[found->critical[k]].from;
            entered |= net->arcs[found->critical[c]].from == net->arcs[found->critical[k]].to;
        }
        if (!left || !entered) return false;
    }
    return true;
}

static struct figures ask(const struct oracle_graph *g, bool bounded)
{
    struct figures figures = {.kind = THROUGHPUT_UNKNOWN};
    uint32_t index[ORACLE_NODES];
    struct fixture *f = oracle_build(g, index);
    rate_solve(&f->cx, &f->graph);
    assert_false(diag_failed(f->cx.diags));
    struct arena *arena = f->cx.arena;
    struct channels channels = channels_collect(arena, &f->graph, CHANNELS_OUTER);
    struct net_depth *depths = ARENA_ARRAY(arena, struct net_depth, ORACLE_BUFFERS);
    for (int b = 0; b < g->buffer_count; b++)
        depths[b] = (struct net_depth){(uint64_t)g->buffers[b].depth, false};
    struct net *net = whole_net(arena, &channels, bounded ? depths : NULL);
    uint64_t *cost = ARENA_ARRAY(arena, uint64_t, net->node_count + 1), budget = 1000000000;
    bool *stateful = ARENA_ARRAY(arena, bool, net->node_count + 1);
    for (uint32_t n = 0; n < net->node_count; n++) {
        if (net->nodes[n].node >= f->graph.nodes.count) continue;
        cost[n] = f->graph.nodes.items[net->nodes[n].node].cost_cycles;
        stateful[n] = f->graph.nodes.items[net->nodes[n].node].stateful;
    }
    struct throughput found = throughput_of_net(arena, net, cost, stateful, &budget);
    figures.kind = found.kind;
    figures.iterations = (long)found.iterations;
    figures.cycles = (long)found.cycles;
    figures.exact = found.exact;
    assert_true(is_cycle(net, &found));
    if (found.kind == THROUGHPUT_RATIO) mark_critical(net, &found, index, g->node_count, &figures);
    fixture_free(f);
    return figures;
}

/* ---- the oracle's ---- */

struct measured {
    enum throughput_kind kind;
    long iterations, cycles;
};

static bool same_pace(struct oracle_pace a, struct oracle_pace b)
{
    return a.iterations * b.cycles == b.iterations * a.cycles;
}

/* If a larger lead makes the graph faster, nothing else limits it. */
static struct measured measure(const struct oracle_graph *g)
{
    long q[ORACLE_NODES];
    assert_true(oracle_repetitions(g, CYCLES_MOST, q));
    for (int ahead = FEW; ahead <= 16 * FEW; ahead *= 2) {
        struct oracle_pace few = oracle_pace(g, q, ahead), many = oracle_pace(g, q, 2 * ahead + 1);
        if (few.verdict == ORACLE_DEAD) return (struct measured){THROUGHPUT_STUCK, 0, 0};
        if (few.verdict == ORACLE_UNKNOWN || many.verdict == ORACLE_UNKNOWN)
            return (struct measured){THROUGHPUT_UNKNOWN, 0, 0};
        if (same_pace(few, many))
            return (struct measured){THROUGHPUT_RATIO, many.iterations, many.cycles};
    }
    return (struct measured){THROUGHPUT_UNBOUNDED, 0, 0};
}

/* Slower nodes on it make the whole slower; faster ones beside it change nothing. */
static const char *judge_critical(const struct oracle_graph *g, const struct figures *figures)
{
    long q[ORACLE_NODES];
    assert_true(oracle_repetitions(g, CYCLES_MOST, q));
    struct oracle_graph faster = *g;
    struct oracle_pace pace = {ORACLE_LIVE, figures->iterations, figures->cycles};
    bool any = false;
    for (int n = 0; n < g->node_count; n++) {
        if (!figures->critical[n]) {
            if (!g->nodes[n].outside) faster.nodes[n].cost = 1;
            continue;
        }
        struct oracle_graph slower = *g;
        slower.nodes[n].cost++;
        struct oracle_pace then = oracle_pace(&slower, q, MANY);
        if (then.verdict == ORACLE_LIVE &&
            then.iterations * pace.cycles >= pace.iterations * then.cycles)
            return "a node of the critical cycle can be slower without a loss";
        any = true;
    }
    if (!any) return "no critical cycle";
    struct oracle_pace then = oracle_pace(&faster, q, MANY);
    return then.verdict != ORACLE_LIVE || same_pace(then, pace)
               ? NULL
               : "faster beside the critical cycle is faster";
}

static const char *judge(const struct oracle_graph *g, const struct figures *figures)
{
    struct measured measured = measure(g);
    if (measured.kind == THROUGHPUT_UNKNOWN) return NULL;
    if (measured.kind != figures->kind) return "kind";
    if (measured.kind != THROUGHPUT_RATIO) return NULL;
    if (measured.iterations != figures->iterations || measured.cycles != figures->cycles)
        return "ratio";
    return figures->exact ? judge_critical(g, figures) : "said not to be exact";
}

/* ---- drawing, comparing, telling ---- */

static const struct oracle_taste ANY = {.nodes = 5,
                                        .extra = 3,
                                        .backward = 30,
                                        .phases = 30,
                                        .window = 20,
                                        .second = 15,
                                        .outside = 40,
                                        .largest_cost = 6,
                                        .stateful = 45};

/* Depths near the minimum. */
static void give_depths(struct oracle_graph *g, unsigned *seed)
{
    uint32_t index[ORACLE_NODES];
    struct fixture *f = oracle_build(g, index);
    rate_solve(&f->cx, &f->graph);
    deadlock_check(&f->cx, &f->graph);
    if (!diag_failed(f->cx.diags)) bufsize_assign(&f->cx, &f->graph);
    for (int b = 0; b < g->buffer_count; b++) {
        uint64_t least = f->graph.buffers.items[b].depth_packets;
        g->buffers[b].depth = (long)(least ? least : 8) + (long)oracle_random(seed, 4);
    }
    if (oracle_random(seed, 8) == 0 && g->buffers[0].depth > g->buffers[0].initial + 1)
        g->buffers[0].depth--;
    fixture_free(f);
}

static struct oracle_graph draw(unsigned seed, bool bounded)
{
    struct oracle_graph g;
    oracle_draw(&g, &ANY, &seed);
    if (bounded) give_depths(&g, &seed);
    return g;
}

/* A node without a buffer is in no net. */
static bool all_bound(const struct oracle_graph *g)
{
    bool bound[ORACLE_NODES] = {false};
    for (int b = 0; b < g->buffer_count; b++) {
        bound[g->buffers[b].writer] = true;
        for (int r = 0; r < g->buffers[b].reader_count; r++)
            bound[g->buffers[b].readers[r].node] = true;
    }
    for (int n = 0; n < g->node_count; n++)
        if (!bound[n]) return false;
    return true;
}

static bool disagrees(const struct oracle_graph *g, void *context)
{
    long q[ORACLE_NODES];
    const bool *bounded = context;
    if (!all_bound(g) || !oracle_repetitions(g, CYCLES_MOST, q)) return false;
    if (*bounded)
        for (int b = 0; b < g->buffer_count; b++)
            if (g->buffers[b].depth < 1) return false;
    struct figures figures = ask(g, *bounded);
    return judge(g, &figures) != NULL;
}

static void tell(const struct oracle_graph *g, bool bounded, unsigned seed)
{
    struct oracle_graph small = *g;
    oracle_shrink(&small, disagrees, &bounded);
    for (int b = 0; b < small.buffer_count; b++)
        small.buffers[b].declared = bounded;
    struct figures figures = ask(&small, bounded);
    struct measured measured = measure(&small);
    printf("// %s (SEED=%u N=1)\n", judge(&small, &figures), seed);
    printf("// kind %d, %ld/%ld, exact %d; measured kind %d, %ld/%ld\n", figures.kind,
           figures.iterations, figures.cycles, figures.exact, measured.kind, measured.iterations,
           measured.cycles);
    oracle_print(stdout, &small);
    fflush(stdout);
}

static void compare(bool bounded)
{
    unsigned seed = oracle_environment("SEED", 20260611u), count = oracle_environment("N", 2000);
    unsigned kinds[4] = {0};
    print_message("SEED=%u N=%u\n", seed, count);
    for (unsigned i = 0; i < count; i++) {
        struct oracle_graph g = draw(oracle_own_seed(seed, i), bounded);
        if (!all_bound(&g)) continue;
        struct figures figures = ask(&g, bounded);
        kinds[figures.kind]++;
        if (!judge(&g, &figures)) continue;
        tell(&g, bounded, oracle_own_seed(seed, i));
        fail();
    }
    print_message("%u unbounded, %u ratios, %u stuck, %u unknown\n", kinds[0], kinds[1], kinds[2],
                  kinds[3]);
    if (count >= 500) assert_true(kinds[THROUGHPUT_RATIO] > count / 4);
}

/* ---- the tests ---- */

static void maximum_is_what_execution_reaches(void **state)
{
    (void)state;
    compare(false);
}

static void pace_at_depths_is_what_execution_reaches(void **state)
{
    (void)state;
    compare(true);
}

static void wrong_paces_are_found(void **state)
{
    (void)state;
    unsigned planted = 0;
    for (unsigned i = 0; i < 200; i++) {
        struct oracle_graph g = draw(oracle_own_seed(3, i), i % 2);
        if (!all_bound(&g)) continue;
        struct figures right = ask(&g, i % 2), wrong = right;
        if (right.kind != THROUGHPUT_RATIO || measure(&g).kind == THROUGHPUT_UNKNOWN) continue;
        planted++;
        wrong.cycles++;
        assert_non_null(judge(&g, &wrong));
        wrong = right;
        memset(wrong.critical, false, sizeof wrong.critical);
        assert_non_null(judge(&g, &wrong));
        wrong = right;
        wrong.kind = THROUGHPUT_UNBOUNDED;
        assert_non_null(judge(&g, &wrong));
    }
    assert_true(planted > 50);
}

TEST_MAIN("pace_agreement", cmocka_unit_test(maximum_is_what_execution_reaches),
          cmocka_unit_test(pace_at_depths_is_what_execution_reaches),
          cmocka_unit_test(wrong_paces_are_found))
