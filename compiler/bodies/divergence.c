/* SPDX-License-Identifier: MIT */
/*
 * divergence: which values differ between the work-items of a firing, and whether all items reach
 * every barrier.
 *
 * Method: at first every value is uniform.  The pass walks the body until no further variable
 * becomes varying.  A variable becomes varying if it gets a varying value, or if it is assigned under
 * varying control, unless it was declared under the same control.  Control is varying below a
 * varying condition, and in a loop or switch that some items may leave earlier than others.
 *
 * Then the pass marks the code that is done *together*: barriers, statements that contain one, and
 * jumps out of those.  The runs of statements in between are done item by item.  If several runs use
 * a variable, each item keeps its own, unless the variable is uniform and only assigned together.
 */
#include "compiler/bodies/divergence.h"

#include <assert.h>
#include <inttypes.h>

#include "compiler/bodies/race.h"
#include "compiler/bodies/group.h"

/* Variables of all items that outlive a barrier, together: they live on the stack. */
#define ITEM_BYTES_MAX (UINT64_C(512) << 10)

struct control { /* what makes control varying */
    const struct control *outer;
    const struct kx *condition; /* NULL: a jump that not all items take */
    struct span jump;
};

struct divergence { /* a loop or switch that some items leave before others */
    const struct ks *statement;
    struct span jump;
};

struct target { /* where break or continue goes */
    const struct ks *statement;
    uint32_t depth; /* of control inside of it */
};

struct uniform {
    struct group_facts *facts;
    struct kernel *kernel;
    uint32_t *declared;            /* by variable->index: depth of control at the declaration */
    uint32_t depth;                /* of varying control */
    const struct control *control; /* the innermost */
    struct target break_to, continue_to;
    VEC(struct divergence) divergences;
    bool changed;
    bool report, failed;
    struct span left; /* source 0: no return of some items so far */
};

/* ---- questions ---- */

static bool is_varying_item(const struct kx *x, void *data)
{
    const struct group_facts *const *facts = data;
    return x->kind == KX_ITEM && x->dimension <= ITEM_Z &&
           (*facts)->kernel->group[x->dimension] > 1;
}

static bool is_varying_variable(const struct kx *x, void *data)
{
    const struct group_facts *const *facts = data;
    return x->kind == KX_VARIABLE && x->variable->kind == VARIABLE_LOCAL &&
           (*facts)->varying[x->variable->index];
}

bool group_varies(const struct group_facts *facts, const struct kx *x)
{
    return kx_any(x, is_varying_item, &facts) || kx_any(x, is_varying_variable, &facts);
}

/* The first thing in `x` that varies: an index, else a variable. */
static struct group_cause cause_of(const struct group_facts *facts, const struct kx *x)
{
    const struct kx *item = kx_find(x, is_varying_item, &facts);
    if (item != NULL)
        return (struct group_cause){item->span, arena_printf(facts->cx->arena,
                                                             "item.%c differs from item to item",
                                                             "xyz"[item->dimension])};
    const struct kx *varying = kx_find(x, is_varying_variable, &facts);
    if (varying == NULL) return (struct group_cause){x->span, "this differs from item to item"};
    return (struct group_cause){varying->span,
                                arena_printf(facts->cx->arena, "'%s' may differ from item to item",
                                             varying->variable->name)};
}

static bool is_barrier(const struct ks *s, void *data)
{
    (void)data;
    return s->kind == KS_BARRIER;
}

/* In the list from `s` on. */
static bool group_any_barrier(const struct ks *s)
{
    return ks_any(s, is_barrier, NULL, NULL);
}

bool group_has_barrier(const struct ks *s)
{
    return s->kind == KS_BARRIER || group_any_barrier(s->init) || group_any_barrier(s->body) ||
           group_any_barrier(s->otherwise);
}

/* ---- what varies ---- */

static void mark_varying(struct uniform *u, const struct variable *v, struct group_cause cause)
{
    if (u->facts->varying[v->index]) return;
    u->facts->varying[v->index] = true;
    u->facts->causes[v->index] = cause;
    u->changed = true;
}

/* Finds the assignments of an expression. */
static void visit_assignments(struct uniform *u, const struct kx *x)
{
    if (x == NULL) return;
    bool choice = x->kind == KX_SELECT || x->kind == KX_LOGICAL;
    visit_assignments(u, x->left);
    uint32_t deeper = choice && group_varies(u->facts, x->left) ? 1 : 0;
    u->depth += deeper;
    for (uint32_t i = 1; i < kx_child_count(x); i++)
        visit_assignments(u, kx_child(x, i));
    u->depth -= deeper;
    const struct variable *v = x->kind == KX_ASSIGN ? kx_root_variable(x->left) : NULL;
    if (v == NULL || v->kind != VARIABLE_LOCAL) return;
    if (group_varies(u->facts, x->right)) mark_varying(u, v, cause_of(u->facts, x->right));
    for (const struct kx *at = x->left; at->kind != KX_VARIABLE; at = at->left)
        if (group_varies(u->facts, at->right)) mark_varying(u, v, cause_of(u->facts, at->right));
    if (u->depth > u->declared[v->index])
        mark_varying(u, v, (struct group_cause){x->span, "not every item reaches this"});
}

/* ---- errors ---- */

/* Names the part of the condition that varies; for a variable also the reason. */
static void label_cause(struct uniform *u, struct diag *d, const struct kx *condition)
{
    const struct group_facts *facts = u->facts;
    struct group_cause cause = cause_of(facts, condition);
    diag_label(d, cause.span, "%s", cause.text);
    const struct kx *seen = kx_find(condition, is_varying_variable, &facts);
    if (seen == NULL || kx_any(condition, is_varying_item, &facts)) return;
    struct group_cause origin = u->facts->causes[seen->variable->index];
    diag_label(d, origin.span, "%s", origin.text);
}

static void report_control(struct uniform *u, const struct ks *s, const char *what)
{
    const struct control *control = u->control;
    assert(control != NULL); /* depth > 0 */
    u->failed = true;
    struct diag *d = diag_report(u->facts->cx->diags, RULE_DIVERGENT_BARRIER, s->span,
                                 "not every work-item reaches this %s", what);
    if (control->condition != NULL)
        label_cause(u, d, control->condition);
    else
        diag_label(d, control->jump, "some items leave here");
    if (s->kind == KS_BARRIER)
        diag_help(d, "move the barrier out of code that only some items execute");
}

static void report_left(struct uniform *u, const struct ks *s)
{
    u->failed = true;
    struct diag *d = diag_report(u->facts->cx->diags, RULE_DIVERGENT_BARRIER, s->span,
                                 "not every work-item reaches this barrier");
    diag_label(d, u->left, "some items end here");
    diag_help(d, "let those items skip the work instead, and reach the barrier");
}

/* ---- control ---- */

static void walk_uniform_statements(struct uniform *u, const struct ks *first);

static const struct divergence *find_divergence(const struct uniform *u, const struct ks *s)
{
    for (size_t i = 0; i < u->divergences.count; i++)
        if (u->divergences.items[i].statement == s) return &u->divergences.items[i];
    return NULL;
}

static void record_jump(struct uniform *u, const struct ks *s, struct target to)
{
    if (u->depth <= to.depth || find_divergence(u, to.statement) != NULL) return;
    vec_push(u->facts->arena, &u->divergences, (struct divergence){to.statement, s->span});
    u->changed = true;
}

/* Control below a loop or a switch. */
static struct control control_below(const struct uniform *u, const struct ks *s, bool *varies)
{
    const struct divergence *divergence = find_divergence(u, s);
    struct control control = {.outer = u->control};
    *varies = true;
    if (divergence != NULL)
        control.jump = divergence->jump;
    else if (s->expr != NULL && group_varies(u->facts, s->expr))
        control.condition = s->expr;
    else
        *varies = false;
    return control;
}

static void walk_uniform_if(struct uniform *u, const struct ks *s)
{
    struct control control = {.outer = u->control, .condition = s->expr};
    visit_assignments(u, s->expr);
    bool varies = group_varies(u->facts, s->expr);
    u->depth += varies;
    if (varies) u->control = &control;
    walk_uniform_statements(u, s->body);
    walk_uniform_statements(u, s->otherwise);
    u->depth -= varies;
    u->control = control.outer;
}

static void walk_uniform_loop(struct uniform *u, const struct ks *s)
{
    struct target outer_break = u->break_to, outer_continue = u->continue_to;
    const struct control *outer_control = u->control;
    struct span left = u->left;
    bool varies;
    walk_uniform_statements(u, s->init);
    struct control control = control_below(u, s, &varies);
    u->depth += varies;
    u->control = varies ? &control : outer_control;
    u->break_to = u->continue_to = (struct target){s, u->depth};
    visit_assignments(u, s->expr);
    walk_uniform_statements(u, s->body);
    visit_assignments(u, s->step);
    u->depth -= varies;
    u->control = outer_control;
    u->break_to = outer_break;
    u->continue_to = outer_continue;
    const struct ks *barrier = ks_find(s->body, is_barrier, NULL);
    if (u->report && !u->failed && !left.source && u->left.source && barrier != NULL)
        report_left(u, barrier); /* in the next round */
}

static void walk_uniform_switch(struct uniform *u, const struct ks *s)
{
    struct target outer_break = u->break_to;
    const struct control *outer_control = u->control;
    bool varies;
    visit_assignments(u, s->expr);
    struct control control = control_below(u, s, &varies);
    u->depth += varies;
    u->control = varies ? &control : outer_control;
    u->break_to = (struct target){s, u->depth};
    walk_uniform_statements(u, s->body);
    u->depth -= varies;
    u->control = outer_control;
    u->break_to = outer_break;
}

static void walk_uniform_statement(struct uniform *u, const struct ks *s)
{
    switch (s->kind) {
    case KS_EXPR: visit_assignments(u, s->expr); break;
    case KS_DECLARE:
        u->declared[s->variable->index] = u->depth;
        if (s->expr != NULL) {
            visit_assignments(u, s->expr);
            if (group_varies(u->facts, s->expr))
                mark_varying(u, s->variable, cause_of(u->facts, s->expr));
        }
        break;
    case KS_BLOCK: walk_uniform_statements(u, s->body); break;
    case KS_IF: walk_uniform_if(u, s); break;
    case KS_LOOP: walk_uniform_loop(u, s); break;
    case KS_SWITCH: walk_uniform_switch(u, s); break;
    case KS_CASE: break;
    case KS_BREAK: record_jump(u, s, u->break_to); break;
    case KS_CONTINUE: record_jump(u, s, u->continue_to); break;
    case KS_RETURN:
        if (u->depth > 0 && !u->left.source) u->left = s->span;
        break;
    case KS_EMIT:
    case KS_STORE:
        visit_assignments(u, s->element);
        visit_assignments(u, s->index);
        visit_assignments(u, s->expr);
        break;
    case KS_LAUNCH:
        visit_assignments(u, s->expr);
        if (s->variable != NULL)
            mark_varying(u, s->variable,
                         (struct group_cause){s->span, "each item launches a child of its own"});
        break;
    case KS_STOP:
    case KS_FOREIGN:
    case KS_BARRIER:
        if (!u->report) break;
        if (u->depth > 0)
            report_control(u, s, s->kind == KS_BARRIER ? "barrier" : "'stop'");
        else if (u->left.source && s->kind == KS_BARRIER)
            report_left(u, s);
        break;
    }
}

static void walk_uniform_statements(struct uniform *u, const struct ks *first)
{
    for (const struct ks *s = first; s != NULL; s = s->next)
        walk_uniform_statement(u, s);
}

/* ---- what is done together ---- */

struct together {
    const struct ks *break_to, *continue_to; /* NULL: not of the body */
    bool barrier_after;                      /* one may be executed later */
    bool changed;
};

static bool join_all(struct together *t, struct ks *first);

static bool join_statement(struct together *t, struct ks *s)
{
    struct together outer = *t;
    bool found = false;
    switch (s->kind) {
    case KS_BARRIER: found = true; break;
    case KS_BREAK: found = t->break_to != NULL && t->break_to->together; break;
    case KS_CONTINUE: found = t->continue_to != NULL && t->continue_to->together; break;
    case KS_RETURN: found = t->barrier_after; break;
    case KS_LOOP:
        t->break_to = t->continue_to = s;
        t->barrier_after |= group_any_barrier(s->body);
        break;
    case KS_SWITCH: t->break_to = s; break;
    default: break;
    }
    found |= join_all(t, s->body);
    found |= join_all(t, s->otherwise);
    t->break_to = outer.break_to;
    t->continue_to = outer.continue_to;
    t->barrier_after = outer.barrier_after;
    if (found && !s->together) {
        s->together = true;
        t->changed = true;
    }
    return found;
}

static bool join_all(struct together *t, struct ks *first)
{
    bool found = false, outer = t->barrier_after;
    for (struct ks *s = first; s != NULL; s = s->next) {
        t->barrier_after = outer || group_any_barrier(s->next);
        found |= join_statement(t, s);
    }
    t->barrier_after = outer;
    return found;
}

static bool leaves_apart(const struct ks *s, void *data)
{
    (void)data;
    return s->kind == KS_RETURN && !s->together;
}

/* ---- what is kept for each item ---- */

enum { RUN_NONE, RUN_SEVERAL, RUN_FIRST };

struct use {
    struct variable *variable;
    uint32_t run;  /* RUN_NONE, RUN_SEVERAL, or the number of the only run that uses it */
    bool per_item; /* it is assigned item by item, or together with one that is */
};

struct uses {
    const struct group_facts *facts;
    struct use *items; /* by variable->index */
    uint32_t run;      /* of the present statement; RUN_SEVERAL: it is done together */
    uint32_t run_count;
    bool changed;
};

static void next_run(struct uses *uses)
{
    uses->run = RUN_FIRST + uses->run_count++;
}

static void use_variable(struct uses *uses, const struct variable *v)
{
    if (v->kind != VARIABLE_LOCAL) return;
    struct use *use = &uses->items[v->index];
    if (use->run == RUN_NONE)
        use->run = uses->run;
    else if (use->run != uses->run)
        use->run = RUN_SEVERAL;
}

/* An assignment of a variable that is kept for each item. */
static bool assigns_per_item(const struct kx *x, void *data)
{
    const struct uses *uses = data;
    const struct variable *v = x->kind == KX_ASSIGN ? kx_root_variable(x->left) : NULL;
    return v != NULL && v->kind == VARIABLE_LOCAL && uses->items[v->index].per_item;
}

static void use_parts(struct uses *uses, const struct kx *x, bool per_item)
{
    if (x == NULL) return;
    if (x->kind == KX_VARIABLE) use_variable(uses, x->variable);
    if (x->kind == KX_ASSIGN) {
        const struct variable *v = kx_root_variable(x->left);
        if (v != NULL && v->kind == VARIABLE_LOCAL && per_item && !uses->items[v->index].per_item) {
            uses->items[v->index].per_item = true;
            uses->changed = true;
        }
    }
    for (uint32_t i = 0; i < kx_child_count(x); i++)
        use_parts(uses, kx_child(x, i), per_item);
}

/* Code that is done together is done once, unless it assigns a variable that each item has. */
static void use_kx(struct uses *uses, const struct kx *x)
{
    use_parts(uses, x, uses->run != RUN_SEVERAL || kx_any(x, assigns_per_item, uses));
}

static void use_run(struct uses *uses, struct ks *s);
static void use_runs(struct uses *uses, struct ks *first);

static void use_list(struct uses *uses, struct ks *first)
{
    for (struct ks *s = first; s != NULL; s = s->next)
        use_run(uses, s);
}

/* A statement that is done item by item, or a part of one that is done together. */
static void use_run(struct uses *uses, struct ks *s)
{
    if (s->kind == KS_DECLARE) {
        struct use *use = &uses->items[s->variable->index];
        use->variable = s->variable;
        use_variable(uses, s->variable);
        if (uses->facts->varying[s->variable->index] && !use->per_item) {
            use->per_item = true;
            uses->changed = true;
        }
    }
    use_kx(uses, s->expr);
    use_kx(uses, s->element);
    use_kx(uses, s->index);
    use_kx(uses, s->step);
    use_list(uses, s->init);
    use_list(uses, s->body);
    use_list(uses, s->otherwise);
}

static void use_together(struct uses *uses, struct ks *s)
{
    uses->run = RUN_SEVERAL;
    use_kx(uses, s->expr);
    use_kx(uses, s->step);
    use_list(uses, s->init);
    use_runs(uses, s->body);
    use_runs(uses, s->otherwise);
}

static void use_runs(struct uses *uses, struct ks *first)
{
    next_run(uses);
    for (struct ks *s = first; s != NULL; s = s->next) {
        if (s->together)
            use_together(uses, s);
        else if (s->kind != KS_CASE)
            use_run(uses, s);
        if (s->together || s->kind == KS_CASE) next_run(uses);
    }
}

static bool place_variables(const struct group_facts *facts)
{
    struct kernel *kernel = facts->kernel;
    struct uses uses = {.facts = facts,
                        .items = ARENA_ARRAY(facts->arena, struct use, kernel->local_count + 1)};
    const struct variable *largest = NULL;
    uint64_t bytes = 0;
    do {
        uses.changed = false;
        uses.run_count = 0;
        use_runs(&uses, kernel->body);
    } while (uses.changed);
    for (uint32_t i = 0; i < kernel->local_count; i++) {
        const struct use *use = &uses.items[i];
        if (use->variable == NULL || use->run != RUN_SEVERAL || !use->per_item) continue;
        use->variable->per_item = true;
        bytes += use->variable->type->width_bytes * group_items(kernel); /* 2^20 x 2^10 each */
        if (largest == NULL || use->variable->type->width_bytes > largest->type->width_bytes)
            largest = use->variable;
    }
    if (bytes > ITEM_BYTES_MAX) {
        struct diag *d = diag_report(
            facts->cx->diags, RULE_TOO_LARGE, largest->span,
            "the variables that the work-items of '%s' keep across barriers take %" PRIu64
            " bytes, at most %" PRIu64 " are available",
            facts->kernel->title, bytes, ITEM_BYTES_MAX);
        diag_note(d, "each of %" PRIu32 " work-items has its own '%s'", group_items(facts->kernel),
                  largest->name);
        diag_help(d, "use fewer work-items, or a 'local' variable that they share");
    }
    return bytes <= ITEM_BYTES_MAX;
}

/* ---- all ---- */

/* One kernel: finds out which values vary, checks barriers, and marks what is done together.  False
 * after an error. */
static bool check_uniformity(struct group_facts *facts)
{
    struct kernel *kernel = facts->kernel;
    struct uniform u = {.facts = facts, .kernel = kernel};
    facts->varying = ARENA_ARRAY(facts->arena, bool, kernel->local_count + 1);
    facts->causes = ARENA_ARRAY(facts->arena, struct group_cause, kernel->local_count + 1);
    u.declared = ARENA_ARRAY(facts->arena, uint32_t, kernel->local_count + 1);
    do {
        u.changed = false;
        u.left = (struct span){0};
        walk_uniform_statements(&u, kernel->body);
    } while (u.changed);
    u.report = true;
    u.left = (struct span){0};
    walk_uniform_statements(&u, kernel->body);
    if (u.failed) return false;
    struct together t;
    do {
        t = (struct together){0};
        join_all(&t, kernel->body);
    } while (t.changed);
    kernel->items_leave =
        group_any_barrier(kernel->body) && ks_any(kernel->body, leaves_apart, NULL, NULL);
    return place_variables(facts);
}

void group_check_bodies(struct compile *cx, struct graph *graph)
{
    for (size_t i = 0; i < graph->kernels.count; i++) {
        struct group_facts facts = {.cx = cx, .kernel = graph->kernels.items[i]};
        if (!facts.kernel->grouped) continue;
        facts.arena = arena_create();
        size_t kept = diag_kept_count(cx->diags);
        if (check_uniformity(&facts)) race_check(&facts);
        graph_trace_kernel(cx, facts.kernel, kept);
        arena_destroy(facts.arena);
    }
}
