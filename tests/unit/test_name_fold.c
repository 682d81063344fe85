/* SPDX-License-Identifier: MIT */
/* name_fold, folded_table: equal elements of arrays and chains are one row. */
#include "base/name_fold.h"
#include "compiler/support/folded_table.h"
#include "tests/test.h"

#include <stdlib.h>

static void names_that_differ_by_rising_indices_are_one(void **unused)
{
    (void)unused;
    struct arena *arena = arena_create();
    static const struct {
        const char *names[5], *folded;
        size_t run;
    } rows[] = {
        {{"eq[0]", "eq[1]", "eq[2]", "mix", ""}, "eq[0..2]", 3},
        {{"g#9", "g#10", "g#11", "g#12", "g#14"}, "g#9..12", 4},
        {{"g#2->g#3", "g#3->g#4", "g#4->g#5", "g#6->g#7", ""}, "g#2..4->g#3..5", 3},
        {{"a[1].b[7]", "a[1].b[8]", "a[1].b[9]", "a[2].b[10]", ""}, "a[1].b[7..9]", 3},
        {{"eq[0]", "eq[1]", "mix", "", ""}, "eq[0]", 1},
        {{"eq[0]", "eq[2]", "eq[4]", "eq[6]", "eq[8]"}, "eq[0]", 1},
        {{"eq[1]", "eq[0]", "eq[2]", "eq[3]", "eq[4]"}, "eq[1]", 1},
        {{"eq[0]", "eq[1]x", "eq[2]", "eq[3]", "eq[4]"}, "eq[0]", 1},
        {{"low", "low", "low", "low", "low"}, "low", 1},
        {{"stage0", "stage1", "stage2", "stage3", "stage4"}, "stage0", 1},
        {{"a[9999999999999999999]", "a[9999999999999999999]", "a[1]", "", ""},
         "a[9999999999999999999]",
         1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t run = name_run(rows[i].names, 5);
        assert_int_equal(run, rows[i].run);
        assert_string_equal(name_fold(arena, rows[i].names[0], rows[i].names[run - 1]),
                            rows[i].folded);
    }
    arena_destroy(arena);
}

static void folded_names_are_unfolded(void **unused)
{
    (void)unused;
    struct arena *arena = arena_create();
    assert_int_equal(name_unfold_count("eq[0..9]"), 10);
    assert_string_equal(name_unfold(arena, "eq[0..9]", 0), "eq[0]");
    assert_string_equal(name_unfold(arena, "eq[0..9]", 9), "eq[9]");
    assert_string_equal(name_unfold(arena, "a[1].k#8..11", 3), "a[1].k#11");
    assert_string_equal(name_unfold(arena, "a[0..2].b[5..7]", 2), "a[2].b[7]");
    assert_int_equal(name_unfold_count("mix"), 1);
    assert_string_equal(name_unfold(arena, "mix", 0), "mix");
    assert_int_equal(name_unfold_count("a[3]"), 1);
    assert_int_equal(name_unfold_count("a[3..1]"), 1);
    assert_int_equal(name_unfold_count("a[..]#"), 1);
    arena_destroy(arena);
}

static char *printed(const char *text, const int *widths, size_t columns, bool whole)
{
    struct arena *arena = arena_create();
    struct folded_table table;
    struct memory_text memory;
    fputs(text, folded_table_begin(&table, arena));
    assert_true(memory_text_begin(&memory));
    folded_table_end(&table, memory.file, widths, columns, whole);
    arena_destroy(arena);
    return memory_text_end(&memory, NULL);
}

static void rows_of_equal_elements_are_one_row(void **unused)
{
    (void)unused;
    static const char rows[] = "stage\tcycles\t\n"
                               "e[0]\t3\tin\ne[0]\t4\tout\n"
                               "e[1]\t3\tin\ne[1]\t4\tout\n"
                               "e[2]\t3\tin\ne[2]\t4\tout\n"
                               "e[3]\t3\tin\ne[3]\t5\tout\n";
    static const int widths[] = {0, 7, 0};
    char *folded = printed(rows, widths, 3, false), *whole = printed(rows, widths, 3, true);
    assert_string_equal(folded, "stage     cycles\n"
                                "e[0..2]        3  in\n"
                                "e[0..2]        4  out\n"
                                "e[3]           3  in\n"
                                "e[3]           5  out\n");
    assert_string_equal(whole, "stage   cycles\n"
                               "e[0]         3  in\ne[0]         4  out\n"
                               "e[1]         3  in\ne[1]         4  out\n"
                               "e[2]         3  in\ne[2]         4  out\n"
                               "e[3]         3  in\ne[3]         5  out\n");
    free(folded);
    free(whole);
}

TEST_MAIN("name_fold", cmocka_unit_test(names_that_differ_by_rising_indices_are_one),
          cmocka_unit_test(folded_names_are_unfolded),
          cmocka_unit_test(rows_of_equal_elements_are_one_row))
