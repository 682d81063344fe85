/* SPDX-License-Identifier: MIT */
/* Scheduler programs: programs that the execution on intervals accepts, and for each rule a program that breaks only it. */
#include "tests/test.h"

#include "lang/sched_code.h"
#include "runtime/verify/verify.h"
#include "tests/conform/made_container.h"

/* The guarded loop that every program ends with. */
#define DRAIN "L9: ends\n round_robin 0, L10\n dispatch\n jump L9\nL10: wait L9\n halt\n"
#define BINDS "bind_root 0\n bind_root 1\n"

/* x -> a (1:2) -> t -> b (3:1, peeks 4) -> y; t begins with one packet. */
static struct made *chain(void)
{
    struct made *m = made_create("chain", "sim16");
    int32_t seven = 7;
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    made_initial(m, t, 1, &seven, sizeof seven);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 1, 1);
    made_output(m, a, t, 2, 0);
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, t, 3, 4);
    made_output(m, b, y, 1, 0);
    m->nodes[a].repetitions = 3;
    m->nodes[b].repetitions = 2;
    made_settle(m);
    return m;
}

/* x -> a -> t (8) -> b -> y, where a has two phases: it gives 1, then 3; and takes 1 and 1. */
static struct made *phased(void)
{
    struct made *m = made_create("phased", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 2, 1);
    made_output(m, a, t, 4, 0);
    m->nodes[a].phases = 2;
    m->nodes[a].repetitions = 2;
    const uint64_t rates[] = {1, 1, 1, 1, 1, 3, 1, 3};
    memcpy(m->rates, rates, sizeof rates);
    m->rate_count = 8;
    m->inputs[0].rates = 0;
    m->outputs[0].rates = 4;
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, t, 1, 1);
    made_output(m, b, y, 1, 0);
    m->nodes[b].repetitions = 4;
    m->stages[a].batch_max = 4;
    /* One channel, phases at one end: a schedule without prologue; a in both phases, b four times. */
    const uint64_t schedule[] = {UINT64_C(2) << 32 | 1, 9, 2, 0, 3, 0, 1, 1, 1, 2, 4};
    memcpy(m->certificate, schedule, sizeof schedule);
    m->certificate_count = sizeof schedule / sizeof *schedule;
    made_settle(m);
    return m;
}

/* s -> u (8) -> b -> y; nothing comes in. */
static struct made *source(void)
{
    struct made *m = made_create("source", "sim16");
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t s = made_node(m, "s", 0);
    made_output(m, s, u, 1, 0);
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, u, 1, 1);
    made_output(m, b, y, 1, 0);
    made_settle(m);
    return m;
}

/* a <-> b around p and q, p begins with two packets; they have no input. */
static struct made *circle(void)
{
    struct made *m = made_create("circle", "sim16");
    int32_t one = 1;
    uint32_t p = made_buffer(m, "p", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t q = made_buffer(m, "q", SCALAR_I32, 8, CONTAINER_INNER);
    made_initial(m, p, 2, &one, sizeof one);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, p, 1, 1);
    made_output(m, a, q, 1, 0);
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, q, 1, 1);
    made_output(m, b, p, 1, 0);
    /* One block of both channels: no prologue, each once. */
    const uint64_t schedule[] = {UINT64_C(2) << 32, 7, 2, 0, 2, 0, 1, 1, 1};
    memcpy(m->certificate, schedule, sizeof schedule);
    m->certificate_count = sizeof schedule / sizeof *schedule;
    made_settle(m);
    return m;
}

/* x -> a -> t -> b (0..2, dynamic) -> u -> c -> v -> d -> y: c and d are an island after b. */
static struct made *mixed(void)
{
    struct made *m = made_create("mixed", "sim16");
    const char *names[] = {"t", "u", "v"};
    uint32_t buffers[5] = {made_buffer(m, "x", SCALAR_I32, 16, CONTAINER_OUTER_IN)};
    for (uint32_t i = 0; i < 3; i++)
        buffers[i + 1] = made_buffer(m, names[i], SCALAR_I32, 16, CONTAINER_INNER);
    buffers[4] = made_buffer(m, "y", SCALAR_I32, 16, CONTAINER_OUTER_OUT);
    const char *nodes[] = {"a", "b", "c", "d"};
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t node = made_node(m, nodes[i], 0);
        made_input(m, node, buffers[i], 1, 1);
        made_output(m, node, buffers[i + 1], i == 1 ? 2 : 1, 0);
    }
    m->outputs[1].push_least = 0;
    made_settle(m);
    return m;
}

static void expect(struct made *m, const char *text, const char *message)
{
    struct prt_error error;
    made_program(m, text);
    enum prt_status status = made_verify(m, &error);
    if (message == NULL && status != PRT_OK) fail_msg("%s\n%s", error.message, text);
    if (message == NULL) return;
    if (status != PRT_E_VERIFY) fail_msg("not refused, %s:\n%s", message, text);
    if (strstr(error.message, message) == NULL)
        fail_msg("%s, and not %s:\n%s", error.message, message, text);
    assert_int_not_equal(error.offset, PRT_NO_OFFSET);
}

struct program {
    const char *text, *message; /* NULL: it is accepted */
};

#define EXPECT_ALL(make, programs)                                                                 \
    for (size_t i = 0; i < sizeof(programs) / sizeof *(programs); i++)                             \
    expect(make(), (programs)[i].text, (programs)[i].message)

/* ---- one queue ---- */

#define ITERATION(body)                                                                            \
    BINDS "L1: has_packets 0, 0, 3, L2\n has_room 1, 0, 2, L2\n" body                              \
          " jump L1\nL2: wait L1\n" DRAIN

static void levels_are_followed_through_an_iteration(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {ITERATION("run 0, 3\n run 1, 2\n"), NULL},
        {ITERATION("run 0, 2\n run 1, 1\n run 0, 1\n run 1, 1\n"), NULL},
        {ITERATION("run 0, 3\n fence\n run 1, 2\n"), NULL},
        {ITERATION("repeat 3\n run 0, 1\n again\n repeat 2\n run 1, 1\n again\n"), NULL},
        /* t has one packet: 1 + 4 is enough for one firing of b, which needs 4, not for two. */
        {ITERATION("run 0, 2\n run 1, 2\n run 0, 1\n"), "[underflow]"},
        {ITERATION("run 1, 1\n run 0, 3\n run 1, 1\n"), "[underflow]"},
        {ITERATION("run 0, 3\n run 1, 2\n run 0, 1\n"), "[underflow]"}, /* a fourth packet of x */
        {ITERATION("run 0, 3\n run 1, 1\n run 1, 1\n run 1, 1\n"), "[underflow]"},
        {ITERATION("run 0, 3\n run 1, 1\n"), "[overflow]"}, /* t grows from one to the next */
        {ITERATION("run 0, 3\n"), "[overflow]"},
        {ITERATION("repeat 4\n run 0, 1\n again\n run 1, 2\n"), "[underflow]"},
        {ITERATION("run 0, 3\n repeat 3\n run 1, 1\n again\n"), "[underflow]"},
        /* Room for one packet less than b appends. */
        {BINDS
         "L1: has_packets 0, 0, 3, L2\n has_room 1, 0, 1, L2\n run 0, 3\n run 1, 2\n jump L1\n"
         "L2: wait L1\n" DRAIN,
         "[overflow]"},
        {BINDS "L1: has_packets 0, 0, 3, L2\n run 0, 3\n run 1, 2\n jump L1\nL2: wait L1\n" DRAIN,
         "[overflow]"},
        {BINDS
         "L1: has_packets 0, 0, 2, L2\n has_room 1, 0, 2, L2\n run 0, 3\n run 1, 2\n jump L1\n"
         "L2: wait L1\n" DRAIN,
         "[underflow]"},
        /* 2 x 6 packets fit t, 3 x 6 do not. */
        {BINDS "has_packets 0, 0, 6, L9\n repeat 2\n run 0, 3\n again\n" DRAIN, NULL},
        {BINDS "has_packets 0, 0, 8, L9\n repeat 8\n run 0, 1\n again\n" DRAIN, "[overflow]"},
    };
    EXPECT_ALL(chain, programs);
}

/* Repeats are summed up: these would take years. */
static void repeats_are_not_executed(void **unused)
{
    (void)unused;
    static char nest[4096];
    size_t used = (size_t)snprintf(nest, sizeof nest, "%s", BINDS "goes_on 0, 8, L9\n");
    for (int i = 0; i < 8; i++)
        used += (size_t)snprintf(nest + used, sizeof nest - used, " repeat 4000000000\n");
    used += (size_t)snprintf(nest + used, sizeof nest - used, " run 0, 1\n run 1, 1\n");
    for (int i = 0; i < 8; i++)
        used += (size_t)snprintf(nest + used, sizeof nest - used, " again\n");
    snprintf(nest + used, sizeof nest - used, "%s", DRAIN);
    expect(circle(), nest, "[numbers]");
    expect(circle(),
           BINDS
           "goes_on 0, 4000000000, L9\n repeat 4000000000\n run 0, 1\n run 1, 1\n again\n" DRAIN,
           "[launches]");
    expect(circle(),
           BINDS "goes_on 0, 100000, L9\n repeat 100000\n run 0, 1\n run 1, 1\n again\n" DRAIN,
           NULL);
    expect(circle(),
           BINDS "goes_on 0, 99999, L9\n repeat 100000\n run 0, 1\n run 1, 1\n again\n" DRAIN,
           "[allowance]");
}

/* x -> a -> t, which b and c read -> y, z. */
static struct made *forked(void)
{
    struct made *m = made_create("forked", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 16, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 16, CONTAINER_OUTER_OUT);
    uint32_t z = made_buffer(m, "z", SCALAR_I32, 16, CONTAINER_OUTER_OUT);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 1, 1);
    made_output(m, a, t, 1, 0);
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, t, 1, 1);
    made_output(m, b, y, 1, 0);
    uint32_t c = made_node(m, "c", 0);
    made_input(m, c, t, 1, 1);
    made_output(m, c, z, 1, 0);
    made_settle(m);
    return m;
}

/* A buffer has room when the slowest of its readers has made some. */
static void each_reader_has_a_level_of_its_own(void **unused)
{
    (void)unused;
#define FORKED(body)                                                                               \
    "bind_root 0\n bind_root 1\n bind_root 2\n has_packets 0, 0, 16, L9\n has_room 1, 0, 16, L9\n" \
    " has_room 2, 0, 16, L9\n" body DRAIN
    const struct program programs[] = {
        {FORKED("run 0, 8\n run 1, 8\n run 2, 8\n run 0, 8\n run 1, 8\n run 2, 8\n"), NULL},
        {FORKED("run 0, 8\n run 1, 8\n run 2, 7\n run 0, 8\n"), "[overflow]"},
        {FORKED("run 0, 8\n run 1, 7\n run 2, 8\n run 0, 8\n"), "[overflow]"},
        {FORKED("run 0, 8\n run 1, 8\n run 2, 8\n run 1, 1\n"), "[underflow]"},
    };
    EXPECT_ALL(forked, programs);
}

/* x, w -> a -> y; no guard for x helps with w. */
static struct made *joined(void)
{
    struct made *m = made_create("joined", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t w = made_buffer(m, "w", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 1, 1);
    made_input(m, a, w, 1, 1);
    made_output(m, a, y, 1, 0);
    made_settle(m);
    return m;
}

static void each_input_needs_its_packets(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {"bind_root 0\n has_packets 0, 0, 2, L9\n has_packets 0, 1, 2, L9\n has_room 0, 0, 2, L9\n "
         "run 0, 2\n" DRAIN,
         NULL},
        {"bind_root 0\n has_packets 0, 0, 1, L9\n has_packets 0, 1, 2, L9\n has_room 0, 0, 2, L9\n "
         "run 0, 2\n" DRAIN,
         "'x' is known to hold 1 packets here, and 2 are needed [underflow]"},
        {"bind_root 0\n has_packets 0, 0, 2, L9\n has_packets 0, 1, 1, L9\n has_room 0, 0, 2, L9\n "
         "run 0, 2\n" DRAIN,
         "'w' is known to hold 1 packets here, and 2 are needed [underflow]"},
    };
    EXPECT_ALL(joined, programs);
}

/* x -> a -> y, and p from a to itself, with one packet at first; b reads p as well. */
static struct made *looped(uint64_t depth)
{
    struct made *m = made_create("looped", "sim16");
    int32_t one = 1;
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t p = made_buffer(m, "p", SCALAR_I32, depth, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    made_initial(m, p, 1, &one, sizeof one);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 1, 1);
    made_input(m, a, p, 1, 1);
    made_output(m, a, p, 1, 0);
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, p, 1, 1);
    made_output(m, b, y, 1, 0);
    made_settle(m);
    return m;
}

/* It claims room before it frees any; others read what it writes to itself. */
static void a_stage_may_write_to_itself(void **unused)
{
    (void)unused;
#define LOOPED(body) BINDS "has_packets 0, 0, 4, L9\n has_room 1, 0, 8, L9\n" body DRAIN
    const struct program programs[] = {
        {LOOPED("run 0, 1\n run 1, 2\n"), NULL},
        {LOOPED("repeat 4\n run 0, 1\n run 1, 1\n again\n"), NULL},
        {LOOPED("run 0, 2\n"), "'p' is known to hold 1 packets here, and 2 are needed [underflow]"},
        {LOOPED("run 0, 1\n run 0, 1\n"),
         "'p' may hold 2 packets here, and 1 more come: it is 2 deep [overflow]"},
        {LOOPED("run 0, 1\n run 1, 2\n run 1, 1\n"), "[underflow]"},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        expect(looped(2), programs[i].text, programs[i].message);
    expect(looped(3), LOOPED("run 0, 1\n run 0, 1\n run 1, 3\n"), NULL);
}

#define FOR_EVER " repeat 4000000000\n repeat 100000000\n run 0, 1\n again\n again\n"

/* Sums of packets are refused before they pass what can be counted. */
static void packets_beyond_counting_are_refused(void **unused)
{
    (void)unused;
    expect(chain(), BINDS " repeat 1\n" FOR_EVER FOR_EVER " again\n" DRAIN, "[numbers]");
    expect(chain(), BINDS " repeat 1\n" FOR_EVER " again\n" DRAIN, "[underflow]");
    const uint64_t many = UINT64_C(1) << 61;
    for (uint32_t wide = 0; wide < 2; wide++) { /* the input, the output */
        struct made *m = made_create("wide", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_U8, wide == 0 ? many : 8, CONTAINER_OUTER_IN);
        uint32_t y = made_buffer(m, "y", SCALAR_U8, wide == 1 ? many : 8, CONTAINER_OUTER_OUT);
        uint32_t k = made_node(m, "k", 0);
        made_input(m, k, x, wide == 0 ? many : 1, wide == 0 ? many : 1);
        made_output(m, k, y, wide == 1 ? many : 1, 0);
        made_settle(m);
        expect(m, "bind_root 0\n has_packets 0, 0, 1, L9\n run 0, 1\n" DRAIN, "[numbers]");
    }
}

/* ---- routines ---- */

#define PIPELINED(body)                                                                            \
    BINDS                                                                                          \
    "has_packets 0, 0, 3, L9\n call B0\nL1: has_packets 0, 0, 3, L2\n has_room 1, 0, 2, L2\n"      \
    " call B1\n jump L1\nL2: wait L1\n jump L9\n" body DRAIN

static void a_routine_may_be_entered_in_its_middle(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {PIPELINED("B1: run 1, 2\nB0: run 0, 3\n return\n"), NULL},
        {PIPELINED("B1: repeat 2\n run 1, 1\n again\nB0: run 0, 3\n return\n"), NULL},
        {PIPELINED("B0: run 0, 3\nB1: run 1, 2\n return\n"), "[underflow]"},
        {PIPELINED("B1: run 1, 2\nB0: run 0, 2\n return\n"), "[underflow]"},
        {PIPELINED("B1: run 1, 1\nB0: run 0, 3\n return\n"), "[overflow]"},
        {PIPELINED("B1: ends\nB0: run 0, 3\n return\n"), "[call-body]"},
        {PIPELINED("B1: call B0\nB0: run 0, 3\n return\n"), "[call-body]"},
        {PIPELINED("B1: run 1, 2\nB0: fence\n return\n"), "[call-empty]"},
        {BINDS "L1: call B0\n wait L1\nL9: ends\n round_robin 0, L10\n dispatch\n jump L9\n"
               "L10: wait L9\n halt\nB0: run 0, 1\n",
         "[call-open]"},
        {BINDS "return\n" DRAIN, "[return]"},
        {BINDS "has_packets 0, 0, 3, L9\n call B0\nB0: run 0, 3\n return\n" DRAIN, "[return]"},
        {BINDS "has_packets 0, 0, 6, L9\n call B0\n repeat 1\nB0: run 0, 3\n again\n" DRAIN,
         "[label-repeat]"},
        {BINDS "has_packets 0, 0, 6, L9\n repeat 2\n call B0\n again\n jump L9\n"
               "B0: run 0, 3\n return\n" DRAIN,
         NULL},
    };
    EXPECT_ALL(chain, programs);
}

/* ---- structure ---- */

static void loops_with_counts_are_nested(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {ITERATION("repeat 0\n run 0, 3\n again\n run 1, 2\n"), "[repeat-count]"},
        {ITERATION("repeat 3\n again\n run 0, 3\n run 1, 2\n"), "[repeat-empty]"},
        {ITERATION("repeat 3\n fence\n again\n run 0, 3\n run 1, 2\n"), "[repeat-empty]"},
        {ITERATION("run 0, 3\n again\n run 1, 2\n"), "[again]"},
        {BINDS DRAIN " repeat 3\n run 0, 1\n", "[repeat-open]"},
        {ITERATION("repeat 1\n ends\n run 0, 3\n again\n run 1, 2\n"), "[repeat-body]"},
        {ITERATION("repeat 1\n run 0, 3\n jump L3\n again\nL3: run 1, 2\n"), "[repeat-body]"},
        {ITERATION("repeat 1\n run 0, 3\nL3: again\n run 1, 2\n jump L3\n"), "[label-repeat]"},
        {ITERATION("repeat 1\n repeat 1\n repeat 1\n repeat 1\n repeat 1\n repeat 1\n repeat 1\n"
                   " repeat 1\n run 0, 3\n again\n again\n again\n again\n again\n again\n again\n"
                   " again\n run 1, 2\n"),
         NULL},
        {ITERATION("repeat 1\n repeat 1\n repeat 1\n repeat 1\n repeat 1\n repeat 1\n repeat 1\n"
                   " repeat 1\n repeat 1\n run 0, 3\n again\n again\n again\n again\n again\n"
                   " again\n again\n again\n again\n run 1, 2\n"),
         "loops are nested more than 8 levels deep [repeat-depth]"},
    };
    EXPECT_ALL(chain, programs);
}

static void operands_exist(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {ITERATION("run 2, 1\n"), "[stage]"},
        {BINDS "has_packets 0, 1, 1, L9\n" DRAIN, "[input]"},
        {BINDS "has_room 0, 1, 1, L9\n" DRAIN, "[output]"},
        {ITERATION("run 0, 0\n run 1, 2\n"), "[run-count]"},
        {ITERATION("run 0, 9\n"), "[run-batch]"},
        {"packets full\n packets full\n" BINDS DRAIN, "[packets-again]"},
        {"packets reference\n" BINDS DRAIN, NULL},
        {BINDS "L9: ends\n packets full\n round_robin 0, L10\n dispatch\n jump L9\n"
               "L10: wait L9\n halt\n",
         "[prologue]"},
    };
    EXPECT_ALL(chain, programs);
    struct made *m = chain();
    made_program(m, "packets full\n" BINDS DRAIN);
    m->program[1] = 3;
    struct prt_error error;
    assert_int_equal(made_verify(m, &error), PRT_E_VERIFY);
    assert_non_null(strstr(error.message, "[form]"));
    m = chain(); /* a list without numbers, which the assembler does not write */
    made_program(m, "partition_counts 8 8\n bind 0, 0\n bind 1, 1\n" DRAIN);
    m->program[1] = 0;
    memmove(m->program + 5, m->program + 13, m->program_bytes - 13);
    m->program_bytes -= 8;
    assert_int_equal(made_verify(m, &error), PRT_E_VERIFY);
    assert_non_null(strstr(error.message, "[partition-none]"));
}

static struct made *packed(void)
{
    struct made *m = chain();
    m->stages[0].entry = m->stages[1].entry = 0;
    m->stages[1].flags |= CONTAINER_STAGE_SPILLED;
    return m;
}

static void entries_are_loaded_once_by_their_owners(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {"bind_root 0\n load_reference 0\n bind_root 1\n" DRAIN, NULL},
        {BINDS DRAIN, "[load-missing]"},
        {BINDS "load_reference 0\n load_reference 1\n" DRAIN, "[load-entry]"},
        {BINDS "load_reference 0\n load_reference 0\n" DRAIN, "[load-again]"},
        {"load_reference 0\n" BINDS DRAIN, "[load-bound]"},
    };
    EXPECT_ALL(packed, programs);
    expect(chain(), BINDS "load_reference 0\n" DRAIN, "[load-entry]");
}

/* ---- what may be run ---- */

static void only_exact_stages_are_run(void **unused)
{
    (void)unused;
    const char *binds = "bind_root 0\n bind_root 1\n bind_root 2\n bind_root 3\n";
    char text[600];
    snprintf(text, sizeof text, "%s has_packets 1, 0, 1, L9\n has_room 1, 0, 2, L9\n run 1, 1\n%s",
             binds, DRAIN);
    expect(mixed(), text, "[run-bounded]");
    struct made *m = source();
    m->nodes[0].flags |= CONTAINER_NODE_STOPS;
    expect(m, BINDS "goes_on 0, 1, L9\n run 0, 1\n" DRAIN, "[run-stops]");
    for (uint32_t width = 1; width <= 3; width += 2) {
        m = source();
        m->buffers[0].row_packets = 2;
        m->inputs[0].window_width = width;
        m->inputs[0].window_height = 3;
        expect(m, BINDS "goes_on 0, 1, L9\n run 0, 1\n run 1, 1\n" DRAIN, "[run-window]");
    }
}

/* One of its inputs is enough, whichever. */
static void a_stage_with_one_window_is_not_run(void **unused)
{
    (void)unused;
    for (uint32_t seen = 0; seen < 3; seen++) {
        struct made *m = made_create("two", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 16, CONTAINER_OUTER_IN);
        uint32_t y = made_buffer(m, "y", SCALAR_I32, 16, CONTAINER_OUTER_IN);
        uint32_t a = made_node(m, "a", 0);
        made_input(m, a, x, 1, 1);
        made_input(m, a, y, 1, 1);
        m->buffers[x].row_packets = m->buffers[y].row_packets = 2;
        if (seen < 2) m->inputs[seen].window_width = m->inputs[seen].window_height = 3;
        expect(m,
               "bind_root 0\n has_packets 0, 0, 1, L9\n has_packets 0, 1, 1, L9\n run 0, 1\n" DRAIN,
               seen < 2 ? "[run-window]" : NULL);
    }
}

/* One of its outputs is enough, whichever. */
static void a_stage_with_one_bounded_output_is_not_run(void **unused)
{
    (void)unused;
    for (uint32_t bounded = 0; bounded < 3; bounded++) {
        struct made *m = made_create("two", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
        uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
        uint32_t z = made_buffer(m, "z", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
        uint32_t a = made_node(m, "a", 0);
        made_input(m, a, x, 1, 1);
        made_output(m, a, y, 1, 0);
        made_output(m, a, z, 1, 0);
        if (bounded < 2) m->outputs[bounded].push_least = 0;
        expect(m,
               "bind_root 0\n has_packets 0, 0, 1, L9\n has_room 0, 0, 1, L9\n has_room 0, 1, 1, "
               "L9\n run 0, 1\n" DRAIN,
               bounded < 2 ? "'a' has an output of a bounded rate: the number of "
                             "packets that it appends is unknown [run-bounded]"
                           : NULL);
    }
}

static void sources_and_loops_that_nobody_feeds_need_to_be_allowed(void **unused)
{
    (void)unused;
    const struct program of_source[] = {
        {BINDS "L1: goes_on 0, 4, L2\n has_room 1, 0, 4, L2\n run 0, 4\n run 1, 4\n jump L1\n"
               "L2: wait L1\n" DRAIN,
         NULL},
        {BINDS "L1: goes_on 0, 3, L2\n has_room 1, 0, 4, L2\n run 0, 4\n run 1, 4\n jump L1\n"
               "L2: wait L1\n" DRAIN,
         "[allowance]"},
        {BINDS "L1: has_room 1, 0, 4, L2\n run 0, 4\n run 1, 4\n jump L1\nL2: wait L1\n" DRAIN,
         "[allowance]"},
        {BINDS "goes_on 0, 4, L9\nL1: has_room 1, 0, 4, L2\n run 0, 4\n run 1, 4\n jump L1\n"
               "L2: wait L1\n" DRAIN,
         "[allowance]"},
    };
    EXPECT_ALL(source, of_source);
    /* A guard of its room does not bring back what an interrupt may have taken. */
    expect(source(),
           BINDS "goes_on 0, 2, L9\n goes_on 0, 4, L3\n jump L9\nL3: has_room 0, 0, 1, L9\n run 0, "
                 "1\n" DRAIN,
           "[allowance]");
    expect(source(),
           BINDS "goes_on 0, 2, L9\n goes_on 1, 4, L3\n jump L9\nL3: has_room 0, 0, 1, L9\n run 0, "
                 "1\n" DRAIN,
           NULL);
    const struct program of_circle[] = {
        {BINDS "L1: goes_on 0, 2, L2\n run 0, 2\n run 1, 2\n jump L1\nL2: wait L1\n" DRAIN, NULL},
        {BINDS "L1: run 0, 2\n run 1, 2\n jump L1\n" DRAIN, "[allowance]"},
        {BINDS "L1: goes_on 1, 2, L2\n run 0, 2\n run 1, 2\n jump L1\nL2: wait L1\n" DRAIN,
         "[allowance]"},
        {BINDS "goes_on 0, 4, L9\n run 0, 3\n run 1, 2\n" DRAIN, "[underflow]"},
        /* A question sees an interrupt, and then nothing is allowed any more. */
        {BINDS "goes_on 0, 2, L9\n goes_on 0, 4, L3\n jump L9\nL3: run 0, 2\n" DRAIN,
         "[run-ended]"},
        {BINDS "goes_on 0, 2, L9\n run 0, 2\n round_robin 0, L3\n dispatch\n jump L9\n"
               "L3: run 1, 2\n" DRAIN,
         "[run-ended]"},
    };
    EXPECT_ALL(circle, of_circle);
    expect(chain(), BINDS "goes_on 0, 1, L9\n" DRAIN, "[goes-on]");
    expect(chain(), "partition_counts 4 4 4 4 4 4 4 4 4\n" BINDS DRAIN, "4 ... (9 numbers)");
    expect(chain(), "partition_counts 4 4 4 4 4 4 4 17\n" BINDS DRAIN, "4 4 17");
}

static void phases_are_followed(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {BINDS
         "L1: has_packets 0, 0, 2, L2\n has_room 1, 0, 4, L2\n run 0, 1\n run 1, 1\n run 0, 1\n"
         " run 1, 3\n jump L1\nL2: wait L1\n" DRAIN,
         NULL},
        {BINDS
         "L1: has_packets 0, 0, 2, L2\n has_room 1, 0, 4, L2\n run 0, 1\n run 1, 2\n run 0, 1\n"
         " run 1, 2\n jump L1\nL2: wait L1\n" DRAIN,
         "[underflow]"},
        {BINDS
         "L1: has_packets 0, 0, 4, L2\n has_room 1, 0, 8, L2\n run 0, 4\n run 1, 8\n jump L1\n"
         "L2: wait L1\n" DRAIN,
         NULL},
        {BINDS
         "L1: has_packets 0, 0, 4, L2\n has_room 1, 0, 8, L2\n run 0, 3\n run 1, 5\n run 0, 1\n"
         " run 1, 3\n jump L1\nL2: wait L1\n" DRAIN,
         NULL},
        {BINDS
         "L1: has_packets 0, 0, 1, L2\n has_room 1, 0, 1, L2\n run 0, 1\n run 1, 1\n jump L1\n"
         "L2: wait L1\n" DRAIN,
         "[phase]"},
        {BINDS
         "L1: has_packets 0, 0, 2, L2\n has_room 1, 0, 4, L2\n repeat 2\n run 0, 1\n run 1, 1\n"
         " again\n run 1, 2\n jump L1\nL2: wait L1\n" DRAIN,
         "[repeat-phase]"},
        {BINDS
         "L1: has_packets 0, 0, 2, L2\n has_room 1, 0, 4, L2\n repeat 1\n run 0, 1\n run 1, 1\n"
         " again\n run 0, 1\n run 1, 3\n jump L1\nL2: wait L1\n" DRAIN,
         NULL},
        /* Where a loop finds a node is where it runs it first. */
        {BINDS "has_packets 0, 0, 4, L9\n has_room 1, 0, 8, L9\n repeat 2\n run 0, 1\n run 1, 1\n"
               " run 0, 1\n run 1, 3\n again\n" DRAIN,
         NULL},
        {BINDS "has_packets 0, 0, 6, L9\n has_room 1, 0, 8, L9\n repeat 2\n run 0, 1\n run 1, 1\n"
               " run 0, 1\n run 1, 3\n run 0, 1\n again\n" DRAIN,
         "[repeat-phase]"},
        {BINDS "has_packets 0, 0, 8, L9\n has_room 1, 0, 8, L9\n run 0, 1\n run 1, 1\n repeat 1\n "
               "run 0, 1\n"
               " run 1, 3\n repeat 2\n run 0, 2\n run 1, 1\n again\n again\n" DRAIN,
         NULL},
    };
    EXPECT_ALL(phased, programs);
}

/* x -> z -> w -> a -> y, where a, the second node, has two phases. */
static struct made *phased_behind(void)
{
    struct made *m = made_create("phased_behind", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t w = made_buffer(m, "w", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t z = made_node(m, "z", 0);
    made_input(m, z, x, 1, 1);
    made_output(m, z, w, 1, 0);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, w, 2, 1);
    made_output(m, a, y, 4, 0);
    m->nodes[a].phases = 2;
    m->nodes[a].repetitions = m->nodes[z].repetitions = 2;
    const uint64_t rates[] = {1, 1, 1, 1, 1, 3, 1, 3};
    memcpy(m->rates, rates, sizeof rates);
    m->rate_count = 8;
    m->inputs[1].rates = 0;
    m->outputs[1].rates = 4;
    /* No prologue; z twice, then a in both phases. */
    const uint64_t schedule[] = {UINT64_C(2) << 32 | 1, 9, 2, 0, 3, 0, 2, 1, 1, 2, 1};
    memcpy(m->certificate, schedule, sizeof schedule);
    m->certificate_count = sizeof schedule / sizeof *schedule;
    made_settle(m);
    return m;
}

/* After a dispatch the phase of no node is known. */
static void a_dispatch_makes_phases_unknown(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {BINDS
         "L1: has_packets 0, 0, 2, L2\n has_room 1, 0, 4, L2\n run 0, 2\n run 1, 2\n jump L1\n"
         "L2: wait L1\n" DRAIN,
         NULL},
        {BINDS "has_packets 0, 0, 2, L9\n run 0, 2\n run 1, 1\n run 1, 1\n" DRAIN, NULL},
        {BINDS "L1: round_robin 0, L2\n dispatch\n has_packets 1, 0, 2, L2\n has_room 1, 0, 4, L2\n"
               " run 1, 2\n jump L1\nL2: wait L1\n" DRAIN,
         "'run 1, 2': 'a' has rates with phases, and it is not known here which comes next "
         "[phase]"},
        {BINDS "L1: round_robin 0, L2\n dispatch\n has_packets 1, 0, 1, L2\n has_room 1, 0, 3, L2\n"
               " run 1, 1\n jump L1\nL2: wait L1\n" DRAIN,
         "'run 1, 1': 'a' has rates with phases, and it is not known here which comes next "
         "[phase]"},
    };
    EXPECT_ALL(phased_behind, programs);
}

/* A certificate fires phases in their order, from the first one on. */
static void certificates_keep_to_phases(void **unused)
{
    (void)unused;
    const struct {
        uint64_t words[15], count;
        const char *message;
    } cases[] = {
        {{9, 2, 0, 3, 0, 1, 1, 1, 2, 4}, 10, NULL},
        /* twice what begins and ends with the second phase */
        {{14, 3, 3, 1, 1, 0, 1, 2, 4, 1, 0, 1, 1, 3, 2}, 15, NULL},
        {{9, 2, 0, 3, 0, 1, 0, 1, 2, 2}, 10, "'a' is fired out of the order of its phases"},
        {{9, 2, 0, 3, 1, 1, 0, 1, 2, 4}, 10, "does not begin and end with the same phases"},
        {{9, 2, 1, 1, 1, 2, 0, 1, 2, 1}, 10, "the prologue does not begin with the first phases"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made *m = phased();
        memcpy(m->certificate + 1, cases[i].words, cases[i].count * sizeof *m->certificate);
        m->certificate_count = 1 + (uint32_t)cases[i].count;
        expect(m, BINDS DRAIN, cases[i].message);
    }
}

/* x -> a -> y, and p from a to itself, of which a has two phases: it writes 3 and takes 1, then 1 and 3. */
static struct made *phased_loop(void)
{
    struct made *m = made_create("phased_loop", "sim16");
    int32_t one = 1;
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t p = made_buffer(m, "p", SCALAR_I32, 8, CONTAINER_INNER);
    made_initial(m, p, 1, &one, sizeof one);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, x, 2, 1);
    made_input(m, a, p, 4, 3);
    made_output(m, a, p, 4, 0);
    m->nodes[a].repetitions = m->nodes[a].phases = 2;
    const uint64_t rates[] = {1, 1, 1, 1, 1, 3, 1, 3, 3, 1, 3, 1};
    memcpy(m->rates, rates, sizeof rates);
    m->rate_count = 12;
    m->inputs[0].rates = 0;
    m->inputs[1].rates = 4;
    m->outputs[0].rates = 8;
    m->stages[a].batch_max = 1;
    made_settle(m);
    return m;
}

/* phased, where b sees one packet more than it takes. */
static struct made *phased_seeing(void)
{
    struct made *m = phased();
    m->inputs[1].peek = 2;
    m->stages[1].batch_max = 7;
    return m;
}

/* Counts of a certificate are as large as numbers go; what they add up to is refused beyond 2^62 packets. */
static void certificates_count_up_to_their_limit(void **unused)
{
    (void)unused;
    const uint64_t most = UINT64_C(1) << 62;
    const struct {
        struct made *(*make)(void);
        uint64_t words[11], count;
        const char *message;
    } cases[] = {
        {phased_loop, {7, 2, 0, 2, 0, 1, 1, 1}, 8, NULL},
        {phased, {5, 2, 0, 1, 2, INT64_MAX}, 6, "passes more packets than can be counted"},
        {phased, {5, 2, 0, 1, 0, INT64_MAX}, 6, "passes more packets than can be counted"},
        {phased, {5, 2, 0, 1, 2, most}, 6, "does not leave as many packets"},
        {phased, {7, 2, 0, 2, 2, most, 2, 1}, 8, "passes more packets than can be counted"},
        {phased_seeing, {5, 2, 0, 1, 2, most - 1}, 6, "does not leave as many packets"},
        {phased_seeing, {5, 2, 0, 1, 2, most}, 6, "passes more packets than can be counted"},
        {phased_behind, {5, 2, 0, 1, 0, most}, 6, "does not leave as many packets"},
        {phased_behind, {7, 2, 0, 2, 0, most, 0, 1}, 8, "passes more packets than can be counted"},
        {phased_loop,
         {5, 2, 0, 1, 0, most / 2 - 1},
         6,
         "repeats a rule that does not end in the phase"},
        {phased_loop, {5, 2, 0, 1, 0, most / 2}, 6, "passes more packets than can be counted"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made *m = cases[i].make();
        m->certificate[0] = UINT64_C(2) << 32 | 1;
        memcpy(m->certificate + 1, cases[i].words, cases[i].count * sizeof *m->certificate);
        m->certificate_count = 1 + (uint32_t)cases[i].count;
        expect(m, m->node_count == 1 ? "bind_root 0\n" DRAIN : BINDS DRAIN, cases[i].message);
    }
}

/* ---- mixed graphs ---- */

#define MIXED(island)                                                                              \
    ".set 1: 0 1\n bind_root 0\n bind_root 1\n bind_root 2\n bind_root 3\nL1: ends\n" island       \
    "L2: round_robin 1, L3\n dispatch\n jump L1\nL3: wait L1\n" DRAIN

static void islands_are_run_beside_guarded_stages(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {MIXED("has_packets 2, 0, 4, L2\n has_room 3, 0, 4, L2\n run 2, 4\n run 3, 4\n jump L1\n"),
         NULL},
        {MIXED("has_packets 2, 0, 3, L2\n has_room 3, 0, 4, L2\n run 2, 4\n run 3, 4\n jump L1\n"),
         "[underflow]"},
        {MIXED("has_packets 2, 0, 4, L2\n run 2, 4\n run 3, 4\n jump L1\n"), "[overflow]"},
        /* A guard before the selection says nothing after it. */
        {".set 1: 2\n bind_root 0\n bind_root 1\n bind_root 2\n bind_root 3\n"
         "has_packets 2, 0, 4, L9\n round_robin 1, L9\n dispatch\n run 2, 4\n" DRAIN,
         "[guard-never]"},
        {".set 1: 1\n .set 2: 2\n bind_root 0\n bind_root 1\n bind_root 2\n bind_root 3\n"
         "L1: round_robin 1, L9\n dispatch\n has_packets 2, 0, 4, L1\n round_robin 2, L9\n"
         " dispatch\n run 2, 4\n" DRAIN,
         "[underflow]"},
        /* No instruction says that c has not ended. */
        {".set 1: 0 1\n bind_root 0\n bind_root 1\n bind_root 2\n bind_root 3\n"
         "L1: round_robin 1, L9\n dispatch\n has_packets 2, 0, 4, L1\n ends\n run 2, 4\n" DRAIN,
         "[run-ended]"},
    };
    EXPECT_ALL(mixed, programs);
}

/* s -> t -> a -> u -> b -> y; with `circle` u goes back to a, which then reads v as well. */
static struct made *stream(bool circle)
{
    struct made *m = made_create("stream", "sim16");
    int32_t one = 1;
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t v = circle ? made_buffer(m, "v", SCALAR_I32, 8, CONTAINER_INNER) : 0;
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    if (circle) made_initial(m, v, 2, &one, sizeof one);
    made_output(m, made_node(m, "s", 0), t, 1, 0);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, t, 1, 1);
    if (circle) made_input(m, a, v, 1, 1);
    made_output(m, a, u, 1, 0);
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, u, 1, 1);
    if (circle) made_output(m, b, v, 1, 0);
    made_output(m, b, y, 1, 0);
    m->pipeline.flags |=
        CONTAINER_PIPELINE_UNPROVEN; /* what is shown here is not that it cannot stall */
    made_settle(m);
    return m;
}

/* s -> t -> a -> u -> b -> y, and d, which no instruction says to be running, reads u as well, or another buffer of a. */
static struct made *beside(bool own_buffer)
{
    struct made *m = made_create("beside", "sim16");
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t v = own_buffer ? made_buffer(m, "v", SCALAR_I32, 8, CONTAINER_INNER) : 0;
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t z = made_buffer(m, "z", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    made_output(m, made_node(m, "s", 0), t, 1, 0);
    uint32_t a = made_node(m, "a", 0);
    made_input(m, a, t, 1, 1);
    if (own_buffer) made_output(m, a, v, 1, 0);
    made_output(m, a, u, 1, 0);
    uint32_t d = made_node(m, "d", 0);
    made_input(m, d, own_buffer ? v : u, 1, 1);
    made_output(m, d, z, 1, 0);
    uint32_t b = made_node(m, "b", 0);
    made_input(m, b, u, 1, 1);
    made_output(m, b, y, 1, 0);
    made_settle(m);
    return m;
}

#define STREAM(guard)                                                                              \
    "bind_root 0\n bind_root 1\n bind_root 2\nL1: ends\n goes_on 0, 2, L9\n" guard                 \
    " has_room 2, 0, 2, L9\n run 0, 2\n run 1, 2\n run 2, 2\n jump L1\n" DRAIN

/* A stage between running ones is running; one of a cycle ends with it. */
/* d finds packets that were there before the run, and c, which writes to it, may have stopped meanwhile. */
static void who_may_stop_is_not_inferred_to_run(void **unused)
{
    (void)unused;
    const int32_t one = 1;
    for (int stops = 0; stops < 2; stops++) {
        struct made *m = mixed();
        made_initial(m, 3, 4, &one, sizeof one);
        if (stops) m->nodes[2].flags |= CONTAINER_NODE_STOPS;
        made_settle(m);
        expect(m,
               "bind_root 0\n bind_root 1\n bind_root 2\n bind_root 3\nends\n"
               " has_packets 0, 0, 1, L9\n run 3, 4\n" DRAIN,
               stops ? "[run-ended]" : NULL);
    }
}

static void who_is_running_is_inferred(void **unused)
{
    (void)unused;
    expect(stream(false), STREAM(""), NULL);
    /* No instruction says that b is, and without a reader that is running a may have ended. */
    expect(stream(false),
           "bind_root 0\n bind_root 1\n bind_root 2\n goes_on 0, 2, L9\n ends\n goes_on 0, 2, L9\n"
           " run 0, 2\n run 1, 2\n" DRAIN,
           "'a' may have ended");
    for (uint32_t own_buffer = 0; own_buffer < 2; own_buffer++) { /* one running reader is enough */
        expect(beside(own_buffer),
               "bind_root 0\n bind_root 1\n bind_root 2\n bind_root 3\nends\n goes_on 0, 2, L9\n"
               " has_room 3, 0, 2, L9\n run 0, 2\n run 1, 2\n" DRAIN,
               NULL);
        expect(beside(own_buffer),
               "bind_root 0\n bind_root 1\n bind_root 2\n bind_root 3\nends\n goes_on 0, 2, L9\n"
               " run 0, 2\n run 1, 2\n" DRAIN,
               "'a' may have ended");
    }
    struct made *m = stream(true); /* its out-port is the second output of b */
    expect(m,
           "bind_root 0\n bind_root 1\n bind_root 2\nL1: ends\n goes_on 0, 2, L9\n"
           " has_room 2, 1, 2, L9\n run 0, 2\n run 1, 2\n run 2, 2\n jump L1\n" DRAIN,
           "[run-ended]");
    expect(stream(true),
           "bind_root 0\n bind_root 1\n bind_root 2\nL1: ends\n goes_on 0, 2, L9\n"
           " goes_on 1, 2, L9\n has_room 2, 1, 2, L9\n run 0, 2\n run 1, 2\n run 2, 2\n jump "
           "L1\n" DRAIN,
           NULL);
}

/* ---- guards and the end ---- */

/* s writes when it ends, and nothing before. */
static struct made *finishing(void)
{
    struct made *m = source();
    m->nodes[0].flags |= CONTAINER_NODE_FINISH;
    m->outputs[0].push = m->outputs[0].push_least = 0;
    m->outputs[0].finish_max = 3;
    return m;
}

static void guards_can_hold(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {BINDS "has_packets 0, 0, 9, L9\n" DRAIN, "[guard-depth]"},
        {BINDS "has_packets 0, 0, 8, L9\n" DRAIN, NULL},
        {BINDS "has_room 1, 0, 9, L9\n" DRAIN, "[guard-depth]"},
        {BINDS "has_packets 1, 0, 2, L9\n" DRAIN, "[guard-never]"},
        {BINDS "has_packets 1, 0, 1, L9\n" DRAIN, NULL},
        {BINDS "has_room 0, 0, 16, L9\n" DRAIN, "[guard-never]"},
        {BINDS "has_room 0, 0, 15, L9\n" DRAIN, NULL},
    };
    EXPECT_ALL(chain, programs);
    const struct program of_finish[] = {
        {BINDS "L1: ends\n has_packets 1, 0, 4, L9\n" DRAIN, "[guard-depth]"},
        {BINDS "L1: ends\n has_packets 1, 0, 3, L9\n" DRAIN, NULL},
        {BINDS "has_packets 1, 0, 3, L1\nL1: jump L9\n" DRAIN, "[guard-never]"},
    };
    EXPECT_ALL(finishing, of_finish);
    expect(source(), BINDS "goes_on 0, 8, L9\n run 0, 8\n has_packets 1, 0, 8, L9\n" DRAIN, NULL);
}

static void loops_come_to_an_end(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {BINDS "L1: jump L1\n" DRAIN, "[idle-loop]"},
        {BINDS "L1: has_packets 0, 0, 1, L1\n" DRAIN, "[idle-loop]"},
        {BINDS "L1: has_packets 0, 0, 1, L9\n jump L1\n" DRAIN, "[idle-loop]"},
        {BINDS "L1: has_packets 0, 0, 1, L9\nL2: run 0, 1\n jump L2\n" DRAIN, "[underflow]"},
        {BINDS "L1: wait L1\n jump L1\n", "[idle-loop]"},
        {BINDS "ends\n", "[end]"},
    };
    EXPECT_ALL(chain, programs);
}

static void the_end_is_reached_when_nothing_is_left(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {BINDS "halt\n", "[halt]"},
        {BINDS "L1: ends\n wait L1\n halt\n", "[halt]"},
        {".set 1: 0\n" BINDS
         "L1: ends\n round_robin 1, L2\n dispatch\n jump L1\nL2: wait L1\n halt\n",
         "[halt]"},
        {".set 1: 0\n .set 2: 1\n" BINDS "L1: ends\n round_robin 1, L2\n dispatch\n jump L1\n"
         "L2: round_robin 2, L3\n dispatch\n jump L1\nL3: wait L1\n halt\n",
         NULL},
        {BINDS "L1: round_robin 0, L2\n dispatch\n jump L1\nL2: wait L1\n halt\n", "[halt]"},
        {BINDS "L1: ends\n round_robin 0, L2\n dispatch\n jump L1\nL2: halt\n", "[halt]"},
        /* Something may have come since. */
        {BINDS "L1: ends\n round_robin 0, L2\n dispatch\n jump L1\n"
               "L2: has_packets 0, 0, 1, L3\nL3: wait L1\n halt\n",
         "[halt]"},
        {BINDS "L1: ends\n round_robin 0, L2\n dispatch\n jump L1\n"
               "L2: has_packets 0, 0, 1, L3\nL3: ends\n wait L1\n halt\n",
         "[halt]"},
        {BINDS "L1: ends\n round_robin 0, L2\n dispatch\n jump L1\nL2: ends\n wait L1\n halt\n",
         NULL},
        {BINDS "L1: ends\n round_robin 0, L2\n dispatch\n jump L1\nL2: wait L1\n ends\n halt\n",
         "[halt]"},
        {BINDS "L1: ends\n round_robin 0, L2\n dispatch\n fence\nL2: wait L1\n halt\n", "[halt]"},
        /* A launch may have completed by the `wait`, which then falls through. */
        {BINDS "L1: ends\n round_robin 0, L2\n dispatch\n wait L1\n halt\nL2: wait L1\n halt\n",
         "[halt]"},
        {BINDS "L1: ends\n round_robin 0, L2\n dispatch\n wait L1\nL2: wait L1\n halt\n", "[halt]"},
        {BINDS "has_packets 0, 0, 1, L9\n run 0, 1\n wait L9\n halt\n" DRAIN, "[halt]"},
        {BINDS "L1: ends\n round_robin 0, L2\n dispatch\n wait L1\n jump L1\nL2: wait L1\n halt\n",
         NULL},
        {BINDS "L1: ends\n round_robin 0, L2\n jump L9\nL2: dispatch\n" DRAIN, "[dispatch]"},
        {BINDS "ends\n round_robin 0, L9\n fence\n dispatch\n" DRAIN, "[dispatch]"},
    };
    EXPECT_ALL(chain, programs);
}

/* A fact of one path only does not hold after the place where it meets another. */
static void paths_that_meet_have_in_common_what_both_know(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        /* selected: at first, and not when it comes back */
        {BINDS "round_robin 0, L9\nL1: dispatch\n jump L1\n" DRAIN, "[dispatch]"},
        {BINDS "L1: round_robin 0, L9\n dispatch\n jump L1\n" DRAIN, NULL},
        /* nothing left to do: after the wait, and not where no wait has been */
        {BINDS
         "has_packets 0, 0, 1, L6\nL1: ends\n round_robin 0, L2\n dispatch\n jump L1\nL2: wait L1\n"
         "L5: halt\nL6: jump L5\n",
         "[halt]"},
        {BINDS
         "has_packets 0, 0, 1, L6\nL1: ends\n round_robin 0, L2\n dispatch\n jump L1\nL2: wait L1\n"
         "L5: halt\nL6: jump L1\n",
         NULL},
    };
    EXPECT_ALL(chain, programs);
}

/* ---- work ---- */

/* So many words of text, again and again. */
static char *repeated(const char *first, const char *line, size_t count, const char *last)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    fputs(first, to);
    for (size_t i = 0; i < count; i++)
        fputs(line, to);
    fputs(last, to);
    assert_int_equal(fclose(to), 0);
    return text;
}

static void expect_text(struct made *m, char *text, const char *message)
{
    expect(m, text, message);
    free(text);
}

/* Work is counted: a program that would ask for more than its size admits is refused. */
static void work_is_bounded(void **unused)
{
    (void)unused;
    /* So many calls of so long a routine are quadratic. */
    char *routine = repeated("jump L9\nB0: ", "run 0, 1\n", 3000, "return\n" DRAIN);
    expect_text(chain(), repeated(BINDS, "call B0\n", 3000, routine), "[work]");
    free(routine);
    /* Long and straight is not too much. */
    routine = repeated(BINDS "has_packets 0, 0, 1, L9\n", "fence\n", 20000, DRAIN);
    expect_text(chain(), routine, NULL);
}

enum { LEVELS = 200 };

/* x -> n0 -> b0 -> n1 -> ... -> y */
static struct made *row(void)
{
    struct made *m = made_create("row", "sim16");
    char name[16];
    uint32_t before = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    for (uint32_t i = 0; i < LEVELS; i++) {
        bool last = i + 1 == LEVELS;
        snprintf(name, sizeof name, "b%u", i);
        uint32_t next = made_buffer(m, last ? "y" : name, SCALAR_I32, 8,
                                    last ? CONTAINER_OUTER_OUT : CONTAINER_INNER);
        snprintf(name, sizeof name, "n%u", i);
        uint32_t node = made_node(m, name, 0);
        made_input(m, node, before, 1, 1);
        made_output(m, node, next, 1, 0);
        before = next;
    }
    made_settle(m);
    return m;
}

/* A pipeline of many levels is filled by as many calls into one routine; `missing` is left out. */
static char *pipelined(uint32_t missing)
{
    size_t size = (size_t)LEVELS * 128 + 1024, used = 0;
    char *text = malloc(size);
    assert_non_null(text);
#define PUT(...) used += (size_t)snprintf(text + used, size - used, __VA_ARGS__)
    for (uint32_t i = 0; i < LEVELS; i++)
        PUT(" bind_root %u\n", i);
    for (uint32_t i = 0; i + 1 < LEVELS; i++)
        PUT(" has_packets 0, 0, 4, L9\n call B%u\n", i);
    PUT("L1: has_packets 0, 0, 4, L2\n has_room %d, 0, 4, L2\n call B%d\n jump L1\n", LEVELS - 1,
        LEVELS - 1);
    PUT("L2: wait L1\n jump L9\n");
    for (uint32_t i = LEVELS; i-- > 0;) {
        PUT("B%u:\n", i);
        if (i != missing) PUT(" run %u, 4\n", i);
    }
    PUT(" return\n%s", DRAIN);
#undef PUT
    return text;
}

static void a_long_pipeline_is_filled_level_by_level(void **unused)
{
    (void)unused;
    expect_text(row(), pipelined(LEVELS), NULL);
    expect_text(row(), pipelined(LEVELS / 2), "[underflow]");
}

#define ONE_MORE " has_packets 0, 0, 1, L1\n run 0, 1\n"

/* Two paths that bring something new are kept apart from unknown, a third is not: 4 x 2 have room beside 7. */
static void what_two_paths_bring_is_joined_exactly(void **unused)
{
    (void)unused;
    const struct program programs[] = {
        {BINDS ONE_MORE ONE_MORE "L1: has_packets 0, 0, 5, L9\n run 0, 5\n" DRAIN, NULL},
        {BINDS ONE_MORE ONE_MORE "L1: has_packets 0, 0, 6, L9\n run 0, 6\n" DRAIN,
         "'t' may hold 5 packets here"},
        {BINDS ONE_MORE ONE_MORE ONE_MORE "L1: has_packets 0, 0, 4, L9\n run 0, 4\n" DRAIN,
         "'t' may hold 16 packets here"},
    };
    EXPECT_ALL(chain, programs);
}

/* A value that grows by one in each round soon becomes unknown, before it is at its limit. */
static void slow_growth_is_not_followed(void **unused)
{
    (void)unused;
    struct made *m = chain();
    m->buffers[1].depth_packets = UINT64_C(1) << 40;
    made_settle(m);
    expect(m,
           BINDS "L1: has_packets 0, 0, 1, L2\n has_room 0, 0, 2, L2\n run 0, 1\n jump L1\nL2: "
                 "wait L1\n" DRAIN,
           NULL);
}

/* So many labels, each with a state of its own. */
static void long_chains_of_joins_are_too_much_work(void **unused)
{
    (void)unused;
    enum { COUNT = 10000 };
    size_t size = (size_t)COUNT * 48 + (size_t)LEVELS * 24 + 1024, used = 0;
    char *text = malloc(size);
    assert_non_null(text);
    for (uint32_t i = 0; i < LEVELS; i++)
        used += (size_t)snprintf(text + used, size - used, " bind_root %u\n", i);
    for (uint32_t i = 0; i < COUNT; i++)
        used += (size_t)snprintf(text + used, size - used, "I%u: has_packets 0, 0, 1, I%u\n", i,
                                 i + 1 + i % 3);
    for (uint32_t i = COUNT; i < COUNT + 4; i++)
        used += (size_t)snprintf(text + used, size - used, "I%u: fence\n", i);
    snprintf(text + used, size - used, "%s", DRAIN);
    expect_text(row(), text, "[work]");
}

static uint64_t work_of(struct made *m, const char *text)
{
    struct prt_container c;
    struct prt_error error;
    struct prt_proof proof;
    size_t size;
    made_program(m, text);
    uint8_t *bytes = made_finish(m, &size);
    assert_int_equal(prt_container_read_memory(bytes, size, &c, &error), PRT_OK);
    if (prt_verify_prove(&c, &proof, &error) != PRT_OK) fail_msg("%s\n%s", error.message, text);
    prt_container_free(&c);
    free(bytes);
    made_free(m);
    return proof.work;
}

/* A text with so many sets of stage 0, the last of all stages, the only one it asks for. */
static uint64_t work_of_sets(uint32_t count)
{
    char text[8192];
    size_t used = 0;
    for (uint32_t i = 1; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ".set %u: 0%s\n", i,
                                 i + 1 == count ? " 1" : "");
    snprintf(text + used, sizeof text - used,
             "bind_root 0\n bind_root 1\nL1: ends\n round_robin %u, L2\n dispatch\n jump L1\nL2: "
             "wait L1\n halt\n",
             count - 1);
    return work_of(chain(), text);
}

/* Each look is counted: every stage and every reader of a question about all of them, every phase at both ends
 * of a run, every word of a set of sets. */
static void what_is_looked_at_is_work(void **unused)
{
    (void)unused;
    const uint64_t stages = 2, readers = 2;
    assert_int_equal(work_of(chain(), BINDS "ends\n ends\n" DRAIN) -
                         work_of(chain(), BINDS "ends\n" DRAIN),
                     1 + stages + readers);
    /* of s, a and b with two inputs and two readers; a is asked for, then it is known */
    const char *binds =
        "bind_root 0\n bind_root 1\n bind_root 2\n ends\n goes_on 0, 2, L9\n has_room 2, 0, 2, L9\n"
        " run 0, 2\n";
    uint64_t works[3];
    for (int runs = 0; runs < 3; runs++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s%s%s", binds, runs > 0 ? " run 1, 1\n" : "",
                 runs > 1 ? " run 1, 1\n" : "", DRAIN);
        works[runs] = work_of(stream(false), text);
    }
    assert_int_equal((works[1] - works[0]) - (works[2] - works[1]), 2 * (3 + 2 + 2));
    /* a has two phases, b one: each has an input and an output */
    const char *two =
        BINDS "has_packets 0, 0, 2, L9\n has_room 1, 0, 4, L9\n run 0, 1\n run 1, 1\n";
    char of_a[512], of_b[512];
    snprintf(of_a, sizeof of_a, "%s run 0, 1\n%s", two, DRAIN);
    snprintf(of_b, sizeof of_b, "%s run 0, 1\n run 1, 1\n%s", two, DRAIN);
    uint64_t of_phases = work_of(phased(), of_a);
    uint64_t of_none = work_of(phased(), of_b) - of_phases;
    char of_neither[512];
    snprintf(of_neither, sizeof of_neither, "%s%s", two, DRAIN);
    of_phases -= work_of(phased(), of_neither);
    assert_int_equal(of_phases - of_none, 2 * (1 + 1));
    assert_int_equal(work_of_sets(3), work_of_sets(64));
    assert_true(work_of_sets(65) > work_of_sets(64));
    assert_int_equal(work_of_sets(65), work_of_sets(128));
}

static void a_proof_is_told(void **unused)
{
    (void)unused;
    struct made *m = chain();
    struct prt_container c;
    struct prt_error error;
    struct prt_proof proof;
    size_t size;
    made_program(m, ITERATION("run 0, 3\n run 1, 2\n"));
    uint8_t *bytes = made_finish(m, &size);
    assert_int_equal(prt_container_read_memory(bytes, size, &c, &error), PRT_OK);
    assert_int_equal(prt_verify_prove(&c, &proof, &error), PRT_OK);
    assert_int_equal(proof.instructions, 14);
    assert_int_equal(proof.guards, 2);
    assert_int_equal(proof.runs, 2);
    assert_int_equal(proof.stages, 2);
    assert_int_equal(proof.static_stages, 2);
    assert_true(proof.work > 0 && proof.work <= proof.work_limit);
    prt_container_free(&c);
    free(bytes);
    made_free(m);
}

TEST_MAIN("verify_program", cmocka_unit_test(levels_are_followed_through_an_iteration),
          cmocka_unit_test(each_reader_has_a_level_of_its_own),
          cmocka_unit_test(each_input_needs_its_packets),
          cmocka_unit_test(a_stage_may_write_to_itself), cmocka_unit_test(repeats_are_not_executed),
          cmocka_unit_test(packets_beyond_counting_are_refused),
          cmocka_unit_test(a_routine_may_be_entered_in_its_middle),
          cmocka_unit_test(loops_with_counts_are_nested), cmocka_unit_test(operands_exist),
          cmocka_unit_test(entries_are_loaded_once_by_their_owners),
          cmocka_unit_test(only_exact_stages_are_run),
          cmocka_unit_test(a_stage_with_one_window_is_not_run),
          cmocka_unit_test(a_stage_with_one_bounded_output_is_not_run),
          cmocka_unit_test(sources_and_loops_that_nobody_feeds_need_to_be_allowed),
          cmocka_unit_test(phases_are_followed), cmocka_unit_test(a_dispatch_makes_phases_unknown),
          cmocka_unit_test(certificates_keep_to_phases),
          cmocka_unit_test(certificates_count_up_to_their_limit),
          cmocka_unit_test(islands_are_run_beside_guarded_stages),
          cmocka_unit_test(who_is_running_is_inferred),
          cmocka_unit_test(who_may_stop_is_not_inferred_to_run), cmocka_unit_test(guards_can_hold),
          cmocka_unit_test(loops_come_to_an_end),
          cmocka_unit_test(the_end_is_reached_when_nothing_is_left),
          cmocka_unit_test(paths_that_meet_have_in_common_what_both_know),
          cmocka_unit_test(work_is_bounded),
          cmocka_unit_test(a_long_pipeline_is_filled_level_by_level),
          cmocka_unit_test(what_two_paths_bring_is_joined_exactly),
          cmocka_unit_test(slow_growth_is_not_followed),
          cmocka_unit_test(long_chains_of_joins_are_too_much_work),
          cmocka_unit_test(what_is_looked_at_is_work), cmocka_unit_test(a_proof_is_told))
