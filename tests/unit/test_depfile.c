/* SPDX-License-Identifier: MIT */
#include "tests/test.h"

#include <stdio.h>
#include <unistd.h>

#include "compiler/driver/depfile.h"
#include "compiler/driver/response_file.h"

static char *quoted(const char *name)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    bool good = depfile_quote(file, name);
    fclose(file);
    if (good) return text;
    free(text);
    return NULL;
}

/* Each of these was read by GNU make 4.3 as the name on the left. */
static void names_are_quoted_as_make_wants_them(void **state)
{
    (void)state;
    static const struct {
        const char *name, *quoted;
    } cases[] = {
        {"", ""},
        {"plain/name-1.pipe", "plain/name-1.pipe"},
        {"two words", "two\\ words"},
        {"a\ttab", "a\\\ttab"},
        {"c#", "c\\#"},
        {"$HOME$", "$$HOME$$"},
        {"c:d", "c\\:d"},
        {"b\\s", "b\\s"},
        {"b\\\\s", "b\\\\s"},
        {"b\\ s", "b\\\\\\ s"},
        {"b\\\\#s", "b\\\\\\\\\\#s"},
        {"d\\:x", "d\\\\\\:x"},
        {"\\$", "\\$$"},
        {"end\\", "end\\\\"},
        {" #:", "\\ \\#\\:"},
        {"\xC3\xBC", "\xC3\xBC"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = quoted(cases[i].name);
        assert_non_null(text);
        assert_string_equal(text, cases[i].quoted);
        free(text);
    }
}

static void name_with_a_line_break_is_refused(void **state)
{
    (void)state;
    assert_null(quoted("a\nb"));
    assert_null(quoted("a\\\n"));
}

static void names_follow_from_output_or_source(void **state)
{
    (void)state;
    static const struct {
        const char *source, *output;
        bool alone;
        const char *target, *path;
    } cases[] = {
        {"in/a.pipe", "out/b.pbc", false, "out/b.pbc", "out/b.d"},
        {"in/a.pipe", "out.x/b", false, "out.x/b", "out.x/b.d"},
        {"in/a.pipe", ".hidden", false, ".hidden", ".hidden.d"},
        {"in/a.b.pipe", NULL, false, "a.b.pbc", "a.b.d"},
        {"in.d/a", "-", false, "a.pbc", "a.d"},
        {"a.pipe", "/dev/null", false, "a.pbc", "a.d"},
        {"-", "b.pbc", false, "b.pbc", "b.d"},
        {"-", NULL, false, "-", NULL},
        {"in/a.pipe", NULL, true, "a.pbc", "-"},
        {"in/a.pipe", "rule", true, "a.pbc", "rule"},
        {"-", NULL, true, "-", "-"},
    };
    struct arena *arena = arena_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct depfile depfile = {.wanted = true, .alone = cases[i].alone};
        bool good = depfile_complete(&depfile, cases[i].source, cases[i].output, arena);
        assert_int_equal(good, cases[i].path != NULL);
        assert_int_equal(depfile.target_count, 1);
        assert_string_equal(depfile.targets[0].text, cases[i].target);
        if (good) assert_string_equal(depfile.path, cases[i].path);
    }
    arena_destroy(arena);
}

static void what_the_user_names_stays(void **state)
{
    (void)state;
    static const struct depfile_target targets[] = {{"a", true}, {"b", false}};
    struct arena *arena = arena_create();
    struct depfile depfile = {.wanted = true, .path = "p", .targets = targets, .target_count = 2};
    assert_true(depfile_complete(&depfile, "-", NULL, arena));
    assert_string_equal(depfile.path, "p");
    assert_ptr_equal(depfile.targets, targets);
    assert_int_equal(depfile.target_count, 2);
    arena_destroy(arena);
}

static void rule_lists_what_came_from_disk(void **state)
{
    (void)state;
    static const struct depfile_target targets[] = {{"$(T) x", true}, {"$(T) x", false}};
    struct arena *arena = arena_create();
    struct sources *sources = sources_create(arena);
    struct depfile depfile = {.phony_targets = true, .targets = targets, .target_count = 2};
    char path[] = "/tmp/test depfile XXXXXX", *text = NULL, expected[200];
    size_t size;
    uint32_t id;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    source_add(sources, "memory", "", 0);
    assert_int_equal(source_import(sources, 1, "std/math.pipe", NULL, 0, &id), SOURCE_OK);
    assert_int_equal(source_read(sources, path, &id), SOURCE_OK);
    FILE *file = open_memstream(&text, &size);
    assert_true(depfile_print(file, &depfile, sources, NULL, 0));
    fclose(file);
    snprintf(expected, sizeof expected,
             "$(T) x $$(T)\\ x: \\\n  /tmp/test\\ depfile\\ %s\n/tmp/test\\ depfile\\ %s:\n",
             path + 18, path + 18);
    assert_string_equal(text, expected);
    free(text);
    close(fd);
    unlink(path);
    arena_destroy(arena);
}

static void response_files_are_split_as_gcc_does(void **state)
{
    (void)state;
    static const char text[] =
        " a  'b c'\t\"d 'e\" f\\ g '\\'' \"\\\"\" '' x\"y z\"w\n\v\\\\ \\n \"open end";
    static const char *const wanted[] = {"pipec", "a",     "b c", "d 'e", "f g",      "'",   "\"",
                                         "",      "xy zw", "\\",  "n",    "open end", "last"};
    struct arena *arena = arena_create();
    char path[] = "@/tmp/test_response_XXXXXX", name[] = "pipec", last[] = "last";
    int fd = mkstemp(path + 1);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    char *arguments[] = {name, path, last, NULL}, **argv = arguments;
    int argc = 3;
    struct compile_options options = {0};
    assert_true(response_files_expand(&argc, &argv, arena, &options));
    assert_int_equal(argc, sizeof wanted / sizeof *wanted);
    for (int i = 0; i < argc; i++)
        assert_string_equal(argv[i], wanted[i]);
    assert_null(argv[argc]);
    assert_int_equal(options.also_read.count, 1);
    assert_string_equal(options.also_read.items[0], path + 1);
    unlink(path + 1);
    arena_destroy(arena);
}

TEST_MAIN("depfile", cmocka_unit_test(names_are_quoted_as_make_wants_them),
          cmocka_unit_test(name_with_a_line_break_is_refused),
          cmocka_unit_test(names_follow_from_output_or_source),
          cmocka_unit_test(what_the_user_names_stays),
          cmocka_unit_test(rule_lists_what_came_from_disk),
          cmocka_unit_test(response_files_are_split_as_gcc_does))
