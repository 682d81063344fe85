/* SPDX-License-Identifier: MIT */
#include "runtime/sched/program.h"

#include "core/machine.h"
#include "lang/sched_code.h"
#include "runtime/device/device_queue.h"
#include "model/block.h"
#include "runtime/sched/own_queues.h"
#include "runtime/sched/run_state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define NO_MEMORY(error) prt_error_set((error), PRT_E_NOMEM, "out of memory")

static enum prt_status partition(struct prt_sched *s, const int64_t *properties, uint32_t count,
                                 struct prt_error *error)
{
    s->sub_devices = calloc((size_t)count + 1, sizeof *s->sub_devices);
    s->sub_device_queues = calloc((size_t)count + 1, sizeof *s->sub_device_queues);
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

static enum prt_status partition_equally(struct prt_sched *s, uint32_t cu_count,
                                         struct prt_error *error)
{
    const int64_t properties[] = {PRT_PARTITION_EQUALLY, cu_count, 0};
    return partition(s, properties, s->container->device->cu_count / cu_count, error);
}

static enum prt_status partition_counts(struct prt_sched *s,
                                        const struct sched_instruction *instruction,
                                        struct prt_error *error)
{
    uint32_t count = instruction->operands[0];
    int64_t *properties = calloc((size_t)count + 3, sizeof *properties);
    if (properties == NULL) return NO_MEMORY(error);
    properties[0] = PRT_PARTITION_BY_COUNTS;
    for (uint32_t i = 0; i < count; i++)
        properties[i + 1] = sched_list_item(instruction, i);
    enum prt_status status = partition(s, properties, count, error);
    free(properties);
    return status;
}

static enum prt_status partition_affinity(struct prt_sched *s, uint32_t level, uint32_t cu_count,
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
    s->core->queue_count = *queue + 1; /* they are numbered from 0 */
    return PRT_OK;
}

static enum prt_status bind_queue(struct prt_sched *s, uint32_t stage,
                                  struct prt_device_handle device, uint32_t *first,
                                  struct prt_error *error)
{
    struct prt_device_information information;
    uint32_t importance = s->stages[stage].importance;
    uint32_t queue = find_queue(s, *first, importance);
    enum prt_status status = prt_device_query(s->ops->tree(s->device), device, &information);
    assert(status == PRT_OK); /* the root, or a sub-device of it that the program has made */
    if (queue == PRT_SCHED_NO_QUEUE) status = open_queue(s, device, importance, first, &queue);
    if (status != PRT_OK) return prt_error_set(error, status, "%s", prt_status_text(status));
    s->stages[stage].queue = queue;
    s->queues[queue].cu_count = information.cu_count;
    if (s->device_queues[stage] != NULL)
        prt_device_queue_bind(s->device_queues[stage], information.cu_count);
    if (++s->bound_count < s->container->stage_count) return PRT_OK;
    prt_block_find_order(s->core);
    status = prt_own_queues_open(s);
    return status == PRT_OK ? status : NO_MEMORY(error);
}

static enum prt_status bind_root(struct prt_sched *s, uint32_t stage, struct prt_error *error)
{
    return bind_queue(s, stage, s->root, &s->root_queue, error);
}

static enum prt_status bind_to(struct prt_sched *s, uint32_t stage, uint32_t sub_device,
                               struct prt_error *error)
{
    assert(sub_device < s->sub_device_count);
    return bind_queue(s, stage, s->sub_devices[sub_device], &s->sub_device_queues[sub_device],
                      error);
}

static enum prt_status execute_instruction(struct prt_sched *s,
                                           const struct sched_instruction *instruction,
                                           struct prt_error *error)
{
    const uint32_t *operands = instruction->operands;
    switch (instruction->opcode) {
    case SCHED_PARTITION_EQUALLY: return partition_equally(s, operands[0], error);
    case SCHED_PARTITION_COUNTS: return partition_counts(s, instruction, error);
    case SCHED_PARTITION_AFFINITY: return partition_affinity(s, operands[0], operands[1], error);
    case SCHED_BIND_ROOT: return bind_root(s, operands[0], error);
    case SCHED_BIND: return bind_to(s, operands[0], operands[1], error);
    case SCHED_PACKETS:
        if (!s->dispatch_given) s->core->form = (uint8_t)operands[0];
        return PRT_OK;
    default: break;
    }
    assert(instruction->opcode == SCHED_LOAD_REFERENCE); /* the core executes all others */
    s->stages[operands[0]].loads = true;
    return PRT_OK;
}

enum prt_status prt_program_begin(struct prt_sched *s, struct prt_error *error)
{
    const struct prt_container *c = s->container;
    struct sched_instruction instruction;
    enum prt_status status = PRT_OK;
    uint32_t number = 0;
    (void)prt_run_state_set(s, PRT_DOING_WORK, NULL);
    /* the verifier: code halts */
    for (uint32_t at = 0; status == PRT_OK; at += instruction.size_bytes, number++) {
        bool decodes = sched_decode(c->code, c->code_bytes, at, &instruction);
        assert(decodes);
        if (!decodes || core_executes(instruction.opcode)) break;
        prt_run_state_attend(s);
        s->core->instruction_cycles += sched_opcodes[instruction.opcode].cycles;
        s->core->instructions++;
        s->core->instruction = number;
        status = execute_instruction(s, &instruction, error);
    }
    core_begin(s->core, number);
    return status;
}
