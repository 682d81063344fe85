/* SPDX-License-Identifier: MIT */
#include "runtime/sched/lateness.h"

#include "core/time/timing.h"
#include "runtime/sched/arrival_port.h"
#include "core/ready.h"

#include <assert.h>
#include <stdlib.h>

/* A mark is an arrival plus 1; 0: there is none. */
struct marked_buffer {
    uint64_t *marks; /* a ring of `depth` packets; NULL: an in-port */
    uint64_t depth;
    uint64_t end_mark; /* of the end of its stream */
    struct prt_late_packets late;
};

struct prt_lateness {
    struct marked_buffer *buffers;
    uint64_t *stages; /* per stage: the mark of its last firing */
    uint32_t buffer_count;
};

/* ---- creation ---- */

static bool has_arrivals(const struct prt_sched *s)
{
    for (uint32_t i = 0; i < s->container->buffer_count; i++) {
        const struct prt_port *port = s->buffers[i].port;
        if (port != NULL && port->arrival != NULL) return true;
    }
    return false;
}

static bool allocate_marks(struct prt_lateness *made, const struct prt_sched *s)
{
    made->buffer_count = s->container->buffer_count;
    made->buffers = calloc(made->buffer_count, sizeof *made->buffers);
    made->stages = calloc((size_t)s->container->stage_count + 1, sizeof *made->stages);
    if (made->buffers == NULL || made->stages == NULL) return false;
    for (uint32_t i = 0; i < made->buffer_count; i++) {
        struct marked_buffer *b = &made->buffers[i];
        b->late.least_cycles = UINT64_MAX;
        b->depth = s->buffers[i].fifo->depth_packets;
        if (s->buffers[i].record->outer == CONTAINER_OUTER_IN) continue;
        b->marks = calloc((size_t)b->depth, sizeof *b->marks); /* its ring is in memory */
        if (b->marks == NULL) return false;
    }
    return true;
}

enum prt_status prt_lateness_create(const struct prt_sched *s, struct prt_lateness **lateness,
                                    struct prt_error *error)
{
    *lateness = NULL;
    if (!has_arrivals(s)) return PRT_OK;
    struct prt_lateness *made = calloc(1, sizeof *made);
    if (made != NULL && allocate_marks(made, s)) {
        *lateness = made;
        return PRT_OK;
    }
    prt_lateness_destroy(made);
    return prt_error_set(error, PRT_E_NOMEM, "out of memory");
}

void prt_lateness_destroy(struct prt_lateness *lateness)
{
    if (lateness == NULL) return;
    for (uint32_t i = 0; lateness->buffers != NULL && i < lateness->buffer_count; i++)
        free(lateness->buffers[i].marks);
    free(lateness->buffers);
    free(lateness->stages);
    free(lateness);
}

/* ---- marks ---- */

static struct marked_buffer *find_marked(const struct prt_lateness *l, const struct prt_sched *s,
                                         const struct prt_buffer *buffer)
{
    return &l->buffers[buffer - s->buffers];
}

static uint64_t find_port_mark(const struct prt_port *port, uint64_t number)
{
    if (port->arrival == NULL) return 0;
    return core_cycles_add(prt_arrivals_cycle(&port->arrival->arrivals, number), 1);
}

/* The mark of the last packet of the input that the firing sees.  At the end of a stream a window may reach past it. */
static uint64_t find_input_mark(const struct prt_lateness *l, const struct prt_sched *s,
                                const struct core_input *input, uint64_t firing)
{
    const struct prt_buffer *buffer = prt_input_buffer(s, input);
    const struct marked_buffer *b = find_marked(l, s, buffer);
    uint64_t seen = core_ready_seen(s->core, input, firing),
             initial = buffer->record->initial_packets;
    if (seen > buffer->fifo->written_packets) seen = buffer->fifo->written_packets;
    if (seen <= core_fifo_reader(buffer->fifo, input->reader)->position_packets)
        return 0; /* it sees none */
    if (b->marks != NULL) return b->marks[(seen - 1) % b->depth];
    return seen > initial ? find_port_mark(buffer->port, seen - 1 - initial) : 0;
}

/* The packets that are appended next to the output get the mark. */
static void mark_packets(struct marked_buffer *b, uint64_t first, uint64_t packets, uint64_t mark)
{
    assert(packets <= b->depth);
    for (uint64_t i = 0; i < packets; i++)
        b->marks[(first + i) % b->depth] = mark;
}

static void mark_outputs(struct prt_lateness *l, const struct prt_sched *s,
                         const struct core_stage *stage, uint64_t batch_firing, uint64_t mark)
{
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(s->core, stage, i);
        struct marked_buffer *b = find_marked(l, s, prt_output_buffer(s, output));
        bool exact = output->least.cycle == output->most.cycle;
        uint64_t first = prt_output_buffer(s, output)->fifo->written_packets;
        if (exact) {
            first +=
                core_flow_total(core_numbers(s->core), &output->most, stage->firings, batch_firing);
            mark_packets(b, first,
                         core_flow_total(core_numbers(s->core), &output->most,
                                         stage->firings + batch_firing, 1),
                         mark);
        } else if (batch_firing == 0) {
            mark_packets(
                b, first,
                core_flow_total(core_numbers(s->core), &output->most, stage->firings, stage->batch),
                mark);
        }
    }
}

/* The latest mark of the packets and ends of streams that the stage has seen. */
static uint64_t find_end_mark(const struct prt_lateness *l, const struct prt_sched *s,
                              const struct core_stage *stage)
{
    uint64_t mark = l->stages[core_stage_number(s->core, stage)];
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct prt_buffer *buffer = prt_input_buffer(s, core_input(s->core, stage, i));
        const struct marked_buffer *b = find_marked(l, s, buffer);
        if (!buffer->fifo->closed) continue;
        uint64_t end =
            b->marks == NULL ? find_port_mark(buffer->port, buffer->port->packets) : b->end_mark;
        if (end > mark) mark = end;
    }
    return mark;
}

void prt_lateness_dispatched(struct prt_lateness *l, const struct prt_sched *s,
                             const struct core_stage *stage)
{
    uint64_t *last = &l->stages[core_stage_number(s->core, stage)];
    if (stage->life == CORE_FINISHING) {
        *last = find_end_mark(l, s, stage);
        for (uint32_t i = 0; i < stage->output_count; i++) {
            const struct core_output *output = core_output(s->core, stage, i);
            mark_packets(find_marked(l, s, prt_output_buffer(s, output)),
                         prt_output_buffer(s, output)->fifo->written_packets, output->finish_max,
                         *last);
        }
        return;
    }
    for (uint64_t k = 0; k < stage->batch; k++) {
        for (uint32_t i = 0; i < stage->input_count; i++) {
            uint64_t mark =
                find_input_mark(l, s, core_input(s->core, stage, i), stage->firings + k);
            if (mark > *last) *last = mark;
        }
        mark_outputs(l, s, stage, k, *last);
    }
}

void prt_lateness_ended(struct prt_lateness *l, const struct prt_sched *s,
                        const struct core_stage *stage)
{
    uint64_t mark = find_end_mark(l, s, stage);
    for (uint32_t i = 0; i < stage->output_count; i++)
        find_marked(l, s, prt_output_buffer(s, core_output(s->core, stage, i)))->end_mark = mark;
}

/* ---- figures ---- */

void prt_lateness_delivered(struct prt_lateness *l, const struct prt_sched *s,
                            const struct prt_buffer *buffer, uint64_t packets)
{
    struct marked_buffer *b = find_marked(l, s, buffer);
    uint64_t now = s->ops->now_cycles(s->device), first = buffer->fifo->written_packets - packets;
    for (uint64_t i = 0; i < packets; i++) {
        uint64_t mark = b->marks[(first + i) % b->depth];
        if (mark == 0) continue;
        uint64_t cycles = now - (mark - 1);
        b->late.packets++;
        b->late.cycles = core_cycles_add(b->late.cycles, cycles);
        if (cycles < b->late.least_cycles) b->late.least_cycles = cycles;
        if (cycles > b->late.most_cycles) b->late.most_cycles = cycles;
    }
}

struct prt_late_packets prt_lateness_of(const struct prt_lateness *l, uint32_t buffer)
{
    struct prt_late_packets late = {.packets = 0};
    if (l != NULL && l->buffers[buffer].late.packets > 0) late = l->buffers[buffer].late;
    return late;
}
