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

/* ---- what spreads ---- */

static struct prt_stage *writer_of(const struct prt_sched *s, const struct prt_buffer *buffer)
{
    uint32_t node = buffer->record->writer_node;
    return node == CONTAINER_NONE ? NULL : &s->stages[s->node_stage[node]];
}

static bool is_kept_back(const struct prt_sched *s, const struct prt_stage_input *input)
{
    const struct prt_stage *writer = writer_of(s, input->buffer);
    return writer != NULL && writer->life == PRT_STAGE_FAULTED;
}

/* Does the host still want packets of the stage, or the stage itself those that it reads? */
static bool is_wanted(const struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->output_count; i++) {
        const struct prt_port *port = stage->outputs[i].buffer->port;
        if (port != NULL && !port->gone) return true;
    }
    return stage->node->output_count == 0;
}

/* Those that keep back what the FAULTED stages on the walk need, and so on back to the firings that have faulted:
 * sets *flag_of each of them, which it returns.  The walk holds `count` stages, with their flags set. */
static void spread_back(struct prt_sched *s, uint32_t count, bool *flag_of(struct prt_stage *stage))
{
    while (count > 0) {
        const struct prt_stage *stage = &s->stages[s->fault_walk[--count]];
        for (uint32_t i = 0; i < stage->node->input_count; i++) {
            if (!stage->inputs[i].lacks) continue;
            struct prt_stage *writer = writer_of(s, stage->inputs[i].buffer);
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

/* The stage fires no more, and keeps back what it would have written. */
static void keep_back(struct prt_sched *s, struct prt_stage *stage)
{
    stage->life = PRT_STAGE_FAULTED;
    prt_sched_detach(s, stage);
    prt_stage_changed(s, prt_stage_number(s, stage));
    if (s->collect != NULL) prt_collect_ended(s, stage);
    s->end_propagated = true;
    if (!is_wanted(stage)) return;
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

/* Takes back packets of which the readers may have been told. */
static void retract(struct prt_sched *s, struct prt_buffer *buffer, uint64_t packets)
{
    prt_fifo_retract(&buffer->fifo, packets);
    prt_select_readers_changed(s, buffer);
}

/* Of the batch only the first `firings` count. */
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
            retract(s, output->buffer, all - packets);
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
    if (finish)
        firing = stage->firings;
    else if (firing < first || firing - first >= stage->batch)
        return refuse_report(s, stage, error);
    for (uint32_t i = 0; finish && i < stage->node->output_count; i++)
        prt_fifo_commit(&stage->outputs[i].buffer->fifo, 0);
    if (!finish) status = deliver_before(s, stage, firing - first, error);
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
            retract(s, output->buffer, prt_flow_total(&output->most, first, stage->batch));
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
        prt_stage_changed(s, prt_stage_number(s, writer_of(s, input->buffer)));
    }
    stage->firings = first;
    stage->batch = 0;
    prt_stage_may_end(s, stage);
}

/* Waits for what is in flight; then all queues execute again. */
static enum prt_status recover(struct prt_sched *s, struct prt_error *error)
{
    enum prt_status status = prt_sched_settle(s, error);
    s->ops->resume(s->device); /* there is one where kernels fault */
    s->selected = UINT32_MAX;
    s->faulted = status != PRT_OK; /* then what has been skipped is not taken back */
    return status;
}

/* ---- stages that a fault reaches ---- */

enum need {
    NEED_NOTHING,  /* or not known yet */
    NEED_PORT,     /* an in-port that may still bring it */
    NEED_KEPT_BACK /* what faults keep back, and nothing else */
};

/* Finds what the next firing of a running stage lacks and marks the inputs that lack packets.  *port: the
 * in-port to fill. */
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

/* Keeps back what stages would write that only lack what others keep back.  *any: there was one. */
static enum prt_status reach_stages(struct prt_sched *s, bool *any, struct prt_error *error)
{
    *any = false;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        struct prt_stage *stage = &s->stages[i];
        struct prt_buffer *port;
        if (stage->in_flight || stage->life != PRT_STAGE_RUNNING) continue;
        assert(!stage->stopped); /* `ends` comes before */
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

/* Where a firing of the node stands among those of all nodes. */
struct place {
    uint64_t iteration;
    uint32_t node;
};

static struct place place_of(const struct prt_sched *s, uint32_t node, uint64_t firing)
{
    const struct container_node *record = &s->container->nodes[node];
    uint64_t repetitions = record->source_repetitions;
    if (repetitions == 0) repetitions = record->repetitions;
    return (struct place){firing / repetitions, node};
}

static bool is_before(struct place a, struct place b)
{
    return a.iteration != b.iteration ? a.iteration < b.iteration : a.node < b.node;
}

static struct place fault_place(const struct prt_sched *s, uint32_t stage)
{
    return place_of(s, s->stage_faults[stage].node, s->stage_faults[stage].firing);
}

/* The first fault that is demanded; NULL: none is. */
static const struct prt_sched_fault *find_first(const struct prt_sched *s)
{
    const struct prt_sched_fault *first = NULL;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct prt_sched_fault *f = &s->stage_faults[i];
        if (!f->there || !s->stages[i].demanded) continue;
        if (first == NULL || is_before(fault_place(s, i), place_of(s, first->node, first->firing)))
            first = f;
    }
    return first;
}

/* Some reader that has neither ended nor been held back may still need what the stage keeps back. */
static bool has_open_reader(const struct prt_stage *stage)
{
    for (uint32_t i = 0; i < stage->node->output_count; i++) {
        const struct prt_fifo *fifo = &stage->outputs[i].buffer->fifo;
        if (stage->outputs[i].buffer->port == NULL && fifo->attached_count > 0) return true;
    }
    return false;
}

/* Marks the FAULTED stages of which it is not known yet whether what they keep back is wanted. */
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

/* Can no other fault come before that one any more? */
static bool is_decided(struct prt_sched *s, const struct prt_sched_fault *first)
{
    struct place place = place_of(s, first->node, first->firing);
    mark_open(s);
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        const struct prt_stage *stage = &s->stages[i];
        if (s->stage_faults[i].there) {
            if (stage->open && !stage->demanded && is_before(fault_place(s, i), place))
                return false;
            continue;
        }
        if (stage->life >= PRT_STAGE_ENDED || !(stage->node->flags & CONTAINER_NODE_FAULTS))
            continue;
        assert(!stage->in_flight || stage->life == PRT_STAGE_FINISHING);
        if (is_before(place_of(s, (uint32_t)(stage->node - s->container->nodes), stage->firings),
                      place))
            return false;
    }
    return true;
}

/* ---- the rest of the run ---- */

/* Dispatches each stage that is ready once, and waits for the launches.  *any: something was.
 *
 * A fault has the launches after it on its queue skipped, to be dispatched again.  So only *window launches are in flight
 * at a time: one after a fault, twice as many after each window without one.  Many faults then cost time linear in the
 * launches, and a run whose fault does not count soon has all its queues full again. */
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
        launched = 0;
        status = prt_sched_settle(s, error);
        assert(*window < count); /* a stage that has faulted is not among them */
        *window *= 2;
        if (status != PRT_OK || !s->faulted) continue;
        *window = 1;
        status = recover(s, error);
    }
    return status == PRT_OK ? prt_sched_settle(s, error) : status;
}

/* Nothing is ready or in flight.  *on: something has changed all the same. */
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

static enum prt_status report(struct prt_sched *s, const struct prt_sched_fault *first,
                              struct prt_error *error)
{
    struct prt_error later;
    struct prt_sched_fault fault = *first;
    (void)prt_sched_settle(s, &later);
    s->fault = fault;
    return prt_explain_fault(s, error);
}

/* A round of the guarded loop for all stages.  *on: there is to be another. */
static enum prt_status go_round(struct prt_sched *s, uint32_t *window, bool *on,
                                struct prt_error *error)
{
    bool reached, dispatched = false;
    *on = true;
    prt_standing_attend(s);
    enum prt_status status = s->faulted ? recover(s, error) : PRT_OK;
    if (status == PRT_OK) status = prt_live_take(s, error);
    if (status == PRT_OK) status = prt_sched_ends(s, error);
    if (status == PRT_OK && !s->faulted) status = reach_stages(s, &reached, error);
    if (status != PRT_OK || s->faulted || s->sinks_gone || reached) return status;
    const struct prt_sched_fault *first = find_first(s);
    if (first != NULL && is_decided(s, first)) return report(s, first, error);
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
    return first != NULL ? report(s, first, error) : prt_sched_halt(s, error);
}
