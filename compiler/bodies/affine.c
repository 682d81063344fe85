/* SPDX-License-Identifier: MIT */
/*
 * Method: with p at `a` and q at `b`, every dimension gives the equation index_a(p) = index_b(q).
 * Written with d = p - q it is linear in d, q and the symbols, all of them between bounds; what the
 * guards say narrows the bounds or gives further equations.  That p and q differ is tried one
 * dimension and sign at a time.  One equation without a solution excludes the meeting.
 */
#include "compiler/bodies/affine.h"
#include "compiler/ir/ratio.h"

#define UNKNOWN_MAX ((affine_wide)1 << 66)

/* ---- forms ---- */

struct affine affine_constant(int64_t value)
{
    return (struct affine){.constant = value};
}

struct affine affine_item(int dimension)
{
    struct affine form = {0};
    form.item[dimension] = 1;
    return form;
}

struct affine affine_fresh(struct affine_symbols *symbols, struct affine_symbol symbol)
{
    struct affine form = {.count = 1};
    form.terms[0] = (struct affine_term){(uint32_t)symbols->all.count, 1};
    vec_push(symbols->arena, &symbols->all, symbol);
    return form;
}

/* *to += scale x value, within -limit .. limit. */
static bool accumulate_scaled(int64_t *to, int64_t value, int64_t scale, int64_t limit)
{
    affine_wide sum = *to + (affine_wide)value * scale;
    if (sum < -limit || sum > limit) return false;
    *to = (int64_t)sum;
    return true;
}

static bool add_term(struct affine *to, struct affine_term term, int64_t scale)
{
    uint32_t i = 0;
    while (i < to->count && to->terms[i].symbol != term.symbol)
        i++;
    if (i == AFFINE_TERMS_MAX) return false;
    if (i == to->count) to->terms[to->count++] = (struct affine_term){term.symbol, 0};
    if (!accumulate_scaled(&to->terms[i].factor, term.factor, scale, AFFINE_FACTOR_MAX))
        return false;
    if (to->terms[i].factor == 0) to->terms[i] = to->terms[--to->count];
    return true;
}

bool affine_add(struct affine *to, const struct affine *more, int64_t scale)
{
    struct affine added = *more; /* `more` may be `to` */
    for (int d = 0; d < 3; d++)
        if (!accumulate_scaled(&to->item[d], added.item[d], scale, AFFINE_FACTOR_MAX)) return false;
    for (uint32_t i = 0; i < added.count; i++)
        if (!add_term(to, added.terms[i], scale)) return false;
    return accumulate_scaled(&to->constant, added.constant, scale, AFFINE_CONSTANT_MAX);
}

bool affine_is_constant(const struct affine *form)
{
    return form->count == 0 && form->item[0] == 0 && form->item[1] == 0 && form->item[2] == 0;
}

bool affine_equal(const struct affine *a, const struct affine *b)
{
    struct affine difference = *a;
    return affine_add(&difference, b, -1) && affine_is_constant(&difference) &&
           difference.constant == 0;
}

bool affine_is_stable(const struct affine_symbols *symbols, const struct affine *form)
{
    for (uint32_t i = 0; i < form->count; i++)
        if (!symbols->all.items[form->terms[i].symbol].stable) return false;
    return form->item[0] == 0 && form->item[1] == 0 && form->item[2] == 0;
}

/* ---- one equation: constant + sum of factor x unknown = 0 ---- */

enum { UNKNOWNS_MAX = 6 + 4 * AFFINE_TERMS_MAX, TRIES_MAX = 4096 };

struct unknown {
    affine_wide factor, low, high;
};

struct equation {
    struct unknown unknowns[UNKNOWNS_MAX];
    uint32_t count;
    affine_wide constant;
};

static affine_wide ceil_divide(affine_wide a, affine_wide b)
{
    return -floor_divide(-a, b);
}

static affine_wide greatest_divisor(affine_wide a, affine_wide b)
{
    while (b != 0) {
        affine_wide rest = a % b;
        a = b, b = rest;
    }
    return a < 0 ? -a : a;
}

/* The range of the sum of the unknowns from `first` on, and the divisor of all their factors. */
static void sum_range(const struct equation *e, uint32_t first, affine_wide *low, affine_wide *high,
                      affine_wide *divisor)
{
    *low = *high = *divisor = 0;
    for (uint32_t i = first; i < e->count; i++) {
        const struct unknown *u = &e->unknowns[i];
        *low += u->factor * u->low;
        *high += u->factor * u->high;
        *divisor = greatest_divisor(*divisor, u->factor);
    }
}

/* Whether the unknowns from `first` on, in order of falling factors, can add up to -constant. */
static bool is_solvable(const struct equation *e, uint32_t first, affine_wide constant, int *tries)
{
    affine_wide low, high, divisor;
    sum_range(e, first, &low, &high, &divisor);
    if (constant + low > 0 || constant + high < 0) return false;
    if (divisor == 0) return constant == 0;
    if (constant % divisor != 0) return false;
    if (first + 1 >= e->count) return true;
    const struct unknown *u = &e->unknowns[first];
    sum_range(e, first + 1, &low, &high, &divisor);
    affine_wide a = -constant - high, b = -constant - low; /* factor x unknown is between them */
    affine_wide from = ceil_divide(a, u->factor), to = floor_divide(b, u->factor);
    if (from < u->low) from = u->low;
    if (to > u->high) to = u->high;
    for (affine_wide value = from; value <= to; value++) {
        if (--*tries < 0) return true;
        if (is_solvable(e, first + 1, constant + u->factor * value, tries)) return true;
    }
    return false;
}

/* Factors are kept positive, and each once: f a + f b is f (a + b). */
static void add_unknown(struct equation *e, affine_wide factor, affine_wide low, affine_wide high)
{
    uint32_t i = 0;
    if (factor == 0) return;
    if (low == high) {
        e->constant += factor * low;
        return;
    }
    if (factor < 0) {
        affine_wide negated = -low;
        factor = -factor, low = -high, high = negated;
    }
    while (i < e->count && e->unknowns[i].factor != factor)
        i++;
    if (i == e->count) e->unknowns[e->count++] = (struct unknown){.factor = factor};
    e->unknowns[i].low += low;
    e->unknowns[i].high += high;
}

/* ---- ranges ---- */

struct range {
    affine_wide low, high;
};

static bool is_empty(struct range r)
{
    return r.low > r.high;
}

static struct range form_range(const struct affine_symbols *symbols, const struct affine *form,
                               const struct range item[3])
{
    struct range r = {form->constant, form->constant};
    for (int d = 0; d < 3; d++) {
        affine_wide a = form->item[d] * item[d].low, b = form->item[d] * item[d].high;
        r.low += a < b ? a : b;
        r.high += a < b ? b : a;
    }
    for (uint32_t i = 0; i < form->count; i++) {
        const struct affine_symbol *s = &symbols->all.items[form->terms[i].symbol];
        affine_wide a = form->terms[i].factor * s->low, b = form->terms[i].factor * s->high;
        r.low += a < b ? a : b;
        r.high += a < b ? b : a;
    }
    return r;
}

/* Narrows item[d] by form <= 0. */
static void narrow_item(const struct affine_symbols *symbols, const struct affine *form,
                        struct range item[3], int d)
{
    struct affine rest = *form;
    affine_wide factor = form->item[d];
    rest.item[d] = 0;
    affine_wide limit = -form_range(symbols, &rest, item).low; /* factor x item <= limit */
    if (factor > 0) {
        affine_wide most = floor_divide(limit, factor);
        if (most < item[d].high) item[d].high = most;
    } else if (factor < 0) {
        affine_wide least = ceil_divide(limit, factor);
        if (least > item[d].low) item[d].low = least;
    }
}

static void narrow_items(const struct affine_symbols *symbols, const struct affine *form,
                         struct range item[3])
{
    for (int d = 0; d < 3; d++)
        if (!is_empty(item[0]) && !is_empty(item[1]) && !is_empty(item[2]))
            narrow_item(symbols, form, item, d);
}

/* Which items can be there. */
static bool item_ranges(const struct affine_symbols *symbols, const uint32_t group[3],
                        const struct affine_guard *guards, struct range item[3])
{
    for (int d = 0; d < 3; d++)
        item[d] = (struct range){0, (affine_wide)group[d] - 1};
    for (int round = 0; round < 2; round++)
        for (const struct affine_guard *g = guards; g; g = g->outer) {
            struct affine negated = {0};
            if (g->kind == GUARD_CHOICE) continue;
            narrow_items(symbols, &g->form, item);
            if (g->kind == GUARD_ZERO && affine_add(&negated, &g->form, -1))
                narrow_items(symbols, &negated, item);
        }
    return !is_empty(item[0]) && !is_empty(item[1]) && !is_empty(item[2]);
}

/* ---- bounds that are forms: item.x < s ---- */

enum { BOUNDS_MAX = 12, EQUATIONS_MAX = 2 * AFFINE_DIMENSIONS_MAX + 8 };

struct bound { /* of d = p - q in one dimension, or of one item */
    int dimension;
    bool upper;
    struct affine form; /* stable */
};

struct bounds {
    struct bound items[BOUNDS_MAX];
    uint32_t count;
};

static void add_bound(struct bounds *bounds, int dimension, bool upper, struct affine form)
{
    if (bounds->count < BOUNDS_MAX)
        bounds->items[bounds->count++] = (struct bound){dimension, upper, form};
}

/* form <= 0, where it bounds the index in a single dimension by a stable form. */
static void bound_of(const struct affine_symbols *symbols, const struct affine *form,
                     struct bounds *bounds)
{
    int dimension = -1;
    for (int d = 0; d < 3; d++) {
        if (form->item[d] == 0) continue;
        if (dimension >= 0 || (form->item[d] != 1 && form->item[d] != -1)) return;
        dimension = d;
    }
    if (dimension < 0) return;
    int64_t factor = form->item[dimension];
    struct affine rest = *form, limit = {0};
    rest.item[dimension] = 0;
    if (!affine_is_stable(symbols, &rest) || !affine_add(&limit, &rest, -factor)) return;
    add_bound(bounds, dimension, factor > 0, limit);
}

static struct bounds item_bounds(const struct affine_symbols *symbols,
                                 const struct affine_guard *guards)
{
    struct bounds bounds = {.count = 0};
    for (const struct affine_guard *g = guards; g; g = g->outer) {
        struct affine negated = {0};
        if (g->kind == GUARD_CHOICE) continue;
        bound_of(symbols, &g->form, &bounds);
        if (g->kind == GUARD_ZERO && affine_add(&negated, &g->form, -1))
            bound_of(symbols, &negated, &bounds);
    }
    return bounds;
}

/* ---- two places ---- */

struct meeting {
    const struct affine_symbols *symbols;
    const struct affine_guard *p_guards, *q_guards;
    struct range p[3], q[3], d[3];
    struct bounds bounds; /* of d */
    struct {
        struct affine a, b;
    } equations[EQUATIONS_MAX]; /* a of p = b of q */
    uint32_t equation_count;
};

static void add_equation(struct meeting *m, const struct affine *a, const struct affine *b)
{
    if (m->equation_count == EQUATIONS_MAX) return;
    m->equations[m->equation_count].a = *a;
    m->equations[m->equation_count++].b = *b;
}

/* p's bounds less q's, and the other way round: p <= U, q >= L gives d <= U - L. */
static void combine_bounds(struct meeting *m, const struct bounds *p, const struct bounds *q)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct bound *bound = &p->items[i];
        struct range other = m->q[bound->dimension];
        struct affine form = bound->form;
        struct affine limit = affine_constant((int64_t)(bound->upper ? other.low : other.high));
        if (affine_add(&form, &limit, -1))
            add_bound(&m->bounds, bound->dimension, bound->upper, form);
        for (uint32_t k = 0; k < q->count; k++) {
            if (q->items[k].dimension != bound->dimension || q->items[k].upper == bound->upper)
                continue;
            form = bound->form;
            if (affine_add(&form, &q->items[k].form, -1))
                add_bound(&m->bounds, bound->dimension, bound->upper, form);
        }
    }
    for (uint32_t k = 0; k < q->count; k++) {
        const struct bound *bound = &q->items[k];
        struct range other = m->p[bound->dimension];
        struct affine form = affine_constant((int64_t)(bound->upper ? other.low : other.high));
        if (affine_add(&form, &bound->form, -1))
            add_bound(&m->bounds, bound->dimension, !bound->upper, form);
    }
}

/* Dimension by dimension, and all counted through. */
static void index_equations(struct meeting *m, const struct affine_place *a,
                            const struct affine_place *b)
{
    uint32_t count = a->dimensions < b->dimensions ? a->dimensions : b->dimensions;
    struct affine flat_a = {0}, flat_b = {0};
    bool flat = count > 1;
    for (uint32_t i = 0; i < count; i++) {
        struct affine next_a = a->index[i], next_b = b->index[i];
        add_equation(m, &a->index[i], &b->index[i]);
        flat = flat && a->length[i] == b->length[i] && a->length[i] <= INT32_MAX;
        flat = flat && affine_add(&next_a, &flat_a, (int64_t)a->length[i]) &&
               affine_add(&next_b, &flat_b, (int64_t)b->length[i]);
        flat_a = next_a, flat_b = next_b;
    }
    if (flat) add_equation(m, &flat_a, &flat_b);
}

static bool excluded_by_choice(const struct affine_place *a, const struct affine_place *b)
{
    for (const struct affine_guard *g = a->guards; g; g = g->outer)
        for (const struct affine_guard *h = b->guards; h; h = h->outer)
            if (g->kind == GUARD_CHOICE && h->kind == GUARD_CHOICE && g->choice == h->choice &&
                g->truth != h->truth)
                return true;
    return false;
}

/* Narrows the range of a symbol by form <= 0. */
static void narrow_symbol(const struct affine_symbols *symbols, const struct affine *form,
                          const struct range item[3], uint32_t symbol, struct range *range)
{
    struct affine rest = *form;
    for (uint32_t i = 0; i < form->count; i++) {
        if (form->terms[i].symbol != symbol) continue;
        affine_wide factor = form->terms[i].factor;
        rest.terms[i] = rest.terms[--rest.count];
        affine_wide limit = -form_range(symbols, &rest, item).low;
        affine_wide bound = factor > 0 ? floor_divide(limit, factor) : ceil_divide(limit, factor);
        if (factor > 0 && bound < range->high) range->high = bound;
        if (factor < 0 && bound > range->low) range->low = bound;
        return;
    }
}

static void narrow_by_guards(const struct affine_symbols *symbols,
                             const struct affine_guard *guards, const struct range item[3],
                             uint32_t symbol, struct range *range)
{
    for (const struct affine_guard *g = guards; g; g = g->outer) {
        struct affine negated = {0};
        if (g->kind == GUARD_CHOICE) continue;
        narrow_symbol(symbols, &g->form, item, symbol, range);
        if (g->kind == GUARD_ZERO && affine_add(&negated, &g->form, -1))
            narrow_symbol(symbols, &negated, item, symbol, range);
    }
}

/* Of a symbol of p's (or of q's): stable ones are the same for both. */
static struct range symbol_range(const struct meeting *m, uint32_t symbol, bool of_p)
{
    const struct affine_symbol *s = &m->symbols->all.items[symbol];
    struct range range = {s->low, s->high}, narrowed = range;
    if (s->stable || of_p) narrow_by_guards(m->symbols, m->p_guards, m->p, symbol, &narrowed);
    if (s->stable || !of_p) narrow_by_guards(m->symbols, m->q_guards, m->q, symbol, &narrowed);
    return is_empty(narrowed) ? range : narrowed;
}

/* The symbols of a(p) - b(q) + extra: stable ones are the same on both sides. */
static void add_symbols(const struct meeting *m, struct equation *e, const struct affine *a,
                        const struct affine *b, const struct affine *extra, int64_t extra_factor)
{
    const struct affine *forms[] = {a, b, extra};
    const int64_t signs[] = {1, -1, extra_factor};
    for (int f = 0; f < 3; f++)
        for (uint32_t i = 0; forms[f] && i < forms[f]->count; i++) {
            struct affine_term term = forms[f]->terms[i];
            const struct affine_symbol *s = &m->symbols->all.items[term.symbol];
            affine_wide factor = (affine_wide)term.factor * signs[f];
            bool first = true;
            for (int g = 0; s->stable && g < 3; g++)
                for (uint32_t k = 0; forms[g] && k < forms[g]->count; k++) {
                    if (forms[g]->terms[k].symbol != term.symbol || (g == f && k == i)) continue;
                    if (g < f) first = false;
                    factor += (affine_wide)forms[g]->terms[k].factor * signs[g];
                }
            struct range range = symbol_range(m, term.symbol, f == 0);
            if (first) add_unknown(e, factor, range.low, range.high);
        }
}

/* a(p) = b(q), with d of the bound's dimension replaced by the bound less (or plus) something. */
static bool has_solution(const struct meeting *m, const struct affine *a, const struct affine *b,
                         const struct bound *bound)
{
    struct equation e = {.constant = (affine_wide)a->constant - b->constant};
    for (int d = 0; d < 3; d++) {
        add_unknown(&e, (affine_wide)a->item[d] - b->item[d], m->q[d].low, m->q[d].high);
        if (bound && bound->dimension == d) {
            e.constant += (affine_wide)a->item[d] * bound->form.constant;
            add_unknown(&e, bound->upper ? -(affine_wide)a->item[d] : a->item[d], 0, UNKNOWN_MAX);
        } else {
            add_unknown(&e, a->item[d], m->d[d].low, m->d[d].high);
        }
    }
    add_symbols(m, &e, a, b, bound ? &bound->form : NULL, bound ? a->item[bound->dimension] : 0);
    int tries = TRIES_MAX;
    for (uint32_t i = 1; i < e.count; i++)
        for (uint32_t n = i; n > 0 && e.unknowns[n].factor > e.unknowns[n - 1].factor; n--) {
            struct unknown moved = e.unknowns[n];
            e.unknowns[n] = e.unknowns[n - 1];
            e.unknowns[n - 1] = moved;
        }
    return is_solvable(&e, 0, e.constant, &tries);
}

/* With the present ranges of d. */
static bool may_meet_within(const struct meeting *m)
{
    for (int d = 0; d < 3; d++)
        if (is_empty(m->d[d])) return false;
    for (uint32_t i = 0; i < m->equation_count; i++) {
        const struct affine *a = &m->equations[i].a, *b = &m->equations[i].b;
        if (!has_solution(m, a, b, NULL)) return false;
        for (uint32_t k = 0; k < m->bounds.count; k++)
            if (a->item[m->bounds.items[k].dimension] != 0 && m->bounds.items[k].form.count > 0 &&
                !has_solution(m, a, b, &m->bounds.items[k]))
                return false;
    }
    return true;
}

/* Narrows the unknowns by the numeric bounds. */
static void narrow_by_bounds(struct meeting *m)
{
    static const struct range none[3] = {{0, 0}, {0, 0}, {0, 0}};
    for (uint32_t i = 0; i < m->bounds.count; i++) {
        const struct bound *bound = &m->bounds.items[i];
        struct range limit = form_range(m->symbols, &bound->form, none);
        struct range *d = &m->d[bound->dimension];
        if (bound->upper && limit.high < d->high) d->high = limit.high;
        if (!bound->upper && limit.low > d->low) d->low = limit.low;
    }
}

bool affine_may_meet(const struct affine_symbols *symbols, const uint32_t group[3],
                     const struct affine_place *a, const struct affine_place *b)
{
    struct meeting m = {.symbols = symbols, .p_guards = a->guards, .q_guards = b->guards};
    if (excluded_by_choice(a, b) || !item_ranges(symbols, group, a->guards, m.p) ||
        !item_ranges(symbols, group, b->guards, m.q))
        return false;
    struct bounds p = item_bounds(symbols, a->guards), q = item_bounds(symbols, b->guards);
    for (int d = 0; d < 3; d++)
        m.d[d] = (struct range){m.p[d].low - m.q[d].high, m.p[d].high - m.q[d].low};
    combine_bounds(&m, &p, &q);
    narrow_by_bounds(&m);
    index_equations(&m, a, b);
    /* Where both stand under equalities, these hold for p and for q. */
    for (const struct affine_guard *g = a->guards; g; g = g->outer)
        for (const struct affine_guard *h = b->guards; h; h = h->outer)
            if (g->kind == GUARD_ZERO && h->kind == GUARD_ZERO)
                add_equation(&m, &g->form, &h->form);
    for (int d = 0; d < 3; d++)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct range all = m.d[d];
            if (sign > 0 && m.d[d].low < 1) m.d[d].low = 1;
            if (sign < 0 && m.d[d].high > -1) m.d[d].high = -1;
            if (may_meet_within(&m)) return true;
            m.d[d] = all;
        }
    return false;
}
