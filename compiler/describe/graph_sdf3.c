/* SPDX-License-Identifier: MIT */
/*
 * The graph as XML of the SDF3 tools (lang/sdf3.md). A buffer with several readers becomes a channel for each of them,
 * because a channel has one; a node with state gets a channel to itself with one token.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/describe/describe.h"
#include "compiler/diagnostics/diag.h"

struct xml {
    FILE *to;
    const struct graph *graph;
    const char *kind; /* "sdf", "csdf" */
};

/* ---- graphs that have no such form ---- */

static void refuse_port_form(struct compile *cx, const struct graph_node *node, const char *port,
                             const char *reason)
{
    diag_report(cx->diags, RULE_SDF3, node->span, "the port '%s' of '%s' has no form in SDF3: %s",
                port, node->name, reason);
}

static bool sees_more(const struct graph_node *node, const struct graph_input *in)
{
    uint32_t phases = graph_phases(node);
    for (uint32_t i = 0; in->pops != NULL && i < phases; i++)
        if (in->peeks[i] > in->pops[i]) return true;
    return in->peek > in->pop || in->history > 0;
}

static void check_node_form(struct compile *cx, const struct graph *graph,
                            const struct graph_node *node)
{
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        if (graph->buffers.items[in->buffer].outer != GRAPH_INNER) continue;
        if (sees_more(node, in))
            refuse_port_form(cx, node, in->port,
                             "a firing sees more packets than it consumes (peek, or a window)");
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_output *out = &node->outputs.items[i];
        if (graph->buffers.items[out->buffer].outer != GRAPH_INNER) continue;
        if (!graph_is_exact(node, out))
            refuse_port_form(cx, node, out->port,
                             out->push == 0 ? "only 'finish' appends packets"
                                            : "the packets of a firing vary");
        else if (out->finish_max > 0)
            diag_report(cx->diags, RULE_SDF3_DIFFERENCE, node->span,
                        "packets that 'finish' of '%s' appends are left out", node->name);
    }
}

/* Reports what is left out, and what cannot be written. */
static void check_forms(struct compile *cx, const struct graph *graph)
{
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (buffer->outer != GRAPH_INNER)
            diag_report(cx->diags, RULE_SDF3_DIFFERENCE, buffer->span,
                        "the %s '%s' of the pipeline is left out: a graph in SDF3 has none",
                        buffer->outer == GRAPH_OUTER_IN ? "in-port" : "out-port", buffer->name);
    }
    for (size_t i = 0; i < graph->nodes.count; i++)
        check_node_form(cx, graph, &graph->nodes.items[i]);
}

/* ---- text ---- */

static void write_escaped(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (strchr("<>&\"", *text) != NULL || (byte < 0x20 && strchr("\t\n\r", *text) != NULL))
            fprintf(to, "&#%u;", byte);
        else
            fputc(byte < 0x20 ? '?' : byte, to); /* XML has no such characters */
    }
}

/* ` name="text"` */
static void write_attribute(FILE *to, const char *name, const char *text)
{
    fprintf(to, " %s=\"", name);
    write_escaped(to, text);
    fputc('"', to);
}

/* ` name="textN"`, where N follows a dot; 0: ` name="text"` */
static void write_numbered(FILE *to, const char *name, const char *text, size_t number)
{
    fprintf(to, " %s=\"", name);
    write_escaped(to, text);
    if (number > 0) fprintf(to, ".%zu", number);
    fputc('"', to);
}

static void write_numbers(FILE *to, const char *name, uint32_t phases, uint64_t all,
                          const uint64_t *each)
{
    fprintf(to, " %s=\"", name);
    for (uint32_t i = 0; i < phases; i++)
        fprintf(to, "%s%" PRIu64, i > 0 ? "," : "", each != NULL ? each[i] : all);
    fputc('"', to);
}

/* ---- actors and channels ---- */

/* The number of a reader's channel; 0: its buffer has one reader. */
static size_t channel_number(const struct graph_buffer *buffer, size_t reader)
{
    return buffer->readers.count > 1 ? reader + 1 : 0;
}

static void write_actor_port(const struct xml *x, const char *type, const char *name, size_t number)
{
    fprintf(x->to, "        <port type=\"%s\"", type);
    write_numbered(x->to, "name", name, number);
}

static void write_output(const struct xml *x, const struct graph_node *node,
                         const struct graph_output *out)
{
    const struct graph_buffer *buffer = &x->graph->buffers.items[out->buffer];
    if (buffer->outer != GRAPH_INNER) return;
    for (size_t r = 0; r < buffer->readers.count; r++) {
        write_actor_port(x, "out", out->port, channel_number(buffer, r));
        write_numbers(x->to, "rate", out->pushes != NULL ? graph_phases(node) : 1, out->push,
                      out->pushes);
        fputs("/>\n", x->to);
    }
}

static void write_node_actor(const struct xml *x, const struct graph_node *node)
{
    fputs("      <actor", x->to);
    write_attribute(x->to, "name", node->name);
    write_attribute(x->to, "type", node->name);
    fputs(">\n", x->to);
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        if (x->graph->buffers.items[in->buffer].outer != GRAPH_INNER) continue;
        write_actor_port(x, "in", in->port, 0);
        write_numbers(x->to, "rate", in->pops != NULL ? graph_phases(node) : 1, in->pop, in->pops);
        fputs("/>\n", x->to);
    }
    for (size_t i = 0; i < node->outputs.count; i++)
        write_output(x, node, &node->outputs.items[i]);
    if (node->stateful)
        fputs("        <port type=\"in\" name=\"state.in\" rate=\"1\"/>\n"
              "        <port type=\"out\" name=\"state.out\" rate=\"1\"/>\n",
              x->to);
    fputs("      </actor>\n", x->to);
}

static void write_buffer_channels(const struct xml *x, const struct graph_buffer *buffer)
{
    if (buffer->outer != GRAPH_INNER) return;
    for (size_t r = 0; r < buffer->readers.count; r++) {
        const struct graph_reader *reader = &buffer->readers.items[r];
        const struct graph_node *writer = &x->graph->nodes.items[buffer->writer_node];
        size_t number = channel_number(buffer, r);
        fputs("      <channel", x->to);
        write_numbered(x->to, "name", buffer->name, number);
        write_attribute(x->to, "srcActor", writer->name);
        write_numbered(x->to, "srcPort", graph_writer(x->graph, buffer)->port, number);
        write_attribute(x->to, "dstActor", x->graph->nodes.items[reader->node].name);
        write_attribute(x->to, "dstPort", graph_reader_input(x->graph, buffer, r)->port);
        if (buffer->initial.packets > 0)
            fprintf(x->to, " initialTokens=\"%" PRIu64 "\"", buffer->initial.packets);
        fputs("/>\n", x->to);
    }
}

static void write_state_channel(const struct xml *x, const struct graph_node *node)
{
    if (!node->stateful) return;
    fputs("      <channel name=\"", x->to);
    write_escaped(x->to, node->name);
    fputs(".state\"", x->to);
    write_attribute(x->to, "srcActor", node->name);
    write_attribute(x->to, "srcPort", "state.out");
    write_attribute(x->to, "dstActor", node->name);
    write_attribute(x->to, "dstPort", "state.in");
    fputs(" initialTokens=\"1\"/>\n", x->to);
}

static void write_node_time(const struct xml *x, const struct graph_node *node)
{
    fputs("      <actorProperties", x->to);
    write_attribute(x->to, "actor", node->name);
    fputs(">\n        <processor type=\"pipec\" default=\"true\">\n          <executionTime",
          x->to);
    write_numbers(x->to, "time", strcmp(x->kind, "csdf") == 0 ? graph_phases(node) : 1,
                  node->cost_cycles, NULL);
    fputs("/>\n        </processor>\n      </actorProperties>\n", x->to);
}

static const char *kind_of_graph(const struct graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph_phases(&graph->nodes.items[i]) > 1) return "csdf";
    return "sdf";
}

bool graph_sdf3(FILE *to, struct compile *cx, const struct graph *graph)
{
    struct xml x = {to, graph, kind_of_graph(graph)};
    size_t errors = diag_error_count(cx->diags);
    check_forms(cx, graph);
    if (diag_error_count(cx->diags) > errors) return false;
    fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sdf3 type=\"%s\" version=\"1.0\">\n",
            x.kind);
    fputs("  <applicationGraph", to);
    write_attribute(to, "name", graph->name);
    fprintf(to, ">\n    <%s", x.kind);
    write_attribute(to, "name", graph->name);
    write_attribute(to, "type", graph->name);
    fputs(">\n", to);
    for (size_t i = 0; i < graph->nodes.count; i++)
        write_node_actor(&x, &graph->nodes.items[i]);
    for (size_t i = 0; i < graph->buffers.count; i++)
        write_buffer_channels(&x, &graph->buffers.items[i]);
    for (size_t i = 0; i < graph->nodes.count; i++)
        write_state_channel(&x, &graph->nodes.items[i]);
    fprintf(to, "    </%s>\n    <%sProperties>\n", x.kind, x.kind);
    for (size_t i = 0; i < graph->nodes.count; i++)
        write_node_time(&x, &graph->nodes.items[i]);
    fprintf(to, "    </%sProperties>\n  </applicationGraph>\n</sdf3>\n", x.kind);
    return true;
}
