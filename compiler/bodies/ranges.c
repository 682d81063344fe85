/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/ranges_internal.h"
#include "base/arithmetic.h"
#include "compiler/context/phase_times.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- emissions ---- */

static void count_one(struct walker *w, struct walk_state *s, const struct ks *stmt, uint32_t end,
                      bool certain)
{
    struct walk_count *count = &s->counts[end];
    count->most = saturating_add(count->most, 1);
    if (certain) count->least = saturating_add(count->least, 1);
    if (w->tie_count > 0) walk_tie_append(w, s, end, certain);
    walk_sum_append(w, s, end, certain);
    if (w->trace == NULL || w->trace->end != end) return;
    const struct walk_step step = {.kind = STEP_APPEND, .stmt = stmt};
    count->most_path = walk_step_after(w, count->most_path, step);
    if (certain) count->least_path = walk_step_after(w, count->least_path, step);
}

static void count_append(struct walker *w, struct walk_state *s, const struct ks *stmt,
                         struct interval element)
{
    const struct kernel_port *port = &w->kernel->out[stmt->port];
    uint32_t first = walk_first_end(w->kernel, stmt->port);
    wide from = element.low < 0 ? 0 : element.low;
    wide last = element.high < (wide)port->arity ? element.high : (wide)port->arity - 1;
    if (w->relate && from <= last)
        relation_append(&s->relation, first + (uint32_t)from, first + (uint32_t)last);
    for (wide e = from; e <= last; e++)
        count_one(w, s, stmt, first + (uint32_t)e, element.low == element.high);
}

static void walk_emit(struct walker *w, struct walk_state *s, struct ks *stmt)
{
    if (w->kernel == NULL) return; /* functions append nothing */
    const struct kernel_port *port = &w->kernel->out[stmt->port];
    struct interval element = {0, 0}, index;
    if (stmt->element != NULL) {
        element = walk_eval(w, s, stmt->element);
        walk_mark_access(w, s, &stmt->element_check, &stmt->visited_element, element, port->arity,
                         stmt->element, stmt->element->span, "port array", port->name);
    }
    if (stmt->kind == KS_STORE) {
        index = walk_eval(w, s, stmt->index);
        walk_mark_access(w, s, &stmt->check, &stmt->visited, index,
                         port->pushes != NULL ? port->pushes[w->phase] : port->push, stmt->index,
                         stmt->index->span, WALK_OUT_PORT, port->name);
    }
    walk_eval(w, s, stmt->expr);
    walk_charge(s, cost_of_statement(w->costs, stmt));
    if (stmt->kind == KS_EMIT) count_append(w, s, stmt, element);
}

static void walk_launch_statement(struct walker *w, struct walk_state *s, const struct ks *stmt)
{
    if (stmt->expr != NULL) walk_eval(w, s, stmt->expr);
    walk_charge(s, cost_of_statement(w->costs, stmt));
    if (stmt->variable != NULL)
        walk_set(w, s, stmt->variable, true, interval_of_type(stmt->variable->type));
    count_one(w, s, stmt, walk_launch_end(w->kernel), true);
}

/* ---- other statements ---- */

static struct walk_step branch_step(const struct ks *stmt, bool taken, bool decided)
{
    return (struct walk_step){
        .kind = STEP_BRANCH, .stmt = stmt, .taken = taken, .decided = decided};
}

static void walk_way(struct walker *w, struct walk_state *s, const struct ks *stmt, bool taken,
                     bool decided)
{
    walk_step(w, s, branch_step(stmt, taken, decided));
    if (s->reachable) walk_take(w, s, stmt->expr, taken);
    walk_statements(w, s, taken ? stmt->body : stmt->otherwise);
}

static void walk_if(struct walker *w, struct walk_state *s, const struct ks *stmt)
{
    uint32_t condition = walk_number(w, s, stmt->expr);
    struct interval c = walk_test(w, s, stmt->expr);
    bool certain = s->certain;
    uint64_t jumps = w->jumps;
    const struct walk_step *guided = walk_guided(w, STEP_BRANCH, stmt);
    walk_charge(s, cost_of_statement(w->costs, stmt));
    if (interval_is(c, 0) || interval_is_true(c)) {
        walk_way(w, s, stmt, interval_is_true(c), true);
        return;
    }
    if (guided != NULL) {
        walk_way(w, s, stmt, walk_guided_truth(w, condition, guided->taken), false);
        return;
    }
    s->certain = false;
    w->undecided++;
    struct walk_state *other = walk_copy_state(w, s);
    walk_way(w, s, stmt, true, false);
    walk_way(w, other, stmt, false, false);
    bool both = s->reachable && other->reachable;
    struct walk_sum *sums = both ? walk_sum_choice(w, condition, s, other) : NULL;
    if (!s->reachable)
        walk_assign_state(w, s, other);
    else
        walk_join_state(w, s, other);
    if (sums != NULL) memcpy(s->sums, sums, w->end_count * sizeof *sums);
    if (both && jumps == w->jumps)
        s->certain = certain; /* whichever was taken, control is here again */
    walk_drop_state(w, other);
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

/* The value is none that a label names. */
static void assume_unlabelled(struct walker *w, struct walk_state *s, const struct ks *stmt)
{
    const struct ks *first = stmt->body->kind == KS_BLOCK ? stmt->body->body : stmt->body;
    for (const struct ks *c = first; c != NULL; c = c->next)
        if (c->kind == KS_CASE && !c->is_default && s->reachable)
            walk_assume_value(w, s, stmt->expr, OP_NE, interval_of_value(c->label));
}

static void enter_case(struct walker *w, struct walk_state *s, const struct walk_state *entry,
                       const struct ks *stmt, const struct ks *label)
{
    struct walk_state *entering = walk_copy_state(w, entry);
    if (label->is_default)
        assume_unlabelled(w, entering, stmt);
    else
        walk_assume_value(w, entering, stmt->expr, OP_EQ, interval_of_value(label->label));
    walk_step(w, entering, (struct walk_step){.kind = STEP_CASE, .stmt = label});
    walk_join_state(w, s, entering);
    walk_drop_state(w, entering);
}

static void walk_statement(struct walker *w, struct walk_state *s, struct ks *stmt);

/* Every label that the value may have is reached from the switch itself; what no label names goes
 * to the default, or passes the switch over. */
static void walk_switch(struct walker *w, struct walk_state *s, const struct ks *stmt)
{
    struct interval value = walk_eval(w, s, stmt->expr);
    s->certain = false;
    w->undecided += value.low < value.high;
    walk_charge(s, cost_of_statement(w->costs, stmt));
    struct walk_state *entry = walk_copy_state(w, s), *out = walk_unreachable_state(w);
    struct walk_flow outer = w->flow;
    bool has_default = false;
    w->flow = (struct walk_flow){.breaks = out, .continues = outer.continues};
    s->reachable = false;
    struct ks *first =
        stmt->body != NULL && stmt->body->kind == KS_BLOCK ? stmt->body->body : stmt->body;
    bool labelled = all_labelled(first, value);
    const struct walk_step *guided = NULL;
    for (struct ks *c = first; c != NULL && guided == NULL; c = c->next)
        if (c->kind == KS_CASE) guided = walk_guided(w, STEP_CASE, c);
    for (struct ks *c = first; c != NULL; c = c->next) {
        if (c->kind != KS_CASE) {
            walk_statement(w, s, c);
            continue;
        }
        has_default |= c->is_default;
        bool possible =
            c->is_default ? !labelled : interval_overlaps(value, interval_of_value(c->label));
        if (guided != NULL && guided->stmt != c) continue;
        if (possible) enter_case(w, s, entry, stmt, c);
    }
    w->flow = outer;
    if (!has_default && !labelled && guided == NULL) walk_join_state(w, out, entry);
    walk_join_state(w, out, s);
    walk_assign_state(w, s, out);
    walk_drop_state(w, entry);
    walk_drop_state(w, out);
}

static void note_returned(struct walker *w, struct interval value)
{
    if (w->returned == NULL) return;
    bool first = w->returned->low > w->returned->high;
    *w->returned = first ? value : interval_join(*w->returned, value);
}

static void walk_declare(struct walker *w, struct walk_state *s, const struct ks *stmt)
{
    struct interval value = {0, 0};
    uint32_t number = stmt->expr != NULL ? walk_number(w, s, stmt->expr) : 0;
    if (stmt->expr != NULL) value = walk_eval(w, s, stmt->expr);
    walk_set(w, s, stmt->variable, true, value);
    walk_sum_assigned(w, s, stmt->variable, number);
    if (stmt->expr == NULL || value.low == value.high || !type_is_integer(stmt->variable->type))
        return;
    const struct kx target = {
        .kind = KX_VARIABLE, .type = stmt->variable->type, .variable = stmt->variable};
    const struct kx *kept = arena_copy(w->scratch, &target, sizeof target);
    walk_fact_assigned(w, s, kept, stmt->expr);
}

static void walk_statement(struct walker *w, struct walk_state *s, struct ks *stmt)
{
    if (!s->reachable) return;
    switch (stmt->kind) {
    case KS_EXPR: walk_eval(w, s, stmt->expr); break;
    case KS_DECLARE: walk_declare(w, s, stmt); break;
    case KS_BLOCK: walk_statements(w, s, stmt->body); break;
    case KS_IF: walk_if(w, s, stmt); break;
    case KS_LOOP: walk_loop(w, s, stmt); break;
    case KS_SWITCH: walk_switch(w, s, stmt); break;
    case KS_CASE: break;
    case KS_BARRIER: walk_charge(s, cost_of_statement(w->costs, stmt)); break;
    case KS_BREAK:
        w->jumps++;
        walk_join_state(w, w->flow.breaks, s);
        s->reachable = false;
        break;
    case KS_CONTINUE:
        w->jumps++;
        walk_join_state(w, w->flow.continues, s);
        s->reachable = false;
        break;
    case KS_RETURN:
        w->jumps++;
        w->exits++;
        if (stmt->expr != NULL) note_returned(w, walk_eval(w, s, stmt->expr));
        walk_step(w, s, (struct walk_step){.kind = STEP_RETURN, .stmt = stmt});
        walk_join_state(w, w->returns, s);
        s->reachable = false;
        break;
    case KS_STOP:
        w->jumps++;
        w->exits++;
        walk_join_state(w, w->stops, s);
        s->reachable = false;
        break;
    case KS_EMIT:
    case KS_STORE: walk_emit(w, s, stmt); break;
    case KS_LAUNCH: walk_launch_statement(w, s, stmt); break;
    case KS_FOREIGN: break; /* it keeps nothing that other statements see */
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
    return (uint32_t)kernel_end_count(kernel->out, port);
}

uint32_t walk_launch_end(const struct kernel *kernel)
{
    return walk_first_end(kernel, kernel->out_count);
}

uint32_t walk_end_count(const struct kernel *kernel)
{
    return walk_launch_end(kernel) + (kernel_launches_any(&kernel->launches) ? 1 : 0);
}

/* ---- work-items ---- */

static bool has_items(const struct walk_request *request)
{
    return request->kernel != NULL && (request->kernel->grouped || request->kernel->in_groups) &&
           request->section == WALK_FIRING;
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
    wide groups = request->kernel->work_groups;
    s->locals[w->item_local + ITEM_GROUP] = (struct interval){0, groups - 1};
    s->locals[w->item_local + ITEM_GROUPS] = (struct interval){1, groups};
}

static uint64_t item_count(const struct kernel *kernel)
{
    assert(kernel != NULL);
    return (uint64_t)kernel->group[0] * kernel->group[1] * kernel->group[2];
}

/* ---- executions ---- */

static void set_kept(const struct walker *w, struct walk_state *s,
                     const struct walk_request *request)
{
    if (w->kept_local == WALK_NO_SLOT) return;
    size_t count = w->kernel->states.count + w->kernel->tables.count;
    const struct interval *kept = request->kept;
    for (size_t i = 0; i < count; i++)
        s->locals[w->kept_local + i] = kept != NULL ? kept[i] : (struct interval){0, 0};
}

static void set_params(const struct walker *w, struct walk_state *s,
                       const struct walk_request *request)
{
    const struct function *f = request->function;
    if (f == NULL || request->params == NULL) return;
    /* Whether a call comes here is another question. */
    s->certain = false;
    for (uint32_t i = 0; i < f->param_count; i++)
        if (walk_slot(w, f->params[i]) != WALK_NO_SLOT)
            s->locals[f->params[i]->index] = request->params[i];
}

static void begin_walk(const struct walker *w, struct walk_state *s,
                       const struct walk_request *request)
{
    s->reachable = true;
    s->certain = true;
    for (uint32_t i = 0; i < w->local_count; i++)
        s->locals[i] = INTERVAL_ALL;
    set_items(w, s, request);
    set_kept(w, s, request);
    set_params(w, s, request);
    memset(s->counts, 0, w->end_count * sizeof *s->counts);
    if (w->relate) relation_clear(&s->relation);
    walk_tie_begin(w, s);
    walk_sum_begin(w, s);
}

/* Joins what `kept` variables hold at the end to the request's `ending`. */
static void keep_ending(const struct walker *w, const struct walk_state *s,
                        const struct walk_request *request)
{
    if (request->ending == NULL || !s->reachable) return;
    size_t count = w->kernel->states.count + w->kernel->tables.count;
    for (size_t i = 0; i < count; i++) {
        struct interval *end = &request->ending[i];
        struct interval now = s->locals[w->kept_local + i];
        *end = end->low > end->high ? now : interval_join(*end, now);
    }
}

/* One execution from the beginning; what it appends goes to `counts` and `stopped`. */
static void walk_once(struct walker *w, const struct walk_request *request,
                      struct walk_result *result, uint64_t *cost)
{
    struct walk_state *s = walk_unreachable_state(w);
    begin_walk(w, s, request);
    walk_guide_begin(w);
    w->returns = walk_unreachable_state(w);
    w->stops = walk_unreachable_state(w);
    w->flow = (struct walk_flow){.breaks = walk_unreachable_state(w),
                                 .continues = walk_unreachable_state(w)};
    walk_statements(w, s, request->body);
    walk_join_state(w, w->returns, s);
    walk_tie_settle(w, w->returns);
    walk_tie_settle(w, w->stops);
    walk_sum_settle(w, w->returns);
    walk_sum_settle(w, w->stops);
    keep_ending(w, w->returns, request);
    keep_ending(w, w->stops, request);
    result->ends = w->returns->reachable || w->stops->reachable;
    result->stops |= w->stops->reachable;
    result->returns[w->phase] = w->returns->reachable;
    *cost = w->returns->reachable ? w->returns->cost : w->stops->cost;
    uint32_t first = w->phase * w->end_count;
    if (w->relate && w->returns->reachable) relation_join(result->relation, &w->returns->relation);
    for (uint32_t i = 0; i < w->end_count; i++) {
        if (w->returns->reachable) result->counts[first + i] = w->returns->counts[i];
        if (!w->returns->reachable && w->trace != NULL)
            result->counts[first + i] = (struct walk_count){.least = WALK_UNBOUNDED};
        if (w->stops->reachable) result->stopped[first + i] = w->stops->counts[i];
    }
    walk_drop_state(w, s);
    walk_drop_state(w, w->returns);
    walk_drop_state(w, w->stops);
    walk_drop_state(w, w->flow.breaks);
    walk_drop_state(w, w->flow.continues);
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
    for (uint32_t i = 0; i < walk_end_count(request->kernel); i++)
        result->endless_most[i].most = saturating_multiply(result->endless_most[i].most, items);
    result->cost_cycles = saturating_multiply(result->cost_cycles, items);
    for (size_t i = 0; i < count; i++) {
        struct walk_count *stopped = &result->stopped[i];
        even &= result->counts[i].least == result->counts[i].most;
        if (result->stops && result->counts[i].most > stopped->most)
            stopped->most = result->counts[i].most;
        stopped->most = saturating_multiply(stopped->most, items);
    }
    if (!even && !request->mark && request->function_costs == NULL && request->trace == NULL) {
        sum_items(request, result->counts, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        result->counts[i].least = saturating_multiply(result->counts[i].least, items);
        result->counts[i].most = saturating_multiply(result->counts[i].most, items);
    }
}

struct walk_result walk_body(const struct walk_request *request, struct arena *scratch)
{
    struct walk_request whole = *request;
    if (whole.kernel != NULL && whole.ending == NULL) {
        const struct interval *kept = walk_kept_ranges(whole.cx, whole.kernel);
        if (whole.section != WALK_INIT) whole.kept = kept; /* there: zero */
    }
    struct walk_result result = walk_any(&whole, scratch);
    if (has_items(request)) multiply_items(&whole, &result);
    return result;
}

/* ---- one work-item, or the whole firing where there are none ---- */

/* Whether the values of `state` and tables are known: not where other items of the firing may write
 * them. */
static bool knows_kept(const struct walk_request *request)
{
    const struct kernel *k = request->kernel;
    if (k == NULL || k->grouped) return false;
    return request->kept != NULL || request->section == WALK_INIT;
}

static struct walker new_walker(const struct walk_request *request, struct arena *scratch)
{
    const struct kernel *k = request->kernel;
    uint32_t items = has_items(request) ? ITEM_MEMBERS : 0, ports = k != NULL ? k->in_count : 0;
    uint32_t kept = knows_kept(request) ? (uint32_t)(k->states.count + k->tables.count) : 0;
    return (struct walker){
        .cx = request->cx,
        .scratch = scratch,
        .kernel = request->kernel,
        .section = request->section,
        .mark = request->mark,
        .relate = request->relate,
        .sums = request->ties && k != NULL && walk_end_count(k) > 0,
        .observe = request->observe,
        .observer = request->observer,
        .local_count = request->local_count + items + ports + kept,
        .item_local = request->local_count,
        .port_local = request->local_count + items,
        .kept_local = kept > 0 ? request->local_count + items + ports : WALK_NO_SLOT,
        .end_count = k != NULL ? walk_end_count(k) : 0,
        .calls_left = WALK_CALLS,
        .function_costs = request->function_costs,
        .costs = cost_table(request->cx),
        .calls = request->calls,
    };
}

static struct walk_result walk_any(const struct walk_request *request, struct arena *scratch)
{
    bool firing = request->kernel != NULL && request->section == WALK_FIRING;
    uint32_t phases = firing ? request->kernel->phases : 1;
    assert(phases > 0);
    struct walker w = new_walker(request, scratch);
    size_t counts = (size_t)phases * w.end_count + 1;
    struct walk_result result = {.counts = ARENA_ARRAY(scratch, struct walk_count, counts),
                                 .stopped = ARENA_ARRAY(scratch, struct walk_count, counts),
                                 .returns = ARENA_ARRAY(scratch, bool, phases),
                                 .endless_most =
                                     ARENA_ARRAY(scratch, struct walk_endless, w.end_count + 1),
                                 .ends = true};
    w.endless_most = result.endless_most;
    if (w.relate) {
        result.relation = ARENA_NEW(scratch, struct relation);
        *result.relation = relation_create(scratch, w.end_count);
    }
    unsigned __int128 cost = 0;
    uint64_t steps = request->cx->walk_steps;
    walk_find_thresholds(&w, request->body);
    if (request->ties && w.end_count > 0) walk_tie_choose(&w, request->body);
    for (; w.phase < phases && result.ends; w.phase++) {
        uint64_t cycles;
        w.rounds_left = WALK_MAX_PHASE_ROUNDS / phases;
        if (w.rounds_left > WALK_MAX_ROUNDS) w.rounds_left = WALK_MAX_ROUNDS;
        if (request->kernel != NULL && request->kernel->regular)
            w.rounds_left = WALK_REGULAR_ROUNDS;
        w.settling_left = WALK_MAX_SETTLING;
        uint64_t round_steps = WALK_MAX_PHASE_ROUND_STEPS / phases;
        if (round_steps > WALK_MAX_ROUND_STEPS) round_steps = WALK_MAX_ROUND_STEPS;
        if (request->ending != NULL) {
            w.rounds_left /= 8;
            w.settling_left /= 8;
            round_steps /= 8;
        }
        bool traced = request->trace != NULL && request->trace->phase == w.phase;
        w.trace = traced ? request->trace : NULL;
        if (request->item != NULL) {
            w.rounds_left = (uint32_t)(UINT64_C(4) * w.rounds_left / item_count(request->kernel));
            round_steps = 2 * round_steps / item_count(request->kernel);
        }
        w.last_round_step = request->cx->walk_steps + round_steps;
        walk_once(&w, request, &result, &cycles);
        cost += cycles;
    }
    cost = (cost + phases - 1) / phases;
    result.cost_cycles = (uint64_t)cost;
    result.cost_exact = w.undecided == 0 && phases == 1;
    result.endless = w.endless;
    walk_report_outside(&w);
    phase_count(request->cx, COUNT_EVALUATED, request->cx->walk_steps - steps);
    return result;
}
