/* SPDX-License-Identifier: MIT */
/*
 * ast_print: the tree as indented text, for --emit=ast and tests.  One construct a line;
 * expressions are written out with all parentheses.  The text depends on the sources alone.
 */
#ifndef PIPEC_AST_PRINT_H
#define PIPEC_AST_PRINT_H

#include <stdio.h>

#include "compiler/syntax/ast.h"

void ast_print(FILE *to, const struct ast_program *program);
/* One expression, without a newline. */
void ast_print_expr(FILE *to, const struct ast_expr *expr);

#endif
