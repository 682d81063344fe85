/* SPDX-License-Identifier: MIT */
/*
 * sema: from the AST to typed kernels and the topology graph.  The last pass that sees the AST.
 *
 * Requires  a program without syntax errors.
 * Returns   the flattened graph of the pipeline to compile (-p NAME, else `main`, else the only
 *           pipeline that no other uses), its kernels specialised and checked; or NULL after errors.
 *           Kernels and functions without compile-time parameters are checked even where nothing
 *           uses them; so are the test blocks of the first file (test_block.h).  A pipeline that
 *           some test expects to be refused is left to that test.
 *           After errors cx->sound has the kernels that are free of them, for the analyses of
 *           bodies.
 * Fails     the rules of groups name, type and buffer; constructs that are not compiled yet are
 *           refused by name (RULE_UNSUPPORTED).
 */
#ifndef PIPEC_SEMA_H
#define PIPEC_SEMA_H

#include "compiler/ir/graph.h"
#include "compiler/syntax/ast.h"

struct graph *sema_elaborate(struct compile *cx, const struct ast_program *program);
/* Checks everything in the program, its test blocks too, and chooses nothing to compile.  `reported`:
 * syntax errors, or NULL. */
void sema_check(struct compile *cx, const struct ast_program *program,
                const struct diags *reported);
/* The same after syntax errors, for what they left whole: errors that may follow from what is lost
 * are not reported. */
void sema_check_damaged(struct compile *cx, const struct ast_program *program);
/* Whether -D names every compile-time parameter (yes, where there is none). */
bool sema_all_defined(const struct compile *cx, const struct ast_signature *signature);

#endif
