/*
 * What generated code counts of random kernels, against their execution place by place: cycles of a
 * warp = the sum over all places of the tree of (cost of the place) x (how often the lane that comes
 * there most often does).
 */
#include "tests/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "compiler/analysis/analysis.h"
#include "compiler/analysis/cost.h"
#include "compiler/sema/arith.h"
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
    uint64_t cycles, constant; /* of a visit; of a call: what its function costs in any case */
    uint64_t visits, counted;  /* of the present firing; of a call: what the function has added */
    uint64_t most, most_counted;
};

struct model {
    struct body_run run; /* first: what is told of it comes with it */
    const struct devdesc_costs *costs;
    struct place places[PLACES];
    size_t place_count;
    uint64_t spent[16]; /* in the functions that are being executed, by depth */
};

static struct place *place_of(struct model *m, const void *node)
{
    size_t at = ((uintptr_t)node >> 4) * 0x9E3779B97F4A7C15u >> 40 & (PLACES - 1);
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
    case KX_PEEK: return c->load;
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
    struct place *place = place_of(m, node);
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

static void set_aside(struct model *m, const struct kx *x)
{
    if (x == NULL) return;
    place_of(m, x)->aside = true;
    set_aside(m, x->left);
    set_aside(m, x->right);
    set_aside(m, x->third);
    for (uint32_t i = 0; i < x->argument_count; i++)
        set_aside(m, x->arguments[i]);
}

static void enter(struct body_run *run, const struct kx *x)
{
    struct model *m = (struct model *)run;
    bool both = is_choice(x) && !jumps(x->right) && !jumps(x->third);
    if (both && !place_of(m, x)->aside) {
        set_aside(m, x->right);
        set_aside(m, x->third);
        visit_aside(m, x->right);
        visit_aside(m, x->third);
    }
    if (!place_of(m, x)->aside) visit(m, x, own_cycles(m->costs, x));
}

/* Functions whose cost depends on data are those of the writer whose bodies jump. */
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
    struct place *place = place_of(m, x);
    place->constant = constant;
    place->counted += all - constant;
}

static void statement(struct body_run *run, const struct ks *s)
{
    struct model *m = (struct model *)run;
    bool branches = s->kind == KS_IF || s->kind == KS_LOOP || s->kind == KS_SWITCH;
    if (branches) visit(m, s, m->costs->branch);
    if (s->kind == KS_EMIT) visit(m, s, m->costs->store);
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

/* Firings until one faults or takes too long, of `count`. */
static uint32_t run_model(struct model *m, const struct input *input, uint32_t count,
                          uint32_t lanes, uint64_t *cycles)
{
    volatile uint32_t done = 0;
    clear(m);
    m->run.depth = 0;
    m->run.fuel = 100000;
    m->run.statement = NULL;
    m->run.enter = NULL;
    m->run.leave = NULL;
    if (setjmp(m->run.fault) != 0) return done;
    body_begin_states(&m->run);
    m->run.statement = statement;
    m->run.enter = enter;
    m->run.leave = leave;
    for (uint32_t n = 0; n < count; n++) {
        memcpy(m->run.packets, input->packets + n, sizeof m->run.packets);
        m->run.fuel = 20000;
        m->run.appended = 0;
        body_execute(&m->run, m->run.kernel->body);
        end_firing(m);
        done = n + 1;
        if (done % lanes == 0 || done == count) cycles[n / lanes] = end_warp(m);
    }
    return count;
}

static void run_native(struct text_compile *c, int optimisation, const struct input *input,
                       uint32_t count, uint64_t *cycles)
{
    static int32_t out[FIRINGS * 20000];
    const struct kernel *kernel = c->graph->nodes.items[0].kernel;
    int file;
    c->cx.options.optimisation = optimisation;
    struct kernel_image *image = kernel_compile(&c->cx, c->graph);
    assert_non_null(image);
    void *library = kernel_image_open(image, &file);
    void *arguments = kernel_block_create(kernel->arguments_bytes);
    void *tables = kernel_block_create(kernel->tables_bytes);
    void *state = kernel_block_create(kernel->state_bytes);
    struct kernel_fault fault = {0};
    const void *in[] = {input->packets};
    void *outs[] = {out};
    struct kernel_batch batch = {.arguments = arguments,
                                 .tables = tables,
                                 .state = state,
                                 .in = in,
                                 .out = outs,
                                 .count = count,
                                 .fault = &fault,
                                 .warp_cycles = cycles};
    union {
        void *object;
        kernel_entry entry;
    } init = {dlsym(library, "pipe_k0_init")}, run = {dlsym(library, "pipe_k0_run")};
    if (init.object != NULL) assert_int_equal(init.entry(&batch), KERNEL_OK);
    assert_int_equal(run.entry(&batch), KERNEL_OK);
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
    static const int levels[] = {0, 2, 3};
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
    uint32_t firings = run_model(&m, &input, FIRINGS, width, wanted);
    size_t warps = (firings + width - 1) / width;
    if (firings > 0 && firings < FIRINGS)
        assert_int_equal(run_model(&m, &input, firings, width, wanted), firings);
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
            run_native(c, levels[i], &input, firings, found);
            expect_cycles(text, found, wanted, state ? 1 : warps, levels[i]);
        }
        tally->counted++;
    }
    text_compile_free(c);
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
    if (programs >= 20) assert_true(tally.counted > (int)programs / 4);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void random_kernels_count_what_their_lanes_execute(void **state)
{
    (void)state;
    uint64_t first = setting("COST_SEED", 1), programs = setting("COST_PROGRAMS", 24);
    try_programs(BODY_FREE, first, programs);
    try_programs(BODY_EXACT, first, programs);
}

static void random_kernels_with_state_count_all_their_firings(void **state)
{
    (void)state;
    try_programs(BODY_STATE, setting("COST_SEED", 1), setting("COST_PROGRAMS", 24));
}

TEST_MAIN("cost", cmocka_unit_test(random_kernels_count_what_their_lanes_execute),
          cmocka_unit_test(random_kernels_with_state_count_all_their_firings))
