/* SPDX-License-Identifier: MIT */
#include "runtime/sched/leftovers.h"

#include "runtime/sched/inport.h"
#include "core/ready.h"

/* Packets that the input would hold by now if its reader had not detached; *ended: there will be no more. */
static uint64_t held_by_now(struct prt_sched *s, const struct core_input *input, bool *ended)
{
    struct prt_buffer *buffer = prt_input_buffer(s, input);
    uint64_t rest = 0;
    *ended = buffer->fifo->closed;
    if (buffer->record->outer == CONTAINER_OUTER_IN && !*ended)
        rest = prt_inport_rest(s, buffer, ended);
    return buffer->fifo->written_packets - input->left.from_packets + rest;
}

static bool is_short(struct prt_sched *s, const struct core_stage *stage,
                     const struct core_input *input)
{
    bool ended;
    uint64_t packets = held_by_now(s, input, &ended);
    return ended && core_ready_fits(s->core, stage, input, packets, true) == 0;
}

static bool is_fed(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    uint32_t writer = buffer->core->writer;
    return writer == CORE_NONE || s->stages[writer].fed;
}

/* The buffer in which the stage finds too few packets; NULL: there is none.  A closed one is chosen before an open one,
 * and of these one that an in-port feeds before the others. */
static const struct prt_buffer *short_buffer(struct prt_sched *s, const struct core_stage *stage)
{
    const struct prt_buffer *found = NULL, *open = NULL;
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(s->core, stage, i);
        bool ended, counts = input->left.counts;
        if (counts && is_short(s, stage, input)) {
            if (is_fed(s, prt_input_buffer(s, input))) return prt_input_buffer(s, input);
            if (found == NULL) found = prt_input_buffer(s, input);
        }
        uint64_t packets = counts ? held_by_now(s, input, &ended) : 0;
        if (open == NULL && core_ready_fits(s->core, stage, input, packets, false) == 0)
            open = prt_input_buffer(s, input);
    }
    return found != NULL ? found : open;
}

/* Does the buffer only show how much earlier its writer has fired?  No in-port feeds it, and it is not the reason why the
 * stage fires no more: another input is, or no reader takes the stage's packets any more. */
static bool is_ahead_only(const struct prt_sched *s, const struct prt_buffer *buffer,
                          const struct prt_buffer *by, bool few)
{
    if (is_fed(s, buffer) || buffer == by) return false;
    if (by == NULL) return !s->core->interrupt_seen;
    return !few || is_fed(s, by);
}

/* Have its packets been cut off with those of an endless in-port?  Their number depends on the moment. */
static bool buffer_is_cut_off(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    const struct core_buffer *core = buffer->core;
    return core->writer == CORE_NONE ? core->endless : s->stages[core->writer].cut_off;
}

static void count_input(struct prt_sched *s, const struct core_stage *stage,
                        const struct core_input *input, const struct prt_buffer *by)
{
    struct prt_buffer *buffer = prt_input_buffer(s, input);
    if (buffer_is_cut_off(s, buffer)) return;
    bool ended, few = is_short(s, stage, input) || buffer == by;
    uint64_t packets = held_by_now(s, input, &ended), history = input->left.history_packets;
    uint64_t left = packets > history ? packets - history : 0;
    if (left == 0 || is_ahead_only(s, buffer, by, few)) return;
    if (buffer->record->outer == CONTAINER_OUTER_IN) {
        uint64_t most = prt_inport_countable(buffer);
        buffer->leftover_more |= !ended || left > most;
        if (left > most) left = most;
    }
    if (few) {
        if (left > buffer->few_packets) buffer->few_packets = left;
    } else if (left > buffer->stranded_packets) {
        buffer->stranded_packets = left;
        buffer->stranded_reader = stage;
        buffer->stranded_by = by;
    }
}

void prt_leftovers_count(struct prt_sched *s)
{
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct core_stage *stage = &s->stages[i];
        const struct prt_buffer *by = short_buffer(s, stage);
        for (uint32_t k = 0; k < stage->input_count; k++)
            if (core_input(s->core, stage, k)->left.counts)
                count_input(s, stage, core_input(s->core, stage, k), by);
    }
}
