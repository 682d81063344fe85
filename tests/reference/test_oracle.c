/* SPDX-License-Identifier: MIT */
/* The oracle itself: cases small enough to be computed by hand. */
#include "tests/test.h"

#include "tests/reference/oracle_draw.h"

static struct oracle_graph nodes(int count)
{
    struct oracle_graph g;
    memset(&g, 0, sizeof g);
    g.node_count = count;
    for (int n = 0; n < count; n++)
        g.nodes[n] = (struct oracle_node){.phases = 1, .cost = 1};
    return g;
}

static struct oracle_buffer *edge(struct oracle_graph *g, int from, long push, int to, long pop,
                                  long initial, long depth)
{
    struct oracle_buffer *buffer = &g->buffers[g->buffer_count++];
    *buffer = (struct oracle_buffer){.writer = from,
                                     .push = {push},
                                     .reader_count = 1,
                                     .readers = {{.node = to, .pop = {pop}, .peek = {pop}}},
                                     .initial = initial,
                                     .depth = depth,
                                     .declared = depth > 0,
                                     .width = 1};
    return buffer;
}

static enum oracle_verdict verdict(const struct oracle_graph *g)
{
    long q[ORACLE_NODES];
    assert_true(oracle_repetitions(g, 1000, q));
    enum oracle_verdict first = oracle_verdict(g, q, 0);
    for (unsigned order = 1; order < 4; order++)
        assert_int_equal(oracle_verdict(g, q, order), first);
    return first;
}

static void expect_pace(const struct oracle_graph *g, long iterations, long cycles)
{
    long q[ORACLE_NODES];
    assert_true(oracle_repetitions(g, 1000, q));
    struct oracle_pace pace = oracle_pace(g, q, 8);
    assert_int_equal(pace.verdict, ORACLE_LIVE);
    assert_int_equal(pace.iterations, iterations);
    assert_int_equal(pace.cycles, cycles);
}

static void repetitions_of_the_sample_rate_converter(void **state)
{
    (void)state;
    struct oracle_graph g = nodes(6);
    edge(&g, 0, 1, 1, 1, 0, 0);
    edge(&g, 1, 2, 2, 3, 0, 0);
    edge(&g, 2, 2, 3, 7, 0, 0);
    edge(&g, 3, 8, 4, 7, 0, 0);
    edge(&g, 4, 5, 5, 1, 0, 0);
    long q[ORACLE_NODES];
    assert_true(oracle_repetitions(&g, 1000, q));
    static const long WANTED[] = {147, 147, 98, 28, 32, 160};
    assert_memory_equal(q, WANTED, sizeof WANTED);
    assert_false(oracle_repetitions(&g, 159, q));
}

static void repetitions_of_phases_and_parts(void **state)
{
    (void)state;
    struct oracle_graph g = nodes(4);
    g.nodes[0].phases = 3; /* writes 2 in three firings */
    *edge(&g, 0, 0, 1, 3, 0, 0) = (struct oracle_buffer){
        .push = {1, 0, 1}, .reader_count = 1, .readers = {{.node = 1, .pop = {3}, .peek = {3}}}};
    edge(&g, 2, 5, 3, 10, 0, 0);
    long q[ORACLE_NODES];
    assert_true(oracle_repetitions(&g, 1000, q));
    static const long WANTED[] = {9, 2, 2, 1};
    assert_memory_equal(q, WANTED, sizeof WANTED);
}

static void unequal_ways_round_have_no_repetitions(void **state)
{
    (void)state;
    struct oracle_graph g = nodes(2);
    edge(&g, 0, 1, 1, 1, 0, 0);
    edge(&g, 0, 2, 1, 3, 0, 0);
    long q[ORACLE_NODES];
    assert_false(oracle_repetitions(&g, 1000, q));
    g = nodes(1);
    edge(&g, 0, 1, 0, 2, 5, 0);
    assert_false(oracle_repetitions(&g, 1000, q));
}

static void cycle_needs_its_packets(void **state)
{
    (void)state;
    for (long initial = 0; initial < 7; initial++) { /* 2 : 3 needs 2 + 3 - 1 */
        struct oracle_graph g = nodes(2);
        edge(&g, 0, 2, 1, 3, 0, 0);
        edge(&g, 1, 3, 0, 2, initial, 0);
        assert_int_equal(verdict(&g), initial >= 4 ? ORACLE_LIVE : ORACLE_DEAD);
    }
    for (long peek = 1; peek < 5; peek++) { /* what a window keeps back is no use */
        struct oracle_graph g = nodes(1);
        edge(&g, 0, 1, 0, 1, 3, 0)->readers[0].peek[0] = peek;
        assert_int_equal(verdict(&g), peek <= 3 ? ORACLE_LIVE : ORACLE_DEAD);
    }
}

static void room_is_claimed_before_packets_are_freed(void **state)
{
    (void)state;
    for (long depth = 1; depth < 4; depth++) {
        struct oracle_graph g = nodes(1);
        edge(&g, 0, 1, 0, 1, 1, depth);
        assert_int_equal(verdict(&g), depth >= 2 ? ORACLE_LIVE : ORACLE_DEAD);
    }
    for (long depth = 1; depth < 8; depth++) { /* 2 + 3 - 1 */
        struct oracle_graph g = nodes(2);
        edge(&g, 0, 2, 1, 3, 0, depth);
        assert_int_equal(verdict(&g), depth >= 4 ? ORACLE_LIVE : ORACLE_DEAD);
    }
}

static void slowest_reader_and_history_hold_room(void **state)
{
    (void)state;
    for (long depth = 1; depth < 8; depth++) {
        struct oracle_graph g = nodes(3);
        struct oracle_buffer *both = edge(&g, 0, 1, 1, 1, 0, depth);
        both->reader_count = 2; /* node 2 sees four packets, and waits for node 1 */
        both->readers[1] = (struct oracle_reader){.node = 2, .pop = {1}, .peek = {4}};
        edge(&g, 1, 1, 2, 1, 0, 0);
        assert_int_equal(verdict(&g), depth >= 4 ? ORACLE_LIVE : ORACLE_DEAD);
        both->readers[1].keep = 2;
        assert_int_equal(verdict(&g), depth >= 6 ? ORACLE_LIVE : ORACLE_DEAD);
    }
}

static void a_part_that_stops_is_dead_beside_one_that_runs(void **state)
{
    (void)state;
    struct oracle_graph g = nodes(3);
    edge(&g, 0, 1, 1, 1, 0, 0);
    edge(&g, 1, 1, 2, 1, 0, 0);
    edge(&g, 2, 1, 1, 1, 2, 0)->readers[0].peek[0] = 3;
    assert_int_equal(verdict(&g), ORACLE_DEAD);
    long q[ORACLE_NODES], firings[ORACLE_NODES];
    assert_true(oracle_repetitions(&g, 1000, q));
    assert_int_equal(oracle_stop(&g, q, firings), ORACLE_DEAD);
    assert_int_equal(firings[1], 0);
}

static void phases_fire_in_turn(void **state)
{
    (void)state;
    for (long initial = 0; initial < 4; initial++) { /* takes 2, then gives 2 back */
        struct oracle_graph g = nodes(2);
        g.nodes[0].phases = 2;
        struct oracle_buffer *to = edge(&g, 0, 0, 1, 1, 0, 0);
        to->push[1] = 2;
        struct oracle_buffer *back = edge(&g, 1, 1, 0, 2, initial, 0);
        back->readers[0].pop[1] = back->readers[0].peek[1] = 0;
        assert_int_equal(verdict(&g), initial >= 2 ? ORACLE_LIVE : ORACLE_DEAD);
    }
}

static void pace_is_that_of_the_slowest_circle(void **state)
{
    (void)state;
    struct oracle_graph g = nodes(2); /* one packet goes round in 2 + 3 cycles */
    g.nodes[0].cost = 2;
    g.nodes[1].cost = 3;
    edge(&g, 0, 1, 1, 1, 0, 0);
    edge(&g, 1, 1, 0, 1, 1, 0);
    expect_pace(&g, 1, 5);
    g.buffers[1].initial = 2;
    expect_pace(&g, 2, 5);
    g.nodes[1].stateful = true;
    expect_pace(&g, 1, 3);
    g = nodes(2); /* a stateful node of 3 firings an iteration, 2 cycles each */
    g.nodes[0] = (struct oracle_node){.phases = 1, .cost = 2, .stateful = true};
    edge(&g, 0, 2, 1, 6, 0, 0);
    expect_pace(&g, 1, 6);
}

static void pace_at_a_depth_counts_room_while_it_is_used(void **state)
{
    (void)state;
    struct oracle_graph g = nodes(2); /* claimed for 1 + 1 cycles, or two at a time */
    edge(&g, 0, 1, 1, 1, 0, 1);
    expect_pace(&g, 1, 2);
    g.buffers[0].depth = 2;
    expect_pace(&g, 1, 1);
    g.buffers[0].depth = 3;
    expect_pace(&g, 3, 2);
}

static void pace_of_what_nothing_holds_grows_with_the_lead(void **state)
{
    (void)state;
    struct oracle_graph g = nodes(2);
    edge(&g, 0, 1, 1, 1, 0, 0);
    long q[ORACLE_NODES];
    assert_true(oracle_repetitions(&g, 1000, q));
    struct oracle_pace few = oracle_pace(&g, q, 4), more = oracle_pace(&g, q, 9);
    assert_int_equal(few.iterations * 2, 5 * few.cycles);
    assert_int_equal(more.iterations * 2, 10 * more.cycles);
}

static void first_packets_come_when_their_firing_ends(void **state)
{
    (void)state;
    struct oracle_graph g = nodes(3); /* 4 firings of 2 cycles before the first of 7 */
    g.nodes[0] = (struct oracle_node){.phases = 1, .cost = 2, .stateful = true};
    g.nodes[1].cost = 7;
    edge(&g, 0, 1, 1, 1, 0, 0)->readers[0].peek[0] = 4;
    edge(&g, 1, 1, 2, 1, 0, 0);
    long q[ORACLE_NODES];
    assert_true(oracle_repetitions(&g, 1000, q));
    assert_int_equal(oracle_first_packet(&g, q, 0, 8), 2);
    assert_int_equal(oracle_first_packet(&g, q, 1, 8), 15);
    assert_int_equal(oracle_first_end(&g, q, 2, 8), 16);
    g.nodes[0].stateful = false;
    assert_int_equal(oracle_first_packet(&g, q, 1, 8), 9);
    edge(&g, 2, 1, 0, 1, 0, 0);
    assert_int_equal(oracle_first_packet(&g, q, 1, 8), -1);
}

static void least_memory_is_over_all_buffers_together(void **state)
{
    (void)state;
    long q[ORACLE_NODES], depths[ORACLE_BUFFERS];
    struct oracle_graph g = nodes(3); /* Stuijk, Geilen & Basten 2006: 2:3, 1:2 take 4 + 2 */
    edge(&g, 0, 2, 1, 3, 0, 0);
    edge(&g, 1, 1, 2, 2, 0, 0);
    assert_true(oracle_repetitions(&g, 1000, q));
    assert_int_equal(oracle_least_memory(&g, q, 8, depths), 6);
    assert_int_equal(depths[0], 4);
    assert_int_equal(depths[1], 2);
    g.buffers[1].width = 8;
    assert_int_equal(oracle_least_memory(&g, q, 8, depths), 20);
    g.buffers[0].declared = true;
    g.buffers[0].depth = 3;
    assert_int_equal(oracle_least_memory(&g, q, 8, depths), -1);
}

/* Two kinds of order, many orders, all states: the choice does not matter. */
static void verdicts_do_not_depend_on_the_order(void **state)
{
    (void)state;
    static const struct oracle_taste TASTE = {.nodes = 5,
                                              .extra = 3,
                                              .backward = 25,
                                              .phases = 30,
                                              .window = 30,
                                              .second = 20,
                                              .outside = 40,
                                              .keep = 10,
                                              .largest_cost = 5,
                                              .stateful = 50};
    unsigned seed = 7;
    int live = 0;
    for (int i = 0; i < 300; i++) {
        struct oracle_graph g;
        oracle_draw(&g, &TASTE, &seed);
        for (int b = 0; b < g.buffer_count; b++)
            if (oracle_random(&seed, 3) == 0) g.buffers[b].depth = 1 + oracle_random(&seed, 12);
        enum oracle_verdict first = verdict(&g);
        live += first == ORACLE_LIVE;
        long q[ORACLE_NODES];
        assert_true(oracle_repetitions(&g, 1000, q));
        struct oracle_pace pace = oracle_pace(&g, q, ORACLE_AHEAD);
        if (pace.verdict != ORACLE_UNKNOWN) assert_int_equal(pace.verdict, first);
    }
    assert_true(live > 50 && live < 250);
}

static bool is_dead(const struct oracle_graph *g, void *context)
{
    long q[ORACLE_NODES];
    (void)context;
    return oracle_repetitions(g, 1000, q) && oracle_verdict(g, q, 0) == ORACLE_DEAD;
}

static void shrinking_leaves_what_matters(void **state)
{
    (void)state;
    struct oracle_graph g = nodes(5);
    edge(&g, 0, 1, 1, 1, 0, 0);
    edge(&g, 1, 2, 2, 3, 1, 0);
    edge(&g, 2, 3, 1, 2, 1, 0);
    edge(&g, 2, 2, 3, 1, 0, 0)->readers[0].peek[0] = 5;
    edge(&g, 3, 1, 4, 1, 0, 0);
    oracle_shrink(&g, is_dead, NULL);
    assert_int_equal(g.node_count, 2);
    assert_int_equal(g.buffer_count, 2);
    assert_int_equal(g.buffers[0].initial + g.buffers[1].initial, 0);
}

TEST_MAIN("oracle", cmocka_unit_test(repetitions_of_the_sample_rate_converter),
          cmocka_unit_test(repetitions_of_phases_and_parts),
          cmocka_unit_test(unequal_ways_round_have_no_repetitions),
          cmocka_unit_test(cycle_needs_its_packets),
          cmocka_unit_test(room_is_claimed_before_packets_are_freed),
          cmocka_unit_test(slowest_reader_and_history_hold_room),
          cmocka_unit_test(a_part_that_stops_is_dead_beside_one_that_runs),
          cmocka_unit_test(phases_fire_in_turn),
          cmocka_unit_test(pace_is_that_of_the_slowest_circle),
          cmocka_unit_test(pace_at_a_depth_counts_room_while_it_is_used),
          cmocka_unit_test(pace_of_what_nothing_holds_grows_with_the_lead),
          cmocka_unit_test(first_packets_come_when_their_firing_ends),
          cmocka_unit_test(least_memory_is_over_all_buffers_together),
          cmocka_unit_test(verdicts_do_not_depend_on_the_order),
          cmocka_unit_test(shrinking_leaves_what_matters))
