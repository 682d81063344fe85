/* SPDX-License-Identifier: MIT */
/*
 * Every program of tests/lang, tests/literature and examples whose rates are exact, as the compiler
 * understands it, against the oracle: repetitions, depths and least depths, paces.
 */
#include "tests/test.h"

#include <glob.h>
#include <stdio.h>

#include "compiler/pace/performance.h"
#include "compiler/driver/driver_files.h"
#include "compiler/driver/passes.h"
#include "compiler/sema/sema.h"
#include "compiler/syntax/parse.h"
#include "tests/reference/oracle.h"

enum { CYCLES_MOST = 1000000, REPETITIONS_MOST = 20000, WINDOW_MOST = 30 };

/* ---- the compiler's graph as the oracle's; false: it is no graph for the oracle ---- */

static bool take_list(long *to, uint32_t phases, const uint64_t *each, uint64_t one)
{
    for (uint32_t p = 0; p < phases; p++)
        to[p] = (long)(each ? each[p] : one);
    return phases <= ORACLE_PHASES;
}

static bool take_node(const struct graph_node *from, struct oracle_node *to)
{
    *to = (struct oracle_node){.phases = (int)graph_phases(from),
                               .cost = (long)from->cost_cycles,
                               .stateful = from->stateful};
    return to->phases <= ORACLE_PHASES;
}

static bool take_writer(const struct graph *graph, const struct graph_buffer *from, int b,
                        struct oracle_graph *g)
{
    struct oracle_buffer *to = &g->buffers[b];
    if (from->writer_node != GRAPH_NONE) {
        const struct graph_node *node = &graph->nodes.items[from->writer_node];
        const struct graph_output *out = &node->outputs.items[from->writer_output];
        to->writer = (int)from->writer_node;
        return graph_is_exact(node, out) && out->finish_max == 0 && out->push > 0 &&
               take_list(to->push, graph_phases(node), out->pushes, out->push);
    }
    if (g->node_count == ORACLE_NODES) return false;
    to->writer = g->node_count;
    g->nodes[g->node_count++] =
        (struct oracle_node){.phases = 1, .stateful = true, .outside = true};
    to->push[0] = 1;
    return true;
}

static bool take_readers(const struct graph *graph, const struct graph_buffer *from,
                         struct oracle_buffer *to)
{
    if (from->readers.count > ORACLE_READERS) return false;
    to->reader_count = (int)from->readers.count;
    for (uint32_t r = 0; r < from->readers.count; r++) {
        const struct graph_input *in = graph_reader_input(graph, from, r);
        const struct graph_node *node = &graph->nodes.items[from->readers.items[r].node];
        struct oracle_reader *reader = &to->readers[r];
        if (graph_window_wraps(graph, from, r) || in->peek > WINDOW_MOST * in->pop) return false;
        reader->node = (int)from->readers.items[r].node;
        reader->keep = (long)in->history;
        if (!take_list(reader->pop, graph_phases(node), in->pops, in->pop) ||
            !take_list(reader->peek, graph_phases(node), in->peeks, in->peek))
            return false;
    }
    return true;
}

/* An in-port with one reader delays no node. */
static bool take_graph(const struct graph *graph, struct oracle_graph *g, int *buffer_of)
{
    memset(g, 0, sizeof *g);
    if (graph->nodes.count > ORACLE_NODES || graph->buffers.count > ORACLE_BUFFERS) return false;
    for (uint32_t n = 0; n < graph->nodes.count; n++)
        if (!take_node(&graph->nodes.items[n], &g->nodes[g->node_count++])) return false;
    for (uint32_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *from = &graph->buffers.items[i];
        buffer_of[i] = -1;
        if (from->outer == GRAPH_OUTER_IN && from->readers.count < 2) continue;
        int b = buffer_of[i] = g->buffer_count++;
        g->buffers[b].initial = (long)from->initial.packets;
        g->buffers[b].width = (long)from->width_bytes;
        if (!take_writer(graph, from, b, g) || !take_readers(graph, from, &g->buffers[b]))
            return false;
    }
    return true;
}

/* ---- one program ---- */

struct program {
    struct compile cx;
    struct graph *graph; /* NULL: refused */
};

static struct program compile_file(const char *path)
{
    struct program p = {
        .cx = compile_begin(arena_create(),
                            (struct compile_options){.optimisation = 2,
                                                     .bounds_checks = true,
                                                     .max_memory_bytes = UINT64_C(1) << 30})};
    uint32_t source;
    assert_int_equal(input_read(&p.cx, path, &source), EXIT_DONE);
    struct passes passes = passes_of_source(&p.cx, source);
    if (passes_run(&passes, PASS_DEPTHS)) p.graph = passes.graph;
    return p;
}

static bool runs(const struct oracle_graph *g, const long *q)
{
    return oracle_verdict(g, q, 0) == ORACLE_LIVE;
}

static const char *judge_depths(const struct graph *graph, struct oracle_graph *g, const long *q,
                                const int *buffer_of)
{
    if (!runs(g, q)) return "it stops with unlimited buffers";
    for (uint32_t i = 0; i < graph->buffers.count; i++)
        if (buffer_of[i] >= 0 && g->buffers[buffer_of[i]].reader_count > 0)
            g->buffers[buffer_of[i]].depth = (long)graph->buffers.items[i].depth_packets;
    if (!runs(g, q)) return "it stops with the depths found";
    for (uint32_t i = 0; i < graph->buffers.count; i++) {
        long least = (long)graph->buffers.items[i].depth_min_packets;
        struct oracle_graph tried = *g;
        if (buffer_of[i] < 0 || g->buffers[buffer_of[i]].reader_count == 0 || least == 0) continue;
        tried.buffers[buffer_of[i]].depth = least;
        if (!runs(&tried, q)) return "it stops with a least depth";
        tried.buffers[buffer_of[i]].depth = least - 1;
        if (least > 1 && least > tried.buffers[buffer_of[i]].initial && runs(&tried, q))
            return "a least depth is not minimal";
    }
    return NULL;
}

/* If a larger lead makes the graph faster, nothing else limits it. */
static bool agrees(const struct pace *pace, const struct oracle_graph *g, const long *q)
{
    struct oracle_pace few = oracle_pace(g, q, 24), many = oracle_pace(g, q, 49);
    if (few.verdict == ORACLE_UNKNOWN || many.verdict == ORACLE_UNKNOWN) return true;
    if (few.iterations * many.cycles < many.iterations * few.cycles)
        return pace->kind == THROUGHPUT_UNBOUNDED;
    return pace->kind == THROUGHPUT_RATIO &&
           pace->iterations * (uint64_t)many.cycles == (uint64_t)many.iterations * pace->cycles;
}

static const char *judge_paces(const struct graph *graph, const struct oracle_graph *g,
                               const long *q)
{
    struct arena *arena = arena_create();
    struct performance found = performance_measure(arena, graph, true);
    struct oracle_graph free = *g, ports = *g; /* ports hold any number of packets */
    for (int b = 0; b < free.buffer_count; b++) {
        free.buffers[b].depth = 0;
        if (g->nodes[g->buffers[b].writer].outside) ports.buffers[b].depth = 0;
    }
    const char *wrong = !agrees(&found.at_depths, &ports, q)  ? "the pace at the depths"
                        : !agrees(&found.unlimited, &free, q) ? "the pace without limits"
                                                              : NULL;
    arena_destroy(arena);
    return wrong;
}

/* False: not for the oracle. */
static bool judge(const struct graph *graph, const char **wrong)
{
    struct oracle_graph g;
    int buffer_of[ORACLE_BUFFERS];
    long q[ORACLE_NODES];
    if (!take_graph(graph, &g, buffer_of) || g.buffer_count == 0) return false;
    *wrong = "repetitions";
    if (!oracle_repetitions(&g, CYCLES_MOST, q)) return true;
    for (uint32_t n = 0; n < graph->nodes.count; n++)
        if (q[n] != (long)graph->nodes.items[n].repetitions) return true;
    for (int n = 0; n < g.node_count; n++)
        if (q[n] > REPETITIONS_MOST) return false;
    *wrong = judge_depths(graph, &g, q, buffer_of);
    if (!*wrong && graph->nodes.count > 1) *wrong = judge_paces(graph, &g, q);
    return true;
}

static void judge_all(const char *pattern, size_t least)
{
    const char *root = getenv("ROOT");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", pattern);
    glob_t found;
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    size_t judged = 0, failed = 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *wrong = NULL;
        struct program p = compile_file(found.gl_pathv[i]);
        if (p.graph && judge(p.graph, &wrong)) judged++;
        if (wrong) print_message("%s: %s\n", found.gl_pathv[i], wrong);
        failed += wrong != NULL;
        arena_destroy(p.cx.arena);
    }
    print_message("%zu of %zu programs judged\n", judged, found.gl_pathc);
    globfree(&found);
    assert_int_equal(failed, 0);
    assert_true(judged >= least);
}

static void programs_of_the_language_are_understood_alike(void **state)
{
    (void)state;
    judge_all("tests/lang/*.pipe", 30);
}

static void graphs_of_the_literature_are_understood_alike(void **state)
{
    (void)state;
    judge_all("tests/literature/*.pipe", 9);
}

static void examples_are_understood_alike(void **state)
{
    (void)state;
    judge_all("examples/*/*.pipe", 1);
}

TEST_MAIN("programs", cmocka_unit_test(programs_of_the_language_are_understood_alike),
          cmocka_unit_test(graphs_of_the_literature_are_understood_alike),
          cmocka_unit_test(examples_are_understood_alike))
