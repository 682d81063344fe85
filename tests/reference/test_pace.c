/* SPDX-License-Identifier: MIT */
/*
 * Throughput and latency against the oracle, on random graphs, and on graphs with figures known by
 * hand.
 *
 *     N=100000 SEED=7 T='*random*' build/debug/tests/test_pace
 */
#include "tests/test.h"

#include "compiler/pace/performance.h"
#include "compiler/liveness/rate.h"
#include "compiler/pace/bufsize.h"
#include "tests/reference/oracle_build.h"
#include "tests/reference/oracle_draw.h"
#include "tests/unit/graph_fixture.h"

#include <assert.h>
#include <inttypes.h>

/* ---- random graphs ---- */

static unsigned environment(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

struct drawn {
    struct oracle_graph g;
    struct fixture *f;
    long q[ORACLE_NODES];
};

static const struct oracle_taste ANY = {.nodes = 5,
                                        .extra = 4,
                                        .backward = 30,
                                        .phases = 30,
                                        .window = 25,
                                        .second = 20,
                                        .keep = 8,
                                        .largest_cost = 6,
                                        .stateful = 50};

/* Some nodes write an out-port as well. */
static void add_ports(struct oracle_graph *g, unsigned *seed)
{
    for (int n = 0; n < g->node_count && g->buffer_count < ORACLE_BUFFERS; n++) {
        if (oracle_random(seed, 4) > 0) continue;
        struct oracle_buffer *buffer = &g->buffers[g->buffer_count++];
        assert(g->nodes[n].phases >= 1 && g->nodes[n].phases <= ORACLE_PHASES);
        memset(buffer, 0, sizeof *buffer);
        buffer->writer = n;
        buffer->width = 1;
        for (int p = 0; p < g->nodes[n].phases; p++)
            buffer->push[p] = (long)oracle_random(seed, 3);
        buffer->push[g->nodes[n].phases - 1]++;
    }
}

/* False: it is of no use. */
static bool draw(struct drawn *to, const struct oracle_taste *taste, unsigned seed)
{
    uint32_t index[ORACLE_NODES]; /* its own: there is no outside */
    oracle_draw(&to->g, taste, &seed);
    add_ports(&to->g, &seed);
    to->f = NULL;
    if (!oracle_repetitions(&to->g, 100000, to->q)) return false;
    to->f = oracle_build(&to->g, index);
    for (int b = 0; b < to->g.buffer_count; b++)
        if (to->g.buffers[b].reader_count == 0)
            to->f->graph.buffers.items[b].outer = GRAPH_OUTER_OUT;
    rate_solve(&to->f->cx, &to->f->graph);
    return to->f->graph.component_count == 1;
}

/* From what is too small to what is plenty. */
static void draw_depths(struct drawn *to, unsigned seed)
{
    bufsize_assign(&to->f->cx, &to->f->graph);
    bool sized = !diag_failed(to->f->cx.diags);
    for (int b = 0; b < to->g.buffer_count; b++) {
        uint64_t *depth = &to->f->graph.buffers.items[b].depth_packets;
        if (!sized) *depth = (uint64_t)to->g.buffers[b].initial + 1 + oracle_random(&seed, 8);
        *depth += oracle_random(&seed, 3) ? oracle_random(&seed, 4) : oracle_random(&seed, 12);
        if (*depth < 1) *depth = 1;
        to->g.buffers[b].depth = to->g.buffers[b].reader_count ? (long)*depth : 0;
    }
}

static void tell(const struct drawn *drawn, const struct pace *pace, struct oracle_pace truth,
                 unsigned seed)
{
    printf("// SEED=%u: %d %" PRIu64 "/%" PRIu64 "%s, but %d %ld/%ld\n", seed, pace->kind,
           pace->iterations, pace->cycles, pace->exact ? "" : " (bound)", truth.verdict,
           truth.iterations, truth.cycles);
    oracle_print(stdout, &drawn->g);
    for (int b = 0; b < drawn->g.buffer_count; b++)
        printf("// b%d: depth %ld\n", b, drawn->g.buffers[b].depth);
    fflush(stdout);
}

static bool agrees(const struct pace *pace, struct oracle_pace truth)
{
    if (truth.verdict == ORACLE_DEAD) return pace->kind == THROUGHPUT_STUCK;
    return pace->kind == THROUGHPUT_RATIO && pace->exact &&
           pace->iterations == (uint64_t)truth.iterations && pace->cycles == (uint64_t)truth.cycles;
}

/* Each hop leads to the next one over the buffer that it names. */
static void check_cycle(const struct drawn *drawn, const struct pace *pace)
{
    assert_true(pace->hop_count > 0);
    for (uint32_t i = 0; i < pace->hop_count; i++) {
        const struct pace_hop *hop = &pace->hops[i];
        assert_true(hop->node < drawn->f->graph.nodes.count);
        if (hop->buffer == GRAPH_NONE) {
            assert_int_equal(pace->hop_count, 1);
            assert_true(drawn->f->graph.nodes.items[hop->node].stateful);
            continue;
        }
        bool writes = drawn->f->graph.buffers.items[hop->buffer].writer_node == hop->node;
        assert_true(hop->room || writes);
    }
}

static void random_graphs_at_depths_run_as_fast_as_simulated(void **state)
{
    (void)state;
    unsigned seed = environment("SEED", 20260701u), count = environment("N", 600);
    unsigned compared = 0, stuck = 0;
    for (unsigned i = 0; i < count; i++) {
        struct drawn drawn;
        unsigned own = seed + i * 2654435761u;
        if (draw(&drawn, &ANY, own)) {
            draw_depths(&drawn, own);
            struct performance p = performance_measure(drawn.f->cx.arena, &drawn.f->graph, true);
            struct oracle_pace truth = oracle_pace(&drawn.g, drawn.q, ORACLE_AHEAD);
            if (truth.verdict != ORACLE_UNKNOWN) {
                compared++;
                stuck += truth.verdict == ORACLE_DEAD;
                if (!agrees(&p.at_depths, truth)) {
                    tell(&drawn, &p.at_depths, truth, own);
                    fail();
                }
                check_cycle(&drawn, &p.at_depths);
            }
        }
        if (drawn.f) fixture_free(drawn.f);
    }
    print_message("%u compared, %u of them stuck\n", compared, stuck);
    if (count >= 500) assert_true(compared > count / 2 && stuck > count / 20);
}

/* Where only cycles hold it up, more lead of the fastest node changes nothing. */
static void random_graphs_without_limit_run_as_fast_as_simulated(void **state)
{
    (void)state;
    unsigned seed = environment("SEED", 20260702u), count = environment("N", 600);
    unsigned compared = 0, unbounded = 0;
    struct oracle_taste taste = ANY;
    taste.backward = 45;
    for (unsigned i = 0; i < count; i++) {
        struct drawn drawn;
        unsigned own = seed + i * 2654435761u;
        if (draw(&drawn, &taste, own)) {
            struct performance p = performance_measure(drawn.f->cx.arena, &drawn.f->graph, false);
            struct oracle_pace truth = oracle_pace(&drawn.g, drawn.q, ORACLE_AHEAD);
            bool faster = false;
            if (p.unlimited.kind == THROUGHPUT_UNBOUNDED) {
                struct oracle_pace twice = oracle_pace(&drawn.g, drawn.q, 2 * ORACLE_AHEAD);
                faster = twice.verdict == ORACLE_UNKNOWN ||
                         twice.iterations * truth.cycles > truth.iterations * twice.cycles;
                if (truth.verdict == ORACLE_DEAD || !faster) tell(&drawn, &p.unlimited, truth, own);
                assert_true(truth.verdict != ORACLE_DEAD && faster);
                unbounded++;
            } else if (truth.verdict != ORACLE_UNKNOWN) {
                compared++;
                if (!agrees(&p.unlimited, truth)) {
                    tell(&drawn, &p.unlimited, truth, own);
                    fail();
                }
                check_cycle(&drawn, &p.unlimited);
            }
        }
        if (drawn.f) fixture_free(drawn.f);
    }
    print_message("%u compared, %u without limit\n", compared, unbounded);
    if (count >= 500) assert_true(compared > count / 3 && unbounded > count / 50);
}

static long first_result(const struct drawn *drawn)
{
    long first = -1;
    bool has_ports = false;
    for (int b = 0; b < drawn->g.buffer_count; b++)
        has_ports |= drawn->g.buffers[b].reader_count == 0;
    for (int k = 0; k < (has_ports ? drawn->g.buffer_count : drawn->g.node_count); k++) {
        long moment = -1;
        if (has_ports && drawn->g.buffers[k].reader_count == 0)
            moment = oracle_first_packet(&drawn->g, drawn->q, k, ORACLE_AHEAD);
        else if (!has_ports && drawn->f->graph.nodes.items[k].outputs.count == 0)
            moment = oracle_first_end(&drawn->g, drawn->q, k, ORACLE_AHEAD);
        if (moment >= 0 && (first < 0 || moment < first)) first = moment;
    }
    return first;
}

static void random_graphs_have_their_first_result_when_simulated(void **state)
{
    (void)state;
    unsigned seed = environment("SEED", 20260703u), count = environment("N", 600);
    unsigned compared = 0;
    struct oracle_taste taste = ANY;
    taste.backward = 15;
    for (unsigned i = 0; i < count; i++) {
        struct drawn drawn;
        unsigned own = seed + i * 2654435761u;
        if (draw(&drawn, &taste, own)) {
            draw_depths(&drawn, own);
            struct performance p = performance_measure(drawn.f->cx.arena, &drawn.f->graph, true);
            long truth = first_result(&drawn);
            if (p.at_depths.kind != THROUGHPUT_STUCK && truth >= 0) {
                compared++;
                if (!p.latency.known || (long)p.latency.cycles != truth) {
                    printf("// SEED=%u: latency %" PRIu64 ", but %ld\n", own, p.latency.cycles,
                           truth);
                    tell(&drawn, &p.at_depths, (struct oracle_pace){0}, own);
                    fail();
                }
            }
        }
        if (drawn.f) fixture_free(drawn.f);
    }
    print_message("%u compared\n", compared);
    if (count >= 500) assert_true(compared > count / 4);
}

/* ---- figures known by hand ---- */

static uint32_t add_node(struct fixture *f, const char *name, uint64_t cost, bool stateful)
{
    uint32_t node = fixture_node(f, name);
    f->graph.nodes.items[node].cost_cycles = cost;
    f->graph.nodes.items[node].stateful = stateful;
    return node;
}

static void expect_pace(const struct pace *pace, uint64_t iterations, uint64_t cycles)
{
    assert_int_equal(pace->kind, THROUGHPUT_RATIO);
    assert_true(pace->exact);
    assert_int_equal(pace->iterations, iterations);
    assert_int_equal(pace->cycles, cycles);
}

/* A ring of costs 2 and 3 with two packets: two iterations in 5 cycles, if neither has state. */
static void ring_runs_as_its_packets_allow(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = add_node(f, "a", 2, false), b = add_node(f, "b", 3, false);
    fixture_edge(f, "ab", a, 1, b, 1, 0, 2);
    fixture_edge(f, "ba", b, 1, a, 1, 2, 2);
    rate_solve(&f->cx, &f->graph);
    struct performance p = performance_measure(f->cx.arena, &f->graph, true);
    expect_pace(&p.unlimited, 2, 5);
    assert_int_equal(p.unlimited.hop_count, 2);
    f->graph.nodes.items[b].stateful = true;
    p = performance_measure(f->cx.arena, &f->graph, true);
    expect_pace(&p.unlimited, 1, 3);
    assert_int_equal(p.unlimited.hop_count, 1);
    assert_int_equal(p.unlimited.hops[0].node, b);
    fixture_free(f);
}

/* Repetition counts beyond 10^12: the last node has 160^6 firings of cost 1, one after the other. */
static void counts_of_trillions_are_exact(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t before = add_node(f, "n0", 1, false);
    for (int i = 1; i <= 6; i++) {
        uint32_t node = add_node(f, "n", 1, i == 6);
        fixture_edge(f, "e", before, 160, node, 147, 0, 306);
        before = node;
    }
    rate_solve(&f->cx, &f->graph);
    assert_false(diag_failed(f->cx.diags));
    struct performance p = performance_measure(f->cx.arena, &f->graph, true);
    expect_pace(&p.unlimited, 1, UINT64_C(16777216000000));
    assert_true(p.at_depths.kind == THROUGHPUT_RATIO);
    assert_true(throughput_compare(&(struct throughput){.kind = THROUGHPUT_RATIO,
                                                        .iterations = p.at_depths.iterations,
                                                        .cycles = p.at_depths.cycles},
                                   &(struct throughput){.kind = THROUGHPUT_RATIO,
                                                        .iterations = p.unlimited.iterations,
                                                        .cycles = p.unlimited.cycles}) <= 0);
    fixture_free(f);
}

/* Numbers of firings without a common divisor: heights are rounded.  The last node fires most often, at cost 1. */
static void rounded_heights_bound_the_pace_closely(void **state)
{
    (void)state;
    static const uint64_t firings[] = {1000003, 1000033, 1000037, 1000039, 1000081, 1000099};
    enum { NODES = sizeof firings / sizeof *firings };
    struct fixture *f = fixture_new();
    uint32_t before = add_node(f, "n0", 1, true);
    for (int i = 1; i < NODES; i++) {
        uint32_t node = add_node(f, "n", 1, true);
        uint64_t push = firings[i], pop = firings[i - 1];
        fixture_edge(f, "e", before, push, node, pop, 0, 4 * push * pop);
        before = node;
    }
    rate_solve(&f->cx, &f->graph);
    assert_false(diag_failed(f->cx.diags));
    struct pace pace = performance_measure(f->cx.arena, &f->graph, true).at_depths;
    assert_int_equal(pace.kind, THROUGHPUT_RATIO);
    assert_false(pace.exact);
    long double cycles = (long double)pace.cycles / (long double)pace.iterations;
    assert_true(cycles >= 1000099 && cycles < 1000100);
    fixture_free(f);
}

static void without_packets_nothing_moves(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = add_node(f, "a", 0, false), b = add_node(f, "b", 0, false);
    fixture_edge(f, "ab", a, 1, b, 1, 0, 2);
    uint32_t back = fixture_edge(f, "ba", b, 1, a, 1, 0, 2);
    rate_solve(&f->cx, &f->graph);
    struct performance p = performance_measure(f->cx.arena, &f->graph, false);
    assert_int_equal(p.unlimited.kind, THROUGHPUT_STUCK);
    assert_int_equal(p.at_depths.kind, THROUGHPUT_UNKNOWN);
    f->graph.buffers.items[back].initial.packets = 1;
    p = performance_measure(f->cx.arena, &f->graph, false);
    assert_int_equal(p.unlimited.kind, THROUGHPUT_UNBOUNDED); /* it costs nothing */
    fixture_free(f);
}

TEST_MAIN("pace", cmocka_unit_test(ring_runs_as_its_packets_allow),
          cmocka_unit_test(counts_of_trillions_are_exact),
          cmocka_unit_test(rounded_heights_bound_the_pace_closely),
          cmocka_unit_test(without_packets_nothing_moves),
          cmocka_unit_test(random_graphs_at_depths_run_as_fast_as_simulated),
          cmocka_unit_test(random_graphs_without_limit_run_as_fast_as_simulated),
          cmocka_unit_test(random_graphs_have_their_first_result_when_simulated))
