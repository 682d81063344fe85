/* SPDX-License-Identifier: MIT */
/*
 * lint: what is allowed, and probably not meant.
 *
 * The rules are those of `rules.def` whose level says LINT, and some that are always on.  They look
 * at the file that was given, not at what it imports, and at programs whose names and types are
 * right: what follows from an error is not said.  A family costs nothing while its rules are off.
 *
 *   lint_names.c        unused things, names that hide others
 *   lint_statements.c   statements and conditions that do not do what they seem to
 *   lint_style.c        names, documentation, depths as bare numbers
 *   lint_bodies.c       typed bodies: checks that remain, comparisons of floats, divisions by zero
 *   lint_topology.c     depths, serial kernels, rates
 */
#ifndef PIPEC_LINT_H
#define PIPEC_LINT_H

#include "compiler/ir/graph.h"
#include "compiler/syntax/ast.h"

/* Requires a program that sema has accepted.  Reports into cx->diags. */
void lint_program(struct compile *cx, const struct ast_program *program);
/* Requires an analysed graph: rates, costs, depths. */
void lint_graph(struct compile *cx, const struct graph *graph);

#endif
