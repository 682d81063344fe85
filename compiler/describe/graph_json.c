/* SPDX-License-Identifier: MIT */
#include "compiler/describe/describe.h"
#include "compiler/ir/kx_text.h"
#include "compiler/support/json_printed.h"

enum { GRAPH_JSON_VERSION = 1 };

static const char *const outer_words[] = {"buffer", "in-port", "out-port"};
static const char *const policy_words[] = {"auto", "round_robin", "priority", "fullest"};

static void put_scalar(struct json *json, const char *key, struct scalar_value value)
{
    struct memory_text text;
    arena_text_begin(&text);
    scalar_value_print(text.file, value);
    json_printed_end(json, key, &text);
}

static void put_span(struct json *json, const struct compile *cx, struct span span)
{
    uint32_t line, column;
    span = source_origin(cx->sources, span);
    const struct source *source = source_get(cx->sources, span.source);
    if (source == NULL) return;
    source_locate(source, span.begin, &line, &column);
    json_text(json, "file", source->name);
    json_number(json, "line", line);
}

static void put_graph_ends(struct json *json, const struct graph *graph,
                           const struct graph_node *node)
{
    uint32_t phases = graph_phases(node);
    json_begin(json, "inputs", '[');
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        json_begin(json, NULL, '{');
        json_text(json, "port", in->port);
        json_text(json, "buffer", graph->buffers.items[in->buffer].name);
        json_numbers(json, "pop", in->pop, in->pops, phases);
        json_numbers(json, "peek", in->peek, in->peeks, phases);
        json_end(json, '}');
    }
    json_end(json, ']');
    json_begin(json, "outputs", '[');
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_output *out = &node->outputs.items[i];
        json_begin(json, NULL, '{');
        json_text(json, "port", out->port);
        json_text(json, "buffer", graph->buffers.items[out->buffer].name);
        json_numbers(json, "push_min", out->push_least, out->push_leasts, phases);
        json_numbers(json, "push_max", out->push, out->pushes, phases);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void put_json_node(struct json *json, const struct compile *cx, const struct graph *graph,
                          const struct graph_node *node)
{
    json_begin(json, NULL, '{');
    json_text(json, "name", node->name);
    json_text(json, "kernel", node->kernel->title);
    put_span(json, cx, node->span);
    json_number(json, "importance", node->importance);
    if (node->cost_declared) json_number(json, "cost", node->cost_cycles);
    json_begin(json, "arguments", '[');
    for (uint32_t i = 0; i < node->kernel->argument_count; i++) {
        json_begin(json, NULL, '{');
        json_text(json, "name", node->kernel->arguments[i]->name);
        struct memory_text text;
        arena_text_begin(&text);
        kx_value_print(text.file, node->arguments[i]);
        json_printed_end(json, "value", &text);
        json_end(json, '}');
    }
    json_end(json, ']');
    put_graph_ends(json, graph, node);
    json_end(json, '}');
}

static void put_initial(struct json *json, const struct graph_initial *initial)
{
    json_begin(json, "init", '{');
    json_number(json, "packets", initial->packets);
    json_begin(json, "values", '[');
    for (uint64_t i = 0; i < initial->value_count; i++)
        put_scalar(json, NULL, initial->values[i]);
    json_end(json, ']');
    json_end(json, '}');
}

static void put_graph_buffer(struct json *json, struct arena *arena, const struct compile *cx,
                             const struct graph *graph, const struct graph_buffer *buffer)
{
    json_begin(json, NULL, '{');
    json_text(json, "name", buffer->name);
    json_text(json, "kind", outer_words[buffer->outer]);
    put_span(json, cx, buffer->span);
    json_text(json, "type", type_text(arena, buffer->type));
    json_number(json, "width_bytes", buffer->width_bytes);
    json_text(json, "writer",
              buffer->writer_node != GRAPH_NONE ? graph->nodes.items[buffer->writer_node].name
                                                : NULL);
    json_begin(json, "readers", '[');
    for (size_t i = 0; i < buffer->readers.count; i++)
        json_text(json, NULL, graph->nodes.items[buffer->readers.items[i].node].name);
    json_end(json, ']');
    if (buffer->depth_declared) json_number(json, "depth", buffer->depth_packets);
    if (buffer->shape.row_packets > 0) {
        json_number(json, "row_packets", buffer->shape.row_packets);
        if (buffer->shape.frame_rows > 0) json_number(json, "frame_rows", buffer->shape.frame_rows);
        json_boolean(json, "shape_declared", buffer->shape.declared);
    }
    if (buffer->initial.packets > 0) put_initial(json, &buffer->initial);
    if (buffer->unproven_reason != NULL) json_text(json, "unproven", buffer->unproven_reason);
    json_end(json, '}');
}

/* A number, or a list of the values of an array, row-major. */
static void put_default(struct json *json, const struct graph_argument *argument)
{
    const struct type *type = argument->variable->type;
    if (argument->has_default && type_is_scalar(type))
        put_scalar(json, "default", argument->values[0]);
    if (argument->has_default && !type_is_scalar(type)) {
        json_begin(json, "default", '[');
        for (uint64_t i = 0; i < type_scalar_count(type); i++)
            put_scalar(json, NULL, argument->values[i]);
        json_end(json, ']');
    }
    if (argument->property == PROPERTY_NONE) return;
    json_text(json, "port", argument->port);
    json_text(json, "property", graph_property_name(argument->property));
}

void graph_json(FILE *to, const struct compile *cx, const struct graph *graph)
{
    struct json json = {.to = to};
    struct arena *arena = arena_create();
    json_begin(&json, NULL, '{');
    json_number(&json, "version", GRAPH_JSON_VERSION);
    json_text(&json, "pipeline", graph->name);
    json_text(&json, "policy", policy_words[graph->policy]);
    json_begin(&json, "arguments", '[');
    for (size_t i = 0; i < graph->arguments.count; i++) {
        const struct graph_argument *argument = &graph->arguments.items[i];
        json_begin(&json, NULL, '{');
        json_text(&json, "name", argument->variable->name);
        json_text(&json, "type", type_text(arena, argument->variable->type));
        put_default(&json, argument);
        json_end(&json, '}');
    }
    json_end(&json, ']');
    json_begin(&json, "nodes", '[');
    for (size_t i = 0; i < graph->nodes.count; i++)
        put_json_node(&json, cx, graph, &graph->nodes.items[i]);
    json_end(&json, ']');
    json_begin(&json, "buffers", '[');
    for (size_t i = 0; i < graph->buffers.count; i++)
        put_graph_buffer(&json, arena, cx, graph, &graph->buffers.items[i]);
    json_end(&json, ']');
    json_end(&json, '}');
    arena_destroy(arena);
}
