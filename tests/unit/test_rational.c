/* SPDX-License-Identifier: MIT */
/* lang/rational.h: terms are the lowest ones, and overflow is noticed at its edge. */
#include "lang/rational.h"

#include "tests/test.h"

static void terms_are_the_lowest(void **state)
{
    struct rational x;
    (void)state;
    assert_true(rational_of(-6, -4, &x));
    assert_true(rational_equal(x, (struct rational){3, 2}));
    assert_true(rational_of(6, -4, &x));
    assert_true(rational_equal(x, (struct rational){-3, 2}));
    assert_true(rational_of(0, -4, &x));
    assert_true(rational_equal(x, (struct rational){0, 1}));
    assert_true(rational_scale((struct rational){3, 2}, 8, 6, &x));
    assert_true(rational_equal(x, (struct rational){2, 1}));
    assert_true(rational_is_known(x));
    assert_false(rational_is_known((struct rational){0, 0}));
}

static void terms_have_63_bits(void **state)
{
    const uint64_t most = INT64_MAX;
    struct rational x = {1, 1};
    (void)state;
    assert_true(rational_of(INT64_MIN, 1, &x));
    assert_true(rational_of((rational_wide)INT64_MAX * 4, 4, &x));
    assert_int_equal(x.numerator, INT64_MAX);
    x = (struct rational){1, 1};
    assert_false(rational_of((rational_wide)INT64_MAX + 1, 1, &x));
    assert_false(rational_of(1, (rational_wide)INT64_MAX + 1, &x));
    assert_false(rational_scale(x, most + 1, 1, &x));
    assert_false(rational_scale(x, 1, most + 1, &x));
    assert_false(rational_scale((struct rational){INT64_MAX, 1}, 2, 1, &x));
    assert_false(rational_scale(x, 0, 0, &x));
    assert_true(rational_equal(x, (struct rational){1, 1}));
    assert_true(
        rational_scale((struct rational){INT64_MAX, 1}, UINT64_MAX - 1, UINT64_MAX - 1, &x));
    assert_int_equal(x.numerator, INT64_MAX);
}

TEST_MAIN("rational", cmocka_unit_test(terms_are_the_lowest), cmocka_unit_test(terms_have_63_bits))
