/* SPDX-License-Identifier: MIT */
/*
 * Shapes spread from the buffers that declare one, along the stream, through kernels that read and write
 * one packet per firing.  Each buffer gets a shape once, so the work is linear in the graph.
 */
#include "compiler/bodies/shape.h"

#include <inttypes.h>
#include <string.h>

#include "lang/window.h"

/* ---- words ---- */

static const char *shape_text(struct arena *arena, const struct graph_shape *shape)
{
    if (shape->frame_rows == 0) return arena_printf(arena, "rows of %" PRIu64, shape->row_packets);
    return arena_printf(arena, "frames of %" PRIu64 "x%" PRIu64, shape->row_packets,
                        shape->frame_rows);
}

static bool has_shape(const struct graph_buffer *buffer)
{
    return buffer->shape.row_packets > 0;
}

static bool same_shape(const struct graph_shape *a, const struct graph_shape *b)
{
    return a->row_packets == b->row_packets && a->frame_rows == b->frame_rows;
}

/* ---- spreading ---- */

static bool takes_one(const struct graph_node *node, const struct graph_input *input)
{
    const struct kernel_port *port = &node->kernel->in[input->kernel_port];
    return port->pop == 1 && port->pops == NULL;
}

/* The input of `node` that has given its shape to the buffer. */
static const struct graph_input *shape_origin(const struct graph *graph,
                                              const struct graph_node *node,
                                              const struct graph_shape *shape)
{
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *input = &node->inputs.items[i];
        const struct graph_buffer *buffer = &graph->buffers.items[input->buffer];
        if (takes_one(node, input) && has_shape(buffer) && same_shape(&buffer->shape, shape))
            return input;
    }
    return NULL;
}

static void report_conflict(struct compile *cx, const struct graph *graph,
                            const struct graph_node *node, const struct graph_input *input,
                            const struct graph_buffer *to)
{
    const struct graph_buffer *from = &graph->buffers.items[input->buffer];
    const struct graph_input *other = shape_origin(graph, node, &to->shape);
    struct diag *d;
    if (to->shape.declared || other == NULL) {
        d = diag_report(cx->diags, RULE_SHAPE_MISMATCH, input->span,
                        "'%s' passes the shape of '%s' (%s) on to '%s', which has another (%s)",
                        node->name, from->name, shape_text(cx->arena, &from->shape), to->name,
                        shape_text(cx->arena, &to->shape));
    } else {
        const struct graph_buffer *first = &graph->buffers.items[other->buffer];
        d = diag_report(
            cx->diags, RULE_SHAPE_MISMATCH, input->span,
            "'%s' takes a packet of '%s' (%s) with each of '%s' (%s): the shape of '%s' is "
            "ambiguous",
            node->name, from->name, shape_text(cx->arena, &from->shape), first->name,
            shape_text(cx->arena, &first->shape), to->name);
    }
    diag_label(d, to->shape.span, "%s", shape_text(cx->arena, &to->shape));
    diag_label(d, from->shape.span, "%s", shape_text(cx->arena, &from->shape));
}

struct passing {
    struct compile *cx;
    struct graph *graph;
    VEC(uint32_t) waiting; /* buffers whose shape is to be passed on */
    bool *reported;        /* by node: its inputs, or an output, have different shapes */
};

static void pass_to(struct passing *p, uint32_t from_node, const struct graph_input *input,
                    uint32_t target)
{
    const struct graph_buffer *from = &p->graph->buffers.items[input->buffer];
    struct graph_buffer *to = &p->graph->buffers.items[target];
    if (!has_shape(to)) {
        to->shape = from->shape;
        to->shape.declared = false;
        vec_push(p->cx->arena, &p->waiting, target);
    } else if (!same_shape(&from->shape, &to->shape) && !p->reported[from_node]) {
        p->reported[from_node] = true;
        report_conflict(p->cx, p->graph, &p->graph->nodes.items[from_node], input, to);
    }
}

static void pass_shape_on(struct passing *p, const struct graph_buffer *buffer)
{
    for (size_t r = 0; r < buffer->readers.count; r++) {
        const struct graph_reader *reader = &buffer->readers.items[r];
        const struct graph_node *node = &p->graph->nodes.items[reader->node];
        const struct graph_input *input = &node->inputs.items[reader->input];
        if (!takes_one(node, input)) continue;
        for (size_t o = 0; o < node->outputs.count; o++) {
            const struct graph_output *output = &node->outputs.items[o];
            const struct kernel_port *port = &node->kernel->out[output->kernel_port];
            if (port->push == 1 && port->push_least == 1 && port->pushes == NULL)
                pass_to(p, reader->node, input, output->buffer);
        }
    }
}

/* ---- windows ---- */

static void report_missing_shape(struct compile *cx, const struct graph *graph,
                                 const struct graph_node *node, const struct graph_input *input)
{
    const struct kernel_port *port = &node->kernel->in[input->kernel_port];
    const struct graph_buffer *buffer = &graph->buffers.items[input->buffer];
    const char *type = type_text(cx->arena, buffer->type);
    struct diag *d = diag_report(cx->diags, RULE_SHAPE_MISSING, input->span,
                                 "'%s' sees a window of %ux%u packets of '%s', which has no rows",
                                 node->name, port->window_width, port->window_height, buffer->name);
    diag_label(d, port->window_span, "the window");
    if (buffer->writer_node != GRAPH_NONE) {
        const struct graph_node *writer = &graph->nodes.items[buffer->writer_node];
        diag_note(d,
                  "a shape passes through kernels that consume one packet and append one per "
                  "firing; none "
                  "passes through '%s'",
                  writer->name);
    }
    /* The subject of a test: its buffers are its own ports. */
    bool alone = buffer->span.source == port->span.source && buffer->span.begin == port->span.begin;
    const char *kind = buffer->outer == GRAPH_INNER ? "buffer" : "in";
    if (alone)
        diag_help(d,
                  "make the subject of the test a pipeline whose port has 'rows W' or 'frame WxH'");
    else if (strstr(buffer->name, "->") != NULL)
        diag_help(d,
                  "put a buffer there that has a name: 'buffer %s pixels rows W;', or 'frame WxH'",
                  type);
    else if (strchr(buffer->name, '[') != NULL)
        diag_help(d, "declare it where the buffers are declared: 'rows W', or 'frame WxH'");
    else
        diag_help(d, "declare it: '%s %s %s rows W', or 'frame WxH'", kind, type, buffer->name);
}

static bool check_wrap(struct compile *cx, const struct graph_node *node,
                       const struct graph_input *input, const struct graph_buffer *buffer)
{
    const struct kernel_port *port = &node->kernel->in[input->kernel_port];
    if (port->border != BORDER_WRAP || port->window_height == 1 || buffer->shape.frame_rows > 0)
        return true;
    struct diag *d =
        diag_report(cx->diags, RULE_SHAPE_MISSING, input->span,
                    "'%s' wraps from the first row of '%s' to its last, and there is none: it has "
                    "%s without an end",
                    node->name, buffer->name, shape_text(cx->arena, &buffer->shape));
    diag_label(d, buffer->shape.span, "declare 'frame WxH' here");
    diag_label(d, port->window_span, "the window");
    return false;
}

/* The buffer must hold twice the reach, and the packet itself. */
static void check_reach(struct compile *cx, const struct graph_node *node,
                        const struct graph_input *input, const struct graph_buffer *buffer)
{
    uint64_t reach = graph_window_reach(&node->kernel->in[input->kernel_port], &buffer->shape);
    if (reach < WINDOW_MAX_FRAME / 2) return;
    const struct kernel_port *port = &node->kernel->in[input->kernel_port];
    struct diag *d =
        diag_report(cx->diags, RULE_TOO_LARGE, input->span,
                    "the window of '%s' on '%s' reaches over more than %" PRIu64 " packets",
                    node->name, buffer->name, WINDOW_MAX_FRAME / 2);
    diag_label(d, port->window_span, "the window");
    diag_label(d, buffer->shape.span, "%s", shape_text(cx->arena, &buffer->shape));
}

/* `reported`: the node has been reported for different shapes. */
static void check_windows(struct compile *cx, const struct graph *graph,
                          const struct graph_node *node, bool reported)
{
    const struct graph_buffer *first = NULL;
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *input = &node->inputs.items[i];
        const struct graph_buffer *buffer = &graph->buffers.items[input->buffer];
        if (node->kernel->in[input->kernel_port].window_width == 0) continue;
        if (!has_shape(buffer)) {
            report_missing_shape(cx, graph, node, input);
            continue;
        }
        if (check_wrap(cx, node, input, buffer)) check_reach(cx, node, input, buffer);
        if (first == NULL) {
            first = buffer;
        } else if (!reported && !same_shape(&first->shape, &buffer->shape)) {
            struct diag *d =
                diag_report(cx->diags, RULE_SHAPE_MISMATCH, input->span,
                            "'%s' sees windows of '%s' (%s) and of '%s' (%s) together", node->name,
                            first->name, shape_text(cx->arena, &first->shape), buffer->name,
                            shape_text(cx->arena, &buffer->shape));
            diag_label(d, first->shape.span, "%s", shape_text(cx->arena, &first->shape));
            diag_label(d, buffer->shape.span, "%s", shape_text(cx->arena, &buffer->shape));
        }
    }
}

/* ---- the pass ---- */

uint64_t graph_window_reach(const struct kernel_port *port, const struct graph_shape *shape)
{
    struct window window = {port->window_width, port->window_height, (uint32_t)port->border};
    struct window_shape in = {shape->row_packets, shape->frame_rows};
    return shape->row_packets == 0 ? 0 : window_reach(window, in);
}

void shape_infer(struct compile *cx, struct graph *graph)
{
    struct passing p = {.cx = cx, .graph = graph};
    p.reported = ARENA_ARRAY(cx->arena, bool, graph->nodes.count + 1);
    for (uint32_t i = 0; i < graph->buffers.count; i++)
        if (has_shape(&graph->buffers.items[i])) vec_push(cx->arena, &p.waiting, i);
    for (size_t i = 0; i < p.waiting.count; i++)
        pass_shape_on(&p, &graph->buffers.items[p.waiting.items[i]]);
    for (size_t n = 0; n < graph->nodes.count; n++)
        check_windows(cx, graph, &graph->nodes.items[n], p.reported[n]);
}
