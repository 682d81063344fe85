/* SPDX-License-Identifier: MIT */
/* Typed bodies: checks that the analyses could not remove, and arithmetic that is rarely intended. */
#include <inttypes.h>

#include "compiler/bodies/interval.h"
#include "compiler/lint/lint_internal.h"

struct bodies {
    struct compile *cx;
    const char *in;      /* "the kernel 'fir'" */
    const char *certain; /* "firing of 'fir'": each of them executes the visited code; or NULL */
};

static bool is_constant_kx(const struct kx *kx)
{
    while (kx->kind == KX_CONVERT || kx->kind == KX_NEGATE)
        kx = kx->left;
    return kx->kind == KX_CONSTANT;
}

static bool is_linted_place(struct span span)
{
    return span.source == LINTED_SOURCE;
}

static bool divides_by_zero(const struct kx *kx)
{
    bool divides = kx->op == OP_DIV || kx->op == OP_REM;
    if (!divides || !type_is_integer(type_item(kx->type)) || !kx->right) return false;
    const struct kx *divisor = kx->right->kind == KX_BROADCAST ? kx->right->left : kx->right;
    return divisor->kind == KX_CONSTANT && divisor->value.bits == 0;
}

static void check_division(struct bodies *b, const struct kx *kx)
{
    if (!divides_by_zero(kx)) return;
    if (b->certain != NULL)
        diag_report(b->cx->diags, RULE_CONSTANT_FAULT, kx->right->span,
                    "every %s divides by zero here: it is a fault, which ends the run", b->certain);
    else if (is_linted_place(kx->span))
        diag_report(b->cx->diags, RULE_DIVISION_BY_ZERO, kx->right->span,
                    "this divides by zero: a firing that comes here is a fault");
}

static void check_comparison(struct bodies *b, const struct kx *kx)
{
    if ((kx->op != OP_EQ && kx->op != OP_NE) || !type_is_float(kx->left->type)) return;
    if (is_constant_kx(kx->left) || is_constant_kx(kx->right)) return;
    struct diag *d = diag_report(b->cx->diags, RULE_FLOAT_EQUALITY, kx->span,
                                 "two computed floats are compared for equality");
    diag_help(d, "compare their distance: abs(a - b) < limit");
}

/* Notes the known range of the index, where `first` is the first place. */
static void note_range(const struct bodies *b, const struct kx *index, int64_t first,
                       struct diag *d)
{
    struct interval all = interval_of_type(index->type);
    wide least = (wide)index->place_least + first, most = (wide)index->place_most + first;
    wide last = (wide)index->places - 1 + first;
    bool open_low = least <= all.low || index->place_least == INT64_MIN;
    bool open_high = most >= all.high || index->place_most == INT64_MAX;
    bool inside = least >= first && most <= last; /* of other phases: a window without packets */
    if (index->places == 0 || inside || (open_low && open_high)) {
        diag_note(d, "nothing in %s shows that it stays in range; outside it is a fault", b->in);
        return;
    }
    if (all.low == 0) open_low = false;
    const char *end = open_low ? " or less" : open_high ? " or more" : "";
    const char *range =
        arena_printf(b->cx->arena, "%" PRId64 "%s", (int64_t)(open_low ? most : least), end);
    if (!open_low && !open_high && least < most)
        range = arena_printf(b->cx->arena, "%s to %" PRId64, range, (int64_t)most);
    const char *places = first == last ? arena_printf(b->cx->arena, "is %" PRId64, first)
                                       : arena_printf(b->cx->arena, "are %" PRId64 " to %" PRId64,
                                                      first, (int64_t)last);
    diag_note(d, "%s shows no more than that it is %s; in range %s, outside it is a fault", b->in,
              range, places);
}

static bool is_remainder(const struct kx *kx)
{
    while (kx->kind == KX_CONVERT)
        kx = kx->left;
    return kx->kind == KX_BINARY && kx->op == OP_REM;
}

static void lint_index(struct bodies *b, const struct kx *index, enum access_check check,
                       bool from_centre)
{
    if (check != ACCESS_CHECKED || is_constant_kx(index)) return;
    struct diag *d = diag_report(b->cx->diags, RULE_CHECKED_INDEX, index->span,
                                 "this index is checked each time the program comes here");
    int64_t half = (int64_t)index->places / 2;
    note_range(b, index, from_centre ? -half : 0, d);
    bool low = index->place_least < 0 && index->place_most < (int64_t)index->places;
    if (low && is_remainder(index))
        diag_help(d, "a remainder has the sign of its left operand: that of an unsigned one is "
                     "never negative");
}

static void lint_kx(struct bodies *b, const struct kx *kx)
{
    if (kx == NULL) return;
    if (kx->kind == KX_BINARY || (kx->kind == KX_ASSIGN && kx->op != OP_NONE))
        check_division(b, kx);
    if (is_linted_place(kx->span)) {
        if (kx->kind == KX_COMPARE) check_comparison(b, kx);
        if (kx->kind == KX_INDEX || kx->kind == KX_PEEK) lint_index(b, kx->right, kx->check, false);
        if (kx->kind == KX_PEEK && kx->left) lint_index(b, kx->left, kx->element_check, false);
        if (kx->kind == KX_WINDOW) {
            if (kx->third) lint_index(b, kx->third, kx->element_check, false);
            lint_index(b, kx->left, kx->check, true);
            lint_index(b, kx->right, kx->column_check, true);
        }
    }
    const char *certain = b->certain;
    lint_kx(b, kx->left);
    if (kx->kind == KX_LOGICAL || kx->kind == KX_SELECT) b->certain = NULL;
    lint_kx(b, kx->right);
    lint_kx(b, kx->third);
    b->certain = certain;
    for (uint32_t i = 0; i < kx->argument_count; i++)
        lint_kx(b, kx->arguments[i]);
}

/* ---- loops ---- */

/* Where `v` is assigned in an expression: +1 and -1 for a constant step, 2 for anything else. */
static int direction_of(const struct kx *kx, const struct variable *v)
{
    if (kx == NULL) return 0;
    int found = 0, parts[3] = {direction_of(kx->left, v), direction_of(kx->right, v),
                               direction_of(kx->third, v)};
    for (int i = 0; i < 3; i++)
        if (parts[i] != 0) found = found == 0 || found == parts[i] ? parts[i] : 2;
    for (uint32_t i = 0; i < kx->argument_count; i++)
        if (direction_of(kx->arguments[i], v) != 0) return 2;
    if (kx->kind != KX_ASSIGN || kx_root_variable(kx->left) != v) return found;
    bool steps = (kx->op == OP_ADD || kx->op == OP_SUB) && kx->right->kind == KX_CONSTANT &&
                 kx->right->value.bits != 0 && found == 0;
    return !steps ? 2 : kx->op == OP_ADD ? 1 : -1;
}

static int join_directions(int a, int b)
{
    return a == 0 || a == b ? b : b == 0 ? a : 2;
}

static int direction_in(const struct ks *first, const struct variable *v, bool *leaves_out)
{
    int found = 0;
    for (const struct ks *s = first; s != NULL; s = s->next) {
        bool conditional = s->kind != KS_EXPR && s->kind != KS_BLOCK;
        int here = join_directions(direction_of(s->expr, v), direction_of(s->step, v));
        here = join_directions(here, direction_in(s->init, v, leaves_out));
        here = join_directions(here, direction_in(s->body, v, leaves_out));
        here = join_directions(here, direction_in(s->otherwise, v, leaves_out));
        if (s->kind == KS_CONTINUE) *leaves_out = true;
        found = join_directions(found, here != 0 && conditional ? 2 : here);
    }
    return found;
}

/* `while (i < n) { ...; i++; }`: a variable that every round moves towards its bound. */
static bool approaches_bound(const struct ks *loop, const struct kx *variable,
                             const struct kx *bound, int towards)
{
    while (variable->kind == KX_CONVERT)
        variable = variable->left;
    if (variable->kind != KX_VARIABLE || variable->variable->kind != VARIABLE_LOCAL ||
        !type_is_integer(variable->type))
        return false;
    while (bound->kind == KX_CONVERT)
        bound = bound->left;
    bool still = false, skips = false;
    if (bound->kind == KX_VARIABLE)
        still = direction_in(loop->body, bound->variable, &skips) == 0 &&
                direction_of(loop->step, bound->variable) == 0;
    skips = false;
    int in_body = direction_in(loop->body, variable->variable, &skips);
    int in_step = direction_of(loop->step, variable->variable);
    if (skips && in_step == 0) return false;
    return (still || bound->kind == KX_CONSTANT || bound->kind == KX_PEEK) &&
           join_directions(in_body, in_step) == towards;
}

static bool loop_ends(const struct ks *loop, const struct kx *condition)
{
    if (condition == NULL) return false;
    if (condition->kind == KX_LOGICAL && condition->op == OP_LOGICAL_AND)
        return loop_ends(loop, condition->left) || loop_ends(loop, condition->right);
    if (condition->kind != KX_COMPARE) return false;
    enum { WIDE_BYTES = 4 }; /* `i <= 255` holds for every u8 */
    bool strict = condition->op == OP_LT || condition->op == OP_GT;
    if (!strict && condition->left->type->width_bytes < WIDE_BYTES) return false;
    bool rises = condition->op == OP_LT || condition->op == OP_LE;
    bool falls = condition->op == OP_GT || condition->op == OP_GE;
    if (!rises && !falls) return false;
    return approaches_bound(loop, condition->left, condition->right, rises ? 1 : -1) ||
           approaches_bound(loop, condition->right, condition->left, rises ? -1 : 1);
}

static void lint_endless_loop(struct bodies *b, const struct ks *loop)
{
    if (!loop->unbounded || !is_linted_place(loop->span) || loop_ends(loop, loop->expr)) return;
    struct span at = loop->expr != NULL ? loop->expr->span : loop->span;
    struct diag *d = diag_report(b->cx->diags, RULE_UNBOUNDED_LOOP, at,
                                 "nothing in %s shows that this loop ends", b->in);
    diag_note(d, "a firing that does not end stops the pipeline forever");
    diag_help(d, "count its rounds, and leave it after the maximum that is needed");
}

/* Whether control may not reach the statement after this one. */
static bool may_leave(const struct ks *s)
{
    if (s == NULL) return false;
    switch (s->kind) {
    case KS_BREAK:
    case KS_CONTINUE:
    case KS_RETURN:
    case KS_STOP: return true;
    case KS_LOOP:
        if (s->unbounded) return true;
        break;
    default: break;
    }
    for (const struct ks *inner = s->body; inner != NULL; inner = inner->next)
        if (may_leave(inner)) return true;
    for (const struct ks *inner = s->otherwise; inner != NULL; inner = inner->next)
        if (may_leave(inner)) return true;
    return false;
}

static void lint_ks(struct bodies *b, const struct ks *first);

/* Visits statements that are executed on a condition, or not each time. */
static void visit_perhaps(struct bodies *b, const struct ks *first)
{
    const char *certain = b->certain;
    b->certain = NULL;
    lint_ks(b, first);
    b->certain = certain;
}

static void lint_ks(struct bodies *b, const struct ks *first)
{
    for (const struct ks *s = first; s != NULL; s = s->next) {
        bool test_last = s->kind == KS_LOOP && s->test_after;
        if (s->kind == KS_LOOP) lint_endless_loop(b, s);
        lint_ks(b, s->init);
        if (!test_last) lint_kx(b, s->expr);
        lint_kx(b, s->element);
        lint_kx(b, s->index);
        if (s->element && is_linted_place(s->element->span))
            lint_index(b, s->element, s->element_check, false);
        if (s->index && is_linted_place(s->index->span)) lint_index(b, s->index, s->check, false);
        if (s->kind == KS_BLOCK)
            lint_ks(b, s->body);
        else
            visit_perhaps(b, s->body);
        visit_perhaps(b, s->otherwise);
        if (b->certain != NULL && may_leave(s)) b->certain = NULL;
        if (s->kind == KS_LOOP) {
            const char *outer = b->certain;
            b->certain = NULL;
            if (test_last) lint_kx(b, s->expr);
            lint_kx(b, s->step);
            b->certain = outer;
        }
    }
}

void lint_bodies(struct compile *cx, const struct graph *graph)
{
    for (size_t i = 0; i < graph->kernels.count; i++) {
        const struct kernel *k = graph->kernels.items[i];
        struct bodies b = {.cx = cx, .in = arena_printf(cx->arena, "the kernel '%s'", k->title)};
        b.certain = arena_printf(cx->arena, "'init' of '%s'", k->title);
        lint_ks(&b, k->init);
        b.certain = arena_printf(cx->arena, "firing of '%s'", k->title);
        lint_ks(&b, k->body);
        b.certain = NULL;
        lint_ks(&b, k->finish);
    }
    for (size_t i = 0; i < graph->functions.count; i++) {
        const struct function *f = graph->functions.items[i];
        struct bodies b = {.cx = cx, .in = arena_printf(cx->arena, "the function '%s'", f->name)};
        if (is_linted_place(f->span)) lint_ks(&b, f->body);
    }
}
