/* SPDX-License-Identifier: MIT */
/*
 * Method: the body is executed once for an arbitrary item, with a linear form (affine.h) for each
 * integer local.  Each access to a `local` or `state` variable or to a packet y[j] is compared with
 * itself and with the accesses that may lie between the same barriers; a barrier clears this list.
 * A loop with barriers is executed twice, from a state that holds in any round: the second time for
 * pairs of an access at the end of a round and one at the beginning of the next.  In a loop without
 * barriers, items may be in different rounds.  So a variable that it assigns is a symbol of its own
 * for each item, except for a counter, which is its initial value plus a multiple of its step.
 *
 * The intervals of ranges.h show that forms do not wrap.  An access that is not proven to be free of
 * races is an error.
 */
#include "compiler/bodies/race.h"
#include "compiler/bodies/affine.h"
#include "compiler/bodies/group.h"
#include "compiler/bodies/ranges.h"

#include "compiler/ir/arith.h"

#include <string.h>

enum { ACCESSES_MAX = 2048, REPORTS_MAX = 8, COMPARISONS_MAX = 1 << 18 };

struct access {
    const struct variable *variable; /* NULL: packets of out-port `port` */
    uint32_t port;
    bool write;
    struct span span;
    struct affine_place place;
};

struct accesses {
    VEC(const struct access *) all;
};

struct observed { /* what bodies/ranges says of an expression */
    const struct kx *key;
    struct interval range;
};

struct quotient {
    struct affine of, is;
    int64_t divisor;
};

struct assigned {                     /* what statements assign */
    const struct variable **by_index; /* NULL: not assigned */
};

struct racer {
    const struct group_facts *facts;
    struct kernel *kernel;
    struct arena *arena;
    struct affine_symbols symbols;
    struct observed *observed; /* open addressing by `key` */
    size_t observed_count, observed_capacity;
    struct interval *variable_range; /* by variable->index: of all reads */
    bool *variable_read;
    struct affine *locals;    /* by variable->index: of integer scalars */
    struct affine *arguments; /* parallel to kernel->arguments */
    struct accesses pending;  /* since the last barrier */
    const struct affine_guard *guards, *switch_guards;
    const struct accesses *switch_entry; /* of a switch with barriers, else NULL */
    const struct assigned *switch_set;   /* what is assigned in it */
    struct accesses *breaks, *continues; /* of a loop or switch with barriers, else NULL */
    uint32_t loops;                      /* without barriers, around the statement */
    uint32_t choices, reports, comparisons;
    bool reachable, silent;
    VEC(struct quotient) quotients;
    VEC(struct span) reported; /* pairs */
};

static struct affine eval_affine(struct racer *r, const struct kx *x);
static void execute_list(struct racer *r, const struct ks *first);

/* ---- ranges ---- */

static size_t range_slot(const struct racer *r, const struct kx *key)
{
    size_t slot = ((uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u >> 16;
    slot &= r->observed_capacity - 1;
    while (r->observed[slot].key != NULL && r->observed[slot].key != key)
        slot = (slot + 1) & (r->observed_capacity - 1);
    return slot;
}

static void observe_range(void *data, const struct kx *e, struct interval value)
{
    struct racer *r = data;
    if (2 * r->observed_count >= r->observed_capacity) {
        struct observed *old = r->observed;
        size_t old_capacity = r->observed_capacity;
        r->observed_capacity = old_capacity ? 2 * old_capacity : 256;
        r->observed = ARENA_ARRAY(r->arena, struct observed, r->observed_capacity);
        for (size_t i = 0; i < old_capacity; i++)
            if (old[i].key != NULL) r->observed[range_slot(r, old[i].key)] = old[i];
    }
    struct observed *at = &r->observed[range_slot(r, e)];
    r->observed_count += at->key == NULL;
    at->range = at->key != NULL ? interval_join(at->range, value) : value;
    at->key = e;
    if (e->kind != KX_VARIABLE || e->variable->kind != VARIABLE_LOCAL) return;
    uint32_t index = e->variable->index;
    struct interval *all = &r->variable_range[index];
    *all = r->variable_read[index] ? interval_join(*all, value) : value;
    r->variable_read[index] = true;
}

static struct interval type_range(const struct type *type)
{
    unsigned bits = 8 * (unsigned)type->width_bytes;
    if (type_is_bool(type)) return (struct interval){0, 1};
    if (!type_is_integer(type)) return (struct interval){-((wide)1 << 64), (wide)1 << 64};
    if (!scalar_is_signed(type->scalar)) return (struct interval){0, ((wide)1 << bits) - 1};
    return (struct interval){-((wide)1 << (bits - 1)), ((wide)1 << (bits - 1)) - 1};
}

static struct interval range_within_type(struct interval range, const struct type *type)
{
    struct interval all = type_range(type);
    if (range.low > all.high || range.high < all.low) return all;
    return (struct interval){range.low > all.low ? range.low : all.low,
                             range.high < all.high ? range.high : all.high};
}

static struct interval observed_range(const struct racer *r, const struct kx *x)
{
    if (r->observed_capacity == 0) return type_range(x->type);
    const struct observed *at = &r->observed[range_slot(r, x)];
    return at->key != NULL ? range_within_type(at->range, x->type) : type_range(x->type);
}

static bool fits_type(const struct type *type, wide low, wide high)
{
    struct interval all = type_range(type);
    return type_is_integer(type) && low >= all.low && high <= all.high;
}

/* ---- values ---- */

static struct affine fresh_symbol(struct racer *r, struct interval range, bool stable)
{
    return affine_fresh(&r->symbols, (struct affine_symbol){range.low, range.high, stable});
}

static struct affine unknown_value(struct racer *r, const struct kx *x)
{
    if (!type_is_integer(x->type)) return affine_constant(0); /* never part of an index */
    return fresh_symbol(r, observed_range(r, x), r->loops == 0 && !group_varies(r->facts, x));
}

static bool is_tracked_form(const struct variable *v)
{
    return v->kind == VARIABLE_LOCAL && type_is_integer(v->type);
}

static void forget_variable(struct racer *r, const struct variable *v, bool stable)
{
    struct interval range = type_range(v->type);
    if (r->variable_read[v->index]) range = range_within_type(r->variable_range[v->index], v->type);
    r->locals[v->index] = fresh_symbol(r, range, stable && !r->facts->varying[v->index]);
}

/* ---- what statements assign ---- */

static bool collect_assigned(const struct kx *x, void *data)
{
    struct assigned *set = data;
    const struct variable *v = x->kind == KX_ASSIGN ? kx_root_variable(x->left) : NULL;
    if (v != NULL && is_tracked_form(v)) set->by_index[v->index] = v;
    return false;
}

static bool collect_declared(const struct ks *s, void *data)
{
    struct assigned *set = data;
    if (s->kind == KS_DECLARE && is_tracked_form(s->variable))
        set->by_index[s->variable->index] = s->variable;
    return false;
}

static struct assigned no_assigned(struct racer *r)
{
    return (struct assigned){
        ARENA_ARRAY(r->arena, const struct variable *, r->kernel->local_count + 1)};
}

static struct assigned loop_assigned(struct racer *r, const struct ks *s)
{
    struct assigned set = no_assigned(r);
    kx_any(s->expr, collect_assigned, &set);
    kx_any(s->step, collect_assigned, &set);
    ks_any(s->body, collect_declared, collect_assigned, &set);
    return set;
}

static void forget_assigned_forms(struct racer *r, const struct assigned *set)
{
    for (uint32_t i = 0; i < r->kernel->local_count; i++)
        if (set->by_index[i] != NULL) forget_variable(r, set->by_index[i], r->loops == 0);
}

/* ---- accesses ---- */

static void add_all(struct racer *r, struct accesses *to, const struct accesses *more)
{
    for (size_t i = 0; i < more->all.count; i++) {
        size_t n = 0;
        while (n < to->all.count && to->all.items[n] != more->all.items[i])
            n++;
        if (n == to->all.count) vec_push(r->arena, &to->all, more->all.items[i]);
    }
}

static struct accesses copy_accesses(struct racer *r, const struct accesses *from)
{
    struct accesses copy = {0};
    for (size_t i = 0; i < from->all.count; i++)
        vec_push(r->arena, &copy.all, from->all.items[i]);
    return copy;
}

static bool is_reported(struct racer *r, struct span a, struct span b)
{
    for (size_t i = 0; i + 1 < r->reported.count; i += 2) {
        struct span c = r->reported.items[i], d = r->reported.items[i + 1];
        if ((a.begin == c.begin && b.begin == d.begin) ||
            (a.begin == d.begin && b.begin == c.begin))
            return true;
    }
    vec_push(r->arena, &r->reported, a);
    vec_push(r->arena, &r->reported, b);
    return false;
}

static const char *name_of(const struct racer *r, const struct access *a)
{
    return a->variable != NULL ? a->variable->name : r->kernel->out[a->port].name;
}

static void report_race(struct racer *r, const struct access *a, const struct access *b)
{
    const struct access *writer = a->write ? a : b, *other = a->write ? b : a;
    if (r->reports >= REPORTS_MAX || is_reported(r, a->span, b->span)) return;
    r->reports++;
    struct diag *d = diag_report(r->facts->cx->diags, RULE_DATA_RACE, writer->span,
                                 "two work-items may touch the same place of '%s' at the same time",
                                 name_of(r, a));
    bool same = a->span.begin == b->span.begin && a->write == b->write;
    diag_primary(d, same ? "written by one item and by another" : "written by one item");
    if (!same) diag_label(d, other->span, other->write ? "written by another" : "read by another");
    if (same)
        diag_help(d, "let each item write its own place, or a single one: if (item.x == 0) ...");
    else
        diag_help(d, "put 'barrier();' between them, or let each item use its own place");
}

static void report_budget(struct racer *r, struct span span)
{
    if (r->reports >= REPORTS_MAX) return;
    r->reports = REPORTS_MAX;
    struct diag *d = diag_report(
        r->facts->cx->diags, RULE_DATA_RACE, span,
        "'%s' has too many accesses to prove that its work-items do not race", r->kernel->title);
    diag_help(d,
              "use fewer statements between two barriers, or loops that are not unrolled by hand");
}

static void compare_accesses(struct racer *r, const struct access *a, const struct access *b)
{
    if (a->variable != b->variable || a->port != b->port || (!a->write && !b->write)) return;
    if (r->reports >= REPORTS_MAX) return;
    if (++r->comparisons > COMPARISONS_MAX)
        report_budget(r, a->span);
    else if (affine_may_meet(&r->symbols, r->kernel->group, &a->place, &b->place))
        report_race(r, a, b);
}

/* Every write of state is by one item. */
static bool check_state(struct racer *r, const struct access *a)
{
    struct affine_place anywhere = {.guards = a->place.guards};
    if (a->variable == NULL || a->variable->kind != VARIABLE_STATE || !a->write) return true;
    if (!affine_may_meet(&r->symbols, r->kernel->group, &anywhere, &anywhere)) return true;
    if (r->reports < REPORTS_MAX && !is_reported(r, a->span, a->span)) {
        r->reports++;
        struct diag *d = diag_report(r->facts->cx->diags, RULE_DATA_RACE, a->span,
                                     "several work-items may write the state '%s'", name_of(r, a));
        diag_label(d, a->variable->span, "the work-items of all firings share it");
        diag_help(d, "let a single item write it: if (item.x == 0) ...");
    }
    return false;
}

static void record_access(struct racer *r, struct access model)
{
    if (r->silent) return;
    struct access *a = ARENA_NEW(r->arena, struct access);
    *a = model;
    a->place.guards = r->guards;
    if (!check_state(r, a)) return;
    if (r->pending.all.count >= ACCESSES_MAX) {
        report_budget(r, a->span);
        return;
    }
    compare_accesses(r, a, a);
    for (size_t i = 0; i < r->pending.all.count; i++)
        compare_accesses(r, r->pending.all.items[i], a);
    vec_push(r->arena, &r->pending.all, a);
}

/* The path to an element, from its variable outwards; evaluates the indices.  Other
 * selections stand for the whole value from which they select. */
static bool follow_place(struct racer *r, const struct kx *x, struct affine_place *place)
{
    if (x->kind == KX_VARIABLE) return true;
    bool exact = follow_place(r, x->left, place);
    if (x->kind != KX_INDEX) {
        if (x->right != NULL) eval_affine(r, x->right);
        return false;
    }
    struct affine index = eval_affine(r, x->right);
    if (!exact || place->dimensions == AFFINE_DIMENSIONS_MAX) return false;
    place->index[place->dimensions] = index;
    place->length[place->dimensions++] = x->left->type->length;
    return true;
}

static bool is_shared(const struct variable *v)
{
    return v != NULL && (v->kind == VARIABLE_SHARED || v->kind == VARIABLE_STATE);
}

static struct access access_of(struct racer *r, const struct kx *x)
{
    struct access a = {.variable = kx_root_variable(x), .span = x->span};
    follow_place(r, x, &a.place);
    return a;
}

/* ---- arithmetic ---- */

/* x / divisor of what is not negative; x % divisor is x - divisor times that. */
static struct affine affine_quotient(struct racer *r, const struct affine *of, int64_t divisor,
                                     struct interval range)
{
    for (size_t i = 0; i < r->quotients.count; i++) {
        const struct quotient *q = &r->quotients.items[i];
        if (q->divisor == divisor && affine_equal(&q->of, of)) return q->is;
    }
    struct interval result = {range.low / divisor, range.high / divisor};
    struct quotient q = {.of = *of,
                         .is = fresh_symbol(r, result, affine_is_stable(&r->symbols, of)),
                         .divisor = divisor};
    vec_push(r->arena, &r->quotients, q);
    return q.is;
}

/* Division and remainder of what is not negative by a constant, also as shift and mask. */
static bool divide_affine(struct racer *r, enum kx_op op, const struct affine *left,
                          const struct affine *right, struct interval range, struct affine *out)
{
    int64_t divisor = right->constant;
    if (!affine_is_constant(right) || range.low < 0) return false;
    if (op == OP_SHR) {
        if (divisor < 0 || divisor > 24) return false;
        divisor = INT64_C(1) << divisor;
    }
    if (op == OP_AND) divisor++;
    if (divisor < 1 || divisor > AFFINE_FACTOR_MAX) return false;
    if (op == OP_AND && (divisor & (divisor - 1)) != 0) return false;
    struct affine whole = affine_quotient(r, left, divisor, range);
    if (op == OP_DIV || op == OP_SHR) {
        *out = whole;
        return true;
    }
    *out = *left;
    return affine_add(out, &whole, -divisor);
}

struct operand {
    struct affine form;
    struct interval range;
};

/* The exact result as a form, where there is one; its range does not matter. */
static bool combine_operands(struct racer *r, enum kx_op op, const struct operand *left,
                             const struct operand *right, struct affine *out)
{
    *out = left->form;
    switch (op) {
    case OP_ADD: return affine_add(out, &right->form, 1);
    case OP_SUB: return affine_add(out, &right->form, -1);
    case OP_MUL:
    case OP_SHL: {
        const struct affine *factor = &right->form, *form = &left->form;
        if (op == OP_MUL && affine_is_constant(form)) factor = &left->form, form = &right->form;
        int64_t scale = factor->constant;
        if (!affine_is_constant(factor)) return false;
        if (op == OP_SHL && (scale < 0 || scale > 24)) return false;
        if (op == OP_SHL) scale = INT64_C(1) << scale;
        if (scale > AFFINE_FACTOR_MAX || scale < -AFFINE_FACTOR_MAX) return false;
        *out = affine_constant(0);
        return affine_add(out, form, scale);
    }
    case OP_DIV:
    case OP_REM:
    case OP_SHR:
    case OP_AND: return divide_affine(r, op, &left->form, &right->form, left->range, out);
    default: return false;
    }
}

/* Whether the exact result of an operation on those ranges fits the type. */
static bool exact_fits(enum kx_op op, struct interval a, struct interval b, const struct type *type)
{
    const wide limit = (wide)1 << 62;
    switch (op) {
    case OP_ADD: return fits_type(type, a.low + b.low, a.high + b.high);
    case OP_SUB: return fits_type(type, a.low - b.high, a.high - b.low);
    case OP_SHL:
        if (b.low != b.high || b.low < 0 || b.low > 24) return false;
        b.low = b.high = (wide)1 << b.low;
        break;
    case OP_MUL: break;
    default: return true; /* of what is not negative, by a constant: no larger */
    }
    if (a.low < -limit || a.high > limit || b.low < -limit || b.high > limit) return false;
    wide p[4] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    for (int i = 0; i < 4; i++)
        if (!fits_type(type, p[i], p[i])) return false;
    return true;
}

static struct affine eval_binary(struct racer *r, const struct kx *x)
{
    struct operand left = {eval_affine(r, x->left), observed_range(r, x->left)};
    struct operand right = {eval_affine(r, x->right), observed_range(r, x->right)};
    struct affine form;
    bool integers = type_is_integer(x->type) && type_is_integer(x->left->type) &&
                    type_is_integer(x->right->type);
    if (integers && exact_fits(x->op, left.range, right.range, x->type) &&
        combine_operands(r, x->op, &left, &right, &form))
        return form;
    return unknown_value(r, x);
}

static bool keeps_value(const struct racer *r, const struct kx *x, const struct type *to)
{
    struct interval range = observed_range(r, x);
    return type_is_integer(x->type) && fits_type(to, range.low, range.high);
}

static struct affine eval_convert(struct racer *r, const struct kx *x)
{
    struct affine form = eval_affine(r, x->left);
    return keeps_value(r, x->left, x->type) ? form : unknown_value(r, x);
}

static struct affine assign_affine(struct racer *r, const struct kx *x)
{
    const struct variable *v = kx_root_variable(x->left);
    struct access target = access_of(r, x->left);
    struct operand old = {affine_constant(0), observed_range(r, x->left)};
    bool tracked = x->left->kind == KX_VARIABLE && is_tracked_form(v);
    if (tracked)
        old.form = r->locals[v->index];
    else if (x->op != OP_NONE && is_shared(v))
        record_access(r, target);
    struct operand right = {eval_affine(r, x->right), observed_range(r, x->right)};
    struct affine form = right.form;
    if (is_shared(v)) {
        target.write = true;
        record_access(r, target);
    }
    if (!tracked) return unknown_value(r, x);
    bool known = type_is_integer(x->right->type);
    if (x->op != OP_NONE)
        known = known && type_is_integer(x->operation) && keeps_value(r, x->left, x->operation) &&
                exact_fits(x->op, old.range, right.range, x->operation) &&
                exact_fits(x->op, old.range, right.range, v->type) &&
                combine_operands(r, x->op, &old, &right, &form);
    else
        known = known && keeps_value(r, x->right, v->type);
    if (known)
        r->locals[v->index] = form;
    else
        forget_variable(r, v, r->loops == 0);
    return x->postfix ? old.form : r->locals[v->index];
}

/* ---- guards ---- */

static void push_race_guard(struct racer *r, int kind, struct affine form)
{
    struct affine_guard *guard = ARENA_NEW(r->arena, struct affine_guard);
    *guard = (struct affine_guard){.outer = r->guards, .form = form};
    if (kind == GUARD_ZERO)
        guard->kind = GUARD_ZERO;
    else
        guard->kind = GUARD_AT_MOST_ZERO;
    r->guards = guard;
}

/* left op right; both exact integers. */
static void guard_compare(struct racer *r, enum kx_op op, struct affine left, struct affine right)
{
    struct affine one = affine_constant(1), form;
    bool less = op == OP_LT || op == OP_LE;
    form = less || op == OP_EQ ? left : right;
    if (op == OP_NE || !affine_add(&form, less || op == OP_EQ ? &right : &left, -1)) return;
    if ((op == OP_LT || op == OP_GT) && !affine_add(&form, &one, 1)) return;
    push_race_guard(r, op == OP_EQ ? GUARD_ZERO : GUARD_AT_MOST_ZERO, form);
}

static void guard_by(struct racer *r, const struct kx *c, bool truth)
{
    switch (c->kind) {
    case KX_COMPARE:
        if (type_is_integer(c->left->type) && type_is_integer(c->right->type))
            guard_compare(r, truth ? c->op : arith_opposite(c->op), eval_affine(r, c->left),
                          eval_affine(r, c->right));
        break;
    case KX_NOT: guard_by(r, c->left, !truth); break;
    case KX_LOGICAL:
        if ((c->op == OP_LOGICAL_AND) != truth) break;
        guard_by(r, c->left, truth);
        guard_by(r, c->right, truth);
        break;
    case KX_CONVERT:
        if (!type_is_bool(c->type)) break;
        if (type_is_bool(c->left->type))
            guard_by(r, c->left, truth);
        else if (type_is_integer(c->left->type) && !truth)
            push_race_guard(r, GUARD_ZERO, eval_affine(r, c->left));
        break;
    default: break;
    }
}

/* A condition that has been evaluated came out as `truth`. */
static void assume_truth(struct racer *r, const struct kx *condition, bool truth, uint32_t choice)
{
    if (kx_assigns(condition, NULL)) return;
    bool silent = r->silent;
    r->silent = true;
    guard_by(r, condition, truth);
    r->silent = silent;
    if (choice == 0) return;
    struct affine_guard *guard = ARENA_NEW(r->arena, struct affine_guard);
    *guard = (struct affine_guard){
        .outer = r->guards, .kind = GUARD_CHOICE, .choice = choice, .truth = truth};
    r->guards = guard;
}

/* A number for a condition that all items see alike, so that they take the same side; else 0. */
static uint32_t choice_of(struct racer *r, const struct kx *condition)
{
    if (r->loops > 0 || group_varies(r->facts, condition)) return 0;
    return ++r->choices;
}

/* ---- expressions ---- */

/* Both sides, each under its condition; what they assign is unknown. */
static struct affine eval_choice(struct racer *r, const struct kx *x)
{
    const struct affine_guard *guards = r->guards;
    const struct kx *sides[] = {x->right, x->third};
    struct assigned set = no_assigned(r);
    bool first = x->kind == KX_SELECT || x->op == OP_LOGICAL_AND;
    eval_affine(r, x->left);
    kx_any(x->right, collect_assigned, &set);
    kx_any(x->third, collect_assigned, &set);
    for (int i = 0; i < 2; i++) {
        if (sides[i] == NULL) continue;
        assume_truth(r, x->left, i == 0 ? first : !first, 0);
        eval_affine(r, sides[i]);
        forget_assigned_forms(r, &set);
        r->guards = guards;
    }
    return unknown_value(r, x);
}

static struct affine eval_variable(struct racer *r, const struct kx *x)
{
    const struct variable *v = x->variable;
    if (is_shared(v)) record_access(r, access_of(r, x));
    if (is_tracked_form(v)) return r->locals[v->index];
    for (uint32_t i = 0; v->kind == VARIABLE_ARGUMENT && i < r->kernel->argument_count; i++)
        if (r->kernel->arguments[i] == v) return r->arguments[i];
    return unknown_value(r, x);
}

static struct affine eval_constant(struct racer *r, const struct kx *x)
{
    if (!type_is_integer(x->type)) return unknown_value(r, x);
    wide value = arith_as_exact(x->value);
    bool small = value >= -AFFINE_CONSTANT_MAX && value <= AFFINE_CONSTANT_MAX;
    return small ? affine_constant((int64_t)value) : unknown_value(r, x);
}

static struct affine eval_negate(struct racer *r, const struct kx *x)
{
    struct affine form = affine_constant(0), operand = eval_affine(r, x->left);
    struct interval range = observed_range(r, x->left);
    bool exact = type_is_integer(x->type) && fits_type(x->type, -range.high, -range.low);
    return exact && affine_add(&form, &operand, -1) ? form : unknown_value(r, x);
}

static struct affine eval_affine(struct racer *r, const struct kx *x)
{
    switch (x->kind) {
    case KX_CONSTANT: return eval_constant(r, x);
    case KX_ITEM:
        if (x->dimension > ITEM_Z) return unknown_value(r, x); /* the same for all items */
        return r->kernel->group[x->dimension] > 1 ? affine_item((int)x->dimension)
                                                  : affine_constant(0);
    case KX_VARIABLE: return eval_variable(r, x);
    case KX_NEGATE: return eval_negate(r, x);
    case KX_BINARY: return eval_binary(r, x);
    case KX_CONVERT: return eval_convert(r, x);
    case KX_ASSIGN: return assign_affine(r, x);
    case KX_LOGICAL:
    case KX_SELECT: return eval_choice(r, x);
    case KX_COMMA: eval_affine(r, x->left); return eval_affine(r, x->right);
    default: break;
    }
    const struct variable *root = kx_root_variable(x);
    if (is_shared(root))
        record_access(r, access_of(r, x));
    else
        for (uint32_t i = 0; i < kx_child_count(x); i++)
            if (kx_child(x, i) != NULL) eval_affine(r, kx_child(x, i));
    return unknown_value(r, x);
}

/* ---- branches ---- */

/* Where one side does not come back, what follows stands under the condition of the other. */
static void execute_if(struct racer *r, const struct ks *s)
{
    const struct affine_guard *guards = r->guards;
    struct assigned set = no_assigned(r);
    bool barrier = group_has_barrier(s);
    eval_affine(r, s->expr);
    uint32_t choice = choice_of(r, s->expr);
    ks_any(s->body, collect_declared, collect_assigned, &set);
    ks_any(s->otherwise, collect_declared, collect_assigned, &set);
    struct affine *before =
        arena_copy(r->arena, r->locals, (r->kernel->local_count + 1) * sizeof *r->locals);
    struct accesses entry = {0};
    if (barrier) entry = copy_accesses(r, &r->pending);
    assume_truth(r, s->expr, true, choice);
    execute_list(r, s->body);
    bool back = r->reachable;
    struct affine *after = r->locals;
    struct accesses pending = r->pending;
    r->locals = before;
    r->reachable = true;
    if (barrier) r->pending = entry;
    r->guards = guards;
    assume_truth(r, s->expr, false, choice);
    execute_list(r, s->otherwise);
    if (barrier) add_all(r, &r->pending, &pending);
    if (back && r->reachable) {
        for (uint32_t i = 0; i < r->kernel->local_count; i++)
            if (set.by_index[i] != NULL && !affine_equal(&r->locals[i], &after[i]))
                forget_variable(r, set.by_index[i], r->loops == 0);
        r->guards = guards;
    } else if (back) {
        r->locals = after;
        r->guards = guards;
        assume_truth(r, s->expr, true, choice);
    }
    r->reachable |= back;
}

static void execute_switch(struct racer *r, const struct ks *s)
{
    struct racer outer = *r;
    struct assigned set = no_assigned(r);
    struct accesses entry = {0}, breaks = {0};
    bool barrier = group_has_barrier(s);
    eval_affine(r, s->expr);
    ks_any(s->body, collect_declared, collect_assigned, &set);
    forget_assigned_forms(r, &set);
    if (barrier) entry = copy_accesses(r, &r->pending);
    r->switch_guards = outer.guards;
    r->switch_entry = barrier ? &entry : NULL;
    r->breaks = barrier ? &breaks : NULL;
    r->switch_set = &set;
    execute_list(r, s->body);
    forget_assigned_forms(r, &set);
    add_all(r, &r->pending, &entry);
    add_all(r, &r->pending, &breaks);
    r->switch_guards = outer.switch_guards;
    r->switch_entry = outer.switch_entry;
    r->switch_set = outer.switch_set;
    r->breaks = outer.breaks;
    r->guards = outer.guards;
    r->reachable = true;
}

/* ---- loops ---- */

struct counter {                     /* for (variable = begin; ...; variable += step) */
    const struct variable *variable; /* NULL: there is none */
    struct affine begin;
    int64_t step;
};

struct loop {
    struct assigned set; /* what a round assigns */
    struct counter counter;
};

static struct counter find_loop_counter(struct racer *r, const struct ks *s)
{
    struct counter none = {.variable = NULL};
    const struct kx *step = s->step;
    struct assigned inside = no_assigned(r);
    if (step == NULL || step->kind != KX_ASSIGN || step->left->kind != KX_VARIABLE ||
        (step->op != OP_ADD && step->op != OP_SUB) || step->right->kind != KX_CONSTANT ||
        !is_tracked_form(step->left->variable) || !type_is_integer(step->right->type))
        return none;
    const struct variable *v = step->left->variable;
    kx_any(s->expr, collect_assigned, &inside);
    ks_any(s->body, collect_declared, collect_assigned, &inside);
    if (inside.by_index[v->index] != NULL) return none;
    wide pace = arith_as_exact(step->right->value);
    struct interval range = observed_range(r, step->left), by = {pace, pace};
    bool exact = exact_fits(step->op, range, by, v->type) &&
                 exact_fits(step->op, range, by, step->operation) &&
                 keeps_value(r, step->left, step->operation);
    if (!exact || pace < -AFFINE_FACTOR_MAX || pace > AFFINE_FACTOR_MAX) return none;
    return (struct counter){v, r->locals[v->index], (int64_t)(step->op == OP_ADD ? pace : -pace)};
}

static struct loop loop_of(struct racer *r, const struct ks *s)
{
    return (struct loop){loop_assigned(r, s), find_loop_counter(r, s)};
}

/* Before any round: the counter is its beginning and so many steps, everything else unknown. */
static void any_round(struct racer *r, const struct loop *loop)
{
    const wide most = (wide)1 << 64;
    struct affine value = loop->counter.begin;
    forget_assigned_forms(r, &loop->set);
    if (loop->counter.variable == NULL) return;
    bool stable = r->loops == 0 && !r->facts->varying[loop->counter.variable->index];
    struct affine rounds = fresh_symbol(r, (struct interval){0, most}, stable);
    if (affine_add(&value, &rounds, loop->counter.step))
        r->locals[loop->counter.variable->index] = value;
}

/* Without barriers: the items are in different rounds. */
static void execute_free_loop(struct racer *r, const struct ks *s)
{
    const struct affine_guard *guards = r->guards;
    struct accesses *breaks = r->breaks, *continues = r->continues;
    struct loop loop = loop_of(r, s);
    r->loops++;
    r->breaks = r->continues = NULL;
    any_round(r, &loop);
    if (s->expr != NULL && !s->test_after) {
        eval_affine(r, s->expr);
        assume_truth(r, s->expr, true, 0);
    }
    execute_list(r, s->body);
    r->guards = guards;
    if (s->expr != NULL && s->test_after) eval_affine(r, s->expr);
    if (s->step != NULL) eval_affine(r, s->step);
    r->loops--;
    r->breaks = breaks, r->continues = continues;
    forget_assigned_forms(r, &loop.set);
    r->reachable = true;
}

static bool holds_access(const struct accesses *accesses, const struct access *access)
{
    for (size_t i = 0; i < accesses->all.count; i++)
        if (accesses->all.items[i] == access) return true;
    return false;
}

/* One round from its test on; *out gathers what may be pending where the loop is left. */
static void execute_round(struct racer *r, const struct ks *s, const struct loop *loop,
                          struct accesses *out)
{
    const struct affine_guard *guards = r->guards;
    struct accesses continues = {0}, *outer_continues = r->continues;
    r->continues = &continues;
    r->breaks = out;
    if (s->expr != NULL && !s->test_after) {
        eval_affine(r, s->expr);
        add_all(r, out, &r->pending);
        assume_truth(r, s->expr, true, 0);
    }
    execute_list(r, s->body);
    r->guards = guards;
    r->reachable = true;
    if (continues.all.count > 0) any_round(r, loop);
    add_all(r, &r->pending, &continues);
    if (s->expr != NULL && s->test_after) eval_affine(r, s->expr);
    if (s->step != NULL) eval_affine(r, s->step);
    add_all(r, out, &r->pending);
    r->continues = outer_continues;
}

/* The second time what remains of the first round is pending.  Where a round may pass without a
 * barrier, it may be any earlier one. */
static void execute_loop_of_barriers(struct racer *r, const struct ks *s)
{
    struct accesses *breaks = r->breaks, *continues = r->continues, out = {0};
    struct loop loop = loop_of(r, s);
    any_round(r, &loop);
    struct access *mark = ARENA_NEW(r->arena, struct access); /* pending: no barrier since */
    mark->port = UINT32_MAX;
    vec_push(r->arena, &r->pending.all, mark);
    execute_round(r, s, &loop, &out);
    if (holds_access(&r->pending, mark)) any_round(r, &loop);
    execute_round(r, s, &loop, &out);
    r->breaks = breaks, r->continues = continues;
    add_all(r, &r->pending, &out);
    forget_assigned_forms(r, &loop.set);
    r->reachable = true;
}

/* ---- statements ---- */

static void execute_jump(struct racer *r, struct accesses *to)
{
    if (to != NULL) add_all(r, to, &r->pending);
    r->reachable = false;
}

static void execute_store(struct racer *r, const struct ks *s)
{
    const struct kernel_port *port = &r->kernel->out[s->port];
    struct access a = {.port = s->port, .span = s->span, .write = true};
    if (s->element != NULL) {
        a.place.index[a.place.dimensions] = eval_affine(r, s->element);
        a.place.length[a.place.dimensions++] = port->arity;
    }
    struct affine index = eval_affine(r, s->index);
    eval_affine(r, s->expr);
    a.place.index[a.place.dimensions] = index;
    a.place.length[a.place.dimensions++] = port->push;
    record_access(r, a);
}

static void race_statement(struct racer *r, const struct ks *s)
{
    switch (s->kind) {
    case KS_EXPR: eval_affine(r, s->expr); break;
    case KS_DECLARE: {
        struct affine form = s->expr != NULL ? eval_affine(r, s->expr) : affine_constant(0);
        if (is_tracked_form(s->variable)) r->locals[s->variable->index] = form;
        break;
    }
    case KS_BLOCK: execute_list(r, s->body); break;
    case KS_IF: execute_if(r, s); break;
    case KS_LOOP:
        execute_list(r, s->init);
        if (group_has_barrier(s))
            execute_loop_of_barriers(r, s);
        else
            execute_free_loop(r, s);
        break;
    case KS_SWITCH: execute_switch(r, s); break;
    case KS_CASE: /* a label: comes from the switch or falls through */
        r->guards = r->switch_guards;
        r->reachable = true;
        forget_assigned_forms(r, r->switch_set);
        if (r->switch_entry != NULL) add_all(r, &r->pending, r->switch_entry);
        break;
    case KS_BREAK: execute_jump(r, r->breaks); break;
    case KS_CONTINUE: execute_jump(r, r->continues); break;
    case KS_RETURN:
    case KS_STOP: r->reachable = false; break;
    case KS_EMIT:
        if (s->element != NULL) eval_affine(r, s->element);
        eval_affine(r, s->expr);
        break;
    case KS_STORE: execute_store(r, s); break;
    case KS_LAUNCH:
        if (s->expr != NULL) eval_affine(r, s->expr);
        break;
    case KS_FOREIGN: break; /* it has no work-items */
    case KS_BARRIER: r->pending = (struct accesses){0}; break;
    }
}

static void execute_list(struct racer *r, const struct ks *first)
{
    const struct affine_guard *guards = r->guards;
    for (const struct ks *s = first; s != NULL && r->reports < REPORTS_MAX; s = s->next)
        race_statement(r, s);
    r->guards = guards;
}

/* ---- all ---- */

void race_check(const struct group_facts *facts)
{
    struct kernel *kernel = facts->kernel;
    uint32_t count = kernel->local_count + 1;
    struct racer r = {.facts = facts, .kernel = kernel, .arena = facts->arena, .reachable = true};
    if (group_items(kernel) == 1) return;
    r.symbols.arena = facts->arena;
    r.variable_range = ARENA_ARRAY(r.arena, struct interval, count);
    r.variable_read = ARENA_ARRAY(r.arena, bool, count);
    r.locals = ARENA_ARRAY(r.arena, struct affine, count);
    r.arguments = ARENA_ARRAY(r.arena, struct affine, kernel->argument_count + 1);
    struct walk_request request = {.cx = facts->cx,
                                   .kernel = kernel,
                                   .body = kernel->body,
                                   .local_count = kernel->local_count,
                                   .section = WALK_FIRING,
                                   .mark = true,
                                   .observe = observe_range,
                                   .observer = &r};
    walk_body(&request, r.arena);
    for (uint32_t i = 0; i < kernel->argument_count; i++)
        if (type_is_integer(kernel->arguments[i]->type))
            r.arguments[i] = fresh_symbol(&r, type_range(kernel->arguments[i]->type), true);
    execute_list(&r, kernel->body);
}
