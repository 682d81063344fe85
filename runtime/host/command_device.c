/* SPDX-License-Identifier: MIT */
#include "runtime/host/command_device.h"

#include "base/array_allocate.h"
#include "model/block.h"
#include "model/launch_time.h"
#include "model/tree_device.h"
#include "runtime/backend/cpu/cpu.h"
#include "runtime/backend/sim/sim.h"
#include "runtime/device/kernel_call.h"
#include "runtime/sched/explain.h"
#include "runtime/verify/verify.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    COMMANDS_DEFAULT = 64,
    COMMANDS_MOST = 4096,
    COUNTED_DEFAULT = 4096,
    COUNTED_MOST = 1 << 24,
    COMMAND_BLOCK_ALIGNMENT = 64
};

#define NO_MEMORY(error) prt_error_set((error), PRT_E_NOMEM, "out of memory")

/* ---- blocks ---- */

/* Places a block of `bytes` after those before it.  The reader bounds each block by SIZE_MAX / 4. */
static bool place_block(size_t *total, uint64_t bytes, size_t *at)
{
    *at = *total;
    *total += (size_t)((bytes + COMMAND_BLOCK_ALIGNMENT - 1) / COMMAND_BLOCK_ALIGNMENT *
                       COMMAND_BLOCK_ALIGNMENT);
    return *total <= SIZE_MAX / 4;
}

/* The bytes of all blocks; places them if there is memory for them by now.  False: they do not fit. */
static bool place_blocks(const struct prt_container *c, struct prt_command_blocks *blocks,
                         size_t *total)
{
    *total = COMMAND_BLOCK_ALIGNMENT;
    for (uint32_t i = 0; i < c->node_count; i++) {
        const struct container_node *node = &c->nodes[i];
        size_t arguments, tables, state;
        if (!place_block(total, node->arguments_bytes, &arguments) ||
            !place_block(total, node->tables_bytes, &tables) ||
            !place_block(total, node->state_bytes, &state))
            return false;
        if (blocks->bytes == NULL) continue;
        blocks->arguments[i] = blocks->bytes + arguments;
        blocks->tables[i] = blocks->bytes + tables;
        blocks->state[i] = blocks->bytes + state;
    }
    return true;
}

static bool allocate_blocks(const struct prt_container *c, struct prt_command_blocks *blocks)
{
    size_t nodes = c->node_count, size;
    blocks->arguments = array_allocate(nodes, sizeof *blocks->arguments);
    blocks->tables = array_allocate(nodes, sizeof *blocks->tables);
    blocks->state = array_allocate(nodes, sizeof *blocks->state);
    blocks->begun = array_allocate(nodes, sizeof *blocks->begun);
    if (blocks->arguments == NULL || blocks->tables == NULL || blocks->state == NULL ||
        blocks->begun == NULL || !place_blocks(c, blocks, &size))
        return false;
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return false;
    blocks->bytes = bytes;
    blocks->size = size;
    return place_blocks(c, blocks, &size);
}

void prt_command_blocks_leave(struct prt_command_blocks *blocks)
{
    if (blocks == NULL || --blocks->users > 0) return;
    if (blocks->bytes != NULL) munmap(blocks->bytes, blocks->size);
    free(blocks->arguments);
    free(blocks->tables);
    free(blocks->state);
    free(blocks->begun);
    free(blocks);
}

static enum prt_status refuse_blocks(const struct prt_command_device *device, uint32_t node,
                                     enum kernel_status status, const struct kernel_fault *fault,
                                     struct prt_error *error)
{
    const struct core_fault found = {
        .there = true, .node = node, .status = status, .fault = *fault};
    return prt_explain_core_fault(&device->program->container, &found, error);
}

enum prt_status prt_command_blocks_create(const struct prt_command_device *device,
                                          const struct prt_arguments *arguments,
                                          struct prt_command_blocks **blocks,
                                          struct prt_error *error)
{
    const struct prt_container *c = &device->program->container;
    kernel_arguments_entry evaluate = device->program->image->arguments;
    struct kernel_fault fault = {.firing = UINT64_MAX};
    enum prt_status status = prt_arguments_check(c, arguments, error);
    if (status != PRT_OK) return status;
    struct prt_command_blocks *made = calloc(1, sizeof *made);
    if (made == NULL) return NO_MEMORY(error);
    made->users = 1;
    if (!allocate_blocks(c, made)) {
        prt_command_blocks_leave(made);
        return NO_MEMORY(error);
    }
    enum kernel_status evaluated =
        evaluate == NULL ? KERNEL_OK
                         : (enum kernel_status)evaluate(arguments->block, made->arguments, &fault);
    if (evaluated != KERNEL_OK) {
        prt_command_blocks_leave(made);
        return refuse_blocks(device, CONTAINER_NONE, evaluated, &fault, error);
    }
    *blocks = made;
    return PRT_OK;
}

enum prt_status prt_command_blocks_begin(const struct prt_command_device *device,
                                         struct prt_command_blocks *blocks, uint32_t node,
                                         struct prt_error *error)
{
    const struct prt_program *program = device->program;
    if (blocks->begun[node]) return PRT_OK;
    if (program->container.nodes[node].flags & CONTAINER_NODE_INIT) {
        struct prt_kernel_object object = device->stages.items[device->node_stage[node]];
        struct kernel_fault fault = {.firing = UINT64_MAX};
        object.arguments = blocks->arguments[node];
        object.tables = blocks->tables[node];
        object.state = blocks->state[node];
        enum kernel_status status =
            prt_kernel_init(&object, program->image->nodes[node].init, &fault);
        if (status != KERNEL_OK) return refuse_blocks(device, node, status, &fault, error);
    }
    blocks->begun[node] = true;
    return PRT_OK;
}

/* ---- the kernels ---- */

/* All that a command of any kernel needs: the device allocates it for each object when it gets the objects. */
static struct prt_kernel_object widest_object(const struct prt_command_device *device)
{
    const struct prt_container *c = &device->program->container;
    struct prt_kernel_object widest = {.shape = {1, 1}};
    uint64_t most = 0;
    for (uint32_t i = 0; i < c->stage_count; i++) {
        const struct prt_kernel_object *stage = &device->stages.items[i];
        struct prt_kernel_object counted = *stage;
        if (stage->input_count > widest.input_count) widest.input_count = stage->input_count;
        if (stage->output_count > widest.output_count) widest.output_count = stage->output_count;
        widest.flags |= stage->flags & PRT_KERNEL_APART;
        counted.batch_max = device->counted_firings_most;
        uint64_t warps = prt_launch_warps_most(&counted);
        if (warps <= most) continue;
        most = warps;
        widest.flags |= PRT_KERNEL_COUNTED;
        widest.shape = counted.shape;
        widest.batch_max = counted.batch_max;
        /* a kernel with state counts one number */
        if (counted.flags & PRT_KERNEL_STATEFUL) widest.shape = (struct core_warp_shape){1, 1};
        if (counted.flags & PRT_KERNEL_STATEFUL) widest.batch_max = 1;
    }
    return widest;
}

/* The windows of commands are in memory of the host, and not in buffers of the pipeline. */
static enum prt_status make_kernels(struct prt_command_device *device, struct prt_error *error)
{
    const struct prt_container *c = &device->program->container;
    struct prt_device_info info;
    device->ops->info(device->device, &info);
    device->node_stage = array_allocate(c->node_count, sizeof *device->node_stage);
    if (device->node_stage == NULL) return NO_MEMORY(error);
    device->core = prt_block_create(c, info.description->reference_entries, device->node_stage);
    if (device->core == NULL ||
        prt_stage_objects_create(c, device->core, &device->stages) != PRT_OK)
        return NO_MEMORY(error);
    enum prt_status status = prt_indices_create(c, &info, &device->indices, error);
    for (uint32_t i = 0; status == PRT_OK && i < c->stage_count; i++) {
        struct prt_kernel_object *stage = &device->stages.items[i];
        uint32_t node = c->stages[i].node;
        stage->entry = device->program->image->nodes[node].run;
        stage->index = prt_indices_find(c, &device->indices, c->nodes[node].kernel);
    }
    return status;
}

static void link_slot(struct prt_command_device *device, uint32_t number, uint32_t inputs,
                      uint32_t outputs)
{
    struct prt_command_slot *slot = &device->slots[number];
    size_t first_in = (size_t)number * inputs, first_out = (size_t)number * outputs;
    slot->in = device->windows_in + first_in;
    slot->out = device->windows_out + first_out;
    slot->counts = device->counts + first_out;
    slot->claimed_bytes = device->claimed_bytes + first_out;
    slot->produced = device->produced + first_out;
    slot->next_free = number + 1 < device->slot_count ? number + 1 : PRT_NO_SLOT;
}

static enum prt_status make_slots(struct prt_command_device *device, struct prt_error *error)
{
    const struct prt_kernel_object widest = widest_object(device);
    uint32_t count = device->slot_count;
    size_t ins, outs;
    if (__builtin_mul_overflow((size_t)count, widest.input_count, &ins) ||
        __builtin_mul_overflow((size_t)count, widest.output_count, &outs))
        return NO_MEMORY(error);
    device->slots = calloc(count, sizeof *device->slots);
    device->objects = calloc((size_t)count * 2, sizeof *device->objects);
    device->completions = calloc(count, sizeof *device->completions);
    device->windows_in = array_allocate(ins, sizeof *device->windows_in);
    device->windows_out = array_allocate(outs, sizeof *device->windows_out);
    device->counts = array_allocate(outs, sizeof *device->counts);
    device->claimed_bytes = array_allocate(outs, sizeof *device->claimed_bytes);
    device->produced = array_allocate(outs, sizeof *device->produced);
    if (device->slots == NULL || device->objects == NULL || device->completions == NULL ||
        device->windows_in == NULL || device->windows_out == NULL || device->counts == NULL ||
        device->claimed_bytes == NULL || device->produced == NULL)
        return NO_MEMORY(error);
    for (uint32_t i = 0; i < count; i++) {
        link_slot(device, i, widest.input_count, widest.output_count);
        device->objects[count + i] = widest;
    }
    enum prt_status status =
        device->ops->set_kernels(device->device, device->objects, count * 2, count);
    return status == PRT_OK ? PRT_OK : prt_error_set(error, status, "%s", prt_status_text(status));
}

/* ---- the device ---- */

/* On the host's cores a launch is timed only if it is observed. */
static void ignore_launch(void *context, const struct prt_launch_record *record)
{
    (void)context;
    (void)record;
}

static enum prt_status check_simulated(const struct prt_container *c, const struct devdesc *device,
                                       struct prt_error *error)
{
    struct devdesc part = *device;
    if (device->cuda != 0)
        return prt_error_set(error, PRT_E_DEVICE,
                             "device '%s' is a GPU: this version has no command queues on one",
                             device->name);
    if (device->lanes != c->device->lanes)
        return prt_error_set(error, PRT_E_DEVICE,
                             "the container was compiled for device '%s', whose compute units have "
                             "%" PRIu32 " lanes; those of '%s' have %" PRIu32,
                             prt_container_text(c, c->device->name), c->device->lanes, device->name,
                             device->lanes);
    part.cu_count = c->device->cu_count;
    return prt_verify_device(c, &part, error);
}

static enum prt_status open_command_device(struct prt_command_device *device,
                                           const struct prt_command_queue_options *options,
                                           struct prt_error *error)
{
    const struct devdesc *divided = prt_device_tree_description(device->tree);
    if (divided == NULL)
        return prt_error_set(error, PRT_E_USAGE,
                             "the tree is of no device: prt_device_open makes one that is");
    const struct prt_container *c = &device->program->container;
    enum prt_status status = divided->host ? PRT_OK : check_simulated(c, divided, error);
    if (status == PRT_OK) status = prt_image_open(c, device->program->image, error);
    if (status != PRT_OK) return status;
    if (divided->host) device->ops = &prt_cpu_device;
    const struct prt_device_options opened = {.description = divided,
                                              .observe = divided->host ? ignore_launch : NULL,
                                              .host_threads = options->host_threads,
                                              .queue_entries = device->slot_count,
                                              .tree = device->tree};
    return device->ops->open(&opened, &device->device, error);
}

static enum prt_status check_queue_options(const struct prt_command_queue_options *options,
                                           struct prt_error *error)
{
    if (options->commands_most <= COMMANDS_MOST && options->counted_firings_most <= COUNTED_MOST)
        return PRT_OK;
    return prt_error_set(error, PRT_E_INVALID_VALUE, "%s",
                         options->commands_most > COMMANDS_MOST
                             ? "commands_most is above 4096"
                             : "counted_firings_most is above 2^24");
}

static void destroy_command_device(struct prt_command_device *device)
{
    if (device->device != NULL) device->ops->close(device->device);
    for (uint32_t i = 0; device->slots != NULL && i < device->slot_count; i++)
        free(device->slots[i].state);
    free(device->slots);
    free(device->objects);
    free(device->completions);
    free(device->windows_in);
    free(device->windows_out);
    free(device->counts);
    free(device->claimed_bytes);
    free(device->produced);
    prt_indices_free(&device->indices);
    prt_stage_objects_free(&device->stages);
    free(device->core);
    free(device->node_stage);
    prt_device_tree_destroy(device->tree);
    free(device);
}

void prt_command_device_leave(struct prt_command_device *device)
{
    if (device != NULL && --device->users == 0) destroy_command_device(device);
}

enum prt_status prt_command_device_create(const struct prt_program *program,
                                          struct prt_device_tree *tree,
                                          const struct prt_command_queue_options *options,
                                          struct prt_command_device **device,
                                          struct prt_error *error)
{
    enum prt_status status = check_queue_options(options, error);
    if (status != PRT_OK) return status;
    struct prt_command_device *made = calloc(1, sizeof *made);
    if (made == NULL) return NO_MEMORY(error);
    made->users = 1;
    made->program = program;
    made->ops = &prt_sim_device;
    made->tree = prt_device_tree_share(tree);
    made->slot_count = options->commands_most > 0 ? options->commands_most : COMMANDS_DEFAULT;
    made->counted_firings_most =
        options->counted_firings_most > 0 ? options->counted_firings_most : COUNTED_DEFAULT;
    status = open_command_device(made, options, error);
    assert(status != PRT_OK || made->device != NULL);
    if (status == PRT_OK) status = make_kernels(made, error);
    if (status == PRT_OK) status = make_slots(made, error);
    if (status != PRT_OK) {
        prt_command_device_leave(made);
        return status;
    }
    *device = made;
    return PRT_OK;
}
