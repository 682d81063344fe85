#include "compiler/analysis/walk_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- states ---- */

/* States are recycled: constant loops make many. */
static struct walk_state *new_state(struct walker *w)
{
    struct walk_state *s = w->free_states;
    if (s != NULL) {
        w->free_states = s->next_free;
        return s;
    }
    s = ARENA_NEW(w->scratch, struct walk_state);
    s->locals = ARENA_ARRAY(w->scratch, struct interval, w->local_count + 1);
    s->counts = ARENA_ARRAY(w->scratch, struct walk_count, w->end_count + 1);
    if (w->relate) s->relation = relation_create(w->scratch, w->end_count);
    return s;
}

static void drop_state(struct walker *w, struct walk_state *s)
{
    s->next_free = w->free_states;
    w->free_states = s;
}

static struct walk_state *unreachable_state(struct walker *w)
{
    struct walk_state *s = new_state(w);
    s->reachable = false;
    s->certain = false;
    s->cost = 0;
    return s;
}

static void assign_state(struct walker *w, struct walk_state *to, const struct walk_state *from)
{
    memcpy(to->locals, from->locals, w->local_count * sizeof *to->locals);
    memcpy(to->counts, from->counts, w->end_count * sizeof *to->counts);
    if (w->relate) relation_copy(&to->relation, &from->relation);
    to->reachable = from->reachable;
    to->certain = from->certain;
    to->cost = from->cost;
}

static struct walk_state *copy_state(struct walker *w, const struct walk_state *from)
{
    struct walk_state *to = new_state(w);
    w->cx->walk_steps += (w->local_count + w->end_count) / 16; /* copied and later joined */
    assign_state(w, to, from);
    return to;
}

enum { JOIN_BLOCK = 64 };

/* Nearly all locals are the same on both ways, so they are compared a block at a time. */
static void join_locals(struct walker *w, struct interval *to, const struct interval *from)
{
    for (uint32_t i = 0; i < w->local_count; i += JOIN_BLOCK) {
        uint32_t end = w->local_count - i < JOIN_BLOCK ? w->local_count : i + JOIN_BLOCK;
        if (memcmp(&to[i], &from[i], (end - i) * sizeof *to) == 0) continue;
        for (uint32_t k = i; k < end; k++)
            to[k] = interval_join(to[k], from[k]);
    }
}

/* to := to or from */
static void join_state(struct walker *w, struct walk_state *to, const struct walk_state *from)
{
    if (!from->reachable) return;
    if (!to->reachable) {
        assign_state(w, to, from);
        return;
    }
    join_locals(w, to->locals, from->locals);
    for (uint32_t i = 0; i < w->end_count; i++) {
        if (from->counts[i].least < to->counts[i].least)
            to->counts[i].least = from->counts[i].least;
        if (from->counts[i].most > to->counts[i].most) to->counts[i].most = from->counts[i].most;
    }
    if (w->relate) relation_join(&to->relation, &from->relation);
    to->certain = to->certain && from->certain;
    if (from->cost > to->cost) to->cost = from->cost;
}

struct walk_state *walk_branch(struct walker *w, const struct walk_state *s)
{
    return copy_state(w, s);
}

void walk_rejoin(struct walker *w, struct walk_state *s, struct walk_state *branch)
{
    join_state(w, s, branch);
    drop_state(w, branch);
}

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? WALK_UNBOUNDED : sum;
}

static uint64_t saturating_mul(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? WALK_UNBOUNDED : product;
}

void walk_charge(struct walk_state *s, uint64_t cycles)
{
    s->cost = saturating_add(s->cost, cycles);
}

/* ---- emissions ---- */

static void relate_append(struct walk_state *s, uint32_t first, uint64_t arity,
                          struct interval element)
{
    wide low = element.low < 0 ? 0 : element.low;
    wide high = element.high < (wide)arity ? element.high : (wide)arity - 1;
    if (low <= high) relation_append(&s->relation, first + (uint32_t)low, first + (uint32_t)high);
}

static void count_append(struct walker *w, struct walk_state *s, const struct ks *stmt,
                         struct interval element)
{
    const struct kernel_port *port = &w->kernel->out[stmt->port];
    uint32_t first = walk_first_end(w->kernel, stmt->port);
    if (w->relate) relate_append(s, first, port->arity, element);
    for (uint64_t e = 0; e < port->arity; e++) {
        struct walk_count *count = &s->counts[first + e];
        if (element.low > (wide)e || element.high < (wide)e) continue;
        count->most = saturating_add(count->most, 1);
        if (element.low == element.high) count->least = saturating_add(count->least, 1);
    }
}

static void walk_emit(struct walker *w, struct walk_state *s, struct ks *stmt)
{
    if (w->kernel == NULL) return; /* functions append nothing */
    const struct kernel_port *port = &w->kernel->out[stmt->port];
    struct interval element = {0, 0}, index;
    if (stmt->element != NULL) {
        element = walk_eval(w, s, stmt->element);
        walk_mark_access(w, s, &stmt->element_check, &stmt->visited_element, element, port->arity,
                         stmt->element->span, "port array", port->name);
    }
    if (stmt->kind == KS_STORE) {
        index = walk_eval(w, s, stmt->index);
        walk_mark_access(w, s, &stmt->check, &stmt->visited, index,
                         port->pushes != NULL ? port->pushes[w->phase] : port->push,
                         stmt->index->span, "out-port", port->name);
    }
    walk_eval(w, s, stmt->expr);
    walk_charge(s, 1);
    if (stmt->kind == KS_EMIT) count_append(w, s, stmt, element);
}

/* ---- loops ---- */

/* What a statement list may assign, as a set of locals. */
static void collect_kx(const struct kx *e, bool *assigned)
{
    if (e == NULL) return;
    if (e->kind == KX_ASSIGN && e->left->kind == KX_VARIABLE &&
        e->left->variable->kind == VARIABLE_LOCAL)
        assigned[e->left->variable->index] = true;
    collect_kx(e->left, assigned);
    collect_kx(e->right, assigned);
    collect_kx(e->third, assigned);
    for (uint32_t i = 0; i < e->argument_count; i++)
        collect_kx(e->arguments[i], assigned);
}

static void collect_ks(const struct ks *stmt, bool *assigned)
{
    for (; stmt != NULL; stmt = stmt->next) {
        collect_kx(stmt->expr, assigned);
        collect_kx(stmt->step, assigned);
        collect_kx(stmt->element, assigned);
        collect_kx(stmt->index, assigned);
        if (stmt->kind == KS_DECLARE) assigned[stmt->variable->index] = true;
        collect_ks(stmt->init, assigned);
        collect_ks(stmt->body, assigned);
        collect_ks(stmt->otherwise, assigned);
    }
}

static void collect_loop(struct walker *w, const struct ks *loop, bool *assigned, bool with_step)
{
    memset(assigned, 0, w->local_count * sizeof *assigned);
    collect_kx(loop->expr, assigned);
    if (with_step) collect_kx(loop->step, assigned);
    collect_ks(loop->body, assigned);
}

static void forget_assigned(struct walker *w, struct walk_state *s, const bool *assigned)
{
    for (uint32_t i = 0; i < w->local_count; i++)
        if (assigned[i]) s->locals[i] = INTERVAL_ALL;
}

/* The test of a loop: `in` goes into the body, what leaves is joined to `out`. */
static void loop_test(struct walker *w, const struct ks *loop, struct walk_state *in,
                      struct walk_state *out)
{
    struct interval c = walk_eval(w, in, loop->expr);
    if (!interval_is_true(c) && !interval_is(c, 0)) in->certain = false;
    if (!interval_is_true(c)) {
        struct walk_state *leaving = copy_state(w, in);
        walk_assume(w, leaving, loop->expr, false);
        join_state(w, out, leaving);
        drop_state(w, leaving);
    }
    if (interval_is(c, 0))
        in->reachable = false;
    else
        walk_assume(w, in, loop->expr, true);
}

/* One round from the state at the test: `next` is the state at the test again, `out` gathers what
 * leaves. */
static void loop_round(struct walker *w, const struct ks *loop, const struct walk_state *at_test,
                       struct walk_state *next, struct walk_state *out, bool tested)
{
    struct walk_flow outer = w->flow;
    struct walk_state *in = copy_state(w, at_test);
    if (tested && loop->expr != NULL) loop_test(w, loop, in, out);
    w->flow = (struct walk_flow){.breaks = out, .continues = unreachable_state(w)};
    walk_statements(w, in, loop->body);
    join_state(w, in, w->flow.continues);
    drop_state(w, w->flow.continues);
    w->flow = outer;
    if (in->reachable && loop->step != NULL) walk_eval(w, in, loop->step);
    if (in->reachable) walk_charge(in, 1);
    assign_state(w, next, in);
    drop_state(w, in);
}

/* The value of an expression in `s`, without its effects. */
static struct interval peek_value(struct walker *w, const struct walk_state *s, struct kx *e)
{
    struct walk_state *trial = copy_state(w, s);
    bool mark = w->mark;
    w->mark = false;
    struct interval value = walk_eval(w, trial, e);
    w->mark = mark;
    drop_state(w, trial);
    return value;
}

/* Rounds one by one while the condition is decided.  False: undecided, or out of rounds; *s is the
 * state at the test so far and `out` what has left. */
static bool run_rounds(struct walker *w, struct walk_state *s, const struct ks *loop,
                       struct walk_state *out, bool *first)
{
    while (s->reachable) {
        bool tested = loop->expr != NULL && !(*first && loop->test_after);
        struct interval c = tested ? peek_value(w, s, loop->expr) : (struct interval){1, 1};
        if (interval_is(c, 0)) {
            walk_eval(w, s, loop->expr);
            join_state(w, out, s);
            s->reachable = false;
            return true;
        }
        if (!interval_is_true(c) || w->rounds_left == 0 || walk_is_spent(w)) return false;
        w->rounds_left--;
        loop_round(w, loop, s, s, out, tested);
        *first = false;
    }
    return true;
}

/* The largest number of rounds of `for (..; i < bound; i += step)`, where i is changed by the step
 * alone. */
static uint64_t counted_rounds(struct walker *w, const struct ks *loop,
                               const struct walk_state *entry, const struct walk_state *stable,
                               const bool *assigned)
{
    const struct kx *c = loop->expr, *step = loop->step;
    if (c == NULL || step == NULL || c->kind != KX_COMPARE || step->kind != KX_ASSIGN)
        return WALK_UNBOUNDED;
    if (walk_assigns(step->right)) return WALK_UNBOUNDED; /* the pace changes on the way */
    const struct variable *v = walk_plain_local(c->left);
    if (v == NULL || walk_plain_local(step->left) != v || assigned[v->index]) return WALK_UNBOUNDED;
    struct interval bound = peek_value(w, stable, c->right), by = {0, 0};
    if (step->op == OP_ADD || step->op == OP_SUB) by = peek_value(w, stable, step->right);
    if (step->op == OP_SUB) by = (struct interval){-by.high, -by.low};
    struct interval from = entry->locals[v->index];
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
 * `most`: per end, the most that the counter of any path of one round reached from `entry`; `next`:
 * behind a whole round. */
static void apply_rounds(struct walker *w, struct walk_state *out, const struct walk_state *entry,
                         const struct walk_state *next, const struct walk_count *most,
                         uint64_t most_cost, uint64_t rounds)
{
    if (w->relate && next->reachable)
        relation_repeat(&out->relation, &entry->relation, &next->relation);
    for (uint32_t i = 0; i < w->end_count; i++) {
        uint64_t more = most[i].most - entry->counts[i].most;
        if (most[i].most == WALK_UNBOUNDED) more = WALK_UNBOUNDED;
        out->counts[i].least = entry->counts[i].least;
        out->counts[i].most =
            saturating_add(entry->counts[i].most, more == 0 ? 0 : saturating_mul(more, rounds));
    }
    uint64_t assumed = rounds == WALK_UNBOUNDED ? WALK_ASSUMED_ROUNDS : rounds;
    out->cost = saturating_add(entry->cost, saturating_mul(most_cost - entry->cost, assumed));
}

/* True if anything grew. */
static bool widen(struct walker *w, struct walk_state *at_test, const struct walk_state *next)
{
    bool grew = false;
    for (uint32_t i = 0; i < w->local_count; i++) {
        struct interval *now = &at_test->locals[i];
        grew |= next->locals[i].low < now->low || next->locals[i].high > now->high;
        if (next->locals[i].low < now->low) now->low = INTERVAL_MIN;
        if (next->locals[i].high > now->high) now->high = INTERVAL_MAX;
    }
    return grew;
}

/* The state at the test that holds for any number of rounds. */
static struct walk_state *stable_state(struct walker *w, const struct walk_state *entry,
                                       const struct ks *loop, const bool *assigned)
{
    struct walk_state *at_test = copy_state(w, entry), *next = copy_state(w, entry);
    struct walk_state *lost = unreachable_state(w);
    bool mark = w->mark;
    w->mark = false;
    if (w->fixed_points > WALK_MAX_NESTING || walk_is_spent(w)) {
        forget_assigned(w, at_test, assigned);
    } else {
        for (int round = 0; round < 4; round++) {
            loop_round(w, loop, at_test, next, lost, true);
            if (!next->reachable || !widen(w, at_test, next)) break;
            if (round == 3 || walk_is_spent(w)) {
                forget_assigned(w, at_test, assigned);
                break;
            }
        }
        /* Narrowing: one more round from the widened state, joined with the entry. */
        loop_round(w, loop, at_test, next, lost, true);
        for (uint32_t i = 0; i < w->local_count; i++)
            at_test->locals[i] =
                next->reachable ? interval_meet(at_test->locals[i],
                                                interval_join(entry->locals[i], next->locals[i]))
                                : entry->locals[i];
    }
    w->mark = mark;
    drop_state(w, next);
    drop_state(w, lost);
    return at_test;
}

static void leave_rounds(struct walker *w, struct walk_state *to, struct walk_state *left,
                         const struct walk_state *entry, const struct walk_state *next,
                         const struct walk_state *most, uint64_t rounds)
{
    if (left->reachable) {
        apply_rounds(w, left, entry, next, most->counts, most->cost, rounds);
        join_state(w, to, left);
    }
    drop_state(w, left);
}

/* Any number of rounds: one round is walked from a state that holds before each of them, and the
 * counters are multiplied.  What leaves by break or return has done at most that many rounds too.
 */
static void fixed_point_loop(struct walker *w, struct walk_state *s, struct ks *loop,
                             struct walk_state *out)
{
    bool *all = ARENA_ARRAY(w->scratch, bool, w->local_count + 1);
    bool *body = ARENA_ARRAY(w->scratch, bool, w->local_count + 1);
    struct walk_state *returns = w->returns, *stops = w->stops;
    collect_loop(w, loop, all, true);
    collect_loop(w, loop, body, false);
    w->fixed_points++;
    w->returns = unreachable_state(w);
    w->stops = unreachable_state(w);
    s->certain = false;
    struct walk_state *entry = copy_state(w, s);
    struct walk_state *at_test = stable_state(w, entry, loop, all);
    uint64_t rounds = counted_rounds(w, loop, entry, at_test, body);
    if (w->mark && rounds == WALK_UNBOUNDED) loop->unbounded = true;
    struct walk_state *next = copy_state(w, at_test), *left = unreachable_state(w);
    w->returns->reachable = w->stops->reachable = false;
    w->returns->cost = 0;
    loop_round(w, loop, at_test, next, left, true);
    struct walk_state *most = unreachable_state(w), *inner_returns = w->returns;
    struct walk_state *inner_stops = w->stops;
    join_state(w, most, next);
    join_state(w, most, left);
    join_state(w, most, inner_returns);
    join_state(w, most, inner_stops);
    w->returns = returns;
    w->stops = stops;
    leave_rounds(w, out, left, entry, next, most, rounds);
    leave_rounds(w, returns, inner_returns, entry, next, most, rounds);
    leave_rounds(w, stops, inner_stops, entry, next, most, rounds);
    w->fixed_points--;
    drop_state(w, entry);
    drop_state(w, at_test);
    drop_state(w, next);
    drop_state(w, most);
    s->reachable = false;
}

static void walk_loop(struct walker *w, struct walk_state *s, struct ks *loop)
{
    struct walk_state *out = unreachable_state(w);
    bool first = true;
    walk_statements(w, s, loop->init);
    if (s->reachable && !run_rounds(w, s, loop, out, &first)) {
        if (first && loop->test_after) loop_round(w, loop, s, s, out, false);
        if (s->reachable) fixed_point_loop(w, s, loop, out);
    }
    if (!out->reachable) w->endless = loop->span;
    assign_state(w, s, out);
    drop_state(w, out);
}

/* ---- other statements ---- */

static void walk_if(struct walker *w, struct walk_state *s, const struct ks *stmt)
{
    struct interval c = walk_eval(w, s, stmt->expr);
    bool certain = s->certain;
    uint64_t jumps = w->jumps;
    if (!interval_is(c, 0) && !interval_is_true(c)) s->certain = false;
    struct walk_state *other = copy_state(w, s);
    walk_charge(s, 1);
    walk_charge(other, 1);
    if (interval_is(c, 0)) s->reachable = false;
    if (interval_is_true(c)) other->reachable = false;
    if (s->reachable) walk_assume(w, s, stmt->expr, true);
    if (other->reachable) walk_assume(w, other, stmt->expr, false);
    walk_statements(w, s, stmt->body);
    walk_statements(w, other, stmt->otherwise);
    bool both = s->reachable && other->reachable;
    if (!s->reachable)
        assign_state(w, s, other);
    else
        join_state(w, s, other);
    if (both && jumps == w->jumps)
        s->certain = certain; /* whichever was taken, control is here again */
    drop_state(w, other);
}

/* Whether the labels, which differ, name every value that the switch may have. */
static bool all_labelled(const struct ks *first, struct interval value)
{
    wide labelled = 0;
    for (const struct ks *c = first; c != NULL; c = c->next)
        if (c->kind == KS_CASE && !c->is_default &&
            interval_overlaps(value, interval_of_value(c->label)))
            labelled++;
    return value.high - value.low < labelled;
}

/* Every label that the value may have is reached from the switch itself; what no label names goes
 * to the default, or passes the switch over. */
static void walk_switch(struct walker *w, struct walk_state *s, const struct ks *stmt)
{
    struct interval value = walk_eval(w, s, stmt->expr);
    s->certain = false;
    struct walk_state *entry = copy_state(w, s), *out = unreachable_state(w);
    struct walk_flow outer = w->flow;
    bool has_default = false;
    w->flow = (struct walk_flow){.breaks = out, .continues = outer.continues};
    s->reachable = false;
    struct ks *first =
        stmt->body != NULL && stmt->body->kind == KS_BLOCK ? stmt->body->body : stmt->body;
    bool labelled = all_labelled(first, value);
    for (struct ks *c = first; c != NULL; c = c->next) {
        if (c->kind != KS_CASE) {
            walk_statement(w, s, c);
            continue;
        }
        has_default |= c->is_default;
        bool possible =
            c->is_default ? !labelled : interval_overlaps(value, interval_of_value(c->label));
        if (possible) join_state(w, s, entry);
    }
    w->flow = outer;
    if (!has_default && !labelled) join_state(w, out, entry);
    join_state(w, out, s);
    walk_charge(out, 1);
    assign_state(w, s, out);
    drop_state(w, entry);
    drop_state(w, out);
}

void walk_statement(struct walker *w, struct walk_state *s, struct ks *stmt)
{
    if (!s->reachable) return;
    switch (stmt->kind) {
    case KS_EXPR: walk_eval(w, s, stmt->expr); break;
    case KS_DECLARE:
        s->locals[stmt->variable->index] =
            stmt->expr != NULL ? walk_eval(w, s, stmt->expr) : (struct interval){0, 0};
        break;
    case KS_BLOCK: walk_statements(w, s, stmt->body); break;
    case KS_IF: walk_if(w, s, stmt); break;
    case KS_LOOP: walk_loop(w, s, stmt); break;
    case KS_SWITCH: walk_switch(w, s, stmt); break;
    case KS_CASE: break;
    case KS_BARRIER: walk_charge(s, 1); break;
    case KS_BREAK:
        w->jumps++;
        join_state(w, w->flow.breaks, s);
        s->reachable = false;
        break;
    case KS_CONTINUE:
        w->jumps++;
        join_state(w, w->flow.continues, s);
        s->reachable = false;
        break;
    case KS_RETURN:
        w->jumps++;
        if (stmt->expr != NULL) walk_eval(w, s, stmt->expr);
        join_state(w, w->returns, s);
        s->reachable = false;
        break;
    case KS_STOP:
        w->jumps++;
        join_state(w, w->stops, s);
        s->reachable = false;
        break;
    case KS_EMIT:
    case KS_STORE: walk_emit(w, s, stmt); break;
    }
}

void walk_statements(struct walker *w, struct walk_state *s, struct ks *stmt)
{
    for (; stmt != NULL && s->reachable; stmt = stmt->next)
        walk_statement(w, s, stmt);
}

/* ---- entry ---- */

uint32_t walk_first_end(const struct kernel *kernel, uint32_t port)
{
    uint64_t ends = 0;
    for (uint32_t i = 0; i < port; i++)
        ends += kernel->out[i].arity;
    return (uint32_t)ends;
}

uint32_t walk_end_count(const struct kernel *kernel)
{
    return walk_first_end(kernel, kernel->out_count);
}

/* ---- work-items ---- */

static bool has_items(const struct walk_request *request)
{
    return request->kernel != NULL && request->kernel->grouped && request->section == WALK_FIRING;
}

static void set_items(const struct walker *w, struct walk_state *s,
                      const struct walk_request *request)
{
    if (!has_items(request)) return;
    assert(request->kernel != NULL);
    for (int d = 0; d < 3; d++) {
        struct interval *index = &s->locals[w->item_local + (uint32_t)d];
        *index = (struct interval){0, (wide)request->kernel->group[d] - 1};
        if (request->item != NULL) index->low = index->high = request->item[d];
    }
}

static uint64_t item_count(const struct kernel *kernel)
{
    assert(kernel != NULL);
    return (uint64_t)kernel->group[0] * kernel->group[1] * kernel->group[2];
}

/* ---- executions ---- */

/* One execution from the beginning; what it appends goes to `counts` and `stopped`. */
static void walk_once(struct walker *w, const struct walk_request *request,
                      struct walk_result *result, uint64_t *cost)
{
    struct walk_state *s = unreachable_state(w);
    s->reachable = true;
    s->certain = true;
    for (uint32_t i = 0; i < w->local_count; i++)
        s->locals[i] = INTERVAL_ALL;
    set_items(w, s, request);
    memset(s->counts, 0, w->end_count * sizeof *s->counts);
    if (w->relate) relation_clear(&s->relation);
    w->returns = unreachable_state(w);
    w->stops = unreachable_state(w);
    w->flow = (struct walk_flow){.breaks = unreachable_state(w), .continues = unreachable_state(w)};
    walk_statements(w, s, request->body);
    join_state(w, w->returns, s);
    result->ends = w->returns->reachable || w->stops->reachable;
    result->stops |= w->stops->reachable;
    *cost = w->returns->reachable ? w->returns->cost : w->stops->cost;
    uint32_t first = w->phase * w->end_count;
    if (w->relate && w->returns->reachable) relation_span(result->relation, &w->returns->relation);
    for (uint32_t i = 0; i < w->end_count; i++) {
        if (w->returns->reachable) result->counts[first + i] = w->returns->counts[i];
        if (w->stops->reachable) result->stopped[first + i] = w->stops->counts[i];
    }
    drop_state(w, s);
    drop_state(w, w->returns);
    drop_state(w, w->stops);
    drop_state(w, w->flow.breaks);
    drop_state(w, w->flow.continues);
}

static struct walk_result walk_any(const struct walk_request *request, struct arena *scratch);

/* Adds up what each item appends. */
static void sum_items(const struct walk_request *request, struct walk_count *counts, size_t count)
{
    const uint32_t *group = request->kernel->group;
    memset(counts, 0, count * sizeof *counts);
    for (uint64_t n = 0; n < item_count(request->kernel); n++) {
        uint32_t item[3] = {(uint32_t)(n % group[0]), (uint32_t)(n / group[0] % group[1]),
                            (uint32_t)(n / group[0] / group[1])};
        struct arena *scratch = arena_create();
        struct walk_request one = *request;
        one.item = item;
        one.relate = false;
        struct walk_result result = walk_any(&one, scratch);
        for (size_t i = 0; i < count; i++) {
            counts[i].least = saturating_add(counts[i].least, result.counts[i].least);
            counts[i].most = saturating_add(counts[i].most, result.counts[i].most);
        }
        arena_destroy(scratch);
    }
}

/* From what any one item does to what all do. */
static void multiply_items(const struct walk_request *request, struct walk_result *result)
{
    uint64_t items = item_count(request->kernel);
    size_t count = (size_t)walk_end_count(request->kernel) * request->kernel->phases;
    bool even = true;
    result->cost_cycles = saturating_mul(result->cost_cycles, items);
    for (size_t i = 0; i < count; i++) {
        struct walk_count *stopped = &result->stopped[i];
        even &= result->counts[i].least == result->counts[i].most;
        if (result->stops && result->counts[i].most > stopped->most)
            stopped->most = result->counts[i].most;
        stopped->most = saturating_mul(stopped->most, items);
    }
    if (!even && !request->mark && request->function_costs == NULL) {
        sum_items(request, result->counts, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        result->counts[i].least = saturating_mul(result->counts[i].least, items);
        result->counts[i].most = saturating_mul(result->counts[i].most, items);
    }
}

struct walk_result walk_body(const struct walk_request *request, struct arena *scratch)
{
    struct walk_result result = walk_any(request, scratch);
    if (has_items(request)) multiply_items(request, &result);
    return result;
}

/* ---- one work-item, or the whole firing where there are none ---- */

static struct walk_result walk_any(const struct walk_request *request, struct arena *scratch)
{
    bool firing = request->kernel != NULL && request->section == WALK_FIRING;
    uint32_t phases = firing ? request->kernel->phases : 1;
    assert(phases > 0);
    struct walker w = {
        .cx = request->cx,
        .scratch = scratch,
        .kernel = request->kernel,
        .section = request->section,
        .mark = request->mark,
        .relate = request->relate,
        .observe = request->observe,
        .observer = request->observer,
        .local_count = request->local_count + (has_items(request) ? 3 : 0) +
                       (request->kernel != NULL ? request->kernel->in_count : 0),
        .item_local = request->local_count,
        .port_local = request->local_count + (has_items(request) ? 3 : 0),
        .end_count = request->kernel != NULL ? walk_end_count(request->kernel) : 0,
        .function_costs = request->function_costs,
    };
    size_t counts = (size_t)phases * w.end_count + 1;
    struct walk_result result = {.counts = ARENA_ARRAY(scratch, struct walk_count, counts),
                                 .stopped = ARENA_ARRAY(scratch, struct walk_count, counts),
                                 .ends = true};
    if (w.relate) {
        result.relation = ARENA_NEW(scratch, struct relation);
        *result.relation = relation_create(scratch, w.end_count);
    }
    unsigned __int128 cost = 0;
    for (; w.phase < phases && result.ends; w.phase++) {
        uint64_t cycles;
        w.rounds_left = WALK_MAX_PHASE_ROUNDS / phases;
        if (w.rounds_left > WALK_MAX_ROUNDS) w.rounds_left = WALK_MAX_ROUNDS;
        if (request->item != NULL)
            w.rounds_left = (uint32_t)(UINT64_C(4) * w.rounds_left / item_count(request->kernel));
        walk_once(&w, request, &result, &cycles);
        cost += cycles;
    }
    cost = (cost + phases - 1) / phases;
    result.cost_cycles = (uint64_t)cost;
    result.endless = w.endless;
    walk_report_outside(&w);
    return result;
}
