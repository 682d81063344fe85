/* SPDX-License-Identifier: MIT */
/*
 * Ties: the packets that a loop appends follow from its counters.
 *
 * A tie is the interval of  emitted(end) - factor x variable  at a point of the body, where
 * emitted(end) is the exact number of packets appended so far.  It is kept by itself: appending
 * adds 1, `v += c` subtracts factor x c where the sum does not leave v's type, any other assignment
 * takes the difference anew from what is known of both.  Hence in every state
 *     emitted(end) is within  tie + factor x [v],
 * whatever the number of rounds that led there: `if (n < 4) { y <- v; n++; }` keeps
 * emitted - n = 0 and n <= 4.
 *
 * A tie without an end is  v - (v when the round began)  of a loop of one nesting level.  If it is
 * at least d > 0 when the next round begins, at least a where the body begins (the condition may
 * change v), and v is at most m there and was at least f before the loop, then round k (from 0) has
 * f + k d + a <= v <= m: there are at most (m - f - a) / d + 1.
 *
 * A variable that becomes  a x u + c  takes over the tie of u with the factor a x factor:
 *     emitted(end) - factor x v = (emitted(end) - factor x a x u) - factor x c.
 * So a loop can begin where an earlier counter ended.
 *
 * In a loop with the condition `i < n` the variable may be a difference: a tie of i - n. Before the loop it follows from the tie
 * of n, so what was appended before and counted in n is not lost. After the loop facts tell i - n:
 *     for (..) if (x[k] == 0) y <- 0; else n++;      for (i32 i = 0; i < n; i++) y <- 1;
 *
 * The form of the body decides which variables are tied.  The choice affects precision only.
 */
#include "compiler/bodies/ranges_internal.h"

enum { TIES_MAX = 48, LEVELS = 2, FACTOR_MAX = 64 };

static const wide ROUNDS_MAX = (wide)1 << 30; /* a larger bound follows only from the type */

/* ---- choice ---- */

struct chooser {
    struct walker *w;
    VEC(struct walk_tie) found;
};

static void add_tie(struct chooser *c, struct walk_tie tie)
{
    for (size_t i = 0; i < c->found.count; i++) {
        const struct walk_tie *old = &c->found.items[i];
        if (old->end == tie.end && old->slot == tie.slot && old->level == tie.level &&
            old->factor == tie.factor && (old->compare != NULL) == (tie.compare != NULL) &&
            old->bound == tie.bound)
            return;
    }
    if (c->found.count < TIES_MAX) vec_push(c->w->scratch, &c->found, tie);
}

/* Appends to `end` that stand in the list, loops not entered. */
static int64_t count_end_appends(const struct walker *w, const struct ks *list, uint32_t end)
{
    int64_t count = 0;
    for (; list != NULL; list = list->next) {
        if (list->kind == KS_EMIT) {
            uint32_t first = walk_first_end(w->kernel, list->port);
            uint64_t element = 0;
            if (list->element != NULL)
                element = list->element->kind == KX_CONSTANT ? list->element->value.bits : 0;
            count += first + element == end;
        }
        count += list->kind == KS_LAUNCH && end == walk_launch_end(w->kernel);
        if (list->kind == KS_LOOP) continue;
        count += count_end_appends(w, list->body, end);
        count += count_end_appends(w, list->otherwise, end);
    }
    return count;
}

static const struct kx *skip_conversions(const struct kx *e)
{
    while (e->kind == KX_CONVERT)
        e = e->left;
    return e;
}

/* `v += c`, `v -= c`, `v = v + c`, `v = v - c`: the change, else 0. */
static int64_t constant_step(const struct walker *w, const struct kx *e, uint32_t *slot)
{
    if (e->kind != KX_ASSIGN || e->left->kind != KX_VARIABLE || !type_is_integer(e->type)) return 0;
    const struct kx *by = skip_conversions(e->right);
    enum kx_op op = e->op;
    if (op == OP_NONE && by->kind == KX_BINARY) {
        const struct kx *from = skip_conversions(by->left);
        op = by->op;
        if (from->kind != KX_VARIABLE || from->variable != e->left->variable) return 0;
        by = skip_conversions(by->right);
    }
    if ((op != OP_ADD && op != OP_SUB) || by->kind != KX_CONSTANT || !type_is_integer(by->type))
        return 0;
    struct interval value = interval_of_value(by->value);
    if (value.low < -FACTOR_MAX || value.low > FACTOR_MAX) return 0;
    *slot = walk_slot(w, e->left->variable);
    if (*slot == WALK_NO_SLOT) return 0;
    return op == OP_ADD ? (int64_t)value.low : -(int64_t)value.low;
}

static void choose_kx(struct chooser *c, const struct kx *e, const struct ks *list,
                      const struct ks *loop_body)
{
    if (e == NULL) return;
    uint32_t slot;
    int64_t step = constant_step(c->w, e, &slot);
    if (step != 0) {
        for (uint32_t level = 1; level <= LEVELS; level++)
            add_tie(c, (struct walk_tie){WALK_NO_SLOT, slot, level, -1, NULL, 0});
        for (uint32_t end = 0; end < c->w->end_count; end++) {
            int64_t appends = count_end_appends(c->w, list, end);
            if (appends == 0) appends = count_end_appends(c->w, loop_body, end);
            if (appends == 0 || appends % step != 0 || appends / step > FACTOR_MAX) continue;
            add_tie(c, (struct walk_tie){end, slot, 0, appends / step, NULL, 0});
        }
    }
    for (uint32_t i = 0; i < kx_child_count(e); i++)
        choose_kx(c, kx_child(e, i), list, loop_body);
}

/* The condition compares two variables: what is tied to the first one is tied to their difference. */
static void choose_difference(struct chooser *c, const struct kx *compare)
{
    if (compare == NULL || compare->kind != KX_COMPARE) return;
    const struct variable *v = walk_plain_local(c->w, compare->left);
    const struct variable *bound = walk_plain_local(c->w, compare->right);
    if (v == NULL || bound == NULL || v == bound || !type_is_integer(compare->left->type)) return;
    uint32_t slot = walk_slot(c->w, v), other = walk_slot(c->w, bound);
    for (size_t i = 0, count = c->found.count; i < count; i++) {
        struct walk_tie tie = c->found.items[i];
        if (tie.end == WALK_NO_SLOT || tie.slot != slot || tie.compare != NULL) continue;
        add_tie(c, (struct walk_tie){tie.end, other, 0, -tie.factor, NULL, 0});
        add_tie(c, (struct walk_tie){tie.end, slot, 0, tie.factor, compare, other});
    }
}

/* `loop_body`: of the loop around the list, or NULL: nothing is counted. */
static void choose_ks(struct chooser *c, const struct ks *list, const struct ks *loop_body)
{
    for (const struct ks *s = list; s != NULL; s = s->next) {
        if (s->kind == KS_LOOP) {
            choose_kx(c, s->expr, s->body, s->body);
            choose_kx(c, s->step, s->body, s->body);
            choose_ks(c, s->body, s->body);
            choose_difference(c, s->expr);
            continue;
        }
        if (loop_body != NULL) {
            choose_kx(c, s->expr, list, loop_body);
            choose_kx(c, s->index, list, loop_body);
        }
        choose_ks(c, s->body, loop_body);
        choose_ks(c, s->otherwise, loop_body);
    }
}

/* A variable that becomes another one takes over its ties, so the other one needs them. */
static void choose_origin(struct chooser *c, const struct variable *v, const struct kx *value)
{
    const struct variable *origin = value != NULL ? walk_plain_local(c->w, value) : NULL;
    uint32_t slot = v != NULL ? walk_slot(c->w, v) : WALK_NO_SLOT;
    if (origin == NULL || slot == WALK_NO_SLOT) return;
    for (size_t i = 0, count = c->found.count; i < count; i++) {
        struct walk_tie tie = c->found.items[i];
        if (tie.end == WALK_NO_SLOT || tie.slot != slot || tie.compare != NULL) continue;
        tie.slot = walk_slot(c->w, origin);
        add_tie(c, tie);
    }
}

static bool choose_origin_declared(const struct ks *s, void *data)
{
    if (s->kind == KS_DECLARE) choose_origin(data, s->variable, s->expr);
    return false;
}

static bool choose_origin_assigned(const struct kx *e, void *data)
{
    struct chooser *c = data;
    if (e->kind == KX_ASSIGN && e->op == OP_NONE)
        choose_origin(c, walk_plain_local(c->w, e->left), e->right);
    return false;
}

void walk_tie_choose(struct walker *w, const struct ks *body)
{
    struct chooser c = {.w = w};
    choose_ks(&c, body, NULL);
    ks_any(body, choose_origin_declared, choose_origin_assigned, &c);
    w->ties = c.found.items;
    w->tie_count = (uint32_t)c.found.count;
}

/* ---- arithmetic with ends that may be open ---- */

static bool is_open_low(struct interval a)
{
    return a.low <= INTERVAL_MIN;
}

static bool is_open_high(struct interval a)
{
    return a.high >= INTERVAL_MAX;
}

static struct interval interval_clip(struct interval a)
{
    if (a.low < INTERVAL_MIN) a.low = INTERVAL_MIN;
    if (a.high > INTERVAL_MAX) a.high = INTERVAL_MAX;
    return a;
}

static struct interval interval_sum(struct interval a, struct interval b)
{
    struct interval r = {a.low + b.low, a.high + b.high};
    if (is_open_low(a) || is_open_low(b)) r.low = INTERVAL_MIN;
    if (is_open_high(a) || is_open_high(b)) r.high = INTERVAL_MAX;
    return interval_clip(r);
}

static struct interval interval_scale(struct interval a, int64_t factor)
{
    struct interval r = {a.low * factor, a.high * factor};
    bool low = is_open_low(a), high = is_open_high(a);
    if (factor < 0) {
        r = (struct interval){a.high * factor, a.low * factor};
        low = is_open_high(a);
        high = is_open_low(a);
    }
    if (low) r.low = INTERVAL_MIN;
    if (high) r.high = INTERVAL_MAX;
    return interval_clip(r);
}

/* ---- what holds ---- */

/* Packets appended so far.  In a fixed point the counters begin at those of its entry: they are no
 * upper bounds. */
static struct interval packets_emitted(const struct walker *w, const struct walk_state *s,
                                       uint32_t end)
{
    const struct walk_count *count = &s->counts[end];
    struct interval all = {(wide)count->least, INTERVAL_MAX};
    if (w->fixed_points == 0 && count->most != WALK_UNBOUNDED) all.high = (wide)count->most;
    return all;
}

/* end - factor x variable: by its tie, or by what is known of both. */
static struct interval tied_to(const struct walker *w, const struct walk_state *s, uint32_t end,
                               uint32_t slot, int64_t factor)
{
    for (uint32_t i = 0; i < w->tie_count; i++) {
        const struct walk_tie *tie = &w->ties[i];
        if (tie->end == end && tie->slot == slot && tie->factor == factor && tie->compare == NULL)
            return s->ties[i];
    }
    return interval_sum(packets_emitted(w, s, end), interval_scale(s->locals[slot], -factor));
}

void walk_tie_set(const struct walker *w, struct walk_state *s, uint32_t slot,
                  struct interval value)
{
    for (uint32_t i = 0; i < w->tie_count; i++) {
        const struct walk_tie *tie = &w->ties[i];
        bool of_bound = tie->compare != NULL && tie->bound == slot;
        if (tie->slot != slot && !of_bound) continue;
        struct interval rest = INTERVAL_ALL;
        if (of_bound)
            rest = tied_to(w, s, tie->end, tie->slot, tie->factor);
        else if (tie->compare != NULL)
            rest = tied_to(w, s, tie->end, tie->bound, -tie->factor);
        else if (tie->end != WALK_NO_SLOT)
            rest = packets_emitted(w, s, tie->end);
        s->ties[i] =
            interval_sum(rest, interval_scale(value, of_bound ? tie->factor : -tie->factor));
    }
}

void walk_tie_take_over(const struct walker *w, struct walk_state *s, uint32_t slot, uint32_t from,
                        int64_t scale, wide offset)
{
    for (uint32_t i = 0; i < w->tie_count; i++) {
        const struct walk_tie *own = &w->ties[i];
        if (own->end == WALK_NO_SLOT || own->slot != slot || own->compare != NULL) continue;
        struct interval shift =
            interval_clip((struct interval){-own->factor * offset, -own->factor * offset});
        for (uint32_t j = 0; j < w->tie_count; j++) {
            const struct walk_tie *other = &w->ties[j];
            if (other->end != own->end || other->slot != from || other->compare != NULL ||
                (wide)own->factor * scale != other->factor)
                continue;
            s->ties[i] = interval_meet(s->ties[i], interval_sum(s->ties[j], shift));
        }
    }
}

struct interval walk_tie_pace(const struct walker *w, const struct walk_state *next, uint32_t slot,
                              uint32_t level)
{
    for (uint32_t i = 0; i < w->tie_count; i++)
        if (w->ties[i].end == WALK_NO_SLOT && w->ties[i].slot == slot && w->ties[i].level == level)
            return next->ties[i];
    return INTERVAL_ALL;
}

void walk_tie_begin(const struct walker *w, struct walk_state *s)
{
    for (uint32_t i = 0; i < w->tie_count; i++)
        walk_tie_set(w, s, w->ties[i].slot, s->locals[w->ties[i].slot]);
}

void walk_tie_append(const struct walker *w, struct walk_state *s, uint32_t end, bool certain)
{
    for (uint32_t i = 0; i < w->tie_count; i++)
        if (w->ties[i].end == end)
            s->ties[i] = interval_sum(s->ties[i], (struct interval){certain, 1});
}

void walk_tie_add(const struct walker *w, struct walk_state *s, uint32_t slot, struct interval by)
{
    for (uint32_t i = 0; i < w->tie_count; i++) {
        const struct walk_tie *tie = &w->ties[i];
        if (tie->slot == slot)
            s->ties[i] = interval_sum(s->ties[i], interval_scale(by, -tie->factor));
        if (tie->compare != NULL && tie->bound == slot)
            s->ties[i] = interval_sum(s->ties[i], interval_scale(by, tie->factor));
    }
}

void walk_tie_round(const struct walker *w, struct walk_state *s, uint32_t level)
{
    for (uint32_t i = 0; i < w->tie_count; i++)
        if (w->ties[i].end == WALK_NO_SLOT && w->ties[i].level == level)
            s->ties[i] = (struct interval){0, 0};
}

uint64_t walk_tie_rounds(const struct walker *w, const struct walk_state *entry,
                         const struct walk_state *in, const struct walk_state *next, uint32_t level)
{
    uint64_t least = WALK_UNBOUNDED;
    if (w->tie_count == 0) return least;
    if (!next->reachable || !in->reachable) return 1;
    for (uint32_t i = 0; i < w->tie_count; i++) {
        const struct walk_tie *tie = &w->ties[i];
        struct interval pace = next->ties[i], now = in->locals[tie->slot];
        struct interval from = interval_sum(entry->locals[tie->slot], in->ties[i]);
        if (tie->end != WALK_NO_SLOT || tie->level != level) continue;
        wide distance = -1, step = 1;
        if (pace.low > 0 && !is_open_low(from) && !is_open_high(now)) {
            distance = now.high - from.low;
            step = pace.low;
        } else if (pace.high < 0 && !is_open_high(from) && !is_open_low(now)) {
            distance = from.high - now.low;
            step = -pace.high;
        }
        if (distance < 0 || distance / step + 1 >= ROUNDS_MAX) continue;
        uint64_t rounds = (uint64_t)(distance / step) + 1;
        if (rounds < least) least = rounds;
    }
    return least;
}

/* The packets appended to the end of a tie, by that tie. */
static struct interval appended_by(const struct walker *w, const struct walk_state *s, uint32_t i)
{
    const struct walk_tie *tie = &w->ties[i];
    struct interval variable = s->locals[tie->slot];
    if (tie->compare != NULL)
        variable = walk_fact_difference(w, s, tie->compare->left, tie->compare->right);
    return interval_sum(s->ties[i], interval_scale(variable, tie->factor));
}

uint64_t walk_tie_most(const struct walker *w, const struct walk_state *s, uint32_t end)
{
    uint64_t most = WALK_UNBOUNDED;
    for (uint32_t i = 0; i < w->tie_count; i++) {
        if (w->ties[i].end != end) continue;
        struct interval all = appended_by(w, s, i);
        wide high = all.high < 0 ? 0 : all.high;
        if (!is_open_high(all) && high < ROUNDS_MAX && (uint64_t)high < most) most = (uint64_t)high;
    }
    return most;
}

void walk_tie_forget(const struct walker *w, struct walk_state *s, uint32_t end)
{
    for (uint32_t i = 0; i < w->tie_count; i++)
        if (w->ties[i].end == end) s->ties[i] = INTERVAL_ALL;
}

void walk_tie_settle(const struct walker *w, struct walk_state *s)
{
    if (!s->reachable) return;
    for (uint32_t i = 0; i < w->tie_count; i++) {
        const struct walk_tie *tie = &w->ties[i];
        if (tie->end == WALK_NO_SLOT) continue;
        struct walk_count *count = &s->counts[tie->end];
        struct interval all = appended_by(w, s, i);
        wide high = all.high < 0 ? 0 : all.high;
        bool bounded = !is_open_high(all) && high < ROUNDS_MAX;
        if (bounded && (uint64_t)high < count->most) count->most = (uint64_t)high;
        if (all.low > 0 && all.low < ROUNDS_MAX && (uint64_t)all.low > count->least)
            count->least = (uint64_t)all.low;
        if (count->least > count->most) count->least = count->most;
    }
}
