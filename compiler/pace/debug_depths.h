/* SPDX-License-Identifier: MIT */
/*
 * debug_depths: smaller depths for debug mode.
 *
 * Requires depths without an error.
 * Fills    all depths anew, declared ones too: the minimum memory that is free of deadlock, where no
 *          declared depth grows; depth_declared of those that were cut, depth_reason.  Sets the mode
 *          of undeclared depths to --buffers=min.  Leaves a graph whose liveness is not proven as it
 *          is.
 */
#ifndef PIPEC_DEBUG_DEPTHS_H
#define PIPEC_DEBUG_DEPTHS_H

#include "compiler/ir/graph.h"

void debug_cut_depths(struct compile *cx, struct graph *graph);

#endif
