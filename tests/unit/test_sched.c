/* SPDX-License-Identifier: MIT */
/* The behaviour of a run: ends, room, thresholds, time.  Kernels are linked in; programs are the
 * compiler's loop. */
#include "tests/test.h"

#include "tests/conform/pipelines.h"

static struct host in, out;

static const struct prt_image_kernel copy = {.run = kernel_copy}, twice = {.run = kernel_twice},
                                     sum2 = {.run = kernel_sum2}, sum = {.run = kernel_add},
                                     diff = {.run = kernel_diff}, drop = {.run = kernel_drop},
                                     divide = {.run = kernel_divide},
                                     total = {.run = kernel_total, .finish = kernel_total_finish};

enum { TOTAL_FLAGS = CONTAINER_NODE_STATEFUL | CONTAINER_NODE_FINISH };

/* Nodes of one input and one output. */
static void add_node(struct made *m, const char *name, uint32_t flags, uint32_t from, uint64_t pop,
                     uint64_t peek, uint32_t to, uint64_t push, uint64_t finish_max)
{
    uint32_t node = made_node(m, name, flags);
    made_input(m, node, from, pop, peek);
    made_output(m, node, to, push, finish_max);
}

static struct prt_run *start(const struct prt_program *program, struct prt_error *error,
                             enum prt_status *status)
{
    struct prt_run *run;
    struct prt_run_options options = {.host_threads = 1};
    assert_int_equal(prt_run_create(program, &options, &run, error), PRT_OK);
    out.count = 0;
    pipelines_bind(program, run, &in, &out);
    *status = prt_run_execute(run, error);
    return run;
}

/* The same of a pipeline with a second in-port: so many packets at x and at b.  It ends well. */
static struct prt_run *run_with_b(const struct prt_program *program, size_t x_count, size_t b_count)
{
    static struct host b;
    struct prt_run *run;
    struct prt_error error;
    assert_int_equal(prt_run_create(program, NULL, &run, &error), PRT_OK);
    host_ramp(&in, x_count);
    host_ramp(&b, b_count);
    out.count = 0;
    pipelines_bind(program, run, &in, &out);
    assert_int_equal(
        prt_run_bind_input(run, prt_program_find_port(program, "b"), host_read, &b, &error),
        PRT_OK);
    assert_int_equal(prt_run_execute(run, &error), PRT_OK);
    return run;
}

static struct prt_buffer_statistics buffer_of(const struct prt_run *run, const char *name)
{
    struct prt_buffer_statistics statistics;
    for (uint32_t i = 0; prt_run_buffer(run, i, &statistics); i++) {
        if (strcmp(statistics.name, name) == 0) return statistics;
    }
    fail_msg("no buffer %s", name);
    return statistics;
}

static struct prt_leftover_statistics leftover_of(const struct prt_run *run, const char *name)
{
    struct prt_leftover_statistics statistics;
    for (uint32_t i = 0; prt_run_leftover(run, i, &statistics); i++)
        if (strcmp(statistics.buffer, name) == 0) return statistics;
    fail_msg("no buffer %s", name);
    return statistics;
}

/* ---- streams ---- */

/* x -> twice -> t -> sum2 -> y: every packet doubled. */
static struct prt_program *chain(uint64_t depth, uint32_t threshold, bool side_by_side)
{
    struct made *m = made_create("chain", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, depth, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "twice", 0, x, 1, 1, t, 2, 0);
    add_node(m, "sum2", 0, t, 2, 2, y, 1, 0);
    m->stages[0].threshold = m->stages[1].threshold = threshold;
    if (side_by_side)
        made_side_by_side(m);
    else
        made_loop(m);
    return pipelines_load(m, (struct prt_image_kernel[]){twice, sum2});
}

static void streams_of_every_length_come_out_whole(void **unused)
{
    (void)unused;
    const uint64_t depths[] = {2, 3, 16, 64};
    const uint32_t thresholds[] = {1, 1, 8, 32};
    for (size_t d = 0; d < 4; d++) {
        for (int side = 0; side < 2; side++) {
            struct prt_program *program = chain(depths[d], thresholds[d], side == 1);
            for (size_t length = 0; length < 200; length += 1 + length / 9) {
                struct prt_error error;
                host_ramp(&in, length);
                out.count = 0;
                assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_OK);
                assert_int_equal(out.count, length);
                for (size_t i = 0; i < length; i++)
                    assert_int_equal(out.packets[i], 2 * i);
            }
            prt_program_free(program);
        }
    }
}

/* x -> fork -> a, b -> add -> y, where b is tight. */
static uint64_t cycles_of_join(bool tight_first)
{
    struct made *m = made_create("join", "sim16");
    struct prt_run_statistics statistics;
    struct prt_error error;
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t a = made_buffer(m, "a", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t b = made_buffer(m, "b", SCALAR_I32, 4, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "left", 0, x, 1, 1, a, 1, 0);
    add_node(m, "right", 0, x, 1, 1, b, 1, 0);
    uint32_t node = made_node(m, "add", 0);
    made_input(m, node, tight_first ? b : a, 1, 1);
    made_input(m, node, tight_first ? a : b, 1, 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){copy, copy, sum});
    host_ramp(&in, 500);
    out.count = 0;
    assert_int_equal(pipelines_run(program, 1, &in, &out, &statistics, &error), PRT_OK);
    assert_int_equal(out.count, 500);
    prt_program_free(program);
    return statistics.total_cycles;
}

static void the_order_of_inputs_changes_no_cycle(void **unused)
{
    (void)unused;
    assert_int_equal(cycles_of_join(true), cycles_of_join(false));
}

/* The host's pieces, and threads, change neither results nor cycles. */
static void cycles_depend_on_the_stream_alone(void **unused)
{
    (void)unused;
    struct prt_program *program = chain(64, 8, true);
    struct prt_run_statistics first = {0}, other;
    struct prt_error error;
    const size_t pieces[] = {0, 1, 3, 7, 64, 100};
    for (size_t i = 0; i < 6; i++) {
        for (uint32_t threads = 1; threads <= 3; threads++) {
            host_ramp(&in, 1000);
            in.piece = pieces[i];
            out.count = 0;
            assert_int_equal(pipelines_run(program, threads, &in, &out, &other, &error), PRT_OK);
            assert_int_equal(out.count, 1000);
            other.host_threads = 0;
            if (i == 0 && threads == 1) first = other;
            assert_memory_equal(&first, &other, sizeof first);
        }
    }
    assert_true(first.total_cycles > 0);
    prt_program_free(program);
}

static void a_tail_shorter_than_a_firing_is_left_over(void **unused)
{
    (void)unused;
    struct made *m = made_create("tail", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "sum2", 0, x, 2, 2, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &sum2);
    struct prt_error error;
    enum prt_status status;
    host_ramp(&in, 7);
    struct prt_run *run = start(program, &error, &status);
    assert_int_equal(status, PRT_OK);
    assert_int_equal(out.count, 3);
    assert_int_equal(buffer_of(run, "x").leftover_packets, 1);
    assert_int_equal(buffer_of(run, "x").packets, 7);
    prt_run_destroy(run);
    prt_program_free(program);
}

static void history_is_not_left_over(void **unused)
{
    (void)unused;
    struct made *m = made_create("history", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "diff", 0, x, 1, 2, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &diff);
    struct prt_error error;
    enum prt_status status;
    host_ramp(&in, 300);
    struct prt_run *run = start(program, &error, &status);
    assert_int_equal(status, PRT_OK);
    assert_int_equal(out.count, 299);
    assert_int_equal(out.packets[298], 1);
    assert_int_equal(buffer_of(run, "x").leftover_packets, 0);
    assert_int_equal(buffer_of(run, "x").discarded_packets, 0);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* No firing has seen them: a window longer than the stream keeps no history. */
static void a_stream_shorter_than_the_window_is_left_over(void **unused)
{
    (void)unused;
    for (uint64_t initial = 0; initial < 4; initial++) {
        const int32_t zero = 0;
        struct made *m = made_create("short", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
        uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
        if (initial > 0) made_initial(m, x, initial, &zero, sizeof zero);
        add_node(m, "diff", 0, x, 1, 6, y, 1, 0);
        made_loop(m);
        struct prt_program *program = pipelines_load(m, &diff);
        struct prt_error error;
        enum prt_status status;
        host_ramp(&in, 2);
        struct prt_run *run = start(program, &error, &status);
        assert_int_equal(status, PRT_OK);
        assert_int_equal(out.count, 0);
        assert_int_equal(buffer_of(run, "x").leftover_packets, 2);
        assert_int_equal(leftover_of(run, "x").stranded_packets, 0);
        assert_int_equal(buffer_of(run, "x").discarded_packets, 2);
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

/* x and b -> add -> y: whichever is shorter ends it, and the other one's rest is left over. */
static void leftovers_say_which_input_had_too_few(void **unused)
{
    (void)unused;
    for (size_t length = 0; length < 40; length += 13) {
        struct made *m = made_create("stranded", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
        uint32_t b = made_buffer(m, "b", SCALAR_I32, 64, CONTAINER_OUTER_IN);
        uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
        uint32_t node = made_node(m, "add", 0);
        made_input(m, node, x, 1, 1);
        made_input(m, node, b, 1, 1);
        made_output(m, node, y, 1, 0);
        made_loop(m);
        struct prt_program *program = pipelines_load(m, &sum);
        struct prt_run *run = run_with_b(program, 20, length);
        size_t fired = length < 20 ? length : 20;
        assert_int_equal(out.count, fired);
        struct prt_leftover_statistics of_x = leftover_of(run, "x"), of_b = leftover_of(run, "b");
        assert_int_equal(of_x.stranded_packets, 20 - fired);
        assert_int_equal(of_b.stranded_packets, length - fired);
        assert_int_equal(buffer_of(run, "x").leftover_packets, of_x.stranded_packets);
        assert_int_equal(buffer_of(run, "b").leftover_packets, of_b.stranded_packets);
        const struct prt_leftover_statistics *rest = length < 20 ? &of_x : &of_b;
        assert_string_equal(rest->stranded_reader, "add");
        assert_string_equal(rest->stranded_by, length < 20 ? "b" : "x");
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

static struct prt_program *pairs(void)
{
    struct made *m = made_create("pairs", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "sum2", 0, x, 2, 2, y, 1, 0);
    made_loop(m);
    return pipelines_load(m, &sum2);
}

/* Packets that fit the in-port do not suspend; others do, once each time that it is filled. */
static void a_host_at_hand_is_asked_ahead(void **unused)
{
    (void)unused;
    struct prt_program *program = pairs();
    uint32_t x = prt_program_find_port(program, "x"), y = prt_program_find_port(program, "y");
    for (size_t length = 0; length <= 200; length++) {
        uint64_t cycles[2];
        for (int at_hand = 0; at_hand < 2; at_hand++) {
            struct prt_run *run;
            struct prt_run_statistics total;
            assert_int_equal(prt_run_create(program, NULL, &run, NULL), PRT_OK);
            host_ramp(&in, length);
            out.count = 0;
            pipelines_bind(program, run, &in, &out);
            if (at_hand) assert_int_equal(prt_run_input_at_hand(run, x, NULL), PRT_OK);
            assert_int_equal(prt_run_input_at_hand(run, y, NULL), PRT_E_USAGE);
            assert_int_equal(prt_run_input_endless(run, y, NULL), PRT_E_USAGE);
            assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
            assert_int_equal(out.count, length / 2);
            prt_run_statistics(run, &total);
            cycles[at_hand] = total.total_cycles;
            size_t ahead = length == 0 ? 0 : (length + 63) / 64 - 1;
            assert_int_equal(total.suspensions, at_hand ? ahead : length / 64);
            assert_int_equal(buffer_of(run, "x").suspensions, total.suspensions);
            prt_run_destroy(run);
        }
        assert_int_equal(cycles[0], cycles[1]);
    }
    prt_program_free(program);
}

struct told {
    char text[4096];
    size_t used;
    int ends;
};

static void hear(void *context, const char *text, size_t size)
{
    struct told *told = context;
    if (size == 0) told->ends++;
    assert_true(told->used + size < sizeof told->text);
    memcpy(told->text + told->used, text, size);
    told->used += size;
}

static struct prt_run *asked;

static enum prt_status ask_and_end(void *context, void *packets, size_t capacity, size_t *count,
                                   struct prt_error *error)
{
    (void)packets;
    (void)capacity;
    (void)error;
    prt_run_tell_standing(asked, hear, context);
    *count = 0;
    return PRT_OK;
}

static void a_run_tells_how_it_stands(void **unused)
{
    (void)unused;
    struct prt_program *program = pairs();
    struct told told = {.used = 0};
    assert_int_equal(prt_run_create(program, NULL, &asked, NULL), PRT_OK);
    prt_run_bind_input(asked, prt_program_find_port(program, "x"), ask_and_end, &told, NULL);
    prt_run_tell_standing(asked, hear, &told);
    assert_non_null(strstr(told.text, "cycle 0: the run has not begun\n"));
    told = (struct told){.used = 0};
    assert_int_equal(prt_run_execute(asked, NULL), PRT_OK);
    assert_int_equal(told.ends, 1);
    assert_non_null(strstr(told.text, ": the scheduler waits for the host to fill 'x'\n"));
    assert_non_null(strstr(told.text, "waits for input 'x' (holds 0, to be filled up to 64)\n"));
    told = (struct told){.used = 0};
    prt_run_tell_standing(asked, hear, &told);
    assert_non_null(strstr(told.text, ": the run has ended\n"));
    assert_non_null(strstr(told.text, "  ended\n"));
    prt_run_destroy(asked);
    prt_program_free(program);
}

static void a_finish_sees_the_tail_and_writes_last(void **unused)
{
    (void)unused;
    for (size_t length = 0; length < 40; length++) {
        struct made *m = made_create("finish", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
        uint32_t y = made_buffer(m, "y", SCALAR_I32, 2, CONTAINER_OUTER_OUT);
        add_node(m, "total", TOTAL_FLAGS, x, 1, 3, y, 1, 2);
        made_loop(m);
        struct prt_program *program = pipelines_load(m, &total);
        struct prt_error error;
        enum prt_status status;
        host_ramp(&in, length);
        struct prt_run *run = start(program, &error, &status);
        assert_int_equal(status, PRT_OK);
        size_t firings = length >= 2 ? length - 2 : 0;
        assert_int_equal(out.count, firings + 2);
        assert_int_equal(out.packets[firings], firings * (firings - (firings > 0)) / 2);
        assert_int_equal(out.packets[firings + 1], length - firings);
        assert_int_equal(buffer_of(run, "x").leftover_packets, 0);
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

/* finish needs room for two packets in a buffer of two, which its reader empties first. */
static void a_finish_waits_for_room(void **unused)
{
    (void)unused;
    struct made *m = made_create("room", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 2, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "total", TOTAL_FLAGS, x, 1, 1, t, 1, 2);
    add_node(m, "copy", 0, t, 1, 1, y, 1, 0);
    made_side_by_side(m);
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){total, copy});
    struct prt_error error;
    host_ramp(&in, 101);
    out.count = 0;
    assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_OK);
    assert_int_equal(out.count, 103);
    assert_int_equal(out.packets[101], 5050);
    assert_int_equal(out.packets[102], 0);
    prt_program_free(program);
}

/* x -> copy -> t -> drop
 *                `-> (add with b, which ends early) -> y */
static void a_node_that_ends_early_blocks_nobody(void **unused)
{
    (void)unused;
    struct made *m = made_create("early", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t b = made_buffer(m, "b", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "copy", 0, x, 1, 1, t, 1, 0);
    uint32_t node = made_node(m, "drop", 0);
    made_input(m, node, t, 1, 1);
    node = made_node(m, "add", 0);
    made_input(m, node, t, 1, 1);
    made_input(m, node, b, 1, 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){copy, drop, sum});
    struct prt_run *run = run_with_b(program, 1000, 10);
    assert_int_equal(out.count, 10);
    assert_int_equal(out.packets[9], 18);
    assert_int_equal(in.at, 1000); /* the rest went on to drop */
    prt_run_destroy(run);
    prt_program_free(program);
}

/* Both readers of t end: copy goes on all the same, and what it writes is counted. */
static void without_readers_a_node_goes_on_discarding(void **unused)
{
    (void)unused;
    struct made *m = made_create("discard", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t b = made_buffer(m, "b", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "copy", 0, x, 1, 1, t, 1, 0);
    uint32_t node = made_node(m, "add", 0);
    made_input(m, node, t, 1, 1);
    made_input(m, node, b, 1, 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){copy, sum});
    struct prt_run *run = run_with_b(program, 1000, 10);
    assert_int_equal(out.count, 10);
    struct prt_buffer_statistics discarded = buffer_of(run, "t");
    assert_int_equal(discarded.packets, 1000);
    assert_int_equal(discarded.discarded_packets, 990);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* s = x + last s: a loop with one initial packet, which ends with the input that drives it. */
static struct made *loop_made(uint64_t depth, uint64_t initial)
{
    struct made *m = made_create("loop", "sim16");
    int32_t zero = 0;
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t s = made_buffer(m, "s", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t back = made_buffer(m, "back", SCALAR_I32, depth, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    if (initial > 0) made_initial(m, back, initial, &zero, sizeof zero);
    uint32_t node = made_node(m, "add", 0);
    made_input(m, node, x, 1, 1);
    made_input(m, node, back, 1, 1);
    made_output(m, node, s, 1, 0);
    add_node(m, "delay", 0, s, 1, 1, back, 1, 0);
    add_node(m, "copy", 0, s, 1, 1, y, 1, 0);
    made_side_by_side(m);
    return m;
}

static void feedback_runs_and_ends(void **unused)
{
    (void)unused;
    struct prt_program *program =
        pipelines_load(loop_made(2, 1), (struct prt_image_kernel[]){sum, copy, copy});
    struct prt_error error;
    host_ramp(&in, 500);
    out.count = 0;
    assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_OK);
    assert_int_equal(out.count, 500);
    assert_int_equal(out.packets[499], 499 * 500 / 2);
    prt_program_free(program);
}

static size_t taken;
static struct prt_run *endless;

static enum prt_status take_and_interrupt(void *context, const void *packets, size_t count,
                                          struct prt_error *error)
{
    (void)context;
    (void)packets;
    (void)error;
    taken += count;
    if (taken > 1000) prt_run_interrupt(endless);
    return PRT_OK;
}

/* A ring that no in-port drives never ends by itself. */
static void an_endless_ring_can_be_interrupted(void **unused)
{
    (void)unused;
    const int32_t one = 1;
    struct made *m = made_create("ring", "sim16");
    uint32_t ring = made_buffer(m, "ring", SCALAR_I32, 4, CONTAINER_INNER);
    uint32_t there = made_buffer(m, "there", SCALAR_I32, 4, CONTAINER_INNER);
    uint32_t back = made_buffer(m, "back", SCALAR_I32, 4, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    made_initial(m, ring, 1, &one, sizeof one);
    add_node(m, "spin", 0, ring, 1, 1, there, 1, 0);
    add_node(m, "pass", 0, there, 1, 1, back, 1, 0);
    add_node(m, "return", 0, back, 1, 1, ring, 1, 0);
    add_node(m, "copy", 0, ring, 1, 1, y, 1, 0);
    made_side_by_side(m);
    struct prt_program *program =
        pipelines_load(m, (struct prt_image_kernel[]){copy, copy, copy, copy});
    struct prt_error error;
    assert_int_equal(prt_run_create(program, NULL, &endless, &error), PRT_OK);
    assert_int_equal(prt_run_bind_output(endless, prt_program_find_port(program, "y"),
                                         take_and_interrupt, NULL, &error),
                     PRT_OK);
    assert_int_equal(prt_run_execute(endless, &error), PRT_E_INTERRUPTED);
    assert_in_range(taken, 1001, 1100);
    prt_run_destroy(endless);
    prt_program_free(program);
}

/* ---- stalls and faults ---- */

static void an_empty_loop_is_a_stall_with_its_cycle(void **unused)
{
    (void)unused;
    struct prt_program *program =
        pipelines_load(loop_made(2, 0), (struct prt_image_kernel[]){sum, copy, copy});
    struct prt_error error = {0};
    host_ramp(&in, 500);
    out.count = 0;
    assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_E_STALL);
    assert_non_null(strstr(error.message, "'add' waits for packets in 'back' (holds 0, needs 1)"));
    assert_non_null(strstr(error.message, "'delay' waits for packets in 's'"));
    prt_program_free(program);
}

static void long_names_leave_room_for_the_count_of_waits(void **unused)
{
    (void)unused;
    char name[360];
    struct made *m = loop_made(2, 0);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    m->nodes[0].name = made_string(m, name);
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){sum, copy, copy});
    struct prt_error error = {0};
    host_ramp(&in, 500);
    out.count = 0;
    assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_E_STALL);
    assert_non_null(strstr(error.message, "(holds 0, needs 1)"));
    assert_non_null(strstr(error.message, "; and 1 more wait"));
    assert_null(strstr(error.message, "1 more waits"));
    prt_program_free(program);
}

static void a_stall_tells_its_first_wait_whatever_the_length_of_a_name(void **unused)
{
    (void)unused;
    char name[501];
    struct made *m = loop_made(2, 0);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (uint32_t i = 0; i < 3; i++)
        m->nodes[i].name = made_string(m, name);
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){sum, copy, copy});
    struct prt_error error = {0};
    host_ramp(&in, 500);
    out.count = 0;
    assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_E_STALL);
    assert_non_null(strstr(error.message, "has stalled: 'nnnn"));
    assert_non_null(strstr(error.message, "n; and 1 more wait"));
    prt_program_free(program);
}

/* ---- visits ---- */

struct seen {
    struct told told; /* a request for the text, in the visit's company */
    uint32_t visits;
    struct prt_stage_moment stage;
    struct prt_buffer_moment buffer, port;
};

static void look(void *context, const struct prt_run *run)
{
    struct seen *seen = context;
    seen->visits++;
    assert_true(prt_run_stage_moment(run, 0, &seen->stage));
    assert_false(prt_run_stage_moment(run, 1000, &seen->stage));
    assert_true(prt_run_buffer_moment(run, 0, &seen->buffer));
    assert_false(prt_run_buffer_moment(run, 1000, &seen->buffer));
    assert_true(
        prt_run_port_moment(run, prt_program_find_port(prt_run_program(run), "x"), &seen->port));
    assert_false(prt_run_port_moment(run, 1000, &seen->port));
}

static struct prt_run *visited;

static enum prt_status visit_and_end(void *context, void *packets, size_t capacity, size_t *count,
                                     struct prt_error *error)
{
    struct seen *seen = context;
    (void)packets;
    (void)capacity;
    (void)error;
    prt_run_visit(visited, look, seen);
    assert_int_equal(seen->visits, 2);
    prt_run_tell_standing(visited, hear, &seen->told);
    assert_int_equal(seen->visits, 2); /* once for each request */
    *count = 0;
    return PRT_OK;
}

static void a_visit_sees_how_a_run_stands(void **unused)
{
    (void)unused;
    struct prt_program *program = pairs();
    static struct seen seen;
    assert_int_equal(prt_run_create(program, NULL, &visited, NULL), PRT_OK);
    prt_run_bind_input(visited, prt_program_find_port(program, "x"), visit_and_end, &seen, NULL);
    prt_run_visit(visited, look, &seen);
    assert_int_equal(seen.visits, 1);
    assert_int_equal(seen.told.ends, 0);
    assert_int_equal(prt_run_moment_cycles(visited), 0);
    assert_int_equal(prt_run_execute(visited, NULL), PRT_OK);
    assert_int_equal(seen.stage.doing, PRT_STAGE_LACKS_PACKETS);
    assert_string_equal(seen.port.name, "x");
    assert_int_equal(seen.port.depth_packets, 64);
    assert_false(seen.port.closed);
    prt_run_visit(visited, look, &seen);
    assert_int_equal(seen.stage.doing, PRT_STAGE_ENDED);
    assert_int_equal(seen.stage.buffer, UINT32_MAX);
    assert_true(seen.port.closed);
    assert_true(prt_run_moment_cycles(visited) > 0);
    prt_run_destroy(visited);
    prt_program_free(program);
}

static void a_name_cannot_drive_a_terminal(void **unused)
{
    (void)unused;
    struct made *m = loop_made(2, 1);
    m->nodes[1].name = made_string(m, "a\x1b[2J\x7f and more than thirty-two bytes");
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){sum, copy, copy});
    struct told told = {.used = 0};
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, NULL, &run, NULL), PRT_OK);
    host_ramp(&in, 500);
    out.count = 0;
    pipelines_bind(program, run, &in, &out);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    prt_run_tell_standing(run, hear, &told);
    assert_non_null(strstr(told.text, "a?[2J? and more than thirty-two bytes"));
    assert_null(strchr(told.text, 0x1b));
    prt_run_destroy(run);
    prt_program_free(program);
}

/* One reader of t starves on a buffer that is filled only after the other: blocked for room. */
static void a_full_buffer_is_a_stall_with_its_cycle(void **unused)
{
    (void)unused;
    struct made *m = made_create("full", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 4, CONTAINER_INNER);
    uint32_t late = made_buffer(m, "late", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "copy", 0, x, 1, 1, t, 1, 0);
    add_node(m, "late", 0, t, 1, 4, late, 1, 0); /* needs all that t can hold */
    uint32_t node = made_node(m, "add", 0);
    made_input(m, node, t, 1, 1);
    made_input(m, node, late, 1, 8); /* and eight of those */
    made_output(m, node, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){copy, copy, sum});
    struct prt_error error = {0};
    host_ramp(&in, 500);
    out.count = 0;
    assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_E_STALL);
    assert_non_null(strstr(error.message, "waits for room in 't' (holds 4 of 4, needs 1)"));
    assert_non_null(strstr(error.message, "'add' waits for packets in 'late'"));
    prt_program_free(program);
}

static void a_fault_names_kernel_place_and_firing(void **unused)
{
    (void)unused;
    struct made *m = made_create("fault", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "find", 0, x, 1, 1, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &divide);
    struct prt_fault_information fault;
    struct prt_error error = {0};
    enum prt_status status;
    host_ramp(&in, 500);
    in.packets[0] = 1;
    in.packets[118] = 0;
    in.packets[119] = 0;
    struct prt_run *run = start(program, &error, &status);
    assert_int_equal(status, PRT_E_FAULT);
    assert_string_equal(error.message,
                        "kernel 'find' (instance at made.pipe:1) divided by zero in firing 118 "
                        "[division-by-zero]");
    assert_true(prt_run_fault(run, &fault));
    assert_string_equal(fault.id, "division-by-zero");
    assert_int_equal(fault.firing, 118);
    assert_int_equal(fault.line, 12);
    prt_run_destroy(run);
    prt_program_free(program);
}

static int32_t index_without_figures(const struct kernel_batch *batch)
{
    *batch->fault = (struct kernel_fault){.firing = batch->first_firing, .line = 1};
    return KERNEL_FAULT_INDEX;
}

static int32_t push_without_figures(const struct kernel_batch *batch)
{
    *batch->fault = (struct kernel_fault){.firing = batch->first_firing, .line = 1};
    return KERNEL_FAULT_PUSH;
}

static void a_fault_is_told_without_figures_and_folders(void **unused)
{
    (void)unused;
    static const struct {
        const char *source;
        int32_t (*run)(const struct kernel_batch *batch);
        const char *message;
    } cases[] = {
        {"made.pipe", index_without_figures, "made.pipe:1) used an index out of range in firing 0"},
        {"a/b/made.pipe", index_without_figures, "(instance at made.pipe:1) used an index"},
        {"a/b/", push_without_figures, "(instance at a/b/:1) wrote more or fewer packets"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made *m = made_create("fault", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
        uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
        add_node(m, "find", 0, x, 1, 1, y, 1, 0);
        m->sources[0].name = made_string(m, cases[i].source);
        made_loop(m);
        const struct prt_image_kernel kernel = {.run = cases[i].run};
        struct prt_program *program = pipelines_load(m, &kernel);
        struct prt_error error = {0};
        host_ramp(&in, 500);
        out.count = 0;
        assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_E_FAULT);
        if (strstr(error.message, cases[i].message) == NULL) fail_msg("%zu: %s", i, error.message);
        prt_program_free(program);
    }
}

/* Two nodes fault at the same time: the one declared first is reported, whichever thread is faster.
 */
static void of_several_faults_the_first_declared_is_reported(void **unused)
{
    (void)unused;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct made *m = made_create("faults", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
        uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
        uint32_t z = made_buffer(m, "z", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
        add_node(m, "first", 0, x, 1, 1, y, 1, 0);
        add_node(m, "second", 0, x, 1, 1, z, 1, 0);
        m->nodes[0].cost_cycles = m->nodes[1].cost_cycles = 1000000;
        made_side_by_side(m);
        struct prt_program *program =
            pipelines_load(m, (struct prt_image_kernel[]){divide, divide});
        struct prt_error error = {0};
        host_ramp(&in, 500);
        assert_int_equal(pipelines_run(program, threads, &in, &out, NULL, &error), PRT_E_FAULT);
        assert_non_null(strstr(error.message, "kernel 'first' (instance at made.pipe:1)"));
        prt_program_free(program);
    }
}

/* A reader of a faulted firing's packets is not executed, in its packet or after it:
 * here it is declared first, and would fault, too. */
static void a_fault_in_a_packet_is_the_only_one(void **unused)
{
    (void)unused;
    for (uint32_t round = 0; round < 6; round++) {
        struct made *m = made_create("packed", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
        uint32_t t = made_buffer(m, "t", SCALAR_I32, 64, CONTAINER_INNER);
        uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
        add_node(m, "later", 0, t, 1, 1, y, 1, 0);
        add_node(m, "find", 0, x, 1, 1, t, 1, 0);
        m->nodes[0].cost_cycles = m->nodes[1].cost_cycles = 1000000;
        m->stages[0].pack = m->stages[1].pack = 0;
        m->stages[0].place = 1;
        m->stages[1].flags = 0;
        m->stages[0].entry = 0;
        m->stages[1].entry = 1;
        made_loop(m);
        struct prt_program *program =
            pipelines_load(m, (struct prt_image_kernel[]){divide, divide});
        const struct prt_run_options options = {.host_threads = 1 + round % 2,
                                                .dispatch = (enum prt_dispatch_mode)(round / 2)};
        struct prt_error error = {0};
        struct prt_run *run;
        host_ramp(&in, 500);
        for (size_t i = 0; i < 500; i++)
            in.packets[i] = i == 218 ? 0 : 1;
        assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_OK);
        out.count = 0;
        pipelines_bind(program, run, &in, &out);
        assert_int_equal(prt_run_execute(run, &error), PRT_E_FAULT);
        assert_non_null(strstr(error.message, "kernel 'find' (instance at made.pipe:2)"));
        assert_non_null(strstr(error.message, "in firing 218"));
        assert_true(out.count <= 218);
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

/* ---- kernels that report what cannot be ---- */

static int32_t lie_before(const struct kernel_batch *batch)
{
    if (batch->first_firing == 0) return kernel_copy(batch);
    *batch->fault = (struct kernel_fault){.firing = 0, .line = 1};
    return KERNEL_FAULT_DIVISION;
}

static int32_t lie_behind(const struct kernel_batch *batch)
{
    *batch->fault = (struct kernel_fault){.firing = batch->first_firing + batch->count, .line = 1};
    return KERNEL_FAULT_DIVISION;
}

static int32_t lie_in_count(const struct kernel_batch *batch)
{
    *batch->completed = batch->count;
    batch->produced[0] = batch->count;
    return KERNEL_STOPPED;
}

static int32_t lie_in_finish(const struct kernel_batch *batch)
{
    batch->produced[0] = 9;
    return KERNEL_OK;
}

static int32_t lie_with_less(const struct kernel_batch *batch)
{
    batch->produced[0] = 0;
    *batch->completed = batch->count;
    return KERNEL_OK;
}

/* Where at most two packets are claimed for a firing. */
static int32_t lie_with_many(const struct kernel_batch *batch)
{
    batch->produced[0] = 2 * batch->count + 1;
    *batch->completed = batch->count;
    return KERNEL_OK;
}

static int32_t lie_with_more(const struct kernel_batch *batch)
{
    batch->produced[0] = 7;
    *batch->completed = 0;
    *batch->fault = (struct kernel_fault){.firing = batch->first_firing, .line = 1};
    return KERNEL_FAULT_INDEX;
}

static int32_t stop_in_finish(const struct kernel_batch *batch)
{
    *batch->fault = (struct kernel_fault){.firing = UINT64_MAX, .line = 1};
    return KERNEL_STOPPED;
}

static void reports_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    static const char not_given[] = "reports a fault in a firing that it was not given";
    static const char counts[] = "reports more or fewer packets or firings than it may make";
    static const struct {
        struct prt_image_kernel kernel;
        uint32_t flags;
        bool bounded;
        const char *message;
    } cases[] = {
        {{.run = lie_before}, 0, false, not_given},
        {{.run = lie_behind}, 0, false, not_given},
        {{.run = lie_with_more}, 0, true, not_given},
        {{.run = lie_with_less}, 0, true, counts},
        {{.run = lie_with_many}, 0, true, counts},
        {{.run = lie_in_count}, CONTAINER_NODE_STOPS | CONTAINER_NODE_STATEFUL, false, counts},
        {{.run = kernel_total, .finish = lie_in_finish}, TOTAL_FLAGS, false, counts},
        {{.run = kernel_total, .finish = stop_in_finish},
         TOTAL_FLAGS | CONTAINER_NODE_STOPS,
         false,
         "unknown status 4 in its finish"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made *m = made_create("lies", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
        uint32_t y = made_buffer(m, "y", SCALAR_I32, 256, CONTAINER_OUTER_OUT);
        bool finishes = cases[i].kernel.finish != NULL;
        add_node(m, "lie", cases[i].flags, x, 1, 1, y, cases[i].bounded ? 2 : 1, finishes ? 2 : 0);
        if (cases[i].bounded) m->outputs[0].push_least = 1;
        made_loop(m);
        struct prt_program *program = pipelines_load(m, &cases[i].kernel);
        struct prt_error error = {0};
        host_ramp(&in, 500);
        out.count = 0;
        assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_E_FAULT);
        if (strstr(error.message, cases[i].message) == NULL) fail_msg("%zu: %s", i, error.message);
        prt_program_free(program);
    }
}

/* The verifier cannot see that this program looks once and halts. */
static void a_program_that_halts_with_work_left_is_refused(void **unused)
{
    (void)unused;
    struct made *m = made_create("lazy", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "copy", 0, x, 1, 1, y, 1, 0);
    made_program(m, "bind_root 0\n ends\n round_robin 0, L2\n dispatch\nL2: halt\n");
    struct prt_error error = {0};
    assert_int_equal(made_verify(m, &error), PRT_E_VERIFY);
    assert_non_null(strstr(error.message, "[halt]"));
}

/* ---- scheduling ---- */

/* Whole batches while the stream lasts, the rest once it is closed. */
static void thresholds_hold_until_the_stream_ends(void **unused)
{
    (void)unused;
    struct prt_program *program = chain(64, 8, false);
    struct prt_stage_statistics first = {0}, second = {0};
    struct prt_error error;
    enum prt_status status;
    host_ramp(&in, 67); /* 64, then 3 */
    struct prt_run *run = start(program, &error, &status);
    assert_int_equal(status, PRT_OK);
    assert_true(prt_run_stage(run, 0, &first) && prt_run_stage(run, 1, &second));
    assert_int_equal(first.firings, 67);
    assert_int_equal(second.firings, 67);
    assert_int_equal(first.dispatches, 3); /* 32, 32, 3 */
    assert_int_equal(second.dispatches, 3);
    assert_int_equal(first.cu_count, 16);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* A threshold that the loop can never reach is waived when nothing runs. */
static void thresholds_are_waived_when_nothing_runs(void **unused)
{
    (void)unused;
    struct made *m = loop_made(4, 2);
    for (uint32_t i = 0; i < 3; i++)
        m->stages[i].threshold = 3;
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){sum, copy, copy});
    struct prt_error error;
    host_ramp(&in, 100);
    out.count = 0;
    assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_OK);
    assert_int_equal(out.count, 100);
    prt_program_free(program);
}

/* Initial packets of ports come first. */
static void initial_packets_of_ports_come_first(void **unused)
{
    (void)unused;
    const int32_t before[] = {-3, -2};
    struct made *m = made_create("ports", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    made_initial(m, x, 3, before, sizeof before);
    made_initial(m, y, 1, before, sizeof before[0]);
    add_node(m, "copy", 0, x, 1, 1, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &copy);
    const int32_t expected[] = {-3, -3, -2, -3, 0, 1, 2};
    struct prt_error error;
    host_ramp(&in, 3);
    out.count = 0;
    assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_OK);
    assert_int_equal(out.count, 7);
    assert_memory_equal(out.packets, expected, sizeof expected);
    prt_program_free(program);
}

/* It holds what a firing needs, and is filled for more of them. */
static void a_port_that_is_filled_further_is_told(void **unused)
{
    (void)unused;
    const int32_t before = 7;
    struct made *m = made_create("ports", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    made_initial(m, x, 3, &before, sizeof before);
    add_node(m, "copy", 0, x, 1, 1, made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT), 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &copy);
    struct told told = {.used = 0};
    assert_int_equal(prt_run_create(program, NULL, &asked, NULL), PRT_OK);
    prt_run_bind_input(asked, prt_program_find_port(program, "x"), ask_and_end, &told, NULL);
    assert_int_equal(prt_run_execute(asked, NULL), PRT_OK);
    assert_non_null(strstr(told.text, "waits for input 'x' (holds 3, to be filled up to 64)\n"));
    prt_run_destroy(asked);
    prt_program_free(program);
}

enum { FAULTS_AT = 30 };

/* y = z = x, until x is FAULTS_AT; at the end -1 to both. */
static int32_t kernel_both(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++) {
        int32_t x = ((const int32_t *)batch->in[0])[i];
        *batch->fault = (struct kernel_fault){.firing = batch->first_firing + i};
        if (x == FAULTS_AT) return KERNEL_FAULT_DIVISION;
        ((int32_t *)batch->out[0])[i] = ((int32_t *)batch->out[1])[i] = x;
    }
    return KERNEL_OK;
}

static int32_t kernel_both_finish(const struct kernel_batch *batch)
{
    *(int32_t *)batch->out[0] = *(int32_t *)batch->out[1] = -1;
    batch->produced[0] = batch->produced[1] = 1;
    return KERNEL_OK;
}

/* Wherever y fails: before a fault, at it, at the finish.  Nothing that is written with it comes to z. */
static void a_host_that_fails_at_one_out_port_gets_nothing_at_the_next(void **unused)
{
    (void)unused;
    static struct host z;
    static const struct prt_image_kernel both = {.run = kernel_both, .finish = kernel_both_finish};
    struct made *m = made_create("both", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 4, CONTAINER_OUTER_IN);
    add_node(m, "both", CONTAINER_NODE_FINISH | CONTAINER_NODE_FAULTS, x, 1, 1,
             made_buffer(m, "y", SCALAR_I32, 4, CONTAINER_OUTER_OUT), 1, 1);
    made_output(m, 0, made_buffer(m, "z", SCALAR_I32, 4, CONTAINER_OUTER_OUT), 1, 1);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &both);
    for (int gone = 0; gone < 2; gone++) { /* y wants no more: z gets the rest */
        struct told told = {.used = 0};
        struct prt_run *run;
        host_ramp(&in, 20);
        z = (struct host){.count = 0};
        out = (struct host){.fails_after = 4, .failure = PRT_E_CLOSED_PIPE};
        assert_int_equal(prt_run_create(program, NULL, &run, NULL), PRT_OK);
        pipelines_bind(program, run, &in, gone ? &out : NULL);
        assert_int_equal(
            prt_run_bind_output(run, prt_program_find_port(program, "z"), host_write, &z, NULL),
            PRT_OK);
        assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
        prt_run_tell_standing(run, hear, &told);
        told.text[told.used] = '\0';
        assert_int_equal(strstr(told.text, "out-port, closed, the host wants no more") != NULL,
                         gone);
        assert_int_equal(z.count, 21);
        prt_run_destroy(run);
    }
    for (size_t given = 20; given <= 40; given += 20) {
        size_t all = given < FAULTS_AT ? given + 1 : FAULTS_AT;
        for (size_t fails_after = 1; fails_after <= all + 1; fails_after++) {
            struct prt_run *run;
            struct prt_error error;
            host_ramp(&in, given);
            z = (struct host){.count = 0};
            out = (struct host){.fails_after = fails_after, .failure = PRT_E_WRITE};
            assert_int_equal(prt_run_create(program, NULL, &run, &error), PRT_OK);
            pipelines_bind(program, run, &in, &out);
            assert_int_equal(prt_run_bind_output(run, prt_program_find_port(program, "z"),
                                                 host_write, &z, &error),
                             PRT_OK);
            enum prt_status status = prt_run_execute(run, &error);
            bool fails = out.count < all;
            assert_int_equal(status, fails               ? PRT_E_WRITE
                                     : given < FAULTS_AT ? PRT_OK
                                                         : PRT_E_FAULT);
            assert_int_equal(z.count, out.count);
            prt_run_destroy(run);
        }
    }
    prt_program_free(program);
}

/* A finish that comes after a fault on its queue is skipped: nothing of it has happened. */
static void a_finish_after_a_fault_is_taken_back(void **unused)
{
    (void)unused;
    static struct host z;
    struct made *m = made_create("late", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "total", TOTAL_FLAGS, x, 1, 1, t, 1, 2);
    add_node(m, "divide", CONTAINER_NODE_FAULTS, x, 1, 1, y, 1, 0);
    add_node(m, "copy", 0, t, 1, 1, made_buffer(m, "z", SCALAR_I32, 64, CONTAINER_OUTER_OUT), 1, 0);
    made_loop(m);
    struct prt_program *program =
        pipelines_load(m, (struct prt_image_kernel[]){total, divide, copy});
    struct prt_run *run;
    struct prt_error error;
    host_ramp(&in, 20); /* the first one is 0 */
    out = (struct host){.count = 0};
    z = (struct host){.count = 0};
    assert_int_equal(prt_run_create(program, NULL, &run, &error), PRT_OK);
    pipelines_bind(program, run, &in, &out);
    assert_int_equal(
        prt_run_bind_output(run, prt_program_find_port(program, "z"), host_write, &z, &error),
        PRT_OK);
    assert_int_equal(prt_run_execute(run, &error), PRT_E_FAULT);
    assert_non_null(strstr(error.message, "divided by zero in firing 0"));
    assert_int_equal(out.count, 0);
    for (size_t i = 0; i < z.count; i++)
        assert_int_equal(z.packets[i], i < 20 ? i * (i + 1) / 2 : i == 20 ? 190 : 0);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* join lacks what the fault keeps back, and what slow is to make room for: it is looked at again when that has come. */
static void a_stage_that_lacks_more_than_a_fault_keeps_back_waits(void **unused)
{
    (void)unused;
    struct made *m = made_create("held", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 4, CONTAINER_OUTER_IN);
    uint32_t f = made_buffer(m, "b", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t a = made_buffer(m, "a", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t j = made_buffer(m, "j", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "slow", 0);
    made_input(m, node, x, 1, 4);
    made_input(m, node, j, 1, 1);
    made_output(m, node, y, 1, 0);
    node = made_node(m, "join", 0);
    made_input(m, node, a, 1, 1);
    made_input(m, node, x, 1, 1);
    made_output(m, node, j, 1, 0);
    add_node(m, "divide", CONTAINER_NODE_FAULTS, f, 1, 1, a, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){sum, sum, divide});
    static struct host faulting;
    struct prt_run *run;
    struct prt_error error;
    for (size_t at = 0; at < 12; at++) {
        host_ramp(&in, 500);
        host_ramp(&faulting, 500);
        for (size_t i = 0; i < 500; i++)
            faulting.packets[i] = i != at;
        out = (struct host){.count = 0};
        assert_int_equal(prt_run_create(program, NULL, &run, &error), PRT_OK);
        pipelines_bind(program, run, &in, &out);
        assert_int_equal(prt_run_bind_input(run, prt_program_find_port(program, "b"), host_read,
                                            &faulting, &error),
                         PRT_OK);
        assert_int_equal(prt_run_execute(run, &error), PRT_E_FAULT);
        assert_int_equal(out.count, at);
        for (size_t i = 0; i < at; i++)
            assert_int_equal(out.packets[i], 2 * i + 100);
        prt_run_destroy(run);
    }
    prt_program_free(program);
}

/* The loop, which could fault earlier, has no packet for ever: the fault that there is is reported, no stall. */
static void a_fault_goes_before_a_stall(void **unused)
{
    (void)unused;
    struct made *m = made_create("loop", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t there = made_buffer(m, "there", SCALAR_I32, 4, CONTAINER_INNER);
    uint32_t back = made_buffer(m, "back", SCALAR_I32, 4, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "add", CONTAINER_NODE_FAULTS);
    made_input(m, node, x, 1, 1);
    made_input(m, node, back, 1, 1);
    made_output(m, node, there, 1, 0);
    add_node(m, "copy", 0, there, 1, 1, back, 1, 0);
    add_node(m, "divide", CONTAINER_NODE_FAULTS, x, 1, 1, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){sum, copy, divide});
    struct prt_error error = {0};
    host_ramp(&in, 20);
    out = (struct host){.count = 0};
    assert_int_equal(pipelines_run(program, 1, &in, &out, NULL, &error), PRT_E_FAULT);
    assert_non_null(strstr(error.message, "'divide'"));
    prt_program_free(program);
}

static enum prt_status refuse_packets(void *context, const void *packets, size_t count,
                                      struct prt_error *error)
{
    (void)packets;
    assert_int_equal(count, 1);
    ++*(size_t *)context;
    return prt_error_set(error, PRT_E_WRITE, "the host takes none");
}

static void a_run_fails_with_the_initial_packets_of_a_port(void **unused)
{
    (void)unused;
    const int32_t before = 7;
    size_t calls = 0;
    struct made *m = made_create("ports", "sim16");
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    made_initial(m, y, 1, &before, sizeof before);
    add_node(m, "copy", 0, x, 1, 1, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &copy);
    struct prt_run *run;
    struct prt_error error;
    host_ramp(&in, 3);
    assert_int_equal(prt_run_create(program, NULL, &run, &error), PRT_OK);
    pipelines_bind(program, run, &in, NULL);
    assert_int_equal(prt_run_bind_output(run, prt_program_find_port(program, "y"), refuse_packets,
                                         &calls, &error),
                     PRT_OK);
    assert_int_equal(prt_run_execute(run, &error), PRT_E_WRITE);
    assert_string_equal(error.message, "the host takes none");
    assert_int_equal(calls, 1);
    assert_int_equal(in.at, 0);
    prt_run_destroy(run);
    prt_program_free(program);
}

TEST_MAIN("sched", cmocka_unit_test(streams_of_every_length_come_out_whole),
          cmocka_unit_test(cycles_depend_on_the_stream_alone),
          cmocka_unit_test(the_order_of_inputs_changes_no_cycle),
          cmocka_unit_test(a_tail_shorter_than_a_firing_is_left_over),
          cmocka_unit_test(history_is_not_left_over),
          cmocka_unit_test(a_stream_shorter_than_the_window_is_left_over),
          cmocka_unit_test(leftovers_say_which_input_had_too_few),
          cmocka_unit_test(a_host_at_hand_is_asked_ahead),
          cmocka_unit_test(a_run_tells_how_it_stands),
          cmocka_unit_test(a_visit_sees_how_a_run_stands),
          cmocka_unit_test(a_finish_sees_the_tail_and_writes_last),
          cmocka_unit_test(a_finish_waits_for_room),
          cmocka_unit_test(a_node_that_ends_early_blocks_nobody),
          cmocka_unit_test(without_readers_a_node_goes_on_discarding),
          cmocka_unit_test(feedback_runs_and_ends),
          cmocka_unit_test(an_endless_ring_can_be_interrupted),
          cmocka_unit_test(an_empty_loop_is_a_stall_with_its_cycle),
          cmocka_unit_test(a_full_buffer_is_a_stall_with_its_cycle),
          cmocka_unit_test(a_fault_names_kernel_place_and_firing),
          cmocka_unit_test(a_fault_is_told_without_figures_and_folders),
          cmocka_unit_test(long_names_leave_room_for_the_count_of_waits),
          cmocka_unit_test(a_stall_tells_its_first_wait_whatever_the_length_of_a_name),
          cmocka_unit_test(a_name_cannot_drive_a_terminal),
          cmocka_unit_test(of_several_faults_the_first_declared_is_reported),
          cmocka_unit_test(a_fault_in_a_packet_is_the_only_one),
          cmocka_unit_test(reports_that_cannot_be_are_refused),
          cmocka_unit_test(a_program_that_halts_with_work_left_is_refused),
          cmocka_unit_test(thresholds_hold_until_the_stream_ends),
          cmocka_unit_test(thresholds_are_waived_when_nothing_runs),
          cmocka_unit_test(initial_packets_of_ports_come_first),
          cmocka_unit_test(a_host_that_fails_at_one_out_port_gets_nothing_at_the_next),
          cmocka_unit_test(a_finish_after_a_fault_is_taken_back),
          cmocka_unit_test(a_stage_that_lacks_more_than_a_fault_keeps_back_waits),
          cmocka_unit_test(a_fault_goes_before_a_stall),
          cmocka_unit_test(a_port_that_is_filled_further_is_told),
          cmocka_unit_test(a_run_fails_with_the_initial_packets_of_a_port))
