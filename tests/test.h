/* SPDX-License-Identifier: MIT */
/*
 * Every unit test includes this first: cmocka, whose header needs four others before it, and a main().
 *
 *     static void width_of_zero_is_zero(void **state) { ... }
 *     TEST_MAIN("disp", cmocka_unit_test(width_of_zero_is_zero), ...)
 *
 * The environment variable T selects tests by pattern: T='*zero*' build/debug/tests/test_disp
 */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Defines main(): runs the tests that T selects as one group, and returns the number that failed.
 */
#define TEST_MAIN(group, ...)                                                                      \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        cmocka_set_test_filter(getenv("T"));                                                       \
        return cmocka_run_group_tests_name(group, tests, NULL, NULL);                              \
    }

/* The step of a loop over drawn cases: `make check` takes every third case, `make check-long` (LONG=1) each. */
static inline int draw_step(void)
{
    const char *text = getenv("LONG");
    return text != NULL && *text != '\0' ? 1 : 3;
}

/* Ends the running test as skipped; tests/run.sh shows the reason. */
#define SKIP_BECAUSE(reason)                                                                       \
    do {                                                                                           \
        print_message("# SKIP-REASON: %s\n", reason);                                              \
        skip();                                                                                    \
    } while (0)

#endif
