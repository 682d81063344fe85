/* SPDX-License-Identifier: MIT */
#include "model/bindings.h"

#include "model/block.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define NO_MEMORY(error) prt_error_set((error), PRT_E_NOMEM, "out of memory")

static enum prt_status partition_root(struct prt_bindings *b, const int64_t *properties,
                                      uint32_t count, struct prt_error *error)
{
    b->sub_devices = calloc((size_t)count + 1, sizeof *b->sub_devices);
    b->sub_device_queues = calloc((size_t)count + 1, sizeof *b->sub_device_queues);
    if (b->sub_devices == NULL || b->sub_device_queues == NULL) return NO_MEMORY(error);
    enum prt_status status = prt_create_sub_devices(b->tree, b->root, properties, count,
                                                    b->sub_devices, &b->sub_device_count);
    if (status == PRT_E_OUT_OF_HOST_MEMORY) return NO_MEMORY(error);
    if (status != PRT_OK)
        return prt_error_set(error, PRT_E_DEVICE, "the device cannot be cut into sub-devices: %s",
                             prt_status_text(status));
    for (uint32_t i = 0; i < count; i++)
        b->sub_device_queues[i] = PRT_NO_QUEUE;
    return PRT_OK;
}

static enum prt_status partition_equally(struct prt_bindings *b, uint32_t cu_count,
                                         struct prt_error *error)
{
    const int64_t properties[] = {PRT_PARTITION_EQUALLY, cu_count, 0};
    return partition_root(b, properties, b->container->device->cu_count / cu_count, error);
}

static enum prt_status partition_counts(struct prt_bindings *b,
                                        const struct sched_instruction *instruction,
                                        struct prt_error *error)
{
    uint32_t count = instruction->operands[0];
    int64_t *properties = calloc((size_t)count + 3, sizeof *properties);
    if (properties == NULL) return NO_MEMORY(error);
    properties[0] = PRT_PARTITION_BY_COUNTS;
    for (uint32_t i = 0; i < count; i++)
        properties[i + 1] = sched_list_item(instruction, i);
    enum prt_status status = partition_root(b, properties, count, error);
    free(properties);
    return status;
}

static enum prt_status partition_affinity(struct prt_bindings *b, uint32_t level, uint32_t cu_count,
                                          struct prt_error *error)
{
    const int64_t properties[] = {PRT_PARTITION_BY_AFFINITY_DOMAIN, PRT_AFFINITY_NUMA << level, 0};
    uint32_t wanted = b->container->device->cu_count / cu_count, count = 0;
    /* All domains of a level but the last have the same size, so their number determines it. */
    enum prt_status status = prt_create_sub_devices(b->tree, b->root, properties, 0, NULL, &count);
    if (status == PRT_OK && count != wanted)
        return prt_error_set(error, PRT_E_DEVICE,
                             "the device has %" PRIu32 " domains of level %s, the program was made "
                             "for %" PRIu32,
                             count, sched_levels[level], wanted);
    return partition_root(b, properties, wanted, error);
}

void prt_bindings_release(struct prt_bindings *b)
{
    for (uint32_t i = 0; i < b->sub_device_count; i++)
        (void)prt_device_release(b->tree, b->sub_devices[i]);
    b->sub_device_count = 0;
}

/* The queue of that importance among those of a (sub-)device, the first of which is `first`; PRT_NO_QUEUE: there
 * is none.  Each importance has a queue of its own, because launches of greater importance overtake those that wait
 * and interrupt those that execute. */
static uint32_t find_queue(const struct prt_bindings *b, uint32_t first, uint32_t importance)
{
    while (first != PRT_NO_QUEUE && b->queues[first].importance != importance)
        first = b->queues[first].next;
    return first;
}

/* Creates the queue for the first stage of its importance that is bound to the (sub-)device. */
static enum prt_status open_queue(struct prt_bindings *b, struct prt_device_handle device,
                                  uint32_t importance, uint32_t *first, uint32_t *queue)
{
    enum prt_status status = b->add_queue(b->context, device, importance, queue);
    if (status != PRT_OK) return status;
    assert(*queue < b->container->stage_count);
    b->queues[*queue] = (struct prt_bound_queue){
        .on = device, .importance = importance, .next = *first, .root = first == &b->root_queue};
    *first = *queue;
    b->core->queue_count = *queue + 1; /* they are numbered from 0 */
    return PRT_OK;
}

static enum prt_status bind_queue(struct prt_bindings *b, uint32_t stage,
                                  struct prt_device_handle device, uint32_t *first,
                                  struct prt_error *error)
{
    struct prt_device_information information;
    uint32_t importance = core_stage(b->core, stage)->importance;
    uint32_t queue = find_queue(b, *first, importance);
    enum prt_status status = prt_device_query(b->tree, device, &information);
    assert(status == PRT_OK); /* the root, or a sub-device of it that the program has made */
    if (queue == PRT_NO_QUEUE) status = open_queue(b, device, importance, first, &queue);
    if (status != PRT_OK) return prt_error_set(error, status, "%s", prt_status_text(status));
    core_stage(b->core, stage)->queue = queue;
    b->queues[queue].first_cu = information.first_cu;
    b->queues[queue].cu_count = information.cu_count;
    if (++b->bound_count == b->container->stage_count) prt_block_find_order(b->core);
    return PRT_OK;
}

static enum prt_status bind_to(struct prt_bindings *b, uint32_t stage, uint32_t sub_device,
                               struct prt_error *error)
{
    assert(sub_device < b->sub_device_count);
    return bind_queue(b, stage, b->sub_devices[sub_device], &b->sub_device_queues[sub_device],
                      error);
}

enum prt_status prt_bindings_execute(struct prt_bindings *b,
                                     const struct sched_instruction *instruction,
                                     struct prt_error *error)
{
    const uint32_t *operands = instruction->operands;
    switch (instruction->opcode) {
    case SCHED_PARTITION_EQUALLY: return partition_equally(b, operands[0], error);
    case SCHED_PARTITION_COUNTS: return partition_counts(b, instruction, error);
    case SCHED_PARTITION_AFFINITY: return partition_affinity(b, operands[0], operands[1], error);
    case SCHED_BIND_ROOT: return bind_queue(b, operands[0], b->root, &b->root_queue, error);
    case SCHED_BIND: return bind_to(b, operands[0], operands[1], error);
    case SCHED_PACKETS:
        if (!b->form_given) b->core->form = (uint8_t)operands[0];
        return PRT_OK;
    default: break;
    }
    assert(instruction->opcode == SCHED_LOAD_REFERENCE); /* the core executes all others */
    core_stage(b->core, operands[0])->loads = true;
    return PRT_OK;
}

enum prt_status prt_bindings_create(struct prt_bindings *b)
{
    b->root_queue = PRT_NO_QUEUE;
    b->queues = calloc((size_t)b->container->stage_count + 1, sizeof *b->queues);
    return b->queues != NULL ? PRT_OK : PRT_E_NOMEM;
}

void prt_bindings_free(struct prt_bindings *b)
{
    free(b->sub_devices);
    free(b->sub_device_queues);
    free(b->queues);
}
