/* SPDX-License-Identifier: MIT */
/*
 * region_kernel: a region as one kernel, straight-line code but for sums of products.
 */
#ifndef PIPEC_REGION_KERNEL_H
#define PIPEC_REGION_KERNEL_H

#include "compiler/optimize/region/region.h"

/* The node that executes an iteration of the region, without connections, and its ends in order of
 * region->in and ->out; of an
 * interleaved region one in-end, whose buffer is GRAPH_NONE.  `name` is the node's.  Its kernel is like one of sema: nothing that an
 * analysis fills is filled. */
struct graph_node region_kernel(struct region_space *space, const struct region *region,
                                const char *name);

#endif
