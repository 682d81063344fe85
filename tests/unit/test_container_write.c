/* SPDX-License-Identifier: MIT */
/* Containers as they are written: layout, tables, strings, checksum, determinism; and the program
 * of a plan. */
#include "tests/test.h"

#include <stdio.h>
#include <xxhash.h>

#include "compiler/bodies/range_check.h"
#include "compiler/bodies/amplify.h"
#include "compiler/bodies/cost.h"
#include "compiler/liveness/rate.h"
#include "compiler/liveness/deadlock.h"
#include "compiler/pace/bufsize.h"
#include "compiler/codegen/common/codegen.h"
#include "compiler/plan/plan_internal.h"
#include "lang/container.h"
#include "tests/unit/compile_text.h"

static const char text[] =
    "kernel scale(in f32 x, out f32 y; f32 g) { y <- x * g; }\n"
    "kernel total(in f32 a, in f32 b, out f32 y) { state f32 s = 0; s += a + b; y <- s;"
    "  finish { y <- s; } }\n"
    "pipeline main(in f32 x, out f32 y; f32 gain = 2, i16 other = -1) {\n"
    "  buffer f32 loop init {1, 2, 3}; buffer f32 p;\n"
    "  first: scale(x -> p; gain);\n"
    "  sum: total(p, loop -> y) importance 9;\n"
    "  scale(p -> loop; 1);\n"
    "}\n";

struct built {
    struct text_compile *c;
    struct devdesc *device;
    struct plan *plan;
    struct sched_program *program;
    struct container_bytes file;
};

static struct built build(const char *device)
{
    struct built b = {.c = text_compile(text)};
    struct compile *cx = &b.c->cx;
    assert_non_null(b.c->graph);
    amplify_infer_rates(cx, b.c->graph);
    range_check_bodies(cx, b.c->graph);
    cost_estimate(cx, b.c->graph);
    rate_solve(cx, b.c->graph);
    deadlock_check(cx, b.c->graph);
    bufsize_assign(cx, b.c->graph);
    b.device = ARENA_NEW(cx->arena, struct devdesc);
    assert_true(devdesc_builtin(device, b.device));
    b.plan = plan_place(cx, b.c->graph, b.device);
    if (diag_failed(cx->diags)) print_message("%s", text_compile_messages(b.c));
    assert_false(diag_failed(cx->diags));
    struct kernel_image *image = kernel_compile(cx, b.c->graph);
    assert_non_null(image);
    b.program = sched_emit(cx, b.c->graph, b.plan);
    b.file = container_build(cx, b.c->graph, b.plan, b.program, image);
    return b;
}

static const void *section(const struct built *b, uint32_t kind, size_t *size)
{
    const struct container_header *header = (const void *)b->file.bytes;
    const struct container_section *table = (const void *)(header + 1);
    for (uint32_t i = 0; i < header->section_count; i++) {
        if (table[i].kind != kind) continue;
        *size = table[i].size_bytes;
        return b->file.bytes + table[i].offset_bytes;
    }
    fail();
    return NULL;
}

static const char *string(const struct built *b, container_string at)
{
    size_t size;
    const char *strings = section(b, CONTAINER_STRINGS, &size);
    assert_true(at < size);
    return strings + at;
}

static void the_layout_is_as_documented(void **state)
{
    (void)state;
    struct built b = build("sim4");
    const struct container_header *header = (const void *)b.file.bytes;
    const struct container_section *table = (const void *)(header + 1);
    assert_memory_equal(header->magic, CONTAINER_MAGIC, 8);
    assert_int_equal(header->version, CONTAINER_VERSION);
    assert_int_equal(header->file_bytes, b.file.size_bytes);
    assert_int_equal(header->section_count, CONTAINER_IMAGE);
    size_t covered = offsetof(struct container_header, reserved);
    assert_true(header->checksum == XXH64(b.file.bytes + covered, b.file.size_bytes - covered, 0));
    uint64_t at = sizeof *header + header->section_count * sizeof *table;
    for (uint32_t i = 0; i < header->section_count; i++) {
        assert_int_equal(table[i].kind, i + 1);
        assert_int_equal(table[i].offset_bytes, (at + 63) / 64 * 64);
        for (; at < table[i].offset_bytes; at++)
            assert_int_equal(b.file.bytes[at], 0);
        at += table[i].size_bytes;
    }
    assert_int_equal(at, b.file.size_bytes);
    text_compile_free(b.c);
}

static void the_graph_can_be_read_back(void **state)
{
    (void)state;
    size_t size;
    struct built b = build("sim4");
    const struct container_node *nodes = section(&b, CONTAINER_NODES, &size);
    assert_int_equal(size, 3 * sizeof *nodes);
    assert_string_equal(string(&b, nodes[1].name), "sum");
    assert_string_equal(string(&b, nodes[2].name), "scale");
    assert_true(nodes[0].kernel_title == nodes[2].kernel_title);
    assert_int_equal(nodes[1].importance, 9);
    assert_int_equal(nodes[1].line, 6);
    assert_int_equal(nodes[1].flags,
                     CONTAINER_NODE_STATEFUL | CONTAINER_NODE_INIT | CONTAINER_NODE_FINISH);
    assert_int_equal(nodes[1].first_input, 1);
    assert_int_equal(nodes[1].input_count, 2);
    assert_int_equal(nodes[2].kernel, nodes[0].kernel);
    const struct container_input *inputs = section(&b, CONTAINER_INPUTS, &size);
    const struct container_output *outputs = section(&b, CONTAINER_OUTPUTS, &size);
    assert_int_equal(size, 3 * sizeof *outputs);
    const struct container_buffer *buffers = section(&b, CONTAINER_BUFFERS, &size);
    const struct container_reader *readers = section(&b, CONTAINER_READERS, &size);
    for (uint32_t n = 0; n < 3; n++) {
        for (uint32_t i = nodes[n].first_input; i < nodes[n].first_input + nodes[n].input_count;
             i++) {
            const struct container_buffer *buffer = &buffers[inputs[i].buffer];
            const struct container_reader *reader = &readers[inputs[i].reader];
            assert_int_equal(reader->node, n);
            assert_int_equal(reader->input, i);
            assert_in_range(inputs[i].reader, buffer->first_reader,
                            buffer->first_reader + buffer->reader_count - 1);
        }
        const struct container_buffer *buffer = &buffers[outputs[nodes[n].first_output].buffer];
        assert_int_equal(buffer->writer_node, n);
        assert_int_equal(buffer->writer_output, nodes[n].first_output);
    }
    text_compile_free(b.c);
}

static void initial_packets_and_defaults_are_bytes(void **state)
{
    (void)state;
    size_t size;
    static const float expected[] = {1, 2, 3};
    struct built b = build("sim4");
    const float *initials = section(&b, CONTAINER_INITIALS, &size);
    assert_int_equal(size, sizeof expected);
    assert_memory_equal(initials, expected, sizeof expected);
    const struct container_argument *arguments = section(&b, CONTAINER_ARGUMENTS, &size);
    assert_int_equal(size, 2 * sizeof *arguments);
    assert_string_equal(string(&b, arguments[1].name), "other");
    assert_int_equal(arguments[1].scalar, SCALAR_I16);
    assert_string_equal(string(&b, arguments[1].type_text), "i16");
    assert_string_equal(string(&b, arguments[1].shape), "");
    assert_int_equal(arguments[1].count, 1);
    const unsigned char *defaults = section(&b, CONTAINER_DEFAULTS, &size);
    static const unsigned char bytes[] = {0, 0, 0, 0x40, 0xff, 0xff};
    assert_int_equal(size, sizeof bytes);
    assert_memory_equal(defaults, bytes, sizeof bytes);
    text_compile_free(b.c);
}

static void strings_are_stored_once(void **state)
{
    (void)state;
    size_t size = 0;
    struct built b = build("sim4");
    const char *strings = section(&b, CONTAINER_STRINGS, &size);
    assert_int_equal(strings[0], 0);
    assert_int_equal(strings[size - 1], 0);
    for (size_t i = 1; i < size; i += strlen(strings + i) + 1) {
        for (size_t n = i + strlen(strings + i) + 1; n < size; n += strlen(strings + n) + 1) {
            assert_string_not_equal(strings + i, strings + n);
        }
    }
    text_compile_free(b.c);
}

static void equal_input_gives_an_equal_file(void **state)
{
    (void)state;
    struct built a = build("sim16"), b = build("sim16");
    assert_int_equal(a.file.size_bytes, b.file.size_bytes);
    assert_memory_equal(a.file.bytes, b.file.bytes, a.file.size_bytes);
    text_compile_free(a.c);
    text_compile_free(b.c);
}

static char *program_text(const struct sched_program *program)
{
    char *found = NULL;
    size_t size = 0;
    struct sched_error error;
    FILE *to = open_memstream(&found, &size);
    assert_true(sched_disassemble(to, program, &error));
    fclose(to);
    return found;
}

/* One set for each importance: 9, then 0. */
static const char loop[] = "L1:\n    ends\n"
                           "    round_robin 0, L2\n    dispatch\n    jump L1\n"
                           "L2:\n    round_robin 1, L3\n    dispatch\n    jump L1\n"
                           "L3:\n    wait L1\n    halt\n";

static void stages_side_by_side_are_partitioned_and_bound(void **state)
{
    (void)state;
    struct built b = build("sim4");
    char *found = program_text(b.program);
    assert_non_null(strstr(found, ".stages 3\n.set 0: 1\n.set 1: 0 2\n    partition_"));
    assert_non_null(strstr(found, "    bind 0, 0\n    bind 1, 1\n    bind 2, 2\nL1:"));
    assert_non_null(strstr(found, loop));
    free(found);
    text_compile_free(b.c);
}

/* The program begins with `partition` where the stages have these shares of the device. */
static void expect_partition(struct built *b, const struct devdesc *device, uint32_t *shares,
                             uint32_t count, const char *partition)
{
    b->plan->device = device;
    b->plan->sub_devices = shares;
    b->plan->sub_device_count = count;
    plan_choose_partition(b->plan);
    char *found = program_text(sched_emit(&b->c->cx, b->c->graph, b->plan));
    if (strstr(found, partition) == NULL) print_message("%s", found);
    assert_non_null(strstr(found, partition));
    free(found);
}

static void the_partition_follows_from_the_shares(void **state)
{
    (void)state;
    struct built b = build("sim4");
    struct devdesc device = *b.plan->device; /* L2 of 2 CUs, L1 of 1 */
    uint32_t ones[] = {1, 1, 1, 1}, halves[] = {2, 2}, uneven[] = {1, 3};
    expect_partition(&b, &device, ones, 4, "    partition_affinity l1, 1\n");
    expect_partition(&b, &device, halves, 2, "    partition_affinity l2, 2\n");
    expect_partition(&b, &device, uneven, 2, "    partition_counts 1 3\n");
    expect_partition(&b, &device, ones, 3, "    partition_counts 1 1 1\n");
    device.cus_per_domain[DEVDESC_L3] = 2; /* of two levels the narrower */
    expect_partition(&b, &device, halves, 2, "    partition_affinity l2, 2\n");
    device.cus_per_domain[DEVDESC_L2] = 0;
    expect_partition(&b, &device, halves, 2, "    partition_affinity l3, 2\n");
    device.schemes = DEVDESC_EQUALLY | DEVDESC_BY_COUNTS;
    expect_partition(&b, &device, halves, 2, "    partition_equally 2\n");
    device.schemes = DEVDESC_BY_COUNTS;
    expect_partition(&b, &device, halves, 2, "    partition_counts 2 2\n");
    text_compile_free(b.c);
}

static void stages_in_sequence_use_the_whole_device(void **state)
{
    (void)state;
    struct built b = build("sim1");
    char *found = program_text(b.program);
    assert_null(strstr(found, "partition"));
    assert_non_null(strstr(found, "    packets condensed\n    bind_root 0\n"));
    assert_non_null(strstr(found, "    bind_root 1\n"));
    assert_null(strstr(found, "    bind 0, "));
    assert_non_null(strstr(found, "    load_reference "));
    free(found);
    text_compile_free(b.c);
}

/* ---- index memory ---- */

/* Three kernels with groups: b is launched eight times an iteration, a and c once. */
static const char groups[] =
    "kernel a(in i32 x pop 64, out i32 y push 64) group 8x8 { y[item.y * 8 + item.x] ="
    " x[item.x * 8 + item.y]; }\n"
    "kernel b(in i32 x pop 8, out i32 y push 8) group 4x2 { y[item.y * 4 + item.x] ="
    " x[item.x * 2 + item.y]; }\n"
    "kernel c(in i32 x pop 64, out i32 y push 64) group 4x4x4 { i32 n ="
    " (item.z * 4 + item.y) * 4 + item.x; y[n] = x[n]; }\n"
    "pipeline main(in i32 x, out i32 y) { x -> a -> b -> c -> y; }\n";

/* The plan for sim4 with other figures of the index generator; NULL after errors. */
static struct plan *plan_groups(struct text_compile *c, struct devdesc *device)
{
    struct compile *cx = &c->cx;
    amplify_infer_rates(cx, c->graph);
    range_check_bodies(cx, c->graph);
    cost_estimate(cx, c->graph);
    rate_solve(cx, c->graph);
    deadlock_check(cx, c->graph);
    bufsize_assign(cx, c->graph);
    struct plan *plan = plan_place(cx, c->graph, device);
    return diag_failed(cx->diags) ? NULL : plan;
}

static struct devdesc device_of(uint64_t memory_bytes, uint64_t shared_below, uint32_t launches)
{
    struct devdesc device;
    assert_true(devdesc_builtin("sim4", &device));
    device.index_memory_bytes = memory_bytes;
    device.index_shared_below_bytes = shared_below;
    device.index_dedicated_launches = launches;
    return device;
}

/* Places of a, b and c: own entries have a minus. */
static void expect_places(struct devdesc device, int a, int b, int c)
{
    const int wanted[] = {a, b, c};
    struct text_compile *text = text_compile(groups);
    struct plan *plan = plan_groups(text, &device);
    assert_non_null(plan);
    assert_int_equal(plan->index_count, 3);
    for (int i = 0; i < 3; i++) {
        const struct plan_index *index = &plan->indices[i];
        assert_int_equal(index->address_bytes, wanted[i] < 0 ? -wanted[i] - 1 : wanted[i]);
        assert_int_equal(index->dedicated, wanted[i] < 0);
    }
    text_compile_free(text);
}

static void kernels_launched_often_have_index_memory_of_their_own(void **state)
{
    (void)state;
    expect_places(device_of(4096, 0, 2), 16, -1, 16);    /* only b is launched often */
    expect_places(device_of(4096, 0, 1), -17, -1, -145); /* all are */
    expect_places(device_of(4096, 0, 9), 0, 0, 0);       /* none is */
    expect_places(device_of(4096, 4097, 1), 0, 0, 0);    /* too little memory for that */
    expect_places(device_of(4096, 4096, 1), -17, -1, -145);
    expect_places(device_of(143, 0, 1), 0, 0, 0); /* no room beside the largest */
    expect_places(device_of(144, 0, 1), 16, -1, 16);
    expect_places(device_of(272, 0, 1), -17, -1, -145);
    expect_places(device_of(271, 0, 1), 16, -1, 16);
}

static void expect_refused(struct devdesc device, const char *message)
{
    struct text_compile *text = text_compile(groups);
    assert_null(plan_groups(text, &device));
    char *messages = text_compile_messages(text);
    if (strstr(messages, message) == NULL) fail_msg("%s", messages);
    free(messages);
    text_compile_free(text);
}

static void groups_that_the_index_generator_cannot_hold_are_refused(void **state)
{
    (void)state;
    struct devdesc device = device_of(127, 0, 2);
    expect_refused(device, "the indices of 'a' take 128 bytes, the index memory of device 'sim4' "
                           "has 127");
    device = device_of(4096, 0, 2);
    device.index_register_bits = 5;
    expect_refused(device, "the indices of 'c' take 6 bits, the registers of device 'sim4' have 5");
}

TEST_MAIN("container_write", cmocka_unit_test(the_layout_is_as_documented),
          cmocka_unit_test(the_graph_can_be_read_back),
          cmocka_unit_test(initial_packets_and_defaults_are_bytes),
          cmocka_unit_test(strings_are_stored_once),
          cmocka_unit_test(equal_input_gives_an_equal_file),
          cmocka_unit_test(stages_side_by_side_are_partitioned_and_bound),
          cmocka_unit_test(the_partition_follows_from_the_shares),
          cmocka_unit_test(stages_in_sequence_use_the_whole_device),
          cmocka_unit_test(kernels_launched_often_have_index_memory_of_their_own),
          cmocka_unit_test(groups_that_the_index_generator_cannot_hold_are_refused))
