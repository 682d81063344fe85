/* SPDX-License-Identifier: MIT */
#include "compiler/sema/quick_integer.h"

static bool apply_operation(enum ast_operator op, int64_t left, int64_t right, int64_t *out)
{
    bool divides = right != 0 && !(left == INT64_MIN && right == -1);
    bool shifts = right >= 0 && right < 63;
    switch (op) {
    case AST_OP_ADD: return !__builtin_add_overflow(left, right, out);
    case AST_OP_SUB: return !__builtin_sub_overflow(left, right, out);
    case AST_OP_MUL: return !__builtin_mul_overflow(left, right, out);
    case AST_OP_DIV: return divides && (*out = left / right, true);
    case AST_OP_REM: return divides && (*out = left % right, true);
    case AST_OP_SHL: return shifts && !__builtin_mul_overflow(left, (int64_t)1 << right, out);
    case AST_OP_SHR: return shifts && (*out = left >> right, true);
    default: return false;
    }
}

bool quick_integer(struct scope *scope, const struct ast_expr *expr, int64_t *out)
{
    int64_t left, right;
    switch (expr->kind) {
    case AST_EXPR_INTEGER:
        if (expr->integer.too_large || expr->integer.is_unsigned || expr->integer.value > INT64_MAX)
            return false;
        *out = (int64_t)expr->integer.value;
        return true;
    case AST_EXPR_NAME: {
        struct symbol *symbol = scope_find(scope, expr->name.text);
        if (symbol == NULL || symbol->kind != SYMBOL_INTEGER) return false;
        symbol->used = true;
        *out = symbol->integer;
        return true;
    }
    case AST_EXPR_UNARY:
        return expr->op == AST_OP_NEGATE && quick_integer(scope, expr->left, &left) &&
               !__builtin_sub_overflow((int64_t)0, left, out);
    case AST_EXPR_BINARY:
        return quick_integer(scope, expr->left, &left) &&
               quick_integer(scope, expr->right, &right) &&
               apply_operation(expr->op, left, right, out);
    default: return false;
    }
}

static bool compare_integers(enum ast_operator op, int64_t left, int64_t right, bool *out)
{
    switch (op) {
    case AST_OP_LT: *out = left < right; return true;
    case AST_OP_GT: *out = left > right; return true;
    case AST_OP_LE: *out = left <= right; return true;
    case AST_OP_GE: *out = left >= right; return true;
    case AST_OP_EQ: *out = left == right; return true;
    case AST_OP_NE: *out = left != right; return true;
    default: return false;
    }
}

bool quick_condition(struct scope *scope, const struct ast_expr *expr, bool *out)
{
    int64_t left, right;
    if (expr->kind == AST_EXPR_BINARY && quick_integer(scope, expr->left, &left) &&
        quick_integer(scope, expr->right, &right) && compare_integers(expr->op, left, right, out))
        return true;
    if (!quick_integer(scope, expr, &left)) return false;
    *out = left != 0;
    return true;
}
