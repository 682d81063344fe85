/* SPDX-License-Identifier: MIT */
/*
 * Composite kernels compute what their members do: whole pipelines become one kernel, and both are
 * executed.
 */
#include "tests/test.h"

#include <stdio.h>

#include "compiler/optimize/compose/compose.h"
#include "compiler/bodies/bundles.h"
#include "compiler/bodies/cost.h"
#include "compiler/liveness/rate.h"
#include "compiler/driver/passes.h"
#include "tests/reference/oracle_draw.h"
#include "tests/unit/compile_text.h"
#include "tests/unit/image_run.h"

/* ---- a schedule of one iteration ---- */

enum { STEPS_MAX = 4096, NODES_MAX = 64 };

struct iteration {
    struct compose_step steps[STEPS_MAX];
    size_t count;
};

static uint64_t packets_of(const struct graph *graph, const uint64_t *fired, uint32_t buffer)
{
    const struct graph_buffer *b = &graph->buffers.items[buffer];
    const struct graph_output *out = graph_writer(graph, b);
    if (out == NULL || out->push_least != out->push) return UINT64_MAX;
    return b->initial.packets + fired[b->writer_node] * out->push;
}

/* Windows that look beyond an iteration are the composition's to think about. */
static bool may_fire(const struct graph *graph, const uint64_t *fired, uint32_t n)
{
    const struct graph_node *node = &graph->nodes.items[n];
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        const struct graph_buffer *b = &graph->buffers.items[in->buffer];
        uint64_t sees = b->initial.packets > 0 ? in->peek : in->pop;
        if (fired[n] * in->pop + sees > packets_of(graph, fired, in->buffer)) return false;
    }
    return true;
}

/* NULL: some window looks ahead around a cycle. */
static struct iteration *schedule_of(const struct graph *graph, uint64_t scale)
{
    uint64_t fired[NODES_MAX] = {0};
    struct iteration *s = calloc(1, sizeof *s);
    bool any;
    do {
        any = false;
        for (uint32_t n = 0; n < graph->nodes.count; n++) {
            uint64_t before = fired[n];
            while (fired[n] < scale * graph->nodes.items[n].repetitions &&
                   may_fire(graph, fired, n))
                fired[n]++;
            if (fired[n] == before) continue;
            assert_true(s->count < STEPS_MAX);
            s->steps[s->count++] = (struct compose_step){n, fired[n] - before};
            any = true;
        }
    } while (any);
    for (uint32_t n = 0; n < graph->nodes.count; n++) {
        if (fired[n] == scale * graph->nodes.items[n].repetitions) continue;
        free(s);
        return NULL;
    }
    return s;
}

/* ---- pipelines and their composites ---- */

struct both {
    struct text_compile *text;
    struct graph fused;
    uint32_t *buffers; /* of the fused graph: which one it was; the reverse in `now` */
    uint32_t now[256];
    struct composite composite;
    uint64_t scale;
    const char *reason;                             /* NULL: composed */
    struct kernel_image *parts_image, *whole_image; /* or NULL: not compiled yet */
};

static void report(struct text_compile *c)
{
    char *messages = text_compile_messages(c);
    print_message("%s", messages);
    free(messages);
}

static uint32_t keep_buffer(struct both *b, uint32_t old)
{
    if (b->now[old] != GRAPH_NONE) return b->now[old];
    struct graph_buffer buffer = b->text->graph->buffers.items[old];
    buffer.readers.items = NULL;
    buffer.readers.count = buffer.readers.capacity = 0;
    buffer.writer_node = GRAPH_NONE;
    b->now[old] = graph_add_buffer(&b->text->cx, &b->fused, buffer);
    return b->now[old];
}

static void build_fused(struct both *b)
{
    struct compile *cx = &b->text->cx;
    const struct graph *graph = b->text->graph;
    b->fused = (struct graph){.name = graph->name, .types = graph->types, .policy = graph->policy};
    for (size_t i = 0; i < graph->arguments.count; i++)
        vec_push(cx->arena, &b->fused.arguments, graph->arguments.items[i]);
    for (size_t i = 0; i < graph->functions.count; i++)
        vec_push(cx->arena, &b->fused.functions, graph->functions.items[i]);
    for (size_t i = 0; i < 256; i++)
        b->now[i] = GRAPH_NONE;
    struct graph_node node = b->composite.node;
    node.inputs.items = NULL;
    node.outputs.items = NULL;
    node.inputs.count = node.inputs.capacity = node.outputs.count = node.outputs.capacity = 0;
    uint32_t n = graph_add_node(cx, &b->fused, node);
    vec_push(cx->arena, &b->fused.kernels, node.kernel);
    for (size_t i = 0; i < b->composite.node.inputs.count; i++) {
        struct graph_input in = b->composite.node.inputs.items[i];
        in.buffer = keep_buffer(b, in.buffer);
        graph_connect_input(cx, &b->fused, n, in);
    }
    for (size_t i = 0; i < b->composite.node.outputs.count; i++) {
        struct graph_output out = b->composite.node.outputs.items[i];
        out.buffer = keep_buffer(b, out.buffer);
        graph_connect_output(cx, &b->fused, n, out);
    }
    bundles_of_graph(cx, &b->fused);
    cost_estimate(cx, &b->fused);
    rate_solve(cx, &b->fused);
}

static struct both composed(const char *text, uint64_t scale)
{
    struct both b = {.text = text_compile(text), .scale = scale};
    if (b.text->graph == NULL || !analyse_graph(&b.text->cx, b.text->graph)) report(b.text);
    assert_non_null(b.text->graph);
    assert_false(diag_failed(b.text->cx.diags));
    for (uint32_t n = 0; n < b.text->graph->nodes.count && b.reason == NULL; n++)
        b.reason = compose_refuses(&b.text->cx, b.text->graph, n);
    if (b.reason != NULL) return b;
    struct iteration *s = schedule_of(b.text->graph, scale);
    if (s == NULL) b.reason = "no order of one iteration";
    if (s == NULL) return b;
    const struct compose_group group = {"all", s->steps, s->count, NULL};
    if (compose(&b.text->cx, b.text->graph, &group, &b.composite, &b.reason)) build_fused(&b);
    free(s);
    if (diag_failed(b.text->cx.diags)) report(b.text);
    assert_false(diag_failed(b.text->cx.diags));
    return b;
}

static uint64_t random_bits(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

static void write_random(struct image_run *run, uint32_t buffer, uint64_t packets, uint64_t seed)
{
    const struct type *type = run->graph->buffers.items[buffer].type, *base = type_base(type);
    uint64_t width = run->streams[buffer].width_bytes;
    unsigned char *bytes = malloc(packets * width + 1);
    for (uint64_t i = 0; i < packets * width; i++)
        bytes[i] = (unsigned char)(random_bits(&seed) >> 40);
    for (uint64_t i = 0; type_is_float(base) && i + 4 <= packets * width; i += 4) {
        float value = (float)(int32_t)random_bits(&seed) * 0x1p-31f;
        memcpy(bytes + i, &value, 4);
    }
    image_run_write(run, buffer, bytes, packets);
    free(bytes);
}

enum { AHEAD = 20, MOST = 12 }; /* iterations that sources run ahead; most packets for one */

/* So many iterations of the composite, and what the nodes make of the same packets: the composite's
 * packets are the first of theirs. */
static void expect_equal_after(struct both *b, uint64_t iterations, uint64_t batch)
{
    const struct graph *graph = b->text->graph;
    if (b->parts_image == NULL) b->parts_image = kernel_compile(&b->text->cx, graph);
    if (b->whole_image == NULL) b->whole_image = kernel_compile(&b->text->cx, &b->fused);
    struct image_run parts = image_run_begin(graph, b->parts_image);
    struct image_run whole = image_run_begin(&b->fused, b->whole_image);
    for (size_t i = 0; i < b->composite.node.inputs.count; i++) {
        const struct graph_input *in = &b->composite.node.inputs.items[i];
        uint64_t packets = (iterations - 1) * in->pop + in->peek;
        write_random(&parts, in->buffer, packets, i + 7);
        write_random(&whole, b->now[in->buffer], packets, i + 7);
    }
    for (size_t n = 0; n < graph->nodes.count; n++)
        parts.limits[n] =
            MOST * (iterations + AHEAD) * b->scale * graph->nodes.items[n].repetitions;
    whole.limits[0] = iterations;
    image_run_fire(&parts, 1000);
    image_run_fire(&whole, batch);
    assert_int_equal(whole.fired[0], iterations);
    for (size_t i = 0; i < b->composite.node.outputs.count; i++) {
        const struct graph_output *out = &b->composite.node.outputs.items[i];
        const struct image_stream *mine = &whole.streams[b->now[out->buffer]];
        const struct image_stream *theirs = &parts.streams[out->buffer];
        assert_true(mine->packets <= theirs->packets);
        if (out->push_least == out->push)
            assert_int_equal(mine->packets, iterations * out->push +
                                                graph->buffers.items[out->buffer].initial.packets);
        assert_memory_equal(mine->bytes, theirs->bytes, mine->packets * mine->width_bytes);
    }
    image_run_end(&parts);
    image_run_end(&whole);
}

static void expect_same(const char *text, uint64_t scale)
{
    struct both b = composed(text, scale);
    if (b.reason != NULL) print_message("not composed: %s\n", b.reason);
    assert_null(b.reason);
    expect_equal_after(&b, 1, 1);
    expect_equal_after(&b, 70, 1000);
    expect_equal_after(&b, 37, 3);
    text_compile_free(b.text);
}

static const char *llvm_of(struct both *b)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_true(kernel_emit(&b->text->cx, &b->fused, KERNEL_TEXT_LLVM, to));
    fclose(to);
    return text;
}

/* ---- chains ---- */

#define AFFINE "kernel affine(in f32 x, out f32 y; f32 a, f32 b) { y <- x * a + b; } "

static const char chain[] = AFFINE
    "pipeline main(in f32 x, out f32 y; f32 c = 3) {"
    "  x -> affine(1, 0.125) -> affine(c, 0.25) -> affine(0.5, c + 1) -> affine(2, 5) -> y; }";

static void a_chain_is_one_kernel(void **state)
{
    (void)state;
    expect_same(chain, 1);
    expect_same(chain, 5);
}

static void a_chain_is_one_loop_over_registers(void **state)
{
    (void)state;
    struct both b = composed(chain, 1);
    const char *ir = llvm_of(&b);
    assert_non_null(strstr(ir, "fmul <"));
    assert_null(strstr(ir, "alloca"));
    if (getenv("SHOW")) puts(ir);
    free((void *)ir);
    text_compile_free(b.text);
}

/* ---- rates, forks and joins ---- */

static void neighbours_of_other_rates_fire_as_often_as_they_must(void **state)
{
    (void)state;
    expect_same("kernel pair(in i32 x pop 2, out i32 y) { y <- x[0] * 3 - x[1]; } "
                "kernel three(in i32 x, out i32 y push 3) { y <- x; y <- x + 1; y <- x ^ 5; } "
                "pipeline main(in i32 x, out i32 y) { x -> pair -> three -> y; }",
                1);
    expect_same("kernel pair(in i32 x pop 2, out i32 y) { y <- x[0] * 3 - x[1]; } "
                "kernel three(in i32 x, out i32 y push 3) { y <- x; y <- x + 1; y <- x ^ 5; } "
                "pipeline main(in i32 x, out i32 y) { x -> three -> pair -> y; }",
                2);
}

static void packets_in_loops_are_kept_in_arrays(void **state)
{
    (void)state;
    expect_same(
        "kernel turn(in i32 x pop 8, out i32 y push 8) {"
        "  for (i32 i = 0; i < 8; i++) y <- x[7 - i] + i; } "
        "kernel step<int J>(in i32 x pop 8, out i32 y push 8) {"
        "  for (i32 i = 0; i < 8; i++) y <- max(x[i], x[i ^ J]); } "
        "pipeline main(in i32 x, out i32 y) { x -> turn -> step<1> -> step<4> -> turn -> y; }",
        1);
}

static void many_firings_are_a_loop(void **state)
{
    (void)state;
    expect_same(
        "kernel wave(in i32 x, out i32 y) {"
        "  i32 v = x; for (i32 i = 0; i < 5; i++) v = v * 7 + (v >> 3) - i; y <- v; } "
        "kernel sum(in i32 x pop 200, out i32 y) {"
        "  i32 s = 0; for (i32 i = 0; i < 200; i++) s += x[i]; y <- s; } "
        "kernel twice(in i32 x, out i32 y push 100) { for (i32 i = 0; i < 100; i++) y <- x + i; } "
        "pipeline main(in i32 x, out i32 y) { x -> wave -> sum -> twice -> wave -> y; }",
        1);
}

static void a_loop_takes_packets_as_they_are_written(void **state)
{
    (void)state;
    /* Bodies that read 240 packets in order, and others, which need them all in an array. */
    static const char *const streamed[] = {
        "i32 s = x[0]; for (i32 i = 1; i < 240; i++) s = s * 3 + x[i]; y <- s;",
        "i32 s; for (u8 i = 0; i < 240; i++) { i32 a = x[i]; if (a > 0) s += a * (i32)i; } y <- s;",
        ("i32 s = x[2] - x[1]; for (i64 i = 3; i < 240; i++) { s ^= x[i]; s += (i32)i; } s--; y <- "
         "s;"),
    };
    static const char *const others[] = {
        "i32 s = x[3]; for (i32 i = 1; i < 240; i++) s = s * 3 + x[i]; y <- s;",
        "i32 s; for (i32 i = 0; i < 240; i++) s = s * 3 + x[239 - i]; y <- s;",
        "i32 s; for (i32 i = 0; i < 240; i += 2) s = s * 3 + x[i]; y <- s;",
        "i32 s; for (i32 i = 0; i < 240; i++) { if (s > 99) break; s += x[i]; } y <- s;",
        "i32 s; for (i32 i = 0; i < 240; i++) s = s * 3 + x[i]; y <- s + x[0];",
        "i32 s; for (i32 i = 0; i < 239; i++) s = s * 3 + x[i]; y <- s;",
    };
    enum { STREAMED = sizeof streamed / sizeof *streamed, OTHERS = sizeof others / sizeof *others };
    char text[1024];
    for (size_t i = 0; i < STREAMED + OTHERS; i++) {
        snprintf(text, sizeof text,
                 "kernel three(in i32 x, out i32 y) { state i32 n; y <- x + n; y <- x * 7; n ^= x; "
                 "y <- -x; } "
                 "kernel all(in i32 x pop 240, out i32 y) { %s } "
                 "pipeline main(in i32 x, out i32 y) { x -> three -> all -> y; }",
                 i < STREAMED ? streamed[i] : others[i - STREAMED]);
        expect_same(text, 1);
        struct both b = composed(text, 1);
        assert_int_equal(b.composite.inside.items[0].form,
                         i < STREAMED ? COMPOSE_SCALARS : COMPOSE_ARRAY);
        text_compile_free(b.text);
    }
}

static void packets_set_by_number_are_zero_where_they_are_not(void **state)
{
    (void)state;
    expect_same(
        "kernel spread(in i32 x pop 2, out i32 y push 5) { y[3] = x[0]; y[1] = x[1]; y[3] = x[1] + "
        "1; } "
        "kernel mix(in i32 x pop 5, out i32 y push 2) { y[1] = x[0] + x[3]; y[0] = x[1] ^ x[4]; } "
        "pipeline main(in i32 x, out i32 y) { x -> spread -> mix -> y; }",
        1);
    expect_same("kernel spread(in i32 x pop 4, out i32 y push 6) { for (i32 i = 0; i < 4; i++) y[i "
                "+ 1] = x[i]; } "
                "kernel mix(in i32 x pop 6, out i32 y) {"
                "  i32 s = 0; for (i32 i = 0; i < 6; i++) s = s * 3 + x[i]; y <- s; } "
                "pipeline main(in i32 x, out i32 y) { x -> spread -> mix -> y; }",
                1);
}

static void both_sides_of_a_choice_append_alike(void **state)
{
    (void)state;
    expect_same("kernel order(in i32 x pop 2, out i32 y push 2) {"
                "  if (x[0] < x[1]) { y <- x[0]; y <- x[1]; } else { y <- x[1]; y <- x[0]; } } "
                "kernel less(in i32 x pop 2, out i32 y) { y <- x[1] - x[0]; } "
                "pipeline main(in i32 x, out i32 y) { x -> order -> less -> y; }",
                3);
}

static void branches_part_and_meet_again(void **state)
{
    (void)state;
    expect_same("kernel f<int K>(in i32 x peek K, out i32 y) {"
                "  i32 s = 0; for (i32 i = 0; i < K; i++) s += x[i] * (i + K); y <- s; } "
                "kernel sum<int N>(in i32 x[N], out i32 y) {"
                "  i32 s = 0; for (i32 i = 0; i < N; i++) s += x[i][0]; y <- s; } "
                "pipeline main(in i32 x, out i32 y) { buffer i32 p[4];"
                "  for (int b = 0; b < 4; b++) x -> f<3 * b + 1> -> p[b]; sum<4>(p -> y); }",
                1);
}

static void packets_go_round_robin(void **state)
{
    (void)state;
    expect_same("kernel part<int N>(in i32 x pop N, out i32 y[N]) { for (i32 i = 0; i < N; i++) "
                "y[i] <- x[i]; } "
                "kernel join<int N>(in i32 x[N], out i32 y push N) { for (i32 i = 0; i < N; i++) y "
                "<- x[i][0]; } "
                "kernel add(in i32 x, out i32 y; i32 c) { y <- x + c; } "
                "pipeline main(in i32 x, out i32 y) { buffer i32 p[3], q[3]; part<3>(x -> p);"
                "  for (int b = 0; b < 3; b++) p[b] -> add(b) -> q[b]; join<3>(q -> y); }",
                1);
    expect_same("kernel part<int N, int B>(in i32 x pop N*B, out i32 y[N] push B) {"
                "  for (i32 i = 0; i < N; i++) for (i32 k = 0; k < B; k++) y[i] <- x[i * B + k]; } "
                "kernel join<int N, int B>(in i32 x[N] pop B, out i32 y push N*B) {"
                "  for (i32 i = 0; i < N; i++) for (i32 k = 0; k < B; k++) y <- x[i][k]; } "
                "kernel add(in i32 x, out i32 y; i32 c) { y <- x + c; } "
                "pipeline main(in i32 x, out i32 y, out i32 z) { buffer i32 p[3], q[3];"
                "  part<3, 4>(x -> p);"
                "  for (int b = 0; b < 2; b++) p[b] -> add(b) -> q[b]; p[2] -> add(9) -> q[2]; "
                "p[2] -> add(5) -> z;"
                "  join<3, 4>(q -> y); }",
                1);
}

static void what_is_read_inside_and_outside_is_both(void **state)
{
    (void)state;
    expect_same(
        "kernel f(in i32 x, out i32 y, out i32 z) { y <- x + 1; z <- x * 2; } "
        "kernel g(in i32 a, in i32 b pop 1, out i32 y) { y <- a - b; } "
        "kernel h(in i32 x, out i32 y) { y <- x ^ 3; } "
        "pipeline main(in i32 x, in i32 w, out i32 y, out i32 z, out i32 u) { buffer i32 a, b;"
        "  f(x -> a, b); g(a, b -> y); a -> h -> z; g(w, a -> u); }",
        2);
}

static void packets_may_be_vectors_and_structs(void **state)
{
    (void)state;
    expect_same(
        "kernel turn(in f32x2 x, out f32x2 y) { y <- f32x2(-x.y, x.x); } "
        "kernel scale(in f32x2 x, out f32x2 y) { y <- x * 0.5; } "
        "kernel sum(in f32x2 x pop 3, out f32x2 y) { y <- x[0] + x[1] * x[2]; } "
        "pipeline main(in f32x2 x, out f32x2 y) { x -> turn -> scale -> sum -> turn -> y; }",
        1);
    expect_same(
        "struct pair { i32 a; u8 b; }; "
        "kernel make(in i32 x, out pair y) { pair p; p.a = x; p.b = (u8)(x >> 5); y <- p; } "
        "kernel take(in pair x pop 2, out i32 y) { y <- x[0].a + (i32)x[1].b; } "
        "pipeline main(in i32 x, out i32 y) { x -> make -> take -> y; }",
        1);
    expect_same("kernel make(in i32 x pop 4, out i32[4] y) { i32 b[4]; for (i32 i = 0; i < 4; i++) "
                "b[i] = x[3 - i]; y <- b; } "
                "kernel add(in i32[4] x, out i32[4] y) { i32 b[4]; for (i32 i = 0; i < 4; i++) "
                "b[i] = x[0][i] + i; y <- b; } "
                "pipeline main(in i32 x, out i32[4] y) { x -> make -> add -> y; }",
                1);
}

/* ---- what is kept ---- */

static void every_member_has_tables_arguments_and_state_of_its_own(void **state)
{
    (void)state;
    expect_same("kernel fir<int N>(in i32 x, out i32 y; i32 g) { table i32 t[N]; state i32 at = 3; "
                "state u8 odd;"
                "  init { for (i32 i = 0; i < N; i++) t[i] = i * g; at += g; } "
                "  y <- x * t[at & (N - 1)] + (i32)odd; at += 1; odd += 7; } "
                "pipeline main(in i32 x, out i32 y; i32 g = 5) { x -> fir<4>(g) -> fir<8>(g + 1) "
                "-> fir<4>(2) -> y; }",
                1);
    expect_same("kernel fir<int N>(in i32 x, out i32 y; i32 g) { state i32 s[3]; state i32 at;"
                "  y <- x + s[at]; s[at] = x * g; at = at == 2 ? 0 : at + 1; } "
                "pipeline main(in i32 x, out i32 y; i32 g = 5) { x -> fir<4>(g) -> fir<8>(g + 1) "
                "-> fir<4>(2) -> y; }",
                3);
}

static void state_that_counts_firings_is_none(void **state)
{
    (void)state;
    static const char *const counts[] = {
        "state u8 n; y <- x + (i32)n; n += 9;",
        "state i16 n = 30000; { n -= 7; } y <- x * (i32)n;",
        "state u64 n; i32 a = (i32)n; n++; y <- x + a * (i32)n;",
    };
    static const char *const others[] = {
        "state u8 n; y <- x + (i32)n; if (x > 0) n += 9;",
        "state i32 n; y <- x + n; n += x;",
        "state i32 n; n++; y <- x + n; n++;",
        "state f32 n; y <- x + (i32)n; n += 1;",
    };
    char text[512];
    for (size_t i = 0; i < sizeof counts / sizeof *counts + sizeof others / sizeof *others; i++) {
        bool counted = i < sizeof counts / sizeof *counts;
        snprintf(text, sizeof text,
                 "kernel k(in i32 x, out i32 y) { %s } "
                 "kernel two(in i32 x pop 2, out i32 y) { y <- x[0] - x[1]; } "
                 "pipeline main(in i32 x, out i32 y) { x -> k -> k -> two -> k -> y; }",
                 counted ? counts[i] : others[i - sizeof counts / sizeof *counts]);
        expect_same(text, 1);
        expect_same(text, 40);
        struct both b = composed(text, 1);
        assert_int_equal(b.composite.node.stateful, !counted);
        text_compile_free(b.text);
    }
}

static void windows_that_look_ahead_have_packets_made_ahead(void **state)
{
    (void)state;
    expect_same("kernel sq(in i32 x, out i32 y) { y <- x * x; } "
                "kernel diff(in i32 x peek 2, out i32 y) { y <- x[1] - x[0]; } "
                "pipeline main(in i32 x, out i32 y) { x -> sq -> diff -> y; }",
                1);
    expect_same(
        "kernel stuff<int N>(in i32 x, out i32 y push N) { y <- x; for (i32 i = 1; i < N; i++) y "
        "<- i; } "
        "kernel fir<int N>(in i32 x peek N, out i32 y) {"
        "  i32 s = 0; for (i32 i = 0; i < N; i++) s += x[i] * (i + 1); y <- s; } "
        "kernel part(in i32 x pop 3 peek 5, out i32 y, out i32 z) { y <- x[4]; z <- x[0]; } "
        "pipeline main(in i32 x, out i32 y, out i32 z) { buffer i32 u; x -> fir<3> -> stuff<6> -> "
        "fir<9> -> u; part(u -> y, z); }",
        1);
}

static void a_writer_ahead_has_no_state(void **state)
{
    (void)state;
    struct both b =
        composed("kernel count(in i32 x, out i32 y) { state i32 n; y <- x + n; n = x; } "
                 "kernel diff(in i32 x peek 2, out i32 y) { y <- x[1] - x[0]; } "
                 "pipeline main(in i32 x, out i32 y) { x -> count -> diff -> y; }",
                 1);
    assert_string_equal(
        b.reason, "'count->diff' is read 1 packet ahead, and 'count', which writes it, has state");
    text_compile_free(b.text);
    expect_same("kernel count(in i32 x, out i32 y) { state i32 n; y <- x * n; n += 3; } "
                "kernel diff(in i32 x peek 4, out i32 y) { y <- x[3] - x[0]; } "
                "pipeline main(in i32 x, out i32 y) { x -> count -> diff -> y; }",
                2);
}

static void a_loop_keeps_its_packets_as_state(void **state)
{
    (void)state;
    expect_same("kernel add(in f32 x, in f32 back, out f32 y, out f32 sum) { f32 s = x + back; y "
                "<- s; sum <- s; } "
                "kernel scale(in f32 sum, out f32 back; f32 by) { back <- by * sum; } "
                "pipeline main(in f32 x, out f32 y) { buffer f32 sum; buffer f32 back init 1 x 0.5;"
                "  add(x, back -> y, sum); sum -> scale(0.75) -> back; }",
                1);
    expect_same(
        "kernel add(in i32 x, in i32 back peek 3, out i32 y, out i32 sum) {"
        "  i32 s = x + back[0] - back[2]; y <- s; sum <- s; } "
        "kernel scale(in i32 sum, out i32 back; i32 by) { back <- by * sum; } "
        "pipeline main(in i32 x, out i32 y) { buffer i32 sum; buffer i32 back init {1, 2, 3, 4, 5};"
        "  add(x, back -> y, sum); sum -> scale(3) -> back; }",
        2);
    expect_same(
        "kernel add(in i32 x pop 4, in i32 back pop 4, out i32 y push 4, out i32 sum push 4) {"
        "  for (i32 i = 0; i < 4; i++) { i32 s = x[i] + back[3 - i]; y <- s; sum <- s; } } "
        "kernel scale(in i32 sum, out i32 back; i32 by) { back <- by * sum; } "
        "pipeline main(in i32 x, out i32 y) { buffer i32 sum; buffer i32 back init 20 x 3;"
        "  add(x, back -> y, sum); sum -> scale(3) -> back; }",
        1);
}

static void initial_packets_delay(void **state)
{
    (void)state;
    expect_same("kernel f(in i32 x, out i32 y) { y <- x * 3; } "
                "kernel fir<int N>(in i32 x peek N, out i32 y) {"
                "  i32 s = 0; for (i32 i = 0; i < N; i++) s += x[i] * (i + 1); y <- s; } "
                "pipeline main(in i32 x, out i32 y) { buffer i32 d init 12 x 7; x -> f -> d; d -> "
                "fir<9> -> y; }",
                1);
}

/* ---- rates that vary ---- */

static void readers_fire_where_packets_are_appended(void **state)
{
    (void)state;
    expect_same("kernel keep(in i32 x, out i32 y) { if ((x & 7) < 3) y <- x; } "
                "kernel expand(in i32 x, out i32 y) { y <- x; y <- x * 5 + 1; y <- x ^ 9; } "
                "kernel scan(in i32 x, out i32 y) { state i32 s; s += x; y <- s; } "
                "pipeline main(in i32 x, out i32 y) { x -> keep -> expand -> scan -> y; }",
                1);
    expect_same("kernel keep(in i32 x, out i32 y) { if ((x & 7) < 3) y <- x; } "
                "kernel add(in i32 x, out i32 y) { y <- x + 3; } "
                "kernel bits(in i32 x, out i32 y push ..4) { for (i32 i = 0; i < 4; i++) if (((x "
                ">> i) & 1) != 0) y <- x + i; } "
                "pipeline main(in i32 x, out i32 y) { x -> add -> bits -> add -> keep -> y; }",
                3);
}

static void routes_stay_in_step(void **state)
{
    (void)state;
    expect_same("kernel route(in i32 x, out i32 a push ..1, out i32 b push ..1) { if (x > 0) { a "
                "<- x; b <- x + 1; } } "
                "kernel add(in i32 x, out i32 y) { y <- x + 3; } "
                "pipeline main(in i32 x, out i32 y, out i32 z) { buffer i32 u, v; x -> add -> u; "
                "route(u -> v, z); v -> add -> y; }",
                1);
}

static void a_block_needs_all_its_packets(void **state)
{
    (void)state;
    struct both b = composed("kernel keep(in i32 x, out i32 y) { if ((x & 7) < 3) y <- x; } "
                             "kernel sum(in i32 x pop 2, out i32 y) { y <- x[0] + x[1]; } "
                             "pipeline main(in i32 x, out i32 y) { x -> keep -> sum -> y; }",
                             1);
    assert_string_equal(
        b.reason, "the rate of 'keep->sum' varies, and 'sum' needs more than one packet of it");
    text_compile_free(b.text);
}

/* ---- stages that cannot be members ---- */

static void expect_refused(const char *text, const char *reason)
{
    struct both b = composed(text, 1);
    assert_non_null(b.reason);
    assert_string_equal(b.reason, reason);
    text_compile_free(b.text);
}

/* Ranges say so, or a bit that is set; not of all calls of a function, of all rounds of a loop, of the other side. */
static void a_divisor_that_is_never_zero_is_no_fault(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool proven;
    } bodies[] = {
        {"y <- 100 / (x | 1);", true},
        {"y <- 100 / (4 | x);", true},
        {"y <- 100 / (x | 0);", false},
        {"y <- 100 / (x ^ 1);", false},
        {"y <- (i32)(100 / (i64)(x | 1));", true},
        {"y <- 100 / (i8)(x | 256);", false},
        {"y <- 100 % ((x & 7) + 1);", true},
        {"y <- 100 % (x & 7);", false},
        {"y <- 100 / max(x, 1);", true},
        {"y <- 100 / max(x, 0);", false},
        {"y <- 100 / min(x, -1);", true},
        {"i32 z = 100; z /= (x & 1) + 1; y <- z;", true},
        {"i32 z = 100; z %= x & 1; y <- z;", false},
        {"if (x > 0) y <- 100 / x; else y <- 0;", true},
        {"if (x >= 0) y <- 100 / x; else y <- 0;", false},
        {"i32 z = x; for (i32 i = 1; i < 5; i++) z += x / i; y <- z;", true},
        {"i32 z = x; for (i32 i = 0; i < 5; i++) z += x / i; y <- z;", false},
        {"y <- of(x, 3) + of(x, 4);", true},
        {"y <- of(x, 3) + of(x, x);", false},
        {"state i32 n = 1; y <- x / n; n++;", false},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "fn i32 of(i32 a, i32 b) { return a / b; } "
                 "kernel k(in i32 x, out i32 y) { %s } "
                 "pipeline main(in i32 x, out i32 y) { x -> k -> y; }",
                 bodies[i].body);
        struct both b = composed(text, 1);
        if ((b.reason == NULL) != bodies[i].proven)
            fail_msg("%s: %s", bodies[i].body, b.reason != NULL ? b.reason : "no fault");
        text_compile_free(b.text);
    }
}

static void what_may_fault_or_end_early_stays_alone(void **state)
{
    (void)state;
    expect_refused("kernel k(in i32 x, out i32 y) { y <- 100 / x; } "
                   "pipeline main(in i32 x, out i32 y) { x -> k -> y; }",
                   "may divide by zero (test.pipe:1:38)");
    expect_refused("kernel k(in i32 x pop 4, out i32 y) { y <- x[x[0]]; } "
                   "pipeline main(in i32 x, out i32 y) { x -> k -> y; }",
                   "may look past its packets (test.pipe:1:44)");
    expect_refused("kernel k(in i32 x, out i32 y push ..1) { if (x > 0) return; y <- x; } "
                   "pipeline main(in i32 x, out i32 y) { x -> k -> y; }",
                   "leaves its body early");
    expect_refused("kernel k(in i32 x, out i32 y) { state i32 s; s += x; finish { y <- -s; } } "
                   "pipeline main(in i32 x, out i32 y) { x -> k -> y; }",
                   "writes only in its 'finish'");
    expect_refused("kernel k(in i32 x, out i32 y) { y <- x; finish { y <- (i32)(8 / left(x)); } } "
                   "pipeline main(in i32 x, out i32 y) { x -> k -> y; }",
                   "may divide by zero (test.pipe:1:60)");
    expect_refused(
        "kernel k(in i32 x, out i32 y push ..1) { if (x > 0) y <- x; finish { y <- 1; } } "
        "kernel c(in i32 x, out i32 y) { y <- x; }"
        "pipeline main(in i32 x, out i32 y) { x -> k -> c -> y; }",
        "'k' has a 'finish', and how much 'k' writes varies");
    expect_refused("kernel k(in i32 x peek 3, out i32 y) { y <- x[2]; finish { y <- 1; } } "
                   "pipeline main(in i32 x, out i32 y) { x -> k -> y; }",
                   "'k' has a 'finish', and 'k' looks at packets again");
    expect_refused("kernel k(in i32 x pop {1, 2}, out i32 y) { y <- x[0]; } "
                   "pipeline main(in i32 x, out i32 y) { x -> k -> y; }",
                   "has rates that change from firing to firing");
    expect_refused("kernel k(in i32 x pop 4, out i32 y push 4) group 4 { y[item.x] = x[item.x]; } "
                   "pipeline main(in i32 x, out i32 y) { x -> k -> y; }",
                   "has work-items ('group'), so a firing is a work-group of its own");
}

/* ---- loops ---- */

static size_t count_in(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

#define FIR                                                                                        \
    "kernel fir<int N>(in f32 x peek N, out f32 y; f32 g) { table f32 t[N];"                       \
    "  init { for (i32 i = 0; i < N; i++) t[i] = g / (i + 1); }"                                   \
    "  f32 s = 0; for (i32 i = 0; i < N; i++) s = fma(x[i], t[i], s); y <- s; } "                  \
    "kernel sum<int N>(in f32 x[N], out f32 y) {"                                                  \
    "  f32 s = 0; for (i32 i = 0; i < N; i++) s += x[i][0]; y <- s; } "

static size_t count_loops(const struct ks *first)
{
    size_t count = 0;
    for (const struct ks *s = first; s != NULL; s = s->next)
        count += (s->kind == KS_LOOP) + count_loops(s->body);
    return count;
}

static void expect_loops(const char *text, size_t loops)
{
    struct both b = composed(text, 1);
    assert_null(b.reason);
    assert_int_equal(count_loops(b.composite.node.kernel->body), loops);
    text_compile_free(b.text);
    expect_same(text, 1);
}

/* Room for blocks of few firings is none of the firing's. */
static bool has_locals_in_memory(const char *ir)
{
    static const char room[] = "%padded";
    for (const char *at = strstr(ir, " = alloca"); at != NULL; at = strstr(at + 1, " = alloca")) {
        const char *line = at;
        while (line > ir && line[-1] != '\n')
            line--;
        line += strspn(line, " ");
        if (strncmp(line, room, sizeof room - 1) != 0) return true;
    }
    return false;
}

static void filters_of_the_same_packets_are_one_loop(void **state)
{
    (void)state;
    static const char bank[] =
        FIR "pipeline main(in f32 x, out f32 y) { buffer f32 p[4];"
            "  for (int b = 0; b < 4; b++) x -> fir<24>(0.25 * (b + 1)) -> p[b]; sum<4>(p -> y); }";
    expect_loops(bank, 1);
    struct both b = composed(bank, 1);
    const char *ir = llvm_of(&b);
    assert_false(has_locals_in_memory(ir));
    assert_true(count_in(ir, "@llvm.fma.v") >= 4);
    free((void *)ir);
    text_compile_free(b.text);
}

static void many_filters_are_shared_out(void **state)
{
    (void)state;
    expect_loops(
        FIR
        "pipeline main(in f32 x, out f32 y) { buffer f32 p[16];"
        "  for (int b = 0; b < 16; b++) x -> fir<24>(0.25 * (b + 1)) -> p[b]; sum<16>(p -> y); }",
        2);
}

static void loops_that_need_one_another_stay_in_order(void **state)
{
    (void)state;
    expect_loops("kernel f<int N>(in i32 x, out i32 y; i32 g) { table i32 t[N];"
                 "  init { for (i32 i = 0; i < N; i++) t[i] = i * g; }"
                 "  i32 s = x; for (i32 i = 0; i < N; i++) s = s * 3 + t[i]; y <- s; } "
                 "pipeline main(in i32 x, out i32 y) { x -> f<9>(2) -> f<9>(3) -> f<9>(5) -> y; }",
                 3);
    expect_loops("kernel f<int N>(in i32 x, out i32 y; i32 g) { state i32 k;"
                 "  i32 s = x; for (i32 i = 0; i < N; i++) { s = s * 3 + k; k += g; } y <- s; } "
                 "kernel add(in i32 a, in i32 b, out i32 y) { y <- a * 5 + b; } "
                 "pipeline main(in i32 x, out i32 y) { buffer i32 a, b; x -> f<9>(2) -> a; x -> "
                 "f<9>(3) -> b; add(a, b -> y); }",
                 2);
    expect_loops("kernel f<int N>(in i32 x, out i32 y; i32 g) {"
                 "  i32 s = x; i32 k = g; if (x > 5) k = s; for (i32 i = 0; i < N; i++) { s = s * "
                 "3 + k; k++; } y <- s; } "
                 "kernel add(in i32 a, in i32 b, out i32 y) { y <- a * 5 + b; } "
                 "pipeline main(in i32 x, out i32 y) { buffer i32 a, b; x -> f<9>(2) -> a; x -> "
                 "f<9>(3) -> b; add(a, b -> y); }",
                 2);
    expect_loops(
        "kernel f<int N>(in i32 x, out i32 y; i32 g) {"
        "  i32 s = x; i32 k = g; i32 m = g * x; i32 n = m + x; for (i32 i = 0; i < N; i++) {"
        "    for (i32 j = 1; j < 3; j++) s += i * j; s = s * 3 + k + m + n; k++; } y <- s + k; } "
        "kernel add(in i32 a, in i32 b, out i32 y) { y <- a * 5 + b; } "
        "pipeline main(in i32 x, out i32 y) { buffer i32 a, b; x -> f<9>(2) -> a; x -> f<9>(3) -> "
        "b; add(a, b -> y); }",
        2);
}

/* ---- any graph ---- */

static char *drawn_program(unsigned *seed)
{
    static const struct oracle_taste taste = {.nodes = 6,
                                              .extra = 3,
                                              .backward = 15,
                                              .window = 30,
                                              .second = 30,
                                              .outside = 40,
                                              .largest_cost = 5,
                                              .stateful = 20};
    struct oracle_graph drawn = {0};
    oracle_draw(&drawn, &taste, seed);
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    oracle_print(to, &drawn);
    fclose(to);
    return text;
}

static bool is_live(const char *text)
{
    struct text_compile *c = text_compile(text);
    bool live = c->graph != NULL && analyse_graph(&c->cx, c->graph);
    text_compile_free(c);
    return live;
}

/* The output of a firing shows its input, and how often the node has fired. */
static void random_graphs_have_the_same_packets(void **state)
{
    (void)state;
    unsigned draws = oracle_environment("N", 60 / (unsigned)draw_step()),
             seed = oracle_environment("SEED", 1);
    unsigned live = 0, whole = 0;
    for (unsigned i = 0; i < draws; i++) {
        unsigned own = oracle_own_seed(seed, i), from = own;
        char *text = drawn_program(&from);
        if (is_live(text)) {
            struct both b = composed(text, 1 + own % 3);
            live++;
            if (b.reason == NULL) {
                if (getenv("N") != NULL) print_message("SEED=%u\n%s\n", own, text);
                expect_equal_after(&b, 1, 1);
                expect_equal_after(&b, 20, 1 + own % 7);
                whole++;
            }
            text_compile_free(b.text);
        }
        free(text);
    }
    print_message("%u graphs of %u are one kernel\n", whole, live);
    assert_true(whole > live / 4);
}

TEST_MAIN("compose", cmocka_unit_test(a_chain_is_one_kernel),
          cmocka_unit_test(a_chain_is_one_loop_over_registers),
          cmocka_unit_test(neighbours_of_other_rates_fire_as_often_as_they_must),
          cmocka_unit_test(packets_in_loops_are_kept_in_arrays),
          cmocka_unit_test(many_firings_are_a_loop),
          cmocka_unit_test(a_loop_takes_packets_as_they_are_written),
          cmocka_unit_test(packets_set_by_number_are_zero_where_they_are_not),
          cmocka_unit_test(both_sides_of_a_choice_append_alike),
          cmocka_unit_test(branches_part_and_meet_again), cmocka_unit_test(packets_go_round_robin),
          cmocka_unit_test(what_is_read_inside_and_outside_is_both),
          cmocka_unit_test(packets_may_be_vectors_and_structs),
          cmocka_unit_test(every_member_has_tables_arguments_and_state_of_its_own),
          cmocka_unit_test(state_that_counts_firings_is_none),
          cmocka_unit_test(windows_that_look_ahead_have_packets_made_ahead),
          cmocka_unit_test(a_writer_ahead_has_no_state),
          cmocka_unit_test(a_loop_keeps_its_packets_as_state),
          cmocka_unit_test(initial_packets_delay),
          cmocka_unit_test(readers_fire_where_packets_are_appended),
          cmocka_unit_test(routes_stay_in_step), cmocka_unit_test(a_block_needs_all_its_packets),
          cmocka_unit_test(a_divisor_that_is_never_zero_is_no_fault),
          cmocka_unit_test(what_may_fault_or_end_early_stays_alone),
          cmocka_unit_test(filters_of_the_same_packets_are_one_loop),
          cmocka_unit_test(many_filters_are_shared_out),
          cmocka_unit_test(loops_that_need_one_another_stay_in_order),
          cmocka_unit_test(random_graphs_have_the_same_packets))
