/* SPDX-License-Identifier: MIT */
/*
 * Calls: what a function gives for the values of its arguments, by walking its body with them.
 */
#include <string.h>

#include "compiler/bodies/ranges_internal.h"

static void record_call(struct walker *w, const struct kx *e, const struct interval *arguments)
{
    const struct function *f = e->function;
    struct walk_call *call = &w->calls[f->id];
    if (call->arguments == NULL)
        call->arguments = ARENA_ARRAY(w->cx->arena, struct interval, f->param_count + 1);
    for (uint32_t i = 0; i < f->param_count; i++) {
        struct interval given = i < e->argument_count ? arguments[i] : INTERVAL_ALL;
        call->arguments[i] = call->called ? interval_join(call->arguments[i], given) : given;
    }
    call->called = true;
}

static struct interval walk_function(struct walker *outer, const struct function *f,
                                     const struct interval *arguments)
{
    struct arena *scratch = arena_create();
    struct interval returned = {1, 0};
    struct walker w = {
        .cx = outer->cx,
        .scratch = scratch,
        .section = WALK_FUNCTION,
        .local_count = f->local_count,
        .kept_local = WALK_NO_SLOT,
        .rounds_left = outer->rounds_left,
        .settling_left = outer->settling_left,
        .last_round_step = outer->last_round_step,
        .calls_left = outer->calls_left,
        .call_depth = outer->call_depth + 1,
        .fixed_points = outer->fixed_points,
        .function_costs = outer->function_costs,
        .costs = outer->costs,
        .returned = &returned,
    };
    walk_find_thresholds(&w, f->body);
    struct walk_state *s = walk_unreachable_state(&w);
    s->reachable = true;
    for (uint32_t i = 0; i < w.local_count; i++)
        s->locals[i] = INTERVAL_ALL;
    for (uint32_t i = 0; i < f->param_count; i++)
        if (walk_slot(&w, f->params[i]) != WALK_NO_SLOT)
            s->locals[f->params[i]->index] = arguments[i];
    w.returns = walk_unreachable_state(&w);
    w.stops = walk_unreachable_state(&w);
    w.flow = (struct walk_flow){walk_unreachable_state(&w), walk_unreachable_state(&w)};
    walk_statements(&w, s, f->body);
    outer->rounds_left = w.rounds_left;
    outer->settling_left = w.settling_left;
    outer->calls_left = w.calls_left;
    arena_destroy(scratch);
    return returned;
}

struct interval walk_call_value(struct walker *w, struct walk_state *s, struct kx *e,
                                const struct interval *arguments)
{
    const struct function *f = e->function;
    struct interval all = interval_of_type(e->type);
    const struct type *base = type_base(f->result);
    if (w->mark && w->calls != NULL && s->reachable) record_call(w, e, arguments);
    bool known = f->result->kind != TYPE_VOID && (type_is_integer(base) || type_is_bool(base));
    if (!known || f->body == NULL || e->argument_count != f->param_count) return all;
    if (w->calls_left == 0 || w->call_depth >= WALK_CALL_DEPTH) return all;
    w->calls_left--;
    struct interval value = walk_function(w, f, arguments);
    return value.low <= value.high ? interval_meet(value, all) : all;
}
