/* SPDX-License-Identifier: MIT */
/* Creation of a run, binding of its ports, and the prologue of its program. */
#include "runtime/device/device_queue.h"
#include "lang/sched_code.h"
#include "runtime/sched/self_driven.h"
#include "runtime/sched/stage_profile.h"
#include "runtime/sched/inport.h"
#include "runtime/sched/arrival_port.h"
#include "runtime/sched/live_port.h"
#include "runtime/sched/own_queues.h"
#include "runtime/sched/provenance.h"
#include "runtime/sched/port_thread.h"
#include "runtime/sched/sched.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BLOCK_ALIGNMENT = 64 };

#define NO_MEMORY(error) prt_error_set((error), PRT_E_NOMEM, "out of memory")

/* ---- creation ---- */

static void *allocate_array(size_t count, size_t size)
{
    return calloc(count + 1, size); /* count 0: not NULL either */
}

/* Numbers in the prefix sums of all rates.  Each of the two lists of an end has one more number than rates. */
static size_t flow_sum_count(const struct prt_container *c)
{
    return c->rate_count + 2 * ((size_t)c->input_count + c->output_count);
}

static size_t set_stage_count(const struct prt_container *c)
{
    size_t count = 0;
    for (uint32_t i = 0; i < c->set_count; i++)
        count += c->sets[i].count;
    return count;
}

static bool allocate_run_tables(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    size_t ports = 0;
    for (uint32_t i = 0; i < c->buffer_count; i++)
        ports += c->buffers[i].outer != CONTAINER_INNER;
    s->buffers = allocate_array(c->buffer_count, sizeof *s->buffers);
    s->ports = allocate_array(ports, sizeof *s->ports);
    s->stages = allocate_array(c->stage_count, sizeof *s->stages);
    s->inputs = allocate_array(c->input_count, sizeof *s->inputs);
    s->outputs = allocate_array(c->output_count, sizeof *s->outputs);
    s->node_stage = allocate_array(c->node_count, sizeof *s->node_stage);
    s->takers = allocate_array(c->stage_count, sizeof *s->takers);
    s->cursors = allocate_array(c->set_count, sizeof *s->cursors);
    s->fullest = allocate_array(c->set_count, sizeof *s->fullest);
    s->objects = allocate_array((size_t)c->stage_count * 2, sizeof *s->objects);
    s->windows_in = allocate_array(c->input_count, sizeof *s->windows_in);
    s->windows_out = allocate_array(c->output_count, sizeof *s->windows_out);
    s->device_queues = allocate_array(c->stage_count, sizeof *s->device_queues);
    s->pop_bytes = allocate_array(c->input_count, sizeof *s->pop_bytes);
    s->push_bytes = allocate_array(c->output_count, sizeof *s->push_bytes);
    s->left = allocate_array(c->input_count, sizeof *s->left);
    s->produced = allocate_array(c->output_count, sizeof *s->produced);
    s->claimed_bytes = allocate_array(c->output_count, sizeof *s->claimed_bytes);
    s->packet_bytes = allocate_array(c->output_count, sizeof *s->packet_bytes);
    s->window_places = allocate_array(c->input_count, sizeof *s->window_places);
    s->flow_sums = allocate_array(flow_sum_count(c), sizeof *s->flow_sums);
    s->by_importance = allocate_array(set_stage_count(c), sizeof *s->by_importance);
    s->set_order = allocate_array(c->set_count, sizeof *s->set_order);
    s->completions = allocate_array(c->stage_count, sizeof *s->completions);
    s->argument_blocks = allocate_array(c->node_count, sizeof *s->argument_blocks);
    s->open_packets = allocate_array(c->stage_count, sizeof *s->open_packets);
    s->queues = allocate_array(c->stage_count, sizeof *s->queues);
    s->stage_faults = allocate_array(c->stage_count, sizeof *s->stage_faults);
    s->fault_walk = allocate_array(c->stage_count, sizeof *s->fault_walk);
    bool marks = prt_stage_marks_create(&s->ends_due, c->stage_count) &&
                 prt_stage_marks_create(&s->changed, c->stage_count);
    return marks && s->buffers && s->ports && s->stages && s->inputs && s->outputs &&
           s->node_stage && s->takers && s->cursors && s->fullest && s->objects && s->windows_in &&
           s->windows_out && s->device_queues && s->pop_bytes && s->push_bytes && s->left &&
           s->produced && s->open_packets && s->queues && s->claimed_bytes && s->packet_bytes &&
           s->window_places && s->flow_sums && s->by_importance && s->set_order && s->completions &&
           s->argument_blocks && s->stage_faults && s->fault_walk;
}

/* With more buffers, their mappings, two for each, may exceed the limit of a process. */
enum { BUFFERS_MANY = 16384 };

static enum prt_status refuse_buffer(const struct prt_container *c, uint32_t index,
                                     struct prt_error *error)
{
    if (c->buffer_count <= BUFFERS_MANY) return PRT_E_NOMEM;
    return prt_error_set(
        error, PRT_E_NOMEM,
        "no memory for buffer %" PRIu32 " of %" PRIu32
        ", each of which takes two memory mappings: is vm.max_map_count above %" PRIu64 "?",
        index + 1, c->buffer_count, (uint64_t)c->buffer_count * 2);
}

static enum prt_status create_buffers(struct prt_sched *s, struct prt_error *error)
{
    const struct prt_container *c = s->container;
    struct prt_port *port = s->ports;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const struct container_buffer *record = &c->buffers[i];
        struct prt_buffer *buffer = &s->buffers[i];
        buffer->record = record;
        if (record->outer != CONTAINER_INNER) buffer->port = port++;
        uint32_t readers = record->outer == CONTAINER_OUTER_OUT ? 1 : record->reader_count;
        enum prt_status status = prt_fifo_create(&buffer->fifo, record->width_bytes,
                                                 record->depth_packets, readers, error);
        if (status != PRT_OK) return refuse_buffer(c, i, error);
    }
    return PRT_OK;
}

/* The flow of an end: `total` packets in a cycle of phases, and one rate for each phase; `rates` NULL: one phase.
 * Writes prefix sums to *sums and moves it past them. */
static struct prt_flow link_flow(uint64_t total, uint32_t phases, const uint64_t *rates,
                                 uint64_t **sums)
{
    struct prt_flow flow = {.cycle = total, .phases = 1};
    if (rates == NULL) return flow;
    flow.phases = phases;
    flow.sums = *sums;
    prt_flow_sum(rates, phases, *sums);
    *sums += (size_t)phases + 1;
    return flow;
}

/* The two lists of rates of an end, one after the other, or NULL. */
static const uint64_t *rates_of(const struct prt_container *c, uint32_t index)
{
    return index == CONTAINER_NONE ? NULL : c->rates + index;
}

static void link_input(struct prt_sched *s, uint32_t index, uint32_t phases, uint64_t **sums)
{
    const struct prt_container *c = s->container;
    const struct container_input *input = &c->inputs[index];
    const struct container_buffer *buffer = &c->buffers[input->buffer];
    const uint64_t *rates = rates_of(c, input->rates);
    struct prt_stage_input *linked = &s->inputs[index];
    *linked = (struct prt_stage_input){.buffer = &s->buffers[input->buffer],
                                       .reader = input->reader - buffer->first_reader,
                                       .shape = {buffer->row_packets, buffer->frame_rows}};
    linked->take.pop = link_flow(input->pop, phases, rates, sums);
    linked->take.peek = input->peek;
    linked->take.peeks = rates == NULL ? NULL : rates + phases;
    if (input->window_width > 0)
        linked->window = (struct window){input->window_width, input->window_height, input->border};
    s->pop_bytes[index] = input->window_width > 0 ? 0 : input->pop * buffer->width_bytes;
}

static void link_output(struct prt_sched *s, uint32_t index, uint32_t phases, uint64_t **sums)
{
    const struct prt_container *c = s->container;
    const struct container_output *output = &c->outputs[index];
    const uint64_t *rates = rates_of(c, output->rates);
    const uint64_t *most = rates == NULL ? NULL : rates + phases;
    struct prt_stage_output *linked = &s->outputs[index];
    *linked = (struct prt_stage_output){.buffer = &s->buffers[output->buffer],
                                        .finish_max = output->finish_max};
    linked->least = link_flow(output->push_least, phases, rates, sums);
    linked->most = link_flow(output->push, phases, most, sums);
    s->packet_bytes[index] = c->buffers[output->buffer].width_bytes;
    s->push_bytes[index] = output->push * s->packet_bytes[index];
}

static bool has_exact_rates(const struct prt_container *c, const struct container_node *node)
{
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct container_output *output = &c->outputs[node->first_output + i];
        if (output->push_least != output->push) return false;
    }
    return true;
}

/* Each output of a bundle is compared with the output of that bundle before it. */
static void link_bundles(struct prt_sched *s, const struct container_node *node)
{
    uint32_t last[CONTAINER_BUNDLES_MAX] = {0}; /* by bundle: its last output, from 1 */
    for (uint32_t i = node->first_output; i < node->first_output + node->output_count; i++) {
        const struct container_output *output = &s->container->outputs[i];
        if (output->bundle == 0) continue;
        uint32_t before = last[output->bundle - 1];
        last[output->bundle - 1] = i + 1;
        if (before == 0) continue;
        s->outputs[i].in_step_with = before - 1;
        s->outputs[i].share = output->share;
        s->outputs[i].other_share = s->container->outputs[before - 1].share;
    }
}

static void link_ends(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    uint64_t *sums = s->flow_sums;
    for (uint32_t i = 0; i < c->node_count; i++) {
        const struct container_node *node = &c->nodes[i];
        for (uint32_t k = 0; k < node->input_count; k++)
            link_input(s, node->first_input + k, node->phases, &sums);
        for (uint32_t k = 0; k < node->output_count; k++)
            link_output(s, node->first_output + k, node->phases, &sums);
        if (!has_exact_rates(c, node)) link_bundles(s, node);
    }
}

/* Sorts the stages of a set by importance, the greatest first.  Stages of equal importance stay in order. */
static void order_set(struct prt_sched *s, const struct prt_stage_set *set, uint32_t *order)
{
    enum { LEVELS = 256 };
    uint32_t begin[LEVELS + 1] = {0};
    for (uint32_t i = 0; i < set->count; i++)
        begin[LEVELS - s->stages[set->stages[i]].node->importance]++;
    for (uint32_t i = 1; i <= LEVELS; i++)
        begin[i] += begin[i - 1];
    for (uint32_t i = 0; i < set->count; i++)
        order[begin[LEVELS - 1 - s->stages[set->stages[i]].node->importance]++] = set->stages[i];
}

static void order_sets(struct prt_sched *s)
{
    uint32_t *order = s->by_importance;
    for (uint32_t i = 0; i < s->container->set_count; i++) {
        s->set_order[i] = order;
        order_set(s, &s->container->sets[i], order);
        order += s->container->sets[i].count;
    }
}

/* Where the next block begins after one of `bytes`.  Both are at most SIZE_MAX / 4, so nothing overflows. */
static size_t next_block(size_t at, uint64_t bytes)
{
    return (at + bytes + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
}

/* All blocks of all nodes in one zeroed mapping: pages that are never touched cost nothing.  The reader bounds each
 * block by SIZE_MAX / 4. */
static enum prt_status create_blocks(struct prt_sched *s, struct prt_error *error)
{
    const struct prt_container *c = s->container;
    size_t total = BLOCK_ALIGNMENT;
    for (uint32_t i = 0; i < c->node_count; i++) {
        const struct container_node *node = &c->nodes[i];
        const uint64_t sizes[] = {node->arguments_bytes, node->tables_bytes, node->state_bytes};
        for (size_t k = 0; k < 3; k++) {
            total = next_block(total, sizes[k]);
            if (total > SIZE_MAX / 4) return NO_MEMORY(error);
        }
    }
    void *blocks = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (blocks == MAP_FAILED) return NO_MEMORY(error);
    s->blocks = blocks;
    s->blocks_bytes = total;
    return PRT_OK;
}

static enum prt_status create_indices(struct prt_sched *s, struct prt_error *error)
{
    struct prt_device_info info;
    s->ops->info(s->device, &info);
    return prt_indices_create(s->container, &info, &s->indices, error);
}

/* A batch cannot be cut into ranges of firings: where a range begins in the windows depends on the phase, or is not
 * known before the batch has executed. */
static bool is_whole(const struct prt_container *c, const struct container_node *node)
{
    const uint32_t flags = CONTAINER_NODE_STOPS | CONTAINER_NODE_LAUNCHES;
    return node->phases > 1 || (node->flags & flags) != 0 || !has_exact_rates(c, node);
}

/* The node is whole only because its rates are bounded. */
static bool can_be_apart(const struct prt_container *c, const struct container_node *node)
{
    const uint32_t others =
        CONTAINER_NODE_STOPS | CONTAINER_NODE_LAUNCHES | CONTAINER_NODE_STATEFUL;
    return node->phases == 1 && (node->flags & others) == 0 && !has_exact_rates(c, node);
}

static bool reads_outer_port(const struct prt_sched *s, const struct container_node *node)
{
    for (uint32_t i = 0; i < node->input_count; i++)
        if (s->inputs[node->first_input + i].buffer->port != NULL) return true;
    return false;
}

/* Packets of a frame of the node's 2-D windows; 0: it has none. */
static uint64_t find_frame(const struct prt_sched *s, const struct container_node *node)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct prt_stage_input *input = &s->inputs[node->first_input + i];
        if (input->window.width > 0) return window_frame(input->shape);
    }
    return 0;
}

/* A firing that launches kernels is a work-group that shares no warp with other firings.  Its cost is known only when
 * it has executed. */
static void isolate_firings(struct prt_kernel_object *object)
{
    object->warp_cycles = core_cycles_multiply(object->warp_cycles, object->shape.warps_per_firing);
    object->shape = (struct core_warp_shape){1, 1};
    object->flags |= PRT_KERNEL_BOUNDED;
}

static void create_objects(struct prt_sched *s, uint32_t index, size_t *at)
{
    const struct prt_container *c = s->container;
    const struct container_node *node = s->stages[index].node;
    uint32_t number = (uint32_t)(node - c->nodes);
    struct prt_kernel_object object = {
        .in = s->windows_in + node->first_input,
        .out = s->windows_out + node->first_output,
        .pop_bytes = s->pop_bytes + node->first_input,
        .push_bytes = s->push_bytes + node->first_output,
        .input_count = node->input_count,
        .output_count = node->output_count,
        .stage = index,
        .index = prt_indices_find(c, &s->indices, node->kernel),
        .cost_cycles = node->cost_cycles,
        .warp_cycles = node->warp_cycles,
        .shape = {node->warp_firings, node->firing_warps},
    };
    object.arguments = s->argument_blocks[number] = s->blocks + *at;
    *at = next_block(*at, node->arguments_bytes);
    object.tables = s->blocks + *at;
    *at = next_block(*at, node->tables_bytes);
    object.state = s->blocks + *at;
    *at = next_block(*at, node->state_bytes);
    if (node->flags & CONTAINER_NODE_STATEFUL) object.flags |= PRT_KERNEL_STATEFUL;
    if (node->flags & CONTAINER_NODE_INDEXED) object.flags |= PRT_KERNEL_INDEXED;
    if (node->flags & CONTAINER_NODE_COUNTED) object.flags |= PRT_KERNEL_COUNTED;
    if (node->flags & CONTAINER_NODE_STOPS) object.flags |= PRT_KERNEL_STOPS;
    object.claimed_bytes = s->claimed_bytes + node->first_output;
    object.produced = s->produced + node->first_output;
    object.packet_bytes = s->packet_bytes + node->first_output;
    object.batch_max = s->stages[index].batch_max;
    object.completed = &s->stages[index].completed;
    if (s->stages[index].frame_packets > 0) object.windows = s->window_places + node->first_input;
    if (is_whole(c, node)) object.flags |= PRT_KERNEL_WHOLE;
    if (!has_exact_rates(c, node)) object.flags |= PRT_KERNEL_BOUNDED;
    if (can_be_apart(c, node)) object.flags |= PRT_KERNEL_APART;
    object.device_queue = s->device_queues[index];
    if (object.device_queue != NULL) isolate_firings(&object);
    s->objects[index] = object;
    object.flags |= PRT_KERNEL_FINISH;
    object.warp_cycles = node->finish_cycles;
    object.shape = (struct core_warp_shape){1, 1};
    object.windows = NULL;
    object.index = NULL;
    object.device_queue = NULL;
    object.left = s->left + node->first_input;
    s->objects[c->stage_count + index] = object;
}

/* Creates a device queue for each stage whose firings launch kernels. */
static enum prt_status create_device_queues(struct prt_sched *s, struct prt_error *error)
{
    const struct prt_container *c = s->container;
    struct prt_device_info info;
    s->ops->info(s->device, &info);
    for (uint32_t i = 0; i < c->interface_count; i++) {
        if (c->interfaces[i].node == CONTAINER_NONE) continue;
        uint32_t stage = 0;
        while (c->stages[stage].node != c->interfaces[i].node)
            stage++;
        enum prt_status status = prt_device_queue_create(
            c, i, s->image->interfaces, info.description, &s->device_queues[stage], error);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* Bytes that a firing consumes; 0 if they depend on its phase. */
static uint64_t firing_read_bytes(const struct prt_sched *s, const struct container_node *node)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < node->input_count && node->phases == 1; i++) {
        const struct prt_stage_input *input = &s->inputs[node->first_input + i];
        uint64_t width = input->buffer->record->width_bytes;
        bytes = core_cycles_add(bytes, core_cycles_multiply(input->take.pop.cycle, width));
    }
    return bytes;
}

static bool has_flag(const struct container_stage *record, enum container_stage_flags flag)
{
    return (record->flags & (uint32_t)flag) != 0;
}

static void create_stages(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    size_t at = 0;
    for (uint32_t i = 0; i < c->stage_count; i++) {
        const struct container_stage *record = &c->stages[i];
        const struct container_node *node = &c->nodes[record->node];
        s->stages[i] = (struct prt_stage){.node = node,
                                          .inputs = s->inputs + node->first_input,
                                          .outputs = s->outputs + node->first_output,
                                          .exact = has_exact_rates(c, node),
                                          .reads_port = reads_outer_port(s, node),
                                          .frame_packets = find_frame(s, node),
                                          .read_bytes = firing_read_bytes(s, node),
                                          .entry = record->entry,
                                          .spilled = has_flag(record, CONTAINER_STAGE_SPILLED),
                                          .ends_pack = has_flag(record, CONTAINER_STAGE_ENDS_PACK),
                                          .threshold = record->threshold,
                                          .batch_max = record->batch_max};
        s->node_stage[record->node] = i;
        create_objects(s, i, &at);
    }
}

/* A search for stages that packets can reach. */
struct reach {
    struct prt_sched *sched;
    uint32_t *stack; /* stages whose readers are still to be marked */
    uint32_t depth;
    bool fed; /* it marks stages as `fed`, too */
};

static void reach_stage(struct reach *reach, uint32_t index)
{
    struct prt_stage *stage = &reach->sched->stages[index];
    if (reach->fed ? stage->fed : stage->driven) return;
    stage->fed |= reach->fed;
    stage->driven = true;
    assert(reach->depth < reach->sched->container->stage_count); /* each stage is pushed once */
    reach->stack[reach->depth++] = index;
}

static void reach_readers(struct reach *reach, const struct prt_buffer *buffer)
{
    const struct container_buffer *record = buffer->record;
    for (uint32_t i = 0; i < record->reader_count; i++) {
        uint32_t node = reach->sched->container->readers[record->first_reader + i].node;
        reach_stage(reach, reach->sched->node_stage[node]);
    }
}

static void follow_reached(struct reach *reach)
{
    while (reach->depth > 0) {
        const struct prt_stage *stage = &reach->sched->stages[reach->stack[--reach->depth]];
        for (uint32_t i = 0; i < stage->node->output_count; i++)
            reach_readers(reach, stage->outputs[i].buffer);
    }
}

/* Marks every stage that packets of an in-port can reach, then every stage that packets of a source can reach. */
static enum prt_status mark_driven_stages(struct prt_sched *s, struct prt_error *error)
{
    struct reach reach = {.sched = s, .fed = true};
    reach.stack = allocate_array(s->container->stage_count, sizeof *reach.stack);
    if (reach.stack == NULL) return NO_MEMORY(error);
    for (uint32_t i = 0; i < s->container->buffer_count; i++) {
        if (s->buffers[i].record->outer == CONTAINER_OUTER_IN)
            reach_readers(&reach, &s->buffers[i]);
    }
    follow_reached(&reach);
    reach.fed = false;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        if (s->stages[i].node->input_count == 0) reach_stage(&reach, i);
    }
    follow_reached(&reach);
    free(reach.stack);
    return PRT_OK;
}

static void open_packets(struct prt_sched *s)
{
    struct prt_device_info info;
    s->ops->info(s->device, &info);
    s->references.count = info.description->reference_entries;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        dispatch_open(&s->open_packets[i].writer);
        assert(s->stages[i].entry == CONTAINER_NONE || /* prt_verify_device */
               s->stages[i].entry < s->references.count);
    }
}

enum prt_status prt_sched_create(const struct prt_container *container,
                                 const struct prt_image *image, const struct prt_device_ops *ops,
                                 struct prt_device *device, struct prt_sched **sched,
                                 struct prt_error *error)
{
    struct prt_sched *s = calloc(1, sizeof *s);
    if (s == NULL) return NO_MEMORY(error);
    s->container = container;
    s->image = image;
    s->ops = ops;
    s->device = device;
    s->root = prt_device_tree_root(ops->tree(device));
    s->root_queue = PRT_SCHED_NO_QUEUE;
    s->selected = UINT32_MAX;
    s->firings_limit = UINT64_MAX;
    s->dispatch = PRT_PACKET_CONDENSED;
    atomic_init(&s->interrupted, false);
    for (uint32_t i = 0; i < DISPATCH_ENTRIES_MAX; i++)
        s->reference_stages[i] = UINT32_MAX;
    enum prt_status status = allocate_run_tables(s) ? PRT_OK : NO_MEMORY(error);
    if (status == PRT_OK) status = create_buffers(s, error);
    if (status == PRT_OK) status = create_blocks(s, error);
    if (status == PRT_OK) status = create_indices(s, error);
    if (status == PRT_OK) {
        link_ends(s);
        status = create_device_queues(s, error);
    }
    if (status == PRT_OK) {
        create_stages(s);
        order_sets(s);
        status = mark_driven_stages(s, error);
    }
    if (status == PRT_OK && !prt_self_driven_find_components(s)) status = NO_MEMORY(error);
    if (status == PRT_OK) open_packets(s);
    if (status == PRT_OK) {
        status = ops->set_kernels(device, s->objects, container->stage_count * 2,
                                  container->stage_count);
        if (status != PRT_OK) prt_error_set(error, status, "%s", prt_status_text(status));
    }
    if (status != PRT_OK) {
        prt_sched_destroy(s);
        return status;
    }
    *sched = s;
    return PRT_OK;
}

void prt_sched_destroy(struct prt_sched *s)
{
    if (s == NULL) return;
    for (uint32_t i = 0; s->buffers != NULL && i < s->container->buffer_count; i++) {
        if (s->buffers[i].port != NULL) free(s->buffers[i].port->ahead.extra);
        if (s->buffers[i].port != NULL) prt_port_thread_destroy(s->buffers[i].port->given_thread);
        if (s->buffers[i].port != NULL) prt_arrival_port_destroy(s->buffers[i].port->arrival);
        prt_fifo_destroy(&s->buffers[i].fifo);
    }
    if (s->blocks != NULL) munmap(s->blocks, s->blocks_bytes);
    prt_live_destroy(s->live);
    prt_bell_destroy(s->bell);
    prt_profile_destroy(s->profile);
    prt_origins_destroy(s->origins);
    prt_indices_free(&s->indices);
    free(s->buffers);
    free(s->ports);
    free(s->stages);
    free(s->inputs);
    free(s->outputs);
    for (uint32_t i = 0; s->device_queues != NULL && i < s->container->stage_count; i++)
        prt_device_queue_destroy(s->device_queues[i]);
    free(s->device_queues);
    prt_stage_marks_destroy(&s->ends_due);
    prt_stage_marks_destroy(&s->changed);
    free(s->node_stage);
    free(s->takers);
    free(s->cursors);
    free(s->fullest);
    free(s->objects);
    free(s->windows_in);
    free(s->windows_out);
    free(s->pop_bytes);
    free(s->push_bytes);
    free(s->left);
    free(s->produced);
    free(s->claimed_bytes);
    free(s->packet_bytes);
    free(s->window_places);
    free(s->flow_sums);
    free(s->by_importance);
    free(s->set_order);
    free(s->completions);
    free(s->argument_blocks);
    free(s->open_packets);
    free(s->sub_devices);
    free(s->sub_device_queues);
    free(s->queues);
    free(s->stage_faults);
    free(s->fault_walk);
    free(s);
}

void prt_sched_set_root(struct prt_sched *s, struct prt_device_handle root)
{
    s->root = root;
}

void prt_sched_set_dispatch(struct prt_sched *s, enum prt_packet_kind form)
{
    s->dispatch = form;
    s->dispatch_given = true;
}

void prt_sched_packets(struct prt_sched *s, enum prt_packet_kind form)
{
    if (!s->dispatch_given) s->dispatch = form;
}

void prt_sched_load_reference(struct prt_sched *s, uint32_t stage)
{
    s->stages[stage].loads = true;
}

void prt_sched_bind_source(struct prt_sched *s, uint32_t buffer, prt_sched_source source,
                           void *context)
{
    struct prt_port *port = s->buffers[buffer].port;
    prt_fifo_leave(&s->buffers[buffer].fifo);
    port->source = source;
    port->context = context;
}

enum prt_status prt_sched_source_at_hand(struct prt_sched *s, uint32_t buffer,
                                         struct prt_error *error)
{
    return prt_inport_at_hand(&s->buffers[buffer], error);
}

void prt_sched_source_eager(struct prt_sched *s, uint32_t buffer)
{
    s->buffers[buffer].port->asked_eager = true;
}

enum prt_status prt_sched_source_arrivals(struct prt_sched *s, uint32_t buffer,
                                          struct prt_arrivals *arrivals, struct prt_error *error)
{
    return prt_arrival_port_create(&s->buffers[buffer], arrivals, error);
}

void prt_sched_set_latency(struct prt_sched *s, uint64_t nanoseconds)
{
    s->latency_nanoseconds = nanoseconds;
}

void prt_sched_bind_sink(struct prt_sched *s, uint32_t buffer, prt_sched_sink sink, void *context)
{
    struct prt_port *port = s->buffers[buffer].port;
    prt_fifo_leave(&s->buffers[buffer].fifo);
    if (port->sink == NULL && sink != NULL) s->open_sinks++;
    if (port->sink != NULL && sink == NULL) s->open_sinks--;
    port->sink = sink;
    port->context = context;
}

/* ---- prologue ---- */

static enum prt_status partition(struct prt_sched *s, const int64_t *properties, uint32_t count,
                                 struct prt_error *error)
{
    s->sub_devices = allocate_array(count, sizeof *s->sub_devices);
    s->sub_device_queues = allocate_array(count, sizeof *s->sub_device_queues);
    if (s->sub_devices == NULL || s->sub_device_queues == NULL) return NO_MEMORY(error);
    enum prt_status status = prt_create_sub_devices(s->ops->tree(s->device), s->root, properties,
                                                    count, s->sub_devices, &s->sub_device_count);
    if (status == PRT_E_OUT_OF_HOST_MEMORY) return NO_MEMORY(error);
    if (status != PRT_OK)
        return prt_error_set(error, PRT_E_DEVICE, "the device cannot be cut into sub-devices: %s",
                             prt_status_text(status));
    for (uint32_t i = 0; i < count; i++)
        s->sub_device_queues[i] = PRT_SCHED_NO_QUEUE;
    return PRT_OK;
}

enum prt_status prt_sched_partition_equally(struct prt_sched *s, uint32_t cu_count,
                                            struct prt_error *error)
{
    const int64_t properties[] = {PRT_PARTITION_EQUALLY, cu_count, 0};
    return partition(s, properties, s->container->device->cu_count / cu_count, error);
}

enum prt_status prt_sched_partition_counts(struct prt_sched *s, const uint32_t *counts,
                                           uint32_t count, struct prt_error *error)
{
    int64_t *properties = allocate_array((size_t)count + 3, sizeof *properties);
    if (properties == NULL) return NO_MEMORY(error);
    properties[0] = PRT_PARTITION_BY_COUNTS;
    for (uint32_t i = 0; i < count; i++)
        properties[i + 1] = counts[i];
    enum prt_status status = partition(s, properties, count, error);
    free(properties);
    return status;
}

enum prt_status prt_sched_partition_affinity(struct prt_sched *s, uint32_t level, uint32_t cu_count,
                                             struct prt_error *error)
{
    const int64_t properties[] = {PRT_PARTITION_BY_AFFINITY_DOMAIN, PRT_AFFINITY_NUMA << level, 0};
    uint32_t wanted = s->container->device->cu_count / cu_count, count = 0;
    /* All domains of a level but the last have the same size, so their number determines it. */
    enum prt_status status =
        prt_create_sub_devices(s->ops->tree(s->device), s->root, properties, 0, NULL, &count);
    if (status == PRT_OK && count != wanted)
        return prt_error_set(error, PRT_E_DEVICE,
                             "the device has %" PRIu32 " domains of level %s, the program was made "
                             "for %" PRIu32,
                             count, sched_levels[level], wanted);
    return partition(s, properties, wanted, error);
}

static uint32_t stage_queue(const struct prt_sched *s, uint32_t node)
{
    return s->stages[s->node_stage[node]].queue;
}

/* Are the writer and all readers of the buffer on one queue? */
static bool is_on_one_queue(const struct prt_sched *s, const struct container_buffer *record)
{
    if (record->outer != CONTAINER_INNER) return false; /* an inner buffer has a writer */
    for (uint32_t i = 0; i < record->reader_count; i++) {
        uint32_t node = s->container->readers[record->first_reader + i].node;
        if (stage_queue(s, node) != stage_queue(s, record->writer_node)) return false;
    }
    return true;
}

/* Does a more important stage read packets of this one?  Then its completion is not delayed to the end of its dispatch
 * packet. */
static bool has_important_reader(const struct prt_sched *s, const struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->output_count; i++) {
        const struct container_buffer *record = stage->outputs[i].buffer->record;
        for (uint32_t r = 0; r < record->reader_count; r++) {
            uint32_t reader = s->container->readers[record->first_reader + r].node;
            if (s->container->nodes[reader].importance > stage->node->importance) return true;
        }
    }
    return false;
}

/* Called when every stage has its queue. */
static void find_order(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    for (uint32_t i = 0; i < c->stage_count; i++) {
        struct prt_stage *stage = &s->stages[i];
        bool known = stage->exact && (stage->node->flags & CONTAINER_NODE_STOPS) == 0;
        stage->awaited = has_important_reader(s, stage);
        for (uint32_t k = 0; k < stage->node->input_count; k++)
            stage->inputs[k].in_order = is_on_one_queue(s, stage->inputs[k].buffer->record);
        for (uint32_t k = 0; k < stage->node->output_count; k++)
            stage->outputs[k].in_order =
                known && is_on_one_queue(s, stage->outputs[k].buffer->record);
    }
}

/* The queue of that importance among those of a (sub-)device, the first of which is `first`; PRT_SCHED_NO_QUEUE: there
 * is none.  Each importance has a queue of its own, because launches of greater importance overtake those that wait
 * and interrupt those that execute. */
static uint32_t find_queue(const struct prt_sched *s, uint32_t first, uint32_t importance)
{
    while (first != PRT_SCHED_NO_QUEUE && s->queues[first].importance != importance)
        first = s->queues[first].next;
    return first;
}

/* Creates the queue for the first stage of its importance that is bound to the (sub-)device. */
static enum prt_status open_queue(struct prt_sched *s, struct prt_device_handle device,
                                  uint32_t importance, uint32_t *first, uint32_t *queue)
{
    enum prt_status status = s->ops->queue_create(s->device, device, importance, queue);
    if (status != PRT_OK) return status;
    assert(*queue < s->container->stage_count);
    s->queues[*queue] = (struct prt_sched_queue){
        .on = device, .importance = importance, .next = *first, .root = first == &s->root_queue};
    *first = *queue;
    s->queue_count = *queue + 1; /* they are numbered from 0 */
    return PRT_OK;
}

static enum prt_status bind_queue(struct prt_sched *s, uint32_t stage,
                                  struct prt_device_handle device, uint32_t *first,
                                  struct prt_error *error)
{
    struct prt_device_information information;
    uint32_t importance = s->stages[stage].node->importance;
    uint32_t queue = find_queue(s, *first, importance);
    enum prt_status status = prt_device_query(s->ops->tree(s->device), device, &information);
    assert(status == PRT_OK); /* the root, or a sub-device of it that the program has made */
    if (queue == PRT_SCHED_NO_QUEUE) status = open_queue(s, device, importance, first, &queue);
    if (status != PRT_OK) return prt_error_set(error, status, "%s", prt_status_text(status));
    s->stages[stage].queue = queue;
    s->stages[stage].cu_count = information.cu_count;
    if (s->device_queues[stage] != NULL)
        prt_device_queue_bind(s->device_queues[stage], information.cu_count);
    if (++s->bound_count < s->container->stage_count) return PRT_OK;
    find_order(s);
    status = prt_own_queues_open(s);
    return status == PRT_OK ? status : NO_MEMORY(error);
}

enum prt_status prt_sched_bind_root(struct prt_sched *s, uint32_t stage, struct prt_error *error)
{
    return bind_queue(s, stage, s->root, &s->root_queue, error);
}

enum prt_status prt_sched_bind(struct prt_sched *s, uint32_t stage, uint32_t sub_device,
                               struct prt_error *error)
{
    assert(sub_device < s->sub_device_count);
    return bind_queue(s, stage, s->sub_devices[sub_device], &s->sub_device_queues[sub_device],
                      error);
}
