/* SPDX-License-Identifier: MIT */
/* Debug information: what the compiler writes of types, places and variables, what is refused of it,
 * values as text, and which statement wrote a packet. */
#include "tests/test.h"

#include <stdio.h>

#include "compiler/bodies/range_check.h"
#include "compiler/bodies/amplify.h"
#include "compiler/bodies/divergence.h"
#include "compiler/bodies/cost.h"
#include "compiler/liveness/rate.h"
#include "compiler/liveness/bounded.h"
#include "compiler/liveness/deadlock.h"
#include "compiler/pace/bufsize.h"
#include "compiler/pace/debug_depths.h"
#include "compiler/codegen/common/codegen.h"
#include "runtime/backend/sim/sim.h"
#include "runtime/load/debug_info.h"
#include "runtime/verify/verify.h"
#include "runtime/observe/value_text.h"
#include "runtime/sched/provenance.h"
#include "tests/conform/made_container.h"
#include "tests/unit/compile_text.h"

/* ---- containers of a text ---- */

struct built {
    struct text_compile *c;
    struct prt_container container;
};

static struct built build(const char *text, bool debug_mode)
{
    struct built b = {.c = text_compile(text)};
    struct compile *cx = &b.c->cx;
    struct devdesc *device = ARENA_NEW(cx->arena, struct devdesc);
    struct prt_error error;
    assert_non_null(b.c->graph);
    cx->options.debug_mode = debug_mode;
    assert_true(devdesc_builtin("sim4", device));
    amplify_infer_rates(cx, b.c->graph);
    range_check_bodies(cx, b.c->graph);
    group_check_bodies(cx, b.c->graph);
    cost_estimate(cx, b.c->graph);
    rate_solve(cx, b.c->graph);
    bounded_check(cx, b.c->graph);
    deadlock_check(cx, b.c->graph);
    bufsize_assign(cx, b.c->graph);
    if (debug_mode) debug_cut_depths(cx, b.c->graph);
    struct plan *plan = plan_place(cx, b.c->graph, device);
    if (diag_failed(cx->diags)) print_message("%s", text_compile_messages(b.c));
    assert_false(diag_failed(cx->diags));
    struct kernel_image *image = kernel_compile(cx, b.c->graph);
    assert_non_null(image);
    struct sched_program *program = sched_emit(cx, b.c->graph, plan);
    struct container_bytes file = container_build(cx, b.c->graph, plan, program, image);
    if (prt_container_read_memory(file.bytes, file.size_bytes, &b.container, &error) != PRT_OK ||
        prt_verify(&b.container, &error) != PRT_OK)
        fail_msg("%s", error.message);
    return b;
}

static void release(struct built *b)
{
    prt_container_free(&b->container);
    text_compile_free(b->c);
}

static const struct container_buffer *buffer_of(const struct prt_container *c, const char *name)
{
    for (uint32_t i = 0; i < c->buffer_count; i++)
        if (strcmp(prt_container_text(c, c->buffers[i].name), name) == 0) return &c->buffers[i];
    fail_msg("no buffer '%s'", name);
    return NULL;
}

static const struct container_kernel *kernel_of(const struct prt_container *c, const char *title)
{
    for (uint32_t i = 0; i < c->kernel_count; i++)
        if (strcmp(prt_container_text(c, c->kernels[i].title), title) == 0) return &c->kernels[i];
    fail_msg("no kernel '%s'", title);
    return NULL;
}

static void expect_line(const struct prt_container *c, uint32_t place, uint32_t line)
{
    const struct container_place *at = prt_debug_place(c, place);
    assert_non_null(at);
    assert_int_equal(at->line, line);
    assert_string_equal(prt_container_source(c, at->source), "test.pipe");
}

static char *type_text_of(const struct prt_container *c, uint32_t type)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    prt_type_print(to, c, type);
    fclose(to);
    return text;
}

static void expect_type(const struct prt_container *c, uint32_t type, const char *expected)
{
    char *text = type_text_of(c, type);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- what is written ---- */

static const char shapes[] =
    "struct point { i8 x; f64 y; };\n"
    "struct pair { point p[2]; bool on; f16 h; f32x4 v; };\n"
    "kernel make(in i32 x, out pair y; i16 bias = 3) {\n"
    "  table u16 squares[4];\n"
    "  state pair last; state i64 total = 0;\n"
    "  init { for (i32 i = 0; i < 4; i++) squares[i] = (u16)(i * i); }\n"
    "  total += x; last.on = !last.on; last.p[1].x = (i8)(squares[1] + bias); y <- last;\n"
    "}\n"
    "kernel drop(in pair x, out i32[2][3] y) { i32[2][3] z; z[0][0] = x.on ? 1 : 2; y <- z; }\n"
    "pipeline main(in i32 x, out i32[2][3] y) {\n"
    "  buffer pair mid depth 9;\n"
    "  a: make(x -> mid); drop(mid -> y);\n"
    "}\n";

static void types_and_places_are_there(void **unused)
{
    (void)unused;
    for (int debug_mode = 0; debug_mode < 2; debug_mode++) {
        struct built b = build(shapes, debug_mode);
        const struct prt_container *c = &b.container;
        const struct container_buffer *mid = buffer_of(c, "mid");
        assert_true(prt_debug_mode(c) == debug_mode);
        expect_type(c, mid->type, "pair");
        expect_type(c, buffer_of(c, "y")->type, "i32[2][3]");
        expect_line(c, mid->place, 11);
        expect_line(c, buffer_of(c, "x")->place, 10);
        const struct container_kernel *make = kernel_of(c, "make");
        assert_ptr_equal(prt_debug_kernel(c, c->nodes[0].kernel), make);
        assert_null(prt_debug_kernel(c, 17));
        expect_line(c, make->place, 3);
        const struct container_kernel_port *out = &c->kernel_ports[make->first_port + 1];
        assert_string_equal(prt_container_text(c, out->name), "y");
        assert_int_equal(out->type, mid->type);
        expect_line(c, out->place, 3);
        release(&b);
    }
}

static void expect_variable(const struct prt_container *c, const char *name,
                            enum container_variable_kind kind, const char *type, uint32_t line)
{
    const struct container_variable *v = prt_debug_variable(c, kernel_of(c, "make"), name);
    assert_non_null(v);
    assert_int_equal(v->kind, kind);
    expect_type(c, v->type, type);
    expect_line(c, v->place, line);
}

static void variables_and_texts_come_with_debug_mode_alone(void **unused)
{
    (void)unused;
    const char *text;
    size_t length;
    struct built b = build(shapes, true);
    const struct prt_container *c = &b.container;
    expect_variable(c, "total", CONTAINER_VARIABLE_STATE, "i64", 5);
    expect_variable(c, "last", CONTAINER_VARIABLE_STATE, "pair", 5);
    expect_variable(c, "squares", CONTAINER_VARIABLE_TABLE, "u16[4]", 4);
    expect_variable(c, "bias", CONTAINER_VARIABLE_ARGUMENT, "i16", 3);
    assert_null(prt_debug_variable(c, kernel_of(c, "make"), "none"));
    assert_true(prt_debug_source_line(c, 0, 11, &text, &length));
    assert_int_equal(length, strlen("  buffer pair mid depth 9;"));
    assert_memory_equal(text, "  buffer pair mid depth 9;", length);
    assert_false(prt_debug_source_line(c, 0, 14, &text, &length));
    assert_false(prt_debug_source_line(c, 0, 0, &text, &length));
    assert_false(prt_debug_source_line(c, 1, 1, &text, &length));
    assert_null(prt_debug_place(c, CONTAINER_NONE));
    assert_null(prt_debug_place(c, c->place_count));
    assert_null(prt_debug_type(c, c->type_count));
    assert_null(prt_debug_origin(c, 0));
    assert_ptr_equal(prt_debug_origin(c, 1), prt_debug_place(c, 0));
    release(&b);
    b = build(shapes, false);
    assert_int_equal(b.container.variable_count, 0);
    assert_int_equal(b.container.source_texts_bytes, 0);
    assert_null(prt_debug_variable(&b.container, kernel_of(&b.container, "make"), "total"));
    assert_false(prt_debug_source_line(&b.container, 0, 1, &text, &length));
    release(&b);
}

static void expect_parts(const struct prt_container *c, uint32_t type, size_t size,
                         const char *expected)
{
    char text[256];
    memset(text, 'x', sizeof text);
    prt_debug_parts_text(c, type, text, size);
    assert_string_equal(text, expected);
    assert_int_equal(text[size], 'x');
}

static void parts_of_a_type_are_listed(void **unused)
{
    (void)unused;
    struct built b = build(shapes, true);
    const struct prt_container *c = &b.container;
    uint32_t pair = buffer_of(c, "mid")->type;
    const struct container_type *t = prt_debug_type(c, pair);
    expect_parts(c, pair, 200, "p, on, h, v");
    expect_parts(c, pair, 17, "p, on, h, v");
    expect_parts(c, pair, 16, "p, on, h, ...");
    expect_parts(c, pair, 9, "p, ...");
    expect_parts(c, pair, 8, "...");
    expect_parts(c, c->members[t->first_member].type, 200, "[0] to [1]");
    expect_parts(c, c->members[t->first_member + 1].type, 200, "");
    expect_parts(c, c->members[t->first_member + 3].type, 200, "[0] to [3]");
    expect_parts(c, c->type_count, 200, "");
    release(&b);
}

/* Lines as they may end, and an end without one. */
static void lines_end_with_a_feed_or_with_the_text(void **unused)
{
    (void)unused;
    static const char text[] = "one\r\n\ntwo\nlast";
    const struct container_source source = {.text_bytes = sizeof text - 1};
    const struct prt_container c = {.source_count = 1, .sources = &source, .source_texts = text};
    static const char *const lines[] = {"one", "", "two", "last"};
    const char *at;
    size_t length;
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(prt_debug_source_line(&c, 0, i + 1, &at, &length));
        assert_int_equal(length, strlen(lines[i]));
        assert_memory_equal(at, lines[i], length);
    }
    assert_false(prt_debug_source_line(&c, 0, 5, &at, &length));
    assert_false(prt_debug_source_line(&c, 0, UINT32_MAX, &at, &length));
}

/* 300 structs in each other: it compiles, and members that are too deep are left out. */
static void types_that_are_nested_too_deep_are_left_out(void **unused)
{
    (void)unused;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    fputs("struct s0 { i32 v; };\n", to);
    for (int i = 1; i < 300; i++)
        fprintf(to, "struct s%d { s%d v; };\n", i, i - 1);
    fputs("kernel k(in s253 a, in s299 b, out i32 y) { y <- 1; }\n"
          "pipeline main(in s253 a, in s299 b, out i32 y) { k(a, b -> y); }\n",
          to);
    fclose(to);
    struct built b = build(text, false);
    assert_int_not_equal(buffer_of(&b.container, "a")->type, CONTAINER_NONE);
    assert_int_equal(buffer_of(&b.container, "b")->type, CONTAINER_NONE);
    release(&b);
    free(text);
}

/* ---- debug mode itself ---- */

static void every_buffer_is_cut_and_every_firing_alone(void **unused)
{
    (void)unused;
    struct built b = build(shapes, true);
    const struct prt_container *c = &b.container;
    for (uint32_t i = 0; i < c->buffer_count; i++)
        assert_int_equal(c->buffers[i].depth_packets, 1);
    for (uint32_t i = 0; i < c->stage_count; i++) {
        assert_int_equal(c->stages[i].threshold, 1);
        assert_int_equal(c->stages[i].batch_max, 1);
        assert_int_equal(c->stages[i].place, 0);
        assert_int_equal(c->stages[i].entry, CONTAINER_NONE);
    }
    assert_int_equal(c->pipeline->memory_bytes, buffer_of(c, "mid")->width_bytes);
    release(&b);
    b = build(shapes, false);
    assert_int_equal(buffer_of(&b.container, "mid")->depth_packets, 9);
    release(&b);
}

/* The minimum of memory has three packets in `slim` and one in `wide`; but `slim` was declared to hold two,
 * and a cut makes no buffer deeper. */
static void no_declared_depth_grows(void **unused)
{
    (void)unused;
    static const char *const depths[] = {"", " depth 2"};
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "kernel fork(in u8 x, out u8 s, out u8 w) { s <- x; w <- x; }\n"
            "kernel widen(in u8 x, out u8[8] y) { u8[8] z; z[0] = x; y <- z; }\n"
            "kernel four(in u8 x pop 4, out u8 y push 4) {"
            "  for (i32 i = 0; i < 4; i++) y <- x[3 - i]; }\n"
            "kernel join(in u8[8] s, in u8 v, out u8 y) { y <- s[0][0] + v; }\n"
            "pipeline main(in u8 x, out u8 y) {\n"
            "  buffer u8 slim%s; buffer u8[8] wide depth 8; buffer u8 w depth 9; buffer u8 v;\n"
            "  fork(x -> slim, w); widen(slim -> wide); four(w -> v); join(wide, v -> y);\n"
            "}\n",
            depths[i]);
        struct built b = build(text, true);
        assert_int_equal(buffer_of(&b.container, "slim")->depth_packets, i == 0 ? 3 : 2);
        assert_int_equal(buffer_of(&b.container, "wide")->depth_packets, i == 0 ? 1 : 2);
        assert_int_equal(buffer_of(&b.container, "w")->depth_packets, 4);
        release(&b);
    }
}

/* ---- values as text ---- */

static void expect_text(const struct prt_container *c, uint32_t type, const void *bytes,
                        uint64_t items_max, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    prt_value_print(to, c, type, bytes, items_max);
    fclose(to);
    assert_string_equal(text, expected);
    free(text);
}

static void values_are_shown_by_their_types(void **unused)
{
    (void)unused;
    struct built b = build(shapes, true);
    const struct prt_container *c = &b.container;
    struct {
        struct {
            int8_t x;
            double y;
        } p[2];
        uint8_t on;
        uint16_t h;
        float v[4];
    } packet = {{{-3, 0.1}, {127, 1e300}}, 1, 0x3C00, {0.5f, -0.0f, 16777216, 1e-7f}};
    const struct container_buffer *mid = buffer_of(c, "mid");
    assert_int_equal(mid->width_bytes, sizeof packet);
    expect_text(c, mid->type, &packet, 0,
                "{p: [{x: -3, y: 0.1}, {x: 127, y: 1e+300}], on: true, h: 1, "
                "v: [0.5, -0, 16777216, 1e-07]}");
    const int32_t list[6] = {1, -2, 3, 4, 5, INT32_MIN};
    const struct container_buffer *y = buffer_of(c, "y");
    expect_text(c, y->type, list, 0, "[[1, -2, 3], [4, 5, -2147483648]]");
    expect_text(c, y->type, list, 2, "[[1, -2, ... 1 more], [4, 5, ... 1 more]]");
    expect_text(c, CONTAINER_NONE, list, 0, "?");
    release(&b);
}

static void packets_without_a_type_are_shown_as_scalars(void **unused)
{
    (void)unused;
    struct prt_container c = {0};
    const struct container_buffer buffer = {
        .scalar = SCALAR_U16, .width_bytes = 6, .type = CONTAINER_NONE};
    const uint16_t packet[3] = {1, 65535, 3};
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    prt_packet_print(to, &c, &buffer, packet, 2);
    fclose(to);
    assert_string_equal(text, "[1, 65535, ... 1 more]");
    free(text);
}

static void paths_lead_to_parts(void **unused)
{
    (void)unused;
    struct built b = build(shapes, true);
    const struct prt_container *c = &b.container;
    uint32_t pair = buffer_of(c, "mid")->type;
    struct prt_debug_part part;
    struct prt_error error;
    assert_int_equal(prt_debug_follow(c, pair, "p[1].y", &part, &error), PRT_OK);
    assert_int_equal(part.offset_bytes, 24);
    expect_type(c, part.type, "f64");
    assert_int_equal(prt_debug_follow(c, pair, ".v[3]", &part, &error), PRT_OK);
    expect_type(c, part.type, "f32");
    assert_int_equal(prt_debug_follow(c, pair, "", &part, &error), PRT_OK);
    assert_int_equal(part.type, pair);
    static const struct {
        const char *path, *message;
    } wrong[] = {{"q", "struct 'pair' has no field 'q': its fields are "},
                 {"p[2]", "index 2 is not below 2"},
                 {"on.x", "it is not a struct"},
                 {"on[0]", "neither array nor vector"},
                 {"p[-1]", "an index is [NUMBER]"},
                 {"p[1", "an index is [NUMBER]"},
                 {"p[9999999999999999999999]", "an index is [NUMBER]"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(prt_debug_follow(c, pair, wrong[i].path, &part, &error),
                         PRT_E_INVALID_VALUE);
        if (strstr(error.message, wrong[i].message) == NULL)
            fail_msg("%s: %s", wrong[i].path, error.message);
    }
    assert_int_equal(prt_debug_follow(c, CONTAINER_NONE, "", &part, &error), PRT_E_INVALID_VALUE);
    release(&b);
}

/* ---- which statement wrote a packet ---- */

struct told {
    struct prt_sched *sched;
    const struct prt_container *c;
    uint64_t seen[8]; /* by buffer: packets */
    char text[512];   /* "t:3 t:4 y:7": the buffer and the line of each packet, as they come */
    size_t used;
    const int32_t *values;
    size_t count, at;
};

static enum prt_status give(void *context, void *packets, size_t capacity, size_t *count,
                            struct prt_error *error)
{
    struct told *told = context;
    (void)error;
    for (*count = 0; *count < capacity && told->at < told->count; ++*count)
        ((int32_t *)packets)[*count] = told->values[told->at++];
    return PRT_OK;
}

static enum prt_status swallow(void *context, const void *packets, size_t count,
                               struct prt_error *error)
{
    (void)context, (void)packets, (void)count, (void)error;
    return PRT_OK;
}

static enum prt_status nothing(void *context, uint32_t stage, bool finish, struct prt_error *error)
{
    (void)context, (void)stage, (void)finish, (void)error;
    return PRT_OK;
}

/* Notes the origins of what has been written since the last time. */
static enum prt_status note_origins(void *context, uint32_t stage, bool finish,
                                    struct prt_error *error)
{
    struct told *told = context;
    (void)stage, (void)finish, (void)error;
    for (uint32_t i = 0; i < told->c->buffer_count; i++) {
        uint64_t written = told->sched->buffers[i].fifo->written_packets;
        uint64_t depth = told->c->buffers[i].depth_packets;
        assert_int_equal(prt_origin_of(told->sched, i, written), 0); /* not yet */
        if (written > depth)
            assert_int_equal(prt_origin_of(told->sched, i, written - depth - 1),
                             0); /* too long ago */
        if (told->c->buffers[i].writer_node == CONTAINER_NONE) {
            assert_int_equal(prt_origin_of(told->sched, i, 0), 0);
            continue;
        }
        for (; told->seen[i] < written; told->seen[i]++) {
            uint32_t origin = prt_origin_of(told->sched, i, told->seen[i]);
            const struct container_place *place = prt_debug_origin(told->c, origin);
            told->used += (size_t)snprintf(told->text + told->used, sizeof told->text - told->used,
                                           "%s%s:%u", told->used > 0 ? " " : "",
                                           prt_container_text(told->c, told->c->buffers[i].name),
                                           place != NULL ? place->line : 0);
        }
    }
    return PRT_OK;
}

/* Runs it a firing at a time. */
static void run_stepped(const struct prt_container *c, struct told *told)
{
    struct prt_image image;
    struct prt_device *device;
    struct prt_error error = {0};
    struct devdesc description;
    uint8_t arguments[64] = {0};
    const struct prt_step step = {told, nothing, note_origins};
    assert_true(devdesc_builtin("sim4", &description));
    const struct prt_device_options options = {.description = &description, .host_threads = 1};
    assert_int_equal(prt_image_choose(c, &image, &error), PRT_OK);
    assert_int_equal(prt_image_open(c, &image, &error), PRT_OK);
    assert_int_equal(prt_sim_device.open(&options, &device, &error), PRT_OK);
    assert_int_equal(prt_sched_create(c, &image, &prt_sim_device, device, &told->sched, &error),
                     PRT_OK);
    told->sched->step = &step;
    assert_int_equal(prt_origins_create(told->sched, &error), PRT_OK);
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        if (c->buffers[i].outer == CONTAINER_OUTER_IN)
            prt_sched_bind_source(told->sched, i, give, told);
        if (c->buffers[i].outer == CONTAINER_OUTER_OUT)
            prt_sched_bind_sink(told->sched, i, swallow, told);
    }
    assert_int_equal(prt_sched_start(told->sched, arguments, &error), PRT_OK);
    if (prt_sched_run(told->sched, &error) != PRT_OK) fail_msg("%s", error.message);
    prt_sim_device.close(device);
    prt_sched_destroy(told->sched);
    prt_image_free(&image);
}

static void expect_origins(const char *text, const int32_t *values, size_t count,
                           const char *expected)
{
    struct built b = build(text, true);
    struct told told = {.c = &b.container, .values = values, .count = count};
    for (uint32_t i = 0; i < b.container.buffer_count; i++)
        told.seen[i] = b.container.buffers[i].initial_packets;
    run_stepped(&b.container, &told);
    assert_string_equal(told.text, expected);
    release(&b);
}

static void each_packet_tells_its_statement(void **unused)
{
    (void)unused;
    static const char text[] = "kernel two(in i32 x, out i32 y) {\n"
                               "  if (x > 10) {\n"
                               "    y <- x;\n"
                               "    y <- -x;\n"
                               "  } else if (x > 5)\n"
                               "    y <- 1;\n"
                               "}\n"
                               "kernel add(in i32 x, out i32 y) { y <- x + 1; }\n"
                               "pipeline main(in i32 x, out i32 y) { buffer i32 t; two(x -> t); "
                               "add(t -> y); }\n";
    const int32_t values[] = {11, 6, 0, 12};
    expect_origins(text, values, 4, "t:3 t:4 y:8 y:8 t:6 y:8 t:3 t:4 y:8 y:8");
}

static void arrays_of_ports_indices_and_finish_tell_it_too(void **unused)
{
    (void)unused;
    static const char text[] = "kernel deal(in i32 x pop 2, out i32 y[2] push {2, 1}) {\n"
                               "  for (i32 i = 0; i < 2; i++) {\n"
                               "    y[i] <- x[i];\n"
                               "    if (phase == 0)\n"
                               "      y[1 - i] <- x[1];\n"
                               "  }\n"
                               "}\n"
                               "kernel swap(in i32 a pop 3, in i32 b pop 3, out i32 y push 3) {\n"
                               "  state i32 n;\n"
                               "  n++;\n"
                               "  y[2] = a[0];\n"
                               "  y[0] = b[2];\n"
                               "  finish { y <- n;\n"
                               "    y <- 7; }\n"
                               "}\n"
                               "pipeline main(in i32 x, out i32 y) { buffer i32 t[2]; "
                               "deal(x -> t); swap(t[0], t[1] -> y); }\n";
    const int32_t values[] = {1, 2, 3, 4};
    expect_origins(text, values, 4,
                   "t[0]:3 t[0]:5 t[1]:5 t[1]:3 t[0]:3 t[1]:3 y:12 y:0 y:11 y:13 y:14");
}

/* Own packets of a firing come before those of what it launches, though these have been executed
 * before. */
static void what_children_append_is_theirs(void **unused)
{
    (void)unused;
    static const char text[] = "child kernel positive(in i32 x, out i32 y) {\n"
                               "  if (x > 0) y <- x;\n"
                               "}\n"
                               "child kernel mark(in i32 x, out i32 y; i32 v) {\n"
                               "  y <- v;\n"
                               "}\n"
                               "kernel choose(in i32 x, out i32 y) {\n"
                               "  event e = launch positive();\n"
                               "  event f = launch mark(8) after e;\n"
                               "  if (done(e)) {\n"
                               "    y <- 1;\n"
                               "    launch mark(9) after f;\n"
                               "  } else\n"
                               "    y <- 0;\n"
                               "}\n"
                               "pipeline main(in i32 x, out i32 y) { x -> choose -> y; }\n";
    const int32_t values[] = {4, -4, 7};
    expect_origins(text, values, 3, "y:11 y:2 y:5 y:5 y:14 y:5 y:11 y:2 y:5 y:5");
}

/* Work-items, and a kernel that would be executed in lanes. */
static void items_and_lanes_tell_it(void **unused)
{
    (void)unused;
    static const char text[] = "kernel group4(in i32 x pop 4, out i32 y push 4) group 4 {\n"
                               "  if (item.x < 2)\n"
                               "    y[item.x] = x[item.x];\n"
                               "  else\n"
                               "    y[item.x] = 0;\n"
                               "}\n"
                               "kernel fir(in i32 x, out i32 y) {\n"
                               "  i32 s = 0;\n"
                               "  for (i32 i = 0; i < 4; i++) s += x * i;\n"
                               "  y <- s;\n"
                               "}\n"
                               "pipeline main(in i32 x, out i32 y) { buffer i32 t; "
                               "group4(x -> t); fir(t -> y); }\n";
    const int32_t values[] = {1, 2, 3, 4};
    expect_origins(text, values, 4, "t:3 t:3 t:5 t:5 y:10 y:10 y:10 y:10");
}

/* ---- what is refused ---- */

enum { KERNELS = 2 };

/* x -> a -> y, both of {i32, f32[2]}; a has a state variable and an argument. */
static struct made *good(void)
{
    struct made *m = made_create("good", "sim16");
    uint32_t x = made_buffer(m, "x", SCALAR_U8, 8, CONTAINER_OUTER_IN);
    uint32_t y = made_buffer(m, "y", SCALAR_U8, 8, CONTAINER_OUTER_OUT);
    uint32_t a = made_node(m, "a", CONTAINER_NODE_STATEFUL);
    made_input(m, a, x, 1, 1);
    made_output(m, a, y, 1, 0);
    m->buffers[x].width_bytes = m->buffers[y].width_bytes = 12;
    m->buffers[x].type = m->buffers[y].type = 3;
    m->pipeline.flags |= CONTAINER_PIPELINE_DEBUG;
    const struct container_type types[] = {
        {.scalar = SCALAR_I32, .element = CONTAINER_NONE, .width_bytes = 4},
        {.scalar = SCALAR_F32, .element = CONTAINER_NONE, .width_bytes = 4},
        {.kind = CONTAINER_TYPE_VECTOR, .element = 1, .length = 2, .width_bytes = 8},
        {.kind = CONTAINER_TYPE_STRUCT,
         .element = CONTAINER_NONE,
         .member_count = 2,
         .width_bytes = 12},
        {.kind = CONTAINER_TYPE_ARRAY, .element = 3, .length = 2, .width_bytes = 24},
    };
    memcpy(m->types, types, sizeof types);
    m->type_count = sizeof types / sizeof types[0];
    m->members[0] = (struct container_member){made_string(m, "n"), 0, 0};
    m->members[1] = (struct container_member){made_string(m, "v"), 2, 4};
    m->member_count = 2;
    m->places[0] = m->places[1] = (struct container_place){0, 3, 1};
    m->place_count = 2;
    m->kernels[0] = (struct container_kernel){.kernel = 0,
                                              .title = made_string(m, "a"),
                                              .in_count = 1,
                                              .out_count = 1,
                                              .variable_count = 2};
    m->kernels[1] = (struct container_kernel){
        .kernel = 7, .place = 1, .first_port = 2, .first_variable = 2, .variable_count = 1};
    m->kernel_count = KERNELS;
    m->kernel_ports[0].type = m->kernel_ports[1].type = 3;
    m->kernel_port_count = 2;
    m->variables[0] =
        (struct container_variable){made_string(m, "s"), CONTAINER_VARIABLE_STATE, 4, 0, 8};
    m->variables[1] =
        (struct container_variable){made_string(m, "g"), CONTAINER_VARIABLE_ARGUMENT, 0, 0, 0};
    m->variables[2] =
        (struct container_variable){made_string(m, "t"), CONTAINER_VARIABLE_TABLE, 0, 0, 4};
    m->variable_count = 3;
    m->nodes[a].state_bytes = 32;
    m->nodes[a].tables_bytes = 0;
    m->nodes[a].arguments_bytes = 4;
    memcpy(m->source_texts, "one\r\ntwo", 8);
    m->source_texts_bytes = 8;
    m->sources[0].text_bytes = 8;
    made_loop(m);
    made_settle(m);
    return m;
}

/* The loader's message, from either half. */
static enum prt_status load(struct made *m, struct prt_error *error)
{
    return made_verify(m, error);
}

static void good_debug_information_passes(void **unused)
{
    (void)unused;
    struct prt_error error = {0};
    if (load(good(), &error) != PRT_OK) fail_msg("%s", error.message);
}

static void expect_refusal(struct made *m, enum prt_status status, const char *what,
                           const char *message)
{
    struct prt_error error = {0};
    enum prt_status got = load(m, &error);
    if (got != status) fail_msg("%s: %s: %s", what, prt_status_name(got), error.message);
    if (strstr(error.message, message) == NULL) fail_msg("%s: %s", what, error.message);
    assert_int_not_equal(error.offset, PRT_NO_OFFSET);
}

#define REFUSED(status, field, value, message)                                                     \
    do {                                                                                           \
        struct made *m = good();                                                                   \
        m->field = (value);                                                                        \
        expect_refusal(m, status, #field, message);                                                \
    } while (0)

static void indices_outside_of_their_tables_are_refused(void **unused)
{
    (void)unused;
    REFUSED(PRT_E_FORMAT, pipeline.flags, 8, "unknown flags");
    REFUSED(PRT_E_FORMAT, sources[0].reserved, 1, "'sources', record 0: a reserved field");
    REFUSED(PRT_E_FORMAT, sources[0].text_bytes, 9, "outside the section 'source_texts'");
    REFUSED(PRT_E_FORMAT, sources[0].text_offset_bytes, 1, "outside the section 'source_texts'");
    REFUSED(PRT_E_FORMAT, sources[0].text_offset_bytes, UINT64_MAX, "'source_texts'");
    REFUSED(PRT_E_FORMAT, buffers[0].type, 5, "an unknown type");
    REFUSED(PRT_E_FORMAT, buffers[0].place, 2, "an unknown place");
    REFUSED(PRT_E_FORMAT, types[3].name, 20000, "'types', record 3: a string outside");
    REFUSED(PRT_E_FORMAT, types[3].kind, 4, "an unknown kind of type");
    REFUSED(PRT_E_FORMAT, types[0].scalar, SCALAR_COUNT, "unknown scalar type");
    REFUSED(PRT_E_FORMAT, types[2].element, 2, "its element is not a type before it");
    REFUSED(PRT_E_FORMAT, types[2].element, 9, "its element is not a type before it");
    REFUSED(PRT_E_FORMAT, types[3].first_member, 1, "members outside the section 'members'");
    REFUSED(PRT_E_FORMAT, types[3].member_count, UINT32_MAX, "members outside");
    REFUSED(PRT_E_FORMAT, members[1].type, 3, "the type of a member is not a type before it");
    REFUSED(PRT_E_FORMAT, members[1].name, 20000, "'members', record 1: a string outside");
    REFUSED(PRT_E_FORMAT, places[1].source, 1, "'places', record 1: an unknown source file");
    REFUSED(PRT_E_FORMAT, places[1].line, 0, "no line or column");
    REFUSED(PRT_E_FORMAT, places[1].column, 0, "no line or column");
    REFUSED(PRT_E_FORMAT, kernels[0].title, 20000, "'kernels', record 0: a string outside");
    REFUSED(PRT_E_FORMAT, kernels[1].place, 2, "'kernels', record 1: an unknown place");
    REFUSED(PRT_E_FORMAT, kernels[0].first_port, 1, "ports outside the section 'kernel_ports'");
    REFUSED(PRT_E_FORMAT, kernels[0].first_port, 3, "ports outside");
    REFUSED(PRT_E_FORMAT, kernels[0].in_count, 3, "ports outside");
    REFUSED(PRT_E_FORMAT, kernels[0].out_count, UINT32_MAX, "ports outside");
    REFUSED(PRT_E_FORMAT, kernels[1].first_variable, 3, "variables outside");
    REFUSED(PRT_E_FORMAT, kernel_ports[0].name, 20000, "'kernel_ports', record 0: a string");
    REFUSED(PRT_E_FORMAT, kernel_ports[0].type, 5, "'kernel_ports', record 0: an unknown type");
    REFUSED(PRT_E_FORMAT, kernel_ports[1].place, 2, "'kernel_ports', record 1: an unknown place");
    REFUSED(PRT_E_FORMAT, variables[0].name, 20000, "'variables', record 0: a string");
    REFUSED(PRT_E_FORMAT, variables[0].kind, 3, "an unknown kind of variable");
    REFUSED(PRT_E_FORMAT, variables[0].type, 5, "'variables', record 0: an unknown type");
    REFUSED(PRT_E_FORMAT, variables[0].place, 2, "'variables', record 0: an unknown place");
}

/* No struct has that member, so that only its type is wrong. */
static void members_of_nobody_are_refused(void **unused)
{
    (void)unused;
    struct made *m = good();
    m->members[m->member_count++] = (struct container_member){.type = 5};
    expect_refusal(m, PRT_E_FORMAT, "type of a member", "'members', record 2: an unknown type");
    m = good();
    m->members[m->member_count++] = (struct container_member){.type = 0};
    expect_refusal(m, PRT_E_VERIFY, "member", "'members', record 2: belongs to no struct");
    m = good();
    m->kernel_ports[m->kernel_port_count++].type = 0;
    expect_refusal(m, PRT_E_VERIFY, "port", "'kernel_ports', record 2: belongs to no kernel");
    m = good();
    m->variables[m->variable_count++].type = 0;
    expect_refusal(m, PRT_E_VERIFY, "variable", "'variables', record 3: belongs to no kernel");
}

static void types_that_do_not_hold_together_are_refused(void **unused)
{
    (void)unused;
    REFUSED(PRT_E_VERIFY, types[1].element, 0, "a scalar with parts");
    REFUSED(PRT_E_VERIFY, types[1].length, 1, "a scalar with parts");
    REFUSED(PRT_E_VERIFY, types[1].member_count, 1, "a scalar with parts");
    REFUSED(PRT_E_VERIFY, types[0].width_bytes, 8, "a scalar 'i32' of 8 bytes");
    REFUSED(PRT_E_VERIFY, types[2].element, CONTAINER_NONE, "a list without elements");
    REFUSED(PRT_E_VERIFY, types[2].length, 0, "a list without elements");
    REFUSED(PRT_E_VERIFY, types[2].member_count, 1, "a list without elements, or with members");
    REFUSED(PRT_E_VERIFY, types[2].scalar, 1, "a list without elements");
    REFUSED(PRT_E_VERIFY, types[4].kind, CONTAINER_TYPE_VECTOR, "that is no scalar");
    REFUSED(PRT_E_VERIFY, types[4].length, 3, "3 elements do not fill 24 bytes");
    REFUSED(PRT_E_VERIFY, types[4].length, UINT64_C(1) << 63, "do not fill");
    REFUSED(PRT_E_VERIFY, types[3].element, 0, "a struct without members, or with elements");
    REFUSED(PRT_E_VERIFY, types[3].length, 1, "a struct without members");
    REFUSED(PRT_E_VERIFY, types[3].scalar, 1, "a struct without members");
    REFUSED(PRT_E_VERIFY, types[3].member_count, 0, "a struct without members");
    REFUSED(PRT_E_VERIFY, types[3].member_count, 1, "belongs to no struct");
    REFUSED(PRT_E_VERIFY, members[1].offset_bytes, 3, "inside of another member");
    REFUSED(PRT_E_VERIFY, members[1].offset_bytes, 5, "a place outside of struct");
    REFUSED(PRT_E_VERIFY, members[1].offset_bytes, UINT64_MAX, "a place outside of struct");
    REFUSED(PRT_E_VERIFY, buffers[0].type, 4, "the type of 'x' is not as wide as its packets");
    struct made *m = good();
    m->types[3].first_member = m->types[3].member_count = 1;
    m->members[1].offset_bytes = 0;
    expect_refusal(m, PRT_E_VERIFY, "first member", "do not follow those of the struct before it");
}

static void types_that_are_too_deep_are_refused(void **unused)
{
    (void)unused;
    struct prt_error error = {0};
    for (uint32_t more = 0; more < 2; more++) {
        struct made *m = made_create("deep", "sim16");
        uint32_t x = made_buffer(m, "x", SCALAR_U8, 8, CONTAINER_OUTER_IN);
        uint32_t y = made_buffer(m, "y", SCALAR_U8, 8, CONTAINER_OUTER_OUT);
        uint32_t a = made_node(m, "a", 0);
        made_input(m, a, x, 1, 1);
        made_output(m, a, y, 1, 0);
        made_loop(m);
        m->types[0] = (struct container_type){
            .scalar = SCALAR_U8, .element = CONTAINER_NONE, .width_bytes = 1};
        for (uint32_t i = 1; i < MADE_MAX; i++)
            m->types[i] = (struct container_type){
                .kind = CONTAINER_TYPE_ARRAY, .element = i - 1, .length = 1, .width_bytes = 1};
        m->type_count = MADE_MAX;
        if (more == 0) {
            assert_int_equal(load(m, &error), PRT_OK);
            continue;
        }
        m->types[m->type_count++] = (struct container_type){
            .kind = CONTAINER_TYPE_ARRAY, .element = MADE_MAX - 1, .length = 1, .width_bytes = 1};
        expect_refusal(m, PRT_E_VERIFY, "depth", "types nested 257 deep");
    }
}

static void variables_outside_of_their_blocks_are_refused(void **unused)
{
    (void)unused;
    REFUSED(PRT_E_VERIFY, nodes[0].state_bytes, 31, "outside of the blocks of 'a'");
    REFUSED(PRT_E_VERIFY, nodes[0].arguments_bytes, 3, "outside of the blocks of 'a'");
    REFUSED(PRT_E_VERIFY, variables[0].kind, CONTAINER_VARIABLE_TABLE, "outside of the blocks");
    REFUSED(PRT_E_VERIFY, variables[2].offset_bytes, UINT64_MAX, "'t' lies outside of its block");
    for (uint32_t more = 0; more < 2;
         more++) { /* the last byte of state is not the last variable's */
        struct made *m = good();
        struct prt_error error = {0};
        m->variables[1] = (struct container_variable){0, CONTAINER_VARIABLE_STATE, 4, 0, 7};
        m->nodes[0].state_bytes = 32 - more;
        if (more == 0)
            assert_int_equal(load(m, &error), PRT_OK);
        else
            expect_refusal(m, PRT_E_VERIFY, "state", "outside of the blocks of 'a'");
    }
    REFUSED(PRT_E_VERIFY, kernels[1].kernel, 0, "does not follow that of the one before");
    REFUSED(PRT_E_VERIFY, kernels[1].first_variable, 1, "its ports or variables do not follow");
    REFUSED(PRT_E_VERIFY, kernels[1].first_port, 1, "its ports or variables do not follow");
    REFUSED(PRT_E_VERIFY, pipeline.flags, 0, "that was not compiled for debugging");
    struct made *m = good();
    m->pipeline.flags = 0;
    m->variable_count = m->kernels[0].variable_count = m->kernels[1].variable_count = 0;
    m->kernels[1].first_variable = 0;
    expect_refusal(m, PRT_E_VERIFY, "texts", "variables or source texts");
}

/* Of a compiled container, whose argument of a child kernel is moved. */
static void a_childs_argument_outside_of_its_launch_is_refused(void **unused)
{
    (void)unused;
    struct built b = build("child kernel mark(in i32 x, out i32 y; i32 v) { y <- v; }\n"
                           "child kernel other(in i32 x, out i32 y; i32 v) { y <- v; }\n"
                           "kernel root(in i32 x, out i32 y) { launch mark(7); launch other(8); }\n"
                           "pipeline main(in i32 x, out i32 y) { x -> root -> y; }\n",
                           true);
    const struct container_kernel *mark = kernel_of(&b.container, "mark");
    const struct container_variable *v = prt_debug_variable(&b.container, mark, "v");
    uint32_t last = b.container.interface_count - 1;
    assert_int_not_equal(b.container.interfaces[last].kernel, mark->kernel);
    struct prt_container moved;
    struct prt_error error;
    size_t size = b.container.size_bytes;
    uint8_t *bytes = malloc(size);
    assert_non_null(v);
    assert_non_null(bytes);
    memcpy(bytes, b.container.bytes, size);
    size_t at = (size_t)((const uint8_t *)v - b.container.bytes);
    struct container_variable record = *v;
    record.offset_bytes = 64;
    memcpy(bytes + at, &record, sizeof record);
    made_fix_checksum(bytes, size);
    assert_int_equal(prt_container_read_memory(bytes, size, &moved, &error), PRT_OK);
    assert_int_equal(prt_verify(&moved, &error), PRT_E_VERIFY);
    assert_non_null(strstr(error.message, "a variable of kernel 'mark' lies outside of its"));
    prt_container_free(&moved);
    free(bytes);
    release(&b);
}

TEST_MAIN("debug_info", cmocka_unit_test(parts_of_a_type_are_listed),
          cmocka_unit_test(lines_end_with_a_feed_or_with_the_text),
          cmocka_unit_test(types_and_places_are_there),
          cmocka_unit_test(variables_and_texts_come_with_debug_mode_alone),
          cmocka_unit_test(types_that_are_nested_too_deep_are_left_out),
          cmocka_unit_test(every_buffer_is_cut_and_every_firing_alone),
          cmocka_unit_test(no_declared_depth_grows),
          cmocka_unit_test(values_are_shown_by_their_types),
          cmocka_unit_test(packets_without_a_type_are_shown_as_scalars),
          cmocka_unit_test(paths_lead_to_parts), cmocka_unit_test(each_packet_tells_its_statement),
          cmocka_unit_test(arrays_of_ports_indices_and_finish_tell_it_too),
          cmocka_unit_test(what_children_append_is_theirs),
          cmocka_unit_test(items_and_lanes_tell_it),
          cmocka_unit_test(good_debug_information_passes),
          cmocka_unit_test(indices_outside_of_their_tables_are_refused),
          cmocka_unit_test(members_of_nobody_are_refused),
          cmocka_unit_test(types_that_do_not_hold_together_are_refused),
          cmocka_unit_test(types_that_are_too_deep_are_refused),
          cmocka_unit_test(variables_outside_of_their_blocks_are_refused),
          cmocka_unit_test(a_childs_argument_outside_of_its_launch_is_refused))
