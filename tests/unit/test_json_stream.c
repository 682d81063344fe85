/* JSON text: its form, what becomes of bytes that are no text, what a failed write does. */
#include "tests/test.h"

#include "runtime/observe/json_stream.h"

#include <string.h>

struct taken {
    char text[20000];
    size_t size, writes, most; /* bytes after which nothing more is taken */
};

static bool take(void *context, const char *bytes, size_t size)
{
    struct taken *taken = context;
    taken->writes++;
    if (taken->size + size > taken->most) return false;
    memcpy(taken->text + taken->size, bytes, size);
    taken->size += size;
    taken->text[taken->size] = '\0';
    return true;
}

static struct prt_json to(struct taken *taken)
{
    *taken = (struct taken){.most = sizeof taken->text - 1};
    return (struct prt_json){.write = take, .context = taken};
}

static void members_are_put_on_lines_or_on_one(void **unused)
{
    (void)unused;
    struct taken taken;
    struct prt_json json = to(&taken);
    prt_json_begin(&json, NULL, '{');
    prt_json_number(&json, "a", UINT64_MAX);
    prt_json_begin_line(&json, "b", '[');
    prt_json_boolean(&json, NULL, true);
    prt_json_begin(&json, NULL, '{');
    prt_json_fraction(&json, "c", 1002003, 3);
    prt_json_end(&json, '}');
    prt_json_end(&json, ']');
    prt_json_begin(&json, "d", '[');
    prt_json_null(&json, NULL);
    prt_json_end(&json, ']');
    prt_json_begin(&json, "e", '{');
    prt_json_end(&json, '}');
    prt_json_end(&json, '}');
    assert_true(prt_json_flush(&json));
    assert_string_equal(taken.text,
                        "{\n  \"a\": 18446744073709551615,\n  \"b\": [true, "
                        "{\"c\": 1002.003}],\n  \"d\": [\n    null\n  ],\n  \"e\": {}\n}\n");
}

static void names_come_out_as_utf8(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *text;
    } cases[] = {
        {"plain", "\"plain\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"tab\there\x7f", "\"tab\\u0009here\\u007f\""},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff|\xc3|\xe2\x82", "\"\\ufffd|\\ufffd|\\ufffd\\ufffd\""},
        {"\xc0\xaf|\xe0\x80\xaf", "\"\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd\""},
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct taken taken;
        struct prt_json json = to(&taken);
        prt_json_text(&json, NULL, cases[i].name);
        assert_true(prt_json_flush(&json));
        assert_string_equal(taken.text, cases[i].text);
    }
}

static void after_a_failed_write_nothing_is_written(void **unused)
{
    (void)unused;
    struct taken taken;
    struct prt_json json = to(&taken);
    taken.most = 0;
    prt_json_begin(&json, NULL, '[');
    for (int i = 0; i < 5000; i++)
        prt_json_number(&json, NULL, 1000000);
    prt_json_end(&json, ']');
    assert_false(prt_json_flush(&json));
    assert_int_equal(taken.writes, 1);
}

static void long_texts_are_cut_nowhere(void **unused)
{
    (void)unused;
    struct taken taken;
    struct prt_json json = to(&taken);
    char name[9001];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    prt_json_text(&json, NULL, name);
    assert_true(prt_json_flush(&json));
    assert_int_equal(taken.size, 9002);
    assert_memory_equal(taken.text + 1, name, 9000);
}

TEST_MAIN("json_stream", cmocka_unit_test(members_are_put_on_lines_or_on_one),
          cmocka_unit_test(names_come_out_as_utf8),
          cmocka_unit_test(after_a_failed_write_nothing_is_written),
          cmocka_unit_test(long_texts_are_cut_nowhere))
