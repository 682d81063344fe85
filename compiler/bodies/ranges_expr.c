/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/cost.h"
#include "compiler/bodies/ranges_internal.h"

static struct interval binary_range(enum kx_op op, struct interval a, struct interval b,
                                    const struct type *type)
{
    if (!type_is_integer(type_base(type))) return interval_of_type(type);
    return interval_wrapped(interval_binary(op, a, b, type), type);
}

/* Keeps whether the operation `e` may leave its type at some visit. */
static void mark_wrap(const struct walker *w, const struct walk_state *s, struct kx *e,
                      struct interval a, struct interval b)
{
    if (!w->mark || !s->reachable || !type_is_integer(e->type)) return;
    struct interval exact = interval_binary(e->op, a, b, e->type);
    e->may_wrap |= !interval_contains(interval_of_type(e->type), exact);
}

/* Whatever its range is: `x | 1`, also where it becomes a wider integer. */
static bool has_a_bit(const struct kx *e)
{
    while (e->kind == KX_CONVERT && type_is_integer(e->left->type) &&
           e->left->type->width_bytes <= e->type->width_bytes)
        e = e->left;
    if (e->kind == KX_CONSTANT) return e->value.bits != 0;
    return e->kind == KX_BINARY && e->op == OP_OR && (has_a_bit(e->left) || has_a_bit(e->right));
}

/* Keeps whether the divisor of `e`, an operation of integers of that type, may be 0 at some visit. */
static void mark_divisor(const struct walker *w, const struct walk_state *s, struct kx *e,
                         const struct type *type, struct interval divisor)
{
    if ((e->op != OP_DIV && e->op != OP_REM) || !type_is_integer(type)) return;
    if (!w->mark || !s->reachable) return;
    if (e->visited == 0) e->check = ACCESS_PROVEN;
    e->visited = 1;
    if (divisor.low <= 0 && divisor.high >= 0 && !has_a_bit(e->right)) e->check = ACCESS_CHECKED;
}

/* Keeps whether the count of a shift may be one of the type's bits at some visit. */
static void mark_count(const struct walker *w, const struct walk_state *s, struct kx *e,
                       const struct type *type, struct interval count)
{
    if ((e->op != OP_SHL && e->op != OP_SHR) || !type_is_integer(type)) return;
    if (!w->mark || !s->reachable) return;
    e->visited = 1;
    e->count_inside |= count.high >= 0 && count.low < 8 * (wide)type->width_bytes;
}

/* ---- expressions ---- */

/* In *step, the amount that `v op= by` adds to v.  False: the result may leave its type. */
static bool is_exact_step(const struct kx *e, struct interval old, struct interval by,
                          struct interval *step)
{
    if ((e->op != OP_ADD && e->op != OP_SUB) || !type_is_integer(e->left->type)) return false;
    if (!interval_contains(interval_of_type(e->operation), by)) return false;
    struct interval exact = interval_binary(e->op, old, by, e->operation);
    *step = e->op == OP_ADD ? by : (struct interval){-by.high, -by.low};
    return interval_contains(interval_of_type(e->operation), exact) &&
           interval_contains(interval_of_type(e->left->type), exact);
}

/* The same of `v = v + by` and `v = v - by`. */
static bool is_spelt_step(struct walker *w, const struct walk_state *s, const struct kx *e,
                          struct interval old, struct interval *step)
{
    const struct kx *right = e->right;
    if (e->op != OP_NONE) return false;
    while (right->kind == KX_CONVERT && type_is_integer(right->left->type))
        right = right->left;
    if (right->kind != KX_BINARY || (right->op != OP_ADD && right->op != OP_SUB)) return false;
    const struct variable *v = walk_plain_local(w, right->left);
    if (v == NULL || v != e->left->variable) return false;
    struct interval by = walk_peek_value(w, s, right->right);
    struct interval exact = interval_binary(right->op, old, by, right->type);
    *step = right->op == OP_ADD ? by : (struct interval){-by.high, -by.low};
    for (const struct kx *c = e->right; c != right; c = c->left)
        if (!interval_contains(interval_of_type(c->type), exact)) return false;
    return interval_contains(interval_of_type(right->type), exact);
}

/* Ties and the interval of a variable that changes by a known step. */
static bool assign_step(struct walker *w, struct walk_state *s, const struct kx *e,
                        struct interval old, struct interval by, struct interval value)
{
    if (w->tie_count == 0 || e->left->kind != KX_VARIABLE) return false;
    uint32_t slot = walk_slot(w, e->left->variable);
    struct interval step;
    if (slot == WALK_NO_SLOT || !type_is_integer(e->left->type)) return false;
    if (kx_assigns(e->right, NULL)) return false; /* perhaps the variable itself */
    if (!is_exact_step(e, old, by, &step) && !is_spelt_step(w, s, e, old, &step)) return false;
    walk_fact_kill(s, e->left->variable);
    walk_sum_assigned(w, s, e->left->variable, 0);
    walk_tie_add(w, s, slot, step);
    s->locals[slot] = value;
    return true;
}

static struct interval assigned_range(struct walker *w, struct walk_state *s, struct kx *e)
{
    bool plain = e->op == OP_NONE && e->left->kind == KX_VARIABLE;
    uint32_t number = plain ? walk_number(w, s, e->right) : 0;
    struct interval old = walk_eval(w, s, e->left);
    s->cost -= cost_not_loaded(w->costs, e);
    struct interval by = walk_eval(w, s, e->right), value = by;
    if (e->op != OP_NONE) {
        mark_divisor(w, s, e, e->operation, by);
        mark_count(w, s, e, e->operation, by);
        struct interval left = interval_convert(old, e->left->type, e->operation);
        value = interval_convert(binary_range(e->op, left, by, e->operation), e->operation,
                                 e->left->type);
    }
    const struct variable *v = kx_root_variable(e->left);
    if (v != NULL && !assign_step(w, s, e, old, by, value)) {
        walk_set(w, s, v, e->left->kind == KX_VARIABLE, value);
        if (e->op == OP_NONE && e->left->kind == KX_VARIABLE && value.low < value.high)
            walk_fact_assigned(w, s, e->left, e->right);
    }
    if (number != 0) walk_sum_assigned(w, s, e->left->variable, number);
    return e->postfix ? old : value;
}

/* A choice without jumps, whose sides began at `before`, costs both of them. */
static void charge_sides(struct walker *w, struct walk_state *s, const struct kx *e,
                         uint64_t before)
{
    s->cost = before;
    walk_charge(s, cost_of_evaluation(w->costs, e->right));
    walk_charge(s, cost_of_evaluation(w->costs, e->third));
}

/* The other operand of && or ||, whose left one is `left`. */
static struct interval eval_right(struct walker *w, struct walk_state *s, struct kx *e,
                                  struct interval left)
{
    bool settled = e->op == OP_LOGICAL_AND ? interval_is(left, 0) : interval_is_true(left);
    if (settled) return interval_truth(left);
    struct walk_state *before = walk_branch(w, s);
    bool certain = s->certain;
    s->certain = false;
    walk_assume(w, s, e->left, e->op == OP_LOGICAL_AND);
    struct interval right = walk_eval(w, s, e->right);
    walk_rejoin(w, s, before);
    s->certain = certain;
    bool left_decided = interval_is(left, 0) || interval_is_true(left);
    if (left_decided) return interval_truth(right);
    w->undecided += cost_choice_jumps(e);
    if (e->op == OP_LOGICAL_AND && interval_is(right, 0)) return (struct interval){0, 0};
    if (e->op == OP_LOGICAL_OR && interval_is_true(right)) return (struct interval){1, 1};
    return (struct interval){0, 1};
}

static struct interval eval_logical(struct walker *w, struct walk_state *s, struct kx *e)
{
    struct interval left = walk_eval(w, s, e->left);
    uint64_t before = s->cost;
    struct interval value = eval_right(w, s, e, left);
    if (!cost_choice_jumps(e)) charge_sides(w, s, e, before);
    return value;
}

static struct interval eval_sides(struct walker *w, struct walk_state *s, struct kx *e,
                                  struct interval c)
{
    if (interval_is_true(c)) return walk_eval(w, s, e->right);
    if (interval_is(c, 0)) return walk_eval(w, s, e->third);
    bool certain = s->certain;
    s->certain = false;
    w->undecided += cost_choice_jumps(e);
    struct walk_state *other = walk_branch(w, s);
    walk_assume(w, s, e->left, true);
    walk_assume(w, other, e->left, false);
    struct interval a = walk_eval(w, s, e->right);
    struct interval b = walk_eval(w, other, e->third);
    walk_rejoin(w, s, other);
    s->certain = certain;
    return interval_join(a, b);
}

static struct interval eval_select(struct walker *w, struct walk_state *s, struct kx *e)
{
    struct interval c = walk_eval(w, s, e->left);
    uint64_t before = s->cost;
    struct interval value = eval_sides(w, s, e, c);
    if (!cost_choice_jumps(e)) charge_sides(w, s, e, before);
    return value;
}

static struct interval eval_builtin(struct walker *w, struct walk_state *s, struct kx *e)
{
    struct interval a[3] = {INTERVAL_ALL, INTERVAL_ALL, INTERVAL_ALL};
    for (uint32_t i = 0; i < e->argument_count && i < 3; i++)
        a[i] = walk_eval(w, s, e->arguments[i]);
    if (!type_is_integer(type_base(e->type))) return interval_of_type(e->type);
    switch (e->builtin) {
    case BUILTIN_MIN:
        return (struct interval){a[0].low < a[1].low ? a[0].low : a[1].low,
                                 a[0].high < a[1].high ? a[0].high : a[1].high};
    case BUILTIN_MAX:
        return (struct interval){a[0].low > a[1].low ? a[0].low : a[1].low,
                                 a[0].high > a[1].high ? a[0].high : a[1].high};
    case BUILTIN_ABS:
        if (a[0].low >= 0) return a[0];
        return interval_wrapped((struct interval){a[0].high < 0 ? -a[0].high : 0,
                                                  -a[0].low > a[0].high ? -a[0].low : a[0].high},
                                e->type);
    default: return interval_of_type(e->type);
    }
}

static struct interval eval_call(struct walker *w, struct walk_state *s, struct kx *e)
{
    uint32_t count = e->argument_count;
    struct interval few[8], *arguments = few;
    if (count > 8) arguments = ARENA_ARRAY(w->scratch, struct interval, count);
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = walk_eval(w, s, e->arguments[i]);
    uint64_t cost = w->function_costs != NULL ? w->function_costs[e->function->id] : 0;
    walk_charge(s, cost_multiply(cost, cost_calls(e)));
    const struct cost_plan *plan = e->function->costs;
    if (plan != NULL && plan->counter_count > 0) w->undecided++;
    return walk_call_value(w, s, e, arguments);
}

struct interval walk_variable(const struct walker *w, const struct walk_state *s,
                              const struct kx *e)
{
    struct interval all = interval_of_type(e->type);
    uint32_t slot = walk_slot(w, e->variable);
    return slot != WALK_NO_SLOT ? interval_meet(s->locals[slot], all) : all;
}

/* Of all that the aggregate is made of. */
static struct interval eval_aggregate(struct walker *w, struct walk_state *s, struct kx *e)
{
    struct interval all = interval_of_type(e->type), value = {0, 0};
    bool complete = type_is_indexed(e->type) && e->argument_count >= e->type->length;
    for (uint32_t i = 0; i < e->argument_count; i++) {
        struct interval part = {0, 0};
        if (e->arguments[i] != NULL) part = walk_eval(w, s, e->arguments[i]);
        value = i == 0 && complete ? part : interval_join(value, part);
    }
    return type_base(e->type)->kind == TYPE_SCALAR ? interval_meet(value, all) : INTERVAL_ALL;
}

struct interval walk_peek_value(struct walker *w, const struct walk_state *s, const struct kx *e)
{
    struct walk_state *trial = walk_branch(w, s);
    bool mark = w->mark;
    w->mark = false;
    struct interval value = walk_eval(w, trial, (struct kx *)e);
    w->mark = mark;
    walk_drop_state(w, trial);
    return value;
}

static struct interval eval_scalar(struct walker *w, struct walk_state *s, struct kx *e)
{
    struct interval a, b;
    walk_charge(s, cost_of_expression(w->costs, e));
    switch (e->kind) {
    case KX_CONSTANT: return interval_of_value(e->value);
    case KX_VARIABLE: return walk_variable(w, s, e);
    case KX_INDEX: return walk_index(w, s, e);
    case KX_MEMBER: walk_eval(w, s, e->left); return interval_of_type(e->type);
    case KX_BROADCAST: return walk_eval(w, s, e->left);
    case KX_PEEK: return walk_peek(w, s, e);
    case KX_ITEM: return s->locals[w->item_local + e->dimension];
    case KX_WINDOW: return walk_window(w, s, e);
    case KX_LEFT: return (struct interval){0, (wide)w->kernel->in[e->port].peek - 1};
    case KX_DONE: walk_eval(w, s, e->left); return (struct interval){0, 1};
    case KX_FIRING: return interval_of_type(e->type);
    case KX_PHASE: return (struct interval){w->phase, w->phase};
    case KX_NEGATE:
        a = walk_eval(w, s, e->left);
        return binary_range(OP_SUB, (struct interval){0, 0}, a, e->type);
    case KX_COMPLEMENT:
        a = walk_eval(w, s, e->left);
        return interval_wrapped((struct interval){-1 - a.high, -1 - a.low}, e->type);
    case KX_NOT:
        a = interval_truth(walk_eval(w, s, e->left));
        return (struct interval){1 - a.high, 1 - a.low};
    case KX_BINARY:
        a = walk_eval(w, s, e->left);
        b = walk_eval(w, s, e->right);
        mark_wrap(w, s, e, a, b);
        mark_divisor(w, s, e, e->type, b);
        mark_count(w, s, e, e->type, b);
        return binary_range(e->op, a, b, e->type);
    case KX_COMPARE:
        a = walk_eval(w, s, e->left);
        b = walk_eval(w, s, e->right);
        if (!type_is_scalar(e->left->type) || type_is_float(e->left->type))
            return (struct interval){0, 1};
        return interval_compare(e->op, a, b);
    case KX_LOGICAL: return eval_logical(w, s, e);
    case KX_SELECT: return eval_select(w, s, e);
    case KX_CONVERT:
        a = walk_eval(w, s, e->left);
        return interval_convert(a, e->left->type, e->type);
    case KX_ASSIGN: return assigned_range(w, s, e);
    case KX_CALL: return eval_call(w, s, e);
    case KX_BUILTIN: return eval_builtin(w, s, e);
    case KX_COMMA: walk_eval(w, s, e->left); return walk_eval(w, s, e->right);
    case KX_AGGREGATE: return eval_aggregate(w, s, e);
    }
    return INTERVAL_ALL;
}

struct interval walk_eval(struct walker *w, struct walk_state *s, struct kx *e)
{
    w->cx->walk_steps++;
    struct interval value = eval_scalar(w, s, e);
    const struct type *base = type_base(e->type);
    bool known = type_is_integer(base) || type_is_bool(base);
    if (!known) value = INTERVAL_ALL;
    if (s->fact_count > 0 && type_is_integer(e->type) && s->reachable)
        value = walk_fact_value(w, s, e, value);
    if (w->observe != NULL && w->mark && s->reachable) w->observe(w->observer, e, value);
    return value;
}
