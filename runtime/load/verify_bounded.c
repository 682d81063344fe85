/*
 * Buffers with bounded rates.
 *
 * What such a buffer holds after so many firings nobody knows, so no balance says that its reader
 * and the rest of the pipeline wait for each other in turn only.  But where the buffer is the only
 * way from its writer to its readers (its writer's end is a *bridge* of the undirected graph; the
 * readers may well be joined again), neither side can wait for the other by a detour, and one of
 * the two can always go on if the buffer has room for a firing of the writer while the reader holds
 * one packet less than it needs.
 *
 * The graph: nodes and buffers are vertices, their ends are edges.  Tarjan (1974), without
 * recursion: linear in the file.
 */
#include "runtime/load/verify_internal.h"

#include <inttypes.h>
#include <stdlib.h>

struct search {
    const struct prt_container *c;
    uint32_t *order;  /* per vertex: when it was found, from 1; 0: not yet */
    uint32_t *low;    /* per vertex: the earliest that its subtree reaches by one edge back */
    uint32_t *via;    /* per vertex: edge by which it was found */
    uint32_t *cursor; /* per vertex: neighbours looked at */
    uint32_t *stack;
    uint8_t *bridges; /* per edge: inputs, then outputs */
    uint32_t found;
};

/* Vertices: nodes, then buffers. */
static uint32_t degree(const struct prt_container *c, uint32_t vertex)
{
    if (vertex < c->node_count) return c->nodes[vertex].input_count + c->nodes[vertex].output_count;
    const struct container_buffer *buffer = &c->buffers[vertex - c->node_count];
    return buffer->reader_count + (buffer->writer_node != CONTAINER_NONE);
}

/* The k-th edge of a vertex, and where it leads. */
static uint32_t edge_at(const struct prt_container *c, uint32_t vertex, uint32_t k, uint32_t *edge)
{
    if (vertex < c->node_count) {
        const struct container_node *node = &c->nodes[vertex];
        if (k < node->input_count) {
            *edge = node->first_input + k;
            return c->node_count + c->inputs[*edge].buffer;
        }
        uint32_t output = node->first_output + k - node->input_count;
        *edge = c->input_count + output;
        return c->node_count + c->outputs[output].buffer;
    }
    const struct container_buffer *buffer = &c->buffers[vertex - c->node_count];
    if (k < buffer->reader_count) {
        const struct container_reader *reader = &c->readers[buffer->first_reader + k];
        *edge = reader->input;
        return reader->node;
    }
    *edge = c->input_count + buffer->writer_output;
    return buffer->writer_node;
}

static void discover(struct search *s, uint32_t vertex, uint32_t edge, uint32_t *depth)
{
    s->order[vertex] = s->low[vertex] = ++s->found;
    s->via[vertex] = edge;
    s->stack[(*depth)++] = vertex;
}

static void lower(struct search *s, uint32_t vertex, uint32_t to)
{
    if (to < s->low[vertex]) s->low[vertex] = to;
}

/* Everything that is joined to the vertex. */
static void search_from(struct search *s, uint32_t root)
{
    uint32_t depth = 0;
    discover(s, root, UINT32_MAX, &depth);
    while (depth > 0) {
        uint32_t vertex = s->stack[depth - 1], edge;
        if (s->cursor[vertex] < degree(s->c, vertex)) {
            uint32_t other = edge_at(s->c, vertex, s->cursor[vertex]++, &edge);
            if (edge == s->via[vertex]) continue;
            if (s->order[other] == 0)
                discover(s, other, edge, &depth);
            else
                lower(s, vertex, s->order[other]);
            continue;
        }
        depth--;
        if (depth == 0) break;
        uint32_t parent = s->stack[depth - 1];
        lower(s, parent, s->low[vertex]);
        s->bridges[s->via[vertex]] = s->low[vertex] > s->order[parent];
    }
}

static enum prt_status verify_reader(const struct search *s, uint32_t index, uint32_t reader_index,
                                     struct prt_error *error)
{
    const struct prt_container *c = s->c;
    const struct container_buffer *buffer = &c->buffers[index];
    const struct container_reader *reader = &c->readers[reader_index];
    const struct container_node *writer = &c->nodes[buffer->writer_node];
    const struct container_output *output = &c->outputs[buffer->writer_output];
    const char *name = prt_verify_text(c, buffer->name);
    CHECK(s->bridges[c->input_count + buffer->writer_output], BUFFERS, index,
          "'%s' has a bounded rate and lies on a cycle of the graph: '%s' and '%s' could wait for "
          "each other",
          name, prt_verify_text(c, writer->name), prt_verify_text(c, c->nodes[reader->node].name));
    uint64_t most = prt_verify_most(c, writer, output);
    if (writer->flags & CONTAINER_NODE_FINISH && output->finish_max > most)
        most = output->finish_max;
    uint64_t waiting = prt_verify_needs(c, &c->inputs[reader->input]);
    waiting -= waiting > 0; /* one less than it needs */
    CHECK(most <= buffer->depth_packets - waiting, BUFFERS, index,
          "'%s' holds %" PRIu64 " packets: too few for the %" PRIu64
          " of a firing while '%s' waits "
          "with %" PRIu64,
          name, buffer->depth_packets, most, prt_verify_text(c, c->nodes[reader->node].name),
          waiting);
    return PRT_OK;
}

static bool is_bounded(const struct prt_container *c, const struct container_buffer *buffer)
{
    return buffer->writer_node != CONTAINER_NONE &&
           !prt_verify_is_exact(c, &c->outputs[buffer->writer_output]);
}

static enum prt_status verify_all(const struct search *s, struct prt_error *error)
{
    const struct prt_container *c = s->c;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const struct container_buffer *buffer = &c->buffers[i];
        for (uint32_t k = 0; is_bounded(c, buffer) && k < buffer->reader_count; k++) {
            enum prt_status status = verify_reader(s, i, buffer->first_reader + k, error);
            if (status != PRT_OK) return status;
        }
    }
    return PRT_OK;
}

enum prt_status prt_verify_bounded(const struct prt_container *c, struct prt_error *error)
{
    if (c->pipeline->flags & CONTAINER_PIPELINE_UNPROVEN) return PRT_OK;
    size_t vertices = (size_t)c->node_count + c->buffer_count;
    size_t edges = (size_t)c->input_count + c->output_count;
    uint32_t *numbers = calloc(vertices * 5 + 1, sizeof *numbers);
    struct search s = {.c = c, .bridges = calloc(edges + 1, 1)};
    enum prt_status status = PRT_OK;
    if (numbers == NULL || s.bridges == NULL) {
        status = prt_error_set(error, PRT_E_NOMEM, "out of memory");
    } else {
        s.order = numbers;
        s.low = s.order + vertices;
        s.via = s.low + vertices;
        s.cursor = s.via + vertices;
        s.stack = s.cursor + vertices;
        for (uint32_t i = 0; i < vertices; i++) {
            if (s.order[i] == 0) search_from(&s, i);
        }
        status = verify_all(&s, error);
    }
    free(numbers);
    free(s.bridges);
    return status;
}
