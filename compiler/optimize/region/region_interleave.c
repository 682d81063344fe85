/* SPDX-License-Identifier: MIT */
#include "compiler/optimize/region/region_interleave.h"

#include "compiler/ir/expr_build.h"

static void set_interleaved_ports(const struct expr_build *t, const struct graph *graph,
                                  const struct region *region)
{
    struct kernel *kernel = t->kernel;
    kernel->in_count = (uint32_t)region->in.count;
    kernel->out_count = 1;
    kernel->in = ARENA_ARRAY(t->arena, struct kernel_port, kernel->in_count);
    kernel->out = ARENA_ARRAY(t->arena, struct kernel_port, 1);
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[region->in.items[i].buffer];
        kernel->in[i] = (struct kernel_port){.name = buffer->name,
                                             .span = t->span,
                                             .type = buffer->type,
                                             .arity = 1,
                                             .rate_declared = true,
                                             .rate_span = t->span,
                                             .pop = 1,
                                             .peek = 1};
    }
    kernel->out[0] = (struct kernel_port){
        .name = kernel->name, .span = t->span, .type = kernel->in[0].type, .arity = 1};
}

static struct ks *write_interleaved_body(const struct expr_build *t)
{
    struct build_list list = {0};
    for (uint32_t i = 0; i < t->kernel->in_count; i++)
        build_append(&list, build_emit(t, 0, build_peek(t, i, build_i32(t, 0))));
    return build_block(t, &list);
}

void region_interleave(struct region_space *space, const struct region *region,
                       struct replacement *replacement)
{
    struct arena *arena = space->cx->arena;
    const struct graph *graph = space->graph;
    const struct graph_buffer *first = &graph->buffers.items[region->in.items[0].buffer];
    struct span span = replacement->node.span;
    struct kernel *kernel = ARENA_NEW(arena, struct kernel);
    struct expr_build tree = {
        .arena = arena, .types = graph->types, .kernel = kernel, .span = span};
    const char *name = arena_printf(arena, "interleave(%s..)", first->name);
    *kernel = (struct kernel){.name = name,
                              .title = name,
                              .span = replacement->node.kernel->span,
                              .phases = 1,
                              .group = {1, 1, 1}};
    set_interleaved_ports(&tree, graph, region);
    kernel->body = write_interleaved_body(&tree);
    struct graph_node *node = ARENA_NEW(arena, struct graph_node);
    *node = (struct graph_node){
        .name = name, .span = span, .kernel = kernel, .importance = replacement->node.importance};
    for (uint32_t i = 0; i < tree.kernel->in_count; i++)
        vec_push(tree.arena, &node->inputs,
                 (struct graph_input){.port = tree.kernel->in[i].name,
                                      .kernel_port = i,
                                      .span = tree.span,
                                      .buffer = region->in.items[i].buffer});
    vec_push(tree.arena, &node->outputs,
             (struct graph_output){
                 .port = tree.kernel->out[0].name, .span = tree.span, .buffer = GRAPH_NONE});
    replacement->before = node;
    replacement->between = (struct graph_buffer){.name = name,
                                                 .span = span,
                                                 .type = first->type,
                                                 .width_bytes = first->width_bytes,
                                                 .writer_node = GRAPH_NONE};
    replacement->node.inputs.items[0].port = name;
    replacement->node.kernel->in[0].name = name;
}
