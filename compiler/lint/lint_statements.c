/* SPDX-License-Identifier: MIT */
/* Statements and conditions whose effect differs from their look. */
#include <string.h>

#include "compiler/lint/lint_internal.h"
#include "base/words.h"

static const enum rule rules[] = {
    RULE_NO_EFFECT,          RULE_SELF_ASSIGNMENT,        RULE_UNREACHABLE,
    RULE_CONSTANT_CONDITION, RULE_IDENTICAL_OPERANDS,     RULE_ASSIGNMENT_IN_CONDITION,
    RULE_EMPTY_BODY,         RULE_FALLS_THROUGH,          RULE_DUPLICATE_CONDITION,
    RULE_IDENTICAL_BRANCHES, RULE_MISLEADING_INDENTATION,
};

static struct diag *report_statement(struct compile *cx, enum rule rule, struct span span,
                                     const char *text)
{
    return diag_report(cx->diags, rule, span, "%s", text);
}

/* ---- effects ---- */

static void note_effect(void *data, const struct ast_expr *e)
{
    bool *effect = data;
    if (e->kind == AST_EXPR_ASSIGN || e->kind == AST_EXPR_INCREMENT) *effect = true;
}

static bool has_effect(const struct ast_expr *expr)
{
    bool effect = false;
    lint_visit_expr(&(struct lint_visitor){.data = &effect, .expr = note_effect}, expr);
    return effect;
}

/* Built-in statements in the form of calls. */
static bool is_statement_call(const struct ast_expr *e)
{
    static const char *const names[] = {"barrier", "done", "stop"};
    return e->kind == AST_EXPR_CALL &&
           WORD_INDEX(e->name.text, names) < sizeof names / sizeof *names;
}

static void check_effect(struct compile *cx, const struct ast_stmt *s)
{
    const struct ast_expr *e = s->expr;
    if (e == NULL || has_effect(e) || is_statement_call(e)) return;
    struct diag *d = report_statement(
        cx, RULE_NO_EFFECT, e->span,
        e->kind == AST_EXPR_CALL
            ? "the result of this call is not used, and a function does nothing else"
            : "this statement has no effect");
    if (e->kind == AST_EXPR_BINARY && e->op == AST_OP_EQ)
        diag_help(d, "'==' compares; '=' assigns");
}

/* ---- conditions ---- */

static bool is_literal(const struct ast_expr *e)
{
    if (e->kind == AST_EXPR_UNARY) return is_literal(e->left);
    if (e->kind == AST_EXPR_BINARY) return is_literal(e->left) && is_literal(e->right);
    return e->kind == AST_EXPR_INTEGER || e->kind == AST_EXPR_FLOAT ||
           (e->kind == AST_EXPR_NAME &&
            (strcmp(e->name.text, "true") == 0 || strcmp(e->name.text, "false") == 0));
}

static void lint_condition(struct compile *cx, const struct ast_expr *e, bool of_loop)
{
    if (e == NULL) return;
    if (is_literal(e) && !of_loop) {
        report_statement(cx, RULE_CONSTANT_CONDITION, e->span, "this condition is always the same");
    } else if (e->kind == AST_EXPR_ASSIGN && e->op == AST_OP_NONE && !e->parenthesised) {
        struct diag *d =
            report_statement(cx, RULE_ASSIGNMENT_IN_CONDITION, e->span,
                             "this condition assigns: it is the assigned value that decides");
        diag_help(d, "write '==' to compare, or put the assignment in parentheses");
    }
}

static bool is_idempotent(enum ast_operator op)
{
    switch (op) {
    case AST_OP_SUB:
    case AST_OP_DIV:
    case AST_OP_REM:
    case AST_OP_AND:
    case AST_OP_OR:
    case AST_OP_XOR:
    case AST_OP_LT:
    case AST_OP_GT:
    case AST_OP_LE:
    case AST_OP_GE:
    case AST_OP_EQ:
    case AST_OP_NE:
    case AST_OP_LOGICAL_AND:
    case AST_OP_LOGICAL_OR: return true;
    default: return false;
    }
}

/* if (a) .. else if (a): the second is never taken. */
static void check_chain(struct compile *cx, const struct ast_stmt *s)
{
    enum { CHAIN_MAX = 64 };
    const struct ast_expr *seen[CHAIN_MAX];
    size_t count = 0;
    for (; s != NULL && s->kind == AST_STMT_IF && count < CHAIN_MAX; s = s->otherwise) {
        if (s->expr == NULL || has_effect(s->expr)) return;
        for (size_t i = 0; i < count; i++) {
            if (!lint_same_text(cx, seen[i]->span, s->expr->span)) continue;
            struct diag *d = report_statement(
                cx, RULE_DUPLICATE_CONDITION, s->expr->span,
                "this condition has been tested before: the branch is never taken");
            diag_label(d, seen[i]->span, "here");
            return;
        }
        seen[count++] = s->expr;
    }
}

static void check_if(struct compile *cx, const struct ast_stmt *s)
{
    lint_condition(cx, s->expr, false);
    if (s->body != NULL && s->body->kind == AST_STMT_EMPTY) {
        struct diag *d =
            report_statement(cx, RULE_EMPTY_BODY, s->body->span, "this 'if' does nothing");
        diag_help(d, "remove the ';', or write '{ }'");
        diag_fix(d, s->body->span, "{ }");
    }
    check_chain(cx, s);
    if (s->otherwise != NULL && s->body != NULL && s->otherwise->kind != AST_STMT_IF &&
        lint_same_text(cx, s->body->span, s->otherwise->span)) {
        struct diag *d = report_statement(cx, RULE_IDENTICAL_BRANCHES, s->otherwise->span,
                                          "both branches are the same");
        diag_label(d, s->body->span, "as this one");
    }
}

static void lint_loop(struct compile *cx, const struct ast_stmt *s)
{
    lint_condition(cx, s->expr, true);
    if (s->kind == AST_STMT_DO || s->body == NULL || s->body->kind != AST_STMT_EMPTY) return;
    if (s->kind == AST_STMT_FOR && has_effect(s->expr)) return;
    struct diag *d =
        report_statement(cx, RULE_EMPTY_BODY, s->body->span, "this loop has an empty body");
    diag_help(d, "remove the ';', or write '{ }'");
    diag_fix(d, s->body->span, "{ }");
}

/* ---- flow ---- */

static bool always_jumps(const struct ast_stmt *s)
{
    switch (s->kind) {
    case AST_STMT_BREAK:
    case AST_STMT_CONTINUE:
    case AST_STMT_RETURN:
    case AST_STMT_STOP: return true;
    default: return false;
    }
}

/* Whether control never reaches the statement after it. */
static bool leaves_block(const struct ast_stmt *s)
{
    if (always_jumps(s)) return true;
    if (s->kind == AST_STMT_IF)
        return s->body != NULL && s->otherwise != NULL && leaves_block(s->body) &&
               leaves_block(s->otherwise);
    if (s->kind != AST_STMT_BLOCK) return false;
    for (const struct ast_stmt *t = s->body; t != NULL; t = t->next)
        if (leaves_block(t)) return true;
    return false;
}

static bool is_label(const struct ast_stmt *s)
{
    return s->kind == AST_STMT_CASE || s->kind == AST_STMT_DEFAULT;
}

/* The statements of a block, or of a label and those that follow it. */
static void check_sequence(struct compile *cx, const struct ast_stmt *first)
{
    for (const struct ast_stmt *s = first; s != NULL && s->next != NULL; s = s->next) {
        if (!leaves_block(s) || is_label(s->next)) continue;
        if (s->next->kind == AST_STMT_INIT || s->next->kind == AST_STMT_FINISH ||
            s->next->kind == AST_STMT_EMPTY)
            continue;
        if (always_jumps(s->next) && s->next->next == NULL && always_jumps(s)) continue;
        struct diag *d =
            report_statement(cx, RULE_UNREACHABLE, s->next->span, "this is never executed");
        diag_label(d, s->span, "control does not continue after this");
        return;
    }
}

/* Sets *column to the column at which the text of the line begins (a tab moves to the next multiple of
 * 8) and *line to its number.  False: `at` is not the first text of its line. */
static bool line_indentation(const struct compile *cx, struct span at, uint32_t *line,
                             uint32_t *column)
{
    enum { TAB_COLUMNS = 8 };
    const struct source *source = source_get(cx->sources, at.source);
    uint32_t place;
    source_locate(source, at.begin, line, &place);
    *column = 0;
    for (uint32_t i = at.begin - (place - 1); i < at.begin; i++) {
        if (source->bytes[i] != ' ' && source->bytes[i] != '\t') return false;
        *column += source->bytes[i] == '\t' ? TAB_COLUMNS - *column % TAB_COLUMNS : 1;
    }
    return true;
}

static bool has_body(const struct ast_stmt *s)
{
    return s->kind == AST_STMT_IF || s->kind == AST_STMT_WHILE || s->kind == AST_STMT_FOR;
}

/* The statement that an `if` or a loop without braces ends with, or NULL. */
static const struct ast_stmt *last_body(const struct ast_stmt *s)
{
    while (has_body(s)) {
        s = s->otherwise != NULL ? s->otherwise : s->body;
        if (s == NULL) return NULL;
    }
    return s->kind == AST_STMT_BLOCK || s->kind == AST_STMT_EMPTY ? NULL : s;
}

/* Two statements below an `if` or a loop that look like its body: only the first one is. */
static void check_indentation(struct compile *cx, const struct ast_stmt *first)
{
    for (const struct ast_stmt *s = first; s != NULL && s->next != NULL; s = s->next) {
        const struct ast_stmt *body = has_body(s) ? last_body(s) : NULL, *next = s->next;
        uint32_t lines[3], columns[3];
        if (body == NULL || !line_indentation(cx, s->span, &lines[0], &columns[0]) ||
            !line_indentation(cx, body->span, &lines[1], &columns[1]) ||
            !line_indentation(cx, next->span, &lines[2], &columns[2]))
            continue;
        if (lines[0] == lines[1] || columns[1] != columns[2] || columns[2] <= columns[0]) continue;
        struct diag *d =
            report_statement(cx, RULE_MISLEADING_INDENTATION, next->span,
                             "this is executed in any case, though it is indented like the "
                             "statement before it");
        diag_label(d, body->span, "the body ends with this statement");
        diag_help(d, "put both in '{ }', or indent this one less");
    }
}

/* The statement after the labels. */
static const struct ast_stmt *unlabelled_statement(const struct ast_stmt *s)
{
    while (s != NULL && is_label(s))
        s = s->body;
    return s;
}

static void check_switch(struct compile *cx, const struct ast_stmt *s)
{
    bool falls = false;
    if (s->body == NULL || s->body->kind != AST_STMT_BLOCK) return;
    for (const struct ast_stmt *t = s->body->body; t != NULL; t = t->next) {
        if (is_label(t) && falls) {
            struct diag *d =
                report_statement(cx, RULE_FALLS_THROUGH, t->span,
                                 "the case before goes on here: it does not end with 'break'");
            diag_help(d, "end it with 'break'");
        }
        const struct ast_stmt *inner = unlabelled_statement(t);
        if (inner == NULL) continue; /* a label that the next one follows */
        falls = !leaves_block(inner);
    }
}

/* ---- the family ---- */

static void lint_statement(void *data, const struct ast_stmt *s)
{
    struct compile *cx = data;
    switch (s->kind) {
    case AST_STMT_EXPR: check_effect(cx, s); break;
    case AST_STMT_IF: check_if(cx, s); break;
    case AST_STMT_WHILE:
    case AST_STMT_DO:
    case AST_STMT_FOR: lint_loop(cx, s); break;
    case AST_STMT_SWITCH: check_switch(cx, s); break;
    case AST_STMT_BLOCK:
        check_sequence(cx, s->body);
        check_indentation(cx, s->body);
        break;
    default: break;
    }
}

static void lint_expression(void *data, const struct ast_expr *e)
{
    struct compile *cx = data;
    if (e->kind == AST_EXPR_ASSIGN && e->op == AST_OP_NONE &&
        (e->left->kind == AST_EXPR_NAME || e->left->kind == AST_EXPR_INDEX ||
         e->left->kind == AST_EXPR_MEMBER) &&
        !has_effect(e->left) && lint_same_text(cx, e->left->span, e->right->span))
        report_statement(cx, RULE_SELF_ASSIGNMENT, e->span, "this assigns a value to itself");
    if (e->kind == AST_EXPR_BINARY && is_idempotent(e->op) && !is_literal(e->left) &&
        !has_effect(e->left) && lint_same_text(cx, e->left->span, e->right->span)) {
        struct diag *d = report_statement(cx, RULE_IDENTICAL_OPERANDS, e->op_span,
                                          "both operands are the same, so the result is known");
        diag_label(d, e->left->span, "this");
        diag_label(d, e->right->span, "and this");
        if (e->op == AST_OP_NE || e->op == AST_OP_EQ)
            diag_help(d, "if a float is to be tested for NaN, write isnan(..)");
    }
    if (e->kind == AST_EXPR_CONDITIONAL && e->left != NULL) lint_condition(cx, e->left, false);
}

void lint_statements(struct compile *cx, const struct ast_file *file)
{
    struct lint_visitor visitor = {.data = cx, .stmt = lint_statement, .expr = lint_expression};
    if (!lint_wants(cx, rules, sizeof rules / sizeof rules[0])) return;
    for (const struct ast_item *item = file->items; item != NULL; item = item->next)
        lint_visit_item(&visitor, item);
}
