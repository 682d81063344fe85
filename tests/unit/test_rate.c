/* SPDX-License-Identifier: MIT */
/* rate_solve: named graphs, and random multigraphs against an exhaustive search for repetition
 * vectors. */
#include "tests/test.h"

#include "compiler/liveness/rate.h"
#include "tests/unit/graph_reference.h"

static bool solve(struct fixture *f)
{
    rate_solve(&f->cx, &f->graph);
    return !diag_failed(f->cx.diags);
}

static void compact_disc_to_tape_has_its_known_counts(void **state)
{
    (void)state;
    static const uint64_t push[] = {1, 2, 2, 8, 5}, pop[] = {1, 3, 7, 7, 1};
    static const uint64_t counts[] = {147, 147, 98, 28, 32, 160};
    struct fixture *f = fixture_new();
    uint32_t node[6];
    for (int i = 0; i < 6; i++)
        node[i] = fixture_node(f, "stage");
    for (int i = 0; i < 5; i++)
        fixture_edge(f, "b", node[i], push[i], node[i + 1], pop[i], 0, 0);
    assert_true(solve(f));
    for (int i = 0; i < 6; i++)
        assert_int_equal(fixture_repetitions(f, node[i]), counts[i]);
    assert_int_equal(f->graph.component_count, 1);
    fixture_free(f);
}

static void contradiction_is_told_as_a_balance(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b");
    fixture_edge(f, "first", a, 2, b, 1, 0, 0);
    fixture_edge(f, "second", a, 3, b, 2, 0, 0);
    assert_false(solve(f));
    char *text = fixture_messages(f);
    assert_non_null(strstr(text, "'a' writes 3 packets per firing and fires 1 time, 'b' reads 2 "
                                 "and fires 2 times [inconsistent-rates]"));
    assert_non_null(strstr(text, "1 x 3 = 3 is not 2 x 2 = 4"));
    assert_non_null(strstr(text, "3 : 4"));
    assert_non_null(strstr(text, "'first': 'a' writes 2 per firing, 'b' reads 1"));
    free(text);
    fixture_free(f);
}

static void every_other_edge_of_the_cycle_is_named(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t n[4];
    for (int i = 0; i < 4; i++)
        n[i] = fixture_node(f, (const char *[]){"a", "b", "c", "d"}[i]);
    fixture_edge(f, "ab", n[0], 1, n[1], 1, 0, 0);
    fixture_edge(f, "ac", n[0], 1, n[2], 1, 0, 0);
    fixture_edge(f, "bd", n[1], 2, n[3], 1, 0, 0);
    fixture_edge(f, "cd", n[2], 1, n[3], 1, 0, 0);
    assert_false(solve(f));
    char *text = fixture_messages(f);
    assert_int_equal(diag_error_count(f->cx.diags), 1);
    assert_non_null(strstr(text, "the rates at 'cd' do not balance"));
    assert_non_null(strstr(text, "'ab':"));
    assert_non_null(strstr(text, "'ac':"));
    assert_non_null(strstr(text, "'bd':"));
    free(text);
    fixture_free(f);
}

static void self_loop_must_balance(void **state)
{
    (void)state;
    for (uint64_t pop = 1; pop < 4; pop++) {
        struct fixture *f = fixture_new();
        uint32_t a = fixture_node(f, "a");
        fixture_edge(f, "loop", a, 2, a, pop, 9, 0);
        assert_int_equal(solve(f), pop == 2);
        if (pop != 2) fixture_expect_text(f, "'a' writes 2 packets per firing and reads");
        fixture_free(f);
    }
}

static void readers_of_one_buffer_each_balance(void **state)
{
    (void)state;
    for (uint64_t third = 1; third < 4; third++) {
        struct fixture *f = fixture_new();
        uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b"), c = fixture_node(f, "c");
        uint32_t shared = fixture_buffer(f, "shared", 0, 0);
        fixture_write(f, a, shared, 6);
        fixture_read(f, b, shared, 2, 2);
        fixture_read(f, c, shared, third, third);
        fixture_edge(f, "bc", b, 1, c, 1, 0, 0);
        assert_int_equal(solve(f), third == 2);
        if (third != 2) fixture_expect_text(f, "do not balance");
        fixture_free(f);
    }
}

static void shared_in_port_ties_its_readers(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t port = fixture_port(f, "rf", GRAPH_OUTER_IN),
             out = fixture_port(f, "o", GRAPH_OUTER_OUT);
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b"), c = fixture_node(f, "c");
    fixture_read(f, a, port, 2, 2);
    fixture_read(f, b, port, 3, 5);
    fixture_write(f, c, out, 0);
    fixture_read(f, c, fixture_port(f, "other", GRAPH_OUTER_IN), 7, 7);
    assert_true(solve(f));
    assert_int_equal(fixture_repetitions(f, a), 3);
    assert_int_equal(fixture_repetitions(f, b), 2);
    assert_int_equal(fixture_repetitions(f, c), 1);
    assert_int_equal(f->graph.component_count, 2);
    assert_int_equal(f->graph.nodes.items[c].component, 1);
    fixture_free(f);
}

static void rate_of_zero_on_one_side_is_invalid(void **state)
{
    (void)state;
    for (int push = 0; push < 2; push++) {
        for (int pop = 0; pop < 2; pop++) {
            for (uint64_t initial = 0; initial < 2; initial++) {
                struct fixture *f = fixture_new();
                uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b");
                uint32_t buffer = fixture_buffer(f, "x", initial, 0);
                fixture_write(f, a, buffer, (uint64_t)push);
                fixture_read(f, b, buffer, (uint64_t)pop, 1);
                fixture_edge(f, "ab", a, 1, b, 1, 0, 0);
                bool works = push == pop && (push || initial);
                assert_int_equal(solve(f), works);
                if (!works) fixture_expect_text(f, "[invalid-rate]");
                fixture_free(f);
            }
        }
    }
}

static struct fixture *resampling_chain(int stages)
{
    struct fixture *f = fixture_new();
    uint32_t node = fixture_node(f, "n0");
    for (int i = 1; i <= stages; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        uint32_t next = fixture_node(f, name);
        fixture_edge(f, "b", node, 160, next, 147, 0, 0);
        node = next;
    }
    return f;
}

static void overflow_is_refused_and_large_counts_are_not(void **state)
{
    (void)state;
    struct fixture *f = resampling_chain(7);
    assert_true(solve(f));
    uint64_t count = 1;
    for (int i = 0; i < 7; i++)
        count *= 147;
    assert_int_equal(fixture_repetitions(f, 0), count);
    fixture_free(f);
    f = resampling_chain(2000);
    assert_false(solve(f));
    fixture_expect_text(f, "[rate-overflow]");
    fixture_free(f);
}

static void ten_thousand_nodes_are_solved(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t node = fixture_node(f, "n");
    for (int i = 1; i < 10000; i++) {
        uint32_t next = fixture_node(f, "n");
        fixture_edge(f, "b", node, i % 2 ? 3 : 2, next, i % 2 ? 2 : 3, 0, 0);
        node = next;
    }
    assert_true(solve(f));
    fixture_free(f);
}

/* ---- random multigraphs against exhaustive search ---- */

enum { SEARCH_MAX = 64 };

static bool balanced(const struct ref_graph *g, const int *q, int nodes_set)
{
    for (int b = 0; b < g->buffer_count; b++) {
        const struct ref_buffer *buffer = &g->buffers[b];
        for (int r = 0; r < buffer->reader_count; r++)
            if (buffer->writer < nodes_set && buffer->reader[r] < nodes_set &&
                q[buffer->writer] * buffer->push != q[buffer->reader[r]] * buffer->pop[r])
                return false;
    }
    return true;
}

/* The smallest vector by depth-first search; the graph is connected in order of index, so the first
 * found is least. */
static bool search(const struct ref_graph *g, int *q, int node)
{
    if (node == g->node_count) return true;
    for (q[node] = 1; q[node] <= SEARCH_MAX; q[node]++)
        if (balanced(g, q, node + 1) && search(g, q, node + 1)) return true;
    return false;
}

static void random_rates(struct ref_graph *g, unsigned *seed)
{
    memset(g, 0, sizeof *g);
    g->node_count = 2 + ref_pick(seed, 4);
    int extra = ref_pick(seed, 3);
    for (int e = 0; e < g->node_count - 1 + extra; e++) {
        struct ref_buffer *buffer = &g->buffers[g->buffer_count++];
        bool tree = e < g->node_count - 1;
        int a = tree ? e + 1 : ref_pick(seed, g->node_count);
        int b = tree ? ref_pick(seed, e + 1) : ref_pick(seed, g->node_count);
        bool turned = ref_pick(seed, 2);
        buffer->writer = turned ? a : b;
        buffer->reader[0] = turned ? b : a;
        buffer->reader[1] = ref_pick(seed, g->node_count);
        buffer->reader_count = 1 + (ref_pick(seed, 6) == 0);
        buffer->push = 1 + ref_pick(seed, tree ? 4 : 2);
        for (int r = 0; r < 2; r++)
            buffer->pop[r] = buffer->peek[r] = 1 + ref_pick(seed, tree ? 4 : 2);
    }
}

static void random_multigraphs_agree_with_exhaustive_search(void **state)
{
    (void)state;
    unsigned seed = 5150u;
    int consistent = 0, inconsistent = 0;
    print_message("seed %u\n", seed);
    for (int i = 0; i < 3000; i++) {
        struct ref_graph g;
        int q[REF_NODES] = {0};
        random_rates(&g, &seed);
        struct fixture *f = ref_build(&g);
        bool works = solve(f);
        if (works) {
            bool small = true;
            for (int n = 0; n < g.node_count; n++)
                small &= fixture_repetitions(f, (uint32_t)n) <= SEARCH_MAX;
            if (small) {
                assert_true(search(&g, q, 0));
                for (int n = 0; n < g.node_count; n++)
                    assert_int_equal(fixture_repetitions(f, (uint32_t)n), q[n]);
                consistent++;
            }
        } else {
            assert_false(search(&g, q, 0));
            inconsistent++;
        }
        fixture_free(f);
    }
    print_message("%d consistent, %d inconsistent\n", consistent, inconsistent);
    assert_true(consistent > 500 && inconsistent > 500);
}

static void phases_balance_over_their_cycle(void **state)
{
    (void)state;
    static const uint64_t pops[] = {3, 1}, pushes[] = {1, 0, 2};
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b"), c = fixture_node(f, "c");
    fixture_edge(f, "ab", a, 3, b, 4, 0, 0);
    fixture_edge(f, "bc", b, 2, c, 1, 0, 0);
    f->graph.nodes.items[a].kernel->phases = 3;
    f->graph.nodes.items[b].kernel->phases = 2;
    f->graph.nodes.items[a].outputs.items[0].pushes = pushes;
    f->graph.nodes.items[a].outputs.items[0].push_leasts = pushes;
    f->graph.nodes.items[b].inputs.items[0].pops = pops;
    f->graph.nodes.items[b].inputs.items[0].peeks = pops;
    rate_solve(&f->cx, &f->graph);
    assert_false(diag_failed(f->cx.diags));
    assert_int_equal(fixture_repetitions(f, a), 12); /* four cycles of three */
    assert_int_equal(fixture_repetitions(f, b), 6);
    assert_int_equal(fixture_repetitions(f, c), 6);
    fixture_free(f);
}

static void bounded_rates_join_nothing_but_their_readers(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b"), c = fixture_node(f, "c");
    uint32_t shared = fixture_edge(f, "shared", a, 7, b, 2, 0, 0);
    fixture_read(f, c, shared, 3, 3);
    f->graph.nodes.items[a].outputs.items[0].push_least = 1;
    rate_solve(&f->cx, &f->graph);
    assert_false(diag_failed(f->cx.diags));
    assert_int_equal(f->graph.component_count, 2);
    assert_int_equal(fixture_repetitions(f, a), 1);
    assert_int_equal(fixture_repetitions(f, b), 3);
    assert_int_equal(fixture_repetitions(f, c), 2);
    fixture_free(f);
}

TEST_MAIN("rate", cmocka_unit_test(phases_balance_over_their_cycle),
          cmocka_unit_test(bounded_rates_join_nothing_but_their_readers),
          cmocka_unit_test(compact_disc_to_tape_has_its_known_counts),
          cmocka_unit_test(contradiction_is_told_as_a_balance),
          cmocka_unit_test(every_other_edge_of_the_cycle_is_named),
          cmocka_unit_test(self_loop_must_balance),
          cmocka_unit_test(readers_of_one_buffer_each_balance),
          cmocka_unit_test(shared_in_port_ties_its_readers),
          cmocka_unit_test(rate_of_zero_on_one_side_is_invalid),
          cmocka_unit_test(overflow_is_refused_and_large_counts_are_not),
          cmocka_unit_test(ten_thousand_nodes_are_solved),
          cmocka_unit_test(random_multigraphs_agree_with_exhaustive_search))
