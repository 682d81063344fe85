/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "compiler/describe/describe.h"
#include "compiler/ir/kx_text.h"
#include "base/quote.h"

static const char *const policy_words[] = {"auto", "round_robin", "priority", "fullest"};

static void print_quoted(FILE *to, const char *text)
{
    quote_print(to, text, strlen(text));
}

static void print_set(FILE *to, const char *name)
{
    fputs("set ", to);
    print_quoted(to, name);
    fputc(' ', to);
}

/* A list if it has a value for each packet, else a count and the value of one packet. */
static void print_initial(FILE *to, const struct graph_buffer *buffer)
{
    const struct graph_initial *initial = &buffer->initial;
    const struct scalar_value *values = initial->values;
    uint64_t listed = initial->value_count / type_scalar_count(buffer->type);
    print_set(to, buffer->name);
    if (listed == 1) {
        fprintf(to, "init %" PRIu64 " x ", initial->packets);
        type_value_print(to, buffer->type, &values);
    } else {
        fputs("init {", to);
        for (uint64_t i = 0; i < listed; i++) {
            if (i > 0) fputs(", ", to);
            type_value_print(to, buffer->type, &values);
        }
        fputc('}', to);
    }
    fputs(";\n", to);
}

static void print_shape_command(FILE *to, const struct graph_buffer *buffer)
{
    const struct graph_shape *shape = &buffer->shape;
    print_set(to, buffer->name);
    if (shape->frame_rows == 0)
        fprintf(to, "rows %" PRIu64 ";\n", shape->row_packets);
    else
        fprintf(to, "frame %" PRIu64 " x %" PRIu64 ";\n", shape->row_packets, shape->frame_rows);
}

static void print_buffer_command(FILE *to, struct arena *arena, const struct graph_buffer *buffer)
{
    static const char *const words[] = {"buffer", "in", "out"};
    fprintf(to, "create %s ", words[buffer->outer]);
    print_quoted(to, buffer->name);
    fprintf(to, " %s;\n", type_text(arena, buffer->type));
    if (buffer->depth_declared) {
        print_set(to, buffer->name);
        fprintf(to, "depth %" PRIu64 ";\n", buffer->depth_packets);
    }
    if (buffer->shape.declared) print_shape_command(to, buffer);
    if (buffer->initial.packets > 0) print_initial(to, buffer);
    if (buffer->unproven_reason != NULL) {
        print_set(to, buffer->name);
        fputs("unproven ", to);
        print_quoted(to, buffer->unproven_reason);
        fputs(";\n", to);
    }
}

static void print_node(FILE *to, const struct graph_node *node)
{
    fputs("create kernel ", to);
    print_quoted(to, node->name);
    fputc(' ', to);
    /* `<-` is one token: `k< -1>`. */
    const char *title = node->kernel->title;
    for (; *title != '\0'; title++) {
        fputc(*title, to);
        if (title[0] == '<' && title[1] == '-') fputc(' ', to);
    }
    for (uint32_t i = 0; i < node->kernel->argument_count; i++) {
        fputs(i > 0 ? ", " : "(", to);
        kx_value_print(to, node->arguments[i]);
    }
    fputs(node->kernel->argument_count > 0 ? ");\n" : ";\n", to);
    if (node->importance > 0) {
        print_set(to, node->name);
        fprintf(to, "importance %" PRIu32 ";\n", node->importance);
    }
    if (node->cost_declared) {
        print_set(to, node->name);
        fprintf(to, "cost %" PRIu64 ";\n", node->cost_cycles);
    }
}

static void print_connections(FILE *to, const struct graph *graph, const struct graph_node *node)
{
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        fputs("connect ", to);
        print_quoted(to, graph->buffers.items[in->buffer].name);
        fputs(" -> ", to);
        print_quoted(to, node->name);
        fprintf(to, ".%s;\n", in->port);
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_output *out = &node->outputs.items[i];
        fputs("connect ", to);
        print_quoted(to, node->name);
        fprintf(to, ".%s -> ", out->port);
        print_quoted(to, graph->buffers.items[out->buffer].name);
        fputs(";\n", to);
    }
}

static void print_sources(FILE *to, const struct kernel_sources *sources)
{
    for (size_t i = 0; i < sources->names.count; i++) {
        fputs("source ", to);
        print_quoted(to, sources->names.items[i]);
        fputs(";\n", to);
    }
    for (size_t i = 0; i < sources->items.count; i++) {
        const struct item_text *item = &sources->items.items[i];
        if (item->is_apart && i > 0) fputc('\n', to);
        fwrite(item->bytes, 1, item->size_bytes, to);
        fputc('\n', to);
    }
}

/* ` = x.rate`, ` = {1.0f, 2.0f}`, or nothing. */
static void print_default(FILE *to, const struct graph_argument *argument)
{
    const struct scalar_value *values = argument->values;
    if (argument->property != PROPERTY_NONE) {
        fprintf(to, " = %s.%s", argument->port, graph_property_name(argument->property));
    } else if (argument->has_default) {
        fputs(" = ", to);
        type_value_print(to, argument->variable->type, &values);
    }
}

void graph_cmds(FILE *to, const struct kernel_sources *sources, const struct graph *graph)
{
    struct arena *arena = arena_create();
    fputs("// pipec commands 1\n", to);
    print_sources(to, sources);
    fputs("pipeline ", to);
    print_quoted(to, graph->name);
    if (graph->policy != POLICY_AUTO) fprintf(to, " policy %s", policy_words[graph->policy]);
    fputs(";\n", to);
    for (size_t i = 0; i < graph->arguments.count; i++) {
        const struct graph_argument *argument = &graph->arguments.items[i];
        const struct type *type = argument->variable->type;
        fprintf(to, "argument %s %s", type_text(arena, type), argument->variable->name);
        print_default(to, argument);
        fputs(";\n", to);
    }
    for (size_t i = 0; i < graph->buffers.count; i++)
        print_buffer_command(to, arena, &graph->buffers.items[i]);
    for (size_t i = 0; i < graph->nodes.count; i++)
        print_node(to, &graph->nodes.items[i]);
    for (size_t i = 0; i < graph->nodes.count; i++)
        print_connections(to, graph, &graph->nodes.items[i]);
    arena_destroy(arena);
}
