/* SPDX-License-Identifier: MIT */
/*
 * Loops that divide or multiply a variable in each round: `while (n != 0) n >>= 1`, `for (i = 1; i < n; i *= 2)`,
 * `n &= n - 1`.
 *
 * If each round changes v once, by a factor of at least f, and v lies in [low, high] with low > 0 wherever the body begins,
 * then  low x f^(rounds - 1) <= high.  `n &= n - 1` clears a bit: its rounds are the bits of `high`.
 */
#include "compiler/bodies/ranges_internal.h"

/* An assignment that multiplies (`grows`) or divides its variable by `factor`; factor 1: it clears a bit. */
struct scaling {
    wide factor;
    bool grows;
    const struct type *operation;
};

static const struct kx *without_conversions(const struct kx *e)
{
    while (e->kind == KX_CONVERT && type_is_integer(e->left->type))
        e = e->left;
    return e;
}

static bool is_the_variable(const struct kx *e, const struct variable *v)
{
    e = without_conversions(e);
    return e->kind == KX_VARIABLE && e->variable == v;
}

/* v - 1 */
static bool is_one_less(const struct kx *e, const struct variable *v)
{
    e = without_conversions(e);
    if (e->kind != KX_BINARY || (e->op != OP_SUB && e->op != OP_ADD)) return false;
    const struct kx *by = without_conversions(e->right);
    if (!is_the_variable(e->left, v) || by->kind != KX_CONSTANT || !type_is_integer(by->type))
        return false;
    return interval_of_value(by->value).low == (e->op == OP_SUB ? 1 : -1);
}

/* `v op right` */
static bool scaling_of(const struct variable *v, enum kx_op op, const struct kx *right,
                       const struct type *operation, struct scaling *to)
{
    if (!type_is_integer(operation)) return false;
    *to = (struct scaling){.grows = op == OP_MUL || op == OP_SHL || op == OP_ADD,
                           .operation = operation};
    if (op == OP_AND && is_one_less(right, v)) {
        to->factor = 1;
        return true;
    }
    if (op == OP_ADD) {
        to->factor = 2;
        return is_the_variable(right, v);
    }
    const struct kx *by = without_conversions(right);
    if (by->kind != KX_CONSTANT || !type_is_integer(by->type)) return false;
    wide value = interval_of_value(by->value).low;
    bool shift = op == OP_SHL || op == OP_SHR;
    if (shift && (value < 1 || value >= 8 * (wide)operation->width_bytes - 1)) return false;
    if (!shift && op != OP_MUL && op != OP_DIV) return false;
    to->factor = shift ? (wide)1 << value : value;
    return to->factor >= 2 && to->factor <= (wide)1 << 62;
}

static bool is_scaling(const struct walker *w, const struct kx *e, struct scaling *to)
{
    if (e->kind != KX_ASSIGN || e->left->kind != KX_VARIABLE || !type_is_integer(e->left->type) ||
        walk_slot(w, e->left->variable) == WALK_NO_SLOT)
        return false;
    const struct variable *v = e->left->variable;
    if (e->op != OP_NONE) return scaling_of(v, e->op, e->right, e->operation, to);
    const struct kx *right = without_conversions(e->right);
    return right->kind == KX_BINARY && is_the_variable(right->left, v) &&
           scaling_of(v, right->op, right->right, right->type, to);
}

/* The rounds in which v, which `change` scales, can begin the body with values in `range`. */
static uint64_t rounds_within(const struct type *type, struct scaling change, struct interval range)
{
    if (range.low < 1 || !interval_contains(interval_of_type(change.operation), range))
        return WALK_UNBOUNDED;
    wide factor = change.factor == 1 ? 2 : change.factor, low = change.factor == 1 ? 1 : range.low;
    wide largest = range.high * factor;
    struct interval after = {largest, largest};
    if (change.grows && (!interval_contains(interval_of_type(type), after) ||
                         !interval_contains(interval_of_type(change.operation), after)))
        return WALK_UNBOUNDED;
    uint64_t rounds = 0;
    for (wide value = low; value <= range.high; value *= factor)
        rounds++;
    return rounds;
}

struct assignments {
    const struct variable *variable;
    uint32_t count;
};

static bool count_scaling(const struct kx *x, void *data)
{
    struct assignments *a = data;
    a->count += x->kind == KX_ASSIGN && kx_root_variable(x->left) == a->variable;
    return false;
}

static bool count_declaration(const struct ks *s, void *data)
{
    struct assignments *a = data;
    a->count += s->kind == KS_DECLARE && s->variable == a->variable;
    return false;
}

static bool has_continue(const struct ks *s, void *data)
{
    (void)data;
    return s->kind == KS_CONTINUE;
}

static bool is_assigned_once(const struct ks *loop, const struct variable *v)
{
    struct assignments a = {.variable = v};
    kx_any(loop->expr, count_scaling, &a);
    kx_any(loop->step, count_scaling, &a);
    ks_any(loop->body, count_declaration, count_scaling, &a);
    return a.count == 1;
}

/* The rounds that the scalings in `e` allow, of which each round executes those that are evaluated in any case. */
static uint64_t rounds_of_kx(const struct walker *w, const struct ks *loop,
                             const struct walk_state *in, const struct kx *e)
{
    struct scaling change;
    if (e == NULL) return WALK_UNBOUNDED;
    if (is_scaling(w, e, &change) && is_assigned_once(loop, e->left->variable))
        return rounds_within(e->left->type, change, in->locals[walk_slot(w, e->left->variable)]);
    if (e->kind == KX_CONVERT || e->kind == KX_COMPARE) return rounds_of_kx(w, loop, in, e->left);
    return WALK_UNBOUNDED;
}

static uint64_t rounds_of_body(const struct walker *w, const struct ks *loop,
                               const struct walk_state *in, const struct ks *list)
{
    uint64_t least = WALK_UNBOUNDED;
    for (const struct ks *s = list; s != NULL; s = s->next) {
        uint64_t rounds = WALK_UNBOUNDED;
        if (s->kind == KS_EXPR) rounds = rounds_of_kx(w, loop, in, s->expr);
        if (s->kind == KS_BLOCK) rounds = rounds_of_body(w, loop, in, s->body);
        if (rounds < least) least = rounds;
    }
    return least;
}

uint64_t walk_scaling_rounds(const struct walker *w, const struct ks *loop,
                             const struct walk_state *in)
{
    if (!in->reachable) return 1;
    uint64_t rounds = rounds_of_kx(w, loop, in, loop->expr);
    uint64_t step = rounds_of_kx(w, loop, in, loop->step);
    uint64_t body = WALK_UNBOUNDED;
    if (!ks_any(loop->body, has_continue, NULL, NULL))
        body = rounds_of_body(w, loop, in, loop->body);
    if (step < rounds) rounds = step;
    return body < rounds ? body : rounds;
}
