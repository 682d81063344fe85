/* SPDX-License-Identifier: MIT */
/* The bandwidth that launches share, against a table with an entry for each cycle; and by hand. */
#include "tests/test.h"

#include "model/bandwidth.h"

enum { ROUNDS = 300, LAUNCHES = 12, CYCLES = 20000 };

static uint64_t draw(uint64_t *random, uint64_t low, uint64_t high)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return low + (*random >> 33) % (high - low + 1);
}

static struct prt_bandwidth bandwidth_for(uint32_t launches)
{
    struct prt_bandwidth b = {0};
    assert_int_equal(prt_bandwidth_reserve(&b, launches), PRT_OK);
    return b;
}

/* Takes them cycle by cycle; the moment at which the last byte has come. */
static uint64_t take_by_hand(uint64_t *used, uint64_t there, const struct core_timing_flow *flow)
{
    uint64_t left = flow->share * flow->cycles;
    for (; left > 0; there++) {
        assert_true(there < CYCLES);
        uint64_t taken = CORE_TIMING_WHOLE - used[there];
        if (taken > flow->share) taken = flow->share;
        if (taken > left) taken = left;
        used[there] += taken;
        left -= taken;
    }
    return there;
}

/* At any time there is room for as many launches as have not ended. */
static void each_takes_what_those_before_it_leave(void **unused)
{
    (void)unused;
    uint64_t random = 5;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t *used = calloc(CYCLES, sizeof *used), ends[LAUNCHES] = {0}, now = 0;
        struct prt_bandwidth b = bandwidth_for(LAUNCHES);
        assert_non_null(used);
        for (uint32_t i = 0; i < 5 * LAUNCHES; i++) {
            const struct core_timing_flow flow = {.cycles = draw(&random, 1, 60),
                                                  .share = CORE_TIMING_WHOLE / draw(&random, 1, 5) -
                                                           draw(&random, 0, 3)};
            now += draw(&random, 0, 30);
            if (ends[i % LAUNCHES] > now) now = ends[i % LAUNCHES];
            uint64_t there = now + draw(&random, 0, 90);
            prt_bandwidth_forget(&b, now);
            ends[i % LAUNCHES] = prt_bandwidth_take(&b, there, &flow);
            assert_int_equal(ends[i % LAUNCHES], take_by_hand(used, there, &flow));
        }
        prt_bandwidth_free(&b);
        free(used);
    }
}

/* The example of lang/time.md, "Shared bandwidth". */
static void the_second_one_waits_for_what_the_first_one_leaves(void **unused)
{
    (void)unused;
    struct prt_bandwidth b = bandwidth_for(3);
    const struct core_timing_flow three_quarters = {1000, CORE_TIMING_WHOLE / 4 * 3};
    assert_int_equal(prt_bandwidth_take(&b, 0, &three_quarters), 1000);
    assert_int_equal(prt_bandwidth_take(&b, 0, &three_quarters), 1667);
    const struct core_timing_flow all = {10, CORE_TIMING_WHOLE};
    assert_int_equal(prt_bandwidth_take(&b, 1000, &all), 1000 + 40);
    prt_bandwidth_free(&b);
}

static void without_an_end_nothing_ends(void **unused)
{
    (void)unused;
    struct prt_bandwidth b = bandwidth_for(2);
    const struct core_timing_flow endless = {UINT64_MAX, 7};
    assert_true(prt_bandwidth_take(&b, 5, &endless) == UINT64_MAX);
    prt_bandwidth_free(&b);
}

TEST_MAIN("bandwidth", cmocka_unit_test(each_takes_what_those_before_it_leave),
          cmocka_unit_test(the_second_one_waits_for_what_the_first_one_leaves),
          cmocka_unit_test(without_an_end_nothing_ends))
