/* SPDX-License-Identifier: MIT */
#include "runtime/sched/faults.h"

#include "runtime/sched/self_driven.h"
#include "runtime/sched/stage_profile.h"
#include "runtime/sched/explain.h"
#include "runtime/sched/inport.h"
#include "runtime/sched/live_port.h"
#include "runtime/sched/packets.h"
#include "runtime/sched/ready.h"
#include "runtime/sched/select.h"
#include "runtime/sched/run_state.h"

#include <assert.h>

/* ---- demand ---- */

static struct prt_stage *writer_stage(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    uint32_t node = buffer->record->writer_node;
    return node == CONTAINER_NONE ? NULL : &s->stages[s->node_stage[node]];
}

static bool is_kept_back(const struct prt_sched *s, const struct prt_stage_input *input)
{
    const struct prt_stage *writer = writer_stage(s, input->buffer);
    return writer != NULL && writer->life == PRT_STAGE_FAULTED;
}

/* Does the host still want packets of the stage, or is the stage without outputs? */
static bool is_output_wanted(const struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->output_count; i++) {
        const struct prt_port *port = stage->outputs[i].buffer->port;
        if (port != NULL && !port->gone) return true;
    }
    return stage->node->output_count == 0;
}

/* Spreads a flag of FAULTED stages to the stages that keep back the packets that they lack, and so on back to the
 * stages that have faulted themselves.  `flag_of` returns the flag of a stage.  fault_walk holds `count` stages, whose
 * flags are set. */
static void spread_back(struct prt_sched *s, uint32_t count, bool *flag_of(struct prt_stage *stage))
{
    while (count > 0) {
        const struct prt_stage *stage = &s->stages[s->fault_walk[--count]];
        for (uint32_t i = 0; i < stage->node->input_count; i++) {
            if (!stage->inputs[i].lacks) continue;
            struct prt_stage *writer = writer_stage(s, stage->inputs[i].buffer);
            if (*flag_of(writer)) continue;
            *flag_of(writer) = true;
            s->fault_walk[count++] = prt_stage_number(s, writer);
        }
    }
}

static bool *demanded_flag(struct prt_stage *stage)
{
    return &stage->demanded;
}

static bool *open_flag(struct prt_stage *stage)
{
    return &stage->open;
}

/* The stage becomes FAULTED: it fires no more, and keeps back the packets that it would have written. */
static void keep_back(struct prt_sched *s, struct prt_stage *stage)
{
    stage->life = PRT_STAGE_FAULTED;
    prt_sched_detach(s, stage);
    prt_stage_changed(s, prt_stage_number(s, stage));
    if (s->profile != NULL) prt_profile_ended(s, stage);
    s->end_propagated = true;
    if (!is_output_wanted(stage)) return;
    stage->demanded = true;
    s->fault_walk[0] = prt_stage_number(s, stage);
    spread_back(s, 1, demanded_flag);
}

/* ---- the launch that has faulted, and those after it ---- */

static enum prt_status refuse_report(const struct prt_sched *s, const struct prt_stage *stage,
                                     struct prt_error *error)
{
    return prt_error_set(error, PRT_E_FAULT,
                         "kernel '%s' reports a fault in a firing that it was not given",
                         prt_container_text(s->container, stage->node->name));
}

/* Takes back committed packets. */
static void retract_packets(struct prt_sched *s, struct prt_buffer *buffer, uint64_t packets)
{
    prt_fifo_retract(&buffer->fifo, packets);
    prt_select_readers_changed(s, buffer);
}

/* Delivers the packets of the first `firings` firings of the batch; the others do not count. */
static enum prt_status deliver_before(struct prt_sched *s, struct prt_stage *stage,
                                      uint64_t firings, struct prt_error *error)
{
    uint64_t first = stage->firings - stage->batch;
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < stage->node->output_count && status == PRT_OK; i++) {
        const struct prt_stage_output *output = &stage->outputs[i];
        uint64_t all = prt_flow_total(&output->most, first, stage->batch);
        uint64_t most = prt_flow_total(&output->most, first, firings), packets = most;
        if (!stage->exact) packets = s->produced[stage->node->first_output + i];
        if (packets > most) return refuse_report(s, stage, error);
        if (output->in_order)
            retract_packets(s, output->buffer, all - packets);
        else
            status = prt_sched_deliver(s, stage, i, packets, error);
    }
    stage->firings = first + firings;
    stage->batch = firings;
    return status;
}

enum prt_status prt_faults_note(struct prt_sched *s, struct prt_stage *stage,
                                const struct prt_completion *completion, struct prt_error *error)
{
    bool finish = stage->life == PRT_STAGE_FINISHING;
    uint64_t first = stage->firings - stage->batch, firing = completion->fault.firing;
    enum prt_status status = PRT_OK;
    if (finish) {
        firing = stage->firings;
    } else {
        if (firing < first || firing - first >= stage->batch) return refuse_report(s, stage, error);
        status = deliver_before(s, stage, firing - first, error);
    }
    s->stage_faults[prt_stage_number(s, stage)] =
        (struct prt_sched_fault){.there = true,
                                 .node = (uint32_t)(stage->node - s->container->nodes),
                                 .status = completion->kernel_status,
                                 .finish = finish,
                                 .firing = firing,
                                 .fault = completion->fault};
    keep_back(s, stage);
    s->faulted = true;
    return status;
}

void prt_faults_skip(struct prt_sched *s, struct prt_stage *stage)
{
    bool finish = stage->life == PRT_STAGE_FINISHING;
    uint64_t first = stage->firings - stage->batch;
    stage->dispatches--;
    for (uint32_t i = 0; i < stage->node->output_count; i++) {
        const struct prt_stage_output *output = &stage->outputs[i];
        struct prt_fifo *fifo = &output->buffer->fifo;
        if (output->in_order && !finish)
            retract_packets(s, output->buffer, prt_flow_total(&output->most, first, stage->batch));
        else
            prt_fifo_commit(fifo, 0);
    }
    if (finish) {
        stage->life = PRT_STAGE_FINISH_WAITING;
        prt_stage_may_end(s, stage);
        return;
    }
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        const struct prt_stage_input *input = &stage->inputs[i];
        if (!input->in_order) continue;
        prt_fifo_reclaim(&input->buffer->fifo, input->reader,
                         prt_ready_frees(input, first, stage->batch));
        prt_stage_changed(s, prt_stage_number(s, writer_stage(s, input->buffer)));
    }
    stage->firings = first;
    stage->batch = 0;
    prt_stage_may_end(s, stage);
}

/* Waits until nothing is in flight, then lets all queues execute again. */
static enum prt_status recover_queues(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = prt_sched_settle(s, error);
    s->ops->resume(s->device); /* not NULL: kernels of the device fault */
    s->selected = UINT32_MAX;
    /* after an error, skipped launches have not all been taken back */
    s->faulted = status != PRT_OK;
    return status;
}

/* ---- stages that a fault reaches ---- */

enum need {
    NEED_NOTHING,  /* it may fire, or lacks packets of a stage that is not FAULTED */
    NEED_PORT,     /* an in-port must be filled before this is known */
    NEED_KEPT_BACK /* only packets that faults keep back */
};

/* Finds what the next firing of a running stage lacks, and marks the inputs that lack packets that faults keep back.
 * *port: an in-port to fill, or NULL. */
static enum need find_need(const struct prt_sched *s, struct prt_stage *stage,
                           struct prt_buffer **port)
{
    enum need need = NEED_NOTHING;
    *port = NULL;
    for (uint32_t i = 0; i < stage->node->input_count; i++) {
        struct prt_stage_input *input = &stage->inputs[i];
        input->lacks = false;
        if (prt_ready_input(stage, input, false, 1) > 0) continue;
        if (is_kept_back(s, input)) {
            input->lacks = true;
            need = NEED_KEPT_BACK;
        } else if (prt_ready_is_filled(input) && prt_fifo_room(&input->buffer->fifo) > 0) {
            *port = input->buffer;
        } else {
            return NEED_NOTHING;
        }
    }
    return need == NEED_KEPT_BACK && *port != NULL ? NEED_PORT : need;
}

/* Makes stages FAULTED whose next firing lacks only packets that faults keep back.  *any: there was one. */
static enum prt_status reach_stages(struct prt_sched *s, bool *any, struct prt_error *error)
{
    *any = false;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        struct prt_stage *stage = &s->stages[i];
        struct prt_buffer *port;
        if (stage->in_flight || stage->life != PRT_STAGE_RUNNING) continue;
        assert(!stage->stopped); /* `ends` has ended it before */
        enum need need = find_need(s, stage, &port);
        while (need == NEED_PORT) {
            enum prt_status status = prt_inport_fill(s, port, error);
            if (status != PRT_OK) return status;
            need = find_need(s, stage, &port);
        }
        if (need != NEED_KEPT_BACK) continue;
        *any = true;
        keep_back(s, stage);
    }
    return PRT_OK;
}

/* ---- which fault counts ---- */

/* The order of firings of all nodes: by iteration, then by node. */
struct place {
    uint64_t iteration;
    uint32_t node;
};

static struct place firing_place(const struct prt_sched *s, uint32_t node, uint64_t firing)
{
    const struct container_node *record = &s->container->nodes[node];
    uint64_t repetitions = record->source_repetitions;
    if (repetitions == 0) repetitions = record->repetitions;
    return (struct place){firing / repetitions, node};
}

static bool place_is_before(struct place a, struct place b)
{
    return a.iteration != b.iteration ? a.iteration < b.iteration : a.node < b.node;
}

static struct place fault_place(const struct prt_sched *s, uint32_t stage)
{
    return firing_place(s, s->stage_faults[stage].node, s->stage_faults[stage].firing);
}

/* The first of the faults that are demanded; NULL: there is none. */
static const struct prt_sched_fault *find_first(const struct prt_sched *s)
{
    const struct prt_sched_fault *first = NULL;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct prt_sched_fault *f = &s->stage_faults[i];
        if (!f->there || !s->stages[i].demanded) continue;
        if (first == NULL ||
            place_is_before(fault_place(s, i), firing_place(s, first->node, first->firing)))
            first = f;
    }
    return first;
}

/* Has the stage a reader that has neither ended nor become FAULTED, and so may still need its packets? */
static bool has_open_reader(const struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->output_count; i++) {
        const struct prt_fifo *fifo = &stage->outputs[i].buffer->fifo;
        if (stage->outputs[i].buffer->port == NULL && fifo->attached_count > 0) return true;
    }
    return false;
}

/* Marks the FAULTED stages whose packets may still be demanded. */
static void mark_open(struct prt_sched *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        struct prt_stage *stage = &s->stages[i];
        stage->open = stage->life == PRT_STAGE_FAULTED && has_open_reader(stage);
        if (stage->open) s->fault_walk[count++] = i;
    }
    spread_back(s, count, open_flag);
}

/* Is it certain that no other fault comes before that one? */
static bool is_decided(struct prt_sched *s, const struct prt_sched_fault *first)
{
    struct place place = firing_place(s, first->node, first->firing);
    mark_open(s);
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct prt_stage *stage = &s->stages[i];
        if (s->stage_faults[i].there) {
            if (stage->open && !stage->demanded && place_is_before(fault_place(s, i), place))
                return false;
            continue;
        }
        if (stage->life >= PRT_STAGE_ENDED || !(stage->node->flags & CONTAINER_NODE_FAULTS))
            continue;
        assert(!stage->in_flight || stage->life == PRT_STAGE_FINISHING);
        if (place_is_before(
                firing_place(s, (uint32_t)(stage->node - s->container->nodes), stage->firings),
                place))
            return false;
    }
    return true;
}

/* ---- the rest of the run ---- */

/* Dispatches each ready stage once, and waits for the launches.  *any: there was a ready stage.
 *
 * A fault skips the later launches of its queue, which are then dispatched again.  So at most *window launches are in
 * flight at a time: one after a fault, and twice as many after each window without a fault.  Thus many faults cost time
 * linear in the launches, and a run whose fault does not count soon fills its queues again. */
static enum prt_status dispatch_ready(struct prt_sched *s, uint32_t *window, bool *any,
                                      struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    uint32_t launched = 0, count = s->container->stage_count;
    *any = false;
    for (uint32_t i = 0; i < count && status == PRT_OK && !s->sinks_gone; i++) {
        bool found;
        status = prt_select_stage(s, i, &found, error);
        if (status != PRT_OK || !found) continue;
        *any = true;
        status = prt_sched_dispatch(s, error);
        if (status != PRT_OK || ++launched < *window) continue;
        launched = 0; /* equivalent: the length of a window is seen only by the clock */
        status = prt_sched_settle(s, error);
        /* the window is full, and a stage that has faulted is not dispatched */
        assert(*window < count);
        *window *= 2;
        if (status != PRT_OK || !s->faulted) continue;
        *window = 1;
        status = recover_queues(s, error);
    }
    return status == PRT_OK ? prt_sched_settle(s, error) : status;
}

/* No stage is ready, and nothing is in flight: waives thresholds, then reads in-ports to their ends, then waits for
 * eager ports.  *on: that may have made a stage ready. */
static enum prt_status try_rest(struct prt_sched *s, bool *on, struct prt_error *error)
{
    *on = true;
    if (!s->waiver) {
        s->waiver = true;
        for (uint32_t i = 0; i < s->container->stage_count; i++)
            prt_stage_changed(s, i);
        return PRT_OK;
    }
    s->end_propagated = false;
    enum prt_status status = s->interrupt_seen ? PRT_OK : prt_inport_end(s, error);
    *on = s->end_propagated;
    return status == PRT_OK && !*on ? prt_live_wait(s, on, error) : status;
}

static enum prt_status end_with_fault(struct prt_sched *s, const struct prt_sched_fault *first,
                                      struct prt_error *error)
{
    struct prt_error later;
    struct prt_sched_fault fault = *first;
    (void)prt_sched_settle(s, &later);
    s->fault = fault;
    return prt_explain_fault(s, error);
}

/* One round of the guarded loop for all stages.  *on: another one must follow. */
static enum prt_status go_round(struct prt_sched *s, uint32_t *window, bool *on,
                                struct prt_error *error)
{
    bool reached, dispatched = false;
    *on = true;
    prt_run_state_attend(s);
    enum prt_status status = s->faulted ? recover_queues(s, error) : PRT_OK;
    if (status == PRT_OK) status = prt_live_take(s, error);
    if (status == PRT_OK) status = prt_sched_ends(s, error);
    if (status == PRT_OK) status = reach_stages(s, &reached, error);
    if (status != PRT_OK || reached) return status;
    const struct prt_sched_fault *first = find_first(s);
    if (first != NULL && is_decided(s, first)) return end_with_fault(s, first, error);
    status = dispatch_ready(s, window, &dispatched, error);
    if (status != PRT_OK || s->faulted || s->sinks_gone) return status;
    if (dispatched || s->ends_due.marked > 0) return PRT_OK;
    return try_rest(s, on, error);
}

enum prt_status prt_faults_conclude(struct prt_sched *s, struct prt_error *error)
{
    bool on = true;
    uint32_t window = 1;
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < s->container->stage_count; i++)
        prt_stage_changed(s, i);
    while (status == PRT_OK && on && !s->sinks_gone)
        status = go_round(s, &window, &on, error);
    if (status != PRT_OK || s->sinks_gone) return status;
    const struct prt_sched_fault *first = find_first(s);
    return first != NULL ? end_with_fault(s, first, error) : prt_sched_halt(s, error);
}
