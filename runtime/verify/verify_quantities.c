/* SPDX-License-Identifier: MIT */
/* The quantities of a program's execution on intervals: see verify_levels.h. */
#include "runtime/verify/verify_levels.h"

#include <stdlib.h>

enum prt_quantity_kind prt_quantity_kind(const struct prt_quantities *q, uint32_t key)
{
    if (key < q->first_phase) return PRT_LEVEL;
    if (key < q->first_allowance) return PRT_PHASE;
    if (key < q->first_running) return PRT_ALLOWANCE;
    return key < q->launches ? PRT_RUNNING : PRT_LAUNCHES;
}

struct prt_keys prt_quantities_levels(const struct prt_quantities *q, uint32_t buffer)
{
    const struct container_buffer *b = &q->container->buffers[buffer];
    if (b->reader_count == 0) return (struct prt_keys){q->first_out + buffer, 1};
    return (struct prt_keys){b->first_reader, b->reader_count};
}

const struct container_buffer *prt_quantities_buffer(const struct prt_quantities *q, uint32_t key)
{
    const struct prt_container *c = q->container;
    if (key >= q->first_out) return &c->buffers[key - q->first_out];
    return &c->buffers[c->inputs[c->readers[key].input].buffer];
}

static int64_t clamp_quantity(uint64_t packets)
{
    return packets > (uint64_t)PRT_LEVEL_MAX ? PRT_LEVEL_MAX : (int64_t)packets;
}

static void fill_most(struct prt_quantities *q)
{
    const struct prt_container *c = q->container;
    for (uint32_t key = 0; key < q->count; key++) {
        switch (prt_quantity_kind(q, key)) {
        case PRT_LEVEL:
            q->most[key] = clamp_quantity(prt_quantities_buffer(q, key)->depth_packets);
            break;
        case PRT_PHASE: q->most[key] = c->nodes[key - q->first_phase].phases - 1; break;
        case PRT_ALLOWANCE: q->most[key] = PRT_LEVEL_MAX; break;
        case PRT_RUNNING: q->most[key] = 1; break;
        case PRT_LAUNCHES: q->most[key] = PRT_LAUNCHES_MAX; break;
        }
    }
}

/* ---- which stages feed which ---- */

/* Marks all stages that those on the stack feed. */
static void mark_fed_stages(const struct prt_quantities *q, bool *reached, uint32_t *stack,
                            uint32_t depth)
{
    const struct prt_container *c = q->container;
    while (depth > 0) {
        const struct container_node *node = &c->nodes[c->stages[stack[--depth]].node];
        for (uint32_t o = 0; o < node->output_count; o++) {
            const struct container_buffer *b =
                &c->buffers[c->outputs[node->first_output + o].buffer];
            for (uint32_t r = 0; r < b->reader_count; r++) {
                uint32_t stage = q->stage_of[c->readers[b->first_reader + r].node];
                if (reached[stage]) continue;
                reached[stage] = true;
                stack[depth++] = stage;
            }
        }
    }
}

static bool reads_port(const struct prt_container *c, const struct container_node *node)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (c->buffers[c->inputs[node->first_input + i].buffer].writer_node == CONTAINER_NONE)
            return true;
    }
    return false;
}

/* Is each of its writers a stage with its own number or a greater one? */
static bool is_lowest(const struct prt_quantities *q, uint32_t stage)
{
    const struct prt_container *c = q->container;
    const struct container_node *node = &c->nodes[c->stages[stage].node];
    for (uint32_t i = 0; i < node->input_count; i++) {
        uint32_t writer = c->buffers[c->inputs[node->first_input + i].buffer].writer_node;
        /* uncovered: no stage that an in-port feeds is asked for */
        if (writer == CONTAINER_NONE || q->stage_of[writer] < stage) return false;
    }
    return true;
}

static bool are_ordered(const struct prt_quantities *q)
{
    const struct prt_container *c = q->container;
    for (uint32_t s = 0; s < c->stage_count; s++) {
        const struct container_node *node = &c->nodes[c->stages[s].node];
        for (uint32_t i = 0; i < node->input_count && !q->fed[s]; i++) {
            uint32_t writer = c->buffers[c->inputs[node->first_input + i].buffer].writer_node;
            if (q->stage_of[writer] >= s) return false;
        }
    }
    return true;
}

static void mark_fed(struct prt_quantities *q, uint32_t *stack)
{
    const struct prt_container *c = q->container;
    uint32_t depth = 0;
    for (uint32_t s = 0; s < c->stage_count; s++) {
        q->fed[s] = reads_port(c, &c->nodes[c->stages[s].node]);
        if (q->fed[s]) stack[depth++] = s;
    }
    mark_fed_stages(q, q->fed, stack, depth);
    depth = 0;
    for (uint32_t s = 0; s < c->stage_count; s++) {
        bool source = c->nodes[c->stages[s].node].input_count == 0;
        q->unfed[s] = q->fed[s] || source; /* up to the last loop: is it driven? */
        // One place for each stage.  NOLINTNEXTLINE(clang-analyzer-security.ArrayBound)
        if (source) stack[depth++] = s;
    }
    mark_fed_stages(q, q->unfed, stack, depth);
    for (uint32_t s = 0; s < c->stage_count; s++) {
        bool source = c->nodes[c->stages[s].node].input_count == 0;
        q->unfed[s] = source || !q->unfed[s];
        q->allowed[s] = q->unfed[s] && is_lowest(q, s);
    }
    q->ordered = are_ordered(q);
}

enum prt_status prt_quantities_build(const struct prt_container *c, struct prt_quantities *q,
                                     struct prt_error *error)
{
    uint64_t count = (uint64_t)c->reader_count + c->buffer_count + c->node_count +
                     2 * (uint64_t)c->stage_count + 1;
    uint32_t *stack = calloc((size_t)c->stage_count + 1, sizeof *stack);
    *q = (struct prt_quantities){.container = c, .first_out = c->reader_count};
    q->most = calloc(count, sizeof *q->most);
    q->stage_of = calloc((size_t)c->node_count + 1, sizeof *q->stage_of);
    q->fed = calloc(3 * ((size_t)c->stage_count + 1), sizeof *q->fed);
    /* uncovered: records of more than 4 GiB */
    if (count >= UINT32_MAX || stack == NULL || q->most == NULL || q->stage_of == NULL ||
        q->fed == NULL) {
        free(stack);
        prt_quantities_free(q);
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    }
    q->allowed = q->fed + c->stage_count + 1;
    q->unfed = q->allowed + c->stage_count + 1;
    q->first_phase = q->first_out + c->buffer_count;
    q->first_allowance = q->first_phase + c->node_count;
    q->first_running = q->first_allowance + c->stage_count;
    q->launches = q->first_running + c->stage_count;
    q->count = (uint32_t)count;
    for (uint32_t s = 0; s < c->stage_count; s++)
        q->stage_of[c->stages[s].node] = s;
    fill_most(q);
    mark_fed(q, stack);
    free(stack);
    return PRT_OK;
}

void prt_quantities_free(struct prt_quantities *q)
{
    free(q->most);
    free(q->stage_of);
    free(q->fed);
    *q = (struct prt_quantities){0};
}
