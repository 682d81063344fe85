/* SPDX-License-Identifier: MIT */
/*
 * operations: the size of bodies, as they are written.
 *
 * Code generation takes time and memory in proportion to this size.  Unrolled loops have budgets of
 * their own (codegen/common/kernel_unroll.c).
 */
#ifndef PIPEC_OPERATIONS_H
#define PIPEC_OPERATIONS_H

#include "compiler/ir/graph.h"

/* Fails with RULE_TOO_LARGE for each kernel and function that is too large; false after one. */
bool operations_check_bodies(struct compile *cx, const struct graph *graph);

#endif
