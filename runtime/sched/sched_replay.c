/* SPDX-License-Identifier: MIT */
#include "runtime/sched/sched_replay.h"

#include "runtime/sched/explain.h"
#include "core/ready.h"
#include "core/select.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

struct frame { /* a rule that is being played */
    const uint64_t *items, *end;
    uint64_t left; /* repetitions of the item that `items` points at; 0: not begun */
};

struct replay {
    struct prt_sched *sched;
    const uint64_t **rules; /* each begins with its length */
    uint64_t rule_count;
    struct frame *frames;
    uint64_t depth, played;
    bool *among; /* by stage: it is in the cycle of the stall */
};

static bool prepare_rules(struct replay *r)
{
    const struct prt_container *c = r->sched->container;
    const uint64_t *at = c->certificate + 2;
    r->rule_count = *at++;
    r->rules = calloc(r->rule_count, sizeof *r->rules);
    r->frames = calloc(r->rule_count, sizeof *r->frames);
    r->among = calloc((size_t)c->stage_count + 1, sizeof *r->among);
    if (r->rules == NULL || r->frames == NULL || r->among == NULL) return false;
    for (uint64_t i = 0; i < r->rule_count; i++) {
        r->rules[i] = at;
        at += 1 + 2 * *at;
    }
    const uint64_t *cycle = r->rules[r->rule_count - 2];
    for (uint64_t i = 0; i < *cycle; i++)
        r->among[r->sched->node_stage[cycle[1 + 2 * i]]] = true;
    return true;
}

static void enter_rule(struct replay *r, uint64_t rule)
{
    assert(r->depth < r->rule_count);
    const uint64_t *items = r->rules[rule] + 1;
    r->frames[r->depth++] = (struct frame){items, items + 2 * r->rules[rule][0], 0};
}

/* The next node that fires; false: the sequence has ended.  A rule contains only earlier rules, so there are never more
 * frames than rules. */
static bool next_node(struct replay *r, uint32_t *node)
{
    uint64_t nodes = r->sched->container->node_count;
    while (r->depth > 0) {
        struct frame *frame = &r->frames[r->depth - 1];
        if (frame->items == frame->end) {
            r->depth--;
            continue;
        }
        uint64_t symbol = frame->items[0];
        if (frame->left == 0) frame->left = frame->items[1];
        if (--frame->left == 0) frame->items += 2;
        if (symbol < nodes) {
            *node = (uint32_t)symbol;
            return true;
        }
        enter_rule(r, symbol - nodes);
    }
    return false;
}

static enum prt_status fire_stage(struct replay *r, uint32_t stage, struct prt_error *error)
{
    struct prt_sched *s = r->sched;
    bool ready;
    enum prt_status status = prt_sched_fire(s, stage, &ready, error);
    if (status != PRT_OK) return status;
    if (core_is_interrupted(s->core))
        return prt_error_set(error, PRT_E_INTERRUPTED, "%s", prt_status_text(PRT_E_INTERRUPTED));
    r->played++;
    if (ready) return PRT_OK;
    return prt_error_set(
        error, PRT_E_VERIFY,
        "the sequence cannot be replayed: as firing %" PRIu64
        ", '%s' finds too few packets or too little room",
        r->played, prt_container_text(s->container, prt_stage_node(s, &s->stages[stage])->name));
}

static enum prt_status check_stall(struct replay *r, struct prt_error *error)
{
    struct prt_sched *s = r->sched;
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < s->container->stage_count; i++) {
        if (!r->among[i]) continue;
        struct core_stage *stage = &s->stages[i];
        if (first == UINT32_MAX) first = i;
        if (core_ready_outputs(s->core, stage) > 0 && core_ready_inputs(s->core, stage) > 0)
            return prt_error_set(error, PRT_E_VERIFY,
                                 "the sequence does not end in a stall: '%s' can still fire",
                                 prt_container_text(s->container, prt_stage_node(s, stage)->name));
    }
    s->among = r->among;
    enum prt_status status = prt_explain_stall(s, first, error);
    s->among = NULL;
    return status;
}

static enum prt_status play_sequence(struct replay *r, prt_replay_show show, void *context,
                                     struct prt_error *error)
{
    uint32_t node;
    enter_rule(r, r->rule_count - 1);
    while (next_node(r, &node)) {
        uint32_t stage = r->sched->node_stage[node];
        enum prt_status status = fire_stage(r, stage, error);
        if (status != PRT_OK) return status;
        show(context, stage);
    }
    return check_stall(r, error);
}

enum prt_status prt_replay(struct prt_sched *sched, prt_replay_show show, void *context,
                           struct prt_error *error)
{
    struct replay r = {.sched = sched};
    sched->core->ends_at_once = true;
    enum prt_status status = prepare_rules(&r) ? play_sequence(&r, show, context, error)
                                               : prt_error_set(error, PRT_E_NOMEM, "out of memory");
    free(r.rules);
    free(r.frames);
    free(r.among);
    return status;
}
