/* SPDX-License-Identifier: MIT */
/*
 * lint_internal: what the families of lint share.
 */
#ifndef PIPEC_LINT_INTERNAL_H
#define PIPEC_LINT_INTERNAL_H

#include "compiler/lint/lint.h"

enum { LINTED_SOURCE = 1 }; /* the file that was given */

/* A family, over one file. */
void lint_names(struct compile *cx, const struct ast_program *program);
void lint_statements(struct compile *cx, const struct ast_file *file);
void lint_style(struct compile *cx, const struct ast_file *file);
void lint_bodies(struct compile *cx, const struct graph *graph);
void lint_topology(struct compile *cx, const struct graph *graph);

/* Whether one of the rules is on. */
bool lint_wants(const struct compile *cx, const enum rule *rules, size_t count);

/* The text of a place, blanks and comments aside, is the same. */
bool lint_same_text(const struct compile *cx, struct span a, struct span b);

/* ---- lint_walk.c: every statement and expression once, outermost first ---- */

struct lint_visitor {
    void *data;
    void (*stmt)(void *data, const struct ast_stmt *stmt); /* or NULL */
    void (*expr)(void *data, const struct ast_expr *expr); /* or NULL */
};

void lint_visit_item(const struct lint_visitor *visitor, const struct ast_item *item);
void lint_visit_stmts(const struct lint_visitor *visitor, const struct ast_stmt *first);
void lint_visit_expr(const struct lint_visitor *visitor, const struct ast_expr *expr);

#endif
