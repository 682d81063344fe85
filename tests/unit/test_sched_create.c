/* SPDX-License-Identifier: MIT */
/* The creation of a run refuses blocks that no memory holds, indices that the device has no room for, and a
 * sub-device that cannot be cut as the program asks. */
#include "tests/test.h"

#include <stdio.h>
#include <unistd.h>

#include "lang/index_format.h"
#include "runtime/host/pipert_device.h"
#include "runtime/sched/indices.h"
#include "tests/conform/pipelines.h"

static const struct prt_image_kernel copies[] = {{.run = kernel_copy}, {.run = kernel_copy}};

/* x -> copy -> t -> copy -> y; the caller adds a program. */
static struct made *two_copies(void)
{
    struct made *m = made_create("copies", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t node = made_node(m, i == 0 ? "first" : "second", 0);
        made_input(m, node, i == 0 ? x : t, 1, 1);
        made_output(m, node, i == 0 ? t : y, 1, 0);
    }
    return m;
}

/* On a device without a description nothing bounds the memory of a program.  Four blocks of 2^62 bytes are 2^64. */
static void blocks_whose_sum_has_more_than_64_bits_are_refused(void **unused)
{
    (void)unused;
    const struct prt_run_options options = {.device = "null"};
    const uint64_t most = SIZE_MAX / 4;
    for (uint32_t nodes = 1; nodes <= 2; nodes++) {
        struct made *m = two_copies();
        struct prt_run *run = NULL;
        struct prt_error error = {0};
        m->device.name = made_string(m, "unknown");
        for (uint32_t i = 0; i < nodes; i++)
            m->nodes[i].tables_bytes = m->nodes[i].state_bytes = most;
        made_loop(m);
        struct prt_program *program = pipelines_load(m, copies);
        assert_int_equal(prt_run_create(program, &options, &run, &error), PRT_E_NOMEM);
        assert_string_equal(error.message, "out of memory");
        assert_null(run);
        prt_program_free(program);
    }
}

enum { BLOCK_BYTES = 100000 };

/* The state and the tables are there from the first to the last byte, and only this kernel writes there. */
static int32_t keep_block(const struct kernel_batch *batch)
{
    uint8_t *state = batch->state;
    const uint8_t *arguments = batch->arguments, *tables = batch->tables;
    uint8_t own = (uint8_t)(1 + batch->first_firing / 64);
    if (arguments[0] != 0 || arguments[BLOCK_BYTES - 1] != 0) return KERNEL_FAULT_INDEX;
    if (tables[0] != 0 || tables[BLOCK_BYTES - 1] != 0) return KERNEL_FAULT_INDEX;
    for (size_t i = 0; i < BLOCK_BYTES; i++)
        if (batch->first_firing > 0 && state[i] != state[0]) return KERNEL_FAULT_INDEX;
    memset(state, own, BLOCK_BYTES);
    return kernel_copy(batch);
}

static void blocks_do_not_overlap(void **unused)
{
    (void)unused;
    static const struct prt_image_kernel keeps[] = {{.run = keep_block}, {.run = keep_block}};
    static struct host in, out;
    struct prt_error error = {0};
    struct made *m = two_copies();
    for (uint32_t i = 0; i < 2; i++) {
        m->nodes[i].flags |= CONTAINER_NODE_STATEFUL;
        m->nodes[i].arguments_bytes = m->nodes[i].tables_bytes = m->nodes[i].state_bytes =
            BLOCK_BYTES;
    }
    made_loop(m);
    struct prt_program *program = pipelines_load(m, keeps);
    host_ramp(&in, 1000);
    if (pipelines_run(program, 1, &in, &out, NULL, &error) != PRT_OK) fail_msg("%s", error.message);
    assert_int_equal(out.count, 1000);
    prt_program_free(program);
}

/* ---- indices ---- */

/* 15 work-items, whose indices have five bits and lie in 30 bytes from address 64 on. */
static enum prt_status create_indices(const struct devdesc *device, bool executes,
                                      struct prt_error *error)
{
    const uint32_t extents[3] = {3, 5, 1};
    const struct index_format format = index_format_of(extents);
    uint32_t first_warps[8];
    for (uint32_t n = 0; n < 8; n++)
        first_warps[n] = index_pack(&format, n % 3, n / 3, 0);
    const struct container_index index = {
        .extents = {3, 5, 1}, .step = {2, 2, 0}, .address_bytes = 64};
    const struct container_device made_for = {.lanes = 8};
    const struct prt_container c = {
        .device = &made_for, .indices = &index, .index_count = 1, .first_warps = first_warps};
    const struct prt_device_info info = {.description = device, .executes = executes};
    struct prt_indices indices;
    *error = (struct prt_error){0};
    enum prt_status status = prt_indices_create(&c, &info, &indices, error);
    if (status == PRT_OK) {
        const uint16_t *registers = indices.configurations[0].registers;
        for (uint32_t n = 0; n < 15; n++)
            assert_int_equal(registers[n], index_pack(&format, n % 3, n / 3, 0));
    }
    prt_indices_free(&indices);
    return status;
}

static void indices_fit_the_index_memory_and_the_registers_of_the_device(void **unused)
{
    (void)unused;
    struct prt_error error;
    struct devdesc device = {.name = "d", .index_memory_bytes = 94, .index_register_bits = 5};
    assert_int_equal(create_indices(&device, true, &error), PRT_OK);
    device.index_memory_bytes = 93;
    assert_int_equal(create_indices(&device, true, &error), PRT_E_DEVICE);
    assert_string_equal(error.message,
                        "packed indices end at byte 94, the index memory of device 'd' has 93");
    assert_int_equal(create_indices(&device, false, &error), PRT_OK); /* kernels do not run */
    device.index_memory_bytes = 0; /* the description does not say */
    assert_int_equal(create_indices(&device, true, &error), PRT_OK);
    device.index_memory_bytes = 94;
    device.index_register_bits = 4;
    assert_int_equal(create_indices(&device, true, &error), PRT_E_DEVICE);
    assert_string_equal(error.message,
                        "packed indices of 5 bits, the registers of device 'd' have 4");
    assert_int_equal(create_indices(&device, false, &error), PRT_OK);
}

/* ---- sub-devices ---- */

enum { STEPS_MAX = 2, PARTS_MAX = 4 };

/* Cuts its device into parts of these sizes, and takes one. */
struct cut {
    uint32_t counts[PARTS_MAX], index;
};

/* Two copies for 8 CUs in domains of 4, run on a part of `device` after up to two cuts. */
static enum prt_status run_on_part(const char *device, const struct cut *cuts, uint32_t count,
                                   struct prt_error *error)
{
    static struct host in, out;
    int64_t properties[STEPS_MAX][PARTS_MAX + 2] = {{0}};
    struct prt_sub_device_step steps[STEPS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        properties[i][0] = PRT_PARTITION_BY_COUNTS;
        for (uint32_t k = 0; k < PARTS_MAX; k++)
            properties[i][1 + k] = cuts[i].counts[k];
        steps[i] =
            (struct prt_sub_device_step){.properties = properties[i], .index = cuts[i].index};
    }
    const struct prt_run_options options = {
        .device = device, .host_threads = 1, .sub_device = steps, .sub_device_steps = count};
    struct made *m = two_copies();
    m->device.cu_count = 8;
    made_program(m, "partition_affinity l2, 4\nbind 0, 0\nbind 1, 1\nL1: ends\n"
                    "round_robin 0, L2\ndispatch\njump L1\nL2: wait L1\nhalt\n");
    struct prt_program *program = pipelines_load(m, copies);
    struct prt_run *run;
    *error = (struct prt_error){0};
    host_ramp(&in, 100);
    out.count = 0;
    if (prt_run_create(program, &options, &run, error) != PRT_OK) fail_msg("%s", error->message);
    pipelines_bind(program, run, &in, &out);
    enum prt_status status = prt_run_execute(run, error);
    if (status == PRT_OK) assert_int_equal(out.count, 100);
    prt_run_destroy(run);
    prt_program_free(program);
    return status;
}

static void a_part_that_begins_inside_a_domain_has_too_many_domains(void **unused)
{
    (void)unused;
    const struct cut low = {{8, 8}, 0}, high = {{8, 8}, 1}, across = {{2, 8, 6}, 1};
    struct prt_error error;
    assert_int_equal(run_on_part("sim16", &low, 1, &error), PRT_OK);
    assert_int_equal(run_on_part("sim16", &high, 1, &error), PRT_OK);
    assert_int_equal(run_on_part("sim16", &across, 1, &error), PRT_E_DEVICE);
    assert_string_equal(error.message,
                        "the device has 3 domains of level l2, the program was made for 2");
}

/* A device that can be cut into two, and a part of it that has three domains. */
static void a_part_with_more_domains_than_sub_devices_cannot_be_cut(void **unused)
{
    (void)unused;
    const struct cut cuts[] = {{{2, 14}, 1}, {{8, 6}, 0}};
    struct devdesc like;
    struct prt_error error;
    char text[256], device[] = "sim:/tmp/test_sched_create.XXXXXX.dev";
    assert_true(devdesc_builtin("sim16", &like));
    snprintf(text, sizeof text,
             "name = halves\ncu_count = 16\nlanes = %u\nclock = 1 GHz\nmemory = 64 MiB\n"
             "memory_bytes_per_cycle = 64\ncus_per_l2 = 4\nmax_sub_devices = 2\n",
             like.lanes);
    int file = mkstemps(device + 4, 4);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    enum prt_status status = run_on_part(device, cuts, 2, &error);
    unlink(device + 4);
    assert_int_equal(status, PRT_E_DEVICE);
    assert_non_null(strstr(error.message, "the device cannot be cut into sub-devices: "));
}

TEST_MAIN("sched_create", cmocka_unit_test(blocks_do_not_overlap),
          cmocka_unit_test(blocks_whose_sum_has_more_than_64_bits_are_refused),
          cmocka_unit_test(indices_fit_the_index_memory_and_the_registers_of_the_device),
          cmocka_unit_test(a_part_that_begins_inside_a_domain_has_too_many_domains),
          cmocka_unit_test(a_part_with_more_domains_than_sub_devices_cannot_be_cut))
