/* SPDX-License-Identifier: MIT */
/* Packets of firings with phases, against counting them one by one. */
#include "tests/test.h"

#include "core/flow.h"

enum { PHASES_MAX = 5, FIRINGS = 24 };

static uint32_t state = 12345;

static uint32_t any(uint32_t below)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

struct rates {
    uint32_t phases;
    uint64_t pops[PHASES_MAX];
    uint64_t numbers[PHASES_MAX + PHASES_MAX + 1]; /* peeks, then sums */
    struct core_take take;
};

static void make(struct rates *r)
{
    *r = (struct rates){.phases = 1 + any(PHASES_MAX)};
    for (uint32_t i = 0; i < r->phases; i++) {
        r->pops[i] = any(4);
        r->numbers[i] = r->pops[i] + (uint64_t)any(3) * any(4);
    }
    if (r->phases == 1 || r->pops[0] == 0) r->pops[0]++;
    if (r->numbers[0] < r->pops[0]) r->numbers[0] = r->pops[0];
    core_flow_sum(r->pops, r->phases, r->numbers + PHASES_MAX);
    for (uint32_t i = 0; i < r->phases; i++)
        r->take.peek = r->numbers[i] > r->take.peek ? r->numbers[i] : r->take.peek;
    r->take.pop = (struct core_flow){r->numbers[PHASES_MAX + r->phases], r->phases, PHASES_MAX};
}

static uint64_t counted(const struct rates *r, uint64_t first, uint64_t firings)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < firings; i++)
        total += r->pops[(first + i) % r->phases];
    return total;
}

static void totals_are_those_of_single_firings(void **unused)
{
    (void)unused;
    for (int round = 0; round < 300; round++) {
        struct rates r;
        make(&r);
        for (uint64_t first = 0; first < FIRINGS; first++) {
            for (uint64_t n = 0; n < FIRINGS; n++)
                assert_int_equal(core_flow_total(r.numbers, &r.take.pop, first, n),
                                 counted(&r, first, n));
        }
    }
}

static void as_many_firings_fit_as_there_is_room_for(void **unused)
{
    (void)unused;
    for (int round = 0; round < 300; round++) {
        struct rates r;
        make(&r);
        for (uint64_t first = 0; first < PHASES_MAX + 2; first++) {
            for (uint64_t room = 0; room < 20; room++) {
                uint64_t n = 0;
                while (n < FIRINGS && counted(&r, first, n + 1) <= room)
                    n++;
                assert_int_equal(core_flow_fits(r.numbers, &r.take.pop, first, room, FIRINGS), n);
            }
        }
    }
}

/* Firing k sees the packets after those of earlier firings; a later one may need fewer. */
static void firings_need_what_they_see(void **unused)
{
    (void)unused;
    for (int round = 0; round < 300; round++) {
        struct rates r;
        make(&r);
        for (uint64_t first = 0; first < PHASES_MAX + 2; first++) {
            for (uint64_t held = 0; held < 25; held++) {
                uint64_t n = 0;
                while (n < FIRINGS &&
                       counted(&r, first, n) + r.numbers[(first + n) % r.phases] <= held)
                    n++;
                assert_int_equal(core_take_fits(r.numbers, &r.take, first, held, FIRINGS), n);
            }
        }
    }
}

static void firings_see_as_far_as_the_one_that_sees_furthest(void **unused)
{
    (void)unused;
    for (int round = 0; round < 300; round++) {
        struct rates r;
        make(&r);
        for (uint64_t first = 0; first < PHASES_MAX + 2; first++) {
            uint64_t furthest = 0;
            for (uint64_t n = 0; n < FIRINGS; n++) {
                uint64_t end = counted(&r, first, n) + r.numbers[(first + n) % r.phases];
                if (end > furthest) furthest = end;
                assert_int_equal(core_take_sees(r.numbers, &r.take, first, n + 1), furthest);
            }
        }
    }
}

static void what_was_seen_is_what_any_firing_saw(void **unused)
{
    (void)unused;
    for (int round = 0; round < 300; round++) {
        struct rates r;
        make(&r);
        for (uint64_t next = 0; next < FIRINGS; next++) {
            uint64_t taken = counted(&r, 0, next), seen = 0;
            for (uint64_t k = 0; k < next; k++) {
                uint64_t end = counted(&r, 0, k) + r.numbers[k % r.phases];
                if (end > taken && end - taken > seen) seen = end - taken;
            }
            assert_int_equal(core_take_seen(r.numbers, &r.take, next), seen);
        }
    }
}

static void nothing_appended_fits_always(void **unused)
{
    (void)unused;
    const struct core_flow none = {.cycle = 0, .phases = 1};
    assert_int_equal(core_flow_fits(NULL, &none, 3, 0, 77), 77);
}

TEST_MAIN("flow", cmocka_unit_test(totals_are_those_of_single_firings),
          cmocka_unit_test(as_many_firings_fit_as_there_is_room_for),
          cmocka_unit_test(firings_need_what_they_see),
          cmocka_unit_test(firings_see_as_far_as_the_one_that_sees_furthest),
          cmocka_unit_test(what_was_seen_is_what_any_firing_saw),
          cmocka_unit_test(nothing_appended_fits_always))
