/* SPDX-License-Identifier: MIT */
/* The machine's instructions for static schedules: guards, run, repeats, routines, fence, packets
 * and reference entries.  Every program gives the result of the guarded loop by itself, bit by bit. */
#include "tests/test.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "lang/sched_code.h"
#include "runtime/host/pipert_run.h"
#include "tests/conform/pipelines.h"

#define GUARDED "L9: ends\n round_robin 0, L8\n dispatch\n jump L9\nL8: wait L9\n halt\n"
#define ROOTS3 " bind_root 0\n bind_root 1\n bind_root 2\n"
#define OWNERS3                                                                                    \
    " packets condensed\n bind_root 0\n load_reference 0\n bind_root 1\n load_reference 1\n"       \
    " bind_root 2\n load_reference 2\n"

static struct host in, out, wanted;

static int32_t kernel_count(const struct kernel_batch *batch) /* no input, push 1: 0, 1, ... */
{
    for (uint64_t i = 0; i < batch->count; i++)
        ((int32_t *)batch->out[0])[i] = (int32_t)(batch->first_firing + i);
    return KERNEL_OK;
}

static const struct prt_image_kernel copy = {.run = kernel_copy}, twice = {.run = kernel_twice},
                                     sum2 = {.run = kernel_sum2}, diff = {.run = kernel_diff},
                                     divide = {.run = kernel_divide}, count = {.run = kernel_count};

/* ---- pipelines ---- */

static void add_node(struct made *m, const char *name, uint32_t from, uint64_t pop, uint64_t peek,
                     uint32_t to, uint64_t push)
{
    uint32_t node = made_node(m, name, 0);
    if (from != UINT32_MAX) made_input(m, node, from, pop, peek);
    made_output(m, node, to, push, 0);
}

/* One pack of all stages; `entries` of the table for them, the others use those of the first. */
static void pack(struct made *m, uint32_t entries)
{
    for (uint32_t i = 0; i < m->stage_count; i++) {
        m->stages[i].pack = 0;
        m->stages[i].place = i;
        m->stages[i].entry = i % entries;
        m->stages[i].flags = i + 1 == m->stage_count ? CONTAINER_STAGE_ENDS_PACK : 0;
        if (i >= entries) m->stages[i].flags |= CONTAINER_STAGE_SPILLED;
    }
}

/* x -> a -> s -> twice -> t -> sum2 -> y; a is `first`. */
static struct made *chain_made(uint64_t peek)
{
    struct made *m = made_create("chain", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t s = made_buffer(m, "s", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "first", x, 1, peek, s, 1);
    add_node(m, "twice", s, 1, 1, t, 2);
    add_node(m, "sum2", t, 2, 2, y, 1);
    return m;
}

static struct prt_program *chain_program(const char *text, struct prt_image_kernel first)
{
    struct made *m = chain_made(first.run == kernel_diff ? 2 : 1);
    if (strstr(text, "load_reference") != NULL) pack(m, 3);
    made_program(m, text);
    return pipelines_load(m, (struct prt_image_kernel[]){first, twice, sum2});
}

/* count -> c -> copy -> y */
static struct prt_program *source_program(const char *text)
{
    struct made *m = made_create("source", "sim16");
    uint32_t c = made_buffer(m, "c", SCALAR_I32, 64, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
    add_node(m, "count", UINT32_MAX, 0, 0, c, 1);
    add_node(m, "copy", c, 1, 1, y, 1);
    made_program(m, text);
    return pipelines_load(m, (struct prt_image_kernel[]){count, copy});
}

/* ---- programs of the chain ---- */

static const char guarded[] = ROOTS3 GUARDED;

static const char in_sequence[] = OWNERS3 "L1: has_packets 0, 0, 33, L2\n has_room 2, 0, 32, L2\n"
                                          " run 0, 32\n run 1, 32\n run 2, 32\n jump L1\n"
                                          "L2: wait L1\n" GUARDED;

static const char primed[] = OWNERS3 " has_packets 0, 0, 17, L9\n run 0, 16\n"
                                     "L1: has_packets 0, 0, 17, L2\n has_room 2, 0, 16, L2\n"
                                     " run 1, 16\n run 0, 16\n run 2, 16\n jump L1\n"
                                     "L2: wait L1\n" GUARDED;

static const char nested[] = ROOTS3 "L1: has_packets 0, 0, 49, L2\n has_room 2, 0, 48, L2\n"
                                    " repeat 2\n repeat 3\n run 0, 8\n run 1, 4\n repeat 1\n"
                                    " run 1, 4\n again\n again\n repeat 3\n repeat 2\n repeat 2\n"
                                    " run 2, 1\n run 2, 1\n again\n again\n again\n again\n"
                                    " jump L1\nL2: wait L1\n" GUARDED;

static const char fenced[] =
    ROOTS3 "L1: has_packets 0, 0, 33, L2\n has_room 2, 0, 32, L2\n run 0, 32\n fence\n run 1, 16\n"
           " run 2, 16\n run 1, 16\n fence\n fence\n run 2, 16\n jump L1\n"
           "L2: wait L1\n" GUARDED;

static const char side_by_side[] =
    " partition_counts 1 2 1\n bind 0, 0\n bind 1, 1\n bind 2, 2\n"
    " has_packets 0, 0, 17, L9\n call B0\n has_packets 0, 0, 17, L9\n call B1\n"
    "L1: has_packets 0, 0, 17, L2\n has_room 2, 0, 16, L2\n call B2\n jump L1\n"
    "L2: wait L1\n jump L9\n"
    "B2: run 2, 16\nB1: run 1, 16\nB0: run 0, 16\n return\n" GUARDED;

/* The first stage by guards and run, the others selected. */
static const char mixed[] =
    ".set 1: 1 2\n partition_counts 1 2 1\n bind 0, 0\n bind 1, 1\n bind 2, 2\n"
    "L1: ends\n has_packets 0, 0, 17, L2\n has_room 0, 0, 16, L2\n run 0, 16\n jump L1\n"
    "L2: fullest 1, L3\n dispatch\n jump L1\nL3: wait L1\n" GUARDED;

static const char *const programs[] = {guarded, in_sequence,  primed, nested,
                                       fenced,  side_by_side, mixed};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

/* ---- running ---- */

static struct prt_run *run_on(const struct prt_program *program, const char *device,
                              enum prt_dispatch_mode dispatch, struct host *to,
                              enum prt_status *status, struct prt_error *error)
{
    struct prt_run *run;
    struct prt_run_options options = {.host_threads = 1, .device = device, .dispatch = dispatch};
    assert_int_equal(prt_run_create(program, &options, &run, error), PRT_OK);
    *to = (struct host){.failure = to->failure, .fails_after = to->fails_after};
    bool fed = prt_program_find_port(program, "x") != PRT_NONE;
    pipelines_bind(program, run, fed ? &in : NULL, to);
    *status = prt_run_execute(run, error);
    return run;
}

static void expect_same_output(void)
{
    assert_int_equal(out.count, wanted.count);
    assert_memory_equal(out.packets, wanted.packets, wanted.count * sizeof out.packets[0]);
}

static struct prt_stage_statistics stage_of(const struct prt_run *run, uint32_t stage)
{
    struct prt_stage_statistics statistics;
    assert_true(prt_run_stage(run, stage, &statistics));
    return statistics;
}

static void expect_same_firings(const struct prt_run *a, const struct prt_run *b)
{
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(stage_of(a, i).firings, stage_of(b, i).firings);
}

static struct prt_run_statistics run_well(const struct prt_program *program, const char *device,
                                          enum prt_dispatch_mode dispatch, size_t length)
{
    struct prt_error error;
    struct prt_run_statistics statistics;
    enum prt_status status;
    host_ramp(&in, length);
    struct prt_run *run = run_on(program, device, dispatch, &out, &status, &error);
    if (status != PRT_OK) print_message("%s\n", error.message);
    assert_int_equal(status, PRT_OK);
    prt_run_statistics(run, &statistics);
    prt_run_destroy(run);
    return statistics;
}

/* ---- results ---- */

/* Whatever the program, the length of the stream and the pieces that it comes in. */
static void streams_of_every_length_come_out_whole(void **unused)
{
    (void)unused;
    struct prt_program *plain[2] = {chain_program(guarded, copy), chain_program(guarded, diff)};
    for (int p = 1; p < PROGRAMS; p++) {
        for (int windowed = 0; windowed < 2; windowed++) {
            struct prt_program *program = chain_program(programs[p], windowed ? diff : copy);
            for (size_t length = 0; length < 700; length += 1 + length / 7) {
                struct prt_error error;
                enum prt_status status;
                host_ramp(&in, length);
                struct prt_run *first =
                    run_on(plain[windowed], NULL, PRT_DISPATCH_PROGRAM, &wanted, &status, &error);
                assert_int_equal(status, PRT_OK);
                host_ramp(&in, length);
                in.piece = length % 5 * 7;
                struct prt_run *second =
                    run_on(program, NULL, PRT_DISPATCH_PROGRAM, &out, &status, &error);
                if (status != PRT_OK) print_message("program %d: %s\n", p, error.message);
                assert_int_equal(status, PRT_OK);
                expect_same_output();
                expect_same_firings(first, second);
                prt_run_destroy(first);
                prt_run_destroy(second);
            }
            prt_program_free(program);
        }
    }
    prt_program_free(plain[0]);
    prt_program_free(plain[1]);
}

static void the_null_device_fires_as_often(void **unused)
{
    (void)unused;
    struct prt_program *plain = chain_program(guarded, copy);
    for (int p = 1; p < PROGRAMS; p++) {
        struct prt_program *program = chain_program(programs[p], copy);
        struct prt_error error;
        enum prt_status status;
        host_ramp(&in, 5000);
        struct prt_run *first =
            run_on(plain, "null", PRT_DISPATCH_PROGRAM, &wanted, &status, &error);
        assert_int_equal(status, PRT_OK);
        host_ramp(&in, 5000);
        struct prt_run *second =
            run_on(program, "null", PRT_DISPATCH_PROGRAM, &out, &status, &error);
        assert_int_equal(status, PRT_OK);
        assert_int_equal(out.count, 5000);
        expect_same_firings(first, second);
        prt_run_destroy(first);
        prt_run_destroy(second);
        prt_program_free(program);
    }
    prt_program_free(plain);
}

/* ---- drawn at random ---- */

enum { STAGES_MAX = 6, TEXT_MAX = 8192 };

struct drawn { /* a chain, and firings of each stage an iteration */
    struct prt_image_kernel kernels[STAGES_MAX];
    uint64_t pops[STAGES_MAX], pushes[STAGES_MAX];
    uint32_t firings[STAGES_MAX];
    uint32_t count;
    bool side_by_side;
};

static uint32_t below(uint64_t *seed, uint32_t bound)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % bound);
}

static struct drawn draw(uint64_t *seed)
{
    struct drawn d = {.count = 2 + below(seed, STAGES_MAX - 1), .side_by_side = below(seed, 2)};
    uint32_t packets = 16u * (1 + below(seed, 8)); /* between two stages, an iteration */
    for (uint32_t i = 0; i < d.count; i++) {
        uint32_t kind = below(seed, packets > 200 ? 2 : packets < 8 ? 1 : 3);
        d.kernels[i] = kind == 0 ? copy : kind == 1 ? sum2 : twice;
        d.pops[i] = kind == 1 ? 2 : 1;
        d.pushes[i] = kind == 2 ? 2 : 1;
        if (packets % 2 != 0 && kind == 1) d.kernels[i] = copy, d.pops[i] = 1;
        d.firings[i] = packets / (uint32_t)d.pops[i];
        packets = d.firings[i] * (uint32_t)d.pushes[i];
    }
    return d;
}

/* Room for two iterations everywhere: side by side, one is written while the other is read. */
static struct made *drawn_made(const struct drawn *d)
{
    struct made *m = made_create("drawn", "sim16");
    uint32_t from = made_buffer(m, "x", SCALAR_I32, (uint64_t)2 * d->firings[0] * d->pops[0],
                                CONTAINER_OUTER_IN);
    for (uint32_t i = 0; i < d->count; i++) {
        char name[16];
        bool last = i + 1 == d->count;
        snprintf(name, sizeof name, "s%u", i);
        uint32_t to = made_buffer(m, last ? "y" : name, SCALAR_I32,
                                  (uint64_t)2 * d->firings[i] * d->pushes[i],
                                  last ? CONTAINER_OUTER_OUT : CONTAINER_INNER);
        add_node(m, name, from, d->pops[i], d->pops[i], to, d->pushes[i]);
        m->nodes[i].repetitions = d->firings[i];
        from = to;
    }
    return m;
}

static void add_text(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_text(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    assert_true(vsnprintf(text + used, TEXT_MAX - used, format, arguments) <
                (int)(TEXT_MAX - used));
    va_end(arguments);
}

/* All firings of a stage, at once or in a nest of repeats. */
static void add_runs(char *text, uint32_t stage, uint32_t firings, uint64_t *seed)
{
    uint32_t depth = 0;
    for (uint32_t rounds = 2; rounds < 4 && firings > 1; rounds++) {
        if (firings % rounds != 0 || below(seed, 2) == 0) continue;
        add_text(text, " repeat %u\n", rounds);
        firings /= rounds;
        depth++;
    }
    add_text(text, " run %u, %u\n", stage, firings);
    while (depth-- > 0)
        add_text(text, below(seed, 4) == 0 ? " again\n" : " again # a round\n");
}

static void add_prologue(char *text, const struct drawn *d)
{
    if (d->side_by_side) add_text(text, " partition_equally 2\n");
    for (uint32_t i = 0; i < d->count; i++)
        d->side_by_side ? add_text(text, " bind %u, %u\n", i, i)
                        : add_text(text, " bind_root %u\n", i);
}

static void add_guards(char *text, const struct drawn *d, const char *label, bool room)
{
    uint32_t last = d->count - 1;
    assert(last < STAGES_MAX);
    add_text(text, " has_packets 0, 0, %u, %s\n", d->firings[0] * (uint32_t)d->pops[0], label);
    if (room)
        add_text(text, " has_room %u, 0, %u, %s\n", last,
                 d->firings[last] * (uint32_t)d->pushes[last], label);
}

/* In sequence: the stages one after the other; side by side: the routine of the levels from the last
 * to the first, entered further in front each time. */
static void add_static(char *text, const struct drawn *d, uint64_t *seed)
{
    for (uint32_t i = 0; d->side_by_side && i + 1 < d->count; i++) {
        add_guards(text, d, "L9", false);
        add_text(text, " call B%u\n", i);
    }
    add_text(text, "L1:\n");
    add_guards(text, d, "L2", true);
    if (d->side_by_side) add_text(text, " call B%u\n", d->count - 1);
    for (uint32_t i = 0; !d->side_by_side && i < d->count; i++) {
        add_runs(text, i, d->firings[i], seed);
        if (below(seed, 4) == 0) add_text(text, " fence\n");
    }
    add_text(text, " jump L1\nL2: wait L1\n jump L9\n");
    for (uint32_t i = d->count; d->side_by_side && i-- > 0;) {
        add_text(text, "B%u:\n", i);
        add_runs(text, i, d->firings[i], seed);
        if (i == 0) add_text(text, " return\n");
    }
}

static struct prt_program *drawn_program(const struct drawn *d, uint64_t *seed, bool with_static)
{
    char text[TEXT_MAX] = "";
    struct made *m = drawn_made(d);
    add_prologue(text, d);
    if (with_static) add_static(text, d, seed);
    add_text(text, "%s", GUARDED);
    made_program(m, text);
    return pipelines_load(m, d->kernels);
}

static void drawn_schedules_give_the_same_streams(void **unused)
{
    (void)unused;
    uint64_t seed = 20261122, fired = 0, dispatched = 0;
    for (int round = 0; round < 300; round++) {
        struct drawn d = draw(&seed);
        struct prt_program *plain = drawn_program(&d, &seed, false);
        struct prt_program *program = drawn_program(&d, &seed, true);
        struct prt_error error;
        enum prt_status status;
        size_t length = below(&seed, 4000);
        host_ramp(&in, length);
        struct prt_run *first = run_on(plain, NULL, PRT_DISPATCH_PROGRAM, &wanted, &status, &error);
        assert_int_equal(status, PRT_OK);
        host_ramp(&in, length);
        in.piece = below(&seed, 100);
        struct prt_run *second = run_on(program, NULL, PRT_DISPATCH_PROGRAM, &out, &status, &error);
        if (status != PRT_OK) print_message("round %d: %s\n", round, error.message);
        assert_int_equal(status, PRT_OK);
        expect_same_output();
        for (uint32_t i = 0; i < d.count; i++)
            assert_int_equal(stage_of(first, i).firings, stage_of(second, i).firings);
        fired += stage_of(second, d.count - 1).firings;
        dispatched += stage_of(second, d.count - 1).dispatches;
        prt_run_destroy(first);
        prt_run_destroy(second);
        prt_program_free(plain);
        prt_program_free(program);
    }
    assert_true(fired > 100000 && dispatched > 3000);
}

/* The static part is what runs: no dispatch is as small as a guarded loop would make it at the
 * beginning, and repeats are counted. */
static void batches_are_those_of_the_program(void **unused)
{
    (void)unused;
    struct prt_program *program = chain_program(nested, copy);
    struct prt_error error;
    enum prt_status status;
    host_ramp(&in, 49);
    struct prt_run *run = run_on(program, NULL, PRT_DISPATCH_PROGRAM, &out, &status, &error);
    assert_int_equal(status, PRT_OK);
    /* One iteration, and the packet that is left by the guarded loop. */
    assert_int_equal(stage_of(run, 0).dispatches, 6 + 1);
    assert_int_equal(stage_of(run, 1).dispatches, 12 + 1);
    assert_int_equal(stage_of(run, 2).dispatches, 48 + 1);
    assert_int_equal(stage_of(run, 2).firings, 49);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* In flight together: what is pipelined takes less time than what is done in turn. */
static void routines_keep_every_stage_at_work(void **unused)
{
    (void)unused;
    static const char in_turn[] = " partition_counts 1 2 1\n bind 0, 0\n bind 1, 1\n bind 2, 2\n"
                                  "L1: has_packets 0, 0, 17, L2\n has_room 2, 0, 16, L2\n run 0, "
                                  "16\n run 1, 16\n run 2, 16\n fence\n jump L1\n"
                                  "L2: wait L1\n" GUARDED;
    struct prt_program *pipelined = chain_program(side_by_side, copy);
    struct prt_program *turns = chain_program(in_turn, copy);
    uint64_t fast = run_well(pipelined, NULL, PRT_DISPATCH_PROGRAM, 8000).total_cycles;
    assert_int_equal(out.count, 8000);
    assert_int_equal(out.packets[7999], 15998);
    uint64_t slow = run_well(turns, NULL, PRT_DISPATCH_PROGRAM, 8000).total_cycles;
    assert_true(fast * 3 < slow * 2);
    prt_program_free(pipelined);
    prt_program_free(turns);
}

static void repeats_nest_eight_deep(void **unused)
{
    (void)unused;
    static const char deep[] =
        ROOTS3 "L1: has_packets 0, 0, 32, L2\n has_room 2, 0, 32, L2\n"
               " repeat 2\n repeat 1\n repeat 2\n repeat 2\n repeat 1\n repeat 2\n repeat 2\n"
               " repeat 1\n run 0, 1\n again\n again\n again\n again\n again\n again\n again\n"
               " again\n run 1, 32\n run 2, 32\n jump L1\nL2: wait L1\n" GUARDED;
    struct prt_program *program = chain_program(deep, copy);
    struct prt_error error;
    enum prt_status status;
    host_ramp(&in, 320);
    struct prt_run *run = run_on(program, NULL, PRT_DISPATCH_PROGRAM, &out, &status, &error);
    assert_int_equal(status, PRT_OK);
    assert_int_equal(out.count, 320);
    assert_int_equal(out.packets[319], 638);
    assert_int_equal(stage_of(run, 0).dispatches, 320);
    assert_int_equal(stage_of(run, 1).dispatches, 10);
    prt_run_destroy(run);
    prt_program_free(program);
}

/* ---- how a run ends ---- */

static const char counting[] = " bind_root 0\n bind_root 1\n"
                               "L1: goes_on 0, 16, L2\n has_room 1, 0, 16, L2\n run 0, 16\n"
                               " run 1, 16\n jump L1\nL2: wait L1\n" GUARDED;

static void append_told(void *context, const char *text, size_t size)
{
    char *told = context;
    assert_true(strlen(told) + size < 4096);
    strncat(told, text, size);
}

static void a_source_fires_as_often_as_the_run_allows(void **unused)
{
    (void)unused;
    struct prt_program *program = source_program(counting);
    for (uint64_t limit = 0; limit < 100; limit += 1 + limit / 5) {
        struct prt_error error;
        struct prt_run *run;
        assert_int_equal(prt_run_create(program, NULL, &run, &error), PRT_OK);
        prt_run_limit_firings(run, limit);
        if (limit == 3) {
            char told[4096] = "";
            prt_run_tell_standing(run, append_told, told);
            assert_non_null(strstr(told, "ready: 3 firings\n"));
        }
        out = (struct host){.count = 0};
        pipelines_bind(program, run, NULL, &out);
        assert_int_equal(prt_run_execute(run, &error), PRT_OK);
        assert_int_equal(out.count, limit);
        assert_int_equal(stage_of(run, 0).dispatches, limit / 16 + (limit % 16 > 0));
        for (size_t i = 0; i < limit; i++)
            assert_int_equal(out.packets[i], i);
        prt_run_destroy(run);
    }
    prt_program_free(program);
}

static size_t taken;
static struct prt_run *endless;

static enum prt_status take_and_interrupt(void *context, const void *packets, size_t packet_count,
                                          struct prt_error *error)
{
    (void)context;
    (void)packets;
    (void)error;
    taken += packet_count;
    if (taken >= 1000) prt_run_interrupt(endless);
    return PRT_OK;
}

/* The source stops, what it has made drains. */
static void an_interrupt_ends_the_static_part(void **unused)
{
    (void)unused;
    struct prt_program *program = source_program(counting);
    struct prt_error error;
    assert_int_equal(prt_run_create(program, NULL, &endless, &error), PRT_OK);
    assert_int_equal(prt_run_bind_output(endless, prt_program_find_port(program, "y"),
                                         take_and_interrupt, NULL, &error),
                     PRT_OK);
    taken = 0;
    assert_int_equal(prt_run_execute(endless, &error), PRT_E_INTERRUPTED);
    assert_in_range(taken, 1000, 1100);
    assert_int_equal(stage_of(endless, 0).firings, taken);
    assert_int_equal(stage_of(endless, 1).firings, taken);
    prt_run_destroy(endless);
    prt_program_free(program);
}

static void an_interrupt_closes_the_in_port(void **unused)
{
    (void)unused;
    struct prt_program *program = chain_program(in_sequence, copy);
    struct prt_error error;
    assert_int_equal(prt_run_create(program, NULL, &endless, &error), PRT_OK);
    host_ramp(&in, 60000);
    pipelines_bind(program, endless, &in, NULL);
    assert_int_equal(prt_run_bind_output(endless, prt_program_find_port(program, "y"),
                                         take_and_interrupt, NULL, &error),
                     PRT_OK);
    taken = 0;
    assert_int_equal(prt_run_execute(endless, &error), PRT_E_INTERRUPTED);
    assert_in_range(taken, 1000, 1200);
    assert_int_equal(in.at, taken); /* nothing is lost */
    prt_run_destroy(endless);
    prt_program_free(program);
}

/* No reader wants its output any more: the static part ends, and so does the run. */
static void a_host_that_wants_no_more_ends_it(void **unused)
{
    (void)unused;
    struct prt_program *sources = source_program(counting);
    struct prt_program *chains[] = {chain_program(in_sequence, copy),
                                    chain_program(side_by_side, copy)};
    struct prt_error error;
    enum prt_status status;
    out = (struct host){.fails_after = 320, .failure = PRT_E_CLOSED_PIPE};
    prt_run_destroy(run_on(sources, NULL, PRT_DISPATCH_PROGRAM, &out, &status, &error));
    assert_int_equal(status, PRT_E_CLOSED_PIPE);
    assert_int_equal(out.count, 320);
    for (int i = 0; i < 2; i++) {
        host_ramp(&in, 60000);
        prt_run_destroy(run_on(chains[i], NULL, PRT_DISPATCH_PROGRAM, &out, &status, &error));
        assert_int_equal(status, PRT_E_CLOSED_PIPE);
        assert_int_equal(out.count, 320);
        assert_in_range(in.at, 320, 600);
        prt_program_free(chains[i]);
    }
    out = (struct host){.count = 0};
    prt_program_free(sources);
}

static void a_host_that_fails_ends_it(void **unused)
{
    (void)unused;
    struct prt_program *program = chain_program(in_sequence, copy);
    struct prt_error error;
    enum prt_status status;
    host_ramp(&in, 60000);
    in.fails_after = 640;
    in.failure = PRT_E_FORMAT;
    prt_run_destroy(run_on(program, NULL, PRT_DISPATCH_PROGRAM, &out, &status, &error));
    assert_int_equal(status, PRT_E_FORMAT);
    assert_string_equal(error.message, "the host fails");
    prt_program_free(program);
}

/* The same fault of the same firing, and what came before it has been given to the host. */
static void a_fault_in_a_run_is_the_one_of_the_guarded_loop(void **unused)
{
    (void)unused;
    for (int p = 0; p < PROGRAMS; p++) {
        struct prt_program *program = chain_program(programs[p], divide);
        struct prt_error error;
        enum prt_status status;
        struct prt_fault_information fault;
        host_ramp(&in, 5000);
        for (size_t i = 0; i < 5000; i++)
            in.packets[i] = i == 1234 ? 0 : 100;
        struct prt_run *run = run_on(program, NULL, PRT_DISPATCH_PROGRAM, &out, &status, &error);
        assert_int_equal(status, PRT_E_FAULT);
        assert_true(prt_run_fault(run, &fault));
        assert_string_equal(fault.node, "first");
        assert_int_equal(fault.firing, 1234);
        for (size_t i = 0; i < out.count; i++)
            assert_int_equal(out.packets[i], 2);
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

/* ---- phases ---- */

/* pop {1, 2}, push {1, 1} */
static int32_t kernel_turns(const struct kernel_batch *batch)
{
    const int32_t *x = batch->in[0];
    for (uint64_t i = 0; i < batch->count; i++) {
        ((int32_t *)batch->out[0])[i] = x[0];
        x += 1 + (batch->first_firing + i) % 2;
    }
    return KERNEL_OK;
}

/* Two of three packets come out, as of the guarded loop, which does the rest. */
static void phases_are_run_in_whole_cycles(void **unused)
{
    (void)unused;
    static const char runs[] =
        " bind_root 0\n bind_root 1\nL1: has_packets 0, 0, 24, L2\n has_room 1, 0, 16, L2\n"
        " run 0, 16\n run 1, 16\n jump L1\nL2: wait L1\n" GUARDED;
    const uint64_t rates[] = {1, 2, 1, 2, 1, 1, 1, 1};
    struct made *m = made_create("phases", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 64, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 64, CONTAINER_INNER);
    add_node(m, "turns", x, 3, 2, t, 2);
    add_node(m, "copy", t, 1, 1, made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT), 1);
    m->nodes[0].phases = 2;
    m->nodes[0].repetitions = m->nodes[1].repetitions = 2;
    m->inputs[0].rates = 0;
    m->outputs[0].rates = 4;
    memcpy(m->rates, rates, sizeof rates);
    m->rate_count = 8;
    m->stages[0].batch_max = 16;
    made_program(m, runs);
    struct prt_program *program =
        pipelines_load(m, (struct prt_image_kernel[]){{.run = kernel_turns}, copy});
    struct prt_run_statistics all = run_well(program, NULL, PRT_DISPATCH_PROGRAM, 3000);
    assert_int_equal(out.count, 2000);
    for (int32_t i = 0; i < 2000; i++)
        assert_int_equal(out.packets[i], i / 2 * 3 + i % 2);
    assert_int_equal(all.dispatches, 250);
    prt_program_free(program);
}

/* ---- packets ---- */

/* The form is the program's, unless the run is given one. */
static void packets_have_the_form_that_the_program_says(void **unused)
{
    (void)unused;
    static const char *const words[] = {"full", "reference", "condensed"};
    uint64_t packets[3], stores[3];
    for (int f = 0; f < 3; f++) {
        char text[1024];
        snprintf(text, sizeof text, " packets %s\n%s", words[f], strstr(in_sequence, " bind_root"));
        struct prt_program *program = chain_program(text, copy);
        struct prt_run_statistics own = run_well(program, NULL, PRT_DISPATCH_PROGRAM, 3201);
        packets[f] = own.dispatched.packets;
        stores[f] = own.reference_stores;
        assert_int_equal(own.dispatched.launches, own.dispatches);
        for (int given = 0; given < 3; given++) {
            static const enum prt_dispatch_mode modes[] = {
                PRT_DISPATCH_FULL, PRT_DISPATCH_REFERENCE, PRT_DISPATCH_CONDENSED};
            struct prt_run_statistics forced = run_well(program, NULL, modes[given], 3201);
            if (given == f) assert_memory_equal(&forced, &own, sizeof own);
            assert_int_equal(forced.dispatches, own.dispatches);
        }
        prt_program_free(program);
    }
    assert_int_equal(stores[0], 0);
    assert_int_equal(stores[1], packets[1]);
    assert_int_equal(packets[0], packets[1]);
    assert_true(packets[2] * 2 < packets[0]); /* three launches each, but for the references */
    assert_true(stores[2] >= 3 && stores[2] <= 6);
}

/* Without load_reference an entry stays empty, and launches are full packets; those of stages that share it, too. */
static void what_is_not_loaded_is_launched_by_full_packets(void **unused)
{
    (void)unused;
    struct made *m = chain_made(1);
    pack(m, 1);
    made_program(m, " bind_root 0\n load_reference 0\n bind_root 1\n bind_root 2\n"
                    "L1: has_packets 0, 0, 32, L2\n has_room 2, 0, 32, L2\n run 0, 32\n run 1, "
                    "32\n run 2, 32\n jump L1\n"
                    "L2: wait L1\n" GUARDED);
    struct prt_image_kernel kernels[] = {copy, twice, sum2};
    struct prt_program *program = pipelines_load(m, kernels);
    struct prt_run_statistics shared = run_well(program, NULL, PRT_DISPATCH_PROGRAM, 3200);
    assert_int_equal(out.count, 3200);
    assert_int_equal(out.packets[3199], 6398);
    assert_int_equal(shared.dispatches, 300);
    assert_int_equal(shared.reference_stores, 1);
    assert_true(shared.spills >= 190); /* launches by the entry of the first */
    assert_true(shared.dispatched.packets < 200);
    prt_program_free(program);
}

/* ---- what the verifier proves is only assumed where it does no harm ---- */

static size_t given = 1000;                 /* packets of the in-port */
static uint64_t firings_limit = UINT64_MAX; /* of the source */

/* Runs `text`, which has not been verified, in place of the program; `step` NULL: not stepped. */
static enum prt_status run_unverified_of(const struct prt_program *program, uint32_t stages,
                                         const char *text, const struct prt_step *step,
                                         struct prt_error *error)
{
    char whole[TEXT_MAX + 32];
    struct sched_program made;
    struct sched_error wrong;
    struct prt_run *run;
    snprintf(whole, sizeof whole, ".stages %u\n%s", stages, text);
    bool assembled = sched_assemble(whole, strlen(whole), &made, &wrong);
    if (!assembled) fail_msg("%s", wrong.message);
    struct prt_program altered = *program;
    altered.container.code = made.code;
    altered.container.code_bytes = made.code_bytes;
    assert_int_equal(prt_run_create(&altered, NULL, &run, error), PRT_OK);
    host_ramp(&in, given);
    out = (struct host){.failure = out.failure, .fails_after = out.fails_after};
    if (firings_limit != UINT64_MAX) prt_run_limit_firings(run, firings_limit);
    bool fed = prt_program_find_port(program, "x") != PRT_NONE;
    pipelines_bind(program, run, fed ? &in : NULL, &out);
    run->sched->step = step;
    assert_int_equal(prt_sched_start(run->sched, NULL, error), PRT_OK);
    enum prt_status status = prt_sched_run(run->sched, error);
    run->sched->step = NULL;
    prt_run_destroy(run);
    sched_program_free(&made);
    return status;
}

static enum prt_status run_unverified(const struct prt_program *program, const char *text,
                                      struct prt_error *error)
{
    return run_unverified_of(program, 3, text, NULL, error);
}

static void what_is_not_possible_is_refused_while_running(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {ROOTS3 " run 1, 1\n halt\n", "runs 1 firing of 'twice', for which there are too few"},
        {ROOTS3 " has_packets 0, 0, 64, L1\nL1: run 0, 32\n run 0, 32\n run 0, 32\n halt\n",
         "runs 32 firings of 'first', for which"},
        {ROOTS3 " halt\n", "halts although 'first' could go on"},
        {ROOTS3 " run 0, 0\n halt\n", "runs 0 firings of 'first'"},
        {ROOTS3 " run 0, 4000000000\n halt\n", "runs 4000000000 firings of 'first'"},
        {ROOTS3 " has_packets 0, 0, 9, L1\nL1: repeat 9\n run 0, 1\n run 1, 1\n again\n run 2, 10\n"
                " halt\n",
         "runs 10 firings of 'sum2'"},
        {ROOTS3 " again\n halt\n", "an 'again' outside"},
        {ROOTS3 " return\n halt\n", "a return that no call"},
        {ROOTS3 "L1: call L1\n halt\n", "a call in a routine"},
        {ROOTS3 "L1: repeat 2\n jump L1\n halt\n", "too many repeats"},
        {ROOTS3 " repeat 0\n again\n halt\n", "of no round"},
    };
    struct prt_program *program = chain_program(guarded, copy);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct prt_error error = {0};
        enum prt_status status = run_unverified(program, cases[i].text, &error);
        if (strstr(error.message, cases[i].message) == NULL)
            print_message("%zu: %s\n", i, error.message);
        assert_int_equal(status, PRT_E_VERIFY);
        assert_non_null(strstr(error.message, cases[i].message));
    }
    prt_program_free(program);
}

/* The whole stream has been consumed and every stage has ended: guards say no, run is refused. */
static void a_stage_that_has_ended_is_not_run(void **unused)
{
    (void)unused;
    static const char ended[] =
        ".set 0: 0 1 2\n" ROOTS3 "L1: ends\n round_robin 0, L2\n dispatch\n jump L1\nL2: wait L1\n"
        " has_packets 0, 0, 0, L3\n halt\n"
        "L3: has_room 2, 0, 0, L4\n halt\nL4: run %s\n halt\n";
    struct prt_program *program = chain_program(guarded, copy);
    static const char *const runs[] = {"0, 1", "1, 1", "2, 32"};
    for (int i = 0; i < 3; i++) {
        struct prt_error error = {0};
        char text[1024];
        snprintf(text, sizeof text, ended, runs[i]);
        assert_int_equal(run_unverified(program, text, &error), PRT_E_VERIFY);
        assert_non_null(strstr(error.message, "which has ended"));
        assert_int_equal(out.count, 1000);
    }
    prt_program_free(program);
}

/* The stream has ended, and no `ends` has passed this on to the stages; whether there is room does not matter. */
static void a_program_that_halts_before_its_ends_is_refused(void **unused)
{
    (void)unused;
    static const char *const texts[] = {
        ROOTS3 " has_packets 0, 0, 1, L1\nL1: halt\n",
        ROOTS3 " has_packets 0, 0, 64, L1\nL1: run 0, 32\n run 0, 32\n fence\n"
               " has_packets 0, 0, 1, L2\nL2: halt\n"};
    struct prt_program *program = chain_program(guarded, copy);
    for (int full = 0; full < 2; full++) {
        struct prt_error error = {0};
        given = full ? 64 : 0;
        assert_int_equal(run_unverified(program, texts[full], &error), PRT_E_VERIFY);
        assert_non_null(strstr(error.message, "halts although 'first' could go on"));
    }
    given = 1000;
    prt_program_free(program);
}

/* A host that fails is heard wherever the machine waits: for a stage, at a fence, at the halt. */
static void a_host_that_fails_is_heard_by_every_instruction(void **unused)
{
    (void)unused;
    static const char binds[] = " partition_counts 1 2 1\n bind 0, 0\n bind 1, 1\n bind 2, 2\n"
                                " has_packets 0, 0, 32, L1\nL1: run 0, 16\n run 1, 16\n fence\n";
    static const char *const rests[] = {" run 2, 8\n run 2, 8\n halt\n",
                                        " run 2, 8\n run 0, 32\n fence\n halt\n",
                                        " run 2, 16\n halt\n"};
    struct prt_program *program = chain_program(guarded, copy);
    out = (struct host){.fails_after = 1, .failure = PRT_E_WRITE};
    for (int i = 0; i < 3; i++) {
        struct prt_error error = {0};
        char text[1024];
        /* Of the first 16 packets 1 is taken before. */
        snprintf(text, sizeof text, "%s run 2, 1\n fence\n%s", binds, rests[i]);
        if (i == 2) strcpy(strstr(text, " run 2, 16"), " run 2, 15\n halt\n");
        assert_int_equal(run_unverified(program, text, &error), PRT_E_WRITE);
        assert_string_equal(error.message, "the host fails");
        assert_int_equal(out.count, 1);
    }
    out = (struct host){.count = 0};
    prt_program_free(program);
}

enum { STOPS_AFTER = 5 };

static int32_t kernel_count_five(const struct kernel_batch *batch)
{
    uint64_t count = 0;
    for (; count < batch->count && batch->first_firing + count < STOPS_AFTER; count++)
        ((int32_t *)batch->out[0])[count] = (int32_t)(batch->first_firing + count);
    *batch->completed = count;
    return count < batch->count ? KERNEL_STOPPED : KERNEL_OK;
}

static int32_t kernel_copy_five(const struct kernel_batch *batch)
{
    uint64_t count = 0;
    for (; count < batch->count && batch->first_firing + count < STOPS_AFTER; count++)
        ((int32_t *)batch->out[0])[count] = ((const int32_t *)batch->in[0])[count];
    *batch->completed = count;
    return count < batch->count ? KERNEL_STOPPED : KERNEL_OK;
}

/* Either the source stops, or its reader does, after which no reader wants packets of the source: `goes_on` says no before
 * the stage has ended and after it, and a run is refused. */
static void a_source_that_is_done_does_not_go_on(void **unused)
{
    (void)unused;
    static const char *const texts[] = {
        " run 0, 16\n fence\n goes_on 0, 1, L1\n halt\nL1: run 1, 5\n fence\n ends\n"
        " goes_on 0, 1, L2\n halt\nL2: run 0, 1\n halt\n",
        " run 0, 16\n fence\n run 0, 1\n halt\n",
        " run 0, 16\n run 1, 16\n fence\n run 0, 16\n ends\n goes_on 0, 1, L1\n halt\n"
        "L1: fence\n ends\n run 0, 1\n halt\n"};
    static const struct prt_image_kernel stop[] = {{.run = kernel_count_five},
                                                   {.run = kernel_copy_five}};
    for (int i = 0; i < 3; i++) {
        char text[1024];
        struct prt_error error = {0};
        struct made *m = made_create("stops", "sim16");
        uint32_t c = made_buffer(m, "c", SCALAR_I32, 64, CONTAINER_INNER);
        uint32_t y = made_buffer(m, "y", SCALAR_I32, 64, CONTAINER_OUTER_OUT);
        add_node(m, "count", UINT32_MAX, 0, 0, c, 1);
        add_node(m, "copy", c, 1, 1, y, 1);
        m->nodes[i == 2].flags |= CONTAINER_NODE_STOPS;
        made_program(m, " bind_root 0\n bind_root 1\n" GUARDED);
        struct prt_program *program = pipelines_load(
            m, (struct prt_image_kernel[]){i < 2 ? stop[0] : count, i < 2 ? copy : stop[1]});
        snprintf(text, sizeof text, " bind_root 0\n bind_root 1\n%s", texts[i]);
        assert_int_equal(run_unverified_of(program, 2, text, NULL, &error), PRT_E_VERIFY);
        if (strstr(error.message, "runs 1 firing of 'count', which has ended") == NULL)
            fail_msg("%d: %s", i, error.message);
        assert_int_equal(out.count, i == 1 ? 0 : STOPS_AFTER);
        prt_program_free(program);
    }
}

/* One instruction that names what there is; labels lead forward, so that the program ends. */
static void add_anything(char *text, uint32_t place, uint32_t places, uint64_t *seed)
{
    uint32_t stage = below(seed, 3), packets = below(seed, 70), firings = below(seed, 34);
    uint32_t label = place + 1 + below(seed, places - place);
    add_text(text, "A%u:\n", place);
    switch (below(seed, 20)) {
    case 0: add_text(text, " has_packets %u, 0, %u, A%u\n", stage, packets, label); break;
    case 1: add_text(text, " has_room %u, 0, %u, A%u\n", stage, packets, label); break;
    case 2: add_text(text, " goes_on %u, %u, A%u\n", stage, firings, label); break;
    case 3: add_text(text, " repeat %u\n", below(seed, 3)); break;
    case 4: add_text(text, " again\n"); break;
    case 5: add_text(text, " call A%u\n", label); break;
    case 6: add_text(text, " return\n"); break;
    case 7: add_text(text, " fence\n"); break;
    case 8: add_text(text, " wait A%u\n", label); break;
    case 9: add_text(text, " ends\n"); break;
    case 10: add_text(text, " round_robin 0, A%u\n dispatch\n", label); break;
    case 11: add_text(text, " run %u, %u\n", stage, firings); break;
    default: /* what is possible, unless the label of a guard has been taken before */
        add_text(text, " has_packets 0, 0, 16, A%u\n run 0, 16\n run 1, 16\n run 2, 16\n", label);
    }
}

/* A machine refuses an unverified program or executes it; the output is the
 * beginning of the stream. */
static void anything_in_range_does_no_harm(void **unused)
{
    (void)unused;
    struct prt_program *program = chain_program(guarded, copy);
    uint64_t seed = 4711;
    size_t done = 0, refused = 0, packets = 0;
    for (int round = 0; round < 3000; round++) {
        char text[TEXT_MAX] = ".set 0: 0 1 2\n" ROOTS3;
        struct prt_error error = {0};
        uint32_t places = 4 + below(&seed, 40);
        for (uint32_t i = 0; i < places; i++)
            add_anything(text, i, places, &seed);
        add_text(text, "A%u:\n%s", places, GUARDED);
        enum prt_status status = run_unverified(program, text, &error);
        done += status == PRT_OK;
        if (status == PRT_OK) assert_int_equal(out.count, 1000);
        refused += status == PRT_E_VERIFY;
        packets += out.count;
        for (size_t i = 0; i < out.count; i++)
            assert_int_equal(out.packets[i], 2 * i);
        if (status != PRT_OK && status != PRT_E_VERIFY) assert_int_equal(status, PRT_E_STALL);
    }
    assert_true(done > 100 && refused > 1000 && packets > 1000);
    prt_program_free(program);
}

/* ---- stepping ---- */

static size_t steps;

static enum prt_status look(void *context, uint32_t stage, bool finish, struct prt_error *error)
{
    const struct prt_run *run = context;
    (void)stage;
    (void)error;
    assert_false(finish);
    assert_int_equal(run->sched->core->in_flight, 0);
    steps++;
    return PRT_OK;
}

/* One firing at a time is the guarded loop's to do. */
static void a_stepped_run_leaves_the_static_part_out(void **unused)
{
    (void)unused;
    for (int p = 0; p < PROGRAMS; p++) {
        struct prt_program *program = chain_program(programs[p], diff);
        struct prt_error error;
        struct prt_run *run;
        assert_int_equal(prt_run_create(program, NULL, &run, &error), PRT_OK);
        const struct prt_step step = {run, look, look};
        run->sched->step = &step;
        host_ramp(&in, 200);
        out = (struct host){.count = 0};
        pipelines_bind(program, run, &in, &out);
        steps = 0;
        assert_int_equal(prt_run_execute(run, &error), PRT_OK);
        assert_int_equal(out.count, 199);
        assert_int_equal(steps, 2 * 3 * 199);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(stage_of(run, i).dispatches, 199);
        prt_run_destroy(run);
        prt_program_free(program);
    }
}

/* The step at which the observer of steps ends the run. */
static enum prt_status end_at_step(void *context, uint32_t stage, bool finish,
                                   struct prt_error *error)
{
    const size_t *last = context;
    (void)stage;
    (void)finish;
    if (++steps < *last) return PRT_OK;
    return prt_error_set(error, PRT_E_USAGE, "enough steps");
}

/* A run instruction that no guard precedes: each of its firings is a step of its own. */
static void a_stepped_run_instruction_goes_firing_by_firing(void **unused)
{
    (void)unused;
    struct prt_program *program = source_program(" bind_root 0\n bind_root 1\n" GUARDED);
    static const char runs[] = " bind_root 0\n bind_root 1\n run 0, 4\n run 1, 3\n run 1, 1\n"
                               " has_room 0, 0, 1, L1\n halt\n" /* no guard lets it pass */
                               "L1: goes_on 0, 1, L2\n halt\nL2: run 1, 1\n halt\n";
    for (size_t last = 1; last <= 18; last++) {
        struct prt_error error = {0};
        const struct prt_step step = {&last, end_at_step, end_at_step};
        steps = 0;
        enum prt_status status = run_unverified_of(program, 2, runs, &step, &error);
        assert_int_equal(steps, last < 16 ? last : 16); /* two for each of eight firings */
        assert_int_equal(status, last <= 16 ? PRT_E_USAGE : PRT_E_VERIFY);
        assert_non_null(
            strstr(error.message, last <= 16 ? "enough steps" : "runs 1 firing of 'copy'"));
        assert_true(out.count <= 4);
    }
    prt_program_free(program);
}

/* A source that the run limits has as many firings left as it has, stepped or not. */
static void a_run_of_more_firings_than_the_source_has_left_is_refused(void **unused)
{
    (void)unused;
    struct prt_program *program = source_program(" bind_root 0\n bind_root 1\n" GUARDED);
    firings_limit = 5;
    for (int stepped = 0; stepped < 2; stepped++) {
        struct prt_error error = {0};
        size_t last = SIZE_MAX;
        const struct prt_step step = {&last, end_at_step, end_at_step};
        steps = 0;
        enum prt_status status =
            run_unverified_of(program, 2, " bind_root 0\n bind_root 1\n run 0, 16\n halt\n",
                              stepped ? &step : NULL, &error);
        assert_int_equal(status, PRT_E_VERIFY);
        assert_int_equal(steps, stepped ? 10 : 0);
        assert_non_null(strstr(error.message, stepped ? "runs 11 firings of 'count'"
                                                      : "runs 16 firings of 'count'"));
    }
    firings_limit = UINT64_MAX;
    prt_program_free(program);
}

static void a_step_can_end_the_run_at_a_finish(void **unused)
{
    (void)unused;
    static const struct prt_image_kernel total = {.run = kernel_total,
                                                  .finish = kernel_total_finish};
    struct made *m = made_create("finish", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    made_input(m, made_node(m, "total", CONTAINER_NODE_STATEFUL | CONTAINER_NODE_FINISH), x, 1, 1);
    made_output(m, 0, y, 1, 2);
    made_loop(m);
    struct prt_program *program = pipelines_load(m, &total);
    for (size_t last = 1; last <= 7; last++) {
        struct prt_error error = {0};
        struct prt_run *run;
        const struct prt_step step = {&last, end_at_step, end_at_step};
        assert_int_equal(prt_run_create(program, NULL, &run, &error), PRT_OK);
        run->sched->step = &step;
        host_ramp(&in, 2);
        out = (struct host){.count = 0};
        pipelines_bind(program, run, &in, &out);
        steps = 0;
        /* Two steps for each of two firings, and for the finish. */
        assert_int_equal(prt_run_execute(run, &error), last <= 6 ? PRT_E_USAGE : PRT_OK);
        assert_int_equal(steps, last <= 6 ? last : 6);
        assert_int_equal(out.count, last <= 5 ? last / 2 : 4);
        prt_run_destroy(run);
    }
    prt_program_free(program);
}

TEST_MAIN("static_part", cmocka_unit_test(streams_of_every_length_come_out_whole),
          cmocka_unit_test(the_null_device_fires_as_often),
          cmocka_unit_test(drawn_schedules_give_the_same_streams),
          cmocka_unit_test(batches_are_those_of_the_program),
          cmocka_unit_test(routines_keep_every_stage_at_work),
          cmocka_unit_test(repeats_nest_eight_deep),
          cmocka_unit_test(a_source_fires_as_often_as_the_run_allows),
          cmocka_unit_test(an_interrupt_ends_the_static_part),
          cmocka_unit_test(an_interrupt_closes_the_in_port),
          cmocka_unit_test(a_host_that_wants_no_more_ends_it),
          cmocka_unit_test(a_host_that_fails_ends_it),
          cmocka_unit_test(a_fault_in_a_run_is_the_one_of_the_guarded_loop),
          cmocka_unit_test(packets_have_the_form_that_the_program_says),
          cmocka_unit_test(what_is_not_loaded_is_launched_by_full_packets),
          cmocka_unit_test(what_is_not_possible_is_refused_while_running),
          cmocka_unit_test(a_stage_that_has_ended_is_not_run),
          cmocka_unit_test(phases_are_run_in_whole_cycles),
          cmocka_unit_test(a_program_that_halts_before_its_ends_is_refused),
          cmocka_unit_test(a_host_that_fails_is_heard_by_every_instruction),
          cmocka_unit_test(a_source_that_is_done_does_not_go_on),
          cmocka_unit_test(a_run_of_more_firings_than_the_source_has_left_is_refused),
          cmocka_unit_test(a_step_can_end_the_run_at_a_finish),
          cmocka_unit_test(anything_in_range_does_no_harm),
          cmocka_unit_test(a_stepped_run_leaves_the_static_part_out),
          cmocka_unit_test(a_stepped_run_instruction_goes_firing_by_firing))
