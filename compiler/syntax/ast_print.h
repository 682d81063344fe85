/* SPDX-License-Identifier: MIT */
/*
 * ast_print: the tree as indented text, for --emit=ast and tests.  Each construct has its line, and
 * expressions have all parentheses.  The text depends only on the sources.
 */
#ifndef PIPEC_AST_PRINT_H
#define PIPEC_AST_PRINT_H

#include <stdio.h>

#include "compiler/syntax/ast.h"

void ast_print(FILE *to, const struct ast_program *program);
/* One expression, without a newline. */
void ast_print_expr(FILE *to, const struct ast_expr *expr);

#endif
