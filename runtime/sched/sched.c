/* SPDX-License-Identifier: MIT */
#include "runtime/sched/sched.h"

#include "core/ends.h"
#include "core/machine.h"
#include "core/ready.h"
#include "runtime/device/kernel_call.h"
#include "runtime/sched/explain.h"
#include "runtime/sched/inport.h"
#include "runtime/sched/leftovers.h"
#include "runtime/sched/live_port.h"
#include "runtime/sched/port_thread.h"
#include "runtime/sched/program.h"
#include "runtime/sched/provenance.h"
#include "runtime/sched/run_state.h"
#include "runtime/sched/stage_profile.h"

#include <assert.h>
#include <stdlib.h>

void prt_sched_limit_firings(struct prt_sched *s, uint64_t firings)
{
    for (uint32_t i = 0; i < s->core->stage_count; i++)
        if (s->stages[i].input_count == 0) s->stages[i].firings_limit = firings;
    core_mark_all(&s->core->ends_due);
}

void prt_sched_interrupt(struct prt_sched *s)
{
    atomic_store_explicit(&s->core->interrupted, true, memory_order_relaxed);
}

/* ---- failures ---- */

/* Where the text of an error goes: the first failure of a run is the one that it reports. */
static struct prt_error *error_of(struct prt_sched *s, struct prt_error *later)
{
    return s->core->failure.kind == CORE_GOOD ? s->error : later;
}

/* Notes the status of the first failure.  Returns false. */
static bool note_status(struct prt_sched *s, enum prt_status status)
{
    if (s->core->failure.kind == CORE_GOOD) s->status = status;
    return false;
}

/* ---- the environment of the core: the device ---- */

static inline void open_stage_outputs(struct prt_sched *s, const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->output_count; i++) {
        uint32_t at = stage->first_output + i;
        struct prt_buffer *buffer = s->written[at];
        if (buffer->port != NULL && buffer->port->thread != NULL)
            prt_port_thread_reserve(s, buffer, buffer->fifo->claimed_packets);
        s->windows_out[at] = prt_ring_open(&buffer->ring, buffer->fifo);
        prt_stage_objects_claim(&s->work, buffer->fifo, at);
    }
}

static inline void open_stage_batch(struct prt_sched *s, const struct core_stage *stage,
                                    uint32_t index)
{
    for (uint32_t i = 0; i < stage->input_count; i++) {
        uint32_t at = stage->first_input + i;
        const struct prt_input_window *window = &s->read[at];
        s->windows_in[at] = window->ring->memory + window->reader->offset_bytes;
        if (stage->frame_packets > 0)
            s->window_places[at] = core_ready_window(s->core, stage, &s->inputs[at]);
    }
    open_stage_outputs(s, stage);
    prt_stage_objects_open(&s->work, s->core, stage, index);
}

static void open_finish(struct prt_sched *s, const struct core_stage *stage, uint32_t index)
{
    for (uint32_t i = 0; i < stage->input_count; i++) {
        uint32_t at = stage->first_input + i;
        const struct prt_input_window *window = &s->read[at];
        s->windows_in[at] = window->ring->memory + window->reader->offset_bytes;
        prt_stage_objects_open_tail(&s->work, s->core, stage, index, i);
    }
    open_stage_outputs(s, stage);
}

static void open_windows(void *context, uint32_t index, bool finish)
{
    struct prt_sched *s = context;
    if (finish)
        open_finish(s, &s->stages[index], index);
    else
        open_stage_batch(s, &s->stages[index], index);
}

static bool launch_on_device(void *context, uint32_t index, bool finish)
{
    struct prt_sched *s = context;
    const struct core_stage *stage = &s->stages[index];
    if (finish)
        open_finish(s, stage, index);
    else
        open_stage_batch(s, stage, index);
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_DEVICE, NULL); /* it may execute */
    bool completed = finish ? s->ops->launch(s->device, stage->queue, s->core->stage_count + index,
                                             stage->firings, 1, NULL)
                            : s->ops->launch(s->device, stage->queue, index, stage->firings,
                                             (uint32_t)stage->batch, core_completions(s->core));
    (void)prt_run_state_set(s, before, NULL);
    return completed;
}

static enum core_taken enqueue_device_packet(void *context, uint32_t queue,
                                             const union dispatch_packet *packet)
{
    struct prt_sched *s = context;
    struct prt_error later;
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_DEVICE, NULL); /* it may execute */
    enum prt_status status = s->ops->enqueue(s->device, queue, packet, error_of(s, &later));
    (void)prt_run_state_set(s, before, NULL);
    if (status == PRT_OK) return CORE_TAKEN;
    if (status == PRT_E_BUSY) return CORE_BUSY;
    (void)note_status(s, status);
    return CORE_REFUSED;
}

/* In simulated time a wait ends at arrivals. */
static bool wait_for_device(void *context, bool until_arrival, uint32_t *count)
{
    struct prt_sched *s = context;
    struct core_completion *completions = core_completions(s->core);
    uint32_t capacity = s->core->stage_count;
    uint64_t until_cycles = until_arrival ? prt_live_next_arrival(s) : UINT64_MAX;
    if (s->profile != NULL) prt_profile_look(s, 0);
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_DEVICE, NULL);
    enum prt_status status =
        until_cycles == UINT64_MAX
            ? s->ops->wait(s->device, completions, capacity, count)
            : s->ops->wait_until(s->device, until_cycles, completions, capacity, count);
    (void)prt_run_state_set(s, before, NULL);
    if (status == PRT_OK) return true;
    struct prt_error later;
    prt_error_set(error_of(s, &later), status, "%s", prt_status_text(status));
    return note_status(s, status);
}

static void advance_device_clock(void *context, uint64_t cycles)
{
    struct prt_sched *s = context;
    if (s->profile != NULL) prt_profile_look(s, cycles);
    s->ops->advance(s->device, cycles);
}

static void resume_device_queues(void *context)
{
    struct prt_sched *s = context;
    s->ops->resume(s->device); /* not NULL: kernels of the device fault */
}

/* ---- the environment of the core: events ---- */

typedef enum prt_status (*step_callback)(void *context, uint32_t stage, bool finish,
                                         struct prt_error *error);

static bool call_step(struct prt_sched *s, step_callback told, uint32_t stage, bool finish)
{
    struct prt_error later;
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_STEP, NULL);
    enum prt_status status = told(s->step->context, stage, finish, error_of(s, &later));
    (void)prt_run_state_set(s, before, NULL);
    return status == PRT_OK ? true : note_status(s, status);
}

static bool receive_run_event(void *context, enum core_event event, uint32_t index, bool finish)
{
    struct prt_sched *s = context;
    const struct core_stage *stage = &s->stages[index];
    bool goes_on = true;
    switch (event) {
    case CORE_EVENT_DISPATCHED: prt_profile_dispatched(s, stage); break;
    case CORE_EVENT_COMPLETED: prt_profile_completed(s, stage); break;
    case CORE_EVENT_ENDED: prt_profile_ended(s, stage); break;
    case CORE_EVENT_STEP:
        goes_on = call_step(s, s->step->before, index, finish);
        if (s->origins != NULL) prt_origins_open(s, stage);
        break;
    case CORE_EVENT_STEPPED:
        if (s->origins != NULL) prt_origins_keep(s, stage);
        if (s->core->failure.kind == CORE_GOOD)
            goes_on = call_step(s, s->step->after, index, finish);
        break;
    }
    return goes_on;
}

void prt_sched_set_environment(struct prt_sched *s)
{
    s->environment = (struct core_environment){.context = s,
                                               .open = open_windows,
                                               .launch = launch_on_device,
                                               .enqueue = enqueue_device_packet,
                                               .wait = wait_for_device,
                                               .advance = advance_device_clock,
                                               .resume = resume_device_queues,
                                               .event = receive_run_event};
    s->core->environment = &s->environment;
}

/* ---- what the core asks the host for ---- */

static enum prt_status call_sink(struct prt_sched *s, const struct prt_buffer *buffer,
                                 size_t packets, struct prt_error *error)
{
    const struct prt_port *port = buffer->port;
    enum prt_doing before = prt_run_state_set(s, PRT_DOING_WRITE, buffer);
    enum prt_status status =
        port->sink(port->context, prt_ring_window(&buffer->ring, buffer->fifo, 0), packets, error);
    (void)prt_run_state_set(s, before, NULL);
    return status;
}

/* Gives the host everything that an out-port holds. */
static enum prt_status drain_out_port(struct prt_sched *s, struct prt_buffer *buffer,
                                      struct prt_error *error)
{
    struct prt_port *port = buffer->port;
    uint64_t held = core_fifo_held(buffer->fifo, 0);
    enum prt_status status = PRT_OK;
    if (held > 0 && port->sink != NULL && !buffer->core->gone) {
        status = port->thread != NULL ? prt_port_thread_pass(buffer, error)
                                      : call_sink(s, buffer, (size_t)held, error);
    }
    if (status == PRT_E_CLOSED_PIPE) {
        core_leave_port(s->core, buffer->core);
        status = PRT_OK;
    }
    if (status != PRT_OK) buffer->core->gone = true; /* after an error it gets no more packets */
    if (!buffer->core->gone) port->packets += held;
    if (s->profile != NULL) prt_profile_delivered(s, buffer, held);
    core_fifo_release(buffer->fifo, 0, held);
    return status;
}

/* A host that fails at one out-port gets nothing at those after it. */
static enum prt_status drain_out_ports(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    struct prt_error later;
    for (uint32_t i; (i = core_take_undrained(s->core)) != CORE_NONE;) {
        struct prt_buffer *buffer = &s->buffers[i];
        buffer->core->gone |= status != PRT_OK;
        enum prt_status one = drain_out_port(s, buffer, status == PRT_OK ? error : &later);
        if (status == PRT_OK) status = one;
    }
    return status;
}

static enum prt_status serve_core(struct prt_sched *s, enum core_outcome outcome,
                                  struct prt_error *error)
{
    switch (outcome) {
    case CORE_DRAIN: return drain_out_ports(s, error);
    case CORE_FILL: return prt_inport_fill(s, &s->buffers[s->core->request_buffer], error);
    case CORE_FILL_ALL: return prt_inport_end(s, error);
    case CORE_TAKE: return prt_live_take(s, error);
    case CORE_WAIT_FOR_PORTS: return prt_live_wait(s, &s->core->answer, error);
    default: prt_run_state_attend(s); return PRT_OK;
    }
}

/* On a device where the scheduler is resident, that device executes the core. */
static enum core_outcome resume_core(struct prt_sched *s)
{
    enum core_outcome outcome = CORE_OVER;
    struct prt_error later;
    if (s->ops->resident_resume == NULL) return core_resume(s->core, &s->environment);
    enum prt_status status =
        s->ops->resident_resume(s->device, s->core, &outcome, error_of(s, &later));
    if (status == PRT_OK) return outcome;
    (void)note_status(s, status);
    (void)core_fail(s->core, CORE_BAD_DEVICE, CORE_NONE, 0);
    return CORE_OVER;
}

/* Lets the core go on until the run, or the firing, is over. */
static enum prt_status drive_core(struct prt_sched *s, struct prt_error *error)
{
    enum core_outcome outcome;
    s->error = error;
    while ((outcome = resume_core(s)) != CORE_OVER) {
        struct prt_error later;
        enum prt_status status = serve_core(s, outcome, error_of(s, &later));
        if (status == PRT_OK) continue;
        (void)note_status(s, status);
        (void)core_fail(s->core, CORE_STOPPED, CORE_NONE, 0);
    }
    return prt_explain_failure(s, error);
}

/* Hands the run over to the scheduler that is resident on the device. */
static enum prt_status begin_resident(struct prt_sched *s, struct prt_error *error)
{
    uint32_t count = s->container->buffer_count;
    const struct prt_ring **rings = calloc((size_t)count + 1, sizeof(struct prt_ring *));
    if (rings == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < count; i++)
        rings[i] = &s->buffers[i].ring;
    const struct prt_resident_run run = {.container = s->container,
                                         .core = s->core,
                                         .rings = rings,
                                         .blocks = s->blocks,
                                         .blocks_bytes = s->blocks_bytes};
    enum prt_status status = s->ops->resident_begin(s->device, &run, error);
    free(rings);
    return status;
}

enum prt_status prt_sched_begin(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = prt_program_begin(s, error);
    if (status == PRT_OK && s->ops->resident_begin != NULL) status = begin_resident(s, error);
    return status;
}

enum prt_status prt_sched_run(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = prt_sched_begin(s, error);
    if (status != PRT_OK) return status;
    status = drive_core(s, error);
    if (core_attends(s->core, CORE_HAS_HALTED)) prt_leftovers_count(s);
    return status;
}

enum prt_status prt_sched_fire(struct prt_sched *s, uint32_t stage, bool *ready,
                               struct prt_error *error)
{
    core_begin_firing(s->core, stage);
    enum prt_status status = drive_core(s, error);
    *ready = s->core->answer;
    return status;
}

/* ---- start ---- */

static enum prt_status start_fault(struct prt_sched *s, uint32_t node, enum kernel_status status,
                                   const struct kernel_fault *fault, struct prt_error *error)
{
    s->core->fault =
        (struct core_fault){.there = true, .node = node, .status = status, .fault = *fault};
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

static enum prt_status fill_initial_packets(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < s->container->buffer_count && status == PRT_OK; i++) {
        struct prt_buffer *buffer = &s->buffers[i];
        const struct container_buffer *record = buffer->record;
        if (record->initial_packets == 0) continue;
        prt_ring_fill(&buffer->ring, buffer->fifo,
                      s->container->initials + record->initial_offset_bytes,
                      record->initial_size_bytes, record->initial_packets);
        if (record->outer == CONTAINER_OUTER_OUT) status = drain_out_port(s, buffer, error);
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
    s->core->lanes = (uint16_t)info.description->lanes;
    s->core->stepped = s->step != NULL;
    s->core->ends_at_once |= s->core->stepped;
    s->core->direct =
        (s->ops->launch != NULL && !s->bindings.form_given) || s->ops->resident_begin != NULL;
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
        status = fill_initial_packets(s, error);
    }
    if (status == PRT_OK && s->step == NULL) prt_inport_begin(s);
    return status;
}
