/* SPDX-License-Identifier: MIT */
#include "runtime/load/deepen.h"

#include "lang/sched_code.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool can_use_threads(const struct prt_container *c)
{
    for (uint32_t i = 0; i < c->node_count; i++)
        if ((c->nodes[i].flags & CONTAINER_NODE_STATEFUL) == 0) return true;
    return false;
}

/* How many times as large may `growing` become, if it may take `more` bytes more? */
static uint64_t factor_within(uint64_t growing, uint64_t more, uint64_t wanted)
{
    if (growing == 0 || more / growing >= wanted - 1) return wanted;
    return 1 + more / growing;
}

uint64_t prt_deepen_factor(const struct prt_container *c, uint64_t wanted, uint64_t bytes_max)
{
    uint64_t all = 0, inner = 0, limit = c->pipeline->memory_limit_bytes;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        const struct container_buffer *b = &c->buffers[i];
        uint64_t bytes = b->depth_packets * b->width_bytes; /* reader.h: it fits */
        if (!(b->flags & CONTAINER_BUFFER_GROWS)) continue;
        if (__builtin_add_overflow(all, bytes, &all)) return 1;
        if (b->outer == CONTAINER_INNER) inner += bytes;
    }
    if (all == 0 || wanted <= 1 || !can_use_threads(c)) return 1;
    uint64_t left = limit == 0 ? UINT64_MAX : 0;
    if (limit > c->pipeline->memory_bytes) left = limit - c->pipeline->memory_bytes;
    return factor_within(inner, left, factor_within(all, bytes_max, wanted));
}

/* A verified container has at least one entry in each table that is copied. */
static void *copy_table(const void *table, size_t count, size_t size)
{
    void *copy = malloc(count * size);
    if (copy != NULL) memcpy(copy, table, count * size);
    return copy;
}

/* False: a buffer, or the sum of all inner ones, would be larger than the reader admits. */
static bool grow_buffers(const struct prt_container *c, struct container_buffer *buffers,
                         uint64_t factor, uint64_t *inner_bytes)
{
    *inner_bytes = 0;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        struct container_buffer *b = &buffers[i];
        if (b->flags & CONTAINER_BUFFER_GROWS) {
            if (b->depth_packets > SIZE_MAX / 4 / b->width_bytes / factor) return false;
            b->depth_packets *= factor;
        }
        if (b->outer == CONTAINER_INNER &&
            __builtin_add_overflow(*inner_bytes, b->depth_packets * b->width_bytes, inner_bytes))
            return false;
    }
    return true;
}

static bool grows_at_all_ends(const struct prt_container *c, const struct container_node *node)
{
    for (uint32_t i = 0; i < node->input_count; i++)
        if (!(c->buffers[c->inputs[node->first_input + i].buffer].flags & CONTAINER_BUFFER_GROWS))
            return false;
    for (uint32_t i = 0; i < node->output_count; i++)
        if (!(c->buffers[c->outputs[node->first_output + i].buffer].flags & CONTAINER_BUFFER_GROWS))
            return false;
    return true;
}

/* Multiplies the counts of packets and firings; false: one does not fit an operand. */
static bool scale_program(uint8_t *code, uint32_t code_bytes, uint64_t factor)
{
    struct sched_instruction instruction;
    for (uint32_t at = 0; at < code_bytes; at += instruction.size_bytes) {
        bool decoded = sched_decode(code, code_bytes, at, &instruction);
        assert(decoded); /* by the verifier */
        (void)decoded;
        switch (instruction.opcode) {
        case SCHED_RUN:
        case SCHED_GOES_ON:
        case SCHED_HAS_PACKETS:
        case SCHED_HAS_ROOM: break;
        default: continue;
        }
        uint32_t operand = 0;
        while (sched_opcodes[instruction.opcode].operands[operand] != 'U')
            operand++;
        if (instruction.operands[operand] > UINT32_MAX / factor) return false;
        uint32_t word = (uint32_t)(instruction.operands[operand] * factor);
        memcpy(code + at + 1 + operand * sizeof word, &word, sizeof word);
    }
    return true;
}

enum prt_status prt_container_deepen(const struct prt_container *c, uint64_t factor,
                                     bool scales_program, struct prt_container *deep,
                                     struct prt_error *error)
{
    struct container_buffer *buffers = copy_table(c->buffers, c->buffer_count, sizeof *buffers);
    struct container_stage *stages = copy_table(c->stages, c->stage_count, sizeof *stages);
    struct container_pipeline *pipeline = copy_table(c->pipeline, 1, sizeof *pipeline);
    uint8_t *code = copy_table(c->code, c->code_bytes, 1);
    *deep = *c;
    deep->bytes = NULL;
    deep->buffers = buffers;
    deep->stages = stages;
    deep->pipeline = pipeline;
    deep->code = code;
    enum prt_status status = PRT_OK;
    if (buffers == NULL || stages == NULL || pipeline == NULL || code == NULL) {
        status = prt_error_set(error, PRT_E_NOMEM, "out of memory");
    } else if (!grow_buffers(c, buffers, factor, &pipeline->memory_bytes) ||
               (scales_program && !scale_program(code, c->code_bytes, factor))) {
        status = prt_error_set(error, PRT_E_VERIFY, "depths cannot grow so far");
    } else {
        /* Batches grow with the depths. */
        for (uint32_t i = 0; i < c->stage_count; i++)
            if (grows_at_all_ends(c, &c->nodes[stages[i].node]) &&
                stages[i].batch_max <= UINT32_MAX / factor)
                stages[i].batch_max *= factor;
    }
    if (status != PRT_OK) prt_container_free_deep(deep);
    return status;
}

void prt_container_free_deep(struct prt_container *deep)
{
    free((void *)(uintptr_t)deep->buffers);
    free((void *)(uintptr_t)deep->stages);
    free((void *)(uintptr_t)deep->pipeline);
    free((void *)(uintptr_t)deep->code);
    memset(deep, 0, sizeof *deep);
}
