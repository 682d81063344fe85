/* SPDX-License-Identifier: MIT */
/*
 * The counts of generated code of random kernels, against their execution place by place: cycles of a
 * warp = the sum over all places of the tree of (cost of the place) x (how often the lane that comes
 * there most often does).
 */
#include "tests/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "compiler/bodies/range_check.h"
#include "compiler/bodies/wraps.h"
#include "compiler/bodies/amplify.h"
#include "compiler/bodies/divergence.h"
#include "compiler/bodies/cost.h"
#include "compiler/ir/arith.h"
#include "lang/kernel_abi.h"
#include "tests/unit/compile_text.h"
#include "tests/unit/kernel_image.h"
#include "tests/unit/random_body.h"

/* No two classes cost the same. */
static struct devdesc description(uint32_t lanes)
{
    struct devdesc d;
    assert_true(devdesc_builtin("sim16", &d));
    d.lanes = lanes;
    d.costs = (struct devdesc_costs){.integer = 3,
                                     .multiply = 5,
                                     .divide = 11,
                                     .floating = 19,
                                     .float_divide = 23,
                                     .sqrt = 29,
                                     .convert = 31,
                                     .double_factor = 2,
                                     .load = 7,
                                     .store = 13,
                                     .branch = 2,
                                     .call = 17,
                                     .barrier = 37};
    return d;
}

/* ---- the model ---- */

enum { PLACES = 1 << 12, FIRINGS = 43 };

struct place {
    const void *node;
    bool aside; /* in a side of a choice that is made without a jump: it counts with the choice */
    bool jumped_to;            /* in a side of another one */
    uint64_t cycles, constant; /* of a visit; of a call: what its function costs in any case */
    uint64_t visits, counted;  /* of the present firing; of a call: what the function has added */
    uint64_t most, most_counted;
};

struct model {
    struct body_run run; /* first, so that a callback of the run gets it */
    const struct devdesc_costs *costs;
    struct place places[PLACES];
    size_t place_count;
    uint64_t spent[16]; /* in the functions that are being executed, by depth */
    uint64_t *times;    /* of launches and questions: what has been executed before; or NULL */
    size_t time_count;
};

static struct place *place_of(struct model *m, const void *node)
{
    size_t at = (uintptr_t)node * 0x9E3779B97F4A7C15u >> 40 & (PLACES - 1);
    while (m->places[at].node != NULL && m->places[at].node != node)
        at = (at + 1) & (PLACES - 1);
    if (m->places[at].node == NULL) {
        assert_true(m->place_count++ < PLACES / 2);
        m->places[at].node = node;
    }
    return &m->places[at];
}

static bool jumps(const struct kx *x)
{
    if (x == NULL) return false;
    if (x->kind == KX_CALL || x->kind == KX_ASSIGN) return true;
    for (uint32_t i = 0; i < x->argument_count; i++)
        if (jumps(x->arguments[i])) return true;
    return jumps(x->left) || jumps(x->right) || jumps(x->third);
}

static bool is_choice(const struct kx *x)
{
    return x->kind == KX_SELECT || x->kind == KX_LOGICAL;
}

static uint64_t operation(const struct devdesc_costs *c, enum kx_op op)
{
    if (op == OP_DIV || op == OP_REM) return c->divide;
    return op == OP_MUL ? c->multiply : c->integer;
}

static uint64_t own_cycles(const struct devdesc_costs *c, const struct kx *x)
{
    switch (x->kind) {
    case KX_INDEX:
    case KX_PEEK:
    case KX_DONE: return c->load;
    case KX_NEGATE:
    case KX_COMPLEMENT:
    case KX_COMPARE:
    case KX_BUILTIN: return c->integer;
    case KX_BINARY: return operation(c, x->op);
    case KX_SELECT:
    case KX_LOGICAL: return jumps(x->right) || jumps(x->third) ? c->branch : c->integer;
    case KX_CALL: return c->call;
    case KX_ASSIGN: { /* the interpreter does not evaluate the target */
        uint64_t cycles = x->op != OP_NONE ? operation(c, x->op) : 0;
        if (x->left->kind != KX_INDEX) return cycles;
        return cycles + c->store + (x->op != OP_NONE ? c->load : 0);
    }
    default: return 0;
    }
}

static void visit(struct model *m, const void *node, uint64_t cycles)
{
    if (m->run.depth > 0) {
        m->spent[m->run.depth] += cycles;
        return;
    }
    /* The test before a loop and the one after each round are two places, as far as they are
     * evaluated whole. */
    bool first = m->run.first_test && !place_of(m, node)->jumped_to;
    struct place *place = place_of(m, (const char *)node + first);
    place->cycles = cycles;
    place->visits++;
}

/* Visits all of the expression; its parts do not count when they are evaluated. */
static void visit_aside(struct model *m, const struct kx *x)
{
    if (x == NULL) return;
    visit(m, x, own_cycles(m->costs, x));
    visit_aside(m, x->left);
    visit_aside(m, x->right);
    visit_aside(m, x->third);
    for (uint32_t i = 0; i < x->argument_count; i++)
        visit_aside(m, x->arguments[i]);
}

static void set_side(struct model *m, const struct kx *x, bool jumped_to)
{
    if (x == NULL) return;
    struct place *place = place_of(m, x);
    place->jumped_to |= jumped_to;
    place->aside |= !jumped_to;
    set_side(m, x->left, jumped_to);
    set_side(m, x->right, jumped_to);
    set_side(m, x->third, jumped_to);
    for (uint32_t i = 0; i < x->argument_count; i++)
        set_side(m, x->arguments[i], jumped_to);
}

static void enter(struct body_run *run, const struct kx *x)
{
    struct model *m = (struct model *)run;
    bool both = is_choice(x) && !jumps(x->right) && !jumps(x->third);
    if (is_choice(x) && !both) {
        set_side(m, x->right, true);
        set_side(m, x->third, true);
    }
    if (both && !place_of(m, x)->aside) {
        set_side(m, x->right, false);
        set_side(m, x->third, false);
        visit_aside(m, x->right);
        visit_aside(m, x->third);
    }
    if (!place_of(m, x)->aside) visit(m, x, own_cycles(m->costs, x));
}

static void leave(struct body_run *run, const struct kx *x, struct scalar_value value)
{
    struct model *m = (struct model *)run;
    (void)value;
    if (x->kind != KX_CALL) return;
    uint64_t all = m->spent[run->depth + 1], constant = x->function->costs->constant;
    m->spent[run->depth + 1] = 0;
    assert_true(all >= constant);
    if (run->depth > 0) {
        m->spent[run->depth] += all;
        return;
    }
    bool first = run->first_test && !place_of(m, x)->jumped_to;
    place_of(m, (const char *)x + first)->constant = constant;
    place_of(m, x)->counted += all - constant;
}

static void statement(struct body_run *run, const struct ks *s)
{
    struct model *m = (struct model *)run;
    bool branches = s->kind == KS_IF || s->kind == KS_LOOP || s->kind == KS_SWITCH;
    if (branches) visit(m, s, m->costs->branch);
    if (s->kind == KS_EMIT) visit(m, s, m->costs->store);
}

static void timed(struct body_run *run)
{
    struct model *m = (struct model *)run;
    uint64_t cycles = 0;
    for (size_t i = 0; i < PLACES; i++) {
        const struct place *p = &m->places[i];
        cycles += p->visits * (p->cycles + p->constant) + p->counted;
    }
    m->times[m->time_count++] = cycles;
}

static void end_firing(struct model *m)
{
    for (size_t i = 0; i < PLACES; i++) {
        struct place *p = &m->places[i];
        if (p->visits > p->most) p->most = p->visits;
        if (p->counted > p->most_counted) p->most_counted = p->counted;
        p->visits = p->counted = 0;
    }
}

static uint64_t end_warp(struct model *m)
{
    uint64_t cycles = 0;
    for (size_t i = 0; i < PLACES; i++) {
        struct place *p = &m->places[i];
        cycles += p->most * (p->cycles + p->constant) + p->most_counted;
        p->most = p->most_counted = 0;
    }
    return cycles;
}

/* ---- one program ---- */

struct input {
    int32_t packets[FIRINGS + 8];
};

static void fill(struct input *input, struct random *random)
{
    for (size_t i = 0; i < sizeof input->packets / sizeof *input->packets; i++)
        input->packets[i] = random_draw(random, 0, 3) == 0 ? random_draw(random, -1000000, 1000000)
                                                           : random_draw(random, -3, 12);
}

static void clear(struct model *m)
{
    memset(m->spent, 0, sizeof m->spent);
    for (size_t i = 0; i < PLACES; i++) {
        struct place *p = &m->places[i];
        p->visits = p->counted = p->most = p->most_counted = 0;
    }
}

struct batch {
    const struct input *input;
    uint32_t count, lanes;
    uint64_t *cycles;  /* of each warp */
    uint32_t executed; /* until one faults or takes too long */
};

static void run_firings(struct model *m, struct batch *batch)
{
    body_begin_states(&m->run);
    m->run.statement = statement;
    m->run.enter = enter;
    m->run.leave = leave;
    m->run.timed = m->times != NULL ? timed : NULL;
    while (batch->executed < batch->count) {
        uint32_t n = batch->executed;
        memcpy(m->run.packets, batch->input->packets + n, sizeof m->run.packets);
        m->run.fuel = 20000;
        m->run.appended = 0;
        body_execute(&m->run, m->run.kernel->body);
        end_firing(m);
        batch->executed = n + 1;
        bool ends = (n + 1) % batch->lanes == 0 || n + 1 == batch->count;
        if (ends) batch->cycles[n / batch->lanes] = end_warp(m);
    }
}

static void run_model(struct model *m, struct batch *batch)
{
    clear(m);
    batch->executed = 0;
    m->run.depth = 0;
    m->run.fuel = 100000;
    m->run.first_test = false;
    m->run.statement = NULL;
    m->run.enter = NULL;
    m->run.leave = NULL;
    m->run.timed = NULL;
    if (setjmp(m->run.fault) == 0) run_firings(m, batch);
}

struct native { /* a batch of node 0 */
    const int32_t *in;
    uint32_t count, first;
    uint64_t *cycles;
    uint64_t completed;
    struct kernel_launch_list *launches;
};

enum { LEVELS = 4 };

static struct { /* compiled once for all batches */
    const struct text_compile *program;
    struct kernel_image *images[LEVELS];
} compiled;

static const struct kernel_image *image_at(struct text_compile *c, int optimisation)
{
    assert_ptr_equal(compiled.program, c);
    if (compiled.images[optimisation] == NULL) {
        c->cx.options.optimisation = optimisation;
        compiled.images[optimisation] = kernel_compile(&c->cx, c->graph);
        assert_non_null(compiled.images[optimisation]);
    }
    return compiled.images[optimisation];
}

static void run_native(struct text_compile *c, int optimisation, struct native *native)
{
    static int32_t out[2][FIRINGS * 20000];
    const struct kernel *kernel = c->graph->nodes.items[0].kernel;
    int file;
    const struct kernel_image *image = image_at(c, optimisation);
    void *library = kernel_image_open(image, &file);
    void *arguments = kernel_block_create(kernel->arguments_bytes);
    void *tables = kernel_block_create(kernel->tables_bytes);
    void *state = kernel_block_create(kernel->state_bytes);
    struct kernel_fault fault = {0};
    uint64_t left[] = {native->count}, produced[2];
    uint16_t registers[16]; /* of groups in a row */
    for (uint16_t i = 0; i < 16; i++)
        registers[i] = i;
    const void *in[] = {native->in};
    void *outs[] = {out[0], out[1]};
    struct kernel_batch batch = {.arguments = arguments,
                                 .tables = tables,
                                 .state = state,
                                 .in = in,
                                 .out = outs,
                                 .left = left,
                                 .produced = produced,
                                 .first_firing = native->first,
                                 .count = native->count,
                                 .completed = &native->completed,
                                 .indices = registers,
                                 .launches = native->launches,
                                 .fault = &fault,
                                 .warp_cycles = native->cycles};
    union {
        void *object;
        kernel_entry entry;
    } init = {dlsym(library, "pipe_k0_init")}, run = {dlsym(library, "pipe_k0_run")},
      finish = {dlsym(library, "pipe_k0_finish")};
    if (init.object != NULL) assert_int_equal(init.entry(&batch), KERNEL_OK);
    int32_t status = run.entry(&batch);
    assert_true(status == KERNEL_OK || status == KERNEL_STOPPED);
    if (finish.object != NULL) {
        batch.warp_cycles = native->cycles + 1;
        assert_int_equal(finish.entry(&batch), KERNEL_OK);
    }
    free(arguments);
    free(tables);
    free(state);
    dlclose(library);
    close(file);
}

struct tally {
    int counted, constant, skipped;
};

static struct text_compile *compile(const char *text, const struct devdesc *device)
{
    struct text_compile *c = text_compile(text);
    memset(&compiled, 0, sizeof compiled);
    compiled.program = c;
    c->cx.device = device;
    if (c->graph != NULL) {
        amplify_infer_rates(&c->cx, c->graph);
        range_check_bodies(&c->cx, c->graph);
        wraps_check_bodies(&c->cx, c->graph);
        group_check_bodies(&c->cx, c->graph);
    }
    if (c->graph == NULL) {
        char *messages = text_compile_messages(c);
        fprintf(stderr, "%s\n%s", text, messages);
        fail_msg("it does not compile");
    }
    if (!diag_failed(c->cx.diags)) cost_estimate(&c->cx, c->graph);
    return c;
}

static void expect_cycles(const char *text, const uint64_t *found, const uint64_t *wanted,
                          size_t count, int optimisation)
{
    for (size_t i = 0; i < count; i++) {
        if (found[i] == wanted[i]) continue;
        fprintf(stderr, "%s", text);
        fail_msg("-O%d, warp %zu: %llu cycles, by its places %llu", optimisation, i,
                 (unsigned long long)found[i], (unsigned long long)wanted[i]);
    }
}

static void expect_constant(const char *text, uint64_t cycles, const uint64_t *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (cycles == wanted[i]) continue;
        fprintf(stderr, "%s", text);
        fail_msg("it is said to cost %llu, warp %zu costs %llu", (unsigned long long)cycles, i,
                 (unsigned long long)wanted[i]);
    }
}

static void compare(const char *text, uint32_t lanes, uint64_t seed, struct tally *tally)
{
    static struct model m;
    static const int levels[] = {0, 3};
    uint64_t wanted[FIRINGS] = {0}, found[FIRINGS];
    struct devdesc device = description(lanes);
    struct text_compile *c = compile(text, &device);
    if (diag_failed(c->cx.diags)) { /* an access that is certainly outside */
        text_compile_free(c);
        tally->skipped++;
        return;
    }
    struct kernel *kernel = c->graph->nodes.items[0].kernel;
    const struct graph_warp *warp = &c->graph->nodes.items[0].warp;
    struct random random = {seed * 31 + 7};
    struct input input;
    fill(&input, &random);
    memset(&m, 0, sizeof m);
    m.run.kernel = kernel;
    m.costs = &device.costs;
    bool state = c->graph->nodes.items[0].stateful;
    uint32_t width = state ? 1 : lanes;
    assert_int_equal(warp->firings, width);
    struct batch batch = {.input = &input, .count = FIRINGS, .lanes = width, .cycles = wanted};
    run_model(&m, &batch);
    uint32_t firings = batch.count = batch.executed;
    size_t warps = (firings + width - 1) / width;
    if (firings < FIRINGS) run_model(&m, &batch);
    assert_int_equal(batch.executed, firings);
    if (kernel->costs->counter_count == COST_COUNTERS_MAX || firings == 0) {
        tally->skipped++;
    } else if (!warp->counted) {
        expect_constant(text, warp->cycles, wanted, warps);
        tally->constant++;
    } else {
        for (size_t i = 1; i < warps && state; i++)
            wanted[0] += wanted[i];
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
            memset(found, 0, sizeof found);
            struct native native = {.in = input.packets, .count = firings, .cycles = found};
            run_native(c, levels[i], &native);
            expect_cycles(text, found, wanted, state ? 1 : warps, levels[i]);
        }
        tally->counted++;
    }
    text_compile_free(c);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

/* ---- launches ---- */

enum { LAUNCHES = 20001, ENTRY_BYTES = 128, CHILDREN = 64 };

struct launch_log {
    struct kernel_launch_list list; /* first: `done` gets it */
    uint64_t times[2 * LAUNCHES];
    size_t time_count, taken; /* launches whose times have been taken */
    _Alignas(64) uint8_t entries[LAUNCHES * ENTRY_BYTES];
};

/* Of the children: no body looks at their work-groups. */
static _Alignas(64) const uint8_t child_interfaces[CHILDREN * ENTRY_BYTES];

static void take_launches(struct launch_log *log)
{
    for (; log->taken < log->list.count; log->taken++) {
        const struct kernel_launch *entry = (void *)(log->entries + log->taken * ENTRY_BYTES);
        log->times[log->time_count++] = entry->timestamp;
    }
}

/* As body_run does it. */
static int32_t answer(struct kernel_launch_list *list, uint32_t event, uint64_t timestamp)
{
    struct launch_log *log = (struct launch_log *)list;
    take_launches(log);
    log->times[log->time_count++] = timestamp;
    return event & 1;
}

/* One firing; where nothing is counted all of it comes before each launch. */
static void expect_times(const char *text, struct text_compile *c, int optimisation,
                         struct native *native, const struct model *m, uint64_t cycles)
{
    static struct launch_log log;
    bool counted = c->graph->nodes.items[0].warp.counted;
    assert_true(kernel_launch_records(&c->graph->nodes.items[0].kernel->launches) <= CHILDREN);
    log.list = (struct kernel_launch_list){.entries = log.entries,
                                           .interfaces = child_interfaces,
                                           .stride_bytes = ENTRY_BYTES,
                                           .capacity = LAUNCHES,
                                           .done = answer};
    log.time_count = log.taken = 0;
    native->launches = &log.list;
    run_native(c, optimisation, native);
    take_launches(&log);
    assert_int_equal(log.time_count, m->time_count);
    for (size_t i = 0; i < m->time_count; i++) {
        uint64_t wanted = counted ? m->times[i] : UINT64_MAX;
        if (log.times[i] != wanted || m->times[i] > cycles) {
            fprintf(stderr, "%s", text);
            fail_msg("-O%d, launch or question %zu of %zu: after %llu cycles of %llu, by its "
                     "places %llu",
                     optimisation, i, m->time_count, (unsigned long long)log.times[i],
                     (unsigned long long)cycles, (unsigned long long)wanted);
        }
        if (!counted) assert_int_equal(m->times[i], cycles);
    }
}

static void compare_launches(const char *text, uint64_t seed, struct tally *tally)
{
    enum { TRIED = 6 };
    static struct model m;
    static uint64_t times[2 * LAUNCHES];
    struct devdesc device = description(8);
    struct text_compile *c = compile(text, &device);
    if (diag_failed(c->cx.diags)) {
        text_compile_free(c);
        tally->skipped++;
        return;
    }
    struct kernel *kernel = c->graph->nodes.items[0].kernel;
    struct random random = {seed * 31 + 7};
    struct input input;
    fill(&input, &random);
    memset(&m, 0, sizeof m);
    m.run.kernel = kernel;
    m.costs = &device.costs;
    bool counted = c->graph->nodes.items[0].warp.counted;
    for (uint32_t n = 0; n < TRIED; n++) {
        struct input one = input;
        uint64_t cycles = 0, found = c->graph->nodes.items[0].warp.cycles;
        memcpy(one.packets, input.packets + n, sizeof m.run.packets);
        struct batch batch = {.input = &one, .count = 1, .lanes = 1, .cycles = &cycles};
        m.times = times;
        m.time_count = m.run.launched = 0;
        run_model(&m, &batch);
        if (batch.executed == 0) continue;
        struct native native = {.in = one.packets, .count = 1, .cycles = &found};
        expect_times(text, c, n % 2 == 0 ? 0 : 3, &native, &m, cycles);
        if (kernel->costs->counter_count < COST_COUNTERS_MAX) assert_int_equal(found, cycles);
    }
    if (counted)
        tally->counted++;
    else
        tally->constant++;
    text_compile_free(c);
}

/* The time of a launch or a question is the cost of the places that were executed before it. */
static void launches_stand_after_what_has_been_executed(void **state)
{
    (void)state;
    static struct body_writer w;
    struct tally tally = {0};
    uint64_t first = setting("COST_SEED", 1),
             programs = setting("COST_PROGRAMS", 30 / (uint64_t)draw_step());
    for (uint64_t seed = first; seed < first + programs; seed++) {
        body_write(&w, seed, BODY_LAUNCHES);
        compare_launches(w.text, seed, &tally);
    }
    if (getenv("COST_PROGRAMS") != NULL)
        print_message("counted %d, constant %d, skipped %d\n", tally.counted, tally.constant,
                      tally.skipped);
    assert_true(programs < 30 || tally.counted >= 3);
}

/* ---- tests ---- */

static void try_programs(enum body_style style, uint64_t first, uint64_t programs)
{
    static const uint32_t lane_counts[] = {8, 4, 16, 1, 12, 100};
    static struct body_writer w;
    struct tally tally = {0};
    for (uint64_t seed = first; seed < first + programs; seed++) {
        body_write(&w, seed, style);
        compare(w.text, lane_counts[seed % 6], seed, &tally);
    }
    if (getenv("COST_PROGRAMS") != NULL)
        print_message("counted %d, constant %d, skipped %d\n", tally.counted, tally.constant,
                      tally.skipped);
    assert_true(programs < 30 || tally.counted >= 3);
}

static void random_kernels_count_what_their_lanes_execute(void **state)
{
    (void)state;
    uint64_t first = setting("COST_SEED", 1),
             programs = setting("COST_PROGRAMS", 30 / (uint64_t)draw_step());
    try_programs(BODY_FREE, first, programs);
    try_programs(BODY_EXACT, first, programs);
}

static void random_kernels_with_state_count_all_their_firings(void **state)
{
    (void)state;
    try_programs(BODY_STATE, setting("COST_SEED", 1),
                 setting("COST_PROGRAMS", 30 / (uint64_t)draw_step()));
}

/* ---- closed forms ---- */

enum { MANY = 600 };

/* The program of the last call, if it is the same. */
static struct text_compile *counted_program(const char *text, uint32_t lanes)
{
    static struct devdesc device;
    static struct text_compile *last;
    static char last_text[1024];
    if (last != NULL && compiled.program == last && device.lanes == lanes &&
        strcmp(text, last_text) == 0)
        return last;
    if (last != NULL) text_compile_free(last);
    device = description(lanes);
    assert_true(strlen(text) < sizeof last_text);
    snprintf(last_text, sizeof last_text, "%s", text);
    last = compile(text, &device);
    return last;
}

/* Cycles of a batch without optimisation; the same at all levels (`make check`: at the last one). */
static void cycles_of(const char *text, uint32_t lanes, struct native *native, size_t entries)
{
    struct text_compile *c = counted_program(text, lanes);
    uint64_t others[MANY] = {0}, *cycles = native->cycles;
    assert_true(c->graph->nodes.items[0].warp.counted);
    memset(cycles, 0, entries * sizeof *cycles);
    run_native(c, 0, native);
    native->cycles = others;
    for (int level = draw_step(); level < LEVELS; level++) {
        memset(others, 0, sizeof others);
        run_native(c, level, native);
        expect_cycles(text, others, cycles, entries, level);
    }
    native->cycles = cycles;
}

struct slope { /* a warp costs base + round x its longest lane */
    uint64_t base, round;
};

/* From two batches in which all lanes are as long. */
static struct slope slope_of(const char *text, uint32_t lanes, uint32_t count)
{
    static int32_t in[2 * MANY];
    uint64_t cycles[2][MANY];
    for (int32_t n = 0; n < 2; n++) {
        for (size_t i = 0; i < (size_t)2 * MANY; i++)
            in[i] = n;
        struct native native = {.in = in, .count = count, .cycles = cycles[n]};
        cycles_of(text, lanes, &native, 1);
    }
    assert_true(cycles[1][0] > cycles[0][0]);
    return (struct slope){cycles[0][0], cycles[1][0] - cycles[0][0]};
}

static void fill_lengths(int32_t *in, size_t count, uint64_t seed)
{
    struct random random = {seed};
    for (size_t i = 0; i < count; i++)
        in[i] = random_draw(&random, 0, 9) == 0 ? random_draw(&random, 0, 40)
                                                : random_draw(&random, 0, 3);
}

static int32_t longest(const int32_t *in, size_t count)
{
    int32_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (in[i] > most) most = in[i];
    return most;
}

/* Warps of `width` lanes each, of which `stride` makes a firing (0: firings are lanes). */
static void expect_longest(const char *text, uint32_t lanes, uint32_t firings, uint32_t items,
                           uint32_t width)
{
    int32_t in[2 * MANY];
    uint64_t cycles[MANY];
    struct slope slope = slope_of(text, lanes, firings);
    fill_lengths(in, sizeof in / sizeof *in, lanes);
    struct native native = {.in = in, .count = firings, .cycles = cycles};
    size_t lengths = (size_t)firings * items, warps = (lengths + width - 1) / width;
    cycles_of(text, lanes, &native, warps);
    for (size_t w = 0; w < warps; w++) {
        size_t count = lengths - w * width < width ? lengths - w * width : width;
        uint64_t wanted = slope.base + slope.round * (uint64_t)longest(in + w * width, count);
        if (cycles[w] != wanted)
            fail_msg("warp %zu of %u lanes: %llu cycles, by its longest lane %llu", w, lanes,
                     (unsigned long long)cycles[w], (unsigned long long)wanted);
    }
}

static void loops_take_as_long_as_the_longest_lane(void **state)
{
    (void)state;
    const char *text = "kernel k(in i32 x, out i32 y) {\n"
                       "i32 s; for (i32 i = 0; i < x; i++) s += i * x; y <- s; }\n"
                       "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n";
    expect_longest(text, 8, 43, 1, 8);
    expect_longest(text, 16, 555, 1, 16);
    expect_longest(text, 12, 300, 1, 12);
    expect_longest(text, 1, 9, 1, 1);
    expect_longest(text, 1024, 600, 1, 1024);
}

/* Executed in the lanes of vectors: how often the branch is taken is a number of each lane. */
static void branches_in_vector_lanes_count_for_each_lane(void **state)
{
    (void)state;
    const char *text = "kernel k(in i32 x, out i32 y) {\n"
                       "i32 s; for (i32 i = 0; i < 50; i++) if (i < x) s += i * x; y <- s; }\n"
                       "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n";
    expect_longest(text, 8, 143, 1, 8);
    expect_longest(text, 32, 155, 1, 32);
    expect_longest(text, 4, 100, 1, 4);
}

static void calls_count_what_the_function_has_counted(void **state)
{
    (void)state;
    const char *text =
        "fn i32 sum(i32 n) { i32 s; for (i32 i = 0; i < n; i++) s += i * n; return s; }\n"
        "kernel k(in i32 x, out i32 y) { y <- x >= 0 ? sum(x) : 0; }\n"
        "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n";
    expect_longest(text, 8, 43, 1, 8);
}

static const char of_items[] =
    "kernel k(in i32 x pop %u, out i32 y push %u) group %u {\n"
    "%s" /* state */
    "i32 s; for (i32 i = 0; i < x[item.x]; i++) s += i * 3; y[item.x] = s; }\n"
    "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n";

static void items_fill_warps_of_their_firing(void **state)
{
    (void)state;
    char text[512];
    snprintf(text, sizeof text, of_items, 16u, 16u, 16u, "");
    expect_longest(text, 8, 20, 16, 8);   /* two warps a firing */
    expect_longest(text, 32, 21, 16, 32); /* two firings a warp */
    expect_longest(text, 16, 21, 16, 16);
}

static void items_that_do_not_fill_their_last_warp(void **state)
{
    (void)state;
    char text[512];
    uint64_t cycles[MANY];
    int32_t in[2 * MANY];
    snprintf(text, sizeof text, of_items, 10u, 10u, 10u, "");
    struct slope slope = slope_of(text, 4, 5);
    fill_lengths(in, (size_t)2 * MANY, 3);
    struct native native = {.in = in, .count = 5, .cycles = cycles};
    cycles_of(text, 4, &native, 15);
    for (size_t w = 0; w < 15; w++) {
        const int32_t *first = in + w / 3 * 10 + w % 3 * 4;
        assert_int_equal(cycles[w],
                         slope.base + slope.round * (uint64_t)longest(first, w % 3 == 2 ? 2 : 4));
    }
}

/* At a barrier warps wait: the costs before and after it add up warp by warp. */
static void runs_between_barriers_add_up(void **state)
{
    (void)state;
    static const char text[] = "kernel k(in i32 x pop 8, out i32 y push 8) group 8 {\n"
                               "local i32 t[8]; i32 s; i32 m = 7 - item.x;\n"
                               "for (i32 i = 0; i < x[item.x]; i++) s += i * 3;\n"
                               "t[item.x] = s; barrier();\n"
                               "for (i32 i = 0; i < x[m]; i++) s += i * 3;\n"
                               "y[item.x] = s + t[7 - item.x]; }\n"
                               "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n";
    uint64_t cycles[MANY];
    struct slope slope = slope_of(text, 4, 3);
    int32_t in[24] = {0, 0, 5, 0, 0, 9, 0, 0, /**/ 1, 1, 1, 1, 1, 1, 1, 1, /**/ 7};
    struct native native = {.in = in, .count = 3, .cycles = cycles};
    cycles_of(text, 4, &native, 6);
    assert_int_equal(slope.round % 2, 0);
    uint64_t round = slope.round / 2; /* of either loop */
    assert_int_equal(cycles[0], slope.base + round * (5 + 9));
    assert_int_equal(cycles[1], slope.base + round * (9 + 5));
    assert_int_equal(cycles[2], slope.base + round * 2);
    assert_int_equal(cycles[4], slope.base + round * 7);
    assert_int_equal(cycles[5], slope.base + round * 7);
}

/* Only the kinds of firings that a warp holds count: a rest of only phase 0 is cheaper. */
static void phases_are_regions(void **state)
{
    (void)state;
    static const char text[] = "kernel k(in i32 x pop {1, 1}, out i32 y) {\n"
                               "i32 s = x; if (phase == 1) s = s * 7 + s * 9; y <- s; }\n"
                               "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n";
    uint64_t cycles[MANY], odd[MANY];
    int32_t in[32] = {0};
    struct native native = {.in = in, .count = 9, .cycles = cycles};
    cycles_of(text, 8, &native, 2);
    assert_int_equal(cycles[0], cycles[1] + 5 + 5 + 3);
    native = (struct native){.in = in, .count = 9, .first = 1, .cycles = odd};
    cycles_of(text, 8, &native, 2);
    assert_int_equal(odd[0], cycles[0]);
    assert_int_equal(odd[1], cycles[0]);
}

/* The firing that stops does not count, and what follows it is no region of its own. */
static void a_source_that_stops_counts_what_it_has_completed(void **state)
{
    (void)state;
    static const char text[] = "kernel k(out i32 y) {\n"
                               "state i32 i; if (i == 5) stop; i++;\n"
                               "i32 s; for (i32 j = 0; j < i; j++) s += j * 3; y <- s; }\n"
                               "pipeline main(out i32 b) { k(-> b); }\n";
    uint64_t all[MANY] = {0}, one[MANY] = {0}, two[MANY] = {0};
    struct native native = {.count = 9, .cycles = all};
    cycles_of(text, 8, &native, 1);
    assert_int_equal(native.completed, 5);
    native = (struct native){.count = 1, .cycles = one};
    cycles_of(text, 8, &native, 1);
    native = (struct native){.count = 2, .cycles = two};
    cycles_of(text, 8, &native, 1);
    uint64_t round = two[0] - 2 * one[0]; /* one has one round, two have three */
    assert_int_equal(all[0], 5 * one[0] + (15 - 5) * round);
}

static void finish_is_counted(void **state)
{
    (void)state;
    static const char text[] =
        "kernel k(in i32 x, out i32 y) {\n"
        "state i32 n; n += x; y <- x; finish { for (i32 i = 0; i < n; i++) n -= 1; y <- n; } }\n"
        "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n";
    uint64_t none[2], two[2], six[2];
    int32_t in[8] = {0};
    struct native native = {.in = in, .count = 1, .cycles = none};
    cycles_of(text, 8, &native, 2);
    in[0] = 2; /* one round */
    native.cycles = two;
    cycles_of(text, 8, &native, 2);
    in[0] = 6; /* three */
    native.cycles = six;
    cycles_of(text, 8, &native, 2);
    assert_int_equal(none[0], two[0]);
    assert_true(two[1] > none[1]);
    assert_int_equal(six[1] - none[1], 3 * (two[1] - none[1]));
}

/* Costs that do not depend on data are known when compiling. */
static void constant_control_flow_counts_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "i32 s; for (i32 i = 0; i < 9; i++) for (i32 j = i; j < 9; j++) s += x; y <- s;",
        "i32 s; for (i32 i = 0; i < 70000; i++) { if (i < 0) continue; s += x > i ? 3 : x; } y<-s;",
        "y <- x > 0 && x < 9 ? x * 3 : x / 3;",
        "i32 s = x; i32 i = 3; do { s *= 3; if (i == 1) break; i--; } while (true); y <- s;",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[512];
        struct devdesc device = description(8);
        snprintf(text, sizeof text,
                 "kernel k(in i32 x, out i32 y) { %s }\n"
                 "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n",
                 texts[i]);
        struct text_compile *c = compile(text, &device);
        if (i != 1) assert_false(c->graph->nodes.items[0].warp.counted);
        text_compile_free(c);
    }
}

/* ---- launches of work-items ---- */

enum { LAUNCHING_ITEMS = 16 };

/* The firing's times of launches and warps' cycles; packets are rounds of items. */
static void times_of_items(struct text_compile *c, int optimisation, const int32_t *rounds,
                           uint64_t *times, uint64_t *cycles)
{
    static struct launch_log log;
    log.list = (struct kernel_launch_list){.entries = log.entries,
                                           .interfaces = child_interfaces,
                                           .stride_bytes = ENTRY_BYTES,
                                           .capacity = LAUNCHING_ITEMS,
                                           .done = answer};
    log.time_count = log.taken = 0;
    struct native native = {.in = rounds, .count = 1, .cycles = cycles, .launches = &log.list};
    run_native(c, optimisation, &native);
    take_launches(&log);
    assert_int_equal(log.time_count, LAUNCHING_ITEMS);
    memcpy(times, log.times, LAUNCHING_ITEMS * sizeof *times);
}

/* Warps of the firing, one after the other; in a run of statements each item's own rounds. */
static void expect_item_times(bool barrier, uint32_t lanes)
{
    char text[512];
    const uint32_t items = LAUNCHING_ITEMS, warps = (items + lanes - 1) / lanes;
    snprintf(text, sizeof text,
             "child kernel leaf(in i32 x, out i32 y; i32 v) { y <- v; }\n"
             "kernel k(in i32 x pop 16, out i32 y push ..16) group 16 launches 16 {\n"
             "i32 s; for (i32 i = 0; i < x[item.x]; i++) s += i * 3; %s launch leaf(s); }\n"
             "pipeline main(in i32 a, out i32 b) { k(a -> b); }\n",
             barrier ? "barrier();" : "");
    struct devdesc device = description(lanes);
    struct text_compile *c = compile(text, &device);
    assert_true(c->graph->nodes.items[0].warp.counted);
    for (int level = 0; level <= 3; level += 3) {
        int32_t rounds[LAUNCHING_ITEMS] = {0};
        uint64_t times[LAUNCHING_ITEMS], cycles[LAUNCHING_ITEMS];
        times_of_items(c, level, rounds, times, cycles);
        uint64_t base = cycles[0], round;
        for (uint32_t i = 0; i < items; i++)
            rounds[i] = 1;
        times_of_items(c, level, rounds, times, cycles);
        round = cycles[0] - base;
        assert_true(base > 0 && round > 0);
        fill_lengths(rounds, items, 5);
        times_of_items(c, level, rounds, times, cycles);
        uint64_t ended = 0, all = 0;
        for (uint32_t w = 0; w < warps; w++)
            all += round * (uint64_t)longest(rounds + w * lanes, lanes < items ? lanes : items);
        for (uint32_t i = 0; i < items; i++) {
            if (i > 0 && i % lanes == 0)
                ended += round * (uint64_t)longest(rounds + i - lanes, lanes);
            uint64_t own = ended + round * (uint64_t)rounds[i];
            assert_int_equal(times[i], warps * base + (barrier ? all : own));
        }
        for (uint32_t w = 0; w < warps; w++)
            all -= cycles[w] - base;
        assert_int_equal(all, 0);
    }
    text_compile_free(c);
}

static void items_launch_after_the_last_barrier_and_their_own_work(void **state)
{
    (void)state;
    static const uint32_t lane_counts[] = {4, 8, 16, 32};
    for (size_t i = 0; i < sizeof lane_counts / sizeof *lane_counts; i++) {
        expect_item_times(false, lane_counts[i]);
        expect_item_times(true, lane_counts[i]);
    }
}

TEST_MAIN("cost", cmocka_unit_test(random_kernels_count_what_their_lanes_execute),
          cmocka_unit_test(launches_stand_after_what_has_been_executed),
          cmocka_unit_test(items_launch_after_the_last_barrier_and_their_own_work),
          cmocka_unit_test(random_kernels_with_state_count_all_their_firings),
          cmocka_unit_test(loops_take_as_long_as_the_longest_lane),
          cmocka_unit_test(branches_in_vector_lanes_count_for_each_lane),
          cmocka_unit_test(calls_count_what_the_function_has_counted),
          cmocka_unit_test(items_fill_warps_of_their_firing),
          cmocka_unit_test(items_that_do_not_fill_their_last_warp),
          cmocka_unit_test(runs_between_barriers_add_up), cmocka_unit_test(phases_are_regions),
          cmocka_unit_test(a_source_that_stops_counts_what_it_has_completed),
          cmocka_unit_test(finish_is_counted),
          cmocka_unit_test(constant_control_flow_counts_nothing))
