/* Creation of a run's state, and the program's prologue: all that allocates. */
#include "runtime/sched/sched.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BLOCK_ALIGNMENT = 64 };

#define NO_MEMORY(error) prt_error_set((error), PRT_E_NOMEM, "out of memory")

/* ---- creation ---- */

static void *allocate(size_t count, size_t size)
{
    return calloc(count > 0 ? count : 1, size);
}

static bool allocate_tables(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    size_t ports = 0;
    for (uint32_t i = 0; i < c->buffer_count; i++)
        ports += c->buffers[i].outer != CONTAINER_INNER;
    s->buffers = allocate(c->buffer_count, sizeof *s->buffers);
    s->ports = allocate(ports, sizeof *s->ports);
    s->stages = allocate(c->stage_count, sizeof *s->stages);
    s->inputs = allocate(c->input_count, sizeof *s->inputs);
    s->outputs = allocate(c->output_count, sizeof *s->outputs);
    s->node_stage = allocate(c->node_count, sizeof *s->node_stage);
    s->cursors = allocate(c->set_count, sizeof *s->cursors);
    s->objects = allocate((size_t)c->stage_count * 2, sizeof *s->objects);
    s->windows_in = allocate(c->input_count, sizeof *s->windows_in);
    s->windows_out = allocate(c->output_count, sizeof *s->windows_out);
    s->pop_bytes = allocate(c->input_count, sizeof *s->pop_bytes);
    s->push_bytes = allocate(c->output_count, sizeof *s->push_bytes);
    s->left = allocate(c->input_count, sizeof *s->left);
    s->produced = allocate(c->output_count, sizeof *s->produced);
    s->completions = allocate(c->stage_count, sizeof *s->completions);
    s->argument_blocks = allocate(c->node_count, sizeof *s->argument_blocks);
    return s->buffers && s->ports && s->stages && s->inputs && s->outputs && s->node_stage &&
           s->cursors && s->objects && s->windows_in && s->windows_out && s->pop_bytes &&
           s->push_bytes && s->left && s->produced && s->completions && s->argument_blocks;
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
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

static void link_ends(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    for (uint32_t i = 0; i < c->input_count; i++) {
        const struct container_input *input = &c->inputs[i];
        const struct container_buffer *buffer = &c->buffers[input->buffer];
        s->inputs[i] = (struct prt_stage_input){.buffer = &s->buffers[input->buffer],
                                                .reader = input->reader - buffer->first_reader,
                                                .pop = input->pop,
                                                .peek = input->peek};
        s->pop_bytes[i] = input->pop * buffer->width_bytes;
    }
    for (uint32_t i = 0; i < c->output_count; i++) {
        const struct container_output *output = &c->outputs[i];
        s->outputs[i] = (struct prt_stage_output){.buffer = &s->buffers[output->buffer],
                                                  .push = output->push,
                                                  .finish_max = output->finish_max};
        s->push_bytes[i] = output->push * c->buffers[output->buffer].width_bytes;
    }
}

/* Moves *total behind a block of `bytes`; false on overflow. */
static bool end_block(size_t *total, uint64_t bytes)
{
    if (__builtin_add_overflow(*total, bytes, total) ||
        __builtin_add_overflow(*total, BLOCK_ALIGNMENT - 1, total))
        return false;
    *total = *total / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
    return true;
}

/* All blocks of all nodes in one zeroed mapping: pages that are never touched cost nothing. */
static enum prt_status create_blocks(struct prt_sched *s, struct prt_error *error)
{
    const struct prt_container *c = s->container;
    size_t total = BLOCK_ALIGNMENT;
    for (uint32_t i = 0; i < c->node_count; i++) {
        const struct container_node *node = &c->nodes[i];
        if (!end_block(&total, node->arguments_bytes) || !end_block(&total, node->tables_bytes) ||
            !end_block(&total, node->state_bytes))
            return NO_MEMORY(error);
    }
    void *blocks = total <= SIZE_MAX / 4 ? mmap(NULL, total, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                         : MAP_FAILED;
    if (blocks == MAP_FAILED) return NO_MEMORY(error);
    s->blocks = blocks;
    s->blocks_bytes = total;
    return PRT_OK;
}

static void create_objects(struct prt_sched *s, uint32_t index, size_t *at)
{
    const struct prt_container *c = s->container;
    const struct container_node *node = s->stages[index].node;
    uint32_t number = (uint32_t)(node - c->nodes);
    struct prt_kernel_object object = {
        .entry = s->image->nodes[number].run,
        .in = s->windows_in + node->first_input,
        .out = s->windows_out + node->first_output,
        .pop_bytes = s->pop_bytes + node->first_input,
        .push_bytes = s->push_bytes + node->first_output,
        .input_count = node->input_count,
        .output_count = node->output_count,
        .stage = index,
        .cost_cycles = node->cost_cycles,
    };
    object.arguments = s->argument_blocks[number] = s->blocks + *at;
    end_block(at, node->arguments_bytes);
    object.tables = s->blocks + *at;
    end_block(at, node->tables_bytes);
    object.state = s->blocks + *at;
    end_block(at, node->state_bytes);
    if (node->flags & CONTAINER_NODE_STATEFUL) object.flags |= PRT_KERNEL_STATEFUL;
    if (node->flags & CONTAINER_NODE_INDEXED) object.flags |= PRT_KERNEL_INDEXED;
    s->objects[index] = object;
    object.entry = s->image->nodes[number].finish;
    object.flags |= PRT_KERNEL_FINISH;
    object.left = s->left + node->first_input;
    object.produced = s->produced + node->first_output;
    s->objects[c->stage_count + index] = object;
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
                                          .threshold = record->threshold,
                                          .batch_max = record->batch_max};
        s->node_stage[record->node] = i;
        create_objects(s, i, &at);
    }
}

static void push_undriven(struct prt_sched *s, const struct prt_buffer *buffer, uint32_t *stack,
                          uint32_t *depth)
{
    const struct container_buffer *record = buffer->record;
    for (uint32_t i = 0; i < record->reader_count; i++) {
        uint32_t node = s->container->readers[record->first_reader + i].node;
        struct prt_stage *stage = &s->stages[s->node_stage[node]];
        if (stage->driven) continue;
        stage->driven = true;
        stack[(*depth)++] = s->node_stage[node];
    }
}

/* Marks every stage that packets of an in-port can reach. */
static enum prt_status find_driven(struct prt_sched *s, struct prt_error *error)
{
    uint32_t depth = 0;
    uint32_t *stack = allocate(s->container->stage_count, sizeof *stack);
    if (stack == NULL) return NO_MEMORY(error);
    for (uint32_t i = 0; i < s->container->buffer_count; i++) {
        if (s->buffers[i].record->outer == CONTAINER_OUTER_IN)
            push_undriven(s, &s->buffers[i], stack, &depth);
    }
    while (depth > 0) {
        const struct prt_stage *stage = &s->stages[stack[--depth]];
        for (uint32_t i = 0; i < stage->node->output_count; i++)
            push_undriven(s, stage->outputs[i].buffer, stack, &depth);
    }
    free(stack);
    return PRT_OK;
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
    s->root_queue = UINT32_MAX;
    s->selected = UINT32_MAX;
    atomic_init(&s->interrupted, false);
    enum prt_status status = allocate_tables(s) ? PRT_OK : NO_MEMORY(error);
    if (status == PRT_OK) status = create_buffers(s, error);
    if (status == PRT_OK) status = create_blocks(s, error);
    if (status == PRT_OK) {
        link_ends(s);
        create_stages(s);
        status = find_driven(s, error);
    }
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
    for (uint32_t i = 0; s->buffers != NULL && i < s->container->buffer_count; i++)
        prt_fifo_destroy(&s->buffers[i].fifo);
    if (s->blocks != NULL) munmap(s->blocks, s->blocks_bytes);
    free(s->buffers);
    free(s->ports);
    free(s->stages);
    free(s->inputs);
    free(s->outputs);
    free(s->node_stage);
    free(s->cursors);
    free(s->objects);
    free(s->windows_in);
    free(s->windows_out);
    free(s->pop_bytes);
    free(s->push_bytes);
    free(s->left);
    free(s->produced);
    free(s->completions);
    free(s->argument_blocks);
    free(s->sub_devices);
    free(s->sub_device_queues);
    free(s);
}

void prt_sched_bind_source(struct prt_sched *s, uint32_t buffer, prt_sched_source source,
                           void *context)
{
    struct prt_port *port = s->buffers[buffer].port;
    port->source = source;
    port->context = context;
}

void prt_sched_bind_sink(struct prt_sched *s, uint32_t buffer, prt_sched_sink sink, void *context)
{
    struct prt_port *port = s->buffers[buffer].port;
    if (port->sink == NULL && sink != NULL) s->open_sinks++;
    if (port->sink != NULL && sink == NULL) s->open_sinks--;
    port->sink = sink;
    port->context = context;
}

/* ---- prologue ---- */

static enum prt_status partition(struct prt_sched *s, const int64_t *properties, uint32_t count,
                                 struct prt_error *error)
{
    struct prt_device_tree *tree = s->ops->tree(s->device);
    s->sub_devices = allocate(count, sizeof *s->sub_devices);
    s->sub_device_queues = allocate(count, sizeof *s->sub_device_queues);
    if (s->sub_devices == NULL || s->sub_device_queues == NULL) return NO_MEMORY(error);
    enum prt_status status = prt_create_sub_devices(tree, prt_device_tree_root(tree), properties,
                                                    count, s->sub_devices, &s->sub_device_count);
    if (status == PRT_E_OUT_OF_HOST_MEMORY) return NO_MEMORY(error);
    if (status != PRT_OK)
        return prt_error_set(error, PRT_E_DEVICE, "the device cannot be cut into sub-devices: %s",
                             prt_status_text(status));
    for (uint32_t i = 0; i < count; i++)
        s->sub_device_queues[i] = UINT32_MAX;
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
    int64_t *properties = allocate((size_t)count + 3, sizeof *properties);
    if (properties == NULL) return NO_MEMORY(error);
    properties[0] = PRT_PARTITION_BY_COUNTS;
    for (uint32_t i = 0; i < count; i++)
        properties[i + 1] = counts[i];
    enum prt_status status = partition(s, properties, count, error);
    free(properties);
    return status;
}

/* One queue per (sub-)device, made when the first stage is bound to it. */
static enum prt_status bind_queue(struct prt_sched *s, uint32_t stage,
                                  struct prt_device_handle device, uint32_t *queue,
                                  struct prt_error *error)
{
    struct prt_device_information information;
    enum prt_status status = prt_device_query(s->ops->tree(s->device), device, &information);
    if (status == PRT_OK && *queue == UINT32_MAX)
        status = s->ops->queue_create(s->device, device, queue);
    if (status != PRT_OK) return prt_error_set(error, status, "%s", prt_status_text(status));
    s->stages[stage].queue = *queue;
    s->stages[stage].cu_count = information.cu_count;
    return PRT_OK;
}

enum prt_status prt_sched_bind_root(struct prt_sched *s, uint32_t stage, struct prt_error *error)
{
    struct prt_device_handle root = prt_device_tree_root(s->ops->tree(s->device));
    return bind_queue(s, stage, root, &s->root_queue, error);
}

enum prt_status prt_sched_bind(struct prt_sched *s, uint32_t stage, uint32_t sub_device,
                               struct prt_error *error)
{
    assert(sub_device < s->sub_device_count);
    return bind_queue(s, stage, s->sub_devices[sub_device], &s->sub_device_queues[sub_device],
                      error);
}
