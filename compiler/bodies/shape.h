/* SPDX-License-Identifier: MIT */
/*
 * shape: rows and frames of buffers, and the windows on them.
 *
 * Requires the rates of kernels' ports.
 * Fills    buffer->shape where it is not declared.
 * Fails    RULE_SHAPE_MISMATCH, RULE_SHAPE_MISSING, RULE_TOO_LARGE.
 */
#ifndef PIPEC_SHAPE_H
#define PIPEC_SHAPE_H

#include "compiler/ir/graph.h"

void shape_infer(struct compile *cx, struct graph *graph);
/* How many packets before, and how many after, the consumed one a firing of the port's window may
 * see; 0 without a shape. */
uint64_t graph_window_reach(const struct kernel_port *port, const struct graph_shape *shape);

#endif
