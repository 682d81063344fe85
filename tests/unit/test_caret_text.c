/* SPDX-License-Identifier: MIT */
/* Lines with a mark under a part of them, and text for terminals. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/caret_text.h"
#include "base/terminal_text.h"

static void expect_snippet(const char *text, size_t begin, size_t end, const char *expected)
{
    char *shown = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&shown, &size);
    assert_non_null(to);
    struct caret_snippet snippet = {
        .line = caret_line_at(text, strlen(text), begin, end),
        .line_number = 7,
        .gutter_columns = 2,
        .mark = '^',
        .label = "here",
    };
    caret_snippet_print(to, &snippet);
    fclose(to);
    assert_string_equal(shown, expected);
    free(shown);
}

static void a_mark_stands_under_its_columns(void **unused)
{
    (void)unused;
    expect_snippet("one\n\ttwo\r\n", 5, 8, " 7 |         two\n   |         ^^^ here\n");
    expect_snippet("\xE6\xBC\xA2 x", 4, 5, " 7 | \xE6\xBC\xA2 x\n   |    ^ here\n");
    expect_snippet("\xFF\x1B x", 3, 4, " 7 | \\xFF\\x1B x\n   |          ^ here\n");
}

static void a_mark_over_the_end_of_a_line_ends_with_its_text(void **unused)
{
    (void)unused;
    expect_snippet("one  \ntwo", 0, 9, " 7 | one  \n   | ^^^ here\n");
}

static void a_place_after_the_text_is_its_end(void **unused)
{
    (void)unused;
    expect_snippet("one", 3, 3, " 7 | one\n   |    ^ here\n");
    expect_snippet("one", 30, 40, " 7 | one\n   |    ^ here\n");
    expect_snippet("one\n", 4, 4, " 7 | \n   | ^ here\n");
    expect_snippet("", 0, 0, " 7 | \n   | ^ here\n");
}

static void a_long_line_is_cut_around_the_mark_between_characters(void **unused)
{
    (void)unused;
    char text[601], expected[1000];
    for (int i = 0; i < 300; i++)
        memcpy(text + 2 * i, "\xC3\xA9", 2);
    text[600] = '\0';
    text[300] = 'X', text[301] = 'Y';
    size_t used = (size_t)snprintf(expected, sizeof expected, " 7 | ...");
    memcpy(expected + used, text + 230, 70 + 100);
    used += 70 + 100;
    snprintf(expected + used, sizeof expected - used, "...\n   | %38s^ here\n", "");
    expect_snippet(text, 300, 301, expected);
}

static void a_copy_ends_between_glyphs(void **unused)
{
    (void)unused;
    char copy[8];
    terminal_text_copy(copy, sizeof copy, "abcd\x1B");
    assert_string_equal(copy, "abcd");
    terminal_text_copy(copy, sizeof copy, "abc\x1B");
    assert_string_equal(copy, "abc\\x1B");
    terminal_text_copy(copy, sizeof copy, "abcdef\xC3\xA9");
    assert_string_equal(copy, "abcdef");
    assert_int_equal(terminal_text_columns("e\xCC\x81\xE6\xBC\xA2\xFF"), 7);
}

TEST_MAIN("caret_text", cmocka_unit_test(a_mark_stands_under_its_columns),
          cmocka_unit_test(a_mark_over_the_end_of_a_line_ends_with_its_text),
          cmocka_unit_test(a_place_after_the_text_is_its_end),
          cmocka_unit_test(a_long_line_is_cut_around_the_mark_between_characters),
          cmocka_unit_test(a_copy_ends_between_glyphs))
