/* SPDX-License-Identifier: MIT */
/* Rates and lists of arrivals as text. */
#include "tests/test.h"

#include "tests/unit/test_io.h"
#include "tools/piperun/io/arrival_text.h"

static void rates_are_exact_fractions(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        uint64_t packets, seconds;
    } rates[] = {{"48000", 48000, 1},
                 {"48kHz", 48000, 1},
                 {"44.1kHz", 44100, 1},
                 {"0.5", 1, 2},
                 {"0.25Hz", 1, 4},
                 {"30000/1001", 30000, 1001},
                 {"30/1.001", 30000, 1001},
                 {"1/3MHz", 1000000, 3},
                 {"2.5GHz", 2500000000, 1},
                 {"0.001/1000", 1, 1000000},
                 {"48000.000", 48000, 1},
                 {"9223372036854775807", INT64_MAX, 1},
                 {"1/9223372036854775807", 1, INT64_MAX}};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        uint64_t packets, seconds;
        assert_true(
            prt_arrival_rate_parse(rates[i].text, strlen(rates[i].text), &packets, &seconds));
        assert_int_equal(packets, rates[i].packets);
        assert_int_equal(seconds, rates[i].seconds);
    }
}

static void other_words_are_no_rates(void **unused)
{
    (void)unused;
    static const char *const words[] = {"",
                                        "Hz",
                                        "0",
                                        "0.0kHz",
                                        "1/0",
                                        "1/",
                                        "/2",
                                        "1/2/3",
                                        "-1",
                                        "+1",
                                        "1e3",
                                        "48k",
                                        "48 kHz",
                                        "48khz",
                                        "1.",
                                        ".5",
                                        "0x10",
                                        "1/2kHz/s",
                                        "nan",
                                        "9223372036854775808",
                                        "92233720368547758070",
                                        "9223372036854775807/0.001",
                                        "9223372036854775807kHz",
                                        "1/9223372036854775808",
                                        "0.00000000000000000001"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        uint64_t packets = 7, seconds = 7;
        if (prt_arrival_rate_parse(words[i], strlen(words[i]), &packets, &seconds))
            fail_msg("'%s' is a rate", words[i]);
    }
    uint64_t packets, seconds; /* a piece of a longer text */
    assert_true(prt_arrival_rate_parse("123", 2, &packets, &seconds));
    assert_int_equal(packets, 12);
}

static const char *write_list(const char *text, size_t length)
{
    const char *path = io_path("list");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* At 1 GHz. */
static void a_list_has_cycles_or_times_with_units(void **unused)
{
    (void)unused;
    static const char text[] = "# time packets\n"
                               "0 3\n"
                               "\n"
                               "  17\t2  # a comment\r\n"
                               "0.5ns 1\n"
                               "1.5us 64\n"
                               "2ms 0\n"
                               "0.3333333333s 12"; /* no end of line */
    static const uint64_t cycles[] = {0, 17, 1, 1500, 2000000, 333333334};
    static const uint64_t packets[] = {3, 2, 1, 64, 0, 12};
    static const size_t lines[] = {2, 4, 5, 6, 7, 8};
    struct prt_arrival_list list;
    const char *path = write_list(text, sizeof text - 1);
    assert_int_equal(prt_arrival_list_read(path, 1000000000, &list, NULL), PRT_OK);
    assert_int_equal(list.count, 6);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(list.cycles[i], cycles[i]);
        assert_int_equal(list.packets[i], packets[i]);
        assert_int_equal(list.line_numbers[i], lines[i]);
    }
    prt_arrival_list_free(&list);
    assert_int_equal(list.count, 0);
}

static void a_long_list_is_read_to_its_end(void **unused)
{
    (void)unused;
    enum { LINES = 5000 };
    static char text[LINES * 16];
    size_t length = 0;
    for (int i = 0; i < LINES; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%d %d\n", 7 * i, i % 5);
    struct prt_arrival_list list;
    assert_int_equal(prt_arrival_list_read(write_list(text, length), 1000, &list, NULL), PRT_OK);
    assert_int_equal(list.count, LINES);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(list.cycles[i], 7 * i);
        assert_int_equal(list.packets[i], i % 5);
        assert_int_equal(list.line_numbers[i], i + 1);
    }
    prt_arrival_list_free(&list);
}

static enum prt_status read_lines(size_t lines)
{
    struct prt_arrival_list list;
    const char *path = io_path("many");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < lines; i++)
        (void)fputs("1 1\n", file);
    assert_int_equal(fclose(file), 0);
    enum prt_status status = prt_arrival_list_read(path, 1000, &list, NULL);
    assert_int_equal(list.count, status == PRT_OK ? lines : 0);
    prt_arrival_list_free(&list);
    return status;
}

static void a_list_has_a_limit(void **unused)
{
    (void)unused;
    assert_int_equal(read_lines(ARRIVAL_LINES_MAX - 1), PRT_OK);
    assert_int_equal(read_lines(ARRIVAL_LINES_MAX), PRT_OK);
    assert_int_equal(read_lines(ARRIVAL_LINES_MAX + 1), PRT_E_FORMAT);
}

static void a_wrong_line_is_named(void **unused)
{
    (void)unused;
    static const char *const lines[] = {"12",
                                        "12 ",
                                        "12 x",
                                        "12 3 4",
                                        "x 3",
                                        "-1 3",
                                        "12ms3",
                                        "12 ms 3",
                                        "1.5 3",
                                        "12km 3",
                                        "12 -3",
                                        "12 3.0",
                                        "1e3 4",
                                        "1. 4",
                                        "9223372036854775808 1",
                                        "1 9223372036854775808",
                                        "9223372036854775807s 1",
                                        "0.000000000000000001ns 1",
                                        "0.0000000000000000001s 1"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[80];
        struct prt_arrival_list list;
        struct prt_error error;
        int length = snprintf(text, sizeof text, "0 1\n\n%s\n7 7\n", lines[i]);
        const char *path = write_list(text, (size_t)length);
        if (prt_arrival_list_read(path, 1000000000, &list, &error) != PRT_E_FORMAT)
            fail_msg("'%s' is a line", lines[i]);
        assert_non_null(strstr(error.message, "list:3: '"));
        assert_int_equal(list.count, 0);
    }
}

static void only_the_beginning_of_a_long_line_is_shown(void **unused)
{
    (void)unused;
    char text[200];
    struct prt_arrival_list list;
    struct prt_error error;
    memset(text, '7', sizeof text);
    const char *path = write_list(text, sizeof text);
    assert_int_equal(prt_arrival_list_read(path, 1000, &list, &error), PRT_E_FORMAT);
    const char *shown = strchr(error.message, '\'');
    assert_non_null(shown);
    assert_int_equal(strspn(shown + 1, "7"), 80);
}

/* The memory of the process cannot be read where nothing is. */
static void a_list_that_cannot_be_read_is_named(void **unused)
{
    (void)unused;
    struct prt_arrival_list list;
    struct prt_error error;
    assert_int_equal(prt_arrival_list_read("/proc/self/mem", 1000, &list, &error), PRT_E_READ);
    assert_string_equal(error.message, "/proc/self/mem: Input/output error");
    assert_int_equal(list.count, 0);
}

static void bytes_that_are_no_text_are_refused(void **unused)
{
    (void)unused;
    static const char nul[] = "0 1\n0\0 1\n", only[] = "\0";
    struct prt_arrival_list list;
    assert_int_equal(prt_arrival_list_read(write_list(nul, 9), 1000, &list, NULL), PRT_E_FORMAT);
    assert_int_equal(prt_arrival_list_read(write_list(only, 1), 1000, &list, NULL), PRT_E_FORMAT);
    assert_int_equal(prt_arrival_list_read(write_list(only, 0), 1000, &list, NULL), PRT_OK);
    assert_int_equal(list.count, 0);
    assert_int_equal(prt_arrival_list_read(io_path("none"), 1000, &list, NULL), PRT_E_OPEN);
    assert_int_equal(prt_arrival_list_read(io_folder, 1000, &list, NULL), PRT_E_OPEN);
}

IO_TEST_MAIN("arrival_text", cmocka_unit_test(rates_are_exact_fractions),
             cmocka_unit_test(other_words_are_no_rates),
             cmocka_unit_test(a_list_has_cycles_or_times_with_units),
             cmocka_unit_test(a_long_list_is_read_to_its_end), cmocka_unit_test(a_list_has_a_limit),
             cmocka_unit_test(a_wrong_line_is_named),
             cmocka_unit_test(only_the_beginning_of_a_long_line_is_shown),
             cmocka_unit_test(a_list_that_cannot_be_read_is_named),
             cmocka_unit_test(bytes_that_are_no_text_are_refused))
