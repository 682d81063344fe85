/* SPDX-License-Identifier: MIT */
#include "core/static_part.h"

#include "core/ends.h"
#include "core/launch.h"
#include "core/packets.h"
#include "core/ready.h"

/* ---- guards ---- */

/* Packets of the input that no firing in flight consumes. */
static uint64_t unclaimed_packets(const struct core *c, const struct core_stage *stage,
                                  const struct core_input *input)
{
    uint64_t held = core_ready_held(c, input);
    if (!stage->in_flight || input->in_order) return held;
    return held - core_ready_frees(c, input, stage->firings - stage->batch, stage->batch);
}

/* Has the in-port room for the packets that are missing?  Without room, launches in flight must free some first. */
static bool can_be_filled(const struct core *c, const struct core_stage *stage,
                          const struct core_input *input, uint32_t packets)
{
    uint64_t held = unclaimed_packets(c, stage, input);
    return core_ready_is_filled(c, input) &&
           core_fifo_room(&core_read_buffer(c, input)->fifo) >= packets - held;
}

enum core_outcome core_has_packets(struct core *c, uint32_t index, uint32_t end, uint32_t packets)
{
    enum { BEGINS, PORTS_TAKEN, PORT_FILLED };
    const struct core_stage *stage = core_stage(c, index);
    const struct core_input *input = core_input(c, stage, end);
    uint32_t *step = &c->progress.step;
    if (core_is_stepped(c) || stage->life != CORE_RUNNING) return CORE_JUMP;
    if (unclaimed_packets(c, stage, input) >= packets) return CORE_NEXT;
    if (*step < PORTS_TAKEN && c->live) {
        *step = PORTS_TAKEN;
        return CORE_TAKE;
    }
    if (*step < PORT_FILLED && can_be_filled(c, stage, input, packets)) {
        *step = PORT_FILLED;
        c->request_buffer = input->buffer;
        return CORE_FILL;
    }
    return CORE_JUMP;
}

enum core_outcome core_has_room(struct core *c, uint32_t index, uint32_t output, uint32_t packets)
{
    const struct core_stage *stage = core_stage(c, index);
    const struct core_buffer *buffer = core_written_buffer(c, core_output(c, stage, output));
    bool holds =
        !core_is_stepped(c) && stage->life == CORE_RUNNING && core_ready_room(buffer) >= packets;
    return holds ? CORE_NEXT : CORE_JUMP;
}

enum core_outcome core_goes_on(struct core *c, uint32_t index, uint32_t firings)
{
    struct core_stage *stage = core_stage(c, index);
    if (core_is_stepped(c) || stage->life != CORE_RUNNING) return CORE_JUMP;
    if (core_stops_by_interrupt(c, stage) || core_is_unwanted(c, stage)) return CORE_JUMP;
    bool holds = !stage->stopped && core_ready_source_left(stage) >= firings;
    return holds ? CORE_NEXT : CORE_JUMP;
}

/* ---- run ---- */

/* Do the ends of the stage admit the firings that it is measured for?  A running stage has detached from no input. */
static bool ends_admit(const struct core *c, const struct core_stage *stage)
{
    const struct core_input *input = core_input(c, stage, 0), *inputs = input + stage->input_count;
    const struct core_output *output = core_output(c, stage, 0),
                             *outputs = output + stage->output_count;
    for (; input < inputs; input++) {
        const struct core_reader *reader = core_input_reader(c, input);
        assert(reader->attached && input->window.width == 0); /* the verifier: no 2-D window */
        uint64_t held = core_read_buffer(c, input)->fifo.written_packets - reader->position_packets;
        if (held < input->sees) return false;
    }
    for (; output < outputs; output++)
        if (core_fifo_room(&core_written_buffer(c, output)->fifo) < output->appends) return false;
    return true;
}

/* Can the stage still fire so many times in one batch?  Nothing is decided before all is read: a GPU reads together. */
static bool may_run(const struct core_stage *stage, uint64_t firings)
{
    unsigned never = stage->life != CORE_RUNNING;
    never |= stage->stopped;
    never |= firings - 1 >= stage->batch_max;
    never |= core_ready_source_left(stage) < firings;
    return never == 0;
}

static enum core_outcome refuse_run(struct core *c, uint32_t index, uint64_t firings)
{
    (void)core_fail(c, CORE_BAD_RUN, index, firings);
    return CORE_NEXT;
}

/* Dispatches the firings one by one; the machine waits for each. */
static enum core_outcome step_run(struct core *c, uint32_t index, uint32_t firings)
{
    struct core_progress *p = &c->progress;
    struct core_stage *stage = core_stage(c, index);
    if (p->step == 0) p->left = firings;
    p->step = 1;
    if (p->left == 0) return CORE_NEXT;
    core_measure(c, stage, stage->firings, 1);
    if (!may_run(stage, 1) || !ends_admit(c, stage)) return refuse_run(c, index, p->left);
    p->left--;
    c->selected = index;
    return core_dispatch(c) ? CORE_REDO : CORE_NEXT;
}

enum core_outcome core_run(struct core *c, uint32_t index, uint32_t firings)
{
    struct core_stage *stage = core_stage(c, index);
    if (core_is_stepped(c)) return step_run(c, index, firings);
    if (!may_run(stage, firings)) return refuse_run(c, index, firings);
    if (!stage->in_flight) {
        if (stage->measured != firings) core_measure(c, stage, stage->firings, firings);
        if (ends_admit(c, stage)) {
            (void)core_launch(c, index, firings);
            return CORE_NEXT;
        }
    }
    if (c->in_flight == 0) return refuse_run(c, index, firings);
    return core_await(c) && !core_attends(c, CORE_HAS_FAULTED) ? CORE_REDO : CORE_NEXT;
}

enum core_outcome core_fence(struct core *c)
{
    if (!core_packets_flush(c)) return CORE_NEXT;
    return c->in_flight > 0 && core_reap(c, false) ? CORE_REDO : CORE_NEXT;
}
