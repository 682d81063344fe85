/* SPDX-License-Identifier: MIT */
/* Lines of memory that lanes touch, against a memory in which each byte is touched. */
#include "tests/test.h"

#include "compiler/bodies/coalesce.h"

enum { MEMORY = 1 << 16, LINES = MEMORY };

static uint64_t state = 3;

static uint64_t draw_up_to(uint64_t most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % (most + 1);
}

static uint64_t touched_lines(uint64_t lanes, uint64_t step, uint64_t width, uint64_t line)
{
    static bool touched[LINES];
    uint64_t lines = 0;
    memset(touched, 0, sizeof touched);
    for (uint64_t lane = 0; lane < lanes; lane++)
        for (uint64_t byte = 0; byte < width; byte++)
            touched[(lane * step + byte) / line] = true;
    for (uint64_t i = 0; i < LINES; i++)
        lines += touched[i];
    return lines;
}

static void lines_are_those_that_some_lane_touches(void **unused)
{
    (void)unused;
    for (int round = 0; round < 2000; round++) {
        uint64_t lanes = 1 + draw_up_to(63), line = 1 + draw_up_to(199);
        uint64_t step = draw_up_to(2) == 0 ? draw_up_to(20) : draw_up_to(900);
        uint64_t width = 1 + draw_up_to(draw_up_to(1) ? 8 : 500);
        assert_int_equal(coalesced_lines(lanes, step, width, line),
                         touched_lines(lanes, step, width, line));
    }
}

/* The figures of lang/time.md, "Lines". */
static void neighbours_share_lines(void **unused)
{
    (void)unused;
    assert_int_equal(coalesced_lines(32, 4, 4, 128), 1);
    assert_int_equal(coalesced_lines(32, 128, 4, 128), 32);
    assert_int_equal(coalesced_lines(32, 16, 4, 128), 4);
    assert_int_equal(coalesced_lines(32, 0, 4, 128), 1);
    assert_int_equal(coalesced_lines(1, 4096, 200, 128), 2);
}

TEST_MAIN("coalesce", cmocka_unit_test(lines_are_those_that_some_lane_touches),
          cmocka_unit_test(neighbours_share_lines))
