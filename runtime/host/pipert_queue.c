/* SPDX-License-Identifier: MIT */
#include "runtime/host/pipert_queue.h"

#include "lang/scalar.h"
#include "model/tree_device.h"
#include "runtime/host/command_device.h"
#include "runtime/sched/explain.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY(error) prt_error_set((error), PRT_E_NOMEM, "out of memory")

struct prt_command_queue {
    struct prt_command_device *device;
    uint32_t number;
    uint32_t in_flight;
    bool faulted;
    struct prt_error fault; /* of the first command that has faulted */
    struct prt_arguments arguments;
    struct prt_command_blocks *blocks; /* for these values; NULL: made by the next command */
};

/* ---- queues ---- */

static enum prt_status find_command_device(const struct prt_program *program,
                                           struct prt_device_tree *tree,
                                           const struct prt_command_queue_options *options,
                                           struct prt_command_device **device,
                                           struct prt_error *error)
{
    if (options->beside == NULL)
        return prt_command_device_create(program, tree, options, device, error);
    struct prt_command_device *shared = options->beside->device;
    if (shared->program != program || shared->tree != tree)
        return prt_error_set(error, PRT_E_USAGE,
                             "queues beside each other are of one program and one tree");
    shared->users++;
    *device = shared;
    return PRT_OK;
}

static enum prt_status open_device_queue(struct prt_command_queue *queue,
                                         struct prt_device_handle part, uint32_t importance,
                                         struct prt_error *error)
{
    const struct prt_command_device *device = queue->device;
    enum prt_status status =
        device->ops->queue_create(device->device, part, importance, &queue->number);
    if (status == PRT_E_INVALID_DEVICE)
        return prt_error_set(error, status,
                             "the handle is of no device of the tree, or has been released");
    return status == PRT_OK ? PRT_OK : prt_error_set(error, status, "%s", prt_status_text(status));
}

static void free_command_queue(struct prt_command_queue *queue)
{
    prt_command_device_leave(queue->device);
    prt_command_blocks_leave(queue->blocks);
    prt_arguments_free(&queue->arguments);
    free(queue);
}

enum prt_status prt_command_queue_create(const struct prt_program *program,
                                         struct prt_device_tree *tree,
                                         struct prt_device_handle part,
                                         const struct prt_command_queue_options *options,
                                         struct prt_command_queue **queue, struct prt_error *error)
{
    const struct prt_command_queue_options defaults = {.beside = NULL};
    if (options == NULL) options = &defaults;
    if (options->importance > UINT8_MAX)
        return prt_error_set(error, PRT_E_INVALID_VALUE, "importance is above 255");
    struct prt_command_queue *made = calloc(1, sizeof *made);
    if (made == NULL) return NO_MEMORY(error);
    enum prt_status status = find_command_device(program, tree, options, &made->device, error);
    if (status == PRT_OK)
        status = prt_arguments_create(&program->container, &made->arguments, error);
    if (status == PRT_OK) status = open_device_queue(made, part, options->importance, error);
    if (status != PRT_OK) {
        free_command_queue(made);
        return status;
    }
    *queue = made;
    return PRT_OK;
}

void prt_command_queue_destroy(struct prt_command_queue *queue)
{
    if (queue == NULL) return;
    (void)prt_command_queue_wait(queue, NULL);
    (void)queue->device->ops->queue_destroy(queue->device->device, queue->number);
    free_command_queue(queue);
}

/* Later commands compute the arguments of their kernels anew. */
static enum prt_status leave_command_blocks(struct prt_command_queue *queue, enum prt_status status)
{
    if (status != PRT_OK) return status;
    prt_command_blocks_leave(queue->blocks);
    queue->blocks = NULL;
    return PRT_OK;
}

enum prt_status prt_command_queue_set_argument(struct prt_command_queue *queue, const char *name,
                                               const char *text, struct prt_error *error)
{
    return leave_command_blocks(queue, prt_arguments_set(&queue->device->program->container,
                                                         &queue->arguments, name, text, error));
}

enum prt_status prt_command_queue_set_argument_values(struct prt_command_queue *queue,
                                                      const char *name, enum scalar_type type,
                                                      const void *values, size_t count,
                                                      struct prt_error *error)
{
    return leave_command_blocks(queue, prt_arguments_set_values(&queue->device->program->container,
                                                                &queue->arguments, name, type,
                                                                values, count, error));
}

uint64_t prt_command_queue_now_cycles(const struct prt_command_queue *queue)
{
    return queue->device->ops->now_cycles(queue->device->device);
}

/* ---- what a command needs ---- */

static const struct core_stage *stage_of(const struct prt_command_device *device, uint32_t node)
{
    return core_stage(device->core, device->node_stage[node]);
}

static enum prt_status find_command_kernel(const struct prt_command_device *device,
                                           const char *name, uint32_t *node,
                                           struct prt_error *error)
{
    const struct prt_container *c = &device->program->container;
    for (*node = 0; *node < c->node_count; ++*node)
        if (strcmp(prt_container_text(c, c->nodes[*node].name), name) == 0) break;
    if (*node == c->node_count)
        return prt_error_set(error, PRT_E_USAGE, "pipeline '%s' has no kernel '%s'",
                             prt_container_text(c, c->pipeline->name), name);
    if (c->nodes[*node].flags & CONTAINER_NODE_LAUNCHES)
        return prt_error_set(error, PRT_E_USAGE,
                             "kernel '%s' launches kernels: it executes only in its pipeline",
                             name);
    if (stage_of(device, *node)->frame_packets > 0)
        return prt_error_set(error, PRT_E_USAGE,
                             "kernel '%s' has a 2-D window: it executes only in its pipeline",
                             name);
    return PRT_OK;
}

static enum prt_status refuse_window(const struct prt_command_device *device, uint32_t node,
                                     const char *kind, uint32_t number, const char *what,
                                     struct prt_error *error)
{
    const struct prt_container *c = &device->program->container;
    return prt_error_set(error, PRT_E_INVALID_VALUE, "kernel '%s': %s %" PRIu32 " %s",
                         prt_container_text(c, c->nodes[node].name), kind, number, what);
}

/* The defect of the memory of a window of `packets` packets, or NULL. */
static const char *check_window_memory(const struct container_buffer *buffer, const void *memory,
                                       uint64_t packets)
{
    size_t bytes;
    if (packets == 0) return NULL;
    if (memory == NULL) return "is NULL";
    if (__builtin_mul_overflow(packets, buffer->width_bytes, &bytes) || bytes > PTRDIFF_MAX)
        return "is larger than memory";
    if ((uintptr_t)memory % scalar_width_bytes((enum scalar_type)buffer->scalar) != 0)
        return "is not aligned";
    return NULL;
}

static enum prt_status check_inputs(const struct prt_command_device *device, uint32_t node,
                                    const struct prt_command *command, struct prt_error *error)
{
    const struct prt_container *c = &device->program->container;
    const struct core_stage *stage = stage_of(device, node);
    for (uint32_t i = 0; i < command->input_count; i++) {
        const struct core_input *input = core_input(device->core, stage, i);
        const struct prt_command_input *window = &command->inputs[i];
        const char *what = NULL;
        if (core_take_fits(core_numbers(device->core), &input->take, 0, window->count,
                           command->firings) < command->firings)
            what = "has too few packets";
        if (what == NULL)
            what = check_window_memory(&c->buffers[input->buffer], window->packets, window->count);
        if (what != NULL) return refuse_window(device, node, "input", i, what, error);
    }
    return PRT_OK;
}

static enum prt_status check_outputs(const struct prt_command_device *device, uint32_t node,
                                     const struct prt_command *command, struct prt_error *error)
{
    const struct prt_container *c = &device->program->container;
    const struct core_stage *stage = stage_of(device, node);
    for (uint32_t i = 0; i < command->output_count; i++) {
        const struct core_output *output = core_output(device->core, stage, i);
        const struct prt_command_output *window = &command->outputs[i];
        const char *what = NULL;
        if (core_flow_fits(core_numbers(device->core), &output->most, 0, window->capacity,
                           command->firings) < command->firings)
            what = "has too little room";
        if (what == NULL)
            what =
                check_window_memory(&c->buffers[output->buffer], window->packets, window->capacity);
        if (what != NULL) return refuse_window(device, node, "output", i, what, error);
    }
    return PRT_OK;
}

static enum prt_status check_command(const struct prt_command_device *device, uint32_t node,
                                     const struct prt_command *command, struct prt_error *error)
{
    const struct prt_container *c = &device->program->container;
    const struct container_node *record = &c->nodes[node];
    if (command->firings == 0 || command->firings > UINT32_MAX)
        return prt_error_set(error, PRT_E_INVALID_VALUE, "a command has 1 to 2^32 - 1 firings");
    if ((record->flags & CONTAINER_NODE_COUNTED) != 0 &&
        command->firings > device->counted_firings_most)
        return prt_error_set(error, PRT_E_INVALID_VALUE,
                             "the cost of kernel '%s' depends on data: at most %" PRIu32
                             " firings, by counted_firings_most",
                             command->kernel, device->counted_firings_most);
    if (command->input_count != record->input_count ||
        command->output_count != record->output_count)
        return prt_error_set(error, PRT_E_INVALID_VALUE,
                             "kernel '%s' has %" PRIu32 " inputs and %" PRIu32 " outputs",
                             command->kernel, record->input_count, record->output_count);
    enum prt_status status = check_inputs(device, node, command, error);
    return status == PRT_OK ? check_outputs(device, node, command, error) : status;
}

/* ---- enqueuing ---- */

static enum prt_status copy_command_state(const struct container_node *node,
                                          const struct prt_command_blocks *blocks, uint32_t number,
                                          struct prt_command_slot *slot, struct prt_error *error)
{
    enum { ALIGNMENT = 64 };
    size_t bytes = (size_t)((node->state_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (bytes == 0) return PRT_OK;
    if (bytes > slot->state_capacity) {
        uint8_t *state = aligned_alloc(ALIGNMENT, bytes);
        if (state == NULL) return NO_MEMORY(error);
        free(slot->state);
        slot->state = state;
        slot->state_capacity = bytes;
    }
    memcpy(slot->state, blocks->state[number], (size_t)node->state_bytes);
    return PRT_OK;
}

/* The object of the slot becomes that of the command's kernel. */
static void place_command(struct prt_command_device *device, uint32_t number,
                          const struct prt_command *command)
{
    struct prt_command_slot *slot = &device->slots[number];
    const struct core_stage *stage = stage_of(device, slot->node);
    struct prt_kernel_object *object = &device->objects[device->slot_count + number];
    *object = device->stages.items[device->node_stage[slot->node]];
    object->arguments = slot->blocks->arguments[slot->node];
    object->tables = slot->blocks->tables[slot->node];
    object->state = slot->state;
    object->in = slot->in;
    object->out = slot->out;
    object->claimed_bytes = slot->claimed_bytes;
    object->produced = slot->produced;
    object->completed = &slot->completed;
    slot->completed = slot->firings = command->firings;
    for (uint32_t i = 0; i < command->input_count; i++) {
        const struct core_input *input = core_input(device->core, stage, i);
        uint64_t packets =
            core_flow_total(core_numbers(device->core), &input->take.pop, 0, command->firings);
        slot->in[i] = command->inputs[i].packets;
        object->read_bytes = core_cycles_add(
            object->read_bytes,
            core_cycles_multiply(packets, core_read_buffer(device->core, input)->fifo.width_bytes));
    }
    for (uint32_t i = 0; i < command->output_count; i++) {
        const struct core_output *output = core_output(device->core, stage, i);
        uint64_t packets =
            core_flow_total(core_numbers(device->core), &output->most, 0, command->firings);
        slot->out[i] = command->outputs[i].packets;
        slot->counts[i] = command->outputs[i].count;
        slot->produced[i] = packets;
        slot->claimed_bytes[i] = packets * object->packet_bytes[i]; /* it fits the window */
    }
}

static union dispatch_packet make_packet(const struct prt_command_device *device, uint32_t slot,
                                         const struct prt_command *command)
{
    return (union dispatch_packet){
        .full = {.header = DISPATCH_FULL,
                 .synch_scopes = DISPATCH_SCOPES(!command->independent, DISPATCH_SCOPE_SYSTEM,
                                                 DISPATCH_SCOPE_SYSTEM),
                 .setup = 1,
                 .workgroup_size_x = (uint16_t)device->program->container.device->lanes,
                 .workgroup_size_y = 1,
                 .workgroup_size_z = 1,
                 .grid_size_x = (uint32_t)command->firings,
                 .grid_size_y = 1,
                 .grid_size_z = 1,
                 .kernel_object = (uint64_t)device->slot_count + slot,
                 .kernarg_address = slot,
                 .completion_signal = (uint64_t)slot + 1}};
}

static void give_slot_back(struct prt_command_device *device, uint32_t number)
{
    struct prt_command_slot *slot = &device->slots[number];
    prt_command_blocks_leave(slot->blocks);
    slot->blocks = NULL;
    slot->taken = false;
    slot->next_free = device->first_free;
    device->first_free = number;
}

/* The values of the arguments, and what `init` has made of them. */
static enum prt_status prepare_blocks(struct prt_command_queue *queue, uint32_t node,
                                      struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    if (queue->blocks == NULL)
        status = prt_command_blocks_create(queue->device, &queue->arguments, &queue->blocks, error);
    return status == PRT_OK ? prt_command_blocks_begin(queue->device, queue->blocks, node, error)
                            : status;
}

static enum prt_status send_command(struct prt_command_queue *queue, uint32_t node,
                                    const struct prt_command *command,
                                    struct prt_command_event *event, struct prt_error *error)
{
    struct prt_command_device *device = queue->device;
    uint32_t number = device->first_free;
    struct prt_command_slot *slot = &device->slots[number];
    enum prt_status status = copy_command_state(&device->program->container.nodes[node],
                                                queue->blocks, node, slot, error);
    if (status != PRT_OK) return status;
    device->first_free = slot->next_free;
    slot->taken = true;
    slot->node = node;
    slot->queue = queue;
    slot->event = event;
    slot->blocks = queue->blocks;
    slot->blocks->users++;
    slot->enqueued_cycles = device->ops->now_cycles(device->device);
    place_command(device, number, command);
    const union dispatch_packet packet = make_packet(device, number, command);
    status = device->ops->enqueue(device->device, queue->number, &packet, error);
    if (status != PRT_OK) {
        give_slot_back(device, number);
        return status;
    }
    queue->in_flight++;
    if (event != NULL)
        *event = (struct prt_command_event){.enqueued_cycles = slot->enqueued_cycles};
    return PRT_OK;
}

enum prt_status prt_command_queue_enqueue(struct prt_command_queue *queue,
                                          const struct prt_command *command,
                                          struct prt_command_event *event, struct prt_error *error)
{
    struct prt_command_device *device = queue->device;
    uint32_t node;
    if (queue->faulted)
        return prt_error_set(error, PRT_E_FAULT, "the queue has ended: %s", queue->fault.message);
    enum prt_status status = find_command_kernel(device, command->kernel, &node, error);
    if (status == PRT_OK) status = check_command(device, node, command, error);
    if (status == PRT_OK) status = prepare_blocks(queue, node, error);
    if (status != PRT_OK) return status;
    if (device->first_free == PRT_NO_SLOT)
        return prt_error_set(error, PRT_E_BUSY, "%" PRIu32 " commands are in flight",
                             device->slot_count);
    return send_command(queue, node, command, event, error);
}

/* ---- completion ---- */

/* Packets of the firings that count. */
static void count_command_packets(const struct prt_command_device *device, uint32_t number,
                                  uint64_t firings)
{
    const struct prt_command_slot *slot = &device->slots[number];
    const struct core_stage *stage = stage_of(device, slot->node);
    bool whole = (device->objects[device->slot_count + number].flags & PRT_KERNEL_WHOLE) != 0;
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(device->core, stage, i);
        uint64_t packets = core_flow_total(core_numbers(device->core), &output->most, 0, firings);
        if (whole && firings > 0 && slot->produced[i] < packets) packets = slot->produced[i];
        if (slot->counts[i] != NULL) *slot->counts[i] = (size_t)packets;
    }
}

static void note_command_fault(struct prt_command_queue *queue, uint32_t node,
                               const struct core_completion *completion)
{
    const struct core_fault fault = {.there = true,
                                     .node = node,
                                     .status = completion->kernel_status,
                                     .fault = completion->fault};
    if (queue->faulted) return;
    queue->faulted = true;
    (void)prt_explain_core_fault(&queue->device->program->container, &fault, &queue->fault);
}

static void complete_command(struct prt_command_device *device,
                             const struct core_completion *completion)
{
    uint32_t number = completion->object - device->slot_count;
    struct prt_command_slot *slot = &device->slots[number];
    const struct prt_kernel_object *object = &device->objects[completion->object];
    bool faulted =
        !completion->skipped && prt_kernel_status_is_fault(object, completion->kernel_status);
    uint64_t firings = 0;
    if (!completion->skipped)
        firings = prt_launch_counted_firings(object, 0, slot->firings, completion->kernel_status,
                                             &completion->fault);
    count_command_packets(device, number, firings);
    if (faulted) note_command_fault(slot->queue, slot->node, completion);
    if (slot->event != NULL)
        *slot->event = (struct prt_command_event){
            .complete = true,
            .skipped = completion->skipped,
            .status = faulted || completion->skipped ? PRT_E_FAULT : PRT_OK,
            .firings = firings,
            .enqueued_cycles = slot->enqueued_cycles,
            .begin_cycles = completion->begin_cycles,
            .end_cycles = completion->end_cycles,
            .execute_cycles = completion->execute_cycles,
            .launch_cycles = completion->launch_cycles,
            .switch_cycles = completion->switch_cycles};
    slot->queue->in_flight--;
    give_slot_back(device, number);
}

/* Lets time pass until something has completed; *count 0: nothing is in flight. */
static enum prt_status wait_once(struct prt_command_device *device, uint32_t *count,
                                 struct prt_error *error)
{
    enum prt_status status =
        device->ops->wait(device->device, device->completions, device->slot_count, count);
    if (status != PRT_OK) return prt_error_set(error, status, "%s", prt_status_text(status));
    for (uint32_t i = 0; i < *count; i++)
        complete_command(device, &device->completions[i]);
    return PRT_OK;
}

enum prt_status prt_command_queue_wait(struct prt_command_queue *queue, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    uint32_t count = 1;
    while (queue->in_flight > 0 && status == PRT_OK) {
        status = wait_once(queue->device, &count, error);
        assert(status != PRT_OK || count > 0); /* the queue's own commands are in flight */
    }
    if (status != PRT_OK || !queue->faulted) return status;
    return prt_error_set(error, PRT_E_FAULT, "%s", queue->fault.message);
}

enum prt_status prt_command_queue_wait_for(struct prt_command_queue *queue,
                                           const struct prt_command_event *event,
                                           struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    uint32_t count = 1;
    while (!event->complete && count > 0 && status == PRT_OK)
        status = wait_once(queue->device, &count, error);
    if (status != PRT_OK) return status;
    if (!event->complete)
        return prt_error_set(error, PRT_E_USAGE, "the event is of no command in flight");
    if (event->status == PRT_OK) return PRT_OK;
    return prt_error_set(error, event->status, "%s",
                         event->skipped ? "the command was skipped: one before it has faulted"
                                        : "the kernel of the command has faulted");
}
