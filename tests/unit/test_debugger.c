/* SPDX-License-Identifier: MIT */
/* The debugger of a run, as a program uses it: stops, going on, breakpoints, conditions, places. */
#include "runtime/host/pipert_debug.h"
#include "tests/test.h"

#include "tests/conform/pipelines.h"

#include <stdlib.h>

enum { STOPS_MAX = 64, TEXT_BYTES = 4096 };

static struct host in, out;

/* Commands: one for each stop; after them it continues. */
typedef void (*deed)(struct prt_debugger *debugger);

static struct {
    struct prt_debugger *debugger;
    const deed *deeds;
    size_t deed_count;
    struct prt_stop stops[STOPS_MAX];
    uint32_t first_hits[STOPS_MAX]; /* number of the first breakpoint; 0: none */
    uint64_t packets[STOPS_MAX], others[STOPS_MAX];
    size_t count;
} seen;

static void on_stop(void *context, const struct prt_stop *stop)
{
    (void)context;
    if (seen.count >= STOPS_MAX) fail_msg("too many stops");
    assert_int_equal(prt_debug_has_ended(seen.debugger), stop->cause == PRT_STOP_END);
    size_t at = seen.count++ % STOPS_MAX;
    seen.stops[at] = *stop;
    seen.first_hits[at] = stop->hit_count > 0 ? stop->hits[0].number : 0;
    seen.packets[at] = stop->hit_count > 0 ? stop->hits[0].packet : 0;
    seen.others[at] = stop->hit_count > 0 ? stop->hits[0].others : 0;
    if (at < seen.deed_count) seen.deeds[at](seen.debugger);
}

static void add_node(struct made *m, const char *name, uint32_t from, uint64_t pop, uint32_t to,
                     uint64_t push)
{
    uint32_t node = made_node(m, name, 0);
    made_input(m, node, from, pop, pop);
    made_output(m, node, to, push, 0);
}

/* x -> twice -> t -> sum2 -> y */
static struct prt_program *chain(uint32_t threshold)
{
    struct made *m = made_create("chain", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "twice", x, 1, t, 2);
    add_node(m, "sum2", t, 2, y, 1);
    m->stages[0].threshold = m->stages[1].threshold = threshold;
    made_loop(m);
    return pipelines_load(m,
                          (struct prt_image_kernel[]){{.run = kernel_twice}, {.run = kernel_sum2}});
}

/* Debugs the chain with so many packets 0, 1, ...; its status. */
static enum prt_status debug(uint32_t threshold, size_t packets, const deed *deeds, size_t count)
{
    struct prt_error error;
    struct prt_run *run;
    struct prt_program *program = chain(threshold);
    assert_int_equal(prt_run_create(program, NULL, &run, &error), PRT_OK);
    memset(&seen, 0, sizeof seen);
    assert_int_equal(prt_debugger_create(run, on_stop, NULL, &seen.debugger, &error), PRT_OK);
    seen.deeds = deeds;
    seen.deed_count = count;
    host_ramp(&in, packets);
    out.count = 0;
    pipelines_bind(program, run, &in, &out);
    enum prt_status status = prt_run_execute(run, &error);
    prt_debugger_destroy(seen.debugger);
    prt_run_destroy(run);
    prt_program_free(program);
    return status;
}

#define DEBUG(threshold, packets, ...)                                                             \
    debug((threshold), (packets), (const deed[]){__VA_ARGS__},                                     \
          sizeof((const deed[]){__VA_ARGS__}) / sizeof(deed))

static uint32_t add_break(struct prt_debugger *d, const char *text)
{
    struct prt_error error;
    uint32_t number = 0;
    enum prt_status status = prt_debug_break(d, text, false, &number, &error);
    if (status != PRT_OK) fail_msg("%s: %s", text, error.message);
    return number;
}

static void step(struct prt_debugger *d)
{
    prt_debug_step(d, 1);
}

/* ---- stops ---- */

static void a_run_stops_before_it_begins_and_when_it_has_ended(void **unused)
{
    (void)unused;
    assert_int_equal(DEBUG(1, 20, prt_debug_continue), PRT_OK);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.stops[0].cause, PRT_STOP_BEGIN);
    assert_int_equal(seen.stops[0].next.stage, PRT_NONE);
    assert_int_equal(seen.stops[1].cause, PRT_STOP_END);
    assert_int_equal(seen.stops[1].status, PRT_OK);
    assert_int_equal(out.count, 20);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(out.packets[i], 2 * i);
}

static void a_step_is_one_firing_whatever_the_threshold(void **unused)
{
    (void)unused;
    assert_int_equal(DEBUG(8, 20, step, step, step, step), PRT_OK);
    assert_int_equal(seen.count, 6);
    assert_int_equal(seen.stops[1].cause, PRT_STOP_BEFORE);
    uint64_t firings[2] = {0, 0};
    for (size_t i = 1; i < 5; i++) {
        const struct prt_firing *last = &seen.stops[i].last, *next = &seen.stops[i].next;
        assert_true(last->stage < 2 && next->stage < 2);
        assert_int_equal(last->firing, firings[last->stage % 2]++);
        assert_int_equal(next->firing, firings[next->stage % 2]);
    }
    assert_int_equal(out.count, 20);
}

static void kill(struct prt_debugger *d)
{
    prt_debug_kill(d);
    assert_true(prt_debug_is_killed(d));
}

static void a_killed_run_ends_at_once(void **unused)
{
    (void)unused;
    assert_int_equal(DEBUG(1, 20, step, kill), PRT_E_INTERRUPTED);
    assert_int_equal(seen.count, 2);
    assert_int_equal(out.count, 0);
}

static void interrupt(struct prt_debugger *d)
{
    prt_debugger_interrupt(d);
    prt_debug_continue(d);
}

static void an_interrupt_stops_before_the_next_firing(void **unused)
{
    (void)unused;
    assert_int_equal(DEBUG(1, 20, interrupt, step), PRT_OK);
    assert_int_equal(seen.count, 4);
    assert_true(seen.stops[1].interrupted);
    assert_int_equal(seen.stops[1].last.stage, PRT_NONE);
    assert_false(seen.stops[2].interrupted);
}

/* ---- going on ---- */

static uint32_t stage_of(struct prt_debugger *d, const char *name)
{
    uint32_t stage = PRT_NONE;
    assert_int_equal(prt_debug_find_stage(d, name, &stage, NULL), PRT_OK);
    return stage;
}

static void until_sum2(struct prt_debugger *d)
{
    prt_debug_until_stage(d, stage_of(d, "sum2"));
}

static void until_cycle(struct prt_debugger *d)
{
    prt_debug_until_cycle(d, 10000);
}

static void until_end(struct prt_debugger *d)
{
    prt_debug_until_end(d, stage_of(d, "twice"));
}

static void runs_go_on_to_a_stage_a_time_an_end(void **unused)
{
    (void)unused;
    assert_int_equal(DEBUG(1, 40, until_sum2, until_sum2, until_cycle, until_end), PRT_OK);
    assert_int_equal(seen.stops[1].next.stage, 1);
    assert_int_equal(seen.stops[1].next.firing, 0);
    assert_int_equal(seen.stops[2].next.stage, 1);
    assert_int_equal(seen.stops[2].next.firing, 1);
    assert_int_equal(seen.stops[3].cause, PRT_STOP_BEFORE);
    assert_int_equal(seen.stops[4].cause, PRT_STOP_BEFORE); /* what 'twice' has left is summed */
    assert_int_equal(seen.stops[4].next.stage, 1);
    assert_int_equal(seen.stops[5].cause, PRT_STOP_END);
}

/* ---- breakpoints ---- */

static void set_breaks(struct prt_debugger *d)
{
    assert_int_equal(add_break(d, "sum2 firing 3"), 1);
    assert_int_equal(add_break(d, "value t == 7"), 2);
    assert_int_equal(add_break(d, "buffer t >= 2 if firing > 9"), 3);
    prt_debug_continue(d);
}

static void breakpoints_are_met_where_they_say(void **unused)
{
    (void)unused;
    assert_int_equal(DEBUG(1, 20, set_breaks), PRT_OK);
    bool firing = false, value = false, level = false;
    for (size_t i = 1; i + 1 < seen.count; i++) {
        const struct prt_stop *stop = &seen.stops[i];
        if (seen.first_hits[i] == 1) {
            assert_int_equal(stop->cause, PRT_STOP_BEFORE);
            assert_int_equal(stop->next.stage, 1);
            assert_int_equal(stop->next.firing, 3);
            assert_false(firing);
            firing = true;
        } else if (seen.first_hits[i] == 2) {
            assert_int_equal(stop->cause, PRT_STOP_AFTER);
            assert_int_equal(stop->last.stage, 0);
            assert_int_equal(stop->last.firing, 7);
            assert_int_equal(seen.packets[i], 14); /* each firing writes two */
            assert_int_equal(seen.others[i], 1);
            assert_false(value);
            value = true;
        } else {
            assert_int_equal(seen.first_hits[i], 3);
            assert_true(stop->last.firing > 9);
            level = true;
        }
    }
    assert_true(firing && value && level);
    assert_int_equal(out.count, 20);
}

static void count_breaks(struct prt_debugger *d)
{
    struct prt_error error;
    struct prt_break_information b;
    uint32_t number;
    assert_int_equal(prt_debug_break(d, " twice ", true, &number, &error), PRT_OK);
    assert_int_equal(prt_debug_watch(d, "y > 4 if cycle > 0", &number, &error), PRT_OK);
    assert_true(prt_debug_break_information(d, 0, &b));
    assert_string_equal(b.text, "twice");
    assert_true(b.temporary && b.enabled);
    assert_true(prt_debug_break_information(d, 1, &b));
    assert_string_equal(b.kind, "watchpoint");
    assert_string_equal(b.text, "y > 4");
    assert_string_equal(b.condition, "cycle > 0");
    assert_false(prt_debug_break_information(d, 2, &b));
    assert_int_equal(prt_debug_break_ignore(d, number, 2, &error), PRT_OK);
    prt_debug_continue(d);
}

static void spend_breaks(struct prt_debugger *d)
{
    struct prt_error error;
    struct prt_break_information b;
    assert_true(prt_debug_break_information(d, 0, &b));
    assert_int_equal(b.number, 2);
    assert_int_equal(prt_debug_break_enable(d, 1, true, &error), PRT_E_USAGE);
    prt_debug_continue(d);
}

static void temporary_ones_are_spent_and_others_ignored(void **unused)
{
    (void)unused;
    assert_int_equal(DEBUG(1, 20, count_breaks, spend_breaks, kill), PRT_E_INTERRUPTED);
    assert_int_equal(seen.first_hits[1], 1);
    assert_int_equal(seen.first_hits[2], 2);
    assert_int_equal(seen.packets[2], 5); /* y is 6 at packet 3; two are ignored */
}

/* ---- places and conditions ---- */

/* The printed form of a text; for a refused one, its message after "! ". */
static const char *printed(struct prt_debugger *d, const char *text)
{
    static char result[TEXT_BYTES];
    struct prt_error error;
    FILE *to = fmemopen(result, sizeof result, "w");
    assert_non_null(to);
    if (prt_debug_print(d, text, to, &error) != PRT_OK) fprintf(to, "! %s", error.message);
    fputc('\0', to);
    fclose(to);
    return result;
}

static void look(struct prt_debugger *d)
{
    assert_string_equal(printed(d, "t[0]"), "t[0]: i32 = 2\n");
    assert_string_equal(printed(d, " t[-1] "), "t[-1]: i32 = 1\n");
    assert_string_equal(printed(d, "t@0"), "t@0: i32 = 0\n");
    assert_string_equal(printed(d, "t[1..9]"),
                        "t[1..9]: 1 packet of i32, from packet 5 on\n  [1] 2\n");
    assert_string_equal(printed(d, "t[2]"), "! 't' holds 2 packets, and 6 have been written to it");
    assert_string_equal(printed(d, "t[-5]"),
                        "! 't' holds 2 packets, and 6 have been written to it");
    assert_string_equal(printed(d, "t[99999999999999999999]"),
                        "! 't' holds 2 packets, and 6 have been written to it");
    assert_string_equal(printed(d, "y[-1]"), "y[-1]: i32 = 2\n");
    assert_string_equal(printed(d, "t[0] == 2 && !(t[1] > 2)"), "t[0] == 2 && !(t[1] > 2) = 1\n");
    assert_string_equal(printed(d, "t[0] == 3 || level(t) == 2"),
                        "t[0] == 3 || level(t) == 2 = 1\n");
    assert_string_equal(printed(d, "t[9] != 0 || t[9] == 0"), "t[9] != 0 || t[9] == 0 = 0\n");
    assert_string_equal(printed(d, "t[0] >= 0x2"), "t[0] >= 0x2 = 1\n");
    assert_string_equal(printed(d, "t[0] < 2.5"), "t[0] < 2.5 = 1\n");
    assert_string_equal(printed(d, "t[0] > -18446744073709551615"),
                        "t[0] > -18446744073709551615 = 1\n");
    assert_string_equal(printed(d, "t[0] != nan"), "t[0] != nan = 1\n");
    assert_string_equal(printed(d, "t[0] < -inf"), "t[0] < -inf = 0\n");
    assert_string_equal(printed(d, "firing"), "firing = 2\n");
    assert_string_equal(printed(d, "(t[0]"), "! ')' is missing");
    assert_string_equal(printed(d, "t[0] =="), "! a value is missing");
    assert_string_equal(printed(d, "t == 2"), "! 't' is no number: name a packet of it: t[0]");
    assert_string_equal(printed(d, "t[0] = 2"), "! '= 2' is left over: '==' compares");
    assert_string_equal(printed(d, "nix"), "! there is no buffer and no node 'nix'");
    assert_string_equal(printed(d, "tt"),
                        "! there is no buffer and no node 'tt'; did you mean 't'?");
    assert_string_equal(printed(d, "t["), "! the number of a packet is missing after '['");
    assert_string_equal(printed(d, "t[0..-1]"), "! a range is [FIRST..LAST]");
    assert_string_equal(printed(d, ""), "! a place is missing");
    char deep[400];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_string_equal(printed(d, deep), "! the condition is nested too deeply");
    memset(deep, '!', sizeof deep - 1);
    assert_string_equal(printed(d, deep), "! the condition is nested too deeply");
    prt_debug_kill(d);
}

static void run_to_third(struct prt_debugger *d)
{
    add_break(d, "sum2:2");
    prt_debug_continue(d);
}

static void places_and_conditions_are_what_they_say(void **unused)
{
    (void)unused;
    assert_int_equal(DEBUG(1, 20, run_to_third, look), PRT_E_INTERRUPTED);
    assert_int_equal(seen.count, 2);
}

/* ---- what cannot be ---- */

static void a_device_that_executes_nothing_is_refused(void **unused)
{
    (void)unused;
    struct prt_error error;
    struct prt_run *run;
    struct prt_debugger *debugger = NULL;
    struct prt_run_options options = {.device = "null"};
    struct prt_program *program = chain(1);
    assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_OK);
    assert_int_equal(prt_debugger_create(run, on_stop, NULL, &debugger, &error), PRT_E_DEVICE);
    assert_null(debugger);
    host_ramp(&in, 5);
    pipelines_bind(program, run, &in, &out);
    assert_int_equal(prt_run_execute(run, &error), PRT_OK);
    prt_run_destroy(run);
    prt_program_free(program);
}

TEST_MAIN("debugger", cmocka_unit_test(a_run_stops_before_it_begins_and_when_it_has_ended),
          cmocka_unit_test(a_step_is_one_firing_whatever_the_threshold),
          cmocka_unit_test(a_killed_run_ends_at_once),
          cmocka_unit_test(an_interrupt_stops_before_the_next_firing),
          cmocka_unit_test(runs_go_on_to_a_stage_a_time_an_end),
          cmocka_unit_test(breakpoints_are_met_where_they_say),
          cmocka_unit_test(temporary_ones_are_spent_and_others_ignored),
          cmocka_unit_test(places_and_conditions_are_what_they_say),
          cmocka_unit_test(a_device_that_executes_nothing_is_refused))
