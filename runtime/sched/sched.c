/* SPDX-License-Identifier: MIT */
#include "runtime/sched/sched.h"

#include "runtime/device/queue.h"
#include "runtime/sched/self_driven.h"
#include "runtime/sched/stage_profile.h"
#include "runtime/sched/explain.h"
#include "runtime/sched/faults.h"
#include "runtime/sched/inport.h"
#include "runtime/sched/live_port.h"
#include "runtime/sched/provenance.h"
#include "runtime/sched/leftovers.h"
#include "runtime/sched/packets.h"
#include "runtime/sched/port_thread.h"
#include "runtime/sched/ready.h"
#include "runtime/sched/select.h"
#include "runtime/sched/run_state.h"

#include <assert.h>
#include <string.h>

void prt_sched_limit_firings(struct prt_sched *s, uint64_t firings)
{
    s->firings_limit = firings;
    prt_stage_mark_all(&s->ends_due);
}

void prt_sched_interrupt(struct prt_sched *s)
{
    atomic_store_explicit(&s->interrupted, true, memory_order_relaxed);
}

/* ---- stages that a change may make ready ---- */

static void writer_changed(struct prt_sched *s, const struct prt_buffer *buffer)
{
    uint32_t node = buffer->record->writer_node;
    if (node == CONTAINER_NONE) return;
    uint32_t writer = s->node_stage[node];
    prt_stage_changed(s, writer);
    if (s->stages[writer].life == PRT_STAGE_FINISH_WAITING) prt_stage_mark(&s->ends_due, writer);
}

/* Frees the oldest packets of a reader; `detach`: all of them, for ever.  Only the slowest reader makes room.  Room in an
 * in-port can be filled, so it may make the other readers ready. */
static void free_packets(struct prt_sched *s, const struct prt_stage_input *input, uint64_t packets,
                         bool detach)
{
    struct prt_fifo *fifo = &input->buffer->fifo;
    uint64_t oldest = fifo->oldest_packets;
    prt_fifo_release(fifo, input->reader, packets);
    if (detach) prt_fifo_detach(fifo, input->reader);
    if (fifo->oldest_packets == oldest) return;
    writer_changed(s, input->buffer);
    if (input->buffer->record->outer == CONTAINER_OUTER_IN)
        prt_select_readers_changed(s, input->buffer);
}

/* ---- the host's side ---- */

static enum prt_status call_sink(struct prt_sched *s, const struct prt_buffer *buffer,
                                 size_t packets, struct prt_error *error)
{
    const struct prt_port *port = buffer->port;
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_WRITE, buffer);
    enum prt_status status =
        port->sink(port->context, prt_fifo_window(&buffer->fifo, 0), packets, error);
    (void)prt_run_state_set(s, before, NULL);
    return status;
}

/* Gives the host everything that an out-port holds. */
static enum prt_status drain_port(struct prt_sched *s, struct prt_buffer *buffer,
                                  struct prt_error *error)
{
    struct prt_port *port = buffer->port;
    uint64_t held = prt_fifo_held(&buffer->fifo, 0);
    enum prt_status status = PRT_OK;
    if (held > 0 && port->sink != NULL && !port->gone) {
        status = port->thread != NULL ? prt_port_thread_pass(buffer, error)
                                      : call_sink(s, buffer, (size_t)held, error);
    }
    if (status == PRT_E_CLOSED_PIPE) {
        port->gone = true;
        s->open_sinks--;
        s->sinks_gone = s->open_sinks == 0;
        prt_self_driven_leave(s, buffer, NULL);
        status = PRT_OK;
    }
    if (status != PRT_OK) port->gone = true; /* after an error it gets no more packets */
    if (!port->gone) port->packets += held;
    if (s->profile != NULL) prt_profile_delivered(s, buffer, held);
    prt_fifo_release(&buffer->fifo, 0, held);
    return status;
}

/* ---- completions ---- */

/* The first fault ends a run under a debugger, which stops there, and a replay, which has one schedule. */
static enum prt_status end_by_fault(struct prt_sched *s, const struct prt_stage *stage,
                                    const struct prt_completion *completion)
{
    uint32_t node = (uint32_t)(stage->node - s->container->nodes);
    assert(!s->fault.there); /* only this firing was in flight */
    s->fault = (struct prt_sched_fault){.there = true,
                                        .node = node,
                                        .status = completion->kernel_status,
                                        .finish = stage->life == PRT_STAGE_FINISHING,
                                        .firing = completion->fault.firing,
                                        .fault = completion->fault};
    return PRT_E_FAULT;
}

static enum prt_status commit_output(struct prt_sched *s, const struct prt_stage_output *output,
                                     uint64_t packets, struct prt_error *error)
{
    prt_fifo_commit(&output->buffer->fifo, packets);
    if (output->buffer->port != NULL) return drain_port(s, output->buffer, error);
    prt_select_readers_changed(s, output->buffer);
    return PRT_OK;
}

static enum prt_status refuse_counts(const struct prt_sched *s, const struct prt_stage *stage,
                                     struct prt_error *error)
{
    return prt_error_set(error, PRT_E_FAULT,
                         "kernel '%s' reports more or fewer packets or firings than it may make",
                         prt_container_text(s->container, stage->node->name));
}

/* Takes back the firings of the batch from the one that stopped on.  False: the device reports an impossible count. */
static bool drop_uncounted_firings(struct prt_stage *stage, enum kernel_status kernel_status)
{
    if (kernel_status != KERNEL_STOPPED) return stage->exact || stage->completed == stage->batch;
    if (stage->completed >= stage->batch) return false;
    stage->firings -= stage->batch - stage->completed;
    stage->batch = stage->completed;
    stage->stopped = true;
    return true;
}

/* The packets that the batch has appended to an output.  False: the kernel reports an impossible number. */
static bool count_produced(const struct prt_sched *s, const struct prt_stage *stage, uint32_t index,
                           uint64_t *packets)
{
    const struct prt_stage_output *output = &stage->outputs[index];
    uint64_t first = stage->firings - stage->batch;
    *packets = prt_flow_total(&output->most, first, stage->batch);
    if (stage->exact) return true;
    uint64_t most = *packets;
    *packets = s->produced[stage->node->first_output + index];
    if (output->share > 0 &&
        (unsigned __int128)*packets * output->other_share !=
            (unsigned __int128)s->produced[output->in_step_with] * output->share)
        return false;
    return *packets <= most && *packets >= prt_flow_total(&output->least, first, stage->batch);
}

static void release_inputs(struct prt_sched *s, const struct prt_stage *stage)
{
    uint64_t first = stage->firings - stage->batch;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        if (input->buffer->fifo.closed) prt_stage_may_end(s, stage);
        if (!input->in_order)
            free_packets(s, input, prt_ready_frees(input, first, stage->batch), false);
    }
}

static enum prt_status complete_batch(struct prt_sched *s, struct prt_stage *stage,
                                      enum kernel_status kernel_status, struct prt_error *error)
{
    if (!drop_uncounted_firings(stage, kernel_status)) return refuse_counts(s, stage, error);
    enum prt_status status = PRT_OK;
    release_inputs(s, stage);
    for (uint32_t i = 0; i < stage->node->output_count && status == PRT_OK; i++) {
        uint64_t packets;
        if (stage->outputs[i].in_order) continue;
        if (!count_produced(s, stage, i, &packets)) return refuse_counts(s, stage, error);
        status = commit_output(s, &stage->outputs[i], packets, error);
    }
    if (stage->stopped || prt_select_source_left(s, stage) == 0 ||
        prt_self_driven_is_unwanted(s, stage))
        prt_stage_may_end(s, stage);
    return status;
}

static void end_stage(struct prt_sched *s, struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->output_count; i++)
        prt_select_close(s, stage->outputs[i].buffer);
    stage->life = PRT_STAGE_ENDED;
    prt_stage_changed(s, prt_stage_number(s, stage));
    if (s->profile != NULL) prt_profile_ended(s, stage);
    s->end_propagated = true;
}

/* History is released; packets past it are discarded. */
static void detach_inputs(struct prt_sched *s, struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        if (!input->buffer->fifo.readers[input->reader].attached) continue;
        free_packets(s, input, prt_ready_history(stage, input), true);
        prt_self_driven_leave(s, input->buffer, stage);
    }
}

static enum prt_status complete_finish(struct prt_sched *s, struct prt_stage *stage,
                                       struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < stage->node->output_count && status == PRT_OK; i++) {
        uint64_t produced = s->produced[stage->node->first_output + i];
        if (produced > stage->outputs[i].finish_max) return refuse_counts(s, stage, error);
        status = commit_output(s, &stage->outputs[i], produced, error);
    }
    if (status != PRT_OK) return status;
    if (stage->reads_tail) {
        const struct prt_stage_input *input = &stage->inputs[0];
        if (stage->completed > 0) prt_leftovers_note_seen(s, stage);
        /* packets that a finish could read do not count as discarded */
        free_packets(s, input, prt_fifo_held(&input->buffer->fifo, input->reader), false);
    }
    detach_inputs(s, stage);
    end_stage(s, stage);
    return PRT_OK;
}

enum prt_status prt_sched_deliver(struct prt_sched *s, struct prt_stage *stage, uint32_t output,
                                  uint64_t packets, struct prt_error *error)
{
    return commit_output(s, &stage->outputs[output], packets, error);
}

void prt_sched_detach(struct prt_sched *s, struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        if (!input->buffer->fifo.readers[input->reader].attached) continue;
        free_packets(s, input, 0, true);
        prt_self_driven_leave(s, input->buffer, stage);
    }
}

static enum prt_status complete_launch(struct prt_sched *s, const struct prt_completion *completion,
                                       struct prt_error *error)
{
    uint32_t stages = s->container->stage_count, object = completion->object;
    struct prt_stage *stage = &s->stages[object < stages ? object : object - stages];
    stage->in_flight = false;
    prt_packets_completed(s, stage->queue);
    prt_stage_changed(s, prt_stage_number(s, stage));
    if (s->profile != NULL) prt_profile_completed(s, stage);
    s->in_flight--;
    stage->execute_cycles += completion->execute_cycles;
    stage->launch_cycles += completion->launch_cycles;
    stage->switch_cycles += completion->switch_cycles;
    if (completion->skipped) {
        prt_faults_skip(s, stage);
        return PRT_OK;
    }
    bool may_stop =
        (stage->node->flags & CONTAINER_NODE_STOPS) != 0 && stage->life == PRT_STAGE_RUNNING;
    bool stopped = completion->kernel_status == KERNEL_STOPPED && may_stop;
    if (completion->kernel_status != KERNEL_OK && !stopped)
        return s->step != NULL || s->ends_at_once ? end_by_fault(s, stage, completion)
                                                  : prt_faults_note(s, stage, completion, error);
    if (stage->life == PRT_STAGE_FINISHING) return complete_finish(s, stage, error);
    return complete_batch(s, stage, completion->kernel_status, error);
}

void prt_sched_pass_time(struct prt_sched *s)
{
    uint64_t cycles = s->instruction_cycles - s->passed_cycles;
    if (cycles == 0) return;
    if (s->profile != NULL) prt_profile_look(s, cycles);
    s->ops->advance(s->device, cycles);
    s->passed_cycles = s->instruction_cycles;
}

/* Waits for the earliest completions, in simulated time until that cycle at most, and delivers them. */
static enum prt_status reap_until(struct prt_sched *s, uint64_t until_cycles,
                                  struct prt_error *error)
{
    uint32_t count, capacity = s->container->stage_count;
    prt_sched_pass_time(s);
    if (s->profile != NULL) prt_profile_look(s, 0);
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_DEVICE, NULL);
    enum prt_status status =
        until_cycles == UINT64_MAX
            ? s->ops->wait(s->device, s->completions, capacity, &count)
            : s->ops->wait_until(s->device, until_cycles, s->completions, capacity, &count);
    (void)prt_run_state_set(s, before, NULL);
    if (status != PRT_OK) return prt_error_set(error, status, "%s", prt_status_text(status));
    struct prt_error later;
    for (uint32_t i = 0; i < count; i++) {
        enum prt_status one =
            complete_launch(s, &s->completions[i], status == PRT_OK ? error : &later);
        if (status == PRT_OK) status = one;
    }
    return status;
}

enum prt_status prt_sched_reap(struct prt_sched *s, struct prt_error *error)
{
    return reap_until(s, UINT64_MAX, error);
}

enum prt_status prt_sched_settle(struct prt_sched *s, struct prt_error *error)
{
    struct prt_error later;
    enum prt_status status = prt_packets_flush(s, error);
    while (s->in_flight > 0) {
        uint32_t before = s->in_flight;
        enum prt_status one = prt_sched_reap(s, status == PRT_OK ? error : &later);
        if (status == PRT_OK) status = one;
        if (s->in_flight == before) break; /* the device has failed */
    }
    return status;
}

enum prt_status prt_sched_await(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = prt_packets_flush_idle(s, error);
    return status == PRT_OK ? prt_sched_reap(s, error) : status;
}

/* Can no stage do anything any more, even with its threshold waived? */
static bool is_stuck(const struct prt_sched *s)
{
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        if (prt_select_wants(s, &s->stages[i])) return false;
    }
    return true;
}

/* Thresholds are waived only for selections: guards have none. */
enum prt_status prt_sched_wait(struct prt_sched *s, bool *jump, struct prt_error *error)
{
    bool found_none = s->found_none;
    *jump = true;
    s->found_none = false;
    if (s->in_flight > 0) {
        s->end_propagated = false;
        enum prt_status status = prt_packets_flush_idle(s, error);
        return status == PRT_OK ? reap_until(s, prt_live_next_arrival(s), error) : status;
    }
    bool stuck = found_none && s->waiver && is_stuck(s);
    if (stuck && !s->interrupt_seen) {
        enum prt_status status = prt_inport_end(s, error);
        if (status != PRT_OK) return status;
    }
    if (s->end_propagated) {
        s->end_propagated = false;
        s->waiver = false;
        return PRT_OK;
    }
    if (stuck) {
        enum prt_status status = prt_live_wait(s, jump, error);
        if (status != PRT_OK || *jump) return status;
    }
    *jump = found_none && !s->waiver;
    if (*jump) {
        s->waiver = true;
        for (uint32_t i = 0; i < s->container->stage_count; i++)
            prt_stage_changed(s, i);
    }
    return PRT_OK;
}

/* ---- dispatch ---- */

static void open_windows(struct prt_sched *s, const struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        uint32_t index = stage->node->first_input + i;
        s->windows_in[index] = prt_fifo_window(&input->buffer->fifo, input->reader);
        if (stage->frame_packets > 0) s->window_places[index] = prt_ready_window(stage, input);
    }
}

/* Claims room for so many packets in output `index` of the stage. */
static void claim_output(struct prt_sched *s, const struct prt_stage *stage, uint32_t index,
                         uint64_t packets)
{
    const struct prt_buffer *buffer = stage->outputs[index].buffer;
    struct prt_fifo *fifo = &stage->outputs[index].buffer->fifo;
    uint32_t at = stage->node->first_output + index;
    if (buffer->port != NULL && buffer->port->thread != NULL)
        prt_port_thread_reserve(s, buffer, packets);
    s->windows_out[at] = prt_fifo_claim(fifo, packets);
    s->claimed_bytes[at] = packets * fifo->width_bytes;
    s->produced[at] = packets;
}

/* Bytes that firings of a stage whose rates have phases consume. */
static uint64_t read_by_phase(const struct prt_stage *stage, uint64_t firings)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        uint64_t packets = prt_flow_total(&input->take.pop, stage->firings, firings);
        bytes =
            core_cycles_add(bytes, core_cycles_multiply(packets, input->buffer->fifo.width_bytes));
    }
    return bytes;
}

/* Moves the positions of buffers in order (sched.h, "Order"). */
static void move_in_order(struct prt_sched *s, const struct prt_stage *stage, uint64_t firings)
{
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        if (!input->in_order) continue;
        free_packets(s, input, prt_ready_frees(input, stage->firings, firings), false);
    }
    for (uint32_t i = 0; i < stage->node->output_count; i++) {
        const struct prt_stage_output *output = &stage->outputs[i];
        if (!output->in_order) continue;
        prt_fifo_commit(&output->buffer->fifo, output->buffer->fifo.claimed_packets);
        prt_select_readers_changed(s, output->buffer);
    }
}

enum prt_status prt_sched_launch(struct prt_sched *s, uint32_t index, uint64_t firings,
                                 struct prt_error *error)
{
    struct prt_stage *stage = &s->stages[index];
    assert(!stage->in_flight && stage->life == PRT_STAGE_RUNNING && firings > 0);
    stage->batch = firings;
    if (s->profile != NULL) prt_profile_dispatched(s, stage);
    open_windows(s, stage);
    for (uint32_t i = 0; i < stage->node->output_count; i++)
        claim_output(s, stage, i, prt_flow_total(&stage->outputs[i].most, stage->firings, firings));
    stage->completed = firings;
    s->objects[index].read_bytes = stage->node->phases == 1
                                       ? core_cycles_multiply(firings, stage->read_bytes)
                                       : read_by_phase(stage, firings);
    stage->in_flight = true;
    bool ended;
    enum prt_status status = prt_packets_launch(s, index, false, firings, &ended, error);
    if (status != PRT_OK) return status;
    move_in_order(s, stage, firings);
    stage->firings += firings;
    stage->dispatches++;
    s->in_flight++;
    s->waiver = false;
    status = prt_packets_end_pack(s, index, error);
    return status == PRT_OK && ended ? complete_launch(s, &s->completions[0], error) : status;
}

static enum prt_status dispatch_selected(struct prt_sched *s, struct prt_error *error)
{
    uint32_t index = s->selected;
    assert(index != UINT32_MAX);
    s->selected = UINT32_MAX;
    return prt_sched_launch(s, index, s->selected_firings, error);
}

typedef enum prt_status (*step_callback)(void *context, uint32_t stage, bool finish,
                                         struct prt_error *error);

static enum prt_status call_step(struct prt_sched *s, step_callback told, uint32_t stage,
                                 bool finish, struct prt_error *error)
{
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_STEP, NULL);
    enum prt_status status = told(s->step->context, stage, finish, error);
    (void)prt_run_state_set(s, before, NULL);
    return status;
}

/* Waits for the launch that has been dispatched: nothing else is in flight. */
static enum prt_status finish_step(struct prt_sched *s, uint32_t stage, bool finish,
                                   struct prt_error *error)
{
    enum prt_status status = prt_sched_settle(s, error);
    if (s->origins != NULL) prt_origins_keep(s, &s->stages[stage]);
    return status == PRT_OK ? call_step(s, s->step->after, stage, finish, error) : status;
}

enum prt_status prt_sched_dispatch(struct prt_sched *s, struct prt_error *error)
{
    uint32_t stage = s->selected;
    if (s->step == NULL) return dispatch_selected(s, error);
    s->selected_firings = 1;
    enum prt_status status = call_step(s, s->step->before, stage, false, error);
    if (s->origins != NULL) prt_origins_open(s, &s->stages[stage]);
    if (status == PRT_OK) status = dispatch_selected(s, error);
    return status == PRT_OK ? finish_step(s, stage, false, error) : status;
}

/* ---- ends ---- */

static bool can_never_fire(const struct prt_sched *s, const struct prt_stage *stage)
{
    if (stage->stopped || prt_select_source_left(s, stage) == 0 ||
        prt_self_driven_is_unwanted(s, stage))
        return true;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        if (prt_ready_ends(stage, &stage->inputs[i])) return true;
    }
    return false;
}

/* A finish with one input reads the tail of that input, so the input stays attached, and the tail is not left over.
 * The finish of an unwanted or stopped stage reads none: its input may hold any number of packets. */
static void begin_end(struct prt_sched *s, struct prt_stage *stage)
{
    bool finishes = (stage->node->flags & CONTAINER_NODE_FINISH) != 0;
    stage->reads_tail = finishes && stage->node->input_count == 1 && !stage->stopped &&
                        !prt_self_driven_is_unwanted(s, stage);
    if (!stage->reads_tail) {
        if (!stage->stopped) prt_leftovers_note(s, stage);
        detach_inputs(s, stage);
    }
    if (finishes) {
        stage->life = PRT_STAGE_FINISH_WAITING;
        prt_stage_changed(s, prt_stage_number(s, stage));
        s->end_propagated = true;
    } else {
        end_stage(s, stage);
    }
}

/* Only the stage claims room of its outputs, and it fires no more: an output that had room once still has it. */
static bool has_finish_room(struct prt_stage *stage)
{
    for (; stage->roomy_outputs < stage->node->output_count; stage->roomy_outputs++) {
        const struct prt_stage_output *output = &stage->outputs[stage->roomy_outputs];
        if (prt_fifo_room(&output->buffer->fifo) < output->finish_max) return false;
    }
    return true;
}

static enum prt_status dispatch_finish(struct prt_sched *s, uint32_t index, struct prt_error *error)
{
    struct prt_stage *stage = &s->stages[index];
    const struct container_node *node = stage->node;
    struct prt_kernel_object *object = &s->objects[s->container->stage_count + index];
    object->read_bytes = 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        uint64_t left = stage->reads_tail ? prt_fifo_held(&input->buffer->fifo, input->reader) : 0;
        s->left[node->first_input + i] = left;
        object->read_bytes += left * input->buffer->fifo.width_bytes;
        s->windows_in[node->first_input + i] = prt_fifo_window(&input->buffer->fifo, input->reader);
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        claim_output(s, stage, i, stage->outputs[i].finish_max);
        s->produced[node->first_output + i] = 0;
    }
    stage->life = PRT_STAGE_FINISHING;
    stage->completed = 0;
    if (s->profile != NULL) prt_profile_dispatched(s, stage);
    stage->in_flight = true;
    enum prt_status status = prt_packets_launch(s, index, true, 1, NULL, error);
    if (status != PRT_OK) return status;
    stage->dispatches++;
    s->in_flight++;
    return PRT_OK;
}

static enum prt_status run_finish(struct prt_sched *s, uint32_t index, struct prt_error *error)
{
    if (s->step == NULL) return dispatch_finish(s, index, error);
    enum prt_status status = call_step(s, s->step->before, index, true, error);
    if (s->origins != NULL) prt_origins_open(s, &s->stages[index]);
    if (status == PRT_OK) status = dispatch_finish(s, index, error);
    return status == PRT_OK ? finish_step(s, index, true, error) : status;
}

static enum prt_status end_stage_if_due(struct prt_sched *s, uint32_t index,
                                        struct prt_error *error)
{
    struct prt_stage *stage = &s->stages[index];
    if (stage->in_flight || stage->life >= PRT_STAGE_ENDED) return PRT_OK;
    if (stage->life == PRT_STAGE_RUNNING && can_never_fire(s, stage)) begin_end(s, stage);
    if (stage->life == PRT_STAGE_FINISH_WAITING && has_finish_room(stage))
        return run_finish(s, index, error);
    return PRT_OK;
}

/* In the order of the stages, repeated until no stage is marked: an end may let another stage end. */
enum prt_status prt_sched_ends(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    while (status == PRT_OK && s->ends_due.marked > 0) {
        uint32_t i = prt_stage_marks_take(&s->ends_due, 0);
        for (; status == PRT_OK && i != PRT_STAGE_MARKS_NONE;
             i = prt_stage_marks_take(&s->ends_due, i + 1))
            status = end_stage_if_due(s, i, error);
    }
    return status;
}

/* ---- halt ---- */

static enum prt_status refuse_halt(const struct prt_sched *s, const struct prt_stage *stage,
                                   struct prt_error *error)
{
    return prt_error_set(error, PRT_E_VERIFY,
                         "container: the scheduler program halts although '%s' could go on",
                         prt_container_text(s->container, stage->node->name));
}

/* A stage that reads an open in-port does not wait for the end of a stream: it waits for other stages. */
static bool reads_open_port(const struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        if (prt_ready_is_open(&stage->inputs[i])) return true;
    }
    return false;
}

enum prt_status prt_sched_halt(struct prt_sched *s, struct prt_error *error)
{
    uint32_t blocked = UINT32_MAX;
    enum prt_status status = prt_sched_settle(s, error);
    if (status != PRT_OK) return status;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        struct prt_stage *stage = &s->stages[i];
        if (stage->life >= PRT_STAGE_ENDED) continue;
        bool finishing = stage->life == PRT_STAGE_FINISH_WAITING;
        bool room = finishing ? has_finish_room(stage) : prt_ready_outputs(stage) > 0;
        bool packets = finishing || prt_ready_inputs(stage) > 0;
        bool stopped = s->interrupt_seen && !stage->driven;
        if ((room && packets && !stopped) || (!finishing && can_never_fire(s, stage)))
            return refuse_halt(s, stage, error);
        if ((packets || reads_open_port(stage)) && blocked == UINT32_MAX) blocked = i;
        prt_leftovers_note(s, stage);
    }
    if (blocked != UINT32_MAX && !s->interrupt_seen) {
        s->stalled = blocked + 1;
        return prt_explain_stall(s, blocked, error);
    }
    prt_leftovers_count(s);
    return PRT_OK;
}

/* ---- start ---- */

static enum prt_status start_fault(struct prt_sched *s, uint32_t node, enum kernel_status status,
                                   const struct kernel_fault *fault, struct prt_error *error)
{
    s->fault =
        (struct prt_sched_fault){.there = true, .node = node, .status = status, .fault = *fault};
    return prt_explain_fault(s, error);
}

static enum prt_status run_inits(struct prt_sched *s, struct prt_error *error)
{
    const struct prt_container *c = s->container;
    for (uint32_t i = 0; i < c->node_count; i++) {
        if (!(c->nodes[i].flags & CONTAINER_NODE_INIT)) continue;
        const struct prt_kernel_object *object = &s->objects[s->node_stage[i]];
        struct kernel_fault fault = {.firing = UINT64_MAX};
        enum kernel_status status = prt_kernel_init(object, s->image->nodes[i].init, &fault);
        if (status != KERNEL_OK) return start_fault(s, i, status, &fault, error);
    }
    return PRT_OK;
}

static enum prt_status fill_initials(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < s->container->buffer_count && status == PRT_OK; i++) {
        struct prt_buffer *buffer = &s->buffers[i];
        const struct container_buffer *record = buffer->record;
        if (record->initial_packets == 0) continue;
        prt_fifo_fill(&buffer->fifo, s->container->initials + record->initial_offset_bytes,
                      record->initial_size_bytes, record->initial_packets);
        if (record->outer == CONTAINER_OUTER_OUT) status = drain_port(s, buffer, error);
    }
    return status;
}

/* The image may have been loaded after the run was created. */
static void link_entries(struct prt_sched *s)
{
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct prt_image_kernel *kernel = &s->image->nodes[s->container->stages[i].node];
        s->objects[i].entry = kernel->run;
        s->objects[s->container->stage_count + i].entry = kernel->finish;
    }
}

enum prt_status prt_sched_start(struct prt_sched *s, const void *pipeline_arguments,
                                struct prt_error *error)
{
    struct prt_device_info info;
    s->ops->info(s->device, &info);
    bool executes = info.executes;
    enum prt_status status = PRT_OK;
    assert(info.description->lanes <=
           UINT16_MAX); /* at most 1,024, by the reader or the description */
    s->lanes = (uint16_t)info.description->lanes;
    if (executes) link_entries(s);
    if (executes && s->image->arguments != NULL) {
        struct kernel_fault fault = {.firing = UINT64_MAX};
        enum kernel_status kernel_status =
            (enum kernel_status)s->image->arguments(pipeline_arguments, s->argument_blocks, &fault);
        if (kernel_status != KERNEL_OK)
            return start_fault(s, CONTAINER_NONE, kernel_status, &fault, error);
    }
    if (executes) status = run_inits(s, error);
    if (status == PRT_OK) status = prt_live_begin(s, error);
    if (status == PRT_OK) {
        prt_port_threads_start(s);
        status = fill_initials(s, error);
    }
    if (status == PRT_OK && s->step == NULL) prt_inport_begin(s);
    return status;
}
