/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/ranges_internal.h"
#include "compiler/ir/arith.h"

/* ---- conditions ---- */

/* True if a conversion from `from` to `to` keeps every value. */
bool walk_keeps_values(const struct type *from, const struct type *to)
{
    struct interval a = interval_of_type(from), b = interval_of_type(to);
    return type_is_integer(from) && type_is_integer(to) && a.low >= b.low && a.high <= b.high;
}

const struct variable *walk_plain_local(const struct walker *w, const struct kx *e)
{
    while (e->kind == KX_CONVERT && walk_keeps_values(e->left->type, e->type))
        e = e->left;
    if (e->kind != KX_VARIABLE || !type_is_integer(e->type)) return NULL;
    return walk_slot(w, e->variable) != WALK_NO_SLOT ? e->variable : NULL;
}

/* The interval that is kept of `e` itself: of a local, or of an index of the work-item. */
static struct interval *kept_interval(const struct walker *w, struct walk_state *s,
                                      const struct kx *e)
{
    while (e->kind == KX_CONVERT && walk_keeps_values(e->left->type, e->type))
        e = e->left;
    if (e->kind == KX_ITEM) return &s->locals[w->item_local + e->dimension];
    struct interval *packet = walk_packet(w, s, e);
    if (packet != NULL) {
        *packet = interval_meet(*packet, interval_of_type(e->type));
        return packet;
    }
    const struct variable *v = walk_plain_local(w, e);
    if (v == NULL) return NULL;
    struct interval *kept = &s->locals[walk_slot(w, v)];
    *kept = interval_meet(*kept, interval_of_type(v->type));
    return kept;
}

/* The value of an operand that has no side effects and needs no evaluation. */
bool walk_known_value(const struct walker *w, const struct walk_state *s, const struct kx *e,
                      struct interval *out)
{
    while (e->kind == KX_CONVERT && walk_keeps_values(e->left->type, e->type))
        e = e->left;
    if (e->kind == KX_CONSTANT)
        *out = interval_of_value(e->value);
    else if (e->kind == KX_ITEM)
        *out = s->locals[w->item_local + e->dimension];
    else if (walk_packet(w, s, e) != NULL)
        *out = interval_meet(*walk_packet(w, s, e), interval_of_type(e->type));
    else if (!type_is_integer(e->type))
        return false;
    else
        *out = e->kind == KX_VARIABLE ? walk_variable(w, s, e) : interval_of_type(e->type);
    return true;
}

static enum kx_op mirrored_comparison(enum kx_op op)
{
    switch (op) {
    case OP_LT: return OP_GT;
    case OP_LE: return OP_GE;
    case OP_GT: return OP_LT;
    case OP_GE: return OP_LE;
    default: return op;
    }
}

/* Narrows `kept`, an interval of `s`, by `kept op bound`. */
static void narrow_interval(struct walk_state *s, struct interval *kept, enum kx_op op,
                            struct interval bound)
{
    struct interval now = *kept, limit = INTERVAL_ALL;
    switch (op) {
    case OP_LT: limit.high = bound.high - 1; break;
    case OP_LE: limit.high = bound.high; break;
    case OP_GT: limit.low = bound.low + 1; break;
    case OP_GE: limit.low = bound.low; break;
    case OP_EQ: limit = bound; break;
    case OP_NE:
        if (bound.low != bound.high) return;
        if (now.low == bound.low && now.low < now.high) limit.low = bound.low + 1;
        if (now.high == bound.low && now.low < now.high) limit.high = bound.low - 1;
        break;
    default: return;
    }
    if (!interval_overlaps(now, limit)) {
        s->reachable = false;
        return;
    }
    *kept = interval_meet(now, limit);
}

void walk_assume_value(struct walker *w, struct walk_state *s, const struct kx *e, enum kx_op op,
                       struct interval bound)
{
    if (kx_assigns(e, NULL)) return;
    struct interval *kept = kept_interval(w, s, e);
    if (kept != NULL) narrow_interval(s, kept, op, bound);
}

/* A sum or difference with a constant, narrowed by narrowing its other operand: where the
 * operation does not wrap. */
static void assume_sum(struct walker *w, struct walk_state *s, const struct kx *e, enum kx_op op,
                       struct interval bound)
{
    struct interval by, value;
    while (e->kind == KX_CONVERT && walk_keeps_values(e->left->type, e->type))
        e = e->left;
    if (e->kind != KX_BINARY || (e->op != OP_ADD && e->op != OP_SUB)) return;
    if (e->right->kind != KX_CONSTANT || !walk_known_value(w, s, e->left, &value)) return;
    by = interval_of_value(e->right->value);
    struct interval sum = interval_binary(e->op, value, by, e->type);
    if (!interval_contains(interval_of_type(e->type), sum)) return;
    wide back = e->op == OP_ADD ? -by.low : by.low;
    walk_assume_value(w, s, e->left, op, (struct interval){bound.low + back, bound.high + back});
}

static struct interval other_side(struct walker *w, struct walk_state *s, const struct kx *e)
{
    struct interval value;
    const struct kx *inner = e;
    while (inner->kind == KX_CONVERT && walk_keeps_values(inner->left->type, inner->type))
        inner = inner->left;
    bool simple = inner->kind == KX_CONSTANT || inner->kind == KX_VARIABLE ||
                  inner->kind == KX_ITEM || inner->kind == KX_PEEK;
    if (simple && walk_known_value(w, s, e, &value)) return value;
    return walk_peek_value(w, s, e);
}

/* The value that an operand had, as an expression that still has it: `at` + `offset`, modulo the type
 * of `at`.  Of `v = ..` and `++v` that is v, of `v++` it is v - 1; else the operand itself. */
struct holder {
    const struct kx *at; /* NULL: nothing has the value any more */
    wide offset;
};

static struct holder value_holder(const struct kx *e)
{
    if (!kx_assigns(e, NULL)) return (struct holder){e, 0};
    while (e->kind == KX_CONVERT && walk_keeps_values(e->left->type, e->type))
        e = e->left;
    if (e->kind != KX_ASSIGN || e->left->kind != KX_VARIABLE) return (struct holder){NULL, 0};
    if (kx_assigns(e->right, e->left->variable)) return (struct holder){NULL, 0};
    if (!e->postfix) return (struct holder){e->left, 0};
    bool steps = (e->op == OP_ADD || e->op == OP_SUB) && e->right->kind == KX_CONSTANT &&
                 type_is_integer(e->left->type) && type_is_integer(e->operation) &&
                 e->left->type->width_bytes <= e->operation->width_bytes;
    if (!steps) return (struct holder){NULL, 0};
    wide by = interval_of_value(e->right->value).low;
    return (struct holder){e->left, e->op == OP_ADD ? -by : by};
}

static bool assigns_what_is_read(const struct kx *x, void *data)
{
    const struct variable *v = x->kind == KX_ASSIGN ? kx_root_variable(x->left) : NULL;
    return v != NULL && kx_mentions(data, v);
}

/* May evaluating `later` change what `earlier` speaks of? */
static bool evaluation_disturbs(const struct kx *later, const struct kx *earlier)
{
    return kx_any(later, assigns_what_is_read, (void *)(uintptr_t)earlier);
}

static struct interval interval_shift(struct interval a, wide by)
{
    return (struct interval){a.low + by, a.high + by};
}

/* Narrows `kept`, of a variable of that type, by  (kept + offset modulo the type) op bound. */
static void narrow_shifted(struct walk_state *s, struct interval *kept, const struct type *type,
                           wide offset, enum kx_op op, struct interval bound)
{
    struct interval of = interval_of_type(type), now = *kept, all = {1, 0};
    wide size = of.high - of.low + 1;
    for (int turn = -1; turn <= 1; turn++) {
        /* Where now + offset lies in the copy of the type that is so many types away. */
        struct interval copy = interval_shift(of, turn * size - offset);
        if (!interval_overlaps(now, copy)) continue;
        struct interval piece = interval_meet(now, copy);
        struct walk_state reached = {.reachable = true};
        narrow_interval(&reached, &piece, op, interval_shift(bound, turn * size - offset));
        if (reached.reachable) all = all.low > all.high ? piece : interval_join(all, piece);
    }
    if (all.low > all.high)
        s->reachable = false;
    else
        *kept = all;
}

/* The value that the operand gave. */
static struct interval holder_value(struct walker *w, struct walk_state *s, struct holder h)
{
    struct interval now = other_side(w, s, h.at);
    if (h.offset == 0) return now;
    return interval_wrapped(interval_shift(now, h.offset), h.at->type);
}

static void assume_side(struct walker *w, struct walk_state *s, struct holder side, enum kx_op op,
                        struct interval value)
{
    struct interval *kept = kept_interval(w, s, side.at);
    if (kept == NULL)
        assume_sum(w, s, side.at, op, value);
    else if (side.offset == 0)
        narrow_interval(s, kept, op, value);
    else
        narrow_shifted(s, kept, side.at->type, side.offset, op, value);
}

static bool is_exact_shift(struct walker *w, struct walk_state *s, struct holder h)
{
    return h.offset == 0 || interval_contains(interval_of_type(h.at->type),
                                              interval_shift(other_side(w, s, h.at), h.offset));
}

/* Holds after both operands have been evaluated, the left one first. */
static void assume_compare(struct walker *w, struct walk_state *s, const struct kx *c,
                           bool truth_value)
{
    enum kx_op op = truth_value ? c->op : arith_opposite(c->op);
    if (!type_is_integer(c->left->type) || evaluation_disturbs(c->right, c->left)) return;
    struct holder left = value_holder(c->left), right = value_holder(c->right);
    if (left.at == NULL || right.at == NULL) return;
    if (op == OP_NE && is_exact_shift(w, s, left) && is_exact_shift(w, s, right))
        op = walk_fact_unequal(w, s, left.at, right.at, left.offset - right.offset);
    assume_side(w, s, left, op, holder_value(w, s, right));
    if (s->reachable) assume_side(w, s, right, mirrored_comparison(op), holder_value(w, s, left));
    if (s->reachable && is_exact_shift(w, s, left) && is_exact_shift(w, s, right))
        walk_fact_compare(w, s, left.at, op, right.at, left.offset - right.offset);
}

static void assume_nonzero(struct walker *w, struct walk_state *s, const struct kx *e, bool truth)
{
    struct holder h = value_holder(e);
    if (h.at != NULL && kept_interval(w, s, h.at) != NULL)
        assume_side(w, s, h, truth ? OP_NE : OP_EQ, (struct interval){0, 0});
}

/* Either way: the left operand decides, or the right one does after it. */
static void assume_either(struct walker *w, struct walk_state *s, const struct kx *condition,
                          bool truth_value)
{
    struct walk_state *right = walk_branch(w, s);
    walk_assume(w, s, condition->left, truth_value);
    if (!evaluation_disturbs(condition->right, condition->left))
        walk_assume(w, right, condition->left, !truth_value);
    walk_assume(w, right, condition->right, truth_value);
    walk_rejoin(w, s, right);
}

void walk_assume(struct walker *w, struct walk_state *s, const struct kx *condition,
                 bool truth_value)
{
    if (!s->reachable) return;
    switch (condition->kind) {
    case KX_COMPARE: assume_compare(w, s, condition, truth_value); break;
    case KX_NOT: walk_assume(w, s, condition->left, !truth_value); break;
    case KX_COMMA: walk_assume(w, s, condition->right, truth_value); break;
    case KX_LOGICAL:
        if ((condition->op == OP_LOGICAL_AND) == truth_value) {
            if (!evaluation_disturbs(condition->right, condition->left))
                walk_assume(w, s, condition->left, truth_value);
            walk_assume(w, s, condition->right, truth_value);
        } else {
            assume_either(w, s, condition, truth_value);
        }
        break;
    case KX_CONVERT:
        if (!type_is_bool(condition->type)) break;
        if (type_is_bool(condition->left->type))
            walk_assume(w, s, condition->left, truth_value);
        else if (type_is_integer(condition->left->type))
            assume_nonzero(w, s, condition->left, truth_value);
        break;
    case KX_VARIABLE: {
        uint32_t slot = walk_slot(w, condition->variable);
        if (slot != WALK_NO_SLOT && type_is_bool(condition->type))
            s->locals[slot] = (struct interval){truth_value, truth_value};
        break;
    }
    default: break;
    }
}

/* ---- conditions that change what they test ---- */

/* The variable that `v++` or `v--` steps, and whose value before that is the operand's. */
static const struct kx *stepped_operand(const struct kx *e)
{
    while (e->kind == KX_CONVERT && walk_keeps_values(e->left->type, e->type))
        e = e->left;
    bool steps = e->kind == KX_ASSIGN && e->postfix && e->left->kind == KX_VARIABLE &&
                 !kx_assigns(e->right, NULL);
    return steps ? e->left : NULL;
}

/* Narrows `s`, in which the condition has not been evaluated, where it comes out as `truth`: in it
 * `v--` is v, as long as nothing else that is evaluated speaks of v.  So a step that follows on a
 * test that excludes wrapping is known not to wrap. */
static void expect_truth(struct walker *w, struct walk_state *s, const struct kx *condition,
                         bool truth)
{
    const struct kx *v, *other;
    switch (condition->kind) {
    case KX_CONVERT:
        if (!type_is_bool(condition->type)) break;
        v = stepped_operand(condition->left);
        if (v != NULL) walk_assume_value(w, s, v, truth ? OP_NE : OP_EQ, (struct interval){0, 0});
        if (type_is_bool(condition->left->type)) expect_truth(w, s, condition->left, truth);
        break;
    case KX_COMPARE: {
        enum kx_op op = truth ? condition->op : arith_opposite(condition->op);
        v = stepped_operand(condition->left);
        other = condition->right;
        if (v == NULL) {
            v = stepped_operand(condition->right);
            other = condition->left;
            op = mirrored_comparison(op);
        }
        if (v == NULL || kx_assigns(other, NULL) || kx_mentions(other, v->variable)) break;
        walk_assume_value(w, s, v, op, other_side(w, s, other));
        break;
    }
    default: break;
    }
}

struct interval walk_test(struct walker *w, struct walk_state *s, struct kx *condition)
{
    return kx_assigns(condition, NULL) ? walk_peek_value(w, s, condition)
                                       : walk_eval(w, s, condition);
}

/* Evaluates a condition with effects where it comes out as `truth`.  Operands that all have to be
 * evaluated for that are taken one after the other. */
static void take_condition(struct walker *w, struct walk_state *s, struct kx *condition, bool truth)
{
    if (!s->reachable) return;
    bool conjunction = condition->kind == KX_LOGICAL && (condition->op == OP_LOGICAL_AND) == truth;
    if (!conjunction && condition->kind != KX_NOT) {
        expect_truth(w, s, condition, truth);
        if (s->reachable) walk_eval(w, s, condition);
        walk_assume(w, s, condition, truth);
        return;
    }
    walk_charge(s, cost_of_expression(w->costs, condition));
    take_condition(w, s, condition->left, conjunction ? truth : !truth);
    if (conjunction) take_condition(w, s, condition->right, truth);
    if (w->observe != NULL && w->mark && s->reachable)
        w->observe(w->observer, condition, (struct interval){truth, truth});
}

void walk_take(struct walker *w, struct walk_state *s, struct kx *condition, bool truth)
{
    if (kx_assigns(condition, NULL))
        take_condition(w, s, condition, truth);
    else
        walk_assume(w, s, condition, truth);
}
