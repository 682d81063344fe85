/*
 * How fast two ports of a program are, compared: followed through the graph from one port to all that exact rates connect
 * with it, each firing cycle and each buffer with its share of the first port's packets.  Each node and buffer is visited
 * once; a share that does not fit 64 bits is treated as one that is not fixed.
 */
#include "runtime/host/pipert_run.h"

#include <stdlib.h>

/* In lowest terms; denominator 0: not known (yet). */
typedef struct prt_ratio share;

struct walk {
    const struct prt_container *container;
    share *cycles;  /* of each node: its phases once, for each packet of the first port */
    share *packets; /* of each buffer */
    uint32_t *nodes, *buffers; /* known, and not visited */
    uint32_t node_count, buffer_count;
};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* share x up / down; both are positive. */
static share scaled(share s, uint64_t up, uint64_t down)
{
    uint64_t a = common_divisor(s.numerator, down), b = common_divisor(up, s.denominator);
    share result;
    if (__builtin_mul_overflow(s.numerator / a, up / b, &result.numerator) ||
        __builtin_mul_overflow(s.denominator / b, down / a, &result.denominator))
        return (share){0, 0};
    return result;
}

static void know_node(struct walk *w, uint32_t node, share cycles)
{
    if (cycles.denominator == 0 || w->cycles[node].denominator != 0) return;
    w->cycles[node] = cycles;
    w->nodes[w->node_count++] = node;
}

static void know_buffer(struct walk *w, uint32_t buffer, share packets)
{
    if (packets.denominator == 0 || w->packets[buffer].denominator != 0) return;
    w->packets[buffer] = packets;
    w->buffers[w->buffer_count++] = buffer;
}

static bool is_exact(const struct container_output *output)
{
    return output->push_least == output->push && output->push > 0;
}

static void visit_buffer(struct walk *w, uint32_t index)
{
    const struct prt_container *c = w->container;
    const struct container_buffer *buffer = &c->buffers[index];
    if (buffer->writer_node != CONTAINER_NONE && is_exact(&c->outputs[buffer->writer_output]))
        know_node(w, buffer->writer_node,
                  scaled(w->packets[index], 1, c->outputs[buffer->writer_output].push));
    for (uint32_t i = 0; i < buffer->reader_count; i++) {
        const struct container_reader *reader = &c->readers[buffer->first_reader + i];
        uint64_t pop = c->inputs[reader->input].pop;
        if (pop > 0) know_node(w, reader->node, scaled(w->packets[index], 1, pop));
    }
}

static void visit_node(struct walk *w, uint32_t index)
{
    const struct prt_container *c = w->container;
    const struct container_node *node = &c->nodes[index];
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct container_input *input = &c->inputs[node->first_input + i];
        /* Packets that a writer of a bounded rate makes are not bound to its firings; its readers still say how many. */
        if (input->pop > 0) know_buffer(w, input->buffer, scaled(w->cycles[index], input->pop, 1));
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct container_output *output = &c->outputs[node->first_output + i];
        if (is_exact(output))
            know_buffer(w, output->buffer, scaled(w->cycles[index], output->push, 1));
    }
}

static void follow(struct walk *w, uint32_t from)
{
    know_buffer(w, from, (share){1, 1});
    while (w->buffer_count > 0 || w->node_count > 0) {
        if (w->buffer_count > 0)
            visit_buffer(w, w->buffers[--w->buffer_count]);
        else
            visit_node(w, w->nodes[--w->node_count]);
    }
}

enum prt_status prt_program_port_ratio(const struct prt_program *program, uint32_t from_port,
                                       uint32_t to_port, struct prt_ratio *ratio,
                                       struct prt_error *error)
{
    const struct prt_container *c = &program->container;
    *ratio = (struct prt_ratio){0, 0};
    if (from_port >= program->port_count || to_port >= program->port_count)
        return prt_error_set(error, PRT_E_USAGE, "there is no such port");
    struct walk w = {.container = c,
                     .cycles = calloc((size_t)c->node_count + 1, sizeof *w.cycles),
                     .packets = calloc((size_t)c->buffer_count + 1, sizeof *w.packets),
                     .nodes = calloc((size_t)c->node_count + 1, sizeof *w.nodes),
                     .buffers = calloc((size_t)c->buffer_count + 1, sizeof *w.buffers)};
    bool room = w.cycles != NULL && w.packets != NULL && w.nodes != NULL && w.buffers != NULL;
    if (room) {
        follow(&w, program->ports[from_port]);
        *ratio = w.packets[program->ports[to_port]];
    }
    free(w.cycles);
    free(w.packets);
    free(w.nodes);
    free(w.buffers);
    return room ? PRT_OK : prt_error_set(error, PRT_E_NOMEM, "out of memory");
}
