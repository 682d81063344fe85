/* SPDX-License-Identifier: MIT */
#include "runtime/sched/leftovers.h"

#include "runtime/sched/inport.h"
#include "runtime/sched/ready.h"

/* A source or a circle would have gone on. */
static bool is_on_tap(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    uint32_t writer = buffer->record->writer_node;
    if (writer == CONTAINER_NONE || buffer->fifo.closed) return false;
    const struct prt_stage *stage = &s->stages[s->node_stage[writer]];
    return !stage->fed && (stage->driven || !s->interrupt_seen);
}

/* Another input may have ended the stage before all packets of this one have arrived.  When they
 * arrive must not change what is reported. */
static bool may_still_come(const struct prt_stage *stage, const struct prt_stage_input *input)
{
    const struct prt_port *port = input->buffer->port;
    return port != NULL && port->eager && stage->node->input_count > 1;
}

void prt_leftovers_note(const struct prt_sched *s, struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        struct prt_stage_input *input = &stage->inputs[i];
        const struct prt_fifo *fifo = &input->buffer->fifo;
        if (is_on_tap(s, input->buffer) || !fifo->readers[input->reader].attached) continue;
        if (may_still_come(stage, input)) continue;
        input->left.counts = true;
        input->left.from_packets = fifo->readers[input->reader].position_packets;
        input->left.history_packets = prt_ready_history(stage, input);
    }
}

void prt_leftovers_note_seen(const struct prt_sched *s, struct prt_stage *stage)
{
    struct prt_stage_input *input = &stage->inputs[0];
    prt_leftovers_note(s, stage);
    if (prt_fifo_held(&input->buffer->fifo, input->reader) <= input->left.history_packets)
        input->left.history_packets = 0;
}

/* Packets that the input would hold by now; *ended: there will be no more. */
static uint64_t held_by_now(struct prt_sched *s, const struct prt_stage_input *input, bool *ended)
{
    struct prt_buffer *buffer = input->buffer;
    uint64_t rest = 0;
    *ended = buffer->fifo.closed;
    if (buffer->record->outer == CONTAINER_OUTER_IN && !*ended)
        rest = prt_inport_rest(s, buffer, ended);
    return buffer->fifo.written_packets - input->left.from_packets + rest;
}

static bool is_short(struct prt_sched *s, const struct prt_stage *stage,
                     const struct prt_stage_input *input)
{
    bool ended;
    uint64_t packets = held_by_now(s, input, &ended);
    return ended && prt_ready_fits(stage, input, packets, true) == 0;
}

static bool is_fed(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    uint32_t writer = buffer->record->writer_node;
    return writer == CONTAINER_NONE || s->stages[s->node_stage[writer]].fed;
}

/* In which the stage finds too few, one that an in-port feeds before others. */
static const struct prt_buffer *short_buffer(struct prt_sched *s, const struct prt_stage *stage)
{
    const struct prt_buffer *found = NULL, *open = NULL;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        bool ended, counts = input->left.counts;
        if (counts && is_short(s, stage, input)) {
            if (is_fed(s, input->buffer)) return input->buffer;
            if (found == NULL) found = input->buffer;
        }
        uint64_t packets = counts ? held_by_now(s, input, &ended) : 0;
        if (open == NULL && prt_ready_fits(stage, input, packets, false) == 0) open = input->buffer;
    }
    return found != NULL ? found : open;
}

static void count_few(struct prt_buffer *buffer, uint64_t left)
{
    if (left > buffer->few_packets) buffer->few_packets = left;
}

static void count_stranded(struct prt_buffer *buffer, uint64_t left, const struct prt_stage *reader,
                           const struct prt_buffer *by)
{
    if (left <= buffer->stranded_packets) return;
    buffer->stranded_packets = left;
    buffer->stranded_reader = reader;
    buffer->stranded_by = by;
}

/* A source brought it, and is not why the stage fires no more: another input is, or that nobody wants
 * any more what it makes. */
static bool is_ahead_only(const struct prt_sched *s, const struct prt_buffer *buffer,
                          const struct prt_buffer *by, bool few)
{
    if (is_fed(s, buffer) || buffer == by) return false;
    if (by == NULL) return !s->interrupt_seen;
    return !few || is_fed(s, by);
}

static void count_input(struct prt_sched *s, const struct prt_stage *stage,
                        const struct prt_stage_input *input, const struct prt_buffer *by)
{
    struct prt_buffer *buffer = input->buffer;
    bool ended, few = is_short(s, stage, input) || buffer == by;
    uint64_t packets = held_by_now(s, input, &ended), history = input->left.history_packets;
    uint64_t left = packets > history ? packets - history : 0;
    if (left == 0 || is_ahead_only(s, buffer, by, few)) return;
    if (buffer->record->outer == CONTAINER_OUTER_IN) {
        uint64_t most = prt_inport_countable(buffer);
        buffer->leftover_more |= !ended || left > most;
        if (left > most) left = most;
    }
    if (few)
        count_few(buffer, left);
    else
        count_stranded(buffer, left, stage, by);
}

void prt_leftovers_count(struct prt_sched *s)
{
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct prt_stage *stage = &s->stages[i];
        const struct prt_buffer *by = short_buffer(s, stage);
        for (uint32_t k = 0; k < stage->node->input_count; k++)
            if (stage->inputs[k].left.counts) count_input(s, stage, &stage->inputs[k], by);
    }
}
