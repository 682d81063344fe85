/* SPDX-License-Identifier: MIT */
/* Creation of a run, and binding of its ports. */
#include "base/arithmetic.h"
#include "base/array_allocate.h"
#include "lang/sched_code.h"
#include "runtime/device/device_queue.h"
#include "runtime/sched/stage_profile.h"
#include "runtime/sched/inport.h"
#include "runtime/sched/arrival_port.h"
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

static bool allocate_run_tables(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    size_t ports = 0;
    for (uint32_t i = 0; i < c->buffer_count; i++)
        ports += c->buffers[i].outer != CONTAINER_INNER;
    s->buffers = array_allocate(c->buffer_count, sizeof *s->buffers);
    s->ports = array_allocate(ports, sizeof *s->ports);
    s->node_stage = array_allocate(c->node_count, sizeof *s->node_stage);
    s->windows_in = array_allocate(c->input_count, sizeof *s->windows_in);
    s->windows_out = array_allocate(c->output_count, sizeof *s->windows_out);
    s->device_queues = array_allocate(c->stage_count, sizeof *s->device_queues);
    s->window_places = array_allocate(c->input_count, sizeof *s->window_places);
    s->argument_blocks = array_allocate(c->node_count, sizeof *s->argument_blocks);
    s->read = array_allocate(c->input_count, sizeof *s->read);
    s->written = array_allocate(c->output_count, sizeof *s->written);
    s->fused_nodes = array_allocate(c->fused_node_count, sizeof *s->fused_nodes);
    s->fused_buffers = array_allocate(c->fused_buffer_count, sizeof *s->fused_buffers);
    s->fused_inputs = array_allocate(c->fused_input_count, sizeof *s->fused_inputs);
    s->fused_wholes = array_allocate(c->node_count, sizeof *s->fused_wholes);
    return s->buffers && s->ports && s->node_stage && s->windows_in && s->windows_out &&
           s->device_queues && s->window_places && s->argument_blocks && s->read && s->written &&
           s->fused_nodes && s->fused_inputs && s->fused_buffers && s->fused_wholes;
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

/* Finds where the windows of each end are. */
static void link_windows(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    for (uint32_t i = 0; i < c->input_count; i++)
        s->read[i] = (struct prt_input_window){&s->buffers[c->inputs[i].buffer].ring,
                                               core_input_reader(s->core, &s->inputs[i])};
    for (uint32_t i = 0; i < c->output_count; i++)
        s->written[i] = &s->buffers[c->outputs[i].buffer];
}

/* Where the next block begins after one of `bytes`.  Both are at most SIZE_MAX / 4, so nothing overflows. */
static size_t next_block(size_t at, uint64_t bytes)
{
    return align_up(at + bytes, BLOCK_ALIGNMENT);
}

/* All blocks of all nodes in one zeroed mapping: pages that are never touched cost nothing.  The reader bounds each
 * block by SIZE_MAX / 4. */
static enum prt_status create_node_blocks(struct prt_sched *s, struct prt_error *error)
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

/* Adds to the objects of a stage what executing them needs. */
static void link_objects(struct prt_sched *s, uint32_t index, size_t *at)
{
    const struct prt_container *c = s->container;
    uint32_t number = s->stages[index].node;
    const struct container_node *node = &c->nodes[number];
    struct prt_kernel_object *run = &s->objects[index], *finish = run + c->stage_count;
    run->arguments = s->argument_blocks[number] = s->blocks + *at;
    *at = next_block(*at, node->arguments_bytes);
    run->tables = s->blocks + *at;
    *at = next_block(*at, node->tables_bytes);
    run->state = s->blocks + *at;
    *at = next_block(*at, node->state_bytes);
    run->in = s->windows_in + node->first_input;
    run->out = s->windows_out + node->first_output;
    finish->arguments = run->arguments;
    finish->tables = run->tables;
    finish->state = run->state;
    finish->in = run->in;
    finish->out = run->out;
    run->index = prt_indices_find(c, &s->indices, node->kernel);
    if (s->stages[index].frame_packets > 0) run->windows = s->window_places + node->first_input;
    run->device_queue = s->device_queues[index];
    if (run->device_queue != NULL) prt_stage_object_isolate(run);
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

static enum prt_status create_objects(struct prt_sched *s, struct prt_error *error)
{
    size_t at = 0;
    enum prt_status status = prt_stage_objects_create(s->container, s->core, &s->work);
    if (status != PRT_OK) return prt_error_set(error, status, "%s", prt_status_text(status));
    s->objects = s->work.items;
    for (uint32_t i = 0; i < s->container->stage_count; i++)
        link_objects(s, i, &at);
    return PRT_OK;
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

static enum prt_status create_bindings(struct prt_sched *s, struct prt_error *error)
{
    s->bindings.container = s->container;
    s->bindings.root = prt_device_tree_root(s->ops->tree(s->device));
    return prt_bindings_create(&s->bindings) == PRT_OK ? PRT_OK : NO_MEMORY(error);
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
    enum prt_status status = allocate_run_tables(s) ? PRT_OK : NO_MEMORY(error);
    if (status == PRT_OK) status = create_block(s, error);
    if (status == PRT_OK) status = create_buffers(s, error);
    if (status == PRT_OK) status = create_node_blocks(s, error);
    if (status == PRT_OK) status = create_indices(s, error);
    if (status == PRT_OK) status = create_device_queues(s, error);
    if (status == PRT_OK) status = create_bindings(s, error);
    if (status == PRT_OK) status = create_objects(s, error);
    if (status == PRT_OK) link_windows(s);
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
    prt_stage_objects_free(&s->work);
    prt_bindings_free(&s->bindings);
    free(s->buffers);
    free(s->ports);
    for (uint32_t i = 0; s->device_queues != NULL && i < s->container->stage_count; i++)
        prt_device_queue_destroy(s->device_queues[i]);
    free(s->device_queues);
    free(s->node_stage);
    free(s->windows_in);
    free(s->windows_out);
    free(s->window_places);
    free(s->argument_blocks);
    free(s->read);
    free(s->written);
    free(s->fused_nodes);
    free(s->fused_buffers);
    free(s->fused_inputs);
    free(s->fused_wholes);
    free(s->core);
    free(s);
}

void prt_sched_set_root(struct prt_sched *s, struct prt_device_handle root)
{
    s->bindings.root = root;
}

_Static_assert((int)PRT_PACKET_FULL == SCHED_FORM_FULL &&
                   (int)PRT_PACKET_REFERENCE == SCHED_FORM_REFERENCE &&
                   (int)PRT_PACKET_CONDENSED == SCHED_FORM_CONDENSED,
               "devices and programs number the forms of packets in the same way");

void prt_sched_set_dispatch(struct prt_sched *s, enum prt_packet_kind form)
{
    s->core->form = (uint8_t)form;
    s->bindings.form_given = true;
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

void prt_sched_source_endless(struct prt_sched *s, uint32_t buffer)
{
    s->buffers[buffer].core->endless = true;
    s->core->endless = s->core->fewer_takers = true;
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
