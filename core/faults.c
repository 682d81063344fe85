/* SPDX-License-Identifier: MIT */
#include "core/faults.h"

#include "core/ends.h"
#include "core/launch.h"
#include "core/ready.h"
#include "core/select.h"

/* ---- demand ---- */

/* The stage that writes what the input reads; NULL: the host. */
static struct core_stage *writer_stage(const struct core *c, const struct core_input *input)
{
    uint32_t writer = core_read_buffer(c, input)->writer;
    return writer == CORE_NONE ? NULL : core_stage(c, writer);
}

static bool is_kept_back(const struct core *c, const struct core_input *input)
{
    const struct core_stage *writer = writer_stage(c, input);
    return writer != NULL && writer->life == CORE_FAULTED;
}

/* Does the host still want packets of the stage, or is the stage without outputs? */
static bool is_output_wanted(const struct core *c, const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_buffer *buffer = core_written_buffer(c, core_output(c, stage, i));
        if (buffer->port == CORE_OUT_PORT && !buffer->gone) return true;
    }
    return stage->output_count == 0;
}

/* Spreads the flag `open`, or `demanded`, of FAULTED stages to the stages that keep back the packets that they lack, and
 * so on back to the stages that have faulted themselves.  The walk holds `count` stages, whose flags are set. */
static void spread_back(struct core *c, uint32_t count, bool open)
{
    uint32_t *walk = core_walk(c);
    while (count > 0) {
        const struct core_stage *stage = core_stage(c, walk[--count]);
        for (uint32_t i = 0; i < stage->input_count; i++) {
            const struct core_input *input = core_input(c, stage, i);
            if (!input->lacks) continue;
            struct core_stage *writer = writer_stage(c, input);
            bool *flag = open ? &writer->open : &writer->demanded;
            if (*flag) continue;
            *flag = true;
            walk[count++] = core_stage_number(c, writer);
        }
    }
}

/* The stage becomes FAULTED: it fires no more, and keeps back the packets that it would have written. */
static void keep_back(struct core *c, struct core_stage *stage)
{
    stage->life = CORE_FAULTED;
    core_detach_faulted(c, stage);
    core_stage_changed(c, core_stage_number(c, stage));
    if (core_is_observed(c))
        (void)core_send(c, CORE_EVENT_ENDED, core_stage_number(c, stage), false);
    c->end_propagated = true;
    stage->unjudged = true;
}

/* Finds out which stages that have become FAULTED since are demanded.  The host has drained out-ports by now: a port that
 * wants no more packets demands none. */
static void judge_demand(struct core *c)
{
    for (uint32_t i = 0; i < c->stage_count; i++) {
        struct core_stage *stage = core_stage(c, i);
        bool demands = stage->unjudged && is_output_wanted(c, stage);
        stage->unjudged = false;
        if (!demands) continue;
        stage->demanded = true;
        core_walk(c)[0] = i;
        spread_back(c, 1, false);
    }
}

/* ---- the launch that has faulted, and those after it ---- */

static bool refuse_report(struct core *c, const struct core_stage *stage)
{
    return core_fail(c, CORE_BAD_REPORT, core_stage_number(c, stage), 0);
}

/* Takes back committed packets. */
static void retract_packets(struct core *c, const struct core_output *output, uint64_t packets)
{
    struct core_buffer *buffer = core_written_buffer(c, output);
    core_fifo_retract(&buffer->fifo, packets);
    core_readers_changed(c, buffer);
}

/* Delivers the packets of the first `firings` firings of the batch; the others do not count. */
static bool deliver_before(struct core *c, struct core_stage *stage, uint64_t firings)
{
    uint64_t first = stage->firings - stage->batch;
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(c, stage, i);
        uint64_t all = core_flow_total(core_numbers(c), &output->most, first, stage->batch);
        uint64_t most = core_flow_total(core_numbers(c), &output->most, first, firings);
        uint64_t packets = stage->exact ? most : core_produced(c)[stage->first_output + i];
        if (packets > most) return refuse_report(c, stage);
        if (output->in_order)
            retract_packets(c, output, all - packets);
        else
            core_commit_output(c, output, packets);
    }
    stage->firings = first + firings;
    stage->batch = firings;
    return true;
}

bool core_faults_note(struct core *c, struct core_stage *stage,
                      const struct core_completion *completion)
{
    bool finish = stage->life == CORE_FINISHING, good = true;
    uint64_t first = stage->firings - stage->batch, firing = completion->fault.firing;
    if (finish) {
        firing = stage->firings;
    } else {
        if (firing < first || firing - first >= stage->batch) return refuse_report(c, stage);
        good = deliver_before(c, stage, firing - first);
    }
    core_faults(c)[core_stage_number(c, stage)] =
        (struct core_fault){.there = true,
                            .node = stage->node,
                            .status = completion->kernel_status,
                            .finish = finish,
                            .firing = firing,
                            .fault = completion->fault};
    keep_back(c, stage);
    c->attention |= CORE_HAS_FAULTED;
    return good;
}

void core_faults_skip(struct core *c, struct core_stage *stage)
{
    bool finish = stage->life == CORE_FINISHING;
    uint64_t first = stage->firings - stage->batch;
    stage->dispatches--;
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_output *output = core_output(c, stage, i);
        if (output->in_order && !finish)
            retract_packets(c, output,
                            core_flow_total(core_numbers(c), &output->most, first, stage->batch));
        else
            core_fifo_commit(&core_written_buffer(c, output)->fifo, 0);
    }
    if (finish) {
        stage->life = CORE_FINISH_WAITING;
        core_stage_may_end(c, stage);
        return;
    }
    for (uint32_t i = 0; i < stage->input_count; i++) {
        const struct core_input *input = core_input(c, stage, i);
        if (!input->in_order) continue;
        core_fifo_reclaim(&core_read_buffer(c, input)->fifo, input->reader,
                          core_ready_frees(c, input, first, stage->batch));
        core_stage_changed(c, core_stage_number(c, writer_stage(c, input)));
    }
    stage->firings = first;
    stage->batch = 0;
    core_stage_may_end(c, stage);
}

/* ---- stages that a fault reaches ---- */

enum need {
    NEED_NOTHING,  /* it may fire, or lacks packets of a stage that is not FAULTED */
    NEED_PORT,     /* an in-port must be filled before this is known */
    NEED_KEPT_BACK /* only packets that faults keep back */
};

/* Finds what the next firing of a running stage lacks, and marks the inputs that lack packets that faults keep back.
 * PORT: `request_buffer` is the in-port to fill. */
static enum need find_need(struct core *c, const struct core_stage *stage)
{
    enum need need = NEED_NOTHING;
    bool port = false;
    for (uint32_t i = 0; i < stage->input_count; i++) {
        struct core_input *input = core_input(c, stage, i);
        input->lacks = false;
        if (core_ready_input(c, stage, input, false, 1) > 0) continue;
        if (is_kept_back(c, input)) {
            input->lacks = true;
            need = NEED_KEPT_BACK;
        } else if (core_ready_is_filled(c, input) &&
                   core_fifo_room(&core_read_buffer(c, input)->fifo) > 0) {
            c->request_buffer = input->buffer;
            port = true;
        } else {
            return NEED_NOTHING;
        }
    }
    return need == NEED_KEPT_BACK && port ? NEED_PORT : need;
}

/* ---- which fault counts ---- */

/* The order of firings of all nodes: by iteration, then by node. */
struct place {
    uint64_t iteration;
    uint32_t node;
};

static struct place firing_place(const struct core_stage *stage, uint64_t firing)
{
    return (struct place){firing / stage->repetitions, stage->node};
}

static bool place_is_before(struct place a, struct place b)
{
    return a.iteration != b.iteration ? a.iteration < b.iteration : a.node < b.node;
}

static struct place fault_place(const struct core *c, uint32_t stage)
{
    return firing_place(core_stage(c, stage), core_faults(c)[stage].firing);
}

/* The stage with the first of the faults that are demanded; CORE_NONE: there is none. */
static uint32_t find_first_fault(const struct core *c)
{
    uint32_t first = CORE_NONE;
    for (uint32_t i = 0; i < c->stage_count; i++) {
        if (!core_faults(c)[i].there || !core_stage(c, i)->demanded) continue;
        if (first == CORE_NONE || place_is_before(fault_place(c, i), fault_place(c, first)))
            first = i;
    }
    return first;
}

/* Has the stage a reader that has neither ended nor become FAULTED, and so may still need its packets? */
static bool has_open_reader(const struct core *c, const struct core_stage *stage)
{
    for (uint32_t i = 0; i < stage->output_count; i++) {
        const struct core_buffer *buffer = core_written_buffer(c, core_output(c, stage, i));
        if (buffer->port == CORE_INNER && buffer->fifo.attached_count > 0) return true;
    }
    return false;
}

/* Marks the FAULTED stages whose packets may still be demanded. */
static void mark_open(struct core *c)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->stage_count; i++) {
        struct core_stage *stage = core_stage(c, i);
        stage->open = stage->life == CORE_FAULTED && has_open_reader(c, stage);
        if (stage->open) core_walk(c)[count++] = i;
    }
    spread_back(c, count, true);
}

/* Is it certain that no other fault comes before that of the stage? */
static bool is_decided(struct core *c, uint32_t first)
{
    struct place place = fault_place(c, first);
    mark_open(c);
    for (uint32_t i = 0; i < c->stage_count; i++) {
        const struct core_stage *stage = core_stage(c, i);
        if (core_faults(c)[i].there) {
            /* of those that are demanded, none is before the first */
            if (stage->open && place_is_before(fault_place(c, i), place)) return false;
            continue;
        }
        if (stage->life >= CORE_ENDED || !(stage->flags & CONTAINER_NODE_FAULTS)) continue;
        assert(!stage->in_flight || stage->life == CORE_FINISHING);
        if (place_is_before(firing_place(stage, stage->firings), place)) return false;
    }
    return true;
}

/* ---- the rest of the run ---- */

enum { /* steps of a round */
       ROUND_BEGINS,
       QUEUES_RECOVER,
       STAGES_END,
       STAGES_REACHED, /* by a fault */
       STAGES_DISPATCHED,
       WINDOW_SETTLES,
       ROUND_SETTLES,
       PORTS_END,
       PORTS_AWAITED,
       FAULT_SETTLES /* the run ends with the fault of stage `left` */
};

static enum core_outcome begin_again(struct core *c)
{
    c->progress = (struct core_progress){.step = ROUND_BEGINS};
    return CORE_NEXT;
}

/* When nothing is in flight, lets all queues execute again.  After a failure, skipped launches have not all been taken
 * back. */
static void recover_queues(struct core *c)
{
    const struct core_environment *e = c->environment;
    CORE_ENTRY(e, resume)(e->context);
    c->selected = CORE_NONE;
    if (!core_attends(c, CORE_HAS_FAILED)) c->attention &= ~(uint32_t)CORE_HAS_FAULTED;
}

/* Makes stages FAULTED whose next firing lacks only packets that faults keep back.  `most` counts them. */
static enum core_outcome reach_stages(struct core *c)
{
    struct core_progress *p = &c->progress;
    for (; p->at < c->stage_count; p->at++) {
        struct core_stage *stage = core_stage(c, p->at);
        if (stage->in_flight || stage->life != CORE_RUNNING) continue;
        assert(!stage->stopped); /* `ends` has ended it before */
        enum need need = find_need(c, stage);
        if (need == NEED_PORT) return CORE_FILL;
        if (need != NEED_KEPT_BACK) continue;
        p->most++;
        keep_back(c, stage);
    }
    return CORE_NEXT;
}

/* Dispatches each ready stage once, and waits for the launches.  `most` counts them.
 *
 * A fault skips the later launches of its queue, which are then dispatched again.  So at most `window` launches are in
 * flight at a time: one after a fault, and twice as many after each window without a fault.  Thus many faults cost time
 * linear in the launches, and a run whose fault does not count soon fills its queues again. */
static enum core_outcome dispatch_ready(struct core *c)
{
    struct core_progress *p = &c->progress;
    for (; p->at < c->stage_count; p->at++) {
        if (p->step == STAGES_DISPATCHED) {
            enum core_outcome outcome = core_select_stage(c, p->at);
            if (outcome == CORE_FILL) return outcome;
            if (outcome == CORE_JUMP) continue;
            p->most++;
            if (!core_dispatch(c)) return CORE_NEXT;
            if (++p->left < c->window) {
                if (!core_attends(c, CORE_UNDRAINED)) continue;
                p->at++;
                return CORE_REDO;
            }
            p->left = 0; /* equivalent: the length of a window is seen only by the clock */
            p->step = WINDOW_SETTLES;
        }
        if (!core_settle(c)) return CORE_REDO;
        p->step = STAGES_DISPATCHED;
        /* the window is full, and a stage that has faulted is not dispatched */
        assert(c->window < c->stage_count);
        c->window *= 2;
        if (core_attends(c, CORE_HAS_FAILED) || !core_attends(c, CORE_HAS_FAULTED)) continue;
        c->window = 1;
        recover_queues(c);
    }
    p->step = ROUND_SETTLES;
    return CORE_NEXT;
}

/* When nothing is in flight, the fault becomes the one that ends the run. */
static enum core_outcome end_with_fault(struct core *c, uint32_t stage)
{
    c->progress.step = FAULT_SETTLES;
    c->progress.left = stage;
    if (!core_settle(c)) return CORE_REDO;
    c->fault = core_faults(c)[stage];
    (void)core_fail(c, CORE_FAULT, stage, 0);
    return CORE_NEXT;
}

/* No stage is ready, and nothing is in flight: thresholds are waived, then the host reads in-ports to their ends, then it
 * waits for eager ports. */
static enum core_outcome try_rest(struct core *c)
{
    struct core_progress *p = &c->progress;
    if (p->step == ROUND_SETTLES && !c->waiver) {
        c->waiver = true;
        core_all_stages_changed(c);
        return begin_again(c);
    }
    if (p->step == ROUND_SETTLES) {
        p->step = PORTS_END;
        c->end_propagated = false;
        if (!c->interrupt_seen) return CORE_FILL_ALL;
    }
    if (p->step == PORTS_END) {
        if (c->end_propagated) return begin_again(c);
        p->step = PORTS_AWAITED;
        c->answer = false;
        if (c->live) return CORE_WAIT_FOR_PORTS;
    }
    if (c->answer) return begin_again(c);
    uint32_t first = find_first_fault(c);
    return first != CORE_NONE ? end_with_fault(c, first) : CORE_JUMP;
}

enum core_outcome core_conclude(struct core *c)
{
    struct core_progress *p = &c->progress;
    enum core_outcome outcome;
    if (p->step == FAULT_SETTLES) return end_with_fault(c, p->left);
    if (core_attends(c, CORE_NO_SINKS)) return CORE_JUMP;
    if (p->step == ROUND_BEGINS) {
        p->step = QUEUES_RECOVER;
        if (core_flag(&c->asked)) return CORE_ASKED;
    }
    if (p->step == QUEUES_RECOVER) {
        if (core_attends(c, CORE_HAS_FAULTED) && !core_settle(c)) return CORE_REDO;
        if (core_attends(c, CORE_HAS_FAULTED)) recover_queues(c);
        p->step = STAGES_END;
        if (core_attends(c, CORE_HAS_FAILED)) return CORE_NEXT;
        if (c->live) return CORE_TAKE;
    }
    if (p->step == STAGES_END) {
        (void)core_ends(c);
        p->step = STAGES_REACHED;
    }
    if (p->step == STAGES_REACHED) {
        outcome = reach_stages(c);
        if (outcome == CORE_FILL) return outcome;
        if (p->most > 0) return begin_again(c);
        judge_demand(c);
        uint32_t first = find_first_fault(c);
        if (first != CORE_NONE && is_decided(c, first)) return end_with_fault(c, first);
        *p = (struct core_progress){.step = STAGES_DISPATCHED};
    }
    if (p->step == STAGES_DISPATCHED || p->step == WINDOW_SETTLES) {
        outcome = dispatch_ready(c);
        if (p->step != ROUND_SETTLES) return outcome;
    }
    if (p->step == ROUND_SETTLES) {
        if (!core_settle(c)) return CORE_REDO;
        if (core_attends(c, CORE_HAS_FAULTED) || p->most > 0 || c->ends_due.marked > 0)
            return begin_again(c);
    }
    return try_rest(c);
}
