/* SPDX-License-Identifier: MIT */
/* Messages of a run and of a replay about stages that wait for ever: real stalls, and counterexamples whose
 * certificates are made by hand, so that they may show nothing. */
#include "tests/test.h"

#include "tests/conform/made_load.h"
#include "tests/conform/pipelines.h"

static struct host in, out, b;

static const struct prt_image_kernel copy = {.run = kernel_copy}, sum = {.run = kernel_add},
                                     drop = {.run = kernel_drop}, divide = {.run = kernel_divide},
                                     total = {.run = kernel_total, .finish = kernel_total_finish};

static void add_node(struct made *m, const char *name, uint32_t flags, uint32_t from, uint32_t to,
                     uint64_t finish_max)
{
    uint32_t node = made_node(m, name, flags);
    made_input(m, node, from, 1, 1);
    if (to != CONTAINER_NONE) made_output(m, node, to, 1, finish_max);
}

/* ---- replays ---- */

/* The cycle is said to be node 0, which has fired so many times before. */
static struct prt_program *counterexample(struct made *m, uint64_t firings,
                                          const struct prt_image_kernel *kernels)
{
    const uint64_t form = (uint64_t)CONTAINER_CERTIFICATE_STALL << CONTAINER_CERTIFICATE_FORM_SHIFT;
    const uint64_t words[] = {form | CONTAINER_NONE, 7, 2, 1, 0, 1, 1, 0, firings};
    memcpy(m->certificate, words, sizeof words);
    m->certificate_count = sizeof words / sizeof *words;
    m->pipeline.flags = CONTAINER_PIPELINE_COUNTEREXAMPLE;
    made_program(m, " partition_equally 4\n bind 0, 0\n bind 1, 1\n bind 2, 2\n"
                    "L1: ends\n round_robin 0, L2\n dispatch\n jump L1\nL2: wait L1\n halt\n");
    return made_load(m, kernels);
}

/* x -> a, b; a -> t -> c: x and t hold that many packets; b reads t if `aside` is false. */
static struct prt_program *branches(uint64_t x_depth, uint64_t t_depth, bool aside,
                                    uint64_t firings, struct prt_image_kernel first, uint32_t flags)
{
    struct made *m = made_create("branches", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, x_depth, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, t_depth, CONTAINER_INNER);
    add_node(m, "a", flags, x, t, 0);
    add_node(m, "b", 0, aside ? x : t, CONTAINER_NONE, 0);
    add_node(m, "c", 0, t, CONTAINER_NONE, 0);
    return counterexample(m, firings, (struct prt_image_kernel[]){first, drop, drop});
}

static void count_step(void *context, const struct prt_replay_step *step)
{
    assert_string_equal(step->node, "a");
    ++*(size_t *)context;
}

/* Replays the program, which it frees. */
static void expect_replay(struct prt_program *program, size_t firings, enum prt_status status,
                          const char *message)
{
    struct prt_error error = {.message = ""};
    struct prt_run *run;
    size_t steps = 0;
    assert_int_equal(prt_run_create(program, NULL, &run, &error), PRT_OK);
    assert_int_equal(
        prt_run_bind_input(run, prt_program_find_port(program, "x"), host_read, &in, &error),
        PRT_OK);
    assert_int_equal(prt_run_replay(run, count_step, &steps, &error), status);
    assert_string_equal(error.message, message);
    assert_int_equal(steps, firings);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* b, which is not of the cycle, is the one that keeps x full. */
static void a_replay_tells_the_waits_of_its_cycle_only(void **unused)
{
    (void)unused;
    host_ramp(&in, 500);
    expect_replay(branches(2, 8, true, 2, copy, 0), 2, PRT_E_STALL,
                  "the pipeline has stalled: 'a' waits for packets in 'x' (holds 0, needs 1)");
}

static void a_replay_can_wait_for_a_stream_that_has_ended(void **unused)
{
    (void)unused;
    host_ramp(&in, 2);
    expect_replay(branches(8, 8, false, 2, copy, 0), 2, PRT_E_STALL,
                  "the pipeline has stalled: 'a' waits for packets in 'x' (holds 0, needs 1)");
}

static void a_replay_ends_where_there_is_no_room(void **unused)
{
    (void)unused;
    host_ramp(&in, 500);
    expect_replay(branches(8, 2, true, 3, copy, 0), 2, PRT_E_VERIFY,
                  "the sequence cannot be replayed: as firing 3, 'a' finds too few packets or too "
                  "little room");
}

static int32_t kernel_stop(const struct kernel_batch *batch)
{
    *batch->completed = 0;
    return KERNEL_STOPPED;
}

static void a_replay_ends_where_a_stage_has_stopped(void **unused)
{
    (void)unused;
    host_ramp(&in, 500);
    expect_replay(
        branches(8, 8, true, 2, (struct prt_image_kernel){.run = kernel_stop},
                 CONTAINER_NODE_STOPS),
        1, PRT_E_VERIFY,
        "the sequence cannot be replayed: as firing 2, 'a' finds too few packets or too little "
        "room");
}

static void a_replay_ends_by_the_first_fault(void **unused)
{
    (void)unused;
    host_ramp(&in, 500);
    in.packets[0] = 5;
    in.packets[1] = 0;
    expect_replay(branches(8, 8, true, 4, divide, 0), 1, PRT_E_FAULT,
                  "kernel 'a' (instance at made.pipe:1) divided by zero in firing 1 "
                  "[division-by-zero]");
}

/* ---- stalls ---- */

/* In the loop add -> s -> delay -> back there is no packet; t -> add and x -> `first` -> t keep waiting for it. */
static struct made *loop_made(uint64_t t_depth, uint32_t flags)
{
    struct made *m = made_create("loop", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, t_depth, CONTAINER_INNER);
    uint32_t s = made_buffer(m, "s", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t back = made_buffer(m, "back", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "first", flags, x, t, (flags & CONTAINER_NODE_FINISH) != 0 ? 2 : 0);
    if ((flags & CONTAINER_NODE_FINISH) != 0) /* of two inputs a finish reads none */
        made_input(m, 0, made_buffer(m, "b", SCALAR_I32, 64, CONTAINER_OUTER_IN), 1, 1);
    uint32_t node = made_node(m, "add", 0);
    made_input(m, node, t, 1, 1);
    made_input(m, node, back, 1, 1);
    made_output(m, node, s, 1, 0);
    add_node(m, "delay", 0, s, back, 0);
    add_node(m, "copy", 0, s, y, 0);
    made_loop(m);
    return m;
}

struct waits {
    size_t count, longest;
};

static void hear_wait(void *context, const char *wait)
{
    struct waits *waits = context;
    waits->count++;
    if (strlen(wait) > waits->longest) waits->longest = strlen(wait);
}

/* Runs the program, which it frees, until it stalls. */
static struct waits stall(struct prt_program *program, struct prt_error *error)
{
    struct waits waits = {.count = 0};
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, NULL, &run, error), PRT_OK);
    out = (struct host){.count = 0};
    bool has_y = prt_program_find_port(program, "y") != PRT_NONE;
    pipelines_bind(program, run, &in, has_y ? &out : NULL);
    if (prt_program_find_port(program, "b") != PRT_NONE)
        assert_int_equal(
            prt_run_bind_input(run, prt_program_find_port(program, "b"), host_read, &b, error),
            PRT_OK);
    assert_int_equal(prt_run_execute(run, error), PRT_E_STALL);
    prt_run_tell_stall(run, hear_wait, &waits);
    prt_run_destroy(run);
    prt_program_free(program);
    return waits;
}

/* Its stream has ended, and no room comes for what its finish writes: it leads into the cycle. */
static void a_finish_can_wait_for_a_cycle(void **unused)
{
    (void)unused;
    struct prt_error error = {.message = ""};
    host_ramp(&in, 2);
    host_ramp(&b, 2);
    struct waits waits =
        stall(pipelines_load(loop_made(2, CONTAINER_NODE_STATEFUL | CONTAINER_NODE_FINISH),
                             (struct prt_image_kernel[]){total, sum, copy, copy}),
              &error);
    assert_int_equal(waits.count, 2);
    assert_non_null(strstr(error.message, "'add' waits for packets in 'back' (holds 0, needs 1)"));
    assert_non_null(strstr(error.message, "'delay' waits for packets in 's' (holds 0, needs 1)"));
    assert_null(strstr(error.message, "'first'"));
}

/* `gone` has ended before it has read anything of t: it does not keep t full. */
static void a_reader_that_has_ended_keeps_nothing_full(void **unused)
{
    (void)unused;
    struct made *m = made_create("full", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t ended = made_buffer(m, "b", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 4, CONTAINER_INNER);
    uint32_t late = made_buffer(m, "late", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    struct prt_error error = {.message = ""};
    uint32_t node = made_node(m, "gone", 0);
    made_input(m, node, t, 1, 1);
    made_input(m, node, ended, 1, 1);
    add_node(m, "copy", 0, x, t, 0);
    node = made_node(m, "late", 0);
    made_input(m, node, t, 1, 4); /* needs all that t can hold */
    made_output(m, node, late, 1, 0);
    node = made_node(m, "add", 0);
    made_input(m, node, t, 1, 1);
    made_input(m, node, late, 1, 8); /* and eight of those */
    made_output(m, node, y, 1, 0);
    made_loop(m);
    host_ramp(&in, 500);
    host_ramp(&b, 0);
    struct waits waits =
        stall(pipelines_load(m, (struct prt_image_kernel[]){drop, copy, copy, sum}), &error);
    assert_int_equal(waits.count, 3);
    assert_non_null(strstr(error.message, "'copy' waits for room in 't' (holds 4 of 4, needs 1)"));
    assert_null(strstr(error.message, "'gone'"));
}

/* The fault is not demanded, for join can never use the packet that it keeps back: the run stalls, and says so. */
static void a_stall_can_end_at_a_fault(void **unused)
{
    (void)unused;
    for (int direct = 0; direct < 2; direct++) {
        struct made *m = made_create("loop", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
        uint32_t p = made_buffer(m, "p", SCALAR_I32, 64, CONTAINER_INNER);
        uint32_t t = made_buffer(m, "t", SCALAR_I32, 2, CONTAINER_INNER);
        uint32_t s = made_buffer(m, "s", SCALAR_I32, 16, CONTAINER_INNER);
        uint32_t back = made_buffer(m, "back", SCALAR_I32, 16, CONTAINER_INNER);
        uint32_t q = direct ? p : made_buffer(m, "q", SCALAR_I32, 64, CONTAINER_INNER);
        struct prt_error error = {.message = ""};
        add_node(m, "divide", CONTAINER_NODE_FAULTS, x, p, 0);
        add_node(m, "first", 0, x, t, 0);
        uint32_t node = made_node(m, "join", 0);
        made_input(m, node, q, 1, 1);
        made_input(m, node, t, 1, 1);
        made_input(m, node, back, 1, 1);
        made_output(m, node, s, 1, 0);
        add_node(m, "delay", 0, s, back, 0);
        if (!direct) add_node(m, "copy", 0, p, q, 0);
        made_loop(m);
        host_ramp(&in, 500); /* of which the first is 0 */
        struct waits waits = stall(
            pipelines_load(m, (struct prt_image_kernel[]){divide, copy, sum, copy, copy}), &error);
        assert_int_equal(waits.count, 3);
        assert_non_null(strstr(error.message, "stalled: 'first' waits for room in 't' (holds 2 of "
                                              "2, needs 1); 'join' waits for packets in '"));
        const char *end = direct
                              ? "(holds 0, needs 1); 'divide' has faulted"
                              : "(holds 0, needs 1); 'copy' needs packets that a fault keeps back";
        assert_non_null(strstr(error.message, end));
    }
}

/* A wait that is longer than any message is cut at its end; the other waits are whole. */
static void a_wait_of_endless_names_is_cut(void **unused)
{
    (void)unused;
    char name[360];
    struct made *m = loop_made(8, 0);
    struct prt_error error = {.message = ""};
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    m->nodes[1].name = m->buffers[3].name = made_string(m, name);
    host_ramp(&in, 500);
    struct waits waits =
        stall(pipelines_load(m, (struct prt_image_kernel[]){copy, sum, copy, copy}), &error);
    assert_int_equal(waits.count, 2);
    assert_int_equal(waits.longest, 479);
    assert_non_null(strstr(error.message, "more wait"));
}

TEST_MAIN("stalls", cmocka_unit_test(a_replay_tells_the_waits_of_its_cycle_only),
          cmocka_unit_test(a_replay_can_wait_for_a_stream_that_has_ended),
          cmocka_unit_test(a_replay_ends_where_there_is_no_room),
          cmocka_unit_test(a_replay_ends_where_a_stage_has_stopped),
          cmocka_unit_test(a_replay_ends_by_the_first_fault),
          cmocka_unit_test(a_finish_can_wait_for_a_cycle),
          cmocka_unit_test(a_reader_that_has_ended_keeps_nothing_full),
          cmocka_unit_test(a_stall_can_end_at_a_fault),
          cmocka_unit_test(a_wait_of_endless_names_is_cut))
