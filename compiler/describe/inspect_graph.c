/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/checks.h"
#include "compiler/bodies/cost.h"
#include "compiler/describe/inspection.h"
#include "compiler/plan/choose_schedule.h"
#include "compiler/target/target.h"

enum { PAGE_BYTES = 4096 };

/* ---- nodes ---- */

static bool has_exact_rate(const struct graph_output *out, uint32_t phases)
{
    if (out->push_least != out->push) return false;
    for (uint32_t p = 0; out->pushes != NULL && p < phases; p++)
        if (out->push_leasts != NULL && out->push_leasts[p] != out->pushes[p]) return false;
    return true;
}

/* Exact rates join the node to another one, or it has no neighbours at all. */
static bool is_in_island(const struct graph *graph, const struct graph_node *node)
{
    bool has_neighbours = false;
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[node->inputs.items[i].buffer];
        if (buffer->outer == GRAPH_OUTER_IN) {
            if (buffer->readers.count > 1) return true;
            continue;
        }
        const struct graph_node *writer = &graph->nodes.items[buffer->writer_node];
        if (has_exact_rate(&writer->outputs.items[buffer->writer_output], writer->kernel->phases))
            return true;
        has_neighbours = true;
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        if (graph->buffers.items[node->outputs.items[i].buffer].readers.count == 0) continue;
        if (has_exact_rate(&node->outputs.items[i], node->kernel->phases)) return true;
        has_neighbours = true;
    }
    return !has_neighbours;
}

static void fill_ends(struct arena *arena, const struct graph_node *node, struct inspected_node *to)
{
    to->input_count = (uint32_t)node->inputs.count;
    to->output_count = (uint32_t)node->outputs.count;
    to->inputs = ARENA_ARRAY(arena, struct inspected_end, node->inputs.count + 1);
    to->outputs = ARENA_ARRAY(arena, struct inspected_end, node->outputs.count + 1);
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct graph_input *in = &node->inputs.items[i];
        to->inputs[i] = (struct inspected_end){.port = in->port,
                                               .buffer = in->buffer,
                                               .low = in->pop,
                                               .high = in->peek,
                                               .lows = in->pops,
                                               .highs = in->peeks,
                                               .history = in->history};
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        const struct graph_output *out = &node->outputs.items[i];
        to->outputs[i] = (struct inspected_end){.port = out->port,
                                                .buffer = out->buffer,
                                                .low = out->push_least,
                                                .high = out->push,
                                                .lows = out->push_leasts,
                                                .highs = out->pushes,
                                                .bundle = out->bundle,
                                                .share = out->share};
    }
}

static void fill_regions(const struct compile *cx, const struct graph_node *node,
                         struct inspected_node *to)
{
    const struct cost_plan *plan = node->kernel->costs;
    if (!node->warp.counted || plan == NULL || plan->counter_count == 0) return;
    to->constant_cycles = plan->constant;
    to->regions = ARENA_ARRAY(cx->arena, struct inspected_region, plan->region_count);
    for (uint32_t i = 0; i < plan->region_count; i++) {
        const struct cost_region *region = &plan->regions[i];
        const struct source *source = source_get(cx->sources, region->span.source);
        struct inspected_region shown = {.what = region->what, .cycles = region->cycles};
        uint32_t column;
        if (region->counter == COST_NO_COUNTER) continue;
        if (source != NULL) source_locate(source, region->span.begin, &shown.line, &column);
        to->regions[to->region_count++] = shown;
    }
}

static void fill_launches(struct arena *arena, const struct kernel_launches *from,
                          struct inspected_node *to)
{
    if (!kernel_launches_any(from)) return;
    to->warp.firings = 1;
    to->launches = from->most;
    to->nesting = from->nesting;
    to->tree_launches = from->tree;
    to->queue_entries = from->queue_entries;
    to->child_count = (uint32_t)from->children.count;
    const char **children = ARENA_ARRAY(arena, const char *, from->children.count);
    for (size_t i = 0; i < from->children.count; i++)
        children[i] = from->children.items[i]->title;
    to->children = children;
}

static const char *foreign_word(const struct kernel *kernel)
{
    if (kernel->foreign == NULL) return NULL;
    return kernel->foreign->pure ? "pure" : "impure";
}

static void fill_inspected_node(const struct compile *cx, const struct graph *graph,
                                const struct graph_node *node, bool consistent,
                                struct inspected_node *to)
{
    struct span span = source_origin(cx->sources, node->span);
    const struct source *source = source_get(cx->sources, span.source);
    uint32_t line = 0, column;
    if (source != NULL) source_locate(source, span.begin, &line, &column);
    *to = (struct inspected_node){
        .name = node->name,
        .kernel = node->kernel->title,
        .file = source != NULL ? source->name : NULL,
        .line = line,
        .phases = node->kernel->phases > 0 ? node->kernel->phases : 1,
        .importance = node->importance,
        .stateful = node->stateful,
        .unit = node->kernel->unit != NULL ? devdesc_unit_name(node->kernel->unit->kind) : NULL,
        .foreign = foreign_word(node->kernel),
        .cost_cycles = node->cost_cycles,
        .warp = node->warp,
        .registers = node->kernel->registers};
    fill_regions(cx, node, to);
    if (consistent && is_in_island(graph, node)) to->repetitions = node->repetitions;
    for (int i = 0; i < 3; i++)
        to->group[i] = node->kernel->group[i] > 0 ? node->kernel->group[i] : 1;
    fill_launches(cx->arena, &node->kernel->launches, to);
    struct kernel_checks checks = checks_of_kernel(cx->arena, node->kernel);
    to->has_checks = true;
    to->appends_proven = checks.appends_proven;
    to->appends_checked = checks.appends_checked;
    to->accesses_proven = checks.accesses_proven;
    to->accesses_checked = checks.accesses_checked;
    fill_ends(cx->arena, node, to);
}

/* ---- buffers ---- */

static void fill_inspected_buffer(struct arena *arena, const struct graph_buffer *buffer,
                                  bool depths, struct inspected_buffer *to)
{
    *to = (struct inspected_buffer){.name = buffer->name,
                                    .type = type_text(arena, buffer->type),
                                    .outer = buffer->outer,
                                    .writer = buffer->writer_node,
                                    .reader_count = (uint32_t)buffer->readers.count,
                                    .width_bytes = buffer->width_bytes,
                                    .initial_packets = buffer->initial.packets,
                                    .row_packets = buffer->shape.row_packets,
                                    .frame_rows = buffer->shape.frame_rows};
    to->depth_declared = buffer->depth_declared ? KNOWN_TRUE : KNOWN_FALSE;
    if (depths || buffer->depth_declared) to->depth_packets = buffer->depth_packets;
    if (depths) {
        to->depth_min_packets = buffer->depth_min_packets;
        to->depth_reason = buffer->depth_reason;
    }
    to->readers = ARENA_ARRAY(arena, uint32_t, buffer->readers.count + 1);
    for (size_t i = 0; i < buffer->readers.count; i++)
        to->readers[i] = buffer->readers.items[i].node;
}

/* The runtime keeps a buffer in whole pages (runtime/device/ring.c). */
static uint64_t ring_bytes(uint64_t width_bytes, uint64_t depth_packets)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(width_bytes, depth_packets, &bytes) ||
        __builtin_add_overflow(bytes, PAGE_BYTES - 1, &bytes))
        return 0;
    return bytes / PAGE_BYTES * PAGE_BYTES;
}

static void fill_memory(const struct graph *graph, struct inspection *to)
{
    static const char *const modes[] = {"default", "min", "fast"};
    static const enum known least[] = {UNKNOWN, KNOWN_FALSE, KNOWN_TRUE, KNOWN_FALSE};
    to->has_memory = true;
    to->buffers_mode = modes[graph->buffers_mode];
    to->memory_is_least = least[graph->memory_least];
    to->memory_least_bytes = graph->memory_least_bytes;
    if (graph->front != NULL) to->explored = graph;
    to->memory_bytes = graph->memory_bytes;
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (buffer->outer == GRAPH_INNER)
            to->physical_bytes += ring_bytes(buffer->width_bytes, buffer->depth_packets);
    }
}

/* ---- the plan ---- */

static void fill_inspected_program(struct arena *arena, const struct plan *plan,
                                   const struct sched_program *program, struct inspected_plan *to)
{
    struct program_shape *shape = ARENA_NEW(arena, struct program_shape);
    if (program_shape_read(arena, program->code, program->code_bytes, plan->stage_count, shape))
        to->program = shape;
    if (plan->schedule == NULL) return;
    to->guarded_reason = plan->schedule->reason;
    to->guarded_reasons = plan->schedule->obstacles;
}

/* The nodes that the stage executes: its node as written, or the members of a composite. */
static void fill_members(struct arena *arena, const struct fusion *fusion, uint32_t node,
                         struct inspected_stage *to)
{
    const struct graph *written = fusion->written;
    const char **members = ARENA_ARRAY(arena, const char *, written->nodes.count + 1);
    for (size_t i = 0; i < written->nodes.count; i++)
        if (fusion->places[i].node == node)
            members[to->member_count++] = written->nodes.items[i].name;
    to->members = arena_copy(arena, members, (to->member_count + 1) * sizeof *members);
}

static const struct inspected_plan *fill_plan(struct arena *arena, const struct fusion *fusion,
                                              const struct plan *plan,
                                              const struct sched_program *program)
{
    const struct graph *graph = fusion->graph;
    struct inspected_plan *to = ARENA_NEW(arena, struct inspected_plan);
    struct plan_ranks *ranks = ARENA_NEW(arena, struct plan_ranks);
    *ranks = plan_find_ranks(arena, graph, plan);
    *to = (struct inspected_plan){
        .device = plan->device->name,
        .cu_count = plan->device->cu_count,
        .lanes = plan->device->lanes,
        .mode = plan_mode_name(plan->mode),
        .mode_reason = plan->mode_reason,
        .policy = plan->policy,
        .policy_reason = plan->policy_reason,
        .batch_reason = plan->batch_reason,
        .partition = plan_partition_text(arena, plan),
        .sub_devices = plan->sub_devices,
        .sub_device_count = plan->sub_device_count,
        .memory = &plan->memory,
        .memory_limit_bytes = plan->device->memory_bytes,
        .stages = ARENA_ARRAY(arena, struct inspected_stage, (size_t)plan->stage_count + 1),
        .stage_count = plan->stage_count,
        .ranks = ranks,
        .fusion = fusion,
        .depth_reason = plan->depth_reason,
        .front = plan->front};
    if (target_of(plan->device)->counts_cycles)
        to->timed_cycles = plan_try_chosen(graph, plan, &to->timed_iterations);
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        const struct plan_stage *stage = &plan->stages[i];
        const struct kernel *kernel = graph->nodes.items[stage->node].kernel;
        to->stages[i] = (struct inspected_stage){.name = graph->nodes.items[stage->node].name,
                                                 .kernel = kernel->title,
                                                 .threshold = stage->threshold,
                                                 .batch_max = stage->batch_max,
                                                 .sub_device = stage->sub_device,
                                                 .cu_count = stage->cu_count,
                                                 .threshold_reason = stage->threshold_reason,
                                                 .index = plan_find_index(plan, kernel),
                                                 .entry = stage->entry,
                                                 .pack = stage->pack,
                                                 .place = stage->place,
                                                 .spilled = stage->spilled};
        fill_members(arena, fusion, stage->node, &to->stages[i]);
    }
    fill_inspected_program(arena, plan, program, to);
    return to;
}

struct inspection inspect_graph(const struct compile *cx, const struct graph *graph,
                                const struct verdict *verdict, const struct fusion *fusion,
                                const struct plan *plan, const struct sched_program *program)
{
    struct arena *arena = cx->arena;
    struct inspection to = {.debug_mode = cx->options.debug_mode,
                            .consistent = verdict->consistent,
                            .deadlock_free = verdict->deadlock_free};
    if (graph == NULL) return to;
    to.pipeline = graph->name;
    to.has_topology = true;
    to.node_count = (uint32_t)graph->nodes.count;
    to.nodes = ARENA_ARRAY(arena, struct inspected_node, graph->nodes.count + 1);
    for (uint32_t i = 0; i < to.node_count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];
        fill_inspected_node(cx, graph, node, verdict->consistent == KNOWN_TRUE, &to.nodes[i]);
        for (size_t o = 0; o < node->outputs.count; o++)
            to.rates_bounded |= !has_exact_rate(&node->outputs.items[o], node->kernel->phases);
    }
    to.buffer_count = (uint32_t)graph->buffers.count;
    to.buffers = ARENA_ARRAY(arena, struct inspected_buffer, graph->buffers.count + 1);
    for (uint32_t i = 0; i < to.buffer_count; i++)
        fill_inspected_buffer(arena, &graph->buffers.items[i], verdict->depths_assigned,
                              &to.buffers[i]);
    if (verdict->depths_assigned) fill_memory(graph, &to);
    if (verdict->consistent == KNOWN_TRUE) {
        struct performance *performance = ARENA_NEW(arena, struct performance);
        *performance = performance_measure(arena, graph, verdict->depths_assigned);
        to.performance = performance;
    }
    if (plan != NULL) to.plan = fill_plan(arena, fusion, plan, program);
    return to;
}
