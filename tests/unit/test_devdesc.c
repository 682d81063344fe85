/* devdesc: the format of lang/devices.md, its errors, and the embedded descriptions. */
#include "tests/test.h"

#include "lang/devdesc.h"

#include <stdio.h>

#define REQUIRED                                                                                   \
    "name = d\ncu_count = 4\nlanes = 8\nclock = 1 GHz\nmemory = 1 MiB\nmemory_bytes_per_cycle = "  \
    "1\n"

static bool parse(const char *text, struct devdesc *out, struct devdesc_error *error)
{
    return devdesc_parse(text, strlen(text), out, error);
}

static void expect_error(const char *text, uint32_t line, uint32_t column, const char *message)
{
    struct devdesc out;
    struct devdesc_error error;
    assert_false(parse(text, &out, &error));
    if (!strstr(error.message, message)) print_message("%s\n", error.message);
    assert_non_null(strstr(error.message, message));
    assert_int_equal(error.line, line);
    assert_int_equal(error.column, column);
}

static void required_keys_are_enough_and_defaults_fill_the_rest(void **state)
{
    (void)state;
    struct devdesc d;
    struct devdesc_error error;
    assert_true(parse(REQUIRED, &d, &error));
    assert_string_equal(d.name, "d");
    assert_int_equal(d.cu_count, 4);
    assert_int_equal(d.clock_hz, 1000000000);
    assert_int_equal(d.memory_bytes, 1 << 20);
    assert_int_equal(d.local_bytes, 32768);
    assert_int_equal(d.schemes, DEVDESC_EQUALLY | DEVDESC_BY_COUNTS | DEVDESC_BY_AFFINITY);
    assert_int_equal(d.reference_entries, 8);
    assert_int_equal(d.launch_process_cycles, 400);
    assert_int_equal(d.cus_per_domain[DEVDESC_L2], 0);
}

static void units_blanks_and_comments_are_read(void **state)
{
    (void)state;
    struct devdesc d;
    struct devdesc_error error;
    const char *text = "# a device\r\n\n\tname=a-b.c_1# its name\ncu_count = 8\nlanes=8\n"
                       "clock = 1500MHz\nmemory = 2 GiB   # much\nmemory_bytes_per_cycle = 16\n"
                       "cache_l2 = 512KiB\ncus_per_l2 = 2\nschemes = equally by_counts";
    assert_true(parse(text, &d, &error));
    assert_string_equal(d.name, "a-b.c_1");
    assert_int_equal(d.clock_hz, 1500000000);
    assert_int_equal(d.memory_bytes, UINT64_C(2) << 30);
    assert_int_equal(d.cache_bytes[DEVDESC_L2], 512 << 10);
    assert_int_equal(d.cus_per_domain[DEVDESC_L2], 2);
    assert_int_equal(d.schemes, DEVDESC_EQUALLY | DEVDESC_BY_COUNTS);
}

static void errors_have_a_place_and_a_reason(void **state)
{
    (void)state;
    expect_error("lanse = 8\n", 1, 1, "unknown key 'lanse'; did you mean 'lanes'?");
    expect_error("zebra = 8\n", 1, 1, "unknown key 'zebra'");
    expect_error("lanes = 8\n\n  lanes = 8\n", 3, 3, "'lanes' is given twice, first on line 1");
    expect_error("lanes = 1025\n", 1, 9, "'lanes' must be between 1 and 1024");
    expect_error("lanes = 0\n", 1, 9, "must be between");
    expect_error("lanes = -1\n", 1, 9, "whole number");
    expect_error("lanes = 99999999999999999999\n", 1, 9, "whole number");
    expect_error("memory = 99999999999 TiB\n", 1, 10, "must be between");
    expect_error("memory = 1 MB\n", 1, 12, "unknown unit 'MB'");
    expect_error("lanes = 8 KiB\n", 1, 11, "nothing may follow");
    expect_error("lanes = 8KiB\n", 1, 10, "takes no unit");
    expect_error("lanes 8\n", 1, 7, "'=' expected");
    expect_error("lanes =\n", 1, 8, "has no value");
    expect_error("= 8\n", 1, 1, "key = value");
    expect_error("name = \xff\n", 1, 8, "needs a value");
    expect_error("schemes = equaly\n", 1, 11, "no scheme");
    expect_error("name = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 1, 8,
                 "longer than 63");
    expect_error("name = d\n", 1, 1, "'cu_count' is missing");
    expect_error("", 1, 1, "'name' is missing");
    expect_error(REQUIRED "cus_per_l2 = 3\n", 7, 1, "must divide");
    expect_error(REQUIRED "cus_per_l1 = 4\ncus_per_l2 = 2\n", 7, 1, "must divide the 2 CUs");
}

static void embedded_descriptions_are_valid_and_named_as_their_files(void **state)
{
    (void)state;
    struct devdesc d;
    size_t count = 0;
    for (; devdesc_builtin_name(count); count++) {
        assert_true(devdesc_builtin(devdesc_builtin_name(count), &d));
        assert_string_equal(d.name, devdesc_builtin_name(count));
    }
    assert_true(count >= 3);
    assert_null(devdesc_builtin_name(count + 7));
    assert_true(devdesc_builtin("sim16", &d));
    assert_int_equal(d.cu_count, 16);
    assert_int_equal(d.lanes, 8);
    assert_false(devdesc_builtin("sim17", &d));
}

static void damaged_text_never_does_harm(void **state)
{
    (void)state;
    const char *seed_text = REQUIRED "schemes = equally by_counts\ncache_l2 = 4 KiB # x\n";
    unsigned seed = 42;
    size_t size = strlen(seed_text);
    for (int i = 0; i < 20000; i++) {
        char *text = malloc(size); /* exactly: the sanitizer sees a read past the end */
        for (size_t k = 0; k < size; k++)
            text[k] = seed_text[k];
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            text[(seed >> 8) % size] = (char)(seed >> 3);
        }
        struct devdesc d;
        struct devdesc_error error = {0};
        size_t used = size - (seed >> 8) % 8;
        if (!devdesc_parse(text, used, &d, &error)) {
            assert_true(error.line >= 1 && error.line <= 9 && error.column >= 1);
            assert_true(error.message[0] != 0);
        }
        free(text);
    }
}

TEST_MAIN("devdesc", cmocka_unit_test(required_keys_are_enough_and_defaults_fill_the_rest),
          cmocka_unit_test(units_blanks_and_comments_are_read),
          cmocka_unit_test(errors_have_a_place_and_a_reason),
          cmocka_unit_test(embedded_descriptions_are_valid_and_named_as_their_files),
          cmocka_unit_test(damaged_text_never_does_harm))
