/* SPDX-License-Identifier: MIT */
#include "core/launch.h"

#include "core/ends.h"
#include "core/faults.h"
#include "core/packets.h"
#include "core/ready.h"

/* ---- positions ---- */

static inline void writer_changed(struct core *c, uint32_t writer)
{
    core_stage_changed(c, writer);
    if (core_stage(c, writer)->life == CORE_FINISH_WAITING) core_mark(&c->ends_due, writer);
}

/* Only the slowest reader makes room.  Room in an in-port can be filled, so it may make the other readers ready. */
void core_free_packets(struct core *c, const struct core_input *input, uint64_t packets,
                       bool detach)
{
    struct core_buffer *buffer = core_read_buffer(c, input);
    uint64_t oldest = buffer->fifo.oldest_packets;
    core_fifo_release(&buffer->fifo, input->reader, packets);
    if (detach) core_fifo_detach(&buffer->fifo, input->reader);
    if (buffer->fifo.oldest_packets == oldest) return;
    if (buffer->writer != CORE_NONE) writer_changed(c, buffer->writer);
    if (buffer->port == CORE_IN_PORT) core_readers_changed(c, buffer);
}

/* The host drains out-ports in the order in which packets have been committed to them. */
void core_commit_output(struct core *c, const struct core_output *output, uint64_t packets)
{
    struct core_buffer *buffer = core_written_buffer(c, output);
    core_fifo_commit(&buffer->fifo, packets);
    if (buffer->port == CORE_OUT_PORT)
        core_to_drain(c, buffer);
    else
        core_readers_changed(c, buffer);
}

/* ---- launches ---- */

void core_pass_time(struct core *c)
{
    const struct core_environment *e = c->environment;
    uint64_t cycles = c->instruction_cycles - c->passed_cycles;
    if (cycles == 0) return;
    CORE_ENTRY(e, advance)(e->context, cycles);
    c->passed_cycles = c->instruction_cycles;
}

/* Moves the positions of buffers in order (core.h, "Order").  All of these are inner ones. */
static void move_in_order(struct core *c, const struct core_stage *stage)
{
    const struct core_input *input = core_input(c, stage, 0), *inputs = input + stage->input_count;
    const struct core_output *output = core_output(c, stage, 0),
                             *outputs = output + stage->output_count;
    for (; input < inputs; input++) {
        if (!input->in_order) continue;
        struct core_buffer *buffer = core_read_buffer(c, input);
        uint64_t oldest = buffer->fifo.oldest_packets;
        core_fifo_free(&buffer->fifo, core_input_reader(c, input), input->frees);
        if (buffer->fifo.oldest_packets != oldest) writer_changed(c, buffer->writer);
    }
    for (; output < outputs; output++) {
        if (!output->in_order) continue;
        struct core_fifo *fifo = &core_written_buffer(c, output)->fifo;
        const struct core_reader *reader = core_fifo_reader(fifo, 0);
        const struct core_reader *readers = reader + fifo->reader_count;
        core_fifo_commit(fifo, output->appends);
        for (; reader < readers; reader++)
            core_stage_changed(c, reader->stage);
    }
}

static bool complete_launch(struct core *c, const struct core_completion *completion);

/* Without a packet.  True: the device has executed the launch already. */
static bool launch_bare(struct core *c, uint32_t index, bool finish)
{
    const struct core_environment *e = c->environment;
    if (core_is_observed(c)) core_pass_time(c);
    return CORE_ENTRY(e, launch)(e->context, index, finish);
}

void core_measure(struct core *c, struct core_stage *stage, uint64_t first, uint64_t firings)
{
    const uint64_t *numbers = core_numbers(c);
    for (uint32_t i = 0; i < stage->input_count; i++) {
        struct core_input *input = core_input(c, stage, i);
        input->frees = core_ready_frees(c, input, first, firings);
        input->sees = core_take_sees(numbers, &input->take, first, firings);
    }
    for (uint32_t i = 0; i < stage->output_count; i++) {
        struct core_output *output = core_output(c, stage, i);
        output->appends = core_flow_total(numbers, &output->most, first, firings);
    }
    stage->measured = stage->phases == 1 && stage->frame_packets == 0 ? firings : 0;
}

/* The maximum that the batch appends.  A device that executes a kernel writes how many it has appended. */
static void claim_outputs(struct core *c, const struct core_stage *stage)
{
    const struct core_output *output = core_output(c, stage, 0),
                             *end = output + stage->output_count;
    uint64_t *produced = core_produced(c) + stage->first_output;
    for (; output < end; output++) {
        core_fifo_claim(&core_written_buffer(c, output)->fifo, output->appends);
        *produced++ = output->appends;
    }
}

bool core_launch(struct core *c, uint32_t index, uint64_t firings)
{
    struct core_stage *stage = core_stage(c, index);
    assert(!stage->in_flight && stage->life == CORE_RUNNING && firings > 0);
    stage->batch = stage->completed = firings;
    if (core_is_observed(c)) (void)core_send(c, CORE_EVENT_DISPATCHED, index, false);
    claim_outputs(c, stage);
    stage->in_flight = true;
    bool completed = false;
    if (core_is_direct(c))
        completed = launch_bare(c, index, false);
    else if (!core_packets_launch(c, index, false))
        return false;
    if (stage->depends) move_in_order(c, stage);
    stage->firings += firings;
    stage->dispatches++;
    c->in_flight++;
    c->waiver = false;
    if (!core_is_direct(c) && c->open_count > 0 && !core_packets_end_pack(c, index)) return false;
    return !completed || complete_launch(c, core_completions(c));
}

bool core_dispatch(struct core *c)
{
    uint32_t index = c->selected;
    assert(index != CORE_NONE);
    if (core_is_stepped(c)) {
        c->selected_firings = 1;
        if (!core_send(c, CORE_EVENT_STEP, index, false)) return false;
        c->step_stage = index;
        c->attention |= CORE_STEPPING;
        c->step_finish = false;
    }
    c->selected = CORE_NONE;
    struct core_stage *stage = core_stage(c, index);
    if (stage->measured != c->selected_firings)
        core_measure(c, stage, stage->firings, c->selected_firings);
    return core_launch(c, index, c->selected_firings);
}

bool core_launch_finish(struct core *c, uint32_t index)
{
    struct core_stage *stage = core_stage(c, index);
    if (core_is_stepped(c)) {
        if (!core_send(c, CORE_EVENT_STEP, index, true)) return false;
        c->step_stage = index;
        c->attention |= CORE_STEPPING;
        c->step_finish = true;
    }
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(c, stage, i);
        core_fifo_claim(&core_written_buffer(c, output)->fifo, output->finish_max);
        core_produced(c)[stage->first_output + i] = 0;
    }
    stage->life = CORE_FINISHING;
    stage->completed = 0;
    if (core_is_observed(c)) (void)core_send(c, CORE_EVENT_DISPATCHED, index, true);
    stage->in_flight = true;
    if (core_is_direct(c))
        (void)launch_bare(c, index, true);
    else if (!core_packets_launch(c, index, true))
        return false;
    stage->dispatches++;
    c->in_flight++;
    return true;
}

/* ---- completions ---- */

static bool refuse_counts(struct core *c, const struct core_stage *stage)
{
    return core_fail(c, CORE_BAD_COUNTS, core_stage_number(c, stage), 0);
}

/* The first fault ends a run under a debugger, which stops there, and a replay, which has one schedule. */
static bool end_by_fault(struct core *c, const struct core_stage *stage,
                         const struct core_completion *completion)
{
    assert(!c->fault.there); /* only this firing was in flight */
    c->fault = (struct core_fault){.there = true,
                                   .node = stage->node,
                                   .status = completion->kernel_status,
                                   .finish = stage->life == CORE_FINISHING,
                                   .firing = completion->fault.firing,
                                   .fault = completion->fault};
    return core_fail(c, CORE_FAULT, core_stage_number(c, stage), 0);
}

/* Takes back the firings of the batch from the one that stopped on.  False: the device reports an impossible count. */
static bool drop_uncounted_firings(struct core *c, struct core_stage *stage,
                                   enum kernel_status kernel_status)
{
    if (kernel_status != KERNEL_STOPPED) return stage->exact || stage->completed == stage->batch;
    if (stage->completed >= stage->batch) return false;
    stage->firings -= stage->batch - stage->completed;
    stage->batch = stage->completed;
    stage->stopped = true;
    core_measure(c, stage, stage->firings - stage->batch, stage->batch);
    return true;
}

/* The packets that the batch has appended to an output.  False: the kernel reports an impossible number. */
static bool count_produced(const struct core *c, const struct core_stage *stage, uint32_t index,
                           uint64_t *packets)
{
    const struct core_output *output = core_output(c, stage, index);
    const uint64_t *numbers = core_numbers(c), *produced = core_produced(c);
    uint64_t first = stage->firings - stage->batch, most = output->appends;
    *packets = most;
    if (stage->exact) return true;
    *packets = produced[stage->first_output + index];
    if (output->share > 0 && (unsigned __int128)*packets * output->other_share !=
                                 (unsigned __int128)produced[output->in_step_with] * output->share)
        return false;
    return *packets <= most &&
           *packets >= core_flow_total(numbers, &output->least, first, stage->batch);
}

/* Moves the positions of the buffers that are not in order.  False: the kernel reports an impossible number. */
static bool move_at_completion(struct core *c, const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(c, stage, i);
        if (!input->in_order) core_free_packets(c, input, input->frees, false);
    }
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(c, stage, i);
        uint64_t packets;
        if (output->in_order) continue;
        if (!count_produced(c, stage, i, &packets)) return false;
        core_commit_output(c, output, packets);
    }
    return true;
}

static bool complete_batch(struct core *c, struct core_stage *stage,
                           enum kernel_status kernel_status)
{
    if (!drop_uncounted_firings(c, stage, kernel_status)) return refuse_counts(c, stage);
    if (stage->input_closed) core_stage_may_end(c, stage);
    if (!stage->in_order && !move_at_completion(c, stage)) return refuse_counts(c, stage);
    if (stage->stopped || core_ready_source_left(stage) == 0 || core_is_unwanted(c, stage))
        core_stage_may_end(c, stage);
    return true;
}

static bool complete_finish(struct core *c, struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(c, stage, i);
        uint64_t produced = core_produced(c)[stage->first_output + i];
        if (produced > output->finish_max) return refuse_counts(c, stage);
        core_commit_output(c, output, produced);
    }
    core_end_finished(c, stage);
    return true;
}

static bool stage_may_stop(const struct core_stage *stage)
{
    return stage->life == CORE_RUNNING && (stage->flags & CONTAINER_NODE_STOPS) != 0;
}

/* Does a completion change no more than that the stage is idle? */
static bool ends_with_that(const struct core *c, const struct core_stage *stage,
                           const struct core_completion *completion)
{
    unsigned more = core_is_observed(c);
    more |= completion->skipped;
    more |= completion->kernel_status != KERNEL_OK;
    more |= stage->life != CORE_RUNNING;
    more |= !stage->in_order;
    more |= !stage->fed; /* it may have fired for the last time */
    more |= stage->stopped;
    more |= stage->input_closed;
    return more == 0;
}

__attribute__((noinline)) static bool complete_rest(struct core *c, struct core_stage *stage,
                                                    const struct core_completion *completion)
{
    uint32_t index = core_stage_number(c, stage);
    enum kernel_status status = completion->kernel_status;
    if (core_is_observed(c))
        (void)core_send(c, CORE_EVENT_COMPLETED, index, completion->object != index);
    if (completion->skipped) {
        core_faults_skip(c, stage);
        return true;
    }
    if (status != KERNEL_OK && !(status == KERNEL_STOPPED && stage_may_stop(stage)))
        return c->ends_at_once ? end_by_fault(c, stage, completion)
                               : core_faults_note(c, stage, completion);
    if (stage->life == CORE_FINISHING) return complete_finish(c, stage);
    return complete_batch(c, stage, status);
}

static bool complete_launch(struct core *c, const struct core_completion *completion)
{
    uint32_t stages = c->stage_count, object = completion->object;
    uint32_t index = object < stages ? object : object - stages;
    struct core_stage *stage = core_stage(c, index);
    if (!core_is_direct(c)) core_open_packets(c)[stage->queue].in_flight--;
    stage->in_flight = false;
    c->in_flight--;
    core_stage_changed(c, index);
    stage->execute_cycles += completion->execute_cycles;
    stage->launch_cycles += completion->launch_cycles;
    stage->switch_cycles += completion->switch_cycles;
    return ends_with_that(c, stage, completion) || complete_rest(c, stage, completion);
}

bool core_reap(struct core *c, bool until_arrival)
{
    const struct core_environment *e = c->environment;
    uint32_t count;
    bool good = true;
    core_pass_time(c);
    if (!CORE_ENTRY(e, wait)(e->context, until_arrival, &count))
        return core_fail(c, CORE_BAD_DEVICE, CORE_NONE, 0);
    for (uint32_t i = 0; i < count; i++)
        good &= complete_launch(c, core_completions(c) + i);
    return good;
}

bool core_await(struct core *c)
{
    return core_packets_flush_idle(c) && core_reap(c, false);
}

bool core_settle(struct core *c)
{
    (void)core_packets_flush(c);
    while (c->in_flight > 0 && !core_attends(c, CORE_UNDRAINED)) {
        uint32_t before = c->in_flight;
        (void)core_reap(c, false);
        if (c->in_flight == before) return true; /* the device has failed */
    }
    return !core_attends(c, CORE_UNDRAINED);
}
