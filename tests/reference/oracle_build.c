/* SPDX-License-Identifier: MIT */
#include "tests/reference/oracle_build.h"

static const uint64_t *list(struct fixture *f, const long *each, int phases)
{
    uint64_t *copy = ARENA_ARRAY(f->cx.arena, uint64_t, (size_t)phases);
    for (int p = 0; p < phases; p++)
        copy[p] = (uint64_t)each[p];
    return phases > 1 ? copy : NULL;
}

static uint64_t sum(const long *each, int phases)
{
    uint64_t all = 0;
    for (int p = 0; p < phases; p++)
        all += (uint64_t)each[p];
    return all;
}

static uint64_t most(const long *each, int phases)
{
    uint64_t best = 0;
    for (int p = 0; p < phases; p++)
        if ((uint64_t)each[p] > best) best = (uint64_t)each[p];
    return best;
}

static void build_writer(struct fixture *f, const struct oracle_graph *g, int b, uint32_t node)
{
    const struct oracle_buffer *buffer = &g->buffers[b];
    int phases = g->nodes[buffer->writer].phases;
    fixture_write(f, node, (uint32_t)b, sum(buffer->push, phases));
    struct graph_output *out =
        &f->graph.nodes.items[node].outputs.items[f->graph.buffers.items[b].writer_output];
    out->pushes = out->push_leasts = list(f, buffer->push, phases);
}

static void build_reader(struct fixture *f, const struct oracle_graph *g, int b, int r,
                         uint32_t node)
{
    const struct oracle_reader *reader = &g->buffers[b].readers[r];
    int phases = g->nodes[reader->node].phases;
    fixture_read(f, node, (uint32_t)b, sum(reader->pop, phases), most(reader->peek, phases));
    uint32_t input = f->graph.buffers.items[b].readers.items[r].input;
    struct graph_input *in = &f->graph.nodes.items[node].inputs.items[input];
    in->pops = list(f, reader->pop, phases);
    in->peeks = list(f, reader->peek, phases);
    in->history = (uint64_t)reader->keep;
}

struct fixture *oracle_build(const struct oracle_graph *g, uint32_t *index)
{
    struct fixture *f = fixture_new();
    char name[16];
    for (int n = 0; n < g->node_count; n++) {
        index[n] = GRAPH_NONE;
        if (g->nodes[n].outside) continue;
        snprintf(name, sizeof name, "n%d", n);
        index[n] = fixture_node(f, name);
        struct graph_node *node = &f->graph.nodes.items[index[n]];
        node->kernel->phases = (uint32_t)g->nodes[n].phases;
        node->cost_cycles = (uint64_t)g->nodes[n].cost;
        node->stateful = g->nodes[n].stateful;
    }
    for (int b = 0; b < g->buffer_count; b++) {
        const struct oracle_buffer *buffer = &g->buffers[b];
        snprintf(name, sizeof name, "b%d", b);
        fixture_buffer(f, name, (uint64_t)buffer->initial,
                       buffer->declared ? (uint64_t)buffer->depth : 0);
        f->graph.buffers.items[b].width_bytes = (uint64_t)buffer->width;
        if (g->nodes[buffer->writer].outside)
            f->graph.buffers.items[b].outer = GRAPH_OUTER_IN;
        else
            build_writer(f, g, b, index[buffer->writer]);
        for (int r = 0; r < buffer->reader_count; r++)
            build_reader(f, g, b, r, index[buffer->readers[r].node]);
    }
    return f;
}
