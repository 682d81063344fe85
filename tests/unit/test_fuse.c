/* SPDX-License-Identifier: MIT */
/* fuse_neighbours: which nodes become one stage, and why others do not. */
#include "tests/test.h"

#include "compiler/optimize/fuse/fuse.h"
#include "compiler/driver/passes.h"
#include "tests/unit/compile_text.h"

#define KERNELS                                                                                    \
    "kernel scale(in i32 x, out i32 y; i32 by) { y <- by * x; }\n"                                 \
    "kernel pairs(in i32 x pop 2, out i32 y) { y <- x[0] - x[1]; }\n"                              \
    "kernel many(in i32 x pop 700, out i32 y) { y <- x[0] - x[699]; }\n"                           \
    "kernel add(in i32 a, in i32 b, out i32 y) { y <- a + b; }\n"                                  \
    "kernel fork(in i32 x, out i32 a, out i32 b) { a <- x; b <- x >> 1; }\n"                       \
    "kernel window(in i32 x peek 9, out i32 y) { y <- x[0] + x[8]; }\n"                            \
    "kernel sum(in i32 x, out i32 y) { state i32 s; s += x; y <- s; }\n"                           \
    "kernel heavy(in i32 x, out i32 y) {\n"                                                        \
    "    i32 v = x;\n"                                                                             \
    "    for (i32 i = 0; i < 500; i++) v = v * v + i;\n"                                           \
    "    y <- v;\n"                                                                                \
    "}\n"                                                                                          \
    "kernel turn(in i32 x pop 8, out i32 y push 8) {\n"                                            \
    "    for (i32 i = 0; i < 8; i++) y <- x[7 - i];\n"                                             \
    "}\n"                                                                                          \
    "kernel wide(in i32 x pop 64, out i32 y push 64) {\n"                                          \
    "    for (i32 i = 0; i < 64; i++) y <- x[63 - i];\n"                                           \
    "}\n"                                                                                          \
    "kernel naturals(out i32 y) { state i32 n; y <- n; n++; }\n"                                   \
    "kernel keep(in i32 x, out i32 y) { if (x > 0) y <- x; }\n"                                    \
    "kernel padded(in i32 x pop 2, out i32 y push 2) {\n"                                          \
    "    y <- x[0]; y <- x[1];\n"                                                                  \
    "    finish { for (i64 i = left(x); i > 0; i--) y <- -1; }\n"                                  \
    "}\n"                                                                                          \
    "kernel last(in i32 x, out i32 y) { state i32 s; s = x; finish { y <- s; } }\n"

struct fused {
    struct text_compile *compile;
    struct fusion *fusion;
};

static struct fused fuse(const char *pipeline, uint32_t host, enum fuse_mode mode)
{
    char text[8192];
    snprintf(text, sizeof text, KERNELS "pipeline main(%s", pipeline);
    struct fused f = {.compile = text_compile(text)};
    const struct devdesc device = {.host = host, .cu_count = 4, .lanes = 16};
    struct compile *cx = &f.compile->cx;
    assert_non_null(f.compile->graph);
    cx->options.fuse = mode;
    assert_true(analyse_graph(cx, f.compile->graph));
    f.fusion = fuse_neighbours(cx, f.compile->graph, &device, prove_graph);
    assert_false(diag_failed(cx->diags));
    return f;
}

static uint32_t buffer_named(const struct graph *graph, const char *name)
{
    for (uint32_t i = 0; i < graph->buffers.count; i++)
        if (strcmp(graph->buffers.items[i].name, name) == 0) return i;
    fail_msg("no buffer '%s'", name);
    return GRAPH_NONE;
}

/* The fused graph has nodes of these names, in order. */
static void expect_nodes(const char *pipeline, const char *const *names)
{
    struct fused f = fuse(pipeline, 1, FUSE_BY_DEVICE);
    const struct graph *graph = f.fusion->graph;
    size_t count = 0;
    for (; names[count] != NULL; count++) {
        assert_true(count < graph->nodes.count);
        assert_string_equal(graph->nodes.items[count].name, names[count]);
    }
    assert_int_equal(graph->nodes.count, count);
    text_compile_free(f.compile);
}

#define EXPECT_NODES(pipeline, ...) expect_nodes(pipeline, (const char *[]){__VA_ARGS__, NULL})

/* The reason that keeps the ends of that buffer apart is reported. */
static void expect_apart(const char *pipeline, const char *buffer, const char *why)
{
    struct fused f = fuse(pipeline, 1, FUSE_BY_DEVICE);
    const char *obstacle = f.fusion->obstacles[buffer_named(f.fusion->written, buffer)];
    assert_non_null(obstacle);
    if (strstr(obstacle, why) == NULL) fail_msg("'%s' is apart for '%s'", buffer, obstacle);
    text_compile_free(f.compile);
}

static void a_chain_becomes_one_node_without_buffers(void **state)
{
    (void)state;
    struct fused f = fuse("in i32 x, out i32 y) { x -> scale(2) -> pairs -> scale(3) -> y; }", 1,
                          FUSE_BY_DEVICE);
    const struct fusion *fusion = f.fusion;
    assert_int_equal(fusion->graph->nodes.count, 1);
    assert_int_equal(fusion->graph->buffers.count, 2);
    assert_int_equal(fusion->composites.count, 1);
    assert_int_equal(fusion->composites.items[0].members.items[0].firings, 2);
    assert_int_equal(fusion->composites.items[0].members.items[1].firings, 1);
    const struct graph_node *node = &fusion->graph->nodes.items[0];
    assert_string_equal(node->name, "scale#1..2+pairs");
    assert_int_equal(node->inputs.items[0].pop, 2);
    assert_int_equal(node->outputs.items[0].push, 1);
    assert_int_equal(node->repetitions, 1);
    assert_true(node->cost_cycles > 0);
    for (size_t i = 0; i < fusion->written->nodes.count; i++)
        assert_int_equal(fusion->places[i].node, 0);
    assert_int_equal(fusion->written->nodes.count, 3);
    text_compile_free(f.compile);
}

static void ends_of_the_new_graph_fit_together(void **state)
{
    (void)state;
    struct fused f =
        fuse("in i32 x, out i32 y, out i32 z) {\n"
             "    buffer i32 a, b, c;\n"
             "    x -> heavy -> a; a -> last -> z; a -> scale(2) -> b; a -> window -> c;\n"
             "    add(b, c -> y); }",
             1, FUSE_BY_DEVICE);
    const struct graph *graph = f.fusion->graph;
    for (uint32_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (buffer->outer != GRAPH_OUTER_IN)
            assert_int_equal(graph_writer(graph, buffer)->buffer, i);
        for (size_t r = 0; r < buffer->readers.count; r++) {
            assert_int_equal(graph_reader_input(graph, buffer, r)->buffer, i);
            assert_int_equal(graph_reader_input(graph, buffer, r)->reader, r);
        }
    }
    for (size_t i = 1; i < graph->kernels.count; i++)
        assert_true(graph->kernels.items[i - 1]->id < graph->kernels.items[i]->id);
    text_compile_free(f.compile);
}

static void names_tell_the_members(void **state)
{
    (void)state;
    EXPECT_NODES("in i32 x, out i32 y) { buffer i32 s; a: scale(x -> s; 2); b: scale(s -> y; 3); }",
                 "a+b");
    EXPECT_NODES("in i32 x, out i32 y) { x -> scale(2) -> scale(3) -> scale(4) -> y; }",
                 "scale#1..3");
    EXPECT_NODES("in i32 x, out i32 y) {\n"
                 "    buffer i32 s[4]; x -> scale(1) -> s[0];\n"
                 "    for (int i = 0; i < 3; i++) eq: scale(s[i] -> s[i + 1]; 2);\n"
                 "    s[3] -> scale(3) -> y; }",
                 "scale#1..2+eq[0..2]");
}

static void importance_keeps_nodes_apart(void **state)
{
    (void)state;
    expect_apart("in i32 x, out i32 y) {\n"
                 "    buffer i32 s; scale(x -> s; 2) importance 3; scale(s -> y; 3); }",
                 "s", "importance");
}

static void a_source_stays_by_itself(void **state)
{
    (void)state;
    expect_apart("out i32 y) { buffer i32 s; naturals -> s; s -> scale(3) -> y; }", "s", "source");
}

static void a_finish_keeps_some_nodes_apart(void **state)
{
    (void)state;
    expect_apart("in i32 x, out i32 y) { buffer i32 s; x -> scale(2) -> s; s -> last -> y; }", "s",
                 "'last' writes only in its 'finish'");
    expect_apart(
        "in i32 x, in i32 z, out i32 y) { buffer i32 s; x -> padded -> s; add(s, z -> y); }", "s",
        "'padded' has a 'finish', and all together have several inputs");
    EXPECT_NODES("in i32 x, out i32 y) { x -> scale(2) -> padded -> pairs -> y; }",
                 "scale+padded+pairs");
}

static void what_a_part_of_an_iteration_writes_is_not_delayed(void **state)
{
    (void)state;
    /* Where z ends first, `a` goes on by itself, and so does `y`. */
    expect_apart("in i32 x, in i32 z, out i32 y, out i32 w) {\n"
                 "    buffer i32 a; x -> scale(2) -> a; a -> scale(3) -> y; add(a, z -> w); }",
                 "a", "end of a stream");
    /* Eight packets fewer come out of the window: the other end would wait for them. */
    struct fused f =
        fuse("in i32 x, out i32 y, out i32 z) { x -> scale(2) -> y; x -> window -> z; }", 1,
             FUSE_BY_DEVICE);
    assert_ptr_equal(f.fusion->graph, f.fusion->written);
    text_compile_free(f.compile);
}

static void a_way_round_keeps_nodes_apart(void **state)
{
    (void)state;
    expect_apart("in i32 x, out i32 y) {\n"
                 "    buffer i32 a, b, c; fork(x -> a, b); urgent: scale(b -> c; 2) importance 1;\n"
                 "    add(a, c -> y); }",
                 "a", "another path");
}

static void heavy_nodes_are_not_made_serial_by_state(void **state)
{
    (void)state;
    expect_apart("in i32 x, out i32 y) { buffer i32 s; x -> heavy -> s; s -> sum -> y; }", "s",
                 "serial");
    EXPECT_NODES("in i32 x, out i32 y) { x -> scale(2) -> sum -> y; }", "scale+sum");
    expect_apart("in i32 x, out i32 y) { buffer i32 s; x -> keep -> s; s -> sum -> y; }", "s",
                 "selecting");
}

static void windows_are_not_made_again_where_that_costs_much(void **state)
{
    (void)state;
    expect_apart("in i32 x, out i32 y) { buffer i32 s; x -> heavy -> s; s -> window -> y; }", "s",
                 "executed again");
}

static void iterations_and_code_stay_small(void **state)
{
    (void)state;
    expect_apart("in i32 x, out i32 y) {\n"
                 "    buffer i32 s; x -> many -> many -> s; s -> many -> y; }",
                 "s", "too many firings");
}

static void a_circle_is_one_node_and_has_state(void **state)
{
    (void)state;
    struct fused f = fuse("in i32 x, out i32 y) {\n"
                          "    buffer i32 s, back init 1 x 0, t;\n"
                          "    add(x, back -> s); fork(s -> y, t); scale(t -> back; 3); }",
                          1, FUSE_BY_DEVICE);
    assert_int_equal(f.fusion->graph->nodes.count, 1);
    assert_true(f.fusion->graph->nodes.items[0].stateful);
    assert_int_equal(f.fusion->graph->buffers.count, 2);
    text_compile_free(f.compile);
}

static void a_circle_of_many_packets_goes_round_in_its_buffer(void **state)
{
    (void)state;
    struct fused f = fuse("in i32 x, out i32 y) {\n"
                          "    buffer i32 s, back init 500 x 0, t;\n"
                          "    add(x, back -> s); fork(s -> y, t); scale(t -> back; 3); }",
                          1, FUSE_BY_DEVICE);
    const struct graph *graph = f.fusion->graph;
    assert_int_equal(graph->nodes.count, 1);
    assert_false(graph->nodes.items[0].stateful);
    assert_int_equal(graph->buffers.count, 3);
    const struct graph_buffer *back = &graph->buffers.items[buffer_named(graph, "back")];
    assert_int_equal(back->initial.packets, 500);
    assert_int_equal(back->writer_node, 0);
    assert_int_equal(back->readers.items[0].node, 0);
    text_compile_free(f.compile);
    expect_apart("in i32 x, out i32 y) {\n"
                 "    buffer i32 s, back init 500 x 0, t;\n"
                 "    add(x, back -> s); fork(s -> y, t); scale(t -> back; 3); }",
                 "back", "let 500 iterations be dispatched together");
}

/* A buffer that has no room beside its initial packets is none that a stage could write before it reads. */
static void a_circle_without_room_keeps_its_packets_as_state(void **state)
{
    (void)state;
    struct fused f = fuse("in i32 x, out i32 y) {\n"
                          "    buffer i32 s, back init 20 x 0 depth 21, t;\n"
                          "    add(x, back -> s); fork(s -> y, t); scale(t -> back; 3); }",
                          1, FUSE_BY_DEVICE);
    assert_int_equal(f.fusion->graph->nodes.count, 1);
    assert_true(f.fusion->graph->nodes.items[0].stateful);
    text_compile_free(f.compile);
}

static void what_a_circle_makes_serial_costs_less_than_a_buffer(void **state)
{
    (void)state;
#define ROUND "    add(s, back -> u); fork(u -> t, v); scale(v -> back; 3); t -> scale(5) -> y; }"
    EXPECT_NODES("in i32 x, out i32 y) {\n"
                 "    buffer i32 s, u, t, v, back init 1 x 0; x -> scale(2) -> s;\n" ROUND,
                 "scale#1..3+add+fork");
    EXPECT_NODES("in i32 x, out i32 y) {\n"
                 "    buffer i32 s, u, t, v, back init 1 x 0; x -> heavy -> s;\n" ROUND,
                 "heavy", "add+fork+scale#1..2");
    EXPECT_NODES("in i32 x, out i32 y) {\n"
                 "    buffer i32 s, u, t, v, back init 100 x 0; x -> heavy -> s;\n" ROUND,
                 "heavy", "add+fork+scale#1..2");
    EXPECT_NODES("in i32 x, out i32 y) {\n"
                 "    buffer i32 s, u, t, v, back init 5000 x 0; x -> heavy -> s;\n" ROUND,
                 "heavy+add+fork+scale#1..2");
#undef ROUND
}

static void packets_at_rest_between_two_ways_are_state(void **state)
{
    (void)state;
    expect_apart("in i32 x, out i32 y) {\n"
                 "    buffer i32 a, d init 9 x 2; x -> heavy -> a; a -> scale(2) -> d;\n"
                 "    add(a, d -> y); }",
                 "d", "state would make both serial");
}

static void a_circle_is_not_cut_short(void **state)
{
    (void)state;
    expect_apart("in i32 x, out i32 y) {\n"
                 "    buffer i32 s, back init 500 x 0, t, z;\n"
                 "    add(x, back -> s); fork(s -> z, t); scale(t -> back; 3); z -> wide -> y; }",
                 "z", "fewer iterations of the cycle");
}

static void declared_depths_that_hold_an_iteration_do_not_matter(void **state)
{
    (void)state;
    EXPECT_NODES(
        "in i32 x, out i32 y) { buffer i32 s depth 2; x -> scale(2) -> s; s -> pairs -> y; }",
        "scale+pairs");
    expect_apart(
        "in i32 x, out i32 y) {\n"
        "    buffer i32 a, s depth 2; x -> scale(2) -> s; s -> pairs -> a; a -> many -> y; }",
        "a", "declared depth");
}

static void only_never_keeps_nodes_apart(void **state)
{
    (void)state;
    static const char pipeline[] = "in i32 x, out i32 y) { x -> scale(2) -> scale(3) -> y; }";
    static const struct {
        uint32_t host;
        enum fuse_mode mode;
        size_t nodes;
    } cases[] = {{0, FUSE_BY_DEVICE, 1}, {0, FUSE_ALWAYS, 1}, {0, FUSE_NEVER, 2},
                 {1, FUSE_BY_DEVICE, 1}, {1, FUSE_ALWAYS, 1}, {1, FUSE_NEVER, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fused f = fuse(pipeline, cases[i].host, cases[i].mode);
        assert_int_equal(f.fusion->graph->nodes.count, cases[i].nodes);
        assert_true((f.fusion->off != NULL) == (cases[i].nodes == 2));
        text_compile_free(f.compile);
    }
}

static void depths_of_what_is_left_are_those_of_the_plan(void **state)
{
    (void)state;
    struct fused f =
        fuse("in i32 x, out i32 y) { x -> scale(2) -> scale(3) -> y; }", 1, FUSE_BY_DEVICE);
    struct graph *written = f.fusion->written;
    f.fusion->graph->buffers.items[0].depth_packets = 77;
    f.fusion->graph->memory_bytes = 0;
    fuse_settle_depths(&f.compile->cx, f.fusion);
    assert_int_equal(written->buffers.items[0].depth_packets, 77);
    assert_int_equal(written->memory_bytes, 0);
    uint32_t inside = buffer_named(written, "scale->scale#2");
    assert_non_null(strstr(written->buffers.items[inside].depth_reason, "inside 'scale#1..2'"));
    text_compile_free(f.compile);
}

/* Blocks of 8 fill lanes with others as short, but not with 64 packets; what has no loop does in any case. */
static void firings_that_fill_lanes_stay_apart_from_long_ones(void **state)
{
    (void)state;
    EXPECT_NODES("in i32 x, out i32 y) { x -> turn -> pairs -> turn -> y; }", "turn#1..2+pairs");
    EXPECT_NODES("in i32 x, out i32 y) { x -> pairs -> wide -> y; }", "pairs+wide");
    expect_apart("in i32 x, out i32 y) { buffer i32 s; x -> turn -> s; s -> wide -> y; }", "s",
                 "fill vectors by themselves");
    struct fused f = fuse("in i32 x, out i32 y) { x -> turn -> wide -> y; }", 0, FUSE_ALWAYS);
    assert_int_equal(f.fusion->graph->nodes.count, 1);
    text_compile_free(f.compile);
}

TEST_MAIN("fuse", cmocka_unit_test(a_chain_becomes_one_node_without_buffers),
          cmocka_unit_test(ends_of_the_new_graph_fit_together),
          cmocka_unit_test(names_tell_the_members), cmocka_unit_test(importance_keeps_nodes_apart),
          cmocka_unit_test(a_source_stays_by_itself),
          cmocka_unit_test(a_finish_keeps_some_nodes_apart),
          cmocka_unit_test(what_a_part_of_an_iteration_writes_is_not_delayed),
          cmocka_unit_test(a_way_round_keeps_nodes_apart),
          cmocka_unit_test(heavy_nodes_are_not_made_serial_by_state),
          cmocka_unit_test(windows_are_not_made_again_where_that_costs_much),
          cmocka_unit_test(iterations_and_code_stay_small),
          cmocka_unit_test(firings_that_fill_lanes_stay_apart_from_long_ones),
          cmocka_unit_test(a_circle_is_one_node_and_has_state),
          cmocka_unit_test(a_circle_of_many_packets_goes_round_in_its_buffer),
          cmocka_unit_test(a_circle_without_room_keeps_its_packets_as_state),
          cmocka_unit_test(what_a_circle_makes_serial_costs_less_than_a_buffer),
          cmocka_unit_test(packets_at_rest_between_two_ways_are_state),
          cmocka_unit_test(a_circle_is_not_cut_short),
          cmocka_unit_test(declared_depths_that_hold_an_iteration_do_not_matter),
          cmocka_unit_test(only_never_keeps_nodes_apart),
          cmocka_unit_test(depths_of_what_is_left_are_those_of_the_plan))
