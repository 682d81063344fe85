/* SPDX-License-Identifier: MIT */
#include "runtime/sched/leftovers.h"

#include "runtime/sched/fused.h"
#include "runtime/sched/inport.h"
#include "core/ready.h"

/* An input of a reader at the end of the run: of a stage, or of a fused node. */
struct last_input {
    const char *name;          /* of its buffer, */
    struct prt_leftover *left; /* and what is left over there */
    uint64_t countable;        /* maximum packets that are reported */
    /* Packets that it would hold by now if its reader had not detached; ended: there will be no more. */
    uint64_t packets, history;
    bool ended, more; /* more: there may be more than are known */
    bool counts;      /* else how many there are depends on the moment */
    bool few;         /* it has ended, with too few packets for another firing */
    bool lacks;       /* too few for another firing, if it has not ended */
    bool fed, cut_off;
};

struct last_reader {
    struct prt_sched *sched;
    const char *name;
    uint32_t input_count;
    /* Looks at input `input`. */
    struct last_input (*look)(const struct last_reader *reader, uint32_t input);
    const struct core_stage *stage;           /* that it is, or NULL */
    const struct container_fused_node *fused; /* that it is, or NULL */
};

/* ---- inputs of stages ---- */

static uint64_t held_by_now(struct prt_sched *s, const struct core_input *input, bool *ended)
{
    struct prt_buffer *buffer = prt_input_buffer(s, input);
    uint64_t rest = 0;
    *ended = buffer->fifo->closed;
    if (buffer->record->outer == CONTAINER_OUTER_IN && !*ended)
        rest = prt_inport_rest(s, buffer, prt_inport_countable(buffer), ended);
    return buffer->fifo->written_packets - input->left.from_packets + rest;
}

static void set_buffer(struct prt_sched *s, struct prt_buffer *buffer, struct last_input *last)
{
    last->name = prt_container_text(s->container, buffer->record->name);
    last->left = &buffer->left;
    last->countable =
        buffer->record->outer == CONTAINER_OUTER_IN ? prt_inport_countable(buffer) : UINT64_MAX;
}

static struct last_input look_at_stage(const struct last_reader *reader, uint32_t number)
{
    struct prt_sched *s = reader->sched;
    const struct core_input *input = core_input(s->core, reader->stage, number);
    struct prt_buffer *buffer = prt_input_buffer(s, input);
    struct last_input last = {.counts = input->left.counts};
    set_buffer(s, buffer, &last);
    last.history = input->left.history_packets;
    if (last.counts) last.packets = held_by_now(s, input, &last.ended);
    last.more = !last.ended && last.countable != UINT64_MAX;
    last.few =
        last.ended && core_ready_fits(s->core, reader->stage, input, last.packets, true) == 0;
    last.lacks = core_ready_fits(s->core, reader->stage, input, last.packets, false) == 0;
    last.fed = prt_fused_buffer_is_fed(s, buffer);
    last.cut_off = prt_fused_buffer_is_cut_off(s, buffer);
    return last;
}

/* ---- inputs of fused nodes ---- */

static uint64_t initial_packets(const struct prt_sched *s,
                                const struct container_fused_input *input)
{
    const struct prt_container *c = s->container;
    return input->input != CONTAINER_NONE
               ? c->buffers[c->inputs[input->input].buffer].initial_packets
               : c->fused_buffers[input->buffer].initial_packets;
}

/* As core_ready_history of a stage that has fired so often. */
static uint64_t history_of(const struct prt_sched *s, const struct container_fused_input *input,
                           uint64_t firings)
{
    uint64_t seen = input->peek - input->pop, initial = initial_packets(s, input);
    return firings == 0 && initial < seen ? initial : seen;
}

/* Requires: it is known how often the node would have fired. */
static struct last_input look_at_fused(const struct last_reader *reader, uint32_t number)
{
    struct prt_sched *s = reader->sched;
    uint32_t index = reader->fused->first_input + number;
    const struct container_fused_input *input = &s->container->fused_inputs[index];
    const struct prt_packets *given = &s->fused_inputs[index];
    uint64_t firings = s->fused_nodes[reader->fused - s->container->fused_nodes].firings.least;
    struct prt_buffer *buffer = prt_fused_read_buffer(s, input);
    bool ended = given->least == given->most;
    struct last_input last = {.counts = !given->moment, .ended = ended, .more = !ended};
    if (buffer != NULL) {
        set_buffer(s, buffer, &last);
    } else {
        last.name =
            prt_container_text(s->container, s->container->fused_buffers[input->buffer].name);
        last.left = &s->fused_buffers[input->buffer].left;
        last.countable = UINT64_MAX;
    }
    last.packets = given->least > firings * input->pop ? given->least - firings * input->pop : 0;
    last.history = history_of(s, input, firings);
    last.few = last.lacks = prt_fused_fits(s, input, given->least) == firings &&
                            prt_fused_fits(s, input, given->most) == firings;
    last.fed = prt_fused_is_fed(s, input);
    last.cut_off = prt_fused_is_cut_off(s, input);
    return last;
}

/* ---- a reader ---- */

/* The input in which the reader finds too few packets; NULL: there is none.  A closed one is chosen before an open one, and
 * of these one that an in-port feeds before the others. */
static bool find_short(const struct last_reader *reader, struct last_input *by)
{
    bool found = false, open = false;
    for (uint32_t i = 0; i < reader->input_count; i++) {
        struct last_input last = reader->look(reader, i);
        if (last.counts && last.few && (last.fed || !found)) {
            *by = last;
            found = true;
            if (last.fed) return true;
        } else if (!found && !open && last.lacks) {
            *by = last;
            open = true;
        }
    }
    return found || open;
}

/* Does the buffer only show how much earlier its writer has fired?  No in-port feeds it, and it is not the reason why the
 * reader fires no more: another input is, or no reader takes its packets any more. */
static bool is_ahead_only(const struct prt_sched *s, const struct last_input *input,
                          const struct last_input *by, bool few)
{
    if (input->fed || (by != NULL && input->left == by->left)) return false;
    if (by == NULL) return !s->core->interrupt_seen;
    return !few || by->fed;
}

static void count_input(const struct last_reader *reader, const struct last_input *input,
                        const struct last_input *by)
{
    bool few = input->few || (by != NULL && input->left == by->left);
    uint64_t left = input->packets > input->history ? input->packets - input->history : 0;
    struct prt_leftover *to = input->left;
    if (left == 0 || input->cut_off || is_ahead_only(reader->sched, input, by, few)) return;
    to->more |= input->more || left > input->countable;
    if (left > input->countable) left = input->countable;
    if (few) {
        if (left > to->few_packets) to->few_packets = left;
    } else if (left > to->stranded_packets) {
        to->stranded_packets = left;
        to->stranded_reader = reader->name;
        to->stranded_by = by != NULL ? by->name : NULL;
    }
}

static void count_reader(const struct last_reader *reader)
{
    struct last_input by;
    bool lacks = find_short(reader, &by);
    for (uint32_t i = 0; i < reader->input_count; i++) {
        struct last_input input = reader->look(reader, i);
        if (input.counts) count_input(reader, &input, lacks ? &by : NULL);
    }
}

/* ---- all ---- */

static void count_stage(struct prt_sched *s, const struct core_stage *stage)
{
    const struct last_reader reader = {
        .sched = s,
        .name = prt_container_text(s->container, prt_stage_node(s, stage)->name),
        .input_count = stage->input_count,
        .look = look_at_stage,
        .stage = stage};
    count_reader(&reader);
}

/* Packets that a `finish` has seen are not left over. */
static void count_fused_node(struct prt_sched *s, const struct container_fused_node *node)
{
    const struct last_reader reader = {.sched = s,
                                       .name = prt_container_text(s->container, node->name),
                                       .input_count = node->input_count,
                                       .look = look_at_fused,
                                       .fused = node};
    const struct prt_packets *firings = &s->fused_nodes[node - s->container->fused_nodes].firings;
    bool known = firings->least == firings->most && firings->most != UINT64_MAX;
    if ((node->flags & CONTAINER_FUSED_SEES_TAIL) == 0 && known) count_reader(&reader);
}

void prt_leftovers_count(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    prt_fused_replay(s);
    for (uint32_t i = 0; i < c->stage_count; i++)
        if ((s->stages[i].flags & CONTAINER_NODE_FUSED) == 0) count_stage(s, &s->stages[i]);
    for (uint32_t i = 0; i < c->fused_node_count; i++)
        count_fused_node(s, &c->fused_nodes[i]);
}
