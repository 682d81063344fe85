/* SPDX-License-Identifier: MIT */
#include "runtime/sched/program.h"

#include "core/machine.h"
#include "model/cached_buffers.h"
#include "runtime/device/device_queue.h"
#include "runtime/sched/own_queues.h"
#include "runtime/sched/run_state.h"

#include <assert.h>

static enum prt_status add_device_queue(void *context, struct prt_device_handle on,
                                        uint32_t importance, uint32_t *queue)
{
    const struct prt_sched *s = context;
    return s->ops->queue_create(s->device, on, importance, queue);
}

/* Every stage has its queue. */
static enum prt_status close_bindings(struct prt_sched *s, struct prt_error *error)
{
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct prt_bound_queue *queue = &s->bindings.queues[s->stages[i].queue];
        if (s->device_queues[i] != NULL)
            prt_device_queue_bind(s->device_queues[i], queue->cu_count);
    }
    struct prt_device_info info;
    s->ops->info(s->device, &info);
    enum prt_status status = prt_cached_buffers_find(&s->bindings, info.description, s->objects);
    if (status == PRT_OK) status = prt_own_queues_open(s);
    return status == PRT_OK ? status : prt_error_set(error, status, "%s", prt_status_text(status));
}

enum prt_status prt_program_begin(struct prt_sched *s, struct prt_error *error)
{
    const struct prt_container *c = s->container;
    struct sched_instruction instruction;
    enum prt_status status = PRT_OK;
    uint32_t number = 0;
    (void)prt_run_state_set(s, PRT_DOING_WORK, NULL);
    s->bindings.container = s->container;
    s->bindings.core = s->core;
    s->bindings.tree = s->ops->tree(s->device);
    s->bindings.add_queue = add_device_queue;
    s->bindings.context = s;
    /* the verifier: code halts */
    for (uint32_t at = 0; status == PRT_OK; at += instruction.size_bytes, number++) {
        bool decodes = sched_decode(c->code, c->code_bytes, at, &instruction);
        assert(decodes);
        (void)decodes;
        if (core_executes(instruction.opcode)) break;
        prt_run_state_attend(s);
        s->core->instruction_cycles += sched_opcodes[instruction.opcode].cycles;
        s->core->instructions++;
        s->core->instruction = number;
        status = prt_bindings_execute(&s->bindings, &instruction, error);
    }
    core_begin(s->core, number);
    if (status == PRT_OK) status = close_bindings(s, error);
    prt_bindings_release(&s->bindings);
    return status;
}
