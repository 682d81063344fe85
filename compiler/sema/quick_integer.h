/* SPDX-License-Identifier: MIT */
/*
 * quick_integer: compile-time integers that need no typed tree.
 *
 * The loops and conditions of a pipeline are evaluated once a round, mostly `i < N` and `i + 1`. This
 * module evaluates literals and compile-time integers under + - * / % << >> and comparisons, and allocates
 * nothing. It returns false for other expressions, for results that overflow 64 bits, and for divisions by
 * zero. Then body_const.c evaluates the expression, and gives the same value or reports an error.
 *
 * It stands beside sema/evaluate because a million rounds that ask for too much are to be refused within a tenth of a
 * second (tests/limit/small_bombs.sh); a typed tree for each round takes six times as long.
 *
 * Fails   returns false; nothing is reported.
 */
#ifndef PIPEC_QUICK_INTEGER_H
#define PIPEC_QUICK_INTEGER_H

#include "compiler/sema/scope.h"

bool quick_integer(struct scope *scope, const struct ast_expr *expr, int64_t *out);
bool quick_condition(struct scope *scope, const struct ast_expr *expr, bool *out);

#endif
