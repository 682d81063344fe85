/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/ranges_internal.h"
#include "base/arithmetic.h"

#include <string.h>

/* ---- loops ---- */

static void collect_loop(const struct walker *w, const struct ks *loop, bool *assigned,
                         bool with_step)
{
    memset(assigned, 0, w->local_count * sizeof *assigned);
    walk_collect_kx(w, loop->expr, assigned);
    if (with_step) walk_collect_kx(w, loop->step, assigned);
    walk_collect_ks(w, loop->body, assigned);
}

static void forget_loop_assigned(struct walker *w, struct walk_state *s, const bool *assigned)
{
    for (uint32_t i = 0; i < w->local_count; i++)
        if (assigned[i]) s->locals[i] = INTERVAL_ALL;
}

/* Tests and steps of an unrolled loop cost nothing. */
static void give_back_cost(const struct walker *w, const struct ks *loop, struct walk_state *s,
                           uint64_t before)
{
    if (cost_is_unrolled(w->costs, loop)) s->cost = before;
}

/* The test of a loop: `in` goes into the body, what leaves is joined to `out`. */
static void loop_test(struct walker *w, const struct ks *loop, struct walk_state *in,
                      struct walk_state *out)
{
    uint64_t before = in->cost;
    struct interval c = walk_test(w, in, loop->expr);
    give_back_cost(w, loop, in, before);
    if (!interval_is_true(c) && !interval_is(c, 0)) in->certain = false;
    if (!interval_is_true(c)) {
        struct walk_state *leaving = walk_copy_state(w, in);
        walk_take(w, leaving, loop->expr, false);
        walk_join_state(w, out, leaving);
        walk_drop_state(w, leaving);
    }
    if (interval_is(c, 0))
        in->reachable = false;
    else
        walk_take(w, in, loop->expr, true);
}

struct loop_place {
    uint64_t round;          /* from 1; 0: any */
    bool tested;             /* the condition stands before the body */
    struct walk_state *body; /* takes the state in which the body begins; or NULL */
};

/* One round from the state at the test: `next`, which may be the same, is the state at the test again, `out` gathers
 * what leaves. */
static void loop_round(struct walker *w, const struct ks *loop, const struct walk_state *at_test,
                       struct walk_state *next, struct walk_state *out, struct loop_place place)
{
    struct walk_flow outer = w->flow;
    struct walk_state *in = next == at_test ? next : walk_copy_state(w, at_test);
    vec_push(w->scratch, &w->rounds, (struct walk_round){loop, place.round});
    if (place.tested && loop->expr != NULL) loop_test(w, loop, in, out);
    if (place.round > 0)
        walk_step(w, in,
                  (struct walk_step){.kind = STEP_ROUND, .stmt = loop, .rounds = place.round});
    if (place.body != NULL) walk_assign_state(w, place.body, in);
    w->flow = (struct walk_flow){.breaks = out, .continues = walk_unreachable_state(w)};
    walk_statements(w, in, loop->body);
    walk_join_state(w, in, w->flow.continues);
    walk_drop_state(w, w->flow.continues);
    w->flow = outer;
    uint64_t before = in->cost;
    if (in->reachable && loop->step != NULL) walk_eval(w, in, loop->step);
    give_back_cost(w, loop, in, before);
    if (in->reachable) walk_charge(in, cost_of_statement(w->costs, loop));
    w->rounds.count--;
    if (in == next) return;
    walk_assign_state(w, next, in);
    walk_drop_state(w, in);
}

/* Rounds one by one while the condition is decided.  False: undecided, or out of rounds or steps; *s
 * is the state at the test so far and `out` what has left. */
static bool run_rounds(struct walker *w, struct walk_state *s, const struct ks *loop,
                       struct walk_state *out, uint64_t *round)
{
    uint32_t open_rounds = 0; /* since the loop may have been left */
    uint64_t exits = w->exits;
    while (s->reachable) {
        if (out->reachable || w->exits != exits) open_rounds++;
        bool tested = loop->expr != NULL && !(*round == 0 && loop->test_after);
        struct interval c = tested ? walk_peek_value(w, s, loop->expr) : (struct interval){1, 1};
        if (interval_is(c, 0)) {
            uint64_t before = s->cost;
            walk_eval(w, s, loop->expr);
            give_back_cost(w, loop, s, before);
            walk_join_state(w, out, s);
            s->reachable = false;
            return true;
        }
        if (!interval_is_true(c) || open_rounds > WALK_MAX_OPEN_ROUNDS || w->rounds_left == 0 ||
            w->cx->walk_steps >= w->last_round_step || walk_is_spent(w))
            return false;
        w->rounds_left--;
        loop_round(w, loop, s, s, out, (struct loop_place){.round = ++*round, .tested = tested});
    }
    return true;
}

/* The largest number of rounds of `for (..; i < bound; i += step)`, where only the step changes
 * i. */
static uint64_t counted_rounds(struct walker *w, const struct ks *loop,
                               const struct walk_state *entry, const struct walk_state *stable,
                               const bool *assigned)
{
    const struct kx *c = loop->expr, *step = loop->step;
    if (c == NULL || step == NULL || c->kind != KX_COMPARE || step->kind != KX_ASSIGN)
        return WALK_UNBOUNDED;
    if (kx_assigns(step->right, NULL)) return WALK_UNBOUNDED; /* the pace changes on the way */
    const struct variable *v = walk_plain_local(w, c->left);
    if (v == NULL || walk_plain_local(w, step->left) != v) return WALK_UNBOUNDED;
    uint32_t slot = walk_slot(w, v);
    if (assigned[slot]) return WALK_UNBOUNDED;
    struct interval bound = walk_peek_value(w, stable, c->right), by = {0, 0};
    if (step->op == OP_ADD || step->op == OP_SUB) by = walk_peek_value(w, stable, step->right);
    if (step->op == OP_SUB) by = (struct interval){-by.high, -by.low};
    struct interval from = entry->locals[slot];
    wide distance = -1, pace = 0;
    if (by.low > 0 && (c->op == OP_LT || c->op == OP_LE)) {
        distance = bound.high - from.low + (c->op == OP_LE);
        pace = by.low;
    } else if (by.high < 0 && (c->op == OP_GT || c->op == OP_GE)) {
        distance = from.high - bound.low + (c->op == OP_GE);
        pace = -by.high;
    }
    struct interval all = interval_of_type(v->type), last = interval_join(bound, from);
    bool wraps = last.low + by.low < all.low || last.high + by.high > all.high;
    if (pace == 0 || wraps) return WALK_UNBOUNDED;
    if (distance <= 0) return 0;
    wide rounds = (distance + pace - 1) / pace;
    return rounds > (wide)INT64_MAX ? WALK_UNBOUNDED : (uint64_t)rounds;
}

/* Counters and cost of `out`, which one round has left, after up to `rounds` rounds like it.
 * `most`: per end, the maximum of the counter over all paths of one round from `entry`.  `next`: the
 * state after a whole round. */
static void apply_rounds(struct walker *w, const struct ks *loop, struct walk_state *out,
                         const struct walk_state *entry, const struct walk_state *next,
                         const struct walk_state *most, uint64_t rounds)
{
    if (w->relate && next->reachable)
        relation_repeat(&out->relation, &entry->relation, &next->relation);
    for (uint32_t i = 0; i < w->end_count; i++) {
        const struct walk_count *from = &entry->counts[i], *round = &most->counts[i];
        uint64_t more = round->most - from->most;
        if (round->most == WALK_UNBOUNDED) more = WALK_UNBOUNDED;
        if (more > 0) more = saturating_multiply(more, rounds);
        out->counts[i] = (struct walk_count){
            .least = from->least,
            .most = saturating_add(from->most, more),
            .least_path = from->least_path,
            .most_path = from->most_path,
        };
        if (w->trace == NULL || w->trace->end != i) continue;
        struct walk_step step = {.kind = STEP_LOOP, .stmt = loop};
        out->counts[i].least_path = walk_step_after(w, from->least_path, step);
        step.inside = round->most_path;
        step.rounds = rounds;
        step.packets = more;
        out->counts[i].most_path = walk_step_after(w, from->most_path, step);
    }
    uint64_t assumed = rounds == WALK_UNBOUNDED ? WALK_ASSUMED_ROUNDS : rounds;
    out->cost = saturating_add(entry->cost, saturating_multiply(most->cost - entry->cost, assumed));
}

/* ---- thresholds ---- */

enum { THRESHOLDS_MAX = 24 };

struct thresholds {
    wide values[THRESHOLDS_MAX];
    size_t count;
};

static void add_threshold(struct thresholds *t, wide value)
{
    size_t at = 0;
    while (at < t->count && t->values[at] < value)
        at++;
    if (t->count == THRESHOLDS_MAX || (at < t->count && t->values[at] == value)) return;
    for (size_t i = t->count++; i > at; i--)
        t->values[i] = t->values[i - 1];
    t->values[at] = value;
}

static bool add_thresholds_of(const struct kx *e, void *data)
{
    bool bounds = e->kind == KX_COMPARE ||
                  (e->kind == KX_BINARY && (e->op == OP_REM || e->op == OP_AND)) ||
                  (e->kind == KX_ASSIGN && (e->op == OP_REM || e->op == OP_AND));
    const struct kx *sides[2] = {e->left, e->right};
    for (int i = 0; bounds && i < 2; i++) {
        const struct kx *side = sides[i];
        while (side->kind == KX_CONVERT)
            side = side->left;
        if (side->kind != KX_CONSTANT || !type_is_integer(side->type)) continue;
        wide value = interval_of_value(side->value).low;
        for (wide v = value - 1; v <= value + 1; v++)
            add_threshold(data, v);
    }
    return false;
}

static void find_thresholds_ks(struct thresholds *t, const struct ks *stmt)
{
    for (; stmt != NULL; stmt = stmt->next) {
        kx_any(stmt->expr, add_thresholds_of, t);
        kx_any(stmt->step, add_thresholds_of, t);
        kx_any(stmt->index, add_thresholds_of, t);
        if (stmt->kind == KS_CASE && !stmt->is_default)
            add_threshold(t, interval_of_value(stmt->label).low);
        find_thresholds_ks(t, stmt->init);
        find_thresholds_ks(t, stmt->body);
        find_thresholds_ks(t, stmt->otherwise);
    }
}

void walk_find_thresholds(struct walker *w, const struct ks *body)
{
    struct thresholds t = {.count = 0};
    find_thresholds_ks(&t, body);
    w->thresholds = arena_copy(w->scratch, t.values, sizeof t.values);
    w->threshold_count = t.count;
}

/* ---- fixed points ---- */

/* Widening: so often to thresholds, by nesting, then so often to anything. */
enum { STEPS_OUTER = 6, STEPS_INNER = 2, STRAIGHT = 3 };

struct interval walk_widened(const struct walker *w, struct interval now, struct interval next,
                             bool last)
{
    size_t i = w->threshold_count, j = 0;
    if (next.high > now.high) {
        while (j < w->threshold_count && w->thresholds[j] < next.high)
            j++;
        now.high = last || j == w->threshold_count ? INTERVAL_MAX : w->thresholds[j];
    }
    if (next.low < now.low) {
        while (i > 0 && w->thresholds[i - 1] > next.low)
            i--;
        now.low = last || i == 0 ? INTERVAL_MIN : w->thresholds[i - 1];
    }
    return now;
}

static bool widen_all(const struct walker *w, struct interval *now, const struct interval *next,
                      uint32_t count, bool last)
{
    bool grew = false;
    for (uint32_t i = 0; i < count; i++) {
        if (interval_contains(now[i], next[i])) continue;
        now[i] = walk_widened(w, now[i], next[i], last);
        grew = true;
    }
    return grew;
}

/* True if anything grew.  Ties hold small differences: they go to anything at once. */
static bool widen_state(struct walker *w, struct walk_state *at_test, const struct walk_state *next,
                        bool last)
{
    bool grew = widen_all(w, at_test->locals, next->locals, w->local_count, last);
    return widen_all(w, at_test->ties, next->ties, w->tie_count, true) || grew;
}

static void narrow_all(struct interval *now, const struct interval *entry,
                       const struct interval *next, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        now[i] = next == NULL ? entry[i] : interval_meet(now[i], interval_join(entry[i], next[i]));
}

static void forget_ties(const struct walker *w, struct walk_state *s)
{
    for (uint32_t i = 0; i < w->tie_count; i++)
        s->ties[i] = INTERVAL_ALL;
}

struct assigned_slots {
    const struct walker *walker;
    const bool *slots;
};

static bool reads_assigned(const struct kx *e, void *data)
{
    const struct assigned_slots *assigned = data;
    if (e->kind != KX_VARIABLE) return false;
    uint32_t slot = walk_slot(assigned->walker, e->variable);
    return slot == WALK_NO_SLOT || assigned->slots[slot];
}

/* A counter that begins on one side of the bound in the condition, and comes nearer by at most 1 in a round, never passes
 * the bound.  So a loop that is left by its condition ends exactly at the bound. */
struct side {
    bool known; /* the counter begins on a side, and the condition keeps it there */
    bool up;    /* it begins at most at the bound; else at least at it */
    uint32_t slot;
    struct interval bound;
};

static struct side side_of_bound(struct walker *w, const struct ks *loop,
                                 const struct walk_state *entry, const bool *assigned)
{
    const struct kx *c = loop->expr;
    struct side side = {0};
    struct assigned_slots reads = {w, assigned};
    if (w->tie_count == 0 || c == NULL || c->kind != KX_COMPARE || kx_assigns(c, NULL)) return side;
    const struct variable *v = walk_plain_local(w, c->left);
    if (v == NULL || c->op == OP_EQ || kx_any(c->right, reads_assigned, &reads)) return side;
    wide past = c->op == OP_LE || c->op == OP_GE;
    struct interval from = walk_peek_value(w, entry, c->left);
    side.slot = walk_slot(w, v);
    side.bound = walk_peek_value(w, entry, c->right);
    bool below = from.high <= side.bound.low + past, above = from.low >= side.bound.high - past;
    side.up = c->op == OP_LT || c->op == OP_LE || (c->op == OP_NE && below);
    side.known = side.up ? below : above;
    return side;
}

static void assume_side_of_bound(struct walker *w, struct walk_state *s, const struct kx *c,
                                 struct side side)
{
    if (!side.known || !s->reachable) return;
    wide past = c->op == OP_LE || c->op == OP_GE ? (side.up ? 1 : -1) : 0;
    struct interval bound = {side.bound.low + past, side.bound.high + past};
    enum kx_op op = side.up ? OP_LE : OP_GE;
    walk_assume_value(w, s, c->left, op, bound);
    walk_fact_compare(w, s, c->left, op, c->right, -past);
}

/* Whether a round that begins on the side ends there: with `at_test`, where that is assumed. */
static bool stays_on_side(struct walker *w, const struct ks *loop, const struct walk_state *at_test,
                          struct side side)
{
    struct walk_state *begin = walk_copy_state(w, at_test), *next = walk_copy_state(w, at_test);
    struct walk_state *lost = walk_unreachable_state(w);
    const struct walk_trace *trace = w->trace;
    bool mark = w->mark, settling = w->settling;
    w->mark = false;
    w->settling = true;
    w->trace = NULL;
    walk_tie_round(w, begin, w->fixed_points);
    loop_round(w, loop, begin, next, lost, (struct loop_place){.tested = true});
    w->mark = mark;
    w->settling = settling;
    w->trace = trace;
    struct interval pace = walk_tie_pace(w, next, side.slot, w->fixed_points);
    bool stays = !next->reachable || (side.up ? pace.high <= 1 : pace.low >= -1);
    walk_drop_state(w, begin);
    walk_drop_state(w, next);
    walk_drop_state(w, lost);
    return stays;
}

/* The state at the test that holds for any number of rounds, if the counter stays on the side. */
static struct walk_state *stable_on_side(struct walker *w, const struct walk_state *entry,
                                         const struct ks *loop, const bool *assigned,
                                         struct side side)
{
    const struct loop_place any = {.tested = true};
    struct walk_state *at_test = walk_copy_state(w, entry), *next = walk_copy_state(w, entry);
    struct walk_state *lost = walk_unreachable_state(w);
    const struct walk_trace *trace = w->trace;
    bool mark = w->mark, settling = w->settling, stable = false;
    int steps = w->fixed_points > 2 ? 0 : w->fixed_points == 2 ? STEPS_INNER : STEPS_OUTER;
    w->mark = false;
    w->settling = true;
    w->trace = NULL;
    if (w->fixed_points > WALK_MAX_NESTING || w->settling_left == 0 || walk_is_spent(w)) {
        forget_loop_assigned(w, at_test, assigned);
        forget_ties(w, at_test);
    } else {
        for (int round = 0; !stable && round < steps + STRAIGHT && !walk_is_spent(w); round++) {
            if (w->settling_left > 0) w->settling_left--;
            assume_side_of_bound(w, at_test, loop->expr, side);
            loop_round(w, loop, at_test, next, lost, any);
            stable = !next->reachable || !widen_state(w, at_test, next, round >= steps);
        }
        if (!stable) {
            forget_loop_assigned(w, at_test, assigned);
            forget_ties(w, at_test);
        }
        /* Narrowing: one more round from the widened state, joined with the entry. */
        loop_round(w, loop, at_test, next, lost, any);
        bool again = next->reachable;
        narrow_all(at_test->locals, entry->locals, again ? next->locals : NULL, w->local_count);
        narrow_all(at_test->ties, entry->ties, again ? next->ties : NULL, w->tie_count);
        assume_side_of_bound(w, at_test, loop->expr, side);
    }
    w->mark = mark;
    w->settling = settling;
    w->trace = trace;
    walk_drop_state(w, next);
    walk_drop_state(w, lost);
    return at_test;
}

/* The state at the test that holds for any number of rounds. */
static struct walk_state *stable_state(struct walker *w, const struct walk_state *entry,
                                       const struct ks *loop, const bool *assigned)
{
    struct side side = side_of_bound(w, loop, entry, assigned);
    struct walk_state *at_test = stable_on_side(w, entry, loop, assigned, side);
    if (!side.known || stays_on_side(w, loop, at_test, side)) return at_test;
    walk_drop_state(w, at_test);
    return stable_on_side(w, entry, loop, assigned, (struct side){0});
}

static void count_endless(struct walker *w, const struct ks *loop, uint32_t end, uint64_t most)
{
    if (w->endless_most == NULL || w->settling || most <= w->endless_most[end].most) return;
    w->endless_most[end] = (struct walk_endless){.most = most, .loop = loop};
}

/* A firing may stay for ever in a loop whose rounds have no bound.  `next`, the end of a round, has all that its rounds
 * append: what the ties show there is a bound at any time.  Where they show none, they do not narrow what `leaving`
 * counts, either.  If the loop is never left, what was appended before it counts here. */
static void count_endless_rounds(struct walker *w, const struct ks *loop,
                                 const struct walk_state *entry, const struct walk_state *next,
                                 struct walk_state *const leaving[3])
{
    bool is_left = leaving[0]->reachable || leaving[1]->reachable || leaving[2]->reachable;
    for (uint32_t i = 0; i < w->end_count && next->reachable; i++) {
        uint64_t before = entry->counts[i].most, most = walk_tie_most(w, next, i);
        if (next->counts[i].most > before) {
            if (most != WALK_UNBOUNDED || !is_left) count_endless(w, loop, i, most);
            for (int k = 0; k < 3 && most == WALK_UNBOUNDED; k++)
                walk_tie_forget(w, leaving[k], i);
        } else if (!is_left && before > 0) {
            count_endless(w, loop, i, w->fixed_points > 0 ? walk_tie_most(w, entry, i) : before);
        }
    }
}

static void leave_rounds(struct walker *w, const struct ks *loop, struct walk_state *to,
                         struct walk_state *left, const struct walk_state *entry,
                         const struct walk_state *next, const struct walk_state *most,
                         uint64_t rounds)
{
    if (left->reachable) {
        apply_rounds(w, loop, left, entry, next, most, rounds);
        if (w->fixed_points == 0) walk_tie_settle(w, left);
        walk_sum_leave_loop(w, left);
        walk_join_state(w, to, left);
    }
    walk_drop_state(w, left);
}

/* Any number of rounds: one round is walked from a state that holds before each of them, and the
 * counters are multiplied.  A path that leaves by break or return has done at most that many
 * rounds too. */
static void fixed_point_loop(struct walker *w, struct walk_state *s, struct ks *loop,
                             struct walk_state *out)
{
    bool *all = ARENA_ARRAY(w->scratch, bool, w->local_count + 1);
    bool *body = ARENA_ARRAY(w->scratch, bool, w->local_count + 1);
    struct walk_state *returns = w->returns, *stops = w->stops;
    collect_loop(w, loop, all, true);
    collect_loop(w, loop, body, false);
    if (s->fact_count > 0) walk_fact_kill_loop(s, loop);
    walk_sum_enter_loop(w, s, loop);
    w->fixed_points++;
    w->undecided++;
    w->returns = walk_unreachable_state(w);
    w->stops = walk_unreachable_state(w);
    s->certain = false;
    struct walk_state *entry = walk_copy_state(w, s);
    struct walk_state *at_test = stable_state(w, entry, loop, all);
    uint64_t rounds = counted_rounds(w, loop, entry, at_test, body);
    struct walk_state *next = walk_copy_state(w, at_test), *left = walk_unreachable_state(w);
    struct walk_state *in = walk_unreachable_state(w);
    w->returns->reachable = w->stops->reachable = false;
    w->returns->cost = 0;
    walk_tie_round(w, at_test, w->fixed_points);
    loop_round(w, loop, at_test, next, left, (struct loop_place){.tested = true, .body = in});
    uint64_t tied = walk_tie_rounds(w, entry, in, next, w->fixed_points);
    uint64_t scaling = walk_scaling_rounds(w, loop, in);
    if (tied < rounds) rounds = tied;
    if (scaling < rounds) rounds = scaling;
    if (w->mark && rounds == WALK_UNBOUNDED) loop->unbounded = true;
    struct walk_state *most = walk_unreachable_state(w), *inner_returns = w->returns;
    struct walk_state *inner_stops = w->stops;
    walk_join_state(w, most, next);
    walk_join_state(w, most, left);
    walk_join_state(w, most, inner_returns);
    walk_join_state(w, most, inner_stops);
    w->returns = returns;
    w->stops = stops;
    w->fixed_points--;
    if (rounds == WALK_UNBOUNDED)
        count_endless_rounds(w, loop, entry, next,
                             (struct walk_state *[]){left, inner_returns, inner_stops});
    leave_rounds(w, loop, out, left, entry, next, most, rounds);
    leave_rounds(w, loop, returns, inner_returns, entry, next, most, rounds);
    leave_rounds(w, loop, stops, inner_stops, entry, next, most, rounds);
    walk_drop_state(w, entry);
    walk_drop_state(w, at_test);
    walk_drop_state(w, next);
    walk_drop_state(w, most);
    walk_drop_state(w, in);
    s->reachable = false;
}

void walk_loop(struct walker *w, struct walk_state *s, struct ks *loop)
{
    struct walk_state *out = walk_unreachable_state(w);
    uint64_t round = 0;
    walk_statements(w, s, loop->init);
    if (s->reachable && !run_rounds(w, s, loop, out, &round)) {
        if (round == 0 && loop->test_after)
            loop_round(w, loop, s, s, out, (struct loop_place){.round = 1});
        if (s->reachable) fixed_point_loop(w, s, loop, out);
    }
    walk_guided(w, STEP_LOOP, loop); /* whether or not its rounds were walked one by one */
    if (!out->reachable) w->endless = loop->span;
    walk_assign_state(w, s, out);
    walk_drop_state(w, out);
}
