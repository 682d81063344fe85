/* SPDX-License-Identifier: MIT */
#include "model/stage_objects.h"

#include "base/array_allocate.h"
#include "core/flow.h"

#include <stdlib.h>

struct prt_index_configuration prt_index_configure(const struct prt_container *c,
                                                   const struct container_index *record)
{
    struct prt_index_configuration configuration = {
        .key = {.address_bytes = record->address_bytes},
        .items = record->extents[0] * record->extents[1] * record->extents[2],
        .lanes = c->device->lanes,
        .first_warp = c->first_warps + record->first_warp,
    };
    for (int d = 0; d < 3; d++) {
        configuration.key.extents[d] = record->extents[d];
        configuration.step[d] = record->step[d];
    }
    return configuration;
}

/* ---- bytes ---- */

uint64_t prt_stage_objects_count_read(const struct core *core, const struct core_stage *stage)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(core, stage, i);
        uint64_t packets =
            core_flow_total(core_numbers(core), &input->take.pop, stage->firings, stage->batch);
        uint64_t width = core_read_buffer(core, input)->fifo.width_bytes;
        bytes = core_cycles_add(bytes, core_cycles_multiply(packets, width));
    }
    return bytes;
}

/* Bytes that a firing consumes; 0 if they depend on its phase. */
static uint64_t firing_read_bytes(const struct core *core, const struct core_stage *stage)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < stage->input_count && stage->phases == 1; i++) {
        const struct core_input *input = core_input(core, stage, i);
        uint64_t width = core_read_buffer(core, input)->fifo.width_bytes;
        bytes = core_cycles_add(bytes, core_cycles_multiply(input->take.pop.cycle, width));
    }
    return bytes;
}

/* The bytes of the packets of each end. */
static void fill_bytes(const struct prt_container *c, const struct core *core,
                       struct prt_stage_objects *objects)
{
    for (uint32_t i = 0; i < c->input_count; i++) {
        const struct container_input *input = &c->inputs[i];
        objects->pop_bytes[i] =
            input->window_width > 0 ? 0 : input->pop * c->buffers[input->buffer].width_bytes;
    }
    for (uint32_t i = 0; i < c->output_count; i++) {
        const struct container_output *output = &c->outputs[i];
        objects->packet_bytes[i] = c->buffers[output->buffer].width_bytes;
        objects->push_bytes[i] = output->push * objects->packet_bytes[i];
    }
    for (uint32_t i = 0; i < c->stage_count; i++)
        objects->read_bytes[i] = firing_read_bytes(core, core_stage(core, i));
}

/* ---- objects ---- */

/* A batch cannot be cut into ranges of firings: where a range begins in the windows depends on the phase, or is not
 * known before the batch has executed. */
static bool is_whole(const struct core_stage *stage)
{
    const uint32_t flags = CONTAINER_NODE_STOPS | CONTAINER_NODE_LAUNCHES;
    return stage->phases > 1 || (stage->flags & flags) != 0 || !stage->exact;
}

/* The node is whole only because its rates are bounded. */
static bool can_be_apart(const struct core_stage *stage)
{
    const uint32_t others =
        CONTAINER_NODE_STOPS | CONTAINER_NODE_LAUNCHES | CONTAINER_NODE_STATEFUL;
    return stage->phases == 1 && (stage->flags & others) == 0 && !stage->exact;
}

static uint32_t object_flags(const struct core_stage *stage)
{
    uint32_t flags = 0;
    if (stage->flags & CONTAINER_NODE_STATEFUL) flags |= PRT_KERNEL_STATEFUL;
    if (stage->flags & CONTAINER_NODE_INDEXED) flags |= PRT_KERNEL_INDEXED;
    if (stage->flags & CONTAINER_NODE_COUNTED) flags |= PRT_KERNEL_COUNTED;
    if (stage->flags & CONTAINER_NODE_STOPS) flags |= PRT_KERNEL_STOPS;
    if (is_whole(stage)) flags |= PRT_KERNEL_WHOLE;
    if (!stage->exact) flags |= PRT_KERNEL_BOUNDED;
    if (can_be_apart(stage)) flags |= PRT_KERNEL_APART;
    return flags;
}

void prt_stage_object_isolate(struct prt_kernel_object *object)
{
    object->warp_cycles = core_cycles_multiply(object->warp_cycles, object->shape.warps_per_firing);
    object->shape = (struct core_warp_shape){1, 1};
    object->flags |= PRT_KERNEL_BOUNDED | PRT_KERNEL_LAUNCHES;
}

static void fill_objects(const struct prt_container *c, struct core *core, uint32_t index,
                         struct prt_stage_objects *objects)
{
    struct core_stage *stage = core_stage(core, index);
    const struct container_node *node = &c->nodes[stage->node];
    struct prt_kernel_object object = {
        .pop_bytes = objects->pop_bytes + node->first_input,
        .push_bytes = objects->push_bytes + node->first_output,
        .claimed_bytes = objects->claimed_bytes + node->first_output,
        .produced = core_produced(core) + node->first_output,
        .packet_bytes = objects->packet_bytes + node->first_output,
        .completed = &stage->completed,
        .batch_max = stage->batch_max,
        .input_count = node->input_count,
        .output_count = node->output_count,
        .flags = object_flags(stage),
        .stage = index,
        .cost_cycles = node->cost_cycles,
        .warp_cycles = node->warp_cycles,
        .shape = {node->warp_firings, node->firing_warps},
        .room = {node->local_bytes, node->registers},
    };
    objects->items[index] = object;
    object.flags |= PRT_KERNEL_FINISH;
    object.warp_cycles = node->finish_cycles;
    object.shape = (struct core_warp_shape){1, 1};
    object.room = (struct core_timing_room){0, 0};
    object.left = objects->left + node->first_input;
    objects->items[c->stage_count + index] = object;
}

/* ---- all ---- */

static bool allocate_object_tables(const struct prt_container *c, struct prt_stage_objects *objects)
{
    *objects = (struct prt_stage_objects){
        .items = array_allocate((size_t)c->stage_count * 2, sizeof *objects->items),
        .pop_bytes = array_allocate(c->input_count, sizeof *objects->pop_bytes),
        .push_bytes = array_allocate(c->output_count, sizeof *objects->push_bytes),
        .left = array_allocate(c->input_count, sizeof *objects->left),
        .claimed_bytes = array_allocate(c->output_count, sizeof *objects->claimed_bytes),
        .packet_bytes = array_allocate(c->output_count, sizeof *objects->packet_bytes),
        .read_bytes = array_allocate(c->stage_count, sizeof *objects->read_bytes),
    };
    return objects->items && objects->pop_bytes && objects->push_bytes && objects->left &&
           objects->claimed_bytes && objects->packet_bytes && objects->read_bytes;
}

enum prt_status prt_stage_objects_create(const struct prt_container *container, struct core *core,
                                         struct prt_stage_objects *objects)
{
    if (!allocate_object_tables(container, objects)) return PRT_E_NOMEM;
    fill_bytes(container, core, objects);
    for (uint32_t i = 0; i < container->stage_count; i++)
        fill_objects(container, core, i, objects);
    return PRT_OK;
}

void prt_stage_objects_free(struct prt_stage_objects *objects)
{
    free(objects->items);
    free(objects->pop_bytes);
    free(objects->push_bytes);
    free(objects->left);
    free(objects->claimed_bytes);
    free(objects->packet_bytes);
    free(objects->read_bytes);
}
