#include "tests/test.h"

#include <stdio.h>

#include "compiler/support/context.h"

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
          WITH_DIAGS(colours_only_when_asked), cmocka_unit_test(rules_are_found_by_id),
          cmocka_unit_test(near_names_are_suggested_and_far_ones_not))
