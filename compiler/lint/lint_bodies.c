/* Typed bodies: what the analyses left, and arithmetic that is seldom meant. */
#include <inttypes.h>

#include "compiler/lint/lint_internal.h"

static const enum rule rules[] = {RULE_CHECKED_INDEX, RULE_FLOAT_EQUALITY, RULE_DIVISION_BY_ZERO};

struct bodies {
    struct compile *cx;
    const char *in; /* "the kernel 'fir'" */
};

static bool is_constant(const struct kx *kx)
{
    while (kx->kind == KX_CONVERT || kx->kind == KX_NEGATE)
        kx = kx->left;
    return kx->kind == KX_CONSTANT;
}

static bool is_linted(struct span span)
{
    return span.source == LINTED_SOURCE;
}

static void check_division(struct bodies *b, const struct kx *kx)
{
    bool divides = kx->op == OP_DIV || kx->op == OP_REM;
    if (!divides || !type_is_integer(kx->type) || !kx->right) return;
    if (kx->right->kind != KX_CONSTANT || kx->right->value.bits != 0) return;
    diag_report(b->cx->diags, RULE_DIVISION_BY_ZERO, kx->right->span,
                "this divides by zero: a firing that comes here is a fault");
}

static void check_comparison(struct bodies *b, const struct kx *kx)
{
    if ((kx->op != OP_EQ && kx->op != OP_NE) || !type_is_float(kx->left->type)) return;
    if (is_constant(kx->left) || is_constant(kx->right)) return;
    struct diag *d = diag_report(b->cx->diags, RULE_FLOAT_EQUALITY, kx->span,
                                 "two computed floats are compared for equality");
    diag_help(d, "compare their distance: abs(a - b) < limit");
}

static void check_index(struct bodies *b, const struct kx *index, enum access_check check)
{
    if (check != ACCESS_CHECKED || is_constant(index)) return;
    struct diag *d = diag_report(b->cx->diags, RULE_CHECKED_INDEX, index->span,
                                 "this index is checked each time the program comes here");
    diag_note(d, "nothing in %s shows that it stays in range; outside it is a fault", b->in);
}

static void visit_kx(struct bodies *b, const struct kx *kx)
{
    if (kx == NULL) return;
    if (is_linted(kx->span)) {
        if (kx->kind == KX_BINARY || (kx->kind == KX_ASSIGN && kx->op != OP_NONE))
            check_division(b, kx);
        if (kx->kind == KX_COMPARE) check_comparison(b, kx);
        if (kx->kind == KX_INDEX || kx->kind == KX_PEEK) check_index(b, kx->right, kx->check);
        if (kx->kind == KX_WINDOW) {
            check_index(b, kx->left, kx->check);
            check_index(b, kx->right, kx->column_check);
        }
    }
    visit_kx(b, kx->left);
    visit_kx(b, kx->right);
    visit_kx(b, kx->third);
    for (uint32_t i = 0; i < kx->argument_count; i++)
        visit_kx(b, kx->arguments[i]);
}

static void visit_ks(struct bodies *b, const struct ks *first)
{
    for (const struct ks *s = first; s != NULL; s = s->next) {
        visit_kx(b, s->expr);
        visit_kx(b, s->step);
        visit_kx(b, s->element);
        visit_kx(b, s->index);
        visit_ks(b, s->init);
        visit_ks(b, s->body);
        visit_ks(b, s->otherwise);
    }
}

void lint_bodies(struct compile *cx, const struct graph *graph)
{
    if (!lint_wants(cx, rules, sizeof rules / sizeof rules[0])) return;
    for (size_t i = 0; i < graph->kernels.count; i++) {
        const struct kernel *k = graph->kernels.items[i];
        struct bodies b = {cx, arena_printf(cx->arena, "the kernel '%s'", k->title)};
        visit_ks(&b, k->init);
        visit_ks(&b, k->body);
        visit_ks(&b, k->finish);
    }
    for (size_t i = 0; i < graph->functions.count; i++) {
        const struct function *f = graph->functions.items[i];
        struct bodies b = {cx, arena_printf(cx->arena, "the function '%s'", f->name)};
        if (is_linted(f->span)) visit_ks(&b, f->body);
    }
}
