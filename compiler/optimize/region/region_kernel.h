/* SPDX-License-Identifier: MIT */
/*
 * region_kernel: a region as one kernel.  Sums of products and packets that are computed alike are loops; the rest is
 * straight-line code.
 */
#ifndef PIPEC_REGION_KERNEL_H
#define PIPEC_REGION_KERNEL_H

#include "compiler/optimize/region/region.h"

/* A node with the given name that executes an iteration of the region.  Its ends are in the order of region->in and
 * region->out, and not connected.  The node of an interleaved region has one in-end, whose buffer is GRAPH_NONE.  In
 * the kernel, fields that an analysis fills are empty, as after sema. */
struct graph_node region_kernel(struct region_space *space, const struct region *region,
                                const char *name);

#endif
