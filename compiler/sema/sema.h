/* SPDX-License-Identifier: MIT */
/*
 * sema: from the AST to typed kernels and the topology graph.  The last pass that sees the AST.
 *
 * Requires  a program without syntax errors.
 * Returns   the flattened graph of the pipeline to compile (-p NAME, else `main`, else the only pipeline
 *           that no other uses), with its kernels specialised and checked; or NULL after errors. Kernels
 *           and functions without compile-time parameters are checked even if nothing uses them; so are
 *           the test blocks of the first file (test_block.h).  If a test expects that a pipeline is
 *           refused, only this test elaborates it. After errors cx->sound has the kernels without errors,
 *           for the analyses of bodies.
 * Fails     the rules of groups name, type and buffer; constructs that are not compiled yet are refused by
 *           name (RULE_UNSUPPORTED).
 */
#ifndef PIPEC_SEMA_H
#define PIPEC_SEMA_H

#include "compiler/ir/graph.h"
#include "compiler/syntax/ast.h"

struct graph *sema_elaborate(struct compile *cx, const struct ast_program *program);
/* Checks the whole program, with its test blocks, without choosing a pipeline.  `reported`: syntax
 * errors, or NULL. */
void sema_check(struct compile *cx, const struct ast_program *program,
                const struct diags *reported);
/* As sema_check, for the intact rest of a program with syntax errors. Does not report errors that
 * may follow from the lost parts. */
void sema_check_damaged(struct compile *cx, const struct ast_program *program);
/* True if -D defines every compile-time parameter, or if there is none. */
bool sema_all_defined(const struct compile *cx, const struct ast_signature *signature);

#endif
