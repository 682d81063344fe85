/* SPDX-License-Identifier: MIT */
/* Which fault a run reports, and when: the first one that is demanded, as soon as no other can come before it. */
#include "tests/test.h"

#include "tests/conform/pipelines.h"

static struct host x, w, y, z;

/* ---- kernels ---- */

static int32_t fault_at(const struct kernel_batch *batch, uint64_t firing)
{
    uint64_t left = firing - batch->first_firing;
    uint64_t count = firing >= batch->first_firing && left < batch->count ? left : batch->count;
    memcpy(batch->out[0], batch->in[0], count * sizeof(int32_t));
    if (count == batch->count) return KERNEL_OK;
    *batch->fault = (struct kernel_fault){.firing = firing, .line = 1};
    return KERNEL_FAULT_DIVISION;
}

static int32_t fault_at_10(const struct kernel_batch *batch)
{
    return fault_at(batch, 10);
}

static int32_t fault_at_30(const struct kernel_batch *batch)
{
    return fault_at(batch, 30);
}

/* Stops after five packets. */
static int32_t take_five(const struct kernel_batch *batch)
{
    uint64_t left = batch->first_firing < 5 ? 5 - batch->first_firing : 0;
    uint64_t count = left < batch->count ? left : batch->count;
    memcpy(batch->out[0], batch->in[0], count * sizeof(int32_t));
    batch->produced[0] = *batch->completed = count;
    return count < batch->count ? KERNEL_STOPPED : KERNEL_OK;
}

static int32_t tick(const struct kernel_batch *batch)
{
    memset(batch->out[0], 0, batch->count * sizeof(int32_t));
    return KERNEL_OK;
}

/* Of no firing. */
static int32_t fault_in_finish(const struct kernel_batch *batch)
{
    *batch->fault = (struct kernel_fault){.firing = UINT64_MAX, .line = 1};
    return KERNEL_FAULT_DIVISION;
}

/* ---- pipelines ---- */

static uint32_t add_node(struct made *m, const char *name, uint32_t flags, uint32_t from,
                         uint32_t to, uint64_t finish_max)
{
    uint32_t node = made_node(m, name, flags);
    if (from != UINT32_MAX) made_input(m, node, from, 1, 1);
    made_output(m, node, to, 1, finish_max);
    return node;
}

static uint32_t in_port(struct made *m, const char *name)
{
    return made_buffer(m, name, SCALAR_I32, 64, CONTAINER_OUTER_IN);
}

static uint32_t out_port(struct made *m, const char *name)
{
    return made_buffer(m, name, SCALAR_I32, 64, CONTAINER_OUTER_OUT);
}

static uint32_t inner(struct made *m, const char *name)
{
    return made_buffer(m, name, SCALAR_I32, 64, CONTAINER_INNER);
}

static struct prt_run *create(const struct prt_program *program)
{
    const struct prt_run_options options = {.host_threads = 1};
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    y = (struct host){.count = 0};
    z = (struct host){.count = 0};
    return run;
}

static void bind_out(struct prt_run *run, const char *name, struct host *host)
{
    uint32_t port = prt_program_find_port(prt_run_program(run), name);
    assert_int_equal(prt_run_bind_output(run, port, host_write, host, NULL), PRT_OK);
}

static void bind_in(struct prt_run *run, const char *name, struct host *host, size_t count)
{
    uint32_t port = prt_program_find_port(prt_run_program(run), name);
    host_ramp(host, count);
    assert_int_equal(prt_run_bind_input(run, port, host_read, host, NULL), PRT_OK);
}

static enum prt_status take_none(void *context, const void *packets, size_t count,
                                 struct prt_error *error)
{
    (void)context, (void)packets, (void)count;
    return prt_error_set(error, PRT_E_CLOSED_PIPE, "closed");
}

static enum prt_status count_packets(void *context, const void *packets, size_t count,
                                     struct prt_error *error)
{
    (void)packets, (void)error;
    *(size_t *)context += count;
    return PRT_OK;
}

/* ---- tests ---- */

/* The fault of `early` comes first, but y is closed; `late` goes on to z.  tick never ends by itself. */
static void a_fault_for_a_closed_port_does_not_hold_up_another(void **unused)
{
    (void)unused;
    const struct prt_image_kernel kernels[] = {
        {.run = fault_at_10}, {.run = fault_at_30}, {.run = tick}};
    struct prt_error error = {.message = ""};
    size_t ticks = 0;
    struct made *m = made_create("closed", "sim16");
    uint32_t from = in_port(m, "x");
    add_node(m, "early", CONTAINER_NODE_FAULTS, from, out_port(m, "y"), 0);
    add_node(m, "late", CONTAINER_NODE_FAULTS, from, out_port(m, "z"), 0);
    add_node(m, "tick", 0, UINT32_MAX, out_port(m, "v"), 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, kernels);
    struct prt_run *run = create(program);
    bind_in(run, "x", &x, 100);
    bind_out(run, "z", &z);
    assert_int_equal(
        prt_run_bind_output(run, prt_program_find_port(program, "y"), take_none, NULL, NULL),
        PRT_OK);
    assert_int_equal(
        prt_run_bind_output(run, prt_program_find_port(program, "v"), count_packets, &ticks, NULL),
        PRT_OK);
    prt_run_limit_firings(run, 100000);
    assert_int_equal(prt_run_execute(run, &error), PRT_E_FAULT);
    assert_non_null(strstr(error.message, "'late'"));
    assert_non_null(strstr(error.message, "in firing 30"));
    assert_int_equal(z.count, 30);
    assert_true(ticks < 1000);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* A finish comes after the firings of its stage: that of `ends` after 20.  `other` faults later in time, in firing 10 or
 * 30. */
static void a_fault_of_a_finish_comes_after_the_firings(void **unused)
{
    (void)unused;
    for (int late = 0; late < 2; late++) {
        const struct prt_image_kernel kernels[] = {{.run = kernel_copy, .finish = fault_in_finish},
                                                   {.run = kernel_copy},
                                                   {.run = late ? fault_at_30 : fault_at_10}};
        struct prt_error error = {.message = ""};
        struct made *m = made_create("finish", "sim16");
        uint32_t t = made_buffer(m, "t", SCALAR_I32, 4, CONTAINER_INNER);
        add_node(m, "ends", CONTAINER_NODE_FAULTS | CONTAINER_NODE_FINISH, in_port(m, "x"),
                 out_port(m, "y"), 1);
        uint32_t slow = add_node(m, "slow", 0, in_port(m, "w"), t, 0);
        add_node(m, "other", CONTAINER_NODE_FAULTS, t, out_port(m, "z"), 0);
        m->nodes[slow].cost_cycles = m->nodes[slow].warp_cycles = 1000000;
        made_side_by_side(m);
        struct prt_program *program = pipelines_load(m, kernels);
        struct prt_run *run = create(program);
        bind_in(run, "x", &x, 20);
        bind_in(run, "w", &w, 60);
        bind_out(run, "y", &y);
        bind_out(run, "z", &z);
        assert_int_equal(prt_run_execute(run, &error), PRT_E_FAULT);
        assert_non_null(strstr(error.message, late ? "'ends'" : "'other'"));
        assert_non_null(strstr(error.message, late ? "in its finish" : "in firing 10"));
        assert_int_equal(y.count, 20);
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

static int32_t finish_with_nothing(const struct kernel_batch *batch)
{
    batch->produced[0] = 0;
    return KERNEL_OK;
}

/* No stage demands the fault of `early`; then three stages end one by one, each with a finish. */
static void stages_end_one_after_the_other_after_a_fault(void **unused)
{
    (void)unused;
    const struct prt_image_kernel ends = {.run = kernel_copy, .finish = finish_with_nothing};
    const struct prt_image_kernel kernels[] = {
        {.run = fault_at_10}, {.run = take_five}, ends, ends, ends};
    struct made *m = made_create("ends", "sim16");
    uint32_t from = in_port(m, "x"), t = inner(m, "t"), a = inner(m, "a"), b = inner(m, "b");
    add_node(m, "early", CONTAINER_NODE_FAULTS, from, t, 0);
    add_node(m, "five", CONTAINER_NODE_STOPS, t, out_port(m, "y"), 0);
    add_node(m, "first", CONTAINER_NODE_FINISH, from, a, 2);
    add_node(m, "second", CONTAINER_NODE_FINISH, a, b, 2);
    add_node(m, "third", CONTAINER_NODE_FINISH, b, out_port(m, "z"), 2);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, kernels);
    for (size_t count = 0; count < 100; count += 9) {
        struct prt_run *run = create(program);
        bind_in(run, "x", &x, count);
        bind_out(run, "y", &y);
        bind_out(run, "z", &z);
        assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
        assert_int_equal(y.count, count < 5 ? count : 5);
        assert_int_equal(z.count, count);
        prt_run_destroy(run);
    }
    prt_program_free(program);
}

TEST_MAIN("fault_order", cmocka_unit_test(a_fault_for_a_closed_port_does_not_hold_up_another),
          cmocka_unit_test(a_fault_of_a_finish_comes_after_the_firings),
          cmocka_unit_test(stages_end_one_after_the_other_after_a_fault))
