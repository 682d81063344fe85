/* SPDX-License-Identifier: MIT */
/* Sets of stages, against an array of flags. */
#include "tests/test.h"

#include "runtime/sched/stage_marks.h"

enum { STAGES_MAX = 3 * 4096 + 7 };

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
    return from < count ? from : PRT_STAGE_MARKS_NONE;
}

static void stages_are_taken_in_their_order(void **unused)
{
    (void)unused;
    static const uint32_t counts[] = {1, 63, 64, 65, 4095, 4096, 4097, STAGES_MAX};
    static bool marked[STAGES_MAX];
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        uint32_t count = counts[c], left = 0;
        struct prt_stage_marks marks;
        assert_true(prt_stage_marks_create(&marks, count));
        assert_int_equal(prt_stage_marks_take(&marks, 0), PRT_STAGE_MARKS_NONE);
        for (int step = 0; step < 20000; step++) {
            uint32_t stage = any(count), from = any(3) == 0 ? 0 : any(count + 1);
            if (any(100) < 45) {
                prt_stage_mark(&marks, stage);
                left += !marked[stage];
                marked[stage] = true;
            } else {
                uint32_t first = first_of(marked, from, count);
                assert_int_equal(prt_stage_marks_take(&marks, from), first);
                if (first == PRT_STAGE_MARKS_NONE) continue;
                marked[first] = false;
                left--;
            }
            assert_int_equal(marks.marked, left);
        }
        for (uint32_t i = 0; i < count; i++)
            marked[i] = false;
        prt_stage_marks_destroy(&marks);
    }
}

static void all_stages_are_marked_once(void **unused)
{
    (void)unused;
    struct prt_stage_marks marks;
    assert_true(prt_stage_marks_create(&marks, 130));
    prt_stage_mark(&marks, 7);
    prt_stage_mark_all(&marks);
    assert_int_equal(marks.marked, 130);
    for (uint32_t i = 0; i < 130; i++)
        assert_int_equal(prt_stage_marks_take(&marks, 0), i);
    assert_int_equal(marks.marked, 0);
    prt_stage_marks_destroy(&marks);
}

static void there_may_be_no_stages(void **unused)
{
    (void)unused;
    struct prt_stage_marks marks;
    assert_true(prt_stage_marks_create(&marks, 0));
    prt_stage_mark_all(&marks);
    assert_int_equal(prt_stage_marks_take(&marks, 0), PRT_STAGE_MARKS_NONE);
    prt_stage_marks_destroy(&marks);
    prt_stage_marks_destroy(&marks);
}

TEST_MAIN("stage_marks", cmocka_unit_test(stages_are_taken_in_their_order),
          cmocka_unit_test(all_stages_are_marked_once), cmocka_unit_test(there_may_be_no_stages))
