/* SPDX-License-Identifier: MIT */
#include "compiler/plan/plan_tables.h"

struct filling {
    struct arena *arena;
    const struct graph *graph;
    const struct plan *plan;
    struct prt_container *tables;
    struct container_node *nodes;
    struct container_input *inputs;
    struct container_output *outputs;
    struct container_buffer *buffers;
    struct container_reader *readers;
    uint64_t *rates;
};

/* ---- sizes ---- */

static uint64_t rates_of_node(const struct graph_node *node)
{
    uint64_t lists = 0;
    for (size_t i = 0; i < node->inputs.count; i++)
        lists += node->inputs.items[i].pops != NULL && node->inputs.items[i].peeks != NULL;
    for (size_t i = 0; i < node->outputs.count; i++)
        lists +=
            node->outputs.items[i].push_leasts != NULL && node->outputs.items[i].pushes != NULL;
    return lists * 2 * node->kernel->phases;
}

/* False: a table is too large. */
static bool allocate_plan_tables(struct filling *f)
{
    const struct graph *graph = f->graph;
    uint64_t inputs = 0, outputs = 0, rates = 0;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        inputs += graph->nodes.items[i].inputs.count;
        outputs += graph->nodes.items[i].outputs.count;
        rates += rates_of_node(&graph->nodes.items[i]);
    }
    if (inputs >= CONTAINER_NONE || outputs >= CONTAINER_NONE || rates >= CONTAINER_NONE)
        return false;
    f->nodes = ARENA_ARRAY(f->arena, struct container_node, graph->nodes.count + 1);
    f->inputs = ARENA_ARRAY(f->arena, struct container_input, inputs + 1);
    f->outputs = ARENA_ARRAY(f->arena, struct container_output, outputs + 1);
    f->buffers = ARENA_ARRAY(f->arena, struct container_buffer, graph->buffers.count + 1);
    f->readers = ARENA_ARRAY(f->arena, struct container_reader, inputs + 1);
    f->rates = ARENA_ARRAY(f->arena, uint64_t, rates + 1);
    *f->tables = (struct prt_container){.nodes = f->nodes,
                                        .inputs = f->inputs,
                                        .outputs = f->outputs,
                                        .buffers = f->buffers,
                                        .readers = f->readers,
                                        .rates = f->rates};
    return true;
}

/* ---- nodes ---- */

static uint32_t node_flags(const struct graph_node *node)
{
    uint32_t flags = node->stateful ? CONTAINER_NODE_STATEFUL : 0;
    if (node->kernel->init != NULL) flags |= CONTAINER_NODE_INIT;
    if (node->kernel->finish != NULL) flags |= CONTAINER_NODE_FINISH;
    if (node->kernel->stops) flags |= CONTAINER_NODE_STOPS;
    if (kernel_launches_any(&node->kernel->launches)) flags |= CONTAINER_NODE_LAUNCHES;
    if (node->warp.counted) flags |= CONTAINER_NODE_COUNTED;
    if (node->kernel->unit != NULL)
        flags |= (1 + (uint32_t)node->kernel->unit->kind) * CONTAINER_NODE_UNIT_ONE;
    return flags;
}

/* Appends two lists of a value for each phase; returns the index of the first. */
static uint32_t fill_rates(struct filling *f, const uint64_t *first, const uint64_t *second,
                           uint32_t phases)
{
    uint32_t at = f->tables->rate_count;
    if (first == NULL || second == NULL) return CONTAINER_NONE;
    for (uint32_t i = 0; i < phases; i++) {
        f->rates[at + i] = first[i];
        f->rates[at + phases + i] = second[i];
    }
    f->tables->rate_count += 2 * phases;
    return at;
}

static void fill_input(struct filling *f, const struct graph_node *node,
                       const struct graph_input *input)
{
    static const struct kernel_port none;
    const struct kernel *kernel = node->kernel;
    const struct kernel_port *port =
        kernel->in_count > 0 ? &kernel->in[input->kernel_port] : &none; /* graphs made by hand */
    bool window = port->window_width > 0;
    f->inputs[f->tables->input_count++] = (struct container_input){
        .buffer = input->buffer,
        .reader = input->reader, /* within its buffer, until fill_readers */
        .rates = fill_rates(f, input->pops, input->peeks, node->kernel->phases),
        .pop = input->pop,
        .peek = window ? 1 : input->peek,
        .window_width = port->window_width,
        .window_height = port->window_height,
        .border = window ? (uint32_t)port->border : 0,
    };
}

static void fill_output(struct filling *f, const struct graph_node *node,
                        const struct graph_output *output)
{
    f->outputs[f->tables->output_count++] = (struct container_output){
        .buffer = output->buffer,
        .push_least = output->push_least,
        .push = output->push,
        .finish_max = output->finish_max,
        .rates = fill_rates(f, output->push_leasts, output->pushes, node->kernel->phases),
        .bundle = output->bundle,
        .share = output->share,
    };
}

static void fill_node(struct filling *f, const struct graph_node *node)
{
    f->nodes[f->tables->node_count++] = (struct container_node){
        .flags = node_flags(node),
        .importance = node->importance,
        .first_input = f->tables->input_count,
        .input_count = (uint32_t)node->inputs.count,
        .first_output = f->tables->output_count,
        .output_count = (uint32_t)node->outputs.count,
        .phases = node->kernel->phases,
        .repetitions = node->repetitions,
        .source_repetitions = node->source_repetitions,
        .cost_cycles = node->cost_cycles,
        .warp_cycles = node->warp.cycles,
        .finish_cycles = node->warp.finish_cycles,
        .warp_firings = node->warp.firings,
        .firing_warps = node->warp.pieces,
        .local_bytes = node->kernel->shared_bytes,
        .registers = node->kernel->registers,
    };
    for (size_t i = 0; i < node->inputs.count; i++)
        fill_input(f, node, &node->inputs.items[i]);
    for (size_t i = 0; i < node->outputs.count; i++)
        fill_output(f, node, &node->outputs.items[i]);
}

/* ---- buffers ---- */

static void fill_readers(struct filling *f, const struct graph_buffer *buffer)
{
    for (size_t r = 0; r < buffer->readers.count; r++) {
        const struct graph_reader *reader = &buffer->readers.items[r];
        uint32_t input = f->nodes[reader->node].first_input + reader->input;
        f->inputs[input].reader = f->tables->reader_count;
        f->readers[f->tables->reader_count++] =
            (struct container_reader){.node = reader->node, .input = input};
    }
}

static void fill_buffer(struct filling *f, const struct graph_buffer *buffer)
{
    bool written = buffer->writer_node != GRAPH_NONE;
    f->buffers[f->tables->buffer_count++] = (struct container_buffer){
        .outer = buffer->outer == GRAPH_OUTER_IN    ? CONTAINER_OUTER_IN
                 : buffer->outer == GRAPH_OUTER_OUT ? CONTAINER_OUTER_OUT
                                                    : CONTAINER_INNER,
        .width_bytes = buffer->width_bytes,
        .depth_packets = buffer->depth_packets,
        .initial_packets = buffer->initial.packets,
        .row_packets = buffer->shape.row_packets,
        .frame_rows = buffer->shape.frame_rows,
        .writer_node = written ? buffer->writer_node : CONTAINER_NONE,
        .writer_output = written
                             ? f->nodes[buffer->writer_node].first_output + buffer->writer_output
                             : CONTAINER_NONE,
        .first_reader = f->tables->reader_count,
        .reader_count = (uint32_t)buffer->readers.count,
        .flags = buffer->depth_grows ? CONTAINER_BUFFER_GROWS : 0,
    };
    fill_readers(f, buffer);
}

/* ---- the plan ---- */

static uint32_t stage_flags(const struct plan_stage *stage)
{
    uint32_t flags = stage->spilled ? CONTAINER_STAGE_SPILLED : 0;
    return stage->ends_pack ? flags | CONTAINER_STAGE_ENDS_PACK : flags;
}

static void fill_stages(struct filling *f)
{
    uint32_t count = f->plan->stage_count;
    struct container_stage *stages =
        ARENA_ARRAY(f->arena, struct container_stage, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_stage *stage = &f->plan->stages[i];
        stages[i] = (struct container_stage){
            .node = stage->node,
            .threshold = stage->threshold,
            .batch_max = stage->batch_max,
            .entry = stage->entry == GRAPH_NONE ? CONTAINER_NONE : stage->entry,
            .flags = stage_flags(stage),
            .pack = stage->pack,
            .place = stage->place,
        };
    }
    f->tables->stages = stages;
    f->tables->stage_count = count;
}

static void fill_program(struct filling *f, const struct sched_program *program)
{
    f->tables->sets = ARENA_ARRAY(f->arena, struct prt_stage_set, (size_t)program->set_count + 1);
    for (uint32_t i = 0; i < program->set_count; i++)
        f->tables->sets[i] =
            (struct prt_stage_set){program->sets[i].stages, program->sets[i].count};
    f->tables->set_count = program->set_count;
    f->tables->code = program->code;
    f->tables->code_bytes = program->code_bytes;
}

bool plan_tables_fill(struct arena *arena, const struct graph *graph, const struct plan *plan,
                      const struct sched_program *program, struct prt_container *tables)
{
    struct filling f = {.arena = arena, .graph = graph, .plan = plan, .tables = tables};
    if (!allocate_plan_tables(&f)) return false;
    for (size_t i = 0; i < graph->nodes.count; i++)
        fill_node(&f, &graph->nodes.items[i]);
    for (size_t i = 0; i < graph->buffers.count; i++)
        fill_buffer(&f, &graph->buffers.items[i]);
    fill_stages(&f);
    struct container_device *device = ARENA_NEW(arena, struct container_device);
    *device =
        (struct container_device){.cu_count = plan->device->cu_count, .lanes = plan->device->lanes};
    tables->device = device;
    fill_program(&f, program);
    return true;
}
