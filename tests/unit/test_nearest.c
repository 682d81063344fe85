/* SPDX-License-Identifier: MIT */
/* Names that were meant. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

static void near_names_are_suggested_and_far_ones_not(void **state)
{
    (void)state;
    static const char *const names[] = {"depth", "peek", "push", "importance", "Volume", "b"};
    static const struct {
        const char *name, *nearest;
    } cases[] = {
        {"dept", "depth"}, {"detph", "depth"},   {"puhs", "push"},     {"importanze", "importance"},
        {"pop", NULL},     {"volume", "Volume"}, {"VOLUME", "Volume"}, {"a", NULL},
        {"B", "b"},        {"", NULL},           {"completely", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *nearest = nearest_name(cases[i].name, names, 6);
        if (cases[i].nearest)
            assert_string_equal(nearest, cases[i].nearest);
        else
            assert_null(nearest);
    }
    char *huge = calloc(1, 1 << 20);
    assert_non_null(huge);
    memset(huge, 'a', (1 << 20) - 1);
    assert_null(nearest_name(huge, names, 6));
    const char *const only_huge[] = {huge};
    assert_null(nearest_name("depth", only_huge, 1));
    free(huge);
}

static void the_nearest_of_far_names_is_known_too(void **state)
{
    (void)state;
    struct nearest nearest = {.wanted = "completely"};
    assert_null(nearest.name);
    nearest_consider(&nearest, "b");
    nearest_consider(&nearest, "complain");
    assert_string_equal(nearest.name, "complain");
    assert_false(nearest.near);
    nearest_consider(&nearest, "COMPLETELY");
    nearest_consider(&nearest, "b");
    assert_string_equal(nearest.name, "COMPLETELY");
    assert_true(nearest.near);
}

static void options_are_found_however_they_are_written(void **state)
{
    (void)state;
    static const struct option options[] = {{"device", required_argument, NULL, 'd'},
                                            {"march", required_argument, NULL, 'm'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    static const struct {
        const char *written, *meant;
    } cases[] = {
        {"--devcie", "device"}, {"--devcie=sim4", "device"}, {"-march=native", "march"},
        {"-hlep", "help"},      {"--frobnicate", NULL},      {"-m", NULL},
        {"--", NULL},           {"--=help", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *meant = nearest_option(cases[i].written, options);
        if (cases[i].meant != NULL)
            assert_string_equal(meant, cases[i].meant);
        else
            assert_null(meant);
    }
}

static void an_unknown_argument_is_found_again(void **state)
{
    (void)state;
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    char program[] = "program", known[] = "-h", letters[] = "-hzh", word[] = "--hlep=x",
         other[] = "file";
    char *wrong[] = {letters, word};
    for (size_t i = 0; i < 2; i++) {
        char *argv[] = {program, known, wrong[i], other, NULL};
        optind = 0;
        opterr = 0;
        int option;
        while ((option = getopt_long(4, argv, "h", options, NULL)) == 'h')
            ;
        assert_int_equal(option, '?');
        assert_string_equal(unknown_option(argv), wrong[i]);
    }
}

TEST_MAIN("nearest", cmocka_unit_test(near_names_are_suggested_and_far_ones_not),
          cmocka_unit_test(the_nearest_of_far_names_is_known_too),
          cmocka_unit_test(options_are_found_however_they_are_written),
          cmocka_unit_test(an_unknown_argument_is_found_again))
