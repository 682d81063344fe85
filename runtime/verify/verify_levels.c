/* SPDX-License-Identifier: MIT */
/* A scheduler program executed on intervals: see verify_levels.h. */
#include "runtime/verify/verify_levels.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_LABEL UINT32_MAX
/* After so many meetings at a label, each value that still changes becomes unknown. */
enum { MEETINGS_MAX = 2 };
/* Work that the memory for a state counts as, per quantity: memory is limited like work. */
enum { STATE_WORK = 8 };
/* Nested loops, with the loops of a routine that is called inside. */
enum { FRAMES = 2 * SCHED_REPEAT_DEPTH };

struct state {
    int64_t *least, *most;
    uint64_t *asked; /* set of sets, since `ends` */
    bool reached;
    bool selected, ended, done;
};

struct frame { /* of a loop that is open */
    struct prt_effect *sum;
    bool *touched;
    uint32_t *order; /* keys that are touched */
    uint32_t order_count;
    uint32_t repeat; /* the instruction */
};

struct levels {
    struct prt_code *code;
    const struct prt_container *c;
    struct prt_quantities q;
    struct state now;
    struct state *at; /* by label */
    uint32_t *label_of, *label_at, label_count;
    uint8_t *meetings;
    bool *queued;
    size_t asked_words;
    struct frame frames[FRAMES];
    uint32_t depth;
    bool *seen; /* scratch, by stage */
    bool *ran;  /* by stage: it is in the static part */
};

/* ---- states ---- */

static bool make_state(const struct levels *x, struct state *s)
{
    s->least = calloc((size_t)x->q.count * 2, sizeof *s->least);
    s->asked = calloc(x->asked_words + 1, sizeof *s->asked); /* equivalent: one too many or two */
    s->most = s->least != NULL ? s->least + x->q.count : NULL;
    return s->least != NULL && s->asked != NULL;
}

static void copy_state(const struct levels *x, struct state *to, const struct state *from)
{
    memcpy(to->least, from->least, (size_t)x->q.count * 2 * sizeof *to->least);
    memcpy(to->asked, from->asked, x->asked_words * sizeof *to->asked);
    to->reached = from->reached;
    to->selected = from->selected;
    to->ended = from->ended;
    to->done = from->done;
}

static bool is_port_in(const struct levels *x, uint32_t key)
{
    return key < x->q.first_out && prt_quantities_buffer(&x->q, key)->writer_node == CONTAINER_NONE;
}

static bool is_port_out(const struct levels *x, uint32_t key)
{
    return key >= x->q.first_out && key < x->q.first_phase;
}

static void begin_state(struct levels *x)
{
    struct state *s = &x->now;
    for (uint32_t key = 0; key < x->q.count; key++) {
        s->least[key] = s->most[key] = 0;
        enum prt_quantity_kind kind = prt_quantity_kind(&x->q, key);
        if (kind == PRT_RUNNING) s->least[key] = s->most[key] = 1;
        if (kind != PRT_LEVEL) continue;
        uint64_t initial = prt_quantities_buffer(&x->q, key)->initial_packets;
        s->most[key] = initial < (uint64_t)x->q.most[key] ? (int64_t)initial : x->q.most[key];
        if (!is_port_out(x, key)) s->least[key] = s->most[key];
        if (is_port_in(x, key)) s->most[key] = x->q.most[key];
    }
    s->reached = true;
}

/* Joins one interval; does it change? */
static bool join_interval(const struct levels *x, struct state *to, uint32_t key, bool widen)
{
    const struct state *from = &x->now;
    bool differs = from->least[key] < to->least[key] || from->most[key] > to->most[key];
    if (!differs) return false;
    if (from->least[key] < to->least[key]) to->least[key] = widen ? 0 : from->least[key];
    if (from->most[key] > to->most[key]) to->most[key] = widen ? x->q.most[key] : from->most[key];
    return true;
}

static bool join_flag(bool *to, bool from)
{
    bool changes = *to && !from;
    *to = *to && from;
    return changes;
}

static bool join_flow(const struct levels *x, struct state *to)
{
    bool changed = join_flag(&to->selected, x->now.selected);
    changed = join_flag(&to->ended, x->now.ended) || changed;
    changed = join_flag(&to->done, x->now.done) || changed;
    for (size_t w = 0; w < x->asked_words; w++) {
        uint64_t both = to->asked[w] & x->now.asked[w];
        changed = changed || both != to->asked[w];
        to->asked[w] = both;
    }
    return changed;
}

/* The present state reaches an instruction that is a label. */
static enum prt_status meet_label(struct levels *x, uint32_t from, uint32_t target)
{
    uint32_t label = x->label_of[target];
    assert(label != NO_LABEL);
    struct state *to = &x->at[label];
    uint64_t steps = (uint64_t)x->q.count + x->asked_words;
    enum prt_status status = prt_code_work(x->code, from, to->reached ? steps : steps * STATE_WORK);
    if (status != PRT_OK) return status;
    if (!to->reached) {
        if (!make_state(x, to)) return prt_error_set(x->code->error, PRT_E_NOMEM, "out of memory");
        copy_state(x, to, &x->now);
        x->queued[label] = true;
        return PRT_OK;
    }
    bool changed = false, widen = x->meetings[label] >= MEETINGS_MAX;
    for (uint32_t key = 0; key < x->q.count; key++)
        changed = join_interval(x, to, key, widen) || changed;
    changed = join_flow(x, to) || changed;
    if (!changed) return PRT_OK;
    if (!widen) x->meetings[label]++;
    x->queued[label] = true;
    return PRT_OK;
}

/* A stage may have become ready: earlier answers no longer count. */
static void forget_questions(struct levels *x)
{
    memset(x->now.asked, 0, x->asked_words * sizeof *x->now.asked);
    x->now.ended = x->now.selected = x->now.done = false;
}

/* ---- running stages ---- */

static bool is_running(const struct levels *x, uint32_t stage)
{
    return x->now.least[x->q.first_running + stage] == 1;
}

static bool has_reader_in(const struct levels *x, const struct container_node *node)
{
    for (uint32_t o = 0; o < node->output_count; o++) {
        const struct container_buffer *b =
            &x->c->buffers[x->c->outputs[node->first_output + o].buffer];
        for (uint32_t r = 0; r < b->reader_count; r++) {
            if (x->seen[x->q.stage_of[x->c->readers[b->first_reader + r].node]]) return true;
        }
    }
    return false;
}

/* False if the stage could be the first of those in `seen` that `ends` has ended. */
static bool stage_outlives(const struct levels *x, uint32_t stage)
{
    const struct container_node *node = &x->c->nodes[x->c->stages[stage].node];
    if (is_running(x, stage)) return true;
    if (x->q.unfed[stage] || node->flags & CONTAINER_NODE_STOPS) return false;
    for (uint32_t i = 0; i < node->input_count; i++) {
        uint32_t writer = x->c->buffers[x->c->inputs[node->first_input + i].buffer].writer_node;
        if (writer == CONTAINER_NONE || !x->seen[x->q.stage_of[writer]]) return false;
    }
    return x->q.fed[stage] || (x->q.ordered && has_reader_in(x, node));
}

/* Finds the largest set of stages in which no stage can have been the first to end.  All of them are running. */
static enum prt_status infer_running(struct levels *x, uint32_t index)
{
    uint32_t stages = x->c->stage_count;
    uint64_t sweep = (uint64_t)stages + x->c->input_count + x->c->reader_count;
    memset(x->seen, 1, stages * sizeof *x->seen);
    for (bool changed = true; changed;) {
        enum prt_status status = prt_code_work(x->code, index, 2 * sweep);
        if (status != PRT_OK) return status;
        changed = false;
        /* equivalent: forward passes reach the same result, in more rounds */
        for (uint32_t k = 0; k < 2 * stages; k++) {
            uint32_t s = k < stages ? k : 2 * stages - 1 - k;
            if (!x->seen[s] || stage_outlives(x, s)) continue;
            x->seen[s] = false;
            changed = true;
        }
    }
    for (uint32_t s = 0; s < stages; s++)
        if (x->seen[s]) x->now.least[x->q.first_running + s] = 1;
    return PRT_OK;
}

static const char *stage_name_of(const struct levels *x, uint32_t stage)
{
    return prt_verify_text(x->c, x->c->nodes[x->c->stages[stage].node].name);
}

static enum prt_status verify_running(struct levels *x, uint32_t index, uint32_t stage)
{
    enum prt_status status = is_running(x, stage) ? PRT_OK : infer_running(x, index);
    if (status != PRT_OK) return status;
    RULE(x->code, index, is_running(x, stage), "run-ended",
         "'%s' may have ended: no guard since the last 'ends' says that it has not",
         stage_name_of(x, stage));
    return PRT_OK;
}

/* ---- effects on the present state ---- */

static enum prt_status verify_level(const struct levels *x, uint32_t index, uint32_t key,
                                    const struct prt_effect *effect)
{
    const char *name = prt_verify_text(x->c, prt_quantities_buffer(&x->q, key)->name);
    int64_t least = x->now.least[key], most = x->now.most[key];
    RULE(x->code, index, least >= effect->need, "underflow",
         "buffer '%s' is known to hold %" PRId64 " packets here, and %" PRId64 " are needed", name,
         least, effect->need);
    RULE(x->code, index, effect->top == PRT_NO_TOP || most + effect->top <= x->q.most[key],
         "overflow",
         "buffer '%s' may hold %" PRId64 " packets here, and %" PRId64 " more come: it is %" PRId64
         " deep",
         name, most, effect->top, x->q.most[key]);
    return PRT_OK;
}

static enum prt_status verify_effect(const struct levels *x, uint32_t index, uint32_t key,
                                     const struct prt_effect *effect)
{
    enum prt_quantity_kind kind = prt_quantity_kind(&x->q, key);
    if (kind == PRT_LEVEL) return verify_level(x, index, key, effect);
    if (kind == PRT_ALLOWANCE)
        RULE(x->code, index, x->now.least[key] >= effect->need, "allowance",
             "no buffer feeds '%s', and a 'goes_on' has allowed %" PRId64 " of %" PRId64 " firings",
             stage_name_of(x, key - x->q.first_allowance), x->now.least[key], effect->need);
    if (kind == PRT_LAUNCHES)
        RULE(x->code, index, x->now.most[key] + effect->top <= x->q.most[key], "launches",
             "more than %" PRId64 " launches since the last guard", x->q.most[key]);
    return PRT_OK;
}

/* On the present state, or within the innermost loop. */
static enum prt_status apply_effect(struct levels *x, uint32_t index, uint32_t key,
                                    const struct prt_effect *effect)
{
    enum prt_status status = prt_code_work(x->code, index, 1);
    if (status != PRT_OK) return status;
    if (x->depth > 0) {
        struct frame *frame = &x->frames[x->depth - 1];
        if (!frame->touched[key]) {
            frame->touched[key] = true;
            frame->order[frame->order_count++] = key;
            frame->sum[key] = *effect;
            return PRT_OK;
        }
        RULE(x->code, index, prt_effect_append(&frame->sum[key], effect), "numbers",
             "passes more packets than can be counted");
        return PRT_OK;
    }
    status = verify_effect(x, index, key, effect);
    if (status != PRT_OK) return status;
    x->now.least[key] = is_port_out(x, key) ? 0 : x->now.least[key] + effect->net;
    x->now.most[key] = is_port_in(x, key) ? x->q.most[key] : x->now.most[key] + effect->net;
    return PRT_OK;
}

/* ---- runs ---- */

/* Notes with which phase the innermost loop finds the node. */
static void note_phase(struct levels *x, uint32_t key, int64_t phase)
{
    if (x->depth == 0) return;
    struct frame *frame = &x->frames[x->depth - 1];
    if (frame->touched[key]) return;
    frame->touched[key] = true;
    frame->order[frame->order_count++] = key;
    frame->sum[key] = (struct prt_effect){0, phase, PRT_NO_TOP};
}

struct batch {
    uint32_t index; /* the instruction */
    const struct container_node *node;
    uint32_t node_index, stage;
    uint64_t phase, firings;
};

static enum prt_status apply_input(struct levels *x, const struct batch *b, uint32_t input)
{
    const struct container_input *end = &x->c->inputs[input];
    const struct container_buffer *buffer = &x->c->buffers[end->buffer];
    struct prt_effect effect, own = {0, 0, PRT_NO_TOP};
    bool counted = prt_effect_of_input(x->c, b->node, end, b->phase, b->firings, &effect);
    if (counted && buffer->writer_node == b->node_index) /* room is claimed before any is freed */
        counted = prt_effect_of_output(x->c, b->node, &x->c->outputs[buffer->writer_output],
                                       b->phase, b->firings, &own);
    RULE(x->code, b->index, counted, "numbers", "passes more packets than can be counted");
    effect.net += own.net;
    effect.top = own.top;
    return apply_effect(x, b->index, end->reader, &effect);
}

static enum prt_status apply_output(struct levels *x, const struct batch *b, uint32_t output)
{
    const struct container_output *end = &x->c->outputs[output];
    struct prt_keys keys = prt_quantities_levels(&x->q, end->buffer);
    struct prt_effect effect;
    enum prt_status status = PRT_OK;
    RULE(x->code, b->index, prt_effect_of_output(x->c, b->node, end, b->phase, b->firings, &effect),
         "numbers", "passes more packets than can be counted");
    for (uint32_t k = keys.first; k < keys.first + keys.count && status == PRT_OK; k++) {
        if (k < x->q.first_out && x->c->readers[k].node == b->node_index) continue;
        status = apply_effect(x, b->index, k, &effect);
    }
    return status;
}

static enum prt_status apply_ends(struct levels *x, const struct batch *b)
{
    enum prt_status status = PRT_OK;
    uint64_t steps = b->node->phases > 1 ? (uint64_t)b->node->phases *
                                               (b->node->input_count + b->node->output_count)
                                         : 0;
    if (steps > 0) status = prt_code_work(x->code, b->index, steps);
    for (uint32_t i = 0; i < b->node->input_count && status == PRT_OK; i++)
        status = apply_input(x, b, b->node->first_input + i);
    for (uint32_t o = 0; o < b->node->output_count && status == PRT_OK; o++)
        status = apply_output(x, b, b->node->first_output + o);
    return status;
}

static enum prt_status interpret_run(struct levels *x, uint32_t index, uint32_t stage,
                                     uint32_t firings)
{
    uint32_t node = x->c->stages[stage].node, key = x->q.first_phase + node;
    struct batch b = {index, &x->c->nodes[node], node, stage, (uint64_t)x->now.least[key], firings};
    enum prt_status status = verify_running(x, index, stage);
    if (status != PRT_OK) return status;
    RULE(x->code, index, x->now.least[key] == x->now.most[key], "phase",
         "'%s' has rates with phases, and it is not known here which comes next",
         stage_name_of(x, stage));
    if (b.node->phases > 1) note_phase(x, key, x->now.least[key]);
    status = apply_ends(x, &b);
    const struct prt_effect takes = {-(int64_t)firings, firings, PRT_NO_TOP}, launch = {1, 0, 1};
    if (status == PRT_OK && x->q.allowed[stage])
        status = apply_effect(x, index, x->q.first_allowance + stage, &takes);
    if (status == PRT_OK) status = apply_effect(x, index, x->q.launches, &launch);
    if (status != PRT_OK) return status;
    x->now.least[key] = x->now.most[key] = (int64_t)((b.phase + firings) % b.node->phases);
    x->ran[stage] = true;
    return PRT_OK;
}

/* ---- loops with counts ---- */

static enum prt_status enter_loop(struct levels *x, uint32_t index)
{
    struct frame *frame = &x->frames[x->depth];
    if (frame->sum == NULL) {
        enum prt_status status = prt_code_work(x->code, index, (uint64_t)x->q.count * STATE_WORK);
        if (status != PRT_OK) return status;
        frame->sum = calloc(x->q.count, sizeof *frame->sum);
        frame->touched = calloc(x->q.count, sizeof *frame->touched);
        frame->order = calloc(x->q.count, sizeof *frame->order);
    }
    if (frame->sum == NULL || frame->touched == NULL || frame->order == NULL)
        return prt_error_set(x->code->error, PRT_E_NOMEM, "out of memory");
    frame->order_count = 0;
    frame->repeat = index;
    x->depth++;
    return PRT_OK;
}

/* The loop as one effect on the code around it. */
static enum prt_status close_one(struct levels *x, const struct frame *frame, uint32_t key,
                                 uint32_t count)
{
    struct prt_effect effect = frame->sum[key];
    if (prt_quantity_kind(&x->q, key) == PRT_PHASE) {
        RULE(x->code, frame->repeat, count == 1 || x->now.least[key] == effect.need, "repeat-phase",
             "the loop does not leave '%s' in the phase in which it finds it",
             prt_verify_text(x->c, x->c->nodes[key - x->q.first_phase].name));
        note_phase(x, key, effect.need);
        return PRT_OK;
    }
    RULE(x->code, frame->repeat, prt_effect_repeat(&effect, count), "numbers",
         "passes more packets than can be counted");
    return apply_effect(x, frame->repeat, key, &effect);
}

static enum prt_status leave_loop(struct levels *x)
{
    struct frame *frame = &x->frames[--x->depth];
    struct sched_instruction repeat = prt_code_at(x->code, frame->repeat);
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < frame->order_count; i++) {
        frame->touched[frame->order[i]] = false;
        if (status == PRT_OK) status = close_one(x, frame, frame->order[i], repeat.operands[0]);
    }
    return status;
}

/* ---- one instruction that has no label ---- */

static enum prt_status execute_static(struct levels *x, uint32_t index,
                                      const struct sched_instruction *instruction)
{
    switch (instruction->opcode) {
    case SCHED_RUN:
        return interpret_run(x, index, instruction->operands[0], instruction->operands[1]);
    case SCHED_REPEAT: return enter_loop(x, index);
    case SCHED_AGAIN: return leave_loop(x);
    default: return PRT_OK; /* fence, return */
    }
}

static enum prt_status interpret_call(struct levels *x, uint32_t index,
                                      const struct sched_instruction *instruction)
{
    for (uint32_t i = prt_code_target(x->code, instruction);; i++) {
        struct sched_instruction inner = prt_code_at(x->code, i);
        enum prt_status status = prt_code_work(x->code, index, 1);
        if (inner.opcode == SCHED_RETURN) return status;
        if (status == PRT_OK) status = execute_static(x, i, &inner);
        if (status != PRT_OK) return status;
    }
}

static void set_levels_unknown(struct levels *x, const struct container_node *node)
{
    for (uint32_t i = 0; i < node->input_count; i++)
        x->now.least[x->c->inputs[node->first_input + i].reader] = 0;
    for (uint32_t o = 0; o < node->output_count; o++) {
        struct prt_keys keys =
            prt_quantities_levels(&x->q, x->c->outputs[node->first_output + o].buffer);
        for (uint32_t k = keys.first; k < keys.first + keys.count; k++)
            x->now.most[k] = x->q.most[k];
    }
}

/* A `goes_on` for a stage without inputs may find that the run has been interrupted; then the stage
 * does not go on. */
static void doubt_stage(struct levels *x, uint32_t stage)
{
    if (!x->q.unfed[stage]) return;
    x->now.least[x->q.first_allowance + stage] = 0;
    x->now.least[x->q.first_running + stage] = 0;
}

static enum prt_status doubt_set(struct levels *x, uint32_t index, const struct prt_stage_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        doubt_stage(x, set->stages[i]);
    return prt_code_work(x->code, index, set->count);
}

/* The packets that the set consumes, and the room that it fills, are unknown from now on. */
static enum prt_status forget_set(struct levels *x, uint32_t index, const struct prt_stage_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t node_index = x->c->stages[set->stages[i]].node;
        uint32_t phase = x->q.first_phase + node_index;
        const struct container_node *node = &x->c->nodes[node_index];
        uint64_t steps = 1 + (uint64_t)node->input_count;
        for (uint32_t o = 0; o < node->output_count; o++)
            steps +=
                prt_quantities_levels(&x->q, x->c->outputs[node->first_output + o].buffer).count;
        enum prt_status status = prt_code_work(x->code, index, steps);
        if (status != PRT_OK) return status;
        set_levels_unknown(x, node);
        x->now.least[phase] = 0;
        x->now.most[phase] = x->q.most[phase];
    }
    return PRT_OK;
}

/* Ends the stages that it may end, and passes their last packets to their readers. */
static enum prt_status end_stages(struct levels *x, uint32_t index)
{
    enum prt_status status =
        prt_code_work(x->code, index, (uint64_t)x->c->stage_count + x->c->reader_count);
    if (status != PRT_OK) return status;
    x->now.selected = x->now.done = false;
    x->now.ended = true; /* if it ends a stage, the next wait jumps */
    for (uint32_t s = 0; s < x->c->stage_count; s++) {
        const struct container_node *node = &x->c->nodes[x->c->stages[s].node];
        x->now.least[x->q.first_running + s] = 0;
        for (uint32_t o = 0; o < node->output_count && node->flags & CONTAINER_NODE_FINISH; o++) {
            struct prt_keys keys =
                prt_quantities_levels(&x->q, x->c->outputs[node->first_output + o].buffer);
            for (uint32_t k = keys.first; k < keys.first + keys.count; k++)
                x->now.most[k] = x->q.most[k];
        }
    }
    return PRT_OK;
}

/* ---- guards ---- */

static bool can_hold(const struct levels *x, const struct sched_instruction *guard,
                     struct prt_keys *keys)
{
    const struct container_node *node = &x->c->nodes[x->c->stages[guard->operands[0]].node];
    if (guard->opcode == SCHED_GOES_ON) {
        *keys = (struct prt_keys){x->q.first_allowance + guard->operands[0], 1};
        return true;
    }
    if (guard->opcode == SCHED_HAS_PACKETS) {
        *keys = (struct prt_keys){x->c->inputs[node->first_input + guard->operands[1]].reader, 1};
        return x->now.most[keys->first] >= guard->operands[2];
    }
    *keys =
        prt_quantities_levels(&x->q, x->c->outputs[node->first_output + guard->operands[1]].buffer);
    for (uint32_t k = keys->first; k < keys->first + keys->count; k++) {
        if (x->now.least[k] > x->q.most[k] - guard->operands[2]) return false;
    }
    return true;
}

/* Sets *holds if execution continues after the guard. */
static enum prt_status execute_guard(struct levels *x, uint32_t index,
                                     const struct sched_instruction *guard, bool *holds)
{
    struct prt_keys keys;
    forget_questions(x);
    x->now.least[x->q.launches] = x->now.most[x->q.launches] = 0;
    *holds = can_hold(x, guard, &keys);
    if (guard->opcode == SCHED_GOES_ON) doubt_stage(x, guard->operands[0]);
    enum prt_status status = meet_label(x, index, prt_code_target(x->code, guard));
    if (status == PRT_OK) status = prt_code_work(x->code, index, keys.count);
    if (status != PRT_OK || !*holds) return status;
    x->code->flags[index] |= PRT_CODE_PASSED;
    /* Applies the facts that hold after the guard. */
    int64_t asked = guard->operands[guard->opcode == SCHED_GOES_ON ? 1 : 2];
    for (uint32_t k = keys.first; k < keys.first + keys.count; k++) {
        if (guard->opcode == SCHED_HAS_ROOM) {
            if (x->now.most[k] > x->q.most[k] - asked) x->now.most[k] = x->q.most[k] - asked;
        } else if (x->now.least[k] < asked) {
            x->now.least[k] = asked;
            if (x->now.most[k] < asked) x->now.most[k] = asked;
        }
    }
    x->now.least[x->q.first_running + guard->operands[0]] = 1;
    return PRT_OK;
}

/* Returns false if the buffer can never hold that many packets: they exceed its depth, or only a
 * finish writes it and appends too few. */
static bool is_within_reach(const struct prt_container *c, const struct container_buffer *buffer,
                            uint32_t packets)
{
    if (packets > buffer->depth_packets) return false;
    if (buffer->writer_node == CONTAINER_NONE) return true;
    const struct container_output *output = &c->outputs[buffer->writer_output];
    /* equivalent: a node without finish writes to an inner buffer (verify_rates.c) */
    uint64_t last =
        c->nodes[buffer->writer_node].flags & CONTAINER_NODE_FINISH ? output->finish_max : 0;
    return output->push > 0 || packets <= (prt_int128)buffer->initial_packets + last;
}

static enum prt_status verify_guard(const struct levels *x, uint32_t index,
                                    const struct sched_instruction *guard)
{
    uint32_t stage = guard->operands[0];
    const struct container_node *node = &x->c->nodes[x->c->stages[stage].node];
    if (guard->opcode == SCHED_GOES_ON) {
        RULE(x->code, index, !x->q.fed[stage], "goes-on",
             "an in-port feeds '%s': test its packets with 'has_packets'", stage_name_of(x, stage));
        return PRT_OK;
    }
    bool packets = guard->opcode == SCHED_HAS_PACKETS;
    uint32_t index_of_buffer = packets
                                   ? x->c->inputs[node->first_input + guard->operands[1]].buffer
                                   : x->c->outputs[node->first_output + guard->operands[1]].buffer;
    const struct container_buffer *buffer = &x->c->buffers[index_of_buffer];
    RULE(x->code, index,
         packets ? is_within_reach(x->c, buffer, guard->operands[2])
                 : guard->operands[2] <= buffer->depth_packets,
         "guard-depth",
         "this can never hold: buffer '%s' is %" PRIu64
         " packets deep, and nothing fills it further",
         prt_verify_text(x->c, buffer->name), buffer->depth_packets);
    return PRT_OK;
}

static enum prt_status verify_guards(const struct levels *x)
{
    for (uint32_t i = 0; i < x->code->count; i++) {
        struct sched_instruction instruction = prt_code_at(x->code, i);
        if (!prt_code_is_guard(instruction.opcode)) continue;
        enum prt_status status = verify_guard(x, i, &instruction);
        if (status != PRT_OK) return status;
    }
    return PRT_OK;
}

/* After the last state: guards that are reached and that no state has passed. */
static enum prt_status verify_passed(const struct levels *x)
{
    for (uint32_t i = 0; i < x->code->count; i++) {
        struct sched_instruction instruction = prt_code_at(x->code, i);
        if (!prt_code_is_guard(instruction.opcode)) continue;
        RULE(x->code, i,
             !(x->code->flags[i] & PRT_CODE_REACHED) || x->code->flags[i] & PRT_CODE_PASSED,
             "guard-never",
             "this can never hold: the runs before it leave too few packets, or no room");
        x->code->proof->guards++;
    }
    return PRT_OK;
}

/* ---- selections and the end ---- */

static enum prt_status execute_selection(struct levels *x, uint32_t index,
                                         const struct sched_instruction *selection)
{
    uint32_t set = selection->operands[0];
    x->now.selected = false;
    x->now.asked[set / 64] |= UINT64_C(1) << set % 64;
    enum prt_status status = doubt_set(x, index, &x->c->sets[set]);
    if (status == PRT_OK) status = meet_label(x, index, prt_code_target(x->code, selection));
    forget_questions(x);
    x->now.selected = true;
    return status == PRT_OK ? forget_set(x, index, &x->c->sets[set]) : status;
}

/* Has each stage been asked for since `ends`, and been found not ready? */
static enum prt_status ask_all(struct levels *x, uint32_t index, bool *all)
{
    memset(x->seen, 0, x->c->stage_count * sizeof *x->seen);
    *all = x->now.ended;
    for (uint32_t t = 0; t < x->c->set_count; t++) {
        if (!(x->now.asked[t / 64] >> t % 64 & 1)) continue;
        enum prt_status status = prt_code_work(x->code, index, x->c->sets[t].count);
        if (status != PRT_OK) return status;
        for (uint32_t i = 0; i < x->c->sets[t].count; i++)
            x->seen[x->c->sets[t].stages[i]] = true;
    }
    for (uint32_t s = 0; s < x->c->stage_count; s++)
        *all = *all && x->seen[s];
    return prt_code_work(x->code, index, x->c->stage_count);
}

/* It may fall through, even right after a launch: on some devices a launch has completed by then. */
static enum prt_status replay_wait(struct levels *x, uint32_t index,
                                   const struct sched_instruction *wait)
{
    bool all;
    enum prt_status status = ask_all(x, index, &all);
    forget_questions(x);
    x->now.least[x->q.launches] = x->now.most[x->q.launches] = 0;
    if (status == PRT_OK) status = meet_label(x, index, prt_code_target(x->code, wait));
    x->now.done = all;
    return status;
}

/* *goes_on: at the next instruction. */
static enum prt_status interpret_instruction(struct levels *x, uint32_t index, bool *goes_on)
{
    struct sched_instruction i = prt_code_at(x->code, index);
    enum prt_status status = prt_code_work(x->code, index, 1);
    *goes_on = true;
    if (status != PRT_OK) return status;
    if (prt_code_is_guard(i.opcode)) return execute_guard(x, index, &i, goes_on);
    if (prt_code_is_selection(i.opcode)) return execute_selection(x, index, &i);
    switch (i.opcode) {
    case SCHED_JUMP: *goes_on = false; return meet_label(x, index, prt_code_target(x->code, &i));
    case SCHED_ENDS: return end_stages(x, index);
    case SCHED_WAIT: return replay_wait(x, index, &i);
    case SCHED_DISPATCH:
        RULE(x->code, index, x->now.selected, "dispatch",
             "on some path to it no stage has been selected");
        forget_questions(x);
        return PRT_OK;
    case SCHED_HALT:
        *goes_on = false;
        RULE(x->code, index, x->now.done, "halt",
             "on some path to it, the selections between 'ends' and the last 'wait' do not "
             "show that no stage is ready");
        return PRT_OK;
    default: break;
    }
    forget_questions(x);
    if (i.opcode == SCHED_CALL) return interpret_call(x, index, &i);
    return execute_static(x, index, &i);
}

/* ---- the fixed point ---- */

static enum prt_status interpret_from(struct levels *x, uint32_t label)
{
    assert(label < x->code->count); /* each label is one instruction */
    // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): asserted above
    uint32_t index = x->label_at[label];
    enum prt_status status = prt_code_work(x->code, index, x->q.count);
    bool goes_on = true;
    copy_state(x, &x->now, &x->at[label]);
    for (bool first = true; status == PRT_OK && goes_on; first = false, index++) {
        assert(index < x->code->count); /* no path leaves the program (verify_flow.c) */
        // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): asserted above
        if (!first && x->label_of[index] != NO_LABEL) return meet_label(x, index - 1, index);
        status = interpret_instruction(x, index, &goes_on);
    }
    return status;
}

static enum prt_status interpret_all(struct levels *x)
{
    uint32_t first = x->code->prologue_count;
    begin_state(x);
    enum prt_status status = meet_label(x, first, first);
    for (bool changed = true; changed && status == PRT_OK;) {
        changed = false;
        status = prt_code_work(x->code, first, x->label_count);
        for (uint32_t l = 0; l < x->label_count && status == PRT_OK; l++) {
            if (!x->queued[l]) continue;
            x->queued[l] = false;
            changed = true;
            status = interpret_from(x, l);
        }
    }
    return status;
}

/* There are stages, and instructions after the prologue (verify_flow.c), so no array is empty. */
static bool create_levels(struct levels *x)
{
    uint32_t count = x->code->count;
    x->label_of = calloc(count, sizeof *x->label_of);
    x->label_at = calloc(count, sizeof *x->label_at);
    x->seen = calloc((size_t)x->c->stage_count * 2, sizeof *x->seen);
    if (x->label_of == NULL || x->label_at == NULL || x->seen == NULL) return false;
    x->ran = x->seen + x->c->stage_count;
    for (uint32_t i = 0; i < count; i++) {
        bool is_label = x->code->flags[i] & PRT_CODE_LABEL || i == x->code->prologue_count;
        x->label_of[i] = is_label ? x->label_count : NO_LABEL;
        if (is_label) x->label_at[x->label_count++] = i;
    }
    x->at = calloc(x->label_count, sizeof *x->at);
    x->meetings = calloc(x->label_count, sizeof *x->meetings);
    x->queued = calloc(x->label_count, sizeof *x->queued);
    /* equivalent: what has been made is freed whichever is missing */
    return x->at != NULL && x->meetings != NULL && x->queued != NULL && make_state(x, &x->now);
}

static void free_levels(struct levels *x)
{
    for (uint32_t l = 0; x->at != NULL && l < x->label_count; l++) {
        free(x->at[l].least);
        free(x->at[l].asked);
    }
    for (uint32_t d = 0; d < FRAMES; d++) {
        free(x->frames[d].sum);
        free(x->frames[d].touched);
        free(x->frames[d].order);
    }
    free(x->now.least);
    free(x->now.asked);
    free(x->at);
    free(x->label_of);
    free(x->label_at);
    free(x->meetings);
    free(x->queued);
    free(x->seen);
    prt_quantities_free(&x->q);
}

static void count_proof(const struct levels *x)
{
    struct prt_proof *proof = x->code->proof;
    proof->instructions = x->code->count;
    proof->stages = x->c->stage_count;
    for (uint32_t s = 0; s < x->c->stage_count; s++)
        proof->static_stages += x->ran[s];
    for (uint32_t i = x->code->prologue_count; i < x->code->count; i++)
        proof->runs += prt_code_at(x->code, i).opcode == SCHED_RUN;
}

enum prt_status prt_verify_levels(struct prt_code *code)
{
    struct levels x = {.code = code, .c = code->container};
    x.asked_words = ((size_t)x.c->set_count + 63) / 64;
    enum prt_status status = prt_quantities_build(x.c, &x.q, code->error);
    if (status == PRT_OK && !create_levels(&x))
        status = prt_error_set(code->error, PRT_E_NOMEM, "out of memory");
    if (status == PRT_OK) status = verify_guards(&x);
    if (status == PRT_OK) status = interpret_all(&x);
    if (status == PRT_OK) status = verify_passed(&x);
    if (status == PRT_OK) count_proof(&x);
    free_levels(&x);
    return status;
}
