/* SPDX-License-Identifier: MIT */
/* The cycles in which packets arrive, against additions one by one and by hand. */
#include "tests/test.h"

#include "runtime/sched/arrivals.h"

static uint32_t state = 4321;

static uint32_t any(uint32_t below)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

static struct prt_arrivals make_rate(uint64_t clock_hz, uint64_t packets, uint64_t seconds)
{
    struct prt_arrivals a;
    assert_int_equal(prt_arrivals_of_rate(clock_hz, packets, seconds, &a, NULL), PRT_OK);
    return a;
}

/* 1 GHz / 48 kHz is 20,833 1/3 cycles. */
static void a_packet_arrives_in_the_first_cycle_that_is_not_before_it(void **unused)
{
    (void)unused;
    struct prt_arrivals a = make_rate(1000000000, 48000, 1);
    assert_int_equal(a.step_numerator, 62500);
    assert_int_equal(a.step_denominator, 3);
    static const uint64_t cycles[] = {0, 20834, 41667, 62500, 83334};
    for (uint64_t k = 0; k < 5; k++)
        assert_int_equal(prt_arrivals_cycle(&a, k), cycles[k]);
    assert_int_equal(prt_arrivals_by(&a, 0), 1);
    assert_int_equal(prt_arrivals_by(&a, 20833), 1);
    assert_int_equal(prt_arrivals_by(&a, 20834), 2);
    assert_int_equal(prt_arrivals_by(&a, 62499), 3);
    assert_int_equal(prt_arrivals_by(&a, 62500), 4);
    assert_int_equal(prt_arrivals_cycle(&a, 48000), 1000000000);
    assert_false(prt_arrivals_is_past_list(&a, UINT64_MAX));
}

/* The fraction is carried from packet to packet in a sum of its own. */
static void a_rate_is_that_of_a_sum_of_steps(void **unused)
{
    (void)unused;
    for (int round = 0; round < 300; round++) {
        uint64_t clock = 1000 + any(100000), packets = 1 + any(200000), seconds = 1 + any(50);
        struct prt_arrivals a = make_rate(clock, packets, seconds);
        uint64_t step = clock * seconds, whole = 0, rest = 0; /* whole + rest / packets */
        for (uint64_t k = 0; k < 200; k++) {
            uint64_t cycle = whole + (rest > 0);
            assert_int_equal(prt_arrivals_cycle(&a, k), cycle);
            assert_true(prt_arrivals_by(&a, cycle) > k);
            if (cycle > 0) assert_true(prt_arrivals_by(&a, cycle - 1) <= k);
            rest += step % packets;
            whole += step / packets + rest / packets;
            rest %= packets;
        }
    }
}

static void rates_at_the_limits_of_numbers(void **unused)
{
    (void)unused;
    struct prt_arrivals a = make_rate(1000, INT64_MAX, 1);
    assert_int_equal(prt_arrivals_by(&a, 0), 1);
    assert_int_equal(prt_arrivals_by(&a, UINT64_MAX), UINT64_MAX);
    assert_int_equal(prt_arrivals_cycle(&a, INT64_MAX), 1000);
    assert_int_equal(prt_arrivals_cycle(&a, UINT64_MAX), 2001); /* 2^64 - 1 = 2 (2^63 - 1) + 1 */
    a = make_rate(1, 1, INT64_MAX);
    assert_int_equal(prt_arrivals_cycle(&a, 0), 0);
    assert_int_equal(prt_arrivals_cycle(&a, 1), INT64_MAX);
    assert_int_equal(prt_arrivals_cycle(&a, 2), UINT64_MAX);
    assert_int_equal(prt_arrivals_cycle(&a, UINT64_MAX), UINT64_MAX);
    assert_int_equal(prt_arrivals_by(&a, INT64_MAX - 1), 1);
    assert_int_equal(prt_arrivals_by(&a, INT64_MAX), 2);
}

static void a_rate_that_is_zero_or_has_no_exact_terms_is_refused(void **unused)
{
    (void)unused;
    struct prt_arrivals a;
    assert_int_equal(prt_arrivals_of_rate(1000, 0, 1, &a, NULL), PRT_E_USAGE);
    assert_int_equal(prt_arrivals_of_rate(1000, 1, 0, &a, NULL), PRT_E_USAGE);
    assert_int_equal(prt_arrivals_of_rate(2, 1, INT64_MAX, &a, NULL), PRT_E_USAGE);
    assert_int_equal(prt_arrivals_of_rate(1, UINT64_C(1) << 63, 1, &a, NULL), PRT_E_USAGE);
    assert_int_equal(prt_arrivals_of_rate(2, UINT64_C(1) << 63, 1, &a, NULL), PRT_OK);
}

static struct prt_arrivals make_list(const uint64_t *cycles, const uint64_t *packets, size_t count)
{
    struct prt_arrivals a;
    size_t line;
    assert_int_equal(prt_arrivals_of_list(cycles, packets, count, &a, &line, NULL), PRT_OK);
    return a;
}

static void a_list_says_which_packets_arrive_when(void **unused)
{
    (void)unused;
    static const uint64_t cycles[] = {5, 5, 100}, packets[] = {2, 1, 4};
    struct prt_arrivals a = make_list(cycles, packets, 3);
    static const uint64_t expected[] = {5, 5, 5, 100, 100, 100, 100, 100, 100};
    for (uint64_t k = 0; k < 9; k++)
        assert_int_equal(prt_arrivals_cycle(&a, k), expected[k]);
    assert_int_equal(prt_arrivals_by(&a, 4), 0);
    assert_int_equal(prt_arrivals_by(&a, 5), 3);
    assert_int_equal(prt_arrivals_by(&a, 99), 3);
    assert_int_equal(prt_arrivals_by(&a, 100), 8); /* and the end */
    assert_false(prt_arrivals_is_past_list(&a, 6));
    assert_true(prt_arrivals_is_past_list(&a, 7));
    prt_arrivals_free(&a);
}

static void the_end_of_a_list_can_come_later_than_its_packets(void **unused)
{
    (void)unused;
    static const uint64_t cycles[] = {0, INT64_MAX}, packets[] = {3, 0};
    struct prt_arrivals a = make_list(cycles, packets, 2);
    assert_int_equal(prt_arrivals_cycle(&a, 2), 0);
    assert_int_equal(prt_arrivals_cycle(&a, 3), INT64_MAX);
    assert_int_equal(prt_arrivals_by(&a, INT64_MAX - 1), 3);
    assert_int_equal(prt_arrivals_by(&a, INT64_MAX), 4);
    prt_arrivals_free(&a);
    a = make_list(cycles, packets + 1, 1); /* an empty stream */
    assert_int_equal(prt_arrivals_cycle(&a, 0), 0);
    assert_int_equal(prt_arrivals_by(&a, 0), 1);
    prt_arrivals_free(&a);
}

static void a_list_is_that_of_looking_at_each_line(void **unused)
{
    (void)unused;
    enum { LINES = 40 };
    for (int round = 0; round < 100; round++) {
        uint64_t cycles[LINES], packets[LINES], cycle = 0, number = 0;
        size_t count = 1 + any(LINES);
        for (size_t i = 0; i < count; i++) {
            cycles[i] = cycle += any(4);
            packets[i] = 1 + any(5);
        }
        struct prt_arrivals a = make_list(cycles, packets, count);
        for (size_t i = 0; i < count; i++)
            for (uint64_t k = 0; k < packets[i]; k++)
                assert_int_equal(prt_arrivals_cycle(&a, number++), cycles[i]);
        for (uint64_t t = 0; t < cycle + 3; t++) {
            uint64_t arrived = t >= cycle;
            for (size_t i = 0; i < count; i++)
                arrived += cycles[i] <= t ? packets[i] : 0;
            assert_int_equal(prt_arrivals_by(&a, t), arrived);
        }
        prt_arrivals_free(&a);
    }
}

static void expect_refused(const uint64_t *cycles, const uint64_t *packets, size_t count,
                           size_t line, const char *words)
{
    struct prt_arrivals a;
    struct prt_error error;
    size_t found = 99;
    assert_int_equal(prt_arrivals_of_list(cycles, packets, count, &a, &found, &error), PRT_E_USAGE);
    assert_int_equal(found, line);
    assert_non_null(strstr(error.message, words));
}

static void a_wrong_line_of_a_list_is_named(void **unused)
{
    (void)unused;
    static const uint64_t rising[] = {0, 6, 7}, falling[] = {0, 7, 6},
                          late[] = {0, UINT64_C(1) << 63};
    static const uint64_t two[] = {2, 2, 2}, gap[] = {2, 0, 2}, most[] = {1, INT64_MAX - 2, 2};
    expect_refused(falling, two, 3, 2, "cycle 6 is earlier than cycle 7");
    expect_refused(late, two, 2, 1, "not below 2^63");
    expect_refused(rising, gap, 3, 1, "only the last line may have 0");
    expect_refused(rising, most, 3, 2, "2^63 packets or more");
    expect_refused(rising, two, 0, SIZE_MAX, "no line");
    struct prt_arrivals a = make_list(rising, most, 2); /* one packet fewer than too many */
    prt_arrivals_free(&a);
}

TEST_MAIN("arrivals", cmocka_unit_test(a_packet_arrives_in_the_first_cycle_that_is_not_before_it),
          cmocka_unit_test(a_rate_is_that_of_a_sum_of_steps),
          cmocka_unit_test(rates_at_the_limits_of_numbers),
          cmocka_unit_test(a_rate_that_is_zero_or_has_no_exact_terms_is_refused),
          cmocka_unit_test(a_list_says_which_packets_arrive_when),
          cmocka_unit_test(the_end_of_a_list_can_come_later_than_its_packets),
          cmocka_unit_test(a_list_is_that_of_looking_at_each_line),
          cmocka_unit_test(a_wrong_line_of_a_list_is_named))
