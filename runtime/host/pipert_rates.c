/* SPDX-License-Identifier: MIT */
/*
 * The ratio of the rates of two ports (prt_program_port_ratio).  A walk from the first port follows all exact rates.  It
 * finds, for each packet of the first port, the packets of each buffer and the cycles of phases of each node.  Each node
 * and buffer is visited once.  A ratio whose terms do not fit 63 bits counts as not known.
 */
#include "lang/rational.h"
#include "runtime/host/pipert_run.h"

#include <stdlib.h>

struct walk {
    const struct prt_container *container;
    struct rational *cycles; /* per node: cycles of its phases, for each packet of the first port */
    struct rational *packets;  /* per buffer, likewise */
    uint32_t *nodes, *buffers; /* their ratio is known, and they are not visited yet */
    uint32_t node_count, buffer_count;
};

/* Multiplies by up / down; both are positive.  The result is not known if it does not fit. */
static struct rational scale_share(struct rational share, uint64_t up, uint64_t down)
{
    struct rational result = {0, 0};
    rational_scale(share, up, down, &result);
    return result;
}

static void know_node(struct walk *w, uint32_t node, struct rational cycles)
{
    if (!rational_is_known(cycles) || rational_is_known(w->cycles[node])) return;
    w->cycles[node] = cycles;
    w->nodes[w->node_count++] = node;
}

static void know_buffer(struct walk *w, uint32_t buffer, struct rational packets)
{
    if (!rational_is_known(packets) || rational_is_known(w->packets[buffer])) return;
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
                  scale_share(w->packets[index], 1, c->outputs[buffer->writer_output].push));
    for (uint32_t i = 0; i < buffer->reader_count; i++) {
        const struct container_reader *reader = &c->readers[buffer->first_reader + i];
        uint64_t pop = c->inputs[reader->input].pop;
        if (pop > 0) know_node(w, reader->node, scale_share(w->packets[index], 1, pop));
    }
}

static void visit_node(struct walk *w, uint32_t index)
{
    const struct prt_container *c = w->container;
    const struct container_node *node = &c->nodes[index];
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct container_input *input = &c->inputs[node->first_input + i];
        /* also if the rate of the writer is bounded: the rate of a reader determines the packets */
        if (input->pop > 0)
            know_buffer(w, input->buffer, scale_share(w->cycles[index], input->pop, 1));
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct container_output *output = &c->outputs[node->first_output + i];
        if (is_exact(output))
            know_buffer(w, output->buffer, scale_share(w->cycles[index], output->push, 1));
    }
}

static void follow_rates(struct walk *w, uint32_t from)
{
    know_buffer(w, from, (struct rational){1, 1});
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
        follow_rates(&w, program->ports[from_port]);
        struct rational packets = w.packets[program->ports[to_port]];
        *ratio = (struct prt_ratio){(uint64_t)packets.numerator, (uint64_t)packets.denominator};
    }
    free(w.cycles);
    free(w.packets);
    free(w.nodes);
    free(w.buffers);
    return room ? PRT_OK : prt_error_set(error, PRT_E_NOMEM, "out of memory");
}
