/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "compiler/describe/describe.h"
#include "base/plural.h"

/* Within a string of DOT: names in a command list are arbitrary strings, not markup. */
static void print_dot_text(FILE *to, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\') fputc('\\', to);
        fputc(text[i], to);
    }
}

static void print_dot_name(FILE *to, const char *name)
{
    print_dot_text(to, name, strlen(name));
}

static void print_dot_rate(FILE *to, uint64_t rate, const uint64_t *phases, uint32_t count)
{
    if (phases == NULL) {
        fprintf(to, "%" PRIu64, rate);
        return;
    }
    for (uint32_t p = 0; p < count; p++)
        fprintf(to, "%s%" PRIu64, p > 0 ? "," : "{", phases[p]);
    fputc('}', to);
}

static void print_dot_node(FILE *to, const struct graph_node *node, size_t index, unsigned indent)
{
    fprintf(to, "%*sn%zu [shape=box, style=%s, label=\"", (int)indent * 4, "", index,
            node->stateful ? "\"rounded,bold\"" : "rounded");
    print_dot_name(to, node->name);
    if (strcmp(node->name, node->kernel->title) != 0) fprintf(to, "\\n%s", node->kernel->title);
    if (node->importance > 0) fprintf(to, "\\nimportance %" PRIu32, node->importance);
    if (node->repetitions > 0)
        fprintf(to, "\\n%" PRIu64 " firing%s", node->repetitions, plural(node->repetitions));
    fputs("\"];\n", to);
}

static size_t prefix_length(const char *name, size_t from)
{
    const char *dot = strchr(name + from, '.');
    return dot != NULL ? (size_t)(dot - name) : 0;
}

/* Nodes begin .. end, whose names are equal up to `from`.  Names with a further dot are drawn in
 * a box for each part before it.  Nodes of one part follow each other. */
static void print_dot_nodes(FILE *to, const struct graph *graph, size_t begin, size_t end,
                            size_t from, unsigned indent)
{
    for (size_t i = begin; i < end;) {
        const char *name = graph->nodes.items[i].name;
        size_t length = indent < 32 ? prefix_length(name, from) : 0;
        if (length == 0) {
            print_dot_node(to, &graph->nodes.items[i], i, indent);
            i++;
            continue;
        }
        size_t next = i + 1;
        while (next < end && strncmp(graph->nodes.items[next].name, name, length + 1) == 0)
            next++;
        fprintf(to, "%*ssubgraph cluster_%zu_%u {\n%*slabel=\"", (int)indent * 4, "", i, indent,
                (int)(indent + 1) * 4, "");
        print_dot_text(to, name + from, length - from);
        fputs("\";\n", to);
        print_dot_nodes(to, graph, i, next, length + 1, indent + 1);
        fprintf(to, "%*s}\n", (int)indent * 4, "");
        i = next;
    }
}

static void print_buffer_label(FILE *to, struct arena *arena, const struct graph *graph,
                               const struct graph_buffer *buffer)
{
    bool settled = buffer->depth_declared || graph->buffers_mode != BUFFERS_DEFAULT;
    print_dot_name(to, buffer->name);
    fprintf(to, "\\n%s", type_text(arena, buffer->type));
    if (buffer->shape.row_packets > 0) fprintf(to, " rows %" PRIu64, buffer->shape.row_packets);
    if (buffer->initial.packets > 0) fprintf(to, " init %" PRIu64, buffer->initial.packets);
    /* For other buffers the plan adds room for full dispatches. */
    if (buffer->depth_packets > 0)
        fprintf(to, " depth %s%" PRIu64, settled ? "" : ">= ", buffer->depth_packets);
}

static void print_edge(FILE *to, struct arena *arena, const struct graph *graph, size_t index,
                       const struct graph_reader *reader)
{
    const struct graph_buffer *buffer = &graph->buffers.items[index];
    const struct graph_node *node = reader != NULL ? &graph->nodes.items[reader->node] : NULL;
    bool from_port = buffer->writer_node == GRAPH_NONE;
    if (from_port)
        fprintf(to, "    p%zu", index);
    else
        fprintf(to, "    n%" PRIu32, buffer->writer_node);
    if (reader != NULL)
        fprintf(to, " -> n%" PRIu32 " [label=\"", reader->node);
    else
        fprintf(to, " -> p%zu [label=\"", index);
    if (!from_port && reader != NULL) print_buffer_label(to, arena, graph, buffer);
    fputc('"', to);
    if (!from_port) {
        const struct graph_node *writer = &graph->nodes.items[buffer->writer_node];
        const struct graph_output *out = &writer->outputs.items[buffer->writer_output];
        fputs(", taillabel=\"", to);
        if (out->push_least != out->push) {
            print_dot_rate(to, out->push_least, out->push_leasts, graph_phases(writer));
            fputs("..", to);
        }
        print_dot_rate(to, out->push, out->pushes, graph_phases(writer));
        fputc('"', to);
    }
    if (node != NULL) {
        const struct graph_input *in = &node->inputs.items[reader->input];
        fputs(", headlabel=\"", to);
        print_dot_rate(to, in->pop, in->pops, graph_phases(node));
        if (in->peek > in->pop) fprintf(to, "/%" PRIu64, in->peek);
        fputc('"', to);
    }
    fputs("];\n", to);
}

void graph_dot(FILE *to, const struct graph *graph)
{
    struct arena *arena = arena_create();
    fputs("digraph \"", to);
    print_dot_name(to, graph->name);
    fputs("\" {\n    rankdir=LR;\n    node [fontname=\"sans-serif\", fontsize=11];\n"
          "    edge [fontname=\"sans-serif\", fontsize=9];\n",
          to);
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (buffer->outer == GRAPH_INNER) continue;
        fprintf(to, "    p%zu [shape=rarrow, label=\"", i);
        print_dot_name(to, buffer->name);
        fprintf(to, "\\n%s\"];\n", type_text(arena, buffer->type));
    }
    print_dot_nodes(to, graph, 0, graph->nodes.count, 0, 1);
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        for (size_t r = 0; r < buffer->readers.count; r++)
            print_edge(to, arena, graph, i, &buffer->readers.items[r]);
        if (buffer->outer == GRAPH_OUTER_OUT) print_edge(to, arena, graph, i, NULL);
    }
    fputs("}\n", to);
    arena_destroy(arena);
}
