/* SPDX-License-Identifier: MIT */
#include "runtime/sched/fused.h"

#include "base/arithmetic.h"
#include "core/ready.h"
#include "lang/window.h"
#include "runtime/sched/inport.h"

#define NO_LIMIT UINT64_MAX
/* Records that the passes look at.  Passes go forwards and backwards, so there are about as many as paths change their
 * direction in the order of the records: hardly any.  4,096 nodes in the worst order take a quarter of this. */
#define WORK_MAX (UINT64_C(1) << 26)

/* ---- buffers of the run ---- */

bool prt_fused_buffer_is_fed(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    uint32_t writer = buffer->core->writer;
    return writer == CORE_NONE || s->stages[writer].fed;
}

bool prt_fused_buffer_is_cut_off(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    const struct core_buffer *core = buffer->core;
    return core->writer == CORE_NONE ? core->endless : s->stages[core->writer].cut_off;
}

static const struct core_input *run_input(const struct prt_sched *s,
                                          const struct container_fused_input *input)
{
    return input->input != CONTAINER_NONE ? &s->inputs[input->input] : NULL;
}

struct prt_buffer *prt_fused_read_buffer(const struct prt_sched *s,
                                         const struct container_fused_input *input)
{
    if (input->input != CONTAINER_NONE) return prt_input_buffer(s, run_input(s, input));
    const struct container_fused_buffer *record = &s->container->fused_buffers[input->buffer];
    bool kept = (record->flags & CONTAINER_FUSED_BUFFER_KEPT) != 0;
    return kept ? &s->buffers[record->buffer] : NULL;
}

/* ---- the stages ---- */

static bool is_short_of_packets(const struct prt_sched *s, const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(s->core, stage, i);
        const struct core_fifo *fifo = prt_input_buffer(s, input)->fifo;
        if (input->left.counts && fifo->closed &&
            core_ready_fits(s->core, stage, input, fifo->written_packets - input->left.from_packets,
                            true) == 0)
            return true;
    }
    return false;
}

static void look_at_wholes(struct prt_sched *s)
{
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct core_stage *stage = &s->stages[i];
        struct prt_fused_whole *whole = &s->fused_wholes[stage->node];
        if ((stage->flags & CONTAINER_NODE_FUSED) == 0) continue;
        bool finishes = (stage->flags & CONTAINER_NODE_FINISH) != 0;
        *whole = (struct prt_fused_whole){.report = finishes ? stage->completed : 0,
                                          .ended = is_short_of_packets(s, stage)};
    }
}

/* The digits of the reports, in the order of the buffers (compose_tail.c). */
static void read_reports(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    for (uint32_t i = 0; i < c->fused_buffer_count; i++) {
        const struct container_fused_buffer *record = &c->fused_buffers[i];
        if (record->finish_max == 0) continue;
        struct prt_fused_whole *whole = &s->fused_wholes[c->fused_nodes[record->writer].node];
        s->fused_buffers[i].finished = whole->report % (record->finish_max + 1);
        whole->report /= record->finish_max + 1;
    }
}

/* ---- packets ---- */

/* Of a buffer that a stage reads. */
static struct prt_packets stage_packets(struct prt_sched *s, const struct core_input *input)
{
    struct prt_buffer *buffer = prt_input_buffer(s, input);
    struct prt_packets packets = {.least = buffer->fifo->written_packets, .most = NO_LIMIT};
    uint32_t node = s->container->readers[s->container->inputs[input - s->inputs].reader].node;
    packets.moment = !input->left.counts || !s->fused_wholes[node].ended ||
                     prt_fused_buffer_is_cut_off(s, buffer);
    if (packets.moment) return packets;
    /* A buffer inside gets no more when the run has ended, even if a fault keeps it open. */
    bool ended = true;
    if (!buffer->fifo->closed && buffer->record->outer == CONTAINER_OUTER_IN) {
        ended = false;
        packets.least += prt_inport_rest(s, buffer, NO_LIMIT, &ended);
    }
    if (ended) packets.most = packets.least;
    return packets;
}

static uint64_t written_by(const struct container_fused_buffer *record, uint64_t firings,
                           uint64_t finished)
{
    if (firings == NO_LIMIT) return NO_LIMIT;
    uint64_t packets = saturating_multiply(firings, record->push);
    return saturating_add(saturating_add(packets, finished), record->initial_packets);
}

/* Of a buffer that a fused node writes. */
static struct prt_packets made_packets(const struct prt_sched *s, uint32_t buffer)
{
    const struct container_fused_buffer *record = &s->container->fused_buffers[buffer];
    const struct prt_packets *firings = &s->fused_nodes[record->writer].firings;
    uint64_t finished = s->fused_buffers[buffer].finished;
    return (struct prt_packets){written_by(record, firings->least, finished),
                                written_by(record, firings->most, finished), firings->moment};
}

/* ---- firings ---- */

/* A firing whose window reaches past the end happens if its row is whole. */
static uint64_t window_fits_in_all(const struct core_input *input, uint64_t packets)
{
    uint64_t frame = window_frame(input->shape), rest = packets % frame, place = 0, rows, more;
    do {
        more = window_firings(input->window, input->shape, place, rest, true, &rows);
        place += more;
    } while (more > 0);
    return packets - rest + place;
}

uint64_t prt_fused_fits(const struct prt_sched *s, const struct container_fused_input *input,
                        uint64_t packets)
{
    const struct core_input *of = run_input(s, input);
    if (packets == NO_LIMIT) return NO_LIMIT;
    if (of != NULL && of->window.width > 0) return window_fits_in_all(of, packets);
    return packets < input->peek ? 0 : (packets - input->peek) / input->pop + 1;
}

/* True: the firings have changed. */
static bool lower_firings(struct prt_sched *s, uint32_t number)
{
    const struct container_fused_node *record = &s->container->fused_nodes[number];
    struct prt_packets *firings = &s->fused_nodes[number].firings, now = *firings;
    now.moment = false;
    for (uint32_t i = 0; i < record->input_count; i++) {
        const struct container_fused_input *in =
            &s->container->fused_inputs[record->first_input + i];
        struct prt_packets *packets = &s->fused_inputs[record->first_input + i];
        if (in->input == CONTAINER_NONE) *packets = made_packets(s, in->buffer);
        now.least = min64(now.least, prt_fused_fits(s, in, packets->least));
        now.most = min64(now.most, prt_fused_fits(s, in, packets->most));
        now.moment |= packets->moment;
    }
    now.moment &= now.least != now.most;
    bool changed = (now.least != firings->least) | (now.most != firings->most) |
                   (now.moment != firings->moment);
    *firings = now;
    return changed;
}

/* Begins with no limit.  Sets the packets of the inputs that stages have. */
static void begin_replay(struct prt_sched *s)
{
    const struct prt_container *c = s->container;
    for (uint32_t i = 0; i < c->fused_node_count; i++)
        s->fused_nodes[i] = (struct prt_fused_node){.firings = {NO_LIMIT, NO_LIMIT, false}};
    for (uint32_t i = 0; i < c->fused_input_count; i++) {
        const struct core_input *input = run_input(s, &c->fused_inputs[i]);
        if (input != NULL) s->fused_inputs[i] = stage_packets(s, input);
    }
}

/* Calls `change` for each node, over and over, until it changes none.  False: that would take too long. */
static bool repeat_passes(struct prt_sched *s, bool (*change)(struct prt_sched *s, uint32_t number))
{
    uint32_t count = s->container->fused_node_count;
    uint64_t passes = WORK_MAX / ((uint64_t)count + s->container->fused_input_count);
    bool more = true;
    for (uint64_t pass = 0; more && pass <= passes; pass++) {
        more = false;
        for (uint32_t i = 0; i < count; i++)
            more |= change(s, pass % 2 == 0 ? i : count - 1 - i);
    }
    return !more;
}

static void lower_all_firings(struct prt_sched *s)
{
    if (repeat_passes(s, lower_firings)) return;
    for (uint32_t i = 0; i < s->container->fused_node_count; i++)
        s->fused_nodes[i].firings = (struct prt_packets){0, NO_LIMIT, true};
}

/* ---- what reaches a node ---- */

bool prt_fused_is_fed(const struct prt_sched *s, const struct container_fused_input *input)
{
    if (input->input != CONTAINER_NONE)
        return prt_fused_buffer_is_fed(s, prt_fused_read_buffer(s, input));
    return s->fused_nodes[s->container->fused_buffers[input->buffer].writer].fed;
}

bool prt_fused_is_cut_off(const struct prt_sched *s, const struct container_fused_input *input)
{
    if (input->input != CONTAINER_NONE)
        return prt_fused_buffer_is_cut_off(s, prt_fused_read_buffer(s, input));
    return s->fused_nodes[s->container->fused_buffers[input->buffer].writer].cut_off;
}

static bool mark_fused_node(struct prt_sched *s, uint32_t number)
{
    const struct container_fused_node *record = &s->container->fused_nodes[number];
    struct prt_fused_node *node = &s->fused_nodes[number], was = *node;
    for (uint32_t i = 0; i < record->input_count; i++) {
        const struct container_fused_input *in =
            &s->container->fused_inputs[record->first_input + i];
        node->fed |= prt_fused_is_fed(s, in);
        node->cut_off |= prt_fused_is_cut_off(s, in);
    }
    return (node->fed != was.fed) | (node->cut_off != was.cut_off);
}

void prt_fused_replay(struct prt_sched *s)
{
    if (s->container->fused_node_count == 0) return;
    look_at_wholes(s);
    read_reports(s);
    begin_replay(s);
    lower_all_firings(s);
    (void)repeat_passes(s, mark_fused_node); /* a pass marks a node, or is the last one */
}
