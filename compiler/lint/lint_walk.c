/* SPDX-License-Identifier: MIT */
#include "compiler/lint/lint_internal.h"

static void visit_exprs(const struct lint_visitor *visitor, const struct ast_expr *first)
{
    for (const struct ast_expr *e = first; e != NULL; e = e->next)
        lint_visit_expr(visitor, e);
}

static void visit_type(const struct lint_visitor *visitor, const struct ast_type *type)
{
    if (type != NULL) visit_exprs(visitor, type->dims);
}

void lint_visit_expr(const struct lint_visitor *visitor, const struct ast_expr *expr)
{
    if (expr == NULL) return;
    if (visitor->expr != NULL) visitor->expr(visitor->data, expr);
    visit_type(visitor, expr->type);
    lint_visit_expr(visitor, expr->left);
    lint_visit_expr(visitor, expr->right);
    lint_visit_expr(visitor, expr->third);
    visit_exprs(visitor, expr->arguments);
}

static void visit_attributes(const struct lint_visitor *visitor, const struct ast_attribute *first)
{
    for (const struct ast_attribute *a = first; a != NULL; a = a->next)
        lint_visit_expr(visitor, a->value);
}

static void visit_declarators(const struct lint_visitor *visitor,
                              const struct ast_declarator *first)
{
    for (const struct ast_declarator *d = first; d != NULL; d = d->next) {
        visit_exprs(visitor, d->dims);
        lint_visit_expr(visitor, d->init);
    }
}

void lint_visit_stmts(const struct lint_visitor *visitor, const struct ast_stmt *first)
{
    for (const struct ast_stmt *s = first; s != NULL; s = s->next) {
        if (visitor->stmt != NULL) visitor->stmt(visitor->data, s);
        visit_type(visitor, s->type);
        visit_declarators(visitor, s->declarators);
        lint_visit_stmts(visitor, s->init);
        lint_visit_expr(visitor, s->target);
        lint_visit_expr(visitor, s->expr);
        lint_visit_expr(visitor, s->step);
        visit_attributes(visitor, s->attributes);
        lint_visit_stmts(visitor, s->body);
        lint_visit_stmts(visitor, s->otherwise);
    }
}

static void visit_nodes(const struct lint_visitor *visitor, const struct ast_node *first)
{
    for (const struct ast_node *n = first; n != NULL; n = n->next) {
        visit_exprs(visitor, n->type_arguments);
        visit_exprs(visitor, n->inputs);
        visit_exprs(visitor, n->outputs);
        visit_exprs(visitor, n->arguments);
        visit_exprs(visitor, n->subscripts);
        visit_attributes(visitor, n->attributes);
    }
}

static void visit_nets(const struct lint_visitor *visitor, const struct ast_net *first)
{
    for (const struct ast_net *n = first; n != NULL; n = n->next) {
        visit_type(visitor, n->type);
        visit_declarators(visitor, n->declarators);
        for (const struct ast_buffer *b = n->buffers; b != NULL; b = b->next) {
            visit_exprs(visitor, b->dims);
            visit_attributes(visitor, b->attributes);
        }
        lint_visit_expr(visitor, n->init_expr);
        lint_visit_expr(visitor, n->condition);
        lint_visit_expr(visitor, n->step);
        visit_nodes(visitor, n->chain);
        visit_nets(visitor, n->body);
        visit_nets(visitor, n->otherwise);
    }
}

void lint_visit_item(const struct lint_visitor *visitor, const struct ast_item *item)
{
    visit_declarators(visitor, item->declarators);
    const struct ast_signature *s = &item->signature;
    for (const struct ast_port *p = s->ports; p != NULL; p = p->next) {
        visit_exprs(visitor, p->dims);
        visit_attributes(visitor, p->attributes);
    }
    for (const struct ast_param *p = s->params; p != NULL; p = p->next)
        lint_visit_expr(visitor, p->value);
    visit_attributes(visitor, s->attributes);
    lint_visit_stmts(visitor, item->body);
    visit_nets(visitor, item->net);
}
