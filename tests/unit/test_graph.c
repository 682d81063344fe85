/* SPDX-License-Identifier: MIT */
/* graph: connecting both ways, memory, and the text of --emit=graph. */
#include "tests/test.h"

#include "compiler/liveness/rate.h"
#include "compiler/pace/bufsize.h"
#include "tests/unit/graph_fixture.h"

static struct fixture *example(void)
{
    struct fixture *f = fixture_new();
    uint32_t in = fixture_port(f, "rf", GRAPH_OUTER_IN),
             out = fixture_port(f, "audio", GRAPH_OUTER_OUT);
    uint32_t a = fixture_node(f, "lp"), b = fixture_node(f, "left"), c = fixture_node(f, "right");
    uint32_t base = fixture_buffer(f, "base", 2, 4096);
    fixture_read(f, a, in, 1, 64);
    fixture_write(f, a, base, 3);
    fixture_read(f, b, base, 1, 1);
    fixture_read(f, c, base, 1, 2);
    fixture_write(f, b, out, 1);
    f->graph.nodes.items[a].stateful = true;
    f->graph.nodes.items[a].importance = 5;
    f->graph.nodes.items[b].outputs.items[0].finish_max = 7;
    return f;
}

static char *printed(struct fixture *f)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    graph_print(to, &f->graph);
    fclose(to);
    return text;
}

static void connecting_fills_both_ends(void **state)
{
    (void)state;
    struct fixture *f = example();
    const struct graph_buffer *base = &f->graph.buffers.items[2];
    assert_int_equal(base->writer_node, 0);
    assert_int_equal(base->writer_output, 0);
    assert_int_equal(base->readers.count, 2);
    assert_int_equal(base->readers.items[1].node, 2);
    assert_int_equal(base->readers.items[1].input, 0);
    assert_int_equal(f->graph.nodes.items[1].inputs.items[0].reader, 0);
    assert_int_equal(f->graph.nodes.items[2].inputs.items[0].reader, 1);
    assert_int_equal(f->graph.buffers.items[0].writer_node, GRAPH_NONE);
    fixture_free(f);
}

static void memory_counts_inner_buffers_only(void **state)
{
    (void)state;
    struct fixture *f = example();
    uint64_t bytes;
    f->graph.buffers.items[0].depth_packets = 1000;
    assert_true(graph_memory(&f->graph, &bytes));
    assert_int_equal(bytes, 4096 * 4);
    f->graph.buffers.items[2].depth_packets = UINT64_C(1) << 61;
    assert_false(graph_memory(&f->graph, &bytes));
    f->graph.buffers.items[2].depth_packets = UINT64_MAX;
    assert_false(graph_memory(&f->graph, &bytes));
    fixture_free(f);
}

static void text_before_any_pass(void **state)
{
    (void)state;
    struct fixture *f = example();
    char *text = printed(f);
    assert_string_equal(text,
                        "pipeline test: 3 nodes, 3 buffers\n"
                        "node 0 lp: k importance 5 stateful cost 1\n"
                        "    in x from rf pop 1 peek 64\n"
                        "    out y to base push 3\n"
                        "node 1 left: k cost 1\n"
                        "    in x from base pop 1 peek 1\n"
                        "    out y to audio push 1 finish 7\n"
                        "node 2 right: k cost 1\n"
                        "    in x from base pop 1 peek 2\n"
                        "in-port 0 rf: f32 to lp\n"
                        "out-port 1 audio: f32 from left\n"
                        "buffer 2 base: f32 from lp to left, right init 2 depth 4096 declared\n");
    free(text);
    fixture_free(f);
}

static void text_after_the_analyses(void **state)
{
    (void)state;
    struct fixture *f = example();
    rate_solve(&f->cx, &f->graph);
    bufsize_assign(&f->cx, &f->graph);
    assert_false(diag_failed(f->cx.diags));
    char *text = printed(f);
    assert_non_null(strstr(text, "node 1 left: k cost 1 repetitions 3 component 0\n"));
    assert_non_null(strstr(text, "in-port 0 rf: f32 to lp depth 64 least 64\n"
                                 "    why 64: one window of 'lp' (64 packets)\n"));
    assert_non_null(strstr(text, "    why 4096: declared; the minimum is 4\n"));
    free(text);
    fixture_free(f);
}

TEST_MAIN("graph", cmocka_unit_test(connecting_fills_both_ends),
          cmocka_unit_test(memory_counts_inner_buffers_only),
          cmocka_unit_test(text_before_any_pass), cmocka_unit_test(text_after_the_analyses))
