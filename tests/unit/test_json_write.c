/* SPDX-License-Identifier: MIT */
/* JSON text: its layout, its escapes, bytes that are not UTF-8. */
#include "tests/test.h"

#include "base/json_write.h"

#include <stdlib.h>
#include <string.h>

struct written {
    char *text;
    size_t size;
    FILE *to;
};

static struct json begin(struct written *written)
{
    written->to = open_memstream(&written->text, &written->size);
    assert_non_null(written->to);
    return (struct json){.to = written->to};
}

static void expect(struct written *written, const char *text)
{
    fclose(written->to);
    assert_string_equal(written->text, text);
    free(written->text);
}

static void members_are_put_on_lines_or_on_one(void **unused)
{
    (void)unused;
    struct written written;
    struct json json = begin(&written);
    json_begin(&json, NULL, '{');
    json_number(&json, "a", UINT64_MAX);
    json_begin_line(&json, "b", '[');
    json_boolean(&json, NULL, true);
    json_begin(&json, NULL, '{');
    json_fraction(&json, "c", 1002003, 3);
    json_end(&json, '}');
    json_end(&json, ']');
    json_begin(&json, "d", '[');
    json_text(&json, NULL, NULL);
    json_end(&json, ']');
    json_begin(&json, "e", '{');
    json_end(&json, '}');
    json_end(&json, '}');
    expect(&written, "{\n  \"a\": 18446744073709551615,\n  \"b\": [true, {\"c\": 1002.003}],\n"
                     "  \"d\": [\n    null\n  ],\n  \"e\": {}\n}\n");
}

static void compact_text_has_no_blanks_and_one_line_for_each_value(void **unused)
{
    (void)unused;
    struct written written;
    struct json json = begin(&written);
    json.compact = true;
    for (int i = 0; i < 2; i++) {
        json_begin(&json, NULL, '{');
        json_begin_line(&json, "a", '[');
        json_number(&json, NULL, 0);
        json_number(&json, NULL, 1);
        json_end(&json, ']');
        json_boolean(&json, "b", false);
        json_end(&json, '}');
    }
    expect(&written, "{\"a\":[0,1],\"b\":false}\n{\"a\":[0,1],\"b\":false}\n");
}

static void several_numbers_are_an_array(void **unused)
{
    (void)unused;
    struct written written;
    struct json json = begin(&written);
    json_begin_line(&json, NULL, '{');
    json_numbers(&json, "a", 7, NULL, 3);
    json_numbers(&json, "b", 7, (const uint64_t[]){1, 2, 3}, 3);
    json_end(&json, '}');
    expect(&written, "{\"a\": 7, \"b\": [1, 2, 3]}\n");
}

static void strings_are_escaped(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"a \"b\" \\ /", "\"a \\\"b\\\" \\\\ /\""},
        {"\n\t\r\x1B\x7F", "\"\\n\\t\\u000d\\u001b\\u007f\""},
        {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\""},
        {"\xE2\x80\xAE" /* right-to-left override NOLINT(misc-misleading-bidirectional) */
         "\xE2\x80\xA8",
         "\"\\u202e\\u2028\""},
        {"\xF3\xA0\x80\x81", "\"\\udb40\\udc01\""}, /* a tag: two surrogates */
        {"\xFFx\xC3", "\"\\\\xFFx\\\\xC3\""},
        {"\xC0\xAF|\xE0\x80\xAF", "\"\\\\xC0\\\\xAF|\\\\xE0\\\\x80\\\\xAF\""},
        {"\xED\xA0\x80", "\"\\\\xED\\\\xA0\\\\x80\""},
        {"\xF4\x90\x80\x80", "\"\\\\xF4\\\\x90\\\\x80\\\\x80\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct written written;
        struct json json = begin(&written);
        json_print_string(json.to, cases[i].text);
        expect(&written, cases[i].expected);
    }
}

TEST_MAIN("json_write", cmocka_unit_test(members_are_put_on_lines_or_on_one),
          cmocka_unit_test(compact_text_has_no_blanks_and_one_line_for_each_value),
          cmocka_unit_test(several_numbers_are_an_array), cmocka_unit_test(strings_are_escaped))
