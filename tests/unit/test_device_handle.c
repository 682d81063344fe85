/* SPDX-License-Identifier: MIT */
/* Runs on the device of a handle: the same as on the path to it; what a run keeps; handles that are refused. */
#include "tests/test.h"

#include "tests/conform/pipelines.h"

#include <pthread.h>

enum { PACKETS = 3000, HALF = 8 };

static const struct prt_image_kernel kernels[] = {{.run = kernel_copy}, {.run = kernel_total}};
static const int64_t halves[] = {PRT_PARTITION_EQUALLY, HALF, 0};

/* Two stages side by side on a quarter of sim16 each, so on half of it together. */
static struct prt_program *half_program(void)
{
    struct made *m = made_create("half", "sim16");
    m->device.cu_count = HALF;
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t between = made_buffer(m, "between", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t copy = made_node(m, "copy", 0);
    made_input(m, copy, x, 1, 1);
    made_output(m, copy, between, 1, 0);
    uint32_t total = made_node(m, "total", CONTAINER_NODE_STATEFUL);
    m->nodes[total].state_bytes = 4;
    made_input(m, total, between, 1, 1);
    made_output(m, total, y, 1, 0);
    made_groups(m, 2, HALF / 2);
    return pipelines_load(m, kernels);
}

static struct prt_device_tree *open_tree(const char *name)
{
    struct prt_device_tree *tree;
    struct prt_error error;
    assert_int_equal(prt_device_open(name, NULL, NULL, &tree, NULL, &error), PRT_OK);
    return tree;
}

/* The second half; the first one is released. */
static struct prt_device_handle second_half(struct prt_device_tree *tree)
{
    struct prt_device_handle made[2];
    assert_int_equal(
        prt_create_sub_devices(tree, prt_device_tree_root(tree), halves, 2, made, NULL), PRT_OK);
    assert_int_equal(prt_device_release(tree, made[0]), PRT_OK);
    return made[1];
}

static struct prt_run *create_on(const struct prt_program *program, struct prt_device_tree *tree,
                                 struct prt_device_handle part)
{
    const struct prt_run_options options = {.tree = tree, .part = part, .host_threads = 1};
    struct prt_run *run;
    struct prt_error error;
    enum prt_status status = prt_run_create(program, &options, &run, &error);
    if (status != PRT_OK) fail_msg("%s", error.message);
    return run;
}

/* Executes the run on a ramp, and checks the sums; returns its cycles. */
static uint64_t execute_sums(const struct prt_program *program, struct prt_run *run)
{
    struct host *in = calloc(1, sizeof *in), *out = calloc(1, sizeof *out);
    struct prt_run_statistics statistics;
    struct prt_error error;
    assert_non_null(in);
    assert_non_null(out);
    host_ramp(in, PACKETS);
    pipelines_bind(program, run, in, out);
    enum prt_status status = prt_run_execute(run, &error);
    if (status != PRT_OK) fail_msg("%s", error.message);
    assert_int_equal(out->count, PACKETS);
    assert_int_equal(out->packets[PACKETS - 1], PACKETS / 2 * (PACKETS - 1));
    prt_run_statistics(run, &statistics);
    free(in);
    free(out);
    return statistics.total_cycles;
}

static uint64_t cycles_on_path(const struct prt_program *program)
{
    const struct prt_sub_device_step step = {halves, 1};
    const struct prt_run_options options = {
        .device = "sim16", .sub_device = &step, .sub_device_steps = 1, .host_threads = 1};
    struct prt_run *run;
    struct prt_error error;
    assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_OK);
    uint64_t cycles = execute_sums(program, run);
    prt_run_destroy(run);
    return cycles;
}

static void a_run_on_a_handle_is_the_run_on_its_path(void **unused)
{
    (void)unused;
    struct prt_program *program = half_program();
    struct prt_device_tree *tree = open_tree("sim16");
    struct prt_run *run = create_on(program, tree, second_half(tree));
    assert_int_equal(execute_sums(program, run), cycles_on_path(program));
    prt_run_destroy(run);
    prt_device_tree_destroy(tree);
    prt_program_free(program);
}

static void the_handle_and_the_tree_may_go_before_the_run(void **unused)
{
    (void)unused;
    struct prt_program *program = half_program();
    struct prt_device_tree *tree = open_tree("sim16");
    struct prt_device_handle part = second_half(tree);
    struct prt_run *run = create_on(program, tree, part);
    assert_int_equal(prt_device_release(tree, part), PRT_OK);
    prt_device_tree_destroy(tree);
    assert_int_equal(execute_sums(program, run), cycles_on_path(program));
    prt_run_destroy(run);
    prt_program_free(program);
}

static uint32_t references(struct prt_device_tree *tree, struct prt_device_handle device)
{
    struct prt_device_information information;
    assert_int_equal(prt_device_query(tree, device, &information), PRT_OK);
    return information.reference_count;
}

static void a_run_retains_its_device_and_leaves_nothing_in_the_tree(void **unused)
{
    (void)unused;
    struct prt_program *program = half_program();
    struct prt_device_tree *tree = open_tree("sim16");
    struct prt_device_handle part = second_half(tree);
    struct prt_device_information information;
    struct prt_run *run = create_on(program, tree, part);
    assert_int_equal(references(tree, part), 2);
    assert_int_equal(prt_device_release(tree, part), PRT_OK);
    assert_int_equal(references(tree, part), 1);
    execute_sums(program, run);
    assert_int_equal(prt_device_tree_live(tree), 4); /* root, part, and its two */
    prt_run_destroy(run);
    assert_int_equal(prt_device_query(tree, part, &information), PRT_E_INVALID_DEVICE);
    assert_int_equal(prt_device_tree_live(tree), 1);
    prt_device_tree_destroy(tree);
    prt_program_free(program);
}

/* The owner gives away the reference of the run, too. */
static void a_run_whose_device_is_released_too_often_fails_in_order(void **unused)
{
    (void)unused;
    struct prt_program *program = half_program();
    struct prt_device_tree *tree = open_tree("sim16");
    struct prt_device_handle part = second_half(tree);
    struct prt_run *run = create_on(program, tree, part);
    struct host in, out = {.count = 0};
    struct prt_error error;
    assert_int_equal(prt_device_release(tree, part), PRT_OK);
    assert_int_equal(prt_device_release(tree, part), PRT_OK);
    host_ramp(&in, 10);
    pipelines_bind(program, run, &in, &out);
    assert_int_equal(prt_run_execute(run, &error), PRT_E_DEVICE);
    prt_run_destroy(run);
    assert_int_equal(prt_device_tree_live(tree), 1);
    prt_device_tree_destroy(tree);
    prt_program_free(program);
}

static void refuse(const struct prt_program *program, const struct prt_run_options *options,
                   enum prt_status expected, const char *words)
{
    struct prt_run *run = NULL;
    struct prt_error error = {.message = ""};
    assert_int_equal(prt_run_create(program, options, &run, &error), expected);
    assert_null(run);
    if (strstr(error.message, words) == NULL) fail_msg("no '%s' in: %s", words, error.message);
}

static void wrong_handles_are_refused(void **unused)
{
    (void)unused;
    struct prt_program *program = half_program();
    struct prt_device_tree *tree = open_tree("sim16"), *other = open_tree("sim16"),
                           *wide = open_tree("sim-h100"), *cores = open_tree("cpu:2"), *bare;
    const struct prt_device_description description = {.cu_count = HALF};
    const struct prt_sub_device_step step = {halves, 0};
    assert_int_equal(prt_device_tree_create(&description, &bare), PRT_OK);
    struct prt_device_handle part = second_half(tree), gone = second_half(tree);
    assert_int_equal(prt_device_release(tree, gone), PRT_OK);

#define REFUSE(expected, words, ...)                                                               \
    refuse(program, &(struct prt_run_options){__VA_ARGS__}, expected, words)
    REFUSE(PRT_E_INVALID_DEVICE, "no device of the tree", .tree = tree);
    REFUSE(PRT_E_INVALID_DEVICE, "been released", .tree = tree, .part = gone);
    REFUSE(PRT_E_INVALID_DEVICE, "no device of the tree", .tree = other, .part = part);
    REFUSE(PRT_E_INVALID_DEVICE, "of device 'sim16', not of 'sim4'", .tree = tree, .part = part,
           .device = "sim4");
    REFUSE(PRT_E_USAGE, "'null' has no sub-devices", .tree = tree, .part = part, .device = "null");
    REFUSE(PRT_E_USAGE, "'cpu' has no sub-devices", .tree = cores,
           .part = prt_device_tree_root(cores));
    REFUSE(PRT_E_USAGE, "the tree is of no device", .tree = bare,
           .part = prt_device_tree_root(bare));
    REFUSE(PRT_E_USAGE, "needs its tree", .part = part);
    REFUSE(PRT_E_USAGE, "or at the end of a path", .tree = tree, .part = part, .sub_device = &step,
           .sub_device_steps = 1);
    REFUSE(PRT_E_DEVICE, "have 8 lanes; those of 'sim-h100' have 32", .tree = wide,
           .part = prt_device_tree_root(wide));
    REFUSE(PRT_E_DEVICE, "the device has 16: compile it for that one: pipec --device sim16",
           .tree = tree, .part = prt_device_tree_root(tree));
#undef REFUSE
    assert_int_equal(references(tree, part), 1);
    assert_int_equal(prt_device_tree_live(tree), 2);
    prt_device_tree_destroy(bare);
    prt_device_tree_destroy(cores);
    prt_device_tree_destroy(wide);
    prt_device_tree_destroy(other);
    prt_device_tree_destroy(tree);
    prt_program_free(program);
}

/* The program is for 8 compute units: the message has the way to the sub-device that does not fit. */
static void the_message_for_a_size_has_the_commands_that_help(void **unused)
{
    (void)unused;
    static const int64_t counts[] = {PRT_PARTITION_BY_COUNTS, 2, 12, 1, 0, 0},
                         threes[] = {PRT_PARTITION_EQUALLY, 3, 0},
                         level[] = {PRT_PARTITION_BY_AFFINITY_DOMAIN,
                                    PRT_AFFINITY_NEXT_PARTITIONABLE, 0};
    struct prt_program *program = half_program();
    struct prt_device_tree *tree = open_tree("sim16");
    struct prt_device_handle made[3], inner[4], last[3];
    assert_int_equal(
        prt_create_sub_devices(tree, prt_device_tree_root(tree), counts, 3, made, NULL), PRT_OK);
    assert_int_equal(prt_create_sub_devices(tree, made[1], threes, 4, inner, NULL), PRT_OK);
    assert_int_equal(prt_create_sub_devices(tree, inner[2], level, 3, last, NULL), PRT_OK);
    assert_int_equal(prt_device_release(tree, made[1]), PRT_OK); /* its children keep it */
    refuse(program, &(struct prt_run_options){.tree = tree, .part = inner[3]}, PRT_E_DEVICE,
           "has 3: compile it for that one: piperun partition sim16 by-counts 2 12 1 / equally 3 "
           "--describe 1.3 >part.dev; pipec --device part.dev");
    refuse(program, &(struct prt_run_options){.tree = tree, .part = last[1]}, PRT_E_DEVICE,
           "by-counts 2 12 1 / equally 3 / by-affinity l1 --describe 1.2.1 >part.dev");
    prt_device_tree_destroy(tree);
    prt_program_free(program);
}

/* ---- threads ---- */

struct job {
    const struct prt_program *program;
    struct prt_device_tree *tree;
};

static void *execute_some(void *context)
{
    const struct job *job = context;
    for (int i = 0; i < 20; i++) {
        struct prt_device_handle part = second_half(job->tree);
        struct prt_run *run = create_on(job->program, job->tree, part);
        assert_int_equal(prt_device_release(job->tree, part), PRT_OK);
        execute_sums(job->program, run);
        prt_run_destroy(run);
    }
    return NULL;
}

static void threads_may_run_on_one_tree(void **unused)
{
    (void)unused;
    struct job job = {half_program(), open_tree("sim16")};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, execute_some, &job), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(prt_device_tree_live(job.tree), 1);
    prt_device_tree_destroy(job.tree);
    prt_program_free((struct prt_program *)job.program);
}

TEST_MAIN("device_handle", cmocka_unit_test(a_run_on_a_handle_is_the_run_on_its_path),
          cmocka_unit_test(the_handle_and_the_tree_may_go_before_the_run),
          cmocka_unit_test(a_run_retains_its_device_and_leaves_nothing_in_the_tree),
          cmocka_unit_test(a_run_whose_device_is_released_too_often_fails_in_order),
          cmocka_unit_test(wrong_handles_are_refused),
          cmocka_unit_test(the_message_for_a_size_has_the_commands_that_help),
          cmocka_unit_test(threads_may_run_on_one_tree))
