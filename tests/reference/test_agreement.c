/* SPDX-License-Identifier: MIT */
/*
 * The analyses against the oracle, on random graphs.
 *
 *     N=100000 SEED=7 T='*depths*' build/debug/tests/test_agreement
 *
 * N graphs are drawn for each test (default 1500, in `make check` a third) from SEED on (default 20260611), each from a seed
 * of its own: what disagrees is made smaller and printed as a program, with the seed that draws it.
 *
 * The compiler's answers about one graph are copied into `struct figures`; a judge compares them
 * with the oracle.  Each judge is judged as well: it has to find wrong figures, which are planted.
 */
#include "tests/test.h"

#include "compiler/liveness/rate.h"
#include "compiler/liveness/deadlock.h"
#include "compiler/pace/bufsize.h"
#include "tests/reference/oracle_build.h"
#include "tests/reference/oracle_draw.h"

#include <inttypes.h>

struct figures {
    bool consistent, live, accepted; /* the rates; with unbounded buffers; with declared depths */
    long repetitions[ORACLE_NODES];
    long depths[ORACLE_BUFFERS], least[ORACLE_BUFFERS];
};

/* ---- the compiler's answers ---- */

static void take_repetitions(const struct oracle_graph *g, const struct fixture *f,
                             const uint32_t *index, struct figures *figures)
{
    for (int n = 0; n < g->node_count; n++)
        if (index[n] != GRAPH_NONE)
            figures->repetitions[n] = (long)f->graph.nodes.items[index[n]].repetitions;
}

static void take_depths(const struct oracle_graph *g, const struct fixture *f,
                        struct figures *figures)
{
    for (int b = 0; b < g->buffer_count; b++) {
        figures->depths[b] = (long)f->graph.buffers.items[b].depth_packets;
        figures->least[b] = (long)f->graph.buffers.items[b].depth_min_packets;
    }
}

static struct figures ask(const struct oracle_graph *g)
{
    struct figures figures;
    uint32_t index[ORACLE_NODES];
    memset(&figures, 0, sizeof figures);
    struct fixture *f = oracle_build(g, index);
    rate_solve(&f->cx, &f->graph);
    figures.consistent = !diag_failed(f->cx.diags);
    take_repetitions(g, f, index, &figures);
    if (figures.consistent) deadlock_check(&f->cx, &f->graph);
    figures.live = !diag_failed(f->cx.diags);
    if (figures.live) bufsize_assign(&f->cx, &f->graph);
    figures.accepted = !diag_failed(f->cx.diags);
    take_depths(g, f, &figures);
    fixture_free(f);
    return figures;
}

/* ---- the judges: NULL, or what is wrong ---- */

typedef const char *(*judge)(const struct oracle_graph *g, const struct figures *figures);

enum { CYCLES_MOST = 100000 };

static const char *judge_rates(const struct oracle_graph *g, const struct figures *figures)
{
    long q[ORACLE_NODES];
    if (oracle_repetitions(g, CYCLES_MOST, q) != figures->consistent) return "consistency";
    for (int n = 0; figures->consistent && n < g->node_count; n++)
        if (!g->nodes[n].outside && q[n] != figures->repetitions[n]) return "repetitions";
    return NULL;
}

static void unlimit(struct oracle_graph *g, bool declared_as_well)
{
    for (int b = 0; b < g->buffer_count; b++)
        if (declared_as_well || !g->buffers[b].declared) g->buffers[b].depth = 0;
}

static const char *judge_deadlock(const struct oracle_graph *g, const struct figures *figures)
{
    long q[ORACLE_NODES];
    struct oracle_graph free = *g;
    if (!oracle_repetitions(g, CYCLES_MOST, q)) return NULL;
    unlimit(&free, true);
    bool live = oracle_verdict(&free, q, 0) == ORACLE_LIVE;
    return live == figures->live ? NULL : live ? "live, but refused" : "dead, but accepted";
}

static bool runs(const struct oracle_graph *g, const long *q)
{
    for (int b = 0; b < g->buffer_count; b++)
        if (g->buffers[b].depth && g->buffers[b].depth < g->buffers[b].initial) return false;
    return oracle_verdict(g, q, 0) == ORACLE_LIVE;
}

static const char *judge_declared(const struct oracle_graph *g, const struct figures *figures)
{
    long q[ORACLE_NODES];
    struct oracle_graph given = *g;
    if (!figures->live || !oracle_repetitions(g, CYCLES_MOST, q)) return NULL;
    unlimit(&given, false);
    bool live = runs(&given, q);
    return live == figures->accepted ? NULL
           : live                    ? "declared depths do, but refused"
                                     : "declared depths block, but accepted";
}

static const char *judge_depths(const struct oracle_graph *g, const struct figures *figures)
{
    static char text[80];
    long q[ORACLE_NODES];
    if (!figures->accepted || !oracle_repetitions(g, CYCLES_MOST, q)) return NULL;
    struct oracle_graph sized = *g;
    for (int b = 0; b < g->buffer_count; b++)
        if (figures->depths[b] < 1 ||
            (g->buffers[b].declared && figures->depths[b] != g->buffers[b].depth))
            return "a depth is not the declared one, or none";
        else
            sized.buffers[b].depth = figures->depths[b];
    if (!runs(&sized, q)) return "the depths found block";
    for (int b = 0; b < g->buffer_count; b++) {
        snprintf(text, sizeof text, "depth_min_packets of b%d", b);
        sized.buffers[b].depth = figures->least[b];
        if (figures->least[b] < 1 || !runs(&sized, q)) return text;
        if (--sized.buffers[b].depth > 0 && runs(&sized, q)) return text;
        sized.buffers[b].depth = figures->depths[b];
    }
    return NULL;
}

/* ---- drawing, comparing, telling ---- */

static const struct oracle_taste ANY = {.nodes = 6,
                                        .extra = 4,
                                        .backward = 25,
                                        .phases = 30,
                                        .window = 25,
                                        .second = 20,
                                        .outside = 40,
                                        .keep = 8,
                                        .apart = 4,
                                        .largest_cost = 6,
                                        .stateful = 50};

/* Some depths are declared, near what is needed. */
static void declare(struct oracle_graph *g, unsigned *seed)
{
    struct figures figures = ask(g);
    if (!figures.accepted) return;
    for (int b = 0; b < g->buffer_count; b++) {
        if (oracle_random(seed, 3) > 0 || g->nodes[g->buffers[b].writer].outside) continue;
        g->buffers[b].declared = true;
        g->buffers[b].depth = figures.least[b] - 2 + (long)oracle_random(seed, 5);
        if (g->buffers[b].depth < 1) g->buffers[b].depth = 1;
    }
}

struct trial {
    const struct oracle_taste *taste;
    bool declare;
    judge judge;
};

static bool disagrees(const struct oracle_graph *g, void *context)
{
    const struct trial *trial = context;
    struct figures figures = ask(g);
    return trial->judge(g, &figures) != NULL;
}

static void tell(const struct oracle_graph *g, struct trial *trial, unsigned seed)
{
    struct oracle_graph small = *g;
    oracle_shrink(&small, disagrees, trial);
    struct figures figures = ask(&small);
    printf("// %s (SEED=%u N=1)\n", trial->judge(&small, &figures), seed);
    oracle_print(stdout, &small);
    for (int b = 0; figures.accepted && b < small.buffer_count; b++)
        printf("// b%d: depth %ld, least %ld\n", b, figures.depths[b], figures.least[b]);
    fflush(stdout);
}

static struct oracle_graph draw(const struct trial *trial, unsigned seed)
{
    struct oracle_graph g;
    oracle_draw(&g, trial->taste, &seed);
    if (trial->declare) declare(&g, &seed);
    return g;
}

/* Returns how many figures `counted` holds for. */
static unsigned compare(struct trial *trial, bool (*counted)(const struct figures *))
{
    unsigned seed = oracle_environment("SEED", 20260611u),
             count = oracle_environment("N", 1500 / (unsigned)draw_step()), held = 0;
    print_message("SEED=%u N=%u\n", seed, count);
    for (unsigned i = 0; i < count; i++) {
        struct oracle_graph g = draw(trial, oracle_own_seed(seed, i));
        struct figures figures = ask(&g);
        held += counted(&figures);
        if (!trial->judge(&g, &figures)) continue;
        tell(&g, trial, oracle_own_seed(seed, i));
        fail();
    }
    print_message("%u of them\n", held);
    if (count >= 500) assert_true(held > count / 10 && held < count - count / 10);
    return held;
}

/* A judge that accepts a wrong figure is none.  `plant` makes one wrong; false: not in these. */
static void expect_found(struct trial *trial,
                         bool (*plant)(struct figures *, const struct oracle_graph *))
{
    unsigned planted = 0;
    for (unsigned i = 0; i < 200; i++) {
        struct oracle_graph g = draw(trial, oracle_own_seed(5, i));
        struct figures figures = ask(&g);
        if (!plant(&figures, &g)) continue;
        planted++;
        assert_non_null(trial->judge(&g, &figures));
    }
    assert_true(planted > 20);
}

/* ---- the tests ---- */

static bool is_consistent(const struct figures *figures)
{
    return figures->consistent;
}
static bool is_live(const struct figures *figures)
{
    return figures->live;
}
static bool is_accepted(const struct figures *figures)
{
    return figures->accepted;
}

static bool twice_as_often(struct figures *figures, const struct oracle_graph *g)
{
    for (int n = 0; n < g->node_count; n++)
        figures->repetitions[n] *= 2;
    return figures->consistent;
}
static bool other_rates(struct figures *figures, const struct oracle_graph *g)
{
    (void)g;
    figures->consistent = !figures->consistent;
    return true;
}

static void rates_agree(void **state)
{
    (void)state;
    struct oracle_taste taste = ANY;
    taste.unbalanced = 60;
    taste.apart = 20;
    struct trial trial = {&taste, false, judge_rates};
    expect_found(&trial, twice_as_often);
    expect_found(&trial, other_rates);
    compare(&trial, is_consistent);
}

static bool other_verdict(struct figures *figures, const struct oracle_graph *g)
{
    (void)g;
    figures->live = !figures->live;
    return figures->consistent;
}

static void deadlocks_agree(void **state)
{
    (void)state;
    struct oracle_taste taste = ANY;
    taste.backward = 40;
    struct trial trial = {&taste, false, judge_deadlock};
    expect_found(&trial, other_verdict);
    compare(&trial, is_live);
}

static bool other_acceptance(struct figures *figures, const struct oracle_graph *g)
{
    (void)g;
    figures->accepted = !figures->accepted;
    return figures->live;
}

static void declared_depths_agree(void **state)
{
    (void)state;
    struct trial trial = {&ANY, true, judge_declared};
    expect_found(&trial, other_acceptance);
    compare(&trial, is_accepted);
}

static bool one_too_shallow(struct figures *figures, const struct oracle_graph *g)
{
    for (int b = 0; figures->accepted && b < g->buffer_count; b++)
        if (figures->depths[b] == figures->least[b] && figures->depths[b] > 1 &&
            !g->buffers[b].declared) {
            figures->depths[b]--;
            return true;
        }
    return false;
}
static bool least_too_large(struct figures *figures, const struct oracle_graph *g)
{
    if (figures->accepted && g->buffer_count) figures->least[0]++;
    return figures->accepted && g->buffer_count;
}
static bool least_too_small(struct figures *figures, const struct oracle_graph *g)
{
    if (figures->accepted && g->buffer_count) figures->least[g->buffer_count - 1]--;
    return figures->accepted && g->buffer_count;
}

static void depths_found_are_enough_and_least(void **state)
{
    (void)state;
    struct trial trial = {&ANY, true, judge_depths};
    expect_found(&trial, one_too_shallow);
    expect_found(&trial, least_too_large);
    expect_found(&trial, least_too_small);
    compare(&trial, is_accepted);
}

TEST_MAIN("agreement", cmocka_unit_test(rates_agree), cmocka_unit_test(deadlocks_agree),
          cmocka_unit_test(declared_depths_agree),
          cmocka_unit_test(depths_found_are_enough_and_least))
