/* SPDX-License-Identifier: MIT */
/* Sets of stages, against an array of flags. */
#include "tests/test.h"

#include "core/marks.h"

enum { STAGES_MAX = 3 * 4096 + 7 };

/* The words lie at a fixed distance from the set, so both can be returned. */
struct marks {
    struct core_marks marks;
    uint64_t words[STAGES_MAX / 64 + STAGES_MAX / 4096 + 2];
};

static struct marks make(uint32_t count)
{
    struct marks made = {.words = {0}};
    assert_true(core_marks_words(count) <= sizeof made.words / sizeof *made.words);
    core_marks_lay_out(&made.marks, made.words, count);
    return made;
}

static uint32_t state = 1;

static uint32_t any(uint32_t below)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

static uint32_t first_of(const bool *marked, uint32_t from, uint32_t count)
{
    while (from < count && !marked[from])
        from++;
    return from < count ? from : CORE_NONE;
}

static void stages_are_taken_in_their_order(void **unused)
{
    (void)unused;
    static const uint32_t counts[] = {1, 63, 64, 65, 4095, 4096, 4097, STAGES_MAX};
    static bool marked[STAGES_MAX];
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        uint32_t count = counts[c], left = 0;
        struct marks made = make(count);
        struct core_marks *marks = &made.marks;
        assert_int_equal(core_marks_take(marks, 0), CORE_NONE);
        for (int step = 0; step < 20000; step++) {
            uint32_t stage = any(count), from = any(3) == 0 ? 0 : any(count + 1);
            if (any(100) < 45) {
                core_mark(marks, stage);
                left += !marked[stage];
                marked[stage] = true;
            } else {
                uint32_t first = first_of(marked, from, count);
                assert_int_equal(core_marks_take(marks, from), first);
                if (first == CORE_NONE) continue;
                marked[first] = false;
                left--;
            }
            assert_int_equal(marks->marked, left);
        }
        for (uint32_t i = 0; i < count; i++)
            marked[i] = false;
    }
}

static void all_stages_are_marked_once(void **unused)
{
    (void)unused;
    struct marks made = make(130);
    struct core_marks *marks = &made.marks;
    core_mark(marks, 7);
    core_mark_all(marks);
    assert_int_equal(marks->marked, 130);
    for (uint32_t i = 0; i < 130; i++)
        assert_int_equal(core_marks_take(marks, 0), i);
    assert_int_equal(marks->marked, 0);
}

static void there_may_be_no_stages(void **unused)
{
    (void)unused;
    struct marks made = make(0);
    struct core_marks *marks = &made.marks;
    core_mark_all(marks);
    assert_int_equal(core_marks_take(marks, 0), CORE_NONE);
}

TEST_MAIN("stage_marks", cmocka_unit_test(stages_are_taken_in_their_order),
          cmocka_unit_test(all_stages_are_marked_once), cmocka_unit_test(there_may_be_no_stages))
