/* SPDX-License-Identifier: MIT */
/* The effect of runs and loops on levels: sums against the same firings made one by one, up to the limits of
 * the arithmetic. */
#include "tests/test.h"

#include <stdbool.h>

#include "runtime/verify/verify_levels.h"

/* xorshift64*, Vigna 2016. */
static uint64_t random_state;
static uint64_t random_below(uint64_t bound)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (random_state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % bound;
}

/* The smallest number of packets from which the steps are possible, and their highest level. */
struct walk {
    int64_t level, need, top;
};

static const struct walk start = {0, 0, PRT_NO_TOP};

static void step(struct walk *w, const struct prt_effect *e)
{
    if (e->need - w->level > w->need) w->need = e->need - w->level;
    if (e->top != PRT_NO_TOP && w->level + e->top > w->top) w->top = w->level + e->top;
    w->level += e->net;
}

static struct prt_effect random_effect(void)
{
    struct prt_effect e = {(int64_t)random_below(9) - 4, (int64_t)random_below(6), PRT_NO_TOP};
    if (random_below(2)) e.top = (int64_t)random_below(6);
    return e;
}

static void expect_same(const struct prt_effect *sum, const struct walk *w)
{
    assert_int_equal(sum->net, w->level);
    assert_int_equal(sum->need, w->need);
    assert_true(sum->top == w->top);
}

static void sums_are_what_the_steps_do(void **unused)
{
    (void)unused;
    random_state = 7;
    for (int round = 0; round < 3000; round++) {
        struct prt_effect sum = {0, 0, PRT_NO_TOP};
        struct walk w = start;
        for (uint64_t left = random_below(6); left > 0; left--) {
            struct prt_effect next = random_effect();
            assert_true(prt_effect_append(&sum, &next));
            step(&w, &next);
            expect_same(&sum, &w);
        }
        const struct prt_effect once = sum;
        uint64_t count = 1 + random_below(5);
        assert_true(prt_effect_repeat(&sum, count));
        w = start;
        for (uint64_t i = 0; i < count; i++)
            step(&w, &once);
        expect_same(&sum, &w);
    }
}

#define MOST PRT_LEVEL_MAX

static void sums_beyond_the_arithmetic_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        struct prt_effect sum, next;
        bool fits;
    } cases[] = {
        {{MOST - 1, 0, PRT_NO_TOP}, {1, 0, PRT_NO_TOP}, true},
        {{MOST, 0, PRT_NO_TOP}, {1, 0, PRT_NO_TOP}, false},
        {{1 - MOST, 0, PRT_NO_TOP}, {-1, 0, PRT_NO_TOP}, true},
        {{-MOST, 0, PRT_NO_TOP}, {-1, 0, PRT_NO_TOP}, false},
        {{-1, 0, PRT_NO_TOP}, {0, MOST - 1, PRT_NO_TOP}, true},
        {{-1, 0, PRT_NO_TOP}, {0, MOST, PRT_NO_TOP}, false},
        {{1, 0, 0}, {-1, 0, MOST - 1}, true},
        {{1, 0, 0}, {-1, 0, MOST}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct prt_effect sum = cases[i].sum;
        assert_int_equal(prt_effect_append(&sum, &cases[i].next), cases[i].fits);
    }
    static const struct {
        struct prt_effect effect;
        uint64_t count;
        bool fits;
    } loops[] = {
        {{MOST / 4, 0, PRT_NO_TOP}, 4, true},
        {{MOST / 4 + 1, 0, PRT_NO_TOP}, 4, false},
        {{-MOST / 4, 0, PRT_NO_TOP}, 4, true},
        {{-MOST / 4 - 1, 0, PRT_NO_TOP}, 4, false},
        {{-MOST / 4, MOST / 4, PRT_NO_TOP}, 4, true},
        {{-MOST / 4, MOST / 4 + 1, PRT_NO_TOP}, 4, false},
        {{MOST / 4, 0, MOST / 4}, 4, true},
        {{MOST / 4, 0, MOST / 4 + 1}, 4, false},
        {{0, MOST, MOST}, UINT64_MAX, true},
        {{1, 0, 1}, UINT64_MAX, false},
    };
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        struct prt_effect effect = loops[i].effect;
        assert_int_equal(prt_effect_repeat(&effect, loops[i].count), loops[i].fits);
    }
}

/* ---- ends ---- */

/* Pops and peeks, or least and most pushes, of up to four phases. */
static uint64_t rates[8];

static void firings_are_what_each_of_them_does(void **unused)
{
    (void)unused;
    random_state = 11;
    const struct prt_container c = {.rates = rates};
    for (int round = 0; round < 3000; round++) {
        struct container_node node = {.phases = 1 + (uint32_t)random_below(4)};
        struct container_input input = {.rates = node.phases > 1 ? 0 : CONTAINER_NONE};
        struct container_output output = {.rates = input.rates};
        for (uint32_t p = 0; p < node.phases; p++) {
            rates[p] = random_below(4);
            rates[node.phases + p] = rates[p] + random_below(4);
            input.pop += rates[p];
            output.push += rates[node.phases + p];
        }
        input.peek = rates[node.phases];
        uint64_t phase = random_below(node.phases), firings = 1 + random_below(11);
        struct prt_effect in, out;
        struct walk taken = start, given = start;
        for (uint64_t i = 0; i < firings; i++) {
            uint64_t at = (phase + i) % node.phases;
            int64_t pop = (int64_t)rates[at], more = (int64_t)rates[node.phases + at];
            step(&taken, &(struct prt_effect){-pop, more, PRT_NO_TOP});
            step(&given, &(struct prt_effect){more, 0, PRT_NO_TOP});
        }
        assert_true(prt_effect_of_input(&c, &node, &input, phase, firings, &in));
        expect_same(&in, &taken);
        assert_true(prt_effect_of_output(&c, &node, &output, phase, firings, &out));
        given.top = given.level > 0 ? given.level : PRT_NO_TOP;
        expect_same(&out, &given);
    }
}

static void firings_beyond_the_arithmetic_are_refused(void **unused)
{
    (void)unused;
    const struct prt_container c = {.rates = rates};
    const struct container_node node = {.phases = 1};
    struct prt_effect effect;
    static const struct {
        uint64_t pop, peek, firings;
        bool fits;
    } cases[] = {
        {MOST / 4, MOST / 4, 4, true},
        {MOST / 4 + 1, MOST / 4 + 1, 4, false},
        {1, MOST, 1, true},
        {1, MOST + 1, 1, false},
        {MOST / 4, MOST / 4 + 1, 4, false},
        {0, MOST, UINT64_MAX, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct container_input input = {
            .pop = cases[i].pop, .peek = cases[i].peek, .rates = CONTAINER_NONE};
        struct container_output output = {.push = cases[i].pop, .rates = CONTAINER_NONE};
        assert_int_equal(prt_effect_of_input(&c, &node, &input, 0, cases[i].firings, &effect),
                         cases[i].fits);
        assert_int_equal(prt_effect_of_output(&c, &node, &output, 0, cases[i].firings, &effect),
                         (unsigned __int128)cases[i].pop * cases[i].firings <= MOST);
    }
}

TEST_MAIN("effects", cmocka_unit_test(sums_are_what_the_steps_do),
          cmocka_unit_test(sums_beyond_the_arithmetic_are_refused),
          cmocka_unit_test(firings_are_what_each_of_them_does),
          cmocka_unit_test(firings_beyond_the_arithmetic_are_refused))
