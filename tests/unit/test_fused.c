/* SPDX-License-Identifier: MIT */
/* Nodes of the program that are parts of a stage: which records the loader refuses, and what a run reports of them. */
#include "tests/test.h"

#include "runtime/host/pipert.h"
#include "runtime/verify/verify.h"
#include "tests/conform/made_container.h"
#include "tests/conform/pipelines.h"

/* x -> whole (4:2) -> y.  It is u (1:1), h, and v (2:1); u has a finish that appends up to 3 packets. */
static struct made *whole(void)
{
    struct made *m = made_create("whole", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    uint32_t node = made_node(m, "u+v", CONTAINER_NODE_FINISH | CONTAINER_NODE_FUSED);
    made_input(m, node, x, 4, 4);
    made_output(m, node, y, 2, 2);
    m->fused_nodes[0] = (struct container_fused_node){.name = made_string(m, "u"),
                                                      .input_count = 1,
                                                      .flags = CONTAINER_FUSED_SEES_TAIL,
                                                      .firings = 4};
    m->fused_nodes[1] = (struct container_fused_node){
        .name = made_string(m, "v"), .first_input = 1, .input_count = 1, .firings = 2};
    m->fused_inputs[0] =
        (struct container_fused_input){.buffer = CONTAINER_NONE, .pop = 1, .peek = 1};
    m->fused_inputs[1] =
        (struct container_fused_input){.input = CONTAINER_NONE, .pop = 2, .peek = 2};
    m->fused_buffers[0] = (struct container_fused_buffer){
        .name = made_string(m, "h"), .buffer = 1, .push = 1, .finish_max = 3};
    m->fused_node_count = m->fused_input_count = 2;
    m->fused_buffer_count = 1;
    made_loop(m);
    made_settle(m);
    return m;
}

/* ---- the loader ---- */

static void expect(struct made *m, enum prt_status status, const char *message)
{
    struct prt_error error;
    enum prt_status got = made_verify(m, &error);
    if (got != status) fail_msg("%s: %s, %s", message, prt_status_name(got), error.message);
    if (strstr(error.message, message) == NULL) fail_msg("%s, and not %s", error.message, message);
}

#define REFUSED(status, field, value, message)                                                     \
    do {                                                                                           \
        struct made *m = whole();                                                                  \
        m->field = (value);                                                                        \
        expect(m, status, message);                                                                \
    } while (0)

static void records_of_fused_nodes_are_within_their_tables(void **unused)
{
    (void)unused;
    expect(whole(), PRT_OK, "");
    REFUSED(PRT_E_FORMAT, fused_nodes[1].name, 1 << 20, "a string outside the section 'strings'");
    REFUSED(PRT_E_FORMAT, fused_nodes[1].node, 1, "an unknown node");
    REFUSED(PRT_E_FORMAT, fused_nodes[1].first_input, 0, "do not follow those of the node before");
    REFUSED(PRT_E_FORMAT, fused_nodes[1].input_count, 2, "do not follow those of the node before");
    REFUSED(PRT_E_FORMAT, fused_nodes[1].input_count, UINT32_MAX,
            "do not follow those of the node");
    REFUSED(PRT_E_FORMAT, fused_nodes[1].flags, 2, "unknown flags");
    REFUSED(PRT_E_FORMAT, fused_nodes[1].reserved, 1, "a reserved field is not zero");
    REFUSED(PRT_E_FORMAT, fused_node_count, 1,
            "section 'fused_inputs', record 1: belongs to no node");
    REFUSED(PRT_E_FORMAT, fused_inputs[0].input, 1, "neither an input nor a fused buffer");
    REFUSED(PRT_E_FORMAT, fused_inputs[0].buffer, 0,
            "neither an input nor a fused buffer, or both");
    REFUSED(PRT_E_FORMAT, fused_inputs[1].buffer, 1, "neither an input nor a fused buffer");
    REFUSED(PRT_E_FORMAT, fused_inputs[1].buffer, CONTAINER_NONE, "neither an input nor a fused");
    REFUSED(PRT_E_FORMAT, fused_buffers[0].name, 1 << 20, "a string outside the section 'strings'");
    REFUSED(PRT_E_FORMAT, fused_buffers[0].writer, 2, "an unknown writer");
    REFUSED(PRT_E_FORMAT, fused_buffers[0].buffer, 3, "an unknown buffer");
    REFUSED(PRT_E_FORMAT, fused_buffers[0].flags, 4, "unknown flags");
    struct made *m = whole();
    m->fused_buffers[0].buffer = 2; /* after the last one */
    expect(m, PRT_OK, "");
    m = whole();
    m->fused_buffers[0].buffer = 2;
    m->fused_buffers[0].flags = CONTAINER_FUSED_BUFFER_KEPT;
    expect(m, PRT_E_FORMAT, "an unknown buffer");
}

static void rates_of_fused_nodes_are_those_of_their_node(void **unused)
{
    (void)unused;
    REFUSED(PRT_E_VERIFY, nodes[0].flags, CONTAINER_NODE_FINISH, "node 'u+v' stands for no others");
    REFUSED(PRT_E_VERIFY, fused_nodes[1].firings, 0, "it never fires");
    REFUSED(PRT_E_VERIFY, fused_nodes[0].firings, 2, "2 firings that pop 1 packets");
    REFUSED(PRT_E_VERIFY, fused_nodes[0].firings, UINT64_MAX, "where their node pops 4");
    REFUSED(PRT_E_VERIFY, fused_nodes[1].firings, 1, "does not read what it writes to 'h'");
    REFUSED(PRT_E_VERIFY, fused_inputs[1].pop, 0, "it pops nothing");
    REFUSED(PRT_E_VERIFY, fused_inputs[1].peek, 1, "or more than it sees");
    REFUSED(PRT_E_VERIFY, fused_buffers[0].push, 0, "nothing is written to 'h'");
    REFUSED(PRT_E_VERIFY, fused_buffers[0].push, UINT64_MAX, "does not read what it writes to 'h'");
    REFUSED(PRT_E_VERIFY, fused_buffers[0].finish_max, UINT64_MAX, "cannot report so much");
    REFUSED(PRT_E_VERIFY, fused_buffers[0].finish_max, INT64_MAX, "cannot report so much");
    struct made *m = whole();
    m->nodes[0].flags = CONTAINER_NODE_FUSED;
    m->outputs[0].finish_max = 0;
    expect(m, PRT_E_VERIFY, "node 'u+v' has no finish");
    m = whole();
    m->nodes[0].flags = CONTAINER_NODE_FUSED;
    m->outputs[0].finish_max = m->fused_buffers[0].finish_max = 0;
    expect(m, PRT_E_VERIFY, "its finish sees no packets");
    m = whole();
    m->fused_nodes[0].input_count = 2; /* v's, too */
    m->fused_node_count = 1;
    expect(m, PRT_E_VERIFY, "its finish sees no packets");
    m = whole();
    m->fused_nodes[1].input_count = 0;
    m->fused_input_count = 1;
    expect(m, PRT_E_VERIFY, "or reads nothing");
    m = whole();
    m->fused_nodes[1].firings = UINT64_MAX / 2 + 1; /* times 2 is 0 */
    m->fused_buffers[0].push = UINT64_MAX / 4 + 1;  /* so is 4 times that */
    expect(m, PRT_E_VERIFY, "does not read what it writes to 'h'");
}

/* Products that wrap around to the number that would be right. */
static void products_of_fused_nodes_do_not_wrap_around(void **unused)
{
    (void)unused;
    struct made *m = whole();
    m->fused_inputs[0].pop = m->fused_inputs[0].peek = 4;
    m->fused_nodes[0].firings = (UINT64_C(1) << 62) + 1;
    expect(m, PRT_E_VERIFY, "firings that pop 4 packets, where their node pops 4");
    m = whole();
    m->fused_nodes[1].firings = (UINT64_C(1) << 63) + 2;
    expect(m, PRT_E_VERIFY, "does not read what it writes to 'h'");
    m = whole();
    m->fused_buffers[1] = m->fused_buffers[0];
    m->fused_buffers[0].finish_max = m->fused_buffers[1].finish_max = UINT32_MAX;
    m->fused_buffer_count = 2;
    expect(m, PRT_E_VERIFY, "cannot report so much");
    m = whole();
    m->fused_buffers[1] = m->fused_buffers[0];
    m->fused_buffers[0].push = 0; /* the first of two is refused */
    m->fused_buffer_count = 2;
    expect(m, PRT_E_VERIFY, "nothing is written to 'h'");
}

/* Another node reads x, too.  Only if it is made of parts, a part of `whole` may read what it reads. */
static void fused_nodes_read_through_nodes_that_are_made_of_parts(void **unused)
{
    (void)unused;
    for (int made = 0; made < 2; made++) {
        struct made *m = whole();
        uint32_t z = made_buffer(m, "z", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
        uint32_t node = made_node(m, "other", made ? CONTAINER_NODE_FUSED : 0);
        made_input(m, node, 0, 1, 1);
        made_output(m, node, z, 1, 0);
        m->fused_inputs[0].input = 1;
        made_loop(m);
        made_settle(m);
        expect(m, made ? PRT_OK : PRT_E_VERIFY, made ? "" : "node 'other' stands for no others");
    }
}

static void fused_windows_move_by_one_packet(void **unused)
{
    (void)unused;
    for (int wrong = 0; wrong < 3; wrong++) {
        struct made *m = whole();
        m->buffers[0].row_packets = 8;
        m->inputs[0].window_width = m->inputs[0].window_height = 1;
        m->inputs[0].pop = m->inputs[0].peek = 1;
        m->fused_nodes[0].firings = m->fused_nodes[1].firings = 1;
        m->fused_inputs[1].pop = 1;
        if (wrong == 1) m->fused_inputs[0].pop = m->fused_inputs[0].peek = 2;
        if (wrong == 2) m->fused_inputs[0].peek = 2;
        made_settle(m);
        expect(m, wrong ? PRT_E_VERIFY : PRT_OK, wrong ? "a window, and pop or peek" : "");
    }
}

static void kept_buffers_are_those_of_the_node(void **unused)
{
    (void)unused;
    for (int wrong = 0; wrong < 3; wrong++) {
        struct made *m = whole();
        m->fused_buffers[0].flags = CONTAINER_FUSED_BUFFER_KEPT;
        if (wrong == 1) m->fused_buffers[0].buffer = 0;
        if (wrong == 2) m->fused_buffers[0].initial_packets = 1;
        expect(m, wrong ? PRT_E_VERIFY : PRT_OK,
               wrong ? "has another writer, or other initial packets" : "");
    }
}

static void fused_buffers_are_in_order(void **unused)
{
    (void)unused;
    for (uint32_t first = 0; first < 3; first++) {
        struct made *m = whole();
        m->fused_buffers[1] = m->fused_buffers[0];
        m->fused_buffers[0].buffer = first;
        m->fused_buffer_count = 2;
        expect(m, first <= 1 ? PRT_OK : PRT_E_VERIFY,
               first <= 1 ? "" : "'h' is declared before the one before it");
    }
}

/* The numbers of all buffers of a node are one report, of 63 bits. */
static void reports_of_a_finish_have_room(void **unused)
{
    (void)unused;
    for (uint64_t most = 0; most < 2; most++) {
        struct made *m = whole();
        m->fused_buffers[1] = m->fused_buffers[0];
        m->fused_buffers[1].finish_max = (UINT64_C(1) << 60) - 1 + most;
        m->fused_buffers[0].finish_max = 6;
        m->fused_buffer_count = 2;
        expect(m, PRT_OK, "");
        m = whole();
        m->fused_buffers[1] = m->fused_buffers[0];
        m->fused_buffers[1].finish_max = (UINT64_C(1) << 60) - 1 + most;
        m->fused_buffers[0].finish_max = 7;
        m->fused_buffer_count = 2;
        expect(m, PRT_E_VERIFY, "cannot report so much");
    }
    REFUSED(PRT_OK, fused_buffers[0].finish_max, INT64_MAX - 1, "");
    REFUSED(PRT_E_VERIFY, fused_buffers[0].finish_max, INT64_MAX, "cannot report so much");
}

/* ---- the report ---- */

static uint64_t finish_report;

static int32_t run_whole(const struct kernel_batch *batch)
{
    int32_t *y = batch->out[0];
    memset(y, 0, 2 * batch->count * sizeof *y);
    return KERNEL_OK;
}

static int32_t finish_whole(const struct kernel_batch *batch)
{
    batch->produced[0] = 0;
    *batch->completed = finish_report;
    return KERNEL_OK;
}

struct source {
    size_t count;
};

static enum prt_status give(void *context, void *packets, size_t room, size_t *count,
                            struct prt_error *error)
{
    struct source *source = context;
    (void)error;
    *count = source->count < room ? source->count : room;
    memset(packets, 0, *count * sizeof(int32_t));
    source->count -= *count;
    return PRT_OK;
}

static struct prt_run *run_with(struct prt_program *program, size_t count)
{
    struct prt_run_options options = {.host_threads = 1};
    struct source x = {count};
    struct prt_run *run;
    assert_int_equal(prt_run_create(program, &options, &run, NULL), PRT_OK);
    assert_int_equal(prt_run_bind_input(run, prt_program_find_port(program, "x"), give, &x, NULL),
                     PRT_OK);
    assert_int_equal(prt_run_execute(run, NULL), PRT_OK);
    return run;
}

/* u fires `count` times, and its finish appends the lowest digit of the report, at most 3: v leaves what is odd. */
static void a_finish_reports_what_it_appends_inside(void **unused)
{
    (void)unused;
    static const uint64_t reports[] = {0, 1, 2, 3, 4, 7, UINT64_MAX};
    for (size_t count = 1; count <= 70; count += 23) {
        for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
            const struct prt_image_kernel kernel = {.run = run_whole, .finish = finish_whole};
            struct prt_program *program = pipelines_load(whole(), &kernel);
            struct prt_leftover_statistics of_h, of_x;
            struct prt_run_statistics all;
            finish_report = reports[i];
            struct prt_run *run = run_with(program, count);
            assert_true(prt_run_leftover(run, 0, &of_x));
            assert_true(prt_run_leftover(run, 1, &of_h));
            assert_string_equal(of_x.buffer, "x");
            assert_string_equal(of_h.buffer, "h");
            assert_true(of_h.inside && !of_x.inside);
            assert_int_equal(of_x.few_packets, 0); /* u's finish has seen them */
            assert_int_equal(of_h.few_packets, (count + reports[i] % 4) % 2);
            prt_run_statistics(run, &all);
            assert_int_equal(all.leftover_packets, of_h.few_packets);
            assert_true(prt_run_leftover(run, 2, &of_h));
            assert_string_equal(of_h.buffer, "y");
            assert_int_equal(of_h.port, prt_program_find_port(program, "y"));
            assert_false(prt_run_leftover(run, 3, &of_h));
            prt_run_destroy(run);
            prt_program_free(program);
        }
    }
}

/* v also reads g, which it writes, and lacks a packet there: each pass over the records takes one firing away.  No compiler
 * makes such a cycle.  `packets` are in h at first. */
static struct prt_leftover_statistics of_h_beside_a_cycle(uint64_t packets)
{
    struct made *m = whole();
    m->fused_nodes[1].input_count = 2;
    m->fused_inputs[2] =
        (struct container_fused_input){.input = CONTAINER_NONE, .buffer = 1, .pop = 1, .peek = 2};
    m->fused_buffers[1] = (struct container_fused_buffer){
        .name = made_string(m, "g"), .buffer = 2, .writer = 1, .push = 1};
    m->fused_buffers[0].initial_packets = packets;
    m->fused_input_count = 3;
    m->fused_buffer_count = 2;
    const struct prt_image_kernel kernel = {.run = run_whole, .finish = finish_whole};
    struct prt_program *program = pipelines_load(m, &kernel);
    struct prt_leftover_statistics of_h;
    finish_report = 0;
    struct prt_run *run = run_with(program, 7);
    assert_true(prt_run_leftover(run, 1, &of_h));
    prt_run_destroy(run);
    prt_program_free(program);
    return of_h;
}

static void the_work_for_leftover_packets_is_bounded(void **unused)
{
    (void)unused;
    struct prt_leftover_statistics of_h = of_h_beside_a_cycle(1000);
    assert_int_equal(of_h.stranded_packets, 1007);
    of_h = of_h_beside_a_cycle(UINT64_C(1) << 40);
    assert_int_equal(of_h.stranded_packets + of_h.few_packets, 0);
}

TEST_MAIN("fused", cmocka_unit_test(records_of_fused_nodes_are_within_their_tables),
          cmocka_unit_test(rates_of_fused_nodes_are_those_of_their_node),
          cmocka_unit_test(products_of_fused_nodes_do_not_wrap_around),
          cmocka_unit_test(fused_nodes_read_through_nodes_that_are_made_of_parts),
          cmocka_unit_test(fused_windows_move_by_one_packet),
          cmocka_unit_test(kept_buffers_are_those_of_the_node),
          cmocka_unit_test(fused_buffers_are_in_order),
          cmocka_unit_test(reports_of_a_finish_have_room),
          cmocka_unit_test(a_finish_reports_what_it_appends_inside),
          cmocka_unit_test(the_work_for_leftover_packets_is_bounded))
