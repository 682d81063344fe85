/* SPDX-License-Identifier: MIT */
#include "compiler/emit/fused_tables.h"

#include "compiler/ir/graph_origin.h"

struct fused {
    struct arena *arena;
    const struct graph *graph;
    const struct graph *written;
    const struct graph_origin *origin;
    const struct prt_container *tables;
    bool *varies;      /* by node of `written`: the data decide how often it fires */
    uint32_t *nodes;   /* by node of `written`: in FUSED_NODES, or GRAPH_NONE */
    uint32_t *buffers; /* by buffer of `written`: in FUSED_BUFFERS, or GRAPH_NONE */
    struct fused_tables made;
};

static bool is_recorded(const struct fused *f, uint32_t node)
{
    return node != GRAPH_NONE && f->origin->nodes[node].fused && !f->varies[node];
}

/* ---- where a fused node reads ---- */

static bool reads_alike(const struct graph_node *reader, const struct graph_input *in,
                        const struct kernel_port *port)
{
    const struct kernel_port *other = &reader->kernel->in[in->kernel_port];
    return other->window_width == port->window_width &&
           other->window_height == port->window_height &&
           (port->window_width == 0 || other->border == port->border);
}

/* An input of the node of the graph that reads the buffer through such a port: in INPUTS, or GRAPH_NONE. */
static uint32_t input_through(const struct fused *f, uint32_t node, uint32_t buffer,
                              const struct kernel_port *port)
{
    const struct graph_node *of = &f->graph->nodes.items[node];
    for (uint32_t i = 0; i < of->inputs.count; i++)
        if (of->inputs.items[i].buffer == buffer && reads_alike(of, &of->inputs.items[i], port))
            return f->tables->nodes[node].first_input + i;
    return GRAPH_NONE;
}

/* The input through which the node that executes `node` reads the packets of its input `in`: its own, or one of a
 * node that interleaves packets for it.  GRAPH_NONE: the packets are made in it, or before it by a fused node. */
static uint32_t real_input(const struct fused *f, uint32_t node, const struct graph_input *in)
{
    const struct graph_buffer *buffer = &f->written->buffers.items[in->buffer];
    const struct kernel_port *port = &f->written->nodes.items[node].kernel->in[in->kernel_port];
    uint32_t place = f->origin->nodes[node].node, at = f->origin->buffers[in->buffer];
    if (at == GRAPH_NONE) return GRAPH_NONE;
    if (buffer->writer_node != GRAPH_NONE && f->origin->nodes[buffer->writer_node].node == place)
        return GRAPH_NONE;
    uint32_t found = input_through(f, place, at, port);
    const struct graph_node *of = &f->graph->nodes.items[place];
    for (size_t i = 0; i < of->inputs.count && found == GRAPH_NONE; i++) {
        uint32_t before = f->graph->buffers.items[of->inputs.items[i].buffer].writer_node;
        if (before != GRAPH_NONE && !graph_is_written_node(f->graph, before))
            found = input_through(f, before, at, port);
    }
    return found;
}

/* ---- firings that the data decide ---- */

static bool writes_varying(const struct fused *f, const struct graph_buffer *buffer)
{
    const struct graph_output *out = graph_writer(f->written, buffer);
    return out != NULL && f->origin->nodes[buffer->writer_node].fused &&
           (out->push_least != out->push || f->varies[buffer->writer_node]);
}

static bool node_reads_varying(const struct fused *f, uint32_t node)
{
    const struct graph_node *of = &f->written->nodes.items[node];
    bool varies = false;
    for (size_t i = 0; i < of->inputs.count; i++) {
        const struct graph_input *in = &of->inputs.items[i];
        varies |= writes_varying(f, &f->written->buffers.items[in->buffer]) &&
                  real_input(f, node, in) == GRAPH_NONE;
    }
    return varies;
}

static void find_varying_nodes(struct fused *f)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < f->written->nodes.count; i++) {
            if (!f->origin->nodes[i].fused || f->varies[i] || !node_reads_varying(f, i)) continue;
            f->varies[i] = more = true;
        }
    }
}

/* ---- buffers ---- */

static bool is_read_between(const struct fused *f, uint32_t index)
{
    const struct graph_buffer *buffer = &f->written->buffers.items[index];
    if (!is_recorded(f, buffer->writer_node)) return false;
    for (size_t r = 0; r < buffer->readers.count; r++) {
        const struct graph_reader *reader = &buffer->readers.items[r];
        const struct graph_node *of = &f->written->nodes.items[reader->node];
        if (is_recorded(f, reader->node) &&
            real_input(f, reader->node, &of->inputs.items[reader->input]) == GRAPH_NONE)
            return true;
    }
    return false;
}

/* Do packets of the buffer's readers reach its writer? */
static bool goes_round(const struct fused *f, const struct graph_buffer *buffer)
{
    const struct graph *graph = f->written;
    bool *seen = ARENA_ARRAY(f->arena, bool, graph->nodes.count + 1);
    VEC(uint32_t) reached = {0};
    for (size_t r = 0; r < buffer->readers.count; r++)
        vec_push(f->arena, &reached, buffer->readers.items[r].node);
    while (reached.count > 0) {
        uint32_t node = reached.items[--reached.count];
        const struct graph_node *of = &graph->nodes.items[node];
        if (seen[node]) continue;
        seen[node] = true;
        for (size_t o = 0; o < of->outputs.count; o++) {
            const struct graph_buffer *next = &graph->buffers.items[of->outputs.items[o].buffer];
            for (size_t r = 0; r < next->readers.count; r++)
                vec_push(f->arena, &reached, next->readers.items[r].node);
        }
    }
    return seen[buffer->writer_node];
}

/* The buffer itself, or the next one that the graph still has. */
static uint32_t place_in_order(const struct fused *f, uint32_t index)
{
    for (uint32_t i = index; i < f->written->buffers.count; i++)
        if (f->origin->buffers[i] != GRAPH_NONE) return f->origin->buffers[i];
    return (uint32_t)f->graph->buffers.count;
}

static void add_fused_buffer(struct fused *f, uint32_t index)
{
    const struct graph_buffer *buffer = &f->written->buffers.items[index];
    const struct graph_output *out = graph_writer(f->written, buffer);
    struct container_fused_buffer record = {.buffer = place_in_order(f, index),
                                            .writer = f->nodes[buffer->writer_node],
                                            .push = out->push,
                                            .finish_max = out->finish_max,
                                            .initial_packets = buffer->initial.packets};
    if (f->origin->buffers[index] != GRAPH_NONE) record.flags |= CONTAINER_FUSED_BUFFER_KEPT;
    if (buffer->initial.packets > 0 && goes_round(f, buffer))
        record.flags |= CONTAINER_FUSED_BUFFER_CYCLE;
    f->buffers[index] = (uint32_t)vec_push(f->arena, &f->made.buffers, record);
    vec_push(f->arena, &f->made.buffer_names, buffer->name);
}

/* ---- nodes ---- */

static void add_fused_node(struct fused *f, uint32_t index)
{
    const struct graph_node *node = &f->written->nodes.items[index];
    bool sees_tail = node->kernel->finish != NULL && node->inputs.count == 1;
    struct container_fused_node record = {.node = f->origin->nodes[index].node,
                                          .input_count = (uint32_t)node->inputs.count,
                                          .flags = sees_tail ? CONTAINER_FUSED_SEES_TAIL : 0};
    f->nodes[index] = (uint32_t)vec_push(f->arena, &f->made.nodes, record);
    vec_push(f->arena, &f->made.node_names, node->name);
}

static void add_fused_inputs(struct fused *f, uint32_t index)
{
    const struct graph_node *node = &f->written->nodes.items[index];
    f->made.nodes.items[f->nodes[index]].first_input = (uint32_t)f->made.inputs.count;
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        bool window = node->kernel->in[in->kernel_port].window_width > 0;
        struct container_fused_input record = {.input = real_input(f, index, in),
                                               .buffer = CONTAINER_NONE,
                                               .pop = in->pop,
                                               .peek = window ? 1 : in->peek};
        if (record.input == GRAPH_NONE) record.buffer = f->buffers[in->buffer];
        vec_push(f->arena, &f->made.inputs, record);
    }
}

/* ---- firings ---- */

/* Packets of a firing of `owner`, where it writes what `node` reads, as packets of a firing of `node`. */
static uint64_t scale_packets(const struct fused *f, uint32_t node, uint32_t owner,
                              uint64_t packets)
{
    const struct container_node *of = &f->tables->nodes[node];
    if (owner == node) return packets;
    for (uint32_t i = 0; i < of->input_count; i++) {
        const struct container_input *in = &f->tables->inputs[of->first_input + i];
        const struct container_buffer *between = &f->tables->buffers[in->buffer];
        if (between->writer_node == owner)
            return packets * in->pop / f->tables->outputs[between->writer_output].push;
    }
    return 0;
}

/* Packets of a firing of the node from a buffer that it writes itself: it goes round, perhaps without any in-port. */
static uint64_t packets_of_kept(const struct fused *f, uint32_t node, uint32_t buffer)
{
    const struct container_node *of = &f->tables->nodes[node];
    for (uint32_t i = 0; i < of->input_count; i++) {
        const struct container_input *in = &f->tables->inputs[of->first_input + i];
        if (in->buffer == buffer) return in->pop;
    }
    return 0;
}

/* Packets that the input gets in a firing of the node; 0: they are not known yet. */
static uint64_t packets_of_input(const struct fused *f, const struct container_fused_node *node,
                                 const struct container_fused_input *in)
{
    if (in->input != CONTAINER_NONE) {
        const struct container_input *of = &f->tables->inputs[in->input];
        return scale_packets(f, node->node, f->tables->readers[of->reader].node, of->pop);
    }
    const struct container_fused_buffer *buffer = &f->made.buffers.items[in->buffer];
    const struct container_fused_node *writer = &f->made.nodes.items[buffer->writer];
    bool kept = (buffer->flags & CONTAINER_FUSED_BUFFER_KEPT) != 0;
    if (kept && writer->firings == 0) return packets_of_kept(f, node->node, buffer->buffer);
    return scale_packets(f, node->node, writer->node, writer->firings * buffer->push);
}

static uint64_t firings_by_inputs(const struct fused *f, const struct container_fused_node *node)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct container_fused_input *in = &f->made.inputs.items[node->first_input + i];
        uint64_t packets = packets_of_input(f, node, in);
        if (packets > 0) return packets / in->pop;
    }
    return 0;
}

static void count_fused_firings(struct fused *f)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t n = 0; n < f->made.nodes.count; n++) {
            struct container_fused_node *node = &f->made.nodes.items[n];
            if (node->firings > 0) continue;
            node->firings = firings_by_inputs(f, node);
            more |= node->firings > 0;
        }
    }
}

/* ---- all ---- */

struct fused_tables fused_tables_build(struct arena *arena, const struct graph *graph,
                                       const struct prt_container *tables)
{
    const struct graph_origin *origin = graph->origin;
    if (origin == NULL) return (struct fused_tables){0};
    const struct graph *written = origin->written;
    struct fused f = {.arena = arena,
                      .graph = graph,
                      .written = written,
                      .origin = origin,
                      .tables = tables,
                      .varies = ARENA_ARRAY(arena, bool, written->nodes.count + 1),
                      .nodes = ARENA_ARRAY(arena, uint32_t, written->nodes.count + 1),
                      .buffers = ARENA_ARRAY(arena, uint32_t, written->buffers.count + 1)};
    find_varying_nodes(&f);
    for (uint32_t i = 0; i < written->nodes.count; i++) {
        f.nodes[i] = GRAPH_NONE;
        if (is_recorded(&f, i)) add_fused_node(&f, i);
    }
    for (uint32_t i = 0; i < written->buffers.count; i++) {
        f.buffers[i] = GRAPH_NONE;
        if (is_read_between(&f, i)) add_fused_buffer(&f, i);
    }
    for (uint32_t i = 0; i < written->nodes.count; i++)
        if (f.nodes[i] != GRAPH_NONE) add_fused_inputs(&f, i);
    count_fused_firings(&f);
    return f.made;
}
