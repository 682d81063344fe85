/* SPDX-License-Identifier: MIT */
/* The meaning of a container: each rule has an edit that breaks it. */
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>

#include "lang/index_format.h"
#include "lang/window.h"
#include "runtime/verify/verify.h"
#include "tests/conform/made_container.h"

/* x -> a (1:2) -> t -> b (3:1, peeks 4) -> y; a is fired 3 times an iteration, b twice */
static struct made *good(void)
{
    struct made *m = made_create("good", "sim16");
    int32_t seven = 7;
    made_argument(m, "gain", SCALAR_I32, &seven);
    made_argument(m, "bias", SCALAR_I64, NULL);
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    made_initial(m, t, 1, &seven, sizeof seven);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 1, 1);
    made_output(m, a, t, 2, 0);
    uint32_t b = made_node(m, "b", CONTAINER_NODE_FINISH);
    made_input(m, b, t, 3, 4);
    made_output(m, b, y, 1, 5);
    m->nodes[a].repetitions = 3;
    m->nodes[b].repetitions = 2;
    made_loop(m);
    made_settle(m);
    return m;
}

static void expect_refusal(struct made *m, const char *what, const char *message)
{
    struct prt_error error;
    if (made_verify(m, &error) != PRT_E_VERIFY)
        fail_msg("%s: not refused: %s", what, error.message);
    if (strstr(error.message, message) == NULL) fail_msg("%s: %s", what, error.message);
    assert_int_not_equal(error.offset, PRT_NO_OFFSET);
}

static void good_containers_pass(void **unused)
{
    (void)unused;
    struct prt_error error;
    assert_int_equal(made_verify(good(), &error), PRT_OK);
    struct made *m = good();
    made_side_by_side(m);
    assert_int_equal(made_verify(m, &error), PRT_OK);
    m = good();
    made_groups(m, 1, 16); /* the whole device as one sub-device */
    assert_int_equal(made_verify(m, &error), PRT_OK);
}

#define REFUSED(field, value, message)                                                             \
    do {                                                                                           \
        struct made *m = good();                                                                   \
        m->field = (value);                                                                        \
        expect_refusal(m, #field, message);                                                        \
    } while (0)

static void graphs_that_do_not_hold_together_are_refused(void **unused)
{
    (void)unused;
    REFUSED(arguments[1].offset_bytes, 0, "'bias' overlaps");
    REFUSED(arguments[1].name, m->arguments[0].name, "'gain' is not unique");
    REFUSED(buffers[2].name, m->buffers[0].name, "'x' is not unique");
    REFUSED(buffers[2].name, 0, "not unique");
    REFUSED(nodes[1].first_input, 0, "do not follow");
    REFUSED(nodes[1].first_output, 0, "do not follow");
    REFUSED(nodes[1].input_count, 0, "belongs to no node");
    REFUSED(nodes[0].output_count, 0, "do not follow");
    REFUSED(nodes[0].repetitions, 0, "0 repetitions");
    REFUSED(nodes[1].warp_firings, 0, "0 firings in a warp");
    REFUSED(nodes[1].warp_firings, 1025, "1025 firings in a warp");
    REFUSED(nodes[1].firing_warps, 0, "0 warps in a firing");
    REFUSED(nodes[1].firing_warps, 65537, "65537 warps in a firing");
    REFUSED(nodes[1].registers, 65537, "a work-item of 'b' has 65537 registers");
    REFUSED(nodes[0].repetitions, UINT64_MAX, "repetitions");
    REFUSED(nodes[0].repetitions, 4, "'t' does not balance: 'a' writes 4 x 2, 'b' takes 2 x 3");
    REFUSED(inputs[1].reader, 0, "is not one of buffer 't'");
    REFUSED(inputs[1].buffer, 0, "its reader is not one of buffer 'x'");
    REFUSED(inputs[1].pop, 0, "pop 0, peek 4");
    REFUSED(inputs[1].peek, 2, "pop 3, peek 2");
    REFUSED(inputs[1].peek, 17, "a firing sees 17 packets, buffer 't' holds 16");
    REFUSED(outputs[0].push_least = m->outputs[0].push, 0, "writes nothing into buffer 't'");
    REFUSED(outputs[0].push, 1, "writes at least 2 and at most 1 packets");
    REFUSED(outputs[0].push, 17, "writes 17 packets, buffer 't' holds 16");
    REFUSED(outputs[1].finish_max, 9, "finish writes up to 9");
    REFUSED(outputs[0].finish_max, (m->nodes[0].flags |= CONTAINER_NODE_FINISH, 14),
            "'t' holds 16 packets: too few for the 14 of a finish while 'b' keeps 3");
    REFUSED(outputs[0].buffer, 2, "buffer 'y' has another writer");
    REFUSED(buffers[1].writer_node, CONTAINER_NONE, "another writer");
    REFUSED(buffers[1].writer_output, 1, "another writer");
    REFUSED(buffers[0].outer, CONTAINER_INNER, "'x' has no writer");
    REFUSED(buffers[1].outer, CONTAINER_OUTER_IN, "in-port 't' has a writer");
    REFUSED(buffers[1].outer, CONTAINER_OUTER_OUT, "out-port 't' has a reader");
    REFUSED(buffers[2].outer, CONTAINER_INNER, "'y' has no reader");
    REFUSED(buffers[1].first_reader, 0, "its reader is not one of");
    REFUSED(buffers[1].initial_packets, 17, "begins with 17 packets and holds 16");
    REFUSED(buffers[1].initial_packets, 0, "initial packets of 't'");
    REFUSED(buffers[1].initial_size_bytes, 0, "initial packets of 't'");
    REFUSED(buffers[1].initial_size_bytes, 3, "initial packets of 't'");
    REFUSED(buffers[1].initial_size_bytes, (m->initials_bytes = 8), "or too many");
    REFUSED(readers[1].node, 0, "its reader belongs to another input");
    REFUSED(readers[1].input, 0, "its reader belongs to another input");
    REFUSED(pipeline.arguments_bytes, (m->defaults_bytes = 24), "the arguments take 16");
    REFUSED(arguments[0].shape, made_string(m, "2"), "the shape '2' is not that of 1 scalars");
    REFUSED(arguments[0].lanes, 2, "with 2 lanes");
    REFUSED(arguments[0].has_default, 0, "has no default, and bytes of one");
    REFUSED(arguments[1].property, (m->arguments[1].buffer = 1, CONTAINER_PROPERTY_WIDTH),
            "is no number that an in-port knows");
    REFUSED(pipeline.memory_bytes, 1, "memory_bytes is 1, the buffers take 64");
    REFUSED(stages[1].node, 0, "node 'a' has two stages");
    REFUSED(stages[0].batch_max, 9, "9 firings of 'a'");
    REFUSED(stages[1].batch_max, 6, "6 firings of 'b' see more packets than buffer 't' holds (16)");
    REFUSED(stages[1].batch_max, (m->inputs[1].peek = 5), "5 firings of 'b' see more packets");
}

static void packs_have_no_gaps_and_different_entries(void **unused)
{
    (void)unused;
    struct made *m;
#define REFUSED_AFTER(change, reason)                                                              \
    m = good();                                                                                    \
    m->stages[1].pack = 0;                                                                         \
    m->stages[1].place = 1;                                                                        \
    m->stages[0].flags = 0;                                                                        \
    m->stages[0].entry = 0;                                                                        \
    m->stages[1].entry = 1;                                                                        \
    change;                                                                                        \
    expect_refusal(m, #change, reason)
    REFUSED_AFTER(m->stages[1].place = 0, "place 0 of pack 0 is taken");
    REFUSED_AFTER((m->stages[0].flags = CONTAINER_STAGE_ENDS_PACK, m->stages[1].pack = 1),
                  "place 1 of a pack of 1 stages");
    REFUSED_AFTER((m->stages[0].pack = 1, m->stages[1].pack = 1), "there is no pack 0");
    REFUSED_AFTER(m->stages[0].flags = CONTAINER_STAGE_ENDS_PACK, "ends its pack, but is not");
    REFUSED_AFTER(m->stages[1].flags = 0, "the last of its pack does not end it");
    REFUSED_AFTER(m->stages[1].entry = CONTAINER_NONE, "a stage of a pack without reference entry");
    REFUSED_AFTER(m->stages[1].entry = 0, "reference entry 0 belongs to another stage");
    REFUSED_AFTER(m->stages[0].flags |= CONTAINER_STAGE_SPILLED, "entry 0 belongs to no stage");
#undef REFUSED_AFTER
}

static void a_default_that_is_no_truth_value_is_refused(void **unused)
{
    (void)unused;
    struct made *m = good();
    const uint8_t two = 2;
    made_argument(m, "flag", SCALAR_BOOL, &two);
    expect_refusal(m, "default", "the default of 'flag' is neither true nor false");
    const uint8_t one = 1;
    struct prt_error error;
    m = good();
    made_argument(m, "flag", SCALAR_BOOL, &one);
    assert_int_equal(made_verify(m, &error), PRT_OK);
    m = good();
    made_argument(m, "flag", SCALAR_BOOL, NULL);
    assert_int_equal(made_verify(m, &error), PRT_OK);
    m = good();
    made_argument(m, "flag", SCALAR_BOOL, NULL);
    m->defaults[m->defaults_bytes - 1] = 1;
    expect_refusal(m, "default", "'flag' has no default, and bytes of one");
}

static void a_node_without_a_stage_is_refused(void **unused)
{
    (void)unused;
    struct made *m = good();
    m->stage_count = 1;
    m->sets[0] = 1;
    m->sets_words = 2;
    expect_refusal(m, "stage_count", "1 stages for 2 nodes");
}

static void balances_that_overflow_64_bits_are_computed(void **unused)
{
    (void)unused;
    /* 2^62 x 8 == 2^1 x 2^64 in 64 bits: only in 128 it is seen that they differ */
    struct made *m = good();
    m->nodes[0].repetitions = UINT64_C(1) << 62;
    m->nodes[1].repetitions = (UINT64_C(1) << 62) + 1;
    expect_refusal(m, "repetitions", "does not balance");
}

static void programs_that_could_go_wrong_are_refused(void **unused)
{
    (void)unused;
#define BINDS "bind_root 0\n bind_root 1\n"
#define LOOP "L1: ends\n round_robin 0, L2\n dispatch\n jump L1\nL2: wait L1\n halt\n"
    const struct {
        const char *text, *message;
    } cases[] = {
        {"bind_root 0\n" LOOP, "stage 1 is not bound before this"},
        {LOOP, "stage 0 is not bound"},
        {BINDS "bind_root 0\n" LOOP, "stage 0 is bound already"},
        {"bind 0, 0\n bind_root 1\n" LOOP, "there is no sub-device 0"},
        {"partition_counts 1 1\n bind 0, 0\n bind 1, 2\n" LOOP, "there is no sub-device 2"},
        {"partition_counts 1 1\n bind 0, 0\n bind_root 1\n" LOOP, "whole device"},
        {"partition_counts 9 8\n bind 0, 0\n bind 1, 1\n" LOOP, "17 CUs, the device has 16"},
        {"partition_counts 0 8\n bind 0, 0\n bind 1, 1\n" LOOP, "0 CUs"},
        {"partition_equally 0\n bind 0, 0\n bind 1, 0\n" LOOP, "the device has 16 CUs"},
        {"partition_equally 9\n bind 0, 0\n bind 1, 0\n" LOOP, "makes two sub-devices or more"},
        {"partition_equally 16\n bind 0, 0\n bind 1, 0\n" LOOP, "the device has 16 CUs"},
        {"partition_equally 17\n bind 0, 0\n bind 1, 0\n" LOOP, "the device has 16 CUs"},
        {"partition_affinity l3, 0\n bind 0, 0\n bind 1, 0\n" LOOP, "two or more domains of 0"},
        {"partition_affinity l3, 16\n bind 0, 0\n bind 1, 0\n" LOOP, "two or more domains of 16"},
        {"partition_affinity l3, 5\n bind 0, 0\n bind 1, 1\n" LOOP, "two or more domains of 5"},
        {"partition_affinity l3, 8\n bind 0, 0\n bind 1, 2\n" LOOP, "there is no sub-device 2"},
        {"partition_affinity l3, 8\n partition_equally 8\n bind 0, 0\n bind 1, 1\n" LOOP, "second"},
        {"partition_equally 8\n bind 0, 0\n bind 1, 2\n" LOOP, "there is no sub-device 2"},
        {"partition_equally 8\n partition_equally 8\n bind 0, 0\n bind 1, 1\n" LOOP, "second"},
        {BINDS
         "L1: ends\n round_robin 0, L2\n dispatch\n jump L1\nL2: wait L1\n bind_root 0\n halt\n",
         "only at the beginning"},
        {BINDS "L1: ends\n dispatch\n wait L1\n halt\n", "no stage has been selected"},
        {BINDS "L1: ends\n round_robin 0, L2\n ends\n dispatch\nL2: wait L1\n halt\n",
         "no stage has been selected"},
        {BINDS "L1: ends\n round_robin 0, L2\n dispatch\n dispatch\nL2: wait L1\n halt\n",
         "no stage has been selected"},
        {BINDS "L1: round_robin 0, L2\n dispatch\n jump L1\nL2: wait L1\n halt\n", "[halt]"},
        {BINDS "ends\nL1: round_robin 0, L2\n dispatch\n jump L1\nL2: wait L1\n halt\n", "[halt]"},
        {BINDS "L1: jump L1\n", "[idle-loop]"},
        {BINDS "L1: ends\n round_robin 0, L1\n dispatch\n wait L1\n halt\n", "[idle-loop]"},
        {BINDS "L1: ends\n wait L1\n jump L1\n", "[idle-loop]"},
        {BINDS "L1: ends\n round_robin 0, L2\n dispatch\n jump L1\nL2: wait L1\n",
         "runs off its end"},
        {BINDS "L1: ends\n wait L1\n halt\n", "[halt]"},
        {"bind_root 0\n", "stage 1 is not bound before this"},
        {BINDS, "runs off its end"},
        {"L0: bind_root 0\n bind_root 1\n L1: ends\n round_robin 0, L2\n dispatch\n jump L1\n"
         "L2: wait L0\n halt\n",
         "jumps back"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made *m = good();
        made_program(m, cases[i].text);
        expect_refusal(m, cases[i].text, cases[i].message);
    }
}

/* The names in a program, and their numbers. */
static void operands_of_one_stage_or_no_set_are_refused(void **unused)
{
    (void)unused;
    struct made *m = made_create("one", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    made_input(m, made_node(m, "a", 0), x, 1, 1);
    made_loop(m);
    made_settle(m);
    m->program[1] = 1; /* the stage of bind_root */
    expect_refusal(m, "stage", "there is no stage 1 (1 stage) [stage]");
    m = good();
    m->sets_words = 0;
    expect_refusal(m, "set", "there is no set 0 (0 sets) [set]");
}

/* x -> a (phases: pop 1, 2; push 2, 0..1) -> t -> b (pop 1, window 3x3 on rows of 4) -> y, and a
 * source s -> u -> drop. */
static struct made *wide(void)
{
    struct made *m = made_create("wide", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 3, 2);
    made_output(m, a, t, 3, 0);
    m->nodes[a].phases = 2;
    m->nodes[a].repetitions = 2;
    const uint64_t rates[] = {1, 2, 2, 2, 2, 0, 2, 1};
    m->inputs[0].rates = 0;
    m->outputs[0].rates = 4;
    m->outputs[0].push_least = 2;
    memcpy(m->rates, rates, sizeof rates);
    m->rate_count = 8;
    m->buffers[t].row_packets = 4;
    m->buffers[t].frame_rows = 3;
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, t, 1, 1);
    m->inputs[1].window_width = m->inputs[1].window_height = 3;
    made_output(m, b, y, 1, 0);
    uint32_t source = made_node(m, "s", CONTAINER_NODE_STOPS | CONTAINER_NODE_FINISH);
    made_output(m, source, u, 3, 5);
    m->outputs[2].push_least = 0;
    uint32_t drop = made_node(m, "drop", 0);
    made_input(m, drop, u, 1, 3);
    made_loop(m);
    m->stages[a].batch_max = 4;
    made_settle(m);
    return m;
}

#define WIDE_REFUSED(field, value, message)                                                        \
    do {                                                                                           \
        struct made *m = wide();                                                                   \
        m->field = (value);                                                                        \
        expect_refusal(m, #field, message);                                                        \
    } while (0)

static void rates_that_do_not_hold_together_are_refused(void **unused)
{
    (void)unused;
    struct prt_error error;
    if (made_verify(wide(), &error) != PRT_OK) fail_msg("%s", error.message);
    WIDE_REFUSED(nodes[0].repetitions, 3, "3 repetitions and 2 phases");
    WIDE_REFUSED(nodes[1].phases, 2, "2 phases");
    WIDE_REFUSED(nodes[0].phases, 3, "3 phases");
    WIDE_REFUSED(inputs[0].rates, 1, "do not follow those before");
    WIDE_REFUSED(inputs[0].rates, CONTAINER_NONE, "this end no rates of each");
    WIDE_REFUSED(inputs[1].rates, 0, "rates of several phases, the node has one");
    WIDE_REFUSED(outputs[0].rates, 0, "do not follow those before");
    WIDE_REFUSED(rate_count, 7, "run past the section");
    WIDE_REFUSED(rate_count, 9, "section 'rates', record 8: belongs to no end");
    WIDE_REFUSED(rates[1], 3, "in phase 1 pop is above peek");
    WIDE_REFUSED(rates[0], 0, "the phases do not pop 3 packets together");
    WIDE_REFUSED(rates[0], UINT64_MAX, "in phase 0 pop is above peek");
    WIDE_REFUSED(inputs[0].peek, 3, "the largest peek of a phase is not 3");
    WIDE_REFUSED(inputs[0].pop, 0, "pop 0, peek 2");
    WIDE_REFUSED(rates[5], 2, "in phase 1 the minimum push is above the maximum");
    WIDE_REFUSED(rates[4], 1, "do not push at least 2 packets");
    WIDE_REFUSED(rates[6], 3, "do not push at most 3 packets");
    WIDE_REFUSED(outputs[1].push_least, 2, "writes at least 2 and at most 1");
    WIDE_REFUSED(nodes[1].source_repetitions, (uint64_t)INT64_MAX + 1, "repetitions in its source");
    WIDE_REFUSED(rates[2], (m->rates[0] = UINT64_MAX), "do not pop 3 packets together");
    WIDE_REFUSED(rates[7], (m->rates[4] = m->rates[5] = m->rates[6] = UINT64_MAX),
                 "do not push at least 2 packets");
    WIDE_REFUSED(rates[7], (m->rates[6] = UINT64_MAX), "do not push at most 3 packets");
    WIDE_REFUSED(stages[0].batch_max, 12, "12 firings of 'a' see more packets than buffer 'x'");
    WIDE_REFUSED(stages[0].batch_max, 6, "6 firings of 'a' see more packets than buffer 'x'");
    struct made *exact = wide();
    exact->buffers[0].depth_packets = 6; /* twice three */
    if (made_verify(exact, &error) != PRT_OK) fail_msg("%s", error.message);
    WIDE_REFUSED(stages[2].batch_max, 3, "3 firings of 's' write more packets than buffer 'u'");
    WIDE_REFUSED(outputs[1].push, 0, "at least 1 and at most 0");
    WIDE_REFUSED(outputs[2].finish_max, 9, "finish writes up to 9 packets");
}

/* x -> a -> t -> j and x -> b -> u -> j, with starting times that are not looked at before rates balance. */
static struct made *joined(void)
{
    struct made *m = made_create("joined", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 1, 1);
    made_output(m, a, t, 1, 0);
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, x, 1, 1);
    made_output(m, b, u, 1, 0);
    uint32_t j = made_node(m, "j", 0);
    made_input(m, j, t, 1, 1);
    made_input(m, j, u, 1, 1);
    made_output(m, j, y, 1, 0);
    m->certificate[0] = (uint64_t)CONTAINER_CERTIFICATE_STARTS << CONTAINER_CERTIFICATE_FORM_SHIFT;
    m->certificate[1] = 1 + 2 * 4;
    m->certificate_count = 2 + 1 + 2 * 4;
    made_loop(m);
    made_settle(m);
    return m;
}

static void windows_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    WIDE_REFUSED(inputs[1].window_width, 2, "a window of 2x3");
    WIDE_REFUSED(inputs[1].window_height, 0, "a window of 3x0");
    WIDE_REFUSED(inputs[1].window_width, 1025, "a window of 1025x3");
    WIDE_REFUSED(inputs[1].border, 4, "an unknown border");
    WIDE_REFUSED(inputs[2].border, 1, "a border without a window");
    WIDE_REFUSED(inputs[1].peek, 2, "pop or peek that is not 1");
    WIDE_REFUSED(inputs[1].pop, 2, "pop 2, peek 1");
    WIDE_REFUSED(buffers[1].row_packets, 0, "no rows");
    WIDE_REFUSED(buffers[1].row_packets, UINT64_C(1) << 32, "holds 16");
    WIDE_REFUSED(buffers[0].row_packets, UINT64_C(1) << 32, "rows or frames of 'x' are too large");
    WIDE_REFUSED(buffers[0].frame_rows, 4, "'x' has frames without rows");
    WIDE_REFUSED(buffers[0].frame_rows, (m->buffers[0].row_packets = 1, UINT64_C(1) << 32),
                 "too large");
    WIDE_REFUSED(buffers[0].frame_rows, (m->buffers[0].row_packets = UINT64_C(1) << 20),
                 "too large");
    WIDE_REFUSED(inputs[1].window_height, 2, "a window of 3x2");
    WIDE_REFUSED(stages[1].batch_max, 17, "17 firings of 'b' see more packets than buffer 't'");
    WIDE_REFUSED(inputs[1].window_height, 1025, "a window of 3x1025");
    struct made *of_frames = joined();
    of_frames->inputs[2].window_width = of_frames->inputs[2].window_height = 1;
    of_frames->inputs[3].window_width = of_frames->inputs[3].window_height = 1;
    of_frames->buffers[1].row_packets = of_frames->buffers[2].row_packets = 2;
    of_frames->buffers[1].frame_rows = 2;
    of_frames->buffers[2].frame_rows = 3;
    expect_refusal(of_frames, "frames", "of different shapes");
    struct made *two = joined(); /* j sees both t and u through windows */
    two->inputs[2].window_width = two->inputs[2].window_height = 1;
    two->inputs[3].window_width = two->inputs[3].window_height = 1;
    two->buffers[1].row_packets = 4;
    two->buffers[2].row_packets = 2;
    expect_refusal(two, "shapes",
                   "the windows of 'j' are on buffers 't' and 'u' of different shapes");
    struct made *m = wide();
    m->inputs[1].window_width = m->inputs[1].window_height = 1023; /* the frame is smaller */
    struct prt_error error;
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
    m = wide();
    m->inputs[1].border = CONTAINER_BORDER_WRAP;
    m->buffers[1].frame_rows = 0;
    expect_refusal(m, "wrap", "a window that wraps on buffer 't', which has no frames");
    m = wide();
    m->inputs[1].border = CONTAINER_BORDER_WRAP; /* all 12 packets of a frame */
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
    m = wide();
    m->inputs[1].border = CONTAINER_BORDER_WRAP;
    m->buffers[1].depth_packets = 11;
    expect_refusal(m, "wrap", "a firing sees 12 packets, buffer 't' holds 11");
    m = wide();
    m->inputs[1].border = CONTAINER_BORDER_WRAP;
    m->inputs[1].window_height = 1; /* only a row: 4, and 3 of a firing beside all of it but one */
    m->buffers[1].frame_rows = 0;
    m->buffers[1].depth_packets = 6;
    m->stages[0].batch_max = m->stages[1].batch_max = 2;
    made_settle(m);
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
    m = wide(); /* in the second phase nothing is taken */
    m->nodes[1].repetitions = m->nodes[1].phases = 2;
    m->inputs[1].rates = 8;
    m->outputs[1].rates = 12;
    m->outputs[1].push = m->outputs[1].push_least = 2;
    const uint64_t rates[] = {1, 0, 1, 1, 1, 1, 1, 1};
    memcpy(m->rates + 8, rates, sizeof rates);
    m->rate_count = 16;
    expect_refusal(m, "phases", "a window, and pop or peek that is not 1");
    m = wide(); /* each of 16 firings sees what it goes through, however wide the window is */
    m->inputs[1].window_width = 1;
    m->outputs[1].push = m->outputs[1].push_least = 0;
    m->stages[1].batch_max = 16;
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
    m = wide(); /* a frame of one row, of four packets */
    m->buffers[1].frame_rows = 1;
    m->buffers[1].depth_packets = 5;
    m->stages[0].batch_max = m->stages[1].batch_max = 2;
    made_settle(m);
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
    for (uint64_t rows = 0; rows <= 3; rows += 3) {
        m = wide();
        m->buffers[1].frame_rows = rows;
        m->buffers[1].row_packets = 8; /* 2 x 8 + 3 */
        expect_refusal(m, "depth", "a firing sees 19 packets, buffer 't' holds 16");
    }
}

/* x -> k (0..1 in step: t, 0..2: u) -> join, which takes 1 of t and 2 of u. */
static struct made *in_step(void)
{
    struct made *m = made_create("in_step", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t k = made_node(m, "k", 0);
    made_input(m, k, x, 1, 1);
    made_output(m, k, t, 1, 0);
    made_output(m, k, u, 2, 0);
    m->outputs[0].push_least = m->outputs[1].push_least = 0;
    m->outputs[0].bundle = m->outputs[1].bundle = 1;
    m->outputs[0].share = 1;
    m->outputs[1].share = 2;
    uint32_t join = made_node(m, "join", 0);
    made_input(m, join, t, 1, 1);
    made_input(m, join, u, 2, 2);
    /* Of the block whose lowest channel is 1 a schedule: no prologue; the outside once, join once.
     * */
    const uint64_t schedule[] = {UINT64_C(2) << 32 | 1, 7, 2, 0, 2, 1, 1, 0, 1};
    memcpy(m->certificate, schedule, sizeof schedule);
    m->certificate_count = sizeof schedule / sizeof *schedule;
    made_loop(m);
    made_settle(m);
    return m;
}

static void what_is_in_step_may_meet_again(void **unused)
{
    (void)unused;
    struct prt_error error;
    struct made *m = in_step();
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
    m = in_step();
    m->outputs[1].bundle = 2;
    expect_refusal(m, "step", "has a bounded rate and lies on a cycle");
    m = in_step();
    m->outputs[1].bundle = 0;
    m->outputs[1].share = 0;
    expect_refusal(m, "step", "has a bounded rate and lies on a cycle");
    m = in_step();
    m->outputs[1].share = m->outputs[1].push = 1;
    expect_refusal(m, "step", "does not balance: its readers take 1 packets an iteration");
    m = in_step(); /* the maximum that a buffer can hold */
    for (uint32_t o = 0; o < 2; o++) {
        m->outputs[o].share = m->outputs[o].push = UINT64_C(1) << (60 + o);
        m->buffers[1 + o].scalar = SCALAR_U8;
        m->buffers[1 + o].width_bytes = 1;
        m->buffers[1 + o].depth_packets = m->outputs[o].push + 16;
        m->stages[o].batch_max = 1;
    }
    made_settle(m);
    expect_refusal(m, "step", "does not leave as many packets between 't' and 'join'");
    m = in_step(); /* any of the numbers that a node has outputs for */
    m->outputs[0].bundle = m->outputs[1].bundle = 2;
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
    m = in_step();
    m->outputs[0].bundle = m->outputs[1].bundle = 3;
    expect_refusal(m, "step", "an unknown bundle");
    m = in_step();
    m->outputs[0].push_least = 1;
    expect_refusal(m, "step", "a bundle, and buffer 't' is not inside or has no bounded rate");
    m = in_step();
    m->buffers[2].depth_packets = 1;
    m->stages[0].batch_max = m->stages[1].batch_max = 1;
    made_settle(m);
    expect_refusal(m, "step", "buffer 'u' holds 1");
}

/* As in_step, in two phases: 0..1 and 1..2 shares. */
static struct made *in_step_in_phases(void)
{
    struct made *m = in_step();
    const uint64_t rates[] = {1, 1, 1, 1, 0, 1, 1, 2, 0, 2, 2, 4};
    memcpy(m->rates, rates, sizeof rates);
    m->rate_count = sizeof rates / sizeof *rates;
    m->nodes[0].repetitions = m->nodes[0].phases = 2;
    m->inputs[0].pop = 2;
    m->inputs[0].rates = 0;
    for (uint32_t o = 0; o < 2; o++) {
        m->outputs[o].rates = 4 + 4 * o;
        m->outputs[o].push_least = 1 + o;
        m->outputs[o].push = 3 + 3 * o;
    }
    m->stages[0].batch_max = 1;
    return m;
}

static void ranges_in_step_are_the_same_numbers_of_shares(void **unused)
{
    (void)unused;
    struct prt_error error;
    struct made *m = in_step();
    m->stages[0].batch_max = 1;
    m->outputs[1].push = 3;
    expect_refusal(m, "step",
                   "appends at most 3 packets to 'u', which is no multiple of its share 2");
    m = in_step();
    m->outputs[1].push_least = 1;
    expect_refusal(m, "step", "appends at least 1 packets to 'u', which is no multiple");
    m = in_step();
    m->outputs[1].push = 4;
    m->stages[0].batch_max = 1;
    expect_refusal(m, "step", "appends at most 2 shares to 'u', and 1 to 't' in the same bundle");
    m = in_step();
    m->outputs[0].push = 2;
    m->outputs[1].push = 4;
    m->outputs[1].push_least = 2;
    m->stages[0].batch_max = 1;
    expect_refusal(m, "step", "appends at least 1 shares to 'u', and 0 to 't' in the same bundle");
    if (made_verify(in_step_in_phases(), &error) != PRT_OK) fail_msg("%s", error.message);
    m = in_step_in_phases(); /* the sums are the same */
    m->rates[8] = 1;
    m->rates[9] = 1;
    expect_refusal(m, "step", "firing of phase 0 appends at least 1 packets to 'u', which is no");
    m = in_step_in_phases();
    m->rates[10] = 4;
    m->rates[11] = 2;
    expect_refusal(m, "step", "firing of phase 0 appends at most 2 shares to 'u', and 1 to 't'");
}

/* x -> k, which writes 0..1 to each of 65 buffers, each with a reader of its own; 64 are bundles. */
static struct made *bundles(void)
{
    enum { COUNT = CONTAINER_BUNDLES_MAX + 1 };
    struct made *m = made_create("bundles", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t k = made_node(m, "k", 0);
    made_input(m, k, x, 1, 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        made_output(m, k, made_buffer(m, "t", SCALAR_I32, 8, CONTAINER_INNER), 1, 0);
        m->outputs[i].push_least = 0;
        m->outputs[i].bundle = i < CONTAINER_BUNDLES_MAX ? i + 1 : 0;
        m->outputs[i].share = i < CONTAINER_BUNDLES_MAX;
    }
    for (uint32_t i = 0; i < COUNT; i++)
        made_input(m, made_node(m, "drop", 0), x + 1 + i, 1, 1);
    made_loop(m);
    made_settle(m);
    return m;
}

/* Packets in step are written to buffers inside, at a rate that is bounded, and has one of 64 numbers. */
static void a_bundle_is_of_bounded_outputs_inside(void **unused)
{
    (void)unused;
    struct prt_error error;
    if (made_verify(bundles(), &error) != PRT_OK) fail_msg("%s", error.message);
    struct made *m = bundles();
    m->outputs[64].bundle = 65;
    m->outputs[64].share = 1;
    expect_refusal(m, "65", "record 64: an unknown bundle");
    m = good();
    m->outputs[1].push_least = 0;
    m->outputs[1].share = m->outputs[1].bundle = 1;
    expect_refusal(m, "outside", "a bundle, and buffer 'y' is not inside");
    m = wide(); /* s writes when it finishes, and nothing before */
    m->outputs[2].push = 0;
    m->outputs[2].share = m->outputs[2].bundle = 1;
    expect_refusal(m, "finish", "a bundle, and buffer 'u' is not inside or has no bounded rate");
}

/* x -> k (in step: t and u) -> join; z, the first buffer, -> join and p: two outsides, no cycle through both. */
static void outsides_are_told_apart(void **unused)
{
    (void)unused;
    struct prt_error error;
    struct made *m = made_create("beside", "sim16");
    uint32_t z = made_buffer(m, "z", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t k = made_node(m, "k", 0);
    made_input(m, k, x, 1, 1);
    made_output(m, k, t, 1, 0);
    made_output(m, k, u, 1, 0);
    for (uint32_t i = 0; i < 2; i++) {
        m->outputs[i].push_least = 0;
        m->outputs[i].bundle = 1;
        m->outputs[i].share = 1;
    }
    uint32_t join = made_node(m, "join", 0);
    made_input(m, join, t, 1, 1);
    made_input(m, join, u, 1, 1);
    made_input(m, join, z, 1, 1);
    made_input(m, made_node(m, "p", 0), z, 1, 1);
    /* The block of channels 3 and 4: the outside once, join once. */
    const uint64_t schedule[] = {UINT64_C(2) << 32 | 3, 7, 2, 0, 2, 1, 1, 0, 1};
    memcpy(m->certificate, schedule, sizeof schedule);
    m->certificate_count = sizeof schedule / sizeof *schedule;
    made_loop(m);
    made_settle(m);
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
}

/* x -> a (0 or 4) -> t -> b, which takes `pop` and sees `peek`; t begins with some packets. */
static struct made *in_fours(uint64_t pop, uint64_t peek, uint64_t initial, uint64_t depth)
{
    static const int32_t packets[8];
    struct made *m = made_create("in_fours", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, depth, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    if (initial > 0) made_initial(m, t, initial, packets, (uint32_t)initial * sizeof *packets);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 1, 1);
    made_output(m, a, t, 4, 0);
    m->outputs[0].push_least = 0;
    m->outputs[0].bundle = 1;
    m->outputs[0].share = 4;
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, t, pop, peek);
    made_output(m, b, y, 1, 0);
    made_loop(m);
    made_settle(m);
    return m;
}

/* The minimum depth has room for four after the maximum of packets with which b can wait, counted one by one. */
static void packets_that_come_by_fours_wait_by_multiples(void **unused)
{
    (void)unused;
    static const uint64_t common[] = {0, 1, 2, 1, 4}; /* divisors of four and of what is taken */
    for (uint64_t pop = 1; pop <= 4; pop++) {
        for (uint64_t peek = pop; peek <= 9; peek++) {
            for (uint64_t initial = 0; initial <= 5; initial++) {
                uint64_t waits = 0;
                struct prt_error error;
                for (uint64_t level = 0; level < peek; level++)
                    if (level % common[pop] == initial % common[pop]) waits = level;
                uint64_t depth = 4 + waits;
                if (depth < peek || depth < initial) continue;
                if (made_verify(in_fours(pop, peek, initial, depth), &error) != PRT_OK)
                    fail_msg("%s", error.message);
                if (depth - 1 < peek || depth - 1 < initial || depth - 1 < 4) continue;
                char message[64];
                snprintf(message, sizeof message, "while 'b' waits with %u", (unsigned)waits);
                expect_refusal(in_fours(pop, peek, initial, depth - 1), "depth", message);
            }
        }
    }
}

/* ---- 2-D windows ---- */

struct view {
    uint32_t width, height, border;
    uint64_t row, rows;
    uint64_t push, initial;
};

/* x -> a (1:push) -> t -> b, which sees t through a window. */
static struct made *viewed(const struct view *v, uint64_t depth)
{
    static const int32_t packets[8];
    struct made *m = made_create("viewed", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, depth, CONTAINER_INNER);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 1, 1);
    made_output(m, a, t, v->push, 0);
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, t, 1, 1);
    m->inputs[1].window_width = v->width;
    m->inputs[1].window_height = v->height;
    m->inputs[1].border = v->border;
    m->buffers[t].row_packets = v->row;
    m->buffers[t].frame_rows = v->rows;
    m->nodes[b].repetitions = v->push;
    if (v->initial > 0)
        made_initial(m, t, v->initial, packets, (uint32_t)v->initial * sizeof *packets);
    m->stages[a].batch_max = m->stages[b].batch_max = 1;
    made_loop(m);
    made_settle(m);
    return m;
}

/* A reader without a window may keep packets of the frame before. */
static void shapes_alone_lower_no_depth(void **unused)
{
    (void)unused;
    const struct view v = {0, 0, CONTAINER_BORDER_CLAMP, 4, 2, 4, 0};
    struct prt_error error;
    for (uint64_t depth = 11; depth <= 12; depth++) {
        struct made *m = viewed(&v, depth);
        m->inputs[1].peek = 9;
        if (depth < 12)
            expect_refusal(m, "depth", "could wait for each other with less than 12");
        else if (made_verify(m, &error) != PRT_OK)
            fail_msg("%s", error.message);
    }
}

static uint64_t least_accepted(const struct view *v)
{
    uint64_t low = 0, high = 4096; /* refused, accepted */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        struct prt_error error;
        if (made_verify(viewed(v, middle), &error) == PRT_OK)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Writer and reader in turn: do they come through some frames? */
static bool comes_through(const struct view *v, uint64_t depth)
{
    struct window window = {v->width, v->height, v->border};
    struct window_shape shape = {v->row, v->rows};
    uint64_t frame = v->rows > 0 ? v->row * v->rows : UINT64_MAX;
    uint64_t written = v->initial, begin = 0, place = 0, rows;
    for (uint32_t fired = 0; fired < 100;) {
        uint64_t oldest = begin + window_first(window, shape, place);
        uint64_t held = written < begin ? 0 : written - begin;
        if (window_firings(window, shape, place, held < frame ? held : frame, false, &rows) > 0) {
            fired++;
            place++;
            if (place == frame) {
                begin += frame;
                place = 0;
            }
        } else if (written + v->push - oldest <= depth) {
            written += v->push;
        } else {
            return false;
        }
    }
    return true;
}

static void depths_of_windows_are_no_less_than_they_need(void **unused)
{
    (void)unused;
    const struct {
        struct view view;
        uint64_t least;
    } known[] = {
        {{3, 3, CONTAINER_BORDER_CLAMP, 4, 0, 5, 0}, 15}, /* 5, 5 kept and 5 not seen yet */
        {{3, 3, CONTAINER_BORDER_CLAMP, 4, 3, 5, 0}, 15},
        {{3, 3, CONTAINER_BORDER_ZERO, 4, 2, 5, 0}, 12}, /* as a reader that takes 8 at once */
        {{3, 3, CONTAINER_BORDER_MIRROR, 4, 2, 4, 0}, 8},
        {{3, 3, CONTAINER_BORDER_CLAMP, 4, 2, 4, 1}, 9},
        {{3, 3, CONTAINER_BORDER_WRAP, 4, 3, 5, 0}, 16}, /* 12 at once */
        {{3, 1, CONTAINER_BORDER_WRAP, 4, 3, 5, 0}, 8},  /* a row of 4 at once */
        {{3, 1, CONTAINER_BORDER_WRAP, 4, 0, 5, 0}, 8},
        {{1, 1, CONTAINER_BORDER_CLAMP, 4, 3, 5, 0}, 5},
        {{1, 3, CONTAINER_BORDER_CLAMP, 4, 2, 4, 0}, 8},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (least_accepted(&known[i].view) != known[i].least)
            fail_msg("%u: %u", (unsigned)i, (unsigned)least_accepted(&known[i].view));
    unsigned seed = 1;
    for (uint32_t i = 0; i < 500; i++) {
        uint32_t drawn[6];
        for (size_t k = 0; k < 6; k++) {
            seed = seed * 1103515245u + 12345u;
            drawn[k] = seed >> 16;
        }
        struct view v = {.width = drawn[0] % 4 * 2 + 1,
                         .height = drawn[1] % 3 * 2 + 1,
                         .border = drawn[2] % 4,
                         .row = 1 + drawn[3] % 6,
                         .rows = drawn[4] % 4,
                         .push = 1 + drawn[5] % 7,
                         .initial = drawn[5] / 8 % 4};
        if (v.border == CONTAINER_BORDER_WRAP && v.height > 1 && v.rows == 0) v.rows = 1;
        uint64_t least = least_accepted(&v);
        if (!comes_through(&v, least))
            fail_msg("%ux%u, border %u, %ux%u, push %u, %u initial: %u packets are too few",
                     v.width, v.height, v.border, (unsigned)v.row, (unsigned)v.rows,
                     (unsigned)v.push, (unsigned)v.initial, (unsigned)least);
    }
}

/* ---- what a finish appends where streams meet again ---- */

/* The outside, a, b and j, each once. */
static struct made *joined_in_turn(uint64_t finish)
{
    struct made *m = joined();
    const uint64_t schedule[] = {UINT64_C(2) << 32, 11, 2, 0, 4, 3, 1, 0, 1, 1, 1, 2, 1};
    memcpy(m->certificate, schedule, sizeof schedule);
    m->certificate_count = sizeof schedule / sizeof *schedule;
    m->nodes[0].flags |= CONTAINER_NODE_FINISH;
    m->outputs[0].finish_max = finish;
    return m;
}

/* x -> a -> t -> b -> u -> j and t -> c -> v -> j; b is always ahead of c by two. */
static struct made *parted(uint64_t finish)
{
    struct made *m = made_create("parted", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t v = made_buffer(m, "v", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t a = made_node(m, "a", CONTAINER_NODE_FINISH);
    made_input(m, a, x, 1, 1);
    made_output(m, a, t, 1, finish);
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, t, 1, 1);
    made_output(m, b, u, 1, 0);
    uint32_t c = made_node(m, "c", 0);
    made_input(m, c, t, 1, 1);
    made_output(m, c, v, 1, 0);
    uint32_t j = made_node(m, "j", 0);
    made_input(m, j, u, 1, 1);
    made_input(m, j, v, 1, 1);
    const uint64_t schedule[] = {
        UINT64_C(2) << 32 | 1, 15, 2, 0, 6, 0, 1, 1, 1, 0, 1, 1, 1, 2, 2, 3, 2};
    memcpy(m->certificate, schedule, sizeof schedule);
    m->certificate_count = sizeof schedule / sizeof *schedule;
    made_loop(m);
    made_settle(m);
    return m;
}

/* x -> a -> y, and p from a to itself; `seen` packets to both sides of the one that is taken. */
static struct made *looped(uint32_t seen, uint64_t depth)
{
    static const int32_t packets[2];
    struct made *m = made_create("looped", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t p = made_buffer(m, "p", SCALAR_I32, depth, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    made_initial(m, p, 1 + seen, packets, (1 + seen) * sizeof *packets);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 1, 1);
    made_input(m, a, p, 1, 1);
    made_output(m, a, p, 1, 0);
    made_output(m, a, y, 1, 0);
    if (seen > 0) {
        m->inputs[1].window_width = 1 + 2 * seen;
        m->inputs[1].window_height = 1;
        m->buffers[p].row_packets = 4;
    }
    m->stages[a].batch_max = 1;
    made_loop(m);
    made_settle(m);
    return m;
}

/* A node that writes for itself has room for one more beside its packets and those it keeps. */
static void loops_have_room_for_one_more(void **unused)
{
    (void)unused;
    struct prt_error error;
    if (made_verify(looped(0, 2), &error) != PRT_OK) fail_msg("%s", error.message);
    expect_refusal(looped(0, 1), "depth", "could wait for each other with less than 2");
    if (made_verify(looped(1, 4), &error) != PRT_OK) fail_msg("%s", error.message);
    expect_refusal(looped(1, 3), "depth", "could wait for each other with less than 4");
}

/* The outside so often, then join; t has the depth. */
static struct made *in_step_in_turn(uint64_t turns, uint64_t depth, uint64_t finish)
{
    struct made *m = in_step();
    m->certificate[6] = turns;
    m->certificate[8] = turns;
    m->buffers[1].depth_packets = depth;
    m->nodes[0].flags |= CONTAINER_NODE_FINISH;
    m->outputs[0].finish_max = finish;
    m->stages[0].batch_max = m->stages[1].batch_max = 1;
    made_settle(m);
    return m;
}

static void what_a_finish_appends_has_room_of_its_own(void **unused)
{
    (void)unused;
    struct prt_error error;
    if (made_verify(joined_in_turn(7), &error) != PRT_OK) fail_msg("%s", error.message);
    expect_refusal(joined_in_turn(8), "finish", "without room in 't'");
    /* Beside what each reader has found. */
    if (made_verify(parted(6), &error) != PRT_OK) fail_msg("%s", error.message);
    expect_refusal(parted(7), "finish", "without room in 't'");
    struct made *keeps = parted(6);
    keeps->inputs[2].peek = 4; /* of the second reader of t */
    keeps->stages[2].batch_max = 1;
    expect_refusal(keeps, "finish", "too few for the 6 of a finish while 'c' keeps 3");
    /* Of three, one more than a firing has room already. */
    if (made_verify(in_step_in_turn(1, 3, 3), &error) != PRT_OK) fail_msg("%s", error.message);
    if (made_verify(in_step_in_turn(2, 4, 3), &error) != PRT_OK) fail_msg("%s", error.message);
    expect_refusal(in_step_in_turn(2, 3, 3), "finish", "without room in 't'");
}

/* x -> a (0 or 4) -> t -> b, which takes twice two, and sees four at first. */
static struct made *in_fours_and_twos(uint64_t depth)
{
    struct made *m = in_fours(4, 4, 0, depth);
    m->nodes[1].repetitions = m->nodes[1].phases = 2;
    m->outputs[1].push = m->outputs[1].push_least = 2;
    const uint64_t rates[] = {2, 2, 4, 2, 1, 1, 1, 1};
    memcpy(m->rates, rates, sizeof rates);
    m->rate_count = 8;
    m->inputs[1].rates = 0;
    m->outputs[1].rates = 4;
    /* No prologue; the outside once, then b in both phases. */
    const uint64_t schedule[] = {UINT64_C(2) << 32 | 1, 9, 2, 0, 3, 2, 1, 0, 1, 1, 1};
    memcpy(m->certificate, schedule, sizeof schedule);
    m->certificate_count = sizeof schedule / sizeof *schedule;
    return m;
}

/* With phases a reader's distance from its multiples is unknown: it may wait with all but one packet. */
static void packets_that_come_by_fours_wait_in_phases(void **unused)
{
    (void)unused;
    struct prt_error error;
    if (made_verify(in_fours_and_twos(7), &error) != PRT_OK) fail_msg("%s", error.message);
    expect_refusal(in_fours_and_twos(6), "depth", "while 'b' waits with 3");
}

/* x -> a (0..1) -> t -> c -> u -> join, and x -> join, which is the first node or the last. */
static struct made *long_way_round(bool join_first)
{
    struct made *m = made_create("round", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 8, CONTAINER_INNER);
    for (int k = 0; k < 4; k++) {
        if (k == (join_first ? 0 : 3)) {
            uint32_t join = made_node(m, "join", 0);
            made_input(m, join, x, 1, 1);
            made_input(m, join, u, 1, 1);
        }
        if (k == 1) {
            uint32_t a = made_node(m, "a", 0);
            made_input(m, a, x, 1, 1);
            made_output(m, a, t, 1, 0);
            m->outputs[0].push_least = 0;
        }
        if (k == 2) {
            uint32_t c = made_node(m, "c", 0);
            made_input(m, c, t, 1, 1);
            made_output(m, c, u, 1, 0);
        }
    }
    made_loop(m);
    made_settle(m);
    return m;
}

/* From whichever node the search for cycles begins. */
static void cycles_are_found_from_each_of_their_nodes(void **unused)
{
    (void)unused;
    expect_refusal(long_way_round(false), "last", "'t' has a bounded rate and lies on a cycle");
    expect_refusal(long_way_round(true), "first", "'t' has a bounded rate and lies on a cycle");
}

/* x -> a (0..1) -> t, which b and c read; c sees so many packets, and takes one `rounds` times an iteration. */
static struct made *bounded_fork(uint64_t seen, uint64_t rounds)
{
    struct made *m = made_create("fork", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 4, CONTAINER_INNER);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 1, 1);
    made_output(m, a, t, 1, 0);
    m->outputs[0].push_least = 0;
    made_input(m, made_node(m, "b", 0), t, 1, 1);
    uint32_t c = made_node(m, "c", 0);
    made_input(m, c, t, 1, seen);
    m->nodes[c].repetitions = rounds;
    m->outputs[0].push = 2;
    made_loop(m);
    made_settle(m);
    return m;
}

static void each_reader_of_a_bounded_rate_has_room_and_balances(void **unused)
{
    (void)unused;
    struct prt_error error;
    if (made_verify(bounded_fork(3, 1), &error) != PRT_OK) fail_msg("%s", error.message);
    expect_refusal(bounded_fork(4, 1), "seen",
                   "too few for the 2 of a firing while 'c' waits with 3");
    expect_refusal(bounded_fork(3, 2), "rounds", "does not balance: its readers take 2 packets");
}

/* A pipeline that might deadlock is refused, unless the author has accepted that. */
static void bounded_rates_on_cycles_are_refused(void **unused)
{
    (void)unused;
    struct prt_error error;
    for (uint32_t accepted = 0; accepted < 2; accepted++) {
        /* x -> a (0..1) -> t -> join; x -> join */
        struct made *m = made_create("join", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
        uint32_t t = made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER);
        uint32_t a = made_node(m, "a", 0);
        made_input(m, a, x, 1, 1);
        made_output(m, a, t, 1, 0);
        m->outputs[0].push_least = 0;
        uint32_t join = made_node(m, "join", 0);
        made_input(m, join, x, 1, 1);
        made_input(m, join, t, 1, 1);
        made_loop(m);
        made_settle(m);
        m->pipeline.flags = accepted ? CONTAINER_PIPELINE_UNPROVEN : 0;
        if (accepted)
            assert_int_equal(made_verify(m, &error), PRT_OK);
        else
            expect_refusal(m, "join", "'t' has a bounded rate and lies on a cycle");
    }
    struct made *m = wide();
    m->buffers[3].depth_packets = 6; /* 2 held, 5 of a finish */
    m->stages[2].batch_max = 2;
    m->stages[3].batch_max = 4;
    made_settle(m);
    expect_refusal(m, "depth",
                   "'u' holds 6 packets: too few for the 5 of a firing while 'drop' waits");
    for (uint64_t depth = 4; depth <= 5;
         depth++) { /* a firing is more than the finish: 2 held, 3 of it */
        m = wide();
        m->outputs[2].finish_max = 2;
        m->buffers[3].depth_packets = depth;
        m->stages[2].batch_max = 1;
        m->stages[3].batch_max = 2;
        made_settle(m);
        if (depth == 4)
            expect_refusal(m, "depth", "'u' holds 4 packets: too few for the 3 of a firing while");
        else if (made_verify(m, &error) != PRT_OK)
            fail_msg("%s", error.message);
    }
    m = wide();
    m->inputs[2].buffer = 1; /* b's t has two readers, on no cycle; u has none */
    made_settle(m);
    expect_refusal(m, "reader", "'u' has no reader");
}

static void what_cannot_be_counted_or_balanced_is_refused(void **unused)
{
    (void)unused;
    struct made *m = joined();
    for (uint32_t i = 0; i < m->node_count; i++)
        m->nodes[i].repetitions = UINT64_C(1) << 62;
    expect_refusal(m, "flow", "takes too many packets an iteration");
    m = joined(); /* of the second input of j */
    m->inputs[3].reader = 0;
    expect_refusal(m, "reader", "its reader is not one of buffer 'u'");
    m = joined(); /* b is fired twice where a is fired once */
    m->nodes[1].repetitions = 2;
    m->inputs[3].pop = m->inputs[3].peek = 2;
    m->stages[2].batch_max = 4;
    expect_refusal(m, "outside", "does not balance with other readers");
    m = joined(); /* a has two phases, and needs more at the beginning of them than can be counted */
    const uint64_t half = UINT64_C(1) << 61,
                   rates[] = {half, half - 1, half, 2 * half - 1, 1, 0, 1, 0};
    memcpy(m->rates, rates, sizeof rates);
    m->rate_count = 8;
    m->nodes[0].repetitions = m->nodes[0].phases = 2;
    m->inputs[0].rates = 0;
    m->outputs[0].rates = 4;
    m->inputs[0].pop = m->inputs[0].peek = 2 * half - 1;
    m->buffers[0].scalar = SCALAR_U8;
    m->buffers[0].width_bytes = 1;
    m->buffers[0].depth_packets = 2 * half - 1;
    m->stages[0].batch_max = 1;
    expect_refusal(m, "cycle", "takes too many packets an iteration");
    m = wide();
    m->nodes[3].repetitions = INT64_MAX;
    m->inputs[2].pop = 2;
    m->stages[3].batch_max = 1;
    expect_refusal(m, "taken", "its packets of an iteration do not fit 63 bits");
    m = wide(); /* nor 64 */
    m->nodes[3].repetitions = INT64_MAX;
    m->inputs[2].pop = m->inputs[2].peek = 3;
    m->stages[3].batch_max = 1;
    expect_refusal(m, "taken", "its packets of an iteration do not fit 63 bits");
    m = in_step(); /* t's do, and those of u, which is in step, do not */
    m->nodes[1].repetitions = INT64_MAX;
    expect_refusal(m, "taken", "record 1: its packets of an iteration do not fit 63 bits");
}

#define STALL                                                                                      \
    ((uint64_t)CONTAINER_CERTIFICATE_STALL << CONTAINER_CERTIFICATE_FORM_SHIFT | CONTAINER_NONE)

/* A sequence that is too long to read. */
static void counterexamples_are_of_nodes_and_counts(void **unused)
{
    (void)unused;
    const uint64_t most = CONTAINER_STALL_FIRINGS_MAX;
    const struct {
        uint64_t words[12], count;
        const char *message;
    } cases[] = {
        {{STALL, 5, 2, 1, 1, 1, 0}, 7, NULL},
        {{STALL, 5, 2, 1, 2, 1, 0},
         7,
         "rule 0 contains a symbol that is neither a node nor an earlier rule"},
        {{STALL, 5, 2, 1, 1, 0, 0}, 7, "record 5: the count 0 is out of range"},
        {{STALL, 5, 2, 1, 1, most + 1, 0}, 7, "the count 2147483649 is out of range"},
        {{STALL, 7, 2, 2, 1, most, 1, 1, 0}, 9, "more than 2147483648 firings"},
        {{STALL, 4, 2, 9, 0, 0}, 6, "record 3: rule 0 runs past the section"},
        {{STALL, 3, 2, 0, 0}, 5, "rule 0 is empty"},
        {{STALL, 6, 2, 1, 1, 1, 0, 7}, 8, "words after the last rule"},
        {{STALL + 1, 5, 2, 1, 1, 1, 0}, 7, "a counterexample without its sequence"},
        {{STALL, 9, 2, 1, 1, 1, 0}, 7, "another length than the section's"},
        {{STALL, 5, 1, 1, 1, 1, 0}, 7, "1 rules: the cycle and the sequence are missing"},
        {{STALL, 9, 2, 1, 1, 1, 2, 1, 1, 0, 1}, 11, NULL},
        {{STALL, 10, 3, 1, 1, 1, 1, 1, 1, 1, 2, 3}, 12, NULL},
        {{STALL, 10, 3, 1, 1, 1, 1, 2, 1, 1, 1, 3}, 12, "rule 1 contains a symbol that is neither"},
        {{STALL, 10, 3, 1, 2, 1, 1, 1, 1, 1, 1, 3}, 12, "rule 0 contains a symbol that is neither"},
        {{STALL, 10, 3, 1, 1, 1, 1, 1, 1, 1, 4, 3}, 12, "rule 2 contains a symbol that is neither"},
        {{STALL, 10, 3, 1, 1, 2, 1, 1, 1, 1, 2, most / 2}, 12, NULL},
        {{STALL, 10, 3, 1, 1, 2, 1, 1, 1, 1, 2, most / 2 + 1}, 12, "more than 2147483648 firings"},
        {{STALL, 4, 2, 1, 1, 1}, 6, "record 0: rule 1 runs past the section"},
        {{STALL, 3, 4, 1, 1}, 5, "4 rules: the cycle"},
        {{STALL, 3, UINT64_MAX, 1, 1}, 5, "rules: the cycle and the sequence are missing"},
        {{STALL, 0}, 2, "a counterexample without its sequence"},
        {{0}, 0, "a counterexample without its sequence"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made *m = good();
        struct prt_error error;
        m->pipeline.flags |= CONTAINER_PIPELINE_COUNTEREXAMPLE;
        memcpy(m->certificate, cases[i].words, cases[i].count * sizeof *m->certificate);
        m->certificate_count = (uint32_t)cases[i].count;
        if (cases[i].message != NULL)
            expect_refusal(m, "stall", cases[i].message);
        else if (made_verify(m, &error) != PRT_OK)
            fail_msg("%s", error.message);
    }
}

/* A finish that appends nothing needs no room for it. */
static void a_finish_of_nothing_passes(void **unused)
{
    (void)unused;
    struct prt_error error;
    struct made *m = good();
    m->nodes[0].flags |= CONTAINER_NODE_FINISH;
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
}

static void ports_that_nothing_is_written_to_pass(void **unused)
{
    (void)unused;
    struct prt_error error;
    struct made *m = good();
    m->nodes[1].flags = 0;
    m->outputs[1].push = m->outputs[1].push_least = m->outputs[1].finish_max = 0;
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
    m = good();
    m->outputs[0].push = m->outputs[0].push_least = 0;
    m->nodes[0].flags |= CONTAINER_NODE_FINISH;
    expect_refusal(m, "finish", "writes nothing into buffer 't'");
    m = good();
    m->outputs[0].push = m->outputs[0].push_least = 0;
    m->nodes[0].flags |= CONTAINER_NODE_FINISH;
    m->outputs[0].finish_max = 1;
    if (made_verify(m, &error) != PRT_OK) fail_msg("%s", error.message);
}

/* Code that the assembler would not write. */
static void bytes_that_are_no_program_are_refused(void **unused)
{
    (void)unused;
    struct made *m = good();
    m->program[m->program_bytes - 1] = 0;
    expect_refusal(m, "opcode 0", "not an instruction");
    m = good();
    made_program(m,
                 "partition_affinity l3, 8\n bind 0, 0\n bind 1, 1\nL1: ends\n round_robin 0, L2\n"
                 " dispatch\n jump L1\nL2: wait L1\n halt\n");
    m->program[1] = 5;
    expect_refusal(m, "level 5", "there is no level 5");
    m = good();
    m->program[m->program_bytes - 1] = 200;
    expect_refusal(m, "opcode 200", "not an instruction");
    m = good();
    m->program_bytes -= 2; /* ends inside the label of wait */
    expect_refusal(m, "half an instruction", "not an instruction");
    m = good();
    m->program_bytes = 0;
    expect_refusal(m, "nothing", "there is no instruction");
    m = good();
    m->program[m->program_bytes - 5] +=
        2; /* the label of wait: into the middle of an instruction */
    expect_refusal(m, "label", "is not the beginning of an instruction");
    m = good();
    m->program[1] = 2;
    expect_refusal(m, "stage", "there is no stage 2 (2 stages)");
    m = good();
    m->program[12] = 7; /* the set of round_robin, after two bind_root and ends */
    expect_refusal(m, "set", "there is no set 7 (1 set)");
    m = good();
    m->sets[0] = 0;
    m->sets_words = 1;
    expect_refusal(m, "empty set", "empty");
}

/* Every single-byte change of the program and the tables: refused, or something that still means
 * well. */
static void made_index(struct made *m, uint32_t kernel, uint32_t dx, uint32_t dy, uint32_t address)
{
    const uint32_t extents[] = {dx, dy, 1}, lanes = m->device.lanes;
    struct index_format format = index_format_of(extents);
    m->indices[m->index_count++] =
        (struct container_index){.kernel = kernel,
                                 .extents = {dx, dy, 1},
                                 .register_bits = 16,
                                 .address_bytes = address,
                                 .step = {lanes % dx, lanes / dx % dy, lanes / dx / dy},
                                 .first_warp = m->first_warp_count};
    for (uint32_t n = 0; n < dx * dy && n < lanes; n++)
        m->first_warps[m->first_warp_count++] = index_pack(&format, n % dx, n / dx, 0);
}

/* Kernel 0 has its own index memory, 1 and 3 share theirs. */
static struct made *grouped(void)
{
    struct made *m = good();
    made_index(m, 0, 3, 5, 0);
    m->indices[0].flags = CONTAINER_INDEX_DEDICATED;
    made_index(m, 1, 8, 8, 32);
    made_index(m, 3, 2, 2, 32);
    for (uint32_t i = 0; i < m->node_count; i++)
        m->nodes[i].firing_warps = m->nodes[i].kernel == 0 ? 2 : m->nodes[i].kernel == 1 ? 8 : 1;
    return m;
}

#define INDEX_REFUSED(field, value, message)                                                       \
    do {                                                                                           \
        struct made *m = grouped();                                                                \
        m->field = (value);                                                                        \
        expect_refusal(m, #field, message);                                                        \
    } while (0)

static void indices_that_are_not_those_of_work_items_are_refused(void **unused)
{
    (void)unused;
    struct prt_error error;
    assert_int_equal(made_verify(grouped(), &error), PRT_OK);
    INDEX_REFUSED(indices[0].step[0], 1, "step");
    INDEX_REFUSED(indices[0].step[1], 5, "step");
    INDEX_REFUSED(indices[1].step[2], 1, "step");
    INDEX_REFUSED(indices[1].extents[0], 9, "step");
    INDEX_REFUSED(indices[1].register_bits, 32, "registers of 32 bits");
    INDEX_REFUSED(first_warps[3], 0, "item 3");
    INDEX_REFUSED(first_warps[3], 0xffffffff, "item 3");
    INDEX_REFUSED(first_warps[2], 3, "item 2");
    INDEX_REFUSED(indices[1].first_warp, 0, "does not follow");
    INDEX_REFUSED(first_warp_count, m->first_warp_count + 1, "belongs to no kernel");
    INDEX_REFUSED(indices[1].address_bytes, 34, "not aligned");
    INDEX_REFUSED(indices[1].address_bytes, 28, "that of another kernel");
    INDEX_REFUSED(indices[1].address_bytes, 0, "that of another kernel");
    INDEX_REFUSED(indices[2].flags, CONTAINER_INDEX_DEDICATED, "that of another kernel");
    INDEX_REFUSED(nodes[1].firing_warps, 7, "7 warps in a firing, for 64 work-items and 8 lanes");
    INDEX_REFUSED(indices[1].kernel, 2, "8 warps in a firing, for 1 work-items");
}

/* One kernel of the source may be several of the image: they have the same indices. */
static void kernels_of_the_same_group_may_share_dedicated_index_memory(void **unused)
{
    (void)unused;
    struct prt_error error;
    for (uint32_t height = 4; height <= 5; height++) {
        struct made *m = good();
        made_index(m, 0, 3, 5, 0);
        made_index(m, 1, 3, height, 0);
        m->indices[0].flags = m->indices[1].flags = CONTAINER_INDEX_DEDICATED;
        for (uint32_t i = 0; i < m->node_count; i++)
            m->nodes[i].firing_warps = m->nodes[i].kernel <= 1 ? 2 : 1;
        if (height == 4)
            expect_refusal(m, "another height", "that of another kernel");
        else
            assert_int_equal(made_verify(m, &error), PRT_OK);
    }
}

static void changed_bytes_are_survived(void **unused)
{
    (void)unused;
    size_t size;
    struct made *m = grouped();
    made_side_by_side(m);
    uint8_t *bytes = made_finish(m, &size);
    made_free(m);
    for (size_t at = 64; at < size; at++) {
        for (uint32_t change = 0; change < 6; change++) {
            const uint8_t values[] = {0,
                                      1,
                                      255,
                                      (uint8_t)(bytes[at] + 1),
                                      (uint8_t)(bytes[at] - 1),
                                      (uint8_t)(bytes[at] ^ 128)};
            uint8_t kept = bytes[at];
            struct prt_container c;
            struct prt_error error;
            bytes[at] = values[change];
            made_fix_checksum(bytes, size);
            if (prt_container_read_memory(bytes, size, &c, &error) == PRT_OK)
                (void)prt_verify(&c, &error);
            prt_container_free(&c);
            bytes[at] = kept;
        }
    }
    free(bytes);
}

/* Names come from the file: they must not drive a terminal. */
static void names_are_escaped_in_messages(void **unused)
{
    (void)unused;
    struct made *m = good();
    struct prt_error error;
    m->nodes[0].name = made_string(m, "a\x1b[31m");
    m->nodes[0].repetitions = 4;
    assert_int_equal(made_verify(m, &error), PRT_E_VERIFY);
    assert_null(strchr(error.message, '\x1b'));
    assert_non_null(strstr(error.message, "a\\x1B[31m"));
}

TEST_MAIN("verify", cmocka_unit_test(good_containers_pass),
          cmocka_unit_test(graphs_that_do_not_hold_together_are_refused),
          cmocka_unit_test(packs_have_no_gaps_and_different_entries),
          cmocka_unit_test(a_default_that_is_no_truth_value_is_refused),
          cmocka_unit_test(a_node_without_a_stage_is_refused),
          cmocka_unit_test(balances_that_overflow_64_bits_are_computed),
          cmocka_unit_test(programs_that_could_go_wrong_are_refused),
          cmocka_unit_test(rates_that_do_not_hold_together_are_refused),
          cmocka_unit_test(windows_that_cannot_be_are_refused),
          cmocka_unit_test(bounded_rates_on_cycles_are_refused),
          cmocka_unit_test(cycles_are_found_from_each_of_their_nodes),
          cmocka_unit_test(each_reader_of_a_bounded_rate_has_room_and_balances),
          cmocka_unit_test(what_is_in_step_may_meet_again),
          cmocka_unit_test(ranges_in_step_are_the_same_numbers_of_shares),
          cmocka_unit_test(a_bundle_is_of_bounded_outputs_inside),
          cmocka_unit_test(packets_that_come_by_fours_wait_in_phases),
          cmocka_unit_test(outsides_are_told_apart),
          cmocka_unit_test(packets_that_come_by_fours_wait_by_multiples),
          cmocka_unit_test(shapes_alone_lower_no_depth),
          cmocka_unit_test(depths_of_windows_are_no_less_than_they_need),
          cmocka_unit_test(what_a_finish_appends_has_room_of_its_own),
          cmocka_unit_test(loops_have_room_for_one_more),
          cmocka_unit_test(what_cannot_be_counted_or_balanced_is_refused),
          cmocka_unit_test(counterexamples_are_of_nodes_and_counts),
          cmocka_unit_test(bytes_that_are_no_program_are_refused),
          cmocka_unit_test(operands_of_one_stage_or_no_set_are_refused),
          cmocka_unit_test(a_finish_of_nothing_passes),
          cmocka_unit_test(ports_that_nothing_is_written_to_pass),
          cmocka_unit_test(indices_that_are_not_those_of_work_items_are_refused),
          cmocka_unit_test(kernels_of_the_same_group_may_share_dedicated_index_memory),
          cmocka_unit_test(changed_bytes_are_survived),
          cmocka_unit_test(names_are_escaped_in_messages))
