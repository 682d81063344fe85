/* SPDX-License-Identifier: MIT */
/* Command queues: results, cycles (the formulas of lang/time.md, by hand), order, faults, life, refusals; and the cases of
 * queues and partitions of the OpenCL conformance suite. */
#include "tests/test.h"

#include "runtime/host/pipert_queue.h"
#include "tests/conform/pipelines.h"

#include "lang/devdesc.h"

#include <stdio.h>

enum { CUS = 16, PACKETS = 2000, LAUNCH = 800, SWITCH = 100, WARP = 10 };

enum { COPY, TWICE, SUM2, ADD, DIFF, TOTAL, DIVIDE, KERNELS };

static const struct {
    const char *name;
    kernel_entry run;
    uint32_t inputs;
    uint64_t pop, peek, push;
} kernels[KERNELS] = {
    [COPY] = {"copy", kernel_copy, 1, 1, 1, 1},       [TWICE] = {"twice", kernel_twice, 1, 1, 1, 2},
    [SUM2] = {"sum2", kernel_sum2, 1, 2, 2, 1},       [ADD] = {"add", kernel_add, 2, 1, 1, 1},
    [DIFF] = {"diff", kernel_diff, 1, 1, 2, 1},       [TOTAL] = {"total", kernel_total, 1, 1, 1, 1},
    [DIVIDE] = {"divide", kernel_divide, 1, 1, 1, 1},
};

/* Every kernel from in-ports to an out-port.  On sim16 a firing is a warp of 10 cycles. */
static struct prt_program *all_kernels(const char *device)
{
    struct prt_image_kernel entries[KERNELS];
    struct made *m = made_create("all", device);
    for (int k = 0; k < KERNELS; k++) {
        char name[32];
        uint32_t in[2], out;
        for (uint32_t i = 0; i < kernels[k].inputs; i++) {
            snprintf(name, sizeof name, "x%d_%u", k, i);
            in[i] = made_buffer(m, name, SCALAR_I32, 64, CONTAINER_OUTER_IN);
        }
        snprintf(name, sizeof name, "y%d", k);
        out = made_buffer(m, name, SCALAR_I32, 64, CONTAINER_OUTER_OUT);
        uint32_t node = made_node(m, kernels[k].name,
                                  k == TOTAL    ? CONTAINER_NODE_STATEFUL
                                  : k == DIVIDE ? CONTAINER_NODE_FAULTS
                                                : 0);
        if (k == TOTAL) m->nodes[node].state_bytes = 4;
        for (uint32_t i = 0; i < kernels[k].inputs; i++)
            made_input(m, node, in[i], kernels[k].pop, kernels[k].peek);
        made_output(m, node, out, kernels[k].push, 0);
        entries[k] = (struct prt_image_kernel){.run = kernels[k].run};
    }
    made_loop(m);
    return pipelines_load(m, entries);
}

struct machine {
    struct prt_program *program;
    struct prt_device_tree *tree;
    struct prt_device_handle root;
};

static struct machine open_machine(const char *compiled_for, const char *device)
{
    struct machine m = {.program = all_kernels(compiled_for)};
    struct prt_error error;
    assert_int_equal(prt_device_open(device, NULL, NULL, &m.tree, NULL, &error), PRT_OK);
    m.root = prt_device_tree_root(m.tree);
    return m;
}

static void close_machine(struct machine *m)
{
    prt_device_tree_destroy(m->tree);
    prt_program_free(m->program);
}

static struct prt_command_queue *make_queue(const struct machine *m, struct prt_device_handle part,
                                            struct prt_command_queue *beside)
{
    const struct prt_command_queue_options options = {.beside = beside, .host_threads = 2};
    struct prt_command_queue *queue = NULL;
    struct prt_error error;
    if (prt_command_queue_create(m->program, m->tree, part, &options, &queue, &error) != PRT_OK)
        fail_msg("%s", error.message);
    return queue;
}

/* A command of a kernel with one input, whose windows have the sizes that it needs. */
struct work {
    struct prt_command_input in[2];
    struct prt_command_output out;
    struct prt_command command;
    struct prt_command_event event;
    size_t count;
};

static void describe(struct work *work, int kernel, const int32_t *x, void *y, size_t firings)
{
    size_t seen = firings * kernels[kernel].pop + kernels[kernel].peek - kernels[kernel].pop;
    *work = (struct work){.in = {{x, seen}, {x, seen}},
                          .out = {y, firings * kernels[kernel].push, &work->count}};
    work->command = (struct prt_command){.kernel = kernels[kernel].name,
                                         .firings = firings,
                                         .inputs = work->in,
                                         .outputs = &work->out,
                                         .input_count = kernels[kernel].inputs,
                                         .output_count = 1};
}

static enum prt_status enqueue(struct prt_command_queue *queue, struct work *work)
{
    struct prt_error error = {.message = ""};
    return prt_command_queue_enqueue(queue, &work->command, &work->event, &error);
}

static void start(struct prt_command_queue *queue, struct work *work, int kernel, const int32_t *x,
                  int32_t *y, size_t firings)
{
    describe(work, kernel, x, y, firings);
    assert_int_equal(enqueue(queue, work), PRT_OK);
    assert_false(work->event.complete);
}

static void finish(struct prt_command_queue *queue)
{
    struct prt_error error;
    enum prt_status status = prt_command_queue_wait(queue, &error);
    if (status != PRT_OK) fail_msg("%s", error.message);
}

static void check_event(const struct work *work, uint64_t begin, uint64_t switches, uint64_t cus)
{
    const struct prt_command_event *event = &work->event;
    uint64_t execute = (work->command.firings + cus - 1) / cus * WARP;
    assert_true(event->complete);
    assert_int_equal(event->status, PRT_OK);
    assert_int_equal(event->firings, work->command.firings);
    assert_int_equal(event->begin_cycles, begin);
    assert_int_equal(event->launch_cycles, LAUNCH);
    assert_int_equal(event->switch_cycles, switches);
    assert_int_equal(event->execute_cycles, execute);
    assert_int_equal(event->end_cycles, begin + LAUNCH + switches + execute);
}

static void ramp(int32_t *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (int32_t)i * 3 - 7;
}

/* ---- results ---- */

static int32_t expected(int kernel, const int32_t *x, size_t i, int32_t before)
{
    switch (kernel) {
    case TWICE: return x[i / 2];
    case SUM2: return x[2 * i] + x[2 * i + 1];
    case ADD: return x[i] + x[i];
    case DIFF: return x[i + 1] - x[i];
    case TOTAL: return before + x[i];
    case DIVIDE: return 100 / x[i];
    default: return x[i];
    }
}

static void check_results(const char *device)
{
    struct machine m = open_machine("sim16", device);
    struct prt_command_queue *queue = make_queue(&m, m.root, NULL);
    int32_t x[2 * PACKETS + 2];
    ramp(x, 2 * PACKETS + 2); /* no element is 0 */
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        int32_t y[2 * PACKETS + 1], before = 0;
        struct work work;
        y[PACKETS * kernels[kernel].push] = 12345;
        start(queue, &work, kernel, x, y, PACKETS);
        finish(queue);
        assert_int_equal(work.event.status, PRT_OK);
        assert_int_equal(work.count, PACKETS * kernels[kernel].push);
        for (size_t i = 0; i < work.count; i++) {
            before = expected(kernel, x, i, before);
            if (y[i] != before) fail_msg("%s: y[%zu] = %d", kernels[kernel].name, i, y[i]);
        }
        assert_int_equal(y[work.count], 12345);
    }
    prt_command_queue_destroy(queue);
    close_machine(&m);
}

static void every_kernel_computes_on_simulated_devices(void **unused)
{
    (void)unused;
    check_results("sim16");
}

static void every_kernel_computes_on_the_hosts_cores(void **unused)
{
    (void)unused;
    check_results("cpu");
    check_results("cpu:3");
}

/* ---- time ---- */

static void commands_of_a_queue_follow_each_other(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim16", "sim16");
    struct prt_command_queue *queue = make_queue(&m, m.root, NULL);
    int32_t x[400], y[400], z[400];
    struct work first, second, third;
    ramp(x, 400);
    start(queue, &first, COPY, x, y, 400);
    start(queue, &second, COPY, y, z, 100);
    start(queue, &third, SUM2, z, y, 50);
    assert_int_equal(prt_command_queue_now_cycles(queue), 0);
    finish(queue);
    check_event(&first, 0, 0, CUS);
    check_event(&second, first.event.end_cycles, 0, CUS);
    check_event(&third, second.event.end_cycles, SWITCH, CUS);
    assert_int_equal(prt_command_queue_now_cycles(queue), third.event.end_cycles);
    assert_int_equal(y[49], x[98] + x[99]);
    start(queue, &first, SUM2, x, y, 8);
    assert_int_equal(first.event.enqueued_cycles, third.event.end_cycles);
    finish(queue);
    check_event(&first, third.event.end_cycles, 0, CUS);
    prt_command_queue_destroy(queue);
    close_machine(&m);
}

/* Two kernels whose commands have equal firings and bytes: what is remembered of one is not taken for the other. */
static void commands_of_unequal_kernels_in_one_place_have_their_own_cycles(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim16", "sim16");
    const struct prt_command_queue_options one = {.commands_most = 1};
    struct prt_command_queue *queue;
    struct prt_error error;
    int32_t x[160], y[160];
    struct work parallel, serial;
    ramp(x, 160);
    assert_int_equal(prt_command_queue_create(m.program, m.tree, m.root, &one, &queue, &error),
                     PRT_OK);
    start(queue, &parallel, COPY, x, y, 160);
    finish(queue);
    start(queue, &serial, TOTAL, x, y, 160);
    finish(queue);
    check_event(&parallel, 0, 0, CUS);
    check_event(&serial, parallel.event.end_cycles, SWITCH, 1);
    prt_command_queue_destroy(queue);
    close_machine(&m);
}

static void make_halves(const struct machine *m, struct prt_device_handle halves[2])
{
    const int64_t equally[] = {PRT_PARTITION_EQUALLY, CUS / 2, 0};
    assert_int_equal(prt_create_sub_devices(m->tree, m->root, equally, 2, halves, NULL), PRT_OK);
}

static void queues_on_disjoint_sub_devices_overlap_and_others_take_turns(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim16", "sim16");
    struct prt_device_handle halves[2];
    make_halves(&m, halves);
    struct prt_command_queue *left = make_queue(&m, halves[0], NULL),
                             *right = make_queue(&m, halves[1], left),
                             *again = make_queue(&m, halves[1], left),
                             *whole = make_queue(&m, m.root, right);
    int32_t x[800], y[5][800];
    struct work work[5];
    ramp(x, 800);
    start(left, &work[0], COPY, x, y[0], 800);
    start(right, &work[1], COPY, x, y[1], 320);
    start(again, &work[2], SUM2, x, y[2], 80);
    start(whole, &work[3], COPY, x, y[3], 160);
    start(right, &work[4], COPY, x, y[4], 8);
    finish(left);
    finish(right);
    check_event(&work[0], 0, 0, CUS / 2);
    check_event(&work[1], 0, 0, CUS / 2);
    check_event(&work[2], work[1].event.end_cycles, SWITCH, CUS / 2);
    assert_true(work[0].event.end_cycles < work[2].event.end_cycles);
    check_event(&work[3], work[2].event.end_cycles, SWITCH, CUS);
    check_event(&work[4], work[3].event.end_cycles, 0, CUS / 2);
    prt_command_queue_destroy(whole);
    prt_command_queue_destroy(again);
    prt_command_queue_destroy(left);
    prt_command_queue_destroy(right);
    close_machine(&m);
}

/* The next packet of an independent command is processed while the command before it executes. */
static void an_independent_command_is_processed_ahead(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim-h100", "sim-h100");
    struct prt_command_queue *queue = make_queue(&m, m.root, NULL);
    struct devdesc d;
    int32_t x[PACKETS], y[2][PACKETS];
    uint64_t second[2];
    assert_true(devdesc_builtin("sim-h100", &d));
    assert_int_equal(d.processes_ahead, 1);
    ramp(x, PACKETS);
    for (int ahead = 0; ahead < 2; ahead++) {
        struct work work[2];
        start(queue, &work[0], TOTAL, x, y[0], PACKETS);
        describe(&work[1], TOTAL, x, y[1], PACKETS);
        work[1].command.independent = ahead == 1;
        assert_int_equal(enqueue(queue, &work[1]), PRT_OK);
        finish(queue);
        const struct prt_command_event *before = &work[0].event, *event = &work[1].event;
        uint64_t handed = before->begin_cycles + before->launch_cycles - d.launch_cleanup_cycles;
        uint64_t from = ahead == 1 ? handed : before->end_cycles;
        uint64_t processed = from + d.launch_process_cycles;
        uint64_t rest = processed > event->begin_cycles ? processed - event->begin_cycles : 0;
        assert_int_equal(event->begin_cycles, before->end_cycles);
        assert_int_equal(event->launch_cycles, rest + d.launch_cleanup_cycles);
        second[ahead] = event->end_cycles - event->begin_cycles;
    }
    assert_int_equal(second[0] - second[1], d.launch_process_cycles);
    prt_command_queue_destroy(queue);
    close_machine(&m);
}

/* A more important queue interrupts another one on the same compute units. */
static void a_more_important_command_ends_first(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim16", "sim16");
    struct prt_command_queue *low = make_queue(&m, m.root, NULL), *high;
    const struct prt_command_queue_options options = {.beside = low, .importance = 1};
    struct prt_error error;
    int32_t x[1600], y[2][1600];
    struct work work[2];
    ramp(x, 1600);
    assert_int_equal(prt_command_queue_create(m.program, m.tree, m.root, &options, &high, &error),
                     PRT_OK);
    start(low, &work[0], COPY, x, y[0], 1600);
    start(high, &work[1], COPY, x, y[1], 16);
    assert_int_equal(prt_command_queue_wait_for(low, &work[1].event, &error), PRT_OK);
    assert_false(work[0].event.complete);
    finish(low);
    assert_true(work[1].event.end_cycles < work[0].event.end_cycles);
    prt_command_queue_destroy(high);
    prt_command_queue_destroy(low);
    close_machine(&m);
}

static void waiting_for_one_command_lets_only_its_time_pass(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim16", "sim16");
    struct prt_device_handle halves[2];
    make_halves(&m, halves);
    struct prt_command_queue *left = make_queue(&m, halves[0], NULL),
                             *right = make_queue(&m, halves[1], left);
    struct prt_command_event none = {.complete = false};
    struct prt_error error;
    int32_t x[800], y[2][800];
    struct work longer, shorter, later;
    ramp(x, 800);
    start(left, &longer, COPY, x, y[0], 800);
    start(right, &shorter, COPY, x, y[1], 8);
    assert_int_equal(prt_command_queue_wait_for(left, &shorter.event, &error), PRT_OK);
    assert_false(longer.event.complete);
    assert_int_equal(prt_command_queue_now_cycles(left), LAUNCH + WARP);
    start(right, &later, COPY, x, y[1], 8);
    assert_int_equal(prt_command_queue_wait_for(left, &longer.event, &error), PRT_OK);
    check_event(&later, LAUNCH + WARP, 0, CUS / 2);
    assert_int_equal(prt_command_queue_wait_for(left, &none, &error), PRT_E_USAGE);
    prt_command_queue_destroy(left);
    prt_command_queue_destroy(right);
    close_machine(&m);
}

/* ---- faults ---- */

static void check_fault(const char *device)
{
    struct machine m = open_machine("sim16", device);
    struct prt_command_queue *queue = make_queue(&m, m.root, NULL),
                             *other = make_queue(&m, m.root, queue);
    struct prt_error error;
    int32_t x[10] = {1, 2, 0, 4, 5, 6, 0, 8, 9, 10}, y[3][10] = {{0}};
    struct work bad, skipped, good;
    start(queue, &bad, DIVIDE, x, y[0], 10);
    start(queue, &skipped, COPY, x, y[1], 10);
    start(other, &good, COPY, x, y[2], 10);
    assert_int_equal(prt_command_queue_wait(queue, &error), PRT_E_FAULT);
    assert_non_null(strstr(error.message, "kernel 'divide'"));
    assert_non_null(strstr(error.message, "divided by zero in firing 2"));
    assert_int_equal(bad.event.status, PRT_E_FAULT);
    assert_false(bad.event.skipped);
    assert_int_equal(bad.event.firings, 2);
    assert_int_equal(bad.count, 2);
    assert_int_equal(y[0][1], 50);
    assert_true(skipped.event.complete);
    assert_true(skipped.event.skipped);
    assert_int_equal(skipped.event.status, PRT_E_FAULT);
    assert_int_equal(skipped.count, 0);
    assert_int_equal(y[1][0], 0);
    assert_int_equal(prt_command_queue_wait_for(queue, &bad.event, &error), PRT_E_FAULT);
    assert_int_equal(prt_command_queue_wait_for(queue, &skipped.event, &error), PRT_E_FAULT);
    assert_int_equal(enqueue(queue, &skipped), PRT_E_FAULT);
    finish(other);
    assert_int_equal(good.event.status, PRT_OK);
    assert_int_equal(y[2][9], 10);
    prt_command_queue_destroy(queue);
    queue = make_queue(&m, m.root, other); /* a new queue executes again */
    start(queue, &skipped, COPY, x, y[1], 10);
    finish(queue);
    assert_int_equal(y[1][0], 1);
    prt_command_queue_destroy(queue);
    prt_command_queue_destroy(other);
    close_machine(&m);
}

static void a_fault_ends_its_queue_and_no_other(void **unused)
{
    (void)unused;
    check_fault("sim16");
    check_fault("cpu");
}

/* ---- arguments ---- */

static int32_t evaluate(const void *block, void *const *nodes, struct kernel_fault *fault)
{
    int32_t by;
    memcpy(&by, block, sizeof by);
    memcpy(nodes[0], &by, sizeof by);
    if (by != 13) return KERNEL_OK;
    *fault = (struct kernel_fault){.firing = UINT64_MAX, .line = 9};
    return KERNEL_FAULT_DIVISION;
}

static int32_t kernel_scale_init(const struct kernel_batch *batch)
{
    int32_t by;
    memcpy(&by, batch->arguments, sizeof by);
    *(int32_t *)batch->tables = by * 100;
    *(int32_t *)batch->state = by;
    return by == 14 ? KERNEL_FAULT_DIVISION : KERNEL_OK;
}

/* y = x * by + by * 100 + by, by + 1, ... */
static int32_t kernel_scale(const struct kernel_batch *batch)
{
    int32_t by, *state = batch->state;
    memcpy(&by, batch->arguments, sizeof by);
    for (uint64_t i = 0; i < batch->count; i++)
        ((int32_t *)batch->out[0])[i] =
            ((const int32_t *)batch->in[0])[i] * by + *(int32_t *)batch->tables + (*state)++;
    return KERNEL_OK;
}

static struct prt_program *scale_program(void)
{
    const struct prt_image_kernel kernel = {.run = kernel_scale, .init = kernel_scale_init};
    struct made *m = made_create("scale", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "scale", CONTAINER_NODE_STATEFUL | CONTAINER_NODE_INIT);
    m->nodes[node].arguments_bytes = m->nodes[node].tables_bytes = m->nodes[node].state_bytes = 4;
    made_input(m, node, x, 1, 1);
    made_output(m, node, y, 1, 0);
    made_argument(m, "by", SCALAR_I32, NULL);
    made_loop(m);
    struct prt_program *program;
    struct prt_error error;
    size_t size;
    uint8_t *bytes = made_finish(m, &size);
    if (prt_program_load_with_entries(bytes, size, &kernel, evaluate, &program, &error) != PRT_OK)
        fail_msg("%s", error.message);
    free(bytes);
    made_free(m);
    return program;
}

static void a_command_keeps_the_arguments_it_was_enqueued_with(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim16", "sim16");
    prt_program_free(m.program);
    m.program = scale_program();
    struct prt_command_queue *queue = make_queue(&m, m.root, NULL);
    struct prt_error error;
    const int32_t x[] = {1, 2, 3}, five = 5;
    int32_t y[3][3];
    struct work work[3];
    for (int i = 0; i < 3; i++) {
        describe(&work[i], COPY, x, y[i], 3);
        work[i].command.kernel = "scale";
    }
    assert_int_equal(enqueue(queue, &work[0]), PRT_E_USAGE); /* it has no value yet */
    assert_int_equal(prt_command_queue_set_argument(queue, "by", "7", &error), PRT_OK);
    assert_int_equal(enqueue(queue, &work[0]), PRT_OK);
    assert_int_equal(enqueue(queue, &work[1]), PRT_OK);
    assert_int_equal(
        prt_command_queue_set_argument_values(queue, "by", SCALAR_I32, &five, 1, &error), PRT_OK);
    assert_int_equal(
        prt_command_queue_set_argument_values(queue, "by", SCALAR_U32, &five, 1, &error),
        PRT_E_USAGE);
    assert_int_equal(prt_command_queue_set_argument(queue, "by", "five", &error), PRT_E_USAGE);
    assert_int_equal(prt_command_queue_set_argument(queue, "to", "5", &error), PRT_E_USAGE);
    assert_int_equal(enqueue(queue, &work[2]), PRT_OK);
    finish(queue);
    for (int i = 0; i < 3; i++) /* each command begins with the state of `init` */
        for (int k = 0; k < 3; k++)
            assert_int_equal(y[i][k], i < 2 ? x[k] * 7 + 707 + k : x[k] * 5 + 505 + k);

    assert_int_equal(prt_command_queue_set_argument(queue, "by", "13", &error), PRT_OK);
    assert_int_equal(prt_command_queue_enqueue(queue, &work[0].command, NULL, &error), PRT_E_FAULT);
    assert_non_null(strstr(error.message, "an argument"));
    assert_int_equal(prt_command_queue_set_argument(queue, "by", "14", &error), PRT_OK);
    assert_int_equal(prt_command_queue_enqueue(queue, &work[0].command, NULL, &error), PRT_E_FAULT);
    assert_non_null(strstr(error.message, "kernel 'scale'"));
    assert_int_equal(prt_command_queue_set_argument(queue, "by", "1", &error), PRT_OK);
    assert_int_equal(prt_command_queue_enqueue(queue, &work[0].command, NULL, &error), PRT_OK);
    prt_command_queue_destroy(queue); /* waits */
    assert_int_equal(y[0][2], 3 + 101 + 2);
    close_machine(&m);
}

/* ---- life ---- */

static void a_queue_outlives_its_handle_and_its_tree(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim16", "sim16");
    struct prt_device_handle halves[2];
    struct prt_device_information information;
    make_halves(&m, halves);
    struct prt_command_queue *queue = make_queue(&m, halves[1], NULL);
    int32_t x[80], y[80];
    struct work work;
    ramp(x, 80);
    assert_int_equal(prt_device_release(m.tree, halves[1]), PRT_OK);
    assert_int_equal(prt_device_query(m.tree, halves[1], &information), PRT_OK);
    assert_int_equal(information.reference_count, 0);
    start(queue, &work, COPY, x, y, 80);
    prt_command_queue_destroy(queue); /* waits */
    check_event(&work, 0, 0, CUS / 2);
    assert_int_equal(prt_device_query(m.tree, halves[1], &information), PRT_E_INVALID_DEVICE);
    assert_int_equal(prt_device_tree_live(m.tree), 2);

    queue = make_queue(&m, halves[0], NULL);
    prt_device_tree_destroy(m.tree);
    start(queue, &work, COPY, x, y, 80);
    finish(queue);
    check_event(&work, 0, 0, CUS / 2);
    prt_command_queue_destroy(queue);
    prt_command_queue_destroy(NULL);
    prt_program_free(m.program);
}

static void as_many_commands_as_asked_for_are_in_flight(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim16", "sim16");
    const struct prt_command_queue_options three = {.commands_most = 3};
    struct prt_command_queue *queue;
    struct prt_error error;
    int32_t x[100], y[100];
    struct work work[4];
    ramp(x, 100);
    assert_int_equal(prt_command_queue_create(m.program, m.tree, m.root, &three, &queue, &error),
                     PRT_OK);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++)
            start(queue, &work[i], i == 1 ? SUM2 : COPY, x, y, 50);
        describe(&work[3], COPY, x, y, 50);
        assert_int_equal(enqueue(queue, &work[3]), PRT_E_BUSY);
        assert_int_equal(prt_command_queue_wait_for(queue, &work[0].event, &error), PRT_OK);
        assert_int_equal(enqueue(queue, &work[3]), PRT_OK);
        finish(queue);
        assert_true(work[3].event.complete);
    }
    prt_command_queue_destroy(queue);
    close_machine(&m);
}

/* ---- refusals ---- */

static void wrong_queues_are_refused(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim16", "sim16"), wide = open_machine("sim-h100", "sim-h100");
    const struct prt_device_description description = {.cu_count = CUS};
    struct prt_device_handle halves[2];
    struct prt_device_tree *bare;
    struct prt_command_queue *queue = make_queue(&m, m.root, NULL), *none = NULL;
    struct prt_error error;
    make_halves(&m, halves);
    assert_int_equal(prt_device_release(m.tree, halves[0]), PRT_OK);
    assert_int_equal(prt_device_tree_create(&description, &bare), PRT_OK);
    const struct prt_device_handle no_device = {0, 0};
#define REFUSE(expected, program, tree, part, ...)                                                 \
    assert_int_equal(prt_command_queue_create(program, tree, part,                                 \
                                              &(struct prt_command_queue_options){__VA_ARGS__},    \
                                              &none, &error),                                      \
                     expected)
    REFUSE(PRT_E_INVALID_DEVICE, m.program, m.tree, no_device, .importance = 0);
    REFUSE(PRT_E_INVALID_DEVICE, m.program, m.tree, halves[0], .importance = 0);
    REFUSE(PRT_E_INVALID_DEVICE, m.program, m.tree, halves[0], .beside = queue);
    REFUSE(PRT_E_INVALID_DEVICE, m.program, m.tree, wide.root, .importance = 0);
    REFUSE(PRT_E_USAGE, m.program, bare, prt_device_tree_root(bare), .importance = 0);
    REFUSE(PRT_E_USAGE, wide.program, m.tree, m.root, .beside = queue);
    REFUSE(PRT_E_USAGE, m.program, wide.tree, wide.root, .beside = queue);
    REFUSE(PRT_E_DEVICE, m.program, wide.tree, wide.root, .importance = 0);
    REFUSE(PRT_E_INVALID_VALUE, m.program, m.tree, m.root, .importance = 256);
    REFUSE(PRT_E_INVALID_VALUE, m.program, m.tree, m.root, .commands_most = 4097);
    REFUSE(PRT_E_INVALID_VALUE, m.program, m.tree, m.root, .counted_firings_most = (1 << 24) + 1);
#undef REFUSE
    assert_null(none);
    assert_int_equal(prt_device_tree_live(m.tree), 2);
    prt_command_queue_destroy(queue);
    prt_device_tree_destroy(bare);
    close_machine(&wide);
    close_machine(&m);
}

static void wrong_commands_are_refused_and_leave_the_queue_as_it_was(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim16", "sim16");
    struct prt_command_queue *queue = make_queue(&m, m.root, NULL);
    int32_t x[100], y[100];
    struct work work;
    ramp(x, 100);
#define REFUSE(expected, kernel, member, value)                                                    \
    describe(&work, kernel, x, y, 40);                                                             \
    work.member = value;                                                                           \
    assert_int_equal(enqueue(queue, &work), expected)
    REFUSE(PRT_E_USAGE, COPY, command.kernel, "copied");
    REFUSE(PRT_E_INVALID_VALUE, COPY, command.firings, 0);
    REFUSE(PRT_E_INVALID_VALUE, COPY, command.firings, UINT64_C(1) << 32);
    REFUSE(PRT_E_INVALID_VALUE, COPY, command.firings, 41);
    REFUSE(PRT_E_INVALID_VALUE, COPY, command.input_count, 0);
    REFUSE(PRT_E_INVALID_VALUE, COPY, command.input_count, 2);
    REFUSE(PRT_E_INVALID_VALUE, COPY, command.output_count, 0);
    REFUSE(PRT_E_INVALID_VALUE, ADD, command.input_count, 1);
    REFUSE(PRT_E_INVALID_VALUE, SUM2, in[0].count, 79);
    REFUSE(PRT_E_INVALID_VALUE, DIFF, in[0].count, 40);
    REFUSE(PRT_E_INVALID_VALUE, ADD, in[1].count, 39);
    REFUSE(PRT_E_INVALID_VALUE, ADD, in[1].packets, NULL);
    REFUSE(PRT_E_INVALID_VALUE, COPY, in[0].packets, (const uint8_t *)x + 2);
    REFUSE(PRT_E_INVALID_VALUE, COPY, in[0].count, SIZE_MAX);
    REFUSE(PRT_E_INVALID_VALUE, TWICE, out.capacity, 79);
    REFUSE(PRT_E_INVALID_VALUE, COPY, out.packets, NULL);
    REFUSE(PRT_E_INVALID_VALUE, COPY, out.packets, (uint8_t *)y + 1);
    REFUSE(PRT_E_INVALID_VALUE, COPY, out.capacity, SIZE_MAX / 4);
#undef REFUSE
    finish(queue);
    assert_int_equal(prt_command_queue_now_cycles(queue), 0);
    start(queue, &work, COPY, x, y, 40);
    finish(queue);
    check_event(&work, 0, 0, CUS);
    prt_command_queue_destroy(queue);
    close_machine(&m);
}

/* ---- the OpenCL conformance suite: device partition and the cases of queues, as a table ---- */

static const struct {
    const char *test; /* as the suite names it */
    int64_t properties[8];
} suite[] = {
    {"test_partition_equally", {PRT_PARTITION_EQUALLY, 1, 0}},
    {"test_partition_equally", {PRT_PARTITION_EQUALLY, 5, 0}},
    {"test_partition_equally", {PRT_PARTITION_EQUALLY, CUS / 2, 0}},
    {"test_partition_by_counts", {PRT_PARTITION_BY_COUNTS, 1, CUS - 1, 0, 0}},
    {"test_partition_by_counts", {PRT_PARTITION_BY_COUNTS, 3, 5, 7, 1, 0, 0}},
    {"test_partition_by_affinity_domain_l3_cache",
     {PRT_PARTITION_BY_AFFINITY_DOMAIN, PRT_AFFINITY_L3, 0}},
    {"test_partition_by_affinity_domain_l2_cache",
     {PRT_PARTITION_BY_AFFINITY_DOMAIN, PRT_AFFINITY_L2, 0}},
    {"test_partition_by_affinity_domain_l1_cache",
     {PRT_PARTITION_BY_AFFINITY_DOMAIN, PRT_AFFINITY_L1, 0}},
    {"test_partition_by_affinity_domain_next_partitionable",
     {PRT_PARTITION_BY_AFFINITY_DOMAIN, PRT_AFFINITY_NEXT_PARTITIONABLE, 0}},
};
enum { SUITE = sizeof suite / sizeof suite[0] };

/* As the suite tests a set of devices: a queue on each sub-device, a kernel on each queue, the sums are right.  Here the queues
 * share a device, and all of them begin at the same cycle. */
static void check_device_set(const struct machine *m, const struct prt_device_handle *devices,
                             uint32_t count, struct prt_command_queue *first, const char *test)
{
    struct prt_command_queue *queues[CUS];
    int32_t x[64], y[CUS][64];
    struct work work[CUS];
    ramp(x, 64);
    uint64_t begin = prt_command_queue_now_cycles(first);
    for (uint32_t i = 0; i < count; i++)
        queues[i] = make_queue(m, devices[i], first);
    for (uint32_t i = 0; i < count; i++)
        start(queues[i], &work[i], ADD, x, y[i], 64);
    for (uint32_t i = 0; i < count; i++)
        finish(queues[i]);
    for (uint32_t i = 0; i < count; i++) {
        struct prt_device_information information;
        assert_int_equal(prt_device_query(m->tree, devices[i], &information), PRT_OK);
        if (work[i].event.begin_cycles != begin) fail_msg("%s: queue %u waits", test, i);
        check_event(&work[i], begin, 0, information.cu_count);
        for (int k = 0; k < 64; k++)
            assert_int_equal(y[i][k], 2 * x[k]);
        prt_command_queue_destroy(queues[i]);
    }
}

/* As the suite tests partitions: each scheme, and each again on the sub-devices that it makes. */
static void check_partitions(const struct machine *m, struct prt_device_handle device, int depth,
                             struct prt_command_queue *first, int *partitions)
{
    for (int i = 0; i < SUITE; i++) {
        struct prt_device_handle made[CUS];
        uint32_t count;
        if (prt_create_sub_devices(m->tree, device, suite[i].properties, CUS, made, &count) !=
            PRT_OK)
            continue;
        ++*partitions;
        check_device_set(m, made, count, first, suite[i].test);
        if (depth < 3) check_partitions(m, made[count - 1], depth + 1, first, partitions);
        for (uint32_t k = 0; k < count; k++)
            assert_int_equal(prt_device_release(m->tree, made[k]), PRT_OK);
    }
}

static void kernels_compute_on_all_partitions_of_the_conformance_suite(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim16", "sim16");
    struct prt_command_queue *first = make_queue(&m, m.root, NULL);
    int partitions = 0;
    int32_t x[64], y[64];
    struct work work;
    ramp(x, 64);
    start(first, &work, ADD, x, y, 64); /* so no later command switches */
    finish(first);
    check_partitions(&m, m.root, 1, first, &partitions);
    assert_true(partitions > SUITE);
    assert_int_equal(prt_device_tree_live(m.tree), 1);
    prt_command_queue_destroy(first);
    close_machine(&m);
}

/* The negative cases of queues: the error that the suite asks for, and ours. */
static void the_negative_cases_of_queues_of_the_conformance_suite(void **unused)
{
    (void)unused;
    struct machine m = open_machine("sim16", "sim16"), other = open_machine("sim16", "sim16");
    struct prt_device_handle halves[2];
    struct prt_command_queue *queue = make_queue(&m, m.root, NULL), *none = NULL;
    struct prt_command_event unknown = {.complete = false};
    struct prt_error error;
    struct work work;
    int32_t x[8], y[8];
    ramp(x, 8);
    make_halves(&m, halves);
    assert_int_equal(prt_device_release(m.tree, halves[0]), PRT_OK);
    /* creation: an invalid device; CL_INVALID_DEVICE */
    assert_int_equal(prt_command_queue_create(m.program, m.tree, halves[0], NULL, &none, &error),
                     PRT_E_INVALID_DEVICE);
    /* a device that is not in the context; CL_INVALID_DEVICE */
    assert_int_equal(prt_command_queue_create(m.program, m.tree, other.root, NULL, &none, &error),
                     PRT_E_INVALID_DEVICE);
    /* properties that are not valid; CL_INVALID_VALUE */
    assert_int_equal(
        prt_command_queue_create(m.program, m.tree, m.root,
                                 &(struct prt_command_queue_options){.importance = UINT32_MAX},
                                 &none, &error),
        PRT_E_INVALID_VALUE);
    /* clEnqueueNDRangeKernel: a global size of 0; CL_INVALID_GLOBAL_WORK_SIZE */
    describe(&work, COPY, x, y, 8);
    work.command.firings = 0;
    assert_int_equal(enqueue(queue, &work), PRT_E_INVALID_VALUE);
    /* kernel arguments that have not been specified; CL_INVALID_KERNEL_ARGS */
    describe(&work, COPY, x, y, 8);
    work.command.inputs = &(struct prt_command_input){NULL, 8};
    assert_int_equal(enqueue(queue, &work), PRT_E_INVALID_VALUE);
    /* clWaitForEvents: no event; CL_INVALID_EVENT */
    assert_int_equal(prt_command_queue_wait_for(queue, &unknown, &error), PRT_E_USAGE);
    /* clFinish of a queue without commands; CL_SUCCESS */
    assert_int_equal(prt_command_queue_wait(queue, &error), PRT_OK);
    prt_command_queue_destroy(queue);
    close_machine(&other);
    close_machine(&m);
}

TEST_MAIN("command_queue", cmocka_unit_test(every_kernel_computes_on_simulated_devices),
          cmocka_unit_test(every_kernel_computes_on_the_hosts_cores),
          cmocka_unit_test(commands_of_a_queue_follow_each_other),
          cmocka_unit_test(commands_of_unequal_kernels_in_one_place_have_their_own_cycles),
          cmocka_unit_test(queues_on_disjoint_sub_devices_overlap_and_others_take_turns),
          cmocka_unit_test(an_independent_command_is_processed_ahead),
          cmocka_unit_test(a_more_important_command_ends_first),
          cmocka_unit_test(waiting_for_one_command_lets_only_its_time_pass),
          cmocka_unit_test(a_fault_ends_its_queue_and_no_other),
          cmocka_unit_test(a_command_keeps_the_arguments_it_was_enqueued_with),
          cmocka_unit_test(a_queue_outlives_its_handle_and_its_tree),
          cmocka_unit_test(as_many_commands_as_asked_for_are_in_flight),
          cmocka_unit_test(wrong_queues_are_refused),
          cmocka_unit_test(wrong_commands_are_refused_and_leave_the_queue_as_it_was),
          cmocka_unit_test(kernels_compute_on_all_partitions_of_the_conformance_suite),
          cmocka_unit_test(the_negative_cases_of_queues_of_the_conformance_suite))
