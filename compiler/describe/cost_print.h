/* SPDX-License-Identifier: MIT */
/*
 * cost_print: the cost of the warps of each kernel, with the parts that are counted while running.
 *
 * Requires bodies/cost.
 */
#ifndef PIPEC_COST_PRINT_H
#define PIPEC_COST_PRINT_H

#include <stdio.h>

#include "compiler/ir/graph.h"

/* A line for each kernel, in order of its first node, then one for each child kernel.  Declared
 * costs are left out, because they belong to the node. */
void cost_print(FILE *to, const struct compile *cx, const struct graph *graph);

#endif
