/* SPDX-License-Identifier: MIT */
/*
 * cost_print: what the warps of each kernel cost, with the parts that are counted while running.
 *
 * Requires bodies/cost.
 */
#ifndef PIPEC_COST_PRINT_H
#define PIPEC_COST_PRINT_H

#include <stdio.h>

#include "compiler/ir/graph.h"

/* A line for each kernel, in order of its first node, declared costs left out, for they are the
 * node's; then one for each child kernel. */
void cost_print(FILE *to, const struct compile *cx, const struct graph *graph);

#endif
