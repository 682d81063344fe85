/* SPDX-License-Identifier: MIT */
/*
 * graph_fixture: builds graphs without the language, for the tests of the analyses and the plan.
 *
 * The i-th node and the i-th buffer have line i + 1 of a source of their own as their place.
 * Everything lives until fixture_free.
 */
#ifndef TESTS_GRAPH_FIXTURE_H
#define TESTS_GRAPH_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/diagnostics/diag_set.h"
#include "compiler/ir/graph.h"

struct fixture {
    struct compile cx;
    struct graph graph;
    uint32_t source;
};

#define FIXTURE_LINES ((size_t)30000)

static inline struct fixture *fixture_new(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->cx.arena = arena_create();
    f->cx.sources = sources_create(f->cx.arena);
    f->cx.diags = diags_create(f->cx.arena, f->cx.sources);
    f->graph.name = "test";
    f->graph.types = types_create(f->cx.arena);
    char *text = malloc(FIXTURE_LINES * 2);
    for (size_t i = 0; i < FIXTURE_LINES * 2; i++)
        text[i] = i % 2 ? '\n' : 'x';
    f->source = source_add(f->cx.sources, "test.pipe", text, FIXTURE_LINES * 2);
    f->graph.span = (struct span){f->source, 0, 1};
    free(text);
    return f;
}

static inline void fixture_free(struct fixture *f)
{
    arena_destroy(f->cx.arena);
    free(f);
}

static inline struct span fixture_span(const struct fixture *f, size_t line)
{
    uint32_t at = (uint32_t)(line % FIXTURE_LINES) * 2;
    return (struct span){f->source, at, at + 1};
}

static inline uint32_t fixture_node(struct fixture *f, const char *name)
{
    struct kernel *kernel = ARENA_NEW(f->cx.arena, struct kernel);
    kernel->name = kernel->title = "k";
    kernel->phases = 1;
    struct graph_node node = {.name = arena_printf(f->cx.arena, "%s", name),
                              .span = fixture_span(f, f->graph.nodes.count),
                              .kernel = kernel,
                              .cost_cycles = 1};
    return graph_add_node(&f->cx, &f->graph, node);
}

static inline uint32_t fixture_buffer(struct fixture *f, const char *name, uint64_t initial,
                                      uint64_t depth)
{
    struct graph_buffer buffer = {.name = arena_printf(f->cx.arena, "%s", name),
                                  .span = fixture_span(f, f->graph.buffers.count),
                                  .type = type_scalar(f->graph.types, SCALAR_F32),
                                  .width_bytes = 4,
                                  .writer_node = GRAPH_NONE,
                                  .initial.packets = initial,
                                  .depth_declared = depth > 0,
                                  .depth_packets = depth};
    buffer.depth_span = buffer.span;
    return graph_add_buffer(&f->cx, &f->graph, buffer);
}

static inline uint32_t fixture_port(struct fixture *f, const char *name, enum graph_outer outer)
{
    uint32_t buffer = fixture_buffer(f, name, 0, 0);
    f->graph.buffers.items[buffer].outer = outer;
    return buffer;
}

static inline void fixture_read(struct fixture *f, uint32_t node, uint32_t buffer, uint64_t pop,
                                uint64_t peek)
{
    struct graph_input in = {.port = "x",
                             .span = f->graph.nodes.items[node].span,
                             .buffer = buffer,
                             .pop = pop,
                             .peek = peek};
    graph_connect_input(&f->cx, &f->graph, node, in);
}

static inline void fixture_write(struct fixture *f, uint32_t node, uint32_t buffer, uint64_t push)
{
    struct graph_output out = {.port = "y",
                               .span = f->graph.nodes.items[node].span,
                               .buffer = buffer,
                               .push_least = push,
                               .push = push};
    graph_connect_output(&f->cx, &f->graph, node, out);
}

/* A buffer from one node to another, without peek. */
static inline uint32_t fixture_edge(struct fixture *f, const char *name, uint32_t from,
                                    uint64_t push, uint32_t to, uint64_t pop, uint64_t initial,
                                    uint64_t depth)
{
    uint32_t buffer = fixture_buffer(f, name, initial, depth);
    fixture_write(f, from, buffer, push);
    fixture_read(f, to, buffer, pop, pop);
    return buffer;
}

/* The reported text; the caller frees it. */
static inline char *fixture_messages(struct fixture *f)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    diag_flush(f->cx.diags, to, false);
    fclose(to);
    return text;
}

/* The reported text contains `wanted`. */
static inline void fixture_expect_text(struct fixture *f, const char *wanted)
{
    char *text = fixture_messages(f);
    bool found = strstr(text, wanted) != NULL;
    if (!found) print_message("%s\n", text);
    free(text);
    assert_true(found);
}

static inline uint64_t fixture_repetitions(const struct fixture *f, uint32_t node)
{
    return f->graph.nodes.items[node].repetitions;
}

static inline uint64_t fixture_depth(const struct fixture *f, uint32_t buffer)
{
    return f->graph.buffers.items[buffer].depth_packets;
}

#endif
