/* SPDX-License-Identifier: MIT */
#include "core/core.h"

/* ---- creation ---- */

/* The place of a table of `count` rows of `size` bytes, and one row more, so that no table is empty.  Moves *end past
 * it; 0 if it is beyond what an address counts. */
static uint64_t place_table(uint64_t *end, uint64_t count, uint64_t size)
{
    uint64_t at = *end, bytes;
    if (at == 0 || __builtin_add_overflow(count, 1, &count) ||
        __builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(at, bytes, end) ||
        *end > SIZE_MAX / 4)
        *end = 0;
    *end = (*end + 7) / 8 * 8;
    return at;
}

/* Fills in all distances.  Returns the places of the words of the two sets of marks. */
static void place_tables(struct core *c, const struct core_shape *shape, uint64_t marks[2])
{
    uint64_t end = (sizeof *c + 7) / 8 * 8;
    c->stages_at = place_table(&end, shape->stages, sizeof(struct core_stage));
    c->inputs_at = place_table(&end, shape->inputs, sizeof(struct core_input));
    c->outputs_at = place_table(&end, shape->outputs, sizeof(struct core_output));
    c->buffers_at = place_table(&end, shape->buffers, sizeof(struct core_buffer));
    c->readers_at = place_table(&end, shape->readers, sizeof(struct core_reader));
    c->sets_at = place_table(&end, shape->sets, sizeof(struct core_set));
    c->members_at = place_table(&end, shape->members, sizeof(uint32_t));
    c->by_importance_at = place_table(&end, shape->members, sizeof(uint32_t));
    c->numbers_at = place_table(&end, shape->numbers, sizeof(uint64_t));
    c->produced_at = place_table(&end, shape->outputs, sizeof(uint64_t));
    c->takers_at = place_table(&end, shape->stages, sizeof(uint64_t));
    c->open_packets_at = place_table(&end, shape->stages, sizeof(struct core_open_packet));
    c->completions_at = place_table(&end, shape->stages, sizeof(struct core_completion));
    c->faults_at = place_table(&end, shape->stages, sizeof(struct core_fault));
    c->walk_at = place_table(&end, shape->stages, sizeof(uint32_t));
    c->code_at = place_table(&end, shape->code, sizeof(struct core_instruction));
    for (int i = 0; i < 2; i++)
        marks[i] = place_table(&end, core_marks_words(shape->stages), sizeof(uint64_t));
    c->bytes = end;
}

size_t core_size(const struct core_shape *shape)
{
    struct core header;
    uint64_t marks[2];
    place_tables(&header, shape, marks);
    return (size_t)header.bytes;
}

struct core *core_lay_out(void *memory, const struct core_shape *shape)
{
    struct core *c = memory;
    uint64_t marks[2];
    place_tables(c, shape, marks);
    core_marks_lay_out(&c->ends_due, (uint64_t *)((uintptr_t)c + marks[0]), shape->stages);
    core_marks_lay_out(&c->changed, (uint64_t *)((uintptr_t)c + marks[1]), shape->stages);
    c->stage_count = shape->stages;
    c->input_count = shape->inputs;
    c->output_count = shape->outputs;
    c->buffer_count = shape->buffers;
    c->set_count = shape->sets;
    c->code_count = shape->code;
    c->form = SCHED_FORM_CONDENSED;
    c->selected = c->link = c->undrained_first = CORE_NONE;
    c->window = 1;
    for (uint32_t i = 0; i < DISPATCH_ENTRIES_MAX; i++)
        c->reference_stages[i] = CORE_NONE;
    for (uint32_t i = 0; i < shape->stages; i++)
        dispatch_open(&core_open_packets(c)[i].writer);
    return c;
}

/* ---- changes ---- */

void core_all_stages_changed(struct core *c)
{
    for (uint32_t i = 0; i < c->stage_count; i++)
        core_stage_changed(c, i);
}

void core_readers_changed(struct core *c, const struct core_buffer *buffer)
{
    if (buffer->port == CORE_OUT_PORT) return;
    const struct core_reader *reader = core_fifo_reader(&buffer->fifo, 0);
    const struct core_reader *end = reader + buffer->fifo.reader_count;
    struct core_stage *stages = core_stages(c);
    for (; reader < end; reader++) {
        stages[reader->stage].settled = false;
        if (core_is_observed(c)) core_mark(&c->changed, reader->stage);
    }
}

void core_to_drain(struct core *c, struct core_buffer *buffer)
{
    uint32_t number = (uint32_t)(buffer - core_buffers(c));
    if (buffer->undrained) return;
    buffer->undrained = true;
    c->attention |= CORE_UNDRAINED;
    buffer->undrained_next = CORE_NONE;
    if (c->undrained_first == CORE_NONE)
        c->undrained_first = number;
    else
        core_buffers(c)[c->undrained_last].undrained_next = number;
    c->undrained_last = number;
}

uint32_t core_take_undrained(struct core *c)
{
    uint32_t number = c->undrained_first;
    if (number == CORE_NONE) return number;
    core_buffers(c)[number].undrained = false;
    c->undrained_first = core_buffers(c)[number].undrained_next;
    if (c->undrained_first == CORE_NONE) c->attention &= ~(uint32_t)CORE_UNDRAINED;
    return number;
}

bool core_fail(struct core *c, enum core_failure_kind kind, uint32_t stage, uint64_t number)
{
    if (c->failure.kind == CORE_GOOD) c->failure = (struct core_failure){kind, stage, number};
    c->attention |= CORE_HAS_FAILED;
    return false;
}
