/* SPDX-License-Identifier: MIT */
#include "model/block.h"

#include "lang/sched_code.h"
#include "model/self_driven.h"

#include <assert.h>
#include <stdlib.h>

struct builder {
    const struct prt_container *container;
    struct core *core;
    const uint32_t *node_stage;
    uint64_t numbers; /* used so far */
};

/* ---- sizes ---- */

static struct sched_instruction decode_at(const struct prt_container *c, uint32_t offset)
{
    struct sched_instruction decoded;
    bool decodes = sched_decode(c->code, c->code_bytes, offset, &decoded);
    assert(decodes); /* the verifier */
    (void)decodes;
    return decoded;
}

/* Each end has two lists of rates; a list of prefix sums has one more number than rates. */
static struct core_shape find_shape(const struct prt_container *c)
{
    struct core_shape shape = {.stages = c->stage_count,
                               .inputs = c->input_count,
                               .outputs = c->output_count,
                               .buffers = c->buffer_count,
                               .sets = c->set_count,
                               .numbers = c->rate_count +
                                          2 * ((uint64_t)c->input_count + c->output_count)};
    for (uint32_t i = 0; i < c->set_count; i++)
        shape.members += c->sets[i].count;
    for (uint32_t i = 0; i < c->buffer_count; i++)
        shape.readers += c->buffers[i].reader_count + 1u;
    for (uint32_t at = 0; at < c->code_bytes; at += decode_at(c, at).size_bytes)
        shape.code++;
    return shape;
}

/* ---- ends ---- */

static void fill_buffers(struct builder *b)
{
    const struct prt_container *c = b->container;
    struct core_reader *readers = core_readers(b->core);
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const struct container_buffer *record = &c->buffers[i];
        struct core_buffer *buffer = &core_buffers(b->core)[i];
        bool out = record->outer == CONTAINER_OUTER_OUT, in = record->outer == CONTAINER_OUTER_IN;
        uint32_t count = out ? 1 : record->reader_count;
        core_fifo_lay_out(&buffer->fifo, record->width_bytes, record->depth_packets, readers,
                          count);
        for (uint32_t k = 0; k < count; k++) {
            const struct container_reader *reader = &c->readers[record->first_reader + k];
            readers[k].stage = out ? CORE_NONE : b->node_stage[reader->node];
            readers[k].input = out ? CORE_NONE : reader->input;
        }
        readers += count;
        buffer->initial_packets = record->initial_packets;
        buffer->writer =
            record->writer_node == CONTAINER_NONE ? CORE_NONE : b->node_stage[record->writer_node];
        buffer->port = out ? CORE_OUT_PORT : in ? CORE_IN_PORT : CORE_INNER;
        buffer->room_end_packets = UINT64_MAX;
    }
}

/* The flow of an end: `total` packets in a cycle of phases, and one rate for each phase; `rates` NULL: one phase. */
static struct core_flow link_flow(struct builder *b, uint64_t total, uint32_t phases,
                                  const uint64_t *rates)
{
    struct core_flow flow = {.cycle = total, .phases = 1};
    if (rates == NULL) return flow;
    flow.phases = phases;
    flow.sums = (uint32_t)b->numbers;
    core_flow_sum(rates, phases, core_numbers(b->core) + b->numbers);
    b->numbers += (uint64_t)phases + 1;
    return flow;
}

/* The two lists of rates of an end, one after the other, or NULL. */
static const uint64_t *end_rates(const struct prt_container *c, uint32_t index)
{
    return index == CONTAINER_NONE ? NULL : c->rates + index;
}

static uint64_t buffer_distance(const struct builder *b, uint32_t buffer)
{
    return (uintptr_t)&core_buffers(b->core)[buffer] - (uintptr_t)b->core;
}

static void link_input(struct builder *b, uint32_t index, uint32_t phases)
{
    const struct prt_container *c = b->container;
    const struct container_input *input = &c->inputs[index];
    const struct container_buffer *buffer = &c->buffers[input->buffer];
    const uint64_t *rates = end_rates(c, input->rates);
    struct core_input *linked = &core_inputs(b->core)[index];
    *linked = (struct core_input){.buffer_at = buffer_distance(b, input->buffer),
                                  .buffer = input->buffer,
                                  .reader = input->reader - buffer->first_reader,
                                  .shape = {buffer->row_packets, buffer->frame_rows}};
    linked->reader_at =
        (uintptr_t)core_fifo_reader(&core_read_buffer(b->core, linked)->fifo, linked->reader) -
        (uintptr_t)b->core;
    linked->take.pop = link_flow(b, input->pop, phases, rates);
    linked->take.peek = input->peek;
    linked->take.peeks = (uint32_t)b->numbers;
    for (uint32_t i = 0; rates != NULL && i < phases; i++)
        core_numbers(b->core)[b->numbers++] = rates[phases + i];
    if (input->window_width > 0)
        linked->window = (struct window){input->window_width, input->window_height, input->border};
}

static void link_output(struct builder *b, uint32_t index, uint32_t phases)
{
    const struct container_output *output = &b->container->outputs[index];
    const uint64_t *rates = end_rates(b->container, output->rates);
    struct core_output *linked = &core_outputs(b->core)[index];
    *linked = (struct core_output){.buffer_at = buffer_distance(b, output->buffer),
                                   .buffer = output->buffer,
                                   .finish_max = output->finish_max};
    linked->least = link_flow(b, output->push_least, phases, rates);
    linked->most = link_flow(b, output->push, phases, rates == NULL ? NULL : rates + phases);
}

/* Each output of a bundle is compared with the output of that bundle before it. */
static void link_bundles(struct builder *b, const struct container_node *node)
{
    const struct container_output *outputs = b->container->outputs;
    uint32_t last[CONTAINER_BUNDLES_MAX] = {0}; /* by bundle: its last output, from 1 */
    for (uint32_t i = node->first_output; i < node->first_output + node->output_count; i++) {
        if (outputs[i].bundle == 0) continue;
        uint32_t before = last[outputs[i].bundle - 1];
        last[outputs[i].bundle - 1] = i + 1;
        if (before == 0) continue;
        struct core_output *linked = &core_outputs(b->core)[i];
        linked->in_step_with = before - 1;
        linked->share = outputs[i].share;
        linked->other_share = outputs[before - 1].share;
    }
}

static bool has_exact_rates(const struct prt_container *c, const struct container_node *node)
{
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct container_output *output = &c->outputs[node->first_output + i];
        if (output->push_least != output->push) return false;
    }
    return true;
}

static void link_core_ends(struct builder *b)
{
    const struct prt_container *c = b->container;
    for (uint32_t i = 0; i < c->node_count; i++) {
        const struct container_node *node = &c->nodes[i];
        for (uint32_t k = 0; k < node->input_count; k++)
            link_input(b, node->first_input + k, node->phases);
        for (uint32_t k = 0; k < node->output_count; k++)
            link_output(b, node->first_output + k, node->phases);
        if (!has_exact_rates(c, node)) link_bundles(b, node);
    }
    /* the loader has bounded the size of a file: the places of numbers fit */
    assert(b->numbers <= UINT32_MAX);
}

/* ---- stages ---- */

static bool has_flag(const struct container_stage *record, enum container_stage_flags flag)
{
    return (record->flags & (uint32_t)flag) != 0;
}

static void fill_core_stage(const struct builder *b, uint32_t index)
{
    const struct prt_container *c = b->container;
    const struct container_stage *record = &c->stages[index];
    const struct container_node *node = &c->nodes[record->node];
    struct core_stage *stage = core_stage(b->core, index);
    *stage = (struct core_stage){
        .inputs_at = b->core->inputs_at + node->first_input * sizeof(struct core_input),
        .outputs_at = b->core->outputs_at + node->first_output * sizeof(struct core_output),
        .first_input = node->first_input,
        .input_count = node->input_count,
        .first_output = node->first_output,
        .output_count = node->output_count,
        .node = record->node,
        .phases = node->phases,
        .flags = node->flags,
        .importance = node->importance,
        .repetitions = node->source_repetitions > 0 ? node->source_repetitions : node->repetitions,
        .exact = has_exact_rates(c, node),
        .entry = record->entry == CONTAINER_NONE ? CORE_NONE : record->entry,
        .spilled = has_flag(record, CONTAINER_STAGE_SPILLED),
        .ends_pack = has_flag(record, CONTAINER_STAGE_ENDS_PACK),
        .threshold = record->threshold,
        .batch_max = record->batch_max,
        .firings_limit = UINT64_MAX};
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(b->core, stage, i);
        stage->reads_port |= core_read_buffer(b->core, input)->port != CORE_INNER;
        if (input->window.width > 0) stage->frame_packets = window_frame(input->shape);
    }
    assert(stage->entry == CORE_NONE || /* prt_verify_device */
           stage->entry < b->core->references.count);
}

/* Sorts the stages of a set by importance, the greatest first.  Stages of equal importance stay in order. */
static void order_set(struct core *core, const struct core_set *set)
{
    enum { LEVELS = 256 };
    const uint32_t *members = core_members(core) + set->first;
    uint32_t begin[LEVELS + 1] = {0}, *order = core_by_importance(core) + set->first;
    for (uint32_t i = 0; i < set->count; i++)
        begin[LEVELS - core_stage(core, members[i])->importance]++;
    for (uint32_t i = 1; i <= LEVELS; i++)
        begin[i] += begin[i - 1];
    for (uint32_t i = 0; i < set->count; i++)
        order[begin[LEVELS - 1 - core_stage(core, members[i])->importance]++] = members[i];
}

static void fill_sets(struct builder *b)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < b->container->set_count; i++) {
        const struct prt_stage_set *from = &b->container->sets[i];
        struct core_set *set = &core_sets(b->core)[i];
        *set = (struct core_set){.first = first, .count = from->count};
        for (uint32_t k = 0; k < from->count; k++)
            core_members(b->core)[first + k] = from->stages[k];
        order_set(b->core, set);
        first += from->count;
    }
}

/* ---- the program ---- */

/* False: memory runs out. */
static bool fill_code(struct builder *b)
{
    const struct prt_container *c = b->container;
    uint32_t *index_at = calloc((size_t)c->code_bytes + 1, sizeof *index_at), count = 0;
    if (index_at == NULL) return false;
    for (uint32_t at = 0; at < c->code_bytes; at += decode_at(c, at).size_bytes)
        index_at[at] = count++;
    struct core_instruction *out = core_code(b->core);
    for (uint32_t at = 0; at < c->code_bytes; out++) {
        struct sched_instruction decoded = decode_at(c, at);
        const char *letters = sched_opcodes[decoded.opcode].operands;
        out->opcode = (uint8_t)decoded.opcode;
        out->cycles = (uint8_t)sched_opcodes[decoded.opcode].cycles;
        for (size_t i = 0; i < 3; i++)
            out->operands[i] = decoded.operands[i];
        for (size_t i = 0; letters[i] != '\0'; i++)
            if (letters[i] == 'L') out->target = index_at[decoded.operands[i]];
        at += decoded.size_bytes;
    }
    free(index_at);
    return true;
}

/* ---- all ---- */

struct core *prt_block_create(const struct prt_container *container, uint32_t reference_entries,
                              uint32_t *node_stage)
{
    const struct core_shape shape = find_shape(container);
    size_t bytes = core_size(&shape);
    /* uncovered: 0 bytes, which mean overflow, would need a file larger than the address space */
    void *memory = bytes > 0 ? calloc(1, bytes) : NULL;
    if (memory == NULL) return NULL;
    struct builder b = {container, core_lay_out(memory, &shape), node_stage, 0};
    b.core->references.count = reference_entries;
    for (uint32_t i = 0; i < container->stage_count; i++)
        node_stage[container->stages[i].node] = i;
    fill_buffers(&b);
    link_core_ends(&b);
    for (uint32_t i = 0; i < container->stage_count; i++)
        fill_core_stage(&b, i);
    fill_sets(&b);
    if (fill_code(&b) && prt_self_driven_find(b.core)) return b.core;
    free(memory);
    return NULL;
}

/* ---- order ---- */

/* Are the writer and all readers of the buffer on one queue? */
static bool is_on_one_queue(const struct core *core, const struct core_buffer *buffer)
{
    if (buffer->port != CORE_INNER) return false; /* an inner buffer has a writer */
    const struct core_reader *readers = core_fifo_reader(&buffer->fifo, 0);
    uint32_t queue = core_stage(core, buffer->writer)->queue;
    for (uint32_t i = 0; i < buffer->fifo.reader_count; i++)
        if (core_stage(core, readers[i].stage)->queue != queue) return false;
    return true;
}

/* Does a more important stage read packets of this one?  Then its completion is not delayed to the end of its dispatch
 * packet. */
static bool has_important_reader(const struct core *core, const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_buffer *buffer = core_written_buffer(core, core_output(core, stage, i));
        const struct core_reader *readers = core_fifo_reader(&buffer->fifo, 0);
        for (uint32_t r = 0; r < buffer->fifo.reader_count; r++)
            if (readers[r].stage != CORE_NONE &&
                core_stage(core, readers[r].stage)->importance > stage->importance)
                return true;
    }
    return false;
}

void prt_block_find_order(struct core *core)
{
    for (uint32_t i = 0; i < core->stage_count; i++) {
        struct core_stage *stage = core_stage(core, i);
        bool known = stage->exact && (stage->flags & CONTAINER_NODE_STOPS) == 0;
        stage->awaited = has_important_reader(core, stage);
        stage->depends = false;
        stage->in_order = true;
        for (uint32_t k = 0; k < stage->input_count; k++) {
            struct core_input *input = core_input(core, stage, k);
            const struct core_buffer *buffer = core_read_buffer(core, input);
            input->in_order = is_on_one_queue(core, buffer);
            stage->depends |= input->in_order;
            stage->in_order &= input->in_order;
        }
        for (uint32_t k = 0; k < stage->output_count; k++) {
            struct core_output *output = core_output(core, stage, k);
            const struct core_buffer *buffer = core_written_buffer(core, output);
            bool on_one_queue = is_on_one_queue(core, buffer);
            output->in_order = known && on_one_queue;
            stage->depends |= on_one_queue;
            stage->in_order &= output->in_order;
        }
    }
}
