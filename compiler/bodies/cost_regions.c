/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/cost_regions.h"

#include "compiler/ir/arith.h"

enum { JUMP_BREAK = 1, JUMP_CONTINUE = 2, JUMP_RETURN = 4 };

struct place { /* of the walk */
    uint32_t region;
    uint64_t factor;   /* executions for each arrival at the region */
    uint64_t arrivals; /* executions for each one of the body */
};

struct regions {
    struct compile *cx;
    const struct devdesc_costs *costs;
    VEC(struct cost_region) list; /* [0]: of the whole body */
    struct place at;
    uint32_t jumps; /* that may have left the statements so far, by where they go */
    bool split;     /* control need not have come here from the beginning of the region */
    bool items_leave;
    bool launches; /* the kernel does */
    bool together; /* the statements of a list are those of all work-items, or runs of each */
};

static void mark_statements(struct regions *r, struct ks *first);

/* ---- regions ---- */

static void charge_cycles(struct regions *r, uint64_t cycles)
{
    struct cost_region *region = &r->list.items[r->at.region];
    region->cycles = cost_add(region->cycles, cost_multiply(cycles, r->at.factor));
}

static uint32_t open_region(struct regions *r, struct span span, const char *what)
{
    struct cost_region region = {.arrivals = r->at.arrivals, .span = span, .what = what};
    vec_push(r->cx->arena, &r->list, region);
    r->at.region = (uint32_t)r->list.count - 1;
    r->at.factor = 1;
    return r->at.region;
}

/* Enters a loop with so many rounds; COST_UNBOUNDED: their number is not known. */
static void repeat_region(struct regions *r, uint64_t rounds)
{
    bool known = rounds != COST_UNBOUNDED && r->at.arrivals != COST_UNBOUNDED;
    r->at.arrivals = known ? cost_multiply(r->at.arrivals, rounds) : COST_UNBOUNDED;
}

/* ---- expressions ---- */

static void mark_regions(struct regions *r, struct kx *x);

static uint32_t side_region(struct regions *r, struct kx *x, const char *what)
{
    if (x == NULL) return 0;
    struct place before = r->at;
    uint32_t region = open_region(r, x->span, what);
    charge_cycles(r, cost_of_evaluation(r->costs, x));
    mark_regions(r, x);
    r->at = before;
    return region;
}

/* Finds the regions of an expression, whose own cost is charged elsewhere. */
static void mark_regions(struct regions *r, struct kx *x)
{
    if (x == NULL) return;
    mark_regions(r, x->left);
    if (cost_choice_jumps(x)) {
        x->regions[0] = side_region(r, x->right, x->third != NULL ? "yes" : "right");
        x->regions[1] = side_region(r, x->third, "no");
        return;
    }
    for (uint32_t i = 1; i < kx_child_count(x); i++)
        mark_regions(r, kx_child(x, i));
    if (x->kind == KX_CALL && x->function->costs->counter_count > 0) {
        /* The call's own region takes the count of the function. */
        struct place before = r->at;
        r->at.arrivals = COST_UNBOUNDED;
        x->regions[0] = open_region(r, x->span, "call");
        charge_cycles(r, 1);
        r->at = before;
    }
}

static void count_evaluation(struct regions *r, struct kx *x)
{
    charge_cycles(r, cost_of_evaluation(r->costs, x));
    mark_regions(r, x);
}

/* ---- loops of known rounds ---- */

/* Some statement leaves the loop: `return` anywhere, `break` of this one. */
static bool leaves_loop(const struct ks *s, bool breaks)
{
    for (; s != NULL; s = s->next) {
        if (s->kind == KS_RETURN || (s->kind == KS_BREAK && breaks)) return true;
        bool inner = s->kind == KS_LOOP || s->kind == KS_SWITCH;
        if (leaves_loop(s->body, breaks && !inner) || leaves_loop(s->otherwise, breaks))
            return true;
    }
    return false;
}

/* The constant that the loop's own declaration gives to its variable. */
static bool starts_at(const struct ks *init, const struct variable *v, __int128 *start)
{
    if (init != NULL && init->kind == KS_BLOCK) init = init->body;
    for (; init != NULL; init = init->next) {
        if (init->kind != KS_DECLARE || init->variable != v || init->expr == NULL) continue;
        if (init->expr->kind != KX_CONSTANT) return false;
        *start = arith_as_exact(init->expr->value);
        return true;
    }
    return false;
}

static bool is_launch(const struct ks *s, void *data)
{
    (void)data;
    return s->kind == KS_LAUNCH;
}

static bool asks_for_done(const struct kx *x, void *data)
{
    (void)data;
    return x->kind == KX_DONE;
}

/* Does the statement, or a part of it, need the cycles of the code that was executed before it? */
static bool is_timed(const struct regions *r, struct ks *s)
{
    if (!r->launches) return false;
    struct ks alone = *s;
    alone.next = NULL;
    return ks_any(&alone, is_launch, asks_for_done, NULL);
}

struct range {
    __int128 low, high;
};

static struct range type_number_range(const struct type *type)
{
    unsigned bits = (unsigned)(8 * type->width_bytes);
    if (!scalar_is_signed(type->scalar))
        return (struct range){0, (__int128)(UINT64_MAX >> (64 - bits))};
    return (struct range){-((__int128)1 << (bits - 1)), ((__int128)1 << (bits - 1)) - 1};
}

/* The variable that an operand is, through conversions that keep every value. */
static const struct variable *plain_variable(const struct kx *x)
{
    while (x->kind == KX_CONVERT && type_is_integer(x->type) && type_is_integer(x->left->type)) {
        struct range to = type_number_range(x->type), from = type_number_range(x->left->type);
        if (from.low < to.low || from.high > to.high) return NULL;
        x = x->left;
    }
    bool local = x->kind == KX_VARIABLE && x->variable->kind == VARIABLE_LOCAL;
    return local && type_is_integer(x->type) ? x->variable : NULL;
}

static bool steps_by(const struct kx *step, const struct variable *v, __int128 *by)
{
    if (step == NULL || step->kind != KX_ASSIGN || step->left->kind != KX_VARIABLE) return false;
    if (step->left->variable != v || step->right->kind != KX_CONSTANT) return false;
    if (step->op != OP_ADD && step->op != OP_SUB) return false;
    *by = arith_as_exact(step->right->value);
    if (step->op == OP_SUB) *by = -*by;
    return *by != 0;
}

/* Rounds of a variable that goes from `start` by `by` while it is `op` the bound. */
static bool count_rounds(enum kx_op op, __int128 start, __int128 bound, __int128 by,
                         __int128 *rounds)
{
    bool up = by > 0;
    if (op == OP_LE || op == OP_GE) bound += up ? 1 : -1;
    if ((op == OP_LT || op == OP_LE) != up && op != OP_NE) return false;
    __int128 distance = up ? bound - start : start - bound, pace = up ? by : -by;
    if (op == OP_NE && (distance < 0 || distance % pace != 0)) return false;
    *rounds = distance <= 0 ? 0 : (distance + pace - 1) / pace;
    return true;
}

bool cost_known_rounds(const struct ks *loop, uint64_t *rounds)
{
    const struct kx *test = loop->expr;
    if (test == NULL || test->kind != KX_COMPARE || test->op == OP_EQ || loop->test_after)
        return false;
    const struct variable *v = plain_variable(test->left);
    __int128 start, by, count;
    if (v == NULL || test->right->kind != KX_CONSTANT || !type_is_integer(test->right->type) ||
        !steps_by(loop->step, v, &by) || !starts_at(loop->init, v, &start) ||
        ks_assigns(loop->body, v) || leaves_loop(loop->body, true))
        return false;
    __int128 bound = arith_as_exact(test->right->value);
    if (!count_rounds(test->op, start, bound, by, &count)) return false;
    struct range all = type_number_range(v->type);
    __int128 last = start + count * by;
    if (count > INT64_MAX || last < all.low || last > all.high) return false;
    *rounds = (uint64_t)count;
    return true;
}

/* ---- control ---- */

static void mark_branch(struct regions *r, struct ks *first, const char *what)
{
    if (first == NULL) return;
    struct place before = r->at;
    r->split = false;
    first->region = open_region(r, first->span, what);
    mark_statements(r, first);
    r->at = before;
}

static void mark_choice(struct regions *r, struct ks *s)
{
    charge_cycles(r, cost_of_statement(r->costs, s));
    count_evaluation(r, s->expr);
    if (s->expr->kind == KX_CONSTANT) {
        struct ks *taken = arith_truth(s->expr->value) ? s->body : s->otherwise;
        if (taken != NULL) mark_statements(r, taken);
        return;
    }
    uint32_t outer_jumps = r->jumps;
    r->jumps = 0;
    mark_branch(r, s->body, "then");
    mark_branch(r, s->otherwise, "else");
    r->split = r->jumps != 0;
    r->jumps |= outer_jumps;
}

/* `rounds` times the body, once more the test. */
static void known_loop(struct regions *r, struct ks *s, uint64_t rounds)
{
    struct place before = r->at;
    bool unrolled = cost_is_unrolled(r->costs, s);
    repeat_region(r, rounds + 1);
    r->at.factor = cost_multiply(before.factor, rounds + 1);
    if (!unrolled) count_evaluation(r, s->expr);
    r->at = before;
    repeat_region(r, rounds);
    r->at.factor = cost_multiply(before.factor, rounds);
    struct place round = r->at;
    mark_statements(r, s->body);
    r->at = round;
    if (!unrolled) count_evaluation(r, s->step);
    charge_cycles(r, cost_of_statement(r->costs, s));
    r->at = before;
}

/* The step and the next test have a region of their own where the body may leave the loop, and in a
 * timed loop. */
static void open_loop_region(struct regions *r, struct ks *s, uint64_t rounds, bool timed)
{
    struct place before = r->at;
    bool unrolled = cost_is_unrolled(r->costs, s);
    uint64_t test = unrolled ? 0 : cost_of_evaluation(r->costs, s->expr);
    if (!s->test_after) charge_cycles(r, test);
    repeat_region(r, rounds);
    s->round_region = open_region(r, s->span, "round");
    struct place round = r->at;
    mark_statements(r, s->body);
    r->at = round;
    if (timed || r->jumps & (JUMP_BREAK | JUMP_RETURN))
        s->step_region = open_region(r, s->span, "next round");
    charge_cycles(r, cost_add(test, cost_of_statement(r->costs, s)));
    mark_regions(r, s->expr);
    if (s->step != NULL && !unrolled) count_evaluation(r, s->step);
    r->at = before;
}

static void mark_loop(struct regions *r, struct ks *s)
{
    uint32_t outer_jumps = r->jumps;
    bool outer_together = r->together, timed = is_timed(r, s);
    uint64_t rounds;
    if (s->init != NULL) mark_statements(r, s->init);
    r->jumps = 0;
    r->split = false;
    r->together = r->together && s->together;
    bool known = cost_known_rounds(s, &rounds);
    if (known && !timed)
        known_loop(r, s, rounds);
    else
        open_loop_region(r, s, known ? rounds : COST_UNBOUNDED, timed);
    r->split = (r->jumps & JUMP_RETURN) != 0;
    r->jumps = outer_jumps | (r->jumps & JUMP_RETURN);
    r->together = outer_together;
}

/* Nothing is executed before the first label. */
static void choose_case(struct regions *r, struct ks *s)
{
    uint32_t outer_jumps = r->jumps;
    struct place before = r->at;
    charge_cycles(r, cost_of_statement(r->costs, s));
    count_evaluation(r, s->expr);
    r->jumps = 0;
    r->split = true;
    if (s->body != NULL) mark_statements(r, s->body);
    r->at = before;
    r->jumps &= ~(uint32_t)JUMP_BREAK;
    r->split = r->jumps != 0;
    r->jumps |= outer_jumps;
}

static void mark_jump(struct regions *r, uint32_t where)
{
    r->jumps |= where;
    r->split = true;
}

static void mark_statement(struct regions *r, struct ks *s)
{
    switch (s->kind) {
    case KS_BLOCK: mark_statements(r, s->body); return;
    case KS_IF: mark_choice(r, s); return;
    case KS_LOOP: mark_loop(r, s); return;
    case KS_SWITCH: choose_case(r, s); return;
    case KS_BREAK: mark_jump(r, JUMP_BREAK); return;
    case KS_CONTINUE: mark_jump(r, JUMP_CONTINUE); return;
    case KS_RETURN:
        if (s->expr != NULL) count_evaluation(r, s->expr);
        mark_jump(r, JUMP_RETURN);
        return;
    case KS_EXPR:
    case KS_DECLARE:
    case KS_CASE:
    case KS_STOP:
    case KS_EMIT:
    case KS_STORE:
    case KS_BARRIER:
    case KS_FOREIGN:
    case KS_LAUNCH: break;
    }
    charge_cycles(r, cost_of_statement(r->costs, s));
    struct kx *parts[] = {s->element, s->index, s->expr};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i] != NULL) count_evaluation(r, parts[i]);
}

/* Whether the number of executing work-items changes: after some items have ended their firing, only
 * the others go on, but code that is done together is done once. */
static bool changes_item_count(const struct regions *r, const struct ks *before, const struct ks *s)
{
    return r->items_leave && r->together && before != NULL && before->together != s->together;
}

static void mark_statements(struct regions *r, struct ks *first)
{
    const struct ks *before = NULL;
    bool together = r->together;
    for (struct ks *s = first; s != NULL; before = s, s = s->next) {
        if (s->kind == KS_CASE)
            s->region = open_region(r, s->span, s->is_default ? "default" : "case");
        else if (r->split || changes_item_count(r, before, s))
            s->region = open_region(r, s->span, "rest");
        r->split = false;
        r->together = together && s->together;
        mark_statement(r, s);
        r->split |= is_timed(r, s);
        r->together = together;
    }
}

/* ---- counters ---- */

static void give_counters(struct regions *r, struct cost_plan *plan)
{
    struct cost_counter *counters =
        ARENA_ARRAY(r->cx->arena, struct cost_counter, COST_COUNTERS_MAX);
    for (size_t i = 1; i < r->list.count; i++) {
        struct cost_region *region = &r->list.items[i];
        bool last = plan->counter_count == COST_COUNTERS_MAX;
        region->counter = COST_NO_COUNTER;
        region->step = 1;
        if (region->cycles == 0 || region->arrivals == 0) continue;
        if (!last) {
            region->counter = plan->counter_count++;
            counters[region->counter] = (struct cost_counter){region->cycles, region->arrivals};
            continue;
        }
        region->counter = COST_COUNTERS_MAX - 1;
        region->step = region->cycles;
    }
    plan->counters = counters;
}

/* The last counter, where several regions share it, counts cycles. */
static void share_last(struct regions *r, const struct cost_plan *plan)
{
    struct cost_counter *last = (struct cost_counter *)&plan->counters[COST_COUNTERS_MAX - 1];
    size_t users = 0;
    for (size_t i = 1; i < r->list.count; i++)
        users += r->list.items[i].counter == COST_COUNTERS_MAX - 1;
    if (users < 2) return;
    for (size_t i = 1; i < r->list.count; i++) {
        struct cost_region *region = &r->list.items[i];
        if (region->counter == COST_COUNTERS_MAX - 1) region->step = region->cycles;
    }
    *last = (struct cost_counter){1, COST_UNBOUNDED};
}

struct cost_plan *cost_find_regions(struct compile *cx, const struct devdesc_costs *costs,
                                    const struct kernel *kernel, struct ks *body, bool in_items)
{
    struct regions r = {.cx = cx,
                        .costs = costs,
                        .at = {.region = 0, .factor = 1, .arrivals = 1},
                        .items_leave = in_items && kernel != NULL && kernel->items_leave,
                        .launches = kernel != NULL && kernel_launches_any(&kernel->launches),
                        .together = in_items};
    vec_push(cx->arena, &r.list, (struct cost_region){.arrivals = 1, .what = "body"});
    if (body != NULL) mark_statements(&r, body);
    struct cost_plan *plan = ARENA_NEW(cx->arena, struct cost_plan);
    plan->constant = r.list.items[0].cycles;
    plan->regions = r.list.items + 1;
    plan->region_count = (uint32_t)r.list.count - 1;
    give_counters(&r, plan);
    if (plan->counter_count == COST_COUNTERS_MAX) share_last(&r, plan);
    return plan;
}
