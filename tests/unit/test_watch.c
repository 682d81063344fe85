/* SPDX-License-Identifier: MIT */
/* tools/piperun/watch: progress, the table and the scope from fixed figures, and the tap. */
#include "tests/test.h"

#include "tools/piperun/watch/watch_tap.h"
#include "tools/piperun/watch/watch_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

static struct prt_stage_moment stages[2][3];
static struct prt_buffer_moment buffers[2][3];
static struct watch_port ports[2][2];
static struct watch_sample before, now;
static char text[64 * 1024];

/* Two seconds pass: a (idle), b (70 % busy), c (25 %); x delivers 3 of 4 M packets. */
static int set_up(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        stages[i][0] = (struct prt_stage_moment){"a", "copy", PRT_STAGE_LACKS_PACKETS, 0, 10, 0};
        stages[i][1] = (struct prt_stage_moment){"b", "fir", PRT_STAGE_LACKS_ROOM, 2, 0, 0};
        stages[i][2] = (struct prt_stage_moment){"c", "sum", PRT_STAGE_ENDED, UINT32_MAX, 0, 0};
        buffers[i][0] = (struct prt_buffer_moment){"x", 0, 64, 0, false};
        buffers[i][1] = (struct prt_buffer_moment){"t", 32, 64, 0, false};
        buffers[i][2] = (struct prt_buffer_moment){"y", 64, 64, 0, true};
    }
    stages[1][0].firings = 10;
    stages[1][1].firings = 2000;
    stages[1][1].busy_cycles = 700;
    stages[1][2].busy_cycles = 250;
    buffers[1][0].packets = 3000000;
    before = (struct watch_sample){.stages = stages[0],
                                   .buffers = buffers[0],
                                   .ports = ports[0],
                                   .stage_count = 3,
                                   .buffer_count = 3,
                                   .port_count = 2};
    now = before;
    now.time_ns = 2 * SECOND;
    now.cycles = 1000;
    now.stages = stages[1];
    now.buffers = buffers[1];
    now.ports = ports[1];
    for (int i = 0; i < 2; i++) {
        ports[i][0] = (struct watch_port){buffers[i][0], true, {4000000, 0}, 0};
        ports[i][1] = (struct watch_port){buffers[i][2], false, {0, 0}, 0};
    }
    return 0;
}

static void progress_is(uint32_t columns, const char *expected)
{
    watch_progress_text(&before, &before, &now, columns, text, sizeof text);
    assert_string_equal(text, expected);
}

static void progress_has_position_rate_time_left_and_the_slowest_stage(void **unused)
{
    (void)unused;
    progress_is(200, "75 %, 3.00 M of 4.00 M packets of 'x', 1.50 M/s, 0:01 left, slowest stage "
                     "'b' (70 % busy)");
}

static void parts_that_do_not_fit_are_left_out_whole(void **unused)
{
    (void)unused;
    progress_is(59, "75 %, 3.00 M of 4.00 M packets of 'x', 1.50 M/s, 0:01 left");
    progress_is(50, "75 %, 3.00 M of 4.00 M packets of 'x', 1.50 M/s");
    progress_is(3, "");
}

static void without_a_number_of_packets_the_bytes_of_the_file_tell_the_position(void **unused)
{
    (void)unused;
    now.ports[0].whole = (struct watch_length){0, 1000};
    now.ports[0].read_bytes = 100;
    progress_is(60, "10 %, 3.00 M packets of 'x', 1.50 M/s, 0:18 left");
    now.ports[0].read_bytes = 2000; /* it has grown */
    progress_is(60, "100 %, 3.00 M packets of 'x', 1.50 M/s, 0:00 left");
}

static void a_stream_without_a_known_length_has_no_time_left(void **unused)
{
    (void)unused;
    now.ports[0].whole = (struct watch_length){0, 0};
    progress_is(40, "3.00 M packets of 'x', 1.50 M/s");
}

static void of_several_in_ports_the_one_with_most_left_counts(void **unused)
{
    (void)unused;
    now.ports[1].input = true;
    now.ports[1].whole.packets = 10;
    now.ports[1].buffer.packets = 9;
    progress_is(5, "75 %");
    now.ports[1].buffer.packets = 1;
    progress_is(5, "10 %");
    now.ports[0].whole.packets = 0; /* nothing is known of it */
    progress_is(5, "10 %");
}

static void without_in_ports_an_out_port_counts_and_without_ports_firings(void **unused)
{
    (void)unused;
    now.ports++;
    before.ports++;
    now.port_count = 1;
    progress_is(30, "0 packets of 'y', 0/s");
    now.port_count = 0;
    progress_is(30, "2010 firings, 1000/s");
}

static void hours_are_shown_and_guesses_of_days_are_not(void **unused)
{
    (void)unused;
    now.ports[0].whole.packets = UINT64_C(3000000) * 3600;
    progress_is(70, "0 %, 3.00 M of 10.8 G packets of 'x', 1.50 M/s, 1:59:58 left");
    now.ports[0].whole.packets = UINT64_C(3000000) * 360000;
    progress_is(70, "0 %, 3.00 M of 1.08 T packets of 'x', 1.50 M/s");
}

static void nothing_is_divided_by_a_time_that_has_not_passed(void **unused)
{
    (void)unused;
    now.time_ns = 0;
    now.cycles = 0;
    progress_is(200, "75 %, 3.00 M of 4.00 M packets of 'x', 0/s");
    assert_int_equal(watch_busy_percent(&before, &now, 1), -1);
}

static void names_cannot_drive_the_terminal(void **unused)
{
    (void)unused;
    now.ports[0].buffer.name = "x\033[2J";
    now.stages[1].name = "b\a";
    watch_progress_text(&before, &before, &now, 200, text, sizeof text);
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\a'));
    assert_non_null(strstr(text, "x\\x1B[2J"));
}

/* ---- frames ---- */

static struct watch_frame frame;
static struct watch_weight weights[3];

static const char *table(uint32_t columns, uint32_t rows, bool colour)
{
    static char shown[64 * 1024];
    watch_frame_begin(&frame, columns, rows, colour, text, sizeof text);
    watch_table(&frame, &before, &now, weights);
    size_t used = 0;
    for (size_t i = 0; i < frame.used; i++) { /* without the escapes around each line */
        if (text[i] == '\r') continue;
        if (strncmp(text + i, "\033[K", 3) == 0)
            i += 2;
        else
            shown[used++] = text[i];
    }
    shown[used] = '\0';
    return shown;
}

static void the_table_has_firings_busy_share_and_the_side_that_blocks(void **unused)
{
    (void)unused;
    assert_string_equal(
        table(100, 24, false),
        "stage            kernel        firings       /s   busy\n"
        "a                copy               10        0    0 %  waits for packets in 'x'\n"
        "b                fir              2000     1000   70 %  waits for room in 'y'\n"
        "c                sum                 0        0   25 %  has ended\n"
        "buffer           fill            holds    depth       /s\n"
        "x                [..........]        0       64   1.50 M  open\n"
        "t                [#####.....]       32       64        0  open\n"
        "y                [##########]       64       64        0  closed\n");
}

static void the_slowest_stage_is_bold_if_colours_are_wanted(void **unused)
{
    (void)unused;
    assert_non_null(strstr(table(80, 24, true), "\033[1mb  "));
    assert_null(strstr(table(80, 24, false), "\033"));
}

static void with_few_rows_the_busiest_stages_and_fullest_buffers_are_shown(void **unused)
{
    (void)unused;
    const char *shown = table(80, 7, false);
    assert_int_equal(frame.lines, 6);
    assert_non_null(strstr(shown, "\nb  "));
    assert_null(strstr(shown, "\na  "));
    assert_non_null(strstr(shown, "... and 2 more stages\n"));
    assert_non_null(strstr(shown, "\ny  "));
    assert_null(strstr(shown, "\nt  "));
    assert_non_null(strstr(shown, "... and 2 more buffers\n"));
    for (uint32_t rows = 0; rows < 12; rows++) {
        (void)table(80, rows, false);
        assert_true(frame.lines < rows || frame.lines == 0);
    }
}

static void no_line_is_as_wide_as_the_terminal(void **unused)
{
    (void)unused;
    for (uint32_t columns = 0; columns < 100; columns++) {
        const char *line = table(columns, 24, false);
        assert_int_equal(frame.lines > 0, columns >= WATCH_COLUMNS_LEAST);
        while (*line != '\0') {
            size_t length = strcspn(line, "\n");
            assert_true(length < columns);
            line += length + 1;
        }
    }
}

static void a_frame_that_is_full_takes_no_more(void **unused)
{
    (void)unused;
    watch_frame_begin(&frame, 80, 24, false, text, 16);
    watch_frame_line(&frame, false, "0123456789");
    watch_frame_line(&frame, false, "0123456789");
    assert_int_equal(frame.lines, 1);
    assert_int_equal(frame.used, 15);
}

/* ---- the scope ---- */

static const char *scope(const double *values, size_t count, bool braille)
{
    watch_frame_begin(&frame, 24, 24, false, text, sizeof text - 1);
    watch_scope(&frame, "y", values, count, 2, braille);
    text[frame.used] = '\0';
    return text;
}

static void a_scope_draws_the_range_of_each_column(void **unused)
{
    (void)unused;
    const double values[] = {0, 1, 0, -1};
    const char *shown = scope(values, 4, false);
    assert_non_null(strstr(shown, "\r          1  *         \033[K\n"));
    assert_non_null(strstr(shown, "\r         -1 * **       \033[K\n"));
    assert_int_equal(frame.lines, 3);
}

/* Eight rows of dots: 1 in the first, -1 in the last, 0 in the fifth. */
static void braille_has_two_by_four_dots_a_character(void **unused)
{
    (void)unused;
    const double values[] = {0, 1, 0, -1};
    const char *shown = scope(values, 4, true);
    assert_non_null(strstr(shown, "          1 \xe2\xa0\x88 "));
    assert_non_null(strstr(shown, "         -1 \xe2\xa0\x81\xe2\xa2\x81"));
}

static void values_that_are_not_finite_are_left_out_of_the_scope(void **unused)
{
    (void)unused;
    const double values[] = {NAN, INFINITY, 2, 2, -INFINITY};
    assert_non_null(strstr(scope(values, 5, false), "          2 "));
    assert_null(strstr(scope(values, 2, false), "*"));
    assert_null(strstr(scope(values, 0, true), "\xe2"));
    assert_int_equal(frame.lines, 3);
    const double far[] = {1.7e308, -1.7e308};
    assert_non_null(strstr(scope(far, 2, false), "-1.7e+308  *"));
}

/* ---- the tap ---- */

static double kept[WATCH_VALUES];
static uint64_t passed;

static struct watch_tap *tap_of(const struct prt_packet *packet, const char *part)
{
    struct watch_tap *tap = NULL;
    struct prt_error error;
    enum prt_status status = watch_tap_create(packet, part, &tap, &error);
    assert_int_equal(status == PRT_OK, tap != NULL);
    if (tap == NULL) assert_int_equal(status, PRT_E_USAGE);
    return tap;
}

static void a_tap_keeps_the_last_values(void **unused)
{
    (void)unused;
    const struct prt_packet packet = {.type = "i16", .width_bytes = 2, .scalar = SCALAR_I16};
    static int16_t packets[10000];
    for (int i = 0; i < 10000; i++)
        packets[i] = (int16_t)i;
    struct watch_tap *tap = tap_of(&packet, NULL);
    watch_tap_put(tap, packets, 3);
    assert_int_equal(watch_tap_copy(tap, kept, &passed), 3);
    assert_true(kept[2] == 2);
    watch_tap_put(tap, packets, 10000);
    assert_int_equal(watch_tap_copy(tap, kept, &passed), WATCH_VALUES);
    assert_int_equal(passed, 10003);
    assert_true(kept[0] == 10000 - WATCH_VALUES);
    assert_true(kept[WATCH_VALUES - 1] == 9999);
    watch_tap_destroy(tap);
    watch_tap_destroy(NULL);
}

static void a_tap_takes_one_channel_of_a_vector_and_all_values_of_a_block(void **unused)
{
    (void)unused;
    const float packets[] = {1, 2, 3, 4};
    struct prt_field_information part = {"", SCALAR_F32, 0, 2, "", 2};
    const struct prt_packet pair = {"f32x2", 8, &part, SCALAR_F32, 1};
    struct watch_tap *tap = tap_of(&pair, "1");
    watch_tap_put(tap, packets, 2);
    assert_int_equal(watch_tap_copy(tap, kept, &passed), 2);
    assert_true(kept[0] == 2 && kept[1] == 4);
    watch_tap_destroy(tap);
    assert_null(tap_of(&pair, "2"));
    assert_null(tap_of(&pair, "x"));
    assert_null(tap_of(&pair, "1x"));
    part.lanes = 1; /* f32[2] */
    assert_null(tap_of(&pair, "0"));
    tap = tap_of(&pair, NULL);
    watch_tap_put(tap, packets, 2);
    assert_int_equal(watch_tap_copy(tap, kept, &passed), 4);
    watch_tap_destroy(tap);
}

static void a_tap_takes_a_field_by_its_name_or_number(void **unused)
{
    (void)unused;
    const struct prt_field_information fields[] = {{"id", SCALAR_U8, 0, 1, "", 1},
                                                   {"level", SCALAR_F32, 4, 1, "", 1}};
    const struct prt_packet packet = {"reading", 8, fields, SCALAR_U8, 2};
    const struct {
        uint8_t id;
        float level;
    } packets[] = {{7, 0.5f}, {8, 0.25f}};
    static const char *const parts[] = {"level", "1"};
    for (size_t i = 0; i < 2; i++) {
        struct watch_tap *tap = tap_of(&packet, parts[i]);
        watch_tap_put(tap, packets, 2);
        assert_int_equal(watch_tap_copy(tap, kept, &passed), 2);
        assert_true(kept[1] == 0.25);
        watch_tap_destroy(tap);
    }
    struct watch_tap *first = tap_of(&packet, NULL);
    watch_tap_put(first, packets, 2);
    assert_int_equal(watch_tap_copy(first, kept, &passed), 2);
    assert_true(kept[0] == 7);
    watch_tap_destroy(first);
    assert_null(tap_of(&packet, "speed"));
    assert_null(tap_of(&packet, "2"));
}

static void a_tap_that_is_in_use_lets_values_pass(void **unused)
{
    (void)unused;
    const struct prt_packet packet = {.type = "u8", .width_bytes = 1, .scalar = SCALAR_U8};
    struct watch_tap *tap = tap_of(&packet, NULL);
    pthread_mutex_lock(&tap->lock);
    watch_tap_put(tap, "ab", 2);
    pthread_mutex_unlock(&tap->lock);
    assert_int_equal(watch_tap_copy(tap, kept, &passed), 0);
    watch_tap_destroy(tap);
}

TEST_MAIN(
    "watch",
    cmocka_unit_test_setup(progress_has_position_rate_time_left_and_the_slowest_stage, set_up),
    cmocka_unit_test_setup(parts_that_do_not_fit_are_left_out_whole, set_up),
    cmocka_unit_test_setup(without_a_number_of_packets_the_bytes_of_the_file_tell_the_position,
                           set_up),
    cmocka_unit_test_setup(a_stream_without_a_known_length_has_no_time_left, set_up),
    cmocka_unit_test_setup(of_several_in_ports_the_one_with_most_left_counts, set_up),
    cmocka_unit_test_setup(without_in_ports_an_out_port_counts_and_without_ports_firings, set_up),
    cmocka_unit_test_setup(hours_are_shown_and_guesses_of_days_are_not, set_up),
    cmocka_unit_test_setup(nothing_is_divided_by_a_time_that_has_not_passed, set_up),
    cmocka_unit_test_setup(names_cannot_drive_the_terminal, set_up),
    cmocka_unit_test_setup(the_table_has_firings_busy_share_and_the_side_that_blocks, set_up),
    cmocka_unit_test_setup(the_slowest_stage_is_bold_if_colours_are_wanted, set_up),
    cmocka_unit_test_setup(with_few_rows_the_busiest_stages_and_fullest_buffers_are_shown, set_up),
    cmocka_unit_test_setup(no_line_is_as_wide_as_the_terminal, set_up),
    cmocka_unit_test(a_frame_that_is_full_takes_no_more),
    cmocka_unit_test(a_scope_draws_the_range_of_each_column),
    cmocka_unit_test(braille_has_two_by_four_dots_a_character),
    cmocka_unit_test(values_that_are_not_finite_are_left_out_of_the_scope),
    cmocka_unit_test(a_tap_keeps_the_last_values),
    cmocka_unit_test(a_tap_takes_one_channel_of_a_vector_and_all_values_of_a_block),
    cmocka_unit_test(a_tap_takes_a_field_by_its_name_or_number),
    cmocka_unit_test(a_tap_that_is_in_use_lets_values_pass))
