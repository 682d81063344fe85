/* SPDX-License-Identifier: MIT */
/*
 * Facts: linear relations that conditions and assignments show.
 *
 * A fact says that a sum of atoms, each times a factor, lies in an interval.  An atom is an
 * expression without effects, such as `i`, `x[1]` or `start[k]`.  Atoms are compared by their form.  An assignment to a
 * variable of an atom ends the fact.  Forms hold over the integers: a sum counts as a sum only where it is shown not to
 * leave its type, otherwise it is an atom itself.  The bound of a form F follows from a fact G by
 * F = (F - c G) + c G  with c = 1 or -1; from two facts, by two such steps.
 *
 * Limits: FACTS_MAX facts (the oldest goes), FACT_TERMS_MAX atoms, expressions DEPTH_MAX deep.
 */
#include "compiler/bodies/ranges_internal.h"

enum { DEPTH_MAX = 6, CHAIN_MAX = 2 };

static const wide FACTOR_LIMIT = (wide)1 << 30, CONSTANT_LIMIT = (wide)1 << 62;

/* ---- atoms ---- */

static bool is_pure(const struct walker *w, const struct kx *e, int depth)
{
    if (e == NULL) return true;
    if (depth > DEPTH_MAX) return false;
    switch (e->kind) {
    case KX_CONSTANT:
    case KX_ITEM:
    case KX_PHASE: return true;
    case KX_VARIABLE:
        switch (e->variable->kind) {
        case VARIABLE_SHARED: return false; /* other items may write it */
        case VARIABLE_STATE:
        case VARIABLE_TABLE: return w->kept_local != WALK_NO_SLOT;
        default: return true;
        }
    case KX_PEEK:
    case KX_INDEX:
    case KX_MEMBER:
    case KX_CONVERT:
    case KX_NEGATE:
    case KX_COMPLEMENT:
    case KX_BINARY: return is_pure(w, e->left, depth + 1) && is_pure(w, e->right, depth + 1);
    default: return false;
    }
}

static bool is_same_expression(const struct kx *a, const struct kx *b)
{
    if (a == NULL || b == NULL) return a == b;
    if (a->kind != b->kind || a->type != b->type) return false;
    switch (a->kind) {
    case KX_CONSTANT: return a->value.type == b->value.type && a->value.bits == b->value.bits;
    case KX_VARIABLE: return a->variable == b->variable;
    case KX_ITEM: return a->dimension == b->dimension;
    case KX_PHASE: return true;
    case KX_PEEK: {
        if (a->port != b->port || !is_same_expression(a->left, b->left)) return false;
        const struct kx *i = a->right, *j = b->right; /* x is x[0] */
        bool first_a = i == NULL || (i->kind == KX_CONSTANT && i->value.bits == 0);
        bool first_b = j == NULL || (j->kind == KX_CONSTANT && j->value.bits == 0);
        return first_a || first_b ? first_a && first_b : is_same_expression(i, j);
    }
    case KX_MEMBER: return a->member == b->member && is_same_expression(a->left, b->left);
    case KX_INDEX:
    case KX_CONVERT:
    case KX_NEGATE:
    case KX_COMPLEMENT:
    case KX_BINARY:
        if (a->op != b->op) return false;
        if (is_same_expression(a->left, b->left) && is_same_expression(a->right, b->right))
            return true;
        return (a->op == OP_ADD || a->op == OP_MUL) && is_same_expression(a->left, b->right) &&
               is_same_expression(a->right, b->left);
    default: return false;
    }
}

static bool mentions_variable(const struct kx *e, const struct variable *v)
{
    if (e == NULL) return false;
    if (e->kind == KX_VARIABLE) return e->variable == v;
    return mentions_variable(e->left, v) || mentions_variable(e->right, v);
}

static const struct kx *strip_conversions(const struct kx *e)
{
    while (e->kind == KX_CONVERT && walk_keeps_values(e->left->type, e->type))
        e = e->left;
    return e;
}

static struct interval atom_range(const struct walker *w, const struct walk_state *s,
                                  const struct kx *atom)
{
    struct interval value;
    return walk_known_value(w, s, atom, &value) ? value : interval_of_type(atom->type);
}

/* ---- forms ---- */

/* to += scale x more.  False: it is too large, `to` is undefined. */
static bool add_form(struct walk_form *to, const struct walk_form *more, int64_t scale)
{
    to->constant += scale * more->constant;
    if (to->constant > CONSTANT_LIMIT || to->constant < -CONSTANT_LIMIT) return false;
    for (uint32_t i = 0; i < more->count; i++) {
        uint32_t at = 0;
        while (at < to->count && !is_same_expression(to->terms[at].atom, more->terms[i].atom))
            at++;
        wide factor = (wide)scale * more->terms[i].factor;
        if (at < to->count) factor += to->terms[at].factor;
        if (factor > FACTOR_LIMIT || factor < -FACTOR_LIMIT) return false;
        if (at == to->count) {
            if (to->count == FACT_TERMS_MAX) return false;
            to->terms[to->count++].atom = more->terms[i].atom;
        }
        to->terms[at].factor = (int64_t)factor;
        if (factor == 0) to->terms[at] = to->terms[--to->count];
    }
    return true;
}

/* The interval of the form, narrowed by facts.  Facts that contradict each other narrow nothing: no firing gets there. */
static struct interval fact_form_range(const struct walker *w, const struct walk_state *s,
                                       const struct walk_form *form, int chain)
{
    struct interval range = {form->constant, form->constant};
    for (uint32_t i = 0; i < form->count; i++) {
        struct interval atom = atom_range(w, s, form->terms[i].atom);
        wide factor = form->terms[i].factor;
        range.low += factor * (factor > 0 ? atom.low : atom.high);
        range.high += factor * (factor > 0 ? atom.high : atom.low);
    }
    if (chain == 0 || form->count == 0) return range;
    for (uint32_t i = 0; i < s->fact_count; i++) {
        const struct walk_fact *fact = &s->facts[i];
        for (int64_t sign = 1; sign >= -1; sign -= 2) {
            struct walk_form rest = *form;
            if (!add_form(&rest, &fact->form, -sign)) continue;
            if (rest.count > form->count) continue;
            struct interval more = fact_form_range(w, s, &rest, chain - 1), by = fact->range;
            if (sign < 0) by = (struct interval){-by.high, -by.low};
            range = interval_meet(range, (struct interval){more.low + by.low, more.high + by.high});
        }
    }
    return range;
}

/* The form of an integer expression.  False: it has none. */
static bool form_of(const struct walker *w, const struct walk_state *s, const struct kx *whole,
                    int depth, struct walk_form *form)
{
    const struct kx *e = strip_conversions(whole);
    *form = (struct walk_form){0};
    if (!type_is_integer(e->type) || depth > DEPTH_MAX) return false;
    if (e->kind == KX_CONSTANT) {
        form->constant = interval_of_value(e->value).low;
        return form->constant <= CONSTANT_LIMIT && form->constant >= -CONSTANT_LIMIT;
    }
    struct walk_form right;
    bool linear = false;
    if (e->kind == KX_BINARY && (e->op == OP_ADD || e->op == OP_SUB))
        linear = form_of(w, s, e->left, depth + 1, form) &&
                 form_of(w, s, e->right, depth + 1, &right) &&
                 add_form(form, &right, e->op == OP_ADD ? 1 : -1);
    else if (e->kind == KX_CONVERT && type_is_integer(e->left->type))
        linear = form_of(w, s, e->left, depth + 1, form);
    if (linear &&
        interval_contains(interval_of_type(e->type), fact_form_range(w, s, form, CHAIN_MAX)))
        return true;
    *form = (struct walk_form){0};
    if (!is_pure(w, e, 0)) return false;
    struct interval known = atom_range(w, s, e);
    if (known.low == known.high) {
        form->constant = known.low;
        return known.low <= CONSTANT_LIMIT && known.low >= -CONSTANT_LIMIT;
    }
    form->count = 1;
    form->terms[0] = (struct walk_term){e, 1};
    return true;
}

/* ---- facts ---- */

static bool same_form(const struct walk_form *a, const struct walk_form *b)
{
    struct walk_form difference = *a;
    return a->count == b->count && add_form(&difference, b, -1) && difference.count == 0 &&
           difference.constant == 0;
}

static void add_range_fact(struct walk_state *s, struct walk_form form, struct interval range)
{
    range.low -= form.constant;
    range.high -= form.constant;
    form.constant = 0;
    for (uint32_t i = 0; i < s->fact_count; i++)
        if (same_form(&s->facts[i].form, &form)) {
            s->facts[i].range = interval_meet(s->facts[i].range, range);
            return;
        }
    if (s->fact_count == FACTS_MAX) {
        for (uint32_t i = 1; i < FACTS_MAX; i++)
            s->facts[i - 1] = s->facts[i];
        s->fact_count--;
    }
    s->facts[s->fact_count++] = (struct walk_fact){form, range};
}

/* Whether the interval of the one atom is kept anyway. */
static bool is_kept(const struct walker *w, const struct walk_state *s, const struct kx *atom)
{
    return walk_plain_local(w, atom) != NULL || atom->kind == KX_ITEM ||
           walk_packet(w, s, atom) != NULL;
}

void walk_fact_compare(const struct walker *w, struct walk_state *s, const struct kx *left,
                       enum kx_op op, const struct kx *right, wide offset)
{
    struct walk_form form, other;
    struct interval range = {INTERVAL_MIN, INTERVAL_MAX};
    switch (op) {
    case OP_LT: range.high = -1; break;
    case OP_LE: range.high = 0; break;
    case OP_GT: range.low = 1; break;
    case OP_GE: range.low = 0; break;
    case OP_EQ: range = (struct interval){0, 0}; break;
    default: return;
    }
    if (!form_of(w, s, left, 0, &form) || !form_of(w, s, right, 0, &other)) return;
    if (!add_form(&form, &other, -1) || form.count == 0) return;
    form.constant += offset;
    if (form.count == 1 && is_kept(w, s, form.terms[0].atom)) return;
    add_range_fact(s, form, range);
}

enum kx_op walk_fact_unequal(const struct walker *w, const struct walk_state *s,
                             const struct kx *left, const struct kx *right, wide offset)
{
    struct walk_form form, other;
    if (s->fact_count == 0 || !form_of(w, s, left, 0, &form) || !form_of(w, s, right, 0, &other) ||
        !add_form(&form, &other, -1))
        return OP_NE;
    form.constant += offset;
    struct interval difference = fact_form_range(w, s, &form, CHAIN_MAX);
    return difference.high <= 0 ? OP_LT : difference.low >= 0 ? OP_GT : OP_NE;
}

struct interval walk_fact_difference(const struct walker *w, const struct walk_state *s,
                                     const struct kx *left, const struct kx *right)
{
    struct walk_form form, other;
    if (!form_of(w, s, left, 0, &form) || !form_of(w, s, right, 0, &other) ||
        !add_form(&form, &other, -1))
        return INTERVAL_ALL;
    return fact_form_range(w, s, &form, CHAIN_MAX);
}

static void take_over_tie(const struct walker *w, struct walk_state *s, const struct variable *v,
                          const struct walk_form *form)
{
    if (form->count != 1) return;
    const struct variable *from = walk_plain_local(w, form->terms[0].atom);
    if (from == NULL || strip_conversions(form->terms[0].atom)->kind != KX_VARIABLE) return;
    walk_tie_take_over(w, s, walk_slot(w, v), walk_slot(w, from), form->terms[0].factor,
                       form->constant);
}

/* `v` has become the sum of `form`, and of every form that equals it by one of the facts. */
static void take_over_ties(const struct walker *w, struct walk_state *s, const struct variable *v,
                           const struct walk_form *form)
{
    if (w->tie_count == 0) return;
    take_over_tie(w, s, v, form);
    for (uint32_t i = 0; i < s->fact_count; i++) {
        const struct walk_fact *fact = &s->facts[i];
        if (fact->range.low != fact->range.high) continue;
        for (int64_t sign = 1; sign >= -1; sign -= 2) {
            struct walk_form equal = *form;
            if (!add_form(&equal, &fact->form, -sign)) continue;
            equal.constant += sign * fact->range.low;
            take_over_tie(w, s, v, &equal);
        }
    }
}

void walk_fact_assigned(const struct walker *w, struct walk_state *s, const struct kx *target,
                        const struct kx *value)
{
    struct walk_form form;
    const struct variable *v = walk_plain_local(w, target);
    if (v == NULL || strip_conversions(target)->kind != KX_VARIABLE || mentions_variable(value, v))
        return;
    if (!form_of(w, s, value, 0, &form)) return;
    take_over_ties(w, s, v, &form);
    if (form.count == 0 || form.count == FACT_TERMS_MAX) return;
    for (uint32_t i = 0; i < form.count; i++)
        if (!is_kept(w, s, form.terms[i].atom)) return;
    const struct walk_form own = {.count = 1, .terms = {{strip_conversions(target), 1}}};
    if (add_form(&form, &own, -1)) add_range_fact(s, form, (struct interval){0, 0});
}

void walk_fact_kill(struct walk_state *s, const struct variable *v)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->fact_count; i++) {
        const struct walk_form *form = &s->facts[i].form;
        bool dies = false;
        for (uint32_t t = 0; t < form->count; t++)
            dies |= mentions_variable(form->terms[t].atom, v);
        if (!dies) s->facts[kept++] = s->facts[i];
    }
    s->fact_count = kept;
}

static bool kill_assigned(const struct kx *x, void *data)
{
    const struct variable *v = x->kind == KX_ASSIGN ? kx_root_variable(x->left) : NULL;
    if (v != NULL) walk_fact_kill(data, v);
    return false;
}

static bool kill_declared(const struct ks *s, void *data)
{
    if (s->kind == KS_DECLARE) walk_fact_kill(data, s->variable);
    return false;
}

void walk_fact_kill_loop(struct walk_state *s, const struct ks *loop)
{
    kx_any(loop->expr, kill_assigned, s);
    kx_any(loop->step, kill_assigned, s);
    ks_any(loop->body, kill_declared, kill_assigned, s);
}

void walk_fact_join(struct walk_state *to, const struct walk_state *from)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < to->fact_count; i++) {
        struct walk_fact fact = to->facts[i];
        uint32_t j = 0;
        while (j < from->fact_count && !same_form(&fact.form, &from->facts[j].form))
            j++;
        if (j == from->fact_count) continue;
        fact.range = interval_join(fact.range, from->facts[j].range);
        to->facts[kept++] = fact;
    }
    to->fact_count = kept;
}

struct interval walk_fact_value(const struct walker *w, const struct walk_state *s,
                                const struct kx *e, struct interval value)
{
    struct walk_form form;
    switch (e->kind) {
    case KX_VARIABLE:
    case KX_BINARY:
    case KX_INDEX:
    case KX_MEMBER:
    case KX_PEEK:
    case KX_CONVERT: break;
    default: return value;
    }
    if (value.low == value.high || !form_of(w, s, e, 0, &form)) return value;
    value = interval_meet(value, fact_form_range(w, s, &form, CHAIN_MAX));
    /* When a fact was found, the expression may still have been an atom. */
    if (e->kind != KX_BINARY || form.count < 2 || !is_pure(w, e, 0)) return value;
    const struct walk_form atom = {.count = 1, .terms = {{e, 1}}};
    return interval_meet(value, fact_form_range(w, s, &atom, 1));
}
