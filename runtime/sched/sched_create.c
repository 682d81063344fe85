/* SPDX-License-Identifier: MIT */
/* Creation of a run, and binding of its ports. */
#include "lang/sched_code.h"
#include "runtime/device/device_queue.h"
#include "model/self_driven.h"
#include "runtime/sched/stage_profile.h"
#include "runtime/sched/inport.h"
#include "runtime/sched/arrival_port.h"
#include "model/cached_buffers.h"
#include "runtime/sched/live_port.h"
#include "runtime/sched/provenance.h"
#include "model/block.h"
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

static bool allocate_run_tables(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    size_t ports = 0;
    for (uint32_t i = 0; i < c->buffer_count; i++)
        ports += c->buffers[i].outer != CONTAINER_INNER;
    s->buffers = allocate_array(c->buffer_count, sizeof *s->buffers);
    s->ports = allocate_array(ports, sizeof *s->ports);
    s->node_stage = allocate_array(c->node_count, sizeof *s->node_stage);
    s->objects = allocate_array((size_t)c->stage_count * 2, sizeof *s->objects);
    s->windows_in = allocate_array(c->input_count, sizeof *s->windows_in);
    s->windows_out = allocate_array(c->output_count, sizeof *s->windows_out);
    s->device_queues = allocate_array(c->stage_count, sizeof *s->device_queues);
    s->pop_bytes = allocate_array(c->input_count, sizeof *s->pop_bytes);
    s->push_bytes = allocate_array(c->output_count, sizeof *s->push_bytes);
    s->left = allocate_array(c->input_count, sizeof *s->left);
    s->claimed_bytes = allocate_array(c->output_count, sizeof *s->claimed_bytes);
    s->packet_bytes = allocate_array(c->output_count, sizeof *s->packet_bytes);
    s->window_places = allocate_array(c->input_count, sizeof *s->window_places);
    s->argument_blocks = allocate_array(c->node_count, sizeof *s->argument_blocks);
    s->queues = allocate_array(c->stage_count, sizeof *s->queues);
    s->read = allocate_array(c->input_count, sizeof *s->read);
    s->written = allocate_array(c->output_count, sizeof *s->written);
    s->read_bytes = allocate_array(c->stage_count, sizeof *s->read_bytes);
    return s->buffers && s->ports && s->node_stage && s->objects && s->windows_in &&
           s->windows_out && s->device_queues && s->pop_bytes && s->push_bytes && s->left &&
           s->queues && s->claimed_bytes && s->packet_bytes && s->window_places &&
           s->argument_blocks && s->read && s->written && s->read_bytes;
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
        buffer->core = &core_buffers(s->core)[i];
        buffer->fifo = &buffer->core->fifo;
        enum prt_status status = prt_ring_create(&buffer->ring, buffer->fifo, error);
        if (status != PRT_OK) return refuse_buffer(c, i, error);
    }
    return PRT_OK;
}

static bool has_exact_rates(const struct prt_container *c, const struct container_node *node)
{
    for (uint32_t i = 0; i < node->output_count; i++) {
        const struct container_output *output = &c->outputs[node->first_output + i];
        if (output->push_least != output->push) return false;
    }
    return true;
}

/* Finds the windows of each end, and the bytes of its packets. */
static void link_ends(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    for (uint32_t i = 0; i < c->input_count; i++) {
        const struct container_input *input = &c->inputs[i];
        s->pop_bytes[i] =
            input->window_width > 0 ? 0 : input->pop * c->buffers[input->buffer].width_bytes;
        struct prt_buffer *buffer = &s->buffers[input->buffer];
        s->read[i] =
            (struct prt_input_window){&buffer->ring, core_input_reader(s->core, &s->inputs[i])};
    }
    for (uint32_t i = 0; i < c->output_count; i++) {
        const struct container_output *output = &c->outputs[i];
        s->packet_bytes[i] = c->buffers[output->buffer].width_bytes;
        s->written[i] = &s->buffers[output->buffer];
        s->push_bytes[i] = output->push * s->packet_bytes[i];
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

/* A firing that launches kernels is a work-group that shares no warp with other firings.  Its cost is known only when
 * it has executed. */
static void isolate_firings(struct prt_kernel_object *object)
{
    object->warp_cycles = core_cycles_multiply(object->warp_cycles, object->shape.warps_per_firing);
    object->shape = (struct core_warp_shape){1, 1};
    object->flags |= PRT_KERNEL_BOUNDED | PRT_KERNEL_LAUNCHES;
}

static void create_objects(struct prt_sched *s, uint32_t index, size_t *at)
{
    const struct prt_container *c = s->container;
    uint32_t number = s->stages[index].node;
    const struct container_node *node = &c->nodes[number];
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
    object.produced = core_produced(s->core) + node->first_output;
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
    object.flags &= ~(uint32_t)PRT_KERNEL_LAUNCHES;
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
        const struct core_input *input = &s->inputs[node->first_input + i];
        uint64_t width = prt_input_buffer(s, input)->record->width_bytes;
        bytes = core_cycles_add(bytes, core_cycles_multiply(input->take.pop.cycle, width));
    }
    return bytes;
}

static void create_stages(struct prt_sched *s)
{
    size_t at = 0;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        s->read_bytes[i] = firing_read_bytes(s, prt_stage_node(s, &s->stages[i]));
        create_objects(s, i, &at);
    }
}

static enum prt_status create_block(struct prt_sched *s, struct prt_error *error)
{
    struct prt_device_info info;
    s->ops->info(s->device, &info);
    s->core = prt_block_create(s->container, info.description->reference_entries, s->node_stage);
    if (s->core == NULL) return NO_MEMORY(error);
    s->stages = core_stages(s->core);
    s->inputs = core_inputs(s->core);
    s->outputs = core_outputs(s->core);
    prt_sched_set_environment(s);
    return PRT_OK;
}

static enum prt_status find_cached_buffers(struct prt_sched *s, struct prt_error *error)
{
    struct prt_device_info info;
    s->ops->info(s->device, &info);
    enum prt_status status = prt_cached_buffers_find(s->container, info.description, s->objects);
    return status == PRT_OK ? status : NO_MEMORY(error);
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
    enum prt_status status = allocate_run_tables(s) ? PRT_OK : NO_MEMORY(error);
    if (status == PRT_OK) status = create_block(s, error);
    if (status == PRT_OK) status = create_buffers(s, error);
    if (status == PRT_OK) status = create_blocks(s, error);
    if (status == PRT_OK) status = create_indices(s, error);
    if (status == PRT_OK) status = create_device_queues(s, error);
    if (status == PRT_OK) {
        link_ends(s);
        create_stages(s);
    }
    if (status == PRT_OK) status = find_cached_buffers(s, error);
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
        prt_ring_destroy(&s->buffers[i].ring);
    }
    if (s->blocks != NULL) munmap(s->blocks, s->blocks_bytes);
    prt_live_destroy(s->live);
    prt_bell_destroy(s->bell);
    prt_profile_destroy(s->profile);
    prt_origins_destroy(s->origins);
    prt_indices_free(&s->indices);
    free(s->buffers);
    free(s->ports);
    for (uint32_t i = 0; s->device_queues != NULL && i < s->container->stage_count; i++)
        prt_device_queue_destroy(s->device_queues[i]);
    free(s->device_queues);
    free(s->node_stage);
    free(s->objects);
    free(s->windows_in);
    free(s->windows_out);
    free(s->pop_bytes);
    free(s->push_bytes);
    free(s->left);
    free(s->claimed_bytes);
    free(s->packet_bytes);
    free(s->window_places);
    free(s->argument_blocks);
    free(s->sub_devices);
    free(s->sub_device_queues);
    free(s->queues);
    free(s->read);
    free(s->written);
    free(s->read_bytes);
    free(s->core);
    free(s);
}

void prt_sched_set_root(struct prt_sched *s, struct prt_device_handle root)
{
    s->root = root;
}

_Static_assert((int)PRT_PACKET_FULL == SCHED_FORM_FULL &&
                   (int)PRT_PACKET_REFERENCE == SCHED_FORM_REFERENCE &&
                   (int)PRT_PACKET_CONDENSED == SCHED_FORM_CONDENSED,
               "devices and programs number the forms of packets in the same way");

void prt_sched_set_dispatch(struct prt_sched *s, enum prt_packet_kind form)
{
    s->core->form = (uint8_t)form;
    s->dispatch_given = true;
}

void prt_sched_bind_source(struct prt_sched *s, uint32_t buffer, prt_sched_source source,
                           void *context)
{
    struct prt_port *port = s->buffers[buffer].port;
    prt_ring_leave(&s->buffers[buffer].ring, s->buffers[buffer].fifo);
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
    prt_ring_leave(&s->buffers[buffer].ring, s->buffers[buffer].fifo);
    if (port->sink == NULL && sink != NULL) s->core->open_sinks++;
    if (port->sink != NULL && sink == NULL) s->core->open_sinks--;
    port->sink = sink;
    port->context = context;
}
