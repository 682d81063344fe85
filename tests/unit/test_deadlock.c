/* SPDX-License-Identifier: MIT */
/* deadlock_check: named graphs, and random ones against literal execution
 * (tests/unit/graph_reference.h). */
#include "tests/test.h"

#include "compiler/liveness/rate.h"
#include "compiler/liveness/deadlock.h"
#include "tests/unit/graph_reference.h"

static bool check(struct fixture *f)
{
    rate_solve(&f->cx, &f->graph);
    assert_false(diag_failed(f->cx.diags));
    deadlock_check(&f->cx, &f->graph);
    return !diag_failed(f->cx.diags);
}

static void cycle_without_initial_packets_is_rejected(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "amp"), b = fixture_node(f, "lvl");
    fixture_edge(f, "gained", a, 1, b, 1, 0, 0);
    fixture_edge(f, "gain", b, 1, a, 1, 0, 0);
    assert_false(check(f));
    fixture_expect_text(f,
                        "declare 'gain' with 'init 1 x 0': 1 initial packet is enough, 0 are not");
    fixture_free(f);
}

static void cycle_with_one_packet_too_few_is_told_the_exact_number(void **state)
{
    (void)state;
    for (uint64_t initial = 3; initial <= 4; initial++) {
        struct fixture *f = fixture_new();
        uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b");
        fixture_edge(f, "forward", a, 2, b, 3, 0, 0);
        fixture_edge(f, "back", b, 3, a, 2, initial, 0);
        assert_int_equal(check(f), initial == 4);
        if (initial == 3) {
            fixture_expect_text(f,
                                "give 'back' 4 initial packets instead of 3: 4 initial packets are "
                                "enough, 3 are not");
        }
        fixture_free(f);
    }
}

static void the_circular_wait_is_told_with_its_numbers(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b");
    fixture_edge(f, "forward", a, 2, b, 3, 0, 0);
    fixture_edge(f, "back", b, 3, a, 2, 3, 0);
    assert_false(check(f));
    char *text = fixture_messages(f);
    assert_non_null(strstr(text, "'b' needs 3 packets in 'forward' and finds 2, after 0 firings"));
    assert_non_null(strstr(text, "'a' needs 2 packets in 'back' and finds 1, after 1 firing"));
    free(text);
    fixture_free(f);
}

static void self_loop_needs_its_window(void **state)
{
    (void)state;
    for (uint64_t initial = 0; initial < 5; initial++) {
        struct fixture *f = fixture_new();
        uint32_t a = fixture_node(f, "a"), loop = fixture_buffer(f, "loop", initial, 0);
        fixture_write(f, a, loop, 2);
        fixture_read(f, a, loop, 2, 4);
        assert_int_equal(check(f), initial >= 4);
        fixture_free(f);
    }
}

static void prologue_of_a_window_is_no_deadlock(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b"),
             wide = fixture_buffer(f, "w", 0, 0);
    fixture_write(f, a, wide, 1);
    fixture_read(f, b, wide, 1, 64);
    fixture_edge(f, "back", b, 1, a, 1, 63, 0);
    assert_false(check(f));
    fixture_expect_text(f, "give 'back' 64 initial packets instead of 63");
    fixture_free(f);
    f = fixture_new();
    a = fixture_node(f, "a"), b = fixture_node(f, "b"), wide = fixture_buffer(f, "w", 0, 0);
    fixture_write(f, a, wide, 1);
    fixture_read(f, b, wide, 1, 64);
    fixture_edge(f, "back", b, 1, a, 1, 64, 0);
    assert_true(check(f));
    fixture_free(f);
}

static void independent_cycles_are_all_reported(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t n[4];
    for (int i = 0; i < 4; i++)
        n[i] = fixture_node(f, (const char *[]){"a", "b", "c", "d"}[i]);
    fixture_edge(f, "ab", n[0], 1, n[1], 1, 0, 0);
    fixture_edge(f, "ba", n[1], 1, n[0], 1, 0, 0);
    fixture_edge(f, "bc", n[1], 1, n[2], 1, 0, 0);
    fixture_edge(f, "cd", n[2], 1, n[3], 1, 0, 0);
    fixture_edge(f, "dc", n[3], 1, n[2], 1, 0, 0);
    assert_false(check(f));
    assert_int_equal(diag_error_count(f->cx.diags), 2);
    fixture_free(f);
}

static void huge_live_cycle_is_decided_by_a_periodic_schedule(void **state)
{
    (void)state;
    /* 2^40 : 2^40 - 1 round a cycle: about 2^40 steps of simulation, one look at the difference
     * constraints */
    uint64_t x = UINT64_C(1) << 30, y = x - 1;
    struct fixture *f = fixture_new();
    uint32_t a = fixture_node(f, "a"), b = fixture_node(f, "b");
    fixture_edge(f, "forward", a, x, b, y, 0, 0);
    fixture_edge(f, "back", b, y, a, x, 2 * x, 0);
    assert_true(check(f));
    fixture_free(f);
}

static void long_chain_of_loops_is_decided(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    uint32_t before = fixture_node(f, "n");
    for (int i = 1; i < 10000; i++) { /* rates alternate, so that the counts stay small */
        uint32_t node = fixture_node(f, "n"), push = i % 2 ? 3 : 2, pop = i % 2 ? 2 : 3;
        fixture_edge(f, "f", before, push, node, pop, 0, 0);
        fixture_edge(f, "g", node, pop, before, push, 4, 0);
        before = node;
    }
    assert_true(check(f));
    fixture_free(f);
}

/* Applies every fix that is reported and proven minimal; returns their number. */
static int read_mends(const char *text, int *buffers, int *counts, int most)
{
    int found = 0;
    for (const char *at = text; (at = strstr(at, "help: ")) != NULL && found < most; at++) {
        int buffer, count;
        if (ref_read_two(at, "help: declare 'b", "' with 'init ", &buffer, &count) ||
            ref_read_two(at, "help: give 'b", "' ", &buffer, &count)) {
            buffers[found] = buffer;
            counts[found++] = count;
        }
    }
    return found;
}

static bool reference_verdict(const struct ref_graph *g, unsigned seed)
{
    int depths[REF_BUFFERS];
    long repetitions[REF_NODES];
    struct fixture *f = ref_build(g);
    rate_solve(&f->cx, &f->graph);
    ref_unbounded(g, depths);
    ref_repetitions(f, repetitions);
    bool live = ref_live(g, depths, repetitions, &seed);
    fixture_free(f);
    return live;
}

static void check_mends(struct ref_graph *g, struct fixture *f, unsigned seed, int *least_checked)
{
    int buffers[32], counts[32], before[32];
    char *text = fixture_messages(f);
    int mends = read_mends(text, buffers, counts, 32);
    if (mends == 0) print_message("%s\n", text);
    assert_true(mends > 0);
    for (int i = 0; i < mends; i++) {
        before[i] = g->buffers[buffers[i]].initial;
        g->buffers[buffers[i]].initial = counts[i];
    }
    if (!reference_verdict(g, seed)) {
        print_message("%s\n", text);
        ref_print(g);
    }
    assert_true(reference_verdict(g, seed));
    for (int i = 0; i < mends; i++) {
        g->buffers[buffers[i]].initial--;
        if (reference_verdict(g, seed)) {
            print_message("%s\n", text);
            ref_print(g);
        }
        assert_false(reference_verdict(g, seed));
        g->buffers[buffers[i]].initial++;
        ++*least_checked;
    }
    for (int i = 0; i < mends; i++)
        g->buffers[buffers[i]].initial = before[i];
    free(text);
}

static void random_graphs_agree_with_literal_execution(void **state)
{
    (void)state;
    unsigned seed = 20240607u;
    int live = 0, dead = 0, least = 0;
    print_message("seed %u\n", seed);
    for (int i = 0; i < 8000; i += draw_step()) {
        struct ref_graph g;
        ref_random_graph(&g, &seed, true);
        if (i >= 4000) ref_random_phases(&g, &seed);
        struct fixture *f = ref_build(&g);
        unsigned own = seed;
        bool verdict = check(f), expected = reference_verdict(&g, own);
        if (verdict != expected) {
            print_message("graph %d: %d, reference %d\n", i, verdict, expected);
            ref_print(&g);
        }
        assert_int_equal(verdict, expected);
        if (!verdict) check_mends(&g, f, own, &least);
        live += verdict;
        dead += !verdict;
        fixture_free(f);
    }
    print_message("%d live, %d dead, %d fixes verified minimal\n", live, dead, least);
    assert_true(live > 500 && dead > 500 && least > 500);
}

TEST_MAIN("deadlock", cmocka_unit_test(cycle_without_initial_packets_is_rejected),
          cmocka_unit_test(cycle_with_one_packet_too_few_is_told_the_exact_number),
          cmocka_unit_test(the_circular_wait_is_told_with_its_numbers),
          cmocka_unit_test(self_loop_needs_its_window),
          cmocka_unit_test(prologue_of_a_window_is_no_deadlock),
          cmocka_unit_test(independent_cycles_are_all_reported),
          cmocka_unit_test(huge_live_cycle_is_decided_by_a_periodic_schedule),
          cmocka_unit_test(long_chain_of_loops_is_decided),
          cmocka_unit_test(random_graphs_agree_with_literal_execution))
