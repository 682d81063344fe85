/* SPDX-License-Identifier: MIT */
/*
 * range_check: proves that accesses are in range.
 *
 * Fills   `check` and `element_check` of every access in kernels and functions, `may_wrap` of every
 *         operation, `unbounded` of loops.
 * Fails   RULE_OUT_OF_WINDOW, RULE_OUT_OF_RANGE where an access is certainly outside.
 * Method  Abstract execution (ranges.h): first kernels, then functions, each caller before its
 *         callees, with the values of all calls.  Function ids follow the order of completion, and
 *         there is no recursion.
 */
#ifndef PIPEC_RANGE_CHECK_H
#define PIPEC_RANGE_CHECK_H

#include "compiler/ir/graph.h"

void range_check_bodies(struct compile *cx, struct graph *graph);

#endif
