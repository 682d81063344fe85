/* SPDX-License-Identifier: MIT */
/* Eager ports in a program: what is pushed comes out before more is asked for. */
#include "tests/test.h"

#include "tests/conform/pipelines.h"

static const struct prt_image_kernel copy = {.run = kernel_copy}, diff = {.run = kernel_diff},
                                     add = {.run = kernel_add};

enum { DEPTH = 64, PACKETS = 300 };

/* A caller that has its packets one by one, and looks at its output before it gives the next. */
struct pusher {
    int32_t pushed, pulled; /* packets */
    int32_t piece;          /* packets at a time */
    int32_t behind; /* packets that may be missing in the output: those that a window keeps */
    size_t asked_least;
};

static enum prt_status push(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct pusher *p = context;
    int32_t *next = packets;
    (void)error;
    int32_t due = p->pushed - p->behind;
    assert_int_equal(p->pulled, due > 0 ? due : 0);
    if (capacity < p->asked_least) p->asked_least = capacity;
    for (*count = 0; *count < (size_t)p->piece && p->pushed < PACKETS; ++*count)
        next[*count] = p->pushed++;
    return PRT_OK;
}

static enum prt_status pull(void *context, const void *packets, size_t count,
                            struct prt_error *error)
{
    struct pusher *p = context;
    const int32_t *values = packets;
    (void)error;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(values[i], p->behind == 0 ? p->pulled + (int32_t)i : 1);
    p->pulled += (int32_t)count;
    return PRT_OK;
}

static struct prt_program *load(const struct prt_image_kernel *kernel)
{
    struct made *m = made_create("p", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "k", 0);
    made_input(m, node, x, 1, kernel == &diff ? 2 : 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    return pipelines_load(m, kernel);
}

static void push_all(const struct prt_image_kernel *kernel, const char *device, int32_t piece)
{
    struct prt_program *program = load(kernel);
    struct prt_run_options options = {.device = device};
    struct pusher p = {.piece = piece, .behind = kernel == &diff ? 1 : 0, .asked_least = DEPTH};
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, push, &p, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, pull, &p, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(p.pushed, PACKETS);
    assert_int_equal(p.pulled, PACKETS - p.behind);
    assert_true(p.asked_least >= DEPTH - 1);
    prt_run_destroy(run);
    prt_program_free(program);
}

static void a_pushed_packet_comes_out_before_the_next_push(void **state)
{
    (void)state;
    push_all(&copy, "cpu:1", 1);
    push_all(&copy, "cpu:4", 1);
}

static void so_do_several_packets_and_those_of_a_window(void **state)
{
    (void)state;
    push_all(&copy, "cpu:1", 7);
    push_all(&diff, "cpu:1", 1);
    push_all(&diff, "cpu:4", 5);
}

/* Two callbacks in turns: one is asked only if its packet is needed. */
struct turns {
    int32_t given[2], got;
};

static enum prt_status give(struct turns *t, int port, void *packets, size_t *count)
{
    int32_t *next = packets;
    assert_true(t->given[port] <= t->given[1 - port]);
    assert_int_equal(t->got, t->given[0] < t->given[1] ? t->given[0] : t->given[1]);
    *count = t->given[port] < PACKETS ? 1 : 0;
    if (*count > 0) next[0] = t->given[port]++;
    return PRT_OK;
}

static enum prt_status give_first(void *context, void *packets, size_t capacity, size_t *count,
                                  struct prt_error *error)
{
    (void)capacity, (void)error;
    return give(context, 0, packets, count);
}

static enum prt_status give_second(void *context, void *packets, size_t capacity, size_t *count,
                                   struct prt_error *error)
{
    (void)capacity, (void)error;
    return give(context, 1, packets, count);
}

static enum prt_status get_sum(void *context, const void *packets, size_t count,
                               struct prt_error *error)
{
    struct turns *t = context;
    const int32_t *values = packets;
    (void)error;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(values[i], 2 * t->got++);
    return PRT_OK;
}

static void two_sources_are_asked_in_turns(void **state)
{
    (void)state;
    struct made *m = made_create("p", "sim16");
    uint32_t a = made_buffer(m, "a", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t b = made_buffer(m, "b", SCALAR_I32, DEPTH, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, DEPTH, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "add", 0);
    made_input(m, node, a, 1, 1);
    made_input(m, node, b, 1, 1);
    made_output(m, node, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &add);
    struct prt_run_options options = {.device = "cpu:1"};
    struct turns t = {.got = 0};
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, give_first, &t, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 1, give_second, &t, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 2, get_sum, &t, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 1, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(t.got, PACKETS);
    prt_run_destroy(run);
    prt_program_free(program);
}

static void an_eager_port_is_an_in_port(void **state)
{
    (void)state;
    struct prt_program *program = load(&copy);
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, NULL, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 1, NULL), PRT_E_USAGE);
    assert_int_equal(prt_run_input_eager(run, 2, NULL), PRT_E_USAGE);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* ---- full all the same ---- */

static enum prt_status drop(void *context, const void *packets, size_t count,
                            struct prt_error *error)
{
    (void)packets, (void)error;
    *(size_t *)context += count;
    return PRT_OK;
}

static enum prt_status give_one(void *context, void *packets, size_t capacity, size_t *count,
                                struct prt_error *error)
{
    int32_t *given = context, *next = packets;
    (void)capacity, (void)error;
    *count = *given < PACKETS ? 1 : 0;
    next[0] = (*given)++;
    return PRT_OK;
}

static struct prt_run_statistics run_simulated(struct prt_program *program, bool eager)
{
    struct prt_run_options options = {.device = "sim16", .measure = true};
    struct prt_run_statistics statistics;
    struct prt_run *run;
    int32_t given = 0;
    size_t got = 0;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, 0, give_one, &given, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, drop, &got, NULL), PRT_OK);
    if (eager) assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(got, PACKETS);
    prt_run_statistics(run, &statistics);
    prt_run_destroy(run);
    return statistics;
}

static void on_a_simulated_device_an_eager_port_changes_no_cycle(void **state)
{
    (void)state;
    struct prt_program *program = load(&copy);
    struct prt_run_statistics full = run_simulated(program, false);
    struct prt_run_statistics eager = run_simulated(program, true);
    assert_true(full.total_cycles > 0);
    assert_int_equal(eager.total_cycles, full.total_cycles);
    assert_int_equal(eager.suspensions, full.suspensions);
    prt_program_free(program);
}

static void memory_is_no_eager_port(void **state)
{
    (void)state;
    struct prt_program *program = load(&copy);
    struct prt_run_options options = {.device = "cpu:1"};
    int32_t packets[PACKETS];
    size_t got = 0;
    struct prt_run *run;
    for (int32_t i = 0; i < PACKETS; i++)
        packets[i] = i;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input_memory(run, 0, packets, PACKETS, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_output(run, 1, drop, &got, NULL), PRT_OK);
    assert_int_equal(prt_run_input_eager(run, 0, NULL), PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    assert_int_equal(got, PACKETS);
    prt_run_destroy(run);
    prt_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pushed_packet_comes_out_before_the_next_push),
        cmocka_unit_test(so_do_several_packets_and_those_of_a_window),
        cmocka_unit_test(two_sources_are_asked_in_turns),
        cmocka_unit_test(an_eager_port_is_an_in_port),
        cmocka_unit_test(on_a_simulated_device_an_eager_port_changes_no_cycle),
        cmocka_unit_test(memory_is_no_eager_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
