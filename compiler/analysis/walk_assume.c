#include "compiler/analysis/walk_internal.h"
#include "compiler/sema/arith.h"

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

static enum kx_op mirrored(enum kx_op op)
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
static void narrow(struct walk_state *s, struct interval *kept, enum kx_op op,
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
    if (kept != NULL) narrow(s, kept, op, bound);
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

static void assume_side(struct walker *w, struct walk_state *s, const struct kx *side,
                        enum kx_op op, const struct kx *other)
{
    struct interval value = other_side(w, s, other);
    struct interval *kept = kept_interval(w, s, side);
    if (kept != NULL)
        narrow(s, kept, op, value);
    else
        assume_sum(w, s, side, op, value);
}

/* What has the value that `e` gave: `e`, or, of `v = ..` and `++v`, `v`.  NULL: nothing does. */
static const struct kx *value_holder(const struct kx *e)
{
    if (!kx_assigns(e, NULL)) return e;
    while (e->kind == KX_CONVERT && walk_keeps_values(e->left->type, e->type))
        e = e->left;
    bool holds = e->kind == KX_ASSIGN && !e->postfix && e->left->kind == KX_VARIABLE;
    return holds ? e->left : NULL;
}

static void assume_compare(struct walker *w, struct walk_state *s, const struct kx *c,
                           bool truth_value)
{
    enum kx_op op = truth_value ? c->op : arith_opposite(c->op);
    /* A side that assigns speaks of values that may be gone. */
    if (!type_is_integer(c->left->type) || kx_assigns(c->right, NULL)) return;
    const struct kx *left = value_holder(c->left);
    if (left == NULL) return;
    /* The right one is evaluated after it: with the value that the variable has now. */
    assume_side(w, s, left, op, c->right);
    if (s->reachable) assume_side(w, s, c->right, mirrored(op), left);
    if (s->reachable) walk_fact_compare(w, s, left, op, c->right);
}

/* Either way: the left operand decides, or the right one does after it. */
static void assume_either(struct walker *w, struct walk_state *s, const struct kx *condition,
                          bool truth_value)
{
    struct walk_state *right = walk_branch(w, s);
    walk_assume(w, s, condition->left, truth_value);
    walk_assume(w, right, condition->left, !truth_value);
    walk_assume(w, right, condition->right, truth_value);
    walk_rejoin(w, s, right);
}

void walk_assume(struct walker *w, struct walk_state *s, const struct kx *condition,
                 bool truth_value)
{
    if (!s->reachable) return;
    if (condition->kind != KX_COMPARE && kx_assigns(condition, NULL)) return;
    switch (condition->kind) {
    case KX_COMPARE: assume_compare(w, s, condition, truth_value); break;
    case KX_NOT: walk_assume(w, s, condition->left, !truth_value); break;
    case KX_LOGICAL:
        if ((condition->op == OP_LOGICAL_AND) == truth_value) {
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
            walk_assume_value(w, s, condition->left, truth_value ? OP_NE : OP_EQ,
                              (struct interval){0, 0});
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
