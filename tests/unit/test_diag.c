/* SPDX-License-Identifier: MIT */
#include "compiler/diagnostics/diag_set.h"
#include "tests/test.h"

#include <stdio.h>

#include "compiler/context/context.h"
#include "base/utf8.h"

struct fixture {
    struct arena *arena;
    struct sources *sources;
    struct diags *diags;
    char *shown; /* by the last flush */
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f) return -1;
    f->arena = arena_create();
    f->sources = sources_create(f->arena);
    f->diags = diags_create(f->arena, f->sources);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    arena_destroy(f->arena);
    free(f->shown);
    free(f);
    return 0;
}

static const char *flush(struct fixture *f, bool colour)
{
    size_t size;
    free(f->shown);
    f->shown = NULL;
    FILE *to = open_memstream(&f->shown, &size);
    diag_flush(f->diags, to, colour);
    fclose(to);
    return f->shown;
}

static const char *print(struct fixture *f, enum diag_format format)
{
    size_t size;
    free(f->shown);
    f->shown = NULL;
    FILE *to = open_memstream(&f->shown, &size);
    diag_print(f->diags, to, &(struct diag_view){.format = format});
    fclose(to);
    return f->shown;
}

static void assert_shown(const struct fixture *f, const char *part)
{
    if (strstr(f->shown, part) == NULL) fail_msg("no %s in\n%s", part, f->shown);
}

static uint32_t add(struct fixture *f, const char *name, const char *text)
{
    return source_add(f->sources, name, text, strlen(text));
}

/* The place of the first `word` in a source. */
static struct span find(struct fixture *f, uint32_t id, const char *word)
{
    const char *bytes = source_get(f->sources, id)->bytes, *at = strstr(bytes, word);
    assert_non_null(at);
    uint32_t begin = (uint32_t)(at - bytes);
    return (struct span){id, begin, begin + (uint32_t)strlen(word)};
}

static void both_places_notes_and_help_are_shown(void **state)
{
    struct fixture *f = *state;
    uint32_t id =
        add(f, "edge.pipe", "\n\n\n    find: detect(b -> c);\n\n\n    buffer u8 c depth 32;\n");
    struct diag *diag = diag_report(f->diags, RULE_BUFFER_BELOW_BURST, find(f, id, "32"),
                                    "buffer 'c' holds %d packets", 32);
    diag_primary(diag, "depth 32");
    diag_label(diag, find(f, id, "find"), "writes up to 64");
    diag_note(diag, "it would stop");
    diag_help(diag, "give 'c' a depth of at least %d", 64);
    assert_string_equal(flush(f, false),
                        "edge.pipe:7:23: error: buffer 'c' holds 32 packets [buffer-below-burst]\n"
                        "    7 |     buffer u8 c depth 32;\n"
                        "      |                       ^^ depth 32\n"
                        "    4 |     find: detect(b -> c);\n"
                        "      |     ---- writes up to 64\n"
                        "note: it would stop\n"
                        "help: give 'c' a depth of at least 64\n");
    assert_string_equal(flush(f, false), "");
    assert_int_equal(diag_error_count(f->diags), 1);
    assert_true(diag_failed(f->diags));
}

static void label_in_another_file_names_it(void **state)
{
    struct fixture *f = *state;
    uint32_t a = add(f, "a.pipe", "one two"), b = add(f, "b.pipe", "x\nthree");
    struct diag *diag = diag_report(f->diags, RULE_DUPLICATE_NAME, find(f, a, "two"), "twice");
    diag_label(diag, find(f, b, "three"), "first");
    diag_label(diag, find(f, a, "one"), "too");
    assert_string_equal(flush(f, false), "a.pipe:1:5: error: twice [duplicate-name]\n"
                                         "    1 | one two\n"
                                         "      |     ^^^\n"
                                         "b.pipe:2:1:\n"
                                         "    2 | three\n"
                                         "      | ----- first\n"
                                         "a.pipe:1:1:\n"
                                         "    1 | one two\n"
                                         "      | --- too\n");
}

static void carets_stand_under_their_columns(void **state)
{
    static const struct {
        const char *text, *word, *expected;
    } cases[] = {
        {"\tab\tcd", "cd",
         "1:5: error: m [syntax]\n    1 |         ab      cd\n      |                 ^^\n"},
        {"\xC3\xA9\xC3\xA9 cd", "cd",
         "1:6: error: m [syntax]\n    1 | \xC3\xA9\xC3\xA9 cd\n      |    ^^\n"},
        {"\xE6\xBC\xA2 cd", "cd",
         "1:5: error: m [syntax]\n    1 | \xE6\xBC\xA2 cd\n      |    ^^\n"},
        {"e\xCC\x81 cd", "cd", "1:5: error: m [syntax]\n    1 | e\xCC\x81 cd\n      |   ^^\n"},
        {"\xFF cd\r\nx", "cd", "1:3: error: m [syntax]\n    1 | \\xFF cd\n      |      ^^\n"},
        {"\x1B[31m cd", "cd",
         "1:7: error: m [syntax]\n    1 | \\x1B[31m cd\n      |          ^^\n"},
        {"\xE2\x80\xAE" /* right-to-left override NOLINT(misc-misleading-bidirectional) */
         "cd",
         "cd",
         "1:4: error: m [syntax]\n    1 | \\xE2\\x80\\xAE"
         "cd\n      |             ^^\n"},
        {"a cd \n more", "cd \n more", "1:3: error: m [syntax]\n    1 | a cd \n      |   ^^\n"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t id = add(f, "f", cases[i].text);
        diag_report(f->diags, RULE_SYNTAX, find(f, id, cases[i].word), "m");
        assert_string_equal(flush(f, false) + 2, cases[i].expected);
    }
}

static void end_of_file_has_a_place(void **state)
{
    struct fixture *f = *state;
    uint32_t id = add(f, "f", "abc"), empty = add(f, "g", "");
    diag_report(f->diags, RULE_SYNTAX, (struct span){id, 3, 3}, "m");
    diag_report(f->diags, RULE_SYNTAX, (struct span){empty, 0, 0}, "m");
    assert_string_equal(flush(f, false), "f:1:4: error: m [syntax]\n"
                                         "    1 | abc\n"
                                         "      |    ^\n"
                                         "g:1:1: error: m [syntax]\n"
                                         "    1 | \n"
                                         "      | ^\n");
}

static void diagnostic_without_place_names_the_program(void **state)
{
    struct fixture *f = *state;
    uint32_t id = add(f, "f", "abc");
    diag_report(f->diags, RULE_SYNTAX, (struct span){id, 0, 1}, "later");
    diag_report(f->diags, RULE_NO_PIPELINE, (struct span){0}, "nothing to compile");
    assert_memory_equal(flush(f, false),
                        "pipec: error: nothing to compile [no-pipeline]\nf:1:1:", 50);
}

static void long_line_is_cut_round_the_caret(void **state)
{
    struct fixture *f = *state;
    size_t length = 1 << 20;
    char *text = malloc(length);
    assert_non_null(text);
    memset(text, 'a', length);
    for (size_t i = 0; i < 4; i++)
        text[length / 2 + i] = "HERE"[i];
    uint32_t id = source_add(f->sources, "f", text, length);
    free(text);
    diag_report(f->diags, RULE_SYNTAX, find(f, id, "HERE"), "m");
    const char *shown = flush(f, false);
    assert_true(strlen(shown) < 500);
    char *line = strstr(shown, "    1 | ..."), *caret_line = strstr(shown, "      | ");
    assert_non_null(line);
    assert_non_null(caret_line);
    assert_non_null(strstr(line, "...\n"));
    assert_int_equal(strstr(line, "HERE") - line, strstr(caret_line, "^^^^\n") - caret_line);
}

static void every_byte_value_is_shown_safely(void **state)
{
    struct fixture *f = *state;
    char bytes[256], name[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    for (int i = 0; i < 255; i++)
        name[i] = bytes[i + 1];
    name[255] = '\0';
    uint32_t id = source_add(f->sources, name, bytes, sizeof bytes);
    struct diag *diag = diag_report(f->diags, RULE_SYNTAX, (struct span){id, 0, 1}, "%s", name);
    diag_label(diag, (struct span){id, 20, 200}, "%s", name);
    diag_note(diag, "%s", name);
    for (const char *p = flush(f, false); *p; p++)
        assert_true(*p == '\n' || ((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7F));
}

static void sorted_by_place_and_equal_ones_once(void **state)
{
    struct fixture *f = *state;
    uint32_t a = add(f, "a", "xyz"), b = add(f, "b", "xyz");
    diag_report(f->diags, RULE_SYNTAX, (struct span){b, 0, 1}, "4");
    diag_report(f->diags, RULE_SYNTAX, (struct span){a, 2, 3}, "3");
    diag_report(f->diags, RULE_SYNTAX, (struct span){a, 1, 2}, "1");
    diag_report(f->diags, RULE_UNKNOWN_NAME, (struct span){a, 1, 2}, "2");
    diag_note(diag_report(f->diags, RULE_SYNTAX, (struct span){a, 1, 2}, "1"), "not shown");
    assert_int_equal(diag_error_count(f->diags), 4);
    char order[16] = "";
    for (const char *p = flush(f, false); (p = strstr(p, "error: ")); p++)
        strncat(order, p + 7, 1);
    assert_string_equal(order, "1234");
    assert_null(strstr(f->shown, "not shown"));
}

static void output_and_memory_are_bounded(void **state)
{
    struct fixture *f = *state;
    uint32_t id = add(f, "a", "x");
    for (int i = 0; i < 20000; i++)
        diag_report(f->diags, RULE_SYNTAX, (struct span){id, 0, 1}, "%d", i);
    assert_int_equal(diag_error_count(f->diags), 20000);
    size_t shown = 0;
    for (const char *p = flush(f, false); (p = strstr(p, "error: ")); p++)
        shown++;
    assert_int_equal(shown, DIAG_SHOWN_MAX);
    assert_non_null(strstr(f->shown, "\npipec: note: 19900 more messages are not shown\n"));
}

static void levels_follow_the_table_and_its_overrides(void **state)
{
    struct fixture *f = *state;
    uint32_t id = add(f, "a", "x");
    struct span span = {id, 0, 1};
    assert_false(diag_set_level(f->diags, RULE_SYNTAX, DIAG_WARNING));
    assert_false(diag_set_level(f->diags, RULE_SYNTAX, DIAG_OFF));
    diag_report(f->diags, RULE_WIDENED_AFTERWARDS, span, "m");
    assert_int_equal(diag_warning_count(f->diags), 1);
    assert_false(diag_failed(f->diags));
    assert_non_null(strstr(flush(f, false), "a:1:1: warning: m [widened-afterwards]\n"));
    assert_true(diag_set_level(f->diags, RULE_CONSTANT_TRUNCATED, DIAG_ERROR));
    diag_report(f->diags, RULE_CONSTANT_TRUNCATED, span, "m");
    assert_true(diag_failed(f->diags));
    assert_true(diag_set_level(f->diags, RULE_WIDENED_AFTERWARDS, DIAG_OFF));
    diag_report(f->diags, RULE_WIDENED_AFTERWARDS, span, "other");
    assert_int_equal(diag_warning_count(f->diags), 1);
}

static void colours_only_when_asked(void **state)
{
    struct fixture *f = *state;
    uint32_t id = add(f, "a", "x");
    diag_report(f->diags, RULE_SYNTAX, (struct span){id, 0, 1}, "one");
    assert_null(strchr(flush(f, false), '\033'));
    diag_report(f->diags, RULE_SYNTAX, (struct span){id, 0, 1}, "two");
    assert_non_null(strstr(flush(f, true), "\033[1;31merror: \033[0m"));
}

static void rules_are_found_by_id(void **state)
{
    (void)state;
    for (int i = 0; i < RULE_COUNT; i++)
        assert_int_equal(rule_find(rule_id((enum rule)i)), i);
    assert_int_equal(rule_find("no-such-rule"), RULE_COUNT);
}

static void broken_utf8_is_cut_as_decoders_do(void **state)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"\xFFx", 1},        {"\x80\x80", 1},     {"\xC3(", 1},         {"\xC0\x80", 1},
        {"\xE2\x80(", 2},    {"\xED\xA0\x80", 1}, {"\xF0\x9F\x98(", 3}, {"\xF4\x90\x80\x80", 1},
        {"\xE0\x80\x80", 1}, {"\xE2", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t code;
        size_t available = strlen(cases[i].text);
        assert_int_equal(utf8_decode(cases[i].text, available, &code), 0);
        assert_int_equal(utf8_broken_length(cases[i].text, available), cases[i].length);
    }
}

/* Of the word `cd`: the byte, character and UTF-16 columns. */
static void columns_are_counted_in_the_unit_of_the_form(void **state)
{
    static const struct {
        const char *text;
        unsigned line, byte, character, utf16;
    } cases[] = {
        {"cd", 1, 1, 1, 1},
        {"\t\tcd", 1, 3, 3, 3},
        {"\xC3\xA9 cd", 1, 4, 3, 3},
        {"e\xCC\x81 cd", 1, 5, 4, 4},        /* a combining accent */
        {"\xF0\x9F\x98\x80 cd", 1, 6, 3, 4}, /* beyond U+FFFF */
        {"\xFF\xE2\x80 cd", 1, 5, 4, 4},     /* two broken sequences */
        {"\xEF\xBB\xBF cd", 1, 2, 2, 2},     /* a byte-order mark */
        {"a\r\n\xC3\xA9\r\n  \xC3\xA9 cd\r\n", 3, 6, 5, 5},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[200];
        uint32_t id = add(f, "f", cases[i].text);
        diag_report(f->diags, RULE_SYNTAX, find(f, id, "cd"), "m");
        print(f, DIAG_JSONL);
        snprintf(expected, sizeof expected,
                 "\"begin\":{\"line\":%u,\"column\":%u,\"character\":%u},"
                 "\"end\":{\"line\":%u,\"column\":%u,\"character\":%u}",
                 cases[i].line, cases[i].byte, cases[i].character, cases[i].line, cases[i].byte + 2,
                 cases[i].character + 2);
        assert_shown(f, expected);
        print(f, DIAG_SARIF);
        snprintf(expected, sizeof expected, "\"startColumn\": %u,", cases[i].utf16);
        assert_shown(f, expected);
        snprintf(expected, sizeof expected, "\"endColumn\": %u\n", cases[i].utf16 + 2);
        assert_shown(f, expected);
        print(f, DIAG_CHECKSTYLE);
        snprintf(expected, sizeof expected, "line=\"%u\" column=\"%u\"", cases[i].line,
                 cases[i].character);
        assert_shown(f, expected);
        flush(f, false);
    }
}

/* A place that is before the one before it, inside of it, and in another line. */
static void columns_do_not_depend_on_what_was_shown_before(void **state)
{
    struct fixture *f = *state;
    uint32_t id = add(f, "f", "\xC3\xA9 one two\n\xC3\xA9 three"),
             other = add(f, "g", "\xC3\xA9 x");
    diag_report(f->diags, RULE_SYNTAX, find(f, id, "one two\n"), "1");
    diag_report(f->diags, RULE_SYNTAX, find(f, id, "two"), "2");
    diag_report(f->diags, RULE_SYNTAX, find(f, id, "two\n\xC3\xA9 three"), "3");
    diag_report(f->diags, RULE_SYNTAX, find(f, id, "three"), "4");
    diag_report(f->diags, RULE_SYNTAX, find(f, other, "x"), "5");
    diag_report(f->diags, RULE_SYNTAX, (struct span){other, 90, 99}, "6");
    assert_string_equal(print(f, DIAG_CHECKSTYLE),
                        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<checkstyle version=\"4.3\">\n"
                        "  <file name=\"f\">\n"
                        "    <error line=\"1\" column=\"3\" severity=\"error\" message=\"1\" "
                        "source=\"pipec.syntax\"/>\n"
                        "    <error line=\"1\" column=\"7\" severity=\"error\" message=\"2\" "
                        "source=\"pipec.syntax\"/>\n"
                        "    <error line=\"1\" column=\"7\" severity=\"error\" message=\"3\" "
                        "source=\"pipec.syntax\"/>\n"
                        "    <error line=\"2\" column=\"3\" severity=\"error\" message=\"4\" "
                        "source=\"pipec.syntax\"/>\n"
                        "  </file>\n"
                        "  <file name=\"g\">\n"
                        "    <error line=\"1\" column=\"3\" severity=\"error\" message=\"5\" "
                        "source=\"pipec.syntax\"/>\n"
                        "    <error line=\"1\" column=\"4\" severity=\"error\" message=\"6\" "
                        "source=\"pipec.syntax\"/>\n"
                        "  </file>\n"
                        "</checkstyle>\n");
}

static void workflow_commands_are_escaped(void **state)
{
    struct fixture *f = *state;
    uint32_t id = add(f, "./a,b:c%.pipe", "x");
    struct diag *diag =
        diag_report(f->diags, RULE_SYNTAX, (struct span){id, 0, 1}, "100%%, a::b\r\n\x1B\xFF");
    diag_label(diag, (struct span){id, 1, 1}, "here");
    diag_help(diag, "do");
    diag_report(f->diags, RULE_NO_PIPELINE, (struct span){0}, "none");
    assert_string_equal(print(f, DIAG_GITHUB),
                        "::error title=no-pipeline::none\n"
                        "::error file=a%2Cb%3Ac%25.pipe,line=1,endLine=1,col=1,title=syntax::"
                        "100%25, a::b%0D%0A\\x1B\\xFF%0Aa,b:c%25.pipe:1:2: here%0Ahelp: do\n");
}

static void xml_is_escaped(void **state)
{
    struct fixture *f = *state;
    uint32_t id = add(f, "<&>\"'\n.pipe", "x");
    diag_report(f->diags, RULE_NO_PIPELINE, (struct span){0}, "no place");
    diag_report(f->diags, RULE_SYNTAX, (struct span){id, 0, 1},
                "]]>\x01\t\xFF\xEF\xBF\xBF\xC3\xA9");
    print(f, DIAG_CHECKSTYLE);
    assert_shown(f, "<file name=\"&#60;&#38;&#62;&#34;&#39;&#10;.pipe\">\n    <error severity=");
    assert_shown(f, "message=\"]]&#62;\\x01&#9;\\xFF\\xEF\\xBF\\xBF\xC3\xA9\"");
}

static void sarif_messages_and_uris_are_escaped(void **state)
{
    static const struct {
        const char *name, *uri;
    } cases[] = {
        {"./a b.pipe", "a%20b.pipe"},       {"/x/%.pipe", "file:///x/%25.pipe"},
        {"c:d?#.pipe", "c%3Ad%3F%23.pipe"}, {"\xC3\xA9\xFF", "%C3%A9%FF"},
        {"../up~1-2_3", "../up~1-2_3"},     {"<stdin>", "%3Cstdin%3E"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[100];
        uint32_t id = add(f, cases[i].name, "x");
        diag_report(f->diags, RULE_SYNTAX, (struct span){id, 0, 1}, "expected '{' in a[1](x)");
        print(f, DIAG_SARIF);
        assert_shown(f, "\"text\": \"expected '{{' in a[1\\\\](x)\"");
        snprintf(expected, sizeof expected, "\"uri\": \"%s\"", cases[i].uri);
        assert_shown(f, expected);
        flush(f, false);
    }
}

/* The digits of the n-th fingerprint. */
static const char *fingerprint(struct fixture *f, int n)
{
    const char *at = print(f, DIAG_GITLAB);
    for (int i = 0; i <= n; i++) {
        at = strstr(at, "\"fingerprint\": \"");
        assert_non_null(at);
        at += 16;
    }
    return arena_string(f->arena, at, 16);
}

static void fingerprints_stay_when_lines_move_and_differ_between_equal_ones(void **state)
{
    struct fixture *f = *state;
    uint32_t id = add(f, "f", "a x\na x\nb x\n");
    for (uint32_t i = 0; i < 3; i++)
        diag_report(f->diags, RULE_SYNTAX, (struct span){id, i * 4 + 2, i * 4 + 3}, "m");
    const char *first = fingerprint(f, 0), *second = fingerprint(f, 1), *third = fingerprint(f, 2);
    assert_string_not_equal(first, second);
    assert_string_not_equal(first, third);
    assert_string_not_equal(second, third);
    flush(f, false);
    uint32_t moved = add(f, "./f", "new\n\n    a x\r\n");
    diag_report(f->diags, RULE_SYNTAX, find(f, moved, "x"), "m");
    assert_string_equal(fingerprint(f, 0), first);
}

/* Valid UTF-8, no control but LF, whatever messages and names hold. */
static void every_form_is_clean_text(void **state)
{
    struct fixture *f = *state;
    char bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)(i == 255 ? 0 : i + 1);
    uint32_t id = source_add(f->sources, bytes, bytes, sizeof bytes);
    struct diag *diag = diag_report(f->diags, RULE_SYNTAX, (struct span){id, 0, 99}, "%s", bytes);
    diag_label(diag, (struct span){id, 20, 200}, "%s", bytes);
    diag_note(diag, "%s", bytes);
    for (int i = 0; i < DIAG_FORMAT_COUNT; i++) {
        const char *text = print(f, (enum diag_format)i), *end = text + strlen(text);
        assert_true(end > text);
        for (size_t length; text < end; text += length) {
            uint32_t code;
            length = utf8_decode(text, (size_t)(end - text), &code);
            assert_true(length > 0);
            assert_true(*text == '\n' || !utf8_is_unprintable(code));
        }
    }
}

static void nothing_found_is_still_a_document(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(print(f, DIAG_TEXT), "");
    assert_string_equal(print(f, DIAG_JSONL), "");
    assert_string_equal(print(f, DIAG_GITLAB), "[]\n");
    print(f, DIAG_JSON);
    assert_shown(f, "\"finished\": true,\n  \"errors\": 0,\n  \"warnings\": 0,");
    assert_shown(f, "\"diagnostics\": []");
    print(f, DIAG_SARIF);
    assert_shown(f, "\"results\": []");
    print(f, DIAG_CHECKSTYLE);
    assert_shown(f, "<checkstyle version=\"4.3\">\n</checkstyle>\n");
}

static void levels_below_the_least_are_counted_but_not_shown(void **state)
{
    struct fixture *f = *state;
    uint32_t id = add(f, "f", "x");
    diag_report(f->diags, RULE_WIDENED_AFTERWARDS, (struct span){id, 0, 1}, "warned");
    diag_report(f->diags, RULE_SYNTAX, (struct span){id, 0, 1}, "refused");
    struct diag_view view = {.format = DIAG_SHORT, .min_level = DIAG_ERROR};
    char *shown = NULL;
    size_t size;
    FILE *to = open_memstream(&shown, &size);
    diag_print(f->diags, to, &view);
    fclose(to);
    assert_string_equal(shown, "f:1:1: error: refused [syntax]\n");
    assert_int_equal(diag_warning_count(f->diags), 1);
    free(shown);
}

#define WITH_DIAGS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

TEST_MAIN("diag", WITH_DIAGS(both_places_notes_and_help_are_shown),
          WITH_DIAGS(label_in_another_file_names_it), WITH_DIAGS(carets_stand_under_their_columns),
          WITH_DIAGS(end_of_file_has_a_place),
          WITH_DIAGS(diagnostic_without_place_names_the_program),
          WITH_DIAGS(long_line_is_cut_round_the_caret),
          WITH_DIAGS(every_byte_value_is_shown_safely),
          WITH_DIAGS(sorted_by_place_and_equal_ones_once),
          WITH_DIAGS(output_and_memory_are_bounded),
          WITH_DIAGS(levels_follow_the_table_and_its_overrides),

          cmocka_unit_test(broken_utf8_is_cut_as_decoders_do),
          WITH_DIAGS(columns_are_counted_in_the_unit_of_the_form),
          WITH_DIAGS(columns_do_not_depend_on_what_was_shown_before),
          WITH_DIAGS(workflow_commands_are_escaped), WITH_DIAGS(xml_is_escaped),
          WITH_DIAGS(sarif_messages_and_uris_are_escaped),
          WITH_DIAGS(fingerprints_stay_when_lines_move_and_differ_between_equal_ones),
          WITH_DIAGS(every_form_is_clean_text), WITH_DIAGS(nothing_found_is_still_a_document),
          WITH_DIAGS(levels_below_the_least_are_counted_but_not_shown),
          WITH_DIAGS(colours_only_when_asked), cmocka_unit_test(rules_are_found_by_id))
