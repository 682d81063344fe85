/* SPDX-License-Identifier: MIT */
/*
 * Scheduler programs, drawn instruction by instruction from the bytes, for one of a few small pipelines: a
 * prologue, the drawn instructions, and the guarded loop that has to finish the run whatever comes before it.  A program that the
 * verifier accepts is run on the device that executes nothing, then with kernels that stamp packets on those that
 * execute (stamped.h).  It has to end well: the machine may not find too few packets or too little room, nor work
 * that was left; an endless source is interrupted, and then it has to end, too.
 */
#include "tests/fuzz/fuzz.h"

#include "runtime/verify/verify.h"
#include "runtime/host/pipert_internal.h"
#include "tests/conform/made_container.h"
#include "tests/fuzz/stamped.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTIONS_MAX = 64, TEXT_BYTES = 16384, PACKETS = 100, STREAM_FIRINGS = 40 };

/* ---- pipelines ---- */

static uint32_t pass_on(struct made *m, const char *name, uint32_t in, uint64_t pop, uint64_t peek,
                        uint32_t out, uint64_t push)
{
    uint32_t node = made_node(m, name, 0);
    made_input(m, node, in, pop, peek);
    made_output(m, node, out, push, 0);
    return node;
}

/* x -> a (1:2) -> t -> b (3:1, peeks 4) -> y */
static struct made *chain(void)
{
    struct made *m = made_create("chain", "sim16");
    int32_t seven = 7;
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    made_initial(m, t, 1, &seven, sizeof seven);
    m->nodes[pass_on(m, "a", x, 1, 1, t, 2)].repetitions = 3;
    m->nodes[pass_on(m, "b", t, 3, 4, y, 1)].repetitions = 2;
    return m;
}

/* x -> a (phases: 1, 3) -> t -> b -> y */
static struct made *phased(void)
{
    struct made *m = made_create("phased", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t a = pass_on(m, "a", x, 2, 1, t, 4);
    const uint64_t rates[] = {1, 1, 1, 1, 1, 3, 1, 3};
    memcpy(m->rates, rates, sizeof rates);
    m->rate_count = 8;
    m->inputs[0].rates = 0;
    m->outputs[0].rates = 4;
    m->nodes[a].phases = 2;
    m->nodes[a].repetitions = 2;
    m->nodes[pass_on(m, "b", t, 1, 1, y, 1)].repetitions = 4;
    m->stages[a].batch_max = 4;
    const uint64_t schedule[] = {UINT64_C(2) << 32 | 1, 9, 2, 0, 3, 0, 1, 1, 1, 2, 4};
    memcpy(m->certificate, schedule, sizeof schedule);
    m->certificate_count = sizeof schedule / sizeof *schedule;
    return m;
}

/* s -> u -> b -> y, and beside it c <-> d, without input */
static struct made *unfed(void)
{
    struct made *m = made_create("unfed", "sim16");
    int32_t one = 1;
    uint32_t u = made_buffer(m, "u", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t p = made_buffer(m, "p", SCALAR_I32, 8, CONTAINER_INNER);
    uint32_t q = made_buffer(m, "q", SCALAR_I32, 8, CONTAINER_INNER);
    made_initial(m, p, 2, &one, sizeof one);
    uint32_t s = made_node(m, "s", 0);
    made_output(m, s, u, 1, 0);
    (void)pass_on(m, "b", u, 1, 1, y, 1);
    (void)pass_on(m, "c", p, 1, 1, q, 1);
    (void)pass_on(m, "d", q, 1, 1, p, 1);
    const uint64_t schedule[] = {UINT64_C(2) << 32 | 1, 7, 2, 0, 2, 0, 1, 1, 1};
    memcpy(m->certificate, schedule, sizeof schedule);
    m->certificate_count = sizeof schedule / sizeof *schedule;
    return m;
}

/* x -> a -> t -> b (0..2) -> u -> c -> v -> d -> y, and x -> e, which has a finish */
static struct made *mixed(void)
{
    struct made *m = made_create("mixed", "sim16");
    const char *names[] = {"t", "u", "v"}, *nodes[] = {"a", "b", "c", "d"};
    uint32_t buffers[5] = {made_buffer(m, "x", SCALAR_I32, 16, CONTAINER_OUTER_IN)};
    for (uint32_t i = 0; i < 3; i++)
        buffers[i + 1] = made_buffer(m, names[i], SCALAR_I32, 16, CONTAINER_INNER);
    buffers[4] = made_buffer(m, "y", SCALAR_I32, 16, CONTAINER_OUTER_OUT);
    uint32_t z = made_buffer(m, "z", SCALAR_I32, 16, CONTAINER_OUTER_OUT);
    for (uint32_t i = 0; i < 4; i++)
        (void)pass_on(m, nodes[i], buffers[i], 1, 1, buffers[i + 1], i == 1 ? 2 : 1);
    m->outputs[1].push_least = 0;
    uint32_t e = made_node(m, "e", CONTAINER_NODE_FINISH);
    made_input(m, e, buffers[0], 1, 1);
    made_output(m, e, z, 1, 3);
    return m;
}

/* x -> k (in step: 0..2 to t, 0..4 to u) -> join -> y, and s, which stops -> v -> e, which has a finish, -> z */
static struct made *bundled(void)
{
    struct made *m = made_create("bundled", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 8, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_U8, 8, CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_F64, 16, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t v = made_buffer(m, "v", SCALAR_U16, 8, CONTAINER_INNER);
    uint32_t z = made_buffer(m, "z", SCALAR_I32, 8, CONTAINER_OUTER_OUT);
    uint32_t k = made_node(m, "k", 0);
    made_input(m, k, x, 1, 1);
    made_output(m, k, t, 2, 0);
    made_output(m, k, u, 4, 0);
    for (uint32_t o = 0; o < 2; o++) {
        m->outputs[o].push_least = 0;
        m->outputs[o].bundle = 1;
        m->outputs[o].share = 1 + o;
    }
    uint32_t join = made_node(m, "join", 0);
    made_input(m, join, t, 1, 1);
    made_input(m, join, u, 2, 2);
    made_output(m, join, y, 1, 0);
    uint32_t s = made_node(m, "s", CONTAINER_NODE_STOPS | CONTAINER_NODE_STATEFUL);
    made_output(m, s, v, 1, 0);
    uint32_t e = made_node(m, "e", CONTAINER_NODE_FINISH | CONTAINER_NODE_STATEFUL);
    made_input(m, e, v, 3, 3);
    made_output(m, e, z, 1, 3);
    m->nodes[s].repetitions = 3;
    /* Of the block of t and u: no prologue; the outside once, join once. */
    const uint64_t schedule[] = {UINT64_C(2) << 32 | 1, 7, 2, 0, 2, 1, 1, 0, 1};
    memcpy(m->certificate, schedule, sizeof schedule);
    m->certificate_count = sizeof schedule / sizeof *schedule;
    return m;
}

/* x -> a -> t -> b (0..2) -> u -> c -> y, deep enough that threads share the firings of a dispatch */
static struct made *wide(void)
{
    struct made *m = made_create("wide", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_I32, 256, CONTAINER_OUTER_IN);
    uint32_t t = made_buffer(m, "t", SCALAR_U8, 256, CONTAINER_INNER);
    uint32_t u = made_buffer(m, "u", SCALAR_I64, 512, CONTAINER_INNER);
    uint32_t y = made_buffer(m, "y", SCALAR_I32, 256, CONTAINER_OUTER_OUT);
    (void)pass_on(m, "a", x, 1, 3, t, 1);
    (void)pass_on(m, "b", t, 1, 1, u, 2);
    (void)pass_on(m, "c", u, 1, 1, y, 1);
    m->outputs[1].push_least = 0;
    for (uint32_t n = 0; n < m->node_count; n++)
        m->nodes[n].cost_cycles = 1 << 30;
    return m;
}

static struct made *(*const pipelines[])(void) = {chain, phased, unfed, mixed, bundled, wide};
/* The last two are drawn by some bytes, the others by all the rest. */
enum { OTHERS = sizeof pipelines / sizeof *pipelines - 2, LAST_FROM = 200, LAST_TO = 224 };

/* ---- drawing a program ---- */

struct drawing {
    const uint8_t *bytes;
    size_t left;
    const struct made *made;
    char text[TEXT_BYTES];
    size_t used;
    uint32_t depth, count;
};

static uint32_t draw(struct drawing *d, uint32_t below)
{
    if (d->left == 0 || below == 0) return 0;
    d->left--;
    return *d->bytes++ % below;
}

static void put(struct drawing *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct drawing *d, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    d->used += (size_t)vsnprintf(d->text + d->used, sizeof d->text - d->used, format, arguments);
    va_end(arguments);
    if (d->used >= sizeof d->text) abort();
}

/* Labels stand before every drawn instruction; most often the guarded loop is meant. */
static void put_label(struct drawing *d)
{
    uint32_t label = draw(d, 2 * INSTRUCTIONS_MAX);
    if (label < d->count + 4 && label < INSTRUCTIONS_MAX)
        put(d, "I%" PRIu32 "\n", label);
    else
        put(d, "D0\n");
}

static void draw_guard(struct drawing *d, uint32_t kind)
{
    uint32_t stage = draw(d, d->made->stage_count);
    const struct container_node *node = &d->made->nodes[stage];
    if (kind == 0 && node->input_count > 0)
        put(d, " has_packets %" PRIu32 ", 0, %" PRIu32 ", ", stage, draw(d, 18));
    else if (kind == 1 && node->output_count > 0)
        put(d, " has_room %" PRIu32 ", 0, %" PRIu32 ", ", stage, draw(d, 18));
    else
        put(d, " goes_on %" PRIu32 ", %" PRIu32 ", ", stage, draw(d, 18));
    put_label(d);
}

static void draw_loop(struct drawing *d, bool opens)
{
    if (opens && d->depth < 8) {
        put(d, " repeat %" PRIu32 "\n", 1 + draw(d, 4));
        d->depth++;
    } else if (!opens && d->depth > 0) {
        put(d, " again\n");
        d->depth--;
    } else {
        put(d, " fence\n");
    }
}

static void draw_instruction(struct drawing *d)
{
    static const char *const selections[] = {"round_robin", "priority", "fullest"};
    uint32_t kind = draw(d, 16);
    put(d, "I%" PRIu32 ":\n", d->count);
    if (kind <= 2) draw_guard(d, kind);
    if (kind >= 3 && kind <= 7) { /* one draw after the other: arguments have no order */
        uint32_t stage = draw(d, d->made->stage_count);
        put(d, " run %" PRIu32 ", %" PRIu32 "\n", stage, 1 + draw(d, 8));
    }
    if (kind == 8 || kind == 9) draw_loop(d, kind == 8);
    if (kind >= 10 && kind <= 12) {
        put(d, kind == 10 ? " call " : kind == 11 ? " wait " : " jump ");
        put_label(d);
    }
    if (kind == 13) put(d, " ends\n");
    if (kind == 14) {
        const char *selection = selections[draw(d, 3)];
        put(d, " %s %" PRIu32 ", D0\n dispatch\n", selection, draw(d, 2));
    }
    if (kind == 15) {
        static const char *const leaving[] = {" return\n", " halt\n", " jump D0\n", " jump D0\n"};
        put(d, "%s", leaving[draw(d, 4)]);
    }
    d->count++;
}

/* Set 1 has every other stage. */
static void draw_program(struct drawing *d)
{
    uint32_t stages = d->made->stage_count, cut = draw(d, 2);
    put(d, ".set 1:");
    for (uint32_t i = 0; i < stages; i += 2)
        put(d, " %" PRIu32, i);
    put(d, "\n packets %s\n", draw(d, 2) == 0 ? "condensed" : "full");
    if (cut) put(d, " partition_equally 3\n");
    for (uint32_t i = 0; i < stages; i++)
        put(d, cut ? " bind %" PRIu32 ", %" PRIu32 "\n" : " bind_root %" PRIu32 "\n", i, i);
    while (d->left > 0 && d->count + 8 < INSTRUCTIONS_MAX)
        draw_instruction(d);
    while (d->depth > 0) {
        put(d, " again\n");
        d->depth--;
    }
    for (uint32_t i = d->count; i < INSTRUCTIONS_MAX; i++)
        put(d, "I%" PRIu32 ":\n", i);
    put(d, "D0: ends\n round_robin 0, D1\n dispatch\n jump D0\nD1: wait D0\n halt\n");
}

/* ---- running it ---- */

static int32_t never(const struct kernel_batch *batch)
{
    (void)batch;
    abort(); /* the null device executes nothing */
}

struct host {
    struct prt_run *run;
    size_t left;         /* packets that come in */
    size_t written;      /* that have gone out */
    size_t interrupt_at; /* packets out; SIZE_MAX: never */
};

static enum prt_status read_some(void *context, void *packets, size_t capacity, size_t *count,
                                 struct prt_error *error)
{
    struct host *host = context;
    (void)packets;
    (void)error;
    *count = capacity < host->left ? capacity : host->left;
    host->left -= *count;
    return PRT_OK;
}

static enum prt_status write_some(void *context, const void *packets, size_t count,
                                  struct prt_error *error)
{
    struct host *host = context;
    (void)packets;
    (void)error;
    host->written += count;
    if (host->written >= host->interrupt_at) prt_run_interrupt(host->run);
    return PRT_OK;
}

static void must(enum prt_status status, const struct prt_error *error, const char *text)
{
    if (status == PRT_OK) return;
    fprintf(stderr, "%s\n%s", error->message, text);
    abort();
}

/* A part without in-ports is interrupted before its source ends: its cycle never ends. */
static void execute(const struct prt_program *program, size_t interrupt_at, const char *text)
{
    struct prt_run_options options = {.device = "null", .host_threads = 1};
    struct host host = {.left = PACKETS, .interrupt_at = interrupt_at % (STREAM_FIRINGS - 8)};
    struct prt_port_information port;
    struct prt_error error;
    bool fed = false;
    must(prt_run_create(program, &options, &host.run, &error), &error, text);
    prt_run_limit_firings(host.run, STREAM_FIRINGS);
    for (uint32_t i = 0; prt_program_port(program, i, &port); i++) {
        if (port.direction == PRT_PORT_IN)
            must(prt_run_bind_input(host.run, i, read_some, &host, &error), &error, text);
        else
            must(prt_run_bind_output(host.run, i, write_some, &host, &error), &error, text);
        fed = fed || port.direction == PRT_PORT_IN;
    }
    if (fed && interrupt_at >= STREAM_FIRINGS) host.interrupt_at = SIZE_MAX;
    enum prt_status status = prt_run_execute(host.run, &error);
    if (status != PRT_E_INTERRUPTED) must(status, &error, text);
    prt_run_destroy(host.run);
}

static void load_and_run(const uint8_t *bytes, size_t size, uint32_t kernel_count,
                         size_t interrupt_at, const char *text)
{
    struct prt_program *program;
    struct prt_error error;
    struct prt_image_kernel kernels[8];
    for (uint32_t i = 0; i < kernel_count; i++)
        kernels[i] = (struct prt_image_kernel){never, never, never};
    must(prt_program_load_with_entries(bytes, size, kernels, NULL, &program, &error), &error, text);
    execute(program, interrupt_at, text);
    prt_program_free(program);
}

static void execute_stamped(const struct prt_container *c, size_t interrupt_at, const char *text)
{
    bool fed = false;
    for (uint32_t b = 0; b < c->buffer_count; b++)
        fed = fed || c->buffers[b].outer == CONTAINER_OUTER_IN;
    const struct stamped_options options = {.text = text,
                                            .packets_in = 4 * PACKETS,
                                            .piece = interrupt_at % 8,
                                            .firings = STREAM_FIRINGS,
                                            .stop_after = interrupt_at / 3,
                                            .interrupt_at =
                                                fed && interrupt_at >= STREAM_FIRINGS
                                                    ? UINT64_MAX
                                                    : interrupt_at % (STREAM_FIRINGS - 8)};
    stamped_run(c, &options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct drawing d = {.bytes = data, .left = size};
    uint32_t choice = draw(&d, 256);
    bool last = choice >= LAST_FROM && choice < LAST_TO;
    struct made *m = pipelines[last ? OTHERS + choice % 2 : choice % OTHERS]();
    size_t interrupt_at = draw(&d, 2 * STREAM_FIRINGS);
    struct prt_container c;
    struct prt_error error;
    size_t bytes_size;
    d.made = m;
    made_settle(m);
    draw_program(&d);
    made_program(m, d.text);
    uint8_t *bytes = made_finish(m, &bytes_size);
    must(prt_container_read_memory(bytes, bytes_size, &c, &error), &error, d.text);
    must(prt_verify_graph(&c, &error), &error, d.text);
    bool accepted = prt_verify(&c, &error) == PRT_OK;
    if (accepted) execute_stamped(&c, interrupt_at, d.text);
    prt_container_free(&c);
    if (accepted) load_and_run(bytes, bytes_size, m->node_count, interrupt_at, d.text);
    if (getenv("FUZZ_VERBOSE") != NULL)
        fprintf(stderr, "%s%s\n", d.text, accepted ? "accepted" : error.message);
    free(bytes);
    made_free(m);
    return 0;
}
