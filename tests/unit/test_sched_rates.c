/* SPDX-License-Identifier: MIT */
/* Runs of kernels with phases, bounded rates, no inputs, 2-D windows, under every policy. */
#include "tests/test.h"

#include "lang/devdesc.h"
#include "lang/window.h"
#include "core/ready.h"
#include "tests/conform/pipelines.h"

#include <stdio.h>

#define IN(n) ((const int32_t *)batch->in[n])
#define OUT(n) ((int32_t *)batch->out[n])

static struct host in, out;

static const struct prt_image_kernel copy = {.run = kernel_copy}, drop = {.run = kernel_drop},
                                     sum = {.run = kernel_add};

static void add_node(struct made *m, const char *name, uint32_t flags, uint32_t from, uint64_t pop,
                     uint64_t peek, uint32_t to, uint64_t push, uint64_t finish_max)
{
    uint32_t node = made_node(m, name, flags);
    made_input(m, node, from, pop, peek);
    made_output(m, node, to, push, finish_max);
}

static struct container_output *last_output(struct made *m)
{
    return &m->outputs[m->output_count - 1];
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

static struct prt_run *create(const struct prt_program *program, uint32_t threads)
{
    struct prt_run *run;
    struct prt_error error;
    struct prt_run_options options = {.host_threads = threads};
    if (prt_run_create(program, &options, &run, &error) != PRT_OK) fail_msg("%s", error.message);
    out.count = 0;
    pipelines_bind(program, run, NULL, &out);
    return run;
}

static void expect_ends(struct prt_run *run, enum prt_status expected)
{
    struct prt_error error = {0};
    enum prt_status status = prt_run_execute(run, &error);
    if (status != expected) fail_msg("%d: %s", (int)status, error.message);
}

/* ---- phases ---- */

/* pop {1, 2, 0}, peek {1, 3, 2}, push {2, 0, 1}: x0 twice; nothing; the sum of the next two. */
static int32_t kernel_phased(const struct kernel_batch *batch)
{
    const int32_t *x = IN(0);
    uint64_t n = 0;
    for (uint64_t i = 0; i < batch->count; i++) {
        uint64_t phase = (batch->first_firing + i) % 3;
        if (phase == 0) OUT(0)[n] = OUT(0)[n + 1] = x[0];
        if (phase == 2) OUT(0)[n] = x[0] + x[1];
        n += phase == 0 ? 2 : phase == 2;
        x += phase == 0 ? 1 : phase == 1 ? 2 : 0;
    }
    batch->produced[0] = n;
    *batch->completed = batch->count;
    return KERNEL_OK;
}

static struct prt_program *phased(uint64_t x_depth, uint64_t t_depth, uint32_t threshold)
{
    static const struct prt_image_kernel kernels[] = {{.run = kernel_phased}, {.run = kernel_copy}};
    const uint64_t rates[] = {1, 2, 0, 1, 3, 2, 2, 0, 1, 2, 0, 1};
    struct made *m = made_create("phased", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, x_depth, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, t_depth, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "phased", 0, x, 3, 3, t, 3, 0);
    m->nodes[0].phases = 3;
    m->nodes[0].repetitions = m->nodes[1].repetitions = 3;
    m->inputs[0].rates = 0;
    m->outputs[0].rates = 6;
    memcpy(m->rates, rates, sizeof rates);
    m->rate_count = 12;
    add_node(m, "copy", 0, t, 1, 1, y, 1, 0);
    m->nodes[1].repetitions = 3;
    m->stages[0].threshold = threshold;
    m->stages[0].batch_max = 3 * (x_depth < t_depth ? x_depth : t_depth) / 3;
    made_side_by_side(m);
    return pipelines_load(m, kernels);
}

/* The results of the phases for 0, 1, 2, ...; the packets that are never consumed in *left. */
static size_t phased_by_hand(size_t count, int32_t *packets, size_t *left)
{
    size_t n = 0, at = 0;
    for (uint64_t phase = 0;; phase = (phase + 1) % 3) {
        size_t peek = phase == 0 ? 1 : phase == 1 ? 3 : 2;
        *left = count - at;
        if (count - at < peek) return n;
        if (phase == 0) packets[n] = packets[n + 1] = (int32_t)at;
        if (phase == 2) packets[n] = (int32_t)(2 * at + 1);
        n += phase == 0 ? 2 : phase == 2;
        at += phase == 0 ? 1 : phase == 1 ? 2 : 0;
    }
}

static void phases_take_and_give_in_turn(void **unused)
{
    (void)unused;
    static int32_t expected[1024];
    const uint64_t depths[] = {3, 4, 7, 64};
    for (size_t d = 0; d < 16; d++) {
        struct prt_program *program =
            phased(depths[d / 4], depths[d % 4], d == 15 ? 16 : (uint32_t)(1 + d % 3));
        for (size_t length = 0; length < 200; length += 1 + length / 7) {
            size_t left, count = phased_by_hand(length, expected, &left);
            for (size_t piece = 0; piece < 6; piece += 5) {
                struct prt_run *run = create(program, piece == 0 ? 1 : 2);
                host_ramp(&in, length);
                in.piece = piece;
                pipelines_bind(program, run, &in, NULL);
                expect_ends(run, PRT_OK);
                assert_int_equal(out.count, count);
                assert_memory_equal(out.packets, expected, count * sizeof expected[0]);
                assert_true(buffer_of(run, "x").leftover_packets <= left);
                prt_run_destroy(run);
            }
        }
        prt_program_free(program);
    }
}

/* Reading packets costs time on a simulated device, also where the rate has phases. */
static void packets_that_phases_take_cost_time(void **unused)
{
    (void)unused;
    enum { WIDTH = 4096, COUNT = 400 };
    static uint8_t packets[COUNT * WIDTH];
    uint64_t cycles[2];
    for (uint32_t phases = 1; phases <= 2; phases++) {
        struct made *m = made_create("wide", "sim16");
        struct prt_run_statistics statistics;
        struct devdesc device;
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
        m->buffers[x].width_bytes = WIDTH;
        uint32_t node = made_node(m, "drop", 0);
        made_input(m, node, x, UINT64_C(3) * phases, 3);
        m->nodes[node].phases = phases;
        m->nodes[node].repetitions = phases;
        m->inputs[0].rates = phases > 1 ? 0 : CONTAINER_NONE;
        for (uint32_t i = 0; i < 2 * phases && phases > 1; i++) /* pop, then peek */
            m->rates[m->rate_count++] = 3;
        made_loop(m);
        struct prt_program *program = pipelines_load(m, &drop);
        struct prt_run *run;
        assert_int_equal(prt_run_create(program, NULL, &run, NULL), PRT_OK);
        assert_int_equal(prt_run_bind_input_memory(run, 0, packets, COUNT, NULL), PRT_OK);
        expect_ends(run, PRT_OK);
        prt_run_statistics(run, &statistics);
        cycles[phases - 1] = statistics.total_cycles;
        assert_true(devdesc_builtin("sim16", &device));
        assert_true(statistics.total_cycles >=
                    (uint64_t)(COUNT - 2) * WIDTH / device.memory_bytes_per_cycle);
        prt_run_destroy(run);
        prt_program_free(program);
    }
    assert_true(cycles[1] >= cycles[0]);
}

/* ---- sources ---- */

/* pop 1, push 0..2: as many as the packet says, modulo 3. */
static int32_t kernel_some(const struct kernel_batch *batch)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < batch->count; i++) {
        for (int32_t k = 0; k < IN(0)[i] % 3; k++)
            OUT(0)[n++] = IN(0)[i];
    }
    batch->produced[0] = n;
    *batch->completed = batch->count;
    return KERNEL_OK;
}

/* x -> some -> t -> copy -> y, t is read by drop, too. */
static struct made *bounded_made(uint64_t depth, uint64_t peek)
{
    struct made *m = made_create("bounded", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, depth, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "some", 0, x, 1, 1, t, 2, 0);
    last_output(m)->push_least = 0;
    add_node(m, "copy", 0, t, 1, 1, y, 1, 0);
    m->nodes[1].repetitions = peek; /* for one of drop */
    uint32_t node = made_node(m, "drop", 0);
    made_input(m, node, t, peek, peek);
    return m;
}

static const struct prt_image_kernel bounded_kernels[] = {
    {.run = kernel_some}, {.run = kernel_copy}, {.run = kernel_drop}};

static void bounded_outputs_are_compacted(void **unused)
{
    (void)unused;
    const uint64_t depths[] = {2, 3, 5, 64};
    struct prt_run_statistics first = {0}, other;
    for (size_t d = 0; d < 4; d++) {
        struct made *m = bounded_made(depths[d], 1);
        m->nodes[0].cost_cycles = 100000;
        made_side_by_side(m);
        struct prt_program *program = pipelines_load(m, bounded_kernels);
        for (uint32_t threads = 1; threads <= 3; threads++) {
            struct prt_run *run = create(program, threads);
            host_ramp(&in, 1000);
            pipelines_bind(program, run, &in, NULL);
            expect_ends(run, PRT_OK);
            assert_int_equal(out.count, 999);
            for (int32_t i = 0, at = 0; i < 1000; i++) {
                for (int32_t k = 0; k < i % 3; k++)
                    assert_int_equal(out.packets[at++], i);
            }
            assert_int_equal(buffer_of(run, "t").packets, 999);
            prt_run_statistics(run, &other);
            other.host_threads = 0;
            if (threads == 1) first = other;
            assert_memory_equal(&first, &other, sizeof first);
            prt_run_destroy(run);
        }
        prt_program_free(program);
    }
}

static void too_few_packets_of_a_bounded_rate_are_left_over(void **unused)
{
    (void)unused;
    struct made *m = bounded_made(8, 4);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, bounded_kernels);
    struct prt_run *run = create(program, 1);
    host_ramp(&in, 6); /* 0, 1, 2, 0, 1, 2: six packets */
    pipelines_bind(program, run, &in, NULL);
    expect_ends(run, PRT_OK);
    assert_int_equal(out.count, 6);
    assert_int_equal(buffer_of(run, "t").leftover_packets, 2);
    prt_run_destroy(run);
    prt_program_free(program);
}

static int32_t kernel_liar(const struct kernel_batch *batch)
{
    batch->produced[0] = 2 * batch->count + 1;
    *batch->completed = batch->count;
    return KERNEL_OK;
}

static int32_t kernel_lazy(const struct kernel_batch *batch)
{
    batch->produced[0] = 0;
    *batch->completed = batch->count - 1;
    return KERNEL_OK;
}

static void counts_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    const kernel_entry entries[] = {kernel_liar, kernel_lazy};
    for (size_t i = 0; i < 2; i++) {
        struct made *m = bounded_made(64, 1);
        made_loop(m);
        const struct prt_image_kernel kernels[] = {{.run = entries[i]}, copy, drop};
        struct prt_program *program = pipelines_load(m, kernels);
        struct prt_run *run = create(program, 1);
        host_ramp(&in, 100);
        pipelines_bind(program, run, &in, NULL);
        expect_ends(run, PRT_E_FAULT);
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

/* In step for as long as x is below 50. */
static int32_t kernel_in_step(const struct kernel_batch *batch)
{
    const int32_t *x = batch->in[0];
    batch->produced[0] = batch->produced[1] = 0;
    for (uint64_t i = 0; i < batch->count; i++) {
        batch->produced[0] += x[i] % 2 != 0;
        batch->produced[1] += x[i] % 2 != 0 && x[i] < 50;
    }
    *batch->completed = batch->count;
    return KERNEL_OK;
}

static int32_t kernel_join(const struct kernel_batch *batch)
{
    batch->produced[0] = batch->count;
    *batch->completed = batch->count;
    return KERNEL_OK;
}

static void who_leaves_the_step_is_refused(void **unused)
{
    (void)unused;
    for (uint64_t length = 50; length <= 52; length += 2) {
        struct made *m = made_create("step", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
        uint32_t t = made_buffer(m, "t", SCALAR_I32, 4, CONTAINER_INNER);
        uint32_t u = made_buffer(m, "u", SCALAR_I32, 4, CONTAINER_INNER);
        uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
        add_node(m, "some", 0, x, 1, 1, t, 1, 0);
        made_output(m, 0, u, 1, 0);
        for (uint32_t i = 0; i < 2; i++) {
            m->outputs[i].push_least = 0;
            m->outputs[i].bundle = 1;
            m->outputs[i].share = 1;
        }
        uint32_t node = made_node(m, "join", 0);
        made_input(m, node, t, 1, 1);
        made_input(m, node, u, 1, 1);
        made_output(m, node, y, 1, 0);
        made_loop(m);
        const struct prt_image_kernel kernels[] = {{.run = kernel_in_step}, {.run = kernel_join}};
        struct prt_program *program = pipelines_load(m, kernels);
        struct prt_run *run = create(program, 1);
        host_ramp(&in, length);
        pipelines_bind(program, run, &in, NULL);
        expect_ends(run, length == 50 ? PRT_OK : PRT_E_FAULT);
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

/* The author accepts that it may stall: then it does so, and says where. */
static void an_unproven_graph_may_stall(void **unused)
{
    (void)unused;
    struct made *m = made_create("unproven", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 4, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 4, CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 4, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "some", 0, x, 1, 1, t, 2, 0);
    last_output(m)->push_least = 0;
    add_node(m, "copy", 0, x, 1, 1, u, 1, 0);
    uint32_t node = made_node(m, "join", 0);
    made_input(m, node, t, 1, 1);
    made_input(m, node, u, 1, 1);
    made_output(m, node, y, 1, 0);
    m->pipeline.flags = CONTAINER_PIPELINE_UNPROVEN;
    made_loop(m);
    struct prt_program *program =
        pipelines_load(m, (struct prt_image_kernel[]){{.run = kernel_some}, copy, sum});
    struct prt_run *run = create(program, 1);
    struct prt_error error;
    in = (struct host){.count = 1000}; /* zeros: `some` writes nothing */
    pipelines_bind(program, run, &in, NULL);
    assert_int_equal(prt_run_execute(run, &error), PRT_E_STALL);
    assert_non_null(strstr(error.message, "'copy' waits for room in 'u' (holds 4 of 4, needs 1)"));
    prt_run_destroy(run);
    prt_program_free(program);
}

static int32_t kernel_count_finish(const struct kernel_batch *batch)
{
    OUT(0)[0] = *(int32_t *)batch->state;
    batch->produced[0] = 1;
    return KERNEL_OK;
}

static int32_t kernel_count(const struct kernel_batch *batch)
{
    *(int32_t *)batch->state += (int32_t)batch->count;
    batch->produced[0] = 0;
    *batch->completed = batch->count;
    return KERNEL_OK;
}

/* t is written only by a finish, and read. */
static void what_a_finish_alone_writes_is_read(void **unused)
{
    (void)unused;
    struct made *m = made_create("finish", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 3, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "count", CONTAINER_NODE_STATEFUL | CONTAINER_NODE_FINISH, x, 1, 1, t, 0, 3);
    add_node(m, "copy", 0, t, 1, 1, y, 1, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(
        m, (struct prt_image_kernel[]){{.run = kernel_count, .finish = kernel_count_finish}, copy});
    struct prt_run *run = create(program, 1);
    host_ramp(&in, 1234);
    pipelines_bind(program, run, &in, NULL);
    expect_ends(run, PRT_OK);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.packets[0], 1234);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* ---- sources ---- */

static uint64_t stop_at;

/* push 2: the number of the firing and 1000 more; stops before firing `stop_at`. */
static int32_t kernel_source(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++) {
        uint64_t firing = batch->first_firing + i;
        batch->produced[0] = 2 * i;
        *batch->completed = i;
        if (firing == stop_at) return KERNEL_STOPPED;
        OUT(0)[2 * i] = (int32_t)firing;
        OUT(0)[2 * i + 1] = (int32_t)firing + 1000;
    }
    batch->produced[0] = 2 * batch->count;
    *batch->completed = batch->count;
    return KERNEL_OK;
}

/* A last packet. */
static int32_t kernel_source_finish(const struct kernel_batch *batch)
{
    OUT(0)[0] = -1;
    batch->produced[0] = 1;
    return KERNEL_OK;
}

static const struct prt_image_kernel source = {.run = kernel_source,
                                               .finish = kernel_source_finish};

enum { SOURCE_FLAGS = CONTAINER_NODE_STOPS | CONTAINER_NODE_FINISH };

static void add_source(struct made *m, uint32_t to)
{
    uint32_t node = made_node(m, "source", SOURCE_FLAGS);
    made_output(m, node, to, 2, 1);
}

static struct prt_program *source_alone(uint32_t threshold)
{
    struct made *m = made_create("source", "sim16");
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 20, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_source(m, t);
    add_node(m, "copy", 0, t, 1, 1, y, 1, 0);
    m->nodes[0].cost_cycles = 1000;
    m->nodes[1].repetitions = 2;
    m->stages[0].threshold = threshold;
    made_side_by_side(m);
    return pipelines_load(m, (struct prt_image_kernel[]){source, copy});
}

static void expect_source(size_t firings)
{
    assert_int_equal(out.count, 2 * firings + 1);
    for (size_t i = 0; i < firings; i++) {
        assert_int_equal(out.packets[2 * i], i);
        assert_int_equal(out.packets[2 * i + 1], i + 1000);
    }
    assert_int_equal(out.packets[2 * firings], -1);
}

static void a_source_fires_until_it_stops(void **unused)
{
    (void)unused;
    for (uint32_t threshold = 1; threshold < 10; threshold += 4) {
        struct prt_program *program = source_alone(threshold);
        for (stop_at = 0; stop_at < 60; stop_at++) {
            uint64_t cycles = 0;
            for (uint32_t threads = 1; threads <= 2; threads++) {
                struct prt_run *run = create(program, threads);
                struct prt_run_statistics statistics;
                struct prt_stage_statistics stage;
                expect_ends(run, PRT_OK);
                expect_source(stop_at);
                assert_true(prt_run_stage(run, 0, &stage));
                assert_int_equal(stage.firings, stop_at);
                prt_run_statistics(run, &statistics);
                if (threads == 1) cycles = statistics.total_cycles;
                assert_int_equal(cycles, statistics.total_cycles);
                prt_run_destroy(run);
            }
        }
        prt_program_free(program);
    }
}

static void a_limit_ends_a_source(void **unused)
{
    (void)unused;
    struct prt_program *program = source_alone(8);
    stop_at = 40;
    for (uint64_t limit = 0; limit < 50; limit++) {
        struct prt_run *run = create(program, 1);
        prt_run_limit_firings(run, limit);
        expect_ends(run, PRT_OK);
        expect_source(limit < stop_at ? limit : stop_at);
        prt_run_destroy(run);
    }
    prt_program_free(program);
}

static struct prt_run *interrupted;

static enum prt_status take_and_interrupt(void *context, const void *packets, size_t count,
                                          struct prt_error *error)
{
    enum prt_status status = host_write(context, packets, count, error);
    if (out.count > 1000) prt_run_interrupt(interrupted);
    return status;
}

/* A stage that a source feeds is drained, and its finish runs. */
static void an_interrupt_ends_sources(void **unused)
{
    (void)unused;
    struct prt_program *program = source_alone(1);
    struct prt_error error;
    stop_at = UINT64_MAX;
    interrupted = create(program, 1);
    assert_int_equal(prt_run_bind_output(interrupted, 0, take_and_interrupt, &out, &error), PRT_OK);
    expect_ends(interrupted, PRT_E_INTERRUPTED);
    assert_in_range(out.count, 1001, 1101);
    expect_source((out.count - 1) / 2);
    prt_run_destroy(interrupted);
    prt_program_free(program);
}

/* x and an endless source through copy -> add -> y: it ends with x, and so do copy and source. */
static void what_sources_feed_ends_with_its_readers(void **unused)
{
    (void)unused;
    struct made *m = made_create("backwards", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t s = made_buffer(m, "s", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_source(m, s);
    add_node(m, "copy", 0, s, 1, 1, t, 1, 0);
    uint32_t node = made_node(m, "add", 0);
    made_input(m, node, x, 1, 1);
    made_input(m, node, t, 1, 1);
    made_output(m, node, y, 1, 0);
    m->nodes[1].repetitions = m->nodes[2].repetitions = 2;
    made_side_by_side(m);
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){source, copy, sum});
    struct prt_run *run = create(program, 1);
    stop_at = UINT64_MAX;
    host_ramp(&in, 100);
    pipelines_bind(program, run, &in, NULL);
    expect_ends(run, PRT_OK);
    assert_int_equal(out.count, 100);
    assert_int_equal(out.packets[99], 99 + 49 + 1000);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* A node that stops although its record does not say so is not believed. */
static void only_sources_that_say_so_stop(void **unused)
{
    (void)unused;
    struct made *m = made_create("unsaid", "sim16");
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "source", 0);
    made_output(m, node, y, 2, 0);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &source);
    struct prt_run *run = create(program, 1);
    stop_at = 5;
    expect_ends(run, PRT_E_FAULT);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* ---- windows ---- */

static struct window window;
static struct window_shape shape;

/* The sum of (column + 3 row + 1) x packet over the window, 10^6 for each packet that is not. */
static int32_t window_sum(const int32_t *frame, uint64_t place, uint64_t rows)
{
    int64_t width = window.width / 2, height = window.height / 2, sum_of = 0;
    if (rows == UINT64_MAX) rows = INT32_MAX; /* none of the packets is that far */
    for (int64_t r = -height; r <= height; r++) {
        for (int64_t k = -width; k <= width; k++) {
            int64_t row = (int64_t)(place / shape.row_packets) + r;
            int64_t column = (int64_t)(place % shape.row_packets) + k;
            if (window.border == CONTAINER_BORDER_WRAP && window.height == 1)
                rows = (uint64_t)row + 1;
            row = window_border(row, rows, window.border);
            column = window_border(column, shape.row_packets, window.border);
            bool is_none = row < 0 || column < 0;
            sum_of += is_none ? 1000000
                              : (k + 3 * r + 1) * frame[row * (int64_t)shape.row_packets + column];
        }
    }
    return (int32_t)sum_of;
}

static int32_t kernel_window(const struct kernel_batch *batch)
{
    const struct kernel_window *w = &batch->windows[0];
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[i] = window_sum(IN(0) - w->first, w->place + i, w->rows);
    batch->produced[0] = batch->count;
    *batch->completed = batch->count;
    return KERNEL_OK;
}

static uint64_t window_depth(void)
{
    uint64_t frame = window_frame(shape), reach = 2 * window_reach(window, shape) + 1;
    if (window.border == CONTAINER_BORDER_WRAP) return window_round(window, shape);
    return reach < frame ? reach : frame;
}

static struct prt_program *windowed(uint64_t more_depth, uint32_t threshold)
{
    struct made *m = made_create("window", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 5, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, window_depth() + more_depth, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 256, CONTAINER_OUTER_OUT);
    add_node(m, "copy", 0, x, 1, 1, t, 1, 0);
    add_node(m, "window", 0, t, 1, 1, y, 1, 0);
    m->inputs[1].window_width = window.width;
    m->inputs[1].window_height = window.height;
    m->inputs[1].border = window.border;
    m->buffers[t].row_packets = shape.row_packets;
    m->buffers[t].frame_rows = shape.frame_rows;
    m->stages[1].threshold = threshold;
    m->stages[1].batch_max = m->buffers[t].depth_packets;
    m->nodes[1].cost_cycles = 100000;
    if (m->stages[1].batch_max < threshold) m->stages[1].threshold = 1;
    made_side_by_side(m);
    return pipelines_load(m, (struct prt_image_kernel[]){copy, {.run = kernel_window}});
}

/* By definition: each place of each frame, of the last one what its whole rows are. */
static size_t windowed_by_hand(const int32_t *packets, size_t count, int32_t *results)
{
    uint64_t frame = window_frame(shape), reach = window_reach(window, shape);
    bool wraps = window.border == CONTAINER_BORDER_WRAP;
    size_t n = 0;
    for (uint64_t begin = 0; begin < count; begin += frame) {
        uint64_t held = count - begin < frame ? count - begin : frame;
        uint64_t whole = held / shape.row_packets;
        for (uint64_t place = 0; place < held; place++) {
            bool near = held == frame || (!wraps && place + reach < held);
            uint64_t rows = held == frame ? shape.frame_rows : near ? UINT64_MAX : whole;
            if (!near && place >= whole * shape.row_packets) break;
            results[n++] = window_sum(packets + begin, place, rows);
        }
        if (frame == UINT64_MAX) break;
    }
    return n;
}

static void try_window(void)
{
    static int32_t expected[4096];
    const size_t lengths[] = {0, 1, 4, 7, 11, 12, 13, 24, 29, 30, 47};
    for (uint32_t deep = 0; deep < 3; deep++) {
        struct prt_program *program = windowed((uint64_t)deep * deep * 7, 1 + 3 * deep);
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
            struct prt_run *run = create(program, 1 + deep % 2);
            host_ramp(&in, lengths[l]);
            for (size_t i = 0; i < in.count; i++)
                in.packets[i] = (int32_t)(i * i % 101);
            in.piece = l % 3;
            size_t count = windowed_by_hand(in.packets, in.count, expected);
            pipelines_bind(program, run, &in, NULL);
            expect_ends(run, PRT_OK);
            assert_int_equal(out.count, count);
            assert_memory_equal(out.packets, expected, count * sizeof expected[0]);
            assert_int_equal(buffer_of(run, "t").leftover_packets, lengths[l] - count);
            prt_run_destroy(run);
        }
        prt_program_free(program);
    }
}

static void windows_see_their_frame_alone(void **unused)
{
    (void)unused;
    const struct window sizes[] = {{1, 1, 0}, {3, 1, 0}, {1, 3, 0},
                                   {3, 3, 0}, {5, 3, 0}, {7, 9, 0}};
    const struct window_shape shapes[] = {{4, 3}, {4, 0}, {1, 5}, {6, 1}, {6, 2}, {3, 0}};
    for (size_t s = 0; s < 6; s++) {
        for (size_t f = 0; f < 6; f++) {
            for (uint32_t border = 0; border < 4; border++) {
                window = sizes[s];
                window.border = border;
                shape = shapes[f];
                bool endless = shape.frame_rows == 0 && window.height > 1;
                if (border == CONTAINER_BORDER_WRAP && endless) continue;
                try_window();
            }
        }
    }
}

/* Whatever the border and the place: with so many packets a firing is possible, with one fewer it is not. */
static void a_window_needs_the_fewest_packets_that_admit_a_firing(void **unused)
{
    (void)unused;
    static const struct core core; /* a 2-D window needs none of its tables */
    const struct window sizes[] = {{1, 1, 0}, {3, 1, 0}, {1, 3, 0},
                                   {3, 3, 0}, {5, 3, 0}, {7, 9, 0}};
    const struct window_shape shapes[] = {{4, 3}, {4, 0}, {1, 5}, {6, 1}, {6, 2}, {3, 0}};
    for (size_t s = 0; s < 6; s++) {
        for (size_t f = 0; f < 6; f++) {
            for (uint32_t border = 0; border < 4; border++) {
                struct core_stage stage = {.batch_max = 1000};
                struct core_input input = {.window = sizes[s], .shape = shapes[f]};
                input.window.border = border;
                bool endless = shapes[f].frame_rows == 0 && sizes[s].height > 1;
                if (border == CONTAINER_BORDER_WRAP && endless) continue;
                for (stage.firings = 0; stage.firings < 40; stage.firings++) {
                    uint64_t needs = core_ready_needs(&core, &stage, &input);
                    assert_true(needs > 0);
                    assert_true(core_ready_fits(&core, &stage, &input, needs, false) > 0);
                    assert_int_equal(core_ready_fits(&core, &stage, &input, needs - 1, false), 0);
                }
            }
        }
    }
}

/* ---- policies ---- */

/* A tree of bounded, exact and source-fed parts, under each selection. */
static struct prt_program *policy_program(const char *selection, const struct prt_image_kernel *k)
{
    char text[400];
    struct made *m = bounded_made(16, 3);
    uint32_t s = made_buffer(m, "s", SCALAR_I32, 9, CONTAINER_INNER);
    add_source(m, s);
    uint32_t node = made_node(m, "sink", 0);
    made_input(m, node, s, 1, 1);
    m->nodes[node].repetitions = 2;
    for (uint32_t i = 0; i < m->node_count; i++)
        m->nodes[i].importance = i * 7 % 5;
    snprintf(text, sizeof text,
             " bind_root 0\n bind_root 1\n bind_root 2\n bind_root 3\n bind_root 4\n"
             "L1: ends\n %s 0, L2\n dispatch\n jump L1\nL2: wait L1\n halt\n",
             selection);
    made_program(m, text);
    return pipelines_load(m, k);
}

static void results_do_not_depend_on_the_policy(void **unused)
{
    (void)unused;
    const char *selections[] = {"round_robin", "priority", "fullest"};
    const struct prt_image_kernel kernels[] = {{.run = kernel_some}, copy, drop, source, drop};
    static int32_t first[2000];
    uint64_t packets[3];
    stop_at = 333;
    for (size_t i = 0; i < 3; i++) {
        struct prt_program *program = policy_program(selections[i], kernels);
        struct prt_run *run = create(program, 1);
        host_ramp(&in, 1000);
        pipelines_bind(program, run, &in, NULL);
        expect_ends(run, PRT_OK);
        assert_int_equal(out.count, 999);
        if (i == 0) memcpy(first, out.packets, out.count * sizeof first[0]);
        assert_memory_equal(first, out.packets, out.count * sizeof first[0]);
        packets[i] = buffer_of(run, "s").packets;
        assert_int_equal(packets[i], 2 * 333 + 1);
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

/* Each set has an order of its own: the first set here is of all stages, the second of the last two. */
static void sets_are_ordered_one_by_one(void **unused)
{
    (void)unused;
    struct made *m = made_create("sets", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t s = made_buffer(m, "s", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "first", 0, x, 1, 1, s, 1, 0);
    add_node(m, "second", 0, s, 1, 1, t, 1, 0);
    add_node(m, "third", 0, t, 1, 1, y, 1, 0);
    made_program(m, ".set 1: 1 2\nbind_root 0\nbind_root 1\nbind_root 2\nL1: ends\n"
                    "priority 1, L2\ndispatch\njump L1\nL2: priority 0, L3\ndispatch\njump L1\n"
                    "L3: wait L1\nhalt\n");
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){copy, copy, copy});
    struct prt_run *run = create(program, 1);
    host_ramp(&in, 100);
    pipelines_bind(program, run, &in, NULL);
    expect_ends(run, PRT_OK);
    assert_int_equal(out.count, 100);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* The important one is always first, the fullest likewise: seen by how often they are asked. */
static uint64_t dispatches_of(const char *selection, uint32_t stage)
{
    struct made *m = made_create("order", "sim16");
    char text[300];
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "first", 0, x, 1, 1, t, 1, 0);
    add_node(m, "second", 0, t, 1, 1, y, 1, 0);
    m->nodes[1].importance = 9;
    m->stages[0].batch_max = 8;
    m->stages[1].batch_max = 64;
    snprintf(text, sizeof text,
             " bind_root 0\n bind_root 1\nL1: ends\n %s 0, L2\n dispatch\n wait L1\n jump L1\n"
             "L2: ends\n wait L1\n halt\n",
             selection);
    made_program(m, text);
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){copy, copy});
    struct prt_run *run = create(program, 1);
    struct prt_stage_statistics statistics;
    host_ramp(&in, 640);
    pipelines_bind(program, run, &in, NULL);
    expect_ends(run, PRT_OK);
    assert_int_equal(out.count, 640);
    assert_true(prt_run_stage(run, stage, &statistics));
    prt_run_destroy(run);
    prt_program_free(program);
    return statistics.dispatches;
}

static void policies_choose_as_they_say(void **unused)
{
    (void)unused;
    assert_int_equal(dispatches_of("priority", 1), 80); /* whatever there is, at once */
    assert_true(dispatches_of("fullest", 1) <= 12);     /* not before t holds as much as x */
}

static struct prt_run *turning;
static size_t turned;

static enum prt_status take_until_turned(void *context, const void *packets, size_t count,
                                         struct prt_error *error)
{
    size_t *taken = context;
    (void)packets;
    (void)error;
    if (turned > 4000) return PRT_OK; /* interrupted: the rest of x comes out */
    *taken += count;
    turned += count;
    if (turned > 4000) prt_run_interrupt(turning);
    return PRT_OK;
}

/* A ring that always holds more than x: `fullest` would never take the second stage. */
static void fullest_gives_the_others_a_turn(void **unused)
{
    (void)unused;
    const int32_t ones[32] = {1};
    struct made *m = made_create("turn", "sim16");
    size_t copies = 0, spins = 0;
    uint32_t ring = made_buffer(m, "ring", SCALAR_I32, 256, CONTAINER_INNER);
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t z = made_buffer(m, "z", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    made_initial(m, ring, 32, ones, sizeof ones);
    uint32_t spin = made_node(m, "spin", 0);
    made_input(m, spin, ring, 1, 1);
    made_output(m, spin, ring, 1, 0);
    made_output(m, spin, z, 1, 0);
    add_node(m, "copy", 0, x, 1, 1, y, 1, 0);
    m->stages[0].batch_max = m->stages[1].batch_max = 1;
    made_program(m, " bind_root 0\n bind_root 1\nL1: ends\n fullest 0, L2\n dispatch\n wait L1\n"
                    " jump L1\nL2: ends\n wait L1\n halt\n");
    struct prt_program *program = pipelines_load(m, (struct prt_image_kernel[]){copy, copy});
    turning = create(program, 1);
    turned = 0;
    host_ramp(&in, 640);
    assert_int_equal(
        prt_run_bind_input(turning, prt_program_find_port(program, "x"), host_read, &in, NULL),
        PRT_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(prt_run_bind_output(turning,
                                             prt_program_find_port(program, i == 0 ? "y" : "z"),
                                             take_until_turned, i == 0 ? &copies : &spins, NULL),
                         PRT_OK);
    expect_ends(turning, PRT_E_INTERRUPTED);
    assert_in_range(copies, 1, spins / 200);
    prt_run_destroy(turning);
    prt_program_free(program);
}

/* ---- the device that executes nothing ---- */

static void nothing_executed_counts_as_all_that_was_claimed(void **unused)
{
    (void)unused;
    struct made *m = bounded_made(64, 1);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, bounded_kernels);
    struct prt_run *run;
    struct prt_error error;
    struct prt_run_options options = {.device = "null", .host_threads = 1};
    assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_OK);
    out.count = 0;
    host_ramp(&in, 100);
    pipelines_bind(program, run, &in, &out);
    expect_ends(run, PRT_OK);
    assert_int_equal(out.count, 200);
    prt_run_destroy(run);
    prt_program_free(program);
}

TEST_MAIN("sched_rates", cmocka_unit_test(phases_take_and_give_in_turn),
          cmocka_unit_test(bounded_outputs_are_compacted),
          cmocka_unit_test(too_few_packets_of_a_bounded_rate_are_left_over),
          cmocka_unit_test(counts_that_cannot_be_are_refused),
          cmocka_unit_test(who_leaves_the_step_is_refused),
          cmocka_unit_test(an_unproven_graph_may_stall),
          cmocka_unit_test(what_a_finish_alone_writes_is_read),
          cmocka_unit_test(a_source_fires_until_it_stops), cmocka_unit_test(a_limit_ends_a_source),
          cmocka_unit_test(an_interrupt_ends_sources),
          cmocka_unit_test(what_sources_feed_ends_with_its_readers),
          cmocka_unit_test(only_sources_that_say_so_stop),
          cmocka_unit_test(windows_see_their_frame_alone),
          cmocka_unit_test(a_window_needs_the_fewest_packets_that_admit_a_firing),
          cmocka_unit_test(results_do_not_depend_on_the_policy),
          cmocka_unit_test(packets_that_phases_take_cost_time),
          cmocka_unit_test(sets_are_ordered_one_by_one),
          cmocka_unit_test(policies_choose_as_they_say),
          cmocka_unit_test(fullest_gives_the_others_a_turn),
          cmocka_unit_test(nothing_executed_counts_as_all_that_was_claimed))
